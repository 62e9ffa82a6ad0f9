"""Accountant of Section 5: Algorithm 6, whose solver A_sc releases Gaussian gradients."""

from __future__ import annotations

from fractions import Fraction

from audit.accounting.account import ACCOUNTANTS, WORK, Account, PrivacyTarget, Scale, at_least
from audit.accounting.profiles import PrivacyProfile, gaussian_rule
from reference.numerics.numbers import Exact
from reference.numerics.preconditions import positive, require, whole
from reference.privacy import gaussian_mu_safe
from reference.weakly_convex.strongly_convex import l2_sensitivity, noise_scale

CITED = "the paper cites A_sc and prints no noise: its (ε,δ) is the cited theorem's, and no scale follows from the text"


@ACCOUNTANTS.of("Alg:PGPSMD")
def proximal_account(
    target: PrivacyTarget, *, n: int = 65536, R: int = 4, T: int = 100, d: int = 10, p: Exact = 2, L0: Exact = 1
) -> Account:
    """Proximally guided mirror descent: T Gaussian releases on the ⌊n/R⌋ records of a round are one Gaussian release.

    With several phases in a round each has its own records and its own T: the same formula with the phase's numbers.
    """
    whole("R", R)
    whole("T", T)
    whole("d", d)
    L0, p = positive("L0", L0), positive("p", p)
    require(1 <= p <= 2, "p", p, "lie in [1, 2]", "Algorithm 6 is for these p")
    require(whole("n", n) >= R, "n", n, f"be at least R = {R}", "every round needs a record")
    if target.printed:
        return Account("Alg:PGPSMD", target, notes=(CITED,), cited=True)
    batch, mu = n // R, gaussian_mu_safe(target.epsilon, target.delta)
    sigma = at_least(noise_scale(WORK, p, d, L0, batch, T, mu))
    rule = gaussian_rule(
        lambda K: l2_sensitivity(K, p, d, L0, batch) * K.sqrt(K(T)) / Fraction(sigma),
        f"{T} Gaussian releases of one batch are one: exact δ_G",
    )
    scale = Scale("sigma", f"{T} steps on {batch} records", sigma, "normal")
    return Account("Alg:PGPSMD", target, (scale,), PrivacyProfile(rule), magnitude=(sigma,))
