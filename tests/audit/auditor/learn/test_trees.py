"""Trees are kept where unseen draws gain from them, and nowhere else; without the library nothing breaks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from audit.auditor.learn import trees
from audit.auditor.terms.outputs import tabulate

ROWS = 6000


def labelled_steps(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A chance that depends on three coordinates together, in no smooth way."""
    rng = np.random.default_rng(seed)
    x = rng.random((ROWS, 3))
    odd = np.floor(3 * x).sum(axis=1) % 2 == 1
    return x, (rng.random(ROWS) < np.where(odd, 0.9, 0.1)).astype(int)


def test_words_become_categories_by_how_frequent_they_are(monkeypatch):
    """Numbers as they are, then a column a leaf with words: its place among the known words, 0 for another."""
    monkeypatch.setattr(trees, "CATEGORIES", 2)
    table = tabulate([[1.0, "a"], [2.0, "a"], [3.0, "b"], [4.0, "b"], [5.0, "c"]])
    source = trees.TreeInput.fit(table)
    assert source.leaves == (1,)
    found = source.columns(table)
    assert found[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert found[:, 2].tolist() in ([1, 1, 2, 2, 0], [2, 2, 1, 1, 0])
    assert source.categorical(table) == [2]
    assert source.columns(tabulate([[1.0, "z"]]))[0, 2] == 0
    plain = tabulate(np.ones((4, 3)))
    assert trees.TreeInput.fit(plain) == trees.TreeInput((), ())
    assert trees.TreeInput.fit(plain).columns(plain).shape == (4, 3)


def test_a_regression_that_misses_something_is_told_from_one_that_does_not():
    """A hundred cells of equal count: their summed squares against a chi-square, by hand."""
    rng = np.random.default_rng(3)
    x = rng.random(5000)
    chance = 1 / (1 + np.exp(-4 * (x - 0.5)))
    labels = (rng.random(5000) < chance).astype(int)
    right, wrong = 4 * (x - 0.5), np.zeros(5000)
    assert not trees.misfit(x, labels, right)
    assert trees.misfit(x, labels, wrong)
    few = np.repeat([0.0, 1.0], 200)
    for ones in (100, 114, 115, 116, 125):
        labels = np.tile([0, 1], 200)
        labels[:200] = np.arange(200) < ones
        statistic = (ones - 100) ** 2 / 50
        assert trees.misfit(few, labels, np.zeros(400)) == (statistic > 7.824046010856292)  # χ²(2) at 2 %


def test_few_rows_or_few_of_one_label_grow_no_trees(monkeypatch):
    monkeypatch.setattr(trees, "library", lambda: pytest.fail("asked for"))
    for rows, ones in ((399, 200), (400, 49), (400, 351)):
        labels = (np.arange(rows) < ones).astype(int)
        table, base = tabulate(np.ones((rows, 2))), np.zeros(rows)
        assert trees.boosted(table, labels, base, np.arange(rows) % 4) == (None, base)
    monkeypatch.setattr(trees, "library", lambda: None)
    table, base = tabulate(np.ones((400, 2))), np.zeros(400)
    assert trees.boosted(table, (np.arange(400) < 50).astype(int), base, np.arange(400) % 4) == (None, base)


def test_the_log_likelihood_is_that_of_coins():
    logits, labels = np.array([0.3, -1.0, 2.0]), np.array([1, 0, 0])
    p = 1 / (1 + np.exp(-logits))
    assert trees._log_likelihood(logits, labels) == pytest.approx(np.log(np.where(labels == 1, p, 1 - p)).sum())


@pytest.mark.skipif(trees.library() is None, reason="LightGBM cannot be loaded here: scores have no trees")
def test_what_no_sum_of_functions_can_say():
    x, labels = labelled_steps(1)
    fold, table = np.arange(ROWS) % 4, tabulate(x)
    grown, held_out = trees.boosted(table, labels, np.zeros(ROWS), fold)
    assert grown is not None
    assert held_out[labels == 1].mean() - held_out[labels == 0].mean() > 1.0
    again = pickle.loads(pickle.dumps(grown))
    assert np.array_equal(again.add(table), grown.add(table))


def test_noise_grows_no_trees():
    rng = np.random.default_rng(2)
    base = np.zeros(ROWS)
    grown, held_out = trees.boosted(
        tabulate(rng.random((ROWS, 4))), rng.integers(0, 2, ROWS), base, np.arange(ROWS) % 4
    )
    assert grown is None
    assert held_out is base


def test_without_the_library_there_are_no_trees(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trees, "library", lambda: None)
    x, labels = labelled_steps(3)
    assert trees.boosted(tabulate(x), labels, np.zeros(ROWS), np.arange(ROWS) % 4)[0] is None
