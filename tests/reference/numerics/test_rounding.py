"""The model of rounding: unit roundoffs, sums, what library functions lose, and the precision that a refusal names."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.numerics.numbers import MP, Ball, Float64, Numbers, _as_fraction
from reference.numerics.rounding import (
    LIBRARY,
    SLOPE,
    digits_for,
    finer,
    gamma,
    require_range,
    rounds,
    selection_reserve,
)
from reference.setting import GLL, Absolute, Huber, Logistic, Quantile
from reference.setting.losses_smooth import GemanMcClure, Sigmoid, SmoothPredictorLoss, SquaredTanh

K, WIDE = Float64(), MP(60)
FLOATS = st.floats(min_value=-1e6, max_value=1e6, allow_nan=False)


def test_unit_roundoffs() -> None:
    assert K.unit_roundoff == MP(15).unit_roundoff == Fraction(1, 2**53)
    assert MP(30).unit_roundoff < Fraction(1, 10**30) < MP(20).unit_roundoff
    assert [rounds(system) for system in (K, MP(15), Ball(64))] == [True, True, False]
    assert gamma(Ball(64), 10**9).rad == 0


@given(st.lists(FLOATS, min_size=1, max_size=40))
def test_sums_stay_within_gamma(values: list[float]) -> None:
    exact, total = sum(map(Fraction, values)), 0.0
    for v in values:
        total += v
    sizes = sum(abs(Fraction(v)) for v in values)
    assert abs(Fraction(total) - exact) <= Fraction(gamma(K, len(values))) * sizes
    square = sum(Fraction(v) ** 2 for v in values)
    dot = Fraction(K.vector(values) @ K.vector(values))
    assert abs(dot - square) <= Fraction(gamma(K, len(values) + 1)) * square + Fraction(1, 2**1000)


@pytest.mark.parametrize("system", [K, MP(15), MP(30)], ids=repr)
@pytest.mark.parametrize("name", ["exp", "tanh", "log1p", "expm1"])
def test_library_functions_lose_a_few_units(system: Numbers, name: str) -> None:
    """An assumption of the proofs, at 3000 seeded points."""
    rng, worst = Random(name), 0.0
    for _ in range(3000):
        x = rng.uniform(0, 1) * 10 ** rng.uniform(-3, 1) * (1 if name == "log1p" else rng.choice((-1, 1)))
        found, true = getattr(system, name)(system(x)), getattr(WIDE, name)(WIDE(x))
        worst = max(worst, float(abs(WIDE(_as_fraction(found)) - true) / abs(true) / system.unit_roundoff))
    assert 0 < worst <= LIBRARY


@pytest.mark.parametrize("loss", [Sigmoid(1), SquaredTanh(1), GemanMcClure(1, Fraction(1, 2))], ids=repr)
def test_slopes_of_smooth_losses(loss: SmoothPredictorLoss) -> None:
    """The computed slope is within SLOPE·u·L0 of the true one at the same point, which is exact here."""
    rng = Random(3)
    for _ in range(2000):
        t, y = rng.uniform(-4, 4), rng.uniform(-1, 1)
        true = loss.slope(WIDE, WIDE(t), WIDE(y))
        gap = abs(WIDE(_as_fraction(loss.slope(K, t, y))) - true)
        assert gap <= SLOPE * K.unit_roundoff * WIDE(loss.L0)


@pytest.mark.parametrize("family", [Logistic, lambda y: Huber(y, 1), Absolute, lambda y: Quantile(y, Fraction(1, 3))])
def test_slopes_of_convex_losses(family: object) -> None:
    rng = Random(4)
    for _ in range(1000):
        ell, u = GLL(family, 1, 1).family(Fraction(rng.choice((-1, 1)))), rng.uniform(-40, 40)  # type: ignore[arg-type]
        true = ell.subgradient(WIDE, WIDE(u))
        assert abs(WIDE(_as_fraction(ell.subgradient(K, u))) - true) <= SLOPE * K.unit_roundoff


def test_the_named_precision_does() -> None:
    assert digits_for(Fraction(1, 10**30)) == 30
    assert finer(K, [(1.0, 0.5)]) == "take K = MP(17), which rounds finely enough"
    assert finer(K, [(1.0, 0.0)]) == finer(K, []) == ""
    with pytest.raises(ValueError, match=r"operations = .* take MP\("):
        gamma(K, 2**53)
    require_range(K, "s", 1.0)
    for scale in (0.0, 1e-290, math.inf, math.nan):
        with pytest.raises(ValueError, match="binary64 ends there"):
            require_range(K, "s", scale)


def test_a_selection_on_balls_loses_nothing() -> None:
    B = Ball(64)
    assert all(B.le(x, B(0)) for x in selection_reserve(B, B(7), 3))
    assert all(x > 0 for x in selection_reserve(K, 7.0, 3))
