"""What a run of the checks has found (`report.json`), and what the project vouches for (`verdicts.json`), as data.

`Report` is the model of both: results of checks in, verdicts on statements out. Nothing here runs a check, so that a
page is drawn, a statement traced and a record compared without the pool, the store and the sections' modules.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import audit.checks
from audit.checks.framework import CheckResult, Level, Verdict, judge
from audit.runtime.code_mark import code_mark
from audit.runtime.errors import InputError
from audit.runtime.files import write_atomically
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
    results: list[CheckResult] = field(default_factory=list)
    code: str = field(default_factory=code_mark)
    """A hash of the code that gave the results: those of other code are not mixed with them."""

    @property
    def complete(self) -> bool:
        """Whether every planned check has run."""
        return {r.name for r in self.results} >= set(self.planned)

    @property
    def unexpected(self) -> list[CheckResult]:
        """The checks that did not come out as recorded."""
        return [r for r in self.ordered() if not r.as_recorded]

    def ordered(self) -> list[CheckResult]:
        """The results in the order of the plan, whatever the order in which they finished."""
        position = {name: i for i, name in enumerate(self.planned)}
        return sorted(self.results, key=lambda r: position[r.name])

    def standings(self) -> dict[str, Standing]:
        """The verdict on each statement, and on each place inside one, that this run is about.

        What is found at a place (a line of an algorithm, a row of a table) counts for what holds it as well.
        """
        grouped: dict[str, list[CheckResult]] = {id: [] for name in self.planned.values() for id in held_by(name)}
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


# ------------------------------------------------------------------------------------------- the record


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
