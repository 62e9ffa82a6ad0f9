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
from audit.auditor.learn.refine import refine
from audit.auditor.learn.scores import learn_first
from audit.auditor.lints.look import inspected
from audit.auditor.lints.preflight import after_run, preflight
from audit.auditor.search.neighbours import find_pairs
from audit.auditor.targets.containment import MechanismTimeout
from audit.auditor.targets.isolate import IsolatedTarget
from audit.auditor.targets.prepare import prepare
from audit.auditor.targets.run import BIT_SHARE, Run
from audit.auditor.targets.sampling import BURN_IN, BlockName, DrawnBlock, Pair, Target, TargetError, draw_block
from audit.auditor.targets.stored import StoredTarget
from audit.auditor.terms.claim import Claim, Epsilon, claimed
from audit.auditor.terms.options import Budget, Code, Execution, Keywords, gathered
from audit.auditor.terms.outputs import EXACT_BITS, Table, concatenate
from audit.auditor.terms.picture import Drawing
from audit.auditor.terms.relation import RELATIONS, describe, objection
from audit.auditor.terms.result import AuditResult, Finding, ShortRule
from audit.auditor.terms.verdict import verdict_of
from audit.auditor.test.anytime import Betting
from audit.auditor.test.budget import BURN_SHARE, announcement, burn_in, first_part, longer_burn_in
from audit.auditor.test.confidence import Selection
from audit.auditor.test.draws import Binning, RunSettings, Work, conduct, describe_run, select
from audit.auditor.test.exact import Counted, implied, joint_p_value, lower_bound, strongest, would_detect
from audit.auditor.test.lookup import Lookup
from audit.auditor.test.plan import Plan, make_plan, plan_with
from audit.auditor.test.rule import SHUFFLED, EventRule, learn_rule, weights
from audit.auditor.test.sketch import outputs_drawing, sketch
from audit.runtime.files import write_atomically
from audit.runtime.notebook import progress_line
from audit.runtime.pool import Pool
from audit.runtime.worker import WorkersLost

NEIGHBOURS = (*RELATIONS, "any", "search")
"""What `neighbours=` may be: a relation that the pairs are held against, none, or a search for a pair."""
LOOKUP_DRAWS, LOOKUP_BLOCK = 1_000_000, 8
"""With so many test draws a table of scores is worth its making; and a block may be so many times as large, ..."""
LOOKUP_BLOCKS = 128
"""... where there are so many blocks then."""
LEARNED_BLOCKS = 16
"""Draws that refine the score of a scalar come in at least so many blocks: some teach, some are held out."""
GRAIN_LEARNED, GRAIN_DRAWS = 40_000, 400_000
"""Draws from which the granularity of floats is learned, and test draws in which it is looked at: low bits that leak
leak much, and need few.
"""
TIMED_SHARE = 0.85
"""Of the time that is left, the part that is planned for draws: chosen; the rest is for what the estimate misses."""


def audit_dp(
    mechanism: Callable[..., Any] | Target,
    dataset: Any = None,
    neighbour: Any = None,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    mu: float | None = None,
    claim: Claim | None = None,
    neighbours: str = "replace-one",
    pairs: Sequence[tuple[Any, Any]] | None = None,
    budget: Budget | None = None,
    code: Code | None = None,
    execution: Execution | None = None,
    **keywords: Unpack[Keywords],
) -> AuditResult:
    """Look for a violation of what is claimed, on a pair of neighbours or on several.

    Args:
        mechanism: called as mechanism(dataset, rng), or as mechanism(dataset, size, rng) for a batch of outputs if it
            has a parameter or an attribute `size`; `rng`, a numpy Generator, may be left out of its parameters. Its
            output is anything: a number, a word, an array, a tuple, a data frame, None. A class with `fit(X, y)` is
            made and fitted in every call (see `estimator`).
        dataset: any object; each call gets its own copy. With `neighbours="search"`, a `Space` of datasets.
        neighbour: the same with one record changed.
        epsilon: the ε that is claimed, a number ≥ 0.
        delta: the δ that is claimed with it, in [0, 1).
        rho: the ρ of zCDP that is claimed instead.
        mu: the μ of Gaussian DP that is claimed instead.
        claim: any claim instead: `Epsilon`, `ZCDP`, `RDP`, `GDP`, `Profile`, `TradeOff`.
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

    Raises:
        ValueError: an argument is not what it should be; the message names it, the condition and the remedy.
        TypeError: a keyword is unknown; the message names the nearest one.

    >>> def noisy_sum(dataset, size, rng):
    ...     return sum(dataset) + rng.laplace(scale=1.0, size=size)
    >>> audit_dp(noisy_sum, [0, 1], [1, 1], epsilon=1.0, samples=5000, seed=1).verdict
    'consistent'
    >>> result = audit_dp(noisy_sum, [0, 1], [1, 1], epsilon=0.5, budget=Budget(samples=5000, confidence=0.999))
    >>> result.verdict, 0.5 < result.epsilon_lower <= 1
    ('violated', True)
    """
    started = time.monotonic()
    options = gathered(
        "audit_dp",
        budget,
        code,
        execution,
        keywords,
        ("neighbours", "neighbour", "epsilon", "delta", "rho", "mu", "claim"),
    )
    spend, how, where = options.budget, options.code, options.execution
    made = claimed(claim, epsilon, delta, rho, mu)
    line = None if where.progress is not None else progress_line()
    run = Run(
        target=prepare(mechanism, how, where.store),
        claim=made,
        implied=implied(made),
        confidence=spend.confidence,
        relation=neighbours,
        code=how,
        seed=secrets.randbits(32) if where.seed is None else int(where.seed),
        draws=spend.draws,
        deadline=None if spend.seconds is None else started + spend.seconds,
        anytime=spend.anytime,
        say=where.progress or line or quiet,
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
            transcript=None,
            started=began,
        )
        result.with_fresh_seeds = _judge(other, asked, settings.beside("fresh-seeds"))
    if line is not None:
        line("")
    return result


def quiet(_: str) -> None:
    """Progress that nobody sees."""


def assert_dp(
    mechanism: Callable[..., Any] | Target,
    dataset: Any = None,
    neighbour: Any = None,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    mu: float | None = None,
    claim: Claim | None = None,
    strict: bool = True,
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
        delta: the δ that is claimed with it.
        rho: the ρ of zCDP that is claimed instead.
        mu: the μ of Gaussian DP that is claimed instead.
        claim: any claim instead.
        strict: also raise where the verdict is "suspect" or "inconclusive"; otherwise only a refuted claim, or one that
            could not be tested, raises.
        neighbours: "replace-one", "add-remove", "any" or "search".
        pairs: a list of (dataset, neighbour), in settings of the two.
        budget: samples, seconds, confidence, anytime: see `Budget`.
        code: release, floats, seed_arg, setup, make, isolate, timeout, lints: see `Code`.
        execution: seed, workers, out, resume, store, progress: see `Execution`.
        **keywords: each field of the three as a keyword of its own.

    Returns:
        The `AuditResult`, e.g. to assert that its `would_detect` is small enough.

    Raises:
        AssertionError: the verdict is not "consistent" (with `strict=False`: it is "violated" or "error").
        ValueError: an argument is not what it should be; the message names it, the condition and the remedy.
        TypeError: a keyword is unknown.

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
        rho=rho,
        mu=mu,
        claim=claim,
        neighbours=neighbours,
        pairs=pairs,
        budget=budget,
        code=code,
        execution=execution,
        **keywords,
    )
    if not result.passes(strict):
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
    claim = {"claim": str(run.claim), "confidence": run.confidence}
    release = run.code.release
    picked = getattr(release, "__qualname__", None) or repr(release)
    return describe_run(run.target, run.pairs, **claim, draws=run.draws, seed=run.seed, bits=run.bits, release=picked)


def _look(run: Run) -> float:
    """The calls before the first draw: can it be sampled, what does the budget buy, and what stands out?

    Returns the seconds that a call took, about.
    """
    seconds_a_call = preflight(run)
    if not run.target.batched:
        left = run.seconds_left
        draws = run.draws if left is None else min(run.draws, int(left / max(seconds_a_call, 1e-9)))
        tested = draws - (0 if run.anytime else burn_in(draws, run.width))
        run.say(announcement(seconds_a_call, draws, tested, run.claim, run.confidence, run.alpha))
    left = run.seconds_left
    if run.code.lints and left is not None and seconds_a_call * LEAST_INSPECTION > LINTS_MOST * left:
        run.note([Finding("not-inspected", "a call takes too long for the time given: more seconds, or none, to look")])
    elif run.code.lints:
        run.note(inspected(run))
    return seconds_a_call


LINTS_MOST, LEAST_INSPECTION = 0.2, 12
"""Lints take at most this share of a limit of time; they need about so many calls to say anything."""


def _fixed(run: Run, settings: RunSettings) -> AuditResult:
    pace = _look(run)
    if run.deadline is not None:
        run.draws = _affordable(run, run.deadline, pace)
    burn = burn_in(run.draws, run.width)
    test = run.draws - burn
    run.say(f"burn-in: {burn} draws")
    share = max(min(20, burn), burn // len(run.pairs))
    learned = [_learn(run, settings, pair, share, test) for pair in run.pairs]
    best = max(learned, key=lambda item: item.plan.predicted)
    more = longer_burn_in(run.draws, run.width) - burn
    if best.plan.predicted <= run.claim.least and more > 0 and run.deadline is None:
        test -= more
        run.say(f"nothing stands out: {more} draws more to learn from")
        best = _learn(run, settings, best.pair, share + more, test, best.blocks)
    run.say(f"test: {test} draws on pair {best.pair.index}")
    return _test(run, settings, best, test)


def _affordable(run: Run, deadline: float, pace: float) -> int:
    """How many draws the time allows, from the speed of a few; `pace` is about what a call took so far."""
    most = int(0.05 * max(deadline - time.monotonic(), 0.0) / max(pace, 1e-9))
    pair, size, index = run.pairs[0], max(1, min(8, most)), 0
    while True:
        begun = time.monotonic()
        block = draw_block(run.target, pair, BlockName(run.seed, 0, pair.index, 1000 + index), size, run.bits)
        took = time.monotonic() - begun
        left = deadline - time.monotonic()
        if took > 0.02 * max(left, 0.0) or size >= run.block_size:
            break
        size, index = min(run.block_size, size * 4), index + 1
    begun = time.monotonic()
    learning = _learning_pace(run, block) if size >= 8 else 0.0
    left -= time.monotonic() - begun
    return max(10, min(run.draws, int(TIMED_SHARE * max(left, 0.0) / (took / size + learning))))


def _learning_pace(run: Run, block: DrawnBlock) -> float:
    """Seconds a draw that learning and scoring will take, about, from a plan made of one block; twice that where the
    granularity of floats is tested apart.
    """
    if len(np.unique(block.values.keys)) == 1 or block.labels.min() == block.labels.max():
        return 0.0
    times = [time.monotonic()]
    plan, _ = make_plan(block.values, block.labels, run.draws, run.claim, run.level)
    times.append(time.monotonic())
    plan.select(block.values)
    times.append(time.monotonic())
    learn, score = np.diff(times) / len(block.labels)
    return float((BURN_SHARE * learn + score) * (2 if run.bits < EXACT_BITS and _is_exact(run.claim) else 1))


@dataclass(frozen=True)
class _Learned:
    """What the burn-in on one pair gave."""

    pair: Pair
    plan: Plan
    binnings: tuple[Binning, ...]
    """Of the test and, if it may show more than that, of the granularity of floats."""
    lookup: Lookup | None
    """For many draws of scalars."""
    rule: EventRule | None
    """An event in words."""
    shown: tuple[Table, np.ndarray]
    """A few draws with their labels, from which it is told what decides the score."""
    drawings: tuple[Drawing, ...]
    """The outputs with the event shaded, one a selection."""
    pace: float
    """Seconds a draw took, about."""
    blocks: list[DrawnBlock]
    """The draws from which the score was learned."""


def _learn(
    run: Run, settings: RunSettings, pair: Pair, burn: int, test: int, before: Sequence[DrawnBlock] = ()
) -> _Learned:
    """Learn a score from the burn-in of a pair, and fix the plan for so many test draws; `before`: what was drawn."""
    begun = time.monotonic()
    first = first_part(burn, run.width)
    fresh = first - sum(len(block.labels) for block in before)
    blocks = [*before, *run.blocks(pair, BURN_IN, fresh, len(before))]
    pace = (time.monotonic() - begun) / fresh
    table = concatenate([b.values for b in blocks])
    labels = np.concatenate([b.labels for b in blocks])
    if len(np.unique(table.keys)) == 1:
        raise TargetError(f"the output was the same in all of {burn} draws on both datasets: nothing could be tested")
    for side in (0, 1):
        if len(np.unique(table.keys[labels == side])) == 1:
            run.note([Finding("deterministic", "the output on one dataset never varied")])
    if pair is run.pairs[-1]:
        settings.pool.get_ready()
    if burn > first:
        more = run.blocks(pair, BURN_IN, burn - first, len(blocks))
        if table.width == 1 and table.tokens is None:
            size = min(LOOKUP_BLOCK * run.block_size, max(run.block_size, (burn - first) // LEARNED_BLOCKS))
            more = run.unordered_blocks(pair, BURN_IN, burn - first, len(blocks), size)
        labelled = ((block.values, block.labels) for block in more)
        better = refine(learn_first(table, labels), table, labels, labelled, burn - first)
        said = better.logits, better.errors
        plan, own = plan_with(better.score, said, better.labels, said, test, run.claim, run.alpha)
    else:
        plan, own = make_plan(table, labels, test, run.claim, run.alpha)
    binnings: tuple[Binning, ...] = (Binning.of(plan, own),)
    grains = [granularity_table(b.raw) for b in blocks] if run.bits < EXACT_BITS and _is_exact(run.claim) else []
    known = [g for g in grains if g is not None]
    if known and len(known) == len(grains):
        few = slice(0, GRAIN_LEARNED)
        levels, theirs = concatenate(known).take(few), labels[few]
        candidate, its = make_plan(levels, theirs, min(test, GRAIN_DRAWS), run.claim, run.level * BIT_SHARE)
        if candidate.predicted > max(run.claim.number, plan.predicted):
            binnings = (*binnings, Binning.of(candidate, its))
    rule = learn_rule(table, labels, test, run.claim, run.alpha, run.bits)
    seen = plan.select(table) if burn > first else own
    drawings = tuple(outputs_drawing(cutoff, seen, table, labels) for cutoff in plan.cutoffs)
    lookup = Lookup.fit(binnings[0], table, rule) if test >= LOOKUP_DRAWS else None
    shown = table.take(slice(0, SHUFFLED)), labels[:SHUFFLED]
    return _Learned(pair, plan, binnings, lookup, rule, shown, drawings, pace, blocks)


def _test(run: Run, settings: RunSettings, learned: _Learned, draws: int) -> AuditResult:
    larger = min(LOOKUP_BLOCK, max(1, draws // (LOOKUP_BLOCKS * run.block_size)))
    block = run.block_size * (1 if learned.lookup is None else larger)
    work = Work(
        run.target,
        learned.pair,
        run.seed,
        draws,
        block,
        run.bits,
        learned.binnings,
        learned.lookup,
        GRAIN_DRAWS,
        learned.rule,
    )
    counts = conduct(work, settings, run.say, learned.pace * draws / work.pieces)
    seen, *grains = select(work, counts)
    assert seen is not None
    for grain in grains:
        run.findings += [] if grain is None else _granularity_finding(run, grain)
    p = joint_p_value(run.claim, seen, run.alpha)
    which, bound = strongest(run.claim, seen, run.alpha)
    best = seen[which]
    assert counts[0] is not None
    drawn = sketch(counts[0], learned.plan.sides, run.alpha, learned.drawings[which])
    evidence = Counted(seen, run.alpha, drawn)
    reach = would_detect(run.claim, best, run.alpha * best.part)
    told, rule = _told(run, learned, counts, bound)
    result = _result(run, told, run.draws // 2)
    return replace(
        result,
        verdict=verdict_of(run.claim, p <= run.alpha, result.findings, reach),
        lower=bound,
        epsilon_lower=bound if isinstance(run.claim, Epsilon) else evidence.lower(Epsilon(0.0, run.claim.delta)),
        would_detect=reach,
        pair=learned.pair.index,
        draws={"burn_in": run.draws - best.draws, "test": best.draws},
        selected=best.n,
        right=best.k,
        p_value=p,
        bounds=evidence,
        rule=rule,
    )


ENOUGH = 0.9
"""A rule that reaches this share of the bound is what is told; else what decides the score."""


def _told(
    run: Run, learned: _Learned, counts: Sequence[np.ndarray | None], bound: float
) -> tuple[str, ShortRule | None]:
    """The event in words, and the best short rule with what was counted of it on the test draws."""
    rule = None
    if learned.rule is not None:
        counted = counts[-1]
        assert counted is not None
        seen = learned.rule.selection(counted)
        rule = ShortRule(str(learned.rule), seen.n, seen.k, lower_bound(run.claim, seen, run.alpha))
        least = run.claim.least
        if rule.lower - least >= ENOUGH * (bound - least):
            return rule.text, rule
    return weights(learned.plan, *learned.shown), rule


def _is_exact(claim: Claim) -> bool:
    """Whether a claim leaves no room for what floats do: pure ε-DP. The other claims are about Gaussian noise or made
    by an accountant, of real numbers; what their floats betray is for floats="bits" to count.
    """
    return isinstance(claim, Epsilon) and claim.delta == 0


def _granularity_finding(run: Run, seen: Sequence[Selection]) -> list[Finding]:
    _, bound = strongest(run.claim, seen, run.level * BIT_SHARE)
    if bound <= run.claim.number:
        return []
    shown = run.claim.bound_as_text(bound)
    message = f'the lowest bits alone cost {shown} or more: release rounded values (floats="bits" counts it)'
    return [Finding("float-granularity", message, {"lower": bound, "currency": run.claim.symbol})]


def _result(run: Run, event: str, samples: int) -> AuditResult:
    """A result that bounds nothing yet."""
    return AuditResult(
        verdict="error",
        epsilon_lower=0.0,
        delta=run.claim.delta,
        confidence=run.confidence,
        samples=samples,
        event=event,
        claimed_epsilon=run.claim.epsilon if isinstance(run.claim, Epsilon) else math.inf,
        would_detect=math.inf,
        seed=run.seed,
        seconds=time.monotonic() - run.started,
        claim=run.claim,
        lower=run.claim.least,
        relation=run.relation,
        findings=[*run.findings, *after_run(run.target)],
        transcript=run.transcript,
    )


def _untested(run: Run, reason: str) -> AuditResult:
    return replace(_result(run, "none", 0), reason=reason)


# ---------------------------------------------------------------------------------------------- anytime


def _anytime(run: Run) -> AuditResult:
    pace = _look(run)
    state = Betting(
        run.target, run.pairs, run.claim, run.alpha, run.seed, run.bits, 0.0 if run.target.batched else pace
    )
    state.run(run.draws, run.deadline, run.say)
    return betting_result(state, run)


def betting_result(state: Betting, run: Run) -> AuditResult:
    """The result at this look."""
    claim = run.claim
    tables = [t.keys for p in state.past for t in p.tables]
    if not tables:
        raise TargetError("the time was up before the first draw: nothing could be tested")
    keys = np.concatenate(tables)
    if len(np.unique(keys)) == 1:
        raise TargetError(f"the output was the same in all of {len(keys)} draws: nothing could be tested")
    bets = Selection(state.bets, state.right, max(state.draws, state.bets), sides=2)
    reach = would_detect(claim, bets, run.alpha) if state.bets else math.inf
    result = _result(run, f"{state.right} of {state.bets} bets on the label won", state.draws // 2)
    return replace(
        result,
        verdict=verdict_of(claim, state.claim_refuted, result.findings, reach),
        lower=state.lower(),
        epsilon_lower=state.lower() if isinstance(claim, Epsilon) else 0.0,
        would_detect=reach,
        draws={"test": state.draws},
        selected=state.bets,
        right=state.right,
        p_value=float(min(1.0, np.exp(-state.best[state.at_claim]))),
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
