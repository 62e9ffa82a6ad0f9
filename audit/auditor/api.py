"""`audit_dp`: is this mechanism (ε, δ)-DP on these neighbours?

Fixed budget (the default): a few calls to see whether it runs; a burn-in that learns a score and fixes a plan; one
exact test on fresh draws. The whole audit has one error level α = 1 − confidence:

- the plan (pair, score, direction, sizes) is fixed by the burn-in; its few selections share the level of the test;
- when floats are read to 30 bits, the granularity of all 53 is tested apart, as a finding, at level α·BIT_SHARE, and
  the main test has the rest.

The way through: `targets` (something that can be sampled), `lints` (what the first calls show), `learn` and `test` (the
plan, the draws, the bound), `terms` (the result). What every step needs to know is a `Run`.
"""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from audit.auditor.learn.granularity import granularity_table
from audit.auditor.lints.look import inspected
from audit.auditor.lints.preflight import after_run, preflight
from audit.auditor.search.neighbours import find_pairs
from audit.auditor.targets.containment import MechanismTimeout
from audit.auditor.targets.isolate import IsolatedTarget
from audit.auditor.targets.prepare import prepare
from audit.auditor.targets.run import BIT_SHARE, Run
from audit.auditor.targets.sampling import BURN_IN, BlockName, DrawnBlock, Pair, Target, TargetError, draw_block
from audit.auditor.targets.stored import StoredTarget
from audit.auditor.terms.claim import Claim
from audit.auditor.terms.options import Budget, Code, Execution, Keywords, gathered
from audit.auditor.terms.outputs import EXACT_BITS, concatenate
from audit.auditor.terms.relation import RELATIONS, describe, objection
from audit.auditor.terms.result import AuditResult, Finding
from audit.auditor.test.anytime import Betting
from audit.auditor.test.budget import BURN_SHARE, announcement, burn_in
from audit.auditor.test.confidence import Selection, joint_p_value, strongest, would_detect
from audit.auditor.test.describe import describe_event
from audit.auditor.test.draws import Binning, RunSettings, Work, conduct, describe_run, select
from audit.auditor.test.plan import Plan, make_plan
from audit.runtime.files import write_atomically
from audit.runtime.pool import Pool
from audit.runtime.worker import WorkersLost

NEIGHBOURS = (*RELATIONS, "any", "search")
"""What `neighbours=` may be: a relation that the pairs are held against, none, or a search for a pair."""
TIMED_SHARE = 0.85
"""Of the time that is left, the part that is planned for draws: chosen; the rest is for what the estimate misses."""


def audit_dp(
    mechanism: Callable[..., Any] | Target,
    dataset: Any = None,
    neighbour: Any = None,
    *,
    epsilon: float,
    delta: float = 0.0,
    neighbours: str = "replace-one",
    pairs: Sequence[tuple[Any, Any]] | None = None,
    budget: Budget | None = None,
    code: Code | None = None,
    execution: Execution | None = None,
    **keywords: Unpack[Keywords],
) -> AuditResult:
    """Look for a violation of (ε, δ)-DP on a pair of neighbours, or on several.

    Args:
        mechanism: called as mechanism(dataset, rng), or as mechanism(dataset, size, rng) for a batch of outputs if it
            has a parameter or an attribute `size`; `rng`, a numpy Generator, may be left out of its parameters. Its
            output is anything: a number, a word, an array, a tuple, a data frame, None. A class with `fit(X, y)` is
            made and fitted in every call (see `estimator`).
        dataset: any object; each call gets its own copy. With `neighbours="search"`, a `Space` of datasets.
        neighbour: the same with one record changed.
        epsilon: the ε that is claimed, a number ≥ 0.
        delta: the δ that is claimed, in [0, 1).
        neighbours: how the datasets of a pair should differ: "replace-one" (the default), "add-remove" or "any" (a pair
            that differs in another way is a finding); "search" looks for a pair in the space `dataset`.
        pairs: a list of (dataset, neighbour), in settings of the two; one confidence covers all of them.
        budget: samples, seconds, confidence, anytime: see `Budget`.
        code: release, floats, seed_arg, setup, make, isolate, timeout, lints: see `Code`.
        execution: seed, workers, out, resume, store, progress: see `Execution`.
        **keywords: each field of the three may be given as a keyword of its own: `samples=1000`, `seed=1`.

    Returns:
        An `AuditResult`. A mechanism that cannot be tested gives the verdict "error"; arguments that make no sense
        raise ValueError.

    >>> def noisy_sum(dataset, size, rng):
    ...     return sum(dataset) + rng.laplace(scale=1.0, size=size)
    >>> audit_dp(noisy_sum, [0, 1], [1, 1], epsilon=1.0, samples=5000, seed=1).verdict
    'consistent'
    >>> result = audit_dp(noisy_sum, [0, 1], [1, 1], epsilon=0.5, budget=Budget(samples=5000, confidence=0.999))
    >>> result.verdict, 0.5 < result.epsilon_lower <= 1
    ('violated', True)
    """
    started = time.monotonic()
    options = gathered("audit_dp", budget, code, execution, keywords, ("neighbours", "neighbour", "epsilon", "delta"))
    spend, how, where = options.budget, options.code, options.execution
    run = Run(
        target=prepare(mechanism, how, where.store),
        claim=Claim(epsilon, delta, spend.confidence),
        code=how,
        seed=secrets.randbits(32) if where.seed is None else int(where.seed),
        draws=spend.draws,
        deadline=None if spend.seconds is None else started + spend.seconds,
        anytime=spend.anytime,
        say=where.progress or (lambda _: None),
        started=started,
    )
    settings = RunSettings(Pool.of(where.workers), None if where.out is None else Path(where.out), where.resume)
    asked = _Question(dataset, neighbour, pairs, neighbours)
    result = _judge(run, asked, settings)
    if how.seed_arg is not None:
        began = time.monotonic()
        other = replace(
            run,
            target=prepare(mechanism, how, None, seed_arg=how.seed_arg),
            code=replace(how, make=None),
            draws=spend.draws,
            deadline=None if spend.seconds is None else began + spend.seconds,
            pairs=(),
            findings=[],
            started=began,
        )
        result.with_fresh_seeds = _judge(other, asked, settings.beside("fresh-seeds"))
    return result


def assert_dp(
    mechanism: Callable[..., Any] | Target,
    dataset: Any = None,
    neighbour: Any = None,
    *,
    epsilon: float,
    delta: float = 0.0,
    neighbours: str = "replace-one",
    pairs: Sequence[tuple[Any, Any]] | None = None,
    budget: Budget | None = None,
    code: Code | None = None,
    execution: Execution | None = None,
    **keywords: Unpack[Keywords],
) -> AuditResult:
    """`audit_dp` for test suites: raises AssertionError with the result's paragraph unless it is "consistent".

    Args:
        mechanism: called as mechanism(dataset, rng), or mechanism(dataset, size, rng); this and all that follows is
            as for `audit_dp`.
        dataset: any object, or a `Space` with `neighbours="search"`.
        neighbour: the same with one record changed.
        epsilon: the ε that is claimed.
        delta: the δ that is claimed.
        neighbours: "replace-one", "add-remove", "any" or "search".
        pairs: a list of (dataset, neighbour), in settings of the two.
        budget: samples, seconds, confidence, anytime: see `Budget`.
        code: release, floats, seed_arg, setup, make, isolate, timeout, lints: see `Code`.
        execution: seed, workers, out, resume, store, progress: see `Execution`.
        **keywords: each field of the three as a keyword of its own.

    Returns:
        The `AuditResult`, e.g. to assert that its `would_detect` is small enough.

    >>> def noisy_sum(dataset, size, rng):
    ...     return sum(dataset) + rng.laplace(scale=1.0, size=size)
    >>> result = assert_dp(noisy_sum, [0, 1], [1, 1], epsilon=1.0, samples=5000, seed=1)
    >>> result.would_detect < 1.5
    True
    """
    __tracebackhide__ = True
    result = audit_dp(
        mechanism,
        dataset,
        neighbour,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        pairs=pairs,
        budget=budget,
        code=code,
        execution=execution,
        **keywords,
    )
    if result.verdict != "consistent":
        raise AssertionError(str(result))
    return result


# ------------------------------------------------------------------------------------------------ the pairs


@dataclass(frozen=True)
class _Question:
    """Where to look, as the caller says it."""

    dataset: Any
    neighbour: Any
    pairs: Any
    neighbours: str

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.neighbours not in NEIGHBOURS:
            raise ValueError(f"neighbours = {self.neighbours!r} must be one of {', '.join(NEIGHBOURS)}")
        if self.pairs is None:
            return
        if self.dataset is not None or self.neighbour is not None:
            raise ValueError("pairs replaces dataset and neighbour: give either, not both")
        given = list(self.pairs) if isinstance(self.pairs, Iterable) else []
        as_documented = isinstance(self.pairs, list) and all(isinstance(pair, tuple) for pair in given)
        if len(given) == 2 and not as_documented and _is_one_pair(*given):
            raise ValueError("pairs is one pair, not a list of pairs: write pairs=[(dataset, neighbour)]")
        if not given or not all(_is_pair(pair) for pair in given):
            raise ValueError(
                f"pairs = {self.pairs!r:.70} must hold at least one (dataset, neighbour), and nothing else"
            )

    def given_pairs(self, run: Run) -> list[Pair]:
        """The caller's pairs without the equal ones, with a finding for each that is not what it should be."""
        usable = []
        for index, (a, b) in enumerate([(self.dataset, self.neighbour)] if self.pairs is None else self.pairs):
            doubt = objection(a, b, self.neighbours)
            if doubt is not None:
                kind = "equal-pair" if doubt.kind == "equal" else doubt.kind
                run.findings.append(Finding(kind, f"pair {index}: {doubt.text}"))
                if doubt.kind == "equal":
                    continue
            usable.append(Pair(a, b, index))
        if not usable:
            raise TargetError("the dataset and its neighbour are equal: nothing could be tested")
        return usable


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2


def _is_one_pair(a: Any, b: Any) -> bool:
    """Whether these two are a dataset and its neighbour rather than two pairs."""
    if not _is_pair(a) or not _is_pair(b):
        return describe(a, b)[0] in RELATIONS
    return describe(a, b)[0] in RELATIONS and not any(describe(*pair)[0] in RELATIONS for pair in (a, b))


# ------------------------------------------------------------------------------------------------ the audit


def _judge(run: Run, asked: _Question, settings: RunSettings) -> AuditResult:
    """Find the pairs, audit, and put what cannot be tested into words. A worker is ended, whatever happens."""
    try:
        run.pairs = find_pairs(run, asked.dataset) if asked.neighbours == "search" else asked.given_pairs(run)
        if run.anytime:
            return _anytime(run)
        with settings.opened({} if settings.out is None else _described(run)):
            result = _fixed(run, settings)
            if settings.out is not None:
                write_atomically(
                    settings.out / "result.json", json.dumps(json.loads(result.to_json()), indent=1) + "\n"
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


def _described(run: Run) -> dict[str, Any]:
    """What the store of this run says of it."""
    claim = {"epsilon": run.claim.epsilon, "delta": run.claim.delta, "confidence": run.claim.confidence}
    release = run.code.release
    picked = getattr(release, "__qualname__", None) or repr(release)
    return describe_run(run.target, run.pairs, **claim, draws=run.draws, seed=run.seed, bits=run.bits, release=picked)


def _look(run: Run) -> None:
    """The calls before the first draw: can it be sampled, what does the budget buy, and what stands out?"""
    seconds_a_call = preflight(run)
    if not run.target.batched:
        left = run.seconds_left
        draws = run.draws if left is None else min(run.draws, int(left / max(seconds_a_call, 1e-9)))
        tested = draws - (0 if run.anytime else burn_in(draws, run.width))
        run.say(announcement(seconds_a_call, draws, tested, run.claim, run.alpha))
    if run.code.lints:
        run.note(inspected(run))


def _fixed(run: Run, settings: RunSettings) -> AuditResult:
    _look(run)
    if run.deadline is not None:
        run.draws = _affordable(run, run.deadline)
    burn = burn_in(run.draws, run.width)
    test = run.draws - burn
    run.say(f"burn-in: {burn} draws")
    learned = [_learn(run, settings, pair, max(20, burn // len(run.pairs)), test) for pair in run.pairs]
    best = max(learned, key=lambda item: item.plan.predicted)
    run.say(f"test: {test} draws on pair {best.pair.index}")
    return _test(run, settings, best, test)


def _affordable(run: Run, deadline: float) -> int:
    """How many draws the time allows, from the speed of a few."""
    pair, size, index = run.pairs[0], 8, 0
    while True:
        begun = time.monotonic()
        block = draw_block(run.target, pair, BlockName(run.seed, 0, pair.index, 1000 + index), size, run.bits)
        took = time.monotonic() - begun
        left = deadline - time.monotonic()
        if took > 0.02 * max(left, 0.0) or size >= run.block_size:
            break
        size, index = min(run.block_size, size * 4), index + 1
    begun = time.monotonic()
    learning = _learning_pace(run, block)
    left -= time.monotonic() - begun
    return max(20, min(run.draws, int(TIMED_SHARE * max(left, 0.0) / (took / size + learning))))


def _learning_pace(run: Run, block: DrawnBlock) -> float:
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
    binnings: tuple[Binning, ...]
    """Of the test and, if it may show more than that, of the granularity of floats."""
    events: tuple[str, ...]
    """In words, one a selection of the plan."""
    pace: float
    """Seconds a draw took, about."""


def _learn(run: Run, settings: RunSettings, pair: Pair, burn: int, test: int) -> _Learned:
    """Learn a score from the burn-in of a pair, and fix the plan for so many test draws."""
    begun = time.monotonic()
    blocks = run.blocks(pair, BURN_IN, burn)
    pace = (time.monotonic() - begun) / burn
    table = concatenate([b.values for b in blocks])
    labels = np.concatenate([b.labels for b in blocks])
    if len(np.unique(table.keys)) == 1:
        raise TargetError(f"the output was the same in all of {burn} draws on both datasets: nothing could be tested")
    for side in (0, 1):
        if len(np.unique(table.keys[labels == side])) == 1:
            run.note([Finding("deterministic", "the output on one dataset never varied")])
    if pair is run.pairs[-1]:
        settings.pool.get_ready()
    plan, own = make_plan(table, labels, test, run.claim.delta, run.alpha)
    binnings: tuple[Binning, ...] = (Binning.of(plan, own),)
    grains = [granularity_table(b.raw) for b in blocks] if run.bits < EXACT_BITS else []
    known = [g for g in grains if g is not None]
    if known and len(known) == len(grains):
        candidate, seen = make_plan(concatenate(known), labels, test, run.claim.delta, run.claim.alpha * BIT_SHARE)
        if candidate.predicted > max(run.claim.epsilon, plan.predicted):
            binnings = (*binnings, Binning.of(candidate, seen))
    events = tuple(describe_event(cutoff, own, table) for cutoff in plan.cutoffs)
    return _Learned(pair, plan, binnings, events, pace)


def _test(run: Run, settings: RunSettings, learned: _Learned, draws: int) -> AuditResult:
    work = Work(run.target, learned.pair, run.seed, draws, run.block_size, run.bits, learned.binnings)
    counts = conduct(work, settings, run.say, learned.pace * draws / work.pieces)
    seen, *grains = select(work, counts, run.claim.delta)
    assert seen is not None
    for grain in grains:
        run.findings += [] if grain is None else _granularity_finding(run, grain)
    claim = run.claim
    p = joint_p_value(claim.epsilon, seen)
    which, bound = strongest(seen, run.alpha)
    best = seen[which]
    return replace(
        _result(run, "violated" if p <= run.alpha else "consistent", run.draws // 2, learned.events[which]),
        epsilon_lower=bound,
        would_detect=would_detect(claim.epsilon, best, run.alpha * best.part),
        pair=learned.pair.index,
        draws={"burn_in": run.draws - best.draws, "test": best.draws},
        selected=best.n,
        right=best.k,
        p_value=p,
    )


def _granularity_finding(run: Run, seen: Sequence[Selection]) -> list[Finding]:
    _, bound = strongest(seen, run.claim.alpha * BIT_SHARE)
    if bound <= run.claim.epsilon:
        return []
    message = (
        f"the lowest bits of the floats tell the datasets apart (loss at least ε = {bound:.3g} on the bits alone);"
        ' release values rounded to a grid. Not counted in the verdict; floats="bits" counts it'
    )
    return [Finding("float-granularity", message, {"epsilon_lower": bound})]


def _result(run: Run, verdict: str, samples: int, event: str) -> AuditResult:
    """A result that bounds nothing yet."""
    return AuditResult(
        verdict=verdict,
        epsilon_lower=0.0,
        delta=run.claim.delta,
        confidence=run.claim.confidence,
        samples=samples,
        event=event,
        claimed_epsilon=run.claim.epsilon,
        would_detect=math.inf,
        seed=run.seed,
        seconds=time.monotonic() - run.started,
        findings=[*run.findings, *after_run(run.target)],
    )


def _untested(run: Run, reason: str) -> AuditResult:
    return replace(_result(run, "error", 0, "none"), reason=reason)


# ---------------------------------------------------------------------------------------------- anytime


def _anytime(run: Run) -> AuditResult:
    _look(run)
    claim = run.claim
    state = Betting(run.target, run.pairs, claim.epsilon, claim.delta, run.alpha, run.seed, run.bits)
    state.run(run.draws, run.deadline, run.say)
    return betting_result(state, run)


def betting_result(state: Betting, run: Run) -> AuditResult:
    """The result at this look."""
    claim = run.claim
    keys = np.concatenate([t.keys for p in state.past for t in p.tables])
    if len(np.unique(keys)) == 1:
        raise TargetError(f"the output was the same in all of {len(keys)} draws: nothing could be tested")
    bets = Selection(state.bets, state.right, max(state.draws, state.bets), claim.delta, 2)
    event = f"{state.right} of {state.bets} bets on the label won"
    return replace(
        _result(run, "violated" if state.claim_refuted else "consistent", state.draws // 2, event),
        epsilon_lower=state.epsilon_lower(),
        would_detect=would_detect(claim.epsilon, bets, run.alpha) if state.bets else math.inf,
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
    run: Run

    def more(self, samples: int, seconds: float | None) -> AuditResult:
        """Bet on so many more draws a side."""
        run = replace(self.run, started=time.monotonic())
        deadline = None if seconds is None else time.monotonic() + seconds
        self.betting.run(Budget(samples, seconds).draws, deadline, run.say)
        return betting_result(self.betting, run)
