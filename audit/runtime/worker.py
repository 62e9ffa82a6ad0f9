"""What a worker does, in a process of this machine or on a cluster: it is given a function and a value once, and then
one task after another.

Both travel as bytes and are made there once. A worker process (`main`) reads messages on its standard input and writes
answers to its standard output; what the work itself prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib
import os
import pickle
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import process, spawn
from typing import Any, TypeVar

from audit.runtime.messages import receive, send

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class WorkersLost(Exception):
    """The work cannot go on: one line that says why. What was finished is safe."""


# --------------------------------------------------------------------------------------- what is to be done


@dataclass(frozen=True)
class PackedWork:
    """A function and the value that all its tasks share, on their way to a worker."""

    digest: str
    data: bytes


def pack(function: Callable[[Any, Task], Answer], shared: Any) -> PackedWork:
    """Both as bytes for workers; with cloudpickle (which comes with Dask) functions without a module pass too."""
    try:
        dumps = importlib.import_module("cloudpickle").dumps
    except ImportError:
        dumps = pickle.dumps
    try:
        data: bytes = dumps((function, shared))
    except Exception as error:  # noqa: BLE001 - a foreign object may refuse in any way
        raise ValueError(
            f"this cannot be sent to worker processes ({type(error).__name__}: {error}):"
            " use a function of a module, or workers=1"
        ) from None
    return PackedWork(hashlib.blake2b(data, digest_size=16).hexdigest(), data)


_one_at_a_time = threading.Lock()
_held: tuple[str, Any, Any] | None = None


def perform(work: PackedWork, task: Any) -> tuple[Any, float]:
    """The answer to a task, and the seconds that it took. One at a time: foreign code may use global state."""
    with _one_at_a_time:
        function, shared = _unpacked(work)
        begun = time.monotonic()
        return function(shared, task), time.monotonic() - begun


def _unpacked(work: PackedWork) -> tuple[Any, Any]:
    """The function and the shared value; they are made once a process."""
    global _held
    if _held is None or _held[0] != work.digest:
        close_held()
        keep_memory()
        try:
            _held = work.digest, *pickle.loads(work.data)
        except Exception as error:  # noqa: BLE001 - importing foreign modules may fail in any way
            raise WorkersLost(
                f"a worker cannot load what it is to run ({type(error).__name__}: {error}):"
                " install the same modules there"
            ) from None
    return _held[1], _held[2]


def close_held() -> None:
    """Close what this process holds (a command that it started, for instance)."""
    global _held
    held, _held = _held, None
    if held is not None and hasattr(held[2], "close"):
        held[2].close()


KEPT = 128 * 2**20
"""Bytes of free memory that a process may keep: more than a block of draws and its tables take (16384 rows)."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Names of options in glibc's malloc.h."""


def keep_memory() -> None:
    """Let glibc keep what a block of draws needs instead of returning it to the system after each.

    In a fresh process the pages of every large array are given back and faulted in again: that was measured to take as
    long as the computing, and more in two processes at once. Elsewhere this does nothing.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        options = ctypes.CDLL(None).mallopt
        options(_TRIM_THRESHOLD, KEPT)
        options(_MMAP_THRESHOLD, KEPT // 4)


# ---------------------------------------------------------------------------------------- a worker process


@dataclass(frozen=True)
class Finished:
    """What a worker process answers: the answer and the seconds that it took, or the error instead."""

    answer: Any = None
    seconds: float = 0.0
    error: Exception | None = None


def preparation() -> dict[str, Any]:
    """What a worker needs to find what is defined in the main module of this process."""
    found = spawn.get_preparation_data("worker")
    return {key: found[key] for key in ("init_main_from_name", "init_main_from_path") if key in found}


def main() -> None:
    """Answer messages until the other side hangs up: the preparation, the work, then tasks."""
    requests, answers = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's business
    signal.signal(signal.SIGTERM, _leave)
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, inbox), daemon=True).start()
    prepared, work = pickle.loads(inbox.get()), pickle.loads(inbox.get())
    while True:
        task = inbox.get()
        try:
            _import_main(prepared)
            prepared = {}
            found = Finished(*perform(work, pickle.loads(task)))
        except Exception as error:  # noqa: BLE001 - the driver raises it
            error.add_note(f"in a worker process:\n{traceback.format_exc()}")
            found = Finished(error=error)
        send(answers, _pickled(found))


def _read(requests: int, inbox: queue.SimpleQueue[bytes]) -> None:
    """Messages to the inbox. Without a driver there is no work: a worker ends when the other side is closed."""
    while (message := receive(requests)) is not None:
        inbox.put(message)
    _leave()


def _leave(*_: object) -> None:
    close_held()
    os._exit(1)


def _import_main(prepared: dict[str, Any]) -> None:
    """Import the driver's main module, under another name: functions that are defined in it are found there."""
    current: Any = process.current_process()
    current._inheriting = True  # the mark by which multiprocessing refuses to start workers of workers in here
    try:
        spawn.prepare(prepared)
    except Exception as error:  # noqa: BLE001 - whatever a script does when it is imported
        reason = next(iter(str(error).strip().splitlines()), "")
        raise WorkersLost(
            f"a worker cannot import the main module ({type(error).__name__}: {reason}):"
            ' put what the script does under if __name__ == "__main__":'
        ) from None
    finally:
        del current._inheriting


def _pickled(found: Finished) -> bytes:
    """The answer as bytes that can be read again; where it cannot, an error that says so."""
    try:
        data = pickle.dumps(found)
        if found.error is not None:
            pickle.loads(data)
        return data
    except Exception as error:  # noqa: BLE001 - whatever pickling foreign objects may raise
        what = found.error if found.error is not None else error
        return pickle.dumps(Finished(error=RuntimeError(f"{type(what).__name__}: {what}")))
