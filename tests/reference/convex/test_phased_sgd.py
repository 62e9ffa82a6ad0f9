"""Algorithm 2: the run by hand, the three number systems, phases, bounds with their constants, refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from reference.convex.oracle import closed_form_oracle, oracle_printed
from reference.convex.phased_sgd import (
    PhasedParameters,
    checked_points,
    curvature,
    draws,
    evaluations,
    excess_risk,
    excess_risk_closed_form,
    excess_risk_unconstrained,
    phase_bound,
    phase_bound_printed,
    phase_lengths,
    phased_parameters,
    phased_sgd,
    phased_sgd_printed,
    rank,
    sigma_printed,
    span_basis,
    span_norm,
    step_size,
    theorem_alpha,
    theorem_beta,
    theorem_beta_printed,
)
from reference.numerics.numbers import MP, Ball, Float64, Numbers, Real, largest_radius, norm
from reference.numerics.tape import ReplayTape, SeededTape, TapeError, ZeroTape
from reference.paper.editions import edition, errata_of, line_marks
from reference.paper.events import Trace
from reference.setting import (
    GLL,
    Absolute,
    Box,
    Example,
    FeasibleSet,
    Hinge,
    L2Ball,
    Logistic,
    LpBall,
    PiecewiseLinear,
    Quantile,
    ScalarLoss,
    WholeSpace,
    l1_ball,
)

F = Fraction

GLL_ABS = GLL(Absolute, 1, 1)
LINEAR = GLL(lambda y: PiecewiseLinear([], [1]), 1, 1)


def sphere(rng: Random, n: int, d: int, scale: float = 0.3) -> tuple[Example, ...]:
    records = []
    for _ in range(n):
        x = [rng.gauss(0, 1) for _ in range(d)]
        length = math.sqrt(sum(v * v for v in x))
        records.append(Example(tuple(v / length for v in x), rng.uniform(-scale, scale)))
    return tuple(records)


HALF = F(1, 2)


def ball(d: int, radius: F = HALF) -> L2Ball:
    return L2Ball([0] * d, radius)


def made(K: Numbers, n: int, W: FeasibleSet, gll: GLL = GLL_ABS, **more: object) -> PhasedParameters:
    return phased_parameters(K, n, gll, W, **{"epsilon": 1, "delta": "1e-6", **more})  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------- the run


@pytest.mark.statement("Alg:phased", kind="searched")
def test_a_run_by_hand() -> None:
    """ℓ(u) = u, d = 1, n = 4: every step moves by −η_k; noise ξ_1 = 1, ξ_2 = −2."""
    K = MP(30)
    p = made(K, 4, Box([-100], [100]), LINEAR, D=200, alpha=F(1, 64))
    data = (Example((1,)),) * 4
    tape = ReplayTape({draws(4, 1)[0]: (1.0,), draws(4, 1)[1]: (-2.0,)})
    rho = 1 / (2 * K.sqrt(K.log(K(10**6))))
    eta = K(200) / 3 * min(rho, K(1) / 2)
    g = 1 - K(F(1, 64))  # the middle of the outermost of 2^6 cells of width 2/64
    w_1 = -(eta / 4) * g * K(3) / 2  # the average of u_1, u_2
    start = w_1 + 4 * (eta / 4) / rho
    w_2 = start - eta / 16 * g
    out = w_2 - 2 * 4 * (eta / 16) / rho
    trace = Trace()
    run = phased_sgd(K, data, p, tape, trace)
    assert abs(run.w[0] - out) < K("1e-27")
    assert abs(run.phases[0].w[0] - w_1) < K("1e-27")
    assert [e.key for e in trace if e.line == 10] == [
        "u[1,0]",
        "u[1,1]",
        "u[1,2]",
        "w[1]",
        "u[2,0]",
        "u[2,1]",
        "w[2]",
    ]
    one_phase = [8, 9, 10, 10, 10, 10, 11, 11, 12]
    assert [e.line for e in trace] == [1, 2, 3, 4, *one_phase, *one_phase[:5], *one_phase[6:], 13]
    first = phased_sgd(K, data, replace(p, average="first"), ZeroTape())
    assert abs(first.phases[0].w[0] + eta / 4 * g / 2) < K("1e-27")


@pytest.mark.statement("Alg:phased", kind="searched")
def test_three_number_systems_agree_and_balls_enclose() -> None:
    n, d = 512, 20
    data = sphere(Random(1), n, d)
    runs = {}
    for K in (Float64(), MP(50), Ball(192)):
        p = made(K, n, ball(d))
        runs[K.name] = phased_sgd(K, data, p, ZeroTape())
        assert runs[K.name].count.subgradients == evaluations(K, p) == 511 * 12
        assert runs[K.name].count.calls == 511
    enclosed = runs["ball192"].w
    assert largest_radius(enclosed) <= F(1, 10**20)
    for j in range(d):
        assert abs(enclosed[j].mid - F(str(runs["mp50"].w[j]))) < F(1, 10**40)
        assert abs(float(enclosed[j].mid) - runs["float64"].w[j]) < 1e-14


@pytest.mark.statement("Alg:phased", kind="searched")
@pytest.mark.parametrize("family", [Hinge, lambda y: Quantile(y, F(3, 10))])
def test_flat_pieces_and_kinks_are_decided_in_balls(family: type[ScalarLoss]) -> None:
    K, rng = Ball(256), Random(2)
    data = tuple(replace(z, y=rng.choice([-1, 1])) for z in sphere(rng, 64, 3))
    p = made(K, 64, ball(3), GLL(family, 1, 1))
    assert largest_radius(phased_sgd(K, data, p, ZeroTape()).w) < F(1, 10**20)


@pytest.mark.statement("Alg:phased", kind="searched")
@pytest.mark.parametrize("n", [2, 3, 6, 7, 100, 127])
def test_phases_are_disjoint_and_use_all_but_popcount_records(n: int) -> None:
    """Each record that a phase sees is seen once: label i is asked T times (the oracle's steps) or never."""
    asked: dict[F, int] = {}

    class Spy(Absolute):
        """Counts the questions a label."""

        def subgradient(self, K: object, u: object) -> object:
            asked[self.y] = asked.get(self.y, 0) + 1
            return super().subgradient(K, u)  # type: ignore[arg-type]

    K = Float64()
    p = made(K, n, Box([-1], [1]), GLL(Spy, 1, 1))
    phased_sgd(K, tuple(Example((1,), F(i, 1000)) for i in range(n)), p, ZeroTape())
    used = sum(phase_lengths(n))
    assert used == n - n.bit_count()
    assert sorted(asked) == [F(i, 1000) for i in range(used)]
    assert set(asked.values()) == {evaluations(K, p) // used}


def test_the_noise_is_declared_and_read_once() -> None:
    K, p = Float64(), made(Float64(), 6, ball(2))
    assert [d.key for d in draws(6, 2)] == ["xi[1]", "xi[2]"]
    data = sphere(Random(3), 6, 2)
    one, two = (phased_sgd(K, data, p, SeededTape(5)).w for _ in range(2))
    assert list(one) == list(two)
    with pytest.raises(TapeError):
        phased_sgd(K, data, p, ReplayTape({draws(2, 2)[0]: (0.0, 0.0)}))


@pytest.mark.statement("Alg:phased", kind="counterexample")
def test_the_printed_text_with_the_printed_oracle_stays_at_the_start() -> None:
    """Printed Algorithm 2 calls printed Algorithm 1, which returns 0: without noise nothing moves."""
    K = Float64()
    p = made(K, 16, ball(2), start=["0.1", "0.2"], oracle=oracle_printed, unproven=True)
    assert list(phased_sgd_printed(K, sphere(Random(4), 16, 2), p, ZeroTape()).w) == pytest.approx(
        [0.1, 0.2], abs=1e-15
    )


@pytest.mark.statement("Alg:phased", kind="exact")
def test_bodies_differ_on_tagged_lines_only() -> None:
    assert errata_of(phased_sgd_printed, phased_sgd) == {"E3.11", "E3.12", "E3.14", "E3.15"}
    assert line_marks(phased_sgd_printed) == line_marks(phased_sgd) == list(range(1, 14))


@pytest.mark.statement("Alg:phased", kind="searched")
def test_what_each_erratum_of_algorithm_2_changes() -> None:
    """E3.12 turns the sign; E3.15 acts on what leaves W; E3.14 where n is not 2^j; E3.11 never (T_k steps)."""
    K, data = Float64(), sphere(Random(5), 16, 2)
    p = made(K, 16, ball(2, F(1, 20)))
    everything = {"E3.11", "E3.12", "E3.14", "E3.15"}
    tape = ReplayTape(dict.fromkeys(draws(16, 2), (8.0, 0.0)))
    full = list(phased_sgd(K, data, p, tape).w)

    def without(erratum: str) -> list[float]:
        run = edition(phased_sgd_printed, phased_sgd, everything - {erratum})
        return list(run(K, data, p, tape).w)

    assert without("E3.11") == without("E3.14") == full
    assert without("E3.12") != full
    assert norm(K, K.vector(without("E3.15")), 2) > 0.05 + 1e-9
    assert norm(K, K.vector(full), 2) <= 0.05 + 1e-15
    with pytest.raises(ValueError, match="power of two"):
        edition(phased_sgd_printed, phased_sgd, everything - {"E3.14"})(K, data[:6], made(K, 6, ball(2)), ZeroTape())


def test_features_of_length_R_in_binary64_are_accepted() -> None:
    x = (0.6000000000000001, 0.8)
    assert sum(F(v) ** 2 for v in x) > 1
    phased_sgd(Float64(), (Example(x),) * 2, made(Float64(), 2, ball(2)), ZeroTape())


# ----------------------------------------------------------------------------------------------- bounds


@pytest.mark.statement("thm:l2_glm", kind="searched")
def test_parameters_of_the_theorem() -> None:
    K = MP(30)
    assert abs(theorem_beta(K, 4096, 1, 1, 48) * 48 - theorem_beta_printed(K, 4096, 1, 1)) < K("1e-25")
    assert abs(theorem_alpha(K, 10, 2, 3) - 6 / (10 * K.log(K(10)))) < K("1e-25")
    for n in (2, 16, 1000, 10**6):
        for d in (1, 5, 1000):
            assert curvature(K, made(K, n, ball(d))) <= K(F(1, 12)) + K("1e-25")
    wide = made(K, 4096, ball(2, F(24)), beta=theorem_beta_printed(K, 4096, 1, 1), unproven=True)
    assert curvature(K, wide) > 2


@pytest.mark.statement("thm:l2_glm", kind="searched")
def test_running_time_is_near_linear() -> None:
    """n·⌈log2(n ln n)⌉ subgradients at most, below 2n log2 n from n = 4 on."""
    K = MP(40)
    for n in (4, 5, 1000, 10**6, 10**9):
        count = evaluations(K, made(K, n, ball(3)))
        assert count == (n - n.bit_count()) * math.ceil(math.log2(n * math.log(n)))
        assert count <= 2 * n * math.log2(n)


@pytest.mark.statement("lem:phase_bound", kind="searched")
@pytest.mark.parametrize("average", ["last", "first"])
def test_lemma_8_has_room_everywhere(average: str) -> None:
    """The bound with its constants is below the printed one, for every phase and start."""
    K = MP(30)
    for n in (2, 4, 16, 1000, 2**14):
        p = made(K, n, WholeSpace(3), rank=2, average=average)
        for k in range(1, len(phase_lengths(n)) + 1):
            for distance in (F(0), F(1, 100), F(1), F(50)):
                ours = phase_bound(K, p, k, K(distance) ** 2, K(distance), None)
                assert ours <= phase_bound_printed(K, p, k, K(distance) ** 2, K(distance))


@pytest.mark.statement("lem:phase_bound", kind="searched")
@pytest.mark.parametrize("average", ["last", "first"])
def test_lemma_8_on_exact_expectations(average: str) -> None:
    """All 2^T label sequences of a one-dimensional phase: E F_β(w_k) − F_β(w) against the bound; it comes near."""
    K, n, T = Float64(), 16, 8
    p = made(K, n, WholeSpace(1), rank=1, average=average, oracle=closed_form_oracle)
    eta, beta, largest = step_size(K, p) / 4, p.smoothing.beta, 0.0
    for spread in (0.0, 0.002, 0.01, 1.0):
        labels = (Absolute(-spread), Absolute(spread))

        def risk(w: float, labels: tuple[ScalarLoss, ...] = labels) -> float:
            from reference.convex.moreau import envelope

            return sum(envelope(K, ell, beta, w) for ell in labels) / 2

        for start in (0.0, 0.01, 0.1):
            total = 0.0
            for code in range(2**T):
                u, points = start, []
                for t in range(T):
                    ell = labels[code >> t & 1]
                    u_next = u - eta * closed_form_oracle(K, K.vector([u]), K.vector([1]), ell, p.smoothing).derivative
                    points.append(u_next if average == "last" else u)
                    u = u_next
                total += risk(sum(points) / T)
            measured = total / 2**T - risk(0.0)
            bound = phase_bound(K, replace(p, smoothing=replace(p.smoothing, alpha=0.0)), 1, start**2, start, None)
            assert measured <= bound
            largest = max(largest, measured / bound)
    assert largest > 0.15


@pytest.mark.statement("thm:l2_glm", kind="searched")
@pytest.mark.parametrize("n", [2, 16, 64, 256, 1024, 4096])
def test_excess_risk_of_a_linear_loss_is_near_the_bound(n: int) -> None:
    """F(w) = w on [0, 1] from 1: the expected output is the run without noise while nothing reaches the boundary."""
    K = Float64()
    p = made(K, n, Box([0], [1]), LINEAR, start=[1], epsilon=F(37, 10))
    excess = phased_sgd(K, (Example((1,)),) * n, p, ZeroTape()).w[0]
    bound = excess_risk(K, p)
    assert excess <= min(1, bound)
    if n in (256, 1024):
        assert excess > bound / 3


@pytest.mark.statement("thm:l2_glm", kind="searched")
def test_the_closed_form_covers_the_sum() -> None:
    """100/3 and 38/3 are right constants for n = 2^j: the finite sum is below, and not far where one term dominates."""
    K, nearest = MP(40), 0.0
    for j in (1, 2, 3, 6, 10, 14, 20, 25):
        for d in (1, 10, 100):
            for average in ("last", "first"):
                p = made(K, 2**j, ball(d), average=average)
                total, closed = excess_risk(K, p), excess_risk_closed_form(K, p)
                assert total <= closed
                nearest = max(nearest, float(total / closed))
    assert nearest > 0.9


@pytest.mark.statement("thm:l2_glm", kind="searched")
def test_any_number_of_records_costs_at_most_a_factor_two() -> None:
    K = Float64()
    for n in (3, 100, 1023):
        power = 2 ** math.floor(math.log2(n))
        assert excess_risk(K, made(K, n, ball(4))) <= 2 * excess_risk(K, made(K, power, ball(4)))


@pytest.mark.statement("thm:l2_glm", kind="measured")
def test_measured_excess_risk_is_below_the_bound() -> None:
    """Thirty seeded runs, three-point population: their mean excess plus six standard errors is below the bound."""
    K, n, rng = Float64(), 128, Random(6)
    support = [Example((1, 0), F(1, 4)), Example((0, 1), F(-1, 8)), Example((F(3, 5), F(4, 5)), 0)]
    p = made(K, n, ball(2), epsilon=F(37, 10))

    def risk(w: object) -> float:
        return sum(GLL_ABS.value(K, w, z) for z in support) / 3  # type: ignore[arg-type]

    grid = [K.vector([F(i, 40), F(j, 40)]) for i in range(-20, 21) for j in range(-20, 21) if i * i + j * j <= 400]
    best = min(risk(w) for w in grid)
    values = [risk(phased_sgd(K, tuple(rng.choices(support, k=n)), p, SeededTape(s)).w) - best for s in range(30)]
    mean = sum(values) / 30
    error = math.sqrt(sum((v - mean) ** 2 for v in values)) / 30
    assert mean + 6 * error < excess_risk(K, p)
    assert mean > 0


@pytest.mark.statement("thm:l2_glm_unconstrained", kind="searched")
def test_the_unconstrained_rate_does_not_see_the_dimension() -> None:
    K = MP(30)
    small, large = (excess_risk_unconstrained(K, made(K, 1024, WholeSpace(d), rank=2), 1) for d in (2, 1000))
    assert small == large
    for n in (4, 64, 2**14):
        p = made(K, n, WholeSpace(3), rank=2)
        rho = p.epsilon / (2 * K.sqrt(K.log(1 / p.delta)))
        rate = K.sqrt(K(2)) / (n * rho) + 1 / K.sqrt(K(n))
        for r in (F(1, 10), F(1), F(10)):
            assert excess_risk_unconstrained(K, p, r) <= 35 * (K(r) ** 2 + 1) * rate


@pytest.mark.statement("lem:phase_bound", kind="searched")
def test_the_semi_norm_is_the_length_of_the_projection_on_the_span() -> None:
    K = MP(30)
    basis = span_basis([(1, 1, 0), (2, 2, 0), (0, 0, 3)])
    assert len(basis) == rank([(1, 1, 0), (2, 2, 0), (0, 0, 3)]) == 2
    assert abs(span_norm(K, K.vector([1, -1, 0]), basis)) < K("1e-25")
    assert abs(span_norm(K, K.vector([1, 0, 2]), basis) ** 2 - F(9, 2)) < K("1e-25")
    assert rank([(0, 0)]) == 0


@pytest.mark.statement("lem:phase_bound", kind="searched")
def test_unconstrained_steps_stay_in_the_span_of_the_features() -> None:
    K = MP(30)
    data = tuple(Example((F(i, 20), F(i, 20), 0), F(1, 3)) for i in range(1, 9))
    p = made(K, 8, WholeSpace(3), rank=1, start=[5, -5, 7])
    out = phased_sgd(K, data, p, ZeroTape()).w - p.start
    basis = span_basis(z.x for z in data)
    assert abs(norm(K, out, 2) - span_norm(K, out, basis)) < K("1e-25")
    assert norm(K, out, 2) > 0


# ---------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 1}, "n = 1 must be an integer of at least 2"),
        ({"W": Box([0], [0])}, "D = 0.0 must be positive"),
        ({"D": 0}, "D = 0.0 must be positive"),
        ({"epsilon": 4}, "epsilon = 4.0 must be at most sqrt"),
        ({"epsilon": 0}, "epsilon = 0.0 must be positive"),
        ({"delta": 1}, "delta = 1.0 must lie strictly between 0 and 1"),
        ({"start": [3]}, "w0 = .* must lie in W"),
        ({"start": [0, 0]}, "dimension of w0"),
        ({"alpha": 4}, "alpha = 4.0 must be less than 4"),
        ({"gll": GLL(Absolute, 1, 1, 1)}, "p = 1 must be 2"),
        ({"W": WholeSpace(1), "rank": 0}, "rank = 0.0 must be at least 1"),
        ({"average": "middle"}, "average"),
        ({"W": WholeSpace(1), "D": 1}, "D = 1 must not be given"),
        ({"rank": 1}, "rank = 1 must not be given"),
        ({"gll": GLL(Absolute, 1, 0)}, "R = 0 must be positive"),
    ],
)
def test_bad_parameters(change: dict[str, object], message: str) -> None:
    good = {"n": 4, "gll": GLL_ABS, "W": Box([-1], [1]), "epsilon": 1, "delta": "1e-6"}
    with pytest.raises(ValueError, match=message) as refused:
        phased_parameters(Float64(), **{**good, **change})  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("data", "gll", "message"),
    [
        ([Example((1,))] * 3 + [Example((F(1001, 1000),))], GLL_ABS, "‖x‖_2 of record 3"),
        ([Example((1,))] * 3 + [Example((1, 1))], GLL_ABS, "dimension of x of record 3"),
        ([Example((1,), 7)] * 4, GLL(lambda y: PiecewiseLinear([0], [1, -1]), 1, 1), "be convex"),
        ([Example((1,), 7)] * 4, GLL(lambda y: PiecewiseLinear([], [2]), 1, 1), "Lipschitz constant"),
    ],
)
def test_bad_public_data(data: list[Example], gll: GLL, message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        checked_points(Float64(), gll, data, Box([-1], [1]), Float64().vector([0]))
    assert "\n" not in str(refused.value)


def test_what_does_not_depend_on_records_is_refused_at_the_door() -> None:
    K = Float64()
    with pytest.raises(ValueError, match="n = 3 must be 4"):
        phased_sgd(K, [Example((1,))] * 3, made(K, 4, ball(1)), ZeroTape())
    with pytest.raises(ValueError, match="be convex"):
        made(K, 4, ball(1), GLL(lambda y: PiecewiseLinear([0], [1, -1]), 1, 1))
    with pytest.raises(ValueError, match="Lipschitz constant"):
        made(K, 4, ball(1), GLL(lambda y: PiecewiseLinear([], [2]), 1, 1))
    with pytest.raises(ValueError, match="Euclidean projection"):  # before a step leaves W, which depends on the data
        made(K, 4, LpBall([0, 0], 1, 3))
    assert made(K, 4, ball(1), GLL(Logistic, F(1, 10), 1)).n == 4  # labels of ±1/10 are fine


def test_a_set_without_a_projection_is_refused_by_name() -> None:
    K = Float64()
    p = phased_parameters(K, 2, GLL_ABS, l1_ball(2), epsilon=1, delta="1e-6")
    assert phased_sgd(K, (Example((1, 0)),) * 2, p, ZeroTape()).w is not None


@pytest.mark.parametrize("body", [phased_sgd, phased_sgd_printed])
def test_a_noise_rule_that_changes_its_mind_is_refused_where_it_is_used(body: Any) -> None:
    """One that draws, or counts: it gave enough when the parameters were made, and 0 in the run, without a word."""
    K, asked = Float64(), list[int]()

    def rule(K: Numbers, rho: Real, eta_k: Real, T_k: int, p: PhasedParameters) -> Real:
        asked.append(T_k)
        return sigma_printed(K, rho, eta_k, T_k, p) * (1 if len(asked) <= 3 else 0)

    given: dict[str, Any] = {"epsilon": 1, "delta": "1e-6", "sigma": rule}
    p = phased_parameters(K, 8, GLL(Absolute, 1, 1), Box([0], [1]), **given)
    data = [Example((1,), Fraction(1, 2))] * 8
    with pytest.raises(ValueError, match=r"sigma = 0\.0 must be at least .*: the noise rule said otherwise"):
        body(K, data, p, ZeroTape())
    asked.clear()
    unproven = phased_parameters(K, 8, GLL(Absolute, 1, 1), Box([0], [1]), unproven=True, **given)
    asked.extend([0, 0, 0])
    assert [phase.sigma for phase in body(K, data, unproven, ZeroTape()).phases] == [0, 0, 0]
