"""Every check of every statement, in full."""

from __future__ import annotations

from audit.checks import resolution
from audit.checks.evidence import LEGEND, Kind
from audit.checks.framework import CheckResult
from audit.report import svg
from audit.report.code import CheckSource, check_source, code_section, place
from audit.report.common import Frugal, badge, definitions, erratum_link, name_of, numbers_table, readable, to_detail
from audit.report.figures import picture
from audit.report.model import Page, PageEntry, slug
from audit.report.prose import formula
from audit.report.statement import statement
from audit.runtime.markup import Html, breakable, join, tag


def details_section(model: Page, frugal: Frugal) -> Html:
    """All entries, closed until somebody asks."""
    return join(_detail(model, e, frugal) for e in model.entries)


def _detail(model: Page, entry: PageEntry, frugal: Frugal) -> Html:
    summary = tag(
        "summary",
        tag("h3", entry.name, class_="name"),
        tag("code", entry.id),
        badge(entry.standing.verdict.grade),
        tag("span", formula(entry.title), class_="about"),
    )
    body: list[Html | None] = [
        _statement(model, entry.id),
        tag("p", tag("b", "Verdict: "), formula(entry.standing.text)),
    ]
    uses = [to_detail(model, id, name_of(model, id)) for id in _uses(model, entry.id)]
    if uses:
        body.append(tag("p", "Uses ", join(uses, ", "), class_="fine"))
    if entry.errata:
        body.append(tag("p", "Errata ", join((erratum_link(e) for e in entry.errata), " "), class_="fine"))
    if not entry.results:
        body.append(tag("p", "No check of this run is about it.", class_="fine"))
    body += [code_section(entry.id, model.inventory, frugal), _proof(entry.id)]
    body += [_check(model, entry, r, frugal) for r in entry.results]
    return tag(
        "details",
        summary,
        *body,
        id=f"d-{slug(entry.id)}",
        class_=f"detail g-{entry.standing.verdict.grade}",
        data_grade=entry.standing.verdict.grade,
    )


def _statement(model: Page, id: str) -> Html | None:
    """What the entry states, in formulas, beside the reader's own copy where the page has one."""
    from reference.paper.restated import load

    one = load().get(id)
    stated = statement(one, own=id.startswith("own:")) if one else None
    copy = model.extras.copy.get(id)
    if copy is None:
        return stated
    differs = "" if copy.as_checked else ", which is not the text that was checked"
    head = tag("h4", f"In your copy, lines {copy.tex[0]}–{copy.tex[1]}{differs}")
    return join([stated, tag("div", head, tag("pre", copy.text, tabindex="0"), class_="copy")])


def _proof(id: str) -> Html | None:
    """The ledger of a proof: how much of it a machine replays, and every step."""
    from audit.checks.proofs import ledger

    rows = ledger.rows(id)
    if not rows:
        return None
    head = tag("tr", *(tag("th", name, scope="col") for name in ("Step of the proof", "How", "What it says")))
    body = [
        tag(
            "tr",
            tag("th", tag("code", breakable(row.id)), scope="row"),
            tag("td", row.status),
            tag("td", formula(row.text)),
        )
        for row in rows
    ]
    said = tag("p", tag("b", "Proof: "), str(ledger.basis(id)), ". Again: ", tag("code", f"dpso prove {id}"))
    return tag("div", said, tag("table", tag("thead", head), tag("tbody", *body), class_="numbers"), class_="proof")


def _uses(model: Page, id: str) -> tuple[str, ...]:
    return model.inventory.uses(id) if id in model.inventory.entries else ()


def _outcome(result: CheckResult) -> str:
    if result.error:
        return "error"
    found = "holds" if result.holds else "fails"
    return f"{found}, as it should" if result.as_recorded else f"{found}, and should not"


HOW: dict[Kind, str] = {
    "proved": "Proved by machine for all parameters of its domain",
    "enclosed": "Decided by balls that contain the true values",
    "exact": "Computed in exact rational arithmetic",
    "searched": "Searched for a violation in rounded arithmetic",
    "measured": "Measured by a statistical test",
    "counterexample": "A counterexample to the printed text",
    "cited": "Not checked by us",
}
"""How a check's sentence begins, by the kind of its evidence."""


GROUNDS = {
    "computed": "computed in rounded arithmetic, whose error nothing bounds",
    "enclosed": "decided by balls",
    "exact": "in exact rational arithmetic",
    "measured": "by a statistical test",
}
"""What a counterexample rests on, in words."""


def sentence(result: CheckResult, source: CheckSource) -> str:
    """What a check does, in one sentence: how, and what its docstring says."""
    says = source.says if source.says.endswith((".", ")", "?")) else f"{source.says}."
    return f"{HOW[result.kind]}: {says}"


def _check(model: Page, entry: PageEntry, result: CheckResult, frugal: Frugal) -> Html:
    inside = None if result.statement == entry.id else tag("code", result.statement)
    source = check_source(result.name, result.erratum or "")
    facts = [
        ("ratio", None if result.ratio is None else svg.number(result.ratio)),
        ("would have seen ε ≥", None if result.would_detect is None else svg.number(result.would_detect)),
        ("power", resolution.words(result.name)),
        ("evidence", f"{result.kind}: {GROUNDS.get(result.evidence, result.evidence)}"),
        ("tight", result.tight),
        ("only if", result.condition),
        ("witness", frugal.text(readable(result.witness))),
        ("note", "" if result.kind == "proved" else frugal.text(readable(result.note))),
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
            tag("code", breakable(result.name)),
            inside,
            tag("span", result.kind, class_="kind", title=LEGEND[result.kind]),
            tag("span", result.edition, class_="kind"),
            erratum_link(result.erratum) if result.erratum else None,
            tag("span", _outcome(result), class_="good" if result.as_recorded else "bad"),
        ),
        tag("p", formula(sentence(result, source)), class_="says") if source else None,
        definitions((name, value) for name, value in facts if value),
        numbers_table(result.numbers),
        *own,
        tag("p", "Figures: ", join(elsewhere, ", "), class_="fine") if elsewhere else None,
        tag(
            "p",
            f"{result.level}, seed {result.seed}, {result.seconds:.2f} s. Again: ",
            tag("code", f"dpso audit --level {model.report.level} --seed {model.report.seed} --only '{result.name}'"),
            *(("; source ", place(source.path, source.line)) if source else ()),
            class_="fine",
        ),
        id=f"c-{slug(result.name)}",
        class_="check",
    )
