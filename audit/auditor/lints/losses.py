"""The privacy loss of additive noise, sum by sum, and of many sums together.

A sum q + b·U, with U of a known density f, has on a neighbour whose quantity is q + rb (r, the *ratio*, is the
difference in units of the noise) the loss ln f(u) − ln f(u − r) at U = u. Independent losses add up: Gaussian ones in
closed form, others on a grid, by Fourier transforms (Koskela, Jälkö, Honkela 2020). A loss between two points of the
grid is split between them so that its mean stays, which errs upwards by the square of a step.

Of a sum q + s·K, with K a random integer, a neighbour's quantity is q + rs. If r is an integer the loss is
ln p(k) − ln p(k − r) with mass p(k), infinite where p(k − r) = 0; else no value is possible on both sides, and it is
infinite always. A family of K is named with its parameters: "Skellam(25, 25)".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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
WIDEST = 5000.0
"""Standard deviations of integer noise that are summed over, at most: chosen for memory."""
LEAST = 1e-32
"""Integers with less mass are left out: there are fewer than 2·FAR·WIDEST, which have less than 1e-25 together."""
ROUNDING = 1e-9
"""A ratio that is so close to an integer, relatively, is one."""
CELLS = 2**14
"""Cells of the noise, and half the points of the grid of losses: chosen; the error of a loss is its range/CELLS."""
FAR = 60.0
"""Noise is cut off at so many scales: beyond it lies less than 1e-25 (for a Cauchy law the rest counts as infinite)."""

Atoms = tuple[tuple[str, float, int], ...]
"""Sums as (family, ratio, how many of them)."""


@dataclass(frozen=True)
class Lattice:
    """The law of a random integer.

    Attributes:
        log_mass: ln P(K = k) at integers k, −∞ where there is none.
        mean: of K.
        deviation: the standard deviation of K.
        symmetric: whether K and 2·mean − K have the same law.
        exponential: whether its tails fall no faster than exponentially.
    """

    log_mass: Callable[[Array], Array]
    mean: float
    deviation: float
    symmetric: bool = False
    exponential: bool = False

    def support(self) -> Array:
        """Integers beyond which less than 1e-25 is left: by Bernstein's inequality for sums of steps of at most one."""
        reach = FAR * max(1.0, self.deviation) if self.exponential else FAR + 11 * self.deviation
        return np.arange(math.floor(self.mean - reach), math.ceil(self.mean + reach) + 1)


def _geometric(p: float) -> Lattice:
    def log_mass(k: Array) -> Array:
        return np.where(k >= 1, math.log(p) + special.xlog1py(k - 1.0, -p), -np.inf)

    return Lattice(log_mass, 1 / p, math.sqrt(1 - p) / p, exponential=True)


def _discrete_laplace(a: float) -> Lattice:
    def log_mass(k: Array) -> Array:
        return np.asarray(math.log(math.tanh(a / 2)) - a * np.abs(k))

    return Lattice(log_mass, 0.0, 1 / (math.sqrt(2) * math.sinh(a / 2)), True, True)


def _skellam(first: float, second: float) -> Lattice:
    def log_mass(k: Array) -> Array:
        mean = 2 * math.sqrt(first * second)
        with np.errstate(divide="ignore"):
            bessel = np.log(special.ive(np.abs(k).astype(float), mean))
        return np.asarray(bessel + mean - first - second + k / 2 * math.log(first / second))

    return Lattice(log_mass, first - second, math.sqrt(first + second), first == second)


LATTICES: Mapping[str, Callable[..., Lattice]] = {
    "geometric": _geometric,
    "Poisson": lambda mean: Lattice(stats.poisson(mean).logpmf, mean, math.sqrt(mean)),
    "binomial": lambda n, p: Lattice(stats.binom(int(n), p).logpmf, n * p, math.sqrt(n * p * (1 - p)), p == 0.5),
    "discrete Laplace": _discrete_laplace,
    "Skellam": _skellam,
}
"""Integer noise whose masses are known, by its parameters."""
_ALLOWED: Mapping[str, Callable[..., bool]] = {
    "geometric": lambda p: 0 < p < 1,
    "Poisson": lambda mean: mean > 0,
    "binomial": lambda n, p: n >= 1 and n == int(n) and 0 < p < 1,
    "discrete Laplace": lambda a: a > 0,
    "Skellam": lambda first, second: first > 0 and second > 0,
}


def named(family: str, *parameters: float) -> str:
    """The name of a law on the integers, "" if it has none: a degenerate one, or one that is too wide to sum over."""
    if not all(math.isfinite(x) for x in parameters) or not _ALLOWED[family](*parameters):
        return ""
    name = f"{family}({', '.join(f'{x:.15g}' for x in parameters)})"
    law = lattice(name)
    return name if law is not None and law.deviation <= WIDEST else ""


def difference(first: str, second: str) -> str:
    """The law of K − K′ for independent integers with these laws; "" where it has no name here."""
    (family, mine), (other, its) = _read(first), _read(second)
    if family == other == "Poisson":
        return named("Skellam", *mine, *its)
    if family == other == "geometric" and mine == its:
        return named("discrete Laplace", float(f"{-math.log1p(-mine[0]):.12g}"))
    return ""


def _read(name: str) -> tuple[str, list[float]]:
    family, _, inside = name.partition("(")
    return family, [float(x) for x in inside.rstrip(")").split(",") if x]


@lru_cache(maxsize=256)
def lattice(name: str) -> Lattice | None:
    """The law on the integers with this name; None if it is noise of another kind."""
    family, parameters = _read(name)
    return LATTICES[family](*parameters) if parameters and family in LATTICES else None


def is_known(family: str) -> bool:
    """Whether the law of this noise is known."""
    return family in FAMILIES or lattice(family) is not None


def lopsided(family: str) -> bool:
    """Whether the direction of a difference matters."""
    law = lattice(family)
    return not law.symmetric if law is not None else family in ("gumbel", "exponential")


def log_density(family: str, u: Array) -> Array:
    """ln f at u, in units of the scale; −∞ outside the support. Of integer noise, ln P."""
    law = lattice(family)
    if law is not None:
        k = np.round(u)
        return np.where(_whole(u), law.log_mass(k), -np.inf)
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


def _whole(ratio: Any) -> Any:
    """Whether a number is an integer but for rounding."""
    return np.abs(ratio - np.round(ratio)) <= ROUNDING * np.maximum(1.0, np.abs(ratio))


def _bound(family: str, ratio: float) -> float:
    """The largest loss of one sum with integer noise: finite for exponential tails only, on the side that they are."""
    name, parameters = _read(family)
    if not _whole(ratio):
        return math.inf
    if name == "discrete Laplace":
        return parameters[0] * abs(ratio)
    return ratio * math.log1p(-parameters[0]) if name == "geometric" and ratio < 0 else math.inf


def largest(atoms: Atoms) -> float:
    """The largest loss that there can be: ε at δ = 0."""
    total = 0.0
    for family, ratio, count in atoms:
        if lattice(family) is not None:
            total += count * _bound(family, ratio)
            continue
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
        elif lattice(family) is not None:
            total += count * float(np.abs(_single(family, ratio)[0]).max())
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
    if lattice(family) is not None:
        return _on_integers(family, ratio)
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


def _on_integers(family: str, ratio: float) -> tuple[Array, Array, float]:
    """The same for integer noise, value by value."""
    law = lattice(family)
    assert law is not None
    if not _whole(ratio):
        return np.zeros(1), np.zeros(1), 1.0
    k = law.support()
    logs = law.log_mass(k)
    mass = np.exp(logs)
    seen = mass > LEAST
    k, logs, mass = k[seen], logs[seen], mass[seen]
    loss = logs - law.log_mass(k - round(ratio))
    finite = np.isfinite(loss)
    if not finite.any():
        return np.zeros(1), np.zeros(1), 1.0
    return loss[finite], mass[finite], float(mass[~finite].sum())


@lru_cache(maxsize=256)
def _composed(atoms: Atoms) -> Losses:
    parts = [(*_single(family, ratio), count) for family, ratio, count in atoms]
    if len(atoms) == 1 and atoms[0][2] == 1 and lattice(atoms[0][0]) is not None:
        loss, mass, infinite, _ = parts[0]
        order = np.argsort(loss)
        return Losses(loss[order], mass[order], infinite)
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
