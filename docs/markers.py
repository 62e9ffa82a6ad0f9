"""Numbers quoted in Markdown, held against what computes them.

A number in a Markdown file that the code can compute is written

    <!-- number: NAME -->1.23<!-- /number -->

where NAME is an entry of `docs.quoted_numbers.NUMBERS`. (In README.md marks would show in a terminal: its template has
them, see `docs.readme`.) `dpso trace --check` and the tests call the entry and compare with what is printed, to the
printed precision: 1.23 stands for [1.225, 1.235]; after "≥" or "at least" for [1.23, 1.24), as a lower bound that is
rounded up is none. Text that is no number (a fraction, a word) is compared as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from docs import readme
from docs.excerpt import renewed
from docs.quoted_numbers import NUMBERS, WORD
from reference.paper.inventory import FALSIFYING, load

_MARKER = re.compile(r"<!--\s*number:\s*(\w+)\s*-->(.*?)<!--\s*/number\s*-->", re.DOTALL)
_OPENING = re.compile(r"<!--\s*number:")
_LEAST = re.compile(r"(?:≥|\bat least)\s*\Z")
"""What stands before a lower bound."""


@dataclass(frozen=True)
class Quote:
    """A marked number: where it stands, what it says, and the name of what computes it; no name if it is unreadable."""

    file: str
    line: int
    name: str
    printed: str
    least: bool = False
    """Whether the text says that it is a lower bound."""

    def problem(self, numbers: Mapping[str, Callable[[], Any]] = NUMBERS) -> str:
        """Empty if the printed number is the computed one at the printed precision; else what is wrong."""
        where = f"{self.file}:{self.line}"
        if not self.name:
            return f"{where}: a marker that cannot be read: write <!-- number: NAME -->1.23<!-- /number -->"
        if self.name not in numbers:
            return f"{where}: {self.printed!r} is quoted as {self.name}, which docs/quoted_numbers.py does not have"
        value = numbers[self.name]()
        agreed = agrees(self.printed, value, self.least)
        return "" if agreed else f"{where}: {self.printed!r} is quoted as {self.name}, which gives {_shown(value)}"


def _shown(value: Any) -> str:
    """A value as a message shows it: reals with enough digits to correct the quotation."""
    return f"{float(value):.9g}" if isinstance(value, float | Fraction) else str(value)


def quotes(text: str, file: str) -> Iterator[Quote]:
    """The marked numbers of a Markdown text; a marker that is not closed is a quote without a name."""
    matched = set()
    for match in _MARKER.finditer(text):
        matched.add(match.start())
        least = bool(_LEAST.search(text, 0, match.start()))
        yield Quote(file, text.count("\n", 0, match.start()) + 1, match[1], match[2].strip(), least)
    for opening in _OPENING.finditer(text):
        if opening.start() not in matched:
            yield Quote(file, text.count("\n", 0, opening.start()) + 1, "", "")


def with_counts(text: str, numbers: Mapping[str, Callable[[], Any]] = NUMBERS) -> str:
    """A text with its quoted counts renewed, whole numbers that are computed otherwise now, and words of the record.

    Measured numbers are left alone: when one of these moves, what the text says about it may be wrong as well.
    """

    def counted(match: re.Match[str]) -> str:
        name, printed = match[1], match[2].strip()
        follows = printed.isdecimal() or name.startswith(WORD)
        if not follows or name not in numbers or agrees(printed, value := numbers[name]()):
            return match[0]
        return f"<!-- number: {name} -->{value}<!-- /number -->" if isinstance(value, int | str) else match[0]

    return _MARKER.sub(counted, text)


def agrees(printed: str, value: Any, least: bool = False) -> bool:
    """Whether a computed value rounds to what is printed: half a unit of the last printed digit either way; to what is
    printed as a lower bound, down.
    """
    number = parse(printed)
    if number is None or isinstance(value, str):
        return printed == str(value)
    exact, unit = number
    if least:
        return 0 <= Fraction(value) - exact < unit
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


_CODE = re.compile(r"```.*?```|<!-- excerpt:.*?<!-- /excerpt -->", re.DOTALL)
_BLOCK = re.compile(r"\n\s*\n|\n(?=[|*-] ?)")
_WRONG = re.compile(r"\b(?:false|not private|loses privacy|leaks|refuted|violated)\b")
_PAPER = re.compile(r"\b(?:Theorem|Lemma|Proposition|Corollary|Remark|Algorithm) \d|\b[Tt]he theorem\b|\bE[\dB]\.\d")


def unfounded(text: str, file: str) -> list[str]:
    """Paragraphs, items and rows that call something of the paper false, and no word of the record there says so."""
    where = f"{file}: no erratum that makes something false is quoted (word_E3_1, …) where it says"
    return [
        f"{where}: {' '.join(plain.split())[:90]}"
        for block in _BLOCK.split(_CODE.sub("\n\n", text))
        if _WRONG.search(plain := _MARKER.sub("", block)) and _PAPER.search(plain) and not _falsifying(block)
    ]


def _falsifying(block: str) -> bool:
    """Whether a block quotes the word of an erratum that makes something false."""
    names = (match[1].removeprefix(WORD) for match in _MARKER.finditer(block) if match[1].startswith(WORD))
    return any((e := load().erratum(name.replace("_", "."))) and e.severity in FALSIFYING for name in names)


ABOUT_FINDINGS = (readme.TEMPLATE.as_posix(), "docs/findings-of-the-paper.md", "docs/tour.md")
"""The pages that say what is wrong in the paper."""


def unfounded_in(root: Path) -> list[str]:
    """The same of a checkout's pages about the findings."""
    pages = [page for page in ABOUT_FINDINGS if (root / page).exists()]
    return [line for page in pages for line in unfounded((root / page).read_text(encoding="utf-8"), page)]


def files_in(root: Path) -> list[Path]:
    """A checkout's Markdown files that may quote numbers (top level, `docs/`, `examples/`)."""
    return sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")])


def quotes_in(root: Path) -> list[Quote]:
    """The marked numbers of a checkout."""
    return [q for f in files_in(root) for q in quotes(f.read_text(encoding="utf-8"), f.relative_to(root).as_posix())]


def renew(root: Path) -> list[str]:
    """Write counts and excerpt in a checkout's Markdown files anew, and README.md from its template.

    Returns the files that changed.
    """
    changed = []
    for path in files_in(root):
        before = path.read_text(encoding="utf-8")
        if (after := renewed(with_counts(before))) != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path.relative_to(root).as_posix())
    if readme.problem(root):
        (root / "README.md").write_text(readme.made(root) or "", encoding="utf-8")
        changed.append("README.md")
    return changed
