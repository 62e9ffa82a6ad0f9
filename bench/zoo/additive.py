"""Numeric queries with additive noise: correct ones, and the ways to get the noise wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from audit.auditor.lints.replay import gaussian_epsilon
from bench.zoo.entry import Array, Entry, Sampler, between, on_grid, position
from bench.zoo.law import Law, discrete, from_cdfs, laplace_cdf, normal_cdf

FINE = np.linspace(-30, 31, 24_401) + 1e-9
"""Interval ends; shifted off the output grid, so that no output lies on one."""


def total(dataset: Any) -> float:
    """The query: the sum of the records."""
    return float(np.sum(dataset))


def noisy_sum(dataset: Any, size: int, rng: np.random.Generator) -> Array:
    """The sum with Laplace noise of scale 1: (1, 0)-DP for records in [0, 1]. What the help of `dpso test` tries."""
    return on_grid(total(dataset) + rng.laplace(scale=1.0, size=size))


def laplace_law(scales: tuple[float, float], centres: tuple[float, float], epsilon: float | None) -> Law:
    """Laplace noise on both sides."""
    return from_cdfs(lambda x, s: laplace_cdf(x - centres[s], scales[s]), FINE, epsilon)


def gaussian_law(mu: float) -> Law:
    """The likelihood ratio of a Gaussian shift by μ standard deviations depends on one coordinate: N(0,1) against
    N(μ,1).
    """
    return from_cdfs(lambda x, s: normal_cdf(x - mu * s), np.linspace(-9, 9 + mu, 20_001), math.inf)


def _laplace(scale: float) -> Sampler:
    return lambda d, size, rng: on_grid(total(d) + rng.laplace(0, scale, size))


def _truncated(d: Any, size: int, rng: np.random.Generator) -> Array:
    u = rng.random(size)
    sign = np.where(rng.random(size) < 0.5, -1, 1)
    return on_grid(total(d) + sign * -np.log1p(-u * -math.expm1(-4.0)))


def _truncated_cdf(x: Array, side: int) -> Array:
    y = np.clip(x - side, -4, 4)
    return np.asarray(
        (laplace_cdf(y) - laplace_cdf(np.array(-4.0))) / (laplace_cdf(np.array(4.0)) - laplace_cdf(np.array(-4.0)))
    )


def _bounded(d: Any, size: int, rng: np.random.Generator) -> Array:
    """Laplace of scale 1 restricted to [0, 1] around the value: the normaliser depends on the value."""
    centre = total(d)
    low, high = (float(laplace_cdf(np.array(end - centre))) for end in (0.0, 1.0))
    u = low + (high - low) * rng.random(size)
    noise = np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u)))
    return on_grid(np.clip(centre + noise, 0, 1))


def _bounded_cdf(x: Array, side: int) -> Array:
    centre = 0.0 if side == 0 else 0.5
    low, high = (float(laplace_cdf(np.array(end - centre))) for end in (0.0, 1.0))
    return np.asarray((laplace_cdf(np.clip(x, 0, 1) - centre) - low) / (high - low))


def _bounded_law() -> Law:
    return from_cdfs(_bounded_cdf, np.linspace(0, 1, 4001)[:-1] + 1e-9)


def _staircase(d: Any, size: int, rng: np.random.Generator) -> Array:
    """Geng and Viswanath: a geometric mixture of uniforms, ε = 1, sensitivity 1, γ = 1/(1+e^{1/2})."""
    gamma = 1 / (1 + math.exp(0.5))
    b = math.exp(-1.0)
    sign = np.where(rng.random(size) < 0.5, -1.0, 1.0)
    step = rng.geometric(1 - b, size) - 1
    inner = rng.random(size) < gamma / (gamma + (1 - gamma) * b)
    u = rng.random(size)
    return on_grid(total(d) + sign * np.where(inner, step + gamma * u, step + gamma + (1 - gamma) * u))


def _staircase_cdf(x: Array, side: int) -> Array:
    gamma, b = 1 / (1 + math.exp(0.5)), math.exp(-1.0)
    y = np.abs(x - side)
    step = np.floor(y)
    part = y - step
    share = gamma / (gamma + (1 - gamma) * b)
    inside = np.where(part < gamma, share * part / gamma, share + (1 - share) * (part - gamma) / (1 - gamma))
    mass = 1 - b**step + b**step * (1 - b) * inside
    return np.asarray(np.where(x - side < 0, 0.5 - mass / 2, 0.5 + mass / 2))


INTEGERS = np.arange(-60, 62)


def _geometric_law() -> Law:
    mass = [np.exp(-np.abs(INTEGERS - s).astype(float)) for s in (0, 1)]
    return discrete(mass[0], mass[1], 1.0)


def _geometric(d: Any, size: int, rng: np.random.Generator) -> Array:
    p = 1 - math.exp(-1.0)
    return np.asarray(np.clip(int(total(d)) + rng.geometric(p, size) - rng.geometric(p, size), -60, 61))


def _discrete_gaussian_mass(centre: int) -> Array:
    mass = np.exp(-((INTEGERS - centre) ** 2) / 2.0)
    return np.asarray(mass / mass.sum())


def _discrete_gaussian(d: Any, size: int, rng: np.random.Generator) -> Array:
    return np.asarray(rng.choice(INTEGERS, size, p=_discrete_gaussian_mass(int(total(d)))))


def _discrete_gaussian_law() -> Law:
    return discrete(_discrete_gaussian_mass(0), _discrete_gaussian_mass(1))


def _subsampled(d: Any, size: int, rng: np.random.Generator) -> Array:
    """Each record is used with probability 0.2; Gaussian noise of standard deviation 1."""
    return on_grid(rng.binomial(int(total(d)), 0.2, size) + rng.normal(size=size))


def _subsampled_law() -> Law:
    return from_cdfs(lambda x, s: normal_cdf(x) if s == 0 else 0.8 * normal_cdf(x) + 0.2 * normal_cdf(x - 1), FINE[::2])


def _float_inversion(d: Any, size: int, rng: np.random.Generator) -> Array:
    """The textbook inversion in binary64, every bit released."""
    u = rng.random(size) - 0.5
    return np.asarray(total(d) - np.sign(u) * np.log(1 - 2 * np.abs(u)))


def _float_inversion_law() -> Law:
    """Outputs on dataset 0 may have bits below 2**-53; 1 + noise never has (Sterbenz for noise in [−1, −½], unit
    2**-53 elsewhere).

    In [2**(e−1), 2**e) a float has unit 2**(e−53); its lowest bits are uniform, so a share 1 − 2**e has a bit below
    2**-53.
    """
    exponents = np.arange(-40, 0)
    mass = np.exp(-(2.0 ** (exponents - 1))) - np.exp(-(2.0**exponents))
    fine = float(np.sum(mass * (1 - 2.0**exponents)))
    return discrete(np.array([fine, 1 - fine]), np.array([0.0, 1.0]), math.inf)


def _has_fine_bits(outputs: Any) -> Array:
    return np.where(np.asarray(outputs) * 2.0**53 % 1 != 0, 0, 1)


def _seed_reused(d: Any, size: int, rng: np.random.Generator) -> Array:
    """The generator is re-seeded inside each call from one byte: 256 possible noises."""
    return np.asarray(total(d) + _BYTE_NOISE[rng.integers(0, 256, size)])


_BYTE_NOISE = (
    np.round(np.array([np.random.Generator(np.random.PCG64(b)).laplace() for b in range(256)]) * 2**20) / 2**20
)


def _seed_law() -> Law:
    values = np.unique(np.concatenate([_BYTE_NOISE, _BYTE_NOISE + 1]))
    masses = [np.array([np.sum(v == _BYTE_NOISE + s) for v in values]) / 256 for s in (0, 1)]
    return discrete(masses[0], masses[1])


def _clip_law() -> Law:
    """Clipped to [0, 1] after the noise: atoms at both ends; the records reach 3 although 1 was assumed."""
    return from_cdfs(lambda x, s: laplace_cdf(x - 3 * s), np.linspace(0, 1, 2001), 3.0)


def _vector(dimension: int, sigma: float) -> Sampler:
    return lambda d, size, rng: on_grid(np.asarray(d) + sigma * rng.normal(size=(size, dimension)))


def _along(direction: Array, sigma: float) -> Any:
    """Cells of `gaussian_law` for vectors: the coordinate along the shift, in standard deviations."""
    grid = np.linspace(-9, 9 + float(np.linalg.norm(direction)) / sigma, 20_001)
    unit = direction / np.linalg.norm(direction) / sigma
    return lambda outputs: np.searchsorted(grid, np.asarray(outputs) @ unit, side="right")


def entries() -> list[Entry]:
    """The additive mechanisms."""
    axis = np.eye(100)[0]
    pair: dict[str, Any] = {"dataset": [0.0], "neighbour": [1.0]}
    normal = np.linspace(-9, 10, 20_001)
    delta = 1e-5
    sigma = 3.0
    return [
        Entry(
            "laplace",
            "Laplace noise of scale 1",
            _laplace(1.0),
            **pair,
            epsilon=1.0,
            best_peer=0.98,
            make_law=lambda: laplace_law((1, 1), (0, 1), 1.0),
            cells=between(FINE),
        ),
        Entry(
            "gaussian",
            "Gaussian noise, σ = 1",
            lambda d, n, r: on_grid(total(d) + r.normal(size=n)),
            **pair,
            delta=delta,
            epsilon=gaussian_epsilon(1.0, delta),
            best_peer=2.67,
            make_law=lambda: gaussian_law(1.0),
            cells=between(normal),
        ),
        Entry(
            "laplace-float-inversion",
            "Laplace by inversion in binary64, all bits released",
            _float_inversion,
            **pair,
            epsilon=1.0,
            floats="bits",
            best_peer=5.48,
            make_law=_float_inversion_law,
            cells=_has_fine_bits,
        ),
        Entry(
            "gaussian-shift-100",
            "100 coordinates, σ = 1, claimed pure",
            _vector(100, 1.0),
            np.zeros(100),
            axis,
            1.0,
            best_peer=2.08,
            make_law=lambda: gaussian_law(1.0),
            cells=_along(axis, 1.0),
        ),
        Entry(
            "gaussian-vector-20",
            "20 coordinates, σ = 2, shift along the diagonal",
            _vector(20, 2.0),
            np.zeros(20),
            np.full(20, 20**-0.5),
            gaussian_epsilon(0.5, delta),
            delta=delta,
            make_law=lambda: gaussian_law(0.5),
            cells=_along(np.full(20, 20**-0.5), 2.0),
        ),
        Entry(
            "geometric",
            "two-sided geometric noise",
            _geometric,
            **pair,
            epsilon=1.0,
            make_law=_geometric_law,
            cells=position(INTEGERS.tolist()),
        ),
        Entry(
            "staircase",
            "staircase noise, optimal for ε = 1",
            _staircase,
            **pair,
            epsilon=1.0,
            make_law=lambda: from_cdfs(_staircase_cdf, FINE, 1.0),
            cells=between(FINE),
        ),
        Entry(
            "discrete-gaussian",
            "discrete Gaussian, σ = 1",
            _discrete_gaussian,
            **pair,
            delta=delta,
            epsilon=_discrete_gaussian_law().true_epsilon(delta),
            make_law=_discrete_gaussian_law,
            cells=position(INTEGERS.tolist()),
        ),
        Entry(
            "subsampled-gaussian",
            "each record used with probability 0.2, σ = 1",
            _subsampled,
            **pair,
            delta=delta,
            epsilon=_subsampled_law().true_epsilon(delta),
            make_law=_subsampled_law,
            cells=between(FINE[::2]),
        ),
        Entry(
            "laplace-rounded",
            "Laplace rounded to integers: post-processing",
            lambda d, n, r: np.clip(np.round(total(d) + r.laplace(size=n)), -29, 30),
            **pair,
            epsilon=1.0,
            make_law=lambda: from_cdfs(lambda x, s: laplace_cdf(x - s), np.arange(-29, 30) + 0.5, 1.0),
            cells=between(np.arange(-29, 30) + 0.5),
        ),
        Entry(
            "uniform-noise",
            "uniform noise on [−5, 5]: (0, 1/10)-DP and no better",
            lambda d, n, r: on_grid(total(d) + r.uniform(-5, 5, n)),
            **pair,
            epsilon=0.0,
            delta=0.1,
            make_law=lambda: from_cdfs(lambda x, s: np.clip((x - s + 5) / 10, 0, 1), np.linspace(-5, 6, 1101)[1:-1]),
            cells=between(np.linspace(-5, 6, 1101)[1:-1]),
        ),
        Entry(
            "truncated-laplace",
            "Laplace noise truncated to [−4, 4]",
            _truncated,
            **pair,
            epsilon=1.0,
            make_law=lambda: from_cdfs(_truncated_cdf, FINE),
            cells=between(FINE),
        ),
        Entry(
            "misnormalised-laplace",
            "Laplace restricted to [0, 1]; the normaliser depends on the data",
            _bounded,
            [0.0],
            [0.5],
            0.5,
            make_law=_bounded_law,
            cells=between(np.linspace(0, 1, 4001)[:-1] + 1e-9),
        ),
        Entry(
            "data-dependent-scale",
            "noise scale 1 + the value",
            lambda d, n, r: on_grid(total(d) + r.laplace(0, 1 + total(d), n)),
            **pair,
            epsilon=1.0,
            make_law=lambda: laplace_law((1, 2), (0, 1), math.inf),
            cells=between(FINE),
        ),
        Entry(
            "one-sided-noise",
            "exponential noise: outputs below the value are impossible",
            lambda d, n, r: on_grid(total(d) + r.exponential(size=n)),
            **pair,
            epsilon=1.0,
            cells=between(FINE),
            make_law=lambda: from_cdfs(lambda x, s: -np.expm1(-np.maximum(x - s, 0)), FINE),
        ),
        Entry(
            "seed-reuse",
            "generator re-seeded from one byte",
            _seed_reused,
            **pair,
            epsilon=1.0,
            make_law=_seed_law,
            cells=position(np.unique(np.concatenate([_BYTE_NOISE, _BYTE_NOISE + 1])).tolist()),
        ),
        Entry(
            "clip-after-noise",
            "records reach 3, noise for 1, clipped to [0, 1] at the end",
            lambda d, n, r: np.clip(on_grid(total(d) + r.laplace(size=n)), -1e-9, 1.0),
            [0.0],
            [3.0],
            1.0,
            make_law=_clip_law,
            cells=between(np.linspace(0, 1, 2001)),
        ),
        Entry(
            "scale-as-loc",
            "the scale 4 passed as loc: the noise has scale 1",
            lambda d, n, r: on_grid(total(d) + r.laplace(4.0, size=n)),
            **pair,
            epsilon=0.25,
            make_law=lambda: laplace_law((1, 1), (4, 5), 1.0),
            cells=between(FINE),
        ),
        Entry(
            "scale-inverted",
            "scale ε instead of 1/ε, ε = 1/2",
            _laplace(0.5),
            **pair,
            epsilon=0.5,
            make_law=lambda: laplace_law((0.5, 0.5), (0, 1), 2.0),
            cells=between(FINE),
        ),
        Entry(
            "replace-factor-two",
            "sum of records in [−1, 1], noise for sensitivity 1",
            _laplace(1.0),
            [-1.0],
            [1.0],
            1.0,
            make_law=lambda: laplace_law((1, 1), (-1, 1), 2.0),
            cells=between(FINE),
        ),
        Entry(
            "gaussian-root-scale",
            "√σ passed as standard deviation, σ = 3",
            lambda d, n, r: on_grid(total(d) + math.sqrt(sigma) * r.normal(size=n)),
            **pair,
            delta=delta,
            epsilon=gaussian_epsilon(1 / sigma, delta),
            make_law=lambda: gaussian_law(1 / math.sqrt(sigma)),
            cells=lambda o: np.searchsorted(
                np.linspace(-9, 9 + 3**-0.5, 20_001), np.asarray(o) / math.sqrt(sigma), "right"
            ),
        ),
        Entry(
            "no-composition",
            "four Gaussian releases, each calibrated alone",
            _vector(4, 2.0),
            np.zeros(4),
            np.ones(4),
            gaussian_epsilon(0.5, delta),
            delta=delta,
            make_law=lambda: gaussian_law(1.0),
            cells=_along(np.ones(4), 2.0),
        ),
    ]
