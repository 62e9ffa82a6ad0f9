"""Hostile input to every command: one line, never a traceback, nothing written outside `--out`.

500 cases here; DPSO_FUZZ=10000 runs as many as it says, as does `dpso bench resilience`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections import Counter
from pathlib import Path

import pytest
from night import by_day

from audit.cli.main import main
from audit.runtime.files import DEEPEST, depth
from audit.runtime.store import NAME
from bench import fuzz as fuzz
from bench.fuzz import Case, Sandbox

COUNT = int(os.environ.get("DPSO_FUZZ", "500"))
ONLY = "E3.1"


def complaints(box: Sandbox, cases: list[Case]) -> list[str]:
    return [f"{case}: {complaint}" for case in cases if (complaint := box.attempt(case))]


def test_fuzzed_command_lines_and_files(tmp_path: Path) -> None:
    cases = list(fuzz.cases(0, by_day(COUNT // 2, COUNT)))
    counts = Counter(case.argv[0] for case in cases)
    assert all(counts[name] >= 3 for name in fuzz.MAKERS if name != "dpso")
    with Sandbox(tmp_path).entered() as box:
        assert complaints(box, cases) == []


def test_holes_of_a_gigabyte_links_and_devices(tmp_path: Path) -> None:
    with Sandbox(tmp_path).entered() as box:
        assert complaints(box, fuzz.special_cases()) == []


def test_stores_that_are_nearly_right(tmp_path: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["audit", "--only", ONLY, "--out", str(tmp_path / "good"), "--workers", "1"]) in (0, 1)
    with Sandbox(tmp_path).entered() as box:
        cases = list(fuzz.store_cases(0, by_day(20, max(40, COUNT // 20)), tmp_path / "good" / NAME, ONLY))
        assert complaints(box, cases) == []


def test_the_net_catches_what_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way to fail, made to happen once."""

    def act(text: str) -> None:
        monkeypatch.setattr(fuzz, "main", lambda argv: exec(text, {"sys": __import__("sys"), "Path": Path}) or 2)

    fine = "print('dpso: no', file=sys.stderr)"
    ways = {
        "raise RecursionError": "ended with RecursionError",
        "sys.exit(3)": "ended with SystemExit(3)",
        "print('dpso: internal error, X', file=sys.stderr)": "shows",
        "print('Traceback (most recent call last):\\ndpso: x', file=sys.stderr)": "shows",
        "print('oh no', file=sys.stderr)": "no line of explanation",
        "print('dpso: a\\ndpso: b', file=sys.stderr)": "more than one line",
        f"print('\\x1b[31m'); {fine}": "control character",
        f"Path('elsewhere').write_text('x'); {fine}": "wrote",
        f"Path('../outside/precious').write_text('x'); {fine}": "wrote",
        f"Path('new').mkdir(); {fine}": "wrote",
        f"import sqlite3; sqlite3.connect('file:new.sqlite?mode=rwc', uri=True).close(); {fine}": "wrote",
        f"Path('out').mkdir(exist_ok=True); Path('out/report.html').write_text('{fuzz.MARKUP}'); {fine}": "markup",
    }
    with Sandbox(tmp_path).entered() as box:
        for text, expected in ways.items():
            act(text)
            found = box.attempt(Case(("x",)))
            assert found is not None, text
            assert found.startswith(expected), (text, found)
        act(fine)
        assert box.attempt(Case(("x",))) is None


UNPICKLING = re.compile(
    r"pickle\.loads?\(|Unpickler|allow_pickle(?!=False)|\bmarshal\.|\bshelve\b|joblib|cloudpickle\.load"
)


def test_nothing_is_unpickled_from_a_file() -> None:
    """Three modules unpickle, each what a process that it started, or that started it, sends through a pipe."""
    root = Path(fuzz.__file__).parents[1]
    found = {
        path.relative_to(root).as_posix(): sorted(set(UNPICKLING.findall(path.read_text(encoding="utf-8"))))
        for package in ("audit", "reference")
        for path in (root / package).rglob("*.py")
    }
    assert {name: calls for name, calls in found.items() if calls} == {
        "audit/auditor/targets/isolate.py": ["pickle.loads("],
        "audit/runtime/pool.py": ["pickle.loads("],
        "audit/runtime/worker.py": ["pickle.loads("],
    }


def test_depth_is_counted_without_recursion() -> None:
    assert [depth(x) for x in (1, [], [1], [[1], 2], {"a": [{}]})] == [0, 1, 1, 2, 3]
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert depth(deep) == DEEPEST + 1
