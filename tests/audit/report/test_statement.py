"""Statements in formulas, and the way from a statement to its code."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from audit.checks.framework import collect
from audit.report import code, mathml
from audit.report.common import Frugal
from audit.report.statement import statement
from reference.paper import inventory, restated
from reference.paper.inventory import Section

WHOLE = Frugal(most_text=1500, tables=True)


def test_every_formula_becomes_mathml() -> None:
    for one in restated.load().values():
        for line in one.given + one.printed + one.corrected + one.tight:
            made = mathml.line(line)
            assert made.count("<math") == line.count("$") // 2, line
            assert "$" not in made
            assert "\\" not in made
            assert made.count('class="diff"') == line.count(r"\boxed"), line
            assert "http" not in made


def test_a_wide_formula_has_the_whole_width() -> None:
    assert mathml.widest(["no formula"]) == 0
    assert mathml.widest([r"$\frac{abcd}{x}y_{123}$", "$z$"]) == pytest.approx(4 + 1 + 2)
    stated = restated.load()
    wide = {id for id, one in stated.items() if 'wide"' in str(statement(one))}
    assert {"eqn:recur1", "thm:convergence-noisySFW"} <= wide
    assert len(wide) < len(stated) / 4


PARTS = {"msub": 2, "msup": 2, "mover": 2, "munder": 2, "mfrac": 2, "msubsup": 3, "munderover": 3}


def test_every_index_has_one_place() -> None:
    """A space between log and its index made three children, which browsers show in a row."""
    for one in restated.load().values():
        for line in one.given + one.printed + one.corrected + one.tight:
            for element in ElementTree.fromstring(f"<p>{mathml.line(line)}</p>").iter():
                assert len(element) == PARTS.get(element.tag, len(element)), (line, element.tag)


def test_the_name_of_a_function_stands_apart() -> None:
    space = mathml.THIN
    assert f"<mi>n</mi>{space}<mi>log</mi>{space}<mi>n</mi>" in mathml.mathml(r"n\log n")
    assert "<mi>⌈</mi><msub><mi>log</mi><mn>2</mn></msub><mo" in mathml.mathml(r"\lceil\log_2(n)\rceil")
    assert f"<mn>2</mn>{space}<msup><mi>ln</mi><mn>2</mn></msup>{space}<mi>d</mi>" in mathml.mathml(r"2\ln^2 d")


def test_an_unknown_command_is_refused() -> None:
    with pytest.raises(ValueError, match="does not know"):
        mathml.mathml(r"\nosuchcommand{x}")


def test_every_entry_leads_to_code() -> None:
    known = inventory.load()
    for id, entry in known.entries.items():
        if not isinstance(entry, Section):
            shown = code.code_section(id, known, WHOLE)
            assert shown is not None, id
            assert re.search(r"reference/[\w/]+\.py:\d+", shown), id


def test_printed_stands_beside_corrected_for_every_algorithm() -> None:
    known = inventory.load()
    for algorithm in known.algorithms:
        shown = code.code_section(algorithm.id, known, WHOLE)
        assert shown is not None
        assert "Printed beside corrected" in shown
        assert "<del>" in shown
        assert "<ins>" in shown
    assert "#e-E4-1" in str(code.code_section("alg:nSFW", known, WHOLE)), "what differs links its erratum"


def test_a_check_is_found_with_its_sentence_without_being_loaded() -> None:
    for check in collect():
        source = code.check_source(check.name, check.erratum or "")
        assert source is not None, check.name
        assert source.path.endswith(".py")
        said = check.function.__doc__
        assert source.says, check.name
        if said and not check.name.startswith(("privacy.", "proved.")):
            assert source.says == " ".join(said.strip().split("\n\n")[0].split()), check.name


@pytest.mark.parametrize("name", ["", "nowhere.check", "../x.y", "defects.E9_9"])
def test_a_strange_name_leads_nowhere(name: str) -> None:
    assert code.check_source(name) is None


def test_of_a_long_stretch_of_equal_lines_the_ends_are_shown() -> None:
    assert code._folded("12345") == list("12345")
    assert code._folded("123456") == ["1", "2", "    ⋮ 2 equal lines", "5", "6"]
