"""The tested event, in words."""

from __future__ import annotations

import numpy as np

from audit.blackbox.outputs import ABSENT, Table
from audit.blackbox.plan import Rung, Selected

Array = np.ndarray

SIDES = {0: "dataset", 1: "neighbour"}


def describe_event(rung: Rung, selected: Selected, table: Table) -> str:
    """What a rung of the plan selects, told by the burn-in draws that it would have selected."""
    sure, labels = selected.sure, selected.label
    size = min(len(sure), max(1, round(rung.share * len(sure))))
    limit = rung.threshold if rung.threshold is not None else np.sort(sure)[-size]
    chosen = sure >= limit
    parts = []
    for side in (1, 0):
        inside = chosen & (labels == side)
        if inside.any():
            parts.append(f"{_where(table, inside, chosen & (labels != side))} speaks for the {SIDES[side]}")
    return "; ".join(parts) or "no output stands out"


def _where(table: Table, inside: Array, other: Array) -> str:
    keys, first, counts = np.unique(table.keys[inside], return_index=True, return_counts=True)
    rows = np.flatnonzero(inside)[first]
    order = np.argsort(-counts, kind="stable")
    if counts[order[:6]].sum() >= 0.8 * inside.sum() and len(keys) < 0.5 * inside.sum():
        shown = [show(table, int(r)) for r in rows[order[:4]]]
        return "output " + " or ".join(shown) + (f" (and {len(keys) - 4} more)" if len(keys) > 4 else "")
    if table.width == 1:
        return _ranges(table.numbers[:, 0], inside)
    return f"a learned score on {table.width} coordinates ({inside.mean():.2%} of outputs)"


def _ranges(x: Array, inside: Array) -> str:
    """Intervals that hold the selected numbers (up to three)."""
    known = np.isfinite(x)
    order = np.flatnonzero(known)[np.argsort(x[known], kind="stable")]
    flags = inside[order].astype(int)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags, [0]])))
    runs = sorted(edges.reshape(-1, 2).tolist(), key=lambda r: r[0] - r[1])[:3]
    texts = []
    for start, stop in sorted(runs):
        low, high = x[order[start]], x[order[stop - 1]]
        if start == 0:
            texts.append(f"≤ {high:.4g}")
        elif stop == len(order):
            texts.append(f"≥ {low:.4g}")
        else:
            texts.append(f"in [{low:.4g}, {high:.4g}]")
    return "output " + " or ".join(texts) + ("" if len(edges) <= 6 else " (and smaller ranges)")


def show(table: Table, row: int) -> str:
    """One output as text."""
    leaves = []
    for j in range(table.width):
        code = 0 if table.tokens is None else int(table.tokens[row, j])
        if code == ABSENT:
            break
        text = f"{table.numbers[row, j]:.6g}" if code == 0 else table.names.get(code, "?").removeprefix("str:")
        leaves.append(text)
    if len(leaves) > 12:
        leaves = [*leaves[:12], "…"]
    return leaves[0] if len(leaves) == 1 else f"({', '.join(leaves)})"
