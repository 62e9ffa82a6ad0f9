"""Checks of Section 2: composition of privacy, and the stationarity gap."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from audit.checks.evidence import Enclosed, Searched, largest, over_points
from audit.checks.framework import Figure, Outcome, check
from audit.checks.mutants import scaled
from reference.numerics.numbers import Ball, Float64, Numbers, Real, Vector
from reference.privacy import advanced_composition, advanced_composition_tanh, kov_delta, kov_epsilon
from reference.setting.sets import Box, FeasibleSet, L2Ball, Simplex, l1_ball
from reference.smooth.rounds import stationarity_gap

GRID = [
    (Fraction(e), k, Fraction(1, 10**power))
    for e in ("0.01", "0.1", "0.5", "1", "2", "5")
    for k in (1, 2, 5, 20, 100)
    for power in (1, 3, 6, 12)
]
"""(ε, k, δ') over which Lemma 1 is compared with the exact composition."""


@check(
    "lem:adv_comp",
    kind=Enclosed("120 points (ε, k, δ'), δ = 0"),
    edition="printed",
    mutants=(scaled("reference.privacy.composition.advanced_composition", "1/2"),),
)
def advanced_composition_covers_the_exact_one(seed: int) -> Outcome:
    """Pure mechanisms: the exact δ of k-fold composition at the lemma's ε' is at most δ', on the whole grid."""
    K = Ball(128)
    shares = []
    for epsilon, k, delta in GRID:
        total = advanced_composition(K, epsilon, 0, k, delta)[0]
        exact = kov_delta(K, total, epsilon, k)
        shares.append((exact / K(delta), f"ε = {epsilon}, k = {k}, δ' = {delta}"))
    worst, where = largest(shares)
    return Outcome(
        worst <= 1,
        ratio=worst,
        witness=where,
        numbers=over_points([share for share, _ in shares]),
        tight="ε·tanh(ε/2) for ε(e^ε − 1) as the mean loss of a step",
    )


@check(
    "lem:adv_comp",
    kind=Enclosed("120 points (ε, k, δ'), δ = 0"),
    edition="tight",
    mutants=(scaled("reference.privacy.composition.advanced_composition_tanh", "3/4"),),
)
def tanh_form_covers_the_exact_composition(seed: int) -> Outcome:
    """The same with the mean loss ε·tanh(ε/2), and what the printed form costs beside it and beside the optimum."""
    K = Ball(128)
    shares = []
    for epsilon, k, delta in GRID:
        total = advanced_composition_tanh(K, epsilon, 0, k, delta)[0]
        exact = kov_delta(K, total, epsilon, k)
        shares.append((exact / K(delta), f"ε = {epsilon}, k = {k}, δ' = {delta}"))
    worst, where = largest(shares)
    seen = over_points([share for share, _ in shares])
    return Outcome(worst <= 1, ratio=worst, witness=where, numbers=seen, figures=(composition_figure(),))


def composition_figure(epsilon: Fraction = Fraction(1, 10), delta: Fraction = Fraction(1, 10**6)) -> Figure:
    """ε' against k: the lemma as printed, with tanh, and the optimum."""
    K, ks = Float64(), (1, 2, 4, 8, 16, 32, 64, 128, 256)
    return Figure(
        title="Composition of k steps, each 0.1-DP, at δ = 1e-6",
        x_label="k",
        y_label="ε of the whole",
        series={
            "printed (Lemma 1)": [(k, float(advanced_composition(K, epsilon, 0, k, delta)[0])) for k in ks],
            "tight (tanh)": [(k, float(advanced_composition_tanh(K, epsilon, 0, k, delta)[0])) for k in ks],
            "certified optimum": [(k, float(kov_epsilon(K, delta, epsilon, k))) for k in ks],
        },
        x_log=True,
        y_log=True,
        topic="privacy",
        roles={
            "printed (Lemma 1)": ["printed"],
            "tight (tanh)": ["tight"],
            "certified optimum": ["certified"],
        },
    )


SETS: tuple[FeasibleSet, ...] = (L2Ball((0, 0), 1), Box((-1, 0), (1, 1)), Simplex(2), l1_ball(2, 1))
"""A round set, one off its centre, a flat one and one with corners on the axes."""


@check(
    "eqn:st-gap",
    kind=Searched("200 random pairs on each of four sets, binary64"),
    mutants=(scaled("reference.smooth.rounds.stationarity_gap", "9/10"),),
)
def gap_is_never_negative_and_bounds_every_direction(seed: int) -> Outcome:
    """max_v⟨g, w − v⟩ ≥ ⟨g, w − v⟩ for sampled v ∈ W, and ≥ 0 for w ∈ W; the maximum is attained by the minimiser."""
    K, generator = Float64(), Random(seed)
    least = 0.0
    for W in SETS:
        for _ in range(200):
            g = K.vector([generator.uniform(-1, 1) for _ in range(2)])
            w, v = (_point(K, W, generator) for _ in range(2))
            gap = stationarity_gap(K, W, g, w)
            least = min(least, float(gap), float(gap - g @ (w - v)))
    return Outcome(least >= -1e-12, numbers={"least slack": least})


def _point(K: Numbers, W: FeasibleSet, generator: Random) -> Vector:
    """A convex combination of three minimisers of random linear functions: a point of W."""
    corners = [W.linear_minimiser(K, K.vector([generator.gauss(0, 1) for _ in range(2)])) for _ in range(3)]
    weights = [generator.random() for _ in corners]
    total: Real = sum(weights)
    point: Vector = corners[0] * (weights[0] / total)
    for corner, weight in zip(corners[1:], weights[1:], strict=True):
        point = point + corner * (weight / total)
    return point
