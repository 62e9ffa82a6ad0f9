"""Formulas evaluated on balls, as accurately as the number system asks for, and roots enclosed by two signs.

* `evaluate(K, body, …)` runs `body` on balls at more and more bits until the relative radius reaches the accuracy of
  `K`, and rounds once into `K`. Cancellation then costs bits, not digits, and nothing underflows on the way.
* `root(K, f, guess)` encloses the root of an increasing function; `inverse_profile` the ε at which δ(ε) meets a target.
* `number`, `positive`, `probability`, … read arguments: exact rationals, or balls with a radius.
* `float_below`, `float_above` hand a ball over as the binary64 number on its safe side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb

from reference.numerics.numbers import MP, Ball, BallScalar, Float64, Numbers, Real, Undecided
from reference.numerics.numbers import _as_fraction as as_fraction

Argument: TypeAlias = "Fraction | BallScalar"
"""A checked argument: an exact rational, or a ball with a radius."""

CAP_BITS = 1 << 16
"""Where an evaluation gives up: chosen; 65536 bits take seconds, and no δ of the rooms needs them."""
LEAST_POSITIVE = arb(math.ulp(0))
"""The least positive binary64 number, 2**-1074."""

# ----------------------------------------------------------------------------------- checked arguments


def number(name: str, x: Any) -> Argument:
    """`x` as an exact rational, or as the ball it is; anything that is not a finite number is refused."""
    if isinstance(x, BallScalar):
        if not x.ball.is_finite():
            raise ValueError(f"{name} = {x} is not finite: give a finite number")
        return x.mid if x.ball.is_exact() else x
    mantissa_exponent = getattr(x, "_mpf_", None)
    if mantissa_exponent is not None and mantissa_exponent[1] == 0 and mantissa_exponent[2] != 0:
        raise ValueError(f"{name} = {x} is not a finite number: give a finite number")
    try:
        return as_fraction(x)
    except (ValueError, OverflowError, TypeError, AttributeError, ZeroDivisionError):
        raise ValueError(f"{name} = {x} is not a finite number: give a number or a decimal string") from None


def lowest(x: Argument) -> Fraction:
    """The least value that the argument may have."""
    return x if isinstance(x, Fraction) else x.mid - x.rad


def highest(x: Argument) -> Fraction:
    """The largest value that the argument may have."""
    return x if isinstance(x, Fraction) else x.mid + x.rad


def at_least_zero(name: str, x: Any) -> Argument:
    """A number ≥ 0."""
    value = number(name, x)
    if lowest(value) < 0:
        raise ValueError(f"{name} = {x} must be at least 0")
    return value


def positive(name: str, x: Any) -> Argument:
    """A number > 0."""
    value = number(name, x)
    if lowest(value) <= 0:
        raise ValueError(f"{name} = {x} must be greater than 0")
    return value


def probability(name: str, x: Any) -> Argument:
    """A number strictly between 0 and 1."""
    value = number(name, x)
    if lowest(value) <= 0 or highest(value) >= 1:
        raise ValueError(f"{name} = {x} must lie strictly between 0 and 1")
    return value


def count(name: str, k: int) -> int:
    """A whole number ≥ 1."""
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise ValueError(f"{name} = {k} must be a whole number, at least 1")
    return k


# --------------------------------------------------------------------- evaluation: on balls, rounded once


def _accuracy(K: Numbers) -> int:
    """How many bits a value of `K` has."""
    if isinstance(K, Ball):
        return K.bits
    return math.ceil(K.digits * Fraction(3322, 1000)) + 1 if isinstance(K, MP) else 53


def evaluate(K: Numbers, body: Callable[..., BallScalar], *args: Argument | int) -> Real:
    """`body` on balls, at twice the bits again and again until it is accurate enough for `K`; then rounded into `K`."""
    if any(isinstance(a, BallScalar) for a in args):
        if not isinstance(K, Ball):
            raise TypeError(f"a ball does not become a {K.name} number silently: pass Ball(bits) as K")
        return body(K, *args)
    accuracy = _accuracy(K)
    bits, reason = accuracy + 40, "not accurate enough"
    while bits <= max(CAP_BITS, 4 * accuracy):
        try:
            value = body(Ball(bits), *args)
            if value.ball.is_zero() or (value.ball.is_finite() and value.ball.rel_accuracy_bits() > accuracy + 6):
                return _rounded(K, value)
            if isinstance(K, Float64) and abs(value.ball) < LEAST_POSITIVE:
                return K(math.ulp(0))
        except Undecided as undecided:
            reason = str(undecided)
        bits *= 2
    raise Undecided(f"undecided up to {bits // 2} bits: {reason}")


def _rounded(K: Numbers, value: BallScalar) -> Real:
    if isinstance(K, Ball):
        return BallScalar(K, K.at_precision(lambda ball: ball + 0, value.ball))
    if isinstance(K, MP):  # not as a rational: the exponent may be anything
        mantissa, exponent = value.ball.mid().man_exp()
        return K.context.ldexp(K(int(mantissa)), int(exponent))
    if value.ball > 0 and value.ball < LEAST_POSITIVE:
        return K(math.ulp(0))  # a positive value stays positive
    return K(value.mid)


def float_below(x: BallScalar) -> float:
    """The largest binary64 value that is certainly at most `x`: what a safe-side scale is handed over as."""
    return _neighbour(x.mid - x.rad, -1)


def float_above(x: BallScalar) -> float:
    """The smallest binary64 value that is certainly at least `x`."""
    return _neighbour(x.mid + x.rad, 1)


def _neighbour(bound: Fraction, direction: int) -> float:
    result = float(bound)
    if (Fraction(result) - bound) * direction >= 0:
        return result
    return math.nextafter(result, direction * math.inf)


def above_target(K: Ball, delta: BallScalar, target: Argument) -> BallScalar:
    """logit δ − logit target, logit x = ln x − ln(1−x): profiles are nearly straight on this scale, at both ends.

    Where the ball of δ touches 0 (or 1) the value is an upper (lower) bound with the right sign, good for a search
    and for a proof by signs; if the sign is open, `Undecided`.
    """
    goal = log(K, K(target)) - log(K, 1 - K(target))
    if delta.ball > 0 and delta.ball < 1:
        return K.log(delta) - K.log(1 - delta) - goal  # type: ignore[no-any-return]
    if delta.ball < 1 and delta.ball.upper() > 0:
        bound = K.log(_upper_end(delta)) - K.log(1 - _upper_end(delta)) - goal
        if bound.ball < 0:
            return bound  # type: ignore[no-any-return]
    if delta.ball > 0 and delta.ball.lower() < 1:
        bound = K.log(_lower_end(delta)) - K.log(1 - _lower_end(delta)) - goal
        if bound.ball > 0:
            return bound  # type: ignore[no-any-return]
    raise Undecided(f"whether {delta} exceeds {target} is not decided at {K.bits} bits")


def log(K: Ball, x: BallScalar) -> BallScalar:
    """ln x; `Undecided` while the ball still touches 0 (more bits will tell)."""
    if not x.ball > 0:
        raise Undecided(f"ln({x}) is not decided at {K.bits} bits")
    value: BallScalar = K.log(x)
    return value


# ----------------------------------------------------------------- roots of increasing functions, enclosed


def root(K: Ball, f: Callable[[BallScalar], BallScalar], guess: BallScalar) -> BallScalar:
    """A ball around the x > 0 with f(x) = 0, for a strictly increasing f with a sign change on (0, ∞).

    The search (regula falsi with Anderson–Björck's weights) only proposes x. The enclosure is proved afterwards
    by two signs, f(x − r) < 0 < f(x + r), which hold for every value of f's own balls.
    """
    x = _search(K, f, _middle(guess))
    radius = K.abs(x) / 2 ** (K.bits - 4)
    while radius.ball < x.ball:
        low, high = x - radius, x + radius
        if f(_lower_end(low)).ball < 0 and f(_upper_end(high)).ball > 0:
            return hull(K, low, high)
        radius = radius * 4
    raise Undecided(f"the root near {x} is not enclosed at {K.bits} bits")


def hull(K: Ball, low: BallScalar, high: BallScalar) -> BallScalar:
    """The ball around two balls."""
    return BallScalar(K, K.at_precision(type(low.ball).union, low.ball, high.ball))


def _middle(x: BallScalar) -> BallScalar:
    return BallScalar(x._k, x.ball.mid())


def _lower_end(x: BallScalar) -> BallScalar:
    return BallScalar(x._k, x.ball.lower())


def _upper_end(x: BallScalar) -> BallScalar:
    return BallScalar(x._k, x.ball.upper())


def _bracket(K: Ball, f: Callable[[BallScalar], BallScalar], x: BallScalar) -> tuple[BallScalar, BallScalar]:
    """Two points with certain opposite signs, by doubling and halving."""
    low = high = x
    for _ in range(4096):
        if f(low).ball < 0:
            break
        low = _middle(low / 2)
    for _ in range(4096):
        if f(high).ball > 0:
            return low, high
        high = _middle(high * 2)
    raise Undecided(f"no sign change was found around {x} at {K.bits} bits")


def _search(K: Ball, f: Callable[[BallScalar], BallScalar], guess: BallScalar) -> BallScalar:
    """A point near the root: secant steps inside a bracket, and a halving whenever three of them did not halve it."""
    a, b = _bracket(K, f, guess)
    fa, fb = _middle(f(a)), _middle(f(b))
    tolerance = K(Fraction(1, 2 ** (K.bits - 6)))
    x, width = b, K.abs(b - a)
    for step in range(1, 20 * K.bits):
        previous, x = x, _middle(b - fb * (b - a) / (fb - fa))
        if step % 3 == 0:
            if not (2 * K.abs(b - a)).ball < width.ball:
                x = _middle((a + b) / 2)
            width = K.abs(b - a)
        value = f(x)
        if K.abs(x - previous).ball < (K.abs(x) * tolerance).ball or not (value.ball < 0 or value.ball > 0):
            return x
        fx = _middle(value)
        if (fx.ball < 0) == (fb.ball < 0):  # the same end moves twice: weigh the other one down
            weight = 1 - fx / fb
            fa = _middle(fa * (weight if weight.ball > 0 else Fraction(1, 2)))
        else:
            a, fa = b, fb
        b, fb = x, fx
    return x


def inverse_profile(
    K: Numbers, profile: Callable[[Ball, BallScalar], BallScalar], delta: Argument, support: Any = None
) -> Real:
    """The ε with δ(ε) = δ for a decreasing profile, or 0. `support`: the profile is positive below it, 0 above."""

    def body(B: Ball, d: Argument) -> BallScalar:
        if above_target(B, profile(B, B(0)), d).ball <= 0:
            return B(0)  # type: ignore[no-any-return]
        if support is None:
            return root(B, lambda e: -above_target(B, profile(B, e), d), B(1))
        top = B(support)  # solve for the distance y below the support: δ(top − y) increases in y
        y = root(B, lambda y: _continued(B, profile, top - y, d), top / 2)
        return top - y  # type: ignore[no-any-return]

    return evaluate(K, body, delta)


def _continued(
    K: Ball, profile: Callable[[Ball, BallScalar], BallScalar], e: BallScalar, target: Argument
) -> BallScalar:
    """How far δ(e) is above the target, continued by −e for e ≤ 0 (only the search goes there)."""
    if e.ball > 0:
        return above_target(K, profile(K, e), target)
    return above_target(K, profile(K, K(0)), target) - e
