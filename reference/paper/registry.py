"""From statements to code and back: links that live on the functions themselves.

`@implements("Alg:phased")` and `@claims("thm:l2_glm")` mark a function with the id (TeX label) of what it
computes or bounds; `@counterexample("E3.1")` marks the function that shows a defect. The marks are attributes;
there is no table to keep. Ids are those of `paper.toml` and `errata.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias, TypeVar

from reference.paper.algorithms import Edition

LinkKind: TypeAlias = Literal["implements", "claims", "counterexample"]

_F = TypeVar("_F", bound=Callable[..., Any])

LINKS = "__dpso_links__"
"""The attribute that carries a function's links."""


@dataclass(frozen=True)
class Link:
    """A function's tie to a statement or an erratum."""

    kind: LinkKind
    id: str
    edition: Edition


def _linked(link: Link) -> Callable[[_F], _F]:
    def mark(function: _F) -> _F:
        setattr(function, LINKS, (*getattr(function, LINKS, ()), link))
        return function

    return mark


def implements(id: str, edition: Edition = "corrected") -> Callable[[_F], _F]:
    """The function executes this algorithm, definition or equation, in the named edition of the text."""
    return _linked(Link("implements", id, edition))


def claims(id: str, edition: Edition = "corrected") -> Callable[[_F], _F]:
    """The function returns a bound that this statement claims (never an assert: callers compare)."""
    return _linked(Link("claims", id, edition))


def counterexample(id: str) -> Callable[[_F], _F]:
    """The function takes no arguments, runs in seconds, and returns a `Counterexample` to the printed text."""
    return _linked(Link("counterexample", id, "printed"))


def at_least(x: float, digits: int = 3) -> str:
    """A lower bound as text, with this many significant digits, rounded down: what is printed is a bound too."""
    low = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(x))
    return format(low, "f") if -4 < low.adjusted() < 7 else f"{low:.{digits - 1}e}"


def agree(x: Any, y: Any) -> bool:
    """Whether two computations of one number in binary64 gave the same: within 1e-9."""
    return bool(abs(x - y) < Fraction(1, 10**9))


BoundKind: TypeAlias = Literal["", "exact", "lower"]
"""How a counterexample knows that the text fails: by the exact value, or by a bound from the side that refutes."""

Against: TypeAlias = Literal["", "statement", "algorithm", "output"]
"""What a counterexample refutes: a statement, what an algorithm computes, or the privacy of what it puts out."""


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis of what a counterexample refutes, evaluated on the counterexample."""

    text: str
    holds: bool
    stated: str
    """Where the paper states it; "" if it does not, and we ask for it all the same."""


@dataclass(frozen=True)
class Counterexample:
    """What running a counterexample gave: whether the printed text failed as the erratum says, and the numbers.

    One that says "false" says more: the hypotheses that it meets, wherever the paper states them, what it is against,
    and whether its number is exact or a bound from the side that refutes (the rule of fair reading, `errata.toml`).
    """

    shown: bool
    summary: str
    numbers: Mapping[str, float | int | str] = field(default_factory=dict)
    hypotheses: tuple[Hypothesis, ...] = ()
    bound: BoundKind = ""
    against: Against = ""

    @property
    def violated(self) -> tuple[Hypothesis, ...]:
        """The hypotheses that it does not meet."""
        return tuple(h for h in self.hypotheses if not h.holds)

    @property
    def fair(self) -> bool:
        """Whether it may refute: it names its hypotheses and meets them, and says what its number is."""
        return bool(self.hypotheses) and not self.violated and self.bound != "" and self.against != ""
