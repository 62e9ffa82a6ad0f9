"""Wide outputs reduced to a few columns: each column by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from audit.auditor.learn import wide as module
from audit.auditor.learn.features import lowest_bit
from audit.auditor.learn.wide import Reducer
from audit.auditor.terms.outputs import tabulate


def sample(rows: int = 400, width: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, rows)
    x = tabulate(rng.normal(size=(rows, width))).numbers
    x[:, 3] += labels
    x[:, 5] *= 1 + 3 * labels
    return x, labels


def test_the_columns_are_what_they_are_called() -> None:
    x, labels = sample()
    reducer = Reducer.fit(tabulate(x), labels)
    found = reducer.reduce(tabulate(x)).numbers
    one, zero = x[labels == 1], x[labels == 0]
    centre, pooled = np.median(x, axis=0), (one.var(axis=0) + zero.var(axis=0)) / 2
    away, z = x - centre, (x - centre) / np.sqrt(pooled)
    assert found[:, 0] == pytest.approx(away @ reducer.direction)
    curvature = (1 / zero.var(axis=0) - 1 / one.var(axis=0)) / 2
    kept = np.abs(curvature) > 2.5 * np.sqrt(8 / 400) / pooled
    assert kept[5]
    assert found[:, 1] == pytest.approx((away**2) @ np.where(kept, curvature, 0.0))
    assert found[:, 2] == pytest.approx(z.max(axis=1))
    assert found[:, 3] == pytest.approx(z.min(axis=1))
    assert found[:, 4] == pytest.approx((z**2).sum(axis=1))
    gap = one.mean(axis=0) - zero.mean(axis=0)
    noise = np.sqrt(one.var(axis=0) / len(one) + zero.var(axis=0) / len(zero))
    order = np.argsort(-np.abs(gap) / noise)[: module.TOP]
    assert reducer.top.tolist() == order.tolist()
    assert reducer.top[0] == 3
    for at, j in enumerate(order):
        assert found[:, 5 + at] == pytest.approx(np.sign(gap[j]) * x[:, j])
    rest = found[:, 5 + module.TOP :]
    assert rest[:, 0].tolist() == lowest_bit(x).min(axis=1).tolist() or not reducer.grained
    assert rest[:, 1].tolist() == [0.0] * 400
    assert reducer.scores is not None
    normal = reducer.scores(x)
    assert rest[:, 2] == pytest.approx(normal @ reducer.score_direction, rel=1e-5)
    assert rest[:, 3] == pytest.approx(normal**2 @ reducer.square_direction, rel=1e-5)
    assert found.shape[1] == module.COLUMNS


def test_the_discriminant_is_shrunk_towards_its_diagonal() -> None:
    x, labels = sample()
    one, zero = x[labels == 1], x[labels == 0]
    spread = np.sqrt((one.var(axis=0) + zero.var(axis=0)) / 2)
    gap = one.mean(axis=0) - zero.mean(axis=0)
    found = module._discriminant(one, zero, gap, spread)
    scaled = np.concatenate([(one - one.mean(axis=0)) / spread, (zero - zero.mean(axis=0)) / spread])
    correlation = scaled.T @ scaled / 400 + (0.01 + 30 / 400) * np.eye(30)
    assert found == pytest.approx(np.linalg.solve(correlation, gap / spread) / spread, rel=1e-4)
    few = module._discriminant(one[:59], zero, gap, spread)
    assert few == pytest.approx(gap / spread**2)
    enough = module._discriminant(one[:60], zero[:60], gap, spread)
    assert not np.allclose(enough, gap / spread**2)


def test_columns_whose_laws_differ_are_kept_and_the_first() -> None:
    rng = np.random.default_rng(1)
    labels = np.arange(600) % 2
    columns = rng.normal(size=(600, 3))
    columns[:, 2] += labels
    assert module._telling(columns, labels).tolist() == [0, 2]
    steps = np.where(labels == 1, 1 / 300, -1 / 300)
    for column in (*columns.T, np.round(columns[:, 2])):
        gap = module._largest_gap(column, steps)
        assert gap == pytest.approx(stats.ks_2samp(column[labels == 1], column[labels == 0]).statistic)


def test_words_get_indicators_but_for_the_commonest() -> None:
    rows = [[1.0, "a" if i % 4 else "b", "c" if i < 7 else "d"] for i in range(40)]
    table = tabulate(rows)
    levels = module._levels(table)
    tokens = table.token_matrix()
    assert levels.tolist() == [[1, int(tokens[0, 1])]]
    made = module._coordinates(table, levels, 9.0)
    assert made.shape == (40, 4)
    assert made[:, 1].tolist() == [9.0] * 40
    assert made[:, 3].tolist() == [float(i % 4 == 0) for i in range(40)]
    plain = tabulate(np.ones((3, 2)))
    assert module._levels(plain).shape == (0, 2)
    assert module._coordinates(plain, module._levels(plain), 0.0) is plain.numbers


def test_few_rows_are_reduced_by_what_the_other_folds_say() -> None:
    x, labels = sample(240, 20)
    reducer, learned = Reducer.learn(tabulate(x), labels)
    assert reducer.kept is not None
    assert reducer.kept[0] == 0
    fold = np.arange(240) % module.FOLDS
    for f in range(module.FOLDS):
        other = Reducer.fit(tabulate(x[fold != f]), labels[fold != f])
        expected = other.reduce(tabulate(x[fold == f])).numbers[:, reducer.kept]
        assert learned.numbers[fold == f] == pytest.approx(expected)
    assert reducer.reduce(tabulate(x)).numbers.shape == learned.numbers.shape
    assert module.settled(tabulate(np.ones((module.MANY_ROWS * 2, 2))))
    assert not module.settled(tabulate(np.ones((module.MANY_ROWS * 2 - 1, 2))))
