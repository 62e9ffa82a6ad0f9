"""How much a test does by day (`make test`) and by night (`make nightly`).

What takes minutes in full is done in part by day: fewer seeds, fewer kills, every fourth of two thousand cases. What is
left out by day is so much of the same kind, never a kind of its own.
"""

from __future__ import annotations

from typing import TypeVar

from hypothesis import settings

NIGHTLY = "nightly"
"""The profile of hypothesis that `make nightly` chooses."""

T = TypeVar("T")


def by_day(day: T, night: T) -> T:
    """The first by day, the second by night."""
    return night if settings.get_current_profile_name() == NIGHTLY else day
