"""Exact samplers: enumerated on all coin sequences, tested by chi-square, and what the grid does for privacy."""

import math
import random
from collections import Counter
from fractions import Fraction

import pytest
from scipy import stats

from reference.numerics.exact_samplers import (
    DiscreteTape,
    bernoulli,
    bernoulli_exp,
    discrete_exponential,
    discrete_gaussian,
    discrete_laplace,
    gaussian_rho,
    grid_sensitivity,
    laplace_epsilon,
    on_noise_grid,
    selection_epsilon,
    selection_scale,
    uniform_below,
)
from reference.numerics.numbers import Float64
from reference.numerics.tape import GRID, Draw, RecordingTape, TapeError, reading

F = Float64()
LEVEL = 1e-6


# ----------------------------------------------------------------------------- all coin sequences


class OutOfCoins(Exception):
    pass


class Script:
    """Gives the coins of a script, and stops when it is over."""

    def __init__(self, coins):
        self.coins, self.used = coins, 0

    def getrandbits(self, k):
        if self.used + k > len(self.coins):
            raise OutOfCoins
        bits, self.used = self.coins[self.used : self.used + k], self.used + k
        return int("".join(map(str, bits)) or "0", 2)


def enumerate_coins(sampler, depth):
    """{outcome: exact probability} over all runs that need at most `depth` coins, and the mass of the others."""
    law, left = Counter(), Fraction(0)
    stack = [()]
    while stack:
        coins = stack.pop()
        script = Script(coins)
        try:
            outcome = sampler(script)
        except OutOfCoins:
            if len(coins) == depth:
                left += Fraction(1, 2**depth)
            else:
                stack += [(*coins, 0), (*coins, 1)]
            continue
        law[outcome] += Fraction(1, 2 ** len(coins))
    return law, left


def check_enumerated(sampler, truth, depth, most_left):
    law, left = enumerate_coins(sampler, depth)
    assert sum(law.values()) + left == 1
    assert left < most_left
    for outcome in law:
        p = truth(outcome)
        assert law[outcome] <= p + 1e-12, outcome
        assert p <= law[outcome] + left + Fraction(1, 10**12), outcome


def test_uniform_and_bernoulli_by_enumeration():
    check_enumerated(lambda s: uniform_below(s, 5), lambda _: Fraction(1, 5), 15, 0.01)
    check_enumerated(lambda s: uniform_below(s, 8), lambda _: Fraction(1, 8), 3, 1e-9)
    law, left = enumerate_coins(lambda s: bernoulli(s, Fraction(2, 3)), 16)
    assert law[True] <= Fraction(2, 3) <= law[True] + left
    assert left < 1e-4


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(5, 4)])
def test_bernoulli_exp_by_enumeration(gamma):
    yes = math.exp(-gamma)
    check_enumerated(lambda s: bernoulli_exp(s, gamma), lambda x: yes if x else 1 - yes, 14, 0.02)


def test_samplers_by_enumeration():
    half = 1 - math.exp(-0.5)
    check_enumerated(lambda s: discrete_exponential(s, 2), lambda x: half * math.exp(-x / 2), 13, 0.2)
    norm = math.tanh(1 / 2)
    check_enumerated(lambda s: discrete_laplace(s, 1), lambda x: norm * math.exp(-abs(x)), 14, 0.15)


# -------------------------------------------------------------------------------------- chi-square tests


def chi_square(sampler, pmf, support, draws, seed):
    """The p-value of Pearson's test; outcomes outside `support` are one cell."""
    source = random.Random(seed)
    counts = Counter(sampler(source) for _ in range(draws))
    expected = [draws * pmf(x) for x in support]
    observed = [counts[x] for x in support]
    expected.append(draws - sum(expected))
    observed.append(draws - sum(observed))
    assert min(expected) >= 5
    return stats.chisquare(observed, expected).pvalue


def gaussian_pmf(variance):
    total = sum(math.exp(-x * x / (2 * variance)) for x in range(-60, 61))
    return lambda x: math.exp(-x * x / (2 * variance)) / total


def laplace_pmf(scale):
    return lambda x: math.tanh(1 / (2 * scale)) * math.exp(-abs(x) / scale)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(5, 2), Fraction(2, 3)])
def test_discrete_laplace_has_its_law(scale):
    reach = range(-4, 5) if scale > 1 else range(-3, 4)
    assert chi_square(lambda s: discrete_laplace(s, scale), laplace_pmf(float(scale)), reach, 8000, 1) > LEVEL


@pytest.mark.parametrize("variance", [Fraction(1), Fraction(9, 4), Fraction(1, 2)])
def test_discrete_gaussian_has_its_law(variance):
    reach = range(-3, 4) if variance > 1 else range(-2, 3) if variance == 1 else range(-1, 2)
    assert chi_square(lambda s: discrete_gaussian(s, variance), gaussian_pmf(float(variance)), reach, 8000, 2) > LEVEL


def test_the_chi_square_has_power():
    """Mutants that it must catch: a rounded continuous law, a doubled zero, a wrong variance."""

    def rounded(source):
        return round(random.Random(source.getrandbits(64)).gauss(0, 1))

    def doubled_zero(source):
        size = discrete_exponential(source, 1)
        return -size if source.getrandbits(1) else size

    assert chi_square(doubled_zero, laplace_pmf(1), range(-3, 4), 8000, 3) < LEVEL
    assert chi_square(rounded, gaussian_pmf(1), range(-2, 3), 20000, 4) < LEVEL
    assert chi_square(lambda s: discrete_gaussian(s, Fraction(5, 4)), gaussian_pmf(1), range(-2, 3), 8000, 5) < LEVEL


def test_the_tape_serves_unit_laws_on_the_grid():
    tape = DiscreteTape(random.Random(6))
    normal, laplace = tape.normal("x", dim=4000), tape.laplace("y", dim=4000)
    exponential = tape.exponential("z", dim=2000)
    assert all((x * GRID).is_integer() for x in (*normal, *laplace, *exponential))
    for values, law in ((normal, stats.norm), (laplace, stats.laplace), (exponential, stats.expon)):
        assert stats.kstest(values, law.cdf).pvalue > LEVEL
    assert stats.kstest([1.2 * x for x in normal], stats.norm.cdf).pvalue < LEVEL  # the test sees a fifth


def test_the_tape_permutes_and_picks_uniformly():
    tape = DiscreteTape(random.Random(7))
    counts = Counter(tape.permutation("p", i, dim=3) for i in range(6000))
    assert len(counts) == 6
    assert stats.chisquare(list(counts.values())).pvalue > LEVEL
    picks = Counter(tape.index("i", i, dim=5) for i in range(5000))
    assert stats.chisquare([picks[i] for i in range(5)]).pvalue > LEVEL


def test_the_tape_keeps_to_declarations_and_can_be_recorded():
    draws = (Draw("xi", (1,), "normal", 3), Draw("b", (2,), "laplace", 2))
    recording = RecordingTape(DiscreteTape(random.Random(8)))
    with reading(recording, draws) as tape:
        first = tape.normal("xi", 1, dim=3), tape.laplace("b", 2, dim=2)
    with reading(recording.replay(), draws) as again:
        assert (again.normal("xi", 1, dim=3), again.laplace("b", 2, dim=2)) == first
    with pytest.raises(TapeError, match="no exact sampler"):
        DiscreteTape(random.Random(9)).gumbel("u", dim=1)


# ----------------------------------------------------------------------------------------- privacy on the grid


def test_integer_mechanisms_have_the_constants_they_claim():
    """Laplace: the largest log-ratio is exactly m/c. Gaussian: D_α ≤ α·m²/(2v)."""
    pmf = laplace_pmf(2.5)
    for m in (1, 3):
        losses = [math.log(pmf(x) / pmf(x - m)) for x in range(-40, 41)]
        assert max(losses) == pytest.approx(laplace_epsilon(F, m, "2.5"))
    pmf, v, m = gaussian_pmf(4.0), 4, 1
    for alpha in (1.5, 2, 8):
        total = sum(math.exp(alpha * math.log(pmf(x)) + (1 - alpha) * math.log(pmf(x - m))) for x in range(-40, 41))
        assert math.log(total) / (alpha - 1) <= alpha * gaussian_rho(F, m, v) * (1 + 1e-9)


def test_rounding_the_query_costs_less_than_one_step():
    rng = random.Random(10)
    for _ in range(300):
        scale = Fraction(rng.randrange(1, 1000), 64)
        q, move = Fraction(rng.randrange(-(10**6), 10**6), 7919), Fraction(rng.randrange(0, 5000), 1009)
        for neighbour in (q + move, q - move):
            steps = abs(on_noise_grid(neighbour, scale) - on_noise_grid(q, scale))
            assert steps <= grid_sensitivity(move, scale) <= move * GRID / scale + 1
        assert abs(Fraction(on_noise_grid(q, scale)) * scale / GRID - q) <= scale / (2 * GRID)


@pytest.mark.parametrize("dim", [2, 3, 4, 7, 100])
def test_rounding_a_vector_costs_less_than_the_root_of_its_dimension(dim):
    """Random vectors, and the worst one: every entry moves over a grid line by next to nothing."""
    rng, scale = random.Random(f"vectors|{dim}"), Fraction(3, 7)
    step, longest = scale / GRID, Fraction(0)
    for trial in range(200):
        q = [Fraction(rng.randrange(-(10**6), 10**6), 7919) for _ in range(dim)]
        move = [step * Fraction(rng.randrange(-3000, 3000), 1000) for _ in range(dim)]
        if trial == 0:
            q, move = [step * Fraction(4999, 10000)] * dim, [step / 5000] * dim
        moved = [on_noise_grid(a + b, scale) - on_noise_grid(a, scale) for a, b in zip(q, move, strict=True)]
        square = sum(b * b for b in move)
        above = Fraction(math.isqrt(math.ceil(square / step**2 * 10**12)) + 1, 10**6) * step  # ‖move‖_2, rounded up
        bound = grid_sensitivity(above, scale, dim)
        assert sum(k * k for k in moved) <= bound**2
        assert (bound - 1 - above / step) ** 2 < dim or bound - 1 < above / step  # no larger than it must be
        longest = max(longest, Fraction(sum(k * k for k in moved), grid_sensitivity(above, scale) ** 2))
    assert longest > 1, "one step more, as for a number, is not enough"


def test_the_root_of_the_dimension_is_attained():
    assert [grid_sensitivity(0, 1, d) for d in (1, 2, 4, 5, 9, 10**6)] == [1, 2, 2, 3, 3, 1000]
    assert grid_sensitivity(1, 1, 4) == GRID + 2
    assert grid_sensitivity(Fraction(1, 2 * GRID), 1, 2) == 2  # 0.5 + 1.41
    assert grid_sensitivity(Fraction(6, 10 * GRID), 1, 2) == 3


def textbook_laplace(source: random.Random) -> float:
    """±ln(u), u uniform on multiples of 2**-53 in (0, 1]: what most libraries do. Not private at any ε."""
    sign = -1 if source.getrandbits(1) else 1
    return sign * math.log((source.getrandbits(53) + 1) / 2**53)


def possible_under(q: float, output: float) -> bool:
    """Whether the textbook sampler can give `output` as fl(q + noise): all 53-bit u near e^{−|output − q|} are tried.

    ln is monotone and its binary64 version errs by less than an ulp, so a u that works lies within a few units of
    e^{−x} for some x that rounds to the output, x = output − q ± half an ulp of the output: the window covers them.
    """
    x = Fraction(output) - Fraction(q)
    slack = Fraction(math.ulp(output)) + 4 * Fraction(math.ulp(float(x)))
    size = abs(x)
    low = max(1, math.floor(Fraction(math.exp(-float(size + slack))) * 2**53) - 8)
    high = min(2**53, math.ceil(Fraction(math.exp(-float(max(size - slack, Fraction(0))))) * 2**53) + 8)
    return any(q + sign * math.log(u / 2**53) == output for u in range(low, high + 1) for sign in (1, -1))


def test_binary64_noise_leaks_in_its_low_bits():
    """Around 0 and around 1, scale 1: six outputs in ten are impossible under the neighbour, none under itself."""
    source = random.Random(11)
    outputs = [0.0 + textbook_laplace(source) for _ in range(2000)]
    assert all(possible_under(0.0, y) for y in outputs)
    revealing = sum(not possible_under(1.0, y) for y in outputs) / len(outputs)
    assert 0.55 < revealing < 0.72  # 0.634 ± 7 standard errors, and never what (1, 1e-6) allows
    # a test on bins sees nothing: P(y < 0) against P'(y < 0) is within e
    below = sum(y < 0 for y in outputs) / len(outputs)
    assert abs(math.log(below / (math.exp(-1) / 2))) < 1.1


def test_exact_noise_on_the_grid_does_not_leak_and_off_the_grid_does():
    """q on the grid: every output is possible under both, ratio at most e^ε. q not rounded: disjoint supports."""
    source, scale = random.Random(12), 1
    q, neighbour = on_noise_grid(Fraction(1, 3), scale), on_noise_grid(Fraction(4, 3), scale)
    steps = neighbour - q
    assert steps <= grid_sensitivity(1, scale)
    epsilon = laplace_epsilon(F, steps, GRID)
    for _ in range(200):
        noise = discrete_laplace(source, GRID)
        loss = (abs(q + noise - neighbour) - abs(noise)) / GRID  # ln of the ratio of the two probabilities
        assert abs(loss) <= epsilon
    assert epsilon == pytest.approx(1, abs=1e-5)
    raw = Fraction(1, 3) + Fraction(discrete_laplace(source, GRID), GRID)
    assert ((raw - Fraction(4, 3)) * GRID).denominator == 1  # the same grid: both fractions are 1/3 apart from it
    assert ((raw - Fraction(1, 2)) * GRID).denominator != 1  # another query: no noise on the grid reaches this output


def test_bad_input_is_refused():
    source = random.Random(0)
    for call, message in (
        (lambda: discrete_laplace(source, 0), "scale = 0 must be positive"),
        (lambda: discrete_gaussian(source, -1), "variance = -1 must be positive"),
        (lambda: bernoulli(source, Fraction(3, 2)), "p = 3/2 must lie"),
        (lambda: bernoulli_exp(source, Fraction(-1)), "gamma = -1 must be at least 0"),
        (lambda: uniform_below(source, 0), "n = 0 must be an integer of at least 1"),
        (lambda: discrete_laplace(source, float("nan")), "scale = nan must be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# ------------------------------------------------------------------------------- a selection on the grid


def grid_law(scores, kind, grid):
    """The exact law of argmin q_i + u_i, u on multiples of 1/grid (scale 1, cut where the mass is below 1e-18), lowest
    index first: [P(0), P(1), …] by summing over the first noise's thresholds.
    """
    reach = 42 * grid
    points = range(-reach, reach + 1) if kind == "laplace" else range(-reach, 1)
    mass = {j: math.exp(-abs(j) / grid) for j in points}
    total = math.fsum(mass.values())
    at_most, running = {}, 0.0
    for j in points:
        running += mass[j] / total
        at_most[j] = running

    def above(x, strictly):
        """P(u > x/grid) or P(u ≥ x/grid), x rational."""
        last = math.floor(x) if strictly else math.ceil(x) - 1
        return 1.0 if last < points[0] else max(0.0, 1 - at_most.get(min(last, points[-1]), 1.0))

    laws = []
    for i, q in enumerate(scores):
        terms = []
        for j in points:
            p = mass[j] / total
            for k, other in enumerate(scores):
                if k != i:
                    p *= above((q - other) * grid + j, strictly=k < i)
            terms.append(p)
        laws.append(math.fsum(terms))
    return laws


@pytest.mark.parametrize("kind", ["laplace", "exponential"])
def test_a_selection_on_a_grid_loses_one_step_more(kind, monkeypatch):
    """Grid 1/8: the loss never exceeds (⌊rG⌋ + 1)/G, comes near it, and does exceed r, the bound off the grid."""
    grid = 8
    monkeypatch.setattr("reference.numerics.exact_samplers.GRID", grid)
    rng = random.Random(4)
    start = [Fraction(0), Fraction(9), Fraction(18)]
    cases = [(start, [*start[:2], start[2] + Fraction(1, 10**6)])]
    for _ in range(40):
        q = [Fraction(rng.randrange(-64, 64), 16) for _ in range(3)]
        cases.append((q, [x + Fraction(rng.randrange(0, 5), 32) for x in q]))
    worst_share, over = 0.0, 0
    for q, q2 in cases:
        change = [b - a for a, b in zip(q, q2, strict=True)]
        r = max(change) - min(change)
        one, two = grid_law(q, kind, grid), grid_law(q2, kind, grid)
        assert math.fsum(one) == pytest.approx(1, abs=1e-9)
        loss = max(abs(math.log(a / b)) for a, b in zip(one, two, strict=True))
        bound = float(selection_epsilon(r, 1))
        assert loss <= bound + 1e-9, (q, q2)
        worst_share = max(worst_share, loss / bound if bound else 0)
        over += loss > float(r) + 1e-9
    assert worst_share > (0.99 if kind == "exponential" else 0.95)  # Laplace tends to 1 as the gap of the scores grows
    assert over > 0


def test_the_scale_of_a_selection_on_the_grid():
    assert selection_epsilon(0, 1) == 0
    assert selection_epsilon(Fraction(1, 10**9), 1) == Fraction(1, GRID)
    for r, e in ((1, Fraction(1, 100)), (Fraction(1, 3), 1), (2, Fraction(3, GRID))):
        assert selection_epsilon(r, selection_scale(r, e)) <= e < selection_epsilon(r, Fraction(r) / e)
    with pytest.raises(ValueError, match="too coarse"):
        selection_scale(1, Fraction(1, GRID))
