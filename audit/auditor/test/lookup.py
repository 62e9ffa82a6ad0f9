"""The score of a scalar as a lookup: which step of confidence, and which guess, by one multiplication and a table.

Any fixed function of the output is a valid score. So once a plan is fixed, the line is cut into cells of equal length,
the plan is asked about each cell once, and a test draw costs a multiplication and a place in a table: less than to draw
it. Cells in which the plan says different things (a jump, an atom) and what lies beyond all cells are left to the plan
itself. Outputs on a lattice (whole numbers, rounded ones) get one cell a value. The event that is told in words
(`rule`) is counted cell by cell, too: the cell of an output grows with the output, so all cells but those of the
event's own thresholds lie wholly on one side of them; these few are left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from audit.auditor.terms.outputs import Table, tabulate
from audit.auditor.test.rule import EventRule

Array = np.ndarray

CELLS = 2**14
"""Cells of a range that is no lattice: chosen; a cell is a thousandth of a standard deviation or so."""
LATTICE = 2**16
"""Cells of a lattice at most."""
BEYOND = 2e-4
"""The share of the draws at each end that lies beyond the cells."""
ASIDE = 0.0123456789
"""Cells are looked at so far beside their middle and ends, as a part of their length: where no round number lies."""
ALONE = 0.99
"""The share of a cell's draws that makes it an atom's."""
SAME = 0.05
"""Margins within a cell that differ by less are taken for those of its middle."""
MOST_LEFT = 0.1
"""Where more than this share of the draws would be left to the plan, there is no lookup."""
TOGETHER = 2**15
"""Draws that are counted at a time: chosen for speed, so that they stay in the cache."""
LITTLE = 0.01
"""The event in words is counted by cells where its thresholds' own cells hold no more than this share of the draws."""
MOST_WRONG = 0.01
"""The same where cells say otherwise than the plan of more than this share of the draws."""


class Steps(Protocol):
    """A plan cut into steps of confidence."""

    def steps_of(self, table: Table) -> tuple[Array, Array, Array]:
        """The step, the guess and the margin of each output."""


@dataclass(frozen=True)
class Lookup:
    """Cells of the line, and what the plan says of each."""

    origin: float
    scale: float
    codes: Array
    """Of each cell 2·step + guess, or LEFT; the first and the last are what lies beyond."""
    whole: bool = False
    """Whether each cell but these two is that of one whole number."""
    told: Array | None = None
    """Of each cell the side that the event in words guesses, −1 outside it; None if that event is counted apart."""

    @staticmethod
    def fit(plan: Steps, table: Table, rule: EventRule | None = None) -> Lookup | None:
        """From the burn-in; None if its outputs are no scalars, or most would be left to the plan."""
        if table.width != 1 or table.tokens is not None:
            return None
        x = table.numbers[:, 0]
        found = _lattice(plan, np.unique(x)) or _line(plan, x)
        cells = found.cells(x)
        codes = found.codes[cells]
        if rule is not None and np.mean((told := found.telling(rule)).codes[cells] != codes) <= LITTLE:
            found, codes = told, told.codes[cells]
        step, guess, _ = plan.steps_of(table)
        wrong = (codes != LEFT) & ((codes % 2 != guess) | (np.abs(codes // 2 - step) > 1))
        return found if np.mean(codes == LEFT) <= MOST_LEFT and np.mean(wrong) <= MOST_WRONG else None

    def telling(self, rule: EventRule) -> Lookup:
        """The same with what the rule says of each cell, where it says one thing of nearly all cells."""
        inner = np.arange(1, len(self.codes) - 1)
        conditions = [c for part in rule.parts for c in part.conditions]
        if not self.whole and any(c.relation == "=" for c in conditions):
            return self
        codes, told = self.codes.copy(), np.full(len(self.codes), -1)
        told[inner] = rule.guess(Table((self.origin + (inner - 0.5) / self.scale)[:, None], None))
        if not self.whole:
            codes[self.cells(np.array([c.value for c in conditions if c.relation in ("≤", "≥")]))] = LEFT
        return replace(self, codes=codes, told=told)

    def cells(self, x: Array) -> Array:
        """The cell of each output, which grows with it; what is no number counts as beyond."""
        place = np.multiply(x, self.scale, dtype=float)
        place += 1 - self.origin * self.scale
        np.fmax(place, 0.0, out=place)
        np.fmin(place, float(len(self.codes) - 1), out=place)
        return np.asarray(place.astype(np.intp))

    def count(self, x: Array, totals: Array) -> Array:
        """Add the draws of each cell to the totals; returns the outputs that are left to the plan."""
        if x.dtype.kind == "b":
            zero, one = self.cells(np.arange(2))
            if LEFT not in self.codes[[zero, one]]:
                ones = int(np.count_nonzero(x))
                totals[zero] += len(x) - ones
                totals[one] += ones
                return np.empty(0)
        open_cells, left = self.codes == LEFT, []
        for start in range(0, len(x), TOGETHER):
            part = x[start : start + TOGETHER]
            cells = self.cells(part)
            totals += np.bincount(cells, minlength=len(totals))
            left.append(part[open_cells[cells]])
        return np.concatenate(left) if left else np.empty(0)

    def steps(self, counts: Array, steps: int) -> Array:
        """Draws of each step (rows) and guess (columns), from the draws of each cell."""
        known = self.codes != LEFT
        return np.bincount(self.codes[known], counts[known], 2 * steps).astype(np.int64).reshape(steps, 2)

    def ruled(self, counts: Array, side: int) -> Array:
        """Draws of one side (row 0) and right guesses (row 1), outside and inside the event in words."""
        assert self.told is not None
        counts, told = counts[self.codes != LEFT], self.told[self.codes != LEFT]
        inside = int(counts[told >= 0].sum())
        return np.array([[int(counts.sum()) - inside, inside], [0, int(counts[told == side].sum())]])


LEFT = -1
"""The code of a cell that is left to the plan."""


def _line(plan: Steps, x: Array) -> Lookup:
    """Cells of equal length over nearly all of the range; a cell is left to the plan if its ends are not like its
    middle. One that an output which repeats has nearly for itself is that output's; else, if it is not like it, left.
    """
    low, high = np.quantile(x, [BEYOND, 1 - BEYOND])
    size = max(float(high - low), 1e-300) / (CELLS - 1)
    low -= size / 2
    at_ends = plan.steps_of(tabulate(low + (np.arange(CELLS + 1) + ASIDE) * size))
    middle = plan.steps_of(tabulate(low + (np.arange(CELLS) + 0.5 + ASIDE) * size))
    lower, upper = (tuple(part[s] for part in at_ends) for s in (slice(0, -1), slice(1, None)))
    codes = np.full(CELLS + 2, LEFT)
    codes[1:-1] = np.where(_alike(lower, middle) & _alike(upper, middle), 2 * middle[0] + middle[1], LEFT)
    found = Lookup(float(low), 1 / size, codes)
    values, counts = np.unique(x, return_counts=True)
    place, full = found.cells(values), np.bincount(found.cells(x), minlength=CELLS + 2)
    atoms = (counts > 1) & (place > 0) & (place <= CELLS)
    if atoms.any():
        values, counts, place = values[atoms], counts[atoms], place[atoms]
        said = plan.steps_of(tabulate(values))
        alone = counts >= ALONE * full[place]
        there = tuple(part[place - 1] for part in middle)
        codes[place[~_alike(said, there)]] = LEFT
        codes[place[alone]] = (2 * said[0] + said[1])[alone]
    return found


def _alike(one: tuple[Array, ...], other: tuple[Array, ...]) -> Array:
    """Whether the plan says the same, or nearly so."""
    (step, guess, margin), (step_too, guess_too, margin_too) = one, other
    return np.asarray((guess == guess_too) & ((step == step_too) | (np.abs(margin - margin_too) < SAME)))


def _lattice(plan: Steps, values: Array) -> Lookup | None:
    """One cell a value, if the distinct outputs lie on a lattice that is not too large."""
    if not 2 <= len(values) <= LATTICE:
        return None
    gap = float(np.diff(values).min())
    places = (values - values[0]) / gap
    count = round(float(places[-1])) + 1
    if count > LATTICE or np.abs(places - np.round(places)).max() > 1e-6:
        return None
    step, guess, _ = plan.steps_of(tabulate(values[0] + gap * np.arange(count)))
    codes = np.concatenate([[LEFT], 2 * step + guess, [LEFT]])
    return Lookup(float(values[0] - gap / 2), 1 / gap, codes, whole=gap == 1.0 and float(values[0]).is_integer())
