"""Draws: reproducible blocks, contained foreign code, other processes."""

from __future__ import annotations

import random
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from audit.auditor.targets.command import ExecTarget
from audit.auditor.targets.containment import MechanismTimeout
from audit.auditor.targets.sampling import (
    BURN_IN,
    TEST,
    BlockName,
    CallableTarget,
    Pair,
    TargetError,
    _calling_convention,
    _summary,
    copier,
    draw_block,
)
from audit.auditor.terms.leaves import Raised

PAIR = Pair([0.0], [1.0])


def name(index=0, stream=TEST, seed=3):
    return BlockName(seed, stream, 0, index)


def noisy(d, rng):
    return d[0] + rng.normal()


def batch(d, size, rng):
    return d[0] + rng.normal(size=size)


@pytest.mark.parametrize("mechanism", [noisy, batch])
def test_a_block_is_the_same_whenever_it_is_made(mechanism):
    first = [draw_block(CallableTarget(mechanism), PAIR, name(i), 50) for i in (0, 1)]
    target = CallableTarget(mechanism)
    again = {i: draw_block(target, PAIR, name(i), 50) for i in (1, 0)}
    for i in (0, 1):
        assert np.array_equal(first[i].labels, again[i].labels)
        assert np.array_equal(first[i].values.numbers, again[i].values.numbers)
    assert not np.array_equal(first[0].labels, first[1].labels)
    assert not np.array_equal(first[0].labels, draw_block(target, PAIR, name(0, BURN_IN), 50).labels)


def test_labels_are_coins_and_match_their_draws():
    block = draw_block(CallableTarget(lambda d, rng: d[0]), PAIR, name(), 20_000)
    assert np.array_equal(block.values.numbers[:, 0], block.labels)
    assert abs(block.labels.mean() - 0.5) < 5.5 * 0.5 / 20_000**0.5


def test_a_sorted_batch_is_dealt_out_in_random_order():
    block = draw_block(CallableTarget(lambda d, size, rng: np.sort(rng.normal(size=size))), PAIR, name(), 2000)
    x = block.values.numbers[:, 0]
    assert abs(np.corrcoef(np.arange(2000), x)[0, 1]) < 0.2


def test_global_generators_are_seeded_noted_and_restored():
    random.seed(11)
    np.random.seed(12)
    expected = random.random(), np.random.random()
    random.seed(11)
    np.random.seed(12)
    target = CallableTarget(lambda d: random.gauss(0, 1) + np.random.normal())
    a = draw_block(target, PAIR, name(), 20).values.numbers
    assert np.array_equal(a, draw_block(target, PAIR, name(), 20).values.numbers)
    assert (random.random(), np.random.random()) == expected
    assert target.noticed.global_sources == {"random", "numpy.random"}
    quiet = CallableTarget(noisy)
    draw_block(quiet, PAIR, name(), 20)
    assert quiet.noticed.global_sources == set()


def test_prints_and_warnings_are_caught(capsys):
    def loud(d, rng):
        print("x" * 10)
        warnings.warn("careful", stacklevel=1)
        return rng.normal()

    target = CallableTarget(loud)
    draw_block(target, PAIR, name(), 30)
    assert capsys.readouterr().out == ""
    assert target.noticed.printed == 330
    assert target.noticed.warned >= 1
    assert target.noticed.first_warning == "careful"


def test_exceptions_are_outcomes():
    def moody(d, rng):
        if d[0] > 0 and rng.random() < 0.5:
            raise KeyError("secret")
        if d[0] > 0 and rng.random() < 0.1:
            sys.exit(3)
        return 1.0

    target = CallableTarget(moody)
    outputs = target.outputs(PAIR, np.ones(200, dtype=int), name())
    assert {o.type_name for o in outputs if isinstance(o, Raised)} == {"KeyError", "SystemExit"}
    assert target.noticed.raised[0] == 0
    assert target.noticed.raised[1] > 50
    assert "KeyError" in target.noticed.first_traceback


def test_each_call_gets_its_own_copy():
    def greedy(d, rng):
        d.append(1.0)
        return len(d)

    data = [0.0]
    outputs = CallableTarget(greedy).outputs(Pair(data, [1.0]), np.zeros(5, dtype=int), name())
    assert outputs == [2] * 5
    assert data == [0.0]


@pytest.mark.parametrize(("release", "value"), [("coef", 2.0), (0, 1.0), (lambda o: o[1] + 1, 3.0)])
def test_release_picks_what_is_published(release, value):
    class Result(tuple):
        coef = 2.0

    assert CallableTarget(lambda d, rng: Result((1.0, 2.0)), release).outputs(PAIR, np.zeros(1, dtype=int), name()) == [
        value
    ]


def test_a_hanging_call_is_interrupted():
    with pytest.raises(MechanismTimeout):
        CallableTarget(lambda d: time.sleep(30), timeout=0.2).outputs(PAIR, np.zeros(1, dtype=int), name())


def test_batches_of_the_wrong_length_are_refused():
    with pytest.raises(TargetError, match="returned 3 outputs"):
        CallableTarget(lambda d, size, rng: [1, 2, 3]).outputs(PAIR, np.zeros(10, dtype=int), name())


def test_what_cannot_be_called_is_refused():
    with pytest.raises(ValueError, match="must be callable"):
        CallableTarget(3)
    with pytest.raises(ValueError, match="must take"):
        CallableTarget(lambda: 1)


# ------------------------------------------------------------------------------------------- other processes

WORKER = """
import json, random, sys
for line in sys.stdin:
    r = json.loads(line)
    random.seed(r["seed"])
    print(json.dumps({"outputs": [[r["dataset"][0] + random.gauss(0, 1), None] for _ in range(r["size"])]}), flush=True)
"""


def command(tmp_path, text):
    path = tmp_path / "worker.py"
    path.write_text(text)
    return f"{sys.executable} {path}"


def test_a_command_is_sampled(tmp_path):
    with ExecTarget(command(tmp_path, WORKER)) as target:
        a = draw_block(target, PAIR, name(), 40)
        b = draw_block(target, PAIR, name(), 40)
        assert np.array_equal(a.values.keys, b.values.keys)
        assert a.values.width == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import sys\nfor line in sys.stdin: print('hello', flush=True)", "no JSON line"),
        ("import sys\nfor line in sys.stdin: print('[1]', flush=True)", "must be a JSON object"),
        ("import sys\nfor line in sys.stdin: print('{\"outputs\": [1]}', flush=True)", "entries"),
        ('import sys\nfor line in sys.stdin: print(\'{"error": "no"}\', flush=True)', "reports an error: no"),
        ("import sys\nsys.stderr.write('dead\\n'); sys.exit(3)", "exit code 3, stderr ends: dead"),
        ("import time\ntime.sleep(60)", "did not answer within 0.3 s"),
    ],
)
def test_misbehaving_commands_are_named(tmp_path, text, message):
    with ExecTarget(command(tmp_path, text), timeout=0.3 if "sleep" in text else 20) as target:
        time.sleep(0.3 if "exit" in text else 0)
        with pytest.raises(TargetError, match=message):
            draw_block(target, PAIR, name(), 40)


@pytest.mark.linux("reads /proc")
def test_children_of_a_command_end_with_it(tmp_path):
    text = (
        "import subprocess, sys, time\np = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print('{\"pid\": %d}' % p.pid, flush=True)\nfor line in sys.stdin: time.sleep(60)"
    )
    target = ExecTarget(command(tmp_path, text), timeout=20)
    child = target._reply()["pid"]
    target.close()
    for _ in range(50):
        try:
            state = Path(f"/proc/{child}/stat").read_text().split()[2]
        except FileNotFoundError:
            state = "gone"
        if state in ("gone", "Z", "X"):
            break
        time.sleep(0.05)
    assert state in ("gone", "Z", "X")


def test_a_command_that_does_not_read_is_ended(tmp_path):
    """A pipe holds little: a request that is longer must not wait for ever."""
    large = Pair([0.0] * 100_000, [1.0] * 100_000)
    with ExecTarget(command(tmp_path, "import time\ntime.sleep(60)"), timeout=0.3) as target:
        with pytest.raises(TargetError, match=r"did not read its request within 0\.3 s"):
            draw_block(target, large, name(), 40)
        assert target._process.poll() is not None


def test_a_process_that_left_the_group_is_not_waited_for(tmp_path):
    """It keeps the pipe open: the end of the command is the end all the same."""
    text = (
        "import os, sys, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(60); os._exit(0)\n"
        "print('{}', flush=True)\nfor line in sys.stdin: time.sleep(60)"
    )
    target = ExecTarget(command(tmp_path, text), timeout=20)
    assert target._reply() == {}
    closing = threading.Thread(target=target.close, daemon=True)
    closing.start()
    closing.join(20)
    assert not closing.is_alive()


def test_replies_come_whole_however_they_are_written(tmp_path):
    text = (
        "import os, sys, time\nfor line in sys.stdin:\n"
        "    for part in (b'{\"outputs\": [1,', b' 2]}\\n{\"more\": ', b'1}\\n{\"last\"', b': 1}'):\n"
        "        os.write(1, part); time.sleep(0.05)\n    sys.exit()"
    )
    with ExecTarget(command(tmp_path, text), timeout=20) as target:
        assert target.ask({}) == {"outputs": [1, 2]}
        assert [target._reply(), target._reply()] == [{"more": 1}, {"last": 1}]
        with pytest.raises(TargetError, match="ended without an answer"):
            target._reply()


def test_a_command_that_does_not_exist():
    with pytest.raises(TargetError, match="cannot start"):
        ExecTarget("/nonexistent/command")


class InBatches:
    size = True

    def __call__(self, dataset, n, rng):
        return (dataset, n, rng)


@pytest.mark.parametrize(
    ("mechanism", "batched", "given"),
    [
        (lambda dataset, *, size, rng: (dataset, size, rng), True, ("data", 3, "rng")),
        (lambda dataset, size, g: (dataset, size, g), True, ("data", 3, "rng")),
        (InBatches(), True, ("data", 3, "rng")),
        (lambda dataset, generator: (dataset, generator), False, ("data", "rng")),
        (lambda *given: given, False, ("data", "rng")),
        (lambda dataset, scale=1, rng=None: (dataset, scale, rng), False, ("data", 1, "rng")),
        (lambda dataset, *, generator=None: (dataset, generator), False, ("data", "rng")),
        (lambda dataset, scale=1: (dataset, scale), False, ("data", 1)),
        (lambda dataset: dataset, False, "data"),
    ],
)
def test_how_a_mechanism_is_called_follows_from_its_signature(mechanism, batched, given):
    call, in_batches = _calling_convention(mechanism)
    assert in_batches is batched
    assert call("data", 3, "rng") == given


def test_a_mechanism_without_room_for_a_dataset_is_refused():
    with pytest.raises(ValueError, match="must take"):
        _calling_convention(lambda: 0)


@pytest.mark.parametrize(
    ("dataset", "spoil"),
    [
        (np.zeros(2), lambda d: d.fill(7)),
        (np.array([[1], None], dtype=object), lambda d: d[0].append(7)),
        ([1.0, "x", True], lambda d: d.append(7)),
        ([[1.0]], lambda d: d[0].append(7)),
        ((np.zeros(2), np.ones(1)), lambda d: d[1].fill(7)),
        ((np.zeros(2), np.array([[1]], dtype=object)), lambda d: d[1].fill(7)),
        ((np.zeros(2), np.array([[1], None], dtype=object)), lambda d: d[1][0].append(7)),
        ((np.zeros(2), [1.0]), lambda d: d[1].append(7)),
        ({"x": [1.0]}, lambda d: d["x"].append(7)),
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_a_call_does_to_its_dataset_the_next_call_does_not_see(dataset: object, spoil: object) -> None:
    fresh, before = copier(dataset), repr(dataset)
    spoil(fresh())  # type: ignore[operator]
    assert repr(fresh()) == repr(dataset) == before


def test_a_summary_names_six_parts_and_says_that_there_are_more() -> None:
    names = [f"k{i}" for i in range(7)]
    assert _summary(dict.fromkeys(names)).startswith("which has 'k0', 'k1', 'k2', 'k3', 'k4', 'k5', … (type")
    assert _summary(dict.fromkeys(names[:6])) == "which has 'k0', 'k1', 'k2', 'k3', 'k4', 'k5' (type dict)"


def test_a_copy_is_as_deep_as_it_must_be():
    inner = [1.0]
    for dataset in ([1.0, inner], (inner, 2.0), {"a": inner}, [inner], np.array([inner, None], dtype=object)):
        copied = copier(dataset)()
        found = copied["a"] if isinstance(copied, dict) else next(x for x in copied if isinstance(x, list))
        assert found == inner
        assert found is not inner
    flat, pair = [1, 2.0, "a", True], (np.zeros(2), np.ones(1))
    for dataset in (flat, pair, np.zeros(3)):
        first, second = copier(dataset)(), copier(dataset)()
        assert first is not second
        assert type(first) is type(dataset)
        assert all(np.array_equal(x, y) for x, y in zip(first, dataset, strict=True))
    assert not np.shares_memory(copier(pair)()[0], pair[0])
    assert copier("text")() == "text"


def test_a_summary_names_six_parts_at_most():
    assert _summary({str(i): i for i in range(6)}) == "which has '0', '1', '2', '3', '4', '5' (type dict)"
    assert _summary({str(i): i for i in range(7)}) == "which has '0', '1', '2', '3', '4', '5', … (type dict)"
    assert _summary([1, 2]) == "which has 2 entries (type list)"
    assert _summary(1.0) == "a float"
