"""What Section 2 leaves open: the dual norm, the neighbour relation, the minimiser."""

from __future__ import annotations

from itertools import pairwise

from reference.numerics.numbers import Ball, norm
from reference.paper.registry import Counterexample, counterexample
from reference.privacy.laplace import laplace_delta


@counterexample("E2.1")
def dual_norm_of_another_product() -> Counterexample:
    """⟨x, y⟩ = 4x₁y₁ + x₂y₂ on the plane with the Euclidean norm: the dual norm of e₁ is 4, ‖e₁‖_2 is 1.

    By definition ‖e₁‖_* = max{4x₁ : ‖x‖_2 ≤ 1}, attained at x = e₁.
    """
    K = Ball(64)
    unit = K.vector([1, 0])
    dual, euclidean = 4 * unit[0], norm(K, unit, 2)
    shown = K.lt(euclidean, dual)
    return Counterexample(shown, "dual norm of e1: 4 with this product, 1 in l_2", {"dual": 4, "l_q": 1})


@counterexample("E2.2")
def two_neighbour_relations() -> Counterexample:
    """A sum of records in [−1, 1] with Laplace noise of scale 1, divided by n: 1-DP if a record may be added or left
    out, 2-DP if one is replaced.
    """
    K = Ball(128)
    losses = {"add or remove": laplace_delta(K, 1, 1), "replace": laplace_delta(K, 1, 2)}
    shown = K.le(losses["add or remove"], K(0)) and K.lt(K("0.39"), losses["replace"])
    numbers = {name: K.to_float(value) for name, value in losses.items()}
    return Counterexample(shown, f"delta(1): 0 or {numbers['replace']:.4f}, as the relation is read", numbers)


@counterexample("E2.4")
def risk_that_is_infinite() -> Counterexample:
    """f(w, z) = |w − z| is 1-Lipschitz in w, and with z from the Cauchy law its risk is infinite at every w.

    E min(|z|, M) ≥ E[|z|; |z| ≤ M] = ln(1 + M²)/π. Differences of the risk exist all the same: |f(w, z) − f(0, z)| ≤
    |w|.
    """
    K = Ball(128)
    values = [K.log1p(K(M) * K(M)) / K.pi for M in (10, 10**10, 10**100, 10**1000)]
    shown = all(K.lt(2 * before, after) for before, after in pairwise(values)) and K.lt(K(1000), values[-1])
    return Counterexample(
        shown,
        f"E min(|z|, M) is at least {K.to_float(values[0]):.2f} at M = 10 and {K.to_float(values[-1]):.0f} at 1e1000",
        {"at 10": K.to_float(values[0]), "at 1e1000": K.to_float(values[-1])},
    )


@counterexample("E2.3")
def excess_risk_without_a_minimiser() -> Counterexample:
    """The logistic loss ln(1 + e^{−w}) on W = ℝ, the set of Theorem 7: it falls for ever and never reaches 0."""
    K = Ball(128)
    values = [K.log1p(K.exp(K(-w))) for w in (0, 10, 100, 1000)]
    falls = all(K.lt(after, before) for before, after in pairwise(values))
    shown = falls and K.lt(K(0), values[-1])
    return Counterexample(
        shown,
        f"values at 0, 10, 100, 1000: {values[0].ball.str(3)} … {values[-1].ball.str(3)} > 0",
        {"at 10": K.to_float(values[1])},
    )
