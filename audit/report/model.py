"""What the page shows: the report, held against the inventory of the paper, in the paper's order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from audit.checks.evidence import Kind
from audit.checks.framework import CheckResult, Figure, Topic
from audit.checks.results import Report, Standing, held_by, tally
from audit.checks.scale import Grade, Verdict, in_order
from audit.report.compare import Change
from audit.trace.paper_copy import Excerpt
from reference.paper.inventory import SEVERITIES, Equation, Erratum, Inventory, Section


@dataclass(frozen=True)
class PageEntry:
    """A statement, algorithm, equation or table of the paper, and what this run found about it."""

    id: str
    name: str
    title: str
    section: str
    standing: Standing
    results: tuple[CheckResult, ...]
    errata: tuple[str, ...]

    @property
    def ratio(self) -> float | None:
        """The nearest that the text, as corrected, came to its claim."""
        ratios = [r.ratio for r in self.results if r.ratio is not None and r.holds and r.edition != "tight"]
        return max(ratios, default=None)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of check that ran."""
        return tuple(dict.fromkeys(r.kind for r in self.results))


@dataclass(frozen=True)
class Picture:
    """A figure and the check that it comes from."""

    figure: Figure
    result: CheckResult
    slug: str


@dataclass(frozen=True)
class PageExtras:
    """What a page may show beside its report: the reader's copy of the paper, and how the run was made."""

    copy: Mapping[str, Excerpt] = field(default_factory=dict)
    """What the reader's copy prints, by id."""
    made: str = ""
    """The version of dpso, the day, the machine."""
    changed: Sequence[Change] | None = None
    """What changed since another report; None if none was named."""


@dataclass(frozen=True)
class Page:
    """Everything on the page."""

    report: Report
    inventory: Inventory
    entries: tuple[PageEntry, ...]
    pictures: tuple[Picture, ...]
    extras: PageExtras

    def entry(self, id: str) -> PageEntry | None:
        """The entry of an id, or of what holds the place that it names."""
        names = held_by(id)
        return next((e for e in self.entries if e.id == names[-1]), None)

    def counts(self) -> Counter[Grade]:
        """How many rows of the table have each class of verdict: what its filters leave."""
        return Counter(e.standing.verdict.grade for e in self.entries)

    def tally(self) -> Counter[Grade]:
        """How many of the paper's numbered statements have each class of verdict."""
        return tally({e.id: e.standing.verdict.grade for e in self.entries})

    def of_topic(self, topic: Topic) -> list[Picture]:
        """The pictures of a topic: what shows that the printed text fails comes first."""
        return sorted((p for p in self.pictures if p.figure.topic == topic), key=lambda p: p.result.expected)

    def of_result(self, result: CheckResult) -> list[Picture]:
        """The pictures that a check made."""
        return [p for p in self.pictures if p.result.name == result.name]

    def evidence(self, erratum: str) -> list[CheckResult]:
        """The checks of the printed text that show an erratum."""
        return [r for r in self.report.ordered() if r.erratum == erratum and not r.expected]

    def sections(self) -> dict[str, str]:
        """The sections that have entries, by number, with their names and titles."""
        titles = {s.number: s.title if s.name == s.title else f"{s.name}: {s.title}" for s in self.inventory.sections}
        top = dict.fromkeys(e.section.partition(".")[0] for e in self.entries)
        return {number: titles.get(number, "Elsewhere") for number in top}


def slug(text: str) -> str:
    """An id for HTML: letters and digits with hyphens, different texts differently."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", text)
    odd = "".join(f"{ord(c):x}" for c in text if not (c.isascii() and (c.isalnum() or c in ":_/.[]- ")))
    return f"{plain}-x{odd[:40]}" if odd else plain


def page(report: Report, inventory: Inventory, extras: PageExtras | None = None) -> Page:
    """The page of a report."""
    standings = report.standings()
    listed = {id: entry for id, entry in inventory.entries.items() if not isinstance(entry, Section)}
    with_results = [id for id in standings if id in listed or len(held_by(id)) == 1]
    ids = paper_order([*listed, *with_results], inventory)
    grouped: dict[str, list[CheckResult]] = {}
    for result in report.ordered():
        grouped.setdefault(held_by(result.statement)[-1], []).append(result)
    entries = [_entry(id, inventory, standings, grouped.get(id, [])) for id in ids]
    pictures = [
        Picture(figure, result, f"fig-{slug(result.name)}-{i}")
        for result in report.ordered()
        for i, figure in enumerate(result.figures)
    ]
    return Page(report, inventory, tuple(entries), tuple(pictures), extras or PageExtras())


def paper_order(ids: Iterable[str], inventory: Inventory) -> list[str]:
    """Ids in the order of the text, each once; what the inventory does not know comes last."""
    last = inventory.paper.tex_lines + 1
    place = {id: entry.tex[0] for id, entry in inventory.entries.items()}
    return sorted(dict.fromkeys(ids), key=lambda id: place.get(id, last))


NOT_RUN = Verdict("unchecked", "not in this run")


def _entry(
    id: str, inventory: Inventory, standings: Mapping[str, Standing], results: Sequence[CheckResult]
) -> PageEntry:
    found = inventory.entries.get(id)
    name, title, section = id, "", "?"
    if found is not None:
        name, title = found.name, found.title
        name = f"Equation {name}" if isinstance(found, Equation) else name
        section = found.number if isinstance(found, Section) else found.section
    errata = {*(e.id for e in inventory.errata_of(id)), *(r.erratum for r in results if r.erratum)}
    standing = standings.get(id, Standing(NOT_RUN, 0, 0))
    if standing.ran == 0:
        standing = Standing(NOT_RUN, 0, 0)
    return PageEntry(id, name, title, section, standing, tuple(results), in_order(errata))


def errata(page: Page) -> list[Erratum]:
    """The errata of the inventory, gravest first, then those that only a check names."""
    known = list(page.inventory.errata)
    names = {e.id for e in known}
    strangers = dict.fromkeys(r.erratum for r in page.report.ordered() if r.erratum and r.erratum not in names)
    unlisted = [
        Erratum(id, "not in the list of errata", (), (), (0, 0), "misprint", "", "", "", "paid", "") for id in strangers
    ]
    return [*sorted(known, key=lambda e: (SEVERITIES.index(e.severity), e.tex[0])), *unlisted]
