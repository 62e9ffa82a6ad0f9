"""An event that a person can repeat: at most three conditions on single entries, learned from the burn-in alone.

The score that is tested may be anything; what is printed should be something that a reader can count himself. A rule is
a few parts, each a conjunction of conditions with a guess ("entry 2 ≥ 3.1 is likelier on the neighbour"); the first
part that an output fulfils makes its guess. A search of small width adds conditions and parts as long as the bound
which the test draws are expected to give grows. Thresholds are the shortest decimal numbers that cut the burn-in where
the search wants it; the number that is printed is the number that is compared.

The rule is fixed before the test draws are seen, and counted on all of them: it is an event fixed beforehand, which
`exact` tests as it stands. Its bound describes the printed event; it takes no part in the verdict, nor in the bound of
the audit, and so spends nothing of their error level: it holds at the confidence of the audit by itself, not jointly
with the other.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from audit.auditor.learn.condition import EntryCondition, digits_of
from audit.auditor.terms.claim import Claim
from audit.auditor.terms.outputs import (
    ABSENT,
    VALUE_BITS,
    Table,
    tabulate,
)
from audit.auditor.test.confidence import Selection
from audit.auditor.test.exact import predicted_merit
from audit.auditor.test.plan import Plan

Array = np.ndarray

CONDITIONS = 3
"""Conditions of a rule at most: more are not read."""
BEAM = 2
"""Rules with the same guesses that are extended at a time: chosen; more take longer and find little."""
ENTRIES, CELLS = 32, 6_000_000
"""Entries that conditions may be about, those that differ most between the sides; and numbers that are looked at, at
most: chosen for speed."""
CUTS, REPEATED, REPEATS = 48, 24, 4
"""Thresholds an entry, and values (seen REPEATS times or more) or words an entry, that are tried: chosen for speed."""
IMPORTANT, SHUFFLED = 3, 1000
"""Entries that are named where no rule is good enough, and outputs from which their weights are told."""

SIDES = {0: "dataset", 1: "neighbour"}


@dataclass(frozen=True)
class Part:
    """A conjunction of conditions, and on which side what fulfils it is likelier."""

    side: int
    conditions: tuple[EntryCondition, ...]

    def holds(self, table: Table) -> Array:
        """For each output."""
        return np.asarray(np.all([condition.holds(table) for condition in self.conditions], axis=0))

    def excludes(self, other: Part) -> bool:
        """Whether no output fulfils both."""
        return any(a.excludes(b) for a in self.conditions for b in other.conditions)


@dataclass(frozen=True)
class EventRule:
    """An event in a few words: the first part that an output fulfils guesses its side."""

    parts: tuple[Part, ...]
    width: int
    bits: int = VALUE_BITS

    steps = 2
    """Outputs inside and outside: counts have the shape of those of a plan with one threshold."""

    @property
    def sides(self) -> int:
        """1 if all guesses name the same label, else 2."""
        return len({part.side for part in self.parts})

    @property
    def digest(self) -> str:
        """Rules with the same digest count alike."""
        return hashlib.blake2b(repr(self).encode(), digest_size=16).hexdigest()

    def guess(self, table: Table) -> Array:
        """The guessed side of each output, −1 outside the event."""
        found = np.full(len(table), -1)
        for part in reversed(self.parts):
            found[part.holds(table)] = part.side
        return found

    def count(self, table: Table, labels: Array) -> Array:
        """Draws (row 0) and right guesses (row 1), outside and inside the event."""
        guess = self.guess(table)
        inside, right = int((guess >= 0).sum()), int((guess == labels).sum())
        return np.array([[len(table) - inside, inside], [0, right]])

    def count_scalars(self, x: Array, side: int) -> Array:
        """The same for outputs of one side that are single numbers; thresholds need no rounding of what is compared."""
        exact = any(c.relation == "=" for part in self.parts for c in part.conditions)
        table = tabulate(x, self.bits) if exact else Table(x.astype(float, copy=False)[:, None], None)
        return self.count(table, np.full(len(x), side))

    def selection(self, counts: Array) -> Selection:
        """What was counted in all pieces (pieces × 2 × 2): an event fixed beforehand."""
        total = counts.sum(axis=0)
        return Selection(int(total[0, 1]), int(total[1, 1]), int(total[0].sum()), sides=self.sides, fixed=False)

    def __str__(self) -> str:
        told: list[str] = []
        for at, part in enumerate(self.parts):
            before = self.parts[at - 1].side if at else None
            words = self._told(part)
            if part.side == before:
                told[-1] += f" or {words}"
            else:
                clear = all(part.excludes(other) for other in self.parts[:at] if other.side != part.side)
                told.append(words if clear else f"any other {words}")
        sides = [part.side for at, part in enumerate(self.parts) if not at or self.parts[at - 1].side != part.side]
        return "; ".join(f"{words} is likelier on the {SIDES[side]}" for words, side in zip(told, sides, strict=True))

    def _told(self, part: Part) -> str:
        texts, left = [], list(part.conditions)
        while left:
            first = left.pop(0)
            other = {"≤": "≥", "≥": "≤"}.get(first.relation)
            mate = next((c for c in left if c.entry == first.entry and c.relation == other), None)
            if mate is None:
                texts.append(first.told(self.width))
                continue
            left.remove(mate)
            low, high = sorted((first.value, mate.value))
            place = replace(first, relation="number").told(self.width).removesuffix("a number")
            texts.append(f"{place}in [{digits_of(low)}, {digits_of(high)}]")
        return "output " + " and ".join(texts)


# -------------------------------------------------------------------------------------------------- learning


@dataclass(frozen=True)
class _Entry:
    """One entry of the burn-in, cut into cells that conditions are made of."""

    cells: Array
    size: int
    conditions: tuple[EntryCondition, ...]
    members: Array
    """conditions × cells: which cells each condition holds."""

    @staticmethod
    def of(table: Table, labels: Array, j: int) -> _Entry | None:
        """The cells and conditions; None if the entry never varies."""
        x = table.numbers[:, j]
        tokens = np.zeros(len(x), dtype=np.int32) if table.tokens is None else table.tokens[:, j]
        known = tokens == 0
        values, place, counts = np.unique(x[known], return_inverse=True, return_counts=True)
        words, place_of_word, frequency = np.unique(tokens[~known], return_inverse=True, return_counts=True)
        if len(values) + len(words) < 2:
            return None
        unlike = _unlike(place, labels[known], counts)
        often = np.flatnonzero(counts >= REPEATS)
        often = often[np.argsort(-unlike[often], kind="stable")[:REPEATED]]
        cuts = np.unique(np.concatenate([_cuts(values, counts), often, often + 1]))
        cuts = cuts[(cuts > 0) & (cuts < len(values))]
        numbered = len(cuts) + 1
        unlike = _unlike(place_of_word, labels[~known], frequency)
        words = words[np.argsort(-unlike, kind="stable")[:REPEATED]]
        size = numbered + len(words) + 1
        cells = np.full(len(x), size - 1, dtype=np.int16)
        cells[known] = np.searchsorted(values[cuts], x[known], side="right")
        for at, code in enumerate(words):
            cells[tokens == code] = numbered + at
        conditions, members = [], []
        index = np.arange(size)
        for at, cut in enumerate(cuts):
            low, high = _thresholds(float(values[cut - 1]), float(values[cut]))
            conditions += [EntryCondition(j, "≤", low), EntryCondition(j, "≥", high)]
            members += [index <= at, (index > at) & (index < numbered)]
        conditions += [EntryCondition(j, "=", float(values[at])) for at in often]
        members += [index == np.searchsorted(cuts, at, side="right") for at in often]
        for at, code in enumerate(words):
            absent = code == ABSENT
            name = table.names.get(int(code), "?").removeprefix("str:")
            conditions.append(EntryCondition(j, "absent") if absent else EntryCondition(j, "is", float(code), name))
            members.append(index == numbered + at)
            if absent:
                conditions.append(EntryCondition(j, "present"))
                members.append(index != numbered + at)
        if len(words) and len(values):
            conditions.append(EntryCondition(j, "number"))
            members.append(index < numbered)
        return _Entry(cells, size, tuple(conditions), np.array(members, dtype=float))

    def counts(self, rows: Array, drawn: _Draws) -> tuple[Array, Array]:
        """Of each condition: the draws that fulfil it among these rows, and those with label 1."""
        cells = self.cells[rows].astype(np.intp)
        cells += self.size * drawn.labels[rows]
        times = None if drawn.times is None else drawn.times[rows]
        zeros, ones = np.bincount(cells, times, 2 * self.size).reshape(2, self.size)
        return self.members @ (zeros + ones), self.members @ ones


def _unlike(place: Array, labels: Array, counts: Array) -> Array:
    """Of each distinct value: by how many standard deviations it is commoner on one side."""
    ones = np.bincount(place[labels == 1], minlength=len(counts))
    return np.asarray(np.abs(2 * ones - counts) / np.sqrt(np.maximum(counts, 1)))


def _cuts(values: Array, counts: Array) -> Array:
    """Places among the distinct values where they may be cut: even in the middle, and ever finer towards the ends."""
    if len(values) <= CUTS:
        return np.arange(1, len(values))
    total = int(counts.sum())
    tail = np.geomspace(max(4 / total, 1e-5), 0.5, CUTS // 4)
    levels = np.unique(np.concatenate([tail, 1 - tail, np.linspace(0, 1, CUTS // 2 + 2)[1:-1]]))
    places = np.searchsorted(np.cumsum(counts), levels * total)
    return np.unique(np.clip(places, 1, len(values) - 1))


def _thresholds(low: float, high: float) -> tuple[float, float]:
    """Numbers c, d with "≤ c" true of `low` alone and "≥ d" of `high` alone, as short as they can be."""
    if low == round(low) and high == round(high) and max(abs(low), abs(high)) < 1e15:
        return low, high
    middle = low / 2 + high / 2
    for digits in range(2, 18):
        short = float(f"{middle:.{digits}g}")
        if low < short < high:
            return short, short
    return low, high


@dataclass(frozen=True)
class _Draws:
    """The labels of the draws from which a rule is learned, and how many draws each row stands for (None: for one)."""

    labels: Array
    times: Array | None = None

    @staticmethod
    def of(entries: list[_Entry], labels: Array) -> tuple[list[_Entry], _Draws]:
        """A row a draw; with a single entry, all that matters of a draw is its cell and its label: a row for each."""
        if len(entries) > 1:
            return entries, _Draws(labels)
        entry = entries[0]
        cells, sides = np.tile(np.arange(entry.size), 2), np.repeat([0, 1], entry.size)
        times = np.bincount(entry.cells + entry.size * labels, minlength=2 * entry.size)
        return [replace(entry, cells=cells)], _Draws(sides, times)

    def among(self, rows: Array) -> int:
        """How many draws these rows stand for."""
        return int(rows.sum() if self.times is None else self.times[rows].sum())


@dataclass(frozen=True)
class _State:
    """A rule in the making, and which draws of the burn-in it takes."""

    parts: tuple[Part, ...]
    earlier: Array
    """Draws that all parts but the last take."""
    last: Array
    """Draws that the last part takes of the others."""
    n: float
    """Draws of all parts but the last."""
    k: float
    """Right guesses of all parts, of each so many as are rather sure."""
    k_last: float
    """Those of the last part."""
    bound: float


def learn_rule(table: Table, labels: Array, draws: int, claim: Claim, alpha: float, bits: int) -> EventRule | None:
    """The rule that is expected to give the largest bound on so many test draws; None if no entry varies."""
    width = table.width
    rows = slice(0, max(2000, CELLS // max(1, min(width, 256))))
    table, labels = table.take(rows), labels[rows]
    half = np.arange(len(table)) % 2 == 0
    learning, own = table.take(half), labels[half]
    entries = [entry for j in _telling(learning, own) if (entry := _Entry.of(learning, own, j)) is not None]
    if not entries:
        return None
    entries, drawn = _Draws.of(entries, own)
    nothing = np.zeros(len(drawn.labels), dtype=bool)
    beam, found = [_State((), nothing, nothing, 0.0, 0.0, 0.0, -math.inf)], []
    for _ in range(CONDITIONS):
        made = [new for state in beam for new in _extended(state, entries, drawn, draws, claim, alpha)]
        kinds: dict[tuple[int, ...], list[_State]] = {}
        for state in sorted(made, key=lambda state: -state.bound):
            kinds.setdefault(tuple(part.side for part in state.parts), []).append(state)
        beam = [state for alike in kinds.values() for state in alike[:BEAM]]
        found += [EventRule(state.parts, width, bits) for state in beam]
    other, theirs = table.take(~half), labels[~half]
    bounds = np.array([_held_out(rule, other, theirs, draws, claim, alpha) for rule in found]) - claim.least
    at = int(np.argmax(bounds))
    best = float(bounds[at])
    least = best - WORTHWHILE * abs(best) if math.isfinite(best) else best
    return next(r for r, b in zip(found, bounds, strict=True) if b >= least)


def _held_out(rule: EventRule, table: Table, labels: Array, draws: int, claim: Claim, alpha: float) -> float:
    """The bound to be expected, from draws that the rule was not learned from."""
    (_, n), (_, k) = rule.count(table, labels)
    if n == 0:
        return claim.least - 1.0
    rate = np.array([max(0.0, k / n - 1 / (n + 1))])
    found = float(predicted_merit(claim, np.array([n * draws / len(labels)]), rate, draws, alpha, rule.sides)[0])
    return found if found > claim.least else claim.least + float(rate[0] - 1) * 1e-6


WORTHWHILE = 0.03
"""Further conditions must raise the expected bound by this share: chosen for readers."""


def _telling(table: Table, labels: Array) -> list[int]:
    """The entries that differ most between the sides, if there are many."""
    if table.width <= ENTRIES:
        return list(range(table.width))
    x = np.nan_to_num(table.numbers)
    if table.tokens is not None:
        x = x + (table.tokens != 0)
    one, zero = x[labels == 1], x[labels == 0]
    if not len(one) or not len(zero):
        return list(range(ENTRIES))
    away = np.abs(one.mean(axis=0) - zero.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-300)
    return sorted(np.argsort(-away, kind="stable")[:ENTRIES].tolist())


def _extended(
    state: _State, entries: Sequence[_Entry], drawn: _Draws, draws: int, claim: Claim, alpha: float
) -> Iterator[_State]:
    """The best rules with one condition more: in the last part, or in a new one for either side."""
    covered, total = state.earlier | state.last, drawn.among(np.ones(len(drawn.labels), dtype=bool))
    before = state.n + drawn.among(state.last)
    ways = [(covered, ~covered, before, state.k, side, False) for side in (0, 1)]
    if state.parts:
        ways.append((state.earlier, state.last, state.n, state.k - state.k_last, state.parts[-1].side, True))
    conditions = [c for entry in entries for c in entry.conditions]
    counted: list[tuple[Array, Array]] = []
    for earlier, rows, n, k, side, refine in ways:
        if refine or not counted:
            counted = [entry.counts(rows, drawn) for entry in entries]
        more = np.concatenate([c[0] for c in counted])
        ones = np.concatenate([c[1] for c in counted])
        parts = state.parts[:-1] if refine else state.parts
        sides = len({side, *(part.side for part in parts)})
        sure = _sure(more, ones if side else more - ones)
        rate = np.clip((k + sure) / np.maximum(n + more, 1), 0.0, 1.0)
        bounds = predicted_merit(claim, (n + more) * draws / total, rate, draws, alpha, sides)
        bounds = np.where(bounds > claim.least, bounds, claim.least + (rate - 1) * 1e-6)
        bounds[more == 0] = -math.inf
        numeric = np.array([c.relation in "≤≥" for c in conditions])
        for at in np.lexsort((numeric, -bounds))[:BEAM]:
            if not bounds[at] > -math.inf:
                continue
            condition = conditions[at]
            own = [c for c in state.parts[-1].conditions if not condition.sharpens(c)] if refine else []
            entry = next(e for e in entries if e.conditions[0].entry == condition.entry)
            which = next(i for i, c in enumerate(entry.conditions) if c is condition)
            last = rows & (entry.members[which][entry.cells] > 0)
            made = (*parts, Part(side, (*own, condition)))
            yield _State(made, earlier, last, n, k + float(sure[at]), float(sure[at]), float(bounds[at]))


def _sure(n: Array, k: Array) -> Array:
    """How many of n guesses are right at least, if k of them were: at a level of one in as many as were looked at.

    The best of many conditions looks better than it is.
    """
    seen = k > 0
    rate = special.betaincinv(np.where(seen, k, 1.0), np.maximum(n - k + 1, 1.0), 1 / max(2, len(n)))
    return np.where(seen, n * rate, 0.0)


# ----------------------------------------------------------------------------------------- what decides a score


def weights(plan: Plan, table: Table, labels: Array) -> str:
    """By how much a score changes if an entry is shuffled between outputs, as shares, the largest few in words."""
    table, labels = table.take(slice(0, SHUFFLED)), labels[:SHUFFLED]
    logits = plan.score.logit(table)[0]
    rng = np.random.default_rng(0)
    entries = _telling(table, labels)
    changes = [np.mean(np.abs(plan.score.logit(_shuffled(table, j, rng))[0] - logits)) for j in entries]
    total = float(np.sum(changes))
    if table.width == 1 or total == 0:
        return f"a learned score on {table.width} {'entry' if table.width == 1 else 'entries'}"
    order = np.argsort(-np.array(changes), kind="stable")[:IMPORTANT]
    told = [f"{changes[at] / total:.0%} at entry {entries[at]}" for at in order if changes[at] > 0]
    return f"a learned score on {table.width} entries, of its weight {', '.join(told)}"


def _shuffled(table: Table, j: int, rng: np.random.Generator) -> Table:
    order = rng.permutation(len(table))
    numbers, tokens = table.numbers.copy(), table.token_matrix().copy()
    numbers[:, j], tokens[:, j] = numbers[order, j], tokens[order, j]
    return Table(numbers, None if table.tokens is None else tokens, None, table.names)
