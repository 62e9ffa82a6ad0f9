"""Adversarial checks of deterministic claims: the sensitivity of a query, the accuracy of a gradient oracle.

Both look for the worst case and climb towards it. What they return is a lower bound with a witness: "exceeded" is a
proof (run the witness), "within" says only that the search did not get higher.
"""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from audit.auditor.search.climb import climb
from audit.auditor.terms.relation import records, same

SLACK = 1e-9
"""Relative room for rounding before a claim counts as exceeded."""


@dataclass(frozen=True)
class SearchResult:
    """The largest value found, where, and whether it exceeds the claim. Prints as one paragraph.

    Attributes:
        verdict: "exceeded" (the witness proves it) or "within" (the search did not get higher).
        largest: the largest value found.
        claimed: what is claimed.
        witness: where it was found: a pair of datasets, or the input (w, x, y) of an oracle.
        evaluations: how many pairs or inputs were tried.
        seed: makes the search repeatable.
        what: what was measured.

    >>> SearchResult("within", 0.5, 1.0, None, 10, 0).exceeded
    False
    """

    verdict: str
    largest: float
    claimed: float
    witness: Any
    evaluations: int
    seed: int
    what: str = "sensitivity"

    @property
    def exceeded(self) -> bool:
        """Whether the claim is refuted."""
        return self.verdict == "exceeded"

    def to_dict(self) -> dict[str, Any]:
        """Plain data; an infinite value becomes null."""
        data = asdict(self)
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in data.items()}

    def __str__(self) -> str:
        relation = "EXCEEDED: the" if self.exceeded else "WITHIN: the largest"
        found = f"{relation} {self.what} found is {self.largest:.6g}, claimed {self.claimed:.6g}"
        found += f", ratio {self._ratio():.4g}; {self.evaluations} evaluations, seed {self.seed}"
        return f"{found}. Witness: {self.witness!r}"

    def _ratio(self) -> float:
        return self.largest / self.claimed if self.claimed > 0 else math.inf if self.largest > 0 else 1.0


def _judge(largest: float, claimed: float, witness: Any, evaluations: int, seed: int, what: str) -> SearchResult:
    verdict = "exceeded" if largest > claimed * (1 + SLACK) else "within"
    return SearchResult(verdict, largest, claimed, witness, evaluations, seed, what)


def _check(claimed: float, budget: int) -> None:
    if not (hasattr(claimed, "__float__") and claimed >= 0):
        raise ValueError(f"claimed = {claimed!r} must be a number ≥ 0")
    if budget < 1:
        raise ValueError(f"budget = {budget} must be at least 1")


# -------------------------------------------------------------------------------------------- sensitivity


def audit_sensitivity(
    query: Callable[[Any], Any],
    neighbours: Any,
    *,
    claimed: float,
    norm: float | str = 2,
    budget: int = 2000,
    seed: int = 0,
    bounds: tuple[float, float] | None = None,
) -> SearchResult:
    """The largest ‖query(D) − query(D')‖ found over neighbours, with its pair.

    The search climbs: strategies are driven towards larger values; records of listed or generated pairs are recombined,
    so that new datasets consist of records that occurred.

    Args:
        query: a deterministic function of a dataset that returns numbers.
        neighbours: a list of pairs (D, D'), a hypothesis strategy of pairs, or a callable that makes a pair (from a
            `numpy.random.Generator` if it takes an argument).
        claimed: the claimed sensitivity.
        norm: p of the norm, at least 1, or inf.
        budget: pairs to evaluate.
        seed: makes the search repeatable.
        bounds: (low, high), within which numeric records may move, too.

    Returns:
        A `SearchResult`.

    Raises:
        ValueError: an argument is not what it should be; the message names it, the condition and the remedy.

    >>> def mean(dataset):
    ...     return sum(dataset) / len(dataset)
    >>> result = audit_sensitivity(mean, [([0.0, 0.5], [0.2, 0.5])], claimed=0.25, bounds=(0.0, 1.0), budget=500)
    >>> result.verdict, round(result.largest, 2)
    ('exceeded', 0.5)
    """
    _check(claimed, budget)
    if not callable(query):
        raise ValueError(f"query = {query!r} must be callable as query(dataset)")
    distance = _Distance(query, _order(norm), budget)
    if hasattr(neighbours, "example") and hasattr(neighbours, "validate"):
        _evolve(distance, _drive_strategy(distance, neighbours, seed), np.random.default_rng(seed), bounds)
    else:
        _evolve(distance, neighbours, np.random.default_rng(seed), bounds)
    if distance.witness is None:
        raise ValueError("neighbours gave no pair: nothing was evaluated")
    _refuse_noise(distance)
    return _judge(distance.largest, claimed, distance.witness, distance.evaluations, seed, "sensitivity")


def _order(norm: float | str) -> float:
    try:
        order = float(norm)
    except ValueError:
        order = math.nan
    if not order >= 1:
        raise ValueError(f"norm = {norm!r} must be a number p ≥ 1 or inf")
    return order


class _Distance:
    """‖query(D) − query(D')‖, remembering the largest."""

    def __init__(self, query: Callable[[Any], Any], order: float, budget: int):
        self.query, self.order, self.left = query, order, budget
        self.largest, self.evaluations = -1.0, 0
        self.witness: tuple[Any, Any] | None = None

    def __call__(self, pair: tuple[Any, Any]) -> float:
        self.left -= 1
        self.evaluations += 1
        a, b = (numbers_of(self.query(d), "query(dataset)").ravel() for d in pair)
        value = math.inf
        if a.shape == b.shape:
            value = float(np.linalg.norm(a - b, ord=self.order)) if len(a) else 0.0
        if math.isnan(value):
            value = 0.0 if np.array_equal(a, b, equal_nan=True) else math.inf
        if value > self.largest:
            self.largest, self.witness = value, pair
        return value


def numbers_of(answer: Any, what: str) -> np.ndarray:
    """A deterministic answer as an array of numbers; anything else is refused: it has no distance to another."""
    with contextlib.suppress(TypeError, ValueError):
        if answer is not None:
            return np.asarray(answer, dtype=float)
    shown = repr(answer) if len(repr(answer)) <= 60 else f"a {type(answer).__name__}"
    raise ValueError(f"{what} gave {shown}: it must return a number, or an array or list of numbers")


def _refuse_noise(distance: _Distance) -> None:
    """Ask again for the witness: a query that answers differently is a noisy one, and its distances mean nothing."""
    assert distance.witness is not None
    for dataset in distance.witness:
        first, second = (numbers_of(distance.query(dataset), "query(dataset)") for _ in range(2))
        if not np.array_equal(first, second, equal_nan=True):
            raise ValueError(
                f"query gave {first.tolist()!r:.60} and then {second.tolist()!r:.60} on the same dataset: its"
                " sensitivity is that of the query without noise; give that (or the whole mechanism to audit_dp)"
            )


def _drive_strategy(distance: _Distance, strategy: Any, seed: int) -> list[tuple[Any, Any]]:
    """Hypothesis generates pairs and, by its targeting, climbs towards larger distances; the best pairs come back."""
    import hypothesis

    phases = [hypothesis.Phase.generate, hypothesis.Phase.target]

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=max(1, distance.left * 2 // 3),
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategy)
    def look(pair: tuple[Any, Any]) -> None:
        value = distance(_pair(pair))
        seen.append((value, len(seen), pair))
        hypothesis.target(min(value, 1e300))

    seen: list[tuple[float, int, tuple[Any, Any]]] = []
    look()
    return [pair for _, _, pair in sorted(seen, key=lambda s: (-s[0], s[1]))[:40]]


def _evolve(distance: _Distance, neighbours: Any, rng: np.random.Generator, bounds: tuple[float, float] | None) -> None:
    """Evaluate given or generated pairs, then recombine the best."""
    made = list(_pairs(neighbours, rng, max(1, distance.left // 2)))
    scored = sorted(((distance(p), i, p) for i, p in enumerate(made[: distance.left])), key=lambda s: -s[0])
    pool = [r for p in made[:200] for d in p for r in records(d) or []]
    parents = [(value, pair) for value, _, pair in scored[:8] if records(pair[0]) is not None]
    while distance.left > 0 and parents and pool:
        at = int(rng.integers(len(parents)))
        child = _child(parents[at][1], pool, rng, bounds)
        if child is None:
            distance.left -= 1
            continue
        value = distance(child)
        if value > parents[at][0]:
            parents[at] = (value, child)


def _pairs(neighbours: Any, rng: np.random.Generator, count: int) -> Iterable[tuple[Any, Any]]:
    if callable(neighbours):
        takes = bool(inspect.signature(neighbours).parameters)
        return (_pair(neighbours(rng) if takes else neighbours()) for _ in range(count))
    if not isinstance(neighbours, Iterable):
        raise ValueError(f"neighbours = {neighbours!r} must be a list of pairs, a hypothesis strategy or a callable")
    return [_pair(p) for p in neighbours]


def _pair(made: Any) -> tuple[Any, Any]:
    if not isinstance(made, tuple | list) or len(made) != 2:
        raise ValueError(f"neighbours gave {made!r:.60}: it must give pairs (dataset, neighbour)")
    return made[0], made[1]


def _child(
    pair: tuple[Any, Any], pool: Sequence[Any], rng: np.random.Generator, bounds: tuple[float, float] | None
) -> tuple[Any, Any] | None:
    """Another pair with the same relation: one common record changed in both, or the differing record changed."""
    a, b = (list(records(d) or []) for d in pair)
    at = int(rng.integers(max(len(a), len(b))))
    fresh = pool[int(rng.integers(len(pool)))]
    if bounds is not None and rng.random() < 0.5:
        fresh = _moved(a[at] if at < len(a) else b[at], rng, bounds)
    if at < min(len(a), len(b)) and same(a[at], b[at]):
        a[at] = b[at] = fresh
    elif at < len(b) and (at >= len(a) or rng.random() < 0.5):
        b[at] = fresh
    else:
        a[at] = fresh
    rebuilt = _rebuild(pair[0], a), _rebuild(pair[1], b)
    return None if rebuilt[0] is None or rebuilt[1] is None else (rebuilt[0], rebuilt[1])


def _moved(record: Any, rng: np.random.Generator, bounds: tuple[float, float]) -> Any:
    low, high = bounds
    values = np.asarray(record, dtype=float)
    scale = (high - low) * float(rng.choice([0.5, 0.1, 0.02]))
    moved = np.clip(values + scale * rng.standard_normal(values.shape), low, high)
    if rng.random() < 0.3:
        moved = np.where(rng.random(values.shape) < 0.5, low, high)
    return (
        float(moved)
        if values.ndim == 0
        else type(record)(moved.tolist())
        if isinstance(record, list | tuple)
        else moved
    )


def _rebuild(like: Any, rows: list[Any]) -> Any:
    """The records as the kind of dataset they came from; None for a kind that is not understood."""
    if isinstance(like, np.ndarray):
        return np.array(rows, dtype=like.dtype)
    if isinstance(like, tuple) and like and all(isinstance(c, np.ndarray) for c in like):
        return tuple(np.array([r[i] for r in rows], dtype=c.dtype) for i, c in enumerate(like))
    return type(like)(rows) if isinstance(like, list | tuple) else None


# ------------------------------------------------------------------------------------------------ oracle


def audit_oracle(
    oracle: Callable[..., Any],
    loss: Callable[[Any, Any], Any],
    *,
    beta: float,
    alpha: float,
    L0: float,
    R: float,
    budget: int = 2000,
    seed: int = 0,
    dim: int = 2,
    labels: Sequence[Any] = (-1, 1),
    reach: float | None = None,
) -> SearchResult:
    """The largest ‖oracle(w, x, y) − ∇f_β(w, (x, y))‖₂ found, with its input (w, x, y).

    f(w, (x, y)) = loss(⟨w, x⟩, y), convex and L0-Lipschitz in its first argument; f_β is its Moreau smoothing, so the
    exact gradient is β(m − u*)x with m = ⟨w, x⟩ and u* the minimiser of loss(u, y) + (β/2)(u − m)². The search climbs
    over w, ‖x‖₂ ≤ R and the labels.

    Args:
        oracle: called as oracle(w, x, y) with numpy vectors; returns a gradient.
        loss: the function loss(u, y) of the margin u and the label; mpmath numbers as u make the comparison sharper.
        beta: β, the parameter of the smoothing.
        alpha: the claimed accuracy.
        L0: the Lipschitz constant of the loss.
        R: the largest norm of x.
        budget: inputs to evaluate.
        seed: makes the search repeatable.
        dim: the dimension of w and x.
        labels: the labels that occur.
        reach: how far |⟨w, x⟩| goes; 2 + 4·L0/β unless said.

    Returns:
        A `SearchResult`.

    Raises:
        ValueError: an argument is not what it should be; the message names it, the condition and the remedy.

    >>> def clipped(w, x, y):  # the exact gradient of the smoothed absolute value, for β = 1
    ...     return max(-1.0, min(1.0, float(w @ x))) * x
    >>> audit_oracle(clipped, lambda u, y: abs(u), beta=1.0, alpha=1e-6, L0=1.0, R=1.0, budget=100).verdict
    'within'
    """
    _check(alpha, budget)
    for name, value in (("beta", beta), ("L0", L0), ("R", R)):
        if not (hasattr(value, "__float__") and value > 0):
            raise ValueError(f"{name} = {value!r} must be a positive number")
    span = (2 + 4 * L0 / beta if reach is None else reach) / R
    kept: dict[str, Any] = {"largest": -1.0, "witness": None}

    def error(point: np.ndarray) -> float:
        w, x = point[:dim], point[dim : 2 * dim]
        x = x * (R / max(float(np.linalg.norm(x)), R))
        y = labels[min(len(labels) - 1, int(point[-1] * len(labels)))]
        m = float(w @ x)
        exact = beta * (m - prox(loss, y, beta, m, L0)) * x
        gradient = numbers_of(oracle(w, x, y), "oracle(w, x, y)")
        if gradient.shape != x.shape:
            raise ValueError(f"oracle(w, x, y) gave shape {gradient.shape}: a gradient has that of w, {w.shape}")
        value = float(np.linalg.norm(gradient - exact))
        value = math.inf if math.isnan(value) else value
        if value > kept["largest"]:
            kept.update(largest=value, witness=(w.tolist(), x.tolist(), y))
        return min(value, 1e300)

    box = [(-span, span)] * dim + [(-R, R)] * dim + [(0.0, 1.0)]
    best = climb(error, [0.1 * span] * dim + [R / math.sqrt(dim)] * dim + [0.25], box, budget, seed)
    return _judge(kept["largest"], alpha, kept["witness"], best.evaluations, seed, "oracle error")


def prox(loss: Callable[[Any, Any], Any], y: Any, beta: float, m: float, L0: float) -> float:
    """argmin of loss(u, y) + (β/2)(u − m)² over |u − m| ≤ L0/β, to about 1e-20 of the range where the loss takes
    mpmath numbers.

    Golden-section search by values: k digits of arithmetic give k/2 digits of the minimiser, so 50 digits are used. A
    loss that only works in binary64 gives about 1e-8 of the range.
    """
    import mpmath

    context = mpmath.mp.clone()
    context.dps = 50
    try:
        loss(context.mpf(m), y)
        number: Callable[[float], Any] = context.mpf
        steps = 110
    except TypeError:
        number, steps = float, 45
    centre, radius = number(m), number(L0) / number(beta)
    ratio = (number(5) ** number(0.5) - 1) / 2

    def height(u: Any) -> Any:
        return loss(u, y) + number(beta) / 2 * (u - centre) ** 2

    low, high = centre - radius, centre + radius
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = height(left), height(right)
    for _ in range(steps):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = height(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = height(right)
    return float((low + high) / 2)
