"""What a worker holds and does, and how it is started: what all executors share.

A task is a function, a shared value and what to apply it to. The shared value travels once to each worker process, as
bytes, and is made there once.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib
import os
import pickle
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any, TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")

IN_FLIGHT = 2
"""Tasks a worker: one that runs and one that is ready."""
ENVIRONMENT = {"PYTHONHASHSEED": "0"} | dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""What a worker process starts with: the order of sets and the number of threads must not change a result."""


class WorkersLost(Exception):
    """The work cannot go on: one line that says why. What was finished is safe."""


class Session(ABC):
    """An open executor, and what stands for the shared value in a task."""

    executor: Executor
    window: int
    token: Any = None

    def submit(self, function: Callable[[Any, Task], Answer], task: Task) -> Future[tuple[Answer, float]]:
        try:
            return self.executor.submit(perform, function, self.token, task)
        except BrokenExecutor as error:
            future: Future[tuple[Answer, float]] = Future()
            future.set_exception(error)
            return future

    @abstractmethod
    def renew(self, hung: bool) -> None:
        """A fresh executor after workers were lost; `hung` if they may still be running."""

    @abstractmethod
    def close(self) -> None:
        """End everything, finished or not."""


# ------------------------------------------------------------------------------------------ the shared value


@dataclass(frozen=True)
class Given:
    """A shared value as it is."""

    value: Any


@dataclass(frozen=True)
class Frozen:
    """A shared value on its way to a worker."""

    digest: str
    data: bytes


def freeze(value: Any) -> Frozen:
    """The value as bytes for workers; with cloudpickle (which comes with Dask) functions without a module pass too."""
    try:
        dumps = importlib.import_module("cloudpickle").dumps
    except ImportError:
        dumps = pickle.dumps
    try:
        data: bytes = dumps(value)
    except Exception as error:  # noqa: BLE001 - a foreign object may refuse in any way
        raise ValueError(
            f"this cannot be sent to worker processes ({type(error).__name__}: {error}):"
            " use a function of a module, or workers=1"
        ) from None
    return Frozen(hashlib.blake2b(data, digest_size=16).hexdigest(), data)


KEPT = 128 * 2**20
"""Bytes of free memory that a process may keep."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Names of options in glibc's malloc.h."""

_alone = threading.Lock()
_frozen: Frozen | None = None
_held: tuple[str, Any] | None = None


def receive(frozen: Frozen) -> None:
    """Keep the shared value of all tasks that come without one."""
    global _frozen
    _frozen = frozen


def perform(function: Callable[[Any, Task], Answer], token: Given | Frozen | None, task: Task) -> tuple[Answer, float]:
    """What a worker does with a task, and the seconds that it took.

    One at a time in a process: foreign code may use global state.
    """
    begun = time.monotonic()
    if isinstance(token, Given):
        return function(token.value, task), time.monotonic() - begun
    with _alone:
        shared = _thawed(token if token is not None else _frozen)
        begun = time.monotonic()
        return function(shared, task), time.monotonic() - begun


def _thawed(frozen: Frozen | None) -> Any:
    """The shared value; it is made once a process."""
    global _held
    assert frozen is not None
    if _held is None or _held[0] != frozen.digest:
        let_go()
        keep_memory()
        try:
            value = pickle.loads(frozen.data)
        except Exception as error:  # noqa: BLE001 - importing foreign modules may fail in any way
            raise WorkersLost(
                f"a worker cannot load what it is to run ({type(error).__name__}: {error}):"
                " install the same modules there"
            ) from None
        _held = frozen.digest, value
    return _held[1]


def keep_memory() -> None:
    """Let glibc keep what a block of draws needs instead of returning it to the system after each.

    In a fresh process the pages of every large array are given back and faulted in again: that was measured to take as
    long as the computing, and more in two processes at once. Elsewhere this does nothing.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        options = ctypes.CDLL(None).mallopt
        options(_TRIM_THRESHOLD, KEPT)
        options(_MMAP_THRESHOLD, KEPT // 4)


def let_go() -> None:
    """Close what this process holds (a command that it started, for instance)."""
    global _held
    held, _held = _held, None
    if held is not None and hasattr(held[1], "close"):
        held[1].close()


# ------------------------------------------------------------------------------------------------ starting


@contextlib.contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Within: these environment variables. Afterwards all are as before, whoever changed them."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while a process starts: it inherits the mask, and so never prints a traceback of its own."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would lift the mask when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
