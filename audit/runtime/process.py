"""Processes that this program starts, each in a group of its own, and how they end for certain.

No call here waits for a process without a limit: it is asked to end, then its whole group is killed.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence

from audit.runtime.messages import receive, send

GRACE = 2.0
"""Seconds that a process gets to end what it has started: an idle one needs some milliseconds."""
KILLED = 5.0
"""Seconds within which a killed process must be gone; one that hangs in the kernel for longer is left to the system."""
ENVIRONMENT = {"PYTHONHASHSEED": "0"} | dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""What a worker process starts with: the order of sets and the number of threads must not change a result."""


def kill_group(pid: int) -> None:
    """Kill a process and all that it started, if they are still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def end(process: subprocess.Popen[bytes], grace: float) -> None:
    """Wait for a process that was asked to end, then kill its group (what it has left behind, too) and reap it."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(grace)
    kill_group(process.pid)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(KILLED)


class Interpreter:
    """A fresh interpreter that runs `audit.runtime.worker`: messages go in, answers go to a queue that others share.

    A pipe holds little: a thread of its own writes, so that a process that does not read holds nobody up; and another
    reads. In the queue an answer stands with its interpreter; None instead of an answer means that it is gone.
    """

    def __init__(self, answers: queue.SimpleQueue[tuple[Interpreter, bytes | None]], first: Iterable[bytes]):
        code = f"import sys; sys.path[:] = {sys.path!r}; from audit.runtime.worker import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | ENVIRONMENT,
            start_new_session=True,
            bufsize=0,
        )
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        for message in first:
            self.send(message)
        threading.Thread(target=self._write, daemon=True).start()
        threading.Thread(target=self._read, args=(answers,), daemon=True).start()
        self.since = time.monotonic()
        """When it was last given something."""
        self.has_answered = False

    def send(self, message: bytes) -> None:
        """Have a message written; this returns at once."""
        self.since = time.monotonic()
        self._outgoing.put(message)

    def _write(self) -> None:
        assert self.process.stdin is not None
        with self.process.stdin as pipe, contextlib.suppress(OSError):
            while (message := self._outgoing.get()) is not None:
                send(pipe.fileno(), message)

    def _read(self, answers: queue.SimpleQueue[tuple[Interpreter, bytes | None]]) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as pipe:
            while (answer := receive(pipe.fileno())) is not None:
                self.has_answered = True
                answers.put((self, answer))
            answers.put((self, None))

    def ask_to_end(self) -> None:
        """Hang up: it ends as soon as it notices, whatever it is doing."""
        self._outgoing.put(None)

    def kill(self) -> None:
        """End it at once, with all that it started."""
        self.ask_to_end()
        end(self.process, 0.0)

    def how_it_ended(self) -> str:
        """In words, of one that has hung up."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE)
        code = self.process.returncode
        self.kill()
        return f"the worker process died (exit code {code})" if code is not None else "the worker process hung up"


def end_all(interpreters: Sequence[Interpreter]) -> None:
    """Ask all to end and see them gone; together they have `GRACE` seconds."""
    for one in interpreters:
        one.ask_to_end()
    deadline = time.monotonic() + GRACE
    for one in interpreters:
        end(one.process, max(0.0, deadline - time.monotonic()))
