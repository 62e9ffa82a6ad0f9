"""The pool: one interface, the same answers, and workers that die or never answer change nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
import sample_work

from audit.runtime import pool, process, worker
from audit.runtime.pool import Pool
from audit.runtime.worker import WorkersLost

ROOT = Path(pool.__file__).parents[2]
SQUARES = [(i, i * i) for i in range(10)]


def answers(who: Pool, function: Callable[[Any, Any], Any], shared: Any = None, tasks: Any = range(10)) -> list[Any]:
    return sorted(who.run(function, shared, tasks))


def test_the_same_answers_here_and_in_processes() -> None:
    assert answers(Pool.here(), sample_work.square) == answers(Pool.processes(2), sample_work.square) == SQUARES


@pytest.mark.parametrize("who", [Pool.here(), Pool.processes(1)], ids=str)
def test_what_the_work_raises_is_raised(who: Pool) -> None:
    with pytest.raises(ArithmeticError, match="task 0 has no answer"):
        answers(who, sample_work.fails, tasks=[0])


@pytest.mark.parametrize("function", [sample_work.dies_once, sample_work.hangs_once])
def test_a_process_that_dies_or_never_answers_is_replaced(
    function: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE", 0.3)
    monkeypatch.setattr(pool, "START", 5.0)
    assert answers(Pool.processes(2, patience=0.7), function, str(tmp_path)) == SQUARES
    assert len(list(tmp_path.iterdir())) == 1


def test_work_that_nobody_survives_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(WorkersLost, match="4 workers in a row were lost with the same piece of work"):
        answers(Pool.processes(1), sample_work.dies_always, str(tmp_path), [3])
    assert len(list(tmp_path.glob("died-*"))) == 4
    found = dict(Pool.processes(1).run(sample_work.dies_always, None, [3], lost=lambda task, reason: -1))
    assert found == {3: -1}


@pytest.mark.parametrize("attempts", [1, 2])
def test_it_is_tried_as_often_as_is_asked_for(attempts: int, tmp_path: Path) -> None:
    said = "one worker was lost" if attempts == 1 else f"{attempts} workers in a row were lost"
    with pytest.raises(WorkersLost, match=said):
        list(Pool.processes(1).run(sample_work.dies_always, str(tmp_path), [3], attempts=attempts))
    assert len(list(tmp_path.glob("died-*"))) == attempts


def test_workers_start_with_fixed_hashing_and_one_thread() -> None:
    for name, value in process.ENVIRONMENT.items():
        assert answers(Pool.processes(1), sample_work.environment, None, [name]) == [(name, value)]
        assert os.environ.get(name) != value or name != "PYTHONHASHSEED"


@pytest.mark.linux("reads /proc")
def test_closing_early_ends_the_workers(tmp_path: Path) -> None:
    running = Pool.processes(2).run(sample_work.tells_its_process, str(tmp_path), range(1000))
    next(running)
    running.close()
    assert not any(map(alive, pids(tmp_path)))


DRIVER = """
import sys
import sample_work
from audit.runtime.pool import Pool
if __name__ == "__main__":
    for _ in Pool.processes(2).run(sample_work.tells_its_process, sys.argv[1], range(10000)):
        print("one", flush=True)
"""


def pids(folder: Path) -> list[int]:
    return [int(path.name.removeprefix("pid-")) for path in folder.glob("pid-*")]


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.linux("reads /proc")
def test_workers_do_not_outlive_a_killed_driver(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{Path(sample_work.__file__).parent}"}
    command = [sys.executable, str(script), str(tmp_path)]
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    assert driver.stdout is not None
    assert driver.stdout.readline() == "one\n"
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    workers = pids(tmp_path)
    assert workers
    deadline = time.monotonic() + 20
    while any(map(alive, workers)):
        assert time.monotonic() < deadline, "workers are still alive"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers = 0 must be a whole number from 1 to 4096"),
        ({"workers": True}, "workers = True must be"),
        ({"workers": 2.5}, "workers = 2.5 must be"),
        ({"scheduler": "host:8786"}, "must read tcp://HOST:PORT"),
        ({"workers": 2, "scheduler": "local"}, "give one of them"),
    ],
)
def test_pools_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pool.of(**options)


def test_what_options_mean() -> None:
    assert Pool.of() == Pool.of(1) == Pool.here()
    assert Pool.of(3) == Pool.processes(3)
    assert Pool.of(scheduler="tcp://a:1") == Pool.of("tcp://a:1") == Pool.dask("tcp://a:1")
    assert Pool.processes().workers == os.cpu_count()


def test_what_cannot_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="cannot be sent to worker processes"):
        answers(Pool.processes(1), sample_work.square, (i for i in range(3)))
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(ValueError, match="use a function of a module, or workers=1"):
        answers(Pool.processes(1), sample_work.square, lambda: None)


# ------------------------------------------------------------------------------- what could hang, and must not


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_dead_worker_is_noticed_though_its_child_keeps_the_pipe_open(tmp_path: Path) -> None:
    began = time.monotonic()
    assert answers(Pool.processes(2), sample_work.dies_and_leaves_a_child, str(tmp_path)) == SQUARES
    assert time.monotonic() - began < 40
    for pid in pids(tmp_path):
        os.kill(pid, signal.SIGKILL)


def test_more_than_a_pipe_holds_to_a_worker_that_never_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten megabytes to an interpreter that is stopped before it reads any: nobody waits for the pipe."""
    monkeypatch.setattr(pool, "START", 3.0)
    real, made = process.Interpreter, []

    class Stopped(process.Interpreter):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            if not made:
                os.kill(self.process.pid, signal.SIGSTOP)
            made.append(self)

    monkeypatch.setattr(pool, "Interpreter", Stopped)
    large = b"x" * 10_000_000
    found = list(Pool.processes(1, patience=0.5).run(sample_work.length, large, [large]))
    assert found == [(large, 20_000_000)]
    assert len(made) >= 2
    assert issubclass(Stopped, real)


def test_what_the_work_prints_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    assert answers(Pool.processes(1), sample_work.prints, tasks=[1, 2]) == [(1, 1), (2, 2)]
    assert capfd.readouterr() == ("", "noisenoise")


def test_a_task_that_may_not_be_tried_again_is_lost_at_once_and_others_go_on(tmp_path: Path) -> None:
    started: list[int] = []
    found = Pool.processes(2).run(
        sample_work.dies_always,
        None,
        range(6),
        attempts=1,
        started=started.append,
        lost=lambda task, reason: reason,  # type: ignore[arg-type,return-value]
    )
    assert dict(found) == {i: i * i for i in range(6)} | {3: "the worker process died (exit code -9)"}
    assert started == list(range(6))


SCRIPT = """
from audit.runtime.pool import Pool
def cube(shared, task):
    return task**3
GUARD
    print(sorted(Pool.processes(2).run(cube, None, [2, 3])))
"""


@pytest.mark.parametrize("guard", ['if __name__ == "__main__":', "if True:"])
@pytest.mark.parametrize("cloud", [True, False])
def test_functions_of_a_script_are_found_and_a_script_without_its_guard_is_told(
    guard: str, cloud: bool, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    hidden = "" if cloud else "import sys; sys.modules['cloudpickle'] = None\n"
    script.write_text(hidden + SCRIPT.replace("GUARD", guard))
    found = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    if guard == "if True:":
        assert "WorkersLost: a worker cannot import the main module (RuntimeError: " in found.stderr
        assert 'put what the script does under if __name__ == "__main__":' in found.stderr
    else:
        assert (found.stdout, found.stderr) == ("[(2, 8), (3, 27)]\n", "")


class Held:
    """A shared value that says when it is closed."""

    closed: ClassVar[list[str]] = []

    def __init__(self, name: str):
        self.name = name

    def close(self) -> None:
        Held.closed.append(self.name)


def named(shared: Held, task: int) -> str:
    return f"{shared.name}{task}"


def test_other_work_closes_what_was_held_and_readies_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    readied = []
    monkeypatch.setattr(worker, "keep_memory", lambda: readied.append(True))
    monkeypatch.setattr(Held, "closed", [])
    first, second = (worker.pack(named, Held(name)) for name in "ab")
    try:
        assert [worker.perform(work, task)[0] for task in (1, 2) for work in (first, first, second)] == [
            *("a1", "a1", "b1"),
            *("a2", "a2", "b2"),
        ]
        assert Held.closed == ["a", "b", "a"]
        assert len(readied) == 4
    finally:
        worker.close_held()
