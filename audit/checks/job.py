"""The main job: run the checks of the paper's statements, keep what is done, and report.

Checks run in worker processes that are started afresh with fixed hashing and one thread for linear algebra, and each
check starts from its own seed and a reset state: neither the number of workers, nor the order, nor an interruption
changes a result. What is done is in the run's store, from which `resume` continues it, and `report.json` is written
atomically as the run goes on, so that whatever ends it leaves a valid report that says how far it came. A check that
kills its process is a result like another.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from audit.checks.framework import (
    LEVELS,
    Check,
    CheckResult,
    Level,
    Outcome,
    collect,
    failed,
    run_one,
    select,
)
from audit.checks.results import Report, inventory
from audit.checks.scale import bearing
from audit.runtime.errors import InputError
from audit.runtime.files import write_atomically
from audit.runtime.pool import Pool
from audit.runtime.store import Store, StoreError
from audit.runtime.suggest import LOOSELY, did_you_mean
from audit.runtime.worker import WorkersLost

# -------------------------------------------------------------------------------------------- the plan


def plan(level: Level, only: Sequence[str] = ()) -> list[Check]:
    """The checks to run; an id that no check knows is refused, with the nearest one."""
    checks = collect()
    places = {c.name: bearing(c.statement, c.shows, inventory()) for c in checks}
    known = {x for c in checks for x in (*places[c.name], c.erratum, c.name) if x}
    for name in only:
        if name not in known:
            raise InputError(f"--only {name!r}: no check is about it{did_you_mean(name, known, LOOSELY)}")
    wanted = [c.name for c in checks if {*places[c.name], c.erratum, c.name} & set(only)]
    if only and not select(checks, level, wanted):
        first = LEVELS[min(LEVELS.index(c.level) for c in checks if c.name in wanted)]
        raise InputError(f"--only {' '.join(only)}: its checks start at level {first}; add --level {first}")
    return select(checks, level, wanted)


def new_report(level: Level, seed: int, checks: Sequence[Check], only: Sequence[str] = ()) -> Report:
    """An empty report of a plan."""
    available: dict[str, int] = {}
    for one in select(collect(), level):
        for id in bearing(one.statement, one.shows, inventory()):
            available[id] = available.get(id, 0) + 1
    return Report(level, seed, {c.name: c.statement for c in checks}, available, sorted(only))


# ------------------------------------------------------------------------------------------ the workers


def pool(workers: int, scheduler: str | None = None) -> Pool:
    """So many processes, or the workers of a Dask cluster: a check gets a fresh interpreter and as long as it takes."""
    try:
        found = Pool.processes(workers) if scheduler is None else Pool.dask(scheduler)
    except ValueError as error:
        raise InputError(str(error)) from None
    return replace(found, fresh=True, patience=math.inf)


def run(
    checks: Sequence[Check],
    report: Report,
    who: Pool,
    done: Callable[[CheckResult], None],
    started: Callable[[Check], None] = lambda check: None,
) -> None:
    """Run what `report` does not hold yet; call `done` after each check, `started` before.

    A check that its process does not survive is a result like another.
    """
    finished = {r.name for r in report.results}
    left = [_by_name(c) for c in checks if c.name not in finished]
    running = who.run(
        _run_check,
        report.seed,
        left,
        started=started,
        attempts=1,
        lost=lambda check, reason: failed(check, report.seed, reason),
    )
    try:
        with contextlib.closing(running) as results:
            for _, result in results:
                report.results.append(result)
                done(result)
    except (ValueError, WorkersLost) as error:
        raise InputError(f"{error}; what is done is kept: continue with --resume") from None


@dataclass(frozen=True)
class _ByName:
    """A check's function as a worker process is sent it: a name that its module has, whatever made the function."""

    module: str
    name: str

    def __call__(self, seed: int) -> Outcome:
        outcome: Outcome = getattr(importlib.import_module(self.module), self.name)(seed)
        return outcome


def _by_name(check: Check) -> Check:
    """The check as it travels to another process."""
    return replace(check, function=_ByName(check.function.__module__, check.function.__name__), mutants=())


def _run_check(seed: int, check: Check) -> CheckResult:
    """What a worker does."""
    return run_one(check, seed)


# ------------------------------------------------------------------------------------------------ files


@contextlib.contextmanager
def kept_in(out: Path, report: Report, resume: bool) -> Generator[Store]:
    """Within: the folder is this run's, and `report` has the results that are in its store; others are refused."""
    run = {
        "code": report.code,
        "level": report.level,
        "seed": report.seed,
        "--only": report.only,
        "checks": report.planned,
        "checks of a statement": report.available,
    }
    try:
        with Store.in_folder(out, run, "continue" if resume else "replace") as store:
            store.begin({})
            report.results += _results(store, report)
            yield store
    except StoreError as error:
        raise InputError(f"--out {error}") from None


def _results(store: Store, report: Report) -> Generator[CheckResult]:
    """The results in a store, if this run can have written them."""
    try:
        for name, data in store.records():
            result = CheckResult.from_json(data)
            if result.name != name or result.statement != report.planned[name]:
                raise ValueError(f"{name!r} was not planned")
            if not all(isinstance(text, str) for text in (result.witness, result.tight, result.note, result.error)):
                raise TypeError(f"a text of {name!r} is none")
            yield result
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        if isinstance(error, StoreError):
            raise
        raise store.strange(error) from None


def save(report: Report, path: Path) -> None:
    """Write the report so that a reader sees the old one or the new one, never half of it."""
    write_atomically(path, json.dumps(report.to_json(), indent=1, allow_nan=False) + "\n")
