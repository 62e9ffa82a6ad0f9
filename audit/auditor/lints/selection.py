"""Report noisy max: what the index of the largest of several noisy scores loses, which is all that is published.

That a mechanism selects is seen from its recorded runs: the output and the place of the largest (or the smallest) noisy
score determine each other in all of them. The law of that place follows from the scores and the noise,

    P(i) = ∫ f(x − q_i) ∏_{j ≠ i} F(x − q_j) dx,

by one integral for noise of any kind (for Gumbel noise it is the exponential mechanism), and its loss from the laws of
both datasets. What is added up elsewhere (a transcript) has the loss of all scores, which is above that of the index.

**What is sound.** The scores are those of a replay, where everything that was published before is equal on both sides.
Scores with noise of one kind and scale, drawn at one line; where the draws are more, or used otherwise, nothing is
concluded. That the place is what is published rests on the runs that were compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audit.auditor.lints.losses import FAMILIES, epsilon_where
from audit.auditor.lints.recorder import RecordedRun
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.leaves import flatten
from audit.auditor.terms.result import Finding

Array = np.ndarray

CELLS, REACH = 4000, 45.0
"""Cells of the integral, and how many scales it goes beyond the scores: chosen; the noise beyond has a chance of 1e-19
(a Cauchy law, which has heavier tails, is left out)."""
MOST_SCORES = 2000
"""Scores beyond which the integral is not worked out: chosen for time."""
MARGIN = 1e-3
"""A loss must exceed the claim by this much, relatively: the error of the integral is smaller."""
LARGEST = 600.0
"""A loss beyond this counts as infinite."""


def place_law(family: str, scores: Array) -> Array:
    """The law of the place of the largest score with noise of scale 1."""
    law = FAMILIES[family]
    grid = np.linspace(scores.min() - REACH, scores.max() + REACH, CELLS + 1)
    edges = np.union1d(grid, scores)
    x, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    with np.errstate(divide="ignore"):
        logs = np.log(law.cdf(x[:, None] - scores))
    with np.errstate(invalid="ignore"):
        others = logs.sum(axis=1, keepdims=True) - logs
    others = np.where(np.isnan(others), -np.inf, others)
    chances = (law.pdf(x[:, None] - scores) * np.exp(others) * width[:, None]).sum(axis=0)
    return np.asarray(chances / chances.sum())


def place_loss(first: Array, second: Array, delta: float) -> float:
    """ε at this δ of a place with either law."""

    def excess(epsilon: float) -> float:
        ways = (first, second), (second, first)
        return max(float(np.maximum(a - np.exp(epsilon) * b, 0.0).sum()) for a, b in ways)

    if delta <= 0:
        known = (first > 0) | (second > 0)
        with np.errstate(divide="ignore"):
            return float(np.abs(np.log(first[known]) - np.log(second[known])).max())
    return epsilon_where(excess, delta, LARGEST)


def _scored(run: RecordedRun) -> tuple[str, str, Array, Array, Array] | None:
    """Line, family, scores, noisy scores and scales, if all draws are noise of one kind on scores that is added once,
    in the direction of the draw (or all against it, where the family is symmetric).
    """
    calls = run.calls
    if run.error or not calls or len({(c.site, c.distribution) for c in calls}) != 1 or any(c.opaque for c in calls):
        return None
    family = calls[0].distribution
    if family not in FAMILIES or family == "cauchy" or any(c.has_location for c in calls):
        return None
    parts, signs = [], []
    for a in run.additions:
        shape = np.shape(a.result)
        if int(np.prod(a.noise_shape)) != int(np.prod(shape)) or np.shape(a.quantity) != shape:
            return None
        scale = np.broadcast_to(np.asarray(a.scale, dtype=float), shape)
        parts.append([np.ravel(np.asarray(x, dtype=float)) for x in (a.quantity, a.result, scale)])
        signs.append(np.ravel(np.asarray(a.sign, dtype=float)))
    if not parts:
        return None
    quantity, result, scale = (np.concatenate([p[k] for p in parts]) for k in range(3))
    if len(quantity) != sum(int(np.prod(c.shape)) for c in calls):
        return None
    if not 2 <= len(quantity) <= MOST_SCORES or not np.all(scale > 0) or np.ptp(scale) > 1e-9 * scale.max():
        return None
    if family in ("gumbel", "exponential") and np.any(np.concatenate(signs) != 1):
        return None
    return calls[0].site, family, quantity, result, scale


def _place(result: Array, smallest: bool) -> int:
    return int(np.argmin(result) if smallest else np.argmax(result))


def _selects(recorded: Sequence[RecordedRun], smallest: bool) -> bool:
    """Whether output and place determine each other in all runs, and both vary."""
    pairs = set()
    for run in recorded:
        scored = _scored(run)
        if scored is None:
            return False
        pairs.add((_place(scored[3], smallest), repr(flatten(run.output)[0])))
    return len(pairs) == len({p for p, _ in pairs}) == len({o for _, o in pairs}) > 1


def selection_findings(
    recorded: Sequence[RecordedRun], replays: Sequence[tuple[RecordedRun, RecordedRun]], claim: Epsilon
) -> list[Finding]:
    """Whether the index of the largest noisy score, or of the smallest, loses more than the claim."""
    for smallest in (False, True):
        if not _selects(recorded, smallest):
            continue
        losses = []
        for runs in replays:
            a, b = (_scored(run) for run in runs)
            if a is None or b is None or len(a[2]) != len(b[2]) or abs(a[4][0] - b[4][0]) > 1e-9 * a[4][0]:
                return []
            if smallest and a[1] in ("gumbel", "exponential"):
                return []
            sign = -1.0 if smallest else 1.0
            laws = [place_law(a[1], sign * x[2] / x[4][0]) for x in (a, b)]
            losses.append(place_loss(laws[0], laws[1], claim.delta))
        typical = float(np.sort(losses)[(len(losses) - 1) // 2])
        if a is not None and typical > claim.epsilon * (1 + MARGIN) + 1e-9:
            what = "smallest" if smallest else "largest"
            message = (
                f"the output tells which of {len(a[2])} noisy scores is the {what} ({a[1]} noise of scale {a[4][0]:.4g}"
                f" drawn at {a[0]}): a loss of ε = {typical:.4g} at δ = {claim.delta:g} for the index alone, claimed"
                f" {claim.epsilon:g}"
            )
            return [Finding("selection", message, {"site": a[0], "scale": float(a[4][0]), "epsilon": typical})]
    return []
