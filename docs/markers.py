"""Numbers quoted in Markdown, held against what computes them.

A number in a Markdown file that the code can compute is written

    <!-- number: NAME -->1.23<!-- /number -->

where NAME is an entry of `docs.quoted_numbers.NUMBERS`. `dpso trace --check` and the tests call it and compare with
what is printed, to the printed precision: 1.23 stands for [1.225, 1.235]. Text that is no number (a fraction, a word)
is compared as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from docs.quoted_numbers import NUMBERS

_MARKER = re.compile(r"<!--\s*number:\s*(\w+)\s*-->(.*?)<!--\s*/number\s*-->", re.DOTALL)
_OPENING = re.compile(r"<!--\s*number:")


@dataclass(frozen=True)
class Quote:
    """A marked number: where it stands, what it says, and the name of what computes it; no name if it is unreadable."""

    file: str
    line: int
    name: str
    printed: str

    def problem(self, numbers: Mapping[str, Callable[[], Any]] = NUMBERS) -> str:
        """Empty if the printed number is the computed one at the printed precision; else what is wrong."""
        where = f"{self.file}:{self.line}"
        if not self.name:
            return f"{where}: a marker that cannot be read: write <!-- number: NAME -->1.23<!-- /number -->"
        if self.name not in numbers:
            return f"{where}: {self.printed!r} is quoted as {self.name}, which docs/quoted_numbers.py does not have"
        value = numbers[self.name]()
        agreed = agrees(self.printed, value)
        return "" if agreed else f"{where}: {self.printed!r} is quoted as {self.name}, which gives {_shown(value)}"


def _shown(value: Any) -> str:
    """A value as a message shows it: reals with enough digits to correct the quotation."""
    return f"{float(value):.9g}" if isinstance(value, float | Fraction) else str(value)


def quotes(text: str, file: str) -> Iterator[Quote]:
    """The marked numbers of a Markdown text; a marker that is not closed is a quote without a name."""
    matched = set()
    for match in _MARKER.finditer(text):
        matched.add(match.start())
        yield Quote(file, text.count("\n", 0, match.start()) + 1, match[1], match[2].strip())
    for opening in _OPENING.finditer(text):
        if opening.start() not in matched:
            yield Quote(file, text.count("\n", 0, opening.start()) + 1, "", "")


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
