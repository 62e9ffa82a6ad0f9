"""Replacements of random functions, and how they are taken back."""

from __future__ import annotations

import inspect
import os
import random
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from audit.auditor.lints.recorder import Recorder

_MISSING = object()
_GENERATOR, _STATE = np.random.Generator, np.random.RandomState
_LIBRARY = frozenset(
    [
        "numpy",
        "scipy",
        "pytest",
        "_pytest",
        "hypothesis",
        "mpmath",
        "flint",
        "matplotlib",
        "rich",
        "torch",
        "torchgen",
        "functorch",
        "sympy",
        "networkx",
        "jax",
        "jaxlib",
        "ml_dtypes",
        "opt_einsum",
        "tensorflow",
        "keras",
        "pandas",
        "pyarrow",
    ]
)
_AUDIT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_OUR_FOLDERS = (_AUDIT + os.sep, os.path.join(os.path.dirname(_AUDIT), "reference") + os.sep)
"""Of the package that this file is a part of, and of the one beside it, which draws nothing. A name would not do: a
user's own package may be called `audit` too."""
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


class Patches:
    """Attributes, dictionary entries and closure cells that were replaced, in order."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace an attribute of a class or module."""
        before = vars(owner).get(name, _MISSING)
        setattr(owner, name, value)
        self._undo.append(lambda: delattr(owner, name) if before is _MISSING else setattr(owner, name, before))

    def entry(self, space: dict[str, Any], name: str, value: Any) -> None:
        """Replace an entry of a dictionary."""
        before = space[name]
        space[name] = value
        self._undo.append(lambda: space.__setitem__(name, before))

    def cell(self, cell: Any, value: Any) -> None:
        """Replace what a closure has captured."""
        before = cell.cell_contents
        cell.cell_contents = value
        self._undo.append(lambda: setattr(cell, "cell_contents", before))

    def defaults(self, function: Any, stand_in: Callable[[Any], Any]) -> None:
        """Replace the default values of a function, `def f(data, rng=np.random.default_rng())`."""
        before = function.__defaults__
        after = tuple(other if (other := stand_in(v)) is not None else v for v in before or ())
        if before and any(x is not y for x, y in zip(before, after, strict=True)):
            function.__defaults__ = after
            self._undo.append(lambda: setattr(function, "__defaults__", before))
        named = function.__kwdefaults__
        for name, value in list((named or {}).items()):
            other = stand_in(value)
            if other is not None:
                self.entry(named, name, other)

    def undo(self) -> None:
        """Put everything back, last first."""
        while self._undo:
            self._undo.pop()()

    def replace_everywhere(self, moved: dict[int, Any], classes: dict[type, type], holders: Iterable[Any]) -> None:
        """Replace functions (by identity) and generators (by class) wherever a module or a holder keeps one."""

        def stand_in(value: Any) -> Any:
            if id(value) in moved:
                return moved[id(value)]
            if type(value) is _GENERATOR:
                return classes[_GENERATOR](value.bit_generator)
            if type(value) is _STATE and value is not np.random.mtrand._rand:
                return classes[_STATE](value._bit_generator)
            return None

        for space in _spaces(holders):
            for name, value in list(space.items()):
                other = stand_in(value)
                if other is not None:
                    self.entry(space, name, other)
        for cell in _cells(holders):
            other = stand_in(cell.cell_contents)
            if other is not None:
                self.cell(cell, other)
        for function in _functions(holders):
            self.defaults(function, stand_in)


def _is_library(name: str, module: ModuleType) -> bool:
    """Whether a module is ours (by the folder of its file), the standard library's or a well-known package's."""
    top = name.split(".")[0]
    ours = (getattr(module, "__file__", None) or "").startswith(_OUR_FOLDERS)
    return ours or top in _LIBRARY or top in sys.stdlib_module_names


def _spaces(holders: Iterable[Any]) -> list[dict[str, Any]]:
    """The variables of all modules but the libraries', of `numpy.random` and `random`, and of the holders."""
    spaces = [vars(np.random), vars(random)]
    spaces += _foreign()
    for holder in holders:
        function = inspect.unwrap(holder) if callable(holder) else holder
        for name in ("__globals__", "__dict__", "parameters"):
            source = getattr(function, name, None)
            if isinstance(source, dict):
                spaces.append(source)
        bound = getattr(getattr(function, "__self__", None), "__dict__", None)
        if isinstance(bound, dict):
            spaces.append(bound)
    return list({id(s): s for s in spaces}.values())


def _foreign() -> list[dict[str, Any]]:
    """The variables of all loaded modules that are neither ours nor a library's."""
    loaded = [(n, m) for n, m in list(sys.modules.items()) if isinstance(m, ModuleType)]
    return [vars(m) for n, m in loaded if not _is_library(n, m)]


def _may_hold_a_generator(space: dict[str, Any]) -> bool:
    """Whether functions of a module may have a generator for a default: of an installed package only if it names
    numpy, random or something of theirs (to read all functions of all packages would take longer than the mechanism).
    """
    if not any(part in str(space.get("__file__") or "") for part in _INSTALLED):
        return True
    return any(_home(value) in ("numpy", "random") for value in list(space.values()))


def _home(value: Any) -> str:
    """The package that a value is, or comes from, as far as its type says so."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0]
    if inspect.ismethod(value) or (inspect.isbuiltin(value) and value.__module__ is None):
        value = type(value.__self__)
    elif not (inspect.isroutine(value) or inspect.isclass(value)):
        value = type(value)
    return str(getattr(value, "__module__", None) or "").partition(".")[0]


def _functions(holders: Iterable[Any]) -> list[Any]:
    """The Python functions and methods of the modules, of the holders, and of what the holders have captured."""
    found: dict[int, Any] = {}
    spaces = [space for space in _foreign() if _may_hold_a_generator(space)]
    queue = [v for space in spaces for v in list(space.values()) if inspect.isfunction(v) or inspect.isclass(v)]
    queue += [inspect.unwrap(h) for h in holders if callable(h)]
    while queue:
        value = queue.pop()
        value = getattr(value, "__func__", value)
        if id(value) in found:
            continue
        found[id(value)] = value
        if inspect.isclass(value):
            queue += [m for m in vars(value).values() if inspect.isfunction(getattr(m, "__func__", m))]
        elif inspect.isfunction(value):
            queue += [c for c in (cell.cell_contents for cell in _cells([value])) if inspect.isfunction(c)]
        else:
            queue += [v for v in (getattr(value, "cls", None), getattr(value, "mechanism", None)) if callable(v)]
            queue += [v for v in (vars(type(value)).get("__call__"),) if inspect.isfunction(v)]
    return [f for f in found.values() if inspect.isfunction(f)]


def _cells(holders: Iterable[Any]) -> list[Any]:
    """The closure cells of the holders, and of functions captured by them."""
    found: dict[int, Any] = {}
    queue = [h for h in holders if callable(h)]
    while queue:
        function = queue.pop()
        for cell in getattr(function, "__closure__", None) or ():
            try:
                content = cell.cell_contents
            except ValueError:
                continue
            if id(cell) not in found:
                found[id(cell)] = cell
                if inspect.isfunction(content):
                    queue.append(content)
    return list(found.values())


# --------------------------------------------------------------------------------------------- replacements


def function(recorder: Recorder, source: str, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """A watched module-level function."""

    def watched(*args: Any, **kwargs: Any) -> Any:
        return recorder.draw(source, name, original, args, kwargs)

    return watched


def method(recorder: Recorder, source: str, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """A watched method of a Python class."""

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        return recorder.draw(source, name, lambda *a, **k: original(self, *a, **k), args, kwargs)

    return watched


def seeding(recorder: Recorder, what: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """A watched `seed` function."""

    def watched(*args: Any, **kwargs: Any) -> Any:
        recorder.seeded(what, args[0] if args else next(iter(kwargs.values()), None))
        return original(*args, **kwargs)

    return watched


def seed_method(recorder: Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """`random.Random.seed`, which the constructor calls too."""

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(self, random.SystemRandom):
            recorder.seeded("random.Random", args[0] if args else next(iter(kwargs.values()), None))
        return original(self, *args, **kwargs)

    return watched


def default_rng(recorder: Recorder, watched_class: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    """`numpy.random.default_rng`, giving watched generators."""

    def watched(seed: Any = None) -> Any:
        if not isinstance(seed, np.random.BitGenerator) and not hasattr(seed, "bit_generator"):
            recorder.seeded("numpy.random.default_rng", seed)
        made = original(seed)
        return (
            made
            if isinstance(made, watched_class) and type(made) is watched_class
            else watched_class(made.bit_generator)
        )

    return watched


class _Kind(type):
    """A watched class counts every instance of its base as its own: `isinstance` in audited code stays true."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])


def watched_class(recorder: Recorder, base: type, source: str, names: Iterable[str], seeds: bool = False) -> Any:
    """A subclass of `Generator` or `RandomState` whose draws are watched."""
    space: dict[str, Any] = {"__module__": base.__module__}
    for name in names:
        if hasattr(base, name):
            space[name] = method(recorder, source, name, getattr(base, name))
    if seeds:
        _watch_seeds(recorder, base, space)
    return _Kind(base.__name__, (base,), space)


def _watch_seeds(recorder: Recorder, base: type, space: dict[str, Any]) -> None:
    def make(self: Any, seed: Any = None) -> None:
        if not isinstance(seed, np.random.BitGenerator):
            recorder.seeded("numpy.random.RandomState", seed)
        base.__init__(self, seed)  # type: ignore[misc]

    def again(self: Any, seed: Any = None) -> None:
        recorder.seeded("RandomState.seed", seed)
        base.seed(self, seed)  # type: ignore[attr-defined]

    space |= {"__init__": make, "seed": again}
