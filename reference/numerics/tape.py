"""Noise tapes: no algorithm sees a generator.

An algorithm reads *unit* draws from a tape, keyed by the paper's symbol and its indices and not by the order
of calls: `tape.normal("xi", k, dim=d)` is the k-th ξ. The scale is applied on the paper's own line, so a
wrong constant shows there. Draws are binary64 values, exact in every number system; draws that are stored
are multiples of 2**-20.

Kinds of draw:

=============  =============================================================================
normal         standard Gaussian N(0, 1), `dim` of them
laplace        Laplace with scale 1 (density e^{-|x|}/2), `dim` of them
gumbel         Gumbel of maximum type (cdf exp(−e^{−x})), `dim` of them
exponential    exponential with mean 1, `dim` of them
permutation    a uniform permutation of range(dim)
index          one uniform element of range(dim)
=============  =============================================================================

An algorithm declares exactly what it reads, as a tuple of `Draw`s, and reads inside `with reading(tape, draws)`:
a draw that was not declared, is read twice, or stays unread is an error, on every tape.
"""

from __future__ import annotations

import json
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast, get_args

DrawKind: TypeAlias = Literal["normal", "laplace", "gumbel", "exponential", "permutation", "index"]
Values: TypeAlias = "tuple[float, ...] | tuple[int, ...]"

DRAW_KINDS: tuple[DrawKind, ...] = get_args(DrawKind)
INTEGER_KINDS: frozenset[DrawKind] = frozenset({"permutation", "index"})

GRID = 2**20
"""Stored real draws are multiples of 1/GRID."""


@dataclass(frozen=True, order=True)
class Draw:
    """One entry of a tape: the paper's symbol, its indices, the kind of draw and how many."""

    symbol: str
    indices: tuple[int, ...]
    kind: DrawKind
    dim: int

    def __post_init__(self) -> None:
        """Refuse a kind or a size that no tape can serve."""
        if self.kind not in DRAW_KINDS:
            raise ValueError(f"kind = {self.kind!r} must be one of {', '.join(DRAW_KINDS)}")
        if self.dim < 1:
            raise ValueError(f"dim = {self.dim} of {self.symbol}{list(self.indices)} must be at least 1")

    @property
    def key(self) -> str:
        """The name that stored tapes use: `xi[3]`, `b[2,0]`."""
        return f"{self.symbol}[{','.join(map(str, self.indices))}]"


class TapeError(ValueError):
    """A tape and an algorithm do not fit each other."""


class Tape(ABC):
    """A source of unit draws, asked for by key."""

    @abstractmethod
    def read(self, draw: Draw) -> Values:
        """The values of one draw: `dim` reals, a permutation of range(dim), or one index below `dim`."""

    def stored(self) -> frozenset[Draw] | None:
        """What this tape holds, if it is finite; None if it can serve any draw."""
        return None

    def normal(self, symbol: str, *indices: int, dim: int) -> tuple[float, ...]:
        """`dim` standard Gaussians."""
        return self.read(Draw(symbol, indices, "normal", dim))

    def laplace(self, symbol: str, *indices: int, dim: int) -> tuple[float, ...]:
        """`dim` Laplace variables of scale 1."""
        return self.read(Draw(symbol, indices, "laplace", dim))

    def gumbel(self, symbol: str, *indices: int, dim: int) -> tuple[float, ...]:
        """`dim` Gumbel variables of maximum type."""
        return self.read(Draw(symbol, indices, "gumbel", dim))

    def exponential(self, symbol: str, *indices: int, dim: int) -> tuple[float, ...]:
        """`dim` exponential variables of mean 1."""
        return self.read(Draw(symbol, indices, "exponential", dim))

    def permutation(self, symbol: str, *indices: int, dim: int) -> tuple[int, ...]:
        """A uniform permutation of range(dim)."""
        return cast("tuple[int, ...]", self.read(Draw(symbol, indices, "permutation", dim)))

    def index(self, symbol: str, *indices: int, dim: int) -> int:
        """One uniform element of range(dim)."""
        return cast("tuple[int, ...]", self.read(Draw(symbol, indices, "index", dim)))[0]


# ------------------------------------------------------------------------------------- what is declared


class _Reading(Tape):
    """A tape that holds an algorithm to its declaration."""

    def __init__(self, tape: Tape, declared: Iterable[Draw]):
        self._tape = tape
        self._left = set(declared)
        self._done: set[Draw] = set()

    def read(self, draw: Draw) -> Values:
        if draw in self._done:
            raise TapeError(f"{draw.key} is read twice: every draw is used once")
        if draw not in self._left:
            raise TapeError(f"{draw.key} ({draw.kind}, dim {draw.dim}) is read but not declared")
        self._left.remove(draw)
        self._done.add(draw)
        return self._tape.read(draw)

    def unread(self) -> list[Draw]:
        return sorted(self._left)


@contextmanager
def reading(tape: Tape, declared: Iterable[Draw]) -> Iterator[Tape]:
    """Read exactly the declared draws from `tape`: no fewer, no others, none twice, nothing left over."""
    declared = frozenset(declared)
    held = tape.stored()
    if held is not None and held != declared:
        missing, unused = sorted(declared - held), sorted(held - declared)
        parts = [
            f"{name}: {', '.join(_describe(d) for d in draws[:5])}" + (" …" if len(draws) > 5 else "")
            for name, draws in (("missing", missing), ("unused", unused))
            if draws
        ]
        raise TapeError(f"the tape does not fit the algorithm ({'; '.join(parts)})")
    reader = _Reading(tape, declared)
    yield reader
    if reader.unread():
        raise TapeError(f"declared but never read: {', '.join(_describe(d) for d in reader.unread()[:5])}")


def _describe(draw: Draw) -> str:
    return f"{draw.key} {draw.kind}×{draw.dim}"


# ------------------------------------------------------------------------------------------- live tapes


class _RandomTape(Tape):
    """Draws through a `random.Random`, one generator a draw or one for all."""

    @abstractmethod
    def _generator(self, draw: Draw) -> random.Random: ...

    def read(self, draw: Draw) -> Values:
        generator = self._generator(draw)
        if draw.kind == "permutation":
            return tuple(generator.sample(range(draw.dim), draw.dim))
        if draw.kind == "index":
            return (generator.randrange(draw.dim),)
        return tuple(_unit(generator, draw.kind) for _ in range(draw.dim))


def _unit(generator: random.Random, kind: DrawKind) -> float:
    """One real draw of scale 1."""
    if kind == "normal":
        return generator.normalvariate(0, 1)
    if kind == "laplace":
        return generator.expovariate(1) - generator.expovariate(1)
    if kind == "exponential":
        return generator.expovariate(1)
    waiting = generator.expovariate(1)
    while waiting <= 0:  # has probability 2**-53, and no logarithm
        waiting = generator.expovariate(1)
    return -math.log(waiting)


class SeededTape(_RandomTape):
    """Reproducible draws from a seed: each key has its own generator, so the order of reading is immaterial."""

    def __init__(self, seed: int):
        self.seed = seed

    def _generator(self, draw: Draw) -> random.Random:
        return random.Random(f"{self.seed}|{draw.key}|{draw.kind}|{draw.dim}")


class SystemTape(_RandomTape):
    """Draws from the operating system's entropy: no seed, not reproducible, for real releases.

    The values are binary64: what that does to a privacy guarantee is said in `reference.privacy`.
    """

    def __init__(self) -> None:
        self._system = random.SystemRandom()

    def _generator(self, draw: Draw) -> random.Random:
        return self._system


class ZeroTape(Tape):
    """No noise: zeros, identity permutations, index 0. For checking the deterministic part."""

    def read(self, draw: Draw) -> Values:
        if draw.kind == "permutation":
            return tuple(range(draw.dim))
        return (0,) if draw.kind == "index" else (0.0,) * draw.dim  # lint: exact zero


# ---------------------------------------------------------------------------------- stored tapes


class RecordingTape(Tape):
    """Rounds what another tape gives to multiples of 2**-20, hands that out, and keeps it."""

    def __init__(self, source: Tape):
        self._source = source
        self.records: dict[Draw, Values] = {}

    def read(self, draw: Draw) -> Values:
        if draw not in self.records:
            self.records[draw] = on_grid(draw, self._source.read(draw))
        return self.records[draw]

    def replay(self) -> ReplayTape:
        """The tape that gives the same draws again."""
        return ReplayTape(self.records)


class ReplayTape(Tape):
    """Gives stored draws, and nothing else."""

    def __init__(self, records: Mapping[Draw, Values]):
        for draw, values in records.items():
            _check_values(draw, values)
        self._records = dict(records)

    def stored(self) -> frozenset[Draw]:
        return frozenset(self._records)

    def read(self, draw: Draw) -> Values:
        if draw not in self._records:
            raise TapeError(f"{_describe(draw)} is not on the tape")
        return self._records[draw]

    def to_json(self) -> dict[str, dict[str, Any]]:
        """A JSON object: key → kind, dim, values (reals as exact decimal strings)."""
        return {
            draw.key: {"kind": draw.kind, "dim": draw.dim, "values": [_to_text(x) for x in values]}
            for draw, values in sorted(self._records.items())
        }

    @staticmethod
    def from_json(data: Mapping[str, Mapping[str, Any]]) -> ReplayTape:
        """The inverse of `to_json`; refuses what does not fit with a `TapeError`."""
        records: dict[Draw, Values] = {}
        for key, entry in data.items():
            draw = _parse_draw(key, entry)
            convert = int if draw.kind in INTEGER_KINDS else _from_text
            try:
                records[draw] = tuple(convert(v) for v in entry["values"])
            except (TypeError, ValueError, KeyError, ZeroDivisionError) as error:
                raise TapeError(f"{key}: values must be a list of decimal strings ({error})") from None
        return ReplayTape(records)


def on_grid(draw: Draw, values: Values) -> Values:
    """The nearest multiples of 2**-20 (ties to even); integer draws are unchanged."""
    if draw.kind in INTEGER_KINDS:
        return values
    return tuple(round(x * GRID) / GRID for x in values)


def _check_values(draw: Draw, values: Values) -> None:
    expected = 1 if draw.kind == "index" else draw.dim
    if len(values) != expected:
        raise TapeError(f"{draw.key} has {len(values)} values: {draw.kind}×{draw.dim} has {expected}")
    if draw.kind == "permutation" and sorted(values) != list(range(draw.dim)):
        raise TapeError(f"{draw.key} is not a permutation of range({draw.dim})")
    if draw.kind == "index" and not 0 <= values[0] < draw.dim:
        raise TapeError(f"{draw.key} = {values[0]} is not in range({draw.dim})")
    if draw.kind not in INTEGER_KINDS and any(not math.isfinite(x) or (x * GRID) % 1 for x in values):
        raise TapeError(f"{draw.key}: stored draws are finite multiples of 2**-20")


def _parse_draw(key: str, entry: Mapping[str, Any]) -> Draw:
    symbol, bracket, rest = key.partition("[")
    try:
        if not bracket or not rest.endswith("]"):
            raise ValueError("a key reads symbol[i,j]")
        indices = tuple(int(i) for i in rest[:-1].split(",") if i)
        return Draw(symbol, indices, entry["kind"], int(entry["dim"]))
    except (ValueError, KeyError, TypeError) as error:
        raise TapeError(f"{key!r} is not a draw: {error}") from None


def _to_text(x: float | int) -> Any:
    """An int as it is; a multiple of 2**-20 as the decimal that equals it (at most 20 places)."""
    if isinstance(x, int):
        return x
    exact = Fraction(x)
    scaled = exact * 10**20
    sign, digits = ("-" if scaled < 0 else ""), str(abs(int(scaled))).rjust(21, "0")
    whole, places = digits[:-20], digits[-20:].rstrip("0")
    return f"{sign}{whole}.{places}" if places else f"{sign}{whole}"


def _from_text(text: Any) -> float:
    exact = Fraction(text)
    if exact != Fraction(float(exact)):
        raise ValueError(f"{text} is not a binary64 value")
    return float(exact)


def dumps(tape: ReplayTape) -> str:
    """The tape as canonical JSON text."""
    return json.dumps(tape.to_json(), indent=1, sort_keys=True)
