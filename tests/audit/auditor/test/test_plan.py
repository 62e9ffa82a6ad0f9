"""The ladder of selections: nested, never splitting equals, and sharing the level without remainder."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.auditor.terms.outputs import tabulate
from audit.auditor.test.plan import LADDER, Rung, _ladder, make_plan


def ladder(ranked: list[float], inside: float, delta: float = 0.0, hopeful: bool = True) -> tuple[Rung, ...]:
    return _ladder(-np.sort(-np.array(ranked)), inside, 10_000, delta, lambda n, part: hopeful)


@given(
    st.lists(st.integers(0, 30).map(float), min_size=20, max_size=400),
    st.floats(0.01, 1.0),
    st.sampled_from([0.0, 1e-5]),
    st.booleans(),
)
def test_rungs_are_nested_and_share_the_whole_level(ranked, inside, delta, hopeful):
    rungs = ladder(ranked, inside, delta, hopeful)
    assert sum(rung.part for rung in rungs) == pytest.approx(sum(part for _, part in LADDER)) == pytest.approx(1.0)
    assert all(a.n >= b.n >= 1 for a, b in itertools.pairwise(rungs))
    if delta == 0:
        thresholds = [rung.threshold for rung in rungs]
        assert thresholds == sorted(set(thresholds))
        assert not set(thresholds) & set(ranked)  # half-way between two confidences that occur


def test_equally_sure_outputs_are_one_rung():
    assert [rung.part for rung in ladder([1.0] * 500 + [0.0] * 500, 0.5)] == pytest.approx([1.0])
    two = ladder([2.0] * 80 + [1.0] * 420 + [0.0] * 500, 0.5)
    assert [rung.part for rung in two] == pytest.approx([0.7, 0.3])
    assert [rung.threshold for rung in two] == [0.5, 1.5]


def test_an_output_scored_in_another_block_stays_on_its_side_of_the_threshold():
    """Scores may differ in the last bits from block to block: a threshold lies between two confidences, not on one."""
    ranked = [2.0, 1.0 + 1e-6, 1.0, 1.0, 0.5]
    found = [ladder(ranked, size / 5)[0].threshold for size in (1, 2, 3, 4)]
    assert found == pytest.approx([1.5, 0.75, 0.75, 0.75], abs=1e-6)
    assert ladder(ranked, 1.0)[0].threshold < 0.5


def test_what_could_not_say_more_takes_no_part_of_the_level():
    smooth = np.linspace(0, 1, 1000).tolist()
    assert len(ladder(smooth, 0.5)) == len(LADDER)
    assert [rung.part for rung in ladder(smooth, 0.5, hopeful=False)] == pytest.approx([1.0])


def test_a_perfect_separation_keeps_nearly_all_of_the_level_for_the_largest_rung():
    """Outputs above 1/2 come from the neighbour alone: a sixteenth of them could never say as much as all do."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 8000)
    outputs = np.where((labels == 1) & (rng.random(8000) < 0.5), 2.0, 0.0)
    plan, _ = make_plan(tabulate(outputs), labels, 30_000, 0.0, 0.05)
    assert plan.rungs[0].part == pytest.approx(1.0)
    assert plan.rungs[0].share == pytest.approx(0.25, rel=0.1)


def test_where_nothing_is_promised_all_draws_are_tested():
    rng = np.random.default_rng(1)
    plan, _ = make_plan(tabulate(rng.laplace(size=2000)), rng.integers(0, 2, 2000), 2000, 0.3, 0.05)
    assert plan.promise == 0
    assert plan.rungs[0].share > 0.9
