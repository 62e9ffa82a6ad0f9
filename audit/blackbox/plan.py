"""What to test, decided on the burn-in: the score, the direction, and how many draws to select.

The burn-in is cut into folds; each fold is scored by a model that has not seen it. Ranked by confidence, the scored
draws give an honest curve "share of right guesses among the n most confident". The plan maximises the bound which the
test draws are expected to give. The curve is noisy where n is small, so it is smoothed towards the model's own
probabilities and lowered by a fraction of its standard error: a choice that is stable from run to run is worth more
than the last per cent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.blackbox.confidence import predicted_bound
from audit.blackbox.logistic import fit_logistic
from audit.blackbox.outputs import Table
from audit.blackbox.scores import Score
from audit.blackbox.threads import single_threaded

Array = np.ndarray

FOLDS = 4
DISCOUNT = 1.0
"""Standard errors taken off each draw's log-odds before draws are ranked: a sure guess must be known to be sure."""
CAUTION = 0.5
"""The curve is lowered by this times √(2 ln(1 + total/size)) standard errors: the largest of total/size noisy values
is so high."""
LUCK = 2.5
"""The same for the luck of the test itself."""
BENDS = (0.5, 0.2, 0.07, 0.02, 0.006)
BEND_PENALTY = 3.0
SHARE = 3.0
WORTH = 150.0
"""The smoothing fit never counts more than so many draws."""
SAFETY = 1.0
"""Standard deviations of the selected count that are left out, so that the tested set stays inside the planned one."""

MODES = {"neighbour": 1, "dataset": 1, "either": 2}
"""Which label is guessed: always the neighbour (1), always the dataset (0), or whichever is likelier; → sides."""


@dataclass(frozen=True)
class Plan:
    """A test that is fixed before its draws are seen: the n most confident, or all with at least this confidence."""

    score: Score
    mode: str
    n: int
    threshold: float | None
    share: float
    promise: float

    @property
    def sides(self) -> int:
        """1 if all guesses name the same label, else 2."""
        return MODES[self.mode]

    def select(self, table: Table) -> Selected:
        """What the score says of test draws; labels are not looked at."""
        logits, errors = self.score.logit(table)
        return Selected(confidence(self.mode, logits, errors), guess(self.mode, logits))

    def choose(self, sure: Array) -> Array:
        """The draws that the plan selects: all above its threshold (only if δ = 0), or the n most confident."""
        if self.threshold is not None:
            return np.flatnonzero(sure >= self.threshold)
        return np.argsort(-sure, kind="stable")[: self.n]


@dataclass(frozen=True)
class Selected:
    """Confidence and guessed label of each test draw."""

    sure: Array
    label: Array


def confidence(mode: str, logits: Array, errors: Array) -> Array:
    """How sure the guess is: the rank by which draws are selected."""
    sign = {"neighbour": logits, "dataset": -logits, "either": np.abs(logits)}[mode]
    return np.asarray(sign - DISCOUNT * errors)


def guess(mode: str, logits: Array) -> Array:
    """The guessed label."""
    if mode == "either":
        return np.asarray(logits > 0)
    return np.full(len(logits), mode == "neighbour")


def out_of_fold(table: Table, labels: Array, strength: float) -> tuple[Array, Array]:
    """Log-odds and standard error of each burn-in draw from a model that has not seen it."""
    fold = np.arange(len(table)) % FOLDS
    logits, errors = np.zeros(len(table)), np.zeros(len(table))
    for f in range(FOLDS):
        inside = np.flatnonzero(fold == f)
        outside = np.flatnonzero(fold != f)
        model = Score.learn(table.take(outside), labels[outside], (strength,))
        logits[inside], errors[inside] = model.logit(table.take(inside))
    return logits, errors


@single_threaded
def make_plan(table: Table, labels: Array, draws: int, delta: float, alpha: float) -> Plan:
    """Learn the score, then choose direction and size for `draws` test draws."""
    score = Score.learn(table, labels)
    held_out = out_of_fold(table, labels, score.strength)
    modes = list(MODES) if delta > 0 else ["either"]
    curves = [Curve.measure(mode, *held_out, labels) for mode in modes]
    promises = [curve.promise(draws, delta, alpha) for curve in curves]
    best = int(np.argmax([bound for bound, _ in promises]))
    bound, inside = promises[best]
    mode = curves[best].mode
    ranked = -np.sort(-confidence(mode, *score.logit(table)))
    threshold = float(ranked[max(0, int(inside * len(labels)) - 1)]) if delta == 0 else None
    return Plan(score, mode, max(1, int(inside * draws)), threshold, inside, bound)


@dataclass(frozen=True)
class Curve:
    """Share of right guesses among the most confident burn-in draws, by how many of them."""

    mode: str
    total: int
    sizes: Array
    rates: Array
    errors: Array

    @staticmethod
    def measure(mode: str, logits: Array, errors: Array, labels: Array) -> Curve:
        """The held-out counts, smoothed towards a piecewise-linear fit of "right" against confidence.

        The fit counts as many draws as its standard error is worth, at most SHARE times what was counted, and at
        most WORTH.
        """
        sure, right = confidence(mode, logits, errors), guess(mode, logits) == (labels == 1)
        order = np.argsort(-sure, kind="stable")
        sure = sure[order]
        sizes = _sizes(sure)
        design, penalty = _calibration_design(sure)
        fit = fit_logistic(design, right[order].astype(float), np.ones(len(sure)), penalty)
        p = special.expit(design @ fit.weights)
        rates = np.cumsum(p)[sizes - 1] / sizes
        slopes = np.cumsum(design * (p * (1 - p))[:, None], axis=0)[sizes - 1] / sizes[:, None]
        variance = np.einsum("ij,jk,ik->i", slopes, fit.covariance, slopes)
        worth = np.minimum(rates * (1 - rates) / np.maximum(variance, 1e-12), np.minimum(SHARE * sizes, WORTH))
        rates = (np.cumsum(right[order])[sizes - 1] + worth * rates) / (sizes + worth)
        return Curve(mode, len(labels), sizes, rates, np.sqrt(rates * (1 - rates) / (sizes + worth)))

    def promise(self, draws: int, delta: float, alpha: float) -> tuple[float, float]:
        """The best cautious prediction of the bound, and the share of draws to select for it."""
        share = self.sizes / self.total
        noise = np.sqrt(share * (1 - share) / min(draws, self.total))
        share = np.maximum(share - SAFETY * noise, share / 2)
        luck = np.sqrt(self.rates * (1 - self.rates) / np.maximum(share * draws, 1.0))
        caution = CAUTION * np.sqrt(2 * np.log1p(self.total / self.sizes))
        cautious = np.clip(self.rates - np.hypot(caution * self.errors, LUCK * luck), 0.0, 1.0)
        bound = predicted_bound(share * draws, cautious, draws, delta, alpha, MODES[self.mode])
        at = int(np.argmax(bound))
        return float(bound[at]), float(share[at])


def _calibration_design(sure: Array) -> tuple[Array, Array]:
    """Columns of a piecewise-linear function of the confidence (sorted, largest first), bends near the top; and
    penalties.
    """
    tops = [t for t in BENDS if t * len(sure) >= 40]
    knots = np.unique([sure[int(t * len(sure))] for t in tops])
    centre, scale = float(np.mean(sure)), max(float(np.std(sure)), 1e-3)
    hinges = np.maximum(sure[:, None] - knots, 0.0) / scale
    design = np.concatenate([np.ones((len(sure), 1)), (sure[:, None] - centre) / scale, hinges], axis=1)
    return design, np.concatenate([[1e-3, 1e-2], np.full(len(knots), BEND_PENALTY)])


def _sizes(sure: Array) -> Array:
    """Candidate sizes: about 80 on a geometric grid, each moved to the end of its run of ties."""
    total = len(sure)
    least = min(total, max(4, min(12, total // 300)))
    grid = np.unique(np.geomspace(least, total, 80).astype(int))
    ends = np.searchsorted(-sure, -sure[grid - 1], side="right")
    return np.unique(ends)
