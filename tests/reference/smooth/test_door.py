"""What depends on no record and would spoil the proof is refused before the data are looked at, in one line."""

from __future__ import annotations

from typing import Any

import pytest

from audit import engine as fast
from reference.numerics.numbers import Float64
from reference.numerics.tape import SeededTape
from reference.setting import Box, Example, L2Ball, SignedQuadratic, SquaredTanh, TanhRegression, WholeSpace, l1_ball
from reference.smooth.noisy_sfw import noisy_sfw, noisy_sfw_printed, noisy_sfw_tight
from reference.smooth.poly_sfw import poly_sfw, poly_sfw_printed, poly_sfw_tight

K = Float64()
DATA = tuple(Example((0.25, 0.5), 1) for _ in range(12))
POLY, NOISY = (poly_sfw, poly_sfw_printed, poly_sfw_tight), (noisy_sfw, noisy_sfw_printed, noisy_sfw_tight)
FAST = ((fast.poly_sfw, 1), (fast.poly_sfw_tight, 1), (fast.noisy_sfw, 2), (fast.noisy_sfw_tight, 2))


def run(body: Any, p: int, **changed: Any) -> Any:
    given: dict[str, Any] = {"loss": SquaredTanh(1, p), "W": l1_ball(2) if p == 1 else L2Ball((0, 0), 1)} | changed
    loss, W = given.pop("loss"), given.pop("W")
    return body(K, loss, W, DATA, 2, 3, 1, "1e-6", SeededTape(0), **given)


BODIES = [*((body, 1) for body in POLY), *((body, 2) for body in NOISY)]


@pytest.mark.parametrize(("body", "p"), BODIES, ids=lambda x: getattr(x, "__name__", x))
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"start": K.vector([50, 0])}, r"start = \(50.0, 0.0\) must lie in W: project it first"),
        ({"start": K.vector([0])}, "dimension of start"),
        ({"D": 1}, "D = 1.0 must be at least the diameter 2 of W"),
        ({"D": float("inf")}, "D = inf must lie between"),
        ({"loss": "B"}, "B = 1/2 must bound the norms of the points of W"),
    ],
)
def test_refused_at_the_door(body: Any, p: int, changed: dict[str, Any], message: str) -> None:
    if changed.get("loss") == "B":
        changed = {"loss": SignedQuadratic(1, "0.5", 1, p)}
    with pytest.raises(ValueError, match=message) as refused:
        run(body, p, **changed)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("body", NOISY, ids=lambda body: body.__name__)
def test_the_whole_space_has_no_linear_minimiser(body: Any) -> None:
    with pytest.raises(ValueError, match="be bounded"):
        run(body, 2, W=WholeSpace(2))


@pytest.mark.parametrize(("body", "p"), FAST, ids=lambda x: getattr(x, "__name__", x))
def test_the_fast_engine_refuses_the_same(body: Any, p: int) -> None:
    W = l1_ball(2) if p == 1 else Box((-1, -1), (1, 1))
    for changed in ({"start": [50, 0]}, {"D": 1}):
        with pytest.raises(ValueError, match=r"start|diameter"):
            body(SquaredTanh(1, p), W, DATA, 2, 3, 1, "1e-6", fast.LiveBatch(0, 2), **changed)


@pytest.mark.parametrize(("body", "p"), BODIES, ids=lambda x: getattr(x, "__name__", x))
def test_sizes_whose_squares_overflow_are_refused(body: Any, p: int) -> None:
    """A norm that overflows is no distance, and ∞ − ∞ in a prediction would be a NaN that some records cause."""
    sets = [l1_ball(2, 2**300) if p == 1 else L2Ball((0, 0), 2**300), Box((2**300,) * 2, (2**300 + 2**260,) * 2)]
    for W in sets if p == 2 else sets[:1]:
        with pytest.raises(ValueError, match=r"(D|reach) = \S+ must lie between 2\^-200 and 2\^200"):
            run(body, p, W=W)
    with pytest.raises(ValueError, match=r"L0 = \S+ must lie between"):
        run(body, p, loss=SquaredTanh(10**160, p))


@pytest.mark.parametrize("body", NOISY, ids=lambda body: body.__name__)
def test_a_loss_of_another_section_is_refused(body: Any) -> None:
    with pytest.raises(ValueError, match="be smooth, with its L1"):
        run(body, 2, loss=TanhRegression(1))
