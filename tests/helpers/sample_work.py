"""Work for worker processes in tests: they find it by its name. The shared value is a folder where marks are left."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np


def square(shared: Any, task: int) -> int:
    return task * task


def fails(shared: Any, task: int) -> int:
    raise ArithmeticError(f"task {task} has no answer")


def _first(folder: str, name: str) -> bool:
    """Whether this is the first to ask; others see its mark."""
    try:
        (Path(folder) / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def dies_once(folder: str, task: int) -> int:
    if task == 3 and _first(folder, "died"):
        os.kill(os.getpid(), signal.SIGKILL)
    return task * task


def hangs_once(folder: str, task: int) -> int:
    if task == 3 and _first(folder, "hung"):
        os.kill(os.getpid(), signal.SIGSTOP)
    return task * task


def dies_always(folder: str | None, task: int) -> int:
    if task == 3:
        if folder is not None:
            (Path(folder) / f"died-{os.getpid()}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task * task


def tells_its_process(folder: str, task: int) -> int:
    (Path(folder) / f"pid-{os.getpid()}").touch()
    time.sleep(0.05)
    return task


def environment(shared: Any, task: str) -> str | None:
    return os.environ.get(task)


def laplace(dataset: list[float], size: int, rng: np.random.Generator) -> np.ndarray:
    """ε = 1 on sums that differ by 1."""
    return sum(dataset) + rng.laplace(size=size)


def gaussian(dataset: list[float], size: int, rng: np.random.Generator) -> np.ndarray:
    """Standard deviation 2."""
    return sum(dataset) + 2 * rng.standard_normal(size)


def noisy_word(dataset: list[float], rng: np.random.Generator) -> Any:
    """Words, one draw a call, from the global state; prints, warns and raises now and then."""
    u = np.random.random()
    if u < 0.01:
        print("rare")
    if u < 0.02:
        raise KeyError("rare")
    return "low" if u + 0.1 * sum(dataset) < 0.5 else "high"


def dies_and_leaves_a_child(folder: str, task: int) -> int:
    """The first worker forks a process that keeps its pipes open for a minute, and dies."""
    if _first(folder, "died"):
        child = os.fork()
        if child == 0:
            os.setsid()
            time.sleep(60)
            os._exit(0)
        (Path(folder) / f"pid-{child}").touch()
        os._exit(3)
    return task * task


def prints(shared: Any, task: int) -> int:
    """Says something where the answers of a worker process go, and asks where its requests come from."""
    os.write(1, b"noise")
    assert os.read(0, 10) == b""
    return task


def length(shared: bytes, task: bytes) -> int:
    return len(shared) + len(task)
