"""Errata, recorded verdicts, lines and quoted counts say the same; a change of one of them alone is noticed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from audit.checks.framework import Check, collect
from audit.checks.results import read_record
from audit.trace.consistency import contradictions
from docs import markers, quoted_numbers
from reference.paper.inventory import FALSIFYING, SEVERITIES, Erratum, Inventory, Line, line_verdict, load

ROOT = Path(__file__).parents[3]
RECORD = read_record()
ERRATA = [erratum.id for erratum in load().errata]


@cache
def checks() -> tuple[Check, ...]:
    return tuple(collect())


def test_nothing_contradicts() -> None:
    assert contradictions(load(), RECORD, checks()) == []


@cache
def before() -> frozenset[str]:
    return frozenset(contradictions(load(), RECORD, checks()))


def noticed(known: Inventory, record: dict[str, Any] = RECORD) -> set[str]:
    """What contradicts that did not before."""
    return set(contradictions(known, record, checks())) - before()


# ------------------------------------------------------------------------------------------------- mutants


def with_erratum(id: str, **changes: Any) -> Inventory:
    """The inventory with one erratum changed, and the lines judged by it."""
    errata = tuple(replace(e, **changes) if e.id == id else e for e in load().errata)
    return with_lines(replace(load(), errata=errata), lambda line: line)


def with_lines(known: Inventory, change: Callable[[Line], Line]) -> Inventory:
    """The inventory with lines changed, and judged anew."""
    by_id = {e.id: e for e in known.errata}
    changed = (change(line) for line in known.lines)
    return replace(known, lines=tuple(replace(line, verdict=line_verdict(line, by_id)) for line in changed))


def other_severity(erratum: Erratum) -> dict[str, Any]:
    """Another severity, with what it asks for."""
    severity = Random(erratum.id).choice([s for s in SEVERITIES if s != erratum.severity])
    place = erratum.where[0]
    return {"severity": severity, "regime": "d = 1", "falsifies": (place,) if severity in FALSIFYING else ()}


@pytest.mark.parametrize("id", ERRATA)
def test_another_severity_is_noticed(id: str) -> None:
    erratum = load().erratum(id)
    assert erratum is not None
    changes = other_severity(erratum)
    assert noticed(with_erratum(id, **changes)), changes


@pytest.mark.parametrize("id", [e.id for e in load().errata if e.regime])
def test_another_regime_is_noticed(id: str) -> None:
    assert noticed(with_erratum(id, regime="in another world"))


@pytest.mark.parametrize("id", [e.id for e in load().errata if e.severity == "condition"])
def test_what_the_paper_states_itself_is_noticed(id: str) -> None:
    erratum = load().erratum(id)
    assert erratum is not None
    assert noticed(with_erratum(id, stated="" if erratum.stated else "line 1"))


@pytest.mark.parametrize("id", [e.id for e in load().errata if e.falsifies])
def test_what_is_no_longer_false_is_noticed(id: str) -> None:
    assert noticed(with_erratum(id, falsifies=()))


def test_an_erratum_that_is_left_out_is_noticed() -> None:
    for id in ERRATA[:: len(ERRATA) // 12]:
        known = replace(load(), errata=tuple(e for e in load().errata if e.id != id))
        assert noticed(known), id


def test_a_line_that_no_longer_names_what_makes_it_false_is_noticed() -> None:
    for erratum in load().errata:
        if erratum.severity in FALSIFYING:
            left = {line.id: tuple(c for c in line.check if c != erratum.id) for line in load().lines}
            without = with_lines(load(), lambda line, left=left: replace(line, check=left[line.id]))
            assert noticed(without), erratum.id


def test_a_line_with_a_condition_of_its_own_is_noticed() -> None:
    target = next(x for x in load().lines if x.id == "lem:adv_comp/1" or x.owner == "lem:adv_comp")
    known = with_lines(load(), lambda x: replace(x, verdict="conditional") if x == target else x)
    assert noticed(known)


@pytest.mark.parametrize("field", ["grades", "verdicts"])
def test_a_record_that_was_touched_is_noticed(field: str) -> None:
    for id in list(RECORD[field])[::7]:
        record = copy.deepcopy(RECORD)
        other = "holds" if record[field][id] == "cited" else "cited"
        record[field][id] = "no violation found whatever" if field == "verdicts" else other
        assert noticed(load(), record), id


def test_a_check_that_came_out_otherwise_is_noticed() -> None:
    for i in range(0, len(RECORD["results"]), 25):
        record = copy.deepcopy(RECORD)
        record["results"][i]["holds"] = not record["results"][i]["holds"]
        assert noticed(load(), record), record["results"][i]["name"]


@pytest.mark.parametrize("severity", SEVERITIES)
def test_the_readme_counts_what_the_record_counts(severity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One erratum more of this severity, and a quoted count is wrong."""
    one = replace(load().errata[0], id="E2.99", severity=severity)
    more = replace(load(), errata=(*load().errata, one))
    monkeypatch.setattr(quoted_numbers, "load", lambda: more)
    quotes = [q for q in markers.quotes_in(ROOT) if q.name.endswith("errata")]
    assert {q.name for q in quotes if q.problem()} >= {"errata", f"{severity}_errata"}


@pytest.mark.parametrize("page", markers.ABOUT_FINDINGS[:2])
def test_a_page_counts_every_statement_once(page: str) -> None:
    graded = [q for q in markers.quotes_in(ROOT) if q.name.startswith("graded_") and q.file == page]
    assert sum(int(q.printed) for q in graded) == len(load().statements)


def test_every_erratum_is_counted_once() -> None:
    by_severity = [q for q in markers.quotes_in(ROOT) if q.name.removesuffix("_errata") in SEVERITIES]
    assert sum(int(q.printed) for q in by_severity) == len(ERRATA)


# ------------------------------------------------------------------------------- prose: README and the tour

PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in markers.ABOUT_FINDINGS}
WORDS = [q for q in markers.quotes_in(ROOT) if q.name.startswith(quoted_numbers.WORD)]
QUOTED = sorted({q.name.removeprefix(quoted_numbers.WORD).replace("_", ".") for q in WORDS})


def test_what_the_pages_call_false_an_erratum_makes_false() -> None:
    assert markers.unfounded_in(ROOT) == []
    assert [q for q in WORDS if q.problem()] == []
    assert {q.file for q in WORDS} == set(PAGES)


def test_every_finding_of_the_readme_quotes_the_word_of_its_erratum() -> None:
    for page in markers.ABOUT_FINDINGS[:2]:
        table = PAGES[page].partition("| finding |")[2].partition("\n\n")[0]
        rows = [row for row in table.splitlines()[2:] if "`dpso errata " in row]
        assert len(rows) >= 8
        quote_their_erratum(rows)


def quote_their_erratum(rows: list[str]) -> None:
    for row in rows:
        id = row.partition("`dpso errata ")[2].partition(" ")[0]
        (word,) = (q.name for q in markers.quotes(row, "README.md") if q.name.startswith(quoted_numbers.WORD))
        assert word == quoted_numbers.WORD + id.replace(".", "_"), row


@pytest.mark.parametrize("id", QUOTED)
def test_a_page_with_the_word_of_another_severity_is_noticed(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    erratum = load().erratum(id)
    assert erratum is not None
    known = with_erratum(id, **other_severity(erratum))
    monkeypatch.setattr(quoted_numbers, "load", lambda: known)
    assert [q for q in WORDS if q.problem()]
    renewed = markers.with_counts("".join(PAGES.values()))
    assert [q for q in markers.quotes(renewed, "") if q.name.startswith(quoted_numbers.WORD) and q.problem()] == []


@pytest.mark.parametrize("id", [id for id in QUOTED if load().erratum(id).severity in FALSIFYING])  # type: ignore[union-attr]
def test_prose_that_outlives_its_erratum_is_noticed(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the words renewed, what stands around them still calls false what no longer is."""
    known = with_erratum(id, severity="misprint", falsifies=(), regime="")
    monkeypatch.setattr(quoted_numbers, "load", lambda: known)
    monkeypatch.setattr(markers, "load", lambda: known)
    calls_false = id in ("E3.3", "E4.1", "E4.3")  # the others only show the word
    assert bool([line for name, text in PAGES.items() for line in markers.unfounded(text, name)]) is calls_false
    plain = "Theorem 13 is false, says nobody."
    assert markers.unfounded(plain, "x.md")
    assert not markers.unfounded("```\nTheorem 13 is false\n```", "x.md")
