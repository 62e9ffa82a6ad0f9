"""The errata, a card each, with the evidence of this run."""

from __future__ import annotations

from collections import Counter

from audit.report.common import Frugal, definitions, numbers_table, to_detail
from audit.report.figures import picture
from audit.report.markup import Html, formula, join, tag
from audit.report.model import Page, errata, slug
from audit.statements.framework import Result
from reference.inventory import SEVERITIES, Erratum

SEVERITY_WORDS = {"privacy": "breaks privacy", "accuracy": "breaks accuracy", "typo": "slip of the pen"}


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
    return join(
        [
            tag("div", *chips, class_="chips", role="group", aria_label="Filter by severity"),
            tag("div", *(_card(model, e, frugal) for e in listed), class_="cards"),
        ]
    )


def _card(model: Page, erratum: Erratum, frugal: Frugal) -> Html:
    evidence = model.evidence(erratum.id)
    return tag(
        "article",
        tag(
            "header",
            tag("span", erratum.id, class_="id"),
            tag("span", SEVERITY_WORDS[erratum.severity], class_=f"severity s-{erratum.severity}"),
        ),
        tag("h3", formula(erratum.title)),
        tag("p", *_where(model, erratum), class_="fine"),
        tag(
            "div",
            _side("As printed", erratum.printed, "printed"),
            _side("Corrected", erratum.corrected, "corrected"),
            class_="sides",
        ),
        definitions([("Cost of the repair", erratum.cost), ("Who is affected, and what to change", erratum.affects)]),
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
    for place in erratum.where:
        entry = model.entry(place)
        parts += [", " if parts else "", to_detail(model, place, entry.name if entry else place)]
    if erratum.lines:
        parts.append(f", line{'s' if len(erratum.lines) > 1 else ''} {', '.join(map(str, erratum.lines))}")
    if erratum.tex[0]:
        first, last = erratum.tex
        parts.append(f" · TeX line {first}" if first == last else f" · TeX lines {first}–{last}")
    return parts


def _side(title: str, text: str, class_: str) -> Html | None:
    return tag("div", tag("h4", title), tag("p", formula(text)), class_=f"side {class_}") if text else None


def _evidence(model: Page, result: Result, frugal: Frugal) -> Html:
    shown = "Shown in this run" if result.as_recorded else "Not reproduced in this run"
    return tag(
        "div",
        tag("h4", shown, ": ", to_detail(model, result.statement, result.name)),
        tag("p", formula(frugal.text(result.witness)), class_="witness") if result.witness else None,
        numbers_table(result.numbers),
        *(picture(p, frugal, copy=p.figure.topic != "other") for p in model.of_result(result)),
        class_="evidence" if result.as_recorded else "evidence bad",
    )
