"""Normal scores: order and nothing else, of one column and of many at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from audit.auditor.learn import normal as module
from audit.auditor.learn.normal import NormalScores, ScoreTables


def test_scores_are_normal_whatever_the_tails() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_cauchy(20_000)
    scores = NormalScores.fit(x)(x)
    assert np.all(np.diff(scores[np.argsort(x)]) >= 0)
    for level in (0.01, 0.1, 0.5, 0.9, 0.99):
        assert np.quantile(scores, level) == pytest.approx(special.ndtri(level), abs=0.03)
    assert scores.max() == pytest.approx(special.ndtri(1 - 0.5 / 20_000))
    assert scores.min() == pytest.approx(special.ndtri(0.5 / 20_000))


def test_the_map_passes_through_the_quantiles() -> None:
    x = np.arange(101.0)
    found = NormalScores.fit(x)
    assert found(np.array([50.0, 25.0, 75.0])) == pytest.approx(special.ndtri([0.5, 0.25, 0.75]), abs=1e-9)
    assert found(np.array([0.0, 100.0, -9.0])) == pytest.approx(special.ndtri([0.5 / 101, 1 - 0.5 / 101, 0.5 / 101]))
    assert found(np.array([np.nan, np.inf, -np.inf])).tolist() == [0.0, 0.0, 0.0]
    assert len(found.points) == 65 + 6


def test_values_that_repeat_have_the_mean_of_their_levels() -> None:
    x = np.repeat([0.0, 1.0], [300, 100])
    found = NormalScores.fit(x)
    levels = np.unique(np.concatenate([np.linspace(0, 1, 65), [0.002, 0.005, 0.01, 0.99, 0.995, 0.998]]))
    low = np.clip(levels[levels * 399 <= 299], 0.5 / 400, 1)
    assert found(np.array([0.0]))[0] == pytest.approx(special.ndtri(low.mean()), abs=1e-9)
    assert NormalScores.fit(np.full(9, 3.0))(np.array([3.0, 4.0])).tolist() == [0.0, 0.0]
    assert NormalScores.fit(np.array([np.nan]))(np.array([3.0])).tolist() == [0.0]


def test_a_long_column_is_read_in_part() -> None:
    x = np.concatenate([np.zeros(40_000), np.ones(20_000)])
    x[1::3] = 9.0  # every third row; every second of 60 000 is read
    assert NormalScores.fit(x).points.tolist() == NormalScores.fit(x[::3]).points.tolist()
    step = np.tile([0.0, 5.0], 20_000)
    assert NormalScores.fit(step).points.tolist() == [0.0]
    assert NormalScores.fit(step[:39_998]).points.max() == 5.0


def test_a_table_says_what_the_map_of_each_column_says() -> None:
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.normal(3.0, 0.1, 5000), rng.standard_cauchy(5000), np.full(5000, 7.0)])
    tables = ScoreTables.fit(x)
    found = tables(x)
    assert found.shape == (5000, 3)
    assert found.dtype == np.float32
    for j in range(2):
        straight = NormalScores.fit(x[:, j])(x[:, j])
        assert np.quantile(np.abs(found[:, j] - straight), 0.99) < 0.02
    assert found[:, 2].tolist() == [0.0] * 5000
    assert tables.centre == pytest.approx(np.median(x[:2000], axis=0))
    spread = np.subtract(*np.quantile(x[:2000], [0.75, 0.25], axis=0))
    assert tables.scale == pytest.approx([spread[0], spread[1], 1.0])
    odd = tables(np.array([[np.nan, np.inf, -np.inf], [1e300, -1e300, 7.0]]))
    assert odd[0].tolist() == [0.0, 0.0, 0.0]
    assert odd[1][0] == pytest.approx(special.ndtri(1 - 0.5 / 5000), abs=1e-4)
    assert odd[1][1] == tables.table[module.CELLS] < -2.8


def test_where_half_the_rows_are_equal_the_deviation_is_the_scale() -> None:
    x = np.where(np.arange(400) % 8 == 0, 5.0, 1.0)[:, None]
    assert ScoreTables.fit(x).scale == pytest.approx([x.std()])
    empty = ScoreTables.fit(np.full((5, 1), np.nan))
    assert (empty.centre.tolist(), empty.scale.tolist()) == ([0.0], [1.0])


def test_rows_are_worked_on_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(2).normal(size=(50, 3))
    whole = ScoreTables.fit(x)(x)
    monkeypatch.setattr(module, "TOGETHER", 21)
    assert np.array_equal(ScoreTables.fit(x)(x), whole)
    assert stats.spearmanr(whole[:, 0], x[:, 0])[0] > 0.999
    assert np.array_equal(ScoreTables.fit(x)(np.column_stack([x, x])), whole)
