"""`dpso bench resilience`: a small run of all of it, and a table that hides nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.bench import resilience as bench

RESULT = {
    "faults": [
        {"fault": "kill", "times": 20, "identical": True, "note": ""},
        {"fault": "disk", "times": 1, "identical": None, "note": "no"},
        {"fault": "stop", "times": 1, "identical": False, "note": "x"},
    ],
    "load": {
        "draws": 10**8, "seconds": {"1": 90.0, "2": 50.0}, "processor_seconds": {"1": 90.0, "2": 99.0},
        "memory_mb": 400.0, "speed_up": 1.8,
    },
    "dask": {"draws": 10**7, "processes": [5.0], "dask": [5.5], "overhead": 0.1},
    "fuzz": {"cases": 10_015, "failures": 2, "first": ["x"]},
    "targets": bench.TARGETS, "cores": 2, "load_average_before": 0.1, "load_average_after": 1.9,
}  # fmt: skip


def test_the_table_shows_what_differs_and_what_was_not_tried() -> None:
    table = bench.render(RESULT)
    assert "| kill | 20 | identical |" in table
    assert "| disk | 1 | not tried here |" in table
    assert "| stop | 1 | **differs** |" in table
    assert "| 2 workers over 1, 1e+08 draws | 1.80 times as fast | ≥ 1.8 |" in table
    assert "50 s (2.0 million a second)" in table
    assert "| processor time of 2 workers over 1 | +10 % | |" in table
    assert "+10 % time | ≤ 15 % |" in table
    assert "2 failures in 10015 cases" in table
    assert "load average 0.1 before the run and 1.9 after" in table
    assert "Dask" not in bench.render({k: v for k, v in RESULT.items() if k != "dask"})


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs /proc")
def test_load_and_fuzz_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "LOAD_DRAWS", 40_000)
    monkeypatch.setattr(bench, "FUZZ", 20)
    said: list[str] = []
    load = bench.run_load(tmp_path, said.append)
    assert load["speed_up"] == load["seconds"]["1"] / load["seconds"]["2"]
    assert 50 < load["memory_mb"] < 2000
    assert min(load["processor_seconds"].values()) > 0.1
    assert bench.run_fuzz(tmp_path, said.append) == {"cases": 35, "failures": 0, "first": []}
    assert len(said) == 2
