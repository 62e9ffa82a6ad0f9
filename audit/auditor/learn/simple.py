"""The simplest score: one condition on one entry, and which side it speaks for. It needs few draws to be learned.

A regression on a dozen draws knows little, and a plan that selects some of as few test draws cannot reject anything; to
guess the label of every draw by the best single condition is a sign test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit.auditor.learn.condition import EntryCondition
from audit.auditor.terms.outputs import ABSENT, Table

Array = np.ndarray

LEVELS = (0.5, 0.25, 0.75)
"""Quantiles of an entry at which it may be cut; the first that is as good as any is taken."""
COMMON = 3
"""Words an entry that are tried: the commonest."""
BOTH_WAYS = 1.0
"""The log-odds that stand for a guess: only their sign is used."""


@dataclass(frozen=True)
class Sign:
    """The guess "neighbour" where the condition holds (`up`) or where it does not, equally sure everywhere."""

    condition: EntryCondition
    up: bool

    smooth = False

    @staticmethod
    def learn(table: Table, labels: Array) -> Sign | None:
        """The condition that is right most often; None if no entry varies."""
        best, found = -1, None
        for condition in _conditions(table):
            right = int((condition.holds(table) == (labels == 1)).sum())
            if abs(2 * right - len(labels)) > best:
                best, found = abs(2 * right - len(labels)), Sign(condition, 2 * right >= len(labels))
        return found

    def logit(self, table: Table) -> tuple[Array, Array]:
        """Log-odds of one size, without errors."""
        return np.where(self.condition.holds(table) == self.up, BOTH_WAYS, -BOTH_WAYS), np.zeros(len(table))


def _conditions(table: Table) -> list[EntryCondition]:
    """A few an entry, the likeliest to tell first."""
    found = []
    tokens = table.token_matrix()
    for j in range(table.width):
        x = table.numbers[tokens[:, j] == 0, j]
        if len(x) and x.min() < x.max():
            cuts = np.quantile(x, LEVELS, method="higher")
            found += [EntryCondition(j, relation, float(c)) for c in dict.fromkeys(cuts) for relation in ("≥", "≤")]
        if len(x) == len(table):
            continue
        words, counts = np.unique(tokens[tokens[:, j] != 0, j], return_counts=True)
        for code in words[np.argsort(-counts, kind="stable")[:COMMON]]:
            found.append(EntryCondition(j, "absent") if code == ABSENT else EntryCondition(j, "is", float(code)))
    return found
