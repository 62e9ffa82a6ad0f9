"""The learned score: an estimate of the log-odds that an output came from the neighbour (label 1).

Two layers. A ridge-penalised logistic regression on the features of an output; it ranks outputs that were never seen
before. Above it, outputs that repeat (atoms, discrete values, strings) have their own counts, shrunk towards the
regression by as much as the data ask for. No part of the test's validity rests on this module: it only decides the
power.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.auditor.learn.features import Encoder, with_summaries
from audit.auditor.learn.logistic import LogisticFit, fit_best, fit_logistic, predict
from audit.auditor.learn.wide import WIDE, Reducer
from audit.auditor.terms.outputs import Table, fit_width
from audit.runtime.threads import single_threaded

Array = np.ndarray

FOLDS = 4
"""Parts of the burn-in, each scored by a fit to the others: chosen for power; more take longer."""
STRENGTHS = (0.3, 3.0, 30.0, 300.0, 3000.0)
"""Multiples of the penalty that the evidence chooses from: decades around what few and many draws ask for."""
REPEAT_ERROR = 0.5
"""The standard error of a repeated output's own log-odds, 1/√(np(1 − p)), is multiplied by this: chosen for power."""
SHRINKAGE = np.array([1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 3000.0])
"""Numbers of draws that the regression may count for a repeated output; the likelihood chooses."""


@dataclass(frozen=True)
class Score:
    """A fitted score."""

    reducer: Reducer | None
    encoder: Encoder
    fit: LogisticFit
    cells: Cells
    width: int
    strength: float

    @staticmethod
    @single_threaded
    def learn(table: Table, labels: Array, strengths: Sequence[float] = STRENGTHS) -> Score:
        """Learn from labelled draws; the strength of the penalty is chosen among the given ones."""
        return _learn(table, labels, strengths)[0]

    @single_threaded
    def logit(self, table: Table) -> tuple[Array, Array]:
        """Estimated log-odds of label 1 and their standard error, one of each an output."""
        table = fit_width(table, self.width)
        logits, errors = np.empty(len(table)), np.empty(len(table))
        for rows in _chunks(len(table)):
            design = self._design(table.take(rows))
            logits[rows] = predict(design, self.fit.weights)
            errors[rows] = self.fit.errors(design)
        return self.cells.refine(table.keys, logits, errors)

    def _design(self, table: Table) -> Array:
        return self.encoder.design(with_summaries(table) if self.reducer is None else self.reducer.reduce(table))


@dataclass(frozen=True)
class _Cases:
    """The distinct outputs among labelled draws: a key and a row of the design each, and which draw is which."""

    keys: Array
    design: Array
    where: Array
    labels: Array

    def counts(self, draws: Array | slice) -> tuple[Array, Array]:
        """Of the given draws: how many are each output, and how many of these have label 1."""
        where, labels = self.where[draws], self.labels[draws]
        total = len(self.keys)
        return np.bincount(where, minlength=total).astype(float), np.bincount(where, labels, minlength=total)


def _learn(table: Table, labels: Array, strengths: Sequence[float]) -> tuple[Score, _Cases]:
    """The score, and what it was learned from."""
    width = table.width
    reducer, narrow = Reducer.learn(table, labels) if width > WIDE else (None, with_summaries(table))
    encoder = Encoder.fit(narrow, labels)
    keys, first, where = np.unique(table.keys, return_index=True, return_inverse=True)
    cases = _Cases(keys, encoder.design(narrow.take(first)), where, labels)
    counts, ones = cases.counts(slice(None))
    fit, strength = fit_best(cases.design, ones, counts, encoder.penalties, encoder.fixed, strengths)
    cells = Cells.fit(keys, counts, ones, predict(cases.design, fit.weights))
    return Score(reducer, encoder, fit, cells, width, strength), cases


@single_threaded
def learn_held_out(table: Table, labels: Array, strengths: Sequence[float] = STRENGTHS) -> tuple[Score, Array, Array]:
    """The score; and the log-odds and standard error of each draw from a fit that has not seen its label.

    The fits share the score's knots and indicators, which depend on the labels only through the ends of each side's
    range. Wide outputs are reduced by directions that depend on the labels: there each fit learns its own.
    """
    score, cases = _learn(table, labels, strengths)
    fold = np.arange(len(table)) % FOLDS
    logits, errors = np.zeros(len(table)), np.zeros(len(table))
    for f in range(FOLDS):
        inside, outside = np.flatnonzero(fold == f), np.flatnonzero(fold != f)
        if score.reducer is None:
            found = _refit(score, cases, inside, outside)
        else:
            found = Score.learn(table.take(outside), labels[outside], (score.strength,)).logit(table.take(inside))
        logits[inside], errors[inside] = found
    return score, logits, errors


def _refit(score: Score, cases: _Cases, inside: Array, outside: Array) -> tuple[Array, Array]:
    """What a fit to the draws outside says of those inside."""
    counts, ones = cases.counts(outside)
    known = counts > 0
    penalty = score.encoder.penalties * score.strength + score.encoder.fixed
    fit = fit_logistic(cases.design[known], ones[known], counts[known], penalty, start=score.fit.weights)
    base = predict(cases.design, fit.weights)
    cells = Cells.fit(cases.keys[known], counts[known], ones[known], base[known])
    at = cases.where[inside]
    needed, back = np.unique(at, return_inverse=True)
    logits, errors = cells.refine(cases.keys[needed], base[needed], fit.errors(cases.design[needed]))
    return logits[back], errors[back]


@dataclass(frozen=True)
class Cells:
    """Outputs that repeat: their own counts, shrunk towards the regression.

    The strength a of the shrinkage maximises the beta-binomial likelihood of the counts.
    """

    keys: Array
    logits: Array
    shares: Array
    noise: Array

    @staticmethod
    def fit(keys: Array, counts: Array, ones: Array, base: Array) -> Cells:
        """From the counts of each distinct output and the regression's log-odds for it."""
        repeated = counts >= 2
        if not repeated.any():
            return Cells(np.zeros(0, dtype=np.uint64), np.zeros(0), np.zeros(0), np.zeros(0))
        order = np.argsort(keys[repeated])
        keys, n, k, base = (a[repeated][order] for a in (keys, counts, ones, base))
        prior = np.clip(special.expit(base), 1e-4, 1 - 1e-4)
        fits = [
            np.sum(special.betaln(k + a * prior, n - k + a * (1 - prior)) - special.betaln(a * prior, a * (1 - prior)))
            for a in SHRINKAGE
        ]
        a = SHRINKAGE[int(np.argmax(fits))]
        p = (k + a * prior) / (n + a)
        return Cells(keys, special.logit(p), n / (n + a), REPEAT_ERROR / np.sqrt(n * p * (1 - p) + 1))

    def refine(self, keys: Array, logits: Array, errors: Array) -> tuple[Array, Array]:
        """Log-odds and standard errors, the cells' own where there is a cell."""
        if not len(self.keys):
            return logits, errors
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = self.keys[at] == keys
        share = np.where(known, self.shares[at], 0.0)
        return np.where(known, self.logits[at], logits), (1 - share) * errors + share * self.noise[at]


def _chunks(total: int, size: int = 4096) -> Iterator[slice]:
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))
