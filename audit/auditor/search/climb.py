"""One numerical climber for worst-case searches: derivative-free, bounded, the same answer for the same seed.

`climb(f, x0, bounds, budget, seed)` looks for a large value of f in a box. It is a lower bound on the maximum, with the
point that attains it, never a proof: what it finds is checked again in exact or ball arithmetic by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Point = npt.NDArray[np.float64]

_SMALLEST = 1e-10
"""Of the range, the step at which a climb ends: near the rounding of doubles."""
_GROW, _SHRINK = 1.7, 0.9
"""Of a step's scale on success and on failure: 1.7·0.9⁵ = 1, the one-fifth success rule of evolution strategies."""


@dataclass(frozen=True)
class Best:
    """The best point found, its value, and how often f was evaluated."""

    x: Point
    value: float
    evaluations: int


def climb(
    f: Callable[[Point], Any],
    x0: Sequence[float] | Point,
    bounds: Sequence[tuple[float, float]],
    budget: int = 2000,
    seed: int = 0,
) -> Best:
    """The largest f(x) found over the box `bounds` within `budget` evaluations, starting at `x0`.

    A climb takes steps of three kinds: Gaussian in all coordinates, Gaussian in one coordinate, and one coordinate
    moved to an end of its range (worst cases sit in corners). Steps that do not lower f are kept; a scale for each of
    the first two kinds grows on success and shrinks on failure, down to 1e-10 of the range. The first climb starts at
    x0; when both scales, or a quarter of the budget, are used up the next one starts, in turn, at a uniform point or at
    the best one with scales drawn anew, until the budget is spent. A value that is NaN counts as −∞; an exception in f
    is not caught.
    """
    low, high = _box(bounds)
    start = np.clip(_start(x0, len(low)), low, high)
    if budget < 1:
        raise ValueError(f"budget = {budget} must be at least 1")
    search = _Search(f, low, high, budget, np.random.default_rng(seed))
    search.climb_from(start, search.evaluate(start), 0.25)
    while search.left > 0:
        fresh = search.uniform()
        search.climb_from(fresh, search.evaluate(fresh), 0.25)
        for _ in range(3):
            search.climb_from(search.best, search.value, search.scale())
    return Best(search.best, search.value, budget - search.left)


def _box(bounds: Sequence[tuple[float, float]]) -> tuple[Point, Point]:
    ends = np.array([tuple(pair) for pair in bounds], dtype=float)
    if ends.ndim != 2 or ends.shape[1] != 2 or not np.all(np.isfinite(ends)) or np.any(ends[:, 0] > ends[:, 1]):
        raise ValueError(f"bounds = {bounds} must be a non-empty list of finite pairs (low, high) with low ≤ high")
    return ends[:, 0], ends[:, 1]


def _start(x0: Sequence[float] | Point, dim: int) -> Point:
    start = np.array(x0, dtype=float)
    if start.shape != (dim,) or not np.all(np.isfinite(start)):
        raise ValueError(f"x0 = {x0} must have {dim} finite entries, one for each of the bounds")
    return start


class _Search:
    """What the climbs of one search share: f, the box, the budget, the generator and the best point so far."""

    def __init__(
        self, f: Callable[[Point], Any], low: Point, high: Point, budget: int, rng: np.random.Generator
    ) -> None:
        self.f, self.low, self.high, self.left, self.rng = f, low, high, budget, rng
        self.width = high - low
        self.share = max(200, budget // 4)
        self.best, self.value = low.copy(), -math.inf

    def evaluate(self, x: Point) -> float:
        self.left -= 1
        value = float(self.f(x.copy()))
        value = -math.inf if math.isnan(value) else value
        if value > self.value or self.value == -math.inf:
            self.best, self.value = x.copy(), value
        return value

    def uniform(self) -> Point:
        return self.low + self.width * self.rng.random(len(self.low))

    def scale(self) -> float:
        """Log-uniform in [1e-6, 1/4]."""
        return float(0.25 * (4e-6) ** self.rng.random())

    def climb_from(self, x: Point, value: float, scale: float) -> None:
        """Climb until both scales (of steps in all coordinates, in one) or a share of the budget are used up."""
        scales = [scale, scale]
        stop = max(0, self.left - self.share)
        while self.left > stop and max(scales) > _SMALLEST:
            kind = self.rng.random()
            one = int(kind >= 0.5)
            candidate = self._corner_step(x) if kind >= 0.9 else self._step(x, scales[one], bool(one))
            found = self.evaluate(candidate)
            scales[one] = min(0.5, scales[one] * _GROW) if found > value else scales[one] * _SHRINK
            if found >= value:
                x, value = candidate, found

    def _step(self, x: Point, scale: float, one: bool) -> Point:
        """A Gaussian step in one coordinate or in all."""
        step = scale * self.width * self.rng.standard_normal(len(x))
        if one:
            step[np.arange(len(x)) != self.rng.integers(len(x))] = 0
        return np.clip(x + step, self.low, self.high)

    def _corner_step(self, x: Point) -> Point:
        """One coordinate to an end of its range."""
        j = int(self.rng.integers(len(x)))
        step = x.copy()
        step[j] = self.low[j] if self.rng.random() < 0.5 else self.high[j]
        return step
