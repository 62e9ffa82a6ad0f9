"""A_sc: a private solver for the proximal subproblem, with a complete proof (Theorem 19 cites another one).

This is not Theorem 19: that one is about any λ-strongly convex problem in ℓ_p. What is proved here (`own:prox_solver`)
is about F_D + (β/2)‖·−w_r‖² with a weakly convex loss: the proof needs strong convexity relative to h = (κ/2)‖·−w_r‖²,
which the regulariser has and which does not follow from strong convexity in the norm for p < 2. Its gradients are those
of whole phases: the plan with the rate of the claim takes up to Σ n_i·8n_i ≤ 8n²/3 of them (`closed_form_plan`), where
Theorem 19 cites n^{3/2} up to logarithms; with fewer steps the explicit bound stays valid, and is larger.

=======================  ==================================================================================
paper / notes            here
=======================  ==================================================================================
A_sc                     `solve` (one call on one batch), with a data-independent `Plan`
L0, ρ, λ (Theorem 19)    `Scales.L`, `Scales.rho`; the strong convexity is `Scales.strength`
β                        `Scales.beta` = 2κρ̃ (corrected)
ℓ = C·L0, ρ̃ = C²ρ        `Scales.ell`, `Scales.weak`: the constants in ‖·‖_p̄
R0 = ℓ/β                 `Scales.radius`: the minimiser of F_r is that near to w_r
h                        (κ/2)‖· − w_r‖²_p̄, so that (β/2)‖· − w_r‖² = 2ρ̃h
phase i: n_i, λ_i, T_i   `Phase.n`, `Phase.lam` (in units of ρ̃), `Phase.T`
Λ_i = ρ̃ + λ_i            inside `solve`
E_i, B                   `phase_error`, `excess_bound` (in units of ℓ²/ρ̃² and of ℓ²/ρ̃ = L0²/ρ)
μ                        the Gaussian-DP parameter of the whole call
=======================  ==================================================================================

**Geometry.** Write ‖·‖ for ‖·‖_p̄. ‖x‖_p ≤ C‖x‖ makes a ρ-weakly convex f (in ‖·‖_p) ρ̃-weakly convex in ‖·‖, and
an L0-Lipschitz one ℓ-Lipschitz. h is 1-strongly convex, so adding ρ̃ times its strong convexity to weak convexity
cancels the quadratic terms: f(·,z) + ρ̃h is convex for **every** z (weak convexity of the mean alone would not do).

**Radius.** Let G be ℓ-Lipschitz on W and ŵ minimise G + (β/2)‖·−w‖² over W, δ = ‖ŵ−w‖. With v_t = ŵ + t(w−ŵ): G(ŵ)
+ βδ²/2 ≤ G(v_t) + β(1−t)²δ²/2 ≤ G(ŵ) + ℓtδ + β(1−t)²δ²/2; divide by t → 0: βδ² ≤ ℓδ. So δ ≤ ℓ/β = R0, and nothing
is lost on X = W ∩ B(w_r, R0). There the regulariser's gradient has dual norm β‖u‖ ≤ ℓ: F_r is 2ℓ-Lipschitz, f + ρ̃h
1.5ℓ-Lipschitz.

**Phase.** Data S (n points) independent of the past, x_1 the last phase's end, Φ = f_S + 2ρ̃h + λD_h(·,x_1), x* =
argmin_X Φ, Λ = ρ̃+λ. Step k minimises O_k(v) = ⟨ĝ,v⟩ + ρ̃h(v) + λD_h(v,x_1) + (Λ(k−1)/2)D_h(v,x_k), ĝ = g_k +
ρ̃∇h(x_k) + N_k. O_k is (Λ(k+1)/2)h plus an affine function, so first-order optimality says O_k(v) ≥ O_k(x_{k+1}) +
(Λ(k+1)/2)D_h(v,x_{k+1}) for all v ∈ X. Put v = x*, use the convexity of f_S + ρ̃h and the Lipschitz constants, s =
‖x_{k+1}−x_k‖, D_k = D_h(x*,x_k):

  (A) Φ(x_{k+1}) − Φ* ≤ 3ℓs + ⟨N_k, x*−x_{k+1}⟩ − (Λ(k−1)/2)s²/2 + (Λ(k−1)/2)D_k − (Λ(k+1)/2)D_{k+1}
  (B) the same with 2ℓ for 3ℓ and Λ(k−1)/2 − ρ̃ for the coefficient of s²/2 (only f_S is linearised; the two terms
      ρ̃⟨∇h(x_k), x*−x_{k+1}⟩ + ρ̃(h(x_{k+1})−h(x*)) are exactly ρ̃D_h(x_{k+1},x_k) − ρ̃D_k, and the D_k cancels).

The noise: E⟨N_k, x*−x_k⟩ = 0 (x*, x_k do not depend on N_k), which leaves ‖N_k‖_* s; or, with x̂ the step without
noise, E⟨N_k, x*−x̂⟩ = 0 and ⟨N_k, x̂−x_{k+1}⟩ ≤ ‖N_k‖²_*·2/(Λ(k+1)) by the strong convexity of O_k. Maximise over
s; ν² = E‖N_k‖²_*:

  k ≥ 2:  b_k = min{ (3ℓ+ν)²/(Λ(k−1)),  9ℓ²/(Λ(k−1)) + 2ν²/(Λ(k+1)),
                     (2ℓ+ν)²/(Λ(k−1)−2ρ̃),  4ℓ²/(Λ(k−1)−2ρ̃) + 2ν²/(Λ(k+1)) }   (the last two if Λ(k−1) > 2ρ̃)
  k = 1:  there is no s² term. ∇O_1(x_1) = g_1 + 2ρ̃∇h(x_1) + N_1 has dual norm ≤ 2ℓ+‖N_1‖_*, so Λs² ≤ (2ℓ+‖N_1‖_*)s,
          b_1 = (3ℓ(2ℓ+ν) + ν²)/Λ.

Multiply by k and add: (k·Λ(k−1)/2)D_k telescopes against ((k−1)kΛ/2)D_k, Φ(x_{k+1}) ≥ Φ* is dropped, and

  **E D_h(x*, x_{T+1}) ≤ E = min{ 2/(ΛT(T+1))·Σ_{k≤T} k·b_k,  2κR0² }**

(the second bound is the diameter of X in D_h).

ν² = T·c with c = 4m_q̄dℓ²/(nμ)², m_q = (E|g|^q)^{2/q} for a standard Gaussian g: E‖N‖²_q̄ ≤ d^{2/q̄}m_q̄σ² and
d^{2/q̄}·d^{2/p−1} = d·C².

**Population.** Φ_S is Λ-strongly convex, so replacing one point of S moves its minimiser by at most 2ℓ/(Λn), and
E[F_D(x*) − f_S(x*)] ≤ 2ℓ²/(Λn). Compare x*_i with y = ŵ_r (i = 1, λ = 0) or y = x*_{i−1} (i ≥ 2), which do not
depend on S_i: E F_r(x*_i) ≤ E F_r(y) + λ_i E D_h(y, x_{i−1}) + 2ℓ²/(Λ_i n_i), and D_h(x*_{i−1}, x_{i−1}) is what
phase i−1 bounded. At the end F_r(x_K) − F_r(x*_K) ≤ 2ℓ‖x_K−x*_K‖ ≤ 2ℓ√(2D_h(x*_K, x_K)). So

  **E F_r(w_{r+1}) − F_r(ŵ_r) ≤ B = 2ℓ²/(ρ̃n_1) + Σ_{i≥2}[λ_iE_{i−1} + 2ℓ²/((ρ̃+λ_i)n_i)] + 2ℓ√(2E_K)**,

and B ≤ ℓ²/(2β) for the empty plan, which returns w_r (F_r(w_r) − F_r(ŵ) ≤ ℓδ − βδ²/2). With a = max{1/n, κd/(nμ)²}
(if a > 1/64 return w_r), n_i = n/2^i, λ_i = 8^{i−1}ρ̃ and T_i = ⌈8/a_i⌉, a_i = max{1/n_i, κd/(n_iμ)²} ≤ 4^{i+1}a:
ν² = O(ℓ²), E_i = O(a_iℓ²/Λ_i²), so λ_iE_{i−1} = O(2^{−i})aℓ²/ρ̃ and ℓ²/(Λ_in_i) = O(4^{−i})ℓ²/(ρ̃n) are geometric,
and ℓ√E_K = O(√(4^Ka)/8^K)ℓ²/ρ̃ = O(√a/4^K)ℓ²/ρ̃ = O(a)ℓ²/ρ̃ once 4^K ≥ a^{−1/2}. So B = O((L0²/ρ)(1/n + κd/(nμ)²))
without a logarithm; C cancels.

**Inexact steps.** If every step's three-point inequality has slack at most e (`mirror.step_gap`), add e to the
right of (A), (B); in the variants through x̂, ‖x_{k+1} − x'‖ ≤ √(e/c) for the exact noisy step x' and c = Λ(k+1)/2,
so that ‖N‖√(e/c) ≤ η‖N‖²/c + e/(4η), η = 1/1000: the noise term grows by 1.001 and the slack to 251e. At k = 1, Λs²
≤ (2ℓ+‖N‖)s + e, so s grows by √(e/Λ): 3ℓ√(e/Λ) once. `phase_error(gap=e)` adds all three.

**Privacy.** Per-example gradients are clipped to ‖g‖_q ≤ L0, so replacing a point moves their mean by at most
2L0/n_i in ℓ_q and 2L0d^{1/p−1/2}/n_i in ℓ_2 (q ≥ 2; attained). With σ_i = (2L0d^{1/p−1/2}/n_i)√T_i/μ each of the
T_i releases is μ/√T_i-GDP given the past, and adaptive Gaussian releases compose to exactly one: the phase is
μ-GDP. A record is used in one phase only, what comes before has the same law, what comes after is post-processing
and fresh data: the call is μ-GDP. The plan, L0, ρ, n must not depend on the data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import Exact, Float64, Numbers, Real, Vector, dual_exponent, norm
from reference.numerics.preconditions import require, same_dimension
from reference.numerics.rounding import require_sizes, unit
from reference.numerics.tape import Draw, Tape
from reference.paper.events import Trace, mark
from reference.paper.registry import claims, implements
from reference.setting.data import Example
from reference.setting.losses_convex import require_valid_on
from reference.setting.losses_weak import WeaklyConvexLoss, WeakPredictorLoss
from reference.setting.sets import FeasibleSet, WholeSpace
from reference.weakly_convex.mirror import Geometry, Step, duality_map, geometry, mirror_step, require_step

# ------------------------------------------------------------------------------------------- constants


@dataclass(frozen=True)
class Scales:
    """The constants of one proximal subproblem F_D + (β/2)‖·−w_r‖²_p̄ in one number system."""

    geo: Geometry
    L: Real
    rho: Real
    ell: Real
    weak: Real
    beta: Real

    @property
    def strength(self) -> Real:
        """β/κ − ρ̃: the strong convexity of F_r in ‖·‖_p̄ (ρ̃ for β = 2κρ̃)."""
        return self.beta / self.geo.kappa - self.weak

    @property
    def radius(self) -> Real:
        """R0 = ℓ/β."""
        return self.ell / self.beta


def scales(K: Numbers, p: int | Fraction, d: int, L: Exact, rho: Exact) -> Scales:
    """ℓ = C·L, ρ̃ = C²ρ, β = 2κρ̃."""
    geo = geometry(K, p, d)
    require(Fraction(L) > 0, "L", L, "be positive", "give a Lipschitz constant of the loss")
    require(
        Fraction(rho) > 0, "rho", rho, "be positive", "a convex loss is ρ-weakly convex for every ρ > 0: choose one"
    )
    weak = geo.C * geo.C * K(rho)
    return Scales(geo, K(L), K(rho), geo.C * K(L), weak, 2 * geo.kappa * weak)


def with_beta(K: Numbers, at: Scales, beta: Real, weak: Real | None = None) -> Scales:
    """The same problem with another β (and modulus ρ̃); refused unless β > κρ̃, where F_r is strongly convex."""
    changed = replace(at, beta=beta, weak=at.weak if weak is None else weak)
    require(
        K.unwatched.lt(K(0), changed.strength),
        "beta",
        K.to_float(beta),
        f"exceed ρ̃/ν = κρ̃ = {K.to_float(changed.geo.kappa * changed.weak)}",
        "below it the subproblem is not strongly convex; take β = 2κρ̃",
    )
    return changed


def require_setting(K: Numbers, loss: WeaklyConvexLoss, W: FeasibleSet) -> None:
    """Refuse, before a look at any record, a set without a mirror step and one on which L0 and ρ do not hold."""
    weak = hasattr(loss, "rho") and hasattr(loss, "subgradient")
    require(weak, "loss", loss, "be weakly convex, with its ρ", "for convex and smooth losses see Sections 3 and 4")
    require_step(W, loss.p)
    require_sizes(K, L0=loss.L0, rho=loss.rho, reach=0 if isinstance(W, WholeSpace) else W.norm_bound(K, loss.p))
    same_dimension("W", W.dim, getattr(loss, "dim", W.dim))
    require_valid_on(K, loss, W)


def require_budget(K: Numbers, mu: Exact | Real) -> None:
    """Refuse a μ that is no budget."""
    K = K.unwatched
    given = K(mu)
    require(K.lt(K(0), given), "mu", mu, "be positive", "take gaussian_mu_safe(epsilon, delta)")
    require_sizes(K, mu=given)


# ------------------------------------------------------------------------------------------------ plan


@dataclass(frozen=True)
class Phase:
    """n points, T steps, and the pull λ towards the phase's start, in units of ρ̃ (0 in the first phase)."""

    n: int
    T: int
    lam: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        """Refuse what no run could follow."""
        require(isinstance(self.n, int) and self.n >= 1, "n", self.n, "be a positive integer")
        require(isinstance(self.T, int) and self.T >= 1, "T", self.T, "be a positive integer")
        require(self.lam >= 0, "lam", self.lam, "be at least 0")


Plan = tuple[Phase, ...]
"""The phases of one call; the empty plan returns w_r."""


def check_plan(plan: Plan, n: int) -> None:
    """A plan fits a batch of n points if its phases are disjoint and the first has no pull."""
    used = sum(phase.n for phase in plan)
    require(used <= n, "plan", plan, f"use at most the {n} points of the batch, not {used}", "shrink its phases")
    require(not plan or plan[0].lam == 0, "plan", plan, "start with λ = 0", "the first phase has no earlier solution")


def gradients_used(plan: Plan) -> int:
    """Σ n_iT_i: gradient evaluations of one call."""
    return sum(phase.n * phase.T for phase in plan)


# ----------------------------------------------------------------------------------------------- claims


def gaussian_moment(K: Numbers, q: Any) -> Real:
    """m_q = (E|g|^q)^{2/q} = 2(Γ((q+1)/2)/√π)^{2/q} of a standard Gaussian; 1 at q = 2, at most q − 1."""
    exponent = K(q)
    return 2 * K.power(K.gamma((exponent + 1) / 2) / K.sqrt(K.pi), 2 / exponent)


def noise_constant(K: Numbers, geo: Geometry, n: int, mu: Exact | Real) -> Real:
    """c/ℓ² with E‖N_k‖²_q̄ ≤ T·c: 4m_q̄d/(nμ)²."""
    reach = n * K(mu)
    return 4 * gaussian_moment(K, geo.q_bar) * geo.d / (reach * reach)


def phase_error(K: Numbers, geo: Geometry, phase: Phase, mu: Exact | Real, gap: Exact | Real = 0) -> Real:
    """E_i in units of ℓ²/ρ̃²; `gap` is the largest slack of a step in units of ℓ²/ρ̃.

    The first few b_k are added one by one; from there on each of the four bounds is summed in closed form
    (Σ1/(k−1−c) is at most its first term plus an integral) and the smallest sum counts, so that a long phase costs
    no more than a short one.
    """
    T, Lam = phase.T, K(1 + phase.lam)
    inexact = not (isinstance(gap, int) and gap == 0)
    grown = Fraction(1001, 1000) if inexact else Fraction(1)
    nu2 = T * noise_constant(K, geo, phase.n, mu)
    nu = K.sqrt(nu2)
    head = min(T, EXPLICIT)
    total = (3 * (2 + nu) + K(grown) * nu2) / Lam
    for k in range(2, head + 1):
        total = total + k * _step_term(K, phase, k, nu, nu2 * K(grown))
    if head < T:
        total = total + _tail(K, phase, head, nu, nu2 * K(grown))
    if inexact:
        total = total + 3 * K.sqrt(K(gap) / Lam)
    error = 2 * total / (Lam * T * (T + 1))
    if inexact:
        error = error + 251 * K(gap) / Lam
    return K.min(error, 1 / (2 * geo.kappa))


EXPLICIT = 8
"""The number of steps whose terms are added one by one."""


def _step_term(K: Numbers, phase: Phase, k: int, nu: Real, nu2: Real) -> Real:
    """b_k for k ≥ 2 in units ℓ = ρ̃ = 1."""
    Lam = 1 + phase.lam
    late = 2 * nu2 / K(Lam * (k + 1))
    wide = K(Lam * (k - 1))
    best = K.min((3 + nu) * (3 + nu) / wide, 9 / wide + late)
    if Lam * (k - 1) > 2:
        narrow = K(Lam * (k - 1) - 2)
        best = K.min(best, K.min((2 + nu) * (2 + nu) / narrow, 4 / narrow + late))
    return best


def _tail(K: Numbers, phase: Phase, head: int, nu: Real, nu2: Real) -> Real:
    """An upper bound on Σ_{head<k≤T} k·b_k: the smallest of the four bounds' sums."""
    Lam, steps = K(1 + phase.lam), phase.T - head
    wide = (steps + _reciprocals(K, head, phase.T, Fraction(0))) / Lam
    late = 2 * nu2 * steps / Lam
    best = K.min((3 + nu) * (3 + nu) * wide, 9 * wide + late)
    shift = 2 / (1 + phase.lam)  # 2ρ̃/Λ ≤ 2 < head
    narrow = (steps + K(1 + shift) * _reciprocals(K, head, phase.T, shift)) / Lam
    return K.min(best, K.min((2 + nu) * (2 + nu) * narrow, 4 * narrow + late))


def _reciprocals(K: Numbers, head: int, T: int, shift: Fraction) -> Real:
    """Σ_{head<k≤T} 1/(k−1−shift) ≤ 1/(head−shift) + ln((T−1−shift)/(head−shift))."""
    return 1 / K(head - shift) + K.log(K((T - 1 - shift) / (head - shift)))


@claims("own:prox_solver")
def excess_bound(K: Numbers, geo: Geometry, plan: Plan, mu: Exact | Real, gap: Exact | Real = 0) -> Real:
    """B in units of L0²/ρ (module docstring), for β = 2κρ̃ and steps in the ball; 1/(4κ) for the empty plan.

    At most 1/κ for any plan: x ∈ X has F_r(x) − F_r(w_r) ≤ ℓs + βs²/2 with s ≤ R0 = ℓ/β, and F_r(w_r) − F_r(ŵ_r) ≤
    ℓ²/(2β), together 2ℓ²/β, four times what the empty plan has.
    """
    trivial = trivial_bound(K, geo)
    if not plan:
        return trivial
    total = 2 / K(plan[0].n)
    error = phase_error(K, geo, plan[0], mu, gap)
    for phase in plan[1:]:
        total = total + K(phase.lam) * error + 2 / (K(1 + phase.lam) * phase.n)
        error = phase_error(K, geo, phase, mu, gap)
    return K.min(total + 2 * K.sqrt(2 * error), 4 * trivial)


def trivial_bound(K: Numbers, geo: Geometry) -> Real:
    """ℓ²/(2β) in units of L0²/ρ: what returning w_r guarantees, 1/(4κ)."""
    return 1 / (4 * geo.kappa)


@claims("thm:sc_dp_sco", "printed")
def cited_rate(K: Numbers, p: int | Fraction, d: int, n: int, epsilon: Exact, delta: Exact) -> Real:
    """κ/n + κ̃κ²d·ln(1/δ)/(nε)² in units of L0²/λ: the printed rate, without its unknown constant.

    κ = min{1/(p−1), ln d} and κ̃ = 1 + ln d·1(p<2) as printed: 0 at d = 1 (see the errata).
    """
    kappa, tilde = printed_kappas(K, p, d)
    reach = n * K(epsilon)
    return kappa / n + tilde * kappa * kappa * d * -K.log(K(delta)) / (reach * reach)


def printed_kappas(K: Numbers, p: int | Fraction, d: int) -> tuple[Real, Real]:
    """(κ, κ̃) of Theorems 19, 20 and Table 1 as printed."""
    log_d = K.log(K(d)) if d > 1 else K(0)
    kappa = log_d if p == 1 else K.min(1 / (K(p) - 1), log_d)
    return kappa, 1 + log_d if p < 2 else K(1)


# --------------------------------------------------------------------------------------------- planners


def plan_solver(geo: Geometry, n: int, mu: Exact, max_gradients: int | None = None, support: int | None = None) -> Plan:
    """A data-independent plan that makes `excess_bound` small; empty where returning w_r has the better bound.

    `geo` is a binary64 geometry: which plan is chosen is a matter of taste, what it guarantees is `excess_bound` in
    any number system. A grid over geometric plans, then coordinate descent. `max_gradients` caps Σ min(n_i,
    support)·T_i (None: no cap); `support` is the number of distinct records that can occur, if that is known
    beforehand.
    """
    K = Float64()
    require(isinstance(n, int) and n >= 1, "n", n, "be a positive integer")
    require_budget(K, mu)
    require(max_gradients is None or max_gradients >= 1, "max_gradients", max_gradients, "be at least 1, or None")

    limits = _Limits(geo, n, mu, max_gradients, support)
    best: Plan = ()
    value = trivial_bound(K, geo)
    candidates = [closed_form_plan(geo, n, mu)] if max_gradients is None else []
    for candidate in (*candidates, *_geometric_plans(limits)):
        found = excess_bound(K, geo, candidate, mu)
        if found < value:
            best, value = candidate, found
    for _ in range(6):
        before = value
        for i in range(len(best)):
            for candidate in _neighbours(limits, best, i):
                found = excess_bound(K, geo, candidate, mu)
                if found < value:
                    best, value = candidate, found
        if before - value <= before / 1000:
            break
    return best


@dataclass(frozen=True)
class _Limits:
    """What a plan may use."""

    geo: Geometry
    n: int
    mu: Exact
    cap: int | None
    support: int | None

    def cost(self, size: int) -> int:
        """Gradients that one step on `size` records evaluates."""
        return size if self.support is None else min(size, self.support)

    def fits(self, plan: Plan) -> bool:
        """Whether the plan keeps to the cap."""
        return self.cap is None or sum(self.cost(phase.n) * phase.T for phase in plan) <= self.cap

    def plan(self, phases: Sequence[tuple[int, Fraction]]) -> Plan:
        """T_i = ⌈16/c_i⌉ (beyond it the noise term alone remains), at most an equal share of the cap."""
        K = Float64()
        made = []
        for size, pull in phases:
            T = max(2, K.ceil(16 / noise_constant(K, self.geo, size, self.mu)))
            if self.cap is not None:
                T = max(1, min(T, self.cap // (len(phases) * self.cost(size))))
            made.append(Phase(size, T, pull))
        return tuple(made)


def _geometric_plans(limits: _Limits) -> Iterator[Plan]:
    for phases in range(1, 8):
        for ratio in (2, 3, 4):
            weights = [Fraction(1, ratio**i) for i in range(phases)]
            sizes = [int(limits.n * w / sum(weights)) for w in weights]
            if sizes[-1] < 1:
                continue
            for first in (1, 4, 16) if phases > 1 else (1,):
                for growth in (4, 8, 16) if phases > 2 else (4,):
                    pulls = [Fraction(0), *(Fraction(first * growth**i) for i in range(phases - 1))]
                    yield limits.plan(list(zip(sizes, pulls, strict=True)))


def _neighbours(limits: _Limits, plan: Plan, i: int) -> Iterator[Plan]:
    """Plans with phase i's pull, size or number of steps changed by a factor of 5/4."""
    raw = [(phase.n, phase.lam) for phase in plan]
    for factor in (Fraction(5, 4), Fraction(4, 5)):
        pull = (raw[i][1] * factor).limit_denominator(64)
        yield limits.plan([*raw[:i], (raw[i][0], pull), *raw[i + 1 :]])
        sizes = _resized([size for size, _ in raw], i, int(raw[i][0] * factor), limits.n)
        if sizes:
            yield limits.plan([(size, pull) for size, (_, pull) in zip(sizes, raw, strict=True)])
        longer = (*plan[:i], replace(plan[i], T=max(1, int(plan[i].T * factor))), *plan[i + 1 :])
        if limits.cap is not None and limits.fits(longer):
            yield longer


def _resized(sizes: list[int], i: int, size: int, n: int) -> list[int] | None:
    """The sizes with the i-th set and the others scaled to fill n; None where that cannot be."""
    rest = sum(sizes) - sizes[i]
    if not rest or not 1 <= size <= n - len(sizes) + 1:
        return None
    changed = [size if j == i else max(1, s * (n - size) // rest) for j, s in enumerate(sizes)]
    return changed if sum(changed) <= n else None


def closed_form_plan(geo: Geometry, n: int, mu: Exact) -> Plan:
    """n_i = ⌊n/2^i⌋, λ_i = 8^{i−1}ρ̃, T_i = ⌈8/a_i⌉, K = ⌈log_4 a^{−1/2}⌉: the plan with the proven rate.

    The number of phases matters: with ⌈log_8 a^{−1/2}⌉ phases and the same growth of λ the last term keeps a factor
    2^{K/2}.
    """
    K = Float64()
    a = _rate(K, geo, n, mu)
    if K.lt(K(Fraction(1, 64)), a):
        return ()
    count = max(1, K.ceil(K.log(1 / a) / (2 * K.log(K(4)))))
    plan = []
    for i in range(1, count + 1):
        size = n >> i
        if size < 1:
            break
        pull = Fraction(0) if i == 1 else Fraction(8 ** (i - 1))
        plan.append(Phase(size, max(1, K.ceil(8 / _rate(K, geo, size, mu))), pull))
    return tuple(plan)


def _rate(K: Numbers, geo: Geometry, n: int, mu: Exact) -> Real:
    """max{1/n, κd/(nμ)²}."""
    reach = n * K(mu)
    return K.max(1 / K(n), geo.kappa * geo.d / (reach * reach))


# -------------------------------------------------------------------------------------------- gradients


class BatchGradient:
    """The mean over some records of clip_q(∂f(w, z), L): equal records are evaluated once and counted."""

    def __init__(self, K: Numbers, loss: WeaklyConvexLoss, records: Sequence[Example], L: Real, p: Exact):
        self.K, self.loss, self.L, self.size = K, loss, L, len(records)
        self.q = dual_exponent(p)
        counted = Counter(records)
        self.records = list(counted)
        self.counts = list(counted.values())
        self.columns: list[Vector] = []
        if isinstance(loss, WeakPredictorLoss):
            self.features = [loss.features(K, z) for z in self.records]
            self.scalars = [loss.scalar(z) for z in self.records]
            self.reach = [norm(K, a, self.q) for a in self.features]
            self.columns = [K.vector([a[j] for a in self.features]) for j in range(len(self.features[0]))]

    def __call__(self, w: Vector) -> Vector:
        """The clipped mean subgradient at w."""
        if not self.columns:
            return self._mean(w)
        weights = self.K.vector(
            [
                count * self._clipped_slope(scalar.subgradient(self.K, w @ a), reach)
                for count, scalar, a, reach in zip(self.counts, self.scalars, self.features, self.reach, strict=True)
            ]
        )
        return self.K.vector([weights @ column / self.size for column in self.columns])

    def _clipped_slope(self, slope: Real, reach: Real) -> Real:
        """slope·min(1, L/‖slope·a‖_q), without a decision where the norm is certainly below L."""
        length = self.K.abs(slope) * reach
        return slope * (self.L / self.K.max(length, self.L))

    def _mean(self, w: Vector) -> Vector:
        total = self.K.zeros(len(w))
        for z, count in zip(self.records, self.counts, strict=True):
            total = total + clip(self.K, self.loss.subgradient(self.K, w, z), self.L, self.q) * self.K(count)
        return total / self.size


def clip(K: Numbers, g: Vector, L: Real, q: Any) -> Vector:
    """g·min(1, L/‖g‖_q)."""
    clipped: Vector = g * (L / K.max(norm(K, g, q), L))
    return clipped


# ---------------------------------------------------------------------------------------------- privacy


def noise_scale(K: Numbers, p: int | Fraction, d: int, L: Exact | Real, n: int, T: int, mu: Exact | Real) -> Real:
    """σ_i = (2L·d^{1/p−1/2}/n)·√T/μ: the standard deviation of each coordinate of each of T releases.

    Where numbers are rounded the sensitivity grows by the factor 1 + u(2000 + d + n(n + 6)): a clipped gradient may be
    longer than L by (2000 + d)u (powers of numbers between 2^{−1074} and 2^{1023} err by less), and the mean of n of
    them errs by (n + 4)uL in either run. Points are the same in both, so nothing else differs.
    """
    return rounded_sensitivity(K, p, d, L, n) * K.sqrt(K(T)) / K(mu)


def rounded_sensitivity(K: Numbers, p: int | Fraction, d: int, L: Exact | Real, n: int) -> Real:
    """`l2_sensitivity` of the mean as it is computed in K (`noise_scale`)."""
    return l2_sensitivity(K, p, d, L, n) * (1 + unit(K) * (2000 + d + n * (n + 6)))


def l2_sensitivity(K: Numbers, p: int | Fraction, d: int, L: Exact | Real, n: int) -> Real:
    """2L·d^{1/p−1/2}/n: the ℓ_2 change of a mean of n vectors with ‖·‖_q ≤ L when one is replaced; attained."""
    power = 1 / Fraction(p) - Fraction(1, 2)
    return 2 * K(L) * (K.power(K(d), power) if power else K(1)) / n


def draws(plan: Plan, d: int, *prefix: int) -> tuple[Draw, ...]:
    """What one call reads: A[prefix, i, k], one standard Gaussian vector a step."""
    return tuple(
        Draw("A", (*prefix, i, k), "normal", d) for i, phase in enumerate(plan, start=1) for k in range(1, phase.T + 1)
    )


# -------------------------------------------------------------------------------------------- the solver


@dataclass(frozen=True)
class Solved:
    """The point that A_sc returns, and what the run can vouch for."""

    w: Vector
    largest_gap: Real
    binding_steps: int
    steps: int
    gradients: int


@implements("own:prox_solver")
def solve(
    K: Numbers,
    at: Scales,
    loss: WeaklyConvexLoss,
    batch: Sequence[Example],
    W: FeasibleSet,
    w: Vector,
    plan: Plan,
    mu: Exact | Real,
    tape: Tape,
    *,
    prefix: tuple[int, ...] = (),
    restrict: bool = True,
    trace: Trace | None = None,
) -> Solved:
    """One call of A_sc on a batch, around w: the last iterate of the last phase.

    `restrict` keeps the steps in W ∩ B(w, R0) (the corrected text); without it they range over W. The caller declares
    `draws(plan, d, *prefix)` and reads inside `reading(tape, …)`. Trace events stand at line 4 of Algorithm 6.
    """
    check_plan(plan, len(batch))
    require_budget(K, mu)
    require_step(W, at.geo.p)
    require(len(w) == at.geo.d, "dimension of w", len(w), f"be {at.geo.d}", "dimensions must agree")
    radius = at.radius if restrict else None
    run = _Run(K, at, W, w, radius)
    used = 0
    for i, phase in enumerate(plan, start=1):
        records = batch[used : used + phase.n]
        used += phase.n
        gradient = BatchGradient(K, loss, records, at.L, at.geo.p)
        sigma = noise_scale(K, Fraction(at.geo.p), at.geo.d, at.L, phase.n, phase.T, mu)
        mark(trace, 4, "sigma", sigma, *prefix, i)
        run.start(K(phase.lam) * at.weak)
        for k in range(1, phase.T + 1):
            noise = K.vector(tape.normal("A", *prefix, i, k, dim=at.geo.d)) * sigma
            g = gradient(w + run.u)
            mark(trace, 4, "gradient", g, *prefix, i, k)
            run.step(g + noise, k)
            mark(trace, 4, "u", run.u, *prefix, i, k)
    return Solved(w + run.u, run.largest_gap, run.binding, run.steps, gradients_used(plan))


class _Run:
    """The state of one call: u = x − w_r, ∇h there and at the phase's start, and the certificate so far."""

    def __init__(self, K: Numbers, at: Scales, W: FeasibleSet, w: Vector, radius: Real | None):
        self.K, self.at, self.W, self.w, self.radius = K, at, W, w, radius
        self.u = K.zeros(len(w))
        self.largest_gap = K(0)
        self.binding = self.steps = 0
        self.start(K(0))

    def _slope(self) -> Vector:
        """∇h at the current point."""
        slope: Vector = duality_map(self.K, self.at.geo, self.u) * self.at.geo.kappa
        return slope

    def start(self, lam: Real) -> None:
        """Begin a phase: the pull λ is towards the current point."""
        self.lam, self.anchor = lam, self._slope()

    def step(self, g: Vector, k: int) -> None:
        """Step k: argmin ⟨ĝ,v⟩ + s·h(v) + λD_h(v,x_1) + (Λ(k−1)/2)D_h(v,x_k), s the strength, Λ = s + λ."""
        at, slope = self.at, self._slope()
        Lam = at.strength + self.lam
        estimate = g + slope * at.weak
        theta = slope * (Lam * (k - 1) / 2) + self.anchor * self.lam - estimate
        A = at.geo.kappa * Lam * (k + 1) / 2
        found: Step = mirror_step(self.K, at.geo, self.W, self.w, theta, A, self.radius)
        self.u = found.u
        self.largest_gap = self.K.max(self.largest_gap, found.gap)
        self.binding += found.binding
        self.steps += 1
