"""Looking for a telling pair from one example of a dataset, with few calls a pair.

The example says the form of a dataset (a list, an array, (X, y)), its columns, its labels and their range. Pairs of
that form are made in several sizes (patterns of extremes, zeros, varied records, the example itself; one record changed
to an extreme, its negative, zero, another label, added or removed). Each is looked at in a handful of watched calls: on
the same draws, by how much do the sums move in units of their noise, do outputs, errors or scales differ? The pairs
that stand out are compared by draws; those of both rankings are audited. Where nothing is clipped, records beyond the
range of the example would tell more: that is a remark, because the claim may be about records in the range only. If it
is about all (`Space(like=…, beyond=1000, labels_beyond=1000)`), SCALES times the range are among the pairs.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.auditor.lints.recorder import Recorder
from audit.auditor.lints.replay import Replayed, replay
from audit.auditor.lints.subject import Subject
from audit.auditor.search.pairs import SIZES
from audit.auditor.targets.containment import Watch, contained
from audit.auditor.targets.run import Run
from audit.auditor.targets.sampling import SEARCH, CallableTarget, Pair, Target, TargetError
from audit.auditor.terms.leaves import as_array, flatten
from audit.auditor.terms.relation import same
from audit.auditor.terms.result import Finding

Array = np.ndarray
Change = tuple[str, Callable[[Array, Array | None], tuple[Array, Array | None] | None]]

LOOKED_AT = 3
"""Recorded runs a side of each pair: chosen; most of what data do to a run shows in one."""
RARELY = 24
"""Further calls where records are chosen at random, and the one that differs may not be among them: chosen."""
COMPARED = 6
"""Pairs that are compared by draws: chosen."""
AUDITED = 3
"""Pairs that are audited in the end: as many as the lints look at."""
MOST_PAIRS = 240
"""Pairs that are looked at, at most: chosen for time."""
TIME_SHARE = 0.2
"""Of the time of an audit, the part for looking at pairs; as much goes into comparing them by draws."""
DRAWS, FEWEST_DRAWS = 200, 20
"""Draws by which each pair is compared, where there is time for them; with fewer than these nothing is compared."""
LOOK = 4 * LOOKED_AT
"""Calls that a look takes, at least: runs of both sides, and replays."""
CERTAIN = 10.0
"""The score of a pair on which something is published without noise; others score what their sums move by."""
SCALES = (10.0, 1000.0)
"""How far beyond the range records and labels are tried, where they may lie there: what is clipped in one place may be
forgotten in another, and shows out there only."""
FAR_BEYOND = 100.0
"""How far beyond the range records are tried, for the remark on clipping."""


@dataclass(frozen=True)
class Form:
    """What datasets look like.

    Attributes:
        kind: "list", "array" or "pair" (X, y).
        dim: columns of X; 0 for plain numbers.
        low: the smallest number.
        high: the largest.
        labels: the labels that there are.
        beyond: how many times beyond the range records may lie.
        labels_beyond: the same of labels.
        example: the example's rows and labels.
    """

    kind: str
    dim: int
    low: float
    high: float
    labels: tuple[float, ...]
    example: tuple[Array, Array | None] = field(repr=False)
    beyond: float = 1.0
    labels_beyond: float = 1.0

    @staticmethod
    def of(example: Any) -> Form | None:
        """The form of a dataset of numbers; None for anything else."""
        kind, labels = "array", None
        if isinstance(example, dict) and set(example) == {"X", "y"}:
            example = (example["X"], example["y"])
        if isinstance(example, tuple) and len(example) == 2 and all(as_array(part) is not None for part in example):
            kind, labels = "pair", np.asarray(as_array(example[1]), dtype=float)
            example = example[0]
        elif isinstance(example, list) and example and all(isinstance(x, int | float) for x in example):
            kind, example = "list", np.array(example, dtype=float)
        rows = as_array(example)
        if rows is None or rows.dtype.kind not in "fiub" or rows.ndim not in (1, 2) or not len(rows):
            return None
        rows = np.asarray(rows, dtype=float)
        low, high = float(rows.min()), float(rows.max())
        low, high = (low, high) if low < high else (min(low, 0.0), max(high, 1.0))
        known = () if labels is None else tuple(sorted(set(labels.tolist())))
        if labels is not None and len(known) < 2:
            known = (-known[0], known[0]) if known[0] else (0.0, 1.0)
        return Form(kind, rows.shape[1] if rows.ndim == 2 else 0, low, high, known, (rows, labels))

    def built(self, rows: Array, labels: Array | None) -> Any:
        """A dataset of this form."""
        if self.kind == "list":
            return rows.tolist()
        return rows if labels is None else (rows, labels)

    def bases(self, size: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array | None]]:
        """Datasets to change one record of."""
        for rows, labels in self._bases(size, rng):
            yield self.inside(rows), labels

    def inside(self, rows: Array) -> Array:
        """Rows no longer than the longest of the example, in sums of absolute values and in Euclidean length."""
        if not self.dim:
            return rows
        for order in (1, 2):
            most = float(np.linalg.norm(self.example[0], ord=order, axis=1).max())
            lengths = np.linalg.norm(rows, ord=order, axis=1, keepdims=True)
            if most > 0:
                rows = np.where(lengths > most, rows * most / np.maximum(lengths, 1e-300), rows)
        return rows

    def _bases(self, size: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array | None]]:
        shape = (size, self.dim) if self.dim else (size,)
        classes = np.resize(self.labels, size) if self.labels else None
        single = np.full(size, self.labels[0]) if self.labels else None
        if size == len(self.example[0]):
            yield self.example
        yield np.full(shape, min(max(0.0, self.low), self.high)), classes
        yield np.full(shape, self.high), single
        if self.labels:
            yield np.full(shape, self.high), classes
        mixed = np.where(np.arange(size) % 2 == 0, self.low, self.high)
        yield np.broadcast_to(mixed.reshape(-1, *[1] * (len(shape) - 1)), shape).copy(), classes
        yield rng.uniform(self.low, self.high, size=shape), classes
        yield np.full(shape, self.low), single

    def changes(self, relation: str) -> list[Change]:
        """What is done to one record (the first, or one more)."""
        corner = np.zeros(max(self.dim, 1))
        corner[0] = self.high
        flat = {"high": self.high, "low": self.low, "zero": min(max(0.0, self.low), self.high)}
        values: dict[str, Any] = dict(flat)
        if self.dim:
            values = {name: self.inside(np.full((1, self.dim), x))[0] for name, x in flat.items()}
            values["one column"] = self.inside(corner[None])[0]
        for factor in (x for x in SCALES if x <= self.beyond):
            values[f"{factor:g} times the range"] = factor * max(abs(self.low), abs(self.high))
        if relation == "add-remove":
            out: list[Change] = [(f"{name} added", _adding(value)) for name, value in values.items()]
            return [*out, ("removed", _removed)]
        out = [(name, _setting(value)) for name, value in values.items()]
        out.append(("sign flipped", _negated(self.low, self.high)))
        wild = [x * max(abs(y) for y in self.labels) for x in SCALES if x <= self.labels_beyond and self.labels]
        out = [*((f"label {x:g}", _labelled(x)) for x in wild), *out]
        return [("label flipped", _relabelled(self.labels)), *out] if self.labels else out


def _setting(value: Any) -> Callable[[Array, Array | None], tuple[Array, Array | None]]:
    def change(rows: Array, labels: Array | None) -> tuple[Array, Array | None]:
        rows = rows.copy()
        rows[0] = value
        return rows, labels

    return change


def _negated(low: float, high: float) -> Callable[[Array, Array | None], tuple[Array, Array | None] | None]:
    def change(rows: Array, labels: Array | None) -> tuple[Array, Array | None] | None:
        rows = rows.copy()
        rows[0] = -rows[0]
        return (rows, labels) if np.all((rows[0] >= low) & (rows[0] <= high)) else None

    return change


def _relabelled(known: Sequence[float]) -> Callable[[Array, Array | None], tuple[Array, Array | None] | None]:
    def change(rows: Array, labels: Array | None) -> tuple[Array, Array | None] | None:
        if labels is None:
            return None
        labels = labels.copy()
        labels[0] = known[-1] if labels[0] != known[-1] else known[0]
        return rows, labels

    return change


def _labelled(value: float) -> Callable[[Array, Array | None], tuple[Array, Array | None] | None]:
    def change(rows: Array, labels: Array | None) -> tuple[Array, Array | None] | None:
        return None if labels is None else (rows, np.concatenate([[value], labels[1:]]))

    return change


def _adding(value: Any) -> Callable[[Array, Array | None], tuple[Array, Array | None]]:
    def change(rows: Array, labels: Array | None) -> tuple[Array, Array | None]:
        row = np.broadcast_to(value, rows.shape[1:])[None]
        return np.concatenate([rows, row]), None if labels is None else np.append(labels, labels[:1])

    return change


def _removed(rows: Array, labels: Array | None) -> tuple[Array, Array | None] | None:
    return None if len(rows) < 2 else (rows[1:], None if labels is None else labels[1:])


def described_pairs(form: Form, relation: str, rng: np.random.Generator) -> Iterator[tuple[str, Any, Any]]:
    """Pairs of this form with a word on each, the sizes and kinds mixed so that the first ones are varied."""
    n = len(form.example[0])
    sizes = list(dict.fromkeys([n, *(s for s in (4, 2, 1, 20) if s in SIZES)]))
    changes = form.changes(relation)
    for size in sizes:
        bases = list(form.bases(size, rng))
        for (what, change), base in itertools.product(changes, bases):
            changed = change(*base)
            if changed is not None:
                yield f"{what}, n={size}", form.built(*base), form.built(*changed)


def search_from_example(
    run: Run, form: Form, relation: str, leakage: Callable[[Pair, int], float], pace: Callable[[Pair], float]
) -> list[Pair]:
    """The telling pairs, dearest first; what was tried becomes a finding. `pace` says how many seconds a call takes;
    where the time does not suffice for a look or for a comparison, it is left out.
    """
    target = _python(run.target)
    rng = np.random.default_rng([run.seed, SEARCH, 1])
    tried: list[tuple[float, str, Pair]] = []
    left, seconds, calls = run.seconds_left, 0.0, 0
    deadline = None if left is None else time.monotonic() + TIME_SHARE * left
    for what, a, b in itertools.islice(described_pairs(form, relation, rng), MOST_PAIRS):
        if same(a, b):
            continue
        pair = Pair(a, b, len(tried))
        if deadline is not None and not tried:
            seconds = pace(pair)
        if tried and not _in_time(deadline, LOOK * seconds):
            break
        look = target is not None and _in_time(deadline, LOOK * seconds)
        score, used = looked_at(run, target, pair) if look and target is not None else (0.0, 0)
        tried.append((score, what, pair))
        calls += used
    if not tried:
        raise TargetError("the example gives no two different datasets: nothing could be tested")
    ranked = sorted(tried, key=lambda t: -t[0])
    finalists = _spread(ranked)
    draws = _affordable_draws(run, seconds, len(finalists)) if len(finalists) > 1 else 0
    compared = [(leakage(pair, draws), what, pair) for _, what, pair in finalists] if draws >= FEWEST_DRAWS else []
    chosen = {
        t[2].index: t for t in (ranked[0], *([max(compared, key=lambda t: t[0])] if compared else []), *ranked[1:])
    }
    kept = list(chosen.values())[:AUDITED]
    names = "; ".join(f"{what}: {_short(pair.dataset)} against {_short(pair.neighbour)}" for _, what, pair in kept)
    message = (
        f"{len(tried)} pairs tried in {calls} watched calls, {len(compared)} of them by draws (sizes, extremes, zeros,"
        f" flipped signs and labels, between {form.low:g} and {form.high:g}); tested: {names}"
    )
    first = kept[0][2]
    run.findings.append(Finding("searched", message, {"dataset": first.dataset, "neighbour": first.neighbour}))
    if target is not None and _in_time(deadline, 0.0 if left is None else 2 * LOOK * seconds - 0.1 * left):
        run.note(_beyond_range(run, target, form, tried))
    return [Pair(pair.dataset, pair.neighbour, i) for i, (_, _, pair) in enumerate(kept)]


def _in_time(deadline: float | None, seconds: float) -> bool:
    """Whether so many seconds more end before the deadline, if there is one."""
    return deadline is None or time.monotonic() + seconds <= deadline


def _affordable_draws(run: Run, seconds: float, pairs: int) -> int:
    """Draws by which each of so many pairs can be compared, if a call takes so many seconds."""
    left = run.seconds_left
    if left is None or seconds <= 0:
        return DRAWS
    return min(DRAWS, int(TIME_SHARE * max(left, 0.0) / seconds / pairs))


def _short(dataset: Any) -> str:
    return f"{' '.join(repr(dataset).split()):.60}"


def _spread(ranked: Sequence[tuple[float, str, Pair]]) -> list[tuple[float, str, Pair]]:
    """The best of the ranking, at most two of a kind of change."""
    out: list[tuple[float, str, Pair]] = []
    seen: dict[str, int] = {}
    for item in ranked:
        kind = item[1].split(",")[0]
        if seen.get(kind, 0) < 2 and len(out) < COMPARED:
            seen[kind] = seen.get(kind, 0) + 1
            out.append(item)
    return out


def _python(target: Target) -> CallableTarget | None:
    return target if isinstance(target, CallableTarget) else None


def looked_at(run: Run, target: CallableTarget, pair: Pair) -> tuple[float, int]:
    """How telling a few watched calls are, and how many they were."""
    noticed = list(target.noticed.raised)
    with Watch(target.timeout) as watch, contained(target.noticed, run.seed), Recorder((target.mechanism,)) as recorder:
        subject = Subject(target, pair, recorder, watch, run.seed)
        first = [subject.record(0) for _ in range(LOOKED_AT)]
        other = [subject.record(1) for _ in range(LOOKED_AT)]
        score = _contrast(first, other)
        usable = [r for r in first if r.error is None]
        chosen = any(c.chance for r in usable for c in r.calls)
        subject.most = subject.calls + (RARELY if chosen else 0)
        score = max([score, *(_moved(r, subject.size) for r in replay(subject, usable))])
    target.noticed.raised = noticed
    return score, subject.calls


def _contrast(first: Sequence[Any], other: Sequence[Any]) -> float:
    """Errors, shapes or constant numbers that differ between the sides in all runs."""
    errors = [{r.error for r in side} for side in (first, other)]
    if not errors[0] & errors[1]:
        return CERTAIN
    leaves = [[flatten(r.output)[0] for r in side if r.error is None] for side in (first, other)]
    lengths = [{len(x) for x in side} for side in leaves]
    if leaves[0] and leaves[1] and not lengths[0] & lengths[1]:
        return CERTAIN
    drawn = [{c.site for r in side for c in r.noise} for side in (first, other)]
    if drawn[0] != drawn[1]:
        return CERTAIN / 2
    if any(len(side) < LOOKED_AT for side in leaves) or len(lengths[0] | lengths[1]) != 1:
        return 0.0
    columns = [list(zip(*side, strict=True)) for side in leaves]
    fixed = [(set(a), set(b)) for a, b in zip(*columns, strict=True)]
    return CERTAIN if any(len(a) == len(b) == 1 and a != b for a, b in fixed) else 0.0


def _moved(run: Replayed, size: int | None) -> float:
    """By how much the sums move on the same draws, in units of their noise, all together."""
    score = 0.0
    for c in run.comparisons:
        if not c.same_scale:
            score += CERTAIN / 2
        if c.differs and not c.reshaped:
            with np.errstate(all="ignore"):
                ratio = np.abs(np.asarray(c.difference, dtype=float) / np.asarray(c.scale, dtype=float))
            score += min(CERTAIN, float(np.nan_to_num(ratio, posinf=CERTAIN).sum()))
            score += CERTAIN if np.ptp(c.difference) > 0 and int(np.prod(c.noise_shape)) < ratio.size else 0.0
    if run.second.error != run.first.error or run.second.diverged is not None:
        return score + CERTAIN / 2
    return score + (CERTAIN if not run.same_output and run.followed(size) else 0.0)


def _beyond_range(
    run: Run, target: CallableTarget, form: Form, tried: Sequence[tuple[float, str, Pair]]
) -> list[Finding]:
    """Whether records far beyond the range of the example move the sums further than any inside it."""
    inside = max(score for score, _, _ in tried)
    rows, labels = form.example
    beyond: list[tuple[str, Array, Array | None]] = []
    if labels is not None:
        wild = labels.copy()
        wild[0] = FAR_BEYOND * max(abs(x) for x in form.labels)
        beyond.append(("a label", rows, wild))
    far = rows.copy()
    far[0] = FAR_BEYOND * max(abs(form.low), abs(form.high))
    beyond.append(("a record", far, labels))
    for what, x, y in beyond:
        pair = Pair(form.built(rows, labels), form.built(x, y), 0)
        score, _ = looked_at(run, target, pair)
        if score > 2 * inside + SMALL and score < FAR_BEYOND * CERTAIN:
            message = (
                f"{what} {FAR_BEYOND:g} times beyond the range of the example moves what the noise hides by"
                f" {score / max(inside, SMALL):.3g} times as much as any inside: it is not clipped. A violation, unless"
                " the claim is about records in the range only (pairs=… tests it)"
            )
            return [Finding("not-clipped", message, {"what": what, "score": score, "inside": inside})]
    return []


SMALL = 1e-6
"""Scores below this are none."""
