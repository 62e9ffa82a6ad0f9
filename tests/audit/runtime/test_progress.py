"""What people are told while they wait."""

from __future__ import annotations

import pytest

from audit.runtime import progress
from audit.runtime.progress import Meter, duration


def test_the_meter_says_how_far_and_how_long() -> None:
    said: list[str] = []
    meter = Meter("draws", 1000, said.append, done=500, live=False)
    assert meter.text(10.0).startswith("draws: 500 of 1e+03 (50 %)")
    meter.add(250)
    assert meter.text(10.0) == "draws: 750 of 1e+03 (75 %), 10 s left"
    assert said == []
    assert [duration(s) for s in (7.4, 185, 9600, 300_000)] == ["7 s", "3:05 min", "2:40 h", "3 days"]


@pytest.mark.parametrize(
    ("live", "said_at"),
    [(True, [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]), (False, [2.0, 2.5, 3.5])],  # 2·1.25, then 2.5·1.25 = 3.125
)
def test_a_terminal_hears_twice_a_second_and_a_log_ever_more_rarely(
    live: bool, said_at: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    heard: list[float] = []
    meter = Meter("draws", 8, lambda text: heard.append(now[0] - 100.0), live=live)
    for _ in range(8):
        now[0] += 0.5
        meter.add(1)
    assert heard == said_at


def test_a_rate_is_that_of_this_run_alone() -> None:
    meter = Meter("draws", 1000, print, done=900, live=False)
    meter.add(50)
    assert meter.text(10.0).endswith("10 s left"), "50 in ten seconds, and 50 to go"
    assert Meter("x", 0, print, live=False).text(0.0) == "x: 0 of 0 (0 %), 0 s left"
    assert [duration(s) for s in (59.4, 59.6, 3599.4, 3600, 172_799, 172_800)] == [
        "59 s",
        "1:00 min",
        "59:59 min",
        "1:00 h",
        "47:59 h",
        "2 days",
    ]
