"""Real faults for a running `dpso test`: processes are killed, stopped, interrupted; the disk fills; the clock jumps.

Each function drives one run through a fault (and on to its end, with `--resume` where the run ended) and returns the
result; it should be the result of the undisturbed run, bit for bit, but for the seconds. A fault that came too late, to
a run that was over, is no fault and raises. Shared by the tests (small) and by `dpso bench resilience`.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import audit
from audit.runtime.store import NAME

ROOT = Path(audit.__file__).parent.parent
LIMIT = 120.0
"""Seconds after which a run counts as stuck: an undisturbed one takes three, and twenty on a machine under load."""
SMALL = 2**15
"""Bytes of a disk that an empty store and some records fit on, but not all of a run (80 kB with its journal)."""
SMALL_FILE = 48
"""The same as a limit on the size of a file, in the shell's blocks of 512 bytes (an empty store takes 40)."""


class Fault(Exception):
    """The fault could not be made, or the run did not end as it should."""


@dataclass(frozen=True)
class Job:
    """A `dpso test` in a scratch folder."""

    scratch: Path
    samples: int
    mechanism: str = "bench.mechanisms:slow_laplace"
    delta: str = "1e-5"

    def command(self, out: Path | None, *options: str) -> list[str]:
        """The command line."""
        pair = self.scratch / "pair.json"
        if not pair.exists():
            pair.write_text('{"dataset": [0.0], "neighbour": [1.0]}')
        words = [sys.executable, "-m", "dpso", "test", self.mechanism, "--data", str(pair), "--json"]
        words += ["--epsilon", "1", "--delta", self.delta, "--samples", str(self.samples), *options]
        return words if out is None else [*words, "--out", str(out), "--resume"]

    def start(
        self, out: Path | None, *options: str, before: tuple[str, ...] = (), path: str = ""
    ) -> subprocess.Popen[str]:
        """The running command, in a process group of its own."""
        search = os.pathsep.join(p for p in (path, str(ROOT), os.environ.get("PYTHONPATH", "")) if p)
        return subprocess.Popen(
            [*before, *self.command(out, *options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": search},
        )

    def run(self, out: Path | None, *options: str, path: str = "") -> dict[str, Any]:
        """The result of a run that nobody disturbs."""
        return self.finish(self.start(out, *options, path=path))

    def finish(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        """The result of a run that ends well, without its time."""
        output, errors = process.communicate(timeout=LIMIT)
        if process.returncode not in (0, 1) or "Traceback" in errors:
            raise Fault(f"the run ended with {process.returncode}: {errors[-500:]}")
        result: dict[str, Any] = json.loads(output)
        return {key: value for key, value in result.items() if key != "seconds"}


# -------------------------------------------------------------------------------------------------- helpers


def wait_for(condition: Callable[[], Any], process: subprocess.Popen[str] | None = None) -> Any:
    """What the condition gives when it is met; the end of the process is the end of waiting."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        if found := condition():
            return found
        if process is not None and process.poll() is not None:
            raise Fault(f"the run ended early, with {process.returncode}")
        time.sleep(0.01)
    raise Fault("waited in vain")


def records(out: Path) -> int:
    """How many records the store has; its driver has locked it, so this looks past the lock and may miss the last."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{out / NAME}?immutable=1", uri=True)) as database:
            return int(database.execute("SELECT count(*) FROM records").fetchone()[0])
    except sqlite3.Error:
        return 0


def children(pid: int) -> list[int]:
    """The worker processes of a driver."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"audit.runtime.worker" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def end(process: subprocess.Popen[str]) -> None:
    """End a run and everything that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


# ---------------------------------------------------------------------------------------------------- faults


def timed(job: Job) -> tuple[dict[str, Any], float]:
    """The result of the undisturbed run, and the seconds that it took."""
    began = time.monotonic()
    return job.run(None), time.monotonic() - began


def kills(job: Job, out: Path, count: int, seed: int, longest: float, *options: str) -> dict[str, Any]:
    """Kill −9 the driver `count` times at random moments of at most `longest` seconds, going on each time.

    A run that is over before it can be killed gives its result; the next kills hit a new run. If several results
    come about they must be the same.
    """
    rng = random.Random(seed)
    done, results = 0, []
    while done < count:
        process = job.start(out, *options)
        try:
            process.wait(rng.uniform(0.0, longest))
            results.append(job.finish(process))
            shutil.rmtree(out)
        except subprocess.TimeoutExpired:
            process.kill()  # the driver alone: its workers must notice
            process.communicate()
            done += process.returncode == -signal.SIGKILL
    results.append(job.run(out, *options))
    if any(result != results[0] for result in results):
        raise Fault("two runs that went on after kills gave different results")
    return results[0]


def _send(process: subprocess.Popen[str], pid: int, sent: signal.Signals) -> None:
    """Send a signal to a process of a run that is not over (a negative number: to a group of processes)."""
    if process.poll() is not None:
        raise Fault("the run was over before the fault")
    os.kill(pid, sent)


def killed_while_writing(job: Job, out: Path, after: int, *options: str) -> dict[str, Any]:
    """Kill −9 the driver as soon as the store has so many records; then go on."""
    process = job.start(out, *options)
    wait_for(lambda: records(out) >= after, process)
    _send(process, process.pid, signal.SIGKILL)
    process.communicate()
    if process.returncode != -signal.SIGKILL:
        raise Fault("the run was over before the kill")
    return job.run(out, *options)


def interrupted(job: Job, out: Path, *options: str) -> dict[str, Any]:
    """Ctrl-C in the middle, which must end the run cleanly; then go on."""
    process = job.start(out, *options)
    wait_for(lambda: records(out) >= 1, process)
    _send(process, -process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT)
    if process.returncode != 130 or "Traceback" in errors or "--resume" not in errors:
        raise Fault(f"Ctrl-C ended the run with {process.returncode}: {errors[-500:]}")
    return job.run(out, *options)


def stopped_worker(job: Job, out: Path) -> dict[str, Any]:
    """Stop one of two worker processes in the middle: it lives, and never answers."""
    process = job.start(out, "--workers", "2", "--patience", "1")
    try:
        wait_for(lambda: records(out) >= 1, process)
        _send(process, wait_for(lambda: children(process.pid), process)[0], signal.SIGSTOP)
        return job.finish(process)
    finally:
        end(process)


def killed_worker(job: Job, out: Path) -> dict[str, Any]:
    """Kill −9 one of two worker processes in the middle."""
    process = job.start(out, "--workers", "2")
    try:
        wait_for(lambda: records(out) >= 1, process)
        _send(process, wait_for(lambda: children(process.pid), process)[0], signal.SIGKILL)
        return job.finish(process)
    finally:
        end(process)


def cluster_worker(job: Job, out: Path, cluster: Any, sent: signal.Signals) -> dict[str, Any]:
    """Kill or stop one Dask worker in the middle."""
    process = job.start(out, "--scheduler", cluster.scheduler_address, "--patience", "3")
    try:
        wait_for(lambda: records(out) >= 1, process)
        _send(process, next(iter(cluster.workers.values())).process.pid, sent)
        return job.finish(process)
    finally:
        end(process)


CLOCK = """
import itertools, time
_real, _jumps = time.time, itertools.cycle((0.0, 1e9, -1e9, 3600.0, -3600.0))
time.time = lambda: _real() + next(_jumps)
time.time_ns = lambda: int(1e9 * time.time())
"""


def jumping_clock(job: Job, out: Path, *options: str) -> dict[str, Any]:
    """The time of day jumps by hours and decades at every look, in the driver and in its workers."""
    return job.run(out, *options, path=_clock(job.scratch / "clock", CLOCK))


SET_CLOCK = """
import time
_real = time.time
def _now():
    try:
        with open({file!r}) as set_by:
            return _real() + float(set_by.read() or 0)
    except FileNotFoundError:
        return _real()
time.time = _now
time.time_ns = lambda: int(1e9 * time.time())
"""


def set_clock(job: Job, out: Path, by: float, *options: str) -> dict[str, Any]:
    """The clock is set forward or back by so many seconds in the middle, for the driver and all that it started."""
    file = job.scratch / f"set by {by:g}"
    clock = _clock(job.scratch / f"clock {by:g}", SET_CLOCK.format(file=str(file)))
    process = job.start(out, *options, "--patience", "3", path=clock)
    try:
        wait_for(lambda: records(out) >= 1, process)
        file.write_text(repr(by))
        if process.poll() is not None:
            raise Fault("the run was over before the clock was set")
        return job.finish(process)
    finally:
        end(process)


def _clock(folder: Path, code: str) -> str:
    """A folder for PYTHONPATH whose module changes the clock of every interpreter that starts with it."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(code)
    return str(folder)


@contextlib.contextmanager
def small_disk(where: Path, size: int) -> Iterator[Path]:
    """A file system of so many bytes, if this user may make one."""
    where.mkdir(exist_ok=True)
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(where)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise PermissionError(f"no small file system can be made here: {made.stderr.strip()}")
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", str(where)], check=True)


def full_disk(job: Job, *options: str) -> dict[str, Any]:
    """The disk fills up in the middle, which must end the run with one line; then it is enlarged, and on it goes."""
    with small_disk(job.scratch / "disk", SMALL) as disk:
        out = disk / "out"
        _no_space(job.start(out, *options))
        subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
        return job.run(out, *options)


def full_quota(job: Job, out: Path, *options: str) -> dict[str, Any]:
    """The same with a limit on the size of files, which anybody may set."""
    _no_space(job.start(out, *options, before=("sh", "-c", f'ulimit -f {SMALL_FILE}; exec "$@"', "sh")))
    return job.run(out, *options)


def _no_space(process: subprocess.Popen[str]) -> None:
    _, errors = process.communicate(timeout=LIMIT)
    lines = [line for line in errors.splitlines() if line.startswith("dpso: ")]
    if process.returncode != 2 or "Traceback" in errors or len(lines) != 1 or "make room" not in lines[0]:
        raise Fault(f"a full disk ended the run with {process.returncode}: {errors[-500:]}")
