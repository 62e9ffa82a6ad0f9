"""Run the reference on the input of a test vector, in any number system.

`run(K, case)` gives the trace and the output. Line 0 of a trace holds what a theorem sets before line 1 (β, α, D where
the input leaves them open). `declared(case)` is what the algorithm draws. A refused input raises `ValueError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from reference.convex.phased_noise import tight_sigma
from reference.numerics.numbers import Float64, Numbers, Vector
from reference.numerics.tape import Draw, ReplayTape, Tape
from reference.paper.algorithms import ALGORITHMS, PerAlgorithm
from reference.paper.events import Trace, TraceEvent
from reference.setting.data import Example
from reference.setting.losses import GLL
from reference.vectors.inputs import (
    Json,
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

MODULES: Mapping[str, str] = {
    **{algorithm.module.rpartition(".")[2]: algorithm.module for algorithm in ALGORITHMS},
    "strongly_convex": "reference.weakly_convex.strongly_convex",
    "tuned": "reference.convex.sensitivity",
}
"""The modules of the algorithms by their last names, the solver of Algorithm 6, the tuned step of Algorithm 2."""
CODE = SimpleNamespace(**{name: import_module(path) for name, path in MODULES.items()})
"""The modules that `run` calls; a copy with one of them exchanged runs something else on the same vectors."""


@dataclass(frozen=True)
class VectorRun:
    """What a run gave: events in order, the output by name; `gap` is the slack of an inexact step (Algorithm 6)."""

    trace: tuple[TraceEvent, ...]
    output: Mapping[str, Any]
    gap: Any = None


@dataclass(frozen=True)
class _Given:
    """What a run is given besides the input."""

    tape: Tape
    code: Any
    trace: Trace

    def result(self, gap: Any = None, **output: Any) -> VectorRun:
        """The events so far, and the output."""
        return VectorRun(tuple(self.trace), output, gap)


RUNS: PerAlgorithm[Callable[[Numbers, str, Json, _Given], VectorRun]] = PerAlgorithm()
DRAWS: PerAlgorithm[Callable[[str, Json, Any], Iterable[Draw]]] = PerAlgorithm()


def run(K: Numbers, case: Json, code: Any = CODE, *, tape: Tape | None = None, trace: Trace | None = None) -> VectorRun:
    """The algorithm of the case, in its variant, on its input and draws (or another tape).

    A `trace` that is handed in holds the events up to a failure, too.
    """
    tape = ReplayTape.from_json(case["draws"]) if tape is None else tape
    trace = Trace() if trace is None else trace
    return RUNS[case["algorithm"]](K, case["variant"], case["input"], _Given(tape, code, trace))


def declared(case: Json, code: Any = CODE) -> tuple[Draw, ...]:
    """What the algorithm of the case draws."""
    return tuple(DRAWS[case["algorithm"]](case["variant"], case["input"], code))


def float64(case: Json) -> dict[str, Any]:
    """The reference in binary64 as a client: trace and output, or {"reject": why}."""
    return as_reply(Float64(), case)


def as_reply(K: Numbers, case: Json, code: Any = CODE) -> dict[str, Any]:
    """A run as a client would answer it; floats in place of scalars."""
    trace = Trace()
    try:
        done = run(K, case, code, trace=trace)
    except ValueError as error:
        return {"reject": str(error), "trace": as_json(K, trace)}
    return {"trace": as_json(K, trace), "output": {name: plain(K, value) for name, value in done.output.items()}}


def as_json(K: Numbers, trace: Iterable[TraceEvent]) -> list[dict[str, Any]]:
    """Events as a client sends them."""
    return [{"line": e.line, "name": e.name, "index": list(e.indices), "value": plain(K, e.value)} for e in trace]


def plain(K: Numbers, value: Any) -> Any:
    """Scalars as floats, vectors and tuples as lists; ints and strings as they are."""
    if isinstance(value, (Vector, tuple, list)):
        return [plain(K, v) for v in value]
    return value if isinstance(value, (int, str)) else K.to_float(value)


def _start(K: Numbers, data: Json) -> Vector | None:
    return None if data["start"] is None else K.vector(numbers(data["start"]))


# ------------------------------------------------------------------------------------------ Algorithm 1


@RUNS.of("Alg:gll_oracle")
def _oracle(K: Numbers, variant: str, data: Json, given: _Given) -> VectorRun:
    gll = GLL(scalar_family(data["loss"]), number(data["L0"]), number(data["R"]))
    code, trace = given.code, given.trace
    p = code.oracle.oracle_parameters(
        K, beta=number(data["beta"]), alpha=number(data["alpha"]), L0=gll.L0, R=gll.R, M=interval(data["M"])
    )
    ell = gll.scalar(Example(numbers(data["x"]), number(data["y"])))
    body = code.oracle.oracle_printed if variant == "printed" else code.oracle.oracle
    done = body(K, K.vector(numbers(data["w"])), K.vector(numbers(data["x"])), ell, p, trace)
    trace.mark(11, "output", done.gradient)
    return given.result(gradient=done.gradient, derivative=done.derivative, u=done.u)


# ------------------------------------------------------------------------------------------ Algorithm 2


def _gll(data: Json, p: int) -> GLL:
    return GLL(scalar_family(data["loss"]), number(data["L0"]), number(data["R"]), p)


def _body(code: Any, name: str, variant: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(code, name + "_printed" if variant == "printed" else name)
    return found


def _chosen_oracle(data: Json, code: Any) -> Any:
    return code.oracle.oracle_printed if data["oracle"] == "printed" else code.oracle.oracle


def printed_default(K: Numbers, variant: str, data: Json, name: str, code: Any = CODE) -> Any:
    """β of Theorem 6 and α of Theorem 9 where the input leaves them open, as these theorems print them; else as given.

    (Both proofs set other values, which the corrected and tight variants take.)
    """
    given, n = optional(data[name]), len(data["dataset"])
    if given is not None or variant != "printed" or n < 2:
        return given
    return _theorem(K, data, name, n, code)


def _theorem(K: Numbers, data: Json, name: str, n: int, code: Any) -> Any:
    K = K.unwatched
    if name == "beta":
        return code.phased_sgd.theorem_beta_printed(K, n, number(data["L0"]), number(data["R"]))
    return code.noisy_frank_wolfe.theorem_alpha_printed(K, n)


@RUNS.of("Alg:phased")
def _phased(K: Numbers, variant: str, data: Json, given: _Given) -> VectorRun:
    W, records = feasible_set(data["set"]), dataset(data["dataset"])
    code, trace = given.code, given.trace
    noise = {"sigma": code.phased_sgd.sigma_printed}
    if variant == "tight":
        noise["sigma"] = tight_sigma
    p = code.phased_sgd.phased_parameters(
        K,
        len(records),
        _gll(data, 2),
        W,
        epsilon=number(data["epsilon"]),
        delta=number(data["delta"]),
        D=optional(data["D"]),
        rank=optional(data["rank"]),
        beta=printed_default(K, variant, data, "beta", code),
        alpha=optional(data["alpha"]),
        start=None if data["start"] is None else numbers(data["start"]),
        oracle=_chosen_oracle(data, code),
        average=data["average"],
        unproven=True,  # a vector says what is computed; broken parts are among its inputs
        **noise,
    )
    if data.get("step") == "tuned":
        p = code.tuned.tuned_parameters(K.unwatched, p)
    code.phased_sgd.checked_points(K, p.gll, records, W, p.start)  # the records of a vector are public
    trace.mark(0, "beta", p.smoothing.beta)
    trace.mark(0, "alpha", p.smoothing.alpha)
    done = _body(code.phased_sgd, "phased_sgd", variant)(K, records, p, given.tape, trace)
    return given.result(w=done.w)


# ------------------------------------------------------------------------------------------ Algorithm 3


@RUNS.of("Alg:nfw")
def _frank_wolfe(K: Numbers, variant: str, data: Json, given: _Given) -> VectorRun:
    W, records = feasible_set(data["set"]), dataset(data["dataset"])
    code, module, trace = given.code, given.code.noisy_frank_wolfe, given.trace
    p = module.frank_wolfe_parameters(
        K,
        len(records),
        _gll(data, 1),
        W,
        epsilon=number(data["epsilon"]),
        delta=number(data["delta"]),
        start=None if data["start"] is None else numbers(data["start"]),
        T=data["T"],
        beta=optional(data["beta"]),
        alpha=printed_default(K, variant, data, "alpha", code),
        oracle=_chosen_oracle(data, code),
        noise=data["noise"],
        scale=module.scale_tight if variant == "tight" else module.scale_printed,
        unproven=True,
    )
    code.phased_sgd.checked_points(K, p.gll, records, W, p.start)
    for name, value in (("D", p.D), ("beta", p.smoothing.beta), ("alpha", p.smoothing.alpha)):
        trace.mark(0, name, value)
    done = _body(module, "noisy_frank_wolfe", variant)(K, records, p, given.tape, trace)
    return given.result(w=done.w)


# ------------------------------------------------------------------------------------- Algorithms 4 and 5


@RUNS.of("alg:polySFW")
def _poly(K: Numbers, variant: str, data: Json, given: _Given) -> VectorRun:
    return _smooth(K, variant, data, given, given.code.poly_sfw, "poly_sfw", "noise")


@RUNS.of("alg:nSFW")
def _noisy(K: Numbers, variant: str, data: Json, given: _Given) -> VectorRun:
    return _smooth(K, variant, data, given, given.code.noisy_sfw, "noisy_sfw", "adaptive")


def _smooth(
    K: Numbers, variant: str, data: Json, given: _Given, module: Any, name: str, tight_option: str
) -> VectorRun:
    loss, W, records = smooth_loss(data), feasible_set(data["set"]), dataset(data["dataset"])
    declared_D = optional(data["D"])
    D = W.diameter(K, loss.p) if declared_D is None else K(declared_D)
    given.trace.mark(0, "D", D)
    options: dict[str, Any] = {"start": _start(K, data), "D": D, "trace": given.trace}
    if variant == "tight":
        body, first, option = getattr(module, f"{name}_tight"), data["T"], tight_option
    else:
        body, first, option = _body(module, name, variant), data["rounds"], "exact_budget"
    privacy = (number(data["epsilon"]), number(data["delta"]))
    done = body(K, loss, W, records, first, data["b"], *privacy, given.tape, **options, **{option: data[option]})
    return given.result(w=done.output)


# ------------------------------------------------------------------------------------------ Algorithm 6


def _plan(data: Json, code: Any) -> tuple[Any, ...]:
    return tuple(code.strongly_convex.Phase(phase["n"], phase["T"], number(phase["lambda"])) for phase in data["plan"])


@RUNS.of("Alg:PGPSMD")
def _guided(K: Numbers, variant: str, data: Json, given: _Given) -> VectorRun:
    code = given.code
    done = _body(code.proximal_guided, "proximally_guided", variant)(
        K,
        weak_loss(data),
        feasible_set(data["set"]),
        dataset(data["dataset"]),
        rounds=data["rounds"],
        plan=_plan(data, code),
        mu=number(data["mu"]),
        tape=given.tape,
        start=_start(K, data),
        beta=optional(data["beta"]),
        trace=given.trace,
    )
    return given.result(done.largest_gap, w=done.w)


# ----------------------------------------------------------------------------------------------- draws


@DRAWS.of("Alg:gll_oracle")
def _oracle_draws(variant: str, data: Json, code: Any) -> Iterable[Draw]:
    return ()


@DRAWS.of("Alg:phased")
def _phased_draws(variant: str, data: Json, code: Any) -> Iterable[Draw]:
    return code.phased_sgd.draws(len(data["dataset"]), len(data["dataset"][0]["x"]))  # type: ignore[no-any-return]


@DRAWS.of("Alg:nfw")
def _frank_wolfe_draws(variant: str, data: Json, code: Any) -> Iterable[Draw]:
    J, T, n = _vertices(data), data["T"], len(data["dataset"])
    epsilon, delta = number(data["epsilon"]), number(data["delta"])
    steps = code.noisy_frank_wolfe.theorem_steps(Float64(), n, J, epsilon, delta) if T is None else T
    return code.noisy_frank_wolfe.draws(steps, J, data["noise"])  # type: ignore[no-any-return]


def _vertices(data: Json) -> int:
    return int(feasible_set(data["set"]).J)  # type: ignore[attr-defined]


@DRAWS.of("alg:polySFW")
def _poly_draws(variant: str, data: Json, code: Any) -> Iterable[Draw]:
    n, J = len(data["dataset"]), _vertices(data)
    if variant == "tight":
        return code.poly_sfw.tight_draws(n, data["T"], J, data["noise"])  # type: ignore[no-any-return]
    return code.poly_sfw.draws(n, data["rounds"], J)  # type: ignore[no-any-return]


@DRAWS.of("alg:nSFW")
def _noisy_draws(variant: str, data: Json, code: Any) -> Iterable[Draw]:
    n, d = len(data["dataset"]), len(data["dataset"][0]["x"])
    if variant == "tight":
        return code.noisy_sfw.tight_draws(n, data["T"], d)  # type: ignore[no-any-return]
    return code.noisy_sfw.draws(n, data["rounds"], d)  # type: ignore[no-any-return]


@DRAWS.of("Alg:PGPSMD")
def _guided_draws(variant: str, data: Json, code: Any) -> Iterable[Draw]:
    rounds, d = data["rounds"], len(data["dataset"][0]["x"])
    calls = rounds if variant == "printed" else rounds - 1
    return code.proximal_guided.guided_draws(_plan(data, code), d, calls, rounds)  # type: ignore[no-any-return]
