"""How much of the certified ε the transcripts of worst-case runs spend: the tight variants of the paper's algorithms.

Each algorithm runs on the pair that `audit.checks.privacy` builds, with fixed batches, its noise recorded. Where noisy
vectors are published inside (Algorithms 2, 5, 6) the privacy loss of all of them is read off the noise, exactly. Where
only selections are (3, 4), the neighbour is run along the same selections, and the exact law of each selection gives
that of the sequence. The share is ε at δ of that law over the ε at δ
that the accountant certifies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from audit import engine as fast
from audit.accounting.accountants import account
from audit.auditor.lints.losses import epsilon_where
from audit.auditor.lints.recorder import RecordedRun, Recorder
from audit.auditor.lints.replay import replay
from audit.auditor.lints.subject import Subject
from audit.auditor.lints.transcript import read_transcript
from audit.auditor.targets.containment import Watch, contained
from audit.auditor.targets.sampling import CallableTarget, Pair
from audit.checks.privacy import FAR, Dataset, Linear, phased_pair, signed_pair
from audit.engine.arrays import Array
from audit.engine.tapes import BatchTape
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex.phased_noise import tight_sigma
from reference.convex.phased_sgd import phased_parameters
from reference.numerics.numbers import Float64
from reference.numerics.tape import Draw
from reference.privacy import gaussian_mu_safe
from reference.privacy.noisy_min import noisy_min_law
from reference.setting.data import Example
from reference.setting.losses import GLL, Absolute
from reference.setting.losses_weak import TanhRegression
from reference.setting.sets import Box, L2Ball, l1_ball
from reference.weakly_convex.strongly_convex import Phase

K = Float64()
EPSILON = Fraction(1)
DELTAS = (Fraction(1, 100), Fraction(1, 10**6))
LEANINGS = (Fraction(1, 2), Fraction(3, 4), Fraction(1))
"""How much the other records prefer one candidate: chosen from a finer grid, between 0 and 1."""
SELECTIONS = 200
"""Runs in which the sequences of two selections among two are met: what is not met counts as no loss, so that the share
comes out too small, if anything.
"""


class WatchedTape(BatchTape):
    """One trial whose noise is drawn from a generator that is watched; batches are in order, and the output is the
    first: what is published inside does not depend on it.
    """

    trials = 1

    def __init__(self, rng: np.random.Generator):
        self.rng = rng

    def read(self, draw: Draw) -> Array:
        if draw.kind == "index":
            return np.zeros(1, dtype=int)
        if draw.kind == "permutation":
            return np.arange(draw.dim)[None]
        drawn: Array = getattr(self.rng, draw.kind)(size=(1, draw.dim))
        return drawn


@dataclass(frozen=True)
class Case:
    """An algorithm on its worst pair, and what its accountant is asked."""

    name: str
    algorithm: str
    run: Callable[[Dataset, BatchTape], Array]
    pair: tuple[Dataset, Dataset]
    parameters: dict[str, Any]
    selects: str = ""
    """The noise of the selections, where only they are published."""
    left: str = ""
    """What the rest of the certified ε is."""


def cases(delta: Fraction) -> Iterator[Case]:
    """The tight variants at (1, δ); an algorithm that selects has several, whose records prefer one candidate more or
    less: how much makes the loss largest depends on δ.
    """
    n = 64
    p = phased_parameters(
        K, n, GLL(Absolute, 1, 1), L2Ball((0,), Fraction(1, 2)), epsilon=EPSILON, delta=delta, sigma=tight_sigma
    )
    yield Case(
        "Algorithm 2",
        "Alg:phased",
        lambda data, tape: fast.phased_sgd(data, p, tape),
        phased_pair(n),
        {"n": n, "d": 1, "L0": 1, "R": 1, "D": 1},
        left="the instance: the first of the averaged iterates has not moved (1 of 32); and the bound, which allows for"
        " the error of the oracle's search",
    )
    yield from _frank_wolfe_cases(delta)
    yield from _poly_cases(delta)
    yield Case(
        "Algorithm 5",
        "alg:nSFW",
        partial(_noisy, delta),
        signed_pair(3),
        {"R": 2, "b": 2, "L0": 1, "L1": Fraction(1, 10**9), "D": 2, "d": 1, "p": 2},
        left="nothing",
    )
    labels = tuple(Example((1,), y) for y in (1, -1, 1, -1, 1, -1, 1))
    yield Case(
        "Algorithm 6",
        "Alg:PGPSMD",
        partial(_proximal, gaussian_mu_safe(EPSILON, delta)),
        ((Example((1,), 1), *labels), (Example((1,), -1), *labels)),
        {"n": 8, "R": 2, "T": 4, "d": 1, "p": 2, "L0": 1},
        left="the instance: its slope is below 1 off the centre",
    )


COMPOSED = "the composition rule, which fits every selection to its own worst scores, and the instance"


def _frank_wolfe_cases(delta: Fraction) -> Iterator[Case]:
    n, T = 16, 2
    q = nfw.frank_wolfe_parameters(
        K, n, GLL(Absolute, 1, 1, 1), l1_ball(1, 1), epsilon=EPSILON, delta=delta, T=T, scale=nfw.scale_tight,
        noise="gumbel",
    )  # fmt: skip
    for x in LEANINGS:
        rest = (Example((-x / 2,), FAR),) * (n - 1)
        yield Case(
            "Algorithm 3",
            "Alg:nfw",
            lambda data, tape: fast.noisy_frank_wolfe(data, q, tape),
            ((Example((1,), FAR), *rest), (Example((1,), -FAR), *rest)),
            {"n": n, "J": 2, "L0": 1, "R": 1, "D": 2, "T": T, "noise": "gumbel"},
            "gumbel",
            COMPOSED,
        )


def _poly_cases(delta: Fraction) -> Iterator[Case]:
    """The record that differs is the first of the second batch."""
    b = 8
    for y in LEANINGS:
        rest = (Example((1,), y),) * b, (Example((1,), y),) * (b // 2 - 1)
        first, second = ((*rest[0], Example((1,), sign), *rest[1]) for sign in (1, -1))
        yield Case(
            "Algorithm 4",
            "alg:polySFW",
            partial(_poly, delta, b),
            (first, second),
            {"R": 2, "b": b, "L0": 1, "L1": 0, "D": 2, "noise": "gumbel"},
            "gumbel",
            COMPOSED,
        )


def _poly(delta: Fraction, b: int, data: Dataset, tape: BatchTape) -> Array:
    return fast.poly_sfw_tight(Linear(), l1_ball(1, 1), data, 3, b, EPSILON, delta, tape, noise="gumbel")


def _noisy(delta: Fraction, data: Dataset, tape: BatchTape) -> Array:
    return fast.noisy_sfw_tight(Linear(p=2), Box([-1], [1]), data, 3, 2, EPSILON, delta, tape)


def _proximal(mu: Any, data: Dataset, tape: BatchTape) -> Array:
    plan = (Phase(8, 4),)
    W = L2Ball((0,), Fraction(1, 50))
    return fast.proximally_guided(TanhRegression(1), W, data, tape, rounds=2, plan=plan, mu=mu)


def shares(progress: Callable[[str], None] = lambda _: None, seed: int = 0) -> list[dict[str, Any]]:
    """For each algorithm and δ: ε of the transcript (of the worst case found), the certified ε, and their ratio."""
    rows: dict[tuple[str, float], dict[str, Any]] = {}
    for delta in DELTAS:
        for case in cases(delta):
            measured, key = spent(case, delta, seed), (case.name, float(delta))
            if key not in rows:
                progress(f"{case.name}, δ = {float(delta):g}")
                profile = account(case.algorithm, "tight", EPSILON, delta, **case.parameters).profile
                assert profile is not None
                rows[key] = {
                    "name": case.name, "delta": float(delta), "measured": 0.0,
                    "certified": profile.certified_epsilon(delta), "left": case.left,
                }  # fmt: skip
            rows[key]["measured"] = max(rows[key]["measured"], measured)
    return [row | {"share": row["measured"] / row["certified"]} for row in rows.values()]


def spent(case: Case, delta: Fraction, seed: int = 0) -> float:
    """ε at δ of the transcript of a case: the larger of both directions."""
    return max(_one_way(case, pair, delta, seed) for pair in (case.pair, case.pair[::-1]))


def _one_way(case: Case, pair: Sequence[Dataset], delta: Fraction, seed: int) -> float:
    def mechanism(data: Dataset, rng: np.random.Generator) -> Array:
        return case.run(data, WatchedTape(rng))

    target = CallableTarget(mechanism, None, 60.0)
    with Watch(60.0) as watch, contained(target.noticed, seed), Recorder((mechanism,)) as recorder:
        subject = Subject(target, Pair(pair[0], pair[1]), recorder, watch, seed)
        if case.selects:
            return _of_selections(subject, case.selects, float(delta))
        recorded = [subject.record(0) for _ in range(10)]
        found = read_transcript(subject, recorded, replay(subject, recorded), float(delta))
    return 0.0 if found is None else found.epsilon(float(delta))


def _of_selections(subject: Subject, noise: str, delta: float) -> float:
    """ε at δ of the sequence of selections, from the laws of each along the sequences that were met."""
    laws: dict[tuple[int, ...], tuple[float, float]] = {}
    for _ in range(SELECTIONS):
        first = subject.record(0)
        path, chances = _selected(first, subject.replay(1, first), noise)
        laws.setdefault(path, chances)

    def at(epsilon: float) -> float:
        return sum(max(0.0, p - float(np.exp(epsilon)) * q) for p, q in laws.values())

    return epsilon_where(at, delta, 60.0)


def _selected(first: RecordedRun, second: RecordedRun, noise: Any) -> tuple[tuple[int, ...], tuple[float, float]]:
    """The selections of a run, and the probability of that sequence on either side."""
    path, chances = [], [1.0, 1.0]
    for x, y in zip(first.additions, second.additions, strict=True):
        chosen = int(np.argmin(x.result))
        path.append(chosen)
        for side, scores in enumerate((x.quantity, y.quantity)):
            exact = [Fraction(float(s)) for s in np.ravel(scores)]
            chances[side] *= float(noisy_min_law(K, exact, Fraction(float(np.max(x.scale))), noise)[chosen])
    return tuple(path), (chances[0], chances[1])
