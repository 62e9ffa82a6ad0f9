"""The selections: nested, never splitting equals, and sharing the level without remainder."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.auditor.learn.logistic import LogisticFit
from audit.auditor.terms.claim import Claim, Epsilon, Profile
from audit.auditor.terms.outputs import Table, tabulate
from audit.auditor.test import plan as module
from audit.auditor.test.confidence import predicted_bound
from audit.auditor.test.plan import (
    CAUTION,
    WIDER_PART,
    Curve,
    Cutoff,
    Plan,
    Selected,
    _calibration_design,
    _cutoffs,
    _run_end,
    _simple_plan,
    _sizes,
    _threshold,
    _well_inside,
    make_plan,
    plan_with,
    planned_shares,
)


def cutoffs_of(
    ranked: list[float],
    inside: float,
    delta: float = 0.0,
    may_improve: bool = True,
    daring: float = 0.0,
    wider: bool = False,
) -> tuple[Cutoff, ...]:
    shares = planned_shares(inside, daring or inside / 16, wider)
    return _cutoffs(-np.sort(-np.array(ranked)), shares, 10_000, Epsilon(1.0, delta), lambda n, part: may_improve)


@given(
    st.lists(st.integers(0, 30).map(float), min_size=20, max_size=400),
    st.floats(0.01, 1.0),
    st.sampled_from([0.0, 1e-5]),
    st.booleans(),
    st.booleans(),
)
def test_cutoffs_are_nested_and_share_the_whole_level(ranked, inside, delta, may_improve, wider):
    cutoffs = cutoffs_of(ranked, inside, delta, may_improve, wider=wider)
    assert sum(cutoff.part for cutoff in cutoffs) == pytest.approx(1.0)
    assert all(a.n >= b.n >= 1 for a, b in itertools.pairwise(cutoffs))
    if delta == 0:
        thresholds = [cutoff.threshold for cutoff in cutoffs]
        assert thresholds == sorted(set(thresholds))
        assert not set(thresholds) & set(ranked)  # half-way between two confidences that occur


def test_equal_outputs_are_one_cutoff():
    assert [cutoff.part for cutoff in cutoffs_of([1.0] * 500 + [0.0] * 500, 0.5)] == pytest.approx([1.0])
    two = cutoffs_of([2.0] * 160 + [1.0] * 340 + [0.0] * 500, 0.5)
    assert [cutoff.part for cutoff in two] == pytest.approx([0.55, 0.45])
    assert [cutoff.threshold for cutoff in two] == [0.5, 1.5]


def test_an_output_scored_in_another_block_stays_on_its_side_of_the_threshold():
    """Scores may differ in the last bits from block to block: a threshold lies between two confidences, not on one."""
    ranked = [2.0, 1.0 + 1e-6, 1.0, 1.0, 0.5]
    found = [cutoffs_of(ranked, size / 5)[0].threshold for size in (1, 2, 3, 4)]
    assert found == pytest.approx([1.5, 0.75, 0.75, 0.75], abs=1e-6)
    assert cutoffs_of(ranked, 1.0)[0].threshold < 0.5


def test_what_could_not_say_more_takes_no_part_of_the_level():
    smooth = np.linspace(0, 1, 1000).tolist()
    assert len(cutoffs_of(smooth, 0.5)) == 3
    assert len(cutoffs_of(smooth, 0.1, wider=True)) == 4
    assert [cutoff.part for cutoff in cutoffs_of(smooth, 0.5, may_improve=False)] == pytest.approx([1.0])


def test_a_perfect_separation_keeps_nearly_all_of_the_level_for_the_largest_selection():
    """Outputs above 1/2 come from the neighbour alone: a sixteenth of them could never say as much as all do."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 8000)
    outputs = np.where((labels == 1) & (rng.random(8000) < 0.5), 2.0, 0.0)
    plan, _ = make_plan(tabulate(outputs), labels, 30_000, Epsilon(1.0), 0.05)
    assert plan.cutoffs[0].part == pytest.approx(1.0)
    assert plan.cutoffs[0].share == pytest.approx(0.25, rel=0.1)


def test_where_more_draws_would_say_nearly_as_much_they_are_tested_too():
    """Whichever few look best by luck, all draws tell the same: the largest cutoff has more than the planned one."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 6000)
    logits = np.where((labels == 1) ^ (rng.random(6000) < 0.35), 0.6, -0.6) * (1 + 1e-2 * rng.random(6000))
    curve = Curve.measure("either", logits, np.zeros(6000), labels)
    bound, inside = curve.predict(20_000, Epsilon(0.1), 0.05)
    assert curve.bound_of(0.05, 20_000, Epsilon(0.1), 0.05 * WIDER_PART) > 0.5 * bound
    assert curve.bound_of(1.0, 20_000, Epsilon(0.1), 0.05 * WIDER_PART) > 0.8 * bound
    small, large = planned_shares(inside / 10, inside / 100, wider=False), planned_shares(inside / 10, inside / 100)
    assert large[0] == (pytest.approx(0.4 * inside), WIDER_PART)
    assert small[0][0] == pytest.approx(inside / 10)


def test_where_nothing_is_predicted_all_draws_are_tested():
    rng = np.random.default_rng(1)
    plan, _ = make_plan(tabulate(rng.laplace(size=2000)), rng.integers(0, 2, 2000), 2000, Epsilon(1.0, 0.3), 0.05)
    assert plan.predicted == 0
    assert plan.cutoffs[0].share > 0.9


# ------------------------------------------------------------------- the curve, and what is taken off it


def test_a_selection_is_a_standard_deviation_smaller_than_planned_but_no_less_than_half():
    assert _well_inside(0.5, 100) == pytest.approx(0.5 - math.sqrt(0.25 / 100))
    assert _well_inside(0.2, 400) == pytest.approx(0.2 - math.sqrt(0.16 / 400))
    assert _well_inside(0.01, 100) == pytest.approx(0.005)
    assert _well_inside(1.0, 100) == 1.0


def test_a_tested_selection_stays_inside_the_planned_one_as_often_as_a_standard_deviation_says():
    """A share of draws is planned; of the next draws as many lie there in half of all cases, one σ less in 84 %."""
    rng = np.random.default_rng(3)
    share, total = 0.1, 10_000
    inside = rng.binomial(total, share, size=20_000) >= _well_inside(share, total) * total
    assert 0.82 < inside.mean() < 0.86  # Φ(1) = 0.841; 0.0026 is one standard error


def by_hand(curve: Curve, draws: int, delta: float, alpha: float, times: float = 1.0) -> list[float]:
    """The predictions of a curve, size by size, with `times` the caution."""
    found = []
    for size, rate, error in zip(curve.sizes, curve.rates, curve.errors, strict=True):
        inside = size / curve.total
        share = max(inside - math.sqrt(inside * (1 - inside) / min(draws, curve.total)), inside / 2)
        cautious = min(1.0, max(0.0, rate - times * math.sqrt(2 * math.log(1 + curve.total / size)) * error))
        found.append(float(predicted_bound(np.array([share * draws]), np.array([cautious]), draws, delta, alpha, 2)[0]))
    return found


NOISY = Curve("either", 1000, np.array([10, 100, 1000]), np.array([0.99, 0.9, 0.7]), np.array([0.03, 0.03, 0.014]))


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("draws", [300, 5000])
def test_a_prediction_is_lowered_by_what_the_largest_of_noisy_values_is_too_high(draws, delta):
    predictions = by_hand(NOISY, draws, delta, 0.05)
    best = max(predictions)
    at = max(i for i, value in enumerate(predictions) if value == best)
    bound, share = NOISY.predict(draws, Epsilon(1.0, delta), 0.05)
    assert bound == pytest.approx(best, rel=1e-12)
    assert share == pytest.approx(_well_inside(NOISY.sizes[at] / 1000, min(draws, 1000)))


def test_without_caution_the_luckiest_few_are_believed():
    hasty, cautious = by_hand(NOISY, 5000, 0.0, 0.05, times=0.0), by_hand(NOISY, 5000, 0.0, 0.05)
    assert int(np.argmax(hasty)) == 0
    assert int(np.argmax(cautious)) == 1
    assert NOISY.predict(5000, Epsilon(1.0), 0.05)[1] == pytest.approx(_well_inside(0.1, 1000))
    assert NOISY.predict(5000, Epsilon(1.0), 0.05, caution=0.0)[1] == pytest.approx(_well_inside(0.01, 1000))


def test_the_daring_cutoff_is_the_one_without_caution(monkeypatch):
    rng, seen = np.random.default_rng(0), []
    logits = rng.normal(size=1500) * 1.5
    labels = (rng.random(1500) < 1 / (1 + np.exp(-logits))).astype(int)
    held_out = logits, np.zeros(1500)
    monkeypatch.setattr(module, "planned_shares", lambda *shares: seen.append(shares) or planned_shares(*shares))
    plan_with(None, held_out, labels, held_out, 10_000, Epsilon(1.0), 0.05)
    curve = Curve.measure("either", *held_out, labels)
    found = [curve.predict(10_000, Epsilon(1.0), 0.05, caution)[1] for caution in (CAUTION, 0.0)]
    assert [shares[:2] for shares in seen] == [tuple(found)]
    assert found[1] < found[0] / 2


def test_predictions_are_kept_on_average_where_nothing_can_be_learned():
    """Labels are coins: forty plans predict next to nothing, though the best of eighty sizes always looks lucky."""
    rng = np.random.default_rng(5)
    predicted = []
    for _ in range(40):
        logits, labels = rng.normal(size=1500), rng.integers(0, 2, 1500)
        curve = Curve.measure("either", logits, np.zeros(1500), labels)
        predicted.append(curve.predict(10_000, Epsilon(1.0), 0.05)[0])
    assert np.mean(predicted) < 0.02
    assert max(predicted) < 0.2


def test_sizes_are_a_grid_from_a_few_to_all_that_never_splits_equals():
    smooth = -np.linspace(0, 1, 6000)
    sizes = _sizes(smooth)
    assert sizes[0] == 12
    assert sizes[-1] == 6000
    assert len(sizes) == pytest.approx(78, abs=3)
    assert _sizes(smooth[:1200])[0] == 4
    assert _sizes(smooth[:2100])[0] == 7
    assert _sizes(smooth[:3])[0] == 3
    assert _sizes(np.repeat([2.0, 1.0, 0.0], [5, 15, 80])).tolist() == [5, 20, 100]


def test_a_curve_is_the_share_of_right_guesses_drawn_towards_its_fit():
    """45 of 50 right above, 25 of 50 below; the fit has two parameters and meets both counts, so rates are counts."""
    logits = np.repeat([2.0, 0.5], 50)
    labels = np.concatenate([np.repeat([1, 0], [45, 5]), np.repeat([1, 0], [25, 25])])
    curve = Curve.measure("neighbour", logits, np.zeros(100), labels)
    assert curve.sizes.tolist() == [50, 100]
    assert curve.rates == pytest.approx([0.9, 0.7], abs=5e-4)
    worth = curve.rates * (1 - curve.rates) / curve.errors**2 - curve.sizes
    expected = [50, 0.21 / ((0.9 * 0.1 + 0.5 * 0.5) / 200)]  # p(1 − p) over the variance of the fit's mean
    assert worth == pytest.approx(expected, rel=0.1)
    turned = Curve.measure("dataset", -logits, np.zeros(100), 1 - labels)
    assert turned.rates == pytest.approx(curve.rates)
    either = Curve.measure("either", np.where(labels == 1, logits, -logits), np.zeros(100), labels)
    assert either.rates == pytest.approx([1.0, 1.0], abs=0.02)


def test_the_fit_counts_no_more_than_six_hundred_draws():
    rng = np.random.default_rng(6)
    logits = rng.normal(size=40_000)
    labels = (rng.random(40_000) < 1 / (1 + np.exp(-logits))).astype(int)
    curve = Curve.measure("neighbour", logits, np.zeros(40_000), labels)
    worth = curve.rates * (1 - curve.rates) / curve.errors**2 - curve.sizes
    assert worth.max() == pytest.approx(600, rel=1e-6)
    small = curve.sizes < 300
    assert worth[small] == pytest.approx(1.5 * curve.sizes[small], rel=0.1)


def test_draws_are_ranked_by_what_is_known_of_them():
    """Half a standard error is taken off; the guess is the sign, or the label that is always guessed."""
    logits, errors = np.array([2.0, -3.0, 1.0]), np.array([2.0, 1.0, 0.0])
    assert Selected.by("either", logits, errors).margin.tolist() == [1.0, 2.5, 1.0]
    assert Selected.by("either", logits, errors).label.tolist() == [True, False, True]
    assert Selected.by("neighbour", logits, errors).margin.tolist() == [1.0, -3.5, 1.0]
    assert Selected.by("neighbour", logits, errors).label.tolist() == [True] * 3
    assert Selected.by("dataset", logits, errors).margin.tolist() == [-3.0, 2.5, -1.0]
    assert Selected.by("dataset", logits, errors).label.tolist() == [False] * 3
    assert Selected.by("either", np.zeros(1), np.zeros(1)).label.tolist() == [False]


def test_cutoffs_on_a_smooth_sample_are_the_planned_shares():
    """1000 margins, a share of 0.4 planned, 0.05 without caution: 400, 120 and 50 of them, each but the first one σ
    inside.
    """
    found = cutoffs_of(np.linspace(0, 1, 1000).tolist(), 0.4, delta=1e-5, daring=0.05)
    assert [c.part for c in found] == pytest.approx([0.55, 0.2, 0.25])
    assert found[0] == Cutoff(4000, None, 0.4, found[0].part)
    shares = [_well_inside(end / 1000, 1000) for end in (120, 50)]
    assert [c.share for c in found[1:]] == pytest.approx(shares)
    assert [c.n for c in found[1:]] == [int(share * 10_000) for share in shares]


def test_a_plan_with_a_delta_may_guess_one_label_only():
    """Outputs above 1 come from the neighbour alone, a twentieth of it: guessing one label needs half the allowance."""
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 2, 6000)
    outputs = np.where((labels == 1) & (rng.random(6000) < 0.05), 3.0, rng.normal(size=6000).clip(-1, 1))
    plan, own = make_plan(tabulate(outputs), labels, 20_000, Epsilon(1.0, 0.02), 0.05)
    assert (plan.mode, plan.sides) == ("neighbour", 1)
    turned, _ = make_plan(tabulate(outputs), 1 - labels, 20_000, Epsilon(1.0, 0.02), 0.05)
    assert (turned.mode, turned.sides) == ("dataset", 1)
    pure, _ = make_plan(tabulate(outputs), labels, 20_000, Epsilon(1.0), 0.05)
    assert (pure.mode, pure.sides) == ("either", 2)
    assert plan.select(tabulate(outputs[:10])).margin == pytest.approx(own.margin[:10], abs=1e-5)
    assert plan.predicted > 0.5


@pytest.mark.parametrize(("wrong", "draws"), [(0, 300), (40, 300), (60, 1000)])
def test_a_sign_test_is_believed_less_than_it_was_right(wrong: int, draws: int) -> None:
    """Of two rates the larger is too high by √(2 ln 2) standard errors, as a rule: CAUTION times that is taken off."""
    total = 400
    values = np.tile([-1.0, 1.0], total // 2)
    labels = (values > 0).astype(int)
    labels[: 2 * (wrong // 2)] ^= 1  # as many of each sign, in every fold about the same
    claim = Epsilon(1.0, 0.0)
    found = _simple_plan(tabulate([float(x) for x in values]), labels, draws, claim, 0.05)
    assert found is not None
    plan, selected = found
    rate = 1 - 2 * (wrong // 2) / total
    cautious = rate - CAUTION * math.sqrt(2 * math.log(2)) * math.sqrt(rate * (1 - rate) / total)
    expected = predicted_bound(np.array([draws]), np.array([cautious]), draws, 0.0, 0.05, 2)[0]
    assert plan.predicted == pytest.approx(float(expected), rel=1e-12)
    assert [(cutoff.n, cutoff.part) for cutoff in plan.cutoffs] == [(draws, 1.0)]
    assert (selected.label == (values > 0)).all()


# ------------------------------------------------------------------------- each choice, on tables made by hand


def test_the_parts_of_the_level_are_four_and_go_to_the_planned_the_wider_the_smaller_and_the_daring_cutoff() -> None:
    assert planned_shares(0.1, 0.02) == [
        (0.4, 0.15),
        (0.1, 0.4),
        (pytest.approx(0.03), 0.2),
        (0.02, 0.25),
    ]
    assert planned_shares(0.1, 0.02, wider=False) == [
        (0.1, pytest.approx(0.55)),
        (pytest.approx(0.03), 0.2),
        (0.02, 0.25),
    ]
    assert planned_shares(0.5, 0.4)[:3] == [(1.0, 0.15), (0.5, 0.4), (0.4, 0.25)]


def test_a_run_of_margins_ends_where_the_next_is_lower_by_more_than_rounding() -> None:
    ranked = np.array([3.0, 1.0, 1.0 - 0.9e-4, 1.0 - 1.1e-4, 0.5])
    assert [_run_end(ranked, size) for size in (1, 2, 3, 5)] == [1, 3, 4, 5]
    exact = np.array([1.0, 1.0 - 1e-4, 0.0])
    assert _run_end(exact, 1) == 2
    assert _threshold(np.array([3.0, 1.0]), 1) == 2.0
    assert _threshold(np.array([3.0, 1.0]), 2) == pytest.approx(1.0 - 1e-4, abs=1e-12)


def test_at_least_one_draw_is_selected_and_none_twice() -> None:
    ranked = np.array([9.0, 8.0, 7.0, 6.0])
    asked: list[tuple[int, float]] = []

    def may_improve(n: int, part: float) -> bool:
        asked.append((n, part))
        return True

    shares = [(0.01, 0.5), (0.009, 0.25), (0.008, 0.25)]
    assert _cutoffs(ranked, shares, 50, Epsilon(1.0), may_improve) == (Cutoff(1, 8.5, 0.01, 1.0),)
    assert asked == []  # what ends where the one above does cannot improve on it
    found = _cutoffs(ranked, [(1.0, 0.6), (0.5, 0.3), (0.26, 0.1)], 3, Epsilon(1.0, 0.1), may_improve)
    inside = [_well_inside(share, 3) for share in (0.5, 0.25)]
    assert found == (Cutoff(3, None, 1.0, 0.6), Cutoff(1, None, inside[0], 0.3), Cutoff(1, None, inside[1], 0.1))
    assert asked == [(1, 0.3), (1, 0.1)]
    assert _cutoffs(ranked, [(0.5, 0.7), (1.0, 0.3)], 8, Epsilon(1.0, 0.1), may_improve)[0].part == 1.0


class Scored:
    """A score that is the entry itself, or half the length of its word; it keeps how many outputs it was asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def logit(self, table: Table) -> tuple[Any, Any]:
        self.asked.append(len(table))
        tokens = table.token_matrix()[:, 0]
        return np.where(tokens != 0, tokens % 97, table.numbers[:, 0]), np.where(tokens != 0, tokens % 7, 0.0)

    def left_out(self, table: Table, labels: np.ndarray) -> tuple[Any, Any]:
        return self.logit(table)


@pytest.mark.parametrize(
    ("outputs", "scored"),
    [(["a", "b", "c"] * 4, 3), (["a", "b"] * 2, 4), (["a", 1.0, 2.0] * 3, 3), ([1.0, 2.0, 3.0] * 4, 12)],
)
def test_words_that_repeat_are_scored_once(outputs: list[Any], scored: int) -> None:
    """Fewer different outputs than half the draws, with words among them: that saves time, and changes nothing."""
    score, table = Scored(), tabulate(outputs)
    selected = Plan(score, "either", (), 0.0).select(table)
    assert score.asked == [scored]
    straight = Selected.by("either", *score.logit(table))
    assert selected.margin.tolist() == straight.margin.tolist()
    assert selected.label.tolist() == straight.label.tolist()


@pytest.mark.parametrize(
    ("draws", "simple", "chosen"),
    [
        (3000, 0.4, "learned"),
        (3000, 0.5, "simple"),
        (3000, 0.6, "simple"),
        (3001, 0.6, "learned"),
        (9, None, "learned"),
    ],
)
def test_a_sign_test_is_considered_up_to_four_thousand_draws_in_all(
    draws: int, simple: float | None, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(name: str, predicted: float) -> tuple[Plan, str]:
        return Plan(Scored(), "either", (), predicted), name

    monkeypatch.setattr(module, "learn_held_out", lambda table, labels: (Scored(), np.zeros(1), np.zeros(1)))
    monkeypatch.setattr(module, "plan_with", lambda *_: plan("learned", 0.5))
    monkeypatch.setattr(module, "_simple_plan", lambda *_: None if simple is None else plan("simple", simple))
    assert make_plan(tabulate(np.zeros(1000)), np.zeros(1000), draws, Epsilon(1.0), 0.05)[1] == chosen


def test_without_an_entry_that_varies_there_is_no_sign_test() -> None:
    labels = np.tile([0, 1], 20)
    assert _simple_plan(tabulate(np.ones(40)), labels, 100, Epsilon(1.0), 0.05) is None
    lone = np.zeros(40)
    lone[4] = 1.0  # in one fold of four it is not among the others, and there nothing is guessed
    found = _simple_plan(tabulate(lone), labels, 100, Epsilon(1.0), 0.05)
    assert found is not None
    assert found[0].mode == "either"


class FixedCurve:
    """A curve with known predictions, which keeps what it is asked."""

    mode = "either"

    def __init__(self, bound: float, wide: float, inside: float = 0.1) -> None:
        self.bound, self.wide, self.inside = bound, wide, inside
        self.asked: list[tuple[Any, ...]] = []

    def predict(self, draws: int, claim: Claim, alpha: float, caution: float = CAUTION) -> tuple[float, float]:
        return (self.bound, self.inside) if caution else (9.0, 0.02)

    def bound_of(self, share: float, draws: int, claim: Claim, level: float) -> float:
        self.asked.append((share, draws, level))
        return self.wide


def _plan_of(
    curve: FixedCurve, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[tuple[float, float]], Any, float]:
    """The shares that are planned on a fixed curve, the rule that asks whether more can come, and the prediction."""
    seen: list[Any] = []

    def cutoffs(ranked: Any, shares: Any, draws: int, claim: Claim, may_improve: Any) -> tuple[Cutoff, ...]:
        seen.extend([shares, may_improve])
        return ()

    monkeypatch.setattr(module.Curve, "measure", lambda *_: curve)
    monkeypatch.setattr(module, "_cutoffs", cutoffs)
    own = np.array([1.0, -2.0]), np.zeros(2)
    plan, selected = plan_with(Scored(), own, np.zeros(2), own, 1000, claim, 0.05)
    assert selected.margin.tolist() == [1.0, 2.0]
    return seen[0], seen[1], plan.predicted


@pytest.mark.parametrize(("wide", "wider"), [(0.99, False), (1.0, True), (1.01, True)])
def test_the_wider_cutoff_must_promise_half_of_the_planned_bound(
    wide: float, wider: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    curve = FixedCurve(2.0, wide)
    shares, _, predicted = _plan_of(curve, Epsilon(1.0), monkeypatch)
    assert shares == planned_shares(0.1, 0.02, wider)
    assert curve.asked == [(pytest.approx(0.4), 1000, pytest.approx(0.05 * 0.15))]
    assert predicted == 2.0
    half = FixedCurve(2.0, wide, 0.5)
    _plan_of(half, Epsilon(1.0), monkeypatch)
    assert half.asked[0][0] == 1.0


def test_bounds_are_compared_from_the_least_that_a_claim_can_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile's number is a slack that may be negative: half-way between the least and the planned one counts."""
    claim = Profile({0.1: 1.0})
    assert claim.least < 0
    half = claim.least + 0.5 * (2.0 - claim.least)
    assert _plan_of(FixedCurve(2.0, half + 1e-9), claim, monkeypatch)[0] == planned_shares(0.1, 0.02, True)
    assert _plan_of(FixedCurve(2.0, half - 1e-9), claim, monkeypatch)[0] == planned_shares(0.1, 0.02, False)


def test_a_smaller_cutoff_must_be_able_to_say_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 0.4 of the planned draws on it is no smaller one; below, n right guesses of n must predict more."""
    part, n = 0.25, 30
    best = float(predicted_bound(np.array([float(n)]), np.ones(1), 1000, 0.0, 0.05 * part, 2)[0])
    for bound, improves in ((best - 1e-9, True), (best, False), (best + 1e-9, False)):
        _, may_improve, _ = _plan_of(FixedCurve(bound, 0.0, 0.25), Epsilon(1.0), monkeypatch)
        assert may_improve(n, part) is improves
    _, may_improve, _ = _plan_of(FixedCurve(40.0, 0.0, 0.25), Epsilon(1.0), monkeypatch)
    assert [may_improve(n, part) for n in (99, 100)] == [False, True]  # 0.4 of 0.25 of 1000


def test_a_curve_promises_what_was_counted_at_the_next_size() -> None:
    for share, at in ((0.004, 0), (0.01, 0), (0.02, 1), (0.1, 1), (0.3, 2), (1.0, 2), (1.2, 2)):
        expected = predicted_bound(np.array([share * 500]), NOISY.rates[[at]], 500, 1e-3, 0.02, 2)[0]
        assert NOISY.bound_of(share, 500, Epsilon(1.0, 1e-3), 0.02) == pytest.approx(expected, rel=1e-12)


def test_of_equal_predictions_the_largest_share_is_planned() -> None:
    flat = Curve("either", 100, np.array([10, 50, 100]), np.full(3, 0.5), np.zeros(3))
    assert flat.predict(1000, Epsilon(1.0), 0.05) == (0.0, 1.0)


def test_the_smoothing_fit_sees_standardised_confidences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each number of a curve against a loop over its sizes, with a fit that is given."""
    fit = LogisticFit(np.array([0.4, 0.9]), np.array([[2e-3, 1e-4], [1e-4, 5e-3]]), 0.0)
    seen: list[Any] = []
    monkeypatch.setattr(module, "fit_logistic", lambda *given: seen.append(given) or fit)
    rng = np.random.default_rng(4)
    logits, labels = rng.normal(size=50_000), rng.integers(0, 2, 50_000)
    curve = Curve.measure("neighbour", logits, np.full(50_000, 0.2), labels)
    order = np.argsort(-logits, kind="stable")
    margins, right = logits[order] - 0.1, labels[order] == 1
    standard = (margins - margins.mean()) / margins.std()
    (design, ones, counts, penalty) = seen[0]
    assert design == pytest.approx(np.stack([np.ones(25_000), standard[::2]], axis=1))
    assert ones.tolist() == right[::2].tolist()
    assert counts.tolist() == [1.0] * 25_000
    assert penalty.tolist() == [1e-3, 1e-2]
    p = 1 / (1 + np.exp(-(0.4 + 0.9 * standard)))
    for size, rate, error in zip(curve.sizes, curve.rates, curve.errors, strict=True):
        fitted = p[:size].mean()
        slope = np.array([(p * (1 - p))[:size].mean(), (p * (1 - p) * standard)[:size].mean()])
        worth = min(fitted * (1 - fitted) / (slope @ fit.covariance @ slope), 1.5 * size, 600)
        expected = (right[:size].sum() + worth * fitted) / (size + worth)
        assert rate == pytest.approx(expected, rel=1e-9)
        assert error == pytest.approx(math.sqrt(expected * (1 - expected) / (size + worth)), rel=1e-9)


def test_confidences_that_hardly_differ_are_not_blown_up() -> None:
    assert _calibration_design(np.full(3, 2.0)).tolist() == [[1.0, 0.0]] * 3
    found = _calibration_design(np.array([1.0, 1.0 + 1e-4]))
    assert found[:, 1] == pytest.approx([-0.05, 0.05], rel=1e-6)
    wide = _calibration_design(np.array([1.0, 3.0]))
    assert wide[:, 1] == pytest.approx([-1.0, 1.0])


def test_sizes_are_eighty_steps_of_a_geometric_grid() -> None:
    for total in (100, 1000, 3000, 5000):
        least = min(12, max(4, total // 300))
        grid = {int(least * (total / least) ** (i / 79) * (1 + 1e-12)) for i in range(80)}
        assert _sizes(-np.arange(float(total))).tolist() == sorted(grid)
