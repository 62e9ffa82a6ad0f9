"""Bugs of real private optimisers and estimators, each in its smallest form, with its exact ε and a repaired twin.

`specimens()` lists them. A specimen is a pair of datasets, a claim, `make(epsilon)` for the broken mechanism and
`repaired(epsilon)` for its twin. Ground truth is computed, not looked up: `true_epsilon` from the law of the broken
mechanism at the claim's δ, `twin_epsilon` from that of the twin. `kinds` names the findings that point at the bug;
`test` says that the distinguishing test finds it. Bugs of plumbing (a mutated input, printing) do not raise ε: there
the finding is all there is.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.auditor.lints.replay import gaussian_epsilon
from bench.zoo.law import Law, from_cdfs, laplace_cdf

Array = np.ndarray
Mechanism = Callable[..., Any]
Make = Callable[[float], Mechanism]

DELTA = 1e-5


@dataclass(frozen=True)
class Specimen:
    """A bug with ground truth, and its repaired twin."""

    name: str
    about: str
    make: Make
    repaired: Make
    dataset: Any
    neighbour: Any
    epsilon: float
    true_epsilon: float
    twin_epsilon: float
    kinds: frozenset[str]
    delta: float = 0.0
    relation: str = "replace-one"
    test: bool = True
    clips: bool = False
    """Whether the claim is about labels of any size, because they are said to be clipped."""

    @property
    def broken(self) -> bool:
        """Whether the claim itself is false (plumbing bugs leave it true)."""
        return self.true_epsilon > self.epsilon * (1 + 1e-9)


def _column(*values: float) -> Array:
    return np.array(values, dtype=float)


ZERO, ONE = _column(0.0, 0.0, 0.0, 0.0), _column(1.0, 0.0, 0.0, 0.0)


def _grid(value: Any) -> Any:
    """Rounded to multiples of 2**-20, which hides the lowest bits of floats (they leak on their own, see
    `bench.zoo`).
    """
    rounded = np.round(np.asarray(value, dtype=float) * 2**20) / 2**20
    return rounded if rounded.ndim else float(rounded)


def _laplace_sum(epsilon: float) -> Mechanism:
    """The plain, correct thing: a sum of numbers in [0, 1] with Laplace noise."""
    return lambda data, rng: _grid(data.sum() + rng.laplace(0.0, 1.0 / epsilon))


# ------------------------------------------------------------------------------------------- noise and its scale


def _scale_as_loc(epsilon: float) -> Mechanism:
    return lambda data, rng: _grid(data.sum() + rng.laplace(1.0 / epsilon))


def _fixed_scale(epsilon: float) -> Mechanism:
    return lambda data, rng: _grid(data.sum() + rng.laplace(0.0, 1.0))


def _mu(epsilon: float) -> float:
    """The μ of the Gaussian mechanism with ε(DELTA) = epsilon."""
    low, high = 1e-6, 100.0
    for _ in range(80):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if gaussian_epsilon(middle, DELTA) <= epsilon else (low, middle)
    return low


def _mu_as_sigma(epsilon: float) -> Mechanism:
    mu = _mu(epsilon)
    return lambda data, rng: _grid(data.sum() + rng.normal(0.0, mu))


def _sigma_from_mu(epsilon: float) -> Mechanism:
    mu = _mu(epsilon)
    return lambda data, rng: _grid(data.sum() + rng.normal(0.0, 1.0 / mu))


def _spread_scale(epsilon: float) -> Mechanism:
    return lambda data, rng: _grid(data.sum() + rng.laplace(0.0, (1.0 + data.std()) / epsilon))


def _only_if_needed(epsilon: float) -> Mechanism:
    def mechanism(data: Array, rng: np.random.Generator) -> Any:
        total = float(data.sum())
        return float(_grid(total + rng.laplace(0.0, 1.0 / epsilon) if total > 0 else total))

    return mechanism


def _one_draw_for_all(epsilon: float) -> Mechanism:
    return lambda data, rng: _grid(data + rng.laplace(0.0, 1.0 / epsilon))


def _a_draw_each(epsilon: float) -> Mechanism:
    return lambda data, rng: _grid(data + rng.laplace(0.0, 1.0 / epsilon, size=len(data)))


def _ignores_data(epsilon: float) -> Mechanism:
    return lambda data, rng: _grid(0.0 * data.sum() + rng.laplace(0.0, 1.0 / epsilon))


# -------------------------------------------------------------------------------------------------- generators


def _byte_seed(epsilon: float) -> Mechanism:
    def mechanism(data: Array, rng: np.random.Generator) -> Any:
        np.random.seed(int(rng.bytes(1)[0]))
        return _grid(data.sum() + np.random.laplace(0.0, 1.0 / epsilon))

    return mechanism


def _constant_seed(epsilon: float) -> Mechanism:
    def mechanism(data: Array, _rng: np.random.Generator) -> Any:
        return _grid(data.sum() + np.random.default_rng(42).laplace(0.0, 1.0 / epsilon))

    return mechanism


def _own_byte_generator(epsilon: float) -> Mechanism:
    """A hand-written congruential generator with one byte of state: nothing to record, but outputs repeat."""

    def mechanism(data: Array, rng: np.random.Generator) -> Any:
        state = rng.bytes(1)[0]
        u = ((state * 97 + 13) % 256 + 0.5) / 256
        return _grid(data.sum() + math.copysign(math.log(1 - 2 * abs(u - 0.5)), 0.5 - u) / epsilon)

    return mechanism


def _own_long_generator(epsilon: float) -> Mechanism:
    """The same with 52 bits, rounded to a grid."""

    def mechanism(data: Array, rng: np.random.Generator) -> Any:
        u = (int.from_bytes(rng.bytes(7), "big") % 2**52 + 0.5) / 2**52
        return _grid(data.sum() + math.copysign(math.log(1 - 2 * abs(u - 0.5)), 0.5 - u) / epsilon)

    return mechanism


# ------------------------------------------------------------------------------------------- what is published


def _standard_error(epsilon: float) -> Mechanism:
    return lambda data, rng: (
        _grid(data.sum() + rng.laplace(0.0, 1.0 / epsilon)),
        float(data.std() / math.sqrt(len(data))),
    )


def _noisy_error(epsilon: float) -> Mechanism:
    """Half of ε for the sum; half for the standard error, which moves by at most 1/√n on [0, 1]."""

    def mechanism(data: Array, rng: np.random.Generator) -> Any:
        error = data.std() / math.sqrt(len(data)) + rng.laplace(0.0, 2.0 / (epsilon * math.sqrt(len(data))))
        return _grid(data.sum() + rng.laplace(0.0, 2.0 / epsilon)), _grid(error)

    return mechanism


def _raises_on_constant(epsilon: float) -> Mechanism:
    def mechanism(data: Array, rng: np.random.Generator) -> Any:
        if data.max() == data.min():
            raise ValueError("need two classes")
        return _grid(data.sum() + rng.laplace(0.0, 1.0 / epsilon))

    return mechanism


def _one_value_a_class(epsilon: float) -> Mechanism:
    def mechanism(data: Array, rng: np.random.Generator) -> Any:
        classes = np.unique(data)
        return _grid([np.sum(data == c) + rng.laplace(0.0, 2.0 / epsilon) for c in classes])

    return mechanism


def _declared_classes(epsilon: float) -> Mechanism:
    def mechanism(data: Array, rng: np.random.Generator) -> Any:
        return _grid([np.sum(data == c) + rng.laplace(0.0, 2.0 / epsilon) for c in (0.0, 1.0)])

    return mechanism


def _changes_input(epsilon: float) -> Mechanism:
    def mechanism(data: Array, rng: np.random.Generator) -> Any:
        np.clip(data, 0.0, 0.5, out=data)
        return _grid(2 * data.sum() + rng.laplace(0.0, 1.0 / epsilon))

    return mechanism


def _talks(epsilon: float) -> Mechanism:
    def mechanism(data: Array, rng: np.random.Generator) -> Any:
        print("epoch 1/1 " + "." * 500)
        return _grid(data.sum() + rng.laplace(0.0, 1.0 / epsilon))

    return mechanism


# -------------------------------------------------------------------------------------------------- optimisers

BATCH = 2
WITH, WITHOUT = np.zeros(20), np.zeros(20)
WITH[0], WITHOUT[0] = 1.0, -1.0


def _mini_batch(scale: Callable[[float, int], float]) -> Make:
    def make(epsilon: float) -> Mechanism:
        def mechanism(data: Array, rng: np.random.Generator) -> Any:
            batch = rng.choice(len(data), size=BATCH, replace=False)
            return _grid(np.clip(data[batch], -1, 1).mean() + rng.laplace(0.0, scale(epsilon, len(data))))

        return mechanism

    return make


def _mini_batch_epsilon(scale: float) -> float:
    """The record is in the batch with probability p = BATCH/n; then it moves the mean by ±1/BATCH. The ratio is
    largest in the tail.
    """
    p, shift = BATCH / len(WITH), 1 / (BATCH * scale)
    return math.log((1 - p + p * math.exp(shift)) / (1 - p + p * math.exp(-shift)))


INCLUDED, DIM = 0.9, 6


def _batch_gradient(divisor: Callable[[int], int]) -> Make:
    """The mean gradient of a Poisson batch in DIM dimensions; records have l1-norm at most 1."""

    def make(epsilon: float) -> Mechanism:
        def mechanism(data: Array, rng: np.random.Generator) -> Any:
            batch = data[rng.random(len(data)) < INCLUDED]
            return _grid((batch.sum(axis=0) + rng.laplace(0.0, 1.0 / epsilon, size=DIM)) / divisor(len(batch)))

        return mechanism

    return make


def _realised_epsilon() -> float:
    """Zero gradients, one record or two: noise of scale b against b/2 with probability p = INCLUDED², else b.

    The density ratio is largest at 0 one way, p·2^DIM + 1 − p, and in the tails the other way, 1/(1 − p).
    """
    p = INCLUDED**2
    return max(math.log(p * 2**DIM + 1 - p), math.log(1 / (1 - p)))


EPOCHS = 10


def _epochs(total: bool) -> Make:
    def make(epsilon: float) -> Mechanism:
        scale = EPOCHS / epsilon if total else 1.0 / epsilon
        return lambda data, rng: _grid([data.sum() + rng.laplace(0.0, scale) for _ in range(EPOCHS)])

    return make


def _label_sum(used: bool) -> Make:
    def make(epsilon: float) -> Mechanism:
        def mechanism(data: tuple[Array, Array], rng: np.random.Generator) -> Any:
            X, y = data
            clipped = np.clip(y, -1.0, 1.0)
            return _grid((X[:, 0] * (clipped if used else y)).mean() + rng.laplace(0.0, 2.0 / (len(y) * epsilon)))

        return mechanism

    return make


FEATURES, LABELS = np.ones((4, 1)), _column(-1.0, -1.0, 1.0, -1.0)
WILD = _column(10.0, -1.0, 1.0, -1.0)


def _newton(noisy: bool) -> Make:
    """One Newton step for Σ(w − x_i)²·x_i²: the gradient gets noise, the curvature does not."""

    def make(epsilon: float) -> Mechanism:
        def mechanism(data: Array, rng: np.random.Generator) -> Any:
            curvature = 1.0 + float((data**2).sum())
            gradient = float(data.sum())
            if not noisy:
                return _grid((gradient + rng.laplace(0.0, 1.0 / epsilon)) / curvature)
            steady = max(1.0, curvature + rng.laplace(0.0, 2.0 / epsilon))
            return _grid((gradient + rng.laplace(0.0, 2.0 / epsilon)) / steady)

        return mechanism

    return make


RADIUS = 20.0
POINT, NOTHING = _column(1.0), _column(0.0)


def _slope(data: Array, w: Array | float, weight: float) -> Any:
    """The derivative of Σ log(1 + e^{−x_i w}) + weight·w²/2."""
    w = np.asarray(w, dtype=float)
    return sum(-x / (1 + np.exp(x * w)) for x in data.tolist()) + weight * w


def _objective(weight: Callable[[float], float], share: float) -> Make:
    """Objective perturbation in one dimension: minimise Σ log(1 + e^{−x_i w}) + weight·w²/2 + b·w over [−RADIUS,
    RADIUS].
    """

    def make(epsilon: float) -> Mechanism:
        def mechanism(data: Array, rng: np.random.Generator) -> Any:
            b = rng.laplace(0.0, 1.0 / (share * epsilon))
            low, high = -RADIUS, RADIUS
            for _ in range(40):
                middle = (low + high) / 2
                low, high = (low, middle) if float(_slope(data, middle, weight(epsilon))) + b > 0 else (middle, high)
            return round(low, 6)

        return mechanism

    return make


def _objective_law(weight: float, scale: float) -> Law:
    """P(w ≤ t) = P(b ≥ −slope(t)): exact, with atoms at the ends of the interval."""
    grid = np.concatenate([np.linspace(-RADIUS + 1e-4, RADIUS - 1e-4, 4001)])

    def cdf(t: Array, side: int) -> Array:
        return laplace_cdf(np.asarray(_slope(POINT if side == 0 else NOTHING, t, weight)), scale)

    return from_cdfs(cdf, grid)


def _curvature_weight(epsilon: float) -> float:
    """The weight that pays for the change of curvature with half of ε: ln(1 + (1/4)/weight) = ε/2."""
    return 0.25 / math.expm1(epsilon / 2)


SMALL_WEIGHT = 0.01


# ------------------------------------------------------------------------------------------------------ the list


def _sum(name: str, about: str, make: Make, kinds: str, epsilon: float, true_epsilon: float, **more: Any) -> Specimen:
    """A specimen on the sum of four numbers in [0, 1]."""
    return Specimen(
        name,
        about,
        make,
        more.pop("repaired", _laplace_sum),
        more.pop("dataset", ZERO),
        more.pop("neighbour", ONE),
        epsilon,
        true_epsilon,
        more.pop("twin_epsilon", epsilon),
        frozenset(kinds.split()),
        **more,
    )


def specimens() -> list[Specimen]:
    """All of them; names are unique."""
    return [*_noise_specimens(), *_generator_specimens(), *_output_specimens(), *_optimiser_specimens()]


def _noise_specimens() -> list[Specimen]:
    inf, mu = math.inf, _mu(1.0)
    return [
        _sum("scale-as-loc", "noise scale passed as loc", _scale_as_loc, "scale-as-loc", 0.25, 1.0),
        _sum("fixed-scale", "noise scale that ignores ε", _fixed_scale, "scale-ignores-epsilon", 0.25, 1.0),
        _sum(
            "mu-as-sigma",
            "GDP μ used as a standard deviation",
            _mu_as_sigma,
            "noise-grows-with-epsilon sensitivity",
            1.0,
            gaussian_epsilon(1 / mu, DELTA),
            delta=DELTA,
            repaired=_sigma_from_mu,
            twin_epsilon=gaussian_epsilon(mu, DELTA),
        ),
        _sum(
            "data-dependent-scale", "noise scale taken from the data", _spread_scale, "data-dependent-scale", 0.5, inf
        ),
        _sum(
            "one-sided-noise",
            "no noise where there seems nothing to hide",
            _only_if_needed,
            "one-sided-noise",
            1.0,
            inf,
        ),
        _sum(
            "shared-noise",
            "one draw for all coordinates",
            _one_draw_for_all,
            "shared-noise",
            1.0,
            inf,
            repaired=_a_draw_each,
        ),
        _sum("ignores-data", "the data do not matter", _ignores_data, "data-independent", 1.0, 0.0, test=False),
    ]


def _generator_specimens() -> list[Specimen]:
    inf = math.inf
    return [
        _sum("byte-seed", "re-seeded in each call from one byte", _byte_seed, "reseeded", 1.0, inf),
        _sum(
            "constant-seed",
            "re-seeded in each call with a constant",
            _constant_seed,
            "reseeded deterministic",
            1.0,
            inf,
        ),
        _sum(
            "byte-state",
            "a generator of its own with one byte of state",
            _own_byte_generator,
            "",
            1.0,
            inf,
            repaired=_own_long_generator,
        ),
    ]


def _output_specimens() -> list[Specimen]:
    inf = math.inf
    return [
        _sum(
            "open-standard-error",
            "un-noised standard error released",
            _standard_error,
            "unnoised-output",
            1.0,
            inf,
            repaired=_noisy_error,
            twin_epsilon=0.5 + 0.5 * (ONE.std() - ZERO.std()),
        ),
        _sum(
            "one-sided-exception",
            "an exception on one side only",
            _raises_on_constant,
            "one-sided-exceptions",
            1.0,
            inf,
        ),
        _sum(
            "length-leaks",
            "output shape depends on the data",
            _one_value_a_class,
            "shape-depends-on-data",
            1.0,
            inf,
            repaired=_declared_classes,
        ),
        _sum("mutates-input", "input changed in place", _changes_input, "mutates-input", 1.0, 1.0, test=False),
        _sum("prints", "writes to stdout in every call", _talks, "prints", 1.0, 1.0, test=False),
    ]


def _optimiser_specimens() -> list[Specimen]:
    inf = math.inf
    loose, tight = _objective_law(SMALL_WEIGHT, 2.0), _objective_law(_curvature_weight(0.5), 4.0)
    return [
        _sum(
            "batch-mean",
            "noise for n records, gradient of a mini-batch",
            _mini_batch(lambda e, n: 2 / (n * e)),
            "sensitivity",
            1.0,
            _mini_batch_epsilon(2 / len(WITH)),
            repaired=_mini_batch(lambda e, n: 2 / (BATCH * e)),
            dataset=WITH,
            neighbour=WITHOUT,
            twin_epsilon=_mini_batch_epsilon(2 / BATCH),
        ),
        _sum(
            "realised-batch",
            "division by the realised batch size",
            _batch_gradient(lambda size: max(1, size)),
            "",
            0.25,
            _realised_epsilon(),
            repaired=_batch_gradient(lambda _size: 2),
            dataset=np.zeros((1, DIM)),
            neighbour=np.zeros((2, DIM)),
            relation="add-remove",
            twin_epsilon=0.0,
        ),
        _sum(
            "no-composition",
            "no composition over epochs",
            _epochs(False),
            "transcript",
            0.5,
            0.5 * EPOCHS,
            repaired=_epochs(True),
        ),
        _sum(
            "labels-not-clipped",
            "clipped labels computed and not used",
            _label_sum(False),
            "sensitivity",
            0.5,
            0.5 * 11 / 2,
            repaired=_label_sum(True),
            dataset=(FEATURES, LABELS),
            neighbour=(FEATURES, WILD),
            clips=True,
        ),
        _sum(
            "open-curvature",
            "step size from un-noised curvature",
            _newton(False),
            "unnoised-path",
            0.5,
            inf,
            repaired=_newton(True),
        ),
        _sum(
            "no-regulariser",
            "regulariser set to 0",
            _objective(lambda _: 0.0, 0.5),
            "output-law",
            0.5,
            inf,
            repaired=_objective(_curvature_weight, 0.5),
            dataset=POINT,
            neighbour=NOTHING,
            twin_epsilon=tight.true_epsilon(),
        ),
        _sum(
            "missing-term",
            "the analysis' curvature term left out",
            _objective(lambda _: SMALL_WEIGHT, 1.0),
            "output-law",
            0.5,
            loose.true_epsilon(),
            repaired=_objective(_curvature_weight, 0.5),
            dataset=POINT,
            neighbour=NOTHING,
            twin_epsilon=tight.true_epsilon(),
        ),
    ]


# ------------------------------------------------------------------------------------- correct, and easily suspected


@dataclass(frozen=True)
class Innocent:
    """A correct mechanism that looks suspicious: its noise is shaped by other draws, or its scale by the data."""

    name: str
    mechanism: Mechanism
    dataset: Any
    neighbour: Any
    epsilon: float = 1.0
    delta: float = 0.0


def spherical(data: Array, rng: np.random.Generator) -> Array:
    """Density ∝ e^{−‖x‖}: exactly 1-DP for differences of norm 1."""
    direction = rng.normal(size=3)
    return np.asarray(data + direction / np.linalg.norm(direction) * rng.gamma(3, 1.0))


def mixture(data: list[float], rng: np.random.Generator) -> float:
    """√(2E)·Z has a Laplace law."""
    return float(data[0] + np.sqrt(2 * rng.exponential()) * rng.normal())


def mixture_scale(data: list[float], rng: np.random.Generator) -> float:
    """The same, the scale handed to the draw."""
    return float(data[0] + rng.normal(0, np.sqrt(2 * rng.exponential())))


def global_mixture(data: list[float], _rng: np.random.Generator) -> float:
    """The same from Python's own generator."""
    return float(data[0] + (2 * random.expovariate(1.0)) ** 0.5 * random.gauss(0, 1))


def plain_mixture(data: list[float], rng: np.random.Generator) -> float:
    """The same with a square root that numpy does not see."""
    return float(data[0] + math.sqrt(2 * rng.exponential()) * rng.standard_normal())


def student(data: list[float], rng: np.random.Generator) -> float:
    """A normal number over the root of a later draw: Student's law, on whose scale 6 a step of 1 costs 0.19."""
    return float(data[0] + 6 * rng.standard_normal() / math.sqrt(rng.chisquare(3) / 3))


def difference(data: list[float], rng: np.random.Generator) -> float:
    """Two exponential draws, one after the other, make a Laplace draw."""
    return float(data[0] + rng.exponential() - rng.exponential())


def logistic(data: list[float], rng: np.random.Generator) -> float:
    """Two noisy scores of which the difference is published: two Gumbel draws make a logistic one."""
    return float((data[0] + rng.gumbel()) - rng.gumbel())


def shares(data: list[float], rng: np.random.Generator) -> float:
    """Ten parties add their share of the noise, one after the other."""
    total = data[0]
    for _ in range(10):
        total = total + rng.normal(0, 4.9 / math.sqrt(10))
    return float(total)


def threshold(data: list[float], rng: np.random.Generator) -> int:
    """Gaussian noise on an answer of which only the sign is published: randomised response with ε = 0.81."""
    return int(data[0] - 0.5 + rng.normal() > 0)


def shuffled(data: list[float], rng: np.random.Generator) -> list[float]:
    """Each of 50 people adds Laplace noise worth 1.2 themselves, then all answers are shuffled.

    (1, 0.01)-DP: let ℓ be the ratio of the densities at one answer, between e^−1.2 and e^1.2. That of the shuffled
    answers is the mean L of 50 independent ℓ, whose mean is 1. By Hoeffding's inequality P(L < 1/e) ≤ 0.013, and there
    1 − eL ≤ 0.19; P(L > e + t) is below e^−32 for all t ≥ 0.
    """
    answers = [x + rng.laplace(0, 1 / 1.2) for x in data]
    rng.shuffle(answers)
    return answers


def smooth(data: list[float], rng: np.random.Generator) -> float:
    """The median with Cauchy noise on a smooth scale (Nissim, Raskhodnikova, Smith 2007)."""
    x = np.sort(np.clip(data, 0, 1))
    n, m = len(x), len(x) // 2
    full = np.concatenate([np.zeros(n), x, np.ones(n)])
    gaps = [max(full[n + m + t] - full[n + m + t - k - 1] for t in range(k + 2)) for k in range(n)]
    scale = max(np.exp(-k / 6) * gap for k, gap in enumerate(gaps))
    return float(x[m] + 6 * scale * rng.standard_cauchy())


def single(data: list[float], rng: np.random.Generator) -> np.float32:
    """Laplace noise in 32 bits, as torch and jax draw it."""
    return np.float32(np.float32(data[0]) + np.float32(rng.laplace()))


def innocents() -> list[Innocent]:
    """All of them; names are unique."""
    axis = np.array([1.0, 0.0, 0.0])
    scores = [0.1, 0.2, 0.5, 0.8, 0.9]
    return [
        Innocent("spherical", spherical, np.zeros(3), axis),
        Innocent("mixture", mixture, [0.0], [1.0]),
        Innocent("mixture-scale", mixture_scale, [0.0], [1.0]),
        Innocent("global-mixture", global_mixture, [0.0], [1.0]),
        Innocent("plain-mixture", plain_mixture, [0.0], [1.0]),
        Innocent("student", student, [0.0], [1.0]),
        Innocent("exponential-difference", difference, [0.0], [1.0]),
        Innocent("gumbel-difference", logistic, [0.0], [1.0]),
        Innocent("noise-in-shares", shares, [0.0], [1.0], 1.0, DELTA),
        Innocent("threshold", threshold, [0.0], [1.0]),
        Innocent("shuffled", shuffled, [0.0] * 50, [1.0] + [0.0] * 49, 1.0, 0.01),
        Innocent("smooth-sensitivity", smooth, scores, [0.1, 0.2, 1.0, 0.8, 0.9]),
        Innocent("32-bit-laplace", single, [0.0], [1.0]),
    ]
