"""Noise scales for Algorithms 4 and 5: printed, corrected, and the tightest proven here.

| paper | here |
|---|---|
| s_r (Algorithm 4, L3) | `laplace_scale_printed`, `laplace_scale` |
| σ_{r,t}, σ̂_{r,t} (Algorithm 5, L3 and L9) | in `noisy_sfw`; `gaussian_stretch` is what the constant 16 lacks |
| log(1/δ) | L |

**Improvement A, Algorithm 4.** Fix the assignment of records to batches, which does not look at the data, and two
neighbours; the record that differs sits in batch k of one round. Given everything released before, step t ≥ k of that
round is report-noisy-min whose scores have range at most r_t = 2D·c_k·P_{k,t}/m_k (`sensitivity.step_losses`), every
other step has the same law under both datasets. r_t/s is deterministic, so:

* *pure DP.* The likelihood ratio of the whole transcript is at most exp(Σ_t r_t/s), for every transcript: s =
  2D·max_k(c_k/m_k)B_k/ε is ε-DP with no δ at all. With the coarse c_k and Fact 2 this is 2D(L0+L1·D)2^r/(bε): the
  printed s_r without its √L. Hence the printed algorithm is (ε/√L)-DP, which proves Theorem 10 for δ ≤ 1/e and is
  more than it says. It proves it for ε ≤ √L too, which the paper asks for in Algorithm 2: then ε0 = ε/√L ≤ 1, and an
  ε0-DP mechanism has δ(ε) ≤ (e^{ε0} − e^ε)/(1 + e^{ε0}), which is at most (e−1)/(e+1) < 0.47 ≤ δ if L ≤ 3/4, and at
  most ε0(1 − √L) ≤ 0.14 < 1/e ≤ δ if 3/4 ≤ L ≤ 1. For δ > 1/e and larger ε the noise is too small if batches are
  fixed (E4.7).
* *(ε,δ).* Each step is (r_t/s)²/2-zCDP with Laplace noise, (r_t/s)²/8-zCDP with Gumbel noise (bounded range); sums
  add up because the r_t are fixed in advance. So ρ = (2D/s)²·max_k (c_k/m_k)²Q_k/2 (or /8), and s is chosen for ρ =
  ρ*(ε,δ), the largest ρ that converts to (ε,δ) (`privacy.zcdp_rho`). With Fact 3 the scale grows like 2^{3r/4}
  instead of 2^r.
* Averaging over the assignment keeps both (the ratio bound trivially, zCDP by joint convexity of e^{(α−1)D_α}); ŵ is
  post-processing; rounds cost nothing, since a record is in one round only.

**Sign.** Argmin needs noise whose *lower* tail has a Lipschitz log-cdf: `+ s·Laplace`, `− s·Gumbel` (maximum type).
`+ s·Gumbel` loses up to (J−1)r/s, and no test with J = 2 sees it. The temperature is s, not 2s.

**Improvement E, Algorithm 5.** Only X_t = (1−η_t)Δ_t + η_t·g_t enters the estimate. One record moves it by at most
2c_t/m_t in ‖·‖_q, so by 2c_t·d^{1/p−1/2}/m_t in ‖·‖_2 (‖x‖_2 ≤ d^{1/2−1/q}‖x‖_q and 1/2 − 1/q = 1/p − 1/2): one
Gaussian release with that over μ* as standard deviation is exactly μ*-GDP, t = 0 included (c_0 = L0). D·η_{t−1} may
be the actual ‖w_t − w_{t−1}‖_p: it is a function of what was released before. Each record is in one batch, so nothing
composes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import Exact, Numbers, Real
from reference.numerics.preconditions import require, whole
from reference.paper.registry import claims
from reference.privacy import SELECTION_NOISES, SelectionNoise, gaussian_mu, log_inverse, zcdp_rho
from reference.setting.data import FEATURE_SLACK
from reference.smooth.rounding import NOTHING, Reserve
from reference.smooth.sensitivity import (
    batch_sizes,
    coarse_record_bound,
    record_bound,
    square_sum_bound,
    sum_bound,
    unit_sums,
)

ROUNDING = 1 + 4 * FEATURE_SLACK
"""Tight scales are raised by this factor: it pays for features longer by `FEATURE_SLACK` (twice in L1) and for the
rounding of the scale itself. What rounding adds to a sensitivity is added there (`smooth.rounding`).
"""

ZCDP_DIVISOR: dict[SelectionNoise, int] = {"laplace": 2, "gumbel": 8}
"""ρ = (r/s)²/2 for Laplace noise (`privacy.pure_rho`), (r/s)²/8 for Gumbel noise (`privacy.bounded_range_rho`)."""


@claims("alg:polySFW", "printed")
def laplace_scale_printed(
    K: Numbers, r: int, b: int, L0: Exact, L1: Exact, D: Exact | Real, epsilon: Exact, delta: Exact
) -> Real:
    """s_r = 2D(L0+L1·D)·2^r·√L/(bε), L3 of Algorithm 4: (ε/√L)-DP, hence enough only for δ ≤ 1/e."""
    unit = 2 * K(D) * (K(L0) + K(L1) * K(D)) * 2**r / (b * K(epsilon))
    return unit * K.sqrt(log_inverse(K, delta))


@claims("alg:polySFW")
def laplace_scale(
    K: Numbers, r: int, b: int, L0: Exact, L1: Exact, D: Exact | Real, epsilon: Exact, delta: Exact
) -> Real:
    """The same with max(√L, 1): (ε,δ)-DP for every δ ∈ (0, 1)."""
    unit = 2 * K(D) * (K(L0) + K(L1) * K(D)) * 2**r / (b * K(epsilon))
    return unit * K.max(K.sqrt(log_inverse(K, delta)), K(1))


def closed_form_scale(
    K: Numbers,
    steps: int,
    b: int,
    L0: Exact,
    L1: Exact,
    D: Exact | Real,
    epsilon: Exact,
    delta: Exact,
    noise: SelectionNoise,
) -> Real:
    """min{2T, c√V(√(L+ε)+√L)}·D(L0+L1·D)/(bε), c = √2 (Laplace) or 1/√2 (Gumbel): improvement A in closed form."""
    log = log_inverse(K, delta)
    root = K(epsilon) / (K.sqrt(log + K(epsilon)) + K.sqrt(log))  # √ρ for the ρ with ρ + 2√(ρL) = ε
    unit = 2 * K(D) * (K(L0) + K(L1) * K(D)) / b
    pure = unit * sum_bound(K, steps) / K(epsilon)
    zcdp = unit * K.sqrt(square_sum_bound(K, steps) / ZCDP_DIVISOR[noise]) / root
    return K.min(pure, zcdp)


def pure_scale(
    K: Numbers,
    sizes: Sequence[int],
    bounds: Sequence[Real],
    D: Exact | Real,
    epsilon: Exact,
    reserve: Reserve = NOTHING,
) -> Real:
    """2D·max_k(c_k/m_k)B_k/ε: a round with these batches is ε-DP, with Laplace or with Gumbel noise."""
    plain, _ = unit_sums(K, sizes, [c + reserve.record for c in bounds])
    width = 2 * K(D) * plain * reserve.grow + len(sizes) * reserve.spread
    return width / _left(K, K(epsilon), len(sizes) * reserve.tail) * K(ROUNDING)


def zcdp_scale(
    K: Numbers,
    sizes: Sequence[int],
    bounds: Sequence[Real],
    D: Exact | Real,
    rho: Real,
    noise: SelectionNoise,
    reserve: Reserve = NOTHING,
) -> Real:
    """2D·√(max_k(c_k/m_k)²Q_k/(2ρ)) for Laplace, /(8ρ) for Gumbel: a round with these batches is ρ-zCDP."""
    _, squared = unit_sums(K, sizes, [c + reserve.record for c in bounds])
    root = K.sqrt(K(len(sizes)))
    width = 2 * K(D) * K.sqrt(squared) * reserve.grow + root * reserve.spread
    return width / _left(K, K.sqrt(ZCDP_DIVISOR[noise] * rho), root * reserve.tail) * K(ROUNDING)


def _left(K: Numbers, budget: Real, tail: Real) -> Real:
    """What rounding leaves of a budget."""
    if isinstance(tail, int):
        return budget
    lost = K.to_float(tail)
    require(K.lt(tail, budget), "privacy budget", K.to_float(budget), f"exceed {lost:.3g}", f"{K} loses that: MP(30)")
    return budget - tail


@claims("thm:privacy-polySFW", "tight")
def tight_scale(
    K: Numbers,
    steps: int,
    b: int,
    L0: Exact,
    L1: Exact,
    D: Exact | Real,
    epsilon: Exact,
    delta: Exact,
    noise: SelectionNoise = "gumbel",
    reserve: Reserve = NOTHING,
) -> Real:
    """The smaller of the pure and the zCDP scale for a round of `steps` steps with batches ⌈b/(t+1)⌉; δ = 0 asks for
    pure DP.
    """
    require(noise in SELECTION_NOISES, "noise", noise, f"be one of {', '.join(SELECTION_NOISES)}")
    sizes = batch_sizes(b, whole("steps", steps))
    bounds = [record_bound(K, k, L0, L1, D) for k in range(steps)]
    pure = pure_scale(K, sizes, bounds, D, epsilon, reserve)
    if delta == 0:
        return pure
    return K.min(pure, zcdp_scale(K, sizes, bounds, D, zcdp_rho(K, epsilon, delta), noise, reserve))


def exact_constants_scale(
    K: Numbers,
    steps: int,
    b: int,
    L0: Exact,
    L1: Exact,
    D: Exact | Real,
    epsilon: Exact,
    delta: Exact,
    noise: SelectionNoise,
) -> Real:
    """Between `closed_form_scale` and `tight_scale`: exact max_k sums and the sharp conversion, but the coarse c_k and
    m_k = b/(k+1).
    """
    coarse = [coarse_record_bound(K, k, L0, L1, D) * (k + 1) / b for k in range(steps)]
    ones = [1] * steps
    pure = pure_scale(K, ones, coarse, D, epsilon)
    return K.min(pure, zcdp_scale(K, ones, coarse, D, zcdp_rho(K, epsilon, delta), noise))


# --------------------------------------------------------------------------------------- Algorithm 5


def gaussian_stretch(K: Numbers, epsilon: Exact, delta: Exact, releases: int, share: Real = 0) -> Real:
    """max(1, ε·√releases/(2√L·μ*)): by how much the printed standard deviations must grow.

    `share` is what rounding adds to the moves (`rounding.mean_share`, `rounding.pair_share`).

    Each printed release has sensitivity/sd = ε/(2√L) (the 16 pays 4 for replace-one and 4 for noise); `releases` of
    them on one batch are (ε√releases/(2√L))-GDP, which is at most μ*(ε,δ) up to a threshold in ε
    (`failure_threshold`) and not beyond.
    """
    mu = gaussian_mu(K, epsilon, delta)
    log_root = K.sqrt(log_inverse(K, delta))
    return K.max(K(1), K(epsilon) * K.sqrt(K(releases)) / (2 * log_root * mu) * (K(ROUNDING) + share))


@claims("thm:privacy-noisySFW", "tight")
def tight_deviation(K: Numbers, size: int, bound: Real, d: int, p: Any, mu: Real) -> Real:
    """2c_t·d^{1/p−1/2}/(m_t·μ*): the standard deviation of the one release of step t."""
    return 2 * bound * dimension_factor(K, d, p) / (size * mu) * K(ROUNDING)


def dimension_factor(K: Numbers, d: int, p: Any) -> Real:
    """d^{1/p−1/2}: ‖x‖_2 ≤ d^{1/p−1/2}‖x‖_q for 1/p + 1/q = 1, p ≤ 2."""
    return K.power(K(d), Fraction(1) / Fraction(p) - Fraction(1, 2))


# -------------------------------------------------------- the failure of printed Algorithm 5, exactly


def printed_pair_mu(K: Numbers, t: int, epsilon: Exact, delta: Exact) -> Real:
    """μ of the pair (Δ̃_r^t, g̃_r^t) with the printed noise: (ε/2)√((2 + 1/t)/L).

    g̃ has sensitivity/sd = ε/(2√L); Δ̃ moves by 2L1·D·η_{t−1}(t+1)/b but its noise is made for η_t, so it has
    √((t+1)/t) times that.
    """
    whole("t", t)
    return K(epsilon) / 2 * K.sqrt((2 + K(Fraction(1, t))) / log_inverse(K, delta))


def corrected_pair_mu(K: Numbers, epsilon: Exact, delta: Exact) -> Real:
    """μ of the pair with η_{t−1} in σ̂ and the constant 16: ε/√(2L)."""
    return K(epsilon) / K.sqrt(2 * log_inverse(K, delta))
