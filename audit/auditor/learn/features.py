"""From a table of outputs to a design matrix that a linear score can use.

Narrow outputs (few leaves) get, for each numeric leaf, a piecewise-linear function with jumps: hinges and steps at
quantiles of the pooled sample and at the extremes of each side (supports that differ end there). Floats get their
granularity too: the exponent of the lowest set bit, as cumulative indicators. Tokens, and numeric leaves with few
values, get one indicator a value and position; the latter a line too. Wide outputs are first reduced to a few columns
by `audit.auditor.learn.wide`.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field, replace

import numpy as np

from audit.auditor.terms.outputs import ABSENT, EXACT_BITS, FALSE, TRUE, Table

Array = np.ndarray

RICH = np.array(
    [0.0003, 0.002, 0.01, 0.03, 0.08, 0.16, 0.27, 0.38, 0.5, 0.62, 0.73, 0.84, 0.92, 0.97, 0.99, 0.998, 0.9997]
)
PLAIN = np.array([0.002, 0.02, 0.08, 0.2, 0.35, 0.5, 0.65, 0.8, 0.92, 0.98, 0.998])
POOR = np.array([0.02, 0.15, 0.5, 0.85, 0.98])
"""Knots, as quantiles of the pooled sample: the more numeric leaves, the fewer for each. Chosen for power: dense in
the tails, where privacy losses are large.
"""
FEW_VALUES = 12
"""A numeric leaf with at most this many values is treated as a category: chosen for power."""
RARE = 8
"""A category seen less often than this gets no indicator of its own: chosen for power."""

LEAST_BENT = 40
"""A leaf with fewer numbers than this gets no line of its own: chosen for power."""

ROWS = 4096
"""Rows of the design that are filled at a time: chosen for speed, so that they stay in the cache."""

COARSE = 12
"""Rounded floats count as lying on a grid if some have this many zero bits more than the finest: by chance one in
2¹² has.
"""

HEAVY = 200.0
"""A leaf whose range is more than so many times its scale has heavy tails: of 40 000 normal draws it is about ten."""

LINEAR_PENALTY, HINGE_PENALTY, STEP_PENALTY = 0.01, 1.0, 2.0
"""Of the columns of a number, up to a common factor that the data choose: chosen for power."""
LEVEL_PENALTY = 3.0
"""Of an indicator, whatever the factor: a few telling values among many smooth columns must not be shrunk with them.
Chosen for power.
"""


@dataclass(frozen=True)
class Column:
    """One fitted transformation of one leaf into columns of the design."""

    leaf: int
    kind: str
    points: Array
    jumps: Array = field(default_factory=lambda: np.zeros(0))
    centre: float = 0.0
    scale: float = 1.0
    low: float = 0.0
    high: float = 0.0
    heavy: bool = False
    """Whether the leaf has tails so heavy that it is read on the scale of asinh."""

    @property
    def penalties(self) -> Array:
        """One ridge penalty a design column, up to the common factor; 0 for an indicator."""
        count = len(self.points)
        if self.kind == "smooth":
            hinges, steps = np.full(count, HINGE_PENALTY), np.full(len(self.jumps), STEP_PENALTY)
            return np.concatenate([[LINEAR_PENALTY], hinges, steps])
        return np.zeros(count)

    @property
    def width(self) -> int:
        """How many design columns there are."""
        return len(self.points) + (1 + len(self.jumps) if self.kind == "smooth" else 0)

    def fill(self, design: Array, numbers: Array, tokens: Array | None) -> None:
        """Write the design columns, n × width."""
        x = numbers[:, self.leaf]
        if self.kind == "smooth" and np.isfinite(x).all():
            self._smooth(x, design)
        else:
            design[:] = self.apply(numbers, tokens)

    def apply(self, numbers: Array, tokens: Array | None) -> Array:
        """The design columns, n × width."""
        if self.kind == "token":
            assert tokens is not None
            return np.asarray(tokens[:, self.leaf][:, None] == self.points, dtype=float)
        x = numbers[:, self.leaf]
        if self.kind == "value":
            return np.asarray(x[:, None] == self.points, dtype=float)
        known = np.isfinite(x)
        if self.kind == "granularity":
            level = lowest_bit(np.where(known, x, 0.0))
            return np.asarray((level[:, None] <= self.points) & known[:, None], dtype=float)
        columns, smooth = np.zeros((len(x), self.width)), np.empty((int(known.sum()), self.width))
        self._smooth(x[known], smooth)
        columns[known] = smooth
        return columns

    def _smooth(self, x: Array, design: Array) -> None:
        u = np.clip(x, self.low, self.high)
        v = self._scaled(u)
        design[:, 0] = v
        for at, knot in enumerate(self._scaled(self.points), 1):
            design[:, at] = np.maximum(v - knot, 0.0)
        for at, jump in enumerate(self.jumps, 1 + len(self.points)):
            design[:, at] = u >= jump

    def _scaled(self, x: Array) -> Array:
        v = x / self.scale - self.centre / self.scale
        return np.asarray(np.arcsinh(v)) if self.heavy else v


def lowest_bit(x: Array) -> Array:
    """The exponent of the lowest set bit of each float (x is an odd multiple of 2**that); 0.0 gives 1100."""
    mantissa, exponent = np.frexp(x)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    low = whole & -whole
    zeros = np.round(np.log2(np.where(low > 0, low, 1).astype(float)))
    return np.asarray(np.where(whole > 0, exponent - 53 + zeros, 1100), dtype=float)


def with_summaries(table: Table) -> Table:
    """The table with columns that compare outputs of different length: how many leaves, how many True, the last number.

    Only for outputs of several leaves of which some are tokens; others are returned as they are.
    """
    if table.tokens is None or table.width == 1:
        return table
    known = table.tokens == 0
    last = table.width - 1 - np.argmax(known[:, ::-1], axis=1)
    number = np.where(known.any(axis=1), np.take_along_axis(table.numbers, last[:, None], axis=1)[:, 0], np.nan)
    counts = [(table.tokens != ABSENT).sum(axis=1), (table.tokens == TRUE).sum(axis=1)]
    extra = np.stack([*(c.astype(float) for c in counts), number], axis=1)
    tokens = np.concatenate([table.tokens, np.zeros(extra.shape, dtype=np.int32)], axis=1)
    return Table(np.concatenate([table.numbers, extra], axis=1), tokens, table.keys, table.names)


class Encoder:
    """The fitted transformations of all leaves of a narrow table."""

    def __init__(self, columns: list[Column], width: int):
        self.columns = columns
        self.width = width
        self.penalties = np.concatenate([[1e-6], *(c.penalties for c in columns)])
        self.fixed = np.where(self.penalties == 0, LEVEL_PENALTY, 0.0)

    @staticmethod
    def fit(table: Table, labels: Array, *, grained: Container[int] | None = None) -> Encoder:
        """Look at the training rows: which values occur, where the quantiles lie, how fine the floats are.

        `grained` are the leaves of which the last is of interest (None: all): of products or sums of leaves it is not.
        """
        columns: list[Column] = []
        tokens = table.tokens
        repeated = _repeats_last(table.numbers)
        smooth = sum(_is_smooth(table.numbers[:, leaf]) for leaf in range(table.width) if not repeated[leaf])
        for leaf in range(table.width):
            if tokens is not None:
                columns += _token_columns(leaf, tokens[:, leaf])
            if repeated[leaf]:
                columns += _bend_column(leaf, table.numbers[:, leaf])
            else:
                fine = grained is None or leaf in grained
                columns += _number_columns(leaf, table.numbers[:, leaf], labels, smooth, fine)
        return Encoder(_without_repeats(columns, table), table.width)

    def design(self, table: Table) -> Array:
        """The design matrix in single precision, first column ones; a few rows at a time, which stay in the cache."""
        matrix = np.empty((len(table), len(self.penalties)), dtype=np.float32)
        for start in range(0, len(table), ROWS):
            self._fill(matrix[start : start + ROWS], table.take(slice(start, start + ROWS)))
        return matrix

    def _fill(self, matrix: Array, table: Table) -> None:
        matrix[:, 0] = 1.0
        tokens = table.token_matrix() if any(c.kind == "token" for c in self.columns) else None
        at = 1
        for column in self.columns:
            column.fill(matrix[:, at : at + column.width], table.numbers, tokens)
            at += column.width


def _without_repeats(columns: list[Column], table: Table) -> list[Column]:
    """The columns without indicators that say the same (or the opposite) of every row as an earlier one."""
    seen: set[bytes] = set()
    kept: list[Column] = []
    for column in columns:
        if column.kind not in ("token", "value"):
            kept.append(column)
            continue
        flags = column.apply(table.numbers, table.tokens).astype(bool)
        new = []
        for j in range(flags.shape[1]):
            mark = (flags[:, j] ^ flags[0, j]).tobytes()
            if mark not in seen:
                seen.add(mark)
                new.append(j)
        if new:
            kept.append(replace(column, points=column.points[new]))
    return kept


def _token_columns(leaf: int, codes: Array) -> list[Column]:
    values, counts = np.unique(codes, return_counts=True)
    frequent = values[(counts >= RARE) & (values != 0)]
    if set(values) == {TRUE, FALSE}:
        frequent = np.array([TRUE])
    if len(values) < 2 or len(frequent) == 0:
        return []
    order = np.argsort(-counts[np.isin(values, frequent)])
    return [Column(leaf, "token", frequent[order][:60])]


def _repeats_last(numbers: Array) -> Array:
    """Whether each leaf, wherever it is a number, is the number of the last column: that one is enough."""
    last = numbers[:, -1:]
    repeats = ((numbers == last) | np.isnan(numbers)).all(axis=0)
    repeats[-1] = False
    return np.asarray(repeats)


def _bend_column(leaf: int, x: Array) -> list[Column]:
    """A line with two bends: how the effect of a number depends on its position."""
    values = x[np.isfinite(x)]
    if len(values) < LEAST_BENT or not _is_smooth(values):
        return []
    q1, *points, q3 = np.quantile(values, [0.1, 0.3, 0.6, 0.9])
    scale = float((q3 - q1) / 2.5) or 1.0
    low, high = float(values.min()), float(values.max())
    return [Column(leaf, "smooth", np.array(points), centre=points[0], scale=scale, low=low, high=high)]


def _is_smooth(x: Array) -> bool:
    """Whether a leaf takes too many values to be a category."""
    values = x[np.isfinite(x)]
    return len(np.unique(values[:2000])) > FEW_VALUES


def _number_columns(leaf: int, x: Array, labels: Array, smooth: int, grained: bool) -> list[Column]:
    known = np.isfinite(x)
    values = x[known]
    if len(values) < 4:
        return []
    if not _is_smooth(values):
        distinct, counts = np.unique(values, return_counts=True)
        frequent = distinct[counts >= RARE][:60]
        levels = [Column(leaf, "value", frequent)] if len(frequent) > (0 if len(values) < len(x) else 1) else []
        return [*levels, *_trend_column(leaf, distinct, values)]
    line = _smooth_column(leaf, values, labels[known], smooth)
    return [line, *_granularity_column(leaf, values)] if grained else [line]


def _trend_column(leaf: int, distinct: Array, values: Array) -> list[Column]:
    """A line through the few values of a leaf: what the frequent ones say of the rare ones beyond them."""
    if len(distinct) < 3:
        return []
    none, scale = np.zeros(0), float(np.std(values)) or 1.0
    low, high = float(distinct[0]), float(distinct[-1])
    return [Column(leaf, "smooth", none, none, float(np.median(values)), scale, low, high)]


def _smooth_column(leaf: int, values: Array, labels: Array, smooth: int) -> Column:
    quantiles = RICH if smooth == 1 else PLAIN if smooth <= 3 else POOR
    resolvable = quantiles[np.minimum(quantiles, 1 - quantiles) * len(values) >= 5]
    points = np.unique(np.quantile(values, resolvable))
    jumps = np.unique(np.concatenate([points if smooth == 1 else points[:0], _turns(values, labels)]))
    q1, q3 = np.quantile(values, [0.1, 0.9])
    scale = float((q3 - q1) / 2.5) or float(np.std(values)) or 1.0
    low, high = float(values.min()), float(values.max())
    reach = min(0.3 * high - 0.3 * low, 6 * scale)
    heavy = bool(high / scale - low / scale > HEAVY)
    return Column(leaf, "smooth", points, jumps, float(np.median(values)), scale, low - reach, high + reach, heavy)


def _turns(values: Array, labels: Array) -> Array:
    """Where, coming from either end, the first values of the other label are met, and a little before that.

    A support that ends on one side only does so beyond the values that were seen: of many draws a few will lie there.
    """
    found = []
    for sign in (1.0, -1.0):
        x = sign * values
        opposite = labels != labels[np.argmin(x)]
        if not opposite.any():
            break
        near = np.flatnonzero(x <= x[opposite].min())
        near = near[np.argsort(x[near], kind="stable")]
        alone = int(np.argmax(opposite[near]))
        short = alone - int(np.ceil(np.log1p(alone)))
        found += [values[near[at if sign > 0 else at - 1]] for at in (short, alone) if at > 0]
    return np.array(found)


def _granularity_column(leaf: int, values: Array) -> list[Column]:
    lowest = lowest_bit(values)
    zeros = lowest - np.frexp(values)[1]
    fine = zeros.min()
    if fine > -EXACT_BITS and np.mean(zeros >= fine + COARSE) < 0.002:
        return []
    levels, counts = np.unique(lowest, return_counts=True)
    below = np.cumsum(counts)
    useful = levels[(below >= RARE) & (len(values) - below >= RARE)]
    useful = useful[:: max(1, len(useful) // 24)]
    return [Column(leaf, "granularity", useful)] if len(useful) else []
