"""The Gaussian mechanism: its exact profile, the largest μ for a target, composition."""

from __future__ import annotations

from collections.abc import Iterable

from reference.numerics.enclosures import (
    Argument,
    above_target,
    at_least_zero,
    evaluate,
    float_below,
    inverse_profile,
    number,
    positive,
    probability,
    root,
)
from reference.numerics.numbers import Ball, BallScalar, Exact, Numbers, Real


def gaussian_delta(K: Numbers, epsilon: Exact | Real, mu: Exact | Real) -> Real:
    """δ_G(ε, μ) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2): the exact profile of a Gaussian release (Balle and Wang, 2018).

    μ = sensitivity/standard deviation. In any dimension: only the direction of the difference matters. For two
    neighbours at the full sensitivity it is attained, and it increases in μ: ∂δ_G/∂μ = φ(ε/μ − μ/2) > 0, because
    e^ε φ(ε/μ + μ/2) = φ(ε/μ − μ/2). So closer neighbours only help.
    """
    return evaluate(K, _gaussian_delta, at_least_zero("epsilon", epsilon), positive("mu", mu))


def _gaussian_delta(K: Ball, epsilon: Argument, mu: Argument | BallScalar) -> BallScalar:
    e, m = K(epsilon), K(mu)
    value: BallScalar = K.normal_cdf(m / 2 - e / m) - K.exp(e) * K.normal_cdf(-e / m - m / 2)
    return value


def gaussian_mu(K: Numbers, epsilon: Exact | Real, delta: Exact | Real) -> Real:
    """μ*(ε,δ): the largest μ with δ_G(ε, μ) ≤ δ. On balls an enclosure; for a scale use `gaussian_mu_safe`."""
    e, d = positive("epsilon", epsilon), probability("delta", delta)

    def body(B: Ball, e: Argument, d: Argument) -> BallScalar:
        twice_log = -2 * B.log(B(d))
        guess = 2 * B(e) / (B.sqrt(2 * B(e) + twice_log) + B.sqrt(twice_log))
        return root(B, lambda m: above_target(B, _gaussian_delta(B, e, m), d), guess)

    return evaluate(K, body, e, d)


def gaussian_mu_safe(epsilon: Exact | Real, delta: Exact | Real) -> float:
    """A binary64 μ that is certainly at most μ*(ε,δ), and within an ulp of it: it never over-spends.

    The enclosure of μ* is proved by two signs of δ_G − δ on balls; the result is its lower end rounded down.
    """
    return float_below(gaussian_mu(Ball(96), epsilon, delta))


def gaussian_epsilon(K: Numbers, delta: Exact | Real, mu: Exact | Real) -> Real:
    """The smallest ε ≥ 0 with δ_G(ε, μ) ≤ δ."""
    d, m = probability("delta", delta), positive("mu", mu)
    return inverse_profile(K, lambda B, e: _gaussian_delta(B, number("epsilon", e), m), d)


def gdp_composition(K: Numbers, mus: Iterable[Exact | Real]) -> Real:
    """√Σμ_t²: adaptive Gaussian releases are, together, exactly one Gaussian release (constant μ_t given the past)."""
    return K.sqrt(K.sum(K(mu) * K(mu) for mu in mus))
