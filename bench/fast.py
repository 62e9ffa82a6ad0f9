"""The fast engine against the reference: runs a second, on the same problem, in one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from audit import engine as fast
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex.phased_sgd import phased_parameters, phased_sgd
from reference.numerics.numbers import Float64
from reference.numerics.tape import SeededTape, Tape
from reference.setting.data import Example
from reference.setting.losses import GLL, Absolute
from reference.setting.losses_smooth import SquaredTanh
from reference.setting.losses_weak import TanhRegression
from reference.setting.sets import L2Ball, l1_ball
from reference.smooth.noisy_sfw import noisy_sfw
from reference.smooth.poly_sfw import poly_sfw
from reference.weakly_convex.proximal_guided import proximally_guided
from reference.weakly_convex.strongly_convex import Phase

HELP = "the fast engine against the reference in Float64, n = 64, d = 5, batches of 10⁴ runs"

N, D, BATCH, REFERENCE_RUNS = 64, 5, 10_000, 5
TARGET = 40
"""The least acceptable ratio of throughputs."""

K = Float64()
Case = tuple[Callable[[Tape], Any], Callable[[fast.BatchTape], Any]]


def cases() -> dict[str, Case]:
    """(reference, fast) runs of Algorithms 2 to 6 on one dataset."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, D))
    x = np.round(0.9 * x / np.linalg.norm(x, axis=1, keepdims=True) * 2**20) / 2**20
    data = tuple(Example(tuple(row), float(y)) for row, y in zip(x.tolist(), rng.choice([-1, 1], N), strict=True))
    disc, cross = L2Ball([0] * D, 1), l1_ball(D, 1)
    epsilon, delta = Fraction(1), Fraction(1, 10**5)
    two = phased_parameters(K, N, GLL(Absolute, 1, 1), disc, epsilon=epsilon, delta=delta)
    three = nfw.frank_wolfe_parameters(K, N, GLL(Absolute, 1, 1, 1), cross, epsilon=epsilon, delta=delta, T=5)
    tanh, residual, plan = SquaredTanh(1), TanhRegression(1), (Phase(16, 8),)
    return {
        "Algorithm 2": (
            lambda t: phased_sgd(K, data, two, t),
            lambda t: fast.phased_sgd(data, two, t),
        ),
        "Algorithm 3": (
            lambda t: nfw.noisy_frank_wolfe(K, data, three, t),
            lambda t: fast.noisy_frank_wolfe(data, three, t),
        ),
        "Algorithm 4": (
            lambda t: poly_sfw(K, tanh, cross, data, 3, 7, epsilon, delta, t),
            lambda t: fast.poly_sfw(tanh, cross, data, 3, 7, epsilon, delta, t),
        ),
        "Algorithm 5": (
            lambda t: noisy_sfw(K, tanh, disc, data, 3, 7, epsilon, delta, t),
            lambda t: fast.noisy_sfw(tanh, disc, data, 3, 7, epsilon, delta, t),
        ),
        "Algorithm 6": (
            lambda t: proximally_guided(K, residual, disc, data, rounds=3, plan=plan, mu=1, tape=t),
            lambda t: fast.proximally_guided(residual, disc, data, t, rounds=3, plan=plan, mu=1),
        ),
    }


def run(progress: Callable[[str], None], **_: Any) -> dict[str, Any]:
    """Time a few reference runs and one batch of fast ones, for each algorithm."""
    rows = []
    for name, (slow, quick) in cases().items():
        start = time.perf_counter()
        for seed in range(REFERENCE_RUNS):
            slow(SeededTape(seed))
        one = (time.perf_counter() - start) / REFERENCE_RUNS
        start = time.perf_counter()
        quick(fast.LiveBatch(0, BATCH))
        batch = (time.perf_counter() - start) / BATCH
        progress(f"{name}: {one / batch:.0f} times")
        rows.append({"name": name, "reference_ms": 1e3 * one, "fast_us": 1e6 * batch, "ratio": one / batch})
    return {"rows": rows, "target": TARGET}


def render(result: dict[str, Any]) -> str:
    """A markdown table."""
    lines = ["| | reference, ms a run | fast, µs a run | ratio (target ≥ 40) |", "|---|---|---|---|"]
    for row in result["rows"]:
        lines.append(f"| {row['name']} | {row['reference_ms']:.1f} | {row['fast_us']:.1f} | {row['ratio']:.0f} |")
    return "\n".join(lines)
