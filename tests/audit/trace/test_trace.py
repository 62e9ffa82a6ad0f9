"""`dpso trace`: links, verdicts, the map, the comparison with a copy of the paper, the graph, bad input."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import json
import re
from pathlib import Path

import pytest

import audit.checks.results
from audit.checks.framework import Check, Outcome
from audit.cli import trace as command
from audit.cli.main import main
from audit.runtime.errors import InputError
from audit.trace import coverage, links, paper_copy, proofs_map
from audit.trace.coverage import Traceability, mark_problems, trace
from audit.trace.show import describe, show
from reference.paper import tex
from reference.paper.inventory import Erratum, Line, load
from reference.paper.registry import implements

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def real() -> Traceability:
    """What the project says about itself."""
    return trace()


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.configure(parser)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(words)


def empty(**changes: object) -> Traceability:
    """The inventory with nothing tied to it, errata and line verdicts aside."""
    inventory = dataclasses.replace(load(), errata=(), lines=())
    bare = Traceability(inventory=inventory, code=(), tests=(), nodes=frozenset(), checks=())
    return dataclasses.replace(bare, **changes)


def a_check(name: str = "s3.c", statement: str = "lem:oracle", erratum: str | None = None) -> Check:
    return Check(name, statement, "exact", "corrected", "quick", erratum, None, lambda seed: Outcome(True))


# ------------------------------------------------------------------------------------- the project itself


def test_no_link_of_the_project_is_broken(real: Traceability) -> None:
    assert real.problems() == []


def test_the_committed_map_is_what_the_links_give(real: Traceability) -> None:
    stale = proofs_map.stale_rows(proofs_map.path().read_text(encoding="utf-8"), proofs_map.render(real))
    assert not stale, "\n".join(["proofs_map.md is stale (dpso trace --write):", *stale])


def test_a_section_that_has_checks_has_them_for_every_statement(real: Traceability) -> None:
    """Strict about a section once it is begun: an uncovered statement in it is drift."""
    chapters: dict[str, set[bool]] = {}
    for entry in (*real.inventory.statements, *real.inventory.algorithms):
        covered = real.status(entry.id) != "no check yet"
        chapters.setdefault(entry.section.partition(".")[0], set()).add(covered)
    begun = [chapter for chapter, kinds in chapters.items() if True in kinds]
    uncovered = [id for id in real.uncovered() if real.inventory.entries[id].section.partition(".")[0] in begun]  # type: ignore[union-attr]
    assert uncovered == []


# ------------------------------------------------------------------------------------------------ verdicts


def test_a_statement_without_a_check_says_so() -> None:
    bare = empty()
    assert bare.verdict("lem:oracle") == "no check yet"
    assert len(bare.uncovered()) == 29 + 6 + 1, "statements, algorithms, and the one statement of ours"
    tested = empty(tests=(links.PytestLink("lem:oracle", "exact", "tests/t.py", "test_x"),))
    assert tested.verdict("lem:oracle") == "tests only"


def test_a_verdict_is_the_recorded_one_and_says_when_the_record_is_incomplete() -> None:
    checks = (a_check("s3.a"), a_check("s3.b"))
    assert empty(checks=checks).verdict("lem:oracle") == "not recorded"
    recorded = empty(checks=checks, recorded={"lem:oracle": "holds"}, recorded_checks=frozenset({"s3.a", "s3.b"}))
    assert recorded.verdict("lem:oracle") == "holds"
    partial = dataclasses.replace(recorded, recorded_checks=frozenset({"s3.a"}))
    assert partial.verdict("lem:oracle") == "holds (1 checks not recorded)"
    deeper = dataclasses.replace(a_check("s3.b"), level="deep")
    shallow = dataclasses.replace(partial, checks=(a_check("s3.a"), deeper), recorded_level="standard")
    assert shallow.verdict("lem:oracle") == "holds", "a deep check is not missing from a standard record"
    without_checks = empty(recorded={"lem:oracle": "holds"})
    assert without_checks.verdict("lem:oracle") == "no check yet", "a record without a check claims nothing"


def test_a_check_of_a_place_counts_for_the_whole() -> None:
    assert empty(checks=(a_check(statement="Alg:gll_oracle:6"),)).verdict("Alg:gll_oracle") == "not recorded"


def test_the_record_is_read_and_a_broken_one_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "verdicts.json"
    content = {"level": "quick", "verdicts": {"lem:oracle": "holds"}, "results": [{"name": "s3.a"}]}
    record.write_text(json.dumps(content))
    monkeypatch.setattr(audit.checks.results, "RECORD", record)
    read = trace()
    assert read.recorded == {"lem:oracle": "holds"}
    assert read.recorded_checks == {"s3.a"}
    assert read.recorded_level == "quick"
    record.write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        trace()


# ------------------------------------------------------------------------------------- mutants of the links


def printed_body(x: int) -> int:
    y = x  # L1
    z = 1  # L2 [E9.1]
    return y + z  # L3


def corrected_body(x: int) -> int:
    y = x  # L1
    z = 2  # L2 [E9.1]
    return y + z  # L3


def corrected_untagged(x: int) -> int:
    y = x + 1  # L1
    z = 2  # L2 [E9.1]
    return y + z  # L3


def link(target: object, edition: str, id: str = "Alg:PGPSMD", kind: str = "implements") -> links.CodeLink:
    return links.CodeLink(id, kind, edition, "reference.mutant", target.__name__, target)  # type: ignore[arg-type, attr-defined]


def erratum(id: str, **changes: object) -> Erratum:
    base = Erratum(id, "t", ("Alg:PGPSMD",), (), (1, 1), "misprint", "p", "c", "none", "free", "a")
    return dataclasses.replace(base, **changes)


def test_unknown_ids_are_problems() -> None:
    broken = empty(
        code=(
            link(printed_body, "corrected", "lem:nothing", "claims"),
            link(printed_body, "printed", "E9.7", "counterexample"),
        ),
        tests=(links.PytestLink("lem:ghost", "exactly", "tests/t.py", "test_x"),),
        checks=(a_check(statement="lem:gone", erratum="E9.8"),),
    )
    text = "\n".join(broken.problems())
    for piece in ("'lem:nothing'", "'E9.7'", "'lem:ghost'", "kind 'exactly'", "'lem:gone'", "'E9.8'"):
        assert piece in text


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ([1, 2, 3, 4, 5], ""),
        ([1, 2, 4, 5], "lacks L3"),
        ([1, 2, 2, 3, 4, 5], ""),
        ([1, 2, 3, 2, 4, 5], "returns to L2"),
        ([1, 3, 2, 4, 5], "has its lines out of order: [1, 3, 2, 4, 5]"),
        ([0, 1, 2, 3, 4, 5, 6], "has no such line as L0, L6"),
        ([], "lacks L1, L2, L3, L4, L5"),
    ],
)
def test_line_marks_are_complete_and_each_line_is_one_stretch(marks: list[int], message: str) -> None:
    found = list(mark_problems("f", marks, 5))
    assert ([] if not message else [message]) == [m for m in [message] if found and m in found[0]]
    assert bool(found) == bool(message)


def test_a_body_with_missing_marks_or_without_its_twin_is_a_problem() -> None:
    alone = empty(code=(link(printed_body, "printed"),)).problems()
    assert any("lacks L4, L5" in problem for problem in alone)
    assert any("printed and corrected go together" in problem for problem in alone)


def test_untagged_differences_and_unknown_tags_are_problems() -> None:
    untagged = empty(code=(link(printed_body, "printed"), link(corrected_untagged, "corrected"))).problems()
    assert any("name no erratum" in problem for problem in untagged)
    tagged = empty(code=(link(printed_body, "printed"), link(corrected_body, "corrected"))).problems()
    assert any("tagged [E9.1], which is not in errata.toml" in problem for problem in tagged)


def test_an_erratum_without_a_counterexample_is_a_problem() -> None:
    inventory = dataclasses.replace(load(), errata=(erratum("E5.9"),), lines=())
    bare = dataclasses.replace(empty(), inventory=inventory)
    assert bare.problems() == ["E5.9 has no counterexample that runs"]
    shown = dataclasses.replace(bare, code=(link(printed_body, "printed", "E5.9", "counterexample"),))
    assert shown.problems() == []


def test_a_line_verdict_that_rests_on_nothing_is_a_problem() -> None:
    rests_on = ("tests/t.py::test_x[3]", "s3.c", "E5.9", "tests/t.py::test_gone")
    line = Line("lem:oracle/1", (340, 340), "a", "holds", rests_on, file="section3.toml")
    inventory = dataclasses.replace(load(), errata=(erratum("E5.9"),), lines=(line,))
    some = dataclasses.replace(
        empty(checks=(a_check(),), nodes=frozenset({"tests/t.py::test_x"})),
        inventory=inventory,
        code=(link(printed_body, "printed", "E5.9", "counterexample"),),
    )
    assert some.problems() == ["section3.toml: lem:oracle/1 rests on 'tests/t.py::test_gone', which does not exist"]
    installed = dataclasses.replace(some, nodes=frozenset(), has_tests=False)
    assert installed.problems() == [], "an installed copy has no tests to look in"


# ------------------------------------------------------------------------------------------- tests by AST

TESTS = """
import pytest
pytestmark = pytest.mark.statement("lem:moreau", kind="exact")

@pytest.mark.statement("lem:oracle", kind="enclosed")
@pytest.mark.statement("E3.1", "counterexample")
def test_one(): ...

@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.statement(id="def:glm", kind="exact"))])
def test_two(x): ...

class TestGroup:
    @pytest.mark.statement("thm:l1_glm", kind="measured")
    def test_three(self): ...

def helper(): ...
"""


def test_markers_are_read_from_functions_classes_modules_and_parameters(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "reference"
    folder.mkdir(parents=True)
    (folder / "test_x.py").write_text(TESTS)
    tests, nodes = links.tests_of(tmp_path)
    found = {(t.name, t.id, t.kind) for t in tests}
    assert found == {
        ("test_one", "lem:moreau", "exact"),
        ("test_one", "lem:oracle", "enclosed"),
        ("test_one", "E3.1", "counterexample"),
        ("test_two", "lem:moreau", "exact"),
        ("test_two", "def:glm", "exact"),
        ("TestGroup::test_three", "lem:moreau", "exact"),
        ("TestGroup::test_three", "thm:l1_glm", "measured"),
    }
    assert nodes == {f"tests/reference/test_x.py::{name}" for name in ("test_one", "test_two", "TestGroup::test_three")}


def test_the_nodes_of_this_file_are_known(real: Traceability) -> None:
    own = {n.name for n in ast.parse(Path(__file__).read_text()).body if isinstance(n, ast.FunctionDef)}
    names = {node.partition("::")[2] for node in real.nodes if node.startswith("tests/audit/trace/test_trace.py")}
    assert names == {name for name in own if name.startswith("test_")}


# ------------------------------------------------------------------------------------------------- the map


def test_the_map_has_every_statement_line_equation_and_row(real: Traceability) -> None:
    text = proofs_map.render(real)
    assert all(f"`{id}`" in text for id in real.inventory.entries if not id.startswith(("sec", "sub", "app", "abs")))
    assert len(re.findall(r"^\| L\d+ \|", text, re.MULTILINE)) == 71
    assert len(re.findall(r"^\| table:results:\d \|", text, re.MULTILINE)) == 5
    assert "no check yet" in proofs_map.render(empty())


def test_the_map_names_functions_not_source_lines(real: Traceability) -> None:
    assert not re.search(r"\.py#L\d+|\.py:\d+", proofs_map.render(real))


def test_a_link_more_is_a_stale_row() -> None:
    before = empty()
    after = empty(code=(dataclasses.replace(link(implements, "corrected", "lem:oracle", "claims"), module="m"),))
    rows = proofs_map.stale_rows(proofs_map.render(before), proofs_map.render(after))
    assert len(rows) == 2
    assert all("lem:oracle" in row for row in rows)


def test_check_reports_the_rows_that_differ_and_does_not_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spoiled = tmp_path / "proofs_map.md"
    row = "| **Lemma 5** `lem:oracle`"
    text = proofs_map.render(empty()).replace(f"{row} |", f"{row} holds, trust me |")
    spoiled.write_text(text)
    monkeypatch.setattr(proofs_map, "path", lambda: spoiled)
    monkeypatch.setattr(command, "trace", empty)
    assert command.run(options("--check")) == 1
    out = capsys.readouterr().out
    assert "-| **Lemma 5** `lem:oracle` holds, trust me |" in out
    assert "proofs_map.md is stale in 2 rows" in out
    assert spoiled.read_text() == text
    assert command.run(options("--write")) == 0
    assert command.run(options("--check", "--json")) == 0
    data = json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))
    assert data["current"] is True
    assert len(data["uncovered"]) == 36


def test_a_wrong_quoted_number_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "proofs_map.md").write_text(proofs_map.render(empty()))
    (tmp_path / "README.md").write_text("<!-- number: statements -->30<!-- /number --> statements")
    monkeypatch.setattr(proofs_map, "path", lambda: tmp_path / "proofs_map.md")
    monkeypatch.setattr(command, "trace", empty)
    assert command.run(options("--check")) == 1
    assert "README.md:1: '30' is quoted as statements, which gives 29" in capsys.readouterr().out


def test_an_installed_copy_has_no_map(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for module in (links, proofs_map, command, coverage):
        monkeypatch.setattr(module, "checkout", lambda: None)
    with pytest.raises(InputError, match="an installed copy does not have: run dpso trace --check or --write in one"):
        command.run(options("--check"))
    assert command.run(options("lem:oracle")) == 0
    assert "the tests are not part of it" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------ a copy of the paper


def test_the_paper_is_the_text_that_was_checked(paper_tex: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(options("--paper", str(paper_tex))) == 0
    assert "82 labels, 0 unknown; 0 uncovered algorithm lines" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("f_{\\beta}(w,(x,y)) = \\ellb", "f_{\\beta}(w,(x,y)) = 2\\ellb", "lem:f_smoothness (Lemma 4)"),
        ("\\tau\\leq 8L_0^2/\\beta", "\\tau\\leq 9L_0^2/\\beta", "lem:oracle/proof (Lemma 5)"),
        ("\\STATE $b=m_{t}$", "\\STATE $b=2m_{t}$", "Alg:gll_oracle:7"),
        ("\\STATE $b=m_{t}$", "\\STATE $b=m_{t}$ \\STATE more", "Alg:gll_oracle:12"),
        ("\\label{lem:oracle}", "\\label{lem:newname}", "lem:newname (line 338)"),
        ("\\label{lem:oracle}", "\\label{lem:newname}", "lem:oracle (Lemma 5)"),
        ("In this section we consider", "In that section we consider", "sec:cnvx_glms (text of Section 3)"),
        ("\\newcommand{\\cA}{\\mathcal{A}}", "\\newcommand{\\cA}{A}", "the preamble"),
        ("\\begin{lem} \\label{lem:moreau}", "\\begin{rem}\\end{rem}\\begin{lem}\\label{lem:moreau}", "moreau: 3 → 4"),
        ("Some comments are in order.", "Some remarks are in order.", "rem:nsmth_ncnvx (Remark 21)"),
        ("\\frac{1}{\\sqrt{n}}+\\frac{\\sqrt{d}}{n\\varepsilon} $ & Nearly", "0$ & Nearly", "table:results (Table 1)"),
    ],
)
def test_a_changed_copy_is_located(paper_tex: Path, tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = paper_tex.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    copy = tmp_path / "copy.tex"
    copy.write_text(text.replace(old, new, 1), encoding="utf-8")
    result = paper_copy.compare_file(load(), copy)
    assert not result.identical
    assert any(expected in entry for entries in result.paragraphs.values() for entry in entries), result.paragraphs
    assert command.run(options("--paper", str(copy))) == 1


def test_comments_and_notes_do_not_count_as_changes(paper_tex: Path) -> None:
    text = paper_tex.read_text(encoding="utf-8")
    noisy = text.replace("\n\\begin{lem}", "\n% a comment\n\\mnote{a note}\\begin{lem}").replace("\n", "\r\n")
    assert paper_copy.compare(load(), tex.read(noisy)).identical


def test_a_section_with_line_verdicts_has_one_for_every_line(paper_tex: Path) -> None:
    """Strict about a section once its file exists (section3.toml): every line of its text belongs to an entry."""
    inventory, text = load(), paper_tex.read_text(encoding="utf-8")
    files = {line.file for line in inventory.lines}
    begun = [s for s in inventory.sections if f"section{s.number}.toml" in files]
    left = paper_copy.unjudged(inventory, text)
    missing = {s.number: [n for n in left if s.tex[0] <= n <= s.tex[1]] for s in begun}
    assert {number: lines for number, lines in missing.items() if lines} == {}


def test_lines_without_a_verdict_are_counted(paper_tex: Path) -> None:
    text = paper_tex.read_text(encoding="utf-8")
    bare = dataclasses.replace(load(), lines=())
    everything = paper_copy.unjudged(bare, text)
    assert 1000 < len(everything) < 1300
    assert not [n for n in everything if n < 131 or 1286 <= n <= 1548], "the preamble and the references are no text"
    one = Line("lem:oracle/1", (338, 344), "a", "prose", file="section3.toml")
    left = paper_copy.unjudged(dataclasses.replace(bare, lines=(one,)), text)
    assert set(everything) - set(left) == set(range(338, 345))
    assert paper_copy.ranges([3, 4, 5, 8]) == "3–5, 8"


def test_what_is_not_the_paper_is_one_line(tmp_path: Path) -> None:
    other, binary, latin, large = (tmp_path / name for name in ("other.tex", "b.tex", "l.tex", "big.tex"))
    other.write_text("\\documentclass{article}\\begin{document}Hello\\end{document}")
    binary.write_bytes(b"\\begin{document}\0\\end{document}")
    latin.write_bytes("Guzmán".encode("latin-1"))
    large.write_bytes(b"%" * (paper_copy.LIMIT + 1))
    unclosed = tmp_path / "unclosed.tex"
    unclosed.write_text("\\begin{thm}")
    expected = {
        other: "is not this paper",
        binary: "is a binary file",
        latin: "is not UTF-8",
        large: "bytes, over",
        unclosed: "cannot be read as TeX",
        tmp_path: "is no regular file",
        tmp_path / "nothing.tex": "cannot be read (No such file",
        other / "x.tex": "cannot be read (Not a directory",
    }
    for path, message in expected.items():
        with pytest.raises(InputError, match=re.escape(message)) as refused:
            command.run(options("--paper", str(path)))
        assert "\n" not in str(refused.value)


# ------------------------------------------------------------------------------------------------ the graph


def test_the_graph_is_written_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "g.svg"
    assert command.run(options("--graph", str(target))) == 0
    assert target.read_text().startswith("<svg ")
    assert "35 nodes" in capsys.readouterr().out
    with pytest.raises(InputError, match="cannot be written"):
        command.run(options("--graph", str(tmp_path / "none" / "g.svg")))


# ------------------------------------------------------------------------------------------------ both ways


@pytest.mark.parametrize("name", ["lem:oracle", "LEM:ORACLE", "Lemma 5", "lemma5", "Lem. 5"])
def test_a_statement_is_found_by_id_and_by_printed_name(real: Traceability, name: str) -> None:
    data = describe(real, name)
    assert data["id"] == "lem:oracle"
    assert {u["id"] for u in data["uses"]} == {"def:glm", "lem:moreau", "Alg:gll_oracle"}
    assert "verdict: " in "\n".join(show(data))


def test_from_the_statement_to_the_code_and_back(real: Traceability) -> None:
    """Every function that a statement shows leads back to the statement, by name and by file and line."""
    assert real.code
    for one in real.code:
        by_name = describe(real, one.code)["links"]
        by_line = describe(real, f"{one.path}:{one.lines()[0]}")["links"]
        for found in (by_name, by_line):
            assert (one.id, one.kind, one.edition) in {(row["id"], row["kind"], row["edition"]) for row in found}


def test_every_numbered_line_can_be_shown(real: Traceability) -> None:
    for algorithm in real.inventory.algorithms:
        for number in range(1, len(algorithm.lines) + 1):
            data = describe(real, f"{algorithm.id}:{number}")
            assert data["about"] == algorithm.lines[number - 1].about
            assert len(data["code"]) >= len(real.bodies(algorithm)), "each body shows the line"


def test_a_line_of_a_body_leads_to_the_line_of_the_algorithm(real: Traceability) -> None:
    for algorithm in real.inventory.algorithms:
        for body in real.bodies(algorithm):
            (shown,) = [
                source for source in describe(real, f"{algorithm.id}:1")["code"] if f"({body.edition})" in source
            ][:1]
            place = shown.partition(" ")[0]
            assert any("L1" in str(row.get("algorithm lines", "")) for row in describe(real, place)["links"])


def test_tables_rows_sections_and_errata_can_be_shown(real: Traceability) -> None:
    assert describe(real, "table:results:4")["cites"]["id"] == "thm:privacy-noisySFW"
    assert describe(real, "sec:Preliminaries")["title"]
    for one in real.inventory.errata:
        shown = describe(real, one.id)
        assert shown["severity"] == one.severity
        assert [c["name"] for c in shown["checks"]] == [c.name for c in real.checks if one.id == c.erratum]
    overview = describe(real, None)
    assert len(overview["entries"]) == 29 + 6 + 21 + 1 + 1
    assert len(show(overview)) == 58 + len(real.inventory.errata)
    ours = describe(real, "own:prox_solver")
    assert ours["ours, beside"]["id"] == "thm:sc_dp_sco"
    assert ours["code"], "what we state has code"
    assert "own:prox_solver" in "\n".join(show(ours))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("lem:orcle", "did you mean lem:oracle?"),
        ("thm:l2glm", "did you mean thm:l2_glm?"),
        ("Alg:gll_oracle:12", "has lines 1 to 11"),
        ("reference.convex.nothing:f", "unknown id"),
        ("reference/numerics/numbers.py:999999", "unknown id"),
        ("", "unknown id"),
        ("☃\n☃", "unknown id"),
    ],
)
def test_an_unknown_id_is_refused_with_the_nearest(real: Traceability, name: str, hint: str) -> None:
    with pytest.raises(InputError, match=re.escape(hint)):
        describe(real, name)


def test_an_id_and_a_mode_exclude_each_other() -> None:
    with pytest.raises(InputError, match="goes without"):
        command.run(options("lem:oracle", "--check"))


def test_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(options("Alg:gll_oracle", "--json")) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["id"] == "Alg:gll_oracle"
    assert len(data["algorithm lines"]) == 11


def test_the_command_line_exits_2_with_one_line_for_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["lem:orcle"], ["--paper", str(tmp_path)], ["--check", "--write"], ["lem:oracle", "lem:oracle"]):
        assert main(["trace", *words]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert captured.err.startswith("dpso: ")
    assert main(["trace", "lem:oracle"]) == 0


def test_several_questions_are_answered_in_one_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target, written = tmp_path / "g.svg", tmp_path / "map.md"
    monkeypatch.setattr(proofs_map, "path", lambda: written)
    assert command.run(options("--graph", str(target), "--write", "--json")) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer) == {"write", "graph"}
    assert answer["write"]["written"] == "map.md"
    assert answer["graph"]["written"] == str(target)
    assert target.exists()
    assert written.exists()
