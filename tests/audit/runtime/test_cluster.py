"""Dask: the same answers as other executors, also when its workers die or never answer; nothing is left behind."""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sample_work

from audit.runtime import cluster as module
from audit.runtime.cluster import environment
from audit.runtime.pool import Pool
from audit.runtime.worker import pack

SQUARES = [(i, i * i) for i in range(10)]


def answers(who: Pool, function: Callable[[Any, Any], Any], shared: Any = None) -> list[Any]:
    return sorted(who.run(function, shared, range(10)))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A Dask cluster with two workers that are watched over."""
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    with (
        environment({"PYTHONPATH": os.pathsep.join(sys.path)}),
        module.local_cluster(2) as made,
    ):
        yield made


def test_the_same_answers_on_a_cluster(cluster: Any) -> None:
    assert answers(Pool.dask(cluster.scheduler_address), sample_work.square) == SQUARES


def test_and_on_one_started_for_the_occasion_beside_another(cluster: Any) -> None:
    """Two clusters of one machine do not want the same port; a warning would fail this test."""
    assert answers(Pool.dask("local", workers=1), sample_work.square) == SQUARES


@pytest.mark.parametrize("function", [sample_work.dies_once, sample_work.hangs_once])
def test_a_worker_that_dies_or_never_answers_is_replaced(
    function: Callable[..., int], cluster: Any, tmp_path: Path
) -> None:
    who = Pool.dask(cluster.scheduler_address, patience=3.0)
    assert answers(who, function, str(tmp_path)) == SQUARES
    assert len(list(tmp_path.iterdir())) == 1


@pytest.fixture
def clients_end() -> Iterator[None]:
    """Clients that fail are closed by us: the garbage collector would do it at any moment, and can hang the process."""
    client = pytest.importorskip("distributed", reason="needs the extra 'cluster'").Client
    gc.disable()
    try:
        yield
        deadline = time.monotonic() + 60  # one that was given up may still be at it
        while left := [c for c in gc.get_objects() if issubclass(type(c), client) and c.status != "closed"]:
            assert time.monotonic() < deadline, f"{len(left)} clients are left to the garbage collector"
            time.sleep(0.1)
    finally:
        gc.enable()


@pytest.mark.usefixtures("clients_end")
def test_no_scheduler_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    monkeypatch.setattr(module, "CONNECT", 0.5)
    with pytest.raises(ValueError, match="no Dask scheduler answers there"):
        answers(Pool("dask", 1, "tcp://127.0.0.1:9"), sample_work.square)


@pytest.mark.usefixtures("clients_end")
@pytest.mark.parametrize("words", [b"", b"HTTP/1.0 400 Bad Request\r\n\r\n"])
def test_another_program_there(words: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that says nothing, and one whose answer reads as the length of a message that no memory can hold."""
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    monkeypatch.setattr(module, "CONNECT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    held.append(server.accept()[0])
                    held[-1].sendall(words)

        held: list[socket.socket] = []
        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(ValueError, match=r"no Dask scheduler answers there \(.+\)"):
            answers(Pool("dask", 1, f"tcp://127.0.0.1:{server.getsockname()[1]}"), sample_work.square)
    for one in held:
        one.close()


def test_a_client_that_comes_too_late_is_closed() -> None:
    class Late:
        closed = threading.Event()

        def close(self) -> None:
            self.closed.set()

    come = threading.Event()
    with pytest.raises(TimeoutError, match=r"no answer in 0\.01 s"):
        module._in_time(lambda: come.wait() and Late(), 0.01)
    assert not Late.closed.is_set()
    come.set()
    assert Late.closed.wait(60)


def test_without_dask_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"pip install 'dpso\[cluster\]'"):
        answers(Pool.dask("tcp://127.0.0.1:9"), sample_work.square)


ENVIRONMENT = """
import os
from audit.runtime.cluster import local_cluster
if __name__ == "__main__":
    before = dict(os.environ)
    with local_cluster(1) as own:
        assert dict(os.environ) == before
        os.environ["MALLOC_TRIM_THRESHOLD_"] = "as when a worker is restarted"
        seen = own.get_client().run(os.getenv, "MALLOC_TRIM_THRESHOLD_")
        assert set(seen.values()) == {"65536"}
    assert dict(os.environ) == before
"""


def test_what_dask_sets_for_its_workers_stays_with_them(tmp_path: Path) -> None:
    """With MALLOC_TRIM_THRESHOLD_ every later program of this process would give back and fault in its memory.

    In a process of its own: the cluster of the other tests may be restarting a worker, which changes the environment.
    """
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    (tmp_path / "script.py").write_text(ENVIRONMENT)
    path = os.pathsep.join([str(Path(module.__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    found = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert found.returncode == 0, found.stderr


def test_the_scheduler_is_not_asked_for_every_task_who_is_there(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RECOUNT", float("inf"))
    with contextlib.closing(module.Cluster(cluster.scheduler_address, 2, pack(sample_work.square, None), False)) as one:
        one._counted = -float("inf")
        assert one.has_room()
        assert one._room == 4
        monkeypatch.setattr(one._client, "nthreads", dict)
        assert one.has_room()
        assert one._room == 4
        one._renew("none", hung=False)
        assert one.has_room()
        assert one._room == 2


def test_loading_beside_other_work_leaves_complaints_to_who_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    module.load_beside()
    with pytest.raises(ValueError, match=r"pip install 'dpso\[cluster\]'"):
        module.load()
