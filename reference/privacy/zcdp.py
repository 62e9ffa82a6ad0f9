"""Zero-concentrated DP: the constants of mechanisms, composition, and conversions to (ε,δ)."""

from __future__ import annotations

from reference.numerics.enclosures import Argument, at_least_zero, evaluate, positive, probability, root
from reference.numerics.numbers import Ball, BallScalar, Exact, Numbers, Real


def pure_rho(K: Numbers, epsilon: Exact | Real) -> Real:
    """ε²/2: the zCDP constant of an ε-DP mechanism.

    Lemma. If Z = ln(dP/dQ) takes values in an interval of length w, then the Rényi divergence D_α(P‖Q) is at most
    αw²/8 for all α > 1. Proof. ψ(λ) = ln E_Q e^{λZ} has ψ(0) = ψ(1) = 0, and ψ'' is the variance of Z under a tilted
    law, at most w²/4 (Popoviciu). So h(λ) = ψ(λ) − (w²/8)λ(λ−1) is concave with h(0) = h(1) = 0, hence h(α) ≤ 0 for
    α > 1, and D_α = ψ(α)/(α−1) ≤ αw²/8. ∎ An ε-DP mechanism has w = 2ε.
    """
    return K(epsilon) * K(epsilon) / 2


def bounded_range_rho(K: Numbers, width: Exact | Real) -> Real:
    """w²/8: the zCDP constant of a mechanism whose losses lie in an interval of length w (lemma in `pure_rho`).

    The exponential mechanism (report-noisy-min with Gumbel noise) has w = (range of the change of the scores) over
    temperature: a quarter of ε²/2. Laplace noise has no bounded range r/s: its losses spread over more than 1.1 r/s.
    """
    return K(width) * K(width) / 8


def zcdp_delta(K: Numbers, epsilon: Exact | Real, rho: Exact | Real) -> Real:
    """min over orders α > 1 of e^{(α−1)(αρ−ε)} (1−1/α)^{α−1}/α: Canonne, Kamath and Steinke's conversion of ρ-zCDP.

    The logarithm g(α) of the bound has g'(α) = (2α−1)ρ − ε + ln(1−1/α), which increases: one minimum, at its root.
    With u = α−1 there, ln δ = −ρu² − ln(1+u). Every α gives a valid bound, so the ball around the root is safe.
    """
    e, r = at_least_zero("epsilon", epsilon), positive("rho", rho)

    def body(B: Ball, e: Argument, r: Argument) -> BallScalar:
        eb, rb = B(e), B(r)
        u = root(B, lambda u: (2 * u + 1) * rb - eb + _log_share(B, u), B.max(eb / (2 * rb), B(1)))
        return B.exp(-rb * u * u - B.log1p(u))  # type: ignore[no-any-return]

    return evaluate(K, body, e, r)


def _log_share(K: Ball, u: BallScalar) -> BallScalar:
    """ln(u/(1+u)) = ln(1 − 1/α)."""
    value: BallScalar = -K.log1p(1 / u)
    return value


def zcdp_rho(K: Numbers, epsilon: Exact | Real, delta: Exact | Real) -> Real:
    """The largest ρ with `zcdp_delta`(ε, ρ) ≤ δ.

    At the optimal order ρ = (ε − ln(1−1/α))/(2α−1), which falls in α, and so does ln δ = −ρu² − ln(1+u).
    """
    e, d = positive("epsilon", epsilon), probability("delta", delta)

    def body(B: Ball, e: Argument, d: Argument) -> BallScalar:
        eb, target = B(e), B.log(B(d))

        def rho(u: BallScalar) -> BallScalar:
            return (eb - _log_share(B, u)) / (2 * u + 1)  # type: ignore[no-any-return]

        guess = B.max(-target / eb, B(1))
        u = root(B, lambda u: target + rho(u) * u * u + B.log1p(u), guess)
        return rho(u)

    return evaluate(K, body, e, d)
