"""Wide outputs (vectors up to thousands of coordinates) reduced to a few telling columns.

Learned on training rows: the linear discriminant (difference of the two means through the inverse pooled covariance),
a diagonal quadratic discriminant (coordinates whose variance differs), the coordinates with the largest mean
difference, and label-free summaries: largest and smallest standardised coordinate, squared norm, finest granularity,
number of tokens. A coordinate that may be a token (True, None, a word) counts as several: one indicator for each
frequent token.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from audit.auditor.learn.features import lowest_bit
from audit.auditor.learn.normal import ScoreTables
from audit.auditor.terms.outputs import Table

Array = np.ndarray

WIDE = 12
"""Outputs with more leaves than this are reduced first: chosen for speed; a design has up to 40 columns a leaf."""
FULL_COVARIANCE = 400
"""Beyond this many coordinates the covariance is taken as diagonal: chosen for speed; to solve costs its cube."""
TOP = 4
"""Coordinates that are kept as they are, those with the largest difference of means: chosen for power."""
COLUMNS, FIRST = TOP + 9, 5
"""Of a reduced table before the telling ones are kept, and where among them the TOP coordinates begin."""
FOLDS = 5
"""Parts of the training rows, each reduced by what the others say: chosen for power."""
MANY_ROWS = 100
"""So many rows a coordinate tell the directions almost exactly (to a tenth of their spread): folds are not needed."""
CENTRE_ROWS = 2000
"""Rows whose median is the origin of each coordinate: where it lies hardly matters."""
LEVELS, MOST_LEVELS, RARE = 8, 4096, 8
"""Indicators a coordinate, and in all; a token seen less often than RARE in the first CENTRE_ROWS rows has none."""


def settled(table: Table) -> bool:
    """Whether there are rows enough to tell the directions almost exactly."""
    return len(table) >= MANY_ROWS * table.width


@dataclass(frozen=True)
class Reducer:
    """The fitted projections."""

    centre: Array
    spread: Array
    direction: Array
    curvature: Array
    top: Array
    signs: Array
    grained: bool
    levels: Array
    """Of each indicator: the coordinate and the token."""
    scores: ScoreTables | None = None
    """Of each coordinate, where there are not too many: what does not depend on how heavy its tails are."""
    score_direction: Array | None = None
    square_direction: Array | None = None
    kept: Array | None = None

    @staticmethod
    def fit(table: Table, labels: Array) -> Reducer:
        """Means, covariance and the coordinates that differ most."""
        levels = _levels(table)
        x = _coordinates(table, levels, 0.0)
        one, zero = x[labels == 1], x[labels == 0]
        centre = np.median(x[:CENTRE_ROWS], axis=0)
        gap = one.mean(axis=0) - zero.mean(axis=0)
        v1, v0 = one.var(axis=0), zero.var(axis=0)
        pooled = (v1 + v0) / 2
        floor = max(float(pooled.max()) * 1e-9, 1e-300)
        spread = np.sqrt(np.maximum(pooled, floor))
        noise = np.sqrt(v1 / max(len(one), 1) + v0 / max(len(zero), 1)) + np.sqrt(floor)
        top = np.argsort(-np.abs(gap) / noise, kind="stable")[:TOP]
        curvature = (1 / np.maximum(v0, floor) - 1 / np.maximum(v1, floor)) / 2
        doubt = np.sqrt(8 / max(len(labels), 1)) / np.maximum(pooled, floor)
        curvature = np.where(np.abs(curvature) > 2.5 * doubt, curvature, 0.0)
        grained = bool(np.any(np.frexp(x[:50])[0] * 2.0**53 % 2 != 0))
        signs = np.where(gap[top] < 0, -1.0, 1.0)
        scores = ScoreTables.fit(x[:, :FULL_COVARIANCE])
        normal = scores(x)
        along = _discriminant_of(normal, labels)
        across = _discriminant_of(normal**2, labels)
        direction = _discriminant(one, zero, gap, spread)
        return Reducer(centre, spread, direction, curvature, top, signs, grained, levels, scores, along, across)

    @staticmethod
    def learn(table: Table, labels: Array) -> tuple[Reducer, Table]:
        """The reducer, and the training rows reduced as rows that it has not seen would be.

        On the rows it was fitted to a discriminant of few rows and many coordinates separates the labels even if
        nothing does; a regression on such columns would be far too sure. So, unless there are many rows, each fold is
        reduced by what the other folds say.
        """
        reducer = Reducer.fit(table, labels)
        if settled(table) or min(labels.sum(), (1 - labels).sum()) < FOLDS * 2:
            columns = reducer.reduce(table).numbers
        else:
            columns = np.empty((len(table), COLUMNS))
            fold = np.arange(len(table)) % FOLDS
            for f in range(FOLDS):
                inside, outside = np.flatnonzero(fold == f), np.flatnonzero(fold != f)
                other = Reducer.fit(table.take(outside), labels[outside])
                columns[inside] = other.reduce(table.take(inside)).numbers
        kept = _telling(columns, labels)
        return replace(reducer, kept=kept), Table(columns[:, kept], None, table.keys)

    @property
    def coordinates(self) -> list[int]:
        """Which of the few columns are coordinates as they are: only of these it means something how fine the floats
        are.
        """
        assert self.kept is not None
        return np.flatnonzero((self.kept >= FIRST) & (self.kept < FIRST + len(self.top))).tolist()

    def reduce(self, table: Table) -> Table:
        """The few columns, as a narrow table with the same keys; those that are not kept are not worked out."""
        x = _coordinates(table, self.levels, self.centre[: table.width])
        away = x - self.centre

        @functools.cache
        def z() -> Array:
            return np.asarray(away / self.spread)

        @functools.cache
        def normal() -> Array:
            assert self.scores is not None
            return self.scores(x)

        columns: list[Callable[[], Array]] = [
            lambda: away @ self.direction,
            lambda: (away * away) @ self.curvature,
            lambda: z().max(axis=1),
            lambda: z().min(axis=1),
            lambda: np.einsum("ij,ij->i", z(), z()),
            *(functools.partial(_oriented, x, j, s) for j, s in zip(self.top, self.signs, strict=True)),
            lambda: lowest_bit(x).min(axis=1) if self.grained else np.zeros(len(x)),
            lambda: (table.token_matrix() != 0).sum(axis=1).astype(float),
            lambda: normal() @ self.score_direction,
            lambda: normal() ** 2 @ self.square_direction,
        ]
        kept = range(len(columns)) if self.kept is None else self.kept
        return Table(np.stack([columns[j]() for j in kept], axis=1), None, table.keys)


def _discriminant_of(x: Array, labels: Array) -> Array:
    one, zero = x[labels == 1], x[labels == 0]
    spread = np.sqrt(np.maximum((one.var(axis=0) + zero.var(axis=0)) / 2, 1e-9), dtype=float)
    return _discriminant(one, zero, one.mean(axis=0) - zero.mean(axis=0), spread)


def _levels(table: Table) -> Array:
    """The tokens that get an indicator: at each coordinate the frequent ones but the most frequent.

    Being a number (token 0), or beyond the end of a shorter output, is such a token, too.
    """
    found: list[tuple[int, int]] = []
    for leaf in range(0 if table.tokens is None else table.width):
        assert table.tokens is not None
        codes, counts = np.unique(table.tokens[:CENTRE_ROWS, leaf], return_counts=True)
        order = np.argsort(-counts, kind="stable")[1 : LEVELS + 1]
        found += [(leaf, int(codes[i])) for i in order if counts[i] >= RARE]
    return np.array(found[:MOST_LEVELS], dtype=np.int64).reshape(-1, 2)


def _coordinates(table: Table, levels: Array, filler: Any) -> Array:
    """The numbers, with `filler` in place of tokens, and the indicators of tokens."""
    if table.tokens is None and len(levels) == 0:
        return table.numbers
    numbers = np.where(np.isfinite(table.numbers), table.numbers, filler)
    return np.concatenate([numbers, table.token_matrix()[:, levels[:, 0]] == levels[:, 1]], axis=1)


def _oriented(x: Array, column: int, sign: float) -> Array:
    return np.asarray(sign * x[:, column])


def _telling(columns: Array, labels: Array) -> Array:
    """The columns whose two empirical laws differ (Kolmogorov–Smirnov beyond chance); the discriminant always."""
    n1, n0 = max(1, int(labels.sum())), max(1, int((1 - labels).sum()))
    limit = 1.8 * np.sqrt(1 / n1 + 1 / n0)
    steps = np.where(labels == 1, 1 / n1, -1 / n0)
    gaps = [_largest_gap(column, steps) for column in columns.T]
    return np.array([j for j, gap in enumerate(gaps) if j == 0 or gap > limit])


def _largest_gap(column: Array, steps: Array) -> float:
    """Between two empirical distribution functions, where equal numbers end."""
    order = np.argsort(column)
    ends = np.append(np.diff(column[order]) > 0, True)
    return float(np.abs(np.cumsum(steps[order]))[ends].max())


def _discriminant(one: Array, zero: Array, gap: Array, spread: Array) -> Array:
    """The direction Σ⁻¹(mean₁ − mean₀), Σ pooled and slightly shrunk towards its diagonal."""
    width = len(gap)
    rows = min(len(one), len(zero))
    if width > FULL_COVARIANCE or rows < 2 * width:
        return np.asarray(gap / spread**2)
    scaled = np.concatenate([(side - side.mean(axis=0)) / spread for side in (one, zero)]).astype(np.float32)
    correlation = (scaled.T @ scaled).astype(float) / len(scaled)
    correlation[np.diag_indices(width)] += 0.01 + width / len(scaled)
    solved = linalg.solve(correlation, gap / spread, assume_a="pos", check_finite=False)
    return np.asarray(solved / spread)
