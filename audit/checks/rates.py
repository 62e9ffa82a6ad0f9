"""Rates: measured accuracy against n, ε, d and J, beside the explicit-constant bound, with a fitted exponent.

A study runs the fast engine on fresh samples from a population of finite support, whose risk (or stationarity gap) is
known exactly, and lets one quantity x vary. What is checked is that the measured mean, less five standard errors, lies
below the proven bound at every x; the exponent is the least-squares slope of log(measured) against log x, with a
bootstrap interval over the runs. An exponent is reported, not tested: a finite range proves nothing about a limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from audit import engine as fast
from audit.checks.framework import Figure, Outcome, Role, check
from audit.engine.arrays import ARRAYS, Array, floats, matrix
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex.phased_sgd import excess_risk, phased_parameters
from reference.convex.sensitivity import tight_sigma
from reference.numerics.numbers import Float64
from reference.setting.data import Example
from reference.setting.losses import GLL, Absolute
from reference.setting.losses_smooth import SquaredTanh
from reference.setting.sets import L2Ball, l1_ball
from reference.smooth.parameters import noisy_plan, poly_plan

K = Float64()
EPSILON, DELTA = Fraction(2), Fraction(1, 10**5)
"""A privacy at which the bounds are below the trivial one at sizes that a check can run."""
BOOTSTRAP = 400
"""Resamples behind the interval of an exponent: its ends are then the tenth from either side at 95 %."""

Study = Callable[[Any, np.random.Generator], tuple[Array, float]]
"""(x, generator) → (the measured values of independent runs, the proven bound at x)."""


def over(name: str, run: Callable[..., tuple[Array, float]], **fixed: Any) -> Study:
    """The study in which the argument `name` of `run` varies; J stands for 2d, the vertices of the ℓ_1 ball."""

    def one(x: Any, generator: np.random.Generator) -> tuple[Array, float]:
        return run(generator, **fixed, **({"d": x // 2} if name == "J" else {name: x}))

    return one


@dataclass(frozen=True)
class Fit:
    """Means over runs, and the fitted exponent with a 95 % bootstrap interval."""

    means: tuple[float, ...]
    errors: tuple[float, ...]
    exponent: float
    interval: tuple[float, float]


def slope(xs: Sequence[float], values: Sequence[float]) -> float:
    """The least-squares slope of log values against log x."""
    return float(np.polyfit(np.log(np.array(xs)), np.log(np.array(values)), 1)[0])


def fit(xs: Sequence[float], runs: Sequence[Array], generator: np.random.Generator) -> Fit:
    """Fit the means; resample the runs at every x for the interval."""
    means = [float(r.mean()) for r in runs]
    errors = [float(r.std(ddof=1) / math.sqrt(len(r))) for r in runs]
    draws = [[float(generator.choice(r, len(r)).mean()) for r in runs] for _ in range(BOOTSTRAP)]
    slopes = np.quantile([slope(xs, d) for d in draws], [0.025, 0.975])
    return Fit(tuple(means), tuple(errors), slope(xs, means), (float(slopes[0]), float(slopes[1])))


def study(title: str, y_label: str, x_label: str, xs: Sequence[Any], run: Study, trivial: float, seed: int) -> Outcome:
    """Run at every x, compare with the bound, fit, and draw."""
    generator = np.random.default_rng(seed)
    measured = [run(x, generator) for x in xs]
    places = [float(x) for x in xs]
    found = fit(places, [values for values, _ in measured], generator)
    bounds = [bound for _, bound in measured]
    lows = [m - 5 * e for m, e in zip(found.means, found.errors, strict=True)]
    low, high = found.interval
    return Outcome(
        all(m <= b for m, b in zip(lows, bounds, strict=True)),
        ratio=max(m / b for m, b in zip(found.means, bounds, strict=True)),
        numbers={
            f"exponent in {x_label}": round(found.exponent, 3),
            "interval": f"[{low:.3f}, {high:.3f}]",
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


REPEATS, TRIALS = 6, 20
"""Samples, and runs on each."""


def phased(
    generator: np.random.Generator, n: int = 512, d: int = 2, epsilon: Any = EPSILON, variant: str = "corrected"
) -> tuple[Array, float]:
    """Excess risk of Algorithm 2 on the ball of diameter 1, and the bound of Theorem 6."""
    rule: dict[str, Any] = {"sigma": tight_sigma(K, epsilon, DELTA)} if variant == "tight" else {}
    W, population = L2Ball([0] * d, Fraction(1, 2)), axes(d)
    p = phased_parameters(K, n, GLL(Absolute, 1, 1), W, epsilon=epsilon, delta=DELTA, **rule)
    values = []
    for _ in range(REPEATS):
        tape = fast.LiveBatch(int(generator.integers(2**62)), TRIALS)
        values.append(population.excess(fast.phased_sgd(population.draw(n, generator), p, tape)))
    return np.concatenate(values), float(excess_risk(K, p))


@check("thm:l2_glm", kind="statistical")
def rate_of_phased_sgd(seed: int) -> Outcome:
    """Theorem 6: excess risk against n, printed noise. Mutant: a hundredth of the bound."""
    return study("Algorithm 2: excess risk", "excess risk", "n", (64, 256, 1024), over("n", phased), 1.0, seed)


@check("thm:l2_glm", kind="statistical", level="standard")
def phased_sgd_against_epsilon(seed: int) -> Outcome:
    """Theorem 6 at n = 512 against ε."""
    values = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2))
    return study("Algorithm 2: excess risk", "excess risk", "ε", values, over("epsilon", phased), 1.0, seed)


@check("thm:l2_glm", kind="statistical", level="standard")
def phased_sgd_against_d(seed: int) -> Outcome:
    """Theorem 6 at n = 512 against d."""
    return study("Algorithm 2: excess risk", "excess risk", "d", (2, 8, 32), over("d", phased), 1.0, seed)


@check("thm:l2_glm", kind="statistical", edition="tight", level="standard")
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
    return np.concatenate(values), float(nfw.excess_risk(K, p))


@check("thm:l1_glm", kind="statistical")
def rate_of_frank_wolfe(seed: int) -> Outcome:
    """Theorem 9: excess risk against n, printed scale."""
    return study("Algorithm 3: excess risk", "excess risk", "n", (64, 256, 1024), over("n", frank_wolfe), 1.0, seed)


@check("thm:l1_glm", kind="statistical", level="standard")
def frank_wolfe_against_epsilon(seed: int) -> Outcome:
    """Theorem 9 at n = 512 against ε."""
    return study("Algorithm 3: excess risk", "excess risk", "ε", (1, 2, 4, 8), over("epsilon", frank_wolfe), 1.0, seed)


@check("thm:l1_glm", kind="statistical", level="standard")
def frank_wolfe_against_J(seed: int) -> Outcome:
    """Theorem 9 at n = 512 against J = 2d."""
    return study("Algorithm 3: excess risk", "excess risk", "J", (4, 16, 64), over("J", frank_wolfe), 1.0, seed)


@check("thm:l1_glm", kind="statistical", edition="tight", level="standard")
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


def smooth(
    generator: np.random.Generator, p: int, n: int = 4096, d: int = 5, epsilon: Any = EPSILON
) -> tuple[Array, float]:
    """Stationarity gap of the tight Algorithms 4 (p = 1) and 5 (p = 2), planned for n, and the proven bound."""
    problem = Saddle.make(d, p)
    constants, start = (problem.loss.L0, problem.loss.L1, 2), [1] + [0] * (d - 1)
    tape, data = fast.LiveBatch(int(generator.integers(2**62)), 40), problem.draw(n, generator)
    if p == 1:
        W: Any = l1_ball(d, 1)
        plan = poly_plan(n, 2 * d, constants, epsilon, DELTA)
        w = fast.poly_sfw_tight(problem.loss, W, data, plan.T, plan.b, epsilon, DELTA, tape, start=start)
    else:
        W = L2Ball([0] * d, 1)
        plan = noisy_plan(n, d, p, constants, epsilon, DELTA)
        w = fast.noisy_sfw_tight(problem.loss, W, data, plan.T, plan.b, epsilon, DELTA, tape, start=start)
    return problem.gap(W, w), float(plan.bound)


TRIVIAL_GAP = float(2 * SquaredTanh(1, 1).L0)
"""D·L0: no gap is larger."""


def smooth_study(p: int, x_label: str, xs: Sequence[Any], run: Study, seed: int) -> Outcome:
    """A study of Algorithm 4 or 5."""
    title = f"Algorithm {4 if p == 1 else 5}, tight: stationarity gap"
    return study(title, "stationarity gap", x_label, xs, run, TRIVIAL_GAP, seed)


@check("thm:convergence-polySFW", kind="statistical", edition="tight")
def rate_of_poly_sfw(seed: int) -> Outcome:
    """Theorem 11, tight variant: gap against n on the ℓ_1 ball, d = 5. Mutant: a hundredth of the bound."""
    return smooth_study(1, "n", (256, 1024, 4096, 16384), over("n", smooth, p=1), seed)


@check("thm:convergence-noisySFW", kind="statistical", edition="tight")
def rate_of_noisy_sfw(seed: int) -> Outcome:
    """Theorem 14, tight variant: gap against n on the ℓ_2 ball, d = 5."""
    return smooth_study(2, "n", (256, 1024, 4096, 16384), over("n", smooth, p=2), seed)


@check("thm:convergence-polySFW", kind="statistical", edition="tight", level="standard")
def poly_sfw_against_epsilon(seed: int) -> Outcome:
    """Theorem 11, tight variant, at n = 4096 against ε."""
    return smooth_study(1, "ε", (Fraction(1, 2), 1, 2, 4, 8), over("epsilon", smooth, p=1), seed)


@check("thm:convergence-polySFW", kind="statistical", edition="tight", level="standard")
def poly_sfw_against_J(seed: int) -> Outcome:
    """Theorem 11, tight variant, at n = 4096 against J = 2d."""
    return smooth_study(1, "J", (10, 40, 160), over("J", smooth, p=1), seed)


@check("thm:convergence-noisySFW", kind="statistical", edition="tight", level="standard")
def noisy_sfw_against_d(seed: int) -> Outcome:
    """Theorem 14, tight variant, at n = 4096 against d."""
    return smooth_study(2, "d", (5, 20, 80), over("d", smooth, p=2), seed)


@check("thm:convergence-polySFW", kind="statistical", edition="tight", level="deep")
def rate_of_poly_sfw_to_a_million(seed: int) -> Outcome:
    """The same at d = 50, n up to 10⁶."""
    return smooth_study(1, "n", (10_000, 100_000, 1_000_000), over("n", smooth, p=1, d=50), seed)
