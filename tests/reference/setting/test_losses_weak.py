"""Weakly convex losses: L0 and rho hold, are tight, and five per cent less is refuted; proximal points minimise."""

from fractions import Fraction
from functools import partial

import pytest
from constants import into_ball, largest, lipschitz_quotient, weak_convexity_quotient
from hypothesis import given, settings, target
from hypothesis import strategies as hs
from not_weakly_convex import NotWeaklyConvex

from audit.checks import strategies as st
from reference.numerics.numbers import INF, MP, Ball, Float64, Undecided, dual_norm, norm
from reference.setting.data import Example
from reference.setting.losses import (
    MCP,
    SCAD,
    NegativeQuadratic,
    NegativeSquare,
    NoClosedForm,
    Penalised,
    RobustPhaseRetrieval,
    SeparablePenalty,
    SquareResidual,
    TanhRegression,
    TanhResidual,
    linear_prox,
    tanh_curvature,
)
from reference.setting.losses_smooth import rounded_up

F64, MP50, B = Float64(), MP(50), Ball(256)
SYSTEMS = [F64, MP50, B]
FIVE_PER_CENT_LESS = Fraction(95, 100)
TINY = Fraction(1, 2**150)

SCALARS = [
    SquareResidual(1, 2),
    SquareResidual("0.4", "1.5"),
    MCP(1, 2),
    MCP("0.5", 3),
    SCAD(1, 3),
    SCAD("0.5", "3.7"),
    NegativeSquare("0.7", 2),
    TanhResidual("0.3"),
    TanhResidual(-2),
]
WITH_PROX = [h for h in SCALARS if not isinstance(h, TanhResidual)]


def mid(x):
    return x.mid if hasattr(x, "mid") else Fraction(x) if isinstance(x, float) else Fraction(str(x))


def lower(x):
    return x.mid - x.rad


def upper(x):
    return x.mid + x.rad


# ------------------------------------------------------------------------------------------ on the line


def span(h):
    """Where the Lipschitz constant is declared: [−B, B], or the whole line (here [−4, 4])."""
    return getattr(h, "B", Fraction(4))


def pair(h, K, x):
    """Two points of the declared interval, at least 1/500 of it apart."""
    reach = K(span(h))
    w = K(x[0]) * reach
    return K.vector([w]), K.vector([w + (K(x[1]) * reach - w) * K(x[2])])


def scalar_lipschitz(h, K, x):
    return lipschitz_quotient(K, lambda w: h.value(K, w[0]), *pair(h, K, x), 2)


def scalar_weakness(h, K, x):
    return weak_convexity_quotient(K, lambda w: h.value(K, w[0]), *pair(h, K, x), K(x[3]), 2)


LINE = ([0.1, 0.6, 0.2, 0.5], [(-1, 1), (-1, 1), (2e-3, 1), (0.05, 0.95)])


@pytest.mark.parametrize("h", SCALARS, ids=repr)
@pytest.mark.parametrize(("quotient", "constant"), [(scalar_lipschitz, "lipschitz"), (scalar_weakness, "rho")])
def test_scalar_constants_hold_and_are_tight(h, quotient, constant):
    declared = getattr(h, constant)
    found = largest(partial(quotient, h), *LINE, 1500, seed=1)
    assert not found.exceeds(declared + TINY)
    assert found.share(declared) > 0.96
    assert found.exceeds(declared * FIVE_PER_CENT_LESS)


@pytest.mark.parametrize("rho", [1, 10, 100])
def test_the_control_is_not_weakly_convex(rho):
    """min(|v|, 1): a pair around the kink refutes every rho, and the climber finds one."""
    control = NotWeaklyConvex()
    assert not hasattr(control, "rho")
    around_the_kink = ([0.25, 0.3, 0.5, 0.5], [(0.2, 0.3), (0.2, 0.3), (2e-3, 1), (0.05, 0.95)])
    assert largest(partial(scalar_weakness, control), *around_the_kink, 1500, seed=0).exceeds(rho)
    h = Fraction(1, 2 * rho)  # the pair of the docstring, exactly
    w, v = B.vector([1 - h]), B.vector([1 + h])
    quotient = weak_convexity_quotient(B, lambda u: control.value(B, u[0]), w, v, B(Fraction(1, 2)), 2)
    assert lower(quotient) > rho
    assert quotient.contains(1 / h)


def test_the_control_is_lipschitz():
    found = largest(partial(scalar_lipschitz, NotWeaklyConvex()), *LINE, 400, seed=0)
    assert not found.exceeds(1)
    assert found.share(1) > 0.99
    with pytest.raises(NoClosedForm, match="not weakly convex"):
        NotWeaklyConvex().prox(F64, 100, 1)
    slopes = [NotWeaklyConvex().subgradient(F64, F64(u)) for u in (-2, -1, "-0.5", 0, "0.5", 1, 2)]
    assert slopes == [0, 0, -1, 0, 1, 0, 0]


@given(st.weak_scalar_losses(), hs.data())
@settings(max_examples=200)
def test_no_pair_refutes_a_scalar_constant_and_subgradients_support(h, data):
    """h(v) ≥ h(u) + g(v − u) − (ρ/2)(v − u)²: at once ρ-weak convexity and that g is a subgradient."""
    u, v = (B(data.draw(st.dyadics(-span(h), span(h)))) for _ in range(2))
    gap = v - u
    change = h.value(B, v) - h.value(B, u)
    assert lower(B.abs(change) - B(h.lipschitz) * B.abs(gap)) <= 0
    try:
        g = h.subgradient(B, u)
    except Undecided:
        return
    support = change - g * gap + B(h.rho) * gap * gap / 2
    assert upper(support) >= 0
    if gap.mid != 0:
        target(-float(support.mid / gap.mid**2))


@pytest.mark.parametrize("h", SCALARS, ids=repr)
def test_scalar_subgradients_are_derivatives(h):
    K, step = MP50, MP50("1e-15")
    for u in ("-1.9", "-0.83", "0.21", "0.77", "1.4"):
        x = K(u)
        difference = (h.value(K, x + step) - h.value(K, x - step)) / (2 * step)
        assert abs(difference - h.subgradient(K, x)) < 1e-25


@pytest.mark.parametrize("K", SYSTEMS)
def test_the_subgradient_at_a_kink_is_zero(K):
    for h, kink in [
        (SquareResidual(1, 2), 1),
        (SquareResidual(4, 2), -2),
        (MCP(1, 2), 0),
        (SCAD(1, 3), 0),
        (TanhResidual(0), 0),
    ]:
        assert K.to_float(h.subgradient(K, K(kink))) == 0


# ------------------------------------------------------------------------------------------ proximal points


def deficit(h, beta, m, prox, u):
    """objective(u) − objective(prox) − ((β−ρ)/2)(u − prox)², never negative exactly at the minimiser."""

    def objective(x):
        return h.value(B, x) + B(beta) * (x - B(m)) ** 2 / 2

    return objective(u) - objective(prox) - B(beta - h.rho) * (u - prox) ** 2 / 2


@given(st.weak_scalar_losses(closed_form=True), st.positives(), st.dyadics(-6, 6), st.dyadics(-6, 6))
@settings(max_examples=250)
def test_proximal_points_are_the_minimisers(h, more, m, u):
    beta = h.rho + more
    prox = h.prox(B, beta, m)
    for other in (B(u), prox + Fraction(1, 1000), prox - Fraction(1, 1000), prox + 1, prox - 1):
        assert upper(deficit(h, beta, m, prox, other)) >= -TINY
    assert prox.rad < TINY


@pytest.mark.parametrize("h", WITH_PROX, ids=repr)
@pytest.mark.parametrize("shift", [Fraction(1, 50), Fraction(-1, 50)])
def test_a_wrong_proximal_point_is_caught(h, shift):
    beta = h.rho + 1
    for k in range(-12, 13):
        m = Fraction(k, 4)
        right = h.prox(B, beta, m)
        assert upper(deficit(h, beta, m, right + shift, right)) < 0


class WrongMCP(MCP):
    """Forgets that the arch ends at γλ."""

    def prox(self, K, beta, m):
        t = K.abs(K(m))
        arch = (K(beta) * t - K(self.lam)) / (K(beta) - K(self.rho))
        return K.sign(K(m)) * K.max(K(0), arch)


class WrongSCAD(SCAD):
    """Soft threshold everywhere."""

    def prox(self, K, beta, m):
        t = K.abs(K(m))
        return self._odd_prox(K, K(m), K.max(K(0), t - K(self.lam) / K(beta)))


class WrongSquareResidual(SquareResidual):
    """Takes the arch's formula beyond the kink."""

    def prox(self, K, beta, m):
        b = K(beta)
        return b * K(m) / (b - 2)


@pytest.mark.parametrize("h", [WrongMCP(1, 2), WrongSCAD(1, 3), WrongSquareResidual(1, 2)])
def test_wrong_formulas_are_caught(h):
    points = [Fraction(k, 4) for k in range(-16, 17)]
    beta = h.rho + 1
    refused = [m for m in points for u in points if upper(deficit(h, beta, m, h.prox(B, beta, m), B(u))) < -TINY]
    assert refused


def test_proximal_points_by_hand():
    h = SquareResidual(1, 2)
    starts = (0, Fraction(1, 4), 1, Fraction(3, 2), 3, -3)
    assert [h.prox(B, 4, m).mid for m in starts] == [0, Fraction(1, 2), 1, 1, 2, -2]
    assert [MCP(1, 2).prox(B, 1, m).mid for m in (Fraction(1, 2), Fraction(3, 2), 3)] == [0, 1, 3]
    assert [SCAD(1, 3).prox(B, 1, m).mid for m in (Fraction(1, 2), Fraction(3, 2), 4)] == [0, Fraction(1, 2), 4]
    assert NegativeSquare(1, 1).prox(B, 2, 1).mid == 2
    assert SquareResidual(-1, 1).prox(B, 4, 3).mid == 2  # v² + 1
    with pytest.raises(NoClosedForm):
        TanhResidual(0).prox(F64, 2, 1)


@pytest.mark.parametrize("h", WITH_PROX, ids=repr)
def test_beta_must_exceed_rho(h):
    for K in SYSTEMS:
        with pytest.raises(ValueError, match=r"beta = .* must be greater than"):
            h.prox(K, h.rho * FIVE_PER_CENT_LESS, 1)


# ------------------------------------------------------------------------------------------ in ℝ^d


LOSSES = [
    make(p)
    for p in (1, Fraction(3, 2), 2, INF)
    for make in (
        lambda p: RobustPhaseRetrieval(2, "1.5", p),
        lambda p: TanhRegression(2, p),
        lambda p: NegativeQuadratic(2, 3, "0.5", p),
        lambda p: Penalised(MCP(1, 2), 2, p),
        lambda p: Penalised(SCAD(1, 3), 1, p),
    )
]


class Instance:
    """A loss as a function of w alone; the features are scalars of K, the label is exact."""

    def __init__(self, loss, K, x):
        self.loss, self.K = loss, K
        self.a = into_ball(K, x[0:2], loss.q, loss.R)
        self.h = loss.scalar(Example((0, 0), x[2]))
        radius = getattr(loss, "B", 4)
        self.w = into_ball(K, x[3:5], loss.p, radius)
        self.v = self.w + (into_ball(K, x[5:7], loss.p, radius) - self.w) * K(x[7])
        self.lam = K(x[8])

    def value(self, w):
        return self.h.value(self.K, w @ self.a)


SEARCH = (
    [0.5, 0.5, 0.5, 0.2, 0.2, 0.5, 0.1, 0.1, 0.5],
    [(-1, 1)] * 2 + [(-1, 4)] + [(-1, 1)] * 4 + [(1e-3, 0.3), (0.1, 0.9)],
)


def lipschitz(loss, K, x):
    f = Instance(loss, K, x)
    return lipschitz_quotient(K, f.value, f.w, f.v, loss.p)


def weakness(loss, K, x):
    f = Instance(loss, K, x)
    return weak_convexity_quotient(K, f.value, f.w, f.v, f.lam, loss.p)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize(("quotient", "constant"), [(lipschitz, "L0"), (weakness, "rho")])
@pytest.mark.statement("eqn:wk_cvx", kind="searched")
def test_declared_constants_hold_and_are_tight(loss, quotient, constant):
    declared = getattr(loss, constant)
    found = largest(partial(quotient, loss), *SEARCH, 1800, seed=0)
    assert not found.exceeds(declared + TINY)
    assert found.share(declared) > 0.96
    assert found.exceeds(declared * FIVE_PER_CENT_LESS)


@given(st.norms(), hs.data())
@settings(max_examples=60)
def test_no_pair_refutes_a_constant(p, data):
    loss = data.draw(st.weakly_convex_losses(p))
    z = data.draw(st.examples(2, p, loss.R, st.dyadics(-2, 2)))
    radius = getattr(loss, "B", 4)
    w, v = (B.vector(data.draw(st.in_ball(2, p, radius))) for _ in range(2))
    gap = norm(B, w - v, p)
    change = loss.value(B, v, z) - loss.value(B, w, z)
    assert lower(B.abs(change) - B(loss.L0) * gap) <= 0
    try:
        g = loss.subgradient(B, w, z)
    except Undecided:
        return
    assert lower(dual_norm(B, g, p)) <= loss.L0
    assert upper(change - g @ (v - w) + B(loss.rho) * gap * gap / 2) >= 0


@given(st.weak_scalar_losses(closed_form=True), st.vectors(2, 2), st.vectors(2, 2), st.vectors(2, 4), st.positives())
@settings(max_examples=80)
def test_the_proximal_point_of_a_linear_predictor(h, x, w, u, more):
    features, centre, other = B.vector(x), B.vector(w), B.vector(u)
    square = sum(t * t for t in x)
    rho = h.rho * square
    beta = rho + more
    v = linear_prox(B, h, features, beta, centre)

    def objective(point):
        return h.value(B, point @ features) + B(beta) * ((point - centre) @ (point - centre)) / 2

    assert upper(objective(other) - objective(v) - B(beta - rho) * ((other - v) @ (other - v)) / 2) >= -TINY


@pytest.mark.parametrize("loss", [LOSSES[10], LOSSES[12], LOSSES[13], LOSSES[14]], ids=repr)
def test_the_proximal_point_of_a_loss_minimises(loss):
    assert loss.p == 2
    z = Example(("0.6", "-0.3"), "0.5")
    beta = loss.rho + 1
    w = B.vector([1, "0.2"])
    v = loss.prox(B, beta, w, z)

    def objective(u):
        return loss.value(B, u, z) + B(beta) * ((u - w) @ (u - w)) / 2

    for e in (B.unit(2, 0), B.unit(2, 1), B.vector([1, 1])):
        for step in (Fraction(1, 100), Fraction(-1, 100), Fraction(1), Fraction(-1)):
            assert lower(objective(v + e * step) - objective(v)) > 0


@pytest.mark.parametrize("p", [1, Fraction(3, 2), 2])
@pytest.mark.parametrize("h", [MCP(1, 2), SCAD(1, 3)], ids=repr)
def test_separable_penalties(h, p):
    loss = SeparablePenalty(h, 2, p)
    z = Example((0,), 0)

    def points(K, x):
        w = K.vector(x[0:2]) * 4
        return w, w + K.vector(x[2:4]) * K(x[4])

    def slope(K, x):
        return lipschitz_quotient(K, lambda w: loss.value(K, w, z), *points(K, x), p)

    def bend(K, x):
        return weak_convexity_quotient(K, lambda w: loss.value(K, w, z), *points(K, x), K(x[5]), p)

    box = ([0.1, 0.1, 0.5, 0.1, 0.1, 0.5], [(-1, 1)] * 4 + [(1e-2, 1), (0.1, 0.9)])
    for quotient, declared in ((slope, loss.L0), (bend, loss.rho)):
        found = largest(quotient, *box, 2500, seed=0)
        assert not found.exceeds(declared + TINY)
        assert found.exceeds(declared * FIVE_PER_CENT_LESS)
    w = B.vector([2, "-0.3"])
    assert [x.mid for x in loss.prox(B, 2, w, z)] == [h.prox(B, 2, x).mid for x in w]
    assert len(loss.subgradient(B, w, z)) == 2


def test_constants_of_the_notes():
    R, Bd = Fraction(3), Fraction(5)
    phase = RobustPhaseRetrieval(R, Bd)
    D = 2 * Bd
    assert (phase.rho, phase.L0) == (2 * R**2, R**2 * D)
    assert abs(tanh_curvature(B).mid - Fraction("0.7698")) < Fraction(1, 10**4)
    assert TanhRegression(R).rho == R**2 * rounded_up(tanh_curvature)
    assert 0 <= rounded_up(tanh_curvature) - lower(tanh_curvature(B)) < TINY
    assert MCP(2, 4).rho == Fraction(1, 4)
    assert SCAD(2, "3.7").rho == Fraction(10, 27)
    assert NegativeQuadratic(R, Bd, 2).rho == 2 * R**2


@pytest.mark.parametrize("h", SCALARS, ids=repr)
@pytest.mark.parametrize("u", ["-1.3", "0.1", "0.57", "1.9", "30"])
def test_three_number_systems_agree(h, u):
    quantities = [h.value, h.subgradient]
    if not isinstance(h, TanhResidual):
        quantities.append(lambda K, x: h.prox(K, h.rho + 1, x))
    for quantity in quantities:
        exact = quantity(B, B(u))
        size = 1 + abs(exact.mid)
        assert abs(mid(quantity(MP50, MP50(u))) - exact.mid) < Fraction(1, 10**46) * size
        assert abs(mid(quantity(F64, F64(u))) - exact.mid) < Fraction(1, 10**13) * size


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_vector_losses_agree_in_three_number_systems(loss):
    z = Example(("0.3", "-0.2"), "0.7")
    w = ["0.4", "1.1"]
    exact = [loss.value(B, B.vector(w), z), *loss.subgradient(B, B.vector(w), z)]
    for K, tolerance in ((MP50, Fraction(1, 10**46)), (F64, Fraction(1, 10**14))):
        found = [loss.value(K, K.vector(w), z), *loss.subgradient(K, K.vector(w), z)]
        for a, b in zip(found, exact, strict=True):
            assert abs(mid(a) - b.mid) <= tolerance
