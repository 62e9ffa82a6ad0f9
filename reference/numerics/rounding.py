"""What rounding does to a computed quantity: bounds that enter the proofs of privacy.

| symbol | here |
|---|---|
| u, the unit roundoff | `K.unit_roundoff`: 2^{−53} in binary64, 2^{−bits} with mpmath, 0 for balls, which enclose |
| γ_k = ku/(1 − ku) | `gamma(K, k)` |

**The model.** Every result of + − × ÷ √ is (x∘y)(1 + θ), |θ| ≤ u; numbers of a record and constants are rounded once.
So a product of k such factors is 1 + θ with |θ| ≤ γ_k, and:

* an inner product of d terms, summed in whatever order, errs by at most γ_{d+1}·Σ|a_jb_j| ≤ γ_{d+1}‖a‖_p‖b‖_q;
* the sum of m vectors, in whatever order, errs by at most γ_m·Σ‖g_i‖ in any norm that only sees |·| of the coordinates.

Results below 2^{−900} of a quantity that matters are as good as 0 and those beyond 2^{900} do not occur:
`require_sizes` refuses runs whose L0, R, D or points lie outside 2^{±200}, so that squares and products of four of them
stay inside (a norm that overflows makes a projection jump, a product that does makes a NaN), and `require_range` those
whose steps or scales lie outside 2^{±900}. A run is of the precision that its noise was proved for, or of a finer one:
`require_precision`. Noise is real here, and a released sum is rounded after the noise
was added, which is post-processing; what binary64 *noise* does to a guarantee is another matter (`reference.privacy`).
exp, tanh, log and powers are taken to be right up to `LIBRARY` units (what libm and mpmath reach; a test compares).

**Neighbours share their past.** What was released before is the same in both runs, so records that do not differ
contribute the same numbers in both, whatever the rounding in them; only the records that differ and the sums of all
are rounded differently.

**The least of noisy scores.** Let every noisy score err by at most e. If i wins as computed, then in exact numbers i
would win with a score lower by 2e (e for its own error, e for that of the least of the others); and if i wins in exact
numbers by 2e, then as computed. Moving one score by 2e changes the logarithm of its probability by at most 2e/s, for
noise with a log-Lipschitz lower tail (`privacy.noisy_min`). So ln P(i) differs by at most 2e/s from its exact value in
either run, ln P(i)/P'(i) by 4e/s, and its range over i by 8e/s. `FAR` bounds the unit noise: Laplace and Gumbel (from
below) exceed 400 with probability e^{−400} < 2^{−577} each, nothing that a δ could show.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from reference.numerics.numbers import Float64, Numbers, Real
from reference.numerics.preconditions import require

LIBRARY = 4
"""exp, tanh, log1p and powers err by at most this many units of roundoff."""

FAR = 400
"""Unit Laplace or Gumbel noise is farther out with probability below 2^{−577} a draw."""

SLOPE = 64
"""A loss's slope is computed within this many units of L0, at a point within a few units of the true one."""


def rounds(K: Numbers) -> bool:
    """Whether results of K are rounded (and do not enclose the exact ones)."""
    return K.unit_roundoff > 0


def unit(K: Numbers) -> Real:
    """u as a scalar."""
    return K(K.unit_roundoff)


def gamma(K: Numbers, operations: int) -> Real:
    """γ_k = ku/(1 − ku): the relative error of k roundings; refused where a number has so few digits that ku > 1/2."""
    share = operations * K.unit_roundoff
    remedy = f"take MP({digits_for(K.unit_roundoff / (4 * operations or 1))})" if share else ""
    require(2 * share <= 1, "operations", operations, f"be at most {1 / (2 * share) if share else ''}", remedy)
    return K(share / (1 - share))


def digits_for(roundoff: Fraction) -> int:
    """Decimal digits of an mpmath number system whose unit roundoff is at most this."""
    digits = 15
    while Fraction(1, 10**digits) > roundoff:
        digits += 1
    return digits


def finer(K: Numbers, shares: Iterable[tuple[Real, Real]]) -> str:
    """The number system that does where rounding takes more than there is room for; "" if none does.

    Each share is (what rounding takes, the room that exact numbers would leave); both are linear in u or free of it.
    """
    digits = 0
    for reserve, room in shares:
        if not K.lt(K(0), room):
            return ""
        digits = max(digits, digits_for(K.unit_roundoff / (2 * (2 + K.floor(reserve / room)))))
    return f"take K = MP({digits}), which rounds finely enough" if digits else ""


def require_range(K: Numbers, name: str, scale: Real, bits: int = 900) -> None:
    """Refuse a scale at which binary64 under- or overflows; exact numbers are compared as they are."""
    if isinstance(K, Float64):
        inside = Fraction(1, 2**bits) < scale < Fraction(2**bits)
        require(inside, name, _shown(scale), f"lie between 2^-{bits} and 2^{bits}", "binary64 ends there: take MP(30)")


def _shown(scale: Real) -> Real:
    try:
        return float(scale)
    except OverflowError:
        return scale


SIZE_BITS = 200
"""Lengths and Lipschitz constants of a run in binary64 are 0 or in 2^{±200}: products of four of them in 2^{±800}."""


def require_sizes(K: Numbers, **sizes: Real) -> None:
    """Refuse sizes whose squares and products leave the range of binary64: a norm, a step or a prediction would."""
    for name, size in sizes.items() if isinstance(K, Float64) else ():
        if size != 0:
            require_range(K, name, size, SIZE_BITS)


def require_precision(K: Numbers, proved: Numbers) -> None:
    """Refuse to run in numbers coarser than those whose rounding the noise of the run was made for."""
    remedy = "the noise does not cover coarser rounding: make the parameters with the numbers that run"
    require(K.unit_roundoff <= proved.unit_roundoff, "K", K, f"round no coarser than {proved}", remedy)


def selection_reserve(K: Numbers, score: Real, dim: int) -> tuple[Real, Real]:
    """(r, t): rounding adds at most r/s + t to what one report-noisy-min of scale s may reveal; |scores| ≤ `score`.

    The inner products ⟨v, ∇⟩ err by γ_{dim+1}·score in either run: twice that moves the range of the scores by four
    times it. Score plus noise, and the noise times s, are rounded: e ≤ u(1 + u)(score + 2·FAR·s), and 8e/s is added
    (8u²·score is what γ_{dim+2} has to spare).
    """
    u = unit(K)
    return 4 * (gamma(K, dim + 2) + 2 * u) * score, (16 * FAR + 1) * u
