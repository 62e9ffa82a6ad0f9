"""The README's own words: its code runs, its commands exist, its table of dependencies is the project's."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from audit import findings
from audit.cli import command_modules, main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def run(code: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    return out.getvalue()


def test_the_audit_in_the_readme_finds_the_violation() -> None:
    (code,) = (b for b in BLOCKS if "mean_of_ages" in b)
    text = run(code)
    assert text.startswith("VIOLATED")
    assert run(code.replace("/ 2)", "* 1)")).startswith("CONSISTENT")  # the repaired twin


def test_the_estimator_in_the_readme_is_found_out() -> None:
    (code,) = (b for b in BLOCKS if "estimator" in b)
    text = run(code)
    assert text.startswith("VIOLATED")
    assert "noticed" in text
    repaired = code.replace("2 / (len(X)", "2 / (5")  # noise for the mean that is released
    assert not run(repaired).startswith("VIOLATED")


def test_the_javascript_in_the_readme_answers(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("needs node")
    (code,) = re.findall(r"```javascript\n(.*?)```", README, re.DOTALL)
    (tmp_path / "noisy.js").write_text(code)
    data = '{"dataset": [0, 1], "neighbour": [1, 1]}'
    command = ["test", "--exec", f"node {tmp_path / 'noisy.js'}", "--data", data, "--samples", "2000"]
    assert main([*command, "--epsilon", "1", "--confidence", "0.999999"]) == 0
    assert main([*command, "--epsilon", "0.25"]) == 1


def test_the_number_systems_in_the_readme_agree() -> None:
    (code,) = (b for b in BLOCKS if "Ball" in b)
    lines = run(code).splitlines()
    assert [line.split()[0] for line in lines] == ["float64", "mp50", "ball338"]
    assert all("0.22360679774997" in line for line in lines)


def test_every_command_is_in_the_table_and_the_other_way_round() -> None:
    listed = set(re.findall(r"^\| `dpso (\w+)` \|", README, re.MULTILINE))
    assert listed == set(command_modules())


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[><=]", d)[0] for d in project["dependencies"]}
    rows = set(re.findall(r"^\| ([\w-]+)(?: ≥ [\d.]+)? \| \w", README, re.MULTILINE))
    assert names <= rows
    for extra in project["optional-dependencies"]:
        assert f"`{extra}`" in README


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:reference|audit|docs|examples)/[\w./-]+)`", README))))
def test_every_path_in_the_readme_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_findings_react_to_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: an oracle that is not the printed one."""
    assert findings.printed_oracle_zeros() == findings.oracle_trials()
    findings._oracle_trials.cache_clear()
    monkeypatch.setattr(findings, "oracle_printed", findings.oracle)
    assert findings.printed_oracle_zeros() < findings.oracle_trials()
    findings._oracle_trials.cache_clear()
