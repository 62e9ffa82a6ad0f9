"""Lints as a part of every audit: a share of its budget, where the mechanism runs (in a process of its own if it has
one).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit.auditor.lints.replay import REPLAYS
from audit.auditor.lints.rules import FEWEST_CALLS, MORE, Allowance, enough_calls, inspect
from audit.auditor.lints.transcript import Transcript
from audit.auditor.targets.containment import MechanismTimeout
from audit.auditor.targets.isolate import IsolatedTarget, in_child
from audit.auditor.targets.run import Run
from audit.auditor.targets.sampling import CHECK, BlockName, CallableTarget, Pair, Target, TargetError
from audit.auditor.terms.leaves import Raised
from audit.auditor.terms.result import Finding

SHARE = 0.11
"""Of the calls (or the time) of an audit that may go into lints: chosen so that they cost about a tenth, a watched call
taking a little longer than another (`dpso bench foreign` measures it). No bound depends on it.
"""
PAIRS = 3
"""Pairs that are looked at: chosen; more would thin out the calls on each."""


@dataclass(frozen=True)
class _Seen:
    """What a look at one pair gave."""

    findings: list[Finding]
    transcript: Transcript | None = None


def inspected(run: Run) -> list[Finding]:
    """The findings of the lints on the first pairs, and the dearest transcript (in `run`); none where the mechanism is
    not Python code of this process.
    """
    target, isolated = _python(run.target)
    if target is None:
        return []
    pairs = run.pairs[:PAIRS]
    allowance = _allowance(run, len(pairs))
    found: dict[str, Finding] = {}
    for pair in pairs:
        seen = _apart(run, target, pair, allowance) if isolated else _inspected(run, target, pair, allowance)
        for finding in seen.findings:
            found.setdefault(finding.kind, finding)
        if run.transcript is None or (seen.transcript is not None and seen.transcript.rho > run.transcript.rho):
            run.transcript = seen.transcript
    return list(found.values())


def _allowance(run: Run, pairs: int) -> Allowance:
    """What the lints may spend on each of so many pairs."""
    most = int(SHARE * run.draws / pairs)
    make = run.code.make is not None
    calls = min(enough_calls(run.as_epsilon), (most - 2 * REPLAYS) // (3 if make else 2))
    calls = max(FEWEST_CALLS, calls)
    left = run.seconds_left
    seconds = None if left is None else SHARE * left / pairs
    return Allowance(calls, most - (calls + MORE if make else 0), seconds)


def _inspected(run: Run, target: CallableTarget, pair: Pair, allowance: Allowance) -> _Seen:
    """What an inspection shows, unless the calls fail only because they are watched."""
    earlier = list(target.noticed.raised)
    seen = inspect(target, pair, run.as_epsilon, allowance, seed=run.seed, make=run.code.make)
    for side in (0, 1):
        if all(t.error for t in seen.runs[side]) and not _fails_alone(target, pair, side, run.seed):
            target.noticed.raised = earlier
            return _Seen([Finding("not-inspected", f"watched calls fail ({seen.runs[side][0].error}), others do not")])
    return _Seen(seen.findings, seen.transcript)


def _apart(run: Run, target: CallableTarget, pair: Pair, allowance: Allowance) -> _Seen:
    """The same in a worker of its own; a worker that does not come back is a finding, not the end of the audit."""
    try:
        found: _Seen = in_child(lambda: _inspected(run, target, pair, allowance), target.timeout)
        return found
    except (TargetError, MechanismTimeout) as error:
        return _Seen([Finding("not-inspected", f"the lints could not be run: {str(error) or 'a call did not return'}")])


def _fails_alone(target: CallableTarget, pair: Pair, side: int, seed: int) -> bool:
    """Whether the mechanism fails on this side without being watched, too."""
    outputs = target.outputs(pair, np.full(2, side), BlockName(seed, CHECK, pair.index, 1))
    return all(isinstance(output, Raised) for output in outputs)


def _python(target: Target | None) -> tuple[CallableTarget | None, bool]:
    """The Python mechanism inside a target, and whether it lives in a worker."""
    isolated = False
    while target is not None and not isinstance(target, CallableTarget):
        isolated = isolated or isinstance(target, IsolatedTarget)
        target = getattr(target, "inner", None)
    return target, isolated
