"""Algorithm 6: proximally guided private stochastic mirror descent; Theorem 20 and its remark.

=====================  =====================================================================================
paper                  here
=====================  =====================================================================================
S = (z_1, …, z_n), n   `dataset`
R                      `rounds`
β                      `beta` (default: the theorem's, in the edition's own version)
p̄, κ, C                `Geometry` (`mirror.geometry`; as printed: `printed_geometry`)
w_1                    `start`
S_r, n_r               the r-th run of consecutive records, `size`
A_sc                   `strongly_convex.solve` with the data-independent `plan` of one batch
w_r, w̄^R               `Guided.iterates`, `Guided.w`; the index is drawn as `r[]`
ϑ                      `near_stationarity` (tight), `printed_rate` (as printed, without its constant)
Δ_F                    `delta_F`, at most L0·D
=====================  =====================================================================================

**Theorem 20 with constants, and better.** Write ‖·‖ = ‖·‖_p̄, ŵ_r = prox(w_r), δ_r = ‖ŵ_r − w_r‖, B the excess
bound of A_sc.

Progress. F_r(w_r) − F_r(ŵ_r) ≥ ((β−ρ̃)/2)δ_r² in *every* norm, with no strong convexity of ‖·‖²: on the segment v_t
= ŵ + t(w−ŵ) the regulariser is exactly (β/2)(1−t)²δ², weak convexity gives F(v_t) ≤ (1−t)F(ŵ) + tF(w) +
(ρ̃/2)t(1−t)δ², and F_r(ŵ) ≤ F_r(v_t); divide by t → 0: F(w) − F(ŵ) ≥ (β − ρ̃/2)δ², and subtract (β/2)δ². (The paper
has ρ/2 in place of (β−ρ̃)/2; the segment runs through the centre, where ½‖·‖² has curvature 1 and not p̄−1. With β
= 2κρ̃ the factor gained is 2κ−1.)

Sum. For r < R: E[F_r(w_r) − F_r(ŵ_r)] ≤ E[F_D(w_r) − F_D(w_{r+1})] + B, because F_r(w_r) = F_D(w_r) and
F_r(w_{r+1}) ≥ F_D(w_{r+1}). For r = R no call is needed: F_R(w_R) − F_R(ŵ_R) ≤ F_D(w_R) − min F_D. Adding, with Δ_F
= F_D(w_1) − min F_D ≤ L0·D and R−1 calls on ⌊n/(R−1)⌋ points each,

    **E‖prox(w̄) − w̄‖² ≤ (2/((2κ−1)ρ̃))·[Δ_F/R + ((R−1)/R)·B]**,   ϑ = max{1, βD}·√(that)   (Jensen).

A priori, without any data, ‖prox(w) − w‖ ≤ R0 = ℓ/β for every w ∈ W: a bound that is not below this says nothing.
`regime` computes from which n on the theorem says anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import INF, Exact, Float64, Numbers, Real, Vector, dual_exponent, norm
from reference.numerics.preconditions import require
from reference.numerics.rounding import require_sizes
from reference.numerics.tape import Draw, Tape, reading
from reference.paper.events import Trace, mark
from reference.paper.registry import claims, implements
from reference.setting.data import Example, admitted
from reference.setting.losses_weak import WeaklyConvexLoss
from reference.setting.sets import FeasibleSet, require_inside
from reference.weakly_convex.mirror import Geometry, check_exponent, geometry, p_bar_printed
from reference.weakly_convex.strongly_convex import (
    Plan,
    Scales,
    check_plan,
    closed_form_plan,
    draws,
    excess_bound,
    gradients_used,
    plan_solver,
    printed_kappas,
    require_setting,
    scales,
    solve,
    with_beta,
)

# --------------------------------------------------------------------------------------- the algorithm


@dataclass(frozen=True)
class Guided:
    """The output, which iterate it is (from 1), all iterates, and the largest slack of a mirror step."""

    w: Vector
    index: int
    iterates: tuple[Vector, ...]
    largest_gap: Real


def guided_draws(plan: Plan, d: int, calls: int, rounds: int) -> tuple[Draw, ...]:
    """What a run reads: the noise of every call, A[r,i,k], and the uniform index r[] of the output."""
    noise = tuple(draw for r in range(1, calls + 1) for draw in draws(plan, d, r))
    return (*noise, Draw("r", (), "index", rounds))


def printed_scales(K: Numbers, p: int | Fraction, d: int, L: Exact, rho: Exact) -> Scales:
    """The constants with p̄ = max{p, 1 + 1/log d} as printed (d ≥ 2; p̄ > 2 at d = 2)."""
    geo = printed_geometry(K, p, d)
    weak = geo.C * geo.C * K(rho)
    return Scales(geo, K(L), K(rho), geo.C * K(L), weak, 2 * geo.kappa * weak)


def printed_geometry(K: Numbers, p: int | Fraction, d: int) -> Geometry:
    """The geometry of the printed p̄; the same as `geometry` for d ≥ 3."""
    check_exponent(p)
    if d >= 3:
        return geometry(K, p, d)
    p_bar = p_bar_printed(K, p, d)
    return Geometry(p, d, p_bar, dual_exponent(p_bar), 1 / (p_bar - 1), K.power(K(d), 1 / K(p) - 1 / p_bar))


def exact_quotient(n: int, R: int) -> int:
    """n/R as printed: refused unless it is an integer."""
    require(n % R == 0, "n/R", Fraction(n, R), "be an integer in the printed text", "the corrected text takes ⌊·⌋")
    return n // R


def check_rounds(rounds: int, n: int) -> None:
    """1 ≤ R ≤ n: there is an output, and every batch has a point."""
    require(isinstance(rounds, int) and rounds >= 1, "rounds", rounds, "be at least 1", "0 leaves no output")
    require(rounds <= n, "rounds", rounds, f"be at most n = {n}", "every round needs a batch of at least one record")


def prepared(
    K: Numbers, loss: WeaklyConvexLoss, W: FeasibleSet, dataset: Sequence[Any], start: Vector | None
) -> Sequence[Example]:
    """The admissible records (the rule of `setting.data`), after what depends on no record has been checked.

    That is a set without a mirror step (a step that leaves W depends on the data), a start outside W, and a W on which
    the constants of the loss do not hold.
    """
    require_setting(K, loss, W)
    if start is not None:
        require_inside(K, W, start, "start")
        require_sizes(K, start=norm(K, start, INF))
    return admitted(loss, dataset, W.dim)


@implements("Alg:PGPSMD", "printed")
@implements("eqn:proximal_weak_cvx_step", "printed")
def proximally_guided_printed(
    K: Numbers,
    loss: WeaklyConvexLoss,
    W: FeasibleSet,
    dataset: Sequence[Example],
    *,
    rounds: int,
    plan: Plan,
    mu: Exact | Real,
    tape: Tape,
    start: Vector | None = None,
    beta: Exact | Real | None = None,
    trace: Trace | None = None,
) -> Guided:
    """Algorithm 6 as printed. Its line 3 takes S∖∪_{l<r}S_r: read S_l, a slip that cannot be executed."""
    check_rounds(rounds, len(dataset))
    dataset = prepared(K, loss, W, dataset, start)
    at = printed_scales(K, loss.p, W.dim, loss.L0, loss.rho)  # L1 [E5.1]
    modulus = at.rho  # [E5.2]
    at = with_beta(K, at, 2 * at.geo.kappa * modulus if beta is None else K(beta), modulus)
    w = W.centre(K) if start is None else start  # L1
    mark(trace, 1, "beta", at.beta)
    mark(trace, 1, "w", w, 1)
    iterates = [w]
    gap = K(0)
    calls = rounds  # [E5.8] for L2
    size = exact_quotient(len(dataset), calls)  # [E5.7] for L3
    with reading(tape, guided_draws(plan, W.dim, calls, rounds)) as source:
        for r in range(1, calls + 1):  # L2
            batch = dataset[(r - 1) * size : r * size]  # L3
            mark_batch(trace, dataset, batch, r)
            radius = False  # L4 [E5.3]
            done = solve(K, at, loss, batch, W, w, plan, mu, source, prefix=(r,), restrict=radius, trace=trace)  # L4
            w = done.w
            mark(trace, 4, "w", w, r + 1)
            iterates.append(w)
            gap = K.max(gap, done.largest_gap)
        index = source.index("r", dim=rounds)  # L5
    mark(trace, 5, "index", index + 1)
    mark(trace, 5, "output", iterates[index])
    return Guided(iterates[index], index + 1, tuple(iterates), gap)


@implements("Alg:PGPSMD")
@implements("eqn:proximal_weak_cvx_step")
def proximally_guided(
    K: Numbers,
    loss: WeaklyConvexLoss,
    W: FeasibleSet,
    dataset: Sequence[Example],
    *,
    rounds: int,
    plan: Plan,
    mu: Exact | Real,
    tape: Tape,
    start: Vector | None = None,
    beta: Exact | Real | None = None,
    trace: Trace | None = None,
) -> Guided:
    """Algorithm 6, corrected: p̄ and β for every d and p, A_sc on W ∩ B(w_r, R0), R−1 calls. μ-GDP as a whole.

    Args:
        K: the number system.
        loss: a weakly convex loss with L0, ρ and p.
        W: the feasible set.
        dataset: n records (x, y).
        rounds: R; every call of the solver reads ⌊n/(R−1)⌋ records.
        plan: the phases of one call of the solver: points, steps, pull (`plan_solver` makes one).
        mu: the privacy of the whole, μ-GDP; (ε,δ) by `privacy.gaussian_mu_safe`.
        tape: the noise of the gradients and the index of the output.
        start: w_1, the centre of W unless given.
        beta: β unless the corrected 2κC²ρ.
        trace: where the steps are noted, if given.

    Returns:
        The output, its index, all iterates, and how far the steps of the solver are from exact.

    >>> from reference.numerics.numbers import Float64
    >>> from reference.numerics.tape import SeededTape
    >>> from reference.setting import Example, L2Ball, TanhRegression
    >>> from reference.weakly_convex.strongly_convex import Phase
    >>> K, data = Float64(), [Example((i % 3 / 4, 0.5), 1) for i in range(12)]
    >>> found = proximally_guided(
    ...     K, TanhRegression(1), L2Ball((0, 0), 4), data, rounds=3, plan=(Phase(4, 3),), mu=1, tape=SeededTape(0)
    ... )
    >>> [round(v, 3) for v in found.iterates[1]], found.index
    ([0.566, -0.319], 1)
    """
    check_rounds(rounds, len(dataset))
    dataset = prepared(K, loss, W, dataset, start)
    at = scales(K, loss.p, W.dim, loss.L0, loss.rho)  # L1 [E5.1]
    modulus = at.weak  # [E5.2]
    at = with_beta(K, at, 2 * at.geo.kappa * modulus if beta is None else K(beta), modulus)
    w = W.centre(K) if start is None else start  # L1
    mark(trace, 1, "beta", at.beta)
    mark(trace, 1, "w", w, 1)
    iterates = [w]
    gap = K(0)
    calls = rounds - 1  # [E5.8] for L2
    size = len(dataset) // max(1, calls)  # [E5.7] for L3
    with reading(tape, guided_draws(plan, W.dim, calls, rounds)) as source:
        for r in range(1, calls + 1):  # L2
            batch = dataset[(r - 1) * size : r * size]  # L3
            mark_batch(trace, dataset, batch, r)
            radius = True  # L4 [E5.3]
            done = solve(K, at, loss, batch, W, w, plan, mu, source, prefix=(r,), restrict=radius, trace=trace)  # L4
            w = done.w
            mark(trace, 4, "w", w, r + 1)
            iterates.append(w)
            gap = K.max(gap, done.largest_gap)
        index = source.index("r", dim=rounds)  # L5
    mark(trace, 5, "index", index + 1)
    mark(trace, 5, "output", iterates[index])
    return Guided(iterates[index], index + 1, tuple(iterates), gap)


def mark_batch(trace: Trace | None, dataset: Sequence[Example], batch: Sequence[Example], r: int) -> None:
    """The event of line 3: the indices (from 0) of the records of S_r."""
    if trace is not None:
        place = {id(z): i for i, z in reversed(list(enumerate(dataset)))}
        trace.mark(3, "batch", tuple(place[id(z)] for z in batch), r)


# ------------------------------------------------------------------------------- Theorem 20, as printed


@dataclass(frozen=True)
class GuidedParameters:
    """What Theorem 20 depends on: the setting, the sample size and the privacy target."""

    p: int | Fraction
    d: int
    L: Exact
    rho: Exact
    D: Exact
    n: int
    epsilon: Exact
    delta: Exact


def beta_printed(K: Numbers, at: GuidedParameters) -> Real:
    """2ρκ with the printed κ = min{1/(p−1), log d}."""
    return 2 * K(at.rho) * printed_kappas(K, at.p, at.d)[0]


def rounds_real(K: Numbers, at: GuidedParameters) -> Real:
    """The minimum whose floor is the printed R: min{√(nDρ/(κL0)), (D(nε)²ρ/(κ̃κ²L0·d·log(1/δ)))^{1/3}}."""
    kappa, tilde = printed_kappas(K, at.p, at.d)
    n, D, L, rho = at.n, K(at.D), K(at.L), K(at.rho)
    reach = n * K(at.epsilon)
    first = K.sqrt(n * D * rho / (kappa * L))
    cube = D * reach * reach * rho / (tilde * kappa * kappa * L * at.d * -K.log(K(at.delta)))
    return K.min(first, K.power(cube, Fraction(1, 3)))


def rounds_printed(K: Numbers, at: GuidedParameters) -> int:
    """⌊…⌋ of `rounds_real`: can be 0, and can exceed n."""
    return K.floor(rounds_real(K, at))


def rounds_corrected(K: Numbers, at: GuidedParameters) -> int:
    """The printed R held in [1, n]."""
    return max(1, min(at.n, rounds_printed(K, at)))


def condition_printed(K: Numbers, at: GuidedParameters) -> bool:
    """nd ≥ ρD/L0: what the theorem supposes so that R ≤ n."""
    return K.le(K(at.rho) * K(at.D) / K(at.L), K(at.n * at.d))


@claims("thm:nsmth_ncnvx", "printed")
@claims("eqn:CTNSP_DP_prox", "printed")
def printed_rate(K: Numbers, at: GuidedParameters) -> Real:
    """ϑ as printed, without its unknown constant."""
    kappa, tilde = printed_kappas(K, at.p, at.d)
    L, D, rho, n = K(at.L), K(at.D), K(at.rho), at.n
    reach = n * K(at.epsilon)
    first = K.power(L**3 * D * kappa / (n * rho), Fraction(1, 4))
    noise = at.d * -K.log(K(at.delta)) / (reach * reach * rho)
    second = K.power(tilde * kappa**2, Fraction(1, 6)) * K.power(L**2 * D, Fraction(1, 3))
    second = second * K.power(noise, Fraction(1, 6))
    return K.max(K(1), 2 * rho * D * kappa) / K.sqrt(rho) * (first + second)


@claims("rem:nsmth_ncnvx", "printed")
def remark_rate(K: Numbers, at: GuidedParameters) -> Real:
    """The remark's special forms of `printed_rate` for p = 1 and p = 2."""
    require(at.p in (1, 2), "p", at.p, "be 1 or 2", "the remark has no other case")
    L, D, rho, n = K(at.L), K(at.D), K(at.rho), at.n
    log_d = K.log(K(at.d)) if at.p == 1 else K(1)
    reach = n * K(at.epsilon)
    noise = at.d * -K.log(K(at.delta)) / (reach * reach * rho)
    first = K.power(L**3 * D * log_d / (n * rho), Fraction(1, 4))
    second = K.sqrt(log_d) * K.power(L**2 * D, Fraction(1, 3)) * K.power(noise, Fraction(1, 6))
    return K.max(K(1), 2 * rho * D * log_d) / K.sqrt(rho) * (first + second)


@claims("table:results", "printed")
def table_rate(K: Numbers, p: int | Fraction, d: int, n: int, epsilon: Exact) -> Real:
    """The row of Table 1: κ^{5/4}/n^{1/4} + κ^{4/3}(dκ̃/(nε)²)^{1/6}."""
    kappa, tilde = printed_kappas(K, p, d)
    reach = n * K(epsilon)
    first = K.power(kappa, Fraction(5, 4)) / K.power(K(n), Fraction(1, 4))
    return first + K.power(kappa, Fraction(4, 3)) * K.power(d * tilde / (reach * reach), Fraction(1, 6))


# --------------------------------------------------------------------- Theorem 20, with constants, tight


def progress_factor(K: Numbers, beta: Real, weak: Real) -> Real:
    """(β−ρ̃)/2: F_r(w_r) − F_r(ŵ_r) ≥ this times ‖ŵ_r − w_r‖², in every norm."""
    return (beta - weak) / 2


@claims("eqn:dist_prox_risk", "printed")
def progress_factor_printed(K: Numbers, rho: Exact) -> Real:
    """ρ/2."""
    return K(rho) / 2


@claims("thm:nsmth_ncnvx", "corrected")
def squared_distance_corrected(K: Numbers, at: Scales, R: int, B: Real, delta_F: Real) -> Real:
    """The printed argument with constants: (2/ρ̃)(Δ_F/R + B) for R calls on ⌊n/R⌋ points; B in real units."""
    return 2 / at.weak * (delta_F / R + B)


@claims("thm:nsmth_ncnvx", "tight")
def squared_distance(K: Numbers, at: Scales, R: int, B: Real, delta_F: Real) -> Real:
    """(2/(β−ρ̃))(Δ_F/R + ((R−1)/R)B) for R−1 calls on ⌊n/(R−1)⌋ points; B in real units."""
    return (delta_F / R + B * (R - 1) / R) / progress_factor(K, at.beta, at.weak)


def near_stationarity(K: Numbers, beta: Real, D: Real, square: Real) -> Real:
    """ϑ = max{1, βD}·√(E‖prox−w̄‖²): what Definition 18 makes of a bound on the square (Jensen)."""
    return K.max(K(1), beta * D) * K.sqrt(square)


def expected_gap(K: Numbers, beta: Real, D: Real, square: Real) -> Real:
    """E gap(prox(w̄)) ≤ βm(D−m), m = min{√square, D/2}: Lemma 17's sharp form and Jensen for the concave x(D−x).

    x(D−x) falls beyond D/2, hence the minimum.
    """
    m = K.min(K.sqrt(square), D / 2)
    return beta * m * (D - m)


def a_priori_distance(K: Numbers, at: Scales, D: Real) -> Real:
    """min{R0, D}, R0 = ℓ/β: a bound on ‖prox(w) − w‖ for every w in W, before any data are seen."""
    return K.min(at.radius, D)


def a_priori_gap(K: Numbers, at: Scales, D: Real) -> Real:
    """The smaller of ℓD (Lipschitz) and β·R0(D−R0)-type Lemma 17 at δ = min{R0, D/2}."""
    m = K.min(at.radius, D / 2)
    return K.min(at.ell * D, at.beta * m * (D - m))


@dataclass(frozen=True)
class Guarantee:
    """What Theorem 20 promises for one choice of R, and whether it beats what is known without data."""

    rounds: int
    plan: Plan
    excess: Real
    square: Real
    distance: Real
    a_priori: Real
    theta: Real
    gap: Real
    a_priori_gap: Real
    informative: bool


def guarantee(
    K: Numbers, at: GuidedParameters, mu: Exact, R: int, plan: Plan | None = None, max_gradients: int | None = None
) -> Guarantee:
    """The tight bound with R rounds; the plan (of one call on ⌊n/(R−1)⌋ points) is planned where none is given.

    The bound is that of the plan: one that is worse than returning w_r (ℓ²/(2β)) is not credited with that.
    """
    check_rounds(R, at.n)
    s = scales(K, at.p, at.d, at.L, at.rho)
    if plan is None:
        plan = () if R == 1 else plan_solver(geometry(Float64(), at.p, at.d), at.n // (R - 1), mu, max_gradients)
    unit = s.L * s.L / s.rho
    check_plan(plan, at.n // max(1, R - 1))
    B = excess_bound(K, s.geo, plan, mu) * unit
    D = K(at.D)
    square = squared_distance(K, s, R, B, s.L * D)
    distance, prior = K.sqrt(square), a_priori_distance(K, s, D)
    return Guarantee(
        rounds=R,
        plan=plan,
        excess=B,
        square=square,
        distance=distance,
        a_priori=prior,
        theta=near_stationarity(K, s.beta, D, square),
        gap=expected_gap(K, s.beta, D, square),
        a_priori_gap=a_priori_gap(K, s, D),
        informative=K.lt(distance, prior),
    )


def best_guarantee(at: GuidedParameters, mu: Exact, max_gradients: int | None = None) -> Guarantee:
    """The R (on a grid of ratio √2) with the smallest bound, in binary64."""
    K = Float64()

    def of(R: int) -> Guarantee:
        return guarantee(K, at, mu, R, max_gradients=max_gradients)

    candidates = sorted({R for j in range(2 * at.n.bit_length()) if (R := math.isqrt(2**j)) <= at.n})
    return min((of(R) for R in candidates), key=lambda found: found.square)


def regime(
    at: Callable[[int], GuidedParameters], mu: Exact, exponents: Sequence[int] = range(8, 31)
) -> tuple[int, Guarantee] | None:
    """The first n = 2^j at which the tight bound beats the a-priori radius, with its guarantee; None if none does."""
    for j in exponents:
        found = best_guarantee(at(2**j), mu)
        if found.informative:
            return 2**j, found
    return None


def guided_gradients(at: GuidedParameters, mu: Exact, R: int) -> int:
    """Gradients that R−1 calls of our solver on ⌊n/(R−1)⌋ records take, each with the plan that has the rate.

    A call on m records takes Σ m_i⌈8/a_i⌉ with m_i ≤ m/2^i and 1/a_i = min{m_i, (m_iμ)²/(κd)}: at most min{8m²/3,
    8m³μ²/(7κd)} + m. So all calls take at most min{8n²/(3(R−1)), 8n³μ²/(7κd(R−1)²)} + n. At the printed R that is what
    Theorem 20 says in n and ε (√n rounds leave n^{3/2}; if the second term of R is the smaller one, nR ≤ n^{3/2} and
    n²ε/√d follow), without logarithms in n, but with a factor that grows with κ̃ and with L0/(ρD): fewer rounds, longer
    calls.
    """
    if R == 1:
        return 0
    plan = closed_form_plan(geometry(Float64(), at.p, at.d), at.n // (R - 1), mu)
    return (R - 1) * gradients_used(plan)


def cited_running_time(K: Numbers, n: int, d: int, epsilon: Exact) -> Any:
    """min{n^{3/2}√(log d), n²ε/√d}: the printed time without constant and logarithms in n; 0 at d = 1."""
    log_d = K.log(K(d)) if d > 1 else K(0)
    return K.min(K.power(K(n), Fraction(3, 2)) * K.sqrt(log_d), n * n * K(epsilon) / K.sqrt(K(d)))
