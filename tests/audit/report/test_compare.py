"""What changed between two reports."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from audit.report.compare import Change, changes, read
from audit.runtime.errors import InputError

OLD: dict[str, Any] = {
    "level": "quick",
    "seed": 0,
    "code": "a",
    "text": "t",
    "verdicts": {
        "lem:x": {"grade": "holds", "errata": [], "verdict": "holds; ratio 0.5"},
        "lem:y": {"grade": "false", "errata": ["E3.1"], "verdict": "false"},
    },
    "results": [
        {"name": "s.a", "holds": True, "as_recorded": True, "error": "", "kind": "exact", "seconds": 1.0},
        {"name": "s.b", "holds": False, "as_recorded": True, "error": "", "kind": "counterexample"},
    ],
}


def test_nothing_changed() -> None:
    new = copy.deepcopy(OLD)
    new["results"][0]["seconds"] = 7.0
    new["verdicts"]["lem:x"]["verdict"] = "holds; ratio 0.6"
    assert changes(OLD, new) == [], "times, and numbers inside a verdict, move"


def test_every_kind_of_change_is_said() -> None:
    new = copy.deepcopy(OLD)
    new |= {"seed": 1, "text": "u"}
    new["verdicts"]["lem:y"] = {"grade": "edge", "errata": ["E3.1"], "verdict": "false only at the edge"}
    del new["verdicts"]["lem:x"]
    new["results"][0] |= {"holds": False, "as_recorded": False}
    new["results"][1]["name"] = "s.c"
    assert changes(OLD, new) == [
        Change("run", "seed", "0", "1"),
        Change("run", "text", "t", "u"),
        Change("verdict", "lem:x", "holds; ratio 0.5", ""),
        Change("verdict", "lem:y", "false", "false only at the edge"),
        Change("check", "s.a", "holds, as it should (exact)", "fails, not as it should (exact)"),
        Change("check", "s.b", "fails, as it should (counterexample)", ""),
        Change("check", "s.c", "", "fails, as it should (counterexample)"),
    ]


def test_errata_alone_are_a_change() -> None:
    new = copy.deepcopy(OLD)
    new["verdicts"]["lem:y"]["errata"] = ["E3.1", "E3.2"]
    assert [c.name for c in changes(OLD, new)] == ["lem:y"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is no JSON"),
        ("[]", "is no report"),
        ('{"verdicts": {}}', "is no report"),
        ('{"verdicts": {"a": 1}, "results": []}', "is no report"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "old.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        read(file)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "nowhere.json")


def test_a_report_is_read(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text(json.dumps(OLD), encoding="utf-8")
    assert changes(read(file), OLD) == []


def test_a_limited_run_is_compared_where_it_looked() -> None:
    new = copy.deepcopy(OLD) | {"only": ["lem:x"], "planned": {"s.a": "lem:x"}}
    del new["verdicts"]["lem:y"]
    new["results"] = new["results"][:1]
    assert changes(OLD, new) == []


def test_a_limited_run_says_nothing_of_what_it_saw_in_part() -> None:
    """An erratum's counterexample bears on other statements too; one of their twelve checks is no verdict."""
    new = copy.deepcopy(OLD) | {"only": ["lem:x"], "planned": {"s.a": "lem:x"}}
    new["verdicts"]["lem:y"] = {"grade": "unchecked", "errata": ["E3.1"], "verdict": "no check yet", "ran": 1, "of": 12}
    new["verdicts"]["lem:x"] |= {"grade": "loose", "ran": 3, "of": 3}
    new["results"] = new["results"][:1]
    assert [c.name for c in changes(OLD, new)] == ["lem:x"]
    assert [c.name for c in changes(new, OLD)] == ["lem:x"], "whichever of the two was limited"


def test_a_change_is_one_line() -> None:
    assert str(Change("verdict", "lem:a", "holds", "false")) == "verdict lem:a: holds → false"
    assert str(Change("check", "x", "", "passed")) == "check x: (none) → passed"
    assert str(Change("check", "x", "passed", "")) == "check x: passed → (none)"
