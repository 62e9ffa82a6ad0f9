"""Live tapes on numpy's generators, for audits that need many draws.

Each key has its own counter-based stream (Philox, keyed by the seed and the draw's name), so that draws depend
neither on the order of reading nor on what else is read.
"""

from __future__ import annotations

import hashlib

import numpy as np

from reference.tape import Draw, Tape, Values


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
        sample = {
            "normal": generator.standard_normal,
            "laplace": lambda dim: generator.laplace(0, 1, dim),
            "gumbel": lambda dim: generator.gumbel(0, 1, dim),
            "exponential": generator.standard_exponential,
        }[draw.kind]
        return tuple(float(x) for x in sample(draw.dim))
