"""Section 2: the definition, Lemma 1, composition, conversions and mechanisms, in three number systems."""

import math
import random
from fractions import Fraction
from itertools import chain, combinations, product

import mpmath
import pytest
from composition import pure_composition_delta
from mpmath import mp
from scipy import stats

from reference.numerics.enclosures import float_above, float_below
from reference.numerics.numbers import MP, Ball, Float64, Undecided, certify, norm
from reference.privacy import (
    advanced_composition,
    advanced_composition_tanh,
    bounded_range_rho,
    dp_delta,
    dp_epsilon,
    dual_norm_of_another_product,
    excess_risk_without_a_minimiser,
    exponential_mechanism,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    gaussian_mu_safe,
    gdp_composition,
    hockey_stick,
    kov_delta,
    kov_epsilon,
    kov_epsilon0,
    laplace_delta,
    log_inverse,
    noisy_min_epsilon,
    noisy_min_law,
    pure_rho,
    two_neighbour_relations,
    zcdp_delta,
    zcdp_rho,
)

F, M, B = Float64(), MP(50), Ball(160)


def relative(a, b):
    return abs(a / b - 1)


def random_law(rng, size):
    weights = [rng.expovariate(1) + 1e-3 for _ in range(size)]
    return [w / sum(weights) for w in weights]


# ------------------------------------------------------------------------------------------- the definition


def test_the_worst_event_is_the_hockey_stick():
    rng = random.Random(1)
    for _ in range(20):
        p, q = random_law(rng, 6), random_law(rng, 6)
        epsilon = rng.uniform(0, 2)
        events = chain.from_iterable(combinations(range(6), size) for size in range(7))
        worst = max(sum(p[i] for i in e) - math.exp(epsilon) * sum(q[i] for i in e) for e in events)
        assert hockey_stick(F, p, q, epsilon) == pytest.approx(worst, abs=1e-15)


def test_both_directions_count():
    p, q = [0.5, 0.5], [0.1, 0.9]
    assert hockey_stick(F, p, q, 1) > 0.2
    assert hockey_stick(F, q, p, 1) == 0
    assert dp_delta(F, q, p, 1) == dp_delta(F, p, q, 1) > 0.2
    assert dp_delta(F, q, p, 1) <= 0.24


def test_post_processing_never_helps_the_adversary():
    rng = random.Random(2)
    for _ in range(50):
        p, q = random_law(rng, 8), random_law(rng, 8)
        image = [rng.randrange(4) for _ in range(8)]
        p2 = [sum(a for a, i in zip(p, image, strict=True) if i == j) for j in range(4)]
        q2 = [sum(a for a, i in zip(q, image, strict=True) if i == j) for j in range(4)]
        assert hockey_stick(F, p2, q2, 0.3) <= hockey_stick(F, p, q, 0.3) + 1e-15


def test_losses_add_up_on_one_record_and_not_over_disjoint_records():
    def response(bit, epsilon):
        keep = math.exp(epsilon) / (1 + math.exp(epsilon))
        return [keep, 1 - keep] if bit == 0 else [1 - keep, keep]

    def joint(*laws):
        return [math.prod(x) for x in product(*laws)]

    same = joint(response(0, 1), response(0, 0.5)), joint(response(1, 1), response(1, 0.5))
    assert dp_epsilon(F, *same) == pytest.approx(1.5)
    # two records, each answered once; neighbours differ in one record: the maximum, not the sum
    for change in ((1, 0), (0, 1)):
        pair = joint(response(0, 1), response(0, 0.5)), joint(response(change[0], 1), response(change[1], 0.5))
        assert dp_epsilon(F, *pair) <= 1 + 1e-12


# ------------------------------------------------------------------------------------------------ Lemma 1

COMPOSITIONS = [
    (epsilon, delta, k, delta_prime)
    for epsilon in ("0.01", "0.1", "1", "3")
    for delta in ("0", "1e-6", "0.3")
    for k in (1, 2, 10, 200)
    for delta_prime in ("1e-6", "0.01", "0.5", "0.99")
]


def kov_with_delta(K, epsilon, epsilon0, delta0, k):
    """Steps that reveal everything with probability δ0 each, and are randomised responses at ε0 otherwise."""
    return 1 - (1 - K(delta0)) ** k * (1 - kov_delta(K, epsilon, epsilon0, k))


@pytest.mark.statement("lem:adv_comp", kind="enclosed")
@pytest.mark.parametrize("rule", [advanced_composition, advanced_composition_tanh])
def test_lemma_1_covers_the_exact_composition(rule):
    """δ(ε') of the worst k-fold composition is at most kδ + δ' wherever that is below 1, decided on balls."""
    K = Ball(128)
    for epsilon, delta, k, delta_prime in COMPOSITIONS:
        total_epsilon, total_delta = rule(K, epsilon, delta, k, delta_prime)
        if total_delta.ball < 1:
            truth = kov_with_delta(K, total_epsilon, epsilon, delta, k)
            assert K.le(truth, total_delta), (epsilon, delta, k, delta_prime)


@pytest.mark.statement("lem:adv_comp", kind="enclosed")
def test_the_deviation_of_lemma_1_cannot_be_halved():
    """The mutant √(k ln(1/δ')/2) is caught: the constant 2 under the root is needed."""
    K, k, epsilon, target = Ball(128), 200, "0.1", "1e-6"
    mutant = K(epsilon) * K.sqrt(k * log_inverse(K, target) / 2) + k * K(epsilon) * K.expm1(K(epsilon))
    assert K.lt(K(target), kov_delta(K, mutant, epsilon, k))


@pytest.mark.statement("lem:adv_comp", kind="searched")
def test_the_mean_loss_of_randomised_response_is_the_tanh_term():
    for epsilon in ("0.001", "0.1", "1", "5"):
        e = M(epsilon)
        mean = e * (M.exp(e) - 1) / (M.exp(e) + 1)
        printed = advanced_composition(M, epsilon, 0, 1, "0.5")[0] - e * M.sqrt(2 * M.log(M(2)))
        tight = advanced_composition_tanh(M, epsilon, 0, 1, "0.5")[0] - e * M.sqrt(2 * M.log(M(2)))
        assert relative(tight, mean) < 1e-45
        assert tight < printed
    steps = 10**24  # so many that the second term is all
    tight, printed = (rule(M, "1e-9", 0, steps, "0.5")[0] for rule in (advanced_composition_tanh, advanced_composition))
    assert 0.5 < tight / printed < 0.502


def test_lemma_1_in_numbers():
    epsilon, delta = advanced_composition(F, 0.1, 1e-7, 100, 1e-6)
    assert epsilon == pytest.approx(0.1 * math.sqrt(200 * math.log(1e6)) + 10 * math.expm1(0.1), rel=1e-14)
    assert delta == pytest.approx(1.1e-5)


# ---------------------------------------------------------------------------- optimal composition of pure DP


def brute_force(K, epsilon, epsilons):
    """The definition applied to the product of randomised responses: 2^k outcomes."""
    keep = [K.exp(K(e)) / (1 + K.exp(K(e))) for e in epsilons]
    p = [math.prod(c, start=K(1)) for c in product(*[(a, 1 - a) for a in keep])]
    q = [math.prod(c, start=K(1)) for c in product(*[(1 - a, a) for a in keep])]
    return dp_delta(K, p, q, epsilon)


@pytest.mark.parametrize("k", range(1, 13))
def test_kov_equals_brute_force(k):
    K = MP(40)
    for epsilon0, epsilon in (("0.3", "0.5"), ("1.5", "1"), ("0.7", "0")):
        exact, brute = kov_delta(K, epsilon, epsilon0, k), brute_force(K, epsilon, [epsilon0] * k)
        assert abs(exact - brute) < 1e-36, (k, epsilon0, epsilon)
        assert kov_delta(B, epsilon, epsilon0, k).contains(Fraction(0)) == (brute == 0)


def test_unequal_steps_equal_brute_force():
    K, steps = MP(40), ["0.1", "0.5", "0.1", "1.2", "0.5", "0.1", "0.03"]
    for epsilon in ("0", "0.4", "1.9", "2.5"):
        assert abs(pure_composition_delta(K, epsilon, steps) - brute_force(K, epsilon, steps)) < 1e-36
    assert pure_composition_delta(F, "2.53", steps) == 0
    assert pure_composition_delta(F, "2.52", steps) > 0
    assert pure_composition_delta(F, 1, ["0.1"] * 100) == kov_delta(F, 1, "0.1", 100)
    with pytest.raises(ValueError, match="outcomes exceed"):
        pure_composition_delta(F, 1, [Fraction(1, i) for i in range(1, 30)])


def test_kov_is_zero_exactly_from_the_sum_on():
    assert kov_delta(F, "0.5", "0.05", 10) == 0
    assert kov_delta(B, "0.5", "0.05", 10).ball.is_zero()
    assert 0 < kov_delta(F, "0.49999999999", "0.05", 10) < 1e-10


def test_kov_with_delta_equals_brute_force_with_a_revealing_outcome():
    K, k, epsilon0, delta0 = MP(40), 3, "0.4", "0.01"
    keep, d = K.exp(K(epsilon0)) / (1 + K.exp(K(epsilon0))), K(delta0)
    one = [d, (1 - d) * keep, (1 - d) * (1 - keep), K(0)], [K(0), (1 - d) * (1 - keep), (1 - d) * keep, d]
    p = [math.prod(c, start=K(1)) for c in product(one[0], repeat=k)]
    q = [math.prod(c, start=K(1)) for c in product(one[1], repeat=k)]
    assert abs(kov_with_delta(K, "0.6", epsilon0, delta0, k) - dp_delta(K, p, q, "0.6")) < 1e-36


def test_kov_epsilon0_is_the_largest_admissible_one():
    K = Ball(128)
    for epsilon, delta, k in (("1", "1e-6", 100), ("1", "1e-6", 1), ("0.1", "0.4", 7), ("8", "1e-30", 50)):
        best = kov_epsilon0(K, epsilon, delta, k)
        low, high = (best.mid - best.rad) * (1 - Fraction(1, 10**30)), (best.mid + best.rad) * (1 + Fraction(1, 10**30))
        assert K.lt(kov_delta(K, epsilon, low, k), K(delta))
        assert K.lt(K(delta), kov_delta(K, epsilon, high, k))
        assert best.rad < Fraction(1, 10**30)
    assert kov_epsilon0(F, 1, "1e-6", 100) == pytest.approx(0.024011, abs=5e-7)


def test_kov_at_ten_thousand_steps_is_enclosed():
    enclosure = kov_delta(Ball(160), 1, "0.0024", 10_000)
    assert 2 * enclosure.rad < Fraction(1, 10**30)
    tighter = kov_delta(Ball(300), 1, "0.0024", 10_000)
    assert enclosure.contains(tighter.mid)
    assert kov_delta(F, 1, "0.0024", 10_000) == F.to_float(kov_delta(MP(40), 1, "0.0024", 10_000))


def test_kov_epsilon_inverts_the_profile():
    for epsilon0, k, delta in (("0.1", 100, "1e-6"), ("2", 3, "0.01"), ("0.01", 5, "1e-12")):
        epsilon = kov_epsilon(M, delta, epsilon0, k)
        assert relative(kov_delta(M, epsilon, epsilon0, k), M(delta)) < 1e-40
    assert kov_epsilon(F, "0.9", "0.1", 2) == 0


# ------------------------------------------------------------------------------------------- zCDP and GDP


def test_the_conversion_of_zcdp_is_the_best_over_all_orders():
    rho, epsilon = mp.mpf("0.05"), mp.mpf(1)

    def bound(alpha):
        return mp.exp((alpha - 1) * (alpha * rho - epsilon)) / (alpha - 1) * (1 - 1 / alpha) ** alpha

    best = zcdp_delta(F, 1, "0.05")
    scan = [bound(mp.mpf(i) / 200 + 1) for i in range(1, 10_000)]
    assert best <= min(scan) * (1 + 1e-12)
    assert float(min(scan)) == pytest.approx(best, rel=1e-5)


def test_zcdp_inverses_and_the_reviewed_figures():
    assert zcdp_rho(F, 1, "1e-6") == pytest.approx(0.02436, abs=5e-6)
    for epsilon, delta in (("1", "1e-6"), ("0.01", "0.5"), ("20", "1e-12")):
        assert relative(zcdp_delta(M, epsilon, zcdp_rho(M, epsilon, delta)), M(delta)) < 1e-40
        L = M.log(1 / M(delta))
        simple = (M.sqrt(L + M(epsilon)) - M.sqrt(L)) ** 2  # where ρ + 2√(ρL) = ε
        assert simple < zcdp_rho(M, epsilon, delta)


def test_zcdp_is_above_the_truth_for_responses_and_gaussians():
    K = Ball(128)
    for epsilon in ("0.2", "1", "3"):
        for k, epsilon0 in ((1, "0.5"), (10, "0.2"), (100, "0.1")):
            rho = k * pure_rho(K, epsilon0)
            assert K.le(kov_delta(K, epsilon, epsilon0, k), zcdp_delta(K, epsilon, rho))
        for mu in ("0.1", "1", "3"):
            assert K.lt(gaussian_delta(K, epsilon, mu), zcdp_delta(K, epsilon, K(mu) ** 2 / 2))


def test_the_renyi_lemma_behind_both_constants():
    """D_α ≤ αw²/8 for losses in an interval of length w, and within 3 per cent of it for randomised response."""
    rng, sharpest = random.Random(5), 0.0
    for _ in range(300):
        p, q = random_law(rng, 4), random_law(rng, 4)
        losses = [math.log(a / b) for a, b in zip(p, q, strict=True)]
        width, alpha = max(losses) - min(losses), 1 + rng.expovariate(1)
        divergence = math.log(sum(b * (a / b) ** alpha for a, b in zip(p, q, strict=True))) / (alpha - 1)
        assert divergence <= alpha * bounded_range_rho(F, width) * (1 + 1e-9)
    for epsilon in (0.01, 0.1, 0.5):
        keep = 1 / (1 + math.exp(-epsilon))
        divergence = math.log(keep**2 / (1 - keep) + (1 - keep) ** 2 / keep)
        assert divergence <= 2 * pure_rho(F, epsilon)
        sharpest = max(sharpest, divergence / (2 * pure_rho(F, epsilon)))
    assert sharpest > 0.97


def test_gaussian_composition_is_one_gaussian():
    assert gdp_composition(F, [3, 4]) == 5
    assert relative(gdp_composition(M, ["0.1"] * 100), M(1)) < 1e-45


# ----------------------------------------------------------------------------------- the Gaussian mechanism

PROFILE = [(e, m) for e in ("0", "0.01", "0.5", "1", "4", "20") for m in ("0.05", "0.26805", "1", "3", "10")]


@pytest.mark.parametrize(("epsilon", "mu"), PROFILE)
def test_gaussian_delta_against_scipy_and_mpmath(epsilon, mu):
    e, m = float(epsilon), float(mu)
    by_scipy = stats.norm.cdf(m / 2 - e / m) - math.exp(e) * stats.norm.cdf(-e / m - m / 2)
    assert gaussian_delta(F, e, m) == pytest.approx(by_scipy, rel=1e-9, abs=1e-15)
    with mpmath.workdps(200):
        exact_e, exact_m = mp.mpf(epsilon), mp.mpf(mu)
        truth = mp.ncdf(exact_m / 2 - exact_e / exact_m) - mp.exp(exact_e) * mp.ncdf(-exact_e / exact_m - exact_m / 2)
        assert relative(mp.mpf(gaussian_delta(M, epsilon, mu)), truth) < mp.mpf(10) ** -48
        enclosure = gaussian_delta(B, epsilon, mu)
        assert enclosure.contains(truth)
    assert 2 * enclosure.rad < Fraction(1, 10**30)


def test_tiny_deltas_do_not_vanish():
    ball = gaussian_delta(B, 1, "0.001")
    assert ball.mid > 0
    assert ball.ball > 0
    assert str(ball).startswith("[3.7766290001428508991")
    assert "e-217157" in str(ball)
    assert gaussian_delta(F, 1, "0.001") == math.ulp(0.0) > 0
    assert kov_delta(F, "99.9", 1, 100) > 0
    assert kov_delta(B, "9999.9", 1, 10_000).ball > 0
    assert zcdp_delta(F, 1000, "0.01") > 0
    for inverse in (gaussian_mu, zcdp_rho):
        values = [K.to_float(inverse(K, 1, "1e-400")) for K in (F, M, B)]
        assert values[0] == values[1] == values[2] > 0
    assert log_inverse(F, "1e-400") == pytest.approx(400 * math.log(10), rel=1e-15)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        ("1", "1e-6"),
        ("1", "1e-5"),
        ("0.001", "1e-3"),
        ("10", "1e-12"),
        ("1e-6", "0.999"),
        ("300", "1e-300"),
        ("1", "1e-400"),
    ],
)
def test_mu_is_enclosed_and_its_safe_value_never_overspends(epsilon, delta):
    K = Ball(192)
    enclosure = gaussian_mu(K, epsilon, delta)
    low, high = enclosure.mid - enclosure.rad, enclosure.mid + enclosure.rad
    tiny = Fraction(1, 10**50)
    assert enclosure.rad < high / 10**40
    assert K.lt(gaussian_delta(K, epsilon, low * (1 - tiny)), K(delta))
    assert K.lt(K(delta), gaussian_delta(K, epsilon, high * (1 + tiny)))
    safe = gaussian_mu_safe(epsilon, delta)
    assert K.le(gaussian_delta(K, epsilon, safe), K(delta))
    assert K.lt(K(delta), gaussian_delta(K, epsilon, math.nextafter(math.nextafter(safe, 9e9), 9e9)))


def test_mu_in_numbers():
    assert gaussian_mu(F, 1, "1e-6") == pytest.approx(0.23670438, abs=5e-9)
    assert gaussian_mu(F, 1, "1e-5") == pytest.approx(0.26805112, abs=5e-9)
    assert gaussian_epsilon(F, "1e-6", gaussian_mu(F, 1, "1e-6")) == pytest.approx(1, rel=1e-14)
    assert gaussian_epsilon(F, "0.5", "0.1") == 0


def test_calibration_is_monotone():
    for inverse in (gaussian_mu, zcdp_rho, lambda K, e, d: kov_epsilon0(K, e, d, 20)):
        by_epsilon = [inverse(F, e, "1e-6") for e in ("0.01", "0.1", "1", "2", "10")]
        by_delta = [inverse(F, 1, d) for d in ("1e-12", "1e-6", "1e-3", "0.1", "0.9")]
        assert by_epsilon == sorted(set(by_epsilon))
        assert by_delta == sorted(set(by_delta))
    by_steps = [kov_epsilon0(F, 1, "1e-6", k) for k in (1, 2, 10, 100, 1000)]
    assert by_steps == sorted(set(by_steps), reverse=True)


def test_floats_on_the_safe_side():
    third = Ball(128)(Fraction(1, 3))
    assert Fraction(float_below(third)) < Fraction(1, 3) < Fraction(float_above(third))
    assert math.nextafter(float_below(third), 1) == float_above(third)
    assert float_below(B(1)) == float_above(B(1)) == 1


def test_balls_with_a_radius_are_carried_through():
    K = Ball(160)
    mu = K("0.26805") + K(0).__class__(K, K(0).ball.union(K("1e-20").ball))
    wide = gaussian_delta(K, 1, mu)
    for point in ("0.26805", "0.26805000000000000001"):
        inside = gaussian_delta(K, 1, point)
        assert wide.mid - wide.rad <= inside.mid <= wide.mid + wide.rad
    assert Fraction(1, 10**26) < wide.rad < Fraction(1, 10**20)
    with pytest.raises(TypeError, match="silently"):
        gaussian_delta(F, 1, mu)
    certified = certify(lambda k: gaussian_delta(k, 1, "0.26805"), radius=Fraction(1, 10**40))
    assert certified.value.rad <= Fraction(1, 10**40)


# ------------------------------------------------------------------------------------- Laplace, noisy min


def test_laplace_profile_by_integration():
    with mpmath.workdps(30):
        for epsilon, epsilon0 in (("0.5", "1"), ("0", "2"), ("0.9", "1")):
            e, e0 = mp.mpf(epsilon), mp.mpf(epsilon0)

            def excess(x, e=e, e0=e0):
                return max((mp.exp(-abs(x)) - mp.exp(e - abs(x - e0))) / 2, 0)

            truth = mp.quad(excess, [-60, 0, (e0 - e) / 2, e0])
            assert abs(mp.mpf(laplace_delta(MP(30), epsilon, epsilon0)) - truth) < mp.mpf(10) ** -24
    assert laplace_delta(F, 1, 1) == 0
    assert laplace_delta(F, 2, 1) == 0


def by_quadrature(scores, i, density, survival, cuts):
    return mp.quad(
        lambda x: density(x) * mp.fprod(survival(x + scores[i] - q) for j, q in enumerate(scores) if j != i), cuts
    )


@pytest.mark.parametrize("noise", ["laplace", "exponential", "added-exponential", "gumbel", "added-gumbel"])
def test_noisy_min_law_by_quadrature(noise):
    e = mp.exp
    density, survival = {
        "laplace": (lambda x: e(-abs(x)) / 2, lambda x: 1 - e(x) / 2 if x < 0 else e(-x) / 2),
        "exponential": (lambda x: e(x) if x < 0 else mp.mpf(0), lambda x: 1 - e(x) if x < 0 else mp.mpf(0)),
        "added-exponential": (lambda x: e(-x) if x > 0 else mp.mpf(0), lambda x: e(-x) if x > 0 else mp.mpf(1)),
        "gumbel": (lambda x: e(x - e(x)), lambda x: e(-e(x))),
        "added-gumbel": (lambda x: e(-x - e(-x)), lambda x: 1 - e(-e(-x))),
    }[noise]
    scores = [mp.mpf(0), mp.mpf("0.75"), mp.mpf(-1)]
    law = noisy_min_law(F, ["0", "0.75", "-1"], 1, noise)
    for i in range(3):
        cuts = sorted({-30, 0, 30, *(float(q - scores[i]) for q in scores)})
        assert law[i] == pytest.approx(float(by_quadrature(scores, i, density, survival, cuts)), abs=1e-9)
    assert sum(law) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
def test_noisy_min_has_the_range_guarantee(noise):
    rng, largest = random.Random(7), 0.0
    for _ in range(60):
        size = rng.choice((2, 3, 4))
        scores = [Fraction(rng.randrange(-300, 300), 100) for _ in range(size)]
        change = [Fraction(rng.randrange(-100, 100), 100) for _ in range(size)]
        claim = noisy_min_epsilon(F, max(change) - min(change), 2, noise)
        p = noisy_min_law(F, scores, 2, noise)
        q = noisy_min_law(F, [a + b for a, b in zip(scores, change, strict=True)], 2, noise)
        loss = dp_epsilon(F, p, q)
        assert loss <= claim * (1 + 1e-9) + 1e-12
        largest = max(largest, loss / claim if claim else 0)
    assert largest > 0.9
    # attained as the gap grows: two candidates, one moves by 1
    p, q = noisy_min_law(F, [0, 60], 1, noise), noisy_min_law(F, [0, 59], 1, noise)
    assert dp_epsilon(F, p, q) > 0.97


def test_noise_of_the_wrong_sign_loses_the_guarantee_from_three_candidates_on():
    def worst(noise, size, gap=20):
        before, after = [0] * (size - 1) + [gap], [1] * (size - 1) + [gap]
        return dp_epsilon(F, noisy_min_law(F, before, 1, noise), noisy_min_law(F, after, 1, noise))

    assert worst("added-gumbel", 3) == pytest.approx(2, abs=0.02)
    assert worst("added-exponential", 3) == pytest.approx(2, abs=1e-6)
    assert worst("added-exponential", 5) == pytest.approx(4, abs=1e-6)
    assert worst("added-gumbel", 5) > 3.9
    for noise in ("added-gumbel", "added-exponential"):
        assert worst(noise, 2) <= 1 + 1e-9  # two candidates cannot see it
        with pytest.raises(ValueError, match="subtract it"):
            noisy_min_epsilon(F, 1, 1, noise)


def spread(noise, scores, change):
    p = noisy_min_law(F, scores, 1, noise)
    q = noisy_min_law(F, [a + b for a, b in zip(scores, change, strict=True)], 1, noise)
    losses = [math.log(a / b) for a, b in zip(p, q, strict=True)]
    return (max(losses) - min(losses)) / (max(change) - min(change))


def test_bounded_range_is_for_gumbel_alone():
    rng = random.Random(11)
    cases = [[[rng.randrange(low, 9) / scale for _ in range(3)] for low, scale in ((-8, 2), (0, 4))] for _ in range(80)]
    cases = [(s, c) for s, c in cases if max(c) > min(c)]
    assert max(spread("gumbel", s, c) for s, c in cases) <= 1 + 1e-9
    assert max(spread("laplace", s, c) for s, c in cases) > 1.1
    assert bounded_range_rho(F, noisy_min_epsilon(F, 1, 2, "gumbel")) == 1 / 32
    assert pure_rho(F, noisy_min_epsilon(F, 1, 2, "laplace")) == 1 / 8


def test_gumbel_noise_is_the_exponential_mechanism():
    assert exponential_mechanism(F, [0, 1], 1)[0] == pytest.approx(1 / (1 + math.exp(-1)))
    assert noisy_min_law(F, [0, 2, 4], 2, "gumbel") == exponential_mechanism(F, [0, 1, 2], 1)


# ---------------------------------------------------------------------------------------------- bad input

CALIBRATIONS = [gaussian_mu, zcdp_rho, lambda K, e, d: kov_epsilon0(K, e, d, 3)]


@pytest.mark.parametrize("K", [F, M, B])
@pytest.mark.parametrize("calibrate", CALIBRATIONS)
def test_bad_epsilon_and_delta_are_refused(K, calibrate):
    for epsilon in (0, -1, "nan", "inf", float("nan"), float("inf"), "one", None):
        with pytest.raises(ValueError, match=r"^epsilon = "):
            calibrate(K, epsilon, "1e-6")
    for delta in (0, 1, -1, 2, "nan", float("nan"), mpmath.mpf("nan"), mpmath.mpf("inf"), 5e-324 * 0.1):
        with pytest.raises(ValueError, match=r"^delta = "):
            calibrate(K, 1, delta)


def test_other_bad_input_is_refused():
    for call, message in (
        (lambda: gaussian_delta(F, 1, 0), "mu = 0"),
        (lambda: gaussian_delta(F, -1, 1), "epsilon = -1"),
        (lambda: zcdp_delta(F, 1, 0), "rho = 0"),
        (lambda: kov_delta(F, 1, 1, 0), "k = 0"),
        (lambda: kov_delta(F, 1, 1, 2.5), "k = 2.5"),
        (lambda: advanced_composition(F, 1, 1, 1, 0.1), "delta = 1"),
        (lambda: advanced_composition(F, 1, 0, 1, 0), "delta_prime = 0"),
        (lambda: advanced_composition(F, 0, 0, 1, 0.1), "epsilon = 0"),
        (lambda: noisy_min_epsilon(F, 1, 0), "scale = 0"),
        (lambda: hockey_stick(F, [1.0], [0.5, 0.5], 1), "p has 1 outcomes"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# -------------------------------------------------------------------- the other lines of Section 2


def test_the_dual_of_lp_is_lq_for_the_standard_inner_product():
    """Hölder's inequality with its case of equality, p from 1 to ∞."""
    rng = random.Random(3)
    for p, q in ((1, math.inf), (Fraction(3, 2), 3), (2, 2), (4, Fraction(4, 3)), (math.inf, 1)):
        for _ in range(20):
            y = [rng.uniform(-1, 1) for _ in range(4)]
            x = [rng.uniform(-1, 1) for _ in range(4)]
            bound = norm(F, F.vector(y), q)
            assert abs(sum(a * b for a, b in zip(x, y, strict=True))) <= norm(F, F.vector(x), p) * bound + 1e-12
            if p == 1:
                best = [float(abs(a) == max(map(abs, y))) * (1 if a > 0 else -1) for a in y]
            elif p == math.inf:
                best = [1.0 if a > 0 else -1.0 for a in y]
            else:
                best = [math.copysign(abs(a) ** float(q - 1), a) for a in y]
            size = norm(F, F.vector(best), p)
            assert sum(a * b for a, b in zip(best, y, strict=True)) / size == pytest.approx(bound)


def test_with_another_inner_product_the_dual_of_l2_is_not_l2():
    """⟨x, y⟩ = 4x₁y₁ + x₂y₂: the dual norm of e₁ over the Euclidean ball is 4, not 1."""
    grid = [(math.cos(t / 500), math.sin(t / 500)) for t in range(3142)]
    assert max(4 * x for x, _ in grid) == 4
    assert norm(F, F.vector([1, 0]), 2) == 1


def test_a_zero_stationarity_gap_is_first_order_stationarity():
    """On a box the gap is Σ max over the two ends; it is 0 iff no feasible direction descends."""
    rng = random.Random(4)
    seen = set()
    for _ in range(400):
        w = [rng.choice((-1.0, 0.25, 1.0)) for _ in range(2)]
        g = [rng.choice((-1.0, 0.0, 1.0)) for _ in range(2)]
        corners = list(product((-1.0, 1.0), repeat=2))
        gap = max(sum(a * (x - v) for a, x, v in zip(g, w, c, strict=True)) for c in corners)
        descends = any(sum(a * (v - x) for a, x, v in zip(g, w, c, strict=True)) < 0 for c in corners)
        assert (gap == 0) == (not descends)
        assert gap >= 0
        seen.add(gap == 0)
    assert seen == {True, False}


def test_for_a_non_smooth_loss_small_gaps_can_occur_at_stationary_points_only():
    """f = |w| on [−1, 1]: the gap is 1 + |w| ≥ 1 off the minimiser, where it is 0."""
    for i in range(-100, 101):
        w = i / 100
        gap = max((1 if w > 0 else -1) * (w - v) for v in (-1, 1)) if w else 0
        assert gap == (0 if w == 0 else 1 + abs(w))


def test_undecided_is_raised_not_guessed():
    K = Ball(64)
    wide = K(0).__class__(K, K("0.2").ball.union(K("0.9").ball))
    with pytest.raises(Undecided):
        gaussian_mu(K, 1, wide)


def test_the_errata_of_section_2_show():
    for shows in (dual_norm_of_another_product, two_neighbour_relations, excess_risk_without_a_minimiser):
        assert shows().shown
