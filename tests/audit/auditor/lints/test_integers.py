"""Integer noise: what is followed, what joins what, what is left alone, and what the findings are worth."""

from __future__ import annotations

import json
import math
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats as st
from night import by_day

from audit.auditor.api import audit_dp
from audit.auditor.lints.losses import epsilon_where
from audit.auditor.lints.noise import NoiseArray, NoiseInt, SumInt
from audit.auditor.lints.recorder import RecordedRun, Recorder
from audit.auditor.lints.replay import shows_integers
from bench.foreign import inspect_alone
from bench.textbook import TEXTBOOK, by_masses, skellam, ten_geometric

Rng = np.random.Generator
HALF, FULL = -math.expm1(-1.0), -math.expm1(-0.5)
"""Of geometric noise with ε = 1 and ε = 1/2."""
LAW, LESS = "discrete Laplace(0.5)", "discrete Laplace(1)"


def recorded(use: Callable[[Rng], Any], seed: int = 3) -> RecordedRun:
    with Recorder((use,)) as recorder:
        return recorder.record(lambda: use(recorder.generator(np.random.Philox(seed))))


def added(rng: Rng, total: Any = 5, size: Any = None) -> Any:
    total = total + rng.geometric(FULL, size=size)
    total -= rng.geometric(FULL, size=size)
    return total


FOLLOWED: dict[str, tuple[Callable[[Rng], Any], str, Any]] = {
    "one after another": (lambda g: 5 + g.geometric(FULL) - g.geometric(FULL), LAW, 5),
    "in two statements": (added, LAW, 5),
    "as a difference": (lambda g: 5 + (g.geometric(FULL) - g.geometric(FULL)), LAW, 5),
    "the first taken away": (lambda g: 5 - g.geometric(FULL) + g.geometric(FULL), LAW, 5),
    "added to a float": (lambda g: 5.0 + g.geometric(FULL) - g.geometric(FULL), LAW, 5),
    "added to numpy's integer": (lambda g: np.int64(5) + g.geometric(FULL) - g.geometric(FULL), LAW, 5),
    "added to numpy's float": (lambda g: np.float64(5) + (g.geometric(FULL) - g.geometric(FULL)), LAW, 5),
    "arrays": (lambda g: added(g, np.array([5, 5]), 2), LAW, [5, 5]),
    "arrays, subtracted": (lambda g: 5 + (g.geometric(FULL, size=2) - g.geometric(FULL, size=2)), LAW, 5),
    "scipy": (lambda g: 5 + st.dlaplace.rvs(0.5, random_state=g), LAW, 5),
    "scipy, frozen": (lambda g: 5 + st.dlaplace(0.5).rvs(random_state=g), LAW, 5),
    "Skellam": (lambda g: 5 + g.poisson(3.0) - g.poisson(2.0), "Skellam(3, 2)", 5),
    "scipy's Skellam": (lambda g: 5 + st.skellam.rvs(3, 2, random_state=g), "Skellam(3, 2)", 5),
    "binomial": (lambda g: 5 + g.binomial(9, 0.5), "binomial(9, 0.5)", 5),
    "global state": (lambda g: 5 + np.random.geometric(FULL) - np.random.geometric(FULL), LAW, 5),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_integer_noise_is_followed_to_one_sum(name: str) -> None:
    use, law, quantity = FOLLOWED[name]
    run = recorded(use)
    (sum_,) = run.additions
    assert run.calls[sum_.call].family == law
    assert np.asarray(sum_.quantity).tolist() == quantity
    assert np.array_equal(sum_.result, run.output)
    assert float(sum_.scale) == 1.0
    assert all(c.integer and not c.hidden and not c.chance for c in run.calls)
    assert run.error is None
    assert np.array_equal(run.output, use(np.random.Generator(np.random.Philox(3)))) or name == "global state"


def test_a_factor_is_a_scale() -> None:
    run = recorded(lambda g: 1.5 - 0.5 * (g.geometric(FULL) - g.geometric(FULL)))
    (sum_,) = run.additions
    assert (float(sum_.scale), float(sum_.sign)) == (0.5, -1.0)
    run = recorded(lambda g: np.ones(2) + (g.poisson(4.0, 2) - g.poisson(4.0, 2)) / 10)
    assert float(run.additions[0].scale) == pytest.approx(0.1)


def parts(rng: Rng) -> Any:
    draws = rng.geometric(FULL, size=2)
    return 5 + draws[0] - draws[1]


def shared(rng: Rng) -> Any:
    first = rng.geometric(FULL)
    return 1 + first - rng.geometric(FULL), 2 + first - rng.geometric(FULL)


def turned(rng: Rng) -> Any:
    noisy = np.arange(2) + rng.geometric(FULL, size=2)
    return noisy[::-1] - rng.geometric(FULL, size=2)


@pytest.mark.parametrize(
    "use",
    [
        lambda g: 5 + g.geometric(FULL) - g.geometric(HALF),
        lambda g: 5 + g.geometric(FULL) + g.geometric(FULL),
        lambda g: 5 + g.geometric(FULL) - 2 * g.geometric(FULL),
        lambda g: g.geometric(FULL) - (5 + g.geometric(FULL)),
        lambda g: 5 + (g.geometric(FULL) - g.geometric(FULL)) - g.geometric(FULL),
        lambda g: np.ones(2) + g.geometric(FULL, size=2) - g.geometric(FULL),
        parts,
        shared,
    ],
)
def test_what_has_no_law_is_left_alone(use: Callable[[Rng], Any]) -> None:
    run = recorded(use)
    assert not all(c.integer for c in run.calls)
    assert all(run.calls[a.call].opaque for a in run.additions[:1])


def test_a_sum_in_another_order_is_an_ordinary_array() -> None:
    assert [recorded(turned).calls[i].joined for i in (0, 1)] == [False, False]


USES: list[Callable[[Any], Any]] = [
    lambda n: list(range(n)), lambda n: [7] * n, lambda n: [1] * 50 and list(range(50))[:n], lambda n: np.zeros(n).size,
    lambda n: n > 2, lambda n: n == 3, lambda n: {n: 1}[3], lambda n: f"{n} {n:d} %d" % n, lambda n: int(n),
    lambda n: float(n), lambda n: n // 2, lambda n: 2**n, lambda n: n**2, lambda n: n & 1, lambda n: n << 1,
    lambda n: abs(n), lambda n: bool(n), lambda n: math.sqrt(n), lambda n: np.sqrt(n), lambda n: n.bit_length(),
    lambda n: n.real, lambda n: str(n), lambda n: repr(n), lambda n: divmod(n, 2),
    lambda n: np.asarray(n).tolist(), lambda n: operator.index(n),
    lambda n: np.clip(n, 0, 1).tolist(), lambda n: round(n), lambda n: math.floor(n), lambda n: np.array([n]).tolist(),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(USES)))
def test_any_other_use_sees_an_integer_and_is_noted(at: int) -> None:
    """A Poisson draw that came out as 3."""
    draws: list[Any] = []

    def use(rng: Rng) -> Any:
        draws.append(rng.poisson(3.0))
        draws[0].value = 3
        return USES[at](draws[0])

    run = recorded(use)
    assert run.error is None
    assert run.output == USES[at](3)
    assert run.calls[0].opaque
    assert run.additions == []


def test_draws_and_sums_look_like_integers() -> None:
    def use(rng: Rng) -> Any:
        draw, drawn = rng.poisson(3.0), rng.poisson(3.0, size=2)
        total = 5 + rng.poisson(3.0)
        assert (type(draw), type(total), type(drawn)) == (NoiseInt, SumInt, NoiseArray)
        assert all(isinstance(x, int) and isinstance(pickle.loads(pickle.dumps(x)), int) for x in (draw, total))
        assert drawn.dtype.kind == (2 * drawn).dtype.kind == "i"
        assert json.loads(json.dumps(total)) == total
        assert total.item() == total
        assert not hasattr(draw, "unknown")
        with pytest.raises(AttributeError):
            total.unknown  # noqa: B018
        return total

    assert recorded(use).error is None


# --------------------------------------------------------------------------------------------------- findings


def count(p: float) -> Any:
    return lambda d, rng: sum(d) + rng.geometric(p) - rng.geometric(p)


def histogram(p: float) -> Any:
    return lambda d, rng: np.bincount(d, minlength=6) + (rng.geometric(p, size=6) - rng.geometric(p, size=6))


def one_by_one(p: float) -> Any:
    return lambda d, rng: [int(c) + rng.geometric(p) - rng.geometric(p) for c in np.bincount(d, minlength=6)]


def counts(p: float) -> Any:
    q = -math.expm1(math.log1p(-p) * 0.4)
    return lambda d, rng: np.full(10, sum(d)) + (rng.geometric(q, size=10) - rng.geometric(q, size=10))


def poisson(p: float) -> Any:
    mean = 8.0 if p == FULL else 2.0
    return lambda d, rng: sum(d) + (rng.poisson(mean) - rng.poisson(mean))


DATA, OTHER = [3, 3, 3, 3], [4, 3, 3, 3]
CASES: dict[str, tuple[Callable[[float], Any], float, float]] = {
    "count": (count, 0.5, 0.0),
    "histogram": (histogram, 1.0, 0.0),
    "histogram, one by one": (one_by_one, 1.0, 0.0),
    "ten counts": (counts, epsilon_where(ten_geometric, 1e-3, 60.0), 1e-3),
    "Skellam": (poisson, epsilon_where(by_masses(skellam(8.0)), 1e-3, 60.0), 1e-3),
}


@pytest.mark.parametrize("name", CASES)
def test_half_the_noise_is_noticed_and_all_of_it_is_silent(name: str) -> None:
    make, epsilon, delta = CASES[name]
    for seed in range(by_day(2, 20)):
        right = inspect_alone(make(FULL), DATA, OTHER, epsilon=epsilon, delta=delta, seed=seed)
        assert right.findings == []
        assert right.transcript is not None
        assert right.transcript.epsilon(delta) == pytest.approx(epsilon, rel=1e-6)
        (found,) = inspect_alone(make(HALF), DATA, OTHER, epsilon=epsilon, delta=delta, seed=seed).findings
        assert found.kind in ("sensitivity", "transcript")
        assert found.details["site"].startswith("test_integers.py:")
        assert found.details["epsilon"] > epsilon


def test_an_audit_says_which_line() -> None:
    result = audit_dp(count(HALF), DATA, OTHER, epsilon=0.5, samples=1000)
    assert result.verdict in ("suspect", "violated")
    (finding,) = [f for f in result.findings if f.kind == "sensitivity"]
    assert "differ by 1 where discrete Laplace(1) noise of scale 1 drawn at test_integers.py:" in finding.message


def test_a_draw_of_one_sign_hides_nothing_downwards() -> None:
    found = inspect_alone(lambda d, rng: sum(d) + rng.geometric(FULL), OTHER, DATA, epsilon=0.5).findings
    assert found == []
    (finding,) = inspect_alone(lambda d, rng: sum(d) + rng.geometric(FULL), DATA, OTHER, epsilon=0.5).findings
    assert finding.details["epsilon"] == math.inf


def used_again(data: Any, rng: Rng) -> Any:
    size = rng.poisson(2.0, size=1)
    return (data[0] + size)[0] + sum(data[: size[0]])


def masked(data: Any, rng: Rng) -> Any:
    return float((np.array(data) * rng.binomial(1, 0.5, size=4)).sum() + rng.laplace(0, 2.0))


INNOCENT: dict[str, Callable[[Any, Rng], Any]] = {
    "a number of steps": lambda d, rng: sum(d[0] for _ in range(rng.poisson(1.0))) / 100 + rng.laplace(0, 2.0),
    "skipped records": lambda d, rng: float(sum(d[rng.geometric(0.5) - 1 :: 2]) + rng.laplace(0, 2.0)),
    "a random subset": masked,
    "a draw that is noise and a size": used_again,
    "a law that depends on data": lambda d, rng: d[0] + rng.poisson(3.0 + d[0]),
    "a law that is drawn": lambda d, rng: d[0] + rng.poisson(rng.gamma(10.0)),
    "a threshold": lambda d, rng: count(HALF)(d, rng) > 12,
    "text": lambda d, rng: json.dumps([rng.poisson(2.0), d[0] + rng.laplace(0, 2.0)]),
    "a third of the noise is elsewhere": lambda d, rng: count(HALF)(d, rng) - int(rng.geometric(FULL)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_of_other_uses_nothing_is_concluded(name: str) -> None:
    """Nor do they fail, where code in C insists on integers of its own (text): the run is made again, unfollowed."""
    for seed in range(by_day(2, 20)):
        found = inspect_alone(INNOCENT[name], DATA, OTHER, epsilon=0.5, seed=seed)
        assert {run.error for side in found.runs for run in side} == {None}
        assert [f.kind for f in found.findings if f.kind in ("sensitivity", "transcript", "unnoised-path")] == []


def test_a_size_is_found_out_by_other_integers() -> None:
    """An array of draws that is added, and sets a size too: with other numbers and equal sums the output is another."""

    assert inspect_alone(used_again, DATA, OTHER, epsilon=5.0, delta=0.1).transcript is None
    assert inspect_alone(lambda d, g: d[0] + g.poisson(2.0, size=1), DATA, OTHER, epsilon=5.0, delta=0.1).transcript


def test_integers_are_shown_where_every_sum_is_in_the_output() -> None:
    def runs(use: Callable[[Rng], Any]) -> list[RecordedRun]:
        return [recorded(use, seed) for seed in range(8)]

    assert shows_integers(runs(lambda g: [added(g), 1]))
    assert not shows_integers(runs(lambda g: added(g) + 1))
    assert not shows_integers(runs(lambda g: int(added(g) > 5)))
    assert not shows_integers(runs(lambda g: [added(g), int(g.poisson(3.0))]))
    assert not shows_integers(runs(lambda g: 5 + g.binomial(1, 0.5)))
    assert shows_integers(runs(lambda g: TEXTBOOK["geometric"][0]([0.0], g)))
