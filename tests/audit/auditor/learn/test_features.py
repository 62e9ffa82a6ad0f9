"""From outputs to a design: each kind of column, on tables made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from audit.auditor.learn import features as module
from audit.auditor.learn.features import Column, Encoder, lowest_bit, with_summaries
from audit.auditor.terms.outputs import FALSE, TRUE, tabulate

NONE = np.zeros(0)


def test_a_smooth_column_is_a_line_hinges_and_steps() -> None:
    column = Column(0, "smooth", np.array([1.0, 2.0]), np.array([1.5]), centre=1.0, scale=2.0, low=0.0, high=4.0)
    made = column.apply(np.array([[-1.0], [1.0], [1.5], [3.0], [9.0], [np.nan]]), None)
    assert made.tolist() == [
        [-0.5, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
        [0.25, 0.25, 0.0, 1.0],
        [1.0, 1.0, 0.5, 1.0],
        [1.5, 1.5, 1.0, 1.0],
        [0.0, 0.0, 0.0, 0.0],
    ]
    assert column.penalties.tolist() == [0.01, 1.0, 1.0, 2.0]
    heavy = Column(0, "smooth", NONE, NONE, 1.0, 2.0, -100.0, 100.0, heavy=True)
    assert heavy.apply(np.array([[1.0], [41.0]]), None)[:, 0] == pytest.approx([0.0, np.arcsinh(20.0)])
    plain = Column(1, "smooth", NONE, low=-9.0, high=9.0)
    assert plain.apply(np.array([[0.0, 3.0]]), None).tolist() == [[3.0]]


def test_indicators_are_ones_where_a_value_or_word_stands() -> None:
    value = Column(1, "value", np.array([2.0, 5.0]))
    assert value.apply(np.array([[2.0, 5.0], [0.0, 2.0], [0.0, np.nan]]), None).tolist() == [[0, 1], [1, 0], [0, 0]]
    token = Column(0, "token", np.array([7, 9]))
    assert token.apply(np.zeros((3, 1)), np.array([[9], [0], [7]])).tolist() == [[0, 1], [0, 0], [1, 0]]
    assert value.penalties.tolist() == token.penalties.tolist() == [0.0, 0.0]
    grained = Column(0, "granularity", np.array([-2.0, 0.0]))
    assert grained.apply(np.array([[0.25], [3.0], [2.0], [np.inf]]), None).tolist() == [[1, 1], [0, 1], [0, 0], [0, 0]]


def test_the_lowest_bit_of_a_number() -> None:
    x = np.array([1.0, 3.0, -6.0, 0.5, 0.75, 0.1, 0.0, 2.0**-1074, 2.0**60])
    assert lowest_bit(x).tolist() == [0, 0, 1, -1, -2, -55, 1100, -1074, 60]


def test_an_encoder_puts_its_columns_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [Column(0, "value", np.array([1.0, 2.0])), Column(1, "smooth", NONE, low=-9.0, high=9.0)]
    encoder = Encoder(columns, 2)
    assert encoder.penalties.tolist() == [1e-6, 0.0, 0.0, 0.01]
    assert encoder.fixed.tolist() == [0.0, 3.0, 3.0, 0.0]
    table = tabulate(np.array([[1.0, 5.0], [2.0, -4.0], [3.0, 0.0]]))
    expected = [[1, 1, 0, 5], [1, 0, 1, -4], [1, 0, 0, 0]]
    assert encoder.design(table).tolist() == expected
    monkeypatch.setattr(module, "ROWS", 2)
    assert encoder.design(table).tolist() == expected


def kinds(x: Any, labels: Any = None) -> list[str]:
    values = np.asarray(x, dtype=float)
    sides = np.arange(len(values)) % 2 if labels is None else labels
    return [c.kind for c in Encoder.fit(tabulate(values), sides).columns]


def test_few_values_are_categories_and_many_a_curve() -> None:
    rng = np.random.default_rng(0)
    assert kinds(rng.integers(0, 12, 400)) == ["value", "smooth"]
    assert kinds(rng.integers(0, 13, 4000)) == ["smooth", "granularity"]
    assert kinds(rng.normal(size=400)) == ["smooth"]
    assert kinds(rng.integers(0, 2, 400)) == ["value"]
    assert kinds(np.full(400, 3.0)) == []
    assert kinds(np.round(rng.normal(size=4000), 0) + 0.5 * (rng.random(4000) < 0.5)) != []
    assert module._number_columns(0, np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0]), 1, True) == []
    (rare,) = module._number_columns(0, np.repeat([1.0, 2.0], [40, 7]), np.zeros(47), 1, True) or [None]
    assert rare is None  # one frequent value of two, where all are numbers, says nothing
    some = np.concatenate([np.repeat(1.0, 40), np.full(7, np.nan)])
    (one,) = module._number_columns(0, some, np.zeros(47), 1, True)
    assert (one.kind, one.points.tolist()) == ("value", [1.0])


def test_a_line_through_few_values_is_centred_and_scaled() -> None:
    values = np.repeat([1.0, 2.0, 6.0], [20, 10, 10])
    (line,) = module._trend_column(3, np.unique(values), values)
    assert (line.leaf, line.kind, line.centre, line.low, line.high) == (3, "smooth", 1.5, 1.0, 6.0)
    assert line.scale == pytest.approx(values.std())
    assert len(line.penalties) == 1
    assert module._trend_column(0, np.array([1.0, 2.0]), values) == []


def test_a_curve_has_its_knots_at_quantiles_that_five_values_lie_beyond() -> None:
    values, labels = np.arange(1000.0), np.arange(1000) % 2
    alone = module._smooth_column(0, values, labels, 1)
    wanted = module.RICH[(module.RICH >= 0.005) & (module.RICH <= 0.995)]
    assert alone.points == pytest.approx(np.quantile(values, wanted))
    assert set(alone.points) <= set(alone.jumps)
    assert (alone.centre, alone.heavy) == (499.5, False)
    assert alone.scale == pytest.approx(0.8 * 999 / 2.5)
    reach = min(0.3 * 999, 6 * alone.scale)
    assert (alone.low, alone.high) == pytest.approx((-reach, 999 + reach))
    for smooth, levels in ((3, module.PLAIN), (4, module.POOR)):
        column = module._smooth_column(0, values, labels, smooth)
        known = levels[(levels >= 0.005) & (levels <= 0.995)]
        assert column.points == pytest.approx(np.quantile(values, known))
        assert not set(column.points) & set(column.jumps)
    tails = module._smooth_column(0, np.concatenate([values / 1000, [1e6]]), np.arange(1001) % 2, 1)
    assert tails.heavy
    same = module._smooth_column(0, np.repeat([0.0, 1.0], [990, 10]), np.arange(1000) % 2, 1)
    assert same.scale == pytest.approx(np.std(np.repeat([0.0, 1.0], [990, 10])))


def test_where_the_other_label_begins_there_is_a_step() -> None:
    values = np.arange(20.0)
    labels = (values >= 6).astype(int)
    # From below six values are alone, and 6 − ⌈ln 7⌉ = 4 is a little before; from above 14 are, and 14 − 3 = 11.
    assert sorted(module._turns(values, labels)) == [4.0, 6.0, 6.0, 9.0]
    assert module._turns(values, np.arange(20) % 2).tolist() == [1.0, 19.0]


def test_floats_on_a_grid_have_their_granularity_learned() -> None:
    rng = np.random.default_rng(1)
    fine = tabulate(rng.normal(size=4000)).numbers[:, 0]
    assert module._granularity_column(0, fine) == []
    rounded = np.round(fine * 256) / 256
    (found,) = module._granularity_column(2, rounded)
    assert (found.leaf, found.kind) == (2, "granularity")
    assert set(found.points) <= set(np.unique(lowest_bit(rounded)))
    assert found.points.min() == -8
    mixed = np.where(np.arange(4000) % 100 == 0, np.round(fine), fine)
    assert module._granularity_column(0, mixed) != []


def test_words_are_indicators_the_commonest_first() -> None:
    codes = np.repeat([0, 11, 12, 13], [10, 8, 20, 7])
    (found,) = module._token_columns(4, codes)
    assert (found.leaf, found.kind, found.points.tolist()) == (4, "token", [12, 11])
    assert module._token_columns(0, np.full(20, 11)) == []
    assert module._token_columns(0, np.repeat([11, 12], 7)) == []
    (truth,) = module._token_columns(0, np.repeat([TRUE, FALSE], 9))
    assert truth.points.tolist() == [TRUE]
    many = np.repeat(np.arange(1, 70), 8)
    assert len(module._token_columns(0, many)[0].points) == 60


def test_columns_that_say_the_same_are_kept_once() -> None:
    table = tabulate(np.array([[1.0, 4.0], [2.0, 5.0], [1.0, 4.0], [3.0, 5.0]]))
    columns = [Column(0, "value", np.array([1.0, 2.0])), Column(1, "value", np.array([4.0, 5.0]))]
    (kept,) = module._without_repeats(columns, table)
    assert (kept.leaf, kept.points.tolist()) == (0, [1.0, 2.0])


def test_the_length_the_truths_and_the_last_number_are_columns_of_their_own() -> None:
    table = tabulate([[True, 2.0, 5.0], [False, 3.0], [True, True, "a"]])
    made = with_summaries(table)
    assert made.width == 6
    assert made.numbers[:, 3].tolist() == [3.0, 2.0, 3.0]
    assert made.numbers[:, 4].tolist() == [1.0, 0.0, 2.0]
    assert made.numbers[:2, 5].tolist() == [5.0, 3.0]
    assert np.isnan(made.numbers[2, 5])
    plain = tabulate(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert with_summaries(plain) is plain
    single = tabulate(["a", 1.0])
    assert with_summaries(single) is single


def test_a_leaf_that_is_always_the_last_number_has_a_line_with_two_bends() -> None:
    rng = np.random.default_rng(2)
    last = rng.normal(size=100)
    numbers = np.column_stack([np.where(np.arange(100) % 2 == 0, last, np.nan), rng.normal(size=100), last])
    assert module._repeats_last(numbers).tolist() == [True, False, False]
    (bent,) = module._bend_column(0, numbers[:, 0])
    values = numbers[::2, 0]
    assert bent.points == pytest.approx(np.quantile(values, [0.3, 0.6]))
    assert (bent.centre, bent.scale) == pytest.approx(
        (np.quantile(values, 0.3), (np.quantile(values, 0.9) - np.quantile(values, 0.1)) / 2.5)
    )
    assert (bent.low, bent.high) == (values.min(), values.max())
    assert module._bend_column(0, values[:39]) == []
    assert module._bend_column(0, np.arange(100.0) % 12) == []
