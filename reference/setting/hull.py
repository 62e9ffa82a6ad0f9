"""Exact membership in the convex hull of finitely many rational points.

conv{v_1, …, v_J} meets the box [low, high] if and only if the linear system

    λ ≥ 0,  Σ_j λ_j = 1,  low ≤ Σ_j λ_j v_j ≤ high

has a solution. It is decided by phase one of the simplex method in rational arithmetic with Bland's rule (R. G. Bland,
Math. Oper. Res. 2, 1977), which never cycles: the answer is exact, whatever the degeneracy.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Point = Sequence[Fraction]


def hull_meets_box(vertices: Sequence[Point], low: Point, high: Point) -> bool:
    """Whether some convex combination of `vertices` lies in the box (a point if low = high)."""
    if any(a > b for a, b in zip(low, high, strict=True)):
        return False
    rows, right = _system(vertices, low, high)
    return _has_nonnegative_solution(rows, right)


def _system(vertices: Sequence[Point], low: Point, high: Point) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Equations in (λ, s, t) ≥ 0: Σλ = 1, Σλ_j v_ji + s_i = high_i, s_i + t_i = high_i − low_i (where wide)."""
    wide = [i for i in range(len(low)) if low[i] < high[i]]
    size, count = len(vertices), len(wide)

    def row(first: Sequence[Fraction], *ones: int) -> list[Fraction]:
        tail = [Fraction(int(k in ones)) for k in range(2 * count)]
        return [*first, *tail]

    rows = [row([Fraction(1)] * size)]
    right = [Fraction(1)]
    for i in range(len(low)):
        coordinates = [vertex[i] for vertex in vertices]
        rows.append(row(coordinates, wide.index(i)) if i in wide else row(coordinates))
        right.append(high[i])
    for k, i in enumerate(wide):
        rows.append(row([Fraction(0)] * size, k, count + k))
        right.append(high[i] - low[i])
    return rows, right


def _has_nonnegative_solution(rows: list[list[Fraction]], right: list[Fraction]) -> bool:
    """Whether Ax = b has a solution x ≥ 0: minimise the sum of artificial variables from the basis they form."""
    table = [[*(row if b >= 0 else [-x for x in row]), abs(b)] for row, b in zip(rows, right, strict=True)]
    width = len(rows[0])
    basis = [width + i for i in range(len(table))]
    cost = [-sum((row[j] for row in table), Fraction(0)) for j in range(width + 1)]
    while (entering := next((j for j in range(width) if cost[j] < 0), None)) is not None:
        candidates = [(row[-1] / row[entering], basis[i], i) for i, row in enumerate(table) if row[entering] > 0]
        leaving = min(candidates)[2]
        _pivot(table, cost, leaving, entering)
        basis[leaving] = entering
    return cost[-1] == 0


def _pivot(table: list[list[Fraction]], cost: list[Fraction], r: int, c: int) -> None:
    pivot = table[r][c]
    table[r] = [x / pivot for x in table[r]]
    for other in (*table[:r], *table[r + 1 :], cost):
        factor = other[c]
        if factor:
            other[:] = [x - factor * y for x, y in zip(other, table[r], strict=True)]
