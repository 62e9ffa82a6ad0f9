"""Live tapes on numpy's generators, for audits that need many draws.

Each key has its own counter-based stream (Philox, keyed by the seed and the draw's name), so that draws depend
neither on the order of reading nor on what else is read.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from reference.numerics.tape import Draw, DrawKind, Tape, Values


class NumpyTape(Tape):
    """Reproducible draws from a seed, vectorised over the dimension of a draw."""

    def __init__(self, seed: int):
        self.seed = seed

    def generator(self, draw: Draw) -> np.random.Generator:
        """The generator that belongs to one draw."""
        digest = hashlib.sha256(f"{self.seed}|{draw.key}|{draw.kind}|{draw.dim}".encode()).digest()
        return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16])))

    def read(self, draw: Draw) -> Values:
        """The values of one draw."""
        generator = self.generator(draw)
        if draw.kind == "permutation":
            return tuple(int(i) for i in generator.permutation(draw.dim))
        if draw.kind == "index":
            return (int(generator.integers(draw.dim)),)
        return tuple(float(x) for x in _unit(generator, draw.kind, draw.dim))


def _unit(generator: np.random.Generator, kind: DrawKind, dim: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Real draws of scale 1."""
    if kind == "normal":
        return generator.standard_normal(dim)
    if kind == "laplace":
        return generator.laplace(0, 1, dim)
    if kind == "gumbel":
        return generator.gumbel(0, 1, dim)
    return generator.standard_exponential(dim)
