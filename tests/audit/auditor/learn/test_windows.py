"""Narrow places and ends of supports are found where the regression has no room for them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from audit.auditor.learn import windows as module
from audit.auditor.learn.windows import Window, Windows
from audit.auditor.terms.outputs import tabulate

ROWS = 10_000


def scan(x: np.ndarray, labels: np.ndarray) -> Windows:
    return Windows.find(tabulate(x), labels, np.full(len(labels), 0.5))


def test_windows_are_half_open_and_in_the_order_of_their_columns():
    table = tabulate(np.array([[0.0, 5.0], [1.0, 6.0], [2.0, 7.0]]))
    windows = Windows((Window(1, 6.0, np.inf), Window(0, 0.0, 1.0), Window(1, -np.inf, 5.5)))
    assert windows.columns(table).tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert windows.leaves == [0, 1]
    assert Windows().columns(table).shape == (3, 0)


def test_runs_of_cells_are_of_all_lengths_up_to_a_half():
    lows, highs = module._runs(12)
    runs = set(zip(lows.tolist(), highs.tolist(), strict=True))
    assert {high - low for low, high in runs} == {1, 2, 3, 4, 6}
    for size in (1, 2, 3, 4, 6):
        assert {(i, i + size) for i in range(13 - size)} <= runs
    lows, highs = module._runs(40)
    sixteen = sorted(low for low, high in zip(lows.tolist(), highs.tolist(), strict=True) if high - low == 16)
    assert sorted(set(sixteen)) == [0, 4, 8, 12, 16, 20, 24]
    assert highs.max() == 40


def test_cells_begin_where_new_numbers_do():
    assert module._starts(np.arange(60.0)).tolist() == list(range(0, 60, 6))
    assert module._starts(np.repeat([0.0, 1.0, 2.0], 20)).tolist() == [0, 20, 40]
    assert len(module._starts(np.arange(30_000.0))) == 4096


def test_the_log_ratio_is_that_of_two_coins():
    n, k, m = np.array([10.0, 10.0, 4.0]), np.array([7.0, 10.0, 0.0]), np.array([5.0, 5.0, 1.0])
    expected = [7 * math.log(1.4) + 3 * math.log(0.6), 10 * math.log(2), 4 * math.log(4 / 3)]
    assert module._log_ratio(n, k, m) == pytest.approx(expected)


def test_strips_stop_short_of_where_the_labels_turn_at_both_ends():
    """Sixty of the lowest of a thousand draws have label 1 alone; the other end is the same, seen in a mirror."""
    x, labels = np.arange(1000.0), np.arange(1000) % 2
    labels[:60] = 1
    sums = [np.concatenate([[0.0], np.cumsum(w)]) for w in (labels, np.full(1000, 0.5))]
    sizes = sorted({int(4 * (250 / 4) ** (i / 47) * (1 + 1e-12)) for i in range(48)})
    ratios = {n: _coin_ratio(n, int(labels[:n].sum())) for n in sizes}
    best = max(sizes, key=lambda n: ratios[n])
    found = module._strips(x, sums, 1)
    assert [high for _, high in found] == [best // 2, best - math.ceil(math.log1p(best))]
    assert [r for r, _ in found] == pytest.approx([ratios[best]] * 2)
    least = math.exp(ratios[best]) * module.STRIP_DOUBT / (4 * 48)
    assert module._strips(x, sums, int(least * (1 - 1e-9))) != [] == module._strips(x, sums, int(least * (1 + 1e-9)))
    mirrored = [w.low for _, w in module._scan(3, -x, labels, np.full(1000, 0.5), 1) if np.isinf(w.high)][:2]
    assert mirrored == [np.nextafter(-high, np.inf) for _, high in found]
    assert module._scan(0, x[:23], labels[:23], np.full(23, 0.5), 1) == []
    odd = np.where(np.arange(1000) % 3 == 0, np.nan, x)
    assert module._scan(0, odd, labels, np.full(1000, 0.5), 1) != []


def _coin_ratio(n, k):
    """n·KL(k/n ‖ 1/2)."""
    return sum(a * math.log(2 * a / n) for a in (k, n - k) if a)


def test_inner_windows_do_not_overlap_and_are_few():
    x = np.arange(6000.0)
    labels = (np.arange(6000) % 2).astype(float)
    for at in range(500, 6000, 1000):
        labels[at : at + 200] = 1.0
    sums = [np.concatenate([[0.0], np.cumsum(w)]) for w in (labels, np.full(6000, 0.5))]
    found = module._inner(x, sums, 1)
    assert len(found) == module.A_LEAF == 4
    assert [r for r, _, _ in found] == sorted((r for r, _, _ in found), reverse=True)
    places = sorted((low, high) for _, low, high in found)
    assert all(a[1] <= b[0] for a, b in pairwise(places))
    assert all(min(abs(low - at) for at in range(500, 6000, 1000)) < 60 for low, _ in places)
    assert module._inner(x[:12], [s[:13] for s in sums], 1) == []


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
