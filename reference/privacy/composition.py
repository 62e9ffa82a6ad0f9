"""The basic composition rules and Lemma 1, advanced composition."""

from __future__ import annotations

from reference.numerics.enclosures import at_least_zero, count, evaluate, highest, log, positive, probability
from reference.numerics.numbers import Exact, Numbers, Real
from reference.paper.registry import claims


@claims("lem:adv_comp", "printed")
def advanced_composition(
    K: Numbers, epsilon: Exact | Real, delta: Exact | Real, k: int, delta_prime: Exact | Real
) -> tuple[Real, Real]:
    """Lemma 1 as printed: k adaptive (ε,δ)-DP steps are (ε√(2k ln(1/δ')) + kε(e^ε − 1), kδ + δ')-DP.

    True as printed, for every ε > 0, δ ∈ [0, 1), δ' ∈ (0, 1) and k ≥ 1. Proof in four steps. (i) For a fixed pair
    of neighbours an (ε,δ)-DP step is a post-processing of: with probability δ reveal the dataset, else randomised
    response at ε (Kairouz, Oh and Viswanath). (ii) k steps all avoid the revealing branch with probability
    (1−δ)^k ≥ 1 − kδ; what is left is k-fold randomised response. (iii) Its losses are independent, lie in [−ε, ε]
    and have mean ε·tanh(ε/2). (iv) Hoeffding: their sum exceeds kε·tanh(ε/2) + ε√(2k ln(1/δ')) with probability
    at most δ'. As tanh(ε/2) ≤ e^ε − 1, the printed ε' is larger still. ∎

    It speaks of k ≥ 1 steps and of a fixed class of mechanisms chosen adaptively, with ε, δ and k fixed in advance.
    """
    e, total = _checked_composition(K, epsilon, delta, k, delta_prime)
    return e * _deviation(K, k, delta_prime) + k * e * K.expm1(e), total


@claims("lem:adv_comp", "tight")
def advanced_composition_tanh(
    K: Numbers, epsilon: Exact | Real, delta: Exact | Real, k: int, delta_prime: Exact | Real
) -> tuple[Real, Real]:
    """Lemma 1 with the exact mean loss: ε' = ε√(2k ln(1/δ')) + kε·tanh(ε/2), about half the printed second term."""
    e, total = _checked_composition(K, epsilon, delta, k, delta_prime)
    return e * _deviation(K, k, delta_prime) + k * e * K.tanh(e / 2), total


def _checked_composition(
    K: Numbers, epsilon: Exact | Real, delta: Exact | Real, k: int, delta_prime: Exact | Real
) -> tuple[Real, Real]:
    positive("epsilon", epsilon)
    if highest(at_least_zero("delta", delta)) >= 1:
        raise ValueError(f"delta = {delta} must lie in [0, 1)")
    probability("delta_prime", delta_prime)
    return K(epsilon), count("k", k) * K(delta) + K(delta_prime)


def _deviation(K: Numbers, k: int, delta_prime: Exact | Real) -> Real:
    return K.sqrt(2 * k * log_inverse(K, delta_prime))


def log_inverse(K: Numbers, delta: Exact | Real) -> Real:
    """ln(1/δ), also for a δ (as a decimal string) that binary64 cannot hold."""
    return evaluate(K, lambda B, d: -log(B, B(d)), probability("delta", delta))
