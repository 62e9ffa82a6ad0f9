"""Draws kept on disk: an audit of slow code that was interrupted goes on where it was.

Blocks of draws are named (seed, stream, pair, index) and can be made in any order, so a store of them is all that is
needed: the same call of `audit_dp` reads what is there and draws the rest. Blocks are cut into pieces of a few calls,
so little is lost. Outputs that are no plain data (objects of the mechanism's own classes) are not kept and drawn again.
"""

from __future__ import annotations

import hashlib
import math
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

from audit.auditor.targets.containment import Noticed
from audit.auditor.targets.sampling import CHECK, BlockName, Pair, Target
from audit.auditor.terms.leaves import Raised
from audit.runtime.code_mark import code_mark
from audit.runtime.store import Store, StoreError

Array = np.ndarray

PIECE = 32
"""Calls a piece (a batch stays whole): of code that takes a second a call an interruption costs half a minute."""
PIECES = 1024
"""More pieces than a block of single calls (of 1024 draws) has: pieces of different blocks have different names."""


class StoredTarget:
    """A target whose draws are written to a store, and read from it when they are there."""

    def __init__(self, inner: Target, path: str | Path, label: str = ""):
        self.inner = inner
        self.batched = inner.batched
        self.read = self.drawn = 0
        self._label = label
        self._store = Store(Path(path), describe_code(inner), "continue", option="store")
        self._store.begin({"label": label})

    @property
    def noticed(self) -> Noticed:
        """What was noticed while drawing (not while reading)."""
        return self.inner.noticed

    @noticed.setter
    def noticed(self, value: Noticed) -> None:
        self.inner.noticed = value

    def outputs(self, pair: Pair, labels: Array, name: BlockName) -> Any:
        """One output a label, piece by piece. Checks compare repeated calls: these are never read from the store."""
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
        """Let go of the store, and end the worker behind this target, if there is one."""
        try:
            if hasattr(self.inner, "close"):
                self.inner.close()
        finally:
            self._store.close()

    def _piece(self, pair: Pair, labels: Array, name: BlockName, part: int) -> Any:
        part_name = BlockName(name.seed, name.stream, name.pair, name.index * PIECES + part)
        key = _key(self._label, part_name, pair, labels)
        found = self._store.find(key)
        if found is not None:
            self.read += len(labels)
            return from_plain(found)
        outputs = self.inner.outputs(pair, labels, part_name)
        self.drawn += len(labels)
        try:
            self._store.put(key, to_plain(outputs))
        except (TypeError, RecursionError, ValueError) as error:
            if isinstance(error, StoreError):
                raise
        return outputs


def _key(label: str, name: BlockName, pair: Pair, labels: Array) -> str:
    """The piece, the datasets and the labels: draws of another audit in the same store are not mixed up."""
    data = pickle.dumps((label, name, pair.dataset, pair.neighbour, np.asarray(labels, dtype=np.int8)))
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def describe_code(target: Target) -> dict[str, Any]:
    """What draws depend on besides seeds and datasets: the mechanism's name, its file, and the code of this program."""
    name, source = _origin(target)
    return {"mechanism": name, "code of dpso": code_mark(), "code of the mechanism": source}


def _origin(target: Target) -> tuple[str, str]:
    """What the mechanism is called, and a hash of the file that it stands in ("" if there is none).

    Of a command nothing but the burn-in tells whether it is still the same.
    """
    while hasattr(target, "inner"):
        target = target.inner
    if hasattr(target, "command"):
        return f"command {target.command}", ""
    mechanism = getattr(target, "mechanism", target)
    kind = mechanism if hasattr(mechanism, "__qualname__") else type(mechanism)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    source = Path(file).read_bytes() if file is not None and Path(file).is_file() else b""
    return f"{kind.__module__}:{kind.__qualname__}", hashlib.blake2b(source, digest_size=8).hexdigest()


def to_plain(value: Any) -> Any:
    """Outputs as JSON that `from_plain` turns back into the same types; TypeError for what is no plain data."""
    kind = type(value)
    if kind is float and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is list:
        return {"list": [to_plain(x) for x in value]}
    if kind is tuple:
        return {"tuple": [to_plain(x) for x in value]}
    if kind is dict:
        return {"dict": [[to_plain(k), to_plain(v)] for k, v in value.items()]}
    if kind is Raised:
        return {"raised": value.type_name}
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind is complex:
        return {"complex": [to_plain(value.real), to_plain(value.imag)]}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcSU":
        array = np.ascontiguousarray(value)
        return {"array": [array.dtype.str, list(np.shape(value)), array.tobytes().hex(), isinstance(value, np.generic)]}
    raise TypeError(f"a {kind.__name__} is no plain data")


def from_plain(data: Any) -> Any:
    """What `to_plain` was given."""
    if not isinstance(data, dict):
        return data
    ((kind, value),) = data.items()
    if kind == "array":
        dtype, shape, raw, scalar = value
        array = np.frombuffer(bytes.fromhex(raw), dtype=np.dtype(dtype)).reshape(shape).copy()
        return array[()] if scalar else array
    if kind == "dict":
        return {from_plain(k): from_plain(v) for k, v in value}
    simple = {"list": list, "tuple": tuple}
    if kind in simple:
        return simple[kind](from_plain(x) for x in value)
    if kind == "float":
        return float(value)
    if kind == "complex":
        return complex(*map(from_plain, value))
    return Raised(value) if kind == "raised" else bytes.fromhex(value)
