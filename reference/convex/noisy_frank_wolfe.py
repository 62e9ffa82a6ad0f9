"""Algorithm 3: noisy Frank–Wolfe for generalised linear losses over a polytope, in the ℓ_1 setting (Theorem 9).

| paper | here |
|---|---|
| S = (z_1, …, z_n) | `dataset` |
| W = conv V, J = #V | `p.W` (`vertices`, `J`) |
| D, the ℓ_1 diameter | `p.D` |
| T, s | `p.T`, `p.s` |
| w_t, ∇̃_t, b_{v,t}, ṽ_t, μ_t | `w`, `gradient`, draw `b[t]` times s, `v`, `mu` |

T is rounded to the nearest integer, at least 1, and s is computed from the rounded T.

**Privacy.** O = c·x with |c| ≤ L0, ‖x‖_∞ ≤ R, so replacing a record moves ∇̃_t by at most 2L0R/n in ℓ_∞, and the
scores ⟨v, ∇̃_t⟩ by amounts whose *range* over v is at most D·2L0R/n: ⟨v − v', ∇̃ − ∇̃'⟩ ≤ ‖v − v'‖_1·2L0R/n.
Report-noisy-min is (range/s)-DP (`privacy.noisy_min_epsilon`: constants added to all scores cancel, so 0 ∉ W does
no harm). Given the past each step is ε0-DP, ε0 = range/s, and T steps compose. With the printed s, range/s =
(2/3)ε/√(8TL), L = ln(1/δ); even 3/2 of it composes to (ε, δ) by Lemma 1 while Tε0(e^{ε0} − 1) ≤ ε/2, that is
ε(e^{ε0} − 1)/ε0 ≤ 4L for ε0 = ε/√(8TL). The theorem has no such condition; ε ≤ √L, which Algorithm 2 asks for, is
enough, and for ε of hundreds it fails (`counterexamples`, E3.35). The tightest s for T steps: range/ε0*, ε0* from the
exact composition of pure steps (Laplace); or range·√(T/(8ρ*)) for Gumbel noise, whose steps have bounded range. What
rounding adds to the range, and to the loss of a step, is in `rounding`.

**Utility.** F = F_{β,S} is convex and βR²-smooth in ‖·‖_1. With h_t = F(w_t) − F*, γ_t the excess of ⟨ṽ_t, ∇̃_t⟩
over the least,

    h_{t+1} ≤ (1 − μ_t)h_t + μ_t(γ_t + αD) + μ_t²C/2,   C = βR²D².

μ_t = 3/(t + 2) has μ_1 = 1 and ∏_{j=t+1}^{T}(1 − μ_j) = t(t+1)(t+2)/(T(T+1)(T+2)); these weights times μ_t sum to 1
over t, so noise and oracle error enter once, without a log T:

    E h_{T+1} ≤ max_t E γ_t + αD + (9C/2)·Σ_t [t(t+1)/(t+2)]/(T(T+1)(T+2)),

and t(t+1)/(t+2) ≤ t makes the last term at most 9C/(4(T + 2)). ∎ E γ_t ≤ E[b_{v*} − min b] = s·M (`noise_peak`):
for Laplace M = E max of J unit draws = Σ_{j≤J}(1 − 2^{−j})/j − 2^{−J}/J, at most 2 ln J (and ln J from J = 4 on);
for Gumbel M = ln J (E max G = γ + ln J, less E G = γ). Then 0 ≤ F_S − F_{β,S} ≤ L0²/(2β), and E sup_W(F_D − F_S) ≤
2L0·Rad (symmetrisation, contraction), where Rad ≤ rR√(2 ln(min{2d, J})/n) (Massart's lemma over ±coordinates or
over the vertices; r the ℓ_1 distance from a fixed centre to the farthest vertex). The comparator costs nothing: E
F_S(w*) = F_D(w*).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from reference.convex.moreau import REAL_LINE, Interval, smoothing_error
from reference.convex.oracle import Counter, Oracle, OracleParameters, oracle, oracle_evaluations, oracle_parameters
from reference.convex.phased_noise import (
    TIGHT_ROOM,
    UNPROVEN,
    require_coherent,
    require_exact_values,
    require_reach,
    require_sound,
)
from reference.convex.phased_sgd import Point, admitted_points, require_family
from reference.convex.rounding import require_run, selection_terms
from reference.numerics.numbers import Exact, Numbers, Real, Vector, certainly, norm
from reference.numerics.preconditions import require, whole
from reference.numerics.rounding import finer, require_range, require_sizes, rounds
from reference.numerics.tape import Draw, Tape, reading
from reference.paper.events import Trace, mark
from reference.paper.registry import claims, implements
from reference.privacy import SELECTION_NOISES, SelectionNoise, kov_delta, kov_epsilon0, zcdp_rho
from reference.setting.data import FEATURE_SLACK, Example
from reference.setting.losses import GLL
from reference.setting.sets import FeasibleSet, require_inside

ScaleRule: TypeAlias = Callable[["FrankWolfeParameters", Numbers], Real]


@dataclass(frozen=True)
class FrankWolfeParameters:
    """What Algorithm 3 needs besides the data. Made by `frank_wolfe_parameters`.

    A scale below what the proof of privacy needs for T steps with these parameters is refused, here and in copies
    (`dataclasses.replace`), unless they say `unproven`.
    """

    K: Numbers
    n: int
    gll: GLL
    W: FeasibleSet
    J: int
    start: Vector
    epsilon: Real
    delta: Real
    D: Real
    T: int
    smoothing: OracleParameters
    oracle: Oracle
    noise: SelectionNoise
    s: Real = None
    unproven: bool = False
    """Allow what no proof covers (a broken oracle, too small a scale): for experiments, without any promise."""

    def __post_init__(self) -> None:
        """Hold the scale to the run's own proof."""
        if self.s is None or self.unproven:
            return
        K = self.K.unwatched
        require_coherent(K, self, 1)
        whole("n", self.n, least=2)
        whole("T", self.T)
        require_polytope(self.W, self.J)
        require(self.noise in SELECTION_NOISES, "noise", self.noise, "be 'laplace' or 'gumbel'")
        small = certainly(K.lt, self.D, self.W.diameter(K, 1))
        require(not small, "D", K.to_float(self.D), "be at least the ℓ_1 diameter of W", "scores move by as much")
        require_proof(K, self)


# --------------------------------------------------------------------------------------------- parameters


def frank_wolfe_parameters(
    K: Numbers,
    n: int,
    gll: GLL,
    W: FeasibleSet,
    *,
    epsilon: Exact | Real,
    delta: Exact | Real,
    start: Sequence[Exact] | None = None,
    T: int | None = None,
    beta: Exact | Real | None = None,
    alpha: Exact | Real | None = None,
    M: Interval = REAL_LINE,
    oracle: Oracle = oracle,
    noise: SelectionNoise = "laplace",
    scale: ScaleRule | None = None,
    unproven: bool = False,
) -> FrankWolfeParameters:
    """Checked parameters; T, β and α default to the theorem's, the scale to the printed one.

    The scale is checked against the proof of privacy for these parameters, unless `unproven`.
    """
    K = K.unwatched
    whole("n", n, least=2)
    require(gll.p == 1, "p", gll.p, "be 1", "Algorithm 3 works in the ℓ_1 setting; for ℓ_2 see Algorithm 2")
    require(gll.R > 0, "R", gll.R, "be positive", "with R = 0 every feature is 0 and nothing is to be learnt")
    require_sizes(K, L0=gll.L0, R=gll.R)
    require_family(gll)
    J = require_polytope(W)
    e, d = K(epsilon), K(delta)
    require(K.gt(e, K(0)), "epsilon", K.to_float(e), "be positive")
    require(K.gt(d, K(0)) and K.lt(d, K(1)), "delta", K.to_float(d), "lie strictly between 0 and 1")
    D = W.diameter(K, 1)
    require(K.gt(D, K(0)), "D", K.to_float(D), "be positive", "a set of one point leaves nothing to optimise")
    require_sizes(K, D=D, reach=W.norm_bound(K, 1))
    steps = theorem_steps(K, n, J, e, d) if T is None else whole("T", T)
    smoothing = oracle_parameters(
        K,
        beta=theorem_beta(K, n, J, e, d, gll.L0, gll.R, D) if beta is None else beta,
        alpha=theorem_alpha(K, n, gll.L0, gll.R) if alpha is None else alpha,
        L0=gll.L0,
        R=gll.R,
        M=M,
    )
    w1 = _start(K, W, start)
    made = FrankWolfeParameters(K, n, gll, W, J, w1, e, d, D, steps, smoothing, oracle, noise, unproven=unproven)
    s = (scale or scale_printed)(made, K)
    require(K.gt(s, K(0)), "s", K.to_float(s), "be positive")
    return replace(made, s=s)


def require_polytope(W: FeasibleSet, J: int | None = None) -> int:
    """J: W lists that many vertices, at least two."""
    require(hasattr(W, "vertices") and hasattr(W, "J"), "W", W, "list its vertices", "use Polytope, l1_ball or Simplex")
    found: int = W.J  # type: ignore[attr-defined]
    require(found >= 2, "J", found, "be at least 2", "with one vertex T is infinite and nothing is to be chosen")
    require(J is None or found == J, "J", J, f"be {found}", f"that many vertices {W} lists")
    return found


def _start(K: Numbers, W: FeasibleSet, start: Sequence[Exact] | None) -> Vector:
    if start is None:
        return W.vertices(K)[0]  # type: ignore[attr-defined,no-any-return]
    w1 = K.vector(start)
    require_inside(K, W, w1, "w1")
    return w1


@claims("thm:l1_glm")
def theorem_steps(K: Numbers, n: int, J: int, epsilon: Exact | Real, delta: Exact | Real) -> int:
    """T = nε/(ln J · ln n · √ln(1/δ)), to the nearest integer, at least 1."""
    real = n * K(epsilon) / (K.log(K(J)) * K.log(K(n)) * K.sqrt(K.log(1 / K(delta))))
    return max(1, K.floor(real + K(Fraction(1, 2))))


@claims("thm:l1_glm", "tight")
def steps_without_log(K: Numbers, n: int, J: int, epsilon: Exact | Real, delta: Exact | Real) -> int:
    """T = nε/(ln J · √ln(1/δ)): since no log T is lost, ln n need not be taken out, and the rate loses its √ln n."""
    real = n * K(epsilon) / (K.log(K(J)) * K.sqrt(K.log(1 / K(delta))))
    return max(1, K.floor(real + K(Fraction(1, 2))))


@claims("thm:l1_glm")
def theorem_beta(
    K: Numbers, n: int, J: int, epsilon: Exact | Real, delta: Exact | Real, L0: Exact | Real, R: Exact | Real, D: Real
) -> Real:
    """β = L0√(nε)/(RD·ln^{1/4}(1/δ)·√(ln J ln n))."""
    root = K.sqrt(n * K(epsilon) / (K.sqrt(K.log(1 / K(delta))) * K.log(K(J)) * K.log(K(n))))
    return K(L0) * root / (K(R) * D)


@claims("thm:l1_glm", "printed")
def theorem_alpha_printed(K: Numbers, n: int) -> Real:
    """α = 1/(n ln n), as Theorem 9 is stated: without L0R, so it is no accuracy at all when L0R is small."""
    return 1 / (n * K.log(K(n)))


@claims("thm:l1_glm")
def theorem_alpha(K: Numbers, n: int, L0: Exact | Real, R: Exact | Real) -> Real:
    """α = L0R/(n ln n), as the proof has it."""
    return K(L0) * K(R) / (n * K.log(K(n)))


# ------------------------------------------------------------------------------------------------- noise


def score_range(K: Numbers, p: FrankWolfeParameters) -> Real:
    """2DL0R/n: how much the scores of two candidates can move against each other when one record is replaced."""
    return 2 * p.D * p.smoothing.L0 * p.smoothing.R / p.n


def scale_printed(p: FrankWolfeParameters, K: Numbers) -> Real:
    """s = 3L0RD√(8T ln(1/δ))/(nε)."""
    root = K.sqrt(8 * p.T * K.log(1 / p.delta))
    return 3 * p.smoothing.L0 * p.smoothing.R * p.D * root / (p.n * p.epsilon)


def scale_tight(p: FrankWolfeParameters, K: Numbers) -> Real:
    """The least proven scale for T steps: exact composition of pure steps; for Gumbel noise zCDP if that is less.

    `TIGHT_ROOM` pays for features a little longer than R, `selection_terms` for rounding.
    """
    rounding, tail = selection_terms(K, p)
    width = (score_range(K, p) + rounding) * K(TIGHT_ROOM)
    loss = K(kov_epsilon0(K, p.epsilon, p.delta, p.T))
    if p.noise == "gumbel":
        loss = K.max(loss, K.sqrt(8 * K(zcdp_rho(K, p.epsilon, p.delta)) / p.T))
    remedy = f"{p.T} selections lose {K.to_float(tail):.3g} each by rounding alone: take MP(30)"
    require(K.lt(tail, loss), "loss of a selection", K.to_float(loss), f"exceed {K.to_float(tail):.3g}", remedy)
    return width / (loss - tail)


HOPELESS = 64
"""A selection that loses more than ε + 64 is not asked about: its δ(ε) is nearly 1."""


def require_proof(K: Numbers, p: FrankWolfeParameters) -> None:
    """Refuse a run that no proof covers: its oracle, its M, or a scale with which T steps are not (ε,δ)-DP."""
    K = K.unwatched
    require_sound(p.oracle, UNPROVEN)
    require_exact_values(K, p.oracle)
    require_reach(K, p.smoothing, p.W, 1)
    require_range(K, "s", p.s)
    exact = score_range(K, p) * K(1 + FEATURE_SLACK) / p.s
    rounding, tail = selection_terms(K, p)
    loss = exact + rounding * K(1 + FEATURE_SLACK) / p.s + tail
    if _composes(K, p, loss):
        return
    remedy = f"T = {p.T} selections of {K.to_float(loss):.6g} each need more; take scale_tight, or {UNPROVEN}"
    if rounds(K) and _composes(K, p, exact):
        share, room = loss - exact, K(kov_epsilon0(K, p.epsilon, p.delta, p.T)) - exact
        why = f"rounding in {K} adds {K.to_float(share):.3g} to {K.to_float(exact):.3g}"
        remedy = "; ".join(part for part in (why, finer(K, [(share, room)]), remedy) if part)
    require(False, "s", K.to_float(p.s), "make the run (epsilon, delta)-DP", remedy)


def _composes(K: Numbers, p: FrankWolfeParameters, loss: Real) -> bool:
    """Whether T steps of this loss are (ε,δ)-DP: by zCDP, which costs no time, or by exact composition."""
    if K.lt(p.epsilon + HOPELESS, loss):
        return False
    shares = {"laplace": 2, "gumbel": 8}
    if K.le(loss * loss * p.T / shares[p.noise], K(zcdp_rho(K, p.epsilon, p.delta))):
        return True
    return K.le(kov_delta(K, p.epsilon, loss, p.T), p.delta)


@claims("thm:l1_glm")
def composed_delta(K: Numbers, p: FrankWolfeParameters) -> Real:
    """δ(ε) of T adaptive steps of ε0 = range/s, exactly composed: an upper bound for the algorithm."""
    return kov_delta(K, p.epsilon, score_range(K, p) / p.s, p.T)


@claims("thm:l1_glm")
def composition_condition(K: Numbers, p: FrankWolfeParameters) -> tuple[Real, Real]:
    """(ε(e^{ε0} − 1)/ε0, 4 ln(1/δ)), ε0 = ε/√(8T ln(1/δ)): Lemma 1 gives (ε, δ) iff the first is at most the second."""
    L = K.log(1 / p.delta)
    e0 = p.epsilon / K.sqrt(8 * p.T * L)
    return p.epsilon * K.expm1(e0) / e0, 4 * L


# ----------------------------------------------------------------------------------------- Algorithm 3


@dataclass(frozen=True)
class FrankWolfeResult:
    """The output, the iterates w_1, …, w_{T+1}, the chosen vertices (from 0), and how often the losses were asked."""

    w: Vector
    iterates: tuple[Vector, ...]
    chosen: tuple[int, ...]
    count: Counter


def draws(T: int, J: int, noise: SelectionNoise = "laplace") -> tuple[Draw, ...]:
    """The noise that Algorithm 3 reads: b[t], J values a step."""
    return tuple(Draw("b", (t,), noise, J) for t in range(1, T + 1))


@implements("Alg:nfw", "printed")
def noisy_frank_wolfe_printed(
    K: Numbers, dataset: Sequence[Example], p: FrankWolfeParameters, tape: Tape, trace: Trace | None = None
) -> FrankWolfeResult:
    """Algorithm 3 as printed: the last step is computed, paid for in privacy, and not returned."""
    count, chosen = Counter(), []
    require_run(K, p, len(dataset))
    z, q = admitted_points(K, p.gll, dataset, p.W, p.start), replace(p.smoothing, count=count)
    vertices: tuple[Vector, ...] = p.W.vertices(K)  # type: ignore[attr-defined]
    w = [p.start]  # L1
    T = p.T  # L2
    s = p.s  # L3
    mark(trace, 1, "w", w[0], 1)
    mark(trace, 2, "T", T)
    mark(trace, 3, "s", s)
    with reading(tape, draws(T, p.J, p.noise)) as noise:
        for t in range(1, T + 1):  # L4
            gradient = mean_gradient(K, z, w[-1], p.oracle, q)  # L5
            b = unit_noise(K, noise, p, t) * s  # L6
            scores = [v @ gradient + b[i] for i, v in enumerate(vertices)]
            chosen.append(K.argmin(scores))  # L7
            mu = K(Fraction(3, t + 2))
            w.append(w[-1] * (1 - mu) + vertices[chosen[-1]] * mu)  # L8
            mark_step(K, trace, t, gradient, b, scores, chosen[-1], w[-1])
    output = w[T - 1]  # [E3.34] w_T
    mark(trace, 9, "output", output)
    return FrankWolfeResult(output, tuple(w), tuple(chosen), count)  # L9


@implements("Alg:nfw")
def noisy_frank_wolfe(
    K: Numbers, dataset: Sequence[Example], p: FrankWolfeParameters, tape: Tape, trace: Trace | None = None
) -> FrankWolfeResult:
    """Algorithm 3, corrected: the last iterate is returned.

    Args:
        K: the number system.
        dataset: n records (x, y).
        p: loss, polytope, (ε,δ), T, β, α and the scale, made by `frank_wolfe_parameters` for the same n.
        tape: the noise of the scores, one variable a step and vertex.
        trace: where the steps are noted, if given.

    Returns:
        w_{T+1}, the iterates, the chosen vertices, and how often the losses were asked.

    >>> from reference.numerics.numbers import Float64
    >>> from reference.numerics.tape import SeededTape
    >>> from reference.setting import GLL, Absolute, Example, l1_ball
    >>> K, data = Float64(), [Example((i % 3 / 4, 0.5), 1) for i in range(8)]
    >>> p = frank_wolfe_parameters(K, 8, GLL(Absolute, 1, 1, p=1), l1_ball(2, 1), epsilon=8, delta="1e-6", T=4)
    >>> found = noisy_frank_wolfe(K, data, p, SeededTape(0))
    >>> [round(v, 2) for v in found.w], found.chosen
    ([0.45, 0.55], (1, 0, 0, 1))
    """
    count, chosen = Counter(), []
    require_run(K, p, len(dataset))
    z, q = admitted_points(K, p.gll, dataset, p.W, p.start), replace(p.smoothing, count=count)
    vertices: tuple[Vector, ...] = p.W.vertices(K)  # type: ignore[attr-defined]
    w = [p.start]  # L1
    T = p.T  # L2
    s = p.s  # L3
    mark(trace, 1, "w", w[0], 1)
    mark(trace, 2, "T", T)
    mark(trace, 3, "s", s)
    with reading(tape, draws(T, p.J, p.noise)) as noise:
        for t in range(1, T + 1):  # L4
            gradient = mean_gradient(K, z, w[-1], p.oracle, q)  # L5
            b = unit_noise(K, noise, p, t) * s  # L6
            scores = [v @ gradient + b[i] for i, v in enumerate(vertices)]
            chosen.append(K.argmin(scores))  # L7
            mu = K(Fraction(3, t + 2))
            w.append(w[-1] * (1 - mu) + vertices[chosen[-1]] * mu)  # L8
            mark_step(K, trace, t, gradient, b, scores, chosen[-1], w[-1])
    output = w[T]  # [E3.34] w_{T+1}
    mark(trace, 9, "output", output)
    return FrankWolfeResult(output, tuple(w), tuple(chosen), count)  # L9


def mean_gradient(K: Numbers, points: Sequence[Point], w: Vector, call: Oracle, q: OracleParameters) -> Vector:
    """∇̃ = (1/n)Σ O(w, z)."""
    total = K.zeros(len(w))
    for x, ell in points:
        total = total + call(K, w, x, ell, q, None).gradient
    return total / len(points)


def unit_noise(K: Numbers, tape: Tape, p: FrankWolfeParameters, t: int) -> Vector:
    """J unit draws: Laplace as they are; Gumbel (of maximum type) with a minus sign, as an argmin needs it."""
    if p.noise == "laplace":
        return K.vector(tape.laplace("b", t, dim=p.J))
    return -K.vector(tape.gumbel("b", t, dim=p.J))


def mark_step(
    K: Numbers, trace: Trace | None, t: int, gradient: Vector, b: Vector, scores: Sequence[Real], chosen: int, w: Vector
) -> None:
    """The events of one step; `margin` is how far the runner-up was behind."""
    if trace is None:
        return
    trace.mark(5, "gradient", gradient, t)
    trace.mark(6, "b", b, t)
    trace.mark(7, "v", chosen, t)
    others = [score for i, score in enumerate(scores) if i != chosen]
    trace.mark(7, "margin", others[K.argmin(others)] - scores[chosen], t)
    trace.mark(8, "w", w, t + 1)


# ------------------------------------------------------------------------------------------------ claims


@claims("thm:l1_glm")
def evaluations(K: Numbers, p: FrankWolfeParameters) -> int:
    """nT⌈log2(L0R/α)⌉ subgradients, exactly: nT oracle calls."""
    return p.n * p.T * oracle_evaluations(K, p.smoothing)


def noise_peak(K: Numbers, J: int, noise: SelectionNoise = "laplace") -> Real:
    """E γ_t ≤ s times this. Laplace: E max of J unit draws; Gumbel: ln J.

    Laplace: ∫_0^∞ 1 − (1 − e^{−x}/2)^J dx = Σ_{j≤J}(1 − 2^{−j})/j (substitute u = 1 − e^{−x}/2 and sum the geometric
    series), less ∫_{−∞}^0 (e^x/2)^J dx = 2^{−J}/J.
    """
    if noise == "gumbel":
        return K.log(K(J))
    terms = (K(Fraction(2**j - 1, 2**j * j)) for j in range(1, J + 1))
    return K.sum(terms) - K(Fraction(1, 2**J * J))


@claims("thm:l1_glm")
def empirical_risk(K: Numbers, p: FrankWolfeParameters, steps: int | None = None) -> Real:
    """E F_{β,S}(w_{T+1}) − min ≤ 9βR²D²/(4(T + 2)) + αD + sM after `steps` = T steps (T − 1 for the printed w_T)."""
    require_sound(p.oracle)
    T = p.T if steps is None else whole("steps", steps)
    curvature = p.smoothing.beta * p.smoothing.R * p.smoothing.R * p.D * p.D
    return 9 * curvature / (4 * (T + 2)) + p.smoothing.alpha * p.D + p.s * noise_peak(K, p.J, p.noise)


@claims("thm:l1_glm")
def generalisation(K: Numbers, p: FrankWolfeParameters, centre: Vector | None = None) -> Real:
    """2L0R·r·√(2 ln(min{2d, J})/n) ≥ E sup_W (F_D − F_S), r the ℓ_1 distance from `centre` to the farthest vertex."""
    c = p.W.centre(K) if centre is None else centre
    r = K(0)
    for v in p.W.vertices(K):  # type: ignore[attr-defined]
        r = K.max(r, norm(K, v - c, 1))
    log = K.log(K(min(2 * p.W.dim, p.J)))
    return 2 * p.smoothing.L0 * p.smoothing.R * r * K.sqrt(2 * log / p.n)


@claims("thm:l1_glm")
def excess_risk(K: Numbers, p: FrankWolfeParameters, steps: int | None = None) -> Real:
    """Theorem 9 with constants: empirical risk, smoothing L0²/(2β), generalisation."""
    smoothing = smoothing_error(K, p.smoothing.L0, p.smoothing.beta)
    return empirical_risk(K, p, steps) + smoothing + generalisation(K, p)
