"""Auditors of the kinds that others have published, of our own making, run on the same draws as ours.

All of them work alike: a score and an event are learned on the first half of the draws of each side, and the event's
masses are bounded by two Clopper–Pearson intervals (α/2 each) on the second half. They differ in the score, and in the
event that is made of it:

- `logistic`, `network`: a logistic regression, and a network with two small hidden layers, that tell the sides apart;
  the event is the hundredth of the outputs that looks most like one side (after Bichsel, Steffen, Bogunovic and Vechev,
  "DP-Sniper", S&P 2021);
- `hockey-stick`: the same network, trained with weights e^ε and 1 for the claim, and the event where it says yes (after
  the hockey-stick tester of Kong and others, "DP-Auditorium", 2023);
- `canary`: one number an output, the linear discriminant, and the threshold that gave most on the first half (after the
  canary scores of jax-privacy).

Which side the event is likelier on is chosen on the first half, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import linalg, special

from audit.auditor.learn.logistic import fit_logistic
from audit.auditor.terms.outputs import Table, tabulate

Array = np.ndarray
Sides = tuple[Array, Array]
Score = Callable[[Array], Array]

SHARE = 0.01
"""Mass of the event of `logistic` and `network`: what their authors recommend."""
HIDDEN = (10, 5)
"""Widths of the network's hidden layers: theirs."""
EPOCHS, BATCH, RATE = 10, 500, 3e-3
LEVELS, MOST_COLUMNS = 20, 400
"""Indicators of the most frequent tokens of a position, and columns in all."""
LEAST = 1e-9


@dataclass(frozen=True)
class Event:
    """Outputs with a score beyond a limit; `likelier` is the side (0 or 1) on which it is expected to be likelier."""

    score: Score
    limit: float
    likelier: int

    def seen(self, sides: Sides) -> tuple[Array, Array]:
        """Whether it happened, on the side where it is likelier and on the other."""
        return self.score(sides[self.likelier]) > self.limit, self.score(sides[1 - self.likelier]) > self.limit


def bounds(outputs: tuple[Any, Any], epsilon: float, delta: float, confidence: float, seed: int) -> dict[str, float]:
    """What each of them certifies from the outputs on the dataset and on the neighbour."""
    zero, one = (np.array_split(x, 2) for x in _standardised([tabulate(side) for side in outputs]))
    learn, test = (zero[0], one[0]), (zero[1], one[1])
    rng = np.random.default_rng(seed)
    events = {
        "logistic": _of_share(_logistic(learn), learn, delta),
        "network": _of_share(_network(learn, (1.0, 1.0), rng), learn, delta),
        "hockey-stick": _hockey_stick(learn, epsilon, rng),
        "canary": _of_best_limit(_discriminant(learn), learn, delta, confidence),
    }
    return {name: _bound(*event.seen(test), delta, confidence) for name, event in events.items()}


# ------------------------------------------------------------------------------------------------- columns


def _standardised(tables: list[Table]) -> list[Array]:
    """Numbers, then indicators of frequent tokens; each column centred and scaled as on the dataset's first half."""
    width = min(t.width for t in tables)
    levels = []
    for leaf in range(width):
        codes, counts = np.unique(tables[0].token_matrix()[:, leaf], return_counts=True)
        levels += (
            [(leaf, code) for code in codes[np.argsort(-counts, kind="stable")][:LEVELS]] if len(codes) > 1 else []
        )
    found = []
    for table in tables:
        tokens = table.token_matrix()
        numbers = np.nan_to_num(table.numbers[:, :width])
        indicators = [(tokens[:, leaf] == code).astype(float) for leaf, code in levels[:MOST_COLUMNS]]
        found.append(np.column_stack([numbers, *indicators]))
    seen = found[0][: len(found[0]) // 2]
    centre, spread = seen.mean(axis=0), seen.std(axis=0)
    return [np.clip((x - centre) / np.maximum(spread, LEAST), -1e3, 1e3) for x in found]


# -------------------------------------------------------------------------------------------------- scores


def _pooled(sides: Sides) -> tuple[Array, Array]:
    return np.concatenate(sides), np.repeat([0.0, 1.0], [len(side) for side in sides])


def _logistic(sides: Sides) -> Score:
    x, labels = _pooled(sides)
    design = np.column_stack([np.ones(len(x)), x])
    fit = fit_logistic(design, labels, np.ones(len(x)), np.full(design.shape[1], 1.0))
    return lambda z: np.asarray(z @ fit.weights[1:] + fit.weights[0])


def _discriminant(sides: Sides) -> Score:
    pooled = sum(np.atleast_2d(np.cov(side.T)) for side in sides) / 2
    gap = sides[1].mean(axis=0) - sides[0].mean(axis=0)
    direction = linalg.pinvh(pooled + 1e-6 * np.eye(len(gap))) @ gap
    return lambda z: np.asarray(z @ direction)


def _network(sides: Sides, weights: tuple[float, float], rng: np.random.Generator) -> Score:
    """A network of rectified units for the logistic loss with a weight a side, by Adam."""
    x, labels = _pooled(sides)
    cost = np.where(labels == 1, weights[1], weights[0]) / max(weights)
    widths = (x.shape[1], *HIDDEN, 1)
    matrices = [rng.standard_normal((a, b)) * math.sqrt(2 / a) for a, b in pairwise(widths)]
    layers = [*matrices, *(np.zeros(b) for b in widths[1:])]
    moments = [(np.zeros_like(layer), np.zeros_like(layer)) for layer in layers]
    for step, rows in enumerate(_batches(len(x), rng), start=1):
        slopes = _slopes(layers, x[rows], labels[rows], cost[rows])
        for layer, (first, second), slope in zip(layers, moments, slopes, strict=True):
            first += 0.1 * (slope - first)
            second += 0.001 * (slope * slope - second)
            layer -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return lambda z: _activations(layers, z)[-1][:, 0]


def _batches(total: int, rng: np.random.Generator) -> Iterator[Array]:
    for _ in range(EPOCHS):
        yield from np.array_split(rng.permutation(total), max(1, total // BATCH))


def _activations(layers: list[Array], x: Array) -> list[Array]:
    """Of all layers, the input first."""
    depth = len(layers) // 2
    found = [x]
    for i in range(depth):
        z = found[-1] @ layers[i] + layers[depth + i]
        found.append(np.maximum(z, 0.0) if i < depth - 1 else z)
    return found


def _slopes(layers: list[Array], x: Array, labels: Array, cost: Array) -> list[Array]:
    """The gradient of the mean loss in each matrix, then in each offset."""
    depth = len(layers) // 2
    active = _activations(layers, x)
    slope = (cost * (special.expit(active[-1][:, 0]) - labels) / len(x))[:, None]
    matrices, offsets = [], []
    for i in reversed(range(depth)):
        matrices.append(active[i].T @ slope)
        offsets.append(slope.sum(axis=0))
        slope = (slope @ layers[i].T) * (active[i] > 0)
    return [*matrices[::-1], *offsets[::-1]]


# -------------------------------------------------------------------------------------------------- events


def _signed(score: Score, likelier: int) -> Score:
    return score if likelier else lambda z: -score(z)


def _of_share(score: Score, learn: Sides, delta: float) -> Event:
    """The outputs that look most like one side, as many as SHARE of the other side; the better of two directions."""
    found = []
    for side in (0, 1):
        towards = _signed(score, side)
        event = Event(towards, float(np.quantile(towards(learn[1 - side]), 1 - SHARE)), side)
        hits, alarms = event.seen(learn)
        found.append((float(hits.mean() - alarms.mean()) - delta, side, event))
    return max(found, key=lambda item: item[:2])[2]


def _hockey_stick(learn: Sides, epsilon: float, rng: np.random.Generator) -> Event:
    """Where a network that is trained for P(S) − e^ε Q(S) says yes; the better of two directions."""
    found = []
    for side in (0, 1):
        weights = (1.0, math.exp(epsilon)) if side == 0 else (math.exp(epsilon), 1.0)
        event = Event(_signed(_network(learn, weights, rng), side), 0.0, side)
        hits, alarms = event.seen(learn)
        found.append((float(hits.mean() - math.exp(epsilon) * alarms.mean()), side, event))
    return max(found, key=lambda item: item[:2])[2]


def _of_best_limit(score: Score, learn: Sides, delta: float, confidence: float) -> Event:
    """The limit that gives the largest bound on the draws that the score was learned from, in either direction."""
    found = []
    for side in (0, 1):
        towards = _signed(score, side)
        for limit in np.quantile(towards(learn[1 - side]), 1 - np.geomspace(5 / len(learn[0]), 0.9, 60)):
            event = Event(towards, float(limit), side)
            found.append((_bound(*event.seen(learn), delta, confidence), side, event))
    return max(found, key=lambda item: item[:2])[2]


def _bound(hits: Array, alarms: Array, delta: float, confidence: float) -> float:
    """The loss that two Clopper–Pearson intervals prove for an event."""
    half = (1 - confidence) / 2
    k, n, c, m = int(hits.sum()), len(hits), int(alarms.sum()), len(alarms)
    low = float(special.betaincinv(k, n - k + 1, half)) if k else 0.0
    high = float(special.betaincinv(c + 1, m - c, 1 - half)) if c < m else 1.0
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0
