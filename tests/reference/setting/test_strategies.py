"""The public strategies keep their promises, reach the extremes and are usable as documented."""

from fractions import Fraction

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as hs
from hypothesis.errors import NoSuchExample

from audit.checks import strategies as st
from reference.numerics.numbers import INF, Ball, norm
from reference.setting.data import are_neighbours
from reference.setting.losses import Absolute, Hinge, Huber, Logistic, PiecewiseLinear
from reference.setting.sets import Box, FeasibleSet, L2Ball, LpBall, Polytope, Simplex, WholeSpace

B = Ball(128)
QUICK = settings(max_examples=400, derandomize=True, database=None, phases=[Phase.generate])  # no shrinking


def reachable(strategy, wanted):
    try:
        find(strategy, wanted, settings=QUICK)
    except NoSuchExample:
        return False
    return True


@given(st.dyadics(Fraction(-1, 3), Fraction(1, 2)))
def test_dyadics_stay_in_their_range(x):
    assert Fraction(-1, 3) <= x <= Fraction(1, 2)


def test_dyadics_reach_both_ends_and_the_inside():
    strategy = st.dyadics(Fraction(-1, 3), Fraction(1, 2))
    for wanted in (
        lambda x: x == Fraction(-1, 3),
        lambda x: x == Fraction(1, 2),
        lambda x: x == 0,
        lambda x: x.denominator > 1000,
    ):
        assert reachable(strategy, wanted)
    assert reachable(st.dyadics(Fraction(1, 3), Fraction(1, 3)), lambda x: x == Fraction(1, 3))
    with pytest.raises(ValueError, match="low = 1 must be at most high = 0"):
        st.dyadics(1, 0)


@given(hs.data())
def test_norms_stay_in_their_range(data):
    assert 1 <= data.draw(st.norms()) <= INF
    assert 1 <= data.draw(st.norms(1, 2)) <= 2
    assert 2 <= data.draw(st.norms(2)) <= INF
    assert Fraction(11, 10) <= data.draw(st.norms(Fraction(11, 10), Fraction(6, 5))) <= Fraction(6, 5)
    assert data.draw(st.norms(20)) >= 20


def test_norms_reach_the_ends_and_values_near_one():
    for wanted in (lambda p: p == 1, lambda p: p == 2, lambda p: p == INF, lambda p: 1 < p < Fraction(11, 10)):
        assert reachable(st.norms(), wanted)


@given(st.norms(), st.positives(), hs.data())
def test_in_ball_stays_inside(p, radius, data):
    u = data.draw(st.in_ball(3, p, radius))
    size = norm(B, B.vector(u), p)
    assert size.mid - size.rad <= radius


@pytest.mark.parametrize("p", [1, Fraction(3, 2), 2, INF])
def test_in_ball_reaches_the_sphere_and_the_inside(p):
    def size(u):
        return norm(B, B.vector(u), p).mid

    strategy = st.in_ball(3, p, 2)
    assert reachable(strategy, lambda u: size(u) > Fraction(19999, 10000))
    assert reachable(strategy, lambda u: 0 < size(u) < 1)
    assert reachable(strategy, lambda u: not any(u))


@pytest.mark.parametrize("kind", [L2Ball, LpBall, Box, Simplex, Polytope])
def test_every_kind_of_set_is_drawn(kind):
    assert reachable(st.feasible_sets(), lambda W: type(W) is kind)


def test_the_whole_space_is_drawn_only_on_demand():
    never = settings(QUICK, max_examples=60)
    with pytest.raises(NoSuchExample):
        find(st.feasible_sets(2), lambda W: isinstance(W, WholeSpace), settings=never)
    assert reachable(st.feasible_sets(bounded=False), lambda W: isinstance(W, WholeSpace))


@given(st.feasible_sets(2))
@settings(max_examples=30)
def test_the_dimension_is_kept(W):
    assert isinstance(W, FeasibleSet)
    assert W.dim == 2


def test_points_reach_the_vertices():
    W = Polytope([[0, 0], [1, 0], [0, 1]])
    for vertex in W.exact_vertices:
        assert reachable(st.points_in(W), lambda w, v=vertex: w == v)
    assert reachable(st.points_in(Box([0, 0], [1, 2])), lambda w: w == (1, 2))


@pytest.mark.parametrize("kind", [Absolute, Hinge, Huber, Logistic, PiecewiseLinear])
def test_scalar_families_are_drawn(kind):
    assert reachable(st.scalar_losses(), lambda loss: type(loss) is kind)


@given(st.convex_piecewise_linear())
def test_piecewise_linear_losses_are_convex(loss):
    assert loss.is_convex


@given(st.gll_datasets(min_size=2, max_size=4))
@settings(max_examples=50)
def test_gll_datasets_are_admitted_by_their_loss(case):
    loss, dataset = case
    assert 2 <= len(dataset) <= 4
    assert len({len(z.x) for z in dataset}) == 1
    for z in dataset:
        loss.check(B, z, slack="1e-30")
        assert loss.scalar(z).lipschitz <= loss.L0


@given(st.gll_neighbours(max_size=4))
@settings(max_examples=60)
def test_neighbours_are_neighbours(case):
    loss, S, S2 = case
    assert are_neighbours(S, S2)
    for z in (*S, *S2):
        loss.check(B, z, slack="1e-30")


@given(st.neighbouring_datasets(hs.integers(0, 3)))
def test_neighbours_of_any_records(pair):
    assert are_neighbours(*pair)


def test_first_and_last_positions_are_replaced():
    replacing = st.neighbouring_datasets(hs.integers(0, 3), min_size=3)
    assert reachable(replacing, lambda pair: pair[0][0] != pair[1][0])
    assert reachable(replacing, lambda pair: pair[0][-1] != pair[1][-1])


@given(st.parameters())
def test_parameters_are_valid(a):
    assert 1 <= a.n <= 1 << 20
    assert 1 <= a.dim <= 1000
    assert Fraction(1, 100) <= a.epsilon <= 8
    assert Fraction(1, 10**12) <= a.delta <= Fraction(1, 2)
    assert 1 <= a.p <= INF
    assert min(a.L0, a.R, a.D) > 0


def test_parameters_reach_the_awkward_corners():
    for wanted in (
        lambda a: a.n == 1,
        lambda a: a.n > 10**5 and a.n & (a.n - 1),
        lambda a: a.dim > a.n,
        lambda a: a.delta <= Fraction(1, 10**9),
        lambda a: a.epsilon < Fraction(1, 50),
        lambda a: a.epsilon > 4,
    ):
        assert reachable(st.parameters(), wanted)


@given(st.norms(), hs.data())
@settings(max_examples=40)
def test_losses_on_vectors_carry_positive_constants(p, data):
    smooth = data.draw(st.smooth_losses(p))
    weak = data.draw(st.weakly_convex_losses(p))
    assert smooth.p == weak.p == p
    assert min(smooth.L0, smooth.L1, weak.L0, weak.rho) > 0


def test_the_module_lists_what_it_documents():
    for name in st.__all__:
        assert callable(getattr(st, name))
        assert getattr(st, name).__doc__
    documented = [n for n in st.__all__ if f"`{n}" in st.__doc__]
    assert set(st.__all__) - set(documented) <= {"Parameters", "convex_piecewise_linear", "dims", "positives"}
