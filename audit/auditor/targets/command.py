"""A mechanism in any language: one long-lived process that speaks JSON lines.

Request  `{"op": "sample", "dataset": …, "size": 1000, "seed": 7}`, one a line on its stdin;
reply    `{"outputs": […]}`, one a line on its stdout. `{"error": "…"}` is a reply too: the call failed.
The process runs in its own process group, which is ended as a whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import shlex
import subprocess
import tempfile
import threading
from typing import Any, NoReturn

import numpy as np

from audit.auditor.targets.containment import Noticed
from audit.auditor.targets.sampling import BlockName, Pair, TargetError, releaser
from audit.auditor.terms.leaves import Raised
from audit.runtime.messages import CHUNK
from audit.runtime.process import end

Array = np.ndarray

LONGEST_REPLY = 512 * 2**20
"""Bytes of the longest reply: a block of 16384 outputs may have 30 kB each."""
GRACE = 0.5
"""Seconds that a command gets to end when its input is closed."""
LOOK = 0.1
"""Seconds between two looks whether anybody still waits for an answer."""


class CommandError(TargetError):
    """A command did not answer as the protocol says.

    `what` it did is the message without the command's name, and `ended` says that its process is no more.
    """

    def __init__(self, command: str, what: str, ended: bool = False) -> None:
        super().__init__(f"{command!r} {what}")
        self.what, self.ended = what, ended


class ExecTarget:
    """Samples through a command. Use as a context manager, or `close()` it."""

    batched = True

    def __init__(self, command: str, timeout: float | None = 60.0, release: Any = None, longest: int = LONGEST_REPLY):
        self.command = command
        self.longest = longest
        self.timeout = timeout
        self.noticed = Noticed()
        self.release = release
        self._published = releaser(release)
        self._closed = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process; close() ends it
        self._lines: queue.Queue[bytes | None] = queue.Queue(maxsize=4)
        try:
            self._process = self._start()
        except TargetError:
            self._errors.close()
            raise
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout.fileno(),), daemon=True)
        self._reader.start()

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process: a target that starts the command there."""
        return ExecTarget, (self.command, self.timeout, self.release)

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise TargetError(f"--exec {self.command!r} is no command line ({error}): close the quotation") from None
        if not words:
            raise TargetError("--exec is empty: give the command that answers JSON lines")
        try:
            return subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True
            )
        except OSError as error:
            self._errors.close()
            raise TargetError(f"cannot start {self.command!r}: {error.strerror or error}") from None

    def _read(self, pipe: int) -> None:
        """Hand over whole lines, or the beginning of one that is too long; None at the end.

        A process that left the group may keep the pipe open for as long as it likes: it is not waited for.
        """
        rest = bytearray()
        while not self._closed:
            if not select.select([pipe], [], [], LOOK)[0]:
                continue
            chunk = os.read(pipe, CHUNK)
            head, newline, tail = chunk.partition(b"\n")
            while newline:
                self._lines.put(bytes(rest + head + newline))
                rest.clear()
                head, newline, tail = tail.partition(b"\n")
            rest += head
            if not chunk or len(rest) >= self.longest:
                break
        if rest:
            self._lines.put(bytes(rest))
        self._lines.put(None)

    def outputs(self, pair: Pair, labels: Array, name: BlockName) -> Any:
        """Ask for both sides of a block and deal the outputs out."""
        rng, _ = name.of_mechanism()
        seeds = [int(s) for s in rng.integers(0, 2**31, size=2)]
        ready = []
        for side in (0, 1):
            batch = self._seen(self.sample(pair.side(side), int(np.sum(labels == side)), seeds[side]), side)
            ready.append(iter([batch[i] for i in rng.permutation(len(batch))]))
        return [next(ready[int(b)]) for b in labels]

    def sample(self, dataset: Any, size: int, seed: int) -> list[Any]:
        """`size` outputs on this dataset."""
        if size == 0:
            return []
        reply = self.ask({"op": "sample", "dataset": dataset, "size": size, "seed": seed})
        outputs = reply.get("outputs")
        if not isinstance(outputs, list) or len(outputs) != size:
            got = f"{len(outputs)}" if isinstance(outputs, list) else "no list"
            raise TargetError(f'the reply of {self.command!r} must hold "outputs" with {size} entries (got {got})')
        return [_hashable(output) for output in outputs]

    def _seen(self, outputs: list[Any], side: int) -> list[Any]:
        """What is published of each output; one that lacks it counts as an exception, which an observer sees."""
        if self._published is None:
            return outputs
        seen = []
        for output in outputs:
            try:
                seen.append(self._published(output))
            except LookupError as error:
                self.noticed.note_exception(side)
                seen.append(Raised(type(error).__name__))
        return seen

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """One request, one reply."""
        try:
            text = json.dumps(request, default=_plain)
        except TypeError as error:
            raise TargetError(
                f"the dataset cannot be sent as JSON ({error}): use numbers, strings, lists and objects"
            ) from None
        self._send(text.encode() + b"\n")
        return self._reply()

    def _send(self, request: bytes) -> None:
        """Write a request. A command that does not read it is ended: a pipe holds little."""
        assert self._process.stdin is not None
        pipe, left = self._process.stdin.fileno(), memoryview(request)
        while left:
            if not select.select([], [pipe], [], self.timeout)[1]:
                self._give_up(f"did not read its request within {self.timeout:g} s")
            try:
                left = left[os.write(pipe, left) :]
            except OSError:
                raise self._fault(f"ended before it was asked ({self._last_words()})", ended=True) from None

    def _give_up(self, why: str) -> NoReturn:
        self.close()
        raise self._fault(f"{why} and was ended (--timeout)") from None

    def _reply(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=self.timeout)
        except queue.Empty:
            self._give_up(f"did not answer within {self.timeout:g} s")
        if line is None:
            raise self._fault(f"ended without an answer ({self._last_words()})", ended=True)
        if len(line) >= self.longest and not line.endswith(b"\n"):
            self.close()
            raise self._fault(f"answered with more than {self.longest} bytes and was ended")
        try:
            reply = json.loads(line)
        except RecursionError:
            raise self._fault("answered JSON that is nested too deeply") from None
        except ValueError as error:
            if line.lstrip()[:1] in (b"{", b"["):
                raise self._fault(
                    f"answered a line that is no JSON object ({error}): one object, on one line"
                ) from None
            shown = line[:60].decode(errors="replace").strip()
            raise self._fault(
                f"wrote {shown!r} to stdout, which is no JSON line: print messages to stderr instead"
            ) from None
        if not isinstance(reply, dict):
            raise self._fault(f"answered {type(reply).__name__}: a reply must be a JSON object")
        if "error" in reply:
            raise self._fault(f"reports an error: {str(reply['error'])[:200]}")
        return reply

    def _fault(self, what: str, ended: bool = False) -> CommandError:
        return CommandError(self.command, what, ended)

    def chatter(self) -> bool:
        """Whether there is a line that nobody asked for."""
        return any(line is not None for line in list(self._lines.queue))

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)
        self._errors.seek(0)
        lines = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        code = self._process.poll()
        telling = [line for line in lines if "error" in line.lower()] or lines
        return f"exit code {code}" + (f", stderr ends: {telling[-1][:200]}" if lines else ", nothing on stderr")

    def close(self) -> None:
        """End the whole process group. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        end(self._process, GRACE)
        while self._reader.is_alive():
            with contextlib.suppress(queue.Empty):
                self._lines.get(timeout=0.1)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def __enter__(self) -> ExecTarget:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _plain(value: Any) -> Any:
    """numpy arrays and numbers as JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")


def _hashable(value: Any) -> Any:
    """JSON lists as tuples, so that equal outputs are recognised quickly."""
    return tuple(_hashable(v) for v in value) if isinstance(value, list) else value
