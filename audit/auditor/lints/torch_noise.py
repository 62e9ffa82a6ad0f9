"""Torch's noise, followed by a `TorchFunctionMode`: while a run is recorded, every function of torch passes through its
`__torch_function__`, factories such as `torch.randn` and changes in place among them.

Tensors stay what they are; the one that was drawn has its origin as an attribute. `Normal`, `Laplace`, `Gumbel`,
`Cauchy` and `Exponential` of `torch.distributions` count as one draw each. Not seen: what C++ draws inside an operation
(dropout), which makes a run impossible to repeat, so that nothing is concluded; and draws in other threads.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.auditor.lints.families import NoiseParameters
from audit.auditor.lints.follow import Follower
from audit.auditor.lints.noise import Origin, plain, wrap

if TYPE_CHECKING:
    from audit.auditor.lints.patches import Patches
    from audit.auditor.lints.recorder import Recorder

_MARK = "_dpso_origin"
_NORMAL = frozenset({"randn", "randn_like"})
_CHANCE = frozenset(
    {
        "rand", "rand_like", "uniform_", "bernoulli", "bernoulli_", "poisson", "binomial", "multinomial", "randint",
        "randint_like", "random_", "geometric_", "log_normal_",
    }
)  # fmt: skip
"""Draws that are no additive noise."""
_INERT = frozenset(
    {
        "size", "dim", "ndimension", "numel", "nelement", "stride", "is_floating_point", "is_complex", "__len__",
        "__hash__", "requires_grad_", "is_contiguous", "data_ptr", "element_size", "get_device", "__get__", "type",
        "retain_grad", "is_same_size",
    }
)  # fmt: skip
"""Functions that tell nothing of the numbers."""
LAWS = {"Normal": "normal", "Laplace": "laplace", "Gumbel": "gumbel", "Cauchy": "cauchy", "Exponential": "exponential"}
"""Of `torch.distributions`."""


@contextlib.contextmanager
def following_torch(recorder: Recorder) -> Iterator[None]:
    """Record and follow torch's noise inside; nothing where torch is not loaded."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "overrides"):
        yield
        return
    follower = TorchFollower(recorder, torch)

    class Mode(torch.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        def __torch_function__(self, function: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return follower.seen(function, tuple(args), dict(kwargs or {}))

    with Mode():
        yield


def install(recorder: Recorder, kept: Patches, moved: dict[int, Any]) -> None:
    """Replace what the mode does not see: the methods of distributions, `from_numpy`, and the seeds."""
    from audit.auditor.lints import patches

    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "distributions"):
        return
    follower = TorchFollower(recorder, torch)
    for name in LAWS:
        owner = getattr(torch.distributions, name)
        for method in ("rsample", "sample"):
            if hasattr(owner, method):
                kept.set(owner, method, _sampling(follower, name, getattr(owner, method)))
    kept.set(torch, "from_numpy", _from_numpy(follower, torch.from_numpy))
    seed = patches.seeding(recorder, "torch.manual_seed", torch.manual_seed)
    moved[id(torch.manual_seed)] = seed
    kept.set(torch, "manual_seed", seed)


def _sampling(follower: TorchFollower, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def sample(distribution: Any, *args: Any, **kwargs: Any) -> Any:
        recorder = follower.recorder
        if not recorder.listening:
            return original(distribution, *args, **kwargs)
        with recorder.quietly():
            live = original(distribution, *args, **kwargs)
            shape = tuple(live.shape)
            rate = getattr(distribution, "rate", None)
            loc = 0.0 if rate is not None else _broadcast(follower.numbers(distribution.loc), shape)
            scale = 1.0 / follower.numbers(rate) if rate is not None else follower.numbers(distribution.scale)
            known = NoiseParameters(LAWS[name], loc, _broadcast(scale, shape), True)
            return follower.drawn("torch.distributions", name, known, live)

    return sample


def _broadcast(value: Any, shape: tuple[int, ...]) -> Any:
    """A number, or an array of this shape."""
    array = np.asarray(value, dtype=float)
    return np.broadcast_to(array, shape).copy() if array.ndim else float(array)


def _from_numpy(follower: TorchFollower, original: Callable[..., Any]) -> Callable[..., Any]:
    def from_numpy(array: Any) -> Any:
        if follower.origin_of(array) is None or not follower.recorder.listening:
            return original(plain(array))
        return follower.applied(original, "from_numpy", (array,), {}, False)

    return from_numpy


class TorchFollower(Follower):
    """Tensors, remembered by an attribute and the number of changes that they have seen."""

    def __init__(self, recorder: Recorder, torch: Any):
        super().__init__(recorder)
        self.torch = torch

    def is_array(self, value: Any) -> bool:
        return isinstance(value, self.torch.Tensor)

    def remembered(self, array: Any) -> Origin | None:
        kept = array.__dict__.get(_MARK)
        if kept is None:
            return None
        origin, version = kept
        if version != array._version:  # changed through an alias
            origin.listener.used_otherwise(origin)
            self.forget(array)
            return None
        return origin if origin.listener is self.recorder else None

    def remember(self, array: Any, origin: Origin) -> None:
        if not array.is_inference():
            array.__dict__[_MARK] = (origin, array._version)

    def forget(self, array: Any) -> None:
        array.__dict__.pop(_MARK, None)

    def numbers(self, value: Any) -> Any:
        if self.is_array(value):
            dense = value.detach().cpu()
            if dense.is_sparse or dense.is_complex():
                return None
            dense = dense if dense.dtype not in (self.torch.bfloat16,) else dense.float()
            return dense.numpy().copy() if dense.ndim else dense.item()
        return value if isinstance(value, int | float | np.number | np.ndarray) else None

    def with_numbers(self, array: Any, numbers: Any) -> Any:
        with self.torch.no_grad():
            new = self.torch.as_tensor(np.asarray(numbers), dtype=array.dtype, device=array.device)
            array.detach().copy_(new.reshape(array.shape))
        return array

    # ----------------------------------------------------------------------------------------- every function

    def seen(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function of torch is called."""
        name = getattr(function, "__name__", "")
        if not self.recorder.listening:
            return function(*args, **kwargs)
        known = self._noise(name, args, kwargs)
        if known is not None:
            with self.recorder.quietly():
                return self.drawn("torch", name, known, function(*args, **kwargs))
        if name == "manual_seed":
            return function(*args, **kwargs)
        if name in _INERT or next(self.carriers([args, kwargs]), None) is None:
            return self._inert(function, name, args, kwargs)
        if name in ("numpy", "item"):
            return self._to_numpy(function, args, kwargs)
        in_place = name.startswith("__i") or (name.endswith("_") and not name.startswith("__"))
        return self.applied(function, name.strip("_"), args, kwargs, in_place)

    def _inert(self, function: Callable[..., Any], name: str, args: Any, kwargs: Any) -> Any:
        """A function that does not show numbers; `x.data` and `x.T` do, and are remembered where they are alike."""
        result = function(*args, **kwargs)
        origin = self.origin_of(args[0]) if name == "__get__" and args else None
        if origin is not None and self.is_array(result) and self.remembered(result) is None:
            alike = result.data_ptr() == args[0].data_ptr() and result.shape == args[0].shape
            if alike and np.ndim(origin.factor) == 0:
                self.remember(result, origin)
            elif result.data_ptr() == args[0].data_ptr():
                origin.listener.used_otherwise(origin)
        return result

    def _to_numpy(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        origin = self.origin_of(args[0])
        result = function(*args, **kwargs)
        if origin is None or (isinstance(result, np.ndarray) and result.dtype.kind != "f"):
            self.opaque([args[0]])
            return result
        return wrap(result, origin)

    def _noise(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NoiseParameters | None:
        """What is drawn, if anything."""
        if name in _NORMAL:
            return NoiseParameters("normal", 0.0, 1.0, True)
        if name in ("normal", "normal_", "cauchy_"):
            keys = ("mean", "std") if name.startswith("normal") else ("median", "sigma")
            given = args[1:] if name.endswith("_") else args
            loc, scale = (given[i] if len(given) > i else kwargs.get(k, float(i)) for i, k in enumerate(keys))
            mean, spread = (_broadcast(v, np.shape(v)) for v in (self.numbers(loc), self.numbers(scale)))
            return NoiseParameters(name.partition("_")[0], mean, spread, True)
        if name == "exponential_":
            rate = args[1] if len(args) > 1 else kwargs.get("lambd", 1.0)
            return NoiseParameters("exponential", 0.0, 1.0 / float(rate), True)
        if name in _CHANCE or (name == "randperm"):
            return NoiseParameters("uniform" if "rand" in name else name.strip("_"), 0.0, 1.0, True)
        return None
