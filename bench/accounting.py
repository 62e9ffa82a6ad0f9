"""What certified accounting costs, and what it gains: time against the targets, noise against the printed scales."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from audit.accounting.accountants import account, noise_ratio
from audit.accounting.profiles import TrajectoryLoss
from reference.numerics.numbers import Ball
from reference.privacy import gaussian_mu, kov_delta, kov_epsilon0, log_inverse

HELP = "μ* to 40 digits, optimal composition of 10⁴ steps, Algorithm 4 at r = 14, dpso calibrate"

TARGETS = {
    "mu_40_digits": 0.05,
    "kov_delta_10000": 2.0,
    "kov_epsilon0_10000": 2.0,
    "poly_sfw_profile_r14": 10.0,
    "calibrate": 3.0,
}
"""The largest acceptable times, in seconds."""
LABELS = {
    "mu_40_digits": "μ*(1, 1e-6), 40 digits certified",
    "kov_delta_10000": "δ(1) of 10⁴ adaptive ε0-DP steps, enclosed to 1e-30",
    "kov_epsilon0_10000": "largest ε0 for 10⁴ steps at (1, 1e-6), certified",
    "poly_sfw_profile_r14": "Algorithm 4, r = 14: 25 points of the profile, every batch covered",
    "calibrate": "dpso calibrate, from the shell (slowest of the six)",
}
LAPLACE_RATIO = Fraction(144, 10)
"""Printed noise of Algorithm 4 at r = 14 divided by this is the trajectory that is profiled."""


def _seconds(work: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _digits() -> None:
    ball = gaussian_mu(Ball(150), 1, "1e-6")
    if ball.rad * 10**40 > ball.mid:
        raise AssertionError("μ* is not enclosed to 40 digits")


def _enclosure() -> None:
    ball = kov_delta(Ball(160), 1, "0.0024", 10_000)
    if 2 * ball.rad * 10**30 > 1:
        raise AssertionError("δ(1) is not enclosed to 1e-30")


def decaying_units(r: int, ratio: Fraction) -> list[float]:
    """u_k of a round of 2^r steps at printed noise divided by `ratio`, target (1, 1e-6)."""
    K, T = Ball(64), 2**r
    root = K.to_float(K.sqrt(log_inverse(K, "1e-6")))
    return [float(ratio) * (k + 1) ** 0.5 / (T * root) for k in range(T)]


def _profile() -> list[float]:
    loss = TrajectoryLoss(decaying_units(14, LAPLACE_RATIO))
    return [loss.delta(float(e)) for e in np.linspace(0.4, 2.8, 25)]


def _calibrate() -> float:
    slowest = 0.0
    for name in ("phased-sgd", "noisy-frank-wolfe", "poly-sfw", "noisy-sfw", "proximal", "oracle"):
        command = [sys.executable, "-m", "dpso", "calibrate", name, "--epsilon", "1", "--delta", "1e-6", "--json"]
        slowest = max(slowest, _seconds(partial(subprocess.run, command, check=True, capture_output=True), 1))
    return slowest


def _ratios() -> dict[str, float | None]:
    """Printed noise over the tightest proven at (1, 1e-6), default parameters."""
    found = {}
    for label in ("Alg:phased", "Alg:nfw", "alg:polySFW", "alg:nSFW"):
        printed, tight = (account(label, variant, 1, "1e-6") for variant in ("printed", "tight"))
        found[label] = noise_ratio(printed, tight)
    return found


def run(progress: Callable[[str], None], **_: Any) -> dict[str, Any]:
    """Measure each task; the certificates are asserted while they are timed."""
    tasks: dict[str, Callable[[], float]] = {
        "mu_40_digits": lambda: _seconds(_digits, 9),
        "kov_delta_10000": lambda: _seconds(_enclosure, 5),
        "kov_epsilon0_10000": lambda: _seconds(lambda: kov_epsilon0(Ball(128), 1, "1e-6", 10_000), 3),
        "poly_sfw_profile_r14": lambda: _seconds(_profile, 1),
        "calibrate": _calibrate,
    }
    seconds = {}
    for name, task in tasks.items():
        progress(LABELS[name])
        seconds[name] = task()
    progress("noise ratios")
    return {"seconds": seconds, "target": TARGETS, "noise_printed_over_tight": _ratios()}


def render(result: dict[str, Any]) -> str:
    """Two markdown tables."""
    rows = ["| task | seconds | target |", "|---|---|---|"]
    for name, seconds in result["seconds"].items():
        rows.append(f"| {LABELS[name]} | {seconds:.4g} | ≤ {result['target'][name]:g} |")
    rows += ["", "| algorithm | printed noise / tightest proven, (1, 1e-6) |", "|---|---|"]
    rows += [f"| `{label}` | {ratio:.3g} |" for label, ratio in result["noise_printed_over_tight"].items()]
    return "\n".join(rows)
