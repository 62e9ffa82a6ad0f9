"""Work on a Dask cluster: one that runs somewhere, or one of this machine that is started for the occasion.

The futures of `distributed` pass for those of `concurrent.futures` (`Client.get_executor`). Dask itself gives a task to
another worker when one dies; workers that never answer are restarted, or passed over.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from typing import Any

from audit.runtime.workers import ENVIRONMENT, IN_FLIGHT, Frozen, Session, WorkersLost, environment, interrupts_held

CONNECT = 10.0
"""Seconds that a scheduler gets to answer."""
LOCAL = "local"
"""The address that means: a Dask cluster of this machine, started for the occasion."""

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


def _hold(frozen: Frozen) -> Frozen:
    """A task whose result is the shared value: Dask carries it to the workers and makes it again if it is lost."""
    return frozen


def _in_time(make: Callable[[], Any], seconds: float) -> Any:
    """What `make` gives or raises, or TimeoutError: a client that talks to another program may wait for ever."""
    future: Future[Any] = Future()

    def attempt() -> None:
        try:
            future.set_result(make())
        except BaseException as error:  # noqa: BLE001 - whoever waits raises it
            future.set_exception(error)

    threading.Thread(target=attempt, daemon=True).start()
    if not wait([future], seconds).done:
        raise TimeoutError(f"no answer in {seconds:g} s")
    return future.result()


class DaskSession(Session):
    """A client of the scheduler at an address; `workers` is the size of a local cluster."""

    def __init__(self, address: str, workers: int, frozen: Frozen):
        self._address, self._frozen = address, frozen
        self._counted = -RECOUNT
        distributed = load()
        self._end = contextlib.ExitStack()
        try:
            self._connect(distributed, workers)
        except BaseException:
            self._end.close()
            raise
        self._share({})

    def _connect(self, distributed: Any, workers: int) -> None:
        where: Any = self._address
        if where == LOCAL:
            self._end.enter_context(environment(ENVIRONMENT))
            with interrupts_held():
                where = self._end.enter_context(local_cluster(workers))
        try:
            client = _in_time(lambda: distributed.Client(where, timeout=CONNECT, set_as_default=False), 2 * CONNECT)
        except (OSError, ValueError, MemoryError) as error:  # MemoryError: another program's answer read as a length
            raise ValueError(f"scheduler = {self._address}: no Dask scheduler answers there ({error})") from None
        self._client = self._end.enter_context(client)

    def _share(self, only: dict[str, Any]) -> None:
        self.token = self._client.submit(_hold, self._frozen, pure=False, **only)
        self.executor = self._client.get_executor(pure=False, **only)

    @property
    def window(self) -> int:  # type: ignore[override]
        """Tasks in flight; workers come and go."""
        now = time.monotonic()
        if now - self._counted >= RECOUNT:
            self._counted, self._window = now, IN_FLIGHT * max(1, len(self._client.nthreads()))
        return self._window

    def renew(self, hung: bool) -> None:
        """Pass over workers that hold work and do not answer; have them restarted where somebody watches over them."""
        stuck = [worker for worker, keys in self._client.processing().items() if keys] if hung else []
        self.executor.shutdown(wait=False)
        self._counted = -RECOUNT
        with contextlib.suppress(Exception):
            self._client.restart_workers(stuck, timeout=10, raise_for_error=False) if stuck else None
        others = [worker for worker in self._client.nthreads() if worker not in stuck]
        if not others and self._client.status != "running":
            raise WorkersLost(f"the scheduler at {self._address} is gone")
        self._share({"workers": others} if stuck and others else {})

    def close(self) -> None:
        """Disconnect; a local cluster ends."""
        with contextlib.suppress(Exception):
            self.executor.shutdown(wait=False)
        self._end.close()
