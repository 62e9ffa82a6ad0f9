"""Appendix B on exact functions: definitions, characterisations, cones and gaps, in rationals."""

import itertools
import random
from fractions import Fraction as Q

import pytest
from not_weakly_convex import NotWeaklyConvex, min_abs_one

from reference.numerics.numbers import INF, Ball, Float64, norm
from reference.setting.losses_convex import ScalarLoss
from reference.setting.losses_weak import MCP, SCAD, SquareResidual, TanhResidual, WeakScalarLoss
from reference.weakly_convex import weak_convexity as wc
from reference.weakly_convex.functions import (
    MaxOfQuadratics,
    PiecewiseQuadratic,
    Quadratic,
    absolute,
    inner,
    linear,
    mcp,
    modulus,
    quadratic,
    scad,
    square_residual,
)
from reference.weakly_convex.games import matrix_game
from reference.weakly_convex.mirror import duality_map, geometry

GRID = [Q(i, 4) for i in range(-12, 13)]
WEAK = {
    "square_residual": (square_residual(), Q(2)),
    "phase": (square_residual(Q(1, 2), Q(3, 2)), Q(9, 2)),
    "mcp": (mcp(Q(1, 2), 2), Q(1, 2)),
    "scad": (scad(Q(1, 2), 3), Q(1, 2)),
    "concave": (quadratic(-1), Q(2)),
    "convex": (absolute(2, Q(1, 2)) + quadratic(1), Q(0)),
}


@pytest.mark.parametrize("name", WEAK)
@pytest.mark.statement("defn:weak_convexity", kind="exact")
def test_the_modulus_is_the_smallest_rho(name: str) -> None:
    f, rho = WEAK[name]
    assert modulus(f) == rho
    assert wc.violation(f, rho) is None
    for w, v in itertools.product(GRID[::2], repeat=2):
        for lam in (Q(0), Q(1, 4), Q(1, 2), Q(2, 3), Q(1)):
            assert wc.line_defect(f, rho, w, v, lam) >= 0
    if rho:
        found = wc.violation(f, rho - Q(1, 100))
        assert found is not None
        assert wc.line_defect(f, rho - Q(1, 100), found.w, found.v, found.lam) == found.defect < 0


@pytest.mark.statement("eqn:wk_cvx", kind="exact")
def test_a_concave_kink_is_refused_for_every_rho() -> None:
    f = min_abs_one()
    assert modulus(f) == INF
    for rho in (1, 100, 10**6):
        found = wc.violation(f, rho)
        assert found is not None
        assert found.defect < 0


def bends_too_far(loss: ScalarLoss, rho: float, levels: int) -> bool:
    """Whether a second difference on a dyadic grid of [−2, 2] falls below −ρh²: λ = ½, h = 2^{−1}, …, 2^{−levels}."""
    K = Float64()
    for level in range(1, levels + 1):
        h = Q(1, 2**level)
        for i in range(1, int(4 / h)):
            below, here, above = (loss.value(K, K(-2 + (i + j) * h)) for j in (-1, 0, 1))
            if below + above - 2 * here + rho * float(h * h) < -(2**-40) * (1 + abs(here)):
                return True
    return False


@pytest.mark.parametrize("rho", [1, 50])
def test_second_differences_of_min_abs_one(rho: int) -> None:
    assert bends_too_far(NotWeaklyConvex(), rho, levels=8)


@pytest.mark.parametrize("loss", [SquareResidual(1, 2), MCP(Q(1, 2), 2), SCAD(Q(1, 2), 3), TanhResidual(Q(1, 4))])
def test_second_differences_of_the_losses_need_all_of_rho(loss: WeakScalarLoss) -> None:
    assert not bends_too_far(loss, float(loss.rho), levels=7)
    assert bends_too_far(loss, 0.9 * float(loss.rho), levels=7)


@pytest.mark.statement("eqn:wk_cvx", kind="enclosed")
def test_weak_convexity_in_lp_on_balls() -> None:
    """f = −½(Σw)²: ρ = 1 in ℓ_1, not in ℓ_2 (there it is d)."""
    K = Ball(96)
    w, v = K.vector([1, 1, 1]), K.vector([-1, -1, 0])
    f = lambda x: -(K.sum(x) ** 2) / 2  # noqa: E731
    assert K.le(K(0), wc.defect(K, f, 1, K(1), w, v, K(Q(1, 4))))
    assert K.lt(wc.defect(K, f, 2, K(1), w, v, K(Q(1, 4))), K(0))
    assert K.lt(wc.defect(K, f, 1, K(Q(9, 10)), w, v, K(Q(1, 4))), K(0))


@pytest.mark.parametrize("name", WEAK)
@pytest.mark.statement("defn:regular_subdifferential", kind="exact")
def test_the_subdifferential_is_where_the_liminf_is_nonnegative(name: str) -> None:
    f, _ = WEAK[name]
    for w in {*GRID, *f.kinks}:
        found = wc.subdifferential(f, w)
        assert found is not None
        for g in {*GRID, *found}:
            assert (wc.subgradient_liminf(f, w, g) >= 0) == (found[0] <= g <= found[1])
            # the definition itself, at v = w ± 2^{-30}: the quotient is within 2^{-20} of the limit on its side
            h = Q(1, 2**30)
            quotient = min((f(w + s) - f(w) - g * s) / h for s in (h, -h))
            assert abs(quotient - wc.subgradient_liminf(f, w, g)) <= Q(1, 2**20)


def test_a_concave_kink_has_no_subgradient() -> None:
    assert wc.subdifferential(min_abs_one(), 1) is None
    assert wc.from_directions(min_abs_one(), 1) is None


@pytest.mark.parametrize("name", WEAK)
@pytest.mark.statement("prop:loc_subdiff", kind="exact")
def test_proposition_24(name: str) -> None:
    f, _ = WEAK[name]
    for w in {*GRID, *f.kinks}:
        assert wc.from_directions(f, w) == wc.subdifferential(f, w)


def test_the_printed_directional_derivative_breaks_proposition_24() -> None:
    assert wc.from_directions(absolute(), 0, wc.directional_derivative_printed) is None
    assert (
        wc.from_directions(absolute(-1), 0) is None
    )  # no subgradient: the hypothesis "subdifferentiable" is not needed


@pytest.mark.parametrize("name", WEAK)
@pytest.mark.statement("prop:wk_cvx_subdifferential", kind="exact")
@pytest.mark.statement("eqn:subgrad_weak_cvx", kind="exact")
def test_proposition_25(name: str) -> None:
    f, rho = WEAK[name]
    smaller = []
    for w in {*GRID, *f.kinks}:
        found = wc.subdifferential(f, w)
        assert found is not None
        for g, v in itertools.product(found, {*GRID, *f.kinks}):
            assert wc.subgradient_defect(f, rho, w, v, g) >= 0
            smaller.append(wc.subgradient_defect(f, rho - Q(1, 10), w, v, g))
    if rho:
        assert min(smaller) < 0  # ρ is the smallest number with which the inequality holds


@pytest.mark.statement("prop:wk_cvx_subdifferential", kind="exact")
def test_proposition_25_backwards_the_identity_of_the_weights() -> None:
    """λ(1−λ)² + (1−λ)λ² = λ(1−λ): the quadratic terms of the two inequalities add up to the one of weak convexity."""
    for i in range(17):
        lam = Q(i, 16)
        assert lam * (1 - lam) ** 2 + (1 - lam) * lam**2 == lam * (1 - lam)


@pytest.mark.statement("cor:smooth_implies_wk_cvx", kind="enclosed")
def test_corollary_26_in_l1_and_its_constant() -> None:
    K = Ball(96)
    f = lambda x: -(K.sum(x) ** 2) / 2  # noqa: E731
    gradient = lambda x: K.vector([-K.sum(x)] * 3)  # noqa: E731
    generator = random.Random(5)
    for _ in range(20):
        w, v = (K.vector([Q(generator.randint(-8, 8), 4) for _ in range(3)]) for _ in range(2))
        assert K.le(-K("1e-20"), wc.smooth_defect(K, f, gradient, 1, K(1), w, v))
    w, v = K.vector([0, 0, 0]), K.vector([1, 1, 1])
    assert K.lt(wc.smooth_defect(K, f, gradient, 1, K(Q(9, 10)), w, v), K(0))


@pytest.mark.parametrize("name", WEAK)
@pytest.mark.statement("thm:sum_subdiff", kind="exact")
def test_the_sum_rule(name: str) -> None:
    f, _ = WEAK[name]
    for g in (absolute(3, 1), absolute() + quadratic(2), linear(-1)):
        for w in {*GRID, *f.kinks, *g.kinks}:
            whole, parts = wc.sum_rule(f, g, w)
            assert whole == parts
    whole, parts = wc.sum_rule(absolute(-1), absolute(2), 0)  # f not weakly convex: the rule fails
    assert whole == (-1, 1)
    assert parts is None


def random_hulls(seed: int, count: int) -> list[tuple[tuple[Q, ...], ...]]:
    generator = random.Random(seed)
    return [
        tuple(tuple(Q(generator.randint(-6, 6), 2) for _ in range(3)) for _ in range(generator.randint(1, 4)))
        for _ in range(count)
    ]


@pytest.mark.parametrize("ball", ["l1", "linf"])
@pytest.mark.statement("prop:dist_directional", kind="exact")
def test_proposition_28_with_the_dual_norm(ball: str) -> None:
    for hull in random_hulls(7, 25):
        distance = wc.distance_to_zero(hull, ball)
        assert distance == wc.steepest_descent(hull, ball) >= 0
        # both certificates by hand: a hull point of this dual norm, and a direction of this descent
        vertices = wc.unit_ball(3, ball)
        mix = matrix_game([[inner(g, e) for e in vertices] for g in hull]).rows
        point = [sum((a * g[j] for a, g in zip(mix, hull, strict=True)), Q(0)) for j in range(3)]
        dual = max(abs(x) for x in point) if ball == "l1" else sum(abs(x) for x in point)
        assert dual == distance


def test_proposition_28_needs_the_dual_norm() -> None:
    hull = ((Q(1), Q(1)),)
    assert wc.steepest_descent(hull, "l1") == 1
    assert wc.distance_to_zero(hull, "linf") == 2


def test_matrix_games_have_no_duality_gap() -> None:
    generator = random.Random(11)
    for _ in range(40):
        rows, columns = generator.randint(1, 5), generator.randint(1, 5)
        M = [[Q(generator.randint(-9, 9)) for _ in range(columns)] for _ in range(rows)]
        found = matrix_game(M)
        assert sum(found.rows) == sum(found.columns) == 1
        assert min(*found.rows, *found.columns) >= 0
        upper = max(sum(a * M[i][j] for i, a in enumerate(found.rows)) for j in range(columns))
        lower = min(sum(b * M[i][j] for j, b in enumerate(found.columns)) for i in range(rows))
        assert upper == lower == found.value


@pytest.mark.parametrize("name", WEAK)
@pytest.mark.statement("prop:opt_cond_wk_cvx", kind="exact")
def test_proposition_29_and_the_gap_at_minimisers(name: str) -> None:
    f, _ = WEAK[name]
    for W in ((Q(-1), Q(2)), (Q(1, 2), Q(3)), (Q(-3), Q(-1, 4))):
        for w in wc.minimisers(f, W):
            g = wc.stationary_subgradient(f, W, w)
            assert g is not None
            assert all(g * (v - w) >= 0 for v in W)
            assert wc.gap(f, W, w) == 0
        for w in GRID:
            if W[0] <= w <= W[1]:
                assert wc.gap(f, W, w) >= 0
                assert (wc.gap(f, W, w) == 0) == (wc.stationary_subgradient(f, W, w) is not None)


@pytest.mark.statement("eqn:stat_gap_wk_cvx", kind="counterexample")
def test_the_printed_sign_of_the_gap() -> None:
    f, W = linear(1), (Q(0), Q(1))
    assert wc.gap_printed(f, W, 0) == 1
    assert wc.gap(f, W, 0) == 0
    assert wc.gap(f, W, 1) == 1


def test_the_gap_of_a_hull_is_the_gap_on_the_line() -> None:
    W = (Q(-1), Q(2))
    for f, _ in WEAK.values():
        for w in GRID[8:20]:
            found = wc.subdifferential(f, w)
            assert found is not None
            if W[0] <= w <= W[1]:
                hull = [(found[0],), (found[1],)]
                assert wc.gap_of_hull(hull, [(W[0],), (W[1],)], (w,)) == wc.gap(f, W, w)


def test_the_gap_does_not_depend_on_the_extension() -> None:
    """f = |v² − 1| on W = [−1, 2], continued in two weakly convex ways; ∂ differs at 2, the gap does not."""
    W = (Q(-1), Q(2))
    one = square_residual()
    two = PiecewiseQuadratic((Q(-1), Q(1), Q(2)), (*one.pieces, (Q(3), Q(0), Q(-9))))
    assert wc.subdifferential(one, 2) != wc.subdifferential(two, 2)
    assert wc.gap(one, W, 2) == wc.gap(two, W, 2) == 12
    for f in (one, two):
        assert modulus(f) < INF


@pytest.mark.statement("prop:loc_subdiff", kind="exact")
def test_a_maximum_of_quadratics_at_a_kink() -> None:
    """ℝ²: f = max{−x², y, −y − x²} at 0 has three active pieces; derivative = support function of the hull; gap by
    a game.
    """
    f = MaxOfQuadratics(
        (
            Quadratic(((-2, 0), (0, 0)), (0, 0)),
            Quadratic(((0, 0), (0, 0)), (0, 1)),
            Quadratic(((-2, 0), (0, 0)), (0, -1)),
        )
    )
    origin = (Q(0), Q(0))
    assert f.active(origin) == (0, 1, 2)
    hull = f.generators(origin)
    for e in itertools.product([Q(-1), Q(0), Q(2)], repeat=2):
        h = Q(1, 10**6)
        quotient = (f(tuple(h * x for x in e)) - f(origin)) / h
        assert abs(quotient - wc.hull_derivative(hull, e)) <= Q(8, 10**6)
    corners = list(itertools.product([Q(-1), Q(1)], repeat=2))
    assert wc.gap_of_hull(hull, corners, origin) == 0
    away = (Q(1, 2), Q(1, 4))
    assert wc.gap_of_hull(f.generators(away), corners, away) == Q(5, 4)
    assert f.modulus_l1() == 2


def test_normal_cones() -> None:
    W = (Q(1), Q(2))
    assert [n for n in (-1, 0, 1) if wc.in_normal_cone(W, 1, n)] == [-1, 0]
    assert [n for n in (-1, 0, 1) if wc.in_normal_cone(W, 2, n)] == [0, 1]
    assert [n for n in (-1, 0, 1) if wc.in_normal_cone(W, Q(3, 2), n)] == [0]
    assert not any(wc.in_normal_cone_printed(W, 1, n) for n in GRID)


def test_piecewise_quadratics_refuse_gaps_and_disorder() -> None:
    with pytest.raises(ValueError, match=r"jump at 0 = -1 must be 0"):
        PiecewiseQuadratic((Q(0),), ((Q(0), Q(0), Q(0)), (Q(0), Q(0), Q(1))))
    with pytest.raises(ValueError, match="strictly increasing"):
        PiecewiseQuadratic((Q(1), Q(0)), ((Q(0),) * 3,) * 3)


def test_the_exact_families_agree_with_the_losses() -> None:
    K = Float64()
    pairs = [
        (square_residual(), SquareResidual(1, 3)),
        (mcp(Q(1, 2), 2), MCP(Q(1, 2), 2)),
        (scad(Q(1, 2), 3), SCAD(Q(1, 2), 3)),
    ]
    for f, loss in pairs:
        for v in GRID:
            assert K.abs(K(f(v)) - loss.value(K, K(v))) < 1e-14
            assert K.abs(f.value(K, K(v)) - K(f(v))) < 1e-14
            left, right = f.slopes(v)
            assert K(left) - 1e-14 <= loss.subgradient(K, K(v)) <= K(right) + 1e-14
        assert modulus(f) == loss.rho


@pytest.mark.statement("prop:reg_wk_cvx", kind="enclosed")
def test_the_curvature_of_half_the_squared_norm_is_p_minus_one() -> None:
    K = Ball(192)
    for p in (Q(3, 2), Q(5, 4)):
        d = 200  # p ≥ 1 + 1/ln d, so that p̄ = p
        x, h = K.vector([1, -1] + [0] * (d - 2)), K.vector([1, 1] + [0] * (d - 2))
        geo, t = geometry(K, p, d), K("1e-12")
        length = norm(K, h, geo.p_bar)
        found = (duality_map(K, geo, x + h * t) - duality_map(K, geo, x)) @ h / (t * length * length)
        assert K.lt(K.abs(found - K(p - 1)), K("1e-9"))
