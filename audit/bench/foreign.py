"""Other people's bugs: which tool finds each of them, within how many calls; false findings; and what looking costs.

For every specimen of `audit.zoo_foreign`, over 20 seeds: the tool that finds it (a lint, the replay, or the test; the
lints and the replay come first, the test starts when they are silent) and the largest number of calls that took, both
sides together. Then every finding on the repaired twins and on the correct mechanisms of the zoo, over 20 seeds each,
which should be none. Then the processor time of lints and capture against 1000 bare calls of one millisecond.

`DPSO_BENCH=quick` measures two seeds.
"""

from __future__ import annotations

import os
import statistics
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from audit.blackbox.auditor import audit_dp
from audit.blackbox.sampling import TEST, BlockName, CallableTarget, Pair, draw_block
from audit.foreign.lints import Inspection, inspect
from audit.zoo import entries
from audit.zoo_foreign import Make, Specimen, specimens

HELP = "bugs of real optimisers: found by which tool, within how many calls; false findings; overhead"

SEEDS = 20
MOST_CALLS = 1000
OVERHEAD_TARGET = 0.2
REPLAY_KINDS = frozenset(
    {"sensitivity", "shared-noise", "unnoised-path", "data-dependent-scale", "data-dependent-noise"}
)
REMARKS = frozenset({"global-state"})
"""Findings that state a fact about a correct mechanism."""


def run(progress: Callable[[str], None], **options: Any) -> dict[str, Any]:
    """Measure. Options: seeds, names, overhead (keywords of `overhead`)."""
    seeds = options.get("seeds", 2 if os.environ.get("DPSO_BENCH") == "quick" else SEEDS)
    names = options.get("names")
    rows, false = [], []
    for specimen in specimens():
        if names and specimen.name not in names:
            continue
        progress(specimen.name)
        rows.append(caught(specimen, seeds))
        false.append({"name": f"{specimen.name}, repaired", "findings": dict(_twin(specimen, seeds))})
    for entry in entries():
        if entry.correct and not names:
            progress(f"zoo: {entry.name}")
            counts = Counter(
                kind
                for seed in range(seeds)
                for kind in _kinds(
                    inspect(
                        entry.mechanism,
                        entry.dataset,
                        entry.neighbour,
                        epsilon=entry.epsilon,
                        delta=entry.delta,
                        seed=seed,
                    )
                )
            )
            false.append({"name": entry.name, "findings": dict(counts)})
    progress("overhead at 1 ms a call")
    return {
        "seeds": seeds,
        "rows": rows,
        "false": false,
        "overhead": overhead(**options.get("overhead", {})),
        "target": OVERHEAD_TARGET,
    }


def _kinds(inspection: Inspection) -> set[str]:
    return {f.kind for f in inspection.findings} - REMARKS


def look(specimen: Specimen, make: Make, seed: int) -> Inspection:
    """Lints and replay on one side of a specimen."""
    return inspect(
        make(specimen.epsilon),
        specimen.dataset,
        specimen.neighbour,
        epsilon=specimen.epsilon,
        delta=specimen.delta,
        make=make,
        seed=seed,
    )


def _twin(specimen: Specimen, seeds: int) -> Counter[str]:
    return Counter(kind for seed in range(seeds) for kind in _kinds(look(specimen, specimen.repaired, seed)))


def caught(specimen: Specimen, seeds: int) -> dict[str, Any]:
    """How often, by which tool, and within how many calls a bug is found."""
    tools: Counter[str] = Counter()
    calls = []
    for seed in range(seeds):
        tool, used = find(specimen, seed)
        tools[tool] += 1
        calls.append(used)
    return {
        "name": specimen.name,
        "about": specimen.about,
        "claim": specimen.epsilon,
        "true": specimen.true_epsilon if np.isfinite(specimen.true_epsilon) else None,
        "found": seeds - tools["nothing"],
        "by": dict(tools),
        "calls": int(statistics.median(calls)),
        "most_calls": max(calls),
    }


def find(specimen: Specimen, seed: int) -> tuple[str, int]:
    """The tool that finds the bug, and the calls used up to then."""
    seen = look(specimen, specimen.make, seed)
    kinds = {f.kind for f in seen.findings}
    hit = kinds & specimen.kinds
    if hit:
        return ("replay" if hit <= REPLAY_KINDS else "lint"), seen.calls
    result = audit_dp(
        specimen.make(specimen.epsilon),
        specimen.dataset,
        specimen.neighbour,
        epsilon=specimen.epsilon,
        delta=specimen.delta,
        samples=(MOST_CALLS - seen.calls) // 2,
        seed=seed,
        neighbours=specimen.relation,
        anytime=True,
    )
    return ("test" if result.violated else "nothing"), seen.calls + 2 * result.samples


def overhead(calls: int = MOST_CALLS, repeats: int = 3) -> float:
    """Processor time of lints and `calls` captured draws over that of `calls` bare calls of 1 ms, less one; median."""

    def mechanism(dataset: Any, rng: np.random.Generator) -> float:
        end = time.process_time() + 0.001
        while time.process_time() < end:
            sum(range(100))
        return float(dataset[0] + rng.laplace())

    def bare() -> float:
        rng, begun = np.random.default_rng(0), time.process_time()
        for _ in range(calls):
            mechanism([0.0], rng)
        return time.process_time() - begun

    def watched() -> float:
        begun = time.process_time()
        inspect(mechanism, [0.0], [1.0], epsilon=1.0)
        target = CallableTarget(mechanism, timeout=60.0)
        draw_block(target, Pair([0.0], [1.0]), BlockName(0, TEST, 0, 0), calls)
        return time.process_time() - begun

    return statistics.median(watched() / bare() for _ in range(repeats)) - 1


def render(result: dict[str, Any]) -> str:
    """Markdown: the bugs, the false findings, the overhead."""
    seeds = result["seeds"]
    lines = [
        "| bug | claimed ε | true ε | found | by | calls, median | calls, most |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        true = "∞" if row["true"] is None else f"{row['true']:.3g}"
        by = ", ".join(tool for tool in ("lint", "replay", "test") if row["by"].get(tool))
        lines.append(
            f"| {row['about']} | {row['claim']:g} | {true} | {row['found']}/{seeds} | {by} | {row['calls']} |"
            f" {row['most_calls']} |"
        )
    alarms = [f"{row['name']}: {row['findings']}" for row in result["false"] if row["findings"]]
    count = sum(sum(row["findings"].values()) for row in result["false"])
    lines += [
        "",
        f"False findings on {len(result['false'])} repaired or correct mechanisms, {seeds} seeds each: {count}"
        + (f" ({'; '.join(alarms)})" if alarms else "."),
        f"Lints and capture on top of {MOST_CALLS} calls of 1 ms: {100 * result['overhead']:.1f} %"
        f" (target ≤ {100 * result['target']:.0f} %).",
    ]
    return "\n".join(lines)
