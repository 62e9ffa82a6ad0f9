"""Narrow places and ends of supports are found where the regression has no room for them."""

from __future__ import annotations

import numpy as np

from audit.auditor.learn.windows import Windows
from audit.auditor.terms.outputs import tabulate

ROWS = 10_000


def scan(x: np.ndarray, labels: np.ndarray) -> Windows:
    return Windows.find(tabulate(x), labels, np.full(len(labels), 0.5))


def test_a_rare_place():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, ROWS)
    x = rng.laplace(size=(ROWS, 3))
    rare = (labels == 1) & (rng.random(ROWS) < 0.02)
    x[rare, 1] = 3.0 + 0.05 * rng.standard_normal(int(rare.sum()))
    (best, *_) = scan(x, labels).kept
    assert best.leaf == 1
    assert best.low < 3.0 < best.high < 3.5


def test_the_end_of_a_support():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, ROWS)
    x = rng.random(ROWS) + 0.01 * labels
    windows = scan(x, labels)
    assert any(np.isinf(w.high) and 0.99 < w.low < 1.001 for w in windows.kept)
    assert windows.columns(tabulate(np.array([1.005, 0.5]))).max(axis=1).tolist() == [1.0, 0.0]


def test_what_tells_nothing_is_rarely_kept():
    """DOUBT is 10 % a table: 16 or more of 40 has chance below 1e-6."""
    kept = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        kept += bool(scan(rng.standard_normal((2000, 5)), rng.integers(0, 2, 2000)).kept)
    assert kept < 16


def test_a_strip_stops_short_of_where_the_labels_turn():
    """Just beyond the last draw that was seen alone the other support may begin."""
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, ROWS)
    x = rng.random(ROWS) + 0.02 * labels
    lows = [w for w in scan(x, labels).kept if np.isinf(w.low)]
    assert len(lows) >= 2  # the strip, and one of half its draws
    ends = sorted(w.high for w in lows)
    assert 0.005 < ends[0] < ends[-1] < x[labels == 1].min() < 0.0215


def test_a_strip_needs_less_evidence_than_a_place_in_the_middle():
    rng = np.random.default_rng(5)
    labels, x = rng.integers(0, 2, ROWS), rng.standard_normal(ROWS)
    beyond = np.argsort(x)[-13:]
    labels[beyond] = 1
    (window,) = {w.leaf: w for w in scan(x, labels).kept}.values()
    assert window.high == np.inf
    assert window.low > np.sort(x)[-40]
    inner = np.argsort(np.abs(x))[:13]
    labels = rng.integers(0, 2, ROWS)
    labels[inner] = 1
    assert not scan(x, labels).kept
