"""What a mutated algorithm reveals, computed exactly from replays on neighbouring datasets.

Each check runs given code on a pair of neighbours built so that the released means differ by constants (losses far from
their kinks, clipped gradients), reads the means from the traces, measures the noise that really reaches the release by
changing one draw, and returns (found, allowed). The algorithm leaks if found > allowed. On the reference itself no
check finds more than is allowed: they are their own controls.

Gaussian releases: μ² = Σ(difference of means/deviation)², and δ_G(ε, μ) against δ. Choices between two vertices: the
exact law of a noisy minimum. Conditions of the accountant: a number that must not exceed its limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from mpmath import mp, quad

from reference.convex.oracle import closed_form_oracle, oracle_parameters
from reference.numerics.numbers import Float64
from reference.numerics.tape import Draw, Tape, Values
from reference.paper.events import Trace
from reference.privacy import gaussian_delta, hockey_stick
from reference.setting.losses import Quantile
from reference.smooth.sensitivity import batch_sizes, record_bound, unit_sums
from reference.vectors.execute import plain, run

K = Float64()
Values_of: TypeAlias = Callable[[Draw], float]
Finding: TypeAlias = tuple[float, float]
DELTA = 2.0**-10


class _Tape(Tape):
    """Real draws from a function of the key, identity permutations, index 0."""

    def __init__(self, value: Values_of):
        self._value = value

    def read(self, draw: Draw) -> Values:
        if draw.kind == "permutation":
            return tuple(range(draw.dim))
        return (0,) if draw.kind == "index" else (self._value(draw),) * draw.dim


class _First(_Tape):
    """As above, but only the first coordinate of a draw is set."""

    def read(self, draw: Draw) -> Values:
        values = super().read(draw)
        return values if draw.kind in ("permutation", "index") else (values[0], *(0.0 for _ in values[1:]))


def events(code: Any, algorithm: str, variant: str, data: Mapping[str, Any], tape: Tape) -> dict[str, Any]:
    """The trace by key; a run that fails still gives what came before."""
    trace = Trace()
    try:
        run(K, {"algorithm": algorithm, "variant": variant, "input": data, "draws": {}}, code, tape=tape, trace=trace)
    except Exception as error:
        if not len(trace):
            raise AssertionError(f"the replay of {algorithm} shows nothing: {error}") from error
    return {event.key: plain(K, event.value) for event in trace}


def zero(_: Draw) -> float:
    """No noise."""
    return 0.0


def one(_: Draw) -> float:
    """All draws are 1."""
    return 1.0


def gaussian(epsilon: float, mu: float) -> float:
    """δ_G(ε, μ); 1 without noise."""
    if mu == 0:
        return 0.0
    return 1.0 if math.isinf(mu) else float(gaussian_delta(K, epsilon, mu))


def ratio(difference: float, deviation: float) -> float:
    """difference/deviation, ∞ if there is no noise."""
    if abs(difference) < 1e-12:
        return 0.0
    return math.inf if abs(deviation) < 1e-15 else abs(difference / deviation)


def record(y: int, x: float = 1.0) -> dict[str, Any]:
    """A record of dimension 1."""
    return {"x": [repr(x)], "y": str(y)}


# -------------------------------------------------------------------------------- Algorithms 1 and 2


def quarter_points(code: Any) -> Finding:
    """The largest error of the oracle in units of α: the accountant of Algorithm 2 needs it to be at most 1."""
    p = oracle_parameters(K, beta=4, alpha="0.03125", L0=1, R=1)
    ell, x, worst = Quantile(0, "0.25"), K.vector([1]), 0.0
    for i in range(-200, 201):
        w = K.vector([i / 256])
        found = code.oracle.oracle(K, w, x, ell, p, None).derivative
        worst = max(worst, abs(found - closed_form_oracle(K, w, x, ell, p).derivative))
    return worst / float(p.alpha), 1.0


def _phased(records: list[dict[str, Any]], epsilon: str, width: str, **changes: Any) -> dict[str, Any]:
    made = {
        "loss": {"family": "absolute"},
        "L0": "1",
        "R": "1",
        "set": {"type": "box", "lower": [f"-{width}"], "upper": [width]},
        "start": None,
        "epsilon": epsilon,
        "delta": str(DELTA),
        "D": None,
        "rank": None,
        "beta": "4",
        "alpha": "0.0009765625",
        "average": "last",
        "oracle": "corrected",
        "dataset": records,
    }
    return {**made, **changes}


def phased_scale(code: Any) -> Finding:
    """One phase of one step: how far apart w_1 is, over the noise that reaches w̃_1."""
    inputs = [_phased([record(y), record(100)], "2.5", "0.0078125") for y in (100, -100)]
    means = [events(code, "Alg:phased", "corrected", data, _Tape(zero)) for data in inputs]
    noisy = events(code, "Alg:phased", "corrected", inputs[0], _Tape(one))
    deviation = noisy["w_tilde[1]"][0] - means[0]["w_tilde[1]"][0]
    return gaussian(2.5, ratio(means[0]["w[1]"][0] - means[1]["w[1]"][0], deviation)), DELTA


def phased_replay(code: Any) -> Finding:
    """Tight noise: the worst record's total over all phases, each started at the same point."""
    worst = 0.0
    for i in range(8):
        runs = []
        for y in (100, -100):
            records = [record(100) for _ in range(8)]
            records[i] = record(y)
            data = _phased(records, "1", "1000", D="1")
            runs.append(events(code, "Alg:phased", "tight", data, _Tape(zero)))
        total = 0.0
        for k in range(1, 4):
            moved = [r[f"w[{k}]"][0] - r[f"u[{k},0]"][0] for r in runs]
            total += ratio(moved[0] - moved[1], runs[0][f"sigma[{k}]"]) ** 2
        worst = max(worst, gaussian(1, math.sqrt(total)))
    return worst, DELTA


def climbing(code: Any) -> Finding:
    """A phase of 32 steps: neighbours must not run apart."""
    runs = [
        events(
            code,
            "Alg:phased",
            "corrected",
            _phased([record(y), *(record(0) for _ in range(63))], "2.5", "1000", D="1", beta="64"),
            _Tape(zero),
        )
        for y in (100, -100)
    ]
    return gaussian(2.5, ratio(runs[0]["w[1]"][0] - runs[1]["w[1]"][0], runs[0]["sigma[1]"])), DELTA


def expanding_steps(code: Any) -> Finding:
    """η_1βR² with the theorem's β, n = 4096, D = 48: steps expand beyond 2, and the accountant gives no guarantee."""
    n, D = 4096, 48
    beta, eta = float(code.phased_sgd.theorem_beta(K, n, 1, 1, D)), D / (3 * math.sqrt(n))
    return eta / 4 * beta, 2.0


# -------------------------------------------------------------------------------- Algorithms 3 and 4


def two_sided(x: float) -> float:
    """P(X − Y < x) for two unit Laplace variables."""
    tail = math.exp(-abs(x)) * (2 + abs(x)) / 4
    return 1 - tail if x >= 0 else tail


def threshold(choose: Callable[[float], int]) -> float:
    """The draw of the first vertex at which the choice flips to the second; ±∞ if it never does."""
    low, high = -4096.0, 4096.0
    if choose(low) == choose(high):
        return math.inf if choose(low) == 0 else -math.inf
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if choose(middle) == 0 else (low, middle)
    return low


def choice_delta(epsilon: float, x: float, y: float) -> float:
    """δ(ε) of a choice between two vertices with thresholds x and y, in the worse direction."""
    laws = [[0.0 + (t > 0), 0.0 + (t < 0)] if math.isinf(t) else [two_sided(t), two_sided(-t)] for t in (x, y)]
    return max(float(hockey_stick(K, p, q, epsilon)) for p, q in (laws, laws[::-1]))


def _nfw(records: list[dict[str, Any]], epsilon: str, steps: int) -> dict[str, Any]:
    return {
        "loss": {"family": "absolute"},
        "L0": "1",
        "R": "1",
        "set": {"type": "l1-polytope", "dim": 1, "radius": "1"},
        "start": None,
        "epsilon": epsilon,
        "delta": str(DELTA),
        "T": steps,
        "beta": "4",
        "alpha": "0.0625",
        "oracle": "corrected",
        "noise": "laplace",
        "dataset": records,
    }


def nfw_choice(code: Any) -> Finding:
    """One step on 101 records, one of which decides the majority."""
    found = []
    for pluses in (50, 51):
        records = [record(100 if i < pluses else -100) for i in range(101)]
        data = _nfw(records, "1", 1)
        found.append(
            threshold(
                lambda x, data=data: events(  # type: ignore[misc]
                    code, "Alg:nfw", "corrected", data, _First(lambda _: x)
                )["v[1]"]
            )
        )
    return choice_delta(1, *found), DELTA


def nfw_steps(code: Any) -> Finding:
    """Many steps with the same scores: T independent choices between two vertices, composed exactly (two records)."""
    worst = 0.0
    for scale, steps in (("scale_printed", 4096), ("scale_tight", 8)):
        from reference.setting.losses import GLL, Absolute
        from reference.setting.sets import l1_ball

        module = code.noisy_frank_wolfe
        p = module.frank_wolfe_parameters(
            K,
            2,
            GLL(Absolute, 1, 1, 1),
            l1_ball(1),
            epsilon=1,
            delta=DELTA,
            T=steps,
            beta=4,
            alpha=2**-10,
            scale=getattr(module, scale),
            unproven=True,
        )
        share = two_sided(-2 / float(p.s))  # one vertex is ahead by 2, against a tie
        worst = max(worst, _binomial_delta(1, steps, share, 0.5), _binomial_delta(1, steps, 0.5, share))
    return worst, DELTA


def _binomial_delta(epsilon: float, n: int, p: float, q: float) -> float:
    """δ(ε) between Bin(n, p) and Bin(n, q)."""
    total = 0.0
    for k in range(n + 1):
        logs = [
            math.lgamma(n + 1)
            - math.lgamma(k + 1)
            - math.lgamma(n - k + 1)
            + k * math.log(s)
            + (n - k) * math.log1p(-s)
            for s in (p, q)
        ]
        total += max(0.0, math.exp(logs[0]) - math.exp(epsilon + logs[1]))
    return total


def added_gumbel(code: Any) -> Finding:
    """The loss of a choice among four vertices whose scores move by one scale: at most 1 if the noise is subtracted."""
    data = {
        **_nfw([{"x": ["0", "0"], "y": "100"}] * 2, "1", 1),
        "noise": "gumbel",
        "set": {"type": "l1-polytope", "dim": 2, "radius": "1"},
    }
    nfw = events(code, "Alg:nfw", "tight", data, _First(lambda _: 64.0))["v[1]"]
    poly = events(
        code,
        "alg:polySFW",
        "tight",
        _poly([{"x": ["0", "0"], "y": "1"}] * 2, "l1-polytope", 2, T=2, b=1),
        _First(lambda _: 64.0),
    )["v[0,0]"]
    return (_gumbel_loss(subtracted=True) if nfw == poly == 0 else _gumbel_loss(subtracted=False)), 1.0


def _gumbel_loss(subtracted: bool) -> float:
    """|ln P'(i)/P(i)| of four equal scores, of which the i-th grows by one scale."""
    if subtracted:
        share = math.exp(-1) / (math.exp(-1) + 3)
        return math.log(0.25 / share)
    # minimum of q_j + G_j, P(G > x) = 1 − exp(−e^{−x}): the i-th wins if all others lie above it
    share = quad(lambda x: mp.exp(-x - mp.exp(-x)) * (1 - mp.exp(-mp.exp(-x - 1))) ** 3, [-5, 0, 5, 40])
    return float(mp.log(mp.mpf(1) / 4 / share))


def _poly(records: list[dict[str, Any]], shape: str, dim: int, **changes: Any) -> dict[str, Any]:
    made = {
        "loss": {"family": "signed-quadratic", "curvature": "1"},
        "L0": "1",
        "L1": "0",
        "p": "1",
        "set": {"type": shape, "dim": dim, "radius": "1"},
        "start": ["1", *("0" for _ in range(dim - 1))],
        "delta": str(DELTA),
        "D": None,
        "epsilon": "1",
        "dataset": records,
    }
    tight = "T" in changes
    return {**made, **({"noise": "gumbel"} if tight else {"exact_budget": False}), **changes}


def poly_choice(code: Any) -> Finding:
    """The first choice of a run on 21 records, one of which decides the majority."""
    found = []
    for pluses in (10, 11):
        data = _poly([record(1 if i < pluses else -1) for i in range(21)], "l1-polytope", 1, rounds=1, b=21)
        found.append(
            threshold(
                lambda x, data=data: events(  # type: ignore[misc]
                    code, "alg:polySFW", "corrected", data, _First(lambda _: x)
                )["v[0,0]"]
            )
        )
    return choice_delta(1, *found), DELTA


def poly_account(code: Any) -> Finding:
    """What the accountant charges for the scales that are used: the pure loss of a round, in units of ε, at δ = 1/2."""
    worst = 0.0
    for L1 in ("0", "4"):
        records = [record(1) for _ in range(45)]
        given = {"L1": L1, "delta": "0.5", "b": 5}
        plain = events(
            code, "alg:polySFW", "corrected", _poly(records, "l1-polytope", 1, rounds=3, **given), _First(zero)
        )
        tight = events(
            code, "alg:polySFW", "tight", _poly(records, "l1-polytope", 1, T=5, **{**given, "delta": "0"}), _First(zero)
        )
        for steps, scale in ((1, plain["s[0]"]), (2, plain["s[1]"]), (4, plain["s[2]"]), (4, tight["s[0]"])):
            bounds = [record_bound(K, k, 1, int(L1), 2) for k in range(steps)]
            worst = max(worst, 2 * 2 * unit_sums(K, batch_sizes(5, steps), bounds)[0] / scale)
    return worst, 1 + 1e-9


def overlap(code: Any) -> Finding:
    """How often the most used record is used: once, or the accountant's parallel composition does not apply."""
    smooth = _noisy([record(1 if i % 2 else -1) for i in range(45)], rounds=3, b=5)
    runs = [
        events(code, "alg:nSFW", "corrected", smooth, _Tape(one)),
        events(
            code,
            "alg:polySFW",
            "corrected",
            {**smooth, "p": "1", "set": {"type": "l1-polytope", "dim": 1, "radius": "1"}},
            _First(one),
        ),
    ]
    return max(_uses(run) for run in runs), 1.0


def _uses(trace: Mapping[str, Any]) -> float:
    used = [i for key, value in trace.items() if key.startswith("batch") for i in value]
    return float(max(used.count(i) for i in set(used)))


# -------------------------------------------------------------------------------------- Algorithm 5


def _noisy(records: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    made = {
        "loss": {"family": "signed-quadratic", "curvature": "1"},
        "L0": "1",
        "L1": "1",
        "p": "2",
        "set": {"type": "box", "lower": ["-1"], "upper": ["1"]},
        "start": ["1"],
        "delta": str(DELTA),
        "D": None,
        "epsilon": "32",
        "dataset": records,
    }
    return {**made, **({"adaptive": True} if "T" in changes else {"exact_budget": False}), **changes}


def _first(code: Any, variant: str, **changes: Any) -> Finding:
    inputs = [_noisy([record(y), *(record(1) for _ in range(3))], b=4, **changes) for y in (1, -1)]
    means = [events(code, "alg:nSFW", variant, data, _Tape(zero))["noisy_grad[0,0]"][0] for data in inputs]
    noisy = events(code, "alg:nSFW", variant, inputs[0], _Tape(one))["noisy_grad[0,0]"][0]
    return gaussian(32, ratio(means[0] - means[1], noisy - means[0])), DELTA


def first_release(code: Any) -> Finding:
    """∇̃_0^0 at ε = 32, where the corrected noise has nothing to spare."""
    return _first(code, "corrected", rounds=1)


def tight_release(code: Any) -> Finding:
    """The first release of the tight variant."""
    return _first(code, "tight", T=2)


def first_release_lp(code: Any) -> Finding:
    """The same in dimension 3 with p = 1.5: a gradient of ℓ_q length L0 is longer in ℓ_2."""
    entry = 3 ** (-1 / 3)  # ‖x‖_3 = 1
    box = {"type": "box", "lower": ["-1"] * 3, "upper": ["1"] * 3}
    runs = []
    for y, draw in (("1", zero), ("-1", zero), ("1", one)):
        records = [{"x": [repr(entry)] * 3, "y": label} for label in (y, "1", "1", "1")]
        data = _noisy(records, b=4, rounds=1, p="1.5", set=box, start=[repr(1 / (3 * entry))] * 3)
        runs.append(events(code, "alg:nSFW", "corrected", data, _Tape(draw))["noisy_grad[0,0]"])
    return gaussian(32, ratio(math.dist(runs[0], runs[1]), runs[2][0] - runs[0][0])), DELTA * (1 + 1e-9)


def tight_second(code: Any) -> Finding:
    """The second release of the tight variant after the longest move: gradients that change their sign."""

    def draws(last: float) -> Tape:
        return _Tape(lambda draw: {"N[0]": -64.0, "N[1]": last}.get(draw.key, 0.0))

    runs = []
    for y, last in ((1, 0.0), (-1, 0.0), (1, 1.0)):
        data = _noisy([record(1), record(-1), record(y)], T=3, b=2, start=["-1"], adaptive=False)
        runs.append(events(code, "alg:nSFW", "tight", data, draws(last))["noisy_grad[0,1]"][0])
    return gaussian(32, ratio(runs[0] - runs[1], runs[2] - runs[0])), DELTA


def pair(code: Any) -> Finding:
    """(Δ̃_1^1, g̃_1^1) after the longest move, at ε = 32: one record decides both."""

    def draws(draw: Draw) -> float:
        return {"N[0,0]": 64.0, "N[1,0]": -64.0}.get(draw.key, 1.0)

    runs = []
    for y in (1, -1):
        records = [record(1 if i % 2 else -1) for i in range(8)]
        records[4] = record(y)
        runs.append(events(code, "alg:nSFW", "corrected", _noisy(records, rounds=2, b=2), _Tape(draws)))
    total = 0.0
    for clean, noisy in (("Delta[1,1]", "noisy_Delta[1,1]"), ("g[1,1]", "noisy_g[1,1]")):
        total += ratio(runs[0][clean][0] - runs[1][clean][0], runs[0][noisy][0] - runs[0][clean][0]) ** 2
    return gaussian(32, math.sqrt(total)), DELTA


# -------------------------------------------------------------------------------------- Algorithm 6


def _guided(records: list[dict[str, Any]], d: int, p: str) -> dict[str, Any]:
    side = ["64"] * d
    return {
        "loss": {"family": "tanh-regression"},
        "L0": "0.25",
        "rho": "0.78125",
        "p": p,
        "set": {"type": "box", "lower": [f"-{s}" for s in side], "upper": side},
        "start": None,
        "rounds": 3,
        "plan": [{"n": 2, "T": 3, "lambda": "0"}],
        "mu": "0.5",
        "beta": "8",
        "dataset": records,
    }


def _guided_total(code: Any, d: int, p: str) -> Finding:
    """The worst record's μ over all releases, against the μ that was asked for."""
    worst = 0.0
    for i in range(4):
        runs = []
        for y in ("2", "-2"):
            records = [{"x": ["1"] * d, "y": "2"} for _ in range(4)]
            records[i] = {"x": ["1"] * d, "y": y}
            runs.append(events(code, "Alg:PGPSMD", "corrected", _guided(records, d, p), _Tape(zero)))
        total = 0.0
        for key in (key for key in runs[0] if key.startswith("gradient[")):
            r, phase, _ = key.removeprefix("gradient[").rstrip("]").split(",")
            change = math.dist(runs[0][key], runs[1][key])
            total += ratio(change, runs[0][f"sigma[{r},{phase}]"]) ** 2
        worst = max(worst, math.sqrt(total))
    return worst, 0.5 * (1 + 1e-9)


def guided_replay(code: Any) -> Finding:
    """Clipped gradients of ±L0 in dimension 1: two calls of three steps on two records each."""
    return _guided_total(code, 1, "2")


def guided_lp(code: Any) -> Finding:
    """The same in dimension 3 with p = 1.5, where ℓ_q-clipped gradients are longer than L0 in ℓ_2."""
    return _guided_total(code, 3, "1.5")


CHECKS: Mapping[str, Callable[[Any], Finding]] = {
    check.__name__: check
    for check in (
        quarter_points,
        phased_scale,
        phased_replay,
        climbing,
        expanding_steps,
        nfw_choice,
        nfw_steps,
        added_gumbel,
        poly_choice,
        overlap,
        first_release,
        first_release_lp,
        poly_account,
        tight_second,
        tight_release,
        pair,
        guided_replay,
        guided_lp,
    )
}
