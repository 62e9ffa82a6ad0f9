"""What the formulas of `reference/` give at generic parameters, compared with `tests/reference/figures.json`.

A slip in a constant, a sign, a condition or an index changes a figure; the tests beside the modules say why a formula
is right, this says that it is still the same one, everywhere. A recorded figure is a weaker witness than an independent
formula: nobody derived it a second time. So the record stands behind the other tests and replaces none of them.

Every public function of the modules, and every public method of the specimens, is called with the `arguments` that its
parameters ask for by name and type; `expressions` has what no list of arguments leads to. A refusal is a figure too.

Two number systems: balls, whose figures have no rounding, and `Coarse`, which says that it rounds at 2^{−30} and
computes with 40 digits: what is reserved for rounding is then a visible share of what is returned, with all its digits.

`python -m figures` (in `tests/helpers`) writes the record; its diff says what a change of the reference changed.
"""

from __future__ import annotations

import inspect
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import GeneratorType, ModuleType
from typing import Any

import arguments
import expressions
from arguments import COARSE, EDGES, EXACT, LEFT_OUT, OBJECTS, POOL, SYSTEMS, Make, options

from reference.convex.oracle import Counter
from reference.numerics.numbers import BallScalar, Numbers, Vector
from reference.paper.algorithms import ALGORITHMS
from reference.paper.events import Trace
from reference.paper.registry import Counterexample
from reference.vectors import load
from reference.vectors.execute import float64

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "tests" / "reference" / "figures.json"
OWN_RECORDS = ("paper", "vectors")
VECTORS = "reference.vectors.execute"
POINTS = 8
"""Generic points of a function."""
DIGITS = 17
LONGEST = 48
"""Characters of a figure that are kept; of the others a hash."""

Outcome = str


# -------------------------------------------------------------------------------------------- outcomes


def as_text(value: Any) -> Outcome:
    """A figure as text: numbers with `DIGITS` digits (fewer for floats, which the machine's library may round)."""
    match value:
        case bool() | int() | str() | None:
            return repr(value)
        case Fraction():
            return str(value)
        case float():
            return f"{value:.9g}"
        case BallScalar():
            sure = value.rad * 10 ** (DIGITS + 3) <= max(abs(value.mid), Fraction(1, 10**12))
            return _digits(value.mid) if sure else "wide"
        case Counter():
            return f"Counter{value.calls, value.values, value.subgradients}"
        case Vector() | tuple() | list() | GeneratorType() | Trace():
            return f"({', '.join(map(as_text, value))})"
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(as_text, value)))}}}"
        case Mapping():
            return f"{{{', '.join(f'{as_text(k)}: {as_text(v)}' for k, v in value.items())}}}"
        case Numbers() | ModuleType():
            return type(value).__name__
    if hasattr(value, "context") and hasattr(value, "_mpf_"):
        return _digits(Fraction(str(value.context.nstr(value, 30)))) if value.context.isfinite(value) else str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}({', '.join(as_text(getattr(value, f.name)) for f in fields(value))})"
    shown = repr(value)
    return getattr(value, "__name__", type(value).__name__) if " at 0x" in shown else shown


def _digits(x: Fraction) -> str:
    """A number; what is below 1e-30 may be the rounding of 0."""
    if abs(x) < Fraction(1, 10**30):
        return "0"
    rounded = Context(prec=DIGITS)
    return str(rounded.divide(Decimal(x.numerator), Decimal(x.denominator)).normalize(rounded))


def outcome(call: Callable[[], Any]) -> Outcome:
    """What a call gives, or how it refuses."""
    try:
        return as_text(call())
    except Exception as error:  # noqa: BLE001 - a refusal is a figure, whatever it is
        return f"! {type(error).__name__}: {error}"


def _short(at: str, text: Outcome) -> Outcome:
    """A summary is kept as it is printed."""
    return (
        text
        if len(text) <= LONGEST or at == "summary"
        else f"{text[:LONGEST]}… {sha256(text.encode()).hexdigest()[:12]}"
    )


# --------------------------------------------------------------------------------------------- calling


def _chosen(name: str, parameter: str, made: list[Make], point: int) -> Make:
    """Which of the values a parameter has at a point: long lists are gone through, short ones mixed."""
    key = f"{name} {parameter}" if len(made) > 4 else f"{name} {parameter} {point}"
    return made[(zlib.crc32(key.encode()) + point) % len(made)]


def _parameters(function: Callable[..., Any]) -> list[tuple[str, str, bool]]:
    """Name, annotation and whether there is a default."""
    found = inspect.signature(function).parameters.values()
    return [
        (p.name, str(p.annotation).strip("'"), p.default is not p.empty)
        for p in found
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]


def results(name: str, function: Callable[..., Any], points: int = POINTS) -> Iterator[tuple[str, Outcome]]:
    """The figures of one function: at the generic points, and at one edge of each parameter."""
    parameters = _parameters(function)
    asked = [(p, kind) for p, kind, default in parameters if p != "K" and (options(POOL, p, kind, name) or not default)]
    if any(not options(POOL, p, kind, name) for p, kind in asked):
        return
    takes_k = any(p == "K" for p, _, _ in parameters)

    def at(point: int, changed: str = "", value: Make | None = None, left_out: Collection[str] = ()) -> Outcome:
        def run(K: Numbers) -> Outcome:
            def call() -> Any:
                given = [(p, options(POOL, p, kind, name)) for p, kind in asked if p not in left_out]
                made = {p: _chosen(name, p, choice, point)(K) for p, choice in given}
                if value is not None:
                    made[changed] = value(K)
                found = function(**({"K": K} if takes_k else {}), **made)
                return (found, made["trace"]) if isinstance(made.get("trace"), Trace) else found

            return outcome(call)

        return _joined(run(K) for K in SYSTEMS.get(name, (EXACT, COARSE)))

    if not asked and not takes_k:
        yield from _of_a_run(function)
        return
    most = max([points, *(min(len(options(POOL, p, kind, name)), 3 * points) for p, kind in asked)])
    found = [at(point) for point in range(most)]
    yield from ((str(point), text) for point, text in enumerate(found))
    base = next((point for point, text in enumerate(found) if not text.startswith("!")), 0)
    if defaults := [p for p, _, default in parameters if default]:
        yield "defaults", at(base, left_out=defaults)
    for p, kind in asked:
        for i, value in enumerate(options(EDGES, p, kind)):
            yield f"{p} {i}", at(base, p, value)


def _of_a_run(function: Callable[[], Any]) -> Iterator[tuple[str, Outcome]]:
    """What a function without arguments gives; of a counterexample each number by its name."""
    found = function()
    if not isinstance(found, Counterexample):
        yield "", as_text(found)
        return
    yield "shown", as_text(found.shown)
    yield "summary", found.summary
    yield "against", f"{found.bound} {found.against}"
    yield from ((f"number {name}", as_text(value)) for name, value in found.numbers.items())
    yield from ((f"hypothesis {h.text}", as_text(h.holds)) for h in found.hypotheses)


def _joined(texts: Iterable[Outcome]) -> Outcome:
    """One text, if all systems say the same."""
    return " | ".join(dict.fromkeys(texts))


def functions_of(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions that a module defines; of counterexamples those without arguments."""
    exhibits = module.__name__.endswith(".counterexamples")
    for name, value in vars(module).items():
        plain = inspect.unwrap(value) if callable(value) else None
        own = inspect.isfunction(plain) and value.__module__ == module.__name__ and not name.startswith("_")
        if own and name not in LEFT_OUT and not (exhibits and inspect.signature(value).parameters):
            yield name, value


def members_of(thing: Any) -> Iterator[tuple[str, Any]]:
    """Its public methods, bound, and its properties."""
    for name in dir(type(thing)):
        if not name.startswith("_") or name in ("__call__", "__add__", "__eq__"):
            held = inspect.getattr_static(type(thing), name, None)
            if inspect.isfunction(held):
                yield name, getattr(thing, name)
            elif held is not None and hasattr(held, "__get__"):
                yield name, held


def figures(module: str) -> dict[str, dict[str, Outcome]]:
    """All figures of a module, by function and by method of a specimen."""
    found: dict[str, dict[str, Outcome]] = {}
    if module == VECTORS:
        found["refusals"] = dict(_refusals())
    elif module.split(".")[1] not in OWN_RECORDS:
        found = {name: dict(results(name, function)) for name, function in functions_of(import_module(module))}
    for i, make in enumerate(OBJECTS.get(module, ())):
        for name, member in members_of(make(EXACT)):
            if callable(member):
                found[f"{i} {name}"] = dict(results(f"{i} {name}", _bound(make, name, member), 4))
            else:
                found[f"{i} {name}"] = {"": _joined(outcome(partial(_asked, make, name, K)) for K in (EXACT, COARSE))}
        found[f"{i} made"] = dict(_remade(make(EXACT)))
    for text in expressions.EXPRESSIONS.get(module, ()):
        names = {**vars(arguments), **vars(expressions), **vars(import_module(module)), "F": Fraction}
        found.setdefault("expressions", {})[text] = _joined(
            outcome(partial(eval, text, {**names, "K": K})) for K in (EXACT, COARSE)
        )
    return {name: {at: _short(at, text) for at, text in texts.items()} for name, texts in found.items() if texts}


def _remade(thing: Any) -> Iterator[tuple[str, Outcome]]:
    """What becomes of a specimen that is made with another value in the place of one."""
    for field in fields(thing) if is_dataclass(thing) else ():
        if field.init:
            for value in (0, -1, Fraction(1, 9), 7, "x"):
                yield f"{field.name} = {value}", outcome(partial(replace, thing, **{field.name: value}))


def _refusals() -> Iterator[tuple[str, Outcome]]:
    """How the reference refuses what the vectors say that it refuses: they say for which reason, not in which words."""
    for algorithm in ALGORITHMS:
        for edition in algorithm.editions:
            for case in load(algorithm.label, edition)["cases"]:
                if case["result"] == "reject":
                    yield case["id"], str(float64(case)["reject"])


def _asked(make: Make, name: str, K: Numbers) -> Any:
    """A property of a specimen."""
    return getattr(make(K), name)


def _bound(make: Make, name: str, model: Callable[..., Any]) -> Callable[..., Any]:
    """The method of a specimen that is made for the number system of the call."""

    def call(K: Numbers, **made: Any) -> Any:
        takes = "K" in inspect.signature(model).parameters
        return getattr(make(K), name)(**({"K": K} if takes else {}), **made)

    parameters = [p for p in inspect.signature(model).parameters.values() if p.name != "K"]
    system = inspect.Parameter("K", inspect.Parameter.KEYWORD_ONLY)
    call.__signature__ = inspect.Signature([*parameters, system])  # type: ignore[attr-defined]
    return call


def modules() -> list[str]:
    """The modules that have figures: the text and the vectors have records of their own, and only expressions."""
    found = sorted((ROOT / "reference").glob("*/[!_]*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in found]
    formulas = [name for name in names if name.split(".")[1] not in OWN_RECORDS]
    return [*formulas, VECTORS, *(name for name in expressions.EXPRESSIONS if name not in formulas)]


def recorded() -> dict[str, dict[str, dict[str, Outcome]]]:
    """The record."""
    found: dict[str, dict[str, dict[str, Outcome]]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def differences(
    then: Mapping[str, Mapping[str, Outcome]], now: Mapping[str, Mapping[str, Outcome]]
) -> Iterator[tuple[str, str, Outcome | None, Outcome | None]]:
    """Function, point, and the figure that was and that is."""
    for name in {**then, **now}:
        old, new = then.get(name, {}), now.get(name, {})
        yield from ((name, at, old.get(at), new.get(at)) for at in {**old, **new} if old.get(at) != new.get(at))


def main() -> None:
    """Write the record."""
    record = {name: found for name in modules() if (found := figures(name))}
    RECORD.write_text(json.dumps(record, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
