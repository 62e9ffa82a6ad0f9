"""Cases of Algorithm 2, Phased SGD."""

from __future__ import annotations

from typing import Any

from reference.vectors.cases import Family, Flag, Writer, records

ALL = ("printed", "corrected", "tight")
OURS = ("corrected", "tight")

FLAGS = {
    "climbs": Flag("adds the gradient step", "the risk rises and neighbours run apart", "privacy", 10, "E3.12"),
    "shares-records": Flag(
        "uses the record s+T_k in two phases", "one record is released twice", "privacy", 10, "E3.11"
    ),
    "wrong-rho": Flag(
        "log2, or ln δ without its sign, or ε without the factor 2√ln(1/δ)", "noise for another ε", "privacy", 2
    ),
    "wrong-phase-count": Flag(
        "rounds log2 n up, or counts one phase too few", "records unused or read twice", "output", 3, "E3.14"
    ),
    "wrong-step-size": Flag("takes the maximum for the minimum, or forgets D, 3, or L0R", "steps expand", "privacy", 4),
    "wrong-unconstrained-step": Flag("uses D or d in the unconstrained setting", "another algorithm", "accuracy", 5),
    "wrong-phase-length": Flag("T_k is not ⌊n/2^k⌋", "phases overlap or leave records out", "output", 8, "E3.14"),
    "halves-step-size": Flag(
        "divides η by 2^k instead of 4^k", "the noise of late phases does not vanish", "accuracy", 9
    ),
    "averages-wrong-iterates": Flag(
        "averages u_0..u_{T−1} instead of u_1..u_T (or returns the last)", "another sensitivity", "accuracy", 10
    ),
    "forgets-projection": Flag("does not project the steps", "iterates leave W", "accuracy", 10),
    "projects-radially": Flag("clips or rescales where a projection is meant", "the wrong point of W", "accuracy", 10),
    "wrong-oracle": Flag("calls another oracle than the one that is asked for", "another gradient", "accuracy", 10),
    "sigma-without-constant": Flag("forgets the 4 (or L0R) in σ_k", "a quarter of the noise", "privacy", 11),
    "sigma-of-first-phase": Flag("uses η instead of η_k in σ_k", "too much noise in late phases", "accuracy", 11),
    "variance-for-deviation": Flag("multiplies the draw by σ_k²", "too little noise where σ_k < 1", "privacy", 11),
    "rereads-records": Flag("does not advance s", "every phase reads the first records", "privacy", 12),
    "infeasible-output": Flag("starts or ends outside W", "the output is not feasible", "accuracy", 13, "E3.15"),
    "theorem-parameters": Flag(
        "another β or α than the theorem's proof", "steps expand for large D", "privacy", 0, "E3.10"
    ),
    "wrong-sensitivity": Flag("another sensitivity of the average in the tight σ_k", "too little noise", "privacy", 11),
    "accepts-large-epsilon": Flag("accepts ε > √ln(1/δ)", "nothing is proved there", "input", 2),
    "accepts-bad-privacy": Flag("accepts ε ≤ 0 or δ outside (0, 1)", "no privacy at all", "input", 2),
    "accepts-one-record": Flag("accepts n = 1", "ln n = 0", "input", 3, "E3.40"),
    "accepts-any-n": Flag("the printed text needs n = 2^K", "fractional phases", "input", 3, "E3.14"),
    "accepts-long-features": Flag("accepts ‖x‖_2 > R", "the sensitivity is not bounded", "input", 1),
    "accepts-nonconvex": Flag(
        "accepts a loss that is not convex", "neighbours part; privacy is lost", "input", 1, "E3.6"
    ),
    "accepts-steep-loss": Flag("accepts a loss steeper than L0", "the sensitivity is not bounded", "input", 1),
    "accepts-outside-start": Flag("accepts w̃_0 outside W", "the theorem does not apply", "input", 1),
    "accepts-degenerate": Flag("accepts D = 0, a rank below 1, other dimensions", "division by zero", "input", 1),
}

LABELS = ("-0.5", "0.25", "1")
BALL = {"type": "l2-ball", "centre": ["0", "0"], "radius": "1"}
QUANTILE = {"family": "quantile", "tau": "0.25"}
BASE: dict[str, Any] = {
    "loss": QUANTILE,
    "L0": "1",
    "R": "1",
    "set": BALL,
    "start": None,
    "epsilon": "1",
    "delta": "0.0009765625",
    "D": None,
    "rank": None,
    "beta": "4",
    "alpha": "0.046875",
    "average": "last",
    "oracle": "corrected",
    "dataset": records("phased", 8, 2, LABELS, 40),
}

write = Writer("phased", ALL, BASE)
match, reject = write.match, write.reject


def data(n: int, d: int = 2, labels: tuple[str, ...] = LABELS) -> list[dict[str, Any]]:
    """n records of dimension d."""
    return records(f"phased|{n}|{d}", n, d, labels, 40 if d < 3 else 30)


CASES = (
    match(
        "basic", "n = 8, d = 2, the unit ball.", ("climbs", "wrong-rho", "sigma-without-constant", "rereads-records")
    ),
    match(
        "no-noise",
        "All draws are 0: the deterministic part.",
        ("climbs", "averages-wrong-iterates", "shares-records"),
        quiet=True,
    ),
    match(
        "printed-oracle",
        "Printed Algorithm 2 with printed Algorithm 1: no step moves.",
        ("wrong-oracle",),
        ("printed",),
        oracle="printed",
    ),
    match(
        "two-records",
        "n = 2: one phase of one step.",
        ("wrong-phase-count", "averages-wrong-iterates"),
        dataset=data(2),
    ),
    match(
        "four-records-one-dimension",
        "n = 4, d = 1.",
        ("wrong-phase-length",),
        dataset=data(4, 1),
        set={"type": "box", "lower": ["-1"], "upper": ["1"]},
    ),
    match(
        "sixteen-records",
        "n = 16: four phases.",
        ("halves-step-size", "rereads-records", "sigma-of-first-phase"),
        dataset=data(16),
    ),
    match(
        "three-records",
        "n = 3: one phase of one step, two records unused.",
        ("wrong-phase-count",),
        OURS,
        dataset=data(3),
    ),
    match(
        "seven-records", "n = 7: phases of 3 and 1.", ("wrong-phase-length", "wrong-phase-count"), OURS, dataset=data(7)
    ),
    match(
        "twelve-records", "n = 12: phases of 6, 3, 1.", ("wrong-phase-length", "shares-records"), OURS, dataset=data(12)
    ),
    match(
        "small-box",
        "A small box: steps and noise leave it.",
        ("forgets-projection", "infeasible-output"),
        set={"type": "box", "lower": ["-0.0625", "-0.03125"], "upper": ["0.0625", "0.125"]},
        D="1",
    ),
    match(
        "small-ball",
        "A small ball off the origin, with D given.",
        ("projects-radially", "infeasible-output"),
        set={"type": "l2-ball", "centre": ["0.5", "-0.25"], "radius": "0.0625"},
        D="2",
    ),
    match(
        "l1-ball",
        "The Euclidean projection on an ℓ_1 ball.",
        ("projects-radially",),
        set={"type": "lp-ball", "centre": ["0", "0"], "radius": "0.0625", "p": "1"},
        D="1",
    ),
    match(
        "simplex",
        "The Euclidean projection on the simplex.",
        ("projects-radially",),
        dataset=data(8, 3),
        set={"type": "simplex", "dim": 3, "scale": "1"},
    ),
    match("start-given", "w̃_0 is not the centre.", ("infeasible-output",), start=["0.5", "-0.75"]),
    match(
        "other-minimum",
        "1/√n is the smaller term of η.",
        ("wrong-step-size",),
        epsilon="2.5",
        dataset=data(8, 1),
        set={"type": "box", "lower": ["-1"], "upper": ["2"]},
    ),
    match(
        "unconstrained",
        "ℝ^d with a rank bound.",
        ("wrong-unconstrained-step",),
        set={"type": "whole-space", "dim": 2},
        rank="2",
    ),
    match(
        "unconstrained-rank-n",
        "ℝ^d, the rank bound defaults to n.",
        ("wrong-unconstrained-step",),
        set={"type": "whole-space", "dim": 2},
        start=["0.25", "0.5"],
    ),
    match(
        "other-constants",
        "L0 = 2.5, R = 0.875, D = 3.",
        ("wrong-step-size", "sigma-without-constant", "wrong-sensitivity"),
        L0="2.5",
        R="0.875",
        D="3",
        loss={"family": "huber", "width": "2.5"},
        alpha="0.09375",
    ),
    match(
        "average-first",
        "The average of u_0..u_{T−1}.",
        ("averages-wrong-iterates", "wrong-sensitivity"),
        average="first",
    ),
    match(
        "theorem-parameters",
        "β = √n·L0/(RD) and α = L0R/(n ln n).",
        ("theorem-parameters",),
        beta=None,
        alpha=None,
        D="4",
    ),
    match("absolute", "The absolute loss.", ("wrong-oracle",), loss={"family": "absolute"}),
    match(
        "hinge",
        "The hinge loss with labels ±1.",
        ("wrong-oracle",),
        loss={"family": "hinge"},
        dataset=data(8, 2, ("-1", "1")),
    ),
    match(
        "logistic",
        "The logistic loss with labels ±1.",
        ("wrong-oracle",),
        loss={"family": "logistic"},
        dataset=data(8, 2, ("-1", "1")),
    ),
    match(
        "small-delta",
        "δ = 2^-60.",
        ("wrong-rho", "variance-for-deviation"),
        delta="8.67361737988403547205962240695953369140625e-19",
    ),
    match(
        "zero-features", "A record with x = 0.", ("wrong-oracle",), dataset=[{"x": ["0", "0"], "y": "1"}, *data(8)[1:]]
    ),
    reject("one-record", "n = 1.", "accepts-one-record", "n", dataset=data(1)),
    reject(
        "six-records-printed",
        "n = 6 is no power of two.",
        "accepts-any-n",
        "power of two",
        ("printed",),
        dataset=data(6),
    ),
    reject("large-epsilon", "ε = 3 > √ln(1024).", "accepts-large-epsilon", "epsilon", epsilon="3"),
    reject("zero-epsilon", "ε = 0.", "accepts-bad-privacy", "epsilon", epsilon="0"),
    reject("delta-one", "δ = 1.", "accepts-bad-privacy", "delta", delta="1"),
    reject("delta-zero", "δ = 0: Algorithm 2 has no pure version.", "accepts-bad-privacy", "delta", delta="0"),
    reject(
        "long-features",
        "‖x‖_2 = 1.25 > R.",
        "accepts-long-features",
        "record 7",
        dataset=[*data(8)[:7], {"x": ["0.75", "1"], "y": "1"}],
    ),
    reject(
        "nonconvex-loss",
        "Slopes 0, 1, 0: a ramp.",
        "accepts-nonconvex",
        "convex",
        loss={"family": "piecewise-linear", "kinks": ["-0.25", "0.25"], "slopes": ["0", "1", "0"]},
    ),
    reject(
        "steep-loss",
        "The hinge with label 2.",
        "accepts-steep-loss",
        "Lipschitz",
        loss={"family": "hinge"},
        dataset=data(8, 2, ("2", "-1")),
    ),
    reject("start-outside", "w̃_0 = (1, 1) is not in the unit ball.", "accepts-outside-start", "w0", start=["1", "1"]),
    reject(
        "one-point-set",
        "D = 0.",
        "accepts-degenerate",
        "D",
        set={"type": "l2-ball", "centre": ["0", "0"], "radius": "0"},
    ),
    reject(
        "rank-below-one", "θ = 0.5.", "accepts-degenerate", "rank", set={"type": "whole-space", "dim": 2}, rank="0.5"
    ),
    reject("dimensions", "x has three entries, W two.", "accepts-degenerate", "dimension", dataset=data(8, 3)),
)

FAMILY = Family(
    "Alg:phased",
    FLAGS,
    CASES,
    (
        "n ≥ 2; printed: n a power of two",
        "0 < ε ≤ √ln(1/δ), 0 < δ < 1",
        "ℓ convex and L0-Lipschitz, ‖x‖_2 ≤ R",
        "w̃_0 ∈ W, D > 0 (θ ≥ 1 in the unconstrained setting)",
    ),
)
