"""The control of every check of weak convexity: min(|v|, 1), as a loss and as a function in rationals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from reference.numerics.numbers import Exact, Numbers, Real
from reference.setting.losses_convex import NoClosedForm, ScalarLoss
from reference.weakly_convex.functions import PiecewiseQuadratic


@dataclass(frozen=True)
class NotWeaklyConvex(ScalarLoss):
    """min(|v|, 1): 1-Lipschitz, and weakly convex for no ρ. A control: every check of weak convexity must refuse it.

    At the kink v = 1 the slope falls from 1 to 0. With w = 1 − h, v = 1 + h, λ = ½ the left side of weak convexity
    exceeds the average by h/2, and (ρ/8)(2h)² = ρh²/2 is smaller once h < 1/ρ.
    """

    is_convex = False

    @property
    def lipschitz(self) -> Fraction:
        return Fraction(1)

    def value(self, K: Numbers, u: Real) -> Real:
        return K.min(K.abs(u), K(1))

    def subgradient(self, K: Numbers, u: Real) -> Real:
        """sgn(v) inside (−1, 1), 0 elsewhere (at ±1 the element of Clarke's interval nearest 0)."""
        return K(K.sign(u)) if K.lt(K.abs(u), K(1)) else K(0)

    def prox(self, K: Numbers, beta: Exact | Real, m: Exact | Real) -> Real:
        """None: near the kink ±1 the proximal point is not unique, however large β is."""
        raise NoClosedForm("min(|v|, 1) is not weakly convex: its proximal point is not unique for any β")


def min_abs_one() -> PiecewiseQuadratic:
    """min(|v|, 1): concave kinks at ±1, weakly convex for no ρ."""
    zero, one = Fraction(0), Fraction(1)
    flat = (zero, zero, one)
    return PiecewiseQuadratic((-one, zero, one), (flat, (zero, -one, zero), (zero, one, zero), flat))
