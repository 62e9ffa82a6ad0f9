"""Noise that knows where it came from.

While a mechanism is watched, its noise calls return numbers that behave like floats or arrays and remember their
call. Multiplying by a constant keeps the memory; adding to something else is the moment that matters: it shows the
quantity which the noise hides and the scale it is hidden with. The sum is an ordinary number again. Any other use (a
comparison, a matrix product, a sort) makes the draw *opaque*: nothing is concluded from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from audit.auditor.lints.recorder import NoiseCall

Array = np.ndarray


class Listener(Protocol):
    """Who is told what happens to noise."""

    def added(self, origin: Origin, quantity: Any, result: Any, shape: tuple[int, ...] | None = None) -> Any:
        """Noise was added to a quantity; the return value takes the place of the sum."""

    def used_otherwise(self, origin: Origin) -> None:
        """Noise was used in a way that cannot be followed."""


@dataclass(frozen=True)
class Origin:
    """The call that made a piece of noise, and what it has been multiplied with since."""

    call: NoiseCall
    listener: Listener
    factor: Any = 1.0

    def times(self, factor: Any) -> Origin:
        """The same noise on another scale."""
        return Origin(self.call, self.listener, self.factor * factor)


def wrap(value: Any, origin: Origin) -> Any:
    """A float or an array of floats with a memory."""
    if isinstance(value, np.ndarray):
        noise = value.astype(float).view(NoiseArray)
        noise.origin = origin
        return noise
    return NoiseFloat.made(float(value), origin)


def plain(value: Any) -> Any:
    """The value without its memory (containers that hold noise are left as they are)."""
    if isinstance(value, NoiseFloat):
        return float.__add__(value, 0.0)
    return value.view(np.ndarray) if isinstance(value, NoiseArray) else value


def _origin(value: Any) -> Origin | None:
    return value.origin if isinstance(value, NoiseFloat | NoiseArray) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) or (isinstance(value, np.ndarray) and value.dtype.kind in "fiub")


def _mark(*values: Any) -> None:
    for value in values:
        origin = _origin(value)
        if origin is not None:
            origin.listener.used_otherwise(origin)


def operate(ufunc: Callable[..., Any], inputs: tuple[Any, ...], **keywords: Any) -> Any:
    """Apply a ufunc to inputs of which at least one is noise, and follow the noise."""
    bare = tuple(plain(x) for x in inputs)
    result = ufunc(*bare, **keywords)
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


class NoiseFloat(float):
    """A scalar draw."""

    origin: Origin | None

    @staticmethod
    def made(value: float, origin: Origin) -> NoiseFloat:
        """A float with a memory."""
        noise = NoiseFloat(value)
        noise.origin = origin
        return noise

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

    def __deepcopy__(self, _memo: Any) -> NoiseFloat:
        return self

    def __reduce__(self) -> Any:
        return float, (plain(self),)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        return _array_ufunc(ufunc, method, inputs, keywords)


def _opaque_method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        _mark(self, *args)
        return getattr(float, name)(plain(self), *(plain(a) for a in args))

    return method


for _name in (
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
):
    setattr(NoiseFloat, _name, _opaque_method(_name))


class NoiseArray(np.ndarray):
    """An array of draws; slices and reshaped views remember the call too."""

    origin: Origin | None

    def __array_finalize__(self, source: Any) -> None:
        self.origin = getattr(source, "origin", None)

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
        return NoiseFloat.made(float(item), _part(self.origin, self.shape, key))

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
    return Origin(origin.call, origin.listener, factor)


def _deep(value: Any) -> Any:
    """The same containers with plain arrays; what is met is opaque from now on."""
    if isinstance(value, NoiseFloat | NoiseArray):
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
