"""Upper bounds: what each of the six algorithms costs in privacy, in each variant, from its per-step sensitivities.

`account(algorithm, variant, epsilon, delta, **parameters)` gives the noise scales that the variant uses for the target
(ε,δ), and the `PrivacyProfile` that these scales really have. A profile comes from the sharpest rule that applies:

==============  ==========================================================================================
Alg:gll_oracle  no noise, no release of its own
Alg:phased      one Gaussian release a phase, a record is in one phase: exact δ_G at μ = max_k Δ_k/σ_k
Alg:nfw         T adaptive report-noisy-min steps: optimal composition (Laplace), zCDP (Gumbel)
alg:polySFW     one record acts on step t ≥ k of one round with loss u_k·P_{k,t}: pure sum, zCDP, and for Laplace
                noise dp-accounting's pessimistic composition over the worst k
alg:nSFW        Gaussian releases of one batch: exact δ_G at the worst step
Alg:PGPSMD      T Gaussian releases of one batch: exactly one Gaussian release
==============  ==========================================================================================

Neighbours are replace-one; batches and phases are disjoint and chosen without looking at the data, so rounds compose in
parallel. A variant whose theorem needs a condition that fails gets no profile: the account says which condition.
Scales are binary64; where the variant is ours they are rounded up, and the profile belongs to the rounded number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from audit.accounting.account import VARIANTS, Account, Condition, Scale, Target, Variant
from audit.accounting.convex import frank_wolfe_account, oracle_account, phased_account
from audit.accounting.profiles import PrivacyProfile
from audit.accounting.smooth import noisy_account, poly_account
from audit.accounting.weakly_convex import proximal_account
from reference.numerics.preconditions import exact, positive, require

__all__ = [
    "ACCOUNTANTS",
    "VARIANTS",
    "Account",
    "Condition",
    "PrivacyProfile",
    "Scale",
    "Target",
    "Variant",
    "account",
    "checked_target",
    "noise_ratio",
]

Accountant: TypeAlias = Callable[..., Account]

ACCOUNTANTS: Mapping[str, Accountant] = {
    "Alg:gll_oracle": oracle_account,
    "Alg:phased": phased_account,
    "Alg:nfw": frank_wolfe_account,
    "alg:polySFW": poly_account,
    "alg:nSFW": noisy_account,
    "Alg:PGPSMD": proximal_account,
}
"""By the TeX label of the algorithm; the keyword arguments after the target are the algorithm's own parameters."""


def checked_target(epsilon: Any, delta: Any) -> tuple[Fraction, Fraction]:
    """ε > 0 and 0 < δ < 1, exactly; a δ below binary64's range is given as a decimal string."""
    e, d = positive("epsilon", epsilon), exact("delta", delta)
    require(0 < d < 1, "delta", delta, "lie strictly between 0 and 1", "δ = 0 is pure DP, δ ≥ 1 promises nothing")
    return e, d


def account(algorithm: str, variant: Variant, epsilon: Any, delta: Any, **parameters: Any) -> Account:
    """The account of an algorithm (by its TeX label) in a variant, for the target (ε,δ)."""
    require(algorithm in ACCOUNTANTS, "algorithm", algorithm, f"be one of {', '.join(ACCOUNTANTS)}")
    require(variant in VARIANTS, "variant", variant, f"be one of {', '.join(VARIANTS)}")
    return ACCOUNTANTS[algorithm](Target(variant, *checked_target(epsilon, delta)), **parameters)


def noise_ratio(one: Account, other: Account) -> float | None:
    """How much more noise `one` uses than `other`: the largest quotient over the scales they share; None if none."""
    quotients = [a / c for a, c in zip(one.magnitude, other.magnitude, strict=False) if c > 0]
    return max(quotients) if quotients and math.isfinite(max(quotients)) else None
