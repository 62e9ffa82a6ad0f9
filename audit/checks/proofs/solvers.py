"""Solvers of real arithmetic on SMT-LIB text: z3, and cvc5 as a second opinion.

Both get the same text. An answer is "unsat", "sat" (with a model where all its values are rational) or "unknown" with
the reason; a solver that is not there answers "missing". Nothing but "unsat" ever proves anything. The two share no
code: where both say "unsat", an error of one of them is not enough for a false proof.

Each runs in a process of its own, which is ended if it does not answer in time (`solver_process`).
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeAlias

from audit.runtime.extras import EXTRAS

Reply: TypeAlias = Literal["unsat", "sat", "unknown", "missing"]
Solver: TypeAlias = Literal["z3", "cvc5"]
PATIENCE: dict[Solver, float] = {"z3": 10, "cvc5": 2}
"""Seconds that a solver may take for one question. cvc5 gives an opinion, and every audit replays the proofs."""
GRACE = 1.0
"""Seconds after its limit of time when a solver's process is ended."""
PROCESS = Path(__file__).with_name("solver_process.py")


@dataclass(frozen=True)
class Answer:
    """What a solver said."""

    verdict: Reply
    solver: str = ""
    reason: str = ""
    model: dict[str, Fraction] = field(default_factory=dict)
    """Of "sat": a value for each variable, if all are rational."""
    holds: bool = False
    """Of "sat": whether the solver's exact arithmetic says that the assertions hold at its model."""


def installed(solver: Solver) -> bool:
    """Whether a solver is there."""
    with contextlib.suppress(ModuleNotFoundError):
        return importlib.util.find_spec(solver) is not None
    return False


def version(solver: Solver = "z3") -> str:
    """A solver's name and version; nothing if it is not there."""
    return f"{solver} {importlib.metadata.version(EXTRAS[solver][0])}" if installed(solver) else ""


def missing(solver: Solver = "z3") -> str:
    """What to install, in one line, if a solver is not there; nothing if it is."""
    package, extra = EXTRAS[solver]
    return "" if installed(solver) else f"needs {package}: pip install 'dpso[{extra}]'"


def ask(script: str, solver: Solver = "z3", patience: float | None = None) -> Answer:
    """Whether the assertions of a script can hold together."""
    if not installed(solver):
        return Answer("missing", solver, missing(solver))
    patience = PATIENCE[solver] if patience is None else patience
    answer = _answer(solver, script, patience)
    model = {name: Fraction(value) for name, value in answer.get("model", {}).items()}
    return Answer(answer["verdict"], version(solver), answer.get("reason", ""), model, answer.get("holds", False))


def second_opinion(script: str) -> Answer:
    """The same question, to cvc5."""
    return ask(script, "cvc5")


# ------------------------------------------------------------------------------------------- the processes

_RUNNING: dict[tuple[Solver, int], subprocess.Popen[str]] = {}
"""A solver's process, for each solver and each process of ours."""


def _answer(solver: Solver, script: str, patience: float) -> dict[str, Any]:
    """One question; a process that does not answer is ended, and the next question starts another."""
    key = (solver, os.getpid())
    process = _RUNNING.get(key)
    if process is None or process.poll() is not None:
        process = _RUNNING[key] = _start(solver)
    assert process.stdin is not None
    assert process.stdout is not None
    alarm = threading.Timer(patience + GRACE, process.kill)
    alarm.start()
    line = ""
    with contextlib.suppress(OSError):  # ended, or crashed
        print(json.dumps({"script": script, "patience": patience}), file=process.stdin, flush=True)
        line = process.stdout.readline()
    alarm.cancel()
    if line:
        found: dict[str, Any] = json.loads(line)
        return found
    _end(_RUNNING.pop(key))
    return {"verdict": "unknown", "reason": f"no answer in {patience + GRACE:g} s"}


def _start(solver: Solver) -> subprocess.Popen[str]:
    command = [sys.executable, "-P", str(PROCESS), solver]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
    )


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    with contextlib.suppress(OSError):
        process.communicate()


@atexit.register
def stop() -> None:
    """End the solvers' processes; the next question starts them again."""
    for key in [key for key in _RUNNING if key[1] == os.getpid()]:
        _end(_RUNNING.pop(key))
