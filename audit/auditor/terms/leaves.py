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
"""Larger integers are not told apart as floats: each is a text."""
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
            return self._leaf(text_of(int(value)), path)
        if isinstance(value, datetime.datetime | datetime.date | datetime.timedelta):
            return self._leaf(_moment(value), path)
        if isinstance(value, abstract.Real) or (hasattr(value, "__float__") and hasattr(value, "as_integer_ratio")):
            number = as_float(value)
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
            known = [f.name for f in dataclasses.fields(value)]
            return "(" + "".join([self.read(getattr(value, n), path and f"{path}.{n}") for n in known]) + ")"
        if isinstance(value, set | frozenset):
            return "s" + self._items(sorted(value, key=repr), path)
        if isinstance(value, Iterable):
            return self._items(value, path)
        return self._object(value, path)

    def _array(self, array: Array, path: str) -> str:
        places: Iterable[str] = itertools.repeat("")
        if path:
            places = (f"{path}[{', '.join(map(str, at))}]" if at else path for at in np.ndindex(array.shape))
        if array.dtype.kind in "fiu" and not holds_beyond_floats(array):
            self.extend(x if math.isfinite(x) else str(x) for x in array.astype(float).ravel().tolist())
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
    """What holds an array (of numpy, torch, pandas, scipy.sparse and their like) as numpy's; None for anything else."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, type):
        return None
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        dense = value.detach().cpu()
        try:
            return np.asarray(dense.numpy())
        except TypeError:
            return np.asarray(dense.double().numpy())
    for method in ("to_numpy", "toarray"):
        if hasattr(value, method):
            return np.asarray(getattr(value, method)())
    return None


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
