"""Generic arguments for the functions of `reference/`, by name and type of the parameter, and specimens to ask.

Generic values are no 1, and two that could be confused differ. Edges (0, 1, a bound itself) are put in the place of one
generic value at a time. A parameter that is not here leaves its function out of the record (`figures`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from reference.convex.moreau import Interval
from reference.convex.noisy_frank_wolfe import FrankWolfeParameters, frank_wolfe_parameters, scale_tight
from reference.convex.oracle import (
    ProximalLoss,
    closed_form_oracle,
    oracle,
    oracle_parameters,
    oracle_printed,
    value_oracle,
)
from reference.convex.phased_noise import quadrature_sigma, tight_sigma
from reference.convex.phased_sgd import PhasedParameters, phased_parameters
from reference.numerics.numbers import INF, MP, Ball, Float64, Numbers
from reference.numerics.tape import Draw, ReplayTape, SeededTape, ZeroTape
from reference.paper.events import Trace
from reference.setting import losses as all_losses
from reference.setting.data import Example
from reference.setting.losses import GLL, Absolute, Hinge, Huber, PiecewiseLinear, Quantile
from reference.setting.losses_composite import CovarianceEstimation, DictionaryLearning, TrimmedRegression
from reference.setting.sets import Box, LpBall, Polytope, Region, Simplex, WholeSpace, box_polytope, l1_ball
from reference.smooth.leaks import Cylinder, Decoder, falling_steps
from reference.smooth.regular_spaces import kappa_provable
from reference.smooth.rounding import NOTHING, Reserve
from reference.smooth.rounds import Gradients
from reference.smooth.sensitivity import step_size
from reference.weakly_convex import functions
from reference.weakly_convex.mirror import geometry
from reference.weakly_convex.prox import Bundle, CertifiedProx, Population
from reference.weakly_convex.proximal_guided import GuidedParameters
from reference.weakly_convex.strongly_convex import Phase, scales

F = Fraction
Make = Callable[[Numbers], Any]


class Coarse(MP):
    """40 digits that say they are 9."""

    def __init__(self) -> None:
        super().__init__(40)
        self.name = "coarse"

    @property
    def unit_roundoff(self) -> F:
        return F(1, 2**30)


EXACT = Ball(160)
COARSE = Coarse()


# ------------------------------------------------------------------------------------------- arguments


def vectors(*entries: Sequence[Any]) -> list[Make]:
    return [lambda K, x=x: K.vector([F(v) for v in x]) for x in entries]


def reals(*values: Any) -> list[Make]:
    return [lambda K, v=v: K(F(v)) for v in values]


def given(*values: Any) -> list[Make]:
    return [lambda K, v=v: v for v in values]


def fractions(*values: Any) -> list[Make]:
    return given(*(F(v) for v in values))


ABS, STEEP = GLL(Absolute, F(3, 2), F(5, 4)), GLL(lambda y: Quantile(y, F(2, 3)), F(4, 5), F(7, 3))
SETS = (
    LpBall([F(1, 3), F(-1, 5), 0], F(7, 5), 2),
    Box([-1, F(-1, 3), 0], [F(2, 3), F(3, 4), F(5, 4)]),
    l1_ball(3, F(6, 5)),
    Simplex(3, F(4, 3)),
    LpBall([0, 0, 0], F(9, 8), INF),
    LpBall([F(1, 7), 0, F(2, 7)], F(9, 8), INF),
    LpBall([0, 0, 0], F(8, 7), 1),
    LpBall([0, 0, 0], F(8, 7), F(3, 2)),
    Polytope([[0, 0, 0], [1, F(1, 2), F(1, 3)], [F(-1, 2), F(2, 3), 1], [F(1, 4), F(-3, 4), F(1, 5)]]),
    Polytope([[F(1, 2), 0, F(-1, 3)], [F(-2, 3), F(3, 4), F(1, 5)]]),
    box_polytope([-1, F(-1, 3), 0], [F(2, 3), F(3, 4), F(5, 4)]),
    WholeSpace(3),
)
HULLS = tuple(W for W in SETS if hasattr(W, "vertices"))
SCALAR = (
    Absolute(F(2, 7)),
    Hinge(F(5, 4)),
    Quantile(F(2, 7), F(2, 3)),
    all_losses.EpsilonInsensitive(F(2, 7), F(1, 5)),
    PiecewiseLinear([F(-1, 3), F(1, 2)], [F(-3, 4), F(1, 5), F(6, 5)], F(1, 9)),
    Huber(F(2, 7), F(3, 5)),
    all_losses.Logistic(F(-4, 5)),
)
WEAK_SCALAR = (
    all_losses.SquareResidual(F(3, 4), F(6, 5)),
    all_losses.MCP(F(3, 4), F(5, 2)),
    all_losses.SCAD(F(3, 4), F(7, 2)),
    all_losses.NegativeSquare(F(3, 5), F(6, 5)),
    all_losses.TanhResidual(F(3, 4)),
)
SMOOTH = (
    all_losses.Sigmoid(F(5, 4), F(3, 2)),
    all_losses.GemanMcClure(F(5, 4), F(2, 3), 2),
    all_losses.SquaredTanh(F(5, 4), 1),
    all_losses.SignedQuadratic(F(5, 4), F(9, 4), F(2, 3), 2),
)
WEAK = (
    all_losses.RobustPhaseRetrieval(F(5, 4), F(9, 4), 2),
    all_losses.TanhRegression(F(5, 4), 1),
    all_losses.NegativeQuadratic(F(5, 4), F(9, 4), F(2, 3), F(3, 2)),
    all_losses.Penalised(all_losses.MCP(F(3, 4), F(5, 2)), F(5, 4), 2),
    all_losses.SeparablePenalty(all_losses.SCAD(F(3, 4), F(7, 2)), 3, 2),
    functions.RegularisedRegression(all_losses.MCP(F(3, 4), F(5, 2)), F(5, 4), 3, 2),
)
COMPOSITE = (
    CovarianceEstimation(3, 1, F(5, 4), F(9, 4), 2),
    DictionaryLearning(2, 1, 1, F(5, 4), F(9, 4), F(1, 3), 2),
    TrimmedRegression(2, 1, F(5, 4), F(9, 4), F(2, 3), 2),
)
RECORDS = tuple(
    Example(tuple(F(a, 16) for a in x), F(y, 8))
    for x, y in (
        ((5, -3, 7), 8),
        ((-6, 2, 1), -8),
        ((1, 9, -4), 5),
        ((8, 3, 2), -3),
        ((-2, -7, 5), 8),
        ((3, 4, -9), -8),
        ((0, 6, 6), 2),
        ((-9, 1, 3), 7),
    )
)
LINE = (
    functions.linear(F(2, 3), F(1, 5)),
    functions.quadratic(F(-3, 4), F(1, 3), F(1, 7)),
    functions.absolute(F(3, 2), F(1, 3)),
    functions.square_residual(F(4, 5), F(2, 3)),
    functions.mcp(F(3, 4), F(5, 2)),
    functions.scad(F(3, 4), F(7, 2)),
    functions.absolute(F(-3, 2), F(1, 3)),
)


def _phased(K: Numbers, which: int, n: int = 0) -> PhasedParameters:
    W = (SETS[0], SETS[1], WholeSpace(3), SETS[3], SETS[6], SETS[9])[which]
    more: dict[str, Any] = (
        {"average": "last"},
        {"average": "first", "sigma": tight_sigma},
        {"rank": F(5, 2), "start": [F(1, 3), 0, F(1, 7)]},
        {"sigma": quadrature_sigma, "D": F(7, 2)},
        {"oracle": closed_form_oracle, "average": "first"},
        {"sigma": tight_sigma, "average": "last", "alpha": F(1, 100), "beta": F(9, 2)},
    )[which]
    return phased_parameters(
        K, n or (64, 32, 37, 16, 64, 128)[which], ABS, W, epsilon=F(7, 5), delta=F(1, 2000), unproven=True, **more
    )


def _frank_wolfe(K: Numbers, which: int, n: int = 0) -> FrankWolfeParameters:
    gll = GLL(Absolute, F(3, 2), F(5, 4), 1)
    more: dict[str, Any] = (
        {},
        {"noise": "gumbel", "scale": scale_tight},
        {"T": 7, "oracle": closed_form_oracle, "scale": scale_tight},
        {"T": 5, "alpha": F(1, 50), "beta": F(9, 2), "start": [F(1, 3), 0, F(1, 7)]},
    )[which]
    W = (SETS[2], SETS[3], SETS[8], SETS[2])[which]
    return frank_wolfe_parameters(
        K, n or (64, 300, 37, 128)[which], gll, W, epsilon=F(7, 5), delta=F(1, 2000), unproven=True, **more
    )


def _oracle(K: Numbers, which: int) -> Any:
    M = (Interval(), Interval(F(-1, 3), F(4, 5)), Interval(), Interval(F(-5, 3)))[which]
    beta, alpha = ((F(7, 3), F(1, 50)), (F(5, 2), F(1, 9)), (F(2, 5), 7), (F(40), F(1, 700)))[which]
    return oracle_parameters(K, beta=beta, alpha=alpha, L0=F(3, 2), R=F(5, 4), M=M)


GUIDED = (
    GuidedParameters(2, 5, F(3, 2), F(4, 3), F(7, 5), 10**6, F(7, 5), F(1, 10**5)),
    GuidedParameters(1, 7, F(3, 2), F(4, 3), F(7, 5), 10**8, F(2, 3), F(1, 10**7)),
    GuidedParameters(F(3, 2), 40, F(2, 3), F(5, 3), F(9, 5), 10**7, 2, F(1, 10**6)),
    GuidedParameters(2, 3, F(3, 2), F(4, 3), F(7, 5), 2000, F(7, 5), F(1, 10**5)),
)
PLANS = ((Phase(40, 6, F(1, 3)), Phase(23, 4, F(2, 3))), (Phase(17, 9),), (Phase(64, 12, F(3, 2)),))
POPULATION = tuple(Population(loss, RECORDS[:3], (F(1, 2), F(1, 3), F(1, 6))) for loss in (WEAK[0], WEAK[4], WEAK[5]))

HALVES: list[Make] = fractions("1/3", "-2/5", "5/4", "3/4", "0")
W3 = vectors(("1/3", "-1/5", "2/7"), ("1/4", "2/3", "1/5"), ("-2/3", "1/7", "5/4"), ("1/5", "1/2", "0"))
POOL: dict[str, list[Make]] = {
    # counts
    "n": given(37, 64, 300, 1024, 10**5, 10**9),
    "n: int | None": given(None, 10**6),
    "n: Fraction | int": fractions("2/3", "-3/5", 0),
    "d": given(3, 7, 44, 1000, 2),
    "dim": given(3, 5),
    "b": given(11, 40, 24, 1000, 10**6),
    "R: int": given(2, 3, 4, 5, 6),
    "J": given(3, 6, 21, 1000, 2),
    "T": given(5, 8, 13, 32, 3),
    "T_k": given(5, 8, 13, 1),
    "t": given(3, 5, 2, 9, 1),
    "k": given(2, 3, 4, 1),
    "r": given(2, 3, 1, 4),
    "i": given(2, 3, 5, 11),
    "steps: int": given(4, 8, 13, 3, 2),
    "steps: int | None": given(None, 3),
    "size: int": given(7, 12, 40),
    "rounds: int": given(3, 4, 7),
    "exponents": given((8,)),
    "calls": given(3, 2),
    "releases": given(2, 3, 1),
    "columns": given(2, 3, 4),
    "digits": given(
        3,
    ),
    "coefficient": given(3, 7),
    "exponent: Fraction": fractions("3/4", "5/4", "-1/2"),
    "exponent: int": given(1, 2),
    "power_shift": given(1, 2),
    "J_norm": given(None, 5),
    "max_gradients": given(None, 2000),
    "support: int | None": given(None, 9),
    "rank": reals("5/2", "7/3"),
    "lengths": given((8, 4, 2)),
    "prefix": given((), (4, 7)),
    "most": given(
        40,
    ),
    "bits": given(900, 5),
    "operations": given(3, 17, 10**9),
    "sensitivity: int": given(3, 2),
    "sensitivity": fractions("5/4", "3"),
    "variance": fractions("7/3", 5),
    "score_range: Exact": fractions("5/3", "1/4"),
    "roundoff": fractions("1/1000", "1/131072"),
    "J: int | None": given(None, 6, 4),
    "first_step": given(0, 1),
    # constants
    "epsilon": fractions("7/5", "2/3", "1/3", "5/2"),
    "epsilon0": fractions("1/3", "1/7", "3/5"),
    "delta": fractions("1/2000", "1/1000000", "1/40"),
    "delta: Real": reals("1/2000", "1/40"),
    "delta_prime": fractions("1/300", "1/50000"),
    "L0": fractions("3/2", "4/5"),
    "L1": fractions("7/3", "2/9"),
    "L": fractions("3/2", "4/5"),
    "L: Real": reals("3/5", "9/4"),
    "L1: Real": reals("7/3", "2/9"),
    "D: Real": reals("6/5", "17/4"),
    "D": fractions("6/5", "17/4"),
    "D: Exact | Real | None": given(None, F(17, 4)),
    "R: Exact | Real": fractions("5/4", "7/3"),
    "R: Fraction": fractions("1/2", "5/4"),
    "G": reals("15/8", "2/3"),
    "rho": reals("4/3", "2/5"),
    "rho: Exact": fractions("4/3", "5/2"),
    "rho: Exact | Real": fractions("4/3", "2/5"),
    "rho: Fraction": fractions("4/3", "2/5"),
    "rho: Fraction | int": fractions("4/3", "2/5", "1/9"),
    "mu": fractions("2/3", "7/5", "1/9"),
    "mu: Real": reals("2/3", "7/5"),
    "mus": given((F(2, 3), F(1, 5), F(3, 4))),
    "nu": fractions("2/5", "3/4"),
    "lam": reals("1/3", "3/4"),
    "lam: Fraction": fractions("1/3", "3/4"),
    "lam: Fraction | int": fractions("3/4", "5/3"),
    "gamma: Fraction | int": fractions("5/2", "4/3"),
    "beta": reals("7/3", "40", "2/5"),
    "beta: Fraction | int": fractions("7/3", "40"),
    "beta: Exact | None": given(None, F(9, 2)),
    "beta: Exact | Real | None": given(None, F(9, 2)),
    "weak": reals("3/7", "5/3"),
    "eta: Real": reals("1/9", "3/40"),
    "eta_k": reals("1/9", "3/40"),
    "etas": [lambda K: tuple(K(F(1, 9)) / 4**k for k in range(3))],
    "eta": [lambda K: lambda K, t: K(1) / (t + 1), lambda K: lambda K, t: K(F(2, 3)) / K.sqrt(K(t + 1))],
    "steps: Callable[[Numbers, int], Real]": [lambda K: lambda K, t: K(F(3, 4)) / K.sqrt(K(t + 1))],
    "s: Real": reals("5/3", "1/11", "40"),
    "scale": fractions("5/3", "2/7"),
    "scale: Fraction | int": fractions("5/3", "2/7"),
    "scale: int": given(3, 4),
    "scales": given((F(5, 3), F(2, 7))),
    "score_range": fractions("5/3", "1/4"),
    "score": reals("5/3", "1/4"),
    "temperature": fractions("5/3", "1/4"),
    "scores: Sequence[Exact]": given((F(1, 3), F(-1, 5), F(2, 3)), (0, F(1, 2))),
    "scores: Sequence[Exact | Real]": given((F(1, 3), F(-1, 5), F(2, 3)), (0, F(1, 2))),
    "width": fractions("3/5", "2"),
    "width: int": given(2, 3),
    "a: Fraction | int": fractions("7/2", "9/4"),
    "b: Fraction | int": fractions("2/5", "-1/3"),
    "c: Fraction | int": fractions(
        "1/7",
    ),
    "at: Fraction | int": fractions("1/7", "-2/3"),
    "at: Exact": fractions("7/5", "3", "12"),
    "root": fractions("3/4", "5/2"),
    "slope": fractions("2/3", "-3/2"),
    "offset": fractions(
        "1/5",
    ),
    "bend": fractions("2/3", "3/2"),
    "later": fractions("1/100", "1/3"),
    "step": fractions(
        "1/3",
    ),
    "threshold": fractions(
        "13/5",
    ),
    "gaussians": fractions(5, 4, 12),
    "kappa": reals("3/2", "2/3"),
    "kappa_plus": fractions("7/2", "9/4"),
    "share": reals("0", "1/30"),
    "bound": reals("5/3", "2/7"),
    "bound: Fraction | None": given(None, F(3, 4)),
    "square": reals("5/3", "2/7"),
    "distance": reals("5/3", "2/7"),
    "diameter": [lambda K: None, lambda K: K(F(17, 4))],
    "farthest": reals("5/3", "2/7"),
    "reach": reals("5/3", "2/7"),
    "size: Real": reals("5/3", "2/7"),
    "radius": fractions("5/3", "2/7"),
    "radius: Real | None": [lambda K: None, lambda K: K(F(1, 3)), lambda K: K(F(9, 4))],
    "gap": reals("1/30", "2/7"),
    "theta: Real": reals("1/30", "2/7", "5/2"),
    "A": reals("5/3", "2/7"),
    "a: Real": reals("5/3", "2/7"),
    "B": reals("5/3", "2/7"),
    "delta_F": reals("5/3", "2/7"),
    "strength": reals("5/3", "2/7"),
    "estimate: Real": reals("5/3", "2/7"),
    "excesses": reals("5/3", "2/7"),
    "errors": [lambda K: [K(F(1, v)) for v in (2, 3, 5, 7)]],
    "deviations": [lambda K: [K(F(1, v)) for v in (2, 3, 5, 7)]],
    "bounds": [lambda K: [K(F(v, 3)) for v in (2, 5, 4, 7)]],
    "sizes": given((11, 6, 4, 3)),
    "constants": given((F(3, 2), F(7, 3), F(6, 5)), (F(4, 5), F(2, 9), F(17, 4))),
    "corrected": given(True, False),
    "published": given(True, False),
    "adaptive": given(True, False),
    "restrict": given(True, False),
    "exact_budget": given(True, False),
    "unproven": given(True, False),
    "above": fractions(0, "1/3"),
    "tolerance": reals("1/1000000000000"),
    "tolerance: Fraction": fractions("1/20"),
    "max_cuts": given(12),
    # exponents
    "p: Any": given(F(3, 2), 2, 1, F(5, 4)),
    "p: Exact": given(F(3, 2), 2, 1),
    "p: Exponent": given(F(3, 2), 2, 1, INF, 3),
    "s: Exponent": given(F(3, 2), 2, 1, INF, 3),
    "p: int | Fraction": given(F(3, 2), 2, 1, F(21, 20)),
    "p: int": given(1, 2),
    "q: Any": given(3, 2, INF, F(5, 2), 17),
    "errata": given({"E4.1"}, {"E4.1", "E4.2"}),
    "noise": given("laplace", "gumbel"),
    "noise: MinNoise": given("laplace", "gumbel", "exponential"),
    "average": given("last", "first"),
    "norm_name": given("l1", "l2", "linf"),
    "name": given("x"),
    "remedy": given("mend it"),
    "condition": given("be small"),
    "symbol": given("xi"),
    "kind": given("normal"),
    "published_name": given("x"),
    # numbers of a number system
    "m: Real": reals("1/3", "-2/5", "5/4", "9/2"),
    "m: Exact | Real": reals("1/3", "-2/5", "5/4", "9/2"),
    "m2": given(0.75),
    "m: float": given(0.25, -3.5),
    "u: Real": reals("1/3", "-2/5", "5/4", "9/2", "2/7"),
    "x: Real": reals("5/3", "2/7", "40"),
    "y: Real": reals("3/4", "5/2", "-2/3"),
    "t: Real": reals("3/4", "5/2", "-2/3"),
    "low": reals(
        "-3/2",
    ),
    "high": reals(
        "5/3",
    ),
    "low: Exact | None": given(None, F(-1, 4)),
    "high: Exact | None": given(None, F(1, 5)),
    "y: Exact": fractions("3/4", "-5/2"),
    "dual_norm_of_x": fractions("5/4", "2/3"),
    "magnitude": reals(
        "5/3",
    ),
    "slack": fractions(0, "1/5"),
    "w: Fraction | int": fractions("1/3", "-2/5", 0, "3/4", "15/8"),
    "w: Fraction": fractions("1/3", "-2/5", "3/4"),
    "v: Fraction": fractions("5/4", "-3/4"),
    "v: Fraction | int": fractions("5/4", "-3/4", "1/3"),
    "g: Fraction | int": fractions("1/5", "-2/3", 0),
    "g: Fraction": fractions("1/5", "-2/3"),
    "e: Fraction | int": fractions("1", "-2/3"),
    "e: Point": given((F(1), F(-2, 3))),
    "w: Point": given((F(1, 3), F(1, 2))),
    "vertices: Iterable[Point]": given(((F(0), F(1)), (F(3, 2), F(-1, 2)), (F(-1, 3), F(2)))),
    "generators": given(((F(1, 3), F(1)), (F(3, 2), F(-1, 2)), (F(2, 3), F(2))), ((F(1, 3), F(1)), (F(-1), F(-2)))),
    "x: Sequence[Fraction]": given((F(1, 3), F(1, 2))),
    "y: Sequence[Fraction]": given((F(3, 2), F(2, 5))),
    "x: Sequence[Exact]": given((F(1, 3), F(-5, 2), F(1, 2)), (F(1, 9), F(1, 7), F(-1, 8))),
    "matrix: Sequence[Sequence[Fraction | int]]": given(((2, -1, F(1, 2)), (-1, 3, 0)), ((1, 4), (3, 2))),
    "features": given(((F(1, 3), 1, 0), (F(2, 3), 2, 0), (0, F(1, 2), F(1, 5)))),
    "basis": given(((F(1), F(0), F(0)), (F(0), F(1, 2), F(1, 5)))),
    "x: int | Fraction": given(40, F(3, 17), 64),
    "x: Any": given(F(5, 3), "0.25", 7),
    "value: Any": given(F(5, 3), "0.25", 7, "x", 2.5),
    "target": fractions(
        "1/30",
    ),
    "shares": [lambda K: [(K(F(1, 7)), K(F(1, 900)))]],
    # vectors
    **dict.fromkeys(
        ("w: Vector", "x: Vector", "g: Vector", "theta", "gradient", "u: Vector", "v: Vector", "y: Vector"), W3
    ),
    **dict.fromkeys(("u_0", "centre: Vector", "target: Vector", "previous", "estimate", "start: Vector"), W3[::-1]),
    "centre: Vector | None": given(None),
    "start: Vector | None": [lambda K: None],
    "start: Sequence[Exact] | None": given(None, (F(1, 5), F(1, 7), F(1, 3))),
    "vectors": [lambda K: [make(K) for make in W3]],
    "vertices: Sequence[Vector]": [lambda K: [make(K) for make in W3]],
    "unit": given((0.25, -1.5, 0.75, 2.0, -0.5, 1.25)),
    # things
    "W": given(*SETS),
    "W: FeasibleSet | Region": given(*SETS, Region(3, F(7, 5)), *SETS),
    "W: Interval": given(Interval(F(-1, 2), F(4, 5)), Interval(F(1, 3), 2)),
    "W: Cylinder": given(Cylinder()),
    "W: Simplex | Polytope": given(*HULLS),
    "M": given(Interval(), Interval(F(-1, 3), F(4, 5))),
    "loss: ScalarLoss": given(*SCALAR),
    "ell": given(*SCALAR),
    "loss: WeakScalarLoss": given(*WEAK_SCALAR),
    "loss: WeaklyConvexLoss": given(*WEAK),
    "loss: Any": given(*SMOOTH),
    "loss: Clock": given(falling_steps(F(1, 3)).loss),
    "instance": given(falling_steps(F(1, 3)), falling_steps(F(1, 100))),
    "gll": given(ABS, STEEP),
    "z": given(*RECORDS),
    "S": given(RECORDS[:3]),
    "S2": given(RECORDS[:3], RECORDS[1:4], (*RECORDS[:2], RECORDS[5])),
    "dataset": given(RECORDS),
    "records": given(RECORDS[:4]),
    "batch": given(RECORDS[:4]),
    "pair": given(RECORDS[:2]),
    "support": [lambda K: [(z, F(1, 8)) for z in RECORDS]],
    "points": [lambda K: [(K.vector(z.x), Absolute(z.y)) for z in RECORDS]],
    "call": given(oracle, closed_form_oracle, value_oracle, oracle_printed),
    "oracle": given(oracle, closed_form_oracle),
    "tape": [lambda K: SeededTape(7), lambda K: ZeroTape()],
    "trace": [lambda K: Trace()],
    "p: OracleParameters": [lambda K, i=i: _oracle(K, i) for i in range(4)],
    "q: OracleParameters": [lambda K, i=i: _oracle(K, i) for i in range(4)],
    "p: PhasedParameters": [lambda K, i=i: _phased(K, i) for i in range(6)],
    "p: FrankWolfeParameters": [lambda K, i=i: _frank_wolfe(K, i) for i in range(4)],
    "p: PhasedParameters | FrankWolfeParameters": [lambda K: _phased(K, 0), lambda K: _frank_wolfe(K, 1)],
    "p: Sequence[Real]": [lambda K: [K(F(v, 10)) for v in (5, 3, 2)]],
    "q: Sequence[Real]": [lambda K: [K(F(v, 10)) for v in (1, 7, 2)]],
    "reserve": [lambda K: NOTHING, lambda K: Reserve(K(F(1, 50)), K(F(1, 70)), K(F(1, 90)), K(F(11, 10)))],
    "regularity": [lambda K: kappa_provable(K, 7, 3)],
    "geo": [lambda K, p=p, d=3: geometry(K, p, d) for p in (2, 1, F(3, 2), F(21, 20))],
    "at: Scales": [lambda K, p=p: scales(K, p, 3, F(3, 2), F(4, 3)) for p in (2, 1, F(3, 2))],
    "at: GuidedParameters": given(*GUIDED),
    "at: Callable[[int], GuidedParameters]": given(
        lambda k: GuidedParameters(2, 3, F(3, 2), F(4, 3), F(7, 5), 2**k, F(7, 5), F(1, 10**5))
    ),
    "plan": given(*PLANS),
    "phase": given(PLANS[0][0], PLANS[1][0]),
    "f: PiecewiseQuadratic": given(*LINE),
    "g: PiecewiseQuadratic": given(*LINE[::-1]),
    "other: PiecewiseQuadratic": given(*LINE[::-1]),
    "population": given(*POPULATION),
    "f: Callable[[Vector], Real]": [lambda K: lambda w: (w @ w) * (w @ w) - w[0]],
    "gradient: Callable[[Vector], Vector]": [lambda K: lambda w: w * (4 * (w @ w))],
    "bundle": [lambda K: Bundle(tuple(m(K) for m in W3[:2]), (F(1, 3), F(2, 3)), W3[1](K))],
    "found: CertifiedProx": [lambda K: CertifiedProx(W3[1](K), K(F(1, 40)), K(F(3, 2)), K(F(4, 3)), 7)],
    "question": given(lambda: True),
    "source": [lambda K: random.Random(5), lambda K: random.Random(8)],
    "p: Fraction": fractions("2/7", "1/2"),
    "gamma: Fraction": fractions("3/5", "7/3"),
    "q: Exact": fractions("5/4", "3/8"),
    "x: Argument": [lambda K: F(5, 3), lambda K: 0.25],
    "x: BallScalar": [lambda K: EXACT(F(5, 3)) / 7, lambda K: EXACT.sqrt(EXACT(3))],
    "guess": [lambda K: EXACT(F(5, 3))],
    "f: Callable[[BallScalar], BallScalar]": [lambda K: lambda x: x * x - 3, lambda K: lambda x: EXACT.exp(x) - 40],
    "body": [lambda K: lambda B, *args: B.exp(B(F(1, 3)))],
    "alpha": fractions("1/50", "2/9"),
    "alpha: Exact | Real | None": given(None),
    "R: Exact | Real | None": given(None),
    "scores: Sequence[Real]": [lambda K: [K(F(v, 3)) for v in (2, 5, 4)]],
    "chosen": given(1, 2),
    "left": given(True, False),
    "m_t": reals("2/7"),
    "a: Exact": fractions("2/7"),
    "b: Real": reals("9/4"),
    "b: Vector": W3[1:],
    "g: ProximalLoss": [lambda K: ProximalLoss(K, SCALAR[1], K(F(2, 5)), K(F(1, 3)), _oracle(K, 1))],
    "iterates": [lambda K: [make(K) for make in W3]],
    "w_k": W3,
    "sigma: Real": reals("2/7"),
    "index": given(
        3,
    ),
    "ok": given(True, False),
    "value: object": given(F(5, 3), 2.5, "some text", 10**40),
    "values: Iterable[Any]": given((F(5, 3), "1/2", 3), (1, "x")),
    "least": given(
        2,
    ),
    "found: int": given(3, 4),
    "same_dimension.dim": given(3),
    "proved": [lambda K: COARSE, lambda K: Float64(), lambda K: MP(5)],
    "values: Values": given((0.25, -0.75, 1.5), (0.1, 0.2, 0.3), (2, 0, 1)),
    "tape: ReplayTape": [
        lambda K: ReplayTape({Draw("xi", (1, 2), "normal", 3): (0.25, -0.75, 1.5), Draw("i", (), "index", 9): (4,)})
    ],
    "vertices: Sequence[Point]": given([(F(0), F(0)), (F(1), F(1, 2)), (F(-1, 2), F(2, 3))]),
    "low: Point": given((F(1, 2), F(1, 3)), (F(1, 9), F(1, 9)), (F(2), F(-1))),
    "high: Point": given((F(2), F(3)), (F(1, 2), F(1, 2)), (F(9, 4), F(5))),
    "constant": [lambda K: lambda N: N.sqrt(N(3)), lambda K: lambda N: N(F(7, 5))],
    "lower": given((-1, F(-1, 3))),
    "upper": given((F(2, 3), F(3, 4))),
    "distance: float": given(0.75),
    "sigmas": given((0.125, 0.25, 0.5)),
    "room": given(1.75, 6.0),
    "first: tuple[Example, Example]": given(
        (Example((F(3, 4), F(1, 3)), F(1, 5)), Example((F(-3, 4), F(1, 3)), F(1, 5)))
    ),
    "gap: float": given(0.0625),
    "eta: float": given(0.125),
    "rounds: Sequence[Sequence[int]]": given(((3,), (2, 2))),
    "rounds: Sequence[Sequence[Sequence[Any]]]": given([[RECORDS[:2]], [RECORDS[2:4], RECORDS[4:5]]]),
    "gradients": [lambda K: Gradients(K, SMOOTH[0]), lambda K: Gradients(K, SMOOTH[2])],
    "matrix: list[list[Real]]": [lambda K: [[K(F(v, 3)) for v in row] for row in ((2, 5, 4), (1, -7, 2), (3, 3, 8))]],
    "right": [lambda K: [K(F(v, 3)) for v in (2, 5, 4)]],
    "f: Callable[[Real], tuple[Real, Real]]": [lambda K: lambda x: (K(3) - x * x, -2 * x)],
    "start: Real": reals("5/3"),
    "declared": given((Draw("xi", (1, 2), "normal", 3),)),
    "draw": given(Draw("xi", (1, 2), "normal", 3), Draw("B", (4,), "permutation", 5), Draw("i", (), "index", 9)),
    "profile: Callable[[Ball, BallScalar], BallScalar]": [lambda K: lambda B, e: B.exp(-e) / 2],
}
"""Arguments by name and annotation, or by name alone; each is made for a number system."""

COUNTS = ("n", "b", "d", "dim", "R: int", "J", "T", "T_k", "t", "k", "r", "i", "steps: int", "size: int", "rounds: int")
EDGES: dict[str, list[Make]] = {
    **{name: given(0, 1, 2) for name in COUNTS},
    "epsilon": given(0, 9),
    "epsilon: Exact | Real": given(0, 9),
    "delta": given(0, F(9, 10), 1),
    "mu": given(0),
    "beta": reals(0, "5/3"),
    "eta: Real": reals(0, "24/25"),
    "D: Real": reals(0),
    "L0": given(0),
    "L1": given(0),
    "k: int": given(0),
    "share": reals(0),
    "w: Vector": vectors((0, 0, 0), ("1/2", "0", "-1/3")),
    "g: Vector": vectors((0, 0, 0), (1, -1, 1)),
    "theta": vectors((0, 0, 0), (40, -40, 40)),
    "u: Real": reals(0, "-1", "100"),
    "m: Real": reals(0, "-100"),
    "m: Exact | Real": reals(0, "-100"),
    "w: Fraction | int": given(2, -1, F(4, 5), F(-1, 2)),
    "p: Any": given(INF, F(1, 2)),
    "p: int | Fraction": given(3, F(1, 2)),
    "q: Any": given(1, F(3, 2)),
    "lam": reals(0, 1),
}
"""What is put in the place of one argument, the others generic."""


PLANE: list[Make] = given((F(-1, 2), F(4, 5)), (F(1, 3), F(2)), (F(-1, 3), F(1, 3)))
OWN: dict[str, list[Make]] = {
    "require_convex.loss": given(*WEAK_SCALAR, *SCALAR),
    "projection_error.W": given(Region(3, F(7, 5)), Region(17, F(7, 5)), *SETS, Box([-1], [2]), LpBall([0], 2, 2)),
    **dict.fromkeys(
        ("constrained_step.W", "proximally_guided.W", "proximally_guided_printed.W"),
        given(*SETS[:2], *SETS[3:6], *SETS[7:]),
    ),
    **dict.fromkeys(("least_exponent.x", "value_search_length.x"), reals("5/3", "700", "1/2")),
    **dict.fromkeys(("least_exponent.y", "value_search_length.y"), reals("5/3", "2/7")),
    "frank_wolfe_parameters.gll": given(GLL(Absolute, F(3, 2), F(5, 4), 1)),
    "frank_wolfe_parameters.W": given(*HULLS),
    "phased_parameters.gll": given(ABS),
    "phased_parameters.rank": given(None),
    "phased_parameters.D": given(None, F(7, 2)),
    "phased_parameters.n": given(64, 37, 128),
    **{
        f"{name}.p": [lambda K, i=i: _frank_wolfe(K, i, 8) for i in range(4)]
        for name in ("noisy_frank_wolfe_printed", "noisy_frank_wolfe")
    },
    **{
        f"{name}.p": [lambda K, i=i: _phased(K, i, 8) for i in range(6)]
        for name in ("phased_sgd_printed", "phased_sgd")
    },
    **{
        f"{name}.{p}": given(v)
        for name in ("poly_sfw", "poly_sfw_printed", "noisy_sfw", "noisy_sfw_printed")
        for p, v in (("R", 2), ("b", 2))
    },
    **{f"{name}.{p}": given(v) for name in ("poly_sfw_tight", "noisy_sfw_tight") for p, v in (("T", 4), ("b", 3))},
    **{f"{name}.loss": given(SMOOTH[0], SMOOTH[2]) for name in ("poly_sfw", "poly_sfw_printed", "poly_sfw_tight")},
    **{f"{name}.W": given(*HULLS) for name in ("poly_sfw", "poly_sfw_printed", "poly_sfw_tight")},
    **{f"{name}.W": given(*SETS[:5]) for name in ("noisy_sfw", "noisy_sfw_printed", "noisy_sfw_tight")},
    **{
        f"{name}.eta": [lambda K: step_size]
        for name in ("poly_sfw", "poly_sfw_printed", "noisy_sfw", "noisy_sfw_printed")
    },
    "require_run.n": given(64, 300, 8),
    "oracle_error_binary64.p": [lambda K, i=i: _oracle(Float64(), i) for i in range(4)],
    "output_delta.b": given(12 * 10**24, 1200),
    "output_delta.n": given(None),
    **dict.fromkeys(("3 slack.M", "3 undisturbed.M", "3 _shift.M"), reals("1/1000", "1/70")),
    "noisy_vertex.unit": given((0.25, -1.5, 0.75, 2.0)),
    "private_up_to.b": given(24, 4096),
    "private_up_to.R": given(2, 3),
    "private_up_to.n": given(None),
    "padded.n": given(4, 2),
    "poly_plan.n": given(37, 64),
    "noisy_plan.n": given(37, 64),
    "unit_ball.d": given(2, 3),
    **{
        f"{name}.W": PLANE
        for name in (
            "prox_exact",
            "in_normal_cone",
            "in_normal_cone_printed",
            "largest_fall",
            "gap",
            "gap_printed",
            "stationary_subgradient",
            "minimisers",
        )
    },
    "nearest_weights.tolerance": reals("1/1000000000000"),
    "best_guarantee.at": given(replace(GUIDED[3], n=200), replace(GUIDED[1], n=300)),
    "best_guarantee.max_gradients": given(1000),
    "guarantee.at": given(GUIDED[3], GUIDED[0]),
    "guarantee.max_gradients": given(1000),
    "proximally_guided_printed.rounds": given(2, 4),
    "proximally_guided_printed.plan": given((Phase(4, 3),), (Phase(2, 4), Phase(2, 3, F(1, 3)))),
    "proximally_guided.plan": given((Phase(2, 3),), (Phase(1, 4), Phase(1, 3, F(1, 3)))),
    "solve.plan": given((Phase(2, 3), Phase(2, 2, F(1, 5))), (Phase(4, 5),)),
    "frank_wolfe_parameters.scale": given(None, scale_tight),
    "phased_parameters.sigma": given(tight_sigma, quadrature_sigma),
    "2 value.w": vectors(("1/3", "-1/5", "2/7"), ("1/4", "2/3", "1/5")),
}
"""What a function has in the place of the pool's."""


SYSTEMS: dict[str, tuple[Numbers, ...]] = {
    **dict.fromkeys(
        (
            "falling_root",
            "nearest_weights",
            "gaussian_elimination",
            "plan_solver",
            "closed_form_plan",
            "best_guarantee",
            "widest_pair",
            "mirror_step",
            "solve",
        ),
        (Float64(),),
    ),
    **dict.fromkeys(("finer", "selection_terms"), (COARSE, MP(12))),
}
"""Number systems of a function, if balls are not among them."""

LEFT_OUT = ("regime",)
"""Functions that take long at any parameters."""


def options(table: Mapping[str, list[Make]], name: str, annotation: str, function: str = "") -> list[Make]:
    """What a table has for a parameter."""
    own = OWN.get(f"{function}.{name}") if table is POOL else None
    return own or table.get(f"{name}: {annotation}", table.get(name, []))


# ------------------------------------------------------------------------------------------- specimens


def _decoder(K: Numbers) -> Any:
    return Decoder(K, falling_steps(F(1, 3)), F(7, 5), F(1, 2000))


OBJECTS: dict[str, list[Make]] = {
    "reference.setting.sets": given(*SETS, Region(3, F(7, 5)), Box([-1], [2]), LpBall([F(1, 3)], F(7, 5), F(3, 2))),
    "reference.setting.losses_convex": given(*SCALAR, ABS, STEEP),
    "reference.setting.losses_weak": given(*WEAK_SCALAR, *WEAK[:5]),
    "reference.setting.losses_smooth": given(*SMOOTH),
    "reference.setting.losses_composite": given(*COMPOSITE),
    "reference.weakly_convex.functions": given(
        *LINE,
        WEAK[5],
        functions.Quadratic(((F(2, 3), F(1, 5)), (F(1, 5), F(-3, 4))), (F(1, 3), F(-1, 2)), F(1, 7)),
        functions.MaxOfQuadratics(
            (
                functions.Quadratic(((F(2, 3), F(1, 5)), (F(1, 5), F(-3, 4))), (F(1, 3), F(-1, 2)), F(1, 7)),
                functions.Quadratic(((F(-1, 3), F(2, 5)), (F(2, 5), F(1, 4))), (F(-2, 3), F(1, 4)), F(1, 9)),
            )
        ),
    ),
    "reference.weakly_convex.mirror": POOL["geo"],
    "reference.weakly_convex.strongly_convex": [*POOL["at: Scales"], *POOL["phase"]],
    "reference.weakly_convex.prox": given(*POPULATION),
    "reference.convex.moreau": given(Interval(), Interval(F(-1, 3), F(4, 5)), Interval(F(1, 3), INF)),
    "reference.convex.phased_sgd": POOL["p: PhasedParameters"],
    "reference.convex.noisy_frank_wolfe": POOL["p: FrankWolfeParameters"],
    "reference.convex.oracle": [
        lambda K, i=i: ProximalLoss(K, SCALAR[i], K(F(2, 5)), K(F(1, 3)), _oracle(K, i)) for i in range(4)
    ],
    "reference.smooth.leaks": [*given(Cylinder(), falling_steps(F(1, 3)), falling_steps(F(1, 3)).loss), _decoder],
    "reference.smooth.regular_spaces": POOL["regularity"],
    "reference.numerics.numbers": [lambda K: K],
    "reference.numerics.tape": given(SeededTape(7), ZeroTape()),
}
"""What methods and properties are asked of, by the module that tells of it."""
