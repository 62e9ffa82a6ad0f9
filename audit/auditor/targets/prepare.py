"""From what a caller hands over to something that can be sampled: fresh seeds, one-off calibration, isolation, stored
draws.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from audit.auditor.targets.estimator import Estimator, accepts, fresh_seed
from audit.auditor.targets.isolate import IsolatedTarget
from audit.auditor.targets.sampling import CallableTarget, Target
from audit.auditor.targets.stored import StoredTarget
from audit.auditor.terms.options import Code


def prepare(
    mechanism: Callable[..., Any] | Target,
    code: Code,
    store: str | os.PathLike[str] | None = None,
    *,
    seed_arg: str | None = None,
) -> Target:
    """A target. `setup()` is called once and its result handed to every call as a third argument; `seed_arg` gets a
    fresh seed in every call.
    """
    if hasattr(mechanism, "outputs"):
        target: Target = mechanism  # type: ignore[assignment]
    else:
        made: Any = Estimator(mechanism) if inspect.isclass(mechanism) and hasattr(mechanism, "fit") else mechanism
        if code.setup is not None:
            made = with_setup(made, code.setup)
        if seed_arg is not None:
            made = with_fresh_seeds(made, seed_arg)
        target = CallableTarget(made, code.release, code.timeout)
        if code.isolate:
            target = IsolatedTarget(target)
    if store is not None:
        target = StoredTarget(target, Path(store), getattr(mechanism, "__name__", type(mechanism).__name__))
    return target


def with_fresh_seeds(mechanism: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The mechanism with a new seed in every call, passed as the keyword `name`."""
    if isinstance(mechanism, Estimator):
        return replace(mechanism, seed_arg=name)
    if not accepts(mechanism, name):
        raise ValueError(f"seed_arg = {name!r} is not a parameter of {getattr(mechanism, '__name__', mechanism)!r}")
    takes_rng = _positional(mechanism, name) >= 2

    def seeded(dataset: Any, rng: np.random.Generator) -> Any:
        seed = {name: fresh_seed(rng)}
        return mechanism(dataset, rng, **seed) if takes_rng else mechanism(dataset, **seed)

    return seeded


def with_setup(mechanism: Callable[..., Any], setup: Callable[[], Any]) -> Callable[..., Any]:
    """The mechanism as `mechanism(dataset, rng, prepared)`, with `prepared = setup()` computed once, without the
    data.
    """
    if not callable(setup):
        raise ValueError(f"setup = {setup!r} must be a function of no arguments, called once before the first draw")
    if _positional(mechanism, "") < 3:
        raise ValueError(
            "setup = … needs a mechanism(dataset, rng, prepared) that takes what setup() returns as its third argument"
        )
    kept: list[Any] = []

    def prepared(dataset: Any, rng: np.random.Generator) -> Any:
        if not kept:
            kept.append(setup())
        return mechanism(dataset, rng, kept[0])

    return prepared


def _positional(function: Callable[..., Any], without: str) -> int:
    """How many positional arguments a function takes, not counting one of this name."""
    try:
        known = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    if any(p.kind == p.VAR_POSITIONAL for p in known):
        return 99
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name != without for p in known)
