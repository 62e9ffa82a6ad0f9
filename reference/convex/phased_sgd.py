"""Algorithm 2: Phased SGD for generalised linear losses (Theorems 6 and 7, Lemma 8).

| paper | here |
|---|---|
| z_1, …, z_n | `dataset`, a tuple of `Example` |
| W, D | `p.W`, `p.D` (None in the unconstrained setting) |
| θ (rank bound) | `p.rank` (None in the constrained setting) |
| w̃_0, w̃_k, w_k | `p.start`, `w`, `w_k` |
| ρ = ε/(2√ln(1/δ)) | `rho` |
| K | `phases` |
| η, η_k, T_k, σ_k, s | `eta`, `eta_k`, `T_k`, `sigma_k`, `s` |
| O_{β,α,R} | `p.oracle` with `p.smoothing` |
| PSGD(O, η, w_0, T) | `psgd` |
| ‖·‖_V | `span_norm` |
| ξ_k | draw `xi[k]`, d standard Gaussians |

Which points, which average: phase k takes T_k steps on the first T_k points of its range, in order. The average
runs over u_1, …, u_{T_k} (`average="last"`, as the proof of Lemma 8 writes it) or over u_0, …, u_{T_k−1}
(`"first"`, where the gradients are taken). With K = ⌊log2 n⌋ and T_k = ⌊n/2^k⌋ the phases use n − popcount(n)
points, each once.

**Privacy (Theorem 6, repaired).** A record belongs to one phase. Given the past that phase releases w_k + N(0,
σ_k²I), and everything later is post-processing; so the algorithm is (ε, δ)-DP if δ_G(ε, Δ_k/σ_k) ≤ δ for all k, Δ_k
the sensitivity of w_k (`sensitivity`). Printed σ_k = 4L0Rη_k/ρ: Δ_k ≤ 2η_k(L0R + α(T_k − 1)), and α(T_k − 1)/(L0R)
≤ (⌊n/2⌋ − 1)/(n ln n), which is at most 0.187 (n = 6). So μ_k = Δ_k/σ_k ≤ 0.594ρ = 0.297ε/√L, L = ln(1/δ). A
μ-Gaussian release is (μ²/2 + μ√(2L), δ)-DP, that is 0.0441ε²/L + 0.42ε ≤ ε for ε ≤ 13L; ε ≤ √L is within that
unless L < 1/169, and then δ > 0.994 while δ_G(ε, μ) ≤ δ_G(0, μ) ≤ μ/√(2π) < 0.12. ∎ The tight scale is Δ_k/μ*(ε,
δ).

**Risk of one phase (Lemma 8, with constants).** Let G = L0R, ‖O‖ ≤ G, w any fixed point of W (given the past), and
u_t = Π_W(u_{t−1} − ηO(u_{t−1}, z_t)). Then ‖u_t − w‖² ≤ ‖u_{t−1} − w‖² − 2η⟨O, u_{t−1} − w⟩ + η²G², and
⟨O, u − w⟩ ≥ f_β(u, z) − f_β(w, z) − α‖u − w‖. Fresh z_t, sum over t = 1..T, Jensen:

    "first":  E F_β(mean of u_0..u_{T−1}) − F_β(w) ≤ E‖u_0 − w‖²/(2ηT) + ηG²/2 + α·mean E‖u_t − w‖.

For "last", Σ_{1}^{T} F(u_t) = Σ_{0}^{T−1} F(u_t) + F(u_T) − F(u_0), and F(u_T) − F(u_0) ≤ G·ηGT: add ηG². So 3ηG²/2
in place of ηG²/2, below the printed 2ηG² and 5ηG²/2. (Or take one more fresh point in the analysis only and start
the sum at u_1: add (G E‖u_0 − w‖ + ηG²/2)/T + αηG instead; `phase_bound` takes the smaller. Unconstrained, the
fresh point is a record that no phase uses: there is one, because the phases use n − popcount(n) records.) In the
unconstrained setting all distances may be measured in ‖·‖_V, because every step lies in the span of the features;
and ‖u_t − u_0‖ ≤ ηGt. ∎

**Risk (Theorem 6).** Telescoping from w_0 = w* (any comparator), with ‖u_0 − w_{k−1}‖ ≤ ‖ξ_{k−1}‖ for k ≥ 2
(projection does not expand and w_{k−1} ∈ W) and ≤ D for k = 1; then E F_β(out) − F_β(w_K) ≤ G E‖ξ_K‖ ≤ G√d σ_K, and
0 ≤ F − F_β ≤ L0²/(2β). For n a power of two, a = √d/(ρn), b = 1/√n: the first phase gives 4D²/(ηn) = 12GD·max(a,
b); phases k ≥ 2 give 128G²ηd2^{−k}/(ρ²n) each, together at most 64G²ηd/(ρ²n) = (64/3)GD·a·min(1, a/b). With the
rest ("last"; 1/18 for 1/6 with "first"):

    GD[12 max(a, b) + (64/3)a + (1/6 + 1/2)b + log2(n)/(n ln n) + 4/(3n²)],

so 100/3 before √d/(ρn) and 38/3 before 1/√n. Theorem 7 is the same with D² replaced by ‖w̃_0 − w‖², d by θ, length
scale 1, and G√(2/π)σ_K for the last step (L0 E|⟨ξ_K, x⟩| does not see the dimension). ∎
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from reference.convex.drift import Average
from reference.convex.moreau import REAL_LINE, Interval, require_convex, smoothing_error
from reference.convex.oracle import Counter, Oracle, OracleParameters, oracle, oracle_evaluations, oracle_parameters
from reference.convex.phased_noise import (
    TIGHT_ROOM,
    NoiseRule,
    require_coherent,
    require_proof,
    require_sound,
    used_sigma,
)
from reference.convex.rounding import require_run, within
from reference.numerics.numbers import INF, Exact, Float64, Numbers, Real, Vector, dual_exponent, floor_log2, norm
from reference.numerics.preconditions import require, same_dimension, whole
from reference.numerics.rounding import require_sizes
from reference.numerics.tape import Draw, Tape, reading
from reference.paper.events import Trace, mark
from reference.paper.registry import claims, implements
from reference.setting.data import FEATURE_SLACK, Example, admitted
from reference.setting.losses import GLL, PiecewiseLinear, ScalarLoss
from reference.setting.sets import FeasibleSet, WholeSpace, require_inside, require_projection

Point: TypeAlias = tuple[Vector, ScalarLoss]


# ------------------------------------------------------------------------------------------- parameters


def sigma_printed(K: Numbers, rho: Real, eta_k: Real, T_k: int, p: PhasedParameters) -> Real:
    """σ_k = 4L0Rη_k/ρ, as printed; private for the corrected algorithm (proof above)."""
    q = p.smoothing
    return 4 * q.L0 * q.R * eta_k / rho


@dataclass(frozen=True)
class PhasedParameters:
    """What Algorithm 2 needs besides the data, as scalars of one number system. Made by `phased_parameters`.

    Parameters whose noise is below what the proof of the corrected algorithm needs for them are refused, here and in
    copies (`dataclasses.replace`), unless they say `unproven`.
    """

    K: Numbers
    n: int
    gll: GLL
    W: FeasibleSet
    start: Vector
    epsilon: Real
    delta: Real
    D: Real | None
    rank: Real | None
    smoothing: OracleParameters
    oracle: Oracle
    sigma: NoiseRule
    average: Average
    stretch: Real = 1
    """η over that of lines 4 and 5: 1, or what the tight noise prefers (`sensitivity.tuned_parameters`)."""
    unproven: bool = False
    """Allow what no proof covers (a broken oracle, too little noise): for experiments, without any promise."""

    def __post_init__(self) -> None:
        """Hold the noise to the run's own proof."""
        if not self.unproven:
            K, lengths = self.K, phase_lengths(whole("n", self.n, least=2))
            require(self.average in ("last", "first"), "average", self.average, "be 'last' or 'first'")
            require_coherent(K, self, 2)
            require_projection(self.W)
            eta = step_size(K, self)
            etas = tuple(eta / 4**k for k in range(1, len(lengths) + 1))
            require_proof(K, self, privacy_rate(K, self), etas, lengths)

    @property
    def scale(self) -> tuple[Real, Real]:
        """(length scale, dimension) of the step size: (D, d), or (1, θ) in the unconstrained setting."""
        return (self.D, self.W.dim) if self.D is not None else (1, self.rank)

    @property
    def start_reach(self) -> Real:
        """A bound on ‖u_0‖ of every phase: that of W, or how far noise and steps get in ℝ^d (`rounding.within`)."""
        K = self.K
        if not isinstance(self.W, WholeSpace):
            return self.W.norm_bound(K, 2)
        G, eta = self.smoothing.L0 * self.smoothing.R, step_size(K, self)
        noise = 2 * G * eta / privacy_rate(K, self)  # the σ_k as printed add up to (4/3)Gη/ρ
        return norm(K, self.start, 2) + self.n * eta * G + (K.sqrt(K(self.W.dim)) + 40) * noise

    @property
    def reach(self) -> Real:
        """A bound on ‖u_t‖ of every phase."""
        if not isinstance(self.W, WholeSpace):
            return self.start_reach
        return self.start_reach + self.n * step_size(self.K, self) * self.smoothing.L0 * self.smoothing.R


def phased_parameters(
    K: Numbers,
    n: int,
    gll: GLL,
    W: FeasibleSet,
    *,
    epsilon: Exact | Real,
    delta: Exact | Real,
    D: Exact | Real | None = None,
    rank: Exact | Real | None = None,
    start: Sequence[Exact] | None = None,
    beta: Exact | Real | None = None,
    alpha: Exact | Real | None = None,
    M: Interval = REAL_LINE,
    oracle: Oracle = oracle,
    sigma: NoiseRule = sigma_printed,
    average: Average = "last",
    unproven: bool = False,
) -> PhasedParameters:
    """Checked parameters. `D` defaults to W's ℓ_2 diameter, `rank` to n (unconstrained), β and α to the theorem's.

    The noise is checked against the proof of the corrected algorithm with these parameters, unless `unproven`.
    """
    K = K.unwatched
    whole("n", n, least=2)
    require(gll.p == 2, "p", gll.p, "be 2", "Algorithm 2 works in the Euclidean setting; for ℓ_1 see Algorithm 3")
    require_family(gll)
    require_projection(W)
    e, d = checked_privacy(K, epsilon, delta)
    require(gll.R > 0, "R", gll.R, "be positive", "with R = 0 every feature is 0 and nothing is to be learnt")
    require_sizes(K, L0=gll.L0, R=gll.R)
    free = isinstance(W, WholeSpace)
    require(D is None or not free, "D", D, "not be given for the whole space", "it has no diameter; give rank")
    require(rank is None or free, "rank", rank, "not be given for a bounded W", "there the step size uses d")
    diameter = None if free else checked_diameter(K, W, D)
    require_sizes(K, D=1 if diameter is None else diameter)
    theta = checked_rank(K, n if rank is None else rank) if free else None
    length = K(1) if diameter is None else diameter
    smoothing = oracle_parameters(
        K,
        beta=theorem_beta(K, n, gll.L0, gll.R, length) if beta is None else beta,
        alpha=theorem_alpha(K, n, gll.L0, gll.R) if alpha is None else alpha,
        L0=gll.L0,
        R=gll.R,
        M=M,
    )
    w0 = checked_start(K, W, start)
    return PhasedParameters(
        K, n, gll, W, w0, e, d, diameter, theta, smoothing, oracle, sigma, average, unproven=unproven
    )


def checked_privacy(K: Numbers, epsilon: Exact | Real, delta: Exact | Real) -> tuple[Real, Real]:
    """ε > 0, 0 < δ < 1 and ε ≤ √ln(1/δ), as Algorithm 2 requires."""
    e, d = K(epsilon), K(delta)
    require(K.gt(e, K(0)), "epsilon", K.to_float(e), "be positive")
    require(K.gt(d, K(0)) and K.lt(d, K(1)), "delta", K.to_float(d), "lie strictly between 0 and 1")
    limit = K.sqrt(K.log(1 / d))
    require(
        K.le(e, limit),
        "epsilon",
        K.to_float(e),
        f"be at most sqrt(ln(1/delta)) = {K.to_float(limit):.6g}",
        "Algorithm 2 is stated for these; lower epsilon or delta",
    )
    return e, d


def checked_diameter(K: Numbers, W: FeasibleSet, D: Exact | Real | None) -> Real:
    """D > 0; the ℓ_2 diameter of W unless given."""
    value = W.diameter(K, 2) if D is None else K(D)
    remedy = "a set of one point leaves nothing to optimise"
    require(K.gt(value, K(0)), "D", K.to_float(value), "be positive", remedy)
    return value


def checked_rank(K: Numbers, rank: Exact | Real) -> Real:
    """θ ≥ 1."""
    theta = K(rank)
    require(K.ge(theta, K(1)), "rank", K.to_float(theta), "be at least 1", "θ bounds the expected rank; n always does")
    return theta


def checked_start(K: Numbers, W: FeasibleSet, start: Sequence[Exact] | None) -> Vector:
    """w̃_0 ∈ W; the centre of W unless given."""
    if start is None:
        return W.centre(K)
    w0 = K.vector(start)
    require_inside(K, W, w0, "w0")
    return w0


ZERO_LOSS = PiecewiseLinear([], [0])
"""The loss of a blank record: nothing is to be learnt from it."""


def admitted_points(K: Numbers, gll: GLL, dataset: Iterable[Any], W: FeasibleSet, start: Vector) -> list[Point]:
    """(x, ℓ^{(y)}) of every record, whatever the records are (the rule of `setting.data`): this never raises.

    A label whose loss is steeper than L0, is not convex (by its own word or at three points), does not exist or cannot
    be evaluated makes the record blank.
    """
    K, reach = K.unwatched, reach_of(K.unwatched, gll, W, start)
    losses: dict[object, ScalarLoss | None] = {}
    points: list[Point] = []
    for record in admitted(gll, dataset, W.dim):
        if record.y not in losses:
            losses[record.y] = _sound_loss(K, gll, record, reach)
        ell = losses[record.y]
        points.append((K.zeros(W.dim), ZERO_LOSS) if ell is None else (K.vector(record.x), ell))
    return points


def _sound_loss(K: Numbers, gll: GLL, record: Example, reach: Real) -> ScalarLoss | None:
    try:
        ell = gll.scalar(record)
        require_convex(K, ell, -reach, reach)
        for kink in getattr(ell, "kinks", ()):
            K(kink)  # 1/y of a hinge loss may be beyond binary64
    except Exception:  # noqa: BLE001 - a family is code of the user's; what it does with a label must not be seen
        return None
    return ell


def reach_of(K: Numbers, gll: GLL, W: FeasibleSet, start: Vector) -> Real:
    """About the largest prediction: where the three points of the test of convexity lie."""
    return K(gll.R) * (2 * (1 + norm(K, start, gll.p)) if isinstance(W, WholeSpace) else W.norm_bound(K, gll.p))


def require_family(gll: GLL) -> None:
    """Refuse a family whose losses at the labels 0, 1 and −1 are not convex by their own word, or too steep alike."""
    found = []
    for y in (0, 1, -1):
        try:
            found.append(gll.family(y))
        except Exception:  # noqa: BLE001 - a family need not have a loss for each of these labels
            continue
    remedy = "Section 3 needs convex losses; for weakly convex ones see Section 5"
    require(not found or any(ell.is_convex for ell in found), "loss", found[:1], "be convex", remedy)
    steepness = {ell.lipschitz for ell in found}
    fine = len(found) < 3 or len(steepness) > 1 or min(steepness) <= gll.L0
    require(fine, "Lipschitz constant of the losses", min(steepness, default=None), f"be at most L0 = {gll.L0}")


def checked_points(K: Numbers, gll: GLL, dataset: Sequence[Example], W: FeasibleSet, start: Vector) -> list[Point]:
    """(x, ℓ^{(y)}) of every record: dimensions agree, ‖x‖_* ≤ R, ℓ^{(y)} is convex (three points a label).

    For public records (tests, vectors): it refuses what breaks a condition, which tells about the record.
    """
    K, reach = K.unwatched, reach_of(K.unwatched, gll, W, start)
    losses: dict[object, ScalarLoss] = {}
    points: list[Point] = []
    for i, z in enumerate(dataset):
        same_dimension(f"x of record {i}", len(z.x), W.dim)
        require_bounded(z, gll, i)
        if z.y not in losses:
            losses[z.y] = gll.scalar(z)
            require_convex(K, losses[z.y], -reach, reach)
        points.append((K.vector(z.x), losses[z.y]))
    return points


def require_bounded(z: Example, gll: GLL, index: int) -> None:
    """‖x‖_q ≤ R(1 + 2^{−40}), exactly where binary64 leaves it open."""
    q, limit = dual_exponent(gll.p), gll.R * (1 + FEATURE_SLACK)
    size = norm(Float64(), Float64().vector(z.x), q)
    inside = Fraction(size) <= gll.R * (1 - FEATURE_SLACK)
    if not inside and Fraction(size) <= gll.R * (1 + 3 * FEATURE_SLACK):
        entries = [abs(Fraction(v)) for v in z.x]
        inside = {
            1: lambda: sum(entries) <= limit,
            2: lambda: sum(v * v for v in entries) <= limit * limit,
            INF: lambda: max(entries) <= limit,
        }.get(q, lambda: True)()
    remedy = "scale the features or raise R"
    require(inside, f"‖x‖_{q} of record {index}", size, f"be at most R = {gll.R}", remedy)


# ----------------------------------------------------------------------------------- projected SGD


@implements("Alg:phased:10", "printed")
def psgd_printed(
    K: Numbers, points: Sequence[Point], T: int, eta: Real, u_0: Vector, p: PhasedParameters, q: OracleParameters
) -> tuple[Vector, list[Vector]]:
    """PSGD as the proof of Theorem 6 writes it: the step goes uphill. Returns the average and the iterates."""
    u, iterates = u_0, [u_0]
    for x, ell in points[:T]:
        step = p.oracle(K, u, x, ell, q, None).gradient * eta
        u = p.W.project(K, u + step)  # [E3.12]
        iterates.append(u)
    return mean(iterates[1:] if p.average == "last" else iterates[:-1]), iterates


@implements("Alg:phased:10")
def psgd(
    K: Numbers, points: Sequence[Point], T: int, eta: Real, u_0: Vector, p: PhasedParameters, q: OracleParameters
) -> tuple[Vector, list[Vector]]:
    """T steps u ← Π_W(u − ηO(u, z)) on the first T points; returns the average and the iterates."""
    u, iterates = u_0, [u_0]
    for x, ell in points[:T]:
        step = p.oracle(K, u, x, ell, q, None).gradient * eta
        u = p.W.project(K, u - step)  # [E3.12]
        iterates.append(u)
    return mean(iterates[1:] if p.average == "last" else iterates[:-1]), iterates


def mean(vectors: Sequence[Vector]) -> Vector:
    """The average of vectors."""
    total = vectors[0]
    for v in vectors[1:]:
        total = total + v
    return total / len(vectors)


# ----------------------------------------------------------------------------------------- Algorithm 2


@dataclass(frozen=True)
class PhaseResult:
    """One phase: its length, step size, noise scale and average."""

    T: int
    eta: Real
    sigma: Real
    w: Vector


@dataclass(frozen=True)
class PhasedResult:
    """The output, the phases, and how often the losses were asked."""

    w: Vector
    phases: tuple[PhaseResult, ...]
    count: Counter


def draws(n: int, dim: int) -> tuple[Draw, ...]:
    """The noise that Algorithm 2 reads: ξ_1, …, ξ_K."""
    return tuple(Draw("xi", (k,), "normal", dim) for k in range(1, floor_log2(n) + 1))


@implements("Alg:phased", "printed")
def phased_sgd_printed(
    K: Numbers, dataset: Sequence[Example], p: PhasedParameters, tape: Tape, trace: Trace | None = None
) -> PhasedResult:
    """Algorithm 2 as printed, with the printed reading of PSGD; n must be a power of two."""
    n, d, count, done = len(dataset), p.W.dim, Counter(), []
    require_run(K, p, n)
    z, q = admitted_points(K, p.gll, dataset, p.W, p.start), replace(p.smoothing, count=count)
    w, G = p.start, p.smoothing.L0 * p.smoothing.R  # L1
    rho = p.epsilon / (2 * K.sqrt(K.log(1 / p.delta)))  # L2
    phases = exact_log2(n)  # L3 [E3.14]
    if p.D is not None:
        eta = p.D / (3 * G) * K.min(rho / K.sqrt(K(d)), 1 / K.sqrt(K(n)))  # L4
    else:
        eta = 1 / (3 * G) * K.min(rho / K.sqrt(K(p.rank)), 1 / K.sqrt(K(n)))  # L5
    eta = eta * p.stretch
    s = 1  # L6
    mark(trace, 1, "w_tilde", w, 0)
    for line, name, value in ((2, "rho", rho), (3, "K", phases), (4 if p.D is not None else 5, "eta", eta)):
        mark(trace, line, name, value)
    with reading(tape, draws(n, d)) as noise:
        for k in range(1, phases + 1):  # L7
            T_k = n // 2**k  # L8
            eta_k = eta / 4**k  # L9
            points = z[s - 1 : s + T_k]  # [E3.11] the declared range: one point too many
            u_0 = w  # [E3.15]
            w_k, iterates = psgd_printed(K, points, T_k, eta_k, u_0, p, q)  # L10 [E3.12]
            sigma_k = used_sigma(K, rho, eta_k, T_k, p)
            w = w_k + K.vector(noise.normal("xi", k, dim=d)) * sigma_k  # L11
            s = s + T_k  # L12
            mark_phase(trace, k, T_k, eta_k, iterates, w_k, sigma_k, w)
            mark(trace, 12, "s", s, k)
            done.append(PhaseResult(T_k, eta_k, sigma_k, w_k))
    output = w  # [E3.15]
    mark(trace, 13, "output", output)
    return PhasedResult(output, tuple(done), count)  # L13


@implements("Alg:phased")
def phased_sgd(
    K: Numbers, dataset: Sequence[Example], p: PhasedParameters, tape: Tape, trace: Trace | None = None
) -> PhasedResult:
    """Algorithm 2, corrected: descent, disjoint phases of ⌊n/2^k⌋ points, start and output projected onto W.

    Args:
        K: the number system.
        dataset: n records (x, y).
        p: loss, set, (ε,δ), β, α and the noise rule, made by `phased_parameters` for the same n.
        tape: the noise, `xi[k]` of dimension d.
        trace: where the steps are noted, if given.

    Returns:
        w̃_K, the phases (length, step size, noise scale, average), and how often the losses were asked.

    >>> from reference.numerics.numbers import Float64
    >>> from reference.numerics.tape import SeededTape
    >>> from reference.setting import GLL, Absolute, Example, L2Ball
    >>> K, data = Float64(), [Example((i % 3 / 4, 0.5), 1) for i in range(8)]
    >>> p = phased_parameters(K, 8, GLL(Absolute, 1, 1), L2Ball((0, 0), 1), epsilon=1, delta="1e-6")
    >>> found = phased_sgd(K, data, p, SeededTape(0))
    >>> [round(v, 3) for v in found.w], [phase.T for phase in found.phases]
    ([0.532, 0.256], [4, 2, 1])
    """
    n, d, count, done = len(dataset), p.W.dim, Counter(), []
    require_run(K, p, n)
    z, q = admitted_points(K, p.gll, dataset, p.W, p.start), replace(p.smoothing, count=count)
    w, G = p.start, p.smoothing.L0 * p.smoothing.R  # L1
    rho = p.epsilon / (2 * K.sqrt(K.log(1 / p.delta)))  # L2
    phases = floor_log2(n)  # L3 [E3.14]
    if p.D is not None:
        eta = p.D / (3 * G) * K.min(rho / K.sqrt(K(d)), 1 / K.sqrt(K(n)))  # L4
    else:
        eta = 1 / (3 * G) * K.min(rho / K.sqrt(K(p.rank)), 1 / K.sqrt(K(n)))  # L5
    eta = eta * p.stretch
    s = 1  # L6
    mark(trace, 1, "w_tilde", w, 0)
    for line, name, value in ((2, "rho", rho), (3, "K", phases), (4 if p.D is not None else 5, "eta", eta)):
        mark(trace, line, name, value)
    with reading(tape, draws(n, d)) as noise:
        for k in range(1, phases + 1):  # L7
            T_k = n // 2**k  # L8
            eta_k = eta / 4**k  # L9
            points = z[s - 1 : s - 1 + T_k]  # [E3.11] T_k points: the next phase starts after them
            u_0 = within(K, p, p.W.project(K, w))  # [E3.15]
            w_k, iterates = psgd(K, points, T_k, eta_k, u_0, p, q)  # L10 [E3.12]
            sigma_k = used_sigma(K, rho, eta_k, T_k, p)
            w = w_k + K.vector(noise.normal("xi", k, dim=d)) * sigma_k  # L11
            s = s + T_k  # L12
            mark_phase(trace, k, T_k, eta_k, iterates, w_k, sigma_k, w)
            mark(trace, 12, "s", s, k)
            done.append(PhaseResult(T_k, eta_k, sigma_k, w_k))
    output = p.W.project(K, w)  # [E3.15]
    mark(trace, 13, "output", output)
    return PhasedResult(output, tuple(done), count)  # L13


def exact_log2(n: int) -> int:
    """log2 n of a power of two; the printed K and T_k are integers for no other n."""
    require(n > 0 and n & (n - 1) == 0, "n", n, "be a power of two as printed", "the corrected edition takes any n ≥ 2")
    return floor_log2(n)


def mark_phase(
    trace: Trace | None, k: int, T: int, eta: Real, iterates: Sequence[Vector], w_k: Vector, sigma: Real, w: Vector
) -> None:
    """The events of one phase."""
    if trace is None:
        return
    trace.mark(8, "T", T, k)
    trace.mark(9, "eta", eta, k)
    for t, u in enumerate(iterates):
        trace.mark(10, "u", u, k, t)
    trace.mark(10, "w", w_k, k)
    trace.mark(11, "sigma", sigma, k)
    trace.mark(11, "w_tilde", w, k)


# ------------------------------------------------------------------------------- parameters of the theorems


@claims("thm:l2_glm", "printed")
def theorem_beta_printed(K: Numbers, n: int, L0: Exact | Real, R: Exact | Real) -> Real:
    """β = √n·L0/R, as Theorem 6 is stated: without D, steps expand once D·min(ρ√(n/d), 1) > 24 and privacy is lost."""
    return K.sqrt(K(n)) * K(L0) / K(R)


@claims("thm:l2_glm")
def theorem_beta(K: Numbers, n: int, L0: Exact | Real, R: Exact | Real, D: Exact | Real) -> Real:
    """β = √n·L0/(RD), as the proof has it (D = 1 in the unconstrained setting): then η_kβR² ≤ 1/12."""
    return K.sqrt(K(n)) * K(L0) / (K(R) * K(D))


@claims("thm:l2_glm")
def theorem_alpha(K: Numbers, n: int, L0: Exact | Real, R: Exact | Real) -> Real:
    """α = L0R/(n ln n), n ≥ 2."""
    whole("n", n, least=2)
    return K(L0) * K(R) / (n * K.log(K(n)))


def privacy_rate(K: Numbers, p: PhasedParameters) -> Real:
    """ρ = ε/(2√ln(1/δ)) of line 2."""
    return p.epsilon / (2 * K.sqrt(K.log(1 / p.delta)))


def step_size(K: Numbers, p: PhasedParameters) -> Real:
    """η of lines 4 and 5, stretched."""
    rho = privacy_rate(K, p)
    length, dimension = p.scale
    G = p.smoothing.L0 * p.smoothing.R
    return K(length) / (3 * G) * K.min(rho / K.sqrt(K(dimension)), 1 / K.sqrt(K(p.n))) * p.stretch


def curvature(K: Numbers, p: PhasedParameters, k: int = 1) -> Real:
    """η_kβR²: the steps of phase k do not expand while it is at most 2, and the drift adds in quadrature up to 1."""
    return step_size(K, p) / 4**k * p.smoothing.beta * p.smoothing.R * p.smoothing.R


# ------------------------------------------------------------------------------------------ running time


@claims("thm:l2_glm")
def phase_lengths(n: int) -> tuple[int, ...]:
    """T_k = ⌊n/2^k⌋, k = 1, …, ⌊log2 n⌋: together n − popcount(n)."""
    return tuple(n // 2**k for k in range(1, floor_log2(n) + 1))


@claims("thm:l2_glm")
def evaluations(K: Numbers, p: PhasedParameters) -> int:
    """(n − popcount n)·⌈log2(L0R/α)⌉ subgradients, exactly: with the theorem's α that is n·log2(n ln n) and less."""
    return (p.n - p.n.bit_count()) * oracle_evaluations(K, p.smoothing)


# ------------------------------------------------------------------------------------------------- risk


@claims("lem:phase_bound", "printed")
def phase_bound_printed(K: Numbers, p: PhasedParameters, k: int, square: Real, distance: Real) -> Real:
    """Lemma 8: square/(2η_kT_k) + 5η_kL0²R²/2 + L0R(distance + 1)/(√n ln n), for E‖·‖² and E‖·‖ of the start."""
    G, T, n = p.smoothing.L0 * p.smoothing.R, p.n // 2**k, K(p.n)
    eta = step_size(K, p) / 4**k
    return square / (2 * eta * T) + 5 * eta * G * G / 2 + G * (distance + 1) / (K.sqrt(n) * K.log(n))


@claims("lem:phase_bound")
def phase_bound(K: Numbers, p: PhasedParameters, k: int, square: Real, distance: Real, diameter: Real | None) -> Real:
    """E[F_β(w_k) − F_β(w_{k−1})] with its constants (proof above); `diameter` bounds ‖u_t − w‖ where W is bounded."""
    G, T = p.smoothing.L0 * p.smoothing.R, p.n // 2**k
    eta = step_size(K, p) / 4**k
    away = distance + eta * G * (T - 1) / 2
    away = away if diameter is None else K.min(away, diameter)
    bound = square / (2 * eta * T) + eta * G * G / 2 + p.smoothing.alpha * away
    if p.average == "last":
        bound = bound + K.min(eta * G * G, (G * distance + eta * G * G / 2) / T + p.smoothing.alpha * eta * G)
    return bound


@claims("thm:l2_glm")
def excess_risk(K: Numbers, p: PhasedParameters) -> Real:
    """Theorem 6 with constants, any n ≥ 2: Σ_k phase_bound + G√d σ_K + L0²/(2β)."""
    require(p.D is not None, "D", p.D, "be given", "in the unconstrained setting use excess_risk_unconstrained")
    require_diameter(K, p)
    D, d = K(p.D), K(p.W.dim)
    return _telescope(K, p, D, D) + p.smoothing.L0 * p.smoothing.R * K.sqrt(d) * _sigma(K, p, floor_log2(p.n))


@claims("thm:l2_glm_unconstrained")
def excess_risk_unconstrained(K: Numbers, p: PhasedParameters, distance: Exact | Real) -> Real:
    """Theorem 7 with constants: the excess over any comparator at `distance` from w̃_0 (a minimiser need not exist)."""
    require(p.rank is not None, "rank", p.rank, "be given", "in the constrained setting use excess_risk")
    last = _sigma(K, p, floor_log2(p.n))
    return _telescope(K, p, K(distance), None) + p.smoothing.L0 * p.smoothing.R * K.sqrt(2 / K.pi) * last


def _telescope(K: Numbers, p: PhasedParameters, first: Real, diameter: Real | None) -> Real:
    require_sound(p.oracle)
    dimension = K(p.scale[1])
    total = phase_bound(K, p, 1, first * first, first, diameter)
    for k in range(2, floor_log2(p.n) + 1):
        noise = _sigma(K, p, k - 1)
        square, distance = dimension * noise * noise, K.sqrt(dimension) * noise
        if diameter is not None:
            square, distance = K.min(square, diameter * diameter), K.min(distance, diameter)
        total = total + phase_bound(K, p, k, square, distance, diameter)
    return total + smoothing_error(K, p.smoothing.L0, p.smoothing.beta)


def _sigma(K: Numbers, p: PhasedParameters, k: int) -> Real:
    return p.sigma(K, privacy_rate(K, p), step_size(K, p) / 4**k, p.n // 2**k, p)


@claims("thm:l2_glm")
def excess_risk_closed_form(K: Numbers, p: PhasedParameters) -> Real:
    """L0RD[(100/3)√d/(ρn) + c/√n + log2(n)/(n ln n) + 4/(3n²)]: n = 2^j, printed σ, the theorem's β and α.

    c = 12 + 1/6 + 1/2 = 38/3 for the average of u_1..u_{T_k}, 12 + 1/18 + 1/2 for u_0..u_{T_k−1}; the 1/2 is the
    smoothing.
    """
    require_theorem(K, p)
    for k in range(1, floor_log2(p.n) + 1):
        allowed = sigma_printed(K, privacy_rate(K, p), step_size(K, p) / 4**k, 1, p) * K(TIGHT_ROOM)
        sigma, remedy = _sigma(K, p, k), "the closed form is for σ_k and η as printed; excess_risk takes any"
        require(K.le(sigma, allowed), f"sigma_{k}", K.to_float(sigma), f"be at most {K.to_float(allowed):.6g}", remedy)
    plain = K.le(K.abs(K(p.stretch) - 1), K(FEATURE_SLACK))
    require(plain, "stretch", K.to_float(K(p.stretch)), "be 1", "for a tuned step size see tuned_risk")
    rho = privacy_rate(K, p)
    n, j = K(p.n), floor_log2(p.n)
    a, b = K.sqrt(K(p.W.dim)) / (rho * n), 1 / K.sqrt(n)
    c = 12 + Fraction(1, 6 if p.average == "last" else 18) + Fraction(1, 2)
    sum_ = 100 * a / 3 + K(c) * b + j / (n * K.log(n)) + 4 / (3 * n * n)
    return p.smoothing.L0 * p.smoothing.R * K(p.D) * sum_


def require_diameter(K: Numbers, p: PhasedParameters) -> None:
    """D is at least the diameter of W: the bounds on the risk measure distances in W by it."""
    K = K.unwatched
    true, remedy = p.W.diameter(K, 2), "a smaller D may set the step size, but then bounds no distance"
    inside = K.le(true * K(1 - FEATURE_SLACK), K(p.D))
    require(inside, "D", K.to_float(K(p.D)), f"be at least the diameter {K.to_float(true):.6g} of W", remedy)


def require_theorem(K: Numbers, p: PhasedParameters) -> None:
    """n = 2^j, bounded W, β as the theorem has it, α at most that: what the closed forms of the risk are proved for."""
    K, q = K.unwatched, p.smoothing
    require(p.D is not None and p.n & (p.n - 1) == 0, "n", p.n, "be a power of two", "excess_risk takes any n")
    require_diameter(K, p)
    beta, alpha = theorem_beta(K, p.n, q.L0, q.R, p.D), theorem_alpha(K, p.n, q.L0, q.R)
    same = K.le(K.abs(q.beta - beta), beta * K(FEATURE_SLACK))
    remedy = "the closed form is for the theorem's parameters; excess_risk takes any"
    require(same, "beta", K.to_float(q.beta), f"be the theorem's {K.to_float(beta):.6g}", remedy)
    fine = K.le(q.alpha, alpha * K(1 + FEATURE_SLACK))
    require(fine, "alpha", K.to_float(q.alpha), f"be at most the theorem's {K.to_float(alpha):.6g}", remedy)


# ------------------------------------------------------------------------- the semi-norm of the features


def span_basis(features: Iterable[Sequence[Exact]]) -> tuple[tuple[Fraction, ...], ...]:
    """An orthogonal (not normalised) basis of the span of exact feature vectors, by Gram–Schmidt in rationals.

    Its length is the rank of Σ x_i x_iᵀ. (The printed V, a full eigenbasis, has d columns and would make ‖·‖_V the
    ℓ_2 norm.)
    """
    basis: list[tuple[Fraction, ...]] = []
    for x in features:
        rest = [Fraction(v) for v in x]
        for b in basis:
            share = _dot(rest, b) / _dot(b, b)
            rest = [r - share * c for r, c in zip(rest, b, strict=True)]
        if any(rest):
            basis.append(tuple(rest))
    return tuple(basis)


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def rank(features: Iterable[Sequence[Exact]]) -> int:
    """Rank(Σ x_i x_iᵀ), exactly: at most min(n, d)."""
    return len(span_basis(features))


def span_norm(K: Numbers, u: Vector, basis: Sequence[Sequence[Fraction]]) -> Real:
    """‖u‖_V, the length of the projection of u onto the span: √Σ ⟨u, b_j⟩²/‖b_j‖²."""
    total = K(0)
    for b in basis:
        share = u @ K.vector(b)
        total = total + share * share / K(_dot(b, b))
    return K.sqrt(total)
