"""Wide outputs (vectors up to thousands of coordinates) reduced to a few telling columns.

Learned on training rows: the linear discriminant (difference of the two means through the inverse pooled covariance),
a diagonal quadratic discriminant (coordinates whose variance differs), the coordinates with the largest mean
difference, and label-free summaries: largest and smallest standardised coordinate, squared norm, finest granularity,
number of tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from audit.blackbox.features import lowest_bit
from audit.blackbox.outputs import Table

Array = np.ndarray

WIDE = 12
"""Outputs with more leaves than this are reduced first."""
FULL_COVARIANCE = 400
"""Beyond this many coordinates the covariance is taken as diagonal."""
TOP = 4


@dataclass(frozen=True)
class Reducer:
    """The fitted projections."""

    centre: Array
    spread: Array
    direction: Array
    curvature: Array
    top: Array
    grained: bool
    kept: Array | None = None

    @staticmethod
    def fit(table: Table, labels: Array) -> Reducer:
        """Means, covariance and the coordinates that differ most."""
        x = np.where(np.isfinite(table.numbers), table.numbers, 0.0)
        one, zero = x[labels == 1], x[labels == 0]
        centre = np.median(x, axis=0)
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
        full = Reducer(centre, spread, _discriminant(one, zero, gap, spread), curvature, top, grained)
        return replace(full, kept=_telling(full.reduce(table).numbers, labels))

    def reduce(self, table: Table) -> Table:
        """The few columns, as a narrow table with the same keys."""
        known = np.isfinite(table.numbers)
        x = np.where(known, table.numbers, self.centre)
        away = x - self.centre
        z = away / self.spread
        columns = [
            z @ (self.direction * self.spread),
            (away * away) @ self.curvature,
            z.max(axis=1),
            z.min(axis=1),
            np.einsum("ij,ij->i", z, z),
            *(x[:, j] for j in self.top),
        ]
        if self.grained:
            columns.append(lowest_bit(x).min(axis=1))
        if table.tokens is not None:
            columns.append((table.tokens != 0).sum(axis=1).astype(float))
        stacked = np.stack(columns, axis=1)
        return Table(stacked if self.kept is None else stacked[:, self.kept], None, table.keys)


def _telling(columns: Array, labels: Array) -> Array:
    """The columns whose two empirical laws differ (Kolmogorov–Smirnov beyond chance); the discriminant always."""
    n1, n0 = max(1, int(labels.sum())), max(1, int((1 - labels).sum()))
    limit = 1.8 * np.sqrt(1 / n1 + 1 / n0)
    steps = np.where(labels == 1, 1 / n1, -1 / n0)
    gaps = [np.abs(np.cumsum(steps[np.argsort(c, kind="stable")])).max() for c in columns.T]
    return np.array([j for j, gap in enumerate(gaps) if j == 0 or gap > limit])


def _discriminant(one: Array, zero: Array, gap: Array, spread: Array) -> Array:
    """The direction Σ⁻¹(mean₁ − mean₀), Σ pooled and slightly shrunk towards its diagonal."""
    width = len(gap)
    rows = min(len(one), len(zero))
    if width > FULL_COVARIANCE or rows < 2 * width:
        return np.asarray(gap / spread**2)
    scaled = np.concatenate([one - one.mean(axis=0), zero - zero.mean(axis=0)]) / spread
    correlation = scaled.T @ scaled / len(scaled)
    correlation[np.diag_indices(width)] += 0.01 + width / len(scaled)
    solved = linalg.solve(correlation, gap / spread, assume_a="pos", check_finite=False)
    return np.asarray(solved / spread)
