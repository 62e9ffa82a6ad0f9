"""The verdicts line by line (`reference/paper/lines/`): they reach every numbered line and statement of the paper.

That the checks which they name exist is a matter of `Trace.problems`; that no line of the text is left out, of
`compare.unjudged`, which needs the text.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reference.paper.inventory import (
    ERRATA,
    LINE_VERDICTS,
    PAPER,
    SEVERITIES,
    Erratum,
    Inventory,
    InventoryError,
    Line,
    line_verdict,
    load,
    read,
)


def without_verdict(inventory: Inventory) -> Iterator[str]:
    """Numbered lines, statements and equations that no verdict touches."""
    places = {f"{a.id}:{i}": line.tex for a in inventory.algorithms for i, line in enumerate(a.lines, start=1)}
    places |= {entry.id: entry.tex for entry in (*inventory.statements, *inventory.equations)}
    yield from (place for place, tex in places.items() if not inventory.line_entries(*tex))


def test_every_numbered_line_statement_and_equation_has_a_verdict() -> None:
    assert list(without_verdict(load())) == []


def test_a_missing_verdict_would_be_seen() -> None:
    known = load()
    first = next(a for a in known.algorithms if a.id == "alg:polySFW").lines[0].tex
    left = tuple(line for line in known.lines if not (line.tex[0] <= first[1] and first[0] <= line.tex[1]))
    assert "alg:polySFW:1" in set(without_verdict(dataclasses.replace(known, lines=left)))


def test_section_4_is_covered_to_the_last_line() -> None:
    covered = {n for line in load().lines for n in range(line.tex[0], line.tex[1] + 1)}
    (section,) = (s for s in load().sections if s.number == "4")
    assert set(range(section.tex[0], section.tex[1] + 1)) <= covered


def line(tex: tuple[int, int], *check: str, verdict: str = "", id: str = "lem:oracle/2") -> Line:
    return Line(id, tex, "about", verdict, check)


def test_a_line_is_worth_what_its_errata_leave() -> None:
    """The gravest word prevails; an erratum counts here if it is about these lines, or makes their statement false."""
    texts = ("p", "c", "none", "free", "a")
    false = Erratum(
        "E3.1", "t", ("lem:oracle", "Alg:phased"), (), (315, 319), "privacy", *texts, falsifies=("lem:oracle",)
    )
    errata = {
        e.id: e for e in (false, *(replace(false, id=f"E3.{n}", severity=s) for n, s in enumerate(SEVERITIES, 10)))
    }
    errata["E3.20"] = replace(false, id="E3.20", severity="condition")
    assert line_verdict(line((340, 340), verdict="loose"), errata) == "loose"
    assert line_verdict(line((340, 340)), errata) == "holds"
    assert line_verdict(line((340, 340), "E3.1"), errata) == "false"
    assert line_verdict(line((340, 340), "E3.1", id="lem:oracle/proof/2"), errata) == "unproved"
    assert line_verdict(line((317, 320), "E3.1", id="Alg:phased/3"), errata) == "false"
    assert line_verdict(line((320, 320), "E3.1", id="Alg:phased/3"), errata) == "conditional"
    assert line_verdict(line((340, 340), "E3.20", "E3.1"), errata) == "false"
    words = [line_verdict(line((340, 340), f"E3.{n}"), errata) for n in range(10, 18)]
    assert words == ["false", "false", "false", "edge", "unproved", "conditional", "misprint", "loose"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ('verdict = "false"', "has verdict 'false', which only an erratum gives: name it in check"),
        ('verdict = "right"', "has verdict 'right', it must be one of prose, definition, cited, searched, holds"),
        ("check = []", "has no verdict, and names no erratum that gives one"),
        ('verdict = "conditional"\ncheck = ["E3.6"]', "is conditional: say in a note under which condition"),
        ('verdict = "holds"\ncheck = []', "claims a verdict without check"),
        ('verdict = "loose"\ncheck = ["tests/x.py::y"]', "is loose: give the tight constant"),
    ],
)
def test_a_broken_line_is_refused(tmp_path: Path, fields: str, message: str) -> None:
    path = tmp_path / "section9.toml"
    path.write_text(f'[[line]]\nid = "lem:oracle/2"\ntex = [338, 342]\nabout = "a"\n{fields}\n', encoding="utf-8")
    with pytest.raises(InventoryError, match=re.escape(message)):
        read(PAPER, ERRATA, [path])


def test_many_lines_are_not_right_as_they_stand() -> None:
    counts = Counter(entry.verdict for entry in load().lines)
    assert set(counts) <= set(LINE_VERDICTS)
    assert all(counts[word] > 0 for word in ("false", "edge", "unproved", "conditional", "misprint"))
