"""How far one record moves a phase: bounds, the pairs that attain them, and what breaks them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any, Literal

import pytest
from night import by_day

from reference.convex.counterexamples import expanding_shift
from reference.convex.drift import Average, average_bound, average_quadrature, iterate_bound, iterate_supremum
from reference.convex.moreau import Interval
from reference.convex.oracle import (
    Oracle,
    OracleOutput,
    closed_form_oracle,
    oracle,
    oracle_parameters,
    oracle_printed,
    value_oracle,
)
from reference.convex.phased_noise import quadrature_sigma, tight_sigma
from reference.convex.phased_sgd import (
    PhasedParameters,
    curvature,
    excess_risk,
    excess_risk_closed_form,
    phase_lengths,
    phased_parameters,
    phased_sgd,
    require_bounded,
    sigma_printed,
    step_size,
    theorem_beta_printed,
)
from reference.convex.sensitivity import (
    padded,
    phase_deltas,
    shift_of_output,
    tuned_parameters,
    tuned_risk,
    widest_pair,
)
from reference.numerics.numbers import INF, MP, Ball, Float64, Numbers, Real, norm
from reference.numerics.tape import SeededTape, ZeroTape
from reference.privacy import gaussian_delta, gaussian_mu
from reference.setting import GLL, Absolute, EpsilonInsensitive, Example, L2Ball, WholeSpace
from reference.setting.data import FEATURE_SLACK

F = Fraction
AVERAGES: tuple[Average, ...] = ("first", "last")
K, M = Float64(), MP(40)
APART = (Example((1, 0), 1000), Example((1, 0), -1000))
ABSOLUTE = GLL(Absolute, 1, 1)


@pytest.mark.statement("thm:l2_glm", kind="searched")
@pytest.mark.parametrize("T", [2, 10, 200])
@pytest.mark.parametrize("alpha", [F(1, 3), F(1, 64)])
def test_the_drift_of_the_corrected_oracle_adds_in_quadrature(T: int, alpha: F) -> None:
    """The widest pair reaches the supremum; the linear bound is far above."""
    p = oracle_parameters(K, beta=12, alpha=alpha, L0=1, R=1)
    eta = 1 / 12
    pair = widest_pair(oracle, p, ABSOLUTE, eta, T, gap=1e-10, first=APART)
    supremum = iterate_supremum(K, eta, T, p)
    assert supremum * (1 - 1e-6) <= pair.last <= supremum * (1 + 1e-12)
    assert pair.average <= average_quadrature(K, eta, T, p) * (1 + 1e-12) <= average_bound(K, eta, T, p)
    assert pair.average >= average_quadrature(K, eta, T, p) * 0.98
    assert supremum <= 2 * eta * math.sqrt(1 + float(alpha) ** 2 * (T - 1)) <= iterate_bound(K, eta, T, p)


@pytest.mark.statement("thm:l2_glm", kind="searched")
def test_random_pairs_stay_below_the_supremum() -> None:
    """Random data in two and three dimensions, constrained and not: no pair exceeds it (mutant: one dimension less)."""
    rng, largest = Random(1), 0.0
    for trial in range(150):
        d, T = rng.choice([2, 3]), rng.choice([3, 6])
        p = oracle_parameters(K, beta=10, alpha=rng.choice([F(1, 3), F(1, 10)]), L0=1, R=1)
        eta, W = rng.choice([0.1, 0.03]), rng.choice([WholeSpace(d), L2Ball([0] * d, F(1, 10))])
        runs = []
        first = [rng.gauss(0, 1) for _ in range(d)]
        shared = [([rng.gauss(0, 1) for _ in range(d)], rng.gauss(0, 0.05)) for _ in range(T - 1)]
        for sign in (1, -1):
            u = K.zeros(d)
            for x, y in [(first, 1000 * sign), *shared]:
                unit = K.vector(x) * (1 / math.hypot(*x))
                u = W.project(K, u - oracle(K, u, unit, Absolute(y), p).gradient * eta)
            runs.append(u)
        ratio = norm(K, runs[0] - runs[1], 2) / iterate_supremum(K, eta, T, p)
        assert ratio <= 1 + 1e-12, trial
        largest = max(largest, ratio)
    assert largest > 0.9


def pushing_oracle(K, w, x, ell, p, trace=None):
    """An α-accurate oracle at its worst, for losses that are flat around their label y: ∓α/R on the two sides of y."""
    p.count.calls += 1
    m = w @ x
    exact = ell.subgradient(K, m)
    error = p.alpha / p.R
    derivative = K.clip(exact - error if K.gt(m, K(ell.y)) else exact + error, -p.L0, p.L0)
    return OracleOutput(x * derivative, derivative, m - derivative / p.beta)


@pytest.mark.statement("thm:l2_glm", kind="searched")
@pytest.mark.parametrize("T", [1, 2, 9])
def test_the_linear_bound_is_attained_by_an_oracle_that_pushes(T: int) -> None:
    p = oracle_parameters(K, beta=1, alpha=F(1, 10), L0=1, R=1)
    flat = GLL(lambda y: EpsilonInsensitive(y, 5) if abs(y) < 100 else Absolute(y), 1, 1)
    eta = 0.01

    def capped(*args: object) -> object:
        return (pushing_oracle if abs(args[3].y) < 100 else closed_form_oracle)(*args)  # type: ignore[arg-type,attr-defined]

    # gap = ‖Δ‖·R: x along Δ, so that the errors add up on one line
    pair = widest_pair(capped, p, flat, eta, T, gap=1e9, first=APART)  # type: ignore[arg-type]
    assert pair.last == pytest.approx(iterate_bound(K, eta, T, p), rel=1e-12)
    assert pair.average == pytest.approx(average_bound(K, eta, T, p), rel=1e-12)


@pytest.mark.statement("thm:l2_glm", kind="searched")
def test_the_average_over_the_first_iterates_moves_less() -> None:
    p = oracle_parameters(K, beta=1, alpha=F(1, 10), L0=1, R=1)
    assert average_bound(K, 1.0, 1, p, "first") == 0
    for T in (2, 3, 10):
        mean = sum(iterate_bound(K, 1.0, t, p) for t in range(1, T)) / T
        assert average_bound(K, 1.0, T, p, "first") == pytest.approx(mean)
        mean = sum(iterate_bound(K, 1.0, t, p) for t in range(1, T + 1)) / T
        assert average_bound(K, 1.0, T, p, "last") == pytest.approx(mean)


@pytest.mark.statement("thm:l2_glm", kind="searched")
def test_the_drift_grows_in_one_dimension_only_from_a_flat_start() -> None:
    """Beyond λ = 1 the bound by quadrature is refused; with α = L0R the oracle is constant and nothing moves."""
    p = oracle_parameters(K, beta=12, alpha=F(1, 8), L0=1, R=1)
    with pytest.raises(ValueError, match="be at most 1"):
        iterate_supremum(K, 0.1, 3, p)
    coarse = oracle_parameters(K, beta=1, alpha=1, L0=1, R=1)
    assert iterate_supremum(K, 0.1, 3, coarse) == 0
    assert widest_pair(oracle, coarse, ABSOLUTE, 0.1, 1, gap=0.1, first=APART).last == 0


@pytest.mark.statement("thm:l2_glm", kind="counterexample")
def test_the_quadrature_fails_for_steps_that_expand() -> None:
    """Mutant of the proof: λ = 3 in place of λ ≤ 1 lets the widest pair pass the formula."""
    p = oracle_parameters(K, beta=36, alpha=F(1, 64), L0=1, R=1)
    eta, T = 1 / 12, 50
    pair = widest_pair(closed_form_oracle, p, ABSOLUTE, eta, T, gap=2 / 36, first=APART)
    half = 1 / 64
    assert pair.last > 3 * 2 * eta * math.sqrt((1 - half) ** 2 + half**2 * (T - 1))
    grown = 4 * eta**2 * (1 + (T - 1) * (1 - 2 / 3))
    assert pair.last == pytest.approx(math.sqrt(grown), rel=1e-9)


# --------------------------------------------------------------------------------------------- privacy


@pytest.mark.statement("thm:l2_glm", kind="enclosed")
@pytest.mark.parametrize("n", [2, 6, 100, 4096, 10**6])
def test_printed_and_tight_noise_are_private(n: int) -> None:
    """δ_G(ε, Δ_k/σ_k) ≤ δ for every phase, on balls; the tight noise uses δ up."""
    B = Ball(160)
    for epsilon, delta in ((1, F(1, 10**6)), (F(1, 10), F(1, 10**12)), (3, F(1, 10**5)), (F(1, 2), F(1, 2))):
        for W in (L2Ball([0, 0], 1), WholeSpace(2)):
            p = phased_parameters(B, n, ABSOLUTE, W, epsilon=epsilon, delta=delta)
            assert all(B.le(d, B(delta)) for d in phase_deltas(B, p))
            q = replace(p, sigma=tight_sigma)
            assert all(B.le(d, B(delta)) for d in phase_deltas(B, q))
            assert all(B.ge(d, B(delta * (1 - F(1, 10**6)))) for d in phase_deltas(B, q))


@pytest.mark.statement("thm:l2_glm", kind="searched")
def test_the_numbers_of_the_privacy_proof() -> None:
    shares = {n: (n // 2 - 1) / (n * math.log(n)) for n in range(2, 5000)}
    assert max(shares, key=shares.__getitem__) == 6
    assert max(shares.values()) == pytest.approx(0.187, abs=1e-3)
    rate = (1 + max(shares.values())) / 2
    assert rate == pytest.approx(0.594, abs=1e-3)
    mu = rate / 2  # times ε/√L
    assert (mu, mu * mu / 2, mu * math.sqrt(2)) == pytest.approx((0.297, 0.0441, 0.42), abs=1e-3)
    assert 0.0441 * 13 + 0.42 <= 1
    assert math.exp(-1 / 169) > 0.994
    assert rate / 2 * 1 / math.sqrt(2 * math.pi) < 0.12  # μ ≤ 0.297 where ε ≤ √L


@pytest.mark.statement("thm:l2_glm", kind="searched")
def test_tight_noise_is_three_and_a_half_times_less() -> None:
    M = MP(30)
    p = phased_parameters(M, 4096, ABSOLUTE, L2Ball([0, 0], 1), epsilon=1, delta="1e-6")
    rho = 1 / (2 * M.sqrt(M.log(M(10**6))))
    eta = step_size(M, p) / 4
    ratios = [4 * eta / rho / tight_sigma(M, rho, eta, T, p) for T in (1, 2048)]
    assert float(ratios[0]) == pytest.approx(2 * float(gaussian_mu(M, 1, "1e-6")) / float(rho), rel=1e-9)
    assert float(ratios[0]) == pytest.approx(3.52, abs=0.005)
    assert 3.3 < float(ratios[1]) < 3.52
    sharper = quadrature_sigma(M, rho, eta, 2048, p)
    assert sharper < tight_sigma(M, rho, eta, 2048, p)
    assert float(4 * eta / rho / sharper) == pytest.approx(3.52, abs=0.005)


@pytest.mark.statement("thm:l2_glm", kind="searched")
@pytest.mark.parametrize("average", ["first", "last"])
def test_the_tuned_step_size(average: Average) -> None:
    """The closed form covers the sum, λ ≤ 2, it beats the printed step; for "first" no other does better."""
    sizes = by_day(((1, 10, 20), (1, 50)), ((1, 4, 10, 20), (1, 2, 50)))
    targets = ((F(1), "1e-6"), (F(1, 10), "1e-10"), (F(2), "0.001"))
    for j, d, (epsilon, delta) in product(*sizes, by_day(targets[:2], targets)):
        W = L2Ball([0] * d, F(1, 2))
        plain = phased_parameters(M, 2**j, ABSOLUTE, W, epsilon=epsilon, delta=delta, average=average)
        tuned = tuned_parameters(M, plain)
        bound = excess_risk(M, tuned)
        assert bound <= tuned_risk(M, plain), (j, d)
        assert curvature(M, tuned) < 1.23
        others = [
            excess_risk(M, replace(tuned, stretch=tuned.stretch * f))
            for f in (0.5, 0.8, 1.25, 2)
            if curvature(M, tuned) * f < 2
        ]
        assert average == "last" or bound <= 1.01 * min(others) or tuned_risk(M, plain) > 1, (j, d, bound, others)
        tight = replace(plain, sigma=tight_sigma)
        assert bound <= excess_risk(M, tight) * (1 + 1e-9) or bound > 1


@pytest.mark.statement("thm:l2_glm", kind="enclosed")
def test_the_tuned_run_is_private() -> None:
    B = Ball(160)
    for average in AVERAGES:
        p = phased_parameters(B, 1024, ABSOLUTE, L2Ball([0, 0], 1), epsilon=1, delta="1e-6", average=average)
        assert all(B.le(d, B("1e-6")) for d in phase_deltas(B, tuned_parameters(B, p)))


@pytest.mark.statement("thm:l2_glm", kind="searched")
def test_what_the_tuned_step_gains() -> None:
    """At (1, 1e-6): 3.7 times less before √d/n, six times before 1/√n."""
    p = phased_parameters(M, 2**40, ABSOLUTE, L2Ball([0], F(1, 2)), epsilon=1, delta="1e-6", average="first")
    assert float(excess_risk_closed_form(M, p) / tuned_risk(M, p)) == pytest.approx(12.56 / 2.133, rel=1e-2)
    with pytest.raises(ValueError, match=r"rounding adds that much; take MP\(40\)"):
        tuned_risk(
            K, phased_parameters(K, 2**20, ABSOLUTE, L2Ball([0], F(1, 2)), epsilon=1, delta="1e-6", sigma=tight_sigma)
        )
    wide = phased_parameters(K, 2**10, ABSOLUTE, L2Ball([0] * 2000, F(1, 2)), epsilon=1, delta="1e-6", average="first")
    assert excess_risk_closed_form(K, wide) / tuned_risk(K, wide) == pytest.approx(3.6, abs=0.2)


@pytest.mark.statement("thm:l2_glm", kind="measured")
def test_a_tuned_run_keeps_its_bound() -> None:
    """A linear loss in the plane, n = 256, D = 1: the mean excess of seeded runs is below the bound, not far."""
    n, W = 256, L2Ball([0, 0], F(1, 2))
    p = tuned_parameters(K, phased_parameters(K, n, ABSOLUTE, W, epsilon=1, delta="1e-6", average="first"))
    data = [Example((1, 0), 1000)] * n  # the loss has slope −1 everywhere: the minimiser is (½, 0)
    found = [0.5 - float(phased_sgd(K, data, p, SeededTape(seed)).w[0]) for seed in range(by_day(60, 200))]
    assert 0.1 * excess_risk(K, p) < math.fsum(found) / len(found) < excess_risk(K, p)


def test_steps_that_expand_are_not_certified() -> None:
    beta = theorem_beta_printed(K, 4096, 1, 1)
    given = {"epsilon": 1, "delta": "1e-6", "beta": beta}
    with pytest.raises(ValueError, match="be at most 2"):
        phased_parameters(K, 4096, ABSOLUTE, L2Ball([0, 0], 24), **given)  # type: ignore[arg-type]
    p = phased_parameters(K, 4096, ABSOLUTE, L2Ball([0, 0], 24), **given, unproven=True)  # type: ignore[arg-type]
    assert curvature(K, p) == 4
    with pytest.raises(ValueError, match="be at most 2"):
        phase_deltas(K, p)
    expanding = replace(p, sigma=tight_sigma)
    with pytest.raises(ValueError, match="be at most 2"):
        phased_sgd(K, [Example((1, 0), 0)] * 4096, expanding, ZeroTape())


# ------------------------------------------------------------------ noise and run cannot be combined wrongly


def made(**more: object) -> PhasedParameters:
    given = {"epsilon": 1, "delta": "1e-6", **more}
    return phased_parameters(K, 16, ABSOLUTE, L2Ball([0, 0], F(1, 2)), **given)  # type: ignore[arg-type]


@pytest.mark.statement("thm:l2_glm", kind="searched")
def test_the_tight_rule_follows_the_average_of_the_run() -> None:
    """Noise for u_0..u_{T−1} is 0 in the last phase: with the other average it would release a record as it is."""
    first, last = made(sigma=tight_sigma, average="first"), made(sigma=tight_sigma)
    eta = step_size(K, last)
    assert tight_sigma(K, 1, eta, 1, first) == 0 < tight_sigma(K, 1, eta, 1, last)
    changed = replace(first, average="last")
    assert tight_sigma(K, 1, eta, 1, changed) == tight_sigma(K, 1, eta, 1, last)
    assert max(phase_deltas(K, changed)) <= 1e-6

    def of_the_other(K: Numbers, rho: Real, eta: Real, T: int, p: PhasedParameters) -> Real:
        return tight_sigma(K, rho, eta, T, replace(p, average="first", unproven=True))

    with pytest.raises(ValueError, match=r"sigma_1 = .* must be at least .*: one record moves the average of phase 1"):
        made(sigma=of_the_other)
    with pytest.raises(ValueError, match="sigma_1"):
        replace(first, average="last", sigma=of_the_other)
    assert made(sigma=of_the_other, unproven=True).unproven


def test_the_quadrature_rule_is_for_its_oracle() -> None:
    assert made(sigma=quadrature_sigma).sigma is quadrature_sigma
    with pytest.raises(ValueError, match="not be rounded to float64"):
        made(oracle=value_oracle)
    for other in (closed_form_oracle,):
        with pytest.raises(ValueError, match="be the corrected search"):
            made(sigma=quadrature_sigma, oracle=other)
    with pytest.raises(ValueError, match="be at most 1"):
        made(sigma=quadrature_sigma, beta=200)  # η_1βR² > 1


def test_a_run_without_a_proof_is_refused() -> None:
    """Unsound oracles, an M that predictions leave, a little less noise than Δ/μ*."""
    with pytest.raises(ValueError, match="oracle = 'oracle_printed' must be proved"):
        made(oracle=oracle_printed)
    with pytest.raises(ValueError, match=r"M = .* must reach"):
        made(M=Interval(-1, F(1, 4)))
    with pytest.raises(ValueError, match="be the line"):
        phased_parameters(K, 16, ABSOLUTE, WholeSpace(2), epsilon=1, delta="1e-6", M=Interval(-1, 1))
    assert Interval(-1, 1) == made(M=Interval(-1, 1)).smoothing.M

    def less(K: Numbers, rho: Real, eta: Real, T: int, p: PhasedParameters) -> Real:
        return tight_sigma(K, rho, eta, T, p) * K(1 - F(1, 2**30))

    with pytest.raises(ValueError, match="sigma_1"):
        made(sigma=less, oracle=closed_form_oracle)
    assert made(sigma=less).sigma is less  # the corrected search has the quadrature bound to spare
    with pytest.raises(ValueError, match="sigma_1"):
        made(sigma=lambda *given: quadrature_sigma(*given) * (1 - 2.0**-30))


def test_closed_forms_of_the_risk_are_for_the_theorems_parameters() -> None:
    """β = 1/10 or α = 1/10 in place of the theorem's: the closed forms would be false by factors of 3 to 400."""
    W = L2Ball([0], F(1, 2))
    for change in ({"beta": F(1, 10)}, {"alpha": F(1, 10)}, {"D": F(1, 2)}):
        p = phased_parameters(K, 4096, ABSOLUTE, W, epsilon=1, delta="1e-6", **change)  # type: ignore[arg-type]
        for claim in (tuned_risk, excess_risk_closed_form):
            with pytest.raises(ValueError, match=next(iter(change))):
                claim(K, p)
    p = phased_parameters(K, 4096, ABSOLUTE, W, epsilon=1, delta="1e-6")
    assert excess_risk_closed_form(K, replace(p, sigma=tight_sigma)) == excess_risk_closed_form(K, p)
    with pytest.raises(ValueError, match="stretch"):
        excess_risk_closed_form(K, tuned_parameters(K, p))
    with pytest.raises(ValueError, match="sigma_1"):
        excess_risk_closed_form(K, replace(p, sigma=lambda *given: 2 * sigma_printed(*given)))
    with pytest.raises(ValueError, match="diameter"):
        excess_risk(K, phased_parameters(K, 4096, ABSOLUTE, W, epsilon=1, delta="1e-6", D=F(1, 2)))
    for n in (3, 4095):
        with pytest.raises(ValueError, match="power of two"):
            tuned_risk(K, phased_parameters(K, n, ABSOLUTE, W, epsilon=1, delta="1e-6"))


def test_quadrature_is_for_the_whole_line() -> None:
    p = oracle_parameters(K, beta=1, alpha=F(1, 64), L0=1, R=1, M=Interval(0, 1))
    with pytest.raises(ValueError, match="be the line"):
        iterate_supremum(K, F(1, 2), 4, p)


@pytest.mark.parametrize(("p", "x"), [(2, (F(3, 5), F(4, 5))), (1, (F(1), F(1, 2))), (INF, (F(1, 2), F(1, 2)))])
def test_features_at_the_bound_are_decided_exactly(p: Any, x: tuple[F, F]) -> None:
    """‖x‖_q = R(1 + 2^{−40}) is accepted, and 2^{−80} more is refused, for q = 2, ∞ and 1."""
    gll = GLL(Absolute, 1, 1, p)
    require_bounded(Example(tuple(v * (1 + FEATURE_SLACK) for v in x), 0), gll, 0)
    with pytest.raises(ValueError, match="of record 7"):
        require_bounded(Example(tuple(v * (1 + FEATURE_SLACK + F(1, 2**80)) for v in x), 0), gll, 7)


@pytest.mark.parametrize("drift", ["linear", "quadrature"])
def test_tight_noise_pays_for_the_longest_features_that_are_accepted(drift: Literal["linear", "quadrature"]) -> None:
    """Features of length R(1 + 2^{−40}) are accepted: with them, too, every phase stays below δ, on balls."""
    B, longest = Ball(160), 1 + FEATURE_SLACK
    require_bounded(Example((longest, 0), 0), ABSOLUTE, 0)
    p = phased_parameters(B, 4096, ABSOLUTE, L2Ball([0, 0], 1), epsilon=1, delta="1e-6")
    longer = replace(p.smoothing, R=p.smoothing.R * B(longest))
    rule = quadrature_sigma if drift == "quadrature" else tight_sigma
    bound = iterate_supremum if drift == "quadrature" else average_bound
    for k, T in enumerate(phase_lengths(4096), start=1):
        eta = step_size(B, p) / 4**k
        sigma = rule(B, B(1), eta, T, p)
        assert B.le(gaussian_delta(B, 1, bound(B, eta, T, longer) / sigma), B("1e-6"))


@pytest.mark.statement("thm:l2_glm", kind="counterexample")
def test_beta_without_the_diameter_loses_privacy_gradually() -> None:
    """n = 1024: the larger D, the larger δ(1); at D = 24 the steps do not expand and δ is what was promised."""
    deltas = [expanding_shift(1024, D).delta(1) for D in (24, 48, 96)]
    assert deltas[0] < 1e-6
    assert 1e-3 < deltas[1] < deltas[2]


@pytest.mark.statement("Alg:phased", kind="searched")
def test_the_shift_is_what_algorithm_2_releases() -> None:
    """The pair built on phase 1 and the two runs of the whole algorithm give the same distance."""
    n = 64
    p = phased_parameters(K, n, ABSOLUTE, L2Ball([0, 0], F(1, 2)), epsilon=1, delta="1e-6")
    run: Oracle = oracle
    pair = widest_pair(run, p.smoothing, ABSOLUTE, step_size(K, p) / 4, n // 2, gap=1e-9, first=APART)
    one, two = (phased_sgd(K, padded(z, n), p, ZeroTape()) for z in (pair.dataset, pair.neighbour))
    assert norm(K, one.w - two.w, 2) == pytest.approx(pair.average, rel=1e-12)
    shift = shift_of_output(pair.average, [phase.sigma for phase in one.phases], 0.4)
    assert shift.sigma == pytest.approx(one.phases[0].sigma * math.sqrt(sum(16.0**-k for k in range(6))))
    assert shift.mu == pair.average / shift.sigma


def test_the_tail_bound_of_the_noise_is_a_bound() -> None:
    """P(‖N(0, I_2)‖ ≥ r) = e^{−r²/2} exactly in two dimensions; ours is at least that, and 1 near 0."""
    for r in (0.5, 2.0, 5.0, 10.0):
        bound = shift_of_output(1.0, [1.0], r).outside
        assert math.exp(-r * r / 2) <= bound <= 1
    assert shift_of_output(1.0, [1.0], 10.0).outside < 1e-19
