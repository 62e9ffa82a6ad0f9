"""Looking for the pair of neighbours on which a mechanism leaks most.

The caller describes the datasets (`Space`); the search tries patterns (all low, all high, zeros, mixed), replaces or
removes one record by extremes, zeros, clip thresholds, NaN and infinities, keeps the pairs that leak most on
a few draws, and climbs from them. Its draws are its own: the test that follows uses fresh ones, so nothing that
happens here can raise a false alarm.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from scipy import special

from audit.auditor.learn.scores import learn_held_out
from audit.auditor.search.guided import Form, search_from_example
from audit.auditor.targets.run import Run
from audit.auditor.targets.sampling import SEARCH, BlockName, Pair, TargetError, draw_block
from audit.auditor.terms.outputs import concatenate
from audit.auditor.terms.relation import same
from audit.auditor.terms.result import Finding

SHARE = 0.25
"""Of all draws, the part that the search may use: chosen for power; the test has the rest."""
LEAST_GAIN = 0.05
"""Of log-odds that a move must gain to be kept: chosen, about the noise of an estimate; it decides power only."""
FIRST_LOOK = 200
"""Draws on a pair before it is compared with others: chosen for power."""


@dataclass(frozen=True)
class Space:
    """A set of datasets to look for a pair of neighbours in: `audit_dp(mechanism, Space(…), neighbours="search", …)`.

    Attributes:
        records: how many records a dataset has.
        low: the smallest value of a number.
        high: the largest.
        dim: coordinates of a record; 0 for a plain number.
        integer: whether numbers are whole.
        choices: the records that there are, in place of numbers.
        special: further values worth trying: clip thresholds, NaN, infinities.
        relation: how neighbours differ, "replace-one" or "add-remove".
        like: a dataset whose form the others take (an array, (X, y)); `low` and `high` are then of its numbers.
        beyond: with `like`: how many times beyond the range a record may lie, if the claim is about those too because
            they are clipped (10 and 1000 times the range are tried).
        labels_beyond: the same of labels.
        extra: anything else, for the caller's own use; it is not looked at.

    >>> from dpso import audit_dp
    >>> def count(dataset, size, rng):
    ...     return sum(x > 5 for x in dataset) + rng.laplace(scale=0.2, size=size)
    >>> result = audit_dp(count, Space(records=3, high=10.0), neighbours="search", epsilon=1.0, samples=4000)
    >>> result.verdict, "searched" in {finding.kind for finding in result.findings}
    ('violated', True)
    """

    records: int = 4
    low: float = 0.0
    high: float = 1.0
    dim: int = 0
    integer: bool = False
    choices: Sequence[Any] = ()
    special: Sequence[Any] = ()
    relation: str = "replace-one"
    like: Any = None
    beyond: float = 1.0
    labels_beyond: float = 1.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse spaces without a pair of neighbours."""
        if self.records < 1:
            raise ValueError(f"records = {self.records} must be at least 1")
        if not self.choices and not self.low < self.high:
            raise ValueError(f"low = {self.low}, high = {self.high} must satisfy low < high")
        for name in ("beyond", "labels_beyond"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} = {getattr(self, name)} must be at least 1 (1: nothing beyond the range)")
        if self.relation not in ("replace-one", "add-remove"):
            raise ValueError(f'relation = {self.relation!r} must be "replace-one" or "add-remove"')

    @staticmethod
    def parse(description: Any) -> Space:
        """A space, or a mapping with its fields."""
        if isinstance(description, Space):
            return description
        if not isinstance(description, Mapping):
            raise ValueError(
                f"dataset = {description!r} must describe a space for neighbours='search', e.g. "
                '{"records": 4, "low": 0, "high": 1}, or be an example: an array of numbers, or (X, y)'
            )
        known = {f.name for f in fields(Space)}
        unknown = set(description) - known
        if unknown:
            raise ValueError(f"unknown field {sorted(unknown)[0]!r} of a space: use {', '.join(sorted(known))}")
        return Space(**description)

    def values(self) -> list[Any]:
        """Records worth trying, the telling ones first."""
        if self.choices:
            return [*self.choices, *self.special]
        middle = (self.low + self.high) / 2
        numbers = [self.low, self.high, *([0.0] if self.low < 0 < self.high else []), middle]
        if self.integer:
            numbers = list(dict.fromkeys(round(x) for x in numbers))
        if not self.dim:
            return [*numbers, *self.special]
        vectors = [[x] * self.dim for x in numbers]
        vectors += [[x if j == 0 else 0.0 for j in range(self.dim)] for x in (self.low, self.high)]
        return [*vectors, *([s] * self.dim if not isinstance(s, list) else s for s in self.special)]

    def random_record(self, rng: np.random.Generator) -> Any:
        """A record from anywhere in the space."""
        if self.choices:
            return self.choices[int(rng.integers(len(self.choices)))]
        if self.dim:
            return [self._number(rng) for _ in range(self.dim)]
        return self._number(rng)

    def _number(self, rng: np.random.Generator) -> float | int:
        if self.integer:
            return int(rng.integers(int(self.low), int(self.high) + 1))
        return float(rng.uniform(self.low, self.high))

    def moved(self, record: Any, rng: np.random.Generator) -> Any:
        """A record near this one, or anywhere; always inside the space."""
        if self.choices or rng.random() < 0.3 or not _is_number_like(record):
            return self.random_record(rng)
        step = (self.high - self.low) * float(rng.choice([0.3, 0.1, 0.03]))
        shift = [float(np.clip(x + step * rng.normal(), self.low, self.high)) for x in np.atleast_1d(record)]
        if self.integer:
            shift = [round(x) for x in shift]
        return shift if self.dim else shift[0]


def _is_number_like(record: Any) -> bool:
    return (
        bool(np.all(np.isfinite(np.atleast_1d(np.asarray(record, dtype=float)))))
        if not isinstance(record, str)
        else False
    )


def candidates(space: Space) -> Iterator[tuple[list[Any], list[Any]]]:
    """Pairs made of patterns and telling values."""
    values = space.values()
    bases = [[v] * space.records for v in values[:4]]
    if space.records > 1 and len(values) > 1:
        bases.append([values[i % 2] for i in range(space.records)])
    for base, value in itertools.product(bases, values):
        if space.relation == "add-remove":
            yield base, [*base, value]
            yield base, base[:-1]
        elif not same(base[0], value):
            yield base, [value, *base[1:]]


def find_pairs(run: Run, description: Any) -> list[Pair]:
    """The pair of the space that leaks most, found with at most SHARE of the draws; of an example, a few."""
    form, relation = _form(description)
    if form is not None:
        search = _PairSearch(run, Space(), np.random.default_rng([run.seed, SEARCH]), int(SHARE * run.draws))
        pairs = search_from_example(run, form, relation, search.leakage, lambda pair: _pace(run, pair))
        run.draws -= search.used
        return pairs
    try:
        space = Space.parse(description)
    except TypeError as error:
        raise ValueError(f"a space could not be read: {error}") from None
    budget = min(int(SHARE * run.draws), _affordable(run, space))
    search = _PairSearch(run, space, np.random.default_rng([run.seed, SEARCH]), budget)
    best = search.best()
    run.draws -= search.used
    run.findings.append(
        Finding(
            "searched",
            f"{search.tried} pairs tried with {search.used} draws; tested: {best.dataset!r} against {best.neighbour!r}",
            {"dataset": best.dataset, "neighbour": best.neighbour},
        )
    )
    return [best]


def _form(description: Any) -> tuple[Form | None, str]:
    """The form of an example, whether it stands alone or in a space, and how neighbours differ."""
    if isinstance(description, Space) and description.like is not None:
        form = Form.of(description.like)
        if form is None:
            raise ValueError(f"like = {description.like!r:.60} must be a list or array of numbers, or (X, y)")
        form = replace(form, low=description.low, high=description.high, beyond=description.beyond)
        form = replace(form, labels_beyond=description.labels_beyond)
        return form, description.relation
    return (None if isinstance(description, Space) else Form.of(description)), "replace-one"


def _affordable(run: Run, space: Space) -> int:
    """Draws that SHARE of the time allows, from how long two take; all, if there is no limit of time."""
    if run.deadline is None:
        return run.draws
    dataset, neighbour = next(candidates(space), ([], []))
    took = _pace(run, Pair(dataset, neighbour, 0))
    return int(SHARE * max(run.seconds_left or 0.0, 0.0) / max(took, 1e-9))


def _pace(run: Run, pair: Pair) -> float:
    """Seconds a call takes, from two."""
    begun = time.monotonic()
    draw_block(run.target, pair, BlockName(run.seed, SEARCH, pair.index, 0), 2)
    return (time.monotonic() - begun) / 2


LEAST_BUDGET = 32
"""With fewer draws than these no two pairs can be compared: the first one is taken."""


@dataclass
class _PairSearch:
    run: Run
    space: Space
    rng: np.random.Generator
    budget: int
    used: int = 0
    tried: int = 0

    def best(self) -> Pair:
        """Patterns first, then halving, then climbing from the best."""
        found: list[tuple[float, Pair]] = []
        first = next((pair for pair in candidates(self.space)), None)
        if first is not None and self.budget < LEAST_BUDGET:
            return self._pair(*first)
        size = max(min(40, max(8, self.budget // 8)), min(FIRST_LOOK, self.budget // 60))
        for dataset, neighbour in candidates(self.space):
            if found and self.used + size > self.budget // 2:
                break
            pair = self._pair(dataset, neighbour)
            found.append((self.leakage(pair, size), pair))
        if not found:
            raise TargetError("the space holds no two different records: nothing could be tested")
        found = sorted(found, key=lambda f: -f[0])[:4]
        found = sorted(((self.leakage(p, 3 * size), p) for _, p in found), key=lambda f: -f[0])
        return self._climb(found[0], 3 * size)

    def _climb(self, start: tuple[float, Pair], size: int) -> Pair:
        value, pair = start
        while self.used + size <= self.budget:
            moved = self._neighbouring(pair)
            found = self.leakage(moved, size)
            if found > value + LEAST_GAIN:
                value, pair = found, moved
        return pair

    def _neighbouring(self, pair: Pair) -> Pair:
        """Change one common record in both datasets, or the record that differs."""
        a, b = list(pair.dataset), list(pair.neighbour)
        at = int(self.rng.integers(max(len(a), len(b))))
        if at < min(len(a), len(b)) and same(a[at], b[at]):
            a[at] = b[at] = self.space.moved(a[at], self.rng)
        elif at < len(b) and (at >= len(a) or self.rng.random() < 0.5):
            b[at] = self.space.moved(b[at], self.rng)
        else:
            a[at] = self.space.moved(a[at], self.rng)
        return pair if same(a, b) else self._pair(a, b)

    def _pair(self, dataset: list[Any], neighbour: list[Any]) -> Pair:
        self.tried += 1
        return Pair(dataset, neighbour, self.tried)

    def leakage(self, pair: Pair, size: int) -> float:
        """How well labels can be guessed: the log-odds of the most confident tenth, held out."""
        blocks = [
            draw_block(self.run.target, pair, BlockName(self.run.seed, SEARCH, pair.index, i), size // 2)
            for i in (0, 1)
        ]
        self.used += 2 * (size // 2)
        table = concatenate([b.values for b in blocks])
        labels = np.concatenate([b.labels for b in blocks])
        if len(np.unique(table.keys)) == 1 or not 0 < labels.sum() < len(labels):
            return 0.0
        logits, errors = learn_held_out(table, labels, (3.0,))[1:]
        order = np.argsort(-(np.abs(logits) - errors), kind="stable")[: max(10, len(labels) // 10)]
        right = int(np.sum((logits[order] > 0) == (labels[order] == 1)))
        return float(special.logit(special.betaincinv(max(right, 1), len(order) - right + 1, 0.3)))
