"""The tour: its figures are what the code draws, its code prints what it shows, its commands exist and work."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from audit.cli.main import build_parser, command_modules, main
from docs import make_tour, quoted_numbers

ROOT = Path(__file__).parents[2]
TOUR = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("docs/tour.md", "examples/README.md")}
BLOCKS = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", TOUR, re.DOTALL)
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", TOUR, re.DOTALL) for line in block.splitlines()]
QUICK = ("errata E3.1", "errata E4.1", "trace", "calibrate")


@pytest.mark.parametrize("name", [*make_tour.FIGURES, *make_tour.MEASURED])
def test_a_figure_is_what_the_code_draws(name: str) -> None:
    committed = (ROOT / "docs" / "figures" / f"{name}.svg").read_text(encoding="utf-8")
    assert committed == make_tour.draw(name), "python -m docs.make_tour draws it again"


def test_the_tour_shows_every_figure_and_no_other() -> None:
    assert sorted(re.findall(r"\(figures/([\w-]+)\.svg\)", TOUR)) == sorted(make_tour.FIGURES)
    assert {file.stem for file in (ROOT / "docs" / "figures").iterdir()} == set(make_tour.FIGURES | make_tour.MEASURED)
    assert all(len(alt) > 10 for alt in re.findall(r"!\[(.*?)\]", TOUR))


def test_the_readme_shows_what_was_measured() -> None:
    shown = re.findall(r"\(docs/figures/([\w-]+)\.svg\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(make_tour.MEASURED)


def test_a_changed_figure_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    before = make_tour.draw("halving")
    monkeypatch.setattr(quoted_numbers, "TILT", quoted_numbers.TILT / 2)
    assert make_tour.draw("halving") != before


@pytest.mark.parametrize(("code", "shown"), BLOCKS)
def test_the_code_prints_what_is_shown(code: str, shown: str) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "tour.md", "exec"), {})
    assert out.getvalue() == shown


def test_there_are_code_and_commands() -> None:
    assert len(BLOCKS) == TOUR.count("```python") == 2
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_tour_works(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *words = shlex.split(line, comments=True)
    assert program == "dpso"
    parser, _ = build_parser(command_modules())
    parser.parse_args(words)
    if " ".join(words).startswith(QUICK):
        refused = "# refuses" in line
        assert main(words) == (2 if refused else 0)
        assert ("no guarantee" in capsys.readouterr().err) is refused


@pytest.mark.parametrize("name", PAGES)
def test_no_measured_number_stands_unmarked(name: str) -> None:
    """Decimals outside code, markers, errata ids and settings (confidences and probabilities) are quotations."""
    text = re.sub(r"```.*?```|`[^`]*`|<!-- number:.*?<!-- /number -->|<!--.*?-->", " ", PAGES[name], flags=re.DOTALL)
    text = re.sub(r"\bE[\dB]\.\d+|c = 0\.95|default 99\.9 %|probability 0\.95", " ", text)
    assert re.findall(r"\d+\.\d+|\d+ times", text) == []
