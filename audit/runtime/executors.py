"""Where work runs: in this process, in processes of this machine, or on a Dask cluster.

All three are reached through the interface of `concurrent.futures`: an `Executor` that takes a function and a task and
gives a future. `carry_out` keeps a few tasks a worker in flight, yields results as they come, and gives a task again
when its worker died or fell silent. Tasks must be pure (the same result wherever and whenever they run), so that
giving one twice is harmless.

=============  ==========================================  =============================================================
crew           executor                                    when a worker dies / never answers
=============  ==========================================  =============================================================
`here()`       runs the task when it is submitted          -
`processes()`  `ProcessPoolExecutor`, fresh interpreters   a new pool / the pool is ended, then a new pool
`dask(addr)`   `distributed.Client(addr).get_executor()`   Dask gives it to another / restarted, or passed over
=============  ==========================================  =============================================================

Nothing here looks at the time of day: a clock that is set back or forward changes nothing.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from dataclasses import dataclass
from multiprocessing import context, parent_process
from typing import Any

from audit.runtime.cluster import LOCAL, DaskSession, load_beside
from audit.runtime.workers import (
    ENVIRONMENT,
    IN_FLIGHT,
    Answer,
    Frozen,
    Given,
    Session,
    Task,
    WorkersLost,
    environment,
    freeze,
    interrupts_held,
    let_go,
    receive,
)

PATIENCE = 120.0
"""Seconds without any answer after which workers count as hung, unless tasks are known to take long."""
SLACK = 20.0
"""... or so many times the longest time that a task has taken."""
ATTEMPTS = 4
"""A task that so many workers did not survive, or did not answer, is given up."""
START = 20.0
"""... and seconds that workers get to start, before the first answer."""
GRACE = 2.0
"""Seconds that a worker process gets to end what it has started."""


@dataclass(frozen=True)
class Crew:
    """Who does the work: kind "here", "processes" or "dask"."""

    kind: str
    workers: int = 1
    address: str = ""
    patience: float = PATIENCE

    def __str__(self) -> str:
        if self.kind == "dask":
            return f"Dask at {self.address}" if self.address != LOCAL else f"Dask here, {self.workers} workers"
        return "this process" if self.kind == "here" else f"{self.workers} processes"


def here() -> Crew:
    """Whoever asks does the work, in this process."""
    return Crew("here")


def processes(workers: int | None = None, patience: float = PATIENCE) -> Crew:
    """So many worker processes (default: one a core)."""
    return Crew("processes", _checked(workers), "", patience)


def dask(address: str = LOCAL, workers: int | None = None, patience: float = PATIENCE) -> Crew:
    """The Dask scheduler at this address, or a cluster of this machine ("local")."""
    if address != LOCAL and "://" not in address:
        raise ValueError(f'scheduler = {address!r} must read tcp://HOST:PORT, or "{LOCAL}"')
    return Crew("dask", _checked(workers), address, patience)


def crew(workers: int | str | Crew | None = None, scheduler: str | None = None) -> Crew:
    """The crew that options describe: a number of processes (1: this one), a scheduler's address, or neither."""
    if isinstance(workers, Crew):
        return workers
    if scheduler is not None or isinstance(workers, str):
        if scheduler is not None and workers is not None:
            raise ValueError(f"workers = {workers} and scheduler = {scheduler}: give one of them")
        return dask(str(scheduler if scheduler is not None else workers))
    return here() if workers is None or _checked(workers) == 1 else processes(workers)


def get_ready(who: Crew) -> None:
    """Begin what the crew needs before its first task, beside other work; no process may be forked until then."""
    if who.kind == "dask":
        load_beside()


def _checked(workers: int | None) -> int:
    count = (os.cpu_count() or 1) if workers is None else workers
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 4096:
        raise ValueError(f"workers = {workers!r} must be a whole number from 1 to 4096")
    return count


# -------------------------------------------------------------------------------------------- the work


def carry_out(
    who: Crew,
    function: Callable[[Any, Task], Answer],
    shared: Any,
    tasks: Iterable[Task],
    expected: float = 0.0,
    lost: Callable[[Task, str], Answer] | None = None,
) -> Generator[tuple[Task, Answer], None, None]:
    """Yield (task, function(shared, task)) for all tasks, in the order in which they are done.

    `shared` goes to each worker once. `expected` is about how many seconds a task takes. A task that no worker
    survives becomes `lost(task, reason)`, or raises `WorkersLost`. What `function` raises is raised here. Close the
    generator to stop all workers.
    """
    waiting = deque(enumerate(tasks))
    flying: dict[Future[tuple[Answer, float]], tuple[int, Task]] = {}
    attempts: Counter[int] = Counter()
    slowest, fresh = expected, True
    with _session(who, shared) as session:
        while waiting or flying:
            while waiting and len(flying) < session.window:
                number, task = waiting.popleft()
                flying[session.submit(function, task)] = number, task
            patience = max(who.patience, SLACK * slowest) + fresh * START
            done, _ = wait(flying, timeout=patience, return_when=FIRST_COMPLETED)
            broken, reason = not done, f"no answer for {patience:.0f} s"
            for future in done:
                error = _loss(future)
                if error is not None and not _given_up(future):
                    broken, reason = True, error
                    continue
                _, task = flying.pop(future)
                if error is not None:
                    yield task, _lost(task, error, lost)
                    continue
                answer, took = future.result()
                slowest, fresh = max(slowest, took), False
                yield task, answer
            if broken:
                gone, fresh = list(flying.values()), True
                flying.clear()
                session.renew(hung=not done)
                for number, task in reversed(gone):
                    attempts[number] += 1
                    if attempts[number] < ATTEMPTS:
                        waiting.appendleft((number, task))
                    else:
                        yield task, _lost(task, reason, lost)


def _lost(task: Task, reason: str, instead: Callable[[Task, str], Answer] | None) -> Answer:
    """What stands for the answer of a task that nobody survives."""
    if instead is None:
        raise WorkersLost(f"{ATTEMPTS} workers in a row were lost with the same piece of work ({reason})")
    return instead(task, reason)


def _given_up(future: Future[Any]) -> bool:
    """Whether Dask has given the task to several workers itself, in vain."""
    return not future.cancelled() and type(future.exception()).__name__ == "KilledWorker"


def _loss(future: Future[Any]) -> str | None:
    """Why the worker of this future was lost; None if it answered (also: if the answer is an exception)."""
    try:
        error = future.exception()
    except CancelledError:
        return "the worker or the scheduler was lost"
    if isinstance(error, BrokenExecutor) or type(error).__name__ in (
        "KilledWorker",
        "CommClosedError",
        "FutureCancelledError",
    ):
        return "the worker process died"
    return None


@contextlib.contextmanager
def _session(who: Crew, shared: Any) -> Iterator[Session]:
    session: Session
    if who.kind == "here":
        session = _Here(shared)
    elif who.kind == "processes":
        session = _Processes(who, freeze(shared))
    else:
        session = DaskSession(who.address, who.workers, freeze(shared))
    try:
        yield session
    finally:
        session.close()


# ---------------------------------------------------------------------------------------- in this process


class InProcess(Executor):
    """Runs a call when it is submitted."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The finished future of the call."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the future carries it
            future.set_exception(error)
        return future


class _Here(Session):
    window = 1

    def __init__(self, shared: Any):
        self.executor, self.token = InProcess(), Given(shared)

    def renew(self, hung: bool) -> None:
        raise WorkersLost("this process lost itself")  # cannot happen: a submitted call is a finished call

    def close(self) -> None:
        return


# --------------------------------------------------------------------------------------------- processes


class _Recording(context.SpawnContext):
    """A context that remembers the processes it has made, so that they can be ended."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[context.SpawnProcess] = []
        make = context.SpawnContext.Process

        def process(*args: Any, **kwargs: Any) -> context.SpawnProcess:
            made = make(*args, **kwargs)
            self.made.append(made)
            return made

        self.Process = process  # type: ignore[misc,assignment]


class _Processes(Session):
    def __init__(self, who: Crew, frozen: Frozen):
        self._frozen, self._workers = frozen, who.workers
        self.window = IN_FLIGHT * who.workers
        self._open()

    def _open(self) -> None:
        self._context = _Recording()
        self.executor = ProcessPoolExecutor(self._workers, self._context, _begin, (self._frozen,))

    def submit(self, function: Callable[[Any, Task], Answer], task: Task) -> Future[tuple[Answer, float]]:
        with environment(ENVIRONMENT), interrupts_held():
            return super().submit(function, task)

    def renew(self, hung: bool) -> None:
        self.close()
        self._open()

    def close(self) -> None:
        for process in self._context.made:
            if process.is_alive():
                process.terminate()
        deadline = time.monotonic() + GRACE
        for process in self._context.made:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
        self.executor.shutdown(wait=True, cancel_futures=True)


def _begin(frozen: Frozen) -> None:
    """How a worker process starts: Ctrl-C is the driver's business, and without a driver there is no work."""
    receive(frozen)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _leave(*_: object) -> None:
    let_go()
    os._exit(1)


def _follow_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        _leave()


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let the first Ctrl-C or request to terminate raise `KeyboardInterrupt`, and no other after it.

    Whoever presses the keys again and again must not break the clean end that the first one began: stopping the
    workers and writing the report.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        for one in signals:
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt

    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(one, stop) for one in signals]
    try:
        yield
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)


# ---------------------------------------------------------------------------------------------- progress


class Meter:
    """Says how far the work is and how long it will take: on a terminal twice a second, in a log ever more rarely."""

    def __init__(self, what: str, total: int, say: Callable[[str], None], done: int = 0, live: bool | None = None):
        self._what, self._total, self._say = what, total, say
        self._done = self._before = done
        self._live = sys.stderr.isatty() if live is None else live
        self._started = time.monotonic()
        self._next = 0.5 if self._live else 2.0

    def add(self, amount: int) -> None:
        """So much more is done."""
        self._done += amount
        elapsed = time.monotonic() - self._started
        if elapsed >= self._next:
            self._next = elapsed + 0.5 if self._live else 1.25 * elapsed
            self._say(self.text(elapsed))

    def text(self, elapsed: float) -> str:
        """How far, how fast, how long."""
        rate = (self._done - self._before) / max(elapsed, 1e-9)
        left = (self._total - self._done) / max(rate, 1e-9)
        share = 100 * self._done / max(self._total, 1)
        return f"{self._what}: {self._done:.3g} of {self._total:.3g} ({share:.0f} %), {duration(left)} left"


def duration(seconds: float) -> str:
    """A time for people: 7 s, 3:05 min, 2:40 h, 3 days."""
    whole = int(min(seconds, 10.0**12) + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h" if whole < 172_800 else f"{whole // 86_400} days"
