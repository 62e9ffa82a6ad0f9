"""The zoo's ground truth: samplers follow their laws, laws have the stated ε."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit.auditor.lints.replay import gaussian_epsilon
from bench.zoo import by_name, entries
from bench.zoo.law import Law, discrete

ALL = entries()
NAMES = [e.name for e in ALL]


def test_there_are_enough_and_names_are_unique():
    assert len(ALL) >= 30
    assert len(set(NAMES)) == len(ALL)
    assert sum(e.correct for e in ALL) >= 12
    assert sum(not e.correct for e in ALL) >= 20


@pytest.mark.parametrize("entry", ALL, ids=NAMES)
def test_sampler_follows_its_law(entry):
    """Chi-square on merged cells, both sides; each at 1e-9."""
    rng = np.random.default_rng(7)
    size = 8000
    for mass, data in ((entry.law.q, entry.dataset), (entry.law.p, entry.neighbour)):
        counts = np.bincount(entry.cells(entry.sampler(data, size, rng)), minlength=len(mass))
        assert len(counts) == len(mass)
        assert counts[mass == 0].sum() == 0
        group = np.minimum((np.cumsum(mass) - mass / 2) * 100, 99).astype(int)
        expected = np.bincount(group, mass * size, minlength=100)
        seen = np.bincount(group, counts, minlength=100)
        kept = expected > 5
        statistic = np.sum((seen[kept] - expected[kept]) ** 2 / expected[kept])
        assert statistic <= stats.chi2.isf(1e-9, max(1, kept.sum() - 1))


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [
        ("laplace", 1.0),
        ("gaussian", 4.3773),
        ("report-noisy-max", 0.7786),
        ("noisy-max-quarter-noise", 2.3029),
        ("noisy-max-value", 1.5),
        ("svt-1", 0.8747),
        ("svt-3", 2.5485),
        ("svt-4", 1.6588),
        ("svt-6", 4.0313),
        ("svt-5", math.inf),
        ("laplace-float-inversion", math.inf),
        ("gaussian-shift-100", math.inf),
        ("replace-factor-two", 2.0),
        ("overlapping-batches", 2.0),
        ("four-outcomes", 1.0),
        ("uniform-noise", 0.0),
        ("clip-after-noise", 3.0),
    ],
)
def test_true_epsilon(name, epsilon):
    assert by_name(name).true_epsilon == pytest.approx(epsilon, abs=2e-3)


@pytest.mark.parametrize(
    ("name", "ideal", "conditional"),
    [
        ("laplace", 0.98, 0.986),
        ("noisy-max-value", 1.33, 1.39),
        ("svt-1", 0.79, 0.82),
        ("svt-3", 2.02, 2.15),
        ("svt-6", 2.95, 3.19),
        ("svt-5", 8.57, 8.79),
        ("gaussian", 2.80, 2.98),
        ("laplace-float-inversion", 8.89, 9.11),
    ],
)
def test_best_possible_bounds_at_a_hundred_thousand(name, ideal, conditional):
    entry = by_name(name)
    assert entry.law.ideal(100_000, entry.delta) == pytest.approx(ideal, abs=0.01)
    assert entry.law.conditional(100_000, entry.delta) == pytest.approx(conditional, abs=0.01)


def test_gaussian_law_matches_the_closed_form():
    law = by_name("gaussian").law
    for delta in (1e-5, 1e-3, 0.1):
        assert law.true_epsilon(delta) == pytest.approx(gaussian_epsilon(1.0, delta), abs=1e-3)


def test_closed_forms_are_approached_by_their_partitions():
    for entry in ALL:
        exact = entry.law.exact_epsilon
        if exact is not None and math.isfinite(exact):
            live = (entry.law.p > 1e-9) & (entry.law.q > 1e-9)
            assert np.abs(np.log(entry.law.p[live] / entry.law.q[live])).max() == pytest.approx(exact, abs=0.02), (
                entry.name
            )


def test_laws_are_probabilities():
    with pytest.raises(ValueError, match="not a probability"):
        Law(np.array([0.5, 0.4]), np.array([0.5, 0.5]))
    assert discrete(np.ones(4), np.ones(4)).true_epsilon() == 0.0


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="not in the zoo"):
        by_name("unicorn")
