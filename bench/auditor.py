"""The auditor against the best that is possible: every mechanism of the zoo, and the tools that others have.

Parts, each of which can be measured (and recorded) on its own:

- `1e4`, `1e5`, `1e6`: so many draws a side. The bound over 15 seeds (5 for 1e6) as a share of `ideal` (Clopper–Pearson
  on the best event of the known law), beside `conditional` and `unlucky`, what one conditional binomial on the best
  one-sided event gives to somebody who knows the law, as expected and in the unluckiest of as many runs;
  jax-privacy and privacy-estimates take part where they are installed and apply (scalar outputs; they are given the
  better sign of the score and the better order of the sides, and their median over seeds is shown);
- `seconds`: processor time at 1e5 on top of the mechanism's own sampling, one audit at a time;
- `memory`: the peak of a process that audits a scalar mechanism with 1e6 draws a side;
- `alarms`: how often, of 1000 runs at the *exact* ε of each mechanism that has a finite one, the claim is rejected;
- `rejection`: draws in all until the anytime mode rejects a claim off by a factor two or more, beside what a gambler
  who knows the law would need.

All but `seconds` and `memory` use all cores. `DPSO_BENCH=quick` measures a small part.
"""

from __future__ import annotations

import functools
import importlib
import math
import multiprocessing
import os
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special, stats

from audit.auditor.api import audit_dp
from audit.auditor.test.anytime import stakes
from bench.record import recorded
from bench.zoo import Entry, entries
from bench.zoo.law import Law

HELP = "bound / ideal on every mechanism of the zoo, false alarms, draws until rejection, peers"

FULL: dict[str, Any] = {"seeds": 15, "seeds_large": 5, "timed": 3, "alarms": 1000, "alarm_samples": 1000}
QUICK: dict[str, Any] = {"seeds": 3, "seeds_large": 1, "timed": 1, "alarms": 20, "alarm_samples": 1000}
CONFIDENCE = 0.95
FIRST_SEED = 1_000_000
"""The planner was tuned on seeds below this: what is reported comes from seeds that it has not seen."""
PEER_SEEDS = 5
LONGEST_BET = 20_000
"""Draws a side after which the anytime mode is given up."""

Rows = dict[str, Any]
Progress = Callable[[str], None]


def run(progress: Progress, parts: Sequence[str] = (), **options: Any) -> dict[str, Any]:
    """Measure the parts (default: all). Options: those of FULL, and names (default: the whole zoo)."""
    chosen = {**(QUICK if os.environ.get("DPSO_BENCH") == "quick" else FULL), **options}
    names = chosen.pop("names", None) or [entry.name for entry in entries()]
    result: dict[str, Any] = {"confidence": CONFIDENCE}
    for part in parts or PARTS:
        progress(f"part {part}")
        result[part] = {"options": chosen, "rows": PARTS[part](names, chosen, progress)}
    return result


def _entry(name: str) -> Entry:
    return next(entry for entry in entries() if entry.name == name)


def _everywhere(
    task: Callable[[str, Mapping[str, Any]], Any], names: Sequence[str], options: Mapping[str, Any], progress: Progress
) -> Rows:
    """One task a mechanism, on all cores; mechanisms that have no row are left out."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=os.cpu_count(), mp_context=context) as pool:
        waiting = {pool.submit(task, name, options): name for name in names}
        rows = {}
        for done in as_completed(waiting):
            name = waiting[done]
            rows[name] = done.result()
            progress(f"{name}: {_in_words(rows[name])}")
    return {name: rows[name] for name in names if rows[name] is not None}


def _in_words(row: Mapping[str, Any] | None) -> str:
    return "does not apply" if row is None else ", ".join(f"{key} {_short(value)}" for key, value in row.items())


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# -------------------------------------------------------------------------------------------------- power


def _power(samples: int, names: Sequence[str], options: Mapping[str, Any], progress: Progress) -> Rows:
    seeds = options["seeds_large" if samples >= 1_000_000 else "seeds"]
    rows = _everywhere(functools.partial(_power_row, samples, seeds), names, options, progress)
    return _with_known_peers(samples, rows)


def _with_known_peers(samples: int, rows: Rows) -> Rows:
    """The rows, with the recorded figures of the peers where none is installed: they do not depend on our code."""
    known = recorded("auditor").get(f"{samples:.0e}".replace("+0", ""), {}).get("rows", {})
    return {name: row if row["peers"] else row | {"peers": known.get(name, row)["peers"]} for name, row in rows.items()}


def _power_row(samples: int, seeds: int, name: str, options: Mapping[str, Any]) -> Rows:
    entry = _entry(name)
    bounds = [one_audit(entry, samples, seed)[0] for seed in range(FIRST_SEED, FIRST_SEED + seeds)]
    return {
        "delta": entry.delta,
        "true": _plain(entry.true_epsilon),
        "ideal": entry.law.ideal(samples, entry.delta, CONFIDENCE),
        "conditional": entry.law.conditional(samples, entry.delta, CONFIDENCE),
        "unlucky": entry.law.unlucky(1 / (seeds + 1), samples, entry.delta, CONFIDENCE),
        "median": float(np.median(bounds)),
        "worst": min(bounds),
        "peers": peers(entry, samples),
        "best_peer": entry.best_peer if samples == 100_000 else None,
    }


def _plain(x: float) -> float | None:
    return x if math.isfinite(x) else None


def one_audit(entry: Entry, samples: int, seed: int) -> tuple[float, float]:
    """The bound of one audit and the processor seconds that it took beyond the mechanism's own sampling."""
    clock = _Clock(entry)
    started = time.process_time()
    result = audit_dp(clock.mechanism, **_keywords(entry, entry.epsilon), samples=samples, seed=seed)
    return result.epsilon_lower, time.process_time() - started - clock.spent


def _keywords(entry: Entry, epsilon: float) -> dict[str, Any]:
    """What every audit of a mechanism of the zoo is told."""
    return {
        "dataset": entry.dataset,
        "neighbour": entry.neighbour,
        "epsilon": epsilon,
        "delta": entry.delta,
        "confidence": CONFIDENCE,
        "neighbours": "any",
        "floats": entry.floats,
        "lints": False,
    }


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


def _seconds(names: Sequence[str], options: Mapping[str, Any], progress: Progress) -> Rows:
    rows = {}
    for name in names:
        entry = _entry(name)
        taken = [one_audit(entry, 100_000, FIRST_SEED + i)[1] for i in range(options["timed"])]
        rows[name] = {"seconds": float(np.median(taken))}
        progress(f"{name}: {rows[name]['seconds']:.2f} s")
    return rows


def _memory(names: Sequence[str], options: Mapping[str, Any], progress: Progress) -> Rows:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        peak = pool.submit(_peak_megabytes, "laplace").result()
    progress(f"laplace, 1e6 draws a side: {peak:.0f} MB")
    return {"laplace": {"megabytes": peak}}


def _peak_megabytes(name: str) -> float:
    """The peak memory of this process after an audit with 1e6 draws a side."""
    one_audit(_entry(name), 1_000_000, FIRST_SEED)
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says includes the process that started this one
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# -------------------------------------------------------------------------------------------------- level


def _alarms(names: Sequence[str], options: Mapping[str, Any], progress: Progress) -> Rows:
    return _everywhere(_alarms_row, names, options, progress)


def _alarms_row(name: str, options: Mapping[str, Any]) -> Rows | None:
    """How often the bound exceeds the exact ε, fixed and (every fourth run) anytime; None if that ε is infinite."""
    entry, runs = _entry(name), options["alarms"]
    if not math.isfinite(entry.true_epsilon):
        return None
    keywords = {**_keywords(entry, entry.true_epsilon), "samples": options["alarm_samples"]}
    fixed = anytime = 0
    for seed in range(runs):
        fixed += audit_dp(entry.mechanism, seed=10_000 + seed, **keywords).violated
        if seed % 4 == 0:
            anytime += audit_dp(entry.mechanism, seed=10_000 + seed, anytime=True, **keywords).violated
    return {"fixed": fixed, "runs": runs, "anytime": anytime, "anytime_runs": len(range(0, runs, 4))}


def excess(alarms: int, runs: int, level: float = 1 - CONFIDENCE) -> bool:
    """Whether so many false alarms refute the level, at 1e-3 one-sided."""
    return bool(alarms > 0 and special.bdtrc(alarms - 1, runs, level) < 1e-3)


# ---------------------------------------------------------------------------------------------- rejection


def _rejection(names: Sequence[str], options: Mapping[str, Any], progress: Progress) -> Rows:
    return _everywhere(_rejection_row, names, options, progress)


def _rejection_row(name: str, options: Mapping[str, Any]) -> Rows | None:
    """Median draws in all until the anytime mode rejects; None if the claim is not off by a factor two."""
    entry = _entry(name)
    if entry.true_epsilon < 2 * entry.epsilon or entry.epsilon == 0 or entry.correct:
        return None
    used = []
    for seed in range(FIRST_SEED, FIRST_SEED + options["seeds"]):
        keywords = _keywords(entry, entry.epsilon)
        result = audit_dp(entry.mechanism, samples=LONGEST_BET, seed=seed, anytime=True, **keywords)
        used.append(result.draws["test"] if result.violated else math.inf)
    return {
        "draws": _plain(float(np.median(used))),
        "knowing": draws_knowing_the_law(entry.law, entry.epsilon, entry.delta),
    }


def draws_knowing_the_law(law: Law, epsilon: float, delta: float) -> float:
    """ln(1/α) over the largest mean growth of a gambler's log-capital who knows the law and picks the best cap."""
    mass = (law.p + law.q) / 2
    seen = mass > 0
    right = np.maximum(law.p, law.q)[seen] / (2 * mass[seen])
    sure = special.logit(np.clip(right, 0.5, 1 - 1e-12))
    stake, cap = stakes(np.array([epsilon]), sure, delta)
    q = special.expit(epsilon)
    growth = []
    for part in np.geomspace(0.01, 1.0, 60) if delta > 0 else [1.0]:
        bet, fee = np.minimum(stake[0], part * cap[0]), part * cap[0] * (1 - q) * delta
        gain = right * np.log1p(bet * (1 - q) - fee) + (1 - right) * np.log1p(-bet * q - fee)
        growth.append(float(mass[seen] @ gain))
    return math.log(1 / (1 - CONFIDENCE)) / max(growth)


# -------------------------------------------------------------------------------------------------- peers


def peers(entry: Entry, samples: int) -> dict[str, float]:
    """What other auditors say of the same mechanism, where they are installed and take its outputs: medians."""
    found: dict[str, list[float]] = {}
    for seed in range(PEER_SEEDS):
        rng = np.random.default_rng(FIRST_SEED + seed)
        sides = [entry.sampler(d, samples, rng) for d in (entry.dataset, entry.neighbour)]
        if any(not isinstance(s, np.ndarray) or s.ndim != 1 or not np.all(np.isfinite(s)) for s in sides):
            return {}
        for name, measure in (("jax-privacy", _jax_privacy), ("privacy-estimates", _privacy_estimates)):
            try:
                bounds = [measure(s * sides[1 - i], s * sides[i], entry.delta) for s in (1.0, -1.0) for i in (0, 1)]
            except ImportError:
                continue
            found.setdefault(name, []).append(max(bounds))
    return {name: float(np.median(bounds)) for name, bounds in found.items()}


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


PARTS: dict[str, Callable[[Sequence[str], Mapping[str, Any], Progress], Rows]] = {
    "1e5": functools.partial(_power, 100_000),
    "seconds": _seconds,
    "memory": _memory,
    "1e4": functools.partial(_power, 10_000),
    "rejection": _rejection,
    "alarms": _alarms,
    "1e6": functools.partial(_power, 1_000_000),
}


# ------------------------------------------------------------------------------------------------- tables


def headline(result: Mapping[str, Any]) -> str:
    """The table of the README: the mechanisms on which other tools were measured, 1e5 draws a side."""
    rows = {name: row for name, row in result["1e5"]["rows"].items() if row["best_peer"] is not None}
    return "\n\n".join([_power_table(rows, "1e5", _rows(result, "seconds")), _summary(result)])


def render(result: Mapping[str, Any]) -> str:
    """All tables, in Markdown."""
    tables = [
        _power_table(_rows(result, part), part, _rows(result, "seconds") if part == "1e5" else {})
        for part in ("1e4", "1e5", "1e6")
        if part in result
    ]
    return "\n\n".join([*tables, *_level_table(_rows(result, "alarms"), _rows(result, "rejection")), _summary(result)])


def _rows(result: Mapping[str, Any], part: str) -> Rows:
    found: Rows = result.get(part, {}).get("rows", {})
    return found


def _power_table(rows: Rows, part: str, seconds: Rows) -> str:
    timed = " seconds |" if seconds else ""
    lines = [
        f"N = {float(part):,.0f} draws a side, 95 %",
        "",
        "| mechanism | true ε(δ) | ideal | bound (median) | of ideal: median, worst | knowing the law: expected, worst"
        f" | best peer |{timed}",
        "|---|---|---|---|---|---|---|" + ("---|" if seconds else ""),
    ]
    for name, row in rows.items():
        measured = [*row["peers"].values(), *([row["best_peer"]] if row["best_peer"] else [])]
        peer = f"{max(measured):.2f}" if measured else "–"
        true = "∞" if row["true"] is None else f"{row['true']:.3f}"
        took = f" {seconds[name]['seconds']:.2f} |" if name in seconds else " – |" if seconds else ""
        lines.append(
            f"| {name} | {true} | {row['ideal']:.2f} | {row['median']:.2f} | {_share(row['median'], row['ideal'])},"
            f" {_share(row['worst'], row['ideal'])} | {_share(row['conditional'], row['ideal'])},"
            f" {_share(row['unlucky'], row['ideal'])} | {peer} |{took}"
        )
    return "\n".join(lines)


def _share(x: float, of: float) -> str:
    return f"{x / of:.2f}" if of > 0 else "–"


def _level_table(alarms: Rows, rejection: Rows) -> list[str]:
    tables = []
    if alarms:
        lines = [
            "False alarms (the claim is the exact ε; 5 % allowed)",
            "",
            "| mechanism | fixed | anytime | significant excess (1e-3) |",
            "|---|---|---|---|",
        ]
        for name, row in alarms.items():
            worst = excess(row["fixed"], row["runs"]) or excess(row["anytime"], row["anytime_runs"])
            counts = f"{row['fixed']}/{row['runs']} | {row['anytime']}/{row['anytime_runs']}"
            lines.append(f"| {name} | {counts} | {'yes' if worst else 'no'} |")
        tables.append("\n".join(lines))
    if rejection:
        lines = [
            "Draws in all until the anytime mode rejects a claim off by a factor 2 or more (median)",
            "",
            "| mechanism | draws | of a gambler who knows the law |",
            "|---|---|---|",
        ]
        lines += [f"| {name} | {_draws(row['draws'])} | {row['knowing']:.0f} |" for name, row in rejection.items()]
        tables.append("\n".join(lines))
    return tables


def _draws(draws: float | None) -> str:
    return f"> {2 * LONGEST_BET}" if draws is None else f"{draws:.0f}"


def _summary(result: Mapping[str, Any]) -> str:
    """The other parts in a few sentences."""
    said = []
    alarms, rejection, memory = (_rows(result, part) for part in ("alarms", "rejection", "memory"))
    if alarms:
        most = max(alarms, key=lambda name: alarms[name]["fixed"])
        count, runs = alarms[most]["fixed"], alarms[most]["runs"]
        chance = 1 - float(stats.binom.cdf(count - 1, runs, 0.05)) ** len(alarms)
        said.append(
            f"False alarms at the exact ε: at most {count} of {runs} runs ({most}) over {len(alarms)} mechanisms; if"
            f" each had the allowed 5 % the largest count would be as large with probability {chance:.2g}."
        )
    if rejection:
        quick = [name for name, row in rejection.items() if row["draws"] is not None and row["draws"] <= 5000]
        rest = [f"{name} {_draws(row['draws'])}" for name, row in rejection.items() if name not in quick]
        said.append(
            f"The anytime mode rejects {len(quick)} of {len(rejection)} gross bugs (claim off by a factor 2 or more)"
            f" within 5000 draws in all{'; ' if rest else ''}{', '.join(rest)}."
        )
    if memory:
        said.append(f"Peak memory with 10⁶ scalar draws a side: {memory['laplace']['megabytes']:.0f} MB.")
    return "\n".join(said)
