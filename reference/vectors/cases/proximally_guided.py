"""Cases of Algorithm 6, proximally guided private stochastic mirror descent."""

from __future__ import annotations

from typing import Any

from reference.vectors.cases import Case, Family, Flag, Writer, records

BOTH = ("printed", "corrected")
CORRECTED = ("corrected",)
PRINTED = ("printed",)

FLAGS = {
    "wrong-start": Flag("starts elsewhere than at the centre", "another run", "output", 1),
    "wrong-exponent": Flag("p̄ with log d below 1, or p for p̄", "no strong convexity", "accuracy", 1, "E5.1"),
    "wrong-beta": Flag(
        "β = 2κρ where 2κC²ρ is meant (or the reverse)", "the subproblem need not be convex", "accuracy", 1, "E5.2"
    ),
    "one-call-too-many": Flag("runs R calls where R − 1 reach the output", "records wasted", "accuracy", 2, "E5.8"),
    "wrong-batch": Flag("overlapping, shuffled or fractional batches", "a record is used twice", "privacy", 3, "E5.7"),
    "no-clipping": Flag("does not clip the subgradients to L0", "the sensitivity is not bounded", "privacy", 4),
    "clips-in-wrong-norm": Flag(
        "clips in ℓ_2 (or ℓ_p) instead of the dual norm ℓ_q", "another sensitivity", "privacy", 4
    ),
    "sigma-without-steps": Flag("forgets √T_i in σ_i", "no composition over the steps", "privacy", 4),
    "sigma-of-batch": Flag("divides by the batch instead of the phase's n_i", "too little noise", "privacy", 4),
    "mu-for-sigma": Flag("uses μ as a standard deviation", "more noise for less privacy", "privacy", 4),
    "wrong-prox-weight": Flag(
        "another weight of the mirror steps (k for k+1, λ forgotten)", "another minimiser", "accuracy", 4
    ),
    "wrong-mirror-map": Flag("Euclidean steps where p̄ < 2", "another geometry", "accuracy", 4),
    "forgets-radius": Flag(
        "does not keep to the ball of radius R0 (or keeps to it as printed)", "another set", "accuracy", 4, "E5.3"
    ),
    "forgets-constraint": Flag("leaves W", "an infeasible point", "accuracy", 4),
    "forgets-anchor": Flag(
        "pulls towards w_r instead of the phase's start", "phases do not build on each other", "accuracy", 4
    ),
    "wrong-subgradient": Flag("another subgradient at a kink (sgn 0 ≠ 0)", "differs at kinks", "output", 4),
    "wrong-output-index": Flag("includes w_{R+1}, or counts from 0", "another output", "output", 5),
    "accepts-bad-rounds": Flag("accepts R < 1 or R > n", "no output, or empty batches", "input", 2),
    "accepts-fraction": Flag("the printed text needs R to divide n", "fractional batches", "input", 3, "E5.7"),
    "accepts-long-plan": Flag(
        "accepts a plan that uses more records than a batch has", "records used twice", "input", 4
    ),
    "accepts-first-pull": Flag("accepts λ_1 > 0", "there is no earlier solution", "input", 4),
    "accepts-small-beta": Flag("accepts β ≤ κρ̃", "the subproblem is not strongly convex", "input", 1),
    "accepts-other-p": Flag("accepts p outside [1, 2]", "no strongly convex norm", "input", 1),
    "accepts-one-dimension": Flag("printed p̄ divides by log d", "division by zero at d = 1", "input", 1, "E5.1"),
    "accepts-bad-constants": Flag("accepts ρ ≤ 0 or L0 ≤ 0", "β is not positive", "input", 1),
    "accepts-empty-phase": Flag("accepts a phase without records or steps", "division by zero", "input", 4),
}

LABELS = ("-0.5", "0.25", "0.75")
BALL = {"type": "l2-ball", "centre": ["0", "0"], "radius": "64"}
PLAN = [{"n": 2, "T": 2, "lambda": "0"}, {"n": 1, "T": 3, "lambda": "4"}]
BASE: dict[str, Any] = {
    "loss": {"family": "tanh-regression"},
    "L0": "1",
    "rho": "0.78125",
    "p": "2",
    "set": BALL,
    "start": None,
    "rounds": 3,
    "plan": PLAN,
    "mu": "2",
    "beta": None,
    "dataset": records("guided", 9, 2, LABELS, 60),
}

write = Writer("guided", BOTH, BASE)
reject = write.reject


def match(slug: str, comment: str, flags: tuple[str, ...], variants: tuple[str, ...] = (), **changes: Any) -> Case:
    """A case with a result; the last iterate is chosen unless an index is given."""
    last = changes.get("rounds", BASE["rounds"]) - 1
    return write.match(slug, comment, flags, variants, **{"index": last, **changes})


def data(n: int, d: int = 2, labels: tuple[str, ...] = LABELS, scale: int = 60) -> list[dict[str, Any]]:
    """n records of dimension d."""
    return records(f"guided|{n}|{d}", n, d, labels, scale)


THREE_D = {"type": "l2-ball", "centre": ["0", "0", "0"], "radius": "64"}

CASES = (
    match("basic", "Three rounds, two phases, Euclidean.", ("sigma-without-steps", "wrong-batch", "wrong-prox-weight")),
    match("no-noise", "All draws are 0.", ("wrong-prox-weight", "forgets-anchor", "no-clipping"), quiet=True),
    match("one-round", "R = 1: w_1 is returned.", ("wrong-output-index", "one-call-too-many"), rounds=1),
    match("two-rounds", "R = 2.", ("one-call-too-many",), rounds=2, dataset=data(8)),
    match("first-index", "The first iterate is chosen.", ("wrong-output-index",), index=0),
    match("middle-index", "The second iterate is chosen.", ("wrong-output-index",), index=1),
    match("empty-plan", "A solver that returns w_r.", ("accepts-empty-phase",), plan=[]),
    match("one-phase-one-step", "n_1 = 1, T_1 = 1.", ("sigma-without-steps",), plan=[{"n": 1, "T": 1, "lambda": "0"}]),
    match(
        "three-phases",
        "Pulls of 0, 4 and 32.",
        ("forgets-anchor", "wrong-prox-weight"),
        dataset=data(15),
        plan=[{"n": 2, "T": 2, "lambda": "0"}, {"n": 1, "T": 2, "lambda": "4"}, {"n": 1, "T": 2, "lambda": "32"}],
    ),
    match(
        "long-phase", "T_1 = 8.", ("sigma-without-steps", "wrong-prox-weight"), plan=[{"n": 3, "T": 8, "lambda": "0"}]
    ),
    match(
        "uneven-split",
        "n = 11, R = 3: batches of ⌊11/2⌋ = 5.",
        ("wrong-batch", "sigma-of-batch"),
        CORRECTED,
        dataset=data(11),
    ),
    match(
        "one-dimension",
        "d = 1.",
        ("wrong-exponent",),
        CORRECTED,
        dataset=data(9, 1),
        set={"type": "box", "lower": ["-4"], "upper": ["4"]},
    ),
    match("three-dimensions", "d = 3, p = 2.", ("clips-in-wrong-norm",), dataset=data(9, 3), set=THREE_D),
    match(
        "p-three-halves",
        "d = 3, p = 1.5 < p̄: mirror steps, d^{1/p−1/2} in σ.",
        ("wrong-mirror-map", "wrong-exponent", "clips-in-wrong-norm"),
        p="1.5",
        dataset=data(9, 3),
        set=THREE_D,
        beta="4",
        L0="0.5",
    ),
    match(
        "p-one",
        "d = 3, p = 1: p̄ = 1 + 1/ln 3, β = 2κC²ρ.",
        ("wrong-beta", "wrong-exponent", "wrong-mirror-map"),
        CORRECTED,
        p="1",
        dataset=data(9, 3),
        set=THREE_D,
        L0="0.75",
    ),
    match(
        "p-one-given-beta",
        "d = 3, p = 1 with β given.",
        ("wrong-exponent", "wrong-mirror-map"),
        p="1",
        beta="8",
        dataset=data(9, 3),
        set=THREE_D,
        L0="0.75",
    ),
    match(
        "p-three-halves-two-dimensions",
        "d = 2: p̄ = 2 corrected, 1 + 1/ln 2 > 2 printed.",
        ("wrong-exponent",),
        p="1.5",
        beta="8",
        L0="0.75",
    ),
    match(
        "clipping",
        "L0 = 0.25 is declared: gradients are clipped.",
        ("no-clipping", "clips-in-wrong-norm"),
        L0="0.25",
        mu="16",
    ),
    match("radius", "Strong noise: the ball of radius R0 binds in the corrected text.", ("forgets-radius",), mu="0.25"),
    match(
        "phase-retrieval",
        "|⟨a,w⟩² − y|, with L0 = 2, ρ = 2.",
        ("wrong-subgradient",),
        L0="2",
        rho="2",
        loss={"family": "robust-phase-retrieval"},
        start=["0.5", "0.25"],
    ),
    match(
        "negative-quadratic",
        "−⟨a,w⟩²/2: concave.",
        ("wrong-prox-weight",),
        rho="1",
        loss={"family": "negative-quadratic", "curvature": "1"},
        start=["0.5", "0.25"],
    ),
    match("start-given", "The start is not the centre.", ("wrong-start",), start=["1", "-0.5"]),
    match("beta-given", "β = 8.", ("wrong-beta",), beta="8"),
    match("small-mu", "μ = 1/2.", ("mu-for-sigma",), mu="0.5"),
    match(
        "kink",
        "tanh 0 = y = 0 at the start: the subgradient is 0.",
        ("wrong-subgradient",),
        quiet=True,
        dataset=data(9, 2, ("0",)),
    ),
    match(
        "binding-box",
        "A small box binds: the step is solved by iteration.",
        ("forgets-constraint",),
        CORRECTED,
        set={"type": "box", "lower": ["-0.25", "-0.125"], "upper": ["0.25", "0.125"]},
        mu="1",
    ),
    match(
        "binding-ball",
        "A small ball binds.",
        ("forgets-constraint",),
        CORRECTED,
        set={"type": "l2-ball", "centre": ["0", "0"], "radius": "0.125"},
        mu="1",
    ),
    reject("no-round", "R = 0.", "accepts-bad-rounds", "rounds", rounds=0),
    reject("too-many-rounds", "R = 10 > n = 9.", "accepts-bad-rounds", "rounds", rounds=10),
    reject("fraction", "R = 2 does not divide 9.", "accepts-fraction", "n/R", PRINTED, rounds=2),
    reject(
        "long-plan",
        "Phases of 3 and 2 in a batch of 3 or 4.",
        "accepts-long-plan",
        "plan",
        plan=[{"n": 3, "T": 1, "lambda": "0"}, {"n": 2, "T": 1, "lambda": "1"}],
    ),
    reject("first-pull", "λ_1 = 1.", "accepts-first-pull", "plan", plan=[{"n": 1, "T": 1, "lambda": "1"}]),
    reject(
        "negative-pull",
        "λ_2 = −1.",
        "accepts-first-pull",
        "lam",
        plan=[{"n": 1, "T": 1, "lambda": "0"}, {"n": 1, "T": 1, "lambda": "-1"}],
    ),
    reject("empty-phase", "n_1 = 0.", "accepts-empty-phase", "n", plan=[{"n": 0, "T": 1, "lambda": "0"}]),
    reject("small-beta", "β = 0.5 < κρ.", "accepts-small-beta", "beta", beta="0.5"),
    reject("p-three", "p = 3.", "accepts-other-p", "p", p="3", beta="8", dataset=data(9, 3), set=THREE_D),
    reject(
        "printed-one-dimension",
        "d = 1 as printed: log 1 = 0.",
        "accepts-one-dimension",
        "d",
        PRINTED,
        dataset=data(9, 1),
        set={"type": "box", "lower": ["-4"], "upper": ["4"]},
    ),
    reject("rho-zero", "ρ = 0.", "accepts-bad-constants", "rho", CORRECTED, rho="0"),
)

FAMILY = Family(
    "Alg:PGPSMD",
    FLAGS,
    CASES,
    (
        "1 ≤ R ≤ n; printed: R divides n",
        "the plan fits a batch, λ_1 = 0, λ_i ≥ 0",
        "1 ≤ p ≤ 2, L0 > 0, ρ > 0, β > κρ̃",
        "printed: d ≥ 2",
    ),
)
