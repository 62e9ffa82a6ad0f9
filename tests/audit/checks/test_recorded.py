"""Every check of the recorded level comes out as recorded: its result, and every number that it shows."""

from __future__ import annotations

import pytest

from audit.checks.framework import Check, collect, run_one, select
from audit.checks.results import read_record

RECORD = read_record()
RECORDED = {r["name"]: r for r in RECORD["results"]}
CHECKS = {c.name: c for c in select(collect(), RECORD["level"])}


def test_the_record_is_of_these_checks() -> None:
    assert RECORDED.keys() == CHECKS.keys()


@pytest.mark.parametrize("one", CHECKS.values(), ids=CHECKS)
def test_its_result_and_its_numbers_are_the_recorded_ones(one: Check) -> None:
    """Machines differ in the last digits only; what a statistical test learns from them may differ more."""
    found, recorded = run_one(one, RECORD["seed"]), RECORDED[one.name]
    assert found.error == ""
    assert found.as_recorded, (found.witness, found.ratio)
    tolerance = 0.2 if one.kind == "measured" else 1e-6
    assert (found.ratio is None) == (recorded["ratio"] is None)
    assert (found.ratio or 0.0) == pytest.approx(recorded["ratio"] or 0.0, rel=tolerance, abs=1e-12)
    shown = found.to_json()["numbers"]
    assert shown.keys() == recorded["numbers"].keys()
    for name, value in shown.items():
        if isinstance(value, str):
            assert value == recorded["numbers"][name] or one.kind == "measured", name
        else:
            assert value == pytest.approx(recorded["numbers"][name], rel=tolerance, abs=1e-12), name
