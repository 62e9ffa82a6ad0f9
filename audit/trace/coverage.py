"""The inventory with everything that is tied to it: code, tests, checks, recorded verdicts, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal, TypeAlias

from audit.checks.evidence import KINDS
from audit.checks.framework import LEVELS, Check, Level, collect
from audit.checks.results import inventory, read_record
from audit.checks.scale import Grade, bearing
from audit.trace.links import CodeLink, PytestLink, checkout, code_links, tests_of
from reference.paper.editions import EditionError, errata_of, line_marks
from reference.paper.inventory import Inventory, PrintedAlgorithm

Status: TypeAlias = Literal["recorded", "not recorded", "tests only", "no check yet"]
"""How far an entry is checked: its verdict is in the record; there are checks but no verdict; only tests; nothing."""


@dataclass(frozen=True)
class Traceability:
    """Statements, and what is tied to them."""

    inventory: Inventory
    code: tuple[CodeLink, ...]
    tests: tuple[PytestLink, ...]
    nodes: frozenset[str]
    checks: tuple[Check, ...]
    recorded: dict[str, str] = field(default_factory=dict)
    """The verdict on each statement in the record."""
    recorded_grades: dict[str, Grade] = field(default_factory=dict)
    recorded_checks: frozenset[str] = frozenset()
    recorded_level: Level = "deep"
    """Checks above this level were not asked for when the record was made."""
    has_tests: bool = True
    """False for an installed copy, which ships without tests."""

    def code_of(self, id: str) -> tuple[CodeLink, ...]:
        """The functions tied to an entry, to a place inside it, or to an erratum."""
        return tuple(link for link in self.code if _owner(self.inventory, link.id) == id)

    def tests_of(self, id: str) -> tuple[PytestLink, ...]:
        """The tests tied to an entry."""
        return tuple(link for link in self.tests if _owner(self.inventory, link.id) == id)

    def checks_of(self, id: str) -> tuple[Check, ...]:
        """The checks that bear on an entry: about it, about a place inside it, or showing an erratum that names it."""
        return tuple(c for c in self.checks if id in bearing(c.statement, c.shows, self.inventory))

    def status(self, id: str) -> Status:
        """How far an entry is checked."""
        if self.checks_of(id):
            return "recorded" if id in self.recorded else "not recorded"
        return "tests only" if self.tests_of(id) else "no check yet"

    def verdict(self, id: str) -> str:
        """What the recorded results say; what is not checked or not recorded is said in those words."""
        status = self.status(id)
        if status != "recorded":
            return status
        levels = LEVELS[: LEVELS.index(self.recorded_level) + 1]
        missing = sum(c.level in levels and c.name not in self.recorded_checks for c in self.checks_of(id))
        return self.recorded[id] + (f" ({missing} checks not recorded)" if missing else "")

    def grade(self, id: str) -> Grade:
        """The class of the recorded verdict."""
        return self.recorded_grades.get(id, "unchecked") if self.status(id) == "recorded" else "unchecked"

    def bodies(self, algorithm: PrintedAlgorithm) -> tuple[CodeLink, ...]:
        """The printed and corrected bodies of an algorithm in `reference`, which carry its line marks."""
        return tuple(
            link
            for link in self.code
            if link.id == algorithm.id
            and link.kind == "implements"
            and link.edition in ("printed", "corrected")
            and link.module.startswith("reference.")
        )

    # ------------------------------------------------------------------------------- what is missing

    def problems(self) -> list[str]:
        """Everything that a link gets wrong: unknown ids, lines out of order, untagged differences, dead checks."""
        return [*self._unknown_ids(), *self._bodies_problems(), *self._errata_problems(), *self._dead_checks()]

    def uncovered(self) -> list[str]:
        """Statements (of the paper, and ours) and algorithms that no check is about."""
        ids = [s.id for s in self.inventory.statements] + [a.id for a in self.inventory.algorithms]
        ids += [s.id for s in self.inventory.own]
        return [id for id in ids if self.status(id) == "no check yet"]

    def _unknown_ids(self) -> Iterator[str]:
        known = self.inventory
        for link in self.code:
            found = known.erratum(link.id) if link.kind == "counterexample" else known.find(link.id)
            if found is None:
                yield f"{link.code} is tied to {link.id!r}, which is in no file of the inventory"
        for test in self.tests:
            if known.find(test.id) is None and known.erratum(test.id) is None:
                yield f"{test.node} is tied to {test.id!r}, which is in no file of the inventory"
            if test.kind not in KINDS:
                yield f"{test.node} has kind {test.kind!r}, it must be one of {', '.join(KINDS)}"
        for check in self.checks:
            if known.find(check.statement) is None:
                yield f"check {check.name} is about {check.statement!r}, which is not in paper.toml"
            if check.erratum is not None and known.erratum(check.erratum) is None:
                yield f"check {check.name} names erratum {check.erratum!r}, which is not in errata.toml"

    def _bodies_problems(self) -> Iterator[str]:
        for algorithm in self.inventory.algorithms:
            bodies = self.bodies(algorithm)
            for body in bodies:
                yield from mark_problems(body.code, line_marks(body.target), len(algorithm.lines))
            by_edition = {body.edition: body for body in bodies}
            if bodies and set(by_edition) != {"printed", "corrected"}:
                yield f"{algorithm.id} has a body {', '.join(by_edition)} only: printed and corrected go together"
            elif bodies:
                yield from self._pair_problems(by_edition["printed"], by_edition["corrected"])

    def _pair_problems(self, printed: CodeLink, corrected: CodeLink) -> Iterator[str]:
        try:
            errata = errata_of(printed.target, corrected.target)
        except EditionError as error:
            yield str(error)
            return
        for erratum in sorted(errata):
            if self.inventory.erratum(erratum) is None:
                yield f"{corrected.code} is tagged [{erratum}], which is not in errata.toml"

    def _errata_problems(self) -> Iterator[str]:
        shown = {link.id for link in self.code if link.kind == "counterexample"}
        for erratum in self.inventory.errata:
            if erratum.id not in shown:
                yield f"{erratum.id} has no counterexample that runs"

    def _dead_checks(self) -> Iterator[str]:
        """Line verdicts whose check is no test, no check and no erratum."""
        names = {check.name for check in self.checks}
        for line in self.inventory.lines:
            for check in line.check:
                node = check.partition("[")[0]
                is_test = node in self.nodes or (not self.has_tests and node.startswith("tests/"))
                if not (is_test or check in names or self.inventory.erratum(check)):
                    yield f"{line.file}: {line.id} rests on {check!r}, which does not exist"


def mark_problems(name: str, marks: list[int], count: int) -> Iterator[str]:
    """What is wrong with a body's line marks: every numbered line is one stretch of code, in order."""
    marks = [number for number, _ in groupby(marks)]
    if marks == list(range(1, count + 1)):
        return
    missing = [n for n in range(1, count + 1) if n not in marks]
    extra = sorted({n for n in marks if not 1 <= n <= count})
    twice = sorted({n for n in marks if marks.count(n) > 1})
    lists = {"lacks": missing, "has no such line as": extra, "returns to": twice}
    faults = [f"{what} {', '.join(f'L{n}' for n in numbers)}" for what, numbers in lists.items() if numbers]
    yield f"{name} {'; '.join(faults) or f'has its lines out of order: {marks}'} (the algorithm has {count} lines)"


def _owner(inventory: Inventory, id: str) -> str:
    entry = inventory.find(id)
    return entry.id if entry else id


# --------------------------------------------------------------------------------------------- collect


def trace() -> Traceability:
    """Collect everything that the project says about itself."""
    root = checkout()
    tests, nodes = tests_of(root) if root else ([], frozenset())
    record = read_record()
    return Traceability(
        inventory=inventory(),
        code=tuple(code_links()),
        tests=tuple(tests),
        nodes=nodes,
        checks=tuple(collect()),
        recorded=dict(record.get("verdicts", {})),
        recorded_grades=dict(record.get("grades", {})),
        recorded_checks=frozenset(r["name"] for r in record.get("results", ())),
        recorded_level=record.get("level", "deep"),
        has_tests=root is not None,
    )
