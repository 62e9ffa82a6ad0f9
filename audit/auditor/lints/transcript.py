"""The privacy loss of a transcript: all the noisy sums of a run, one after another.

The dataset's run is recorded; the neighbour is run on the same released values. Each sum then has a loss (`losses`),
and the losses add up along the path to the log-likelihood ratio of the whole transcript: no statistics of outputs are
needed. What a transcript leaks is at least what the output leaks, so this is a picture from above: it says what the
noise is worth, and never that a claim is violated.

**From runs to δ(ε).** Let the sums of a run be 1, …, T, L the loss of the first s − 1 of them, and let the ratios of
all from s on be known when s is reached. Then δ(ε) = E[δ_s(ε − L)], δ_s being that of the rest, in closed form. If no
ratio changes from run to run, s = 1 and there is nothing to average. If they change with the recorded choices of
records only (a run on the same choices with fresh noise has the same ratios), s = 1 too, and the average is over the
choices, which count as known. Else s is the last that changes, and the noise before it is moved by a share of the
difference that a first run met, a share drawn from a few between none and what brings the mean loss to where δ is made
(importance sampling; the weight is the density over the mean of those of all shares, exact whatever the first run was).
Of STRATA such runs each share has its part exactly, and along the move its Gaussian noise has one run in each of
equally likely strata: what depends on the noise before s does so mostly through its part along the move, and that part
is then known as well as from many more runs. Runs are added until the standard error of ε is PRECISION.

**The lower limit.** The averaged X ≥ 0 are independent with mean δ(ε), or one is drawn in each of some strata, whose
means m₁, …, m_n have the mean δ(ε), in a random order. For fixed λ ∈ [0, 1) the product of 1 + λ(X/m − 1) over n of
them has mean at most 1 if m = δ(ε): it is that of the 1 + λ(m_i/m − 1), or of n strata drawn from more without
replacement the symmetric mean of such products, and the mean of these factors is 1 (the inequalities of the means and
of Maclaurin). So has an average of such products, and by Markov it exceeds 1/α with probability α at most. So δ(ε) is
above the least m where it does not; X falls with ε, hence so does the limit, and the ε read off it at a given δ is a
valid lower limit as well. The number of whole blocks may depend on the blocks before: each multiplies the product by
a factor of mean at most 1 (Ville's inequality).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from scipy import special

from audit.auditor.lints.families import unit
from audit.auditor.lints.losses import (
    FAMILIES,
    Atoms,
    atoms_of,
    delta_of,
    epsilon_where,
    is_known,
    largest,
    lattice,
    log_density,
    lopsided,
    reach,
    zcdp_of,
)
from audit.auditor.lints.recorder import Addition, RecordedRun
from audit.auditor.lints.replay import Replayed, close
from audit.auditor.lints.subject import Subject
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.leaves import flatten
from audit.auditor.terms.result import Finding

Array = np.ndarray

ALPHA = 1e-6
"""Error level of the lower limit."""
RUNS, MOST_RUNS = 600, 4000
"""Runs that are averaged where ratios change from run to run, and how many where they are too few: chosen for time."""
PRECISION = 0.005
"""The standard error of ε, relatively, at which runs are enough: chosen; four of them are 2 %."""
STRATA = 100
"""Runs of a block in which the noise is stratified."""
FEW = 10
"""Runs that are compared in any case, if so many are recorded: chosen; the lower limit needs a few."""
PROBES = (-1.0, 1.0, -0.5, 0.5, -1.0, 1.0)
"""Moves of the noise of the first runs, on the same choices, which tell whether noise decides the ratios: chosen; what
it decides may show in its tails only, on either side.
"""
SHARES, CHANCES = np.array([0.0, 0.5, 1.0]), np.array([0.15, 0.25, 0.6])
"""Parts of the full move, and in which part of the runs each is made (of STRATA a whole number): chosen; a loss may
come from noise or from a dear later step.
"""
BOLD = np.array([0.0, 1.0, 0.0])
"""The same where fewer than STRATA runs are affordable: chosen; a run that tells next to nothing spoils the limit of a
few, and so does one whose weight is far below the others'.
"""
STAKES = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.999])
"""The λ of the lower limit, equally weighted: chosen for power."""
IDLE = 8
"""Runs that are made again with other choices, where there are any, before a finding: chosen; choices that decide
something half of the time show in one of them with a chance of 0.996."""
SAME = 1e-9
"""Ratios closer than this, relatively, are the same but for rounding."""


@dataclass(frozen=True)
class Spending:
    """What the sums whose noise is drawn at one line cost.

    Attributes:
        site: the line, as file:line in function.
        family: of the noise.
        sums: how many sums there are, on average.
        difference: by how much the neighbours differ there, at most (the Euclidean norm).
        scale: the scale of the noise, there.
        rho: what they cost together, in zCDP, on average.
    """

    site: str
    family: str
    sums: float
    difference: float
    scale: float
    rho: float


@dataclass(frozen=True)
class Transcript:
    """What the recorded noise of a mechanism is worth on one pair, as a reader on the dataset's side meets it.

    Attributes:
        runs: how many runs of the dataset were compared with the neighbour.
        exact: whether the losses were the same in all of them, so that nothing was averaged.
        spending: what each line costs, the dearest first.
        mu: the μ of Gaussian DP of all sums together, in the dearest run; NaN where noise is not Gaussian.
        rho: the ρ of zCDP, in the dearest run.
        confidence: of `epsilon_lower`.
    """

    runs: int
    exact: bool
    spending: tuple[Spending, ...]
    mu: float
    rho: float
    confidence: float = 1 - ALPHA
    samples: tuple[tuple[float, float, Atoms], ...] = field(default=(), repr=False)
    """Of each run: the logarithm of its weight, the loss before s, and the sums from s on."""
    dearest: Atoms = field(default=(), repr=False)
    """All sums of the dearest run."""

    def delta(self, epsilon: float) -> float:
        """An estimate of the least δ at this ε."""
        return float(min(1.0, self.terms(epsilon).mean()))

    def epsilon(self, delta: float) -> float:
        """An estimate of ε at this δ."""
        return max(self._largest(), 0.0) if delta <= 0 else epsilon_where(self.delta, delta, self._top())

    def epsilon_lower(self, delta: float) -> float:
        """A lower limit of ε at this δ, at the confidence."""
        if delta <= 0:
            return self.epsilon(0.0) if self.exact else epsilon_where(lambda e: self._limit(e) > 0, 0.5, self._top())
        return epsilon_where(self._limit, delta, self._top())

    def missing_factor(self, claim: Epsilon) -> float:
        """How many times as large all noise would have to be, in the dearest run, for the claim to hold; infinite where
        no factor does.
        """

        def beyond(log_factor: float) -> float:
            atoms = tuple((f, r / math.exp(log_factor), n) for f, r, n in self.dearest)
            return float(delta_of(atoms, np.asarray(claim.epsilon))) - claim.delta

        low, high = 0.0, 12.0
        if any(lattice(f) is not None for f, _, _ in self.dearest):
            return math.inf
        if claim.delta <= 0 or beyond(high) > 0:
            worst = largest(self.dearest)
            return worst / claim.epsilon if math.isfinite(worst) and claim.epsilon > 0 else math.inf
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if beyond(middle) > 0 else (low, middle)
        return math.exp(high)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        data: dict[str, Any] = {"runs": self.runs, "exact": self.exact, "mu": self.mu, "rho": self.rho}
        return data | {"spending": [asdict(s) for s in self.spending]}

    def terms(self, epsilon: float) -> Array:
        """Of each run, what is averaged to δ at this ε."""
        grouped: dict[Atoms, list[int]] = {}
        for i, (_, _, atoms) in enumerate(self.samples):
            grouped.setdefault(atoms, []).append(i)
        terms = np.empty(len(self.samples))
        for atoms, rows in grouped.items():
            logs = np.array([self.samples[i][0] for i in rows])
            before = np.array([self.samples[i][1] for i in rows])
            terms[rows] = np.exp(logs) * delta_of(atoms, epsilon - before)
        return terms

    def _limit(self, epsilon: float) -> float:
        """A lower confidence limit of δ(ε)."""
        return lower_limit(self.terms(epsilon), 1 - self.confidence)

    def _largest(self) -> float:
        if not self.exact and any(before for _, before, _ in self.samples):
            return max(before + (largest(atoms) if atoms else 0.0) for _, before, atoms in self.samples)
        return max(largest(atoms) for _, _, atoms in self.samples)

    def _top(self) -> float:
        return max(max(before, 0.0) + reach(atoms) for _, before, atoms in self.samples) + 1.0

    def __str__(self) -> str:
        first = (
            f"the transcript of {self.runs} runs: ρ = {self.rho:.4g}"
            + (f", μ = {self.mu:.4g}" if math.isfinite(self.mu) else "")
            + (" (the same loss in each)" if self.exact else " (in the dearest)")
        )
        rows = [
            f"  ρ = {s.rho:.4g}: {s.sums:.3g} sums with {s.family} noise of scale {s.scale:.4g} drawn at {s.site},"
            f" which differ by at most {s.difference:.4g}"
            for s in self.spending
        ]
        return "\n".join([first, *rows])


def lower_limit(terms: Array, alpha: float) -> float:
    """A lower confidence limit of the mean of independent nonnegative numbers (see the head of the module)."""
    top = float(terms.mean())
    if top <= 0 or not math.isfinite(top):
        return 0.0

    def capital(log_mean: float) -> float:
        with np.errstate(over="ignore"):
            gains = np.log1p(STAKES[:, None] * (terms[None, :] / math.exp(log_mean) - 1)).sum(axis=1)
        return float(np.logaddexp.reduce(gains)) - math.log(len(STAKES)) + math.log(alpha)

    low, high = math.log(top) - 60.0, math.log(top)
    if capital(high) > 0:
        return top
    if capital(low) < 0:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if capital(middle) > 0 else (low, middle)
    return math.exp(low)


# ---------------------------------------------------------------------------------------------- sums of a run


@dataclass(frozen=True)
class _Sum:
    """One noisy sum on both sides, in units of its noise and in the direction of the draw."""

    call: int
    site: str
    family: str
    ratio: Array
    noise: Array
    difference: float
    scale: float
    whole: bool
    """Whether it holds all numbers of its draw."""


class _Unknown(Exception):
    """The noise cannot be followed."""


def _sums(first: RecordedRun, second: RecordedRun) -> list[_Sum]:
    """The sums of a run and of the neighbour's on the same released values."""
    if first.error or second.error or second.diverged is not None or len(first.additions) != len(second.additions):
        raise _Unknown
    found = []
    for a, b in zip(first.calls, second.calls, strict=True):
        if (a.integer or b.integer) and a.family != b.family:
            raise _Unknown
        if a.has_location or (a.additive and not a.additions and np.any(np.asarray(b.loc) != np.asarray(a.loc))):
            found.append(_located(a.index, a.site, a.distribution, (a.loc, b.loc), (a.scale, b.scale), a.value))
    used: dict[int, int] = {}
    for x, y in zip(first.additions, second.additions, strict=True):
        if x.call != y.call or np.shape(x.quantity) != np.shape(y.quantity):
            raise _Unknown
        made = _added(first, x, y)
        used[x.call] = used.get(x.call, 0) + np.size(made.ratio)
        call = first.calls[x.call]
        if np.any(made.ratio != 0) and (call.opaque or used[x.call] > max(1, int(np.prod(call.shape)))):
            raise _Unknown
        if call.integer and lopsided(call.family) and _goes_on(first, x):
            raise _Unknown
        found.append(made)
    return sorted(found, key=lambda s: s.call)


def _goes_on(run: RecordedRun, x: Addition) -> bool:
    """Whether a later sum with integer noise begins with what came out of this one, perhaps by chance."""
    later = [a for a in run.additions if a is not x and a.drawn >= x.drawn and run.calls[a.call].integer]
    return any(np.array_equal(np.abs(a.quantity), np.abs(x.result)) for a in later)


def _located(call: int, site: str, family: str, loc: tuple, scale: tuple, value: object) -> _Sum:  # type: ignore[type-arg]
    spread = np.asarray(scale[0], dtype=float)
    if not np.array_equal(spread, np.asarray(scale[1], dtype=float)):
        raise _Unknown
    difference = np.asarray(loc[1], dtype=float) - np.asarray(loc[0], dtype=float)
    noise = np.asarray(value, dtype=float) - np.asarray(loc[0], dtype=float)
    return _scaled(call, site, family, difference, noise, spread, 1.0, True)


def _added(first: RecordedRun, x: Addition, y: Addition) -> _Sum:
    call = first.calls[x.call]
    scale = np.asarray(x.scale, dtype=float)
    if not np.allclose(scale, np.asarray(y.scale, dtype=float), rtol=SAME, atol=0.0):
        raise _Unknown
    difference = np.asarray(y.quantity, dtype=float) - np.asarray(x.quantity, dtype=float)
    noise = np.asarray(x.result, dtype=float) - np.asarray(x.quantity, dtype=float)
    if int(np.prod(x.noise_shape, dtype=int)) < difference.size and difference.size > 1:
        if np.ptp(difference) > SAME * (1 + float(np.abs(difference).max())):
            raise _Unknown
        difference, noise = difference.ravel()[0], noise.ravel()[0]
        scale = scale.ravel()[0] if scale.ndim else scale
    whole = call.additions == 1 and np.shape(noise) == tuple(call.shape) and not call.integer
    return _scaled(call.index, call.site, call.family, difference, noise, scale, x.sign, whole)


def _scaled(
    call: int, site: str, family: str, difference: Array, noise: Array, scale: Array, sign: object, whole: bool
) -> _Sum:
    with np.errstate(all="ignore"):
        ratio = np.asarray(difference / scale * np.asarray(sign, dtype=float))
    ratio = np.where(np.abs(difference) <= SAME * (1 + np.abs(noise)), 0.0, ratio)
    if np.any(ratio != 0) and (not is_known(family) or not np.all(np.isfinite(ratio))):
        raise _Unknown
    with np.errstate(all="ignore"):
        drawn = np.asarray(noise / scale * np.asarray(sign, dtype=float))
    norm, widest = float(np.sqrt((np.asarray(difference) ** 2).sum())), float(np.max(scale, initial=0.0))
    return _Sum(call, site, family, ratio, drawn, norm, widest, whole)


def _alike(a: Sequence[_Sum], b: Sequence[_Sum]) -> bool:
    return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))


def _same(x: _Sum, y: _Sum) -> bool:
    known = x.family == y.family and x.ratio.shape == y.ratio.shape
    if not known:
        return False
    a, b = (s.ratio if lopsided(s.family) else np.abs(s.ratio) for s in (x, y))
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-9))


def _atoms(sums: Sequence[_Sum]) -> Atoms:
    return atoms_of([(s.family, s.ratio.ravel()) for s in sums])


# ------------------------------------------------------------------------------------------------ transcripts


def read_transcript(
    subject: Subject, recorded: Sequence[RecordedRun], replays: Sequence[Replayed], delta: float, runs: int = MOST_RUNS
) -> Transcript | None:
    """The transcript of a mechanism, from recorded runs and replays of the first of them on the neighbour; None where
    some noise is not seen, or not followed.

    Runs that are recorded already are replayed until there are FEW; where ratios change from run to run, more runs are
    made, RUNS or as many as it takes, at most so many in all as there may be.
    """
    if not replays or not all(r.same_output for r in replays):
        return None
    scripts = [(r.first, r.second) for r in replays]
    try:
        sums = [_sums(*pair) for pair in scripts]
        if not any(np.any(s.ratio != 0) for run in sums for s in run):
            return None
        for script in recorded[len(scripts) : FEW]:
            if subject.late:
                break
            scripts.append((script, subject.replay(1, script)))
            sums.append(_sums(*scripts[-1]))
        probes = _probed(subject, scripts, sums, delta)
        steady = all(_alike(probe, known) for probe, known in zip(probes, sums, strict=False))
        if steady and all(_alike(run, sums[0]) for run in sums):
            return _summary(sums, [(0.0, 0.0, _atoms(run)) for run in sums], True)
        if not steady or not any(c.chance for first, _ in scripts for c in first.calls):
            return _adaptive(subject, scripts, sums, probes, delta, runs)
        while len(sums) < runs and not subject.late:
            if _checked(len(sums)) and _precise(_known_choices(sums), delta, 1):
                break
            script = subject.record(0)
            sums.append(_sums(script, subject.replay(1, script)))
        return _known_choices(sums)
    except _Unknown:
        return None


def _probed(
    subject: Subject, scripts: Sequence[tuple[RecordedRun, RecordedRun]], sums: Sequence[list[_Sum]], delta: float
) -> list[list[_Sum]]:
    """The sums of the first runs with their noise moved; none where there is a single draw, which decides nothing."""
    found = []
    for share, (script, _), known in zip(PROBES, scripts, sums, strict=False):
        if len(script.calls) < 2 or subject.late:
            break
        moves = {c: share * shift for c, shift in _shifts(known, known, delta).items()}
        units = {s.call: s.noise + moves[s.call] for s in known if s.call in moves}
        again = subject.tilt(0, script, units)
        if again.diverged is not None:
            raise _Unknown
        found.append(_sums(again, subject.replay(1, again)))
    return found


def _checked(runs: int) -> bool:
    """Whether precision is looked at after so many runs."""
    return runs >= RUNS and (runs - RUNS) % (4 * STRATA) == 0


def _known_choices(sums: Sequence[Sequence[_Sum]]) -> Transcript:
    return _summary(sums, [(0.0, 0.0, _atoms(run)) for run in sums], False)


def _precise(found: Transcript, delta: float, block: int) -> bool:
    """Whether the standard error of ε, from the spread of the means of blocks of so many runs, is small enough."""
    epsilon = found.epsilon(delta) if delta > 0 else 0.0
    if not 0 < epsilon < math.inf:
        return True
    terms, step = found.terms(epsilon), 0.01
    means = terms[: len(terms) // block * block].reshape(-1, block).mean(axis=1)
    error = float(means.std(ddof=1)) / math.sqrt(len(means))
    slope = (found.delta(epsilon * (1 - step)) - found.delta(epsilon * (1 + step))) / (2 * step)
    return error <= PRECISION * slope


def _adaptive(
    subject: Subject,
    scripts: Sequence[tuple[RecordedRun, RecordedRun]],
    sums: Sequence[list[_Sum]],
    probes: Sequence[list[_Sum]],
    delta: float,
    runs: int,
) -> Transcript:
    """Averages over runs whose noise is moved towards where δ is made."""
    met = [*sums, *probes]
    if len({len(run) for run in met}) != 1:
        raise _Unknown
    varying = [i for i in range(len(sums[0])) if not all(_same(run[i], sums[0][i]) for run in met)]
    last = varying[-1] if varying else 0
    chooses = any(c.chance for first, _ in scripts for c in first.calls)
    samples: list[tuple[float, float, Atoms]] = []
    seen: list[list[_Sum]] = []
    rng = np.random.default_rng([subject.seed, 11])
    affordable = runs if subject.most is None else len(scripts) + (subject.most - subject.calls) // 2
    chances = CHANCES if affordable >= STRATA else BOLD
    strata = _strata(rng, chances)
    while len(samples) < runs and (len(samples) < len(scripts) or not subject.late):
        at = len(samples)
        if _checked(at) and _precise(_summary(seen, samples, False), delta, STRATA):
            break
        if at < len(scripts):
            pilot, its = scripts[at][0], sums[at]
        elif chooses:
            pilot = subject.record(0)
            its = _sums(pilot, subject.replay(1, pilot))
        else:
            pilot, its = scripts[at % len(scripts)][0], sums[at % len(scripts)]
        shifts = _shifts(its[:last], its, delta)
        run = subject.tilt(0, pilot, _units(its[:last], shifts, *next(strata), rng))
        if run.diverged is not None:
            raise _Unknown
        seen.append(_sums(run, subject.replay(1, run)))
        if len(seen[-1]) != len(its):
            raise _Unknown
        samples.append((*_before(seen[-1][:last], shifts, chances), _atoms(seen[-1][last:])))
    return _summary(seen, samples, False)


def _strata(rng: np.random.Generator, chances: Array) -> Iterator[tuple[float, float]]:
    """For each run: the share of the move, and the part of its noise along the move, one in each of equally likely
    strata; every STRATA runs in another order.
    """
    counts = np.round(chances * STRATA).astype(int)
    places = [(share, j, n) for share, n in zip(SHARES, counts, strict=True) for j in range(n)]
    while True:
        for k in rng.permutation(len(places)):
            share, j, n = places[int(k)]
            yield float(share), float(special.ndtri((j + rng.random()) / n))


def _shifts(movable: Sequence[_Sum], run: Sequence[_Sum], delta: float) -> dict[int, Array]:
    """How far the noise of each call is moved at most, in units of its scale: the mean loss is about ε(δ) then."""
    total = sum(float((s.ratio**2).sum()) for s in run)
    if total <= 0:
        return {}
    wanted = epsilon_where(lambda e: float(delta_of((("normal", math.sqrt(total), 1),), e)), max(delta, 1e-9), 1e4)
    share = max(0.0, (wanted - total / 2) / total)
    return {s.call: -share * s.ratio for s in movable if s.whole and np.any(s.ratio != 0)}


def _units(
    movable: Sequence[_Sum], shifts: dict[int, Array], share: float, along: float, rng: np.random.Generator
) -> dict[int, Array]:
    """Noise of the calls that are moved, in units of their scale: drawn, moved by a share of `shifts`, and where it is
    Gaussian with this number along them.
    """
    moved = {s.call: s for s in movable if s.call in shifts}
    units = {c: np.asarray(FAMILIES[s.family].rvs(size=s.noise.shape, random_state=rng)) for c, s in moved.items()}
    directions = {c: s.ratio for c, s in moved.items() if s.family == "normal"}
    length = math.sqrt(sum(float((r**2).sum()) for r in directions.values()))
    if length > 0:
        there = sum(float((units[c] * r).sum()) for c, r in directions.items()) / length
        units |= {c: units[c] + (along - there) / length * r for c, r in directions.items()}
    return {c: units[c] + share * shifts[c] for c in units}


def _before(sums: Sequence[_Sum], shifts: dict[int, Array], chances: Array) -> tuple[float, float]:
    """The logarithm of the weight of a run, and its loss, up to the sum that changes last."""
    with np.errstate(divide="ignore"):
        loss, moves = 0.0, np.log(chances)
    for s in sums:
        here = log_density(s.family, s.noise)
        if s.call in shifts:
            moves = moves + [float((log_density(s.family, s.noise - p * shifts[s.call]) - here).sum()) for p in SHARES]
        with np.errstate(invalid="ignore"):
            moved = np.where(s.ratio != 0, here - log_density(s.family, s.noise - s.ratio), 0.0)
        loss += float(moved.sum())
    return -float(np.logaddexp.reduce(moves)), loss


def _summary(runs: Sequence[Sequence[_Sum]], samples: Sequence[tuple[float, float, Atoms]], exact: bool) -> Transcript:
    by_site: dict[tuple[str, str], list[_Sum]] = {}
    for run in runs:
        for s in run:
            if np.any(s.ratio != 0):
                by_site.setdefault((s.site, s.family), []).append(s)
    spending = []
    for (site, family), met in by_site.items():
        dearest = max(met, key=lambda s: float((s.ratio**2).sum()))
        rho = sum(zcdp_of(_atoms([s])) for s in met) / len(runs)
        spending.append(Spending(site, family, len(met) / len(runs), dearest.difference, dearest.scale, rho))
    whole = [_atoms(run) for run in runs]
    dearest_run = max(whole, key=zcdp_of)
    gaussian = all(family == "normal" for atoms in whole for family, _, _ in atoms)
    return Transcript(
        len(runs),
        exact,
        tuple(sorted(spending, key=lambda s: -s.rho)),
        math.sqrt(2 * zcdp_of(dearest_run)) if gaussian else math.nan,
        zcdp_of(dearest_run),
        samples=tuple(samples),
        dearest=dearest_run,
    )


# --------------------------------------------------------------------------------------------------- findings


def transcript_findings(
    subject: Subject,
    transcript: Transcript | None,
    replays: Sequence[Replayed],
    claim: Epsilon,
    integers: bool = False,
) -> list[Finding]:
    """Whether the noise of the whole run is worth less than the claim, where all of it counts: nothing that was drawn
    is secret and decides something (a random batch would), and the output is as long as the sums are. `integers`:
    whether it shows all sums with integer noise.
    """
    if transcript is None or not all(_all_counts(r, integers) for r in replays):
        return []
    least = transcript.epsilon_lower(claim.delta)
    if not least > claim.epsilon * (1 + 1e-3) or not all(_idle(subject, r.first) for r in replays[:IDLE]):
        return []
    found, dearest = transcript.epsilon(claim.delta), transcript.spending[0]
    factor = transcript.missing_factor(claim)
    remedy = f"; {factor:.3g} times the noise would do" if math.isfinite(factor) else ""
    message = (
        f"all noise of a run together is worth ε = {found:.4g} at δ = {claim.delta:g} (at least {least:.4g}, from"
        f" {transcript.runs} runs), claimed {claim.epsilon:g}: {dearest.sums:.3g} sums with {dearest.family} noise of"
        f" scale {dearest.scale:.4g} drawn at {dearest.site} differ by up to {dearest.difference:.4g} each{remedy}."
        " This counts what the noisy sums show; if fewer are published, less may leak"
    )
    details = {"site": dearest.site, "epsilon": found, "at_least": least, "scale": dearest.scale, "factor": factor}
    return [Finding("transcript", message, details)]


def _idle(subject: Subject, run: RecordedRun) -> bool:
    """Whether whatever else was drawn decided nothing: with the same noise, and all of that drawn anew, the output is
    the same. So it is with the seed that a loader of batches draws for workers which it does not have, or with the
    order of the records of a sum.
    """
    if not any(call.chance for call in run.calls):
        return True
    units = {call.index: unit(call.value, call.loc, call.scale) for call in run.noise}
    units |= {call.index: call.value for call in run.calls if call.integer}
    if any(u is None for u in units.values()) or subject.out_of_time:
        return False
    others = [replace(call, feeds=call.chance or call.feeds) for call in run.calls]
    again = subject.tilt(0, replace(run, calls=others), units)
    return again.diverged is None and again.error is None and close(again.output, run.output)


def _all_counts(run: Replayed, integers: bool = False) -> bool:
    """Whether all noise is followed to data, which nothing covers later, and the output can hold the sums. Noise whose
    loss has no bound on one side (a Gumbel draw, an exponential one) counts where it is seen in the output: the
    difference of two such draws has a bounded loss.
    """
    if any(call.additive and call.hidden and not call.has_location for call in run.first.calls):
        return False
    shown = {x for x in flatten(run.first.output)[0] if isinstance(x, float)}
    for c in run.comparisons:
        one_sided = c.call.distribution in ("gumbel", "exponential")
        if c.covered or (c.differs and one_sided and not shown.issuperset(np.ravel(c.result).tolist())):
            return False
    if any(c.call.integer and c.differs for c in run.comparisons) and not integers:
        return False
    numbers = [x for x in flatten(run.first.output)[0] if isinstance(x, float) and (integers or x != round(x))]
    return len(numbers) >= max((np.size(c.difference) for c in run.comparisons if c.differs), default=0) > 0
