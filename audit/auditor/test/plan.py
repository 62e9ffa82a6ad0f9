"""What to test, decided on the burn-in: the score, the direction, and how many draws to select.

A plan is a few selections, each inside the one before (`Cutoff`), that share the error level.

The burn-in is cut into folds; each fold is scored by a model that has not seen it. Ranked by margin, the scored
draws give an honest curve "share of right guesses among the n of the largest margin". The first cutoff maximises the
bound which the test draws are expected to give. The curve is noisy where n is small, so it is smoothed towards the
model's own probabilities and lowered by as much as the largest of many noisy values is too high. Still it errs, to both
sides: where a few draws look best by luck it selects too few, where nothing stands out too many. So there are further
cutoffs: one of several times as many draws, one of a fixed share of them, and one of as many as look best if nothing is
taken off (rare events). To share the level costs little (half of 0.05 moves the normal quantile from 1.64 to 1.96), a
wrong n may cost a quarter of the bound, and now and then nearly all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from audit.auditor.learn.logistic import fit_logistic
from audit.auditor.learn.scores import FOLDS, Score, learn_held_out
from audit.auditor.learn.simple import Sign
from audit.auditor.terms.claim import Claim
from audit.auditor.terms.outputs import Table, distinct_keys
from audit.auditor.test.exact import predicted_merit
from audit.runtime.threads import single_threaded

Array = np.ndarray

DISCOUNT = 0.5
"""Standard errors taken off each draw's log-odds before draws are ranked: a guess must be known to be good.
Chosen for power.
"""
CALIBRATION_PENALTY = np.array([1e-3, 1e-2])
"""Of the constant and the slope of the smoothing fit: next to nothing, so that a separable sample has a fit."""
CALIBRATED = 25_000
"""Draws of the smoothing fit, about: chosen for speed; it never counts more than WORTH of them anyway."""
SMOOTHING = 1.5
"""The smoothing fit counts at most so many times the draws that were counted: chosen for power."""
WORTH = 600.0
"""The smoothing fit never counts more than so many draws: chosen for power."""
ROUNDING = 1e-4
"""Margins closer than this are the same but for rounding: sums of single-precision products err by less."""
SAFETY = 1.0
"""Standard deviations of the selected count that are left out, so that the tested set stays inside the planned one:
chosen for power.
"""

REPEATING = 0.5
"""Outputs with words among them are scored once each where they are fewer than this share of the draws: chosen for
speed."""
CAUTION = 1.0
"""How much of that by which the largest of many noisy rates is too high, as a rule, is taken off: chosen for power."""
PART, SMALLER, SMALLER_PART, DARING = 0.4, 0.3, 0.2, 0.25
"""The parts of the error level that the cutoffs have: the one of the planned number of draws, the one that selects
SMALLER times as many, and the one of as many as would be best if the rates were not noisy. Chosen for power: that of
the planned number has the most, because it is right most often; all parts add up to 1.
"""
WIDER, WIDER_PART, WIDER_WORTH = 4.0, 0.15, 0.5
"""The same of the one cutoff that is larger; and the share of the planned bound that it must promise to be made."""
PLANNED = 0.4
"""A cutoff of more than this part of the planned draws is no smaller one: rounding and ties move it less."""

MODES = {"neighbour": 1, "dataset": 1, "either": 2}
"""Which label is guessed: always the neighbour (1), always the dataset (0), or whichever is likelier; → sides."""


@dataclass(frozen=True)
class Cutoff:
    """One selection: the n most confident draws, or all with at least this confidence; and its part of the level."""

    n: int
    threshold: float | None
    share: float
    part: float


@dataclass(frozen=True)
class Plan:
    """A test that is fixed before its draws are seen."""

    score: Score | Sign
    mode: str
    cutoffs: tuple[Cutoff, ...]
    """From the largest selection to the smallest."""
    predicted: float
    """The lower bound on ε that the test draws are expected to give."""

    @property
    def sides(self) -> int:
        """1 if all guesses name the same label, else 2."""
        return MODES[self.mode]

    def select(self, table: Table) -> Selected:
        """What the score says of test draws; labels are not looked at. Outputs that repeat are scored once."""
        if table.tokens is not None:
            keys, first, where = distinct_keys(table.keys)
            if len(keys) < len(table) * REPEATING:
                logits, errors = self.score.logit(table.take(first))
                return Selected.by(self.mode, logits[where], errors[where])
        return Selected.by(self.mode, *self.score.logit(table))


@dataclass(frozen=True)
class Selected:
    """Margin and guessed label of each draw."""

    margin: Array
    label: Array

    @staticmethod
    def by(mode: str, logits: Array, errors: Array) -> Selected:
        """From a score's log-odds and their standard errors."""
        return Selected(margin(mode, logits, errors), guess(mode, logits))


def margin(mode: str, logits: Array, errors: Array) -> Array:
    """The log-odds of the guess, less DISCOUNT standard errors: draws are ranked and selected by it."""
    sign = {"neighbour": logits, "dataset": -logits, "either": np.abs(logits)}[mode]
    return np.asarray(sign - DISCOUNT * errors)


def guess(mode: str, logits: Array) -> Array:
    """The guessed label."""
    if mode == "either":
        return np.asarray(logits > 0)
    return np.full(len(logits), mode == "neighbour")


@single_threaded
def make_plan(table: Table, labels: Array, draws: int, claim: Claim, alpha: float) -> tuple[Plan, Selected]:
    """Learn the score, then choose direction and size for `draws` test draws; and what the plan says of the burn-in."""
    score, logits, errors = learn_held_out(table, labels)
    learned = plan_with(score, (logits, errors), labels, score.left_out(table, labels), draws, claim, alpha)
    simple = _simple_plan(table, labels, draws, claim, alpha) if draws + len(labels) <= FEW_DRAWS else None
    return learned if simple is None or simple[0].predicted < learned[0].predicted else simple


FEW_DRAWS = 4000
"""With so many draws in all or fewer, a sign test on one entry is considered, too."""


def _simple_plan(table: Table, labels: Array, draws: int, claim: Claim, alpha: float) -> tuple[Plan, Selected] | None:
    """All test draws are guessed by one condition, at the whole level; what that is worth, the folds tell."""
    score, fold = Sign.learn(table, labels), np.arange(len(table)) % FOLDS
    if score is None:
        return None
    right, total = 0, len(labels)
    for part in range(FOLDS):
        other = Sign.learn(table.take(fold != part), labels[fold != part])
        if other is not None:
            said = other.logit(table.take(fold == part))[0] > 0
            right += int((said == (labels[fold == part] == 1)).sum())
    rate = right / total
    cautious = rate - CAUTION * np.sqrt(2 * np.log(2)) * np.sqrt(rate * (1 - rate) / total)
    mode = "either"
    bound = predicted_merit(claim, np.array([draws]), np.array([cautious]), draws, alpha, MODES[mode])[0]
    selected = Selected.by(mode, *score.logit(table))
    cutoffs = _cutoffs(-np.sort(-selected.margin), [(1.0, 1.0)], draws, claim, lambda n, part: False)
    return Plan(score, mode, cutoffs, float(bound)), selected


def plan_with(
    score: Score | Sign,
    held_out: tuple[Array, Array],
    labels: Array,
    own: tuple[Array, Array],
    draws: int,
    claim: Claim,
    alpha: float,
) -> tuple[Plan, Selected]:
    """Direction and size for a score.

    `held_out` are log-odds and standard errors that fits gave to labelled draws which they had not seen; `own` what the
    score itself says of such draws: its margins are where the cutoffs lie.
    """
    logits, errors = held_out
    modes = ["either"] if claim.any_size else list(MODES)
    curves = [Curve.measure(mode, logits, errors, labels) for mode in modes]
    predictions = [curve.predict(draws, claim, alpha) for curve in curves]
    best = int(np.argmax([bound for bound, _ in predictions]))
    bound, inside = predictions[best]
    mode = curves[best].mode
    selected = Selected.by(mode, *own)
    wide = curves[best].bound_of(min(1.0, WIDER * inside), draws, claim, alpha * WIDER_PART)
    wider = wide - claim.least >= WIDER_WORTH * (bound - claim.least)
    shares = planned_shares(inside, curves[best].predict(draws, claim, alpha, caution=0.0)[1], wider)

    def may_improve(n: int, part: float) -> bool:
        """Whether n right guesses of n would give more than is predicted; those that are planned do."""
        return n >= PLANNED * inside * draws or bool(
            predicted_merit(claim, np.array([n]), np.ones(1), draws, alpha * part, MODES[mode])[0] > bound
        )

    return Plan(score, mode, _cutoffs(-np.sort(-selected.margin), shares, draws, claim, may_improve), bound), selected


def planned_shares(inside: float, daring: float, wider: bool = True) -> list[tuple[float, float]]:
    """Share of draws and part of the level of each cutoff, the largest first; without the wider one the planned one
    has its part, too.
    """
    planned = [(inside, PART), (min(1.0, WIDER * inside), WIDER_PART)] if wider else [(inside, PART + WIDER_PART)]
    return sorted([*planned, (SMALLER * inside, SMALLER_PART), (daring, DARING)], reverse=True)


def _cutoffs(
    ranked: Array,
    shares: Sequence[tuple[float, float]],
    draws: int,
    claim: Claim,
    may_improve: Callable[[int, float], bool],
) -> tuple[Cutoff, ...]:
    """The cutoffs of the planned shares of draws and parts of the level, from the burn-in's margins in falling order.

    Outputs with the same margin stay together: a cutoff that ends among them ends where they end. One that ends where
    the cutoff above it does, or could not improve on it, leaves that one its part of the level.
    """
    cutoffs: list[Cutoff] = []
    total = above = len(ranked)
    for planned, part in shares:
        end = _run_end(ranked, max(1, int(planned * total)))
        share = float(_well_inside(end / total, min(draws, total))) if cutoffs else planned
        n = max(1, int(share * draws))
        if cutoffs and (end >= above or not may_improve(n, part)):
            cutoffs[-1] = replace(cutoffs[-1], part=cutoffs[-1].part + part)
        else:
            cutoffs.append(Cutoff(n, _threshold(ranked, end) if claim.any_size else None, share, part))
            above = end
    return tuple(cutoffs)


def _run_end(ranked: Array, size: int) -> int:
    """How many draws have at least the margin of the one at this rank, but for rounding."""
    return int(np.searchsorted(-ranked, -(ranked[size - 1] - ROUNDING), side="right"))


def _threshold(ranked: Array, end: int) -> float:
    """A confidence that just the first `end` draws reach: half-way down to the next lower one.

    The same output scored in another block may differ in the last bits; half-way it falls on the same side.
    """
    return float((ranked[end - 1] + ranked[end]) / 2 if end < len(ranked) else ranked[-1] - ROUNDING)


def _well_inside(share: Any, total: int) -> Any:
    """Shares of draws lowered by the noise of their estimate: what is tested stays inside what was planned."""
    return np.maximum(share - SAFETY * np.sqrt(share * (1 - share) / total), share / 2)


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

        The fit counts as many draws as its standard error is worth, at most SMOOTHING times what was counted, and at
        most WORTH.
        """
        margins, right = margin(mode, logits, errors), guess(mode, logits) == (labels == 1)
        order = np.argsort(-margins)
        margins = margins[order]
        sizes = _sizes(margins)
        design = _calibration_design(margins)
        few = slice(None, None, max(1, len(margins) // CALIBRATED))
        said = right[order][few].astype(float)
        fit = fit_logistic(design[few], said, np.ones(len(said)), CALIBRATION_PENALTY)
        p = special.expit(design @ fit.weights)
        rates = np.cumsum(p)[sizes - 1] / sizes
        weight = p * (1 - p)
        slopes = np.stack([np.cumsum(column * weight)[sizes - 1] / sizes for column in design.T], axis=1)
        variance = np.einsum("ij,jk,ik->i", slopes, fit.covariance, slopes)
        worth = np.minimum(rates * (1 - rates) / np.maximum(variance, 1e-12), np.minimum(SMOOTHING * sizes, WORTH))
        rates = (np.cumsum(right[order])[sizes - 1] + worth * rates) / (sizes + worth)
        return Curve(mode, len(labels), sizes, rates, np.sqrt(rates * (1 - rates) / (sizes + worth)))

    def predict(self, draws: int, claim: Claim, alpha: float, caution: float = CAUTION) -> tuple[float, float]:
        """The best prediction of the bound, and the (largest) share of draws to select for it.

        Of m = total/size noisy rates the largest is about √(2 ln m) standard errors too high: `caution` times so much
        is taken off.
        """
        share = _well_inside(self.sizes / self.total, min(draws, self.total))
        excess = caution * np.sqrt(2 * np.log1p(self.total / self.sizes))
        cautious = self.rates - excess * self.errors
        bound = predicted_merit(claim, share * draws, cautious, draws, alpha, MODES[self.mode])
        at = int(np.flatnonzero(bound == bound.max())[-1])
        return float(bound[at]), float(share[at])

    def bound_of(self, share: float, draws: int, claim: Claim, level: float) -> float:
        """The bound that a selection of about this share promises, if its rate is as it was counted."""
        at = min(int(np.searchsorted(self.sizes, share * self.total)), len(self.sizes) - 1)
        n, rate = np.array([share * draws]), self.rates[[at]]
        return float(predicted_merit(claim, n, rate, draws, level, MODES[self.mode])[0])


def _calibration_design(margins: Array) -> Array:
    """A constant and the confidence, standardised: the score's own log-odds, moved and stretched as the data ask."""
    return np.stack([np.ones(len(margins)), (margins - np.mean(margins)) / max(float(np.std(margins)), 1e-3)], axis=1)


def _sizes(margins: Array) -> Array:
    """Candidate sizes: about 80 on a geometric grid, each moved to the end of its run of ties."""
    total = len(margins)
    least = min(total, max(4, min(12, total // 300)))
    grid = np.unique(np.geomspace(least, total, 80).astype(int))
    ends = np.searchsorted(-margins, -margins[grid - 1], side="right")
    return np.unique(ends)
