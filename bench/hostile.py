"""Hostile records: whatever one record is, no algorithm may raise because of it, before or after the noise.

`dataset` mixes ordinary records with numbers at the ends of binary64 and beyond, NaN, other dimensions, other types
and objects that raise when they are touched. `runs` has every algorithm, printed, corrected and tight, in binary64,
with many digits and in the fast engine.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from audit import engine as fast
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex import phased_sgd as phased
from reference.convex.oracle import closed_form_oracle, oracle, value_oracle
from reference.convex.phased_noise import quadrature_sigma, tight_sigma
from reference.numerics.numbers import MP, Float64, Numbers
from reference.numerics.tape import SeededTape
from reference.setting.data import Example
from reference.setting.losses import GLL, Absolute, EpsilonInsensitive, Hinge, Huber, Logistic, Quantile, ScalarLoss
from reference.setting.losses_composite import CovarianceEstimation, DictionaryLearning, TrimmedRegression
from reference.setting.losses_smooth import GemanMcClure, Sigmoid, SignedQuadratic, SmoothPredictorLoss, SquaredTanh
from reference.setting.losses_weak import MCP, NegativeQuadratic, Penalised, RobustPhaseRetrieval, TanhRegression
from reference.setting.sets import Box, L2Ball, LpBall, Polytope, Simplex, WholeSpace, box_polytope, l1_ball
from reference.smooth.noisy_sfw import noisy_sfw, noisy_sfw_printed, noisy_sfw_tight
from reference.smooth.poly_sfw import poly_sfw, poly_sfw_printed, poly_sfw_tight
from reference.weakly_convex import proximal_guided as guided
from reference.weakly_convex.strongly_convex import Phase

N, DIM = 8, 3
ZERO = [0] * DIM
K, MANY = Float64(), MP(20)


class Liar(float):
    """Says one thing when it is measured and another when it is used."""

    def __float__(self) -> float:
        return 1e300

    def __abs__(self) -> float:
        return 0.0

    def __le__(self, other: object) -> bool:
        return True

    def __mul__(self, other: object) -> float:
        raise RuntimeError("a liar: *")


class LyingFraction(Fraction):
    """Small when it is compared, raises when it is counted."""

    def __abs__(self) -> Fraction:
        return Fraction(0)

    def __le__(self, other: object) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("a liar: ==")

    __hash__ = None  # type: ignore[assignment]


class Turncoat(Example):
    """A record whose features are 1000 times longer once they were looked at often enough; raises when compared."""

    patience = 9

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name != "x":
            return found
        left = self.patience
        object.__setattr__(self, "patience", left - 1)
        return found if left > 0 else tuple(1000 * v for v in found)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("a turncoat: ==")

    def __hash__(self) -> int:
        raise RuntimeError("a turncoat: hash")


def turncoat(x: tuple[float, ...], y: float, patience: int) -> Turncoat:
    """One that bears so many looks."""
    z = Turncoat(x, y)
    object.__setattr__(z, "patience", patience)
    return z


NUMBERS: tuple[Any, ...] = (
    *(0, -0.0, 1, -1, 0.5, 5e-324, 1e-308, 1e-200, 1e154, 1e155, 1e200, -1e308, 1.7976931348623157e308, 2**53 + 1),
    *(10**400, -(10**400), Fraction(10**400, 3), Fraction(1, 10**400), 10**9000, math.nan, math.inf, -math.inf),
    *("0.25", "1/3", "1e400", "-1e-400", "1e999999999", "nan", "inf", "", "one", "1/0", None, True, 1j, b"1"),
    *(np.float32(0.5), np.float64(math.nan), np.int64(-3), np.array(0.5), np.array([0.5])),
    *(np.longdouble("1e4000"), np.float16(0.5), np.bool_(True), np.ma.masked, np.array([[0.5]])),
    *(Decimal("NaN"), Decimal("sNaN"), Decimal("0.5"), Decimal("1e-400"), Liar(0.5), LyingFraction(10**30)),
    *((), [1], {}, {"x": 1}, object(), Fraction, Random),
)
"""What stands where a number should."""


class Trap:
    """Raises whatever is done with it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"a trap: {name}")

    def __len__(self) -> int:
        raise RuntimeError("a trap: len")

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("a trap: iter")

    def __float__(self) -> float:
        raise RuntimeError("a trap: float")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("a trap: ==")

    __hash__ = None  # type: ignore[assignment]


class Endless:
    """Says that it has three entries, and never stops giving them."""

    def __len__(self) -> int:
        return DIM

    def __iter__(self) -> Iterator[float]:
        while True:
            yield 0.5


RECORDS: tuple[Any, ...] = (
    *(None, 7, "record", b"", {}, [], (), (1,), (1, 2, 3), ((0.5, 0.5, 0.5),), object(), math.nan),
    *(Trap(), (Trap(), 1), ((0, 0.5, Trap()), 1), ((0.5, 0.5, 0), Trap()), (Endless(), 1)),
    *(({0.5, 0.25, 0}, 1), ({0.5: 1, 0.25: 2, 0: 3}, 0), ("123", 1), (range(3), 0), np.zeros(4), np.zeros((2, 3))),
    *(Example((0.5,), 1), Example((0.5, 0.5), 1), Example((10**400, 0, 0), 0), Example((0.5, 0.5, 0), 10**400)),
    Example((0, 0, 1), Fraction(1, 10**400)),
)
"""What stands where a record should."""


def record(rng: Random, dim: int = DIM) -> Any:
    """One record: ordinary, with numbers of any kind, or no record at all."""
    kind = rng.random()
    if kind < 0.3:
        return Example(tuple(rng.uniform(-0.7, 0.7) for _ in range(dim)), rng.choice((-1, 1)))
    if kind < 0.5:
        sizes = [rng.choice((-1, 1)) * math.ldexp(rng.random(), rng.randint(-1074, 1023)) for _ in range(dim + 1)]
        return Example(tuple(sizes[:dim]), sizes[dim])
    if kind < 0.85:
        return [rng.choice(NUMBERS) for _ in range(dim)], rng.choice(NUMBERS)
    return rng.choice(RECORDS) if kind < 0.98 else turncoat((0.5,) * dim, 1, rng.randrange(8))


def dataset(seed: int, n: int = N, dim: int = DIM) -> tuple[Any, ...]:
    """n records, at least one of them hostile in most seeds."""
    rng = Random(seed)
    return tuple(record(rng, dim) for _ in range(n))


# -------------------------------------------------------------------------------------------- the runs

Output = Callable[[Sequence[Any], int], Any]
"""Data and a seed in, the output out."""


@dataclass(frozen=True)
class Run:
    """One way to run one algorithm."""

    algorithm: int
    name: str
    output: Output


GLLS: tuple[tuple[str, Callable[[Any], ScalarLoss]], ...] = (
    ("absolute", Absolute),
    ("hinge", Hinge),
    ("logistic", Logistic),
    ("huber", lambda y: Huber(y, 1)),
    ("quantile", lambda y: Quantile(y, Fraction(1, 4))),
    ("insensitive", lambda y: EpsilonInsensitive(y, Fraction(1, 8))),
)
RULES: dict[str, Any] = {"absolute": quadrature_sigma, "hinge": tight_sigma}
ORACLES: dict[str, Any] = {"huber": value_oracle, "quantile": closed_form_oracle}
"""The search by values is proved on balls only; here it is asked whether it bears hostile records."""
TARGET: dict[str, Any] = {"epsilon": Fraction(1), "delta": Fraction(1, 10**6)}
TRIANGLE = ((0, 0, 0), (1, 0, 1), (0, 1, 1), (0.5, 0.5, 0))
PLAN = (Phase(3, 2), Phase(1, 2, Fraction(4)))


def _plain(K: Numbers, w: Any) -> list[float]:
    return [K.to_float(v) for v in w]


def _with_parameters(body: Callable[..., Any], K: Numbers, p: Any) -> Output:
    return lambda data, seed: _plain(K, body(K, data, p, SeededTape(seed)).w)


def _fast_with_parameters(body: Callable[..., Any], p: Any) -> Output:
    return lambda data, seed: body(data, p, fast.LiveBatch(seed, 2))


def _with_loss(body: Callable[..., Any], loss: Any, W: Any, first: int, b: int) -> Output:
    privacy = TARGET.values()
    return lambda data, seed: _plain(K, body(K, loss, W, data, first, b, *privacy, SeededTape(seed)).output)


def _fast_with_loss(body: Callable[..., Any], loss: Any, W: Any, first: int, b: int) -> Output:
    return lambda data, seed: body(loss, W, data, first, b, *TARGET.values(), fast.LiveBatch(seed, 2))


def _phased() -> Iterator[Run]:
    sets = (L2Ball(ZERO, 1), Box(ZERO, [1, 2, 3]), Simplex(3), l1_ball(3), LpBall(ZERO, 1, math.inf), WholeSpace(3))
    for (family, make), W in itertools.product(GLLS, sets):
        rules: dict[str, Any] = {
            "sigma": RULES.get(family, phased.sigma_printed),
            "oracle": ORACLES.get(family, oracle),
        }
        for system in (K, MANY) if isinstance(W, L2Ball) else (K,):
            rules["unproven"] = rules["oracle"] is value_oracle
            p = phased.phased_parameters(system, N, GLL(make, 1, 1), W, **TARGET, **rules)
            for body in (phased.phased_sgd, phased.phased_sgd_printed):
                yield Run(2, f"{body.__name__} {family} {W} {system}", _with_parameters(body, system, p))
        p = phased.phased_parameters(K, N, GLL(make, 1, 1), W, **TARGET)
        yield Run(2, f"fast {family} {W}", _fast_with_parameters(fast.phased_sgd, p))


def _frank_wolfe() -> Iterator[Run]:
    sets, noises = (l1_ball(3), Simplex(3), box_polytope(ZERO, [1, 2, 3])), ("laplace", "gumbel")
    for (family, make), W, noise in itertools.product(GLLS, sets, noises):
        options: dict[str, Any] = {"T": 3, "noise": noise, "scale": nfw.scale_tight}
        p = nfw.frank_wolfe_parameters(K, N, GLL(make, 1, 1, 1), W, **TARGET, **options)
        for body in (nfw.noisy_frank_wolfe, nfw.noisy_frank_wolfe_printed):
            yield Run(3, f"{body.__name__} {family} {W} {noise}", _with_parameters(body, K, p))
        yield Run(3, f"fast {family} {W} {noise}", _fast_with_parameters(fast.noisy_frank_wolfe, p))


def _losses(p: int) -> tuple[SmoothPredictorLoss, ...]:
    return Sigmoid(1, p), SquaredTanh(1, p), GemanMcClure(1, Fraction(1, 2), p), SignedQuadratic(1, 2, 1, p)


def _polyhedral() -> Iterator[Run]:
    for loss, W in itertools.product(_losses(1), (l1_ball(3), Simplex(3))):
        for body in (poly_sfw, poly_sfw_printed):
            yield Run(4, f"{body.__name__} {loss} {W}", _with_loss(body, loss, W, 2, 2))
        yield Run(4, f"tight {loss} {W}", _with_loss(poly_sfw_tight, loss, W, 3, 4))
        yield Run(4, f"fast {loss} {W}", _fast_with_loss(fast.poly_sfw, loss, W, 2, 2))
        yield Run(4, f"fast tight {loss} {W}", _fast_with_loss(fast.poly_sfw_tight, loss, W, 3, 4))


def _noisy() -> Iterator[Run]:
    for loss, W in itertools.product(_losses(2), (L2Ball(ZERO, 1), Box(ZERO, [1, 1, 1]))):
        for body in (noisy_sfw, noisy_sfw_printed):
            yield Run(5, f"{body.__name__} {loss} {W}", _with_loss(body, loss, W, 2, 2))
        yield Run(5, f"tight {loss} {W}", _with_loss(noisy_sfw_tight, loss, W, 3, 4))
        yield Run(5, f"fast {loss} {W}", _fast_with_loss(fast.noisy_sfw, loss, W, 2, 2))
        yield Run(5, f"fast tight {loss} {W}", _fast_with_loss(fast.noisy_sfw_tight, loss, W, 3, 4))


def _with_plan(body: Callable[..., Any], loss: Any, W: Any) -> Output:
    given: dict[str, Any] = {"rounds": 2, "plan": PLAN, "mu": 1}
    return lambda data, seed: _plain(K, body(K, loss, W, data, tape=SeededTape(seed), **given).w)


def _fast_with_plan(loss: Any, W: Any) -> Output:
    given: dict[str, Any] = {"rounds": 2, "plan": PLAN, "mu": 1}
    return lambda data, seed: fast.proximally_guided(loss, W, data, fast.LiveBatch(seed, 2), **given)


def _guided() -> Iterator[Run]:
    losses = (
        TanhRegression(1),
        TanhRegression(1, 1),
        RobustPhaseRetrieval(1, 2),
        NegativeQuadratic(1, 2),
        Penalised(MCP(1, 2), 1, Fraction(3, 2)),
    )
    for loss, W in itertools.product(losses, (L2Ball(ZERO, 1), Box([-1] * 3, [1] * 3), l1_ball(3))):
        for body in (guided.proximally_guided, guided.proximally_guided_printed):
            yield Run(6, f"{body.__name__} {loss} {W}", _with_plan(body, loss, W))
        yield Run(6, f"fast {loss} {W}", _fast_with_plan(loss, W))
    others = (
        CovarianceEstimation(3, 1, 1, 2),
        DictionaryLearning(2, 1, 1, 1, 2, "0.5"),
        TrimmedRegression(2, 1, 1, 2, 1),
    )
    for other, W in itertools.product(others, (Box(ZERO, [1] * 3), Simplex(3), Polytope(TRIANGLE))):
        yield Run(6, f"corrected {other} {W}", _with_plan(guided.proximally_guided, other, W))


def runs() -> tuple[Run, ...]:
    """All of them. (Algorithm 1 has no noise and takes no dataset; Algorithms 2 and 3 call it on every record.)"""
    return (*_phased(), *_frank_wolfe(), *_polyhedral(), *_noisy(), *_guided())


def failure(run: Run, data: Sequence[Any], seed: int) -> str:
    """What a run showed of its data by failing: an exception, or an output that is not finite; "" if nothing."""
    try:
        output = np.asarray(run.output(data, seed), dtype=float)
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"{type(error).__name__}: {error}"
    return "" if np.isfinite(output).all() else f"output {output.tolist()}"
