"""Other people's bugs: which tool finds each of them, within how many calls; false findings; and what looking costs.

For every specimen of `bench.specimens`, over 20 seeds: the tool that finds it (a lint, the replay, or the test; the
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
from dataclasses import replace
from typing import Any

import numpy as np

from audit.auditor.api import audit_dp
from audit.auditor.lints.look import inspected
from audit.auditor.lints.preflight import PREFLIGHT_CALLS, after_run
from audit.auditor.lints.rules import Allowance, Inspection, enough_calls, inspect
from audit.auditor.targets.run import Run
from audit.auditor.targets.sampling import TEST, BlockName, CallableTarget, Pair, draw_block
from audit.auditor.terms.claim import Claim
from audit.auditor.terms.options import Code
from bench.specimens import Make, Specimen, specimens
from bench.zoo import entries

HELP = "bugs of real optimisers: found by which tool, within how many calls; false findings; overhead"

SEEDS = 20
MOST_CALLS = 1000
OVERHEAD_TARGET = 0.2
REPLAY_KINDS = frozenset(
    {"sensitivity", "composition", "shared-noise", "unnoised-path", "data-dependent-scale", "data-dependent-noise"}
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
                    inspect_alone(
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


def inspect_alone(
    mechanism: Callable[..., Any],
    dataset: Any,
    neighbour: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    seed: int = 0,
    make: Make | None = None,
    calls: int | None = None,
    timeout: float | None = 60.0,
) -> Inspection:
    """The lints without an audit around them, and what was noticed while the mechanism ran."""
    claim, target = Claim(epsilon, delta), CallableTarget(mechanism, None, timeout)
    allowance = Allowance(enough_calls(claim) if calls is None else calls)
    seen = inspect(target, Pair(dataset, neighbour), claim, allowance, seed=seed, make=make)
    noticed = [f for f in after_run(target) if f.kind not in {g.kind for g in seen.findings}]
    return replace(seen, findings=[*seen.findings, *noticed])


def look(specimen: Specimen, make: Make, seed: int) -> Inspection:
    """Lints and replay on one side of a specimen."""
    return inspect_alone(
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


def find(specimen: Specimen, seed: int, most: int = MOST_CALLS) -> tuple[str, int]:
    """The tool that finds the bug, and the calls made up to then, each one counted: lints, checks and draws."""
    calls = [0]

    def make(epsilon: float) -> Callable[..., Any]:
        mechanism = specimen.make(epsilon)

        def counted(dataset: Any, rng: np.random.Generator) -> Any:
            calls[0] += 1
            return mechanism(dataset, rng)

        return counted

    target = CallableTarget(make(specimen.epsilon), timeout=60.0)
    pair = Pair(specimen.dataset, specimen.neighbour)
    epsilon, delta = specimen.epsilon, specimen.delta
    found = inspected(Run(target, Claim(epsilon, delta), Code(make=make), seed=seed, draws=most, pairs=[pair]))
    hit = {f.kind for f in [*found, *after_run(target)]} & specimen.kinds
    if hit:
        return ("replay" if hit <= REPLAY_KINDS else "lint"), calls[0]
    result = audit_dp(
        target,
        specimen.dataset,
        specimen.neighbour,
        epsilon=epsilon,
        delta=delta,
        samples=(most - calls[0] - PREFLIGHT_CALLS) // 2,
        seed=seed,
        neighbours=specimen.relation,
        anytime=True,
        lints=False,
    )
    return ("test" if result.violated else "nothing"), calls[0]


def _busy(rng: np.random.Generator, answer: float) -> float:
    """About 1 ms of work, then a noisy answer."""
    end = time.process_time() + 0.001
    while time.process_time() < end:
        sum(range(100))
    return float(answer + rng.laplace())


def _plain(dataset: Any, rng: np.random.Generator) -> float:
    return _busy(rng, dataset[0])


def _rarely(dataset: Any, rng: np.random.Generator) -> float:
    """The record takes part once in a thousand calls: the replay looks for it in vain, as long as it may."""
    return _busy(rng, dataset[0] if rng.random() < 0.001 else 0.0)


COSTS: dict[str, tuple[Callable[..., Any], float]] = {"typical": (_plain, 1.0), "worst": (_rarely, 3.0)}
"""A mechanism and a claim: a larger ε needs more calls until "always here, never there" means something."""


def overhead(calls: int = MOST_CALLS, repeats: int = 3) -> dict[str, float]:
    """Processor time of lints and `calls` captured draws over that of `calls` bare calls of 1 ms, less one; median."""

    def bare(mechanism: Callable[..., Any]) -> float:
        rng, begun = np.random.default_rng(0), time.process_time()
        for _ in range(calls):
            mechanism([0.0], rng)
        return time.process_time() - begun

    def watched(mechanism: Callable[..., Any], epsilon: float) -> float:
        begun = time.process_time()
        target, pair = CallableTarget(mechanism, timeout=60.0), Pair([0.0], [1.0])
        inspected(Run(target, Claim(epsilon), draws=calls, pairs=[pair]))
        draw_block(target, pair, BlockName(0, TEST, 0, 0), calls)
        return time.process_time() - begun

    return {
        name: statistics.median(watched(mechanism, epsilon) / bare(mechanism) for _ in range(repeats)) - 1
        for name, (mechanism, epsilon) in COSTS.items()
    }


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
        f"Lints and capture on top of {MOST_CALLS} calls of 1 ms: "
        + ", ".join(f"{name} {100 * cost:.1f} %" for name, cost in result["overhead"].items())
        + f" (target ≤ {100 * result['target']:.0f} %).",
    ]
    return "\n".join(lines)
