"""Upper bounds: what each of the six algorithms costs in privacy, in each variant, from its per-step sensitivities.

`account(algorithm, variant, epsilon, delta, **parameters)` gives the noise scales that the variant uses for the target
(ε,δ), and the `PrivacyProfile` that these scales really have. A profile comes from the sharpest rule that applies:

==============  ==========================================================================================
Alg:gll_oracle  no noise, no release of its own
Alg:phased      one Gaussian release a phase, a record is in one phase: exact δ_G at μ = max_k Δ_k/σ_k
Alg:nfw         T adaptive report-noisy-min steps: optimal composition (Laplace), zCDP (Gumbel)
alg:polySFW     one record acts on step t ≥ k of one round with loss u_k·P_{k,t}: pure sum, zCDP, and for Laplace
                noise dp-accounting's pessimistic composition over the worst k
alg:nSFW        Gaussian releases of one batch: exact δ_G at the worst step; as printed, with random batches, the
                average of δ_G over the record's batch
Alg:PGPSMD      T Gaussian releases of one batch: exactly one Gaussian release
==============  ==========================================================================================

Neighbours are replace-one; batches and phases are disjoint and chosen without looking at the data, so rounds compose in
parallel. A variant whose theorem needs a condition that fails gets no profile: the account says which condition.
An account is for runs in one number system (binary64 unless given): what that rounds is in the sensitivities, by the
run's own formulas, and a scale of the text that such a run refuses is a condition that fails.
Scales are binary64; where the variant is ours they are rounded up, and the profile belongs to the rounded number.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from audit.accounting import convex, smooth, weakly_convex
from audit.accounting.account import ACCOUNTANTS, EXACT, Account, Condition, PrivacyTarget, Scale
from audit.accounting.profiles import PrivacyProfile
from reference.numerics.numbers import MP, Float64, Numbers
from reference.numerics.preconditions import exact, positive, require
from reference.paper.algorithms import EDITIONS, Edition, named

__all__ = [
    "ACCOUNTANTS",
    "EXACT",
    "Account",
    "Condition",
    "PrivacyProfile",
    "PrivacyTarget",
    "Scale",
    "account",
    "checked_target",
    "convex",
    "noise_ratio",
    "run_numbers",
    "smooth",
    "weakly_convex",
]


def checked_target(epsilon: Any, delta: Any) -> tuple[Fraction, Fraction]:
    """ε > 0 and 0 < δ < 1, exactly; a δ below binary64's range is given as a decimal string."""
    e, d = positive("epsilon", epsilon), exact("delta", delta)
    require(0 < d < 1, "delta", delta, "lie strictly between 0 and 1", "δ = 0 is pure DP, δ ≥ 1 promises nothing")
    return e, d


def account(
    algorithm: str, variant: Edition, epsilon: Any, delta: Any, *, numbers: Numbers | None = None, **parameters: Any
) -> Account:
    """Noise scales and certified guarantee of an algorithm.

    Args:
        algorithm: its label, name or number ("Alg:phased", "phased-sgd", "Algorithm 2").
        variant: whose scales: "printed", "corrected", or "tight", the least that are proven to suffice.
        epsilon: ε > 0 of the target; like δ an int, a Fraction, a float, or a decimal string, which is exact.
        delta: 0 < δ < 1 of the target.
        numbers: what the run computes with; binary64 unless given (`run_numbers`), `EXACT` for no rounding at all.
        parameters: those of the algorithm (n, d, L0, …), by the paper's names; each has a default.

    Returns:
        The scales, the privacy profile that they really have (none where a condition of the theorem fails), the
        conditions, and `verdict`.

    >>> found = account("phased-sgd", "tight", 1, "1e-6", n=1024, d=2)
    >>> found.verdict, round(found.scales[0].value, 3), found.profile.certified_epsilon(Fraction(1, 10**6)) <= 1
    ('private', 0.023, True)
    """
    require(variant in EDITIONS, "variant", variant, f"be one of {', '.join(EDITIONS)}")
    e, d = checked_target(epsilon, delta)
    target = PrivacyTarget(variant, e, d, run_numbers(d) if numbers is None else numbers)
    return ACCOUNTANTS[named(algorithm).label](target, **parameters)


def run_numbers(delta: Fraction) -> Numbers:
    """The numbers that a run is taken to compute with: binary64, or 30 digits for a δ that binary64 cannot hold."""
    return Float64() if float(delta) > 0 else MP(30)


def noise_ratio(one: Account, other: Account) -> float | None:
    """How much more noise `one` uses than `other`: the largest quotient over the scales they share; None if none."""
    quotients = [a / c for a, c in zip(one.magnitude, other.magnitude, strict=False) if c > 0]
    return max(quotients) if quotients and math.isfinite(max(quotients)) else None
