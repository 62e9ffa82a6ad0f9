"""What long audits survive, and what workers, a cluster and hostile input cost: real faults, load, fuzz."""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from audit import executors
from audit.bench import _faults as faults
from audit.bench import _fuzz as fuzz
from audit.bench._faults import Job

HELP = "faults (kill −9, hung workers, full disk, Ctrl-C, clock), load (10⁸ draws, speed-up, Dask), hostile input"

FAULT_SAMPLES = 30_000
KILLS = 20
LOAD_DRAWS, DASK_DRAWS = 10**8, 10**7
FUZZ = 10_000
ROUNDS = 3
TARGETS = {"memory_mb": 500, "speed_up": 1.8, "dask_overhead": 0.15}

Progress = Callable[[str], None]


def run(progress: Progress, **_: Any) -> dict[str, Any]:
    """All of it, one thing after another; load is measured in ratios of runs that take turns."""
    result: dict[str, Any] = {
        "load_average_before": round(os.getloadavg()[0], 1),
        "cores": os.cpu_count(),
        "targets": TARGETS,
    }
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        result["faults"] = run_faults(scratch, progress)
        result["load"] = run_load(scratch, progress)
        with contextlib.suppress(ImportError):
            result["dask"] = run_dask(scratch, progress)
        result["fuzz"] = run_fuzz(scratch, progress)
    result["load_average_after"] = round(os.getloadavg()[0], 1)
    return result


# ---------------------------------------------------------------------------------------------------- faults


def run_faults(scratch: Path, progress: Progress) -> list[dict[str, Any]]:
    """Each fault: how often it was made, and whether the result was that of the undisturbed run."""
    job = Job(scratch, FAULT_SAMPLES)
    began = time.monotonic()
    wanted = job.run(None)
    longest = time.monotonic() - began
    two = ("--workers", "2")
    plan: list[tuple[str, int, Callable[[Path], dict[str, Any]]]] = [
        (
            "kill −9 of the driver, random moments",
            KILLS // 2,
            lambda out: faults.kills(job, out, KILLS // 2, 1, longest)[1],
        ),
        (
            "the same with 2 workers",
            KILLS - KILLS // 2,
            lambda out: faults.kills(job, out, KILLS - KILLS // 2, 2, longest, *two)[1],
        ),
        ("kill −9 of a worker process", 1, lambda out: faults.killed_worker(job, out)),
        ("a worker process that never answers", 1, lambda out: faults.stopped_worker(job, out)),
        ("disk full (small tmpfs), then enlarged", 1, lambda out: faults.full_disk(job, *two)),
        ("file size limit, then lifted", 1, lambda out: faults.full_quota(job, out, *two)),
        ("Ctrl-C", 1, lambda out: faults.interrupted(job, out, *two)),
        ("clock jumps by decades at every look", 1, lambda out: faults.jumping_clock(job, out, *two)),
    ]
    rows = [
        _fault(name, count, scratch / f"fault-{i}", make, wanted, progress)
        for i, (name, count, make) in enumerate(plan)
    ]
    with contextlib.suppress(ImportError), cluster() as dask:
        for sent, name in (
            (signal.SIGKILL, "kill −9 of a Dask worker"),
            (signal.SIGSTOP, "a Dask worker that never answers"),
        ):
            make = functools.partial(faults.cluster_worker, job, cluster=dask, sent=sent)
            rows.append(_fault(name, 1, scratch / f"dask-{sent.name}", make, wanted, progress))
    return rows


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
    with executors.environment(path), executors.local_cluster(workers) as made:
        yield made


# ------------------------------------------------------------------------------------------------------ load


def _timed(job: Job, *options: str) -> tuple[float, float]:
    """Seconds of a whole command, and the largest memory (MB) of its processes together."""
    began = time.monotonic()
    process = job.start(None, *options)
    largest, over = [0.0], threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            largest[0] = max(largest[0], memory(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        output, errors = process.communicate()
    finally:
        over.set()
        watcher.join()
    if process.returncode not in (0, 1):
        raise faults.Fault(f"ended with {process.returncode}: {errors[-300:]}{output[-100:]}")
    return time.monotonic() - began, largest[0]


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
    return Job(scratch, draws // 2, "audit.bench._mechanisms:laplace")


def run_load(scratch: Path, progress: Progress) -> dict[str, Any]:
    """10⁸ draws of a scalar mechanism, on one worker and on two; whole commands, start and burn-in included.

    The processor time of both is measured too: on a machine that does other things it says what the clock cannot.
    """
    job = _job(scratch, LOAD_DRAWS)
    seconds: dict[str, float] = {}
    processor: dict[str, float] = {}
    largest = 0.0
    for workers in ("2", "1"):
        before = _processor_time()
        seconds[workers], largest_now = _timed(job, "--workers", workers)
        processor[workers] = _processor_time() - before
        largest = max(largest, largest_now)
        times = f"{seconds[workers]:.0f} s ({processor[workers]:.0f} s of processor time)"
        progress(f"{LOAD_DRAWS:.0e} draws, workers {workers}: {times}, {largest_now:.0f} MB")
    speed_up = seconds["1"] / seconds["2"]
    return {
        "draws": LOAD_DRAWS,
        "seconds": seconds,
        "processor_seconds": processor,
        "memory_mb": largest,
        "speed_up": speed_up,
        "load_average": round(os.getloadavg()[0], 1),
    }


def _processor_time() -> float:
    """Processor time of all commands that have ended, and of what they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_dask(scratch: Path, progress: Progress) -> dict[str, Any]:
    """Two worker processes against two workers of a running Dask cluster, in turns; whole commands."""
    job = _job(scratch, DASK_DRAWS)
    local, remote = [], []
    with cluster() as dask:
        for i in range(ROUNDS):
            local.append(_timed(job, "--workers", "2")[0])
            remote.append(_timed(job, "--scheduler", dask.scheduler_address)[0])
            progress(f"{DASK_DRAWS:.0e} draws, round {i + 1}: processes {local[-1]:.1f} s, Dask {remote[-1]:.1f} s")
    return {"draws": DASK_DRAWS, "processes": local, "dask": remote, "overhead": min(remote) / min(local) - 1}


# ------------------------------------------------------------------------------------------------------ fuzz


def run_fuzz(scratch: Path, progress: Progress) -> dict[str, Any]:
    """Hostile command lines and files: how many cases, and what was wrong with any."""
    wrong: list[str] = []
    done = 0
    with fuzz.Sandbox(scratch / "fuzz").entered() as box:
        for case in (*fuzz.special_cases(), *fuzz.cases(1, FUZZ)):
            complaint = box.attempt(case)
            wrong += [f"{case}: {complaint}"] if complaint else []
            done += 1
            if done % 1000 == 0:
                progress(f"{done} hostile cases, {len(wrong)} failures")
    return {"cases": done, "failures": len(wrong), "first": wrong[:5]}


# ---------------------------------------------------------------------------------------------------- tables


def render(result: dict[str, Any]) -> str:
    """Two markdown tables: faults, and figures against their targets."""
    rows = ["| fault | times | result against the undisturbed run |", "|---|---|---|"]
    for row in result["faults"]:
        same = {True: "identical", False: "**differs**", None: "not tried here"}[row["identical"]]
        rows.append(f"| {row['fault']} | {row['times']} | {same} |")
    target = result["targets"]
    load, dask, fuzzed = result["load"], result.get("dask"), result["fuzz"]
    rows += ["", "| load | measured | target |", "|---|---|---|"]
    seconds, many = load["seconds"]["2"], f"{load['draws']:.0e} draws"
    rate = load["draws"] / seconds / 1e6
    rows.append(f"| {many} of a scalar, 2 workers | {seconds:.0f} s ({rate:.1f} million a second) | |")
    rows.append(f"| memory of all its processes | {load['memory_mb']:.0f} MB | ≤ {target['memory_mb']} MB |")
    rows.append(f"| 2 workers over 1, {many} | {load['speed_up']:.2f} times as fast | ≥ {target['speed_up']} |")
    extra = load["processor_seconds"]["2"] / load["processor_seconds"]["1"] - 1
    rows.append(f"| processor time of 2 workers over 1 | {100 * extra:+.0f} % | |")
    if dask is not None:
        rows.append(
            f"| Dask against processes, {dask['draws']:.0e} draws | {100 * dask['overhead']:+.0f} % time"
            f" | ≤ {100 * target['dask_overhead']:.0f} % |"
        )
    rows.append(f"| hostile inputs | {fuzzed['failures']} failures in {fuzzed['cases']} cases | 0 |")
    before, after = result["load_average_before"], result["load_average_after"]
    rows += ["", f"{result['cores']} cores; load average {before} before the run and {after} after."]
    return "\n".join(rows)
