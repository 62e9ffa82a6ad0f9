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
