"""The privacy loss of additive noise, sum by sum, and of many sums together.

A sum q + b·U, with U of a known density f, has on a neighbour whose quantity is q + rb (r, the *ratio*, is the
difference in units of the noise) the loss ln f(u) − ln f(u − r) at U = u. Independent losses add up: Gaussian ones in
closed form, others on a grid, by Fourier transforms (Koskela, Jälkö, Honkela 2020). A loss between two points of the
grid is split between them so that its mean stays, which errs upwards by the square of a step.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy import optimize, special, stats

Array = np.ndarray

FAMILIES: Mapping[str, Any] = {
    "normal": stats.norm,
    "laplace": stats.laplace,
    "logistic": stats.logistic,
    "gumbel": stats.gumbel_r,
    "exponential": stats.expon,
    "cauchy": stats.cauchy,
}
"""Noise whose density is known."""
CELLS = 2**14
"""Cells of the noise, and half the points of the grid of losses: chosen; the error of a loss is its range/CELLS."""
FAR = 60.0
"""Noise is cut off at so many scales: beyond it lies less than 1e-25 (for a Cauchy law the rest counts as infinite)."""

Atoms = tuple[tuple[str, float, int], ...]
"""Sums as (family, ratio, how many of them)."""


def log_density(family: str, u: Array) -> Array:
    """ln f at u, in units of the scale; −∞ outside the support."""
    return np.asarray(FAMILIES[family].logpdf(u))


def atoms_of(sums: Sequence[tuple[str, Array]]) -> Atoms:
    """Sums with their ratios, entry by entry; what is alike is counted, all Gaussian entries are one."""
    squares, others = 0.0, Counter[tuple[str, float]]()
    for family, ratios in sums:
        moved = ratios[ratios != 0]
        if family == "normal":
            squares += float((moved**2).sum())
        else:
            others.update((family, float(f"{r:.12g}")) for r in moved)
    found = [(family, ratio, count) for (family, ratio), count in sorted(others.items())]
    return (*((("normal", float(f"{math.sqrt(squares):.12g}"), 1),) if squares else ()), *found)


@dataclass(frozen=True)
class Losses:
    """The law of a loss: masses on a grid of losses, and the mass where it is infinite."""

    losses: Array
    masses: Array
    infinite: float = 0.0

    @cached_property
    def _tails(self) -> tuple[Array, Array]:
        """From each point of the grid on: the mass, and the logarithm of the sum of mass·e^{−loss}."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.masses) - self.losses
        masses = np.cumsum(self.masses[::-1])[::-1]
        return np.append(masses, 0.0), np.append(np.logaddexp.accumulate(logs[::-1])[::-1], -np.inf)

    def delta(self, epsilon: Array) -> Array:
        """The least δ for each ε: E[(1 − e^{ε − loss})₊]."""
        epsilon = np.asarray(epsilon, dtype=float)
        above, weighted = self._tails
        first = np.searchsorted(self.losses, epsilon, side="right")
        inside = above[first] - np.exp(np.minimum(epsilon + weighted[first], 0.0))
        return np.asarray(np.clip(inside, 0.0, 1.0) + self.infinite)


def gaussian_delta(mu: float, epsilon: Array) -> Array:
    """δ(ε) of a Gaussian mechanism with sensitivity/σ = μ, for any real ε (Balle, Wang 2018)."""
    epsilon = np.asarray(epsilon, dtype=float)
    if mu <= 0:
        return np.asarray(np.maximum(-np.expm1(np.minimum(epsilon, 0.0)), 0.0))
    with np.errstate(over="ignore"):
        second = np.exp(np.minimum(epsilon + special.log_ndtr(-epsilon / mu - mu / 2), 0.0))
    return np.asarray(np.clip(special.ndtr(-epsilon / mu + mu / 2) - second, 0.0, 1.0))


def delta_of(atoms: Atoms, epsilon: Array) -> Array:
    """δ(ε) of independent sums."""
    if not atoms:
        return gaussian_delta(0.0, epsilon)
    if len(atoms) == 1 and atoms[0][0] == "normal":
        return gaussian_delta(atoms[0][1], epsilon)
    return _composed(atoms).delta(epsilon)


def largest(atoms: Atoms) -> float:
    """The largest loss that there can be: ε at δ = 0."""
    total = 0.0
    for family, ratio, count in atoms:
        if family == "normal" or (family in ("exponential", "gumbel") and ratio > 0):
            return math.inf
        total += count * (2 * math.asinh(abs(ratio) / 2) if family == "cauchy" else abs(ratio))
    return total


def reach(atoms: Atoms) -> float:
    """A loss that is finite and larger with a chance below 1e-25 only."""
    total = 0.0
    for family, ratio, count in atoms:
        if family == "normal":
            total += ratio**2 / 2 + 12 * ratio
        elif family == "gumbel" and ratio > 0:
            total += count * FAR * math.expm1(ratio)
        elif family != "exponential" or ratio < 0:
            total += count * largest(((family, ratio, 1),))
    return total


def zcdp_of(atoms: Atoms) -> float:
    """A ρ for which these sums are ρ-zCDP: μ²/2 of Gaussian ones, ε²/2 of the others (Bun, Steinke 2016); infinite for
    noise whose loss is unbounded on one side, as of an exponential draw, or of a single Gumbel draw that is published.
    """
    rho = 0.0
    for family, ratio, count in atoms:
        worst = abs(ratio) if family == "normal" else largest(((family, ratio, 1),))
        rho += count * worst**2 / 2
    return rho


@lru_cache(maxsize=256)
def _single(family: str, ratio: float) -> tuple[Array, Array, float]:
    """Losses of one sum: (loss, mass) of each cell of the noise, and the mass of infinite losses."""
    reach = FAR + abs(ratio) if family != "cauchy" else 1e6
    edges = reach * np.sinh(np.linspace(-8, 8, CELLS + 1)) / math.sinh(8)
    kinks = np.array([0.0, ratio])
    edges = np.union1d(edges, kinks)
    law, middle = FAMILIES[family], (edges[1:] + edges[:-1]) / 2
    mass = np.where(middle < 0, np.diff(law.cdf(edges)), -np.diff(law.sf(edges)))
    with np.errstate(invalid="ignore"):
        loss = log_density(family, middle) - log_density(family, middle - ratio)
    known = mass > 0
    finite = known & np.isfinite(loss)
    infinite = float(mass[known & ~finite].sum()) + (float(2 * law.sf(reach)) if family == "cauchy" else 0.0)
    return loss[finite], mass[finite], infinite


@lru_cache(maxsize=256)
def _composed(atoms: Atoms) -> Losses:
    parts = [(*_single(family, ratio), count) for family, ratio, count in atoms]
    means = [float((x * m).sum()) for x, m, _, _ in parts]
    spread = math.sqrt(sum(n * float((x**2 * m).sum()) for x, m, _, n in parts))
    most = [float(np.abs(x).max()) for x, _, _, _ in parts]
    centre = sum(n * mean for mean, (_, _, _, n) in zip(means, parts, strict=True))
    reach = min(sum(n * x for x, (_, _, _, n) in zip(most, parts, strict=True)), abs(centre) + 14 * spread + max(most))
    step = max(reach, 1e-12) / (CELLS - 4)
    spectrum, log_finite = np.ones(CELLS + 1, dtype=complex), 0.0
    for loss, mass, infinite, count in parts:
        position = np.clip(loss / step, -(CELLS - 2), CELLS - 2)
        low = np.floor(position).astype(int)
        share = position - low
        row = np.zeros(2 * CELLS)
        np.add.at(row, low % (2 * CELLS), mass * (1 - share))
        np.add.at(row, (low + 1) % (2 * CELLS), mass * share)
        spectrum *= np.fft.rfft(row) ** count
        log_finite += count * math.log1p(-min(infinite, 1.0)) if infinite < 1 else -math.inf
    masses = np.maximum(np.roll(np.fft.irfft(spectrum, 2 * CELLS), CELLS), 0.0)
    return Losses(np.arange(-CELLS, CELLS) * step, masses, -math.expm1(log_finite))


def epsilon_where(delta_at: Any, delta: float, top: float) -> float:
    """The least ε ≥ 0 at which a falling function is at most δ; infinite if that is beyond `top`."""
    if delta_at(0.0) <= delta:
        return 0.0
    if delta_at(top) > delta:
        return math.inf
    return float(optimize.brentq(lambda e: delta_at(e) - delta, 0.0, top, xtol=1e-9))
