"""A mechanism under inspection: single calls on either dataset, watched and counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.auditor.lints.recorder import RecordedRun, Recorder
from audit.auditor.targets.containment import Watch
from audit.auditor.targets.isolate import tick
from audit.auditor.targets.sampling import CallableTarget, Pair, copier
from audit.auditor.terms.relation import records, same


def single(target: CallableTarget, data: Any, rng: Any) -> Any:
    """One output of a mechanism, whatever its calling convention, as it is published."""
    return target.publish(target._call(data, 1, rng)[0] if target.batched else target._call(data, None, rng))


@dataclass
class Subject:
    """One call at a time on dataset (side 0) or neighbour (side 1), each with its own copy and its own generator."""

    target: CallableTarget
    pair: Pair
    recorder: Recorder
    watch: Watch
    seed: int
    deadline: float | None = None
    most: int | None = None
    calls: int = 0
    mutated: bool = False

    def __post_init__(self) -> None:
        """Prepare cheap copies."""
        self._copies = copier(self.pair.dataset), copier(self.pair.neighbour)
        self._checked = [0, 0]

    @property
    def late(self) -> bool:
        """Whether the time or the calls are used up."""
        return self.out_of_time or (self.most is not None and self.calls >= self.most)

    @property
    def out_of_time(self) -> bool:
        """Whether the time is used up."""
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def size(self) -> int | None:
        """The number of records of the dataset, if it can be seen."""
        seen = records(self.pair.dataset)
        return None if seen is None else len(seen)

    def record(self, side: int) -> RecordedRun:
        """A fresh run."""
        followed = self.recorder.integers
        run = self.recorder.record(self._runner(side))
        return self.recorder.record(self._runner(side)) if followed and not self.recorder.integers else run

    def replay(self, side: int, script: RecordedRun) -> RecordedRun:
        """A run on the draws of an earlier one."""
        return self.recorder.replay(self._runner(side), script)

    def replay_with_other_integers(self, script: RecordedRun) -> RecordedRun:
        """A run of the dataset on the draws of an earlier one, but for integer noise."""
        return self.recorder.replay_with_other_integers(self._runner(0), script)

    def tilt(self, side: int, script: RecordedRun, units: Mapping[int, Any]) -> RecordedRun:
        """A run on the choices of an earlier one, with these draws (in units of their scale) and other noise fresh."""
        return self.recorder.tilt(self._runner(side), script, units)

    def _runner(self, side: int) -> Callable[[], Any]:
        data = self._copies[side]()
        rng = self.recorder.generator(np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=(7, self.calls))))
        self.calls += 1
        self.watch.start()
        tick()

        def run() -> Any:
            try:
                output = single(self.target, data, rng)
            except Exception as error:
                if not self.recorder.blames_integers(error):
                    self.target.noticed.note_exception(side)
                raise
            self._look(side, data)
            return output

        return run

    def _look(self, side: int, data: Any) -> None:
        """Compare the dataset with what it was, for the first calls of each side."""
        if self._checked[side] < 2 and not self.mutated:
            self._checked[side] += 1
            self.mutated = not same(data, self.pair.side(side))
