"""What a check is, how checks are found and run, and how a verdict follows from them.

A check is a function of a seed that returns an `Outcome`. `@check` says which statement it is about, which edition
of the text, of what kind it is, and from which level on it runs. It says nothing about the result: the expected
result is `holds`, except for the printed text where an erratum is named. Verdicts are derived here and nowhere else,
by a pure function of the results.
"""

from __future__ import annotations

import hashlib
import importlib
import math
import pkgutil
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias, get_args

import audit.checks
from reference.paper import inventory
from reference.paper.algorithms import Edition

Kind: TypeAlias = Literal["exact", "certified", "adversarial", "statistical", "counterexample", "cited"]
Level: TypeAlias = Literal["quick", "standard", "deep"]

KINDS: tuple[Kind, ...] = get_args(Kind)
LEVELS: tuple[Level, ...] = get_args(Level)

MARK = "__dpso_check__"
"""The attribute that carries a check's description."""

CheckFunction: TypeAlias = "Callable[[int], Outcome]"


FigureKind: TypeAlias = Literal["line", "bar", "band"]
Topic: TypeAlias = Literal["privacy", "accuracy", "rate", "other"]
Role: TypeAlias = Literal["printed", "corrected", "tight", "measured", "certified", "claimed"]
"""What a series shows: an edition of the text, what was measured, what is certified, what is only claimed."""
Number: TypeAlias = float | int | str


@dataclass(frozen=True)
class Figure:
    """A picture of what a check measured, as data: the report draws it.

    `series` maps a legend to points (x, y), and `roles` some legends to what these show, which gives them the look that
    it has everywhere. "line" draws a curve a series. "band" fills between the first two series (lower and upper edge)
    and draws the others as lines. "bar" draws one bar a series when each has one point, and otherwise a group of bars
    at each x.
    """

    title: str
    x_label: str
    y_label: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    x_log: bool = False
    y_log: bool = False
    kind: FigureKind = "line"
    note: str = ""
    topic: Topic = "other"
    """Where the report shows it: privacy profiles, accuracy (an oracle's error against T), rates, or its statement."""
    roles: Mapping[str, Sequence[Role]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what could not be drawn."""
        figure = f"figure {self.title!r}"
        if not any(len(points) for points in self.series.values()):
            raise ValueError(f"{figure}: its series {', '.join(self.series)} hold no point; leave the figure out")
        if self.kind not in get_args(FigureKind):
            raise ValueError(f"{figure}: kind = {self.kind!r} must be one of {get_args(FigureKind)}")
        if self.topic not in get_args(Topic):
            raise ValueError(f"{figure}: topic = {self.topic!r} must be one of {get_args(Topic)}")
        for name, roles in self.roles.items():
            if name not in self.series or not set(roles) <= set(get_args(Role)):
                raise ValueError(f"{figure}: roles[{name!r}] = {roles!r} must be of a series, and of {get_args(Role)}")
        if self.kind == "band" and len(self.series) < 2:
            raise ValueError(f"{figure}: kind = 'band' needs a lower and an upper series; it has {len(self.series)}")

    def to_json(self) -> dict[str, Any]:
        """A JSON object; a number that JSON does not have (inf, nan) is a string."""
        series = {name: [[plain(float(v)) for v in point] for point in points] for name, points in self.series.items()}
        roles = {name: list(roles) for name, roles in self.roles.items()}
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"series": series, "roles": roles}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Figure:
        """The figure that `to_json` wrote."""
        values = {f.name: data[f.name] for f in fields(cls)}
        series = {name: [(float(x), float(y)) for x, y in points] for name, points in data["series"].items()}
        return cls(**(values | {"series": series}))


@dataclass(frozen=True)
class Outcome:
    """What a check found: whether the claim held, how near it came, and on what."""

    holds: bool
    ratio: float | None = None
    """The largest left side over right side that was met; 1 is attained, above 1 is a violation."""
    witness: str = ""
    numbers: Mapping[str, Number] = field(default_factory=dict)
    tight: str = ""
    """Where the claim holds with room: the best constant, and how it is known."""
    note: str = ""
    would_detect: float | None = None
    """Of a statistical check of privacy: the smallest true ε that it would have reported with probability 0.95."""
    figures: tuple[Figure, ...] = ()


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
        return self.erratum is None or self.edition != "printed"


@dataclass(frozen=True)
class CheckResult:
    """A check that ran."""

    name: str
    statement: str
    kind: Kind
    edition: Edition
    level: Level
    erratum: str | None
    severity: str
    """Of the erratum: privacy, accuracy or typo; empty where there is none."""
    condition: str | None
    expected: bool
    holds: bool
    ratio: float | None
    witness: str
    numbers: Mapping[str, Number]
    tight: str
    note: str
    would_detect: float | None
    figures: tuple[Figure, ...]
    seed: int
    seconds: float
    error: str = ""

    @property
    def as_recorded(self) -> bool:
        """Whether it came out as it should: no error, and the claim held or failed as expected."""
        return not self.error and self.holds == self.expected

    @property
    def is_slip(self) -> bool:
        """Whether it shows a slip of the pen in the printed text, and no more."""
        return not self.expected and self.severity == "typo"

    def to_json(self) -> dict[str, Any]:
        """A JSON object; a number that JSON does not have (inf, nan) is a string."""
        data = asdict(replace(self, figures=()))
        for name in ("ratio", "would_detect"):
            data[name] = None if data[name] is None else plain(data[name])
        data["numbers"] = {key: plain(value) for key, value in self.numbers.items()}
        data["figures"] = [figure.to_json() for figure in self.figures]
        return data | {"as_recorded": self.as_recorded}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CheckResult:
        """The result that `to_json` wrote."""
        values = {f.name: data[f.name] for f in fields(cls)}
        for name in ("ratio", "would_detect"):
            values[name] = None if values[name] is None else float(values[name])
        values["figures"] = tuple(Figure.from_json(figure) for figure in data["figures"])
        return cls(**values)


def plain(value: object) -> Number:
    """What JSON can hold: numpy scalars as numbers; exact numbers, balls, infinities as text."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (int, float, str)) else str(value)


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

    `erratum` names the defect that makes the printed claim fail: with edition="printed" the check is then expected
    *not* to hold; with another edition it is a check of the repair, and expected to hold.
    `condition` says under which extra hypothesis the claim holds.
    """
    if kind not in KINDS or level not in LEVELS:
        raise ValueError(f"kind = {kind!r} must be one of {KINDS} and level = {level!r} one of {LEVELS}")
    if kind == "counterexample" and erratum and edition != "printed":
        raise ValueError(f"edition = {edition!r}: the counterexample of {erratum} is to the text as printed; say so")

    def mark(function: CheckFunction) -> CheckFunction:
        name = f"{function.__module__.removeprefix('audit.checks.')}.{function.__name__}"
        described = Check(name, statement, kind, edition, level, erratum, condition, function)
        setattr(function, MARK, (*getattr(function, MARK, ()), described))
        return function

    return mark


def collect() -> list[Check]:
    """All checks, in the order of the section modules and of their definition."""
    found: list[Check] = []
    for info in pkgutil.iter_modules(audit.checks.__path__):
        if info.name in ("framework", "job", "results"):
            continue
        module = importlib.import_module(f"audit.checks.{info.name}")
        for value in vars(module).values():
            if getattr(value, "__module__", None) == module.__name__:
                found.extend(getattr(value, MARK, ()))
    return distinct(found)


def distinct(checks: Sequence[Check]) -> list[Check]:
    """The checks with names that differ: a function about several statements is as many checks."""
    checks = list(dict.fromkeys(checks))
    several = Counter(c.name for c in checks)
    named = [replace(c, name=f"{c.name}[{c.statement}]") if several[c.name] > 1 else c for c in checks]
    several = Counter(c.name for c in named)
    named = [replace(c, name=f"{c.name}/{c.edition}") if several[c.name] > 1 else c for c in named]
    twice = sorted(name for name, count in Counter(c.name for c in named).items() if count > 1)
    if twice:
        raise ValueError(f"check {twice[0]} is declared twice for one statement and edition; give it two functions")
    return named


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


def run_one(check: Check, seed: int) -> CheckResult:
    """Run a check. An exception is a result that is not as recorded, with its last line as the reason."""
    own_seed = seed_of(check, seed)
    fresh_state(own_seed)
    start = time.perf_counter()
    error = ""
    try:
        outcome = check.function(own_seed)
        result = _result(check, outcome, own_seed)
        error = _contradiction(outcome)
    except Exception as exception:  # noqa: BLE001 - any failure of a check is a result
        where = traceback.extract_tb(exception.__traceback__)[-1]
        error = f"{type(exception).__name__}: {exception} ({where.name})"
        result = _result(check, Outcome(holds=False), own_seed)
    return replace(result, error=error, seconds=round(time.perf_counter() - start, 3))


def failed(check: Check, seed: int, error: str) -> CheckResult:
    """The result of a check that could not be run to its end."""
    return replace(_result(check, Outcome(holds=False), seed_of(check, seed)), error=error)


def fresh_state(seed: int) -> None:
    """Set what is global in a process, so that no check sees what another one left: precision, generators."""
    import random

    import flint
    import mpmath
    import numpy as np

    random.seed(seed)
    np.random.seed(seed)
    flint.ctx.prec = 53
    mpmath.mp.prec = 53


def _result(check: Check, outcome: Outcome, own_seed: int) -> CheckResult:
    return CheckResult(
        name=check.name,
        statement=check.statement,
        kind=check.kind,
        edition=check.edition,
        level=check.level,
        erratum=check.erratum,
        severity=_severity(check.erratum),
        condition=check.condition,
        expected=check.expected,
        holds=bool(outcome.holds),
        ratio=None if outcome.ratio is None else float(outcome.ratio),
        witness=str(outcome.witness),
        numbers={str(key): plain(value) for key, value in outcome.numbers.items()},
        tight=outcome.tight,
        note=outcome.note,
        would_detect=None if outcome.would_detect is None else float(outcome.would_detect),
        figures=tuple(outcome.figures),
        seed=own_seed,
        seconds=0.0,
    )


def _severity(erratum: str | None) -> str:
    found = inventory.load().erratum(erratum) if erratum else None
    return found.severity if found else ""


ROUNDING = 1e-9
"""How far above 1 a ratio computed in binary64 may lie when the claim holds with equality."""


def _contradiction(outcome: Outcome) -> str:
    """Why an outcome cannot be believed: it says that a claim holds beside a ratio that says otherwise."""
    if outcome.ratio is not None and math.isnan(float(outcome.ratio)):
        return "the outcome contradicts itself: its ratio is not a number"
    if outcome.holds and outcome.ratio is not None and float(outcome.ratio) > 1 + ROUNDING:
        return f"the outcome contradicts itself: it holds with ratio {float(outcome.ratio):.12g} > 1"
    return ""


# -------------------------------------------------------------------------------------------- verdicts

Grade: TypeAlias = Literal[
    "holds", "loose", "conditional", "refuted", "unrepaired", "searched", "cited", "unexpected", "unchecked"
]
GRADES: tuple[Grade, ...] = get_args(Grade)
PROOF = "/proof"
"""How the place inside a statement that is its proof is named."""
PROOFS: tuple[Kind, ...] = ("exact", "certified")
"""The kinds of check that may say "holds"."""


@dataclass(frozen=True)
class Verdict:
    """What is known of one statement: the class, for colours and comparison, and the sentence.

    `remarks` is what the sentence says beside the class: conditions, constants, what stands in the way.
    """

    grade: Grade
    text: str
    errata: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def judge(results: Sequence[CheckResult]) -> Verdict:
    """The verdict on one statement, from the checks about it that ran.

    A check that came out otherwise than recorded beats everything; then refutation; then conditions; then "holds",
    which needs an exact or certified check of the text itself (not of our tighter variant). Searching without
    finding is said in those words, with the power of the search where it is known. An erratum that is a slip of the
    pen refutes nothing: the rest of the checks decide, and the slip is named. Nor does a step that fails inside the
    printed proof refute the statement.
    """
    text = [r for r in results if r.edition != "tight"]
    unexpected = [r.name for r in results if not r.as_recorded]
    if unexpected:
        return Verdict("unexpected", f"UNEXPECTED: {', '.join(unexpected)}", remarks=tuple(unexpected))
    slips = _errata(r for r in text if r.is_slip)
    rest = [r for r in text if not r.is_slip]
    steps = _proof_steps(rest)
    found = _substance([r for r in rest if r not in steps])
    if steps:
        failing = _errata(steps)
        found = _with_remark(found, f"not by its printed proof ({', '.join(failing)})", failing)
    if not slips:
        return found
    if found.grade == "unchecked":
        remark = f"but of {'a slip' if len(slips) == 1 else 'slips'} ({', '.join(slips)})"
        return Verdict("unchecked", f"no check yet {remark}", slips, (f"no check {remark}",))
    words = "a slip is" if len(slips) == 1 else "slips are"
    return _with_remark(found, f"once {words} corrected ({', '.join(slips)})", slips)


def _with_remark(verdict: Verdict, remark: str, errata: Sequence[str]) -> Verdict:
    """The verdict with one more thing to say, and the errata that this is about."""
    named = in_order([*verdict.errata, *errata])
    return Verdict(verdict.grade, f"{verdict.text}, {remark}", named, (*verdict.remarks, remark))


def _proof_steps(text: Sequence[CheckResult]) -> list[CheckResult]:
    """The refuted steps of a statement's proof, where more than the proof is judged."""
    if all(r.statement.endswith(PROOF) for r in text):
        return []
    return [r for r in text if r.statement.endswith(PROOF) and not r.expected]


def _substance(text: Sequence[CheckResult]) -> Verdict:
    """The verdict on what a statement says, slips of the pen aside."""
    if not text:
        return Verdict("unchecked", "no check yet")
    if any(not r.expected for r in text):
        return _refuted(text)
    if all(r.kind == "cited" for r in text):
        return Verdict("cited", "cited")
    if any(r.kind in PROOFS for r in text):
        return _proved(text)
    return _searched(text)


def _refuted(results: Sequence[CheckResult]) -> Verdict:
    """Refuted as printed; "corrected" is said only if a check of the corrected text ran and held."""
    errata = _errata(r for r in results if not r.expected)
    named = ", ".join(errata)
    repaired = [r for r in results if r.edition == "corrected" and r.kind != "cited"]
    if not repaired:
        remark = "correction not checked"
        return Verdict("unrepaired", f"refuted as printed ({named}), {remark}", errata, (remark,))
    text = f"refuted as printed → corrected ({named})"
    if conditions := _conditions(repaired):
        return Verdict("refuted", f"{text}, if {conditions}", errata, (f"the correction holds if {conditions}",))
    return Verdict("refuted", text, errata)


def _errata(results: Iterable[CheckResult]) -> tuple[str, ...]:
    return in_order({r.erratum for r in results if r.erratum})


def in_order(errata: Iterable[str]) -> tuple[str, ...]:
    """Ids of errata as they are listed."""
    return tuple(sorted(errata, key=inventory.erratum_order))


def _proved(results: Sequence[CheckResult]) -> Verdict:
    tight = "; ".join(dict.fromkeys(r.tight for r in results if r.tight))
    if conditions := _conditions(results):
        remarks = (f"only if {conditions}", *([f"loose ({tight})"] if tight else []))
        return Verdict("conditional", f"holds {'; '.join(remarks)}", remarks=remarks)
    return Verdict("loose", f"holds, loose ({tight})", remarks=(tight,)) if tight else Verdict("holds", "holds")


def _searched(results: Sequence[CheckResult]) -> Verdict:
    """What a search without a find is worth: how near it came, and what it would have seen."""
    ratios = [r.ratio for r in results if r.ratio is not None]
    powers = [r.would_detect for r in results if r.would_detect is not None]
    condition = f"if {conditions}" if (conditions := _conditions(results)) else ""
    nearest = f"largest ratio {max(ratios):.3g}" if ratios else ""
    power = f"would have seen ε ≥ {max(powers):.3g} with probability 0.95" if powers else ""
    text = (
        "no violation found"
        + (f" {condition}" if condition else "")
        + (f" ({nearest})" if nearest else "")
        + (f"; {power}" if power else "")
    )
    return Verdict("searched", text, remarks=tuple(filter(None, (condition, nearest, power))))


def _conditions(results: Sequence[CheckResult]) -> str:
    return "; ".join(sorted({r.condition for r in results if r.condition}))


def verdict(results: Sequence[CheckResult]) -> str:
    """The verdict on one statement in words."""
    return judge(results).text


def by_statement(results: Iterable[CheckResult]) -> dict[str, list[CheckResult]]:
    """Results grouped by statement, in order of first appearance."""
    grouped: dict[str, list[CheckResult]] = {}
    for result in results:
        grouped.setdefault(result.statement, []).append(result)
    return grouped


def verdicts(results: Iterable[CheckResult]) -> dict[str, str]:
    """The verdict on each statement that has a result."""
    return {statement: verdict(group) for statement, group in by_statement(results).items()}
