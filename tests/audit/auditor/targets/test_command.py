"""`dpso test` on targets that hang, exit, fork, flood, or are classes: exit codes and one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from audit.auditor.targets import isolate

MODULE = """
import os
import numpy as np

def spins(d, rng):
    while True:
        pass

def exits(d, rng):
    os._exit(4)

def forks(d, rng):
    os.fork()
    return d[0] + rng.laplace()

def floods(d, rng):
    while True:
        os.write(1, b"x" * 2**24)

def seeded(d, seed=0):
    return d[0] + np.random.default_rng(seed).laplace()

class Model:
    def fit(self, X, y):
        self.coef_ = sum(y) + np.random.laplace(0, 0.25)
"""


@pytest.fixture
def room(tmp_path: Path) -> Path:
    (tmp_path / "theirs.py").write_text(MODULE)
    (tmp_path / "pair.json").write_text('{"dataset": [0.0], "neighbour": [1.0]}')
    (tmp_path / "xy.json").write_text('{"dataset": {"X": [[1]], "y": [0.0]}, "neighbour": {"X": [[1]], "y": [1.0]}}')
    return tmp_path


def dpso(room: Path, *arguments: str) -> Any:
    command = [sys.executable, "-m", "dpso", "test", *arguments, "--epsilon", "1", "--samples", "150"]
    here = str(Path(isolate.__file__).parents[2])
    environment = {"PYTHONPATH": here, "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=room, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("name", "word"),
    [("spins", "timeout = 0.5 s"), ("exits", "exit code 4"), ("forks", "forked"), ("floods", "wrote more than")],
)
def test_a_hostile_target_is_contained_reported_and_exit_two(room: Path, name: str, word: str) -> None:
    timeout = "30" if name == "floods" else "0.5"
    done = dpso(room, f"theirs:{name}", "--data", "pair.json", "--timeout", timeout)
    assert done.returncode == 2
    assert done.stdout == ""
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("dpso: ")
    assert word in last


def test_a_class_and_a_seed(room: Path) -> None:
    model = dpso(room, "theirs:Model", "--data", "xy.json", "--json")
    assert model.returncode == 1
    assert "sensitivity" in {f["kind"] for f in json.loads(model.stdout)["findings"]}
    seeded = dpso(room, "theirs:seeded", "--data", "pair.json", "--seed-arg", "seed", "--json")
    told = json.loads(seeded.stdout)
    assert (told["verdict"], told["with_fresh_seeds"]["verdict"]) == ("violated", "inconclusive")
