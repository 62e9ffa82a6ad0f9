"""Smooth losses: L0 and L1 hold, are tight, and five per cent less is refuted; gradients are derivatives."""

from fractions import Fraction
from functools import partial

import pytest
from constants import into_ball, largest, lipschitz_quotient, smoothness_quotient
from hypothesis import given, settings, target
from hypothesis import strategies as hs

from audit.checks import strategies as st
from reference.numerics.numbers import INF, MP, Ball, Float64, dual_norm, norm
from reference.setting.data import Example
from reference.setting.losses import (
    GemanMcClure,
    Sigmoid,
    SignedQuadratic,
    SquaredTanh,
    geman_mcclure_slope,
    sigmoid_curvature,
    squared_tanh_curvature,
)
from reference.setting.losses_smooth import rounded_up

F64, MP50, B = Float64(), MP(50), Ball(256)
SYSTEMS = [F64, MP50, B]
FIVE_PER_CENT_LESS = Fraction(95, 100)
TINY = Fraction(1, 2**150)

LOSSES = [
    make(p)
    for p in (1, Fraction(3, 2), 2, INF)
    for make in (
        lambda p: Sigmoid(2, p),
        lambda p: GemanMcClure("0.5", "0.25", p),
        lambda p: SquaredTanh(1, p),
        lambda p: SignedQuadratic(2, 3, "0.5", p),
    )
]


def mid(x):
    return x.mid if hasattr(x, "mid") else Fraction(x) if isinstance(x, float) else Fraction(str(x))


def lower(x):
    return x.mid - x.rad


class Instance:
    """A loss as a function of w alone, for features with ‖a‖_q ≤ R and a label in [−1, 1] that stay scalars of K."""

    def __init__(self, loss, K, x):
        self.loss, self.K = loss, K
        self.a = into_ball(K, x[0:2], loss.q, loss.R)
        self.y = K(x[2])
        radius = getattr(loss, "B", 4)
        self.w = into_ball(K, x[3:5], loss.p, radius)
        self.v = self.w + (into_ball(K, x[5:7], loss.p, radius) - self.w) * K(x[7])

    def value(self, w):
        return self.loss.profile(self.K, w @ self.a, self.y)

    def gradient(self, w):
        return self.a * self.loss.slope(self.K, w @ self.a, self.y)


SEARCH = ([0.5, 0.5, 0.5, 0.2, 0.2, 0.5, 0.1, 0.1], [(-1, 1)] * 7 + [(1e-3, 0.1)])


def lipschitz(loss, K, x):
    f = Instance(loss, K, x)
    return lipschitz_quotient(K, f.value, f.w, f.v, loss.p)


def smoothness(loss, K, x):
    f = Instance(loss, K, x)
    return smoothness_quotient(K, f.gradient, f.w, f.v, loss.p)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize(("quotient", "constant"), [(lipschitz, "L0"), (smoothness, "L1")])
def test_declared_constants_hold_and_are_tight(loss, quotient, constant):
    declared = getattr(loss, constant)
    found = largest(partial(quotient, loss), *SEARCH, 1800, seed=0)
    assert not found.exceeds(declared + TINY)
    assert found.share(declared) > 0.96
    assert found.exceeds(declared * FIVE_PER_CENT_LESS)


@given(st.norms(), hs.data())
@settings(max_examples=60)
def test_no_pair_refutes_a_constant(p, data):
    """Any parameters, any norm, exact points: the certified quotient never exceeds the declared constant."""
    loss = data.draw(st.smooth_losses(p))
    z = data.draw(st.examples(2, p, loss.R))
    radius = getattr(loss, "B", 4)
    w, v = (B.vector(data.draw(st.in_ball(2, p, radius))) for _ in range(2))
    gap = norm(B, w - v, p)
    change = B.abs(loss.value(B, w, z) - loss.value(B, v, z))
    turn = dual_norm(B, loss.gradient(B, w, z) - loss.gradient(B, v, z), p)
    assert lower(dual_norm(B, loss.gradient(B, w, z), p)) <= loss.L0
    assert lower(change - B(loss.L0) * gap) <= 0
    assert lower(turn - B(loss.L1) * gap) <= 0
    if gap.mid > 0:
        target(float(turn.mid / gap.mid / loss.L1))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_gradients_are_derivatives(loss):
    """Central differences at 50 digits, step 1e-15: error about 1e-30."""
    K, h = MP50, MP50("1e-15")
    z = Example(("0.3", "-0.2"), "0.7")
    w = K.vector(["0.4", "1.1"])
    gradient = loss.gradient(K, w, z)
    for j in range(2):
        e = K.unit(2, j) * h
        difference = (loss.value(K, w + e, z) - loss.value(K, w - e, z)) / (2 * h)
        assert abs(difference - gradient[j]) < 1e-25


@pytest.mark.parametrize(
    ("constant", "decimal"),
    [(sigmoid_curvature, "0.0962250"), (geman_mcclure_slope, "0.649519"), (squared_tanh_curvature, "2.465")],
)
def test_irrational_constants(constant, decimal):
    exact = constant(B)
    assert abs(exact.mid - Fraction(decimal)) < Fraction(1, 2000)
    assert exact.rad < TINY
    declared = rounded_up(constant)
    assert 0 <= declared - lower(exact) < TINY * declared
    assert declared >= exact.mid
    for K in (F64, MP50):
        assert abs(mid(constant(K)) - exact.mid) < Fraction(1, 10**14)


def test_the_curvature_of_the_squared_tanh_is_the_larger_of_two_roots():
    """φ''/2 = (1−T)²(1+T)(1+3T) at the two roots of 6T² + 3T − 1: about 1.2325 and −0.9616, times 2."""

    def second_derivative(T):
        return 2 * (1 - T) ** 2 * (1 + T) * (1 + 3 * T)

    roots = [(B.sqrt(B(33)) * s - 3) / 12 for s in (1, -1)]
    values = [second_derivative(T) for T in roots]
    assert values[0].contains(squared_tanh_curvature(B).mid)
    assert abs(values[1].mid - Fraction("-1.923")) < Fraction(1, 1000)
    for T in roots:
        assert (6 * T * T + 3 * T - 1).contains(0)
    grid = [second_derivative(Fraction(k, 500)) for k in range(-500, 501)]
    assert max(map(abs, grid)) <= squared_tanh_curvature(B).mid


def test_the_quadratic_of_the_notes():
    """±(L0/D)w² on [−D/2, D/2]: L1 = 2·L0/D."""
    L0, D = Fraction(3), Fraction(4)
    loss = SignedQuadratic(R=1, B=D / 2, curvature=2 * L0 / D)
    assert (loss.L0, loss.L1) == (L0, 2 * L0 / D)
    for sign in (1, -1):
        assert loss.value(B, B.vector([D / 2]), Example((1,), sign)).mid == sign * L0 / D * (D / 2) ** 2


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_three_number_systems_agree(loss):
    z = Example(("0.3", "-0.2"), "0.7")
    for w in (["0.4", "1.1"], ["-30", "400"]):
        exact = [loss.value(B, B.vector(w), z), *loss.gradient(B, B.vector(w), z)]
        for K, tolerance in ((MP50, Fraction(1, 10**44)), (F64, Fraction(1, 10**13))):
            found = [loss.value(K, K.vector(w), z), *loss.gradient(K, K.vector(w), z)]
            for a, b in zip(found, exact, strict=True):
                assert abs(mid(a) - b.mid) <= tolerance * (1 + abs(b.mid))


def test_values_by_hand():
    K, z, w = F64, Example((1, 0), 1), F64.vector([0, 5])
    assert Sigmoid(1).value(K, w, z) == 0.5
    assert list(Sigmoid(1).gradient(K, w, z)) == [-0.25, 0]
    assert GemanMcClure(1).value(K, w, z) == 0.5
    assert SquaredTanh(1).value(K, w, z) == 1
    assert list(SquaredTanh(1).gradient(K, w, z)) == [-2, 0]
    assert SignedQuadratic(1, 5).value(K, F64.vector([2, 0]), z) == 2
    assert Sigmoid(1).value(K, F64.vector([-1000, 0]), z) == 1
    assert Sigmoid(1).value(K, F64.vector([1000, 0]), z) == 0
