"""What follows from the sensitivity of Algorithm 2 (`drift`): the step size for the tight noise, and pairs that part.

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

from reference.convex.drift import Average, average_bound
from reference.convex.oracle import Oracle, OracleParameters
from reference.convex.phased_noise import TIGHT_ROOM, require_no_expansion, tight_sigma
from reference.convex.phased_sgd import (
    PhasedParameters,
    phase_lengths,
    privacy_rate,
    require_theorem,
    step_size,
)
from reference.numerics.numbers import MP, Exact, Float64, Numbers, Real, Vector, norm
from reference.numerics.preconditions import require
from reference.paper.registry import claims
from reference.privacy import gaussian_delta, gaussian_mu
from reference.setting.data import Example
from reference.setting.losses import GLL

# ----------------------------------------------------------------------------------------------- noise


STEP_COST = {"first": Fraction(1, 6), "last": Fraction(1, 2)}
"""c: the steps of all phases cost at most cηL0²R² in risk, for either average."""


def tuned_parameters(K: Numbers, p: PhasedParameters) -> PhasedParameters:
    """The same run with tight noise and with the step size that its risk bound prefers. Looks at no data."""
    require(p.D is not None, "D", p.D, "be given", "the unconstrained rate is in an unknown distance")
    plain = replace(p, stretch=1, sigma=tight_sigma)
    G, mu = p.smoothing.L0 * p.smoothing.R, gaussian_mu(K, p.epsilon, p.delta)
    eta = tuned_step(K, p.n, p.W.dim, G, K(p.D), mu, p.average)
    return replace(plain, stretch=eta / step_size(K, plain))


def tuned_step(K: Numbers, n: int, d: int, G: Real, D: Real, mu: Real, average: Average = "last") -> Real:
    """η = (2D/G)/√(16dg²/μ*² + cn), G = L0R: the η of lines 4 and 5 that the risk bound of the tight noise prefers."""
    spread = 16 * d * _drift_share(K, n) ** 2 / mu**2
    return 2 * D / (G * K.sqrt(spread + K(STEP_COST[average]) * n))


def _drift_share(K: Numbers, n: int) -> Real:
    """g = 1 + 1/(4 ln n), raised by `TIGHT_ROOM`: Δ_k ≤ 2η_kL0R·g with the theorem's α."""
    return (1 + 1 / (4 * K.log(K(n)))) * K(TIGHT_ROOM)


@claims("thm:l2_glm", "tight")
def tuned_risk(K: Numbers, p: PhasedParameters) -> Real:
    """L0RD[16g√d/(μ*n) + (4√c + 1/2)/√n + log2(n)/(n ln n) + g/n²]: n = 2^j, the theorem's α and β.

    The risk of a run with `tuned_parameters(K, p)`, not with p's own step and noise: `excess_risk(K, p)` bounds that.
    """
    require_theorem(K, p)
    require_tuned(K, p)
    n, g, c = K(p.n), _drift_share(K, p.n), K(STEP_COST[p.average])
    noise = 16 * g * K.sqrt(K(p.W.dim)) / (gaussian_mu(K, p.epsilon, p.delta) * n)
    rest = (p.n.bit_length() - 1) / (n * K.log(n)) + (g / (n * n) if p.average == "last" else K(0))
    steps = (4 * K.sqrt(c) + K(Fraction(1, 2))) / K.sqrt(n)
    return p.smoothing.L0 * p.smoothing.R * K(p.D) * (noise + steps + rest)


def require_tuned(K: Numbers, p: PhasedParameters) -> None:
    """σ_k ≤ 2η_kL0R·g/μ* with the tuned step: rounding may have made the tight noise larger than that."""
    K, made = K.unwatched, tuned_parameters(K, p)
    unit = 2 * p.smoothing.L0 * p.smoothing.R * _drift_share(K, p.n) / gaussian_mu(K, p.epsilon, p.delta)
    for k, T in enumerate(phase_lengths(p.n), start=1):
        eta = step_size(K, made) / 4**k
        sigma, allowed = made.sigma(K, privacy_rate(K, p), eta, T, made), unit * eta
        remedy = f"in {K} rounding adds that much; take MP(40), or excess_risk(K, tuned_parameters(K, p))"
        require(K.le(sigma, allowed), f"sigma_{k}", K.to_float(sigma), f"be at most {K.to_float(allowed):.6g}", remedy)


@claims("thm:l2_glm")
def phase_deltas(K: Numbers, p: PhasedParameters) -> tuple[Real, ...]:
    """δ_G(ε, Δ_k/σ_k) of every phase: the algorithm is (ε, max)-DP where ηβR² ≤ 2 in the first phase."""
    eta, rho, deltas = step_size(K, p), privacy_rate(K, p), []
    require_no_expansion(K, eta / 4, p.smoothing)
    for k, T in enumerate(phase_lengths(p.n), start=1):
        if T == 1 and p.average == "first":
            deltas.append(K(0))  # the average is the start: nothing of the record is released
            continue
        bound = average_bound(K, eta / 4**k, T, p.smoothing, p.average)
        deltas.append(gaussian_delta(K, p.epsilon, bound / p.sigma(K, rho, eta / 4**k, T, p)))
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
