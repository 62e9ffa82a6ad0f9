"""Accountants of Section 4: Algorithm 4 (decaying trajectories of noisy minima), Algorithm 5 (Gaussian releases)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from flint import arb, fmpq

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
from audit.accounting.profiles import (
    PrivacyProfile,
    Rule,
    TrajectoryLoss,
    gaussian_rule,
    largest,
    pure_rule,
    smallest,
    zcdp_rule,
)
from reference.numerics.numbers import Ball, BallScalar, Exact, Float64, Numbers, Real
from reference.numerics.preconditions import nonnegative, positive, require, whole
from reference.privacy import gaussian_mu_safe, log_inverse
from reference.smooth.calibration import (
    corrected_pair_mu,
    dimension_factor,
    gaussian_stretch,
    laplace_scale,
    laplace_scale_printed,
    printed_pair_mu,
    tight_deviation,
    tight_scale,
)
from reference.smooth.rounds import samples_bound_printed
from reference.smooth.sensitivity import batch_sizes, record_bound, step_size

MOST_ROUNDS = 18
"""Chosen: the 2^17 steps of the last round are added up one by one; the three variants then take about 15 seconds."""


@dataclass(frozen=True)
class _Loss:
    """L0, L1 and D."""

    L0: Fraction
    L1: Fraction
    D: Fraction

    def bound(self, K: Numbers, k: int) -> Real:
        """c_k: what one record of batch k adds at most."""
        return record_bound(K, k, self.L0, self.L1, self.D)


def _check_rounds(R: int, b: int, n: int | None) -> tuple[Condition, ...]:
    whole("R", R)
    whole("b", b)
    require(R <= MOST_ROUNDS, "R", R, f"be at most {MOST_ROUNDS}", "the 2^R steps of a round are added up one by one")
    need = 2 ** (R - 1)
    text = f"b ≥ 2^(R−1) = {need} (here {b}), so that every batch has a record"
    found = [Condition(text, b >= need, "lower R or raise b")]
    if n is not None:
        bound = samples_bound_printed(R, whole("b", b))
        text = f"bR² = {bound} ≤ n = {whole('n', n)}, so that batches are disjoint"
        found.append(Condition(text, bound <= n, f"lower b to {n // (R * R)}"))
    return tuple(found)


# ------------------------------------------------------------------------------------------ Algorithm 4


@ACCOUNTANTS.of("alg:polySFW")
def poly_account(
    target: PrivacyTarget,
    *,
    R: int = 4,
    b: int = 4096,
    n: int | None = None,
    L0: Exact = 1,
    L1: Exact = 1,
    D: Exact = 1,
    noise: str = "gumbel",
) -> Account:
    """polySFW: s_r a round; a record of batch k loses 2D·c_k·P_{k,t}/(m_k·s_r) at step t ≥ k of its round."""
    conditions = _check_rounds(R, b, n)
    loss = _Loss(nonnegative("L0", L0), nonnegative("L1", L1), positive("D", D))
    require(loss.L0 + loss.L1 * loss.D > 0, "L0", L0, "not vanish together with L1", "a constant loss needs no noise")
    require(noise in ("laplace", "gumbel"), "noise", noise, "be laplace or gumbel")
    kind: Literal["laplace", "gumbel"] = "gumbel" if target.variant == "tight" and noise == "gumbel" else "laplace"
    if target.printed:
        text = "δ ≤ 1/e, so that √ln(1/δ) ≥ 1 (Theorem 10 fails beyond)"
        small = WORK.le(WORK(1), log_inverse(WORK, target.delta))
        conditions += (Condition(text, small, "corrected takes max(√ln(1/δ), 1)"),)
    rounds = [_Round(target, r, b, loss, kind) for r in range(R)]
    sharper = _WorstRound([r.trajectory() for r in rounds]) if kind == "laplace" else None
    profile = PrivacyProfile(largest([r.rule() for r in rounds]), sharper)
    scales = tuple(Scale("s_r", f"r={i}", r.scale, kind) for i, r in enumerate(rounds))
    return Account(
        "alg:polySFW", target, scales, guarded(profile, conditions), conditions, (), tuple(s.value for s in scales)
    )


class _Round:
    """One round of Algorithm 4: its scale, and what a record can lose in it."""

    def __init__(self, target: PrivacyTarget, r: int, b: int, loss: _Loss, kind: Literal["laplace", "gumbel"]):
        self.steps, self.loss, self.kind = 2**r, loss, kind
        ceilings = batch_sizes(b, self.steps)
        printed = tuple(Fraction(b, t + 1) for t in range(self.steps))  # weight (t+1)/b, whatever the batch holds
        self.sizes: tuple[Any, ...] = printed if target.printed else ceilings
        constants = (loss.L0, loss.L1, loss.D, target.epsilon, target.delta)
        if target.variant == "tight":  # raised by 1 + 2^-40 there; the profile is certified on balls in any case
            self.scale = float(tight_scale(Float64(), self.steps, b, *constants, kind))
        else:
            rule = laplace_scale_printed if target.printed else laplace_scale
            self.scale = nearest(rule(WORK, r, b, *constants))

    def sums(self, K: Ball) -> tuple[BallScalar, BallScalar]:
        """max_k Σ_t and max_k Σ_t(·)² of 2D·(c_k/m_k)·P_{k,t}/s."""
        plain, squared = _unit_sums(K.bits, self.sizes, self.loss)
        unit = 2 * K(self.loss.D) / Fraction(self.scale)
        return plain * unit, squared * unit * unit

    def rule(self) -> Rule:
        """Pure DP by the plain sum, zCDP by the sum of squares (an eighth for Gumbel noise, a half for Laplace)."""
        share = 8 if self.kind == "gumbel" else 2
        pure = pure_rule(lambda K: self.sums(K)[0], f"pure DP of the transcript, round of {self.steps}")
        name = f"zCDP of {self.kind} noise at the optimal order, round of {self.steps}"
        return smallest([pure, zcdp_rule(lambda K: self.sums(K)[1] / share, name)])

    def trajectory(self) -> TrajectoryLoss:
        """dp-accounting's composition of the same losses."""
        K, unit = Float64(), 2 * float(self.loss.D) / self.scale
        return TrajectoryLoss([unit * self.loss.bound(K, k) / float(m) for k, m in enumerate(self.sizes)])


@lru_cache(maxsize=64)
def _unit_sums(bits: int, sizes: tuple[Any, ...], loss: _Loss) -> tuple[BallScalar, BallScalar]:
    """What `reference.smooth.sensitivity.unit_sums` gives, ten times faster: the same recursion on bare Arb numbers."""
    K = Ball(bits)
    plain, squared = K.at_precision(_bare_unit_sums, sizes, loss)
    return BallScalar(K, plain), BallScalar(K, squared)


def _bare_unit_sums(sizes: tuple[Any, ...], loss: _Loss) -> tuple[arb, arb]:
    L0, reach = _arb(loss.L0), _arb(loss.L1 * loss.D)
    plain, squared, first, second = arb(0), arb(0), arb(1), arb(1)
    eta = arb(len(sizes)).rsqrt()  # η_k at k = T − 1
    for k in range(len(sizes) - 1, -1, -1):
        before = arb(k).rsqrt() if k else arb(1)
        bound = L0 if k == 0 else (1 - eta) * (reach * before).min(2 * L0) + eta * L0
        weight = bound / _arb(sizes[k])
        plain, squared = plain.max(weight * first), squared.max(weight * weight * second)
        first, second = 1 + (1 - eta) * first, 1 + (1 - eta) * (1 - eta) * second
        eta = before
    return plain, squared


def _arb(x: int | Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


class _WorstRound(TrajectoryLoss):
    """Several rounds in parallel: the worst of their trajectories."""

    def __init__(self, rounds: Sequence[TrajectoryLoss]):
        self.rounds = rounds

    def worst(self, epsilon: float) -> tuple[float, int, int]:
        """The largest bound, and its block of batches."""
        return max(r.worst(epsilon) for r in self.rounds)


# ------------------------------------------------------------------------------------------ Algorithm 5


@ACCOUNTANTS.of("alg:nSFW")
def noisy_account(
    target: PrivacyTarget,
    *,
    R: int = 4,
    b: int = 4096,
    n: int | None = None,
    d: int = 10,
    p: Exact = 2,
    L0: Exact = 1,
    L1: Exact = 1,
    D: Exact = 1,
) -> Account:
    """nSFW: each batch is released once (twice for t ≥ 1: Δ̃ and g̃); a record is in one batch."""
    conditions = _check_rounds(R, b, n)
    p = positive("p", p)
    require(1 < p <= 2, "p", p, "lie in (1, 2]", "Algorithm 5 is for these p; for p = 1 use Algorithm 4")
    at = _Noisy(
        target, 2 ** (R - 1), b, whole("d", d), p, _Loss(positive("L0", L0), positive("L1", L1), positive("D", D))
    )
    scales, magnitude = at.tight_scales() if target.variant == "tight" else at.pair_scales()
    rule = at.tight_rule(scales) if target.variant == "tight" else at.pair_rule()
    slip = "σ̂ uses η_t, the iterates move by up to D·η_{t−1}: at t = 1 the pair has μ² = 3ε²/(4 ln(1/δ))"
    notes = (slip,) if target.printed and at.steps > 1 else ()
    return Account("alg:nSFW", target, scales, guarded(PrivacyProfile(rule), conditions), conditions, notes, magnitude)


@dataclass(frozen=True)
class _Noisy:
    """The batches of the last round of Algorithm 5, which contains those of all rounds."""

    target: PrivacyTarget
    steps: int
    b: int
    d: int
    p: Fraction
    loss: _Loss

    def tight_scales(self) -> tuple[tuple[Scale, ...], tuple[float, ...]]:
        """One deviation a step: 2c_t·d^{1/p−1/2}/(m_t·μ*)."""
        mu = WORK(gaussian_mu_safe(self.target.epsilon, self.target.delta))
        sizes = batch_sizes(self.b, self.steps)
        bounds = [self.loss.bound(WORK, t) for t in range(self.steps)]
        sigmas = [at_least(tight_deviation(WORK, m, c, self.d, self.p, mu)) for m, c in zip(sizes, bounds, strict=True)]
        return tuple(Scale("sigma", f"t={t}", s, "normal") for t, s in enumerate(sigmas)), tuple(sigmas)

    def tight_rule(self, scales: Sequence[Scale]) -> Rule:
        """One Gaussian release a batch."""
        sizes = batch_sizes(self.b, self.steps)

        def mu(K: Ball) -> BallScalar:
            factor = 2 * dimension_factor(K, self.d, self.p)
            values = [factor * self.loss.bound(K, t) / (m * Fraction(scales[t].value)) for t, m in enumerate(sizes)]
            return largest_of(K, values)  # type: ignore[no-any-return]

        return gaussian_rule(mu, "one Gaussian release a batch: exact δ_G")

    def stretches(self, K: Numbers) -> tuple[Real, Real]:
        """By how much the corrected deviations exceed the constant 16, at t = 0 and later."""
        if self.target.printed:
            return K(1), K(1)
        e, d = self.target.epsilon, self.target.delta
        return gaussian_stretch(K, e, d, 1), gaussian_stretch(K, e, d, 2)

    def made_for(self, K: Numbers, t: int) -> Real:
        """η_t (printed) or η_{t−1}: the step that σ̂ is made for."""
        return step_size(K, t if self.target.printed else t - 1)

    def pair_scales(self) -> tuple[tuple[Scale, ...], tuple[float, ...]]:
        """σ_t and, for t ≥ 1, σ̂_t; and the deviation of (1−η)N̂ + ηN, which reaches the estimate."""
        K = WORK
        unit = 4 * dimension_factor(K, self.d, self.p) * self.target.log_root(K) / (self.b * K(self.target.epsilon))
        first, later = self.stretches(K)
        scales, magnitude = [], []
        for t in range(self.steps):
            sigma = total = unit * K(self.loss.L0) * (t + 1) * (later if t else first)
            scales.append(Scale("sigma", f"t={t}", at_least(sigma), "normal"))
            if t:
                hat = unit * K(self.loss.L1) * K(self.loss.D) * self.made_for(K, t) * (t + 1) * later
                scales.append(Scale("sigma_hat", f"t={t}", at_least(hat), "normal"))
                eta = step_size(K, t)
                total = K.sqrt((1 - eta) * (1 - eta) * hat * hat + eta * eta * sigma * sigma)
            magnitude.append(nearest(total))
        return tuple(scales), tuple(magnitude)

    def pair_rule(self) -> Rule:
        """Two Gaussian releases of one batch, together one Gaussian release."""
        index = "t = 1, σ̂ made for η_t" if self.target.printed else "t ≥ 1, σ̂ made for η_{t−1}"
        pair = f"two Gaussian releases of one batch ({index}): exact δ_G"
        name = pair if self.steps > 1 else "one Gaussian release: exact δ_G"
        return gaussian_rule(self.worst_mu, name, exact=self.target.printed)

    def worst_mu(self, K: Ball) -> BallScalar:
        """The largest μ over the batches, printed or corrected.

        g̃ has sensitivity/deviation ε/(2√L)/stretch; Δ̃ has the same times min{L1·D·η_{t−1}, 2L0}/(L1·D·η), η the step
        that σ̂ is made for: where L1·D·η_{t−1} > 2L0 the difference cannot be longer than 2L0.
        """
        e, d = self.target.epsilon, self.target.delta
        base, (first, later) = K(e) / (2 * self.target.log_root(K)), self.stretches(K)
        if self.steps == 1:
            return base / first  # type: ignore[no-any-return]
        if 2 * self.loss.L0 >= self.loss.L1 * self.loss.D:
            pair = printed_pair_mu(K, 1, e, d) if self.target.printed else corrected_pair_mu(K, e, d)
        else:
            pair = base * K.sqrt(largest_of(K, [1 + self._variation(K, t) for t in range(1, self.steps)]))
        return K.max(base / first, pair / later)  # type: ignore[no-any-return]

    def _variation(self, K: Ball, t: int) -> Real:
        reach = K(self.loss.L1) * K(self.loss.D)
        ratio = K.min(reach * step_size(K, t - 1), 2 * K(self.loss.L0)) / (reach * self.made_for(K, t))
        return ratio * ratio
