"""Accountants of Section 3: Algorithm 1 (no noise), Algorithm 2 (a Gaussian a phase), Algorithm 3 (noisy minima)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from audit.accounting.account import (
    ACCOUNTANTS,
    WORK,
    Account,
    Condition,
    PrivacyTarget,
    Scale,
    at_least,
    guarded,
    largest_of,
    nearest,
)
from audit.accounting.profiles import PrivacyProfile, Rule, constant_rule, gaussian_rule, kov_rule, smallest, zcdp_rule
from reference.convex.noisy_frank_wolfe import theorem_alpha_printed, theorem_steps
from reference.convex.oracle import OracleParameters
from reference.convex.phased_sgd import phase_lengths, theorem_alpha, theorem_beta, theorem_beta_printed
from reference.convex.sensitivity import average_bound
from reference.numerics.numbers import Ball, BallScalar, Exact, Numbers, Real
from reference.numerics.preconditions import nonnegative, positive, require, whole
from reference.privacy import gaussian_mu, kov_epsilon0, log_inverse, zcdp_rho

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
    dimension: Fraction
    L0: Fraction
    R: Fraction
    length: Fraction
    beta: Fraction | None
    alpha: Fraction | None

    def rho(self, K: Numbers) -> Real:
        """ρ = ε/(2√ln(1/δ))."""
        return K(self.target.epsilon) / (2 * self.target.log_root(K))

    def eta(self, K: Numbers, k: int) -> Real:
        """η_k."""
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
        if self.beta is not None:
            return self.eta(K, 1) * K(self.beta) * K(self.R) * K(self.R)
        share = K.min(self.rho(K) * K.sqrt(K(self.n) / K(self.dimension)), K(1))
        return share * (self.length if self.target.printed else 1) / 12

    def moved(self, K: Numbers, k: int) -> Real:
        """Δ_k: how far one record moves the average of phase k. Without the clip ‖O‖ may be L0R + α (printed)."""
        p, eta = self.smoothing(K), self.eta(K, k)
        bound = average_bound(K, eta, phase_lengths(self.n)[k - 1], p)
        return bound + 2 * eta * p.alpha if self.target.printed else bound

    def sigma(self, k: int) -> float:
        """σ_k: 4L0Rη_k/ρ, or Δ_k/μ* (tight)."""
        if self.target.variant == "tight":
            return at_least(self.moved(WORK, k) / gaussian_mu(WORK, self.target.epsilon, self.target.delta))
        return nearest(4 * WORK(self.L0) * WORK(self.R) * self.eta(WORK, k) / self.rho(WORK))


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
) -> Account:
    """Phased SGD: σ_k a phase, μ_k = Δ_k/σ_k. D = None is the unconstrained setting (then `rank` bounds the rank).

    `oracle`: "sound" is what Lemma 5 claims, α-accurate and bounded. The printed Algorithm 1 returns 0 on every input
    ("printed": nothing depends on the data); with its comparison turned round and its β/2 restored it still halves
    on quarter points ("halving": its error reaches √2 − 1 times L0R, and privacy is lost).
    """
    require(oracle in ORACLES, "oracle", oracle, f"be one of {', '.join(ORACLES)}")
    dimension = Fraction(whole("d", d)) if D is not None else positive("rank", n if rank is None else rank)
    at = _Phased(
        target,
        whole("n", n, 2),
        dimension,
        positive("L0", L0),
        positive("R", R),
        Fraction(1) if D is None else positive("D", D),
        None if beta is None else positive("beta", beta),
        None if alpha is None else nonnegative("alpha", alpha),
    )
    conditions = _phased_conditions(at, oracle)
    sigmas = [at.sigma(k) for k in range(1, len(phase_lengths(n)) + 1)]
    scales = tuple(Scale("sigma_k", f"k={k}", s, "normal") for k, s in enumerate(sigmas, 1))
    note = f"η₁βR² = {nearest(at.curvature(WORK)):.4g}; oracle: {ORACLES[oracle]}"
    known = _known_pair(at, d) if not conditions[0].holds and D is not None else ""
    notes = (note, known) if known else (note,)
    profile = guarded(PrivacyProfile(_phased_rule(at, sigmas, oracle)), conditions)
    return Account("Alg:phased", target, scales, profile, conditions, notes, tuple(sigmas), known)


def _phased_rule(at: _Phased, sigmas: list[float], oracle: str) -> Rule:
    if oracle == "printed":
        return constant_rule("the printed oracle returns 0: the output does not depend on the data")

    def mu(K: Ball) -> BallScalar:
        return largest_of(K, [at.moved(K, k) / Fraction(s) for k, s in enumerate(sigmas, 1)])  # type: ignore[no-any-return]

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
    alpha: Exact | None = None,
    noise: str = "best",
) -> Account:
    """Noisy Frank–Wolfe: ε0 = range/s a step; T − 1 steps reach the printed output w_T, T the corrected one."""
    whole("n", n, 2)
    unit = positive("L0", L0) * positive("R", R) * positive("D", D) / n
    require(noise in ("best", "laplace", "gumbel"), "noise", noise, "be best, laplace or gumbel")
    steps, conditions = _frank_wolfe_steps(target, n, whole("J", J), T)
    score_range = _score_range(target, unit, n, positive("D", D), alpha)
    s, kind = _frank_wolfe_scale(target, score_range(WORK), steps, noise, unit)
    releases = steps - 1 if target.printed else steps

    def loss(K: Ball) -> BallScalar:
        return score_range(K) / Fraction(s)  # type: ignore[no-any-return]

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


def _score_range(
    target: PrivacyTarget, unit: Fraction, n: int, D: Fraction, alpha: Exact | None
) -> Callable[[Numbers], Real]:
    """2DL0R/n with the clipped oracle; the printed oracle may be α longer at each end."""

    def score_range(K: Numbers) -> Real:
        if not target.printed:
            return 2 * K(unit)
        accuracy = theorem_alpha_printed(K, n) if alpha is None else K(nonnegative("alpha", alpha))
        return 2 * K(unit) + 2 * K(D) * accuracy / n

    return score_range


def _frank_wolfe_scale(
    target: PrivacyTarget, score_range: BallScalar, steps: int, noise: str, unit: Fraction
) -> tuple[float, Literal["laplace", "gumbel"]]:
    epsilon, delta = target.epsilon, target.delta
    if target.variant != "tight":
        return nearest(3 * WORK(unit) * WORK.sqrt(8 * steps * log_inverse(WORK, delta)) / WORK(epsilon)), "laplace"
    laplace = at_least(score_range / kov_epsilon0(WORK, epsilon, delta, steps))
    gumbel = at_least(score_range * WORK.sqrt(steps / (8 * zcdp_rho(WORK, epsilon, delta))))
    if noise == "laplace" or (noise == "best" and laplace <= gumbel):
        return laplace, "laplace"
    return min(laplace, gumbel), "gumbel"


def _frank_wolfe_rule(loss: Callable[[Ball], BallScalar], releases: int, kind: str) -> Rule:
    if not releases:
        return constant_rule("w_1 is returned: no selection reaches the output")
    if kind == "laplace":
        return kov_rule(loss, releases)
    zcdp = zcdp_rule(lambda K: loss(K) * loss(K) * releases / 8, "zCDP of bounded range, optimal order")
    return smallest([zcdp, kov_rule(loss, releases)])
