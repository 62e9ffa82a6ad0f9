"""How far one replaced record moves a phase of Algorithm 2 (Theorem 6), in exact arithmetic.

Two runs of PSGD on neighbouring datasets start at the same point u_0; the records differ at step j. Write Δ_t = u_t
− u'_t, G = L0R, λ = ηβR², q for the quantum of the oracle (`oracle.quantum`): qR ≤ 2α.

**Any α-accurate oracle with ‖O‖ ≤ G, λ ≤ 2** (`iterate_bound`). ‖Δ_j‖ ≤ 2ηG. For t > j both runs apply the same map
u ↦ Π_W(u − ηO(u, z)); u ↦ u − η∇f_β(u, z) does not expand (f_β is convex and βR²-smooth, λ ≤ 2), nor does Π_W, and
the two oracle errors add at most 2ηα. So ‖Δ_t‖ ≤ 2η(G + α(t − j)): every iterate moves by at most 2η(G + α(T − 1)),
the average of u_1..u_T by at most 2η(G + α(T − 1)/2), that of u_0..u_{T−1} by 2η((T − 1)/T)(G + α(T − 2)/2). ∎
Attained, by an oracle whose error always pushes outwards.

**The corrected oracle, M = ℝ, λ ≤ 1: the drift adds in quadrature** (`iterate_supremum`). Its derivative is c(m) =
Q(ℓ_β'(m)): bisection tests the sign of s(m + δ) + βδ, s a monotone selection of ∂ℓ, at offsets δ of a fixed dyadic
grid. For fixed δ the test can only switch from − to + as m grows, whatever happens at kinks; so c does not fall,
and it is the middle of the cell of width q that holds ℓ_β'(m). Let the two predictions differ by s = ⟨Δ, x⟩ ≥ 0 and
let c differ by C = jq, j ≥ 0. Two values in cells j apart differ by at least (j − 1)q, and ℓ_β' is β-Lipschitz: s ≥
(j − 1)q/β. Hence

    ‖Δ_t‖² ≤ ‖Δ_{t−1}‖² − 2ηsC + η²R²C² ≤ ‖Δ_{t−1}‖² + (ηq²/β)·j(λj − 2(j − 1)),

where the last bracket is λ for j = 1 and not positive for j ≥ 2 when λ ≤ 1 (and j = 0 changes nothing). So ‖Δ_t‖²
grows by at most (ηqR)² a step. The first step gives at most 2η(G − α'), α' = G2^{−T_o} = qR/2, because the
outermost cells have their middles at ±(L0 − q/2). Together ‖Δ_T‖ ≤ 2η√((G − α')² + α'²(T − 1)) ≤ 2η√(G² + α²(T −
1)). ∎ In two and more dimensions it is the supremum: take x nearly orthogonal to Δ, |⟨u, x⟩ − y| with y in the
middle, s → 0 (`sensitivity.widest_pair`).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from reference.convex.moreau import REAL_LINE
from reference.convex.oracle import OracleParameters, oracle_evaluations, quantum
from reference.numerics.numbers import Numbers, Real
from reference.numerics.preconditions import require
from reference.paper.registry import claims

Average: TypeAlias = Literal["last", "first"]
"""Which iterates of a phase are averaged: u_1, …, u_T, or u_0, …, u_{T−1}."""


@claims("thm:l2_glm")
def iterate_bound(K: Numbers, eta: Real, T: int, p: OracleParameters) -> Real:
    """2η(L0R + α(T − 1)) ≥ ‖u_T − u'_T‖ for any α-accurate oracle of norm at most L0R, ηβR² ≤ 2."""
    return 2 * eta * (p.L0 * p.R + p.alpha * (T - 1))


@claims("thm:l2_glm")
def average_bound(K: Numbers, eta: Real, T: int, p: OracleParameters, average: Average = "last") -> Real:
    """The same for the released average: 2η(L0R + α(T − 1)/2), or 2η((T − 1)/T)(L0R + α(T − 2)/2) of u_0..u_{T−1}."""
    G = p.L0 * p.R
    if average == "last":
        return 2 * eta * (G + p.alpha * (T - 1) / 2)
    return 2 * eta * (T - 1) * (G + p.alpha * max(T - 2, 0) / 2) / T


@claims("thm:l2_glm", "tight")
def iterate_supremum(K: Numbers, eta: Real, T: int, p: OracleParameters) -> Real:
    """2η√((L0R − a)² + a²(T − 1)), a = L0R·2^{−T_o}: the supremum for the corrected oracle, d ≥ 2, ηβR² ≤ 1."""
    require_contraction(K, eta, p)
    if oracle_evaluations(K, p) == 0:
        return K(0)
    half = quantum(K, p) * p.R / 2
    first = p.L0 * p.R - half
    return 2 * eta * K.sqrt(first * first + half * half * (T - 1))


@claims("thm:l2_glm", "tight")
def average_quadrature(K: Numbers, eta: Real, T: int, p: OracleParameters, average: Average = "last") -> Real:
    """The mean over the averaged iterates of their suprema (the first one of u_0..u_{T−1} is 0)."""
    steps = range(1, T + 1) if average == "last" else range(1, T)
    return K.sum(iterate_supremum(K, eta, t, p) for t in steps) / T


def require_contraction(K: Numbers, eta: Real, p: OracleParameters) -> None:
    """ηβR² ≤ 1 and M = ℝ: where the drift adds in quadrature."""
    rate = eta * p.beta * p.R * p.R
    remedy = "the drift adds in quadrature only there; iterate_bound holds up to 2"
    require(K.le(rate, K(1)), "eta*beta*R^2", K.to_float(rate), "be at most 1", remedy)
    require(p.M == REAL_LINE, "M", p.M, "be the line", "elsewhere the oracle's cells are not all of one width")
