"""What replayed runs say: of shares, of the loss of one sum, of what covers it, and what is told to people."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from audit.auditor.lints import replay
from audit.auditor.lints.recorder import Addition, NoiseCall, RecordedRun
from audit.auditor.lints.replay import ComparedSum, Replayed, _share
from audit.auditor.terms.claim import Epsilon


@pytest.mark.parametrize("runs", [8, 20, 100])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9])
def test_the_limit_on_a_share_is_above_it_once_in_a_thousand_at_most(runs: int, share: float) -> None:
    """The chance, summed over all counts, that the lower limit exceeds the true share."""
    limits = [_share(met, runs) if met else 0.0 for met in range(runs + 1)]
    wrong = sum(stats.binom.pmf(met, runs, share) for met in range(runs + 1) if limits[met] > share)
    assert wrong <= 1e-3
    assert limits == sorted(limits)


def test_the_limit_is_not_lower_than_it_need_be() -> None:
    """All of n runs met: the limit is the share whose n-th power is 1e-3."""
    for runs in (8, 24, 100):
        assert _share(runs, runs) ** runs == pytest.approx(1e-3)
    assert _share(24, 24) == pytest.approx(0.75, abs=0.001)


# ------------------------------------------------------------------------------------------ runs made by hand


def drawn(index: int, distribution: str = "laplace", scale: Any = 2.0, loc: Any = 0.0, **more: Any) -> NoiseCall:
    """A draw that was added once."""
    given = {"shape": (), "value": 0.5, "additions": 1, "method": distribution, "site": f"line {index}"} | more
    method, site, shape = given.pop("method"), given.pop("site"), given.pop("shape")
    return NoiseCall(index, "numpy", method, distribution, loc, scale, True, site, shape, **given)


def summed(call: NoiseCall, difference: Any, scale: Any = 2.0, other: Any = None, **more: Any) -> ComparedSum:
    """A sum whose quantities differ by so much."""
    shape = more.pop("noise_shape", np.shape(difference))
    return ComparedSum(call, difference, scale, scale if other is None else other, shape, **more)


def ran(*sums: ComparedSum, output: Any = (0.25, 0.5), second: RecordedRun | None = None) -> Replayed:
    """A run with these sums, and the neighbour's."""
    calls = list({c.call.index: c.call for c in sums}.values())
    first = RecordedRun(calls, output=output)
    return Replayed(first, second or RecordedRun(calls, output=output), list(sums))


def choice(index: int, value: Any, pool: int, **more: Any) -> NoiseCall:
    """A choice of positions."""
    return drawn(index, "choice", pool, method=more.pop("method", "choice"), value=np.asarray(value), **more)


# ----------------------------------------------------------------------------------------------- one sum


def test_a_difference_is_more_than_rounding() -> None:
    call = drawn(0)
    assert not summed(call, 0.0).differs
    assert not summed(call, 2.9e-9).differs  # 1e-9 · (1 + 2)
    assert summed(call, 3.1e-9).differs
    assert summed(call, np.array([0.0, -1.0]), np.array([1.0, 1.0])).differs
    assert not summed(drawn(0, rounding=1e-6), 2.9e-6).differs


def test_scales_are_compared_number_by_number() -> None:
    call = drawn(0)
    assert summed(call, 1.0, 2.0, 2.0 + 1e-9).same_scale
    assert not summed(call, 1.0, 2.0, 2.0 + 3e-9).same_scale
    assert not summed(call, 1.0, 2.0, np.array([2.0])).same_scale
    assert not summed(call, 1.0, np.array([2.0, 1.0]), np.array([2.0, 2.0])).same_scale


def test_a_draw_that_was_used_otherwise_is_reshaped_unless_the_data_are_its_location() -> None:
    assert summed(drawn(0, opaque=True), 1.0).reshaped
    assert not summed(drawn(0, opaque=True), 1.0, located=True).reshaped
    assert not summed(drawn(0), 1.0).reshaped


@pytest.mark.parametrize(
    ("call", "size", "followed"),
    [
        (drawn(0, feeds=True, additions=0), 5, True),
        (drawn(0), 5, False),  # added to what does not differ: what became of it is not known
        (choice(0, [1, 2], 5), 5, True),
        (choice(0, [1, 2], 5), 6, False),
        (choice(0, [1, 2], 2), 2, False),  # a coin
        (choice(0, [1, 2], 3), 3, True),
        (choice(0, [1, 2], 5), None, False),
        (choice(0, [1, 2], 5, opaque=True), 5, False),
    ],
)
def test_a_draw_is_followed_or_not(call: NoiseCall, size: int | None, followed: bool) -> None:
    assert Replayed(RecordedRun([call]), RecordedRun([call])).followed(size) is followed
    assert Replayed(RecordedRun([]), RecordedRun([call])).followed(size) is followed
    assert Replayed(RecordedRun([]), RecordedRun([])).followed(size)


def test_a_draw_that_hides_data_is_followed() -> None:
    call = drawn(0)
    assert ran(summed(call, 1.0)).followed(5)
    assert ran(summed(call, 0.0, 2.0, 3.0)).followed(5)
    assert not ran(summed(call, 0.0)).followed(5)
    spoilt = drawn(0, opaque=True)
    assert not ran(summed(spoilt, 1.0)).followed(5)
    assert ran(summed(spoilt, 1.0, located=True)).followed(5)


def test_outputs_are_the_same_but_for_rounding() -> None:
    first = RecordedRun(output=[1.0, "a", 1e-12])
    for output, same in (
        ([1.0 + 5e-10, "a", 5e-10], True),
        ([1.0 + 3e-9, "a", 0.0], False),
        ([1.0, "b", 0.0], False),
        ([1.0, "a"], False),
        ((1.0, "a", [0.0]), False),
        ([1.0, 2.0, 0.0], False),
    ):
        assert Replayed(first, RecordedRun(output=output)).same_output is same
    assert not Replayed(RecordedRun(error="E"), RecordedRun()).same_output
    assert Replayed(RecordedRun(error="E"), RecordedRun(error="E")).same_output


# ----------------------------------------------------------------------------------- both sides, draw by draw


def added(call: int, quantity: Any, result: Any = 3.5, scale: Any = 2.0, drawn: int = 1) -> Addition:
    """Noise met a quantity."""
    return Addition(call, quantity, scale, result, np.shape(result), 1.0, drawn)


def test_sums_are_compared_as_long_as_both_sides_draw_alike() -> None:
    calls = [drawn(0), drawn(1), drawn(2)]
    first = RecordedRun(calls, [added(0, 1.0), added(1, 2.0), added(2, 3.0)])
    second = RecordedRun(calls, [added(0, 1.5), added(1, 1.0, scale=4.0), added(2, 3.0)])
    found = replay._compare(first, second)
    assert [(c.call.index, float(c.difference), float(c.other_scale)) for c in found] == [
        (0, 0.5, 2.0),
        (1, -1.0, 4.0),
        (2, 0.0, 2.0),
    ]
    assert [(c.noise_shape, c.result, c.drawn, c.located) for c in found] == [((), 3.5, 1, False)] * 3
    other = RecordedRun([calls[0], drawn(1, site="elsewhere"), calls[2]], second.additions)
    assert [c.call.index for c in replay._compare(first, other)] == [0]
    wide = RecordedRun(calls, [added(0, 1.5), added(1, np.ones(2))])
    assert [c.call.index for c in replay._compare(first, wide)] == [0]
    swapped = RecordedRun(calls, [added(1, 1.5), added(0, 1.0)])
    assert replay._compare(first, swapped) == []


def test_what_noise_is_drawn_around_is_compared() -> None:
    first = RecordedRun([drawn(0, loc=0.0), drawn(1, loc=5.0, value=6.0), drawn(2, loc=1.0), drawn(3, loc=1.0)])
    second = RecordedRun([drawn(0, loc=0.0), drawn(1, loc=7.0, scale=3.0), drawn(2, loc=np.ones(1)), drawn(3, loc=1.0)])
    (found,) = replay._compare(first, second)
    assert (found.call.index, float(found.difference), found.scale, found.other_scale) == (1, 2.0, 2.0, 3.0)
    assert (found.located, found.result, found.drawn, found.noise_shape) == (True, 6.0, 2, ())
    (on_one_side,) = replay._compare(RecordedRun([drawn(0)]), RecordedRun([drawn(0, loc=1.0)]))
    assert float(on_one_side.difference) == 1.0


def test_more_noise_hides_a_noisy_number_unless_it_is_published() -> None:
    """x + n₁ is 3.5 on both sides, and n₂ is added to it; then only their sum is shown."""
    calls = [drawn(0), drawn(1)]
    first = RecordedRun(calls, [added(0, 1.0), added(1, 3.5, 4.0, drawn=2)], output=[4.0])
    second = RecordedRun(calls, [added(0, 2.0), added(1, 3.5, 4.0, drawn=2)], output=[4.0])
    assert [c.covered for c in replay._compare(first, second)] == [True, False]
    for taken, again, shown, covered in (
        (-3.5, 1, [4.0], True),  # the number with its sign turned
        (3.5, 1, [4.0, 3.5], False),
        (3.5, 0, [4.0], False),  # the same draw again is no other noise
        (3.6, 1, [4.0], False),
    ):
        runs = [RecordedRun(calls, [added(0, x), added(again, taken, 4.0, drawn=2)], output=shown) for x in (1.0, 2.0)]
        assert replay._compare(*runs)[0].covered is covered
    early = [RecordedRun(calls, [added(0, x, drawn=3), added(1, 3.5, 4.0, drawn=2)]) for x in (1.0, 2.0)]
    assert not replay._compare(*early)[0].covered


@pytest.mark.parametrize(
    ("call", "covered"),
    [
        (choice(1, [2, 0, 1], 3), True),
        (choice(1, [2, 0, 0], 3), False),
        (choice(1, [2, 0], 3), False),
        (choice(1, [0], 1), False),
        (choice(1, [2, 0, 1], 3, opaque=True), False),
        (drawn(1), False),
    ],
)
def test_a_random_order_hides_what_was_added_before(call: NoiseCall, covered: bool) -> None:
    runs = [RecordedRun([drawn(0), call], [added(0, x)]) for x in (1.0, 2.0)]
    assert replay._compare(*runs)[0].covered is covered
    late = [RecordedRun([drawn(0), call], [added(0, x, drawn=2)]) for x in (1.0, 2.0)]
    assert not replay._compare(*late)[0].covered
    equal = [RecordedRun([drawn(0), call], [added(0, 1.0)])] * 2
    assert not replay._compare(*equal)[0].covered


# ------------------------------------------------------------------------------------------------- losses


@pytest.mark.parametrize("delta", [1e-3, 0.05])
def test_the_loss_of_two_laplace_draws_against_their_integral(delta: float) -> None:
    """δ(ε) = E[(1 − e^{ε − L})₊] with L the sum of two losses, one of them integrated in closed form."""
    a, b = 1.0, 0.4
    found = replay.laplace_vector_epsilon(np.array([a, 0.0, b]), delta)

    def rest(e: float) -> float:
        return 1 - math.exp((e - b) / 2) if -b < e < b else (0.0 if e >= b else 1 - math.exp(e))

    def whole(e: float) -> float:
        def at(u: float) -> float:
            return math.exp(-abs(u)) / 2 * rest(e - (abs(u - a) - abs(u)))

        return float(integrate.quad(at, -40, 40, points=[0.0, a, (a - e - b) / 2, (a - e + b) / 2], limit=500)[0])

    step = (a + b) / 2**14  # each of the two losses is rounded down by a step at most
    assert whole(found + 2 * step) <= delta <= whole(found)


def test_laplace_losses_in_the_cases_that_are_closed() -> None:
    assert replay.laplace_vector_epsilon(np.array([1.0, 0.5]), 0.0) == 1.5
    assert replay.laplace_vector_epsilon(np.array([1.0, 0.0]), 0.1) == pytest.approx(1 + 2 * math.log(0.9))
    assert replay.laplace_vector_epsilon(np.zeros(2), 0.1) == 0.0
    assert replay.laplace_vector_epsilon(np.array([0.01, 0.01]), 0.5) == 0.0
    assert replay.laplace_epsilon(0.1, 0.5) == 0.0
    many = np.full(replay.GRID + 1, 0.5)
    assert replay.laplace_vector_epsilon(many, 0.01) == pytest.approx(0.5 + 2 * math.log(0.99))


def test_gaussian_losses_at_the_ends() -> None:
    assert replay.gaussian_epsilon(0.0, 0.1) == 0.0
    assert replay.gaussian_epsilon(0.01, 0.1) == 0.0
    assert replay.gaussian_epsilon(1.0, 0.0) == math.inf
    assert replay.gaussian_epsilon(1.0, 1e-300) == pytest.approx(37.5, abs=1.0)


def test_a_loss_that_is_met_with_a_chance_counts_less() -> None:
    assert replay.amplified(2.0, 0.5) == pytest.approx(math.log(1 + 0.5 * (math.e**2 - 1)))
    assert replay.amplified(2.0, 1.0) == replay.amplified(2.0, 1.5) == 2.0
    assert replay.amplified(math.inf, 0.2) == math.inf
    assert replay.amplified(math.inf, 0.0) == 0.0
    assert replay.amplified(600.0, 0.5) == pytest.approx(600 + math.log(0.5))
    assert replay.amplified(500.0, 0.5) == pytest.approx(500 + math.log(0.5))


@pytest.mark.parametrize(
    ("distribution", "difference", "scale", "leaves", "expected"),
    [
        ("laplace", 3.0, 2.0, 1, 1.5),
        ("laplace", np.array([1.0, -3.0]), 2.0, 2, 2.0),
        ("laplace", np.array([1.0, -3.0]), 2.0, 1, 1.5),
        ("exponential", np.array([1.0, -3.0]), 2.0, 2, 1.5),
        ("gumbel", 1.0, 2.0, 1, 0.5),
        ("cauchy", 1.0, 2.0, 1, 0.0),
        ("laplace", 0.0, 2.0, 1, 0.0),
        ("laplace", 1.0, 0.0, 1, math.inf),
        ("laplace", np.array([1.0, 1.0]), np.array([0.0, 1.0]), 2, 0.0),
    ],
)
def test_the_loss_of_one_sum(distribution: str, difference: Any, scale: Any, leaves: int, expected: float) -> None:
    assert replay.loss(summed(drawn(0, distribution), difference, scale), 0.0, leaves) == pytest.approx(expected)


def test_the_loss_of_gaussian_noise_takes_the_length_of_the_move() -> None:
    move = np.array([3.0, 4.0])
    for distribution in ("normal", "multivariate_normal"):
        whole = replay.loss(summed(drawn(0, distribution), move, 5.0), 1e-3, 2)
        assert whole == replay.gaussian_epsilon(1.0, 1e-3)
        one = replay.loss(summed(drawn(0, distribution), move, 5.0), 1e-3, 1)
        assert one == replay.gaussian_epsilon(0.8, 1e-3)


def test_one_draw_for_several_numbers_hides_what_they_share_only() -> None:
    apart, along = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    assert replay.loss(summed(drawn(0), apart, noise_shape=()), 0.0, 2) == math.inf
    assert replay.loss(summed(drawn(0), along, noise_shape=()), 0.0, 2) == 1.0
    assert replay.loss(summed(drawn(0), apart, noise_shape=(2,)), 0.0, 2) == 1.5


def test_lengths_by_the_kind_of_noise() -> None:
    entries = np.array([3.0, 4.0])
    assert [replay._norm(entries, d, 2) for d in ("normal", "multivariate_normal", "laplace", "gumbel")] == [5, 5, 7, 4]
    assert [replay._norm(entries, d, 1) for d in ("normal", "laplace", "gumbel")] == [4, 4, 4]


def test_two_scales_of_the_same_noise_lose_without_bound_but_for_heavy_tails() -> None:
    assert replay._scale_loss(summed(drawn(0), 0.0, 2.0, 3.0)) == math.inf
    heavy = drawn(0, "cauchy")
    assert replay._scale_loss(summed(heavy, 0.0, 2.0, 3.0)) == pytest.approx(math.log(1.5))
    assert replay._scale_loss(summed(heavy, 0.0, np.array([2.0, 1.0]), np.array([1.0, 2.0]))) == pytest.approx(
        2 * math.log(2)
    )
    assert replay._scale_loss(summed(heavy, 0.0, 2.0, np.array([3.0]))) == math.inf
    assert (
        replay._scale_loss(summed(heavy, 0.0, 0.0, 3.0)) == replay._scale_loss(summed(heavy, 0.0, 3.0, 0.0)) == math.inf
    )


# ------------------------------------------------------------------------------------------------ findings


CLAIM = Epsilon(1.0)


def test_too_little_noise_is_told_with_what_it_takes() -> None:
    small = summed(drawn(0), 3.0)
    (found,) = replay.replay_findings(_Subject(5), _many(9), [ran(small)] * 3, CLAIM)
    assert found.kind == "sensitivity"
    assert found.details == {
        "site": "line 0",
        "difference": 3.0,
        "scale": 2.0,
        "needed": pytest.approx(3.0, rel=1e-5),
        "epsilon": 1.5,
    }
    assert str(found.message) == (
        "on the same draws the neighbours differ by 3 where laplace noise of scale 2 drawn at line 0 is added: a loss"
        " of ε = 1.5 at δ = 0 for this sum alone, claimed 1; it takes a scale of 3"
    )
    assert replay.replay_findings(_Subject(5), _many(9), [ran(summed(drawn(0), 2.0))] * 3, CLAIM) == []
    assert replay.replay_findings(_Subject(5), _many(9), [], CLAIM) == []


class _Subject:
    """A mechanism of which only the number of records is asked."""

    def __init__(self, size: int | None):
        self.size = size


def _many(outputs: int) -> list[RecordedRun]:
    return [RecordedRun(output=float(i)) for i in range(outputs)]


def test_gaussian_noise_is_never_enough_for_pure_privacy_but_where_outputs_are_few() -> None:
    runs = [ran(summed(drawn(0, "normal"), 1e-3))] * 3
    (found,) = replay.replay_findings(_Subject(5), _many(9), runs, CLAIM)
    assert "a loss of ε = inf at δ = 0" in found.message
    assert found.message.endswith("claimed 1 (Gaussian noise is never private at δ = 0)")
    assert found.details["needed"] == math.inf
    assert replay.replay_findings(_Subject(5), _many(8), runs, CLAIM) == []
    failed = [RecordedRun(error="E") for _ in range(9)]
    assert replay.replay_findings(_Subject(5), failed, runs, CLAIM) == []


def test_the_first_sum_that_loses_too_much_is_named_unless_it_is_covered_or_reshaped() -> None:
    sums = [summed(drawn(0), 1.0), summed(drawn(1), 4.0), summed(drawn(2), 5.0)]
    assert replay._sensitivity([ran(*sums)] * 3, CLAIM, 5, False)[0].details["site"] == "line 1"
    covered = [sums[0], summed(drawn(1), 4.0, covered=True), sums[2]]
    assert replay._sensitivity([ran(*covered)] * 3, CLAIM, 5, False)[0].details["site"] == "line 2"
    reshaped = [sums[0], summed(drawn(1, opaque=True), 4.0), sums[2]]
    runs = [ran(*reshaped)] * 3
    assert replay._sensitivity(runs, CLAIM, 5, False) == []  # a share of three runs is next to nothing
    assert replay._sensitivity([ran(*reshaped)] * 60, CLAIM, 5, False)[0].details["site"] == "line 2"


def test_the_loss_of_the_run_in_the_middle_counts() -> None:
    runs = [ran(summed(drawn(0), move)) for move in (1.0, 5.0, 3.0, 4.0)]
    assert replay._sensitivity(runs, CLAIM, 5, False)[0].details["epsilon"] == 1.5
    assert replay._sensitivity(runs, CLAIM, 5, False)[0].details["difference"] == 3.0


def test_a_batch_that_was_chosen_is_credited_with_its_share() -> None:
    """Two of ten records: the loss counts at ln(1 + p(e^ε − 1)), p the larger of a limit and of the batch's share."""
    batch = choice(0, [3, 7], 10)
    call = drawn(1)
    run = Replayed(RecordedRun([batch, call], output=[0.5]), RecordedRun([batch, call]), [summed(call, 6.0)])
    assert replay._batch_share([run], 1, 10) == 0.2
    assert replay._batch_share([run], 0, 10) == 0.0
    assert replay._batch_share([run], 1, 11) == 0.0
    fewer = Replayed(RecordedRun([choice(0, [3, 3], 10), call]), RecordedRun(), [])
    assert replay._batch_share([run, fewer], 1, 10) == 0.1
    shuffled = Replayed(RecordedRun([choice(0, [3, 7], 10, method="shuffle"), call]), RecordedRun(), [])
    assert replay._batch_share([shuffled], 1, 10) == 0.0
    share = max(_share(24, 24), 0.2)
    (found,) = replay._sensitivity([run] * 24, CLAIM, 10, False)
    assert found.details["epsilon"] == pytest.approx(math.log(1 + share * (math.e**3 - 1)))
    assert f"(met in a share of at least {share:.2g} of the runs)" in found.message


def test_noise_on_a_hidden_random_scale_is_a_mixture() -> None:
    coin = drawn(0, "uniform", additions=0)
    moves = [(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]
    runs = []
    for difference, scale in moves:
        call = drawn(1)
        runs.append(
            Replayed(RecordedRun([coin, call]), RecordedRun([coin, call]), [summed(call, difference, scale, drawn=2)])
        )
    met = [r.comparisons[0] for r in runs]
    assert replay._drawn_scale(met, runs)
    assert not replay._drawn_scale(met[:1], runs[:1])
    seen = [Replayed(RecordedRun([drawn(0), c.call]), RecordedRun(), [c]) for c in met]
    assert not replay._drawn_scale(met, seen)
    seeds = [Replayed(RecordedRun([drawn(0, "integers", additions=0, feeds=True), c.call]), RecordedRun()) for c in met]
    assert not replay._drawn_scale(met, seeds)
    along = [summed(drawn(1), x, x, drawn=2) for x in (1.0, 2.0, 3.0)]
    assert not replay._drawn_scale(along, runs)


def test_sums_that_are_published_are_added_up() -> None:
    """Two Laplace sums of 0.75 each keep ε = 1, together they do not; what is not published does not count."""
    sums = [summed(drawn(i), 1.5, result=value) for i, value in enumerate((0.25, 0.5))]
    (found,) = replay._together([ran(*sums)] * 3, CLAIM)
    assert found.kind == "composition"
    assert found.details == {"sites": ["line 0", "line 1"], "epsilon": 1.5}
    assert found.message == (
        "2 numbers with laplace noise of their own are published that differ between the neighbours on the same draws"
        " (noise drawn at line 0, line 1): a loss of ε = 1.5 at δ = 0 for all of them together, claimed 1"
    )
    for changed in (
        ran(*sums, output=(0.25, 0.6)),
        ran(sums[0], summed(drawn(1), 1.5, result=0.5, covered=True)),
        ran(sums[0], summed(drawn(1, opaque=True), 1.5, result=0.5)),
        ran(sums[0], summed(drawn(1), 1.5, 2.0, 3.0, result=0.5)),
        ran(sums[0], summed(drawn(1), 0.0, result=0.5)),
        ran(sums[0], summed(drawn(1), 1.4, result=0.5)),
    ):
        assert replay._together([ran(*sums), changed], CLAIM) == []
    assert replay._together([ran(sums[0], summed(drawn(1), 0.5, result=0.5))], CLAIM) == []


def test_gaussian_sums_are_added_up_by_their_squares() -> None:
    claim = Epsilon(replay.gaussian_epsilon(0.75, 1e-5), 1e-5)
    sums = [summed(drawn(i, "normal"), move, result=value) for i, (move, value) in enumerate(((1.2, 0.25), (1.6, 0.5)))]
    (found,) = replay._together([ran(*sums)], claim)
    assert found.details["epsilon"] == pytest.approx(replay.gaussian_epsilon(1.0, 1e-5))


@pytest.mark.parametrize(
    ("outputs", "leaves"),
    [
        ([[1.5, 2.0]], 1),
        ([[1.5, 2.0, "a"], [2.5, 2.0, "a"]], 1),
        ([[1.5, 2.5], [2.5, 2.0]], 2),
        ([[1.5, 2.5], [2.5]], 1),
        ([[1.0, 1.0], [2.0, 2.0], [1.0, 3.0]], 1),
    ],
)
def test_numbers_that_change_from_run_to_run_are_continuous(outputs: list[Any], leaves: int) -> None:
    assert replay._continuous_leaves([ran(output=o) for o in outputs]) == leaves


def test_data_on_an_open_path_are_told() -> None:
    scales = ran(summed(drawn(0), 0.0, 2.0, np.array(3.0)))
    (found,) = replay._open_paths([ran(), scales], 1.0)
    assert (found.kind, found.details) == ("data-dependent-scale", {"site": "line 0"})
    assert "depends on the data: 2 on the dataset, 3 on the neighbour" in found.message
    heavy = ran(summed(drawn(0, "cauchy"), 0.0, 2.0, 3.0))
    assert replay._open_paths([heavy], 1.0) == []
    assert replay._open_paths([heavy], 0.3)[0].kind == "data-dependent-scale"
    course = ran(second=RecordedRun(diverged="x was not made", output=(0.25, 0.5)))
    (found,) = replay._open_paths([course], 1.0)
    assert found.kind == "data-dependent-noise"
    assert found.message.endswith("on the neighbour x was not made")
    failed = ran(second=RecordedRun(diverged="x was not made", error="E"))
    assert replay._open_paths([failed], 1.0) == []
    (found,) = replay._open_paths([ran(second=RecordedRun(output=(0.25, 0.75)))], 1.0)
    assert found.kind == "unnoised-path"
    assert "(output[1] is 0.5 and 0.75)" in found.message
    assert replay._open_paths([ran(second=RecordedRun(error="E"))], 1.0) == []
    assert replay._open_paths([ran()], 1.0) == []


def test_where_outputs_differ() -> None:
    assert replay._where([1.0, 2.0], [1.0]) == "2 against 1 entries"
    assert replay._where([1.0, 2.0], [1.0, 3.0]) == "output[1] is 2.0 and 3.0"
    assert replay._where([1.0, 2.0, 3.0], [2.0, 2.0 + 1e-12, 4.0]) == "in output[0], output[2]"
    assert replay._where([1.0], (1.0,)) == "in their structure"


def test_a_shared_draw_is_its_own_finding() -> None:
    one = summed(drawn(0), np.array([1.0, 3.0]), noise_shape=())
    (found,) = replay._sensitivity([ran(one)] * 3, CLAIM, 5, False)
    assert found.kind == "shared-noise"
    assert found.details == {"site": "line 0", "difference": 3.0, "scale": 2.0}
    assert found.message.startswith("one draw of laplace noise of scale 2 drawn at line 0 is added to 2 numbers")


def test_runs_may_have_other_numbers_of_sums() -> None:
    """Some do not reach a sum: it is judged by those that do."""
    both, one = ran(summed(drawn(0), 1.0), summed(drawn(1), 40.0)), ran(summed(drawn(0), 1.0))
    (found,) = replay._sensitivity([both] * 12 + [one] * 12, CLAIM, 5, False)
    assert (found.details["site"], found.details["epsilon"]) == ("line 1", 20.0)
