"""The workshop: workflows, hooks and CONTRIBUTING name commands, files and marks that exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import settings

from audit.cli.main import command_modules

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))
PAGES = ["CONTRIBUTING.md", "SECURITY.md"]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(workflow: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, job in workflow["jobs"].items():
        yield from ((name, step) for step in job["steps"])


# ---------------------------------------------------------------------------------------------------- workflows


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_a_workflow_is_sound(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow[True]  # YAML reads the key `on` as a truth value
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 60, name
        assert set(job.get("needs", "").split()) <= set(workflow["jobs"])
    for name, step in steps(workflow):
        assert ("uses" in step) != ("run" in step), (name, step)
        assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/x@v1")), "only the forge's own actions"


def test_every_command_of_a_workflow_exists() -> None:
    seen = set()
    for path in WORKFLOWS:
        for _, step in steps(read(path)):
            words = shlex.split(re.sub(r"\$\{\{.*?\}\}", "x", step.get("run", "")))
            if words[:1] == ["make"]:
                seen.add(words[1])
    assert seen <= TARGETS
    assert seen >= {"test", "audit", "lint", "install-check", "coverage", "nightly", "dist", "release-check"}


def test_every_supported_python_is_tried() -> None:
    versions = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["linux"]["strategy"]["matrix"]["python"]
    classified = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert versions == classified
    assert len(versions) >= 4


def test_only_the_publishing_job_may_ask_for_an_identity() -> None:
    asking = [
        (path.name, name)
        for path in WORKFLOWS
        for name, job in read(path)["jobs"].items()
        if "id-token" in job.get("permissions", {})
    ]
    assert asking == [("release.yml", "publish")]


def test_the_gate_of_this_tree_is_that_of_the_forge() -> None:
    gate = re.findall(r"^make ([\w-]+)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
    assert gate == ["test", "lint", "docs", "install-check"]
    assert set(gate) <= TARGETS


@pytest.mark.parametrize(("tag", "code"), [("v{version}", 0), ("{version}", 2), ("v{version}1", 2), ("", 2)])
def test_a_tag_must_be_the_version(tag: str, code: int) -> None:
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version
    words = ["make", "-s", "release-check", f"TAG={tag.format(version=version[1])}", f"VENV={Path(sys.prefix)}"]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == code, run.stderr
    assert ("pyproject.toml says" in run.stderr) == bool(code)


# ------------------------------------------------------------------------------------------------------- hooks


def test_the_hooks_are_those_of_make_lint() -> None:
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    entries = [hook["entry"] for hook in repository["hooks"]]
    recipe = MAKEFILE.partition("\nlint:")[2].partition("\n\n")[0]
    commands = [line.replace("$(BIN)", ".venv/bin").strip() for line in re.findall(r"^\t@(\$\(BIN\).*)", recipe, re.M)]
    assert [command.removesuffix(" .") for command in commands] == entries


# -------------------------------------------------------------------------------------------------------- pages


@pytest.mark.parametrize("page", PAGES)
def test_paths_and_commands_of_the_pages_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    quoted = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    for path in {q for q in quoted if re.fullmatch(r"\.?[\w-]+(/[\w.-]*)+|[\w.-]+\.(md|toml|cff)", q)} - {"/proc"}:
        assert (ROOT / path).exists(), path
    for words in (q.split() for q in quoted):
        if words[0] == "make" and words[1:]:
            assert {w for w in words[1:] if re.fullmatch(r"[a-z-]+", w)} <= TARGETS, words
        if words[0] == "dpso" and words[1:]:
            assert words[1] in command_modules(), words
    for link in re.findall(r"\]\(([^):]+)\)", text):
        assert (ROOT / link).exists(), link


def test_contributing_says_how_to_add_each_thing() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    added = re.findall(r"^### (.*)$", text, re.MULTILINE)
    assert added == ["an erratum", "a check", "a claim", "a lint of the auditor", "a test vector"]


# -------------------------------------------------------------------------------------------------------- tests


class Item:
    def __init__(self, *marks: pytest.Mark):
        self.marks = {mark.name: mark for mark in marks}

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.marks.get(name)


def test_what_needs_linux_is_skipped_elsewhere_with_its_reason(request: pytest.FixtureRequest) -> None:
    plugins = request.config.pluginmanager.get_plugins()
    (only_on_linux,) = (p.only_on_linux for p in plugins if hasattr(p, "only_on_linux"))  # in tests/conftest.py
    marked, free = Item(pytest.mark.linux("/proc").mark), Item()
    skip = only_on_linux(marked, "darwin")
    assert skip is not None
    assert skip.mark.kwargs == {"reason": "needs Linux (/proc), and this is darwin"}
    assert only_on_linux(marked, "linux") is None
    assert only_on_linux(free, "darwin") is None


def reads_proc(text: str) -> bool:
    """Whether a test file reads /proc as if it were everywhere: no mark, and no question whether the file exists."""
    guarded = re.sub(r'Path\(f("/proc/[^"]*")\)\.exists\(\) and Path\(f\1\)', "", text)
    return 'Path(f"/proc/' in guarded and "mark.linux(" not in text


def test_tests_that_read_proc_are_marked() -> None:
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]
    assert [path.name for path in files if reads_proc(path.read_text(encoding="utf-8"))] == []
    read = 'Path(f"/proc/{pid}/stat")'
    assert reads_proc(f"{read}.read_text()")
    assert not reads_proc(f"{read}.exists() and {read}.read_text()")
    assert not reads_proc(f"@pytest.mark.linux('why')\n{read}.read_text()")


def test_hypothesis_repeats_itself_by_day_and_not_by_night() -> None:
    day, night = settings.get_profile("dpso"), settings.get_profile("nightly")
    assert day.derandomize
    assert not night.derandomize
    assert (night.database, night.deadline) == (None, None)
