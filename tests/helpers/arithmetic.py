"""The client of SPEC.md in other arithmetic: correct programs whose roundings differ. All must pass the vectors.

Each style is a copy of `spec_client` with one thing exchanged: where Algorithm 1 keeps its interval, in which order
sums are taken, how a convex combination is written, or how long the numbers are.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from types import ModuleType, SimpleNamespace
from typing import Any

import mpmath
import spec_client


def fresh() -> ModuleType:
    """A copy of the client's module that can be changed."""
    spec = importlib.util.spec_from_file_location("spec_client_copy", str(spec_client.__file__))
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def summing(add: Callable[[Sequence[Any]], Any]) -> ModuleType:
    """Sums by `add`, everywhere."""
    made = fresh()
    made.math = SimpleNamespace(**{**vars(math), "fsum": lambda terms: add(list(terms))})  # type: ignore[attr-defined]
    return made


def forward(terms: Sequence[float]) -> float:
    """A loop over the terms."""
    return list(accumulate(terms, initial=0.0))[-1]


def pairwise(terms: Sequence[float]) -> float:
    """Halves, as numpy sums."""
    if len(terms) <= 2:
        return sum(terms)
    half = len(terms) // 2
    return pairwise(terms[:half]) + pairwise(terms[half:])


def offsets() -> ModuleType:
    """The client as it is: Algorithm 1 in offsets from m, sums without error."""
    return fresh()


def loops() -> ModuleType:
    """Sums term by term, first to last."""
    return summing(forward)


def backwards() -> ModuleType:
    """Sums term by term, last to first."""
    return summing(lambda terms: forward(terms[::-1]))


def halves() -> ModuleType:
    """Pairwise sums."""
    return summing(pairwise)


def columns() -> ModuleType:
    """Column order, as in Fortran: Σ_i g_i grows record by record, each entry in a running array, then the division."""
    made = summing(forward)

    def total(loss: Any, w: Any, batch: Any) -> list[float]:
        found = [0.0] * len(w)
        for z in reversed(batch):
            for j, value in enumerate(made.gradient(loss, w, z)):
                found[j] += value
        return found

    made.total = total  # type: ignore[attr-defined]
    return made


def positions() -> ModuleType:
    """Algorithm 1 as SPEC.md writes it: a, b, m_t are points of the line, and line 6 subtracts m from m_t."""
    made = summing(forward)

    def search(ell: Any, m: float, q: dict[str, Any], printed: bool, trace: Any = None) -> float:
        value, slope, _ = ell
        r = q["L0"] / q["beta"] * (2 if printed else 1)
        low, high = q.get("M") or (-math.inf, math.inf)
        a, b = max(low, m - r), min(high, m + r)
        made.need(a <= b, "M misses the interval")
        size, unit = (16 * (q["L0"] * q["R"]) ** 2, q["alpha"] ** 2) if printed else (q["L0"] * q["R"], q["alpha"])
        T = 0
        while size > unit * 2.0**T:
            T += 1
        log = trace if trace is not None else made.Trace()
        log.mark(1, "m", m), log.mark(2, "a", a), log.mark(2, "b", b), log.mark(3, "T", T)
        h = lambda u: value(u) + (u - m) ** 2  # noqa: E731
        tested = []
        for t in range(1, T + 1):
            c = (a + b) / 2
            left = h((c + b) / 2) <= h((a + c) / 2) if printed else slope(c) + q["beta"] * (c - m) >= 0
            a, b = (a, c) if left else (c, b)
            log.mark(5, "m_t", c, t), log.mark(6, "keep", "left" if left else "right", t)
            tested.append(c)
        u = min(tested, key=h) if printed else (a + b) / 2
        log.mark(10, "u", u)
        return m - u

    made.search = search  # type: ignore[attr-defined]
    return made


def moves() -> ModuleType:
    """Convex combinations as moves: (1 − μ)w + μv is w + μ(v − w)."""
    made = fresh()

    def mix(a: Sequence[float], s: float, b: Sequence[float], t: float) -> list[float]:
        if abs(s + t - 1) < 1e-15:
            return [x + t * (y - x) for x, y in zip(a, b, strict=True)]
        return [s * x + t * y for x, y in zip(a, b, strict=True)]

    made.mix = mix  # type: ignore[attr-defined]
    return made


def reals(bits: int, positional: bool = False) -> ModuleType:
    """Numbers of `bits` bits, in software."""
    made, context = positions() if positional else fresh(), mpmath.mp.clone()
    context.prec = bits
    names = ("sqrt", "log", "exp", "tanh", "log1p", "erfc", "fsum")
    shim = {name: getattr(context, name) for name in names}
    made.math = SimpleNamespace(**{**vars(math), **shim})  # type: ignore[attr-defined]
    made.float = context.mpf  # type: ignore[attr-defined]
    inner = made.run
    made.run = lambda case: texts(context, inner(case))  # type: ignore[attr-defined]
    return made


def texts(context: Any, value: Any) -> Any:
    """Long numbers as decimal strings, which JSON can carry."""
    if isinstance(value, dict):
        return {key: texts(context, v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [texts(context, v) for v in value]
    return context.nstr(value, 40) if isinstance(value, context.mpf) else value


def extended() -> ModuleType:
    """Numbers of 64 bits, as the 80-bit registers of an x87 have them."""
    return reals(64)


def quadruple() -> ModuleType:
    """Numbers of 113 bits, Algorithm 1 in positions."""
    return reals(113, positional=True)


STYLES = (offsets, positions, loops, backwards, halves, columns, moves, extended, quadruple)
