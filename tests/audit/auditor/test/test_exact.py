"""Tests of the exact test of any claim: its level on each claim's worst case, and what it says there."""

from __future__ import annotations

import math

import numpy as np
import pytest
from night import by_day
from scipy import integrate, optimize, stats

from audit.auditor.terms.claim import GDP, RDP, ZCDP, Claim, Epsilon, Profile, TradeOff
from audit.auditor.test import confidence
from audit.auditor.test.confidence import Selection
from audit.auditor.test.exact import (
    Counted,
    _at_least,
    _masses,
    _root_below,
    allowed_rate,
    curves_of,
    implied,
    implied_delta,
    joint_p_value,
    largest,
    lower_bound,
    p_value,
    predicted_bound,
    strongest,
    tail,
    would_detect,
)

CLAIMS: list[Claim] = [
    Epsilon(1.0),
    Epsilon(0.7, 0.02),
    GDP(0.8),
    ZCDP(0.3),
    RDP(4, 0.9),
    RDP({2: 0.3, 16: 2.0}),
    Profile({1e-3: 1.8, 0.05: 0.9, 0.2: 0.2}),
    TradeOff(lambda a: np.maximum(0, 1 - 1.5 * np.sqrt(a)), name="root"),
]


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_curves_of_a_claim_and_of_a_bound(claim: Claim) -> None:
    trade, profile = curves_of(claim, claim.least, [(0.1, 0.2)])
    assert (trade.title, trade.dots, trade.x_range, trade.y_range) == ("Trade-off curve", [(0.1, 0.2)], (0, 1), (0, 1))
    assert [len(drawing.curves) for drawing in (trade, profile)] == [1, 1]
    for a, b in trade.curves[0][2]:  # the best test at a type I error of a has a type II error of b
        assert float(claim.value(np.array([1 - b]), np.array([a]))[0]) <= claim.number + 1e-6
    name, _, points = profile.curves[0]
    assert name == f"allowed: {claim}"
    assert profile.x_range == (0.0, points[-1][0])
    assert profile.x_range[1] >= 1.0
    assert profile.y_range == (0.0, max(1e-9, *(delta for _, delta in points)))
    more, _ = curves_of(claim, claim.number + 0.1, [])
    assert [colour for _, colour, _ in more.curves] == ["green", "red"]
    assert more.curves[1][0].startswith("ruled out: ")


def test_a_root_is_found_from_below() -> None:
    for root in (0.0, 1e-4, 0.7, 5.0, 40.0):

        def sharp(v: float, root: float = root) -> float:
            return math.atan(v - root)

        for rough in (sharp, lambda v, root=root: math.atan(v - 0.97 * root), lambda v, root=root: v - 1.02 * root):
            found = _root_below(rough, sharp, 0.0)
            assert sharp(found) <= 0
            assert found == pytest.approx(root, rel=2e-9, abs=2e-9)
    assert _root_below(lambda v: v - 99.0, lambda v: v - 99.0, 0.0) == 64.0
    assert _root_below(lambda v: v + 1.0, lambda v: v + 0.25, -0.5) == pytest.approx(-0.25, rel=1e-8)


def test_the_mass_of_a_selection_is_beta_distributed() -> None:
    ends, weight = _masses(30, 100, 64)
    assert ends[0] == 0.0
    assert weight.sum() == pytest.approx(1.0, abs=1e-12)
    assert len(ends) == len(weight) == 66
    for end, below in zip(ends[1:], np.cumsum(weight), strict=False):
        assert below == pytest.approx(stats.beta.cdf(end, 31, 70), abs=1e-12)
    assert [a.tolist() for a in _masses(100, 100, 64)] == [[1.0], [1.0]]
    rates = np.array([0.2, 0.9])
    assert _at_least(3, 9, rates) == pytest.approx(stats.binom.sf(2, 9, rates))
    assert [_at_least(k, 9, rates).tolist() for k in (0, -1, 10)] == [[1.0] * 2, [1.0] * 2, [0.0] * 2]
    assert _at_least(9, 9, rates) == pytest.approx(rates**9)


def test_the_largest_bound_needs_draws() -> None:
    assert largest(Epsilon(1.0), 0, 0.05) == 0.0
    assert largest(Epsilon(1.0), 1, 0.4) == pytest.approx(0.0)
    expected = np.log(0.05 ** (1 / 50) / (1 - 0.05 ** (1 / 50)))
    assert largest(Epsilon(1.0), 50, 0.05) == pytest.approx(expected)


def boundary(claim: Claim, mass: float) -> tuple[float, float]:
    """The outermost pair of the claim with p + q = mass, found without `allowed_rate`."""
    high = min(1.0, mass)
    if claim.value(np.array(high), np.array(mass - high)) <= claim.number:
        return high, mass - high
    p = optimize.brentq(
        lambda p: float(claim.value(np.array(p), np.array(mass - p))) - claim.number or -1e-300,
        mass / 2,
        high * (1 - 1e-13),
        xtol=1e-14,
    )
    return p, mass - p


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_the_allowed_rate_is_that_of_the_outermost_pair(claim: Claim) -> None:
    for mass in (1e-4, 0.02, 0.3, 0.8, 1.0):
        p, q = boundary(claim, mass)
        assert float(allowed_rate(claim, np.array(mass))) == pytest.approx(p / (p + q), abs=1e-8)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_the_allowed_rate_falls_with_the_mass(claim: Claim) -> None:
    rates = allowed_rate(claim, np.geomspace(1e-6, 2, 300))
    assert (np.diff(rates) <= 1e-9).all()


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_the_set_of_a_claim_is_convex_and_symmetric(claim: Claim) -> None:
    """Chords between outermost pairs stay inside, and so do the pairs of the complements with the sides exchanged."""
    masses = np.linspace(0.05, 1.9, 12)
    rates = allowed_rate(claim, masses) - 1e-9
    p, q = masses * rates, masses * (1 - rates)
    for i in range(len(p)):
        between = (p[i] + p) / 2, (q[i] + q) / 2
        assert (claim.value(*between) <= claim.number + 1e-7).all()
    assert (claim.value(1 - q, 1 - p) <= claim.number + 1e-7).all()


def test_values_are_those_of_the_definitions() -> None:
    p, q = np.array(0.3), np.array(0.1)
    assert float(Epsilon(1, 0.05).value(p, q)) == pytest.approx(math.log(0.25 / 0.1))
    assert float(GDP(1).value(p, q)) == pytest.approx(stats.norm.ppf(0.3) - stats.norm.ppf(0.1))
    both = [math.log(a**4 * b**-3 + (1 - a) ** 4 * (1 - b) ** -3) / 3 for a, b in ((0.3, 0.1), (0.1, 0.3))]
    assert float(RDP(4, 1).value(p, q)) == pytest.approx(max(both))
    orders = np.linspace(1.001, 40, 20_000)
    ratio = [
        max(math.log(a**o * b ** (1 - o) + (1 - a) ** o * (1 - b) ** (1 - o)) for a, b in ((0.3, 0.1), (0.1, 0.3)))
        / (o - 1)
        / o
        for o in orders
    ]
    assert max(ratio) * 0.999 <= float(ZCDP(1).value(p, q)) <= max(ratio) * (1 + 1e-9)
    assert float(Profile({0.05: 1.0}).value(p, q)) == pytest.approx(math.log(0.25 / 0.1) - 1.0)
    assert float(TradeOff(lambda a: 1 - a).value(p, q)) == pytest.approx(0.2)


def worst_case(
    claim: Claim, n: int, draws: int, sides: int, rng: np.random.Generator, reps: int, cells: int = 2000
) -> np.ndarray:
    """k of the best guesser against the pair of laws that attains the claim, by simulation of labels and outputs.

    The pair has, in order of the likelihood ratio, the outermost pairs of the claim as its cumulated masses.
    """
    masses = np.concatenate([np.geomspace(1e-7, 1e-2, cells // 4), np.linspace(1e-2, 1, cells)[1:]])
    p = np.concatenate([[0.0], masses * allowed_rate(claim, masses)])
    p_cells, q_cells = np.diff(p), np.diff(np.concatenate([[0.0], masses]) - p)
    # the other half mirrors it: p and q exchanged
    p_law = np.maximum(np.concatenate([p_cells, q_cells[::-1]]), 0)
    q_law = np.maximum(np.concatenate([q_cells, p_cells[::-1]]), 0)
    size = len(p_law)
    rank = np.arange(size) if sides == 1 else np.minimum(np.arange(size), size - 1 - np.arange(size))
    guess = np.ones(size, dtype=int) if sides == 1 else (np.arange(size) < size / 2).astype(int)
    found = np.empty(reps, dtype=int)
    for i in range(reps):
        labels = rng.integers(0, 2, draws)
        z = np.where(
            labels == 1,
            rng.choice(size, draws, p=p_law / p_law.sum()),
            rng.choice(size, draws, p=q_law / q_law.sum()),
        )
        chosen = np.argsort(rank[z], kind="stable")[:n]
        found[i] = (guess[z[chosen]] == labels[chosen]).sum()
    return found


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("claim", CLAIMS[2:], ids=str)
def test_level_is_kept_and_nearly_attained_on_the_worst_case_of_each_claim(claim: Claim, sides: int) -> None:
    """False alarms at level 0.05 on the pair that attains the claim: not more (at 1e-7), and not many fewer."""
    reps, draws = 800, 300
    rng = np.random.default_rng(11)
    for n in by_day((150,), (40, 150)):
        chance = tail(claim, Selection(n, 0, draws, sides=sides), 0.05)
        critical = min(k for k in range(n + 2) if k > n or chance(k) <= 0.05)
        assert critical <= n or n == 40
        rejected = int((worst_case(claim, n, draws, sides, rng, reps) >= critical).sum())
        assert rejected <= stats.binom.isf(1e-7, reps, 0.05)
        attained = chance(critical)  # less than 0.05: k is a whole number
        assert rejected >= stats.binom.ppf(1e-7, reps, 0.8 * attained)


def test_a_smaller_claim_is_refuted_more_often_than_the_level_on_that_pair() -> None:
    """The positive control: the same simulation rejects a claim that is too small."""
    rng = np.random.default_rng(12)
    for claim, smaller in ((GDP(0.8), GDP(0.4)), (ZCDP(0.3), ZCDP(0.05)), (RDP(4, 0.9), RDP(4, 0.1))):
        chance = tail(smaller, Selection(100, 0, 300, sides=2), 0.05)
        critical = min(k for k in range(101) if chance(k) <= 0.05)
        assert (worst_case(claim, 100, 300, 2, rng, 300) >= critical).sum() > stats.binom.isf(1e-7, 300, 0.05)


@pytest.mark.parametrize(
    ("n", "draws", "delta", "k"), [(50, 200, 0.05, 40), (200, 200, 0.02, 130), (300, 4000, 1e-3, 250)]
)
def test_for_epsilon_and_delta_it_is_the_test_of_the_flags(n: int, draws: int, delta: float, k: int) -> None:
    """Two proofs, one law: the sum over flags and the integral over the mass agree where both are exact."""
    seen = Selection(n, k, draws, delta, 2)
    flags = confidence.p_value(1.0, seen)
    assert flags == p_value(Epsilon(1.0, delta), seen, 0.05)
    integral = tail(Epsilon(1.0, delta), seen, 0.05, cells=4000)(k)
    assert flags <= integral * (1 + 1e-9)
    assert integral == pytest.approx(flags, rel=2e-3)


def test_the_cells_add_up_to_the_integral_from_above() -> None:
    seen, claim = Selection(100, 80, 400, sides=2), GDP(1.0)

    def density(u: float) -> float:
        rate = float(allowed_rate(claim, np.array(u)))
        return float(stats.beta.pdf(u, 101, 300) * stats.binom.sf(79, 100, rate))

    exact, _ = integrate.quad(density, 0.1, 0.5, epsabs=1e-12)
    found = p_value(claim, seen, 0.05)
    assert exact <= found <= exact * 1.05


def test_all_draws_are_one_binomial() -> None:
    """n = N and both labels: the guess is right with probability (1 + TV)/2, that of two Gaussians Φ(μ/2)."""
    seen = Selection(500, 360, 500, sides=2)
    assert p_value(GDP(1.0), seen, 0.05) == pytest.approx(stats.binom.sf(359, 500, stats.norm.cdf(0.5)), rel=1e-6)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
@pytest.mark.parametrize("fixed", [True, False])
def test_the_bound_inverts_the_test(claim: Claim, fixed: bool) -> None:
    seen = Selection(300, 290, 4000, sides=2, fixed=fixed)
    bound = lower_bound(claim, seen, 1e-3)
    assert bound > claim.least
    assert p_value(claim.at(bound), seen, 1e-3) <= 1e-3 * (1 + 1e-9)
    assert p_value(claim.at(bound + 1e-4), seen, 1e-3) > 1e-3
    nothing = Selection(300, 150, 4000, sides=2, fixed=fixed)
    assert lower_bound(claim, nothing, 1e-3) == claim.least
    assert lower_bound(claim, Selection(0, 0, 4000, sides=2, fixed=fixed), 1e-3) == claim.least


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_what_would_be_detected_is_detected_as_often_as_said(claim: Claim) -> None:
    seen = Selection(300, 290, 4000, sides=2)
    number = would_detect(claim, seen, 1e-3)
    assert number > claim.number
    assert would_detect(claim, Selection(2, 2, 4000, sides=2), 1e-6) == math.inf
    if isinstance(claim, GDP):
        rate = optimize.brentq(
            lambda a: float(claim.value(np.array(0.075 * a), np.array(0.075 * (1 - a)))) - number, 0.5, 1 - 1e-9
        )
        k = stats.binom.ppf(0.05, 300, rate)
        assert p_value(claim, Selection(300, int(k), 4000, sides=2), 1e-3) <= 1e-3


def test_a_prediction_is_about_what_the_test_says() -> None:
    draws = 160_000
    for claim in CLAIMS[2:]:
        for n, rate in ((draws, 0.75), (4000, 0.97)):
            exact = lower_bound(claim, Selection(n, int(n * rate), draws, sides=2), 1e-3)
            found = float(predicted_bound(claim, np.array([float(n)]), np.array([rate]), draws, 1e-3, 2)[0])
            assert found - claim.least == pytest.approx(exact - claim.least, rel=0.02, abs=2e-3)


def test_all_bounds_of_one_count_hold_together() -> None:
    """N(0, 1) against N(1, 1), the best selection: some bound exceeds its truth in at most 5 % of all runs."""
    rng, wrong, reps = np.random.default_rng(3), 0, 150
    truths: list[tuple[Claim, float]] = [(GDP(0), 1.0), (RDP(3, 0), 1.5), (Epsilon(0, 0.1269), 1.0)]
    for _ in range(reps):
        labels = rng.integers(0, 2, 2000)
        z = rng.normal(size=2000) + labels
        far = np.abs(z - 0.5)
        right = (z > 0.5) == (labels == 1)
        order = np.argsort(-far)
        seen = tuple(Selection(n, int(right[order[:n]].sum()), 2000, sides=2, part=0.5) for n in (2000, 300))
        # a bound exceeds its truth where the truth, as a claim, is refuted: compared on the last run
        exceeds = [joint_p_value(claim.at(truth + 1e-3), seen, 0.05) <= 0.05 for claim, truth in truths]
        wrong += any(exceeds)
    assert wrong <= stats.binom.isf(1e-7, reps, 0.05)
    assert wrong > 0
    assert [Counted(seen, 0.05).lower(claim) > truth + 1e-3 for claim, truth in truths] == exceeds


def test_several_selections_share_the_level() -> None:
    seen = [Selection(1000, 700, 4000, sides=2, part=0.6), Selection(100, 97, 4000, sides=2, part=0.4)]
    for claim in CLAIMS[2:]:
        which, bound = strongest(claim, seen, 0.01)
        assert bound == max(lower_bound(claim, one, 0.01 * one.part) for one in seen)
        assert joint_p_value(claim.at(bound), seen, 0.01) <= 0.01 * (1 + 1e-9)
        assert which in (0, 1)


# ------------------------------------------------------------------------------- what a claim implies


def test_what_a_gaussian_claim_implies_is_its_profile_from_above() -> None:
    epsilons = np.array([0.0, 0.5, 1.0, 2.0, 4.0])
    found = implied_delta(GDP(1.0), epsilons)
    exact = stats.norm.cdf(0.5 - epsilons) - np.exp(epsilons) * stats.norm.cdf(-0.5 - epsilons)
    assert (found >= exact).all()
    assert found == pytest.approx(exact, rel=4e-2, abs=2e-9)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_no_pair_of_a_claim_exceeds_what_it_implies(claim: Claim) -> None:
    masses = np.geomspace(1e-7, 1.0, 2000)
    p = masses * allowed_rate(claim, masses)
    epsilons = np.linspace(0, 5, 11)
    for epsilon, delta in zip(epsilons, implied_delta(claim, epsilons), strict=True):
        assert (p - math.exp(epsilon) * (masses - p)).max() <= delta + 1e-9


def test_what_is_implied_at_one_delta() -> None:
    assert implied(Epsilon(1, 1e-5)) == Epsilon(1, 1e-5)
    found = implied(GDP(1.0))
    assert found.delta == 1e-6
    assert found.epsilon == pytest.approx(4.887, abs=0.05)
    assert found.epsilon >= 4.887
    assert implied(Profile({1e-8: 5.0, 1e-5: 4.4, 1e-3: 3.2}, shift=0.5)) == Epsilon(4.9, 1e-5)
    assert implied(Profile({1e-8: 5.0})) == Epsilon(5.0, 1e-8)
    jump = implied(TradeOff(lambda a: np.maximum(0, 0.9999 - 1.5 * a)))
    assert jump.delta == 1e-4  # of 1e-6 it says nothing
    assert math.log(1.5) <= jump.epsilon < 8
