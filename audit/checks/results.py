"""What a run of the checks has found (`report.json`), and what the project vouches for (`verdicts.json`), as data.

`Report` is the model of both: results of checks in, verdicts on statements out. Nothing here runs a check, so that a
page is drawn, a statement traced and a record compared without the pool, the store and the sections' modules.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import audit.checks
from audit.checks.framework import CheckResult, Level
from audit.checks.scale import Grade, Verdict, by_place, judge
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
    basis: str = ""
    """What the proof of the text rests on: how many of its steps a machine replays."""

    @property
    def whole(self) -> bool:
        """Whether every check of the statement at this level has run."""
        return self.ran == self.of

    @property
    def text(self) -> str:
        """The verdict in words, and what it rests on; one that rests on a part of the checks says so."""
        words = f"{self.verdict.text}; {self.basis}" if self.basis else self.verdict.text
        return words if self.whole else f"{words} ({self.ran} of {self.of} checks)"

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "verdict": self.text,
            "grade": self.verdict.grade,
            "kinds": list(self.verdict.kinds),
            "corrected": self.verdict.corrected,
            "errata": list(self.verdict.errata),
            "basis": self.basis,
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

        What is found at a place (a line of an algorithm, a row of a table) counts for what holds it as well, and what
        shows an erratum counts for all that the erratum names; of a run that is limited (`only`) what it is not about
        is left out.
        """
        known = inventory()
        found_at = by_place(self.ordered(), known)
        planned = dict.fromkeys(id for name in self.planned.values() for id in held_by(name))
        others = [id for id in found_at if not self.only or id in self.only]
        grouped = {id: found_at.get(id, []) for id in (*planned, *others)}
        found = {id: judge(id, group, known) for id, group in grouped.items()}
        return {
            id: Standing(found[id], len(group), max(self.available.get(id, 0), len(group)), basis_of(id, found[id]))
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
            "text": inventory().paper.sha256,
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


def basis_of(id: str, verdict: Verdict) -> str:
    """What a verdict rests on, in words: the steps of the proof that a machine replays; of a refuted text, of its
    correction. A text that is said to hold and has no proof in the ledger rests on instances.
    """
    from audit.checks.proofs.ledger import basis

    if verdict.grade in ("unexpected", "unchecked", "cited"):
        return ""
    found = basis(id)
    if not found.steps:
        return str(found) if verdict.grade in ("holds", "loose", "misprint", "conditional", "unproved") else ""
    return f"the correction: {found}" if verdict.grade in ("false", "edge") else str(found)


def held_by(id: str) -> tuple[str, ...]:
    """An id, and the statement, algorithm or table that it is a place of, if it is one."""
    return inventory().places_of(id)


def tally(grades: Mapping[str, Grade]) -> Counter[Grade]:
    """How many of the paper's numbered statements have each grade, of those that have one.

    Every count of verdicts (README, report, terminal) is this one: definitions, lemmas, propositions, theorems,
    corollaries and remarks, each once. Algorithms, equations, tables and sections have verdicts and are not counted.
    """
    return Counter(grades[one.id] for one in inventory().statements if one.id in grades)


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
        "kinds": {id: list(s.verdict.kinds) for id, s in standings.items() if s.verdict.kinds},
        "errata": {id: list(s.verdict.errata) for id, s in standings.items() if s.verdict.errata},
        "results": [_recorded(r) for r in sorted(report.results, key=lambda r: r.name)],
    }


DIGITS = 9
"""Significant digits of a number that is recorded: fewer than those in which machines differ."""


def _recorded(result: CheckResult) -> dict[str, Any]:
    """What is recorded of a check, with its numbers: they depend on the seed alone, and a test compares them."""
    data = result.to_json()
    numbers = {name: _rounded(value) for name, value in data["numbers"].items()}
    about = {key: data[key] for key in ("name", "statement", "kind", "edition", "holds", "tight")}
    measured = {key: _rounded(data[key]) for key in ("ratio", "would_detect")}
    exact = result.kind in ("enclosed", "exact")  # its words are the same on every machine
    shown = {"witness": data["witness"], "note": data["note"]} if result.shows or exact else {}
    return about | measured | shown | {"numbers": numbers}


def _rounded(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def write_record(report: Report) -> None:
    """Record the verdicts of a complete run in which everything came out as it should."""
    if report.only or not report.complete:
        raise InputError("--record: only a complete run of all statements is recorded; drop --only")
    if report.unexpected:
        names = ", ".join(r.name for r in report.unexpected)
        raise InputError(f"--record: not recorded, for these did not come out as they should: {names}")
    write_atomically(RECORD, json.dumps(record_of(report), indent=1, ensure_ascii=False) + "\n")
