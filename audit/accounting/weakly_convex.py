"""Accountant of Section 5: Algorithm 6, whose solver A_sc releases Gaussian gradients."""

from __future__ import annotations

from fractions import Fraction

from audit.accounting.account import ACCOUNTANTS, Account, PrivacyTarget, Scale, at_least
from audit.accounting.profiles import PrivacyProfile, constant_rule, gaussian_rule
from reference.numerics.numbers import Exact
from reference.numerics.preconditions import positive, require, whole
from reference.numerics.rounding import require_sizes
from reference.privacy import gaussian_mu_safe
from reference.weakly_convex.strongly_convex import noise_scale, rounded_sensitivity

CITED = "the paper cites A_sc and prints no noise: its (ε,δ) is the cited theorem's, and no scale follows from the text"


@ACCOUNTANTS.of("Alg:PGPSMD")
def proximal_account(
    target: PrivacyTarget, *, n: int = 65536, R: int = 4, T: int = 100, d: int = 10, p: Exact = 2, L0: Exact = 1
) -> Account:
    """Proximally guided mirror descent: T Gaussian releases on the ⌊n/(R−1)⌋ records of a call are one release.

    R rounds make R − 1 calls of the solver, and R = 1 makes none. With several phases in a call each has its own
    records and its own T: the same formula with the phase's numbers.
    """
    whole("R", R)
    whole("T", T)
    whole("d", d)
    L0, p = positive("L0", L0), positive("p", p)
    require_sizes(target.numbers, L0=L0)
    require(1 <= p <= 2, "p", p, "lie in [1, 2]", "Algorithm 6 is for these p")
    require(whole("n", n) >= R, "n", n, f"be at least R = {R}", "every round needs a record")
    if target.printed:
        return Account("Alg:PGPSMD", target, notes=(CITED,), cited=True)
    if R == 1:
        rule = constant_rule("R = 1: w_1 is returned, no record is read")
        return Account("Alg:PGPSMD", target, (), PrivacyProfile(rule), magnitude=())
    batch, mu = n // (R - 1), gaussian_mu_safe(target.epsilon, target.delta)
    sigma = at_least(noise_scale(target.work(), p, d, L0, batch, T, mu))
    rule = gaussian_rule(
        lambda K: rounded_sensitivity(target.work(K.bits), p, d, L0, batch) * K.sqrt(K(T)) / Fraction(sigma),
        f"{T} Gaussian releases of one batch are one: exact δ_G",
        exact=not target.rounded,
    )
    scale = Scale("sigma", f"{T} steps on {batch} records", sigma, "normal")
    note = f"{R - 1} calls on ⌊n/(R−1)⌋ = {batch} records each, one phase of {T} steps a call"
    return Account("Alg:PGPSMD", target, (scale,), PrivacyProfile(rule), notes=(note,), magnitude=(sigma,))
