"""Projection, linear minimisation and membership, row by row. The same pins as `reference.setting.sets`."""

from __future__ import annotations

import numpy as np

from audit.engine.arrays import Array, floats, matrix
from reference.numerics.numbers import INF, dual_exponent
from reference.setting.sets import Box, FeasibleSet, LpBall, NoProjection, Polytope, Simplex, WholeSpace
from reference.weakly_convex.mirror import underlying


def vertices(W: FeasibleSet) -> Array:
    """The listed vertices as a (J, d) matrix."""
    if not isinstance(W, (Polytope, Simplex)):
        raise ValueError(f"W = {W} must list its vertices: use Polytope, l1_ball or Simplex")
    return matrix(W.exact_vertices)


def norms(u: Array, p: float) -> Array:
    """‖·‖_p of each row."""
    if p == INF:
        return np.asarray(np.abs(u).max(axis=-1))
    if p == 2:
        return np.asarray(np.sqrt(np.einsum("...i,...i->...", u, u)))
    largest = np.abs(u).max(axis=-1, keepdims=True)
    scale = np.where(largest > 0, largest, 1)
    return np.asarray(scale[..., 0] * (np.abs(u / scale) ** float(p)).sum(axis=-1) ** (1 / float(p)))


def project(W: FeasibleSet, u: Array) -> Array:
    """Π_W of each row."""
    W = underlying(W)
    if isinstance(W, WholeSpace):
        return u
    if isinstance(W, Box):
        return np.clip(u, floats(W.lower), floats(W.upper))
    if isinstance(W, Simplex):
        return np.asarray(np.maximum(u - _threshold(u, float(W.scale))[:, None], 0))
    if isinstance(W, LpBall):
        return _project_ball(W, u)
    raise NoProjection(f"{W} has no closed-form Euclidean projection")


def _project_ball(W: LpBall, u: Array) -> Array:
    centre, r = floats(W.exact_centre), float(W.radius)
    v = u - centre
    if W.p == INF or W.dim == 1:
        return np.asarray(centre + np.clip(v, -r, r))
    if W.p == 2:
        inside = norms(v, 2) <= r
        factor = np.where(inside, 1, r / np.where(inside, 1, norms(v, 2)))
        return np.where(inside[:, None], u, centre + v * factor[:, None])
    if W.p == 1:
        tau = np.maximum(_threshold(np.abs(v), r), 0)[:, None]
        return np.asarray(centre + v - np.clip(v, -tau, tau))
    raise NoProjection(f"p = {W.p} has no closed-form Euclidean projection: it must be 1, 2 or ∞")


def _threshold(values: Array, total: float) -> Array:
    """τ with Σ max(v − τ, 0) = total, row by row: the largest (sum of the k largest − total)/k."""
    ordered = -np.sort(-values, axis=1)
    counts = np.arange(1, values.shape[1] + 1)
    candidates: Array = (np.cumsum(ordered, axis=1) - total) / counts
    return np.asarray(candidates.max(axis=1))


def linear_minimiser(W: FeasibleSet, g: Array) -> Array:
    """argmin_{v ∈ W} ⟨v, g⟩ of each row."""
    if isinstance(W, Box):
        return np.where(g < 0, floats(W.upper), floats(W.lower))
    if isinstance(W, (Polytope, Simplex)):
        points = vertices(W)
        return np.asarray(points[np.argmin(g @ points.T, axis=1)])
    if isinstance(W, LpBall):
        return floats(W.exact_centre) - float(W.radius) * _steepest(W, g)
    raise ValueError(f"W = {W} must be bounded: a linear function has no minimum on it")


def _steepest(W: LpBall, g: Array) -> Array:
    """A maximiser of ⟨u, g⟩ over ‖u‖_p ≤ 1, 0 where g = 0."""
    largest = np.abs(g).max(axis=1, keepdims=True)
    h = g / np.where(largest > 0, largest, 1)
    if W.p == 1:
        chosen = np.argmax(np.abs(h), axis=1)
        u = np.zeros_like(h)
        rows = np.arange(len(h))
        u[rows, chosen] = np.sign(h[rows, chosen])
        return u
    if W.p == INF:
        return np.asarray(np.sign(h))
    q = float(dual_exponent(W.p))
    length = norms(h, q)[:, None]
    return np.asarray(np.sign(h) * (np.abs(h) / np.where(length > 0, length, 1)) ** (q - 1))


def contains(W: FeasibleSet, u: Array) -> Array:
    """Whether each row lies in W (balls, boxes and ℝ^d: the sets of the mirror step)."""
    W = underlying(W)
    if isinstance(W, WholeSpace):
        return np.ones(len(u), dtype=bool)
    if isinstance(W, Box):
        return np.asarray(((u >= floats(W.lower)) & (u <= floats(W.upper))).all(axis=1))
    if isinstance(W, LpBall):
        return np.asarray(norms(u - floats(W.exact_centre), float(W.p)) <= float(W.radius))
    raise ValueError(f"W = {W} must be a ball, a box or the whole space here")
