"""Cases of Algorithm 3, noisy Frank–Wolfe."""

from __future__ import annotations

from typing import Any

from reference.vectors.cases import Family, Flag, Writer, records

ALL = ("printed", "corrected", "tight")
TIGHT = ("tight",)

FLAGS = {
    "wrong-start": Flag("starts at the centre instead of the first vertex", "another run", "output", 1),
    "wrong-step-count": Flag(
        "truncates T, or takes log2, or the number of coordinates for that of vertices",
        "another T, another s",
        "accuracy",
        2,
        "E3.32",
    ),
    "scale-of-unrounded-T": Flag(
        "computes s from T before rounding", "too little noise when T is rounded up", "privacy", 3
    ),
    "scale-without-constant": Flag("forgets the 3, the 8, D or L0R in s", "a fraction of the noise", "privacy", 3),
    "wrong-log": Flag("log2 or log10 for ln(1/δ)", "noise for another δ", "privacy", 3),
    "scale-as-location": Flag("passes s as the location of the noise", "no noise at all", "privacy", 6),
    "one-draw-for-all": Flag("adds the same draw to every score", "no noise at all", "privacy", 6),
    "sum-for-mean": Flag("adds the gradients without dividing by n", "n times the sensitivity", "privacy", 5),
    "wrong-oracle": Flag("calls another oracle than the one that is asked for", "another gradient", "accuracy", 5),
    "argmax": Flag("takes the largest score", "climbs", "accuracy", 7),
    "tie-to-last": Flag("resolves ties to the last vertex", "differs at ties", "output", 7),
    "wrong-vertex-order": Flag("lists the vertices in another order", "draws go to other vertices", "output", 7),
    "wrong-weights": Flag(
        "swaps the weights, or uses 2/(t+2) or 3/(t+3)", "the averaging argument fails", "accuracy", 8
    ),
    "wrong-iterate": Flag(
        "returns w_T where w_{T+1} is meant, or the reverse", "the last step is wasted", "accuracy", 9, "E3.34"
    ),
    "averages": Flag("returns the average of the iterates", "another algorithm", "accuracy", 9),
    "theorem-parameters": Flag("another β or α than the theorem's proof", "accuracy", "accuracy", 0),
    "gumbel-added": Flag(
        "adds Gumbel noise in an argmin instead of subtracting it", "up to (J−1) times the loss", "privacy", 6
    ),
    "wrong-composition": Flag("another composition in the tight scale", "too little or too much noise", "privacy", 3),
    "accepts-one-vertex": Flag("accepts J = 1", "T is infinite", "input", 2, "E3.32"),
    "accepts-one-record": Flag("accepts n = 1", "ln n = 0", "input", 2, "E3.40"),
    "accepts-bad-privacy": Flag("accepts ε ≤ 0 or δ outside (0, 1)", "no privacy at all", "input", 3),
    "accepts-no-vertices": Flag("accepts a set without vertices", "nothing to choose from", "input", 7),
    "accepts-no-step": Flag("accepts T = 0", "nothing is computed", "input", 2),
    "accepts-long-features": Flag("accepts ‖x‖_∞ > R", "the sensitivity is not bounded", "input", 1),
    "accepts-outside-start": Flag("accepts w_1 outside W", "the iterates leave W", "input", 1),
    "accepts-degenerate": Flag("accepts other dimensions or a set of one point", "division by zero", "input", 1),
    "accepts-nonconvex": Flag("accepts a loss that is not convex", "the oracle means nothing", "input", 1, "E3.6"),
}

LABELS = ("-0.5322265625", "0.2822265625", "0.9677734375")
CROSS = {"type": "l1-polytope", "dim": 2, "radius": "1"}
QUANTILE = {"family": "quantile", "tau": "0.25"}
BASE: dict[str, Any] = {
    "loss": QUANTILE,
    "L0": "1",
    "R": "1",
    "set": CROSS,
    "start": None,
    "epsilon": "8",
    "delta": "0.0009765625",
    "T": 4,
    "beta": "4",
    "alpha": "0.046875",
    "oracle": "corrected",
    "noise": "laplace",
    "dataset": records("nfw", 6, 2, LABELS, 60),
}

write = Writer("nfw", ALL, BASE)
match, reject = write.match, write.reject


def data(n: int, d: int = 2, labels: tuple[str, ...] = LABELS) -> list[dict[str, Any]]:
    """n records of dimension d."""
    return records(f"nfw|{n}|{d}", n, d, labels, 60)


SAME = [
    {"x": ["0.5", "0.5"], "y": "-0.5"},
    {"x": ["0.25", "0.25"], "y": "-0.5"},
    {"x": ["1", "1"], "y": "0.25"},
    {"x": ["0.75", "0.75"], "y": "-0.5"},
]

CASES = (
    match("basic", "The cross-polytope, four steps.", ("scale-without-constant", "wrong-weights", "wrong-iterate")),
    match("no-noise", "All draws are 0.", ("argmax", "wrong-oracle", "sum-for-mean"), quiet=True),
    match("one-step", "T = 1: as printed the start is returned.", ("wrong-iterate",), T=1),
    match("two-steps", "T = 2.", ("wrong-iterate", "averages"), T=2),
    match("eight-steps", "T = 8.", ("wrong-weights", "averages"), T=8),
    match(
        "tie",
        "Equal features: the scores of the two coordinates tie, the lowest index wins.",
        ("tie-to-last",),
        quiet=True,
        dataset=SAME,
        T=1,
    ),
    match(
        "all-tie",
        "The gradient is 0: all vertices tie.",
        ("tie-to-last",),
        quiet=True,
        T=1,
        dataset=[{"x": ["0", "0"], "y": "1"}] * 4,
        start=["0.25", "0.25"],
    ),
    match("two-records", "n = 2.", ("sum-for-mean",), dataset=data(2)),
    match(
        "one-dimension",
        "d = 1: J = 2.",
        ("wrong-vertex-order",),
        dataset=data(6, 1),
        set={"type": "l1-polytope", "dim": 1, "radius": "1"},
    ),
    match(
        "three-dimensions",
        "d = 3: J = 6.",
        ("wrong-vertex-order", "one-draw-for-all"),
        dataset=data(6, 3),
        set={"type": "l1-polytope", "dim": 3, "radius": "2"},
    ),
    match(
        "simplex",
        "The simplex: J = d.",
        ("scale-without-constant",),
        dataset=data(6, 3),
        set={"type": "simplex", "dim": 3, "scale": "1"},
    ),
    match(
        "box",
        "A box by its vertices, last coordinate fastest.",
        ("wrong-vertex-order",),
        set={"type": "box-polytope", "lower": ["-0.5", "0"], "upper": ["0.5", "1"]},
    ),
    match(
        "triangle",
        "A triangle that does not hold 0, and D = 1.5 in ℓ_1.",
        ("scale-without-constant",),
        set={"type": "polytope", "vertices": [["0.5", "0.5"], ["1", "0.5"], ["0.5", "1.25"]]},
    ),
    match("start-given", "w_1 is no vertex.", ("wrong-start",), start=["0.25", "-0.5"]),
    match("large-noise", "ε = 0.25: the noise decides.", ("scale-as-location", "wrong-log"), epsilon="0.25"),
    match(
        "small-delta",
        "δ = 2^-60.",
        ("wrong-log", "wrong-composition"),
        delta="8.67361737988403547205962240695953369140625e-19",
    ),
    match(
        "theorem-T",
        "T = nε/(ln J·ln n·√ln(1/δ)) = 3.68 is rounded to 4.",
        ("wrong-step-count", "scale-of-unrounded-T"),
        T=None,
        epsilon="4",
    ),
    match("theorem-T-down", "T = 3.22 is rounded to 3.", ("wrong-step-count",), T=None, epsilon="3.5"),
    match("theorem-T-at-least-one", "T = 0.23 becomes 1.", ("wrong-step-count",), T=None, epsilon="0.25"),
    match(
        "theorem-T-cross",
        "J = 6 vertices in d = 3, n = 8.",
        ("wrong-step-count",),
        T=None,
        epsilon="5",
        dataset=data(8, 3),
        set={"type": "l1-polytope", "dim": 3, "radius": "1"},
    ),
    match("theorem-parameters", "β and α of the theorem.", ("theorem-parameters",), beta=None, alpha=None),
    match(
        "other-constants",
        "L0 = 2.5, R = 1.25, radius 2.",
        ("scale-without-constant",),
        L0="2.5",
        R="1.25",
        loss={"family": "huber", "width": "2.5"},
        set={"type": "l1-polytope", "dim": 2, "radius": "2"},
        alpha="0.09375",
    ),
    match("absolute", "The absolute loss.", ("wrong-oracle",), loss={"family": "absolute"}),
    match(
        "logistic",
        "The logistic loss.",
        ("wrong-oracle",),
        loss={"family": "logistic"},
        dataset=data(6, 2, ("-1", "1")),
    ),
    match(
        "printed-oracle",
        "With printed Algorithm 1 every gradient is 0.",
        ("wrong-oracle",),
        ("printed",),
        oracle="printed",
    ),
    match("gumbel", "Gumbel noise is subtracted.", ("gumbel-added", "wrong-composition"), TIGHT, noise="gumbel"),
    match(
        "gumbel-many-steps",
        "Gumbel noise, T = 8: the scale comes from zCDP.",
        ("gumbel-added", "wrong-composition"),
        TIGHT,
        noise="gumbel",
        T=8,
        epsilon="1",
    ),
    match(
        "laplace-many-steps",
        "Laplace noise, T = 8: exact composition.",
        ("wrong-composition",),
        TIGHT,
        T=8,
        epsilon="1",
    ),
    reject("one-vertex", "J = 1.", "accepts-one-vertex", "J", set={"type": "polytope", "vertices": [["0", "0"]]}),
    reject("one-record", "n = 1.", "accepts-one-record", "n", dataset=data(1)),
    reject("zero-epsilon", "ε = 0.", "accepts-bad-privacy", "epsilon", epsilon="0"),
    reject("delta-one", "δ = 1.", "accepts-bad-privacy", "delta", delta="1"),
    reject("negative-delta", "δ < 0.", "accepts-bad-privacy", "delta", delta="-0.5"),
    reject(
        "ball",
        "A Euclidean ball has no vertices.",
        "accepts-no-vertices",
        "W",
        set={"type": "l2-ball", "centre": ["0", "0"], "radius": "1"},
    ),
    reject("no-step", "T = 0.", "accepts-no-step", "T", T=0),
    reject(
        "long-features",
        "‖x‖_∞ = 1.25 > R.",
        "accepts-long-features",
        "record 5",
        dataset=[*data(6)[:5], {"x": ["1.25", "0"], "y": "1"}],
    ),
    reject("start-outside", "w_1 = (1, 1).", "accepts-outside-start", "w1", start=["1", "1"]),
    reject("start-dimension", "w_1 has three entries.", "accepts-degenerate", "dimension", start=["0", "0", "0"]),
    reject(
        "one-point",
        "Two equal vertices: D = 0.",
        "accepts-degenerate",
        "D",
        set={"type": "polytope", "vertices": [["0.5", "0"], ["0.5", "0"]]},
    ),
    reject("dimensions", "x has three entries, W two.", "accepts-degenerate", "dimension", dataset=data(6, 3)),
    reject(
        "nonconvex-loss",
        "Slopes 0, 1, 0.",
        "accepts-nonconvex",
        "convex",
        loss={"family": "piecewise-linear", "kinks": ["-0.25", "0.25"], "slopes": ["0", "1", "0"]},
    ),
)

FAMILY = Family(
    "Alg:nfw",
    FLAGS,
    CASES,
    ("n ≥ 2, J ≥ 2, T ≥ 1", "ε > 0, 0 < δ < 1", "ℓ convex and L0-Lipschitz, ‖x‖_∞ ≤ R", "w_1 ∈ W, D > 0"),
)
