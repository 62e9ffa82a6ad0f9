"""A `fit(X, y)` class as a mechanism.

    mechanism = estimator(TheirModel, epsilon=1.0)          # mechanism((X, y), rng) → what is published

Each call makes a fresh object, fits it to its own copy of (X, y) and returns what a reader of the fitted object sees:
by convention its attributes that end in an underscore (`coef_`, `intercept_`, …), or what `release=` picks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.auditor.targets.sampling import releaser


@dataclass(frozen=True)
class Estimator:
    """A mechanism made from a class. `fit` names the method; `seed_arg` the constructor's seed, fresh in every call."""

    cls: Callable[..., Any]
    parameters: dict[str, Any] = field(default_factory=dict)
    release: str | int | Callable[[Any], Any] | None = None
    fit: str = "fit"
    seed_arg: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be fitted, before a single call is made."""
        if not callable(self.cls):
            raise ValueError(
                f"cls = {self.cls!r} must be a class (or a function that makes an object) with a fit method"
            )
        if inspect.isclass(self.cls) and not hasattr(self.cls, self.fit):
            raise ValueError(f"cls = {self.cls.__name__} has no method {self.fit!r}: name it with fit=")
        if self.seed_arg is not None and not accepts(self.cls, self.seed_arg):
            raise ValueError(f"seed_arg = {self.seed_arg!r} is not a parameter of {_name(self.cls)}")

    @property
    def __name__(self) -> str:
        return _name(self.cls)

    def __call__(self, dataset: Any, rng: np.random.Generator) -> Any:
        """Make, fit, publish."""
        seed = {} if self.seed_arg is None else {self.seed_arg: fresh_seed(rng)}
        model = self.cls(**(self.parameters | seed))
        returned = getattr(model, self.fit)(*_arguments(dataset))
        fitted = model if returned is None else returned
        if self.release is not None:
            chosen = releaser(self.release)
            assert chosen is not None
            return chosen(fitted)
        return published(fitted)


def estimator(
    cls: Callable[..., Any],
    *,
    release: str | int | Callable[[Any], Any] | None = None,
    fit: str = "fit",
    seed_arg: str | None = None,
    **params: Any,
) -> Estimator:
    """Turn a `fit(X, y)` class into a mechanism for `audit_dp`: each call makes an object and fits it.

    Args:
        cls: the class, or a function that makes an object.
        release: what is published of the fitted object: an attribute, a key, an index or a function; without it, the
            attributes that end in an underscore, or else all public ones.
        fit: the name of the method.
        seed_arg: a parameter of the constructor that gets a fresh seed in every call.
        **params: go to the constructor.

    Returns:
        The mechanism, a function of ((X, y), rng).

    Raises:
        ValueError: `cls` makes no object with such a method.

    >>> import numpy as np
    >>> class Mean:
    ...     def __init__(self, scale):
    ...         self.scale = scale
    ...     def fit(self, X):
    ...         self.mean_ = X.mean() + np.random.laplace(scale=self.scale)
    >>> mechanism = estimator(Mean, scale=0.1)
    >>> sorted(mechanism(np.ones((3, 1)), np.random.default_rng(0)))
    ['mean_']
    """
    return Estimator(cls, params, release, fit, seed_arg)


def fresh_seed(rng: np.random.Generator) -> int:
    """A seed below 2**31 - 1, drawn where no recorder sees it: it is ours, not a draw of the mechanism."""
    return int(rng.bit_generator.random_raw()) % (2**31 - 1)


def accepts(function: Callable[..., Any], name: str) -> bool:
    """Whether a function can be called with this keyword."""
    try:
        known = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return name in known or any(p.kind == p.VAR_KEYWORD for p in known.values())


def _name(cls: Callable[..., Any]) -> str:
    return str(getattr(cls, "__name__", type(cls).__name__))


def _arguments(dataset: Any) -> tuple[Any, ...]:
    """The arguments of `fit`: a tuple (X, y) or a dict {"X": …, "y": …} is spread out."""
    if isinstance(dataset, tuple):
        return dataset
    if isinstance(dataset, dict) and set(dataset) <= {"X", "y"}:
        return tuple(dataset[k] for k in ("X", "y") if k in dataset)
    return (dataset,)


def published(fitted: Any) -> Any:
    """What a reader of a fitted object sees: its attributes with a trailing underscore, or else all public data
    attributes.
    """
    if not hasattr(fitted, "__dict__"):
        return fitted
    attributes = {k: v for k, v in vars(fitted).items() if not k.startswith("_") and not callable(v)}
    learned = {k: v for k, v in attributes.items() if k.endswith("_")}
    if not learned and not attributes:
        raise ValueError(f"{type(fitted).__name__} has no attributes to publish: say what is published with release=")
    chosen = learned or attributes
    return {k: v for k, v in chosen.items() if not isinstance(v, np.random.Generator | np.random.RandomState)}
