"""Watch a mechanism draw its noise: which distribution, which location and scale, from which line.

`numpy.random.*`, `Generator.*`, `RandomState.*`, `random.*` and `scipy.stats.*.rvs` are replaced while a `Recorder`
is open and put back when it closes, whatever happens in between; names that other modules imported from there (`from
numpy.random import laplace`) and generators kept in module variables or closures are replaced too. Only the outermost
call counts: `random.gauss` draws uniforms inside, which are not noise of their own.

A recorded run can be replayed: the same draws are dealt out again, call by call, and sums of noise and something else
come out as they did in the recorded run (see `audit.auditor.lints.replay`). Not seen: generators written in C, the
operating system's entropy read directly, and a noise loop that goes through `numpy.array([...])` before it is added.
Torch and jax are watched where they are loaded (`torch_noise`, `jax_noise`).
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from audit.auditor.lints import jax_noise, torch_noise
from audit.auditor.lints.families import (
    ADDITIVE,
    CHOICES,
    PYTHON,
    SIGNATURES,
    NoiseParameters,
    parameters,
    scipy_law,
    unit,
)
from audit.auditor.lints.follow import Follower
from audit.auditor.lints.jax_noise import following_jax
from audit.auditor.lints.losses import difference
from audit.auditor.lints.noise import Origin, plain, wrap
from audit.auditor.lints.patches import Patches
from audit.auditor.lints.torch_noise import following_torch

_SKIPPED = ("numpy", "scipy", "random", "torch", "jax", "contextlib")

DOUBLE, SINGLE = 1e-9, 1e-6
"""Room for rounding, relatively, in 64 and in 32 bits: chosen; a few sums err by less."""


@dataclass
class Addition:
    """Noise met a quantity: what it was, how large the noise is, and what came out."""

    call: int
    quantity: Any
    scale: Any
    result: Any
    noise_shape: tuple[int, ...]
    sign: Any = 1.0
    """Of the number that the draw had been multiplied with."""
    drawn: int = 0
    """How many draws had been made by then."""


@dataclass
class NoiseCall:
    """One call of a random function."""

    index: int
    source: str
    method: str
    distribution: str
    loc: Any
    scale: Any
    named_scale: bool
    site: str
    shape: tuple[int, ...]
    value: Any = field(repr=False, default=None)
    opaque: bool = False
    additions: int = 0
    factor: float = 1.0
    """What an opaque draw had been multiplied with."""
    rounding: float = 1e-9
    """Numbers are as precise as this, relatively: coarser for 32 bits."""
    feeds: bool = False
    """Whether it was drawn to seed a generator, and is no chance of its own."""
    law: str = ""
    """Of integers that may be noise, as `losses` names it."""
    joint: str = ""
    """The law of this draw minus another one, if only their difference was used."""
    joined: bool = False
    """Whether this is that other one."""

    @property
    def additive(self) -> bool:
        """Whether this is real-valued noise."""
        return self.distribution in ADDITIVE

    @property
    def chance(self) -> bool:
        """Whether it decides something by chance, and neither hides data nor seeds a generator."""
        return not self.additive and not self.feeds and not self.integer

    @property
    def integer(self) -> bool:
        """Whether this is integer noise, and was followed to a sum."""
        return bool(self.law) and not self.opaque and (self.additions > 0 or self.joined)

    @property
    def family(self) -> str:
        """The law of the noise up to its scale, as `losses` names it."""
        return self.joint or self.law or self.distribution

    @property
    def hidden(self) -> bool:
        """Whether it cannot be said what became of this draw."""
        return self.opaque or (self.additions == 0 and not self.has_location and not self.joined)

    @property
    def has_location(self) -> bool:
        """Whether the noise is drawn around something (`laplace(loc=answer, scale=b)`)."""
        return self.additive and _nonzero(self.loc)

    def __str__(self) -> str:
        law = f"{self.distribution}(loc={_short(self.loc)}, scale={_short(self.scale)})"
        return f"{self.source}.{self.method}: {law} at {self.site}"


@dataclass
class RecordedRun:
    """Everything that one run of a mechanism drew."""

    calls: list[NoiseCall] = field(default_factory=list)
    additions: list[Addition] = field(default_factory=list)
    seeds: list[tuple[str, Any]] = field(default_factory=list)
    diverged: str | None = None
    output: Any = None
    error: str | None = None

    @property
    def noise(self) -> list[NoiseCall]:
        """The calls that drew real-valued noise."""
        return [c for c in self.calls if c.additive]


def _nonzero(value: Any) -> bool:
    return bool(np.any(np.asarray(value) != 0))


def _short(value: Any) -> str:
    array = np.asarray(value)
    if array.ndim == 0 and array.dtype.kind in "fiu":
        return f"{float(array):.4g}"
    return f"array{array.shape}" if array.ndim else str(value)[:20]


def _site() -> str:
    """The line outside these lints, numpy, scipy and `random` that asked for the draw: file:line in function."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        module, file = frame.f_globals.get("__name__", ""), frame.f_code.co_filename
        if file not in _OURS and module.partition(".")[0] not in _SKIPPED:
            return f"{os.path.basename(file)}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return "?"


_OURS = frozenset(
    os.path.join(os.path.dirname(__file__), f"{name}.py")
    for name in ("recorder", "noise", "patches", "families", "follow", "torch_noise", "jax_noise")
)
"""The files between a mechanism and its draw. By path: a user's own package may be called `audit` too."""


class Recorder:
    """Use as a context manager; inside, `record(run)` and `replay(run, trace)` run a function of no arguments."""

    def __init__(self, holders: tuple[Any, ...] = ()):
        self._holders = holders
        self._patches = Patches()
        self._trace: RecordedRun | None = None
        self._script: RecordedRun | None = None
        self._units: Mapping[int, Any] | None = None
        self.integers = True
        """Whether integer noise is followed."""
        self._other_integers = False
        self.distrusted: set[str] = set()
        """Lines that draw integers which are used in other ways than as noise."""
        self._inside = False
        self.followers: dict[str, Follower] = {}
        """Of libraries whose arrays are followed by identity."""

    def __enter__(self) -> Recorder:
        try:
            self._install()
        except BaseException:
            self._patches.undo()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.undo()

    # ------------------------------------------------------------------------------------------- running

    def record(self, run: Callable[[], Any]) -> RecordedRun:
        """Run and keep what was drawn. An exception is part of the trace."""
        return self._run(run, None)

    def replay(self, run: Callable[[], Any], script: RecordedRun) -> RecordedRun:
        """Run with the draws, and the noisy sums, of an earlier trace."""
        return self._run(run, script)

    def replay_with_other_integers(self, run: Callable[[], Any], script: RecordedRun) -> RecordedRun:
        """The same, but all integer noise is one larger: nothing changes if only the sums depend on it."""
        self._other_integers = True
        try:
            return self._run(run, script)
        finally:
            self._other_integers = False

    def tilt(self, run: Callable[[], Any], script: RecordedRun, units: Mapping[int, Any]) -> RecordedRun:
        """Run with the choices of an earlier trace (but for those that feed a generator) and fresh noise; that of the
        calls in `units` is location plus scale times what stands there.
        """
        self._units = units
        try:
            return self._run(run, script)
        finally:
            self._units = None

    def _run(self, run: Callable[[], Any], script: RecordedRun | None) -> RecordedRun:
        trace = self._trace = RecordedRun()
        self._script = script
        try:
            with following_torch(self), following_jax(self):
                trace.output = plain(run())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an exception is an outcome
            trace.error = type(error).__name__
        finally:
            self._trace = self._script = None
        if script is not None and trace.diverged is None and len(trace.calls) < len(script.calls):
            trace.diverged = f"{script.calls[len(trace.calls)]} was not made"
        return trace

    def blames_integers(self, error: Exception) -> bool:
        """Whether an exception may come from integers with a memory, which are none to code in C; they are not followed
        from then on.
        """
        mine = self.integers and isinstance(error, TypeError) and self._trace is not None
        if mine and self._trace is not None and any(call.law for call in self._trace.calls):
            self.integers = False
            return True
        return False

    def generator(self, bits: Any) -> Any:
        """A watched `numpy.random.Generator`."""
        return self._generator_class(bits)

    # ------------------------------------------------------------------------------------------- drawing

    @property
    def listening(self) -> bool:
        """Whether a run is being recorded, and no draw is going on."""
        return self._trace is not None and not self._inside

    @contextlib.contextmanager
    def quietly(self) -> Iterator[None]:
        """What is drawn inside is part of a draw, and none of its own."""
        before, self._inside = self._inside, True
        try:
            yield
        finally:
            self._inside = before

    def draw(self, source: str, method: str, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Stand in for a random function."""
        if self._inside or self._trace is None:
            return original(*args, **kwargs)
        self._inside = True
        try:
            if method in CHOICES:
                return self._choose(source, method, original, args, kwargs)
            try:
                known = parameters(method, args, kwargs, source.startswith("random"))
            except (TypeError, ValueError, KeyError, ZeroDivisionError):
                known = NoiseParameters("unknown", 0.0, 1.0, True)
            return self._draw(source, method, known, original(*args, **kwargs))
        finally:
            self._inside = False

    def draw_scipy(self, distribution: Any, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Stand in for `scipy.stats.*.rvs`."""
        if self._inside or self._trace is None:
            return original(distribution, *args, **kwargs)
        self._inside = True
        try:
            value = original(distribution, *args, **kwargs)
            quiet = {k: v for k, v in kwargs.items() if k != "random_state"}
            try:
                shapes, loc, scale, _ = distribution._parse_args_rvs(*args, **quiet)
                law = scipy_law(distribution.name, shapes, loc)
            except (TypeError, ValueError, AttributeError):
                return self._draw("scipy.stats", distribution.name, NoiseParameters("unknown", 0.0, 1.0, True), value)
            name = {"norm": "normal", "expon": "exponential", "gumbel_r": "gumbel"}.get(
                distribution.name, distribution.name
            )
            named = "scale" in kwargs or len(args) > 1 or not _nonzero(loc)
            return self._draw("scipy.stats", distribution.name, NoiseParameters(name, loc, scale, named, law), value)
        finally:
            self._inside = False

    def _draw(self, source: str, method: str, known: NoiseParameters, value: Any) -> Any:
        shown, origin = self.drawn(source, method, known, value)
        return wrap(shown, origin) if origin.call.additive or origin.law else shown

    def drawn(
        self, source: str, method: str, known: NoiseParameters, value: Any, single: bool = False
    ) -> tuple[Any, Origin]:
        """Note a draw; the numbers that the caller is to get, and where they come from."""
        trace = self._trace
        assert trace is not None
        single = single or getattr(value, "dtype", None) in (np.float32, np.float16)
        loc, scale = plain(known.loc), plain(known.scale)
        call = NoiseCall(
            len(trace.calls),
            source,
            method,
            known.distribution,
            _kept(loc),
            _kept(scale),
            known.named_scale,
            _site(),
            np.shape(value),
            rounding=SINGLE if single else DOUBLE,
        )
        call.law = known.law if self.integers and call.site not in self.distrusted else ""
        earlier = self._expected(call)
        if self._units is not None and earlier is not None and earlier.feeds:
            call.value = value
        elif self._units is not None and (call.additive or (earlier is not None and earlier.integer)):
            base = self._units.get(call.index)
            known_law = earlier is None or earlier.law == call.law
            call.value = value if base is None or not known_law else _placed(call, base, value)
        elif self._other_integers and earlier is not None and earlier.integer:
            call.value = earlier.value + 1
        else:
            call.value = value if earlier is None else _dealt(earlier, call, value)
        trace.calls.append(call)
        shown = _kept(call.value)
        call.opaque = not call.additive and not call.law
        return shown, Origin(call, self, law=call.law)

    def _choose(self, source: str, method: str, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Choices, by position: the same positions are chosen again in a replay."""
        assert self._trace is not None
        pool, rest = (args[0], args[1:]) if args else (kwargs.pop("a", kwargs.pop("x", None)), ())
        count = int(pool) if isinstance(pool, int | np.integer) else len(pool)
        weighted = kwargs.get("p") is not None or kwargs.get("weights") is not None or len(rest) >= 3
        if weighted or method == "permuted" or kwargs.get("axis"):
            return self._draw(
                source, method, NoiseParameters("choice", 0.0, 1.0, True), original(pool, *rest, **kwargs)
            )
        if method == "shuffle":
            positions = self._order(count)
        elif source.startswith("random"):
            positions = np.asarray(original(range(count), *rest, **kwargs))
        else:
            positions = np.asarray(original(count, *rest, **kwargs))
        call = NoiseCall(
            len(self._trace.calls), source, method, "choice", 0.0, count, True, _site(), positions.shape, positions
        )
        earlier = self._expected(call)
        if earlier is not None and earlier.scale == count and not (self._units is not None and earlier.feeds):
            call.value = positions = earlier.value
        self._trace.calls.append(call)
        return _taken(method, pool, positions, source)

    def _order(self, count: int) -> Any:
        return np.random.default_rng(np.random.randint(0, 2**31)).permutation(count)

    def _expected(self, call: NoiseCall) -> NoiseCall | None:
        """The recorded call that this one repeats; from the first that does not fit on, draws are fresh."""
        trace, script = self._trace, self._script
        if trace is None or script is None or trace.diverged is not None:
            return None
        if call.index >= len(script.calls):
            trace.diverged = f"{call} was not made before"
            return None
        earlier = script.calls[call.index]
        if (earlier.method, earlier.shape, earlier.site) != (call.method, call.shape, call.site):
            trace.diverged = f"{call} instead of {earlier}"
            return None
        return earlier

    # ------------------------------------------------------------------------------------- what becomes of noise

    def added(self, origin: Origin, quantity: Any, result: Any, shape: tuple[int, ...] | None = None) -> Any:
        """Note a sum with noise of this shape; in a replay, return the sum of the recorded run."""
        trace = self._trace
        if trace is None:
            return result
        if origin.law != (origin.call.joint or origin.call.law) or origin.call.joined:
            self.used_otherwise(origin)
            return result
        scale = np.abs(np.asarray(origin.factor, dtype=float)) * np.asarray(origin.call.scale, dtype=float)
        noise_shape = np.shape(result) if shape is None else shape
        if int(np.prod(origin.call.shape)) < int(np.prod(noise_shape)):
            noise_shape = origin.call.shape
        sign = np.sign(np.asarray(origin.factor, dtype=float))
        drawn = len(trace.calls)
        addition = Addition(origin.call.index, _kept(quantity), scale, _kept(result), noise_shape, sign, drawn)
        origin.call.additions += 1
        trace.additions.append(addition)
        script = self._script if self._units is None else None
        if script is not None and trace.diverged is None and len(trace.additions) <= len(script.additions):
            earlier = script.additions[len(trace.additions) - 1]
            if earlier.call == addition.call and np.shape(earlier.result) == np.shape(result):
                addition.result = earlier.result
                result = _kept(earlier.result)
        return wrap(result, replace(origin, addition=addition)) if origin.law else result

    def joined(self, first: Origin, second: Origin, result: Any, shapes: tuple[Any, Any]) -> Any:
        """Note that two integer draws, or a sum with one of them and another, were added up; what takes the place of
        their sum, with the memory that it has.
        """
        trace, a, b = self._trace, first.call, second.call
        law = "" if np.ndim(first.factor) or np.any(first.factor != -second.factor) else difference(a.law, b.law)
        whole = a.shape == b.shape == shapes[0] == shapes[1]
        fresh = not (a.joint or b.joint or a.joined or b.joined or a.opaque or b.opaque or b.additions)
        fresh = fresh and a is not b and a.additions == (0 if first.addition is None else 1)
        place = -1 if trace is None else next((i for i, x in enumerate(trace.additions) if x is first.addition), -1)
        known = first.addition is None or place >= 0
        if trace is None or not (law and whole and fresh and known):
            self.used_otherwise(first)
            self.used_otherwise(second)
            return result
        a.joint, b.joined = law, True
        if first.addition is None:
            return wrap(result, Origin(a, self, first.factor, law))
        script = self._script if self._units is None else None
        first.addition.result, first.addition.drawn = _kept(result), len(trace.calls)
        if script is not None and trace.diverged is None and place < len(script.additions):
            first.addition.result = script.additions[place].result
        return _kept(first.addition.result)

    def used_otherwise(self, origin: Origin) -> None:
        """Note that a draw cannot be followed, and the scale that it had until then."""
        if self._trace is not None:
            origin.call.opaque = True
            origin.call.factor = float(np.max(np.abs(np.asarray(origin.factor, dtype=float)), initial=0.0))

    def seeded(self, what: str, seed: Any) -> None:
        """Note that a generator was seeded inside the call, and with which draw."""
        if self._trace is None or self._inside:
            return
        self._trace.seeds.append((what, seed))
        for call in self._trace.calls[-1:]:
            if call.distribution == "integers" and np.ndim(call.value) == 0 and _is_seed(call.value, seed):
                call.feeds = True

    # ------------------------------------------------------------------------------------------ installing

    def _install(self) -> None:
        from audit.auditor.lints import patches

        kept = self._patches
        self._generator_class = patches.watched_class(self, np.random.Generator, "Generator", [*SIGNATURES, *CHOICES])
        state_class = patches.watched_class(
            self, np.random.RandomState, "RandomState", [*SIGNATURES, *CHOICES], seeds=True
        )
        moved: dict[int, Any] = {}
        for name in [*SIGNATURES, *CHOICES]:
            if hasattr(np.random, name):
                moved[id(getattr(np.random, name))] = patches.function(
                    self, "numpy.random", name, getattr(np.random, name)
                )
        for name in [*PYTHON, "choice", "choices", "sample", "shuffle"]:
            moved[id(getattr(random, name))] = patches.function(self, "random", name, getattr(random, name))
            if name in vars(random.Random):
                kept.set(random.Random, name, patches.method(self, "random.Random", name, vars(random.Random)[name]))
        moved[id(np.random.seed)] = patches.seeding(self, "numpy.random.seed", np.random.seed)
        moved[id(random.seed)] = patches.seeding(self, "random.seed", random.seed)
        moved[id(np.random.default_rng)] = patches.default_rng(self, self._generator_class, np.random.default_rng)
        moved[id(np.random.Generator)] = self._generator_class
        moved[id(np.random.RandomState)] = state_class
        kept.set(random.Random, "seed", patches.seed_method(self, random.Random.seed))
        self._scipy(kept)
        torch_noise.install(self, kept, moved)
        jax_noise.install(self, kept, moved)
        classes = {np.random.Generator: self._generator_class, np.random.RandomState: state_class}
        kept.replace_everywhere(moved, classes, self._holders)

    def _scipy(self, kept: Patches) -> None:
        infrastructure: ModuleType | None = sys.modules.get("scipy.stats._distn_infrastructure")
        if infrastructure is None:
            return
        for name in ("rv_generic", "rv_continuous", "rv_discrete"):
            owner = getattr(infrastructure, name)
            if "rvs" in vars(owner):
                original = vars(owner)["rvs"]
                kept.set(owner, "rvs", self._rvs(original))

    def _rvs(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def rvs(distribution: Any, *args: Any, **kwargs: Any) -> Any:
            return self.draw_scipy(distribution, original, args, kwargs)

        return rvs


def _is_seed(value: Any, seed: Any) -> bool:
    return isinstance(seed, int | np.integer) and int(value) == int(seed)


def _kept(value: Any) -> Any:
    """A copy that later changes in place cannot reach."""
    value = plain(value)
    return value.copy() if isinstance(value, np.ndarray) else value


def _dealt(earlier: NoiseCall, call: NoiseCall, live: Any) -> Any:
    """The recorded draw for this call: as it was, or on the present scale if that has changed.

    A changed location is a quantity that the noise hides (`laplace(loc=answer, scale=b)`): the recorded sum is dealt
    out.
    """
    if not call.additive or _equal(earlier.scale, call.scale):
        return earlier.value
    base = unit(earlier.value, earlier.loc, earlier.scale)
    return live if base is None else _placed(call, base, live)


def _placed(call: NoiseCall, base: Any, live: Any) -> Any:
    """A draw in units of its scale, where this call draws it."""
    if call.law:
        return base
    value = np.asarray(call.loc, dtype=float) + np.asarray(call.scale, dtype=float) * base
    return value if np.ndim(live) else float(value)


def _equal(a: Any, b: Any) -> bool:
    return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))


def _taken(method: str, pool: Any, positions: Any, source: str) -> Any:
    """The records at these positions, in the form in which the caller expects them."""
    if method == "shuffle":
        items = [pool[int(i)] for i in positions] if not isinstance(pool, np.ndarray) else pool[positions]
        pool[:] = items
        return None
    if isinstance(pool, int | np.integer):
        return positions if positions.ndim else positions[()]
    if source.startswith("random"):
        return [pool[int(i)] for i in positions] if positions.ndim else pool[int(positions)]
    return np.asarray(pool)[positions]
