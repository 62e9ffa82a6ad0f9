"""Noise of array libraries that numpy's hooks do not reach (torch, jax), followed through their own functions.

An array that was drawn is remembered with its `Origin`. What the library does to it is seen call by call: multiplied by
a known number it stays noise on another scale, added to a quantity it is the sum that matters (see `noise`), and any
other use makes the draw opaque. A library says how its arrays are remembered, read and written (`Follower`); the rules
are here.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.auditor.lints.families import NoiseParameters
from audit.auditor.lints.noise import NOISE, Origin, plain

if TYPE_CHECKING:
    from audit.auditor.lints.recorder import Recorder

ADDS = frozenset({"add", "radd", "iadd"})
SUBTRACTS = frozenset({"sub", "subtract", "isub"})
SUBTRACTED = frozenset({"rsub"})
MULTIPLIES = frozenset({"mul", "multiply", "rmul", "imul"})
DIVIDES = frozenset({"div", "divide", "true_divide", "truediv", "itruediv", "idiv"})
NEGATES = frozenset({"neg", "negative"})
SAME_NUMBERS = frozenset(
    {
        "clone", "detach", "to", "float", "double", "view", "view_as", "reshape", "reshape_as", "flatten", "ravel",
        "squeeze", "unsqueeze", "contiguous", "cpu", "copy", "astype", "alias", "asarray", "array", "tensor",
        "as_tensor", "expand_dims", "from_numpy", "block_until_ready", "device_put",
    }
)  # fmt: skip
"""Functions that give the same numbers, entry by entry, in the same order."""


class Follower(abc.ABC):
    """Follows the noise of one library on behalf of a recorder."""

    def __init__(self, recorder: Recorder):
        self.recorder = recorder

    # ------------------------------------------------------------------------------------- what a library says

    @abc.abstractmethod
    def is_array(self, value: Any) -> bool:
        """Whether this is one of the library's arrays."""

    @abc.abstractmethod
    def remembered(self, array: Any) -> Origin | None:
        """Where an array's numbers were drawn."""

    @abc.abstractmethod
    def remember(self, array: Any, origin: Origin) -> None:
        """Keep that in mind."""

    @abc.abstractmethod
    def forget(self, array: Any) -> None:
        """The numbers are not noise any more."""

    @abc.abstractmethod
    def numbers(self, value: Any) -> Any:
        """An array or number as numpy's, a copy; None for anything else."""

    @abc.abstractmethod
    def with_numbers(self, array: Any, numbers: Any) -> Any:
        """An array like this one with other numbers (the same array, if it can be written to)."""

    # ------------------------------------------------------------------------------------------------ drawing

    def drawn(self, source: str, method: str, known: NoiseParameters, live: Any) -> Any:
        """Record a draw; what the caller gets is the live array, or one with the recorded numbers."""
        single = str(getattr(live, "dtype", "")).endswith(("32", "16"))
        shown, origin = self.recorder.drawn(source, method, known, self.numbers(live), single)
        result = live if origin.call.value is shown and self._as_it_was(live, shown) else self.with_numbers(live, shown)
        if origin.call.additive:
            self.remember(result, origin)
        return result

    def _as_it_was(self, live: Any, shown: Any) -> bool:
        return bool(np.array_equal(self.numbers(live), shown))

    # ---------------------------------------------------------------------------------------------- following

    def carriers(self, value: Any) -> Iterator[Any]:
        """The pieces of noise in arguments, however deep."""
        if self.origin_of(value) is not None:
            yield value
        elif isinstance(value, list | tuple):
            for part in value:
                yield from self.carriers(part)
        elif isinstance(value, Mapping):
            yield from self.carriers(list(value.values()))

    def origin_of(self, value: Any) -> Origin | None:
        """Where a piece of noise was drawn, the library's or numpy's."""
        if isinstance(value, NOISE):
            return None if value.origin is None or value.origin.addition is not None else value.origin
        return self.remembered(value) if self.is_array(value) else None

    def applied(
        self, function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any], in_place: bool
    ) -> Any:
        """Call a function of the library with noise among its arguments, and follow the noise."""
        found = list(self.carriers([args, kwargs]))
        bare = tuple(plain(a) for a in args)
        origin = self.origin_of(found[0])
        first = len(args) > 0 and args[0] is found[0]
        simple = len(found) == 1 and len(args) <= 2 and any(a is found[0] for a in args) and origin is not None
        if simple and origin is not None and not (in_place and not first and name not in ADDS | SUBTRACTS):
            made = self._followed(function, name, bare, kwargs, origin, 0 if first else 1, in_place)
            if made is not NotImplemented:
                return made
        self.opaque(found)
        result = function(*_deep(bare), **_deep(kwargs))
        if in_place and self.is_array(result):
            self.forget(result)
        return result

    def _followed(
        self,
        function: Callable[..., Any],
        name: str,
        bare: tuple[Any, ...],
        kwargs: dict[str, Any],
        origin: Origin,
        at: int,
        in_place: bool,
    ) -> Any:
        if name in SAME_NUMBERS and at == 0 and not in_place:
            return self._same(function, bare, kwargs, origin)
        if kwargs.keys() - {"alpha"} or (kwargs and name not in ADDS | SUBTRACTS):
            return NotImplemented
        if name in NEGATES:
            return self._scaled(function(*bare), origin, -1.0)
        other = bare[1 - at] if len(bare) == 2 else None
        number = self.numbers(other)
        if number is None:
            return NotImplemented
        if name in ADDS | SUBTRACTS | SUBTRACTED:
            return self._summed(function, name, bare, kwargs, origin, at, number)
        if name in MULTIPLIES and self.known_factor(other):
            return self._scaled(function(*bare), origin, number)
        if name in DIVIDES and at == 0 and self.known_factor(other):
            with np.errstate(all="ignore"):
                return self._scaled(function(*bare), origin, 1.0 / np.asarray(number, dtype=float))
        return NotImplemented

    def known_factor(self, other: Any) -> bool:
        """Whether a factor is known not to come from noise in a way that was not seen."""
        return True

    def _same(self, function: Callable[..., Any], bare: tuple[Any, ...], kwargs: dict[str, Any], origin: Origin) -> Any:
        result = function(*bare, **kwargs)
        if not self.is_array(result):
            return NotImplemented
        size = int(np.prod(np.shape(self.numbers(bare[0]))))
        if np.ndim(origin.factor) == 0 and int(np.prod(tuple(result.shape))) == size:
            self.remember(result, origin)
        else:
            origin.listener.used_otherwise(origin)
        return result

    def _scaled(self, result: Any, origin: Origin, factor: Any) -> Any:
        self.remember(result, origin.times(factor))
        return result

    def _summed(
        self,
        function: Callable[..., Any],
        name: str,
        bare: tuple[Any, ...],
        kwargs: dict[str, Any],
        origin: Origin,
        at: int,
        number: Any,
    ) -> Any:
        """a + αb, a − αb or b − a, one of them noise: the sum in the direction of the quantity."""
        weight = float(kwargs.get("alpha", 1.0))
        signs = [1.0, -weight] if name in SUBTRACTS else [-1.0, 1.0] if name in SUBTRACTED else [1.0, weight]
        shape = np.shape(self.numbers(bare[at]))
        result = function(*bare, **kwargs)
        values = self.numbers(result)
        outward = signs[1 - at]
        moved = origin.times(signs[at] / outward)
        dealt = origin.listener.added(moved, number, values / outward, shape)
        if not np.array_equal(np.asarray(dealt) * outward, values):
            result = self.with_numbers(result, np.asarray(dealt) * outward)
        if self.is_array(result):
            self.forget(result)
        return result

    def opaque(self, found: list[Any]) -> None:
        """None of these can be followed."""
        for value in found:
            origin = self.origin_of(value)
            if origin is not None:
                origin.listener.used_otherwise(origin)


def _deep(value: Any) -> Any:
    """The same containers with plain numbers."""
    if isinstance(value, NOISE):
        return plain(value)
    if type(value) in (list, tuple):
        return type(value)(_deep(v) for v in value)
    return {k: _deep(v) for k, v in value.items()} if type(value) is dict else value
