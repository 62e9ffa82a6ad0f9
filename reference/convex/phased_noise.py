"""The noise of Algorithm 2, computed from the run that uses it, and what a run must have to be proved private.

A phase releases its average with N(0, σ_k²I). `drift` bounds how far one record moves that average; which
bound holds depends on the average, on the oracle, on β and on M, all of them parameters of the run. So a noise rule is
a function of the run (`NoiseRule`), and no rule can be combined with a run that it was not made for. A rule of
somebody's own is held to the same bounds: `require_proof` refuses parameters whose noise is below what their own proof
needs, `PhasedParameters` calls it whenever it is made, also by `dataclasses.replace`, and `unproven=True` is the one
way around it, for experiments with broken parts.

**What is proved.** For the oracles of `SOUND`, M ⊇ {⟨w, x⟩ : w ∈ W, ‖x‖ ≤ R} and η_1βR² ≤ 2 the average moves by at
most Δ_k = `average_bound`; for the corrected search with M = ℝ and η_kβR² ≤ 1 also by at most `iterate_supremum`. Where
numbers are rounded `convex.rounding` says what that adds. The run is (ε, δ)-DP if Δ_k ≤ σ_kμ*(ε, δ) in every phase. (A
run on balls encloses the exact run: it is for checking, since an undecided branch would tell about the data.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from reference.convex.drift import average_bound, iterate_supremum
from reference.convex.moreau import REAL_LINE
from reference.convex.oracle import Oracle, OracleParameters, closed_form_oracle, oracle, value_oracle
from reference.convex.rounding import phase_reserve, quadrature_reserve
from reference.numerics.numbers import INF, Float64, Numbers, Real, certainly
from reference.numerics.preconditions import require
from reference.numerics.rounding import finer, require_range, require_sizes, rounds
from reference.privacy import gaussian_mu, gaussian_mu_safe
from reference.setting.data import FEATURE_SLACK
from reference.setting.sets import FeasibleSet, WholeSpace, require_inside

if TYPE_CHECKING:
    from reference.convex.noisy_frank_wolfe import FrankWolfeParameters
    from reference.convex.phased_sgd import PhasedParameters

NoiseRule: TypeAlias = "Callable[[Numbers, Real, Real, int, PhasedParameters], Real]"
"""(K, ρ, η_k, T_k, the run) → σ_k."""

OURS = "reference.convex."
"""The modules of the noise rules of this package."""

TIGHT_ROOM = 1 + 4 * FEATURE_SLACK
"""Tight scales are raised by this factor: it pays for features longer by `FEATURE_SLACK` and for the rounding of the
scale itself. What rounding adds to a sensitivity is added there (`convex.rounding`).
"""

SOUND = (oracle, value_oracle, closed_form_oracle)
"""The oracles that are proved α-accurate and of norm at most L0R."""

UNPROVEN = "unproven=True runs it all the same, without a guarantee"


# ------------------------------------------------------------------------------------------------- rules


def tight_sigma(K: Numbers, rho: Real, eta_k: Real, T_k: int, p: PhasedParameters) -> Real:
    """σ_k = Δ_k/μ*(ε, δ), Δ_k = `average_bound` of the run and what rounding adds: the least that this bound allows."""
    require_no_expansion(K, eta_k, p.smoothing)
    moved = average_bound(K, eta_k, T_k, p.smoothing, p.average) + phase_reserve(K, p, eta_k, T_k)
    return moved / mu_star(K, p) * K(TIGHT_ROOM)


def quadrature_sigma(K: Numbers, rho: Real, eta_k: Real, T_k: int, p: PhasedParameters) -> Real:
    """The same with `iterate_supremum`, which bounds the average's move too: corrected search, M = ℝ, η_kβR² ≤ 1."""
    require(p.oracle is oracle, "oracle", _name(p), "be the corrected search", "only its drift adds in quadrature")
    moved = iterate_supremum(K, eta_k, T_k, p.smoothing) + quadrature_reserve(K, p, eta_k, T_k)
    return moved / mu_star(K, p) * K(TIGHT_ROOM)


def mu_star(K: Numbers, p: PhasedParameters) -> Real:
    """μ*(ε, δ) of the run; binary64 takes one that is certainly not too large."""
    if isinstance(K, Float64):
        return K(gaussian_mu_safe(p.epsilon, p.delta))
    return gaussian_mu(K, p.epsilon, p.delta)


# ------------------------------------------------------------------------------------- what a proof needs


def proven_move(K: Numbers, eta_k: Real, T_k: int, p: PhasedParameters) -> tuple[Real, Real]:
    """How far one record moves the average of a phase, and the share of rounding in that: the least proved bound."""
    q = p.smoothing
    linear, reserve = average_bound(K, eta_k, T_k, q, p.average), phase_reserve(K, p, eta_k, T_k)
    searched = p.oracle is oracle and q.M == REAL_LINE and K.lt(K(0), q.alpha)
    if not searched or not K.le(eta_k * q.beta * q.R * q.R, K(1)):
        return linear + reserve, reserve
    other, its_reserve = iterate_supremum(K, eta_k, T_k, q), quadrature_reserve(K, p, eta_k, T_k)
    if K.lt(other + its_reserve, linear + reserve):
        return other + its_reserve, its_reserve
    return linear + reserve, reserve


def require_proof(K: Numbers, p: PhasedParameters, rho: Real, etas: tuple[Real, ...], lengths: tuple[int, ...]) -> None:
    """Refuse a run that no proof covers: its oracle, its M, its steps, or a σ_k below Δ_k/μ*."""
    require_sound(p.oracle, UNPROVEN)
    require_exact_values(K, p.oracle)
    require_sizes(K, L0=p.smoothing.L0, R=p.smoothing.R, D=p.scale[0], reach=p.reach)
    require_reach(K, p.smoothing, p.W, 2)
    mu, longer, short = mu_star(K, p), K(1 + FEATURE_SLACK), []
    for k, (eta_k, T_k) in enumerate(zip(etas, lengths, strict=True), start=1):
        require_no_expansion(K, eta_k, p.smoothing)
        require_range(K, f"eta_{k}*L0*R", eta_k * p.smoothing.L0 * p.smoothing.R)
        sigma = p.sigma(K, rho, eta_k, T_k, p)
        moved, rounding = proven_move(K, eta_k, T_k, p)
        if not K.le(moved * longer / mu, sigma):
            short.append(
                (k, sigma, moved * longer / mu, rounding / moved, (rounding, sigma * mu / longer - moved + rounding))
            )
    if short:
        k, sigma, least, share, _ = short[0]
        why = f"one record moves the average of phase {k} that far (rounding in {K} is {K.to_float(share):.0%} of it)"
        ways = [finer(K, [shares for *_, shares in short]), "take tight_sigma", f"or {UNPROVEN}"]
        remedy = f"{why}; {', '.join(way for way in ways if way)}"
        require(False, f"sigma_{k}", K.to_float(sigma), f"be at least {K.to_float(least):.6g}", remedy)


def used_sigma(K: Numbers, rho: Real, eta_k: Real, T_k: int, p: PhasedParameters) -> Real:
    """σ_k as the run's rule gives it now, held to the proof once more unless the run is `unproven`.

    A rule of somebody's own may draw, or count how often it was asked: what it said when the parameters were made is
    not what is added to the average. (Those of this package depend on their arguments alone.)
    """
    sigma = p.sigma(K, rho, eta_k, T_k, p)
    if not p.unproven and not getattr(p.sigma, "__module__", "").startswith(OURS):
        K = K.unwatched
        least = proven_move(K, eta_k, T_k, p)[0] * K(1 + FEATURE_SLACK) / mu_star(K, p)
        remedy = "the noise rule said otherwise when the parameters were made: let it depend on its arguments only"
        require(K.le(least, sigma), "sigma", K.to_float(sigma), f"be at least {K.to_float(least):.6g}", remedy)
    return sigma


def require_coherent(K: Numbers, p: PhasedParameters | FrankWolfeParameters, exponent: int) -> None:
    """Refuse parameters whose parts contradict each other, as copies with one part replaced may: noise is made for
    `smoothing`, records are admitted by `gll`, and the run starts in W.
    """
    require(p.gll.p == exponent, "p", p.gll.p, f"be {exponent}", "features are bounded in the dual norm of that")
    for name, noise, data in (("L0", p.smoothing.L0, p.gll.L0), ("R", p.smoothing.R, p.gll.R)):
        short, remedy = certainly(K.lt, noise, K(data)), "the noise is for smaller gradients: make the parameters anew"
        require(not short, f"smoothing.{name}", K.to_float(noise), f"be at least the loss's {name} = {data}", remedy)
    require_inside(K, p.W, p.start, "start")


def require_sound(call: Oracle, remedy: str = "no bound on the risk holds without that") -> None:
    """The oracle is one of `SOUND`: bounds on privacy and on risk rest on its accuracy."""
    name, why = getattr(call, "__name__", repr(call)), "the printed Algorithm 1 and its halves are no gradients"
    require(any(call is one for one in SOUND), "oracle", name, "be proved α-accurate", f"{why}; {remedy}")


def require_exact_values(K: Numbers, call: Oracle) -> None:
    """The search by values is proved where values are compared exactly: equal digits compare at random."""
    remedy = f"take the search by subgradients (oracle) or the closed form, Ball(bits), or {UNPROVEN}"
    require(call is not value_oracle or not rounds(K), "oracle", "value_oracle", f"not be rounded to {K}", remedy)


def require_no_expansion(K: Numbers, eta: Real, p: OracleParameters) -> None:
    """ηβ‖x‖² ≤ 2 for every feature that is accepted; beyond, neighbours part and no bound holds."""
    rate = eta * p.beta * p.R * p.R
    inside = K.le(rate * K(TIGHT_ROOM), K(2))
    require(inside, "eta*beta*R^2", K.to_float(rate), "be at most 2", "beyond, steps expand: lower beta")


def require_reach(K: Numbers, p: OracleParameters, W: FeasibleSet, exponent: int) -> None:
    """M holds every prediction ⟨w, x⟩, w ∈ W in ℓ_1 or ℓ_2: outside M derivatives are not bounded, line 2 may be
    empty.
    """
    M = p.M
    if M == REAL_LINE:
        return
    remedy = f"predictions outside M have no bounded derivative; take M = ℝ, or {UNPROVEN}"
    require(not isinstance(W, WholeSpace), "M", M, "be the line where W is the whole space", remedy)
    reach = W.norm_bound(K, exponent) * p.R * K(TIGHT_ROOM)
    low = M.lower == -INF or K.le(K(M.lower), -reach)
    high = M.upper == INF or K.le(reach, K(M.upper))
    require(low and high, "M", M, f"reach from −{K.to_float(reach):.6g} to {K.to_float(reach):.6g}", remedy)


def _name(p: PhasedParameters) -> str:
    return getattr(p.oracle, "__name__", repr(p.oracle))
