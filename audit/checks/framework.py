"""What a check is, and how checks are found and run; `audit.checks.scale` says how a verdict follows from them.

A check is a function of a seed that returns an `Outcome`. `@check` says which statement it is about, which edition
of the text, of what kind it is, and from which level on it runs. It says nothing about the result: the expected
result is `holds`, except for the printed text where an erratum is named.
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
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import audit.checks
from audit.checks.evidence import EVIDENCE, RIGOROUS, Evidence, Kind, Refutation, is_exact, upper
from audit.checks.mutants import Mutants
from reference.paper import inventory
from reference.paper.algorithms import Edition

Level: TypeAlias = Literal["quick", "standard", "deep"]

LEVELS: tuple[Level, ...] = get_args(Level)

if TYPE_CHECKING:
    from reference.numerics.numbers import BallScalar

MARK = "__dpso_check__"
"""The attribute that carries a check's description."""

CheckFunction: TypeAlias = "Callable[[int], Outcome]"


FigureKind: TypeAlias = Literal["line", "bar", "band"]
Topic: TypeAlias = Literal["privacy", "accuracy", "rate", "other"]
Role: TypeAlias = Literal["printed", "corrected", "tight", "measured", "certified", "claimed"]
"""What a series shows: an edition of the text, what was measured, what is certified, what is only claimed."""
Number: TypeAlias = float | int | str
Ratio: TypeAlias = "float | int | Fraction | BallScalar"


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
    ratio: Ratio | None = None
    """The largest left side over right side that was met; 1 is attained, above 1 is a violation. A rigorous check gives
    an exact number or a ball, of which the upper end counts.
    """
    witness: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """What is shown beside the result: numbers, texts, exact numbers and balls (`plain`)."""
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
    evidence: Evidence
    edition: Edition
    level: Level
    erratum: str | None
    condition: str | None
    function: CheckFunction = field(compare=False, repr=False)
    mutants: Mutants = field(default=(), compare=False, repr=False)
    """What it must notice, each by coming out not as recorded."""

    @property
    def kind(self) -> Kind:
        """Of what kind its evidence is."""
        return self.evidence.kind

    @property
    def expected(self) -> bool:
        """Whether the claim should hold: all do, but the printed ones that an erratum corrects."""
        return self.erratum is None or self.edition != "printed"

    @property
    def shows(self) -> str:
        """The erratum that it shows; empty for a check of what should hold."""
        return "" if self.expected else self.erratum or ""


@dataclass(frozen=True)
class CheckResult:
    """A check that ran."""

    name: str
    statement: str
    kind: Kind
    evidence: str
    """The domain of the evidence: for which parameters, points, instances it speaks."""
    edition: Edition
    level: Level
    erratum: str | None
    severity: str
    """Of the erratum; empty where there is none."""
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
    def shows(self) -> str:
        """The erratum that it shows; empty for a check of what should hold."""
        return "" if self.expected else self.erratum or ""

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
        values["seconds"] = float(values["seconds"])
        for name, types in _STORED.items():
            if not isinstance(values[name], types):
                raise TypeError(f"{name} = {values[name]!r} is no {' or '.join(t.__name__ for t in types)}")
        values["figures"] = tuple(Figure.from_json(figure) for figure in data["figures"])
        return cls(**values)


_STORED: dict[str, tuple[type, ...]] = (
    dict.fromkeys(("name", "statement", "kind", "evidence", "edition", "level", "severity"), (str,))
    | dict.fromkeys(("witness", "tight", "note", "error"), (str,))
    | dict.fromkeys(("erratum", "condition"), (str, type(None)))
    | dict.fromkeys(("expected", "holds"), (bool,))
    | {"seed": (int,), "numbers": (dict,)}
)
"""The types of the fields of a result that was stored: a store may hold anything."""


def plain(value: object) -> Number:
    """What JSON can hold: numpy scalars, exact numbers and the upper ends of balls as numbers; infinities as text."""
    if hasattr(value, "item"):
        value = value.item()
    if is_exact(value) and not isinstance(value, int):
        value = shown(value)  # type: ignore[arg-type]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (int, float, str)) else str(value)


def shown(value: Ratio) -> float:
    """A number for display: the upper end of a ball or an exact number, rounded to the nearest float."""
    return float(upper(value)) if is_exact(value) else float(value)


def check(
    statement: str,
    *,
    kind: Evidence,
    edition: Edition = "corrected",
    level: Level = "quick",
    erratum: str | None = None,
    condition: str | None = None,
    mutants: Mutants = (),
) -> Callable[[CheckFunction], CheckFunction]:
    """Mark a function of a seed as a check of `statement` (an id of `paper.toml`), with the evidence that it gives.

    `erratum` names the defect that makes the printed claim fail: with edition="printed" the check is then expected
    *not* to hold; with another edition it is a check of the repair, and expected to hold.
    `condition` says under which extra hypothesis the claim, as corrected, holds: clauses apart by "; ". One that an
    erratum names is written as its `regime`.
    `mutants` are broken parts that it must notice (`audit.checks.mutants`), at least one; a function that is several
    checks names them once, in the lowest.
    """
    if not isinstance(kind, EVIDENCE):
        names = ", ".join(t.__name__ for t in EVIDENCE)
        raise ValueError(f"kind = {kind!r} must be one of {names}, with its domain")
    if level not in LEVELS:
        raise ValueError(f"level = {level!r} must be one of {LEVELS}")
    if isinstance(kind, Refutation) and erratum and edition != "printed":
        raise ValueError(f"edition = {edition!r}: the counterexample of {erratum} is to the text as printed; say so")

    def mark(function: CheckFunction) -> CheckFunction:
        name = f"{function.__module__.removeprefix('audit.checks.')}.{function.__name__}"
        marked: tuple[Check, ...] = getattr(function, MARK, ())
        caught = mutants or (marked[-1].mutants if marked else ())
        if not caught:
            raise ValueError(
                f"mutants = (): {name} must name something broken that it notices; a check that cannot fail is none"
            )
        described = Check(name, statement, kind, edition, level, erratum, condition, function, caught)
        setattr(function, MARK, (*marked, described))
        return function

    return mark


MACHINERY = (
    "evidence",
    "framework",
    "job",
    "mended",
    "mutants",
    "proofs",
    "purity",
    "resolution",
    "results",
    "scale",
    "strategies",
)
"""The modules of `audit.checks` that hold no check."""


def collect() -> list[Check]:
    """All checks, in the order of the section modules and of their definition."""
    found: list[Check] = []
    for info in pkgutil.iter_modules(audit.checks.__path__):
        if info.name in MACHINERY:
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
        result = result_of(check, outcome, own_seed)
        error = _contradiction(outcome) or _impostor(check, outcome)
    except Exception as exception:  # noqa: BLE001 - any failure of a check is a result
        where = traceback.extract_tb(exception.__traceback__)[-1]
        error = f"{type(exception).__name__}: {exception} ({where.name})"
        result = result_of(check, Outcome(holds=False), own_seed)
    return replace(result, error=error, seconds=round(time.perf_counter() - start, 3))


def failed(check: Check, seed: int, error: str) -> CheckResult:
    """The result of a check that could not be run to its end."""
    return replace(result_of(check, Outcome(holds=False), seed_of(check, seed)), error=error)


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


def result_of(check: Check, outcome: Outcome, own_seed: int) -> CheckResult:
    """What a check found, with everything that it says of itself."""
    return CheckResult(
        name=check.name,
        statement=check.statement,
        kind=check.kind,
        evidence=str(check.evidence),
        edition=check.edition,
        level=check.level,
        erratum=check.erratum,
        severity=_severity(check.erratum),
        condition=check.condition,
        expected=check.expected,
        holds=bool(outcome.holds),
        ratio=None if outcome.ratio is None else shown(outcome.ratio),
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
    if outcome.ratio is None:
        return ""
    ratio, room = (upper(outcome.ratio), 0.0) if is_exact(outcome.ratio) else (float(outcome.ratio), ROUNDING)
    if ratio != ratio:
        return "the outcome contradicts itself: its ratio is not a number"
    if outcome.holds and ratio > 1 + room:
        return f"the outcome contradicts itself: it holds with ratio {float(ratio):.12g} > 1"
    return ""


def _impostor(check: Check, outcome: Outcome) -> str:
    """Why an outcome is not of the kind that its check says: a float decided, or may have."""
    if check.kind in RIGOROUS and outcome.ratio is not None and not is_exact(outcome.ratio):
        return f"the check says {check.kind}, but its ratio {outcome.ratio!r} is rounded; give a Fraction or a ball"
    return ""
