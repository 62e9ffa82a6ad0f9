"""How a budget is divided, and the line that says what it buys: it must be true of the audit that follows."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import audit_dp
from audit.auditor.targets import run, sampling
from audit.auditor.test import budget, draws
from audit.auditor.test.budget import burn_in, first_part, largest_epsilon, longer_burn_in
from audit.auditor.test.confidence import Selection, lower_bound

Rng = np.random.Generator


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (59.9, ""),
        (60.0, "1 minutes"),
        (5400.0, "1.5 hours"),
        (3599.0, "60 minutes"),
        (86_400.0, "1 days"),
        (3e5, "3.5 days"),
    ],
)
def test_long_runs_are_told_in_their_unit(seconds: float, told: str) -> None:
    assert budget._how_long(seconds).removeprefix(", about ").partition(" (")[0] == told
    assert ("(shorter: seconds=, samples=" in budget._how_long(seconds)) == bool(told)


@pytest.mark.parametrize("top", [1, 2, 17, 39, 40])
@pytest.mark.parametrize("low", [1, 7])
def test_a_peak_is_found_wherever_it_is(top: int, low: int) -> None:
    asked: list[int] = []

    def value(n: int) -> float:
        asked.append(n)
        return -abs(n - top) - (0.5 if n > top else 0.0)

    assert budget._peak(value, low, 40) == max(top, low)
    assert len(asked) < 30
    assert budget._peak(value, 5, 5) == 5


def test_the_largest_epsilon_is_what_a_perfect_score_would_give() -> None:
    assert largest_epsilon(100, 0.0, 0.05) == lower_bound(Selection(100, 100, 100), 0.05)
    exact = math.log(0.05 ** (1 / 100) / (1 - 0.05 ** (1 / 100)))
    assert largest_epsilon(100, 0.0, 0.05) == pytest.approx(exact, rel=1e-9)
    assert largest_epsilon(0, 0.0, 0.05) == 0.0
    assert largest_epsilon(400, 0.0, 0.05) > largest_epsilon(100, 0.0, 0.05) > largest_epsilon(100, 0.01, 0.05)


@pytest.mark.parametrize("draws", [3, 30, 171, 400])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.2])
def test_no_number_of_selected_draws_gives_more(draws: int, delta: float) -> None:
    every = max(lower_bound(Selection(n, n, draws, delta), 0.05) for n in range(1, draws + 1))
    assert largest_epsilon(draws, delta, 0.05) == every


@given(st.integers(20, 10**7), st.integers(1, 4096))
def test_a_burn_in_leaves_something_to_test_and_never_takes_more_than_half(draws: int, width: int) -> None:
    burn = burn_in(draws, width)
    assert 0 < burn <= draws / 2
    assert burn <= 2_000_000
    assert first_part(burn, width) <= min(burn, 100_000)
    assert burn_in(draws + 1, width) >= burn


@pytest.mark.parametrize(
    ("draws", "width", "expected"),
    [
        (20, 1, 10),  # half
        (9, 1, 4),
        (4000, 1, 2000),  # half of all is less than 1500 and a fifth
        (5000, 1, 2500),
        (10_000, 1, 3500),  # 1500 and a fifth
        (200_000, 1, 41_500),
        (1_400_000, 1, 100_000),  # the most that is learned from at once
        (1_400_000, 1600, 10_000),  # 16 million numbers
        (1_400_000, 80_000, 2000),  # and no fewer draws than this
        (2_000_000, 1, 401_500),  # from here on further draws refine the score
        (2_000_000, 1600, 401_500),
        (10**9, 1, 2_000_000),
    ],
)
def test_how_a_budget_is_divided(draws: int, width: int, expected: int) -> None:
    assert burn_in(draws, width) == expected


def told(mechanism: Any, **options: Any) -> tuple[Any, float]:
    """The result of an audit, and the ε that the line before it announced."""
    said: list[str] = []
    result = audit_dp(mechanism, [0.0], [1.0], epsilon=1.0, confidence=0.95, progress=said.append, **options)
    (line,) = [s for s in said if "ms a call" in s]
    draws = 2 * options["samples"]
    assert f"no audit with {draws} draws" in line
    found = re.search(r"more than ε = ([0-9.]+)$", line)
    assert found is not None
    return result, float(found.group(1))


def separate(dataset: Any, rng: Rng) -> float:
    """Every output shows its dataset."""
    return float(dataset[0] + 0.1 * rng.random())


@pytest.mark.parametrize("samples", [10, 300, 700, 4000, 20_000])
@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("floats", ["values", "bits"])
def test_what_is_announced_is_the_most_that_the_audits_own_draws_can_show(
    samples: int, delta: float, floats: str
) -> None:
    result, announced = told(separate, samples=samples, delta=delta, floats=floats, lints=False)
    test = result.draws["test"]
    assert test == 2 * samples - burn_in(2 * samples)
    alpha = 0.05 * (0.98 if floats == "values" else 1.0)
    exact = largest_epsilon(test, delta, alpha)
    assert exact <= announced < exact + 0.01 + 1e-9
    assert result.epsilon_lower <= announced


def test_a_perfect_distinguisher_comes_near_to_what_is_announced() -> None:
    """The rung that selects every draw may have a fifth of the level: it costs ln(ln(5/α)/ln(1/α)), 0.43 at 0.05."""
    result, announced = told(separate, samples=300)
    assert announced - 0.2 - 0.43 <= result.epsilon_lower <= announced


@pytest.mark.parametrize("samples", [100, 2000])
def test_bets_on_all_draws_cannot_show_more_than_is_announced(samples: int) -> None:
    result, announced = told(separate, samples=samples, anytime=True, lints=False)
    assert result.violated
    assert announced >= largest_epsilon(2 * samples, 0.0, 0.05)


def test_long_outputs_have_a_shorter_burn_in_and_the_line_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert burn_in(20_000, 4000) == 4000 < burn_in(20_000)
    monkeypatch.setattr(budget, "BURN_ENTRIES", 40_000)

    def long(dataset: Any, rng: Rng) -> Any:
        return dataset[0] + rng.normal(size=16)

    result, announced = told(long, samples=5000, lints=False)
    assert result.draws["burn_in"] == 2500 < burn_in(10_000)
    assert announced >= largest_epsilon(result.draws["test"], 0.0, 0.049)


@pytest.mark.parametrize(
    ("draws", "width", "expected"),
    [
        (4000, 1, 2000),  # half of all draws teach as it is
        (20_000, 1, 10_000),
        (400_000, 1, 100_000),  # the most that is learned from at once
        (400_000, 1600, 10_000),
        (2_000_000, 1, 401_500),  # further draws refine the score as it is
    ],
)
def test_how_long_a_burn_in_is_that_found_nothing_at_first(draws: int, width: int, expected: int) -> None:
    assert longer_burn_in(draws, width) == expected >= burn_in(draws, width)


def alike(dataset: Any, size: int, rng: Rng) -> Any:
    return rng.normal(size=(size, 3))


def told_apart(dataset: Any, size: int, rng: Rng) -> Any:
    return rng.normal(size=(size, 3)) + dataset[0]


@pytest.mark.parametrize(
    ("mechanism", "options", "expected"),
    [
        (alike, {}, longer_burn_in(20_000)),
        (alike, {"seconds": 1e6}, burn_in(20_000)),  # how long learning takes was estimated for the usual burn-in
        (told_apart, {}, burn_in(20_000)),
    ],
)
def test_where_nothing_stands_out_more_draws_teach(
    mechanism: Any, options: dict[str, Any], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No draw is made twice, and none that teaches is tested: the coins of all blocks add up to the budget."""
    seen: list[int] = []
    make = sampling.draw_block
    counted = lambda *given: (seen.append(given[3]), make(*given))[1]  # noqa: E731
    for module in (run, draws):
        monkeypatch.setattr(module, "draw_block", counted)
    result = audit_dp(
        mechanism,
        [0.0],
        [1.0],
        epsilon=1.0,
        delta=1e-3,
        samples=10_000,
        seed=3,
        lints=False,
        neighbours="any",
        **options,
    )
    assert result.draws["burn_in"] == expected
    assert result.draws["burn_in"] + result.draws["test"] == 20_000 == sum(seen)
