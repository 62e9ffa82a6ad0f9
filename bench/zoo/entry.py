"""What the zoo holds: a mechanism, a pair, a claim, and the exact law behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bench.zoo.law import Law

Array = np.ndarray
Sampler = Callable[[Any, int, np.random.Generator], Any]

GRID = 2.0**20


def on_grid(x: Array) -> Array:
    """Rounded to multiples of 2**-20: post-processing that hides the low bits of floats, so that the real-valued law
    is exact.
    """
    return np.asarray(np.round(x * GRID) / GRID)


@dataclass(frozen=True)
class Entry:
    """A mechanism with ground truth."""

    name: str
    about: str
    sampler: Sampler
    dataset: Any
    neighbour: Any
    epsilon: float
    make_law: Callable[[], Law]
    cells: Callable[[Any], Array]
    """The cell of the law in which each output lies."""
    delta: float = 0.0
    floats: str = "values"
    best_peer: float | None = None
    """The best bound of another auditor at 10^5 draws a side (dp-sniper, statdp, dp_auditorium, Delta-Siege or
    jax_privacy, each measured once on a machine of two cores, outside this project)."""

    @cached_property
    def law(self) -> Law:
        """The exact law, computed once."""
        return self.make_law()

    @property
    def true_epsilon(self) -> float:
        """The exact ε(δ) on this pair."""
        return self.law.true_epsilon(self.delta)

    @property
    def correct(self) -> bool:
        """Whether the claim holds on this pair."""
        return self.true_epsilon <= self.epsilon * (1 + 1e-9) + 1e-12

    @property
    def mechanism(self) -> Callable[..., Any]:
        """The sampler under the contract's signature, `mechanism(dataset, size, rng)`."""
        sampler = self.sampler

        def mechanism(dataset: Any, size: int, rng: np.random.Generator) -> Any:
            return sampler(dataset, size, rng)

        mechanism.__name__ = self.name
        return mechanism


def between(grid: Array) -> Callable[[Any], Array]:
    """Cells of `law.from_cdfs` for scalar outputs."""
    return lambda outputs: np.searchsorted(grid, np.asarray(outputs, dtype=float), side="right")


def position(values: Sequence[Any]) -> Callable[[Any], Array]:
    """Cells of a discrete law: the position of each output in a list of values."""
    index = {value: i for i, value in enumerate(values)}
    return lambda outputs: np.array(
        [index[o] for o in (outputs.tolist() if isinstance(outputs, np.ndarray) else outputs)]
    )
