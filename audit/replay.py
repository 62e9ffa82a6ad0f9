"""Freeze all draws, run both neighbours, compare: for mechanisms written on a noise tape.

With the same draws on both sides everything that differs comes from the data. The replay lists which draws either
side asked for (control flow must not depend on the data before the noise) and by how much each traced quantity moves,
and holds the moves against their claimed sensitivities. A statistical test needs many draws to see a wrong constant;
a replay sees it at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reference.tape import Draw, SeededTape, Tape, Values
from reference.trace_events import Trace, TraceEvent


@dataclass(frozen=True)
class Move:
    """A traced quantity, how far it moved at most between the neighbours, and what was claimed for it."""

    name: str
    line: int
    largest: float
    claimed: float | None
    seed: int

    @property
    def exceeded(self) -> bool:
        """Whether it moved further than claimed."""
        return self.claimed is not None and self.largest > self.claimed * (1 + 1e-9)


@dataclass(frozen=True)
class Replay:
    """What the frozen runs showed. `flow` names the first draw or event at which the two runs part, if they do."""

    verdict: str
    flow: str | None
    moves: tuple[Move, ...]

    @property
    def first(self) -> Move | None:
        """The first quantity, in the algorithm's order, that moved further than claimed."""
        return next((m for m in self.moves if m.exceeded), None)

    def __str__(self) -> str:
        if self.first is not None:
            m = self.first
            return (
                f"EXCEEDED: {m.name} (line {m.line}) moved by {m.largest:.6g}, claimed {m.claimed:.6g}, seed {m.seed}"
            )
        parted = f"; the runs part at {self.flow}" if self.flow else "; same control flow"
        return f"{self.verdict.upper()}: {len(self.moves)} quantities compared{parted}"


class _Listening(Tape):
    """Hands draws through and keeps the order in which they were asked for."""

    def __init__(self, source: Tape):
        self._source = source
        self.asked: list[Draw] = []

    def read(self, draw: Draw) -> Values:
        self.asked.append(draw)
        return self._source.read(draw)


def replay(
    mechanism: Callable[[Any, Tape, Trace], Any],
    dataset: Any,
    neighbour: Any,
    claimed: Mapping[str, float] | None = None,
    norm: float = 2,
    seeds: int = 20,
) -> Replay:
    """Run `mechanism(data, tape, trace)` on both datasets with the same draws, `seeds` times.

    `claimed` maps the name of a traced quantity to the most that it may move (in the p-norm). The verdict is
    "exceeded" if one moves further, "diverged" if the runs ask for different draws or trace different events, else
    "within".
    """
    moves: dict[str, Move] = {}
    flow: str | None = None
    for seed in range(seeds):
        runs = [_run(mechanism, data, seed) for data in (dataset, neighbour)]
        flow = flow or _parting(runs[0][0], runs[1][0]) or _parting_events(runs[0][1].events, runs[1][1].events)
        for a, b in zip(runs[0][1], runs[1][1], strict=False):
            if a.key != b.key or a.line != b.line:
                break
            moved = _distance(a.value, b.value, norm)
            if a.name not in moves or moved > moves[a.name].largest:
                moves[a.name] = Move(a.name, a.line, moved, (claimed or {}).get(a.name), seed)
    unknown = set(claimed or {}) - set(moves)
    if unknown:
        raise ValueError(
            f"claimed names {sorted(unknown)[0]!r}, which is never traced: traced are {', '.join(moves) or 'none'}"
        )
    verdict = "exceeded" if any(m.exceeded for m in moves.values()) else "diverged" if flow else "within"
    return Replay(verdict, flow, tuple(moves.values()))


def _run(mechanism: Callable[[Any, Tape, Trace], Any], data: Any, seed: int) -> tuple[list[Draw], Trace]:
    tape, trace = _Listening(SeededTape(seed)), Trace()
    mechanism(data, tape, trace)
    return tape.asked, trace


def _parting(a: list[Draw], b: list[Draw]) -> str | None:
    for i, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return f"draw {i}: {x.key} ({x.kind}×{x.dim}) against {y.key} ({y.kind}×{y.dim})"
    return f"draw {min(len(a), len(b))}: one run ends" if len(a) != len(b) else None


def _parting_events(a: list[TraceEvent], b: list[TraceEvent]) -> str | None:
    for x, y in zip(a, b, strict=False):
        if (x.line, x.key) != (y.line, y.key):
            return f"line {x.line}, {x.key} against line {y.line}, {y.key}"
    return "the number of traced events" if len(a) != len(b) else None


def _distance(a: Any, b: Any, norm: float) -> float:
    try:
        x, y = (np.atleast_1d(np.asarray([float(v) for v in _items(u)])) for u in (a, b))
    except (TypeError, ValueError):
        return 0.0 if a == b else math.inf
    return float(np.linalg.norm(x - y, ord=norm)) if x.shape == y.shape else math.inf


def _items(value: Any) -> list[Any]:
    return list(value) if hasattr(value, "__iter__") and not isinstance(value, str) else [value]
