"""A home-made private Frank–Wolfe over the ℓ_1 ball, and the slip that costs its privacy: `rng.laplace(b)`.

numpy's first argument is the *location*: `laplace(b, size=J)` shifts the noise by b and leaves its scale at 1. The code
runs, the output is random, and for b > 1 the noise is too small. The audit proves it from the outputs; besides, it
watches the calls of the generator, and names the line.
"""

import numpy as np

from dpso import audit_dp

T, EPSILON = 4, 1.0
B = 4 * T / EPSILON  # a replaced record moves each score by at most 2, so noisy min is (ε/T)-DP with 2·2·T/ε


def frank_wolfe(dataset, rng, noise=lambda rng, size: rng.laplace(scale=B, size=size)):
    """T steps towards the noisily best vertex, f(w) = Σ ⟨x, w⟩ + ‖w‖²/2 with ‖x‖_∞ ≤ 1."""
    total = np.sum(dataset, axis=0)
    vertices = np.vstack([np.eye(len(total)), -np.eye(len(total))])
    w = np.zeros(len(total))
    for t in range(T):
        scores = vertices @ (total + w)
        v = vertices[np.argmin(scores + noise(rng, len(vertices)))]
        w = w + 2 / (t + 2) * (v - w)
    return w


def with_the_slip(dataset, rng):
    """The same, the scale given as the location."""
    return frank_wolfe(dataset, rng, lambda rng, size: rng.laplace(B, size=size))


one = [[1.0, 0.0], [-1.0, 0.0], [1.0, 1.0]]
other = [[1.0, 0.0], [-1.0, 0.0], [-1.0, -1.0]]
for mechanism in (frank_wolfe, with_the_slip):
    result = audit_dp(mechanism, one, other, epsilon=EPSILON, samples=5_000, confidence=0.999999, seed=1)
    print(f"{mechanism.__name__}:", result)
