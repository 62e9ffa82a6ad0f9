"""Executors: one interface, the same answers, and workers that die or never answer change nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pytest
import sample_work

from audit.runtime import executors, workers
from audit.runtime.executors import Crew, InProcess, Meter, carry_out, crew, dask, duration, here, processes
from audit.runtime.workers import WorkersLost

ROOT = Path(executors.__file__).parents[2]
SQUARES = [(i, i * i) for i in range(10)]


def answers(who: Crew, function: Callable[[Any, Any], Any], shared: Any = None, tasks: Any = range(10)) -> list[Any]:
    return sorted(carry_out(who, function, shared, tasks))


def test_in_process_is_a_standard_executor() -> None:
    with InProcess() as executor:
        assert isinstance(executor, Executor)
        assert list(executor.map(abs, [-1, 2])) == [1, 2]
        assert isinstance(executor.submit(sample_work.fails, None, 1).exception(), ArithmeticError)


def test_the_same_answers_here_and_in_processes() -> None:
    assert answers(here(), sample_work.square) == answers(processes(2), sample_work.square) == SQUARES


@pytest.mark.parametrize("who", [here(), processes(1)], ids=str)
def test_what_the_work_raises_is_raised(who: Crew) -> None:
    with pytest.raises(ArithmeticError, match="task 0 has no answer"):
        answers(who, sample_work.fails, tasks=[0])


@pytest.mark.parametrize("function", [sample_work.dies_once, sample_work.hangs_once])
def test_a_process_that_dies_or_never_answers_is_replaced(
    function: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "GRACE", 0.3)
    monkeypatch.setattr(executors, "START", 5.0)
    assert answers(processes(2, patience=0.7), function, str(tmp_path)) == SQUARES
    assert len(list(tmp_path.iterdir())) == 1


def test_work_that_nobody_survives_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(WorkersLost, match="4 workers in a row were lost with the same piece of work"):
        answers(processes(1), sample_work.dies_always, str(tmp_path), [3])
    found = dict(carry_out(processes(1), sample_work.dies_always, None, [3], lost=lambda task, reason: -1))
    assert found == {3: -1}


def test_workers_start_with_fixed_hashing_and_one_thread() -> None:
    for name, value in workers.ENVIRONMENT.items():
        assert answers(processes(1), sample_work.environment, None, [name]) == [(name, value)]
        assert os.environ.get(name) != value or name != "PYTHONHASHSEED"


@pytest.mark.linux("reads /proc")
def test_closing_early_ends_the_workers(tmp_path: Path) -> None:
    running = carry_out(processes(2), sample_work.tells_its_process, str(tmp_path), range(1000))
    next(running)
    running.close()
    assert not any(map(alive, pids(tmp_path)))


DRIVER = """
import sys
import sample_work
from audit.runtime.executors import carry_out, processes
if __name__ == "__main__":
    for _ in carry_out(processes(2), sample_work.tells_its_process, sys.argv[1], range(10000)):
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
def test_crews_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        crew(**options)


def test_what_options_mean() -> None:
    assert crew() == crew(1) == here()
    assert crew(3) == processes(3)
    assert crew(scheduler="tcp://a:1") == crew("tcp://a:1") == dask("tcp://a:1")
    assert processes().workers == os.cpu_count()


def test_what_cannot_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="cannot be sent to worker processes"):
        answers(processes(1), sample_work.square, (i for i in range(3)))
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(ValueError, match="use a function of a module, or workers=1"):
        answers(processes(1), sample_work.square, lambda: None)


def test_the_meter_says_how_far_and_how_long() -> None:
    said: list[str] = []
    meter = Meter("draws", 1000, said.append, done=500, live=False)
    assert meter.text(10.0).startswith("draws: 500 of 1e+03 (50 %)")
    meter.add(250)
    assert meter.text(10.0) == "draws: 750 of 1e+03 (75 %), 10 s left"
    assert said == []
    assert [duration(s) for s in (7.4, 185, 9600, 300_000)] == ["7 s", "3:05 min", "2:40 h", "3 days"]
