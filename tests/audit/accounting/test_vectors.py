"""The scales of `dpso calibrate` are those of the test vectors, and hence those that a run of the algorithm uses."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from audit.accounting.accountants import EXACT, account
from reference import vectors
from reference.numerics.enclosures import float_above
from reference.numerics.numbers import Ball, Float64
from reference.paper.algorithms import BY_LABEL
from reference.privacy import gaussian_delta
from reference.vectors.inputs import feasible_set, norm_exponent, number, optional

F = Float64()
CLOSE = 1e-8
"""What calibrating with a μ* that is certainly not too large costs at most; nothing else may differ."""


def events(case: Any, *names: str) -> dict[tuple[int, ...], float]:
    found = [e for e in case["trace"] if e["name"] in names]
    return {tuple(e["index"]): float(e["value"]) for e in found}


def shared(data: Any, *names: str) -> dict[str, Any]:
    return {name: number(data[name]) for name in names}


def diameter(data: Any, p: Any) -> Fraction:
    W = feasible_set(data["set"])
    return Fraction(float(W.diameter(F, p))) if data["D"] is None else number(data["D"])


def phased(case: Any) -> Iterator[tuple[float, float]]:
    data, n = case["input"], len(case["input"]["dataset"])
    if data["average"] == "first":
        return
    free = data["set"]["type"] == "whole-space"
    given: dict[str, Any] = {name: optional(data[name]) for name in ("rank", "beta", "alpha")}
    given |= {"n": n, "d": len(data["dataset"][0]["x"]), "D": None if free else diameter(data, 2)}
    found = target(case, **shared(data, "L0", "R"), **given, step=data.get("step", "theorem"))
    sigma = events(case, "sigma")
    yield from ((scale.value, sigma[k,]) for k, scale in enumerate(found.scales, 1))


def frank_wolfe(case: Any) -> Iterator[tuple[float, float]]:
    data = case["input"]
    W = feasible_set(data["set"])
    given = {"n": len(data["dataset"]), "J": W.J, "D": Fraction(float(W.diameter(F, 1))), "T": data["T"]}
    alpha = optional(data["alpha"])
    found = target(case, **shared(data, "L0", "R"), **given, alpha=alpha, noise=data["noise"])
    yield found.scales[0].value, events(case, "s")[()]


def poly(case: Any) -> Iterator[tuple[float, float]]:
    data = case["input"]
    given = {**shared(data, "L0", "L1"), "D": diameter(data, norm_exponent(data["p"])), "b": data["b"]}
    if case["variant"] != "tight":
        found = target(case, R=data["rounds"], **given)
        yield from ((scale.value, events(case, "s")[r,]) for r, scale in enumerate(found.scales))
    elif number(data["delta"]) > 0 and (data["T"] - 1) & (data["T"] - 2) == 0:  # T − 1 steps, a power of two
        found = target(case, R=(data["T"] - 1).bit_length(), **given, noise=data["noise"])
        yield found.scales[-1].value, events(case, "s")[0,]


def noisy(case: Any) -> Iterator[tuple[float, float]]:
    data, p = case["input"], norm_exponent(case["input"]["p"])
    given = {**shared(data, "L0", "L1"), "D": diameter(data, p), "b": data["b"], "p": p}
    given["d"] = len(data["dataset"][0]["x"])
    tight = case["variant"] == "tight"
    if tight and data["adaptive"]:  # σ_t is then for the moves of the run
        return
    rounds = data["T"].bit_length() if tight else data["rounds"]
    for scale in target(case, R=rounds, **given).scales:
        index = (0 if tight else rounds - 1, int(scale.where.removeprefix("t=")))
        if not tight or index[1] < data["T"] - 1:
            yield scale.value, events(case, scale.symbol)[index]


def guided(case: Any) -> Iterator[tuple[float, float]]:
    """A vector gives μ: ε = 1 and the δ that belongs to it."""
    data, (phase, *others) = case["input"], case["input"]["plan"] or [None]
    calls, n = data["rounds"] - 1, len(case["input"]["dataset"])
    if others or phase is None or calls == 0 or phase["n"] != n // calls:
        return
    delta = float_above(gaussian_delta(Ball(128), 1, number(data["mu"])))
    given: dict[str, Any] = {"n": n, "R": data["rounds"], "T": phase["T"], "d": len(data["dataset"][0]["x"])}
    given |= shared(data, "L0") | {"p": norm_exponent(data["p"])}
    found = account("Alg:PGPSMD", "corrected", 1, delta, numbers=EXACT, **given)
    for batch in (e["value"] for e in case["trace"] if e["name"] == "batch"):
        assert found.scales[0].where == f"{phase['T']} steps on {len(batch)} records"
    yield from ((found.scales[0].value, sigma) for sigma in events(case, "sigma").values())


def target(case: Any, **given: Any) -> Any:
    data = case["input"]
    asked = (case["algorithm"], case["variant"], number(data["epsilon"]), number(data["delta"]))
    return account(*asked, numbers=EXACT, **given)  # the vectors are of exact arithmetic


SCALES = {"Alg:phased": phased, "Alg:nfw": frank_wolfe, "alg:polySFW": poly, "alg:nSFW": noisy, "Alg:PGPSMD": guided}
COMPARED = [
    (label, variant)
    for label in SCALES
    for variant in BY_LABEL[label].editions
    if (label, variant) != ("Alg:PGPSMD", "printed")  # cited: no scale is printed
]


@pytest.mark.parametrize(("label", "variant"), COMPARED)
def test_calibrated_scales_are_those_of_the_vectors(label: str, variant: str) -> None:
    pairs = [
        (case["id"], *pair)
        for case in vectors.load(label, variant)["cases"]
        if case["result"] == "match"
        for pair in SCALES[label](case)
    ]
    assert pairs
    for id, calibrated, expected in pairs:
        assert calibrated == pytest.approx(expected, rel=CLOSE), id
        assert calibrated >= expected * (1 - 1e-14), id
