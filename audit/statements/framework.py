"""What a check is, how checks are found and run, and how a verdict follows from them.

A check is a function of a seed that returns an `Outcome`. `@check` says which statement it is about, which edition
of the text, of what kind it is, and from which level on it runs. It says nothing about the result: the expected
result is `holds`, except for a counterexample to the printed text, whose erratum is named. Verdicts are derived here
and nowhere else.
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import audit.statements
from reference.registry import Edition

Kind: TypeAlias = Literal["exact", "certified", "adversarial", "statistical", "counterexample", "cited"]
Level: TypeAlias = Literal["quick", "standard", "deep"]

KINDS: tuple[Kind, ...] = get_args(Kind)
LEVELS: tuple[Level, ...] = get_args(Level)

MARK = "__dpso_check__"
"""The attribute that carries a check's description."""

CheckFunction: TypeAlias = "Callable[[int], Outcome]"


@dataclass(frozen=True)
class Outcome:
    """What a check found: whether the claim held, how near it came, and on what."""

    holds: bool
    ratio: float | None = None
    """The largest left side over right side that was met; 1 is attained, above 1 is a violation."""
    witness: str = ""
    numbers: Mapping[str, float | int | str] = field(default_factory=dict)
    tight: str = ""
    """Where the claim holds with room: the best constant, and how it is known."""
    note: str = ""


@dataclass(frozen=True)
class Check:
    """A check and what it is about."""

    name: str
    statement: str
    kind: Kind
    edition: Edition
    level: Level
    erratum: str | None
    condition: str | None
    function: CheckFunction = field(compare=False, repr=False)

    @property
    def expected(self) -> bool:
        """Whether the claim should hold: all do, but the printed ones that an erratum corrects."""
        return self.erratum is None


@dataclass(frozen=True)
class Result:
    """A check that ran."""

    name: str
    statement: str
    kind: Kind
    edition: Edition
    erratum: str | None
    condition: str | None
    expected: bool
    holds: bool
    ratio: float | None
    witness: str
    numbers: Mapping[str, float | int | str]
    tight: str
    note: str
    seed: int
    seconds: float
    error: str = ""

    @property
    def as_recorded(self) -> bool:
        """Whether it came out as it should: no error, and the claim held or failed as expected."""
        return not self.error and self.holds == self.expected

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self) | {"as_recorded": self.as_recorded}


def check(
    statement: str,
    *,
    kind: Kind,
    edition: Edition = "corrected",
    level: Level = "quick",
    erratum: str | None = None,
    condition: str | None = None,
) -> Callable[[CheckFunction], CheckFunction]:
    """Mark a function of a seed as a check of `statement` (an id of `paper.toml`).

    `erratum` names the defect that makes the printed claim fail: then the check is expected *not* to hold.
    `condition` says under which extra hypothesis the claim holds.
    """
    if kind not in KINDS or level not in LEVELS:
        raise ValueError(f"kind = {kind!r} must be one of {KINDS} and level = {level!r} one of {LEVELS}")

    def mark(function: CheckFunction) -> CheckFunction:
        name = f"{function.__module__.removeprefix('audit.statements.')}.{function.__name__}"
        described = Check(name, statement, kind, edition, level, erratum, condition, function)
        setattr(function, MARK, (*getattr(function, MARK, ()), described))
        return function

    return mark


def collect() -> list[Check]:
    """All checks, in the order of the section modules and of their definition."""
    found: list[Check] = []
    for info in pkgutil.iter_modules(audit.statements.__path__):
        if info.name == "framework":
            continue
        module = importlib.import_module(f"audit.statements.{info.name}")
        for value in vars(module).values():
            if getattr(value, "__module__", None) == module.__name__:
                found.extend(getattr(value, MARK, ()))
    return found


def select(checks: Iterable[Check], level: Level, only: Sequence[str] = ()) -> list[Check]:
    """The checks of this level and below, about these statements, errata or checks (all if none is named)."""
    return [
        c
        for c in checks
        if LEVELS.index(c.level) <= LEVELS.index(level)
        and (not only or c.statement in only or c.erratum in only or c.name in only)
    ]


def seed_of(check: Check, seed: int) -> int:
    """The seed of one check: it depends on the audit's seed and the check's name, not on what else runs."""
    digest = hashlib.sha256(f"{seed}|{check.name}|{check.statement}".encode()).digest()
    return int.from_bytes(digest[:4])


def run_one(check: Check, seed: int) -> Result:
    """Run a check. An exception is a result that is not as recorded, with its last line as the reason."""
    own_seed = seed_of(check, seed)
    start = time.perf_counter()
    error = ""
    try:
        outcome = check.function(own_seed)
    except Exception as exception:  # noqa: BLE001 - any failure of a check is a result
        where = traceback.extract_tb(exception.__traceback__)[-1]
        error = f"{type(exception).__name__}: {exception} ({where.name})"
        outcome = Outcome(holds=False)
    return Result(
        name=check.name,
        statement=check.statement,
        kind=check.kind,
        edition=check.edition,
        erratum=check.erratum,
        condition=check.condition,
        expected=check.expected,
        holds=bool(outcome.holds),
        ratio=None if outcome.ratio is None else float(outcome.ratio),
        witness=outcome.witness,
        numbers=dict(outcome.numbers),
        tight=outcome.tight,
        note=outcome.note,
        seed=own_seed,
        seconds=round(time.perf_counter() - start, 3),
        error=error,
    )


def run_all(checks: Iterable[Check], seed: int) -> Iterator[Result]:
    """Run checks one after another."""
    for one in checks:
        yield run_one(one, seed)


# -------------------------------------------------------------------------------------------- verdicts


def verdict(results: Sequence[Result]) -> str:
    """The verdict on one statement, from the checks about it that ran.

    Refuted as printed beats everything; then a check that came out otherwise than recorded; then conditions; then
    "holds", which needs an exact or certified check. Searching without finding is said in those words.
    """
    if not results:
        return "no check yet"
    unexpected = [r for r in results if not r.as_recorded]
    if unexpected:
        return f"UNEXPECTED: {', '.join(r.name for r in unexpected)}"
    refuted = sorted({r.erratum for r in results if r.erratum})
    if refuted:
        return f"refuted as printed → corrected ({', '.join(refuted)})"
    if all(r.kind == "cited" for r in results):
        return "cited"
    conditions = sorted({r.condition for r in results if r.condition})
    if conditions:
        return f"holds only if {'; '.join(conditions)}"
    ratios = [r.ratio for r in results if r.ratio is not None]
    if any(r.kind in ("exact", "certified") for r in results):
        tight = list(dict.fromkeys(r.tight for r in results if r.tight))
        return f"holds, loose ({'; '.join(tight)})" if tight else "holds"
    return f"no violation found (largest ratio {max(ratios):.3g})" if ratios else "no violation found"


def by_statement(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Results grouped by statement, in order of first appearance."""
    grouped: dict[str, list[Result]] = {}
    for result in results:
        grouped.setdefault(result.statement, []).append(result)
    return grouped


def verdicts(results: Iterable[Result]) -> dict[str, str]:
    """The verdict on each statement that has a result."""
    return {statement: verdict(group) for statement, group in by_statement(results).items()}
