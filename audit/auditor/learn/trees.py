"""Boosted trees on top of a regression: what its columns cannot express, as far as held-out draws confirm it.

The trees start from the regression's own held-out log-odds, so they learn what it misses and nothing else; how many
there are is decided by draws that they have not seen, and where these do not gain, there are none. LightGBM does the
work where it can be imported; without it the score is the regression alone. The test's validity does not rest on this
module.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from audit.auditor.terms.outputs import Table

Array = np.ndarray

GAIN = 5.0
"""The least gain in log-likelihood on unseen draws (nats in all) for which trees are kept: noise gains about one."""
ROUNDS, PATIENCE = 300, 25
"""Trees at most; those without a gain after which the fit stops: chosen for speed."""
SETTINGS = {
    "objective": "binary",
    "num_leaves": 15,
    "learning_rate": 0.1,
    "min_data_in_leaf": 20,
    "lambda_l2": 5.0,
    "max_bin": 255,
    "min_data_in_bin": 5,
    "cat_smooth": 20.0,
    "min_data_per_group": 20,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
    "seed": 1,
    "verbosity": -1,
    "boost_from_average": False,
}
"""Chosen for power: many shallow, cautious trees. One thread and fixed seeds: the same draws give the same trees."""
CATEGORIES = 250
"""Levels of a token leaf that are told apart: the most frequent ones."""
LOOK_CELLS, LOOK_LEVEL = 100, 0.02
"""Cells of a scalar in which labels are held against the regression, and the chance that a fit which misses nothing is
given trees: chosen, so that scalars are seldom slow.
"""
LEAST_ROWS = 400
"""Draws below which trees are not tried."""


@functools.cache
def library() -> Any:
    """LightGBM, or None where it is not installed or cannot be loaded (it needs libgomp)."""
    try:
        import lightgbm
    except (ImportError, OSError):
        return None
    return lightgbm


@dataclass(frozen=True)
class TreeInput:
    """How a narrow table becomes the trees' columns: numbers as they are, each token leaf as a category."""

    levels: tuple[Array, ...]
    leaves: tuple[int, ...]

    @staticmethod
    def fit(table: Table) -> TreeInput:
        """The frequent tokens of each leaf that has any."""
        levels, leaves = [], []
        for leaf in range(0 if table.tokens is None else table.width):
            assert table.tokens is not None
            values, counts = np.unique(table.tokens[:, leaf], return_counts=True)
            if len(values) > 1:
                frequent = values[np.argsort(-counts, kind="stable")][:CATEGORIES]
                levels.append(np.sort(frequent))
                leaves.append(leaf)
        return TreeInput(tuple(levels), tuple(leaves))

    def columns(self, table: Table) -> Array:
        """Numbers, then categories: positions in the list of levels, from 1; 0 for a level that is not listed."""
        found = [table.numbers]
        for leaf, levels in zip(self.leaves, self.levels, strict=True):
            codes = table.token_matrix()[:, leaf]
            at = np.minimum(np.searchsorted(levels, codes), len(levels) - 1)
            found.append(np.where(levels[at] == codes, at + 1, 0).astype(float)[:, None])
        return np.concatenate(found, axis=1)

    def categorical(self, table: Table) -> list[int]:
        """Which columns are categories."""
        return list(range(table.width, table.width + len(self.leaves)))


@dataclass(frozen=True)
class Trees:
    """Fitted trees: something to add to the log-odds of the regression."""

    source: TreeInput
    model: Any

    def add(self, table: Table) -> Array:
        """The log-odds to be added, one for each row of the narrow table."""
        return np.asarray(self.model.predict(self.source.columns(table), raw_score=True, num_threads=1), dtype=float)


def boosted(table: Table, labels: Array, base: Array, fold: Array) -> tuple[Trees | None, Array]:
    """Trees above held-out log-odds, and the held-out log-odds with them; (None, base) if they do not gain.

    `fold` says which rows belong together: each part is predicted by trees that have not seen it.
    """
    if len(labels) < LEAST_ROWS or min(labels.sum(), len(labels) - labels.sum()) < LEAST_ROWS / 8:
        return None, base
    if table.width == 1 and table.tokens is None and not misfit(table.numbers[:, 0], labels, base):
        return None, base
    lightgbm = library()
    if lightgbm is None:
        return None, base
    source = TreeInput.fit(table)
    columns, categories = source.columns(table), source.categorical(table)

    def data(rows: Array) -> Any:
        return lightgbm.Dataset(
            columns[rows],
            labels[rows].astype(float),
            init_score=base[rows],
            categorical_feature=categories,
            params=SETTINGS,
            free_raw_data=False,
        )

    inside, outside = np.flatnonzero(fold == 0), np.flatnonzero(fold != 0)
    rounds = _rounds(lightgbm, data(outside), columns[inside], labels[inside], base[inside])
    if rounds == 0:
        return None, base
    held_out = base.copy()
    for part in range(int(fold.max()) + 1):
        model = lightgbm.train(SETTINGS, data(np.flatnonzero(fold != part)), rounds)
        here = np.flatnonzero(fold == part)
        held_out[here] += model.predict(columns[here], raw_score=True, num_threads=1)
    if _log_likelihood(held_out, labels) - _log_likelihood(base, labels) < GAIN:
        return None, base
    return Trees(source, lightgbm.train(SETTINGS, data(np.arange(len(labels))), rounds)), held_out


def misfit(x: Array, labels: Array, base: Array) -> bool:
    """Whether the labels of a single leaf differ from what the regression says, in cells of equal count: the cheap look
    that says whether trees, and the time to load them, are deserved.
    """
    chances = special.expit(base)
    cell = np.searchsorted(np.unique(np.quantile(x, np.linspace(0, 1, LOOK_CELLS + 1)[1:-1])), x)
    gaps = np.bincount(cell, labels - chances)
    variances = np.maximum(np.bincount(cell, chances * (1 - chances)), 1e-9)
    return bool(np.sum(gaps * gaps / variances) > special.chdtri(len(gaps), LOOK_LEVEL))


def _rounds(lightgbm: Any, training: Any, columns: Array, labels: Array, base: Array) -> int:
    """How many trees gain the most on unseen rows; 0 if none gains enough."""
    booster = lightgbm.Booster(SETTINGS, training)
    start = best = _log_likelihood(base, labels)
    added, chosen = base.copy(), 0
    for step in range(1, ROUNDS + 1):
        if booster.update():
            break
        added = added + booster.predict(
            columns, raw_score=True, num_threads=1, start_iteration=step - 1, num_iteration=1
        )
        value = _log_likelihood(added, labels)
        if value > best:
            best, chosen = value, step
        if step - chosen >= PATIENCE:
            break
    return chosen if best - start >= GAIN / 2 else 0


def _log_likelihood(logits: Array, labels: Array) -> float:
    return float(np.sum(labels * logits - np.logaddexp(0.0, logits)))
