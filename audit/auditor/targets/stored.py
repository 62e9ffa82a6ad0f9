"""Draws kept on disk: an audit of slow code that was interrupted goes on where it was.

The file holds lines of JSON with a checksum each, and nothing in it is ever executed. Outputs that are no plain data
(objects of the mechanism's own classes) are not kept and drawn again.

Blocks of draws are named (seed, stream, pair, index) and can be made in any order, so a file of them is all that is
needed: the same call of `audit_dp` reads what is there and draws the rest. Blocks are cut into pieces of a few calls,
so little is lost.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from audit.auditor.targets.containment import Noticed
from audit.auditor.targets.sampling import CHECK, BlockName, Pair, Target
from audit.auditor.terms.leaves import Raised

Array = np.ndarray

FIRST_LINE = b"dpso draws 1\n"
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
        try:
            self._known = self._load()
        except OSError as error:
            raise ValueError(f"store = {str(path)!r} cannot be used ({error.strerror}): name another file") from None

    @property
    def noticed(self) -> Noticed:
        """What was noticed while drawing (not while reading)."""
        return self.inner.noticed

    @noticed.setter
    def noticed(self, value: Noticed) -> None:
        self.inner.noticed = value

    def _load(self) -> dict[Any, Any]:
        """The pieces in the file; an incomplete last one is cut off, a file of anything else is refused untouched."""
        known: dict[Any, Any] = {}
        if not self.path.exists():
            self.path.write_bytes(FIRST_LINE)
            return known
        with self.path.open("rb") as file:
            if file.readline(len(FIRST_LINE)) != FIRST_LINE:
                raise ValueError(f"store = {str(self.path)!r} is not a file of draws: name one that does not exist yet")
            end = file.tell()
            for line in file:
                piece = _decoded(line)
                if piece is None:
                    break
                known[piece[0]] = piece[1]
                end += len(line)
            torn, more = file.tell() > end, bool(file.read(1))
        if more:
            raise ValueError(f"store = {str(self.path)!r} is damaged at byte {end}: name another file")
        if torn:
            os.truncate(self.path, end)
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
        line = _encoded(key, outputs)
        if line is not None:
            with self.path.open("ab") as file:
                file.write(line)
        self.drawn += len(labels)
        return outputs


Key = tuple[BlockName, str]


def _encoded(key: Key, outputs: Any) -> bytes | None:
    """A line of the file; None if the outputs are no plain data."""
    try:
        body = json.dumps([vars(key[0]), key[1], to_plain(outputs)], separators=(",", ":")).encode()
    except (TypeError, RecursionError):
        return None
    return _checksum(body) + b" " + body + b"\n"


def _decoded(line: bytes) -> tuple[Key, Any] | None:
    """The piece on a line; None if it is not whole."""
    check, _, body = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or check != _checksum(body):
        return None
    name, digest, outputs = json.loads(body)
    return (BlockName(**name), digest), from_plain(outputs)


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=8).hexdigest().encode()


def to_plain(value: Any) -> Any:
    """Outputs as JSON that `from_plain` turns back into the same types; TypeError for what is no plain data."""
    kind = type(value)
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
        return {"complex": [value.real, value.imag]}
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
    if kind == "complex":
        return complex(*value)
    return Raised(value) if kind == "raised" else bytes.fromhex(value)


def _digest(label: str, pair: Pair, labels: Array) -> str:
    """The datasets, the labels and the mechanism's name: draws of another audit in the same file are not mixed up."""
    data = pickle.dumps((label, pair.dataset, pair.neighbour, np.asarray(labels, dtype=np.int8)))
    return hashlib.blake2b(data, digest_size=16).hexdigest()
