"""The choices of R, b and T: the paper's, with their conditions checked, and the ones that the proven bounds prefer.

| paper | here |
|---|---|
| R = (2/3)·log(nε/(log²J·log²n·√log(1/δ))), b = n/log²n (Theorem 11) | `poly_parameters` |
| R = (4/5)·log(nε/(√(dκ̃·log(1/δ))·κ^{5/3}·log²n)) (Theorem 14) | `noisy_parameters` |

The logarithm of R has to be to base 2 (the proofs use 2^{−R/2} = x^{−1/3}); R is rounded down, b too. Where a choice
is undefined or breaks a condition of the paper, the error names the condition and the smallest n (from 8 on, where
n/ln²n increases) for which all of them hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import Ball, Exact, Float64, Numbers, Real, certify, dual_exponent
from reference.numerics.preconditions import require, whole
from reference.paper.registry import claims
from reference.privacy import SelectionNoise
from reference.smooth.bounds import (
    Constants,
    choice_argument,
    gap_tight,
    noisy_choice_argument,
    noisy_gap_tight,
)
from reference.smooth.rounds import samples_bound_printed
from reference.smooth.sensitivity import batch_sizes

LARGEST_N = 1 << 200
"""Where the search for a feasible n gives up."""


@dataclass(frozen=True)
class Rounds:
    """R rounds with first batches of b records."""

    R: int
    b: int


@dataclass(frozen=True)
class OneRound:
    """T iterates from T − 1 steps with first batch b, and the proven bound on the stationarity gap."""

    T: int
    b: int
    bound: Real


def _floor_log2(argument: Callable[[Numbers], Real], power: Fraction) -> int:
    """⌊power·log2 x⌋, decided on balls."""
    return certify(lambda B: B.floor(B.log(argument(B)) * power / B.log(B(2))), bits=96).value


def _printed_b(n: int) -> int:
    return certify(lambda B: B.floor(n / (B.log(B(n)) * B.log(B(n)))), bits=96).value


def _conditions(n: int, R: int, b: int) -> list[tuple[str, bool]]:
    return [
        ("R ≥ 1", R >= 1),
        ("b ≥ 2^(R−1), so that every batch has a record", R < 1 or b >= 2 ** (R - 1)),
        ("bR² ≤ n, so that the batches are disjoint", samples_bound_printed(max(R, 1), b) <= n),
    ]


def _first_feasible(feasible: Callable[[int], bool]) -> int | None:
    """The smallest n ≥ 8 that doubling and bisection find; None up to `LARGEST_N`."""
    high = 8
    while not feasible(high):
        high *= 2
        if high > LARGEST_N:
            return None
    low = high // 2
    while high - low > 1 and high > 8:
        middle = (low + high) // 2
        low, high = (low, middle) if feasible(middle) else (middle, high)
    return high


def _choose(n: int, choice: Callable[[int], tuple[int, int]]) -> Rounds:
    R, b = choice(n)
    failed = [name for name, ok in _conditions(n, R, b) if not ok]
    if failed:
        found = _first_feasible(lambda m: all(ok for _, ok in _conditions(m, *choice(m))))
        where = f"all conditions hold from n = {found}" if found else "no n up to 2^200 meets them at this privacy"
        if found and found < n:
            where = f"all conditions hold at n = {found} but not for all larger n; choose R and b yourself"
        require(False, "n", n, f"give {failed[0]} (here R = {R}, b = {b})", where)
    return Rounds(R, b)


def _check(n: int, epsilon: Exact, delta: Exact) -> None:
    whole("n", n, 2)
    require(Fraction(epsilon) > 0, "epsilon", epsilon, "be positive")
    require(0 < Fraction(delta) < 1, "delta", delta, "lie in (0, 1)")


@claims("thm:convergence-polySFW", "printed")
def poly_parameters(n: int, J: int, epsilon: Exact, delta: Exact) -> Rounds:
    """Theorem 11's R and b, rounded down (log2 in R)."""
    _check(n, epsilon, delta)
    require(whole("J", J, 0) >= 2, "J", J, "be at least 2", "R has log²J in a denominator")
    return _choose(
        n, lambda m: (_floor_log2(lambda B: choice_argument(B, m, J, epsilon, delta), Fraction(2, 3)), _printed_b(m))
    )


@claims("thm:convergence-noisySFW", "printed")
def noisy_parameters(n: int, d: int, p: Any, epsilon: Exact, delta: Exact) -> Rounds:
    """Theorem 14's R and b, rounded down (log2 in R); needs d ≥ 2, because the printed κ is 0 at d = 1."""
    _check(n, epsilon, delta)
    p = Fraction(p)
    require(1 < p <= 2, "p", p, "lie in (1, 2]", "Algorithm 5 is for these p; for p = 1 use Algorithm 4")
    remedy = "κ = min(1/(p−1), 2 log d) is 0 at d = 1 and R infinite; regular spaces have κ ≥ 1, use noisy_plan"
    require(whole("d", d) >= 2, "d", d, "be at least 2", remedy)
    return _choose(
        n,
        lambda m: (
            _floor_log2(lambda B: noisy_choice_argument(B, m, d, p, epsilon, delta), Fraction(4, 5)),
            _printed_b(m),
        ),
    )


# --------------------------------------------------------------------------------------- one round


def largest_batch(n: int, steps: int) -> int:
    """The largest b with Σ_{t<steps} ⌈b/(t+1)⌉ ≤ n."""
    require(n >= whole("steps", steps), "n", n, f"be at least {steps}", "every step needs a record")
    low, high = 1, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sum(batch_sizes(middle, steps)) <= n else (low, middle)
    return low


def _best(bound: Callable[[int, int], Real], K: Numbers, n: int, candidates: list[int]) -> OneRound:
    """The plan with the smallest bound; T grows geometrically and the search stops when the bound has risen five
    times.
    """
    plans: list[OneRound] = []
    risen = 0
    for T in candidates:
        b = largest_batch(n, T - 1)
        plans.append(OneRound(T, b, bound(T, b)))
        risen = risen + 1 if len(plans) > 1 and K.lt(plans[-2].bound, plans[-1].bound) else 0
        if risen == 5:
            break
    return plans[K.argmin([plan.bound for plan in plans])]


def _grid(n: int) -> list[int]:
    """2, 3, 4, 5, 7, … up to n + 1, each about a quarter larger."""
    grid, T = [], 2
    while n + 1 >= T:
        grid.append(T)
        T = max(T + 1, T * 5 // 4)
    return grid


def poly_plan(
    n: int,
    J: int,
    constants: Constants,
    epsilon: Exact,
    delta: Exact,
    noise: SelectionNoise = "gumbel",
    J_norm: int | None = None,
) -> OneRound:
    """T and b for `poly_sfw_tight` by the smallest proven bound. Looks at n and the constants only, never at data."""
    K = Float64()
    return _best(
        lambda T, b: gap_tight(K, T, b, J, constants, epsilon, delta, noise, J_norm), K, whole("n", n, 2), _grid(n)
    )


def noisy_plan(n: int, d: int, p: Any, constants: Constants, epsilon: Exact, delta: Exact) -> OneRound:
    """T and b for `noisy_sfw_tight` by the smallest proven bound."""
    K = Float64()
    return _best(lambda T, b: noisy_gap_tight(K, T, b, d, p, constants, epsilon, delta), K, whole("n", n, 2), _grid(n))


__all__ = [
    "Ball",
    "OneRound",
    "Rounds",
    "dual_exponent",
    "largest_batch",
    "noisy_parameters",
    "noisy_plan",
    "poly_parameters",
    "poly_plan",
]
