"""The auditor's constants: how much the bound moves when each is halved or doubled.

Validity depends on none of them; power might. For mechanisms of the zoo (every second one with a finite ε, three seeds,
10 000 draws a side) the share of the true ε that the audit certifies is averaged, with each constant as it is, halved
and doubled.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from audit.auditor.api import audit_dp
from bench.zoo import Entry, entries

HELP = "the auditor's constants halved and doubled: what moves?"

SAMPLES = 10_000
SEEDS = (11, 12, 13)
EVERY = 2
CONSTANTS = (
    "learn.features.FEW_VALUES",
    "learn.features.HINGE_PENALTY",
    "learn.features.LEAST_BENT",
    "learn.features.LEVEL_PENALTY",
    "learn.features.LINEAR_PENALTY",
    "learn.features.RARE",
    "learn.features.STEP_PENALTY",
    "learn.logistic.TOLERANCE",
    "learn.scores.FOLDS",
    "learn.scores.REPEAT_ERROR",
    "learn.wide.FOLDS",
    "learn.wide.TOP",
    "targets.run.BIT_SHARE",
    "test.budget.BURN_LEAST",
    "test.budget.BURN_SHARE",
    "test.plan.CALIBRATION_PENALTY",
    "test.plan.DISCOUNT",
    "test.plan.ROUNDING",
    "test.plan.SAFETY",
    "test.plan.SMOOTHING",
    "test.plan.WORTH",
)


def run(progress: Callable[[str], None], **options: Any) -> dict[str, Any]:
    """Measure. Options: constants, samples, every."""
    samples, every = options.get("samples", SAMPLES), options.get("every", EVERY)
    known = [(e, true) for e in entries() if 0.05 < (true := _true(e)) < math.inf][::every]
    base = _shares(known, samples)
    rows = []
    for name in options.get("constants", CONSTANTS):
        progress(name)
        halved, doubled = (_shares(known, samples, name, factor) - base for factor in (0.5, 2))
        rows.append({"name": name, "halved": _moved(halved), "doubled": _moved(doubled)})
    return {"mechanisms": len(known), "samples": samples, "share": float(base.mean()), "rows": rows}


def _true(entry: Entry) -> float:
    return float(entry.law.true_epsilon(entry.delta))


def _shares(known: list[tuple[Entry, float]], samples: int, name: str = "", factor: float = 1.0) -> np.ndarray:
    """The share of the true ε that each audit certifies, with one constant multiplied."""
    holders, constant = _holders(name) if name else ([], "")
    before = [getattr(holder, constant) for holder in holders]
    try:
        for holder, value in zip(holders, before, strict=True):
            setattr(holder, constant, max(2, int(value * factor)) if isinstance(value, int) else value * factor)
        return np.array([_certified(e, seed, samples) / true for e, true in known for seed in SEEDS])
    finally:
        for holder, value in zip(holders, before, strict=True):
            setattr(holder, constant, value)


def _holders(name: str) -> tuple[list[Any], str]:
    """The modules that hold a constant: its own, and the one that imports it."""
    home, _, constant = name.rpartition(".")
    modules = [importlib.import_module(f"audit.auditor.{module}") for module in (home, "api")]
    return [module for module in modules if hasattr(module, constant)], constant


def _certified(entry: Entry, seed: int, samples: int) -> float:
    result = audit_dp(
        entry.mechanism,
        entry.dataset,
        entry.neighbour,
        epsilon=entry.epsilon,
        delta=entry.delta,
        neighbours="any",
        samples=samples,
        seed=seed,
        lints=False,
    )
    return result.epsilon_lower


def _moved(change: np.ndarray) -> list[float]:
    """Mean, least and largest change, in percentage points."""
    return [round(100 * float(x), 1) + 0.0 for x in (change.mean(), change.min(), change.max())]


def render(result: dict[str, Any]) -> str:
    """Markdown: one row a constant."""
    lines = [
        f"{result['mechanisms']} mechanisms, {len(SEEDS)} seeds, {result['samples']:,} draws a side: an audit certifies"
        f" {100 * result['share']:.0f} % of the true ε on average. Change in percentage points: mean (least … largest"
        " over audits).",
        "",
        "| constant | halved | doubled |",
        "|---|---|---|",
    ]
    for row in result["rows"]:
        cells = [f"{mean:+.1f} ({low:+.1f} … {high:+.1f})" for mean, low, high in (row["halved"], row["doubled"])]
        lines.append(f"| `{row['name']}` | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)
