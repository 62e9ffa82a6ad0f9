"""Rounding in the noise of Algorithms 4 and 5, and step sizes that the noise was not made for."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from audit import engine as fast
from reference.numerics.numbers import MP, Ball, Float64, Numbers, Real, _as_fraction, norm
from reference.numerics.tape import SeededTape
from reference.paper.events import Trace
from reference.privacy import gaussian_mu
from reference.setting import Box, Example, L2Ball, Sigmoid, SquaredTanh, box_polytope, l1_ball
from reference.smooth.calibration import gaussian_stretch, tight_deviation, tight_scale
from reference.smooth.noisy_sfw import noisy_sfw, noisy_sfw_tight
from reference.smooth.poly_sfw import poly_sfw, poly_sfw_tight, recursive_estimate
from reference.smooth.rounding import mean_share, pair_share, record_reserve, release_reserve, round_reserve
from reference.smooth.rounds import Gradients
from reference.smooth.sensitivity import batch_sizes, record_bound

F, K, WIDE = Fraction, Float64(), MP(60)
DATA = tuple(Example((0.25, 0.5), 1) for _ in range(40))
FAR = box_polytope([2**51, 2**51], [2**51 + 1, 2**51 + 1])


def test_scales_do_not_change_on_balls_and_hardly_near_the_origin() -> None:
    B, loss, W = Ball(96), SquaredTanh(1, 1), l1_ball(2)
    sizes, given = batch_sizes(8, 4), (4, 8, loss.L0, loss.L1, 2, 1, "1e-6", "gumbel")
    exact = tight_scale(B, *given)
    assert B.le(tight_scale(B, *given, round_reserve(B, loss, W, B(2), sizes)) - exact, B(F(1, 2**60)))
    reserved = tight_scale(K, *given, round_reserve(K, loss, W, 2.0, sizes))
    assert 1 < reserved / tight_scale(K, *given) < 1 + 1e-9
    assert gaussian_stretch(K, 1, "1e-6", 2, pair_share(K, loss, W, 2.0, 8, 4)) == 1


def test_far_away_sets_are_refused_by_the_printed_scale_and_paid_for_by_the_tight_one() -> None:
    for body in (
        poly_sfw,
        lambda K, loss, W, data, *rest: fast.poly_sfw(loss, W, data, *rest[:-1], fast.LiveBatch(0, 2)),
    ):
        with pytest.raises(ValueError, match=r"s_0 = .* rounding in float64 adds .*; take K = MP\((\d+)\)") as refused:
            body(K, SquaredTanh(1, 1), FAR, DATA, 2, 4, 1, "1e-6", SeededTape(0))
        digits = int(str(refused.value).split("MP(")[1].split(")")[0])
        assert poly_sfw(MP(digits), SquaredTanh(1, 1), FAR, DATA, 2, 4, 1, "1e-6", SeededTape(0)).samples_used == 10
    assert poly_sfw_tight(K, SquaredTanh(1, 1), FAR, DATA, 3, 4, 1, "1e-6", SeededTape(0)).samples_used == 6


def test_step_sizes_that_the_noise_was_not_made_for() -> None:
    """η = 1 for half a round, then 0: the batches are small by then, and a record's influence never fades."""

    def late(K: Numbers, t: int) -> Real:
        return K(int(t < 32))

    many: Any = (SquaredTanh(1, 1), l1_ball(2), DATA * 50, 7, 64, 1, "1e-6", SeededTape(0))
    with pytest.raises(ValueError, match=r"s_6 = .* the proof is for steps of 1/√\(t\+1\)"):
        poly_sfw(K, *many, eta=late, exact_budget=True)
    for body, p, W in ((poly_sfw, 1, l1_ball(2)), (noisy_sfw, 2, L2Ball([0, 0], 1))):
        with pytest.raises(ValueError, match=r"eta_1 = .* must lie in \[0, 1\]"):
            body(K, SquaredTanh(1, p), W, DATA, 2, 4, 1, "1e-6", SeededTape(0), eta=lambda K, t: K(1 + t))


@pytest.mark.parametrize("system", [K, MP(15)], ids=repr)
@pytest.mark.parametrize("far", [0, 2**20, F(2**30, 3)])
def test_the_recursion_errs_less_than_its_bound(system: Numbers, far: Any) -> None:
    """One step from a shared past, against 60 digits: within κ/m + λ of what exact numbers give."""
    rng, loss, W = Random(7), Sigmoid(1), Box([far, far], [far + 1, far + 1])
    for size in (1, 3, 20):
        w, before = ([float(far) + rng.random() for _ in range(2)] for _ in range(2))
        past = [rng.gauss(0, 3) for _ in range(2)]
        batch = [Example((0.6, 0.8 * rng.choice((-1, 1)) * 0.99), rng.choice((-1, 1))) for _ in range(size)]
        found, true = (
            recursive_estimate(S, Gradients(S, loss), batch, S.vector(w), S.vector(before), S.vector(past), 2)
            for S in (system, WIDE)
        )
        gap = norm(WIDE, WIDE.vector([_as_fraction(a) for a in found]) - true, 2)
        assert gap <= WIDE(_as_fraction(release_reserve(system, loss, W, size, norm(system, system.vector(past), 2))))


def test_reserves_are_small_shares_near_the_origin() -> None:
    loss, W = SquaredTanh(1), L2Ball([0, 0], 1)
    assert 0 < record_reserve(K, loss, W) < 1e-13 * record_bound(K, 1, loss.L0, loss.L1, 2)
    assert 0 < mean_share(K, loss, W, 64) < 1e-11
    assert mean_share(Ball(64), loss, W, 64).rad == 0


@pytest.mark.parametrize("adaptive", [True, False])
def test_the_tight_noise_of_algorithm_5_pays_for_rounding_at_every_step(adaptive: bool) -> None:
    """Far from the origin the reserve is seen: with it, and never without, the deviation is the one that ran."""
    loss, W, trace, mu = Sigmoid(1), L2Ball([2**40, 0], 1), Trace(), gaussian_mu(K, 1, "1e-6")
    noisy_sfw_tight(K, loss, W, DATA, 3, 9, 1, "1e-6", SeededTape(0), adaptive=adaptive, trace=trace)
    seen = {(event.name, event.indices[-1]): event.value for event in trace.events}
    estimate = W.centre(K) * 0
    for t, size in enumerate(batch_sizes(9, 2)):
        assert len(seen["batch", t]) == size
        move = seen["w", t] - (seen["w", t - 1] if t else W.centre(K))
        eta = 1 / K.sqrt(K(t + 1))
        bound = K(loss.L0) if t == 0 else (1 - eta) * min(loss.L1 * norm(K, move, 2), 2 * loss.L0) + eta * loss.L0
        if not adaptive:
            bound = record_bound(K, t, loss.L0, loss.L1, 2)
        reserve = release_reserve(K, loss, W, size, norm(K, estimate, 2))
        assert seen["sigma", t] == pytest.approx(tight_deviation(K, size, bound + reserve, 2, 2, mu), rel=1e-12)
        assert seen["sigma", t] > tight_deviation(K, size, bound, 2, 2, mu) * (1 + 1e-8)
        estimate = seen["noisy_grad", t]
