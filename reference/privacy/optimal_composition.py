"""Optimal composition of pure-DP steps: randomised response is the worst case (Kairouz, Oh and Viswanath)."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from reference.numerics.enclosures import (
    Argument,
    above_target,
    at_least_zero,
    count,
    evaluate,
    highest,
    hull,
    inverse_profile,
    lowest,
    number,
    positive,
    probability,
    root,
)
from reference.numerics.numbers import Ball, BallScalar, Exact, Numbers, Real


def kov_delta(K: Numbers, epsilon: Exact | Real, epsilon0: Exact | Real, k: int) -> Real:
    """The exact δ(ε) of k adaptive ε0-DP steps: Σ_i C(k,i) [e^{iε0} − e^{ε+(k−i)ε0}]_+ / (1 + e^{ε0})^k.

    Attained by randomised response, of which every ε0-DP step is a post-processing (Kairouz, Oh, Viswanath, ICML 2015).
    """
    e, e0 = at_least_zero("epsilon", epsilon), positive("epsilon0", epsilon0)
    if isinstance(e, Fraction) and isinstance(e0, Fraction) and count("k", k) * e0 <= e:
        return K(0)
    return evaluate(K, _kov_delta, e, e0, count("k", k))


def _kov_delta(K: Ball, epsilon: Argument, epsilon0: Argument, k: int) -> BallScalar:
    """The sum from its first positive term on; once the ratio of successive terms is below 1, the rest is geometric."""
    e, e0 = K(epsilon), K(epsilon0)
    i = max(0, _first_positive(epsilon, epsilon0, k))
    total = K(0)
    if i > k:
        return total  # type: ignore[no-any-return]
    mass = BallScalar(K, K.at_precision(arb.bin_uiui, k, i)) * K.exp(i * e0 - k * K.log1p(K.exp(e0)))
    tilt, odds, shrink = K.exp(e - (2 * i - k) * e0), K.exp(e0), K.exp(-2 * e0)
    negligible = K(Fraction(1, 2 ** (K.bits + 2)))
    while True:
        total = total + K.max(mass * (1 - tilt), K(0))
        ratio = Fraction(k - i, i + 1) * odds
        mass, tilt, i = mass * ratio, tilt * shrink, i + 1
        if i > k:
            return total  # type: ignore[no-any-return]
        if i % 16 == 0 and ratio.ball < 1:
            rest = mass / (1 - ratio)
            if rest.ball < (total * negligible).ball:
                return total + hull(K, K(0), rest)  # type: ignore[no-any-return]


def _first_positive(epsilon: Argument, epsilon0: Argument, k: int) -> int:
    """The smallest i with (2i − k)ε0 > ε; where a ball leaves it open, an earlier i (its term is then 0 or tiny)."""
    return math.floor((k + lowest(epsilon) / highest(epsilon0)) / 2) + 1


def kov_epsilon0(K: Numbers, epsilon: Exact | Real, delta: Exact | Real, k: int) -> Real:
    """The largest ε0 such that k adaptive ε0-DP steps are (ε,δ)-DP (the inverse of `kov_delta`, increasing in ε0)."""
    e, d = positive("epsilon", epsilon), probability("delta", delta)

    def body(B: Ball, e: Argument, d: Argument) -> BallScalar:
        base = B(e) / k
        excess = root(B, lambda y: above_target(B, _kov_delta(B, e, base + y, k), d), base)
        return base + excess  # type: ignore[no-any-return]

    count("k", k)
    return evaluate(K, body, e, d)


def kov_epsilon(K: Numbers, delta: Exact | Real, epsilon0: Exact | Real, k: int) -> Real:
    """The smallest ε at which k adaptive ε0-DP steps have δ(ε) ≤ δ (0 if they have it at ε = 0)."""
    d, e0 = probability("delta", delta), positive("epsilon0", epsilon0)

    def profile(B: Ball, e: BallScalar) -> BallScalar:
        return _kov_delta(B, number("epsilon", e), e0, k)

    return inverse_profile(K, profile, d, count("k", k) * e0 if isinstance(e0, Fraction) else k * e0)
