"""One entry in full: `describe` gathers it as plain data, `show` prints that. It works from both ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from audit.checks import resolution
from audit.runtime.errors import InputError
from audit.runtime.suggest import LOOSELY, did_you_mean
from audit.trace.coverage import Traceability
from audit.trace.links import ROOT, CodeLink
from reference.paper.editions import line_marks, marks_in, numbered_body
from reference.paper.inventory import Entry, Equation, Erratum, OwnStatement, PrintedAlgorithm, PrintedTable, Statement

_LINE = re.compile(r"(.*?):(\d+)")


def describe(trace: Traceability, id: str | None) -> dict[str, Any]:
    """What is known about an id, a printed name, an algorithm's line, an erratum, a function, a file's line."""
    if id is None:
        return _overview(trace)
    name = _aliases(trace).get(_folded(id), id)
    if erratum := trace.inventory.erratum(name):
        return _erratum(trace, erratum)
    if name in trace.inventory.entries:
        return _entry(trace, trace.inventory.entries[name])
    if trace.inventory.find(name) is not None:
        return _part(trace, name)
    if links := _code(trace, name):
        return _functions(trace, name, links)
    owner = trace.inventory.entries.get(name.rpartition(":")[0])
    if isinstance(owner, PrintedAlgorithm):
        raise InputError(f"{owner.id} has lines 1 to {len(owner.lines)}: {id!r} is none of them")
    raise InputError(f"unknown id {id!r}{_nearest(trace, id)} (dpso trace lists all)")


SHORT = {
    "thm": "theorem",
    "lem": "lemma",
    "prop": "proposition",
    "def": "definition",
    "defn": "definition",
    "cor": "corollary",
    "rem": "remark",
    "alg": "algorithm",
    "eq": "equation",
    "eqn": "equation",
    "tab": "table",
}
"""What people write for the kinds of statements: "Thm 6", "Eq. (16)"."""


def _folded(text: str) -> str:
    """A name without case, blanks, dots and brackets, its kind in full."""
    folded = re.sub(r"[\s.()]+", "", text).lower()
    kind = re.fullmatch(r"([a-z]+)(\d+)", folded)
    return f"{SHORT.get(kind[1], kind[1])}{kind[2]}" if kind else folded


def _aliases(trace: Traceability) -> dict[str, str]:
    """Printed names and ids, without case and blanks, to ids: "lemma5", "(16)", "table1"."""
    names = {_folded(e.id): e.id for e in trace.inventory.errata}
    for entry in trace.inventory.entries.values():
        names[_folded(entry.id)] = entry.id
        if isinstance(entry, Statement | PrintedAlgorithm | Equation | PrintedTable | OwnStatement):
            names[_folded(entry.name)] = entry.id
            if isinstance(entry, Equation):
                names[f"equation{_folded(entry.name).removeprefix('equation')}"] = entry.id
    return names


def _nearest(trace: Traceability, id: str) -> str:
    known = [*trace.inventory.entries, *(e.id for e in trace.inventory.errata), *(link.code for link in trace.code)]
    return did_you_mean(id, known, LOOSELY)


# ------------------------------------------------------------------------------------ from the paper's end


def _overview(trace: Traceability) -> dict[str, Any]:
    inventory = trace.inventory
    entries: list[Statement | PrintedAlgorithm | Equation | PrintedTable | OwnStatement]
    entries = [*inventory.statements, *inventory.algorithms, *inventory.equations, *inventory.tables, *inventory.own]
    return {
        "entries": [{"id": e.id, "name": e.name, "title": e.title, "verdict": trace.verdict(e.id)} for e in entries],
        "errata": [{"id": e.id, "severity": e.severity, "title": e.title} for e in inventory.errata],
    }


def _entry(trace: Traceability, entry: Entry) -> dict[str, Any]:
    inventory = trace.inventory
    data: dict[str, Any] = {
        "id": entry.id,
        "name": entry.name,
        "title": entry.title,
        "section": getattr(entry, "section", None),
        "tex": list(entry.tex),
        "verdict": trace.verdict(entry.id),
        "uses": [_reference(trace, other) for other in inventory.uses(entry.id)],
        "used by": [_reference(trace, other) for other in inventory.used_by(entry.id)],
        **_ties(trace, entry.id),
        "errata": [{"id": e.id, "severity": e.severity, "title": e.title} for e in inventory.errata_of(entry.id)],
    }
    data |= _proof(entry.id)
    if isinstance(entry, OwnStatement):
        data |= {"ours, beside": _reference(trace, entry.beside), "proof": entry.proof}
    if isinstance(entry, PrintedAlgorithm):
        data["algorithm lines"] = [_algorithm_line(trace, entry, n) for n in range(1, len(entry.lines) + 1)]
    if isinstance(entry, PrintedTable):
        data["rows"] = [{"row": n, "about": r.about, "cites": r.cites} for n, r in enumerate(entry.rows, start=1)]
    data["line verdicts"] = [
        {"id": line.id, "tex": list(line.tex), "about": line.about, "verdict": line.verdict, "check": list(line.check)}
        for line in inventory.lines
        if line.owner == entry.id
    ]
    return data


def _proof(id: str) -> dict[str, Any]:
    """The ledger of a proof: how much of it a machine replays, and every step; nothing if it has none."""
    from audit.checks.proofs import ledger

    rows = ledger.rows(id)
    if not rows:
        return {}
    steps = [{"step": row.id, "status": row.status, "says": row.text, "edition": row.edition} for row in rows]
    return {"proof by machine": str(ledger.basis(id)), "proof steps": steps}


def _reference(trace: Traceability, id: str) -> dict[str, str]:
    entry = trace.inventory.entries[id]
    return {"id": id, "name": str(getattr(entry, "name", "")), "verdict": trace.verdict(id)}


def _ties(trace: Traceability, id: str) -> dict[str, Any]:
    return {
        "code": [_code_data(link) for link in trace.code_of(id)],
        "checks": [
            {
                "name": c.name,
                "kind": c.kind,
                "edition": c.edition,
                "level": c.level,
                "notices": resolution.words(c.name),
            }
            for c in trace.checks_of(id)
        ],
        "tests": [{"node": t.node, "kind": t.kind} for t in trace.tests_of(id)],
    }


def _code_data(link: CodeLink) -> dict[str, Any]:
    data = {"code": link.code, "path": link.path, "line": link.lines()[0]}
    return {**data, "kind": link.kind, "edition": link.edition, "id": link.id}


def _algorithm_line(trace: Traceability, algorithm: PrintedAlgorithm, number: int) -> dict[str, Any]:
    line = algorithm.lines[number - 1]
    return {
        "line": number,
        "about": line.about,
        "tex": list(line.tex),
        "label": line.label,
        "errata": [e.id for e in trace.inventory.errata_of(algorithm.id) if number in e.lines_of(algorithm.id)],
        "code": [source for body in trace.bodies(algorithm) for source in _marked_sources(body, number)],
        "line verdicts": [e.verdict for e in trace.inventory.line_entries(*line.tex) if e.verdict != "prose"],
    }


def _marked_sources(body: CodeLink, number: int) -> Iterator[str]:
    """The source lines of a body that carry the mark of this line, with their place."""
    for place, source in numbered_body(body.target):
        if number in marks_in(source):
            yield f"{body.path}:{place} ({body.edition}): {source.strip()}"


def _part(trace: Traceability, id: str) -> dict[str, Any]:
    """A line of an algorithm, a row of a table, or a place inside an entry."""
    entry = trace.inventory.find(id)
    owner, _, number = id.partition("/")[0].rpartition(":")
    if isinstance(entry, PrintedAlgorithm) and owner == entry.id:
        return {"id": id, "in": _reference(trace, entry.id), **_algorithm_line(trace, entry, int(number))}
    if isinstance(entry, PrintedTable) and owner == entry.id:
        row = entry.rows[int(number) - 1]
        return {"id": id, "in": _reference(trace, entry.id), "title": row.about, "cites": _reference(trace, row.cites)}
    assert entry is not None
    return {**_entry(trace, entry), "place": id}


def _erratum(trace: Traceability, erratum: Erratum) -> dict[str, Any]:
    return {
        "id": erratum.id,
        "title": erratum.title,
        "severity": erratum.severity,
        "regime": erratum.regime,
        "stated": erratum.stated,
        "falsifies": list(erratum.falsifies),
        "where": [_reference_place(trace, place) for place in erratum.where],
        "lines": list(erratum.lines),
        "tex": list(erratum.tex),
        "printed": erratum.printed,
        "corrected": erratum.corrected,
        "cost": erratum.cost,
        "affects": erratum.affects,
        "code": [_code_data(link) for link in trace.code if link.id == erratum.id],
        **_proof(erratum.id),
        "checks": [{"name": c.name, "kind": c.kind} for c in trace.checks if c.erratum == erratum.id],
        "tests": [{"node": t.node, "kind": t.kind} for t in trace.tests if t.id == erratum.id],
    }


def _reference_place(trace: Traceability, place: str) -> dict[str, str]:
    entry = trace.inventory.find(place)
    assert entry is not None
    return {**_reference(trace, entry.id), "id": place}


# ------------------------------------------------------------------------------------- from the code's end


def _code(trace: Traceability, name: str) -> list[CodeLink]:
    """The linked functions that a name points to: a function, a module, a file, or a file's line."""
    exact = [link for link in trace.code if name in (link.code, link.code.replace(":", "."), link.module, link.path)]
    if exact:
        return exact
    match = _LINE.fullmatch(name)
    if match is None or not match[1].endswith(".py"):
        return []
    file, number = Path(match[1]).resolve(), int(match[2])
    path = file.relative_to(ROOT.resolve()).as_posix() if file.is_relative_to(ROOT.resolve()) else match[1]
    return [link for link in trace.code if link.path == path and link.lines()[0] <= number <= link.lines()[1]]


def _functions(trace: Traceability, name: str, links: Sequence[CodeLink]) -> dict[str, Any]:
    known = trace.inventory
    rows = []
    for link in links:
        entry = known.find(link.id)
        erratum = known.erratum(link.id)
        row = _code_data(link)
        if entry:
            row |= {"name": getattr(entry, "name", ""), "title": entry.title, "verdict": trace.verdict(entry.id)}
        elif erratum:
            row |= {"name": erratum.id, "title": erratum.title, "verdict": erratum.severity}
        if isinstance(entry, PrintedAlgorithm) and link in trace.bodies(entry):
            row["algorithm lines"] = _lines_at(link, name)
        rows.append(row)
    return {"id": name, "links": rows}


def _lines_at(body: CodeLink, name: str) -> str:
    """The algorithm's line that a file's line belongs to (the last mark above it); all lines for a function."""
    match = _LINE.fullmatch(name)
    if match is None:
        marks = line_marks(body.target)
        return f"L{marks[0]} to L{marks[-1]}" if marks else ""
    above = [marks_in(text) for place, text in numbered_body(body.target) if place <= int(match[2])]
    last = next((marks for marks in reversed(above) if marks), [])
    return ", ".join(f"L{number}" for number in last)


# ------------------------------------------------------------------------------------------------ printing


def show(data: dict[str, Any]) -> list[str]:
    """The data of `describe` as lines of text: one line a fact, lists indented, empty fields left out."""
    if "entries" in data:
        rows = [f"{e['name']:<15} {e['id']:<30} {e['verdict']:<14} {e['title']}" for e in data["entries"]]
        return [*rows, *(f"{e['id']:<15} {e['severity']:<30} {'':<14} {e['title']}" for e in data["errata"])]
    lines: list[str] = []
    for key, value in data.items():
        if value in (None, "", [], {}):
            continue
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f"{key}:")
            lines.extend(f"  {_flat(item)}" for item in value)
        else:
            lines.append(f"{key}: {_flat(value)}")
    return lines


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return " · ".join(_flat(v) for v in value.values() if v not in (None, "", [], {}))
    if isinstance(value, list) and len(value) == 2 and all(isinstance(x, int) for x in value):
        return f"TeX lines {value[0]}–{value[1]}" if value[0] != value[1] else f"TeX line {value[0]}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)
