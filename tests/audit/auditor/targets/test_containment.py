"""The state that everything shares: seeded for foreign code, watched, and put back as it was."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from audit.auditor.targets.containment import Noticed, _global_state


def drawn() -> tuple[float, float]:
    return random.random(), float(np.random.random())


def test_foreign_code_draws_from_a_seed_and_leaves_no_trace() -> None:
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[union-attr]
    found = []
    for seed in (1, 1, 2, 2**40 + 1):
        noticed = Noticed()
        with _global_state(noticed, seed):
            found.append(drawn())
        assert noticed.global_sources == {"random", "numpy.random"}
    assert found[0] == found[1]
    assert len({one[0] for one in found}) == 3
    assert len({one[1] for one in found[:3]}) == 2
    assert found[0][0] == random.Random(1).random()
    assert found[0][1] == np.random.RandomState(1).random()
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("draw", "source"),
    [
        (random.random, "random"),
        (np.random.random, "numpy.random"),
        (lambda: np.random.random(312)[0], "numpy.random"),
        (lambda: np.random.seed(4), "numpy.random"),
    ],
)
def test_only_what_was_used_is_noticed_and_an_error_changes_nothing(draw: Callable[[], object], source: str) -> None:
    noticed, before = Noticed(), random.getstate()

    def fails() -> None:
        with _global_state(noticed, 3):
            draw()
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert noticed.global_sources == {source}
    assert random.getstate() == before
    quiet = Noticed()
    with _global_state(quiet, 3):
        pass
    assert quiet.global_sources == set()
