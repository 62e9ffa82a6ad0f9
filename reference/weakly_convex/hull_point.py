"""The point of a polytope nearest to a given one, as a convex combination of vertices (Wolfe's algorithm, 1976).

The answer is a list of weights: whatever they are worth as a minimiser, the point that they make lies in the polytope,
also where the polytope has no interior and no rounded point would pass a test of membership.

A set of affinely independent points is carried with their weights. If no vertex lies below the hyperplane through the
current point, it is the nearest one; else that vertex joins, and the nearest point of the affine hull is taken, walking
back to the face where the first weight vanishes as long as one is negative. Each stop is the nearest point of the hull
of the points carried, and the distance falls, so the algorithm ends.

For binary64 and mpmath (comparisons are written plainly); what is certified of the result is certified by the caller.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.numerics.numbers import Numbers, Real, Vector


def nearest_weights(K: Numbers, vertices: Sequence[Vector], target: Vector, tolerance: Real) -> list[Real]:
    """Weights, one a vertex, of the point of the hull that is nearest to `target` in the Euclidean norm.

    `tolerance` is relative: the last step gains less than that share of the squares involved.
    """
    points = [v - target for v in vertices]
    scale = max(p @ p for p in points)
    first = min(range(len(points)), key=lambda i: points[i] @ points[i])
    carried, weights = [first], [K(1)]
    for _ in range(20 * (len(points) + len(target))):
        x = _combined(K, points, carried, weights)
        lowest = min(range(len(points)), key=lambda i: x @ points[i])
        if lowest in carried or x @ x - x @ points[lowest] <= tolerance * scale:
            break
        carried, weights = _settled(K, points, [*carried, lowest], [*weights, K(0)])
    found = [K(0)] * len(points)
    for i, weight in zip(carried, weights, strict=True):
        found[i] = weight
    return found


def _combined(K: Numbers, points: Sequence[Vector], carried: Sequence[int], weights: Sequence[Real]) -> Vector:
    total = K.zeros(len(points[0]))
    for i, weight in zip(carried, weights, strict=True):
        total = total + points[i] * weight
    return total


def _settled(
    K: Numbers, points: Sequence[Vector], carried: list[int], weights: list[Real]
) -> tuple[list[int], list[Real]]:
    """The nearest point of the hull of the points carried: the last of them is new."""
    while True:
        wanted = _affine_weights(K, [points[i] for i in carried])
        if wanted is None:  # the new point adds nothing that rounding can tell
            return carried[:-1], weights[:-1] if sum(weights[:-1]) > 0 else [K(1)]
        if min(wanted) > 0:
            return carried, wanted
        shares = [w / (w - goal) for w, goal in zip(weights, wanted, strict=True) if goal <= 0 and w > goal]
        share = min(shares) if shares else K(0)
        weights = [w + (goal - w) * share for w, goal in zip(weights, wanted, strict=True)]
        leaving = min(
            (i for i, goal in enumerate(wanted) if goal <= 0), key=lambda i: weights[i], default=len(weights) - 1
        )
        carried = [i for place, i in enumerate(carried) if place != leaving]
        weights = [max(w, K(0)) for place, w in enumerate(weights) if place != leaving]
        total = sum(weights)
        weights = [w / total for w in weights] if total > 0 else [K(1) / len(weights)] * len(weights)
        if len(carried) == 1:
            return carried, [K(1)]


def _affine_weights(K: Numbers, points: Sequence[Vector]) -> list[Real] | None:
    """Weights with sum 1 of the point of the affine hull nearest to 0; None if the points are dependent."""
    base, others = points[0], points[1:]
    edges = [p - base for p in others]
    solved = gaussian_elimination([[a @ b for b in edges] for a in edges], [-(a @ base) for a in edges])
    return None if solved is None else [1 - sum(solved), *solved]


def gaussian_elimination(matrix: list[list[Real]], right: list[Real]) -> list[Real] | None:
    """The solution of a small linear system with partial pivoting; None if it is singular. Not for balls."""
    n = len(right)
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        if not abs(rows[pivot][i]) > 0:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i], strict=True)]
    solution: list[Real] = [0] * n
    for i in reversed(range(n)):
        solution[i] = (rows[i][n] - sum(rows[i][j] * solution[j] for j in range(i + 1, n))) / rows[i][i]
    return solution
