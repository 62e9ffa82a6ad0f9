"""A few calls before the audit: can the mechanism be sampled at all, and what stands out?"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from audit.auditor.targets.run import Run
from audit.auditor.targets.sampling import (
    CHECK,
    BlockName,
    CallableTarget,
    Pair,
    Target,
    TargetError,
    generator_taken_for,
)
from audit.auditor.terms.leaves import Raised
from audit.auditor.terms.outputs import tabulate
from audit.auditor.terms.relation import same
from audit.auditor.terms.result import Finding

CALLS = 8
"""Draws a side that the checks may use; they are not test draws. Chosen for speed."""
LOOK_SHARE = 0.1
"""Of a limit of time, the part that these calls may take: chosen."""
PREFLIGHT_CALLS = 3 * CALLS + 1
"""Calls of a pair in all: both sides, the first again, one for the check of the input."""

MUTATES_INPUT = Finding(
    "mutates-input", "the mechanism changes the dataset it is given; each call gets its own copy here"
)


def preflight(run: Run) -> float:
    """Draw a little from every pair and note what stands out; the seconds that a call took, about."""
    calls = _calls(run)
    begun = time.monotonic()
    for pair in run.pairs:
        width, findings = _first_calls(run.target, pair, run.seed, calls)
        run.width = max(run.width, width)
        run.note(findings)
    return (time.monotonic() - begun) / (len(run.pairs) * (3 * calls + 1))


def _calls(run: Run) -> int:
    """Draws a side: CALLS, or fewer where time is short and one call takes long."""
    if run.deadline is None:
        return CALLS
    begun = time.monotonic()
    run.target.outputs(run.pairs[0], np.zeros(1, dtype=int), BlockName(run.seed, CHECK, run.pairs[0].index, 2))
    took = time.monotonic() - begun
    left = run.seconds_left or 0.0
    return max(1, min(CALLS, int(LOOK_SHARE * left / (3 * len(run.pairs) * max(took, 1e-9)))))


def _first_calls(target: Target, pair: Pair, seed: int, calls: int) -> tuple[int, list[Finding]]:
    """The leaves of an output and the findings on both sides of a pair; `TargetError` if nothing can be tested."""
    findings: list[Finding] = []
    before = copy.deepcopy((pair.dataset, pair.neighbour)) if isinstance(target, CallableTarget) else None
    name = BlockName(seed, CHECK, pair.index, 0)
    outputs = [target.outputs(pair, np.full(calls, side), name) for side in (0, 1)]
    if _fail_alike(outputs):
        raise TargetError(
            f"the mechanism raised on every call, on both datasets: {target.noticed.first_error}{_hint(target)}"
        )
    tables = [tabulate(o) for o in outputs]
    python = isinstance(target, CallableTarget) or hasattr(target, "inner")
    if not python and np.array_equal(tables[0].keys, tables[1].keys) and len(np.unique(tables[0].keys)) > 1:
        findings.append(
            Finding("data-independent", f"with equal draws both datasets gave equal outputs, {calls} times of {calls}")
        )
    if before is not None and isinstance(target, CallableTarget):
        findings += _mutation(target, before, name)
    findings += _repeatability(target, pair, name, outputs[0])
    return max(t.width for t in tables), findings


def _fail_alike(outputs: Sequence[Any]) -> bool:
    """Whether every call raised, and in the same way on both datasets."""
    kinds = [{o.type_name if isinstance(o, Raised) else "" for o in side} for side in outputs]
    return kinds[0] == kinds[1] and "" not in kinds[0]


def _hint(target: Target) -> str:
    """What may be wrong with the way it was called."""
    mechanism = getattr(getattr(target, "inner", target), "mechanism", None)
    name = generator_taken_for(mechanism) if callable(mechanism) else ""
    called = getattr(mechanism, "__name__", "mechanism")
    return f" (its parameter {name!r} was given the generator: wrap it, lambda d, rng: {called}(d, …))" if name else ""


def _mutation(target: CallableTarget, before: tuple[Any, Any], name: BlockName) -> list[Finding]:
    """Hand the mechanism one object without a further copy and see whether it comes back unchanged."""
    handed = copy.deepcopy(before[0])
    probe = CallableTarget(lambda _dataset, rng: target._call(handed, 1, rng), timeout=target.timeout)
    probe.outputs(Pair(None, None), np.zeros(1, dtype=int), name)
    if same(handed, before[0]):
        return []
    return [MUTATES_INPUT]


def _repeatability(target: Target, pair: Pair, name: BlockName, first: Any) -> list[Finding]:
    again = target.outputs(pair, np.full(len(first), 0), name)
    if np.array_equal(tabulate(first).keys, tabulate(again).keys):
        return []
    message = (
        "the same seed gave other outputs: the mechanism has randomness of its own (a generator made before the call, a"
        " compiled library's, the operating system's) beside the rng it is given"
    )
    return [Finding("not-reproducible", f"{message}; the verdict is valid, but a rerun will differ")]


def after_run(target: Target) -> list[Finding]:
    """What was noticed over the whole run."""
    noticed, findings = target.noticed, []
    if noticed.global_sources:
        names = ", ".join(sorted(noticed.global_sources))
        findings.append(
            Finding("global-state", f"draws from the global state of {names}; seeded per block and restored")
        )
    if noticed.printed:
        first = noticed.first_print.strip()[:80]
        findings.append(Finding("prints", f"{noticed.printed} characters printed (kept off stdout), first: {first!r}"))
    if noticed.warned:
        findings.append(Finding("warns", f"{noticed.warned} warnings, first: {noticed.first_warning[:120]}"))
    if any(noticed.raised):
        where = " and ".join(
            f"{count} on the {side}" for count, side in zip(noticed.raised, ("dataset", "neighbour"), strict=True)
        )
        details = {"traceback": noticed.first_traceback, "dataset": noticed.raised[0], "neighbour": noticed.raised[1]}
        message = f"exceptions count as outputs: {where}; first: {noticed.first_error}"
        findings.append(Finding("raises", message, details))
    return findings
