"""What the test vectors are: inputs, draws, and the bug that each case catches. Results are computed by `generate`.

Cases are appended, never renamed or reordered: an id that was published stays what it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from reference.numerics.tape import GRID, Draw, ReplayTape, Values
from reference.vectors.encode import decimal

Result = Literal["match", "reject", "either"]


@dataclass(frozen=True)
class Flag:
    """A bug that a case catches: what the implementation does, what that does to its users, at which line."""

    bug: str
    effect: str
    severity: Literal["privacy", "accuracy", "output", "input"]
    line: int
    erratum: str | None = None


@dataclass(frozen=True)
class Case:
    """One case, before it is computed. `variants` maps each variant to the changes of its input."""

    slug: str
    comment: str
    input: Mapping[str, Any]
    variants: tuple[str, ...]
    flags: tuple[str, ...] = ()
    result: Result = "match"
    reason: str = ""
    """For a rejection: the parameter that the reference's message names."""
    draws: Callable[[Draw], Values] | None = None
    preconditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Family:
    """All cases of one algorithm."""

    label: str
    flags: Mapping[str, Flag]
    cases: tuple[Case, ...]
    preconditions: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Writer:
    """Writes the cases of one algorithm: what differs from a base input, and draws that depend on `key` and slug."""

    key: str
    variants: tuple[str, ...]
    base: Mapping[str, Any]
    tight: Mapping[str, Any] | None = None
    """The base of cases that are for the tight variant alone, where it takes other parameters."""

    def match(
        self,
        slug: str,
        comment: str,
        flags: tuple[str, ...],
        variants: tuple[str, ...] = (),
        quiet: bool = False,
        index: int | None = None,
        **changes: Any,
    ) -> Case:
        """A case with a result: `quiet` without noise, `index` the output that is chosen."""
        draws = without_noise if quiet else seeded(f"{self.key}|{slug}")
        draws = draws if index is None else choosing(index, draws)
        return Case(slug, comment, self._input(variants, changes), variants or self.variants, flags, draws=draws)

    def reject(
        self, slug: str, comment: str, flag: str, reason: str, variants: tuple[str, ...] = (), **changes: Any
    ) -> Case:
        """An input that must be refused."""
        made = self._input(variants, changes)
        return Case(slug, comment, made, variants or self.variants, (flag,), "reject", reason)

    def _input(self, variants: tuple[str, ...], changes: Mapping[str, Any]) -> dict[str, Any]:
        base = self.base if self.tight is None or variants != ("tight",) else self.tight
        return {**base, **changes}


# ------------------------------------------------------------------------------- reproducible material


def integers(key: str, count: int) -> list[int]:
    """`count` integers below 2^32 that depend on the key alone."""
    found: list[int] = []
    for block in range(-(-count // 8)):
        digest = hashlib.sha256(f"{key}|{block}".encode()).digest()
        found += [int.from_bytes(digest[4 * i : 4 * i + 4], "big") for i in range(8)]
    return found[:count]


def seeded(key: str) -> Callable[[Draw], Values]:
    """Draws on the grid of 2^-20. Their laws do not matter to a vector: sums of uniforms stand in for Gaussians."""

    def values(draw: Draw) -> Values:
        name = f"{key}|{draw.key}|{draw.kind}|{draw.dim}"
        if draw.kind == "index":
            return (integers(name, 1)[0] % draw.dim,)
        if draw.kind == "permutation":
            order = integers(name, draw.dim)
            return tuple(sorted(range(draw.dim), key=lambda i: (order[i], i)))
        spread = {"normal": 4, "laplace": 6, "gumbel": 6, "exponential": 8}[draw.kind]
        return tuple(_grid(integers(f"{name}|{j}", 4), spread) for j in range(draw.dim))

    return values


def _grid(parts: list[int], spread: int) -> float:
    """The mean of four uniforms on [−spread, spread], rounded down to the grid."""
    whole = sum(parts) * 2 * spread * GRID // (4 * 2**32) - spread * GRID
    return float(Fraction(whole, GRID))


def without_noise(draw: Draw) -> Values:
    """Zeros, the identity, the last index."""
    if draw.kind == "permutation":
        return tuple(range(draw.dim))
    return (draw.dim - 1,) if draw.kind == "index" else (float(0),) * draw.dim


def choosing(index: int, base: Callable[[Draw], Values]) -> Callable[[Draw], Values]:
    """The same draws with another output index."""
    return lambda draw: (index,) if draw.kind == "index" else base(draw)


def tape(draws: tuple[Draw, ...], values: Callable[[Draw], Values]) -> dict[str, Any]:
    """A tape as a vector stores it."""
    return ReplayTape({draw: values(draw) for draw in draws}).to_json()


def records(key: str, n: int, d: int, labels: tuple[str, ...] = ("-1", "1"), scale: int = 16) -> list[dict[str, Any]]:
    """n records: entries are multiples of 1/64 of absolute value at most `scale`/64, labels from the list."""
    found = []
    for i in range(n):
        raw = integers(f"{key}|{i}", d + 1)
        x = [decimal(Fraction(v % (2 * scale + 1) - scale, 64)) for v in raw[:d]]
        found.append({"x": x, "y": labels[raw[d] % len(labels)]})
    return found
