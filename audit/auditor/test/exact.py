"""One exact test for every claim: how many guesses may be right.

Setting (as in `confidence`): each draw tosses a fair coin b, then draws Z from P if b = 1, from Q if b = 0. A score
fixed beforehand gives each Z a guess and a rank; n of the N draws are selected without their labels, and k of their
guesses are right. `s` = 1 if all guesses name the same label, 2 if they may differ. A claim is a convex set C of pairs
(P(S), Q(S)), symmetric under S ↦ complement and under P ↔ Q (`audit.auditor.terms.claim`).

Let a_C(u), the **allowed rate**, be the largest share of right guesses that an event of mass u may have:

    a_C(u) = max { p/(p + q) : (p, q) ∈ C, p + q = m },    m = 2u/s.

It does not increase with u, because C is convex and holds (0, 0).

**Theorem (n fixed beforehand).** If the pairs of the mechanism are in C, then k is stochastically at most K, where

    K given U is Binomial(n, a_C(U)),    U is the (n + 1)-th smallest of N uniform variables, Beta(n + 1, N − n)
                                         (and U = 1 if n = N).

*Proof.* Given all Z the labels are independent, and guess i is right with probability at most R_i, the posterior of the
likelier label (of the label that is always guessed, if s = 1). A sum of independent coins grows stochastically with
each of their probabilities, so the n draws with the largest R are the best selection, whatever else the selection looks
at. The R_i are i.i.d.; write R_i = r(V_i) with r nonincreasing and V_i uniform (ties of R are broken by V). The best n
draws are those with the n smallest V, and given the (n + 1)-th smallest, U, these are i.i.d. uniform below it: each of
their guesses is right with probability (1/U)∫_0^U r. This is the share of right guesses of the event "V ≤ U", of mass
U. For s = 1 such an event S, randomised perhaps, has P(S) + Q(S) = 2U, and its share is P(S)/2U ≤ a_C(U), C being
convex and so closed under randomisation. For s = 2 it is a part A where 1 is guessed and a part B where 0 is; with x =
(P(A) + Q(A))/2 and y = U − x the right guesses have mass ½P(A) + ½Q(B) ≤ F(x) + F(y) ≤ 2F(U/2), where F(x) = max
{p/2 : (p, q) ∈ C, p + q = 2x} is concave: a share of 2F(U/2)/U = a_C(U). ∎

**It cannot be sharpened** for what C says. C is the region of a trade-off function, which some pair (P, Q) attains
(Dong, Roth, Su 2022, Prop. 2.2); on that pair every inequality of the proof is an equality if one ranks by the
likelihood ratio. That pair keeps a claim of (ε, δ), μ, a profile or f. It does not keep one of Rényi DP or zCDP: each
pair of C is allowed to some mechanism (the two coins themselves), all of C together to none. For these claims the test
is exact for single events, and a little too cautious about how the mass U varies; the less, the more draws there are.
For C = Epsilon(ε, δ) and s = 2, K is the W of `confidence`.

**Theorem (an event fixed beforehand; n is what falls into it).** Given n, k is then binomial with the event's own share
of right guesses, at most a_C(u), where u is its mass. With u_L a lower confidence limit on u at level β, P(Bin(n,
a_C(u_L)) ≥ k) + β is a p-value. *Proof.* Unless u < u_L, of probability β at most, a_C(u) ≤ a_C(u_L). ∎

**Lower bound.** The sets of a claim grow with its number v, and so do a_C and the p-value p(v). v_L = sup{v : p(v) ≤ α}
exceeds the truth with probability α at most. ∎ **In several currencies at once**: for the truth v* of each currency the
error "v_L > v*" means p(v*) ≤ α, that is k ≥ c for a number c that does not depend on the draws; the union of such
events is the one with the smallest c, of probability at most α. So all bounds of one selection hold together, and those
of several selections with parts w_j of the level by the union bound (for an event fixed beforehand: given n, and with
one u_L for all). ∎

The law of K is summed over cells of U, each with the larger rate, at its left end: p-values are too large, by less than
CELLS makes visible, never too small.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, special

from audit.auditor.terms.claim import Claim, Epsilon, Profile
from audit.auditor.terms.picture import Drawing, Points
from audit.auditor.test import confidence
from audit.auditor.test.confidence import Selection
from audit.auditor.test.sketch import MEASURED, Sketch

Array = np.ndarray

CELLS, FEW_CELLS = 256, 24
"""Cells of U for a p-value that is reported, and for the search of its root: chosen; more cells cost time alone."""
FOLD = 1e-13
"""Mass of U at either end that is put into the outermost cells."""
HALVINGS = 44
"""Of the interval of rates, where the allowed one is sought from above."""
MASS_SHARE = 0.05
"""The part of the level that the confidence limit on the mass of an event has: chosen for power."""
LARGEST = 64.0
"""Bounds are searched below this number."""


def allowed_rate(claim: Claim, mass: Array) -> Array:
    """The largest p/(p + q) with (p, q) in the claim's set and p + q = mass, from above."""
    mass = np.asarray(mass, dtype=float)
    low, high = np.full(mass.shape, 0.5), np.minimum(1.0, 1 / np.maximum(mass, 1e-300))
    top = claim.value(mass * high, mass * (1 - high)) <= claim.number
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        allowed = claim.value(mass * middle, mass * (1 - middle)) <= claim.number
        low, high = np.where(allowed, middle, low), np.where(allowed, high, middle)
    return np.asarray(np.where(top, np.minimum(1.0, 1 / np.maximum(mass, 1e-300)), high))


@functools.lru_cache(maxsize=256)
def _masses(n: int, draws: int, cells: int) -> tuple[Array, Array]:
    """Cells of U: the left ends, and the probabilities."""
    if n >= draws:
        return np.ones(1), np.ones(1)
    levels = special.ndtr(np.linspace(special.ndtri(FOLD), -special.ndtri(FOLD), cells + 1))
    edges = np.unique(special.betaincinv(n + 1, draws - n, levels))
    below = special.betainc(n + 1, draws - n, edges)
    weight = np.diff(np.concatenate([[0.0], below, [1.0]]))
    return np.concatenate([[0.0], edges]), np.maximum(weight, 0.0)


def _at_least(k: int, n: int, rate: Array) -> Array:
    """P(Bin(n, rate) ≥ k)."""
    return np.asarray(special.betainc(k, n - k + 1, rate)) if 0 < k <= n else np.full(np.shape(rate), float(k <= 0))


def tail(claim: Claim, seen: Selection, level: float, cells: int = CELLS) -> Callable[[int], float]:
    """k ↦ the p-value of k right guesses, under the claim. `level` is what the p-value will be compared with, which
    sets how much of it the mass of an event fixed beforehand gets.
    """
    quick = claim
    if type(claim).near is not Claim.near:
        typical = 2 * max(seen.n, 1) / seen.draws / seen.sides
        rate = float(allowed_rate(claim, np.array([typical]))[0])
        quick = claim.near(typical * rate, typical * (1 - rate))
    if not seen.fixed:
        spent = MASS_SHARE * level
        least = float(special.betaincinv(seen.n, seen.draws - seen.n + 1, spent)) if seen.n else 0.0
        rates = allowed_rate(quick, np.array([2 * least / seen.sides]))
        return lambda k: min(1.0, float(_at_least(k, seen.n, rates)[0]) + spent)
    mass, weight = _masses(seen.n, seen.draws, cells)
    rates = np.where(mass > 0, allowed_rate(quick, np.maximum(2 * mass / seen.sides, 1e-300)), 1.0)
    return lambda k: min(1.0, float(weight @ _at_least(k, seen.n, rates)))


def p_value(claim: Claim, seen: Selection, level: float, cells: int = CELLS) -> float:
    """How probable so many right guesses are at most, if the claim holds."""
    if isinstance(claim, Epsilon) and (seen.fixed or claim.delta == 0):
        return confidence.p_value(claim.epsilon, replace(seen, delta=claim.delta))
    return tail(claim, seen, level, cells)(seen.k)


def lower_bound(claim: Claim, seen: Selection, alpha: float) -> float:
    """The largest number that is refuted at this level; the least one that the claim can have if none is."""
    if isinstance(claim, Epsilon) and (seen.fixed or claim.delta == 0):
        return confidence.lower_bound(replace(seen, delta=claim.delta), alpha)
    if seen.k == 0 or p_value(claim.at(claim.least), seen, alpha) > alpha:
        return claim.least

    def excess(number: float, cells: int) -> float:
        p = p_value(claim.at(number), seen, alpha, cells)
        return math.log(max(p, 1e-300)) - math.log(alpha)

    return _root_below(lambda v: excess(v, FEW_CELLS), lambda v: excess(v, CELLS), claim.least)


def _root_below(rough: Callable[[float], float], sharp: Callable[[float], float], least: float) -> float:
    """A number where an increasing function is not positive, next to its root; `rough` tells about where that is."""
    if sharp(LARGEST) <= 0:
        return LARGEST
    if rough(least) > 0:
        start = least
    else:
        high = min(least + 1.0, LARGEST)
        while high < LARGEST and rough(high) <= 0:
            high = min(least + 2 * (high - least), LARGEST)
        start = optimize.brentq(rough, least, high, xtol=1e-6)
    step = 1e-3 * max(abs(start), 1e-3)
    low, high = start, start + step
    while high < LARGEST and sharp(high) <= 0:
        low, high, step = high, high + 2 * step, 2 * step
    while low > least and sharp(low) > 0:
        high, low, step = low, max(least, low - step), 2 * step
    for _ in range(40):
        middle = (low + high) / 2
        if high - low <= 1e-9 * max(1.0, abs(high)) + 1e-12:
            break
        low, high = (middle, high) if sharp(middle) <= 0 else (low, middle)
    return low


# -------------------------------------------------------------------------------------------- several selections


def joint_p_value(claim: Claim, seen: Sequence[Selection], alpha: float) -> float:
    """The p-value of several selections of the same draws: min_j p_j/w_j."""
    return min(1.0, *(p_value(claim, one, alpha * one.part) / one.part for one in seen))


def strongest(claim: Claim, seen: Sequence[Selection], alpha: float) -> tuple[int, float]:
    """Which selection gives the largest lower bound at its own part of the level, and that bound.

    Where none gives any, the one that comes nearest.
    """
    bounds = [lower_bound(claim, one, alpha * one.part) for one in seen]
    idle = claim.at(claim.least)
    doubts = [p_value(idle, one, alpha * one.part) / one.part for one in seen]
    best = min(range(len(seen)), key=lambda j: (-bounds[j], doubts[j]))
    return best, bounds[best]


def would_detect(claim: Claim, seen: Selection, alpha: float, power: float = 0.95) -> float:
    """The least number that an event as frequent as the selected one must show to be reported with this power.

    If the selected guesses are right with probability a, then k ~ Bin(n, a), and the claim is rejected from the
    critical count c on: P(Bin(n, a) ≥ c) = power gives a, and the number is the value of the pair (m·a, m·(1 − a)), m
    the mass of the event on both sides. Infinite where nothing rejects.
    """
    if isinstance(claim, Epsilon) and (seen.fixed or claim.delta == 0):
        return confidence.would_detect(claim.epsilon, replace(seen, delta=claim.delta), alpha, power)
    chance = tail(claim, seen, alpha)
    if seen.n == 0 or chance(seen.n) > alpha:
        return math.inf
    low, high = 0, seen.n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) <= alpha else (middle, high)
    rate = float(special.betaincinv(high, seen.n - high + 1, power))
    mass = 2 * seen.n / seen.draws / seen.sides
    return float(claim.value(np.array(mass * rate), np.array(mass * (1 - rate)))) if rate < 1 else math.inf


# --------------------------------------------------------------------------- what a claim says of (ε, δ)

PROFILE_MASSES = np.unique(np.concatenate([np.geomspace(1e-9, 1.0, 80), np.linspace(0.02, 1.1, 55)]))
"""Masses of events at which the boundary of a claim is computed."""


def implied_delta(claim: Claim, epsilons: Array) -> Array:
    """For each ε ≥ 0 a δ such that the claim implies (ε, δ)-DP; from above.

    The largest p with p + q = m is a concave function of m that begins at 0. Between two of the masses at which it is
    known it lies below both neighbouring chords, continued; so p − e^ε q is largest at a known point or where two such
    chords meet (an event as small as the first mass gives no more than that mass).
    """
    if isinstance(claim, Epsilon):
        below = claim.delta + (1 - claim.delta) * np.maximum(
            (np.exp(claim.epsilon) - np.exp(epsilons)) / (1 + np.exp(claim.epsilon)), 0
        )
        return np.asarray(below)
    x = np.concatenate([[0.0], PROFILE_MASSES])
    y = np.concatenate([[0.0], PROFILE_MASSES * allowed_rate(claim, PROFILE_MASSES)])
    slope = np.diff(y) / np.diff(x)
    left, right = slope[:-2], slope[2:]
    a, b = np.array([x[1:-2], y[1:-2]]), np.array([x[2:-1], y[2:-1]])
    with np.errstate(divide="ignore", invalid="ignore"):
        at = (b[1] - a[1] + left * a[0] - right * b[0]) / (left - right)
    at = np.where(np.isfinite(at), np.clip(at, a[0], b[0]), b[0])
    vertices_x = np.concatenate([x[1:], at])
    vertices_y = np.concatenate([y[1:], a[1] + left * (at - a[0])])
    factor = np.exp(np.asarray(epsilons, dtype=float))[:, None]
    found = ((1 + factor) * vertices_y - factor * vertices_x).max(axis=1)
    return np.asarray(np.clip(np.maximum(found, PROFILE_MASSES[0]), 0.0, 1.0))


IMPLIED_DELTAS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)
"""The δ at which a claim without one is turned into an ε: the first, chosen because people ask for it; a later one
where the claim says nothing of the first.
"""
IMPLIED_EPSILONS = np.arange(0.0, 20.0, 0.005)
"""Where that ε is sought: beyond, e^ε times the rounding of a probability is no longer small."""


@functools.lru_cache(maxsize=16)
def implied(claim: Claim) -> Epsilon:
    """An (ε, δ) that the claim implies; itself, if it is one; of a profile the row at the first such δ or above."""
    if isinstance(claim, Epsilon):
        return claim
    if isinstance(claim, Profile):
        delta, epsilon = next((row for row in claim.rows if row[0] >= IMPLIED_DELTAS[0]), claim.rows[-1])
        return Epsilon(max(0.0, epsilon + claim.shift), delta)
    implied_at = implied_delta(claim, IMPLIED_EPSILONS)
    for delta in IMPLIED_DELTAS:
        if (found := implied_at <= delta).any():
            return Epsilon(float(IMPLIED_EPSILONS[np.argmax(found)]), delta)
    return Epsilon(LARGEST, IMPLIED_DELTAS[-1])


# ------------------------------------------------------------------------------------------------- planning


def predicted_merit(claim: Claim, n: Array, rate: Array, draws: int, alpha: float, sides: int) -> Array:
    """`predicted_bound` as a measure of how promising an event is (`Claim.merit`)."""
    return predicted_bound(claim, n, rate, draws, alpha, sides, claim.merit)


def predicted_bound(
    claim: Claim,
    n: Array,
    rate: Array,
    draws: int,
    alpha: float,
    sides: int,
    measure: Callable[[Array, Array], Array] | None = None,
) -> Array:
    """About what `lower_bound` will say when n draws are selected and a share `rate` of the guesses is right.

    For planning only, vectorised. The spread of K is that of a binomial with this rate and of the rate's own change
    with U: Var K ≈ n[a(1 − a) + (1 − n/N)(a − r)²], r being the posterior of the last draw selected, from the slope of
    the allowed rate at the bound that the binomial alone would give.
    """
    if isinstance(claim, Epsilon):
        return confidence.predicted_bound(n, rate, draws, claim.delta, alpha, sides)
    n, rate = np.asarray(n, dtype=float), np.clip(np.asarray(rate, dtype=float), 0.0, 1.0)
    k = n * rate
    lower = np.where(k > 0.5, special.betaincinv(np.maximum(k, 0.5), n - k + 1, alpha), 0.0)
    mass = np.minimum(2 * n / draws / sides, 2 / sides)

    def value(m: Array, a: Array) -> Array:
        a = np.clip(a, 0.5, np.minimum(1 - 1e-12, 1 / np.maximum(m, 1e-300)))
        return (measure or claim.value)(m * a, m * (1 - a))

    step = 1e-4
    with np.errstate(invalid="ignore"):
        along, across = _slopes(value, mass, lower, step)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.clip(np.nan_to_num(-along / across * (1 - lower)), -lower, 0.0)
        wider = np.sqrt(1 + np.maximum(1 - n / draws, 0) * slope**2 / np.maximum(rate * (1 - rate), 1 / (n + 1)))
    cautious = rate - (rate - lower) * wider
    return np.where(cautious > 0.5, value(mass, cautious), claim.least)


def _slopes(value: Callable[[Array, Array], Array], mass: Array, rate: Array, step: float) -> tuple[Array, Array]:
    """How the number changes with the logarithm of the mass, and with the share of wrong guesses."""
    along = (value(mass * (1 + step), rate) - value(mass * (1 - step), rate)) / (2 * step)
    across = (value(mass, rate + step * (1 - rate)) - value(mass, rate - step * (1 - rate))) / (2 * step)
    return along, across


def largest(claim: Claim, draws: int, alpha: float) -> float:
    """About the largest bound that so many test draws can give: every selected guess right."""
    if draws < 1:
        return claim.least
    sizes = np.unique(np.geomspace(1, draws, 60).round())
    return float(predicted_bound(claim, sizes, np.ones(len(sizes)), draws, alpha, 2).max())


@dataclass(frozen=True)
class Counted:
    """What an audit counted: enough for a bound in every currency, all of which hold together at the level."""

    seen: tuple[Selection, ...]
    alpha: float
    sketch: Sketch | None = None
    """What is drawn besides the bounds."""

    def lower(self, claim: Claim) -> float:
        """The lower bound in this claim's currency."""
        return strongest(claim, self.seen, self.alpha)[1]

    def figures(self, claim: Claim, lower: float) -> list[Drawing]:
        """The trade-off curve and the profile, of the claim, of the lower bound and as measured; and the outputs."""
        dots = []
        for one in self.seen:
            mass = 2 * one.n / one.draws / one.sides
            dots.append((mass * (1 - one.k / max(one.n, 1)), 1 - mass * one.k / max(one.n, 1)))
        curve, profile = curves_of(claim, lower, dots)
        if self.sketch is None:
            return [curve, profile]
        sure = f"its band ({100 * (1 - self.alpha):.5g} %)"
        measured = (f"measured, {sure}", MEASURED, self.sketch.measured())
        band = (sure, MEASURED, self.sketch.band())
        return [replace(curve, curves=(*curve.curves, measured), areas=(band,)), profile, self.sketch.outputs]


def curves_of(claim: Claim, lower: float, dots: Points) -> list[Drawing]:
    """The trade-off curve and the profile, of the claim and of the lower bound."""
    both = [(f"allowed: {claim}", CLAIMED, claim)]
    if lower > claim.least:
        both.append((f"ruled out: {claim.bound_as_text(lower)}", REFUTED, claim.at(lower)))
    curves = tuple((name, colour, _curve(made)) for name, colour, made in both)
    epsilons = np.linspace(0.0, max(1.0, 2 * implied(claim).epsilon if implied(claim).epsilon < 16 else 8.0), 120)
    deltas = [implied_delta(made, epsilons) for _, _, made in both]
    profiles = tuple(
        (name, colour, list(zip(epsilons.tolist(), found.tolist(), strict=True)))
        for (name, colour, _), found in zip(both, deltas, strict=True)
    )
    top = max(1e-9, *(float(found.max()) for found in deltas))
    whole = (0.0, 1.0)
    return [
        Drawing("Trade-off curve", "type I error", "type II error", curves, dots, whole, whole),
        Drawing("Profile", "ε", "δ(ε)", profiles, (), (0.0, float(epsilons[-1])), (0.0, top)),
    ]


CLAIMED, REFUTED = "green", "red"
"""Colours of what is claimed and of what is ruled out."""


def _curve(claim: Claim) -> list[tuple[float, float]]:
    """The claim's trade-off curve: type I and type II error of the best tests that it allows."""
    mass = np.linspace(1e-6, 1.0, 120)
    p = mass * allowed_rate(claim, mass)
    half = list(zip((mass - p).tolist(), (1 - p).tolist(), strict=True))
    return half + [(b, a) for a, b in reversed(half)]
