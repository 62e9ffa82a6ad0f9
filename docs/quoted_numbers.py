"""Every number that README.md, docs/tour.md and examples/README.md quote: one table, name → what computes it.

Nothing is looked up and nothing here is the home of a formula: each entry calls the code that it quotes, so a change
that moves a finding makes the quotation fail (`dpso trace --check`). `docs.markers` says how a text quotes an entry,
`docs.make_tour` draws the tour's figures from the same functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import numpy as np

from audit.accounting.accountants import account, noise_ratio
from audit.auditor.api import audit_dp
from audit.checks.proofs import ledger
from audit.checks.proofs.steps import StepStatus
from audit.checks.results import read_record, tally
from audit.checks.scale import GRADES, Grade
from audit.report.grades import SEVERITY_WORDS
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex.counterexamples import (
    DELTA,
    EPSILON,
    UNSOUND,
    expanding_shift,
    square_without_half_beta,
    unsound_shift,
    values_stall_in_binary64,
)
from reference.convex.moreau import envelope_derivative
from reference.convex.oracle import (
    OracleParameters,
    oracle,
    oracle_evaluations,
    oracle_evaluations_printed,
    oracle_parameters,
    oracle_printed,
)
from reference.convex.phased_sgd import PhasedParameters, excess_risk, phased_parameters
from reference.convex.sensitivity import Shift, tuned_parameters
from reference.numerics.numbers import Float64, Real
from reference.paper.editions import edition
from reference.paper.inventory import FALSIFYING, SEVERITIES, load
from reference.privacy import SelectionNoise, gaussian_mu, log_inverse
from reference.setting.losses import GLL, Absolute, PiecewiseLinear
from reference.setting.sets import L2Ball, l1_ball
from reference.smooth import bounds
from reference.smooth.calibration import exact_constants_scale, laplace_scale_printed
from reference.smooth.counterexamples import noise_for_the_wrong_step, rounds_of_the_statement
from reference.smooth.leaks import private_up_to
from reference.smooth.noisy_sfw import failure_threshold
from reference.smooth.parameters import poly_parameters, poly_plan

K = Float64()
TARGET = (Fraction(1), Fraction(1, 10**6))
"""(ε, δ) at which noise is compared, in README.md and in the tour."""
LARGEST_N = 4096
"""The size of the datasets on which the texts show what Algorithm 2 loses."""

# ------------------------------------------------------------------------------------- the paper as a whole


@cache
def _grades() -> Counter[Grade]:
    """The recorded verdicts on the paper's numbered statements, by grade."""
    return tally(read_record()["grades"])


def _steps(status: StepStatus) -> Callable[[], int]:
    """How many steps of proofs are recorded as this."""

    def count() -> int:
        record = ledger.read_record()
        return sum(ledger.recorded(one, record) == status for one in ledger.steps())

    return count


def _said(grade: Grade) -> Callable[[], int]:
    """How many numbered statements have this grade on record."""
    return lambda: _grades()[grade]


def _of_severity(severity: str) -> Callable[[], int]:
    """How many errata have this severity."""
    return lambda: sum(erratum.severity == severity for erratum in load().errata)


# ------------------------------------------------------------- Algorithm 1: random losses, and one in detail


def _random_loss(generator: Random) -> PiecewiseLinear:
    """A convex piecewise linear loss with slopes in [−1, 1]."""
    slopes = sorted(Fraction(generator.randint(-1024, 1024), 1024) for _ in range(4))
    kinks = sorted(generator.sample(range(-4096, 4096), 3))
    return PiecewiseLinear([Fraction(k, 1024) for k in kinks], slopes)


TRIALS = 500
"""On how many random convex losses the oracle is tried."""


@cache
def oracle_zeros() -> tuple[int, int]:
    """On how many of them the printed oracle returns exactly 0, and on how many the corrected one."""
    generator, one = Random(0), K.vector([1])
    p = oracle_parameters(K, beta=4, alpha=Fraction(1, 256), L0=1, R=1)
    printed = corrected = 0
    for _ in range(TRIALS):
        ell, w = _random_loss(generator), K.vector([Fraction(generator.randint(-4096, 4096), 1024)])
        printed += oracle_printed(K, w, one, ell, p).derivative == 0
        corrected += oracle(K, w, one, ell, p).derivative == 0
    return printed, corrected


ALL = frozenset({"E3.1", "E3.2", "E3.3", "E3.4"})
"""The errata of Algorithm 1."""
TILT = Fraction(2, 5)
"""The slope of the tour's loss on the right."""
BETA = 4
"""The smoothing of the tour."""


def tour_loss() -> PiecewiseLinear:
    """ℓ(u) = max(−u, 2u/5): the loss of the tour."""
    return PiecewiseLinear([0], [-1, TILT])


def shifted_loss() -> PiecewiseLinear:
    """The same with its kink at −2/5: for β = 1 the left quarter point is higher, and the minimiser is left."""
    return PiecewiseLinear([-TILT], [-1, TILT])


def tour_oracle() -> OracleParameters:
    """β = 4, α = 2^{−10}, L0 = R = 1."""
    return oracle_parameters(K, beta=BETA, alpha=Fraction(1, 1024), L0=1, R=1)


def derivative(errata: frozenset[str], m: Fraction) -> float:
    """What Algorithm 1 with these errata applied returns at the prediction m."""
    call = edition(oracle_printed, oracle, errata)
    return float(call(K, K.vector([m]), K.vector([1]), tour_loss(), tour_oracle()).derivative)


def truth(m: Fraction) -> float:
    """The derivative of the smoothed loss at m."""
    return float(envelope_derivative(K, tour_loss(), BETA, K(m)))


GRID = [Fraction(i, 200) for i in range(-120, 121)]
"""Predictions at which the editions are compared."""


@cache
def largest_error(errata: frozenset[str]) -> float:
    """The largest error of an edition on the grid, in units of α."""
    worst = max(abs(derivative(errata, m) - truth(m)) for m in GRID)
    return float(worst / tour_oracle().alpha)


def halving_error() -> float:
    """The error of the unsound halving on the shifted loss at m = 0, β = 1, asked for α = 1e-12."""
    p = oracle_parameters(K, beta=1, alpha=Fraction(1, 10**12), L0=1, R=1)
    found = edition(oracle_printed, oracle, UNSOUND)(K, K.vector([0]), K.vector([1]), shifted_loss(), p).derivative
    return abs(float(found - envelope_derivative(K, shifted_loss(), 1, K(0))))


# --------------------------------------------------------------------- Algorithm 2: what it does to privacy


@cache
def shift(n: int, errata: frozenset[str]) -> Shift:
    """How far one record moves the output of Algorithm 2, measured on the widest pair that we know."""
    return unsound_shift(n, errata)


@cache
def mu_allowed() -> float:
    """The largest distance in standard deviations that (1, 1e-6)-DP allows."""
    return float(gaussian_mu(K, EPSILON, DELTA))


def unsound_delta() -> float:
    """A lower bound on δ(1) of Algorithm 2 with the halving search, n = 4096; the target is 1e-6."""
    return shift(LARGEST_N, UNSOUND).delta(EPSILON)


def phased_noise_ratio() -> float:
    """Printed over tight σ_k before the α term at the target: (4/ρ)/(2/μ*), ρ = ε/(2√L)."""
    epsilon, delta = TARGET
    rho = epsilon / (2 * K.sqrt(log_inverse(K, delta)))
    return float(4 / rho / (2 / gaussian_mu(K, epsilon, delta)))


def phased_setting() -> PhasedParameters:
    """Algorithm 2 with printed step and noise: n = 2²⁰, d = 10, L0 = R = D = 1, at the target."""
    W = L2Ball([0] * 10, Fraction(1, 2))
    epsilon, delta = TARGET
    return phased_parameters(K, 2**20, GLL(Absolute, 1, 1), W, epsilon=epsilon, delta=delta, average="first")


# ------------------------------------------------------------------------------------- Algorithms 3 to 5


def _frank_wolfe_ratio(noise: SelectionNoise) -> float:
    """Printed Laplace scale of Algorithm 3 over the tight scale of this noise, for T = 400 steps."""
    epsilon, delta = TARGET
    gll, W = GLL(Absolute, 1, 1, 1), l1_ball(2, 1)
    scales = [
        nfw.frank_wolfe_parameters(K, 1000, gll, W, epsilon=epsilon, delta=delta, T=400, noise=noise, scale=rule).s
        for rule in (nfw.scale_printed, nfw.scale_tight)
    ]
    return float(scales[0] / scales[1])


def _poly_ratio(r: int) -> float:
    """Printed scale over the tight Gumbel scale of Algorithm 4 in a round of 2^r steps."""
    epsilon, delta = TARGET
    printed = laplace_scale_printed(K, r, 4096, 1, 1, 1, epsilon, delta)
    return float(printed / exact_constants_scale(K, 2**r, 4096, 1, 1, 1, epsilon, delta, "gumbel"))


POLY = (10**6, 200)
"""n and J of the bounds on the stationarity gap; L0 = D = 1, L1 = 0, where the trivial bound is 1."""


def _poly_gap_printed() -> Real:
    plan = poly_parameters(*POLY, *TARGET)
    return bounds.gap_printed(K, plan.R, plan.b, POLY[1], (1, 0, 1), *TARGET)


SFW_DELTA = TARGET[1]
"""The target δ of Algorithm 5."""


@cache
def noisy_threshold(corrected: bool = False) -> float:
    """The ε up to which Algorithm 5's constant 16 is enough for (ε, 1e-6): with the printed step, or the right one."""
    return float(sum(failure_threshold(SFW_DELTA, corrected=corrected, digits=4)) / 2)


@cache
def wrong_step() -> dict[str, float]:
    """What printed Algorithm 5 releases on a pair of runs: δ(3) for the target (3, 1e-6), mended and output alone."""
    found = noise_for_the_wrong_step()
    assert found.shown
    return {name: float(value) for name, value in found.numbers.items()}


@cache
def spare(algorithm: str) -> float:
    """How many times more noise the corrected variant uses than the tightest that we prove, at (1, 1e-6)."""
    ratio = noise_ratio(account(algorithm, "corrected", *TARGET), account(algorithm, "tight", *TARGET))
    assert ratio is not None
    return ratio


# ------------------------------------------------------------------------------------- examples/README.md


@cache
def _reach(confidence: float) -> float:
    """The ε that an audit of a claim of 1 would report with probability 0.95, with 50,000 draws a side."""

    def noisy_mean(dataset: Sequence[float], size: int, rng: np.random.Generator) -> np.ndarray:
        return float(np.mean(dataset)) + rng.laplace(scale=1 / len(dataset), size=size)

    found = audit_dp(
        noisy_mean, [0.2, 0.4, 0.0], [0.2, 0.4, 1.0], epsilon=1.0, samples=50_000, confidence=confidence, seed=2024
    )
    assert found.verdict == "consistent"
    return found.would_detect


# ------------------------------------------------------------------------------------------------ the table


NAMED = ("E3.1", "E3.2", "E3.3", "E3.4", "E3.10", "E4.1", "E4.2", "E4.3", "E4.6", "E4.30", "E5.2")
"""The errata whose words are quoted."""
WORD = "word_"
"""How the markers begin that quote what the record of errata says: `word_E4_3`."""


def _word(id: str) -> Callable[[], str]:
    """The word of an erratum's severity."""

    def word() -> str:
        erratum = load().erratum(id)
        return SEVERITY_WORDS[erratum.severity] if erratum else "unknown"

    return word


NUMBERS: dict[str, Callable[[], Any]] = {
    # the inventory
    "statements": lambda: len(load().statements),
    "algorithms": lambda: len(load().algorithms),
    "algorithm_lines": lambda: sum(len(algorithm.lines) for algorithm in load().algorithms),
    "equations": lambda: len(load().equations),
    "errata": lambda: len(load().errata),
    **{f"{severity}_errata": _of_severity(severity) for severity in SEVERITIES},
    "falsifying_errata": lambda: sum(erratum.severity in FALSIFYING for erratum in load().errata),
    "free_repairs": lambda: sum(erratum.cost_kind == "free" for erratum in load().errata),
    "repairs_free_in_range": lambda: sum(erratum.cost_kind == "free in range" for erratum in load().errata),
    # recorded verdicts on the numbered statements, each grade by its name; they add up to all of them
    **{f"graded_{grade}": _said(grade) for grade in GRADES if grade not in ("unexpected", "unchecked")},
    # the ledger of proofs: steps, and those recorded as proved by machine, on paper, cited
    "proof_steps": lambda: len(ledger.steps()),
    "proved_steps": _steps("proved"),
    "paper_steps": _steps("paper"),
    "cited_steps": _steps("cited"),
    "proved_share": lambda: 100 * _steps("proved")() // len(ledger.steps()),
    # Algorithm 1
    "oracle_trials": lambda: TRIALS,
    "printed_oracle_zeros": lambda: oracle_zeros()[0],
    "corrected_oracle_zeros": lambda: oracle_zeros()[1],
    "largest_printed_output": lambda: max(abs(derivative(frozenset(), m)) for m in GRID),
    "error_printed": lambda: largest_error(frozenset()),
    "error_comparison": lambda: largest_error(frozenset({"E3.1"})),  # the comparison turned round
    "error_halving": lambda: largest_error(UNSOUND),  # and the square's factor: what is left is the unsound halving
    "error_corrected": lambda: largest_error(ALL),
    "derivative_without_factor": lambda: float(square_without_half_beta().numbers["found"]),  # where 1 is the truth
    "stall_by_values": lambda: float(values_stall_in_binary64().numbers["best midpoint by value"]),  # over α, n = 10⁷
    "steps_printed": lambda: oracle_evaluations_printed(K, tour_oracle()),  # values of the loss a call
    "steps_corrected": lambda: oracle_evaluations(K, tour_oracle()),  # subgradients a call
    "halving_error": halving_error,
    # Algorithm 2
    "mu_allowed": mu_allowed,
    "mu_halving": lambda: shift(LARGEST_N, UNSOUND).mu,
    "mu_repaired": lambda: shift(LARGEST_N, ALL).mu,  # on the pair that was built against it
    "unsound_delta": unsound_delta,
    "times_over_target": lambda: unsound_delta() / float(DELTA),
    "expanding_delta": lambda: expanding_shift(LARGEST_N, 48).delta(1),  # the β of Theorem 6's statement, D = 48
    "phased_noise_ratio": phased_noise_ratio,
    "phased_risk": lambda: float(excess_risk(K, phased_setting())),
    "phased_risk_tuned": lambda: float(excess_risk(K, tuned_parameters(K, phased_setting()))),
    "spare_phased": lambda: spare("Alg:phased"),
    # Algorithm 3
    "frank_wolfe_noise_ratio": lambda: _frank_wolfe_ratio("laplace"),
    "frank_wolfe_gumbel_ratio": lambda: _frank_wolfe_ratio("gumbel"),
    "spare_frank_wolfe": lambda: spare("Alg:nfw"),
    # Algorithm 4
    "poly_gumbel_ratio": lambda: _poly_ratio(8),
    "poly_gumbel_ratio_long": lambda: _poly_ratio(14),
    "poly_gap_printed": lambda: float(_poly_gap_printed()),
    "poly_gap_tight": lambda: float(poly_plan(*POLY, (1, 0, 1), *TARGET).bound),
    "spare_poly": lambda: spare("alg:polySFW"),
    # Algorithm 5
    "noisy_threshold": noisy_threshold,
    "sixteen_enough_to": lambda: noisy_threshold(corrected=True),
    "noisy_delta": lambda: wrong_step()["delta_at_3"],
    "noisy_delta_repaired": lambda: wrong_step()["repaired"],
    "noisy_alone_delta": lambda: wrong_step()["output_delta_at_1_1e-6"],  # of the output alone, target (1, 1e-6)
    "noisy_published": lambda: wrong_step()["published_fails_from_1e-6"],
    "noisy_secret": lambda: wrong_step()["secret_fails_from_1e-6"],  # every noisy vector seen, the batches not
    "noisy_private_to": lambda: min(float(private_up_to(SFW_DELTA, R, 4096)) for R in range(1, 9)),
    "noisy_floor": lambda: float(rounds_of_the_statement().numbers["n_1e400"]),
    "spare_noisy": lambda: spare("alg:nSFW"),
    # what an audit would have seen
    "reach_at_95": lambda: _reach(0.95),
    "reach_at_a_millionth": lambda: _reach(1 - 1e-6),
    # what the record of errata says
    **{WORD + id.replace(".", "_"): _word(id) for id in NAMED},
}
"""By the name that a marker gives."""
