"""Other people's implementations as clients: a Python callable, or a command that answers JSON lines."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from audit.auditor.targets.command import CommandError, ExecTarget
from audit.auditor.targets.containment import MechanismTimeout, Noticed, Watch, contained
from audit.auditor.targets.sampling import TargetError
from audit.runtime.errors import InputError, one_line
from audit.runtime.loading import load_callable

Json: TypeAlias = Mapping[str, Any]

LONGEST = 16 * 2**20
"""Bytes of a reply that are read at most: the longest that a vector asks for has 11 kB."""
GRACE = 0.002
"""Seconds in which a second line for one case is noticed at once; later it is noticed at the next case."""
SHOWN = 160
"""Characters of a client's words that are quoted: two lines of a terminal."""


class ClientError(Exception):
    """The client did not answer as the protocol says; the message says what it did, `ended` that it is no more."""

    def __init__(self, what: str, ended: bool = False) -> None:
        super().__init__(what)
        self.ended = ended


class Client(Protocol):
    """Something that answers cases."""

    name: str

    def answer(self, case: Json) -> Json:
        """The reply to one case, or `ClientError`."""

    def close(self) -> None:
        """Let go of what the client holds."""


class PythonClient:
    """A callable that takes the case (a dict) and returns the reply.

    A ValueError is a rejection, a NotImplementedError says that the case asks for what the client does not offer.
    """

    def __init__(self, target: Callable[[dict[str, Any]], Any], name: str = "", timeout: float | None = 10.0):
        self.target, self.name, self.timeout = target, name or repr(target), timeout

    def answer(self, case: Json) -> Json:
        noticed = Noticed()
        try:
            with Watch(self.timeout) as watch, contained(noticed, 0):
                watch.start()
                reply = self.target(copy.deepcopy(dict(case)))
        except MechanismTimeout:
            raise ClientError(f"did not answer within {self.timeout:g} s") from None
        except ValueError as error:
            return {"reject": str(error)}
        except NotImplementedError as error:
            return {"unsupported": str(error)}
        except Exception as error:  # noqa: BLE001 - whatever foreign code raises is reported, case by case
            raise ClientError(f"raised {type(error).__name__}: {shortened(str(error))}") from None
        if not isinstance(reply, Mapping):
            raise ClientError(f"returned {type(reply).__name__}, not a dict with output or reject")
        return reply

    def close(self) -> None:
        """Nothing is held."""


class ExecClient:
    """A command that answers JSON lines: `{"op": "run", "case": {…}}` in, the reply out, with the case's id or without.

    The process is kept. After a reply that cannot be used it is ended, with its whole group, and started anew.
    """

    def __init__(self, command: str, timeout: float | None = 10.0, longest: int = LONGEST):
        self.name, self.timeout, self.longest = command, timeout, longest
        self._worker: ExecTarget | None = None
        self._start()

    def _start(self) -> ExecTarget:
        if self._worker is None:
            try:
                self._worker = ExecTarget(self.name, self.timeout, longest=self.longest)
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


def python_client(place: str, timeout: float | None = 10.0) -> PythonClient:
    """The client `module:callable`; modules of the current directory are found too."""
    return PythonClient(load_callable(place, "--python "), place, timeout)


def shortened(value: Any) -> str:
    """As much of a value as is quoted in a message."""
    text = one_line(str(value))
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
