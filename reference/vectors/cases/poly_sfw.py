"""Cases of Algorithm 4, private polyhedral stochastic Frank–Wolfe."""

from __future__ import annotations

from typing import Any

from reference.vectors.cases import Family, Flag, Writer
from reference.vectors.cases.smooth import COMMON
from reference.vectors.cases.smooth import data as records_of

PAPER = ("printed", "corrected")
TIGHT = ("tight",)

FLAGS = {
    "wrong-start": Flag("starts at a vertex instead of the centre", "another run", "output", 1),
    "scale-without-rounds": Flag("forgets 2^r, or uses r for 2^r", "too little noise in late rounds", "privacy", 3),
    "scale-without-constant": Flag("forgets 2, D or L0 + L1·D in s_r", "a fraction of the noise", "privacy", 3),
    "large-delta": Flag("uses √ln(1/δ) below 1", "too little noise for δ > 1/e", "privacy", 3, "E4.7"),
    "wrong-log": Flag("log2 or log10 for ln(1/δ)", "noise for another δ", "privacy", 3),
    "overlapping-batches": Flag(
        "draws every batch afresh from S", "a record is released more than once", "privacy", 4, "E4.4"
    ),
    "with-replacement": Flag("samples with replacement", "a record counts twice in a batch", "privacy", 4, "E4.4"),
    "wrong-batch-size": Flag("rounds b/(t+1) the other way", "bias, or a batch too many", "accuracy", 9, "E4.5"),
    "wrong-weight": Flag(
        "divides by b/(t+1) instead of the size of the batch, or the reverse",
        "a biased estimate",
        "accuracy",
        9,
        "E4.5",
    ),
    "stale-variation": Flag(
        "evaluates both gradients at the same point, or at w_0", "the estimate does not track", "accuracy", 10
    ),
    "wrong-recursion": Flag(
        "forgets (1 − η_t) before ∇ + Δ, or swaps the weights", "errors do not decay", "privacy", 11
    ),
    "one-draw-for-all": Flag("adds the same draw to every score", "no noise at all", "privacy", 6),
    "tie-to-last": Flag("resolves ties to the last vertex", "differs at ties", "output", 6),
    "argmax": Flag("takes the largest score", "climbs", "accuracy", 6),
    "wrong-step": Flag("η_{t+1} or 1/(t+1) for η_t = 1/√(t+1)", "another trajectory", "privacy", 13),
    "restarts-at-zero": Flag("starts every round at w_0", "rounds do not build on each other", "accuracy", 14),
    "wrong-output-index": Flag(
        "counts iterates in another order, or includes the final one", "another output", "output", 15
    ),
    "wrong-norm": Flag("measures D in another norm", "another scale", "privacy", 0),
    "gumbel-added": Flag(
        "adds Gumbel noise in an argmin instead of subtracting it", "up to (J−1) times the loss", "privacy", 12
    ),
    "wrong-composition": Flag("another composition in the tight scale", "too little or too much noise", "privacy", 3),
    "accepts-small-b": Flag("accepts b < 2^(R−1)", "empty batches", "input", 9),
    "accepts-few-records": Flag("accepts bR² > n", "batches cannot be disjoint", "input", 4),
    "accepts-no-round": Flag("accepts R = 0 (or T = 1)", "nothing is computed", "input", 2),
    "accepts-bad-privacy": Flag("accepts ε ≤ 0 or δ outside (0, 1)", "no privacy at all", "input", 3),
    "accepts-no-vertices": Flag("accepts a set without vertices, or with one", "nothing to choose", "input", 6),
    "accepts-large-labels": Flag("accepts |y| > 1", "the declared constants do not hold", "input", 5),
}

CROSS = {"type": "l1-polytope", "dim": 2, "radius": "1"}
BASE: dict[str, Any] = {
    **COMMON,
    "p": "1",
    "set": CROSS,
    "epsilon": "64",
    "rounds": 2,
    "b": 3,
    "exact_budget": False,
    "dataset": records_of("poly", 12),
}
ONE_ROUND: dict[str, Any] = {
    **COMMON,
    "p": "1",
    "set": CROSS,
    "epsilon": "16",
    "T": 4,
    "b": 5,
    "noise": "gumbel",
    "dataset": records_of("poly", 12),
}
THREE: dict[str, Any] = {"rounds": 3, "b": 5, "dataset": records_of("poly", 45)}

write = Writer("poly", PAPER, BASE, tight=ONE_ROUND)
match, reject = write.match, write.reject


def data(n: int, d: int = 2) -> list[dict[str, Any]]:
    """n records of dimension d."""
    return records_of("poly", n, d)


SAME = [{"x": [x, x], "y": y} for x, y in (("0.5", "1"), ("0.25", "-1"), ("0.75", "0.5"))]

CASES = (
    match(
        "basic",
        "Two rounds, the cross-polytope; the last iterate is chosen.",
        ("scale-without-constant", "overlapping-batches", "wrong-step"),
        index=2,
    ),
    match(
        "no-noise",
        "All draws are 0, the permutation is the identity.",
        ("argmax", "stale-variation", "wrong-recursion"),
        quiet=True,
    ),
    match(
        "one-round",
        "R = 1: one iterate, the start, is returned.",
        ("wrong-output-index",),
        rounds=1,
        b=4,
        dataset=data(4),
    ),
    match(
        "three-rounds",
        "R = 3, b = 5: batches of 5, 2 or 3, 1 or 2, 1 or 2.",
        ("wrong-batch-size", "wrong-weight", "scale-without-rounds", "restarts-at-zero"),
        index=6,
        **THREE,
    ),
    match("three-rounds-first", "The same with output index 0.", ("wrong-output-index",), index=0, **THREE),
    match(
        "three-rounds-middle",
        "The same with output index 2: (r, t) = (1, 1).",
        ("wrong-output-index",),
        index=2,
        **THREE,
    ),
    match(
        "three-rounds-start",
        "The same with index 3: (r, t) = (2, 0), where a round begins.",
        ("restarts-at-zero", "wrong-output-index"),
        index=3,
        **THREE,
    ),
    match(
        "b-power-of-two",
        "b = 4: batches of 4, 2, 2 or 1, 1.",
        ("wrong-batch-size",),
        rounds=3,
        b=4,
        dataset=data(36),
        index=5,
    ),
    match("smallest-b", "b = 2^(R−1) = 2.", ("wrong-batch-size",), b=2, dataset=data(8), index=2),
    match(
        "spare-records",
        "n > bR²: the rest is unused.",
        ("overlapping-batches", "with-replacement"),
        dataset=data(17),
        index=2,
    ),
    match(
        "exact-budget",
        "n is what the batches of the corrected algorithm need, below bR².",
        ("accepts-few-records",),
        exact_budget=True,
        dataset=data(8),
        index=2,
    ),
    match(
        "one-dimension",
        "d = 1, J = 2.",
        ("argmax",),
        dataset=data(12, 1),
        index=1,
        set={"type": "l1-polytope", "dim": 1, "radius": "1"},
    ),
    match(
        "three-dimensions",
        "d = 3, J = 6.",
        ("one-draw-for-all",),
        dataset=data(12, 3),
        index=2,
        set={"type": "l1-polytope", "dim": 3, "radius": "2"},
    ),
    match(
        "tie",
        "Equal features and no noise: two vertices tie, the lowest index wins.",
        ("tie-to-last",),
        quiet=True,
        rounds=1,
        b=3,
        dataset=SAME,
        loss={"family": "signed-quadratic", "curvature": "1"},
        L0="1",
        L1="1",
        start=["0.5", "0"],
        index=0,
    ),
    match(
        "simplex",
        "The simplex.",
        ("wrong-norm",),
        dataset=data(12, 3),
        set={"type": "simplex", "dim": 3, "scale": "1"},
        index=2,
    ),
    match(
        "box",
        "A box by its vertices.",
        ("wrong-norm",),
        index=1,
        set={"type": "box-polytope", "lower": ["-0.5", "0"], "upper": ["0.5", "1"]},
    ),
    match("start-given", "The start is not the centre.", ("wrong-start",), start=["0.25", "-0.5"], index=2),
    match("diameter-given", "D = 3 is given.", ("wrong-norm",), D="3", index=2),
    match("euclidean-diameter", "p = 2: D is the ℓ_2 diameter.", ("wrong-norm",), p="2", index=2),
    match("large-noise", "ε = 1: the noise decides.", ("wrong-log", "one-draw-for-all"), epsilon="1", index=2),
    match("large-delta", "δ = 1/2 > 1/e: √ln 2 < 1.", ("large-delta",), delta="0.5", epsilon="8", index=2),
    match(
        "sigmoid",
        "The sigmoid loss.",
        ("stale-variation",),
        loss={"family": "sigmoid"},
        L0="0.25",
        L1="0.125",
        epsilon="4",
        index=2,
    ),
    match(
        "geman-mcclure",
        "The Geman–McClure loss with width 0.5.",
        ("wrong-recursion",),
        index=2,
        loss={"family": "geman-mcclure", "width": "0.5"},
        L0="1.5",
        L1="8",
    ),
    match(
        "tight-basic",
        "One round of four iterates, Gumbel noise.",
        ("gumbel-added", "wrong-composition"),
        TIGHT,
        index=3,
    ),
    match("tight-laplace", "The same with Laplace noise.", ("wrong-composition",), TIGHT, noise="laplace", index=3),
    match("tight-pure", "δ = 0 is pure DP.", ("wrong-composition",), TIGHT, delta="0", index=3),
    match("tight-two-iterates", "T = 2: one step.", ("wrong-output-index",), TIGHT, T=2, index=1),
    match("tight-first", "The start is chosen.", ("wrong-output-index",), TIGHT, index=0),
    match(
        "tight-six",
        "T = 6, b = 7.",
        ("wrong-batch-size", "wrong-composition"),
        TIGHT,
        T=6,
        b=7,
        dataset=data(20),
        index=5,
    ),
    match("tight-no-noise", "All draws are 0.", ("argmax", "wrong-recursion"), TIGHT, quiet=True),
    match(
        "tight-steep",
        "L1·D large: the difference of gradients is bounded by 2L0.",
        ("wrong-composition",),
        TIGHT,
        L1="40",
        index=3,
    ),
    reject("small-b", "b = 1 < 2^(R−1).", "accepts-small-b", "b", b=1),
    reject("few-records", "n = 11 < bR² = 12.", "accepts-few-records", "n", dataset=data(11)),
    reject(
        "few-records-exact",
        "n = 7 < 8, counted exactly.",
        "accepts-few-records",
        "n",
        dataset=data(7),
        exact_budget=True,
    ),
    reject("no-round", "R = 0.", "accepts-no-round", "R", rounds=0),
    reject("zero-epsilon", "ε = 0.", "accepts-bad-privacy", "epsilon", epsilon="0"),
    reject("delta-one", "δ = 1.", "accepts-bad-privacy", "delta", delta="1"),
    reject("delta-zero", "δ = 0: only the tight variant is pure.", "accepts-bad-privacy", "delta", delta="0"),
    reject(
        "ball",
        "A Euclidean ball has no vertices.",
        "accepts-no-vertices",
        "W",
        set={"type": "l2-ball", "centre": ["0", "0"], "radius": "1"},
    ),
    reject("one-vertex", "J = 1.", "accepts-no-vertices", "J", set={"type": "polytope", "vertices": [["0", "0"]]}),
    reject("tight-one-iterate", "T = 1.", "accepts-no-round", "T", TIGHT, T=1),
    reject("tight-few-records", "T = 4, b = 5 read 10 records.", "accepts-few-records", "n", TIGHT, dataset=data(9)),
    reject(
        "large-label",
        "y = 2 for a loss with labels in [−1, 1].",
        "accepts-large-labels",
        "y",
        dataset=[*data(12)[:11], {"x": ["0.25", "0.25"], "y": "2"}],
        rounds=1,
        b=12,
    ),
    reject("tight-zero-epsilon", "ε = 0.", "accepts-bad-privacy", "epsilon", TIGHT, epsilon="0"),
)

FAMILY = Family(
    "alg:polySFW",
    FLAGS,
    CASES,
    (
        "R ≥ 1 (tight: T ≥ 2), b ≥ 2^(R−1)",
        "bR² ≤ n, or with exact_budget what the batches need",
        "ε > 0, 0 < δ < 1 (tight: δ = 0 allowed)",
        "W lists J ≥ 2 vertices",
        "‖∇f‖_* ≤ L0, ∇f L1-Lipschitz on W",
    ),
)
