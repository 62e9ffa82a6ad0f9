"""Section 4: checks of Algorithms 4 and 5, regular spaces, the lemmas and theorems, and what Table 1 says about them.

Printed claims that an erratum corrects are expected to fail (`erratum=`); everything else is expected to hold. The
mutant that a check must catch is named in its docstring.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from audit.checks.evidence import Enclosed, Searched, largest, over_points, upper
from audit.checks.framework import Outcome, check, plain
from audit.checks.mutants import beside, edited, replaced, scaled
from audit.engine.numpy_tape import NumpyTape
from reference.numerics.numbers import INF, Ball, Float64
from reference.paper.editions import edition, errata_of
from reference.paper.events import Trace
from reference.privacy import dp_delta, dp_epsilon, gaussian_delta, gaussian_mu, log_inverse, zcdp_rho
from reference.setting import Example, GemanMcClure, L2Ball, LpBall, Polytope, Sigmoid, SquaredTanh, l1_ball
from reference.smooth import bounds, calibration, sensitivity
from reference.smooth.noisy_sfw import failure_threshold, noisy_sfw, noisy_sfw_printed, noisy_sfw_tight
from reference.smooth.parameters import noisy_plan, poly_plan
from reference.smooth.poly_sfw import poly_sfw, poly_sfw_printed, poly_sfw_tight
from reference.smooth.regular_spaces import kappa_printed, kappa_provable, sign_lower_bound
from reference.smooth.rounds import population_gap, samples_needed
from reference.smooth.transcripts import slices, transcript_law

SPACES, SENSITIVITY = "reference.smooth.regular_spaces", "reference.smooth.sensitivity"
CALIBRATION, BOUNDS = "reference.smooth.calibration", "reference.smooth.bounds"
"""Where the parts are that mutants break."""

_K = Float64()
_B = Ball(192)
"""Balls of 192 bits: three times binary64's, so that cancellations of Section 4's sums leave enough."""


LONGEST = 14
"""log2 of the longest round whose influence sums are scanned."""


def unstretched(K: Any, epsilon: Any, delta: Any, releases: int) -> Any:
    """1: noise as printed, whatever ε is (E4.2)."""
    return K(1)


# ------------------------------------------------------------------------------------ regular spaces


@check(
    "eqn:k_smooth",
    kind=Searched("25 600 pairs, four ρ, binary64"),
    mutants=(
        edited(
            "audit.checks.section4._smoothness_ratio",
            "(rho - 1) * _norms(y, rho) ** 2",
            "0.95 * (rho - 1) * _norms(y, rho) ** 2",
        ),
    ),
)
def power_norms_are_smooth(seed: int) -> Outcome:
    """(3) for ‖·‖_ρ with κ_+ = ρ−1: the largest excess over κ_+‖y‖² on random and nearly extremal pairs. Mutant:
    0.95(ρ−1).
    """
    rng = np.random.default_rng(seed)
    worst, where = 0.0, ""
    for rho in (2.0, 2.5, 4.0, 815 / 64):
        for d, scale in product((1, 2, 3, 10), (0.05, 0.1, 1.0, 10.0)):
            x = rng.standard_normal((400, d))
            x[:100] = np.sign(x[:100])
            y = scale * rng.standard_normal((400, d))
            y[:100] = scale * np.sign(y[:100])
            ratio = _smoothness_ratio(x, y, rho)
            if ratio.max() > worst:
                worst, where = float(ratio.max()), f"ρ = {rho:.4g}, d = {d}, |y| ~ {scale}"
    return Outcome(holds=worst <= 1 + 1e-9, ratio=worst, witness=where)


def _norms(x: np.ndarray[Any, Any], rho: float) -> np.ndarray[Any, Any]:
    result: np.ndarray[Any, Any] = (np.abs(x) ** rho).sum(axis=1) ** (1 / rho)
    return result


def _smoothness_ratio(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], rho: float) -> np.ndarray[Any, Any]:
    size = _norms(x, rho)
    gradient = 2 * size[:, None] ** (2 - rho) * np.sign(x) * np.abs(x) ** (rho - 1)
    excess = _norms(x + y, rho) ** 2 - size**2 - (gradient * y).sum(axis=1)
    result: np.ndarray[Any, Any] = excess / ((rho - 1) * _norms(y, rho) ** 2)
    return result


@check(
    "eqn:k_equiv_norm",
    kind=Searched("20 pairs (d, q): balls of the two sides meet"),
    mutants=(scaled(f"{SPACES}.Regularity.equivalence", "9/10"),),
)
def equivalence_of_the_norms(seed: int) -> Outcome:
    """(4) with the provable κ: ‖x‖_ρ/‖x‖_q is extreme at e_1 and (1, …, 1), where it is 1 and √(κ/κ_+). Mutant: κ
    printed at q = ∞.
    """
    ratios, ok = [], True
    for d, q in product((1, 2, 3, 10, 1000), (2, 3, 20, INF)):
        space = kappa_provable(_B, d, q)
        ones = _B.power(_B(d), Fraction(2) / space.rho - (0 if q == INF else Fraction(2) / Fraction(q)))
        gap = ones - space.equivalence()
        ok = ok and gap.contains(0) and _B.le(_B(1), space.kappa_plus)
        ratios.append(_B.to_float(ones / space.equivalence()))
    return Outcome(ok, max(ratios), numbers=over_points(ratios), note="attained at (1, …, 1)")


# --------------------------------------------------------------------- sensitivities, Theorem 10


@check(
    "eqn:unravel_recur_polySFW",
    kind=Searched("t = 1, 2, 3, 10, 40: balls of the two sides meet"),
    edition="printed",
    mutants=(scaled(f"{SENSITIVITY}.decay", "9/10"), scaled(f"{SENSITIVITY}.unravelled", "9/10")),
)
def coefficients_of_equation_5(seed: int) -> Outcome:
    """a_t^{(k)} = (1−η_k)P_{k,t}, c_t^{(k)} = η_kP_{k,t}, a^{(1)} for ∇^0, all below 1, t ≤ 40. Mutant: a product
    from k+1.
    """
    ok = True
    for t in (1, 2, 3, 10, 40):
        first, a, c = sensitivity.unravelled(_B, t)
        ok = ok and (first - a[0]).contains(0)
        for k in range(1, t + 1):
            eta, left = sensitivity.step_size(_B, k), sensitivity.decay(_B, k, t)
            ok = ok and (a[k - 1] - (1 - eta) * left).contains(0) and (c[k - 1] - eta * left).contains(0)
            ok = ok and _B.lt(a[k - 1], _B(1)) and _B.lt(c[k - 1], _B(1))
    return Outcome(holds=ok)


def _facts(largest: int) -> Outcome:
    ratios = []
    for r in range(largest + 1):
        T = 2**r
        first, second = sensitivity.sum_bound(_B, T), sensitivity.square_sum_bound(_B, T)
        top = top2 = _B(0)
        for k, (total, squares) in enumerate(sensitivity.round_sums(_B, T)):
            top = _B.max(top, _B.sqrt(_B(k + 1)) * total)
            top2 = _B.max(top2, (k + 1) * squares)
        if not (_B.le(top, first) and _B.le(top2, second)):
            return Outcome(holds=False, witness=f"r = {r}")
        ratios.append((upper(top / first), upper(top2 / second)))
    numbers = {f"sum_r{r}": round(x, 4) for r, (x, _) in enumerate(ratios) if r >= 8}
    numbers |= {f"squares_r{r}": round(y, 4) for r, (_, y) in enumerate(ratios) if r >= 8}
    return Outcome(holds=True, ratio=max(max(x) for x in ratios), numbers=numbers, note=f"all k, all r ≤ {largest}")


@check(
    "thm:privacy-polySFW",
    kind=Enclosed("every k, T = 2^r, r ≤ 12"),
    mutants=(scaled(f"{SENSITIVITY}.sum_bound", "9/10"), scaled(f"{SENSITIVITY}.square_sum_bound", "8/10")),
)
def influence_sums_to_twelve(seed: int) -> Outcome:
    """√(k+1)ΣP ≤ 2^r and (k+1)ΣP² ≤ max(2^r, 2^{3r/2}/2) for every k, r ≤ 12: the transcript is (ε/√L)-DP. Mutant: V
    = 0.4·2^{3r/2}.
    """
    return _facts(12)


@check(
    "thm:privacy-polySFW",
    kind=Enclosed("every k, T = 2^r, r ≤ 14"),
    level="standard",
    mutants=(beside(scaled(f"{SENSITIVITY}.sum_bound", "9/10"), replaced("audit.checks.section4.LONGEST", 10)),),
)
def influence_sums_to_fourteen(seed: int) -> Outcome:
    """The same for r ≤ 14."""
    return _facts(LONGEST)


def _transcripts(
    noise: Any, scales: list[Any], rounds: list[tuple[int, ...]], loss: Any, W: Any, data: Any, other: Any
) -> Any:
    laws = [transcript_law(_K, loss, W, slices(d, rounds), scales, noise) for d in (data, other)]
    keys = sorted(laws[0])
    return [laws[0][k] for k in keys], [laws[1][k] for k in keys]


def _random_pairs(seed: int, size: int, count: int) -> list[tuple[tuple[Example, ...], tuple[Example, ...]]]:
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        data = [Example((int(rng.choice((-1, 1))),), int(rng.integers(-1, 2))) for _ in range(size)]
        other = list(data)
        i = int(rng.integers(size))
        flipped = -1 if data[i].y * data[i].x[0] > 0 else 1  # type: ignore[operator]
        other[i] = Example((1,), flipped)
        pairs.append((tuple(data), tuple(other)))
    return pairs


@check(
    "thm:privacy-polySFW",
    kind=Searched("8 pairs, all transcripts, binary64"),
    mutants=(scaled(f"{CALIBRATION}.laplace_scale", "1/100"),),
)
def printed_noise_on_exact_transcripts(seed: int) -> Outcome:
    """R = 2, three vertices far from 0, Laplace noise as printed: exact laws of all transcripts. Mutant: half the
    scale on a linear loss.
    """
    loss, W, b = SquaredTanh(R=1, p=1), Polytope([[2], [3], [Fraction(9, 4)]]), 2
    epsilon, delta = 2, Fraction(1, 100)
    scales = [calibration.laplace_scale(_K, r, b, loss.L0, loss.L1, 1, epsilon, delta) for r in range(2)]
    rounds = [sensitivity.batch_sizes(b, 1), sensitivity.batch_sizes(b, 2)]
    limit = epsilon / math.sqrt(math.log(100))
    worst = 0.0
    for data, other in _random_pairs(seed, 5, 8):
        p, q = _transcripts("laplace", scales, rounds, loss, W, data, other)
        worst = max(worst, dp_epsilon(_K, p, q) / limit)
    return Outcome(
        holds=worst <= 1, ratio=worst, note="log-ratio of the likeliest distinguishing transcript over ε/√log(1/δ)"
    )


@check(
    "thm:privacy-polySFW",
    kind=Searched("4 pairs, two noises, all transcripts, binary64"),
    edition="tight",
    mutants=(scaled(f"{CALIBRATION}.tight_scale", "1/100"),),
)
def tight_noise_on_exact_transcripts(seed: int) -> Outcome:
    """One round, three steps, J = 3: pure ε and (ε, δ), Laplace and Gumbel. Mutant: Gumbel added instead of
    subtracted (see the tests).
    """
    loss, W = SquaredTanh(R=1, p=1), Polytope([[2], [3], [Fraction(9, 4)]])
    sizes = sensitivity.batch_sizes(2, 3)
    worst = 0.0
    noises: tuple[Any, ...] = ("laplace", "gumbel")
    for noise, (data, other) in product(noises, _random_pairs(seed, 4, 4)):
        pure = calibration.tight_scale(_K, 3, 2, loss.L0, loss.L1, 1, 1, 0, noise)
        p, q = _transcripts(noise, [pure], [sizes], loss, W, data, other)
        worst = max(worst, dp_epsilon(_K, p, q))
        approximate = calibration.tight_scale(_K, 3, 2, loss.L0, loss.L1, 1, 1, Fraction(1, 20), noise)
        p, q = _transcripts(noise, [approximate], [sizes], loss, W, data, other)
        worst = max(worst, dp_delta(_K, p, q, 1) * 20)
    return Outcome(holds=worst <= 1, ratio=worst, numbers={"rho_at_(1, 0.05)": zcdp_rho(_K, 1, Fraction(1, 20))})


@check(
    "thm:privacy-polySFW",
    kind=Searched("two noises, r = 8, 12, binary64"),
    edition="tight",
    mutants=(
        scaled(f"{CALIBRATION}.exact_constants_scale", "11/10"),
        scaled(f"{CALIBRATION}.laplace_scale_printed", "9/10"),
    ),
)
def gain_over_the_printed_noise(seed: int) -> Outcome:
    """Printed over tight scale at (1, 1e-6), L1 = 0: at least the quoted 4.97 and 9.94 (r = 8), 9.52 and 19.0 (r =
    12).
    """
    numbers: dict[str, float | int | str] = {}
    quoted = {("laplace", 8): 4.96, ("gumbel", 8): 9.93, ("laplace", 12): 9.52, ("gumbel", 12): 19.0}
    ok = True
    for (noise, r), least in quoted.items():
        printed = calibration.laplace_scale_printed(_K, r, 1, 1, 0, 1, 1, "1e-6")
        ours = calibration.exact_constants_scale(_K, 2**r, 1, 1, 0, 1, 1, "1e-6", noise)  # type: ignore[arg-type]
        numbers[f"{noise}_r{r}"] = round(printed / ours, 3)
        ok = ok and printed / ours >= least
    return Outcome(holds=ok, numbers=numbers)


# ----------------------------------------------------------------------------- the two algorithms


@check(
    "alg:polySFW",
    kind=Searched("one run"),
    mutants=(scaled("reference.smooth.rounds.samples_needed", 2), scaled(f"{SENSITIVITY}.batch_sizes", 2)),
)
def polyhedral_run_is_linear_time(seed: int) -> Outcome:
    """At most two gradients a record, each record in one batch, on a run with all number of records used. Mutant: a
    third evaluation.
    """
    return _counts(poly_sfw, SquaredTanh(R=1, p=1), l1_ball(3, 1), seed)


@check(
    "alg:nSFW",
    kind=Searched("one run"),
    mutants=(scaled("reference.smooth.rounds.samples_needed", 2), scaled(f"{SENSITIVITY}.batch_sizes", 2)),
)
def noisy_run_is_linear_time(seed: int) -> Outcome:
    """The same for Algorithm 5."""
    return _counts(noisy_sfw, SquaredTanh(R=1, p=2), L2Ball([0, 0, 0], 1), seed)


def _counts(algorithm: Any, loss: Any, W: Any, seed: int) -> Outcome:
    R, b = 4, 13
    n = samples_needed(R, b)
    rng = np.random.default_rng(seed)
    scale = 2 if loss.p == 2 else 1
    data = tuple(Example(tuple(Fraction(int(x), scale) for x in rng.choice((-1, 1), 3)), 1) for _ in range(n))
    run = algorithm(_K, loss, W, data, R, b, 1, "1e-3", NumpyTape(seed), exact_budget=True)
    expected = 2 * n - R * b
    ok = run.samples_used == n and run.gradient_evaluations == expected <= 2 * n
    return Outcome(
        holds=ok, ratio=run.gradient_evaluations / (2 * n), numbers={"n": n, "evaluations": run.gradient_evaluations}
    )


@check(
    "alg:polySFW",
    kind=Searched("tagged lines, all; one run of each edition"),
    mutants=(edited("audit.checks.section4.editions_of_algorithm_4", '{"E4.5", "E4.7"}', '{"E4.5"}'),),
)
def editions_of_algorithm_4(seed: int) -> Outcome:
    """Printed and corrected differ exactly on E4.5 and E4.7; with neither applied the run is the printed one."""
    return _editions(poly_sfw_printed, poly_sfw, {"E4.5", "E4.7"}, SquaredTanh(R=1, p=1), l1_ball(2, 1), seed)


@check(
    "alg:nSFW",
    kind=Searched("tagged lines, all; one run of each edition"),
    mutants=(edited("audit.checks.section4.editions_of_algorithm_5", '{"E4.1", "E4.2", "E4.5"}', '{"E4.1", "E4.5"}'),),
)
def editions_of_algorithm_5(seed: int) -> Outcome:
    """Printed and corrected differ exactly on E4.1, E4.2 and E4.5."""
    loss, W = SquaredTanh(R=1, p=2), L2Ball([0, 0], 1)
    return _editions(noisy_sfw_printed, noisy_sfw, {"E4.1", "E4.2", "E4.5"}, loss, W, seed)


def _editions(printed: Any, corrected: Any, known: set[str], loss: Any, W: Any, seed: int) -> Outcome:
    data = tuple(Example((Fraction(i % 3 - 1, 2), Fraction(i % 5 - 2, 4)), 1) for i in range(60))
    runs = []
    for algorithm in (printed, edition(printed, corrected, set()), corrected, edition(printed, corrected, known)):
        trace = Trace()
        algorithm(_K, loss, W, data, 3, 5, 20, Fraction(9, 10), NumpyTape(seed), trace=trace, exact_budget=True)
        runs.append([(e.key, str(e.value)) for e in trace])
    ok = errata_of(printed, corrected) == known and runs[0] == runs[1] and runs[2] == runs[3] and runs[0] != runs[2]
    return Outcome(holds=ok, witness=", ".join(sorted(known)))


# --------------------------------------------------------------------------------------- Theorem 13


@check(
    "thm:privacy-noisySFW",
    kind=Enclosed("40 points (ε, δ, one or two releases)"),
    mutants=(
        scaled(f"{CALIBRATION}.gaussian_stretch", "9/10"),
        replaced(f"{CALIBRATION}.gaussian_stretch", unstretched),
    ),
)
def corrected_gaussians_meet_their_target(seed: int) -> Outcome:
    """E4.1 and E4.2 applied: the releases of a step have δ_G ≤ δ on a grid of (ε, δ), decided on balls. Mutant: no
    stretch at (9, 1e-6).
    """
    K = Ball(128)
    shares = []
    epsilons: tuple[Any, ...] = (Fraction(1, 10), 1, 4, 8, 30)
    for epsilon, delta in product(epsilons, ("0.3", "1e-2", "1e-6", "1e-10")):
        for releases in (1, 2):
            mu = K(epsilon) * K.sqrt(K(releases)) / (2 * K.sqrt(log_inverse(K, delta)))
            mu = mu / calibration.gaussian_stretch(K, epsilon, delta, releases)
            value = gaussian_delta(K, epsilon, mu)
            if not K.lt(value, K(Fraction(delta))):
                return Outcome(holds=False, witness=f"ε = {epsilon}, δ = {delta}, {releases} releases")
            shares.append((value / K(Fraction(delta)), f"ε = {epsilon}, δ = {delta}, {releases} releases"))
    limits = {f"16_enough_to_{d}": failure_threshold(d, corrected=True, digits=4)[0] for d in ("1e-2", "1e-6")}
    worst, where = largest(shares)
    seen = over_points([share for share, _ in shares])
    return Outcome(holds=True, ratio=worst, witness=where, numbers=limits | seen)


@check(
    "thm:privacy-noisySFW",
    kind=Searched("one run for each of two p, 32 records a step"),
    edition="tight",
    mutants=(scaled(f"{CALIBRATION}.tight_deviation", "1/2"),),
)
def tight_gaussian_covers_the_largest_change(seed: int) -> Outcome:
    """Along a run, the largest ℓ_2 change of X_t over many records against sd·μ*. Mutant: D·η_t in place of the move
    (E4.1).
    """
    rng = np.random.default_rng(seed)
    worst = 0.0
    mu = gaussian_mu(_K, 1, "1e-6")
    for p in (2, Fraction(3, 2)):
        loss = SquaredTanh(R=1, p=p)
        W = L2Ball([0, 0], 1) if p == 2 else LpBall([0, 0], 1, p)
        data = tuple(Example((Fraction(int(a), 4), Fraction(int(b), 4)), 1) for a, b in rng.integers(-2, 3, (120, 2)))
        trace = Trace()
        run = noisy_sfw_tight(_K, loss, W, data, 8, 30, 1, "1e-6", NumpyTape(seed), trace=trace)
        sizes = sensitivity.batch_sizes(30, 7)
        for t, sigma in enumerate(trace.values("sigma")):
            w, before = run.iterates[t], run.iterates[max(t - 1, 0)]
            keep = 1 - sensitivity.step_size(_K, t) if t else 0
            for angle, y in product(range(16), (-1, 1)):
                a = (math.cos(angle * math.pi / 8), math.sin(angle * math.pi / 8))
                q = 2 if p == 2 else 3
                size = sum(abs(x) ** q for x in a) ** (1 / q) * (1 + 1e-9)
                z = Example((a[0] / size, a[1] / size), y)
                x = loss.gradient(_K, w, z) - loss.gradient(_K, before, z) * keep
                worst = max(worst, 2 * math.sqrt(x @ x) / (sizes[t] * sigma * mu))
    return Outcome(holds=worst <= 1, ratio=worst)


# ------------------------------------------------------------------- Lemmas 12 and 15, recursions


@check(
    "lem:grad-error-polySFW",
    kind=Enclosed("t < 300, J = 2"),
    edition="printed",
    mutants=(scaled(f"{BOUNDS}.gradient_error_printed", "4/10"),),
)
def lemma_12_as_stated(seed: int) -> Outcome:
    """Hoeffding's bound ≤ the printed one, coefficient by coefficient at J = 2, t < 300 (whole batches). Mutant: 4 →
    1 in the second term.
    """
    ratios = []
    for t in range(300):
        for constants in ((1, 0, 1), (0, 1, 1)):
            proved = bounds.gradient_error_closed(_B, t, 1, 2, constants)
            printed = bounds.gradient_error_printed(_B, t, 1, 2, constants)
            if not _B.le(proved, printed):
                return Outcome(holds=False, witness=f"t = {t}")
            ratios.append(upper(proved / printed))
    tight = "√(2 ln J/b)·(P_{0,t}L0 + (L0+L1D)((t+1)/2)^{1/4})"
    note = "the printed proof does not give it: E4.13"
    return Outcome(holds=True, ratio=max(ratios), numbers=over_points(ratios), tight=tight, note=note)


@check(
    "lem:grad-error-noisySFW",
    kind=Enclosed("t < 300"),
    mutants=(
        edited(f"{BOUNDS}.lemma_15_units", "noise, 16 * quarter**3", "noise, 4 * quarter**3"),
        edited(f"{BOUNDS}.lemma_15_units", "16 * quarter, noise", "3 * quarter, noise"),
    ),
)
def lemma_15_as_stated(seed: int) -> Outcome:
    """Needed over claimed in the units of `lemma_15_units`, t < 300. Mutant: 16 → 4 in the noise term."""
    ratios = []
    for t in range(300):
        data, data_claimed, noise, noise_claimed = bounds.lemma_15_units(_B, t)
        if not (_B.le(data, data_claimed) and _B.le(noise, noise_claimed)):
            return Outcome(holds=False, witness=f"t = {t}")
        ratios += [upper(data / data_claimed), upper(noise / noise_claimed)]
    return Outcome(holds=True, ratio=max(ratios), numbers=over_points(ratios))


@check(
    "eqn:recur_gamma_polySFW",
    kind=Enclosed("t < 500"),
    mutants=(
        edited(
            "audit.checks.section4._geometric",
            "_B.le(total, _B.sqrt(_B(t + 1)))",
            "_B.le(total, _B.sqrt(_B(t + 1)) * 49 / 100)",
        ),
    ),
)
def geometric_sum(seed: int) -> Outcome:
    """Σ_{j<t}(1−1/√(t+1))^{2j} ≤ √(t+1), t < 500; the limit of the ratio is 1/2. Mutant: 0.49√(t+1)."""
    return _geometric(500)


@check(
    "eqn:recur_gamma_noisySFW",
    kind=Enclosed("t < 500"),
    edition="printed",
    mutants=(
        edited(
            "audit.checks.section4._geometric",
            "_B.le(total, _B.sqrt(_B(t + 1)))",
            "_B.le(total, _B.sqrt(_B(t + 1)) * 49 / 100)",
        ),
    ),
)
def geometric_sum_again(seed: int) -> Outcome:
    """The same sum; the factor k+1 ≤ t+1 is taken out."""
    return _geometric(500)


def _geometric(limit: int) -> Outcome:
    ratios = []
    for t in range(1, limit):
        x = sensitivity.step_size(_B, t)
        ratio = (1 - x) * (1 - x)
        total = (1 - ratio**t) / (1 - ratio)
        if not _B.le(total, _B.sqrt(_B(t + 1))):
            return Outcome(holds=False, witness=f"t = {t}")
        ratios.append(upper(total / _B.sqrt(_B(t + 1))))
    return Outcome(True, max(ratios), numbers=over_points(ratios), tight="Σ_k P_{k,t}² ≤ √((t+1)/2)")


@check(
    "lem:grad-error-polySFW",
    kind=Searched("the mean of 400 runs, d = 20, T = 16"),
    edition="tight",
    mutants=(scaled(f"{BOUNDS}.gradient_errors", "3/4"), scaled(f"{BOUNDS}.gradient_errors", 4)),
)
def measured_gradient_error(seed: int) -> Outcome:
    """ℓ_∞ error of the estimate for sign gradients, 400 runs, over √(2 ln J·V_t). Mutant: V_t/16."""
    rng = np.random.default_rng(seed)
    d, b, T = 20, 60, 16
    sizes = sensitivity.batch_sizes(b, T)
    claimed = bounds.gradient_errors(_K, sizes, 2 * d, (1, 0, 1))
    error = np.zeros((400, d))
    worst = 0.0
    for t, size in enumerate(sizes):
        eta = 1 / math.sqrt(t + 1)
        fresh = rng.choice((-1.0, 1.0), (400, size, d)).mean(axis=1)
        error = (1 - eta) * error + eta * fresh
        worst = max(worst, float(np.abs(error).max(axis=1).mean()) / claimed[t])
    return Outcome(holds=0.25 < worst <= 1, ratio=worst)


# ----------------------------------------------------------------------------- Theorems 11 and 14


def _round_sums(names: tuple[str, ...]) -> Outcome:
    numbers: dict[str, Any] = {}
    for name in names:
        coefficient, exponent, claimed = bounds.ROUND_CONSTANTS[name]
        limit = bounds.round_sum_limit(_B, coefficient, exponent)
        numbers[f"tight_{name}"] = round(upper(limit), 4)
        for R in range(1, 61):
            total, unit = bounds.round_sum(_B, coefficient, exponent, R), _B.power(_B(2), exponent * R)
            if not (_B.le(total, claimed * unit) and _B.lt(total, limit * unit)):
                return Outcome(holds=False, witness=f"{name}, R = {R}")
    tight = ", ".join(f"{n.strip(chr(39))} → {plain(numbers[f'tight_{n}'])}" for n in names)
    return Outcome(holds=True, numbers=numbers, tight=tight, note="all R ≤ 60")


@check(
    "thm:convergence-polySFW",
    kind=Enclosed("R ≤ 60"),
    mutants=(
        replaced(
            f"{BOUNDS}.ROUND_CONSTANTS",
            bounds.ROUND_CONSTANTS | {"6": (8, Fraction(5, 4), Fraction(29, 5))},
            "5.8 for 6",
        ),
    ),
)
def sums_9_12_6_2(seed: int) -> Outcome:
    """Σ_{r<R} against 9, 12, 6, 2 for all R ≤ 60, with the tight values. Mutant: 5.8 for 6."""
    return _round_sums(("9", "12", "6", "2"))


@check(
    "thm:convergence-noisySFW",
    kind=Enclosed("R ≤ 60"),
    mutants=(
        replaced(
            f"{BOUNDS}.ROUND_CONSTANTS",
            bounds.ROUND_CONSTANTS | {"24'": (32, Fraction(7, 4), Fraction(27, 2))},
            "13.5 for 24",
        ),
    ),
)
def sums_9_24_48_24(seed: int) -> Outcome:
    """Σ_{r<R} against 9, 24, 48, 24 for all R ≤ 60. Mutant: 13.5 for the last."""
    return _round_sums(("9", "24", "48", "24'"))


@check(
    "thm:convergence-polySFW",
    kind=Enclosed("J ≤ 500"),
    edition="printed",
    mutants=(scaled(f"{BOUNDS}.vertex_excess_printed", "1/2"),),
)
def excess_of_the_noisy_vertex(seed: int) -> Outcome:
    """E[α] ≤ 2s·ln J: the exact mean of the largest of J Laplace variables, J ≤ 500. Mutant: ln J, false at J = 2 and
    3.
    """
    ratios = []
    for J in range(2, 501):
        value, claimed = bounds.laplace_excess(_B, J), bounds.vertex_excess_printed(_B, J, _B(1))
        if not _B.le(value, claimed):
            return Outcome(holds=False, witness=f"J = {J}")
        ratios.append(upper(value / claimed))
    tight = "s·ln J for J ≥ 4 (0.75s, 1.125s at J = 2, 3)"
    return Outcome(holds=True, ratio=max(ratios), numbers=over_points(ratios), tight=tight)


@check(
    "thm:convergence-noisySFW",
    kind=Searched("12 points, binary64"),
    edition="printed",
    mutants=(scaled(f"{BOUNDS}.noisy_gap_at_choice", "9/10"),),
)
def last_display_of_theorem_14(seed: int) -> Outcome:
    """The four terms after R and b are put in equal the printed ones. Mutant: κ^{1/2} for κ^{−1/2} in the last."""
    worst = 0.0
    for p, d, n in product((2, Fraction(3, 2), Fraction(21, 20)), (2, 30), (10**5, 10**9)):
        args: tuple[Any, ...] = (n, d, p, (1, 2, 1), Fraction(1, 2), "1e-6")
        printed, computed = bounds.noisy_gap_at_choice_printed(_K, *args), bounds.noisy_gap_at_choice(_K, *args)
        worst = max(worst, *(abs(a / b - 1) for a, b in zip(printed, computed, strict=True)))
    return Outcome(holds=worst < 1e-9, numbers={"largest_relative_difference": worst})


@check(
    "thm:convergence-polySFW",
    kind=Searched("34 points of a grid of 36, binary64"),
    edition="tight",
    mutants=(scaled(f"{BOUNDS}.gap_tight", 5),),
)
def tight_rate(seed: int) -> Outcome:
    """The proven bound at T = steps_tight over 7 times the rate, on a grid. Mutant: the constant 2."""
    worst, where, ratios = 0.0, "", []
    epsilons: tuple[Any, ...] = (Fraction(1, 10), 1, 30)
    for b, J, e in product((10**3, 10**5), (2, 200, 10**6), epsilons):
        for x in (Fraction(1, 100), Fraction(1)):
            try:
                T = bounds.steps_tight(_K, b, J, e, "1e-6")
            except ValueError:
                continue
            constants = (x, 1 - x, 1)
            bound = bounds.gap_tight(_K, T, b, J, constants, e, "1e-6")
            ratio = bound / (bounds.RATE_CONSTANT * bounds.rate_tight(_K, b, J, constants, e, "1e-6"))
            ratios.append(ratio)
            if ratio > worst:
                worst, where = ratio, f"b = {b}, J = {J}, ε = {e}, T = {T}"
    return Outcome(holds=0.1 < worst <= 1, ratio=worst, witness=where, numbers=over_points(ratios))


def _problem(kind: str, p: Any, d: int, seed: int) -> tuple[Any, list[tuple[Example, Fraction]]]:
    """A finite population of 16 records with sign features and labels that no w fits."""
    rng = np.random.default_rng(seed)
    scale = 1 if p == 1 else math.isqrt(d - 1) + 1
    losses: dict[str, Any] = {"squared tanh": SquaredTanh, "sigmoid": Sigmoid, "Geman-McClure": GemanMcClure}
    records = []
    for _ in range(16):
        features = tuple(Fraction(int(s), scale) for s in rng.choice((-1, 1), d))
        records.append(Example(features, int(rng.choice((-1, 1, 1)))))
    return losses[kind](R=1, p=p), [(z, Fraction(1, 16)) for z in records]


PROBLEMS = ("squared tanh", "sigmoid", "Geman-McClure")


def _mean_gap(run: Any, loss: Any, support: Any, W: Any) -> float:
    gaps = [population_gap(_K, loss, support, W, w) for w in run.iterates]
    return float(sum(gaps)) / len(gaps)


def _utility(p: Any, n: int, d: int, runs: int, seed: int) -> Outcome:
    """Mean exact gap over all iterates: corrected against tight, same data and (ε, δ) = (4, 1e-5); each below its
    proven bound.
    """
    numbers: dict[str, float | int | str] = {}
    worst, ok = 0.0, True
    R, b, epsilon, delta = 4, n // 16, 4, "1e-5"
    for kind in PROBLEMS:
        loss, support = _problem(kind, p, d, seed)
        W = l1_ball(d, 1) if p == 1 else L2Ball([0] * d, 1) if p == 2 else LpBall([0] * d, 1, p)
        constants, start = (loss.L0, loss.L1, 2), _K.unit(d, 0)
        if p == 1:
            plan = poly_plan(n, 2 * d, constants, epsilon, delta)
            claimed = bounds.gap_corrected(_K, R, b, 2 * d, constants, epsilon, delta)
        else:
            plan = noisy_plan(n, d, p, constants, epsilon, delta)
            claimed = bounds.noisy_gap_corrected(_K, R, b, d, p, constants, epsilon, delta)
        algorithms: tuple[Any, Any] = (poly_sfw, poly_sfw_tight) if p == 1 else (noisy_sfw, noisy_sfw_tight)
        old = new = 0.0
        for i in range(runs):
            rng = np.random.default_rng((seed, i))
            data = tuple(support[int(j)][0] for j in rng.integers(0, 16, n))
            tape = NumpyTape(seed + i)
            old += (
                _mean_gap(algorithms[0](_K, loss, W, data, R, b, epsilon, delta, tape, start=start), loss, support, W)
                / runs
            )
            run = algorithms[1](_K, loss, W, data, plan.T, plan.b, epsilon, delta, tape, start=start)
            new += _mean_gap(run, loss, support, W) / runs
        worst = max(worst, old / claimed, new / plan.bound)
        ok = ok and old <= claimed and new <= plan.bound and new < old
        numbers |= {
            f"{kind}: corrected": round(old, 4),
            f"{kind}: tight": round(new, 4),
            f"{kind}: T": plan.T,
            f"{kind}: proven (tight)": round(plan.bound, 3),
            f"{kind}: proven (corrected)": round(claimed, 3),
        }
    return Outcome(
        holds=ok,
        ratio=worst,
        numbers=numbers,
        note=f"n = {n}, d = {d}, {runs} runs; tight below corrected on all three",
    )


@check(
    "thm:convergence-polySFW",
    kind=Searched("means of 4 runs on three problems"),
    mutants=(scaled(f"{BOUNDS}.gap_corrected", "1/20"),),
)
def measured_gaps_polyhedral(seed: int) -> Outcome:
    """Three non-convex problems on the ℓ_1 ball, exact population gap. Mutant: a twentieth of the claimed bound."""
    return _utility(1, 600, 8, 4, 1)


@check(
    "thm:convergence-noisySFW",
    kind=Searched("means of 4 runs on three problems"),
    mutants=(scaled(f"{BOUNDS}.noisy_gap_corrected", "1/50"),),
)
def measured_gaps_lp(seed: int) -> Outcome:
    """Three non-convex problems on the ℓ_2 ball, exact population gap."""
    return _utility(2, 600, 6, 4, 1)


@check(
    "thm:convergence-polySFW",
    kind=Searched("means of 4 runs on three problems"),
    level="standard",
    mutants=(
        beside(
            scaled(f"{BOUNDS}.gap_corrected", "1/20"),
            edited("audit.checks.section4.measured_gaps_polyhedral_larger", "1, 4096, 20, 4", "1, 600, 8, 1"),
        ),
    ),
)
def measured_gaps_polyhedral_larger(seed: int) -> Outcome:
    """The same at n = 4096, d = 20."""
    return _utility(1, 4096, 20, 4, 2)


@check(
    "thm:convergence-noisySFW",
    kind=Searched("means of 4 runs on three problems"),
    level="standard",
    mutants=(
        beside(
            scaled(f"{BOUNDS}.noisy_gap_corrected", "1/50"),
            edited("audit.checks.section4.measured_gaps_lp_larger", "4096, 20, 4", "600, 6, 1"),
        ),
    ),
)
def measured_gaps_lp_larger(seed: int) -> Outcome:
    """p = 3/2 at n = 4096, d = 20."""
    return _utility(Fraction(3, 2), 4096, 20, 4, 2)


@check(
    "thm:convergence-polySFW",
    kind=Searched("one run on each of three problems"),
    level="deep",
    mutants=(
        beside(
            scaled(f"{BOUNDS}.gap_corrected", "1/20"),
            edited("audit.checks.section4.measured_gaps_polyhedral_wide", "4096, 500", "600, 8"),
        ),
    ),
)
def measured_gaps_polyhedral_wide(seed: int) -> Outcome:
    """n = 4096, d = 500, J = 1000."""
    return _utility(1, 4096, 500, 1, 3)


@check(
    "thm:convergence-noisySFW",
    kind=Searched("one run on each of three problems"),
    level="deep",
    mutants=(
        beside(
            scaled(f"{BOUNDS}.noisy_gap_corrected", "1/50"),
            edited("audit.checks.section4.measured_gaps_lp_wide", "4096, 500", "600, 6"),
        ),
    ),
)
def measured_gaps_lp_wide(seed: int) -> Outcome:
    """n = 4096, d = 500, p = 2."""
    return _utility(2, 4096, 500, 1, 3)


@check(
    "table:results",
    kind=Searched("ratios at doubled arguments, binary64"),
    mutants=(
        edited(f"{BOUNDS}.rate_printed", "Fraction(1, 3)", "Fraction(1, 4)"),
        edited(f"{BOUNDS}.noisy_rate_printed", "Fraction(1, 5)", "Fraction(1, 4)"),
    ),
)
def rates_of_the_table(seed: int) -> Outcome:
    """Up to the logarithms it says it omits, the Table's two smooth rates are those of Theorems 11 and 14: exponents
    of n, ε, d.

    Exponents are read off as ratios at doubled arguments. Mutant: n^{−1/4} for n^{−1/3}.
    """
    base: tuple[Any, ...] = (10**8, 200, (1, 1, 1), 1, "1e-6")
    log_n = [math.log(10**8), math.log(2 * 10**8)]
    first = bounds.rate_printed(_K, *base) / bounds.rate_printed(_K, 2 * 10**8, *base[1:])
    in_n = math.log2(first * (log_n[1] / log_n[0]) ** (2 / 3))
    in_epsilon = math.log2(bounds.rate_printed(_K, *base) / bounds.rate_printed(_K, 10**8, 200, (1, 1, 1), 2, "1e-6"))
    noisy = [
        bounds.noisy_rate_printed(_K, 10**6, d, 2, (1, 1, 1), Fraction(1, 10**6), "1e-6") for d in (10**6, 2 * 10**6)
    ]
    in_d = math.log2(noisy[1] / noisy[0])
    ok = abs(in_n - 1 / 3) < 1e-9 and abs(in_epsilon - 1 / 3) < 1e-9 and abs(in_d - 1 / 5) < 1e-3
    return Outcome(holds=ok, numbers={"n": in_n, "epsilon": in_epsilon, "d": in_d})


@check(
    "sec:smooth-ncnvx",
    kind=Enclosed("seven d ≤ 16, q = ∞"),
    mutants=(
        scaled(f"{SPACES}.sign_lower_bound", "11/10"),
        edited(
            "audit.checks.section4.provable_kappa",
            "_B.le(_B(needed), space.kappa)",
            "_B.le(_B(needed), kappa_printed(_B, d, INF))",
        ),
    ),
)
def provable_kappa(seed: int) -> Outcome:
    """The provable κ is at least what sign sums need and at least κ_+ ≥ 1, d ≤ 16 and q = ∞. Mutant: the printed κ."""
    worst = Fraction(0)
    for d, columns in ((1, 1), (2, 2), (3, 3), (4, 3), (5, 4), (8, 4), (16, 5)):
        space, needed = kappa_provable(_B, d, INF), sign_lower_bound(d, columns)
        if not (
            _B.le(_B(needed), space.kappa) and _B.le(_B(1), space.kappa_plus) and _B.le(space.kappa_plus, space.kappa)
        ):
            return Outcome(holds=False, witness=f"d = {d}")
        worst = max(worst, upper(_B(needed) / space.kappa))
    return Outcome(holds=True, ratio=worst, note="attained at d = 1, 2")


@check(
    "sec:polySFW",
    kind=Enclosed("R ≤ 12 and four b each; averages for R ≤ 60"),
    mutants=(scaled("reference.smooth.rounds.samples_needed", 2), scaled(f"{BOUNDS}.averaged_constant", "11/10")),
)
def samples_and_averages(seed: int) -> Outcome:
    """ΣΣ⌈b/(t+1)⌉ ≤ bR² for b ≥ 2^{R−1}, R ≤ 12, and the averages over 2^R − 1 iterates with 6.73 for 6. Mutant: b =
    2^{R−1}/2.
    """
    worst = Fraction(0)
    for R in range(1, 13):
        for b in (2 ** (R - 1), 2 ** (R - 1) + 1, 3 * 2 ** (R - 1) - 1, 10 * 2**R + 7):
            worst = max(worst, Fraction(samples_needed(R, b), b * R * R))
    ok = worst <= 1
    corrected = {"9": 9, "12": 12, "6": Fraction(673, 100), "2": Fraction(2000001, 10**6)}
    for name, limit in corrected.items():
        coefficient, exponent, _ = bounds.ROUND_CONSTANTS[name]
        ok = ok and all(_B.lt(bounds.averaged_constant(_B, coefficient, exponent, R), _B(limit)) for R in range(1, 61))
    return Outcome(holds=ok, ratio=worst)


@check(
    "sec:noisySFW",
    kind=Enclosed("x = 1/10, …, 399/10; d = 1, 2"),
    mutants=(
        edited("audit.checks.section4.mean_of_the_largest_gaussian", "_B.exp(-x / 2)):", "_B.exp(-x)):"),
        edited("audit.checks.section4.mean_of_the_largest_gaussian", "2 * (1 + _B.log(_B(2)))", "2 * _B.log(_B(2))"),
    ),
)
def mean_of_the_largest_gaussian(seed: int) -> Outcome:
    """E max_j g_j² ≤ 2(1 + ln d): exact at d = 1, 2 (1 and 1 + 2/π); by Σ_j P(g_j² > x) ≤ 2d·e^{−x/2}/2 integrated
    for all d.

    E max ≤ 2 ln d + d∫_{2 ln d}^∞ e^{−x/2}dx = 2 ln d + 2, using P(|g| > √x) ≤ e^{−x/2}, which is checked on a grid.
    Mutant: 2 ln d.
    """
    worst = Fraction(0)
    for i in range(1, 400):
        x = _B(Fraction(i, 10))
        tail = 2 * _B.normal_cdf(-_B.sqrt(x))
        if not _B.le(tail, _B.exp(-x / 2)):
            return Outcome(holds=False, witness=f"x = {i}/10")
        worst = max(worst, upper(tail / _B.exp(-x / 2)))
    small = _B.le(_B(1), _B(2)) and _B.le(1 + 2 / _B.pi, 2 * (1 + _B.log(_B(2))))
    return Outcome(holds=small, ratio=worst)


@check(
    "sec:results",
    kind=Searched("five p"),
    mutants=(edited("reference.smooth.noisy_sfw._prepare", 'require(ok, "p"', 'require(True, "p"'),),
)
def exponents_that_algorithm_5_takes(seed: int) -> Outcome:
    """1 < p ≤ 2 runs, p = 1 and p > 2 are refused with one line. Mutant: accepting p = 1."""
    data = tuple(Example((Fraction(1, 2), 0), 1) for _ in range(4))
    accepted = []
    for p in (1, Fraction(101, 100), Fraction(3, 2), 2, 3):
        W = LpBall([0, 0], 1, p)
        try:
            noisy_sfw(_K, SquaredTanh(R=1, p=p), W, data, 1, 4, 1, "0.01", NumpyTape(seed))
        except ValueError as error:
            accepted.append("\n" in str(error))
        else:
            accepted.append(True)
    return Outcome(holds=accepted == [False, True, True, True, False])


@check(
    "eqn:k_smooth",
    kind=Searched("seven pairs (d, q), binary64"),
    edition="printed",
    mutants=(scaled(f"{SPACES}.kappa_printed", "9/10"),),
)
def printed_kappa_where_it_is_q_minus_one(seed: int) -> Outcome:
    """Where q − 1 ≤ 2 ln d the printed κ is q − 1, which is provable: equal to (ρ−1) at ρ = q. Mutant: q − 2."""
    pairs = [(d, q) for d, q in product((3, 10, 100), (2, 3, 5)) if q - 1 <= 2 * math.log(d)]
    worst = max(kappa_provable(_K, d, q).kappa / kappa_printed(_K, d, q) for d, q in pairs)
    return Outcome(holds=worst <= 1 + 1e-12, ratio=worst, numbers={"pairs": len(pairs)})
