"""Audit DP-SGD from a single training run, with canaries. Plain numpy; any training loop will do.

Ten steps of logistic regression: gradients are clipped one by one to length C and summed, and each sum gets Gaussian
noise of z·C a coordinate. To add or remove a record then costs μ = √T/z of Gaussian DP. Each canary is a record with a
feature of its own, in the data with probability ½; its score is the weight of that feature. One run says much less than
many would, but there is only one to pay for. The mistake: the noise is divided by the number of steps, as if it were
added once for the whole run.
"""

import numpy as np

from dpso import audit_one_run, with_canaries

STEPS, C, RECORDS, CANARIES = 10, 1.0, 200, 2000
Z = np.sqrt(STEPS)
MU = np.sqrt(STEPS) / Z


def train(X, y, scale, rng):
    """Full-batch DP-SGD on the logistic loss."""
    w = np.zeros(X.shape[1])
    for _ in range(STEPS):
        gradients = -(y / (1 + np.exp(y * (X @ w))))[:, None] * X
        gradients /= np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True) / C)
        w -= 0.1 * (gradients.sum(axis=0) + rng.normal(scale=scale, size=w.size))
    return w


rng = np.random.default_rng(1)
X = np.zeros((RECORDS, 5 + CANARIES))
X[:, :5] = rng.normal(size=(RECORDS, 5))
y = np.where(X[:, 0] > 0, 1.0, -1.0)
canaries = np.zeros((CANARIES, 5 + CANARIES))
canaries[np.arange(CANARIES), 5 + np.arange(CANARIES)] = 20.0
for name, scale in (("noise in every step", Z * C), ("noise divided by the steps", Z * C / STEPS)):
    features, labels, included = with_canaries(X, y, canaries, np.ones(CANARIES), rng)
    weights = train(features, labels, scale, rng)
    print(f"{name}:", audit_one_run(weights[5:], included, mu=MU, confidence=0.95))
