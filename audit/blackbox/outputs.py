"""Any output as a row of numbers and tokens.

An output is flattened into leaves. A finite number is a number; everything else (a string, None, NaN, ±inf, True, False,
an exception, a missing position of a shorter output) is a token, an atom of its own. A `Table` holds many outputs:

=========  ===========================================================================================
numbers    n × width, the numeric leaves; NaN where the leaf is a token
tokens     n × width, 0 for a number, ABSENT beyond the end, else the stable code of a token; None if all are numbers
keys       one 64-bit number an output: equal outputs have equal keys
=========  ===========================================================================================

Codes and keys depend only on the value (not on the order of arrival), so tables of different blocks or
processes fit together.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import numbers as abstract
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray

ABSENT = -1
EXACT_BITS = 53
VALUE_BITS = 30
"""Floats are read to this many significant bits unless the caller asks for all 53.

In binary64 every noise of the form "value + draw" shows the value in its lowest bits (Mironov 2012): read to the last bit no
such program is private at any ε. That is a defect of its own kind, with its own remedy (round the release to a grid), and it is
reported apart; 30 bits hide it at any number of draws that can be afforded (an output would have to be 2**-23 times the
scale of the noise) and keep every difference that a reader of printed numbers could see.
"""
MAX_LEAVES = 4096
"""Longer outputs are compared by key as a whole, and by their first MAX_LEAVES leaves."""

_PLAIN = frozenset({int, float, np.float64, np.float32, np.int64, np.int32})


@dataclass(frozen=True)
class Raised:
    """The outcome of a call that raised: the exception's type is what an observer sees."""

    type_name: str


@dataclass
class Table:
    """Many outputs, flattened."""

    numbers: Array
    tokens: Array | None
    keys: Array
    names: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def width(self) -> int:
        """The largest number of leaves of an output."""
        return int(self.numbers.shape[1])

    def take(self, rows: Array) -> Table:
        """The chosen rows."""
        return Table(self.numbers[rows], None if self.tokens is None else self.tokens[rows], self.keys[rows], self.names)

    def token_matrix(self) -> Array:
        """The tokens, with zeros where all leaves are numbers."""
        return np.zeros(self.numbers.shape, dtype=np.int32) if self.tokens is None else self.tokens


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
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "fiub":
        return _from_matrix(outputs.reshape(len(outputs), -1), bits)
    items = list(outputs)
    types = set(map(type, items))
    if types <= _PLAIN:
        return _from_matrix(_floats(items)[:, None], bits)
    if types == {np.ndarray} and _same_numeric_shape(items):
        return _from_matrix(np.stack(items).reshape(len(items), -1), bits)
    return _from_objects(items, bits)


def _floats(items: Sequence[Any]) -> Array:
    try:
        return np.array(items, dtype=float)
    except OverflowError:
        return np.array([_as_float(x) for x in items])


def _as_float(x: Any) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def _same_numeric_shape(items: Sequence[Array]) -> bool:
    first = items[0]
    return first.dtype.kind in "fiub" and all(a.shape == first.shape and a.dtype == first.dtype for a in items)


def _from_matrix(matrix: Array, bits: int) -> Table:
    everything = significant(np.ascontiguousarray(matrix, dtype=float), bits if matrix.dtype.kind == "f" else EXACT_BITS)
    values = everything[:, :MAX_LEAVES]
    keys = _mix(everything.view(np.uint64))
    finite = np.isfinite(values)
    if finite.all():
        return Table(values, None, keys)
    tokens = np.zeros(values.shape, dtype=np.int32)
    tokens[np.isnan(values)] = NOT_A_NUMBER
    tokens[values == np.inf] = PLUS_INFINITY
    tokens[values == -np.inf] = MINUS_INFINITY
    return Table(np.where(finite, values, np.nan), tokens, keys, dict(_COMMON))


def significant(x: Array, bits: int) -> Array:
    """Each number rounded to this many significant bits."""
    if bits >= EXACT_BITS:
        return x
    mantissa, exponent = np.frexp(x)
    return np.asarray(np.ldexp(np.round(mantissa * 2.0**bits), exponent - bits))


def _mix(words: Array) -> Array:
    """A 64-bit hash of each row of 64-bit words; wrap-around arithmetic is meant."""
    key = np.full(len(words), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in words.T:
        key = (key ^ column) * np.uint64(0xD6E8FEB86659FD93)
        key ^= key >> np.uint64(32)
    return key


def _from_objects(items: Sequence[Any], bits: int) -> Table:
    """Flatten each distinct output once, then deal the rows out."""
    rows, where = _distinct(items)
    flat = [flatten(item) for item in rows]
    width = max(1, min(MAX_LEAVES, max(len(leaves) for leaves, _ in flat)))
    numbers = np.full((len(flat), width), np.nan)
    tokens = np.full((len(flat), width), ABSENT, dtype=np.int32)
    names = dict(_COMMON)
    keys = np.empty(len(flat), dtype=np.uint64)
    for i, (leaves, shape) in enumerate(flat):
        leaves = [leaf if isinstance(leaf, str) else _round_float(leaf, bits) for leaf in leaves]
        for j, leaf in enumerate(leaves[:width]):
            if isinstance(leaf, str):
                code = token_code(leaf)
                tokens[i, j] = code
                names.setdefault(code, leaf)
            else:
                numbers[i, j] = leaf
                tokens[i, j] = 0
        keys[i] = _object_key(leaves, shape)
    return Table(numbers[where], tokens[where], keys[where], names)


def _round_float(x: float, bits: int) -> float:
    if bits >= EXACT_BITS or x == int(x):
        return x
    mantissa, exponent = math.frexp(x)
    return math.ldexp(round(math.ldexp(mantissa, bits)), exponent - bits)


def _distinct(items: Sequence[Any]) -> tuple[list[Any], Array]:
    """The distinct outputs and, for each output, which one it is; all of them if they cannot be hashed."""
    index: dict[Any, int] = {}
    try:
        where = np.fromiter((index.setdefault(item, len(index)) for item in items), dtype=np.int64, count=len(items))
    except TypeError:
        return list(items), np.arange(len(items))
    return list(index), where


def _object_key(leaves: Sequence[float | str], shape: str) -> int:
    text = shape + "|" + "|".join(leaf if isinstance(leaf, str) else float.hex(leaf) for leaf in leaves)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def flatten(output: Any) -> tuple[list[float | str], str]:
    """The leaves of an output (finite numbers as floats, anything else as text) and its nesting."""
    leaves: list[float | str] = []
    shape = _collect(output, leaves)
    return leaves, shape


def _collect(value: Any, leaves: list[float | str]) -> str:
    """Append the leaves of `value`; return a text that tells its structure."""
    if isinstance(value, bool | np.bool_):
        leaves.append("True" if value else "False")
    elif isinstance(value, abstract.Real) or (hasattr(value, "__float__") and hasattr(value, "as_integer_ratio")):
        number = _as_float(value)
        leaves.append(number if math.isfinite(number) else str(number))
    elif isinstance(value, abstract.Complex):
        return "c" + _collect(value.real, leaves) + _collect(value.imag, leaves)
    elif isinstance(value, str | bytes):
        leaves.append(f"str:{value!r}")
    elif value is None:
        leaves.append("None")
    elif isinstance(value, Raised):
        leaves.append(f"raises {value.type_name}")
    else:
        return _collect_container(value, leaves)
    return "."


def _collect_container(value: Any, leaves: list[float | str]) -> str:
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fiu":
            leaves.extend(x if math.isfinite(x) else str(x) for x in value.astype(float).ravel().tolist())
            return f"a{value.shape}"
        return f"a{value.shape}" + "".join(_collect(x, leaves) for x in value.ravel().tolist())
    if hasattr(value, "to_numpy"):
        return "t" + _collect(value.to_numpy(), leaves)
    if isinstance(value, Mapping):
        parts = [f"{key!r}:{_collect(value[key], leaves)}" for key in sorted(value, key=repr)]
        return "{" + ",".join(parts) + "}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _collect({f.name: getattr(value, f.name) for f in dataclasses.fields(value)}, leaves)
    if isinstance(value, set | frozenset):
        return "s" + _collect(sorted(value, key=repr), leaves)
    if isinstance(value, Iterable):
        return "(" + "".join(_collect(item, leaves) for item in value) + ")"
    leaves.append(f"<{type(value).__name__}>")
    return "."


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
        _padded(table.numbers[:, :width], width, np.nan), _padded(tokens[:, :width], width, ABSENT), table.keys, table.names
    )


def _padded(matrix: Array, width: int, filler: float) -> Array:
    missing = width - matrix.shape[1]
    return matrix if missing <= 0 else np.pad(matrix, ((0, 0), (0, missing)), constant_values=filler)
