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

from audit.auditor.terms.claim import Claim, Epsilon
from audit.auditor.test.confidence import Selection, lower_bound
from audit.auditor.test.exact import largest

BURN_LEAST, BURN_SHARE = 1500, 0.2
"""The burn-in has this many draws and this share of all, but at most half: chosen for power."""
BURN_LIMIT = 100_000
"""Draws that a score is learned from at a time, at most: chosen for speed and memory."""
REFINED_FROM, REFINED_MOST = 3 * BURN_LIMIT, 2_000_000
"""Where the burn-in's share of all draws is REFINED_FROM or more, further draws refine the score, up to REFINED_MOST in
all: chosen; with so many the log-odds of an output that makes up a hundredth of all are known to 0.01.
"""
BURN_ENTRIES = 16_000_000
"""Numbers of the burn-in at most (draws times leaves of an output): 128 MB as floats."""
BURN_LONG = 2000
"""Draws of the burn-in that even the longest outputs get."""
LEAST_TEST = 5
"""Draws that are left to the test of the smallest budget."""


def burn_in(draws: int, width: int = 1) -> int:
    """How many of the draws the burn-in has; `width` is the number of leaves of an output."""
    wanted = min(draws / 2, BURN_LEAST + BURN_SHARE * draws)
    most = REFINED_MOST if wanted >= REFINED_FROM else first_part(BURN_LIMIT, width)
    return int(min(wanted, most, draws - LEAST_TEST))


def longer_burn_in(draws: int, width: int = 1) -> int:
    """The same where the first burn-in promises nothing: what is not learned, no number of test draws shows.

    Half of all draws teach then, as far as a score is learned from so many at a time. (A plan that promises something
    is not put off: it would lose test draws.)
    """
    return max(burn_in(draws, width), first_part(draws // 2, width))


def first_part(burn: int, width: int = 1) -> int:
    """The part of a burn-in that is kept in memory and that a score is learned from; the rest refines it."""
    return min(burn, BURN_LIMIT, max(BURN_LONG, BURN_ENTRIES // width))


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


def announcement(seconds_a_call: float, draws: int, tested: int, claim: Claim, confidence: float, alpha: float) -> str:
    """The line that says what a budget of so many draws, `tested` of them after the burn-in, can certify at best."""
    most = largest_epsilon(tested, claim.delta, alpha) if isinstance(claim, Epsilon) else largest(claim, tested, alpha)
    at_delta = f" at δ = {claim.delta:g} and" if isinstance(claim, Epsilon) else " at"
    took = seconds_a_call * draws
    return (
        f"{1000 * seconds_a_call:.3g} ms a call: {draws} draws in all{_how_long(took)}; no audit with {draws} draws"
        f"{at_delta} {100 * confidence:g} % confidence can certify more than"
        f" {claim.bound_as_text(math.ceil(100 * most) / 100)}"
    )


LONG = 60.0
"""Seconds from which a run is announced with its length and with how to shorten it."""


def _how_long(seconds: float) -> str:
    """How long a run will take, and how to shorten it; nothing for a short one."""
    if seconds < LONG:
        return ""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= size:
            return f", about {seconds / size:.2g} {unit} (shorter: seconds=, samples=, workers=, a batched mechanism)"
    return ""
