"""Preconditions in one place: each helper returns the checked value or raises one clear `PreconditionError`.

A message names the parameter, its value, the condition that the value breaks and, where there is one, the remedy.
Exact data (ints, Fractions, decimal strings, binary64 values) are read here once, so that NaN and infinity
never enter a set, a loss or a record.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeAlias

from reference.numerics.numbers import INF

Exponent: TypeAlias = Any
"""An exponent p of ‖·‖_p: an int, a Fraction, `INF`, or a scalar of the number system in use."""

_LONGEST = 80
"""Characters of a value that a message shows: chosen, so that the message stays on one line."""


class PreconditionError(ValueError):
    """A parameter whose value breaks a condition: who catches it reads the fields, not the message."""

    parameter: str = ""
    condition: str = ""


def _broken(name: str, value: object, condition: str, remedy: str) -> PreconditionError:
    error = PreconditionError(f"{name} = {_shown(value)} must {condition}" + (f": {remedy}" if remedy else ""))
    error.parameter, error.condition = name, condition
    return error


def require(ok: bool, name: str, value: object, condition: str, remedy: str = "") -> None:
    """Raise `PreconditionError`, "name = value must condition: remedy" on one line, unless `ok`."""
    if not ok:
        raise _broken(name, value, condition, remedy)


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, (Fraction, float, int)) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def exact(name: str, value: Any) -> Fraction:
    """The rational that an int, a Fraction, a decimal string ("0.1", "1/3") or a finite float stands for."""
    remedy = "give an int, a Fraction, a decimal string or a float"
    if isinstance(value, float):
        require(math.isfinite(value), name, value, "be finite", remedy)
        return Fraction(value)
    if isinstance(value, str):
        return _decimal(name, value, remedy)
    require(_is_rational(value), name, value, "be an exact finite number", remedy)
    return Fraction(int(value.numerator), int(value.denominator))


def _is_rational(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Rational)


def _decimal(name: str, text: str, remedy: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise _broken(name, text, "be an exact finite number", remedy) from None


def exact_tuple(name: str, values: Iterable[Any]) -> tuple[Fraction, ...]:
    """A non-empty tuple of exact numbers; an entry that is none is named by its index."""
    require(isinstance(values, Iterable) and not isinstance(values, str), name, values, "be a sequence of numbers")
    entries = tuple(exact(f"{name}[{i}]", value) for i, value in enumerate(values))
    require(len(entries) > 0, name, entries, "have at least one entry")
    return entries


def positive(name: str, value: Any) -> Fraction:
    """An exact number > 0."""
    number = exact(name, value)
    require(number > 0, name, value, "be positive")
    return number


def nonnegative(name: str, value: Any) -> Fraction:
    """An exact number ≥ 0."""
    number = exact(name, value)
    require(number >= 0, name, value, "be at least 0")
    return number


def whole(name: str, value: Any, least: int = 1) -> int:
    """An int ≥ `least`."""
    integral = _is_rational(value) and value.denominator == 1
    require(integral and value >= least, name, value, f"be an integer of at least {least}")
    return int(value)


def exponent(name: str, p: Any) -> Exponent:
    """p ∈ [1, ∞] as an int, a Fraction or `INF`; a scalar of a number system (mpf, ball) is passed through."""
    if isinstance(p, float) and p == INF:
        return INF
    if isinstance(p, (float, str, Rational)):
        remedy = "otherwise ‖·‖_p is not a norm"
        require(not (isinstance(p, float) and math.isnan(p)), name, p, "lie in [1, ∞]", remedy)
        number = exact(name, p)
        require(number >= 1, name, p, "lie in [1, ∞]", remedy)
        return int(number) if number.denominator == 1 else number
    require(hasattr(p, "_mpf_") or hasattr(p, "ball"), name, p, "be a number in [1, ∞]")
    return p


def same_dimension(name: str, found: int, dim: int) -> None:
    """The dimension of `name` agrees with the one that it is combined with."""
    require(found == dim, f"dimension of {name}", found, f"be {dim}", "dimensions must agree")
