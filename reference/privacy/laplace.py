"""The Laplace mechanism: its exact profile."""

from __future__ import annotations

from fractions import Fraction

from reference.numerics.enclosures import at_least_zero, evaluate, positive
from reference.numerics.numbers import Exact, Numbers, Real


def laplace_delta(K: Numbers, epsilon: Exact | Real, epsilon0: Exact | Real) -> Real:
    """max(1 − e^{(ε−ε0)/2}, 0): the exact profile of one Laplace release, ε0 = sensitivity/scale.

    The loss of N = Lap(1) against its shift by ε0 is |N−ε0| − |N|, so the best event is {N < (ε0−ε)/2}-shaped; the two
    exponentials integrate to the formula.
    """
    e, e0 = at_least_zero("epsilon", epsilon), positive("epsilon0", epsilon0)
    if isinstance(e, Fraction) and isinstance(e0, Fraction) and e0 <= e:
        return K(0)
    return evaluate(K, lambda B, e, e0: B.max(-B.expm1((B(e) - B(e0)) / 2), B(0)), e, e0)
