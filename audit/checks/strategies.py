"""Hypothesis strategies for the setting of the paper: shared by our tests, the statement audits and your own tests.

Everything drawn is exact (ints and Fractions, mostly multiples of 2^−20), so that one example means the same in every
number system; convert with `K(...)` and `K.vector(...)`. Everything shrinks towards small integers.

    from hypothesis import given
    from dpso import strategies as st

    @given(st.gll_neighbours(max_size=5))
    def test_my_gradient_has_the_claimed_sensitivity(case):
        loss, S, S2 = case
        ...

| strategy | draws |
|---|---|
| `dyadics(low, high)` | a Fraction in [low, high] |
| `norms(low, high)` | an exponent p ∈ [low, high] ⊆ [1, ∞] |
| `vectors(dim, size)`, `in_ball(dim, p, radius)` | a tuple of Fractions; with ‖·‖_p ≤ radius |
| `feasible_sets(dim)`, `points_in(set)` | a `FeasibleSet`; an exact point of it |
| `scalar_losses()`, `weak_scalar_losses()` | a convex / weakly convex loss on the line |
| `smooth_losses(p)`, `weakly_convex_losses(p)` | a loss on ℝ^d with its declared constants |
| `glls(p)`, `gll_examples(loss, dim)` | a generalised linear loss; a record that it admits |
| `examples(dim, p, R)` | an `Example` with ‖x‖_q ≤ R |
| `gll_datasets()`, `gll_neighbours()` | (GLL, dataset), (GLL, dataset, neighbour) |
| `neighbouring_datasets(records)` | a pair of neighbours |
| `parameters()` | n, d, p, ε, δ, L0, R, D as a `Parameters` |

To look for a worst case, call `hypothesis.target(ratio)` in the test, or put `audit.auditor.search.climb.climb` on top.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from math import ceil, floor, inf
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as hs
from hypothesis.strategies import SearchStrategy

from reference.numerics.numbers import INF, Ball, dual_exponent, norm
from reference.numerics.preconditions import require
from reference.setting.data import Example, replace_one
from reference.setting.losses import (
    GLL,
    MCP,
    SCAD,
    Absolute,
    EpsilonInsensitive,
    GemanMcClure,
    Hinge,
    Huber,
    Logistic,
    NegativeQuadratic,
    NegativeSquare,
    Penalised,
    PiecewiseLinear,
    Quantile,
    RobustPhaseRetrieval,
    ScalarLoss,
    Sigmoid,
    SignedQuadratic,
    SmoothPredictorLoss,
    SquaredTanh,
    SquareResidual,
    TanhRegression,
    TanhResidual,
    WeakPredictorLoss,
    WeakScalarLoss,
)
from reference.setting.sets import (
    Box,
    FeasibleSet,
    L2Ball,
    LpBall,
    Polytope,
    Simplex,
    WholeSpace,
    box_polytope,
    l1_ball,
)

_Z = TypeVar("_Z")
Rational: TypeAlias = "int | Fraction"
ExactVector: TypeAlias = tuple[Fraction, ...]
GRID_BITS = 20


# ---------------------------------------------------------------------------------------------- numbers


@cache
def dyadics(low: Rational, high: Rational) -> SearchStrategy[Fraction]:
    """Fractions in [low, high]: integers, quarters and multiples of 2^−20, and the two ends themselves."""
    require(low <= high, "low", low, f"be at most high = {high}")
    grids = [_multiples(low, high, scale) for scale in (1, 4, 1 << GRID_BITS)]
    return hs.one_of(*(g for g in grids if g is not None), hs.sampled_from([Fraction(low), Fraction(high)]))


def _multiples(low: Rational, high: Rational, scale: int) -> SearchStrategy[Fraction] | None:
    first, last = ceil(low * scale), floor(high * scale)
    if first > last:
        return None
    return hs.integers(first, last).map(lambda k: Fraction(k, scale))


@cache
def positives(high: Rational = 4) -> SearchStrategy[Fraction]:
    """Fractions in [1/16, high]."""
    return dyadics(Fraction(1, 16), high)


@cache
def norms(low: Rational = 1, high: Rational | float = INF) -> SearchStrategy[Any]:
    """Exponents p ∈ [low, high]: the usual ones (1, 2, ∞), a few rationals, and rationals between."""
    usual: list[Any] = [1, 2, INF, Fraction(3, 2), 3, Fraction(5, 4), Fraction(17, 16), 4, 10]
    fits = [p for p in usual if low <= p <= high]
    top = 8 if high == inf else Fraction(high)
    between = dyadics(low, max(top, low))
    return hs.one_of(hs.sampled_from(fits), between) if fits else between


# ---------------------------------------------------------------------------------------------- vectors


def dims(high: int = 4) -> SearchStrategy[int]:
    """Dimensions 1, …, high."""
    return hs.integers(1, high)


@cache
def vectors(dim: int, size: Rational = 4) -> SearchStrategy[ExactVector]:
    """Vectors with entries in [−size, size]."""
    return hs.tuples(*[dyadics(-size, size)] * dim)


@hs.composite
def in_ball(draw: hs.DrawFn, dim: int, p: Any, radius: Rational = 1) -> ExactVector:
    """Vectors with ‖u‖_p ≤ radius, exactly; many of them on the sphere but for a scale rounded down to the grid."""
    u = draw(vectors(dim, 1))
    if not any(u) or radius == 0:
        return (Fraction(0),) * dim
    K = Ball(128)
    size = norm(K, K.vector(u), p)
    room = Fraction(radius) / (size.mid + size.rad)
    grid = 1 << GRID_BITS
    factor = Fraction(floor(room * grid), grid)
    if factor <= 1 or draw(hs.booleans()):
        return tuple(x * factor for x in u)
    return u


# ------------------------------------------------------------------------------------------------- sets


@cache
def feasible_sets(dim: int | None = None, bounded: bool = True) -> SearchStrategy[FeasibleSet]:
    """Balls, boxes, simplices and polytopes; with `bounded=False` also ℝ^d."""
    if dim is None:
        return dims(3).flatmap(lambda d: feasible_sets(d, bounded))
    kinds: list[SearchStrategy[FeasibleSet]] = [
        hs.builds(L2Ball, vectors(dim, 2), positives()),
        hs.builds(LpBall, vectors(dim, 2), positives(), norms()),
        _boxes(dim, Box),
        hs.builds(Simplex, hs.just(dim), positives()),
        hs.builds(Polytope, hs.lists(vectors(dim, 2), min_size=1, max_size=5)),
        hs.builds(l1_ball, hs.just(dim), positives()),
        _boxes(dim, box_polytope),
    ]
    return hs.one_of(*kinds, *([] if bounded else [hs.just(WholeSpace(dim))]))


def _boxes(dim: int, make: Callable[[Any, Any], FeasibleSet]) -> SearchStrategy[FeasibleSet]:
    def build(lower: ExactVector, sides: ExactVector) -> FeasibleSet:
        return make(lower, [a + abs(s) for a, s in zip(lower, sides, strict=True)])

    return hs.builds(build, vectors(dim, 2), vectors(dim, 2))


def points_in(W: FeasibleSet) -> SearchStrategy[ExactVector]:
    """Exact points of W, the extreme ones among them."""
    if isinstance(W, LpBall):
        centre = W.exact_centre
        return in_ball(W.dim, W.p, W.radius).map(lambda u: tuple(c + x for c, x in zip(centre, u, strict=True)))
    if isinstance(W, Box):
        return hs.tuples(*(dyadics(a, b) for a, b in zip(W.lower, W.upper, strict=True)))
    if isinstance(W, Simplex | Polytope):
        weights = hs.lists(hs.integers(0, 4), min_size=W.J, max_size=W.J)
        return weights.map(partial(_combination, W.exact_vertices))
    return vectors(W.dim)


def _combination(vertices: tuple[ExactVector, ...], weights: list[int]) -> ExactVector:
    total = sum(weights)
    if total == 0:
        return vertices[0]
    columns = zip(*vertices, strict=True)
    return tuple(sum((k * x for k, x in zip(weights, c, strict=True)), Fraction(0)) / total for c in columns)


# ------------------------------------------------------------------------------------- losses on the line


@cache
def scalar_losses() -> SearchStrategy[ScalarLoss]:
    """Convex losses ℓ^{(y)} of every family, with their constants."""
    y = dyadics(-2, 2)
    label = hs.sampled_from([1, -1])
    return hs.one_of(
        hs.builds(Absolute, y),
        hs.builds(Hinge, label),
        hs.builds(Quantile, y, _taus()),
        hs.builds(EpsilonInsensitive, y, dyadics(0, 1)),
        hs.builds(Huber, y, positives(2)),
        hs.builds(Logistic, label),
        convex_piecewise_linear(),
    )


def _taus() -> SearchStrategy[Fraction]:
    return dyadics(Fraction(1, 16), Fraction(15, 16))


@hs.composite
def convex_piecewise_linear(draw: hs.DrawFn, max_kinks: int = 3) -> PiecewiseLinear:
    """Convex piecewise linear losses with up to `max_kinks` kinks in [−2, 2] and slopes in [−2, 2]."""
    kinks = sorted(draw(hs.sets(dyadics(-2, 2), max_size=max_kinks)))
    slopes = sorted(draw(vectors(len(kinks) + 1, 2)))
    return PiecewiseLinear(kinks, slopes, draw(dyadics(-1, 1)))


@cache
def weak_scalar_losses(closed_form: bool = False) -> SearchStrategy[WeakScalarLoss]:
    """Weakly convex losses on the line; with `closed_form` only those whose prox is known."""
    kinds: list[SearchStrategy[WeakScalarLoss]] = [
        hs.builds(SquareResidual, dyadics(0, 4), positives()),
        hs.builds(MCP, positives(), positives()),
        hs.builds(SCAD, positives(), dyadics(Fraction(17, 8), 8)),
        hs.builds(NegativeSquare, positives(), positives()),
    ]
    return hs.one_of(*kinds, *([] if closed_form else [hs.builds(TanhResidual, dyadics(-2, 2))]))


# --------------------------------------------------------------------------------------- losses on ℝ^d


def smooth_losses(p: Any = 2) -> SearchStrategy[SmoothPredictorLoss]:
    """Smooth losses with respect to ‖·‖_p; the quadratics are declared for ‖w‖_p ≤ B."""
    norm_p = hs.just(p)
    return hs.one_of(
        hs.builds(Sigmoid, positives(), norm_p),
        hs.builds(GemanMcClure, positives(), positives(), norm_p),
        hs.builds(SquaredTanh, positives(), norm_p),
        hs.builds(SignedQuadratic, positives(), positives(), positives(), norm_p),
    )


def weakly_convex_losses(p: Any = 2) -> SearchStrategy[WeakPredictorLoss]:
    """Weakly convex losses with respect to ‖·‖_p; two of them are declared for ‖w‖_p ≤ B."""
    norm_p = hs.just(p)
    penalties = hs.one_of(hs.builds(MCP, positives(), positives()), hs.builds(SCAD, positives(), hs.integers(3, 6)))
    return hs.one_of(
        hs.builds(RobustPhaseRetrieval, positives(), positives(), norm_p),
        hs.builds(TanhRegression, positives(), norm_p),
        hs.builds(NegativeQuadratic, positives(), positives(), positives(), norm_p),
        hs.builds(Penalised, penalties, positives(), norm_p),
    )


@dataclass(frozen=True)
class _WithWidth:
    """`family(y, width)` as a function of the label alone, with a readable repr."""

    family: Callable[[Any, Any], ScalarLoss]
    width: Fraction

    def __call__(self, y: Any) -> ScalarLoss:
        return self.family(y, self.width)

    def __repr__(self) -> str:
        return f"{self.family.__name__}(·, {self.width})"


@hs.composite
def glls(draw: hs.DrawFn, p: Any = None) -> GLL:
    """Generalised linear losses with R ∈ [1/16, 4] and the smallest L0 of their family (labels: `gll_examples`)."""
    p = draw(norms()) if p is None else p
    family, L0 = draw(
        hs.one_of(
            hs.sampled_from([(Absolute, Fraction(1)), (Hinge, Fraction(1)), (Logistic, Fraction(1))]),
            _taus().map(lambda t: (_WithWidth(Quantile, t), max(t, 1 - t))),
            dyadics(0, 1).map(lambda width: (_WithWidth(EpsilonInsensitive, width), Fraction(1))),
            positives(2).map(lambda width: (_WithWidth(Huber, width), width)),
        )
    )
    return GLL(family, L0, draw(positives()), p)


# --------------------------------------------------------------------------------- records and datasets


def examples(
    dim: int = 2, p: Any = 2, R: Rational = 1, labels: SearchStrategy[Any] | None = None
) -> SearchStrategy[Example]:
    """Records (x, y) with ‖x‖_q ≤ R, q dual to p; labels in [−1, 1] unless a strategy is given."""
    return hs.builds(Example, in_ball(dim, dual_exponent(p), R), labels if labels is not None else dyadics(-1, 1))


def gll_examples(loss: GLL, dim: int) -> SearchStrategy[Example]:
    """Records that `loss` admits: ±1 labels for hinge and logistic, real ones otherwise."""
    binary = loss.family in (Hinge, Logistic)
    return examples(dim, loss.p, loss.R, hs.sampled_from([1, -1]) if binary else dyadics(-2, 2))


@hs.composite
def gll_datasets(
    draw: hs.DrawFn, min_size: int = 1, max_size: int = 6, dim: int | None = None, p: Any = None
) -> tuple[GLL, tuple[Example, ...]]:
    """A generalised linear loss and a dataset that it admits."""
    loss, records = draw(_gll_records(dim, p))
    return loss, tuple(draw(hs.lists(records, min_size=min_size, max_size=max_size)))


@hs.composite
def gll_neighbours(
    draw: hs.DrawFn,
    min_size: int = 1,
    max_size: int = 6,
    dim: int | None = None,
    p: Any = None,
) -> tuple[GLL, tuple[Example, ...], tuple[Example, ...]]:
    """A generalised linear loss and two neighbouring datasets that it admits."""
    loss, records = draw(_gll_records(dim, p))
    return (loss, *draw(neighbouring_datasets(records, min_size, max_size)))


@hs.composite
def _gll_records(draw: hs.DrawFn, dim: int | None, p: Any) -> tuple[GLL, SearchStrategy[Example]]:
    loss = draw(glls(p))
    return loss, gll_examples(loss, draw(dims()) if dim is None else dim)


@hs.composite
def neighbouring_datasets(
    draw: hs.DrawFn,
    records: SearchStrategy[_Z] | None = None,
    min_size: int = 1,
    max_size: int = 6,
) -> tuple[tuple[_Z, ...], tuple[_Z, ...]]:
    """Two datasets that differ in exactly one record; the records are `examples()` unless given."""
    source: SearchStrategy[Any] = examples() if records is None else records
    S = tuple(draw(hs.lists(source, min_size=max(1, min_size), max_size=max_size)))
    i = draw(hs.integers(0, len(S) - 1))
    return S, replace_one(S, i, draw(source.filter(lambda z: z != S[i])))


# ------------------------------------------------------------------------------------------- parameters


@dataclass(frozen=True)
class Parameters:
    """What the theorems are stated in: sample size, dimension, norm, privacy and the constants of the problem."""

    n: int
    dim: int
    p: Any
    epsilon: Fraction
    delta: Fraction
    L0: Fraction
    R: Fraction
    D: Fraction


def parameters(max_n: int = 1 << 20, max_dim: int = 1000) -> SearchStrategy[Parameters]:
    """n and d over several orders of magnitude, ε ∈ [1/100, 8], δ ∈ [10^−12, 1/2], constants in [1/16, 16]."""
    return hs.builds(
        Parameters,
        n=_magnitudes(max_n),
        dim=_magnitudes(max_dim),
        p=norms(),
        epsilon=hs.one_of(hs.sampled_from([Fraction(1), Fraction(1, 100), Fraction(1, 10)]), positives(8)),
        delta=hs.one_of(hs.integers(1, 12).map(_power_of_ten), dyadics(Fraction(1, 1024), Fraction(1, 2))),
        L0=positives(16),
        R=positives(16),
        D=positives(16),
    )


def _power_of_ten(k: int) -> Fraction:
    return Fraction(1, 10**k)


def _magnitudes(high: int) -> SearchStrategy[int]:
    """Integers in [1, high], uniform in their number of bits, powers of two among them."""
    powers = hs.integers(0, high.bit_length() - 1).map(lambda k: 1 << k)
    return hs.one_of(powers, powers.flatmap(lambda m: hs.integers(m, min(high, 2 * m))))


__all__ = [
    "Parameters",
    "convex_piecewise_linear",
    "dims",
    "dyadics",
    "examples",
    "feasible_sets",
    "gll_datasets",
    "gll_examples",
    "gll_neighbours",
    "glls",
    "in_ball",
    "neighbouring_datasets",
    "norms",
    "parameters",
    "points_in",
    "positives",
    "scalar_losses",
    "smooth_losses",
    "vectors",
    "weak_scalar_losses",
    "weakly_convex_losses",
]
