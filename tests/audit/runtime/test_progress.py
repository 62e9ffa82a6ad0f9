"""What people are told while they wait."""

from __future__ import annotations

from audit.runtime.progress import Meter, duration


def test_the_meter_says_how_far_and_how_long() -> None:
    said: list[str] = []
    meter = Meter("draws", 1000, said.append, done=500, live=False)
    assert meter.text(10.0).startswith("draws: 500 of 1e+03 (50 %)")
    meter.add(250)
    assert meter.text(10.0) == "draws: 750 of 1e+03 (75 %), 10 s left"
    assert said == []
    assert [duration(s) for s in (7.4, 185, 9600, 300_000)] == ["7 s", "3:05 min", "2:40 h", "3 days"]
