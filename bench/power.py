"""Power as a property: the distribution of bound / ideal over random mechanisms, beside other kinds of auditors.

Parts, each of which can be measured (and recorded) on its own; all use all cores:

- `1e4`, `1e5`: so many draws a side on each of 300 random mechanisms (`bench.random_mechanisms`): our bound, the
  processor time that it took beyond the mechanism's own sampling, and (on the first `others` of them, at 1e5
  `others_large`) the bounds of `bench.baselines` from as many draws. Each is divided by `ideal`, what Clopper–Pearson
  gives on the best event of the known law. Mechanisms with an ideal below LEAST_IDEAL leave next to nothing to find at
  that size, and are counted apart;
- `alarms`: how often, of 2000 random correct mechanisms audited at their exact ε, the claim is rejected;
- `speed`: processor time of an audit as a multiple of that of the mechanism's own sampling in the same blocks, 1e7
  draws a side of scalars, fewer of what is slower to draw; of scalars also that of the draws beyond (3e7 less 1e7):
  what is left is learning, which costs the same however many there are;
- `weak`: 1e6 draws a side (1e7 of what is quick to draw) on mechanisms that leak little (`bench.weak`), the median of a
  few runs;
- `billion`: 1e9 draws in all of a scalar, end to end on two workers.

Seeds are drawn anew for every measurement and stand in the result; what was tuned was tuned on others.
`DPSO_BENCH=quick` measures a small part.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from audit.auditor.api import audit_dp
from bench import baselines, weak
from bench.random_mechanisms import KINDS, RandomMechanism, draw_correct, draw_mechanism

HELP = "bound / ideal over random mechanisms with fresh seeds, other kinds of auditors, false alarms"

FULL: dict[str, Any] = {
    "mechanisms": 300,
    "others": 100,
    "others_large": 20,
    "correct": 2000,
    "correct_samples": 1000,
    "speed_samples": 10**7,
    "weak_samples": 10**6,
    "weak_runs": 3,
}
QUICK: dict[str, Any] = {
    "mechanisms": 6,
    "others": 6,
    "others_large": 2,
    "correct": 20,
    "correct_samples": 500,
    "speed_samples": 10**4,
    "weak_samples": 10**4,
    "weak_runs": 1,
}
CONFIDENCE = 0.95
CLAIM = 0.1
"""The claim of every audit: it bears on the verdict, on `hockey-stick`, and not on our bound."""
LEAST_IDEAL = 0.05
CLEAR = 0.3
"""Where the ideal is larger than this, a bound of 0 is a leak that was missed."""
OURS = "dpso"

Rows = dict[str, Any]
Progress = Callable[[str], None]


def run(progress: Progress, parts: Sequence[str] = (), **options: Any) -> dict[str, Any]:
    """Measure the parts (default: all). Options: those of FULL, and first (default: a fresh seed)."""
    chosen = {**(QUICK if os.environ.get("DPSO_BENCH") == "quick" else FULL), **options}
    chosen.setdefault("first", secrets.randbits(32))
    result: dict[str, Any] = {"confidence": CONFIDENCE}
    for part in parts or PARTS:
        progress(f"part {part}, seeds from {chosen['first']}")
        result[part] = {"options": chosen, "rows": PARTS[part](chosen, progress)}
    return result


def _everywhere(task: Callable[[int], Any], seeds: Sequence[int], progress: Progress) -> list[Any]:
    """One task a seed, on all cores; the results in the order of the seeds."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=os.cpu_count(), mp_context=context) as pool:
        found = []
        for answer in pool.map(task, seeds):
            found.append(answer)
            progress(f"{len(found)} of {len(seeds)}: {answer}")
        return found


# -------------------------------------------------------------------------------------------------- power


def _power(samples: int, options: Mapping[str, Any], progress: Progress) -> Rows:
    seeds = [options["first"] + i for i in range(options["mechanisms"])]
    others = seeds[: options["others" if samples < 100_000 else "others_large"]]
    rows = _everywhere(functools.partial(power_row, samples, others), seeds, progress)
    return {str(seed): row for seed, row in zip(seeds, rows, strict=True)}


def power_row(samples: int, others: Sequence[int], seed: int) -> Rows:
    """One mechanism: the ideal, our bound, and what it took; the other bounds if its seed is among `others`."""
    mechanism = draw_mechanism(seed)
    clock = _Clock(mechanism)
    started = time.process_time()
    result = audit_dp(clock.draw, samples=samples, seed=seed, **_keywords(CLAIM, mechanism.delta))
    seconds = time.process_time() - started - clock.spent
    bounds = {OURS: result.epsilon_lower}
    if seed in others:
        rng = np.random.default_rng([seed, 3])
        sides = mechanism.sampler([0], samples, rng), mechanism.sampler([1], samples, rng)
        bounds |= baselines.bounds(sides, CLAIM, mechanism.delta, CONFIDENCE, seed)
    return {
        "name": mechanism.name,
        "kind": mechanism.kind,
        "ideal": mechanism.ideal(samples, CONFIDENCE),
        "bounds": {name: round(bound, 5) for name, bound in bounds.items()},
        "seconds": round(seconds, 3),
        "error": result.reason if result.verdict == "error" else "",
    }


def _keywords(epsilon: float, delta: float) -> dict[str, Any]:
    return {
        "dataset": [0],
        "neighbour": [1],
        "epsilon": epsilon,
        "delta": delta,
        "confidence": CONFIDENCE,
        "neighbours": "any",
        "lints": False,
    }


class _Clock:
    """The mechanism, with a stopwatch on its own time."""

    def __init__(self, mechanism: RandomMechanism):
        self.spent = 0.0
        self._mechanism = mechanism

    def draw(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        """The sampler, timed."""
        started = time.process_time()
        out = self._mechanism.sampler(dataset, size, rng)
        self.spent += time.process_time() - started
        return out


# -------------------------------------------------------------------------------------------------- level


def _alarms(options: Mapping[str, Any], progress: Progress) -> Rows:
    """How many claims of the exact ε are rejected, and of which kinds of mechanisms."""
    seeds = [options["first"] + i for i in range(options["correct"])]
    rejected = _everywhere(functools.partial(rejects_the_truth, options["correct_samples"]), seeds, progress)
    return {
        "runs": len(seeds),
        "rejected": [f"{seed} {name}" for seed, name in zip(seeds, rejected, strict=True) if name],
    }


def rejects_the_truth(samples: int, seed: int) -> str:
    """The name of the correct mechanism of this seed if its claim is rejected, else nothing."""
    mechanism, epsilon = draw_correct(seed)
    result = audit_dp(mechanism.sampler, samples=samples, seed=seed, **_keywords(epsilon, 0.0))
    return mechanism.name if result.violated else ""


# -------------------------------------------------------------------------------------------------- speed


def _laplace(dataset: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(size=size) + dataset[0]


def _gaussian(dataset: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.normal(size=size) + dataset[0]


def _geometric(dataset: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.geometric(0.5, size) - rng.geometric(0.5, size) + int(dataset[0])


def _bit(dataset: Any, size: int, rng: np.random.Generator) -> Any:
    return (rng.random(size) < 0.75) ^ bool(dataset[0])


def _booleans(dataset: Any, size: int, rng: np.random.Generator) -> Any:
    return [tuple(row) for row in (rng.random((size, 3)) < 0.6 + 0.1 * dataset[0]).tolist()]


def _vector(dataset: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.normal(size=(size, 20)) + 0.3 * dataset[0]


def _slow(dataset: Any, rng: np.random.Generator) -> Any:
    """50 µs a call."""
    end = time.perf_counter() + 50e-6
    while time.perf_counter() < end:
        pass
    return rng.laplace() + dataset[0]


SPEED: dict[str, tuple[Callable[..., Any], float, float]] = {
    "Laplace": (_laplace, 0.0, 1.0),
    "Gaussian, δ = 1e-5": (_gaussian, 1e-5, 1.0),
    "geometric": (_geometric, 0.0, 1.0),
    "one bit": (_bit, 0.0, 1.0),
    "three booleans": (_booleans, 0.0, 0.05),
    "20 numbers, δ = 1e-5": (_vector, 1e-5, 0.05),
    "50 µs a call": (_slow, 0.0, 0.005),
}
"""Mechanism, δ, and the part of `speed_samples` that is drawn."""


def _speed(options: Mapping[str, Any], progress: Progress) -> Rows:
    rows = {}
    for name, (mechanism, delta, part) in SPEED.items():
        samples = int(part * options["speed_samples"])
        row = {"samples": samples, "audit": _auditing(mechanism, delta, samples)}
        row["sampling"] = _sampling(mechanism, 2 * samples)
        if part == 1:
            row["three_times"] = _auditing(mechanism, delta, 3 * samples)
        rows[name] = row
        progress(f"{name}: {row}")
    return rows


def _auditing(mechanism: Callable[..., Any], delta: float, samples: int) -> float:
    """Processor time of an audit."""
    started = time.process_time()
    audit_dp(mechanism, samples=samples, seed=1, **_keywords(0.5, delta))
    return time.process_time() - started


def _sampling(mechanism: Callable[..., Any], draws: int) -> float:
    """Processor time of so many draws alone, in the blocks of an audit."""
    rng, done, block = np.random.default_rng(0), 0, 65_536
    started = time.process_time()
    while done < draws:
        if mechanism is _slow:
            mechanism([0], rng)
            done += 1
        else:
            done += len(mechanism([done // block % 2], min(block, draws - done), rng))
    return time.process_time() - started


# --------------------------------------------------------------------------------------------- weak leaks

QUICK_TO_DRAW = ("Laplace", "Laplace, faint", "noisy max of 5")
"""Of the mechanisms that leak little: those that are audited with ten times as many draws, too."""


def _weak(options: Mapping[str, Any], progress: Progress) -> Rows:
    samples, names = options["weak_samples"], [mechanism.name for mechanism in weak.mechanisms()]
    tasks = [(name, samples) for name in names] + [(name, 10 * samples) for name in QUICK_TO_DRAW]
    task = functools.partial(weak_row, tasks, options["first"], options["weak_runs"])
    rows = _everywhere(task, range(len(tasks)), progress)
    return {f"{name} {size}": row for (name, size), row in zip(tasks, rows, strict=True)}


def weak_row(tasks: Sequence[tuple[str, int]], first: int, runs: int, at: int) -> Rows:
    """One mechanism that leaks little: the ideal, and our bounds."""
    name, samples = tasks[at]
    mechanism = next(one for one in weak.mechanisms() if one.name == name)
    seeds = range(first, first + runs)
    found = [
        audit_dp(mechanism.sampler, samples=samples, seed=seed, **_keywords(weak.FAINT, mechanism.delta))
        for seed in seeds
    ]
    true = mechanism.true_epsilon
    return {
        "name": name,
        "samples": samples,
        "true": true if np.isfinite(true) else None,
        "ideal": mechanism.ideal(samples, CONFIDENCE),
        "bounds": [round(result.epsilon_lower, 5) for result in found],
    }


def _weak_table(result: Mapping[str, Any]) -> list[str]:
    rows = result.get("weak", {}).get("rows", {})
    lines = [
        "| weak leak | draws a side | true ε | ideal | bound (median) | of ideal |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows.values():
        bound = float(np.median(row["bounds"]))
        true = "∞" if row["true"] is None else f"{row['true']:.3f}"
        figures = f"{row['ideal']:.4f} | {bound:.4f} | {bound / max(row['ideal'], 1e-9):.2f}"
        lines.append(f"| {row['name']} | {row['samples']:,} | {true} | {figures} |")
    return ["\n".join(lines)] if rows else []


def _billion(options: Mapping[str, Any], progress: Progress) -> Rows:
    samples = 50 * options["speed_samples"]
    started = time.monotonic()
    result = audit_dp(_laplace, samples=samples, seed=1, workers=2, **_keywords(0.5, 0.0))
    seconds = time.monotonic() - started
    progress(f"{seconds:.0f} s")
    return {
        "draws": 2 * samples,
        "seconds": seconds,
        "load": os.getloadavg()[0],
        "epsilon_lower": result.epsilon_lower,
    }


PARTS: dict[str, Callable[[Mapping[str, Any], Progress], Rows]] = {
    "1e4": functools.partial(_power, 10_000),
    "1e5": functools.partial(_power, 100_000),
    "alarms": _alarms,
    "speed": _speed,
    "weak": _weak,
    "billion": _billion,
}


# ------------------------------------------------------------------------------------------------- tables


def headline(result: Mapping[str, Any]) -> str:
    """The distribution in one table, and the rest in a sentence."""
    return "\n\n".join([_distribution(result), *_summary(result)])


def render(result: Mapping[str, Any]) -> str:
    """All tables, in Markdown."""
    kinds = [_by_kind(part, result[part]["rows"]) for part in ("1e4", "1e5") if part in result]
    return "\n\n".join([_distribution(result), *kinds, *_weak_table(result), *_speed_table(result), *_summary(result)])


def shares(rows: Rows, auditor: str) -> list[float]:
    """Bound / ideal of each mechanism that has something to be found."""
    found = [(row["bounds"].get(auditor), row["ideal"]) for row in rows.values()]
    return [bound / ideal for bound, ideal in found if bound is not None and ideal >= LEAST_IDEAL]


def missed(rows: Rows, auditor: str) -> list[str]:
    """The mechanisms with a clear ideal of which nothing was found."""
    return [row["name"] for row in _clear(rows, auditor).values() if row["bounds"][auditor] == 0]


def _clear(rows: Rows, auditor: str) -> Rows:
    """The mechanisms with a clear ideal on which this auditor was tried."""
    return {seed: row for seed, row in rows.items() if row["ideal"] > CLEAR and auditor in row["bounds"]}


def _distribution(result: Mapping[str, Any]) -> str:
    lines = [
        "| N | auditor | mechanisms | 10th percentile | 25th | median | 75th | bound 0 where the ideal is over"
        f" {CLEAR:g} |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for part in ("1e4", "1e5"):
        rows = result.get(part, {}).get("rows", {})
        for auditor in next(iter(rows.values()))["bounds"] if rows else ():
            found = shares(rows, auditor)
            quantiles = " | ".join(f"{x:.2f}" for x in np.quantile(found, [0.1, 0.25, 0.5, 0.75]))
            lost = f"{len(missed(rows, auditor))} of {len(_clear(rows, auditor))}"
            lines.append(f"| {float(part):,.0f} | {auditor} | {len(found)} | {quantiles} | {lost} |")
    return "\n".join(lines)


def _by_kind(part: str, rows: Rows) -> str:
    lines = [
        f"N = {float(part):,.0f} draws a side, bound / ideal by kind of leak",
        "",
        "| kind | mechanisms | worst | median | best of the others, median | seconds (median) |",
        "|---|---|---|---|---|---|",
    ]
    for kind in KINDS:
        own = {seed: row for seed, row in rows.items() if row["kind"] == kind and row["ideal"] >= LEAST_IDEAL}
        if not own:
            continue
        found, others = shares(own, OURS), _best_of_others(own)
        seconds = float(np.median([row["seconds"] for row in own.values()]))
        beside = f"{np.median(others):.2f}" if others else "–"
        lines.append(f"| {kind} | {len(own)} | {min(found):.2f} | {np.median(found):.2f} | {beside} | {seconds:.2f} |")
    return "\n".join(lines)


def _best_of_others(rows: Rows) -> list[float]:
    """The largest bound of the other auditors as a share of the ideal, mechanism by mechanism."""
    bounds = [(row, [b for name, b in row["bounds"].items() if name != OURS]) for row in rows.values()]
    return [max(others) / row["ideal"] for row, others in bounds if others]


def _speed_table(result: Mapping[str, Any]) -> list[str]:
    rows = result.get("speed", {}).get("rows", {})
    lines = [
        "| outputs | draws a side | audit / sampling (processor time) | further draws | ns a draw: audit, sampling |",
        "|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        audit, sampling = (row[key] / (2 * row["samples"]) * 1e9 for key in ("audit", "sampling"))
        further = f"{(row['three_times'] - row['audit']) / (2 * row['sampling']):.1f}" if "three_times" in row else "–"
        ratio = f"{audit / sampling:.1f} | {further}"
        lines.append(f"| {name} | {row['samples']:,} | {ratio} | {audit:,.0f}, {sampling:,.0f} |")
    return ["\n".join(lines)] if rows else []


def _summary(result: Mapping[str, Any]) -> list[str]:
    said = []
    billion = result.get("billion", {}).get("rows")
    if billion:
        said.append(
            f"{billion['draws']:,} draws of a Laplace mechanism, end to end with two workers on two cores:"
            f" {billion['seconds']:.0f} s (load of the machine at the end: {billion['load']:.1f})."
        )
    for part in ("1e4", "1e5"):
        rows = result.get(part, {}).get("rows", {})
        if rows:
            seconds = [row["seconds"] for row in rows.values()]
            small = sum(row["ideal"] < LEAST_IDEAL for row in rows.values())
            said.append(
                f"N = {float(part):,.0f}: {len(rows)} mechanisms, seeds from {result[part]['options']['first']};"
                f" {small} with an ideal below {LEAST_IDEAL:g} are left out. Our audits took {np.median(seconds):.2f} s"
                f" of processor time beyond sampling in the median, {max(seconds):.1f} s at most."
            )
    alarms = result.get("alarms", {}).get("rows")
    if alarms:
        count, runs = len(alarms["rejected"]), alarms["runs"]
        said.append(
            f"False alarms at the exact ε of {runs} random correct mechanisms: {count} ({1 - CONFIDENCE:.0%} would be"
            f" {(1 - CONFIDENCE) * runs:.0f})."
        )
    return said
