"""The inventory: what it counts, what it refuses, and the TeX reader that its hashes come from."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from reference.paper import tex
from reference.paper.inventory import ERRATA, PAPER, Erratum, InventoryError, load, read

ROOT = Path(__file__).parents[3]


# ----------------------------------------------------------------------------------------- what is there


def test_counts_of_the_paper() -> None:
    inventory = load()
    assert len(inventory.statements) == 29
    assert sum(not s.label for s in inventory.statements) == 4
    assert [len(a.lines) for a in inventory.algorithms] == [11, 13, 9, 15, 18, 5]
    assert len(inventory.equations) == 21
    assert [len(t.rows) for t in inventory.tables] == [5]


def test_printed_names() -> None:
    entries = load().entries
    ids = ("lem:oracle", "Alg:PGPSMD", "eqn:CTNSP_DP_prox", "table:results", "rem:nsmth_ncnvx")
    names = [getattr(entries[id], "name", "") for id in ids]
    assert names == ["Lemma 5", "Algorithm 6", "(16)", "Table 1", "Remark 21"]


def test_find_knows_lines_rows_and_places() -> None:
    find = load().find
    assert find("Alg:gll_oracle:11") is find("Alg:gll_oracle")
    assert find("table:results:5") is find("table:results")
    assert find("sec:Preliminaries/dual-norm") is find("sec:Preliminaries")
    assert find("Alg:gll_oracle:7/left") is find("Alg:gll_oracle")
    for unknown in ("Alg:gll_oracle:12", "Alg:gll_oracle:0", "Alg:gll_oracle:01", "lem:oracle:1", "lem:", "", "x/y"):
        assert find(unknown) is None, unknown


def test_uses_and_used_by_are_two_sides() -> None:
    inventory = load()
    for id in inventory.entries:
        for other in inventory.uses(id):
            assert id in inventory.used_by(other)
    assert "thm:l2_glm" in inventory.used_by("lem:oracle")


# ------------------------------------------------------------------------------------------ what is refused


def spoil(tmp_path: Path, old: str, new: str, errata: str = "", lines: str = "") -> str:
    """Read the inventory with one spot changed; the message with which it is refused."""
    text = PAPER.read_text(encoding="utf-8")
    assert text.count(old) >= 1, old
    paper, errata_file, lines_file = (tmp_path / name for name in ("paper.toml", "errata.toml", "section9.toml"))
    paper.write_text(text.replace(old, new, 1), encoding="utf-8")
    errata_file.write_text(errata, encoding="utf-8")
    lines_file.write_text(lines, encoding="utf-8")
    with pytest.raises(InventoryError) as refused:
        read(paper, errata_file, [lines_file])
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "lem:moreau"', 'id = "lem:oracle"', "lem:oracle is there twice"),
        ("number = 5\n", "number = 6\n", "lem:oracle is number 6, not 5"),
        ('uses = ["defn:regular_subdifferential"]', 'uses = ["defn:nothing"]', "uses 'defn:nothing'"),
        ('uses = ["defn:regular_subdifferential"]', 'uses = ["cor:smooth_implies_wk_cvx"]', "depends on itself"),
        ('kind = "lemma"\n', "", "lem:adv_comp lacks the field 'kind'"),
        ('kind = "lemma"\n', 'kind = "lemma"\nkinds = 1\n', "has an unknown field 'kinds'"),
        ('kind = "lemma"\n', "kind = 3\n", "lem:adv_comp.kind is 3, it must be of type str"),
        ("tex = [242, 245]", "tex = [242, 2450]", "lem:adv_comp has tex = [242, 2450]: the file has 1751 lines"),
        ("tex = [242, 245]", "tex = [245, 242]", "lem:adv_comp has tex = [245, 242]"),
        ('hash = "1ba20642abb0cbe9"', 'hash = "1ba2"', "must be 16 hexadecimal digits"),
        ('section = "2"', 'section = "2.7"', "is in no section '2.7'"),
        ('cites = "thm:l1_glm"', 'cites = "thm:l3_glm"', "cites 'thm:l3_glm'"),
        ('inside = "Alg:PGPSMD"', 'inside = "Alg:other"', "is inside 'Alg:other'"),
        ("[[table]]", "[[tables]]", "tables is no table of this file"),
        ("[paper]", "[paper", "paper.toml: "),
        ('id = "own:prox_solver"', 'id = "thm:ours"', "thm:ours is a statement of ours: its id must begin with own:"),
        ('beside = "thm:sc_dp_sco"', 'beside = "thm:x"', "own:prox_solver stands beside 'thm:x', which is no entry"),
        ('beside = "thm:sc_dp_sco"', 'beside = "lem:oracle"', "own:prox_solver must have the tex of lem:oracle"),
    ],
)
def test_a_broken_inventory_is_refused_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert message in spoil(tmp_path, old, new)


ERRATUM = """
[[erratum]]
id = "E3.1"
title = "t"
where = ["Alg:gll_oracle"]
lines = [6]
tex = [315, 315]
severity = "privacy"
regime = "always"
falsifies = ["Alg:gll_oracle"]
printed = "p"
corrected = "c"
cost = "none"
cost_kind = "free"
affects = "a"
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "E3.1"', 'id = "X3"', "X3 is no id"),
        ('"Alg:gll_oracle"', '"Alg:nothing"', "E3.1 is at unknown 'Alg:nothing'"),
        ("lines = [6]", "lines = [12]", "E3.1 names line 12"),
        (
            '"privacy"',
            '"grave"',
            "severity must be one of privacy, rate, accuracy, edge, proof",
        ),
        ('falsifies = ["Alg:gll_oracle"]\n', "", "is of severity privacy: falsifies must name what is false"),
        (
            'falsifies = ["Alg:gll_oracle"]',
            'falsifies = ["lem:oracle"]',
            "falsifies names lem:oracle, which where",
        ),
        ('regime = "always"\n', "", "is of severity privacy: regime must say where"),
        ('"privacy"', '"misprint"', "is of severity misprint: falsifies must be empty, it is Alg:gll_oracle"),
        (
            '"privacy"\nregime = "always"\nfalsifies = ["Alg:gll_oracle"]',
            '"proof"\nregime = "x"',
            "proof: no regime",
        ),
        ('"privacy"\nregime = "always"\nfalsifies = ["Alg:gll_oracle"]', '"condition"', "regime must say where"),
        ('"privacy"', '"privacy"\nstated = "line 3"', "stated is for a condition or a misprint"),
        ('where = ["Alg:gll_oracle"]', "where = []", "must say where it is"),
        ("tex = [315, 315]", "tex = [0, 315]", "tex = [0, 315]"),
        (ERRATUM, ERRATUM + ERRATUM, "E3.1 is there twice"),
        ('cost = "none"\n', "", "lacks the field 'cost'"),
        ('cost_kind = "free"', 'cost_kind = "cheap"', "E3.1 cost_kind must be one of free, free in range, paid"),
    ],
)
def test_a_broken_erratum_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert message in spoil(tmp_path, "[paper]", "[paper]", errata=ERRATUM.replace(old, new))


def test_an_erratum_of_two_algorithms_can_name_their_lines() -> None:
    base = Erratum("E4.4", "t", ("alg:polySFW", "alg:nSFW"), (4, 9), (1, 1), "misprint", "p", "c", "none", "free", "a")
    assert base.lines_of("alg:polySFW") == base.lines_of("alg:nSFW") == (4, 9)
    assert base.lines_of("Alg:nfw") == ()
    named = dataclasses.replace(base, where=("alg:polySFW", "alg:nSFW:4", "alg:nSFW:10"))
    assert named.lines_of("alg:polySFW") == (4, 9)
    assert named.lines_of("alg:nSFW") == (4, 10)
    inventory = dataclasses.replace(load(), errata=(named,))
    assert inventory.errata_of("alg:nSFW") == (named,)


def test_sections_go_by_the_names_that_readers_use() -> None:
    names = {section.id: section.name for section in load().sections}
    assert [names[id] for id in ("abstract", "sec:results", "app:weakcnvx", "sec:PNS_conseq", "sec:ack")] == [
        "Abstract", "Section 1.1", "Appendix B", "Appendix B.2.1", "Acknowledgements and references",
    ]  # fmt: skip


def test_errata_are_listed_by_section_and_number(tmp_path: Path) -> None:
    path = tmp_path / "errata.toml"
    path.write_text("".join(ERRATUM.replace("E3.1", id) for id in ("E3.10", "EB.1", "E3.9", "E1.2")), encoding="utf-8")
    assert [e.id for e in read(PAPER, path).errata] == ["E1.2", "E3.9", "E3.10", "EB.1"]


LINE = """
[[line]]
id = "lem:oracle/proof/4"
tex = [353, 353]
about = "a"
verdict = "holds"
check = ["tests/test_x.py::test_y"]
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lem:oracle/proof/4", "lem:nothing/4", "lem:nothing/4 belongs to no entry"),
        ('"holds"', '"true"', "has verdict 'true'"),
        ('check = ["tests/test_x.py::test_y"]', "", "claims a verdict without check"),
        ('"holds"', '"loose"', "is loose: give the tight constant"),
        (LINE, LINE + LINE, "is there twice"),
    ],
)
def test_a_broken_line_verdict_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert message in spoil(tmp_path, "[paper]", "[paper]", lines=LINE.replace(old, new))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match=r"nothing.toml: .*No such file"):
        read(PAPER, tmp_path / "nothing.toml")


def test_the_committed_files_are_accepted() -> None:
    assert read(PAPER, ERRATA, sorted((ROOT / "reference" / "paper" / "lines").glob("*.toml"))) == load()


# -------------------------------------------------------------------------------------------- the reader

SMALL = r"""
\documentclass{article}
\usepackage[noend]{algorithmic}
\newcommand{\mnote}[1]{}
\begin{document}
\begin{abstract} short \end{abstract}
\section{One}\label{sec:one}
\begin{thm}[Named \cite{x}]\label{thm:a} text % a comment \label{thm:ghost}
 more \mnote{a note with {braces} and \label{thm:note}
 over lines} text
\begin{proof} P \end{proof}
\end{thm}
\begin{lem} no label
\begin{equation}\label{eq:in} x = 1 \end{equation}
\end{lem}
\paragraph{Proof of Theorem \ref{thm:b}} passage
\subsection{\label{sec:two}Two}
\begin{align}
a &= \begin{array}{c} 1 \\ 2 \end{array} \nonumber \\
b &= {x \\ y} \label{eq:b} \\
c &= 3
\end{align}
\begin{defn}\label{thm:b} d 100\% sure \end{defn}
\begin{algorithm}
\caption{C}
\begin{algorithmic}[1]
\REQUIRE r
\STATE one \label{stp:one}
\FOR{$t$}
\IF{c} \STATE two
\ELSE \STATE three
\ENDIF
\ENDFOR
\end{algorithmic}
\label{alg:x}
\end{algorithm}
\appendix
\section{Extra}
\subsubsection{Deep}
\end{document}
"""


def labels_of_pieces(paper: tex.TexPaper) -> set[str]:
    """The labels that belong to something that was read."""
    lines = [line for algorithm in paper.algorithms for line in algorithm.lines]
    pieces = [*paper.statements, *paper.algorithms, *lines, *paper.equations, *paper.tables, *paper.sections]
    return {piece.label for piece in pieces if piece.label}


def test_the_reader_on_a_small_text() -> None:
    paper = tex.read(SMALL)
    assert [(s.label, s.number, s.kind, s.section) for s in paper.statements] == [
        ("thm:a", "1", "theorem", "1"),
        ("", "2", "lemma", "1"),
        ("thm:b", "3", "definition", "1.1"),
    ]
    assert [bool(s.proof) for s in paper.statements] == [True, False, True]
    assert [(e.label, e.number) for e in paper.equations] == [("eq:in", "1"), ("eq:b", "2"), ("", "3")]
    assert [(s.label, s.number) for s in paper.sections] == [
        ("", "0"),
        ("sec:one", "1"),
        ("sec:two", "1.1"),
        ("", "A"),
        ("", "A.0.1"),
    ]
    assert set(paper.labels) == {"sec:one", "thm:a", "eq:in", "sec:two", "eq:b", "thm:b", "stp:one", "alg:x"}
    assert labels_of_pieces(paper) == set(paper.labels)
    (algorithm,) = paper.algorithms
    assert [(line.number, line.label) for line in algorithm.lines] == [
        ("1", "stp:one"),
        ("2", ""),
        ("3", ""),
        ("4", ""),
        ("5", ""),
        ("6", ""),
    ]
    assert SMALL.splitlines()[algorithm.lines[0].tex[0] - 1].startswith(r"\STATE one")


def test_without_noend_the_closing_lines_count() -> None:
    (algorithm,) = tex.read(SMALL.replace("[noend]", "")).algorithms
    assert len(algorithm.lines) == 8


@pytest.mark.parametrize(
    "same",
    [
        SMALL.replace(" more ", "\n\n\tmore   "),
        SMALL.replace("\n", "\r\n"),
        SMALL.replace("a comment", "another comment"),
        SMALL.replace("a note with", "other words with"),
    ],
)
def test_comments_notes_and_white_space_do_not_change_a_hash(same: str) -> None:
    assert same != SMALL
    assert [s.hash for s in tex.read(same).statements] == [s.hash for s in tex.read(SMALL).statements]
    assert tex.read(same).text == tex.read(SMALL).text


def test_a_changed_word_changes_one_hash() -> None:
    before, after = tex.read(SMALL), tex.read(SMALL.replace("100\\% sure", "99\\% sure"))
    changed = [a.label for a, b in zip(before.statements, after.statements, strict=True) if a.hash != b.hash]
    assert changed == ["thm:b"]
    assert before.text != after.text


def test_an_escaped_percent_is_no_comment_and_a_line_break_before_one_is() -> None:
    assert tex.normalise(r"5\% of it") == r"5\% of it"
    assert tex.normalise(r"row \\% of it") == r"row \\"


@pytest.mark.parametrize(
    "bad",
    [r"\begin{thm} x", r"\end{thm}", r"\begin{thm}\begin{lem}\end{thm}\end{lem}", r"\mnote{open", r"\section{open"],
)
def test_what_is_not_closed_is_refused(bad: str) -> None:
    with pytest.raises(tex.TexError):
        tex.read(bad)


def test_the_inventory_is_what_the_reader_finds_in_the_paper(paper_tex: Path) -> None:
    paper, inventory = tex.read(paper_tex.read_text(encoding="utf-8")), load()
    found = [(s.kind, s.number, s.section, s.tex, s.hash, s.proof) for s in paper.statements]
    kept = [(s.kind, str(s.number), s.section, s.tex, s.hash, s.proof) for s in inventory.statements]
    assert found == kept
    for read_algorithm, kept_algorithm in zip(paper.algorithms, inventory.algorithms, strict=True):
        assert [line.hash for line in read_algorithm.lines] == [line.hash for line in kept_algorithm.lines]
    assert [(e.label, e.number, e.hash) for e in paper.equations] == [
        (e.id, str(e.number), e.hash) for e in inventory.equations
    ]
    assert len(paper.labels) == 82
    assert labels_of_pieces(paper) == set(paper.labels)
    assert paper.text == inventory.paper.hash


def test_a_numbered_line_is_a_line_of_the_algorithm_that_it_is_said_of() -> None:
    """`lines` counts for every algorithm in `where`: where there are several, each has the defect at that number.

    (A condition at line 2 of Algorithm 1 once stood at line 2 of Algorithms 2 and 3 too, which say something else.)
    """
    known = load()
    for erratum in known.errata:
        plain = [a for a in known.algorithms if a.id in erratum.where and erratum.lines]
        for algorithm in plain if len(plain) > 1 else ():
            for number in erratum.lines_of(algorithm.id):
                first, last = algorithm.lines[number - 1].tex
                assert max(first, erratum.tex[0]) <= min(last, erratum.tex[1]), (erratum.id, algorithm.id, number)
