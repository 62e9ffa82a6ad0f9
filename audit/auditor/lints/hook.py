"""Lints as a part of every audit: a share of its budget, in the worker if there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from audit.auditor.lints.replay import REPLAYS
from audit.auditor.lints.rules import FEWEST_CALLS, MORE, enough_calls, inspect
from audit.auditor.targets.containment import MechanismTimeout
from audit.auditor.targets.isolate import IsolatedTarget, in_child
from audit.auditor.targets.sampling import CHECK, BlockName, CallableTarget, Pair, TargetError
from audit.auditor.terms.outputs import Raised
from audit.auditor.terms.result import Finding

SHARE = 0.11
"""Of the calls (or the time) of an audit that may go into lints; a watched call takes a little longer than another."""
PAIRS = 3
"""Pairs that are looked at."""


def lint(
    target: Any,
    pairs: Sequence[Pair],
    *,
    epsilon: float,
    delta: float,
    seed: int,
    draws: int,
    seconds: float | None,
    make: Callable[[float], Callable[..., Any]] | None = None,
) -> list[Finding]:
    """The findings of the lints on the first pairs; none where the mechanism is not Python code of this process."""
    if make is not None and not callable(make):
        raise ValueError(f"make = {make!r} must be a function of ε that returns a mechanism, e.g. lambda e: laplace(e)")
    inner, isolated = _python(target)
    if inner is None:
        return []
    looked = list(pairs[:PAIRS])
    most = int(SHARE * draws / len(looked))
    kept = 2 if make is None else 3
    calls = max(FEWEST_CALLS, min(enough_calls(epsilon, delta), (most - 2 * REPLAYS) // kept))
    most -= 0 if make is None else calls + MORE

    def look(pair: Pair) -> list[Finding]:
        earlier = list(inner.noticed.raised)
        seen = inspect(
            inner,
            pair.dataset,
            pair.neighbour,
            epsilon=epsilon,
            delta=delta,
            seed=seed,
            make=make,
            calls=calls,
            most=most,
            timeout=inner.timeout,
            seconds=None if seconds is None else SHARE * seconds / len(looked),
        )
        for side in (0, 1):
            if all(t.error for t in seen.runs[side]) and not _fails_alone(inner, pair, side, seed):
                inner.noticed.raised = earlier
                return [Finding("not-inspected", f"watched calls fail ({seen.runs[side][0].error}), others do not")]
        return seen.findings

    found: dict[str, Finding] = {}
    for pair in looked:
        for finding in _apart(look, pair, inner.timeout) if isolated else look(pair):
            found.setdefault(finding.kind, finding)
    return list(found.values())


def _fails_alone(target: CallableTarget, pair: Pair, side: int, seed: int) -> bool:
    """Whether the mechanism fails on this side without being watched, too."""
    outputs = target.outputs(pair, np.full(2, side), BlockName(seed, CHECK, pair.index, 1))
    return all(isinstance(output, Raised) for output in outputs)


def _python(target: Any) -> tuple[CallableTarget | None, bool]:
    """The Python mechanism inside a target, and whether it lives in a worker."""
    isolated = False
    while not isinstance(target, CallableTarget):
        isolated = isolated or isinstance(target, IsolatedTarget)
        target = getattr(target, "inner", None)
        if target is None:
            return None, False
    return target, isolated


def _apart(look: Callable[[Pair], list[Finding]], pair: Pair, timeout: float | None) -> list[Finding]:
    """The same in a worker of its own; a worker that does not come back is a finding, not the end of the audit."""
    try:
        found: list[Finding] = in_child(lambda: look(pair), timeout)
        return found
    except (TargetError, MechanismTimeout) as error:
        return [Finding("not-inspected", f"the lints could not be run: {error or 'a call did not return'}")]
