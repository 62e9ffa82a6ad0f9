"""Regular spaces (equations 3 and 4): what is printed about ℓ_q^d and polyhedral norms, and what can be proved.

| paper | here |
|---|---|
| κ | `Regularity.kappa` |
| κ_+ and ‖·‖_+ | `Regularity.kappa_plus`; ‖·‖_+ = ‖·‖_ρ with ρ = `Regularity.rho` (of A·x in the polyhedral case) |
| eq. (3) | `smoothness_bound` ≥ ‖x+y‖_+² |
| eq. (4) | `equivalence_bounds` |
| min(q−1, 2 log d) | `kappa_printed` |
| 2 log |V| | `polyhedral_kappa_printed` |

**What is provable.** ½‖·‖_ρ² is (ρ−1)-smooth for 2 ≤ ρ < ∞, so (3) holds with κ_+ = ρ − 1, and ‖x‖_q ≤ ‖x‖_ρ ≤
d^{1/ρ−1/q}‖x‖_q for ρ ≤ q. Hence ℓ_q^d is κ-regular with κ = (ρ−1)·d^{2/ρ−2/q} for every ρ ∈ [2, q], ρ < ∞. The
logarithm has the derivative 1/(ρ−1) − 2 ln d/ρ², which vanishes at ρ = ln d ± √(ln²d − 2 ln d): the smallest value is
at ρ = 2, at ρ = q or at the larger root. For q = ∞ and large d that is about e(2 ln d − 1), not 2 ln d.

**What fails.** κ-regularity gives E‖Σξ_i‖² ≤ κ·ΣE‖ξ_i‖² for martingale differences ξ_i (add them one by one with (3);
the linear term has mean 0). Signs ε_i times columns of a ±1 matrix with d rows and k columns test this:
`sign_lower_bound`. Any κ below it is false: 2 at d = 2, 7/3 at d = 3, 3 at d = 4, against 2 ln d = 1.386, 2.197,
2.773. For q < ∞ the same signs refute it from q = 3.79 on at d = 2. At d = 1 the printed κ is 0, and no space is
0-regular.

**It fails for every d ≥ 44 as well** (q = ∞), and for polyhedral norms with 10^6 vertices or more (an even number).
*Lemma.* If ℓ_∞^d is κ-regular, then κ ≥ κ_d, the root of M(−1/d, ½, κ/2) = 0, M Kummer's confluent function. *Proof.*
Let S be the walk with independent signs of size √h in each coordinate, stopped at τ, the first time t ≥ 1 (in steps of
h) with ‖S_t‖_∞² ≥ κ_d·t, or at T. Its steps have ‖ξ‖_∞² = h until then: E‖S_{τ∧T}‖² ≤ κ·E[τ∧T]. As h → 0 this is
Brownian motion, so κ_d·E[τ; τ ≤ T] ≤ κ·E[τ∧T]. One coordinate stays below √(κ_d·t) until t with probability ~C·t^{−λ}
(e^{−u/2}B(e^u) is an Ornstein–Uhlenbeck process, M(−λ, ½, x²/2) its eigenfunction that is positive up to its zero √κ_d,
λ = 1/d), all d do with probability ~C^d/t. So E[τ∧T] grows like log T, T·P(τ > T) stays bounded, and E[τ; τ ≤ T]/E[τ∧T]
tends to 1. ∎ M(−1/d, ½, y) = 1 − (1/d)Σ_{k≥1} (1−1/d)_{k−1}y^k/((½)_k·k!) falls in y, so the printed 2 ln d is too
small if M(−1/d, ½, ln d) > 0 (`confluent`: true at d = 2, 3 and for 44 ≤ d ≤ 59), and 2 ln|V|, |V| = 2d for ℓ_1^d, if
M(−1/d, ½, ln 2d) > 0. *All larger d.* As (1−1/d)_{k−1} ≤ (k−1)!, it is enough that e^{−y}g(y) < 1 (or < ½) at y = ln d
(or ln 2d), g(y) = Σ_{k≥1} y^k/(k·(½)_k). Now g' = √(π/y)·e^y·erf√y, so where e^{−y}g(y) = 1 its derivative is at most
√(π/y) − 1 < 0 for y > π: once below 1 (at d = 60) it stays there. The same with ½ from y > 4π on (|V| = 10^6). ∎
For 5 ≤ d ≤ 43 nothing here refutes 2 ln d, and nothing proves it.

**What Section 4 needs instead** in the polyhedral case is a first moment only, and that is true with 2 ln J and with
better constants: `bounds.gradient_error_tight`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from flint import arb

from reference.numerics.numbers import INF, Ball, BallScalar, Exact, Numbers, Real, Vector, norm
from reference.numerics.preconditions import exponent, require, whole
from reference.paper.registry import claims, implements


@dataclass(frozen=True)
class Regularity:
    """A space that is `kappa`-regular by the norm ‖·‖_rho, which is `kappa_plus`-smooth."""

    kappa: Real
    kappa_plus: Real
    rho: Fraction

    def equivalence(self) -> Real:
        """κ/κ_+, the constant of (4)."""
        return self.kappa / self.kappa_plus


def _dual_exponent_at_least_two(q: Any) -> Any:
    q = exponent("q", q)
    small = isinstance(q, (int, float, Fraction)) and q < 2
    require(not small, "q", q, "lie in [2, ∞]", "ℓ_q with q < 2 is not 2-smooth")
    return q


@claims("eqn:k_smooth", "printed")
def kappa_printed(K: Numbers, d: int, q: Any) -> Real:
    """min(q − 1, 2 ln d), as printed: 0 at d = 1; where 2 ln d < q − 1 too small or unproved (the module's text)."""
    q = _dual_exponent_at_least_two(q)
    logarithm = 2 * K.log(K(whole("d", d)))
    return logarithm if q == INF else K.min(K(q) - 1, logarithm)


@claims("eqn:k_smooth")
def kappa_provable(K: Numbers, d: int, q: Any) -> Regularity:
    """The best κ that the norms ‖·‖_ρ give ℓ_q^d: min over ρ ∈ [2, q] of (ρ−1)·d^{2/ρ−2/q}. At least 1 for every d ≥
    1.
    """
    q = _dual_exponent_at_least_two(q)
    whole("d", d)
    candidates = [_regularity(K, d, q, rho) for rho in _exponents(d, q)]
    return candidates[K.argmin([c.kappa for c in candidates])]


def _regularity(K: Numbers, d: int, q: Any, rho: Fraction) -> Regularity:
    excess = Fraction(2) / rho - (0 if q == INF else Fraction(2) / Fraction(q))
    return Regularity(K(rho - 1) * K.power(K(d), excess), K(rho - 1), rho)


def _exponents(d: int, q: Any) -> list[Fraction]:
    """2, and the larger root of ρ² = 2 ln d·(ρ−1) on a grid of 1/64, or q if that is smaller. Every ρ ∈ [2, q] is
    valid.
    """
    root = _larger_root(d)
    ends = [Fraction(2)]
    if q != INF and (root is None or root >= Fraction(q)):
        ends.append(Fraction(q))
    elif root is not None and root > 2:
        ends.append(root)
    return ends


def _larger_root(d: int) -> Fraction | None:
    """The grid point of 1/64 nearest to ln d + √(ln²d − 2 ln d), by the sign of ρ² − 2 ln d·(ρ−1); None if there is
    no root.
    """
    K = Ball(128)
    double = 2 * K.log(K(d)) if d > 1 else K(0)
    if not K.le(K(4), double):
        return None
    low, high = _ceiling_of_half(K, double), 64 * 2 * d.bit_length()
    while high - low > 1:
        middle = (low + high) // 2
        rho = K(Fraction(middle, 64))
        if K.lt(rho * rho, double * (rho - 1)):
            low = middle
        else:
            high = middle
    return Fraction(high, 64)


def _ceiling_of_half(K: Any, double: Real) -> int:
    """64·(the middle of the two roots, ln d), rounded down: a grid point between them or at the larger one."""
    return int(K.floor(32 * double))


@claims("eqn:k_equiv_norm", "printed")
def polyhedral_kappa_printed(K: Numbers, J: int) -> Real:
    """2 ln J for the dual of a norm whose unit ball has J vertices."""
    require(whole("J", J, 0) >= 2, "J", J, "be at least 2", "the unit ball of a norm has at least the two vertices ±v")
    return 2 * K.log(K(J))


@claims("eqn:k_equiv_norm")
def polyhedral_kappa_provable(K: Numbers, J: int) -> Regularity:
    """The dual norm is max over the J/2 pairs ±v of |⟨v, y⟩| = ‖Ay‖_∞, so ‖y‖_+ = ‖Ay‖_ρ does as well as in
    ℓ_∞^{J/2}.

    It is at most the printed 2 ln J up to J = 8; beyond, the printed value has no proof here, and from J = 10^6 on it
    is false (ℓ_1^{J/2}).
    """
    require(whole("J", J, 0) >= 2, "J", J, "be at least 2", "the unit ball of a norm has at least the two vertices ±v")
    return kappa_provable(K, -(-J // 2), INF)


# ---------------------------------------------------------------------------- equations (3) and (4)


@implements("eqn:k_smooth", "printed")
def smoothness_bound(K: Numbers, x: Vector, y: Vector, rho: Exact, kappa_plus: Exact | Real) -> Real:
    """The right side of (3) for ‖·‖_+ = ‖·‖_ρ: ‖x‖² + ⟨∇(‖·‖²)(x), y⟩ + κ_+‖y‖²."""
    size = norm(K, x, rho)
    linear = square_gradient(K, x, rho) @ y
    other = norm(K, y, rho)
    return size * size + linear + K(kappa_plus) * other * other


def square_gradient(K: Numbers, x: Vector, rho: Exact) -> Vector:
    """∇(‖·‖_ρ²)(x) = 2‖x‖_ρ^{2−ρ}·sgn(x)|x|^{ρ−1}, and 0 at x = 0."""
    rho = Fraction(rho)
    if rho == 2:
        return x * 2
    size = norm(K, x, rho)
    if not K.lt(K(0), size):
        return x * 0
    unit = x / size
    return K.vector([2 * size * K.sign(u) * K.power(K.abs(u), rho - 1) for u in unit])


@implements("eqn:k_equiv_norm", "printed")
def equivalence_bounds(K: Numbers, x: Vector, q: Any, regularity: Regularity) -> tuple[Real, Real, Real]:
    """‖x‖_q², ‖x‖_+² and (κ/κ_+)‖x‖_q²: (4) says that they increase."""
    own, plus = norm(K, x, q), norm(K, x, regularity.rho)
    return own * own, plus * plus, regularity.equivalence() * own * own


# --------------------------------------------------------------------------------- lower bounds on κ


def sign_lower_bound(d: int, columns: int) -> Fraction:
    """E‖Σ ε_i x_i‖_∞²/Σ‖x_i‖_∞², exactly: x_i the columns of d distinct ±1 rows (up to sign) of that length.

    With all 2^{k−1} rows the maximum is always k, so ℓ_∞^d has κ ≥ 1 + log2 d for powers of two.
    """
    rows = _sign_rows(d, columns)
    total = 0
    for signs in product((1, -1), repeat=columns):
        total += max(abs(sum(e * x for e, x in zip(signs, row, strict=True))) for row in rows) ** 2
    return Fraction(total, 2**columns * columns)


def _sign_rows(d: int, columns: int) -> list[tuple[int, ...]]:
    rows = [(1, *rest) for rest in product((1, -1), repeat=columns - 1)]
    require(len(rows) >= d, "columns", columns, f"give at least d = {d} rows up to sign, 2^(columns−1)")
    return rows[:d]


def sign_lower_bound_lq(K: Numbers, q: Any) -> Real:
    """2^{1−2/q}: the same test for ℓ_q², with the two columns (1, 1) and (1, −1). κ is at least this."""
    return K.power(K(2), 1 - Fraction(2) / Fraction(q))


def confluent(K: Ball, d: int, y: Real) -> Real:
    """M(−1/d, ½, y), Kummer's confluent function: positive iff 2y < κ_d, below which ℓ_∞^d is not regular."""
    value = K.at_precision(lambda z: z.hypgeom_1f1(arb(-1) / whole("d", d), arb(1) / 2), y.ball)
    return BallScalar(K, value)


def exponential_share(K: Numbers, y: Real) -> Real:
    """A bound, from above and sharp, on e^{−y}Σ_{k≥1} y^k/(k·(½)_k): below 1 at y = ln d it refutes κ = 2 ln d.

    Terms are added until they fall by half; what is left is then at most the last one.
    """
    total, power, k = K(0), K(1), 0
    while k < 64 or not K.lt(2 * y, K(k)):
        k += 1
        power = power * y / (K(k) - K(Fraction(1, 2)))
        total = total + power / k
    return (total + power) / K.exp(y)


@lru_cache(maxsize=1)
def refuted_dimensions() -> tuple[tuple[int, ...], int, int]:
    """Where 2 ln d fails in ℓ_∞^d, decided on balls: single d, the d from which on it always does, the same for |V|.

    The module's text proves "from then on" from one value each, at d = 60 and |V| = 10^6.
    """
    K = Ball(256)
    single = [d for d in range(2, 60) if K.lt(K(0), confluent(K, d, K.log(K(d))))]
    single += [
        d for d, columns in ((2, 2), (3, 3), (4, 3)) if K.lt(kappa_printed(K, d, INF), K(sign_lower_bound(d, columns)))
    ]
    first = 60
    require(K.lt(exponential_share(K, K.log(K(first))), K(1)), "d", first, "have a share below 1")
    while first - 1 in single:
        first -= 1
    vertices = 10**6
    require(
        K.lt(exponential_share(K, K.log(K(vertices))), K(Fraction(1, 2))), "|V|", vertices, "have a share below 1/2"
    )
    return tuple(sorted({d for d in single if d < first})), first, vertices
