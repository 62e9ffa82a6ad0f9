"""Audit one DP-SGD step, in the manner of Opacus: clip, add up, add noise. Plain numpy; torch tensors would do too.

The gradients of a step are clipped one by one to length C, and their sum gets Gaussian noise of z·C a coordinate. To
add or remove a record then moves the sum by at most C: the step is Gaussian with μ = 1/z, and its ε at a given δ is
exact. The classic mistake clips the *sum* of the batch: one record still moves that by up to 2C.
"""

import numpy as np

from dpso import audit_dp
from reference.numerics.numbers import Float64
from reference.privacy import gaussian_epsilon

C, Z, DELTA = 1.0, 1.0, 1e-3
EPSILON = gaussian_epsilon(Float64(), DELTA, 1 / Z)


def clip(g):
    """Scale vectors (the last axis) down to length C."""
    return g / np.maximum(1, np.linalg.norm(g, axis=-1, keepdims=True) / C)


def noisy(total, size, rng):
    """`size` runs at once: a mechanism with a parameter `size` is asked for batches, which is much faster."""
    return total + rng.normal(scale=Z * C, size=(size, total.size))


def clip_each(gradients, size, rng):
    """A DP-SGD step."""
    return noisy(clip(np.asarray(gradients)).sum(axis=0), size, rng)


def clip_the_batch(gradients, size, rng):
    """The mistake."""
    return noisy(clip(np.asarray(gradients).sum(axis=0)), size, rng)


without = [[-3.0, 0.0], [0.5, 0.0], [-0.5, 0.0]]
with_one_more = [*without, [30.0, 0.0]]
for step in (clip_each, clip_the_batch):
    claim = {"epsilon": EPSILON, "delta": DELTA, "neighbours": "add-remove"}
    result = audit_dp(step, without, with_one_more, **claim, samples=50_000, confidence=0.999999, seed=1)
    print(f"{step.__name__}:", result)
