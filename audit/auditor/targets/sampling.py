"""Labelled draws, in blocks that can be made in any order.

A block is named by (seed, stream, pair, index): its labels and all its draws come from counter-based generators keyed
by that name, so the same block is the same wherever and whenever it is made. Streams keep search, burn-in and test
draws apart.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from audit.auditor.targets.containment import Noticed, Watch, contained
from audit.auditor.terms.leaves import Raised, holds_beyond_floats
from audit.auditor.terms.outputs import EXACT_BITS, VALUE_BITS, Table, tabulate

Array = np.ndarray

CHECK, SEARCH, BURN_IN, TEST = range(4)
"""Streams of draws."""


class TargetError(Exception):
    """The target cannot be sampled at all; the message says why, in one line."""


@dataclass(frozen=True)
class Pair:
    """Two datasets, and their number in the audit."""

    dataset: Any
    neighbour: Any
    index: int = 0

    def side(self, label: int) -> Any:
        """The dataset for label 0, the neighbour for label 1."""
        return self.neighbour if label else self.dataset


@dataclass(frozen=True)
class BlockName:
    """Where a block stands; everything random in it follows from this."""

    seed: int
    stream: int
    pair: int
    index: int

    def coins(self) -> np.random.Generator:
        """The generator of the labels."""
        return np.random.Generator(np.random.Philox(self._sequence(0)))

    def of_mechanism(self) -> tuple[np.random.Generator, int]:
        """The generator handed to the mechanism, and a seed for global state."""
        foreign = int(self._sequence(2).generate_state(1, np.uint32)[0])
        return np.random.Generator(np.random.Philox(self._sequence(1))), foreign

    def _sequence(self, child: int) -> np.random.SeedSequence:
        """What each of the three is made from."""
        return np.random.SeedSequence(entropy=self.seed, spawn_key=(self.stream, self.pair, self.index, child))


class Target(Protocol):
    """Something that can be sampled."""

    batched: bool
    noticed: Noticed

    def outputs(self, pair: Pair, labels: Array, name: BlockName) -> Any:
        """One output a label, in order: an array or a list."""


@dataclass
class DrawnBlock:
    """Labelled draws: labels, and the outputs as tables of values and (if asked for) of exact floats."""

    labels: Array
    values: Table
    raw: Any = None

    def exact(self) -> Table:
        """The outputs with every bit of their floats."""
        return tabulate(self.raw, EXACT_BITS)


def draw_block(target: Target, pair: Pair, name: BlockName, size: int, bits: int = VALUE_BITS) -> DrawnBlock:
    """A block of `size` draws with fair-coin labels."""
    labels = name.coins().integers(0, 2, size)
    raw = target.outputs(pair, labels, name)
    return DrawnBlock(labels, tabulate(raw, bits), raw)


def sides_of_block(target: CallableTarget, pair: Pair, name: BlockName, size: int) -> list[Array] | None:
    """The outputs of a block on the dataset and on the neighbour, as arrays of scalars whose order means nothing; None
    if they are something else. How many there are of each, `size` fair coins say that are tossed at once.
    """
    ones = int(name.coins().binomial(size, 0.5))
    return target.sides(pair, (size - ones, ones), name)


def sides_together(sides: list[Array]) -> tuple[Array, Array]:
    """The outputs of both sides, the dataset's first, and their labels."""
    return np.concatenate(sides), np.repeat([0, 1], [len(side) for side in sides])


# -------------------------------------------------------------------------------------------- Python callables


def copier(dataset: Any) -> Callable[[], Any]:
    """A function that returns a fresh copy of the dataset, as cheaply as its type allows."""
    if isinstance(dataset, np.ndarray) and dataset.dtype != object:
        return dataset.copy
    if isinstance(dataset, int | float | str | bytes | type(None)):
        return lambda: dataset
    if isinstance(dataset, list) and all(type(x) in (int, float, str, bool) for x in dataset):
        return dataset.copy
    if isinstance(dataset, tuple) and all(isinstance(x, np.ndarray) and x.dtype != object for x in dataset):
        return lambda: tuple(x.copy() for x in dataset)
    return lambda: copy.deepcopy(dataset)


class NotReleased(LookupError):
    """An output has no part of the name that `release=` gives."""


def releaser(release: Any) -> Callable[[Any], Any] | None:
    """The function that picks what is published from what the mechanism returns: attribute, key or index."""
    if release is None:
        return None
    if callable(release):
        chosen: Callable[[Any], Any] = release
        return chosen

    def picked(output: Any) -> Any:
        if isinstance(release, str) and hasattr(output, release):
            return getattr(output, release)
        try:
            return output[release]
        except (LookupError, TypeError):
            raise NotReleased(
                f"release = {release!r} is no attribute, key or index of the output, {_summary(output)}"
            ) from None

    return picked


def _summary(output: Any) -> str:
    """An output in a few words: what it is, and which parts it has."""
    names = output if isinstance(output, Mapping) else vars(output) if hasattr(output, "__dict__") else ()
    kind = type(output).__name__
    if names:
        shown = ", ".join(map(repr, list(names)[:6])) + (", …" if len(names) > 6 else "")
        return f"which has {shown} (type {kind})"
    return f"which has {len(output)} entries (type {kind})" if isinstance(output, Sized) else f"a {kind}"


@dataclass
class CallableTarget:
    """A Python mechanism: `mechanism(dataset, rng)`, `mechanism(dataset)`, or in batches `mechanism(dataset, size,
    rng)`.
    """

    mechanism: Callable[..., Any]
    release: str | int | Callable[[Any], Any] | None = None
    timeout: float | None = None
    noticed: Noticed = field(default_factory=Noticed)

    def __post_init__(self) -> None:
        """Find out how the mechanism wants to be called."""
        _refuse(self.mechanism)
        if self.timeout is not None and not (isinstance(self.timeout, int | float) and self.timeout > 0):
            raise ValueError(f"timeout = {self.timeout!r} must be a positive number of seconds, or None for no limit")
        self._published = releaser(self.release)
        self._call, self.batched = _calling_convention(self.mechanism)

    def publish(self, output: Any) -> Any:
        """What an observer sees of an output; a generator is read to its end, once."""
        seen = output if self._published is None else self._published(output)
        return list(seen) if isinstance(seen, Iterator) else seen

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process: a fresh target for the same mechanism."""
        return CallableTarget, (self.mechanism, self.release, self.timeout)

    def outputs(self, pair: Pair, labels: Array, name: BlockName) -> Any:
        """Call the mechanism for each label, or twice for the two sides of a batch."""
        rng, seed = name.of_mechanism()
        copies = copier(pair.dataset), copier(pair.neighbour)
        with Watch(self.timeout) as watch, contained(self.noticed, seed):
            if self.batched:
                return self._batch(copies, labels, rng, watch)
            return [self._one(copies[int(b)], int(b), rng, watch) for b in labels]

    @property
    def plain_batches(self) -> bool:
        """Whether outputs come in batches and are published as they are."""
        return self.batched and self._published is None

    def sides(self, pair: Pair, sizes: tuple[int, int], name: BlockName) -> list[Array] | None:
        """So many outputs on the dataset and on the neighbour, in no particular order; None unless all are scalars.

        What a call raises is for `outputs` to deal with.
        """
        rng, seed = name.of_mechanism()
        copies = copier(pair.dataset), copier(pair.neighbour)
        found = []
        with Watch(self.timeout) as watch, contained(self.noticed, seed):
            for fresh, size in zip(copies, sizes, strict=True):
                watch.start()
                try:
                    batch = self._call(fresh(), size, rng)
                except (Exception, SystemExit):  # noqa: BLE001 - an exception is an outcome that an observer sees
                    return None
                if not isinstance(batch, np.ndarray) or batch.shape != (size,) or batch.dtype.kind not in "fiub":
                    return None
                found.append(batch)
        return None if any(map(holds_beyond_floats, found)) else found

    def _one(self, fresh: Callable[[], Any], side: int, rng: np.random.Generator, watch: Watch) -> Any:
        watch.start()
        try:
            return self.publish(self._call(fresh(), None, rng))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an exception is an outcome that an observer sees
            self.noticed.note_exception(side)
            return Raised(type(error).__name__)

    def _batch(self, copies: Sequence[Callable[[], Any]], labels: Array, rng: np.random.Generator, watch: Watch) -> Any:
        sides = [self._side(copies[s], s, int(np.sum(labels == s)), rng, watch) for s in (0, 1)]
        if all(isinstance(s, np.ndarray) for s in sides) and sides[0].shape[1:] == sides[1].shape[1:]:
            dealt = np.empty((len(labels), *sides[0].shape[1:]), dtype=np.result_type(*sides))
            for s in (0, 1):
                dealt[labels == s] = sides[s]
            return dealt
        ready = [iter(side) for side in sides]
        return [next(ready[int(b)]) for b in labels]

    def _side(self, fresh: Callable[[], Any], side: int, size: int, rng: np.random.Generator, watch: Watch) -> Any:
        """One batch, in an order that does not depend on how the mechanism arranged it."""
        if size == 0:
            return []
        watch.start()
        try:
            batch = self._call(fresh(), size, rng)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - see above
            self.noticed.note_exception(side)
            if size == 1:
                return [Raised(type(error).__name__)]
            return [self._side(fresh, side, 1, rng, watch)[0] for _ in range(size)]
        if not hasattr(batch, "__len__") or len(batch) != size:
            got = f"{len(batch)} outputs" if hasattr(batch, "__len__") else f"a {type(batch).__name__}"
            raise TargetError(f"mechanism(dataset, size={size}, rng) returned {got}: it must return {size} outputs")
        order = rng.permutation(size)
        if isinstance(batch, np.ndarray) and self._published is None:
            return batch[order]
        return [self._seen(batch[i], side) for i in order]

    def _seen(self, output: Any, side: int) -> Any:
        """What is published of one output of a batch; that nothing can be is an outcome, too."""
        try:
            return self.publish(output)
        except Exception as error:  # noqa: BLE001 - see above
            self.noticed.note_exception(side)
            return Raised(type(error).__name__)


GENERATOR_NAMES = ("rng", "generator")
"""Optional parameters that take the generator; any other optional parameter (seed=0, epsilon=1.0) keeps its default."""


def _refuse(mechanism: Any) -> None:
    """Say what to do instead with what looks like a mechanism and is none."""
    if callable(getattr(mechanism, "fit", None)) and (inspect.isclass(mechanism) or not callable(mechanism)):
        cls = mechanism if inspect.isclass(mechanism) else type(mechanism)
        raise ValueError(f"mechanism = {mechanism!r} has a fit method: give audit.estimator({cls.__name__}, …) instead")
    if not callable(mechanism):
        raise ValueError(f"mechanism = {mechanism!r} must be callable as mechanism(dataset, rng)")
    if inspect.iscoroutinefunction(mechanism):
        name = mechanism.__name__
        raise ValueError(f"mechanism {name} is async: give lambda dataset, rng: asyncio.run({name}(dataset, rng))")


def generator_taken_for(mechanism: Callable[..., Any]) -> str:
    """The name of the second parameter, which is given the generator, if it does not sound like one; else nothing."""
    try:
        parameters = list(inspect.signature(mechanism).parameters.values())
    except (TypeError, ValueError):
        return ""
    second = parameters[1] if len(parameters) > 1 else None
    if second is None or second.default is not second.empty or second.kind is not second.POSITIONAL_OR_KEYWORD:
        return ""
    return "" if any(word in second.name.lower() for word in ("rng", "gen", "rand", "_", "size")) else second.name


def _fits(mechanism: Callable[..., Any], signature: inspect.Signature) -> None:
    """Refuse a mechanism that cannot be called with a dataset and a generator, and show how to wrap it."""
    try:
        signature.bind(None, None)
    except TypeError as error:
        name = getattr(mechanism, "__name__", "mechanism").strip("<>")
        shown = f"{name}{signature}" if len(str(signature)) < 80 else name
        raise ValueError(
            f"mechanism {shown} cannot be called as mechanism(dataset, rng) ({error}):"
            f" fix its other arguments, e.g. lambda dataset, rng: {name}(dataset, …)"
        ) from None


def _calling_convention(mechanism: Callable[..., Any]) -> tuple[Callable[[Any, int | None, Any], Any], bool]:
    """A function of (dataset, size, rng) that calls the mechanism its own way, and whether it works in batches."""
    try:
        signature = inspect.signature(mechanism)
    except (TypeError, ValueError):
        return lambda dataset, size, rng: mechanism(dataset, rng), False
    parameters = signature.parameters
    names = list(parameters)
    if "size" in names and "rng" in names:
        return lambda dataset, size, rng: mechanism(dataset, size=size, rng=rng), True
    if "size" in names or getattr(mechanism, "size", None):
        return lambda dataset, size, rng: mechanism(dataset, size, rng), True
    positional = [p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    many = any(p.kind == p.VAR_POSITIONAL for p in parameters.values())
    required = [p for p in positional if p.default is p.empty]
    if len(required) >= 2 or many:
        _fits(mechanism, signature)
        return lambda dataset, size, rng: mechanism(dataset, rng), False
    named = next((n for n in GENERATOR_NAMES if n in names), None)
    if named is not None:
        return lambda dataset, size, rng: mechanism(dataset, **{named: rng}), False
    if positional:
        return lambda dataset, size, rng: mechanism(dataset), False
    raise ValueError(f"mechanism {mechanism!r} must take (dataset, rng), (dataset) or (dataset, size, rng)")
