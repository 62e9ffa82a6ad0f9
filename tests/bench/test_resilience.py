"""`dpso bench resilience`: a small run of all of it, and a table that hides nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.cli import bench as command
from audit.cli.main import main
from bench import fuzz as fuzz
from bench import record as _record
from bench import resilience as bench

COSTS = {
    bench.ONE: [{"seconds": 90.0, "processor": 90.0}, {"seconds": 200.0, "processor": 90.0}],
    bench.TWO: [{"seconds": 50.0, "processor": 99.0}, {"seconds": 100.0, "processor": 90.0}],
}
RESULT = {
    "faults": {
        "rows": [
            {"fault": "kill", "times": 20, "identical": True, "note": ""},
            {"fault": "disk", "times": 1, "identical": None, "note": "no"},
            {"fault": "stop", "times": 1, "identical": False, "note": "x"},
        ],
        "load_average": 0.1,
    },
    "load": {
        "draws": 10**8, "costs": COSTS, "seconds": 50.0, "memory_mb": 400.0, "speed_up": 1.9, "more_processor": 0.05,
        "load_average": 0.2,
    },
    "dask": {"draws": 10**7, "costs": {}, "overhead": 0.1, "load_average": 0.3},
    "fuzz": {"cases": 10_015, "failures": 2, "first": ["x"], "load_average": 1.9},
    "targets": bench.TARGETS, "cores": 2,
}  # fmt: skip


def test_the_table_shows_what_differs_and_what_was_not_tried() -> None:
    table = bench.render(RESULT)
    assert "| kill | 20 | identical |" in table
    assert "| disk | 1 | not tried here |" in table
    assert "| stop | 1 | **differs** |" in table
    assert "| 2 workers over 1, 1e+08 draws | 1.90 times as fast | ≥ 1.8 |" in table
    assert "50 s (2.0 million a second)" in table
    assert "| processor time of 2 workers over 1 | +5 % | |" in table
    assert "+10 % time | ≤ 15 % |" in table
    assert "2 failures in 10015 cases" in table
    assert "load average before each part: faults 0.1, load 0.2, dask 0.3, fuzz 1.9." in table
    part = bench.render({k: v for k, v in RESULT.items() if k not in ("dask", "faults")})
    assert "Dask" not in part
    assert "kill" not in part


def test_ratios_are_of_runs_of_the_same_round() -> None:
    assert bench.ratio(COSTS, bench.ONE, bench.TWO) == pytest.approx((90 / 50 + 200 / 100) / 2)
    assert bench.ratio(COSTS, bench.TWO, bench.ONE, "processor") == pytest.approx(1.05)


def test_rivals_take_turns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran: list[str] = []
    monkeypatch.setattr(bench, "_timed", lambda job, name: ran.append(name) or bench.Cost(len(ran), 1.0, 1.0))
    job = bench._job(tmp_path, 40)
    costs = bench._taking_turns(job, {"a": ("a",), "b": ("b",)}, 3, lambda text: None)
    assert ran == ["a", "b", "b", "a", "a", "b"]
    assert [cost["seconds"] for cost in costs["a"]] == [1, 4, 5]


@pytest.mark.linux("memory from /proc")
def test_load_and_fuzz_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "LOAD_DRAWS", 40_000)
    monkeypatch.setattr(bench, "LOAD_ROUNDS", 1)
    monkeypatch.setattr(bench, "FUZZ", 20)
    said: list[str] = []
    load = bench.run_load(tmp_path, said.append)
    one, two = load["costs"][bench.ONE][0], load["costs"][bench.TWO][0]
    assert load["speed_up"] == one["seconds"] / two["seconds"]
    assert load["seconds"] == two["seconds"]
    assert 50 < load["memory_mb"] < 2000
    assert min(one["processor"], two["processor"]) > 0.1
    cases = 20 + len(fuzz.special_cases())
    assert bench.run_fuzz(tmp_path, said.append) == {"cases": cases, "failures": 0, "first": []}
    assert len(said) == 2


@pytest.mark.linux("finds workers and memory through /proc")
def test_parts_are_measured_and_recorded_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    monkeypatch.setattr(_record, "RESULTS", tmp_path)
    monkeypatch.setattr(command, "README", tmp_path / "README.md")
    readme = tmp_path / "README.md"
    readme.write_text("<!-- bench: resilience -->\n<!-- /bench -->\n")
    for part in ("fuzz", "dask"):
        found = {k: v for k, v in RESULT[part].items() if k != "load_average"}
        monkeypatch.setitem(bench.PARTS, part, lambda scratch, progress, found=found: found)
        assert main(["bench", "resilience", "--parts", part, "--record"]) == 0
    assert set(_record.recorded("resilience")) == {"fuzz", "dask", "cores", "targets"}
    assert "2 failures in 10015 cases" in readme.read_text()
    assert "+10 % time" in readme.read_text()
    capsys.readouterr()
    assert main(["bench", "resilience", "--parts", "x"]) == 2
    assert "--parts x: resilience has faults, load, dask, fuzz" in capsys.readouterr().err
    assert main(["bench", "numbers", "--parts", "load"]) == 2
    assert "numbers has no parts" in capsys.readouterr().err
