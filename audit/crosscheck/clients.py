"""Other people's implementations as clients: a Python callable, or a command that answers JSON lines."""

from __future__ import annotations

import copy
import json
import shlex
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

from audit.auditor.targets.command import CommandError, ExecTarget
from audit.auditor.targets.containment import MechanismTimeout, Noticed, Watch, contained
from audit.auditor.targets.sampling import TargetError
from audit.crosscheck.replies import ClientError, Json, shortened
from audit.crosscheck.worker import answered
from audit.runtime.errors import InputError
from audit.runtime.loading import search_working_folder

LONGEST = 16 * 2**20
"""Bytes of a reply that are read at most: the longest that a vector asks for has 11 kB."""
GRACE = 0.002
"""Seconds in which a second line for one case is noticed at once; later it is noticed at the next case."""
STARTING = 60.0
"""Seconds that a Python client may take to be imported."""


class Client(Protocol):
    """Something that answers cases."""

    name: str

    def answer(self, case: Json) -> Json:
        """The reply to one case, or `ClientError`."""

    def close(self) -> None:
        """Let go of what the client holds."""


class PythonClient:
    """A callable of this process that takes the case (a dict) and returns the reply: for tests of your own.

    A ValueError is a rejection, a NotImplementedError says that the case asks for what the client does not offer.
    `WorkerClient` runs the same in a process of its own, which may end.
    """

    def __init__(self, target: Callable[[dict[str, Any]], Any], name: str = "", timeout: float | None = 10.0):
        self.target, self.name, self.timeout = target, name or repr(target), timeout

    def answer(self, case: Json) -> Json:
        noticed = Noticed()
        try:
            with Watch(self.timeout) as watch, contained(noticed, 0):
                watch.start()
                reply = answered(self.target, copy.deepcopy(dict(case)))
        except MechanismTimeout:
            raise ClientError(f"did not answer within {self.timeout:g} s") from None
        return faultless(reply)

    def close(self) -> None:
        """Nothing is held."""


class ExecClient:
    """A command that answers JSON lines: `{"op": "run", "case": {…}}` in, the reply out, with the case's id or without.

    The process is kept. After a reply that cannot be used it is ended, with its whole group, and started anew.
    """

    def __init__(self, command: str, timeout: float | None = 10.0, longest: int = LONGEST, name: str = ""):
        self.command, self.timeout, self.longest, self.name = command, timeout, longest, name or command
        self._worker: ExecTarget | None = None
        self._start()

    def _start(self) -> ExecTarget:
        if self._worker is None:
            try:
                self._worker = ExecTarget(self.command, self.timeout, longest=self.longest)
            except TargetError as error:
                raise InputError(str(error)) from None
        return self._worker

    def answer(self, case: Json) -> Json:
        try:
            return self._answer(self._start(), case)
        except CommandError as error:
            self.close()
            raise ClientError(shortened(error.what), error.ended) from None
        except ClientError:
            self.close()
            raise

    def _answer(self, worker: ExecTarget, case: Json) -> Json:
        """The one line that a case is due."""
        if worker.chatter():
            raise ClientError("wrote more than one line for an earlier case")
        reply = worker.ask({"op": "run", "case": case})
        time.sleep(GRACE)
        if worker.chatter():
            raise ClientError("wrote more than one line for one case")
        if reply.get("id", case["id"]) != case["id"]:
            raise ClientError(f"answered out of order: asked for {case['id']}, got {shortened(reply['id'])}")
        return reply

    def close(self) -> None:
        """End the process and its group."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None


class WorkerClient(ExecClient):
    """`module:callable` in a Python process of its own: it may exit, hang or be killed, and costs that case only."""

    def __init__(self, place: str, timeout: float | None = 10.0):
        search_working_folder()
        words = [sys.executable, "-m", "audit.crosscheck.worker", place, json.dumps(sys.path)]
        super().__init__(shlex.join(words), timeout, name=place)

    def _start(self) -> ExecTarget:
        if self._worker is not None:
            return self._worker
        worker = super()._start()
        worker.timeout = max(STARTING, self.timeout or STARTING)
        try:
            found = worker.ask({"op": "hello"})
        except CommandError as error:
            self.close()
            raise InputError(f"--python {self.name}: its import {error.what}") from None
        worker.timeout = self.timeout
        if "problem" in found:
            self.close()
            raise InputError(found["problem"])
        return worker

    def answer(self, case: Json) -> Json:
        try:
            return faultless(super().answer(case))
        except InputError as error:  # it was imported before
            raise ClientError(f"could not be started again: {error}", ended=True) from None


def faultless(reply: Json) -> Json:
    """The reply, or what the client did instead of replying."""
    if "fault" in reply:
        raise ClientError(str(reply["fault"]))
    return reply


def python_client(place: str, timeout: float | None = 10.0) -> WorkerClient:
    """The client `module:callable`; modules of the current directory are found too."""
    return WorkerClient(place, timeout)
