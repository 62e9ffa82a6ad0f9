"""Exact matrix games: min_λ max_j Σ_i λ_i M_ij over the simplex, in rationals.

The stationarity gap inf_{g∈∂f(w)} sup_{v∈W}⟨g, w−v⟩ is such a game when ∂f(w) and W are convex hulls of finitely
many points, and so is dist_*(0, ∂f(w)) when the unit ball is a polytope. Solved by the simplex method with Bland's
rule (it cannot cycle), so the value is a rational number and both optimal strategies come with it as a certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from reference.numerics.preconditions import require


@dataclass(frozen=True)
class GameSolution:
    """The value, an optimal mixture of the rows (minimising) and one of the columns (maximising)."""

    value: Fraction
    rows: tuple[Fraction, ...]
    columns: tuple[Fraction, ...]


def matrix_game(matrix: Sequence[Sequence[Fraction | int]]) -> GameSolution:
    """Solve min over rows' mixtures of max over columns.

    With all entries shifted to be positive the value v is positive, and x = λ/v turns the problem into: maximise
    Σx_i subject to Σ_i M_ij x_i ≤ 1, x ≥ 0, whose slack basis is feasible.
    """
    require(bool(matrix) and bool(matrix[0]), "matrix", matrix, "have at least one row and one column")
    shift = 1 - min(Fraction(x) for row in matrix for x in row)
    M = [[Fraction(x) + shift for x in row] for row in matrix]
    m, n = len(M), len(M[0])
    table = [[M[i][j] for i in range(m)] + [Fraction(int(j == k)) for k in range(n)] + [Fraction(1)] for j in range(n)]
    cost = [Fraction(-1)] * m + [Fraction(0)] * (n + 1)
    basis = list(range(m, m + n))
    while (entering := next((j for j, c in enumerate(cost[:-1]) if c < 0), None)) is not None:
        leaving = _leaving(table, basis, entering)
        _pivot(table, cost, leaving, entering)
        basis[leaving] = entering
    x = [Fraction(0)] * (m + n)
    for row, variable in zip(table, basis, strict=True):
        x[variable] = row[-1]
    total = cost[-1]
    columns = tuple(c / total for c in cost[m : m + n])
    return GameSolution(1 / total - shift, tuple(y / total for y in x[:m]), columns)


def _leaving(table: list[list[Fraction]], basis: list[int], entering: int) -> int:
    """The row of the smallest ratio; ties by the lowest variable (Bland)."""
    ratios = [(row[-1] / row[entering], basis[i], i) for i, row in enumerate(table) if row[entering] > 0]
    return min(ratios)[2]


def _pivot(table: list[list[Fraction]], cost: list[Fraction], leaving: int, entering: int) -> None:
    pivot = table[leaving][entering]
    table[leaving] = [x / pivot for x in table[leaving]]
    for i, row in enumerate(table):
        if i != leaving and row[entering]:
            factor = row[entering]
            table[i] = [x - factor * y for x, y in zip(row, table[leaving], strict=True)]
    factor = cost[entering]
    cost[:] = [x - factor * y for x, y in zip(cost, table[leaving], strict=True)]
