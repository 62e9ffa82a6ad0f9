"""Tapes for many trials at once: one array a draw, one row a trial."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np

from audit.engine.arrays import Array
from audit.engine.numpy_tape import _unit
from reference.numerics.tape import Draw, Tape, reading


class BatchTape(ABC):
    """A source of unit draws for `trials` trials."""

    trials: int

    @abstractmethod
    def read(self, draw: Draw) -> Array:
        """(trials, dim) reals or permutations, or (trials,) indices."""


class LiveBatch(BatchTape):
    """Fresh draws: a Philox stream for each (seed, block, draw), so that blocks can run anywhere in any order."""

    def __init__(self, seed: int, trials: int, block: int = 0):
        self.seed, self.trials, self.block = seed, trials, block

    def read(self, draw: Draw) -> Array:
        text = f"{self.seed}|{self.block}|{draw.key}|{draw.kind}|{draw.dim}"
        key = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16])
        generator = np.random.Generator(np.random.Philox(key=key))
        if draw.kind == "index":
            return generator.integers(draw.dim, size=self.trials)
        if draw.kind == "permutation":
            return generator.permuted(np.tile(np.arange(draw.dim), (self.trials, 1)), axis=1)
        return _unit(generator, draw.kind, self.trials * draw.dim).reshape(self.trials, draw.dim)


class StackedTapes(BatchTape):
    """Ordinary tapes side by side: trial i reads tape i. Each is held to the algorithm's declaration."""

    def __init__(self, tapes: Sequence[Tape], declared: Iterable[Draw]):
        self.trials = len(tapes)
        self._tapes, self._declared = list(tapes), tuple(declared)
        self._values: dict[Draw, list[object]] = {draw: [] for draw in self._declared}
        for tape in self._tapes:
            with reading(tape, self._declared) as source:
                for draw in self._declared:
                    self._values[draw].append(source.read(draw))

    def read(self, draw: Draw) -> Array:
        if draw not in self._values:
            raise KeyError(f"{draw.key} ({draw.kind}, dim {draw.dim}) is read but not declared")
        rows = np.array(self._values[draw])
        return rows[:, 0] if draw.kind == "index" else rows
