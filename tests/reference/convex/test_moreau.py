"""Lemmas 3 and 4: each inequality, the case that attains it, and where it stops being true."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from audit.checks.section3 import cases
from reference.convex.moreau import (
    Interval,
    envelope,
    envelope_derivative,
    envelope_gap,
    envelope_lipschitz,
    envelope_lipschitz_printed,
    prox,
    prox_radius,
    prox_radius_printed,
    require_convex,
    search_height,
    search_height_printed,
    search_prox,
    smoothed_gradient,
    smoothed_lipschitz,
    smoothed_lipschitz_printed,
    smoothed_smoothness,
    smoothed_value,
    smoothing_error,
    smoothing_error_printed,
)
from reference.numerics.numbers import INF, MP, Ball, Float64, Vector, dual_norm, norm
from reference.setting import (
    GLL,
    Absolute,
    Example,
    Logistic,
    NoClosedForm,
    PiecewiseLinear,
    ScalarLoss,
)

F = Fraction

K = MP(40)
TINY = F(1, 10**30)


STEEP = PiecewiseLinear([], [1])
"""ℓ(u) = u, L0 = 1: attains every bound of this file."""


@pytest.mark.statement("lem:moreau", kind="searched")
def test_prox_minimises() -> None:
    for ell, beta, m in cases(1):
        best = envelope(K, ell, beta, K(m))
        u = prox(K, ell, beta, K(m))
        for step in (F(1, 10**9), F(1, 100), F(1, 3), F(2)):
            for v in (u + K(step), u - K(step)):
                above = ell.value(K, v) + K(beta) / 2 * (v - K(m)) ** 2 - best
                assert above >= K(beta) / 2 * K(step) ** 2 - TINY, (ell, beta, m)  # strong convexity, not only ≥ 0


@pytest.mark.statement("lem:moreau", kind="searched")
def test_derivative_is_beta_times_the_displacement() -> None:
    """Lemma 3b: between m and m+h the envelope rises by at least ℓ_β'(m)h and at most ℓ_β'(m+h)h."""
    for ell, beta, m in cases(2):
        for h in (F(1, 10**8), F(1, 7), F(3)):
            rise = envelope(K, ell, beta, K(m + h)) - envelope(K, ell, beta, K(m))
            low, high = (envelope_derivative(K, ell, beta, K(t)) * K(h) for t in (m, m + h))
            assert low - TINY <= rise <= high + TINY, (ell, beta, m, h)


@pytest.mark.statement("lem:moreau", kind="searched")
def test_envelope_is_convex_lipschitz_and_smooth() -> None:
    """The derivative rises, by at most β a unit, and stays within L0; both constants are reached."""
    largest, steepest = K(0), K(0)
    for ell, beta, m in cases(3):
        for h in (F(1, 10**6), F(1, 2), F(5)):
            a, b = (envelope_derivative(K, ell, beta, K(t)) for t in (m, m + h))
            assert -TINY <= b - a <= K(beta) * K(h) + TINY
            steepest = max(steepest, (b - a) / (K(beta) * K(h)))
            assert abs(a) <= envelope_lipschitz(K, ell.lipschitz) + TINY
            largest = max(largest, abs(a) / K(ell.lipschitz)) if ell.lipschitz else largest
    assert largest > 1 - TINY
    assert steepest > 1 - F(1, 10**20)
    assert envelope_lipschitz_printed(K, 1) == 2 * envelope_lipschitz(K, 1)


@pytest.mark.statement("lem:moreau", kind="searched")
def test_envelope_gap() -> None:
    """0 ≤ ℓ − ℓ_β ≤ L0²/(2β), attained by ℓ(u) = u."""
    for ell, beta, m in cases(4):
        gap = ell.value(K, K(m)) - envelope(K, ell, beta, K(m))
        assert -TINY <= gap <= envelope_gap(K, ell.lipschitz, beta) + TINY
    attained = STEEP.value(K, K(3)) - envelope(K, STEEP, 7, K(3))
    assert abs(attained - envelope_gap(K, 1, 7)) < TINY


@pytest.mark.statement("lem:oracle", kind="searched")
def test_prox_radius() -> None:
    """|m − prox(m)| ≤ L0/β, half the printed radius, attained."""
    for ell, beta, m in cases(5):
        assert abs(K(m) - prox(K, ell, beta, K(m))) <= prox_radius(K, ell.lipschitz, beta) + TINY
    assert abs(abs(K(3) - prox(K, STEEP, 7, K(3))) - prox_radius(K, 1, 7)) < TINY
    assert prox_radius_printed(K, 1, 7) == 2 * prox_radius(K, 1, 7)


@pytest.mark.statement("lem:oracle", kind="searched")
def test_search_height() -> None:
    """h rises by at most 9L0²/(2β) over [m ± 2L0/β], attained; the printed 8L0²/β has room."""
    for ell, beta, m in cases(6):
        L0 = ell.lipschitz
        low = envelope(K, ell, beta, K(m))
        for end in (K(m) - 2 * K(L0) / K(beta), K(m) + 2 * K(L0) / K(beta)):
            rise = ell.value(K, end) + K(beta) / 2 * (end - K(m)) ** 2 - low
            assert rise <= search_height(K, L0, beta) + TINY < search_height_printed(K, L0, beta) + 2 * TINY
    rise = STEEP.value(K, K(2)) + K(1) / 2 * 4 - envelope(K, STEEP, 1, K(0))
    assert abs(rise - search_height(K, 1, 1)) < TINY


@pytest.mark.statement("lem:oracle", kind="searched")
def test_the_best_of_the_midpoints_is_within_tau_over_two_to_the_T() -> None:
    """The bisection guarantee that the paper cites, for subgradient bisection: h(ū) − h(u*) ≤ 2^{−T}τ."""
    for ell, beta, m in cases(7, 4):
        reach = 2 * K(ell.lipschitz) / K(beta)
        a, b = K(m) - reach, K(m) + reach
        low = envelope(K, ell, beta, K(m))

        def h(u: object, ell: ScalarLoss = ell, beta: F = beta, m: F = m) -> object:
            return ell.value(K, u) + K(beta) / 2 * (u - K(m)) ** 2  # type: ignore[operator]

        tau, best = max(h(a), h(b)) - low, None  # type: ignore[type-var,operator]
        for T in range(1, 30):
            u = (a + b) / 2
            best = h(u) if best is None else min(best, h(u))  # type: ignore[type-var]
            if ell.subgradient(K, u) + K(beta) * (u - K(m)) >= 0:
                b = u
            else:
                a = u
            assert best - low <= tau / 2**T + TINY  # type: ignore[operator]


@pytest.mark.statement("lem:moreau", kind="searched")
def test_a_constraint_clips_the_proximal_point() -> None:
    rng = Random(8)
    for ell, beta, m in cases(8):
        low = F(rng.randint(-300, 300), 100)
        M = Interval(low, low + F(rng.randint(0, 200), 100))
        u = prox(K, ell, beta, K(m), M)
        best = envelope(K, ell, beta, K(m), M)
        for i in range(21):
            v = K(M.lower) + (K(M.upper) - K(M.lower)) * i / 20
            assert ell.value(K, v) + K(beta) / 2 * (v - K(m)) ** 2 >= best - TINY
        assert M.lower - TINY <= u <= M.upper + TINY


@pytest.mark.statement("lem:moreau", kind="counterexample")
def test_outside_M_the_envelope_is_neither_lipschitz_nor_below_the_loss() -> None:
    flat, M = PiecewiseLinear([], [0]), Interval(0, 1)
    assert abs(envelope_derivative(K, flat, 1, K(-100), M)) == 100
    assert envelope(K, flat, 1, K(-1), M) > flat.value(K, K(-1))
    rise = envelope_derivative(K, flat, 1, K(-100), M) - envelope_derivative(K, flat, 1, K(-101), M)
    assert abs(rise - 1) < TINY  # but it stays 1-smooth


@pytest.mark.statement("lem:f_smoothness", kind="searched")
@pytest.mark.parametrize("p", [1, 2, INF, F(3, 2)])
def test_smoothed_generalised_linear_loss(p: object) -> None:
    """f_β is L0R-Lipschitz and β‖x‖_*²-smooth in ‖·‖_p, within L0²/(2β) of f; smoothness is attained."""
    L, rng = Float64(), Random(9)
    gll = GLL(lambda y: Absolute(y), 1, 2, p)
    attained = 0.0
    for _ in range(60):
        x = [F(rng.randint(-100, 100), 100) for _ in range(3)]
        beta, z = rng.choice([1, 10]), Example(tuple(x), F(rng.randint(-100, 100), 100))
        v, w = (L.vector([F(rng.randint(-200, 200), 100) for _ in range(3)]) for _ in range(2))
        size = dual_norm(L, L.vector(x), p)
        change = dual_norm(L, smoothed_gradient(L, gll, beta, v, z) - smoothed_gradient(L, gll, beta, w, z), p)
        assert change <= smoothed_smoothness(L, beta, size) * norm(L, v - w, p) * (1 + 1e-12) + 1e-12
        assert dual_norm(L, smoothed_gradient(L, gll, beta, v, z), p) <= smoothed_lipschitz(L, 1, size) + 1e-12
        gap = gll.value(L, v, z) - smoothed_value(L, gll, beta, v, z)
        assert -1e-12 <= gap <= smoothing_error(L, 1, beta) + 1e-12
        step = _aligned(L, L.vector(x), p) * 1e-3
        square = float(sum(c * c for c in x)) or 1.0
        base = L.vector([float(z.y) * float(c) / square for c in x])
        near = [smoothed_gradient(L, gll, beta, base + step * sign, z) for sign in (1, -1)]
        if size > 0.1:
            ratio = dual_norm(L, near[0] - near[1], p) / (2 * norm(L, step, p) * smoothed_smoothness(L, beta, size))
            attained = max(attained, ratio)
    assert attained > 0.999
    assert smoothed_lipschitz_printed(L, 1, 2) == 2 * smoothed_lipschitz(L, 1, 2)
    assert smoothing_error_printed(L, 1, 2) == 4 * smoothing_error(L, 1, 2)


def _aligned(L: Float64, x: Vector, p: object) -> Vector:
    """A direction v with ⟨v, x⟩ = ‖v‖_p‖x‖_q."""
    if p == 1:
        j = max(range(len(x)), key=lambda i: abs(x[i]))
        return L.vector([(1 if x[i] > 0 else -1) if i == j else 0 for i in range(len(x))])
    if p == INF:
        return L.vector([1 if c > 0 else -1 for c in x])
    q = float(p) / (float(p) - 1)  # type: ignore[arg-type]
    return L.vector([(1 if c > 0 else -1) * abs(c) ** (q - 1) for c in x])


@pytest.mark.statement("lem:moreau", kind="searched")
def test_search_encloses_the_proximal_point_without_a_closed_form() -> None:
    B = Ball(256)
    a, b = search_prox(B, Logistic(1), B(2), B(F(1, 3)), 80)
    u = (a + b) / 2
    slope = Logistic(1).subgradient(B, u) + 2 * (u - B(F(1, 3)))
    assert abs(float(slope.mid)) < 1e-22
    assert B.lt(b - a, B(F(1, 2**79)))
    with pytest.raises(NoClosedForm):
        prox(B, Logistic(1), 2, B(0))


def test_non_convex_losses_are_refused() -> None:
    require_convex(K, Absolute(0), K(-1), K(1))
    with pytest.raises(ValueError, match="be convex"):
        require_convex(K, PiecewiseLinear([0], [1, -1]), K(-1), K(1))

    class Hidden(Absolute):
        """Says that it is convex and is not."""

        def value(self, K: object, u: object) -> object:
            return -super().value(K, u)  # type: ignore[arg-type,operator]

    with pytest.raises(ValueError, match="above the chord"):
        require_convex(K, Hidden(0), K(-1), K(2))

    class Raised(Hidden):
        """The same, and positive."""

        def value(self, K: object, u: object) -> object:
            return 5 + super().value(K, u)  # type: ignore[operator]

    with pytest.raises(ValueError, match="it lies 1 above the chord"):
        require_convex(K, Raised(0), K(-1), K(2))


def test_intervals() -> None:
    with pytest.raises(ValueError, match="non-empty"):
        Interval(1, 0)
    with pytest.raises(ValueError, match="finite"):
        Interval(float("nan"), 1)
    with pytest.raises(ValueError, match="meet M"):
        Interval(0, 1).meet(K, K(2), K(3))
    assert Interval(0, 1).meet(K, K(-1), K("0.5")) == (0, K("0.5"))
