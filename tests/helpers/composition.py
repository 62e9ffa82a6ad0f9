"""The exact composition of pure-DP steps that differ: what accountants are compared with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from reference.numerics.enclosures import Argument, at_least_zero, evaluate
from reference.numerics.numbers import Ball, BallScalar, Exact, Numbers, Real

CAP_OUTCOMES = 1 << 18
"""The most outcomes that are summed: a limit of effort, chosen and not derived."""


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
