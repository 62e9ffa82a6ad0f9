"""The law of an output that follows from one recorded draw.

Many mechanisms draw one number, and everything else is computed: an optimiser whose objective is perturbed, a draw that
is bent by hand into another law. Its use cannot be followed through comparisons and loops. But it can be dealt out at
will, so the output is a function g of it that can be looked at anywhere, on either dataset. If g rises (or falls), then

    P(s ≤ output ≤ t) = F(b₂) − F(b₁),    g < s up to b₁, g > t from b₂ on,

with F the law of the draw, which is known: of runs at a few draws, each chance is between two known numbers, without
any statistics. Halving what is not known where it matters most, a few runs tell whether an interval is likelier on one
dataset than the claim allows.

**What is sound.** Every run on both sides made one call, of one number, from the same line and with the same parameters
on a side; the runs can be repeated on their draws (`replay` sees to that), so no chance is out of sight; the output is
one number. That g rises between the points that were looked at as it does at them is taken for granted: at each of them
it did. So a finding is to be read, and is no violation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import stats

from audit.auditor.lints.losses import FAMILIES
from audit.auditor.lints.recorder import NoiseCall, RecordedRun
from audit.auditor.lints.subject import Subject
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.leaves import flatten
from audit.auditor.terms.result import Finding

Array = np.ndarray

LAWS = {**FAMILIES, "uniform": stats.uniform}
"""Draws whose distribution function is known."""
LOOKS = 30
"""Further runs at most, of both sides together: chosen; a boundary is known to a thousandth after about seven."""
FEWEST = 2
"""Different outputs of a side below which they have no order."""
DOUBT = 0.01
"""A chance that counts for both sides where an interval to look at is chosen: chosen; intervals beyond it are too
rare to be worth a few runs."""
SETTLED = 1e-4
"""What is known to this part is known well enough: chosen; more runs would not change what an interval proves."""
MARGIN = 1e-3
"""The loss must exceed the claim by this much, relatively: room for rounding in a mechanism's own arithmetic."""


@dataclass
class _Side:
    """What is known of the output as a function of the draw, on one dataset."""

    side: int
    script: RecordedRun
    sign: float = 1.0
    """What outputs are multiplied with, so that they rise with the draw."""
    levels: list[float] = field(default_factory=list)
    """F at each draw."""
    outputs: list[float] = field(default_factory=list)

    @property
    def call(self) -> NoiseCall:
        """The call that drew."""
        return self.script.calls[0]

    def look(self, subject: Subject, level: float) -> bool:
        """One more run, where the draw has this level; whether it went as the others did."""
        call, law = self.call, LAWS[self.call.distribution]
        value = float(call.loc) + float(call.scale) * float(law.ppf(level))
        dealt = value if np.ndim(call.value) == 0 else np.full(np.shape(call.value), value)
        run = subject.replay(self.side, RecordedRun([replace(call, value=dealt)]))
        output = _number(run)
        if output is None or run.diverged is not None or not _alike(run, self.script):
            return False
        self.levels.append(level)
        self.outputs.append(self.sign * output)
        return True

    def turned(self) -> _Side:
        """The same with the output's sign changed."""
        return _Side(self.side, self.script, -self.sign, self.levels, [-x for x in self.outputs])

    def sorted(self) -> tuple[Array, Array]:
        """Levels and outputs in the order of the levels."""
        order = np.argsort(self.levels, kind="stable")
        return np.array(self.levels)[order], np.array(self.outputs)[order]

    @property
    def rises(self) -> bool:
        """Whether the outputs rise with the draw, wherever they are known."""
        return bool(np.all(np.diff(self.sorted()[1]) >= 0))

    def below(self, points: Array, strictly: bool) -> tuple[Array, Array]:
        """Between which two levels P(output ≤ point) is, or P(output < point), for each point."""
        levels, outputs = self.sorted()
        at = np.searchsorted(outputs, points, side="left" if strictly else "right")
        ends = np.concatenate([[0.0], levels, [1.0]])
        return ends[at], ends[at + 1]


def _number(run: RecordedRun) -> float | None:
    """The output, if it is one finite number."""
    leaves = flatten(run.output)[0]
    if run.error is not None or len(leaves) != 1 or not isinstance(leaves[0], float) or not math.isfinite(leaves[0]):
        return None
    return leaves[0]


def _alike(run: RecordedRun, first: RecordedRun) -> bool:
    """Whether a run drew one number as the first one of its side did."""
    if len(run.calls) != 1 or run.seeds:
        return False
    a, b = run.calls[0], first.calls[0]
    known = a.distribution in LAWS and np.size(a.value) == np.size(a.loc) == np.size(a.scale) == 1
    same = (a.site, a.distribution, a.shape) == (b.site, b.distribution, b.shape)
    return known and same and float(a.loc) == float(b.loc) and float(a.scale) == float(b.scale) > 0


def _read(side: int, runs: Sequence[RecordedRun]) -> _Side | None:
    """What the recorded runs of a side say; None where all chance is not one draw."""
    if not runs or len(runs[0].calls) != 1 or not all(_alike(run, runs[0]) for run in runs):
        return None
    outputs = [_number(run) for run in runs]
    if len({*outputs}) < FEWEST:
        return None
    found, law = _Side(side, runs[0]), LAWS[runs[0].calls[0].distribution]
    for run, output in zip(runs, outputs, strict=True):
        if output is None:
            return None
        call = run.calls[0]
        found.levels.append(float(law.cdf((float(np.ravel(call.value)[0]) - float(call.loc)) / float(call.scale))))
        found.outputs.append(output)
    return found


@dataclass(frozen=True)
class _Interval:
    """An interval of outputs, and what is known of its chance where it is likely and where it is rare."""

    likely: _Side
    rare: _Side
    low: float
    high: float
    least: float
    """Its chance where it is likely, at least."""
    most: float
    """Its chance where it is rare, at most."""
    score: float
    """How telling it would be if each unknown chance were in the middle of what is known of it."""

    def loss(self, delta: float) -> float:
        """The ε that it proves at this δ."""
        return math.log((self.least - delta) / max(self.most, 1e-300)) if self.least > delta else 0.0

    def open_end(self) -> tuple[_Side, float] | None:
        """The side and the level of the draw to look at: in the middle of what is known least."""
        found = []
        for side, chance in ((self.likely, self.least), (self.rare, self.most)):
            for point, strictly in ((self.low, True), (self.high, False)):
                low, high = (float(x[0]) for x in side.below(np.array([point]), strictly))
                found.append(((high - low) / (chance + DOUBT), side.side, (low + high) / 2))
        width, which, level = max(found)
        return None if width < SETTLED else (self.likely if which == self.likely.side else self.rare, level)


def _intervals(likely: _Side, rare: _Side, delta: float) -> list[_Interval]:
    """The interval that proves most, and the one that promises most."""
    points = np.unique([*likely.outputs, *rare.outputs])
    ends = [[side.below(points, strictly) for strictly in (True, False)] for side in (likely, rare)]
    first, last = np.triu_indices(len(points))

    def chance(side: int, start: int, stop: int) -> Array:
        """Of each interval, from one of both limits of its ends."""
        return np.asarray(ends[side][1][stop][last] - ends[side][0][start][first])

    least, most = chance(0, 1, 0), chance(1, 0, 1)
    middle = [(chance(side, 0, 1) + chance(side, 1, 0)) / 2 for side in (0, 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        proves = np.log(np.maximum(least - delta, 0.0) / np.maximum(most, 1e-300))
        score = np.log(np.maximum(middle[0] - delta, 0.0) / (np.maximum(middle[1], 0.0) + DOUBT))
    return [
        _Interval(
            likely, rare, *(float(x) for x in (points[first[k]], points[last[k]], least[k], most[k], score[k]))
        )
        for k in (int(np.argmax(proves)), int(np.argmax(score)))
    ]  # fmt: skip


def output_findings(
    subject: Subject, recorded: tuple[Sequence[RecordedRun], Sequence[RecordedRun]], claim: Epsilon
) -> list[Finding]:
    """Whether an interval of outputs is likelier on one dataset than the claim allows."""
    a, b = (_read(side, recorded[side]) for side in (0, 1))
    if a is None or b is None or a.call.site != b.call.site:
        return []
    if not (a.rises and b.rises):
        a, b = a.turned(), b.turned()
    for _ in range(LOOKS):
        if not (a.rises and b.rises) or subject.late:
            return []
        found = [interval for pair in ((a, b), (b, a)) for interval in _intervals(*pair, claim.delta)]
        proof = max(found, key=lambda interval: interval.loss(claim.delta))
        if proof.loss(claim.delta) > claim.epsilon * (1 + MARGIN):
            return [_finding(proof, claim)]
        where = max(found, key=lambda interval: interval.score).open_end()
        if where is None or not where[0].look(subject, where[1]):
            return []
    return []


def _finding(proof: _Interval, claim: Epsilon) -> Finding:
    """What was found, in words."""
    call, found = proof.likely.call, proof.loss(claim.delta)
    low, high = sorted(proof.likely.sign * x for x in (proof.low, proof.high))
    names = ("dataset", "neighbour")
    message = (
        f"all chance of a run is the one number drawn at {call.site} ({call.distribution}), and the output rises or"
        f" falls with it: an output in [{low:.6g}, {high:.6g}] has a chance of at least {proof.least:.4g} on the"
        f" {names[proof.likely.side]} and of at most {proof.most:.4g} on the {names[proof.rare.side]}, a loss of"
        f" ε = {found:.4g} at δ = {claim.delta:g}, claimed {claim.epsilon:g}"
    )
    details = {"site": call.site, "epsilon": found, "low": low, "high": high}
    return Finding("output-law", message, details)
