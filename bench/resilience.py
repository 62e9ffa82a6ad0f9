"""What long audits survive, and what workers, a cluster and hostile input cost: real faults, load, fuzz."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import resource
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.runtime.cluster import environment, local_cluster
from audit.runtime.errors import InputError
from audit.runtime.pool import LOCAL
from bench import faults as faults
from bench import fuzz as fuzz
from bench.faults import Job

HELP = "faults (kill −9, hung workers, full disk, Ctrl-C, clock), load (10⁸ draws, speed-up, Dask), hostile input"

FAULT_SAMPLES = 30_000
"""Samples of a run that faults happen to: it takes some seconds, so that a fault comes in its middle."""
KILLS = 20
"""How often the driver is killed: about every part of a run is hit."""
LOAD_DRAWS, DASK_DRAWS = 10**8, 10**7
"""Draws of a long audit (half a minute on two cores), and of one that is long enough for messages to matter."""
LOAD_ROUNDS, DASK_ROUNDS = 2, 5
"""How often the compared runs take turns."""
LOOK_EVERY = 3.0
"""Seconds between two looks at the memory of a run that lasts: a look takes 30 ms of a core, which two workers lack."""
FUZZ = 10_000
"""Hostile cases: each command gets hundreds."""
TARGETS = {"memory_mb": 500, "speed_up": 1.8, "dask_overhead": 0.15}
"""What is promised: chosen before it was measured."""

Progress = Callable[[str], None]


def run(progress: Progress, parts: Sequence[str] = ()) -> dict[str, Any]:
    """These parts (default all), one after another, each with the load average of the machine before it began."""
    if importlib.util.find_spec("distributed") is None:
        raise InputError("bench resilience needs a cluster: pip install 'dpso[cluster]'")
    result: dict[str, Any] = {"cores": os.cpu_count(), "targets": TARGETS}
    for part in parts or PARTS:
        before = round(os.getloadavg()[0], 1)
        with tempfile.TemporaryDirectory() as folder:
            result[part] = {**PARTS[part](Path(folder), progress), "load_average": before}
    return result


# ---------------------------------------------------------------------------------------------------- faults


def run_faults(scratch: Path, progress: Progress) -> dict[str, Any]:
    """Each fault: how often it was made, and whether the result was that of the undisturbed run."""
    job = Job(scratch, FAULT_SAMPLES)
    wanted, longest = faults.timed(job)
    two, cluster_here = ("--workers", "2"), ("--scheduler", LOCAL)
    plan: list[tuple[str, int, Callable[[Path], dict[str, Any]]]] = [
        (
            "kill −9 of the driver, random moments",
            KILLS // 2,
            lambda out: faults.kills(job, out, KILLS // 2, 1, longest),
        ),
        (
            "the same with 2 workers",
            KILLS - KILLS // 2,
            lambda out: faults.kills(job, out, KILLS - KILLS // 2, 2, longest, *two),
        ),
        ("kill −9 of a worker process", 1, lambda out: faults.killed_worker(job, out)),
        ("a worker process that never answers", 1, lambda out: faults.stopped_worker(job, out)),
        ("disk full (small tmpfs), then enlarged", 1, lambda out: faults.full_disk(job, *two)),
        ("file size limit, then lifted", 1, lambda out: faults.full_quota(job, out, *two)),
        ("Ctrl-C", 1, lambda out: faults.interrupted(job, out, *two)),
        ("clock jumps by decades at every look", 1, lambda out: faults.jumping_clock(job, out, *two)),
        (
            "kill −9 of the driver of a Dask cluster",
            1,
            lambda out: faults.killed_while_writing(job, out, 1, *cluster_here),
        ),
        ("Ctrl-C with a Dask cluster", 1, lambda out: faults.interrupted(job, out, *cluster_here)),
        ("clock set by 30 years, Dask cluster", 1, lambda out: faults.set_clock(job, out, 1e9, *cluster_here)),
        ("clock set back by 30 years, Dask cluster", 1, lambda out: faults.set_clock(job, out, -1e9, *cluster_here)),
    ]
    rows = [
        _fault(name, count, scratch / f"fault-{i}", make, wanted, progress)
        for i, (name, count, make) in enumerate(plan)
    ]
    with cluster() as dask:
        for sent, name in (
            (signal.SIGKILL, "kill −9 of a Dask worker"),
            (signal.SIGSTOP, "a Dask worker that never answers"),
        ):
            make = functools.partial(faults.cluster_worker, job, cluster=dask, sent=sent)
            rows.append(_fault(name, 1, scratch / f"dask-{sent.name}", make, wanted, progress))
    return {"rows": rows}


def _fault(
    name: str, count: int, out: Path, make: Callable[[Path], dict[str, Any]], wanted: dict[str, Any], progress: Progress
) -> dict[str, Any]:
    try:
        found, note = make(out) == wanted, ""
    except PermissionError as error:
        found, note = None, str(error)
    except (faults.Fault, subprocess.TimeoutExpired) as error:
        found, note = False, str(error)[-300:]
    progress(
        f"{name}, {count} times: {'not tried' if found is None else 'identical' if found else 'NOT identical'} {note}"
    )
    return {"fault": name, "times": count, "identical": found, "note": note}


@contextlib.contextmanager
def cluster(workers: int = 2) -> Iterator[Any]:
    """A Dask cluster of this machine, as somebody else might have started it."""
    path = {"PYTHONPATH": os.pathsep.join(p for p in (str(faults.ROOT), os.environ.get("PYTHONPATH", "")) if p)}
    with environment(path), local_cluster(workers) as made:
        yield made


# ------------------------------------------------------------------------------------------------------ load


@dataclass(frozen=True)
class Cost:
    """What a whole command took: seconds, processor time in all its processes, and their largest memory together."""

    seconds: float
    processor: float
    memory_mb: float


def _timed(job: Job, *options: str) -> Cost:
    """Run the command to its end, start and burn-in included."""
    began, used = time.monotonic(), _processor_time()
    process = job.start(None, *options)
    largest, over = [0.0], threading.Event()

    def watch() -> None:
        pause = 0.2
        while not over.wait(pause):
            largest[0] = max(largest[0], memory(process.pid))
            pause = min(1.5 * pause, LOOK_EVERY)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        output, errors = process.communicate()
    finally:
        over.set()
        watcher.join()
    if process.returncode not in (0, 1):
        raise faults.Fault(f"ended with {process.returncode}: {errors[-300:]}{output[-100:]}")
    return Cost(time.monotonic() - began, _processor_time() - used, largest[0])


def _taking_turns(
    job: Job, rivals: Mapping[str, tuple[str, ...]], rounds: int, progress: Progress
) -> dict[str, list[dict[str, float]]]:
    """The costs of commands that differ in options; every other round in the opposite order."""
    costs: dict[str, list[dict[str, float]]] = {name: [] for name in rivals}
    for i in range(rounds):
        for name in list(rivals)[:: -1 if i % 2 else 1]:
            cost = _timed(job, *rivals[name])
            costs[name].append(vars(cost))
            times = f"{cost.seconds:.1f} s, {cost.processor:.1f} s of processor time"
            progress(f"{2 * job.samples:.0e} draws, {name}, round {i + 1}: {times}, {cost.memory_mb:.0f} MB")
    return costs


def ratio(costs: dict[str, list[dict[str, float]]], over: str, under: str, what: str = "seconds") -> float:
    """The median over the rounds of what one rival took over what the other took in the same round."""
    return statistics.median(a[what] / b[what] for a, b in zip(costs[over], costs[under], strict=True))


def memory(group: int) -> float:
    """Proportional memory (MB) of a process, of what it started and of what these started."""
    total, wanted = 0.0, {group}
    parents = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    for _ in range(4):
        wanted |= {pid for pid, parent in parents.items() if parent in wanted}
    for pid in wanted:
        with contextlib.suppress(OSError, ValueError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
    return total


def _job(scratch: Path, draws: int) -> Job:
    return Job(scratch, draws // 2, "bench.mechanisms:laplace")


ONE, TWO, DASK = "1 worker", "2 workers", "Dask, 2 workers"


def run_load(scratch: Path, progress: Progress) -> dict[str, Any]:
    """10⁸ draws of a scalar mechanism, on one worker and on two, in turns; whole commands.

    The processor time of both is measured too: on a machine that does other things it says what the clock cannot.
    """
    rivals = {TWO: ("--workers", "2"), ONE: ("--workers", "1")}
    costs = _taking_turns(_job(scratch, LOAD_DRAWS), rivals, LOAD_ROUNDS, progress)
    return {
        "draws": LOAD_DRAWS,
        "costs": costs,
        "seconds": statistics.median(cost["seconds"] for cost in costs[TWO]),
        "memory_mb": max(cost["memory_mb"] for runs in costs.values() for cost in runs),
        "speed_up": ratio(costs, ONE, TWO),
        "more_processor": ratio(costs, TWO, ONE, "processor") - 1,
    }


def _processor_time() -> float:
    """Processor time of all commands that have ended, and of what they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_dask(scratch: Path, progress: Progress) -> dict[str, Any]:
    """Two worker processes against two workers of a running Dask cluster, in turns; whole commands."""
    with cluster() as dask:
        rivals = {TWO: ("--workers", "2"), DASK: ("--scheduler", dask.scheduler_address)}
        costs = _taking_turns(_job(scratch, DASK_DRAWS), rivals, DASK_ROUNDS, progress)
    return {"draws": DASK_DRAWS, "costs": costs, "overhead": ratio(costs, DASK, TWO) - 1}


# ------------------------------------------------------------------------------------------------------ fuzz


def run_fuzz(scratch: Path, progress: Progress) -> dict[str, Any]:
    """Hostile command lines and files: how many cases, and what was wrong with any."""
    wrong: list[str] = []
    done = 0
    with fuzz.Sandbox(scratch).entered() as box:
        for case in (*fuzz.special_cases(), *fuzz.cases(1, FUZZ)):
            complaint = box.attempt(case)
            wrong += [f"{case}: {complaint}"] if complaint else []
            done += 1
            if done % 1000 == 0:
                progress(f"{done} hostile cases, {len(wrong)} failures")
    return {"cases": done, "failures": len(wrong), "first": wrong[:5]}


PARTS: dict[str, Callable[[Path, Progress], dict[str, Any]]] = {
    "faults": run_faults,
    "load": run_load,
    "dask": run_dask,
    "fuzz": run_fuzz,
}
"""What can be measured on its own (`--parts`), in this order: the machine should be quiet for load and dask."""


# ---------------------------------------------------------------------------------------------------- tables


def render(result: dict[str, Any]) -> str:
    """Two markdown tables, of what was measured: faults, and figures against their targets."""
    rows = []
    if "faults" in result:
        rows += ["| fault | times | result against the undisturbed run |", "|---|---|---|"]
        for row in result["faults"]["rows"]:
            same = {True: "identical", False: "**differs**", None: "not tried here"}[row["identical"]]
            rows.append(f"| {row['fault']} | {row['times']} | {same} |")
        rows.append("")
    rows += ["| load | measured | target |", "|---|---|---|"]
    shown = {"load": _load_rows, "dask": _dask_rows, "fuzz": _fuzz_rows}
    for part, table in shown.items():
        rows += table(result[part], result["targets"]) if part in result else []
    averages = ", ".join(f"{part} {result[part]['load_average']}" for part in PARTS if part in result)
    return "\n".join([*rows, "", f"{result['cores']} cores; load average before each part: {averages}."])


def _load_rows(load: dict[str, Any], target: dict[str, float]) -> list[str]:
    many, seconds = f"{load['draws']:.0e} draws", load["seconds"]
    rate = load["draws"] / seconds / 1e6
    return [
        f"| {many} of a scalar, 2 workers | {seconds:.0f} s ({rate:.1f} million a second) | |",
        f"| memory of all its processes | {load['memory_mb']:.0f} MB | ≤ {target['memory_mb']} MB |",
        f"| 2 workers over 1, {many} | {load['speed_up']:.2f} times as fast | ≥ {target['speed_up']} |",
        f"| processor time of 2 workers over 1 | {100 * load['more_processor']:+.0f} % | |",
    ]


def _dask_rows(dask: dict[str, Any], target: dict[str, float]) -> list[str]:
    measured, allowed = 100 * dask["overhead"], 100 * target["dask_overhead"]
    return [f"| Dask against processes, {dask['draws']:.0e} draws | {measured:+.0f} % time | ≤ {allowed:.0f} % |"]


def _fuzz_rows(fuzzed: dict[str, Any], _: dict[str, float]) -> list[str]:
    return [f"| hostile inputs | {fuzzed['failures']} failures in {fuzzed['cases']} cases | 0 |"]
