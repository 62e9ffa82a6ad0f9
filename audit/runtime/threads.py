"""One thread for small linear algebra.

BLAS libraries start as many threads as there are cores even for matrices of forty columns. On a busy machine they wait
for each other: the same fit was measured ten times slower than with one thread. The number is set for the duration of a
call and put back.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy  # noqa: F401 - loads its BLAS, which the controller must find
from scipy import linalg  # noqa: F401 - loads scipy's own
from threadpoolctl import ThreadpoolController, threadpool_limits

P = ParamSpec("P")
R = TypeVar("R")


@functools.cache
def _controller() -> ThreadpoolController:
    """The libraries with threads that are loaded; looking for them takes some milliseconds, so it is done once."""
    return ThreadpoolController()


def single_threaded(function: Callable[P, R]) -> Callable[P, R]:
    """The function with one BLAS thread; afterwards there are as many as before."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return wrapped


def without_openmp_threads() -> None:
    """One OpenMP thread from now on, for a forked process: the threads that torch and others have started stay behind
    in the parent, and a parallel loop that waits for them never ends.
    """
    os.environ["OMP_NUM_THREADS"] = "1"
    threadpool_limits(limits=1, user_api="openmp")
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


def cannot_be_forked() -> str | None:
    """The library whose threads run in this process and hang in a fork of it: jax, from its first computation on (a key
    that a module makes when it is loaded, say).
    """
    bridge = sys.modules.get("jax._src.xla_bridge")
    return "jax" if getattr(bridge, "_backends", None) else None
