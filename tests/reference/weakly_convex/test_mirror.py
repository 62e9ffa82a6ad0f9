"""The geometry of ℓ_p̄ and the mirror step: closed form, constrained roots, certificate."""

import itertools
import random
from fractions import Fraction as Q
from typing import Any

import pytest

from reference.numerics.numbers import INF, MP, Ball, Float64, Vector, norm
from reference.setting.sets import Box, FeasibleSet, LpBall, Polytope, Simplex, WholeSpace, box_polytope, l1_ball
from reference.weakly_convex import mirror
from reference.weakly_convex.mirror import Geometry, geometry, mirror_step

K = Float64()
EXPONENTS = [1, Q(3, 2), 2]


def gaussians(generator: random.Random, d: int) -> Vector:
    return K.vector([generator.gauss(0, 1) for _ in range(d)])


def near_boundary(generator: random.Random, W: FeasibleSet, d: int) -> Vector:
    """A point of W close to its boundary."""
    x = gaussians(generator, d)
    power = W.p if isinstance(W, LpBall) else INF
    return x * (generator.uniform(0.7, 0.999) / norm(K, x, power))


@pytest.mark.parametrize(("p", "d", "p_bar"), [(1, 1, 2), (1, 2, 2), (Q(3, 2), 2, 2), (2, 1, 2), (2, 50, 2)])
def test_low_dimensions_have_p_bar_two(p: Any, d: int, p_bar: int) -> None:
    geo = geometry(K, p, d)
    assert geo.p_bar == p_bar
    assert geo.kappa == 1
    assert geo.euclidean


def test_p_bar_of_l1_and_of_large_p() -> None:
    geo = geometry(K, 1, 20)
    assert geo.p_bar == pytest.approx(1.333808, abs=1e-6)
    assert geo.kappa == pytest.approx(2.995732, abs=1e-6)
    assert pytest.approx(20 ** (1 - 1 / 1.333808), rel=1e-5) == geo.C
    assert 1 < geo.C < 2.71828
    assert geometry(K, Q(3, 2), 20).p_bar == Q(3, 2)  # 1 + 1/ln 20 < 3/2: exact


@pytest.mark.parametrize("p", [Q(1, 2), Q(5, 2), 3, 0, "x", 1.5])
def test_exponents_outside_are_refused_in_one_line(p: Any) -> None:
    with pytest.raises(ValueError, match=r"p = .* must be an int or a Fraction in \[1, 2\]") as caught:
        geometry(K, p, 4)
    assert "\n" not in str(caught.value)


def test_the_dimension_is_checked() -> None:
    with pytest.raises(ValueError, match=r"d = 0 must be a positive integer"):
        geometry(K, 2, 0)


@pytest.mark.parametrize("p", EXPONENTS)
def test_the_two_maps_are_inverse_and_dual(p: Any) -> None:
    generator = random.Random(3)
    geo = geometry(K, p, 7)
    for _ in range(20):
        u = gaussians(generator, 7)
        j = mirror.duality_map(K, geo, u)
        assert j @ u == pytest.approx(2 * mirror.half_square(K, geo, u), rel=1e-12)
        assert mirror.dual_size(K, geo, j) == pytest.approx(mirror.size(K, geo, u), rel=1e-12)
        back = mirror.dual_map(K, geo, j)
        assert max(abs(x) for x in back - u) < 1e-12


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.statement("prop:reg_wk_cvx", kind="searched")
def test_h_is_one_strongly_convex(p: Any) -> None:
    """D_h(x, y) ≥ ½‖x−y‖²; with κ smaller by 1 % random points near (1, −1) would break it for p̄ < 2."""
    generator = random.Random(4)
    geo = geometry(K, p, 3)
    least = 10.0
    for _ in range(600):
        t = 10 ** generator.uniform(-3, 0)
        y = K.vector([1, -1, 0]) if generator.random() < 0.5 else gaussians(generator, 3)
        x = y + K.vector([1, 1, 0]) * t
        ratio = mirror.bregman(K, geo, x, y) / (mirror.size(K, geo, x - y) ** 2 / 2)
        least = min(least, ratio)
    assert 1 - 1e-6 <= least < 1.01


def three_point_slack(geo: Geometry, v: Vector, u: Vector, theta: Vector, A: float) -> float:
    """O(v) − O(u) − A·D(v, u): at least −gap by the certificate."""
    difference = mirror.objective(K, geo, v, theta, A) - mirror.objective(K, geo, u, theta, A)
    slack: float = difference - A / geo.kappa * mirror.bregman(K, geo, v, u)
    return slack


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("power", [1, Q(3, 2), 2, 3, INF, "box", "free"])
def test_the_step_and_its_certificate(p: Any, power: Any) -> None:
    """The certificate holds against random and boundary points, and is below 1e-10. A step that stops early fails
    both.
    """
    generator = random.Random(str((p, power)))
    d = 4
    geo = geometry(K, p, d)
    W: FeasibleSet = (
        WholeSpace(d) if power == "free" else Box([-1] * d, [1] * d) if power == "box" else LpBall([0] * d, 1, power)
    )
    binding = 0
    for _ in range(12):
        w = near_boundary(generator, W, d)
        theta, A = gaussians(generator, d), generator.choice([0.1, 1.0, 3.0])
        radius = generator.choice([0.3, 1.0, None])
        step = mirror_step(K, geo, W, w, theta, A, radius)
        binding += step.binding
        assert step.gap < 1e-10
        assert W.contains(K, w + step.u)
        assert radius is None or mirror.size(K, geo, step.u) <= radius * (1 + 1e-12)
        for _ in range(30):
            v = near_boundary(generator, W, d) - w
            length = mirror.size(K, geo, v)
            if radius is not None and length > radius:
                v = v * (radius / length)
            if W.contains(K, w + v):
                assert three_point_slack(geo, v, step.u, theta, A) >= -step.gap - 1e-12
    assert power == "free" or binding > 0


def test_a_worse_point_has_a_gap_that_pays_for_it() -> None:
    """The certificate is valid for any feasible u: halving the solution raises the gap by at least the objective
    lost.
    """
    geo, W = geometry(K, Q(3, 2), 3), LpBall([0] * 3, 1, Q(3, 2))
    w, theta = K.vector([0.5, 0.2, 0]), K.vector([2.0, -1.0, 0.5])
    good = mirror_step(K, geo, W, w, theta, 1.0, 0.7)
    worse = good.u * 0.5
    gap = mirror.step_gap(K, geo, W, w, worse, theta, 1.0, 1.0, 0.7)
    lost = mirror.objective(K, geo, worse, theta, 1.0) - mirror.objective(K, geo, good.u, theta, 1.0)
    assert gap >= lost > 0.01


@pytest.mark.parametrize("p", EXPONENTS)
def test_the_constrained_step_is_proved_on_balls(p: Any) -> None:
    B = Ball(128)
    geo = geometry(B, p, 4)
    W = LpBall([0] * 4, 1, Q(3, 2))
    w, theta = B.vector([Q(1, 2), Q(1, 4), 0, Q(-1, 8)]), B.vector([2, -1, Q(1, 2), 1])
    step = mirror_step(B, geo, W, w, theta, B(1), B(1))
    assert step.binding
    assert B.lt(step.gap, B("1e-15"))
    free = mirror_step(B, geo, W, B.zeros(4), theta / 100, B(1), B(1))
    assert not free.binding
    assert B.le(free.gap, B(0))


def test_more_digits_give_a_smaller_gap() -> None:
    work = MP(40)
    geo = geometry(work, 1, 4)
    step = mirror_step(
        work,
        geo,
        LpBall([0] * 4, 1, 1),
        work.vector([Q(1, 2), Q(1, 4), 0, 0]),
        work.vector([2, -1, 1, 1]),
        work(1),
        None,
    )
    assert step.binding
    assert step.gap < work("1e-35")


def test_a_set_without_a_step_is_refused_with_a_remedy() -> None:
    geo, W = geometry(K, 1, 3), Polytope([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    with pytest.raises(ValueError, match=r"p̄ = 1.91: W = Polytope has no constrained mirror step.*take p = 2"):
        mirror_step(K, geo, W, K.zeros(3), K.vector([3.0, 0.0, 0.0]), 1.0, None)


def test_polytopes_that_are_balls_or_boxes_are_recognised() -> None:
    geo = geometry(K, 1, 3)
    w, theta = K.vector([0.5, 0.25, 0]), K.vector([2.0, 1.0, -1.0])
    for polytope, plain in (
        (l1_ball(3), LpBall([0] * 3, 1, 1)),
        (box_polytope([-1] * 3, [1] * 3), Box([-1] * 3, [1] * 3)),
    ):
        a, b = (mirror_step(K, geo, W, w, theta, 0.5, None) for W in (polytope, plain))
        assert a.binding
        assert list(a.u) == list(b.u)
        assert a.gap == b.gap
    with pytest.raises(ValueError, match="Polytope has no constrained mirror step"):
        mirror_step(K, geo, Polytope([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, -1]]), K.zeros(3), theta, 0.1, None)


def test_zero_theta_stays_at_the_centre() -> None:
    geo = geometry(K, 1, 5)
    step = mirror_step(K, geo, WholeSpace(5), K.zeros(5), K.zeros(5), 1.0, 1.0)
    assert all(x == 0 for x in step.u)


def test_on_a_ball_that_touches_zero_both_signs_are_enclosed() -> None:
    B = Ball(64)
    geo = geometry(B, Q(3, 2), 3)
    unsure = B.vector([1, B(0) + (B("0.1") - B("0.1")), 2])
    image = mirror.duality_map(B, geo, unsure)
    assert image[1].contains(0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.statement("own:prox_solver", kind="searched")
def test_steps_on_sets_of_every_shape_and_size_end_well(seed: int) -> None:
    """Exponents near 1, far centres, sizes from 10^−6 to 10^4: a step that raises would tell about a record.

    Powers of binary64 overflowed in two places of the root finder, for one step in fifty on an ℓ_1.01 ball.
    """
    generator = random.Random(f"shapes|{seed}")
    for _ in range(300):
        d, p = generator.choice([1, 2, 3, 5, 8]), generator.choice([1, Q(11, 10), Q(3, 2), 2, Q(101, 100)])
        scale = 10 ** generator.uniform(-6, 4)
        away = generator.choice([0, 1, 1000])
        middle = [Q(round(generator.gauss(0, 1) * scale * away * 2**30), 2**30) for _ in range(d)]
        r = Q(max(1, round(scale * 2**30)), 2**30)
        power = generator.choice([1, 2, INF, p, Q(101, 100), Q(11, 10), 3, 10])
        W: FeasibleSet = LpBall(middle, r, power)
        if generator.random() < 0.25:
            W = Box(middle, [c + r * generator.choice([0, 1, Q(1, 1000)]) for c in middle])
        geo, centre = geometry(K, p, d), W.centre(K)
        w = centre + (W.linear_minimiser(K, gaussians(generator, d)) - centre) * generator.choice([0.0, 0.5, 0.99])
        theta = K.vector([generator.gauss(0, 1) * 10 ** generator.uniform(-6, 6) for _ in range(d)])
        A, radius = 10 ** generator.uniform(-4, 6), generator.choice([None, scale * 10 ** generator.uniform(-4, 2)])
        found = mirror_step(K, geo, W, w, theta, A, radius)
        size = float(norm(K, w, INF)) + scale
        assert W.contains(K, w + found.u, slack=Q(size) / 10**12)
        assert radius is None or mirror.size(K, geo, found.u) <= radius * (1 + 1e-12)
        assert found.gap >= 0


def test_an_entry_that_overflows_counts_as_large() -> None:
    """The ℓ_1.01 ball of one such step: its own powers are tenth, hundredth and so on roots turned round."""
    W = LpBall([Q(-1, 9), 0, 189, 0, Q(3, 5), 0, 0, 0], Q(2, 25), Q(101, 100))
    w = K.vector([-0.10894076, 0.00017478, 188.82905666, -0.02171395, 0.57839975, 0.021939, -0.00207255, 0.00727274])
    w = W.centre(K) + (w - W.centre(K)) * (0.9 * float(W.radius) / norm(K, w - W.centre(K), W.p))
    theta = K.vector([0, 0.00011022, 0, 0, 0.00270684, -0.02762868, 0, -89.93534374])
    found = mirror_step(K, geometry(K, 1, 8), W, w, theta, 4.133983, None)
    assert W.contains(K, w + found.u)
    assert found.gap < 1e-6 * 89.9 * float(W.radius)


def test_a_centre_on_a_boundary_as_it_is_rounded_stays_where_it_is() -> None:
    """The corner of a box around 2^30, rounded to 30 digits, is outside by 4e-26; no point towards θ is feasible.

    The step used to stop with "found no feasible point", in the middle of a run.
    """
    system = MP(30)
    W, geo = LpBall([2**30] * 3, Q(1, 1000), INF), geometry(system, 2, 3)
    corner = system.vector([Q(2**30 * 1000 + sign, 1000) for sign in (-1, -1, 1)])
    assert not W.contains(system, corner)
    stayed = 0
    for signs in itertools.product((-1, 0, 1), repeat=3):
        found = mirror_step(system, geo, W, corner, system.vector(signs), system(1000), system(Q(1, 4)))
        assert W.contains(system, corner + found.u, slack=Q(1, 2**40))
        assert system.le(system(0), found.gap)
        stayed += not any(found.u)
    assert stayed > 0
    outside = system.vector([2**30 + 1] * 3)
    with pytest.raises(ValueError, match="must lie in W: project it first"):
        mirror.feasible_near(system, geo, W, outside, system.vector([1, 1, 1]), None)


BALLS = [LpBall([0, 0, 0], 1, s) for s in (1, Q(3, 2), 2, 3)]


@pytest.mark.parametrize("p", [Q(3, 2), 2])
@pytest.mark.parametrize("W", [*BALLS, Box([-1, -1, -1], [Q(1, 3), 1, 1]), Simplex(3)], ids=str)
def test_the_derivative_that_newton_follows_is_that_of_the_function(p: Any, W: FeasibleSet) -> None:
    """With a wrong one the bracket would still find the root, slowly. Central differences in 40 digits."""
    M, h = MP(40), Q(1, 10**9)
    w = M.vector([Q(1, 2), Q(1, 3), Q(1, 6)] if isinstance(W, Simplex) else [Q(1, 5), Q(-1, 10), Q(1, 20)])
    theta = tuple(M.vector([3, -2, Q(1, 2)]))
    for tau, radius in itertools.product((Q(2), Q(8)), (None, M(Q(1, 4)))):
        roots = mirror._Roots(M, geometry(M, p, 3), mirror._shape(M, W, w), theta, M(1), radius)
        low, slope, high = (roots._falls_in_log(M.log(M(tau)) + M(shift)) for shift in (-h, Q(0), h))
        assert abs((high[0] - low[0]) / (2 * M(h)) - slope[1]) < M("1e-16")
