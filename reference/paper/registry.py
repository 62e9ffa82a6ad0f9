"""From statements to code and back: links that live on the functions themselves.

`@implements("Alg:phased")` and `@claims("thm:l2_glm")` mark a function with the id (TeX label) of what it
computes or bounds; `@counterexample("E3.1")` marks the function that shows a defect. The marks are attributes;
there is no table to keep. Ids are those of `paper.toml` and `errata.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Counterexample:
    """What running a counterexample gave: whether the printed text failed as the erratum says, and the numbers."""

    shown: bool
    summary: str
    numbers: Mapping[str, float | int | str] = field(default_factory=dict)
