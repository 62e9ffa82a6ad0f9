"""Algorithm 6, printed and corrected, and Theorem 20 with constants."""

import random
from fractions import Fraction as Q
from typing import Any

import pytest

from audit import engine as fast
from reference.numerics.numbers import MP, Ball, Float64, norm
from reference.numerics.tape import RecordingTape, SeededTape, ZeroTape
from reference.paper.editions import edition, errata_of, line_marks
from reference.paper.events import Trace
from reference.privacy import gaussian_mu_safe
from reference.setting.data import Example
from reference.setting.losses_smooth import SquaredTanh
from reference.setting.losses_weak import MCP, NegativeQuadratic, RobustPhaseRetrieval, TanhRegression
from reference.setting.sets import Box, L2Ball, LpBall, Polytope, WholeSpace
from reference.weakly_convex import proximal_guided as pg
from reference.weakly_convex.functions import linear, mcp, scad, square_residual
from reference.weakly_convex.mirror import geometry
from reference.weakly_convex.prox import empirical, prox_exact, prox_line, prox_population
from reference.weakly_convex.strongly_convex import Phase, cited_rate, excess_bound, plan_solver, printed_kappas, scales

K = Float64()
MU = gaussian_mu_safe(1, "1e-5")
DATA = tuple(Example((1, 0, Q(1, 2)), Q(i % 3, 4)) for i in range(12))
LOSS = RobustPhaseRetrieval(2, 1, 2)
PLAN = (Phase(2, 3), Phase(1, 2, Q(4)))


def run(algorithm: Any = pg.proximally_guided, **changes: Any) -> pg.Guided:
    options: dict[str, Any] = {
        "rounds": 4,
        "plan": PLAN,
        "mu": 1,
        "tape": SeededTape(1),
        "start": K.vector([0.5, 0, 0.25]),
    }
    found: pg.Guided = algorithm(K, LOSS, L2Ball([0] * 3, 1), DATA, **(options | changes))
    return found


def test_the_bodies_differ_exactly_on_their_errata() -> None:
    assert errata_of(pg.proximally_guided_printed, pg.proximally_guided) == {"E5.1", "E5.2", "E5.3", "E5.7", "E5.8"}
    for body in (pg.proximally_guided_printed, pg.proximally_guided):
        assert set(line_marks(body)) == {1, 2, 3, 4, 5}


@pytest.mark.statement("Alg:PGPSMD", kind="searched")
def test_a_run_and_its_trace() -> None:
    trace = Trace()
    found = run(trace=trace)
    assert len(found.iterates) == 4
    assert found.w is found.iterates[found.index - 1]
    assert [e.key for e in trace if e.name == "w"] == ["w[1]", "w[2]", "w[3]", "w[4]"]
    assert len([e for e in trace if e.name == "u"]) == 3 * 5
    printed = run(pg.proximally_guided_printed)
    assert len(printed.iterates) == 5  # w_5 is computed and never output
    assert printed.index <= 4


def test_the_output_index_is_uniform_over_the_rounds() -> None:
    """The index comes from the tape alone; all of 1, …, R occur and R + 1 never does."""
    seen = {run(pg.proximally_guided_printed, tape=SeededTape(s)).index for s in range(40)}
    assert seen == {1, 2, 3, 4}


def test_one_round_returns_the_start() -> None:
    for algorithm in (pg.proximally_guided, pg.proximally_guided_printed):
        found = run(algorithm, rounds=1)
        assert list(found.w) == [0.5, 0, 0.25]


def test_each_erratum_can_be_applied_alone() -> None:
    base = run(pg.proximally_guided_printed, tape=ZeroTape(), plan=(Phase(3, 4),))
    for erratum in ("E5.1", "E5.2"):  # d = 3, p = 2: p̄ and β are the same
        one = run(
            edition(pg.proximally_guided_printed, pg.proximally_guided, {erratum}), tape=ZeroTape(), plan=(Phase(3, 4),)
        )
        assert [list(w) for w in one.iterates] == [list(w) for w in base.iterates]
    fewer = run(
        edition(pg.proximally_guided_printed, pg.proximally_guided, {"E5.8", "E5.7"}),
        tape=ZeroTape(),
        plan=(Phase(3, 4),),
    )
    assert len(fewer.iterates) == 4


@pytest.mark.statement("Alg:PGPSMD", kind="counterexample")
def test_printed_and_corrected_beta_at_p_one() -> None:
    """d = 4, p = 1: the printed β is below κρ̃; the printed body accepts it only because it takes ρ for the
    modulus.
    """
    at = pg.GuidedParameters(1, 4, 1, 1, 2, 100, 1, "1e-5")
    s = scales(K, 1, 4, 1, 1)
    assert pg.beta_printed(K, at) < s.geo.kappa * s.weak < s.beta
    loss = RobustPhaseRetrieval(1, 1, 1)
    data = tuple(Example((1, 1, -1, 0), Q(1, 4)) for _ in range(4))
    options: dict[str, Any] = {"rounds": 2, "plan": (Phase(2, 2),), "mu": 1, "tape": ZeroTape(), "beta": None}
    pg.proximally_guided_printed(K, loss, LpBall([0] * 4, 1, 1), data, **options)
    beta = pg.beta_printed(K, pg.GuidedParameters(1, 4, loss.L0, loss.rho, 2, 4, 1, "1e-5"))
    with pytest.raises(ValueError, match="must exceed"):
        pg.proximally_guided(K, loss, LpBall([0] * 4, 1, 1), data, **(options | {"beta": beta}))


def test_low_dimensions_work_when_corrected() -> None:
    for d in (1, 2):
        loss = RobustPhaseRetrieval(1, d, 1)
        data = tuple(Example((1,) * d, Q(1, 4)) for _ in range(4))
        found = pg.proximally_guided(
            K, loss, Box([-1] * d, [1] * d), data, rounds=2, plan=(Phase(4, 3),), mu=1, tape=SeededTape(2)
        )
        assert len(found.w) == d
    with pytest.raises(ValueError, match="d = 1 must be at least 2 in the printed text"):
        pg.proximally_guided_printed(
            K, RobustPhaseRetrieval(1, 1, 1), Box([-1], [1]), DATA[:4], rounds=2, plan=(), mu=1, tape=SeededTape(2)
        )


@pytest.mark.parametrize(
    ("rounds", "message"), [(0, "rounds = 0 must be at least 1"), (13, "rounds = 13 must be at most n = 12")]
)
def test_bad_rounds(rounds: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(rounds=rounds)


def test_the_printed_batch_size_must_be_an_integer() -> None:
    with pytest.raises(ValueError, match=r"n/R = 12/5 must be an integer in the printed text"):
        run(pg.proximally_guided_printed, rounds=5)
    assert len(run(rounds=5).iterates) == 5


# -------------------------------------------------------------------------------------------- Theorem 20


@pytest.mark.parametrize("name", ["square", "mcp", "scad", "linear"])
@pytest.mark.statement("eqn:dist_prox_risk", kind="exact")
def test_the_progress_inequality(name: str) -> None:
    """F(w) − F_r(ŵ) ≥ ((β−ρ)/2)δ², exactly, on [−2, 3/2]; the factor (β−ρ)/2 is attained (ρ/2 is printed)."""
    f, rho = {
        "square": (square_residual(), Q(2)),
        "mcp": (mcp(Q(1, 2), 2), Q(1, 2)),
        "scad": (scad(Q(1, 2), 3), Q(1, 2)),
        "linear": (linear(1), Q(0)),
    }[name]
    least = Q(10**6)
    for i in range(-16, 13):
        w = Q(i, 8)
        for beta in (rho + Q(1, 2), 2 * rho + 1, Q(9)):
            w_hat = prox_exact(f, beta, w, (Q(-2), Q(3, 2)))
            delta = abs(w_hat - w)
            gain = f(w) - f(w_hat) - beta * delta**2 / 2
            assert gain >= (beta - rho) / 2 * delta**2
            if delta:
                least = min(least, gain / delta**2 - (beta - rho) / 2)
    assert least <= Q(1, 2)
    if name == "square":
        assert least == 0


@pytest.mark.statement("eqn:dist_prox_risk", kind="searched")
def test_the_progress_inequality_beats_the_printed_factor_for_p_below_two() -> None:
    at = scales(K, 1, 20, 1, 1)
    gained = pg.progress_factor(K, at.beta, at.weak) / (at.weak / 2)
    assert gained == pytest.approx(2 * at.geo.kappa - 1)
    assert gained > 4.9


def monomial(**powers: Any) -> dict[str, Q]:
    return {k: Q(v) for k, v in powers.items() if v}


def times(*factors: dict[str, Q]) -> dict[str, Q]:
    total: dict[str, Q] = {}
    for factor in factors:
        for k, v in factor.items():
            total[k] = total.get(k, Q(0)) + v
    return {k: v for k, v in total.items() if v}


def to(factor: dict[str, Q], power: Any) -> dict[str, Q]:
    return {k: v * Q(power) for k, v in factor.items()}


@pytest.mark.statement("thm:nsmth_ncnvx", kind="exact")
@pytest.mark.statement("table:results", kind="exact")
def test_the_exponents_of_theorem_20_and_table_1() -> None:
    """With the two balances for R, every term of the bound is one of the two printed monomials (exponents in
    rationals).
    """
    first = to(times(monomial(n=1, D=1, rho=1), monomial(kappa=-1, L=-1)), Q(1, 2))
    noise = monomial(tilde=1, kappa=2, d=1, log=1, n=-2, eps=-2)
    second = to(times(monomial(D=1, rho=1, L=-1), to(noise, -1)), Q(1, 3))
    descent, unit = monomial(L=1, D=1), monomial(L=2, rho=-1)
    one = to(monomial(L=3, D=1, kappa=1, n=-1, rho=-1), Q(1, 2))
    two = times(
        to(monomial(tilde=1, kappa=2), Q(1, 3)),
        to(monomial(L=2, D=1), Q(2, 3)),
        to(monomial(d=1, log=1, n=-2, eps=-2, rho=-1), Q(1, 3)),
    )
    assert times(descent, to(first, -1)) == one == times(unit, monomial(kappa=1, n=-1), first)
    assert times(descent, to(second, -1)) == two == times(unit, noise, to(second, 2))
    # Table 1: unit ball, constants dropped, the factor max{1, 2ρDκ} ~ κ
    kept = {"kappa", "n", "d", "tilde", "eps"}
    row = [{k: v for k, v in times(to(term, Q(1, 2)), monomial(kappa=1)).items() if k in kept} for term in (one, two)]
    assert row[0] == monomial(kappa=Q(5, 4), n=Q(-1, 4))
    assert row[1] == times(monomial(kappa=Q(4, 3)), to(monomial(d=1, tilde=1, n=-2, eps=-2), Q(1, 6)))
    # abstract: d^{1/6}/(nε)^{1/3} is below n^{-1/4} at ε = 1 exactly for d ≤ √n
    assert Q(1, 6) * Q(1, 2) - Q(1, 3) == -Q(1, 4)


@pytest.mark.statement("rem:nsmth_ncnvx", kind="searched")
def test_the_remark() -> None:
    """p = 2, d ≥ 3: the same number. p = 1: within (1 + 1/log d)^{1/6} ≤ 2^{1/6}, the difference of κ̃ and log d."""
    B = Ball(96)
    for d in (3, 20, 1000):
        for n in (10**3, 10**6):
            two = pg.GuidedParameters(2, d, 2, 3, 5, n, 1, "1e-5")
            assert B.lt(B.abs(pg.printed_rate(B, two) - pg.remark_rate(B, two)), B("1e-15"))
            one = pg.GuidedParameters(1, d, 2, 3, 5, n, 1, "1e-5")
            ratio = pg.printed_rate(B, one) / pg.remark_rate(B, one)
            assert B.le(B(1), ratio)
            assert B.lt(ratio, B.power(B(2), Q(1, 6)))
    assert pg.remark_rate(K, pg.GuidedParameters(2, 3, 1, 1, 1, 100, 1, "1e-5")) > 0
    with pytest.raises(ValueError, match="p = 3/2 must be 1 or 2"):
        pg.remark_rate(K, pg.GuidedParameters(Q(3, 2), 3, 1, 1, 1, 100, 1, "1e-5"))


@pytest.mark.statement("thm:nsmth_ncnvx", kind="counterexample")
def test_the_number_of_rounds() -> None:
    B = Ball(96)
    usual = pg.GuidedParameters(2, 5, 1, 1, 1, 10**5, 1, "1e-5")
    assert pg.rounds_printed(B, usual) == pg.rounds_corrected(B, usual) == 316
    none = pg.GuidedParameters(2, 3, 1, "0.01", 1, 10, 1, "1e-5")
    assert (pg.rounds_printed(B, none), pg.rounds_corrected(B, none)) == (0, 1)
    many = pg.GuidedParameters(2, 100, 1, 1000, 1, 10, 10, "0.01")
    assert pg.condition_printed(B, many)
    assert (pg.rounds_printed(B, many), pg.rounds_corrected(B, many)) == (27, 10)


@pytest.mark.statement("thm:nsmth_ncnvx", kind="searched")
def test_when_the_condition_and_a_small_epsilon_give_r_at_most_n() -> None:
    """nd ≥ ρD/L0 and ε² ≤ κ̃κ²log(1/δ) imply R ≤ n: random parameters, none above."""
    generator = random.Random(12)
    largest = 0.0
    for _ in range(400):
        p, d, n = generator.choice([1, Q(3, 2), 2]), generator.randint(3, 200), generator.randint(1, 500)
        delta = 10 ** -generator.uniform(1, 8)
        kappa, tilde = printed_kappas(K, p, d)
        limit = (tilde * kappa**2 * -K.log(delta)) ** 0.5
        at = pg.GuidedParameters(
            p, d, 1, n * d * generator.uniform(0, 1) ** 3, 1, n, limit * generator.uniform(0.01, 1), delta
        )
        assert pg.condition_printed(K, at)
        largest = max(largest, pg.rounds_real(K, at) / n)
    assert 0.5 < largest <= 1 + 1e-12


@pytest.mark.statement("thm:nsmth_ncnvx", kind="searched")
def test_a_bad_plan_is_not_credited_with_doing_nothing():
    """One noisy step on one record can end anywhere in the ball: its bound is above that of returning w_r."""
    K, at = Float64(), pg.GuidedParameters(2, 5, 1, 1, 1, 1000, 1, "1e-5")
    bad = pg.guarantee(K, at, MU, 11, plan=(Phase(1, 1),))
    idle = pg.guarantee(K, at, MU, 11, plan=())
    assert idle.excess == 0.25  # L0²/(4κρ)
    assert idle.excess < bad.excess <= 4 * idle.excess
    assert idle.square < bad.square
    with pytest.raises(ValueError, match="at most the 100 points"):
        pg.guarantee(K, at, MU, 11, plan=(Phase(101, 1),))


@pytest.mark.statement("thm:nsmth_ncnvx", kind="searched")
def test_the_bound_with_constants_and_its_improvement() -> None:
    """L = ρ = D = 1, (1, 1e-5), p = 2, d = 5: vacuous at 10⁴, informative at 10⁵."""
    small = pg.guarantee(K, pg.GuidedParameters(2, 5, 1, 1, 1, 10**4, 1, "1e-5"), MU, 11)
    large = pg.guarantee(K, pg.GuidedParameters(2, 5, 1, 1, 1, 10**5, 1, "1e-5"), MU, 45)
    assert not small.informative
    assert small.distance == pytest.approx(0.537, abs=0.002)
    assert large.informative
    assert large.distance == pytest.approx(0.272, abs=0.002)
    assert large.a_priori == 0.5
    at = scales(K, 2, 5, 1, 1)
    plan = plan_solver(geometry(K, 2, 5), 10**5 // 45, MU)
    printed = pg.squared_distance_corrected(K, at, 45, excess_bound(K, at.geo, plan, MU), K(1))
    assert large.square < printed
    certified = pg.guarantee(Ball(96), pg.GuidedParameters(2, 5, 1, 1, 1, 10**5, 1, "1e-5"), MU, 45, plan=large.plan)
    assert certified.informative


def test_the_improvement_at_p_one() -> None:
    """p = 1, d = 20, n = 10⁶: κ = 3, so the sharper progress alone gains 2κ − 1 = 5 in the square."""
    at = pg.GuidedParameters(1, 20, 1, 1, 1, 10**6, 1, "1e-5")
    tight = pg.guarantee(K, at, MU, 90)
    assert tight.informative
    assert tight.distance == pytest.approx(0.0371, abs=0.0005)
    s = scales(K, 1, 20, 1, 1)
    old = pg.squared_distance_corrected(K, s, 90, tight.excess, K(1))
    assert K.sqrt(old) > s.radius  # the printed argument says nothing here


def test_how_many_rounds_are_needed() -> None:
    """Below 8κ²ρD/((2κ−1)L0) rounds the first term alone is above the a-priori square."""
    for p, d in ((2, 5), (1, 20)):
        s = scales(K, p, d, 1, 1)
        R = K.floor(8 * s.geo.kappa**2 / (2 * s.geo.kappa - 1))  # ρ = D = L0 = 1
        assert pg.squared_distance(K, s, max(1, R - 1), 0, s.L) > s.radius**2
        assert pg.squared_distance(K, s, R + 1, 0, s.L) < s.radius**2


def test_the_regime_is_a_function() -> None:
    found = pg.regime(lambda n: pg.GuidedParameters(2, 2, 1, 1, 1, n, 1, "1e-5"), MU, range(12, 18))
    assert found is not None
    n, promise = found
    assert promise.informative
    before = pg.best_guarantee(pg.GuidedParameters(2, 2, 1, 1, 1, n // 2, 1, "1e-5"), MU)
    assert not before.informative


def test_the_expected_gap_is_concave_in_the_distance() -> None:
    for square in (0.01, 0.09, 0.36, 4.0):
        gap = pg.expected_gap(K, 2.0, 1.0, square)
        assert gap <= pg.near_stationarity(K, 2.0, 1.0, square) + 1e-12
        assert gap <= 2.0 / 4


def test_a_priori_bounds_hold_on_the_line() -> None:
    """R0 = ℓ/β for MCP on the line: every w."""
    loss = MCP(Q(1, 2), 2)
    beta = 2 * loss.rho
    for i in range(-24, 25):
        w = Q(i, 8)
        assert abs(prox_line(K, loss, beta, w) - float(w)) <= float(loss.lipschitz / beta) + 1e-15


def test_cited_rates_are_worse_than_ours_by_a_factor_of_kappa() -> None:
    """Without constants: κ/n + κ̃κ²d·log(1/δ)/(nε)² against 1/n + κd/(nμ)²."""
    geo = geometry(K, 1, 1000)
    n = 10**6
    ours = 1 / n + geo.kappa * 1000 / (n * MU) ** 2
    assert cited_rate(K, 1, 1000, n, 1, "1e-5") > geo.kappa * ours / 2


def test_the_cited_time_vanishes_on_the_line() -> None:
    assert pg.cited_running_time(K, 100, 1, 1) == 0


@pytest.mark.parametrize("p", [1, Q(3, 2), 2])
def test_the_three_number_systems_agree_on_one_tape(p: Any) -> None:
    """Steps at the boundary of W included: float, 30 digits and balls return the same iterates to 1e-9."""
    loss = RobustPhaseRetrieval(1, 1, p)
    data = tuple(Example((1, -1, Q(1, 2), 0), 1) for _ in range(6))
    start = [Q(5, 8), Q(-1, 4), Q(1, 16), 0]
    tape = RecordingTape(SeededTape(4))
    found = []
    for number in (K, MP(30), Ball(192)):
        run = pg.proximally_guided(
            number,
            loss,
            LpBall([0] * 4, 1, p),
            data,
            rounds=3,
            plan=(Phase(3, 5),),
            mu=2,
            tape=tape,
            start=number.vector(start),
        )
        found.append([[number.to_float(x) for x in w] for w in run.iterates])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert max(abs(x - y) for x, y in zip(a, b, strict=True)) < 1e-9


@pytest.mark.parametrize("p", [1, Q(3, 2), 2])
@pytest.mark.statement("eqn:dist_prox_risk", kind="searched")
def test_the_progress_inequality_in_lp(p: Any) -> None:
    """f = −½⟨a, w⟩² in ℝ³, certified ŵ: the factor (β−ρ̃)/2 holds; attained along a at p = 1."""
    d = 3
    a = Example((1, 1, 1), 0) if p == 1 else Example((Q(1, 2), Q(1, 2), Q(1, 2)), 0)
    loss = NegativeQuadratic(1, 1, 1, p)
    at = scales(K, p, d, loss.L0, loss.rho)
    factor = pg.progress_factor(K, at.beta, at.weak)
    ratios = []
    for start in ([Q(1, 16)] * 3, [Q(1, 8), Q(-1, 16), Q(1, 32)], [Q(1, 5), 0, 0]):
        w = K.vector(start)
        population = empirical(loss, (a,))
        found = prox_population(K, population, LpBall([0] * d, 1, p), w, tolerance=Q(1, 10**6))
        delta = norm(K, found.point - w, at.geo.p_bar)
        gain = population.value(K, w) - found.upper
        assert gain >= factor * delta * delta - at.beta * found.radius
        ratios.append(factor * delta * delta / gain)
    if p == 1:
        assert max(ratios) > 0.999
        assert factor > at.weak / 2 * 1.19  # 2κ − 1 = 1.197 times the printed factor


@pytest.mark.parametrize("body", [pg.proximally_guided, pg.proximally_guided_printed])
def test_what_depends_on_no_record_is_refused_at_the_door(body: Any) -> None:
    """A start outside W, an L0 that W outgrows, a set without a step: before a record is read, in one line."""
    given: dict[str, Any] = {"rounds": 2, "plan": (Phase(4, 3),), "mu": 1, "tape": SeededTape(2)}
    ball, triangle = L2Ball([0] * 3, 1), Polytope([[0] * 3, [1] * 3, [0, 1, 0]])
    for loss, W, start, message in (
        (TanhRegression(1), ball, K.vector([5, 0, 0]), "lie in W"),
        (RobustPhaseRetrieval(1, 2), L2Ball([0] * 3, 100), None, "B = 2 must bound the norms"),
        (TanhRegression(1, 1), triangle, None, "mirror step"),
        (TanhRegression(1), L2Ball([0] * 3, 2**300), None, "reach = .* must lie between 2"),
        (TanhRegression(10**160), ball, None, "L0 = .* must lie between 2"),
        (TanhRegression(1), WholeSpace(3), K.vector([1e200, 0, 0]), "start = .* must lie between 2"),
        (SquaredTanh(1), ball, None, "be weakly convex, with its ρ"),
    ):
        with pytest.raises(ValueError, match=message) as refused:
            body(K, loss, W, DATA, start=start, **given)
        assert "\n" not in str(refused.value)
    for mu in (0, -1, "-0.5"):
        with pytest.raises(ValueError, match=f"mu = .*{mu}.* must be positive"):
            body(K, TanhRegression(1), ball, DATA, **given | {"mu": mu})
        with pytest.raises(ValueError, match=f"mu = .*{mu}.* must be positive"):
            fast.proximally_guided(
                TanhRegression(1), ball, DATA, fast.LiveBatch(0, 1), rounds=2, plan=(Phase(4, 3),), mu=mu
            )


@pytest.mark.parametrize(("p", "d"), [(2, 5), (1, 20), (2, 10**6)])
@pytest.mark.statement("thm:nsmth_ncnvx", kind="searched")
def test_the_gradients_of_all_calls_stay_below_their_bound(p: Any, d: int) -> None:
    """min{8n²/(3(R−1)), 8n³μ²/(7κd(R−1)²)} + n, and nothing for one round."""
    geo = geometry(K, p, d)
    for j, R in ((20, 2), (20, 30), (24, 500)):
        n = 2**j
        at = pg.GuidedParameters(p, d, 1, 1, 1, n, 1, "1e-5")
        bound = min(8 * n**2 / (3 * (R - 1)), 8 * n**3 * MU**2 / (7 * geo.kappa * d * (R - 1) ** 2)) + n
        assert pg.guided_gradients(at, MU, R) <= bound
        assert pg.guided_gradients(at, MU, 1) == 0
