"""What a budget buys, before it is spent.

The strongest outcome of a test with N draws is that every selected guess is right. With n selected draws (n fixed by
the burn-in) the bound is then the largest ε with P(W ≥ n) ≤ α (`audit.auditor.test.confidence`); the largest over n is
what N and δ can certify at best, whatever the mechanism.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.auditor.test.confidence import Selection, lower_bound

BURN_IN = 0.5
"""Share of a small budget that is used for learning."""


@dataclass(frozen=True)
class Budget:
    """Milliseconds a call, the draws that the time buys, and the largest ε that these can certify."""

    milliseconds: float
    draws: int
    largest_epsilon: float
    delta: float
    confidence: float

    def __str__(self) -> str:
        return (
            f"{self.milliseconds:.3g} ms a call: {self.draws} draws in all; no audit with {self.draws} draws at"
            f" δ = {self.delta:g} and {100 * self.confidence:g} % confidence can certify more than"
            f" ε = {self.largest_epsilon:.3g}"
        )


def largest_epsilon(draws: int, delta: float = 0.0, confidence: float = 0.95) -> float:
    """The largest lower bound on ε that `draws` test draws can give."""
    if draws < 1:
        return 0.0
    sizes = (
        [draws] if delta == 0 else sorted({max(1, round(draws * share)) for share in np.geomspace(1 / draws, 1.0, 24)})
    )
    return max(lower_bound(Selection(n, n, draws, delta), 1 - confidence) for n in sizes)


def measure(
    call: Callable[[], Any],
    *,
    seconds: float | None = None,
    samples: int | None = None,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> Budget:
    """Time a few calls and work out what the budget buys: `seconds` in all, or `samples` draws a side."""
    if seconds is None and samples is None:
        raise ValueError("seconds = None and samples = None: give one of them")
    spent, calls = 0.0, 0
    while calls < 3 or (spent < 0.02 and calls < 64):
        begun = time.perf_counter()
        call()
        spent, calls = spent + time.perf_counter() - begun, calls + 1
    each = spent / calls
    draws = [] if samples is None else [2 * samples]
    if seconds is not None:
        draws.append(max(0, int((seconds - spent) / max(each, 1e-9))))
    return budget(each, min(draws), delta, confidence)


def budget(seconds_a_call: float, draws: int, delta: float, confidence: float) -> Budget:
    """The same from a known speed."""
    test = math.floor(draws * (1 - BURN_IN)) if draws < 1200 else draws - max(600, int(0.15 * draws))
    return Budget(1000 * seconds_a_call, draws, largest_epsilon(test, delta, confidence), delta, confidence)
