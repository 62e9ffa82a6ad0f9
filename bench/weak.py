"""Mechanisms that leak little: claims of ε between 0.01 and 0.3, with exact likelihood ratios.

They are the kinds on which weak leaks are measured elsewhere: sparse vector in six variants (Lyu, Su, Li 2017), noisy
max, one-time randomised response on a bit vector, prefix sums, a record in one of many parallel releases, and a numeric
sparse vector; and plain Laplace noise. Sequences of booleans are arrays of 1 and 0, with −1 beyond the stop.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.random_mechanisms import RandomMechanism
from bench.zoo.entry import on_grid
from bench.zoo.law import laplace_cdf
from bench.zoo.selection import FIVE, TEN, argmax_mass

Array = np.ndarray
Rng = np.random.Generator
Law = Callable[[int], Array]
"""side → the mass of each outcome, in one order."""

EPSILON, FAINT = 0.1, 0.01
"""The claim of most of them, and that of the faintest."""
POINTS, REACH = 16_001, 40.0
"""Points, and standard deviations to either side, of the integrals over a threshold's noise."""
QUERIES = len(TEN[0])


def _threshold(scale: float) -> tuple[Array, Array]:
    """The noise of a threshold: points, and the weight of each."""
    z = np.linspace(-REACH * scale, REACH * scale, POINTS)
    weight = np.exp(-np.abs(z) / scale)
    return z, weight / weight.sum()


def _below(z: Array, side: int, scale: float) -> Array:
    """Of each answer (rows) and threshold: the chance that the noisy answer does not reach it."""
    return laplace_cdf(z - np.asarray(TEN[side])[:, None], scale)


def _discrete(name: str, law: Law, outputs: Array, delta: float = 0.0) -> RandomMechanism:
    """A mechanism with finitely many outcomes; row i of `outputs` is what outcome i looks like."""
    masses = [np.maximum(law(side), 0.0) for side in (0, 1)]
    masses = [mass / mass.sum() for mass in masses]
    seen = np.flatnonzero(masses[0] + masses[1])
    outputs, masses = outputs[seen], [mass[seen] for mass in masses]
    with np.errstate(divide="ignore"):
        ratio = np.log(masses[1]) - np.log(masses[0])
    steps = [np.cumsum(mass) for mass in masses]

    def draw(side: int, size: int, rng: Rng) -> tuple[Any, Array]:
        which = np.minimum(np.searchsorted(steps[side], rng.random(size), side="right"), len(ratio) - 1)
        return outputs[which], ratio[which]

    return RandomMechanism(name, "weak", 0, draw, delta, float(np.abs(ratio).max()))


def _stopped(positives: tuple[int, ...], most: int) -> list[int]:
    """The answers of sparse vector: 1 at the positives, 0 elsewhere, −1 beyond the last one allowed."""
    row = [int(k in positives) for k in range(QUERIES)]
    return row if len(positives) < most else row[: positives[-1] + 1] + [-1] * (QUERIES - positives[-1] - 1)


def _first_positive(side: int, start: int, outer: float, inner: float) -> Array:
    """The chance that the first positive from `start` on is k = start, …, 9; and that there is none."""
    z, weight = _threshold(outer)
    below = _below(z, side, inner)[start:]
    before = np.vstack([np.ones_like(z), np.cumprod(below, axis=0)])
    return np.asarray(np.vstack([before[:-1] * (1 - below), before[-1:]]) @ weight)


def _stops_at_first(name: str, outer: float, inner: float) -> RandomMechanism:
    rows = [_stopped((k,), 1) for k in range(QUERIES)] + [_stopped((), 1)]
    return _discrete(name, lambda side: _first_positive(side, 0, outer, inner), np.array(rows))


def _stops_at_second(name: str, outer: float, inner: float) -> RandomMechanism:
    """A fresh threshold after the first positive."""
    pairs = [(i, j) for i in range(QUERIES) for j in range(i + 1, QUERIES + 1)]
    rows = [_stopped((i, j) if j < QUERIES else (i,), 2) for i, j in pairs] + [_stopped((), 2)]

    def law(side: int) -> Array:
        first = _first_positive(side, 0, outer, inner)
        second = [_first_positive(side, i + 1, outer, inner) for i in range(QUERIES)]
        return np.array([*(first[i] * second[i][j - i - 1] for i, j in pairs), first[-1]])

    return _discrete(name, law, np.array(rows))


def _never_stops(name: str, outer: float, inner: float) -> RandomMechanism:
    """All answers, given the threshold independent; without noise of their own if `inner` is 0."""
    rows = np.array([[(code >> k) & 1 for k in range(QUERIES)] for code in range(2**QUERIES)])

    def law(side: int) -> Array:
        z, weight = _threshold(outer)
        if inner == 0:
            passed = np.asarray(TEN[side])[:, None] >= z
            codes = (2 ** np.arange(QUERIES)) @ passed
            return np.bincount(codes, weight, 2**QUERIES)
        below = _below(z, side, inner)
        by_string = np.ones((1, len(z)))
        for k in range(QUERIES):
            by_string = np.vstack([by_string * below[k], by_string * (1 - below[k])])
        return np.asarray(by_string @ weight)

    return _discrete(name, law, rows)


def _numeric(name: str, outer: float, inner: float, fresh: bool) -> RandomMechanism:
    """Sparse vector that gives the position of the first positive and its noisy answer: the one that was compared, or
    (`fresh`) one with noise of its own.
    """
    z, weight = _threshold(outer)
    reached = []
    for side in (0, 1):
        below = _below(z, side, inner)
        before = np.vstack([np.ones_like(z), np.cumprod(below, axis=0)])
        reached.append(np.cumsum(before * weight, axis=1))
    chances = [_first_positive(side, 0, outer, inner) for side in (0, 1)]

    def log_mass(side: int, first: Array, value: Array) -> Array:
        none = first == QUERIES
        gap = np.abs(value - np.append(TEN[side], 0.0)[first]) / inner
        if fresh:
            return np.asarray(np.log(chances[side][first]) - np.where(none, 0.0, gap))
        found = np.empty(len(first))
        for k in range(QUERIES):
            found[first == k] = np.interp(value[first == k], z, reached[side][k])
        return np.asarray(np.where(none, np.log(chances[side][-1]), np.log(np.where(none, 1.0, found)) - gap))

    def draw(side: int, size: int, rng: Rng) -> tuple[Any, Array]:
        answers = on_grid(TEN[side] + rng.laplace(0, inner, (size, QUERIES)))
        passed = answers >= rng.laplace(0, outer, (size, 1))
        first = np.where(passed.any(axis=1), passed.argmax(axis=1), QUERIES)
        at = np.minimum(first, QUERIES - 1)
        value = TEN[side][at] + on_grid(rng.laplace(0, inner, size)) if fresh else answers[np.arange(size), at]
        value = np.where(first == QUERIES, 0.0, value)
        ratio = log_mass(1, first, value) - log_mass(0, first, value)
        return np.stack([first.astype(float), value], axis=1), ratio

    return RandomMechanism(name, "weak", 0, draw, 0.0, math.inf)


def _laplace_sums(name: str, count: int, scale: float, cumulated: bool) -> RandomMechanism:
    """`count` values with Laplace noise, of which the first moves by 1; or their prefix sums."""

    def draw(side: int, size: int, rng: Rng) -> tuple[Any, Array]:
        x = on_grid(rng.laplace(0, scale, (size, count)))
        x[:, 0] += side
        ratio = (np.abs(x[:, 0]) - np.abs(x[:, 0] - 1)) / scale
        out = np.cumsum(x, axis=1) if cumulated else x
        return (out[:, 0] if count == 1 else out), ratio

    return RandomMechanism(name, "weak", 0, draw, 0.0, 1 / scale)


def _bit_vector(name: str, bits: int, changed: int, epsilon: float) -> RandomMechanism:
    """Randomised response on each bit of a Bloom filter; `changed` bits differ between the datasets."""
    keep = 1 / (1 + math.exp(-epsilon / changed))

    def draw(side: int, size: int, rng: Rng) -> tuple[Any, Array]:
        truth = np.zeros(bits, dtype=bool)
        truth[:changed] = bool(side)
        x = truth ^ (rng.random((size, bits)) >= keep)
        return x.astype(np.int8), (2 * x[:, :changed].sum(axis=1) - changed) * (epsilon / changed)

    return RandomMechanism(name, "weak", 0, draw, 0.0, epsilon)


def mechanisms() -> list[RandomMechanism]:
    """All of them."""
    e = EPSILON
    return [
        _stops_at_first("sparse vector 1 (correct)", 2 / e, 4 / e),
        _stops_at_second("sparse vector 2 (correct, two positives)", 4 / e, 8 / e),
        _numeric("sparse vector 3 (gives what was compared)", 2 / e, 2 / e, fresh=False),
        _stops_at_first("sparse vector 4 (too little noise on answers)", 4 / e, 4 / (3 * e)),
        _never_stops("sparse vector 5 (no noise on answers)", 2 / e, 0.0),
        _never_stops("sparse vector 6 (never stops)", 2 / e, 2 / e),
        _numeric("numeric sparse vector (fresh noise)", 4 / e, 4 / e, fresh=True),
        _discrete("noisy max of 5", lambda side: argmax_mass(FIVE[side], 2 / e), np.arange(5)),
        _bit_vector("randomised response on 20 bits", 20, 4, 3 * e),
        _laplace_sums("prefix sums of 10", 10, 1 / e, cumulated=True),
        _laplace_sums("20 in parallel", 20, 1 / e, cumulated=False),
        _laplace_sums("Laplace", 1, 1 / e, cumulated=False),
        _laplace_sums("Laplace, faint", 1, 1 / FAINT, cumulated=False),
    ]
