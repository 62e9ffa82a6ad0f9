"""The main job: run the checks of the paper's statements, keep what is done, and report.

`report.json` is rewritten (atomically) after every check, so that an interrupted run leaves a valid report that says
it is partial, and `resume` continues it. Results depend on the seed and the check alone: neither the number of
workers nor an interruption changes them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from audit.errors import InputError
from audit.statements.framework import Check, Level, Result, by_statement, collect, run_one, select, verdict

SCHEMA = 1
"""The version of report.json's schema."""


@dataclass
class Report:
    """What one run of the main job has found so far."""

    level: Level
    seed: int
    planned: list[str]
    results: list[Result] = field(default_factory=list)

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

    def to_json(self) -> dict[str, Any]:
        """A JSON object; its schema is documented in the README."""
        grouped = by_statement(self.ordered())
        return {
            "schema": SCHEMA,
            "level": self.level,
            "seed": self.seed,
            "complete": self.complete,
            "planned": self.planned,
            "verdicts": {statement: verdict(group) for statement, group in grouped.items()},
            "results": [r.to_json() for r in self.ordered()],
        }


def plan(level: Level, only: Sequence[str] = ()) -> list[Check]:
    """The checks to run; an id that no check knows is refused, with the nearest one."""
    checks = collect()
    known = {x for c in checks for x in (c.statement, c.erratum, c.name) if x}
    for name in only:
        if name not in known:
            raise InputError(f"--only {name!r}: no check is about it{_nearest(name, known)}")
    return select(checks, level, only)


def _nearest(name: str, known: set[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.4)
    return f", did you mean {close[0]}?" if close else ""


def run(
    checks: Sequence[Check],
    report: Report,
    workers: int,
    save: Callable[[Report], None],
    done: Callable[[Result], None],
) -> None:
    """Run what `report` does not hold yet; call `save` and `done` after each check."""
    finished = {r.name for r in report.results}
    left = [c for c in checks if c.name not in finished]
    for result in _results(left, report.seed, workers):
        report.results.append(result)
        save(report)
        done(result)


def _results(checks: Sequence[Check], seed: int, workers: int) -> Iterator[Result]:
    if workers == 1 or len(checks) <= 1:
        for one in checks:
            yield run_one(one, seed)
        return
    with ProcessPoolExecutor(min(workers, len(checks))) as pool:
        pending: set[Future[Result]] = {pool.submit(_run_named, c.name, seed) for c in checks}
        try:
            while pending:
                ready, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in ready:
                    yield future.result()
        finally:
            for future in pending:
                future.cancel()


def _run_named(name: str, seed: int) -> Result:
    """Run a check by name: what a worker process is sent."""
    (one,) = (c for c in collect() if c.name == name)
    return run_one(one, seed)


# ------------------------------------------------------------------------------------------ report.json


def report_path(out: Path) -> Path:
    """Where the report of a run lives; the folder is made if need be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {out}: cannot be made a folder ({error.strerror}); name another") from None
    if not os.access(out, os.W_OK):
        raise InputError(f"--out {out}: not writable; name another folder")
    return out / "report.json"


def save(report: Report, path: Path) -> None:
    """Write the report so that a reader sees the old one or the new one, never half of it."""
    temporary = path.with_suffix(".tmp")
    with temporary.open("w") as file:
        json.dump(report.to_json(), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def load(path: Path, level: Level, seed: int, planned: list[str]) -> Report:
    """The report to resume; one of another plan, seed or schema is refused."""
    if not path.exists():
        return Report(level, seed, planned)
    try:
        data = json.loads(path.read_text())
        found = (data["schema"], data["level"], data["seed"], data["planned"])
        names = {f.name for f in fields(Result)}
        results = [Result(**{k: v for k, v in r.items() if k in names}) for r in data["results"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"--resume: {path} is not a report of this program ({error})") from None
    if found != (SCHEMA, level, seed, planned):
        raise InputError(f"--resume: {path} belongs to another level, seed or set of checks; use another --out")
    return Report(level, seed, planned, results)
