"""The learned score: an estimate of the log-odds that an output came from the neighbour (label 1).

Layers, each of which sees what those below leave unexplained. A ridge-penalised logistic regression on the features of
single leaves; it ranks outputs that were never seen before. Further columns where the burn-in asks for them: products
of leaves, numbers within categories, bits (`interactions`), narrow places (`windows`). Boosted trees (`trees`). And
above all of them, outputs that repeat (atoms, discrete values, strings) have their own counts, shrunk towards the rest
by as much as the data ask for. No part of the test's validity rests on this module: it only decides the power.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from audit.auditor.learn.features import LEVEL_PENALTY, Encoder, with_summaries
from audit.auditor.learn.interactions import Bit, Combinations, Product, Residuals
from audit.auditor.learn.logistic import LogisticFit, fit_best, fit_logistic, predict
from audit.auditor.learn.trees import Trees, boosted, misfit
from audit.auditor.learn.wide import WIDE, Reducer, settled
from audit.auditor.learn.windows import Windows
from audit.auditor.terms.outputs import Table, distinct_keys, fit_width
from audit.runtime.threads import single_threaded

Array = np.ndarray

FOLDS = 4
"""Parts of the burn-in, each scored by a fit to the others: chosen for power; more take longer."""
FOLD_STEPS = 2
"""Newton's steps from the fit to all draws to that without a fold: chosen for speed; the first does nearly all."""
STRENGTHS = (0.3, 3.0, 30.0, 300.0, 3000.0)
"""Multiples of the penalty that the evidence chooses from: decades around what few and many draws ask for."""
REPEAT_ERROR = 0.5
"""The standard error of a repeated output's own log-odds, 1/√(np(1 − p)), is multiplied by this: chosen for power."""
FREQUENT, COUNTED = 8, 0.9
"""Where more than a share COUNTED of the draws are outputs seen FREQUENT times or more, counts say all: no trees."""
OWN = 0.5
"""Draws of each label that a cell with a law of its own has beforehand (Jeffreys' prior)."""
FEW = 0.01
"""The share of such cells before anything is seen."""
SHRINKAGE = np.array([1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 3000.0])
"""Numbers of draws that the regression may count for a repeated output; the likelihood chooses."""
SHIFTS, SHIFTED = (-3.0, -1.5, -0.75, -0.35, -0.15, 0.15, 0.35, 0.75, 1.5, 3.0), (10.0, 100.0, 1000.0)
"""Further centres, in log-odds beside the regression, and for how many draws they may count: chosen for power."""
STEPS = 40
"""Of EM: chosen for speed."""
TELLING, REPEATS = 0.5, 20
"""An output that was seen once is a cell if its log-odds move by so much, and if so many others were seen a few times:
chosen; fewer say little about how outputs lean.
"""


@dataclass(frozen=True)
class Extras:
    """What the regression on single leaves cannot express, as further columns: combinations of leaves, and windows."""

    combinations: Combinations
    encoder: Encoder | None
    windows: Windows

    @staticmethod
    def find(table: Table, labels: Array, chances: Array, leaves: Iterable[int] | None = None) -> Extras:
        """What stands out against the chances that the regression gives to the labels; `leaves`: where windows may be,
        if that is known.
        """
        full = with_summaries(table)
        combinations = Combinations.find(full, Residuals.of(labels, chances))
        encoder = Encoder.fit(combinations.table(full), labels, grained=()) if combinations.kept else None
        return Extras(combinations, encoder, Windows.find(table, labels, chances, leaves))

    @property
    def some(self) -> bool:
        """Whether there are any."""
        return bool(self.combinations.kept or self.windows.kept)

    def columns(self, table: Table) -> Array:
        """The columns, those of the combinations first."""
        windows = self.windows.columns(table)
        if self.encoder is None:
            return windows
        combined = self.encoder.design(self.combinations.table(with_summaries(table)))
        return np.concatenate([combined[:, 1:], windows], axis=1)

    @property
    def scaled_penalty(self) -> Array:
        """The part of each column's penalty that its strength multiplies."""
        combined = np.zeros(0) if self.encoder is None else self.encoder.penalties[1:]
        return np.concatenate([combined, np.zeros(len(self.windows.kept))])

    @property
    def fixed_penalty(self) -> Array:
        """The part that it does not."""
        combined = np.zeros(0) if self.encoder is None else self.encoder.fixed[1:]
        return np.concatenate([combined, np.full(len(self.windows.kept), LEVEL_PENALTY)])


@dataclass(frozen=True)
class Score:
    """A fitted score."""

    reducer: Reducer | None
    encoder: Encoder
    extras: Extras
    fit: LogisticFit
    cells: Cells
    width: int
    strength: float
    trees: Trees | None = None

    @staticmethod
    @single_threaded
    def learn(table: Table, labels: Array, strengths: Sequence[float] = STRENGTHS) -> Score:
        """Learn from labelled draws; the strength of the penalty is chosen among the given ones."""
        return learn_held_out(table, labels, strengths)[0]

    @single_threaded
    def logit(self, table: Table) -> tuple[Array, Array]:
        """Estimated log-odds of label 1 and their standard error, one of each an output."""
        return self.cells.refine(table.keys, *self._without_cells(table))

    @single_threaded
    def left_out(self, table: Table, labels: Array) -> tuple[Array, Array]:
        """The same of the draws that it was learned from, each as if its output had been drawn once less.

        Where most words are seen once, every draw of the burn-in is of a known word, and few of the draws to come are.
        """
        return self.cells.left_out(table.keys, labels, *self._without_cells(table))

    def _without_cells(self, table: Table) -> tuple[Array, Array]:
        table = fit_width(table, self.width)
        logits, errors = np.empty(len(table)), np.empty(len(table))
        for rows in chunks(len(table)):
            part = table.take(rows)
            narrow = self.narrow(part)
            design = self.design(narrow, part)
            logits[rows] = predict(design, self.fit.weights)
            errors[rows] = self.fit.errors(design)
            if self.trees is not None:
                logits[rows] += self.trees.add(narrow)
        return logits, errors

    def narrow(self, table: Table) -> Table:
        """The few columns that the regression and the trees read."""
        return with_summaries(table) if self.reducer is None else self.reducer.reduce(table)

    def design(self, narrow: Table, table: Table) -> Array:
        """The columns of the regression."""
        return _beside(self.encoder.design(narrow), self.extras.columns(table))

    @property
    def smooth(self) -> bool:
        """Whether outputs that are next to each other have nearly the same score, but for jumps and single outputs."""
        granular = any(column.kind == "granularity" for column in self.encoder.columns)
        bits = any(isinstance(one, Bit | Product) for one in self.extras.combinations.kept)
        return not granular and not bits and self.reducer is None

    @property
    def scaled_penalty(self) -> Array:
        """The part of each column's penalty that its strength multiplies."""
        return np.concatenate([self.encoder.penalties, self.extras.scaled_penalty])

    @property
    def fixed_penalty(self) -> Array:
        """The part that it does not."""
        return np.concatenate([self.encoder.fixed, self.extras.fixed_penalty])

    @property
    def penalty(self) -> Array:
        """Of each column."""
        return np.asarray(self.scaled_penalty * self.strength + self.fixed_penalty)


@dataclass(frozen=True)
class _Cases:
    """The distinct outputs among labelled draws: a key and a row of the design each, and which draw is which."""

    keys: Array
    narrow: Table
    design: Array
    where: Array
    labels: Array

    def counts(self, draws: Array | slice) -> tuple[Array, Array]:
        """Of the given draws: how many are each output, and how many of these have label 1."""
        where, labels = self.where[draws], self.labels[draws]
        total = len(self.keys)
        return np.bincount(where, minlength=total).astype(float), np.bincount(where, labels, minlength=total)


def _learn(
    table: Table, labels: Array, strengths: Sequence[float], leaves: Iterable[int] | None = None
) -> tuple[Score, _Cases]:
    """The score without trees and counts, and what it was learned from."""
    width = table.width
    reducer, narrow = Reducer.learn(table, labels) if width > WIDE else (None, with_summaries(table))
    encoder = Encoder.fit(narrow, labels, grained=None if reducer is None else reducer.coordinates)
    keys, first, where = distinct_keys(table.keys)
    distinct = narrow.take(first)
    cases = _Cases(keys, distinct, encoder.design(distinct), where, labels)
    counts, ones = cases.counts(slice(None))
    fit, strength = fit_best(cases.design, ones, counts, encoder.penalties, encoder.fixed, strengths)
    extras = Extras.find(table, labels, special.expit(predict(cases.design, fit.weights))[where], leaves)
    score = Score(reducer, encoder, extras, fit, Cells.none(), width, strength)
    columns = extras.columns(table.take(first))
    if columns.shape[1]:
        cases = replace(cases, design=_beside(cases.design, columns))
        start = np.concatenate([fit.weights, np.zeros(columns.shape[1])])
        score = replace(score, fit=fit_logistic(cases.design, ones, counts, score.penalty, start=start))
    return score, cases


def _beside(design: Array, columns: Array) -> Array:
    return np.concatenate([design, columns], axis=1) if columns.shape[1] else design


@single_threaded
def learn_held_out(table: Table, labels: Array, strengths: Sequence[float] = STRENGTHS) -> tuple[Score, Array, Array]:
    """The score; and the log-odds and standard error of each draw from a fit that has not seen its label.

    The fits share the score's knots and indicators, which depend on the labels only through the ends of each side's
    range. Directions to which wide outputs are reduced (unless draws are many), combinations and windows depend on them
    far more: where there are any, each fit learns its own (windows in those leaves where the score has some). Trees are
    grown above the held-out log-odds, and the counts of repeated outputs stand above both: they are held against what
    was said of each output by fits that had not seen its draws. What has seen them agrees with them, and seems surer
    than it is.
    """
    score, cases = _learn(table, labels, strengths)
    fold = np.arange(len(table)) % FOLDS
    base, errors = np.zeros(len(table)), np.zeros(len(table))
    for part in range(FOLDS):
        inside, outside = np.flatnonzero(fold == part), np.flatnonzero(fold != part)
        base[inside], errors[inside] = _base(score, cases, table, inside, outside)
    counts, ones = cases.counts(slice(None))
    known_by_count = counts[counts >= FREQUENT].sum() > COUNTED * len(labels)
    trees, logits = (None, base) if known_by_count else boosted(cases.narrow.take(cases.where), labels, base, fold)
    own = np.bincount(cases.where, logits, minlength=len(counts)) / counts
    score = replace(score, trees=trees, cells=Cells.fit(cases.keys, counts, ones, own))
    below = logits.copy()
    for part in range(FOLDS):
        inside, outside = np.flatnonzero(fold == part), np.flatnonzero(fold != part)
        counts, ones = cases.counts(outside)
        known, base = counts > 0, own.copy()
        base[cases.where[inside]] = below[inside]
        cells = Cells.fit(cases.keys[known], counts[known], ones[known], base[known])
        logits[inside], errors[inside] = cells.refine(cases.keys[cases.where[inside]], logits[inside], errors[inside])
    return score, logits, errors


@single_threaded
def learn_first(table: Table, labels: Array) -> Score:
    """A score that further draws will refine, and that others will be held against: what it says of these is not asked.

    So scalars whose labels are as the regression says need no fits to parts of them. (The look is a little too kind to
    a regression that has seen these labels; trees that so little speaks for would gain little.)
    """
    if table.width > 1 or table.tokens is not None:
        return Score.learn(table, labels)
    score, cases = _learn(table, labels, STRENGTHS)
    own = predict(cases.design, score.fit.weights)
    if misfit(table.numbers[:, 0], labels, own[cases.where]):
        return Score.learn(table, labels)
    return replace(score, cells=Cells.fit(cases.keys, *cases.counts(slice(None)), own))


def _base(score: Score, cases: _Cases, table: Table, inside: Array, outside: Array) -> tuple[Array, Array]:
    """What a regression on the draws outside says of those inside."""
    if (score.reducer is not None and not settled(table)) or score.extras.some:
        leaves = score.extras.windows.leaves
        other = _learn(table.take(outside), cases.labels[outside], (score.strength,), leaves)[0]
        design = other.design(other.narrow(table.take(inside)), table.take(inside))
        return predict(design, other.fit.weights), other.fit.errors(design)
    counts, ones = cases.counts(outside)
    known = counts > 0
    weights = score.fit.weights
    fit = fit_logistic(cases.design[known], ones[known], counts[known], score.penalty, FOLD_STEPS, start=weights)
    needed, back = np.unique(cases.where[inside], return_inverse=True)
    design = cases.design[needed]
    return predict(design, fit.weights)[back], fit.errors(design)[back]


@dataclass(frozen=True)
class Cells:
    """Outputs that repeat: their own counts, shrunk as far as those of all outputs together ask for.

    Each cell's chance of label 1 is drawn from a mixture of beta laws: around what the regression says, of several
    strengths; around log-odds that are SHIFTS away from it (many outputs of a mechanism may lean by the same few
    amounts); and one of its own, that knows nothing. The shares of these laws are found by EM, which begins, and is
    held by a pseudo-count, near "the regression is right". What a cell is taken for is its posterior mean.

    An output that was seen once says nothing about these laws. But where those that were seen a few times lean, it has
    a posterior mean as well, and of many thousands of words most are seen once: it is a cell too if that mean is
    telling.
    """

    keys: Array
    logits: Array
    shares: Array
    noise: Array
    lessened: Array
    """Log-odds with one draw less, of label 0 and of label 1: NaN where the output would be no cell."""

    @staticmethod
    def none() -> Cells:
        """No output repeats."""
        return Cells(np.zeros(0, dtype=np.uint64), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros((2, 0)))

    @staticmethod
    def fit(keys: Array, counts: Array, ones: Array, base: Array) -> Cells:
        """From the counts of each distinct output and the regression's log-odds for it."""
        repeated = counts >= 2
        if not repeated.any():
            return Cells.none()
        alike = _Alike.of(counts, ones, base)
        shares = alike.only(repeated).shares()
        rarely = np.count_nonzero(repeated & (counts < FREQUENT)) >= REPEATS
        p, trust, telling = (part[alike.where] for part in alike.means(shares))
        kept = np.flatnonzero(repeated | (telling & rarely))
        kept = kept[np.argsort(keys[kept])]
        n, k, p, trust = counts[kept], ones[kept], p[kept], trust[kept]
        lessened = np.tile(special.logit(p), (2, 1))
        for label, left in ((0, k), (1, k - 1)):
            rare = (n < FREQUENT) & (left >= 0) & (left < n)
            less = _Alike.of(n[rare] - 1, left[rare], base[kept][rare])
            fewer, _, tells = (part[less.where] for part in less.means(shares))
            known = (n[rare] > 2) | ((n[rare] == 2) & tells & rarely)
            lessened[label, rare] = np.where(known, special.logit(fewer), np.nan)
        return Cells(keys[kept], special.logit(p), trust, REPEAT_ERROR / np.sqrt(n * p * (1 - p) + 1), lessened)

    def refine(self, keys: Array, logits: Array, errors: Array) -> tuple[Array, Array]:
        """Log-odds and standard errors, the cells' own where there is a cell."""
        if not len(self.keys):
            return logits, errors
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return self._taken(self.keys[at] == keys, at, self.logits[at], logits, errors)

    def left_out(self, keys: Array, labels: Array, logits: Array, errors: Array) -> tuple[Array, Array]:
        """The same of draws that were counted, each with one draw of its output and label less."""
        if not len(self.keys):
            return logits, errors
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        own = self.lessened[labels.astype(int), at]
        return self._taken((self.keys[at] == keys) & ~np.isnan(own), at, own, logits, errors)

    def _taken(self, known: Array, at: Array, own: Array, logits: Array, errors: Array) -> tuple[Array, Array]:
        share = np.where(known, self.shares[at], 0.0)
        return np.where(known, own, logits), (1 - share) * errors + share * self.noise[at]


def _beta_binomial(n: Array, k: Array, one: Array, zero: Array) -> Array:
    """The log-likelihood of k of n under a beta law of the chance, but for the binomial coefficient."""
    return np.asarray(special.betaln(k + one, n - k + zero) - special.betaln(one, zero))


@dataclass(frozen=True)
class _Alike:
    """Cells that are alike stand once: draws, those with label 1, and the regression's chance."""

    n: Array
    k: Array
    prior: Array
    where: Array
    """Which of them each cell is."""
    times: Array
    """How many cells each stands for."""

    @staticmethod
    def of(counts: Array, ones: Array, base: Array) -> _Alike:
        prior = np.round(np.clip(special.expit(base), 1e-4, 1 - 1e-4), 6)
        groups, where = np.unique(np.stack([counts, ones, prior], axis=1), axis=0, return_inverse=True)
        where = where.ravel()
        return _Alike(groups[:, 0], groups[:, 1], groups[:, 2], where, np.bincount(where).astype(float))

    def only(self, cells: Array) -> _Alike:
        """The same without the other cells."""
        return replace(self, times=np.bincount(self.where[cells], minlength=len(self.n)).astype(float))

    def _laws(self) -> tuple[Array, Array]:
        """The parameters of the beta laws, for each of the groups."""
        centres = [(self.prior, a) for a in SHRINKAGE]
        centres += [(special.expit(special.logit(self.prior) + s), a) for s in SHIFTS for a in SHIFTED]
        one = np.stack([a * c for c, a in centres] + [np.full(len(self.n), OWN)], axis=1)
        return one, np.stack([a * (1 - c) for c, a in centres] + [np.full(len(self.n), OWN)], axis=1)

    def _members(self, one: Array, zero: Array) -> Array:
        """How likely the counts are under each law, up to a factor."""
        likely = _beta_binomial(self.n[:, None], self.k[:, None], one, zero)
        return np.asarray(np.exp(likely - likely.max(axis=1, keepdims=True)))

    def shares(self) -> Array:
        """The shares of the laws, by EM."""
        here = self.times > 0
        n, k, prior, times = (a[here] for a in (self.n, self.k, self.prior, self.times))
        likely = (few := replace(self, n=n, k=k, prior=prior, times=times))._members(*few._laws())
        shifted = len(SHIFTS) * len(SHIFTED)
        start = np.array([(1 - 2 * FEW) / len(SHRINKAGE)] * len(SHRINKAGE) + [FEW / shifted] * shifted + [FEW])
        share = start
        for _ in range(STEPS):
            member = likely * share
            member /= member.sum(axis=1, keepdims=True)
            share = (times @ member + start) / (times.sum() + 1)
        return np.asarray(share)

    def means(self, shares: Array) -> tuple[Array, Array, Array]:
        """The posterior chance of label 1 of each group, the weight that its own draws have in it, and whether the
        chance is far from the regression's.
        """
        one, zero = self._laws()
        member = self._members(one, zero) * shares
        member /= member.sum(axis=1, keepdims=True)
        strength = one + zero
        p = np.sum(member * (self.k[:, None] + one) / (self.n[:, None] + strength), axis=1)
        weight = np.sum(member * self.n[:, None] / (self.n[:, None] + strength), axis=1)
        return p, weight, np.abs(special.logit(p) - special.logit(self.prior)) > TELLING


def chunks(total: int, size: int = 4096) -> Iterator[slice]:
    """Rows of a table, so many at a time that they stay in the cache."""
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))
