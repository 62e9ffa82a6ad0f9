"""The tested event, in words."""

from __future__ import annotations

import numpy as np

from audit.auditor.terms.outputs import ABSENT, Table
from audit.auditor.test.plan import Cutoff, Selected

Array = np.ndarray

SIDES = {0: "dataset", 1: "neighbour"}


def describe_event(cutoff: Cutoff, selected: Selected, table: Table) -> str:
    """What a cutoff of the plan selects, told by the burn-in draws that it would have selected."""
    margin, labels = selected.margin, selected.label
    size = min(len(margin), max(1, round(cutoff.share * len(margin))))
    limit = cutoff.threshold if cutoff.threshold is not None else np.sort(margin)[-size]
    chosen = margin >= limit
    parts = []
    for side in (1, 0):
        inside = chosen & (labels == side)
        if inside.any():
            parts.append(f"{_where(table, inside, labels == side)} is likelier on the {SIDES[side]}")
    return "; ".join(parts) or "no output stands out"


def _where(table: Table, inside: Array, guessed: Array) -> str:
    """The selected outputs, all of which are guessed to be from one side, in words."""
    if inside.all():
        return "any output"
    keys, first, counts = np.unique(table.keys[inside], return_index=True, return_counts=True)
    rows = np.flatnonzero(inside)[first]
    order = np.argsort(-counts, kind="stable")
    if counts[order[:6]].sum() >= 0.8 * inside.sum() and len(keys) < 0.5 * inside.sum():
        shown = [show(table, int(r)) for r in rows[order[:4]]]
        return "output " + " or ".join(shown) + (f" (and {len(keys) - 4} more)" if len(keys) > 4 else "")
    varying = [j for j in range(min(table.width, MANY)) if _varies(table, j)]
    if len(varying) == 1:
        if not np.isfinite(table.numbers[inside, varying[0]]).any():
            return f"output like {show(table, int(rows[order[0]]))}"
        return _ranges(table.numbers[:, varying[0]], inside, _entry(table, varying[0]))
    simple = [rule for j in varying for rule in _rules(table, j, inside, guessed)]
    best = min(simple, key=lambda rule: rule[0], default=(len(inside), ""))
    if best[0] <= NEARLY * inside.sum():
        return best[1]
    leaning = _leaning(table, varying, inside)
    return f"a learned score on {table.width} entries{leaning} ({inside.mean():.2%} of outputs)"


MANY = 64
"""Positions of the output that are tried for a simple description: chosen; it decides the words only."""
NEARLY = 0.05
"""A description may be wrong on so many outputs, as a share of those described: chosen; it decides the words only."""
CLEAR = 0.5
"""Standard deviations by which the selected outputs stand out at a position that is named: chosen; for words only."""


def _entry(table: Table, j: int) -> str:
    """How a position of the output is spoken of; entries are those of the flattened output, counted from 0."""
    return "output" if table.width == 1 else f"output with entry {j} (of 0–{table.width - 1})"


def _varies(table: Table, j: int) -> bool:
    x = table.numbers[np.isfinite(table.numbers[:, j]), j]
    return bool(np.ptp(_tokens(table, j)) or (len(x) and np.ptp(x)))


def _tokens(table: Table, j: int) -> Array:
    return np.zeros(len(table), dtype=np.int32) if table.tokens is None else table.tokens[:, j]


def _rules(table: Table, j: int, inside: Array, guessed: Array) -> list[tuple[int, str]]:
    """Simple conditions on one entry, each with the number of outputs that it describes wrongly.

    A token may also hold where the guess is the same and the plan, for caution, selects no more.
    """
    found = []
    tokens, x = _tokens(table, j), table.numbers[:, j]
    values, counts = np.unique(tokens[inside], return_counts=True)
    common = int(values[counts.argmax()])
    if common != 0:
        wrong = _wrong(tokens == common, inside, guessed)
        text = f"{_entry(table, j)} = {_named(table, common)}"
        found.append((wrong, f"output with at most {j} entries" if common == ABSENT else text))
    else:
        found.append((_wrong(tokens != ABSENT, inside, guessed), f"output with more than {j} entries"))
    known = np.flatnonzero(np.isfinite(x))
    order = known[np.argsort(x[known], kind="stable")]
    if len(order):
        steps = np.cumsum(np.where(inside[order], 1, -1))
        low, high = int(steps.argmax()), int(steps.argmin())
        total = int(inside.sum())
        found.append((total - int(steps[low]), f"{_entry(table, j)} ≤ {x[order[low]]:.4g}"))
        if high + 1 < len(order):
            gained = int(steps[-1] - steps[high])
            found.append((total - gained, f"{_entry(table, j)} ≥ {x[order[high + 1]]:.4g}"))
    return found


def _wrong(rule: Array, inside: Array, guessed: Array) -> int:
    return int((inside & ~rule).sum() + (rule & ~guessed).sum())


def _leaning(table: Table, varying: list[int], inside: Array) -> str:
    """In what the selected outputs stand out, at up to three entries."""
    leans = [lean for j in varying if (lean := _lean(table, j, inside)) is not None]
    clear = sorted((lean for lean in leans if lean[0] >= CLEAR), key=lambda lean: -lean[0])[:3]
    return ", " + ", ".join(text for _, text in clear) if clear else ""


def _lean(table: Table, j: int, inside: Array) -> tuple[float, str] | None:
    """By how many standard deviations the selected outputs stand out at an entry, and in which direction."""
    x, tokens = table.numbers[:, j], _tokens(table, j)
    if np.isfinite(x).all():
        away = (float(np.mean(x[inside])) - float(np.mean(x))) / (float(np.std(x)) or 1.0)
        return abs(away), f"{'high' if away > 0 else 'low'} at entry {j}"
    codes = np.unique(tokens)[:MANY]
    shares = [(float(np.mean(tokens == c)), float(np.mean(tokens[inside] == c)), int(c)) for c in codes]
    away, code = max(((p - q) / np.sqrt(q * (1 - q)), c) for q, p, c in shares if q < 1)
    name = {0: "a number", ABSENT: "absent"}.get(code) or _named(table, code)
    return float(away), f"often {name} at entry {j}"


def _ranges(x: Array, inside: Array, place: str) -> str:
    """Intervals that hold the selected numbers (up to three)."""
    known = np.isfinite(x)
    order = np.flatnonzero(known)[np.argsort(x[known], kind="stable")]
    flags = inside[order].astype(int)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags, [0]])))
    runs = sorted(edges.reshape(-1, 2).tolist(), key=lambda r: r[0] - r[1])[:3]
    texts = []
    for start, stop in sorted(runs):
        low, high = x[order[start]], x[order[stop - 1]]
        if stop - start == len(order):
            texts.append("a number")
        elif start == 0:
            texts.append(f"≤ {high:.4g}")
        elif stop == len(order):
            texts.append(f"≥ {low:.4g}")
        else:
            texts.append(_interval(float(low), float(high)))
    return f"{place} " + " or ".join(texts) + ("" if len(edges) <= 6 else " (and smaller ranges)")


def _interval(low: float, high: float) -> str:
    """An interval with so many digits, four at least, that its ends are told apart."""
    texts = [(f"{low:.{digits}g}", f"{high:.{digits}g}") for digits in range(4, 18)]
    a, b = next((pair for pair in texts if pair[0] != pair[1]), texts[0])
    return f"in [{a}, {b}]" if a != b else f"= {a}"


def show(table: Table, row: int) -> str:
    """One output as text."""
    leaves = []
    for j in range(table.width):
        code = 0 if table.tokens is None else int(table.tokens[row, j])
        if code == ABSENT:
            break
        text = f"{table.numbers[row, j]:.6g}" if code == 0 else _named(table, code)
        leaves.append(text)
    if len(leaves) > 12:
        leaves = [*leaves[:12], "…"]
    return leaves[0] if len(leaves) == 1 else f"({', '.join(leaves)})"


def _named(table: Table, code: int) -> str:
    return table.names.get(code, "?").removeprefix("str:")
