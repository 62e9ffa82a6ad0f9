"""The auditor against the best that is possible: every mechanism of the zoo, and the tools that others have.

For each mechanism and number of draws a side: the bound over 15 seeds as a share of `ideal` (Clopper–Pearson on the
best event of the known law) and of `conditional` (one conditional binomial on the best one-sided event), the time on
top of sampling, false alarms over 1000 runs at the *exact* ε of each mechanism that has a finite one, and how many
draws the anytime mode needs on gross bugs. jax-privacy and privacy-estimates take part where they are installed and
apply (scalar outputs; the sign of the score is given to them).

`DPSO_BENCH=quick` measures a small part.
"""

from __future__ import annotations

import importlib
import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import special

from audit.blackbox.auditor import audit_dp
from audit.zoo import Entry, entries

HELP = "bound / ideal on every mechanism of the zoo, false alarms, draws until rejection, peers"

FULL: dict[str, Any] = {"samples": (10_000, 100_000, 1_000_000), "seeds": 15, "alarms": 1000, "alarm_samples": 2000}
QUICK: dict[str, Any] = {"samples": (10_000, 100_000), "seeds": 3, "alarms": 0, "alarm_samples": 2000}
CONFIDENCE = 0.95
FIRST_SEED = 2000
"""The planner was tuned on seeds below this: what is reported comes from seeds that it has not seen."""


def run(progress: Callable[[str], None], **options: Any) -> dict[str, Any]:
    """Measure. Options: samples, seeds, alarms, alarm_samples, names (default: the whole zoo)."""
    chosen = {**(QUICK if os.environ.get("DPSO_BENCH") == "quick" else FULL), **options}
    names = chosen.get("names")
    rows = []
    for entry in entries():
        if names and entry.name not in names:
            continue
        row = _measure(entry, chosen["samples"], chosen["seeds"], progress)
        row["alarms"] = _alarms(entry, chosen["alarms"], chosen["alarm_samples"], progress)
        row["until_rejection"] = _until_rejection(entry, chosen["seeds"])
        rows.append(row)
    return {"confidence": CONFIDENCE, "options": {k: v for k, v in chosen.items() if k != "names"}, "rows": rows}


def _measure(entry: Entry, samples: Sequence[int], seeds: int, progress: Callable[[str], None]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": entry.name,
        "delta": entry.delta,
        "claim": entry.epsilon,
        "correct": entry.correct,
        "true": _plain(entry.true_epsilon),
        "best_peer": entry.best_peer,
        "at": {},
    }
    for count in samples:
        bounds, seconds = [], []
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            bound, took = one_audit(entry, count, seed)
            bounds.append(bound)
            seconds.append(took)
        ideal = entry.law.ideal(count, entry.delta, CONFIDENCE)
        conditional = entry.law.conditional(count, entry.delta, CONFIDENCE)
        row["at"][str(count)] = {
            "ideal": ideal,
            "conditional": conditional,
            "median": float(np.median(bounds)),
            "worst": min(bounds),
            "seconds": float(np.median(seconds)),
            "peers": peers(entry, count),
        }
        share = (
            f"{np.median(bounds) / ideal:.2f} / {min(bounds) / ideal:.2f} of ideal {ideal:.3g}"
            if ideal > 0
            else "ideal 0"
        )
        progress(f"{entry.name}, N = {count}: median / worst {share}, {np.median(seconds):.2f} s")
    return row


def _plain(x: float) -> float | None:
    return x if math.isfinite(x) else None


def one_audit(entry: Entry, samples: int, seed: int) -> tuple[float, float]:
    """The bound of one audit and the processor seconds that it took beyond the mechanism's own sampling."""
    clock = _Clock(entry)
    started = time.process_time()
    result = audit_dp(
        clock.mechanism,
        entry.dataset,
        entry.neighbour,
        epsilon=entry.epsilon,
        delta=entry.delta,
        samples=samples,
        seed=seed,
        confidence=CONFIDENCE,
        neighbours="any",
        floats=entry.floats,
        lints=False,
    )
    return result.epsilon_lower, time.process_time() - started - clock.spent


class _Clock:
    """The mechanism, with a stopwatch on its own time."""

    def __init__(self, entry: Entry):
        self.spent = 0.0
        self._sampler = entry.sampler

    def mechanism(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        """The sampler, timed."""
        started = time.process_time()
        out = self._sampler(dataset, size, rng)
        self.spent += time.process_time() - started
        return out


def _alarms(entry: Entry, runs: int, samples: int, progress: Callable[[str], None]) -> dict[str, int] | None:
    """How often the bound exceeds the exact ε, fixed and anytime; None if the exact ε is infinite."""
    if runs == 0 or not math.isfinite(entry.true_epsilon):
        return None
    fixed = anytime = 0
    for seed in range(runs):
        keywords: dict[str, Any] = {
            "epsilon": entry.true_epsilon,
            "delta": entry.delta,
            "samples": samples,
            "seed": 10_000 + seed,
            "confidence": CONFIDENCE,
            "neighbours": "any",
            "floats": entry.floats,
        }
        fixed += audit_dp(entry.mechanism, entry.dataset, entry.neighbour, **keywords).violated
        if seed % 4 == 0:
            anytime += audit_dp(entry.mechanism, entry.dataset, entry.neighbour, anytime=True, **keywords).violated
    progress(f"{entry.name}: {fixed} false alarms in {runs} runs, {anytime} in {len(range(0, runs, 4))} anytime runs")
    return {"fixed": fixed, "runs": runs, "anytime": anytime, "anytime_runs": len(range(0, runs, 4))}


def _until_rejection(entry: Entry, seeds: int) -> float | None:
    """Median number of draws in all until the anytime mode rejects a claim that is off by a factor two or more;
    20000 at most.
    """
    if entry.true_epsilon < 2 * entry.epsilon or entry.epsilon == 0 or entry.correct:
        return None
    used = []
    for seed in range(seeds):
        result = audit_dp(
            entry.mechanism,
            entry.dataset,
            entry.neighbour,
            epsilon=entry.epsilon,
            delta=entry.delta,
            samples=10_000,
            seed=seed,
            confidence=CONFIDENCE,
            neighbours="any",
            floats=entry.floats,
            anytime=True,
        )
        used.append(result.draws["test"] if result.violated else math.inf)
    return _plain(float(np.median(used)))


# -------------------------------------------------------------------------------------------------- peers


def peers(entry: Entry, samples: int, seed: int = 0) -> dict[str, float]:
    """What other auditors say of the same mechanism, where they are installed and take its outputs."""
    rng = np.random.default_rng(seed)
    sides = [entry.sampler(d, samples, rng) for d in (entry.dataset, entry.neighbour)]
    if any(not isinstance(s, np.ndarray) or s.ndim != 1 or not np.all(np.isfinite(s)) for s in sides):
        return {}
    found = {}
    for name, measure in (("jax-privacy", _jax_privacy), ("privacy-estimates", _privacy_estimates)):
        try:
            bounds = [measure(s * sides[1], s * sides[0], entry.delta) for s in (1.0, -1.0)]
            bounds += [measure(s * sides[0], s * sides[1], entry.delta) for s in (1.0, -1.0)]
        except ImportError:
            continue
        found[name] = float(max(bounds))
    return found


def _jax_privacy(inside: Any, outside: Any, delta: float) -> float:
    auditing = importlib.import_module("jax_privacy.auditing")
    auditor = auditing.CanaryScoreAuditor(inside, outside)
    return float(auditor.epsilon_clopper_pearson(significance=1 - CONFIDENCE, delta=delta))


def _privacy_estimates(inside: Any, outside: Any, delta: float) -> float:
    """It takes counts: a threshold chosen on the first half, counts from the second."""
    module = importlib.import_module("privacy_estimates")
    half = len(inside) // 2
    limits = np.quantile(np.concatenate([inside[:half], outside[:half]]), np.linspace(0.01, 0.999, 100))
    ratio = [(np.mean(inside[:half] >= t) - delta) / (np.mean(outside[:half] >= t) + 3 / half) for t in limits]
    limit = limits[int(np.argmax(ratio))]
    hits, alarms = int(np.sum(inside[half:] >= limit)), int(np.sum(outside[half:] >= limit))
    rest = len(inside) - half
    counts = module.AttackResults(FN=rest - hits, FP=alarms, TN=rest - alarms, TP=hits)
    return float(module.compute_eps_lo(count=counts, delta=delta, alpha=1 - CONFIDENCE, method="beta"))


# ------------------------------------------------------------------------------------------------- tables


def render(result: dict[str, Any]) -> str:
    """Markdown tables."""
    parts = [_power_table(result["rows"], count) for count in _counts(result["rows"])]
    return "\n\n".join([*parts, _level_table(result)])


def _counts(rows: Sequence[dict[str, Any]]) -> list[str]:
    return sorted({count for row in rows for count in row["at"]}, key=int)


def _power_table(rows: Sequence[dict[str, Any]], count: str) -> str:
    lines = [
        f"N = {int(count):,} draws a side, 95 %",
        "",
        "| mechanism | true ε(δ) | ideal | bound (median) | of ideal: median, worst | of one conditional binomial"
        " | best peer | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        at = row["at"].get(count)
        if at is None:
            continue
        measured = list(at["peers"].values()) + ([row["best_peer"]] if row["best_peer"] and count == "100000" else [])
        peer = f"{max(measured):.2f}" if measured else "–"
        true = "∞" if row["true"] is None else f"{row['true']:.3f}"
        lines.append(
            f"| {row['name']} | {true} | {at['ideal']:.2f} | {at['median']:.2f} | {_share(at['median'], at['ideal'])},"
            f" {_share(at['worst'], at['ideal'])} | {_share(at['median'], at['conditional'])} | {peer}"
            f" | {at['seconds']:.2f} |"
        )
    return "\n".join(lines)


def _share(x: float, of: float) -> str:
    return f"{x / of:.2f}" if of > 0 else "–"


def _level_table(result: dict[str, Any]) -> str:
    lines = [
        "False alarms (bound above the exact ε; 5 % allowed), and draws in all until the anytime mode rejects a claim"
        " off by a factor 2 or more",
        "",
        "| mechanism | fixed | anytime | significant excess (1e-3) | draws until rejection |",
        "|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        alarms, until = row["alarms"], row["until_rejection"]
        if alarms is None and until is None:
            continue
        shown = ("–", "–", "–")
        if alarms is not None:
            shown = (
                f"{alarms['fixed']}/{alarms['runs']}",
                f"{alarms['anytime']}/{alarms['anytime_runs']}",
                "yes" if excess(alarms["fixed"], alarms["runs"]) else "no",
            )
        lines.append(f"| {row['name']} | {' | '.join(shown)} | {'–' if until is None else f'{until:.0f}'} |")
    return "\n".join(lines)


def excess(alarms: int, runs: int, level: float = 1 - CONFIDENCE) -> bool:
    """Whether so many false alarms refute the level, at 1e-3 one-sided."""
    return bool(alarms > 0 and special.bdtrc(alarms - 1, runs, level) < 1e-3)
