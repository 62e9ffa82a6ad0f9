"""Every check of every statement, in full."""

from __future__ import annotations

from audit.checks.framework import CheckResult
from audit.report import svg
from audit.report.common import Frugal, badge, definitions, erratum_link, name_of, numbers_table, to_detail
from audit.report.figures import picture
from audit.report.model import Page, PageEntry, slug
from audit.runtime.markup import Html, formula, join, tag


def details_section(model: Page, frugal: Frugal) -> Html:
    """All entries, closed until somebody asks."""
    return join(_detail(model, e, frugal) for e in model.entries)


def _detail(model: Page, entry: PageEntry, frugal: Frugal) -> Html:
    summary = tag(
        "summary",
        tag("span", entry.name, class_="name"),
        tag("code", entry.id),
        badge(entry.standing.verdict.grade),
        tag("span", formula(entry.title), class_="about"),
    )
    body: list[Html] = [tag("p", tag("b", "Verdict: "), entry.standing.text)]
    uses = [to_detail(model, id, name_of(model, id)) for id in _uses(model, entry.id)]
    if uses:
        body.append(tag("p", "Uses ", join(uses, ", "), class_="fine"))
    if entry.errata:
        body.append(tag("p", "Errata ", join((erratum_link(e) for e in entry.errata), " "), class_="fine"))
    if not entry.results:
        body.append(tag("p", "No check of this run is about it.", class_="fine"))
    body += [_check(model, entry, r, frugal) for r in entry.results]
    return tag(
        "details",
        summary,
        *body,
        id=f"d-{slug(entry.id)}",
        class_=f"detail g-{entry.standing.verdict.grade}",
        data_grade=entry.standing.verdict.grade,
    )


def _uses(model: Page, id: str) -> tuple[str, ...]:
    return model.inventory.uses(id) if id in model.inventory.entries else ()


def _outcome(result: CheckResult) -> str:
    if result.error:
        return "error"
    found = "holds" if result.holds else "fails"
    return f"{found}, as it should" if result.as_recorded else f"{found}, and should not"


def _check(model: Page, entry: PageEntry, result: CheckResult, frugal: Frugal) -> Html:
    place = None if result.statement == entry.id else tag("code", result.statement)
    facts = [
        ("ratio", None if result.ratio is None else svg.number(result.ratio)),
        ("would have seen ε ≥", None if result.would_detect is None else svg.number(result.would_detect)),
        ("tight", result.tight),
        ("only if", result.condition),
        ("witness", frugal.text(result.witness)),
        ("note", frugal.text(result.note)),
        ("error", result.error),
    ]
    own = [picture(p, frugal) for p in model.of_result(result) if p.figure.topic == "other" and result.expected]
    elsewhere = [
        tag("a", p.figure.title, href=f"#{p.slug}")
        for p in model.of_result(result)
        if not (p.figure.topic == "other" and result.expected)
    ]
    return tag(
        "div",
        tag(
            "h4",
            tag("code", result.name),
            place,
            tag("span", result.kind, class_="kind"),
            tag("span", result.edition, class_="kind"),
            erratum_link(result.erratum) if result.erratum else None,
            tag("span", _outcome(result), class_="good" if result.as_recorded else "bad"),
        ),
        definitions((name, value) for name, value in facts if value),
        numbers_table(result.numbers),
        *own,
        tag("p", "Figures: ", join(elsewhere, ", "), class_="fine") if elsewhere else None,
        tag(
            "p",
            f"{result.level}, seed {result.seed}, {result.seconds:.2f} s. Again: ",
            tag("code", f"dpso audit --level {model.report.level} --seed {model.report.seed} --only '{result.name}'"),
            class_="fine",
        ),
        id=f"c-{slug(result.name)}",
        class_="check",
    )
