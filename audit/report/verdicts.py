"""The table of verdicts with its filters, the graph, and the bars of tightness."""

from __future__ import annotations

from audit.checks.evidence import LEGEND
from audit.checks.framework import CheckResult
from audit.checks.results import held_by
from audit.checks.scale import GRADES
from audit.report import graph, svg
from audit.report.common import Frugal, badge, definitions, erratum_link, meter, name_of, plural, to_detail
from audit.report.grades import GRADE_BADGES, GRADE_MEANINGS
from audit.report.model import Page, PageEntry, slug
from audit.report.prose import formula
from audit.runtime.markup import Html, breakable, join, tag
from reference.paper.inventory import PrintedAlgorithm


def verdict_table(model: Page, frugal: Frugal) -> Html:
    """The table of all entries, with search, sections and chips."""
    counts = model.counts()
    chips = [
        tag(
            "button",
            GRADE_BADGES[g],
            tag("i", counts[g]),
            type="button",
            class_=f"chip g-{g}",
            data_grade=g,
            aria_pressed="false",
            title=GRADE_MEANINGS[g],
        )
        for g in GRADES
        if counts[g]
    ]
    options = [tag("option", title, value=number) for number, title in model.sections().items()]
    controls = tag(
        "div",
        tag(
            "input",
            type="search",
            id="search",
            placeholder="Search: lem:oracle, privacy, proved …",
            aria_label="Search the verdicts",
            autocomplete="off",
        ),
        tag("select", tag("option", "All sections", value=""), *options, id="section", aria_label="Section"),
        tag("div", *chips, class_="chips", role="group", aria_label="Filter by verdict"),
        tag(
            "p",
            plural(len(model.entries), "entry", "entries"),
            id="count",
            role="status",
            class_="fine",
        ),
        class_="controls",
    )
    head = tag(
        "tr", *(tag("th", text, scope="col") for text in ("Where", "What it says", "Verdict", "Tightness", "Checks"))
    )
    table = tag("table", tag("thead", head), tag("tbody", *(_row(model, e) for e in model.entries)), class_="verdicts")
    return join([controls, _legend(), table, tag("p", "Nothing matches.", id="nothing", hidden=True)])


def _legend() -> Html:
    """What the kinds of evidence mean, and how much of the proofs a machine replays."""
    from audit.checks.proofs import ledger

    kinds = definitions(LEGEND.items())
    found = ledger.share()
    said = f"Of {found.steps} steps of proofs {found.machine} are proved by machine for all parameters,"
    rest = found.steps - found.machine - found.cited
    proofs = tag("p", f"{said} each with a mutant that is refuted; {rest} are proved on paper, {found.cited} cited.")
    return tag("details", tag("summary", "Kinds of evidence"), kinds, proofs, class_="fine")


def _row(model: Page, entry: PageEntry) -> Html:
    searched = " ".join(
        [
            entry.id,
            entry.name,
            entry.title,
            entry.standing.text,
            *entry.kinds,
            *entry.errata,
            *(r.name for r in entry.results),
        ]
    )
    grade = entry.standing.verdict.grade
    where = tag(
        "td", tag("a", entry.name, href=f"#d-{slug(entry.id)}"), tag("code", breakable(entry.id)), class_="where"
    )
    verdict = tag(
        "td",
        badge(grade),
        tag("span", formula(_remarks(entry)), class_="rest"),
        *_errata_of(model, entry),
        class_="verdict",
    )
    checks = tag("td", *(tag("span", kind, class_="kind", title=LEGEND[kind]) for kind in entry.kinds), class_="kinds")
    return tag(
        "tr",
        where,
        tag("td", formula(entry.title), class_="about"),
        verdict,
        tag("td", _tightness(entry), class_="tight"),
        checks,
        data_grade=grade,
        data_section=entry.section.partition(".")[0],
        data_search=searched.casefold(),
    )


MOST_TITLES = 3
"""Errata that are named in full beside a verdict, so that a row stays a row."""


def _errata_of(model: Page, entry: PageEntry) -> list[Html]:
    """Links to the errata of an entry, with their titles where they are few."""
    links = [erratum_link(id) for id in entry.errata]
    if len(links) > MOST_TITLES:
        return [tag("span", *links, class_="rest")]
    found = [model.inventory.erratum(id) for id in entry.errata]
    titles = [formula(e.title) if e else "" for e in found]
    return [tag("span", link, title, class_="rest named") for link, title in zip(links, titles, strict=True)]


def _remarks(entry: PageEntry) -> str:
    """What is to be said beside the badge and the errata; a verdict on a part of the checks says so."""
    standing = entry.standing
    part = [] if standing.whole else [f"{standing.ran} of {standing.of} checks"]
    return "; ".join([*standing.verdict.remarks, *part])


def _tightness(entry: PageEntry) -> Html | None:
    if entry.ratio is None:
        return None
    return join([meter(entry.ratio), tag("span", svg.number(entry.ratio), class_="figure")])


def graph_section(model: Page, frugal: Frugal) -> Html:
    """The statement graph and its colours."""
    counts = model.counts()
    legend = [badge(grade) for grade in GRADES if counts[grade]]
    intro = tag(
        "p",
        "A line leads from what a proof uses, on the left, to what it proves, on the right. Rounded nodes are"
        " algorithms. Every node leads to its checks.",
        class_="fine",
    )
    drawn = graph.draw(model.inventory, _nodes(model))
    shown = tag("div", drawn, class_="scroll", tabindex=0)
    return join([intro, tag("p", *legend, class_="legend"), shown, _list_of_uses(model)])


def _list_of_uses(model: Page) -> Html:
    """The graph as a list, for a screen on which it has no place."""
    rows = []
    for id, others in graph.edges(model.inventory).items():
        entry = model.entry(id)
        if entry is not None:
            used = join((to_detail(model, other, name_of(model, other)) for other in others), ", ")
            line = (to_detail(model, id, entry.name), " ", badge(entry.standing.verdict.grade))
            rows.append(tag("li", *line, " uses " if others else None, used))
    return tag("ul", *rows, class_="small")


def _nodes(model: Page) -> dict[str, graph.Node]:
    """What the graph shows of each entry; every node leads to its checks."""
    return {
        e.id: graph.Node(
            e.id,
            e.name,
            f"{e.title}. {e.standing.text}",
            e.standing.verdict.grade,
            isinstance(model.inventory.entries.get(e.id), PrintedAlgorithm),
            link=f"#d-{slug(e.id)}",
            slug=slug(e.id),
        )
        for e in model.entries
    }


def tightness_bars(model: Page, frugal: Frugal) -> Html:
    """The largest left side over right side of every claim that held, nearest to 1 first."""
    best: dict[tuple[str, str], CheckResult] = {}
    for result in sorted(model.report.ordered(), key=lambda r: -(r.ratio or 0.0)):
        if result.ratio is not None and result.holds and not result.error:
            best.setdefault((held_by(result.statement)[-1], result.edition), result)
    rows = [
        tag(
            "tr",
            tag("td", to_detail(model, r.statement, name_of(model, r.statement)), tag("code", breakable(r.name))),
            tag("td", meter(r.ratio or 0.0)),
            tag("td", svg.number(r.ratio or 0.0), class_="figure"),
            tag("td", tag("span", r.edition, class_="kind"), formula(r.tight)),
        )
        for r in best.values()
    ]
    intro = tag(
        "p",
        "The largest left side over right side that was met, for each statement and edition. At 1 the constant is"
        " attained and cannot be bettered.",
        class_="fine",
    )
    return join([intro, tag("table", tag("tbody", *rows), class_="bars")]) if rows else Html("")
