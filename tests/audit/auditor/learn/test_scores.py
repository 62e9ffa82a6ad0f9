"""Scores: what they are fitted to, and that a faster way to read outputs gives the same table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from audit.auditor.learn.features import Encoder, with_summaries
from audit.auditor.learn.scores import FOLDS, Cells, Score, chunks, learn_first, learn_held_out
from audit.auditor.learn.wide import Reducer
from audit.auditor.terms import outputs


def _gaussian(rows: int, width: int, shift: float, seed: int) -> tuple[outputs.Table, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, rows)
    x = rng.normal(size=(rows, width))
    x[:, 0] += shift * labels
    return outputs.tabulate(x), labels


def test_rows_come_in_chunks_that_leave_none_out() -> None:
    assert list(chunks(5, 2)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert list(chunks(0, 2)) == []
    assert list(chunks(5000)) == [slice(0, 4096), slice(4096, 5000)]


def test_a_wide_score_is_not_sure_of_what_it_memorised() -> None:
    """With 600 rows of 100 equal laws the discriminant parts its own rows by about 2√(100/600) = 0.8
    standard deviations; the score must not believe it."""
    table, labels = _gaussian(600, 100, 0.0, 1)
    own = Reducer.fit(table, labels).reduce(table).numbers[:, 0]
    assert own[labels == 1].mean() - own[labels == 0].mean() > 0.5 * own.std()
    fresh, _ = _gaussian(4000, 100, 0.0, 2)
    logits, _ = Score.learn(table, labels).logit(fresh)
    assert np.mean(np.abs(logits) > 1) < 0.01


def test_a_wide_score_finds_a_shift_from_few_rows() -> None:
    """Guesses on fresh rows are right about as often as a direction learned from 1500 rows allows (0.69 at best)."""
    table, labels = _gaussian(1500, 100, 1.0, 3)
    fresh, truth = _gaussian(20_000, 100, 1.0, 4)
    logits, _ = Score.learn(table, labels).logit(fresh)
    assert np.mean((logits > 0) == (truth == 1)) > 0.63


def test_of_a_wide_output_only_coordinates_are_asked_how_fine_their_floats_are() -> None:
    """A projection is a sum: its lowest bits say how it was rounded, and would be half of all columns."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 2000)
    x = rng.normal(size=(2000, 14)) + 0.3 * labels[:, None]
    for bits, some in ((outputs.VALUE_BITS, False), (outputs.EXACT_BITS, True)):
        score = Score.learn(outputs.tabulate(x, bits), labels)
        assert score.reducer is not None
        fine = {column.leaf for column in score.encoder.columns if column.kind == "granularity"}
        assert bool(fine) == some
        assert fine <= set(score.reducer.coordinates) < set(range(score.encoder.width))


def test_a_number_at_a_varying_position_is_described_once() -> None:
    """Positions that only repeat the last number get a bent line each; the last number gets all knots."""
    rng = np.random.default_rng(5)
    rows = [(*[False] * int(i), float(x)) for i, x in zip(rng.integers(0, 4, 2000), rng.normal(size=2000), strict=True)]
    table = with_summaries(outputs.tabulate(rows))
    encoder = Encoder.fit(table, rng.integers(0, 2, 2000))
    knots = {c.leaf: len(c.points) for c in encoder.columns if c.kind == "smooth"}
    assert knots.pop(4) == 0, "how many leaves there are: a line"
    assert set(knots) == {0, 1, 2, 3, 6}
    assert knots[6] > 8
    assert all(knots[leaf] == 2 for leaf in range(4))
    assert encoder.design(table).shape == (2000, len(encoder.penalties))


def test_tuples_read_by_column_give_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with NaN, infinities, huge integers, nested and odd items among them."""
    rng = np.random.default_rng(6)
    kinds = [True, False, 1.5, 0.1, 3, math.nan, math.inf, -math.inf, 10**400, -(10**400), np.float64(0.3), "a", None]
    some = [*kinds, (1, 2.0), [1.0, False]]
    rows = [tuple(some[i] for i in rng.integers(0, len(some), rng.integers(0, 5))) for _ in range(3000)]
    rows += [tuple(kinds[i] for i in rng.integers(0, 11, 3)) for _ in range(3000)]
    fast = outputs.tabulate(rows)
    monkeypatch.setattr(outputs, "_by_types", lambda rows: ({}, list(range(len(rows)))))
    slow = outputs.tabulate(rows)
    assert np.array_equal(fast.numbers, slow.numbers, equal_nan=True)
    assert np.array_equal(fast.tokens, slow.tokens)
    assert np.array_equal(fast.keys, slow.keys)


def test_rare_extremes_of_counts_are_ranked_by_the_trend() -> None:
    """Rounded Gaussians with means 0 and 1: the log-odds of z is z − 1/2, also where z was hardly ever seen."""
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 2, 20_000)
    table = outputs.tabulate(np.round(rng.normal(size=20_000) + labels))
    logits, _ = Score.learn(table, labels).logit(outputs.tabulate(np.array([-3.0, 4.0])))
    assert logits[0] < -2.5
    assert logits[1] > 2.5


def test_indicators_that_say_the_same_are_fitted_once() -> None:
    """Of (x, not x, x) one column is enough; a column that differs in one row stays."""
    rng = np.random.default_rng(8)
    flags = rng.integers(0, 2, (500, 2)).astype(bool)
    same = [(bool(a), not a, bool(a)) for a in flags[:, 0]]
    other = [(bool(a), not a, bool(b)) for a, b in flags]
    widths = [len(Encoder.fit(outputs.tabulate(rows), flags[:, 0]).penalties) for rows in (same, other)]
    assert widths == [2, 3]


def test_many_outputs_that_lean_by_the_same_amounts_are_recognised() -> None:
    """Of 600 outputs a third each leans by 0.75 to either side or not at all, and each was seen 100 times. Knowing that
    there are three kinds halves the squared error that the best common shrinkage leaves.
    """
    rng = np.random.default_rng(7)
    lean = np.repeat([-0.75, 0.0, 0.75], 200)
    n = np.full(600, 100.0)
    k = rng.binomial(100, special.expit(lean)).astype(float)
    keys = np.arange(600, dtype=np.uint64)
    found = Cells.fit(keys, n, k, np.zeros(600)).refine(keys, np.zeros(600), np.zeros(600))[0]
    error, alone = (np.mean((x - lean) ** 2) for x in (found, special.logit((k + 0.5) / (n + 1))))
    spread = np.mean(lean**2)
    assert error < 0.7 * alone * spread / (alone + spread)


def test_outputs_that_say_what_the_regression_says_are_left_to_it() -> None:
    """Counts of 20 around what it says: their own noise (0.45) is taken off nearly wholly."""
    rng = np.random.default_rng(8)
    base = rng.normal(scale=0.5, size=500)
    k = rng.binomial(20, special.expit(base)).astype(float)
    keys = np.arange(500, dtype=np.uint64)
    found = Cells.fit(keys, np.full(500, 20.0), k, base).refine(keys, base, np.zeros(500))[0]
    assert np.sqrt(np.mean((found - base) ** 2)) < 0.1


def test_what_is_said_of_a_word_does_not_depend_on_the_labels_that_it_is_held_against() -> None:
    """All labels of a word in one fold turn round: what the other folds say of it there stays, but for how strongly all
    words are shrunk. A plan made on words that had been seen would promise what it cannot keep.
    """
    rng = np.random.default_rng(9)
    which, fold = rng.integers(0, 40, 4000), np.arange(4000) % FOLDS
    labels = (rng.random(4000) < special.expit(rng.normal(size=40))[which]).astype(int)
    turned = np.where((which == 3) & (fold == 0), 1 - labels, labels)
    table = outputs.tabulate([f"word {k}" for k in which])
    here = np.flatnonzero((which == 3) & (fold == 0))[0]
    one, other = (learn_held_out(table, b)[1][here] for b in (labels, turned))
    assert one == pytest.approx(other, abs=0.02)


@pytest.mark.parametrize(("frequency", "grown"), [(0.0, False), (9.0, True)])
def test_what_is_learned_before_many_more_draws_looks_for_trees_only_where_the_regression_fails(
    frequency: float, grown: bool
) -> None:
    pytest.importorskip("lightgbm")
    rng = np.random.default_rng(9)
    x = rng.normal(size=20_000)
    chance = special.expit(0.5 * x + (np.sin(frequency * x) if frequency else 0.0))
    table, labels = outputs.tabulate(x), (rng.random(len(x)) < chance).astype(int)
    score = learn_first(table, labels)
    assert (score.trees is not None) == grown
    assert np.array_equal(score.fit.weights, Score.learn(table, labels).fit.weights)
