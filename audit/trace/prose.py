"""What `docs/tour.md` and `examples/README.md` show: their numbers, and the data of their figures.

A number of the prose is a function without arguments here (see `quoted`); `dpso trace --check` recomputes it.
A figure is an entry of `FIGURES`; `python docs/make_tour.py` draws it. Nothing here is the home of a formula: each
function calls the code that it quotes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from audit.accounting.accountants import account, noise_ratio
from audit.auditor.api import audit_dp
from audit.checks.framework import Figure
from reference.convex.counterexamples import (
    DELTA,
    EPSILON,
    UNSOUND,
    square_without_half_beta,
    unsound_shift,
    values_stall_in_binary64,
)
from reference.convex.moreau import envelope_derivative, prox
from reference.convex.oracle import (
    OracleParameters,
    oracle,
    oracle_evaluations,
    oracle_evaluations_printed,
    oracle_parameters,
    oracle_printed,
)
from reference.convex.sensitivity import Shift
from reference.numerics.numbers import Float64, Real
from reference.paper.editions import edition
from reference.paper.events import Trace
from reference.privacy import gaussian_mu
from reference.setting.losses import PiecewiseLinear
from reference.smooth.counterexamples import noise_for_the_wrong_step
from reference.smooth.noisy_sfw import corrected_transcript_delta, failure_threshold, transcript_delta

K = Float64()
ALL = frozenset({"E3.1", "E3.2", "E3.3", "E3.4"})

# ------------------------------------------------------------------- Algorithm 1: one loss, every edition

TILT = Fraction(2, 5)
BETA = 4


def tour_loss() -> PiecewiseLinear:
    """ℓ(u) = max(−u, 2u/5): the loss of the tour."""
    return PiecewiseLinear([0], [-1, TILT])


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


def largest_printed_output() -> float:
    """The largest output of the printed algorithm on the grid."""
    return max(abs(derivative(frozenset(), m)) for m in GRID)


def error_printed() -> float:
    """In units of α, as printed."""
    return largest_error(frozenset())


def error_comparison() -> float:
    """With the comparison turned round (E3.1)."""
    return largest_error(frozenset({"E3.1"}))


def error_halving() -> float:
    """And with the square's factor (E3.2): what is left is the unsound halving."""
    return largest_error(UNSOUND)


def error_corrected() -> float:
    """All four errata applied."""
    return largest_error(ALL)


def derivative_without_factor() -> float:
    """What the search without β/2 returns where 1 is the truth."""
    return float(square_without_half_beta().numbers["found"])


def stall_by_values() -> float:
    """Error over α in binary64 at n = 10^7 when the best midpoint is chosen by its value."""
    return float(values_stall_in_binary64().numbers["best midpoint by value"])


def steps_printed() -> int:
    """Values of the loss a call, as printed, in the tour's setting."""
    return oracle_evaluations_printed(K, tour_oracle())


def steps_corrected() -> int:
    """Subgradients a call, corrected."""
    return oracle_evaluations(K, tour_oracle())


def _midpoints(errata: frozenset[str], m: Fraction) -> list[tuple[float, float]]:
    trace = Trace()
    call = edition(oracle_printed, oracle, errata)
    call(K, K.vector([m]), K.vector([1]), tour_loss(), tour_oracle(), trace)
    return [(float(event.indices[0]), float(event.value)) for event in trace if event.name == "m_t"]


START = Fraction(3, 20)


def path_figure() -> Figure:
    """Where the two searches look, step by step."""
    printed, corrected = _midpoints(frozenset(), START), _midpoints(ALL, START)
    goal = float(prox(K, tour_loss(), BETA, K(START)))
    return Figure(
        title="Where the search looks",
        x_label="step t",
        y_label="midpoint m_t",
        series={
            "printed: away from the minimiser": printed,
            "corrected": corrected,
            "the point that is claimed, u*": [(1.0, goal), (printed[-1][0], goal)],
        },
    )


def stage_figure(errata: frozenset[str], name: str) -> Figure:
    """The derivative that an edition returns, against the true one."""
    return Figure(
        title=f"What Algorithm 1 returns: {name}",
        x_label="prediction m",
        y_label="derivative of the smoothed loss",
        series={
            "the derivative that is claimed": [(float(m), truth(m)) for m in GRID],
            name: [(float(m), derivative(errata, m)) for m in GRID],
        },
    )


def shifted_loss() -> PiecewiseLinear:
    """The same with its kink at −2/5: for β = 1 the left quarter point is higher, and the minimiser is left."""
    return PiecewiseLinear([-TILT], [-1, TILT])


def halving_error() -> float:
    """The error of the unsound halving on this loss at m = 0, β = 1, asked for α = 1e-12."""
    p = oracle_parameters(K, beta=1, alpha=Fraction(1, 10**12), L0=1, R=1)
    found = edition(oracle_printed, oracle, UNSOUND)(K, K.vector([0]), K.vector([1]), shifted_loss(), p).derivative
    return abs(float(found - envelope_derivative(K, shifted_loss(), 1, K(0))))


def halving_figure() -> Figure:
    """h(u) = ℓ(u) + u²/2 and the points that line 6 compares."""
    ell = shifted_loss()

    def h(u: Fraction) -> tuple[float, float]:
        return float(u), float(ell.value(K, K(u)) + K(u * u / 2))

    return Figure(
        title="Why half of the interval may not go",
        x_label="u",
        y_label="h(u)",
        series={
            "h": [h(Fraction(i, 20)) for i in range(-40, 41)],
            "left quarter point": [h(Fraction(-1))],
            "right quarter point, lower": [h(Fraction(1))],
            "the minimiser u*, cut off": [h(-TILT)],
        },
    )


# --------------------------------------------------------------------- Algorithm 2: what it does to privacy

SIZES = (64, 128, 256, 512, 1024, 2048, 4096)


@cache
def shift(n: int, errata: frozenset[str]) -> Shift:
    """How far one record moves the output of Algorithm 2, measured on the widest pair that we know."""
    return unsound_shift(n, errata)


@cache
def _mu_allowed() -> Real:
    return gaussian_mu(K, EPSILON, DELTA)


def mu_allowed() -> float:
    """The largest distance in standard deviations that (1, 1e-6)-DP allows."""
    return float(_mu_allowed())


def mu_halving() -> float:
    """The distance with the unsound halving, n = 4096."""
    return shift(4096, UNSOUND).mu


def mu_repaired() -> float:
    """The distance with the corrected search, n = 4096, on the pair that was built against it."""
    return shift(4096, ALL).mu


def delta_halving() -> float:
    """A lower bound on δ(1) with the unsound halving, n = 4096; the target is 1e-6."""
    return shift(4096, UNSOUND).delta(EPSILON)


def times_over_target() -> float:
    """By what factor that misses the target."""
    return delta_halving() / float(DELTA)


def shift_figure() -> Figure:
    """One record's influence against n."""
    return Figure(
        title="How far one record moves the output of Algorithm 2",
        x_label="records n",
        y_label="distance in standard deviations",
        series={
            "printed halving, measured": [(float(n), shift(n, UNSOUND).mu) for n in SIZES],
            "corrected search, measured": [(float(n), shift(n, ALL).mu) for n in SIZES],
            "bound of (1, 1e-6)-DP": [(float(n), mu_allowed()) for n in SIZES],
        },
        x_log=True,
    )


def profile_figure() -> Figure:
    """δ(ε) at n = 4096."""
    grid = [Fraction(i, 20) for i in range(31)]
    repaired = account("Alg:phased", "corrected", EPSILON, DELTA, n=4096, d=2)
    assert repaired.profile is not None
    return Figure(
        title="Privacy of Algorithm 2 at n = 4096",
        x_label="ε",
        y_label="δ(ε)",
        series={
            "printed halving, at least": [(float(e), shift(4096, UNSOUND).delta(e)) for e in grid],
            "corrected, at most": [(float(e), d) for e in grid if (d := repaired.profile.delta(e)) > 1e-16],
            "claim (1, 1e-6)": [(float(EPSILON), float(DELTA))],
        },
        y_log=True,
    )


# ------------------------------------------------------------------------------------- Algorithm 5 and tight

SFW_DELTA = Fraction(1, 10**6)


@cache
def noisy_fails_from() -> float:
    """The ε from which Algorithm 5 as printed is not (ε, 1e-6)-DP."""
    return float(failure_threshold(SFW_DELTA, digits=4)[1])


@cache
def sixteen_enough_to() -> float:
    """The ε up to which the constant 16 is enough once the step is right."""
    return float(failure_threshold(SFW_DELTA, corrected=True, digits=4)[0])


@cache
def _wrong_step() -> dict[str, float]:
    found = noise_for_the_wrong_step()
    assert found.shown
    return {name: float(value) for name, value in found.numbers.items()}


def noisy_delta_at_four() -> float:
    """δ(4) of printed Algorithm 5 for the target (4, 0.01), measured on a pair of runs."""
    return _wrong_step()["delta_at_4"]


def noisy_delta_repaired() -> float:
    """The same with the right step."""
    return _wrong_step()["repaired"]


def noisy_output_delta() -> float:
    """A lower bound on δ(8) of the output alone, for the target (8, 1e-6)."""
    return _wrong_step()["output_delta_at_8_1e-6"]


def noisy_figure() -> Figure:
    """δ at the target ε, as a multiple of the target δ = 1e-6."""
    grid = [Fraction(i, 5) for i in range(1, 56)]

    def curve(f: Callable[[Fraction], Real]) -> list[tuple[float, float]]:
        return [(float(e), y) for e in grid if (y := float(f(e)) / float(SFW_DELTA)) > 1e-4]

    return Figure(
        title="Algorithm 5: what is lost at the target ε",
        x_label="target ε",
        y_label="δ / target δ",
        series={
            "printed": curve(lambda e: transcript_delta(K, e, SFW_DELTA)),
            "right step, constant 16": curve(lambda e: corrected_transcript_delta(K, e, SFW_DELTA)),
            "corrected": curve(lambda e: _profile_delta(e, "corrected")),
            "claimed δ": [(0.2, 1.0), (11.0, 1.0)],
        },
        y_log=True,
    )


def _profile_delta(epsilon: Fraction, variant: str) -> float:
    found = account("alg:nSFW", variant, epsilon, SFW_DELTA)  # type: ignore[arg-type]
    assert found.profile is not None
    return found.profile.delta(epsilon)


@cache
def spare(algorithm: str) -> float:
    """How many times more noise the corrected variant uses than the tightest that we prove, at (1, 1e-6)."""
    ratio = noise_ratio(account(algorithm, "corrected", 1, "1e-6"), account(algorithm, "tight", 1, "1e-6"))
    assert ratio is not None
    return ratio


def spare_phased() -> float:
    """Algorithm 2."""
    return spare("Alg:phased")


def spare_frank_wolfe() -> float:
    """Algorithm 3."""
    return spare("Alg:nfw")


def spare_poly() -> float:
    """Algorithm 4."""
    return spare("alg:polySFW")


def spare_noisy() -> float:
    """Algorithm 5."""
    return spare("alg:nSFW")


def spare_figure() -> Figure:
    """The four quotients."""
    names = {"Algorithm 2": "Alg:phased", "Algorithm 3": "Alg:nfw", "Algorithm 4": "alg:polySFW"}
    names |= {"Algorithm 5": "alg:nSFW"}
    return Figure(
        title="Noise that can be saved",
        x_label="",
        y_label="noise of the corrected over that of the tight variant",
        series={name: [(0.0, spare(label))] for name, label in names.items()},
        kind="bar",
    )


FIGURES: dict[str, Callable[[], Figure]] = {
    "search-path": path_figure,
    "stage-printed": lambda: stage_figure(frozenset(), "printed"),
    "stage-comparison": lambda: stage_figure(frozenset({"E3.1"}), "printed, E3.1 repaired"),
    "stage-halving": lambda: stage_figure(UNSOUND, "printed, E3.1 and E3.2 repaired"),
    "stage-corrected": lambda: stage_figure(ALL, "corrected"),
    "halving": halving_figure,
    "shift": shift_figure,
    "profile": profile_figure,
    "noisy-sfw": noisy_figure,
    "tight": spare_figure,
}
"""By the name of the file in `docs/figures`."""


# ------------------------------------------------------------------------------------- examples/README.md


@cache
def _reach(confidence: float) -> float:
    def noisy_mean(dataset: Sequence[float], size: int, rng: np.random.Generator) -> np.ndarray:
        return float(np.mean(dataset)) + rng.laplace(scale=1 / len(dataset), size=size)

    found = audit_dp(
        noisy_mean, [0.2, 0.4, 0.0], [0.2, 0.4, 1.0], epsilon=1.0, samples=50_000, confidence=confidence, seed=2024
    )
    assert found.verdict == "consistent"
    return found.would_detect


def reach_at_95() -> float:
    """The ε that an audit of a claim of 1 would report with probability 0.95: 50,000 draws a side, confidence 0.95."""
    return _reach(0.95)


def reach_at_a_millionth() -> float:
    """The same at confidence 1 − 1e-6."""
    return _reach(1 - 1e-6)
