"""Textbook compositions whose exact ε is known: what the transcript of their recorded noise says against it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import integrate, stats

from audit.auditor.lints.losses import epsilon_where
from audit.auditor.lints.recorder import Recorder
from audit.auditor.lints.replay import replay
from audit.auditor.lints.subject import Subject
from audit.auditor.lints.transcript import MOST_RUNS, Transcript, read_transcript
from audit.auditor.targets.containment import Watch, contained
from audit.auditor.targets.sampling import CallableTarget, Pair

DELTAS = (1e-2, 1e-5)

ONE = [0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]


def transcript(
    mechanism: Any, pair: Any = ONE, delta: float = 1e-5, runs: int = MOST_RUNS, seed: int = 0
) -> Transcript:
    """What the recorded noise of a mechanism is worth on a pair."""
    target = CallableTarget(mechanism, None, 60.0)
    with Watch(60.0) as watch, contained(target.noticed, seed), Recorder((mechanism,)) as recorder:
        subject = Subject(target, Pair(*pair), recorder, watch, seed)
        recorded = [subject.record(0) for _ in range(10)]
        found = read_transcript(subject, recorded, replay(subject, recorded), delta, runs)
    assert found is not None
    return found


def gaussian(mu: float) -> Callable[[float], float]:
    """Balle, Wang (2018), Theorem 5."""
    return lambda e: float(stats.norm.cdf(mu / 2 - e / mu) - math.exp(e) * stats.norm.cdf(-mu / 2 - e / mu))


def subsampled(e: float) -> float:
    """Ten batches of half the records, each with noise 1, the batches known."""
    return sum(float(stats.binom.pmf(k, 10, 0.5)) * gaussian(math.sqrt(k))(e) for k in range(1, 11))


def adaptive_law(e: float) -> float:
    """The second difference is 2 or 1/2, by the first answer; noise 1, then 1.5."""

    def at(x: float) -> float:
        mu, rest = (2.0 if x > 0.5 else 0.5) / 1.5, e + x - 0.5
        return float(stats.norm.pdf(x)) * gaussian(mu)(rest)

    return sum(float(integrate.quad(at, *ends, limit=300)[0]) for ends in ((-12.0, 0.5), (0.5, 12.0)))


def by_quadrature(law: Any, ratio: float) -> Callable[[float], float]:
    """∫ (f(u) − e^ε f(u − r))₊ du."""

    def delta(e: float) -> float:
        u = np.linspace(-40.0, 60.0, 200_001)
        return float(np.maximum(law.pdf(u) - math.exp(e) * law.pdf(u - ratio), 0).sum() * (u[1] - u[0]))

    return delta


def by_masses(mass: Mapping[int, float]) -> Callable[[float], float]:
    """Σ (p(k) − e^ε p(k − 1))₊."""
    return lambda e: sum(max(0.0, p - math.exp(e) * mass.get(k - 1, 0.0)) for k, p in mass.items())


def two_sided_geometric(a: float) -> dict[int, float]:
    """The masses tanh(a/2)·e^{−a|k|}."""
    return {k: math.tanh(a / 2) * math.exp(-a * abs(k)) for k in range(-400, 401)}


def ten_geometric(e: float) -> float:
    """Each of ten losses is a/10 or −a/10, a = 2, the former with probability 1/(1 + e^{−a/10})."""
    a = 0.2
    up = 1 / (1 + math.exp(-a))
    return sum(float(stats.binom.pmf(k, 10, up)) * max(0.0, -math.expm1(e - a * (2 * k - 10))) for k in range(11))


def skellam(mean: float) -> dict[int, float]:
    """The masses of a difference of two Poisson numbers with this mean: their convolution."""
    k = np.arange(0, 400)
    masses = stats.poisson.pmf(k, mean)
    return {int(d) - 399: float(m) for d, m in enumerate(np.convolve(masses, masses[::-1]))}


def two_laplace(e: float) -> float:
    """Two Laplace sums with ratio 1/2, over the first one's loss, by quadrature."""
    u = np.linspace(-30.0, 30.0, 20_001)
    first = np.abs(u - 0.5) - np.abs(u)
    rest = np.array([1 - math.exp((x - 0.5) / 2) if -0.5 < x < 0.5 else max(0.0, -math.expm1(x)) for x in e - first])
    rest = np.where(e - first <= -0.5, -np.expm1(np.minimum(e - first, 0)), rest)
    return float((np.exp(-np.abs(u)) / 2 * np.maximum(rest, 0)).sum() * (u[1] - u[0]))


def _adaptive(data: list[float], rng: np.random.Generator) -> tuple[float, float]:
    first = data[0] + rng.normal(0, 1.0)
    return first, data[0] * (2.0 if first > 0.5 else 0.5) + rng.normal(0, 1.5)


def _batches(data: list[float], rng: np.random.Generator) -> list[float]:
    values, out = np.array(data), []
    for _ in range(10):
        out.append(float(values[rng.choice(4, 2, replace=False)].sum() + rng.normal(0, 1.0)))
    return out


def _self_scaled(data: list[float], rng: np.random.Generator) -> list[float]:
    """Each step's clip and noise follow from the answer before: the ratio never changes."""
    x, out = 0.0, []
    for _ in range(10):
        clip = 1 + abs(math.tanh(x))
        x = float(clip * data[0] + rng.normal(0, 3.0 * clip))
        out.append(x)
    return out


P = -math.expm1(-0.5)
"""Of geometric noise with ε = 1/2."""


def _ten_geometric(data: list[float], rng: np.random.Generator) -> Any:
    """Counts of which each moves by one, with ε = 0.2 each."""
    p = -math.expm1(-0.2)
    return np.full(10, int(data[0])) + (rng.geometric(p, size=10) - rng.geometric(p, size=10))


TEXTBOOK: dict[str, tuple[Any, Callable[[float], float]]] = {
    "Gaussian": (lambda d, rng: d[0] + rng.normal(0, 1.0), gaussian(1.0)),
    "ten Gaussian": (lambda d, rng: [d[0] + rng.normal(0, 3.0) for _ in range(10)], gaussian(math.sqrt(10) / 3)),
    "Gaussian vector": (lambda d, rng: d[0] * np.ones(4) + rng.normal(0, 2.0, size=4), gaussian(1.0)),
    "located Gaussian": (lambda d, rng: rng.normal(d[0], 2.0), gaussian(0.5)),
    "Laplace": (lambda d, rng: d[0] + rng.laplace(0, 1.0), by_quadrature(stats.laplace, 1.0)),
    "two Laplace": (lambda d, rng: [d[0] - rng.laplace(0, 2.0), rng.laplace(d[0], 2.0)], two_laplace),
    "Gumbel": (lambda d, rng: d[0] + rng.gumbel(0, 2.0), by_quadrature(stats.gumbel_r, 0.5)),
    "logistic": (lambda d, rng: d[0] + rng.logistic(0, 2.0), by_quadrature(stats.logistic, 0.5)),
    "geometric": (lambda d, rng: d[0] + rng.geometric(P) - rng.geometric(P), by_masses(two_sided_geometric(0.5))),
    "ten geometric": (_ten_geometric, ten_geometric),
    "Skellam": (lambda d, rng: int(d[0]) + (rng.poisson(8.0) - rng.poisson(8.0)), by_masses(skellam(8.0))),
    "known batches": (_batches, subsampled),
    "adaptive": (_adaptive, adaptive_law),
    "self-scaled": (_self_scaled, gaussian(math.sqrt(10) / 3)),
}


def compared(progress: Callable[[str], None], seeds: range) -> list[dict[str, Any]]:
    """For each composition and δ: the exact ε, the median estimate, its median and largest relative error, and how
    often the lower limit was above the exact value. One seed where nothing is averaged.
    """
    rows = []
    for name, (mechanism, law) in TEXTBOOK.items():
        progress(name)
        for delta in DELTAS:
            exact, found, above = epsilon_where(law, delta, 60.0), [], 0
            for seed in seeds:
                seen = transcript(mechanism, delta=delta, seed=seed)
                found.append(seen.epsilon(delta))
                above += seen.epsilon_lower(delta) > exact * (1 + 1e-9)
                if seen.exact:
                    break
            errors = [abs(x / exact - 1) for x in found]
            rows.append(
                {
                    "name": name, "delta": delta, "exact": exact, "found": statistics.median(found),
                    "error": statistics.median(errors), "largest": max(errors), "above": above, "runs": seen.runs,
                }
            )  # fmt: skip
    return rows
