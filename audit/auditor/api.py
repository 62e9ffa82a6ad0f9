"""`audit_dp`: is this mechanism (ε, δ)-DP on these neighbours?

Fixed budget (the default): a few calls to see whether it runs; a burn-in that learns a score and fixes a plan; one
exact test on fresh draws. The whole audit has one error level α = 1 − confidence:

- the plan (pair, score, direction, sizes) is fixed by the burn-in; its few selections share the level of the test;
- when floats are read to 30 bits, the granularity of all 53 is tested apart, as a finding, at level α·BIT_SHARE, and
  the main test
  has the rest.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from audit.auditor.learn.granularity import granularity_table
from audit.auditor.lints.hook import lint
from audit.auditor.lints.preflight import PREFLIGHT_CALLS, after_run, preflight
from audit.auditor.search.neighbours import find_pairs
from audit.auditor.targets.containment import MechanismTimeout
from audit.auditor.targets.isolate import IsolatedTarget
from audit.auditor.targets.prepare import prepare
from audit.auditor.targets.sampling import (
    BURN_IN,
    Block,
    BlockName,
    Pair,
    Target,
    TargetError,
    draw_block,
)
from audit.auditor.targets.stored import StoredTarget
from audit.auditor.terms.outputs import EXACT_BITS, VALUE_BITS, concatenate
from audit.auditor.terms.relation import objection
from audit.auditor.terms.result import AuditResult, Finding
from audit.auditor.test.anytime import Betting
from audit.auditor.test.budget import budget
from audit.auditor.test.confidence import Selection, joint_p_value, strongest, would_detect
from audit.auditor.test.describe import describe_event
from audit.auditor.test.draws import Place, Ruler, Work, conduct, describe_run, select
from audit.auditor.test.plan import Plan, make_plan
from audit.runtime.executors import Crew, crew, get_ready
from audit.runtime.files import write_atomically
from audit.runtime.workers import WorkersLost

DEFAULT_SAMPLES = 100_000
BURN_LEAST = 1500
BURN_SHARE = 0.2
BURN_LIMIT = 100_000
BURN_ENTRIES = 16_000_000
BIT_SHARE = 0.02
RELATIONS = ("replace-one", "add-remove", "any")


@dataclass(frozen=True)
class Claim:
    """What is claimed, and how sure a refutation must be."""

    epsilon: float
    delta: float
    confidence: float

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        if not (isinstance(self.epsilon, int | float) and 0 <= self.epsilon < math.inf):
            raise ValueError(f"epsilon = {self.epsilon!r} must be a finite number ≥ 0: an infinite ε claims nothing")
        if not (isinstance(self.delta, int | float) and 0 <= self.delta < 1):
            raise ValueError(f"delta = {self.delta!r} must be in [0, 1)")
        if not (isinstance(self.confidence, int | float) and 0 < self.confidence < 1):
            raise ValueError(f"confidence = {self.confidence!r} must be strictly between 0 and 1, e.g. 0.95")

    @property
    def alpha(self) -> float:
        """The error level of the whole audit."""
        return 1 - self.confidence


def audit_dp(
    mechanism: Callable[..., Any] | Target,
    dataset: Any = None,
    neighbour: Any = None,
    *,
    epsilon: float,
    delta: float = 0.0,
    samples: int | None = None,
    confidence: float = 0.95,
    seed: int | None = 0,
    seconds: float | None = None,
    release: str | int | Callable[[Any], Any] | None = None,
    neighbours: str = "replace-one",
    anytime: bool = False,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    floats: str = "values",
    timeout: float | None = 60.0,
    progress: Callable[[str], None] | None = None,
    lints: bool = True,
    make: Callable[[float], Callable[..., Any]] | None = None,
    seed_arg: str | None = None,
    setup: Callable[[], Any] | None = None,
    isolate: bool = False,
    store: str | Path | None = None,
    workers: int | str | Crew | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> AuditResult:
    """Look for a violation of (ε, δ)-DP on a pair of neighbours, or on several.

    The mechanism is called as mechanism(dataset, rng), or as mechanism(dataset, size, rng) for a batch of outputs if it
    has a parameter or an attribute `size`; `rng`, a numpy Generator, may be left out of its parameters. Each call gets
    its own copy of the dataset. An output is anything: a number, a word, an array, a tuple, a data frame, None.

    `samples` counts draws a side (2·samples in all); `seconds` limits the time instead, or as well. `pairs` replaces
    dataset and neighbour. `neighbours="search"` treats `dataset` as a `Space` and looks for a pair in it.
    `floats="bits"` lets the lowest bits of floats count as output; otherwise they are a finding. `release` picks what
    is published (attribute, key, index or function). A mechanism that cannot be tested gives the verdict "error".

    `workers` is a number of processes, or the address of a Dask scheduler; the result is the same bits for any of them.
    Under `out` finished work is kept as it is done: after any end of the process `resume=True` goes on from there.

    For other people's code: `lints` look at a few dozen calls first (`result.findings`), with `make(epsilon)` also at
    the response to ε; `seed_arg` names a parameter that takes a seed: the mechanism is audited as shipped and, apart
    (`result.with_fresh_seeds`), with a fresh seed in every call; `setup()` is called once and its result handed to
    mechanism(dataset, rng, prepared); `isolate` runs it in a process that can be ended; `store` names a file that
    keeps the draws, so that an interrupted audit goes on where it was.
    """
    started = time.monotonic()
    claim = Claim(epsilon, delta, confidence)
    place = _place(workers, out, resume, seconds, anytime, seed, store)
    run = _Run(
        target=prepare(mechanism, release=release, timeout=timeout, setup=setup, isolate=isolate, store=store),
        claim=claim,
        seed=_seed(seed),
        draws=_budget(samples, seconds),
        deadline=None if seconds is None else started + seconds,
        bits=_float_bits(floats),
        started=started,
        say=progress or (lambda _: None),
        findings=[],
        lints=lints,
        make=make,
        place=place,
        picked=getattr(release, "__qualname__", None) or repr(release),
    )
    where = (dataset, neighbour, pairs, neighbours, anytime)
    result = _judge(run, *where)
    if seed_arg is not None:
        fresh = prepare(mechanism, release=release, timeout=timeout, setup=setup, isolate=isolate, seed_arg=seed_arg)
        again = None if seconds is None else time.monotonic() + seconds
        other = replace(run, target=fresh, findings=[], started=time.monotonic(), deadline=again, pairs=(), make=None)
        other.draws = _budget(samples, seconds)
        other.place = run.place.beside("fresh-seeds")
        result.with_fresh_seeds = _judge(other, *where)
    return result


def _place(
    workers: Any, out: Any, resume: bool, seconds: float | None, anytime: bool, seed: int | None, store: Any
) -> Place:
    """Where the test draws are made; combinations that cannot be kept are refused."""
    if store is not None and (workers is not None or out is not None):
        raise ValueError(f"store = {str(store)!r} keeps the draws of one process: drop workers and out")
    if anytime and (workers is not None or out is not None):
        raise ValueError("anytime = True goes draw by draw in one process: drop workers and out")
    if resume and out is None:
        raise ValueError("resume = True needs out, the folder of the run that is to go on")
    if out is not None and (seconds is not None or seed is None):
        raise ValueError("out needs a fixed seed and a number of samples, not seconds: the run must be repeatable")
    return Place(crew(workers), None if out is None else Path(out), resume)


def _described(run: _Run) -> dict[str, Any]:
    """What the journal of this run says of it."""
    if run.place.out is None:
        return {}
    claim = {"epsilon": run.claim.epsilon, "delta": run.claim.delta, "confidence": run.claim.confidence}
    options = {"draws": run.draws, "seed": run.seed, "bits": run.bits, "release": run.picked}
    return describe_run(run.target, run.pairs, **claim, **options)


def _judge(run: _Run, dataset: Any, neighbour: Any, pairs: Any, neighbours: str, anytime: bool) -> AuditResult:
    """Find the pairs, audit, and put what cannot be tested into words. A worker is ended, whatever happens."""
    try:
        if neighbours == "search":
            run.pairs = find_pairs(run, dataset)
        else:
            run.pairs = _given_pairs(dataset, neighbour, pairs, neighbours, run)
        if anytime:
            return _anytime(run)
        with run.place.opened(_described(run)):
            result = _fixed(run)
            if run.place.out is not None:
                write_atomically(
                    run.place.out / "result.json", json.dumps(json.loads(result.to_json()), indent=1) + "\n"
                )
            return result
    except (TargetError, WorkersLost) as error:
        return _untested(run, str(error))
    except RecursionError:
        return _untested(run, "an output or a dataset is nested too deeply")
    except MechanismTimeout:
        limit = getattr(run.target, "timeout", None)
        return _untested(run, f"a call took longer than timeout = {limit} s: is that right, or give it more")
    finally:
        if isinstance(run.target, IsolatedTarget | StoredTarget):
            run.target.close()


def assert_dp(*args: Any, **kwargs: Any) -> AuditResult:
    """`audit_dp`, for test suites: raises AssertionError with the result's paragraph unless the verdict is
    "consistent".
    """
    result = audit_dp(*args, **kwargs)
    if result.verdict != "consistent":
        raise AssertionError(str(result))
    return result


@dataclass
class _Run:
    """One audit under way."""

    target: Target
    claim: Claim
    seed: int
    draws: int
    deadline: float | None
    bits: int
    started: float
    say: Callable[[str], None]
    findings: list[Finding]
    place: Place = field(default_factory=Place)
    picked: str = "None"
    """What is released, in words."""
    pairs: Sequence[Pair] = ()
    width: int = 1
    lints: bool = True
    make: Callable[[float], Callable[..., Any]] | None = None

    @property
    def block_size(self) -> int:
        """Draws a block: large where a batch is one call, small where a block is many calls."""
        return max(64, min(16384, 4_000_000 // self.width)) if self.target.batched else 1024

    def blocks(self, pair: Pair, stream: int, draws: int) -> list[Block]:
        """So many draws of a pair, block by block."""
        out: list[Block] = []
        done = 0
        while done < draws:
            size = min(self.block_size, draws - done)
            out.append(
                draw_block(self.target, pair, BlockName(self.seed, stream, pair.index, len(out)), size, self.bits)
            )
            done += size
        return out


def _seed(seed: int | None) -> int:
    """The given seed, or a fresh one."""
    if seed is None:
        return secrets.randbits(32)
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed = {seed!r} must be a whole number ≥ 0, or None for a fresh one")
    return int(seed)


def _budget(samples: int | None, seconds: float | None) -> int:
    if samples is None:
        samples = DEFAULT_SAMPLES if seconds is None else 10 * DEFAULT_SAMPLES
    if not isinstance(samples, int | np.integer) or samples < 10:
        raise ValueError(f"samples = {samples!r} must be an integer of at least 10 draws a side")
    if seconds is not None and not (isinstance(seconds, int | float) and 0 < seconds < math.inf):
        raise ValueError(f"seconds = {seconds!r} must be a positive number; without it, samples= is the limit")
    return 2 * int(samples)


def _float_bits(floats: str) -> int:
    if floats not in ("values", "bits"):
        raise ValueError(f'floats = {floats!r} must be "values" or "bits"')
    return VALUE_BITS if floats == "values" else EXACT_BITS


def _given_pairs(
    dataset: Any, neighbour: Any, pairs: Sequence[tuple[Any, Any]] | None, wanted: str, run: _Run
) -> list[Pair]:
    """The caller's pairs without the equal ones, with a finding for each that is not what it should be."""
    if wanted not in RELATIONS:
        raise ValueError(f"neighbours = {wanted!r} must be one of {', '.join(RELATIONS)}, search")
    given = [(dataset, neighbour)] if pairs is None else list(pairs) if isinstance(pairs, Iterable) else []
    if not given or any(not isinstance(pair, tuple | list) or len(pair) != 2 for pair in given):
        raise ValueError(f"pairs = {pairs!r:.80} must hold at least one (dataset, neighbour), and nothing else")
    usable = []
    for index, (a, b) in enumerate(given):
        doubt = objection(a, b, wanted)
        if doubt is not None:
            kind = "equal-pair" if doubt.kind == "equal" else doubt.kind
            run.findings.append(Finding(kind, f"pair {index}: {doubt.text}"))
            if doubt.kind == "equal":
                continue
        usable.append(Pair(a, b, index))
    if not usable:
        raise TargetError("the dataset and its neighbour are equal: nothing could be tested")
    return usable


# --------------------------------------------------------------------------------------------- fixed budget


def _look(run: _Run) -> None:
    """The calls before the first draw: can it be sampled, what stands out, and what does the budget buy?"""
    begun = time.monotonic()
    for pair in run.pairs:
        seen = preflight(run.target, pair, run.seed)
        run.width = max(run.width, seen.width)
        run.findings += [f for f in seen.findings if not _has(f.kind, run.findings)]
    if not run.target.batched:
        _announce(run, (time.monotonic() - begun) / (len(run.pairs) * PREFLIGHT_CALLS), run.draws)
    if not run.lints:
        return
    left = None if run.deadline is None else max(run.deadline - time.monotonic(), 0.0)
    claim = run.claim
    found = lint(
        run.target,
        run.pairs,
        epsilon=claim.epsilon,
        delta=claim.delta,
        seed=run.seed,
        draws=run.draws,
        seconds=left,
        make=run.make,
    )
    run.findings += [f for f in found if not _has(f.kind, run.findings)]


def _announce(run: _Run, seconds_a_call: float, draws: int) -> None:
    """Say what the budget buys, before it is spent."""
    if run.deadline is not None:
        draws = min(draws, int(max(run.deadline - time.monotonic(), 0.0) / max(seconds_a_call, 1e-9)))
    run.say(str(budget(seconds_a_call, draws, run.claim.delta, run.claim.confidence)))


def _fixed(run: _Run) -> AuditResult:
    _look(run)
    if run.deadline is not None:
        run.draws = _affordable(run)
    alpha = run.claim.alpha * ((1 - BIT_SHARE) if run.bits < EXACT_BITS else 1.0)
    burn = _burn_draws(run)
    test = run.draws - burn
    run.say(f"burn-in: {burn} draws")
    learned = [_learn(run, pair, max(20, burn // len(run.pairs)), test, alpha) for pair in run.pairs]
    best = max(learned, key=lambda item: item.plan.promise)
    run.say(f"test: {test} draws on pair {best.pair.index}")
    return _test(run, best, test, alpha)


def _burn_draws(run: _Run) -> int:
    """About 20 % of the draws; more of a small budget, less of a very large one or of very long outputs."""
    wanted = min(run.draws / 2, BURN_LEAST + BURN_SHARE * run.draws)
    return int(min(wanted, BURN_LIMIT, max(2000, BURN_ENTRIES // run.width), run.draws - 5))


def _affordable(run: _Run) -> int:
    """How many draws the time allows, from the speed of a few."""
    pair, size, index = run.pairs[0], 8, 0
    assert run.deadline is not None
    while True:
        begun = time.monotonic()
        block = draw_block(run.target, pair, BlockName(run.seed, 0, pair.index, 1000 + index), size, run.bits)
        took = time.monotonic() - begun
        left = run.deadline - time.monotonic()
        if took > 0.02 * max(left, 0.0) or size >= run.block_size:
            break
        size, index = min(run.block_size, size * 4), index + 1
    begun = time.monotonic()
    learning = _thought(run, block)
    left -= time.monotonic() - begun
    return max(20, min(run.draws, int(0.85 * max(left, 0.0) / (took / size + learning))))


def _thought(run: _Run, block: Block) -> float:
    """Seconds a draw that learning and scoring will take, about, from a plan made of one block; twice that where the
    granularity of floats is tested apart.
    """
    if len(np.unique(block.values.keys)) == 1 or block.labels.min() == block.labels.max():
        return 0.0
    times = [time.monotonic()]
    plan, _ = make_plan(block.values, block.labels, run.draws, run.claim.delta, run.claim.alpha)
    times.append(time.monotonic())
    plan.select(block.values)
    times.append(time.monotonic())
    learn, score = np.diff(times) / len(block.labels)
    return float((BURN_SHARE * learn + score) * (2 if run.bits < EXACT_BITS else 1))


@dataclass(frozen=True)
class _Learned:
    """What the burn-in on one pair gave."""

    pair: Pair
    plan: Plan
    rulers: tuple[Ruler, ...]
    """Of the test and, if it promises more than that, of the granularity of floats."""
    events: tuple[str, ...]
    """In words, one a rung of the plan."""
    pace: float
    """Seconds a draw took, about."""


def _learn(run: _Run, pair: Pair, burn: int, test: int, alpha: float) -> _Learned:
    begun = time.monotonic()
    blocks = run.blocks(pair, BURN_IN, burn)
    pace = (time.monotonic() - begun) / burn
    table = concatenate([b.values for b in blocks])
    labels = np.concatenate([b.labels for b in blocks])
    if len(np.unique(table.keys)) == 1:
        raise TargetError(f"the output was the same in all of {burn} draws on both datasets: nothing could be tested")
    for side in (0, 1):
        if len(np.unique(table.keys[labels == side])) == 1 and not _has("deterministic", run.findings):
            run.findings.append(Finding("deterministic", "the output on one dataset never varied"))
    if pair is run.pairs[-1]:
        get_ready(run.place.crew)
    plan, own = make_plan(table, labels, test, run.claim.delta, alpha)
    rulers: tuple[Ruler, ...] = (Ruler.of(plan, own),)
    if run.bits < EXACT_BITS:
        grains = [granularity_table(b.raw) for b in blocks]
        known = [g for g in grains if g is not None]
        if len(known) == len(grains):
            grain = concatenate(known)
            candidate, seen = make_plan(grain, labels, test, run.claim.delta, run.claim.alpha * BIT_SHARE)
            if candidate.promise > max(run.claim.epsilon, plan.promise):
                rulers = (*rulers, Ruler.of(candidate, seen))
    events = tuple(describe_event(rung, own, table) for rung in plan.rungs)
    return _Learned(pair, plan, rulers, events, pace)


def _has(kind: str, findings: Sequence[Finding]) -> bool:
    return any(f.kind == kind for f in findings)


def _test(run: _Run, learned: _Learned, draws: int, alpha: float) -> AuditResult:
    work = Work(run.target, learned.pair, run.seed, draws, run.block_size, run.bits, learned.rulers)
    counts = conduct(work, run.place, run.say, learned.pace * draws / work.pieces)
    seen, *grains = select(work, counts, run.claim.delta)
    assert seen is not None
    for grain in grains:
        run.findings += [] if grain is None else _granularity_finding(run, grain)
    return _conclude(run, learned, seen, alpha)


def _granularity_finding(run: _Run, seen: Sequence[Selection]) -> list[Finding]:
    _, bound = strongest(seen, run.claim.alpha * BIT_SHARE)
    if bound <= run.claim.epsilon:
        return []
    message = (
        f"the lowest bits of the floats tell the datasets apart (loss at least ε = {bound:.3g} on the bits alone);"
        ' release values rounded to a grid. Not counted in the verdict; floats="bits" counts it'
    )
    return [Finding("float-granularity", message, {"epsilon_lower": bound})]


def _conclude(run: _Run, learned: _Learned, seen: Sequence[Selection], alpha: float) -> AuditResult:
    claim = run.claim
    p = joint_p_value(claim.epsilon, seen)
    rung, bound = strongest(seen, alpha)
    best = seen[rung]
    return AuditResult(
        verdict="violated" if p <= alpha else "consistent",
        epsilon_lower=bound,
        delta=claim.delta,
        confidence=claim.confidence,
        samples=run.draws // 2,
        event=learned.events[rung],
        claimed_epsilon=claim.epsilon,
        would_detect=would_detect(claim.epsilon, best, alpha * best.part),
        seed=run.seed,
        seconds=time.monotonic() - run.started,
        findings=[*run.findings, *after_run(run.target)],
        pair=learned.pair.index,
        draws={"burn_in": run.draws - best.draws, "test": best.draws},
        selected=best.n,
        right=best.k,
        p_value=p,
    )


def _untested(run: _Run, reason: str) -> AuditResult:
    claim = run.claim
    return AuditResult(
        "error",
        0.0,
        claim.delta,
        claim.confidence,
        0,
        "none",
        claim.epsilon,
        math.inf,
        run.seed,
        time.monotonic() - run.started,
        [*run.findings, *after_run(run.target)],
        reason=reason,
    )


# ---------------------------------------------------------------------------------------------- anytime


def _anytime(run: _Run) -> AuditResult:
    _look(run)
    claim = run.claim
    state = Betting(run.target, run.pairs, claim.epsilon, claim.delta, claim.alpha, run.seed, run.bits)
    state.run(run.draws, run.deadline, run.say)
    return betting_result(state, run)


def betting_result(state: Betting, run: _Run) -> AuditResult:
    """The result at this look."""
    claim = run.claim
    keys = np.concatenate([t.keys for p in state.past for t in p.tables])
    if len(np.unique(keys)) == 1:
        raise TargetError(f"the output was the same in all of {len(keys)} draws: nothing could be tested")
    lower = state.epsilon_lower()
    bets = Selection(state.bets, state.right, max(state.draws, state.bets), claim.delta, 2)
    return AuditResult(
        verdict="violated" if state.claim_refuted else "consistent",
        epsilon_lower=lower,
        delta=claim.delta,
        confidence=claim.confidence,
        samples=state.draws // 2,
        event=f"{state.right} of {state.bets} bets on the label won",
        claimed_epsilon=claim.epsilon,
        would_detect=would_detect(claim.epsilon, bets, claim.alpha) if state.bets else math.inf,
        seed=run.seed,
        seconds=time.monotonic() - run.started,
        findings=[*run.findings, *after_run(run.target)],
        draws={"test": state.draws},
        selected=state.bets,
        right=state.right,
        p_value=float(min(1.0, np.exp(-state.best[np.searchsorted(state.grid, claim.epsilon)]))),
        mode="anytime",
        state=_Open(state, run),
    )


@dataclass(frozen=True)
class _Open:
    """An anytime audit that may go on."""

    betting: Betting
    run: _Run

    def more(self, samples: int, seconds: float | None) -> AuditResult:
        """Bet on so many more draws a side."""
        run = replace(self.run, started=time.monotonic())
        deadline = None if seconds is None else time.monotonic() + seconds
        self.betting.run(_budget(samples, seconds), deadline, run.say)
        return betting_result(self.betting, run)
