"""The errata, a card each, with the evidence of this run."""

from __future__ import annotations

from collections import Counter

from audit.checks.framework import CheckResult
from audit.report.common import Frugal, capital, definitions, numbers_table, readable, to_detail
from audit.report.figures import picture
from audit.report.grades import SEVERITY_WORDS
from audit.report.model import Page, errata, slug
from audit.report.prose import formula
from audit.runtime.markup import Html, join, tag
from reference.paper.inventory import SEVERITIES, Erratum, PrintedTable

SEVERITY_GROUPS = {
    "privacy": "False as printed: privacy",
    "rate": "False as printed: rates",
    "accuracy": "False as printed: what else is promised",
    "edge": "False only at the edge",
    "proof": "True, but not by the printed proof",
    "condition": "True under a condition that is left out",
    "misprint": "Misprints",
    "loose": "True, with room",
}
CLOSED = ("misprint", "loose")
"""The groups that stay closed until somebody asks."""


def errata_section(model: Page, frugal: Frugal) -> Html:
    """The cards, gravest first, with chips that filter by severity."""
    listed = errata(model)
    if not listed:
        return Html("")
    counts = Counter(e.severity for e in listed)
    chips = [
        tag(
            "button",
            SEVERITY_WORDS[s],
            tag("i", counts[s]),
            type="button",
            class_=f"chip s-{s}",
            data_severity=s,
            aria_pressed="false",
        )
        for s in SEVERITIES
        if counts[s]
    ]
    groups = [_group(model, s, [e for e in listed if e.severity == s], frugal) for s in SEVERITIES if counts[s]]
    return join([tag("div", *chips, class_="chips", role="group", aria_label="Filter by severity"), *groups])


def _group(model: Page, severity: str, listed: list[Erratum], frugal: Frugal) -> Html:
    """The cards of one severity."""
    title = f"{SEVERITY_GROUPS[severity]} ({len(listed)})"
    cards = tag("div", *(_card(model, e, frugal) for e in listed), class_="cards")
    if severity in CLOSED:
        return tag("details", tag("summary", title), cards, class_="group", data_group=severity)
    return tag("div", tag("h3", title), cards, class_="group", data_group=severity)


def _card(model: Page, erratum: Erratum, frugal: Frugal) -> Html:
    evidence = model.evidence(erratum.id)
    return tag(
        "article",
        tag(
            "header",
            tag("span", erratum.id, class_="id"),
            tag("span", SEVERITY_WORDS[erratum.severity], class_=f"severity s-{erratum.severity}"),
        ),
        tag("h3", formula(capital(erratum.title))),
        tag("p", *_where(model, erratum), class_="fine"),
        tag(
            "div",
            _side("As printed", erratum.printed, "printed"),
            _side("Corrected", erratum.corrected, "corrected"),
            class_="sides",
        ),
        definitions(
            [
                ("Condition" if erratum.severity == "condition" else "Where it is false", erratum.regime),
                ("The paper has it right", erratum.stated),
                ("Cost of the repair", erratum.cost),
                ("Who is affected, and what to change", erratum.affects),
            ]
        ),
        *(_evidence(model, r, frugal) for r in evidence),
        None
        if evidence
        else tag(
            "p",
            "No check of this run shows it; ",
            tag("code", f"dpso errata {erratum.id} --run"),
            " replays its counterexample.",
            class_="fine",
        ),
        id=f"e-{slug(erratum.id)}",
        class_=f"card s-{erratum.severity}",
        data_severity=erratum.severity,
    )


def _where(model: Page, erratum: Erratum) -> list[Html | str]:
    parts: list[Html | str] = []
    named = {_place(model, place): place for place in reversed(erratum.where)}
    for text, place in reversed(named.items()):
        parts += [", " if parts else "", to_detail(model, place, text)]
    if erratum.lines:
        parts.append(f", line{'s' if len(erratum.lines) > 1 else ''} {', '.join(map(str, erratum.lines))}")
    if erratum.tex[0]:
        first, last = erratum.tex
        parts.append(f" · TeX line {first}" if first == last else f" · TeX lines {first}–{last}")
    return parts


def _place(model: Page, id: str) -> str:
    """What the paper calls a place: "Algorithm 4 line 9", "Table 1 row 2"."""
    entry = model.entry(id)
    if entry is None:
        return id
    number = id.removeprefix(f"{entry.id}:")
    what = "row" if isinstance(model.inventory.entries.get(entry.id), PrintedTable) else "line"
    return f"{entry.name} {what} {number}" if number.isdecimal() else entry.name


def _side(title: str, text: str, class_: str) -> Html | None:
    return tag("div", tag("h4", title), tag("p", formula(text)), class_=f"side {class_}") if text else None


def _evidence(model: Page, result: CheckResult, frugal: Frugal) -> Html:
    shown = "Shown in this run" if result.as_recorded else "Not reproduced in this run"
    return tag(
        "div",
        tag("h4", shown, ": ", to_detail(model, result.statement, result.name)),
        tag("p", formula(frugal.text(readable(result.witness))), class_="witness") if result.witness else None,
        tag("details", tag("summary", "What it computed"), table) if (table := numbers_table(result.numbers)) else None,
        *(picture(p, frugal, copy=p.figure.topic != "other") for p in model.of_result(result)),
        class_="evidence" if result.as_recorded else "evidence bad",
    )
