"""A worker process for code that hangs, exits the interpreter, forks or floods.

The worker is a fork in a process group of its own: it needs no pickling of mechanisms or datasets, and ends as a
whole. Its file descriptors 1 and 2 lead into a pipe that is drained and counted. A counter in shared memory tells the
parent when the last call began, so that a call which never returns to the interpreter is noticed too. A process that
the audited code forks and that comes back out of the call would answer twice: it is ended there, and the audit with
it. So is a flood of output.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import pickle
import select
import signal
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from audit.auditor.targets.containment import MechanismTimeout, Noticed
from audit.auditor.targets.sampling import BlockName, CallableTarget, Pair, Target, TargetError
from audit.auditor.terms.leaves import Flattened, flatten
from audit.runtime.messages import CHUNK, receive, send
from audit.runtime.process import KILLED, kill_group
from audit.runtime.threads import cannot_be_forked, without_openmp_threads

Array = np.ndarray

FLOOD = 2**30
"""Bytes on stdout and stderr that end the audit: more than any mechanism says on purpose."""
GRACE = 2.0
"""Seconds beyond the timeout before the parent ends a worker that did not interrupt the call itself."""
LOOK = 0.1
"""Seconds between two looks whether a worker that says nothing is well."""


class Worker:
    """A forked process that answers requests with `serve(request)`."""

    def __init__(self, serve: Callable[[Any], Any], timeout: float | None):
        if not hasattr(os, "fork"):
            raise TargetError("isolate = True needs a system that can fork: run the mechanism with --exec instead")
        if (library := cannot_be_forked()) is not None:
            raise TargetError(
                f"isolate = True makes a copy of this process, in which {library}, whose threads run already, would"
                " hang: leave isolate out, or run the mechanism with --exec"
            )
        self.timeout = timeout
        self.flooded = 0
        self._clock = mmap.mmap(-1, 24)
        request_end, self._requests = os.pipe()
        self._replies, reply_end = os.pipe()
        self._chatter, chatter_end = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self._code: int | None = None
        self.pid = _fork()
        if self.pid == 0:
            for end in (self._requests, self._replies, self._chatter):
                os.close(end)
            _child(serve, self._clock, request_end, reply_end, chatter_end)
        for end in (request_end, reply_end, chatter_end):
            os.close(end)
        self._drain = threading.Thread(target=self._count, daemon=True)
        self._drain.start()

    def _count(self) -> None:
        with contextlib.suppress(OSError):
            while chunk := os.read(self._chatter, CHUNK):
                self.flooded += len(chunk)

    def ask(self, request: Any) -> Any:
        """Send a request and wait for its reply; `TargetError` says what became of a worker that gives none."""
        self._begin()
        with contextlib.suppress(BrokenPipeError):
            send(self._requests, pickle.dumps(request))
        kind, value = pickle.loads(self._receive())
        if kind == "timeout":
            raise MechanismTimeout
        if kind == "failed":
            raise TargetError(value)
        if kind == "nested":
            raise RecursionError(value)
        return value

    @property
    def escaped(self) -> int:
        """How many forked copies came back out of the mechanism."""
        return int(struct.unpack_from("q", self._clock, 16)[0])

    @property
    def calls(self) -> int:
        """Calls begun so far."""
        return int(struct.unpack_from("q", self._clock, 8)[0])

    def _begin(self) -> None:
        struct.pack_into("d", self._clock, 0, time.monotonic())

    def _receive(self) -> bytes:
        while not select.select([self._replies], [], [], LOOK)[0]:
            self._check_behaviour()
            if self._overdue():
                self.close()
                raise MechanismTimeout
            if self._has_ended():  # what the mechanism forked may keep the pipe open
                break
        reply = receive(self._replies) if select.select([self._replies], [], [], 0.0)[0] else None
        self._check_behaviour()
        if reply is None:
            raise TargetError(self._how_it_ended())
        return reply

    def _check_behaviour(self) -> None:
        if self.flooded > FLOOD:
            raise TargetError(
                f"the mechanism wrote more than {FLOOD} bytes to stdout and was ended: nothing could be tested"
            )
        if self.escaped:
            raise TargetError(
                "the mechanism forked and the copy came back out of the call: which of the two answers is unclear"
            )

    def _overdue(self) -> bool:
        begun = struct.unpack_from("d", self._clock, 0)[0]
        return self.timeout is not None and time.monotonic() - begun > self.timeout + GRACE

    def _has_ended(self) -> bool:
        """Whether the process is over; its exit code is kept."""
        with contextlib.suppress(ChildProcessError):
            if self._code is None:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                self._code = os.waitstatus_to_exitcode(status) if pid else None
            return self._code is not None
        return True

    def _how_it_ended(self) -> str:
        """In words, of a process that hung up; one that is still there after a while has closed its pipes itself."""
        deadline = time.monotonic() + GRACE
        while not self._has_ended() and time.monotonic() < deadline:
            time.sleep(LOOK)
        code = self._code
        self.close()
        if code is None:
            return "the mechanism closed the pipes of its process: nothing could be tested"
        how = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        return f"the mechanism ended its interpreter in call {self.calls} ({how}): nothing could be tested"

    def close(self) -> None:
        """End the process group. A second call does nothing."""
        if self.pid:
            kill_group(self.pid)
            deadline = time.monotonic() + KILLED
            while not self._has_ended() and time.monotonic() < deadline:
                time.sleep(0.001)
            self.pid = 0
        for name in ("_requests", "_replies"):
            end = getattr(self, name)
            if end >= 0:
                os.close(end)
                setattr(self, name, -1)
        self._drain.join(timeout=1.0)
        if self._chatter >= 0 and not self._drain.is_alive():
            os.close(self._chatter)
            self._chatter = -1


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


_HOME = 0
_CLOCK: mmap.mmap | None = None


def _child(serve: Callable[[Any], Any], clock: mmap.mmap, requests: int, replies: int, chatter: int) -> None:
    """The worker's life: requests in, replies out, until the pipe closes or the audited code ends it."""
    global _HOME, _CLOCK
    try:
        os.setsid()
        _HOME, _CLOCK = os.getpid(), clock
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, goal in ((nothing, 0), (chatter, 1), (chatter, 2)):
            os.dup2(source, goal)
        without_openmp_threads()
        while True:
            request = receive(requests)
            if request is None:
                os._exit(0)
            try:
                reply = ("done", serve(pickle.loads(request)))
            except MechanismTimeout:
                reply = ("timeout", None)
            except TargetError as error:
                reply = ("failed", str(error))
            except RecursionError as error:
                reply = ("nested", str(error))
            _stay_home()
            send(replies, _pickled(reply))
    finally:
        os._exit(70)


def _pickled(reply: Any) -> bytes:
    try:
        return pickle.dumps(reply)
    except Exception as error:  # noqa: BLE001 - whatever pickling foreign objects may raise
        return pickle.dumps(
            ("failed", f"what the mechanism publishes cannot leave its process ({type(error).__name__}): use release=")
        )


def _stay_home() -> None:
    """End a process that the audited code forked and that came back out of it."""
    if _HOME and os.getpid() != _HOME:
        assert _CLOCK is not None
        struct.pack_into("q", _CLOCK, 16, 1)
        os._exit(0)


class _Inside:
    """The target as its worker sees it: the parent's clock runs while draws are made, not while they are counted."""

    def __init__(self, inner: CallableTarget):
        self._inner, self.batched = inner, inner.batched
        self._call, self._parent = inner._call, os.getpid()

    @property
    def noticed(self) -> Noticed:
        """What was noticed since this was last set."""
        return self._inner.noticed

    @noticed.setter
    def noticed(self, value: Noticed) -> None:
        self._inner.noticed = value

    def outputs(self, pair: Pair, labels: Array, name: BlockName) -> Any:
        """The draws of a block. A worker whose parent is gone ends: nobody waits for them."""
        if os.getppid() != self._parent:
            os._exit(0)
        self._inner._call = self._timed
        _wait_from(time.monotonic())
        try:
            return self._inner.outputs(pair, labels, name)
        finally:
            _wait_from(math.inf)

    def _timed(self, dataset: Any, size: int | None, rng: Any) -> Any:
        """The mechanism's call, with its beginning noted for the parent."""
        tick()
        try:
            return self._call(dataset, size, rng)
        finally:
            _stay_home()


class IsolatedTarget:
    """A `CallableTarget` that lives in a worker. Use as a context manager, or `close()` it."""

    def __init__(self, target: CallableTarget):
        self.inner = target
        self.batched = target.batched
        self.timeout = target.timeout
        self._worker: Worker | None = None
        self._subject: object = None

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process, which can itself be ended: the target as it is."""
        inner = self.inner
        return type(inner), (inner.mechanism, inner.release, inner.timeout)

    @property
    def noticed(self) -> Noticed:
        """What was noticed in the worker."""
        return self.inner.noticed

    @noticed.setter
    def noticed(self, value: Noticed) -> None:
        self.inner.noticed = value

    def outputs(self, pair: Pair, labels: Array, name: BlockName) -> Any:
        """The draws of a block, made in the worker."""
        return self.ask(pair, lambda target, request: _portable(target.outputs(pair, *request)), (labels, name))

    def ask(self, subject: object, serve: Callable[[Target, Any], Any], request: Any) -> Any:
        """What `serve(target, request)` gives in the worker.

        A worker knows what there was when it was forked: it stays for as long as the subject is the same object.
        """
        if self._worker is None or subject is not self._subject:
            self.close()
            self._worker, self._subject = Worker(self._served(serve), self.timeout), subject
        try:
            answer, noticed = self._worker.ask(request)
            self.inner.noticed.add(noticed)
            if self.inner.noticed.printed > FLOOD:
                raise TargetError(
                    f"the mechanism wrote more than {FLOOD} characters to stdout: nothing could be tested"
                )
        except (TargetError, MechanismTimeout):
            self.close()
            raise
        return answer

    def _served(self, serve: Callable[[Target, Any], Any]) -> Callable[[Any], Any]:
        inside = _Inside(self.inner)

        def served(request: Any) -> Any:
            inside.noticed = Noticed()
            return serve(inside, request), inside.noticed

        return served

    def close(self) -> None:
        """End the worker, if there is one."""
        if self._worker is not None:
            self._worker.close()
            self.inner.noticed.printed += self._worker.flooded
            self._worker = self._subject = None

    def __enter__(self) -> IsolatedTarget:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _portable(outputs: Any) -> Any:
    """Outputs that can be pickled: as they are, or flattened. Either way they are the same rows of a table."""
    if isinstance(outputs, np.ndarray):
        return outputs
    try:
        pickle.dumps(outputs)
    except Exception:  # noqa: BLE001 - foreign objects may raise anything here
        return [Flattened(tuple(leaves), nesting) for leaves, nesting in map(flatten, outputs)]
    return outputs


def in_child(function: Callable[[], Any], timeout: float | None = 60.0) -> Any:
    """The result of a function that is run in a worker of its own; `tick()` in it says that it is alive."""
    worker = Worker(lambda _: function(), timeout)
    try:
        return worker.ask(None)
    finally:
        worker.close()


def tick() -> None:
    """Called at the beginning of each call in a worker; does nothing elsewhere."""
    if _CLOCK is not None and os.getpid() == _HOME:
        struct.pack_into("dq", _CLOCK, 0, time.monotonic(), struct.unpack_from("q", _CLOCK, 8)[0] + 1)


def _wait_from(moment: float) -> None:
    """Let the parent's patience begin at this moment (never: infinity); does nothing elsewhere."""
    if _CLOCK is not None and os.getpid() == _HOME:
        struct.pack_into("d", _CLOCK, 0, moment)


def in_interpreter(
    python: str, target: str, *, folder: str = ".", parameters: str = "{}", timeout: float | None = 60.0
) -> Any:
    """A mechanism `module:callable` in another interpreter or virtual environment, as a target for `audit_dp`.

    The other interpreter needs neither this package nor numpy. Classes with `fit` are published as by `estimator`.

    Args:
        python: the interpreter, e.g. "/path/to/venv/bin/python".
        target: MODULE:CALLABLE, as that interpreter finds it.
        folder: the folder that it is started in.
        parameters: a JSON object of keyword arguments.
        timeout: seconds that a call may take; None for no limit.

    Returns:
        A target for `audit_dp`, and a context manager that ends the process.

    Raises:
        TargetError: the interpreter cannot be started, or the mechanism cannot be loaded there.

    >>> import sys
    >>> from dpso import audit_dp
    >>> with in_interpreter(sys.executable, "random:uniform", parameters="{}") as target:
    ...     type(target).__name__
    'ExecTarget'
    """
    import shlex

    from audit.auditor.targets import serve as worker
    from audit.auditor.targets.command import ExecTarget

    words = [python, worker.__file__, target, "--folder", folder, "--parameters", parameters]
    return ExecTarget(shlex.join(words), timeout=timeout)
