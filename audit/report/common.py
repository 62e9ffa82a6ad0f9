"""Small parts that every section of the page uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from audit.checks.framework import Grade
from audit.report import svg
from audit.report.grades import GRADE_BADGES, GRADE_MEANINGS
from audit.report.model import Page, slug
from audit.runtime.markup import Html, formula, join, tag


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


MOST_NUMBERS = 40
"""Rows of a check's numbers: a screen of them."""


def numbers_table(numbers: Mapping[str, float | int | str]) -> Html | None:
    """The numbers that a check reports, as a table."""
    if not numbers:
        return None
    rows = [
        tag("tr", tag("th", name, scope="row"), tag("td", svg.number(value) if isinstance(value, float) else value))
        for name, value in list(numbers.items())[:MOST_NUMBERS]
    ]
    if len(numbers) > MOST_NUMBERS:
        rows.append(tag("tr", tag("th", "…"), tag("td", f"{len(numbers) - MOST_NUMBERS} more in report.json")))
    return tag("table", tag("tbody", *rows), class_="numbers")
