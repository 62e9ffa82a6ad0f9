"""A learned score made sharper by many more draws, which pass by once and are not kept.

A first part of the burn-in finds what a score has to look at (columns, combinations, windows, trees); how much each of
them weighs, a leak of ε = 0.01 shows only to millions of draws. Where outputs repeat, the draws are counted, output by
output, and the regression and the counts of single outputs are fitted anew; scalars are counted cell by cell. Other
draws make one more step of Newton's method, for which sums over them suffice. The last part of the draws is only
scored: it says which of the two scores is better, the old or the new, and it is the held-out sample on which a plan is
made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from scipy import linalg, special

from audit.auditor.learn.logistic import LogisticFit, fit_best, predict
from audit.auditor.learn.scores import STRENGTHS, Cells, Score, chunks
from audit.auditor.terms.outputs import Table, concatenate, distinct_keys, fit_width
from audit.runtime.threads import single_threaded

Array = np.ndarray
Labelled = tuple[Table, Array]

HELD_OUT = 0.4
"""The part of the draws on which the scores are compared and a plan is made."""
MOST_HELD_OUT = 250_000
"""Draws of that part whose scores are kept: chosen for memory; the others are left to the learner."""
REPEATED = 0.8
"""Where more than this share of the first draws are outputs that were seen before, outputs are counted."""
MOST_OUTPUTS = 200_000
"""Outputs that are counted: those seen first, then those seen most; chosen for memory."""
CELLS, INNER = 2**13, 0.998
"""Cells of a scalar that does not repeat, and the part of the draws that they hold: what is beyond is counted as it is.
"""
PENDING = 24
"""Blocks that are counted apart before they are put together: chosen for speed."""


@dataclass(frozen=True)
class Refined:
    """A score; and its log-odds and standard errors of draws that it has not seen, with their labels."""

    score: Score
    logits: Array
    errors: Array
    labels: Array


@single_threaded
def refine(score: Score, first: Table, labels: Array, blocks: Iterable[Labelled], draws: int) -> Refined:
    """Learn from `draws` more draws, block by block, beyond the `first` that the score was learned from."""
    learner = _learner(score, first)
    learner.add(first, labels)
    held_out, scored = int(min(HELD_OUT * draws, MOST_HELD_OUT)), _HeldOut(score, learner)
    seen, better = 0, None
    for table, b in blocks:
        if seen < draws - held_out:
            learner.add(table, b)
        else:
            better = better or learner.score()
            scored.add(better, table, b)
        seen += len(b)
    return scored.refined(better or learner.score())


class _Learner(Protocol):
    def add(self, table: Table, labels: Array) -> None: ...

    def score(self) -> Score: ...

    def stand_in(self, table: Table) -> Table:
        """What each output counts as."""
        ...


@dataclass
class _HeldOut:
    """What the old score and the new one say of draws that neither has seen."""

    old: Score
    learner: _Learner
    said: list[tuple[Array, Array, Array]] = field(default_factory=list)
    gain: float = 0.0
    old_said: list[tuple[Array, Array]] = field(default_factory=list)

    def add(self, new: Score, table: Table, labels: Array) -> None:
        """Score a block with both, outputs that count as the same once."""
        table = self.learner.stand_in(table)
        _, first, where = distinct_keys(table.keys)
        distinct = table.take(first)
        (logits, errors), (old_logits, old_errors) = new.logit(distinct), self.old.logit(distinct)
        self.said.append((logits[where], errors[where], labels))
        self.old_said.append((old_logits[where], old_errors[where]))
        ones, counts = np.bincount(where, labels, len(first)), np.bincount(where, minlength=len(first))
        self.gain += _log_likelihood(logits, ones, counts) - _log_likelihood(old_logits, ones, counts)

    def refined(self, new: Score) -> Refined:
        """The better of the two, and what it says."""
        labels = np.concatenate([b for *_, b in self.said])
        score, said = (new, [s[:2] for s in self.said]) if self.gain > 0 else (self.old, self.old_said)
        logits, errors = (np.concatenate([one[i] for one in said]) for i in (0, 1))
        return Refined(score, logits, errors, labels)


def _log_likelihood(logits: Array, ones: Array, counts: Array) -> float:
    """Of counts draws with these log-odds each, ones of them of label 1."""
    return float(np.sum(ones * logits - counts * np.logaddexp(0.0, logits)))


def _learner(score: Score, first: Table) -> _Learner:
    if _repeats(first):
        return _Counts(score)
    scalar = first.width == 1 and first.tokens is None
    return _Cells.of(score, first) if scalar and score.smooth else _Sums(score)


def _repeats(table: Table) -> bool:
    """Whether most draws are outputs that came before."""
    return bool(len(np.unique(table.keys)) < (1 - REPEATED) * len(table))


# ---------------------------------------------------------------------------------------------- counting


@dataclass
class _Counts:
    """How often each output was seen, and with which label."""

    old: Score
    parts: list[tuple[Table, Array, Array]] = field(default_factory=list)

    def add(self, table: Table, labels: Array) -> None:
        """Count a block."""
        table = fit_width(table, self.old.width)
        keys, first, where = distinct_keys(table.keys)
        counts = np.bincount(where, minlength=len(keys)).astype(float)
        self.parts.append((table.take(first), counts, np.bincount(where, labels, minlength=len(keys))))
        if len(self.parts) > PENDING:
            self.parts = [self._counted()]

    def stand_in(self, table: Table) -> Table:
        """Each output is itself."""
        return table

    def together(self) -> tuple[Table, Array, Array]:
        """All that was counted: one row an output, how often it was seen, and how often with label 1."""
        return self._counted()

    def _counted(self) -> tuple[Table, Array, Array]:
        table = concatenate([part[0] for part in self.parts])
        keys, first, where = distinct_keys(table.keys)
        n, k = (np.bincount(where, np.concatenate([p[i] for p in self.parts]), len(keys)) for i in (1, 2))
        if len(keys) > MOST_OUTPUTS:
            kept = np.sort(np.argsort(-n, kind="stable")[:MOST_OUTPUTS])
            first, n, k = first[kept], n[kept], k[kept]
        return table.take(first), n, k

    def fitted(self) -> tuple[Score, Table, Array, Array]:
        """The regression fitted to the counts; if there are trees, they and what they stand on stay as they are."""
        table, n, k = self.together()
        score = self.old
        if score.trees is None:
            design = score.design(score.narrow(table), table)
            fit, strength = fit_best(design, k, n, score.scaled_penalty, score.fixed_penalty, STRENGTHS)
            score = replace(score, fit=fit, strength=strength)
        return score, table, n, k

    def score(self) -> Score:
        """The regression, and the outputs' own counts above it."""
        score, table, n, k = self.fitted()
        narrow = score.narrow(table)
        design = score.design(narrow, table)
        own = predict(design, score.fit.weights) + (0.0 if score.trees is None else score.trees.add(narrow))
        return replace(score, cells=Cells.fit(table.keys, n, k, own))


@dataclass
class _Cells(_Counts):
    """How often a scalar fell into each of many cells."""

    low: float = 0.0
    size: float = 1.0
    inside: Array = field(default_factory=lambda: np.zeros((2, CELLS)))
    """Draws in each cell, of each label."""

    @staticmethod
    def of(score: Score, first: Table) -> _Cells:
        """Cells of equal length over nearly all of the range."""
        low, high = np.quantile(first.numbers[:, 0], [(1 - INNER) / 2, (1 + INNER) / 2])
        return _Cells(score, low=float(low), size=float(high - low) / CELLS or 1.0)

    def add(self, table: Table, labels: Array) -> None:
        """Count a block, each draw in its cell; those beyond all cells as they are."""
        place = self._places(table)
        inside = (place >= 0) & (place < CELLS)
        cells = place[inside].astype(np.intp)
        self.inside[1] += np.bincount(cells, labels[inside], CELLS)
        self.inside[0] += np.bincount(cells, 1 - labels[inside], CELLS)
        super().add(table.take(~inside), labels[~inside])

    def _places(self, table: Table) -> Array:
        return np.floor((table.numbers[:, 0] - self.low) / self.size)

    def _middles(self, places: Array) -> Array:
        return np.asarray(self.low + (places + 0.5) * self.size)

    def stand_in(self, table: Table) -> Table:
        """The middle of an output's cell."""
        place = self._places(table)
        moved = np.where((place >= 0) & (place < CELLS), self._middles(place), table.numbers[:, 0])
        return Table(moved[:, None], table.tokens)

    def together(self) -> tuple[Table, Array, Array]:
        """What lies beyond all cells, then the middles of the cells."""
        beyond, n, k = self._counted()
        totals = self.inside.sum(axis=0)
        some = np.flatnonzero(totals)
        table = concatenate([beyond, Table(self._middles(some)[:, None], None)])
        return table, np.concatenate([n, totals[some]]), np.concatenate([k, self.inside[1, some]])

    def score(self) -> Score:
        """The regression; what single outputs have of their own stays as it is."""
        return self.fitted()[0]


# ------------------------------------------------------------------------------------------------ summing


@dataclass
class _Sums:
    """The gradient and the Hessian of the log-loss at the weights of the old score."""

    old: Score
    gradient: Array = field(init=False)
    hessian: Array = field(init=False)

    def __post_init__(self) -> None:
        """Nothing seen."""
        width = len(self.old.fit.weights)
        self.gradient, self.hessian = np.zeros(width), np.zeros((width, width))

    def stand_in(self, table: Table) -> Table:
        """Each output is itself."""
        return table

    def add(self, table: Table, labels: Array) -> None:
        """Add a block to the sums."""
        table = fit_width(table, self.old.width)
        for rows in chunks(len(table)):
            part = table.take(rows)
            narrow = self.old.narrow(part)
            design = self.old.design(narrow, part)
            logits = predict(design, self.old.fit.weights)
            if self.old.trees is not None:
                logits += self.old.trees.add(narrow)
            chance = special.expit(logits)
            self.gradient += design.T @ (chance - labels[rows]).astype(np.float32)
            scaled = design * np.sqrt(np.maximum(chance * (1 - chance), 1e-9)).astype(np.float32)[:, None]
            self.hessian += scaled.T @ scaled

    def score(self) -> Score:
        """One step of Newton's method from the old weights; the strength of the penalty is the likeliest."""
        old, found = self.old, []
        for strength in (*STRENGTHS, old.strength):
            penalty = old.scaled_penalty * strength + old.fixed_penalty
            full = self.hessian + np.diag(penalty + 1e-9 + 1e-6 * np.diag(self.hessian).max())
            factor = linalg.cho_factor(full, check_finite=False)
            moved = linalg.cho_solve(factor, self.gradient + penalty * old.fit.weights, check_finite=False)
            weights = old.fit.weights - moved
            covariance = linalg.cho_solve(factor, np.eye(len(full)), check_finite=False)
            loss = -self.gradient @ moved + moved @ self.hessian @ moved / 2 + penalty @ (weights * weights) / 2
            spread = np.sum(np.log(np.maximum(penalty, 1e-12))) / 2 - np.sum(np.log(np.diag(factor[0])))
            found.append((float(spread - loss), strength, LogisticFit(weights, covariance, float(spread - loss))))
        _, strength, fit = max(found, key=lambda item: item[:2])
        return replace(old, fit=fit, strength=strength)
