"""A statement in formulas: what is given, what is concluded as printed, corrected and tight, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from audit.report.mathml import line, widest
from audit.runtime.markup import Html, tag
from reference.paper.restated import Restatement


def statement(one: Restatement, own: bool = False) -> Html:
    """The restatement; what differs between two editions is marked in both."""
    sides = [
        _side("Stated by us" if own else "As printed", one.printed, "printed" if one.corrected else "same"),
        _side("Corrected", one.corrected, "corrected"),
        _side("Tight", one.tight, "tight-side"),
    ]
    given = tag("div", tag("h4", "Given"), *_lines(one.given), class_="given", tabindex="0")
    return tag("div", given, tag("div", *sides, class_="sides"), class_="statement")


WIDE = 70
"""Letters of a formula that half the page does not hold: its side has the whole width."""


def _side(title: str, lines: Sequence[str], class_: str) -> Html | None:
    if not lines:
        return None
    wide = " wide" if widest(lines) > WIDE else ""
    return tag("div", tag("h4", title), *_lines(lines), class_=f"side {class_}{wide}", tabindex="0")


def _lines(lines: Sequence[str]) -> list[Html]:
    return [tag("div", line(text), class_="line") for text in lines]
