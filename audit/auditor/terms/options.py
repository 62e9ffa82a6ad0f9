"""The options of an audit, in three groups: what it may spend, how the code is called, and where it runs.

A field is given in its group, `audit_dp(…, budget=Budget(samples=1000))`, or as a keyword of its own,
`audit_dp(…, samples=1000)`; in both ways at once it is refused.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypedDict

import numpy as np

from audit.auditor.terms.claim import real
from audit.runtime.pool import Pool
from audit.runtime.suggest import did_you_mean

DEFAULT_SAMPLES = 100_000
"""Draws a side, unless said: a mechanism that works in batches takes about a second."""
TIMED_SAMPLES = 10 * DEFAULT_SAMPLES
"""The same where a time is given: the time is meant to be the limit."""

CONFIDENCE = 0.999
"""Of a whole audit, unless said: one false alarm in a thousand audits of private code. A bound lies 3.1 standard errors
below the truth then, rather than 1.6 at 0.95.
"""

Release = str | int | Callable[[Any], Any] | None
Make = Callable[[float], Callable[..., Any]]


@dataclass(frozen=True)
class Budget:
    """What an audit may spend, and how sure it must be.

    Attributes:
        samples: draws a side (twice as many in all); 100 000 unless said, ten times that where `seconds` is given.
        seconds: a limit of time, instead of `samples` or as well.
        confidence: of the whole audit: a private mechanism is called violated with probability 1 − confidence at most.
        anytime: bet draw by draw and stop at the first proof of a violation; the result can be resumed.

    >>> Budget(samples=1000).draws
    2000
    """

    samples: int | None = None
    seconds: float | None = None
    confidence: float = CONFIDENCE
    anytime: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be spent."""
        object.__setattr__(self, "confidence", real("confidence", self.confidence))
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence = {self.confidence!r} must be strictly between 0 and 1, e.g. {CONFIDENCE}")
        if self.samples is not None:
            object.__setattr__(self, "samples", _whole_samples(self.samples))
        seconds = self.seconds
        if seconds is not None and not (isinstance(seconds, int | float) and 0 < seconds < math.inf):
            raise ValueError(f"seconds = {seconds!r} must be a positive number; without it, samples= is the limit")

    @property
    def draws(self) -> int:
        """Draws in all, of both sides."""
        default = DEFAULT_SAMPLES if self.seconds is None else TIMED_SAMPLES
        return 2 * (default if self.samples is None else self.samples)


def _whole_samples(samples: Any) -> int:
    """A number of draws; 1e5 is understood."""
    if not isinstance(samples, int | float | np.integer | np.floating) or not 10 <= samples < math.inf or samples % 1:
        raise ValueError(f"samples = {samples!r} must be an integer of at least 10 draws a side")
    return int(samples)


@dataclass(frozen=True)
class Code:
    """How the mechanism is called and read, and how closely its calls are looked at.

    Attributes:
        release: what is published of a returned value: an attribute, a key, an index, or a function of it.
        floats: "values" reads floats to 30 significant bits and reports the rest as a finding; "bits" counts all 53.
        seed_arg: a parameter of the mechanism that takes a seed: it is audited as shipped and, apart
            (`result.with_fresh_seeds`), with a fresh seed in every call.
        setup: a function that is called once; the mechanism gets its result as mechanism(dataset, rng, prepared).
        make: a function of ε that returns a mechanism, e.g. `lambda e: laplace(e)`; the lints then look at the
            response of the noise to ε.
        isolate: run the mechanism in a process of its own, which can be ended: for code that hangs, exits or floods.
        timeout: seconds that a call may take; None for no limit.
        lints: look at a few dozen watched calls before the test; what they show is in `result.findings`.

    >>> Code(release="coef_", timeout=5).lints
    True
    """

    release: Release = None
    floats: str = "values"
    seed_arg: str | None = None
    setup: Callable[[], Any] | None = None
    make: Make | None = None
    isolate: bool = False
    timeout: float | None = 60.0
    lints: bool = True

    def __post_init__(self) -> None:
        """Refuse what has no meaning; the mechanism itself is not known here."""
        if self.floats not in ("values", "bits"):
            raise ValueError(f'floats = {self.floats!r} must be "values" or "bits"')
        if self.make is not None and not callable(self.make):
            raise ValueError(
                f"make = {self.make!r} must be a function of ε that returns a mechanism, e.g. lambda e: laplace(e)"
            )


@dataclass(frozen=True)
class Execution:
    """Where and how an audit runs; the result is the same bits for any number of workers.

    Attributes:
        seed: makes the audit repeatable; None for a fresh one, which the result names.
        workers: a number of processes, or the address of a Dask scheduler.
        out: a folder that keeps finished work as it is done.
        resume: go on with the run in `out`, after whatever ended it.
        store: a file that keeps the draws of one process, for an interrupted audit of slow code to go on from.
        progress: called with a line of text now and then; in a notebook, without it, the line stands below the cell.

    >>> Execution(out="kept", resume=True).workers is None
    True
    """

    seed: int | None = 0
    workers: int | str | Pool | None = None
    out: str | os.PathLike[str] | None = None
    resume: bool = False
    store: str | os.PathLike[str] | None = None
    progress: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        """Refuse combinations that cannot be kept."""
        seed: Any = self.seed
        if seed is not None and not (isinstance(seed, int | np.integer) and seed >= 0):
            raise ValueError(f"seed = {seed!r} must be a whole number ≥ 0, or None for a fresh one")
        if self.store is not None and (self.workers is not None or self.out is not None):
            raise ValueError(f"store = {str(self.store)!r} keeps the draws of one process: drop workers and out")
        if self.resume and self.out is None:
            raise ValueError("resume = True needs out, the folder of the run that is to go on")
        if self.out is not None and seed is None:
            raise ValueError(UNREPEATABLE)


UNREPEATABLE = "out needs a fixed seed and a number of samples, not seconds: the run must be repeatable"


class GridKeywords(TypedDict, total=False):
    """The fields of the three groups as keywords, but for `make`."""

    samples: int | None
    seconds: float | None
    confidence: float
    anytime: bool
    release: Release
    floats: str
    seed_arg: str | None
    setup: Callable[[], Any] | None
    isolate: bool
    timeout: float | None
    lints: bool
    seed: int | None
    workers: int | str | Pool | None
    out: str | os.PathLike[str] | None
    resume: bool
    store: str | os.PathLike[str] | None
    progress: Callable[[str], None] | None


class Keywords(GridKeywords, total=False):
    """The fields of the three groups as keywords."""

    make: Make | None


@dataclass(frozen=True)
class Options:
    """All options of one audit."""

    budget: Budget
    code: Code
    execution: Execution

    def __post_init__(self) -> None:
        """Refuse combinations across the groups."""
        where = self.execution
        if self.budget.anytime and (where.workers is not None or where.out is not None):
            raise ValueError("anytime = True goes draw by draw in one process: drop workers and out")
        if where.out is not None and self.budget.seconds is not None:
            raise ValueError(UNREPEATABLE)


def gathered(
    called: str,
    budget: Budget | None,
    code: Code | None,
    execution: Execution | None,
    keywords: Mapping[str, Any],
    others: tuple[str, ...] = (),
) -> Options:
    """The options from groups and keywords; `called` and its `others`, the parameters besides, are for the messages."""
    given: dict[str, tuple[type, Any]] = {
        "budget": (Budget, budget),
        "code": (Code, code),
        "execution": (Execution, execution),
    }
    homes = {field.name: group for group, (kind, _) in given.items() for field in fields(kind)}
    parts: dict[str, dict[str, Any]] = {group: {} for group in given}
    for name, value in keywords.items():
        if name not in homes:
            hint = did_you_mean(name, [*homes, *given, *others])
            raise TypeError(f"{called}() got an unexpected keyword argument {name!r}{hint}")
        parts[homes[name]][name] = value
    for group, (kind, found) in given.items():
        if found is not None and not isinstance(found, kind):
            raise ValueError(f"{group} = {found!r:.60} must be a {kind.__name__}, e.g. {_example(kind)}")
        if found is not None and parts[group]:
            name = next(iter(parts[group]))
            raise ValueError(f"{group} and {name} are both given: write {group}={kind.__name__}(…, {name}=…)")
    return Options(
        budget or Budget(**parts["budget"]), code or Code(**parts["code"]), execution or Execution(**parts["execution"])
    )


def _example(kind: type) -> str:
    return {Budget: "Budget(samples=1000)", Code: "Code(timeout=5)"}.get(kind, "Execution(seed=1)")
