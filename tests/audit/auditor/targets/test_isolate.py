"""Code that hangs, exits, forks or floods is contained and reported; draws survive an interruption."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audit.auditor.api import audit_dp
from audit.auditor.targets import isolate
from audit.auditor.targets.containment import MechanismTimeout
from audit.auditor.targets.isolate import IsolatedTarget, in_child, in_interpreter
from audit.auditor.targets.sampling import TEST, BlockName, CallableTarget, Pair, TargetError
from audit.auditor.targets.stored import StoredTarget
from audit.auditor.terms.outputs import tabulate
from audit.auditor.terms.result import AuditResult

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def laplace(data: Any, rng: np.random.Generator) -> float:
    return float(data[0] + rng.laplace())


def spin(_data: Any, _rng: Any) -> float:
    while True:
        pass


def deaf(_data: Any, _rng: Any) -> float:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(60)
    return 0.0


def exits(_data: Any, _rng: Any) -> float:
    os._exit(3)


def is_killed(_data: Any, _rng: Any) -> float:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(5)
    return 0.0


def forks(data: Any, rng: np.random.Generator) -> float:
    os.fork()
    return laplace(data, rng)


def floods(data: Any, rng: np.random.Generator) -> float:
    os.write(1, b"x" * 2**20)
    return laplace(data, rng)


def audit(mechanism: Any, **options: Any) -> AuditResult:
    with IsolatedTarget(CallableTarget(mechanism, timeout=options.pop("timeout", 10.0))) as target:
        return audit_dp(target, [0.0], [1.0], epsilon=1.0, samples=100, **options)


def test_an_isolated_audit_is_the_same_audit() -> None:
    alone, apart = audit_dp(laplace, [0.0], [1.0], epsilon=1.0, samples=100), audit(laplace)
    assert (apart.verdict, apart.epsilon_lower, apart.right) == (alone.verdict, alone.epsilon_lower, alone.right)


@pytest.mark.parametrize(
    ("mechanism", "word"),
    [(exits, "exit code 3"), (is_killed, "SIGKILL"), (forks, "forked")],
    ids=["exits", "is killed", "forks"],
)
def test_what_ends_or_doubles_the_interpreter_is_an_error(mechanism: Any, word: str) -> None:
    result = audit(mechanism)
    assert result.verdict == "error"
    assert word in result.reason


def leaves_a_copy_behind(_data: Any, _rng: Any) -> float:
    """The copy keeps the pipes open; the worker is gone."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(20)
        os._exit(0)
    os._exit(5)


def closes_everything(_data: Any, _rng: Any) -> float:
    os.closerange(3, 1000)
    time.sleep(60)
    return 0.0


@pytest.mark.parametrize(
    ("mechanism", "word"), [(leaves_a_copy_behind, "exit code 5"), (closes_everything, "closed the pipes")]
)
def test_a_worker_that_cannot_answer_any_more_is_not_waited_for(
    mechanism: Any, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolate, "GRACE", 0.3)
    begun = time.monotonic()
    result = audit(mechanism, timeout=None)
    assert result.verdict == "error"
    assert word in result.reason
    assert time.monotonic() - begun < 15


@pytest.mark.parametrize("mechanism", [spin, deaf])
def test_what_never_returns_is_an_error(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolate, "GRACE", 0.3)
    begun = time.monotonic()
    assert audit(mechanism, timeout=0.3).verdict == "error"
    assert time.monotonic() - begun < 20


def test_a_flood_is_counted_and_then_ended(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    counted = audit(floods)
    assert counted.verdict == "inconclusive"
    monkeypatch.setattr(isolate, "FLOOD", 2**24)
    result = audit(floods)
    assert result.verdict == "error"
    assert "wrote more than" in result.reason
    assert capfd.readouterr().out == ""


@pytest.mark.linux("reads /proc")
def test_children_of_the_mechanism_are_ended_with_it(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def leaves_a_child(data: Any, rng: np.random.Generator) -> float:
        if not note.exists():
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            note.write_text(str(child.pid))
        return laplace(data, rng)

    assert audit(leaves_a_child).verdict == "inconclusive"
    pid = int(note.read_text())
    for _ in range(50):
        if _gone(pid):
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError("the child outlived the audit")


def _gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return True
    return state == "Z"


def test_outputs_that_cannot_be_pickled_are_flattened() -> None:
    """... into the same rows, so that what the burn-in learned of an output is known in the test too."""

    class Word:
        def __init__(self, text: str):
            self.text, self.function = text, lambda: 0

        def __iter__(self) -> Iterator[Any]:
            return iter((self.text, 1.5, None))

    def words(data: Any, rng: np.random.Generator) -> Any:
        return Word("low" if rng.random() + 0.2 * data[0] < 0.5 else "high")

    pair, labels, name = Pair([0.0], [1.0]), np.array([0, 1] * 20), BlockName(0, TEST, 0, 0)
    plain = tabulate(CallableTarget(words).outputs(pair, labels, name))
    with IsolatedTarget(CallableTarget(words)) as target:
        table = tabulate(target.outputs(pair, labels, name))
    assert np.array_equal(table.keys, plain.keys)
    assert len(np.unique(table.keys)) == 2
    assert np.array_equal(table.token_matrix(), plain.token_matrix())
    assert audit(words).right == audit_dp(words, [0.0], [1.0], epsilon=1.0, samples=100).right


def test_an_output_that_is_nested_too_deeply_is_called_that() -> None:
    def deep(data: Any, rng: np.random.Generator) -> Any:
        output: list[Any] = [laplace(data, rng)]
        for _ in range(100_000):
            output = [output]
        return output

    assert "nested too deeply" in audit(deep).reason


def test_a_worker_without_a_parent_ends() -> None:
    """Between two blocks, at the latest: nobody waits for the answer."""
    pair, labels = Pair([0.0], [1.0]), np.array([0, 1])

    def as_an_orphan(target: Any, request: int) -> Any:
        target._parent = -1
        return target.outputs(pair, labels, BlockName(0, TEST, 0, request))

    with IsolatedTarget(CallableTarget(laplace)) as target, pytest.raises(TargetError, match="exit code 0"):
        target.ask(pair, as_an_orphan, 0)


def test_a_function_in_a_child() -> None:
    assert in_child(lambda: 6 * 7) == 42
    with pytest.raises(TargetError, match="exit code 5"):
        in_child(lambda: os._exit(5))
    with pytest.raises(MechanismTimeout):
        in_child(lambda: time.sleep(60), timeout=-1.8)


# ---------------------------------------------------------------------------------------- another interpreter

THEIRS = """
import random, sys

def mechanism(data):
    print("chatter on stdout")
    return data[0] + random.gauss(0, 0.2)

def fails(data):
    raise ZeroDivisionError

class Model:
    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, X, y):
        self.coef_ = [sum(y) + random.gauss(0, self.scale)]
        return self
"""


@pytest.mark.parametrize(
    ("name", "parameters", "data"),
    [
        ("mechanism", "{}", ([0.0], [1.0])),
        ("Model", '{"scale": 0.2}', ({"X": [[1.0]], "y": [0.0]}, {"X": [[1.0]], "y": [1.0]})),
    ],
)
def test_a_mechanism_in_another_interpreter(tmp_path: Path, name: str, parameters: str, data: Any) -> None:
    (tmp_path / "theirs.py").write_text(THEIRS)
    with in_interpreter(sys.executable, f"theirs:{name}", folder=str(tmp_path), parameters=parameters) as target:
        result = audit_dp(target, *data, epsilon=1.0, delta=1e-5, samples=200)
    assert result.verdict == "violated"


@pytest.mark.parametrize(("name", "word"), [("missing", "cannot be loaded"), ("fails", "same in all")])
def test_a_broken_mechanism_in_another_interpreter_is_an_error(tmp_path: Path, name: str, word: str) -> None:
    (tmp_path / "theirs.py").write_text(THEIRS)
    with in_interpreter(sys.executable, f"theirs:{name}", folder=str(tmp_path)) as target:
        result = audit_dp(target, [0.0], [1.0], epsilon=1.0, samples=100)
    assert result.verdict == "error"
    assert word in result.reason


# ------------------------------------------------------------------------------------------------ stored draws


def test_stored_draws_are_read_again_and_give_the_same_result(tmp_path: Path) -> None:
    path = tmp_path / "draws"
    first = StoredTarget(CallableTarget(laplace), path)
    one = audit_dp(first, [0.0], [1.0], epsilon=1.0, samples=300)
    assert (first.read, first.drawn) == (0, 600)
    second = StoredTarget(CallableTarget(laplace), path)
    two = audit_dp(second, [0.0], [1.0], epsilon=1.0, samples=300)
    assert second.drawn == 0
    assert (one.epsilon_lower, one.right) == (two.epsilon_lower, two.right)


def test_an_interrupted_audit_loses_little(tmp_path: Path) -> None:
    calls = [0]

    def slow(data: Any, rng: np.random.Generator) -> float:
        calls[0] += 1
        if calls[0] == 400:
            raise KeyboardInterrupt
        return laplace(data, rng)

    path = tmp_path / "draws"
    with pytest.raises(KeyboardInterrupt):
        audit_dp(StoredTarget(CallableTarget(slow), path), [0.0], [1.0], epsilon=1.0, samples=300, lints=False)
    with path.open("ab") as file:
        file.write(b"\x80\x05half a piece")
    resumed = StoredTarget(CallableTarget(slow), path)
    audit_dp(resumed, [0.0], [1.0], epsilon=1.0, samples=300)
    checks = 3 * 8 + 1
    assert 399 - checks - resumed.read < 32
    assert resumed.read + resumed.drawn == 600


def test_draws_of_other_datasets_are_not_mixed_up(tmp_path: Path) -> None:
    path = tmp_path / "draws"
    audit_dp(StoredTarget(CallableTarget(laplace), path), [0.0], [1.0], epsilon=1.0, samples=100)
    other = StoredTarget(CallableTarget(laplace), path)
    assert audit_dp(other, [0.0], [9.0], epsilon=1.0, samples=100, neighbours="any").verdict == "violated"
    assert other.read == 0


@pytest.mark.parametrize(("timeout", "since", "overdue"), [(5.0, 6.0, False), (5.0, 8.0, True), (None, 1e6, False)])
def test_a_worker_has_its_timeout_and_two_seconds_of_grace(timeout: float | None, since: float, overdue: bool) -> None:
    """The call began `since` seconds ago: until 5 + 2 seconds it may interrupt itself, then the parent ends it."""
    worker = isolate.Worker(lambda request: request, timeout)
    try:
        assert worker.ask(7) == 7
        struct.pack_into("d", worker._clock, 0, time.monotonic() - since)
        assert worker._overdue() == overdue
    finally:
        worker.close()


def test_a_worker_that_has_hung_up_is_waited_for_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that only its own sleeps move; the process never ends."""
    worker, slept = isolate.Worker(lambda request: request, None), [0.0]
    try:
        with monkeypatch.context() as patched:
            patched.setattr(isolate, "time", SimpleNamespace(monotonic=lambda: sum(slept), sleep=slept.append))
            patched.setattr(worker, "_has_ended", lambda: False)
            patched.setattr(worker, "close", lambda: None)
            assert worker._how_it_ended().startswith("the mechanism closed the pipes")
        assert 2.0 <= sum(slept) < 2.2
    finally:
        worker.close()


def test_a_library_whose_threads_hang_in_a_copy_is_not_copied(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A key that a module makes when it is loaded starts jax: every call in a fork then took as long as it may."""
    from audit.cli.main import main

    started = ModuleType("jax._src.xla_bridge")
    started._backends = {"cpu": object()}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jax._src.xla_bridge", started)
    result = audit_dp(laplace, [0.0], [1.0], epsilon=1.0, samples=200, isolate=True)
    assert result.verdict == "error"
    assert "jax, whose threads run already" in result.reason
    data = '{"dataset": [0], "neighbour": [1]}'
    assert main(["test", "bench.zoo.additive:noisy_sum", "--epsilon", "1", "--data", data, "--samples", "1000"]) == 0
    assert "stays in this process" in capsys.readouterr().err
    started._backends = {}  # type: ignore[attr-defined]
    assert audit_dp(laplace, [0.0], [1.0], epsilon=1.0, samples=200, isolate=True).verdict != "error"
