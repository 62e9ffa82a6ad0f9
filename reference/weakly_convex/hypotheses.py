"""What Section 5 asks for, wherever it says so, evaluated on an instance: what a counterexample has to meet.

| paper | here |
|---|---|
| 1 ≤ p ≤ 2, nd ≥ ρD/L0 (Theorem 20), κ ≥ 1 (line 674), 1 ≤ R ≤ n (n large enough, line 724) | `theorem_20` |
| f(·, z) L0-Lipschitz and ρ-weakly convex in ‖·‖_p, W of diameter D | `quadratic_on_a_ball` |
"""

from __future__ import annotations

from fractions import Fraction

from reference.numerics.numbers import Ball, Real
from reference.paper.registry import Hypothesis
from reference.privacy.hypotheses import privacy_range
from reference.weakly_convex.proximal_guided import GuidedParameters, condition_printed, rounds_printed
from reference.weakly_convex.strongly_convex import printed_kappas


def at_least_one(kappa: Real) -> Hypothesis:
    """κ ≥ 1, of the κ that an instance computes with."""
    K = Ball(96)
    return Hypothesis("κ ≥ 1", not K.lt(kappa, K(1)), "line 674")


def theorem_20(at: GuidedParameters) -> tuple[Hypothesis, ...]:
    """The conditions on p, n, d, ρD/L0, ε and δ; κ and the rounds with κ ≥ 1."""
    K = Ball(96)
    p = Fraction(at.p)
    R = rounds_printed(K, at)
    return (
        *privacy_range(at.epsilon, at.delta),
        Hypothesis("1 ≤ p ≤ 2", 1 <= p <= 2, "Theorem 20"),
        Hypothesis("nd ≥ ρD/L0", condition_printed(K, at), "Theorem 20"),
        at_least_one(printed_kappas(K, at.p, at.d)[0]),
        Hypothesis(f"1 ≤ R = {R} ≤ n", 1 <= R <= at.n, "line 724 (n is large enough), line 1252"),
    )


def quadratic_on_a_ball(
    p: int, d: int, at: GuidedParameters, bend: Fraction, slope: Fraction
) -> tuple[Hypothesis, ...]:
    """f = −(bend/2)·q(w) − slope·w_1, q = (Σw)² for p = 1 and ‖w‖_2² for p = 2, on the unit ball of ℓ_p^d.

    q(h) ≤ ‖h‖_p² with equality for some h, so f is bend-weakly convex, and ‖∇f‖_* ≤ bend + slope.
    """
    return (
        Hypothesis("p is 1 or 2, that of the setting", p == at.p and p in (1, 2) and d == at.d, "Theorem 20"),
        Hypothesis("f is ρ-weakly convex in ‖·‖_p", 0 <= bend <= Fraction(at.rho), "(9)"),
        Hypothesis("f is L0-Lipschitz in ‖·‖_p", bend + abs(slope) <= Fraction(at.L), "line 250"),
        Hypothesis("W has diameter at most D", Fraction(2) <= Fraction(at.D), "line 250"),
    )
