"""Proposition 16, Lemma 17, Definition 18, and certified proximal points."""

import itertools
import random
from fractions import Fraction as Q
from typing import Any

import pytest
from not_weakly_convex import min_abs_one

from reference.numerics.numbers import Ball, Float64, dual_exponent, norm
from reference.setting.data import Example
from reference.setting.losses_weak import (
    MCP,
    SCAD,
    RobustPhaseRetrieval,
    SquareResidual,
    TanhRegression,
    WeaklyConvexLoss,
)
from reference.setting.sets import Box, LpBall
from reference.weakly_convex import prox
from reference.weakly_convex import weak_convexity as wc
from reference.weakly_convex.functions import (
    PiecewiseQuadratic,
    RegularisedRegression,
    linear,
    mcp,
    scad,
    square_residual,
)
from reference.weakly_convex.mirror import geometry
from reference.weakly_convex.strongly_convex import scales

K = Float64()
LINE = [
    (square_residual(), SquareResidual(1, 4)),
    (mcp(Q(1, 2), 2), MCP(Q(1, 2), 2)),
    (scad(Q(1, 2), 3), SCAD(Q(1, 2), 3)),
    (square_residual(Q(1, 2)), SquareResidual(Q(1, 4), 4)),
]
W = (Q(-2), Q(3, 2))
CENTRES = [Q(i, 8) for i in range(-16, 13)]


@pytest.mark.parametrize("index", range(4))
@pytest.mark.statement("eqn:prox_map", kind="searched")
def test_closed_forms_are_the_rational_proximal_points(index: int) -> None:
    f, loss = LINE[index]
    for w in CENTRES:
        for beta in (Q(5, 2), Q(4), Q(10)):
            exact = prox.prox_exact(f, beta, w, W)
            assert prox.prox_line(K, loss, beta, w, *W) == pytest.approx(float(exact), abs=1e-13)
            best = f(exact) + beta * (exact - w) ** 2 / 2
            for v in {*CENTRES, exact + Q(1, 100), exact - Q(1, 100)}:
                if W[0] <= v <= W[1] and v != exact:
                    assert f(v) + beta * (v - w) ** 2 / 2 > best  # the minimiser, and the only one


def test_phase_retrieval_on_the_line_in_closed_form() -> None:
    """|a²v² − y| with a = 3/2, y = 1/4: the scalar loss at t = av, β/a² and m = aw."""
    a = Q(3, 2)
    f, loss = square_residual(Q(1, 2), a), SquareResidual(Q(1, 4), 9)
    for w in CENTRES:
        beta = Q(10)
        exact = prox.prox_exact(f, beta, w, (Q(-4), Q(4)))
        closed = prox.prox_line(K, loss, beta / a**2, a * w) / 1.5
        assert closed == pytest.approx(float(exact), abs=1e-13)


def test_beta_below_rho_over_nu_is_refused() -> None:
    with pytest.raises(ValueError, match=r"beta = 2 must exceed ρ/ν = 2"):
        prox.prox_exact(square_residual(), 2, 0, W)
    with pytest.raises(ValueError, match=r"must exceed ρ/ν = inf"):
        prox.prox_exact(min_abs_one(), 10**9, 0, W)
    with pytest.raises(ValueError, match="beta"):
        prox.prox_line(K, SquareResidual(1, 4), 2, 0)


@pytest.mark.parametrize("p", [1, Q(3, 2), 2])
@pytest.mark.statement("prop:reg_wk_cvx", kind="searched")
def test_proposition_16(p: Any) -> None:
    """f = −½(Σw)² in ℓ_p̄ (ρ̃ = C² for p = 1): νβ − ρ̃ holds for random chords, and cannot be raised by 5 %."""
    generator = random.Random(6)
    geo = geometry(K, p, 3)
    p_bar, nu = geo.p_bar, 1 / geo.kappa
    rho = 3 ** (2 - 2 / float(p_bar))  # ‖1‖²_q̄
    beta = 3 * rho * geo.kappa
    strength = prox.strong_convexity(K, nu, beta, rho)
    assert strength == pytest.approx(2 * rho)
    f = lambda x: -(K.sum(x) ** 2) / 2  # noqa: E731
    least, centre = 10.0, K.vector([1, -1, 0])
    for i in range(400):
        w = K.vector([generator.gauss(0, 1) for _ in range(3)])
        v = w + K.vector([1, 1, 1] if i % 2 else [generator.gauss(0, 1) for _ in range(3)]) * 10 ** generator.uniform(
            -2, 0
        )
        slack = prox.regularised_defect(K, f, p_bar, beta, centre, strength, w, v, 0.5)
        length = norm(K, w - v, p_bar)
        least = min(least, slack / (length * length / 8))
    assert least >= -1e-6
    if p == 2:
        assert least < 0.05 * strength  # attained in ℓ_2


@pytest.mark.parametrize("index", range(4))
@pytest.mark.statement("lem:prox_estimate", kind="exact")
def test_lemma_17_and_its_sharpening(index: int) -> None:
    """gap(ŵ) ≤ βδ(D̂ − δ) ≤ βDδ, in rationals."""
    f, _ = LINE[index]
    D = W[1] - W[0]
    for w, beta in itertools.product(CENTRES, (Q(5, 2), Q(6))):
        w_hat = prox.prox_exact(f, beta, w, W)
        delta, far = abs(w_hat - w), max(w - W[0], W[1] - w)
        gap = wc.gap(f, W, w_hat)
        assert gap <= beta * delta * (far - delta) <= beta * D * delta


@pytest.mark.statement("lem:prox_estimate", kind="exact")
def test_the_sharp_form_of_lemma_17_is_attained() -> None:
    """W = [0, D], w = 0, f(v) = −cv: δ = c/β, gap = c(D − c/β) = βδ(D − δ)."""
    D, c, beta = Q(2), Q(1), Q(4)
    f = linear(-c)
    w_hat = prox.prox_exact(f, beta, 0, (Q(0), D))
    assert w_hat == c / beta
    gap = wc.gap(f, (Q(0), D), w_hat)
    assert gap == beta * w_hat * (D - w_hat)
    B = Ball(64)
    assert prox.stationarity_bound(B, B(beta), B(D), B(w_hat)).contains(gap)
    assert B.lt(B(gap), prox.stationarity_bound_printed(B, B(beta), B(D), B(w_hat)))


@pytest.mark.statement("def:prox_near_stat", kind="exact")
@pytest.mark.statement("eqn:PNS_conseq", kind="exact")
def test_definition_18_and_its_consequences() -> None:
    B = Ball(64)
    for beta, D in ((Q(1, 4), Q(2)), (Q(4), Q(2)), (Q(1, 2), Q(2))):
        theta = B(Q(7, 8))
        distance, gap = prox.consequences(B, theta, B(beta), B(D))
        assert B.le(distance, theta)
        assert B.le(gap, theta)
        assert prox.near_stationarity_of(B, distance, B(beta), B(D)).contains(Q(7, 8))
        assert prox.is_close_to_nearly_stationary(B, distance, gap, theta)
        assert not prox.is_close_to_nearly_stationary(B, theta + theta, gap, theta)


def records(p: Any, d: int, count: int, labels: list[Q], seed: int) -> tuple[Example, ...]:
    generator = random.Random(seed)
    q = dual_exponent(p)
    out = []
    for i in range(count):
        x = K.vector([generator.gauss(0, 1) for _ in range(d)])
        scaled = x * (0.99 / norm(K, x, q))
        out.append(Example(tuple(Q(round(t * 2**12), 2**12) for t in scaled), labels[i % len(labels)]))
    return tuple(out)


def losses(p: Any, d: int) -> list[tuple[WeaklyConvexLoss, list[Q]]]:
    return [
        (RobustPhaseRetrieval(1, 1, p), [Q(0), Q(1, 16), Q(1, 4)]),
        (RegularisedRegression(MCP(Q(1, 2), 2), 1, d, p), [Q(1, 4), Q(-1, 2)]),
        (RegularisedRegression(SCAD(Q(1, 2), 3), 1, d, p), [Q(1, 4), Q(-1, 2)]),
        (TanhRegression(1, p), [Q(1, 4), Q(-1, 4)]),
    ]


@pytest.mark.parametrize("p", [1, Q(3, 2), 2])
@pytest.mark.parametrize("index", range(4))
@pytest.mark.statement("eqn:prox_map", kind="searched")
def test_certified_proximal_points_of_populations(p: Any, index: int) -> None:
    """The certificate is small, survives comparison with random feasible points, and is reproduced on balls."""
    d = 3
    loss, labels = losses(p, d)[index]
    population = prox.empirical(loss, records(p, d, 5, labels, seed=8))
    feasible = LpBall([0] * d, 1, p)
    w = K.vector([Q(1, 8), Q(-1, 16), Q(1, 4)])
    found = prox.prox_population(K, population, feasible, w, tolerance=Q(1, 10**4))
    assert found.radius < 2e-4
    at = scales(K, p, d, loss.L0, loss.rho)
    assert norm(K, found.point - w, at.geo.p_bar) <= at.radius * (1 + 1e-9)
    generator = random.Random(9)
    for _ in range(60):
        v = found.point + K.vector([generator.gauss(0, 1) for _ in range(d)]) * 10 ** generator.uniform(-4, -1)
        if feasible.contains(K, v):
            length = norm(K, v - w, at.geo.p_bar)
            assert population.value(K, v) + at.beta * length * length / 2 >= found.lower


def test_a_certificate_on_balls_is_a_proof_and_a_wrong_point_shows() -> None:
    B = Ball(128)
    loss = RobustPhaseRetrieval(1, 2)
    population = prox.Population(loss, (Example((1,), 1),), (Q(1),))
    feasible, beta = Box([-2], [2]), 2 * loss.rho
    w = B.vector([Q(7, 10)])
    found = prox.prox_population(B, population, feasible, w, tolerance=Q(1, 10**6))
    closed = prox.prox_line(B, SquareResidual(1, 2), beta, Q(7, 10), -2, 2)
    assert B.le(B.abs(found.point[0] - closed), found.radius)
    assert B.lt(found.radius, B("1e-6"))
    bundle = prox.Bundle((K.zeros(1),), (Q(1),), K.zeros(1))  # the centre instead of the solution
    coarse = prox.certify_prox(B, population, feasible, w, bundle)
    assert B.le(B.abs(coarse.point[0] - closed), coarse.radius)
    assert B.lt(B("0.05"), coarse.radius)


def test_a_population_must_be_a_distribution() -> None:
    loss = TanhRegression(1)
    with pytest.raises(ValueError, match="sum to 1"):
        prox.Population(loss, (Example((1,), 0),), (Q(1, 2),))


@pytest.mark.statement("lem:prox_estimate", kind="searched")
def test_the_distance_is_at_most_ell_over_beta() -> None:
    """‖ŵ − w‖ ≤ Lip/β over W, exactly on the line; attained by a linear function inside W."""
    tightest = Q(0)
    for (f, loss), w, beta in itertools.product(LINE[1:3], CENTRES, (Q(5, 2), Q(6))):
        tightest = max(tightest, abs(prox.prox_exact(f, beta, w, W) - w) * beta / loss.lipschitz)
    assert Q(9, 10) < tightest <= 1


def test_prox_exact_at_kinks_and_ends() -> None:
    f = PiecewiseQuadratic((), ((Q(0), Q(0), Q(0)),))
    assert prox.prox_exact(f, 1, 5, (Q(0), Q(1))) == 1
    assert prox.prox_exact(f, 1, -5, (Q(0), Q(1))) == 0
    assert prox.prox_exact(square_residual(), 4, Q(9, 10), (Q(-2), Q(2))) == 1


# ------------------------------------------------------------------------------- certificates that are proofs


@pytest.mark.parametrize("box", [True, False])
def test_the_certified_point_lies_in_w_and_the_true_one_within_its_radius(box: bool) -> None:
    """|tanh w − 1| falls on W = [−1/k, 1/k], and from w = 0 the proximal point is its end 1/k: no float."""
    B = Ball(256)
    population = prox.empirical(TanhRegression(1), [Example((1,), 1)])
    for k in range(3, 60, 4):
        end = Q(1, k)
        W = Box([-end], [end]) if box else LpBall([0], end, 2)
        found = prox.prox_population(B, population, W, B.zeros(1))
        assert W.contains(B, found.point)
        assert B.le(B(end) - found.point[0], found.radius)


def test_an_infeasible_best_point_is_moved_into_the_set() -> None:
    """Outside W a risk can be lower than anywhere in it: such a value is no upper bound."""
    population, W = prox.empirical(TanhRegression(1), [Example((1, 0), 1)]), LpBall([0, 0], Q(1, 4), 2)
    B = Ball(128)
    outside = prox.Bundle((B.zeros(2),), (Q(1),), K.vector([0.4, 0]))
    found = prox.certify_prox(B, population, W, B.zeros(2), outside)
    assert W.contains(B, found.point)
    assert B.lt(B(0), found.radius)
    assert B.le(found.lower, found.upper)


@pytest.mark.parametrize("weights", [(Q(2),), (Q(1, 2), Q(1, 2)), (Q(-1),), ()])
def test_weights_that_are_none_are_refused(weights: tuple[Q, ...]) -> None:
    population, W = prox.empirical(TanhRegression(1), [Example((1, 0), 1)]), LpBall([0, 0], Q(1, 4), 2)
    bundle = prox.Bundle((K.zeros(2),), weights, K.zeros(2))
    with pytest.raises(ValueError, match="non-negative, with sum 1"):
        prox.certify_prox(K, population, W, K.zeros(2), bundle)


def test_bounds_in_the_wrong_order_are_an_error() -> None:
    """A loss that claims a ρ too small has cuts that cut its minimiser off."""

    class Smoother(RobustPhaseRetrieval):
        @property
        def rho(self) -> Q:
            return Q(1, 10)

    population, W = prox.empirical(Smoother(1, 1), [Example((1,), 1)]), LpBall([0], 1, 2)
    bundle = prox.Bundle((K.vector([0.0]),), (Q(1),), K.vector([0.9]))
    with pytest.raises(ArithmeticError, match="not ρ-weakly convex as declared"):
        prox.certify_prox(K, population, W, K.zeros(1), bundle)
