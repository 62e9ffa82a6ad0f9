"""Selections and answers from finite sets: noisy max, exponential mechanism, randomised response, sparse vector."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.zoo.entry import Array, Entry, between, on_grid, position
from bench.zoo.law import Law, discrete, from_cdfs, laplace_cdf

FIVE = (np.ones(5), np.array([2.0, 0.0, 0.0, 0.0, 0.0]))
"""Five query answers, each of which moves by one."""
TEN = (np.array([1.0] * 5 + [0.0] * 5), np.array([0.0] * 5 + [1.0] * 5))
RADIUS = np.linspace(-60, 60, 24_001)
"""Values of the threshold's noise over which sparse vector is integrated."""


# ------------------------------------------------------------------------------------------------- noisy max


def argmax_mass(scores: Array, scale: float) -> Array:
    """P(argmax of scores + Laplace(scale) noise = i), by quadrature over the winning value."""
    x = np.linspace(scores.min() - 40 * scale, scores.max() + 40 * scale, 40_001)
    mass = []
    for i in range(len(scores)):
        density = np.exp(-np.abs(x - scores[i]) / scale) / (2 * scale)
        for j in range(len(scores)):
            if j != i:
                density = density * laplace_cdf(x - scores[j], scale)
        mass.append(np.trapezoid(density, x))
    return np.array(mass)


def _gumbel_wrong_sign_mass(scores: Array) -> Array:
    """P(argmin of scores + Gumbel = i): the sign that the exponential mechanism must not have."""
    x = np.linspace(scores.min() - 8, scores.max() + 60, 80_001)
    upper = [-np.expm1(-np.exp(-(x - s))) for s in scores]
    mass = []
    for i, s in enumerate(scores):
        density = np.exp(-(x - s) - np.exp(-(x - s)))
        for j in range(len(scores)):
            if j != i:
                density = density * upper[j]
        mass.append(np.trapezoid(density, x))
    return np.array(mass)


def _max_value_law() -> Law:
    grid = np.linspace(-30, 60, 18_001) + 1e-9
    return from_cdfs(lambda x, s: np.prod([laplace_cdf(x - c, 2.0) for c in FIVE[s]], axis=0), grid, 1.5)


def _noisy_max(scale: float) -> Any:
    return lambda d, size, rng: (np.asarray(d) + rng.laplace(0, scale, (size, 5))).argmax(axis=1)


def _exponential_mass(scores: Array) -> Array:
    return np.exp(scores / 2)


def _exponential(d: Any, size: int, rng: np.random.Generator) -> list[str]:
    """ε = 1, sensitivity 1: P(i) ∝ e^{score/2}; the answer is a name."""
    mass = _exponential_mass(np.asarray(d))
    return [NAMES[i] for i in rng.choice(5, size, p=mass / mass.sum())]


NAMES = ("ash", "beech", "cedar", "elm", "fir")


# ------------------------------------------------------------------------------------------ randomised response


def _response_mass(true: int, kinds: int, epsilon: float) -> Array:
    mass = np.ones(kinds)
    mass[true] = math.exp(epsilon)
    return np.asarray(mass / mass.sum())


def _response(kinds: int, epsilon: float) -> Any:
    def sample(d: Any, size: int, rng: np.random.Generator) -> list[str]:
        return [f"k{i}" for i in rng.choice(kinds, size, p=_response_mass(int(d[0]), kinds, epsilon))]

    return sample


def _worst_case(epsilon: float, delta: float) -> tuple[Array, Array]:
    """The four-outcome pair that attains every (ε, δ) bound."""
    q = math.exp(epsilon) / (1 + math.exp(epsilon))
    p = np.array([delta, (1 - delta) * q, (1 - delta) * (1 - q), 0.0])
    return p[::-1].copy(), p


# ------------------------------------------------------------------------------------------------ sparse vector


def _svt_draws(d: Any, size: int, rng: np.random.Generator, noise: tuple[float, float, float]) -> tuple[Array, Array]:
    """Whether each noisy answer passes the noisy threshold, and the noisy answers. noise = (threshold, its scale,
    answers' scale).
    """
    threshold, outer, inner = noise
    limit = threshold + rng.laplace(0, outer, size)[:, None]
    answers = np.asarray(d) + (rng.laplace(0, inner, (size, 10)) if inner else np.zeros((size, 10)))
    return answers >= limit, answers


def _svt_first(noise: tuple[float, float, float], values: bool = False) -> Any:
    """Stops at the first answer that passes: False, …, False, True (or that answer's noisy value)."""

    def sample(d: Any, size: int, rng: np.random.Generator) -> list[tuple[Any, ...]]:
        passed, answers = _svt_draws(d, size, rng, noise)
        first = np.where(passed.any(axis=1), passed.argmax(axis=1), 10).tolist()
        if not values:
            return [PREFIXES[i] for i in first]
        shown = on_grid(answers)
        return [(*PREFIXES[10][:i], float(shown[r, i])) if i < 10 else PREFIXES[10] for r, i in enumerate(first)]

    return sample


def _svt_all(noise: tuple[float, float, float]) -> Any:
    """Never stops: ten booleans."""
    return lambda d, size, rng: [tuple(row) for row in _svt_draws(d, size, rng, noise)[0].tolist()]


PREFIXES = [(*([False] * i), True) for i in range(10)] + [(False,) * 10]
STRINGS = list(itertools.product((False, True), repeat=10))


def _svt_mass(strings: Sequence[Sequence[bool]], scores: Array, noise: tuple[float, float, float]) -> Array:
    """P(string), by quadrature over the noise of the threshold, given which all answers are independent.

    Without noise on the answers the integrand jumps: then the mass between two distinct scores is exact.
    """
    threshold, outer, inner = noise
    if inner == 0:
        return _svt_noiseless_mass(strings, scores, threshold, outer)
    weight = np.exp(-np.abs(RADIUS) / outer) / (2 * outer)
    below = [laplace_cdf(threshold + RADIUS - s, inner) for s in scores]
    mass = []
    for string in strings:
        density = weight
        for i, passed in enumerate(string):
            density = density * ((1 - below[i]) if passed else below[i])
        mass.append(np.trapezoid(density, RADIUS))
    return np.array(mass)


def _svt_noiseless_mass(strings: Sequence[Sequence[bool]], scores: Array, threshold: float, outer: float) -> Array:
    ends = [0.0, *laplace_cdf(np.unique(scores) - threshold, outer), 1.0]
    levels = [-np.inf, *np.unique(scores), np.inf]
    mass = dict.fromkeys(strings, 0.0)
    for low, high, left, right in zip(levels[:-1], levels[1:], ends[:-1], ends[1:], strict=True):
        limit = high if np.isfinite(high) else low + 1.0
        mass[tuple(bool(s >= limit) for s in scores)] += float(right - left)
    return np.array([mass[s] for s in strings])


SVT3_VALUES = np.linspace(-40, 40, 1601) + 1e-9


def _svt3_mass(scores: Array) -> Array:
    """Cells (position, interval of the released value), then "none". Fine steps inside each interval."""
    noise = (1.0, 2.0, 2.0)
    step = RADIUS[1] - RADIUS[0]
    weight = np.exp(-np.abs(RADIUS) / 2) / 4
    cells = []
    for i in range(10):
        up_to = np.concatenate([[0.0], np.cumsum((weight[1:] + weight[:-1]) / 2) * step])
        value = RADIUS + noise[0]
        density = up_to * np.exp(-np.abs(value - scores[i]) / 2) / 4
        cumulated = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2) * step])
        ends = np.concatenate([[0.0], np.interp(SVT3_VALUES, value, cumulated), [cumulated[-1]]])
        cells.append(np.diff(ends))
        weight = weight * laplace_cdf(noise[0] + RADIUS - scores[i], 2.0)
    return np.concatenate([*cells, [np.trapezoid(weight, RADIUS)]])


def _svt3_cells(outputs: Any) -> Array:
    wide = len(SVT3_VALUES) + 1
    return np.array(
        [
            10 * wide if o[-1] is False else (len(o) - 1) * wide + int(np.searchsorted(SVT3_VALUES, o[-1], "right"))
            for o in outputs
        ]
    )


def _svt3_law() -> Law:
    return discrete(_svt3_mass(TEN[0]), _svt3_mass(TEN[1]))


def _svt(name: str, about: str, noise: tuple[float, float, float], stops: bool, peer: float) -> Entry:
    strings: Sequence[tuple[bool, ...]] = PREFIXES if stops else STRINGS
    return Entry(
        name,
        about,
        _svt_first(noise) if stops else _svt_all(noise),
        *TEN,
        1.0,
        best_peer=peer,
        cells=position(strings),
        make_law=lambda: discrete(_svt_mass(strings, TEN[0], noise), _svt_mass(strings, TEN[1], noise)),
    )


def entries() -> list[Entry]:
    """The selections. Sparse-vector variants are numbered as by Lyu, Su and Li (2017), ε = 1, one positive answer."""
    numbers = list(range(5))
    fours = _worst_case(1.0, 0.01)
    three = (np.zeros(3), np.array([1.0, 0.0, 0.0]))
    scores = (np.array([1.0, 1, 1, 1, 1]), np.array([2.0, 0, 0, 0, 0]))
    return [
        Entry(
            "report-noisy-max",
            "index of the largest of five answers with Laplace(2)",
            _noisy_max(2.0),
            *FIVE,
            1.0,
            lambda: discrete(argmax_mass(FIVE[0], 2.0), argmax_mass(FIVE[1], 2.0)),
            position(numbers),
            best_peer=0.72,
        ),
        Entry(
            "noisy-max-quarter-noise",
            "the same with Laplace(1/2)",
            _noisy_max(0.5),
            *FIVE,
            1.0,
            lambda: discrete(argmax_mass(FIVE[0], 0.5), argmax_mass(FIVE[1], 0.5)),
            position(numbers),
            best_peer=2.22,
        ),
        Entry(
            "noisy-max-value",
            "the largest noisy answer itself, Laplace(2)",
            lambda d, n, r: on_grid((np.asarray(d) + r.laplace(0, 2, (n, 5))).max(axis=1)),
            *FIVE,
            1.0,
            _max_value_law,
            between(np.linspace(-30, 60, 18_001) + 1e-9),
            best_peer=1.26,
        ),
        Entry(
            "exponential-mechanism",
            "five candidates, answers are names",
            _exponential,
            *scores,
            1.0,
            lambda: discrete(_exponential_mass(scores[0]), _exponential_mass(scores[1])),
            position(NAMES),
        ),
        Entry(
            "gumbel-wrong-sign",
            "argmin of scores + Gumbel: the exponential mechanism with the wrong sign",
            lambda d, n, r: (np.asarray(d) + r.gumbel(size=(n, 3))).argmin(axis=1),
            *three,
            0.5,
            lambda: discrete(_gumbel_wrong_sign_mass(three[0]), _gumbel_wrong_sign_mass(three[1])),
            position([0, 1, 2]),
        ),
        Entry(
            "randomised-response",
            "binary, ε = ln 3",
            _response(2, math.log(3)),
            [0],
            [1],
            math.log(3),
            lambda: discrete(_response_mass(0, 2, math.log(3)), _response_mass(1, 2, math.log(3))),
            position(["k0", "k1"]),
        ),
        Entry(
            "randomised-response-8",
            "eight kinds, ε = 1",
            _response(8, 1.0),
            [0],
            [1],
            1.0,
            lambda: discrete(_response_mass(0, 8, 1.0), _response_mass(1, 8, 1.0)),
            position([f"k{i}" for i in range(8)]),
        ),
        Entry(
            "four-outcomes",
            "the pair that attains every (1, 0.01) bound",
            lambda d, n, r: r.choice(4, n, p=fours[int(d[0])]),
            [0],
            [1],
            1.0,
            lambda: discrete(*fours),
            position(range(4)),
            delta=0.01,
        ),
        _svt("svt-1", "sparse vector, correct, threshold 1/2", (0.5, 2.0, 4.0), True, 0.81),
        Entry(
            "svt-3",
            "sparse vector that releases the noisy answer",
            _svt_first((1.0, 2.0, 2.0), values=True),
            *TEN,
            1.0,
            _svt3_law,
            _svt3_cells,
            best_peer=1.62,
        ),
        _svt("svt-4", "sparse vector with too little noise on the answers", (1.0, 4.0, 4 / 3), True, 1.57),
        _svt("svt-5", "sparse vector without noise on the answers", (1.0, 2.0, 0.0), False, 7.89),
        _svt("svt-6", "sparse vector that never stops", (1.0, 2.0, 2.0), False, 2.88),
    ]
