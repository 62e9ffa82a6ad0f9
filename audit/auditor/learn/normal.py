"""Normal scores: what a coordinate says once its tails no longer matter, of one column or of many in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

Array = np.ndarray

KNOTS = 65
"""Points of the empirical distribution function through which normal scores are interpolated."""
ROWS = 20_000
"""Rows from which that function is taken, about: chosen for speed."""
CELLS = 2048
"""Cells of a coordinate's table: chosen; a cell is a thousandth of the spread or so."""

LOOKED_AT = 2000
"""Rows that say where cells have to be fine."""
TOGETHER = 2**15
"""Numbers that are worked on at a time: chosen for speed, so that they stay in the cache."""


@dataclass(frozen=True)
class NormalScores:
    """A monotone map of one leaf to about a standard normal: what it keeps is the order, whatever the tails."""

    points: Array
    values: Array

    @staticmethod
    def fit(x: Array) -> NormalScores:
        """From the finite values of a leaf."""
        known = x[np.isfinite(x)]
        known = np.sort(known[:: max(1, len(known) // ROWS)])
        if len(known) == 0:
            return NormalScores(np.array([0.0, 1.0]), np.zeros(2))
        levels = np.unique(np.concatenate([np.linspace(0, 1, KNOTS), [0.002, 0.005, 0.01, 0.99, 0.995, 0.998]]))
        at = levels * (len(known) - 1)
        below, above = known[np.floor(at).astype(int)], known[np.ceil(at).astype(int)]
        points, where = np.unique(below + (at % 1) * (above - below), return_inverse=True)
        middle = np.bincount(where, np.clip(levels, 0.5 / len(known), 1 - 0.5 / len(known))) / np.bincount(where)
        return NormalScores(points, special.ndtri(middle)) if len(points) > 1 else NormalScores(points, np.zeros(1))

    def __call__(self, x: Array) -> Array:
        """The scores; 0 where the leaf is no number."""
        return np.asarray(np.where(np.isfinite(x), np.interp(x, self.points, self.values), 0.0))


@dataclass(frozen=True)
class ScoreTables:
    """The normal scores of many coordinates, of all rows in one pass: each line is bent to (−1, 1) and cut into cells,
    and what stands in a table is the score of a cell's middle.
    """

    centre: Array
    scale: Array
    table: Array
    """Of each coordinate CELLS scores, one coordinate after the other."""

    @staticmethod
    def fit(x: Array) -> ScoreTables:
        """From rows of coordinates."""
        return ScoreTables.of([NormalScores.fit(column) for column in x.T], x)

    @staticmethod
    def of(maps: Sequence[NormalScores], x: Array) -> ScoreTables:
        """The tables of these maps; rows of coordinates say where cells have to be fine."""
        few = [column[np.isfinite(column)] for column in x[:LOOKED_AT].T]
        centre = np.array([np.median(c) if len(c) else 0.0 for c in few])
        ends = np.array([np.quantile(c, [0.25, 0.75]) if len(c) else (0.0, 0.0) for c in few]).reshape(-1, 2)
        spread = np.array([float(np.std(c)) if len(c) else 0.0 for c in few])
        scale = np.where(ends[:, 1] > ends[:, 0], ends[:, 1] - ends[:, 0], spread)
        scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
        bent = (np.arange(CELLS) + 0.5) * (2 / CELLS) - 1
        places = bent / (1 - np.abs(bent))
        scores = [m(centre[j] + scale[j] * places) for j, m in enumerate(maps)]
        return ScoreTables(centre, scale, np.concatenate(scores).astype(np.float32))

    def __call__(self, x: Array) -> Array:
        """The scores of the first coordinates of each row, in single precision; 0 for what is no number."""
        width = len(self.centre)
        found = np.empty((len(x), width), dtype=np.float32)
        rows = max(1, TOGETHER // max(width, 1))
        for start in range(0, len(x), rows):
            found[start : start + rows] = self._scores(x[start : start + rows, :width])
        return found

    def _scores(self, x: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            place = x - self.centre
            place /= self.scale
            place /= 1 + np.abs(place)
        place *= CELLS / 2
        place += CELLS / 2
        np.fmin(place, CELLS - 1.0, out=place)
        place[np.isnan(place)] = 0.0
        scores = self.table[place.astype(np.intp) + CELLS * np.arange(len(self.centre))]
        scores[~np.isfinite(x)] = 0.0
        return np.asarray(scores)
