"""The selections: nested, never splitting equals, and sharing the level without remainder."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.auditor.terms.outputs import tabulate
from audit.auditor.test.plan import CUTOFFS, Cutoff, _cutoffs, make_plan


def cutoffs_of(ranked: list[float], inside: float, delta: float = 0.0, may_improve: bool = True) -> tuple[Cutoff, ...]:
    return _cutoffs(-np.sort(-np.array(ranked)), inside, 10_000, delta, lambda n, part: may_improve)


@given(
    st.lists(st.integers(0, 30).map(float), min_size=20, max_size=400),
    st.floats(0.01, 1.0),
    st.sampled_from([0.0, 1e-5]),
    st.booleans(),
)
def test_cutoffs_are_nested_and_share_the_whole_level(ranked, inside, delta, may_improve):
    cutoffs = cutoffs_of(ranked, inside, delta, may_improve)
    assert (
        sum(cutoff.part for cutoff in cutoffs) == pytest.approx(sum(part for _, part in CUTOFFS)) == pytest.approx(1.0)
    )
    assert all(a.n >= b.n >= 1 for a, b in itertools.pairwise(cutoffs))
    if delta == 0:
        thresholds = [cutoff.threshold for cutoff in cutoffs]
        assert thresholds == sorted(set(thresholds))
        assert not set(thresholds) & set(ranked)  # half-way between two confidences that occur


def test_equal_outputs_are_one_cutoff():
    assert [cutoff.part for cutoff in cutoffs_of([1.0] * 500 + [0.0] * 500, 0.5)] == pytest.approx([1.0])
    two = cutoffs_of([2.0] * 80 + [1.0] * 420 + [0.0] * 500, 0.5)
    assert [cutoff.part for cutoff in two] == pytest.approx([0.7, 0.3])
    assert [cutoff.threshold for cutoff in two] == [0.5, 1.5]


def test_an_output_scored_in_another_block_stays_on_its_side_of_the_threshold():
    """Scores may differ in the last bits from block to block: a threshold lies between two confidences, not on one."""
    ranked = [2.0, 1.0 + 1e-6, 1.0, 1.0, 0.5]
    found = [cutoffs_of(ranked, size / 5)[0].threshold for size in (1, 2, 3, 4)]
    assert found == pytest.approx([1.5, 0.75, 0.75, 0.75], abs=1e-6)
    assert cutoffs_of(ranked, 1.0)[0].threshold < 0.5


def test_what_could_not_say_more_takes_no_part_of_the_level():
    smooth = np.linspace(0, 1, 1000).tolist()
    assert len(cutoffs_of(smooth, 0.5)) == len(CUTOFFS)
    assert [cutoff.part for cutoff in cutoffs_of(smooth, 0.5, may_improve=False)] == pytest.approx([1.0])


def test_a_perfect_separation_keeps_nearly_all_of_the_level_for_the_largest_selection():
    """Outputs above 1/2 come from the neighbour alone: a sixteenth of them could never say as much as all do."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 8000)
    outputs = np.where((labels == 1) & (rng.random(8000) < 0.5), 2.0, 0.0)
    plan, _ = make_plan(tabulate(outputs), labels, 30_000, 0.0, 0.05)
    assert plan.cutoffs[0].part == pytest.approx(1.0)
    assert plan.cutoffs[0].share == pytest.approx(0.25, rel=0.1)


def test_where_nothing_is_predicted_all_draws_are_tested():
    rng = np.random.default_rng(1)
    plan, _ = make_plan(tabulate(rng.laplace(size=2000)), rng.integers(0, 2, 2000), 2000, 0.3, 0.05)
    assert plan.predicted == 0
    assert plan.cutoffs[0].share > 0.9
