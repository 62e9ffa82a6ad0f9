"""Algorithm 3: the run by hand, weights, noise, calibration, bounds with constants, refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from reference.convex.counterexamples import mean_deviation
from reference.convex.moreau import Interval, envelope
from reference.convex.noisy_frank_wolfe import (
    FrankWolfeParameters,
    composed_delta,
    composition_condition,
    draws,
    empirical_risk,
    evaluations,
    excess_risk,
    frank_wolfe_parameters,
    generalisation,
    noise_peak,
    noisy_frank_wolfe,
    noisy_frank_wolfe_printed,
    scale_printed,
    scale_tight,
    score_range,
    steps_without_log,
    theorem_alpha,
    theorem_alpha_printed,
    theorem_beta,
    theorem_steps,
)
from reference.convex.oracle import closed_form_oracle, oracle_printed
from reference.convex.phased_sgd import checked_points
from reference.numerics.numbers import INF, MP, Ball, Float64, Numbers, norm
from reference.numerics.tape import ReplayTape, SeededTape, TapeError, ZeroTape
from reference.paper.editions import errata_of, line_marks
from reference.paper.events import Trace
from reference.privacy import kov_epsilon0, noisy_min_law
from reference.setting import GLL, Absolute, Box, Example, FeasibleSet, Polytope, Simplex, box_polytope, l1_ball
from reference.setting.data import FEATURE_SLACK

F = Fraction
GLL1 = GLL(Absolute, 1, 1, 1)


def made(K: Numbers, n: int, W: FeasibleSet, **more: object) -> FrankWolfeParameters:
    return frank_wolfe_parameters(K, n, GLL1, W, **{"epsilon": 1, "delta": "1e-6", **more})  # type: ignore[arg-type]


def records(rng: Random, n: int, d: int) -> tuple[Example, ...]:
    return tuple(
        Example(tuple(F(rng.randint(-64, 64), 64) for _ in range(d)), F(rng.randint(-640, 640), 1000)) for _ in range(n)
    )


@pytest.mark.statement("Alg:nfw", kind="searched")
def test_a_run_by_hand() -> None:
    """ℓ = |u − 9|, x = e_1, ℓ_1 ball of ℝ²: ∇̃ = −(1 − q/2)e_1, so +e_1 wins unless the noise on −e_2 says otherwise."""
    K = MP(30)
    p = made(K, 2, l1_ball(2, 1), T=3, alpha=F(1, 4))
    data = (Example((1, 0), 9),) * 2
    quiet, push = (0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, -8.0)
    tape = ReplayTape(dict(zip(draws(3, 4), (quiet, push, quiet), strict=True)))
    trace = Trace()
    run = noisy_frank_wolfe(K, data, p, tape, trace)
    assert run.chosen == (0, 3, 0)
    w2 = (F(1), F(0))
    w3 = tuple(F(1, 4) * a + F(3, 4) * b for a, b in zip(w2, (0, -1), strict=True))
    w4 = tuple(F(2, 5) * a + F(3, 5) * b for a, b in zip(w3, (1, 0), strict=True))
    for found, meant in ((run.iterates[2], w3), (run.w, w4)):
        assert all(abs(a - K(b)) < K("1e-27") for a, b in zip(found, meant, strict=True))
    assert [e.key for e in trace][:6] == ["w[1]", "T", "s", "gradient[1]", "b[1]", "v[1]"]
    assert abs(trace.values("gradient")[0][0] + F(3, 4)) < K("1e-27")
    assert abs(trace.values("margin")[0] - F(3, 4)) < K("1e-27")
    printed = noisy_frank_wolfe_printed(K, data, p, tape)
    assert all(abs(a - K(b)) < K("1e-27") for a, b in zip(printed.w, w3, strict=True))  # w_T, one step behind


@pytest.mark.statement("Alg:nfw", kind="searched")
@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
def test_three_number_systems_agree(noise: str) -> None:
    data = records(Random(1), 20, 3)
    runs = [
        noisy_frank_wolfe(K, data, made(K, 20, l1_ball(3), T=6, noise=noise), SeededTape(2))
        for K in (Float64(), MP(40), Ball(160))
    ]
    assert runs[0].chosen == runs[1].chosen == runs[2].chosen
    assert all(abs(a - float(b)) < 1e-13 for a, b in zip(runs[0].w, runs[1].w, strict=True))


@pytest.mark.statement("thm:l1_glm", kind="searched")
def test_nT_oracle_calls_exactly() -> None:
    K = Float64()
    p = made(K, 10, l1_ball(2), T=7)
    run = noisy_frank_wolfe(K, records(Random(2), 10, 2), p, ZeroTape())
    assert run.count.calls == 70
    assert run.count.subgradients == evaluations(K, p) == 70 * 5  # ⌈log2(10 ln 10)⌉ = 5


def test_bodies_lines_and_draws() -> None:
    assert errata_of(noisy_frank_wolfe_printed, noisy_frank_wolfe) == {"E3.34"}
    assert line_marks(noisy_frank_wolfe) == line_marks(noisy_frank_wolfe_printed) == list(range(1, 10))
    assert [d.key for d in draws(2, 5)] == ["b[1]", "b[2]"]
    K = Float64()
    p = made(K, 2, l1_ball(1), T=2)
    with pytest.raises(TapeError):
        noisy_frank_wolfe(K, (Example((1,)),) * 2, p, ReplayTape({draws(1, 2)[0]: (0.0, 0.0)}))


@pytest.mark.statement("thm:l1_glm", kind="exact")
def test_the_weights_of_the_recursion_sum_to_one() -> None:
    """∏(1 − μ_j) = t(t+1)(t+2)/(T(T+1)(T+2)); weights times μ_t sum to 1; Σ weight·μ_t²/2 ≤ 9/(4(T+2))."""
    for T in range(1, 60):
        weights = []
        for t in range(1, T + 1):
            weight = math.prod((1 - F(3, j + 2) for j in range(t + 1, T + 1)), start=F(1))
            assert weight == F(t * (t + 1) * (t + 2), T * (T + 1) * (T + 2))
            weights.append(weight)
        assert sum(w * F(3, t + 2) for t, w in enumerate(weights, 1)) == 1
        assert sum(w * F(9, (t + 2) ** 2) / 2 for t, w in enumerate(weights, 1)) <= F(9, 4 * (T + 2))


@pytest.mark.statement("thm:l1_glm", kind="searched")
def test_expected_peak_of_the_noise() -> None:
    """0.75, 1.125, 1.3854 for J = 2, 3, 4; at most 2 ln J, and ln J from J = 4 on; against the law of noisy-min."""
    K = MP(30)
    assert [round(float(noise_peak(K, J)), 4) for J in (1, 2, 3, 4)] == [0, 0.75, 1.125, 1.3854]
    for J in range(2, 150):
        assert noise_peak(K, J) <= 2 * K.log(K(J))
        assert (noise_peak(K, J) <= K.log(K(J))) == (J >= 4)
    for scores in ([0, 1], [0, F(1, 2), 2], [0, 0, 0, 3]):
        for noise in ("laplace", "gumbel"):
            law = noisy_min_law(K, scores, 1, noise)
            excess = sum(q * K(s) for q, s in zip(law, scores, strict=True))
            assert 0 < excess <= noise_peak(K, len(scores), noise)


@pytest.mark.statement("Alg:nfw", kind="measured")
def test_gumbel_noise_has_the_sign_of_an_argmin() -> None:
    """J = 3 (J = 2 cannot tell): with equal gaps the law is that of the exponential mechanism, within 6 sigma."""
    K, counts, runs = Float64(), [0, 0, 0], 4000
    p = replace(
        made(K, 2, Polytope([[-1], [0], [1]]), T=1, noise="gumbel"), s=0.5, oracle=closed_form_oracle, unproven=True
    )
    data = (Example((1,), -9),) * 2  # gradient 1, scores −1, 0, 1
    mutant = [0, 0, 0]
    for seed in range(runs):
        counts[noisy_frank_wolfe(K, data, p, SeededTape(seed)).chosen[0]] += 1
        noise = SeededTape(seed).gumbel("b", 1, dim=3)
        mutant[min(range(3), key=lambda i, g=noise: i - 1 + 0.5 * g[i])] += 1
    weights = [math.exp(2), 1, math.exp(-2)]
    laws = [weight / sum(weights) for weight in weights]
    off = [
        max(abs(c - runs * q) / math.sqrt(runs * q * (1 - q)) for c, q in zip(found, laws, strict=True))
        for found in (counts, mutant)
    ]
    assert off[0] < 6 < off[1]


@pytest.mark.statement("thm:l1_glm", kind="searched")
@pytest.mark.parametrize("T", [1, 2, 5, 20, 60])
def test_the_empirical_risk_without_noise_is_below_the_bound(T: int) -> None:
    """F_{β,S}(w_{T+1}) − min ≤ 9βR²D²/(4(T+2)) + αD, against a fine grid; the bound is not vacuous."""
    K, data = Float64(), records(Random(3), 30, 2)
    p = replace(made(K, 30, l1_ball(2), T=T, beta=F(2)), s=0.0, unproven=True)

    def risk(w: object) -> float:
        return sum(envelope(K, Absolute(z.y), 2, w @ K.vector(z.x)) for z in data) / 30  # type: ignore[operator]

    grid = [(F(i, 40), F(j, 40)) for i in range(-40, 41) for j in range(-40, 41) if abs(i) + abs(j) <= 40]
    best = min(risk(K.vector(w)) for w in grid[::3])
    excess = risk(noisy_frank_wolfe(K, data, p, ZeroTape()).w) - best
    assert excess <= empirical_risk(K, p) + 1e-9
    assert T > 1 or excess > empirical_risk(K, p) / 100


@pytest.mark.statement("thm:l1_glm", kind="searched")
def test_parameters_of_the_theorem() -> None:
    K = MP(30)
    n, J, L = 5000, 20, K.log(K(10**6))
    T = n / (K.log(K(J)) * K.log(K(n)) * K.sqrt(L))
    assert abs(theorem_steps(K, n, J, 1, F(1, 10**6)) - T) <= F(1, 2)
    assert theorem_steps(K, 10, J, F(1, 10), F(1, 10**6)) == 1
    assert abs(theorem_beta(K, n, J, 1, F(1, 10**6), 2, 3, K(5)) - K(2) * K.sqrt(T) / 15) < K("1e-25")
    assert theorem_alpha(K, 10, 2, 3) == 6 * theorem_alpha_printed(K, 10)
    assert abs(steps_without_log(K, n, J, 1, F(1, 10**6)) - T * K.log(K(n))) <= F(1, 2)


@pytest.mark.statement("thm:l1_glm", kind="searched")
def test_calibration() -> None:
    """Printed over tight noise at (1, 1e-6): 15.8 (T = 1) to 3.75 (T = 400), and Gumbel a further 1.84 to 1.86."""
    K, ratios, further = Float64(), [], []
    for T in (1, 2, 5, 10, 20, 50, 100, 400):
        p = made(K, 1000, l1_ball(3), T=T)
        laplace, gumbel = scale_tight(p, K), scale_tight(replace(p, noise="gumbel"), K)
        ratios.append(round(scale_printed(p, K) / laplace, 2))
        further.append(round(laplace / gumbel, 2))
        assert score_range(K, p) / laplace == pytest.approx(float(kov_epsilon0(K, 1, F(1, 10**6), T)))
    assert ratios == [15.77, 11.15, 7.05, 4.99, 4.02, 3.83, 3.79, 3.75]
    assert further[-2:] == [1.84, 1.86]
    assert further[0] == 1.0


@pytest.mark.statement("thm:l1_glm", kind="searched")
@pytest.mark.parametrize("epsilon", [F(1, 10), 1, 8])
def test_printed_noise_is_private_where_lemma_1_says_so(epsilon: F) -> None:
    B = Ball(160)
    for n in (50, 1000):
        p = frank_wolfe_parameters(B, n, GLL1, l1_ball(2), epsilon=epsilon, delta=F(1, 10**6))
        left, right = composition_condition(B, p)
        assert B.le(left, right)
        assert B.le(composed_delta(B, p), B(F(1, 10**6)))
        tight = frank_wolfe_parameters(B, n, GLL1, l1_ball(2), epsilon=epsilon, delta=F(1, 10**6), scale=scale_tight)
        used = composed_delta(B, tight)
        assert abs(float(used.mid) - 1e-6) < 1e-11 or p.T == 1
        assert B.le(used, B(F(1, 10**6)))
        longer = replace(tight.smoothing, R=tight.smoothing.R * B(1 + FEATURE_SLACK))
        assert B.le(composed_delta(B, replace(tight, smoothing=longer)), B(F(1, 10**6))), "longest features"


@pytest.mark.statement("thm:l1_glm", kind="searched")
def test_the_scores_of_two_vertices_move_against_each_other_by_the_range() -> None:
    """Worst replacement on a polytope far from 0: the range is 2DL0R/n, while ‖v‖·‖∇̃ − ∇̃'‖ is 21 times that."""
    K, n = Float64(), 4
    W = box_polytope([10, 10], [11, 11])
    p = replace(made(K, n, W, T=1), oracle=closed_form_oracle)
    change = []
    for y in (-99, 99):
        data = (Example((1, 1), y), *(Example((0, 0)),) * (n - 1))
        trace = Trace()
        noisy_frank_wolfe(K, data, p, ZeroTape(), trace)
        change.append(trace.values("gradient")[0])
    moved = [v @ (change[0] - change[1]) for v in W.vertices(K)]
    assert max(moved) - min(moved) == pytest.approx(score_range(K, p))
    assert max(abs(m) for m in moved) == pytest.approx(11 * score_range(K, p))
    assert norm(K, change[0] - change[1], INF) == pytest.approx(2 / n)


@pytest.mark.statement("thm:l1_glm", kind="searched")
def test_generalisation() -> None:
    """d = 1, f = y·w, W = [−1, 1]: E sup(F_D − F_S) = E|ȳ|, below 2√(2 ln 2/n), for every n; not 0 as √log d says."""
    K = Float64()
    for n in (2, 3, 10, 100, 400):
        bound = generalisation(K, made(K, n, l1_ball(1), T=1))
        exact = float(mean_deviation(n))
        assert 0.2 * bound < exact <= bound
    wide = made(K, 100, l1_ball(50), T=1)
    assert generalisation(K, wide) == pytest.approx(2 * math.sqrt(2 * math.log(100) / 100))
    few = made(K, 100, Polytope([[0] * 50, [1] + [0] * 49, [0, 1] + [0] * 48]), T=1)
    assert generalisation(K, few) < generalisation(K, wide)


@pytest.mark.statement("thm:l1_glm", kind="searched")
def test_the_rate_of_theorem_9_and_without_its_logarithm() -> None:
    """The explicit bound stays within a constant of the printed rate; without ln n in T it is smaller for large n."""
    K, W = MP(30), l1_ball(10)
    L, J, d = math.log(10**6), 20, 10
    for n in (10**3, 10**5, 10**7, 10**9):
        p = made(K, n, W)
        rate = 2 * (L**0.25 * math.sqrt(math.log(J) * math.log(n) / n) + math.sqrt(math.log(d) / n))
        assert excess_risk(K, p) <= 12 * rate
        T = steps_without_log(K, n, J, 1, F(1, 10**6))
        q = made(K, n, W, T=T, beta=math.sqrt(T) / 2, scale=scale_tight) if n <= 10**5 else None
        assert q is None or excess_risk(K, q) < excess_risk(K, p)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 1}, "n = 1 must be an integer of at least 2"),
        ({"W": Polytope([[1, 1]])}, "J = 1 must be at least 2"),
        ({"W": Polytope([[1, 1], [1, 1]])}, "D = 0.0 must be positive"),
        ({"W": Box([0], [1])}, "list its vertices"),
        ({"gll": GLL(Absolute, 1, 1, 2)}, "p = 2 must be 1"),
        ({"epsilon": 0}, "epsilon = 0.0 must be positive"),
        ({"delta": 0}, "delta = 0.0 must lie strictly"),
        ({"start": [2, 2]}, "w1 = .* must lie in W"),
        ({"T": 0}, "T = 0"),
        ({"noise": "gauss"}, "noise"),
        ({"alpha": 4}, "alpha = 4.0 must be less than 4"),
    ],
)
def test_bad_parameters(change: dict[str, object], message: str) -> None:
    good = {"n": 4, "gll": GLL1, "W": l1_ball(2), "epsilon": 1, "delta": "1e-6"}
    with pytest.raises(ValueError, match=message) as refused:
        frank_wolfe_parameters(Float64(), **{**good, **change})  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)


def test_vertices_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match=r"vertices\[1\]\[0\] = nan must be finite"):
        Polytope([[0], [math.nan]])
    with pytest.raises(ValueError, match="finite"):
        Polytope([[math.inf], [0]])


def test_bad_data() -> None:
    K = Float64()
    p = made(K, 2, Simplex(2))
    with pytest.raises(ValueError, match="‖x‖_inf of record 1"):
        checked_points(K, GLL1, (Example((1, 1)), Example((1, 2))), p.W, p.start)
    scaled = noisy_frank_wolfe(K, (Example((1, 1)), Example((1, 2))), p, ZeroTape())
    assert list(scaled.w) == list(noisy_frank_wolfe(K, (Example((1, 1)), Example((0.5, 1))), p, ZeroTape()).w)
    with pytest.raises(ValueError, match="n = 3 must be 2"):
        noisy_frank_wolfe(K, (Example((1, 1)),) * 3, p, ZeroTape())


def test_a_scale_below_its_own_proof_is_refused() -> None:
    """A little less than the tight scale, the printed scale at a large ε, more steps than the scale was made for."""
    K = Float64()
    for noise in ("laplace", "gumbel"):
        tight = made(K, 100, l1_ball(2), T=20, noise=noise, scale=scale_tight)
        with pytest.raises(ValueError, match=r"s = .* must make the run \(epsilon, delta\)-DP: T = 20 selections"):
            replace(tight, s=tight.s * (1 - 2.0**-20))
        with pytest.raises(ValueError, match="T = 21 selections"):
            replace(tight, T=21)
        assert replace(tight, T=21, unproven=True).T == 21
    with pytest.raises(ValueError, match="selections"):
        made(K, 100, l1_ball(1), epsilon=2000, delta=F(1, 10))
    with pytest.raises(ValueError, match="oracle"):
        made(K, 100, l1_ball(2), oracle=oracle_printed)
    with pytest.raises(ValueError, match=r"M = .* must reach"):
        made(K, 100, l1_ball(2), M=Interval(-1, 0))
