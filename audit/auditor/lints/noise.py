"""Noise that knows where it came from.

While a mechanism is watched, its noise calls return numbers that behave like floats or arrays and remember their
call. Multiplying by a constant keeps the memory; adding to something else is the moment that matters: it shows the
quantity which the noise hides and the scale it is hidden with. The sum is an ordinary number again. Any other use (a
comparison, a matrix product, a sort) makes the draw *opaque*: nothing is concluded from it.

Integers that may be noise are followed alike. The sum with one remembers that it is one, so that another draw that is
taken from it joins the first (`count + geometric − geometric`); it is an ordinary number for all else. A draw may be a
size, an index or a coin as well, which arrays do not tell: a replay in which all integer noise is another, and every
sum as it was, shows whether anything else depends on it (`replay`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from audit.auditor.lints.recorder import Addition, NoiseCall

Array = np.ndarray


class Listener(Protocol):
    """Who is told what happens to noise."""

    def added(self, origin: Origin, quantity: Any, result: Any, shape: tuple[int, ...] | None = None) -> Any:
        """Noise was added to a quantity; the return value takes the place of the sum."""

    def used_otherwise(self, origin: Origin) -> None:
        """Noise was used in a way that cannot be followed."""

    def joined(self, first: Origin, second: Origin, result: Any, shapes: tuple[Any, Any]) -> Any:
        """Two integer draws were added up, or a sum with one and another one; the return value takes their place."""


@dataclass(frozen=True)
class Origin:
    """The call that made a piece of noise, and what it has been multiplied with since; of integer noise its law, and a
    sum that it is in.
    """

    call: NoiseCall
    listener: Listener
    factor: Any = 1.0
    law: str = ""
    addition: Addition | None = None

    def times(self, factor: Any) -> Origin:
        """The same noise on another scale."""
        return Origin(self.call, self.listener, self.factor * factor, self.law)


def wrap(value: Any, origin: Origin) -> Any:
    """A float, an array of floats, or integers of integer noise, with a memory."""
    if isinstance(value, np.ndarray):
        noise = (value.copy() if origin.law else value.astype(float)).view(NoiseArray)
        noise.origin = origin
        return noise
    if origin.law and isinstance(value, int | np.integer):
        return NoiseInt(int(value), origin) if origin.addition is None else SumInt.made(int(value), origin)
    return NoiseFloat.made(float(value), origin)


def plain(value: Any) -> Any:
    """The value without its memory (containers that hold noise are left as they are)."""
    if isinstance(value, NoiseFloat):
        return float.__add__(value, 0.0)
    if type(value) is NoiseInt:
        return value.value
    if isinstance(value, SumInt):
        return int.__add__(value, 0)
    return value.view(np.ndarray) if isinstance(value, NoiseArray) else value


def _origin(value: Any) -> Origin | None:
    return value.origin if isinstance(value, NOISE) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) or (isinstance(value, np.ndarray) and value.dtype.kind in "fiub")


def _mark(*values: Any) -> None:
    for value in values:
        origin = _origin(value)
        if origin is not None and origin.addition is None:
            origin.listener.used_otherwise(origin)


def _alone(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Without the memory of sums, and without that of integers beside other noise."""
    bare = [x for x in inputs if (o := _origin(x)) is not None and o.addition is not None]
    others = [x for x in inputs if (o := _origin(x)) is not None and not o.law]
    found = [x for x in inputs if (o := _origin(x)) is not None and o.law and o.addition is None]
    if others:
        _mark(*found)
        bare += found
    return tuple(plain(x) if any(x is b for b in bare) else x for x in inputs)


def _joined(ufunc: Callable[..., Any], inputs: tuple[Any, ...], bare: tuple[Any, ...], result: Any) -> Any:
    """The sum or the difference of two pieces of integer noise, one of them perhaps in a sum; None if they are not."""
    first, second = _origin(inputs[0]), _origin(inputs[1])
    if first is None or second is None or not (first.law and second.law) or (first.addition and second.addition):
        return None
    shapes = np.shape(bare[0]), np.shape(bare[1])
    if ufunc is np.subtract:
        if second.addition is not None:
            _mark(inputs[0])
            second.listener.used_otherwise(second)
            return result
        second = second.times(-1.0)
    if second.addition is not None:
        first, second, shapes = second, first, shapes[::-1]
    return first.listener.joined(first, second, result, shapes)


def operate(ufunc: Callable[..., Any], inputs: tuple[Any, ...], **keywords: Any) -> Any:
    """Apply a ufunc to inputs of which at least one is noise, and follow the noise."""
    bare = tuple(plain(x) for x in inputs)
    simple = ufunc in _OPERATORS and any(isinstance(x, NoiseInt | SumInt) for x in inputs) and not keywords
    result = _OPERATORS[ufunc](*bare) if simple else ufunc(*bare, **keywords)
    if ufunc in (np.add, np.subtract) and result is not NotImplemented:
        both = _joined(ufunc, inputs, bare, result)
        if both is not None:
            return both
    inputs = _alone(inputs)
    carriers = [(x, i) for i, x in enumerate(inputs) if _origin(x) is not None]
    if len(carriers) == 1 and result is not NotImplemented:
        carrier, position = carriers[0]
        origin = _origin(carrier)
        assert origin is not None
        other = bare[1 - position] if len(inputs) == 2 else None
        if ufunc in (np.add, np.subtract) and _is_number(other):
            shape = np.shape(bare[position])
            if ufunc is np.subtract and position == 0:
                return -origin.listener.added(origin.times(-1.0), other, -result, shape)
            return origin.listener.added(origin if ufunc is np.add else origin.times(-1.0), other, result, shape)
        if ufunc is np.multiply and _is_number(other):
            return wrap(result, origin.times(other))
        if ufunc in (np.divide, np.true_divide) and position == 0 and _is_number(other):
            with np.errstate(all="ignore"):
                return wrap(result, origin.times(1.0 / np.asarray(other, dtype=float)))
        if ufunc is np.negative:
            return wrap(result, origin.times(-1.0))
        if ufunc is np.positive:
            return wrap(result, origin)
    _mark(*inputs)
    return result


_OPERATORS: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.negative: operator.neg,
}
"""What integers are worked out with, so that they stay Python's."""


class _Scalar:
    """What a float and an integer with a memory have in common."""

    origin: Origin | None

    def __add__(self, other: Any) -> Any:
        return operate(np.add, (self, other)) if _is_number(other) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return operate(np.add, (other, self)) if _is_number(other) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return operate(np.subtract, (self, other)) if _is_number(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return operate(np.subtract, (other, self)) if _is_number(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return operate(np.multiply, (self, other)) if _is_number(other) else NotImplemented

    def __rmul__(self, other: Any) -> Any:
        return operate(np.multiply, (other, self)) if _is_number(other) else NotImplemented

    def __truediv__(self, other: Any) -> Any:
        return operate(np.divide, (self, other)) if _is_number(other) else NotImplemented

    def __neg__(self) -> Any:
        return operate(np.negative, (self,))

    def __pos__(self) -> Any:
        return self

    def __deepcopy__(self, _memo: Any) -> Any:
        return self

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        return _array_ufunc(ufunc, method, inputs, keywords)


class NoiseFloat(_Scalar, float):
    """A scalar draw."""

    @staticmethod
    def made(value: float, origin: Origin) -> NoiseFloat:
        """A float with a memory."""
        noise = NoiseFloat(value)
        noise.origin = origin
        return noise

    def __reduce__(self) -> Any:
        return float, (plain(self),)


class NoiseInt(_Scalar):
    """A scalar draw of an integer. It says that it is an `int`, but is none to Python's own code, which would use it as
    a size, an index or a summand without a word.
    """

    def __init__(self, value: int, origin: Origin):
        self.value, self.origin = value, origin

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return int

    def __getattr__(self, name: str) -> Any:
        """What Python's and numpy's integers have."""
        if name.startswith("__"):
            raise AttributeError(f"'int' object has no attribute '{name}'")
        return _attribute(self, name)

    def __reduce__(self) -> Any:
        return int, (self.value,)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        _mark(self)
        return np.array(self.value, dtype=dtype)


class SumInt(_Scalar, int):
    """An integer that is the sum of something and an integer draw."""

    @staticmethod
    def made(value: int, origin: Origin) -> SumInt:
        """An integer with a memory."""
        noise = SumInt(value)
        noise.origin = origin
        return noise

    def __getattr__(self, name: str) -> Any:
        """What numpy's integers have and Python's do not."""
        if name.startswith("__"):
            raise AttributeError(f"'int' object has no attribute '{name}'")
        return _attribute(self, name)

    def __reduce__(self) -> Any:
        return int, (plain(self),)


def _attribute(noise: Any, name: str) -> Any:
    _mark(noise)
    value = plain(noise)
    return getattr(value if hasattr(value, name) else np.int64(value), name)


def _opaque_method(base: type, name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        _mark(self, *args)
        return getattr(base, name)(plain(self), *(plain(a) for a in args))

    return method


_PLAIN_METHODS = (
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__eq__",
    "__ne__",
    "__hash__",
    "__abs__",
    "__float__",
    "__int__",
    "__round__",
    "__trunc__",
    "__bool__",
    "__pow__",
    "__rpow__",
    "__rtruediv__",
    "__floordiv__",
    "__rfloordiv__",
    "__mod__",
    "__rmod__",
    "__divmod__",
    "__rdivmod__",
    "is_integer",
    "hex",
    "as_integer_ratio",
)
_INTEGER_METHODS = (
    "__index__", "__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__", "__lshift__", "__rlshift__",
    "__rshift__", "__rrshift__", "__invert__", "__ceil__", "__floor__", "bit_length", "bit_count", "to_bytes",
)  # fmt: skip
for _name in _PLAIN_METHODS:
    setattr(NoiseFloat, _name, _opaque_method(float, _name))
for _name in (*_PLAIN_METHODS, *_INTEGER_METHODS):
    if hasattr(int, _name):
        setattr(NoiseInt, _name, _opaque_method(int, _name))
        setattr(SumInt, _name, _opaque_method(int, _name))
for _name in ("__str__", "__repr__", "__format__"):
    setattr(NoiseInt, _name, _opaque_method(int, _name))


class NoiseArray(np.ndarray):
    """An array of draws; slices and reshaped views remember the call too."""

    origin: Origin | None

    def __array_finalize__(self, source: Any) -> None:
        origin = getattr(source, "origin", None)
        kept = origin is None or not origin.law or (origin.addition is None and self.dtype.kind in "iuf")
        self.origin = origin if kept else None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        return _array_ufunc(ufunc, method, inputs, keywords)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in _SHAPES:
            return super().__array_function__(function, types, args, kwargs)
        return function(*_deep(args), **_deep(kwargs))

    def __getitem__(self, key: Any) -> Any:
        item = super().__getitem__(plain(key))
        if isinstance(item, NoiseArray) or self.origin is None:
            return item
        return item if self.origin.addition is not None else wrap(item, _part(self.origin, self.shape, key))

    def __deepcopy__(self, _memo: Any) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        return self.view(np.ndarray).__reduce__()

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __setitem__(self, key: Any, value: Any) -> None:
        _mark(self)
        self.origin = None
        self.view(np.ndarray)[plain(key)] = plain(value)


_SHAPES = frozenset(
    {np.reshape, np.ravel, np.squeeze, np.transpose, np.expand_dims, np.atleast_1d, np.atleast_2d, np.copy}
)


def _part(origin: Origin, shape: tuple[int, ...], key: Any) -> Origin:
    """The origin of one entry: an array-valued factor is indexed along."""
    if np.ndim(origin.factor) == 0:
        return origin
    factor = np.broadcast_to(origin.factor, shape)[key]
    return replace(origin, factor=factor)


def _deep(value: Any) -> Any:
    """The same containers with plain arrays; what is met is opaque from now on."""
    if isinstance(value, NOISE):
        _mark(value)
        return plain(value)
    if isinstance(value, list | tuple):
        return type(value)(_deep(v) for v in value)
    return {k: _deep(v) for k, v in value.items()} if isinstance(value, dict) else value


def _whole_method(name: str) -> Callable[..., Any]:
    def method(self: NoiseArray, *args: Any, **kwargs: Any) -> Any:
        _mark(self)
        return getattr(self.view(np.ndarray), name)(*_deep(args), **_deep(kwargs))

    return method


for _name in (
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "argpartition",
    "clip",
    "cumprod",
    "cumsum",
    "dot",
    "item",
    "max",
    "mean",
    "min",
    "nonzero",
    "partition",
    "prod",
    "put",
    "round",
    "searchsorted",
    "sort",
    "std",
    "sum",
    "take",
    "tobytes",
    "tolist",
    "trace",
    "var",
    "__float__",
    "__int__",
    "__bool__",
):
    setattr(NoiseArray, _name, _whole_method(_name))


NOISE = (NoiseFloat, NoiseInt, SumInt, NoiseArray)
"""Everything that has a memory."""


def _array_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    out = keywords.pop("out", None)
    if method != "__call__" or keywords:
        result = getattr(ufunc, method)(*_deep(inputs), **_deep(keywords))
    else:
        result = operate(ufunc, inputs)
    return result if out is None else _store(out[0], result)


def _store(out: Any, result: Any) -> Any:
    """In-place operations: the array that is written to takes over the memory of the result."""
    if isinstance(out, NoiseArray):
        out.view(np.ndarray)[...] = plain(result)
        out.origin = _origin(result)
        return out
    _mark(result)
    out[...] = plain(result)
    return out
