"""What the draws looked like, for a picture: the measured trade-off curve with its band, and the outputs of both sides.

**The measured curve.** The plan ranks draws by the margin of their guess. Of N test draws let R_j, W_j be the
probabilities that the margin reaches step j and the guess is right, or wrong. With S₁ (S₀) the outputs at or above step
j that are guessed to come from the neighbour (the dataset), R_j = ½(P(S₁) + Q(S₀)) and W_j = ½(Q(S₁) + P(S₀)). This is
the mean of two pairs that every claim which the mechanism keeps must allow, and claims are convex and symmetric: so
(type I, type II) = (W_j, 1 − R_j) must lie on or above the claim's curve. (Where all guesses name one label, S₀ is
empty and both probabilities count twice.)

**The band.** Let V be the step of a draw that was guessed right, and −∞ otherwise: R_j = P(V ≥ j), and by the
inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant all R̂_j lie within h = √(log(4/α)/2N) of R_j with
probability 1 − α/2; the same for W. All points together are off by at most h in both coordinates with probability
1 − α. This level is the band's own; the verdict does not use it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from audit.auditor.terms.outputs import Table
from audit.auditor.terms.picture import Drawing, Points

if TYPE_CHECKING:
    from audit.auditor.test.plan import Cutoff, Selected

Array = np.ndarray

BINS, SHOWN, TAIL = 40, 5000, 0.002
"""Bins of the histograms; draws that are shown at most; the share at either end that is put into the last bins."""
MEASURED, DATASET, NEIGHBOUR = "grey", "blue", "orange"


@dataclass(frozen=True)
class Sketch:
    """What is drawn besides the bounds."""

    curve: Points
    """(type I, type II) of the learned score's events, from the rarest event on."""
    width: float
    """How far all of these may be off, in both coordinates, at the confidence."""
    both: bool
    """Whether guesses name both labels: then the curve's mirror image is measured, too."""
    outputs: Drawing

    def measured(self) -> Points:
        """The whole curve, from (0, 1) to (1, 0)."""
        half = [(0.0, 1.0), *self.curve]
        return [*half, *((b, a) for a, b in reversed(half))] if self.both else [*half, (1.0, 0.0)]

    def band(self) -> Points:
        """Its band, as a polygon."""
        points = self.measured()
        low, high = ([(_share(a + way), _share(b + way)) for a, b in points] for way in (-self.width, self.width))
        return [*low, *reversed(high)]


def _share(x: float) -> float:
    return min(max(x, 0.0), 1.0)


def sketch(counts: Array, sides: int, alpha: float, outputs: Drawing) -> Sketch:
    """From the counts of a binning (pieces × {all, right} × steps).

    >>> outputs = Drawing("Outputs", "output", "share", (), (), (0.0, 1.0), (0.0, 1.0))
    >>> found = sketch(np.array([[[60, 40], [35, 30]]]), 2, 0.05, outputs)
    >>> [(round(a, 2), round(b, 2)) for a, b in found.curve], round(found.width, 3)
    ([(0.1, 0.7), (0.35, 0.35)], 0.148)
    """
    every, right = counts.sum(axis=0)
    draws, factor = int(every.sum()), 2 / sides
    reached, correct = np.cumsum(every[::-1]), np.cumsum(right[::-1])
    wrong = np.minimum(factor * (reached - correct) / draws, 1.0)
    missed = np.maximum(1 - factor * correct / draws, 0.0)
    width = factor * math.sqrt(math.log(4 / alpha) / (2 * draws))
    return Sketch(list(zip(wrong.tolist(), missed.tolist(), strict=True)), width, sides == 2, outputs)


def outputs_drawing(cutoff: Cutoff, selected: Selected, table: Table, labels: Array) -> Drawing:
    """Histograms of both sides' burn-in draws, the bins shaded that the deciding event holds.

    Over the output itself where it is one number, else over the learned score: the margin of the guess, positive where
    it names the neighbour.
    """
    shown = slice(0, SHOWN)
    margin, guess, side = selected.margin[shown], selected.label[shown], labels[shown]
    limit = cutoff.threshold
    if limit is None:
        size = min(len(selected.margin), max(1, round(cutoff.share * len(selected.margin))))
        limit = float(np.sort(selected.margin)[-size])
    plain = table.width == 1 and bool(np.isfinite(table.numbers[shown]).all())
    x = table.numbers[shown, 0].astype(float) if plain else np.where(guess == 1, margin, -margin)
    x = np.where(np.isfinite(x), x, 0.0)
    low, high = np.quantile(x, [TAIL, 1 - TAIL])
    if not low < high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, BINS + 1)
    place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, BINS - 1)

    def share(mask: Array, of: float) -> Array:
        return np.bincount(place[mask], minlength=BINS) / max(of, 1)

    heights = [share(side == s, (side == s).sum()) for s in (0, 1)]
    top = max(float(np.max(heights)), 1e-9) * 1.25
    areas = []
    for label, colour, name in ((0, DATASET, "dataset"), (1, NEIGHBOUR, "neighbour")):
        held = share((margin >= limit) & (guess == label), 1.0)
        usual = np.bincount(place, minlength=BINS)
        for first, last in _runs((held > 0) & (2 * held >= usual)):
            a, b = float(edges[first]), float(edges[last])
            corners = [(a, 0.0), (a, top), (b, top), (b, 0.0)]
            areas.append((f"tested event: likelier on the {name}", colour, corners))
    curves = tuple(
        (name, colour, _outline(edges, height))
        for name, colour, height in zip(("dataset", "neighbour"), (DATASET, NEIGHBOUR), heights, strict=True)
    )
    title = f"Outputs (burn-in, {len(x)} draws); shaded: the tested event"
    axis = "output" if plain else "score (margin of the guess)"
    return Drawing(title, axis, "share of draws", curves, (), (float(low), float(high)), (0.0, top), tuple(areas))


def _runs(chosen: Array) -> list[tuple[int, int]]:
    """Where True begins and ends."""
    turns = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]])))
    return [(int(a), int(b)) for a, b in zip(turns[::2], turns[1::2], strict=True)]


def _outline(edges: Array, heights: Array) -> Points:
    """The steps of a histogram."""
    xs, ys = np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(heights, 2), [0.0]])
    return list(zip(xs.tolist(), ys.tolist(), strict=True))
