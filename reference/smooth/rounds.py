"""What Algorithms 4 and 5 share: rounds, disjoint batches, counted gradients, the output index, and the conditions on
R and b.

| paper | here |
|---|---|
| R, b, n | `R`, `b`, `n` |
| B_r^t, ⌊·⌋ as printed or ⌈b/(t+1)⌉ | `Batches.take`: consecutive slices of one uniform permutation, in (r, t) order |
| Σ_{z ∈ B} ∇f(w, z) | `Gradients.total` (counted: the paper measures time in gradient evaluations) |
| ŵ uniform over (w_r^t) | `output_index`: lexicographic in (r, t), 2^R − 1 iterates, the very last point excluded |

The batches of all (r, t) must be disjoint and chosen without looking at the data; the printed lines ask only for
samples drawn "from S" each time. One permutation, read off in order, gives both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reference.numerics.numbers import Exact, Numbers, Real, Vector, floor_log2
from reference.numerics.preconditions import require, whole
from reference.numerics.rounding import require_sizes
from reference.numerics.tape import Draw
from reference.paper.events import Trace
from reference.paper.registry import claims, implements
from reference.setting.data import FEATURE_SLACK
from reference.setting.losses_convex import require_valid_on
from reference.setting.sets import require_inside
from reference.smooth.sensitivity import batch_sizes


@dataclass(frozen=True)
class SFWRun:
    """What an algorithm of Section 4 gives back: ŵ, its place (r, t), all candidates, and what it cost."""

    output: Vector
    index: tuple[int, int]
    iterates: tuple[Vector, ...] = field(repr=False)
    gradient_evaluations: int
    samples_used: int
    trace: Trace | None = field(default=None, repr=False)


class Batches:
    """Disjoint batches: consecutive slices of a permutation of the records; `last` has the latest one's indices."""

    def __init__(self, dataset: Sequence[Any], permutation: Sequence[int]):
        self._dataset = dataset
        self._order = permutation
        self.used = 0
        self.last: tuple[int, ...] = ()

    def take(self, size: int) -> list[Any]:
        """The next `size` records."""
        chosen = self._order[self.used : self.used + size]
        require(len(chosen) == size, "batch size", size, f"be at most the {len(chosen)} records that are left")
        self.used += size
        self.last = tuple(chosen)
        return [self._dataset[i] for i in chosen]


class Gradients:
    """Σ_{z ∈ B} ∇f(w, z), with a counter of single-record evaluations."""

    def __init__(self, K: Numbers, loss: Any):
        self._K = K
        self._loss = loss
        self.evaluations = 0

    def total(self, w: Vector, batch: Sequence[Any]) -> Vector:
        """The sum of the gradients at w over the batch, in order."""
        self.evaluations += len(batch)
        total: Vector = self._loss.gradient(self._K, w, batch[0])
        for z in batch[1:]:
            total = total + self._loss.gradient(self._K, w, z)
        return total


def output_index(i: int) -> tuple[int, int]:
    """The (r, t) of the i-th iterate: rounds have 1, 2, 4, … of them."""
    r = floor_log2(i + 1)
    return r, i + 1 - 2**r


def iterate_count(R: int) -> int:
    """2^R − 1: the number of iterates (w_r^t), r < R, t < 2^r. (The proofs divide by 2^R.)"""
    return int(2 ** whole("R", R)) - 1


# ------------------------------------------------------------------------- how many samples a plan needs


def samples_needed(R: int, b: int) -> int:
    """Σ_{r<R} Σ_{t<2^r} ⌈b/(t+1)⌉: the records that the corrected algorithms read."""
    return sum(sum(batch_sizes(b, 2**r)) for r in range(R))


@claims("sec:polySFW", "printed")
def samples_bound_printed(R: int, b: int) -> int:
    """bR², the bound of the remark on R and b: enough for the ceilings too whenever b ≥ 2^{R−1}.

    *Proof.* ⌈b/j⌉ ≤ (b + j − 1)/j, so the total is at most bΣ_{r<R}H_{2^r} + 2^R − 1 − ΣH ≤ b(R + ln2·R(R−1)/2) + 2b,
    which is at most bR² for R ≥ 3. R = 1: b. R = 2: 2b + ⌈b/2⌉ ≤ 4b. ∎ The step printed on the way, Σ_{r=0}^{R}(r ln
    2 + 1) < R², is false for R = 1, 2.
    """
    return b * R * R


def check_rounds(n: int, R: int, b: int, exact_budget: bool = False) -> None:
    """The conditions of the remark on R and b; one line says which fails and for which n it would hold."""
    whole("R", R)
    whole("b", b)
    need = 2 ** (R - 1)
    require(
        b >= need,
        "b",
        b,
        f"be at least 2^(R−1) = {need}",
        f"step t has b/(t+1) records and R = {R} has steps up to t = {need - 1}; lower R or use a larger b",
    )
    if exact_budget:
        total = samples_needed(R, b)
        require(total <= n, "n", n, f"be at least {total}", f"R = {R}, b = {b} read {total} records; lower b")
        return
    total = samples_bound_printed(R, b)
    require(
        total <= n,
        "n",
        n,
        f"meet bR² ≤ n, that is n ≥ {total}",
        f"the batches are disjoint; lower b to {n // (R * R)}, or count exactly (exact_budget=True)",
    )


def check_privacy(epsilon: Any, delta: Any) -> None:
    """ε > 0 and 0 < δ < 1, for exact numbers and for scalars that compare."""
    for name, value, top in (("epsilon", epsilon, None), ("delta", delta, 1)):
        if isinstance(value, str):
            from fractions import Fraction

            value = Fraction(value)
        if not hasattr(value, "ball"):
            require(bool(value > 0), name, value, "be positive")
            require(top is None or bool(value < 1), name, value, "be below 1", "log(1/δ) must be positive")


def checked_setting(K: Numbers, loss: Any, W: Any, D: Exact | Real | None, start: Vector | None) -> Real:
    """D, the ‖·‖_p-diameter of W unless given; refuses what depends on no record and would spoil the proof.

    That is a D below the diameter (moves are longer than the noise is made for), a start outside W, and a W on which
    the constants of the loss do not hold.
    """
    smooth = hasattr(loss, "L1") and hasattr(loss, "gradient")
    require(smooth, "loss", loss, "be smooth, with its L1", "for convex and weakly convex losses see Sections 3 and 5")
    require_valid_on(K, loss, W)
    if start is not None:
        require_inside(K, W, start, "start")
    true = W.diameter(K, loss.p)
    require_sizes(K, L0=loss.L0, L1=loss.L1, D=true, reach=W.norm_bound(K, loss.p))
    if D is None:
        return true
    require_sizes(K, D=K(D))
    large, remedy = K.unwatched.le(true * K(1 - FEATURE_SLACK), K(D)), "moves in W are as long as its diameter"
    require(large, "D", K.to_float(K(D)), f"be at least the diameter {K.to_float(true):.6g} of W", remedy)
    return K(D)


def round_draws(kind: Any, symbol: str, dim: int, R: int, first_step: int = 0) -> list[Draw]:
    """One vector draw a step (r, t), t ≥ `first_step`."""
    return [Draw(symbol, (r, t), kind, dim) for r in range(R) for t in range(first_step, 2**r)]


def common_draws(n: int, R: int) -> list[Draw]:
    """The permutation that makes the batches and the index of the output."""
    return [Draw("pi", (), "permutation", n), Draw("hat", (), "index", iterate_count(R))]


def stationarity_gap(K: Numbers, W: Any, gradient: Vector, w: Vector) -> Real:
    """max_{v ∈ W} ⟨∇F(w), w − v⟩ for ∇F(w) = `gradient`."""
    return gradient @ (w - W.linear_minimiser(K, gradient))


def population_gradient(K: Numbers, loss: Any, support: Sequence[tuple[Any, Any]], w: Vector) -> Vector:
    """∇F_D(w) for a distribution with finite support: pairs (record, probability)."""
    total = K.zeros(len(w))
    for z, weight in support:
        total = total + loss.gradient(K, w, z) * K(weight)
    return total


@implements("eqn:st-gap", "printed")
def population_gap(K: Numbers, loss: Any, support: Sequence[tuple[Any, Any]], W: Any, w: Vector) -> Real:
    """The stationarity gap of the exact population risk."""
    return stationarity_gap(K, W, population_gradient(K, loss, support, w), w)
