"""What is claimed of a mechanism.

**A claim is a set of pairs** (p, q) = (P(S), Q(S)): those that it allows for an event S, P and Q being the laws of the
output on two neighbours. Each claim here has a number in its own currency, and its sets grow with that number: so a
claim is known by the function `value(p, q)`, the least number whose set holds (p, q).

    Epsilon(ε, δ)  p ≤ e^ε q + δ                              value: ln((p − δ)/q)
    GDP(μ)         Φ⁻¹(p) ≤ Φ⁻¹(q) + μ                        value: Φ⁻¹(p) − Φ⁻¹(q)
    RDP(α, ε)      D_α(Bernoulli(p) ‖ Bernoulli(q)) ≤ ε       value: D_α, of the two coins
    ZCDP(ρ)        the same with ε = ρα, for every α > 1      value: sup_α D_α/α
    Profile        p ≤ e^ε q + δ for each row (δ, ε)          value: the least s so that (δ, ε + s) holds in each row
    TradeOff(f)    1 − p ≥ f(q)                               value: the least slack s, 1 − p ≥ f(q) − s

each for S and for its complement, and with P and Q exchanged. All sets are convex: half-planes, a region above a convex
curve, level sets of a Rényi divergence, which (as exp((α − 1)D_α) = Σ pᵅq¹⁻ᵅ) is convex in (p, q) up to a monotone map.
The data-processing inequality, applied to "is the output in S?", says that a mechanism for which the claim is true has
its pairs in the set. That is all that the test uses (`audit.auditor.test.exact`).

Dong, Roth, Su, "Gaussian differential privacy" (2022), for trade-off functions; Bun, Steinke (2016) for zCDP; Mironov
(2017) for Rényi DP.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from scipy import special

Array = np.ndarray

ORDERS = 1 + np.geomspace(1e-3, 1e4, 96)
"""Orders α at which a zCDP claim is tested: chosen. Fewer orders allow more pairs, so any list of them is valid."""
NEAR_ORDERS = np.geomspace(0.75, 4 / 3, 7)
"""Orders, as multiples of α − 1 of the best one, that are kept once it is known about where the event lies."""


class Claim(ABC):
    """A claim, known by the pairs of probabilities that it allows."""

    symbol: ClassVar[str]
    """The currency: how the number is written."""
    floor: ClassVar[float] = 0.1
    """A bound this close to the claim is near it, however small the claim is."""
    two_steps: ClassVar[float | None] = None
    """What two neighbouring steps may cost, as a multiple of the claim; None where no multiple says it."""

    @property
    @abstractmethod
    def number(self) -> float:
        """What is claimed, in the claim's own currency."""

    @property
    def least(self) -> float:
        """The number below which the claim cannot be."""
        return 0.0

    @property
    def delta(self) -> float:
        """The δ at which bounds on ε are stated beside."""
        return 0.0

    @property
    def any_size(self) -> bool:
        """Whether the number of tested guesses may be chosen by looking at the outputs: under pure ε-DP no guess is
        right more often than e^ε/(1+e^ε), whatever was seen.
        """
        return False

    @abstractmethod
    def at(self, number: float) -> Self:
        """The same claim with another number."""

    @abstractmethod
    def value(self, p: Array, q: Array) -> Array:
        """The least number whose set of pairs holds (p, q), where p ≥ q; it grows with p and falls with q."""

    def merit(self, p: Array, q: Array) -> Array:
        """How promising an event is that certifies (p, q), for planning: it grows with the value; where the claim is
        not refuted, an event of which nothing follows must not rank above one that nearly refutes it.
        """
        return self.value(p, q)

    def near(self, p: float, q: float) -> Claim:
        """A claim that is implied by this one, quicker to compute, and about as sharp at pairs like this one."""
        return self

    @property
    def far(self) -> float:
        """An audit that would not notice this number says little: twice the claim, in its own currency."""
        return max(2 * self.number, self.number + self.floor)

    def bound_as_text(self, number: float) -> str:
        """A lower bound in words."""
        return f"{self.symbol} = {self.shown(number)}"

    def shown(self, number: float) -> str:
        """A number with so many digits, four at least, that it is seen to exceed the claim, if it does."""
        texts = [f"{number:.{digits}g}" for digits in range(4, 17)]
        return next((text for text in texts if float(text) > self.number), texts[0])


def real(name: str, value: Any) -> float:
    """A real number as Python's; anything else is refused with the way to make one of it."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, np.integer | np.floating | Fraction):
        return float(value)
    raise ValueError(f"{name} = {value!r:.60} is a {type(value).__name__}: give a number, e.g. {name}=float(…)")


SYMBOLS = {"epsilon": "ε", "rho": "ρ", "mu": "μ"}


def _at_least_zero(name: str, value: Any) -> float:
    number = real(name, value)
    if not number >= 0:
        raise ValueError(f"{name} = {value!r} must be a finite number ≥ 0")
    if number == math.inf:
        raise ValueError(
            f"{name} = {value!r} must be a finite number ≥ 0: an infinite {SYMBOLS.get(name, name)} claims nothing"
        )
    return number


def _loss(p: Array, q: Array, delta: Array | float) -> Array:
    """ln((p − δ)/q), and the same of the complement; −∞ where p ≤ δ."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.log(np.maximum(p - delta, 0.0)) - np.log(q)
        outside = np.log(np.maximum((1 - q) - delta, 0.0)) - np.log(np.maximum(1 - p, 0.0))
    return np.asarray(np.fmax(np.where(p <= delta, -math.inf, inside), np.where(1 - q <= delta, -math.inf, outside)))


@dataclass(frozen=True)
class Epsilon(Claim):
    """(ε, δ)-DP.

    Attributes:
        epsilon: the ε, at least 0.
        at_delta: the δ, in [0, 1); the second argument.

    >>> print(Epsilon(1, 1e-5))
    (1, 1e-05)-DP
    """

    epsilon: float
    at_delta: float = 0.0
    symbol: ClassVar[str] = "ε"
    two_steps: ClassVar[float | None] = 2.0

    def __init__(self, epsilon: Any, delta: Any = 0.0):
        object.__setattr__(self, "epsilon", _at_least_zero("epsilon", epsilon))
        object.__setattr__(self, "at_delta", real("delta", delta))
        if not 0 <= self.at_delta < 1:
            raise ValueError(f"delta = {delta!r} must be in [0, 1)")

    @property
    def number(self) -> float:
        """ε."""
        return self.epsilon

    @property
    def delta(self) -> float:
        """δ."""
        return self.at_delta

    @property
    def any_size(self) -> bool:
        """At δ = 0."""
        return self.at_delta == 0

    def at(self, number: float) -> Epsilon:
        """(ε, δ)-DP with another ε and the same δ."""
        return Epsilon(number, self.at_delta)

    def value(self, p: Array, q: Array) -> Array:
        """ln((p − δ)/q), or of the complement."""
        return np.asarray(np.maximum(_loss(p, q, self.at_delta), 0.0))

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {self.at_delta:g})-DP"


@dataclass(frozen=True)
class GDP(Claim):
    """μ-Gaussian DP: no easier to tell apart than N(0, 1) and N(μ, 1).

    Attributes:
        mu: the μ, at least 0.

    >>> print(GDP(0.5))
    0.5-GDP
    """

    mu: float
    symbol: ClassVar[str] = "μ"
    two_steps: ClassVar[float | None] = 2.0

    def __post_init__(self) -> None:
        """Refuse what means nothing."""
        object.__setattr__(self, "mu", _at_least_zero("mu", self.mu))

    @property
    def number(self) -> float:
        """μ."""
        return self.mu

    def at(self, number: float) -> GDP:
        """Another μ."""
        return GDP(number)

    def value(self, p: Array, q: Array) -> Array:
        """Φ⁻¹(p) − Φ⁻¹(q)."""
        with np.errstate(invalid="ignore"):
            found = special.ndtri(p) - special.ndtri(q)
        return np.asarray(np.where(p <= q, 0.0, found))

    def __str__(self) -> str:
        return f"{self.mu:g}-GDP"


def renyi(p: Array, q: Array, order: Array | float) -> Array:
    """D_α of two coins, the larger of both directions, by logarithms: exact to rounding also where it is large."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        a, b = np.log(p), np.log(q)
        c, d = np.log1p(-np.minimum(p, 1.0)), np.log1p(-np.minimum(q, 1.0))

        def one(a: Array, b: Array, c: Array, d: Array) -> Array:
            inside = np.where(np.isneginf(a), -math.inf, order * a + (1 - order) * b)
            outside = np.where(np.isneginf(c), -math.inf, order * c + (1 - order) * d)
            return np.asarray(np.logaddexp(inside, outside) / (order - 1))

        return np.asarray(np.where(p == q, 0.0, np.maximum(np.fmax(one(a, b, c, d), one(b, a, d, c)), 0.0)))


@dataclass(frozen=True)
class RDP(Claim):
    """(α, ε)-Rényi DP, of one order or of several: `RDP(8, 0.5)`, `RDP({2: 0.1, 8: 0.5})`.

    With several orders the number is the factor by which all the ε's together would have to be multiplied.

    Attributes:
        orders: each order α > 1 with its ε, in rising order.
        factor: what the ε's of several orders are multiplied with; 1 as claimed.

    >>> print(RDP(8, 0.5))
    (8, 0.5)-RDP
    """

    orders: tuple[tuple[float, float], ...]
    factor: float = 1.0
    symbol: ClassVar[str] = "ε(α)"

    def __init__(self, alpha: float | Mapping[float, float], epsilon: Any = None, *, factor: float = 1.0):
        if isinstance(alpha, Mapping) == (epsilon is not None):
            raise ValueError("RDP needs an order and its ε, RDP(8, 0.5), or several, RDP({2: 0.1, 8: 0.5})")
        if not isinstance(alpha, Mapping):
            alpha = {real("alpha", alpha): epsilon}
        rows = dict(alpha)
        if not rows:
            raise ValueError("RDP({}) has no order: give at least one, e.g. RDP({8: 0.5})")
        for order, loss in rows.items():
            if not 1 < real("alpha", order) < math.inf:
                raise ValueError(f"alpha = {order!r} must be a finite order > 1")
            _at_least_zero(f"epsilon at α = {order:g}", loss)
        if len(rows) > 1 and min(rows.values()) == 0:
            raise ValueError("an ε of 0 at one order says all there is: give that order alone")
        object.__setattr__(self, "orders", tuple(sorted((float(a), float(e)) for a, e in rows.items())))
        object.__setattr__(self, "factor", factor)

    @property
    def several(self) -> bool:
        """Whether the number is a factor."""
        return len(self.orders) > 1

    @property
    def number(self) -> float:
        """ε, or the factor 1."""
        return self.factor if self.several else self.orders[0][1]

    def at(self, number: float) -> RDP:
        """Another ε, or all ε's times this factor."""
        return RDP(dict(self.orders), factor=number) if self.several else RDP(self.orders[0][0], number)

    def value(self, p: Array, q: Array) -> Array:
        """D_α, or the largest of D_α/ε over the orders."""
        if not self.several:
            return renyi(p, q, self.orders[0][0])
        return np.asarray(np.max([renyi(p, q, order) / loss for order, loss in self.orders], axis=0))

    @property
    def far(self) -> float:
        """Rényi divergences grow with the square of small differences."""
        return max(4 * self.number, self.number + self.floor)

    def bound_as_text(self, number: float) -> str:
        """A lower bound in words."""
        if self.several:
            return f"{self.shown(number)} times the claimed ε(α)"
        return f"ε({self.orders[0][0]:g}) = {self.shown(number)}"

    def __str__(self) -> str:
        rows = ", ".join(f"({a:g}, {e:g})" for a, e in self.orders[:4]) + (", …" if len(self.orders) > 4 else "")
        return f"{rows}-RDP" + ("" if self.factor == 1 else f" times {self.factor:g}")


@dataclass(frozen=True)
class ZCDP(Claim):
    """ρ-zero-concentrated DP: D_α ≤ ρα for every α > 1.

    Attributes:
        rho: the ρ, at least 0.
        tested: the orders that are looked at; all of ORDERS if none is named.

    >>> print(ZCDP(0.125))
    0.125-zCDP
    """

    rho: float
    tested: tuple[float, ...] = field(default=(), repr=False)
    symbol: ClassVar[str] = "ρ"
    two_steps: ClassVar[float | None] = 4.0
    floor: ClassVar[float] = 0.005

    def __post_init__(self) -> None:
        """Refuse what means nothing."""
        object.__setattr__(self, "rho", _at_least_zero("rho", self.rho))

    @property
    def number(self) -> float:
        """ρ."""
        return self.rho

    def at(self, number: float) -> ZCDP:
        """Another ρ."""
        return replace(self, rho=number)

    def value(self, p: Array, q: Array) -> Array:
        """The largest D_α/α over the orders that are looked at."""
        orders = np.array(self.tested) if self.tested else ORDERS
        p, q = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(q, dtype=float))
        return np.asarray((renyi(p[..., None], q[..., None], orders) / orders).max(axis=-1))

    def near(self, p: float, q: float) -> ZCDP:
        """The orders around the one that says most about this pair."""
        found = renyi(np.full(len(ORDERS), p), np.full(len(ORDERS), q), ORDERS) / ORDERS
        best = ORDERS[int(np.argmax(found))] - 1
        return replace(self, tested=tuple(1 + best * NEAR_ORDERS))

    @property
    def far(self) -> float:
        """ρ grows with the square of small differences."""
        return max(4 * self.number, self.number + self.floor)

    def __str__(self) -> str:
        return f"{self.rho:g}-zCDP"


@dataclass(frozen=True)
class Profile(Claim):
    """(ε, δ)-DP for every row of a table: `Profile({1e-5: 2.0, 1e-3: 1.2})` maps δ to ε.

    Also made from a function of δ (read at the δ's of `deltas`), or from a privacy-loss distribution of dp-accounting
    (anything with `get_epsilon_for_delta`). The number is a shift: what would have to be added to all the ε's.

    Attributes:
        rows: each δ with its ε, in rising order of δ.
        shift: what is added to every ε; 0 as claimed.

    >>> print(Profile({1e-5: 2.0, 1e-3: 1.2}))
    the profile ε(1e-05) = 2, ε(0.001) = 1.2
    """

    rows: tuple[tuple[float, float], ...]
    shift: float = 0.0
    symbol: ClassVar[str] = "shift of ε"

    def __init__(self, table: Any, *, deltas: Sequence[float] | None = None, shift: float = 0.0):
        object.__setattr__(self, "rows", _rows(table, deltas))
        object.__setattr__(self, "shift", shift)

    @property
    def number(self) -> float:
        """The shift, 0 as claimed."""
        return self.shift

    @property
    def least(self) -> float:
        """A shift that makes every ε zero."""
        return -max(loss for _, loss in self.rows)

    @property
    def delta(self) -> float:
        """The smallest δ of the table."""
        return self.rows[0][0]

    def at(self, number: float) -> Profile:
        """The same table with every ε shifted."""
        return Profile(dict(self.rows), shift=number)

    def value(self, p: Array, q: Array) -> Array:
        """The largest excess of a loss over the ε of its row."""
        best = np.full(np.broadcast(p, q).shape, -math.inf)
        for delta, epsilon in self.rows:
            best = np.maximum(best, np.maximum(_loss(p, q, delta), 0.0) - epsilon)
        return best

    @property
    def far(self) -> float:
        """The ε's doubled, where the middle row is the measure."""
        return max(self.rows[len(self.rows) // 2][1], self.floor)

    def bound_as_text(self, number: float) -> str:
        """A lower bound in words."""
        return f"the claimed ε(δ) {'plus' if number >= 0 else 'less'} {self.shown(number).removeprefix('-')}"

    def __str__(self) -> str:
        rows = ", ".join(f"ε({d:g}) = {e:.4g}" for d, e in self.rows[:3]) + (", …" if len(self.rows) > 3 else "")
        return f"the profile {rows}"


PROFILE_DELTAS = tuple(10.0**e for e in range(-8, 0))
"""The δ's at which a profile that is a function is read, unless said."""


def _rows(table: Any, deltas: Sequence[float] | None) -> tuple[tuple[float, float], ...]:
    """The rows of a profile in the order of δ; refused where they are no profile."""
    if callable(getattr(table, "get_epsilon_for_delta", None)):
        table = table.get_epsilon_for_delta
    if callable(table):
        read = PROFILE_DELTAS if deltas is None else deltas
        table = {d: table(d) for d in read}
    elif not isinstance(table, Mapping):
        try:
            table = dict(table)
        except (TypeError, ValueError):
            raise ValueError(f"profile = {table!r:.60} must be a table, function or distribution δ ↦ ε") from None
    if not table:
        raise ValueError("the profile has no rows: give at least one δ and its ε, e.g. Profile({1e-5: 2.0})")
    rows = sorted((float(real("delta", d)), float(real("epsilon", e))) for d, e in table.items())
    for delta, epsilon in rows:
        if not 0 <= delta < 1:
            raise ValueError(f"the profile has δ = {delta!r}: it must be in [0, 1)")
        if not epsilon >= 0:
            raise ValueError(f"the profile has ε = {epsilon!r} at δ = {delta:g}: it must be ≥ 0")
    rows = [row for row in rows if row[1] < math.inf]
    if not rows:
        raise ValueError("the profile has no finite ε: it claims nothing")
    for (d, e), (d2, e2) in pairwise(rows):
        if e2 > e:
            raise ValueError(f"the profile is not decreasing: ε = {e:g} at δ = {d:g}, but {e2:g} at δ = {d2:g}")
    _refuse_dents(rows)
    return tuple(rows)


def _refuse_dents(rows: Sequence[tuple[float, float]]) -> None:
    """δ is a convex function of e^ε for every mechanism: another table has a row that its neighbours rule out."""
    points = sorted((math.expm1(min(e, 600.0)), d, e) for d, e in rows)
    for (x, d, _), (y, middle, e), (z, d2, _) in zip(points, points[1:], points[2:], strict=False):
        if x < y < z and middle > (d * (z - y) + d2 * (y - x)) / (z - x) * (1 + 1e-6) + 1e-15:
            raise ValueError(
                f"the profile is not convex: δ = {middle:g} at ε = {e:g} lies above the line between its neighbours"
                " (δ is a convex function of e^ε): correct or leave out that row"
            )


CURVE_POINTS = 257
"""Points at which a trade-off function is looked at before it is believed to be one."""


@dataclass(frozen=True)
class TradeOff(Claim):
    """f-DP: a test with type I error a has a type II error of at least f(a).

    f maps [0, 1] to [0, 1], is convex and decreasing, and f(a) ≤ 1 − a; it works on arrays, or is called number by
    number. The number is a slack: the least s for which f − s holds.

    Attributes:
        f: the trade-off function, of a type I error.
        name: how it is called in results.
        slack: what is taken off f; 0 as claimed.

    >>> print(TradeOff(lambda a: max(0, 1 - 2 * a), name="two"))
    two-DP
    """

    f: Callable[[Any], Any]
    name: str = "f"
    slack: float = 0.0
    symbol: ClassVar[str] = "slack"
    floor: ClassVar[float] = 0.02

    def __post_init__(self) -> None:
        """Refuse what is no trade-off function."""
        if not callable(self.f):
            raise ValueError(f"f = {self.f!r:.60} must be a function of the type I error, e.g. lambda a: (1 - a) ** 2")
        grid = np.linspace(0.0, 1.0, CURVE_POINTS)
        found = self._errors(grid)
        if not np.isfinite(found).all() or found.min() < 0 or (found > 1 - grid + 1e-9).any():
            raise ValueError(f"{self.name} is no trade-off function: 0 ≤ f(a) ≤ 1 − a must hold for all a in [0, 1]")
        if (np.diff(found) > 1e-9).any():
            raise ValueError(f"{self.name} is no trade-off function: it must be decreasing")
        if (np.diff(found, 2) < -1e-9).any():
            raise ValueError(f"{self.name} is no trade-off function: it must be convex")

    def _errors(self, a: Array) -> Array:
        if self._takes_arrays:
            return np.asarray(self.f(np.asarray(a, dtype=float)), dtype=float)
        return np.array([float(self.f(float(x))) for x in np.ravel(a)]).reshape(np.shape(a))

    @cached_property
    def _takes_arrays(self) -> bool:
        """Whether f of an array is what f is of each number."""
        grid = np.linspace(0.0, 1.0, CURVE_POINTS)
        try:
            found = np.asarray(self.f(grid), dtype=float)
        except Exception:  # noqa: BLE001 - a function of numbers may refuse an array in any way
            return False
        return bool(np.array_equal(found, [float(self.f(float(x))) for x in grid]))

    @property
    def number(self) -> float:
        """The slack, 0 as claimed."""
        return self.slack

    @property
    def least(self) -> float:
        """No slack can be below that."""
        return -1.0

    def at(self, number: float) -> TradeOff:
        """The same function, less a slack."""
        return replace(self, slack=number)

    def value(self, p: Array, q: Array) -> Array:
        """By how much the type II error is too small, of "P, if in S" or of "Q, if not in S"."""
        return np.asarray(np.maximum(self._errors(q) - (1 - p), self._errors(np.maximum(1 - p, 0.0)) - q))

    def merit(self, p: Array, q: Array) -> Array:
        """The slack, if there is any; else how far p is from what f allows, in normal quantiles that are brought into
        (−1, 0]. (The slack of an event that never happens is nearly zero, more than that of any useful one.)
        """
        excess = self.value(p, q) - self.slack
        with np.errstate(invalid="ignore"):
            near = special.ndtri(np.clip(p, 0, 1)) - special.ndtri(1 - np.clip(self._errors(q) - self.slack, 0, 1))
        behind = 2 * special.ndtr(np.minimum(np.nan_to_num(near, nan=-np.inf), 0.0)) - 1
        return np.asarray(np.where(excess > 0, excess, behind))

    @property
    def far(self) -> float:
        """Half of what f leaves between it and no privacy at all."""
        return max(float(self._errors(np.linspace(0, 1, CURVE_POINTS)).max()) / 2, self.floor)

    def bound_as_text(self, number: float) -> str:
        """A lower bound in words."""
        side = "below" if number >= 0 else "above"
        return f"that of a type II error {self.shown(number).removeprefix('-')} {side} {self.name}"

    def __str__(self) -> str:
        return f"{self.name}-DP"


def claimed(
    claim: Claim | None,
    epsilon: Any = None,
    delta: Any = 0.0,
    rho: Any = None,
    mu: Any = None,
) -> Claim:
    """The one claim that is made: as an object, or in the shorthand epsilon= (and delta=), rho= or mu=."""
    given = {"claim": claim, "epsilon": epsilon, "rho": rho, "mu": mu}
    made = [name for name, value in given.items() if value is not None]
    if len(made) != 1:
        said = " and ".join(made) + " are" if made else "nothing is"
        raise ValueError(f"{said} claimed: give one of epsilon= (with delta=), rho=, mu=, claim=GDP(0.5)")
    if made[0] != "epsilon" and delta:
        raise ValueError(f"delta = {delta!r} goes with epsilon=, not with {made[0]}=")
    kind: Any = claim
    if isinstance(kind, type) and issubclass(kind, Claim):
        raise ValueError(f"claim = {kind.__name__} has no number yet: write claim={kind.__name__}(…), e.g. GDP(0.5)")
    if claim is not None and not isinstance(claim, Claim):
        raise ValueError(f"claim = {claim!r:.60} is no claim: give Epsilon, GDP, ZCDP, RDP, Profile or TradeOff")
    return claim or (Epsilon(epsilon, delta) if epsilon is not None else ZCDP(rho) if rho is not None else GDP(mu))


CURRENCIES: dict[str, Callable[..., Claim]] = {
    "epsilon": lambda delta=0.0: Epsilon(0.0, delta),
    "mu": lambda: GDP(0.0),
    "rho": lambda: ZCDP(0.0),
    "rdp": lambda alpha: RDP(alpha, 0.0),
}
"""Claims of nothing at all, whose number a bound may be stated in."""


def currency(name: str, **parameters: float) -> Claim:
    """The claim of nothing in a currency: "epsilon" (at a delta), "mu", "rho", "rdp" (of an order alpha)."""
    if name not in CURRENCIES:
        raise ValueError(f"currency = {name!r} must be one of {', '.join(CURRENCIES)}")
    try:
        return CURRENCIES[name](**parameters)
    except TypeError:
        wanted = {"epsilon": "delta=1e-5", "rdp": "alpha=8"}.get(name, "no further argument")
        raise ValueError(f"a bound in {name} takes {wanted}, not {', '.join(parameters) or 'nothing'}") from None
