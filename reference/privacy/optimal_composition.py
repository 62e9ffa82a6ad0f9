"""Optimal composition of pure-DP steps: randomised response is the worst case (Kairouz, Oh and Viswanath)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

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

CAP_OUTCOMES = 1 << 18
"""The most outcomes that `pure_composition_delta` sums: a limit of effort, chosen and not derived."""


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


def kov_delta_approximate(
    K: Numbers, epsilon: Exact | Real, epsilon0: Exact | Real, delta0: Exact | Real, k: int
) -> Real:
    """The exact δ(ε) of k adaptive (ε0,δ0)-DP steps: 1 − (1−δ0)^k (1 − kov_delta)."""
    d0 = at_least_zero("delta0", delta0)
    if highest(d0) >= 1:
        raise ValueError(f"delta0 = {delta0} must lie in [0, 1)")
    if d0 == 0:
        return kov_delta(K, epsilon, epsilon0, k)
    e, e0 = at_least_zero("epsilon", epsilon), positive("epsilon0", epsilon0)

    def body(B: Ball, e: Argument, e0: Argument, d0: Argument) -> BallScalar:
        keep: BallScalar = (1 - B(d0)) ** k * (1 - _kov_delta(B, e, e0, k))
        return 1 - keep

    return evaluate(K, body, e, e0, d0)


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


def pure_composition_delta(K: Numbers, epsilon: Exact | Real, epsilons: Sequence[Exact | Real]) -> Real:
    """The exact δ(ε) of adaptive steps that are ε_1-, ε_2-, …-DP: Σ over all outcomes of their randomised responses.

    Equal ε_t are counted together, so the cost is ∏(multiplicity + 1) outcomes; beyond 2**18 it is refused
    (computing it exactly is #P-hard in general; Murtagh and Vadhan, 2016).
    """
    e = at_least_zero("epsilon", epsilon)
    steps = Counter(at_least_zero("epsilons", x) for x in epsilons)
    if any(isinstance(x, BallScalar) for x in steps):
        raise ValueError("epsilons must be exact numbers: equal steps are counted together")
    groups = [(x, m) for x, m in steps.items() if x != 0]
    outcomes = math.prod(m + 1 for _, m in groups)
    if outcomes > CAP_OUTCOMES:
        raise ValueError(f"epsilons: {outcomes} outcomes exceed {CAP_OUTCOMES}; use zCDP or a privacy-loss accountant")
    if isinstance(e, Fraction) and sum((x * m for x, m in groups), Fraction(0)) <= e:
        return K(0)
    return evaluate(K, lambda B, e: _pure_composition(B, e, groups), e)


def _pure_composition(K: Ball, epsilon: Argument, groups: Sequence[tuple[Any, int]]) -> BallScalar:
    tables = [_responses(K, x, m) for x, m in groups]
    e, total = K(epsilon), K(0)
    for outcome in product(*tables):
        loss = sum((x for x, _ in outcome), Fraction(0))
        if isinstance(epsilon, BallScalar) or loss > epsilon:
            mass = K(1)
            for _, factor in outcome:
                mass = mass * factor
            total = total + mass * K.max(-K.expm1(e - K(loss)), K(0))
    return total  # type: ignore[no-any-return]


def _responses(K: Ball, x: Fraction, m: int) -> list[tuple[Fraction, BallScalar]]:
    """(loss, probability) of m randomised responses at ε = x."""
    normaliser = m * K.log1p(K.exp(K(x)))
    return [((2 * i - m) * x, math.comb(m, i) * K.exp(i * K(x) - normaliser)) for i in range(m + 1)]
