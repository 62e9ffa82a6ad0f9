"""The sheet for the authors: complete, in order, short enough, and TeX that compiles."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from audit.checks.results import read_record
from audit.cli.main import main
from audit.report.sheet import PARTS, Sheet, markdown, sheet, tex, texed, unshown
from reference.paper.inventory import FALSIFYING, SEVERITIES, load
from reference.paper.registry import Counterexample

MOST_PAGES = 8
TEX = shutil.which("pdflatex")


@pytest.fixture(scope="module")
def made() -> Sheet:
    more = {e.id: Counterexample(True, "it fails") for e in unshown(load(), read_record())}
    return sheet(load(), read_record(), "dpso 0.2.0", "2026-11-18", more)


def test_every_erratum_is_there_once_false_statements_first(made: Sheet) -> None:
    entries = [entry for part in made.parts.values() for entry in part]
    assert sorted(e.id for e in entries) == sorted(e.id for e in load().errata)
    order = [SEVERITIES.index(e.severity) for e in entries]
    assert order == sorted(order)
    assert {e.severity for e in made.parts["False as printed"]} <= set(FALSIFYING)
    assert set(PARTS) == set(made.parts)
    assert sorted(s for severities in PARTS.values() for s in severities) == sorted(SEVERITIES)


def test_an_entry_says_where_what_and_how_to_replay_it(made: Sheet) -> None:
    for entry in (e for part in made.parts.values() for e in part):
        assert entry.printed
        assert entry.corrected
        assert entry.replay == f"dpso errata {entry.id} --run"
        assert re.search(r"; pages? \d+(–\d+)?, TeX lines? \d+(–\d+)?$", entry.place)
        assert "sec:" not in entry.place
        assert "thm:" not in entry.place
        assert entry.exhibit, entry.id
        if entry.severity in FALSIFYING:
            assert entry.regime


def test_it_says_what_was_checked_and_by_what(made: Sheet) -> None:
    for text in (markdown(made), tex(made)):
        assert load().paper.sha256[:32] in text
        assert load().paper.arxiv in text
        assert "dpso 0.2.0 on 2026-11-18" in text
        assert "Later versions of the paper may differ" in text
        assert "falsity needs a lower bound" in text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("100% & #1_x", r"100\% \& \#1\ensuremath{_{\mathrm{x}}}"),
        ("η_{r,t−1}", r"\ensuremath{\eta}\ensuremath{_{\mathrm{r,t\ensuremath{-}1}}}"),
        ("2^{−R/2}", r"2\ensuremath{^{\mathrm{\ensuremath{-}R/2}}}"),
        ("p̄ and ŵ", r"\ensuremath{\bar{p}} and \ensuremath{\hat{w}}"),
        (
            "‖·‖_p̄²",
            r"\ensuremath{\|}\ensuremath{\cdot}\ensuremath{\|}\ensuremath{_{\mathrm{\ensuremath{\bar{p}}}}}\ensuremath{^2}",
        ),
        ("κ_+E", r"\ensuremath{\kappa}\ensuremath{_{\mathrm{+}}}E"),
        ("η_kL0", r"\ensuremath{\eta}\ensuremath{_{\mathrm{k}}}L0"),
        ("e^ε0", r"e\ensuremath{^{\mathrm{\ensuremath{\varepsilon}0}}}"),
        ("Guzmán", r"Guzm\'{a}n"),
        ("{a}\\b", r"\{a\}\textbackslash{}b"),
    ],
)
def test_text_as_tex(text: str, written: str) -> None:
    assert texed(text) == written


def test_every_character_is_known_to_tex(made: Sheet) -> None:
    assert "[U+" not in tex(made)
    assert "[U+2603]" in texed("☃")
    code = re.compile(r"\\texttt\{[^}]*\}|thm:[^ ,]*")  # commands and labels keep their underscores
    assert not re.findall(r".{20}\\_[^ ].{10}", code.sub("", tex(made)))


def test_markdown_of_the_texts_stays_text(made: Sheet) -> None:
    lines = markdown(made).splitlines()
    assert sum(line.startswith("* **E") for line in lines) == len(load().errata)
    assert sum(line.startswith("## ") for line in lines) == len(PARTS)


def test_no_marks_of_our_own_are_left_in_it(made: Sheet) -> None:
    """Names of modules in backticks and starred words mean nothing to the authors."""
    for entry in (e for part in made.parts.values() for e in part):
        said = f"{entry.title} {entry.printed} {entry.corrected} {entry.regime} {entry.stated} {entry.exhibit}"
        assert "`" not in said, entry.id
        assert not re.search(r"\*[a-z]+\*", said), entry.id


def test_every_exhibit_and_command_is_in_print(made: Sheet) -> None:
    text, source = markdown(made), tex(made)
    for entry in (e for part in made.parts.values() for e in part):
        assert f"`{entry.replay}`" in text
        assert rf"\texttt{{{texed(entry.replay)}}}" in source
        assert texed(entry.exhibit) in source, entry.id


def test_a_sheet_of_a_text_whose_pages_are_not_known_names_none() -> None:
    known = replace(load(), paper=replace(load().paper, page_starts=()))
    found = sheet(known, read_record(), "dpso 0.2.0", "2026-11-18", {})
    places = [entry.place for part in found.parts.values() for entry in part]
    assert not [place for place in places if "page" in place]
    assert "pdfLaTeX" not in found.checked


def pdflatex(file: Path) -> str:
    """What pdfLaTeX says of a file, set in its folder; a failure if it stops."""
    command = [TEX or "", "-interaction=nonstopmode", "-halt-on-error", file.name]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, timeout=300, check=False)
    output = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, output[-2000:]
    return output.replace("\n", "")


@pytest.fixture
def tex_installed(capfd: pytest.CaptureFixture[str]) -> None:
    """Without a TeX a test is skipped, and says so on the terminal; where DPSO_TEX=required, it fails."""
    if TEX is None and os.environ.get("DPSO_TEX") == "required":
        pytest.fail("DPSO_TEX=required, and no pdflatex is installed")
    if TEX is None:
        message = "NO TeX IS INSTALLED: the sheet for the authors was not compiled (DPSO_TEX=required makes this fail)"
        with capfd.disabled():
            print(f"\n{message}", file=sys.stderr)
        pytest.skip(message)


@pytest.mark.usefixtures("tex_installed")
def test_the_tex_compiles_on_at_most_eight_pages(made: Sheet, tmp_path: Path) -> None:
    (tmp_path / "errata.tex").write_text(tex(made), encoding="utf-8")
    output = pdflatex(tmp_path / "errata.tex")
    pages = re.search(r"\((\d+) pages?,", output)
    assert pages is not None
    assert 1 <= int(pages[1]) <= MOST_PAGES
    assert "Overfull" not in output


@pytest.mark.usefixtures("tex_installed")
def test_the_pages_are_those_of_the_text(paper_tex: Path, tmp_path: Path) -> None:
    """The labels of the checked text, compiled, stand on the pages that the sheet names."""
    if sha256(paper_tex.read_bytes()).hexdigest() != load().paper.sha256:
        pytest.skip("this copy of the paper is not the one that was checked")
    needed = ("cellspace.sty", "algorithm.sty", "algorithmic.sty", "tikz.sty", "natbib.sty")
    finder = shutil.which("kpsewhich")
    found = subprocess.run([finder or "false", *needed], capture_output=True, text=True, check=False)
    if len(found.stdout.splitlines()) < len(needed):
        pytest.skip(f"this TeX lacks one of {', '.join(needed)}: the paper was not compiled")
    copy = Path(shutil.copy(paper_tex, tmp_path / "paper.tex"))
    pdflatex(copy)
    pdflatex(copy)
    labels = re.finditer(
        r"\\newlabel\{([^}]*)\}\{\{[^}]*\}\{(\d+)\}", copy.with_suffix(".aux").read_text(errors="replace")
    )
    page = {label[1]: int(label[2]) for label in labels}
    placed = [entry for entry in load().entries.values() if entry.id in page]
    assert len(placed) > 60
    for entry in placed:
        first, last = map(load().paper.page, entry.tex)
        assert first <= page[entry.id] <= last, entry.id


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.cli.errata.unshown", lambda known, record: [])
    assert main(["errata", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert list(data["parts"]) == list(PARTS)
    assert main(["errata", "--format", "tex"]) == 0
    assert capsys.readouterr().out.rstrip().endswith(r"\end{document}")
    assert main(["errata", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("# Errata: ")
    assert main(["errata", "E3.1", "--format", "tex"]) == 2
    assert "drop ID, --run and --json" in capsys.readouterr().err
