"""The exact test: its p-value by enumeration, its level where it is attained, and the shortcuts that break it."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from audit.auditor.test.confidence import (
    NEGLIGIBLE,
    Selection,
    _flags,
    correct_rate,
    critical_count,
    joint_p_value,
    lower_bound,
    p_value,
    predicted_bound,
    strongest,
    would_detect,
)


def law_of_w(n: int, draws: int, rate: float, q: float) -> np.ndarray:
    """P(W = j) by adding up all cases."""
    mass = np.zeros(n + 1)
    for x in range(draws + 1):
        weight = math.comb(draws, x) * rate**x * (1 - rate) ** (draws - x)
        y = min(x, n)
        for j in range(n - y + 1):
            mass[y + j] += weight * math.comb(n - y, j) * q**j * (1 - q) ** (n - y - j)
    return mass


@pytest.mark.parametrize(
    ("n", "draws", "delta", "sides"), [(5, 12, 0.2, 1), (8, 9, 0.05, 2), (6, 6, 0.0, 1), (12, 30, 0.4, 2)]
)
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.5])
def test_p_value_is_the_tail_of_w(n, draws, delta, sides, epsilon):
    tail = law_of_w(n, draws, sides * delta / 2, correct_rate(epsilon))[::-1].cumsum()[::-1]
    for k in range(n + 1):
        assert p_value(epsilon, Selection(n, k, draws, delta, sides)) == pytest.approx(tail[k], rel=1e-10, abs=1e-13)


def four_outcomes(epsilon: float, delta: float) -> tuple[np.ndarray, np.ndarray]:
    q = correct_rate(epsilon)
    p = np.array([delta, (1 - delta) * q, (1 - delta) * (1 - q), 0.0])
    return p[::-1], p


def rejections(epsilon, delta, draws, n, believed_delta, reps, either=False, sides=1, seed=1):
    """How often the test rejects on the four-outcome pair, the strongest outcomes selected first."""
    q_law, p_law = four_outcomes(epsilon, delta)
    rng = np.random.default_rng(seed)
    level, count = 0.05, 0
    critical = critical_count(epsilon, Selection(n, 0, draws, believed_delta, sides), level)
    for _ in range(reps):
        labels = rng.integers(0, 2, draws)
        z = np.where(labels == 1, rng.choice(4, draws, p=p_law), rng.choice(4, draws, p=q_law))
        rank = np.where((z == 0) | (z == 3), 0, 1) if either else z
        guess = np.where(z <= 1, 1, 0) if either else np.ones(draws, dtype=int)
        chosen = np.argsort(rank, kind="stable")[:n]
        count += critical is not None and int((guess[chosen] == labels[chosen]).sum()) >= critical
    return count


def at_most(reps: int, level: float = 0.05) -> int:
    """More rejections than this happen with probability 1e-7 at the level."""
    return int(stats.binom.isf(1e-7, reps, level))


@pytest.mark.parametrize(
    ("epsilon", "delta", "draws", "n"), [(0.0, 0.01, 400, 60), (1.0, 0.05, 300, 40), (2.0, 0.01, 1000, 200)]
)
def test_level_on_the_pair_that_attains_it(epsilon, delta, draws, n):
    assert rejections(epsilon, delta, draws, n, delta, 3000) <= at_most(3000)


def test_level_is_attained_up_to_the_lattice():
    mass = law_of_w(60, 400, 0.005, 0.5)
    critical = critical_count(0.0, Selection(60, 0, 400, 0.01), 0.05)
    assert 0.03 < mass[critical:].sum() <= 0.05
    assert mass[critical - 1 :].sum() > 0.05


def test_ignoring_delta_breaks_the_level():
    assert rejections(1.0, 0.05, 300, 40, 0.0, 1000) > at_most(1000)


def test_guesses_of_both_labels_need_both_allowances():
    assert rejections(0.0, 0.05, 400, 200, 0.05, 1000, either=True, sides=1) > at_most(1000)
    assert rejections(0.0, 0.05, 400, 200, 0.05, 1000, either=True, sides=2) <= at_most(1000)


def joint_rejections(parts, epsilon=1.0, delta=0.02, draws=300, sizes=(120, 60, 15, 8), reps=3000):
    """How often several selections reject on the four-outcome pair, as `rejections` does with one selection."""
    q_law, p_law = four_outcomes(epsilon, delta)
    rng, count = np.random.default_rng(2), 0
    for _ in range(reps):
        labels = rng.integers(0, 2, draws)
        z = np.where(labels == 1, rng.choice(4, draws, p=p_law), rng.choice(4, draws, p=q_law))
        order = np.argsort(z, kind="stable")
        counts = [int(labels[order[:n]].sum()) for n in sizes]
        seen = [Selection(n, k, draws, delta, 1, w) for n, k, w in zip(sizes, counts, parts, strict=True)]
        count += joint_p_value(epsilon, seen) <= 0.05
    return count


def test_selections_that_share_the_level_keep_it_and_those_that_do_not_share_break_it():
    assert joint_rejections((0.4, 0.3, 0.2, 0.1)) <= at_most(3000)
    assert joint_rejections((1.0, 1.0, 1.0, 1.0)) > at_most(3000)


def test_the_joint_bound_is_the_last_epsilon_that_the_joint_p_value_rejects():
    seen = [Selection(500, 420, 4000, 1e-3, 2, 0.7), Selection(100, 95, 4000, 1e-3, 2, 0.3)]
    cutoff, bound = strongest(seen, 0.05)
    assert cutoff == 1
    assert bound == max(lower_bound(one, 0.05 * one.part) for one in seen) > lower_bound(seen[0], 0.05)
    assert joint_p_value(bound, seen) <= 0.05 < joint_p_value(bound + 1e-6, seen)
    idle = [Selection(100, 50, 4000, part=0.5), Selection(50, 28, 4000, part=0.5)]
    assert strongest(idle, 0.05) == (1, 0.0)
    small = [Selection(100, 53, 4000, part=0.1), Selection(100, 50, 4000, part=0.9)]
    p = [p_value(0.0, one) for one in small]
    assert p[0] < p[1]  # but not for its part of the level:
    assert p[0] / 0.1 > p[1] / 0.9
    assert strongest(small, 0.05) == (1, 0.0)


def test_lower_bound_is_the_last_rejected_epsilon():
    seen = Selection(500, 450, 4000, 1e-3, 2)
    bound = lower_bound(seen, 0.05)
    assert p_value(bound, seen) <= 0.05 < p_value(bound + 1e-6, seen)
    assert lower_bound(Selection(500, 250, 4000, 1e-3, 2), 0.05) == 0.0


def test_bound_is_not_capped_at_log_one_over_delta():
    seen = Selection(20_000, 20_000, 100_000, 1e-3)
    assert lower_bound(seen, 0.05) > math.log(1000)


def test_pure_bound_equals_clopper_pearson():
    seen = Selection(1000, 900, 1000)
    assert lower_bound(seen, 0.05) == pytest.approx(special.logit(stats.beta.ppf(0.05, 900, 101)), abs=1e-8)


def test_would_detect_has_the_stated_power():
    seen = Selection(2000, 1500, 20_000, 1e-5, 2)
    loss = would_detect(1.0, seen, 0.05)
    critical = critical_count(1.0, seen, 0.05)
    assert stats.binom.sf(critical - 1, seen.n, correct_rate(loss)) == pytest.approx(0.95, abs=1e-9)
    assert would_detect(5.0, Selection(10, 10, 20), 0.05) == math.inf


@pytest.mark.parametrize(
    "bad",
    [
        {"n": 5, "k": 6, "draws": 9},
        {"n": 5, "k": 1, "draws": 4},
        {"n": 5, "k": 1, "draws": 9, "delta": 1.0},
        {"n": 5, "k": 1, "draws": 9, "sides": 3},
        {"n": 5, "k": 1, "draws": 9, "part": 0.0},
        {"n": 5, "k": 1, "draws": 9, "part": 1.01},
        {"n": 5, "k": -1, "draws": 9},
        {"n": 5, "k": 1, "draws": 9, "delta": -0.01},
        {"n": 5, "k": 1, "draws": 9, "sides": 0},
    ],
)
def test_impossible_counts_are_refused(bad):
    with pytest.raises(ValueError, match="must"):
        Selection(**bad)


def test_the_extreme_counts_are_possible():
    assert p_value(0.0, Selection(3, 0, 3)) == 1.0
    assert p_value(0.0, Selection(3, 3, 3)) == pytest.approx(1 / 8)
    assert p_value(9.0, Selection(0, 0, 3, 0.5)) == 1.0
    assert Selection(3, 3, 3) == Selection(n=3, k=3, draws=3, delta=0.0, sides=1, part=1.0, fixed=True)
    assert joint_p_value(0.0, [Selection(9, 4, 9, part=0.1)]) == 1.0


@pytest.mark.parametrize("delta", [0.0, 1e-5, 1e-3, 0.01])
@pytest.mark.parametrize("sides", [1, 2])
def test_the_planners_prediction_is_never_above_the_exact_bound(delta, sides):
    for n, rate in [(50, 1.0), (300, 0.97), (850, 0.99), (3000, 0.9), (40_000, 0.73)]:
        exact = lower_bound(Selection(n, round(n * rate), 170_000, delta, sides), 0.05)
        predicted = predicted_bound(np.array([float(n)]), np.array([round(n * rate) / n]), 170_000, delta, 0.05, sides)[
            0
        ]
        assert predicted <= exact + 1e-6
        assert delta > 1e-5 or predicted >= 0.8 * exact - 0.02


@pytest.mark.parametrize(("draws", "rate"), [(1000, 0.01), (20_000_000, 1e-9), (10**9, 5e-6), (10**9, 0.005)])
def test_the_law_of_flags_is_exact_however_many_draws_there_are(draws: int, rate: float):
    """Against 40 digits; logarithms of factorials in binary64 were off by 3e-6 at 10⁹ draws, to the wrong side."""
    values, weights = _flags(draws, rate)
    assert weights.sum() == pytest.approx(1.0, abs=1e-13)
    with mpmath.workdps(40):
        r = mpmath.mpf(rate)
        for at in (np.argmax(weights), min(len(weights) - 2, np.argmax(weights) + 5)):
            k = int(values[at])
            log_choose = mpmath.loggamma(draws + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(draws - k + 1)
            exact = mpmath.exp(log_choose + k * mpmath.log(r) + (draws - k) * mpmath.log(1 - r))
            assert float(weights[at] / exact) == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize(("draws", "rate"), [(2000, 0.5), (5000, 0.31), (40, 0.2), (9, 0.9), (3, 0.01)])
def test_the_law_of_flags_is_the_binomial_one_with_its_tails_moved_up(draws: int, rate: float):
    """Nine standard deviations below the mean, twelve above; what is left above has a stand-in at the worst value."""
    values, weights = _flags(draws, rate)
    mean, spread = draws * rate, math.sqrt(draws * rate * (1 - rate))
    low, high = max(0, int(mean - 9 * spread - 2)), min(draws, int(mean + 12 * spread + 40))
    assert values.tolist() == [*range(low, high + 1), draws]
    assert weights[0] == pytest.approx(stats.binom.cdf(low, draws, rate), rel=1e-8, abs=0)
    assert weights[1:-1] == pytest.approx(stats.binom.pmf(values[1:-1], draws, rate), rel=1e-8, abs=0)
    assert weights[-1] == NEGLIGIBLE == 1e-15
    assert stats.binom.sf(high, draws, rate) < 1e-25


def test_without_delta_there_are_no_flags():
    values, weights = _flags(50, 0.0)
    assert values.tolist() == [0.0]
    assert weights.tolist() == [1.0]


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3, 0.8])
@pytest.mark.parametrize(
    ("n", "draws", "delta", "sides"), [(1, 1, 0.0, 1), (2, 9, 0.0, 1), (9, 12, 0.1, 1), (8, 9, 0.05, 2)]
)
def test_the_critical_count_is_the_first_that_rejects(n, draws, delta, sides, alpha):
    for epsilon in (0.0, 0.7):
        tail = law_of_w(n, draws, sides * delta / 2, correct_rate(epsilon))[::-1].cumsum()[::-1]
        expected = next((k for k in range(n + 1) if tail[k] <= alpha), None)
        assert critical_count(epsilon, Selection(n, 0, draws, delta, sides), alpha) == expected
    assert critical_count(0.0, Selection(0, 0, draws, delta, sides), alpha) is None


def by_hand(n: float, rate: float, draws: int, delta: float, alpha: float, sides: int) -> float:
    """The best of four bounds: beyond c flags with a part of the level, c the quantile, for the others the rest."""
    best = 0.0
    for tail in (0.8 * alpha, 0.5 * alpha, 0.2 * alpha, 0.04 * alpha):
        c = next(c for c in range(draws) if stats.binom.sf(c, draws, sides * delta / 2) <= tail)
        if n * rate - c >= 3 * math.sqrt(c):
            q = stats.beta.ppf(alpha - tail, n * rate - c, n - n * rate + 1)
            best = max(best, float(special.logit(q)))
    return best


def test_the_planners_prediction_is_the_best_of_four_parts_of_the_level():
    """One size and rate after another, so that each part is the best somewhere, and not clear somewhere."""
    n = np.array([12.0, 20.0, 30.0, 60.0, 200.0, 900.0, 2500.0])
    for delta, sides, rate in [(1e-3, 2, 0.95), (1e-3, 1, 0.8), (4e-3, 1, 0.9), (1e-4, 2, 1.0), (0.02, 2, 0.9)]:
        found = predicted_bound(n, np.full(len(n), rate), 5000, delta, 0.05, sides)
        assert found == pytest.approx([by_hand(x, rate, 5000, delta, 0.05, sides) for x in n], rel=1e-9)
    pure = predicted_bound(n, np.full(len(n), 0.8), 5000, 0.0, 0.05, 2)
    assert pure == pytest.approx(np.maximum(special.logit(stats.beta.ppf(0.05, 0.8 * n, 0.2 * n + 1)), 0.0), abs=1e-9)


def test_a_prediction_needs_three_standard_deviations_of_flags():
    """Of 10 draws, 10 right, c of them flagged: 10 − c ≥ 3√c holds with equality at c = 4, and not at c = 5."""
    draws, alpha = 1000, 0.5
    for c, clear in ((4, True), (5, False)):
        rate = next(
            r
            for r in np.linspace(2e-3, 1e-2, 400)
            if stats.binom.isf(0.8 * alpha, draws, r) == c < stats.binom.isf(0.5 * alpha, draws, r)
        )
        bound = predicted_bound(np.array([10.0]), np.array([1.0]), draws, 2 * rate, alpha, 1)[0]
        assert bound == pytest.approx(special.logit((0.2 * alpha) ** (1 / 6)) if clear else 0.0)


def test_half_a_right_guess_predicts_nothing():
    found = predicted_bound(np.array([0.5, 3.0, 3.0]), np.array([1.0, 1.0, 1.1]), 10, 0.0, 0.7, 1)
    assert found == pytest.approx([0.0, special.logit(0.7 ** (1 / 3)), 0.0])
    assert predicted_bound(np.array([0.5]), np.ones(1), 10, 0.0, 0.8, 1).tolist() == [0.0]
