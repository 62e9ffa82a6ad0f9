"""Draws kept on disk: an audit of slow code that was interrupted goes on where it was.

Blocks of draws are named (seed, stream, pair, index) and can be made in any order, so a file of them is all that is
needed: the same call of `audit_dp` reads what is there and draws the rest. Blocks are cut into pieces of a few calls,
so little is lost.
"""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from audit.blackbox.foreign import Noticed
from audit.blackbox.sampling import CHECK, BlockName, Pair, Target

Array = np.ndarray

PIECE = 32
"""Calls a piece (a batch stays whole)."""


class StoredTarget:
    """A target whose draws are written to a file, and read from it when they are there."""

    def __init__(self, inner: Target, path: str | Path, label: str = ""):
        self.inner = inner
        self.batched = inner.batched
        self.path = Path(path)
        self.read = self.drawn = 0
        self._label = label
        self._known = self._load()

    @property
    def noticed(self) -> Noticed:
        """What was noticed while drawing (not while reading)."""
        return self.inner.noticed

    @noticed.setter
    def noticed(self, value: Noticed) -> None:
        self.inner.noticed = value

    def _load(self) -> dict[Any, Any]:
        known: dict[Any, Any] = {}
        if not self.path.exists():
            return known
        with self.path.open("rb") as file:
            while True:
                try:
                    key, outputs = pickle.load(file)
                except EOFError:
                    return known
                except (pickle.UnpicklingError, ValueError, TypeError):
                    return self._cut(known)
                known[key] = outputs

    def _cut(self, known: dict[Any, Any]) -> dict[Any, Any]:
        """The last piece is incomplete: the process ended while it was written. Rewrite the file without it."""
        self.path.write_bytes(b"".join(pickle.dumps(item) for item in known.items()))
        return known

    def outputs(self, pair: Pair, labels: Array, name: BlockName) -> Any:
        """One output a label, piece by piece. Checks compare repeated calls: these are never read from the file."""
        if name.stream == CHECK:
            return self.inner.outputs(pair, labels, name)
        size = len(labels) if self.batched else PIECE
        pieces = [self._piece(pair, labels[i : i + size], name, i // size) for i in range(0, len(labels), max(1, size))]
        if pieces and all(isinstance(p, np.ndarray) for p in pieces):
            return np.concatenate(pieces)
        return [output for piece in pieces for output in piece]

    @property
    def timeout(self) -> float | None:
        """Seconds that one call may take."""
        limit: float | None = getattr(self.inner, "timeout", None)
        return limit

    def close(self) -> None:
        """End the worker behind this target, if there is one."""
        if hasattr(self.inner, "close"):
            self.inner.close()

    def _piece(self, pair: Pair, labels: Array, name: BlockName, part: int) -> Any:
        part_name = BlockName(name.seed, name.stream, name.pair, name.index * 1024 + part)
        key = (part_name, _digest(self._label, pair, labels))
        if key in self._known:
            self.read += len(labels)
            return self._known[key]
        outputs = self.inner.outputs(pair, labels, part_name)
        self._known[key] = outputs
        with self.path.open("ab") as file:
            pickle.dump((key, outputs), file)
        self.drawn += len(labels)
        return outputs


def _digest(label: str, pair: Pair, labels: Array) -> str:
    """The datasets, the labels and the mechanism's name: draws of another audit in the same file are not mixed up."""
    data = pickle.dumps((label, pair.dataset, pair.neighbour, np.asarray(labels, dtype=np.int8)))
    return hashlib.blake2b(data, digest_size=16).hexdigest()
