"""Outputs with structure: tuples of mixed kinds, missing values, lengths; and what leaks through them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bench.zoo.additive import total
from bench.zoo.entry import Array, Entry, on_grid
from bench.zoo.law import Law, discrete, laplace_cdf

COARSE = np.linspace(-15, 16, 621) + 1e-9


def _interval_masses(scale: float, centre: float) -> Array:
    return np.diff(np.concatenate([[0.0], laplace_cdf(COARSE - centre, scale), [1.0]]))


def _intervals(x: Any) -> Array:
    return np.searchsorted(COARSE, np.asarray(x, dtype=float), side="right")


def _mixed(d: Any, size: int, rng: np.random.Generator) -> list[tuple[str, float]]:
    """A name by randomised response (ε = 1/2) and a Laplace count (ε = 1/2)."""
    odds = math.exp(0.5) / (1 + math.exp(0.5))
    names = np.where(rng.random(size) < odds, int(total(d)), 1 - int(total(d)))
    values = on_grid(total(d) + rng.laplace(0, 2.0, size))
    return [("yes" if n else "no", float(v)) for n, v in zip(names, values, strict=True)]


def _mixed_law() -> Law:
    odds = math.exp(0.5) / (1 + math.exp(0.5))
    sides = []
    for s in (0, 1):
        name = np.array([odds, 1 - odds]) if s == 0 else np.array([1 - odds, odds])
        sides.append(np.outer(name, _interval_masses(2.0, float(s))).ravel())
    return discrete(sides[0], sides[1], 1.0)


def _overlap(d: Any, size: int, rng: np.random.Generator) -> Array:
    """Two noisy sums over batches that share the record: each is 1-DP, both together are not."""
    return on_grid(total(d) + rng.laplace(size=(size, 2)))


def _overlap_law() -> Law:
    grids = [_interval_masses(1.0, float(s)) for s in (0, 1)]
    return discrete(np.outer(grids[0], grids[0]).ravel(), np.outer(grids[1], grids[1]).ravel(), 2.0)


def _leaky_nan(d: Any, size: int, rng: np.random.Generator) -> Array:
    """NaN once in fifty if the special record is there."""
    values = on_grid(rng.laplace(size=size))
    return np.where((rng.random(size) < 0.02) & (total(d) > 0), np.nan, values)


def _leaky_length(d: Any, size: int, rng: np.random.Generator) -> list[tuple[float, ...]]:
    """One noisy number for each record, of which the new one is kept half of the time."""
    keep = 2 + (rng.random(size) < 0.5) * (len(d) - 2)
    values = on_grid(rng.laplace(0, 4.0, (size, 3)))
    return [tuple(values[i, : keep[i]].tolist()) for i in range(size)]


def _wrong_query(d: Any, size: int, rng: np.random.Generator) -> list[tuple[float, float]]:
    """The count gets the noise, the sum beside it is released as it is."""
    counts = on_grid(len(d) + rng.laplace(size=size))
    return [(float(c), total(d)) for c in counts]


def _none_gate(d: Any, size: int, rng: np.random.Generator) -> list[float | None]:
    """Propose–test–release done right: the gate is noisy too (ε = 1/2), the value has scale 2 (ε = 1/2)."""
    gate = on_grid(total(d) + rng.laplace(0, 2.0, size)) > 1.0
    values = on_grid(total(d) + rng.laplace(0, 2.0, size))
    return [float(v) if g else None for g, v in zip(gate, values, strict=True)]


def _none_gate_law() -> Law:
    sides = []
    for s in (0, 1):
        passed = 1 - float(laplace_cdf(np.array(1.0 + 2.0**-21 - s), 2.0))
        sides.append(np.concatenate([[1 - passed], passed * _interval_masses(2.0, float(s))]))
    return discrete(sides[0], sides[1])


def entries() -> list[Entry]:
    """The structured outputs."""
    width = len(COARSE) + 1
    pair: dict[str, Any] = {"dataset": [0.0], "neighbour": [1.0]}
    certain = (np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    return [
        Entry(
            "mixed-tuple",
            "(name, noisy count), composed correctly",
            _mixed,
            **pair,
            epsilon=1.0,
            make_law=_mixed_law,
            cells=lambda o: np.array([n == "yes" for n, _ in o]) * width + _intervals([v for _, v in o]),
        ),
        Entry(
            "gated-value",
            "None or a noisy value, both correctly noised",
            _none_gate,
            **pair,
            epsilon=1.0,
            make_law=_none_gate_law,
            cells=lambda o: np.array([0 if v is None else 1 + int(_intervals([v])[0]) for v in o]),
        ),
        Entry(
            "overlapping-batches",
            "two 1-DP releases that share a record",
            _overlap,
            **pair,
            epsilon=1.0,
            make_law=_overlap_law,
            cells=lambda o: _intervals(o[:, 0]) * width + _intervals(o[:, 1]),
        ),
        Entry(
            "leaking-nan",
            "NaN once in fifty if the record is there",
            _leaky_nan,
            **pair,
            epsilon=1.0,
            make_law=lambda: discrete(np.array([0.0, 1.0]), np.array([0.02, 0.98])),
            cells=lambda o: np.where(np.isnan(o), 0, 1),
        ),
        Entry(
            "leaking-length",
            "the number of outputs tells the number of records",
            _leaky_length,
            [0.0, 1.0],
            [0.0, 1.0, 1.0],
            1.0,
            make_law=lambda: discrete(np.array([0.0, 1.0]), np.array([0.5, 0.5])),
            cells=lambda o: np.array([0 if len(v) == 3 else 1 for v in o]),
        ),
        Entry(
            "wrong-query",
            "noise on the count, the exact sum beside it",
            _wrong_query,
            **pair,
            epsilon=1.0,
            make_law=lambda: discrete(*certain),
            cells=lambda o: np.array([0 if v[1] == 1.0 else 1 for v in o]),
        ),
        Entry(
            "ignores-data",
            "Laplace noise alone: 0-DP",
            lambda d, n, r: on_grid(r.laplace(size=n)),
            **pair,
            epsilon=0.0,
            make_law=lambda: discrete(_interval_masses(1.0, 0.0), _interval_masses(1.0, 0.0)),
            cells=_intervals,
        ),
    ]
