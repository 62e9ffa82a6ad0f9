"""Rates: the fit finds known exponents, the checks hold, and a bound that is too small is caught."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from audit.checks import rates
from reference.numerics.numbers import Float64
from reference.setting.sets import L2Ball, l1_ball
from reference.smooth.rounds import population_gap

K = Float64()


def test_the_fit_finds_a_known_exponent() -> None:
    xs, generator = (10, 100, 1000), np.random.default_rng(0)
    runs = [x**-0.5 * generator.uniform(0.9, 1.1, size=200) for x in xs]
    found = rates.fit(xs, runs, [1.0] * len(xs), generator)
    assert found.exponent == pytest.approx(-0.5, abs=0.01)
    assert found.interval[0] <= found.exponent <= found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.02


def test_runs_on_one_sample_count_once() -> None:
    """A hundred equal runs on each of twelve samples say no more than one on each: the limit is that of twelve."""
    samples = np.random.default_rng(4).normal(1.0, 0.1, size=12)
    runs = [np.tile(samples[:, None], 100), samples]
    found = rates.fit((1, 2), runs, [1.0, 1.0], np.random.default_rng(0))
    assert found.lows[0] == pytest.approx(found.lows[1])
    error = samples.std(ddof=1) / 12**0.5
    assert (samples.mean() - found.lows[0]) / error == pytest.approx(9.0, abs=0.5)  # Student, 11 degrees of freedom


def test_the_limit_is_above_the_mean_as_rarely_as_its_level_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """At level 0.01: 200 of 20 000 limits, give or take 14; five standard deviations are 70."""
    monkeypatch.setattr(rates, "LEVEL", 0.01)
    values = np.random.default_rng(5).normal(size=(20_000, 12))
    assert abs(sum(rates.lower_limit(row) > 0 for row in values) - 200) < 70


def test_the_population_risk_is_exact() -> None:
    """Against the mean of the loss over the whole support, and never below its minimum."""
    population = rates.axes(3)
    w = np.random.default_rng(1).normal(scale=0.3, size=(20, 3))
    records = [population._record(i, j) for i in range(3) for j in range(3)]
    risk = [np.mean([abs(float(np.dot(row, [float(v) for v in z.x])) - float(z.y)) for z in records]) for row in w]
    assert population.excess(w) == pytest.approx(np.array(risk) - 1 / 6, abs=1e-12)
    assert population.excess(np.array([[float(v) for v in population.target]])) == pytest.approx([0], abs=1e-12)
    assert (population.excess(w) > 0).all()


@pytest.mark.parametrize(("p", "W"), [(1, l1_ball(4, 1)), (2, L2Ball([0] * 4, 1))], ids=["l1", "l2"])
def test_the_population_gap_is_that_of_the_reference(p: int, W: Any) -> None:
    problem = rates.Saddle.make(4, p)
    w = np.random.default_rng(2).uniform(-0.2, 0.2, size=(5, 4))
    support = [
        (rates.Example(tuple(a), float(y)), 1 / 16)
        for a, y in zip(problem.features.tolist(), problem.labels, strict=True)
    ]
    expected = [population_gap(K, problem.loss, support, W, K.vector(row)) for row in w.tolist()]
    assert problem.gap(W, w) == pytest.approx(np.array(expected, dtype=float), rel=1e-9)


SMALL: list[tuple[str, Any]] = [
    ("phased", rates.over("n", rates.phased)),
    ("frank_wolfe", rates.over("n", rates.frank_wolfe)),
    ("poly", rates.over("n", rates.smooth, p=1)),
    ("noisy", rates.over("n", rates.smooth, p=2)),
]


@pytest.mark.parametrize(("name", "run"), SMALL, ids=[name for name, _ in SMALL])
def test_measured_accuracy_is_below_its_bound_and_a_smaller_bound_is_caught(name: str, run: Any) -> None:
    outcome = rates.study(name, "risk", "n", (64, 256), run, 1.0, 0)
    assert outcome.holds
    assert 0 < outcome.ratio < 1
    assert outcome.figures[0].topic == "rate"

    def mutant(x: Any, generator: Any) -> tuple[Any, float]:
        values, bound = run(x, generator)
        return values, bound / 100

    assert not rates.study(name, "risk", "n", (64, 256), mutant, 1.0, 0).holds
