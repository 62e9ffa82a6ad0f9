"""Accountants of Section 3: Algorithm 1 (no noise), Algorithm 2 (a Gaussian a phase), Algorithm 3 (noisy minima)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, cast

from audit.accounting.account import (
    ACCOUNTANTS,
    WORK,
    Account,
    Condition,
    PrivacyTarget,
    Scale,
    accepted,
    at_least,
    guarded,
    largest_of,
    nearest,
    region,
)
from audit.accounting.profiles import PrivacyProfile, Rule, constant_rule, gaussian_rule, kov_rule, smallest, zcdp_rule
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex import phased_noise
from reference.convex.drift import average_bound
from reference.convex.noisy_frank_wolfe import FrankWolfeParameters, theorem_alpha_printed, theorem_steps
from reference.convex.oracle import OracleParameters, closed_form_oracle
from reference.convex.phased_noise import TIGHT_ROOM
from reference.convex.phased_sgd import (
    PhasedParameters,
    phase_lengths,
    sigma_printed,
    step_size,
    theorem_alpha,
    theorem_beta,
    theorem_beta_printed,
)
from reference.convex.rounding import phase_reserve, selection_terms
from reference.convex.sensitivity import tuned_step
from reference.numerics.numbers import Ball, BallScalar, Exact, Numbers, Real
from reference.numerics.preconditions import nonnegative, positive, require, whole
from reference.numerics.rounding import require_sizes
from reference.privacy import SelectionNoise, gaussian_mu, log_inverse
from reference.setting.losses import GLL
from reference.setting.sets import FeasibleSet, Region, WholeSpace

NO_LOSS = cast(GLL, None)
"""Noise depends on a run's L0 and R, not on its loss."""

# ------------------------------------------------------------------------------------------ Algorithm 1


@ACCOUNTANTS.of("Alg:gll_oracle")
def oracle_account(target: PrivacyTarget) -> Account:
    """Algorithm 1 is deterministic: it adds no noise and releases nothing by itself."""
    note = "the oracle draws no noise; its accuracy enters the sensitivity of Algorithms 2 and 3"
    return Account("Alg:gll_oracle", target, notes=(note,))


# ------------------------------------------------------------------------------------------ Algorithm 2

ORACLES = {
    "sound": "α-accurate and bounded by L0R (Algorithm 1 as printed is not)",
    "printed": "Algorithm 1 as printed, which returns 0 on every input",
    "halving": "Algorithm 1 with comparison and β/2 repaired, which still halves on quarter points",
}


@dataclass(frozen=True)
class _Phased:
    """The quantities of Algorithm 2, in any number system."""

    target: PrivacyTarget
    n: int
    W: Region | WholeSpace
    dimension: Fraction
    L0: Fraction
    R: Fraction
    length: Fraction
    beta: Fraction | None
    alpha: Fraction | None
    tuned: bool

    def rho(self, K: Numbers) -> Real:
        """ρ = ε/(2√ln(1/δ))."""
        return K(self.target.epsilon) / (2 * self.target.log_root(K))

    def eta(self, K: Numbers, k: int) -> Real:
        """η_k: that of lines 4 and 5, or the one that the tight noise prefers."""
        if self.tuned:
            mu = gaussian_mu(K, self.target.epsilon, self.target.delta)
            G = K(self.L0) * K(self.R)
            return tuned_step(K, self.n, int(self.dimension), G, K(self.length), mu) / 4**k
        least = K.min(self.rho(K) / K.sqrt(K(self.dimension)), 1 / K.sqrt(K(self.n)))
        return K(self.length) / (3 * K(self.L0) * K(self.R)) * least / 4**k

    def smoothing(self, K: Numbers) -> OracleParameters:
        """β as the statement (printed) or as the proof has it, α as the theorem has it, unless given."""
        if self.beta is not None:
            beta = K(self.beta)
        elif self.target.printed:
            beta = theorem_beta_printed(K, self.n, self.L0, self.R)
        else:
            beta = theorem_beta(K, self.n, self.L0, self.R, self.length)
        alpha = theorem_alpha(K, self.n, self.L0, self.R) if self.alpha is None else K(self.alpha)
        return OracleParameters(beta, alpha, K(self.L0), K(self.R))

    def curvature(self, K: Numbers) -> Any:
        """η₁βR²: (D/12)·min(ρ√(n/d), 1) with the printed β, a D-th of it with the proof's; rational if the min is 1."""
        if self.beta is not None or self.tuned:
            return self.eta(K, 1) * self.smoothing(K).beta * K(self.R) * K(self.R)
        share = K.min(self.rho(K) * K.sqrt(K(self.n) / K(self.dimension)), K(1))
        return share * (self.length if self.target.printed else 1) / 12

    def run(self, K: Numbers) -> PhasedParameters:
        """The run that the scales are for, with any oracle that is sound, and the printed noise."""
        free, W = isinstance(self.W, WholeSpace), cast(FeasibleSet, self.W)
        made = PhasedParameters(
            K=K,
            n=self.n,
            gll=NO_LOSS,
            W=W,
            start=K.zeros(W.dim if free else 0),
            epsilon=K(self.target.epsilon),
            delta=K(self.target.delta),
            D=None if free else K(self.length),
            rank=K(self.dimension) if free else None,
            smoothing=self.smoothing(K),
            oracle=closed_form_oracle,
            sigma=sigma_printed,
            average="last",
            unproven=True,
        )
        return replace(made, stretch=self.eta(K, 0) / step_size(K, made)) if self.tuned else made

    def moved(self, K: Numbers, k: int) -> Real:
        """Δ_k: how far one record moves the average of phase k, as it is computed. Without the clip ‖O‖ may be L0R + α
        (printed).
        """
        p, eta, T = self.smoothing(K), self.eta(K, k), phase_lengths(self.n)[k - 1]
        bound = average_bound(K, eta, T, p) + phase_reserve(K, self.run(K), eta, T)
        return bound + 2 * eta * p.alpha if self.target.printed else bound

    def sigma(self, k: int) -> float:
        """σ_k: 4L0Rη_k/ρ, or Δ_k/μ* (tight), raised as a run raises it."""
        if self.target.variant == "tight":
            K = self.target.work(WORK.bits)
            return at_least(self.moved(K, k) * TIGHT_ROOM / gaussian_mu(K, self.target.epsilon, self.target.delta))
        return nearest(4 * WORK(self.L0) * WORK(self.R) * self.eta(WORK, k) / self.rho(WORK))

    def require_proof(self) -> None:
        """What a run asks of σ_k as printed."""
        K, lengths = self.target.work(), phase_lengths(self.n)
        etas = tuple(self.eta(K, k) for k in range(1, len(lengths) + 1))
        phased_noise.require_proof(K, self.run(K), self.rho(K), etas, lengths)


@ACCOUNTANTS.of("Alg:phased")
def phased_account(
    target: PrivacyTarget,
    *,
    n: int = 65536,
    d: int = 10,
    L0: Exact = 1,
    R: Exact = 1,
    D: Exact | None = 1,
    rank: Exact | None = None,
    beta: Exact | None = None,
    alpha: Exact | None = None,
    oracle: str = "sound",
    step: str = "theorem",
    reach: Exact | None = None,
) -> Account:
    """Phased SGD: σ_k a phase, μ_k = Δ_k/σ_k. D = None is the unconstrained setting (then `rank` bounds the rank).

    `step`: η of lines 4 and 5 ("theorem"), or in the tight variant the η that its risk bound prefers ("tuned",
    `reference.convex.sensitivity.tuned_parameters`; D must be given). Noise is compared per unit of η.

    `oracle`: "sound" is what Lemma 5 claims, α-accurate and bounded. The printed Algorithm 1 returns 0 on every input
    ("printed": nothing depends on the data); with its comparison turned round and its β/2 restored it still halves
    on quarter points ("halving": its error reaches √2 − 1 times L0R, and privacy is lost).
    """
    require(oracle in ORACLES, "oracle", oracle, f"be one of {', '.join(ORACLES)}")
    require(step in ("theorem", "tuned"), "step", step, "be theorem or tuned")
    tuned = step == "tuned" and target.variant == "tight"
    require(not tuned or D is not None, "D", D, "be given for a tuned step", "the unconstrained distance is unknown")
    dimension = Fraction(whole("d", d)) if D is not None else positive("rank", n if rank is None else rank)
    at = _Phased(
        target,
        whole("n", n, 2),
        WholeSpace(whole("d", d)) if D is None else region(d, reach, positive("D", D)),
        dimension,
        positive("L0", L0),
        positive("R", R),
        Fraction(1) if D is None else positive("D", D),
        None if beta is None else positive("beta", beta),
        None if alpha is None else nonnegative("alpha", alpha),
        tuned,
    )
    far = at.W.far if isinstance(at.W, Region) else 0
    require_sizes(target.numbers, L0=at.L0, R=at.R, D=at.length, reach=far)
    conditions = _phased_conditions(at, oracle)
    sigmas = [at.sigma(k) for k in range(1, len(phase_lengths(n)) + 1)]
    scales = tuple(Scale("sigma_k", f"k={k}", s, "normal") for k, s in enumerate(sigmas, 1))
    eta = f"η = {nearest(4 * at.eta(WORK, 1)):.6g} ({'tuned to the tight noise' if tuned else 'lines 4 and 5'})"
    note = f"{eta}; η₁βR² = {nearest(at.curvature(WORK)):.4g}; oracle: {ORACLES[oracle]}"
    note += "; noise is compared per unit of η" if tuned else ""
    known = _known_pair(at, d) if not conditions[0].holds and D is not None else ""
    notes = (note, known) if known else (note,)
    per_step = tuple(sigma / nearest(at.eta(WORK, k)) for k, sigma in enumerate(sigmas, 1))
    profile = guarded(PrivacyProfile(_phased_rule(at, sigmas, oracle)), conditions)
    return Account("Alg:phased", target, scales, profile, conditions, notes, per_step, known)


def _phased_rule(at: _Phased, sigmas: list[float], oracle: str) -> Rule:
    if oracle == "printed":
        return constant_rule("the printed oracle returns 0: the output does not depend on the data")

    def mu(K: Ball) -> BallScalar:
        moved = [at.moved(at.target.work(K.bits), k) for k in range(1, len(sigmas) + 1)]
        return largest_of(K, [far / Fraction(s) for far, s in zip(moved, sigmas, strict=True)])  # type: ignore[no-any-return]

    return gaussian_rule(mu, "one Gaussian release a phase, a record in one phase: exact δ_G of the worst", exact=False)


def _phased_conditions(at: _Phased, oracle: str) -> tuple[Condition, ...]:
    curvature, root, epsilon = at.curvature(WORK), at.target.log_root(WORK), WORK(at.target.epsilon)
    found = [
        Condition(
            f"η₁βR² ≤ 2 (here {nearest(curvature):.4g}), so that steps do not expand",
            WORK.le(curvature, WORK(2)),
            "use β = √n·L0/(RD), as the proof has it; the corrected variant does",
        ),
        Condition(
            "the oracle is α-accurate, so that neighbouring runs stay together",
            oracle != "halving",
            "bisect on subgradients, as the corrected Algorithm 1 does",
        ),
    ]
    if at.target.variant != "tight":
        text = f"ε ≤ √ln(1/δ) = {nearest(root):.6g}, as Algorithm 2 requires"
        found.append(Condition(text, WORK.le(epsilon, root), "lower ε or δ; tight needs no such condition"))
    if at.target.printed:
        text = f"n = {at.n} is a power of two, so that T_k = n/2^k"
        found.append(Condition(text, at.n & (at.n - 1) == 0, "corrected rounds T_k down"))
    if at.target.variant != "tight" and at.target.rounded and all(c.holds for c in found):
        found += accepted(at.target, "σ_k as printed", at.require_proof)
    return tuple(found)


def _known_pair(at: _Phased, d: int) -> str:
    """The δ of the pair that is known to part when steps expand: d = 2, (1, 1e-6), n small enough to be run; or ""."""
    plain = at.beta is None and at.alpha is None and at.L0 == 1 and at.R == 1 and d == 2
    small = at.n <= 4096 and at.n & (at.n - 1) == 0 and at.length.denominator == 1
    if not plain or not small or at.target.epsilon != 1 or at.target.delta != Fraction(1, 10**6):
        return ""
    from reference.convex.counterexamples import expanding_shift  # needed in this one case; it loads all errata

    shift = expanding_shift(at.n, int(at.length))
    return f"neighbours are known with δ(1) ≥ {shift.delta(1):.4g} (outputs {shift.mu:.4g} deviations apart)"


# ------------------------------------------------------------------------------------------ Algorithm 3


@ACCOUNTANTS.of("Alg:nfw")
def frank_wolfe_account(
    target: PrivacyTarget,
    *,
    n: int = 65536,
    J: int = 20,
    L0: Exact = 1,
    R: Exact = 1,
    D: Exact = 1,
    T: int | None = None,
    d: int = 10,
    beta: Exact | None = None,
    alpha: Exact | None = None,
    noise: str = "best",
    reach: Exact | None = None,
) -> Account:
    """Noisy Frank–Wolfe: ε0 = range/s a step; T − 1 steps reach the printed output w_T, T the corrected one.

    d, β and the reach of W enter what rounding adds, and nothing else.
    """
    whole("n", n, 2)
    unit = positive("L0", L0) * positive("R", R) * positive("D", D) / n
    require(noise in ("best", "laplace", "gumbel"), "noise", noise, "be best, laplace or gumbel")
    steps, conditions = _frank_wolfe_steps(target, n, whole("J", J), T)
    W, longer = region(whole("d", d), reach, positive("D", D)), _longer(target, n, positive("D", D), alpha)
    given = None if beta is None else positive("beta", beta)
    at = _Wolfe(target, n, J, positive("L0", L0), positive("R", R), positive("D", D), steps, W, given)
    require_sizes(target.numbers, L0=at.L0, R=at.R, D=at.D, reach=W.far)
    s, kind = _frank_wolfe_scale(at, noise, unit)
    releases = steps - 1 if target.printed else steps
    if target.variant != "tight" and target.rounded and all(c.holds for c in conditions):
        K = target.work()
        run = replace(at.run(K, kind, K(s)), epsilon=K(target.epsilon), delta=K(target.delta))
        conditions += accepted(target, "s as printed", lambda: nfw.require_proof(K, run))

    def loss(K: Ball) -> BallScalar:
        run = at.run(target.work(K.bits), kind)
        rounding, tail = selection_terms(run.K, run)
        return (nfw.score_range(K, run) + longer(K) + rounding) / Fraction(s) + tail  # type: ignore[no-any-return]

    rule = _frank_wolfe_rule(loss, releases, kind)
    note = f"T = {steps}, {releases} selections reach the output, ε0 = {nearest(loss(WORK)):.6g} a step"
    return Account(
        "Alg:nfw",
        target,
        (Scale("s", f"t=1..{steps}", s, kind),),
        guarded(PrivacyProfile(rule), conditions),
        conditions,
        (note,),
        (s,),
    )


def _frank_wolfe_steps(target: PrivacyTarget, n: int, J: int, T: int | None) -> tuple[int, tuple[Condition, ...]]:
    """T (the theorem's, rounded, unless given) and the conditions under which it means something."""
    vertices = Condition(f"J ≥ 2 (here {J}): T divides by ln J", J >= 2, "with one vertex there is nothing to choose")
    if T is not None or J < 2:
        return 1 if T is None else whole("T", T), (vertices,)
    K = WORK
    real = n * K(target.epsilon) / (K.log(K(J)) * K.log(K(n)) * target.log_root(K))
    text = f"T = nε/(ln J · ln n · √ln(1/δ)) ≥ 1 (here {nearest(real):.4g})"
    enough = Condition(text, K.le(K(1), real), "raise n or ε, or give T")
    return theorem_steps(K, n, J, target.epsilon, target.delta), (vertices, enough)


@dataclass(frozen=True)
class _Wolfe:
    """The quantities of Algorithm 3."""

    target: PrivacyTarget
    n: int
    J: int
    L0: Fraction
    R: Fraction
    D: Fraction
    steps: int
    W: Region
    beta: Fraction | None

    def run(self, K: Numbers, noise: SelectionNoise, s: Real = None) -> FrankWolfeParameters:
        """The run that the scale is for, with any oracle that is sound; ε and δ stay exact."""
        epsilon, delta, L0, R, D = (K(x) for x in (self.target.epsilon, self.target.delta, self.L0, self.R, self.D))
        J = max(self.J, 2)  # with one vertex nothing is guaranteed, and no β follows from the text
        beta = nfw.theorem_beta(K, self.n, J, epsilon, delta, L0, R, D) if self.beta is None else K(self.beta)
        smoothing = OracleParameters(beta, nfw.theorem_alpha(K, self.n, L0, R), L0, R)
        return FrankWolfeParameters(
            K=K,
            n=self.n,
            gll=NO_LOSS,
            W=cast(FeasibleSet, self.W),
            J=J,
            start=K.zeros(0),
            epsilon=self.target.epsilon,
            delta=self.target.delta,
            D=D,
            T=self.steps,
            smoothing=smoothing,
            oracle=closed_form_oracle,
            noise=noise,
            s=s,
            unproven=True,
        )


def _longer(target: PrivacyTarget, n: int, D: Fraction, alpha: Exact | None) -> Callable[[Numbers], Real]:
    """What the printed oracle adds to the range of the scores: without a clip it may be α longer at each end."""

    def longer(K: Numbers) -> Real:
        if not target.printed:
            return K(0)
        accuracy = theorem_alpha_printed(K, n) if alpha is None else K(nonnegative("alpha", alpha))
        return 2 * K(D) * accuracy / n

    return longer


def _frank_wolfe_scale(at: _Wolfe, noise: str, unit: Fraction) -> tuple[float, Literal["laplace", "gumbel"]]:
    """s as printed, or the least that the run's own rule gives: of the noise asked for, or of the better one."""
    target, K = at.target, at.target.work(WORK.bits)
    if target.variant != "tight":
        root = WORK.sqrt(8 * at.steps * log_inverse(WORK, target.delta))
        return nearest(3 * WORK(unit) * root / WORK(target.epsilon)), "laplace"
    laplace = at_least(nfw.scale_tight(at.run(K, "laplace"), K))
    if noise == "laplace":
        return laplace, "laplace"
    gumbel = at_least(nfw.scale_tight(at.run(K, "gumbel"), K))
    return (laplace, "laplace") if noise == "best" and laplace <= gumbel else (gumbel, "gumbel")


def _frank_wolfe_rule(loss: Callable[[Ball], BallScalar], releases: int, kind: str) -> Rule:
    if not releases:
        return constant_rule("w_1 is returned: no selection reaches the output")
    if kind == "laplace":
        return kov_rule(loss, releases)
    zcdp = zcdp_rule(lambda K: loss(K) * loss(K) * releases / 8, "zCDP of bounded range, optimal order")
    return smallest([zcdp, kov_rule(loss, releases)])
