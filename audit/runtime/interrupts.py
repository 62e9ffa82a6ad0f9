"""Ctrl-C: the first one ends the work cleanly, and none reaches a process that is just being started."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended, as shells have it: 128 and the number of the signal."""


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


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while Dask starts processes: they inherit the mask, and print no tracebacks of their own."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would lift the mask when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
