"""Mutants: what a check must notice. A mutant puts something broken in the place of what a check checks.

A check names at least one (`@check(…, mutants=…)`): a constant off by a factor (`scaled`), another part in the place of
one (`replaced`: an algorithm that ignores its data, or returns its start; the corrected text for the printed one, where
a check shows a defect), or a changed line (`edited`). With it the check must come out *not as recorded*; an exception
does not count, since it would say nothing about the claim.

Parts are named by their place, "reference.convex.moreau.envelope_gap". While a mutant is applied, a function does what
the broken one does, whoever holds it; of another part (a class, a constant) every module of the product that holds it
has the broken one. What was cached is forgotten.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
import linecache
import math
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audit.checks.framework import Check, CheckResult

PRODUCT = ("reference", "audit")
"""The packages whose modules may hold a part."""


@dataclass(frozen=True)
class Mutant:
    """Something broken, and where it goes."""

    part: str
    """The place of what is broken: module, then a name or Class.name."""
    how: str
    """What is wrong with it, in a few words."""
    make: Callable[[Any], Any] = field(compare=False, repr=False)
    """From the part to the broken one."""
    factor: Fraction | None = None
    """Of a part that is off by a factor."""
    beside: tuple[Mutant, ...] = ()
    """What is changed as well: smaller sizes for a slow check, or a precondition that would refuse the broken part.
    With these alone the check must still come out as recorded.
    """

    def __str__(self) -> str:
        return f"{self.part}: {self.how}"

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Within: the product has the broken part, and what goes beside it."""
        with contextlib.ExitStack() as stack:
            for other in self.beside:
                stack.enter_context(other.applied())
            stack.enter_context(self._broken())
            _forget()
            yield
        _forget()

    @contextlib.contextmanager
    def _broken(self) -> Iterator[None]:
        holder, name, part = _found(self.part)
        function = _function_in(part)
        if function is not None:
            with _rewritten(function, self.make(_copy(function))):
                yield
            return
        broken = self.make(part)
        homes = list(_homes(part, name)) if isinstance(holder, ModuleType) else [(holder, name)]
        try:
            for home, known_as in homes:
                setattr(home, known_as, broken)
            yield
        finally:
            for home, known_as in homes:
                setattr(home, known_as, part)


Mutants = tuple[Mutant, ...]


# ---------------------------------------------------------------------------------------- kinds of mutants


def scaled(part: str, factor: Fraction | int | str) -> Mutant:
    """What a function (or a property) returns, or a constant, is off by a factor."""
    by = Fraction(factor)
    return Mutant(part, f"times {by}", lambda whole: _scaled(whole, by), by)


def replaced(part: str, by: Any, how: str = "") -> Mutant:
    """Something else in its place: a value, a function, or the place of another part."""

    def make(_: Any) -> Any:
        return _found(by)[2] if isinstance(by, str) and by.startswith(tuple(f"{p}." for p in PRODUCT)) else by

    shown = by.rpartition(".")[2] if isinstance(by, str) else getattr(by, "__name__", by)
    return Mutant(part, how or f"replaced by {shown}", make)


def unguarded(precondition: str) -> Mutant:
    """A precondition that refuses nothing, beside a mutant that it would refuse."""
    return replaced(precondition, _admits, "refuses nothing")


def _admits(*args: Any, **kwargs: Any) -> None:
    """Nothing is refused."""


def edited(part: str, old: str, new: str) -> Mutant:
    """A function with `new` in the place of the one `old` in its text."""
    return Mutant(part, f"{old} → {new}", lambda function: _edited(function, old, new))


def beside(mutant: Mutant, *others: Mutant) -> Mutant:
    """The mutant, together with others that alone change nothing of what the check says."""
    return replace(mutant, beside=others)


def at(mutant: Mutant, factor: Fraction) -> Mutant:
    """A mutant that is off by a factor, with another factor."""
    return replace(mutant, how=f"times {factor}", make=lambda whole: _scaled(whole, factor), factor=factor)


# ------------------------------------------------------------------------------------------------ verdict


def tried(check: Check, mutant: Mutant, seed: int = 0) -> CheckResult:
    """What a check says of a mutant."""
    from audit.checks.framework import run_one

    with mutant.applied():
        return run_one(check, seed)


def catches(check: Check, mutant: Mutant, seed: int = 0) -> bool:
    """Whether the check says of the mutant the opposite of what is recorded."""
    found = tried(check, mutant, seed)
    return not found.error and found.holds != check.expected


def resolution(check: Check, mutant: Mutant, seed: int = 0, steps: int = 6) -> Fraction | None:
    """The factor nearest to 1, on the side of the mutant's own, at which the check still notices.

    Bisection of the logarithm between 1 and the mutant's factor; None if the mutant is off by no factor or is not
    caught. What is noticed need not be monotone in the factor: the answer is one that is noticed.
    """
    if mutant.factor is None or not catches(check, mutant, seed):
        return None
    caught, missed = math.log(mutant.factor), 0.0
    best = mutant.factor
    for _ in range(steps):
        middle = (caught + missed) / 2
        factor = Fraction(math.exp(middle)).limit_denominator(1000)
        if catches(check, at(mutant, factor), seed):
            caught, best = middle, factor
        else:
            missed = middle
    return best


# --------------------------------------------------------------------------------------------- machinery


def _found(place: str) -> tuple[Any, str, Any]:
    """The module or class that holds a part, the part's name there, and the part."""
    words = place.split(".")
    for cut in range(len(words) - 1, 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            holder: Any = importlib.import_module(".".join(words[:cut]))
            for word in words[cut:-1]:
                holder = getattr(holder, word)
            if words[-1] not in vars(holder):
                raise ValueError(f"{place}: {holder.__name__} has no {words[-1]}")
            return holder, words[-1], vars(holder)[words[-1]]
    raise ValueError(f"{place}: there is no such module")


def _homes(part: Any, called: str) -> Iterator[tuple[ModuleType, str]]:
    """Every module of the product that holds a part, and the name that it has there: a number is known by its name."""
    for name, module in list(sys.modules.items()):
        if module is not None and name.partition(".")[0] in PRODUCT:
            for key, value in list(vars(module).items()):
                if value is part and (key == called or callable(part)):
                    yield module, key


def _forget() -> None:
    """Empty the caches of the product."""
    for name, module in list(sys.modules.items()):
        if module is not None and name.partition(".")[0] in PRODUCT:
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)) and not isinstance(value, type):
                    value.cache_clear()


def _scaled(whole: Any, factor: Fraction) -> Any:
    """A constant, or what a function gives, times a factor."""
    if not callable(whole):
        return times(whole, factor)

    @functools.wraps(whole)
    def broken(*args: Any, **kwargs: Any) -> Any:
        return times(whole(*args, **kwargs), factor)

    return broken


def times(value: Any, factor: Fraction) -> Any:
    """A number of any number system, or all of several, times a factor; an integer stays one (rounded up)."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, tuple | list):
        return type(value)(times(x, factor) for x in value)
    if isinstance(value, int):
        return math.ceil(value * factor)
    if isinstance(value, Fraction):
        return value * factor
    return value * factor.numerator / factor.denominator


def _function_in(part: Any) -> FunctionType | None:
    """The function in a property, in a static method or under decorators, if it can be rewritten in its place."""
    if isinstance(part, property):
        part = part.fget
    if isinstance(part, staticmethod):
        part = part.__func__
    found = inspect.unwrap(part) if callable(part) and not isinstance(part, type) else None
    return found if isinstance(found, FunctionType) and not found.__closure__ else None


def _copy(function: FunctionType) -> FunctionType:
    """A function that stays as it is when the other one is rewritten."""
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


@contextlib.contextmanager
def _rewritten(function: FunctionType, broken: Callable[..., Any]) -> Iterator[None]:
    """Within: a function does what another one does, for whoever holds it, be it as a default or in a closure."""

    def passes_on(*args: Any, _to: Callable[..., Any], **kwargs: Any) -> Any:
        return _to(*args, **kwargs)

    kept = function.__code__, function.__defaults__, function.__kwdefaults__
    try:
        function.__code__, function.__defaults__ = passes_on.__code__, None
        function.__kwdefaults__ = {"_to": broken}
        yield
    finally:
        function.__code__, function.__defaults__ = kept[0], kept[1]
        function.__kwdefaults__ = kept[2]


def _edited(function: FunctionType, old: str, new: str) -> FunctionType:
    """A function from another's text with a change: it sees the same module."""
    text = textwrap.dedent(inspect.getsource(function))
    (node,) = ast.parse(text).body
    text = "".join(text.splitlines(keepends=True)[node.lineno - 1 :])  # without its decorators
    if text.count(old) != 1:
        raise ValueError(f"{function.__module__}.{function.__name__}: {old!r} stands {text.count(old)} times in it")
    changed = text.replace(old, new)
    file = f"<mutant of {function.__module__}.{function.__name__}: {new}>"
    linecache.cache[file] = (len(changed), None, changed.splitlines(keepends=True), file)
    made: dict[str, Any] = {}
    exec(compile(changed, file, "exec"), function.__globals__, made)
    (broken,) = (f for f in made.values() if isinstance(f, FunctionType))
    return broken
