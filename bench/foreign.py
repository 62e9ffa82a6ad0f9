"""Other people's bugs: which tool finds each of them, within how many calls; false findings; and what looking costs.

For every specimen of `bench.specimens`, over 20 seeds: the tool that finds it (a lint, the replay, or the test; the
lints and the replay come first, the test starts when they are silent) and the largest number of calls that took, both
sides together. Then every finding on the repaired twins and on the correct mechanisms of the zoo, over 20 seeds each,
which should be none. Seeds are drawn anew for every measurement. Parts, each of which can be measured (and recorded) on
its own:

- `bugs`: the specimens, as said;
- `false`: findings of the lints on the twins, the correct zoo, and mechanisms that are easily suspected;
- `verdicts`: whole audits of the same, with their lints;
- `search`: the specimens that break their claim, given an example in place of a pair;
- `overhead`: processor time of lints and capture against 1000 bare calls of one millisecond;
- `textbook`: transcripts of textbook compositions against their exact ε (`bench.textbook`);
- `shares`: what worst-case transcripts of the paper's algorithms spend of the certified ε (`bench.transcripts`).

`DPSO_BENCH=quick` measures two seeds.
"""

from __future__ import annotations

import os
import secrets
import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audit.auditor.api import audit_dp
from audit.auditor.lints.look import inspected
from audit.auditor.lints.preflight import PREFLIGHT_CALLS, after_run
from audit.auditor.lints.rules import Allowance, Inspection, enough_calls, inspect
from audit.auditor.search.neighbours import Space
from audit.auditor.targets.run import Run
from audit.auditor.targets.sampling import TEST, BlockName, CallableTarget, Pair, draw_block
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.options import Code
from audit.auditor.terms.result import AuditResult
from bench.specimens import Make, Specimen, innocents, specimens
from bench.textbook import compared
from bench.transcripts import shares
from bench.zoo import entries

HELP = "bugs of real optimisers: found by which tool, within how many calls; false findings; overhead"

Progress = Callable[[str], None]

SEEDS = 20
MOST_CALLS = 1000
OVERHEAD_TARGET = 0.2
SEARCH_SECONDS = 60.0
VERDICT_SAMPLES = 1000
VERDICT_CONFIDENCE = 1 - 1e-6
"""Of audits of what is correct: a false alarm in a thousand of them has a chance of 1e-3 at most."""
REPLAY_KINDS = frozenset(
    {
        "sensitivity",
        "composition",
        "shared-noise",
        "unnoised-path",
        "data-dependent-scale",
        "data-dependent-noise",
        "output-law",
        "transcript",
    }
)
REMARKS = frozenset({"global-state"})
"""Findings that state a fact about a correct mechanism."""


def run(progress: Callable[[str], None], parts: Sequence[str] = (), **options: Any) -> dict[str, Any]:
    """Measure the parts (default: all). Options: seeds (how many), first (default: a fresh one), names, overhead
    (keywords of `overhead`).
    """
    quick = os.environ.get("DPSO_BENCH") == "quick"
    chosen = {"seeds": 2 if quick else SEEDS, "first": secrets.randbits(31), "names": None, "overhead": {}, **options}
    result: dict[str, Any] = {"seeds": chosen["seeds"], "target": OVERHEAD_TARGET}
    for part in parts or PARTS:
        progress(f"part {part}, seeds from {chosen['first']}")
        result[part] = PARTS[part](chosen, progress)
        result[f"first seed of {part}"] = chosen["first"]
    return result


def _seeds(options: Mapping[str, Any]) -> range:
    return range(options["first"], options["first"] + options["seeds"])


def _bugs(options: Mapping[str, Any], progress: Progress) -> list[dict[str, Any]]:
    rows = []
    for specimen in specimens():
        if not options["names"] or specimen.name in options["names"]:
            progress(specimen.name)
            rows.append(caught(specimen, _seeds(options)))
    return rows


@dataclass(frozen=True)
class Correct:
    """A mechanism that keeps its claim on this pair."""

    name: str
    mechanism: Callable[..., Any]
    dataset: Any
    neighbour: Any
    epsilon: float
    delta: float
    relation: str = "replace-one"
    make: Make | None = None


def correct(names: Sequence[str] | None = None) -> list[Correct]:
    """The repaired twins, the correct mechanisms of the zoo, and those that are easily suspected."""
    found = [
        Correct(
            f"{s.name}, repaired", s.repaired(s.epsilon), s.dataset, s.neighbour, s.epsilon, s.delta, s.relation,
            s.repaired,
        )
        for s in specimens()
        if not names or s.name in names
    ]  # fmt: skip
    if not names:
        zoo = [e for e in entries() if e.correct]
        found += [Correct(e.name, e.mechanism, e.dataset, e.neighbour, e.epsilon, e.delta, "any") for e in zoo]
        found += [Correct(i.name, i.mechanism, i.dataset, i.neighbour, i.epsilon, i.delta) for i in innocents()]
    return found


def _false(options: Mapping[str, Any], progress: Progress) -> list[dict[str, Any]]:
    """Findings of the lints on what is correct, by kind."""
    rows = []
    for c in correct(options["names"]):
        progress(c.name)
        counts: Counter[str] = Counter()
        for seed in _seeds(options):
            seen = inspect_alone(
                c.mechanism, c.dataset, c.neighbour, epsilon=c.epsilon, delta=c.delta, seed=seed, make=c.make
            )
            counts.update(_kinds(seen))
        rows.append({"name": c.name, "findings": dict(counts)})
    return rows


def _verdicts(options: Mapping[str, Any], progress: Progress) -> list[dict[str, Any]]:
    """Verdicts of whole audits of what is correct."""
    rows = []
    for c in correct(options["names"]):
        progress(c.name)
        counts: Counter[str] = Counter(
            audit_dp(
                c.mechanism, c.dataset, c.neighbour, epsilon=c.epsilon, delta=c.delta, neighbours=c.relation,
                samples=VERDICT_SAMPLES, confidence=VERDICT_CONFIDENCE, seed=seed, make=c.make,
            ).verdict
            for seed in _seeds(options)
        )  # fmt: skip
        rows.append({"name": c.name, "verdicts": dict(counts)})
    return rows


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
    claim, target = Epsilon(epsilon, delta), CallableTarget(mechanism, None, timeout)
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


def caught(specimen: Specimen, seeds: range) -> dict[str, Any]:
    """How often, by which tool, and within how many calls a bug is found."""
    tools: Counter[str] = Counter()
    calls = []
    for seed in seeds:
        tool, used = find(specimen, seed)
        tools[tool] += 1
        calls.append(used)
    return {
        "name": specimen.name,
        "about": specimen.about,
        "claim": specimen.epsilon,
        "true": specimen.true_epsilon if np.isfinite(specimen.true_epsilon) else None,
        "found": len(seeds) - tools["nothing"],
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
    found = inspected(Run(target, Epsilon(epsilon, delta), Code(make=make), seed=seed, draws=most, pairs=[pair]))
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


def example_like(specimen: Specimen) -> Any:
    """A dataset that gives the form of a specimen's and nothing of its pair: varied numbers in [0, 1], unit rows."""
    rng, data = np.random.default_rng(3), specimen.dataset
    if isinstance(data, tuple):
        signs = np.where(np.arange(len(data[1])) % 2 == 0, 1.0, -1.0)
        return rng.uniform(0, 1, size=data[0].shape), signs
    return np.eye(data.shape[1])[:4] if data.ndim == 2 else rng.uniform(0, 1, size=len(data))


def searched(specimen: Specimen, make: Make, seed: int, samples: int = 20_000) -> AuditResult:
    """An audit that is given an example in place of a pair."""
    beyond = 1000.0 if specimen.clips else 1.0
    space = Space(like=example_like(specimen), relation=specimen.relation, labels_beyond=beyond)
    return audit_dp(
        make(specimen.epsilon),
        space,
        neighbours="search",
        epsilon=specimen.epsilon,
        delta=specimen.delta,
        samples=samples,
        seconds=SEARCH_SECONDS,
        seed=seed,
    )


def search_rows(progress: Callable[[str], None], names: Sequence[str] | None, seed: int = 1) -> list[dict[str, Any]]:
    """For each bug that breaks its claim, and its twin: the verdict of a search, and the seconds it took."""
    rows = []
    for specimen in specimens():
        if specimen.broken and (not names or specimen.name in names):
            progress(f"search: {specimen.name}")
            bug, twin = (searched(specimen, make, seed) for make in (specimen.make, specimen.repaired))
            rows.append(
                {"name": specimen.name, "verdict": bug.verdict, "seconds": round(bug.seconds, 1), "twin": twin.verdict}
            )
    return rows


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
        inspected(Run(target, Epsilon(epsilon), draws=calls, pairs=[pair]))
        draw_block(target, pair, BlockName(0, TEST, 0, 0), calls)
        return time.process_time() - begun

    return {
        name: statistics.median(watched(mechanism, epsilon) / bare(mechanism) for _ in range(repeats)) - 1
        for name, (mechanism, epsilon) in COSTS.items()
    }


PARTS: dict[str, Callable[[Mapping[str, Any], Progress], Any]] = {
    "bugs": _bugs,
    "false": _false,
    "verdicts": _verdicts,
    "search": lambda options, progress: search_rows(progress, options["names"], options["first"]),
    "overhead": lambda options, _: overhead(**options["overhead"]),
    "textbook": lambda options, progress: [] if options["names"] else compared(progress, _seeds(options)),
    "shares": lambda options, progress: [] if options["names"] else shares(progress),
}


def _search_line(rows: Sequence[dict[str, Any]]) -> str:
    """How many bugs a search finds."""
    found = [row for row in rows if row["verdict"] in ("violated", "suspect")]
    missed = ", ".join(row["name"] for row in rows if row not in found) or "none"
    alarms = sum(row["twin"] in ("violated", "suspect") for row in rows)
    slowest = max((row["seconds"] for row in rows), default=0.0)
    return (
        f"Without a pair, from an example: {len(found)} of {len(rows)} found in at most {slowest:g} s each (missed:"
        f" {missed}); repaired twins called violated or suspect: {alarms}."
    )


def _verdict_line(rows: Sequence[dict[str, Any]], seeds: int) -> str:
    """How many audits of correct mechanisms end badly."""
    wrong = [f"{r['name']}: {r['verdicts']}" for r in rows if r["verdicts"].keys() & {"violated", "suspect", "error"}]
    how = f"{VERDICT_SAMPLES} draws a side, confidence {VERDICT_CONFIDENCE:.6f}, {seeds} seeds each"
    return (
        f"Whole audits of {len(rows)} repaired or correct mechanisms ({how}) that end violated, suspect or in an error:"
        f" {len(wrong)} mechanisms" + (f" ({'; '.join(wrong)})" if wrong else ".")
    )


def _textbook_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Transcripts against exact values."""
    if not rows:
        return []
    lines = [
        "",
        "| composition | δ | exact ε | ε of the transcript | error: median | largest | runs | limit above |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        errors = f"{100 * r['error']:.2f} % | {100 * r['largest']:.2f} %"
        values = f"{r['exact']:.4f} | {r['found']:.4f}"
        lines.append(f"| {r['name']} | {r['delta']:g} | {values} | {errors} | {r['runs']} | {r['above']} |")
    return lines


def _share_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What worst-case transcripts spend of the certified ε."""
    if not rows:
        return []
    lines = [
        "",
        "| tight variant | δ | ε of the transcript | certified ε | share | what is left |",
        "|---|---|---|---|---|---|",
    ]
    for r in rows:
        found = f"{r['measured']:.4f} | {r['certified']:.4f} | {r['share']:.3f}"
        lines.append(f"| {r['name']} | {r['delta']:g} | {found} | {r['left']} |")
    return lines


def render(result: dict[str, Any]) -> str:
    """Markdown: the bugs, the false findings, the overhead."""
    seeds = result.get("seeds", 0)
    lines = [
        "| bug | claimed ε | true ε | found | by | calls, median | calls, most |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in result.get("bugs", result.get("rows", [])):
        true = "∞" if row["true"] is None else f"{row['true']:.3g}"
        by = ", ".join(tool for tool in ("lint", "replay", "test") if row["by"].get(tool))
        lines.append(
            f"| {row['about']} | {row['claim']:g} | {true} | {row['found']}/{seeds} | {by} | {row['calls']} |"
            f" {row['most_calls']} |"
        )
    alarms = [f"{row['name']}: {row['findings']}" for row in result.get("false", []) if row["findings"]]
    count = sum(sum(row["findings"].values()) for row in result.get("false", []))
    lines += [
        "",
        f"False findings on {len(result.get('false', []))} repaired or correct mechanisms, {seeds} seeds each: {count}"
        + (f" ({'; '.join(alarms)})" if alarms else "."),
    ]
    lines += [_verdict_line(result["verdicts"], seeds)] if result.get("verdicts") else []
    lines += [_search_line(result["search"])] if result.get("search") else []
    if "overhead" in result:
        costs = ", ".join(f"{name} {100 * cost:.1f} %" for name, cost in result["overhead"].items())
        target = f"(target ≤ {100 * result['target']:.0f} %)"
        lines.append(f"Lints and capture on top of {MOST_CALLS} calls of 1 ms: {costs} {target}.")
    lines += _textbook_lines(result.get("textbook", []))
    lines += _share_lines(result.get("shares", []))
    return "\n".join(lines)
