"""Mechanisms that the benchmarks name on command lines: worker processes find them here."""

from __future__ import annotations

import time

import numpy as np


def laplace(dataset: list[float], size: int, rng: np.random.Generator) -> np.ndarray:
    """The sum with Laplace noise of scale 1: ε = 1 where sums differ by 1."""
    return np.asarray(sum(dataset) + rng.laplace(size=size))


def slow_laplace(dataset: list[float], rng: np.random.Generator) -> float:
    """The same, one draw a call and at leisure: a run that lasts without keeping the machine busy."""
    time.sleep(2e-5)
    return float(sum(dataset) + rng.laplace())
