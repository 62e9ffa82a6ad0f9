"""Are declared constants true, and are they tight? Quotients whose supremum a constant claims to be, and a search.

A Lipschitz constant L0, a smoothness constant L1 and a constant of weak convexity rho each bound a quotient over all
pairs of points. `largest` climbs such a quotient in binary64 and evaluates the point it found again in balls, so that

* `found.exceeds(c)` is a proof that the constant c is too small (up to trust in Arb), and
* a declared constant that is close to `found` is known to be nearly the best.

    K-generic quotient:  lipschitz_quotient(K, value, w, v, p)              ≤ L0
                         smoothness_quotient(K, gradient, w, v, p)          ≤ L1
                         weak_convexity_quotient(K, value, w, v, lam, p)    ≤ rho
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from audit.auditor.search.climb import climb
from reference.numerics.numbers import INF, Ball, Float64, Numbers, Real, Vector, dual_norm, norm

_ENCLOSED = 24


def lipschitz_quotient(K: Numbers, value: Callable[[Vector], Real], w: Vector, v: Vector, p: Any) -> Real:
    """|f(w) − f(v)| / ‖w − v‖_p."""
    return K.abs(value(w) - value(v)) / norm(K, w - v, p)


def smoothness_quotient(K: Numbers, gradient: Callable[[Vector], Vector], w: Vector, v: Vector, p: Any) -> Real:
    """‖∇f(w) − ∇f(v)‖_q / ‖w − v‖_p."""
    return dual_norm(K, gradient(w) - gradient(v), p) / norm(K, w - v, p)


def weak_convexity_quotient(
    K: Numbers, value: Callable[[Vector], Real], w: Vector, v: Vector, lam: Real, p: Any
) -> Real:
    """[f(λw + (1−λ)v) − λf(w) − (1−λ)f(v)] / (λ(1−λ)‖w − v‖_p²/2), 0 < λ < 1."""
    mu = 1 - lam
    excess = value(w * lam + v * mu) - lam * value(w) - mu * value(v)
    return 2 * excess / (lam * mu * norm(K, w - v, p) ** 2)


def into_ball(K: Numbers, u: Sequence[Any], p: Any, radius: Any = 1) -> Vector:
    """radius·u / max(1, ‖u‖_p): every point of the ball is reached, and nothing else."""
    point = K.vector(u)
    scaled: Vector = point * (K(radius) / K.max(K(1), norm(K, point, p)))
    return scaled


@dataclass(frozen=True)
class Largest:
    """The largest quotient found: its enclosure [lower, upper] and the point at which it is taken."""

    lower: Fraction
    upper: Fraction
    x: tuple[float, ...]
    evaluations: int

    def exceeds(self, constant: Fraction | int) -> bool:
        """Whether the quotient certainly exceeds the constant: then the constant is refuted."""
        return self.lower > constant

    def share(self, constant: Fraction | int) -> float:
        """The quotient found over the constant: 1 if the constant is attained."""
        return float(self.lower / constant)


def largest(
    quotient: Callable[[Numbers, tuple[float, ...]], Real],
    x0: Sequence[float],
    bounds: Sequence[tuple[float, float]],
    budget: int = 2000,
    seed: int = 0,
    bits: int = 256,
) -> Largest:
    """Climb `quotient(Float64(), x)` over the box, then enclose `quotient(Ball(bits), x)` at the best points.

    The same function runs in both number systems; a division by 0 counts as a failed step. Where the points of a pair
    come close, rounding can inflate the quotient: so about 24 points that set a record on the way are enclosed as well,
    and the largest enclosure counts.
    """
    K = Float64()
    records = [(-INF, tuple(map(float, x0)))]

    def in_floats(point: Any) -> float:
        x = tuple(float(t) for t in point)
        try:
            value = float(quotient(K, x))
        except ZeroDivisionError:
            return -INF
        if value > records[-1][0]:
            records.append((value, x))
        return value

    evaluations = climb(in_floats, x0, bounds, budget, seed).evaluations
    stride = max(1, len(records) // _ENCLOSED)
    enclosed = [_enclosed(quotient, x, bits, evaluations) for _, x in records[:0:-stride]]
    if not enclosed:
        raise ValueError(f"quotient must be defined somewhere in bounds = {bounds}: no evaluation gave a number")
    return max(enclosed, key=lambda found: found.lower)


def _enclosed(
    quotient: Callable[[Numbers, tuple[float, ...]], Real], x: tuple[float, ...], bits: int, evaluations: int
) -> Largest:
    enclosure = quotient(Ball(bits), x)
    return Largest(enclosure.mid - enclosure.rad, enclosure.mid + enclosure.rad, x, evaluations)
