"""Accountants of Section 4: Algorithm 4 (decaying trajectories of noisy minima), Algorithm 5 (Gaussian releases)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal

from flint import arb, fmpq

from audit.accounting.account import (
    ACCOUNTANTS,
    EXACT,
    WORK,
    Account,
    Condition,
    PrivacyTarget,
    Reading,
    RunFloat,
    Scale,
    accepted,
    at_least,
    guarded,
    largest_of,
    nearest,
    region,
)
from audit.accounting.profiles import (
    PrivacyProfile,
    Rule,
    TrajectoryLoss,
    averaged_rule,
    gaussian_rule,
    largest,
    pure_rule,
    smallest,
    zcdp_rule,
)
from reference.numerics.numbers import Ball, BallScalar, Exact, Float64, Numbers, Real
from reference.numerics.preconditions import nonnegative, positive, require, whole
from reference.numerics.rounding import require_sizes
from reference.privacy import gaussian_mu_safe, log_inverse
from reference.setting.sets import Region
from reference.smooth.calibration import (
    dimension_factor,
    gaussian_stretch,
    laplace_scale,
    laplace_scale_printed,
    printed_pair_mu,
    tight_deviation,
    tight_scale,
)
from reference.smooth.leaks import GROUPED_FROM, batch_shares
from reference.smooth.rounding import (
    NOTHING,
    Reserve,
    mean_share,
    pair_share,
    release_reserve,
    require_scale,
    round_reserve,
)
from reference.smooth.rounds import samples_bound_printed
from reference.smooth.sensitivity import batch_sizes, record_bound, step_size

MOST_ROUNDS = 18
"""Chosen: the 2^17 steps of the last round are added up one by one; the three variants then take about 15 seconds."""


@dataclass(frozen=True)
class _Loss:
    """L0, L1, D, and the exponent of the norm."""

    L0: Fraction
    L1: Fraction
    D: Fraction
    p: Fraction = Fraction(1)

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
    d: int = 10,
    noise: str = "gumbel",
    reach: Exact | None = None,
) -> Account:
    """polySFW: s_r a round; a record of batch k loses 2D·c_k·P_{k,t}/(m_k·s_r) at step t ≥ k of its round.

    d and the reach of W enter what rounding adds, and nothing else.
    """
    conditions = _check_rounds(R, b, n)
    loss = _Loss(nonnegative("L0", L0), nonnegative("L1", L1), positive("D", D))
    require_sizes(target.numbers, L0=loss.L0, L1=loss.L1, D=loss.D, reach=nonnegative("reach", reach or 0))
    require(loss.L0 + loss.L1 * loss.D > 0, "L0", L0, "not vanish together with L1", "a constant loss needs no noise")
    require(noise in ("laplace", "gumbel"), "noise", noise, "be laplace or gumbel")
    kind: Literal["laplace", "gumbel"] = "gumbel" if target.variant == "tight" and noise == "gumbel" else "laplace"
    if target.printed:
        text = "δ ≤ 1/e or ε ≤ √ln(1/δ), without which Theorem 10 is not proved"
        log = log_inverse(WORK, target.delta)
        small = WORK.le(WORK(1), log) or WORK.le(WORK(target.epsilon) * WORK(target.epsilon), log)
        conditions += (Condition(text, small, "corrected takes max(√ln(1/δ), 1)"),)
    W = region(whole("d", d), reach, loss.D)
    rounds = [_Round(target, r, b, loss, W, kind) for r in range(R)]
    if target.variant != "tight" and target.rounded and all(c.holds for c in conditions):
        for one in rounds:
            conditions += accepted(target, f"s_{one.r} as printed", one.require_scale)
    sharper = _WorstRound([r.trajectory() for r in rounds]) if kind == "laplace" and not target.rounded else None
    profile = PrivacyProfile(largest([r.rule() for r in rounds]), sharper)
    scales = tuple(Scale("s_r", f"r={i}", r.scale, kind) for i, r in enumerate(rounds))
    return Account(
        "alg:polySFW", target, scales, guarded(profile, conditions), conditions, (), tuple(s.value for s in scales)
    )


class _Round:
    """One round of Algorithm 4: its scale, and what a record can lose in it."""

    def __init__(
        self, target: PrivacyTarget, r: int, b: int, loss: _Loss, W: Region, kind: Literal["laplace", "gumbel"]
    ):
        self.target, self.r, self.b, self.W = target, r, b, W
        self.steps, self.loss, self.kind = 2**r, loss, kind
        ceilings = batch_sizes(b, self.steps)
        printed = tuple(Fraction(b, t + 1) for t in range(self.steps))  # weight (t+1)/b, whatever the batch holds
        self.sizes: tuple[Any, ...] = printed if target.printed else ceilings
        constants = (loss.L0, loss.L1, loss.D, target.epsilon, target.delta)
        self.reserve = _upper(round_reserve(target.work(), loss, W, target.work()(loss.D), ceilings))
        if target.variant == "tight":  # raised by `ROUNDING` there; the profile is certified on balls in any case
            K = RunFloat(target.numbers)
            reserve = round_reserve(K, loss, W, K(loss.D), ceilings)
            self.scale = float(tight_scale(K, self.steps, b, *constants, kind, reserve))
        else:
            rule = laplace_scale_printed if target.printed else laplace_scale
            self.scale = nearest(rule(WORK, r, b, *constants))

    def require_scale(self) -> None:
        """What a run asks of s_r as printed."""
        K, target = RunFloat(self.target.numbers), self.target
        given = (K(self.loss.D), self.scale, self.r, self.b, target.epsilon, target.delta)
        require_scale(K, self.loss, self.W, *given)

    def sums(self, K: Ball) -> tuple[BallScalar, BallScalar]:
        """max_k Σ_t and max_k Σ_t(·)² of 2D·(c_k/m_k)·P_{k,t}/s, and what rounding adds to each step."""
        plain, squared = _unit_sums(K.bits, self.sizes, self.loss, Fraction(self.reserve.record))
        unit = 2 * K(self.loss.D) * K(self.reserve.grow) / Fraction(self.scale)
        if not self.target.rounded:
            return plain * unit, squared * unit * unit
        each = K(self.reserve.spread) / Fraction(self.scale) + K(self.reserve.tail)
        root = K.sqrt(squared) * unit + K.sqrt(K(self.steps)) * each
        return plain * unit + self.steps * each, root * root

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


def _upper(reserve: Reserve) -> Reserve:
    """A reserve as rationals that are certainly large enough."""
    if reserve is NOTHING:
        return reserve
    return Reserve(*(Fraction(at_least(x)) for x in (reserve.record, reserve.spread, reserve.tail, reserve.grow)))


@lru_cache(maxsize=64)
def _unit_sums(
    bits: int, sizes: tuple[Any, ...], loss: _Loss, more: Fraction = Fraction(0)
) -> tuple[BallScalar, BallScalar]:
    """What `reference.smooth.sensitivity.unit_sums` gives, ten times faster: the same recursion on bare Arb numbers.

    A record adds `more` than c_k.
    """
    K = Ball(bits)
    plain, squared = K.at_precision(_bare_unit_sums, sizes, loss, more)
    return BallScalar(K, plain), BallScalar(K, squared)


def _bare_unit_sums(sizes: tuple[Any, ...], loss: _Loss, more: Fraction) -> tuple[arb, arb]:
    L0, reach, extra = _arb(loss.L0), _arb(loss.L1 * loss.D), _arb(more)
    plain, squared, first, second = arb(0), arb(0), arb(1), arb(1)
    eta = arb(len(sizes)).rsqrt()  # η_k at k = T − 1
    for k in range(len(sizes) - 1, -1, -1):
        before = arb(k).rsqrt() if k else arb(1)
        bound = L0 if k == 0 else (1 - eta) * (reach * before).min(2 * L0) + eta * L0
        weight = (bound + extra) / _arb(sizes[k])
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
    reach: Exact | None = None,
) -> Account:
    """nSFW: each batch is released once (twice for t ≥ 1: Δ̃ and g̃); a record is in one batch."""
    conditions = _check_rounds(R, b, n)
    p = positive("p", p)
    require(1 < p <= 2, "p", p, "lie in (1, 2]", "Algorithm 5 is for these p; for p = 1 use Algorithm 4")
    loss = _Loss(positive("L0", L0), positive("L1", L1), positive("D", D), p)
    require_sizes(target.numbers, L0=loss.L0, L1=loss.L1, D=loss.D, reach=nonnegative("reach", reach or 0))
    at = _Noisy(target, 2 ** (R - 1), b, region(whole("d", d), reach, loss.D), loss)
    scales, magnitude = at.tight_scales() if target.variant == "tight" else at.pair_scales()
    profile = PrivacyProfile(at.rule(scales, R, n)) if all(c.holds for c in conditions) else None
    notes: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()
    if target.printed and at.steps > 1:
        notes = ("σ̂ uses η_t, the iterates move by up to D·η_{t−1}: at t = 1 the pair has μ² = 3ε²/(4 ln(1/δ))",)
        exact = replace(at, target=replace(target, numbers=EXACT))
        readings = (Reading("batches fixed by index, every noisy vector released", PrivacyProfile(exact.pair_rule())),)
    return Account("alg:nSFW", target, scales, profile, conditions, notes, magnitude, readings=readings)


@dataclass(frozen=True)
class _Noisy:
    """The batches of the last round of Algorithm 5, which contains those of all rounds."""

    target: PrivacyTarget
    steps: int
    b: int
    W: Region
    loss: _Loss

    def factor(self, K: Numbers) -> Real:
        """d^{1/p−1/2}."""
        return dimension_factor(K, self.W.dim, self.loss.p)

    def rule(self, scales: Sequence[Scale], R: int, n: int | None) -> Rule:
        """What bounds the variant's profile."""
        if self.target.variant == "tight":
            return self.tight_rule(scales)
        return self.random_rule(R, n) if self.target.printed else self.pair_rule()

    def tight_scales(self) -> tuple[tuple[Scale, ...], tuple[float, ...]]:
        """One deviation a step: 2c_t·d^{1/p−1/2}/(m_t·μ*)."""
        K = self.target.work()
        mu, sigmas = K(gaussian_mu_safe(self.target.epsilon, self.target.delta)), list[float]()
        for t, size in enumerate(batch_sizes(self.b, self.steps)):
            bound = self.loss.bound(K, t) + self.reserve(K, t, size, sigmas)
            sigmas.append(at_least(tight_deviation(K, size, bound, self.W.dim, self.loss.p, mu)))
        return tuple(Scale("sigma", f"t={t}", s, "normal") for t, s in enumerate(sigmas)), tuple(sigmas)

    def reserve(self, K: Numbers, t: int, size: int, sigmas: Sequence[float]) -> Real:
        """What rounding adds to c_t where the estimate before is no longer than its mean and √d + 40 deviations.

        The noise of steps 0 to t − 1 adds up to at most Σσ times the longest unit draw, which exceeds √d + 40 with
        probability below e^{−800}. A run uses the estimate that it has.
        """
        mean = (2 * K(self.loss.L0) + K(self.loss.L1) * K(self.loss.D)) * self.factor(K)
        noise = sum((Fraction(s) for s in sigmas[:t]), Fraction(0)) * (K.sqrt(K(self.W.dim)) + 40)
        return release_reserve(K, self.loss, self.W, size, mean + noise)

    def tight_rule(self, scales: Sequence[Scale]) -> Rule:
        """One Gaussian release a batch."""
        sizes = batch_sizes(self.b, self.steps)

        sigmas = [scale.value for scale in scales]

        def mu(K: Ball) -> BallScalar:
            K = self.target.work(K.bits)
            moved = [(self.loss.bound(K, t) + self.reserve(K, t, m, sigmas)) / m for t, m in enumerate(sizes)]
            values = [2 * self.factor(K) * far / Fraction(s) for far, s in zip(moved, sigmas, strict=True)]
            return largest_of(K, values)  # type: ignore[no-any-return]

        return gaussian_rule(mu, "one Gaussian release a batch: exact δ_G", exact=not self.target.rounded)

    def stretches(self, K: Numbers) -> tuple[Real, Real]:
        """By how much the corrected deviations exceed the constant 16, at t = 0 and later."""
        if self.target.printed:
            return K(1), K(1)
        e, d, (first, later) = self.target.epsilon, self.target.delta, self.shares
        return gaussian_stretch(K, e, d, 1, K(first)), gaussian_stretch(K, e, d, 2, K(later))

    @cached_property
    def shares(self) -> tuple[Fraction, Fraction]:
        """By what share rounding lengthens the moves, at t = 0 and later; rationals that are large enough."""
        if not self.target.rounded:
            return Fraction(0), Fraction(0)
        K = self.target.work()
        first = mean_share(K, self.loss, self.W, self.b)
        later = pair_share(K, self.loss, self.W, K(self.loss.D), self.b, self.steps)
        return Fraction(at_least(first)), Fraction(at_least(later))

    def made_for(self, K: Numbers, t: int) -> Real:
        """η_t (printed) or η_{t−1}: the step that σ̂ is made for."""
        return step_size(K, t if self.target.printed else t - 1)

    def pair_scales(self) -> tuple[tuple[Scale, ...], tuple[float, ...]]:
        """σ_t and, for t ≥ 1, σ̂_t; and the deviation of (1−η)N̂ + ηN, which reaches the estimate."""
        K = WORK
        unit = 4 * self.factor(K) * self.target.log_root(K) / (self.b * K(self.target.epsilon))
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
        """Two Gaussian releases of one batch, together one Gaussian release; attained if the batch is fixed."""
        index = "t = 1, σ̂ made for η_t" if self.target.printed else "t ≥ 1, σ̂ made for η_{t−1}"
        pair = f"two Gaussian releases of one batch ({index}): exact δ_G"
        name = pair if self.steps > 1 else "one Gaussian release: exact δ_G"
        return gaussian_rule(self.worst_mu, name, exact=self.target.printed and not self.target.rounded)

    def random_rule(self, R: int, n: int | None) -> Rule:
        """The printed noise with random batches: the average over the batch that the record is in, an upper bound."""
        steps, shares = zip(*batch_shares(R, self.b, n), strict=True)
        known = "for every n" if n is None else f"n = {n}"
        name = f"random batches, published or not: average of δ_G over the record's batch ({known})"
        e, d = self.target.epsilon, self.target.delta

        def mus(K: Ball) -> list[BallScalar]:
            """A group of steps has the μ of its first, without the cap of `mu`: that decreases in t."""
            late = K(1 + self.shares[1])
            return [self.mu(K, t) if t < GROUPED_FROM else printed_pair_mu(K, t, e, d) * late for t in steps]

        return averaged_rule(mus, shares, name)

    def worst_mu(self, K: Ball) -> BallScalar:
        """The largest μ over the batches, printed or corrected: at t = 0, or at t = 1 unless differences are capped."""
        capped = 2 * self.loss.L0 < self.loss.L1 * self.loss.D
        later = range(1, self.steps) if capped else range(1, min(2, self.steps))
        return largest_of(K, [self.mu(K, t) for t in (0, *later)])  # type: ignore[no-any-return]

    def mu(self, K: Ball, t: int) -> BallScalar:
        """μ of the releases of a batch of step t.

        g̃ has sensitivity/deviation ε/(2√L)/stretch; Δ̃ has the same times min{L1·D·η_{t−1}, 2L0}/(L1·D·η), η the step
        that σ̂ is made for: where L1·D·η_{t−1} > 2L0 the difference cannot be longer than 2L0.
        """
        base, (first, later) = K(self.target.epsilon) / (2 * self.target.log_root(K)), self.stretches(K)
        if t == 0:
            return base * (1 + self.shares[0]) / first  # type: ignore[no-any-return]
        return base * K.sqrt(1 + self._variation(K, t)) * (1 + self.shares[1]) / later  # type: ignore[no-any-return]

    def _variation(self, K: Ball, t: int) -> Real:
        reach = K(self.loss.L1) * K(self.loss.D)
        ratio = K.min(reach * step_size(K, t - 1), 2 * K(self.loss.L0)) / (reach * self.made_for(K, t))
        return ratio * ratio
