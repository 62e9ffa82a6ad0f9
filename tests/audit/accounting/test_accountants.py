"""Accountants: composition against exact results, verdicts of every algorithm and variant, sandwiches."""

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from composition import pure_composition_delta
from dp_accounting.pld import privacy_loss_distribution as pld

from audit.accounting.account import PrivacyTarget, region
from audit.accounting.accountants import ACCOUNTANTS, EXACT, account, noise_ratio
from audit.accounting.convex import _Phased
from audit.accounting.profiles import (
    PrivacyProfile,
    Rule,
    TrajectoryLoss,
    constant_rule,
    gaussian_rule,
    kov_rule,
    largest,
    pure_rule,
    scientific,
    smallest,
    zcdp_rule,
)
from reference.convex.phased_sgd import step_size
from reference.numerics.numbers import Ball, Float64, norm
from reference.paper.algorithms import EDITIONS
from reference.privacy import (
    dp_delta,
    gaussian_delta,
    gaussian_mu_safe,
    kov_delta,
    laplace_delta,
    noisy_min_law,
    zcdp_delta,
)

F = Float64()
PAIR = (1, "1e-6")
ROUNDS = {"R": 3, "b": 64}
SMALL = {"alg:polySFW": ROUNDS, "alg:nSFW": ROUNDS, "Alg:phased": {"n": 1024}, "Alg:nfw": {"T": 50}}


def decay(k, t):
    return math.prod(1 - 1 / math.sqrt(j + 1) for j in range(k + 1, t + 1))


# ------------------------------------------------------------- scales and losses at numbers of no shape, by hand


GENERIC = {"L0": Fraction(3, 2), "L1": Fraction(7, 3), "D": Fraction(5, 4)}
LOG = math.log(10**5)
EPSILON = 0.375


def exact_account(algorithm, variant, **given):
    return account(algorithm, variant, Fraction(3, 8), "1e-5", numbers=EXACT, **given)


@pytest.mark.parametrize("variant", ["printed", "corrected"])
def test_the_deviations_of_noisy_sfw_by_hand(variant):
    """σ_t = 4·L0·(t+1)·d^{1/p−1/2}√ln(1/δ)/(bε), σ̂_t with L1·D·η for L0; what reaches the estimate is their mix."""
    b, d, p = 96, 7, Fraction(3, 2)
    found = exact_account("alg:nSFW", variant, R=3, b=b, d=d, p=p, **GENERIC)
    unit = 4 * d ** (2 / 3 - 1 / 2) * math.sqrt(LOG) / (b * EPSILON)
    scales, magnitude = [], []
    for t in range(4):
        sigma = total = unit * 1.5 * (t + 1)
        scales.append(("sigma", f"t={t}", sigma))
        if t:
            made_for = 1 / math.sqrt(t + 1) if variant == "printed" else 1 / math.sqrt(t)
            hat = unit * 7 / 3 * 1.25 * made_for * (t + 1)
            scales.append(("sigma_hat", f"t={t}", hat))
            eta = 1 / math.sqrt(t + 1)
            total = math.hypot((1 - eta) * hat, eta * sigma)
        magnitude.append(total)
    assert [(s.symbol, s.where) for s in found.scales] == [(symbol, where) for symbol, where, _ in scales]
    assert [s.value for s in found.scales] == pytest.approx([value for *_, value in scales], rel=1e-12)
    assert found.magnitude == pytest.approx(magnitude, rel=1e-12)
    assert {s.noise for s in found.scales} == {"normal"}


def test_the_distance_of_noisy_sfw_by_hand():
    """A pair of releases: ε/(2√ln(1/δ)) for the gradient, as much for the difference times how far it is longer."""
    base = EPSILON / (2 * math.sqrt(LOG))
    for given, capped in ((GENERIC, False), ({**GENERIC, "L0": Fraction(1, 2)}, True)):
        reach, most = 7 / 3 * 1.25, 2 * float(given["L0"])
        assert (most < reach) == capped
        for variant in ("printed", "corrected"):
            found = exact_account("alg:nSFW", variant, R=3, b=96, d=7, **given)
            profile = found.readings[0].profile if variant == "printed" else found.profile
            mus = [base]
            for t in range(1, 4):
                made_for = reach / math.sqrt(t + 1) if variant == "printed" else reach / math.sqrt(t)
                mus.append(base * math.sqrt(1 + (min(reach / math.sqrt(t), most) / made_for) ** 2))
            assert profile.delta(0.2) == pytest.approx(gaussian_delta(F, 0.2, max(mus)), rel=1e-9)
            assert profile.certified.exact == (variant == "printed")
    one = exact_account("alg:nSFW", "corrected", R=1, b=96, **GENERIC)
    assert one.profile.certified.name == "one Gaussian release: exact δ_G"
    assert one.profile.delta(0.2) == pytest.approx(gaussian_delta(F, 0.2, base), rel=1e-9)
    two = exact_account("alg:nSFW", "corrected", R=2, b=96, **GENERIC)
    assert two.profile.certified.name == "two Gaussian releases of one batch (t ≥ 1, σ̂ made for η_{t−1}): exact δ_G"


def test_tight_noisy_sfw_by_hand():
    b, d, p = 90, 7, Fraction(3, 2)
    found = exact_account("alg:nSFW", "tight", R=3, b=b, d=d, p=p, **GENERIC)
    mu = gaussian_mu_safe(Fraction(3, 8), "1e-5")
    for t, scale in enumerate(found.scales):
        eta = 1 / math.sqrt(t + 1)
        change = min(7 / 3 * 1.25 / math.sqrt(t), 3.0) if t else 0.0
        bound = (1 - eta) * change + eta * 1.5 if t else 1.5
        size = math.ceil(b / (t + 1))
        assert scale.value == pytest.approx(2 * bound * d ** (1 / 6) / (size * mu), rel=1e-9)
        assert (scale.symbol, scale.where, scale.noise) == ("sigma", f"t={t}", "normal")
    assert found.profile.certified.exact


@pytest.mark.parametrize("variant", EDITIONS)
def test_the_scales_of_phased_sgd_by_hand(variant):
    n, d, epsilon = 64, 5, EPSILON
    given = {"n": n, "d": d, "L0": Fraction(3, 2), "R": Fraction(4, 3), "D": Fraction(5, 4)}
    found = exact_account("Alg:phased", variant, **given)
    rho, G, D = epsilon / (2 * math.sqrt(LOG)), 2.0, 1.25
    eta = D / (3 * G) * min(rho / math.sqrt(d), 1 / math.sqrt(n))
    assert len(found.scales) == 6
    if variant != "tight":
        for k, scale in enumerate(found.scales, 1):
            assert scale.value == pytest.approx(4 * G * eta / 4**k / rho, rel=1e-12)
            assert (scale.symbol, scale.where, scale.noise) == ("sigma_k", f"k={k}", "normal")
        assert found.magnitude == pytest.approx([4 * G / rho] * 6, rel=1e-12)
    beta = math.sqrt(n) * 1.5 / (4 / 3) / (1 if variant == "printed" else D)
    curvature = eta / 4 * beta * (4 / 3) ** 2
    assert found.notes[0].startswith(f"η = {eta:.6g} (lines 4 and 5); η₁βR² = {curvature:.4g}; oracle: α-accurate and")
    assert [c.holds for c in found.conditions] == [True] * {"printed": 4, "corrected": 3, "tight": 2}[variant]


@pytest.mark.parametrize("variant", EDITIONS)
def test_the_scale_of_noisy_frank_wolfe_by_hand(variant):
    """s = 3·L0·R·D/n·√(8T ln(1/δ))/ε of the text; a selection loses the range of the scores over s."""
    n, T = 512, 9
    given = {"n": n, "T": T, "J": 6, "L0": Fraction(3, 2), "R": Fraction(4, 3), "D": Fraction(5, 4), "noise": "laplace"}
    found = exact_account("Alg:nfw", variant, **given)
    unit = 2.0 * 1.25 / n
    (scale,) = found.scales
    if variant != "tight":
        assert scale.value == pytest.approx(3 * unit * math.sqrt(8 * T * LOG) / EPSILON, rel=1e-12)
    assert (scale.symbol, scale.where, scale.noise) == ("s", f"t=1..{T}", "laplace")
    longer = 2 * 1.25 * 0.25 / n if variant == "printed" else 0.0
    with_alpha = exact_account("Alg:nfw", variant, alpha=Fraction(1, 4), **given)
    without = exact_account("Alg:nfw", variant, alpha=0, **given)
    losses = [float(a.notes[0].rpartition("ε0 = ")[2].split()[0]) for a in (with_alpha, without)]
    assert (losses[0] - losses[1]) * scale.value == pytest.approx(longer, abs=2e-6 * scale.value)
    releases = T - 1 if variant == "printed" else T
    assert f"T = {T}, {releases} selections reach the output" in found.notes[0]
    assert without.profile.delta(0.3) == pytest.approx(kov_delta(F, 0.3, losses[1], releases), rel=1e-3)


def test_rounding_of_a_run_only_adds_to_what_a_selection_loses():
    given = {"n": 512, "T": 9, "J": 6, "noise": "laplace"}
    exact, run = (
        account("Alg:nfw", "corrected", Fraction(3, 8), "1e-5", numbers=numbers, **given) for numbers in (EXACT, None)
    )
    assert exact.scales == run.scales
    assert run.profile.upper(Fraction(1, 100)) > exact.profile.upper(Fraction(1, 100)) > 0


def test_a_tuned_run_takes_the_step_that_its_noise_is_made_for():
    target = PrivacyTarget("tight", Fraction(1), Fraction(1, 10**6))
    at = _Phased(target, 64, region(2, None, 1), Fraction(2), *[Fraction(1)] * 3, None, None, True)
    K = Ball(128)
    difference = step_size(K, at.run(K)) - at.eta(K, 0)
    assert abs(difference.mid) <= difference.rad < Fraction(1, 10**20)
    assert replace(at, tuned=False).run(K).stretch == 1


def test_conditions_name_what_is_missing():
    def conditions(algorithm, variant, epsilon="0.375", delta="1e-5", **given):
        return {c.text: c.holds for c in account(algorithm, variant, epsilon, delta, numbers=EXACT, **given).conditions}

    rounds = conditions("alg:polySFW", "corrected", R=3, b=4, n=36)
    assert rounds == {
        "b ≥ 2^(R−1) = 4 (here 4), so that every batch has a record": True,
        "bR² = 36 ≤ n = 36, so that batches are disjoint": True,
    }
    assert list(conditions("alg:polySFW", "corrected", R=3, b=3, n=26).values()) == [False, False]
    steps = conditions("Alg:nfw", "corrected", J=2, n=1000)
    real = 1000 * EPSILON / (math.log(2) * math.log(1000) * math.sqrt(LOG))
    assert steps == {
        "J ≥ 2 (here 2): T divides by ln J": True,
        f"T = nε/(ln J · ln n · √ln(1/δ)) ≥ 1 (here {real:.4g})": True,
    }
    assert account("Alg:nfw", "corrected", "0.375", "1e-5", J=2, n=1000).scales[0].where == f"t=1..{round(real)}"
    assert list(conditions("Alg:nfw", "corrected", J=1)) == ["J ≥ 2 (here 1): T divides by ln J"]


@pytest.mark.parametrize("kind", ["laplace", "gumbel"])
def test_what_a_record_loses_in_a_round_of_poly_sfw_by_hand(kind):
    """2D·c_k·P_{k,t}/(m_k·s) at step t ≥ k: the largest sum over the batches, and the largest sum of squares."""
    b, steps = 50, 8
    found = exact_account("alg:polySFW", "tight", R=4, b=b, noise=kind, **GENERIC)
    s = found.scales[-1].value
    losses = []
    for k in range(steps):
        eta = 1 / math.sqrt(k + 1)
        change = min(7 / 3 * 1.25 / math.sqrt(k), 3.0) if k else 0.0
        bound = (1 - eta) * change + eta * 1.5 if k else 1.5
        size = math.ceil(b / (k + 1))
        losses.append([2 * 1.25 * bound * decay(k, t) / (size * s) for t in range(k, steps)])
    pure = max(map(sum, losses))
    rho = max(sum(x * x for x in each) for each in losses) / (8 if kind == "gumbel" else 2)
    last = found.profile.certified.parts[-1]
    names = [part.name for part in last.parts]
    assert names == ["pure DP of the transcript, round of 8", f"zCDP of {kind} noise at the optimal order, round of 8"]
    for epsilon in (0.1, 0.3):
        assert float(last.parts[0].upper(epsilon)) == pytest.approx(kov_delta(F, epsilon, pure, 1), rel=1e-8)
        assert float(last.parts[1].upper(epsilon)) == pytest.approx(zcdp_delta(F, epsilon, rho), rel=1e-6)


# ------------------------------------------------------------ dp-accounting against exact results


@pytest.mark.parametrize(("epsilon0", "k"), [(0.024, 100), (0.3, 7), (1.5, 2), (0.01, 900), (0.0237, 1000)])
def test_composition_of_equal_steps_is_above_optimal_composition(epsilon0, k):
    """Never below the exact value, and within one per cent of it where it matters."""

    class Flat(TrajectoryLoss):
        def block(self, first, last):
            found = super().block(first, last)
            return type(found)(first, last, np.full(k, epsilon0), 0.0)

    loss = Flat([epsilon0])
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        truth = kov_delta(F, epsilon, epsilon0, k)
        bound = loss.block_delta(0, 0, epsilon)
        assert bound >= truth
        assert bound <= 1.01 * truth + 1e-10


@pytest.mark.parametrize(("sigma", "k"), [(2.0, 1), (20.0, 30)])
def test_the_library_is_pessimistic_on_gaussians(sigma, k):
    composed = pld.from_gaussian_mechanism(sigma, value_discretization_interval=1e-3).self_compose(k)
    for epsilon in (0.5, 1.0, 2.0):
        truth = gaussian_delta(F, epsilon, math.sqrt(k) / sigma)
        assert truth <= composed.get_delta_for_epsilon(epsilon) <= 1.05 * truth + 1e-9


def exact_worst(units, epsilon):
    """max over k of the exact composition of u_k·P_{k,t}, t ≥ k: 2^(T−k) outcomes."""
    T = len(units)
    return max(
        pure_composition_delta(F, epsilon, [Fraction(units[k] * decay(k, t)) for t in range(k, T)]) for k in range(T)
    )


@pytest.mark.parametrize("T", [1, 2, 5, 9])
def test_trajectories_are_above_exact_composition_and_close(T):
    rng = random.Random(T)
    units = [math.sqrt(k + 1) * rng.uniform(0.2, 0.6) for k in range(T)]
    loss = TrajectoryLoss(units)
    for epsilon in (0.0, 0.2, 0.7):
        truth = exact_worst(units, epsilon)
        assert truth <= loss.delta(epsilon) <= 1.03 * truth + 1e-6


def test_what_is_cut_off_is_paid_for():
    """With half of every trajectory cut off the bound is looser, and still above the exact value."""

    class Short(TrajectoryLoss):
        tail_share = 0.5

    units = [math.sqrt(k + 1) * 0.3 for k in range(8)]
    assert Short(units).block(2, 2).tail > 0.1
    for epsilon in (0.3, 0.7, 1.0):
        assert Short(units).delta(epsilon) >= TrajectoryLoss(units).delta(epsilon) >= exact_worst(units, epsilon) > 0


def test_a_block_dominates_each_of_its_batches():
    units = [math.sqrt(k + 1) * 0.05 for k in range(64)]
    loss = TrajectoryLoss(units)
    for first, last in ((0, 63), (40, 63), (50, 55), (7, 7)):
        bound = loss.block_delta(first, last, 0.8)
        for k in range(first, last + 1, 5):
            assert loss.block_delta(k, k, 0.8) <= bound + 1e-12


@pytest.mark.statement("thm:privacy-polySFW", kind="searched")
def test_the_reviewed_ratio_of_laplace_noise_in_a_round_of_256():
    """Printed noise divided by 5.97 is (1, 1e-6)-DP by composition over every batch; by 6.0 it is not (batch 229)."""
    root = math.sqrt(math.log(1e6))
    at = {ratio: TrajectoryLoss([math.sqrt(k + 1) * ratio / (256 * root) for k in range(256)]) for ratio in (5.97, 6.0)}
    assert at[5.97].delta(1.0) < 1e-6
    bound, first, last = at[6.0].worst(1.0)
    assert first <= 229 <= last
    assert 1.12e-6 < bound < 1.14e-6


def test_no_loss_is_no_loss():
    assert TrajectoryLoss([0.0, 0.0]).delta(0.0) == 0


# ----------------------------------------------------------------------------------------- profiles


def test_profiles_decide_on_balls():
    mu = gaussian_mu_safe(*PAIR)
    profile = PrivacyProfile(gaussian_rule(lambda K: K(mu)))
    assert profile.verdict(*PAIR) == "private"
    over = PrivacyProfile(gaussian_rule(lambda K: K(math.nextafter(math.nextafter(mu, 1), 1))))
    assert over.verdict(*PAIR) == "violated"
    assert profile.epsilon("1e-6") == pytest.approx(1, rel=1e-12)
    assert 2 * profile.enclosure(1).rad < Fraction(1, 10**30)
    assert "ball arithmetic" in profile.certificate(1)
    bound = Rule("bound", False, over.certified.body)
    assert PrivacyProfile(bound).verdict(*PAIR) == "not certified"


def test_profiles_do_not_underflow():
    profile = PrivacyProfile(gaussian_rule(lambda K: K("0.01")))
    assert profile.delta(1) == math.ulp(0.0)
    assert scientific(profile.upper(1)) == "2.216e-2178"
    assert profile.verdict(1, "2.217e-2178") == "private"
    assert profile.verdict(1, "2.214e-2178") == "violated"


def test_combined_rules_say_which_one_decided():
    pure, zcdp = pure_rule(lambda K: K("0.5"), "pure"), zcdp_rule(lambda K: K("0.01"), "zcdp")
    both = smallest([pure, zcdp])
    assert both.at("0.6") == "pure"
    assert both.at("0.4") == "zcdp"
    assert both.upper("0.6") == 0
    worst = largest([pure, kov_rule(lambda K: K("0.4"), 2, "twice")])
    assert worst.at("0.6") == "twice, 2 steps"
    assert PrivacyProfile(constant_rule("none")).epsilon("1e-9") == 0
    assert PrivacyProfile(pure).epsilon("1e-300") == pytest.approx(0.5)


def test_scientific_rounds_up():
    assert scientific(Fraction(1, 3), 3) == "3.34e-1"
    assert scientific(Fraction(99999, 100), 3) == "1.00e3"
    assert scientific(Fraction(0)) == "0"
    assert scientific(Fraction(10**-6).limit_denominator(10**12)) == "1.000e-6"


# ------------------------------------------------------------------- every algorithm in every variant


@pytest.mark.parametrize("variant", EDITIONS)
@pytest.mark.parametrize("algorithm", ACCOUNTANTS)
def test_every_account_is_private_at_its_target(algorithm, variant):
    found = account(algorithm, variant, *PAIR, **SMALL.get(algorithm, {}))
    expected = {"Alg:gll_oracle": "no noise"}.get(algorithm, "private")
    if (algorithm, variant) == ("Alg:PGPSMD", "printed"):
        expected = "cited"
    assert found.verdict == expected
    if found.profile is not None:
        assert found.scales
        assert found.profile.delta(1) <= 1e-6
        assert found.profile.delta(0.05) > found.profile.delta(1)


@pytest.mark.parametrize("algorithm", ["Alg:phased", "Alg:nfw", "alg:polySFW", "alg:nSFW", "Alg:PGPSMD"])
def test_tight_noise_is_not_larger_and_calibration_is_monotone(algorithm):
    own = SMALL.get(algorithm, {})
    corrected, tight = (account(algorithm, v, *PAIR, **own) for v in ("corrected", "tight"))
    assert noise_ratio(corrected, tight) >= 1
    magnitudes = [
        account(algorithm, "tight", epsilon, delta, **own).magnitude[-1]
        for epsilon, delta in (("0.5", "1e-8"), ("0.5", "1e-6"), ("1", "1e-6"), ("1", "1e-3"))
    ]
    assert all(a >= b for a, b in pairwise(magnitudes))
    assert magnitudes[0] > magnitudes[-1]


@pytest.mark.parametrize("algorithm", ["Alg:phased", "Alg:nfw", "alg:nSFW", "Alg:PGPSMD"])
def test_tight_noise_spends_the_whole_budget(algorithm):
    """One per mille less noise would not be certified: the calibration is not merely safe."""
    found = account(algorithm, "tight", *PAIR, **SMALL.get(algorithm, {}))
    assert found.profile.epsilon("1e-6") > 0.999999


@pytest.mark.statement("thm:l2_glm", kind="searched")
def test_phased_sgd_needs_its_conditions():
    ratio = noise_ratio(account("Alg:phased", "printed", *PAIR), account("Alg:phased", "tight", *PAIR))
    assert ratio == pytest.approx(3.52, abs=0.01)
    fails = account("Alg:phased", "printed", *PAIR, n=4096, d=2, D=48)
    assert fails.verdict == "no guarantee"
    assert fails.profile is None
    assert "η₁βR² ≤ 2 (here 4)" in fails.failed[0].text
    assert any("δ(1) ≥ 0.2767" in note for note in fails.notes)
    assert account("Alg:phased", "corrected", *PAIR, n=4096, d=2, D=48).verdict == "private"
    assert account("Alg:phased", "printed", *PAIR, n=4096, d=2, D="23.999").verdict == "private"
    edge = {"n": 4096, "d": 2, "D": 24, "numbers": EXACT}  # the ratio is exactly 2
    assert account("Alg:phased", "printed", *PAIR, **edge).verdict == "private"
    assert account("Alg:phased", "printed", *PAIR, n=4096, d=2, D="24.001").verdict == "no guarantee"
    assert account("Alg:phased", "printed", *PAIR, n=5000).failed[0].text.startswith("n = 5000 is a power of two")
    assert "ε ≤ √ln(1/δ)" in account("Alg:phased", "corrected", 4, "1e-6").failed[0].text
    assert account("Alg:phased", "tight", 4, "1e-6").verdict == "private"


def test_phased_sgd_needs_a_sound_oracle():
    halving = account("Alg:phased", "corrected", *PAIR, oracle="halving")
    assert halving.verdict == "no guarantee"
    assert "α-accurate" in halving.failed[0].text
    constant = account("Alg:phased", "printed", *PAIR, oracle="printed")
    assert constant.profile.delta(0) == 0
    free = account("Alg:phased", "tight", *PAIR, D=None, rank=5)
    assert free.verdict == "private"


@pytest.mark.statement("thm:l1_glm", kind="searched")
def test_frank_wolfe_ratios():
    """s_printed/s_tight with Laplace noise at (1, 1e-6): 15.8 at T = 1 down to 3.75 at T = 400; Gumbel 1.85 better."""
    for T, ratio in ((1, 15.8), (5, 7.1), (20, 4.0), (400, 3.75)):
        corrected = account("Alg:nfw", "corrected", *PAIR, T=T)
        tight = account("Alg:nfw", "tight", *PAIR, T=T, noise="laplace")
        assert noise_ratio(corrected, tight) == pytest.approx(ratio, rel=0.02)
    laplace, gumbel = (account("Alg:nfw", "tight", *PAIR, T=400, noise=noise) for noise in ("laplace", "gumbel"))
    assert noise_ratio(laplace, gumbel) == pytest.approx(1.85, abs=0.03)
    assert account("Alg:nfw", "tight", *PAIR, T=1).scales[0].noise == "laplace"
    assert account("Alg:nfw", "printed", *PAIR, T=1).profile.delta(0) == 0  # nothing reaches w_1
    assert account("Alg:nfw", "printed", *PAIR, J=1).verdict == "no guarantee"
    assert account("Alg:nfw", "printed", "0.01", "1e-6", n=100).verdict == "no guarantee"  # T < 1


@pytest.mark.statement("thm:privacy-polySFW", kind="searched")
def test_printed_poly_sfw_is_pure():
    """ε/√ln(1/δ) for the whole transcript, without any δ; and Theorem 10 needs δ ≤ 1/e."""
    found = account("alg:polySFW", "printed", *PAIR, R=6, b=1024)
    assert found.profile.certified.upper(1 / math.sqrt(math.log(1e6))) == 0
    assert found.profile.certified.at(1).startswith("pure DP")
    wide = account("alg:polySFW", "printed", 10, "0.9", R=1, L1=0)
    assert wide.verdict == "no guarantee"
    assert "1/e" in wide.failed[0].text
    assert account("alg:polySFW", "corrected", 10, "0.9", R=1, L1=0).verdict == "private"
    assert "bR²" in account("alg:polySFW", "printed", *PAIR, R=4, b=4096, n=100).failed[0].text
    assert "every batch" in account("alg:polySFW", "printed", *PAIR, R=9, b=16).failed[0].text


def test_laplace_poly_sfw_composes_better_than_zcdp():
    found = account("alg:polySFW", "printed", *PAIR, R=6, b=64, numbers=EXACT)
    assert found.profile.rule("0.15") == TrajectoryLoss.name
    assert "round-off not enclosed" in found.profile.certificate("0.15")
    assert "round-off" not in found.profile.certificate("0.15", certified=True)
    assert found.profile.delta("0.15") < 0.2 * found.profile.certified_delta("0.15")
    assert found.profile.epsilon("1e-4") < 0.95 * found.profile.certified_epsilon("1e-4")


@pytest.mark.statement("thm:privacy-noisySFW", kind="enclosed")
def test_printed_noisy_sfw_by_both_readings_of_its_batches():
    """Fixed by index: violated where the threshold says. Random, as printed: certified private beyond it."""
    for delta, threshold in (("1e-2", "3.00"), ("1e-4", "2.16"), ("1e-6", "1.24"), ("1e-8", "0.556")):
        below = account("alg:nSFW", "printed", Fraction(threshold) - Fraction(1, 100), delta)
        above = account("alg:nSFW", "printed", Fraction(threshold) + Fraction(1, 100), delta)
        fixed = [a.readings[0].verdict(a.target) for a in (below, above)]
        assert fixed == ["private", "fails so read"]
        assert (below.verdict, above.verdict) == ("private", "private")
        for variant in ("corrected", "tight"):
            assert account("alg:nSFW", variant, Fraction(threshold) + Fraction(1, 100), delta).verdict == "private"
    assert account("alg:nSFW", "corrected", 9, "1e-6").verdict == "private"  # beyond 8.34 the constant 16 is stretched
    assert account("alg:nSFW", "printed", 4, "1e-2", R=1).verdict == "private"  # one step: no pair
    assert account("alg:nSFW", "printed", 4, "1e-2", R=1).readings == ()
    rough = account("alg:nSFW", "printed", 4, "1e-2", L1=100)  # 2L0 < L1·D·η: the difference is capped
    assert rough.readings[0].profile.verdict(4, "1e-2") == "private"


@pytest.mark.statement("thm:privacy-noisySFW", kind="enclosed")
def test_printed_noisy_sfw_is_never_called_violated_for_random_batches():
    """(2, 1e-6) is certified; larger n helps; beyond the threshold nothing is certified, and nothing refuted."""
    assert account("alg:nSFW", "printed", 2, "1e-6").verdict == "private"
    assert account("alg:nSFW", "printed", 2, "1e-6").profile.delta(2) < Fraction("5.3e-7")
    assert account("alg:nSFW", "printed", 3, "1e-6").verdict == "not certified"
    assert account("alg:nSFW", "printed", 3, "1e-6", n=16 * 4096).verdict == "private"
    for epsilon in (5, 50):
        assert account("alg:nSFW", "printed", epsilon, "1e-6").verdict == "not certified"


def test_the_average_over_batches_is_the_reference_s():
    from reference.smooth.leaks import random_batches_delta

    for R, n in ((4, None), (8, 64 * 4096)):
        found = account("alg:nSFW", "printed", 3, "1e-6", R=R, n=n, numbers=EXACT).profile.delta(2)
        assert found == pytest.approx(random_batches_delta(F, 2, 3, "1e-6", R, 4096, n), rel=1e-9)


def test_printed_poly_sfw_needs_one_of_two_conditions():
    """δ ≤ 1/e, or ε ≤ √ln(1/δ) as the paper asks for Algorithm 2."""
    assert account("alg:polySFW", "printed", 10, "0.9", R=2, L1=0).verdict == "no guarantee"
    assert account("alg:polySFW", "printed", "0.3", "0.9", R=2, L1=0).verdict == "private"


# -------------------------------------------------------------------------------------- sandwiches


def transcripts(scores, scale, noise):
    """The exact law of adaptive selections: `scores(history)` gives the next scores, or None at the end."""
    law = {(): 1.0}
    while True:
        grown = {}
        for history, p in law.items():
            now = scores(history)
            if now is None:
                return law
            for i, q in enumerate(noisy_min_law(F, now, scale, noise)):
                grown[(*history, i)] = p * q
        law = grown


@pytest.mark.parametrize(
    ("variant", "noise"), [("printed", "laplace"), ("corrected", "laplace"), ("tight", "laplace"), ("tight", "gumbel")]
)
def test_sandwich_frank_wolfe(variant, noise):
    """Three adaptive selections whose scores move by the full range: exact δ ≤ the account's, at several ε."""
    T = 4 if variant == "printed" else 3  # the last printed selection does not reach the output
    found = account("Alg:nfw", variant, *PAIR, T=T, n=100, noise=noise)
    s, move = Fraction(found.scales[0].value), Fraction(2, 100)
    if variant == "printed":  # the unclipped oracle may be α longer
        move += Fraction(2 / (100 * 100 * math.log(100)))

    def scores(sign):
        def now(history):
            if len(history) == 3:
                return None
            gap = Fraction(len(history) + sum(history), 50)
            return [0, gap + (move if sign else 0), -gap + (move if sign and sum(history) % 2 else 0)]

        return now

    p, q = (transcripts(scores(sign), s, noise) for sign in (0, 1))
    for epsilon in (0.0, 0.05, 0.5, 0.9):
        truth = dp_delta(F, list(p.values()), [q[h] for h in p], epsilon)
        assert truth <= found.profile.delta(epsilon) + 1e-14
    assert dp_delta(F, list(p.values()), [q[h] for h in p], 0.0) > 0.1 * found.profile.delta(0)


@pytest.mark.parametrize(("variant", "noise"), [("printed", "laplace"), ("corrected", "laplace"), ("tight", "gumbel")])
def test_sandwich_poly_sfw(variant, noise):
    """A record of batch k of a round of four, linear losses: the influence 2L0·(k+1)η_k·P_{k,t}/b is attained."""
    b, D = 16, 1
    found = account("alg:polySFW", variant, *PAIR, R=3, b=b, L1=0, noise="gumbel")
    s = Fraction(found.scales[2].value)
    for k in range(4):
        weight = Fraction(k + 1, b) if variant == "printed" else Fraction(1, -(-b // (k + 1)))
        shift = [0.0 if t < k else 2 * float(weight) * decay(k, t) / math.sqrt(k + 1) for t in range(4)]

        def scores(sign, shift=shift):
            def now(history):
                if len(history) == 4:
                    return None
                gap = Fraction(sum(history), 40)
                return [gap, Fraction(sign * D * shift[len(history)])]

            return now

        p, q = (transcripts(scores(sign), s, noise) for sign in (0, 1))
        for epsilon in (0.0, 0.05, 0.5):
            truth = dp_delta(F, list(p.values()), [q[h] for h in p], epsilon)
            assert truth <= found.profile.delta(epsilon) + 1e-12


@pytest.mark.parametrize("variant", EDITIONS)
def test_sandwich_noisy_sfw(variant):
    """d = 1, f = ±(L0/D)w² on [−1/2, 1/2], w_0 = −1/2, w_1 = 1/2: the releases of batch 1 attain the account's μ."""
    b, L = 10, math.log(100)
    found = account("alg:nSFW", variant, 4, "1e-2", R=2, b=b, d=1, L0=1, L1=2, D=1)
    by_name = {(s.symbol, s.where): s.value for s in found.scales}
    gradient = [2 * w for w in (-0.5, 0.5)]
    variation, fresh = 2 * 2 / b * (gradient[1] - gradient[0]), 2 * 2 / b * gradient[1]
    if variant == "tight":
        eta = 1 / math.sqrt(2)
        mu = ((1 - eta) * variation + eta * fresh) / by_name["sigma", "t=1"]
    else:
        mu = math.hypot(variation / by_name["sigma_hat", "t=1"], fresh / by_name["sigma", "t=1"])
    if variant == "printed":
        assert mu == pytest.approx(math.sqrt(3) * 4 / (2 * math.sqrt(L)), rel=1e-12)
    profile = found.readings[0].profile if variant == "printed" else found.profile  # the batch is fixed here
    for epsilon in (1, 4, 6):
        assert gaussian_delta(F, epsilon, mu) == pytest.approx(profile.delta(epsilon), rel=1e-9)
    assert (gaussian_delta(F, 4, mu) > 0.01) == (variant == "printed")


@pytest.mark.parametrize("variant", EDITIONS)
def test_sandwich_phased_sgd(variant):
    """The corrected algorithm run without noise on neighbours: the outputs' distance stays below what is accounted.

    With the sound oracle the printed variant moves no further (D = 1: both β are the same).
    """
    from reference.convex.phased_sgd import phased_parameters, phased_sgd
    from reference.numerics.tape import ZeroTape
    from reference.setting.data import Example
    from reference.setting.losses import GLL, Absolute
    from reference.setting.sets import L2Ball

    n = 16
    W = L2Ball([0, 0], Fraction(1, 2))
    p = phased_parameters(F, n, GLL(Absolute, 1, 1), W, epsilon=1, delta=Fraction(1, 10**6))
    rng, found = random.Random(0), account("Alg:phased", variant, *PAIR, n=n, d=2)
    reached = 0.0
    for trial in range(20):
        data = [Example((math.cos(a), math.sin(a)), rng.uniform(-1, 1)) for a in (rng.uniform(0, 7) for _ in range(n))]
        other = list(data)
        place = rng.randrange(8) if trial % 2 else 0
        data[place], other[place] = Example((1, 0), 9), Example((1, 0), -9)
        runs = [phased_sgd(F, tuple(d), p, ZeroTape()) for d in (data, other)]
        first, second = (run.phases[0] for run in runs)
        reached = max(reached, norm(F, first.w - second.w, 2) / found.scales[0].value)
    for epsilon in (0.05, 0.1, 0.25):
        assert 0 < gaussian_delta(F, epsilon, reached) <= found.profile.delta(epsilon)
    assert gaussian_delta(F, 0.05, reached) > 0.2 * found.profile.delta(0.05)


@pytest.mark.parametrize("variant", ["corrected", "tight"])
def test_sandwich_proximal(variant):
    """A mean of clipped gradients in ℓ_q moves by the full sensitivity: the δ of T releases equals the account's."""
    d, p, batch, T = 4, Fraction(3, 2), 100, 9
    found = account("Alg:PGPSMD", variant, *PAIR, n=302, R=4, T=T, d=d, p=p)  # three calls on 100 records each
    q = 3
    g = [d ** (-1 / q)] * d  # ‖g‖_q = 1, all coordinates equal
    shift = 2 * math.sqrt(sum(x * x for x in g)) / batch
    mu = math.sqrt(T) * shift / found.scales[0].value
    assert gaussian_delta(F, 1, mu) == pytest.approx(found.profile.delta(1), rel=1e-9)
    assert gaussian_delta(F, 1, mu) <= 1e-6 * (1 + 1e-9)


def test_one_round_of_algorithm_6_reads_no_record():
    found = account("Alg:PGPSMD", "corrected", *PAIR, R=1)
    assert found.scales == ()
    assert found.verdict == "private"
    assert found.profile.delta(0) == 0


def test_the_tuned_step_is_that_of_the_run_and_only_the_tight_variant_takes_it():
    from reference.convex.phased_sgd import phased_parameters, phased_sgd
    from reference.convex.sensitivity import tuned_parameters
    from reference.numerics.tape import ZeroTape
    from reference.setting.data import Example
    from reference.setting.losses import GLL, Absolute
    from reference.setting.sets import L2Ball

    n, W = 64, L2Ball([0, 0], Fraction(1, 2))
    plain = phased_parameters(F, n, GLL(Absolute, 1, 1), W, epsilon=1, delta=Fraction(1, 10**6))
    run = phased_sgd(F, [Example((0, 0), 0)] * n, tuned_parameters(F, plain), ZeroTape())
    given = {"n": n, "d": 2, "numbers": EXACT}
    tuned, theorem = (account("Alg:phased", "tight", *PAIR, **given, step=step) for step in ("tuned", "theorem"))
    for phase, scale in zip(run.phases, tuned.scales, strict=True):
        assert scale.value == pytest.approx(phase.sigma, rel=1e-8)  # μ* of binary64 is a safe one
        assert scale.value <= phase.sigma
    assert tuned.scales[0].value > 1.5 * theorem.scales[0].value  # a longer step
    assert tuned.verdict == "private"
    assert tuned.profile.delta(1) > 0.9e-6
    corrected = [account("Alg:phased", "corrected", *PAIR, n=n, d=2, step=step).scales for step in ("tuned", "theorem")]
    assert corrected[0] == corrected[1]


def test_sandwich_of_one_laplace_release():
    """Exact δ of Laplace ≤ randomised response's ≤ zCDP's, on balls."""
    K = Ball(128)
    for epsilon in ("0", "0.3", "0.9"):
        laplace, response = laplace_delta(K, epsilon, 1), kov_delta(K, epsilon, 1, 1)
        assert K.le(laplace, response)
        assert K.le(response, zcdp_delta(K, epsilon, "0.5"))


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("epsilon", "delta", "message"),
    [
        (0, "1e-6", "epsilon = 0 must be positive"),
        (-1, "1e-6", "epsilon = -1 must be positive"),
        (float("nan"), "1e-6", "epsilon = nan must be finite"),
        (1, 0, "delta = 0 must lie strictly between 0 and 1"),
        (1, 1, "delta = 1 must lie strictly between 0 and 1"),
        (1, "x", "delta = 'x' must be an exact finite number"),
    ],
)
def test_bad_targets_are_refused(epsilon, delta, message):
    for algorithm, variant in product(ACCOUNTANTS, EDITIONS):
        with pytest.raises(ValueError, match=message):
            account(algorithm, variant, epsilon, delta)


def test_extreme_targets_are_answered_or_refused():
    """Tiny ε, huge ε, δ near 1: a certified answer, quickly, and never a δ of 0."""
    for epsilon, delta in (("1e-20", "1e-30"), ("1e-6", "0.999"), ("1000", "1e-300")):
        for algorithm in ("Alg:phased", "alg:nSFW", "Alg:PGPSMD"):
            found = account(algorithm, "tight", epsilon, delta, **SMALL.get(algorithm, {}))
            assert found.verdict == "private"
            spent = found.profile.epsilon(delta)  # scales are raised by up to 2^-40: at δ = 0.999 this shows in ε
            assert 0.999 * float(epsilon) < spent <= math.nextafter(float(epsilon), math.inf)
            assert found.profile.delta(2 * Fraction(epsilon)) > 0


def test_the_sums_of_a_round_are_those_of_the_reference():
    from audit.accounting.smooth import _Loss, _unit_sums
    from reference.smooth.sensitivity import batch_sizes, unit_sums

    K = Ball(128)
    for L0, L1, D in ((1, 1, 1), (Fraction(1, 3), 7, 2), (1, 0, 2)):
        loss = _Loss(Fraction(L0), Fraction(L1), Fraction(D))
        for T in (1, 2, 8, 64):
            for sizes in (batch_sizes(1000, T), tuple(Fraction(1000, t + 1) for t in range(T))):
                fast = _unit_sums(128, sizes, loss)
                slow = unit_sums(K, sizes, [loss.bound(K, k) for k in range(T)])
                assert all(abs(a.mid - b.mid) <= a.rad + b.rad for a, b in zip(fast, slow, strict=True))
                assert all(a.rad < Fraction(1, 10**30) for a in fast)


def test_bad_parameters_are_refused():
    for algorithm, parameters, message in (
        ("Alg:phased", {"n": 1}, "n = 1 must"),
        ("Alg:phased", {"L0": 0}, "L0 = 0 must be positive"),
        ("Alg:phased", {"oracle": "magic"}, "oracle = 'magic' must be one of"),
        ("Alg:nfw", {"noise": "normal"}, "noise = 'normal' must be"),
        ("alg:polySFW", {"R": 0}, "R = 0 must"),
        ("alg:polySFW", {"R": 99}, "R = 99 must be at most"),
        ("alg:polySFW", {"L0": 0, "L1": 0}, "L0 = 0 must not vanish"),
        ("alg:nSFW", {"p": 1}, "p = 1 must lie in"),
        ("Alg:phased", {"step": "longer"}, "step = 'longer' must be theorem or tuned"),
        ("Alg:phased", {"step": "tuned", "D": None}, "D = None must be given for a tuned step"),
        ("Alg:PGPSMD", {"p": 3}, "p = 3 must lie in"),
        ("Alg:PGPSMD", {"n": 2, "R": 4}, "n = 2 must be at least R = 4"),
    ):
        with pytest.raises(ValueError, match=message):
            account(algorithm, "tight", *PAIR, **parameters)
    with pytest.raises(ValueError, match="algorithm = 'sgd' is unknown"):
        account("sgd", "tight", *PAIR)
    with pytest.raises(ValueError, match="variant = 'best' must be one of"):
        account("Alg:nfw", "best", *PAIR)


def test_a_delta_below_binary64_is_calibrated():
    for algorithm in ("Alg:phased", "Alg:nfw", "alg:polySFW", "alg:nSFW", "Alg:PGPSMD"):
        found = account(algorithm, "tight", 1, "1e-400", **SMALL.get(algorithm, {}))
        assert found.verdict == "private"
        assert found.profile.upper(1) <= Fraction(1, 10**400)
        assert found.magnitude[0] > account(algorithm, "tight", *PAIR, **SMALL.get(algorithm, {})).magnitude[0] * 0.999
