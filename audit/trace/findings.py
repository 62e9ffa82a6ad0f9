"""The headline findings, each as a function that recomputes its number: what README.md quotes.

Nothing is looked up: a change in the code that moves a finding makes the quotation fail (`dpso trace --check`).
"""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from functools import cache
from random import Random

from audit.checks.job import RECORD
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex.counterexamples import expanding_shift, unsound_shift
from reference.convex.oracle import oracle, oracle_parameters, oracle_printed
from reference.convex.phased_sgd import PhasedParameters, excess_risk, phased_parameters
from reference.convex.sensitivity import tuned_parameters
from reference.numerics.numbers import Float64
from reference.paper.inventory import load
from reference.privacy import gaussian_mu, log_inverse
from reference.setting.losses import GLL, Absolute, PiecewiseLinear
from reference.setting.sets import L2Ball, l1_ball
from reference.smooth import bounds
from reference.smooth.calibration import exact_constants_scale, laplace_scale_printed
from reference.smooth.noisy_sfw import failure_threshold, transcript_delta
from reference.smooth.parameters import poly_parameters, poly_plan

K = Float64()
TARGET = (Fraction(1), Fraction(1, 10**6))
"""(ε, δ) at which noise is compared."""


# ------------------------------------------------------------------------------------------ Algorithm 1


def _random_loss(generator: Random) -> PiecewiseLinear:
    """A convex piecewise linear loss with slopes in [−1, 1]."""
    slopes = sorted(Fraction(generator.randint(-1024, 1024), 1024) for _ in range(4))
    kinks = sorted(generator.sample(range(-4096, 4096), 3))
    return PiecewiseLinear([Fraction(k, 1024) for k in kinks], slopes)


@cache
def _oracle_trials() -> tuple[int, int, int]:
    """(trials, how often the printed oracle returns 0, how often the corrected one does) on random losses."""
    generator, one = Random(0), K.vector([1])
    p = oracle_parameters(K, beta=4, alpha=Fraction(1, 256), L0=1, R=1)
    printed = corrected = 0
    trials = 500
    for _ in range(trials):
        ell, w = _random_loss(generator), K.vector([Fraction(generator.randint(-4096, 4096), 1024)])
        printed += oracle_printed(K, w, one, ell, p).derivative == 0
        corrected += oracle(K, w, one, ell, p).derivative == 0
    return trials, printed, corrected


def oracle_trials() -> int:
    """On how many random convex losses the oracle was tried."""
    return _oracle_trials()[0]


def printed_oracle_zeros() -> int:
    """On how many of them the printed oracle returns exactly 0."""
    return _oracle_trials()[1]


def corrected_oracle_zeros() -> int:
    """On how many of them the corrected oracle returns exactly 0."""
    return _oracle_trials()[2]


# ------------------------------------------------------------------------------------------ Algorithm 2


@cache
def unsound_delta() -> float:
    """δ(1) of Algorithm 2 with the halving search at n = 4096, target 1e-6."""
    return unsound_shift(4096).delta(1)


@cache
def expanding_delta() -> float:
    """δ(1) of Algorithm 2 with the β of Theorem 6's statement at n = 4096, D = 48, target 1e-6."""
    return expanding_shift(4096, 48).delta(1)


def phased_noise_ratio() -> float:
    """Printed over tight σ_k before the α term at the target: (4/ρ)/(2/μ*), ρ = ε/(2√L)."""
    epsilon, delta = TARGET
    rho = epsilon / (2 * K.sqrt(log_inverse(K, delta)))
    return float(4 / rho / (2 / gaussian_mu(K, epsilon, delta)))


def _phased() -> PhasedParameters:
    W = L2Ball([0] * 10, Fraction(1, 2))
    epsilon, delta = TARGET
    return phased_parameters(K, 2**20, GLL(Absolute, 1, 1), W, epsilon=epsilon, delta=delta, average="first")


def phased_risk() -> float:
    """The proven excess risk of Algorithm 2 with printed step and noise: n = 2²⁰, d = 10, L0 = R = D = 1, (1, 1e-6)."""
    return float(excess_risk(K, _phased()))


def phased_risk_tuned() -> float:
    """The same with tight noise and the step size that goes with it."""
    return float(excess_risk(K, tuned_parameters(K, _phased())))


# ------------------------------------------------------------------------------------------ Algorithm 3


def _frank_wolfe_ratio(T: int, noise: nfw.Noise) -> float:
    epsilon, delta = TARGET
    gll, W = GLL(Absolute, 1, 1, 1), l1_ball(2, 1)
    scales = [
        nfw.frank_wolfe_parameters(K, 1000, gll, W, epsilon=epsilon, delta=delta, T=T, noise=noise, scale=rule).s
        for rule in (nfw.scale_printed, nfw.scale_tight)
    ]
    return float(scales[0] / scales[1])


def frank_wolfe_noise_ratio() -> float:
    """Printed over tight Laplace scale for T = 400 steps."""
    return _frank_wolfe_ratio(400, "laplace")


def frank_wolfe_gumbel_ratio() -> float:
    """Printed scale over the tight Gumbel scale for T = 400 steps."""
    return _frank_wolfe_ratio(400, "gumbel")


# ------------------------------------------------------------------------------------- Algorithms 4 and 5


def _poly_ratio(r: int, noise: str) -> float:
    epsilon, delta = TARGET
    printed = laplace_scale_printed(K, r, 4096, 1, 1, 1, epsilon, delta)
    tight = exact_constants_scale(K, 2**r, 4096, 1, 1, 1, epsilon, delta, noise)  # type: ignore[arg-type]
    return float(printed / tight)


def poly_gumbel_ratio() -> float:
    """Printed scale over the tight Gumbel scale of Algorithm 4 in a round of 2^8 steps."""
    return _poly_ratio(8, "gumbel")


def poly_gumbel_ratio_long() -> float:
    """The same in a round of 2^14 steps."""
    return _poly_ratio(14, "gumbel")


def noisy_threshold() -> float:
    """The ε from which printed Algorithm 5 violates (ε, 1e-6)."""
    return float(sum(failure_threshold("1e-6")) / 2)


def noisy_delta() -> float:
    """The exact δ(4) of printed Algorithm 5's releases at step 1 when it is run for (4, 0.01)."""
    return float(transcript_delta(K, 4, "0.01"))


def poly_gap_printed() -> float:
    """The printed bound on the stationarity gap at n = 10⁶, J = 200, L0 = D = 1, L1 = 0, (1, 1e-6); trivial is 1."""
    plan = poly_parameters(10**6, 200, *TARGET)
    return float(bounds.gap_printed(K, plan.R, plan.b, 200, (1, 0, 1), *TARGET))


def poly_gap_tight() -> float:
    """The proven bound of the tight variant at the same point."""
    return float(poly_plan(10**6, 200, (1, 0, 1), *TARGET).bound)


# ------------------------------------------------------------------------------------------ the verdicts


@cache
def _grades() -> Counter[str]:
    """The recorded verdicts on the paper's numbered statements, by grade."""
    grades = json.loads(RECORD.read_text(encoding="utf-8"))["grades"]
    return Counter(grades.get(statement.id, "unchecked") for statement in load().statements)


def refuted() -> int:
    """How many numbered statements need a correction as printed."""
    return _grades()["refuted"] + _grades()["unrepaired"]


def holding() -> int:
    """How many hold as printed or with a slip of the pen, loose ones included."""
    return _grades()["holds"] + _grades()["loose"]


def conditional() -> int:
    """How many hold only under a condition that the text does not state."""
    return _grades()["conditional"]
