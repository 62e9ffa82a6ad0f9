"""What the recorded noise of a run is worth: against exact values, and with a limit that is as sure as it claims."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from night import by_day
from scipy import optimize

from audit.auditor.api import audit_dp
from audit.auditor.lints import transcript as module
from audit.auditor.lints.losses import Atoms, delta_of, epsilon_where, log_density, zcdp_of
from audit.auditor.lints.recorder import Addition, NoiseCall, RecordedRun
from audit.auditor.lints.replay import ComparedSum, Replayed
from audit.auditor.lints.subject import Subject
from audit.auditor.lints.transcript import MOST_RUNS, Spending, Transcript, lower_limit
from audit.auditor.terms.claim import Epsilon
from bench.foreign import inspect_alone
from bench.textbook import TEXTBOOK, gaussian, transcript

# ------------------------------------------------------------------------------------------ numbers by hand


LAPLACE: Atoms = (("laplace", 0.5, 3),)
GAUSSIAN: Atoms = (("normal", 0.8, 1),)


def averaged(samples: list[tuple[float, float, Atoms]], exact: bool = False, dearest: Atoms = GAUSSIAN) -> Transcript:
    spent = Spending("line 1", "normal", 1.0, 0.8, 1.0, 0.32)
    return Transcript(len(samples), exact, (spent,), 0.8, 0.32, samples=tuple(samples), dearest=dearest)


SAMPLES = [(0.2, -0.3, GAUSSIAN), (-0.1, 0.4, GAUSSIAN), (0.0, 0.1, LAPLACE)]


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_delta_is_the_weighted_mean_of_what_remains(epsilon: float) -> None:
    terms = [math.exp(log) * float(delta_of(atoms, np.array(epsilon - before))) for log, before, atoms in SAMPLES]
    found = averaged(SAMPLES)
    assert found.delta(epsilon) == pytest.approx(np.mean(terms), rel=1e-9)
    assert averaged([(3.0, 5.0, GAUSSIAN)]).delta(0.0) == 1.0
    assert found._limit(epsilon) == pytest.approx(lower_limit(np.array(terms), 1e-6), rel=1e-6)


def test_epsilon_inverts_delta() -> None:
    found = averaged(SAMPLES)
    for delta in (1e-3, 0.05):
        assert found.delta(found.epsilon(delta)) == pytest.approx(delta, rel=1e-5)
    assert found.epsilon(0.99) == 0.0
    low = replace(found, confidence=0.9)
    assert low.epsilon_lower(1e-3) < found.epsilon(1e-3)
    assert low._limit(low.epsilon_lower(1e-3)) == pytest.approx(1e-3, rel=1e-4)


def test_the_largest_loss_at_delta_zero() -> None:
    laplace = [(0.0, 0.0, LAPLACE), (0.0, 0.0, (("laplace", 0.25, 2),))]
    assert averaged(laplace, exact=True).epsilon(0.0) == 1.5
    assert averaged(laplace).epsilon(0.0) == 1.5
    assert averaged([(0.0, 0.75, LAPLACE), (0.0, 3.0, ())]).epsilon(0.0) == 3.0
    assert averaged([(0.0, 0.75, LAPLACE)], exact=True).epsilon(0.0) == 1.5
    assert averaged([(0.0, -4.0, LAPLACE)]).epsilon(0.0) == 0.0
    assert averaged(SAMPLES).epsilon(0.0) == math.inf
    assert averaged(laplace, exact=True).epsilon_lower(0.0) == 1.5
    one_sided = replace(averaged(laplace), confidence=0.5)
    assert one_sided._limit(one_sided.epsilon_lower(0.0) - 1e-3) > 0
    assert one_sided._limit(one_sided.epsilon_lower(0.0) + 1e-3) == 0


def test_how_much_more_noise_a_claim_needs() -> None:
    claim = Epsilon(1.0, 1e-3)
    factor = averaged(SAMPLES).missing_factor(claim)
    wider: Atoms = (("normal", 0.8 / factor, 1),)
    assert float(delta_of(wider, np.array(1.0))) == pytest.approx(1e-3, rel=1e-3)
    assert averaged(SAMPLES).missing_factor(Epsilon(1.0)) == math.inf
    laplace = averaged([(0.0, 0.0, LAPLACE)], dearest=LAPLACE)
    assert laplace.missing_factor(Epsilon(0.5)) == pytest.approx(3.0)
    assert laplace.missing_factor(Epsilon(0.0)) == math.inf


def test_a_transcript_as_text_and_as_data() -> None:
    found = averaged(SAMPLES)
    assert str(found) == (
        "the transcript of 3 runs: ρ = 0.32, μ = 0.8 (in the dearest)\n"
        "  ρ = 0.32: 1 sums with normal noise of scale 1 drawn at line 1, which differ by at most 0.8"
    )
    same = str(replace(found, exact=True, mu=math.nan))
    assert same.startswith("the transcript of 3 runs: ρ = 0.32 (the same loss in each)\n")
    assert found.to_dict()["spending"][0]["site"] == "line 1"
    assert {k: v for k, v in found.to_dict().items() if k != "spending"} == {
        "runs": 3,
        "exact": False,
        "mu": 0.8,
        "rho": 0.32,
    }


@pytest.mark.parametrize("alpha", [0.3, 1e-6])
def test_the_lower_limit_is_where_the_mean_capital_reaches_one_over_alpha(alpha: float) -> None:
    terms = np.array([0.1, 0.4, 0.0, 0.25, 0.3] * 4)

    def wins(mean: float) -> float:
        capitals = [np.prod(1 + stake * (terms / mean - 1)) for stake in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.999)]
        return float(np.log(np.mean(capitals) * alpha))

    expected = optimize.brentq(wins, 1e-9, terms.mean(), xtol=1e-14)
    assert lower_limit(terms, alpha) == pytest.approx(expected, rel=1e-6)
    assert lower_limit(np.zeros(4), alpha) == lower_limit(np.array([1.0, np.inf]), alpha) == 0.0


# ---------------------------------------------------------------------------------------------- sums by hand


def call(index: int, distribution: str = "laplace", loc: Any = 0.0, scale: Any = 2.0, **more: Any) -> NoiseCall:
    given = {"shape": (), "value": 1.5, "additions": 1} | more
    shape = given.pop("shape")
    return NoiseCall(index, "numpy", distribution, distribution, loc, scale, True, f"line {index}", shape, **given)


def addition(index: int, quantity: Any, result: Any = 4.0, scale: Any = 2.0, **more: Any) -> Addition:
    return Addition(index, quantity, scale, result, more.pop("shape", np.shape(result)), more.pop("sign", 1.0))


def both(calls: list[NoiseCall], *pairs: tuple[Addition, Addition]) -> list[Any]:
    first, second = RecordedRun(calls, [a for a, _ in pairs]), RecordedRun(calls, [b for _, b in pairs])
    return module._sums(first, second)


def test_a_sum_in_units_of_its_noise() -> None:
    (one,) = both([call(0)], (addition(0, 3.0), addition(0, 2.0)))
    assert (float(one.ratio), float(one.noise), one.difference, one.scale, one.whole) == (-0.5, 0.5, 1.0, 2.0, True)
    (turned,) = both([call(0)], (addition(0, 3.0, sign=-1.0), addition(0, 2.0)))
    assert (float(turned.ratio), float(turned.noise)) == (0.5, -0.5)
    (rounded,) = both([call(0)], (addition(0, 3.0), addition(0, 3.0 + 1e-9)))
    assert float(rounded.ratio) == 0.0
    (vector,) = both(
        [call(0, shape=(2,))], (addition(0, np.zeros(2), np.ones(2)), addition(0, np.array([3.0, 4.0]), np.ones(2)))
    )
    assert (vector.ratio.tolist(), vector.difference, vector.whole) == ([1.5, 2.0], 5.0, True)
    (twice,) = both([call(0, additions=2, shape=(2,))], (addition(0, 3.0), addition(0, 2.0)))
    assert not twice.whole


def test_noise_around_a_location_is_a_sum() -> None:
    first, second = RecordedRun([call(0, loc=1.0, additions=0)]), RecordedRun([call(0, loc=2.0)])
    (one,) = module._sums(first, second)
    assert (float(one.ratio), float(one.noise), one.difference, one.scale, one.whole) == (0.5, 0.25, 1.0, 2.0, True)
    (from_zero,) = module._sums(RecordedRun([call(0, additions=0)]), RecordedRun([call(0, loc=2.0)]))
    assert float(from_zero.ratio) == 1.0
    assert module._sums(RecordedRun([call(0)]), RecordedRun([call(0)])) == []
    with pytest.raises(module._Unknown):
        module._sums(first, RecordedRun([call(0, loc=2.0, scale=3.0)]))


@pytest.mark.parametrize(
    ("calls", "pair"),
    [
        ([call(0), call(1)], (addition(0, 1.0), addition(1, 2.0))),
        ([call(0)], (addition(0, 1.0), addition(0, np.ones(2)))),
        ([call(0)], (addition(0, 1.0), addition(0, 2.0, scale=2.1))),
        ([call(0, opaque=True)], (addition(0, 1.0), addition(0, 2.0))),
        ([call(0, "uniform")], (addition(0, 1.0), addition(0, 2.0))),
        ([call(0)], (addition(0, 1.0, scale=0.0), addition(0, 2.0, scale=0.0))),
        ([call(0)], (addition(0, np.zeros(2), np.ones(2), shape=()), addition(0, np.array([1.0, 2.0]), np.ones(2)))),
    ],
)
def test_what_cannot_be_followed(calls: list[NoiseCall], pair: tuple[Addition, Addition]) -> None:
    with pytest.raises(module._Unknown):
        both(calls, pair)


def test_one_draw_may_be_added_once_an_entry() -> None:
    pair = addition(0, 1.0), addition(0, 2.0)
    assert len(both([call(0, shape=(2,))], pair, pair)) == 2
    with pytest.raises(module._Unknown):
        both([call(0, shape=(2,))], pair, pair, pair)
    with pytest.raises(module._Unknown):
        both([call(0)], pair, pair)
    equal = addition(0, 1.0), addition(0, 1.0)
    assert len(both([call(0)], equal, equal)) == 2
    one = addition(0, np.zeros(2), np.ones(2), shape=()), addition(0, np.ones(2), np.ones(2))
    (shared,) = both([call(0)], one)
    assert (float(shared.ratio), shared.difference) == (0.5, 1.0)
    wide = [addition(0, np.full(2, x), np.ones(2), np.full(2, 2.0), shape=()) for x in (0.0, 1.0)]
    (alike,) = both([call(0)], (wide[0], wide[1]))
    assert (alike.ratio.shape, alike.scale) == ((), 2.0)
    for broken in (RecordedRun(error="E"), RecordedRun(diverged="x"), RecordedRun([], [pair[0]])):
        with pytest.raises(module._Unknown):
            module._sums(RecordedRun(), broken)


def made(index: int, ratio: Any, family: str = "normal", noise: Any = 0.3, whole: bool = True) -> Any:
    ratio = np.asarray(ratio, dtype=float)
    return module._Sum(index, f"line {index}", family, ratio, np.asarray(noise), float(np.abs(ratio).sum()), 2.0, whole)


def test_ratios_are_compared_with_their_sign_only_where_noise_is_lopsided() -> None:
    assert module._same(made(0, 0.5), made(1, -0.5))
    assert not module._same(made(0, 0.5), made(0, 0.5 + 1e-5))
    assert module._same(made(0, 0.5), made(0, 0.5 + 1e-7))
    assert not module._same(made(0, 0.5), made(0, 0.5, "laplace"))
    assert not module._same(made(0, 0.5), made(0, [0.5]))
    for family in ("gumbel", "exponential"):
        assert not module._same(made(0, 0.5, family), made(0, -0.5, family))
    assert not module._alike([made(0, 0.5)], [made(0, 0.5)] * 2)
    assert module._alike([made(0, 0.5)], [made(3, 0.5)])


def test_noise_is_moved_to_where_the_mean_loss_is_epsilon() -> None:
    """One sum with ratio 2 of three that add up to μ² = 6: the mean loss is μ²/2 and a share of the move more."""
    run = [made(0, 2.0), made(1, 1.0, whole=False), made(2, 1.0)]
    shifts = module._shifts(run[:2], run, 1e-3)
    wanted = epsilon_where(lambda e: float(delta_of((("normal", math.sqrt(6), 1),), np.array(e))), 1e-3, 100.0)
    assert list(shifts) == [0]
    assert float(shifts[0]) == pytest.approx(-2.0 * (wanted - 3) / 6, rel=1e-6)
    assert module._shifts(run, [made(0, 0.0)], 1e-3) == {}
    assert list(module._shifts([made(0, 0.0), made(1, 1.0)], run, 1e-3)) == [1]
    assert float(module._shifts(run[:1], run, 0.9)[0]) == 0.0


def test_weights_and_losses_of_moved_noise() -> None:
    """The weight is the density over the mean of the three that noise was drawn from."""
    sums = [made(0, 0.5, noise=0.3), made(1, 0.25, "laplace", -0.2)]
    shift = {0: np.asarray(-0.4)}
    log, loss = module._before(sums, shift, module.CHANCES)

    def density(family: str, u: float) -> float:
        return float(np.exp(log_density(family, np.asarray(u))))

    mixed = sum(
        chance * density("normal", 0.3 + share * 0.4)
        for share, chance in zip((0.0, 0.5, 1.0), (0.15, 0.25, 0.6), strict=True)
    )
    assert math.exp(log) == pytest.approx(density("normal", 0.3) / mixed)
    expected = math.log(density("normal", 0.3) / density("normal", -0.2))
    expected += math.log(density("laplace", -0.2) / density("laplace", -0.45))
    assert loss == pytest.approx(expected)
    bold, _ = module._before(sums, shift, module.BOLD)
    assert math.exp(bold) == pytest.approx(density("normal", 0.3) / density("normal", 0.3 + 0.5 * 0.4))
    assert module._before([made(0, [0.0, 0.5], noise=[9.0, 0.3])], {}, module.CHANCES)[1] == pytest.approx(
        math.log(density("normal", 0.3) / density("normal", -0.2))
    )


def test_the_dearest_run_and_the_dearest_line_come_first() -> None:
    runs = [
        [made(0, 0.5), made(1, 1.0), made(2, 0.0)],
        [made(0, 0.75), made(1, 1.0), made(1, 0.5)],
    ]
    found = module._summary(runs, [], False)
    assert [(s.site, s.sums, s.difference) for s in found.spending] == [("line 1", 1.5, 1.0), ("line 0", 1.0, 0.75)]
    assert [s.rho for s in found.spending] == pytest.approx([(1 + 1 + 0.25) / 4, (0.25 + 0.5625) / 4])
    assert found.rho == pytest.approx((0.5625 + 1.25) / 2)
    assert found.mu == pytest.approx(math.sqrt(0.5625 + 1.25))
    assert (found.runs, found.exact) == (2, False)
    mixed = module._summary([[made(0, 0.5), made(1, 0.5, "laplace")]], [], True)
    assert math.isnan(mixed.mu)
    assert mixed.rho == pytest.approx(zcdp_of(mixed.dearest)) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("noise", "compared", "output", "counts"),
    [
        (call(0), {}, [0.5], True),
        (call(0), {}, [1.0], False),  # a whole number holds no sum
        (call(0, additions=0), {}, [0.5], False),
        (call(0, "choice", additions=0), {}, [0.5], True),  # whether it decides anything is tried (`_idle`)
        (call(0, "integers", additions=0, feeds=True), {}, [0.5], True),
        (call(0), {"covered": True}, [0.5], False),
        (call(0), {"difference": 0.0}, [0.5], False),
        (call(0), {"difference": np.ones(2)}, [0.5], False),
        (call(0), {"difference": np.ones(2)}, [0.5, 0.25], True),
        (call(0, "gumbel"), {"result": 0.5}, [0.5], True),
        (call(0, "gumbel"), {"result": 0.75}, [0.5], False),
        (call(0, "exponential"), {"result": 0.75}, [0.5], False),
        (call(0, "laplace"), {"result": 0.75}, [0.5], True),
    ],
)
def test_all_noise_counts_where_nothing_is_hidden(
    noise: NoiseCall, compared: dict[str, Any], output: list[float], counts: bool
) -> None:
    given = {"difference": 1.0, "result": 0.5} | compared
    one = ComparedSum(noise, given.pop("difference"), 1.0, 1.0, (), **given)
    run = Replayed(RecordedRun([noise], output=output), RecordedRun(), [one])
    assert module._all_counts(run) is counts


def test_a_finding_says_what_the_noise_is_worth_and_what_would_do() -> None:
    noise, subject = call(0), cast(Subject, None)  # nothing else is drawn, so that no run is made again
    run = Replayed(RecordedRun([noise], output=[0.5]), RecordedRun(), [ComparedSum(noise, 1.0, 1.0, 1.0, ())])
    found = averaged([(0.0, 0.0, LAPLACE)], exact=True, dearest=LAPLACE)
    (finding,) = module.transcript_findings(subject, found, [run], Epsilon(0.5))
    assert finding.details == {"site": "line 1", "epsilon": 1.5, "at_least": 1.5, "scale": 1.0, "factor": 3.0}
    assert finding.message.startswith(
        "all noise of a run together is worth ε = 1.5 at δ = 0 (at least 1.5, from 1 runs), claimed 0.5: 1 sums with"
        " normal noise of scale 1 drawn at line 1 differ by up to 0.8 each; 3 times the noise would do."
    )
    assert module.transcript_findings(subject, found, [run], Epsilon(1.5 / 1.001)) == []
    assert module.transcript_findings(subject, None, [run], Epsilon(0.5)) == []
    covered = replace(run.comparisons[0], covered=True)
    assert module.transcript_findings(subject, found, [run, replace(run, comparisons=[covered])], Epsilon(0.5)) == []


# ------------------------------------------------------------------------------------------------ whole runs


@pytest.mark.parametrize("delta", [1e-2, 1e-5])
@pytest.mark.parametrize("name", list(TEXTBOOK))
def test_textbook_compositions(name: str, delta: float) -> None:
    """Within 2 % of the exact value (four standard errors, where so many runs are averaged as by night; by day within
    five standard errors of 200 runs, a chance of 6e-7); the lower limit is below it.
    """
    mechanism, law = TEXTBOOK[name]
    found = transcript(mechanism, delta=delta, runs=by_day(200, MOST_RUNS))
    exact, seen = epsilon_where(law, delta, 60.0), found.epsilon(delta)
    room = 0.02
    if not found.exact and by_day(True, False):
        slope = (found.delta(0.99 * seen) - found.delta(1.01 * seen)) / (0.02 * seen)
        room = 5 * float(found.terms(seen).std(ddof=1)) / math.sqrt(found.runs) / slope / exact
        assert room < 0.2
    assert seen == pytest.approx(exact, rel=room)
    assert found.epsilon_lower(delta) <= exact


def test_many_sums_are_those_of_the_closed_form() -> None:
    """Grids against Gaussian closed form: a hundred logistic sums with ratio 0.1 lie near their Gaussian limit."""
    fisher = 1 / 3
    limit = epsilon_where(gaussian(math.sqrt(100 * fisher) * 0.1), 1e-3, 60.0)
    summed = epsilon_where(lambda e: float(delta_of((("logistic", 0.1, 100),), np.array(e))), 1e-3, 60.0)
    assert summed == pytest.approx(limit, rel=0.01)


@pytest.mark.parametrize("size", [10, 100])
def test_the_lower_limit_fails_no_more_often_than_it_says(size: int) -> None:
    """At level 0.1, on numbers with a heavy tail, 2000 times: more than 0.1 + 4 standard errors would be a fault."""
    rng = np.random.default_rng(5)
    wrong = sum(lower_limit(rng.exponential(size=size) ** 2, 0.1) > 2.0 for _ in range(2000))
    assert wrong <= 2000 * 0.1 + 4 * math.sqrt(2000 * 0.09)
    assert np.mean([lower_limit(rng.exponential(size=size) ** 2, 0.1) for _ in range(50)]) > 0.2


FEATURES, LABELS = np.eye(3)[[0, 1, 2, 0]], np.array([1.0, -1.0, 1.0, 1.0])
FLIPPED = (FEATURES, np.array([-1.0, -1.0, 1.0, 1.0]))
CLIP = 0.3


def _dp_sgd(sensitivity: float, rho: float = 0.5, steps: int = 10) -> Any:
    """Logistic regression with clipped gradients; noise for ρ-zCDP if a step's sum moves by `sensitivity` at most."""
    sigma = sensitivity * math.sqrt(steps / (2 * rho))

    def fit(data: Any, rng: np.random.Generator) -> Any:
        X, y = data
        w = np.zeros(3)
        for _ in range(steps):
            chance = 1 / (1 + np.exp(-y * (X @ w)))
            gradients = -(1 - chance)[:, None] * y[:, None] * X
            gradients /= np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True) / CLIP)
            w = w - 0.5 * (gradients.sum(0) + rng.normal(0, sigma, size=3))
        return w

    return fit


def test_half_the_noise_of_a_training_loop_is_seen_in_ten_runs() -> None:
    """The sum moves by 2·CLIP when a record is replaced, the noise is for CLIP."""
    claimed = epsilon_where(gaussian(1.0), 1e-5, 60.0)
    for seed in range(5):
        broken = transcript(_dp_sgd(CLIP), ((FEATURES, LABELS), FLIPPED), runs=10, seed=seed)
        assert broken.runs == 10
        assert replace(broken, confidence=0.999).epsilon_lower(1e-5) > claimed
        right = transcript(_dp_sgd(2 * CLIP), ((FEATURES, LABELS), FLIPPED), runs=10, seed=seed)
        assert replace(right, confidence=0.999).epsilon_lower(1e-5) <= claimed


def test_an_audit_suspects_it_and_says_what_is_missing() -> None:
    claimed = epsilon_where(gaussian(1.0), 1e-5, 60.0)
    data = (FEATURES, LABELS), FLIPPED
    result = audit_dp(_dp_sgd(CLIP), *data, epsilon=claimed, delta=1e-5, samples=1000)
    assert result.verdict == "suspect"
    (finding,) = [f for f in result.findings if f.kind == "transcript"]
    assert finding.details["site"].startswith("test_transcript.py:")
    assert 1.5 < finding.details["factor"] < 2.3
    assert result.transcript.spending[0].difference == pytest.approx(2 * CLIP)
    assert result.to_dict()["transcript"]["spending"][0]["sums"] == 10
    assert audit_dp(_dp_sgd(2 * CLIP), *data, epsilon=claimed, delta=1e-5, samples=1000).verdict != "suspect"


def test_a_draw_that_decides_nothing_hides_nothing() -> None:
    """A loader of batches seeds workers that it does not have, or shuffles a batch of all records: the finding stays. A
    batch that is chosen at random is secret, and may cover what the noise does not.
    """
    claimed = epsilon_where(gaussian(1.0), 1e-5, 60.0)
    half = _dp_sgd(CLIP)

    def seeded(data: Any, rng: np.random.Generator) -> Any:
        rng.integers(2**31)
        return half(data, rng)

    def shuffled(data: Any, rng: np.random.Generator) -> Any:
        order = rng.permutation(4)
        return half((data[0][order], data[1][order]), rng)

    def batched(data: Any, rng: np.random.Generator) -> Any:
        rows = rng.choice(4, 2, replace=False)
        return half((data[0][rows], data[1][rows]), rng)

    pair = (FEATURES, LABELS), FLIPPED
    for mechanism, suspect in ((seeded, True), (shuffled, True), (batched, False)):
        found = inspect_alone(mechanism, *pair, epsilon=claimed, delta=1e-5).findings
        assert ("transcript" in {f.kind for f in found}) == suspect


def test_only_the_selected_answer_is_published() -> None:
    """A noisy maximum of ten scores: the transcript is worth ten times the claim, the mechanism keeps it."""

    def chosen(data: list[float], rng: np.random.Generator) -> int:
        return int(np.argmax([x + rng.laplace(0, 2.0) for x in data]))

    result = audit_dp(chosen, [0.0] * 10, [1.0] * 10, epsilon=1.0, samples=2000)
    assert result.verdict in ("consistent", "inconclusive")
    assert result.transcript is None or result.transcript.epsilon(0.0) == pytest.approx(5.0)
