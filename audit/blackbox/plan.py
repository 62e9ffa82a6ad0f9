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
from audit.blackbox.scores import Score, learn_held_out
from audit.blackbox.threads import single_threaded

Array = np.ndarray

DISCOUNT = 1.0
"""Standard errors taken off each draw's log-odds before draws are ranked: a sure guess must be known to be sure."""
CAUTION = 0.25
"""The curve is lowered by this times √(2 ln(1 + total/size)) standard errors: the largest of total/size noisy values
is so high."""
LUCK = 1.5
"""The same for the luck of the test itself."""
CALIBRATION_PENALTY = np.array([1e-3, 1e-2])
SHARE = 1.5
WORTH = 600.0
"""The smoothing fit never counts more than so many draws."""
SLACK = 0.015
"""Predictions that differ by this share are equally good."""
ROUNDING = 1e-4
"""Confidences closer than this are the same but for rounding."""
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
        return Selected.by(self.mode, *self.score.logit(table))

    def choose(self, sure: Array) -> Array:
        """The draws that the plan selects: all above its threshold (only if δ = 0), or the n most confident."""
        if self.threshold is not None:
            return np.flatnonzero(sure >= self.threshold)
        return np.argsort(-sure, kind="stable")[: self.n]


@dataclass(frozen=True)
class Selected:
    """Confidence and guessed label of each draw."""

    sure: Array
    label: Array

    @staticmethod
    def by(mode: str, logits: Array, errors: Array) -> Selected:
        """From a score's log-odds and their standard errors."""
        return Selected(confidence(mode, logits, errors), guess(mode, logits))


def confidence(mode: str, logits: Array, errors: Array, discount: float = DISCOUNT) -> Array:
    """How sure the guess is: the rank by which draws are selected."""
    sign = {"neighbour": logits, "dataset": -logits, "either": np.abs(logits)}[mode]
    return np.asarray(sign - discount * errors)


def guess(mode: str, logits: Array) -> Array:
    """The guessed label."""
    if mode == "either":
        return np.asarray(logits > 0)
    return np.full(len(logits), mode == "neighbour")


@single_threaded
def make_plan(table: Table, labels: Array, draws: int, delta: float, alpha: float) -> tuple[Plan, Selected]:
    """Learn the score, then choose direction and size for `draws` test draws; and what the plan says of the burn-in."""
    score, logits, errors = learn_held_out(table, labels)
    modes = list(MODES) if delta > 0 else ["either"]
    curves = [Curve.measure(mode, logits, errors, labels) for mode in modes]
    promises = [curve.promise(draws, delta, alpha) for curve in curves]
    best = int(np.argmax([bound for bound, _ in promises]))
    bound, inside = promises[best]
    mode = curves[best].mode
    own = Selected.by(mode, *score.logit(table))
    threshold = _threshold(own.sure, max(1, int(inside * len(labels)))) if delta == 0 else None
    return Plan(score, mode, max(1, int(inside * draws)), threshold, inside, bound), own


def _threshold(sure: Array, size: int) -> float:
    """A confidence that at least `size` draws reach: half-way down to the next lower one, if that is apart.

    The same output scored in another block may differ in the last bits; half-way it falls on the same side.
    """
    ranked = -np.sort(-sure)
    last = ranked[size - 1]
    below = ranked[np.searchsorted(-ranked, -(last - ROUNDING), side="right") :]
    return float((last + below[0]) / 2 if len(below) else last - ROUNDING)


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
        """The held-out counts, smoothed towards a logistic fit of "right" against confidence.

        The fit counts as many draws as its standard error is worth, at most SHARE times what was counted, and at
        most WORTH.
        """
        sure, right = confidence(mode, logits, errors), guess(mode, logits) == (labels == 1)
        order = np.argsort(-sure, kind="stable")
        sure = sure[order]
        sizes = _sizes(sure)
        design = _calibration_design(sure)
        fit = fit_logistic(design, right[order].astype(float), np.ones(len(sure)), CALIBRATION_PENALTY)
        p = special.expit(design @ fit.weights)
        rates = np.cumsum(p)[sizes - 1] / sizes
        slopes = np.cumsum(design * (p * (1 - p))[:, None], axis=0)[sizes - 1] / sizes[:, None]
        variance = np.einsum("ij,jk,ik->i", slopes, fit.covariance, slopes)
        worth = np.minimum(rates * (1 - rates) / np.maximum(variance, 1e-12), np.minimum(SHARE * sizes, WORTH))
        rates = (np.cumsum(right[order])[sizes - 1] + worth * rates) / (sizes + worth)
        return Curve(mode, len(labels), sizes, rates, np.sqrt(rates * (1 - rates) / (sizes + worth)))

    def promise(self, draws: int, delta: float, alpha: float) -> tuple[float, float]:
        """The best cautious prediction of the bound, and the share of draws to select for it: the largest share whose
        prediction is about as good, since more draws leave less to luck.
        """
        share = self.sizes / self.total
        noise = np.sqrt(share * (1 - share) / min(draws, self.total))
        share = np.maximum(share - SAFETY * noise, share / 2)
        luck = np.sqrt(self.rates * (1 - self.rates) / np.maximum(share * draws, 1.0))
        caution = CAUTION * np.sqrt(2 * np.log1p(self.total / self.sizes))
        cautious = np.clip(self.rates - np.hypot(caution * self.errors, LUCK * luck), 0.0, 1.0)
        bound = predicted_bound(share * draws, cautious, draws, delta, alpha, MODES[self.mode])
        at = int(np.flatnonzero(bound >= (1 - SLACK) * bound.max())[-1])
        return float(bound[at]), float(share[at])


def _calibration_design(sure: Array) -> Array:
    """A constant and the confidence, standardised: the score's own log-odds, moved and stretched as the data ask."""
    return np.stack([np.ones(len(sure)), (sure - np.mean(sure)) / max(float(np.std(sure)), 1e-3)], axis=1)


def _sizes(sure: Array) -> Array:
    """Candidate sizes: about 80 on a geometric grid, each moved to the end of its run of ties."""
    total = len(sure)
    least = min(total, max(4, min(12, total // 300)))
    grid = np.unique(np.geomspace(least, total, 80).astype(int))
    ends = np.searchsorted(-sure, -sure[grid - 1], side="right")
    return np.unique(ends)
