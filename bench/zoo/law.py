"""Exact laws of a mechanism on a pair, and what the best possible auditor could say about them.

A law is a partition of the output space with the exact mass of each cell on the dataset (q) and on the neighbour (p).
For a discrete mechanism the cells are its outputs; for a scalar one they are intervals of a fine grid, with masses
from the distribution functions. Everything is computed from the two arrays:

- `privacy_profile(ε)` = Σ (p − e^ε q)₊ (the larger of both directions), `true_epsilon(δ)` its inverse;
- `ideal(N)`: the bound that two Clopper–Pearson intervals (α/2 each) give on the best event, N draws a side, at
  expected counts;
- `conditional(N)`: the bound that one conditional binomial test gives on the best one-sided event, 2N draws in all;
  `unlucky`: the same in a run that is not lucky.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from audit.auditor.test.confidence import Selection, lower_bound

Array = np.ndarray


@dataclass(frozen=True)
class Law:
    """Masses of the cells of a partition: `q` on the dataset, `p` on the neighbour."""

    q: Array
    p: Array
    exact_epsilon: float | None = None
    """The pure ε in closed form, where the partition only approaches it."""

    def __post_init__(self) -> None:
        """Both are probabilities."""
        for name, mass in (("p", self.p), ("q", self.q)):
            if mass.min() < -1e-12 or abs(mass.sum() - 1) > 1e-6:
                raise ValueError(f"{name} is not a probability vector: sum {mass.sum()}, least {mass.min()}")

    def privacy_profile(self, epsilon: float) -> float:
        """The smallest δ for this ε on this pair, both directions."""
        factor = math.exp(epsilon)
        return float(max(np.maximum(self.p - factor * self.q, 0).sum(), np.maximum(self.q - factor * self.p, 0).sum()))

    def true_epsilon(self, delta: float = 0.0) -> float:
        """The smallest ε for this δ; infinite if none."""
        if delta == 0 and self.exact_epsilon is not None:
            return self.exact_epsilon
        target = delta * (1 + 1e-9)
        if self.privacy_profile(60.0) > target:
            return math.inf
        if self.privacy_profile(0.0) <= target:
            return 0.0
        if delta == 0:
            live = (self.p > 0) & (self.q > 0)
            return float(np.abs(np.log(self.p[live] / self.q[live])).max())
        return float(optimize.brentq(lambda e: self.privacy_profile(e) - target, 0.0, 60.0, xtol=1e-10))

    def events(self) -> list[tuple[Array, Array]]:
        """Neyman–Pearson events: cumulated masses (of the likelier side, of the other) in order of likelihood ratio."""
        out = []
        for a, b in ((self.p, self.q), (self.q, self.p)):
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(a > 0, np.log(a) - np.log(b), -np.inf)
            order = np.argsort(-ratio, kind="stable")
            out.append((np.cumsum(a[order]), np.cumsum(b[order])))
        return out

    def ideal(self, samples: int, delta: float = 0.0, confidence: float = 0.95) -> float:
        """Clopper–Pearson on the best event of the known law."""
        half, best = (1 - confidence) / 2, 0.0
        for a, b in self.events():
            hits = np.minimum(a, 1.0) * samples
            low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1e-9), samples - hits + 1, half), 0.0)
            others = np.minimum(b, 1.0) * samples
            high = special.betaincinv(others + 1, np.maximum(samples - others, 1e-9), 1 - half)
            with np.errstate(divide="ignore", invalid="ignore"):
                bound = np.log((low - delta) / high)
            best = max(best, float(np.nanmax(np.where(np.isfinite(bound), bound, 0.0))))
        return best

    def conditional(self, samples: int, delta: float = 0.0, confidence: float = 0.95) -> float:
        """One conditional binomial on the best one-sided event of the known law, at expected counts."""
        return self._best_event(samples, delta, confidence)[0]

    def unlucky(self, chance: float, samples: int, delta: float = 0.0, confidence: float = 0.95) -> float:
        """What that test says if it is as unlucky as happens with this chance: the luck of the draws, whoever tests."""
        _, right, wrong = self._best_event(samples, delta, confidence)
        n = round(right + wrong)
        k = int(special.bdtrik(chance, n, right / (right + wrong))) if n else 0
        return lower_bound(Selection(n, min(n, k), 2 * samples, delta), 1 - confidence)

    def _best_event(self, samples: int, delta: float, confidence: float) -> tuple[float, float, float]:
        """The bound on the best one-sided event, and how many of its draws are right and wrong, as expected."""
        best = (0.0, 0.0, 0.0)
        for a, b in self.events():
            right, wrong = a * samples, b * samples
            if delta == 0:
                q = special.betaincinv(np.maximum(right, 1e-9), wrong + 1, 1 - confidence)
                i = int(np.argmax(q))
                best = max(best, (float(special.logit(q[i])), float(right[i]), float(wrong[i])))
                continue
            near = np.argsort(-(np.log(np.maximum(right - samples * delta, 1e-9)) - np.log(wrong + 3)))[:2000:25]
            for i in near:
                n, k = round(float(right[i] + wrong[i])), round(float(right[i]))
                if 0 < k <= n:
                    bound = lower_bound(Selection(n, k, 2 * samples, delta), 1 - confidence)
                    best = max(best, (bound, float(right[i]), float(wrong[i])))
        return best


def discrete(q: Array, p: Array, exact_epsilon: float | None = None) -> Law:
    """A law on finitely many outputs (tiny rounding is normalised away)."""
    return Law(np.asarray(q) / np.sum(q), np.asarray(p) / np.sum(p), exact_epsilon)


def from_cdfs(cdf: Callable[[Array, int], Array], grid: Array, exact_epsilon: float | None = None) -> Law:
    """A law on the real line: cells between the points of the grid, and the two tails. `cdf(x, side)`."""
    masses = [np.diff(np.concatenate([[0.0], cdf(grid, side), [1.0]])) for side in (0, 1)]
    return discrete(np.maximum(masses[0], 0), np.maximum(masses[1], 0), exact_epsilon)


def laplace_cdf(x: Array, scale: float = 1.0) -> Array:
    """The distribution function of a Laplace variable."""
    tail = 0.5 * np.exp(-np.abs(x) / scale)
    return np.asarray(np.where(x < 0, tail, 1 - tail))


def normal_cdf(x: Array) -> Array:
    """The distribution function of a standard normal variable."""
    return np.asarray(special.ndtr(x))
