"""Every check of the recorded level comes out as recorded: its result, every number that it shows, and its words."""

from __future__ import annotations

import re

import pytest

from audit.checks.framework import Check, collect, run_one, select
from audit.checks.results import read_record

RECORD = read_record()
RECORDED = {r["name"]: r for r in RECORD["results"]}
CHECKS = {c.name: c for c in select(collect(), RECORD["level"])}
COUNTED = re.compile(r"(\d+) (points|pairs|settings)\b")
"""How the evidence of a check begins that says how many points it compares."""
DIGITS = re.compile(r"\d+\.\d{7,}(e-?\d+)?")
"""A number in words of which machines may differ in the last digits."""


def test_the_record_is_of_these_checks() -> None:
    assert RECORDED.keys() == CHECKS.keys()


def test_a_grid_has_as_many_points_as_its_check_says() -> None:
    said = {name: COUNTED.match(str(one.evidence)) for name, one in CHECKS.items()}
    had = {name: r["numbers"]["points"] for name, r in RECORDED.items() if "points" in r["numbers"]}
    both = {name: int(found[1]) for name, found in said.items() if found and name in had}
    assert len(both) >= 8
    assert both == {name: had[name] for name in both}


@pytest.mark.parametrize("one", CHECKS.values(), ids=CHECKS)
def test_its_result_and_its_numbers_are_the_recorded_ones(one: Check) -> None:
    """Machines differ in the last digits only; what a statistical test learns from them may differ more.

    The words of a check are recorded where it shows an erratum, or decides by balls or in rationals.
    """
    result, recorded = run_one(one, RECORD["seed"]), RECORDED[one.name]
    assert result.error == ""
    assert result.as_recorded, (result.witness, result.ratio)
    tolerance = 0.2 if one.kind == "measured" else 1e-6
    found = result.to_json()
    for name in ("statement", "kind", "edition", "holds", "tight"):
        assert found[name] == recorded[name], name
    for name in ("ratio", "would_detect"):
        assert (found[name] is None) == (recorded[name] is None), name
        assert (found[name] or 0.0) == pytest.approx(recorded[name] or 0.0, rel=tolerance, abs=1e-12), name
    for name in ("witness", "note") if "witness" in recorded else ():
        assert DIGITS.sub("…", found[name]) == DIGITS.sub("…", recorded[name]), name
    shown = found["numbers"]
    assert shown.keys() == recorded["numbers"].keys()
    for name, value in shown.items():
        if isinstance(value, str):
            assert value == recorded["numbers"][name] or one.kind == "measured", name
        else:
            assert value == pytest.approx(recorded["numbers"][name], rel=tolerance, abs=1e-12), name
