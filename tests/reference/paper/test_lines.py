"""The verdicts line by line (`reference/paper/lines/`): they reach every numbered line and statement of the paper.

That the checks which they name exist is a matter of `Trace.problems`; that no line of the text is left out, of
`compare.unjudged`, which needs the text.
"""

import dataclasses
from collections.abc import Iterator

from reference.paper.inventory import Inventory, load


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


def test_refuted_lines_name_their_erratum() -> None:
    wrong = [line for line in load().lines if line.verdict in ("refuted", "typo")]
    assert len(wrong) > 50
    assert [line.id for line in wrong if not any(name.startswith("E") for name in line.check)] == []
