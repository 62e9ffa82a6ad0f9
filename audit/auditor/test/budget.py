"""How a budget is divided, and what it buys before it is spent.

The strongest outcome of a test with N draws is that every selected guess is right. With n selected draws (n fixed by
the burn-in) the bound is then the largest ε with P(W ≥ n) ≤ α (`audit.auditor.test.confidence`); the largest over n is
what N and δ can certify at best, whatever the mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from audit.auditor.terms.claim import Claim
from audit.auditor.test.confidence import Selection, lower_bound

BURN_LEAST, BURN_SHARE = 1500, 0.2
"""The burn-in has this many draws and this share of all, but at most half: chosen for power."""
BURN_LIMIT = 100_000
"""Draws of the burn-in at most: chosen; a score learns little from more."""
BURN_ENTRIES = 16_000_000
"""Numbers of the burn-in at most (draws times leaves of an output): 128 MB as floats."""
BURN_LONG = 2000
"""Draws of the burn-in that even the longest outputs get."""
LEAST_TEST = 5
"""Draws that are left to the test of the smallest budget."""


def burn_in(draws: int, width: int = 1) -> int:
    """How many of the draws the burn-in has; `width` is the number of leaves of an output."""
    wanted = min(draws / 2, BURN_LEAST + BURN_SHARE * draws)
    return int(min(wanted, BURN_LIMIT, max(BURN_LONG, BURN_ENTRIES // width), draws - LEAST_TEST))


def largest_epsilon(draws: int, delta: float, alpha: float) -> float:
    """The largest lower bound on ε that `draws` test draws can give at level α."""
    if draws < 1:
        return 0.0

    @cache
    def bound(n: int) -> float:
        return lower_bound(Selection(n, n, draws, delta), alpha)

    if delta == 0:
        return bound(draws)
    sizes = sorted({max(1, round(size)) for size in np.geomspace(1, draws, 24)})
    at = max(range(len(sizes)), key=lambda i: bound(sizes[i]))
    return bound(_peak(bound, sizes[max(at - 1, 0)], sizes[min(at + 1, len(sizes) - 1)]))


def _peak(value: Callable[[int], float], low: int, high: int) -> int:
    """Where a function that rises and then falls is largest among the whole numbers of a range."""
    while high - low > 2:
        third = (high - low) // 3
        if value(low + third) < value(high - third):
            low += third
        else:
            high -= third
    return max(range(low, high + 1), key=value)


def announcement(seconds_a_call: float, draws: int, tested: int, claim: Claim, alpha: float) -> str:
    """The line that says what a budget of so many draws, `tested` of them after the burn-in, can certify at best."""
    most = math.ceil(100 * largest_epsilon(tested, claim.delta, alpha)) / 100
    return (
        f"{1000 * seconds_a_call:.3g} ms a call: {draws} draws in all; no audit with {draws} draws at"
        f" δ = {claim.delta:g} and {100 * claim.confidence:g} % confidence can certify more than"
        f" ε = {most:g}"
    )
