"""Jax's noise, followed through its functions: the draws of `jax.random`, the operators of arrays, and `jax.numpy`.

Arrays of jax cannot be changed, so the array object stands for its numbers. Draws are recorded where `jax.random` is
called with a key that is there; compiled functions are run uncompiled while a run is recorded, unless that takes too
long. Not seen: what is drawn while jax traces a function (`vmap`, `grad`, `scan`), and noise that is handed to such a
function; a factor that is an array of jax could come from there, so noise that is multiplied with one is not followed.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.auditor.lints.families import ADDITIVE, NoiseParameters
from audit.auditor.lints.follow import Follower
from audit.auditor.lints.noise import Origin

if TYPE_CHECKING:
    from audit.auditor.lints.patches import Patches
    from audit.auditor.lints.recorder import Recorder

_CHANCE = (
    "uniform", "bernoulli", "randint", "choice", "permutation", "categorical", "gamma", "beta", "poisson", "bits",
    "dirichlet", "binomial", "geometric", "rademacher", "truncated_normal", "multivariate_normal", "t", "ball",
    "orthogonal", "maxwell", "pareto", "rayleigh", "wald", "weibull_min", "generalized_normal", "double_sided_maxwell",
    "chisquare", "f", "lognormal", "triangular",
)  # fmt: skip
"""Draws that are no additive noise."""
_NOISE = tuple(sorted(ADDITIVE - {"multivariate_normal", "t"}))
_OPERATORS = ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "neg")
_OTHER_OPERATORS = (
    "pow", "rpow", "matmul", "rmatmul", "mod", "floordiv", "abs", "lt", "le", "gt", "ge", "eq", "ne", "getitem", "iter",
    "array", "float", "int", "bool", "index", "round", "format", "divmod",
)  # fmt: skip
_ROOMS = ("jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.nn", "jax.lax", "jax.scipy.special")
PATIENCE = 5.0
"""Seconds that a run without compilation may take before compilation is left on: chosen; nothing is followed then."""


class JaxFollower(Follower):
    """Arrays, remembered by identity while a run lasts."""

    def __init__(self, recorder: Recorder, jax: Any):
        super().__init__(recorder)
        self.jax = jax
        self.kind = type(jax.numpy.zeros(()))
        self.held: dict[int, tuple[Any, Origin]] = {}
        self.slow = False

    def is_array(self, value: Any) -> bool:
        return type(value) is self.kind

    def remembered(self, array: Any) -> Origin | None:
        kept = self.held.get(id(array))
        return None if kept is None else kept[1]

    def remember(self, array: Any, origin: Origin) -> None:
        self.held[id(array)] = array, origin

    def forget(self, array: Any) -> None:
        self.held.pop(id(array), None)

    def numbers(self, value: Any) -> Any:
        if self.is_array(value):
            with self.recorder.quietly():
                dense = np.array(value)
            return dense if dense.ndim else dense.item()
        return value if isinstance(value, int | float | np.number | np.ndarray) else None

    def with_numbers(self, array: Any, numbers: Any) -> Any:
        with self.recorder.quietly():
            return self.jax.numpy.asarray(np.asarray(numbers), dtype=array.dtype).reshape(array.shape)

    def known_factor(self, other: Any) -> bool:
        return not self.is_array(other)

    def called(self, function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function of jax, or an operator of its arrays, is called."""
        if not self.recorder.listening or next(self.carriers([args, kwargs]), None) is None:
            return function(*args, **kwargs)
        with self.recorder.quietly():  # functions that call others are seen once
            return self.applied(function, name, args, kwargs, False)

    def drew(self, name: str, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function of `jax.random` is called."""
        traced = any(isinstance(a, self.jax.core.Tracer) for a in [*args, *kwargs.values()])
        if traced or not self.recorder.listening:
            return original(*args, **kwargs)
        with self.recorder.quietly():
            known = NoiseParameters(name, 0.0, 1.0, True)
            return self.drawn("jax.random", name, known, original(*args, **kwargs))


@contextlib.contextmanager
def following_jax(recorder: Recorder) -> Iterator[None]:
    """Forget the arrays of the last run, and run without compilation; nothing where jax is not followed."""
    follower = recorder.followers.get("jax")
    if not isinstance(follower, JaxFollower):
        yield
        return
    follower.held.clear()
    begun = time.monotonic()
    with contextlib.nullcontext() if follower.slow else follower.jax.disable_jit():
        yield
    follower.held.clear()
    follower.slow = follower.slow or time.monotonic() - begun > PATIENCE


def install(recorder: Recorder, kept: Patches, moved: dict[int, Any]) -> None:
    """Replace the functions of `jax.random` and `jax.numpy`, and the operators of arrays."""
    jax = sys.modules.get("jax")
    if jax is None or "jax.random" not in sys.modules or "jax.numpy" not in sys.modules:
        return
    follower = JaxFollower(recorder, jax)
    recorder.followers["jax"] = follower
    for name in (*_NOISE, *_CHANCE):
        if hasattr(jax.random, name):
            _replace(kept, moved, jax.random, name, _drawing(follower, name, getattr(jax.random, name)))
    for name in ("PRNGKey", "key"):
        original = getattr(jax.random, name)
        _replace(kept, moved, jax.random, name, _seeding(recorder, f"jax.random.{name}", original))
    for name in (*_OPERATORS, *_OTHER_OPERATORS):
        special = f"__{name}__"
        if hasattr(follower.kind, special):
            kept.set(follower.kind, special, _method(follower, name, getattr(follower.kind, special)))
    for name in (
        "item",
        "tolist",
        "astype",
        "reshape",
        "ravel",
        "sum",
        "mean",
        "dot",
        "clip",
        "at",
        "max",
        "min",
        "std",
    ):
        method = getattr(follower.kind, name, None)
        if inspect.isfunction(method):
            kept.set(follower.kind, name, _method(follower, name, method))
    for room in _ROOMS:
        module = sys.modules.get(room)
        for name, value in list(vars(module).items()) if module is not None else ():
            if (
                not name.startswith("_")
                and callable(value)
                and not inspect.isclass(value)
                and type(value) is not type(np)
            ):
                _replace(kept, moved, module, name, _Watched(follower, name, value))


def _replace(kept: Patches, moved: dict[int, Any], owner: Any, name: str, value: Any) -> None:
    moved[id(getattr(owner, name))] = value
    kept.set(owner, name, value)


def _drawing(follower: JaxFollower, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def draw(*args: Any, **kwargs: Any) -> Any:
        return follower.drew(name, original, args, kwargs)

    return draw


def _seeding(recorder: Recorder, what: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def make(seed: Any, *args: Any, **kwargs: Any) -> Any:
        recorder.seeded(what, seed)
        with recorder.quietly():
            return original(seed, *args, **kwargs)

    return make


def _method(follower: JaxFollower, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        return follower.called(original, name, (self, *args), kwargs)

    return watched


class _Watched:
    """A function of `jax.numpy`, with the attributes that it has (`jnp.add.reduce`)."""

    def __init__(self, follower: JaxFollower, name: str, original: Any):
        self._follower, self._name, self._original = follower, name, original
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._follower.called(self._original, self._name, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)
