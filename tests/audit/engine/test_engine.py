"""The fast engine and the reference, on the same draws."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from audit import engine as fast
from audit.engine import convex as fast_convex
from audit.engine import sets as fast_sets
from audit.engine.arrays import Arrays
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex import oracle as alg1
from reference.convex import phased_sgd as alg2
from reference.convex.sensitivity import tuned_parameters
from reference.numerics.numbers import INF, Float64
from reference.numerics.tape import Draw, RecordingTape, SeededTape, Tape
from reference.paper.editions import edition as edition_of
from reference.setting.data import Example
from reference.setting.losses import GLL, Absolute, EpsilonInsensitive, Hinge, Huber, Logistic, Quantile
from reference.setting.losses_composite import CovarianceEstimation, DictionaryLearning, TrimmedRegression
from reference.setting.losses_smooth import GemanMcClure, Sigmoid, SignedQuadratic, SquaredTanh
from reference.setting.losses_weak import RobustPhaseRetrieval, TanhRegression
from reference.setting.sets import Box, L2Ball, LpBall, Polytope, Simplex, WholeSpace, l1_ball
from reference.weakly_convex import proximal_guided as alg6
from reference.weakly_convex.strongly_convex import Phase


def test_arrays_are_numbers_of_binary64() -> None:
    A, x = Arrays(), np.array([0.25, 2.0])
    assert A.unit_roundoff == Float64().unit_roundoff == Fraction(1, 2**53)
    assert (A("1/4"), A(Fraction(3, 8)), A(2)) == (0.25, 0.375, 2)
    for name in ("sqrt", "exp", "expm1", "log", "log1p", "tanh", "erfc", "gamma"):
        assert getattr(A, name)(x) == pytest.approx([getattr(Float64(), name)(float(v)) for v in x], rel=1e-12)


alg4, alg5 = (importlib.import_module(f"reference.smooth.{name}") for name in ("poly_sfw", "noisy_sfw"))

K = Float64()
TRIALS = 5
RELATIVE = 1e-10

FAMILIES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "absolute": (Absolute, 1),
    "hinge": (lambda y: Hinge(1 if y >= 0 else -1), 1),
    "quantile": (lambda y: Quantile(y, Fraction(3, 10)), 1),
    # Inside the flat zone the first midpoint is a tie that an ulp decides: a narrow zone keeps whole runs out of it.
    "insensitive": (lambda y: EpsilonInsensitive(y, Fraction(1, 1000)), 1),
    "huber": (lambda y: Huber(y, 1), 1),
    "logistic": (lambda y: Logistic(1 if y >= 0 else -1), 1),
}


def tapes(declared: Sequence[Draw], count: int = TRIALS) -> list[Tape]:
    """Stored tapes (draws on the grid), one a trial."""
    made: list[Tape] = []
    for seed in range(count):
        recorder = RecordingTape(SeededTape(seed))
        for draw in declared:
            recorder.read(draw)
        made.append(recorder.replay())
    return made


def records(n: int, d: int, scale: float, seed: int = 0) -> tuple[Example, ...]:
    """n records with ‖x‖_2 ≤ scale, dyadic."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    x *= scale * rng.uniform(0.3, 0.99, size=(n, 1)) / np.linalg.norm(x, axis=1, keepdims=True)
    y = rng.choice([-1, -0.5, 0.25, 1], size=n)
    dyadic = (np.round(x * 2**20) / 2**20).tolist()
    return tuple(Example(tuple(a), float(b)) for a, b in zip(dyadic, y, strict=True))


def assert_equal(
    declared: Sequence[Draw], reference: Callable[[Tape], Any], quick: Callable[[fast.BatchTape], Any]
) -> None:
    """Row i of the fast engine on stacked tapes is the reference on tape i."""
    stored = tapes(declared)
    expected = np.array([[float(v) for v in reference(tape)] for tape in stored])
    found = quick(fast.StackedTapes(stored, declared))
    assert found.shape == expected.shape
    assert np.ptp(expected, axis=0).max() > 0, "the trials must differ, or the comparison is blind to the noise"
    scale = np.abs(expected).max()
    assert np.abs(found - expected).max() <= RELATIVE * scale


@pytest.mark.parametrize("edition", ["printed", "corrected"])
@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("W", [L2Ball((0, 0, 0), 1), WholeSpace(3), Box((-1, -1, -1), (1, 0, 1))], ids=str)
def test_phased_sgd(family: str, W: Any, edition: str) -> None:
    make, L0 = FAMILIES[family]
    n = 16 if edition == "printed" else 21
    data = records(n, 3, 1)
    p = alg2.phased_parameters(K, n, GLL(make, L0, 1), W, epsilon=1, delta=Fraction(1, 10**5))
    body = alg2.phased_sgd_printed if edition == "printed" else alg2.phased_sgd
    assert_equal(
        alg2.draws(n, 3),
        lambda tape: body(K, data, p, tape).w,
        lambda tape: fast.phased_sgd(data, p, tape, edition),  # type: ignore[arg-type]
    )


def test_phased_sgd_with_the_other_average() -> None:
    data = records(21, 3, 1)
    W, gll = L2Ball((0, 0, 0), 1), GLL(Absolute, 1, 1)
    p = alg2.phased_parameters(K, 21, gll, W, epsilon=1, delta=Fraction(1, 10**5), average="first")
    assert_equal(alg2.draws(21, 3), lambda t: alg2.phased_sgd(K, data, p, t).w, lambda t: fast.phased_sgd(data, p, t))
    q = tuned_parameters(K, p)
    assert q.stretch != 1
    assert_equal(alg2.draws(21, 3), lambda t: alg2.phased_sgd(K, data, q, t).w, lambda t: fast.phased_sgd(data, q, t))


@pytest.mark.parametrize("errata", [set(), {"E3.1"}, {"E3.1", "E3.2"}, {"E3.1", "E3.2", "E3.4"}, {"E3.3", "E3.1"}])
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_edition_of_the_oracle(family: str, errata: set[str]) -> None:
    make, L0 = FAMILIES[family]
    body = edition_of(alg1.oracle_printed, alg1.oracle, errata)
    p = alg1.oracle_parameters(K, beta=3, alpha=Fraction(1, 64), L0=L0, R=1)
    one, losses = K.vector([1]), [make(y) for y in (-0.7, 0.3)]
    m = np.linspace(-2.1, 2.3, 41)
    table = fast_convex.LossTable.of(losses)
    found = fast.oracle(table, np.stack([m, m], axis=1), p, errata)
    expected = [[body(K, K.vector([v]), one, ell, p).derivative for ell in losses] for v in m.tolist()]
    assert np.abs(found - np.array(expected)).max() <= 1e-9


@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
@pytest.mark.parametrize("edition", ["printed", "corrected"])
def test_noisy_frank_wolfe(edition: str, noise: Any) -> None:
    data = tuple(Example(tuple(v for v in z.x), z.y) for z in records(12, 3, 1))
    p = nfw.frank_wolfe_parameters(
        K, 12, GLL(Absolute, 1, 1, 1), l1_ball(3, 1), epsilon=2, delta=Fraction(1, 1000), T=7, noise=noise
    )
    body = nfw.noisy_frank_wolfe_printed if edition == "printed" else nfw.noisy_frank_wolfe
    assert_equal(
        nfw.draws(7, 6, noise),
        lambda tape: body(K, data, p, tape).w,
        lambda tape: fast.noisy_frank_wolfe(data, p, tape, edition),  # type: ignore[arg-type]
    )


SMOOTH = [Sigmoid(1), GemanMcClure(1), SquaredTanh(1), SignedQuadratic(1, 1)]


@pytest.mark.parametrize("edition", ["printed", "corrected"])
@pytest.mark.parametrize("loss", SMOOTH, ids=lambda x: type(x).__name__)
def test_poly_sfw(loss: Any, edition: str) -> None:
    n, R, b = 90, 3, 10
    data, W = records(n, 3, 1), l1_ball(3, 1)
    body = alg4.poly_sfw_printed if edition == "printed" else alg4.poly_sfw
    privacy = (Fraction(50), Fraction(1, 1000))
    assert_equal(
        alg4.draws(n, R, 6),
        lambda tape: body(K, loss, W, data, R, b, *privacy, tape).output,
        lambda tape: fast.poly_sfw(loss, W, data, R, b, *privacy, tape, edition=edition),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
def test_poly_sfw_tight(noise: Any) -> None:
    n, T, b = 60, 6, 12
    data, W, loss = records(n, 3, 1), l1_ball(3, 1), SquaredTanh(1)
    privacy = (Fraction(50), Fraction(1, 1000))
    assert_equal(
        alg4.tight_draws(n, T, 6, noise),
        lambda tape: alg4.poly_sfw_tight(K, loss, W, data, T, b, *privacy, tape, noise=noise).output,
        lambda tape: fast.poly_sfw_tight(loss, W, data, T, b, *privacy, tape, noise=noise),
    )


BOUNDED = [
    L2Ball((0, 0, 0), 1),
    Box((-1, -1, -1), (1, 1, Fraction(1, 2))),
    LpBall((0, Fraction(1, 4), 0), 1, Fraction(3, 2)),
    l1_ball(3, 1),
    Simplex(3),
]


@pytest.mark.parametrize("edition", ["printed", "corrected"])
@pytest.mark.parametrize("W", BOUNDED, ids=lambda x: type(x).__name__)
def test_noisy_sfw(W: Any, edition: str) -> None:
    n, R, b = 90, 3, 10
    data, loss = records(n, 3, 1), SquaredTanh(1)
    body = alg5.noisy_sfw_printed if edition == "printed" else alg5.noisy_sfw
    privacy = (Fraction(12), Fraction(1, 1000))
    assert_equal(
        alg5.draws(n, R, 3),
        lambda tape: body(K, loss, W, data, R, b, *privacy, tape).output,
        lambda tape: fast.noisy_sfw(loss, W, data, R, b, *privacy, tape, edition=edition),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("adaptive", [True, False])
def test_noisy_sfw_tight(adaptive: bool) -> None:
    n, T, b = 60, 6, 12
    data, W, loss = records(n, 3, 1), L2Ball((0, 0, 0), 1), SquaredTanh(1)
    privacy = (Fraction(4), Fraction(1, 1000))
    assert_equal(
        alg5.tight_draws(n, T, 3),
        lambda tape: alg5.noisy_sfw_tight(K, loss, W, data, T, b, *privacy, tape, adaptive=adaptive).output,
        lambda tape: fast.noisy_sfw_tight(loss, W, data, T, b, *privacy, tape, adaptive=adaptive),
    )


PLAN = (Phase(4, 3), Phase(2, 4, Fraction(4)))


@pytest.mark.parametrize("edition", ["printed", "corrected"])
@pytest.mark.parametrize("p", [1, Fraction(3, 2), 2], ids=str)
@pytest.mark.parametrize("radius", [1, Fraction(1, 4)], ids=["slack", "binding"])
def test_proximally_guided(p: Any, radius: Any, edition: str) -> None:
    data = records(24, 4, 1)
    loss, W = TanhRegression(1, p), LpBall((0, 0, 0, 0), radius, p)
    if p == 1 and edition == "printed":  # the printed β is too small for p = 1: raise it so that the step is defined
        beta: Any = 20
    else:
        beta = None
    rounds = 3
    calls = rounds if edition == "printed" else rounds - 1
    body = alg6.proximally_guided_printed if edition == "printed" else alg6.proximally_guided
    assert_equal(
        alg6.guided_draws(PLAN, 4, calls, rounds),
        lambda t: body(K, loss, W, data, rounds=rounds, plan=PLAN, mu=2, tape=t, beta=beta).w,
        lambda t: fast.proximally_guided(
            loss,
            W,
            data,
            t,
            rounds=rounds,
            plan=PLAN,
            mu=2,
            edition=edition,
            beta=beta,  # type: ignore[arg-type]
        ),
    )


@pytest.mark.parametrize(
    ("loss", "W", "entries"),
    [
        (TanhRegression(1, 1), Simplex(3), 3),
        (TanhRegression(1), Polytope([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), 3),
        (CovarianceEstimation(3, 1, 1, "1.8"), Box([-1] * 3, [1] * 3), 3),
        (DictionaryLearning(2, 1, 1, 1, 2, "0.25"), L2Ball([Fraction(1, 2)] * 3, 1), 3),
        (TrimmedRegression(1, 2, 1, 1, 1), Polytope([(x, v, 1 - v) for x in (-1, 1) for v in (0, 1)]), 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_proximally_guided_on_hulls_and_composite_losses(loss: Any, W: Any, entries: int) -> None:
    data = records(24, entries, 0.5)
    if isinstance(loss, TrimmedRegression):
        data = tuple(Example((z.x[0], i % 2, 1 - i % 2), z.y) for i, z in enumerate(data))
    start = K.vector([0.5, -0.25, 0.125]) if isinstance(W, Box) else W.centre(K)
    assert_equal(
        alg6.guided_draws(PLAN, 3, 2, 3),
        lambda t: alg6.proximally_guided(K, loss, W, data, rounds=3, plan=PLAN, mu=2, tape=t, start=start).w,
        lambda t: fast.proximally_guided(loss, W, data, t, rounds=3, plan=PLAN, mu=2, start=start),
    )


def test_proximally_guided_groups_labels() -> None:
    data = records(24, 2, 1)
    loss, W = RobustPhaseRetrieval(1, 1), L2Ball((0, 0), 1)
    start = (0.5, 0.25)
    assert_equal(
        alg6.guided_draws(PLAN, 2, 2, 3),
        lambda t: alg6.proximally_guided(K, loss, W, data, rounds=3, plan=PLAN, mu=2, tape=t, start=K.vector(start)).w,
        lambda t: fast.proximally_guided(loss, W, data, t, rounds=3, plan=PLAN, mu=2, start=start),
    )


@pytest.mark.parametrize(
    "W",
    [
        L2Ball((0, 1, 0), 1),
        LpBall((0, 1, 0), 1, 1),
        LpBall((0, 1, 0), 1, INF),
        Box((-1, 0, -1), (1, 1, 1)),
        Simplex(3, 2),
        WholeSpace(3),
    ],
    ids=str,
)
def test_projections_row_by_row(W: Any) -> None:
    points = np.random.default_rng(0).normal(scale=2, size=(50, 3))
    expected = np.array([[float(v) for v in W.project(K, K.vector(row))] for row in points.tolist()])
    assert np.abs(fast_sets.project(W, points) - expected).max() <= 1e-12
    assert np.abs(expected - points).max() > 0 or isinstance(W, WholeSpace)


@pytest.mark.parametrize("W", [*BOUNDED, LpBall((0, 1, 0), 1, 1), LpBall((0, 1, 0), 2, INF)], ids=str)
def test_linear_minimisers_row_by_row(W: Any) -> None:
    g = np.random.default_rng(1).normal(size=(50, 3))
    g[0] = 0
    g[1, 0] = 0
    expected = np.array([[float(v) for v in W.linear_minimiser(K, K.vector(row))] for row in g.tolist()])
    assert np.abs(fast_sets.linear_minimiser(W, g) - expected).max() <= 1e-12


def test_live_batches_depend_on_seed_block_and_key_alone() -> None:
    draw = Draw("xi", (1,), "normal", 2)
    first = fast.LiveBatch(0, 4).read(draw)
    assert np.array_equal(first, fast.LiveBatch(0, 4).read(draw))
    others = [fast.LiveBatch(1, 4), fast.LiveBatch(0, 4, block=1)]
    assert all(not np.array_equal(first, other.read(draw)) for other in others)
    order = fast.LiveBatch(0, 4).read(Draw("pi", (), "permutation", 6))
    assert (np.sort(order, axis=1) == np.arange(6)).all()
    assert len({tuple(row) for row in order.tolist()}) > 1


def test_stacked_tapes_hold_the_algorithm_to_its_draws() -> None:
    declared = [Draw("xi", (1,), "normal", 2)]
    stack = fast.StackedTapes(tapes(declared), declared)
    with pytest.raises(KeyError, match="not declared"):
        stack.read(Draw("xi", (2,), "normal", 2))


def test_arrays_take_no_decision() -> None:
    arrays = fast.Arrays()
    for decide in (arrays.lt, arrays.le):
        with pytest.raises(TypeError, match="vectorise"):
            decide(np.zeros(2), np.ones(2))
    with pytest.raises(TypeError, match="vectorise"):
        arrays.floor(np.zeros(2))
