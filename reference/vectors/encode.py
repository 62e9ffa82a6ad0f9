"""Certified numbers as text: 40 significant digits and a radius, budgets for rounding, canonical JSON.

A value is printed as the decimal nearest to the middle of its ball. Its radius is 0 if the decimal is the value itself,
and otherwise one unit of the 40th digit, which is checked to cover the distance from the decimal to every point of the
ball. A ball that holds 0 and is not 0 is printed as 0 with a radius that covers it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import Ball, BallScalar, Real, Vector

DIGITS = 40
"""Significant digits of a stored value: more than twice those of binary64, so that clients with 30 are served, too."""
WIDTH = 150
"""A JSON value that fits into this many characters stays on one line."""


class TooWide(ArithmeticError):
    """A ball is too wide for 40 digits: compute with more bits."""


def decimal(x: Fraction, digits: int = DIGITS) -> str:
    """x to `digits` significant digits; fewer if it ends earlier."""
    context = Context(prec=digits, rounding=ROUND_HALF_EVEN)
    return _text(context.divide(Decimal(x.numerator), Decimal(x.denominator)))


def _text(x: Decimal) -> str:
    if x == 0:
        return "0"
    sign, figures, exponent = x.normalize(Context(prec=DIGITS + 10)).as_tuple()
    digits = "".join(map(str, figures))
    assert isinstance(exponent, int)
    places = len(digits) + exponent  # where the point stands
    head = "-" if sign else ""
    if exponent >= 0 and places <= 21:
        return head + digits + "0" * exponent
    if 0 < places <= 21:
        return f"{head}{digits[:places]}.{digits[places:]}"
    if -5 < places <= 0:
        return f"{head}0.{'0' * -places}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{head}{digits[0]}{tail}e{places - 1}"


def power_of_ten_above(x: Fraction) -> Fraction:
    """The least power of ten that is at least x > 0."""
    k = len(str(x.numerator)) - len(str(x.denominator)) - 1
    while Fraction(10) ** k < x:
        k += 1
    return Fraction(10) ** k


def one_digit_above(x: Fraction) -> str:
    """x ≥ 0 rounded up to one significant digit."""
    if x == 0:
        return "0"
    unit = power_of_ten_above(x) / 10
    return decimal(-(-x // unit) * unit)


def encode_scalar(x: Real) -> tuple[str, Fraction]:
    """The 40-digit decimal of a ball, and a radius that covers the ball."""
    middle, radius = x.mid, x.rad
    if abs(middle) <= radius and radius > 0:
        return "0", power_of_ten_above(abs(middle) + radius)
    text = decimal(middle)
    error = abs(Fraction(text) - middle) + radius
    if error == 0:
        return text, Fraction(0)
    unit = power_of_ten_above(abs(Fraction(text)) * (1 + Fraction(1, 10**60))) / 10**DIGITS
    if error > unit:
        raise TooWide(f"{text} is known to {float(error):.2g} only")
    return text, unit


def encode_value(value: Any) -> tuple[Any, Fraction]:
    """A traced value: text(s) and the largest radius. Ints, lists of ints and strings are exact."""
    if isinstance(value, (int, str)):
        return value, Fraction(0)
    if isinstance(value, (Vector, tuple, list)):
        entries = [encode_value(v) for v in value]
        return [text for text, _ in entries], max((r for _, r in entries), default=Fraction(0))
    return encode_scalar(value)


def magnitude(value: Any) -> Fraction:
    """The largest absolute midpoint of a scalar or vector of balls; 0 for what is not real."""
    if isinstance(value, BallScalar):
        return abs(value.mid)
    if isinstance(value, (Vector, tuple, list)):
        return max((magnitude(v) for v in value), default=Fraction(0))
    return Fraction(0)


class Watched(Ball):
    """Balls that note how close their decisions were: the smallest distance of two compared values, and exact ties.

    `ties` counts the ties of an argmin, `level` those of other comparisons; `loose` holds the tied values of an argmin
    that a short binary number cannot hold, so that a sum in another order may break the tie.
    """

    def __init__(self, bits: int):
        super().__init__(bits)
        self.closest: Fraction | None = None
        self.ties = self.level = 0
        self.loose: list[Fraction] = []

    @property
    def unwatched(self) -> Ball:
        return Ball(self.bits)

    def lt(self, x: Real, y: Real) -> bool:
        answer = super().lt(x, y)
        self._note(x, y)
        return answer

    def le(self, x: Real, y: Real) -> bool:
        answer = super().le(x, y)
        self._note(x, y)
        return answer

    def argmin(self, values: Sequence[Real]) -> int:
        """Ties count, and the runner-up's distance."""
        best = self.unwatched.argmin(values)
        for i, value in enumerate(values):
            if i != best:
                self._note(value, values[best], tie=True)
        return best

    def _note(self, x: Real, y: Real, tie: bool = False) -> None:
        a, b = self(x), self(y)
        gap = abs(a.mid - b.mid) - a.rad - b.rad
        if gap > 0:
            self.closest = gap if self.closest is None else min(gap, self.closest)
        elif tie:
            self.ties += 1
            self.loose += [x.mid for x in (a, b) if not short(x)]
        elif a.rad == b.rad == 0:
            self.level += 1


SHORT = 40
"""Bits of a number that binary64 computes exactly in any order: products and sums of a few such records fit in 53."""


def short(x: BallScalar) -> bool:
    """Whether x is known exactly and is a binary number of at most 40 bits (its zeros at the end aside)."""
    middle = x.mid
    power = middle.denominator & (middle.denominator - 1) == 0
    top = abs(middle.numerator)
    return bool(x.rad == 0 and power and (top >> max(0, (top & -top).bit_length() - 1)).bit_length() <= SHORT)


# ----------------------------------------------------------------------------------------------- JSON


def canonical(value: Any) -> str:
    """The one JSON text of a value: short things on one line, one-space indentation, a newline at the end."""
    return "".join(_lines(value, 0)) + "\n"


def _lines(value: Any, depth: int) -> Iterator[str]:
    compact = json.dumps(value, ensure_ascii=False, allow_nan=False)
    flat = isinstance(value, list) and not any(isinstance(v, (dict, list)) for v in value)
    if not isinstance(value, (dict, list)) or flat or len(compact) + depth <= WIDTH:
        yield compact
        return
    indent = " " * (depth + 1)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield opening + "\n"
    items = list(value.items()) if isinstance(value, dict) else [(None, v) for v in value]
    for i, (key, item) in enumerate(items):
        yield indent + ("" if key is None else json.dumps(key, ensure_ascii=False) + ": ")
        yield from _lines(item, depth + 1)
        yield ",\n" if i + 1 < len(items) else "\n"
    yield " " * depth + closing


__all__ = [
    "DIGITS",
    "TooWide",
    "Watched",
    "canonical",
    "decimal",
    "encode_scalar",
    "encode_value",
    "magnitude",
    "one_digit_above",
    "power_of_ten_above",
    "short",
]
