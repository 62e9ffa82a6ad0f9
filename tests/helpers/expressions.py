"""Figures that no list of arguments leads to, as source: constructors, operators, refusals at the bounds themselves.

The expressions of a module are evaluated once a number system, `K`; the other names are those of the module, of
`arguments` and of this file. What is refused is a figure too.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from arguments import EXACT

from reference.numerics.enclosures import hull
from reference.numerics.numbers import Numbers
from reference.numerics.tape import Draw
from reference.setting.losses import GLL, Absolute, ScalarLoss
from reference.setting.sets import Polytope

F = Fraction


def _ball(low: Any, high: Any) -> Any:
    return hull(EXACT, EXACT(F(low)), EXACT(F(high)))


TOUCHING, BELOW, AROUND, ABOVE = _ball("-1/3", 2), _ball(-2, "-1/3"), _ball(-1, 2), _ball("1/2", 2)

CASE = {"id": "a", "flags": [], "input": {}, "draws": {}, "algorithm": "x", "variant": "printed", "result": "reject"}
DOCUMENT = {"format": 2, "algorithm": "x", "variant": "printed", "output": "w", "flags": {}, "cases": []}
WANTED = {"value": "1", "radius": "0.25", "tolerance": "0.5"}
TOLD = {
    "output": {"w": "1"},
    "radius": {"w": "0.25"},
    "tolerance": {"w": "0.5"},
    "trace": [{"line": 3, "name": "w", "index": [1], **WANTED}, {"line": 5, "name": "T", "index": [], "value": 4}],
}
_SEEN = ({"line": 3, "name": "w", "index": [1], "value": 1.5}, {"line": 5, "name": "T", "index": [], "value": 4})
L1GLL = GLL(Absolute, 1, 1, 1)
FAR_OUT = Polytope([[2**199] * 3, [2**199, 2**199, 2**198]])
"""Longer than binary64 may be asked for in ℓ_1, and not in ℓ_2."""
REPLIES = (
    {},
    {"unsupported": "no"},
    {"reject": "n is wrong"},
    {"output": {"v": 1}},
    {"output": {"w": 1.75}},
    {"output": {"w": 2}},
    {"output": {"w": "x"}},
    {"output": {"w": 1}, "reject": "n"},
    {"output": {"w": 1}, "trace": list(_SEEN)},
    {"output": {"w": 1}, "trace": [_SEEN[0] | {"value": 9}, _SEEN[1]]},
    {"output": {"w": 1}, "trace": [_SEEN[0], _SEEN[1] | {"value": 5}]},
    {"output": {"w": 1}, "trace": [_SEEN[1]]},
    {"output": {"w": 1}, "trace": [*_SEEN, _SEEN[0]]},
)

EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "reference.numerics.numbers": (
        "K('2/7')",
        "K(0.375)",
        "K(' 1.5e-3')",
        "K(True)",
        "MP(0)",
        "Ball(1)",
        "Float64()('2/7')",
        "Float64()(10**400)",
        "Float64()(F(1, 10**400))",
        "K.sqrt(K(-1))",
        "K.log(K(-1))",
        "K.log(K(0))",
        "K.sqrt(K(0))",
        "EXACT.sqrt(TOUCHING).ball.rad() > F(1, 2)",
        "EXACT.sqrt(BELOW)",
        "EXACT.log(TOUCHING)",
        "EXACT.abs(AROUND)",
        "EXACT.lt(EXACT(1), ABOVE)",
        "EXACT.floor(ABOVE)",
        "EXACT.argmin([EXACT(3), EXACT(1), EXACT(2), EXACT(1)])",
        "K.argmin([K(3), K(1), K(2), K(1)])",
        "K.argmin([])",
        "K.floor(K(F(-5, 2)))",
        "K.ceil(K(F(-5, 2)))",
        "K.ceil(K(3))",
        "K.sign(K(F(-5, 2))), K.sign(K(0)), K.sign(K(2))",
        "K.clip(K(3), K(1), K(2)), K.clip(K(0), K(1), K(2)), K.clip(K(F(3, 2)), K(1), K(2))",
        "K.vector([1, 2]) + K.vector([1, 2, 3])",
        "K.vector([1, 2]) @ K.vector([1, 2, 3])",
        "K.vector([1, 2])[2]",
        "K.vector([1, 2])[-1]",
        "K.vector([1, F(2, 3)]) - K.vector([3, F(1, 5)]), -K.vector([1, 2]), 3 * K.vector([1, 2])",
        "K.vector([1, 2]) == K.vector([1, 2]), K.vector([1, 2]) == K.vector([1, 3]), K.vector([1]) == K.vector([1, 2])",
        "K.vector([1, 2]) / 3, repr(Float64().vector([1, 2]))",
        "K(3) ** 2, K(3) ** -2, K(3) ** 0, 2 / K(3), 2 - K(3), 2 + K(3), 2 * K(3), -K(3)",
        "[norm(Float64(), Float64().vector(v), 101) for v in ((1e-4, 3e-4), (1e4, 3e5), (0.5, 0.25), (0, 0))]",
        "[norm(Float64(), Float64().vector(v), 3) for v in ((1e-200, 3e-200), (1e200, 3e205), (0.5, 0.25))]",
        "[norm(K, K.vector([3, -4, F(1, 2)]), p) for p in (1, 2, 3, F(3, 2), INF)]",
        "[dual_norm(K, K.vector([3, -4, F(1, 2)]), p) for p in (1, 2, 3, F(3, 2), INF)]",
        "[floor_log2(x) for x in (1, 2, 3, 1023, 1024, F(1, 3), F(1, 4), F(3, 1024))]",
        "certify(lambda B: B.floor(B.exp(B(40))))",
        "certify(lambda B: B.lt(B.sqrt(B(2)) * B.sqrt(B(2)), B(2)), cap=256)",
        "certify(lambda B: B.exp(B(1)), radius=F(1, 10**60)).bits",
        "[EXACT.to_float(EXACT(x)) for x in (F(1, 3), 10**30, F(-1, 10**40))]",
        "EXACT.to_float(EXACT(10**400))",
        "[(EXACT(F(1, 2)).contains(x), (EXACT(1) / 3).contains(x)) for x in (F(1, 2), F(1, 3), 1)]",
        "[K.normal_cdf(K(x)) for x in (-3, F(1, 3), 2)]",
        "[K.unit(3, j) for j in (0, 2)], K.zeros(2), K.unit_roundoff",
    ),
    "reference.numerics.preconditions": (
        "[exact('x', v) for v in (3, '1/3', '0.25', 0.5, F(2, 7))]",
        *(f"exact('x', {v})" for v in ("'abc'", "float('nan')", "float('inf')", "None", "True", "'1e99999'", "[1]")),
        *(f"whole('n', {v})" for v in ("0", "1", "2.0", "True", "'3'", "-1", "F(4, 2)", "F(1, 2)", "1.5")),
        *(f"exponent('p', {v})" for v in ("1", "2", "F(3, 2)", "INF", "F(1, 2)", "'2'", "0", "1.5", "float('nan')")),
        *(f"positive('x', {v})" for v in ("0", "-1", "F(1, 3)")),
        *(f"nonnegative('x', {v})" for v in ("0", "-1", "F(1, 3)")),
        "same_dimension('w', 3, 3)",
        "same_dimension('w', 3, 4)",
        "[_shown(v) for v in ('x' * 60, 'x' * 61, 'x' * 200, 10**30, 0.5, F(1, 3), [1] * 80)]",
    ),
    "reference.numerics.rounding": (
        "[digits_for(F(1, 10**k)) for k in (3, 15, 16, 17, 40)]",
        "[gamma(K, k) for k in (1, 2, 2**20)], gamma(COARSE, 2**29)",
        "gamma(COARSE, 2**29 + 1)",
        "[require_range(Float64(), 's', x) for x in (2.0**899, 2.0**-899)]",
        *(f"require_range(Float64(), 's', {x})" for x in ("2.0**900", "2.0**-900", "F(10)**400")),
        *(f"require_sizes(Float64(), D={x})" for x in ("2.0**199", "2.0**200", "0", "2.0**-200", "F(10)**400")),
        "require_sizes(COARSE, D=10**400)",
        "require_precision(MP(12), Float64())",
        "require_precision(Float64(), MP(12))",
        "finer(COARSE, [(K2(F(1, 7)), K2(0))]) if (K2 := COARSE) else 0",
    ),
    "reference.numerics.tape": (
        "Draw('xi', (-1,), 'normal', 3)",
        "Draw('xi', (), 'normal', 0)",
        "Draw('xi', (), 'cauchy', 3)",
        "Draw('x[', (), 'normal', 3)",
        "Draw('', (), 'normal', 3)",
        "Draw('i', (1,), 'index', 4).key, Draw('i', (), 'index', 4).key",
        "[SeededTape(3).read(Draw('xi', (1,), kind, 5)) for kind in KINDS]",
        "[ZeroTape().read(Draw('xi', (1,), kind, 5)) for kind in KINDS]",
        "[dumps(ReplayTape({d: on_grid(d, SeededTape(3).read(d))})) for d in DRAWN]",
        "[ReplayTape.from_json(ReplayTape({d: on_grid(d, SeededTape(3).read(d))}).to_json()).read(d) for d in DRAWN]",
        "ReplayTape({}).read(Draw('xi', (1,), 'normal', 5))",
        "ReplayTape({Draw('xi', (1,), 'normal', 2): (0.1, 0.2)})",
        "ReplayTape({Draw('xi', (1,), 'normal', 2): (0.5,)})",
        "ReplayTape({Draw('B', (), 'permutation', 2): (0, 0)})",
        "ReplayTape({Draw('B', (), 'permutation', 2): (1, 2)})",
        "ReplayTape({Draw('i', (), 'index', 2): (2,)})",
        "ReplayTape({Draw('i', (), 'index', 2): (-1,)})",
        "ReplayTape({Draw('e', (), 'exponential', 1): (-0.5,)})",
        *(
            f"ReplayTape.from_json({v})"
            for v in ("{'xi': 3}", "{'xi[1': {'kind': 'normal', 'dim': 1, 'values': ['0']}}")
        ),
        "ReplayTape.from_json({'xi[1]': {'kind': 'normal', 'dim': 1, 'values': ['abc']}})",
        "ReplayTape.from_json({'xi[1]': {'kind': 'normal', 'dim': 1, 'values': ['0.1']}})",
        "ReplayTape.from_json({'xi[1]': {'kind': 'normal', 'dim': 1, 'values': [0.5]}})",
        "ReplayTape.from_json({'i': {'kind': 'index', 'dim': 3, 'values': ['1']}})",
        "ReplayTape.from_json({'i': {'kind': 'index', 'dim': 3}})",
    ),
    "reference.setting.sets": (
        *(
            f"LpBall([0, 0], {r}, {p})"
            for r, p in (("-1", "2"), ("0", "2"), ("1", "F(1, 2)"), ("1", "INF"), ("'x'", "2"))
        ),
        "LpBall(['x'], 1, 2)",
        "Box([0, 1], [1, F(1, 2)])",
        "Box([0, 1], [1])",
        "Box([0, 1], [0, 1])",
        *(f"Simplex({d}, {s})" for d, s in ((0, 1), (2, 0), (1, 3), (2, -1))),
        "Polytope([])",
        "Polytope([[0], [1, 2]])",
        "l1_ball(0)",
        "l1_ball(2, 0)",
        "box_polytope([0] * 30, [1] * 30)",
        "WholeSpace(0)",
        "[W.vertices(K) for W in HULLS]",
        "[W == V for W in SETS[:4] for V in SETS[:4]], len({*SETS})",
        "[W.projects for W in SETS]",
        *(f"require_inside(K, SETS[1], K.vector([F(2, 3) + F({k}, 2**41), 0, 1]), 'w')" for k in (0, 1, 2, 3, 4, 5)),
        *(
            f"require_inside(K, SETS[0], K.vector([F(1, 3) + F(7, 5) + F({k}, 2**40), F(-1, 5), 0]), 'w')"
            for k in (0, 1, 3)
        ),
        "[W.diameter(K, p) for W in (Box([-1], [2]), LpBall([F(1, 3)], F(7, 5), 3)) for p in (1, 2, INF)]",
        "[W.norm_bound(K, p) for W in SETS[:10] for p in (1, 2, 3, INF)]",
        "[W.diameter(K, p) for W in SETS[:10] for p in (1, 2, 3, INF)]",
        "[W.contains(Float64(), Float64().vector(v)) for W in SETS for v in POINTS_OF_SETS]",
        "[W.project(K, K.vector(v)) for W in SETS if W.projects for v in POINTS_OF_SETS]",
        *(f"[SETS[{i}].linear_minimiser(K, K.vector(v)) for v in POINTS_OF_SETS]" for i in range(11)),
        "[W.linear_minimiser(Float64(), Float64().vector(v)) for W in SETS[:11] for v in POINTS_OF_SETS]",
        "[W.contains(K, W.project(K, K.vector(v)), F(1, 10**9)) for W in SETS if W.projects for v in POINTS_OF_SETS]",
    ),
    "reference.setting.data": (
        "[readable(z, 2) for z in (((1, 2), 3), [(1, 2), 3], Example((1, 2), 3), ((1,), 2), 'ab', "
        "None, ((1, 'x'), 2))]",
        "[readable(z, 1) for z in (((0.5,), True), ((float('nan'),), 0), ((F(1, 3),), None), ((10**400,), 1))]",
        "[plain_number(v) for v in (1, 0.5, F(1, 3), True, '1', None, float('inf'), 10**400)]",
        "[nearest_label(y, b) for y in (F(3, 2), -7, F(1, 3), 2**101, -(2**101)) for b in (None, 1, 5)]",
        "[clipped_features(x, F(5, 4), q) for x in FEATURES for q in (1, 2, 3, INF)]",
        "[clipped_features(x, F(0), 2) for x in FEATURES[:2]]",
        "[are_neighbours(a, b) for a, b in (((), ()), ((1,), (2,)), ((1, 2), (3, 4)), ((1, 2), (1, "
        "2)), ((1,), (1, 2)))]",
        "[replace_one((1, 2, 3), i, 9) for i in (0, 2)]",
        "replace_one((1, 2, 3), 3, 9)",
        "replace_one((1, 2, 3), -1, 9)",
        "Example('ab', 1)",
        "Example((1, 'x'), 1)",
        "Example((1, 0.5), float('nan'))",
        "Example([1, F(1, 3)], '1/2')",
        "blank(3)",
    ),
    "reference.setting.losses_convex": (
        *(f"[(SCALAR[{i}].value(K, K(u)), SCALAR[{i}].subgradient(K, K(u))) for u in AT]" for i in range(7)),
        *(f"[SCALAR[{i}].subgradient(Float64(), Float64()(u)) for u in AT]" for i in range(7)),
        "[L.prox(K, K(F(3, 2)), K(u)) for L in SCALAR[:6] for u in AT]",
        "[checked_beta(K, b) for b in (1, F(1, 9))]",
        "checked_beta(K, 0)",
        "checked_beta(K, F(1, 3), F(1, 3))",
        "[(L.lipschitz, L.smoothness, L.is_convex) for L in SCALAR]",
        "PiecewiseLinear([0], [1, -1]).is_convex, PiecewiseLinear([0], [1, 1]).is_convex",
        "PiecewiseLinear([0, 0], [1, 2, 3])",
        "PiecewiseLinear([0], [1])",
        "[ABS.check(K, z) for z in RECORDS]",
        "ABS.check(K, Example((9, 0, 0), 1))",
        "[ABS.admit(((9, 0, 0), 7), 3), ABS.admit(((9, 0), 7), 3), ABS.admit(((0, F(1, 3), 0), F(1, 5)), 3)]",
        "[linear_prox(K, L, K.vector([1, F(1, 3), -2]), K(F(3, 2)), K.vector([F(1, 5), 2, 0])) for L in SCALAR[:6]]",
        "linear_prox(K, SCALAR[0], K.vector([0, 0]), K(F(3, 2)), K.vector([F(1, 5), 2]))",
    ),
    "reference.setting.losses_weak": (
        "[(L.value(K, K(u)), L.subgradient(K, K(u)), L.lipschitz, L.rho) for L in WEAK_SCALAR for u in AT]",
        "[L.prox(K, K(F(9, 2)), K(u)) for L in WEAK_SCALAR[:4] for u in AT]",
        "[(L.L0, L.rho) for L in WEAK]",
        *(f"WEAK_SCALAR[{i}].prox(K, K({b}), K(1))" for i in range(4) for b in (f"WEAK_SCALAR[{i}].rho", "F(1, 9)")),
    ),
    "reference.convex.moreau": (
        *(
            f"require_convex(K, Tent({h}), K(-1), K(2))"
            for h in ("F(1, 10)", "0", "F(-1, 10)", "F(2, 2**40)", "F(4, 2**40)")
        ),
        "require_convex(K, WEAK_SCALAR[0], K(-1), K(1))",
        "Interval(2, 1)",
        "Interval(1, 1)",
        "[Interval(F(-1, 3), 2).clip(K, K(u)) for u in AT]",
        "[prox(K, L, K(F(3, 2)), K(u), M) for L in SCALAR[:6] for u in AT for M in (Interval(), "
        "Interval(F(-1, 3), F(1, 4)))]",
        "[envelope(K, L, K(F(3, 2)), K(u), M) for L in SCALAR[:6] for u in AT for M in (Interval(), "
        "Interval(-1, F(1, 4)))]",
    ),
    "reference.convex.phased_sgd": (
        *(
            f"require_bounded(Example((F(5, 4) * (1 + F({k}, 2**41)), 0, 0), 1), GLL(Absolute, 1, F(5, 4), {p}), 3)"
            for p in ("1", "2", "INF")
            for k in (0, 1, 2, 3, 5, 8)
        ),
        *(
            f"phased_parameters(K, 64, ABS, SETS[0], epsilon={e}, delta={d})"
            for e, d in ((3, "F(1, 8)"), ("0", ".5"), (1, 0))
        ),
        "phased_parameters(K, 64, ABS, SETS[0], epsilon=1, delta=F(1, 9), rank=3)",
        "phased_parameters(K, 64, ABS, WholeSpace(3), epsilon=1, delta=F(1, 9), D=3)",
        "phased_parameters(K, 64, ABS, WholeSpace(3), epsilon=1, delta=F(1, 9), rank=F(1, 2))",
        "phased_parameters(K, 64, ABS, SETS[0], epsilon=1, delta=F(1, 9), D=0)",
        "phased_parameters(K, 64, ABS, SETS[0], epsilon=1, delta=F(1, 9), average='mean')",
        "phased_parameters(K, 1, ABS, SETS[0], epsilon=1, delta=F(1, 9))",
        "phased_parameters(K, 64, GLL(Absolute, 1, 0), SETS[0], epsilon=1, delta=F(1, 9))",
        "require_family(GLL(Absolute, F(1, 2), 1))",
        "require_family(GLL(Absolute, 1, 1))",
        "require_family(GLL(lambda y: PiecewiseLinear([0], [1, -1]), 1, 1))",
        "[exact_log2(n) for n in (2, 64)]",
        "exact_log2(48)",
        "[phase_lengths(n) for n in (2, 3, 37, 64, 65)]",
        "rank(((1, 2, 3), (2, 4, 6), (0, 0, 0), (1, 0, 0), (F(1, 3), 4, 5)))",
    ),
}
EXPRESSIONS |= {
    "reference.convex.noisy_frank_wolfe": (
        "frank_wolfe_parameters(Float64(), 64, L1GLL, FAR_OUT, epsilon=1, delta=F(1, 9), unproven=True)",
        *(f"frank_wolfe_parameters(K, {n}, L1GLL, HULLS[0], epsilon=1, delta=F(1, 9))" for n in (1, 2)),
        "frank_wolfe_parameters(K, 64, L1GLL, Polytope([[1, 2], [1, 2]]), epsilon=1, delta=F(1, 9))",
        "frank_wolfe_parameters(K, 64, L1GLL, HULLS[0], epsilon=1, delta=F(1, 9), noise='cauchy')",
        "require_polytope(SETS[0])",
        "require_polytope(Polytope([[1, 2]]))",
    ),
    "reference.weakly_convex.strongly_convex": (
        "require_setting(K, WEAK[4], Box([0, 0], [1, 1]))",
        "[require_setting(K, loss, SETS[1]) for loss in WEAK if loss.p != F(3, 2)]",
        *(f"Phase({n}, {T}, {lam})" for n, T, lam in ((0, 3, 0), (3, 0, 0), (3, 3, -1), (2, "2.5", 0), (3, 3, 1))),
        "check_plan((Phase(3, 3, 1),), 4)",
        "check_plan((Phase(3, 3), Phase(2, 2, 1)), 4)",
        "check_plan((Phase(3, 3), Phase(1, 2, 1)), 4)",
        "check_plan((), 4)",
        "require_budget(K, 0)",
        "require_budget(K, F(1, 9))",
    ),
    "reference.paper.registry": (
        "[agree(1, 1 + F(k, 10**10)) for k in (0, 9, 10, 11, -9, -10, -11)]",
        "[at_least(x, d) for x in (0.00123456, 12.3456, 1e7, 999999.0, 1e-5) for d in (2, 3)], at_least(2 / 3)",
    ),
    "reference.vectors": (
        "misshapen([])",
        "misshapen({'format': 1})",
        "misshapen({'format': FORMAT})",
        "misshapen(DOCUMENT)",
        *(f"misshapen(DOCUMENT | {{'cases': [{case}]}})" for case in ("3", "{}", "CASE", "CASE | {'reason': 'n'}")),
        "misshapen(DOCUMENT | {'cases': [CASE | {'result': 'match', 'output': 1, 'radius': 1, 'tolerance': 1}]})",
        "misshapen(DOCUMENT | {'cases': [CASE | {'reason': 'n', 'flags': ['x']}]})",
        "misshapen(DOCUMENT | {'cases': [CASE | {'reason': 'n', 'flags': ['y']}], 'flags': {'y': {}}})",
        "[names(words, reason) for words in ('n = 3', 'no', 'Alpha is', 'an alpha', 'n-th', '(n)') "
        "for reason in ('n', 'alpha')]",
        "damaged()",
        "file_name('Alg:nfw', 'tight')",
    ),
    "reference.vectors.cases": (
        "records('a', 4, 3, ('1', '-1', '0.5'), 40)",
        "records('a', 3, 2, ('1', '-1'), 7, {'1': 'other'})",
        "[seeded('k')(Draw('xi', (1,), kind, 6)) for kind in KINDS]",
        "[without_noise(Draw('xi', (1,), kind, 6)) for kind in KINDS]",
        "[choosing(4, seeded('k'))(Draw('xi', (1,), kind, 6)) for kind in KINDS]",
        "integers('k', 17)",
        "tape((Draw('xi', (1,), 'normal', 2), Draw('i', (), 'index', 5)), seeded('k'))",
    ),
    "reference.vectors.encode": (
        "[decimal(F(x)) for x in ('1/3', '-5/2', '0', '1e30', '1e20', '1e21', '1e22', '3e-9', "
        "'123456', '-2e-5', '2e-4', '1e-6')]",
        "[decimal(F(x), 3) for x in ('1/3', '-99951/10', '5/4', '0.0012345', '1234567', '125/100', "
        "'1235/10', '12345e-9')]",
        "[power_of_ten_above(F(x)) for x in ('1', '10', '11', '1/10', '11/100', '9/1000', '999', '1001')]",
        "[one_digit_above(F(x)) for x in ('0', '1', '10', '11', '0.09', '0.091', '0.95', '123')]",
        "[encode_scalar(EXACT(x) / 7) for x in (1, F(-2, 3), 7, 0, 10**30)]",
        "encode_scalar(Ball(64)(1) / 3)",
        "encode_scalar(Ball(64).sqrt(Ball(64)(2)) - Ball(64).sqrt(Ball(64)(2)))",
        "encode_value((EXACT(1) / 3, EXACT(2), EXACT(10**6) / 7)), encode_value(()), "
        "encode_value(4), encode_value('x')",
        "[magnitude(v) for v in (EXACT(-3), (EXACT(2), EXACT(-5)), 7, 'x', ())]",
        "[short(EXACT(x)) for x in (1, F(1, 3), F(1, 2**20), 2**60, F(1, 2**60))]",
        "canonical({'a': [1, 'x' * 200, {'b': None}], 'c': {}, 'd': [['1'] * 60], 'e': [], 'f': "
        "{'g': [1, 2, {'h': 3}]}})",
    ),
    "reference.vectors.inputs": (
        "feasible_set({'type': 'cube'})",
        "[feasible_set({'type': 'lp-ball', 'centre': ['0', '1'], 'radius': '2', 'p': p}) for p in "
        "('1', '1.5', '2', 'inf')]",
        "feasible_set({'type': 'simplex', 'dim': 3, 'scale': '2'}), feasible_set({'type': 'box', "
        "'lower': ['0'], 'upper': ['2']})",
        "feasible_set({'type': 'l1-polytope', 'dim': 3, 'radius': '2'}), interval(None), interval(['-1', '2.5'])",
        "scalar_family({'family': 'cube'})",
        "[scalar_family({'family': f, 'tau': '0.25', 'width': '0.5', 'kinks': ['1'], 'slopes': ['0', "
        "'1']})(F(1, 3)) for f in SCALARS]",
    ),
    "reference.vectors.check_vectors": (
        "[number(v) for v in (3, 0.5, '0.25', '-1e-3', ' +.5', '1.', '7e10')]",
        *(f"number({v})" for v in ("True", "'1/3'", "'nan'", "float('inf')", "None", "'1e99999'", "'x' * 60", "[1]")),
        "[agrees({'value': v}, g) for v in (3, 'x', [1, 2]) for g in (3, 3.0, 3.5, 'x', [1, 2.0], [1])]",
        "[agrees(W, g) for W in (WANTED, WANTED | {'value': ['1', '2']}) for g in ('1', 1.75, "
        "1.7500001, 0.25, 0.2, ['1', 2], ['1'])]",
        "key({'name': 'w', 'index': [1, 2]}), key({'name': 'w', 'index': []}), key({'name': 'w'}), flat([1]), flat(1)",
        *(
            f"compare(CASE | {{'result': {r!r}, **TOLD}}, {reply}, 'w')"
            for r in ("match", "reject", "either")
            for reply in REPLIES
        ),
    ),
}
"""By module."""


class Tent(ScalarLoss):
    """1 at −1 and 2, 1 + `height` between: convex by its word."""

    def __init__(self, height: F):
        self.height = height

    @property
    def lipschitz(self) -> F:
        return F(1)

    def value(self, K: Numbers, u: Any) -> Any:
        ends = K.le(u, K(-1)) or K.le(K(2), u)
        return K(1) if ends else K(1 + self.height)

    def subgradient(self, K: Numbers, u: Any) -> Any:
        return K(0)

    def __repr__(self) -> str:
        return f"Tent({self.height})"


KINDS = ("normal", "laplace", "gumbel", "exponential", "permutation", "index")
DRAWN = tuple(Draw("xi", (1,), kind, 5) for kind in ("normal", "gumbel", "permutation", "index"))
POINTS_OF_SETS = (
    (0, 0, 0),
    (F(1, 5), F(1, 7), F(1, 3)),
    (F(2, 3), F(3, 4), F(5, 4)),
    (2, -1, F(1, 2)),
    (-3, F(1, 4), 1),
    (1, 1, F(-1, 2)),
    (F(-1, 12), F(3, 8), F(-1, 15)),
)
FEATURES = (
    (1, 1),
    (F(3, 4), 1),
    (F(3, 4) * (1 + F(1, 2**39)), 1),
    (F(3, 4) * (1 + F(1, 2**42)), 1),
    (0, 0),
    (F(5, 4), 0),
    (F(5, 4) * (1 + F(1, 2**40)), 0),
    (F(5, 4) * (1 + F(1, 2**40)) + F(1, 2**60), 0),
    (10**400, 1),
    (0.1, -0.7, 1.3),
)
AT = (F(1, 3), F(-2, 5), F(5, 4), F(9, 2), 0, F(3, 4), F(-3), F(1, 2), F(8, 5), F(6, 5), F(15, 8))
