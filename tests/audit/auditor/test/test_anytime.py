"""Bets on labels: every factor is fair where the claim is used up, stakes are Kelly's, and the state is as it says."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from scipy import optimize, special

from audit.auditor.targets.sampling import CallableTarget, Pair
from audit.auditor.terms.claim import GDP, Epsilon
from audit.auditor.test.anytime import (
    CANDIDATES,
    FIRST_BLOCK,
    FIRST_BLOCKS,
    FIRST_TIMED,
    FLOOR,
    LONGEST_BLOCK,
    REFINEMENT,
    SMALLEST_BLOCK,
    Betting,
    expected_growth,
    grid_of,
    log_factors,
    stakes,
)
from audit.auditor.test.exact import implied_delta


def expected_factor(
    epsilon: float, delta: float, law: list[tuple[float, float]], guesses: tuple[int, ...], margins: tuple[float, ...]
) -> float:
    """E of one factor: output z has probability P(z) on the neighbour (label 1) and Q(z) on the dataset (label 0)."""
    e, m = np.array([epsilon]), np.array(margins)
    cap = stakes(e, m, delta)[0].max(axis=1)
    factors = {r: np.exp(log_factors(e, m, np.full(len(m), float(r)), delta, cap))[0] for r in (0, 1)}
    total = 0.0
    for z, (p, q) in enumerate(law):
        total += p / 2 * factors[int(guesses[z] == 1)][z] + q / 2 * factors[int(guesses[z] == 0)][z]
    return float(total)


def used_up(epsilon: float, delta: float) -> list[tuple[float, float]]:
    """The pair of laws on four outputs that attains (ε, δ)-DP everywhere."""
    kept = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    return [(delta, 0.0), (kept, 1 - delta - kept), (1 - delta - kept, kept), (0.0, delta)]


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0, 6.0])
@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.2])
def test_no_bet_has_an_advantage_where_the_claim_is_true(epsilon: float, delta: float) -> None:
    law, sizes = used_up(epsilon, delta), (0.0, 0.3, epsilon + 1.0, 40.0)
    for guesses in itertools.product((0, 1), repeat=4):
        for margins in itertools.product(sizes, repeat=4):
            assert expected_factor(epsilon, delta, law, guesses, margins) <= 1 + 1e-12


def test_the_right_bet_is_just_fair_where_the_claim_is_used_up_and_gains_where_it_is_broken() -> None:
    right = (1, 1, 0, 0)
    assert expected_factor(1.0, 0.0, used_up(1.0, 0.0), right, (40.0,) * 4) == pytest.approx(1.0, abs=1e-12)
    assert expected_factor(1.0, 0.1, used_up(1.0, 0.1), right, (40.0,) * 4) == pytest.approx(1.0, abs=1e-12)
    assert expected_factor(1.0, 0.0, used_up(1.2, 0.0), right, (1.2,) * 4) > 1.001
    assert expected_factor(1.0, 1e-3, used_up(1.0, 0.1), right, (40.0,) * 4) > 1.01


@pytest.mark.parametrize(("epsilon", "margin"), [(0.0, 0.5), (1.0, 1.4), (2.0, 2.1)])
def test_a_stake_makes_the_capital_grow_fastest(epsilon: float, margin: float) -> None:
    q, p = special.expit(epsilon), special.expit(margin)
    found, cap = stakes(np.array([epsilon]), np.array([margin, epsilon - 0.1]), 0.0)
    best = optimize.minimize_scalar(
        lambda x: -(p * math.log1p(x * (1 - q)) + (1 - p) * math.log1p(-x * q)), bounds=(0, cap[0]), method="bounded"
    )
    assert found[0, 0] == pytest.approx(best.x, abs=1e-4)
    assert found[0, 1] == 0.0, "no bet where the guess is less sure than the claim allows"


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_a_lost_bet_leaves_the_floor(delta: float) -> None:
    e, sure = np.array([0.0, 1.0, 5.0]), np.array([60.0])
    found, cap = stakes(e, sure, delta)
    assert found[:, 0] == pytest.approx(cap)
    assert np.exp(log_factors(e, sure, np.zeros(1), delta, cap))[:, 0] == pytest.approx(FLOOR)


def test_growth_is_the_mean_over_the_outputs_were_the_guesses_as_good_as_they_say() -> None:
    e, margins, delta = np.array([0.2, 1.0]), np.array([0.1, 0.9, 2.0, 5.0]), np.array([1e-3, 0.05])
    lost, won = (1 - special.expit(margins)), special.expit(margins)
    for i in range(2):
        cap = stakes(e[[i]], margins, delta[[i]])[0].max(axis=1)
        up, down = (log_factors(e[[i]], margins, np.full(4, r), delta[[i]], cap)[0] for r in (1.0, 0.0))
        by_hand = sum(won[j] * up[j] + lost[j] * down[j] for j in range(4)) / 4
        assert expected_growth(e, delta, margins)[i] == pytest.approx(by_hand, rel=1e-12)
    assert expected_growth(np.array([0.2]), np.array([0.0]), margins)[0] > 0


def test_a_grid_rises_and_has_the_claim_and_zero() -> None:
    for claim in (Epsilon(1.234, 1e-5), GDP(0.7)):
        grid = grid_of(claim)
        assert grid[0] == 0.0
        assert (np.diff(grid) > 0).all()
        assert claim.number in grid
        assert grid[-1] > 5 * claim.number


# ------------------------------------------------------------------------------------------------ the state


def response(epsilon: float):  # type: ignore[no-untyped-def]
    def mechanism(dataset, size, rng):  # type: ignore[no-untyped-def]
        kept = rng.random(size) < special.expit(epsilon)
        return np.where(kept, dataset, 1 - dataset).astype(float)

    return mechanism


def betting(epsilon: float, claim: Epsilon | GDP, pairs: int = 1) -> Betting:
    target = CallableTarget(response(epsilon))
    return Betting(target, [Pair(0, 1, index=i) for i in range(pairs)], claim, 0.05, 3, 30)


def test_blocks_are_small_at_first_and_a_part_of_the_draws_so_far_later() -> None:
    said: list[str] = []
    running = betting(0.5, Epsilon(1.0))
    running.run(2500, None, said.append)
    seen = [int(line.split()[0]) for line in said]
    sizes = [b - a for a, b in itertools.pairwise([0, *seen])]
    least = min(FIRST_BLOCK, 2500 // FIRST_BLOCKS)
    for before, size in zip([0, *seen], sizes, strict=False):
        assert size == min(2500 - before, max(least, min(LONGEST_BLOCK, before // REFINEMENT)))
    assert running.draws == seen[-1] == 2500
    assert max(sizes) > FIRST_BLOCK
    assert not running.claim_refuted


def test_a_small_budget_has_small_blocks_and_one_that_is_late_draws_nothing() -> None:
    said: list[str] = []
    betting(0.5, Epsilon(1.0)).run(100, None, said.append)
    assert [int(line.split()[0]) for line in said] == [24, 48, 72, 96, 100]
    assert SMALLEST_BLOCK == 24
    late = betting(0.5, Epsilon(1.0))
    late.run(100, time.monotonic() - 1.0, said.append)
    assert late.draws == 0
    timed = betting(0.5, Epsilon(1.0))
    said.clear()
    timed.run(5000, time.monotonic() + 1000.0, said.append)
    assert said[0].startswith(f"{FIRST_TIMED} draws")


def test_a_broken_claim_is_refuted_early_and_the_bound_is_below_the_truth() -> None:
    running = betting(3.0, Epsilon(0.5))
    running.run(20_000, None, lambda _: None)
    assert running.claim_refuted
    assert running.draws < 2000
    assert 0.5 <= running.lower() <= 3.0
    assert 0 < running.right <= running.bets <= running.draws
    assert running.right / running.bets == pytest.approx(special.expit(3.0), abs=0.05)


def test_a_bound_is_the_last_number_before_the_first_that_stands() -> None:
    running = betting(0.5, Epsilon(1.0))
    assert running.lower() == 0.0
    due = math.log(1 / 0.05)
    running.best[:3], running.best[4] = due, 2 * due
    assert running.lower() == running.grid[2]
    running.best[3] = due - 1e-9
    assert running.lower() == running.grid[2]
    running.best[:] = due
    assert running.lower() == running.grid[-1]


def test_each_pair_has_two_blocks_and_then_the_one_that_gains_most_a_draw() -> None:
    running = betting(0.5, Epsilon(1.0), pairs=3)
    order = []
    for _ in range(6):
        order.append(running._next_pair())
        running._bet(order[-1], 50)
    assert order == [0, 1, 2, 0, 1, 2]
    for past, gain, draws in zip(running.past, (4.0, 3.0, 5.0), (100, 50, 200), strict=True):
        past.gain, past.draws = gain, draws
    assert running._next_pair() == 1


def test_another_claim_bets_against_the_pair_that_grows_fastest() -> None:
    running = betting(4.0, GDP(0.5))
    assert running.deltas.shape == running.epsilons.shape == (len(running.grid), len(CANDIDATES))
    at = running.at_claim
    assert running.grid[at] == 0.5
    assert running.deltas[at] == pytest.approx(implied_delta(GDP(0.5), CANDIDATES))
    running._bet(0, 200)
    epsilon, delta, cap = running._terms(running.past[0])
    score = running.past[0].score
    assert score is not None
    margins = np.abs(score.logit(running.past[0].tables[-1])[0])
    errors = score.logit(running.past[0].tables[-1])[1]
    growth = [
        expected_growth(np.array([e]), np.array([d]), margins - 0.5 * errors)[0]
        for e, d in zip(CANDIDATES, running.deltas[at], strict=True)
    ]
    assert epsilon[at] == CANDIDATES[int(np.argmax(growth))]
    assert delta[at] == running.deltas[at][int(np.argmax(growth))]
    used = stakes(epsilon, margins - 0.5 * errors, delta)[0].max(axis=1)
    assert cap[at] == pytest.approx(used[at] if delta[at] > 0 else cap[at])
    running.run(20_000, None, lambda _: None)
    assert running.claim_refuted
    assert running.lower() > 0.5
