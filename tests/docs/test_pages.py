"""The pages of docs/: their Python runs and prints what they show, their commands parse, their links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from audit.cli.main import build_parser, command_modules

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*/*.md"))
"""The pages in folders; those beside them (tour, measured, …) have tests of their own."""
_BLOCK = re.compile(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)
_SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
NEED_FILES = "mymodule"


def named(path: Path) -> str:
    return path.relative_to(ROOT / "docs").as_posix()


WITH_CODE = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", WITH_CODE, ids=named)
def test_the_code_of_a_page_runs_from_top_to_bottom(page: Path) -> None:
    names: dict[str, object] = {"__name__": "page"}
    shown = 0
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block[1], page.name, "exec"), names)
        if block[2] is not None and "def run(case)" not in block[1]:  # a client prints nothing itself
            assert out.getvalue() == block[2], block[1]
            shown += 1
    assert shown or page.parent.name == "how-to" or "reading" in page.name


COMMANDS = [
    (named(page), line)
    for page in PAGES
    for block in _SHELL.findall(page.read_text(encoding="utf-8"))
    for line in block.splitlines()
]


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_of_a_page_parses(page: str, line: str) -> None:
    program, *words = shlex.split(line, comments=True)
    assert program == "dpso", page
    parser, _ = build_parser(command_modules())
    parser.parse_args(words)


def test_the_pages_have_commands() -> None:
    assert len(COMMANDS) >= 10


def test_the_answers_that_the_training_page_does_not_print() -> None:
    """The verdict of the canaries depends on luck that the page need not show; that there is one does not."""
    text = (ROOT / "docs" / "tutorials" / "training-run.md").read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "page"}
    block = next(b for b in _BLOCK.finditer(text) if "with_canaries" in b[1])
    code = block[1].replace("rng.normal(0, 20.0, 400)", "rng.normal(0, 1.0, 400)")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("import numpy as np\n" + code, "training-run.md", "exec"), names)
    assert out.getvalue() == "violated\n"  # with little noise the claim is refuted


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "docs").glob("*.md"))], ids=named)
def test_no_private_metaphors_are_left(page: Path) -> None:
    """Everyday words on the surface: these had their time."""
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"\b(?:slips? of the pen|speaks for the|flicker\w*|leans? on|crew|storey|rung)\b", text) == []
