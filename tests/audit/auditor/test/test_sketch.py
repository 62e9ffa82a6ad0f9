"""Tests of what is drawn besides the bounds: the measured curve, its band, the outputs with the event shaded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from audit.auditor.api import audit_dp
from audit.auditor.terms.claim import GDP
from audit.auditor.terms.outputs import tabulate
from audit.auditor.terms.picture import Drawing
from audit.auditor.test.plan import Cutoff, Selected
from audit.auditor.test.sketch import DATASET, NEIGHBOUR, outputs_drawing, sketch

NOTHING = Drawing("Outputs", "output", "share of draws", (), (), (0.0, 1.0), (0.0, 1.0))


def gaussian_counts(draws: int, seed: int) -> Any:
    """N(0, 1) against N(1, 1), guessed and ranked by the likelihood ratio, in 40 steps; and the exact curve there."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, draws)
    z = label + rng.normal(size=draws) - 0.5
    edges = np.linspace(0.0, 2.5, 39)
    step = np.searchsorted(edges, np.abs(z), side="right")
    right = (z > 0) == (label == 1)
    counts = np.stack([np.bincount(step, minlength=40), np.bincount(step[right], minlength=40)])
    lowest = np.concatenate([[0.0], edges])[::-1]
    return counts[None], stats.norm.sf(lowest + 0.5), 1 - stats.norm.sf(lowest - 0.5)


def test_the_band_holds_the_exact_curve_and_nearly_its_width_is_needed() -> None:
    """At α = 1e-7 every point is within the band; the errors are of the order of the width."""
    counts, wrong, missed = gaussian_counts(40_000, 1)
    found = sketch(counts, 2, 1e-7, NOTHING)
    off = np.abs(np.array(found.curve) - np.column_stack([wrong, missed]))
    assert off.max() <= found.width
    assert found.width == math.sqrt(math.log(4e7) / 80_000)
    assert off.max() > found.width / 20


def test_a_curve_that_is_not_the_mechanisms_leaves_the_band() -> None:
    """The positive control: guesses that are right more often than the law allows."""
    counts, wrong, missed = gaussian_counts(40_000, 2)
    counts[0, 1] += (counts[0, 0] - counts[0, 1]) // 4
    found = sketch(counts, 2, 1e-7, NOTHING)
    assert np.abs(np.array(found.curve) - np.column_stack([wrong, missed])).max() > found.width


def test_guesses_of_one_label_count_twice_and_have_no_mirror() -> None:
    counts = np.array([[[60, 40], [20, 30]]])
    found = sketch(counts, 1, 0.05, NOTHING)
    assert found.measured() == [(0.0, 1.0), pytest.approx((0.2, 0.4)), pytest.approx((1.0, 0.0)), (1.0, 0.0)]
    assert found.width == 2 * sketch(counts, 2, 0.05, NOTHING).width
    assert all(0 <= x <= 1 for point in found.band() for x in point)


def test_the_shaded_bins_are_those_of_the_event() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 4000)
    z = labels + rng.normal(size=4000)
    chosen = Selected(np.abs(z - 0.5), (z > 0.5).astype(int))
    drawing = outputs_drawing(Cutoff(100, 1.0, 0.3, 1.0), chosen, tabulate(z, 53), labels)
    bin_width = (drawing.x_range[1] - drawing.x_range[0]) / 40
    (low, colour_low, left), (high, colour_high, right) = drawing.areas
    assert (colour_low, colour_high) == (DATASET, NEIGHBOUR)
    assert low.endswith("likelier on the dataset")
    assert high.endswith("likelier on the neighbour")
    assert (left[0][0], right[-1][0]) == drawing.x_range
    assert left[-1][0] == pytest.approx(-0.5, abs=bin_width)
    assert right[0][0] == pytest.approx(1.5, abs=bin_width)
    for _, _, outline in drawing.curves:
        heights = [y for _, y in outline][1:-1:2]
        assert sum(heights) == pytest.approx(1.0)


def test_many_entries_are_shown_by_their_score() -> None:
    def mechanism(dataset: Any, size: int, rng: np.random.Generator) -> Any:
        return np.c_[dataset[0] + rng.normal(size=size), rng.normal(size=size)]

    result = audit_dp(mechanism, [0.0], [1.0], claim=GDP(0.5), samples=3000, lints=False)
    *_, outputs = result._figures()
    assert outputs.x == "score (margin of the guess)"
    assert outputs.areas
