"""The test draws of a black-box audit as work that any number of workers can share, interrupt and continue.

The burn-in has fixed the plan. What is left is to draw N test draws and to count. Draws come in blocks, each from its
own counter-based generator named by (seed, stream, pair, block); a piece of work is a run of consecutive blocks, and
its result is a few whole numbers: how many draws fell into each step of the plan's ranking, and how many of these
guesses were right. Whole numbers add up exactly, so the result is the same bits whatever the number of workers, their
order, or restarts; memory does not grow with N.

**Why counts suffice.** `confidence` proves the bound for n draws that are selected without looking at their labels,
 by the Z's and by independent coins; n is fixed beforehand (for δ = 0 it may depend on the Z's).

- δ = 0: a cutoff of the plan selects all draws at or above its threshold. The thresholds are the edges of the steps; n
  and k are the counts of the steps above one.
- δ > 0: a cutoff selects the n draws of the highest margin. The burn-in fixes the edges of fine steps of the margin.
  Rank the test draws by step (a function of Z), within a step by the number of their piece of work (fixed
  beforehand), within a piece at random (independent coins); select the first n. That is: whole steps, then whole
  pieces of the step in which n is reached, then a uniformly random set of r of the m draws which a piece has in that
  step. Given the counts, the number of right guesses in such a set is hypergeometric with parameters
  (right, m − right, r) whatever the order of the draws: one hypergeometric draw from a generator of its own makes
  the choice. The selected set is a function of the Z's and of coins, and its size is n: the theorem applies as it
  stands. ∎
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import os
import pickle
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from audit.auditor.learn.granularity import granularity_table
from audit.auditor.targets.containment import MechanismTimeout, Noticed
from audit.auditor.targets.isolate import IsolatedTarget
from audit.auditor.targets.sampling import (
    TEST,
    BlockName,
    CallableTarget,
    Pair,
    Target,
    TargetError,
    draw_block,
    sides_of_block,
    sides_together,
)
from audit.auditor.targets.stored import describe_code
from audit.auditor.terms.outputs import Table, tabulate
from audit.auditor.test.confidence import Selection
from audit.auditor.test.lookup import Lookup
from audit.auditor.test.plan import ROUNDING, Cutoff, Plan, Selected
from audit.auditor.test.rule import EventRule
from audit.runtime.pool import Pool
from audit.runtime.progress import Meter
from audit.runtime.store import Store, StoreError
from audit.runtime.worker import keep_memory

Array = np.ndarray

FINENESS = 0.033
"""Each step of confidence for δ > 0 holds about so much more than those above it: little is left to the coins."""
REACH = 8.0
"""The steps reach from 1/REACH times the smallest to REACH times the largest planned share of draws."""
PIECES = 64
"""A run has at least so many pieces of work (if it has so many blocks), so that workers finish together ..."""
LARGEST = 32
"""... and none of more than so many blocks, so that an interruption costs little."""
TIES = 4
"""The stream of the coins that break ties: the streams of draws are 0 to 3."""


# ------------------------------------------------------------------------------------------------ counting


@dataclass(frozen=True)
class Binning:
    """A plan and the edges of its steps of confidence: what turns a block of draws into counts."""

    plan: Plan
    edges: Array
    digest: str
    """A hash of what the plan says of the burn-in: two binnings with the same digest and edges count alike."""

    @staticmethod
    def of(plan: Plan, selected: Selected) -> Binning:
        """The binning that the burn-in (what the plan says of it) fixes: for δ = 0 the threshold alone, else quantiles
        around the planned share.

        Both kinds of quantile: values that occurred, which keep atoms apart, and values between them, which keep steps
        fine where the burn-in has few draws. An edge lies a little below the margin that it is to hold, and no two lie
        so close that rounding decides between them.
        """
        digest = hashlib.blake2b(repr((plan.mode, plan.cutoffs)).encode(), digest_size=16)
        digest.update(np.ascontiguousarray(selected.margin).tobytes() + np.ascontiguousarray(selected.label).tobytes())
        thresholds = [cutoff.threshold for cutoff in plan.cutoffs if cutoff.threshold is not None]
        if thresholds:
            return Binning(plan, np.sort(thresholds), digest.hexdigest())
        ends = plan.cutoffs[-1].share / REACH, plan.cutoffs[0].share * REACH
        levels = 1 - np.minimum(np.geomspace(*ends, int(np.log(ends[1] / ends[0]) / FINENESS)), 1.0)
        edges = np.unique([np.quantile(selected.margin, levels, method=how) for how in ("higher", "linear")])
        apart = np.diff(edges, prepend=-np.inf) > ROUNDING
        return Binning(plan, edges[apart] - ROUNDING / 2, digest.hexdigest())

    @property
    def steps(self) -> int:
        """How many steps there are; the last is the most confident."""
        return len(self.edges) + 1

    def count(self, table: Table, labels: Array) -> Array:
        """Draws (row 0) and right guesses (row 1) in each step."""
        step, guess, _ = self.steps_of(table)
        right = guess == (labels == 1)
        return np.stack([np.bincount(step, minlength=self.steps), np.bincount(step[right], minlength=self.steps)])

    def steps_of(self, table: Table) -> tuple[Array, Array, Array]:
        """The step, the guess and the margin of each output."""
        selected = self.plan.select(table)
        return np.searchsorted(self.edges, selected.margin, side="right"), selected.label, selected.margin

    def selections(self, counts: Array, coins: np.random.Generator) -> tuple[Selection, ...]:
        """What the plan's cutoffs select, from the counts of all pieces (pieces × 2 × steps): see the proof above."""
        draws = int(counts[:, 0].sum())
        fixed = self.plan.cutoffs[0].threshold is None
        pick = functools.partial(_first, coins=coins) if fixed else self._above
        return tuple(
            Selection(*pick(counts, cutoff), draws, sides=self.plan.sides, part=cutoff.part, fixed=fixed)
            for cutoff in self.plan.cutoffs
        )

    def _above(self, counts: Array, cutoff: Cutoff) -> tuple[int, int]:
        """How many draws reach the cutoff's threshold, and how many of these guesses are right."""
        n, k = counts[:, :, 1 + int(np.argmax(self.edges == cutoff.threshold)) :].sum(axis=(0, 2))
        return int(n), int(k)


def _first(counts: Array, cutoff: Cutoff, coins: np.random.Generator) -> tuple[int, int]:
    """The cutoff's number of draws, the most confident, and how many of these guesses are right."""
    ranked = np.moveaxis(counts, 1, 0)[:, :, ::-1]
    seen, right = (ranked[row].T.ravel() for row in (0, 1))
    ends = np.cumsum(seen)
    wanted = min(cutoff.n, int(ends[-1]))
    whole = int(np.searchsorted(ends, wanted, side="right"))
    k, rest = int(right[:whole].sum()), wanted - int(ends[whole - 1] if whole else 0)
    if rest:
        k += int(coins.hypergeometric(right[whole], seen[whole] - right[whole], rest))
    return wanted, k


@dataclass
class Work:
    """What a worker needs to know; made once, sent to each worker."""

    target: Target
    pair: Pair
    seed: int
    draws: int
    block: int
    bits: int
    binnings: tuple[Binning, ...]
    """The binning of the test and, if the granularity of floats is tested too, the binning of that."""
    lookup: Lookup | None = None
    """Of scalars, where there are draws enough to be worth it: what the first binning says of them."""
    grain_draws: float = math.inf
    """The granularity of floats is counted in the first pieces only, that have together so many draws or more."""
    rule: EventRule | None = None
    """The event that is told in words, counted beside the test."""
    away: bool = False
    """Whether this is a copy in a worker."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy that has arrived in a worker."""
        self.__dict__.update(state, away=True)

    def settle(self) -> None:
        """Keep out of the way of a worker's own threads.

        A Dask worker runs tasks beside threads of its own, which draw from the global `random`: a mechanism that does
        so too would not be repeatable, and a call there cannot be interrupted. Such a target gets a process of its own.
        """
        shared = self.away and threading.current_thread() is not threading.main_thread()
        if shared and isinstance(self.target, CallableTarget) and hasattr(os, "fork"):
            self.target = IsolatedTarget(self.target)

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return -(-self.draws // self.block)

    @property
    def run_length(self) -> int:
        """Blocks a piece: it depends on the number of draws only."""
        return max(1, min(LARGEST, self.blocks // PIECES))

    @property
    def pieces(self) -> int:
        """The number of pieces of work."""
        return -(-self.blocks // self.run_length)

    def size(self, piece: int) -> int:
        """Draws of a piece."""
        length = self.run_length * self.block
        return min(length, self.draws - piece * length)

    @property
    def counters(self) -> tuple[Binning | EventRule, ...]:
        """All that is counted: the binnings, then the rule."""
        return (*self.binnings, *([] if self.rule is None else [self.rule]))

    def counts_at(self, piece: int, counter: int) -> bool:
        """Whether a counter counts the draws of a piece."""
        return counter < self.counted(piece) or counter >= len(self.binnings)

    def counted(self, piece: int) -> int:
        """How many of the binnings count the draws of a piece."""
        return len(self.binnings) if piece * self.run_length * self.block < self.grain_draws else 1

    def close(self) -> None:
        """End the command that the target may have started."""
        if hasattr(self.target, "close"):
            self.target.close()


Result = dict[str, Any]
"""What a piece gives: counts of each binning (None where floats stopped having a granularity), and what was noticed."""


def count_piece(work: Work, piece: int) -> Result:
    """Draw the blocks of a piece and count; where the target has a process of its own, in there.

    What leaves that process is a few whole numbers, not the draws.
    """
    work.settle()
    kept, work.target.noticed = work.target.noticed, Noticed()
    try:
        if isinstance(work.target, IsolatedTarget):
            counts = work.target.ask(work, functools.partial(_counts_apart, work), piece)
        else:
            counts = _counts(work, work.target, piece)
        return {"counts": counts, "noticed": _noticed_as_json(work.target.noticed)}
    except MechanismTimeout:
        raise TargetError(f"a call took longer than timeout = {getattr(work.target, 'timeout', None):g} s") from None
    finally:
        work.target.noticed = kept


def _counts_apart(work: Work, target: Target, piece: int) -> list[Any]:
    """The counts of a piece, in a process that was forked for this work."""
    keep_memory()
    return _counts(work, target, piece)


def _counts(work: Work, target: Target, piece: int) -> list[Any]:
    """What each binning counts in the blocks of a piece."""
    totals: list[Array | None] = [np.zeros((2, binning.steps), dtype=np.int64) for binning in work.binnings]
    ruled = np.zeros((2, 2), dtype=np.int64)
    active = work.binnings[: work.counted(piece)]
    tally = _Tally.of(work, target)
    for index in range(piece * work.run_length, min((piece + 1) * work.run_length, work.blocks)):
        size = min(work.block, work.draws - index * work.block)
        name = BlockName(work.seed, TEST, work.pair.index, index)
        sides = None if tally is None else tally.add(name, size)
        if sides is None:
            block = draw_block(target, work.pair, name, size, work.bits)
            totals[0] = _plus(totals[0], active[0], block.values, block.labels)
            ruled += 0 if work.rule is None else work.rule.count(block.values, block.labels)
        if len(active) > 1:
            raw, labels = (block.raw, block.labels) if sides is None else sides_together(sides)
            totals[1] = _plus(totals[1], active[1], granularity_table(raw), labels)
    if tally is not None:
        assert totals[0] is not None
        totals[0] += tally.counts()
        ruled += tally.ruled()
    totals += [] if work.rule is None else [ruled]
    return [None if t is None else t.tolist() for t in totals]


def _plus(total: Array | None, binning: Binning, table: Table | None, labels: Array) -> Array | None:
    """The counts with those of one block more; None from when on there was no table."""
    return None if total is None or table is None else total + binning.count(table, labels)


class _Tally:
    """The counts of a piece by lookup: how many draws of each side fell into each cell.

    Which draw had which label does not matter to counts. So a block's coins are tossed all at once, and neither is the
    order of a batch of any interest.
    """

    def __init__(self, work: Work, target: CallableTarget, lookup: Lookup):
        self._work, self._target, self._lookup = work, target, lookup
        self._cells = np.zeros((2, 2, len(lookup.codes)), dtype=np.int64)
        """Draws in each cell: first of those whose cells tell the event in words, then of others; of each side."""
        self._left: tuple[tuple[list[Array], ...], ...] = (([], []), ([], []))
        self._ruled = np.zeros((2, 2), dtype=np.int64)

    @staticmethod
    def of(work: Work, target: Target) -> _Tally | None:
        """For work that has a lookup and a target that works in batches."""
        if work.lookup is None or not isinstance(target, CallableTarget) or not target.plain_batches:
            return None
        return _Tally(work, target, work.lookup)

    def add(self, name: BlockName, size: int) -> list[Array] | None:
        """Count a block and return its outputs, the dataset's first; None if they are no scalars."""
        sides = sides_of_block(self._target, self._work.pair, name, size)
        if sides is None:
            return None
        for side, x in enumerate(sides):
            apart = self._apart(x)
            self._left[apart][side].append(self._lookup.count(x, self._cells[apart, side]))
            if apart and self._work.rule is not None:
                self._ruled += self._work.rule.count_scalars(x, side)
        return sides

    def _apart(self, x: Array) -> int:
        """1 if these outputs' cells do not tell the event in words, else 0: a cell may be that of a whole number."""
        return int(self._lookup.told is None or (self._lookup.whole and x.dtype.kind not in "iub"))

    def _left_on(self, side: int, apart: int) -> Array:
        return np.concatenate([np.empty(0), *self._left[apart][side]])

    def counts(self) -> Array:
        """Draws (row 0) and right guesses (row 1) in each step."""
        binning = self._work.binnings[0]
        found = np.zeros((2, binning.steps), dtype=np.int64)
        for side in (0, 1):
            by_guess = self._lookup.steps(self._cells[:, side].sum(axis=0), binning.steps)
            found += np.stack([by_guess.sum(axis=1), by_guess[:, side]])
        left = [np.concatenate([self._left_on(side, apart) for apart in (0, 1)]) for side in (0, 1)]
        both = np.concatenate(left)
        if len(both):
            found += binning.count(tabulate(both, self._work.bits), np.repeat([0, 1], [len(x) for x in left]))
        return found

    def ruled(self) -> Array:
        """Draws (row 0) and right guesses (row 1), outside and inside the event in words."""
        rule, found = self._work.rule, self._ruled.copy()
        if rule is None or self._lookup.told is None:
            return found
        for side in (0, 1):
            found += self._lookup.ruled(self._cells[0, side], side)
            left = self._left_on(side, 0)
            if len(left):
                found += rule.count_scalars(left, side)
        return found


def _noticed_as_json(noticed: Noticed) -> dict[str, Any]:
    return {
        **vars(noticed),
        "raised": [int(c) for c in noticed.raised],
        "global_sources": sorted(noticed.global_sources),
    }


def _noticed_from_json(found: Mapping[str, Any]) -> Noticed:
    """What `_noticed_as_json` wrote; anything else is a ValueError, TypeError or KeyError."""
    plain = {name: type(value)(found[name]) for name, value in vars(Noticed()).items()}
    return Noticed(**plain)


# ------------------------------------------------------------------------------------------------- running


@dataclass
class RunSettings:
    """Who makes the test draws of an audit, and in which folder the finished work is kept."""

    pool: Pool = field(default_factory=Pool.here)
    out: Path | None = None
    resume: bool = False
    store: Store | None = None

    def beside(self, name: str) -> RunSettings:
        """The settings of a second run that belongs to this one."""
        return RunSettings(self.pool, None if self.out is None else self.out / name, self.resume)

    @contextlib.contextmanager
    def opened(self, run: Mapping[str, Any]) -> Iterator[None]:
        """Within: the folder belongs to this run. A folder of another run, or at work, is refused at once."""
        if self.out is None:
            yield
            return
        with Store.in_folder(self.out, run, "continue" if self.resume else "refuse") as self.store:
            yield


def conduct(
    work: Work, settings: RunSettings, say: Callable[[str], None], expected: float = 0.0
) -> tuple[Array | None, ...]:
    """All counts: for each binning an array pieces × 2 × steps, or None if its table could not always be made.

    What was noticed is added to the target's own notes, in the order of the pieces. `expected`: seconds a piece,
    roughly.
    """
    results: list[_Compact | None] = [None] * work.pieces
    store = settings.store
    if store is not None:
        store.begin(fingerprint(work))
        for piece, result in _checked(store, work):
            results[piece] = _Compact.of(result)
    left = [i for i, found in enumerate(results) if found is None]
    done = work.draws - sum(work.size(i) for i in left)
    meter = Meter("test draws", work.draws, say, done)
    try:
        with contextlib.closing(settings.pool.run(count_piece, work, left, expected=expected)) as answers:
            for piece, result in answers:
                results[piece] = _Compact.of(result)
                if store is not None:
                    store.put(str(piece), result)
                meter.add(work.size(piece))
    except KeyboardInterrupt:
        if store is not None:
            store.flush()
            safe = sum(found is not None for found in results)
            say(f"interrupted: {safe} of {len(results)} parts are safe in {settings.out}; continue with --resume")
        raise
    whole = [r for r in results if r is not None]
    for one in whole:
        work.target.noticed.add(one.noticed)
    return tuple(_stacked([one.counts[i] for one in whole]) for i in range(len(work.counters)))


def select(work: Work, counts: Sequence[Array | None]) -> list[tuple[Selection, ...] | None]:
    """What the cutoffs of each binning's plan select."""
    counts = counts[: len(work.binnings)]
    seeds = np.random.SeedSequence(entropy=work.seed, spawn_key=(TIES, work.pair.index)).spawn(len(counts))
    coins = [np.random.Generator(np.random.Philox(seed)) for seed in seeds]
    return [
        None if found is None else binning.selections(found, coin)
        for binning, found, coin in zip(work.binnings, counts, coins, strict=True)
    ]


def _stacked(counts: list[Array | None]) -> Array | None:
    known = [c for c in counts if c is not None]
    return np.array(known, dtype=np.int64) if len(known) == len(counts) else None


@dataclass(frozen=True)
class _Compact:
    """The result of a piece in little memory."""

    counts: tuple[Array | None, ...]
    noticed: Noticed

    @staticmethod
    def of(result: Result) -> _Compact:
        counts = tuple(None if c is None else np.array(c, dtype=np.int32) for c in result["counts"])
        return _Compact(counts, _noticed_from_json(result["noticed"]))


def _checked(store: Store, work: Work) -> Iterator[tuple[int, Result]]:
    """The pieces in a store, if they can be what this work gives."""
    try:
        for key, result in store.records():
            piece = int(key)
            if str(piece) != key or not 0 <= piece < work.pieces or len(result["counts"]) != len(work.counters):
                raise ValueError("no such piece")
            for i, (counter, counts) in enumerate(zip(work.counters, result["counts"], strict=True)):
                size = work.size(piece) if work.counts_at(piece, i) else 0
                nothing = [[size] + [0] * (counter.steps - 1), [0] * counter.steps]
                table = np.array(nothing if counts is None else counts)
                fits = table.dtype.kind == "i" and table.shape == (2, counter.steps) and table.min() >= 0
                if not fits or table[0].sum() != size or (table[1] > table[0]).any():
                    raise ValueError("impossible counts")
            Noticed().add(_noticed_from_json(result["noticed"]))
            yield piece, result
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, IndexError) as error:
        if isinstance(error, StoreError):
            raise
        raise store.strange(error) from None


# -------------------------------------------------------------------------------------------- whose is it?


def fingerprint(work: Work) -> dict[str, Any]:
    """What makes counts comparable: the plan as the burn-in fixed it, and the cut into pieces."""
    marks = "-".join(counter.digest for counter in work.counters)
    return {"draws": work.draws, "block": work.block, "piece": work.run_length, "burn-in": marks}


def describe_run(target: Target, pairs: Sequence[Pair], **options: Any) -> dict[str, Any]:
    """What a store says of its run: the options, the mechanism, the code, and a hash of the datasets."""
    digest = hashlib.blake2b(digest_size=16)
    for pair in pairs:
        digest.update(canonical(pair.dataset) + b"|" + canonical(pair.neighbour) + b";")
    return {**options, **describe_code(target), "datasets": digest.hexdigest()}


def canonical(value: Any) -> bytes:
    """Bytes that are equal for equal datasets, in this process and in the next."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array{value.shape}{value.dtype.str}".encode() + np.ascontiguousarray(value).tobytes()
    if isinstance(value, dict):
        return b"{" + b",".join(canonical(k) + b":" + canonical(v) for k, v in sorted(value.items(), key=repr)) + b"}"
    if isinstance(value, list | tuple):
        return type(value).__name__.encode() + b"(" + b",".join(map(canonical, value)) + b")"
    if isinstance(value, int | float | str | bytes | None):
        return repr(value).encode()
    try:
        return pickle.dumps(value)
    except Exception as error:  # noqa: BLE001 - a foreign object may refuse in any way
        raise ValueError(f"the dataset (a {type(value).__name__}) cannot be told from others: {error}") from None
