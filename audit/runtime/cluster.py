"""PackedWork on a Dask cluster: one that runs somewhere, or one of this machine that is started for the occasion.

The futures of `distributed` pass for those of `concurrent.futures` (`Client.get_executor`). Dask itself gives a task to
another worker when one dies; workers that never answer are restarted, or passed over.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any

from audit.runtime.interrupts import interrupts_held
from audit.runtime.pool import LOCAL, LOOK, START, Done, Lost, Processes, Workers
from audit.runtime.process import ENVIRONMENT
from audit.runtime.worker import PackedWork, WorkersLost, perform

AHEAD = 2
"""Tasks a worker: one that runs and one that is ready, for a cluster's messages take milliseconds."""
CONNECT = 10.0
"""Seconds that a scheduler gets to answer: Dask's own default is thirty, which is long for a misspelt address."""
RESTART = 10.0
"""Seconds that a worker gets to be restarted: one on a quiet machine takes two."""
RECOUNT = 1.0
"""Seconds between two questions how many workers there are: an answer takes as long as submitting a task."""


def load() -> Any:
    """The package `distributed`, which is an extra."""
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise ValueError("scheduler: Dask is not installed; pip install 'dpso[cluster]'") from None


def load_beside() -> None:
    """Begin to load `distributed` beside other work, which must fork no process: it would inherit half a module.

    Whoever needs it later waits for it, and reports what is wrong.
    """

    def begin() -> None:
        with contextlib.suppress(ValueError):
            load()

    threading.Thread(target=begin, daemon=True).start()


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
def local_cluster(workers: int) -> Iterator[Any]:
    """Within: a Dask cluster of this machine. It has no page, and its port is any free one of this machine.

    Dask leaves variables meant for its workers in the environment of this process (one makes malloc give back all
    memory at once: programs that this process starts later took more than twice as long). They are taken back.
    """
    with contextlib.ExitStack() as end:
        with environment({}):
            made = load().LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                silence_logs=logging.CRITICAL,
            )
            end.enter_context(made)
        with environment({}):
            yield made


def _hold(work: PackedWork) -> PackedWork:
    """A task whose result is the work: Dask carries it to the workers and makes it again if it is lost."""
    return work


class _Died(Exception):
    """The fresh interpreter of a task died."""


def _perform_apart(work: PackedWork, task: Any) -> tuple[Any, float]:
    """The answer to a task from a fresh interpreter: this worker was started by somebody else, and its own threads use
    the global generators.
    """
    with contextlib.closing(Processes(1, work, {})) as workers:
        workers.give(0, task)
        (found,) = workers.wait(math.inf)
    if isinstance(found, Lost):
        raise _Died(found.reason)
    return found.answer, found.seconds


def _client(distributed: Any, where: Any) -> Any:
    """A client that is connected; one that cannot connect is closed before its error is raised.

    Left to the garbage collector it would stop its event loop at any moment, also while the next client or cluster
    starts its own: both hold the same lock of `distributed`, and the process would hang for ever.
    """
    client = distributed.Client.__new__(distributed.Client)
    try:
        client.__init__(where, timeout=CONNECT, set_as_default=False)
    except BaseException:
        client.close()
        raise
    return client


def _in_time(make: Callable[[], Any], seconds: float) -> Any:
    """The client that `make` gives, or what it raises, or TimeoutError: another program may let it wait for ever.

    One that comes too late is closed.
    """
    future: Future[Any] = Future()

    def attempt() -> None:
        try:
            future.set_result(make())
        except BaseException as error:  # noqa: BLE001 - whoever waits raises it
            future.set_exception(error)

    threading.Thread(target=attempt, daemon=True).start()
    if not wait([future], seconds).done:
        future.add_done_callback(lambda late: late.exception() or late.result().close())
        raise TimeoutError(f"no answer in {seconds:g} s")
    return future.result()


class Cluster(Workers):
    """The workers of the scheduler at an address; `workers` is the size of a local cluster."""

    def __init__(self, address: str, workers: int, work: PackedWork, fresh: bool):
        self._address, self._workers, self._work = address, workers, work
        self._perform = _perform_apart if fresh else perform
        self._running: dict[Future[tuple[Any, float]], int] = {}
        self._heard = time.monotonic()
        self._counted, self._room = -RECOUNT, AHEAD
        self._starting = True
        self._end = contextlib.ExitStack()
        try:
            self._connect()
        except BaseException:
            self._end.close()
            raise
        self._share({})

    def _connect(self) -> None:
        distributed = load()
        where: Any = self._address
        if where == LOCAL:
            self._end.enter_context(environment(ENVIRONMENT))
            with interrupts_held():
                where = self._end.enter_context(local_cluster(self._workers))
        try:
            client = _in_time(lambda: _client(distributed, where), 2 * CONNECT)
        except (OSError, ValueError, MemoryError) as error:  # MemoryError: another program's answer read as a length
            raise ValueError(f"scheduler = {self._address}: no Dask scheduler answers there ({error})") from None
        self._client = self._end.enter_context(client)

    def _share(self, only: dict[str, Any]) -> None:
        """Hand out the work, to all workers or to some."""
        self._held = self._client.submit(_hold, self._work, pure=False, **only)
        self._executor: Executor = self._client.get_executor(pure=False, **only)

    def has_room(self) -> bool:
        """Workers come and go: their number is asked for now and then."""
        now = time.monotonic()
        if now - self._counted >= RECOUNT:
            self._counted, self._room = now, AHEAD * max(1, len(self._client.nthreads()))
        return len(self._running) < self._room

    def give(self, number: int, task: Any) -> None:
        if not self._running:
            self._heard = time.monotonic()
        self._running[self._executor.submit(self._perform, self._held, task)] = number

    def wait(self, patience: float) -> list[Done | Lost]:
        while True:
            done, _ = wait(self._running, timeout=LOOK, return_when=FIRST_COMPLETED)
            silent = time.monotonic() - self._heard
            if done:
                self._heard, self._starting = time.monotonic(), False
                return self._news(done)
            if silent > patience + (START if self._starting else 0.0):
                return self._renew(f"no answer for {silent:.0f} s", hung=True)

    def _news(self, done: set[Future[tuple[Any, float]]]) -> list[Done | Lost]:
        """What finished futures say; if one was cancelled or lost its connection, so are all that are left."""
        news: list[Done | Lost] = []
        broken = ""
        for future in done:
            error = None if future.cancelled() else future.exception()
            kind = type(error).__name__
            if future.cancelled() or kind in ("CommClosedError", "FutureCancelledError"):
                broken = "the worker or the scheduler was lost"
            elif isinstance(error, _Died):
                news.append(Lost(self._running.pop(future), str(error)))
            elif kind == "KilledWorker":
                news.append(Lost(self._running.pop(future), "the worker process died", given_up=True))
            else:
                news.append(Done(self._running.pop(future), *future.result()))
        return [*news, *self._renew(broken, hung=False)] if broken else news

    def _renew(self, reason: str, hung: bool) -> list[Done | Lost]:
        """Give up all that runs. A cluster of our own that hangs is replaced. On another's, pass over workers that hold
        work and do not answer; have them restarted where somebody watches over them.
        """
        gone, self._running = list(self._running.values()), {}
        lost: list[Done | Lost] = [Lost(number, reason, by_its_task=False) for number in reversed(gone)]
        self._starting = True
        if hung and self._address == LOCAL:
            self._start_again()
            return lost
        stuck = [worker for worker, keys in self._client.processing().items() if keys] if hung else []
        self._executor.shutdown(wait=False)
        self._counted = -RECOUNT
        with contextlib.suppress(Exception):
            self._client.restart_workers(stuck, timeout=RESTART, raise_for_error=False) if stuck else None
        others = [worker for worker in self._client.nthreads() if worker not in stuck]
        if not others and self._client.status != "running":
            raise WorkersLost(f"the scheduler at {self._address} is gone")
        self._share({"workers": others} if stuck and others else {})
        self._heard = time.monotonic()
        return lost

    def _start_again(self) -> None:
        """Replace the cluster of this machine: where the clock was set back in an unlucky moment its messages wait for
        the old time to come again, and so would a request to restart. What does not end in time ends with us.
        """
        old, self._end = self._end, contextlib.ExitStack()
        level = logging.root.manager.disable
        logging.disable(logging.CRITICAL)  # Dask shows tracebacks of what it cannot send any more
        try:
            with contextlib.suppress(Exception):
                _in_time(old.close, RESTART)
        finally:
            logging.disable(level)
        self._connect()
        self._share({})
        self._counted, self._heard = -RECOUNT, time.monotonic()

    def close(self) -> None:
        """Disconnect; a local cluster ends."""
        with contextlib.suppress(Exception):
            self._executor.shutdown(wait=False)
        self._end.close()
