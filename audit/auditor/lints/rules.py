"""What a few dozen calls show, before any statistics.

Every conclusion from random outputs has a false-alarm level of at most LEVEL = 1e-6: an event that always happens on
one side and never on the other, in K calls each, has under (ε, δ)-DP a probability of at most s^{2K}, s =
(e^ε+δ)/(1+e^ε). *Proof.* Let the event have probability p on the dataset and 1−r on the neighbour. Then p ≤ e^ε(1−r)
+ δ and r ≤ e^ε(1−p) + δ, and the chance is (pr)^K. The constraints are convex and symmetric in (p, r), and ln p + ln
r is concave and symmetric: the maximum is at p = r, where p ≤ e^ε(1−p) + δ, that is p ≤ s. ∎ For large ε that needs
more calls than a lint has (it uses up to MOST_CALLS a side); the test proper will do it.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from scipy import special, stats

from audit.auditor.lints.one_draw import output_findings
from audit.auditor.lints.preflight import MUTATES_INPUT
from audit.auditor.lints.recorder import SINGLE, NoiseCall, RecordedRun, Recorder
from audit.auditor.lints.replay import Replayed, replay, replay_findings, shows_integers
from audit.auditor.lints.subject import Subject
from audit.auditor.lints.transcript import FEW, MOST_RUNS, Transcript, read_transcript, transcript_findings
from audit.auditor.targets.containment import Watch, contained
from audit.auditor.targets.sampling import CallableTarget, Pair
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.leaves import Raised, Unread, flatten, listed, names
from audit.auditor.terms.options import Make
from audit.auditor.terms.outputs import EXACT_BITS, Table, tabulate
from audit.auditor.terms.result import Finding

LEVEL = 1e-6
"""The chance of a false finding, at most: a suite of a thousand lints raises one in a thousand runs."""
CALLS = 24
"""Recorded calls a side where the budget allows: at ε = 1 "always here, never there" needs 23."""
MOST_CALLS = 60
"""Recorded calls a side at most: chosen for speed; they suffice up to ε = 2.1."""
FEWEST_CALLS = 3
"""Recorded calls a side whatever the budget: without a few nothing can be said."""
ENOUGH_REPLAYS = 8
"""Equal outputs on equal draws count as independence of the data after this many: chosen; a remark, no test."""
STEP = 16.0
"""ε is multiplied by this to see how the noise responds: chosen; large, so that ranks tell few outputs apart."""
MORE = 8
"""Calls at the larger ε beyond those at the claimed one: the rank test needs about 60 in all."""
SMALL_SEEDS = 2**16
"""Seeds that are all below this are too few states for noise: 8 fresh 32-bit seeds are with a chance of 2⁻¹²⁸."""

Runs = tuple[list[RecordedRun], list[RecordedRun]]
"""Recorded runs on the dataset and on the neighbour."""


@dataclass(frozen=True)
class Allowance:
    """What an inspection may spend: recorded calls a side, calls in all, and time.

    When the latter two are used up no more calls are begun, except for the few without which nothing can be said (and
    those at the larger ε).
    """

    calls: int
    most: int | None = None
    seconds: float | None = None


@dataclass
class Inspection:
    """What was noticed, what was drawn, and how many calls it took."""

    findings: list[Finding]
    noise: list[str]
    calls: int
    runs: Runs = field(repr=False, default=([], []))
    transcript: Transcript | None = field(repr=False, default=None)

    def __str__(self) -> str:
        lines = [f"{self.calls} calls, {len(self.findings)} findings"]
        return "\n".join([*lines, *(f"  draws: {n}" for n in self.noise), *(f"  noticed: {f}" for f in self.findings)])


def inspect(
    target: CallableTarget, pair: Pair, claim: Epsilon, allowance: Allowance, *, seed: int = 0, make: Make | None = None
) -> Inspection:
    """Look at a mechanism through recorded calls on both datasets and replays; with `make(epsilon)`, at its response
    to ε.
    """
    seconds = allowance.seconds
    watched = Recorder((target.mechanism, make))
    with Watch(target.timeout) as watch, contained(target.noticed, seed), watched as recorder:
        deadline = None if seconds is None else time.monotonic() + seconds
        subject = Subject(target, pair, recorder, watch, seed, deadline, allowance.most)
        runs = _runs(subject, allowance.calls)
        replays = replay(subject, runs[0])
        average = MOST_RUNS if allowance.most is not None else FEW
        transcript = read_transcript(subject, runs[0], replays, claim.delta, average)
        losses = replay_findings(subject, runs[0], replays, claim)
        losses = losses or transcript_findings(subject, transcript, replays, claim, shows_integers(runs[0]))
        if replays and transcript is None and not losses:
            losses = output_findings(subject, runs, claim)
        findings = [
            *_outputs(runs, claim),
            *_unread(runs),
            *_seeds(runs),
            *_repeated_floats(runs),
            *_locations(runs),
            *_one_sided(runs, claim),
            *losses,
            *_no_effect(replays),
            *([MUTATES_INPUT] if subject.mutated else []),
        ]
        used = subject.calls
        if make is not None and not subject.out_of_time:
            response, more = _response(make, subject, runs[0], replays, claim.epsilon)
            findings, used = findings + response, used + more
    return Inspection(_once(findings), _sites(runs), used, runs, transcript)


def _runs(subject: Subject, calls: int) -> Runs:
    """Fresh runs on both sides in turn."""
    runs: Runs = [], []
    while len(runs[0]) < calls and (len(runs[0]) < FEWEST_CALLS or not subject.late):
        for side in (0, 1):
            runs[side].append(subject.record(side))
    return runs


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """The first finding of each kind."""
    return list({f.kind: f for f in reversed(findings)}.values())[::-1]


def _sites(runs: Runs) -> list[str]:
    """Each line that draws, as it was first seen."""
    return list({(c.site, c.method): str(c) for t in [*runs[0], *runs[1]] for c in t.calls}.values())


def significant(claim: Epsilon, calls: int) -> bool:
    """Whether "always here, never there" in so many calls a side is beyond chance (see above)."""
    return 2 * calls * _log_chance(claim) <= math.log(LEVEL)


def _log_chance(claim: Epsilon) -> float:
    """ln s, see above."""
    q = float(special.expit(claim.epsilon))
    return math.log(q + (1 - q) * claim.delta)


def enough_calls(claim: Epsilon) -> int:
    """Calls a side that make "always here, never there" significant; CALLS if that takes fewer, or more than it may."""
    chance = _log_chance(claim)
    needed = math.ceil(math.log(LEVEL) / (2 * chance)) if chance < 0 else MOST_CALLS + 1
    return needed if CALLS <= needed <= MOST_CALLS else CALLS


# ----------------------------------------------------------------------------------------------- outputs


def _outcome(trace: RecordedRun) -> Any:
    return Raised(trace.error) if trace.error else trace.output


def _outputs(runs: Runs, claim: Epsilon) -> list[Finding]:
    sides = [[_outcome(t) for t in side] for side in runs]
    calls = len(sides[0])
    beyond_chance = significant(claim, calls)
    tables = [tabulate(side, EXACT_BITS) for side in sides]
    keys = [np.unique(t.keys) for t in tables]
    drew = any(t.calls for side in runs for t in side) or any(len(k) > 1 for k in keys)
    shapes = [{_shape(o) for o in side} for side in sides]
    if not (shapes[0] & shapes[1]):
        return [_shape_finding(sides, calls)] if beyond_chance or not drew else []
    if len(keys[0]) == len(keys[1]) == 1:
        differs = keys[0][0] != keys[1][0]
        if (differs and beyond_chance) or (not drew and calls >= CALLS):
            word = "and they differ between the datasets" if differs else "on both datasets"
            message = f"the outputs never varied in {calls} calls a side, {word}"
            return [Finding("deterministic", message, {"contradicts": bool(differs)})]
        return []
    return _constant_leaves(tables, calls, names(sides[0][0])) if beyond_chance else []


def _unread(runs: Runs) -> list[Finding]:
    """Parts of the output that nothing is concluded from."""
    leaves = [leaf for t in (runs[0][0], runs[1][0]) for leaf in flatten(_outcome(t))[0]]
    names = sorted({leaf.type_name for leaf in leaves if isinstance(leaf, Unread)})
    if not names:
        return []
    message = f"parts of the output cannot be read and are not tested ({', '.join(names)}): say with release= what is"
    return [Finding("unread-output", f"{message} published", {"types": names})]


def _shape(output: Any) -> str:
    leaves, shape = flatten(output)
    return f"raises {output.type_name}" if isinstance(output, Raised) else f"{shape}{len(leaves)}"


def _shape_finding(sides: Sequence[Sequence[Any]], calls: int) -> Finding:
    raised = [sum(isinstance(o, Raised) for o in side) for side in sides]
    if raised[0] != raised[1]:
        message = (
            f"exceptions on one side only: {raised[0]} of {calls} calls on the dataset, {raised[1]} on the neighbour"
        )
        return Finding("one-sided-exceptions", message, {"dataset": raised[0], "neighbour": raised[1]})
    kinds = [_described(side[0]) for side in sides]
    return Finding(
        "shape-depends-on-data", f"always {kinds[0]} on the dataset, {kinds[1]} on the neighbour ({calls} calls each)"
    )


def _described(output: Any) -> str:
    if isinstance(output, Raised):
        return f"{output.type_name} raised"
    leaves, _ = flatten(output)
    return f"a {type(output).__name__} of {len(leaves)} values"


def _constant_leaves(tables: Sequence[Table], calls: int, named: list[str]) -> list[Finding]:
    """Parts of the output that never vary and differ between the datasets."""
    width = min(t.width for t in tables)
    leaks = []
    for leaf in range(width):
        seen = [np.unique(np.nan_to_num(t.numbers[:, leaf], nan=0.0) + 1j * t.token_matrix()[:, leaf]) for t in tables]
        if len(seen[0]) == len(seen[1]) == 1 and seen[0][0] != seen[1][0]:
            leaks.append(leaf)
    if not leaks:
        return []
    shown = listed([named[leaf] if leaf < len(named) else f"entry {leaf}" for leaf in leaks])
    message = (
        f"parts of the output show no noise: {shown} had one value on the dataset and another on the neighbour, in"
        f" {calls} calls each"
    )
    return [Finding("unnoised-output", message, {"positions": leaks})]


# ------------------------------------------------------------------------------------------------- seeds


def _seeds(runs: Runs) -> list[Finding]:
    """Generators that are seeded inside the call so that noise repeats."""
    traces = [*runs[0], *runs[1]]
    seeds = [(what, seed) for t in traces for what, seed in t.seeds if isinstance(seed, int | np.integer)]
    values = [int(s) for _, s in seeds]
    repeated = _repeated_noise(traces)
    if repeated is None and not (len(values) >= 8 and max(values) < SMALL_SEEDS and _noise_follows(traces)):
        return []
    how = ""
    if values:
        distinct = len(set(values))
        how = f"; {seeds[0][0]} is called inside the mechanism, with " + (
            f"the constant {values[0]}"
            if distinct == 1
            else f"{distinct} different seeds in {len(values)} calls, all below {max(values) + 1}"
        )
    where = f": the draw at {repeated} came out the same in different calls" if repeated else ""
    return [Finding("reseeded", f"noise repeats from call to call{where}{how}", {"seeds": sorted(set(values))[:8]})]


def _repeated_noise(traces: Sequence[RecordedRun]) -> str | None:
    """A line whose continuous noise, once added to something, was drawn twice.

    Two numbers of 32 bits coincide with a chance of about 2⁻²⁴: among 120 draws one pair does with a chance of 4e-4,
    two do with one of 1e-7.
    """
    seen: set[tuple[str, bytes]] = set()
    coincidences: Counter[str] = Counter()
    for trace in traces:
        fresh = set()
        for call in trace.noise:
            if call.hidden or call.scale is None:
                continue
            key = (call.site, np.asarray(call.value, dtype=float).tobytes())
            if key in seen:
                coincidences[call.site] += 1
                if np.size(call.value) > 1 or call.rounding < SINGLE or coincidences[call.site] > 1:
                    return call.site
            fresh.add(key)
        seen |= fresh
    return None


def _noise_follows(traces: Sequence[RecordedRun]) -> bool:
    """Whether the seeded runs draw noise at all, and outputs are not all different for another reason."""
    return any(t.noise and t.seeds for t in traces)


def _repeated_floats(runs: Runs) -> list[Finding]:
    """Numbers with many digits that come out twice on one dataset and never on both: noise does not do that.

    Left out are whole numbers, the smallest and largest of a side (where a clipped output repeats), and mechanisms
    that were seen to choose among a few (a noisy maximum).
    """
    drawn = [c for side in runs for t in side for c in t.calls]
    if any(c.distribution == "choice" or (c.additive and c.hidden) for c in drawn):
        return []
    rows = [[flatten(_outcome(t))[0] for t in side] for side in runs]
    width = min(len(r) for side in rows for r in side)
    for leaf in range(min(width, 16)):
        sides = [[r[leaf] for r in side] for side in rows]
        values = [[x for x in side if isinstance(x, float) and x != round(x)] for side in sides]
        inner = [[x for x in side if min(side) < x < max(side)] for side in values]
        repeated = [sorted(x for x, n in Counter(side).items() if n > 1) for side in inner]
        count = sum(map(len, repeated))
        apart = not set(inner[0]) & set(inner[1])
        if count and apart and _chance_of_repeats(inner, count) * min(width, 16) <= LEVEL:
            message = (
                f"{names(_outcome(runs[0][0]))[leaf]} repeats to the last digit ({count} values, one is"
                f" {(repeated[0] or repeated[1])[0]!r}), never on both datasets: its noise seems to have few states"
            )
            return [Finding("repeated-floats", message, {"position": leaf, "values": count})]
    return []


def _chance_of_repeats(sides: Sequence[Sequence[float]], count: int) -> float:
    """A bound on the chance of so many coincidences among numbers with a density, read on the grid they are on.

    Two of them coincide with a chance of about grid/spread; coincidences of different pairs are nearly independent.
    """
    expected = 0.0
    for side in sides:
        if len(side) >= 2:
            low, high = np.quantile(side, [0.25, 0.75])
            spread = max(float(high - low), 1e-300)
            expected += math.comb(len(side), 2) * float(np.median([_grid(x) for x in side])) / spread
    return math.exp(min(0.0, count * math.log(expected) - math.lgamma(count + 1))) if expected > 0 else float(not count)


def _grid(x: float) -> float:
    """The spacing of the numbers like this one: of binary fractions as fine as it, or of decimals as long."""
    exponent = Decimal(repr(x)).as_tuple().exponent
    return max(1.0 / x.as_integer_ratio()[1], 10.0 ** int(exponent))


# --------------------------------------------------------------------------------------------- noise calls


def _locations(runs: Runs) -> list[Finding]:
    """`laplace(b)` or `normal(σ)`: one argument, which is the location; the scale stays 1."""
    for a, b in zip(runs[0], runs[1], strict=False):
        for x, y in zip(a.noise, b.noise, strict=False):
            same_loc = np.shape(x.loc) == np.shape(y.loc) and bool(np.all(np.asarray(x.loc) == np.asarray(y.loc)))
            if not x.named_scale and x.site == y.site and same_loc and np.any(np.asarray(x.loc) != 0):
                message = f"{x}: the only parameter is taken as the location, the scale stays 1 (write scale=…)"
                return [Finding("scale-as-loc", message, {"site": x.site})]
    return []


def _one_sided(runs: Runs, claim: Epsilon) -> list[Finding]:
    """Lines that draw noise in every call on one dataset and in none on the other."""
    calls = len(runs[0])
    if not significant(claim, calls):
        return []
    counts = [Counter(site for t in side for site in {c.site for c in t.noise}) for side in runs]
    for side in (0, 1):
        for site, count in counts[side].items():
            if count == calls and counts[1 - side][site] == 0:
                name = ("dataset", "neighbour")[side]
                return [Finding("one-sided-noise", f"the noise at {site} is drawn on the {name} only", {"site": site})]
    return []


def _no_effect(replays: Sequence[Replayed]) -> list[Finding]:
    """On the same draws nothing differed: neither what noise was added to, nor the output."""
    if len(replays) < ENOUGH_REPLAYS or not all(r.first.noise and r.same_output for r in replays):
        return []
    drawn = [c for r in replays for c in r.first.calls]
    if any(c.differs or not c.same_scale for r in replays for c in r.comparisons):
        return []
    if any(c.opaque or not c.additive for c in drawn):
        return []
    if len({repr(r.first.output) for r in replays}) < len(replays):
        return []
    return [
        Finding(
            "data-independent",
            f"on equal draws both datasets gave equal outputs and quantities, {len(replays)} times of {len(replays)}",
        )
    ]


# ----------------------------------------------------------------------------------------------- response to ε


def _response(
    make: Make,
    subject: Subject,
    base: list[RecordedRun],
    replays: Sequence[Replayed],
    epsilon: float,
) -> tuple[list[Finding], int]:
    """With a larger ε the noise must not be larger, and where it hides data it must be smaller."""
    target = CallableTarget(make(STEP * epsilon), subject.target.release, subject.target.timeout)
    other = Subject(target, subject.pair, subject.recorder, subject.watch, subject.seed)
    larger = [other.record(0) for _ in range(len(base) + MORE)]
    carries = {c.call.site for r in replays for c in r.comparisons if c.differs}
    findings = _scales(base, larger, carries, epsilon)
    if not findings and not _all_shrink(base, larger):
        findings = _spread(base, larger, epsilon)
    return findings, other.calls


def _effective(traces: Sequence[RecordedRun]) -> dict[str, float]:
    """The scale of the noise added at each line, in the first run that reached it; hidden draws are left out."""
    scales: dict[str, float] = {}
    for trace in traces:
        for addition in trace.additions:
            call = trace.calls[addition.call]
            if call.additive and not call.opaque:
                scales.setdefault(call.site, float(np.max(np.asarray(addition.scale, dtype=float), initial=0.0)))
        for call in trace.noise:
            if _is_sum(call):
                scales.setdefault(call.site, float(np.max(np.asarray(call.scale, dtype=float), initial=0.0)))
    return scales


def _all_shrink(base: Sequence[RecordedRun], larger: Sequence[RecordedRun]) -> bool:
    """Whether every line that draws noise draws less of it at the larger ε, whatever becomes of it.

    Then a wider output is not more noise: objective perturbation, for one, regularises less at a larger ε.
    """
    scales = []
    for traces in (base, larger):
        seen: dict[str, float] = {}
        for call in (c for t in traces for c in t.noise):
            seen.setdefault(call.site, call.factor * float(np.max(np.asarray(call.scale, dtype=float), initial=0.0)))
        scales.append(seen | _effective(traces))
    before, after = scales
    return bool(before) and before.keys() == after.keys() and all(after[s] < before[s] for s in before)


def _is_sum(call: NoiseCall) -> bool:
    return bool(np.any(np.asarray(call.loc) != 0))


def _scales(base: list[RecordedRun], larger: list[RecordedRun], carries: set[str], epsilon: float) -> list[Finding]:
    before, after = _effective(base), _effective(larger)
    for site in before.keys() & after.keys():
        at = (
            f"the noise at {site} has scale {before[site]:.4g} at ε = {epsilon:g} and {after[site]:.4g} at"
            f" ε = {STEP * epsilon:g}"
        )
        if after[site] > before[site] * (1 + 1e-9):
            return [Finding("noise-grows-with-epsilon", at, {"site": site})]
        if site in carries and math.isclose(before[site], after[site], rel_tol=1e-9):
            return [Finding("scale-ignores-epsilon", f"{at}: it does not depend on ε", {"site": site})]
    return []


def _spread(base: list[RecordedRun], larger: list[RecordedRun], epsilon: float) -> list[Finding]:
    """A rank test of the distances from the median, for the first number of the output that varies."""
    rows = [[flatten(_outcome(t))[0] for t in traces] for traces in (base, larger)]
    width = min(len(r) for side in rows for r in side)
    for leaf in range(min(width, 16)):
        columns = [[r[leaf] for r in side] for side in rows]
        if not all(isinstance(x, float) for c in columns for x in c) or len(set(columns[0])) < 3:
            continue
        away = [np.abs(np.array(c, dtype=float) - np.median(np.array(c, dtype=float))) for c in columns]
        p = float(stats.mannwhitneyu(away[1], away[0], alternative="greater", method="asymptotic").pvalue)
        if p * min(width, 16) <= LEVEL:
            message = (
                f"{names(_outcome(base[0]))[leaf]} spreads more at ε = {STEP * epsilon:g} than at ε = {epsilon:g} (rank"
                f" test, p = {p:.1e})"
            )
            return [Finding("noise-grows-with-epsilon", message, {"p": p})]
    return []
