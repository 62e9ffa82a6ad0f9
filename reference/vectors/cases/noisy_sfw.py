"""Cases of Algorithm 5, private noisy stochastic Frank–Wolfe."""

from __future__ import annotations

from typing import Any

from reference.vectors.cases import Family, Flag, Writer
from reference.vectors.cases.smooth import COMMON
from reference.vectors.cases.smooth import data as records_of

PAPER = ("printed", "corrected")
TIGHT = ("tight",)

FLAGS = {
    "wrong-start": Flag("starts elsewhere than at the centre", "another run", "output", 1),
    "sigma-without-constant": Flag("forgets 4, L0 or 1/b in σ_{r,0}", "a fraction of the noise", "privacy", 3),
    "large-epsilon": Flag("keeps the constant 16 for every ε", "not (ε,δ)-DP beyond a threshold", "privacy", 9, "E4.2"),
    "variance-for-deviation": Flag("uses σ² where σ is meant", "too little noise where σ < 1", "privacy", 5),
    "dimension-factor": Flag("forgets d^{1/p−1/2}", "too little noise for p < 2", "privacy", 3),
    "overlapping-batches": Flag(
        "draws every batch afresh from S", "a record is released more than once", "privacy", 4, "E4.4"
    ),
    "wrong-move": Flag(
        "σ̂ with η_{r,t} for η_{r,t−1} (or the reverse of the variant)", "not (ε,δ)-DP", "privacy", 9, "E4.1"
    ),
    "noise-of-first-batch": Flag("forgets the factor t+1 in σ or σ̂", "noise for a batch of b records", "privacy", 9),
    "wrong-batch-size": Flag("rounds b/(t+1) the other way", "bias, or a batch too many", "accuracy", 10, "E4.5"),
    "wrong-weight": Flag(
        "divides by b/(t+1) instead of the size of the batch, or the reverse",
        "a biased estimate",
        "accuracy",
        10,
        "E4.5",
    ),
    "stale-variation": Flag(
        "evaluates both gradients at the same point", "the estimate does not track", "accuracy", 11
    ),
    "one-noise-for-two": Flag(
        "uses the same draw, or the same σ, for Δ̃ and g̃", "less noise than calibrated", "privacy", 12
    ),
    "noiseless-gradient": Flag("leaves g without noise", "the fresh gradient is released in the clear", "privacy", 13),
    "wrong-recursion": Flag("forgets (1 − η_t), or swaps the weights", "errors do not decay", "accuracy", 14),
    "wrong-minimiser": Flag("another linear minimiser: sign, dual norm, or the pins at 0", "climbs", "accuracy", 6),
    "wrong-step": Flag("η_{t+1} or 1/(t+1) for η_t = 1/√(t+1)", "another trajectory", "accuracy", 16),
    "restarts-at-zero": Flag("starts every round at w_0", "rounds do not build on each other", "accuracy", 17),
    "wrong-output-index": Flag(
        "counts iterates in another order, or includes the final one", "another output", "output", 18
    ),
    "wrong-norm": Flag("measures D in another norm than ℓ_p", "another scale", "privacy", 0),
    "wrong-sensitivity": Flag("another bound on what a record adds in the tight σ_t", "too little noise", "privacy", 9),
    "accepts-small-b": Flag("accepts b < 2^(R−1)", "empty batches", "input", 10),
    "accepts-few-records": Flag("accepts bR² > n", "batches cannot be disjoint", "input", 4),
    "accepts-no-round": Flag("accepts R = 0 (or T = 1)", "nothing is computed", "input", 2),
    "accepts-bad-privacy": Flag("accepts ε ≤ 0 or δ outside (0, 1)", "no privacy at all", "input", 3),
    "accepts-other-p": Flag("accepts p = 1 or p > 2", "the sensitivity in ℓ_2 is another", "input", 3),
    "accepts-unbounded": Flag("accepts an unbounded set", "no linear minimiser", "input", 6),
}

BALL = {"type": "l2-ball", "centre": ["0", "0"], "radius": "1"}
BASE: dict[str, Any] = {
    **COMMON,
    "p": "2",
    "set": BALL,
    "epsilon": "4",
    "rounds": 2,
    "b": 3,
    "exact_budget": False,
    "dataset": records_of("noisy", 12),
}
ONE_ROUND: dict[str, Any] = {
    **COMMON,
    "p": "2",
    "set": BALL,
    "epsilon": "4",
    "T": 4,
    "b": 5,
    "adaptive": True,
    "dataset": records_of("noisy", 12),
}
THREE: dict[str, Any] = {"rounds": 3, "b": 5, "dataset": records_of("noisy", 45)}
BOX = {"type": "box", "lower": ["-1", "-0.5"], "upper": ["1", "0.5"]}

write = Writer("noisy", PAPER, BASE, tight=ONE_ROUND)
match, reject = write.match, write.reject


def data(n: int, d: int = 2) -> list[dict[str, Any]]:
    """n records of dimension d."""
    return records_of("noisy", n, d)


QUADRATIC: dict[str, Any] = {"loss": {"family": "signed-quadratic", "curvature": "1"}, "L0": "1", "L1": "1"}

CASES = (
    match(
        "basic",
        "Two rounds in the unit ball; the last iterate is chosen.",
        ("sigma-without-constant", "overlapping-batches", "one-noise-for-two", "wrong-step"),
        index=2,
    ),
    match(
        "no-noise",
        "All draws are 0, the permutation is the identity.",
        ("wrong-minimiser", "stale-variation", "wrong-recursion"),
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
        "R = 3, b = 5.",
        ("wrong-move", "wrong-batch-size", "wrong-weight", "noise-of-first-batch", "noiseless-gradient"),
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
        "The same with index 3: (r, t) = (2, 0).",
        ("restarts-at-zero", "wrong-output-index"),
        index=3,
        **THREE,
    ),
    match("b-power-of-two", "b = 4.", ("wrong-batch-size",), rounds=3, b=4, dataset=data(36), index=5),
    match("smallest-b", "b = 2^(R−1) = 2.", ("wrong-batch-size",), b=2, dataset=data(8), index=2),
    match("spare-records", "n > bR².", ("overlapping-batches",), dataset=data(17), index=2),
    match(
        "exact-budget",
        "n is what the batches need, below bR².",
        ("accepts-few-records",),
        exact_budget=True,
        dataset=data(8),
        index=2,
    ),
    match(
        "one-dimension",
        "d = 1.",
        ("wrong-minimiser",),
        dataset=data(12, 1),
        index=2,
        set={"type": "box", "lower": ["-1"], "upper": ["0.5"]},
    ),
    match("box", "A box.", ("wrong-minimiser",), set=BOX, index=2),
    match(
        "box-zero-gradient",
        "No noise and a zero gradient: the lower corner.",
        ("wrong-minimiser",),
        quiet=True,
        set=BOX,
        rounds=1,
        b=3,
        dataset=data(3),
        **QUADRATIC,
    ),
    match(
        "ball-zero-gradient",
        "No noise and a zero gradient: the centre.",
        ("wrong-minimiser",),
        quiet=True,
        rounds=1,
        b=3,
        dataset=data(3),
        **QUADRATIC,
    ),
    match(
        "lp",
        "p = 1.5 in an ℓ_p ball: D and d^{1/p−1/2}.",
        ("dimension-factor", "wrong-norm", "wrong-minimiser"),
        p="1.5",
        set={"type": "lp-ball", "centre": ["0", "0.25"], "radius": "1", "p": "1.5"},
        index=2,
    ),
    match(
        "lp-three-dimensions",
        "p = 1.25, d = 3, in a Euclidean ball.",
        ("dimension-factor", "wrong-norm"),
        p="1.25",
        dataset=data(12, 3),
        set={"type": "l2-ball", "centre": ["0", "0", "0"], "radius": "1"},
        index=2,
    ),
    match(
        "simplex",
        "The simplex.",
        ("wrong-minimiser",),
        dataset=data(12, 3),
        index=2,
        set={"type": "simplex", "dim": 3, "scale": "1"},
    ),
    match("start-given", "The start is not the centre.", ("wrong-start",), start=["0.25", "-0.5"], index=2),
    match("diameter-given", "D = 3 is given.", ("wrong-norm",), D="3", index=2),
    match(
        "large-epsilon",
        "ε = 32: beyond the threshold the corrected noise grows.",
        ("large-epsilon",),
        epsilon="32",
        index=2,
    ),
    match(
        "large-epsilon-small-delta",
        "ε = 16, δ = 2^-30.",
        ("large-epsilon",),
        epsilon="16",
        delta="9.31322574615478515625e-10",
        index=2,
    ),
    match("small-epsilon", "ε = 0.5.", ("variance-for-deviation",), epsilon="0.5", index=2),
    match(
        "sigmoid", "The sigmoid loss.", ("stale-variation",), loss={"family": "sigmoid"}, L0="0.25", L1="0.125", index=2
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
        "One round of four iterates; the noise follows the actual moves.",
        ("wrong-sensitivity",),
        TIGHT,
        index=3,
    ),
    match(
        "tight-fixed",
        "Noise for the largest moves D·η_{t−1}.",
        ("wrong-sensitivity", "wrong-move"),
        TIGHT,
        adaptive=False,
        index=3,
    ),
    match(
        "tight-lp",
        "p = 1.5.",
        ("dimension-factor", "wrong-norm"),
        TIGHT,
        p="1.5",
        index=3,
        set={"type": "lp-ball", "centre": ["0", "0"], "radius": "1", "p": "1.5"},
    ),
    match("tight-two-iterates", "T = 2: one step.", ("wrong-output-index",), TIGHT, T=2, index=1),
    match("tight-first", "The start is chosen.", ("wrong-output-index",), TIGHT, index=0),
    match(
        "tight-six",
        "T = 6, b = 7.",
        ("wrong-batch-size", "wrong-sensitivity"),
        TIGHT,
        T=6,
        b=7,
        dataset=data(20),
        index=5,
    ),
    match("tight-no-noise", "All draws are 0.", ("wrong-minimiser", "wrong-recursion"), TIGHT, quiet=True),
    match(
        "tight-steep",
        "L1·D large: the difference of gradients is bounded by 2L0.",
        ("wrong-sensitivity",),
        TIGHT,
        L1="40",
        adaptive=False,
        index=3,
    ),
    reject("small-b", "b = 1 < 2^(R−1).", "accepts-small-b", "b", b=1),
    reject("few-records", "n = 11 < bR² = 12.", "accepts-few-records", "n", dataset=data(11)),
    reject("no-round", "R = 0.", "accepts-no-round", "R", rounds=0),
    reject("zero-epsilon", "ε = 0.", "accepts-bad-privacy", "epsilon", epsilon="0"),
    reject("delta-one", "δ = 1.", "accepts-bad-privacy", "delta", delta="1"),
    reject("delta-zero", "δ = 0.", "accepts-bad-privacy", "delta", delta="0"),
    reject("p-one", "p = 1 is Algorithm 4's.", "accepts-other-p", "p", p="1"),
    reject("p-three", "p = 3.", "accepts-other-p", "p", p="3"),
    reject("whole-space", "ℝ^d.", "accepts-unbounded", "g", set={"type": "whole-space", "dim": 2}),
    reject("tight-one-iterate", "T = 1.", "accepts-no-round", "T", TIGHT, T=1),
    reject("tight-few-records", "T = 4, b = 5 read 10 records.", "accepts-few-records", "n", TIGHT, dataset=data(9)),
    reject("tight-zero-epsilon", "ε = 0.", "accepts-bad-privacy", "epsilon", TIGHT, epsilon="0"),
    reject("tight-p-one", "p = 1.", "accepts-other-p", "p", TIGHT, p="1"),
)

FAMILY = Family(
    "alg:nSFW",
    FLAGS,
    CASES,
    (
        "R ≥ 1 (tight: T ≥ 2), b ≥ 2^(R−1)",
        "bR² ≤ n, or with exact_budget what the batches need",
        "ε > 0, 0 < δ < 1",
        "1 < p ≤ 2, W bounded",
        "‖∇f‖_q ≤ L0, ∇f L1-Lipschitz on W",
    ),
)
