"""How we know: the kinds of evidence, strongest first, as types that carry their domain.

A check declares one of them, and cannot call itself what it is not. The first three are *rigorous*: neither a float,
nor the midpoint of a ball, nor a tolerance may decide what they say. Their outcomes carry exact numbers (`run_one`
refuses a float), and a lint (`audit.checks.purity`) reads their source for what rounds.

"For all parameters" is said by `Proved` alone. An enclosure or an exact computation at stated points is as good as its
points, and does not say "holds" of a statement about all of them without a proof on paper beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["proved", "enclosed", "exact", "searched", "measured", "counterexample", "cited"]
KINDS: tuple[Kind, ...] = get_args(Kind)

RIGOROUS: tuple[Kind, ...] = ("proved", "enclosed", "exact")
"""The kinds whose outcome no rounding has touched."""

LEGEND: dict[Kind, str] = {
    "proved": "for all parameters of a stated domain, by machine: a solver refutes the negation, an identity of"
    " polynomials, an induction with checked base and step, balls that cover the domain, or exact exponents",
    "enclosed": "balls that contain the true value decide, at the stated points",
    "exact": "rational arithmetic, at the stated instances or over a finite class that is exhausted",
    "searched": "a maximiser, a grid or samples in rounded arithmetic found no violation; the largest ratio is given",
    "measured": "a statistical test, with its false-alarm level and its power",
    "counterexample": "shows that the printed text fails; it says by which of the above, or that it is computed: in"
    " rounded arithmetic whose error nothing bounds",
    "cited": "taken from elsewhere",
}
"""What each kind means, for whoever reads a report or the map."""

Method: TypeAlias = Literal["smt", "identity", "induction", "cover", "exponents", "steps"]
METHODS: tuple[Method, ...] = get_args(Method)
Grounds: TypeAlias = Literal["proved", "enclosed", "exact", "measured", "computed"]
"""What a counterexample rests on; "computed" is rounded arithmetic whose error nothing bounds."""


BLIND = "no power against "
"""How a clause of an evidence begins that says what no check of the statement would notice: verdicts repeat it."""


def _whole(said: str) -> None:
    """Refuse a clause of that kind that a semicolon cuts: a verdict would repeat half a sentence."""
    for clause in said.split("; "):
        if clause.startswith(BLIND) and clause.count("(") != clause.count(")"):
            raise ValueError(f"{clause!r} is cut by a semicolon in its parentheses; write a comma")


@dataclass(frozen=True)
class Proved:
    """For all parameters of `domain`, by machine."""

    domain: str
    method: Method
    kind: ClassVar[Kind] = "proved"

    def __str__(self) -> str:
        return f"{self.domain}, by {'several methods' if self.method == 'steps' else self.method}"


@dataclass(frozen=True)
class Enclosed:
    """Decided by balls at `points`."""

    points: str
    kind: ClassVar[Kind] = "enclosed"

    def __str__(self) -> str:
        return self.points


@dataclass(frozen=True)
class ExactAt:
    """Decided in rationals at `instances`; `exhausted` if these are the whole finite class."""

    instances: str
    exhausted: bool = False
    kind: ClassVar[Kind] = "exact"

    def __str__(self) -> str:
        return f"{self.instances} (all there are)" if self.exhausted else self.instances


@dataclass(frozen=True)
class Searched:
    """No violation among `among`, in arithmetic that rounds."""

    among: str
    kind: ClassVar[Kind] = "searched"

    def __post_init__(self) -> None:
        """Refuse half a sentence."""
        _whole(str(self))

    def __str__(self) -> str:
        return self.among


@dataclass(frozen=True)
class Measured:
    """A test on random draws: its false-alarm level, and what it would see."""

    level: str
    power: str
    kind: ClassVar[Kind] = "measured"

    def __post_init__(self) -> None:
        """Refuse half a sentence."""
        _whole(str(self))

    def __str__(self) -> str:
        return f"false-alarm level {self.level}; power: {self.power}"


@dataclass(frozen=True)
class Refutation:
    """A counterexample, and what it rests on itself."""

    by: Grounds
    kind: ClassVar[Kind] = "counterexample"

    def __str__(self) -> str:
        return self.by


@dataclass(frozen=True)
class Cited:
    """Taken from `source`."""

    source: str
    kind: ClassVar[Kind] = "cited"

    def __str__(self) -> str:
        return self.source


Evidence: TypeAlias = Proved | Enclosed | ExactAt | Searched | Measured | Refutation | Cited
EVIDENCE: tuple[type[Evidence], ...] = get_args(Evidence)


# ------------------------------------------------------------------------------------- exact numbers


def upper(x: Any) -> Fraction:
    """The upper end of what is known of x: of a ball its largest point, of an exact number itself. No float enters."""
    if _is_ball(x):
        if not x.ball.is_finite():
            raise ArithmeticError(f"{x} has no upper end: more bits are needed")
        end: Fraction = x.mid + x.rad
        return end
    if isinstance(x, int | Fraction):
        return Fraction(x)
    raise TypeError(f"{x!r} is not exact: give an int, a Fraction or a ball")


def largest(values: Iterable[tuple[Any, str]]) -> tuple[Fraction, str]:
    """The largest upper end, and what stands beside it; (0, "") of nothing."""
    best, where = Fraction(0), ""
    for value, name in values:
        if upper(value) > best:
            best, where = upper(value), name
    return best, where


def over_points(ratios: Collection[Any]) -> dict[str, Any]:
    """How many points a grid has, and the mean of what was found there: the largest alone says nothing of the others.

    The mean is as exact as the ratios are: of balls it is that of their upper ends.
    """
    ends = [upper(x) if is_exact(x) else x for x in ratios]
    return {"points": len(ends), "mean over the points": sum(ends) / len(ends)}


def is_exact(x: object) -> bool:
    """Whether a number is one that no rounding has touched: an integer, a rational, a ball."""
    return isinstance(x, int | Fraction) or _is_ball(x)


def _is_ball(x: object) -> bool:
    """Whether x is a ball; asked without the library of balls, which an audit of a mechanism does not need."""
    numbers = sys.modules.get("reference.numerics.numbers")
    return numbers is not None and isinstance(x, numbers.BallScalar)
