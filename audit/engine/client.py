"""The fast engine as a client of the test vectors: outputs only, one trial a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from audit import engine as fast
from audit.engine.arrays import Array, floats
from audit.engine.convex import ORACLE_ERRATA, LossTable
from reference.convex.noisy_frank_wolfe import frank_wolfe_parameters, scale_printed, scale_tight
from reference.convex.oracle import oracle_parameters
from reference.convex.phased_noise import tight_sigma
from reference.convex.phased_sgd import checked_points, exact_log2, phased_parameters
from reference.convex.sensitivity import tuned_parameters
from reference.numerics.numbers import Float64
from reference.numerics.preconditions import require, same_dimension
from reference.numerics.tape import ReplayTape
from reference.paper.algorithms import BY_LABEL, PerAlgorithm
from reference.setting.data import Example
from reference.setting.losses import GLL
from reference.vectors.execute import declared, printed_default
from reference.vectors.inputs import (
    dataset,
    feasible_set,
    interval,
    number,
    numbers,
    optional,
    scalar_family,
    smooth_loss,
    weak_loss,
)
from reference.weakly_convex.strongly_convex import Phase

K = Float64()
Json = Mapping[str, Any]
RUNS: PerAlgorithm[Callable[[str, Json, Any], Array]] = PerAlgorithm()
"""From edition, input and tape to the output, one row a trial."""


def run(case: Json) -> dict[str, Any]:
    """The reply to one case; a refused input raises ValueError."""
    algorithm = BY_LABEL[case["algorithm"]]
    found = RUNS[algorithm.label](case["variant"], case["input"], _Lazy(case))
    return {"output": {algorithm.output: found[0].tolist()}}


class _Lazy(fast.BatchTape):
    """One trial whose tape is read when the algorithm, having checked its input, asks for it."""

    trials = 1

    def __init__(self, case: Json):
        self._case = case
        self._stack: fast.StackedTapes | None = None

    def read(self, draw: Any) -> Array:
        if self._stack is None:
            stored = ReplayTape.from_json(self._case["draws"])
            self._stack = fast.StackedTapes([stored], declared(self._case))
        return self._stack.read(draw)


def _errata(printed: bool) -> frozenset[str]:
    return frozenset() if printed else ORACLE_ERRATA


@RUNS.of("Alg:gll_oracle")
def _oracle(variant: str, data: Json, tape: Any) -> Array:
    w, x = floats(numbers(data["w"])), floats(numbers(data["x"]))
    same_dimension("x", len(x), len(w))
    gll = GLL(scalar_family(data["loss"]), number(data["L0"]), number(data["R"]))
    p = oracle_parameters(
        K, beta=number(data["beta"]), alpha=number(data["alpha"]), L0=gll.L0, R=gll.R, M=interval(data["M"])
    )
    m, reach = float(w @ x), (2 if variant == "printed" else 1) * p.L0 / p.beta
    p.M.meet(K, m - reach, m + reach)
    table = LossTable.of([gll.scalar(Example(numbers(data["x"]), number(data["y"])))])
    slope = fast.oracle(table, np.array([[m]]), p, _errata(variant == "printed"))
    return np.asarray(slope * x)


def _start(data: Json) -> Any:
    return None if data["start"] is None else numbers(data["start"])


@RUNS.of("Alg:phased")
def _phased(variant: str, data: Json, tape: Any) -> Array:
    records, W = dataset(data["dataset"]), feasible_set(data["set"])
    options: dict[str, Any] = {"epsilon": number(data["epsilon"]), "delta": number(data["delta"])}
    if variant == "tight":
        options["sigma"] = tight_sigma
    gll = GLL(scalar_family(data["loss"]), number(data["L0"]), number(data["R"]), 2)
    p = phased_parameters(
        K,
        len(records),
        gll,
        W,
        **options,
        D=optional(data["D"]),
        rank=optional(data["rank"]),
        beta=printed_default(K, variant, data, "beta"),
        alpha=optional(data["alpha"]),
        start=_start(data),
        average=data["average"],
        unproven=True,
    )
    if data.get("step") == "tuned":
        p = tuned_parameters(K, p)
    checked_points(K, gll, records, W, p.start)
    if variant == "printed":
        exact_log2(len(records))
    edition: Any = "printed" if variant == "printed" else "corrected"
    return fast.phased_sgd(records, p, tape, edition, _errata(data["oracle"] == "printed"))


@RUNS.of("Alg:nfw")
def _frank_wolfe(variant: str, data: Json, tape: Any) -> Array:
    records, W = dataset(data["dataset"]), feasible_set(data["set"])
    gll = GLL(scalar_family(data["loss"]), number(data["L0"]), number(data["R"]), 1)
    p = frank_wolfe_parameters(
        K,
        len(records),
        gll,
        W,
        epsilon=number(data["epsilon"]),
        delta=number(data["delta"]),
        T=data["T"],
        start=_start(data),
        beta=optional(data["beta"]),
        alpha=printed_default(K, variant, data, "alpha"),
        noise=data["noise"],
        scale=scale_tight if variant == "tight" else scale_printed,
        unproven=True,
    )
    checked_points(K, gll, records, W, p.start)
    edition: Any = "printed" if variant == "printed" else "corrected"
    return fast.noisy_frank_wolfe(records, p, tape, edition, _errata(data["oracle"] == "printed"))


@RUNS.of("alg:polySFW")
def _poly(variant: str, data: Json, tape: Any) -> Array:
    vertices = getattr(feasible_set(data["set"]), "J", 0)
    require(vertices >= 2, "J", vertices, "be at least 2")
    return _smooth(variant, data, tape, fast.poly_sfw, fast.poly_sfw_tight, "noise")


@RUNS.of("alg:nSFW")
def _noisy(variant: str, data: Json, tape: Any) -> Array:
    p = smooth_loss(data).p
    require(1 < p <= 2, "p", p, "lie in (1, 2]")
    return _smooth(variant, data, tape, fast.noisy_sfw, fast.noisy_sfw_tight, "adaptive")


def _smooth(
    variant: str, data: Json, tape: Any, plain: Callable[..., Array], tight: Callable[..., Array], option: str
) -> Array:
    given = (smooth_loss(data), feasible_set(data["set"]), dataset(data["dataset"]))
    options: dict[str, Any] = {"start": _start(data), "D": optional(data["D"])}
    privacy = (number(data["epsilon"]), number(data["delta"]))
    if variant == "tight":
        return tight(*given, data["T"], data["b"], *privacy, tape, **options, **{option: data[option]})
    options |= {"edition": variant, "exact_budget": data["exact_budget"]}
    return plain(*given, data["rounds"], data["b"], *privacy, tape, **options)


@RUNS.of("Alg:PGPSMD")
def _guided(variant: str, data: Json, tape: Any) -> Array:
    plan = tuple(Phase(phase["n"], phase["T"], number(phase["lambda"])) for phase in data["plan"])
    edition: Any = variant
    return fast.proximally_guided(
        weak_loss(data),
        feasible_set(data["set"]),
        dataset(data["dataset"]),
        tape,
        rounds=data["rounds"],
        plan=plan,
        mu=number(data["mu"]),
        edition=edition,
        start=_start(data),
        beta=optional(data["beta"]),
    )
