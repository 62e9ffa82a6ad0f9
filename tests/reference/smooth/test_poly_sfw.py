"""Algorithm 4: line by line against an independent transcription, editions, counters, tight variant, bad input."""

import math
import random
from fractions import Fraction

import pytest

from reference.numerics.numbers import MP, Ball, Float64
from reference.numerics.tape import RecordingTape, SeededTape, TapeError, ZeroTape
from reference.paper.editions import edition, errata_of, line_marks
from reference.paper.events import Trace
from reference.setting import Example, Polytope, SquaredTanh, l1_ball
from reference.smooth.poly_sfw import draws, poly_sfw, poly_sfw_printed, poly_sfw_tight, tight_draws
from reference.smooth.rounds import check_rounds, output_index, samples_needed

K = Float64()
LOSS = SquaredTanh(R=1, p=1)


def dataset(n, d, seed):
    rng = random.Random(seed)
    return tuple(
        Example(tuple(Fraction(rng.randint(-8, 8), 8) for _ in range(d)), rng.choice((-1, 1))) for _ in range(n)
    )


def gradient(w, z):
    """(tanh⟨a,w⟩ − y)² by hand."""
    u = math.tanh(sum(float(a) * x for a, x in zip(z.x, w, strict=True)))
    slope = 2 * (u - float(z.y)) * (1 - u * u)
    return [slope * float(a) for a in z.x]


def transcription(data, d, R, b, epsilon, delta, tape, corrected):
    """Algorithm 4 written from the listing, with lists and loops and no code of the package."""
    n, D, L0, L1 = len(data), 2.0, float(LOSS.L0), float(LOSS.L1)
    vertices = [[float(i == j) for i in range(d)] for j in range(d)] + [
        [-float(i == j) for i in range(d)] for j in range(d)
    ]
    order, position = tape.permutation("pi", dim=n), 0
    w, previous, iterates = [0.0] * d, [], []
    for r in range(R):
        log = math.log(1 / float(delta))
        s = 2 * D * (L0 + L1 * D) * 2**r * math.sqrt(max(log, 1) if corrected else log) / (b * epsilon)
        for t in range(2**r):
            size = b if t == 0 else (math.ceil(b / (t + 1)) if corrected else b // (t + 1))
            batch = [data[i] for i in order[position : position + size]]
            position += size
            weight = 1 / size if corrected else (t + 1) / b
            now = [sum(g) * weight for g in zip(*(gradient(w, z) for z in batch), strict=True)]
            if t == 0:
                estimate = now
            else:
                old = [sum(g) * weight for g in zip(*(gradient(previous, z) for z in batch), strict=True)]
                eta = 1 / math.sqrt(t + 1)
                estimate = [(1 - eta) * (e + x - y) + eta * x for e, x, y in zip(estimate, now, old, strict=True)]
            noise = tape.laplace("u", r, t, dim=2 * d)
            scores = [
                sum(a * g for a, g in zip(v, estimate, strict=True)) + s * u
                for v, u in zip(vertices, noise, strict=True)
            ]
            v = vertices[scores.index(min(scores))]
            iterates.append(w)
            eta = 1 / math.sqrt(t + 1)
            previous, w = w, [(1 - eta) * x + eta * y for x, y in zip(w, v, strict=True)]
    return iterates[tape.index("hat", dim=len(iterates))]


@pytest.mark.statement("alg:polySFW", kind="searched")
@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_matches_the_listing(seed, corrected):
    data = dataset(120, 3, seed)
    algorithm = poly_sfw if corrected else poly_sfw_printed
    for epsilon, delta in ((50, Fraction(1, 10)), (200, Fraction(9, 10))):
        run = algorithm(K, LOSS, l1_ball(3, 1), data, 4, 8, epsilon, delta, SeededTape(seed), exact_budget=True)
        by_hand = transcription(data, 3, 4, 8, epsilon, delta, SeededTape(seed), corrected)
        assert list(run.output) == pytest.approx(by_hand, abs=1e-12)


def test_editions_differ_where_they_say():
    assert errata_of(poly_sfw_printed, poly_sfw) == {"E4.5", "E4.7"}
    for body in (poly_sfw_printed, poly_sfw):
        assert sorted(set(line_marks(body))) == list(range(1, 16))
    data, args = dataset(60, 2, 1), (3, 6, 1, Fraction(9, 10))
    rounded_down = sum(6 // (t + 1) for r in range(3) for t in range(2**r))
    scales = {}
    for errata in (set(), {"E4.5"}, {"E4.7"}, {"E4.5", "E4.7"}):
        trace = Trace()
        body = edition(poly_sfw_printed, poly_sfw, errata)
        run = body(K, LOSS, l1_ball(2, 1), data, *args, SeededTape(0), trace=trace)
        scales[frozenset(errata)] = trace.values("s")[0]
        assert run.samples_used == (samples_needed(3, 6) if "E4.5" in errata else rounded_down)
    assert scales[frozenset()] < scales[frozenset({"E4.7"})]


@pytest.mark.parametrize("system", [MP(40), Ball(200)])
def test_number_systems_agree(system):
    data, tape = dataset(60, 2, 3), RecordingTape(SeededTape(2))
    run = poly_sfw(K, LOSS, l1_ball(2, 1), data, 3, 6, 20, "0.01", tape)
    other = poly_sfw(system, LOSS, l1_ball(2, 1), data, 3, 6, 20, "0.01", tape.replay())
    assert [system.to_float(x) for x in other.output] == pytest.approx(list(run.output), abs=1e-12)
    assert other.index == run.index


@pytest.mark.statement("sec:polySFW", kind="searched")
@pytest.mark.parametrize("b", [8, 13, 40])
def test_every_record_is_used_at_most_once_and_costs_at_most_two_gradients(b):
    """Linear time: b evaluations for a first batch, 2|B| for a later one, at most 2n in all; batches are disjoint."""
    n = 16 * b
    seen = []

    class Counting:
        L0, L1, p = LOSS.L0, LOSS.L1, 1

        def gradient(self, system, w, z):
            seen.append(z)
            return LOSS.gradient(system, w, z)

    data = tuple(Example((Fraction(i, n), 0), 1) for i in range(n))
    run = poly_sfw(K, Counting(), l1_ball(2, 1), data, 4, b, 1, "0.01", SeededTape(0))
    firsts = 4 * b
    assert run.samples_used == samples_needed(4, b) <= n
    assert run.gradient_evaluations == len(seen) == 2 * run.samples_used - firsts <= 2 * n
    uses = {z: seen.count(z) for z in set(seen)}
    assert max(uses.values()) == 2
    assert len(uses) == run.samples_used


def test_output_indices():
    assert [output_index(i) for i in range(7)] == [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (2, 3)]
    data = dataset(4, 2, 0)
    run = poly_sfw(K, LOSS, l1_ball(2, 1), data, 1, 4, 1, "0.01", SeededTape(0), start=K.vector([1, 0]))
    assert list(run.output) == [1, 0]
    assert len(run.iterates) == 1


def test_output_is_uniform_over_all_iterates():
    seen = {
        poly_sfw(K, LOSS, l1_ball(2, 1), dataset(20, 2, 0), 2, 4, 1, "0.01", SeededTape(i), exact_budget=True).index
        for i in range(60)
    }
    assert seen == {(0, 0), (1, 0), (1, 1)}


@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_tight_variant_runs_and_stays_in_the_set(noise, delta):
    data, trace = dataset(100, 3, 5), Trace()
    run = poly_sfw_tight(K, LOSS, l1_ball(3, 1), data, 8, 30, 5, delta, SeededTape(1), noise=noise, trace=trace)
    assert len(run.iterates) == 8
    assert run.index[1] < 8
    for w in run.iterates:
        assert sum(abs(x) for x in w) <= 1 + 1e-12
    assert run.gradient_evaluations <= 2 * run.samples_used <= 200


def test_tight_variant_subtracts_gumbel_noise():
    """All gradients 0: the winner is the largest Gumbel draw. (Mutant: adding it picks the smallest.)"""
    data, W = tuple(Example((0, 0), 1) for _ in range(4)), Polytope([[1, 0], [0, 1], [-1, -1]])
    for seed in range(5):
        tape, trace = RecordingTape(SeededTape(seed)), Trace()
        poly_sfw_tight(K, LOSS, W, data, 2, 4, 1, "0.01", tape, trace=trace)
        unit = next(v for draw, v in tape.records.items() if draw.symbol == "u")
        assert trace.values("v") == [unit.index(max(unit))]


def test_declared_draws_are_exact():
    data = dataset(20, 2, 0)
    tape = RecordingTape(SeededTape(0))
    poly_sfw(K, LOSS, l1_ball(2, 1), data, 2, 4, 1, "0.01", tape, exact_budget=True)
    assert set(tape.records) == set(draws(20, 2, 4))
    tight = RecordingTape(SeededTape(0))
    poly_sfw_tight(K, LOSS, l1_ball(2, 1), data, 3, 4, 1, "0.01", tight)
    assert set(tight.records) == set(tight_draws(20, 3, 4, "gumbel"))
    with pytest.raises(TapeError):
        poly_sfw(K, LOSS, l1_ball(2, 1), data, 2, 4, 1, "0.01", tight.replay(), exact_budget=True)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((0, 4, 1, "0.01"), "R = 0 must be an integer of at least 1"),
        ((3, 3, 1, "0.01"), r"b = 3 must be at least 2\^\(R−1\) = 4"),
        ((3, 40, 1, "0.01"), "n = 100 must meet bR² ≤ n, that is n ≥ 360"),
        ((2, 2.5, 1, "0.01"), "b = 2.5 must be an integer"),
        ((2, 4, 0, "0.01"), "epsilon = 0 must be positive"),
        ((2, 4, 1, 1), "delta = 1 must be below 1"),
    ],
)
def test_bad_input_names_the_condition(args, words):
    with pytest.raises(ValueError, match=words) as error:
        poly_sfw(K, LOSS, l1_ball(2, 1), dataset(100, 2, 0), *args, ZeroTape())
    assert "\n" not in str(error.value)


def test_one_vertex_and_missing_vertices_are_refused():
    from reference.setting import L2Ball

    data = dataset(10, 2, 0)
    with pytest.raises(ValueError, match="J = 1 must be at least 2"):
        poly_sfw(K, LOSS, Polytope([[0, 1]]), data, 1, 2, 1, "0.01", ZeroTape())
    with pytest.raises(ValueError, match="polytope"):
        poly_sfw(K, LOSS, L2Ball([0, 0], 1), data, 1, 2, 1, "0.01", ZeroTape())
    with pytest.raises(ValueError, match="n = 10 must be at least 22"):
        poly_sfw_tight(K, LOSS, l1_ball(2, 1), data, 4, 12, 1, "0.01", ZeroTape())
    with pytest.raises(ValueError, match="noise"):
        poly_sfw_tight(K, LOSS, l1_ball(2, 1), data, 2, 4, 1, "0.01", ZeroTape(), noise="normal")


def test_sample_conditions_of_the_remark():
    """bR² ≤ n and b ≥ 2^{R−1} suffice for the ceilings, for every R ≤ 10 and many b."""
    for R in range(1, 11):
        for b in {2 ** (R - 1), 2 ** (R - 1) + 1, 3 * 2 ** (R - 1) - 1, 5 * 2**R + 3}:
            assert samples_needed(R, b) <= b * R * R
    check_rounds(19, 3, 4, exact_budget=True)
    with pytest.raises(ValueError, match="n = 18 must be at least 19"):
        check_rounds(18, 3, 4, exact_budget=True)
