"""Whatever the records are, no algorithm shows it by failing: a small seeded part of `dpso bench guarantees`."""

from __future__ import annotations

import pytest
from night import by_day

from bench.hostile import K, N, Run, dataset, failure, runs
from reference.setting.data import Example, blank

SHARDS = 7
"""Every run meets every seventh dataset."""


def test_no_dataset_makes_an_algorithm_fail() -> None:
    every = runs()
    assert {run.algorithm for run in every} == {2, 3, 4, 5, 6}
    for seed in range(by_day(25, 70)):
        data = dataset(seed)
        for run in every[seed % SHARDS :: SHARDS]:
            assert failure(run, data, seed) == "", (run.name, seed)


def test_the_search_would_see_a_failure() -> None:
    """Mutants: an algorithm that looks at its records before it reads them, and one that returns NaN."""
    looking = Run(2, "looks", lambda data, seed: [float(sum(z.x[0] for z in data))])
    assert sum(failure(looking, dataset(seed), seed) != "" for seed in range(20)) > 15
    assert failure(Run(2, "nan", lambda data, seed: [float("nan")]), dataset(0), 0).startswith("output")


def test_hostile_records_change_no_other_record() -> None:
    """The blank record stands for what cannot be read: the run is that of a dataset with blank records there."""
    good = Example((0.5, 0.25, 0), 1)
    for run in runs()[::9]:
        if run.name.startswith("fast"):
            continue
        dirty = [good if i % 2 else None for i in range(N)]
        clean = [good if i % 2 else blank(3) for i in range(N)]
        assert list(run.output(dirty, 3)) == list(run.output(clean, 3)), run.name
    assert K.name == "float64"


@pytest.mark.parametrize("seed", [0, 1])
def test_datasets_are_reproducible_and_hostile(seed: int) -> None:
    assert [type(z) for z in dataset(seed)] == [type(z) for z in dataset(seed)]
    assert any(not isinstance(z, Example) for z in dataset(seed))
