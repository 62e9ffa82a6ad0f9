"""Section 2: (ε,δ)-differential privacy, its mechanisms and its composition rules.

====================  ==========================================================================
paper                 here
====================  ==========================================================================
ε, δ                  `epsilon`, `delta`
S, S' (one point)     neighbours: same size, one record replaced
k (composition)       `k`
δ' (Lemma 1)          `delta_prime`
ε0 (one step)         `epsilon0`
ρ-zCDP                `rho`
μ-GDP                 `mu`: sensitivity / standard deviation of a Gaussian release
s (Laplace scale)     `scale`
====================  ==========================================================================

How the numbers are made. Every closed form below is evaluated on balls, at as many bits as it takes for the
relative radius to reach the accuracy of `K`, and is rounded once into `K` (`reference.enclosures`):

* `Ball(bits)`: an enclosure, about `bits` bits tight when the arguments are exact. Arguments that are balls
  with a radius are carried through.
* `MP(digits)`, `Float64()`: the value of the formula at the exact binary value of the arguments, correct to the
  last digit or two; nothing is lost to cancellation. A positive δ below the range of binary64 becomes the
  smallest positive binary64 value, never 0. A decimal string such as ``"1e-400"`` is read exactly in all three.

What binary64 noise does to a guarantee. All statements here are about real-valued noise. A binary64 generator
has gaps: the set of sums `q + s·noise` that can occur depends on the low bits of `q`, so that for two neighbours
some outputs are possible on one side only, and one such output identifies the dataset (Mironov, CCS 2012). Of
the outputs of textbook Laplace noise (±ln u) around 0, six in ten cannot occur around 1: what remains of ε = 1 is
(∞, 0.6), although a test that bins the outputs sees the intended ε. Rounding the
*released value* to a grid that does not depend on the data, or drawing the noise exactly on such a grid, removes
the effect; `reference.exact_samplers` does the latter over the rationals. An argmin over noisy scores
(report-noisy-min) releases no noisy value: there the low bits act only through near-ties.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any, Literal, TypeAlias

from flint import arb

from reference.enclosures import (
    Argument,
    above_target,
    at_least_zero,
    count,
    evaluate,
    highest,
    hull,
    inverse_profile,
    log,
    lowest,
    number,
    positive,
    probability,
    root,
)
from reference.enclosures import float_above as float_above
from reference.enclosures import float_below as float_below
from reference.numbers import Ball, BallScalar, Exact, Numbers, Real, norm
from reference.registry import Counterexample, claims, counterexample

Noise: TypeAlias = Literal["laplace", "gumbel", "exponential", "added-gumbel", "added-exponential"]

PRIVATE_NOISES: frozenset[str] = frozenset({"laplace", "gumbel", "exponential"})
"""Noises for which report-noisy-min has the range guarantee; the `added-` ones have the wrong sign."""

CAP_OUTCOMES = 1 << 18

# ------------------------------------------------------------------------------------------- the definition


def hockey_stick(K: Numbers, p: Sequence[Real], q: Sequence[Real], epsilon: Exact | Real) -> Real:
    """Σ max(p_i − e^ε q_i, 0): the smallest δ in P(E) ≤ e^ε Q(E) + δ over all events E of a finite outcome space.

    The worst event is {i : p_i > e^ε q_i}: any other event leaves out a positive term or takes in a negative one.
    """
    if len(p) != len(q):
        raise ValueError(f"p has {len(p)} outcomes and q {len(q)}: both laws live on the same outcomes")
    factor = K.exp(K(epsilon))
    return K.sum(K.max(a - factor * b, K(0)) for a, b in zip(p, q, strict=True))


def dp_delta(K: Numbers, p: Sequence[Real], q: Sequence[Real], epsilon: Exact | Real) -> Real:
    """The smallest δ for which a pair of output laws meets the definition at ε, in both directions."""
    return K.max(hockey_stick(K, p, q, epsilon), hockey_stick(K, q, p, epsilon))


def dp_epsilon(K: Numbers, p: Sequence[Real], q: Sequence[Real]) -> Real:
    """The smallest ε at δ = 0: the largest |ln(p_i/q_i)| over outcomes (every probability must be positive)."""
    largest = K(0)
    for a, b in zip(p, q, strict=True):
        largest = K.max(largest, K.abs(K.log(a / b)))
    return largest


def satisfies_dp(
    K: Numbers, p: Sequence[Real], q: Sequence[Real], epsilon: Exact | Real, delta: Exact | Real
) -> bool:
    """Whether two output laws meet P(E) ≤ e^ε Q(E) + δ for every event, both ways (`Undecided` on overlap)."""
    return K.le(dp_delta(K, p, q, epsilon), K(delta))


# ----------------------------------------------------------------------- basic rules and Lemma 1


def basic_composition(K: Numbers, steps: Iterable[tuple[Exact | Real, Exact | Real]]) -> tuple[Real, Real]:
    """(Σε_i, Σδ_i): any number of adaptive steps on the same data."""
    epsilon, delta = K(0), K(0)
    for step_epsilon, step_delta in steps:
        epsilon, delta = epsilon + K(step_epsilon), delta + K(step_delta)
    return epsilon, delta


def parallel_composition(K: Numbers, steps: Iterable[tuple[Exact | Real, Exact | Real]]) -> tuple[Real, Real]:
    """(max ε_i, max δ_i): steps on disjoint parts of the data, where the partition does not depend on the data.

    Neighbours differ in one index, hence in one part; the law of every other step given the past is the same on
    both sides, so the joint law is that of the one step followed by post-processing. (A data-dependent partition
    breaks this: replacing a record may move others.)
    """
    epsilon, delta = K(0), K(0)
    for step_epsilon, step_delta in steps:
        epsilon, delta = K.max(epsilon, K(step_epsilon)), K.max(delta, K(step_delta))
    return epsilon, delta


def post_processing(K: Numbers, epsilon: Exact | Real, delta: Exact | Real) -> tuple[Real, Real]:
    """(ε, δ): a map of the output that does not look at the data. The preimage of an event is an event."""
    return K(epsilon), K(delta)


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


# --------------------------------------------------------------------- optimal composition of pure DP


def kov_delta(K: Numbers, epsilon: Exact | Real, epsilon0: Exact | Real, k: int) -> Real:
    """The exact δ(ε) of k adaptive ε0-DP steps: Σ_i C(k,i) [e^{iε0} − e^{ε+(k−i)ε0}]_+ / (1 + e^{ε0})^k.

    Attained by randomised response, of which every ε0-DP step is a post-processing (Kairouz, Oh, Viswanath, ICML 2015).
    """
    e, e0 = at_least_zero("epsilon", epsilon), positive("epsilon0", epsilon0)
    if isinstance(e, Fraction) and isinstance(e0, Fraction) and count("k", k) * e0 <= e:
        return K(0)
    return evaluate(K, _kov_delta, e, e0, count("k", k))


def _kov_delta(K: Ball, epsilon: Argument, epsilon0: Argument, k: int) -> BallScalar:
    """The sum from its first positive term on; once the ratio of successive terms is below 1, the rest is geometric."""
    e, e0 = K(epsilon), K(epsilon0)
    i = max(0, _first_positive(epsilon, epsilon0, k))
    total = K(0)
    if i > k:
        return total  # type: ignore[no-any-return]
    mass = BallScalar(K, K.at_precision(arb.bin_uiui, k, i)) * K.exp(i * e0 - k * K.log1p(K.exp(e0)))
    tilt, odds, shrink = K.exp(e - (2 * i - k) * e0), K.exp(e0), K.exp(-2 * e0)
    negligible = K(Fraction(1, 2 ** (K.bits + 2)))
    while True:
        total = total + K.max(mass * (1 - tilt), K(0))
        ratio = Fraction(k - i, i + 1) * odds
        mass, tilt, i = mass * ratio, tilt * shrink, i + 1
        if i > k:
            return total  # type: ignore[no-any-return]
        if i % 16 == 0 and ratio.ball < 1:
            rest = mass / (1 - ratio)
            if rest.ball < (total * negligible).ball:
                return total + hull(K, K(0), rest)  # type: ignore[no-any-return]


def _first_positive(epsilon: Argument, epsilon0: Argument, k: int) -> int:
    """The smallest i with (2i − k)ε0 > ε; where a ball leaves it open, an earlier i (its term is then 0 or tiny)."""
    return math.floor((k + lowest(epsilon) / highest(epsilon0)) / 2) + 1


def kov_delta_approximate(
    K: Numbers, epsilon: Exact | Real, epsilon0: Exact | Real, delta0: Exact | Real, k: int
) -> Real:
    """The exact δ(ε) of k adaptive (ε0,δ0)-DP steps: 1 − (1−δ0)^k (1 − kov_delta)."""
    d0 = at_least_zero("delta0", delta0)
    if highest(d0) >= 1:
        raise ValueError(f"delta0 = {delta0} must lie in [0, 1)")
    if d0 == 0:
        return kov_delta(K, epsilon, epsilon0, k)
    e, e0 = at_least_zero("epsilon", epsilon), positive("epsilon0", epsilon0)

    def body(B: Ball, e: Argument, e0: Argument, d0: Argument) -> BallScalar:
        keep: BallScalar = (1 - B(d0)) ** k * (1 - _kov_delta(B, e, e0, k))
        return 1 - keep

    return evaluate(K, body, e, e0, d0)


def kov_epsilon0(K: Numbers, epsilon: Exact | Real, delta: Exact | Real, k: int) -> Real:
    """The largest ε0 such that k adaptive ε0-DP steps are (ε,δ)-DP (the inverse of `kov_delta`, increasing in ε0)."""
    e, d = positive("epsilon", epsilon), probability("delta", delta)

    def body(B: Ball, e: Argument, d: Argument) -> BallScalar:
        base = B(e) / k
        excess = root(B, lambda y: above_target(B, _kov_delta(B, e, base + y, k), d), base)
        return base + excess  # type: ignore[no-any-return]

    count("k", k)
    return evaluate(K, body, e, d)


def kov_epsilon(K: Numbers, delta: Exact | Real, epsilon0: Exact | Real, k: int) -> Real:
    """The smallest ε at which k adaptive ε0-DP steps have δ(ε) ≤ δ (0 if they have it at ε = 0)."""
    d, e0 = probability("delta", delta), positive("epsilon0", epsilon0)

    def profile(B: Ball, e: BallScalar) -> BallScalar:
        return _kov_delta(B, number("epsilon", e), e0, k)

    return inverse_profile(K, profile, d, count("k", k) * e0 if isinstance(e0, Fraction) else k * e0)


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


# ---------------------------------------------------------------------------- zero-concentrated DP


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


# ------------------------------------------------------------------------------- the Gaussian mechanism


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


# ------------------------------------------------------------------------------- the Laplace mechanism


def laplace_delta(K: Numbers, epsilon: Exact | Real, epsilon0: Exact | Real) -> Real:
    """max(1 − e^{(ε−ε0)/2}, 0): the exact profile of one Laplace release, ε0 = sensitivity/scale.

    The loss of N = Lap(1) against its shift by ε0 is |N−ε0| − |N|, so the best event is {N < (ε0−ε)/2}-shaped; the two
    exponentials integrate to the formula.
    """
    e, e0 = at_least_zero("epsilon", epsilon), positive("epsilon0", epsilon0)
    if isinstance(e, Fraction) and isinstance(e0, Fraction) and e0 <= e:
        return K(0)
    return evaluate(K, lambda B, e, e0: B.max(-B.expm1((B(e) - B(e0)) / 2), B(0)), e, e0)


# --------------------------------------------------------------------- report-noisy-min and its noises


def noisy_min_epsilon(
    K: Numbers, score_range: Exact | Real, scale: Exact | Real, noise: Noise = "laplace"
) -> Real:
    """r/s: the pure-DP constant of argmin_v q(v) + u_v, where r is the *range* of the change of the scores.

    Lemma. Let the u_v be independent with one continuous law whose cdf F is positive and has a 1/s-Lipschitz
    logarithm. Then argmin_v q(v) + u_v is (r/s)-DP with r = max c − min c, c = q' − q. Proof. A constant added to all
    scores changes no argmin, so 0 ≤ c ≤ r. Fix a candidate i and the other noises. It wins iff u_i < τ = m − q_i,
    resp. u_i < τ' = m' − q_i − c_i, where m, m' are the smallest of the other noisy scores before and after;
    m' − m ∈ [0, r], so |τ' − τ| ≤ r and F(τ') ≤ e^{r/s} F(τ), and the other way round. Average over the other noises;
    ties have probability 0. ∎

    The condition is on the *lower* tail of u, which fixes the sign of asymmetric noise:

    * `laplace`: f/F = 1/s below 0 and less above. Attained as the gap of two scores grows.
    * `exponential`: u = −s·E, so F(x) = e^{x/s} below 0. Argmin *subtracts* exponential noise.
    * `gumbel`: u = −s·G with G of maximum type (numpy's, scipy's): the law is e^{−q_i/s}/Σ_j e^{−q_j/s}, the
      exponential mechanism at temperature s, whose losses −c_i/s + ln(Z/Z') have modulus *and* range at most r/s.

    Added instead (`added-gumbel`, `added-exponential`) the lower tail has no Lipschitz logarithm: the loss reaches up
    to (J−1)r/s with J candidates. With J = 2 nothing shows, since u_1 − u_2 is symmetric. Those two are refused here.
    """
    if noise not in PRIVATE_NOISES:
        raise ValueError(f"noise = {noise!r} has no range guarantee: subtract it (use {sorted(PRIVATE_NOISES)})")
    at_least_zero("score_range", score_range)
    positive("scale", scale)
    return K(score_range) / K(scale)


def noisy_min_rho(K: Numbers, score_range: Exact | Real, scale: Exact | Real, noise: Noise = "laplace") -> Real:
    """The zCDP constant of report-noisy-min: (r/s)²/8 for Gumbel noise (bounded range), (r/s)²/2 for the others.

    Laplace noise does not have bounded range r/s (its losses can spread over more than 1.1 r/s), so ε²/8 is for
    Gumbel alone.
    """
    loss = noisy_min_epsilon(K, score_range, scale, noise)
    return bounded_range_rho(K, loss) if noise == "gumbel" else pure_rho(K, loss)


def exponential_mechanism(K: Numbers, scores: Sequence[Exact | Real], temperature: Exact | Real) -> list[Real]:
    """The law e^{−q_i/T}/Σ_j e^{−q_j/T} over candidates (small score = good): r/T-DP with bounded range r/T."""
    weights = [K.exp(-K(q) / K(temperature)) for q in scores]
    total = K.sum(weights)
    return [w / total for w in weights]


def noisy_min_law(K: Numbers, scores: Sequence[Exact], scale: Exact, noise: Noise = "laplace") -> list[Real]:
    """The exact law of argmin_v q(v) + u_v, for a handful of candidates (the cost doubles with each).

    Laplace and exponential noise: ∫ f(x) ∏_{j≠i} P(u_j > x + q_i − q_j) dx, a sum of exponentials between breakpoints.
    Gumbel: the exponential mechanism; added Gumbel: by inclusion and exclusion over who is beaten.
    """
    s = positive("scale", scale)
    q = [x for x in (number("scores", x) for x in scores) if isinstance(x, Fraction)]
    if not isinstance(s, Fraction) or len(q) < len(scores):
        raise ValueError("scores and scale must be exact numbers: the law is integrated between exact breakpoints")
    unit = [x / s for x in q]
    if noise == "gumbel":
        return exponential_mechanism(K, unit, 1)
    if noise == "added-gumbel":
        return [evaluate(K, lambda B, i=i: _beats_none(B, unit, i)) for i in range(len(unit))]
    return [evaluate(K, lambda B, i=i: _win_probability(B, unit, i, _PIECES[noise])) for i in range(len(unit))]


def _beats_none(K: Ball, q: Sequence[Fraction], i: int) -> BallScalar:
    """P(q_i + G_i is smallest) = Σ_S (−1)^{|S|} P(q_i + G_i > all of S), S ⊆ others."""
    others = [j for j in range(len(q)) if j != i]
    total = K(0)
    for size in range(len(q)):
        for chosen in combinations(others, size):
            weight = 1 / (1 + K.sum(K.exp(K(q[j] - q[i])) for j in chosen))
            total = total + weight * (-1) ** size
    return total  # type: ignore[no-any-return]


_Laurent: TypeAlias = Mapping[int, Any]
"""Σ coefficient·e^{power·x}."""

_HALF = Fraction(1, 2)
# (density, survival function) of unit noise below 0 and above 0
_PIECES: Mapping[str, tuple[tuple[_Laurent, _Laurent], tuple[_Laurent, _Laurent]]] = {
    "laplace": (({1: _HALF}, {0: Fraction(1), 1: -_HALF}), ({-1: _HALF}, {-1: _HALF})),
    "exponential": (({1: Fraction(1)}, {0: Fraction(1), 1: Fraction(-1)}), ({}, {})),
    "added-exponential": (({}, {0: Fraction(1)}), ({-1: Fraction(1)}, {-1: Fraction(1)})),
}


def _win_probability(
    K: Ball, q: Sequence[Fraction], i: int, pieces: tuple[tuple[_Laurent, _Laurent], tuple[_Laurent, _Laurent]]
) -> BallScalar:
    cuts = sorted({Fraction(0), *(x - q[i] for j, x in enumerate(q) if j != i)})
    ends: list[Fraction | None] = [None, *cuts, None]
    total = K(0)
    for low, high in pairwise(ends):
        inside = _inside(low, high)
        integrand: dict[int, Any] = {m: K(c) for m, c in pieces[inside > 0][0].items()}
        for j, x in enumerate(q):
            if j != i:
                integrand = _times(K, integrand, pieces[inside > x - q[i]][1], q[i] - x)
        total = total + _integral(K, integrand, low, high)
    return total  # type: ignore[no-any-return]


def _inside(low: Fraction | None, high: Fraction | None) -> Fraction:
    """A point between two breakpoints; None stands for an infinite end."""
    if low is None:
        return Fraction(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def _times(K: Ball, f: Mapping[int, Any], g: _Laurent, shift: Fraction) -> dict[int, Any]:
    """f(x)·g(x + shift)."""
    result: dict[int, Any] = {}
    for (m, a), (n, b) in product(f.items(), g.items()):
        result[m + n] = result.get(m + n, K(0)) + a * b * K.exp(n * K(shift))
    return result


def _integral(K: Ball, f: Mapping[int, Any], low: Fraction | None, high: Fraction | None) -> BallScalar:
    total = K(0)
    for m, c in f.items():
        if m == 0:
            if low is None or high is None:
                raise ValueError("a constant does not integrate over an unbounded piece")
            total = total + c * (high - low)
        else:
            top = K(0) if high is None else K.exp(m * K(high))
            bottom = K(0) if low is None else K.exp(m * K(low))
            total = total + c * (top - bottom) / m
    return total  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------ what Section 2 leaves open


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


@counterexample("E2.3")
def excess_risk_without_a_minimiser() -> Counterexample:
    """The logistic loss ln(1 + e^{−w}) on W = ℝ, the set of Theorem 7: it falls for ever and never reaches 0."""
    K = Ball(128)
    values = [K.log1p(K.exp(K(-w))) for w in (0, 10, 100, 1000)]
    falls = all(K.lt(after, before) for before, after in pairwise(values))
    shown = falls and K.lt(K(0), values[-1])
    return Counterexample(shown, f"values at 0, 10, 100, 1000: {values[0].ball.str(3)} … {values[-1].ball.str(3)} > 0",
                          {"at 10": K.to_float(values[1])})
