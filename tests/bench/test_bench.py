"""Benchmarks: the workload computes the same thing in every number system, and the tables render."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.cli import bench as command
from audit.cli.main import main
from bench import auditor
from bench import numbers as bench
from bench import record as _record
from reference.numerics.numbers import MP, Ball, Float64

STEPS = 200


def test_the_workload_is_the_same_in_every_number_system() -> None:
    exact = bench.hinge_sgd(MP(120), bench.workload(MP(120)), STEPS)
    balls = bench.hinge_sgd(Ball(338), bench.workload(Ball(338)), STEPS)
    floats = bench.hinge_sgd(Float64(), bench.workload(Float64()), STEPS)
    assert all(ball.contains(value) for ball, value in zip(balls, exact, strict=True))
    assert max(abs(float(a) - b) for a, b in zip(exact, floats, strict=True)) < 1e-12


def test_the_workload_projects_sometimes_but_not_always() -> None:
    K = Float64()
    w = bench.hinge_sgd(K, bench.workload(K), bench.STEPS)
    early = bench.hinge_sgd(K, bench.workload(K), 100)
    assert w @ w == pytest.approx(49 / 4, rel=1e-12)
    assert early @ early < 49 / 4 - 1e-3


def test_rendering_shows_ratio_and_target() -> None:
    ratio = {"float64": 1.0, "mp50": 20.0}
    result = {"seconds": {"float64": 0.01, "mp50": 0.2}, "ratio": ratio, "target": {"mp50": 25}}
    assert "| mp50 | 200.0 | 20.0 | ≤ 25 |" in bench.render(result)


def test_the_command_runs_a_benchmark(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bench, "STEPS", 20)
    monkeypatch.setattr(bench, "REPEATS", 1)
    assert main(["bench", "numbers", "--json"]) == 0
    out = capsys.readouterr()
    assert json.loads(out.out)["numbers"]["ratio"]["float64"] == 1
    assert "round 1 of 1" in out.err


def test_an_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "speed"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "numbers" in error


def test_the_tables_are_the_recorded_results() -> None:
    readme = Path(__file__).parent.parent.parent / "README.md"
    found = _record.blocks("".join(page.read_text(encoding="utf-8") for page in _record.pages(readme)))
    assert set(found) >= {
        "auditor",
        "auditor headline",
        "numbers",
        "fast",
        "accounting",
        "constants",
        "foreign",
        "resilience",
    }
    assert {name: table == _record.rendered(name) for name, table in found.items()} == dict.fromkeys(found, True)


def test_recording_replaces_one_table_and_leaves_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_record, "RESULTS", tmp_path / "results")
    readme = tmp_path / "README.md"
    tables = "<!-- bench: numbers -->\nold\n<!-- /bench -->\nb\n<!-- bench: fast -->\nkeep\n<!-- /bench -->\n"
    readme.write_text("a\n" + tables)
    result = {"seconds": {"float64": 0.01}, "ratio": {"float64": 1.0}, "target": {}}
    _record.record("numbers", result, readme)
    text = readme.read_text(encoding="utf-8")
    assert "| float64 | 10.0 | 1.0 |" in text
    assert "old" not in text
    assert "keep" in text
    assert text.startswith("a\n")


def test_the_fast_engine_meets_its_target() -> None:
    """In the recorded run; nothing is timed here."""
    recorded = _record.recorded("fast")
    assert all(row["ratio"] >= recorded["target"] for row in recorded["rows"])


def test_a_part_is_kept_as_soon_as_it_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_record, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(command, "README", tmp_path / "README.md")
    monkeypatch.setattr(auditor, "PARTS", {"memory": lambda *_: {"laplace": {"megabytes": 7}}, "alarms": interrupted})
    assert main(["bench", "auditor", "--record"]) == 130
    assert set(_record.recorded("auditor")) == {"confidence", "memory"}
    assert main(["bench", "auditor", "--parts", "memory", "1e9", "--record"]) == 2
