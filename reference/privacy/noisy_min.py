"""Report-noisy-min with Laplace, exponential and Gumbel noise, and its exact law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any, Literal, TypeAlias, get_args

from reference.numerics.enclosures import at_least_zero, evaluate, number, positive
from reference.numerics.numbers import Ball, BallScalar, Exact, Numbers, Real

SelectionNoise: TypeAlias = Literal["laplace", "gumbel"]
"""The noise that the private selections of Algorithms 3 and 4 subtract from their scores."""
SELECTION_NOISES: tuple[SelectionNoise, ...] = get_args(SelectionNoise)

MinNoise: TypeAlias = Literal["laplace", "gumbel", "exponential", "added-gumbel", "added-exponential"]

PRIVATE_NOISES: frozenset[str] = frozenset({"laplace", "gumbel", "exponential"})
"""Noises for which report-noisy-min has the range guarantee; the `added-` ones have the wrong sign."""


def noisy_min_epsilon(K: Numbers, score_range: Exact | Real, scale: Exact | Real, noise: MinNoise = "laplace") -> Real:
    """r/s: the pure-DP constant of argmin_v q(v) + u_v, where r is the *range* of the change of the scores.

    Lemma. Let the u_v be independent with one continuous law whose cdf F is positive and has a 1/s-Lipschitz
    logarithm. Then argmin_v q(v) + u_v is (r/s)-DP with r = max c − min c, c = q' − q. Proof. A constant added to all
    scores changes no argmin, so 0 ≤ c ≤ r. Fix a candidate i and the other noises. It wins iff u_i < τ = m − q_i,
    resp. u_i < τ' = m' − q_i − c_i, where m, m' are the smallest of the other noisy scores before and after;
    m' − m ∈ [0, r], so |τ' − τ| ≤ r and F(τ') ≤ e^{r/s} F(τ), and the other way round. Average over the other noises;
    ties have probability 0. ∎

    The condition is on the *lower* tail of u, which fixes the sign of asymmetric noise:

    * `laplace`: f/F = 1/s below 0 and less above. Attained as the gap of two scores grows.
    * `exponential`: u = −s·E, so F(x) = e^{x/s} below 0. Argmin *subtracts* exponential noise.
    * `gumbel`: u = −s·G with G of maximum type (numpy's, scipy's): the law is e^{−q_i/s}/Σ_j e^{−q_j/s}, the
      exponential mechanism at temperature s, whose losses −c_i/s + ln(Z/Z') have modulus *and* range at most r/s.

    Added instead (`added-gumbel`, `added-exponential`) the lower tail has no Lipschitz logarithm: the loss reaches up
    to (J−1)r/s with J candidates. With J = 2 nothing shows, since u_1 − u_2 is symmetric. Those two are refused here.
    """
    if noise not in PRIVATE_NOISES:
        raise ValueError(f"noise = {noise!r} has no range guarantee: subtract it (use {sorted(PRIVATE_NOISES)})")
    at_least_zero("score_range", score_range)
    positive("scale", scale)
    return K(score_range) / K(scale)


def exponential_mechanism(K: Numbers, scores: Sequence[Exact | Real], temperature: Exact | Real) -> list[Real]:
    """The law e^{−q_i/T}/Σ_j e^{−q_j/T} over candidates (small score = good): r/T-DP with bounded range r/T."""
    weights = [K.exp(-K(q) / K(temperature)) for q in scores]
    total = K.sum(weights)
    return [w / total for w in weights]


def noisy_min_law(K: Numbers, scores: Sequence[Exact], scale: Exact, noise: MinNoise = "laplace") -> list[Real]:
    """The exact law of argmin_v q(v) + u_v, for a handful of candidates (the cost doubles with each).

    Laplace and exponential noise: ∫ f(x) ∏_{j≠i} P(u_j > x + q_i − q_j) dx, a sum of exponentials between breakpoints.
    Gumbel: the exponential mechanism; added Gumbel: by inclusion and exclusion over who is beaten.
    """
    s = positive("scale", scale)
    q = [x for x in (number("scores", x) for x in scores) if isinstance(x, Fraction)]
    if not isinstance(s, Fraction) or len(q) < len(scores):
        raise ValueError("scores and scale must be exact numbers: the law is integrated between exact breakpoints")
    unit = [x / s for x in q]
    if noise == "gumbel":
        return exponential_mechanism(K, unit, 1)
    if noise == "added-gumbel":
        return [evaluate(K, lambda B, i=i: _beats_none(B, unit, i)) for i in range(len(unit))]
    return [evaluate(K, lambda B, i=i: _win_probability(B, unit, i, _PIECES[noise])) for i in range(len(unit))]


def _beats_none(K: Ball, q: Sequence[Fraction], i: int) -> BallScalar:
    """P(q_i + G_i is smallest) = Σ_S (−1)^{|S|} P(q_i + G_i > all of S), S ⊆ others."""
    others = [j for j in range(len(q)) if j != i]
    total = K(0)
    for size in range(len(q)):
        for chosen in combinations(others, size):
            weight = 1 / (1 + K.sum(K.exp(K(q[j] - q[i])) for j in chosen))
            total = total + weight * (-1) ** size
    return total  # type: ignore[no-any-return]


_Laurent: TypeAlias = Mapping[int, Any]
"""Σ coefficient·e^{power·x}."""

_HALF = Fraction(1, 2)
"""The mass of Laplace noise on either side of 0."""
# (density, survival function) of unit noise below 0 and above 0
_PIECES: Mapping[str, tuple[tuple[_Laurent, _Laurent], tuple[_Laurent, _Laurent]]] = {
    "laplace": (({1: _HALF}, {0: Fraction(1), 1: -_HALF}), ({-1: _HALF}, {-1: _HALF})),
    "exponential": (({1: Fraction(1)}, {0: Fraction(1), 1: Fraction(-1)}), ({}, {})),
    "added-exponential": (({}, {0: Fraction(1)}), ({-1: Fraction(1)}, {-1: Fraction(1)})),
}


def _win_probability(
    K: Ball, q: Sequence[Fraction], i: int, pieces: tuple[tuple[_Laurent, _Laurent], tuple[_Laurent, _Laurent]]
) -> BallScalar:
    cuts = sorted({Fraction(0), *(x - q[i] for j, x in enumerate(q) if j != i)})
    ends: list[Fraction | None] = [None, *cuts, None]
    total = K(0)
    for low, high in pairwise(ends):
        inside = _inside(low, high)
        integrand: dict[int, Any] = {m: K(c) for m, c in pieces[inside > 0][0].items()}
        for j, x in enumerate(q):
            if j != i:
                integrand = _times(K, integrand, pieces[inside > x - q[i]][1], q[i] - x)
        total = total + _integral(K, integrand, low, high)
    return total  # type: ignore[no-any-return]


def _inside(low: Fraction | None, high: Fraction | None) -> Fraction:
    """A point between two breakpoints; None stands for an infinite end."""
    if low is None:
        return Fraction(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def _times(K: Ball, f: Mapping[int, Any], g: _Laurent, shift: Fraction) -> dict[int, Any]:
    """f(x)·g(x + shift)."""
    result: dict[int, Any] = {}
    for (m, a), (n, b) in product(f.items(), g.items()):
        result[m + n] = result.get(m + n, K(0)) + a * b * K.exp(n * K(shift))
    return result


def _integral(K: Ball, f: Mapping[int, Any], low: Fraction | None, high: Fraction | None) -> BallScalar:
    total = K(0)
    for m, c in f.items():
        if m == 0:
            if low is None or high is None:
                raise ValueError("a constant does not integrate over an unbounded piece")
            total = total + c * (high - low)
        else:
            top = K(0) if high is None else K.exp(m * K(high))
            bottom = K(0) if low is None else K.exp(m * K(low))
            total = total + c * (top - bottom) / m
    return total  # type: ignore[no-any-return]
