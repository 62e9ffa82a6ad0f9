"""Convex losses on the line and generalised linear losses: constants, subgradients, proximal points."""

from fractions import Fraction
from functools import partial
from itertools import pairwise

import pytest
from constants import into_ball, largest, lipschitz_quotient, smoothness_quotient, weak_convexity_quotient
from hypothesis import given, settings, target
from hypothesis import strategies as hs

from audit.checks import strategies as st
from reference.numerics.numbers import INF, MP, Ball, Float64, Undecided, dual_norm
from reference.setting.data import Example
from reference.setting.losses import (
    GLL,
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    NoClosedForm,
    PiecewiseLinear,
    Quantile,
    linear_prox,
)

F64, MP50, B = Float64(), MP(50), Ball(256)
SYSTEMS = [F64, MP50, B]
TINY = Fraction(1, 2**150)
FIVE_PER_CENT_LESS = Fraction(95, 100)

LOSSES = [
    Absolute("0.3"),
    Hinge(1),
    Hinge(-1),
    Hinge("0.5"),
    Quantile("0.3", "0.2"),
    Quantile(-1, "0.7"),
    EpsilonInsensitive("0.3", "0.25"),
    EpsilonInsensitive("0.3", 0),
    Huber("0.3", "0.5"),
    Huber(0, 2),
    Logistic(1),
    Logistic("-0.5"),
    PiecewiseLinear([-1, 0, "0.5"], [-2, "-0.5", "0.25", "1.5"], 3),
    PiecewiseLinear([], ["0.75"]),
]
PIECEWISE = [loss for loss in LOSSES if not isinstance(loss, Huber | Logistic)]
WITH_PROX = [loss for loss in LOSSES if not isinstance(loss, Logistic)]


def mid(x):
    return x.mid if hasattr(x, "mid") else Fraction(x) if isinstance(x, float) else Fraction(str(x))


def lower(x):
    return x.mid - x.rad


def upper(x):
    return x.mid + x.rad


# ------------------------------------------------------------------------------------------ constants


def scalar_pair(K, x):
    """u and u + s, s ≥ 1/1000 apart, so that rounding cannot make a quotient."""
    u = K(x[0])
    return K.vector([u]), K.vector([u + K(x[1])])


def scalar_lipschitz(loss, K, x):
    return lipschitz_quotient(K, lambda w: loss.value(K, w[0]), *scalar_pair(K, x), 2)


def scalar_smoothness(loss, K, x):
    return smoothness_quotient(K, lambda w: K.vector([loss.subgradient(K, w[0])]), *scalar_pair(K, x), 2)


LINE = ([0.1, 0.5], [(-16, 16), (1e-3, 2)])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.statement("def:glm", kind="searched")
def test_lipschitz_constants_hold_and_are_tight(loss):
    found = largest(partial(scalar_lipschitz, loss), *LINE, 400, seed=0)
    assert not found.exceeds(loss.lipschitz + TINY)
    assert found.share(loss.lipschitz) > 0.99
    assert found.exceeds(loss.lipschitz * FIVE_PER_CENT_LESS)


@pytest.mark.parametrize("loss", [x for x in LOSSES if x.smoothness], ids=repr)
def test_smoothness_constants_hold_and_are_tight(loss):
    found = largest(partial(scalar_smoothness, loss), *LINE, 600, seed=0)
    assert not found.exceeds(loss.smoothness + TINY)
    assert found.exceeds(loss.smoothness * FIVE_PER_CENT_LESS)


@given(st.scalar_losses(), st.dyadics(-4, 4), st.dyadics(-4, 4))
def test_no_pair_refutes_a_lipschitz_constant(loss, u, v):
    gap = abs(B(u).mid - B(v).mid)
    change = B.abs(loss.value(B, B(u)) - loss.value(B, B(v)))
    assert lower(change) <= loss.lipschitz * gap
    if gap > 0 and loss.lipschitz > 0:
        target(float(change.mid / (gap * loss.lipschitz)))


@given(st.scalar_losses(), st.dyadics(-4, 4), st.dyadics(-4, 4))
def test_subgradients_and_convexity(loss, u, v):
    """ℓ(v) ≥ ℓ(u) + g(v − u) for every u, v: this says both that ℓ is convex and that g is a subgradient."""
    assert loss.is_convex
    g = loss.subgradient(B, B(u))
    assert lower(B.abs(g)) <= loss.lipschitz
    assert upper(loss.value(B, B(v)) - loss.value(B, B(u)) - g * (B(v) - B(u))) >= 0


def test_convexity_quotient_refuses_a_concave_kink():
    bent = PiecewiseLinear([0], [1, -1])
    assert not bent.is_convex
    assert bent.lipschitz == 1

    def quotient(loss, K, x):
        w, v = scalar_pair(K, x)
        return weak_convexity_quotient(K, lambda z: loss.value(K, z[0]), w, v, K(Fraction(1, 2)), 2)

    near = ([0.1, 0.5], [(-2, 2), (1e-3, 2)])
    assert largest(partial(quotient, bent), *near, 400, seed=0).exceeds(100)  # anything positive refutes convexity
    for loss in LOSSES:
        assert not largest(partial(quotient, loss), *near, 200, seed=0).exceeds(TINY)


@pytest.mark.parametrize("loss", PIECEWISE, ids=repr)
def test_slopes_and_kinks_describe_the_values(loss):
    """Each family codes its value by its own formula; the kinks and slopes must tell the same story."""
    rebuilt = PiecewiseLinear(loss.kinks, loss.slopes, 0)
    anchor = loss.kinks[0] if loss.kinks else Fraction(0)
    shift = loss.value(B, B(anchor)) - rebuilt.value(B, B(anchor))
    for k in range(-40, 41):
        u = B(Fraction(k, 8))
        assert abs((loss.value(B, u) - rebuilt.value(B, u) - shift).mid) < TINY


@pytest.mark.parametrize("loss", PIECEWISE, ids=repr)
@pytest.mark.parametrize("K", [F64, MP50])
def test_the_subgradient_at_a_kink_is_nearest_zero(loss, K):
    assert loss.lipschitz == max(abs(s) for s in loss.slopes)
    for i, kink in enumerate(loss.kinks):
        low, high = loss.slopes[i], loss.slopes[i + 1]
        nearest = 0 if low <= 0 <= high else min(low, high, key=abs)
        assert K.to_float(loss.subgradient(K, K(kink))) == pytest.approx(float(nearest), abs=1e-15)
        step = K(Fraction(1, 1000))
        assert K.to_float(loss.subgradient(K, K(kink) - step)) == pytest.approx(float(low), abs=1e-15)
        assert K.to_float(loss.subgradient(K, K(kink) + step)) == pytest.approx(float(high), abs=1e-15)


def test_a_kink_that_is_not_decided_is_said():
    with pytest.raises(Undecided):
        Absolute(1).subgradient(B, B.sqrt(B(2)) * B.sqrt(B(2)) / 2)
    assert Absolute(1).subgradient(B, B(1)).mid == 0
    assert Absolute(Fraction(1, 3)).value(B, B(Fraction(1, 3))).contains(0)


# ------------------------------------------------------------------------------------------ proximal points


def proximal_deficit(K, loss, beta, m, prox, u):
    """[ℓ(u) + (β/2)(u−m)²] − [same at prox] − (β/2)(u − prox)²: never negative if and only if `prox` is the minimiser.

    The objective is β-strongly convex, so it holds at the minimiser; any other point fails at u = minimiser.
    """

    def objective(x):
        return loss.value(K, x) + K(beta) * (x - m) ** 2 / 2

    return objective(u) - objective(prox) - K(beta) * (u - prox) ** 2 / 2


@given(st.scalar_losses(), st.positives(), st.dyadics(-4, 4), st.dyadics(-6, 6))
@settings(max_examples=200)
def test_proximal_points_are_the_minimisers(loss, beta, m, u):
    if isinstance(loss, Logistic):
        with pytest.raises(NoClosedForm, match="no closed-form"):
            loss.prox(B, beta, m)
        return
    prox = loss.prox(B, beta, m)
    assert upper(proximal_deficit(B, loss, beta, B(m), prox, B(u))) >= -TINY
    for shift in (Fraction(1, 1000), Fraction(-1, 1000), Fraction(1, 20), Fraction(-1, 20)):
        assert upper(proximal_deficit(B, loss, beta, B(m), prox, prox + shift)) >= -TINY
    assert prox.rad < TINY


@pytest.mark.parametrize("loss", WITH_PROX, ids=repr)
@pytest.mark.parametrize("shift", [Fraction(1, 50), Fraction(-1, 50)])
def test_a_wrong_proximal_point_is_caught(loss, shift):
    """A proximal point moved by 0.02 violates the inequality at the true one."""
    for m in (Fraction(-3), Fraction(1, 5), Fraction(1), Fraction(5, 2)):
        right = loss.prox(B, 3, m)
        assert upper(proximal_deficit(B, loss, 3, B(m), right + shift, right)) < 0


@pytest.mark.parametrize("loss", WITH_PROX, ids=repr)
def test_proximal_points_move_with_m_and_within_their_radius(loss):
    """|m − prox| ≤ L0/β and 0 ≤ prox(m') − prox(m) ≤ m' − m: firm non-expansiveness on the line."""
    beta = Fraction(7, 4)
    points = [Fraction(k, 16) for k in range(-64, 65)]
    values = [loss.prox(B, beta, m) for m in points]
    for m, u in zip(points, values, strict=True):
        assert abs(u.mid - m) <= loss.lipschitz / beta + TINY
    for a, b in pairwise(values):
        assert -TINY <= b.mid - a.mid <= Fraction(1, 16) + TINY


def test_proximal_points_by_hand():
    assert Absolute(0).prox(B, 2, 3).mid == Fraction(5, 2)
    assert Absolute(0).prox(B, 2, Fraction(1, 4)).mid == 0
    assert Hinge(1).prox(B, 1, 0).mid == 1
    assert Hinge(1).prox(B, 4, 0).mid == Fraction(1, 4)
    assert Hinge(1).prox(B, 4, 2).mid == 2
    assert Huber(0, 1).prox(B, 1, 1).mid == Fraction(1, 2)
    assert Huber(0, 1).prox(B, 1, 9).mid == 8
    assert EpsilonInsensitive(0, 1).prox(B, 1, Fraction(1, 2)).mid == Fraction(1, 2)
    assert EpsilonInsensitive(0, 1).prox(B, 1, Fraction(3, 2)).mid == 1


@pytest.mark.parametrize("loss", [Absolute(0), Huber(0, 1)])
def test_beta_must_be_positive(loss):
    for K in SYSTEMS:
        with pytest.raises(ValueError, match="beta"):
            loss.prox(K, -1, 0)


def test_non_convex_piecewise_linear_has_no_prox():
    with pytest.raises(NoClosedForm, match="not convex"):
        PiecewiseLinear([0], [1, -1]).prox(F64, 1, 0)


# ------------------------------------------------------------------------------------------ number systems


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("u", ["-1.3", "0.1", "0.57", "2", "300"])
def test_three_number_systems_agree(loss, u):
    quantities = [loss.value, loss.subgradient]
    if not isinstance(loss, Logistic):
        quantities.append(lambda K, x: loss.prox(K, "1.5", x))
    for quantity in quantities:
        exact = quantity(B, B(u))
        size = 1 + abs(exact.mid)
        assert abs(mid(quantity(MP50, MP50(u))) - exact.mid) < Fraction(1, 10**46) * size
        assert abs(mid(quantity(F64, F64(u))) - exact.mid) < Fraction(1, 10**14) * size
        assert exact.rad < TINY * size


def test_logistic_does_not_overflow():
    assert Logistic(1).value(F64, -1e4) == 1e4
    assert Logistic(1).value(F64, 1e4) == 0
    assert Logistic(1).subgradient(F64, -1e4) == -1
    assert Logistic(1).subgradient(F64, 700.0) == pytest.approx(-9.859676543759770e-305, rel=1e-13)


# ------------------------------------------------------------------------------------------ GLL


GLLS = [
    GLL(family, L0, R, p)
    for family, L0, R, p in [
        (Absolute, 1, 2, 2),
        (Hinge, 1, "0.5", 1),
        (partial(Quantile, tau="0.3"), "0.7", 1, Fraction(3, 2)),
        (partial(Huber, width=2), 2, 3, INF),
        (Logistic, 1, 1, 3),
    ]
]


def gll_quotient(loss, K, x):
    """x = (features, w, direction, distance, label sign): all on ℝ², ‖features‖_q ≤ R."""
    features = into_ball(K, x[0:2], loss.q, loss.R)
    w = K.vector(x[2:4]) * 20
    v = w + K.vector(x[4:6]) * K(x[6])
    scalar = loss.scalar(Example((0, 0), 1 if x[7] > 0 else -1))
    return lipschitz_quotient(K, lambda u: scalar.value(K, u @ features), w, v, loss.p)


@pytest.mark.parametrize("loss", GLLS, ids=lambda g: str(g.p))
@pytest.mark.statement("def:glm", kind="searched")
def test_a_gll_is_L0_R_lipschitz_and_no_better(loss):
    found = largest(
        partial(gll_quotient, loss),
        [0.5, 0.5, 0.2, 0.2, 0.5, 0.5, 0.1, 0.5],
        [(-1, 1)] * 6 + [(0.01, 1), (-1, 1)],
        2500,
        seed=0,
    )
    assert not found.exceeds(loss.lipschitz + TINY)
    assert found.exceeds(loss.lipschitz * FIVE_PER_CENT_LESS)


@given(st.gll_datasets(max_size=3), hs.data())
def test_records_respect_R_and_the_subgradient_its_bound(case, data):
    loss, dataset = case
    target(max(float(dual_norm(F64, loss.features(F64, z), loss.p)) for z in dataset) / float(loss.R))
    w = B.vector(data.draw(st.vectors(len(dataset[0].x), 3)))
    for z in dataset:
        loss.check(B, z, slack="1e-60")
        size = dual_norm(B, loss.features(B, z), loss.p)
        assert lower(size) <= loss.R
        try:
            g = loss.subgradient(B, w, z)
        except Undecided:
            continue
        assert lower(dual_norm(B, g, loss.p)) <= loss.lipschitz


def test_the_bound_R_bites():
    loss = GLL(Absolute, 1, 1, 1)  # dual: maximum norm
    for K in SYSTEMS:
        loss.check(K, Example((1, -1), 0))
        with pytest.raises(ValueError, match=r"‖x‖_inf = .* must be at most R = 1"):
            loss.check(K, Example((1, "1.01"), 0))
        with pytest.raises(ValueError, match=r"‖x‖_1 = .* must be at most R = 1"):
            GLL(Absolute, 1, 1, INF).check(K, Example((1, "0.01"), 0))


@pytest.mark.parametrize("K", SYSTEMS)
def test_a_gll_by_hand(K):
    loss = GLL(Hinge, 1, 5, 2)
    z = Example((3, -4), -1)
    w = K.vector([1, "0.5"])  # ⟨w, x⟩ = 1, hinge(−1)(1) = 2
    assert K.to_float(loss.value(K, w, z)) == 2
    assert [K.to_float(x) for x in loss.subgradient(K, w, z)] == [3, -4]
    assert loss.scalar(z) == Hinge(-1)
    assert loss.lipschitz == 5


@given(st.scalar_losses(), st.vectors(2, 2), st.vectors(2, 2), st.vectors(2, 4), st.positives())
@settings(max_examples=80)
def test_the_proximal_point_of_a_linear_predictor(loss, x, w, u, beta):
    """The same inequality in ℝ²: it pins the minimiser of ℓ(⟨v, x⟩) + (β/2)‖v − w‖²."""
    if isinstance(loss, Logistic):
        return
    features, centre, other = B.vector(x), B.vector(w), B.vector(u)
    v = linear_prox(B, loss, features, beta, centre)

    def objective(point):
        return loss.value(B, point @ features) + B(beta) * ((point - centre) @ (point - centre)) / 2

    assert upper(objective(other) - objective(v) - B(beta) * ((other - v) @ (other - v)) / 2) >= -TINY
