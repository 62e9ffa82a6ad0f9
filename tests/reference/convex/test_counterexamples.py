"""Every erratum of Section 3 has a counterexample that shows it, and the figures in its text are what that computes."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from reference.convex.counterexamples import all_counterexamples, le_cam, small_diameter_floor, unsound_shift
from reference.convex.oracle import (
    closed_form_oracle,
    oracle,
    oracle_parameters,
    oracle_printed,
    value_search_length,
)
from reference.convex.phased_sgd import phased_parameters, phased_sgd, theorem_beta_printed
from reference.numerics.numbers import MP, Ball, Float64
from reference.numerics.tape import ZeroTape
from reference.paper.editions import edition
from reference.paper.inventory import load
from reference.paper.registry import LINKS, Counterexample, at_least
from reference.setting.data import Example
from reference.setting.losses import GLL, Absolute, PiecewiseLinear
from reference.setting.sets import Box

OURS = re.compile(r"E3\.\d+|E1\.[123]")
BY_ID = {getattr(f, LINKS)[0].id: f for f in all_counterexamples()}
RESULTS: dict[str, Counterexample] = {}


def result(id: str) -> Counterexample:
    if id not in RESULTS:
        RESULTS[id] = BY_ID[id]()
    return RESULTS[id]


def test_errata_and_counterexamples_are_the_same_set() -> None:
    assert {e.id for e in load().errata if OURS.fullmatch(e.id)} == set(BY_ID)


@pytest.mark.parametrize(
    ("id", "number", "quoted"),
    [
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


@pytest.mark.parametrize(("id", "quoted"), [("E3.3", "at least 1.07e-3"), ("E3.10", "δ(1) ≥ 0.276")])
def test_the_lower_bounds_in_the_errata(id: str, quoted: str) -> None:
    """Rounded down: what is printed is shown."""
    erratum = load().erratum(id)
    assert erratum is not None
    assert quoted in erratum.affects
    assert float(quoted.split()[-1]) == float(at_least(float(result(id).numbers["delta"])))


def test_other_figures_in_the_errata() -> None:
    assert float(result("E3.12").numbers["delta"]) > 0.7
    assert float(result("E3.35").numbers["delta"]) > 0.99
    assert round(float(result("E3.18").numbers["ratio"]), 2) == 1.44
    far = result("E3.45").numbers
    assert float(far["cited"]) / float(far["centred"]) == pytest.approx(201)
    assert "201 times" in load().erratum("E3.45").affects  # type: ignore[union-attr]
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


def test_the_floor_for_a_small_diameter() -> None:
    """E3.43. Without noise E w_K ≥ 2D/5, exactly, over all 2^n samples; and the figures of the erratum."""
    K, n = Float64(), 8
    D = K(1) / K.sqrt(K(n))
    beta = theorem_beta_printed(K, n, 1, 1)
    p = phased_parameters(
        K, n, GLL(Absolute, 1, 1), Box([0], [D]), epsilon=1, delta="1e-6", beta=beta, start=[D], unproven=True
    )
    p = replace(p, oracle=closed_form_oracle)
    mean = 0
    for labels in product((0, D), repeat=n):
        far = sum(y > 0 for y in labels)
        run = phased_sgd(K, tuple(Example((1,), y) for y in labels), p, ZeroTape())
        mean += Fraction(2**far * 3 ** (n - far), 5**n) * Fraction(run.w[0])
    assert Fraction(2, 5) <= mean / Fraction(D) < 1
    text = " ".join(e.affects for e in load().errata if e.id == "E3.43")
    found = [float(x) for x in result("E3.43").numbers.values()]
    assert "at least {:.2f}, {:.1f}, {:.1f} times".format(*found) in text
    assert result("E3.43").fair
    floor = small_diameter_floor(K, 2**40, 1, Fraction(1, 10**6))
    assert 0 < Fraction(8, 100) - Fraction(floor) < Fraction(1, 10**4)


def test_the_square_as_printed_is_right_at_beta_two_only() -> None:
    """What E3.2 says of slopes: with comparison and halving mended; with interval and clip mended too."""
    K = MP(30)
    for mended, full in ((("E3.1", "E3.3"), {2: 1, 4: 2, 32: 2}), (("E3.1", "E3.3", "E3.4"), {2: 1, 4: 1, 32: 1})):
        call = edition(oracle_printed, oracle, set(mended))
        for beta, expected in full.items():
            p = oracle_parameters(K, beta=beta, alpha=Fraction(1, 1000), L0=1, R=1)
            for ell in (PiecewiseLinear([], [1]), Absolute(-1000)):
                found = call(K, K.vector([0]), K.vector([1]), ell, p).derivative
                assert abs(found - expected) < Fraction(2, 1000)
            weak = call(K, K.vector([0]), K.vector([1]), PiecewiseLinear([], [Fraction(3, 10)]), p).derivative
            assert (abs(weak - Fraction(3, 10)) < Fraction(2, 1000)) == (beta == 2)


def test_theorem_9_is_private_for_the_epsilon_of_algorithm_2() -> None:
    """The three numbers that the text of E3.35 rests on."""
    B = Ball(128)
    step = 1 / B.sqrt(B(8))
    assert B.le(B.expm1(step) / step, B(Fraction(121, 100)))
    assert B.le(B(Fraction(121, 100)), 4 * B.sqrt(B(Fraction(916, 10**4))))
    assert B.lt(B.sqrt(B(Fraction(1, 128))), B.exp(B(Fraction(-916, 10**4))))
