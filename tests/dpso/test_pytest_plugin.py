"""The pytest plugin, in sessions of its own: the shared budget, what it refuses, and what it leaves behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from dpso import pytest_plugin as plugin

ROOT = Path(__file__).parents[2]
MECHANISMS = """
import pytest

def noisy(dataset, size, rng):
    return dataset[0] + rng.laplace(size=size)

PAIR, AUDIT = ([0], [1]), {"samples": 2000, "seed": 5, "lints": False}

"""


@pytest.mark.parametrize(
    ("mark", "count"),
    [(None, 1), (pytest.mark.dp, 1), (pytest.mark.dp(3), 3), (pytest.mark.dp(audits=2), 2)],
)
def test_a_test_announces_one_audit_unless_it_says_more(mark: Any, count: int) -> None:
    item: Any = SimpleNamespace(get_closest_marker=lambda name: mark and mark.mark, nodeid="x")
    assert plugin.announced(item) == count


def session(folder: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with our plugin alone on these tests."""
    (folder / "test_it.py").write_text(MECHANISMS + tests, encoding="utf-8")
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    words = [sys.executable, "-m", "pytest", "-p", "dpso.pytest_plugin", "-p", "no:cacheprovider", *options]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


TWO = """
def test_alone(assert_dp):
    assert assert_dp(noisy, *PAIR, epsilon=1.0, **AUDIT).confidence == 1 - 0.03 / 3

@pytest.mark.dp(audits=2)
def test_both(assert_dp):
    assert_dp(noisy, *PAIR, epsilon=1.5, **AUDIT)
    assert_dp(noisy, *PAIR, epsilon=0.25, **AUDIT)

def test_nothing_to_do_with_it():
    pass
"""


def test_the_announced_audits_share_the_budget_and_are_reported(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    run = session(tmp_path, TWO, "--dp-budget=0.03", "--junitxml=junit.xml", f"--dp-summary={summary}", "-W", "error")
    assert run.returncode == 1, run.stdout + run.stderr
    assert "1 failed, 2 passed" in run.stdout
    assert "VIOLATED: not (0.25, 0)-DP" in run.stdout
    assert "3 audits, error budget 0.03: if every claim is true, a session reports" in run.stdout
    assert "(level 0.01 each)" in run.stdout
    kept = {
        case.attrib["name"]: {p.attrib["name"]: p.attrib["value"] for p in case.iter("property")}
        for case in ET.parse(tmp_path / "junit.xml").iter("testcase")
    }
    assert kept["test_nothing_to_do_with_it"] == {}
    assert kept["test_alone"]["dp.1.verdict"] == kept["test_both"]["dp.1.verdict"] == "consistent"
    assert kept["test_both"]["dp.2.verdict"] == "violated"
    assert 0.25 < float(kept["test_both"]["dp.2.lower"]) <= 1
    text = summary.read_text(encoding="utf-8")
    assert text.count("\n| `test_it.py::") == 3
    assert "| `test_it.py::test_both` | (0.25, 0)-DP | **violated** | ε = " in text


def test_only_what_runs_has_a_share(tmp_path: Path) -> None:
    alone = TWO.replace("0.03 / 3", "0.03 / 1")
    run = session(tmp_path, alone, "--dp-budget=0.03", "-k", "alone")
    assert run.returncode == 0, run.stdout
    assert "1 audit, error budget 0.03" in run.stdout


def test_other_processes_share_the_same_budget(tmp_path: Path) -> None:
    run = session(tmp_path, TWO, "--dp-budget=0.03", "-p", "xdist", "-n", "2")
    assert "1 failed, 2 passed" in run.stdout, run.stdout + run.stderr
    assert "3 audits, error budget 0.03" in run.stdout


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        (
            "def test_two(assert_dp):\n    for _ in range(2):\n        assert_dp(noisy, *PAIR, epsilon=1, **AUDIT)\n",
            "audit 2 of this test was not announced: mark it @pytest.mark.dp(audits=2)",
        ),
        (
            "def test_hidden(request):\n    request.getfixturevalue('assert_dp')\n",
            "name assert_dp among the parameters of the test",
        ),
        (
            "def test_own(assert_dp):\n    assert_dp(noisy, *PAIR, epsilon=1, confidence=0.9, **AUDIT)\n",
            "shares dp_budget among all tests: drop confidence",
        ),
        (
            "from dpso import Budget\ndef test_own(assert_dp):\n"
            "    assert_dp(noisy, *PAIR, epsilon=1, budget=Budget(1000, confidence=0.9))\n",
            "shares dp_budget among all tests: drop confidence",
        ),
        (
            "@pytest.mark.dp(audits=0)\ndef test_none(assert_dp):\n    pass\n",
            "dp(audits=0) must be a whole number of at least 1",
        ),
    ],
    ids=["unannounced", "uncounted", "confidence", "budget", "none"],
)
def test_what_would_break_the_budget_is_refused_with_the_remedy(tmp_path: Path, tests: str, message: str) -> None:
    run = session(tmp_path, tests)
    assert run.returncode != 0
    assert message in run.stdout + run.stderr


def test_a_budget_in_the_configuration_and_one_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\ndp_budget = 1e-6\n")
    run = session(tmp_path, "def test_it(assert_dp):\n    assert_dp(noisy, *PAIR, epsilon=1, **AUDIT)\n")
    assert "error budget 1e-06" in run.stdout
    run = session(tmp_path, "", "--dp-budget=1")
    assert (run.returncode, run.stderr.strip()) == (
        4,
        "ERROR: dp_budget = 1 must be strictly between 0 and 1, e.g. 0.001",
    )


def test_an_inconclusive_audit_fails_unless_not_strict(tmp_path: Path) -> None:
    few = "assert_dp(noisy, *PAIR, epsilon=1.0, samples=20, lints=False"
    run = session(tmp_path, f"def test_a(assert_dp):\n    {few})\n\ndef test_b(assert_dp):\n    {few}, strict=False)\n")
    assert "1 failed, 1 passed" in run.stdout
    assert "INCONCLUSIVE" in run.stdout


def test_a_folder_with_modules_called_like_ours_is_no_trouble_until_an_audit_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "audit.py").write_text("")
    run = session(tmp_path, "def test_it():\n    pass\n")
    assert run.returncode == 0, run.stdout + run.stderr
    run = session(tmp_path, "def test_it(assert_dp):\n    assert_dp(noisy, *PAIR, epsilon=1, **AUDIT)\n")
    assert "hides dpso's own package 'audit'" in run.stdout


def test_the_installed_plugin_is_this_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module = import_module(project["entry-points"]["pytest11"]["dpso"])
    assert callable(module.pytest_collection_finish)


def test_the_step_for_a_workflow_runs_and_writes_its_table(tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / ".github" / "actions" / "dp-audit" / "action.yml").read_text(encoding="utf-8"))
    (step,) = action["runs"]["steps"]
    given = {name: told["default"] for name, told in action["inputs"].items()} | {"python": sys.executable}
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(
        MECHANISMS + "def test_it(assert_dp):\n    assert_dp(noisy, *PAIR, epsilon=1, **AUDIT)\n", encoding="utf-8"
    )
    variables = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: given[m[1]], value) for name, value in step["env"].items()
    }
    own = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "PYTHONPATH": str(ROOT)}
    own |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p dpso.pytest_plugin"}
    run = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env=os.environ | variables | own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "**consistent**" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "dp.1.verdict" in (tmp_path / "dp-audit.xml").read_text(encoding="utf-8")
