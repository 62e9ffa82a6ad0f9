"""What Section 3 asks for, wherever it says so, evaluated on an instance: what a counterexample has to meet.

| paper | here |
|---|---|
| ℓ convex (title of Section 3) and L0-Lipschitz, ‖x‖_* ≤ R, α, β > 0, M = ℝ (Definition 2) | `lemma_5` |
| W of diameter D, Lipschitz GLL, i.i.d. sample | `linear_losses_on_the_line` |
"""

from __future__ import annotations

from fractions import Fraction

from reference.convex.moreau import REAL_LINE
from reference.convex.oracle import OracleParameters
from reference.numerics.numbers import Exact, Numbers, Real, Vector, norm
from reference.paper.registry import Hypothesis
from reference.setting.losses import ScalarLoss

SECTION = "the title of Section 3, line 266"


def lemma_5(K: Numbers, ell: ScalarLoss, x: Vector, p: OracleParameters) -> tuple[Hypothesis, ...]:
    """The hypotheses of Lemma 5 on one call: the loss, the feature vector, and the parameters of the oracle."""
    return (
        Hypothesis("ℓ is convex", ell.is_convex, SECTION),
        Hypothesis("ℓ is L0-Lipschitz", K.le(K(ell.lipschitz), p.L0), "Definition 2"),
        Hypothesis("‖x‖_* ≤ R", K.le(norm(K, x, 2), p.R), "Lemma 5"),
        Hypothesis("α > 0 and β > 0", positive(K, p.alpha, p.beta), "Lemma 5"),
        Hypothesis("α < 4L0R, so that line 3 asks for a step", K.lt(p.alpha, 4 * p.L0 * p.R), ""),
        Hypothesis("M = ℝ", p.M == REAL_LINE, "Definition 2: ℓ is a function on ℝ"),
    )


def positive(K: Numbers, *values: Real) -> bool:
    """Whether all are positive."""
    return all(K.lt(K(0), value) for value in values)


def linear_losses_on_the_line(slope: Exact, radius: Exact, d: int) -> tuple[Hypothesis, ...]:
    """f(w, x) = ⟨w, x⟩, x = ±slope·e_1, on the ℓ_1 ball of this radius in ℝ^d: a 1-Lipschitz, 1-bounded GLL?"""
    return (
        Hypothesis("‖x‖_∞ ≤ R = 1", 0 < Fraction(slope) <= 1, "Definition 2"),
        Hypothesis("W is the unit ℓ_1 ball", Fraction(radius) == 1, "line 189, the caption of Table 1"),
        Hypothesis("d ≥ 1", d >= 1, "line 232"),
    )
