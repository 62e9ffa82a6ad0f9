"""Random mechanisms are measured and shown; the other auditors are fair ones, and never claim too much."""

from __future__ import annotations

import numpy as np
import pytest

from bench import baselines, power, weak
from bench.random_mechanisms import draw_mechanism

KINDS = ("ragged", "categories", "sparse vector", "rare", "interaction", "shift")


@pytest.mark.parametrize("kind", KINDS)
def test_other_auditors_take_every_kind_of_output(kind: str):
    mechanism = draw_mechanism(3, (kind,))
    rng = np.random.default_rng(0)
    sides = mechanism.sampler([0], 1000, rng), mechanism.sampler([1], 1000, rng)
    found = baselines.bounds(sides, 0.1, mechanism.delta, 0.95, 0)
    assert list(found) == ["logistic", "network", "hockey-stick", "canary"]
    assert all(0 <= bound < 10 for bound in found.values())


def test_other_auditors_find_what_they_are_made_for():
    """A shift by three scales of Laplace noise: each finds a good part of ε = 3."""
    rng = np.random.default_rng(1)
    sides = rng.laplace(size=20_000), rng.laplace(size=20_000) + 3.0
    found = baselines.bounds(sides, 1.0, 0.0, 0.95, 0)
    assert found["canary"] > 2.6
    assert min(found["logistic"], found["network"]) > 2.0
    assert found["hockey-stick"] > 1.5
    assert max(found.values()) < 3.0 + 0.3


def test_other_auditors_seldom_exceed_the_truth():
    """No loss at all: four bounds at 95 % on forty pairs exceed 0 at most as often as 0.2 of them would, but 1e-6."""
    rng = np.random.default_rng(2)
    wrong = [
        max(baselines.bounds((rng.random(400), rng.random(400)), 0.1, 0.0, 0.95, i).values()) > 0 for i in range(40)
    ]
    assert sum(wrong) < 24


def test_a_small_measurement_renders(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(power, "_everywhere", lambda task, seeds, progress: [task(seed) for seed in seeds])
    monkeypatch.setattr(power, "LEAST_IDEAL", 0.0)
    monkeypatch.setitem(power.PARTS, "1e4", lambda options, say: power._power(1000, options, say))
    monkeypatch.setattr(power, "SPEED", {"one bit": power.SPEED["one bit"]})
    monkeypatch.setattr(power, "QUICK_TO_DRAW", ("Laplace",))
    shown = [one for one in weak.mechanisms() if one.name in ("Laplace", "noisy max of 5")]
    monkeypatch.setattr(weak, "mechanisms", lambda: shown)
    options = {"mechanisms": 3, "correct": 4, "correct_samples": 200, "first": 40, "others": 2, "speed_samples": 1000}
    small = {**options, "weak_samples": 1000, "weak_runs": 1}
    result = power.run(lambda _: None, parts=["1e4", "alarms", "speed", "weak", "billion"], **small)
    rows = result["1e4"]["rows"]
    assert list(rows) == ["40", "41", "42"]
    assert result["alarms"]["rows"]["runs"] == 4
    text = power.render(result)
    assert "| 10,000 | dpso | 3 |" in text
    assert "| 10,000 | canary | 2 |" in text
    assert "4 random correct mechanisms" in text
    assert "| one bit | 1,000 |" in text
    assert "| Laplace | 1,000 | 0.100 |" in text
    assert "| Laplace | 10,000 | 0.100 |" in text
    assert "100,000 draws of a Laplace mechanism" in text
    assert power.headline(result).split("\n\n")[0] in text


def test_seeds_are_fresh_unless_said():
    firsts = {power.run(lambda _: None, parts=["alarms"], mechanisms=0, correct=0)["alarms"]["options"]["first"]}
    firsts |= {power.run(lambda _: None, parts=["alarms"], mechanisms=0, correct=0)["alarms"]["options"]["first"]}
    assert len(firsts) == 2


def test_what_was_missed_is_counted_where_there_was_something():
    rows = {
        "1": {"name": "a", "ideal": 1.0, "bounds": {"dpso": 0.0}},
        "2": {"name": "b", "ideal": 0.2, "bounds": {"dpso": 0.0}},
        "3": {"name": "c", "ideal": 0.01, "bounds": {"dpso": 0.5}},
    }
    assert power.missed(rows, "dpso") == ["a"]
    assert power.shares(rows, "dpso") == [0.0, 0.0]
