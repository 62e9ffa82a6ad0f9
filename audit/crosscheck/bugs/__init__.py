"""Catalogued bugs: one line of the reference changed. `diagnose` looks for the one that gives a client's numbers.

A mutant is a substitution in the source of one function or class; `clone` compiles it in a copy of its module, together
with every function of that module (and of the modules that import it), so that the live modules are not touched. The
vectors must catch it at the line where the bug is; a bug that is relevant to privacy must also be seen by `leak`, an
exact computation of what the mutated algorithm reveals (in the tests).

What may not enter: a bug that no vector catches.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from reference.numerics.numbers import Float64
from reference.paper.events import Trace
from reference.vectors.execute import MODULES, as_json, plain, run

HELPERS = {
    "rounds": "reference.smooth.rounds",
    "calibration": "reference.smooth.calibration",
    "sensitivity": "reference.smooth.sensitivity",
    "mirror": "reference.weakly_convex.mirror",
}
"""Modules that hold lines of the algorithms besides those that a run calls."""


@dataclass(frozen=True)
class Slip:
    """One bug: where it is (module, function), the text that it replaces, the line of the paper, what it is."""

    id: str
    algorithm: str
    variant: str
    module: str
    owner: str
    old: str
    new: str
    line: int
    bug: str
    leak: str = ""
    """The key of the check among the tests that sees the loss of privacy; empty if privacy is not touched."""
    also: tuple[int, ...] = ()
    """Other lines at which the vectors may see it first (a quantity without an event of its own)."""


def mutated_source(mutant: Slip) -> str:
    """The source of the owner with the substitution, which must fit exactly once."""
    module = import_module({**MODULES, **HELPERS}[mutant.module])
    source = textwrap.dedent(inspect.getsource(getattr(module, mutant.owner)))
    if source.count(mutant.old) != 1:
        raise ValueError(f"{mutant.id}: {mutant.old!r} occurs {source.count(mutant.old)} times in {mutant.owner}")
    return source.replace(mutant.old, mutant.new)


def clone(module: ModuleType, exchanged: Mapping[str, Any]) -> dict[str, Any]:
    """The module's namespace with some names exchanged, and all its functions rebound to it."""
    space = dict(vars(module))
    for name, value in vars(module).items():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            space[name] = _rebound(value, space)
    space.update(exchanged)
    return space


def _rebound(function: FunctionType, space: dict[str, Any]) -> FunctionType:
    copy = FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def mutated_code(mutant: Slip) -> SimpleNamespace:
    """What `execute.run` calls, with the mutant inside."""
    places = {**MODULES, **HELPERS}
    home = import_module(places[mutant.module])
    space = clone(home, {})
    exec(compile(mutated_source(mutant), f"<mutant {mutant.id}>", "exec"), space)
    spaces = {places[mutant.module]: space}
    for path in (*HELPERS.values(), *MODULES.values()):  # importers, from the helpers up
        if path not in spaces:
            spaces[path] = _following(import_module(path), spaces)
    for path in MODULES.values():  # once more: algorithms import each other
        if path != places[mutant.module]:
            spaces[path] = _following(import_module(path), spaces)
    return SimpleNamespace(**{name: SimpleNamespace(**spaces[path]) for name, path in MODULES.items()})


def _following(module: ModuleType, spaces: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A copy of a module whose imports from the copied modules follow the copies."""
    exchanged = {}
    for name, value in vars(module).items():
        if isinstance(value, (FunctionType, type)) and value.__module__ != module.__name__:
            exchanged[name] = spaces.get(value.__module__, {}).get(value.__name__, value)
    return clone(module, exchanged)


def answer(code: SimpleNamespace, case: Any) -> dict[str, Any]:
    """What an implementation with the bug replies to a case, in binary64, with its trace."""
    K, trace = Float64(), Trace()
    try:
        done = run(K, case, code, trace=trace)
    except Exception as error:  # noqa: BLE001 - a mutant may fail in any way; its trace so far is what counts
        return {"reject": f"{type(error).__name__}: {error}", "trace": as_json(K, trace)}
    return {"trace": as_json(K, trace), "output": {k: plain(K, v) for k, v in done.output.items()}}
