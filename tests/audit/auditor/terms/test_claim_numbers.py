"""Claims by hand: what number a pair of probabilities refutes, what is refused, and how it reads."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from audit.auditor.terms.claim import (
    GDP,
    ORDERS,
    RDP,
    ZCDP,
    Claim,
    Epsilon,
    Profile,
    TradeOff,
    claimed,
    currency,
    renyi,
)


def one(claim: Claim, p: float, q: float) -> float:
    return float(claim.value(np.array([p]), np.array([q]))[0])


def divergence(p: float, q: float, order: float) -> float:
    """D_α of two coins, the larger of both directions."""
    both = (
        p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order),
        q**order * p ** (1 - order) + (1 - q) ** order * (1 - p) ** (1 - order),
    )
    return max(math.log(x) for x in both) / (order - 1)


@pytest.mark.parametrize(("p", "q"), [(0.6, 0.3), (0.9, 0.1), (0.02, 0.01), (0.999, 0.98)])
def test_the_number_of_a_pair_is_that_of_the_definition(p: float, q: float) -> None:
    assert one(Epsilon(1), p, q) == pytest.approx(max(math.log(p / q), math.log((1 - q) / (1 - p))))
    delta = 0.005
    assert one(Epsilon(1, delta), p, q) == pytest.approx(
        max(math.log((p - delta) / q), math.log((1 - q - delta) / (1 - p)))
    )
    assert one(GDP(1), p, q) == pytest.approx(stats.norm.ppf(p) - stats.norm.ppf(q))
    for order in (1.5, 2, 8):
        assert float(renyi(np.array([p]), np.array([q]), order)[0]) == pytest.approx(divergence(p, q, order))
        assert one(RDP(order, 0.3), p, q) == pytest.approx(divergence(p, q, order))
    several = RDP({2: 0.1, 8: 0.5})
    assert one(several, p, q) == pytest.approx(max(divergence(p, q, 2) / 0.1, divergence(p, q, 8) / 0.5))
    tested = ZCDP(0.1, tested=(2.0, 5.0))
    assert one(tested, p, q) == pytest.approx(max(divergence(p, q, 2) / 2, divergence(p, q, 5) / 5))
    assert one(ZCDP(0.1), p, q) == pytest.approx(float((renyi(np.full(len(ORDERS), p), q, ORDERS) / ORDERS).max()))
    assert one(ZCDP(0.1).near(p, q), p, q) == pytest.approx(one(ZCDP(0.1), p, q), rel=0.02)
    table = Profile({1e-3: 2.0, 0.005: 1.2})
    assert one(table, p, q) == pytest.approx(max(one(Epsilon(1, d), p, q) - e for d, e in table.rows))


def test_several_orders_are_one_number_together() -> None:
    single, several = RDP(8, 0.5), RDP({8: 0.5, 2: 0.1})
    assert (single.several, several.several) == (False, True)
    assert several.orders == ((2.0, 0.1), (8.0, 0.5))
    assert (single.number, several.number) == (0.5, 1.0)
    assert (single.at(0.7).number, several.at(0.7).number) == (0.7, 0.7)
    assert several.at(0.7).orders == several.orders
    assert (str(single), str(several.at(2))) == ("(8, 0.5)-RDP", "(2, 0.1), (8, 0.5)-RDP times 2")
    assert single.bound_as_text(0.61) == "ε(8) = 0.61"
    assert several.bound_as_text(1.5) == "1.5 times the claimed ε(α)"
    assert str(RDP(dict.fromkeys((2, 3, 4, 5, 6), 1.0))).endswith("(5, 1), …-RDP")


def test_what_a_number_that_says_little_is() -> None:
    assert Epsilon(1.5).far == 3.0
    assert GDP(0.5).far == 1.0
    assert RDP(2, 0.5).far == 2.0
    assert ZCDP(0.5).far == 2.0
    assert ZCDP(0.0).far == 0.005
    assert Profile({1e-5: 3.0, 1e-4: 2.0, 1e-3: 1.5}).far == 2.0
    assert TradeOff(lambda a: max(0.0, 1 - 2 * a)).far == pytest.approx(0.5)
    assert Profile({1e-5: 3.0, 1e-4: 2.0}).least == -3.0
    assert Profile({1e-4: 2.0, 1e-5: 3.0}).delta == 1e-5
    assert (TradeOff(lambda a: 1 - a).least, GDP(1).least) == (-1.0, 0.0)
    assert (Epsilon(1).any_size, Epsilon(1, 1e-9).any_size, GDP(1).any_size) == (True, False, False)


def test_a_number_is_shown_with_the_digits_that_exceed_the_claim() -> None:
    assert Epsilon(1.0).bound_as_text(1.23456) == "ε = 1.235"
    assert Epsilon(1.0).shown(1.00001234) == "1.00001"
    assert Epsilon(1.0).shown(0.99999) == "1"


class Losses:
    """What dp-accounting's distributions offer."""

    def get_epsilon_for_delta(self, delta: float) -> float:
        return math.inf if delta < 1e-7 else 1 / (1 + delta)


def test_a_profile_is_read_from_tables_functions_and_distributions() -> None:
    assert Profile([(1e-3, 1), (1e-5, 2)]).rows == ((1e-5, 2.0), (1e-3, 1.0))
    assert Profile(lambda d: 1 - d, deltas=[0.5, 0.25]).rows == ((0.25, 0.75), (0.5, 0.5))
    assert len(Profile(lambda d: 2 - d).rows) == 8
    assert Profile(Losses()).delta == 1e-7
    assert Profile({1e-5: 2}).at(0.5).shift == 0.5
    assert str(Profile({1e-5: 2, 1e-4: 1.9, 1e-3: 1.5, 1e-2: 1})) == (
        "the profile ε(1e-05) = 2, ε(0.0001) = 1.9, ε(0.001) = 1.5, …"
    )
    assert Profile({1e-5: 2}).bound_as_text(0.25) == "the claimed ε(δ) plus 0.25"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Epsilon(-1), "≥ 0"),
        (lambda: Epsilon(math.nan), "≥ 0"),
        (lambda: Epsilon(math.inf), "an infinite ε claims nothing"),
        (lambda: Epsilon(True), "give a number"),
        (lambda: Epsilon(1, 1.0), "must be in [0, 1)"),
        (lambda: Epsilon(1, -1e-9), "must be in [0, 1)"),
        (lambda: GDP(-0.1), "≥ 0"),
        (lambda: RDP(1, 0.5), "order > 1"),
        (lambda: RDP(math.inf, 0.5), "order > 1"),
        (lambda: RDP(2), "needs an order and its ε"),
        (lambda: RDP({2: 0.1}, 0.5), "needs an order and its ε"),
        (lambda: RDP({}), "has no order"),
        (lambda: RDP({2: 0.0, 3: 1.0}), "an ε of 0 at one order"),
        (lambda: Profile(3), "must be a table"),
        (lambda: Profile({}), "no rows"),
        (lambda: Profile({1.0: 1}), "must be in [0, 1)"),
        (lambda: Profile({1e-5: -1}), "must be ≥ 0"),
        (lambda: Profile({1e-5: math.inf}), "claims nothing"),
        (lambda: Profile({1e-5: 1.0, 1e-3: 1.5}), "not decreasing"),
        (lambda: Profile({0.0: 2.0, 0.4: 1.0, 0.41: 0.0}), "not convex"),
        (lambda: TradeOff(lambda a: 1 - a / 2), "0 ≤ f(a) ≤ 1 − a"),
        (lambda: TradeOff(lambda a: -0.1 * a), "0 ≤ f(a) ≤ 1 − a"),
        (lambda: TradeOff(lambda a: min(a, 1 - a)), "decreasing"),
        (lambda: TradeOff(lambda a: min(0.5, 1 - a)), "convex"),
        (lambda: claimed(None), "nothing is claimed"),
        (lambda: claimed(None, epsilon=1, rho=1), "epsilon and rho are claimed"),
        (lambda: claimed(None, mu=1, delta=1e-5), "goes with epsilon="),
        (lambda: claimed(3), "is no claim"),  # type: ignore[arg-type]
        (lambda: currency("nats"), "must be one of epsilon, mu, rho, rdp"),
        (lambda: currency("rdp"), "takes alpha=8, not nothing"),
        (lambda: currency("mu", delta=1e-5), "takes no further argument, not delta"),
    ],
)
def test_what_claims_nothing_is_refused(make: Any, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        make()


def test_the_shorthands_and_the_currencies() -> None:
    assert claimed(None, epsilon=1, delta=1e-5) == Epsilon(1, 1e-5)
    assert (claimed(None, rho=0.5), claimed(None, mu=0.5)) == (ZCDP(0.5), GDP(0.5))
    assert claimed(GDP(1)) == GDP(1)
    assert claimed(None, epsilon=Fraction(1, 2)) == Epsilon(0.5)
    assert currency("epsilon", delta=1e-5) == Epsilon(0.0, 1e-5)
    assert (currency("mu"), currency("rho"), currency("rdp", alpha=8)) == (GDP(0.0), ZCDP(0.0), RDP(8, 0.0))


def test_a_trade_off_function_is_called_as_it_can_be_and_refutes_both_ways() -> None:
    def two(a: float) -> float:
        return max(0.0, 1 - 2 * a)

    claim = TradeOff(two, name="two")
    assert str(claim) == "two-DP"
    assert claim.bound_as_text(0.25) == "that of a type II error 0.25 below two"
    assert claim.at(0.1).number == 0.1
    assert one(claim, 0.5, 0.25) == pytest.approx(0.0)
    assert one(claim, 0.6, 0.2) == pytest.approx(max(two(0.2) - 0.4, two(0.4) - 0.2)) == pytest.approx(0.2)
    assert one(TradeOff(lambda a: np.maximum(0.0, 1 - 2 * a)), 0.6, 0.2) == pytest.approx(0.2)
