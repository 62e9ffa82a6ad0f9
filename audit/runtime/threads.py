"""One thread for small linear algebra.

OpenBLAS starts as many threads as there are cores even for matrices of forty columns. On a busy machine they wait for
each other: the same fit was measured ten times slower than with one thread. The number is set for the duration of a
call and put back.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy  # noqa: F401 - loads its OpenBLAS
from scipy import linalg  # noqa: F401 - loads scipy's own

P = ParamSpec("P")
R = TypeVar("R")

_NAMES = [f"{prefix}openblas_{{}}_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "", "64")]


@functools.cache
def _libraries() -> list[tuple[Any, Any]]:
    """The (get, set) functions of each OpenBLAS that is loaded; none where they cannot be found."""
    found = []
    for library in _loaded("openblas"):
        for name in _NAMES:
            if hasattr(library, name.format("set")) and hasattr(library, name.format("get")):
                found.append((getattr(library, name.format("get")), getattr(library, name.format("set"))))
                break
    return found


def _loaded(*words: str) -> list[Any]:
    """The shared libraries of this process with one of these words in their file's name; none where that is unknown."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return []
    paths = {line.split(maxsplit=5)[-1].strip() for line in maps.read_text().splitlines() if "/" in line}
    found = []
    for path in sorted(p for p in paths if any(word in Path(p).name for word in words)):
        with contextlib.suppress(OSError):
            found.append(ctypes.CDLL(path))
    return found


def without_openmp_threads() -> None:
    """One OpenMP thread from now on, for a forked process: the threads that torch and others have started stay behind
    in the parent, and a parallel loop that waits for them never ends.
    """
    os.environ["OMP_NUM_THREADS"] = "1"
    for library in _loaded("libgomp", "libiomp", "libomp"):
        if hasattr(library, "omp_set_num_threads"):
            library.omp_set_num_threads(1)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Within: one BLAS thread."""
    before = [get() for get, _ in _libraries()]
    for _, put in _libraries():
        put(1)
    try:
        yield
    finally:
        for (_, put), count in zip(_libraries(), before, strict=True):
            put(count)


def single_threaded(function: Callable[P, R]) -> Callable[P, R]:
    """The function with one BLAS thread."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        with one_thread():
            return function(*args, **kwargs)

    return wrapped
