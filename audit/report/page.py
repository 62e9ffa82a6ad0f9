"""The page: HTML made on this side, complete without scripts; the script only filters, opens and switches the theme.

Everything that a check or a file says passes through `markup`, which escapes it. The page refers to nothing outside
itself, and its content security policy forbids it to.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from importlib.resources import files

from audit.checks.results import Report
from audit.checks.scale import GRADES
from audit.report.cards import errata_section
from audit.report.common import Frugal, plural, to_detail
from audit.report.details import details_section
from audit.report.figures import gallery
from audit.report.grades import GRADE_COLOURS, GRADE_MEANINGS, GRADE_WORDS
from audit.report.model import Page, PageExtras, page
from audit.report.palette import DARK, LIGHT, variables
from audit.report.prose import formula
from audit.report.summary import about_section, five_sentences, grave
from audit.report.verdicts import graph_section, tightness_bars, verdict_table
from audit.runtime.markup import Html, breakable, tag
from reference.paper.inventory import Inventory

LIMIT = 5_000_000
"""Bytes that the page may have."""


WHOLE, BRIEF = Frugal(most_text=1500, tables=True), Frugal(most_text=200, tables=False)
"""What is written out: all but the end of a witness that fills a screen; of a page that would be too large, less."""


def render(report: Report, inventory: Inventory, extras: PageExtras | None = None) -> str:
    """The page of a report. What would make it too large, numbers behind figures and long witnesses, is left out."""
    model = page(report, inventory, extras)
    document = _document(model, WHOLE)
    fits = len(document.encode("utf-8", "replace")) <= LIMIT
    return document if fits else _document(model, BRIEF)


def _asset(name: str) -> str:
    return files("audit.report").joinpath(name).read_text(encoding="utf-8")


def _document(model: Page, frugal: Frugal) -> str:
    script, style = _asset("page.js"), _style()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content="dpso audit"),
        tag("link", rel="icon", href="data:,"),
        tag("title", f"dpso audit: {model.inventory.paper.title}"),
        Html(f"<style>{style}</style>"),
    )
    sections = [(id, title, make(model, frugal)) for id, title, make in _SECTIONS]
    shown = [(id, title, body) for id, title, body in sections if body]
    body = tag(
        "body",
        tag("a", "Skip to the verdicts", href="#verdicts", class_="skip"),
        _navigation([(id, title) for id, title, _ in shown]),
        tag("a", "↑ Contents", href="#contents", class_="up"),
        tag("main", _header(model), *(_section(*one) for one in shown)),
        _footer(model),
        Html(f"<script>{script}</script>"),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def _style() -> str:
    """The style sheet: colours from the palette, light and dark, and the rest from its file."""
    dark = f"color-scheme: dark; {variables(DARK)}"
    grades = " ".join(f".g-{grade} {{ --g: var(--{name}); }}" for grade, name in GRADE_COLOURS.items())
    return (
        f":root {{ color-scheme: light; {variables(LIGHT)} }}\n{grades}\n"
        + _asset("style.css")
        + f"@media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {dark} }} }}\n"
        + f"@media screen {{ :root[data-theme=dark] {{ {dark} }} }}\n"
    )


def _section(id: str, title: str, body: Html) -> Html:
    return tag("section", tag("h2", title), body, id=id)


def _navigation(sections: Iterable[tuple[str, str]]) -> Html:
    links = [tag("a", title, href=f"#{id}") for id, title in sections]
    button = tag("button", "Theme", type="button", id="theme", title="Switch between dark and light")
    return tag(
        "nav",
        tag("a", "dpso", href="#top", class_="mark"),
        tag("div", *links, class_="links"),
        button,
        id="contents",
        aria_label="Sections",
    )


def _header(model: Page) -> Html:
    paper, report = model.inventory.paper, model.report
    text = f"arXiv {paper.arxiv} · text of SHA-256 {paper.sha256[:16]}…"
    counts = model.tally()
    tiles = [
        tag(
            "a",
            tag("b", counts[grade]),
            tag("span", GRADE_WORDS[grade]),
            href="#verdicts",
            class_=f"tile g-{grade}",
            data_grade=grade,
            title=GRADE_MEANINGS[grade],
        )
        for grade in GRADES
        if counts[grade]
    ]
    return tag(
        "header",
        tag("p", "dpso audit", class_="kicker"),
        tag("h1", paper.title),
        tag(
            "p",
            f"{', '.join(paper.authors)} · {text}",
            class_="authors",
        ),
        five_sentences(model),
        *_warnings(model),
        tag("div", *tiles, class_="tiles"),
        grave(model),
        tag(
            "p",
            f"Level {report.level}, seed {report.seed}: {plural(len(report.results), 'check')}"
            f" in {sum(r.seconds for r in report.results):.0f} s of computing."
            " Every verdict follows from checks that ran; none is written by hand. ",
            tag("a", "What was checked, and what the words mean", href="#about"),
            class_="fine",
        ),
        id="top",
    )


def _warnings(model: Page) -> list[Html]:
    report = model.report
    found = []
    if not report.complete:
        ran = f"{len(report.results)} of {len(report.planned)} checks ran."
        found.append(
            tag(
                "p",
                tag("b", "Partial report. "),
                f"The run was interrupted: {ran} Continue it with ",
                tag("code", "dpso audit --resume"),
                " and the options of the first run.",
                class_="warning partial",
            )
        )
    if report.only:
        found.append(
            tag(
                "p",
                tag("b", "A part of the paper. "),
                f"This run was limited to {', '.join(report.only)}.",
                class_="warning",
            )
        )
    if report.unexpected:
        items = [
            tag("li", to_detail(model, r.statement, r.name), ": ", r.error or ("holds" if r.holds else "does not hold"))
            for r in report.unexpected
        ]
        title = f"{plural(len(items), 'check')} did not come out as recorded"
        found.append(tag("div", tag("b", title), tag("ul", *items), class_="warning bad"))
    return found


def _footer(model: Page) -> Html:
    report = model.report
    only = f" --only {' '.join(report.only)}" if report.only else ""
    command = f"dpso audit --level {report.level} --seed {report.seed}{only}"
    return tag(
        "footer",
        tag("p", "To make this report again: ", tag("code", command)),
        tag(
            "p",
            "Results depend on the seed and the check alone. The same data, for programs: report.json beside"
            " this page.",
        ),
    )


def changes_section(model: Page, frugal: Frugal) -> Html:
    """What changed since another report; nothing where none was named."""
    changed = model.extras.changed
    if changed is None:
        return Html("")
    if not changed:
        return tag("p", "Nothing: the same run, the same verdicts, the same outcomes of checks.")
    head = tag("tr", *(tag("th", text, scope="col") for text in ("What", "Which", "Before", "Now")))
    cells = [(c.subject, breakable(c.name), *(formula(frugal.text(x)) for x in (c.before, c.after))) for c in changed]
    rows = [tag("tr", *(tag("td", cell) for cell in row)) for row in cells]
    return tag("table", tag("thead", head), tag("tbody", *rows), class_="changes")


_SECTIONS: list[tuple[str, str, Callable[[Page, Frugal], Html]]] = [
    ("changes", "What changed", changes_section),
    ("verdicts", "Verdicts", verdict_table),
    ("errata", "Errata", errata_section),
    ("graph", "What depends on what", graph_section),
    (
        "privacy",
        "Privacy profiles",
        partial(
            gallery,
            "privacy",
            "The claim, the certified upper bound, and what a distinguishing test measured. A measured lower bound"
            " above the claim is a violation; the room between measured and certified is what nobody has decided.",
        ),
    ),
    ("accuracy", "Accuracy", partial(gallery, "accuracy", "Measured errors beside what the text promises.")),
    (
        "rates",
        "Rates",
        partial(
            gallery,
            "rate",
            "How the risk or the gap scales, beside the bound with its constants. The trivial bound is what every point"
            " of the set meets: where the certified bound lies above it, that bound says nothing yet. “Private” marks"
            " the regime in which the noise decides (small ε); elsewhere the sample does. “On a slope” the risk"
            " is linear and the start at the wrong end, so that whoever stays there violates the bound.",
        ),
    ),
    ("tightness", "Tightness", tightness_bars),
    ("details", "Statements and checks", details_section),
    ("about", "What the words mean", about_section),
]

__all__ = ["render"]
