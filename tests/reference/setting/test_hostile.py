"""The rule for hostile records: every object becomes an admissible record, and good records stay as they are."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bench.hostile import Liar, LyingFraction, turncoat
from reference.numerics.numbers import INF, MP, Float64, norm
from reference.setting import data
from reference.setting.data import FEATURE_SLACK, LARGEST_LABEL, Example, blank, clipped_features, plain_number
from reference.setting.losses import GLL, Absolute, RobustPhaseRetrieval, Sigmoid, SquaredTanh

F = Fraction
EXPONENTS = (1, F(3, 2), 2, 3, INF)
BOUNDS = (F(1, 10**9), F(1), F(7, 3))
ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (1, 1),
        (0.5, 0.5),
        (F(1, 3), F(1, 3)),
        ("0.25", F(1, 4)),
        (" 1/3 ", F(1, 3)),
        ("1e400", F(10) ** 400),
        (10**400, 10**400),
        (5e-324, 5e-324),
        (True, None),
        (math.nan, None),
        (-math.inf, None),
        ("nan", None),
        ("1e99999", None),
        ("1e999999999", None),
        ("1" * 6000, None),
        ("1/0", None),
        (10**9000, None),
        (1j, None),
        (None, None),
        ([1], None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_a_number(value: Any, read: Any) -> None:
    if value == "1/0":
        with pytest.raises(ZeroDivisionError):  # inside a record this is caught, like all else
            plain_number(value)
    else:
        assert plain_number(value) == read


@given(
    st.lists(ANY_FLOAT, min_size=1, max_size=4),
    st.sampled_from(EXPONENTS),
    st.sampled_from([F(1, 10**9), F(1), F(7, 3)]),
)
def test_features_are_never_longer_than_the_bound(x: list[float], q: Any, R: Fraction) -> None:
    loss = Sigmoid(R, 1 if q == INF else INF if q == 1 else F(q) / (F(q) - 1))
    record = loss.admit((x, 0.5), len(x))
    high = MP(60)
    assert norm(high, high.vector(record.x), q) <= high(R * (1 + FEATURE_SLACK))
    assert all(isinstance(v, (int, float, Fraction)) for v in record.x)
    if not all(map(math.isfinite, x)):
        assert record == blank(len(x))
    elif sum(abs(F(v)) for v in x) <= R:
        assert record.x == tuple(x)
    assert loss.admit(record, len(x)) == record


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=3))
def test_features_of_the_full_length_stay_as_they_are(x: list[float]) -> None:
    """Scaled to length 1 in binary64 they may be a few ulps too long: not a digit changes."""
    length = math.sqrt(math.fsum(v * v for v in x))
    if length > 0:
        unit = tuple(v / length for v in x)
        assert clipped_features(unit, F(1), 2) == unit


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_directions_survive_clipping_at_every_scale(scale: float) -> None:
    x = clipped_features((3 * scale, -4 * scale), F(scale), 2)
    assert x == pytest.approx((0.6 * scale, -0.8 * scale), rel=1e-9, abs=0)


def test_labels_are_moved_to_the_nearest_that_the_loss_allows() -> None:
    assert SquaredTanh(1).admit(Example((0.5,), 7), 1) == Example((0.5,), 1)
    assert SquaredTanh(1).admit(((0.5,), "-1e300"), 1) == Example((0.5,), -1)
    assert GLL(Absolute, 1, 1).admit(Example((0.5,), 10**400), 1) == Example((0.5,), LARGEST_LABEL)
    kept = Example((0.5,), 3)
    assert RobustPhaseRetrieval(1, 1).admit(kept, 1) is kept


@pytest.mark.parametrize(
    "z", [None, 3, "ab", (), ((1, 2), 0), Example((1, 2), 0), {"x": 1}, ((0.5,),), ("1", 0), (b"1", 0)]
)
def test_what_is_no_record_becomes_the_blank_one(z: Any) -> None:
    for loss in (SquaredTanh(1), RobustPhaseRetrieval(1, 1), GLL(Absolute, 1, 1)):
        assert loss.admit(z, 1) == blank(1)
    K = Float64()
    assert list(SquaredTanh(1).gradient(K, K.vector([0.25]), blank(1))) == [0.0]


def test_objects_of_somebodys_own_are_not_kept() -> None:
    """What answers otherwise when it is asked again would pass the clip; what raises when it is counted would show."""
    for loss in (SquaredTanh(1), RobustPhaseRetrieval(1, 1), GLL(Absolute, 1, 1)):
        for patience in range(10):
            found = loss.admit(turncoat((0.5, 0.25), 1, patience), 2)
            assert type(found) is Example
            assert [sum(F(v) ** 2 for v in found.x) <= (1 + FEATURE_SLACK) ** 2 for _ in range(12)] == [True] * 12
        for number in (Liar(0.5), LyingFraction(10**30), Decimal("NaN"), np.longdouble("1e4000")):
            kept = loss.admit(((number, 0.25), number), 2)
            assert {type(v) for v in (*kept.x, kept.y)} <= {int, float, F}
            assert sum(F(v) ** 2 for v in kept.x) <= (1 + FEATURE_SLACK) ** 2


@given(
    st.lists(st.floats(-1, 1, allow_nan=False), min_size=1, max_size=4).filter(any),
    st.sampled_from([1, 2, INF, F(3, 2), F(50)]),
    st.sampled_from([F(1), F(1, 3), F(7, 5), F(2) ** 1005, F(1, 10**320)]),
    st.sampled_from([0, 38, 40, 41, 42, 43, 48, 53]),
    st.sampled_from([-1, 1]),
)
def test_what_binary64_sees_at_once_rationals_say_too(x: list[float], q: Any, R: F, near: int, side: int) -> None:
    """Lengths at the bound and next to it: the quick way and the slow one give the same features, to the bit."""
    largest = max(map(abs, x))
    length = largest if q == INF else largest * math.fsum(abs(v / largest) ** float(q) for v in x) ** (1 / float(q))
    assume(length > 1e-9)
    scale = F(R) / F(length) * (1 + F(side, 2**near) if near else 1)
    features = tuple(F(v) * scale for v in x)
    quick = clipped_features(features, R, q)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "_surely_short", lambda *given: False)
        assert clipped_features(features, R, q) == quick


def test_a_bound_that_binary64_rounds_up_is_decided_in_rationals() -> None:
    """R = 1.5·2^−1074 is 2·2^−1074 in binary64, and features of that length are longer than R."""
    least = F(1, 2**1074)
    assert clipped_features((2 * least,), F(3, 2) * least, 2) == (least,)
