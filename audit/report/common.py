"""Small parts that every section of the page uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from audit.checks.scale import Grade
from audit.report import svg
from audit.report.grades import GRADE_BADGES, GRADE_MEANINGS
from audit.report.model import Page, slug
from audit.report.prose import ALONE, NAMES, PRODUCTS, formula
from audit.runtime.markup import Html, escape, join, tag


class Frugal:
    """How much of the data is written out."""

    def __init__(self, most_text: int, tables: bool) -> None:
        self.most_text, self.tables = most_text, tables

    def text(self, text: str) -> str:
        """A text, cut if it is long."""
        left = len(text) - self.most_text
        return text if left <= 0 else f"{text[: self.most_text]}… ({left} more characters in report.json)"


def plural(count: int, word: str, several: str = "") -> str:
    """A count and its word: "1 check", "2 checks"; `several` is the plural where an s does not make it."""
    return f"{count} {word if count == 1 else several or f'{word}s'}"


def badge(grade: Grade) -> Html:
    """The class of a verdict, in its colour."""
    return tag("span", GRADE_BADGES[grade], class_=f"badge g-{grade}", title=GRADE_MEANINGS[grade])


def to_detail(model: Page, id: str, text: str) -> Html:
    """A link to the checks of a statement, where the page has it."""
    entry = model.entry(id)
    return tag("a", text, href=f"#d-{slug(entry.id)}") if entry else tag("span", text)


def erratum_link(id: str) -> Html:
    """A link to the card of an erratum."""
    return tag("a", id, href=f"#e-{slug(id)}", class_="erratum-link")


def name_of(model: Page, id: str) -> str:
    """What the paper calls an id."""
    entry = model.entry(id)
    return entry.name if entry else id


def meter(ratio: float) -> Html:
    """A bar from 0 to 1."""
    width = f"{100 * min(max(ratio, 0.0), 1.0):.1f}%"
    return tag("span", tag("span", style=f"width:{width}"), class_="meter", aria_hidden="true")


def definitions(pairs: Iterable[tuple[str, str]]) -> Html:
    """Names and texts below each other; empty texts are left out."""
    return tag("dl", *(join([tag("dt", name), tag("dd", formula(text))]) for name, text in pairs if text))


def capital(title: str) -> str:
    """A title as a heading: a word at its beginning with a capital; a symbol (β, p̄, ℓ_q) stays."""
    word = re.match(r"[a-z]+(?![\w\u0300-\u036f(_^])", title)
    return title if word is None or word[0] in ALONE | PRODUCTS | NAMES else title[0].upper() + title[1:]


_FRACTION = re.compile(r"Fraction\((-?\d+), (\d+)\)")
_LONG = re.compile(r"(?<![\w.])-?\d+\.\d{9,}(?:e[+-]?\d+)?(?!\w)")
_ZERO = re.compile(r"(?<![\w.])-0\.0(?![\d\w])")


def readable(text: str) -> str:
    """A witness as people write numbers: fractions by a bar, six figures, no negative zero."""
    text = _FRACTION.sub(lambda m: m[1] if m[2] == "1" else f"{m[1]}/{m[2]}", text)
    return _ZERO.sub("0", _LONG.sub(lambda m: f"{float(m[0]):.6g}", text))


def named(name: str) -> Html:
    """The name of a number: what is words with underscores between them, as words; a symbol with an index as that."""
    parts = name.split("_")
    words = len(parts) > 1 and all(re.fullmatch(r"[A-Za-z0-9.+-]+", part) for part in parts)
    text = " ".join(parts) if words and (len(parts) > 2 or len(parts[1]) > 2) else name
    return formula(text) if re.search(r"[_^]|\de-?\d", text) else escape(text)


def _header(name: str) -> tuple[Html, ...]:
    """The name of a row; one that is a formula only is also there in words, which a screen reader finds in a header."""
    shown = named(name)
    if not re.fullmatch(r"<math>.*</math>", shown):
        return (shown,)
    return Html(shown.replace("<math>", '<math aria-hidden="true">')), tag("span", name, class_="unseen")


MOST_NUMBERS = 40
"""Rows of a check's numbers: a screen of them."""


def numbers_table(numbers: Mapping[str, float | int | str]) -> Html | None:
    """The numbers that a check reports, as a table."""
    if not numbers:
        return None
    rows = [
        tag(
            "tr",
            tag("th", *_header(name), scope="row"),
            tag("td", svg.number(value) if isinstance(value, float) else value),
        )
        for name, value in list(numbers.items())[:MOST_NUMBERS]
    ]
    if len(numbers) > MOST_NUMBERS:
        rows.append(tag("tr", tag("th", "…"), tag("td", f"{len(numbers) - MOST_NUMBERS} more in report.json")))
    return tag("table", tag("tbody", *rows), class_="numbers")
