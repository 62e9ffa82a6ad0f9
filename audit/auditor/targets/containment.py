"""Running somebody else's code: its random state, its prints and warnings, its exceptions, its time.

Much code ignores the generator it is handed and draws from the global state of `random`, `numpy.random` or torch.
These are seeded for each block of calls, so that a run can be repeated, and put back afterwards. What the code prints
or warns is caught and counted. A call that takes too long is interrupted (on systems with SIGALRM, in the main
thread).
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import random
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from audit.runtime.errors import one_line


class MechanismTimeout(BaseException):
    """A call took longer than it may. Not an `Exception`, so that the audited code cannot swallow it."""


@dataclass
class Noticed:
    """What was noticed while foreign code ran."""

    printed: int = 0
    first_print: str = ""
    warned: int = 0
    first_warning: str = ""
    raised: list[int] = field(default_factory=lambda: [0, 0])
    first_error: str = ""
    """The first exception on one line."""
    first_traceback: str = ""
    global_sources: set[str] = field(default_factory=set)

    def note_exception(self, side: int) -> None:
        """Count the exception that is being handled; keep the first traceback."""
        self.raised[side] += 1
        error = sys.exception()
        if not self.first_error and error is not None:
            self.first_error = one_line(f"{type(error).__name__}: {error}")
            self.first_traceback = foreign_traceback(error)

    def add(self, other: Noticed) -> None:
        """Add what was noticed elsewhere, later; the first texts stay."""
        self.printed += other.printed
        self.warned += other.warned
        self.raised = [a + b for a, b in zip(self.raised, other.raised, strict=True)]
        self.global_sources |= other.global_sources
        for name in ("first_print", "first_warning", "first_error", "first_traceback"):
            setattr(self, name, getattr(self, name) or getattr(other, name))


_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""The auditor's own folder."""
DEEPEST = 6
"""Frames of a traceback that are shown: chosen; the innermost say where it failed."""


def foreign_traceback(error: BaseException) -> str:
    """Where in the foreign code an exception came from, without the frames that led there from here; nothing if it
    came from the call itself.
    """
    frames = traceback.extract_tb(error.__traceback__)
    while frames and frames[0].filename.startswith(_OURS):
        frames.pop(0)
    if not frames:
        return ""
    shown = traceback.format_list(frames[-DEEPEST:])
    return "".join(["Traceback (most recent call last):\n", *shown, *traceback.format_exception_only(error)])


class _Sink(io.TextIOBase):
    """Counts what is written and keeps the beginning."""

    def __init__(self, noticed: Noticed):
        self._noticed = noticed

    def write(self, text: str) -> int:
        self._noticed.printed += len(text)
        if len(self._noticed.first_print) < 200:
            self._noticed.first_print += text[:200]
        return len(text)


@contextlib.contextmanager
def contained(noticed: Noticed, seed: int) -> Iterator[None]:
    """Seed the global generators, catch prints and warnings; put everything back."""

    def note_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        noticed.warned += 1
        noticed.first_warning = noticed.first_warning or str(message)[:200]

    with _global_state(noticed, seed), warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = note_warning
        sink = _Sink(noticed)
        shown = sys.stdout, sys.stderr
        with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink), _logs(shown, sink):
            yield


@contextlib.contextmanager
def _logs(shown: Sequence[Any], sink: Any) -> Iterator[None]:
    """Send what is logged to stdout or stderr to the sink: a handler keeps the stream it was made with.

    Handlers that are made meanwhile got the sink, and get stderr afterwards.
    """

    def handlers() -> list[logging.StreamHandler[Any]]:
        known = [handler() for handler in logging._handlerList]  # type: ignore[attr-defined]
        return [h for h in known if isinstance(h, logging.StreamHandler) and _has_stream(h)]

    moved = [(h, h.stream) for h in handlers() if any(h.stream is stream for stream in shown)]
    for handler, _ in moved:
        handler.setStream(sink)
    try:
        yield
    finally:
        for handler, stream in moved:
            handler.setStream(stream)
        for handler in handlers():
            if handler.stream is sink:
                handler.setStream(shown[1])


def _has_stream(handler: Any) -> bool:
    """Whether a handler keeps a stream that can be exchanged: `stream` is read-only in `logging.lastResort` and in
    handlers like it, which look up `sys.stderr` when they write.
    """
    return "stream" in getattr(handler, "__dict__", {})


@contextlib.contextmanager
def _global_state(noticed: Noticed, seed: int) -> Iterator[None]:
    """Seed `random`, `numpy.random` and torch (if it is loaded); note which were used; restore them.

    States are set on the generators themselves: audited code may have replaced `numpy.random.seed` and its like, and
    noise that repeats from block to block would make a private mechanism look broken.
    """
    torch = sys.modules.get("torch")
    generator = torch.default_generator if torch else None
    kept = _RANDOM.getstate(), _NUMPY.get_state(), generator.get_state() if generator else None
    fresh = _Random(seed).getstate()
    _RANDOM.setstate(fresh)
    _NUMPY.seed(seed % 2**32)
    seeded = None
    if generator:
        generator.manual_seed(seed)
        seeded = bytes(generator.get_state().numpy())
    try:
        yield
    finally:
        if _RANDOM.getstate() != fresh:
            noticed.global_sources.add("random")
        if _numpy_was_used(seed % 2**32):
            noticed.global_sources.add("numpy.random")
        if generator and bytes(generator.get_state().numpy()) != seeded:
            noticed.global_sources.add("torch")
        _RANDOM.setstate(kept[0])
        _NUMPY.set_state(kept[1])
        if generator:
            generator.set_state(kept[2])


_Random = random.Random
_RANDOM: random.Random = random._inst
_NUMPY: np.random.RandomState = np.random.mtrand._rand
"""The generators behind the functions of `random` and `numpy.random`."""


def _numpy_was_used(seed: int) -> bool:
    """Whether numpy's global generator is no longer as this seed leaves it.

    The Mersenne twister begins with its seed as the first of 624 words, all of them unread, and no normal number kept
    back. A draw reads a word, which moves the position; after the last word all are made anew.
    """
    _, words, position, kept_back, _ = _NUMPY.get_state(legacy=True)
    return (int(words[0]), position, kept_back) != (seed, 624, 0)


class Watch:
    """Interrupts a call that runs longer than `limit` seconds: call `start()` before each call.

    A timer ticks twice a second, so a call costs nothing extra. Only possible in the main thread of a Unix process,
    and only when the call returns to the interpreter now and then; `active` says whether it works here.
    """

    def __init__(self, limit: float | None):
        self.limit = limit
        self.active = (
            limit is not None and hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        )
        self._started = time.monotonic()

    def start(self) -> None:
        """A call begins now."""
        self._started = time.monotonic()

    def _tick(self, _signal: int, _frame: FrameType | None) -> None:
        if self.limit is not None and time.monotonic() - self._started > self.limit:
            raise MechanismTimeout

    def __enter__(self) -> Watch:
        if self.active and self.limit is not None:
            self.start()
            tick = max(0.01, min(0.5, self.limit / 4))
            self._previous = signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, tick, tick)
        return self

    def __exit__(self, *_: object) -> None:
        if self.active:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._previous)
