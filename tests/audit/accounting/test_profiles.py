"""Profiles and the rules they are made of: each against the formula that it stands for, at numbers of no shape."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from audit.accounting import profiles as module
from audit.accounting.profiles import (
    LEAST_BITS,
    PrivacyProfile,
    Rule,
    TrajectoryLoss,
    averaged_rule,
    constant_rule,
    gaussian_rule,
    kov_rule,
    largest,
    once,
    pure_rule,
    scientific,
    smallest,
    zcdp_rule,
)
from reference.numerics.numbers import Ball, Undecided
from reference.privacy import gaussian_delta, kov_delta, zcdp_delta

K = Ball(192)
E = Fraction(3, 7)


def same(one: Any, other: Any) -> bool:
    return abs(one.mid - other.mid) <= one.rad + other.rad and one.rad < Fraction(1, 10**30)


def test_rules_are_the_reference_s_functions_of_their_parameter() -> None:
    asked: list[int] = []

    def parameter(K: Ball) -> Any:
        asked.append(K.bits)
        return K("0.61")

    half = K("0.61")
    for rule, expected, exact, name in (
        (gaussian_rule(parameter), gaussian_delta(K, E, half), True, "Gaussian release, exact"),
        (gaussian_rule(parameter, "mine", exact=False), gaussian_delta(K, E, half), False, "mine"),
        (pure_rule(parameter), kov_delta(K, E, half, 1), False, "pure DP of the whole transcript"),
        (kov_rule(parameter, 3), kov_delta(K, E, half, 3), False, "optimal composition of pure DP, 3 steps"),
        (zcdp_rule(parameter), zcdp_delta(K, E, half), False, "zCDP, optimal order"),
    ):
        asked.clear()
        assert same(rule.enclosure(E), expected)
        assert same(rule.enclosure(E), expected)
        assert asked == [192]  # computed once a precision
        assert (rule.exact, rule.name, rule.at(E)) == (exact, name, name)
    assert constant_rule("nothing").enclosure(E).ball.is_zero()
    assert constant_rule("nothing").exact


def test_an_average_weighs_each_distance() -> None:
    shares = (Fraction(1, 5), Fraction(4, 5))
    rule = averaged_rule(lambda K: [K("0.4"), K("1.3")], shares, "two")
    expected = gaussian_delta(K, E, K("0.4")) / 5 + gaussian_delta(K, E, K("1.3")) * 4 / 5
    assert same(rule.enclosure(E), expected)
    assert (rule.name, rule.exact) == ("two", False)


def fixed(value: Any, name: str, exact: bool = False) -> Rule:
    """A rule with this δ at every ε."""
    return Rule(name, exact, lambda K, e: K(value))


def test_of_several_bounds_one_decides() -> None:
    parts = [fixed("0.2", "a"), fixed("0.1", "b"), fixed("0.1", "c")]
    least, most = smallest(parts), largest(parts)
    assert (least.at(E), most.at(E)) == ("b", "a")
    assert float(least.upper(E)) == pytest.approx(0.1)
    assert float(most.upper(E)) == pytest.approx(0.2)
    assert (least.name, smallest([parts[0], parts[0]]).name) == ("a / b / c", "a")
    assert not least.exact
    assert largest([fixed(1, "a", True), fixed(2, "b", True)]).exact
    assert not largest([fixed(1, "a", True), fixed(2, "b")]).exact


def test_a_bound_is_at_most_one_and_never_nothing() -> None:
    assert fixed(2, "too much").upper(E) == 1
    assert fixed(0, "none").upper(E) == 0
    assert fixed(Fraction(1, 3), "a third").upper(E) > Fraction(1, 3)
    tiny = Rule("tiny", False, lambda K, e: K(1) / K(2) ** (LEAST_BITS + 5))
    assert tiny.upper(E) == Fraction(1, 2**LEAST_BITS) == Fraction(1, 2**100_000)


def test_an_enclosure_is_as_narrow_as_asked() -> None:
    bits: list[int] = []
    rule = Rule("third", False, lambda K, e: bits.append(K.bits) or K(1) / 3)
    assert rule.enclosure(E, Fraction(1, 10**80)).rad <= Fraction(1, 10**80)
    assert bits == [192, 384]
    wide = Rule("wide", False, lambda K, e: K(1) / 3 if K.bits < 1 else _open())
    with pytest.raises(Undecided):
        wide.enclosure(E)


def _open() -> Any:
    raise Undecided("always")


def test_a_parameter_is_computed_once_a_precision() -> None:
    asked: list[int] = []
    value = once(lambda K: asked.append(K.bits) or K(1))
    for bits in (64, 64, 128, 64):
        value(Ball(bits))
    assert asked == [64, 128]


# -------------------------------------------------------------------------------------------- trajectories


def test_the_first_cover_is_a_few_square_roots_before_the_end() -> None:
    assert TrajectoryLoss([0.1])._start() == [(0, 0)]
    edges = [0, 40, 60, 70, 80, 90, 95, 100]
    assert TrajectoryLoss([0.1] * 100)._start() == [(a, b - 1) for a, b in pairwise(edges)]


def test_the_losses_of_a_block_decay_from_its_largest_unit() -> None:
    units = [0.5, 0.2, 0.4, 0.3, 0.1, 0.25]
    loss = TrajectoryLoss(units)
    block = loss.block(1, 3)
    decay, expected = 1.0, [0.4]
    for j in range(4, 8):
        decay *= 1 - 1 / math.sqrt(j + 1)
        expected.append(0.4 * decay)
    assert len(block.losses) == 5  # T − first
    assert block.losses == pytest.approx(expected, rel=1e-11)
    assert block.losses[0] > 0.4  # a hair up
    assert block.losses[0] == pytest.approx(0.4, rel=2e-12)
    assert (block.first, block.last, block.tail) == (1, 3, 0.0)
    assert block.rho == pytest.approx(sum(x * x for x in expected) / 2)
    assert loss.block(1, 3) is block


def test_what_later_lags_add_up_to_is_cut_off_at_a_share_of_the_whole() -> None:
    class Short(TrajectoryLoss):
        tail_share = 0.1

    whole = TrajectoryLoss([0.3] * 40).block(0, 39)
    short = Short([0.3] * 40).block(0, 39)
    after = np.cumsum(whole.losses[::-1])[::-1]
    cut = next(i for i in range(1, len(after)) if after[i] <= 0.1 * after[0])
    assert short.losses == pytest.approx(whole.losses[:cut])
    assert short.tail == pytest.approx(after[cut])
    assert Short([0.3]).block(0, 0).losses == pytest.approx([0.3])
    assert Short([0.3]).block(0, 0).tail == 0.0
    left = Short([0.3] * 40)
    assert left.block_delta(0, 39, 0.99 * short.tail) == left._cheap(0, 39, 0.99 * short.tail) == 1.0
    assert left.block_delta(0, 39, short.tail + 1.0) < 1.0


@pytest.mark.parametrize(("epsilon", "width"), [(0.37, 0.1), (0.4, 0.1), (0.03, 0.1), (1.0, 0.25)])
def test_randomised_response_on_a_grid_keeps_its_mass_and_that_of_the_alternative(epsilon: float, width: float) -> None:
    top, probabilities = module._response(epsilon, width)
    assert top == math.ceil(epsilon / width)
    assert len(probabilities) == 2 * top + 1
    grid = width * np.arange(-top, top + 1)
    assert probabilities.sum() == pytest.approx(1.0, abs=1e-12)
    assert float(probabilities @ np.exp(-grid)) == pytest.approx(1.0, abs=1e-12)
    assert probabilities.min() >= -1e-15
    beyond = np.maximum(0.0, 1 - np.exp(0.0 - grid)) @ probabilities
    assert beyond >= math.tanh(epsilon / 2) - 1e-12  # δ(0) of the response itself: splitting only adds


def test_several_responses_are_convolved() -> None:
    pmf = module._responses(np.array([0.37, 0.2]), 0.1)
    (first_top, first), (second_top, second) = module._response(0.37, 0.1), module._response(0.2, 0.1)
    losses = 0.1 * np.arange(-first_top - second_top, first_top + second_top + 1)
    law = np.convolve(first, second)
    for epsilon in (0.0, 0.25, 0.5):
        expected = float(np.maximum(0.0, 1 - np.exp(epsilon - losses)) @ law)
        assert pmf.get_delta_for_epsilon(epsilon) == pytest.approx(expected, abs=1e-12)


def test_a_single_loss_is_randomised_response() -> None:
    loss = TrajectoryLoss([0.8])
    for epsilon in (0.0, 0.3, 0.7):
        exact = (math.exp(0.8) - math.exp(epsilon)) / (1 + math.exp(0.8))
        assert exact <= loss.block_delta(0, 0, epsilon) <= exact * (1 + 1e-3)
    assert loss.block_delta(0, 0, 0.9) == pytest.approx(16 * np.finfo(float).eps)
    assert TrajectoryLoss([0.0, 0.0, 0.0]).worst(0.5) == (0.0, 0, 2)


def test_branch_and_bound_finds_the_worst_batch() -> None:
    """Units that peak in the middle: the block that is given has a batch within a per cent of the bound."""
    units = [0.1 + 0.2 * math.exp(-(((k - 40) / 4) ** 2)) for k in range(100)]
    loss = TrajectoryLoss(units)
    bound, first, last = loss.worst(0.5)
    single = max(TrajectoryLoss(units).block_delta(k, k, 0.5) for k in range(34, 48))
    assert single <= bound * (1 + 1e-9)
    assert bound <= 1.01 * single
    assert first <= last
    assert sorted(loss._leaves)[0][0] == 0
    covered = sorted(loss._leaves)
    assert all(a[1] + 1 == b[0] for a, b in pairwise(covered))
    assert covered[-1][1] == 99
    assert loss.delta(0.5) == pytest.approx(bound, rel=0.01)


def test_splits_end_after_a_while() -> None:
    class Once(TrajectoryLoss):
        most_splits = 1

    units = [0.1 + 0.2 * math.exp(-(((k - 40) / 4) ** 2)) for k in range(100)]
    once_split = Once(units)
    before = len(once_split._leaves)
    bound, _, _ = once_split.worst(0.5)
    assert len(once_split._leaves) == before + 1
    assert bound > TrajectoryLoss(units).worst(0.5)[0]


# ------------------------------------------------------------------------------------------------ profiles


class Sharper(TrajectoryLoss):
    """A sharper rule with a known δ."""

    def __init__(self, scale: float):
        self.scale = scale

    def worst(self, epsilon: float) -> tuple[float, int, int]:
        return self.scale * math.exp(-epsilon), 0, 0


LOOSE = Rule("loose", False, lambda K, e: K.exp(-K(e)) / 2)
EXACT = Rule("exact", True, lambda K, e: K.exp(-K(e)) / 2)


def test_the_least_bound_of_two_is_given() -> None:
    alone, better, worse = (
        PrivacyProfile(LOOSE),
        PrivacyProfile(LOOSE, Sharper(0.25)),
        PrivacyProfile(LOOSE, Sharper(1)),
    )
    at = math.exp(-1)
    assert alone.delta(1) == worse.delta(1) == pytest.approx(at / 2)
    assert better.delta(1) == pytest.approx(at / 4)
    assert better.certified_delta(1) == pytest.approx(at / 2)
    assert Fraction(alone.delta(1)) >= alone.upper(1) > Fraction(math.nextafter(alone.delta(1), 0))
    assert [p.rule(1) for p in (alone, better, worse)] == ["loose", TrajectoryLoss.name, "loose"]
    assert "pessimistic" in better.certificate(1)
    assert "gives 0.0919699 (" in better.certificate(1)
    assert "pessimistic" not in better.certificate(1, certified=True) + worse.certificate(1) + alone.certificate(1)
    assert alone.certificate(1).startswith("δ(ε) ≤ v with v in [0.18393972058")
    assert PrivacyProfile(EXACT).certificate(1).startswith("δ(ε) = v with v in ")
    assert alone.certificate(1).endswith("by ball arithmetic at 192 bits or more")
    assert PrivacyProfile(constant_rule("none"), Sharper(1)).upper(1) == 0


def test_the_epsilon_of_a_profile() -> None:
    for delta in (0.01, 0.3):
        expected = math.log(0.5 / delta)
        assert PrivacyProfile(LOOSE).epsilon(Fraction(delta)) == pytest.approx(expected, rel=1e-14)
        better = PrivacyProfile(LOOSE, Sharper(0.4))
        assert better.epsilon(Fraction(delta)) == pytest.approx(math.log(0.4 / delta), rel=2e-4)
        assert better.certified_epsilon(Fraction(delta)) == pytest.approx(expected, rel=1e-14)
    assert PrivacyProfile(LOOSE, Sharper(0.4)).epsilon("0.6") == 0.0
    stubborn = Rule("stubborn", False, lambda K, e: K(1) / 2)
    assert PrivacyProfile(stubborn).epsilon("0.4") == math.inf


def test_verdicts() -> None:
    target = Fraction(math.exp(-1)) / 2
    below, above = target * Fraction(99, 100), target * Fraction(101, 100)
    assert [PrivacyProfile(EXACT).verdict(1, d) for d in (below, above)] == ["violated", "private"]
    assert [PrivacyProfile(LOOSE).verdict(1, d) for d in (below, above)] == ["not certified", "private"]
    assert PrivacyProfile(LOOSE, Sharper(0.25)).verdict(1, below) == "private"
    assert PrivacyProfile(EXACT).exact
    assert not PrivacyProfile(LOOSE).exact
    assert not module._certainly_above(Rule("open", True, lambda K, e: _open()), Fraction(1), below)


@pytest.mark.parametrize("root", [0.0, 1e-9, 0.3, 1.0, 1.7, 5.0])
def test_bisection_finds_the_least_that_is_admissible(root: float) -> None:
    asked: list[float] = []

    def admissible(x: float) -> bool:
        asked.append(x)
        return x >= root

    found = module._bisect(admissible, 2.0**20, 50)
    assert found >= root
    assert found == pytest.approx(root, rel=1e-14)
    rough = module._bisect(lambda x: x >= root, 2.0**20, 3)
    assert root <= rough <= root * (1 + 1 / 8)


def test_bisection_at_its_ends() -> None:
    assert module._bisect(lambda x: x >= 3.0, 2.5, 50) == math.inf
    assert module._bisect(lambda x: x >= 3.0, 3.0, 50) == pytest.approx(3.0)
    assert module._bisect(lambda x: x >= 0.4, 0.5, 50) == pytest.approx(0.4)
    assert module._bisect(lambda x: x >= 0.4, 0.3, 50) == math.inf
    least = module._bisect(lambda x: x > 0.0, 1.0, 4)
    assert 2.0**-202 < least <= 2.0**-200


@pytest.mark.parametrize(
    ("bound", "digits", "text"),
    [
        (Fraction(1), 4, "1.000e0"),
        (Fraction(12345), 4, "1.235e4"),
        (Fraction(12340), 4, "1.234e4"),
        (Fraction(99995, 10), 4, "1.000e4"),
        (Fraction(1, 1000), 2, "1.0e-3"),
        (Fraction(1, 1024), 4, "9.766e-4"),
        (Fraction(1, 10**400), 4, "1.000e-400"),
        (Fraction(-1), 4, "0"),
    ],
)
def test_numbers_are_written_rounded_up(bound: Fraction, digits: int, text: str) -> None:
    assert scientific(bound, digits) == text


def test_binary64_from_above() -> None:
    assert module._float_above(Fraction(1, 2)) == 0.5
    third = module._float_above(Fraction(1, 3))
    assert Fraction(third) > Fraction(1, 3) > Fraction(math.nextafter(third, 0))
    assert module._float_above(Fraction(1, 10**400)) == math.ulp(0.0)
