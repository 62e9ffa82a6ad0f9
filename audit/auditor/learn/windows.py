"""Intervals of a leaf where the labels differ from what the regression says: rare places, ends of supports, gaps.

A smooth function of a leaf has no room for a narrow place that one dataset visits more often, or for the strip at the
end of a range that only one of them reaches. Each leaf is cut into fine cells of equal count; runs of cells on all
scales are held against the regression, and those that stand out beyond what the largest of so many would by chance
become indicators. So are the strips at both ends, of which there are far fewer: less evidence is asked of them. A strip
is drawn in a little from where the labels turn, for what the sample did not see lies just there. The test's validity
does not rest on this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.auditor.terms.outputs import Table

Array = np.ndarray

DOUBT, STRIP_DOUBT = 0.1, 1.0
"""How many places a scan of leaves that have none may be expected to find, in the middle, and how many strips at the
ends: chosen for power. What is found in vain costs little, because held-out draws show that it is worth nothing; and
least at an end, where few draws lie.
"""
LEAST = 6
"""Draws in the finest cell: fewer could not stand out."""
STRIPS, SHORTEST = 48, 4
"""Strips at each end of a leaf that are tried, from so many draws upwards: chosen for power."""
CELLS = 4096
"""Cells of a leaf at most: chosen for speed."""
A_LEAF, MOST = 4, 16
"""Windows that are kept, of a leaf and in all: chosen for speed."""
LEAVES = 256
"""Leaves that are scanned: chosen for speed."""


@dataclass(frozen=True)
class Window:
    """The indicator of low ≤ x < high in a leaf."""

    leaf: int
    low: float
    high: float


@dataclass(frozen=True)
class Windows:
    """The windows that were kept, in the order of their columns."""

    kept: tuple[Window, ...] = ()

    @staticmethod
    def find(table: Table, labels: Array, expected: Array, among: Iterable[int] | None = None) -> Windows:
        """Scan each leaf: `expected` is the chance of label 1 that the regression gives to each row.

        `among`: the leaves that are worth it, where that is known; as much evidence is asked of them as of one of all.
        """
        width = min(table.width, LEAVES)
        found = []
        for leaf in range(width) if among is None else among:
            found += _scan(leaf, table.numbers[:, leaf], labels, expected, width)
        found.sort(key=lambda item: -item[0])
        return Windows(tuple(window for _, window in found[:MOST]))

    @property
    def leaves(self) -> list[int]:
        """Where they are."""
        return sorted({window.leaf for window in self.kept})

    def columns(self, table: Table) -> Array:
        """One indicator a window."""
        if not self.kept:
            return np.empty((len(table), 0), dtype=np.float32)
        inside = [(table.numbers[:, w.leaf] >= w.low) & (table.numbers[:, w.leaf] < w.high) for w in self.kept]
        return np.stack(inside, axis=1).astype(np.float32)


def _scan(leaf: int, x: Array, labels: Array, expected: Array, leaves: int) -> list[tuple[float, Window]]:
    """The best windows of a leaf, with their log-likelihood ratios."""
    known = np.isfinite(x)
    x, labels, expected = x[known], labels[known].astype(float), expected[known]
    if len(x) < 4 * LEAST:
        return []
    order = np.argsort(x)
    x, sums = x[order], [np.concatenate([[0.0], np.cumsum(w[order])]) for w in (labels, expected)]
    strips = [(r, Window(leaf, -np.inf, high)) for r, high in _strips(x, sums, leaves)]
    mirrored = [s[-1] - s[::-1] for s in sums]
    strips += [
        (r, Window(leaf, np.nextafter(-high, np.inf), np.inf)) for r, high in _strips(-x[::-1], mirrored, leaves)
    ]
    return strips + [(r, Window(leaf, low, high)) for r, low, high in _inner(x, sums, leaves)]


def _strips(x: Array, sums: list[Array], leaves: int) -> list[tuple[float, float]]:
    """The most telling strip x < high at the lower end of a sorted leaf, and one of half its draws.

    It stops short of where the labels turn by as many draws as leave out, of so many, about one that was not seen.
    """
    total = len(x)
    wanted = np.unique(np.geomspace(SHORTEST, total / 4, STRIPS).astype(int))
    sizes = np.unique(np.searchsorted(x, x[wanted - 1], side="right"))
    sizes = sizes[sizes < total]
    if len(sizes) == 0:
        return []
    n, (k, m) = sizes.astype(float), (s[sizes] for s in sums)
    ratio = _log_ratio(n, k, np.clip(m, 1e-9, n - 1e-9))
    best = int(np.argmax(ratio))
    if ratio[best] < np.log(4 * leaves * STRIPS / STRIP_DOUBT):
        return []
    size = int(sizes[best])
    ends = {max(SHORTEST // 2, size - int(np.ceil(np.log1p(size)))), max(SHORTEST // 2, size // 2)}
    return [(float(ratio[best]), float(x[end])) for end in sorted(ends) if x[end] > x[0]]


def _inner(x: Array, sums: list[Array], leaves: int) -> list[tuple[float, float, float]]:
    """The best windows of a sorted leaf that do not overlap."""
    starts = _starts(x)
    total = len(starts)
    if total < 3:
        return []
    bounds = np.append(starts, len(x))
    lows, highs = _runs(total)
    n = (bounds[highs] - bounds[lows]).astype(float)
    k, m = (s[bounds[highs]] - s[bounds[lows]] for s in sums)
    ratio = _log_ratio(n, k, np.clip(m, 1e-9, n - 1e-9))
    limit = np.log(2 * leaves * len(lows) / DOUBT)
    chosen: list[tuple[float, float, float]] = []
    taken = np.zeros(total + 1, dtype=bool)
    for i in np.argsort(-ratio, kind="stable")[:200]:
        if ratio[i] < limit or len(chosen) == A_LEAF:
            break
        if taken[lows[i] : highs[i]].any():
            continue
        taken[lows[i] : highs[i]] = True
        low = -np.inf if lows[i] == 0 else float(x[starts[lows[i]]])
        high = np.inf if highs[i] == total else float(x[starts[highs[i]]])
        chosen.append((float(ratio[i]), low, high))
    return chosen


def _starts(x: Array) -> Array:
    """Where cells with about equally many draws each begin in a sorted leaf; equal numbers stay together."""
    count = int(min(CELLS, len(x) // LEAST))
    ends = x[np.linspace(0, len(x), count, endpoint=False).astype(int)]
    return np.unique(np.searchsorted(x, ends, side="left"))


def _runs(total: int) -> tuple[Array, Array]:
    """Runs of consecutive cells: lengths in powers of √2, starting at quarters of their length."""
    lows, highs = [], []
    length = 1.0
    while length <= total / 2:
        size = round(length)
        starts = np.arange(0, total - size + 1, max(1, size // 4))
        lows.append(starts)
        highs.append(starts + size)
        lows.append(np.array([total - size]))
        highs.append(np.array([total]))
        length *= 1.414
    return np.concatenate(lows), np.concatenate(highs)


def _log_ratio(n: Array, k: Array, m: Array) -> Array:
    """How much better k/n than m/n explains k of n labels: n·KL(k/n ‖ m/n)."""
    return np.asarray(special.rel_entr(k, m) + special.rel_entr(n - k, n - m))
