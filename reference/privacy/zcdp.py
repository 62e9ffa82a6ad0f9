"""Zero-concentrated DP: the constants of mechanisms, composition, and conversions to (ε,δ)."""

from __future__ import annotations

from collections.abc import Iterable

from reference.numerics.enclosures import Argument, at_least_zero, evaluate, positive, probability, root
from reference.numerics.numbers import Ball, BallScalar, Exact, Numbers, Real
from reference.privacy.composition import log_inverse


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

    The exponential mechanism has w = (range of the change of the scores)/temperature: a quarter of ε²/2.
    """
    return K(width) * K(width) / 8


def gaussian_rho(K: Numbers, mu: Exact | Real) -> Real:
    """μ²/2: the zCDP constant of a μ-GDP (Gaussian) release, exact at every order."""
    return K(mu) * K(mu) / 2


def zcdp_composition(K: Numbers, rhos: Iterable[Exact | Real]) -> Real:
    """Σρ_t: adaptive steps whose ρ_t are fixed in advance (given the past, each step is ρ_t-zCDP)."""
    return K.sum(K(rho) for rho in rhos)


def zcdp_delta_simple(K: Numbers, epsilon: Exact | Real, rho: Exact | Real) -> Real:
    """e^{−(ε−ρ)²/(4ρ)} for ε ≥ ρ, else 1: the standard conversion (Markov at order (ε+ρ)/(2ρ))."""
    e, r = at_least_zero("epsilon", epsilon), positive("rho", rho)

    def body(B: Ball, e: Argument, r: Argument) -> BallScalar:
        excess = B.max(B(e) - B(r), B(0))
        return B.exp(-excess * excess / (4 * B(r)))  # type: ignore[no-any-return]

    return evaluate(K, body, e, r)


def zcdp_rho_simple(K: Numbers, epsilon: Exact | Real, delta: Exact | Real) -> Real:
    """(√(L+ε) − √L)², L = ln(1/δ): the ρ for which ρ + 2√(ρL) = ε."""
    e, d = positive("epsilon", epsilon), probability("delta", delta)

    def body(B: Ball, e: Argument, d: Argument) -> BallScalar:
        log_term = -B.log(B(d))
        ratio = B(e) / (B.sqrt(log_term + B(e)) + B.sqrt(log_term))
        return ratio * ratio  # type: ignore[no-any-return]

    return evaluate(K, body, e, d)


def zcdp_epsilon_simple(K: Numbers, rho: Exact | Real, delta: Exact | Real) -> Real:
    """ρ + 2√(ρ ln(1/δ)): the standard conversion."""
    r = K(rho)
    return r + 2 * K.sqrt(r * log_inverse(K, delta))


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


def zcdp_epsilon(K: Numbers, rho: Exact | Real, delta: Exact | Real) -> Real:
    """The smallest ε ≥ 0 with `zcdp_delta`(ε, ρ) ≤ δ: at the root u of ln δ = −ρu² − ln(1+u), (2u+1)ρ + ln(u/(1+u))."""
    r, d = positive("rho", rho), probability("delta", delta)

    def body(B: Ball, r: Argument, d: Argument) -> BallScalar:
        rb, target = B(r), B.log(B(d))
        u = root(B, lambda u: target + rb * u * u + B.log1p(u), B.sqrt(-target / rb))
        value: BallScalar = B.max((2 * u + 1) * rb + _log_share(B, u), B(0))
        return value

    return evaluate(K, body, r, d)
