"""Sensitivity replay: both neighbours on the same draws.

A run on the dataset is recorded. Then the neighbour is run with the same draws, and every noisy sum comes out as it
did in the recorded run: all that the mechanism has published so far is equal on both sides. Hence

- what the noise is added to may differ only by what the noise was calibrated for: with Δ the difference and b the
  scale, the loss of this one sum is ‖Δ‖₁/b for Laplace noise and that of a Gaussian mechanism with μ = ‖Δ/σ‖₂ for
  Gaussian noise;
- numbers that are published as they are lose together what they lose alone, added up (‖·‖₁, or ‖·‖₂ for Gaussian
  noise), if what the noise was added to does not depend on earlier draws: the same moves in every run;
- the outputs must be equal: if they are not, data reached the output on a path without noise.

**What is sound.** The loss of a sum that is published is a lower bound on the mechanism's loss on this pair. Vectors
count with their norm when the output has at least as many numbers as the vector (else only one entry may be
published, as in a noisy maximum, and the largest entry counts). If records are chosen at random, a loss ε₀ that is
met with probability p counts as ln(1 + p(e^ε₀ − 1)) at δ/p (amplification, tight for one step: Balle, Barthe,
Gaboardi 2018), with p a lower confidence limit. Draws whose use cannot be followed (comparisons, weighted choices, a
noise vector inside an optimiser) make the second kind of conclusion impossible, and none is drawn. A third run, of
the dataset on its own draws, must reproduce the first; if it does not, the mechanism has a source of randomness that
is not seen, and nothing is concluded. Nor is anything concluded of a draw that other draws have shaped: normal numbers
that are divided by their own norm, or noise on a scale that is itself drawn and hidden, have another law than the one
that was asked for. Nor of a noisy number that is not published but hidden once more, by another share of noise or by a
random order; nor of Gaussian noise where the outputs are few (it was compared with a threshold); nor of a sum that the
output does not show, not even rounded: the index of the largest of some noisy scores loses less than the scores
(`selection` has its law). Integer noise counts only where the output shows every sum with it (`shows_integers`), and
where nothing else depends on the draws. Privacy that is gained
later in other ways (by iteration, say) is not credited: findings are to be read by a person.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import optimize, special

from audit.auditor.lints.losses import atoms_of, delta_of, epsilon_where, largest, lopsided, reach
from audit.auditor.lints.recorder import Addition, NoiseCall, RecordedRun
from audit.auditor.lints.selection import selection_findings
from audit.auditor.lints.subject import Subject
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.leaves import flatten, listed, names
from audit.auditor.terms.result import Finding

REPLAYS = 3
"""Recorded runs that are replayed: chosen; each also shows whether a run can be repeated at all."""
RANDOM_REPLAYS = 24
"""The same when records are chosen at random, or a sum differs in some runs only: chosen; a record met in all
of them takes part with a probability of about 3/4 or more (SHARE_LEVEL).
"""
MOST_REPLAYS = 60
"""The same when they are, and no difference has been met: the record may not have been chosen. Chosen for speed."""
SHARE_LEVEL = 1e-3
"""Error level of the lower limit on how often a record takes part: chosen; smaller levels find less."""
FEW_OUTPUTS = 8
"""So many different outputs, at most, are called few: chosen; rounded noise of two units or more has more, soon."""
SLACK = 1e-9
"""Relative room for rounding: sums of a million doubles err by less."""
BOUNDED = ("laplace", "exponential", "logistic", "gumbel")
"""Noise whose loss is at most sensitivity/scale."""


@dataclass(frozen=True)
class ComparedSum:
    """One sum on both sides."""

    call: NoiseCall
    difference: Any
    scale: Any
    other_scale: Any
    noise_shape: tuple[int, ...]
    located: bool = False
    """Whether the quantity is the location of the draw itself."""
    result: Any = field(repr=False, default=None)
    """What came out, on both sides."""
    drawn: int = 0
    """How many draws had been made when it was added."""
    sign: Any = 1.0
    """Of the number that the draw had been multiplied with."""
    covered: bool = False
    """Whether what came out is not published, but hidden by more noise or by a random order."""

    @property
    def reshaped(self) -> bool:
        """Whether the draw was also used in a way that may have changed the law of what was added."""
        return self.call.opaque and not self.located

    @cached_property
    def differs(self) -> bool:
        """Whether the two sides differ beyond rounding."""
        slack = max(SLACK, self.call.rounding)
        return bool(np.any(np.abs(self.difference) > slack * (1 + np.abs(self.scale))))

    @property
    def same_scale(self) -> bool:
        """Whether the noise is equally large on both sides."""
        a, b = np.asarray(self.scale, dtype=float), np.asarray(self.other_scale, dtype=float)
        return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=0.0))


@dataclass
class Replayed:
    """A recorded run, its neighbour on the same draws, and the sums of both."""

    first: RecordedRun
    second: RecordedRun
    comparisons: list[ComparedSum] = field(default_factory=list)

    def followed(self, size: int | None) -> bool:
        """Whether every draw was followed to a sum that depends on the data, or chose among the records.

        Noise added to a constant is still noise (`random() − 1/2`), and what becomes of it is not known.
        """
        hides = {c.call.index for c in self.comparisons if c.differs or not c.same_scale}
        located = {c.call.index for c in self.comparisons if c.located}
        for trace in (self.first, self.second):
            for call in trace.calls:
                if call.feeds or call.joined:
                    continue
                if call.distribution == "choice" and not call.opaque:
                    if not (size is not None and size >= 3 and call.scale == size):
                        return False
                elif call.index not in located and (call.opaque or call.index not in hides):
                    return False
        return True

    @property
    def same_output(self) -> bool:
        """Whether both sides gave the same output."""
        return self.first.error == self.second.error and close(self.first.output, self.second.output)


def close(a: Any, b: Any) -> bool:
    """Whether two outputs are the same but for rounding."""
    (x, shape), (y, other) = flatten(a), flatten(b)
    if shape != other or len(x) != len(y):
        return False
    return all(p == q or _near(p, q) for p, q in zip(x, y, strict=True))


def _near(p: Any, q: Any) -> bool:
    return isinstance(p, float) and isinstance(q, float) and math.isclose(p, q, rel_tol=SLACK, abs_tol=SLACK)


def replay(subject: Subject, scripts: Sequence[RecordedRun]) -> list[Replayed]:
    """Replay recorded runs of the dataset: on the dataset itself (a control) and on the neighbour."""
    usable = [s for s in scripts if s.error is None]
    _distrust_integers(subject, usable)
    chosen = any(c.distribution == "choice" or (c.hidden and not c.feeds) for s in usable for c in s.calls)
    promising = any(not c.opaque and (c.additive or c.integer) for s in usable for c in s.calls)
    out: list[Replayed] = []
    met = False
    for number in range(MOST_REPLAYS if usable else 0):
        wanted = RANDOM_REPLAYS if chosen or not all(r.followed(subject.size) for r in out) else REPLAYS
        if (met and number >= wanted) or (not chosen and number >= len(usable)):
            break
        if out and subject.late:
            break
        script = usable[number] if number < len(usable) else subject.record(0)
        if number < REPLAYS and not _reproduces(subject, script):
            return []
        second = subject.replay(1, script)
        out.append(Replayed(script, second, _compare(script, second)))
        met = met or any(c.differs for c in out[-1].comparisons)
        if len(out) >= REPLAYS and not promising:
            break
    return out


def _distrust_integers(subject: Subject, scripts: Sequence[RecordedRun]) -> None:
    """Stop following integers of which more depends than the sums that they are in: with all of them one larger, and
    the sums as they were, a run comes out otherwise.
    """
    for script in [s for s in scripts if any(c.integer for c in s.calls)][:REPLAYS]:
        again = subject.replay_with_other_integers(script)
        if not _repeats(script, again):
            subject.recorder.distrusted |= {c.site for c in script.calls if c.integer}
    for call in (c for s in scripts for c in s.calls if c.site in subject.recorder.distrusted):
        call.opaque = call.opaque or bool(call.law)


def _reproduces(subject: Subject, script: RecordedRun) -> bool:
    """Whether the dataset gives the same sums and output on the same draws: if not, some randomness is out of sight."""
    return _repeats(script, subject.replay(0, script))


def _repeats(script: RecordedRun, control: RecordedRun) -> bool:
    if control.diverged is not None or control.error is not None or len(control.additions) != len(script.additions):
        return False
    return close(control.output, script.output) and not any(c.differs for c in _compare(script, control))


def _compare(first: RecordedRun, second: RecordedRun) -> list[ComparedSum]:
    """The sums on both sides, as far as both drew alike; from the first draw that does not fit on, noise is fresh."""
    out, shared = [], 0
    for a, b in zip(first.calls, second.calls, strict=False):
        other_law = (a.integer or b.integer) and a.family != b.family
        if (a.method, a.shape, a.site) != (b.method, b.shape, b.site) or other_law:
            break
        shared += 1
        if not (a.has_location or b.has_location) or np.shape(a.loc) != np.shape(b.loc):
            continue
        if np.any(np.asarray(a.loc) != np.asarray(b.loc)):
            difference = np.asarray(b.loc, dtype=float) - np.asarray(a.loc, dtype=float)
            out.append(ComparedSum(a, difference, a.scale, b.scale, np.shape(a.value), True, a.value, a.index + 1))
    for x, y in zip(first.additions, second.additions, strict=False):
        if x.call != y.call or x.call >= shared or np.shape(x.quantity) != np.shape(y.quantity):
            break
        out.append(_sum(first.calls[x.call], x, y))
    cover = _Cover(first, second)
    return sorted((replace(c, covered=cover.hides(c)) for c in out), key=lambda c: c.call.index)


class _Cover:
    """What hides a noisy number once more before it is published: another share of noise (x + n₁ + n₂), or a random
    order with others (local noise, shuffled).
    """

    def __init__(self, first: RecordedRun, second: RecordedRun):
        self._reordered = max((call.index for call in first.calls if _reorders(call)), default=-1)
        self._again: dict[bytes, Addition] = {}
        self._published = _shown(first)
        for x, y in zip(first.additions, second.additions, strict=False):
            if np.shape(x.quantity) == np.shape(y.quantity) and _bytes(x.quantity) == _bytes(y.quantity):
                self._again[_bytes(x.quantity)] = x

    def hides(self, c: ComparedSum) -> bool:
        """Whether it hides what came out of a sum."""
        if not c.differs:
            return False
        if self._reordered >= c.drawn:
            return True
        result = np.asarray(c.result, dtype=float)
        by_chance = c.call.integer and lopsided(c.call.family)
        more = [self._again.get(_bytes(result)), self._again.get(_bytes(-result))]
        if not any(x is not None and x.call != c.call.index and x.drawn >= c.drawn for x in more):
            return False
        return by_chance or not self._published.issuperset(result.ravel().tolist())


def _reorders(call: NoiseCall) -> bool:
    """Whether all of several things were put into a random order."""
    whole = call.distribution == "choice" and not call.opaque and np.size(call.value) == call.scale
    return whole and int(call.scale) > 1 and len(np.unique(call.value)) == int(call.scale)


def _bytes(number: Any) -> bytes:
    """Equal for equal numbers or arrays of them (zero has one sign)."""
    return (np.asarray(number, dtype=float) + 0.0).tobytes()


def _shown(run: RecordedRun) -> set[float]:
    """The numbers of the output."""
    return {x for x in flatten(run.output)[0] if isinstance(x, float)}


def _sum(call: NoiseCall, x: Addition, y: Addition) -> ComparedSum:
    with np.errstate(all="ignore"):
        difference = np.asarray(y.quantity, dtype=float) - np.asarray(x.quantity, dtype=float)
    moved = np.nan_to_num(difference)
    return ComparedSum(call, moved, x.scale, y.scale, x.noise_shape, result=x.result, drawn=x.drawn, sign=x.sign)


# ------------------------------------------------------------------------------------------------ loss of one sum


def gaussian_epsilon(mu: float, delta: float) -> float:
    """ε(δ) of a Gaussian mechanism with sensitivity/σ = μ (Balle and Wang 2018); infinite at δ = 0."""

    def excess(e: float) -> float:
        return float(special.ndtr(-e / mu + mu / 2) - np.exp(e + special.log_ndtr(-e / mu - mu / 2))) - delta

    if mu <= 0 or excess(0.0) <= 0:
        return 0.0
    top = mu * mu / 2 + 40 * mu
    return math.inf if delta <= 0 or excess(top) > 0 else float(optimize.brentq(excess, 0.0, top, xtol=1e-12))


def laplace_epsilon(ratio: float, delta: float) -> float:
    """ε(δ) of scalar Laplace noise with sensitivity/scale = ratio: δ(ε) = 1 − e^{(ε − ratio)/2}."""
    return max(0.0, ratio + 2 * math.log1p(-delta))


GRID = 2**14
"""Steps from 0 to the largest loss of a vector: losses are rounded down by at most a step each."""


def laplace_vector_epsilon(ratios: np.ndarray, delta: float) -> float:
    """ε(δ) of independent Laplace draws with these sensitivity/scale, from below.

    At δ = 0 it is their sum. The loss of one draw has P(loss ≤ l) = e^{(l − r)/2}/2 for −r ≤ l < r and the rest at r;
    losses are rounded down to a grid and added up by Fourier transforms, so that δ(ε) comes out too small, if at all.
    """
    ratios = ratios[ratios > 0]
    total = float(ratios.sum())
    if delta <= 0 or len(ratios) < 2 or len(ratios) > GRID:
        return laplace_epsilon(total if delta <= 0 else float(ratios.max(initial=0.0)), delta)
    step = total / GRID
    places = np.arange(-2 * GRID, 2 * GRID)
    spectrum = np.ones(2 * GRID + 1, dtype=complex)
    for ratio, count in zip(*np.unique(ratios, return_counts=True), strict=True):
        edges = np.arange(-2 * GRID, 2 * GRID + 1) * step
        below = np.where(edges <= -ratio, 0.0, np.where(edges > ratio, 1.0, np.exp((edges - ratio) / 2) / 2))
        spectrum *= np.fft.rfft(np.roll(np.diff(below), -2 * GRID)) ** int(count)
    chance = np.roll(np.fft.irfft(spectrum, 4 * GRID), 2 * GRID)

    def excess(e: float) -> float:
        losses = places * step
        return float((chance * -np.expm1(np.minimum(e - losses, 0.0))).sum()) - delta

    return float(optimize.brentq(excess, 0.0, total)) if excess(0.0) > 0 else 0.0


def loss(comparison: ComparedSum, delta: float, leaves: int) -> float:
    """ε of one sum at this δ; 0 where nothing can be said."""
    scale = np.asarray(comparison.scale, dtype=float)
    difference = np.asarray(comparison.difference, dtype=float)
    if not comparison.differs:
        return 0.0
    if not np.all(scale > 0):
        return math.inf if np.all(scale == 0) else 0.0
    if _shared(comparison):
        return math.inf
    family, ratios = comparison.call.family, np.abs(difference / scale)
    if comparison.call.integer:
        return _integer_epsilon(family, difference / scale * np.asarray(comparison.sign, dtype=float), delta, leaves)
    if family in ("normal", "multivariate_normal"):
        return gaussian_epsilon(_norm(ratios, family, leaves), delta)
    if family == "laplace" and leaves >= ratios.size:
        return laplace_vector_epsilon(ratios.ravel(), delta)
    return laplace_epsilon(float(ratios.max()), delta) if family in BOUNDED else 0.0


def _integer_epsilon(family: str, ratios: np.ndarray, delta: float, leaves: int) -> float:
    """ε(δ) of integer noise, of the whole vector, or of the entry that loses most if not all are published."""
    rows = [np.ravel(ratios)] if leaves >= ratios.size else [np.ravel(r) for r in np.unique(ratios)]
    laws = [atoms_of([(family, row)]) for row in rows]
    if delta <= 0:
        return max(largest(law) for law in laws)
    return max(epsilon_where(lambda e, law=law: float(delta_of(law, e)), delta, reach(law) + 1.0) for law in laws)


def shows_integers(runs: Sequence[RecordedRun]) -> bool:
    """Whether every sum with integer noise stands in the output as it is, in each run, and takes at least three values:
    a threshold has two outputs. Integers that were used otherwise may hide some.
    """
    found = set()
    for run in (r for r in runs if r.error is None):
        if any(c.law and c.hidden for c in run.calls):
            return False
        shown = _shown(run)
        for x in (a for a in run.additions if run.calls[a.call].integer):
            values = {float(v) for v in np.ravel(np.asarray(x.result, dtype=float))}
            if not values <= shown:
                return False
            found |= values
    return len(found) >= 3


def _shared(comparison: ComparedSum) -> bool:
    """Whether one draw hides several numbers, and they move differently: their differences are in the open."""
    noise = int(np.prod(comparison.noise_shape, dtype=int))
    if noise >= np.size(comparison.difference):
        return False
    return bool(np.ptp(comparison.difference) > SLACK)


def _scale_loss(comparison: ComparedSum) -> float:
    """ε of two scales of the same noise around the same number: unbounded for noise with light tails.

    Noise with polynomial tails may be on a scale that depends on the data (smooth sensitivity: Nissim, Raskhodnikova,
    Smith 2007). For Cauchy noise the densities of two scales have ratios between b'/b and b/b', at the centre and far
    out.
    """
    a, b = (np.asarray(s, dtype=float) for s in (comparison.scale, comparison.other_scale))
    if comparison.call.distribution != "cauchy" or a.shape != b.shape or not np.all((a > 0) & (b > 0)):
        return math.inf
    return float(np.abs(np.log(a / b)).sum())


def amplified(epsilon: float, share: float) -> float:
    """The loss when it is met with this probability only."""
    if share >= 1 or not math.isfinite(epsilon):
        return epsilon if share > 0 else 0.0
    if epsilon > 500:
        return epsilon + math.log(share)
    return math.log1p(share * math.expm1(epsilon))


# ------------------------------------------------------------------------------------------------------ findings


def replay_findings(
    subject: Subject, recorded: Sequence[RecordedRun], runs: Sequence[Replayed], claim: Epsilon
) -> list[Finding]:
    """What the replays show, of runs that are among those recorded."""
    if not runs:
        return []
    size = subject.size
    findings = _sensitivity(runs, claim, size, _coarse(recorded), shows_integers(recorded)) or _together(runs, claim)
    findings = findings or selection_findings(recorded, [(r.first, r.second) for r in runs], claim)
    if all(r.followed(size) for r in runs):
        findings += _open_paths(runs, claim.epsilon)
    return findings


def _coarse(recorded: Sequence[RecordedRun]) -> bool:
    """Whether there are few different outputs: then a noisy number was only compared with something, and Gaussian
    noise may keep a finite ε (a threshold makes it randomised response).
    """
    outputs = [flatten(r.output) for r in recorded if r.error is None]
    return len({repr(o) for o in outputs}) <= FEW_OUTPUTS


def _sensitivity(
    runs: Sequence[Replayed], claim: Epsilon, size: int | None, coarse: bool, integers: bool = False
) -> list[Finding]:
    """The first sum whose noise is too small, in the order of the mechanism."""
    random_use = not all(r.followed(size) and not _chooses(r) for r in runs)
    positions = sorted({(c.call.index, i) for r in runs for i, c in enumerate(r.comparisons)})
    for call, position in positions:
        met = [r.comparisons[position] for r in runs if position < len(r.comparisons)]
        met = [c for c in met if c.call.index == call and c.differs]
        if not met or any(c.reshaped or c.covered for c in met) or _drawn_scale(met, runs):
            continue
        if met[0].call.integer:
            if not integers or len({c.call.family for c in met}) > 1:
                continue
        elif (coarse and "normal" in met[0].call.distribution) or not _may_show(met[0], runs, coarse):
            continue
        share = max(_share(len(met), len(runs)), _batch_share(runs, call, size)) if random_use else 1.0
        leaves = min(_numbers(r) for r in runs) if met[0].call.integer else _continuous_leaves(runs)
        losses = [amplified(loss(c, min(0.5, claim.delta / share), leaves), share) for c in met]
        typical = float(np.sort(losses)[(len(losses) - 1) // 2])
        if typical > _beyond(claim):
            at = int(np.argsort(losses)[(len(losses) - 1) // 2])
            return [_too_small(met[at], typical, claim, share, leaves)]
    return []


def _may_show(c: ComparedSum, runs: Sequence[Replayed], coarse: bool) -> bool:
    """Whether the output may tell what came out of a sum: some number of it is not whole, or it holds the sum rounded
    (where outputs are not so few that it does so by chance).

    Of whole numbers and words else (the index of the largest of several noisy scores, a label) it is only known that
    the noisy number took part in what decided them.
    """
    for r in runs:
        shown = {float(x) for x in flatten(r.first.output)[0] if isinstance(x, int | float)}
        if any(x != round(x) for x in shown if math.isfinite(x)):
            return True
        if coarse:
            return False
        for other in r.comparisons:
            if other.call.site == c.call.site and other.differs:
                result = np.ravel(np.asarray(other.result, dtype=float))
                if not any(shown.issuperset(rule(result).tolist()) for rule in (np.round, np.floor, np.ceil)):
                    return False
    return True


def _drawn_scale(met: Sequence[ComparedSum], runs: Sequence[Replayed]) -> bool:
    """Whether this noise is on a scale that earlier draws decide which nobody sees: its law is a mixture.

    A scale that varies from run to run is no mixture if the difference varies with it (both are divided by the size of
    a batch), or if it follows from what was published (nothing was drawn before that was not seen to be added).
    """
    largest = np.array([float(np.max(np.abs(np.asarray(c.scale, dtype=float)), initial=0.0)) for c in met])
    if np.ptp(largest) <= SLACK * float(largest.max()):
        return False
    with np.errstate(all="ignore"):
        ratios = [np.abs(np.asarray(c.difference, dtype=float) / np.asarray(c.scale, dtype=float)) for c in met]
    if all(r.shape == ratios[0].shape and np.allclose(r, ratios[0], rtol=1e-9) for r in ratios):
        return False
    return any(call.hidden and not call.feeds for r in runs for call in r.first.calls[: met[0].drawn])


def _beyond(claim: Epsilon) -> float:
    """A loss above this exceeds the claim by more than rounding."""
    return claim.epsilon * (1 + 1e-6) + 1e-9


def _together(runs: Sequence[Replayed], claim: Epsilon) -> list[Finding]:
    """Sums that are published as they are and each keep the claim, but not all of them together."""
    published = [_published(r) for r in runs]
    for family in sorted({c.call.distribution for met in published for c in met} & {"laplace", "normal"}):
        moved = [_in_one([c for c in met if c.call.distribution == family]) for met in published]
        if any(len(m) < 2 or m.shape != moved[0].shape or not np.allclose(m, moved[0], rtol=1e-9) for m in moved):
            continue
        length, delta = float(np.sqrt((moved[0] ** 2).sum())), claim.delta
        found = gaussian_epsilon(length, delta) if family == "normal" else laplace_vector_epsilon(moved[0], delta)
        if found > _beyond(claim):
            sites = sorted({c.call.site for c in published[0] if c.call.distribution == family})
            message = (
                f"{moved[0].size} numbers with {family} noise of their own are published that differ between the"
                f" neighbours on the same draws (noise drawn at {listed(sites)}): a loss of ε = {found:.4g} at"
                f" δ = {delta:g} for all of them together, claimed {claim.epsilon:g}"
            )
            return [Finding("composition", message, {"sites": sites, "epsilon": found})]
    return []


def _published(run: Replayed) -> list[ComparedSum]:
    """The sums whose results stand in the output, number by number, and whose quantities differ."""
    shown = _shown(run.first)
    sums = [c for c in run.comparisons if c.differs and c.same_scale and not c.reshaped and not _shared(c)]
    sums = [c for c in sums if not c.covered]
    return [c for c in sums if shown.issuperset(np.asarray(c.result, dtype=float).ravel().tolist())]


def _in_one(sums: Sequence[ComparedSum]) -> np.ndarray:
    """The moves of all these sums, each in units of its noise, that are not zero."""
    parts = [np.abs(np.asarray(c.difference / np.asarray(c.scale, dtype=float), dtype=float)).ravel() for c in sums]
    moved = np.concatenate([*parts, np.zeros(0)])
    return moved[moved > SLACK]


def _chooses(run: Replayed) -> bool:
    return any(c.distribution == "choice" for c in run.first.calls)


def _share(met: int, runs: int) -> float:
    """A lower confidence limit on how often the difference is there (Clopper–Pearson)."""
    return float(special.betaincinv(met, runs - met + 1, SHARE_LEVEL))


def _batch_share(runs: Sequence[Replayed], call: int, size: int | None) -> float:
    """The share of the records in the batch that was chosen last before this call; 0 if none was."""
    shares = []
    for r in runs:
        draws = [c for c in r.first.calls[:call] if c.method in ("choice", "sample") and not c.opaque]
        batches = [c for c in draws if c.scale == size]
        shares.append(len(np.unique(batches[-1].value)) / batches[-1].scale if batches else 0.0)
    return min(shares)


def _numbers(run: Replayed) -> int:
    return sum(isinstance(x, float) for x in flatten(run.first.output)[0])


def _continuous_leaves(runs: Sequence[Replayed]) -> int:
    """How many numbers of the output change from run to run."""
    rows = [flatten(r.first.output)[0] for r in runs]
    if len({len(r) for r in rows}) != 1:
        return 1
    if len(rows) == 1:
        return sum(isinstance(x, float) and x != round(x) for x in rows[0])
    return sum(isinstance(c[0], float) and len(set(c)) == len(c) for c in zip(*rows, strict=True))


def _norm(entries: np.ndarray, distribution: str, leaves: int) -> float:
    """The length that counts for noise of this kind: of the whole vector, or of one entry if not all are published."""
    if leaves < entries.size:
        return float(entries.max())
    if distribution in ("normal", "multivariate_normal"):
        return float(np.sqrt((entries**2).sum()))
    return float(entries.sum() if distribution == "laplace" else entries.max())


def _too_small(c: ComparedSum, found: float, claim: Epsilon, share: float, leaves: int) -> Finding:
    difference = np.asarray(c.difference, dtype=float)
    norm = _norm(np.abs(difference), c.call.distribution, leaves)
    scale = float(np.max(np.asarray(c.scale, dtype=float)))
    what = f"{c.call.family} noise of scale {scale:.4g} drawn at {c.call.site}"
    if _shared(c):
        message = (
            f"one draw of {what} is added to {difference.size} numbers that move differently: their differences are"
            " published"
        )
        return Finding("shared-noise", message, {"site": c.call.site, "difference": norm, "scale": scale})
    at_random = "" if share >= 1 else f" (met in a share of at least {share:.2g} of the runs)"
    pure = " (Gaussian noise is never private at δ = 0)" if claim.delta == 0 and "normal" in c.call.distribution else ""
    message = (
        f"on the same draws the neighbours differ by {norm:.4g} where {what} is added{at_random}: a loss of"
        f" ε = {found:.4g} at δ = {claim.delta:g} for this sum alone, claimed {claim.epsilon:g}{pure}"
    )
    needed = scale * _missing_factor(c, claim, share, leaves)
    message += f"; it takes a scale of {needed:.4g}" if math.isfinite(needed) else ""
    details = {"site": c.call.site, "difference": norm, "scale": scale, "needed": needed, "epsilon": found}
    return Finding("sensitivity", message, details)


def _missing_factor(c: ComparedSum, claim: Epsilon, share: float, leaves: int) -> float:
    """How many times as large this noise must be for the sum to keep the claim; infinite where no factor does."""

    def beyond(log_factor: float) -> bool:
        wider = replace(c, scale=np.asarray(c.scale, dtype=float) * math.exp(log_factor))
        return amplified(loss(wider, min(0.5, claim.delta / share), leaves), share) > _beyond(claim)

    low, high = 0.0, 12.0
    if c.call.integer or beyond(high) or ("normal" in c.call.distribution and claim.delta == 0):
        return math.inf
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) else (low, middle)
    return math.exp(high)


def _open_paths(runs: Sequence[Replayed], epsilon: float) -> list[Finding]:
    """Data that reach the noise's scale, the course of the run, or the output, without noise."""
    for r in runs:
        for c in r.comparisons:
            if not c.same_scale and _scale_loss(c) > epsilon:
                message = (
                    f"the scale of the noise drawn at {c.call.site} depends on the data: {np.max(c.scale):.4g} on the"
                    f" dataset, {np.max(c.other_scale):.4g} on the neighbour, with everything published so far equal"
                )
                return [Finding("data-dependent-scale", message, {"site": c.call.site})]
    for r in runs:
        if r.second.diverged is not None and r.first.error is None and r.second.error is None:
            message = (
                "which noise is drawn depends on the data, not on what was published: on the neighbour"
                f" {r.second.diverged}"
            )
            return [Finding("data-dependent-noise", message)]
    for r in runs:
        if not r.same_output and r.second.diverged is None and r.second.error is None:
            where = _where(r.first.output, r.second.output)
            message = (
                f"with every noisy sum held equal the outputs differ ({where}): data reach the output without noise"
            )
            return [Finding("unnoised-path", message)]
    return []


def _where(a: Any, b: Any) -> str:
    x, y = flatten(a)[0], flatten(b)[0]
    if len(x) != len(y):
        return f"{len(x)} against {len(y)} entries"
    places = [i for i, (p, q) in enumerate(zip(x, y, strict=True)) if p != q and not _near(p, q)]
    if len(places) == 1:
        at = places[0]
        return f"{names(a)[at]} is {x[at]} and {y[at]}"
    return f"in {listed([names(a)[i] for i in places])}" if places else "in their structure"
