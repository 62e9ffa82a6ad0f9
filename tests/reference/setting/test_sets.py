"""Feasible sets: every formula against its definition, in all number systems, with mutants that must be caught."""

import itertools
from fractions import Fraction

import pytest
from constants import into_ball
from hypothesis import assume, given, settings, target
from hypothesis import strategies as hs

from audit.auditor.search.climb import climb
from audit.checks import strategies as st
from reference.numerics.numbers import INF, MP, Ball, Float64, Undecided, norm
from reference.setting.hull import hull_meets_box
from reference.setting.sets import (
    Box,
    L2Ball,
    LpBall,
    NoProjection,
    Polytope,
    Simplex,
    WholeSpace,
    box_polytope,
    l1_ball,
)

F64, MP50, B = Float64(), MP(50), Ball(256)
SYSTEMS = [F64, MP50, B]
TINY = Fraction(1, 2**150)
THIRD = Fraction(1, 3)

SETS = [
    L2Ball([0, 0, 0], 2),
    L2Ball([1, "0.1", -1], "0.7"),
    LpBall([0, 0, 0], 1, 1),
    LpBall([1, 0, THIRD], 2, 1),
    LpBall([0, 1, 0], 2, Fraction(3, 2)),
    LpBall([0, 1, 0], 2, 3),
    LpBall([0, 1, 0], "0.3", INF),
    Box([0, -1, THIRD], [1, -1, 2]),
    Simplex(3, "0.7"),
    Polytope([[0, 0, 1], [1, 0, 0], [0, 2, 0], [1, 1, 1], [0, 0, THIRD]]),
    Polytope([[0, 0, 1], [1, 2, 0]]),
    Polytope([[1, 2, 3]]),
    l1_ball(3, 2),
    box_polytope([0, -1, 0], [1, 1, "0.3"]),
]
PROJECTABLE = [W for W in SETS if not (isinstance(W, LpBall) and W.p in (3, Fraction(3, 2)))]
PROJECTABLE.remove(SETS[9])
NORMS = [1, Fraction(17, 16), Fraction(3, 2), 2, 3, INF]


def name(W):
    return repr(W)[:40]


def mid(x):
    return x.mid if hasattr(x, "mid") else Fraction(x) if isinstance(x, float) else Fraction(str(x))


def close(K, a, b, tolerance=Fraction(1, 10**12)):
    return all(abs(mid(x) - mid(y)) <= tolerance for x, y in zip(a, b, strict=True))


# ------------------------------------------------------------------------------------------ membership


@given(st.feasible_sets(bounded=False), hs.data())
@settings(max_examples=60)
def test_points_of_a_set_are_in_it(W, data):
    w = data.draw(st.points_in(W))
    for K in SYSTEMS:
        assert W.contains(K, K.vector(w), slack="1e-12")


@given(st.feasible_sets(), hs.data())
@settings(max_examples=60)
def test_a_point_beyond_the_diameter_is_outside(W, data):
    w = data.draw(st.points_in(W))
    j = data.draw(hs.integers(0, W.dim - 1))
    D = W.diameter(B, INF)
    far = [x + (D.mid + Fraction(1, 1000) if i == j else 0) for i, x in enumerate(w)]
    for K in SYSTEMS:
        assert not W.contains(K, K.vector(far))
        assert W.contains(K, K.vector(far), slack=2000 * (D.mid + 1))


@given(hs.lists(hs.tuples(hs.integers(-3, 3), hs.integers(-3, 3)), min_size=3, max_size=3), hs.data())
def test_hull_membership_agrees_with_the_signs_of_a_triangle(corners, data):
    a, b, c = corners

    def turn(o, p, q):
        return (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0])

    assume(turn(a, b, c) != 0)
    w = data.draw(st.vectors(2, 3))
    turns = [turn(a, b, w), turn(b, c, w), turn(c, a, w)]
    inside = all(t >= 0 for t in turns) or all(t <= 0 for t in turns)
    vertices = [tuple(Fraction(x) for x in v) for v in corners]
    assert hull_meets_box(vertices, w, w) is inside
    assert Polytope(corners).contains(F64, F64.vector(w)) is inside


@given(st.points_in(l1_ball(3, 1)), st.vectors(3, 1), st.dyadics(0, 1))
@settings(max_examples=40)
def test_hull_meets_box_agrees_with_the_l1_ball(inside, w, room):
    """conv(±e_j) meets w + [−room, room]^d exactly if the point of the box nearest 0 is in the ball."""
    vertices = [tuple(Fraction(int(i == j) * s) for i in range(3)) for s in (1, -1) for j in range(3)]
    nearest = sum(max(abs(x) - room, 0) for x in w)
    assert hull_meets_box(vertices, [x - room for x in w], [x + room for x in w]) is (nearest <= 1)
    assert hull_meets_box(vertices, inside, inside)
    assert not hull_meets_box(vertices, [Fraction(1)] * 3, [Fraction(0)] * 3)


def test_the_boundary_of_a_polytope_is_exact_in_floats_and_undecided_in_balls():
    W = Polytope([[0, 0], [1, 0], [0, 1]])
    assert W.contains(F64, F64.vector([0.5, 0.5]))
    assert not W.contains(F64, F64.vector([0.5, 0.5 + 2**-53]))
    assert W.contains(MP50, MP50.vector(["0.25", "0.25"]))
    assert W.contains(B, B.vector([THIRD, THIRD]))
    assert not W.contains(B, B.vector([THIRD, 1]))
    assert W.contains(B, B.vector([Fraction(1, 2), Fraction(1, 2)]))  # an exact point
    with pytest.raises(Undecided):
        W.contains(B, B.vector([THIRD, 2 * THIRD]))
    assert W.contains(B, B.vector([THIRD, 2 * THIRD]), slack="1e-30")


@pytest.mark.parametrize("W", [L2Ball([0, 0], 1), Box([0, 0], [1, 1]), LpBall([0, 0], 1, INF), Simplex(2)])
def test_undecided_is_raised_and_a_certain_no_outweighs_it(W):
    wide = B.sqrt(B(2)) / B.sqrt(B(2))  # a ball around 1
    with pytest.raises(Undecided):
        W.contains(B, B.vector([wide, 0]))
    assert not W.contains(B, B.vector([wide, 5]))


# ------------------------------------------------------------------------------------------ projection


def is_projection(W, K, w, u, others, slack=Fraction(1, 10**25)):
    """u ∈ W and ⟨w − u, v − u⟩ ≤ 0 for the other points v of W: this characterises the nearest point."""
    return W.contains(K, u, slack) and all(K.le((w - u) @ (K.vector(v) - u), K(slack * 100)) for v in others)


@given(hs.sampled_from(PROJECTABLE), st.vectors(3, 5), hs.data())
@settings(max_examples=60)
def test_projection_satisfies_the_variational_inequality(W, w, data):
    others = data.draw(hs.lists(st.points_in(W), min_size=1, max_size=4))
    x = B.vector(w)
    assert is_projection(W, B, x, W.project(B, x), others)


@given(st.feasible_sets(), hs.data())
@settings(max_examples=60)
def test_projection_on_any_set_that_has_one(W, data):
    w = data.draw(st.vectors(W.dim, 5))
    others = data.draw(hs.lists(st.points_in(W), min_size=1, max_size=3))
    x = B.vector(w)
    try:
        u = W.project(B, x)
    except NoProjection:
        assert W.dim > 1
        assert isinstance(W, LpBall | Polytope)
        return
    assert is_projection(W, B, x, u, others)
    assert close(F64, W.project(F64, F64.vector(w)), u)
    assert close(MP50, W.project(MP50, MP50.vector(w)), u, Fraction(1, 10**40))


WRONG_PROJECTIONS = [
    (L2Ball([0, 0], 1), lambda K, w: w / norm(K, w, 2)),  # also moves inner points
    (L2Ball([0, 0], 1), lambda K, w: K.vector([K.clip(x, K(-1), K(1)) for x in w])),  # leaves the ball
    (l1_ball(2), lambda K, w: w / K.max(K(1), norm(K, w, 1))),  # radial, not Euclidean
    (Simplex(2), lambda K, w: K.vector([K.max(x, K(0)) for x in w]) / K.max(norm(K, w, 1), K(1))),
    (Simplex(2), lambda K, w: K.vector([x - (w[0] + w[1] - 1) / 2 for x in w])),  # forgets w ≥ 0
    (Box([0, 0], [1, 2]), lambda K, w: K.vector([K.clip(x, K(0), K(1)) for x in w])),
]


@pytest.mark.parametrize(("W", "wrong"), WRONG_PROJECTIONS)
def test_wrong_projections_are_caught(W, wrong):
    """The check above refuses each mutant on some point of a coarse grid, and the right projection on none."""
    corners = list(itertools.product([Fraction(k, 2) for k in range(-3, 5)], repeat=2))
    others = [v for v in corners if W.contains(F64, F64.vector(v))]

    def refused(project):
        points = [B.vector(w) for w in corners if any(w)]
        return sum(not is_projection(W, B, w, project(B, w), others) for w in points)

    assert refused(wrong) > 0
    assert refused(W.project) == 0


@given(st.feasible_sets(), hs.data())
@settings(max_examples=60)
def test_points_inside_are_their_own_projection(W, data):
    w = data.draw(st.points_in(W))
    try:
        u = W.project(B, B.vector(w))
    except NoProjection:
        return
    assert close(B, u, w, TINY)


def test_inner_points_do_not_move_by_a_bit():
    w = F64.vector([0.1, 0.2, 0.3])
    for W in (L2Ball([0.3, 0.1, 0.7], 2), LpBall([0.3, 0.1, 0.7], 2, 1), l1_ball(3, 2), Box([-1] * 3, [1] * 3)):
        assert list(W.project(F64, w)) == [0.1, 0.2, 0.3]


def test_projection_of_ties_and_of_undecided_order_is_enclosed():
    """Coordinates that overlap cannot be sorted; the enclosure must still contain the projection."""
    third = B(1) / 3
    w = B.vector([third + 1, B.sqrt(third * third) + 1, 0])
    u = Simplex(3).project(B, w)
    assert close(B, u, [Fraction(1, 2), Fraction(1, 2), 0], TINY)
    v = l1_ball(3).project(B, w)
    assert close(B, v, [Fraction(1, 2), Fraction(1, 2), 0], TINY)
    assert all(x.rad < TINY for x in u)


def test_projection_at_the_undecided_boundary_is_enclosed():
    one = B.sqrt(B(2)) / B.sqrt(B(2))
    for W in (L2Ball([0, 0], 1), l1_ball(2), LpBall([0, 0], 1, INF)):
        u = W.project(B, B.vector([one, 0]))
        assert u[0].contains(1)
        assert u[0].rad < TINY


def test_degenerate_sets_project():
    w = [3, 4]
    for K in SYSTEMS:
        x = K.vector(w)
        assert close(K, L2Ball([1, 2], 0).project(K, x), (1, 2))
        assert close(K, LpBall([1, 2], 0, 1).project(K, x), (1, 2))
        assert close(K, LpBall([1, 2], 0, 3).project(K, x), (1, 2))
        assert close(K, Polytope([[1, 2]]).project(K, x), (1, 2))
        assert close(K, Polytope([[1, 2], [1, 2]]).project(K, x), (1, 2))
        assert close(K, Polytope([[0, 0], [1, 0]]).project(K, x), (1, 0))
        assert close(K, Box([1, 2], [1, 2]).project(K, x), (1, 2))
        assert close(K, Simplex(1).project(K, K.vector([7])), (1,))
        assert close(K, Polytope([[0], [2], [1]]).project(K, K.vector([7])), (2,))
        assert close(K, LpBall([0], 1, 3).project(K, K.vector([7])), (1,))
        assert close(K, WholeSpace(2).project(K, x), w)


@pytest.mark.parametrize("W", [LpBall([0, 0], 1, 3), Polytope([[0, 0], [1, 0], [0, 1]])])
def test_no_closed_form_is_said(W):
    with pytest.raises(NoProjection, match="closed-form"):
        W.project(F64, F64.vector([3, 4]))


# ------------------------------------------------------------------------------------------ linear minimisation


@given(st.feasible_sets(), hs.data())
@settings(max_examples=60)
def test_linear_minimiser_beats_every_point(W, data):
    g = data.draw(st.vectors(W.dim, 3))
    v = data.draw(st.points_in(W))
    for K in SYSTEMS:
        try:
            best = W.linear_minimiser(K, K.vector(g))
        except Undecided:
            assert K is B  # two vertices with the same value up to rounding: the tie is not guessed
            continue
        slack = K(Fraction(1, 10**12))
        assert W.contains(K, best, slack="1e-12")
        assert K.le(best @ K.vector(g), K.vector(v) @ K.vector(g) + slack)


@pytest.mark.parametrize("K", SYSTEMS)
def test_pins(K):
    zero = K.zeros(2)
    half = Fraction(1, 2)
    assert close(K, L2Ball([1, 2], 1).linear_minimiser(K, zero), (1, 2))
    for p in (1, Fraction(3, 2), INF):
        assert close(K, LpBall([1, 2], 1, p).linear_minimiser(K, zero), (1, 2))
    assert close(K, LpBall([1, 2], 1, INF).linear_minimiser(K, K.vector([0, 1])), (1, 1))
    assert close(K, LpBall([0, 0], 1, 1).linear_minimiser(K, K.vector([-1, 1])), (1, 0))
    assert close(K, Box([0, -1], [1, 1]).linear_minimiser(K, zero), (0, -1))
    assert close(K, Box([0, -1], [1, 1]).linear_minimiser(K, K.vector([-1, 0])), (1, -1))
    assert close(K, Simplex(2).linear_minimiser(K, zero), (1, 0))
    assert close(K, l1_ball(2).linear_minimiser(K, zero), (1, 0))
    assert close(K, l1_ball(2).linear_minimiser(K, K.vector([1, 1])), (-1, 0))
    assert close(K, box_polytope([0, 0], [1, 1]).linear_minimiser(K, zero), (0, 0))
    assert close(K, box_polytope([0, 0], [1, 1]).linear_minimiser(K, K.vector([0, -1])), (0, 1))
    assert close(K, WholeSpace(2).linear_minimiser(K, zero), (0, 0))
    assert close(K, Polytope([[half, half]]).linear_minimiser(K, zero), (half, half))


def test_tiny_and_huge_gradients_do_not_underflow():
    for scale in (1e-300, 1e300):
        g = F64.vector([3 * scale, 4 * scale])
        assert close(F64, L2Ball([0, 0], 1).linear_minimiser(F64, g), (-0.6, -0.8))
        u = LpBall([0, 0], 1, 3).linear_minimiser(F64, g)
        assert abs(norm(F64, u, 3) - 1) < 1e-15


def test_a_tie_of_balls_is_not_guessed():
    almost = B.sqrt(B(2)) * B.sqrt(B(2)) / 2
    with pytest.raises(Undecided):
        Simplex(2).linear_minimiser(B, B.vector([almost, 1]))


# ------------------------------------------------------------------------------------------ diameter, norm, J


@given(st.feasible_sets(), st.norms(), hs.data())
@settings(max_examples=60)
def test_no_pair_exceeds_the_diameter(W, p, data):
    u, v = (B.vector(data.draw(st.points_in(W))) for _ in range(2))
    distance, D = norm(B, u - v, p), W.diameter(B, p)
    assert distance.mid - distance.rad <= D.mid + D.rad
    if D.mid > Fraction(1, 100):
        target(float(distance.mid / D.mid))


@pytest.mark.parametrize("W", SETS, ids=name)
@pytest.mark.parametrize("p", NORMS)
def test_the_diameter_is_attained_and_five_per_cent_less_is_refuted(W, p):
    for K in SYSTEMS:
        u, v = W.farthest_pair(K, p)
        assert W.contains(K, u, slack="1e-12")
        assert W.contains(K, v, slack="1e-12")
        assert abs(mid(norm(K, u - v, p)) - mid(W.diameter(K, p))) < Fraction(1, 10**12)
    D = W.diameter(B, p)
    if D.mid > 0:
        distance = norm(B, u - v, p)
        assert distance.mid - distance.rad > Fraction(95, 100) * (D.mid + D.rad)


@given(st.feasible_sets(), st.norms())
@settings(max_examples=60)
def test_the_diameter_of_any_set_is_attained(W, p):
    try:
        u, v = W.farthest_pair(B, p)
    except Undecided:
        return  # two pairs of vertices at the same distance: not guessed
    D = W.diameter(B, p)
    assert abs(norm(B, u - v, p).mid - D.mid) < TINY


@pytest.mark.parametrize("s", NORMS)
@pytest.mark.parametrize("p", NORMS)
def test_a_climber_cannot_beat_the_diameter_of_a_ball(s, p):
    W = LpBall([0, 0, 0], 1, s)

    def distance(x):
        return norm(F64, into_ball(F64, list(x[:3]), s) - into_ball(F64, list(x[3:]), s), p)

    D = W.diameter(F64, p)
    found = climb(distance, [0.5, 0, 0, -0.5, 0, 0], [(-1, 1)] * 6, 800, seed=0).value
    assert 0.96 * D < found <= D * (1 + 1e-12)


@given(st.feasible_sets(), st.norms(), hs.data())
@settings(max_examples=60)
def test_no_point_exceeds_the_norm_bound(W, p, data):
    size, bound = norm(B, B.vector(data.draw(st.points_in(W))), p), W.norm_bound(B, p)
    assert size.mid - size.rad <= bound.mid + bound.rad


@pytest.mark.parametrize("p", NORMS)
def test_the_norm_bound_is_attained_where_it_says_so(p):
    def reached(W, w):
        assert W.contains(B, B.vector(w), slack="1e-60")
        return abs(norm(B, B.vector(w), p).mid - W.norm_bound(B, p).mid) < TINY

    assert reached(Box([-3, 0], [1, 2]), (-3, 2))
    assert reached(Simplex(3, 2), (0, 2, 0))
    assert reached(Polytope([[0, 0], [3, -4]]), (3, -4))
    for s in NORMS:
        W = LpBall([0, 0], 2, s)
        assert reached(W, W.farthest_pair(B, p)[0])
    W = LpBall([3, 4], 2, p)
    centre = B.vector([3, 4])
    assert reached(W, centre + centre * (B(2) / norm(B, centre, p)))


def test_vertices_and_their_order():
    half = Fraction(1, 2)
    assert l1_ball(2, half).exact_vertices == ((half, 0), (0, half), (-half, 0), (0, -half))
    assert box_polytope([0, 2], [1, 3]).exact_vertices == ((0, 2), (0, 3), (1, 2), (1, 3))
    assert [l1_ball(d).J for d in (1, 2, 7)] == [2, 4, 14]
    assert [box_polytope([0] * d, [1] * d).J for d in (1, 2, 5)] == [2, 4, 32]
    assert Simplex(4).J == 4
    assert Polytope([[0], [1], [1]]).J == 3
    for W in (l1_ball(3), box_polytope([0, 0], [1, 2]), Simplex(3), Polytope([[0, 1]])):
        for K in SYSTEMS:
            assert len(W.vertices(K)) == W.J
            assert all(W.contains(K, v) for v in W.vertices(K))


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("W", [l1_ball(3, 2), box_polytope([0, -1, 0], [1, 1, 3])], ids=name)
def test_shaped_polytopes_agree_with_their_vertices(W, p):
    plain = Polytope(W.exact_vertices)
    assert abs(plain.diameter(B, p).mid - W.diameter(B, p).mid) < TINY
    assert abs(plain.norm_bound(B, p).mid - W.norm_bound(B, p).mid) < TINY
    assert close(B, plain.centre(B), W.centre(B), TINY)


@given(st.vectors(3, 3))
@settings(max_examples=40)
def test_shaped_polytopes_have_the_same_points(w):
    for W in (l1_ball(3, 2), box_polytope([0, -1, 0], [1, 1, 3])):
        plain = Polytope(W.exact_vertices)
        assert plain.contains(F64, F64.vector(w)) is W.contains(F64, F64.vector(w))


@pytest.mark.parametrize("K", SYSTEMS)
def test_whole_space(K):
    W = WholeSpace(2)
    assert K.lt(K(10**30), W.diameter(K, 2))
    assert K.lt(K(10**30), W.norm_bound(K, 1))
    assert W.contains(K, K.vector([10**9, 0]))
    with pytest.raises(ValueError, match="no farthest pair"):
        W.farthest_pair(K, 2)


@pytest.mark.parametrize("W", SETS, ids=name)
def test_the_centre_is_in_the_set(W):
    for K in SYSTEMS:
        assert W.contains(K, W.centre(K), slack="1e-14")


@pytest.mark.parametrize("p", [*NORMS, "scalar"])
@pytest.mark.parametrize("W", SETS, ids=name)
def test_three_number_systems_agree(W, p):
    def diameter(K):
        return W.diameter(K, K("1.3") if p == "scalar" else p)

    exact = diameter(B)
    assert abs(mid(diameter(MP50)) - exact.mid) < Fraction(1, 10**45)
    assert abs(mid(diameter(F64)) - exact.mid) < Fraction(1, 10**13)
    assert exact.rad < TINY


def test_equality_and_repr():
    assert L2Ball([0, 0], 1) == L2Ball((0.0, 0), "1")
    assert L2Ball([0, 0], 1) != LpBall([0, 0], 1, 2)
    assert L2Ball([0, 0], 1) != L2Ball([0, 0], 2)
    assert len({l1_ball(2), l1_ball(2), l1_ball(3)}) == 2
    assert repr(LpBall([0, THIRD], 1, INF)) == "LpBall([0, Fraction(1, 3)], 1, inf)"
    assert repr(Simplex(2, "0.5")) == "Simplex(2, Fraction(1, 2))"
