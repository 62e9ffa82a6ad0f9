"""Every erratum of Section 3 has a counterexample that shows it, and the figures in its text are what that computes."""

from __future__ import annotations

import re

import pytest

from reference.convex.counterexamples import all_counterexamples, le_cam, unsound_shift
from reference.convex.oracle import value_search_length
from reference.numerics.numbers import Float64
from reference.paper.inventory import load
from reference.paper.registry import LINKS, Counterexample

OURS = re.compile(r"E3\.\d+|E1\.[123]")
BY_ID = {getattr(f, LINKS)[0].id: f for f in all_counterexamples()}
RESULTS: dict[str, Counterexample] = {}


def result(id: str) -> Counterexample:
    if id not in RESULTS:
        RESULTS[id] = BY_ID[id]()
    return RESULTS[id]


@pytest.mark.parametrize("id", sorted(BY_ID))
def test_the_defect_shows(id: str) -> None:
    found = result(id)
    assert found.shown is True
    assert "\n" not in found.summary


def test_errata_and_counterexamples_are_the_same_set() -> None:
    assert {e.id for e in load().errata if OURS.fullmatch(e.id)} == set(BY_ID)


@pytest.mark.parametrize(
    ("id", "number", "quoted"),
    [
        ("E3.3", "delta", "1.1e-3"),
        ("E3.10", "delta", "0.277"),
        ("E3.11", "delta", "2.2e-4"),
        ("E3.17", "excess", "0.62"),
        ("E3.17", "printed bound", "0.036"),
    ],
)
def test_the_figures_in_the_errata(id: str, number: str, quoted: str) -> None:
    erratum = load().erratum(id)
    assert erratum is not None
    assert quoted in erratum.affects + erratum.printed + erratum.corrected
    digits = len(re.sub(r"e.*|\D", "", quoted).lstrip("0"))
    assert f"{float(result(id).numbers[number]):.{digits}g}" == f"{float(quoted):.{digits}g}"


def test_other_figures_in_the_errata() -> None:
    assert float(result("E3.12").numbers["delta"]) > 0.7
    assert float(result("E3.35").numbers["delta"]) > 0.99
    assert round(float(result("E3.18").numbers["ratio"]), 2) == 1.44
    assert round(float(result("E3.28").numbers["ratio"]), 1) == 2.5
    K = Float64()
    assert value_search_length(K, 1e6, 1.0) / 20 == pytest.approx(2.4, abs=0.06)  # log 2 / log(4/3), 20 = ⌈log2 1e6⌉


def test_privacy_gets_worse_with_n_and_is_kept_by_the_corrected_search() -> None:
    """μ of the unsound search doubles when n grows four-fold; the corrected one stays near 2η_1L0R/σ_1."""
    small, large = unsound_shift(256).mu, unsound_shift(1024).mu
    assert 1.7 < large / small < 2.2
    assert small > 0.0673 * 1.3


def test_le_cam_is_a_lower_bound_that_bites() -> None:
    from fractions import Fraction

    values = [le_cam(100, Fraction(1, h)) for h in (1000, 20, 3)]
    assert values[1] > max(values[0], values[2])
    assert values[1] > 0.03
