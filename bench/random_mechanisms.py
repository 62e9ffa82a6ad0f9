"""Random mechanisms with exact likelihood ratios: power as a property, not as a table.

`draw_mechanism(seed)` makes a mechanism that nobody has looked at: a kind of leak, noise, dimension, strength, rarity
and δ, all at random. Each knows its exact log-likelihood ratio log p(y)/q(y) (q on the dataset, p on the
neighbour), and from that the best bound that any auditor could expect (`ideal`), by the same rule as the fixed zoo.

Every law is a product or a mixture of parts whose densities are written down beside their samplers; a test compares the
two (E_q[p/q] = 1, and frequencies of events on both sides). What the parts have in common does not leak and cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special, stats

from bench.zoo.entry import on_grid
from bench.zoo.law import Law

Array = np.ndarray
Rng = np.random.Generator
Draw = Callable[[int, int, Rng], tuple[Any, Array]]
"""side (0 or 1), size, generator → outputs, and log p/q of each."""

REFERENCE_DRAWS, REFERENCE_BLOCK = 1_000_000, 50_000
"""Draws a side from which the best bound is computed (an event that N = 1e5 draws a side see 100 times has its mass to
3 %), and how many are made at a time.
"""
CELLS = 1500
"""Events of each side among which the best is looked for, on a geometric scale of their number of draws."""


@dataclass(frozen=True)
class RandomMechanism:
    """A mechanism with its exact likelihood ratio."""

    name: str
    kind: str
    seed: int
    draw: Draw
    delta: float
    pure: float
    """The exact ε at δ = 0 (may be infinite)."""

    def sampler(self, dataset: Any, size: int, rng: Rng) -> Any:
        """Outputs on the dataset [0] or its neighbour [1]."""
        return self.draw(int(dataset[0]), size, rng)[0]

    @cached_property
    def law(self) -> Law:
        """The law of the likelihood ratio, from many draws of it.

        The mass of an event on the side where it is likelier is counted; its mass on the other side is the mean of the
        inverse ratio over these draws, which has less noise than a second count.
        """
        p, q = -np.sort(-self._ratios(1)), np.sort(self._ratios(0))
        return _law_of_ratios(p[p > 0], q[q <= 0])

    def _ratios(self, side: int) -> Array:
        """The ratio at the reference draws of one side."""
        rng = np.random.default_rng([self.seed, 77, side])
        blocks = range(REFERENCE_DRAWS // REFERENCE_BLOCK)
        return np.concatenate([self.draw(side, REFERENCE_BLOCK, rng)[1] for _ in blocks])

    def ideal(self, samples: int, confidence: float = 0.95) -> float:
        """The best bound, as in the fixed zoo: Clopper–Pearson on the best event of the known law."""
        return self.law.ideal(samples, self.delta, confidence)

    @property
    def true_epsilon(self) -> float:
        """The exact ε at this δ (from the reference draws if δ > 0)."""
        return self.pure if self.delta == 0 else self.law.true_epsilon(self.delta)


def _law_of_ratios(likelier_p: Array, likelier_q: Array) -> Law:
    """Cells in the order of the ratio: those likelier on the neighbour counted there, the others on the dataset."""
    n = REFERENCE_DRAWS
    cells = [(_summed(np.full(len(r), 1 / n), r), _summed(np.exp(-np.abs(r)) / n, r)) for r in (likelier_p, likelier_q)]
    (own_p, other_q), (own_q, other_p) = cells
    p, q = np.concatenate([own_p, other_p]), np.concatenate([other_q, own_q])
    return Law(q / q.sum(), p / p.sum())


def _summed(masses: Array, ratios: Array) -> Array:
    """Masses in falling order of |ratio|, summed over ever longer runs; equal ratios stay together."""
    if len(masses) == 0:
        return masses
    ends = np.unique(np.geomspace(1, len(masses), CELLS).astype(int))
    starts = np.unique(np.searchsorted(-np.abs(ratios), -np.abs(ratios[ends - 1]), side="left"))
    return np.asarray(np.add.reduceat(masses, starts))


# ------------------------------------------------------------------------------------------------ noise


@dataclass(frozen=True)
class Noise:
    """A symmetric law on the line with its log-density."""

    name: str
    draw: Callable[[Rng, Any], Array]
    log_density: Callable[[Array], Array]
    bounded_loss: bool
    """Whether the log-density is Lipschitz: a shift then costs a finite ε."""


NOISES = (
    Noise("gaussian", lambda r, s: r.standard_normal(s), lambda x: -x * x / 2, False),
    Noise("laplace", lambda r, s: r.laplace(size=s), lambda x: -np.abs(x), True),
    Noise("logistic", lambda r, s: r.logistic(size=s), lambda x: -np.abs(x) - 2 * np.log1p(np.exp(-np.abs(x))), True),
    Noise("cauchy", lambda r, s: r.standard_cauchy(s), lambda x: -np.log1p(x * x), True),
    Noise("student-3", lambda r, s: r.standard_t(3, s), lambda x: -2 * np.log1p(x * x / 3), True),
    Noise("gumbel", lambda r, s: r.gumbel(size=s), lambda x: -x - np.exp(-np.clip(x, -30, None)), False),
)


def _noise(rng: Rng) -> Noise:
    return NOISES[int(rng.integers(len(NOISES)))]


def _dimension(rng: Rng, least: int = 1, most: int = 100) -> int:
    return round(math.exp(rng.uniform(math.log(least), math.log(most))))


def _log_uniform(rng: Rng, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _directions(rng: Rng, dimension: int) -> Array:
    """A random direction of norm 1: along one coordinate, along a few, or along all."""
    support = min(dimension, int(rng.choice([1, 1, 3, dimension])))
    direction = np.zeros(dimension)
    direction[rng.permutation(dimension)[:support]] = rng.standard_normal(support)
    return np.asarray(direction / np.linalg.norm(direction))


def _flat(x: Array) -> Array:
    """One column as scalars."""
    return x[:, 0] if x.shape[1] == 1 else x


# ------------------------------------------------------------------------------------------------ kinds of leak


def _shift(rng: Rng) -> tuple[str, Draw, float]:
    noise, d = _noise(rng), _dimension(rng)
    move = _directions(rng, d) * _log_uniform(rng, 0.2, 3.0)

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        x = on_grid(noise.draw(r, (size, d)) + side * move)
        return _flat(x), (noise.log_density(x - move) - noise.log_density(x)).sum(axis=1)

    return f"{noise.name} d={d}", draw, math.inf if not noise.bounded_loss else _slope(noise, move)


def _slope(noise: Noise, move: Array) -> float:
    """The largest log-ratio of a shift, coordinate by coordinate, on a grid fine enough for smooth densities."""
    x = np.concatenate([np.linspace(-60, 60, 240_001), [0.0]])
    return float(sum(np.abs(noise.log_density(x - m) - noise.log_density(x)).max() for m in move if m))


def _scale(rng: Rng) -> tuple[str, Draw, float]:
    noise, d = NOISES[int(rng.choice([0, 1, 3, 4]))], _dimension(rng)
    stretch = np.ones(d)
    stretch[rng.permutation(d)[: int(rng.choice([1, max(1, d // 4), d]))]] = _log_uniform(rng, 1.03, 2.0)

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        x = on_grid(noise.draw(r, (size, d)) * (stretch if side else 1.0))
        ratio = noise.log_density(x / stretch) - np.log(stretch) - noise.log_density(x)
        return _flat(x), ratio.sum(axis=1)

    heavy = {"cauchy": 1.0, "student-3": 3.0}.get(noise.name)
    pure = float(np.sum(np.log(stretch)) * max(heavy, 1.0)) if heavy else math.inf
    return f"{noise.name} d={d}", draw, pure


def _correlation(rng: Rng) -> tuple[str, Draw, float]:
    """Gaussian coordinates with equal marginals; two of them are correlated on one side only."""
    d, rho = _dimension(rng, 2), rng.uniform(0.15, 0.8) * rng.choice([-1, 1])
    i, j = rng.permutation(d)[:2]

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        x = r.standard_normal((size, d))
        if side:
            x[:, j] = rho * x[:, i] + math.sqrt(1 - rho * rho) * x[:, j]
        x = on_grid(x)
        a, b = x[:, i], x[:, j]
        left = 1 - rho * rho
        return x, (a * a + b * b) / 2 - math.log(left) / 2 - (a * a - 2 * rho * a * b + b * b) / (2 * left)

    return f"d={d} rho={rho:.2f}", draw, math.inf


def _interaction(rng: Rng) -> tuple[str, Draw, float]:
    """The sign of a product of two or three coordinates leaks; every smaller set of coordinates is equal in law."""
    order = int(rng.integers(2, 4))
    d = _dimension(rng, order, 12 if order == 3 else 40)
    noise = NOISES[int(rng.choice([0, 1, 2, 4]))]
    chosen, epsilon = rng.permutation(d)[:order], _log_uniform(rng, 0.3, 4.0)
    weak = bool(rng.integers(2))
    high = special.expit(epsilon)

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        x = noise.draw(r, (size, d))
        positive = r.random(size) < (high if side else (0.5 if weak else 1 - high))
        wrong = (np.prod(np.sign(x[:, chosen]), axis=1) > 0) != positive
        x[wrong, chosen[0]] *= -1
        x = on_grid(x)
        up = np.prod(np.sign(x[:, chosen]), axis=1) > 0
        base = (0.5, 0.5) if weak else (1 - high, high)
        return x, np.where(up, math.log(high / base[0]), math.log((1 - high) / base[1]))

    return f"order {order} d={d} ε={epsilon:.2f}", draw, -math.log(2 * (1 - high)) if weak else epsilon


def _rare(rng: Rng) -> tuple[str, Draw, float]:
    """With small probability, larger on one side, one coordinate goes to a place that is else almost empty."""
    noise, d = NOISES[int(rng.choice([0, 1, 2]))], _dimension(rng, 1, 30)
    mass, epsilon = _log_uniform(rng, 5e-4, 0.05), _log_uniform(rng, 0.5, 5.0)
    epsilon = math.inf if rng.random() < 0.3 else epsilon
    at, width, place = int(rng.integers(d)), _log_uniform(rng, 0.05, 2.0), rng.uniform(-6, 6)
    low = 0.0 if math.isinf(epsilon) else mass * math.exp(-epsilon)

    def density(x: Array, m: float) -> Array:
        main = np.log1p(-m) + _normalised(noise, x)
        if m == 0:
            return np.asarray(main)
        bump = -(((x - place) / width) ** 2) / 2 - math.log(width * math.sqrt(2 * math.pi))
        return np.asarray(np.logaddexp(main, math.log(m) + bump))

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        x = noise.draw(r, (size, d))
        hit = r.random(size) < (mass if side else low)
        x[hit, at] = place + width * r.standard_normal(int(hit.sum()))
        x = on_grid(x)
        return _flat(x), density(x[:, at], mass) - density(x[:, at], low)

    return f"mass {mass:.4f} ε={epsilon:.2f} d={d}", draw, _sup_on_line(lambda x: density(x, mass) - density(x, low))


def _normalised(noise: Noise, x: Array) -> Array:
    """The normalised log-density."""
    constant = {"gaussian": 0.5 * math.log(2 * math.pi), "laplace": math.log(2.0), "logistic": 0.0}[noise.name]
    return np.asarray(noise.log_density(x) - constant)


def _sup_on_line(ratio: Callable[[Array], Array]) -> float:
    """The largest |log-ratio| on a wide grid: what no number of draws that is tried here goes beyond."""
    return float(np.abs(ratio(np.linspace(-40, 40, 400_001))).max())


def _heavy(rng: Rng) -> tuple[str, Draw, float]:
    """A monotone map of a simple law that makes its tails very heavy: the ratio does not change."""
    power = rng.uniform(2, 9)
    move = _log_uniform(rng, 0.3, 2.0)
    noise = NOISES[int(rng.choice([0, 1, 3]))]
    cube = noise.name == "cauchy"

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        z = on_grid(noise.draw(r, size) + side * move)
        out = z**3 if cube else np.sign(z) * np.expm1(power * np.abs(z))
        return out, noise.log_density(z - move) - noise.log_density(z)

    return (
        f"{noise.name} power {power:.1f}",
        draw,
        math.inf if not noise.bounded_loss else _slope(noise, np.array([move])),
    )


def _bounded(rng: Rng) -> tuple[str, Draw, float]:
    """Bounded tails: a uniform or a triangle that moves, so that supports differ at the ends."""
    d, move = _dimension(rng, 1, 20), _log_uniform(rng, 0.002, 0.3)
    at = int(rng.integers(d))
    triangle = bool(rng.integers(2))

    def log_density(x: Array) -> Array:
        inside = (x > 0) & (x < 1)
        with np.errstate(divide="ignore"):
            return np.where(inside, np.log(np.where(triangle, 4 * np.minimum(x, 1 - x), 1.0)), -np.inf)

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        x = r.random((size, d))
        if triangle:
            x[:, at] = (x[:, at] + r.random(size)) / 2
        x[:, at] += side * move
        with np.errstate(invalid="ignore"):
            ratio = log_density(x[:, at] - move) - log_density(x[:, at])
        return _flat(x), ratio

    return f"{'triangle' if triangle else 'uniform'} d={d} move {move:.3f}", draw, math.inf


def _atoms(rng: Rng) -> tuple[str, Draw, float]:
    """A noisy number that is clamped or thresholded to a few atoms on part of its range."""
    epsilon, atoms = _log_uniform(rng, 0.3, 3.0), int(rng.integers(1, 6))
    share = rng.uniform(0.01, 0.5)
    places = on_grid(rng.uniform(-3, 3, atoms))
    logits = rng.uniform(-1, 1, atoms) * epsilon / 2
    p = special.softmax(np.log(rng.dirichlet(np.ones(atoms))) + logits) if atoms > 1 else np.ones(1)
    q = special.softmax(np.log(p) - 2 * logits) if atoms > 1 else np.ones(1)
    tilt = epsilon / 2 if atoms == 1 else 0.0
    share_p = special.expit(special.logit(share) + tilt)

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        x = on_grid(r.laplace(size=size)) + 2.0**-22
        hit = r.random(size) < (share_p if side else share)
        which = r.choice(atoms, size=size, p=p if side else q)
        x = np.where(hit, places[which], x)
        return x, np.where(hit, math.log(share_p / share) + np.log(p / q)[which], math.log((1 - share_p) / (1 - share)))

    worst = max(np.abs(math.log(share_p / share) + np.log(p / q)).max(), abs(math.log((1 - share_p) / (1 - share))))
    return f"{atoms} atoms share {share:.2f}", draw, float(worst)


def _categories(rng: Rng) -> tuple[str, Draw, float]:
    """Words of a Zipf law, up to ten thousand of them; a few are likelier on one side."""
    count, epsilon = _dimension(rng, 3, 10_000), _log_uniform(rng, 0.4, 4.0)
    weights = np.arange(1, count + 1) ** -rng.uniform(0.0, 1.2)
    q = rng.permutation(weights / weights.sum())
    telling = rng.permutation(count)[: int(rng.choice([1, max(1, count // 50), max(1, count // 3)]))]
    tilt = np.zeros(count)
    tilt[telling] = epsilon * rng.choice([-1, 1], len(telling))
    p = q * np.exp(tilt)
    p /= p.sum()
    ratio = np.log(p / q)
    words = [f"w{k:x}" for k in rng.permutation(count)]
    text, as_number = np.array(words, dtype=object), bool(rng.integers(2))

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        which = r.choice(count, size=size, p=p if side else q)
        return (which if as_number else text[which].tolist()), ratio[which]

    return f"{count} {'integers' if as_number else 'words'}, {len(telling)} telling", draw, float(np.abs(ratio).max())


def _category_times_number(rng: Rng) -> tuple[str, Draw, float]:
    """A category decides what the number beside it means: the marginals are the same."""
    noise, count = NOISES[int(rng.choice([0, 1, 2]))], int(rng.integers(2, 9))
    sign = np.where(np.arange(count) % 2, 1.0, -1.0) if count % 2 == 0 else rng.standard_normal(count)
    sign -= sign.mean()
    move = _log_uniform(rng, 0.3, 2.0) * sign / np.abs(sign).max()
    mixed, names = bool(rng.integers(2)), [f"c{k}" for k in range(count)]

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        which = r.integers(count, size=size)
        x = on_grid(noise.draw(r, size) + (side - 0.5) * move[which])
        ratio = noise.log_density(x - move[which] / 2) - noise.log_density(x + move[which] / 2)
        if mixed:
            return list(zip([names[k] for k in which], x.tolist(), strict=True)), ratio
        return np.stack([which.astype(float), x], axis=1), ratio

    return f"{noise.name} {count} categories", draw, math.inf if noise.name == "gaussian" else float(np.abs(move).max())


def _bits(rng: Rng) -> tuple[str, Draw, float]:
    """A long integer of which one bit, or the parity of two, leaks."""
    length, epsilon = int(rng.integers(8, 49)), _log_uniform(rng, 0.3, 4.0)
    chosen = rng.permutation(length)[: int(rng.choice([1, 1, 2]))]
    high = special.expit(epsilon / 2)

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        x = r.integers(0, 2**length, size=size)
        parity = np.bitwise_xor.reduce([(x >> k) & 1 for k in chosen], axis=0)
        wanted = (r.random(size) < (high if side else 1 - high)).astype(int)
        x ^= (parity ^ wanted) << int(chosen[0])
        return x, np.where(wanted == 1, 1.0, -1.0) * math.log(high / (1 - high))

    return f"{len(chosen)} of {length} bits", draw, epsilon / 2


def _bit_vector(rng: Rng) -> tuple[str, Draw, float]:
    """Randomised response on a vector of bits; a few positions differ between the datasets."""
    d, epsilon = _dimension(rng, 2, 64), _log_uniform(rng, 0.1, 2.0)
    keep = special.expit(epsilon)
    truth = rng.integers(0, 2, d)
    changed = np.zeros(d, dtype=int)
    changed[rng.permutation(d)[: int(rng.integers(1, min(d, 4) + 1))]] = 1

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        own = truth ^ (changed * side)
        x = np.where(r.random((size, d)) < keep, own, 1 - own)
        agrees = np.where(x == truth, -1.0, 1.0) * changed
        return x, agrees.sum(axis=1) * epsilon

    return f"{d} bits, {changed.sum()} change", draw, float(epsilon * changed.sum())


def _ragged(rng: Rng) -> tuple[str, Draw, float]:
    """Tuples of random length; the length, or the last number given the length, leaks."""
    longest, by_length = int(rng.integers(2, 9)), bool(rng.integers(2))
    epsilon = _log_uniform(rng, 0.3, 2.5)
    q = rng.dirichlet(np.ones(longest)) * 0.9 + 0.1 / longest
    tilt = rng.uniform(-1, 1, longest) * epsilon / 2 if by_length else np.zeros(longest)
    p = q * np.exp(tilt) / np.sum(q * np.exp(tilt))
    sign = np.where(np.arange(longest) % 2, 1.0, -1.0) * (0.0 if by_length else epsilon)

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        which = r.choice(longest, size=size, p=p if side else q)
        x = r.laplace(size=(size, longest))
        rows = np.arange(size)
        x[rows, which] += side * sign[which]
        x = on_grid(x)
        last = x[rows, which]
        ratio = np.log(p / q)[which] + np.abs(last) - np.abs(last - sign[which])
        return [tuple(x[i, : which[i] + 1].tolist()) for i in range(size)], ratio

    pure = float(np.abs(np.log(p / q)).max()) if by_length else epsilon
    return f"longest {longest} {'length' if by_length else 'last number'}", draw, pure


def _periodic(rng: Rng) -> tuple[str, Draw, float]:
    """A density with ripples on one side: 1 ± a·cos of a multiple of the output."""
    noise, frequency, a = NOISES[int(rng.choice([0, 1, 2]))], _log_uniform(rng, 0.5, 12.0), rng.uniform(0.3, 0.95)

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        x, sign = np.empty(0), 1.0 if side else -1.0
        # the density base·(1 + s·a·sin(fx)) is normalised for an even base: the sine is odd
        while len(x) < size:
            z = noise.draw(r, size)
            x = np.concatenate([x, z[r.random(size) * (1 + a) < 1 + sign * a * np.sin(frequency * z)]])
        x = on_grid(x[:size])
        wave = a * np.sin(frequency * x)
        return x, np.log1p(wave) - np.log1p(-wave)

    return f"{noise.name} frequency {frequency:.1f}", draw, math.log((1 + a) / (1 - a))


def _order_statistics(rng: Rng) -> tuple[str, Draw, float]:
    """The sorted draws of several records, or the largest alone; one record has a larger rate on one side."""
    d, stretch, whole = _dimension(rng, 2, 30), _log_uniform(rng, 1.3, 4.0), bool(rng.integers(2))

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        x = r.exponential(size=(size, d))
        if side:
            x[:, 0] *= stretch
        x = np.sort(x, axis=1)
        if whole:
            # the record may stand at any place: average over places of the ratio of the two exponentials
            terms = -x / stretch - math.log(stretch) + x
            return x, special.logsumexp(terms, axis=1) - math.log(d)
        top = x[:, -1]
        log_one, log_new = np.log(-np.expm1(-top)), np.log(-np.expm1(-top / stretch))
        old = math.log(d) - top + (d - 1) * log_one
        new = np.logaddexp(
            -top / stretch - math.log(stretch) + (d - 1) * log_one, math.log(d - 1) - top + (d - 2) * log_one + log_new
        )
        return top, new - old

    return f"{'all' if whole else 'largest'} of {d}, stretch {stretch:.1f}", draw, math.inf


def _mixture(rng: Rng) -> tuple[str, Draw, float]:
    """Subsampling: the record matters in a random share of the runs only."""
    noise, d = NOISES[int(rng.choice([0, 1, 2]))], _dimension(rng, 1, 40)
    move, share = _directions(rng, d) * _log_uniform(rng, 0.5, 6.0), _log_uniform(rng, 0.02, 0.5)

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        x = noise.draw(r, (size, d))
        if side:
            x[r.random(size) < share] += move
        x = on_grid(x)
        ratio = (noise.log_density(x - move) - noise.log_density(x)).sum(axis=1)
        return _flat(x), np.logaddexp(math.log1p(-share), math.log(share) + ratio)

    pure = math.inf if noise.name == "gaussian" else math.log1p(share * math.expm1(_slope(noise, move)))
    return f"{noise.name} d={d} share {share:.2f}", draw, max(pure, -math.log1p(-share))


def _sparse_vector(rng: Rng) -> tuple[str, Draw, float]:
    """Above threshold: Laplace noise on the threshold and on each answer, sometimes too little; lists of booleans."""
    d, scale = _dimension(rng, 2, 20), _log_uniform(rng, 0.7, 4.0)
    gaps = rng.uniform(-1, 1, d)
    moves = rng.choice([-1.0, 1.0], d) if rng.integers(2) else np.full(d, 1.0)
    nodes, weights = np.polynomial.legendre.leggauss(400)

    def log_chance(side: int) -> Array:
        """log P(stop after k negatives), k = 0..d, by quadrature over the threshold's noise."""
        half = 14.0 * scale
        z = nodes * half
        density = weights * half * np.exp(-np.abs(z) / scale) / (2 * scale)
        below = np.array([stats.laplace.cdf(z - g - side * m, scale=scale) for g, m in zip(gaps, moves, strict=True)])
        before = np.vstack([np.ones_like(z), np.cumprod(below, axis=0)])
        stop = np.vstack([before[:-1] * (1 - below), before[-1:]])
        mass = stop @ density
        return np.asarray(np.log(mass / mass.sum()))

    logs = [log_chance(side) for side in (0, 1)]

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        answers = gaps + side * moves + r.laplace(0, scale, (size, d))
        above = answers > r.laplace(0, scale, (size, 1))
        first = np.where(above.any(axis=1), above.argmax(axis=1), d)
        outputs = [(False,) * k + ((True,) if k < d else ()) for k in first.tolist()]
        return outputs, (logs[1] - logs[0])[first]

    return f"{d} answers scale {scale:.2f}", draw, float(np.abs(logs[1] - logs[0]).max())


def _noisy_max(rng: Rng) -> tuple[str, Draw, float]:
    """The index of the largest of several noisy counts (Gumbel noise: a softmax)."""
    d, scale = _dimension(rng, 2, 500), _log_uniform(rng, 0.5, 8.0)
    scores = rng.uniform(0, 4, d) / scale
    moves = rng.choice([-1.0, 0.0, 1.0], d) / scale
    logs = [special.log_softmax(scores), special.log_softmax(scores + moves)]
    ratio = logs[1] - logs[0]

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        which = r.choice(d, size=size, p=np.exp(logs[side]))
        return which, ratio[which]

    return f"{d} counts", draw, float(np.abs(ratio).max())


def _nothing(rng: Rng) -> tuple[str, Draw, float]:
    """The same law on both sides."""
    noise, d = _noise(rng), _dimension(rng)

    def draw(side: int, size: int, r: Rng) -> tuple[Any, Array]:
        return _flat(on_grid(noise.draw(r, (size, d)))), np.zeros(size)

    return f"{noise.name} d={d}", draw, 0.0


KINDS: dict[str, Callable[[Rng], tuple[str, Draw, float]]] = {
    "shift": _shift,
    "scale": _scale,
    "correlation": _correlation,
    "interaction": _interaction,
    "rare": _rare,
    "heavy": _heavy,
    "bounded": _bounded,
    "atoms": _atoms,
    "categories": _categories,
    "category×number": _category_times_number,
    "bits": _bits,
    "bit vector": _bit_vector,
    "ragged": _ragged,
    "periodic": _periodic,
    "order statistics": _order_statistics,
    "mixture": _mixture,
    "sparse vector": _sparse_vector,
    "noisy max": _noisy_max,
}


def draw_mechanism(seed: int, kinds: Sequence[str] = tuple(KINDS)) -> RandomMechanism:
    """The mechanism of this seed."""
    rng = np.random.default_rng([seed, 20])
    kind = kinds[int(rng.integers(len(kinds)))]
    name, draw, pure = KINDS[kind](rng)
    delta = 0.0 if rng.integers(2) else _log_uniform(rng, 1e-6, 1e-2)
    return RandomMechanism(f"{kind}: {name}, δ={delta:.1e}", kind, seed, draw, delta, pure)


def draw_correct(seed: int) -> tuple[RandomMechanism, float]:
    """A mechanism of this seed with a finite ε, and the smallest claim that holds for it."""
    for attempt in range(1000):
        found = draw_mechanism(seed * 1000 + attempt)
        if found.delta == 0 and math.isfinite(found.pure):
            return found, found.pure
    raise AssertionError("no mechanism of a thousand has a finite ε")
