"""Rounding in the noise of Algorithms 2 and 3: known failures of noise that ignores it, and how they end now."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from audit import engine as fast
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex.drift import average_bound
from reference.convex.oracle import Counter
from reference.convex.phased_noise import TIGHT_ROOM, mu_star, quadrature_sigma, tight_sigma
from reference.convex.phased_sgd import (
    PhasedParameters,
    checked_points,
    phase_lengths,
    phased_parameters,
    phased_sgd,
    privacy_rate,
    psgd,
    sigma_printed,
    step_size,
)
from reference.convex.rounding import phase_reserve, projection_error, quadrature_reserve, within
from reference.numerics.numbers import MP, Ball, Float64, Numbers, _as_fraction
from reference.numerics.tape import ZeroTape
from reference.privacy import gaussian_delta
from reference.setting import GLL, Absolute, Box, Example, L2Ball, LpBall, Polytope, Simplex, WholeSpace, l1_ball
from reference.setting.sets import box_polytope

F, K, WIDE = Fraction, Float64(), MP(60)
ABSOLUTE = GLL(Absolute, 1, 1)


def made(K: Numbers, n: int, W: Any, **more: Any) -> PhasedParameters:
    return phased_parameters(K, n, ABSOLUTE, W, **{"epsilon": 1, "delta": "1e-6", **more})


def last_phase(p: PhasedParameters, u: float) -> Fraction:
    """How far one record moves what the last phase (one step) releases, exactly, from the start u on the line."""
    K, q = p.K, replace(p.smoothing, count=Counter())
    eta, ends = step_size(K, p) / 4 ** len(phase_lengths(p.n)), []
    for y in (2**90, -(2**90)):
        points = checked_points(K, p.gll, [Example((1,), y)], p.W, p.start)
        ends.append(_as_fraction(psgd(K, points, 1, eta, K.vector([u]), p, q)[0][0]))
    return abs(ends[0] - ends[1])


@pytest.mark.parametrize(("n", "far", "least"), [(2**16, 0, 1.0001), (2**20, 0, 1.1), (4096, 2**21, 1.4)])
def test_noise_that_ignores_rounding_fails_and_the_tight_rule_does_not(n: int, far: int, least: float) -> None:
    """W = [0, 1] and [2^21, 2^21 + 1], last phase: the move is up to 1.5 of the exact bound; δ(1) is up to 4e-4."""
    p = made(K, n, Box([far], [far + 1]), sigma=tight_sigma)
    k, rng = len(phase_lengths(n)), Random(n)
    eta = step_size(K, p) / 4**k
    moved = max(last_phase(p, far + 0.5 + rng.uniform(-0.25, 0.25)) for _ in range(60))
    bound = average_bound(K, eta, 1, p.smoothing)
    assert moved / F(bound) > least
    naive = F(bound / mu_star(K, p) * float(TIGHT_ROOM))
    now = F(tight_sigma(K, 1, eta, 1, p))
    deltas = [gaussian_delta(WIDE, 1, WIDE(moved / sigma)) for sigma in (naive, now)]
    assert deltas[0] > WIDE("1e-6") >= deltas[1]
    assert F(quadrature_sigma(K, 1, eta, 1, p)) * F(mu_star(K, p)) >= moved


@pytest.mark.parametrize("far", [2**21, 2**46])
def test_a_refusal_names_the_precision_that_does(far: int) -> None:
    with pytest.raises(
        ValueError, match=r"sigma_\d+ = .*rounding in float64 is \d+%.* take K = MP\((\d+)\)"
    ) as refused:
        made(K, 2**16, Box([far], [far + 1]))
    digits = int(str(refused.value).split("K = MP(")[1].split(")")[0])
    assert made(MP(digits), 2**16, Box([far], [far + 1])).sigma is sigma_printed
    assert "\n" not in str(refused.value)
    assert made(K, 2**16, Box([far], [far + 1]), sigma=tight_sigma).n == 2**16


def test_balls_need_no_reserve_and_corrected_noise_stays_as_printed() -> None:
    B = Ball(96)
    p, q = made(B, 16, L2Ball([0, 0], 1)), made(K, 16, L2Ball([0, 0], 1))
    assert B.le(phase_reserve(B, p, B(1), 4), B(0))
    assert B.le(quadrature_reserve(B, p, B("0.01"), 4), B(0))
    assert q.sigma(K, privacy_rate(K, q), 1.0, 4, q) == 4 / privacy_rate(K, q)
    assert 0 < phase_reserve(K, q, 0.01, 4) < 1e-13
    assert phase_reserve(K, replace(q, average="first"), 0.01, 1) == 0


SETS = (
    L2Ball([0, 0, 0], 1),
    L2Ball([2**20, F(1, 3), 0], F(7, 3)),
    Box([F(1, 3), 0, 1], [1, 1, 2]),
    LpBall([100, F(1, 3), 0], 1, float("inf")),
    l1_ball(3),
    LpBall([5, F(1, 3), 0], 2, 1),
    Simplex(3),
    Polytope([[2**20, 0, F(1, 3)], [2**20 + 1, 1, 0]]),
)


@pytest.mark.parametrize("W", SETS, ids=repr)
@pytest.mark.parametrize("system", [K, MP(15)], ids=repr)
def test_projections_err_less_than_their_bound(W: Any, system: Numbers) -> None:
    """Against 60 digits; a box is projected on as it is rounded."""
    rng, worst = Random(1), 0.0
    for _ in range(400):
        w = [float(c) + rng.gauss(0, 1) * rng.choice((0.1, 1, 3)) for c in W.centre(WIDE)]
        found, true = W.project(system, system.vector(w)), W.project(WIDE, WIDE.vector(w))
        gap = sum((WIDE(_as_fraction(a)) - b) ** 2 for a, b in zip(found, true, strict=True)) ** 0.5
        size = float(W.norm_bound(K, 2)) + 10
        allowed = float(projection_error(K, W, size)) + 2 * 2.0**-53 * size
        worst = max(worst, float(gap) / allowed)
    assert worst <= 1


def test_the_whole_space_pulls_far_starts_back() -> None:
    p = made(K, 16, WholeSpace(2))
    near, far = K.vector([1.0, 2.0]), K.vector([1e30, 0.0])
    assert tuple(within(K, p, near)) == (1.0, 2.0)
    assert tuple(within(K, p, far)) == pytest.approx((p.start_reach, 0))
    run = phased_sgd(K, [Example((1, 0), 1)] * 16, p, ZeroTape())
    assert max(abs(x) for x in run.w) < p.start_reach < p.reach


def test_scores_at_far_away_sets() -> None:
    """W = [2^50, 2^50 + 1]: computed scores move against each other by more than 2DL0R/n; the tight scale covers it."""
    W, gll = box_polytope([2**50], [2**50 + 1]), GLL(Absolute, 1, 1, 1)
    p = nfw.frank_wolfe_parameters(K, 16, gll, W, epsilon=1, delta="1e-6", T=2, scale=nfw.scale_tight)
    q, worst = replace(p.smoothing, count=Counter()), F(0)
    for seed in range(40):
        rng, scores = Random(seed), []
        rest = [Example((rng.uniform(-1, 1),), rng.choice((0, 2**90))) for _ in range(15)]
        for y in (2**90, -(2**90)):
            points = checked_points(K, gll, [Example((1,), y), *rest], W, p.start)
            gradient = nfw.mean_gradient(K, points, p.start, p.oracle, q)
            scores.append([F(v @ gradient) for v in W.vertices(K)])
        changes = [a - b for a, b in zip(*scores, strict=True)]
        worst = max(worst, max(changes) - min(changes))
    assert worst > F(nfw.score_range(K, p))
    assert worst / F(p.s) <= F(nfw.kov_epsilon0(K, 1, "1e-6", 2))
    with pytest.raises(ValueError, match=r"rounding in float64 adds .* take K = MP\(\d+\)"):
        nfw.frank_wolfe_parameters(K, 16, gll, W, epsilon=1, delta="1e-6", T=2)


# ------------------------------------------------------------------- parameters that contradict their run


def test_sizes_whose_squares_overflow_are_refused_at_the_door() -> None:
    """On a ball of radius 2^515 the norm of a point overflows beyond 2^512, and its projection jumps to the centre: a
    record moved phase 10 by 744 607 σ, of noise made for 0.2 σ.
    """
    for size in (2**515, F(1, 2**515)):
        with pytest.raises(ValueError, match=r"D = \S+ must lie between 2\^-200 and 2\^200: binary64 ends there"):
            made(K, 1024, L2Ball([0, 0], size), sigma=tight_sigma)
    with pytest.raises(ValueError, match=r"R = .* must lie between 2"):
        phased_parameters(K, 16, GLL(Absolute, 1, 10**160), Box([0], [1]), epsilon=1, delta="1e-6")
    with pytest.raises(ValueError, match=r"reach = .* must lie between 2"):
        made(K, 16, Box([2**300], [2**300 + 2**260]), D=1, sigma=tight_sigma)
    with pytest.raises(ValueError, match=r"L0 = .* must lie between 2"):
        nfw.frank_wolfe_parameters(K, 16, GLL(Absolute, 10**160, 1, 1), l1_ball(2), epsilon=1, delta="1e-6")
    assert made(MP(30), 1024, L2Ball([0, 0], 2**515), sigma=tight_sigma).n == 1024
    assert made(K, 1024, L2Ball([0, 0], 2**190), sigma=tight_sigma).n == 1024


def test_noise_made_for_finer_numbers_does_not_run_in_coarser_ones() -> None:
    """A scale made with 40 digits is 2.5 times too small in binary64 on W = [2^46, 2^46 + 1]²."""
    W, gll, data = box_polytope([2**46] * 2, [2**46 + 1] * 2), GLL(Absolute, 1, 1, 1), [Example((1, 1), 0)] * 8
    given: dict[str, Any] = {"epsilon": 1, "delta": "1e-6", "T": 3, "scale": nfw.scale_tight}
    p, fine = (nfw.frank_wolfe_parameters(N, 8, gll, W, **given) for N in (K, MP(40)))
    assert p.s > 2 * float(fine.s)
    phased = made(MP(40), 8, Box([2**50], [2**50 + 1]))
    one = [Example((1,), 0)] * 8
    for system in (K, MP(20)):
        with pytest.raises(ValueError, match="must round no coarser than mp40"):
            nfw.noisy_frank_wolfe(system, data, fine, ZeroTape())
        with pytest.raises(ValueError, match="must round no coarser than mp40"):
            phased_sgd(system, one, phased, ZeroTape())
    for call, records, at in ((fast.noisy_frank_wolfe, data, fine), (fast.phased_sgd, one, phased)):
        with pytest.raises(ValueError, match="must round no coarser than mp40"):
            call(records, at, fast.LiveBatch(0, 1))  # type: ignore[operator]
    with pytest.raises(ValueError, match="must be 8"):
        fast.noisy_frank_wolfe(data[1:], p, fast.LiveBatch(0, 1))
    assert len(phased_sgd(MP(40), one, phased, ZeroTape()).w) == 1


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"gll": GLL(Absolute, 10, 1)}, r"smoothing\.L0 = 1\.0 must be at least the loss's L0 = 10"),
        ({"gll": GLL(Absolute, 1, 50)}, r"smoothing\.R = 1\.0 must be at least the loss's R = 50"),
        ({"gll": GLL(Absolute, 1, 1, 1)}, "p = 1 must be 2"),
        ({"start": (50.0, 50.0)}, "start = .* must lie in W"),
        ({"W": Polytope([[0, 0], [1, 0], [0, 1]])}, "must (lie in W|have a closed-form)"),
        ({"average": "none"}, "average = 'none' must be"),
        ({"n": 1}, "n = 1 must be an integer of at least 2"),
    ],
)
def test_copies_of_which_a_part_was_replaced_are_held_to_the_proof(part: dict[str, Any], message: str) -> None:
    """The parts agree when they are made; `dataclasses.replace` must not take them apart."""
    p = made(K, 16, L2Ball([0, 0], 1))
    part = part | ({"start": K.vector(part["start"])} if "start" in part else {})
    with pytest.raises(ValueError, match=message):
        replace(p, **part)
    assert replace(p, **part | {"n": 16}, unproven=True).unproven
    with pytest.raises(ValueError, match=r"smoothing\.R"):
        replace(p, smoothing=replace(p.smoothing, R=0.1))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"D": 0.1}, "D = 0.1 must be at least the ℓ_1 diameter of W"),
        ({"W": l1_ball(2, 100)}, "D = 2.0 must be at least"),
        ({"gll": GLL(Absolute, 10, 10, 1)}, r"smoothing\.L0"),
        ({"gll": GLL(Absolute, 1, 1, 2)}, "p = 2 must be 1"),
        ({"J": 2}, "J = 2 must be 4"),
        ({"noise": "none"}, "noise = 'none' must be"),
        ({"T": 0}, "T = 0 must be"),
        ({"T": 50}, r"s = .* must make the run \(epsilon, delta\)-DP"),
    ],
)
def test_copies_of_algorithm_3_likewise(part: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"epsilon": 1, "delta": "1e-6", "T": 3, "scale": nfw.scale_tight}
    p = nfw.frank_wolfe_parameters(K, 16, GLL(Absolute, 1, 1, 1), l1_ball(2), **given)
    with pytest.raises(ValueError, match=message):
        replace(p, **part)
    assert replace(p, **part, unproven=True).unproven
