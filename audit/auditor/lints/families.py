"""What the random functions of numpy, `random` and scipy are called with, in one form: a distribution with loc and
scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.auditor.lints.losses import named

ADDITIVE = frozenset({"normal", "laplace", "logistic", "gumbel", "exponential", "cauchy", "t", "multivariate_normal"})
"""Distributions of real-valued noise. Choices and permutations are draws, but not noise; uniform numbers mostly become
something else (a coin, an inverted distribution function) before they meet data, so they are not followed either.
"""
_INTEGERS = {"geometric": ("geometric", ("p",)), "poisson": ("Poisson", ("lam",)), "binomial": ("binomial", ("n", "p"))}
"""Distributions of integers that may be noise → family of `losses`, its parameters."""
_SCIPY_INTEGERS = {
    "geom": "geometric",
    "poisson": "Poisson",
    "binom": "binomial",
    "dlaplace": "discrete Laplace",
    "skellam": "Skellam",
}

SIGNATURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "normal": ("normal", ("loc", "scale", "size")),
    "laplace": ("laplace", ("loc", "scale", "size")),
    "logistic": ("logistic", ("loc", "scale", "size")),
    "gumbel": ("gumbel", ("loc", "scale", "size")),
    "standard_normal": ("normal", ("size",)),
    "randn": ("normal", ()),
    "exponential": ("exponential", ("scale", "size")),
    "standard_exponential": ("exponential", ("size",)),
    "standard_cauchy": ("cauchy", ("size",)),
    "standard_t": ("t", ("df", "size")),
    "uniform": ("uniform", ("low", "high", "size")),
    "random": ("uniform", ("size",)),
    "random_sample": ("uniform", ("size",)),
    "rand": ("uniform", ()),
    "multivariate_normal": ("multivariate_normal", ("mean", "cov", "size")),
    "gamma": ("gamma", ("shape", "scale", "size")),
    "standard_gamma": ("gamma", ("shape", "size")),
    "beta": ("beta", ("a", "b", "size")),
    "chisquare": ("chisquare", ("df", "size")),
    "rayleigh": ("rayleigh", ("scale", "size")),
    "geometric": ("geometric", ("p", "size")),
    "poisson": ("poisson", ("lam", "size")),
    "binomial": ("binomial", ("n", "p", "size")),
    "multinomial": ("multinomial", ("n", "pvals", "size")),
    "dirichlet": ("dirichlet", ("alpha", "size")),
    "integers": ("integers", ("low", "high", "size")),
    "randint": ("integers", ("low", "high", "size")),
}
"""Method of `numpy.random` or `Generator` → distribution, positional parameters."""

PYTHON: dict[str, tuple[str, tuple[str, ...]]] = {
    "gauss": ("normal", ("loc", "scale")),
    "normalvariate": ("normal", ("loc", "scale")),
    "expovariate": ("exponential", ("rate",)),
    "uniform": ("uniform", ("low", "high")),
    "random": ("uniform", ()),
    "randint": ("integers", ("low", "high")),
    "randrange": ("integers", ("low", "high")),
    "getrandbits": ("integers", ("bits",)),
    "betavariate": ("beta", ("a", "b")),
    "gammavariate": ("gamma", ("shape", "scale")),
    "triangular": ("triangular", ("low", "high")),
}
"""Function of `random` → distribution, positional parameters."""

_PYTHON_NAMES = {"mu": "loc", "sigma": "scale", "lambd": "rate", "a": "low", "b": "high"}

CHOICES = frozenset({"choice", "choices", "sample", "permutation", "permuted", "shuffle"})
"""Draws of records or positions: repeated by position, so that both neighbours use the same ones."""


@dataclass(frozen=True)
class NoiseParameters:
    """A noise call in normal form. `named_scale`: the caller gave the scale (or its like), not only a location. `law`:
    of a single integer or of independent ones, as `losses` names it; "" of other draws.
    """

    distribution: str
    loc: Any
    scale: Any
    named_scale: bool
    law: str = ""


def parameters(method: str, args: tuple[Any, ...], kwargs: dict[str, Any], python: bool = False) -> NoiseParameters:
    """Read the arguments of a random function."""
    distribution, names = (PYTHON if python else SIGNATURES)[method]
    given = dict(zip(names, args, strict=False))
    given |= {(_PYTHON_NAMES.get(k, k) if python else k): v for k, v in kwargs.items()}
    return in_normal_form(distribution, given)


def in_normal_form(distribution: str, given: dict[str, Any]) -> NoiseParameters:
    """Location and scale of a distribution from its own parameters."""
    if distribution == "uniform":
        low, high = given.get("low", 0.0), given.get("high", 1.0)
        return NoiseParameters(distribution, low, np.subtract(high, low), True)
    if distribution == "exponential" and "rate" in given:
        return NoiseParameters(distribution, 0.0, 1.0 / given["rate"], True)
    if distribution == "multivariate_normal":
        return NoiseParameters(
            distribution, given["mean"], np.sqrt(np.diagonal(np.asarray(given["cov"], dtype=float))), True
        )
    if distribution in _INTEGERS:
        family, names = _INTEGERS[distribution]
        return NoiseParameters(distribution, 0.0, 1.0, True, _law(family, [given.get(n, 1.0) for n in names]))
    by_name = "scale" in given or "loc" not in given
    return NoiseParameters(distribution, given.get("loc", 0.0), given.get("scale", 1.0), by_name)


def scipy_law(name: str, shapes: Sequence[Any], loc: Any) -> str:
    """The law of integers that scipy draws; "" if it is not one that is followed, or starts elsewhere than usual."""
    return _law(_SCIPY_INTEGERS[name], shapes) if name in _SCIPY_INTEGERS and not np.any(loc) else ""


def _law(family: str, given: Sequence[Any]) -> str:
    return named(family, *(float(x) for x in given)) if all(np.ndim(x) == 0 for x in given) else ""


def unit(value: Any, loc: Any, scale: Any) -> Any:
    """The draw with its location and scale taken off; None where the scale is not positive."""
    spread = np.asarray(scale, dtype=float)
    if not np.all(spread > 0) or not np.all(np.isfinite(spread)):
        return None
    return (np.asarray(value, dtype=float) - np.asarray(loc, dtype=float)) / spread
