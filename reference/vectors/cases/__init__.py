"""What the test vectors are: inputs, draws, and the bug that each case catches. Results are computed by `generate`.

One JSON file an algorithm, `NAME.json` beside this module:

* `base`, the input of a case that changes nothing (`tight`: of a case for the tight edition alone, where that takes
  other parameters), `editions`, which editions a case is for unless it says so itself, `preconditions`;
* `flags`, the bugs: what an implementation does, what that does to its users, at which line of the algorithm;
* `cases`, each with a slug, a comment, the flags of the bugs that it catches, and what it changes of the base. A case
  has a `result`: match (the default), reject (with the `reason`: the parameter that the reference's message names), or
  either. Its draws depend on `seed` and slug (of a rejection on the slug alone), or are all 0 (`quiet`); `index` is the
  output that is drawn.

A dataset is a list of records, or a recipe: `{"seed": "phased|7|2", "n": 7, "d": 2}` is seven records of dimension two
(see `records`) with the labels and the scale of the file's `records`, or its own, some of which `replace` exchanges.

Cases are appended, never renamed or reordered: an id that was published stays what it was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from typing import Any, Literal

from reference.numerics.tape import GRID, Draw, ReplayTape, Values
from reference.paper.algorithms import Algorithm, Edition
from reference.vectors.encode import decimal

Outcome = Literal["match", "reject", "either"]


@dataclass(frozen=True)
class Bug:
    """A bug that a case catches: what the implementation does, what that does to its users, at which line."""

    bug: str
    effect: str
    severity: Literal["privacy", "accuracy", "output", "input"]
    line: int
    erratum: str | None = None


@dataclass(frozen=True)
class Case:
    """One case, before it is computed."""

    slug: str
    comment: str
    input: Mapping[str, Any]
    editions: tuple[Edition, ...]
    flags: tuple[str, ...]
    draws: Callable[[Draw], Values]
    result: Outcome = "match"
    reason: str = ""
    """For a rejection: the parameter that the reference's message names."""


@dataclass(frozen=True)
class Family:
    """All cases of one algorithm."""

    flags: Mapping[str, Bug]
    cases: tuple[Case, ...]
    preconditions: tuple[str, ...]


def family(algorithm: Algorithm) -> Family:
    """The cases of an algorithm, from its file."""
    told = json.loads(files("reference.vectors.cases").joinpath(f"{algorithm.name}.json").read_text("utf-8"))
    flags = {name: Bug(**flag) for name, flag in told["flags"].items()}
    return Family(flags, tuple(_case(told, case) for case in told["cases"]), tuple(told["preconditions"]))


def _case(told: Mapping[str, Any], case: Mapping[str, Any]) -> Case:
    editions = tuple(case.get("editions", told["editions"]))
    base = told.get("tight", told["base"]) if editions == ("tight",) else told["base"]
    data = {**base, **case.get("change", {})}
    if isinstance(data.get("dataset"), dict):
        data["dataset"] = records(**{**told["records"], **data["dataset"]})
    slug, result = case["slug"], case.get("result", "match")
    draws = without_noise if case.get("quiet") else seeded(slug if result == "reject" else f"{told['seed']}|{slug}")
    draws = choosing(case["index"], draws) if "index" in case else draws
    return Case(slug, case["comment"], data, editions, tuple(case["flags"]), draws, result, case.get("reason", ""))


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


def records(
    seed: str, n: int, d: int, labels: Sequence[str], scale: int, replace: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """n records of dimension d that depend on the seed alone; `replace` gives some of them, by index.

    Entries are multiples of 1/64 of absolute value at most `scale`/64, labels are from the list.
    """
    found = []
    for i in range(n):
        raw = integers(f"{seed}|{i}", d + 1)
        x = [decimal(Fraction(v % (2 * scale + 1) - scale, 64)) for v in raw[:d]]
        found.append({"x": x, "y": labels[raw[d] % len(labels)]})
    for index, record in (replace or {}).items():
        found[int(index)] = record
    return found
