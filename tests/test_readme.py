"""The README's own words: its code runs and prints what is shown, its commands exist, its tables have backing."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

from audit.cli.main import build_parser, command_modules, main
from docs import excerpt

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs" / "tutorials" / "cross-checking.md").read_text(encoding="utf-8")
TUTORIAL_BLOCKS = re.findall(r"```python\n(.*?)```", TUTORIAL, re.DOTALL)
FINDINGS = (ROOT / "docs" / "findings-of-the-paper.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHOWN = re.findall(r"```text\n(.*?)```", README, re.DOTALL)


def run(code: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    return out.getvalue()


def test_the_audit_in_the_readme_finds_the_violation() -> None:
    (code,) = (b for b in BLOCKS if "mean_of_ages" in b)
    (shown,) = (t for t in SHOWN if t.startswith("VIOLATED"))
    assert run(code).startswith(shown.strip())
    assert run(code.replace("/ 2)", "* 1)")).startswith("CONSISTENT")  # the repaired twin


def test_the_client_of_the_tutorial_leaves_the_paper_where_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = (b for b in TUTORIAL_BLOCKS if "def run(case)" in b)
    (shown,) = (t for t in re.findall(r"```text\n(.*?)```", TUTORIAL, re.DOTALL) if t.startswith("first difference"))
    slip = "(u, high) if rising else (low, u)"
    assert slip in code
    (tmp_path / "readme_slip.py").write_text(code, encoding="utf-8")
    (tmp_path / "readme_right.py").write_text(code.replace(slip, "(low, u) if rising else (u, high)"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.syspath_prepend(tmp_path)
    command = ["crosscheck", "gll-oracle", "--python"]
    assert main([*command, "readme_slip:run"]) == 1
    assert capsys.readouterr().out.startswith(shown)
    for case in ("absolute", "label-on-m"):  # the repaired twin; what it must refuse it does not
        chosen = ["--case", f"gll-oracle-corrected-{case}"]
        assert main([*command, "readme_right:run", *chosen]) == 3
        assert "unchecked, by line" in capsys.readouterr().out
        assert main([*command, "readme_right:run", *chosen, "--outputs-only"]) == 0


def test_the_oracle_of_the_tutorial_is_within_and_a_slip_is_not() -> None:
    (code,) = (b for b in TUTORIAL_BLOCKS if "my_oracle" in b)
    assert run(code) == "within\n"
    assert run(code.replace("beta * (1", "beta / 2 * (1")) == "exceeded\n"


def test_the_javascript_of_the_page_answers(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("needs node")
    foreign = (ROOT / "docs" / "foreign.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```javascript\n(.*?)```", foreign, re.DOTALL)
    (tmp_path / "noisy.js").write_text(code)
    data = '{"dataset": [0, 1], "neighbour": [1, 1]}'
    command = ["test", "--exec", f"node {tmp_path / 'noisy.js'}", "--data", data, "--samples", "2000"]
    assert main([*command, "--epsilon", "1", "--confidence", "0.999999"]) == 0
    assert main([*command, "--epsilon", "0.25"]) == 1


COMMANDS = [line.partition("#")[0] for line in README.splitlines() if line.startswith("dpso ")]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_readme_parses(line: str) -> None:
    parser, _ = build_parser(command_modules())
    parser.parse_args(shlex.split(line)[1:])


def test_the_readme_shows_every_journey() -> None:
    assert {line.split()[1] for line in COMMANDS} >= {"test", "crosscheck", "trace", "errata", "calibrate"}


def test_the_excerpt_of_the_audit_is_what_is_recorded() -> None:
    page = (ROOT / "docs" / "findings-of-the-paper.md").read_text(encoding="utf-8")
    assert page.count("<!-- excerpt: audit -->") == 1
    assert excerpt.renewed(page) == page, "dpso trace --write renews it"
    stale = page.replace(" numbered statements: ", " numbered statements: 99 hold; ")
    assert stale != page
    assert excerpt.renewed(stale) == page


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[><=]", d)[0] for d in project["dependencies"]}
    page = (ROOT / "docs" / "reference" / "dependencies.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| ([\w-]+)(?: ≥ [\d.]+)? \| \w", page, re.MULTILINE))
    assert names <= rows
    for extra in project["optional-dependencies"]:
        assert f"`{extra}`" in page


BACKING = {
    "lower bounds on ε from samples": "auditor/test_api::test_no_false_alarm_at_the_exact_epsilon",
    "finds neighbours itself": "auditor/test_api::test_search_finds_the_pair",
    "one error level for the whole search": "auditor/test_api::test_several_pairs_share_one_level",
    "valid at every look (anytime)": "auditor/test_api::test_anytime_stays_silent_on_correct_mechanisms",
    "any output: strings, tuples, ragged, None": "auditor/terms/test_outputs::test_every_kind_is_an_outcome_of_its_own",
    "replay of both neighbours on the same noise": (
        "auditor/lints/test_recorder::test_a_replay_repeats_draws_choices_and_sums"
    ),
    "lints for foreign code": "auditor/lints/test_rules::test_the_bug_is_found_by_looking",
    "upper bounds on ε": "accounting/test_accountants::test_every_account_is_private_at_its_target",
    "code tied to proofs": "trace/test_trace::test_the_committed_map_is_what_the_links_give",
    "cross-checking of implementations": (
        "crosscheck/test_compare::test_the_first_divergence_names_line_quantity_numbers_and_flag"
    ),
}
"""What is said of dpso beside other tools, and the test that would fail if it were not so."""


def test_what_is_claimed_beside_other_tools_has_a_test() -> None:
    table = (ROOT / "docs" / "beside-other-tools.md").read_text(encoding="utf-8")
    lines = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line] for line in lines)
    assert len(head) == 10
    assert {len(row) for row in rows} == {10}
    assert {row[0] for row in rows if row[1].startswith("yes")} == set(BACKING)
    for test in BACKING.values():
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / "tests" / "audit" / f"{file}.py").read_text(encoding="utf-8")
    notes = "\n".join(line for line in table.splitlines() if not line.startswith("|"))
    marks = re.findall(r"[¹²³⁴⁵⁶]", "".join(cell for row in rows for cell in row))
    assert set(marks) == set("¹²³⁴⁵⁶") == set(re.findall(r"([¹²³⁴⁵⁶]) \w", notes))


def anchors(text: str) -> set[str]:
    """The places of a Markdown page that a link can name."""
    headings = re.findall(r"^#+ (.+)", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


MADE = [ROOT / "docs" / "reference" / f"{name}.md" for name in ("commands", "schemas")]
LINKED = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "examples/README.md", "examples/crosscheck/README.md"]
LINKED += sorted(
    page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md") if page.name != "README.template.md"
)


@pytest.mark.parametrize("page", LINKED)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^):]+)\)", text):
        name, _, place = link.partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        if target.resolve() in MADE:
            continue  # a page that the site makes; `make docs` follows links to it
        assert target.exists(), link
        assert not place or place in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:reference|audit|docs|examples)/[\w./-]+)`", README + FINDINGS)))
)
def test_every_path_that_is_named_exists(path: str) -> None:
    assert (ROOT / path).exists()
