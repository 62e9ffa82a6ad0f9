"""The leaves of an output: what a reader of it sees, one number or text after another, each with its name.

A finite number is a number; everything else (a string, None, NaN, ±inf, True, False, an exception) is a text. One walk
through the nested output gives the leaves, their names (`output['mean'][0]` says more to an author than entry 3) and a
text that tells the nesting.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import math
import numbers as abstract
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray

EXACT_INTEGER = 2**53
"""Larger integers are not told apart as floats: they are read in pieces, so that single bits can be learned from."""
PIECE_BITS, MOST_PIECES = 48, 64
"""Bits a piece, and pieces at most: a longer integer is a text."""
HEXADECIMAL_BITS = 10_000
"""Integers of so many bits are written in hexadecimal: beyond 4300 digits (14 000 bits) Python refuses decimal."""
MOST_NAMED = 4096
"""Outputs with more leaves are not named: nobody reads so many names."""


class Unread(str):
    """The leaf of an object that cannot be read: the name of its type, as text that tells types apart."""

    __slots__ = ()

    @classmethod
    def of(cls, value: object) -> Unread:
        """The leaf that stands for this object."""
        return cls(f"<unread {type(value).__name__}>")

    @property
    def type_name(self) -> str:
        """The name of the object's type."""
        return self.removeprefix("<unread ").removesuffix(">")


@dataclass(frozen=True)
class Raised:
    """The outcome of a call that raised: the exception's type is what an observer sees."""

    type_name: str


@dataclass(frozen=True)
class Flattened:
    """An output that cannot leave its process, as `flatten` reads it there."""

    leaves: tuple[float | str, ...]
    nesting: str


def flatten(output: Any) -> tuple[list[float | str], str]:
    """The leaves of an output (finite numbers as floats, anything else as text) and its nesting."""
    leaves = Leaves()
    nesting = leaves.read(output)
    return leaves, nesting


def names(output: Any) -> list[str]:
    """One name a leaf of the output, in the order of the leaves; "entry 3" where there are too many."""
    leaves = Leaves()
    leaves.read(output, "output")
    return leaves.names if len(leaves.names) == len(leaves) else [f"entry {i}" for i in range(len(leaves))]


def listed(chosen: list[str], most: int = 4) -> str:
    """The first of these names, and a sign that there are more."""
    return ", ".join(chosen[:most]) + (f" and {len(chosen) - most} more" if len(chosen) > most else "")


class ShortFloat(float):
    """A number that was given with 32 bits or fewer: its lowest bits are not those of a binary64 number."""


class Leaves(list[float | str]):
    """The leaves that have been read, and the names of those that were read with a path."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self._open: list[int] = []
        """The objects that are being read, from the outermost in: one that holds itself is not read again."""

    def read(self, value: Any, path: str = "") -> str:
        """Append the leaves of `value`; return a text that tells its structure. Without a path nothing is named."""
        kind = type(value)
        if kind is float and not path:  # most leaves by far
            self.append(value if math.isfinite(value) else str(value))
            return "."
        if kind is tuple or kind is list:
            return self._items(value, path)
        if isinstance(value, bool | np.bool_):
            return self._leaf("True" if value else "False", path)
        if beyond_floats(value):
            return self._long_integer(int(value), path)
        if isinstance(value, datetime.datetime | datetime.date | datetime.timedelta):
            return self._leaf(_moment(value), path)
        if isinstance(value, abstract.Real) or (hasattr(value, "__float__") and hasattr(value, "as_integer_ratio")):
            number = as_float(value)
            number = ShortFloat(number) if isinstance(value, np.float32 | np.float16) else number
            return self._leaf(number if math.isfinite(number) else str(number), path)
        if isinstance(value, abstract.Complex):
            parts = (value.real, ".real"), (value.imag, ".imag")
            return "c" + "".join([self.read(part, path and path + name) for part, name in parts])
        if value is None or isinstance(value, str | bytes):
            return self._leaf(text_of(value), path)
        if isinstance(value, Raised):
            return self._leaf(f"raises {value.type_name}", path)
        if isinstance(value, Flattened):
            for leaf in value.leaves:
                self._leaf(leaf, path and f"entry {len(self)}")
            return value.nesting
        return self._container(value, path)

    def _long_integer(self, value: int, path: str) -> str:
        """An integer beyond floats: its sign and length as a word, then its bits in pieces that are exact numbers."""
        count = -(-abs(value).bit_length() // PIECE_BITS)
        if count > MOST_PIECES:
            return self._leaf(text_of(value), path)
        self._leaf(f"{'negative ' if value < 0 else ''}int of {count} pieces", path and f"the length of {path}")
        for low in range(0, count * PIECE_BITS, PIECE_BITS):
            piece = (abs(value) >> low) & ((1 << PIECE_BITS) - 1)
            self._leaf(float(piece), path and f"bits {low} to {low + PIECE_BITS - 1} of {path}")
        return "."

    def _leaf(self, leaf: float | str, path: str) -> str:
        self.append(leaf)
        if path and len(self.names) <= MOST_NAMED:
            self.names.append(path)
        return "."

    def _items(self, items: Iterable[Any], path: str) -> str:
        if not path:
            return "(" + "".join([self.read(item) for item in items]) + ")"
        return "(" + "".join([self.read(item, f"{path}[{i}]") for i, item in enumerate(items)]) + ")"

    def _container(self, value: Any, path: str) -> str:
        array = as_array(value)
        if array is not None:
            labels = _labels(value)
            if labels:
                self._leaf(labels, path and f"the labels of {path}")
            return ("t" if labels else "") + self._array(array, path)
        if isinstance(value, Mapping):
            keys = sorted(value, key=repr)
            self._leaf("keys " + ", ".join(map(repr, keys)), path and f"the keys of {path}")
            return "{" + ",".join([self.read(value[key], path and f"{path}[{key!r}]") for key in keys]) + "}"
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self._dataclass(value, path)
        if isinstance(value, set | frozenset):
            return "s" + self._items(sorted(value, key=repr), path)
        if isinstance(value, Iterable):
            return self._items(value, path)
        return self._object(value, path)

    def _dataclass(self, value: Any, path: str) -> str:
        """The fields, and what was put beside them later, as `fit` puts `w_` and `b_`."""
        known = [f.name for f in dataclasses.fields(value)]
        later = {k for k, v in getattr(value, "__dict__", {}).items() if not k.startswith("_") and not callable(v)}
        more = sorted(later - set(known))
        nesting = "(" + "".join([self.read(getattr(value, n), path and f"{path}.{n}") for n in known]) + ")"
        if not more:
            return nesting
        self._leaf("keys " + ", ".join(map(repr, more)), path and f"the attributes of {path}")
        return nesting + "{" + ",".join([self.read(getattr(value, n), path and f"{path}.{n}") for n in more]) + "}"

    def _array(self, array: Array, path: str) -> str:
        places: Iterable[str] = itertools.repeat("")
        if path:
            places = (f"{path}[{', '.join(map(str, at))}]" if at else path for at in np.ndindex(array.shape))
        if array.dtype.kind in "fiu" and not holds_beyond_floats(array):
            kind = ShortFloat if is_short(array.dtype) else float
            self.extend(kind(x) if math.isfinite(x) else str(x) for x in array.astype(float).ravel().tolist())
            if path:
                self.names.extend(itertools.islice(places, MOST_NAMED + 1))
            return f"a{array.shape}"
        return f"a{array.shape}" + "".join(
            self.read(x, place) for x, place in zip(array.ravel().tolist(), places, strict=False)
        )

    def _object(self, value: Any, path: str) -> str:
        """What an object holds, or else what it says of itself; its type alone if neither can be read."""
        contents = {} if id(value) in self._open else _contents(value)
        if contents:
            self._open.append(id(value))
            try:
                known = sorted(contents, key=repr)
                self._leaf("keys " + ", ".join(map(repr, known)), path and f"the attributes of {path}")
                inside = [self.read(contents[name], path and f"{path}.{name}") for name in known]
                return type(value).__name__ + "{" + ",".join(inside) + "}"
            finally:
                self._open.pop()
        text = repr(value) if has_own(value, "__repr__") and id(value) not in self._open else None
        if text is None or _shows_address(text):
            return self._leaf(Unread.of(value), path)
        return self._leaf(f"{type(value).__name__}:{text}", path)


def _shows_address(text: str) -> bool:
    """Whether a `repr` holds an address in memory, which differs from call to call and says nothing of the value."""
    return " at 0x" in text


def nesting_of_shape(shape: tuple[int, ...]) -> str:
    """The nesting that `Leaves.read` reports for a number or an array of this shape."""
    return f"a{shape}" if shape else "."


# --------------------------------------------------------------------------------------------- single leaves


def is_short(dtype: np.dtype[Any]) -> bool:
    """Whether these are floats of 32 bits or fewer."""
    return dtype.kind == "f" and dtype.itemsize <= 4


def beyond_floats(x: Any) -> bool:
    """Whether this is an integer that floats cannot tell from others."""
    return isinstance(x, abstract.Integral) and not -EXACT_INTEGER <= int(x) <= EXACT_INTEGER


def holds_beyond_floats(array: Array) -> bool:
    """Whether an array holds integers that floats cannot tell apart."""
    whole = array.dtype.kind in "iu" and array.size > 0
    return whole and bool(array.max() > EXACT_INTEGER or array.min() < -EXACT_INTEGER)


def as_float(x: Any) -> float:
    """A number as a float, infinite where it is too large for one."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def text_of(value: str | bytes | int | None) -> str:
    """The text of a word, of nothing, or of an integer beyond floats."""
    if isinstance(value, int):
        return f"int {value}" if value.bit_length() < HEXADECIMAL_BITS else f"int {value:#x}"
    return "None" if value is None else f"str:{value!r}"


def _moment(value: datetime.date | datetime.timedelta) -> float:
    """A time or a date in whole microseconds, which are not rounded."""
    tick = datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.timedelta):
        return float(value // tick)
    start = datetime.datetime(1970, 1, 1, tzinfo=value.tzinfo if isinstance(value, datetime.datetime) else None)
    moment = value if isinstance(value, datetime.datetime) else datetime.datetime(value.year, value.month, value.day)
    return float((moment - start) // tick)


# ------------------------------------------------------------------------------------------------- containers


def as_array(value: Any) -> Array | None:
    """What holds an array (of numpy, torch, jax, pandas, scipy.sparse and their like) as numpy's; None for anything
    else.
    """
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, type):
        return None
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        dense = value.detach().cpu()
        try:
            return np.asarray(dense.numpy())
        except TypeError:
            return np.asarray(dense.float().numpy())
    for method in ("to_numpy", "toarray"):
        if hasattr(value, method):
            return np.asarray(getattr(value, method)())
    if all(hasattr(value, name) for name in ("__array__", "dtype", "shape")) and not isinstance(value, np.generic):
        return _from_protocol(value)
    return None


def _from_protocol(value: Any) -> Array | None:
    """What numpy can read (arrays of jax and tensorflow); a key of jax as its words; None for what it cannot."""
    try:
        dense = np.asarray(value)
    except TypeError:
        return as_array(getattr(value, "_base_array", None))
    return dense.astype(np.float32) if dense.dtype.kind == "V" else dense


def _labels(value: Any) -> str:
    """The names of a data frame's columns and rows (a reader sees them); a plain count of rows is no name."""
    axes = [getattr(value, name, None) for name in ("columns", "index", "name")]
    shown = [[a] if isinstance(a, str) else a for a in axes if isinstance(a, Iterable) and not hasattr(a, "step")]
    return "labels " + "; ".join(", ".join(map(repr, axis)) for axis in shown) if shown else ""


def has_own(value: Any, method: str) -> bool:
    """Whether a special method of this object is more than what every object has."""
    return getattr(type(value), method) is not getattr(object, method)


def _contents(value: Any) -> dict[str, Any]:
    """The public data of an object: a module's `state_dict()`, what it would be pickled as, or its attributes."""
    if isinstance(value, type | np.random.Generator | np.random.RandomState):
        return {}
    if hasattr(value, "state_dict"):
        return dict(value.state_dict())
    if callable(value):
        return {}
    state = value.__getstate__() if has_own(value, "__getstate__") else getattr(value, "__dict__", None)
    public = state.items() if isinstance(state, dict) else ()
    return {str(k): v for k, v in public if not str(k).startswith("_") and not callable(v)}
