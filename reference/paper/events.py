"""What an algorithm can report while it runs: the paper's line, the quantity, its indices, its value.

Tracing is optional. An algorithm takes `trace: Trace | None = None`, calls `mark(trace, line, name, value, …)`
(nothing happens for None), and hands the events on in its result. Values are kept as they are: scalars and
vectors of the number system in use, ints, or strings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TraceEvent:
    """At line `line` of the printed algorithm the quantity `name[indices]` took this value."""

    line: int
    name: str
    indices: tuple[int, ...]
    value: Any

    @property
    def key(self) -> str:
        """The quantity with its indices: `w[3]`, `sigma[2]`, `rho`."""
        return f"{self.name}[{','.join(map(str, self.indices))}]" if self.indices else self.name


class Trace:
    """The events of one run, in order."""

    __slots__ = ("events",)

    def __init__(self) -> None:
        self.events: list[TraceEvent] = []

    def mark(self, line: int, name: str, value: Any, *indices: int) -> None:
        """Append one event."""
        self.events.append(TraceEvent(line, name, indices, value))

    def __iter__(self) -> Iterator[TraceEvent]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def values(self, name: str) -> list[Any]:
        """The values of one quantity, in the order in which they arose."""
        return [event.value for event in self.events if event.name == name]


def mark(trace: Trace | None, line: int, name: str, value: Any, *indices: int) -> None:
    """Append one event to `trace`; does nothing when nobody asked for a trace."""
    if trace is not None:
        trace.mark(line, name, value, *indices)
