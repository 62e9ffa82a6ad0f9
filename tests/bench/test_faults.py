"""Real faults in a running `dpso test`: the result is that of the undisturbed run, bit for bit.

`dpso bench resilience` does more of the same.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
import sample_checks
import sample_work
from night import by_day

from audit.auditor.api import audit_dp
from audit.auditor.targets import stored
from audit.auditor.targets.command import ExecTarget
from audit.auditor.targets.sampling import Pair, TargetError
from audit.checks import job as main_job
from audit.runtime import cluster as cluster_module
from audit.runtime.cluster import environment, local_cluster
from audit.runtime.errors import InputError
from bench import faults as faults
from bench.faults import Job

SAMPLES = 8_000


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    return Job(tmp_path_factory.mktemp("faults"), SAMPLES)


@pytest.fixture(scope="module")
def timed(job: Job) -> tuple[dict[str, Any], float]:
    return faults.timed(job)


@pytest.fixture(scope="module")
def undisturbed(timed: tuple[dict[str, Any], float]) -> dict[str, Any]:
    return timed[0]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    with (
        environment({"PYTHONPATH": os.pathsep.join([str(faults.ROOT), *sys.path])}),
        local_cluster(2) as made,
    ):
        yield made


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.night) for seed in (2, 3))])
def test_kill_9_of_the_driver(seed: int, job: Job, timed: tuple[dict[str, Any], float], tmp_path: Path) -> None:
    """Two kills each (by night five), at random moments, going on every time: half of them with worker processes."""
    workers = ("--workers", "2") if seed % 2 else ()
    assert faults.kills(job, tmp_path / "out", by_day(2, 5), seed, timed[1], *workers) == timed[0]


@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["here", "2 workers"])
def test_kill_9_while_the_store_is_written(
    workers: tuple[str, ...], job: Job, undisturbed: dict[str, Any], tmp_path: Path
) -> None:
    assert faults.killed_while_writing(job, tmp_path / "out", 1, *workers) == undisturbed


def test_ctrl_c_and_a_clock_that_jumps(job: Job, undisturbed: dict[str, Any], tmp_path: Path) -> None:
    assert faults.interrupted(job, tmp_path / "a", "--workers", "2") == undisturbed
    assert faults.jumping_clock(job, tmp_path / "b", "--workers", "2") == undisturbed


def test_a_clock_that_is_set_while_a_cluster_works(job: Job, undisturbed: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    assert faults.set_clock(job, tmp_path / "out", 1e9, "--scheduler", "local") == undisturbed


@pytest.mark.linux("finds workers through /proc")
def test_a_worker_that_never_answers(job: Job, undisturbed: dict[str, Any], tmp_path: Path) -> None:
    assert faults.stopped_worker(job, tmp_path / "out") == undisturbed


def test_kill_9_of_a_dask_worker(job: Job, undisturbed: dict[str, Any], cluster: Any, tmp_path: Path) -> None:
    assert faults.cluster_worker(job, tmp_path / "out", cluster, signal.SIGKILL) == undisturbed


def test_the_checks_of_the_main_job_on_a_cluster(cluster: Any) -> None:
    found = []
    for scheduler in (None, cluster.scheduler_address):
        checks = [*sample_checks.GOOD[:2], sample_checks.BAD["dies"]]
        report = main_job.new_report("quick", 3, checks)
        main_job.run(checks, report, main_job.pool(1, scheduler), lambda result: None)
        found.append([replace(result, seconds=0.0) for result in report.ordered()])
    assert found[0] == found[1]
    assert found[0][2].error == "the worker process died (exit code 7)"


def test_a_main_job_without_its_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    monkeypatch.setattr(cluster_module, "CONNECT", 0.3)
    report = main_job.new_report("quick", 3, sample_checks.GOOD[:1])
    with pytest.raises(InputError, match=r"no Dask scheduler answers there .* continue with --resume"):
        main_job.run(sample_checks.GOOD[:1], report, main_job.pool(1, "tcp://127.0.0.1:9"), lambda result: None)


@pytest.mark.linux("mounts a tmpfs")
def test_a_full_disk(job: Job, undisturbed: dict[str, Any]) -> None:
    try:
        assert faults.full_disk(job) == undisturbed
    except PermissionError as error:
        pytest.skip(f"{error}; test_store.py has a limit on files instead")


def test_a_second_driver_and_a_forgotten_resume_are_refused(job: Job, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = job.start(out)
    faults.wait_for(lambda: faults.records(out) >= 1, first)
    first.send_signal(signal.SIGSTOP)  # it is at work for as long as the second takes to start
    second = job.start(out)
    _, errors = second.communicate(timeout=60)
    faults.end(first)
    assert second.returncode == 2
    assert "another run is at work in this place" in errors
    words = [word for word in job.command(out) if word != "--resume"]
    third = subprocess.run(
        words, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(faults.ROOT)}
    )
    assert third.returncode == 2
    assert third.stderr.splitlines()[-1].endswith("add --resume to continue it, or name another --out")


# ------------------------------------------------------------------------------------------ from Python


def audited(**options: Any) -> dict[str, Any]:
    found = audit_dp(sample_work.laplace, [0.0], [1.0], epsilon=1.0, delta=1e-4, samples=20_000, **options).to_dict()
    return {key: value for key, value in found.items() if key != "seconds"}


def test_python_callers_get_the_same_bits(tmp_path: Path) -> None:
    whole = audited()
    assert audited(workers=2) == whole
    assert audited(workers=2, out=tmp_path) == whole
    assert audited(out=tmp_path, resume=True) == whole
    assert (tmp_path / "result.json").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resume": True}, "resume = True needs out"),
        ({"workers": 2, "anytime": True}, "drop workers and out"),
        ({"out": "x", "seconds": 1.0}, "the run must be repeatable"),
        ({"out": "x", "seed": None}, "the run must be repeatable"),
        ({"workers": 0}, "workers = 0 must be"),
        ({"store": "x", "workers": 2}, "drop workers and out"),
    ],
)
def test_what_cannot_be_combined(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        audited(**options)


def test_a_store_of_other_data_is_refused(tmp_path: Path) -> None:
    audited(out=tmp_path)
    with pytest.raises(ValueError, match="of another run: seed was 0, now 1"):
        audited(out=tmp_path, resume=True, seed=1)
    with pytest.raises(ValueError, match="of another run: datasets was"):
        audit_dp(sample_work.laplace, [0.0], [2.0], epsilon=1.0, delta=1e-4, samples=20_000, out=tmp_path, resume=True)


def test_a_store_of_other_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changed code may give the same burn-in and other test draws: that cannot be left to the burn-in to notice."""
    source = tmp_path / "changing_mechanism.py"
    source.write_text("def noisy(dataset, size, rng):\n    return sum(dataset) + rng.laplace(size=size)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    noisy = importlib.import_module("changing_mechanism").noisy

    def resumed() -> Any:
        return audit_dp(noisy, [0.0], [1.0], epsilon=1.0, samples=2000, out=tmp_path / "out", resume=True)

    assert resumed().to_dict() == resumed().to_dict() | {"seconds": ANY}
    with monkeypatch.context() as other:
        other.setattr(stored, "code_mark", lambda: "0" * 16)
        with pytest.raises(ValueError, match="of another run: code of dpso was"):
            resumed()
    source.write_text(source.read_text() + "# changed\n")
    with pytest.raises(ValueError, match="of another run: code of the mechanism was"):
        resumed()


# ------------------------------------------------------------------------------------------------ --exec


@pytest.mark.linux("reads /proc")
def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    script = tmp_path / "hangs.sh"
    script.write_text(f"sleep 300 &\necho $! > {mark}\ntrap '' TERM HUP\nwhile true; do sleep 300; done\n")
    with (
        ExecTarget(f"sh {script}", timeout=0.5) as target,
        pytest.raises(TargetError, match=r"did not answer within 0\.5 s"),
    ):
        target.sample([0], 3, 0)
    grandchild = Path(f"/proc/{int(mark.read_text())}/status")
    faults.wait_for(lambda: not grandchild.exists() or "\nState:\tZ" in grandchild.read_text())
    assert target._closed


def test_commands_work_in_worker_processes_too(tmp_path: Path) -> None:
    script = tmp_path / "noise.py"
    script.write_text(
        "import json, random, sys\n"
        "for line in sys.stdin:\n"
        "    ask = json.loads(line)\n"
        "    rng = random.Random(ask['seed'])\n"
        "    found = [ask['dataset'][0] + rng.gauss(0, 1) for _ in range(ask['size'])]\n"
        "    print(json.dumps({'outputs': found}), flush=True)\n"
    )
    results = []
    for workers in (None, 2):
        with ExecTarget(f"{sys.executable} {script}") as target:
            found = audit_dp(target, [0.0], [1.0], epsilon=1.0, samples=20_000, workers=workers).to_dict()
            results.append({key: value for key, value in found.items() if key != "seconds"})
    assert results[0] == results[1]
    assert results[0]["verdict"] == "violated"
    assert Pair([0.0], [1.0]).side(1) == [1.0]
