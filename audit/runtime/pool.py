"""One pool of workers: this process, processes of this machine, or a Dask cluster, behind one call.

`Pool.run` gives tasks to workers and yields answers as they come. What becomes of workers that die or fall silent is
decided here, for all kinds: the task is given again, and given up when several workers in a row did not survive it.
Tasks must be pure (the same answer wherever and whenever they run), so that giving one twice is harmless.

=============  ==========================================  =============================================================
kind           worker                                      when one dies / never answers
=============  ==========================================  =============================================================
"here"         whoever asks                                -
"processes"    `process.Interpreter`: a fresh interpreter  a new one / it is killed, then a new one; others go on
"dask"         a worker of the cluster                     Dask gives it to another / restarted, or passed over
=============  ==========================================  =============================================================

Nothing here looks at the time of day: a clock that is set back or forward changes nothing.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from audit.runtime.process import Interpreter, end_all
from audit.runtime.worker import Answer, Finished, PackedWork, Task, WorkersLost, pack, preparation

PATIENCE = 120.0
"""Seconds without an answer after which a worker counts as hung, unless tasks are known to take long: a piece of work
is cut to take seconds."""
SLACK = 20.0
"""... or so many times the longest time that a task has taken: a machine under load was seen to be ten times slower."""
START = 20.0
"""... and seconds that a worker gets to start, before its first answer: a quiet machine needs one or two."""
ATTEMPTS = 4
"""A task that so many workers did not survive, or did not answer, is given up: a machine that runs out of memory loses
one now and then, work that kills its worker does so every time."""
LOOK = 1.0
"""Seconds between two looks whether workers are alive: a child of a dead one may keep its pipe open."""
MOST = 4096
"""More workers than any machine that we know of has cores: a typing error."""
LOCAL = "local"
"""The address that means: a Dask cluster of this machine, started for the occasion."""


@dataclass(frozen=True)
class Pool:
    """Who does the work.

    `workers` is the number of processes, or the size of a Dask cluster that is started for the occasion; `address` is
    that of a Dask scheduler; `patience` the seconds until a silent worker counts as hung. With `fresh` a task runs in
    a fresh interpreter with fixed hashing also on Dask, whose workers somebody else has started.
    """

    kind: Literal["here", "processes", "dask"]
    workers: int = 1
    address: str = ""
    patience: float = PATIENCE
    fresh: bool = False

    @staticmethod
    def here() -> Pool:
        """Whoever asks does the work, in this process."""
        return Pool("here")

    @staticmethod
    def processes(workers: int | None = None, patience: float = PATIENCE) -> Pool:
        """So many worker processes (default: one a core)."""
        return Pool("processes", _checked(workers), "", patience)

    @staticmethod
    def dask(address: str = LOCAL, workers: int | None = None, patience: float = PATIENCE) -> Pool:
        """The Dask scheduler at this address, or a cluster of this machine ("local")."""
        if address != LOCAL and "://" not in address:
            raise ValueError(f'scheduler = {address!r} must read tcp://HOST:PORT, or "{LOCAL}"')
        return Pool("dask", _checked(workers), address, patience)

    @staticmethod
    def of(workers: int | str | Pool | None = None, scheduler: str | None = None) -> Pool:
        """What options describe: a number of processes (1: this one), a scheduler's address, or neither."""
        if isinstance(workers, Pool):
            return workers
        if scheduler is not None and workers is not None:
            raise ValueError(f"workers = {workers} and scheduler = {scheduler}: give one of them")
        if scheduler is not None or isinstance(workers, str):
            return Pool.dask(str(scheduler if scheduler is not None else workers))
        return Pool.here() if workers is None or _checked(workers) == 1 else Pool.processes(workers)

    def __str__(self) -> str:
        if self.kind == "dask":
            return f"Dask at {self.address}" if self.address != LOCAL else f"Dask here, {self.workers} workers"
        return "this process" if self.kind == "here" else f"{self.workers} processes"

    def get_ready(self) -> None:
        """Begin what the pool needs before its first task, beside other work; no process may be forked until then."""
        if self.kind == "dask":
            from audit.runtime.cluster import load_beside

            load_beside()

    def run(
        self,
        function: Callable[[Any, Task], Answer],
        shared: Any,
        tasks: Iterable[Task],
        *,
        expected: float = 0.0,
        started: Callable[[Task], None] = lambda task: None,
        attempts: int = ATTEMPTS,
        lost: Callable[[Task, str], Answer] | None = None,
    ) -> Generator[tuple[Task, Answer], None, None]:
        """Yield (task, function(shared, task)) for all tasks, in the order in which they are done.

        `shared` goes to each worker once. `expected` is about how many seconds a task takes. `started` is called when a
        task is given to a worker. A task that `attempts` worker processes did not survive becomes `lost(task, reason)`,
        or raises `WorkersLost`. What `function` raises is raised here. Close the generator to stop all workers.
        """
        waiting, given = deque(enumerate(tasks)), dict[int, Task]()
        losses: Counter[int] = Counter()
        slowest = expected
        with contextlib.closing(self._open(function, shared)) as workers:
            while waiting or given:
                while waiting and workers.has_room():
                    number, task = waiting.popleft()
                    given[number] = task
                    started(task)
                    workers.give(number, task)
                for event in workers.wait(max(self.patience, SLACK * slowest)):
                    task = given.pop(event.number)
                    if isinstance(event, Done):
                        slowest = max(slowest, event.seconds)
                        yield task, event.answer
                        continue
                    losses[event.number] += 1
                    limit = attempts if event.by_its_task else ATTEMPTS
                    if losses[event.number] < limit and not event.given_up:
                        waiting.appendleft((event.number, task))
                    elif lost is not None:
                        yield task, lost(task, event.reason)
                    else:
                        times = "one worker was" if limit == 1 else f"{limit} workers in a row were"
                        raise WorkersLost(f"{times} lost with the same piece of work ({event.reason})")

    def _open(self, function: Callable[[Any, Task], Answer], shared: Any) -> Workers:
        if self.kind == "here":
            return Here(function, shared)
        work = pack(function, shared)
        if self.kind == "processes":
            return Processes(self.workers, work, preparation())
        from audit.runtime.cluster import Cluster

        return Cluster(self.address, self.workers, work, self.fresh)


def _checked(workers: int | None) -> int:
    count = (os.cpu_count() or 1) if workers is None else workers
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
        raise ValueError(f"workers = {workers!r} must be a whole number from 1 to {MOST}")
    return count


# -------------------------------------------------------------------------------------------- three kinds


@dataclass(frozen=True)
class Done:
    """A task is done."""

    number: int
    answer: Any
    seconds: float


@dataclass(frozen=True)
class Lost:
    """The worker that had a task is gone."""

    number: int
    reason: str
    by_its_task: bool = True
    """Whether the worker did nothing but this task: then others are not to blame."""
    given_up: bool = False
    """Whether it has been tried often enough."""


class Workers(ABC):
    """Workers that are ready: they take numbered tasks and report what became of them."""

    @abstractmethod
    def has_room(self) -> bool:
        """Whether another task may be given now."""

    @abstractmethod
    def give(self, number: int, task: Any) -> None:
        """Give a task to a worker."""

    @abstractmethod
    def wait(self, patience: float) -> list[Done | Lost]:
        """Wait for news, at least one; who is silent for longer than `patience` seconds is lost."""

    @abstractmethod
    def close(self) -> None:
        """End everything, finished or not."""


class Here(Workers):
    """In this process: a task is done while its result is waited for."""

    def __init__(self, function: Callable[[Any, Any], Any], shared: Any):
        self._function, self._shared = function, shared
        self._next: tuple[int, Any] | None = None

    def has_room(self) -> bool:
        return self._next is None

    def give(self, number: int, task: Any) -> None:
        self._next = number, task

    def wait(self, patience: float) -> list[Done | Lost]:
        assert self._next is not None
        (number, task), self._next = self._next, None
        return [Done(number, self._function(self._shared, task), 0.0)]

    def close(self) -> None:
        return


class Processes(Workers):
    """So many fresh interpreters, each with one task at a time; they start when there is work for them."""

    def __init__(self, count: int, work: PackedWork, prepared: dict[str, Any]):
        self._count = count
        self._first = [pickle.dumps(prepared), pickle.dumps(work)]
        self._answers: queue.SimpleQueue[tuple[Interpreter, bytes | None]] = queue.SimpleQueue()
        self._idle: list[Interpreter] = []
        self._busy: dict[Interpreter, int] = {}

    def has_room(self) -> bool:
        return len(self._busy) < self._count

    def give(self, number: int, task: Any) -> None:
        data = pickle.dumps(task)
        worker = self._idle.pop() if self._idle else Interpreter(self._answers, self._first)
        self._busy[worker] = number
        worker.send(data)

    def wait(self, patience: float) -> list[Done | Lost]:
        while True:
            news: list[Done | Lost] = []
            with contextlib.suppress(queue.Empty):
                news += self._take(*self._answers.get(timeout=LOOK))
            for worker in list(self._busy) if self._answers.empty() else ():
                if reason := self._trouble(worker, patience):
                    news.append(Lost(self._busy.pop(worker), reason))
            if news:
                return news

    def _take(self, worker: Interpreter, answer: bytes | None) -> list[Done | Lost]:
        """What an answer means; one of a worker that was given up, or that has died idle, means nothing."""
        number = self._busy.pop(worker, None)
        if answer is None:
            self._idle = [one for one in self._idle if one is not worker]
            reason = worker.how_it_ended()
            return [] if number is None else [Lost(number, reason)]
        if number is None:
            return []
        self._idle.append(worker)
        found: Finished = pickle.loads(answer)
        if found.error is not None:
            raise found.error
        return [Done(number, found.answer, found.seconds)]

    def _trouble(self, worker: Interpreter, patience: float) -> str:
        """Why nothing is to be expected of a busy worker; nothing while there is hope."""
        silent = time.monotonic() - worker.since
        if silent > patience + (0.0 if worker.has_answered else START):
            worker.kill()
            return f"no answer for {silent:.0f} s"
        return worker.how_it_ended() if worker.process.poll() is not None else ""

    def close(self) -> None:
        end_all([*self._idle, *self._busy])
