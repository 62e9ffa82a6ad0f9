"""Certificates of proximal points: false ones that were found, and a search for more with positive controls."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction as Q
from typing import Any

import pytest

from reference.numerics.numbers import Ball, Float64, Undecided, Vector, dual_exponent, norm
from reference.setting.data import FEATURE_SLACK, Example
from reference.setting.losses import (
    MCP,
    SCAD,
    CovarianceEstimation,
    DictionaryLearning,
    NegativeQuadratic,
    Penalised,
    RobustPhaseRetrieval,
    TanhRegression,
    TrimmedRegression,
)
from reference.setting.sets import Box, CrossPolytope, FeasibleSet, LpBall, Polytope, Simplex
from reference.weakly_convex import prox
from reference.weakly_convex.mirror import duality_map, geometry, mirror_step, size

F, B = Float64(), Ball(160)


# ------------------------------------------------------------------------ false certificates that were given


def test_constants_that_do_not_hold_on_w_are_refused() -> None:
    """|w²| with L0 for |w| ≤ 1 only, from w = 10: the radius ℓ/β is 1/2, and the proximal point 10/3 away.

    It used to get 19/2 ± 4e-19.
    """
    phase = prox.empirical(RobustPhaseRetrieval(1, 1), [Example((1,), 0)])
    with pytest.raises(ValueError, match=r"B = 1 must bound .* W reaches 100"):
        prox.prox_population(B, phase, Box([-100], [100]), B.vector([10]))
    wide = prox.empirical(RobustPhaseRetrieval(1, 100), [Example((1,), 0)])
    found = prox.prox_population(B, wide, Box([-100], [100]), B.vector([10]), tolerance=Q(1, 10**6))
    assert B.le(B.abs(found.point[0] - Q(20, 3)), found.radius)


@pytest.mark.parametrize(("W", "w"), [(Box([-1], [1]), [2]), (Simplex(2), [1, 1]), (LpBall([0, 0], 1, 2), [0, 1.5])])
def test_a_centre_outside_w_is_refused(W: FeasibleSet, w: list[Any]) -> None:
    population = prox.empirical(TanhRegression(1), [Example((1,) + (0,) * (W.dim - 1), 1)])
    for K in (B, F):
        with pytest.raises(ValueError, match="must lie in W: project it first"):
            prox.prox_population(K, population, W, K.vector(w))
        with pytest.raises(ValueError, match="must lie in W"):
            prox.certify_prox(K, population, W, K.vector(w), prox.Bundle((F.zeros(W.dim),), (Q(1),), F.zeros(W.dim)))


@pytest.mark.parametrize(
    ("loss", "record"),
    [
        (TanhRegression(1), Example((10,), 1)),
        (TanhRegression(1), Example((1, 1), 1)),
        (TrimmedRegression(1, 1, 1, 1, 1), Example((1, 1), 2)),
    ],
    ids=["long", "of another dimension", "label"],
)
def test_records_for_which_the_constants_do_not_hold_are_refused(loss: Any, record: Example) -> None:
    W = Box([0] * getattr(loss, "dim", 1), [1] * getattr(loss, "dim", 1))
    good = Example((0,) * (W.dim - 1) + (1,), 0)
    with pytest.raises(ValueError, match=r"record 1 = .* must be admissible"):
        prox.prox_population(B, prox.empirical(loss, [good, record]), W, W.centre(B))


def test_features_that_are_a_little_too_long_are_paid_for() -> None:
    """A record of length 1 + 2^−40 is admissible: −⟨a, w⟩²/2 is then a little more concave than ρ = 1 says.

    β = 1 + 2^−39 suffices for ρ, and not for what the record has.
    """
    long = Example((1 + FEATURE_SLACK,), 0)
    population, W = prox.empirical(NegativeQuadratic(1, 1), [long]), Box([-1], [1])
    with pytest.raises(ValueError, match="exceed"):
        prox.prox_population(B, population, W, B.zeros(1), beta=1 + Q(1, 2**39))
    prox.prox_population(B, population, W, B.zeros(1), beta=1 + Q(1, 2**38))


def test_a_centre_on_the_boundary_is_a_point_of_w() -> None:
    """Balls cannot decide Σw = 1 or 3² + 4² = 5²; such a w is taken to be in W."""
    population = prox.empirical(TanhRegression(1), [Example((1, 0), 1)])
    for W, w in ((Simplex(2), [Q(1, 3), Q(2, 3)]), (LpBall([0, 0], 1, 2), [Q(3, 5), Q(4, 5)])):
        found = prox.prox_population(B, population, W, B.vector(w), tolerance=Q(1, 10**4))
        assert B.lt(found.radius, B("1e-3"))


# --------------------------------------------------------------------------------------- enclosures at 0


def test_what_may_be_zero_is_enclosed() -> None:
    """A vector that balls cannot tell from 0: its image has entries of at most its length, and staying is the step."""
    for p in (1, Q(3, 2), 2):
        geo = geometry(B, p, 4)
        tiny = B.vector([B(Q(1, 3)) - B(1) / 3 for _ in range(4)])
        image = duality_map(B, geo, tiny)
        assert all(x.contains(0) for x in image)
        assert all(B.lt(B.abs(x), B("1e-40")) for x in image)
        step = mirror_step(B, geo, Simplex(4), B.vector([Q(1, 4)] * 4), tiny, B(1), B(1))
        assert all(x.contains(0) for x in step.u)
        assert B.lt(step.gap, B("1e-40"))


# ------------------------------------------------------------------------------------------- the search


def exact_record(generator: random.Random, lengths: tuple[int, ...], R: Any, p: Any) -> tuple[Q, ...]:
    """Blocks of features of ℓ_q length just below R."""
    found: list[Q] = []
    for n in lengths:
        x = F.vector([generator.gauss(0, 1) for _ in range(n)])
        x = x * (generator.choice([0.999999, 0.6]) * float(R) / norm(F, x, dual_exponent(p)))
        found += [Q(int(v * 2**30), 2**30) for v in x]
    return tuple(found)


def problem(generator: random.Random) -> tuple[prox.Population, FeasibleSet, Vector]:
    """A loss, one to three records, a set and a centre in it."""
    p, d = generator.choice([1, Q(3, 2), 2]), generator.choice([2, 3, 4])
    label = lambda: Q(generator.randrange(-64, 65), 64)  # noqa: E731
    kind = generator.randrange(8)
    count = range(generator.randrange(1, 4))
    if kind == 0:
        loss: Any = TrimmedRegression(d - 1, 1, 1, 4, 1, p)
        rows = [Example((*exact_record(generator, (d - 1,), 1, p), 1), label()) for _ in count]
        low = [-Q(generator.randrange(1, 64), 64) for _ in range(d - 1)]
        W: FeasibleSet = Box([*low, 0], [*(-x for x in low), 1])
        return prox.empirical(loss, rows), W, centre_of(generator, W)
    if kind == 1 and d % 2 == 0:
        loss, lengths = CovarianceEstimation(d // 2, 2, 1, 4, p), (d // 2,)
    elif kind == 2:
        loss, lengths = DictionaryLearning(1, 1, d - 1, 1, 4, generator.choice([0, Q(1, 4)]), p), (1, d - 1)
    else:
        family = {
            3: RobustPhaseRetrieval(1, 4, p),
            4: NegativeQuadratic(1, 4, 1, p),
            5: Penalised(MCP(Q(1, 2), 2), 1, p),
            6: Penalised(SCAD(Q(1, 2), 3), 1, p),
        }
        loss, lengths = family.get(kind, TanhRegression(1, p)), (d,)
    rows = [Example(exact_record(generator, lengths, 1, p), label()) for _ in count]
    r = Q(generator.randrange(1, 33), 32)
    mid = [Q(generator.randrange(-16, 17), 64) for _ in range(d)]
    sets: list[FeasibleSet] = [
        Box([c - r for c in mid], [c + r for c in mid]),
        *(LpBall(mid, r, s) for s in (1, 2, p)),
        Simplex(d, r),
        CrossPolytope(d, r),
    ]
    if p == 2:
        points = [[Q(generator.randrange(-64, 65), 64) for _ in range(d)] for _ in range(generator.randrange(1, d + 3))]
        sets.append(Polytope(points))
    W = generator.choice(sets)
    return prox.empirical(loss, rows), W, centre_of(generator, W)


def centre_of(generator: random.Random, W: FeasibleSet) -> Vector:
    """A rational point of W: between its middle and an extreme point, or that point."""
    g = F.vector([generator.gauss(0, 1) for _ in range(W.dim)])
    share = generator.choice([Q(0), Q(1, 2), Q(9, 10)])
    if isinstance(W, Simplex | Polytope) and not hasattr(W, "shape"):
        end = [Q(x) for x in generator.choice(W.exact_vertices)]
        middle = [sum((v[j] for v in W.exact_vertices), Q(0)) / len(W.exact_vertices) for j in range(W.dim)]
    else:
        end = [Q(x) for x in W.linear_minimiser(F, g)]
        middle = [x.mid for x in W.centre(B)]
    return B.vector([a + share * (b - a) for a, b in zip(middle, end, strict=True)])


def bundles(generator: random.Random, near: Vector) -> Iterator[prox.Bundle]:
    """What nobody should send: cuts and best points anywhere, also far outside W and the ball."""
    base = F.vector([float(x.mid) for x in near])

    def anywhere() -> Vector:
        noise = F.vector([generator.gauss(0, 1) for _ in base]) * 10 ** generator.uniform(-14, 0.5)
        return base * generator.choice([1.0, 0.0, 0.5, 1.5, -1.0, 3.0]) + noise

    for _ in range(3):
        points = tuple(anywhere() for _ in range(generator.randrange(1, 4)))
        raw = [generator.randrange(1, 9) for _ in points]
        yield prox.Bundle(points, tuple(Q(x, sum(raw)) for x in raw), generator.choice([points[0], anywhere()]))


def contradictions(trials: int, seed: int) -> list[str]:
    """Pairs of certificates that cannot both be true, and certified points outside W; the first is a fine one."""
    generator, found = random.Random(seed), []
    for trial in range(trials):
        population, W, w = problem(generator)
        fine = prox.prox_population(B, population, W, w, tolerance=Q(1, 10**6))
        geo = geometry(B, population.loss.p, W.dim)
        for bundle in bundles(generator, fine.point - w):
            try:
                other = prox.certify_prox(B, population, W, w, bundle)
            except Undecided:  # a kink that balls cannot tell from its neighbourhood
                continue
            apart = size(B, geo, other.point - fine.point)
            room = B("1e-35")
            slack = Q(1, 2**120) if isinstance(W, Simplex | Polytope) else 0
            claims = {
                "apart": (other.radius + fine.radius + room, apart),
                "upper below lower": (other.upper + room, fine.lower),
                "lower above upper": (fine.upper + room, other.lower),
            }
            found += [f"{trial}: {name}" for name, (a, b) in claims.items() if prox.certainly(B.lt, a, b)]
            if not prox.certainly(W.contains, B, other.point, slack):
                found.append(f"{trial}: outside")
    return found


@pytest.mark.statement("eqn:prox_map", kind="searched")
def test_no_bundle_gives_a_false_certificate() -> None:
    assert contradictions(40, seed=2026) == []


def without_feasibility(K: Any, geo: Any, W: Any, w: Any, u: Any, radius: Any) -> Any:
    return u


BROKEN = {
    "no feasibility": ("feasible_near", lambda old: without_feasibility),
    "cuts too high": ("_cut", lambda old: lambda *a: (old(*a)[0] + B("1e-3"), old(*a)[1])),
    "half the gap": ("objective", lambda old: lambda *a: old(*a) / 2),
    "ignores the slack of the step": ("mirror_step", lambda old: lambda *a: _Slackless(old(*a))),
}


class _Slackless:
    def __init__(self, step: Any) -> None:
        self.u, self.gap = step.u * B(Q(9, 10)), B(0)  # another feasible point, and nothing said about it


@pytest.mark.parametrize("name", BROKEN)
def test_the_search_sees_a_broken_certificate(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Positive controls; `prox_population` itself is left whole, so that the fine certificate stays true."""
    part, broken = BROKEN[name]
    whole, search = prox.certify_prox, prox.prox_population
    changed = broken(getattr(prox, part))

    def certify(*given: Any, **options: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(prox, part, changed)
            try:
                return whole(*given, **options)
            except ArithmeticError:  # bounds in the wrong order: seen at once
                return _Absurd(given[3])

    def fine(*given: Any, **options: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(prox, "certify_prox", whole)
            return search(*given, **options)

    monkeypatch.setattr(prox, "certify_prox", certify)
    monkeypatch.setattr(prox, "prox_population", fine)
    assert contradictions(25, seed=7)


class _Absurd:
    def __init__(self, w: Any) -> None:
        self.point, self.radius, self.upper, self.lower = w, B(0), B(-(10**9)), B(10**9)


# ----------------------------------------------------------------------------------------------- binary64


@pytest.mark.parametrize("far", [0, 2**10, 2**21])
def test_binary64_allows_for_its_rounding(far: int) -> None:
    """The same problem in balls, also where w + u is rounded to multiples of 2^−32."""
    generator = random.Random(far)
    for trial in range(12):
        W = Box([far] * 2, [far + 1] * 2) if trial % 2 else LpBall([far] * 2, 1, 2)
        a = exact_record(generator, (2,), 1, 2)
        record = Example(a, Q(generator.randrange(-64, 65), 64))
        population = prox.empirical(TanhRegression(1), [record])
        point = [far + Q(generator.randrange(0, 40), 64) for _ in range(2)]
        rough = prox.prox_population(F, population, W, F.vector(point), tolerance=Q(1, 10**12))
        truth = prox.prox_population(B, population, W, B.vector(point), tolerance=Q(1, 10**7))
        apart = norm(B, B.vector([Q(x) for x in rough.point]) - truth.point, 2)
        assert not prox.certainly(B.lt, B(Q(rough.radius)) + truth.radius, apart)
        assert not prox.certainly(B.lt, B(Q(rough.upper)), truth.lower)
        assert not prox.certainly(B.lt, truth.upper, B(Q(rough.lower)))
