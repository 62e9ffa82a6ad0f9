"""How far one replaced record moves a phase of Algorithm 2, and the noise that this asks for.

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
middle, s → 0 (`widest_pair`).

**The step size for the tight noise** (`tuned_parameters`, W bounded, n = 2^j). With σ_k = Δ_k/μ* and Δ_k ≤ 2η_kGg, g =
1 + 1/(4 ln n) (as α(T_k − 1)/2 ≤ G/(4 ln n)), the sum over phases of `phased_sgd` is 4D²/(ηn) for the first start,
32dηG²g²2^{−k}/(μ*²n) for the start of phase k ≥ 2, together at most 16dηG²g²/(μ*²n), and cηG² for the steps, c = 1/6
("first") or 1/2 ("last"). Lines 4 and 5 set η for another noise and other constants; the best is η = (2D/G)/√(16dg²/μ*²
+ cn), and then

    E F(ŵ) − F(w*) ≤ GD[16g√d/(μ*n) + (4√c + 1/2)/√n + log2(n)/(n ln n) + g/n²],

1/2 for the smoothing, the last term for the last noise (0 with "first"): 16 where 100/3 stands before √d/(ρn), ρ < μ*,
and 2.14 where 38/3 stands before 1/√n. Steps do not expand: η_1βR² ≤ 1/(2√c) < 1.23 with the theorem's β. ∎

**An oracle that jumps by J at one point** grows in the same way by (ηRJ)² a step: that is what the unsound halving
does, J up to √2 − 1 times L0. **Steps that expand** (λ > 2) grow even with exact gradients: |⟨u, x⟩ − y|, ⟨Δ, x⟩ =
2L0/β, y in the middle, gives ‖Δ‖² + (2ηL0R)²(1 − 2/λ) a step. Both lose the privacy of Algorithm 2 (`widest_pair`,
`shift_of_output`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from reference.convex.moreau import REAL_LINE
from reference.convex.oracle import Oracle, OracleParameters, oracle_evaluations, quantum
from reference.convex.phased_sgd import (
    TIGHT_ROOM,
    Average,
    NoiseRule,
    PhasedParameters,
    phase_lengths,
    step_size,
)
from reference.numerics.numbers import MP, Exact, Float64, Numbers, Real, Vector, norm
from reference.numerics.preconditions import require
from reference.paper.registry import claims
from reference.privacy import gaussian_delta, gaussian_mu, gaussian_mu_safe
from reference.setting.data import Example
from reference.setting.losses import GLL

# ------------------------------------------------------------------------------------------------ bounds


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
    _require_contraction(K, eta, p)
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


def _require_contraction(K: Numbers, eta: Real, p: OracleParameters) -> None:
    rate = eta * p.beta * p.R * p.R
    remedy = "the drift adds in quadrature only there; iterate_bound holds up to 2"
    require(K.le(rate, K(1)), "eta*beta*R^2", K.to_float(rate), "be at most 1", remedy)
    require(p.M == REAL_LINE, "M", p.M, "be the line", "elsewhere the oracle's cells are not all of one width")


def _require_no_expansion(K: Numbers, eta: Real, p: OracleParameters) -> None:
    """ηβ‖x‖² ≤ 2 for every feature that is accepted; beyond, neighbours part and no bound of this module holds."""
    rate = eta * p.beta * p.R * p.R
    inside = K.le(rate * K(TIGHT_ROOM), K(2))
    require(inside, "eta*beta*R^2", K.to_float(rate), "be at most 2", "beyond, steps expand: lower beta")


# ----------------------------------------------------------------------------------------------- noise


def tight_sigma(
    K: Numbers,
    epsilon: Exact | Real,
    delta: Exact | Real,
    average: Average = "last",
    drift: Literal["linear", "quadrature"] = "linear",
) -> NoiseRule:
    """σ_k = Δ_k/μ*(ε, δ): the least Gaussian noise that the sensitivity bound of the released average allows.

    "linear" is valid for every α-accurate oracle of norm at most L0R and η_kβR² ≤ 2; "quadrature" for the corrected
    oracle with M = ℝ and η_kβR² ≤ 1 (an iterate's supremum, which bounds the average's). What can be checked of that
    is checked. Binary64 takes a μ* that is certainly not too large; `TIGHT_ROOM` pays for features a little longer
    than R, since every bound above is at most proportional to R.
    """
    mu = K(gaussian_mu_safe(epsilon, delta)) if isinstance(K, Float64) else gaussian_mu(K, epsilon, delta)

    def sigma(K: Numbers, rho: Real, eta_k: Real, T_k: int, p: OracleParameters) -> Real:
        _require_no_expansion(K, eta_k, p)
        if drift == "quadrature":
            return iterate_supremum(K, eta_k, T_k, p) / mu * K(TIGHT_ROOM)
        return average_bound(K, eta_k, T_k, p, average) / mu * K(TIGHT_ROOM)

    return sigma


STEP_COST = {"first": Fraction(1, 6), "last": Fraction(1, 2)}
"""c: the steps of all phases cost at most cηL0²R² in risk, for either average."""


def tuned_parameters(K: Numbers, p: PhasedParameters) -> PhasedParameters:
    """The same run with tight noise and with the step size that its risk bound prefers. Looks at no data."""
    require(p.D is not None, "D", p.D, "be given", "the unconstrained rate is in an unknown distance")
    plain = replace(p, stretch=1, sigma=tight_sigma(K, p.epsilon, p.delta, p.average))
    G = p.smoothing.L0 * p.smoothing.R
    spread = 16 * p.W.dim * _drift_share(K, p) ** 2 / gaussian_mu(K, p.epsilon, p.delta) ** 2
    eta = 2 * K(p.D) / (G * K.sqrt(spread + K(STEP_COST[p.average]) * p.n))
    return replace(plain, stretch=eta / step_size(K, plain))


def _drift_share(K: Numbers, p: PhasedParameters) -> Real:
    """g = 1 + 1/(4 ln n), raised by `TIGHT_ROOM`: Δ_k ≤ 2η_kL0R·g with the theorem's α."""
    return (1 + 1 / (4 * K.log(K(p.n)))) * K(TIGHT_ROOM)


@claims("thm:l2_glm", "tight")
def tuned_risk(K: Numbers, p: PhasedParameters) -> Real:
    """L0RD[16g√d/(μ*n) + (4√c + 1/2)/√n + log2(n)/(n ln n) + g/n²]: `tuned_parameters`, n = 2^j, the theorem's α and
    β.
    """
    require(p.D is not None and p.n & (p.n - 1) == 0, "n", p.n, "be a power of two", "excess_risk takes any n")
    n, g, c = K(p.n), _drift_share(K, p), K(STEP_COST[p.average])
    noise = 16 * g * K.sqrt(K(p.W.dim)) / (gaussian_mu(K, p.epsilon, p.delta) * n)
    rest = (p.n.bit_length() - 1) / (n * K.log(n)) + (g / (n * n) if p.average == "last" else K(0))
    steps = (4 * K.sqrt(c) + K(Fraction(1, 2))) / K.sqrt(n)
    return p.smoothing.L0 * p.smoothing.R * K(p.D) * (noise + steps + rest)


@claims("thm:l2_glm")
def phase_deltas(K: Numbers, p: PhasedParameters) -> tuple[Real, ...]:
    """δ_G(ε, Δ_k/σ_k) of every phase: the algorithm is (ε, max)-DP where ηβR² ≤ 2 in the first phase."""
    rho = p.epsilon / (2 * K.sqrt(K.log(1 / p.delta)))
    eta, deltas = step_size(K, p), []
    rate = eta / 4 * p.smoothing.beta * p.smoothing.R * p.smoothing.R
    require(K.le(rate, K(2)), "eta_1*beta*R^2", K.to_float(rate), "be at most 2", "beyond, steps expand: lower beta")
    for k, T in enumerate(phase_lengths(p.n), start=1):
        if T == 1 and p.average == "first":
            deltas.append(K(0))  # the average is the start: nothing of the record is released
            continue
        bound = average_bound(K, eta / 4**k, T, p.smoothing, p.average)
        deltas.append(gaussian_delta(K, p.epsilon, bound / p.sigma(K, rho, eta / 4**k, T, p.smoothing)))
    return tuple(deltas)


# --------------------------------------------------------------------------------- pairs that move apart


@dataclass(frozen=True)
class DivergingPair:
    """Two neighbouring datasets (they differ in the first record) and the differences u_t − u'_t that they cause."""

    dataset: tuple[Example, ...]
    neighbour: tuple[Example, ...]
    differences: tuple[Vector, ...]

    @property
    def last(self) -> float:
        """‖u_T − u'_T‖."""
        return float(norm(Float64(), self.differences[-1], 2))

    @property
    def average(self) -> float:
        """The distance of the two averages of u_1..u_T."""
        total = self.differences[0]
        for difference in self.differences[1:]:
            total = total + difference
        return float(norm(Float64(), total / len(self.differences), 2))


Label = Callable[[float, float], float]
"""(⟨u, x⟩, ⟨u', x⟩) → y: where to put the label between two predictions."""


def middle(m: float, m2: float) -> float:
    """Half-way between two predictions."""
    return (m + m2) / 2


def widest_pair(
    call: Oracle,
    p: OracleParameters,
    gll: GLL,
    eta: float,
    T: int,
    *,
    gap: float,
    label: Label = middle,
    first: tuple[Example, Example],
) -> DivergingPair:
    """A pair in ℝ² that moves apart: each x has length R, ⟨Δ, x⟩ = gap, and lies on alternating sides of Δ.

    Greedy, in binary64: every record is chosen after both runs' current points. Alternating keeps Δ on one line,
    so that the average moves almost as far as the iterates. No constraint: the runs are u ← u − η·call(u, z).
    """
    K = Float64()
    u = v = K.zeros(2)
    left, right, differences = [first[0]], [first[1]], []
    for t in range(1, T + 1):
        if t > 1:
            left.append(_across(K, u, v, float(p.R), gap, label, 1 if t % 2 else -1))
            right.append(left[-1])
        u = u - _step(K, call, p, gll, u, left[-1]) * eta
        v = v - _step(K, call, p, gll, v, right[-1]) * eta
        differences.append(u - v)
    return DivergingPair(tuple(left), tuple(right), tuple(differences))


def _step(K: Numbers, call: Oracle, p: OracleParameters, gll: GLL, u: Vector, z: Example) -> Vector:
    return call(K, u, K.vector(z.x), gll.scalar(z), p, None).gradient


def _across(K: Numbers, u: Vector, v: Vector, R: float, gap: float, label: Label, side: int) -> Example:
    """The record with x at the angle arccos(gap/(R‖Δ‖)) to Δ = u − v, label between the two predictions."""
    dx, dy = (u - v)[0], (u - v)[1]
    length = math.hypot(dx, dy)
    cosine = min(1, gap / (R * length))
    sine = side * math.sqrt(1 - cosine * cosine)
    shrink = 1 - math.ldexp(1, -50)
    x = tuple(R * shrink * a / length for a in (cosine * dx - sine * dy, cosine * dy + sine * dx))
    features = K.vector(x)
    return Example(x, label(u @ features, v @ features))


def padded(pair: Sequence[Example], n: int) -> tuple[Example, ...]:
    """The records followed by records with x = 0, n in all: later phases then only add noise."""
    return (*pair, *(Example((0, 0), 0) for _ in range(n - len(pair))))


@dataclass(frozen=True)
class Shift:
    """The output of Algorithm 2 on a pair that only phase 1 sees: two Gaussians `mu` standard deviations apart."""

    distance: float
    sigma: float
    outside: float
    """An upper bound on the probability that W's boundary is touched by the noise (where the law is not Gaussian)."""

    @property
    def mu(self) -> float:
        """Distance over standard deviation."""
        return self.distance / self.sigma

    def delta(self, epsilon: Exact) -> float:
        """A lower bound on δ(ε): that of the Gaussians less twice what the boundary can change."""
        K = MP(30)
        return float(gaussian_delta(K, epsilon, K(self.mu))) - (1 + math.exp(float(epsilon))) * self.outside


def shift_of_output(distance: float, sigmas: Sequence[float], room: float, dim: int = 2) -> Shift:
    """What is released when phases 2, 3, … have zero gradients: w_1 + Σ_k ξ_k, standard deviation √Σσ_k² a
    coordinate.

    `room` is the distance from either w_1 to the boundary of W: P(‖N(0, s²I_d)‖ ≥ room) is bounded by Chernoff,
    (e·r²/d)^{d/2}·e^{−r²/2} with r = room/s, for every partial sum of the noises (there are K of them).
    """
    total = math.sqrt(math.fsum(s * s for s in sigmas))
    r = room / total
    tail = (math.e * r * r / dim) ** (Fraction(dim, 2)) * math.exp(-r * r / 2) if r * r > dim else 1
    return Shift(distance, total, min(1, len(sigmas) * tail))
