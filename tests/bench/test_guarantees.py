"""The attack on our own noise, at a small size: nothing above the claim, and the control finds what it should."""

from __future__ import annotations

import json

import pytest
from night import by_day

from bench import guarantees
from bench.corners import ATTACKS, CONTROLS, attack
from bench.record import recorded

SEED, TRIALS = 20_011, 40


@pytest.mark.parametrize("name", ATTACKS)
def test_no_release_spends_more_than_the_claim(name: str) -> None:
    trials = list(attack(ATTACKS[name], SEED, by_day(TRIALS // 2, TRIALS)))
    assert [trial for trial in trials if trial.spent > 1] == []
    assert max(trial.spent for trial in trials) > 0.5
    assert any(not trial.refused for trial in trials)


def test_noise_that_ignores_rounding_is_caught() -> None:
    assert any(trial.spent > 1.01 for trial in attack(CONTROLS["2"], SEED, 2 * TRIALS))
    assert any(trial.spent > 1.01 for trial in attack(CONTROLS["5"], 8, 600))


def test_the_record_is_of_the_stated_size_and_clean() -> None:
    kept = recorded("guarantees")
    for row in kept["hostile"]["by algorithm"].values():
        assert row["datasets"] >= 10_000
        assert row["failures"] == 0
    for name, row in kept["corners"]["by algorithm"].items():
        assert row["above"] == 0
        assert row["trials"] == guarantees.TRIALS[name]
    assert kept["corners"]["by algorithm"]["2"]["control above"] > 0
    assert "| 2, fast engine |" in guarantees.render(json.loads(json.dumps(kept)))
