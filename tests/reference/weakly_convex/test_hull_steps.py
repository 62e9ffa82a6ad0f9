"""Steps on simplices and polytopes: the certificate is small, the point is feasible, and a wrong point has a gap."""

import random
from fractions import Fraction as Q
from typing import Any

import pytest

from reference.numerics.numbers import MP, Ball, Float64, norm
from reference.numerics.tape import SeededTape
from reference.setting.data import Example
from reference.setting.losses_weak import NegativeQuadratic, TanhRegression
from reference.setting.sets import Box, CrossPolytope, Polytope, Simplex
from reference.weakly_convex import mirror
from reference.weakly_convex.hull_point import nearest_weights
from reference.weakly_convex.mirror import geometry, mirror_step, objective, require_step, size, step_gap
from reference.weakly_convex.prox import empirical, prox_population
from reference.weakly_convex.proximal_guided import proximally_guided
from reference.weakly_convex.strongly_convex import Phase

K = Float64()
PENTAGON = Polytope([(0, 0), (2, 0), (3, 1), (1, 3), (0, 2)])
TETRAHEDRON = Polytope([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
FLAT = Polytope([(1, 0, 0), (0, 1, 0), (0, 0, 1)])


def start(generator: random.Random, W: Any) -> list[float]:
    vertices = W.exact_vertices
    weights = [generator.expovariate(1) for _ in vertices]
    total = sum(weights)
    return [sum(w * float(v[j]) for w, v in zip(weights, vertices, strict=True)) / total for j in range(W.dim)]


def brute_force(W: Any, w: Any, theta: Any, A: float, radius: float | None, geo: Any) -> float:
    """The smallest value of the step's objective on random points of W in the ball."""
    generator = random.Random(0)
    best = 0.0
    for _ in range(3000):
        u = K.vector(start(generator, W)) - w
        length = size(K, geo, u)
        if radius is not None and length > radius:
            u = u * (radius / length)
        best = min(best, objective(K, geo, u, theta, A))
    return best


@pytest.mark.parametrize("p", [1, Q(3, 2), 2])
@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.statement("own:prox_solver", kind="searched")
def test_steps_on_the_simplex_are_certified(p: Any, d: int) -> None:
    W, geo, generator = Simplex(d, 2), geometry(K, p, d), random.Random(f"{p}|{d}")
    for trial in range(40):
        w = K.vector(start(generator, W))
        theta = K.vector([generator.gauss(0, 1) * 10 ** generator.uniform(-2, 1) for _ in range(d)])
        A, radius = generator.choice([0.1, 1.0, 5.0]), generator.choice([0.05, 0.5, None])
        found = mirror_step(K, geo, W, w, theta, A, radius)
        assert W.contains(K, w + found.u, slack=Q(1, 10**13))
        assert radius is None or size(K, geo, found.u) <= radius * (1 + 1e-12)
        assert found.gap <= 1e-9 * (1 + norm(K, theta, 2)), (trial, found.gap)


@pytest.mark.parametrize("W", [PENTAGON, TETRAHEDRON, FLAT], ids=["pentagon", "tetrahedron", "triangle in space"])
@pytest.mark.statement("own:prox_solver", kind="searched")
def test_steps_on_polytopes_are_certified(W: Polytope) -> None:
    geo, generator = geometry(K, 2, W.dim), random.Random(1)
    binding = 0
    for trial in range(60):
        w = K.vector(start(generator, W))
        theta = K.vector([generator.gauss(0, 1) * 10 ** generator.uniform(-2, 1) for _ in range(W.dim)])
        A, radius = generator.choice([0.1, 1.0, 5.0]), generator.choice([0.05, 0.5, None])
        found = mirror_step(K, geo, W, w, theta, A, radius)
        binding += found.binding
        assert W.contains(K, w + found.u, slack=Q(1, 10**13))
        assert radius is None or norm(K, found.u, 2) <= radius * (1 + 1e-12)
        assert found.gap <= 1e-9 * (1 + norm(K, theta, 2)), (trial, found.gap)
    assert binding > 10


@pytest.mark.parametrize(("W", "p"), [(Simplex(4), 1), (Simplex(4), 2), (PENTAGON, 2), (PENTAGON, 1)])
def test_no_point_of_the_set_beats_the_step(W: Any, p: Any) -> None:
    geo, generator = geometry(K, p, W.dim), random.Random(2)
    for radius in (0.3, None):
        w = K.vector(start(generator, W))
        theta = K.vector([generator.gauss(0, 1) for _ in range(W.dim)])
        found = mirror_step(K, geo, W, w, theta, 1.0, radius)
        assert objective(K, geo, found.u, theta, 1.0) <= brute_force(W, w, theta, 1.0, radius, geo) + found.gap


@pytest.mark.parametrize(("W", "p"), [(Simplex(3), 1), (Simplex(3), 2), (TETRAHEDRON, 2), (FLAT, 2)])
@pytest.mark.parametrize("radius", [None, Q(1, 10)])
def test_on_balls_the_gap_is_a_proof_and_small(W: Any, p: Any, radius: Q | None) -> None:
    B = Ball(128)
    geo = geometry(B, p, W.dim)
    w, theta = W.centre(B), B.vector([3, Q(1, 7), Q(-2, 3)])
    found = mirror_step(B, geo, W, w, theta, B(1), None if radius is None else B(radius))
    assert found.binding or radius is not None
    assert B.lt(found.gap, B("1e-15"))
    assert radius is None or B.lt(size(B, geo, found.u), B(radius) + B("1e-30"))


def test_a_wrong_point_has_a_large_gap() -> None:
    geo, w, theta = geometry(K, 2, 2), K.vector([1, 1]), K.vector([5.0, 1.0])
    right = mirror_step(K, geo, PENTAGON, w, theta, 1.0, None)
    wrong = step_gap(K, geo, PENTAGON, w, right.u * 0.5, theta, 1.0, 1.0, None)
    assert wrong > 0.1 > 1e-9 > right.gap


def test_the_nearest_point_by_hand() -> None:
    weights = nearest_weights(K, PENTAGON.vertices(K), K.vector([4, 4]), K(1e-15))
    x = sum((v * a for v, a in zip(PENTAGON.vertices(K), weights, strict=True)), K.zeros(2))
    assert [round(t, 12) for t in x] == [2, 2]
    assert min(weights) >= 0
    assert abs(sum(weights) - 1) < 1e-12
    inside = nearest_weights(MP(40), FLAT.vertices(MP(40)), MP(40).vector([1, 1, 1]), MP(40)("1e-38"))
    assert all(abs(a - MP(40)(Q(1, 3))) < 1e-30 for a in inside)


def test_a_set_of_which_only_the_shape_counts_agrees_with_its_shape() -> None:
    """The cross-polytope as a list of vertices: the same step as the ℓ_1 ball."""
    shaped, theta, w = CrossPolytope(3), K.vector([2.0, -1.0, 0.3]), K.vector([0.2, 0.1, -0.3])
    listed = Polytope(shaped.exact_vertices)
    geo = geometry(K, 2, 3)
    one, other = (mirror_step(K, geo, W, w, theta, 1.0, None) for W in (shaped, listed))
    assert norm(K, one.u - other.u, 2) < 1e-9


def test_what_has_no_step_is_refused_before_a_run() -> None:
    require_step(TETRAHEDRON)
    require_step(Simplex(5), 1)
    require_step(PENTAGON, 1)  # d = 2: p̄ = 2
    require_step(Box([0], [1]), 1)
    with pytest.raises(ValueError, match="for p = 2, a polytope"):
        require_step(TETRAHEDRON, 1)
    with pytest.raises(ValueError, match="p̄ must be 2"):
        mirror._hull_weights(K, geometry(K, 1, 3), TETRAHEDRON, K.zeros(3), K.vector([1, 1, 1]), K(1), None)


@pytest.mark.parametrize(("W", "p"), [(Simplex(3), 1), (TETRAHEDRON, 2)])
def test_algorithm_6_and_proximal_points_on_hulls(W: Any, p: Any) -> None:
    data = tuple(Example((1, Q(i % 3, 2), Q(-1, 2)), Q(1, 2)) for i in range(12))
    loss = TanhRegression(2, p)
    found = proximally_guided(K, loss, W, data, rounds=3, plan=(Phase(4, 5),), mu=1, tape=SeededTape(0))
    assert all(W.contains(K, w, slack=Q(1, 10**12)) for w in found.iterates)
    assert found.largest_gap < 1e-8
    population = empirical(NegativeQuadratic(2, 1, 1, p), data[:3])
    near = prox_population(K, population, W, W.centre(K), tolerance=Q(1, 10**4))
    assert W.contains(K, near.point, slack=Q(1, 10**12))
    assert near.radius <= 2e-4


def test_a_polytope_for_other_norms_is_refused_by_the_algorithm() -> None:
    data = tuple(Example((1, 0, 0), 1) for _ in range(4))
    with pytest.raises(ValueError, match="no constrained mirror step"):
        proximally_guided(K, TanhRegression(1, 1), TETRAHEDRON, data, rounds=2, plan=(), mu=1, tape=SeededTape(0))


@pytest.mark.parametrize(("W", "p"), [(Simplex(3), 1), (Simplex(3), 2), (TETRAHEDRON, 2), (FLAT, 2)])
def test_certified_points_on_balls(W: Any, p: Any) -> None:
    """The certificate holds for an exact convex combination of the vertices, also where W has no interior."""
    B = Ball(128)
    population = empirical(TanhRegression(2, p), [Example((1, Q(1, 2), 0), 1), Example((0, 1, Q(-1, 2)), Q(1, 2))])
    found = prox_population(B, population, W, W.centre(B), tolerance=Q(1, 10**4))
    assert B.lt(found.radius, B(Q(1, 1000)))
    assert W.contains(B, found.point, slack=Q(1, 2**100))
