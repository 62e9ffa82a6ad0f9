"""The lower bound on the gap: its facts, step by step, and that the algorithms stay above it."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from round_sums import variance_sums
from scipy import stats

from reference.numerics.numbers import Ball, Float64
from reference.numerics.preconditions import PreconditionError
from reference.smooth import bounds
from reference.smooth.counterexamples import LARGE_EPSILON, SMALL_DIMENSION, floor_over_rate, noisy_floor_over_rate
from reference.smooth.floors import BERRY_ESSEEN, gap_floor, instance_mean, step_floor
from reference.smooth.parameters import noisy_parameters, poly_parameters
from reference.smooth.sensitivity import batch_sizes, decay, step_size

K = Float64()


def test_the_squares_of_the_weights_are_of_the_order_of_a_root():
    """Fact 5, certified for t < 400, with Fact 4 above it; the constant ½ is approached."""
    B = Ball(64)
    for t, later in enumerate(variance_sums(B, 400)):
        total = later + decay(B, 0, t) ** 2
        assert B.le(B.sqrt(B(t + 1)) / 2, total), t
    far = float(variance_sums(K, 200_000)[-1]) / math.sqrt(200_000)
    assert 0.5 < far < 0.502


def weights(T, b):
    """The weight of one record of batch k in ∇^{T−1}, and the sizes, by the recursion of the algorithm."""
    found, sizes = [], batch_sizes(b, T)
    for t, m in enumerate(sizes):
        eta = float(step_size(K, t))
        found = [(1 - eta) * c for c in found] + [eta / m]
    return found, sizes


@pytest.mark.parametrize(("T", "b"), [(16, 16), (64, 1000), (512, 700), (1024, 10**6)])
def test_the_three_bounds_on_the_weights(T, b):
    """They sum to 1; (i) A ≥ √T/(2(b+T)); (ii) none exceeds √T/b."""
    c, m = weights(T, b)
    assert math.fsum(x * k for x, k in zip(c, m, strict=True)) == pytest.approx(1, abs=1e-12)
    spread = math.fsum(x * x * k for x, k in zip(c, m, strict=True))
    assert math.sqrt(T) / (2 * (b + T)) <= spread
    assert max(c) <= math.sqrt(T) / b * (1 + 1e-12)


def test_the_third_moment_of_a_biased_sign():
    mu = Fraction(1, 7)
    up, down = (1 + mu) / 2, (1 - mu) / 2
    assert up * (1 - mu) ** 3 + down * (1 + mu) ** 3 == (1 - mu**2) * (1 + mu**2)


def test_berry_esseen_covers_weighted_biased_signs():
    """The constant 0.56 against exact laws of sums with two weights."""
    mu = Fraction(1, 10)
    for count, other, ratio in ((1, 1, 1), (4, 9, 2), (40, 10, 3)):
        law = {}
        for i, p in enumerate(stats.binom(count, float(1 + mu) / 2).pmf(range(count + 1))):
            for j, q in enumerate(stats.binom(other, float(1 + mu) / 2).pmf(range(other + 1))):
                x = (2 * i - count) + ratio * (2 * j - other)
                law[x] = law.get(x, 0) + p * q
        mean = float(mu) * (count + ratio * other)
        sd = math.sqrt(float(1 - mu**2) * (count + ratio**2 * other))
        third = float((1 - mu**2) * (1 + mu**2)) * (count + ratio**3 * other)
        below, worst = 0.0, 0.0
        for x in sorted(law):
            phi = stats.norm.cdf((x - mean) / sd)
            worst = max(worst, abs(below - phi), abs(below + law[x] - phi))
            below += law[x]
        assert worst <= float(BERRY_ESSEEN) * third / sd**3


def measured_gap(R, b, runs, noise):
    """E Gap(ŵ) of Algorithm 4 (Laplace noise) or 5 (Gaussian noise) on the instance, batch means drawn as binomials."""
    rng = np.random.default_rng(5)
    mu, total = float(instance_mean(K, R, b)), np.zeros(runs)
    w = np.full(runs, -0.5)
    for r in range(R):
        estimate = np.zeros(runs)
        for t, m in enumerate(batch_sizes(b, 2**r)):
            eta = 1 / math.sqrt(t + 1)
            total += mu * (w + 0.5)
            batch = 2 * rng.binomial(m, (1 + mu) / 2, runs) / m - 1
            estimate = (1 - eta) * estimate + eta * batch
            shift = rng.laplace(0, noise, (2, runs)) if noise else np.zeros((2, runs))
            wrong = estimate < shift[0] - shift[1]
            w = (1 - eta) * w + eta * np.where(wrong, 0.5, -0.5)
    return total.mean() / (2**R - 1), mu


@pytest.mark.parametrize("noise", [0.0, 1e-3, 1.0])
def test_the_algorithm_stays_above_the_floor(noise):
    """R = 9, b = 10^5, from the best start: whatever the noise, the measured gap is above; and not by orders."""
    R, b = 9, 10**5
    floor = float(gap_floor(K, R, b))
    measured, mu = measured_gap(R, b, 400, noise)
    assert 0 < floor < measured < mu
    if not noise:
        assert measured < 20 * floor


def test_no_floor_where_the_normal_law_is_too_far():
    assert gap_floor(K, 3, 4) == 0
    assert gap_floor(K, 9, 256) == 0


def test_the_floor_keeps_its_order():
    """√V: sixteen times the steps double it, four times the batch halves it."""
    a, b, c = (float(gap_floor(K, R, size)) for R, size in ((25, 10**13), (29, 10**13), (25, 4 * 10**13)))
    assert b / a == pytest.approx(2, rel=1e-2)
    assert a / c == pytest.approx(2, rel=1e-2)


def test_the_floor_is_below_what_is_proved():
    """Against the proven bound of corrected Algorithm 4 at the same R and b: a floor above it would be a mistake."""
    for R, b in ((8, 10**5), (11, 10**6)):
        assert gap_floor(K, R, b) < bounds.gap_corrected(K, R, b, 2, (1, 0, 1), 1, "1e-6")


def test_the_printed_rates_fall_below_the_floor():
    """√ε for Theorem 11; n^{0.0065}ln^{1/3}n for Theorem 14 at the d that bR² ≤ n allows, up to the rounding of R."""
    assert 6 < floor_over_rate(K, 10**20, 10**4) / floor_over_rate(K, 10**20, 100) < 16
    B = Ball(8192)
    (one, d), (other, e) = list(SMALL_DIMENSION.items())[1:]
    growth = B.to_float(noisy_floor_over_rate(B, other, e) / noisy_floor_over_rate(B, one, d))
    assert growth == pytest.approx(10 ** (600 * 0.0065) * 2.5 ** (1 / 3), rel=0.5)


def test_exhibits_lie_inside_the_conditions_of_the_paper():
    """b ≥ 2^R and bR² ≤ n as our own parameter functions decide; a step outside is refused."""
    for n, epsilon in LARGE_EPSILON.items():
        plan = poly_parameters(n, 2, epsilon, "1e-6")
        assert plan.b >= 2**plan.R
        with pytest.raises(PreconditionError, match="disjoint"):
            poly_parameters(n, 2, 2 * epsilon, "1e-6")
    for n, d in SMALL_DIMENSION.items():
        plan = noisy_parameters(n, d, 2, 1, "1e-6")
        assert plan.b >= 2**plan.R
        with pytest.raises(PreconditionError, match="disjoint"):
            noisy_parameters(n, d // 2, 2, 1, "1e-6")


def test_the_floor_without_data_is_below_every_run():
    """f = w²/2 on [−½, ½], any noise: the average gap of Algorithm 4's iterates is above `step_floor`."""
    rng = np.random.default_rng(6)
    for R, flip in product((3, 6, 9), (0.0, 0.1, 0.5)):
        w, total = 0.0, 0.0
        for r in range(R):
            for t in range(2**r):
                total += abs(w) * (abs(w) + 0.5)
                v = -0.5 if (w > 0) != (rng.random() < flip) else 0.5
                w += (v - w) / math.sqrt(t + 1)
        floor = float(step_floor(K, R))
        assert floor <= total / (2**R - 1)
        assert total / (2**R - 1) < 20 * floor or R == 3 or flip
