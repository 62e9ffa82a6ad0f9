"""Any output as a row of numbers and tokens.

An output is flattened into leaves. A finite number is a number; everything else (a string, None, NaN, ±inf, True,
False, an exception, a missing position of a shorter output) is a token, an atom of its own. A `Table` holds many
outputs:

=========  ===========================================================================================
numbers    n × width, the numeric leaves; NaN where the leaf is a token
tokens     n × width, 0 for a number, ABSENT beyond the end, else the stable code of a token; None if all are numbers
keys       one 64-bit number an output: equal outputs have equal keys
=========  ===========================================================================================

Codes and keys depend only on the value (not on the order of arrival), so tables of different blocks or
processes fit together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from audit.auditor.terms.leaves import (
    Leaves,
    ShortFloat,
    as_float,
    beyond_floats,
    holds_beyond_floats,
    is_short,
    nesting_of_shape,
    text_of,
)

Array = np.ndarray

ABSENT = -1
"""The token beyond the end of a shorter output."""
EXACT_BITS = 53
"""Significant bits of a binary64 number."""
VALUE_BITS = 30
"""Floats are read to this many significant bits unless the caller asks for all 53.

In binary64 every noise of the form "value + draw" shows the value in its lowest bits (Mironov 2012): read to the last
bit no such program is private at any ε. That is a defect of its own kind, with its own remedy (round the release to a
grid), and it is reported apart; 30 bits hide it at any number of draws that can be afforded (an output would have to
be 2**-23 times the scale of the noise) and keep every difference that a reader of printed numbers could see.
"""
SHORT_BITS = 12
"""Floats of 32 bits (24 significant ones) are read to so many, for the same reason: an output would have to be 2**-12
times the scale of the noise. Chosen: fewer would hide differences, more would show the grid to 1e5 draws.
"""
MAX_LEAVES = 4096
"""Longer outputs are compared by key as a whole, and by their first MAX_LEAVES leaves: chosen for memory."""

_PLAIN = frozenset({int, float, np.float64, np.int64, np.int32})
_INTEGERS = frozenset({int, np.int64})
_WORDS = frozenset({int, bool, str, type(None)})
_COLUMNAR = _PLAIN | _WORDS


class Table:
    """Many outputs, flattened. Keys are worked out when they are first asked for."""

    def __init__(
        self,
        numbers: Array,
        tokens: Array | None,
        keys: Array | None = None,
        names: dict[int, str] | None = None,
        shape: int = 0,
    ):
        self.numbers = numbers
        self.tokens = tokens
        self.names = names or {}
        self._keys = keys
        self._shape = shape

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def keys(self) -> Array:
        """One 64-bit number an output, equal for equal outputs."""
        if self._keys is None:
            self._keys = _row_keys(self.numbers, self.tokens, self._shape)
        return self._keys

    @property
    def width(self) -> int:
        """The largest number of leaves of an output."""
        return int(self.numbers.shape[1])

    def take(self, rows: Array | slice) -> Table:
        """The chosen rows."""
        tokens = None if self.tokens is None else self.tokens[rows]
        return Table(
            self.numbers[rows], tokens, None if self._keys is None else self._keys[rows], self.names, self._shape
        )

    def token_matrix(self) -> Array:
        """The tokens, with zeros where all leaves are numbers."""
        return np.zeros(self.numbers.shape, dtype=np.int32) if self.tokens is None else self.tokens


LOOKED_AT, FEW, LAST_BITS = 2048, 256, np.uint64(0xFFFF)
"""If the first LOOKED_AT keys are no more than FEW, keys are looked up in a table by their last bits, with a slot for
each value of these: chosen for speed.
"""


def distinct_keys(keys: Array) -> tuple[Array, Array, Array]:
    """The distinct keys in rising order, where each is first, and which of them each key is: `np.unique`, but only
    those are sorted that were not among the first.

    >>> [part.tolist() for part in distinct_keys(np.array([7, 3, 7, 9], dtype=np.uint64))]
    [[3, 7, 9], [1, 0, 3], [1, 0, 1, 2]]
    """
    values, first = np.unique(keys[:LOOKED_AT], return_index=True)
    if len(keys) <= LOOKED_AT or len(values) > FEW:
        return np.unique(keys, return_index=True, return_inverse=True)
    _, alone = np.unique(values & LAST_BITS, return_index=True)
    values, first = values[alone], first[alone]
    slots = np.zeros(int(LAST_BITS) + 1, dtype=np.intp)
    slots[values & LAST_BITS] = np.arange(len(values))
    where = slots[(keys & LAST_BITS).astype(np.intp)]
    others = np.flatnonzero(values[where] != keys)
    more, its, theirs = np.unique(keys[others], return_index=True, return_inverse=True)
    values, first = np.concatenate([values, more]), np.concatenate([first, others[its]])
    where[others] = len(alone) + theirs
    order = np.argsort(values)
    return values[order], first[order], np.argsort(order)[where]


def token_code(text: str) -> int:
    """A positive 31-bit code that depends on the text alone."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big") % (2**31 - 2) + 1


NOT_A_NUMBER, PLUS_INFINITY, MINUS_INFINITY = (token_code(t) for t in ("nan", "inf", "-inf"))
TRUE, FALSE = token_code("True"), token_code("False")
_COMMON = {NOT_A_NUMBER: "NaN", PLUS_INFINITY: "+inf", MINUS_INFINITY: "-inf", TRUE: "True", FALSE: "False"}


# -------------------------------------------------------------------------------------- from outputs to a table


def tabulate(outputs: Any, bits: int = VALUE_BITS) -> Table:
    """A batch of outputs (an array whose first axis counts them, or a sequence) as a table.

    Floats are read to `bits` significant bits (53: as they are).
    """
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "fiub" and not holds_beyond_floats(outputs):
        return _from_matrix(outputs.reshape(len(outputs), -1), bits, nesting_of_shape(outputs.shape[1:]))
    items = list(outputs)
    types = set(map(type, items))
    if types == {np.float32}:
        return _from_matrix(np.array(items)[:, None], bits, ".")
    if types <= _PLAIN and not (types & _INTEGERS and any(map(beyond_floats, items))):
        return _from_matrix(_floats(items)[:, None], bits, ".")
    if types == {np.ndarray} and _same_numeric_shape(items):
        return _from_matrix(np.stack(items).reshape(len(items), -1), bits, nesting_of_shape(items[0].shape))
    return _from_objects(items, bits)


def _floats(items: Sequence[Any]) -> Array:
    try:
        return np.array(items, dtype=float)
    except OverflowError:
        return np.array([as_float(x) for x in items])


def _same_numeric_shape(items: Sequence[Array]) -> bool:
    first = items[0]
    alike = first.dtype.kind in "fiub" and all(a.shape == first.shape and a.dtype == first.dtype for a in items)
    return alike and not any(map(holds_beyond_floats, items))


def _from_matrix(matrix: Array, bits: int, nesting: str) -> Table:
    shape = token_code(nesting)
    keys = None
    if matrix.shape[1] > MAX_LEAVES:
        keys = _row_keys(np.ascontiguousarray(matrix, dtype=float), None, shape)
    values = np.ascontiguousarray(matrix[:, :MAX_LEAVES], dtype=float)
    if matrix.dtype.kind == "f":
        short = is_short(matrix.dtype)
        values = _significant_unless_whole(values, _short(bits)) if short else significant(values, bits)
    finite = np.isfinite(values)
    if finite.all():
        return Table(values, None, keys, None, shape)
    tokens = np.zeros(values.shape, dtype=np.int32)
    tokens[np.isnan(values)] = NOT_A_NUMBER
    tokens[values == np.inf] = PLUS_INFINITY
    tokens[values == -np.inf] = MINUS_INFINITY
    return Table(np.where(finite, values, np.nan), tokens, keys, dict(_COMMON), shape)


def _short(bits: int) -> int:
    """The bits to which floats of 32 bits are read, where others are read to so many."""
    return bits if bits >= EXACT_BITS else min(bits, SHORT_BITS)


def significant(x: Array, bits: int) -> Array:
    """Each number rounded to this many significant bits.

    Adding half a unit to the integer that holds a float carries from mantissa to exponent just as rounding should.
    """
    if bits >= EXACT_BITS:
        return x
    drop = EXACT_BITS - bits
    words = x.view(np.uint64) + np.uint64(1 << (drop - 1))
    words &= ~np.uint64((1 << drop) - 1)
    rounded = words.view(np.float64)
    return np.asarray(np.where(np.isfinite(x), rounded, x))


def _row_keys(numbers: Array, tokens: Array | None, shapes: Array | int) -> Array:
    """A 64-bit hash of each row, padding left out, and of its nesting; wrap-around arithmetic is meant."""
    key = np.full(len(numbers), 0x9E3779B97F4A7C15, dtype=np.uint64) ^ np.asarray(shapes, dtype=np.uint64)
    words = np.where(np.isnan(numbers), 0.0, numbers).view(np.uint64)
    for j in range(numbers.shape[1]):
        word = words[:, j] if tokens is None else words[:, j] ^ (tokens[:, j].astype(np.uint64) << np.uint64(20))
        mixed = (key ^ word) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
        key = mixed if tokens is None else np.where(tokens[:, j] == ABSENT, key, mixed)
    return key


def _from_objects(items: Sequence[Any], bits: int) -> Table:
    """Flatten each distinct output once, then deal the rows out."""
    rows, where = _distinct(items)
    groups, others = _by_types(rows)
    leaves = Leaves()
    ends, shapes = [], []
    for r in others:
        shapes.append(leaves.read(rows[r]))
        ends.append(len(leaves))
    codes = {leaf: token_code(leaf) for leaf in {x for x in leaves if isinstance(x, str)}}
    flat_tokens = np.array([codes[x] if isinstance(x, str) else 0 for x in leaves], dtype=np.int32)
    flat_numbers = np.array([np.nan if isinstance(x, str) else x for x in leaves], dtype=float)
    lengths = np.diff(np.array([0, *ends]))
    longest = max([int(lengths.max(initial=0)), *map(len, groups)])
    width = max(1, min(MAX_LEAVES, longest))
    row = np.repeat(np.array(others, dtype=np.int64), lengths)
    column = np.arange(len(leaves)) - np.repeat(np.array(ends, dtype=np.int64) - lengths, lengths)
    kept = column < width
    numbers = np.full((len(rows), width), np.nan)
    tokens = np.full((len(rows), width), ABSENT, dtype=np.int32)
    numbers[row[kept], column[kept]] = flat_numbers[kept]
    tokens[row[kept], column[kept]] = flat_tokens[kept]
    nesting = np.empty(len(rows), dtype=np.uint64)
    shape_codes = {shape: token_code(shape) for shape in set(shapes)}
    nesting[others] = np.array([shape_codes[s] for s in shapes], dtype=np.uint64)
    for types, members in groups.items():
        nesting[members] = token_code("(" + "." * len(types) + ")")
        for j, kind in enumerate(types[:width]):
            numbers[members, j], tokens[members, j] = _leaf_column([rows[r][j] for r in members], kind, codes)
    short = np.zeros(numbers.shape, dtype=bool)
    short[row[kept], column[kept]] = np.array([type(x) is ShortFloat for x in leaves], dtype=bool)[kept]
    numbers = np.where(
        short, _significant_unless_whole(numbers, _short(bits)), _significant_unless_whole(numbers, bits)
    )
    keys = _row_keys(numbers, tokens, nesting)
    names = {code: text for text, code in codes.items()} | _COMMON
    return Table(numbers[where], tokens[where], keys[where], names)


def _by_types(rows: Sequence[Any]) -> tuple[dict[tuple[type, ...], list[int]], list[int]]:
    """Flat tuples of plain items by the types of these, which can be read column by column; the rest."""
    groups: dict[tuple[type, ...], list[int]] = {}
    others = []
    for r, row in enumerate(rows):
        if type(row) is tuple and not any(type(x) in _INTEGERS and beyond_floats(x) for x in row):
            groups.setdefault(tuple(map(type, row)), []).append(r)
        else:
            others.append(r)
    for types in [t for t in groups if not _COLUMNAR.issuperset(t)]:
        others += groups.pop(types)
    return groups, others


def _leaf_column(values: Sequence[Any], kind: type, codes: dict[str, int]) -> tuple[Array, Array]:
    """Numbers and tokens of one position, as `Leaves.read` would give them one by one; new texts get their codes."""
    if kind is bool:
        return np.full(len(values), np.nan), np.where(np.array(values), TRUE, FALSE)
    if kind not in _PLAIN:
        texts = {value: text_of(value) for value in set(values)}
        codes.update((text, token_code(text)) for text in texts.values())
        return np.full(len(values), np.nan), np.array([codes[texts[value]] for value in values], dtype=np.int32)
    x = _floats(values)
    special = [(np.isnan(x), NOT_A_NUMBER), (x == np.inf, PLUS_INFINITY), (x == -np.inf, MINUS_INFINITY)]
    tokens = np.select([where for where, _ in special], [code for _, code in special], 0)
    return np.where(tokens == 0, x, np.nan), tokens


def _significant_unless_whole(x: Array, bits: int) -> Array:
    """Rounded floats; whole numbers stay as they are (an int and a float look the same here)."""
    return np.where(x == np.round(x), x, significant(x, bits))


def _distinct(items: Sequence[Any]) -> tuple[list[Any], Array]:
    """The outputs without repeats of those that are quick to tell apart, and which one each output is."""
    rows: list[Any] = []
    index: dict[Any, int] = {}
    where = np.empty(len(items), dtype=np.int64)
    for i, item in enumerate(items):
        mark = _mark(item)
        at = len(rows) if mark is None else index.setdefault(mark, len(rows))
        if at == len(rows):
            rows.append(item)
        where[i] = at
    return rows, where


def _mark(item: Any) -> Any:
    """Equal for equal outputs alone; None if that would take as long as to read it.

    Equality of the outputs themselves is not enough: True == 1 and 0.0 == −0.0, and a reader sees the difference.
    """
    kind = type(item)
    if kind in _WORDS:
        return kind, item
    if kind is tuple:
        kinds = tuple(map(type, item))
        return (kinds, item) if _WORDS.issuperset(kinds) else None
    return None


# ------------------------------------------------------------------------------------------------ several tables


def concatenate(tables: Sequence[Table]) -> Table:
    """One table of all rows; shorter outputs are padded with ABSENT."""
    if len(tables) == 1:
        return tables[0]
    width = max(t.width for t in tables)
    plain = all(t.tokens is None and t.width == width for t in tables)
    names: dict[int, str] = {}
    for t in tables:
        names.update(t.names)
    return Table(
        np.concatenate([_padded(t.numbers, width, np.nan) for t in tables]),
        None if plain else np.concatenate([_padded(t.token_matrix(), width, ABSENT) for t in tables]),
        np.concatenate([t.keys for t in tables]),
        names,
    )


def fit_width(table: Table, width: int) -> Table:
    """The table with exactly `width` columns: cut, or padded with ABSENT."""
    if table.width == width:
        return table
    tokens = table.token_matrix()
    return Table(
        _padded(table.numbers[:, :width], width, np.nan),
        _padded(tokens[:, :width], width, ABSENT),
        table.keys,
        table.names,
    )


def _padded(matrix: Array, width: int, filler: float) -> Array:
    missing = width - matrix.shape[1]
    return matrix if missing <= 0 else np.pad(matrix, ((0, 0), (0, missing)), constant_values=filler)
