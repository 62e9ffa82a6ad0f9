"""The main job: run the checks of the paper's statements, keep what is done, and report.

Checks run in worker processes that are started afresh with fixed hashing and one thread for linear algebra, and each
check starts from its own seed and a reset state: neither the number of workers, nor the order, nor an interruption
changes a result. `report.json` is written atomically as the run goes on, so that whatever ends it leaves a valid
report that says how far it came, and `resume` continues it. A check that kills its process is a result like another.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
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
from audit.runtime.errors import InputError, one_line
from audit.runtime.executors import carry_out, dask
from audit.runtime.files import read_json, write_atomically
from audit.runtime.journal import JournalError, code_mark, sole_driver
from audit.runtime.suggest import LOOSELY, did_you_mean
from audit.runtime.workers import ENVIRONMENT, WorkersLost, environment, interrupts_held
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

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """The report that `to_json` wrote."""
        results = [Result.from_json(r) for r in data["results"]]
        if data["schema"] != SCHEMA or data["level"] not in LEVELS:
            raise ValueError(f"schema {data['schema']!r} and level {data['level']!r} are not of this version")
        report = cls(
            data["level"],
            data["seed"],
            dict(data["planned"]),
            dict(data["available"]),
            list(data["only"]),
            results,
            data.get("code", ""),
        )
        strangers = [r.name for r in results if r.name not in report.planned]
        if strangers:
            raise ValueError(f"{strangers[0]!r} was not planned")
        return report


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


def run(
    checks: Sequence[Check],
    report: Report,
    workers: int,
    done: Callable[[Result], None],
    started: Callable[[Check], None] = lambda check: None,
    scheduler: str | None = None,
) -> None:
    """Run what `report` does not hold yet, here or on a cluster; call `done` after each check, `started` before."""
    finished = {r.name for r in report.results}
    left = [c for c in checks if c.name not in finished]
    if scheduler is None:
        running = _results(left, report.seed, workers, started)
    else:
        running = _cluster_results(left, report.seed, scheduler)
    with contextlib.closing(running) as results:
        for result in results:
            report.results.append(result)
            done(result)


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


def _cluster_results(checks: Sequence[Check], seed: int, scheduler: str) -> Generator[Result]:
    """The results from the workers of a Dask cluster; a check that no worker survives is a result like another."""
    try:
        tasks = [_by_name(check) for check in checks]
        for _, result in carry_out(
            dask(scheduler), _run_check, seed, tasks, lost=lambda check, reason: failed(check, seed, reason)
        ):
            yield result
    except (ValueError, WorkersLost) as error:
        raise InputError(f"{error}; what is done is kept: continue with --resume") from None


_CHILD = """
import os, pickle, sys
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
from audit.checks.framework import run_one
answers.write(pickle.dumps(run_one(*pickle.load(sys.stdin.buffer))))
"""


def _run_check(seed: int, check: Check) -> Result:
    """What a cluster's worker does: the check gets a fresh interpreter with fixed hashing, as it does here.

    The worker itself was started by somebody else, and its own threads use the global generators.
    """
    path = {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    child = subprocess.run(
        [sys.executable, "-P", "-c", _CHILD],
        input=pickle.dumps((check, seed)),
        capture_output=True,
        check=False,
        env=os.environ | ENVIRONMENT | path,
    )
    if child.returncode:
        return failed(check, seed, f"the worker process died (exit code {child.returncode})")
    result: Result = pickle.loads(child.stdout)
    return result


class _Worker:
    """A process that runs one check after another, and what it is busy with."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.check: Check | None = None
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with environment(ENVIRONMENT), interrupts_held():
            self.process.start()
        theirs.close()

    def give(self, check: Check, seed: int) -> None:
        self.check = check
        self.connection.send((_by_name(check), seed))

    def take(self, seed: int) -> Result:
        """The result of the check it was given; of a dead process, that it died."""
        assert self.check is not None
        check, self.check = self.check, None
        try:
            result: Result = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            return failed(check, seed, f"the worker process died (exit code {self.process.exitcode})")
        return result

    def stop(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join(2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _results(checks: Sequence[Check], seed: int, workers: int, started: Callable[[Check], None]) -> Generator[Result]:
    waiting = list(reversed(checks))
    crew: list[_Worker] = []
    try:
        while waiting or crew:
            while waiting and len(crew) < workers:
                worker = _Worker()
                crew.append(worker)
                _next(worker, waiting, seed, started)
            ready = wait([w.connection for w in crew])
            for worker in [w for w in crew if w.connection in ready]:
                result = worker.take(seed)
                if waiting and worker.process.is_alive():
                    _next(worker, waiting, seed, started)
                else:
                    crew.remove(worker)
                    worker.stop()
                yield result
    finally:
        for worker in crew:
            worker.stop()


def _next(worker: _Worker, waiting: list[Check], seed: int, started: Callable[[Check], None]) -> None:
    check = waiting.pop()
    started(check)
    # A process that has just died is noticed when its answer is read.
    with contextlib.suppress(BrokenPipeError):
        worker.give(check, seed)


def _serve(connection: Connection) -> None:
    """What a worker process does: run what it is sent until the other side hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            check, seed = connection.recv()
            connection.send(run_one(check, seed))
        except (EOFError, OSError):
            return


# ------------------------------------------------------------------------------------------------ files


def report_path(out: Path) -> Path:
    """Where the report of a run lives; the folder is made if need be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"--out {out}: cannot be made a folder ({reason}); name another") from None
    if not os.access(out, os.W_OK | os.X_OK):
        raise InputError(f"--out {out}: not writable; name another folder")
    return out / "report.json"


@contextlib.contextmanager
def alone_in(out: Path) -> Generator[None]:
    """Within: the folder is this run's; while another run is at work in it, it is refused."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(sole_driver(out))
        except JournalError as error:
            raise InputError(f"--out {error}") from None
        yield


def save(report: Report, path: Path) -> None:
    """Write the report so that a reader sees the old one or the new one, never half of it."""
    write_atomically(path, json.dumps(report.to_json(), indent=1, allow_nan=False) + "\n")


def load(path: Path, fresh: Report) -> Report:
    """The report to resume; one of another plan, seed or schema is refused, none at all is a fresh start."""
    if not path.exists():
        return fresh
    try:
        found = Report.from_json(read_json(path, str(path)))
    except (InputError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        reason = one_line(f"{type(error).__name__}: {error}")
        raise InputError(f"--resume: {path} is not a report of this program ({reason}); use another --out") from None
    for what in _WORDS:
        if getattr(found, what) != getattr(fresh, what):
            raise InputError(f"--resume: {path} is of another {_WORDS[what]}; use another --out or drop --resume")
    return found


_WORDS = {
    "code": "version of the code",
    "level": "level",
    "seed": "seed",
    "only": "--only",
    "planned": "set of checks",
    "available": "set of checks",
}


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
