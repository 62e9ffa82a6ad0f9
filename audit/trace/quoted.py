"""Numbers quoted in prose, recomputed.

A number in a Markdown file that the code can compute is written

    <!-- number: audit.trace.quoted:NAME -->1.23<!-- /number -->

where NAME is a function without arguments, in this module or in any other of the project. `dpso trace --check` and
the tests call it and compare with what is printed, to the printed precision: 1.23 stands for [1.225, 1.235]. Text
that is no number (a fraction, a word) is compared as it stands.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from reference.paper.inventory import load

_MARKER = re.compile(r"<!--\s*number:\s*([\w.]+):(\w+)\s*-->(.*?)<!--\s*/number\s*-->", re.DOTALL)
_OPENING = re.compile(r"<!--\s*number:")


@dataclass(frozen=True)
class Quote:
    """A marked number: where it stands, what it says, and what computes it."""

    file: str
    line: int
    module: str
    name: str
    printed: str

    def computed(self) -> Any:
        """The value now."""
        return getattr(importlib.import_module(self.module), self.name)()

    def problem(self) -> str:
        """Empty if the printed number is the computed one at the printed precision; else what is wrong."""
        where = f"{self.file}:{self.line}: {self.printed!r} is quoted from {self.module}:{self.name}"
        if self.module.partition(".")[0] not in ("audit", "reference"):
            return f"{where}, which is no module of the project"
        try:
            value = self.computed()
        except (ImportError, AttributeError) as error:
            return f"{where}, which does not exist ({error})"
        return "" if agrees(self.printed, value) else f"{where}, which gives {_shown(value)}"


def _shown(value: Any) -> str:
    """A value as a message shows it: reals with enough digits to correct the quotation."""
    return f"{float(value):.9g}" if isinstance(value, float | Fraction) else str(value)


def quotes(text: str, file: str) -> Iterator[Quote]:
    """The marked numbers of a Markdown text; a marker that is not closed is a quote that cannot agree."""
    matched = set()
    for match in _MARKER.finditer(text):
        matched.add(match.start())
        yield Quote(file, text.count("\n", 0, match.start()) + 1, match[1], match[2], match[3].strip())
    for opening in _OPENING.finditer(text):
        if opening.start() not in matched:
            yield Quote(file, text.count("\n", 0, opening.start()) + 1, "", "", "unreadable marker")


def agrees(printed: str, value: Any) -> bool:
    """Whether a computed value rounds to what is printed: half a unit of the last printed digit either way."""
    number = parse(printed)
    if number is None or isinstance(value, str):
        return printed == str(value)
    exact, unit = number
    return abs(Fraction(value) - exact) * 2 <= unit


def parse(printed: str) -> tuple[Fraction, Fraction] | None:
    """A printed number and the unit of its last digit; None if it is no number."""
    plain = printed.replace(",", "").replace("\u202f", "").replace("−", "-").removesuffix("%").strip()
    try:
        number = Decimal(plain)
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    unit = Fraction(10) ** int(number.as_tuple().exponent)
    scale = Fraction(1, 100) if printed.endswith("%") else Fraction(1)
    return Fraction(number) * scale, unit * scale


def quotes_in(root: Path) -> list[Quote]:
    """The marked numbers of a checkout's Markdown files (top level, `docs/`, `examples/`)."""
    files = sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")])
    return [q for f in files for q in quotes(f.read_text(encoding="utf-8"), f.relative_to(root).as_posix())]


# ---------------------------------------------------------------------------------- what can be quoted


def statements() -> int:
    """How many statements the paper numbers."""
    return len(load().statements)


def algorithms() -> int:
    """How many algorithms the paper has."""
    return len(load().algorithms)


def algorithm_lines() -> int:
    """How many numbered lines the algorithms have together."""
    return sum(len(algorithm.lines) for algorithm in load().algorithms)


def equations() -> int:
    """How many equations the paper labels."""
    return len(load().equations)


def errata() -> int:
    """How many errata are known."""
    return len(load().errata)


def privacy_errata() -> int:
    """How many of them break privacy."""
    return sum(erratum.severity == "privacy" for erratum in load().errata)


def free_repairs() -> int:
    """How many of them have a correction that costs nothing, by their field `cost`."""
    return sum(erratum.cost.startswith("none") for erratum in load().errata)
