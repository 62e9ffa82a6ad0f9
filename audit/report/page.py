"""The page: HTML made on this side, complete without scripts; the script only filters, opens and switches the theme.

Everything that a check or a file says passes through `markup`, which escapes it. The page refers to nothing outside
itself, and its content security policy forbids it to.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.resources import files

from audit.report import graph, svg
from audit.report.markup import Html, formula, join, tag
from audit.report.model import Entry, Page, Picture, errata, page, slug
from audit.report.words import GRADE_BADGES, GRADE_MEANINGS, GRADE_WORDS
from audit.run import Report
from audit.statements.framework import GRADES, Grade, Result, Topic
from reference.inventory import SEVERITIES, Erratum, Inventory

LIMIT = 5_000_000
"""Bytes that the page may have."""

SEVERITY_WORDS = {"privacy": "breaks privacy", "accuracy": "breaks accuracy", "typo": "slip of the pen"}


def render(report: Report, inventory: Inventory) -> str:
    """The page of a report. What would make it too large, numbers behind figures and long witnesses, is left out."""
    model = page(report, inventory)
    whole = _document(model, Frugal(most_text=1500, tables=True))
    return (
        whole
        if len(whole.encode("utf-8", "replace")) <= LIMIT
        else _document(model, Frugal(most_text=200, tables=False))
    )


class Frugal:
    """How much of the data is written out."""

    def __init__(self, most_text: int, tables: bool) -> None:
        self.most_text, self.tables = most_text, tables

    def text(self, text: str) -> str:
        """A text, cut if it is long."""
        left = len(text) - self.most_text
        return text if left <= 0 else f"{text[: self.most_text]}… ({left} more characters in report.json)"


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
        tag("main", _header(model), *(_section(*one) for one in shown)),
        _footer(model),
        Html(f"<script>{script}</script>"),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def _style() -> str:
    dark = _asset("dark.css")
    return (
        _asset("style.css")
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
        aria_label="Sections",
    )


# ----------------------------------------------------------------------------------------------- header


def _header(model: Page) -> Html:
    paper, report = model.inventory.paper, model.report
    counts = _counts(model)
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
        tag("p", f"{', '.join(paper.authors)} · arXiv {paper.arxiv}", class_="authors"),
        tag("p", _summary(model), class_="lead"),
        *_warnings(model),
        tag("div", *tiles, class_="tiles"),
        tag(
            "p",
            f"Level {report.level}, seed {report.seed}: {_plural(len(report.results), 'check')}"
            f" in {sum(r.seconds for r in report.results):.0f} s of computing."
            " Every verdict follows from checks that ran; none is written by hand.",
            class_="fine",
        ),
        id="top",
    )


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _counts(model: Page) -> Counter[Grade]:
    return Counter(e.standing.verdict.grade for e in model.entries)


def _summary(model: Page) -> str:
    counts = _counts(model)
    checked = len(model.entries) - counts["unchecked"]
    wrong = counts["refuted"] + counts["unrepaired"]
    listed = errata(model)
    grave = sum(e.severity == "privacy" for e in listed)
    text = f"{checked} of {len(model.entries)} statements, algorithms and equations were checked"
    text += f"; {wrong} are wrong as printed." if wrong else "; none was found wrong as printed."
    if listed:
        text += f" The list of errata has {len(listed)}, of which {grave} break{'s' if grave == 1 else ''} privacy."
    return text


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
            tag(
                "li", _to_detail(model, r.statement, r.name), ": ", r.error or ("holds" if r.holds else "does not hold")
            )
            for r in report.unexpected
        ]
        title = f"{_plural(len(items), 'check')} did not come out as recorded"
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


# ---------------------------------------------------------------------------------------------- verdicts


def _badge(grade: Grade) -> Html:
    return tag("span", GRADE_BADGES[grade], class_=f"badge g-{grade}", title=GRADE_MEANINGS[grade])


def _to_detail(model: Page, id: str, text: str) -> Html:
    entry = model.entry(id)
    return tag("a", text, href=f"#d-{slug(entry.id)}") if entry else tag("span", text)


def _erratum_link(id: str) -> Html:
    return tag("a", id, href=f"#e-{slug(id)}", class_="erratum-link")


def _verdicts(model: Page, frugal: Frugal) -> Html:
    counts = _counts(model)
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
    options = [
        tag("option", f"{number} {title}" if number != "?" else title, value=number)
        for number, title in model.sections().items()
    ]
    controls = tag(
        "div",
        tag(
            "input",
            type="search",
            id="search",
            placeholder="Search: lem:oracle, privacy, certified …",
            aria_label="Search the verdicts",
            autocomplete="off",
        ),
        tag("select", tag("option", "All sections", value=""), *options, id="section", aria_label="Section"),
        tag("div", *chips, class_="chips", role="group", aria_label="Filter by verdict"),
        tag(
            "p",
            _plural(len(model.entries), "entry").replace("entrys", "entries"),
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
    return join([controls, table, tag("p", "Nothing matches.", id="nothing", hidden=True)])


def _row(model: Page, entry: Entry) -> Html:
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
    where = tag("td", tag("a", entry.name, href=f"#d-{slug(entry.id)}"), tag("code", entry.id), class_="where")
    verdict = tag(
        "td",
        _badge(grade),
        tag("span", formula(_rest(entry)), class_="rest"),
        *_errata_of(model, entry),
        class_="verdict",
    )
    checks = tag("td", *(tag("span", kind, class_="kind") for kind in entry.kinds), class_="kinds")
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


def _errata_of(model: Page, entry: Entry) -> list[Html]:
    """Links to the errata of an entry, with their titles where they are few."""
    links = [_erratum_link(id) for id in entry.errata]
    if len(links) > MOST_TITLES:
        return links
    found = [model.inventory.erratum(id) for id in entry.errata]
    titles = [formula(e.title) if e else "" for e in found]
    return [tag("span", link, title, class_="rest") for link, title in zip(links, titles, strict=True)]


def _rest(entry: Entry) -> str:
    """What the verdict says beyond its badge and its errata."""
    text = entry.standing.text
    if entry.standing.verdict.grade in ("refuted", "unrepaired"):
        rest = text.partition(")")[2].removeprefix(", ")
        return f"the correction holds {rest}" if rest.startswith("if ") else rest
    for start in ("holds, loose ", "holds only if ", "holds", "cited", "no violation found", "not in this run"):
        if text.startswith(start):
            rest = text.removeprefix(start).strip()
            rest = rest[1:-1] if rest.startswith("(") and rest.endswith(")") and rest.count("(") == 1 else rest
            return f"only if {rest}" if start == "holds only if " else rest.removeprefix("; ")
    return text


def _tightness(entry: Entry) -> Html | None:
    if entry.ratio is None:
        return None
    return join([_meter(entry.ratio), tag("span", svg.number(entry.ratio), class_="figure")])


def _meter(ratio: float) -> Html:
    width = f"{100 * min(max(ratio, 0.0), 1.0):.1f}%"
    return tag("span", tag("span", style=f"width:{width}"), class_="meter", aria_hidden="true")


# ------------------------------------------------------------------------------------------------- graph


def _graph(model: Page, frugal: Frugal) -> Html:
    counts = _counts(model)
    legend = [_badge(grade) for grade in GRADES if counts[grade]]
    intro = tag(
        "p",
        "An arrow of the proofs: what stands on the right uses what stands on the left. Rounded nodes are"
        " algorithms. Every node leads to its checks.",
        class_="fine",
    )
    return join([intro, tag("p", *legend, class_="legend"), tag("div", graph.draw(model), class_="scroll", tabindex=0)])


# ------------------------------------------------------------------------------------------------ errata


def _errata(model: Page, frugal: Frugal) -> Html:
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
        _definitions([("Cost of the repair", erratum.cost), ("Who is affected, and what to change", erratum.affects)]),
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
        parts += [", " if parts else "", _to_detail(model, place, entry.name if entry else place)]
    if erratum.lines:
        parts.append(f", line{'s' if len(erratum.lines) > 1 else ''} {', '.join(map(str, erratum.lines))}")
    if erratum.tex[0]:
        first, last = erratum.tex
        parts.append(f" · TeX line {first}" if first == last else f" · TeX lines {first}–{last}")
    return parts


def _side(title: str, text: str, class_: str) -> Html | None:
    return tag("div", tag("h4", title), tag("p", formula(text)), class_=f"side {class_}") if text else None


def _definitions(pairs: Iterable[tuple[str, str]]) -> Html:
    return tag("dl", *(join([tag("dt", name), tag("dd", formula(text))]) for name, text in pairs if text))


def _evidence(model: Page, result: Result, frugal: Frugal) -> Html:
    shown = "Shown in this run" if result.as_recorded else "Not reproduced in this run"
    return tag(
        "div",
        tag("h4", shown, ": ", _to_detail(model, result.statement, result.name)),
        tag("p", formula(frugal.text(result.witness)), class_="witness") if result.witness else None,
        _numbers(result.numbers),
        *(_picture(p, frugal, copy=p.figure.topic != "other") for p in model.of_result(result)),
        class_="evidence" if result.as_recorded else "evidence bad",
    )


MOST_NUMBERS = 40


def _numbers(numbers: Mapping[str, float | int | str]) -> Html | None:
    if not numbers:
        return None
    rows = [
        tag("tr", tag("th", name, scope="row"), tag("td", svg.number(value) if isinstance(value, float) else value))
        for name, value in list(numbers.items())[:MOST_NUMBERS]
    ]
    if len(numbers) > MOST_NUMBERS:
        rows.append(tag("tr", tag("th", "…"), tag("td", f"{len(numbers) - MOST_NUMBERS} more in report.json")))
    return tag("table", tag("tbody", *rows), class_="numbers")


# ----------------------------------------------------------------------------------------------- figures


def _picture(picture: Picture, frugal: Frugal, copy: bool = False) -> Html:
    """A figure; a copy of one that stands in a gallery has another id and leaves the numbers there."""
    figure = picture.figure
    id = f"{picture.slug}-copy" if copy else picture.slug
    data = None
    if frugal.tables and not copy and sum(len(points) for points in figure.series.values()) <= svg.MOST_POINTS:
        data = tag("details", tag("summary", "Numbers"), tag("div", svg.data_table(figure), class_="scroll"))
    caption = tag("figcaption", tag("b", figure.title), tag("span", figure.note) if figure.note else None)
    source = tag(
        "p",
        "From ",
        tag("a", picture.result.name, href=f"#c-{slug(picture.result.name)}"),
        f", {picture.result.kind}",
        class_="fine",
    )
    return tag("figure", caption, svg.draw(figure, id), None if copy else source, data, id=id)


def _gallery(topic: Topic, intro: str, model: Page, frugal: Frugal) -> Html:
    pictures = model.of_topic(topic)
    if not pictures:
        return Html("")
    return join(
        [tag("p", intro, class_="fine"), tag("div", *(_picture(p, frugal) for p in pictures), class_="gallery")]
    )


def _tightness_bars(model: Page, frugal: Frugal) -> Html:
    """The largest left side over right side of every claim that held, nearest to 1 first."""
    results = [r for r in model.report.ordered() if r.ratio is not None and r.holds and not r.error]
    if not results:
        return Html("")
    rows = [
        tag(
            "tr",
            tag("td", _to_detail(model, r.statement, _name(model, r.statement)), tag("code", r.name)),
            tag("td", _meter(r.ratio or 0.0)),
            tag("td", svg.number(r.ratio or 0.0), class_="figure"),
            tag("td", tag("span", r.edition, class_="kind"), r.tight),
        )
        for r in sorted(results, key=lambda r: -(r.ratio or 0.0))
    ]
    intro = tag(
        "p",
        "The largest left side over right side that was met. At 1 the constant is attained and cannot be bettered.",
        class_="fine",
    )
    return join([intro, tag("table", tag("tbody", *rows), class_="bars")])


def _name(model: Page, id: str) -> str:
    entry = model.entry(id)
    return entry.name if entry else id


# ----------------------------------------------------------------------------------------------- details


def _details(model: Page, frugal: Frugal) -> Html:
    return join(_detail(model, e, frugal) for e in model.entries)


def _detail(model: Page, entry: Entry, frugal: Frugal) -> Html:
    summary = tag(
        "summary",
        tag("span", entry.name, class_="name"),
        tag("code", entry.id),
        _badge(entry.standing.verdict.grade),
        tag("span", formula(entry.title), class_="about"),
    )
    body: list[Html] = [tag("p", tag("b", "Verdict: "), entry.standing.text)]
    uses = [_to_detail(model, id, _name(model, id)) for id in _uses(model, entry.id)]
    if uses:
        body.append(tag("p", "Uses ", join(uses, ", "), class_="fine"))
    if entry.errata:
        body.append(tag("p", "Errata ", join((_erratum_link(e) for e in entry.errata), " "), class_="fine"))
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


def _outcome(result: Result) -> str:
    if result.error:
        return "error"
    found = "holds" if result.holds else "fails"
    return f"{found}, as it should" if result.as_recorded else f"{found}, and should not"


def _check(model: Page, entry: Entry, result: Result, frugal: Frugal) -> Html:
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
    own = [_picture(p, frugal) for p in model.of_result(result) if p.figure.topic == "other" and result.expected]
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
            _erratum_link(result.erratum) if result.erratum else None,
            tag("span", _outcome(result), class_="good" if result.as_recorded else "bad"),
        ),
        _definitions((name, value) for name, value in facts if value),
        _numbers(result.numbers),
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


_SECTIONS: list[tuple[str, str, Callable[[Page, Frugal], Html]]] = [
    ("verdicts", "Verdicts", _verdicts),
    ("errata", "Errata", _errata),
    ("graph", "What leans on what", _graph),
    (
        "privacy",
        "Privacy profiles",
        partial(
            _gallery,
            "privacy",
            "The claim, the certified upper bound, and what a distinguishing test measured. A measured lower bound"
            " above the claim is a violation; the room between measured and certified is what nobody has decided.",
        ),
    ),
    ("accuracy", "Accuracy", partial(_gallery, "accuracy", "Measured errors beside what the text promises.")),
    (
        "rates",
        "Rates",
        partial(_gallery, "rate", "How the risk or the gap scales, beside the bound with its constants."),
    ),
    ("tightness", "Tightness", _tightness_bars),
    ("details", "Every check", _details),
]

__all__ = ["render"]
