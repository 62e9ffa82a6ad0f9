"""What precision costs: the same projected subgradient descent in the three number systems."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from reference.numerics.numbers import MP, Ball, Float64, Numbers, Vector
from reference.numerics.tape import SeededTape

HELP = "1000 projected hinge-SGD steps, d=100: MP(50) and Ball(338) against Float64"

STEPS, DIM, REPEATS = 1000, 100, 5
TARGETS = {"mp50": 25, "ball338": 4}
"""The largest acceptable ratio to Float64's time."""


def hinge_sgd(K: Numbers, features: list[Vector], steps: int) -> Vector:
    """Projected subgradient descent on max(0, 1 − ⟨w, x_t⟩) over the ball of radius 7/2.

    Projecting divides a vector of balls by its own norm, which roughly doubles the radius of every entry: the true
    map is non-expansive, entrywise balls do not know it. The radius 7/2 lets some steps project, not all.
    """
    eta = K(1) / 32
    one, square = K(1), K(49) / 4
    w = K.zeros(len(features[0]))
    for t in range(steps):
        x = features[t % len(features)]
        if K.lt(w @ x, one):
            w = w + eta * x
            length = w @ w
            if K.lt(square, length):
                w = w * K.sqrt(square / length)
    return w


def workload(K: Numbers) -> list[Vector]:
    """The data: 50 Gaussian directions scaled to about unit length, the same in every number system."""
    tape = SeededTape(0)
    return [K.vector(tape.normal("x", i, dim=DIM)) / 10 for i in range(50)]


def run(progress: Callable[[str], None], **_: Any) -> dict[str, Any]:
    """Time the systems in turn, several times over, and compare medians."""
    systems: list[Numbers] = [Float64(), MP(50), Ball(338)]
    data = {K.name: workload(K) for K in systems}
    times: dict[str, list[float]] = {K.name: [] for K in systems}
    for i in range(REPEATS):
        progress(f"round {i + 1} of {REPEATS}")
        for K in systems:
            start = time.perf_counter()
            hinge_sgd(K, data[K.name], STEPS)
            times[K.name].append(time.perf_counter() - start)
    median = {name: statistics.median(values) for name, values in times.items()}
    return {
        "seconds": median,
        "ratio": {name: value / median["float64"] for name, value in median.items()},
        "target": TARGETS,
    }


def render(result: dict[str, Any]) -> str:
    """A markdown table."""
    rows = ["| number system | ms | times Float64 | target |", "|---|---|---|---|"]
    for name, seconds in result["seconds"].items():
        target = result["target"].get(name, "")
        rows.append(f"| {name} | {1000 * seconds:.1f} | {result['ratio'][name]:.1f} | {target and f'≤ {target}'} |")
    return "\n".join(rows)
