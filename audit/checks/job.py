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
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import audit.checks
from audit.checks.framework import (
    LEVELS,
    Check,
    Level,
    Outcome,
    Result,
    Verdict,
    collect,
    failed,
    judge,
    run_one,
    select,
)
from audit.runtime.code_mark import code_mark
from audit.runtime.errors import InputError
from audit.runtime.files import write_atomically
from audit.runtime.pool import Pool
from audit.runtime.store import Store, StoreError
from audit.runtime.suggest import LOOSELY, did_you_mean
from audit.runtime.worker import WorkersLost
from reference.paper.inventory import Inventory, InventoryError
from reference.paper.inventory import load as load_inventory

SCHEMA = 1
"""The version of report.json's schema (`audit/report/report.schema.json`) and of verdicts.json."""

RECORD = Path(audit.checks.__file__).parent / "verdicts.json"
"""The verdicts that the project vouches for: what `dpso audit --record` wrote."""


@dataclass(frozen=True)
class Standing:
    """The verdict on one statement, and how many of its checks stand behind it."""

    verdict: Verdict
    ran: int
    of: int

    @property
    def whole(self) -> bool:
        """Whether every check of the statement at this level has run."""
        return self.ran == self.of

    @property
    def text(self) -> str:
        """The verdict in words; one that rests on a part of the checks says so."""
        return self.verdict.text if self.whole else f"{self.verdict.text} ({self.ran} of {self.of} checks)"

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "verdict": self.text,
            "grade": self.verdict.grade,
            "errata": list(self.verdict.errata),
            "ran": self.ran,
            "of": self.of,
        }


@dataclass(frozen=True)
class Difference:
    """A verdict that is not the recorded one."""

    statement: str
    recorded: str
    found: str


@dataclass
class Report:
    """What one run of the main job has found so far."""

    level: Level
    seed: int
    planned: dict[str, str]
    """The checks of this run, in order, and the statement that each is about."""
    available: dict[str, int] = field(default_factory=dict)
    """How many checks each statement has at this level, whether or not this run includes them."""
    only: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    code: str = field(default_factory=code_mark)
    """A hash of the code that gave the results: those of other code are not mixed with them."""

    @property
    def complete(self) -> bool:
        """Whether every planned check has run."""
        return {r.name for r in self.results} >= set(self.planned)

    @property
    def unexpected(self) -> list[Result]:
        """The checks that did not come out as recorded."""
        return [r for r in self.ordered() if not r.as_recorded]

    def ordered(self) -> list[Result]:
        """The results in the order of the plan, whatever the order in which they finished."""
        position = {name: i for i, name in enumerate(self.planned)}
        return sorted(self.results, key=lambda r: position[r.name])

    def standings(self) -> dict[str, Standing]:
        """The verdict on each statement, and on each place inside one, that this run is about.

        What is found at a place (a line of an algorithm, a row of a table) counts for what holds it as well.
        """
        grouped: dict[str, list[Result]] = {id: [] for name in self.planned.values() for id in held_by(name)}
        for result in self.ordered():
            for id in held_by(result.statement):
                grouped[id].append(result)
        return {
            id: Standing(judge(group), len(group), max(self.available.get(id, 0), len(group)))
            for id, group in grouped.items()
        }

    def differences(self, record: Mapping[str, Any]) -> list[Difference]:
        """Where the verdict differs from the record, for what was wholly checked at the recorded level.

        Classes are compared, and errata; the numbers inside a verdict may move with the seed.
        """
        if record.get("level") != self.level:
            return []
        found = {id: s for id, s in self.standings().items() if s.whole}
        recorded: dict[str, str] = record["verdicts"]
        return [
            Difference(id, recorded.get(id, "not recorded"), s.text)
            for id, s in found.items()
            if (record["grades"].get(id), record["errata"].get(id, [])) != (s.verdict.grade, list(s.verdict.errata))
        ]

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `audit/report/report.schema.json` documents it."""
        return {
            "schema": SCHEMA,
            "level": self.level,
            "seed": self.seed,
            "only": self.only,
            "code": self.code,
            "complete": self.complete,
            "planned": self.planned,
            "available": self.available,
            "verdicts": {id: standing.to_json() for id, standing in self.standings().items()},
            "unexpected": [r.name for r in self.unexpected],
            "results": [r.to_json() for r in self.ordered()],
        }


def inventory() -> Inventory:
    """The inventory of the paper; a file of it that breaks its rules is named in one line."""
    try:
        return load_inventory()
    except InventoryError as error:
        raise InputError(str(error)) from None


def held_by(id: str) -> tuple[str, ...]:
    """An id, and the statement, algorithm or table that it is a place of, if it is one."""
    entry = inventory().find(id)
    return (id,) if entry is None or entry.id == id else (id, entry.id)


# -------------------------------------------------------------------------------------------- the plan


def plan(level: Level, only: Sequence[str] = ()) -> list[Check]:
    """The checks to run; an id that no check knows is refused, with the nearest one."""
    checks = collect()
    places = {c.name: held_by(c.statement) for c in checks}
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
        for id in held_by(one.statement):
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
    done: Callable[[Result], None],
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
    return replace(check, function=_ByName(check.function.__module__, check.function.__name__))


def _run_check(seed: int, check: Check) -> Result:
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


def _results(store: Store, report: Report) -> Generator[Result]:
    """The results in a store, if this run can have written them."""
    try:
        for name, data in store.records():
            result = Result.from_json(data)
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


def read_record() -> dict[str, Any]:
    """The recorded verdicts; nothing if there is no record."""
    if not RECORD.exists():
        return {}
    try:
        data: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{RECORD.name} is not JSON ({error}); dpso audit --record writes it") from None
    return data


def record_of(report: Report) -> dict[str, Any]:
    """What is recorded of a complete run: verdicts and the checks behind them, nothing that differs from run to run."""
    standings = dict(sorted(report.standings().items()))
    return {
        "schema": SCHEMA,
        "level": report.level,
        "seed": report.seed,
        "verdicts": {id: s.text for id, s in standings.items()},
        "grades": {id: s.verdict.grade for id, s in standings.items()},
        "errata": {id: list(s.verdict.errata) for id, s in standings.items() if s.verdict.errata},
        "results": [
            {"name": r.name, "statement": r.statement, "kind": r.kind, "edition": r.edition, "holds": r.holds}
            for r in sorted(report.results, key=lambda r: r.name)
        ],
    }


def write_record(report: Report) -> None:
    """Record the verdicts of a complete run in which everything came out as it should."""
    if report.only or not report.complete:
        raise InputError("--record: only a complete run of all statements is recorded; drop --only")
    if report.unexpected:
        names = ", ".join(r.name for r in report.unexpected)
        raise InputError(f"--record: not recorded, for these did not come out as they should: {names}")
    write_atomically(RECORD, json.dumps(record_of(report), indent=1, ensure_ascii=False) + "\n")
