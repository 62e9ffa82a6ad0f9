"""Mechanisms that the benchmarks name on command lines: worker processes find them here."""

from __future__ import annotations

import time

import numpy as np


def laplace(dataset: list[float], size: int, rng: np.random.Generator) -> np.ndarray:
    """The sum with Laplace noise of scale 1: ε = 1 where sums differ by 1."""
    return np.asarray(sum(dataset) + rng.laplace(size=size))


def slow_laplace(dataset: list[float], size: int, rng: np.random.Generator) -> np.ndarray:
    """The same, 0.02 s a batch: a run that lasts without keeping the machine busy."""
    time.sleep(0.02)
    return laplace(dataset, size, rng)
