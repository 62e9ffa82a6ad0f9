"""Our own guarantees under attack: hostile records, and releases at the corners of the arithmetic."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from bench.corners import ATTACKS, CONTROLS, attack
from bench.hostile import Run, dataset, failure, runs

HELP = "hostile records (10⁴ datasets an algorithm), and our noise attacked at the corners of the arithmetic"

DATASETS = 10_000
"""Hostile datasets an algorithm."""
EACH = 2
"""Runs (variant, set, loss, number system) that meet a dataset."""
TRIALS = {
    "2": 500,
    "2, given parameters": 300,
    "2, fast engine": 400,
    "3": 250,
    "3, fast engine": 250,
    "4": 2000,
    "4, fast engine": 1000,
    "5": 2000,
    "5, fast engine": 1000,
    "6": 2000,
    "6, fast engine": 1000,
}
"""Attacks an algorithm; a trial keeps the worst of three to six pairs."""


def hostile(say: Callable[[str], None], seed: int, datasets: int = DATASETS) -> dict[str, Any]:
    """Every algorithm meets `datasets` of them, each in `EACH` of its runs; what failed, by algorithm."""
    found: dict[str, Any] = {}
    for algorithm in (2, 3, 4, 5, 6):
        own: Sequence[Run] = [run for run in runs() if run.algorithm == algorithm]
        failures: Counter[str] = Counter()
        for i in range(datasets):
            data, rng = dataset(seed + i), Random(f"{seed}|{algorithm}|{i}")
            for run in rng.sample(own, EACH):
                why = failure(run, data, seed + i)
                failures.update([f"{run.name}: {why[:80]}"] if why else [])
            if (i + 1) % 2000 == 0:
                say(f"Algorithm {algorithm}: {i + 1} hostile datasets, {sum(failures.values())} failures")
        found[str(algorithm)] = {"datasets": datasets, "runs": datasets * EACH, "kinds of run": len(own)}
        found[str(algorithm)] |= {"failures": sum(failures.values()), "first": [*failures][:3]}
    return {"hostile": {"seed": seed, "by algorithm": found}}


def corners(say: Callable[[str], None], seed: int, share: float = 1) -> dict[str, Any]:
    """The attack, and its control; `share` of `TRIALS`."""
    found: dict[str, Any] = {}
    for name, one in ATTACKS.items():
        count = max(1, round(TRIALS[name] * share))
        row: dict[str, Any] = {"trials": count, "refused": 0, "above": 0, "largest": 0.0, "where": ""}
        for trial in attack(one, seed, count):
            row["refused"] += trial.refused
            row["above"] += trial.spent > 1
            if trial.spent > row["largest"]:
                row |= {"largest": trial.spent, "where": trial.name}
        if name in CONTROLS:
            spent = [trial.spent for trial in attack(CONTROLS[name], seed, count) if not trial.refused]
            row |= {"control above": sum(x > 1 for x in spent), "control largest": max(spent)}
        say(f"Algorithm {name}: {row}")
        found[name] = row
    return {"corners": {"seed": seed, "by algorithm": found}}


PARTS: dict[str, Callable[..., dict[str, Any]]] = {"hostile": hostile, "corners": corners}


def run(say: Callable[[str], None], parts: Sequence[str] = (), seed: int | None = None, **_: Any) -> dict[str, Any]:
    """Both parts, or those named, with a fresh seed."""
    seed = secrets.randbits(32) if seed is None else seed
    result: dict[str, Any] = {}
    for part in parts or PARTS:
        result |= PARTS[part](say, seed)
    return result


def render(result: dict[str, Any]) -> str:
    """Two markdown tables."""
    lines: list[str] = []
    if "hostile" in result:
        lines += [
            "| algorithm | hostile datasets | runs | exceptions or infinite outputs | target |",
            "|---|---|---|---|---|",
        ]
        for name, row in result["hostile"]["by algorithm"].items():
            lines.append(f"| {name} | {row['datasets']} | {row['runs']} | {row['failures']} | 0 |")
    if "corners" in result:
        lines += [
            "",
            "| algorithm | attacks | refused | above the claim | largest share of the claim | without a reserve |",
        ]
        lines += ["|---|---|---|---|---|---|"]
        for name, row in result["corners"]["by algorithm"].items():
            control = (
                f"{row['control above']} above, up to {row['control largest']:.3g}" if "control above" in row else ""
            )
            largest = f"{row['largest']:.12f}"
            lines.append(f"| {name} | {row['trials']} | {row['refused']} | {row['above']} | {largest} | {control} |")
    return "\n".join(lines).strip()
