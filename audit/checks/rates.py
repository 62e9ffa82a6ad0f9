"""Rates: measured accuracy against n, ε, d and J, beside the explicit-constant bound, with a fitted exponent.

A study runs the fast engine on fresh samples from a population of finite support, whose risk (or stationarity gap) is
known exactly, and lets one quantity x vary. What is checked is that a lower confidence limit for the mean lies below
the proven bound at every x. Runs on one sample are not independent: what counts is the mean over them, sample by
sample, and the limit is Student's for so many samples. The exponent is the least-squares slope of log(measured) against
log x, with a bootstrap interval over the samples. It is reported, not tested: a finite range proves nothing about a
limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats

from audit import engine as fast
from audit.checks.evidence import BLIND, Measured
from audit.checks.framework import Figure, Outcome, Role, check
from audit.checks.mutants import beside, edited, replaced, scaled
from audit.checks.privacy import Linear
from audit.engine.arrays import ARRAYS, Array, floats, matrix
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex.phased_noise import tight_sigma
from reference.convex.phased_sgd import excess_risk, excess_risk_unconstrained, phased_parameters
from reference.numerics.numbers import Float64
from reference.setting.data import Example
from reference.setting.losses import GLL, Absolute
from reference.setting.losses_smooth import SquaredTanh
from reference.setting.sets import L2Ball, WholeSpace, l1_ball
from reference.smooth.parameters import noisy_plan, poly_plan

K = Float64()
EPSILON, DELTA = Fraction(2), Fraction(1, 10**5)
"""A privacy at which the bounds are below the trivial one at sizes that a check can run."""
LEVEL = 1e-6
"""The chance that a true bound is called violated at an x, if the means over samples are normal."""
LIMIT = f"{LEVEL:g} at each x, if means over samples are normal (Student's limit)"
STUDY = Measured(LIMIT, "its mutants, and how far they are off")
SHARP = Measured(LIMIT, "an output that does not depend on the data is seen")
NOISY = Measured(LIMIT, "an output that does not depend on the data, and ten times the noise, are seen")
UNSEEN = (
    f"{BLIND}ten times the noise (on a slope, at most 0.58 of the bound at d = 4 to 256, ε = 1/16 to 1,"
    " n = 2^14 to 2^18, and less at larger n: no size is known that would do)"
)
"""What is said of Theorem 14: its bound is that far above what noise does where the gradient is constant."""
SMOOTH_STUDY, SMOOTH_SHARP = (replace(kind, power=f"{kind.power}; {UNSEEN}") for kind in (STUDY, SHARP))
TOO_LARGE = (
    f"{BLIND}ten times the noise (that would need a slope at J = 512, ε = 4, n = 8192: 1.36 of the bound by the law of"
    " the selections, which no check runs)"
)
"""What is said of Theorem 9."""
SELECTION_STUDY, SELECTION_SHARP = (replace(kind, power=f"{kind.power}; {TOO_LARGE}") for kind in (STUDY, SHARP))
BOOTSTRAP = 400
"""Resamples behind the interval of an exponent: its ends are then the tenth from either side at 95 %."""

TOO_SMALL = {
    "phased": scaled("reference.convex.phased_sgd.excess_risk", "1/100"),
    "frank_wolfe": scaled("reference.convex.noisy_frank_wolfe.excess_risk", "1/100"),
    "poly": scaled("reference.smooth.bounds.gap_tight", "1/100"),
    "noisy": scaled("reference.smooth.bounds.noisy_gap_tight", "1/1000"),
}
"""A bound that is too small, by algorithm; `dpso audit --resolution` measures how much too small is seen."""

Study = Callable[[Any, np.random.Generator], tuple[Array, float]]
"""(x, generator) → (the measured values, the proven bound at x). A row has the runs on one sample; where all samples
are equal, and so runs are independent, a value stands alone.
"""


def over(name: str, run: Callable[..., tuple[Array, float]], **fixed: Any) -> Study:
    """The study in which the argument `name` of `run` varies; J stands for 2d, the vertices of the ℓ_1 ball."""

    def one(x: Any, generator: np.random.Generator) -> tuple[Array, float]:
        return run(generator, **fixed, **({"d": x // 2} if name == "J" else {name: x}))

    return one


@dataclass(frozen=True)
class Fit:
    """Means, their lower limits at level `LEVEL`, and the fitted exponent with a 95 % bootstrap interval."""

    means: tuple[float, ...]
    lows: tuple[float, ...]
    exponent: float
    interval: tuple[float, float]
    constant: float
    """The geometric mean of measured over bound."""
    between: tuple[float, float]
    """Its 95 % bootstrap interval."""


def slope(xs: Sequence[float], values: Sequence[float]) -> float:
    """The least-squares slope of log values against log x."""
    return float(np.polyfit(np.log(np.array(xs)), np.log(np.array(values)), 1)[0])


def fit(xs: Sequence[float], runs: Sequence[Array], bounds: Sequence[float], generator: np.random.Generator) -> Fit:
    """Fit the means; resample the samples at every x for the intervals."""
    samples = [r if r.ndim == 1 else r.mean(axis=1) for r in runs]
    means = [float(r.mean()) for r in samples]
    lows = [lower_limit(r) for r in samples]
    draws = [[float(generator.choice(r, len(r)).mean()) for r in samples] for _ in range(BOOTSTRAP)]
    positive = [d for d in draws if min(d) > 0] or [list(bounds)]  # an exponent has a value where no mean is 0
    slopes = np.quantile([slope(xs, d) for d in positive], [0.025, 0.975])
    scales = np.quantile([share(d, bounds) for d in draws], [0.025, 0.975])
    exponent = slope(xs, means if min(means) > 0 else positive[0])
    constant = share(means, bounds)
    ends = (float(slopes[0]), float(slopes[1])), (float(scales[0]), float(scales[1]))
    return Fit(tuple(means), tuple(lows), exponent, ends[0], constant, ends[1])


def lower_limit(values: Array) -> float:
    """Student's lower confidence limit, at level `LEVEL`, for the mean of independent values."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) - float(stats.t.isf(LEVEL, len(values) - 1)) * error


def share(values: Sequence[float], bounds: Sequence[float]) -> float:
    """The geometric mean of values over bounds; 0 if a value is."""
    return float(np.exp(np.mean(np.log(np.array(values)) - np.log(bounds)))) if min(values) > 0 else 0.0


def study(title: str, y_label: str, x_label: str, xs: Sequence[Any], run: Study, trivial: float, seed: int) -> Outcome:
    """Run at every x, compare with the bound, fit, and draw."""
    generator = np.random.default_rng(seed)
    measured = [run(x, generator) for x in xs]
    places = [float(x) for x in xs]
    bounds = [bound for _, bound in measured]
    found = fit(places, [values for values, _ in measured], bounds, generator)
    low, high = found.interval
    holds = all(m <= b for m, b in zip(found.lows, bounds, strict=True))
    worst = max(m / b for m, b in zip(found.means, bounds, strict=True))
    return Outcome(
        holds,
        ratio=min(worst, 1.0) if holds else worst,
        numbers={
            f"exponent in {x_label}": round(found.exponent, 3),
            "interval": f"[{low:.3f}, {high:.3f}]",
            "measured over bound": f"{found.constant:.3g}, in [{found.between[0]:.3g}, {found.between[1]:.3g}]",
            f"measured at the largest {x_label}": found.means[-1],
            "bound there": bounds[-1],
            "trivial bound": trivial,
        },
        note="the bound says something where it is below the trivial one",
        figures=(_figure(f"{title} against {x_label}", y_label, x_label, places, found.means, bounds, trivial),),
    )


def _figure(
    title: str,
    y_label: str,
    x_label: str,
    xs: list[float],
    means: Sequence[float],
    bounds: Sequence[float],
    trivial: float,
) -> Figure:
    series = {
        "measured": list(zip(xs, means, strict=True)),
        "certified bound": list(zip(xs, bounds, strict=True)),
        "trivial bound": [(x, trivial) for x in xs],
    }
    roles: dict[str, list[Role]] = {
        "measured": ["measured"],
        "certified bound": ["certified"],
        "trivial bound": ["claimed"],
    }
    return Figure(title, x_label, y_label, series, x_log=True, y_log=True, topic="rate", roles=roles)


# --------------------------------------------------------------------------------- populations


NOISE = (Fraction(-1, 4), Fraction(0), Fraction(1, 4))
"""y = ⟨x, w*⟩ + one of these, equally likely: w* is the unique minimiser in the directions that the x span."""


@dataclass(frozen=True)
class Regression:
    """Absolute loss, a few feature vectors, three-point noise: F_D is known, and min F_D = F_D(w*) = 1/6."""

    features: tuple[tuple[Fraction, ...], ...]
    target: tuple[Fraction, ...]

    def draw(self, n: int, generator: np.random.Generator) -> tuple[Example, ...]:
        """n records."""
        rows = generator.integers(len(self.features), size=n)
        noise = generator.integers(len(NOISE), size=n)
        return tuple(self._record(int(i), int(j)) for i, j in zip(rows, noise, strict=True))

    def _record(self, i: int, j: int) -> Example:
        x = self.features[i]
        return Example(x, sum((a * b for a, b in zip(x, self.target, strict=True)), Fraction(0)) + NOISE[j])

    def excess(self, w: Array) -> Array:
        """F_D(w) − F_D(w*), row by row."""
        t = (w - floats(self.target)) @ matrix(self.features).T
        risk = sum(np.abs(t - float(v)) for v in NOISE) / len(NOISE)
        least = sum(abs(float(v)) for v in NOISE) / len(NOISE)
        return np.asarray(np.mean(risk, axis=1) - least)


def axes(d: int) -> Regression:
    """The coordinate vectors as features; w* = (±1/4, 0, …, 0, 1/4)."""
    features = tuple(tuple(Fraction(int(i == j)) for i in range(d)) for j in range(d))
    return Regression(features, (Fraction(-1, 4), *(Fraction(0),) * (d - 2), Fraction(1, 4)))


REPEATS, TRIALS = 12, 10
"""Samples, and runs on each: with twelve, Student's limit is 9 standard errors away."""


def phased(
    generator: np.random.Generator, n: int = 512, d: int = 2, epsilon: Any = EPSILON, variant: str = "corrected"
) -> tuple[Array, float]:
    """Excess risk of Algorithm 2 on the ball of diameter 1, and the bound of Theorem 6."""
    rule: dict[str, Any] = {"sigma": tight_sigma} if variant == "tight" else {}
    W, population = L2Ball([0] * d, Fraction(1, 2)), axes(d)
    p = phased_parameters(K, n, GLL(Absolute, 1, 1), W, epsilon=epsilon, delta=DELTA, **rule)
    values = []
    for _ in range(REPEATS):
        tape = fast.LiveBatch(int(generator.integers(2**62)), TRIALS)
        values.append(population.excess(fast.phased_sgd(population.draw(n, generator), p, tape)))
    return np.stack(values), float(excess_risk(K, p))


@check(
    "thm:l2_glm",
    mutants=(
        beside(TOO_SMALL["phased"], edited("audit.checks.rates.rate_of_phased_sgd", "(64, 256, 1024)", "(64, 128)")),
    ),
    kind=STUDY,
)
def rate_of_phased_sgd(seed: int) -> Outcome:
    """Theorem 6: excess risk against n, printed noise. Mutant: a hundredth of the bound."""
    return study("Algorithm 2: excess risk", "excess risk", "n", (64, 256, 1024), over("n", phased), 1.0, seed)


@check(
    "thm:l2_glm",
    mutants=(
        beside(
            TOO_SMALL["phased"],
            edited(
                "audit.checks.rates.phased_sgd_against_epsilon",
                "(Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2))",
                "(Fraction(1, 2), Fraction(2))",
            ),
        ),
    ),
    kind=STUDY,
    level="standard",
)
def phased_sgd_against_epsilon(seed: int) -> Outcome:
    """Theorem 6 at n = 512 against ε."""
    values = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2))
    return study("Algorithm 2: excess risk", "excess risk", "ε", values, over("epsilon", phased), 1.0, seed)


@check(
    "thm:l2_glm",
    mutants=(beside(TOO_SMALL["phased"], edited("audit.checks.rates.phased_sgd_against_d", "(2, 8, 32)", "(2, 4)")),),
    kind=STUDY,
    level="standard",
)
def phased_sgd_against_d(seed: int) -> Outcome:
    """Theorem 6 at n = 512 against d."""
    return study("Algorithm 2: excess risk", "excess risk", "d", (2, 8, 32), over("d", phased), 1.0, seed)


@check(
    "thm:l2_glm",
    mutants=(
        beside(
            TOO_SMALL["phased"],
            edited("audit.checks.rates.rate_of_phased_sgd_tight", "(128, 512, 2048, 8192)", "(128, 256)"),
        ),
    ),
    kind=STUDY,
    edition="tight",
    level="standard",
)
def rate_of_phased_sgd_tight(seed: int) -> Outcome:
    """The tight noise, up to n = 8192."""
    run, ns = over("n", phased, variant="tight"), (128, 512, 2048, 8192)
    return study("Algorithm 2, tight: excess risk", "excess risk", "n", ns, run, 1.0, seed)


def frank_wolfe(
    generator: np.random.Generator, n: int = 512, d: int = 2, epsilon: Any = EPSILON, variant: str = "corrected"
) -> tuple[Array, float]:
    """Excess risk of Algorithm 3 on the ℓ_1 ball of radius 1/2 (J = 2d), and the bound of Theorem 9."""
    rule: dict[str, Any] = {"scale": nfw.scale_tight, "noise": "gumbel"} if variant == "tight" else {}
    W, population = l1_ball(d, Fraction(1, 2)), axes(d)
    p = nfw.frank_wolfe_parameters(K, n, GLL(Absolute, 1, 1, 1), W, epsilon=epsilon, delta=DELTA, **rule)
    values = []
    for _ in range(REPEATS):
        tape = fast.LiveBatch(int(generator.integers(2**62)), TRIALS)
        values.append(population.excess(fast.noisy_frank_wolfe(population.draw(n, generator), p, tape)))
    return np.stack(values), float(nfw.excess_risk(K, p))


@check(
    "thm:l1_glm",
    mutants=(
        beside(
            TOO_SMALL["frank_wolfe"], edited("audit.checks.rates.rate_of_frank_wolfe", "(64, 256, 1024)", "(64, 128)")
        ),
    ),
    kind=SELECTION_STUDY,
)
def rate_of_frank_wolfe(seed: int) -> Outcome:
    """Theorem 9: excess risk against n, printed scale."""
    return study("Algorithm 3: excess risk", "excess risk", "n", (64, 256, 1024), over("n", frank_wolfe), 1.0, seed)


@check(
    "thm:l1_glm",
    mutants=(
        beside(
            TOO_SMALL["frank_wolfe"], edited("audit.checks.rates.frank_wolfe_against_epsilon", "(1, 2, 4, 8)", "(1, 2)")
        ),
    ),
    kind=SELECTION_STUDY,
    level="standard",
)
def frank_wolfe_against_epsilon(seed: int) -> Outcome:
    """Theorem 9 at n = 512 against ε."""
    return study("Algorithm 3: excess risk", "excess risk", "ε", (1, 2, 4, 8), over("epsilon", frank_wolfe), 1.0, seed)


@check(
    "thm:l1_glm",
    mutants=(
        beside(TOO_SMALL["frank_wolfe"], edited("audit.checks.rates.frank_wolfe_against_J", "(4, 16, 64)", "(4, 8)")),
    ),
    kind=SELECTION_STUDY,
    level="standard",
)
def frank_wolfe_against_J(seed: int) -> Outcome:
    """Theorem 9 at n = 512 against J = 2d."""
    return study("Algorithm 3: excess risk", "excess risk", "J", (4, 16, 64), over("J", frank_wolfe), 1.0, seed)


@check(
    "thm:l1_glm",
    mutants=(
        beside(
            TOO_SMALL["frank_wolfe"],
            edited("audit.checks.rates.rate_of_frank_wolfe_tight", "(128, 512, 2048)", "(128, 256)"),
        ),
    ),
    kind=SELECTION_STUDY,
    edition="tight",
    level="standard",
)
def rate_of_frank_wolfe_tight(seed: int) -> Outcome:
    """Gumbel noise and the tight scale."""
    run, ns = over("n", frank_wolfe, variant="tight"), (128, 512, 2048)
    return study("Algorithm 3, tight: excess risk", "excess risk", "n", ns, run, 1.0, seed)


# ------------------------------------------------------------------------------ smooth, non-convex


@dataclass(frozen=True)
class Saddle:
    """(tanh⟨a, w⟩ − y)² on sign features with labels that no w fits; the population gradient is exact."""

    loss: SquaredTanh
    features: Array
    labels: Array

    @staticmethod
    def make(d: int, p: Any, seed: int = 0) -> Saddle:
        """Sixteen records; features ±1 (p = 1) or ±1/⌈√d⌉ (p = 2)."""
        generator = np.random.default_rng(seed)
        scale = 1 if p == 1 else math.isqrt(d - 1) + 1
        features = generator.choice([-1.0, 1.0], size=(16, d)) / scale
        return Saddle(SquaredTanh(1, p), features, generator.choice([-1.0, 1.0, 1.0], size=16))

    def draw(self, n: int, generator: np.random.Generator) -> tuple[Example, ...]:
        """n records."""
        known = [Example(tuple(a), float(y)) for a, y in zip(self.features.tolist(), self.labels, strict=True)]
        return tuple(known[int(i)] for i in generator.integers(16, size=n))

    def gap(self, W: Any, w: Array) -> Array:
        """max_{v ∈ W}⟨∇F_D(w), w − v⟩, row by row."""
        slopes = self.loss.slope(ARRAYS, w @ self.features.T, self.labels)
        gradient = slopes @ self.features / 16
        nearest = fast.linear_minimiser(W, gradient)
        return np.asarray(np.einsum("td,td->t", gradient, w - nearest))


FEW = 12
"""Runs on each sample where samples are large."""


def smooth(
    generator: np.random.Generator, p: int, n: int = 4096, d: int = 5, epsilon: Any = EPSILON
) -> tuple[Array, float]:
    """Stationarity gap of the tight Algorithms 4 (p = 1) and 5 (p = 2), planned for n, and the proven bound."""
    problem = Saddle.make(d, p)
    constants, start = (problem.loss.L0, problem.loss.L1, 2), [1] + [0] * (d - 1)
    W: Any = l1_ball(d, 1) if p == 1 else L2Ball([0] * d, 1)
    run: Callable[..., Array] = fast.poly_sfw_tight if p == 1 else fast.noisy_sfw_tight
    given = constants, epsilon, DELTA
    plan = poly_plan(n, 2 * d, *given) if p == 1 else noisy_plan(n, d, p, *given)
    values = []
    for _ in range(REPEATS):
        tape, data = fast.LiveBatch(int(generator.integers(2**62)), FEW), problem.draw(n, generator)
        w = run(problem.loss, W, data, plan.T, plan.b, epsilon, DELTA, tape, start=start)
        values.append(problem.gap(W, w))
    return np.stack(values), float(plan.bound)


TRIVIAL_GAP = float(2 * SquaredTanh(1, 1).L0)
"""D·L0: no gap is larger."""


def smooth_study(p: int, x_label: str, xs: Sequence[Any], run: Study, seed: int) -> Outcome:
    """A study of Algorithm 4 or 5."""
    title = f"Algorithm {4 if p == 1 else 5}, tight: stationarity gap"
    return study(title, "stationarity gap", x_label, xs, run, TRIVIAL_GAP, seed)


@check("thm:convergence-polySFW", mutants=(TOO_SMALL["poly"],), kind=STUDY, edition="tight")
def rate_of_poly_sfw(seed: int) -> Outcome:
    """Theorem 11, tight variant: gap against n on the ℓ_1 ball, d = 5. Mutant: a hundredth of the bound."""
    return smooth_study(1, "n", (256, 1024, 4096), over("n", smooth, p=1), seed)


@check("thm:convergence-noisySFW", mutants=(TOO_SMALL["noisy"],), kind=SMOOTH_STUDY, edition="tight")
def rate_of_noisy_sfw(seed: int) -> Outcome:
    """Theorem 14, tight variant: gap against n on the ℓ_2 ball, d = 5."""
    return smooth_study(2, "n", (256, 1024, 4096), over("n", smooth, p=2), seed)


@check(
    "thm:convergence-polySFW",
    mutants=(
        beside(
            TOO_SMALL["poly"],
            edited("audit.checks.rates.poly_sfw_against_epsilon", "(Fraction(1, 2), 1, 2, 4, 8)", "(4, 8)"),
        ),
    ),
    kind=STUDY,
    edition="tight",
    level="standard",
)
def poly_sfw_against_epsilon(seed: int) -> Outcome:
    """Theorem 11, tight variant, at n = 4096 against ε."""
    return smooth_study(1, "ε", (Fraction(1, 2), 1, 2, 4, 8), over("epsilon", smooth, p=1), seed)


@check(
    "thm:convergence-polySFW",
    mutants=(beside(TOO_SMALL["poly"], edited("audit.checks.rates.poly_sfw_against_J", "(10, 40, 160)", "(10, 20)")),),
    kind=STUDY,
    edition="tight",
    level="standard",
)
def poly_sfw_against_J(seed: int) -> Outcome:
    """Theorem 11, tight variant, at n = 4096 against J = 2d."""
    return smooth_study(1, "J", (10, 40, 160), over("J", smooth, p=1), seed)


@check(
    "thm:convergence-noisySFW",
    mutants=(beside(TOO_SMALL["noisy"], edited("audit.checks.rates.noisy_sfw_against_d", "(5, 20, 80)", "(5, 10)")),),
    kind=SMOOTH_STUDY,
    edition="tight",
    level="standard",
)
def noisy_sfw_against_d(seed: int) -> Outcome:
    """Theorem 14, tight variant, at n = 4096 against d."""
    return smooth_study(2, "d", (5, 20, 80), over("d", smooth, p=2), seed)


@check(
    "thm:convergence-polySFW",
    mutants=(
        beside(
            TOO_SMALL["poly"],
            edited("audit.checks.rates.rate_of_poly_sfw_to_a_million", "(10_000, 100_000, 1_000_000)", "(500, 1000)"),
        ),
    ),
    kind=STUDY,
    edition="tight",
    level="deep",
)
def rate_of_poly_sfw_to_a_million(seed: int) -> Outcome:
    """The same at d = 50, n up to 10⁶."""
    return smooth_study(1, "n", (10_000, 100_000, 1_000_000), over("n", smooth, p=1, d=50), seed)


# ---------------------------------------------------------------------- populations on which standing still is noticed


FAR = 8
"""A label beyond every prediction: the loss is then linear, with slope ∓1."""


def tilted(n: int, d: int, tilt: float, generator: np.random.Generator) -> tuple[Example, ...]:
    """Records ±e_1, more of one sign by `tilt`: the population risk is linear and falls along e_1 with that slope."""
    first = (1, *(0,) * (d - 1))
    signs = np.where(generator.random(n) < (1 + tilt) / 2, 1, -1)
    return tuple(Example(first, FAR * int(s)) for s in signs)


def stays(dataset: Any, p: Any, tape: Any, **rest: Any) -> Array:
    """A mutant of Algorithms 2 and 3: it returns its start."""
    return np.tile(floats(p.start), (tape.trials, 1))


def stays_smooth(loss: Any, W: Any, data: Any, T: int, b: int, *rest: Any, start: Any) -> Array:
    """A mutant of Algorithms 4 and 5: it returns its start."""
    tape = rest[-1]
    return np.tile(floats(start), (tape.trials, 1))


def tilt_at(n: int) -> float:
    """A slope as small as the bounds allow while the start still violates them: 20/√n, at most 1."""
    return min(1.0, 20 / math.sqrt(n))


def sharp_phased(
    generator: np.random.Generator, n: int, d: int = 2, epsilon: Any = EPSILON, tilt: float | None = None
) -> tuple[Array, float]:
    """Algorithm 2 from the far end of a ball of diameter 1, on tilted records; and the bound of Theorem 6."""
    slope_ = tilt_at(n) if tilt is None else tilt
    start = [Fraction(-1, 2), *(Fraction(0),) * (d - 1)]
    W = L2Ball([0] * d, Fraction(1, 2))
    p = phased_parameters(K, n, GLL(Absolute, 1, 1), W, epsilon=epsilon, delta=DELTA, start=start)
    values = []
    for _ in range(REPEATS):
        tape = fast.LiveBatch(int(generator.integers(2**62)), TRIALS)
        values.append(slope_ * (0.5 - fast.phased_sgd(tilted(n, d, slope_, generator), p, tape)[:, 0]))
    return np.stack(values), float(excess_risk(K, p))


@check(
    "thm:l2_glm",
    kind=SHARP,
    mutants=(
        replaced("audit.engine.convex.phased_sgd", stays),
        scaled("reference.convex.phased_sgd.excess_risk", "1/2"),
    ),
)
def sharp_rate_of_phased_sgd(seed: int) -> Outcome:
    """Theorem 6 on a linear risk, from the wrong end: who stays there violates the bound."""
    run = over("n", sharp_phased)
    return study("Algorithm 2: excess risk on a slope", "excess risk", "n", (256, 512, 1024), run, 1.0, seed)


LOUDER = scaled("audit.engine.tapes.LiveBatch.read", 10)
"""Ten times the noise, and the bound as it was. For algorithms whose draws are all noise."""


def private_phased(generator: np.random.Generator, n: int) -> tuple[Array, float]:
    """Algorithm 2 where noise decides (d = 2, ε = 1/4), from the far end, on n records e_1 with a far label."""
    start, W = [Fraction(-1, 2), Fraction(0)], L2Ball([0, 0], Fraction(1, 2))
    p = phased_parameters(K, n, GLL(Absolute, 1, 1), W, epsilon=Fraction(1, 4), delta=DELTA, start=start)
    tape = fast.LiveBatch(int(generator.integers(2**62)), 400)
    return 0.5 - fast.phased_sgd((Example((1, 0), FAR),) * n, p, tape)[:, 0], float(excess_risk(K, p))


@check(
    "thm:l2_glm",
    kind=NOISY,
    level="standard",
    mutants=(
        beside(LOUDER, edited("audit.checks.rates.noise_of_phased_sgd", "(2048, 4096, 8192)", "(4096, 8192)")),
        beside(
            replaced("audit.engine.convex.phased_sgd", stays),
            edited("audit.checks.rates.noise_of_phased_sgd", "(2048, 4096, 8192)", "(2048, 4096)"),
        ),
    ),
)
def noise_of_phased_sgd(seed: int) -> Outcome:
    """Theorem 6 in the private regime (d = 2, ε = 1/4): ten times the noise violates the bound from n = 8192 on."""
    run = over("n", private_phased)
    return study("Algorithm 2: excess risk, private", "excess risk", "n", (2048, 4096, 8192), run, 1.0, seed)


def unconstrained(generator: np.random.Generator, n: int) -> tuple[Array, float]:
    """Algorithm 2 on ℝ² from 0, on n records (e_1, 1): the excess is |w_1 − 1|, that of the start 1. ε = 1/4, θ = 1."""
    given: dict[str, Any] = {"epsilon": Fraction(1, 4), "delta": DELTA, "rank": 1}
    p = phased_parameters(K, n, GLL(Absolute, 1, 1), WholeSpace(2), **given)
    tape = fast.LiveBatch(int(generator.integers(2**62)), 400)
    values = np.abs(fast.phased_sgd((Example((1, 0), 1),) * n, p, tape)[:, 0] - 1)
    return values, float(excess_risk_unconstrained(K, p, 1))


@check(
    "thm:l2_glm_unconstrained",
    kind=NOISY,
    mutants=(LOUDER, replaced("audit.engine.convex.phased_sgd", stays)),
)
def noise_of_phased_sgd_unconstrained(seed: int) -> Outcome:
    """Theorem 7 in the private regime, from afar: who stays there, or has ten times the noise, violates the bound."""
    run = over("n", unconstrained)
    return study("Algorithm 2 on ℝ²: excess risk, private", "excess risk", "n", (1024, 2048), run, 1.0, seed)


def sharp_frank_wolfe(
    generator: np.random.Generator, n: int, d: int = 2, epsilon: Any = EPSILON, tilt: float = 1.0
) -> tuple[Array, float]:
    """Algorithm 3 from the worst vertex of the ℓ_1 ball of radius 1/2, on tilted records; the bound of Theorem 9."""
    W, start = l1_ball(d, Fraction(1, 2)), [Fraction(-1, 2), *(Fraction(0),) * (d - 1)]
    gll = GLL(Absolute, 1, 1, 1)
    p = nfw.frank_wolfe_parameters(K, n, gll, W, epsilon=epsilon, delta=DELTA, start=start)
    values = []
    for _ in range(REPEATS):
        tape = fast.LiveBatch(int(generator.integers(2**62)), TRIALS)
        values.append(tilt * (0.5 - fast.noisy_frank_wolfe(tilted(n, d, tilt, generator), p, tape)[:, 0]))
    return np.stack(values), float(nfw.excess_risk(K, p))


@check(
    "thm:l1_glm",
    kind=SELECTION_SHARP,
    mutants=(replaced("audit.engine.convex.noisy_frank_wolfe", stays),),
)
def sharp_rate_of_frank_wolfe(seed: int) -> Outcome:
    """Theorem 9 on a linear risk, from the worst vertex: who stays there violates the bound."""
    run = over("n", sharp_frank_wolfe)
    return study("Algorithm 3: excess risk on a slope", "excess risk", "n", (512, 1024), run, 1.0, seed)


def sharp_smooth(
    generator: np.random.Generator, p: int, n: int, d: int = 2, epsilon: Any = EPSILON
) -> tuple[Array, float]:
    """The tight Algorithms 4 (p = 1) and 5 (p = 2) on the loss ⟨w, x⟩, x = e_1, from e_1: its gap is w_1 + 1."""
    loss, first = Linear(1, p), (1, *(0,) * (d - 1))
    data, tape = (Example(first, 1),) * n, fast.LiveBatch(int(generator.integers(2**62)), 40)
    constants = (1, Fraction(1, 10**9), 2)
    if p == 1:
        W: Any = l1_ball(d, 1)
        plan = poly_plan(n, 2 * d, constants, epsilon, DELTA)
        w = fast.poly_sfw_tight(loss, W, data, plan.T, plan.b, epsilon, DELTA, tape, start=first)
    else:
        W = L2Ball([0] * d, 1)
        plan = noisy_plan(n, d, p, constants, epsilon, DELTA)
        w = fast.noisy_sfw_tight(loss, W, data, plan.T, plan.b, epsilon, DELTA, tape, start=first)
    return np.asarray(w[:, 0] + 1), float(plan.bound)


@check(
    "thm:convergence-polySFW",
    kind=SHARP,
    edition="tight",
    mutants=(replaced("audit.engine.smooth.poly_sfw_tight", stays_smooth),),
)
def sharp_rate_of_poly_sfw(seed: int) -> Outcome:
    """Theorem 11 on a linear risk, from the worst vertex: who stays there violates the bound."""
    title = "Algorithm 4, tight: stationarity gap on a slope"
    return study(title, "stationarity gap", "n", (256, 1024, 4096), over("n", sharp_smooth, p=1), 2.0, seed)


@check(
    "thm:convergence-noisySFW",
    kind=SMOOTH_SHARP,
    edition="tight",
    mutants=(replaced("audit.engine.smooth.noisy_sfw_tight", stays_smooth),),
)
def sharp_rate_of_noisy_sfw(seed: int) -> Outcome:
    """Theorem 14 on a linear risk, from the worst point: who stays there violates the bound."""
    title = "Algorithm 5, tight: stationarity gap on a slope"
    return study(title, "stationarity gap", "n", (256, 1024, 4096), over("n", sharp_smooth, p=2), 2.0, seed)


def private_smooth(generator: np.random.Generator, p: int, n: int) -> tuple[Array, float]:
    """`sharp_smooth` where noise decides: d = 16, ε = 1/4; 200 runs, twenty at a time."""
    found = [sharp_smooth(generator, p, n, d=16, epsilon=Fraction(1, 4)) for _ in range(5)]
    return np.concatenate([values for values, _ in found]), found[0][1]


@check(
    "thm:convergence-polySFW",
    kind=NOISY,
    edition="tight",
    level="standard",
    mutants=(
        beside(
            edited("audit.engine.smooth.poly_sfw_tight", "V.T + s *", "V.T + 10 * s *"),
            edited("audit.checks.rates.noise_of_poly_sfw", "(4096, 8192, 16384)", "(1024, 16384)"),
            edited("audit.checks.rates.private_smooth", "range(5)", "range(2)"),
        ),
    ),
)
def noise_of_poly_sfw(seed: int) -> Outcome:
    """Theorem 11 in the private regime (J = 32, ε = 1/4): ten times the noise violates the bound at n = 16384."""
    run, ns = over("n", private_smooth, p=1), (4096, 8192, 16384)
    return study("Algorithm 4, tight: gap, private", "stationarity gap", "n", ns, run, 2.0, seed)


@check(
    "thm:convergence-noisySFW",
    kind=SMOOTH_SHARP,
    edition="tight",
    level="standard",
    mutants=(
        beside(
            edited("audit.engine.smooth.noisy_sfw_tight", "sigma[:, None]", "sigma[:, None] * 100"),
            edited("audit.checks.rates.noise_of_noisy_sfw", "(4096, 8192, 16384)", "(1024, 16384)"),
            edited("audit.checks.rates.private_smooth", "range(5)", "range(2)"),
        ),
    ),
)
def noise_of_noisy_sfw(seed: int) -> Outcome:
    """Theorem 14 in the private regime (d = 16, ε = 1/4). Mutant: a hundred times the noise; ten times is not seen."""
    run, ns = over("n", private_smooth, p=2), (4096, 8192, 16384)
    return study("Algorithm 5, tight: gap, private", "stationarity gap", "n", ns, run, 2.0, seed)
