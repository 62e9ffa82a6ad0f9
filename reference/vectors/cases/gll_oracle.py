"""Cases of Algorithm 1, the gradient oracle."""

from __future__ import annotations

from typing import Any

from reference.vectors.cases import Case, Family, Flag

BOTH = ("printed", "corrected")
CORRECTED = ("corrected",)

FLAGS = {
    "wrong-half": Flag(
        "keeps the half with the larger value", "the gradient is 0 whatever the loss", "accuracy", 6, "E3.1"
    ),
    "missing-half-beta": Flag(
        "adds |u − m|² without the factor β/2",
        "the minimiser of another function; hidden by absolute and hinge losses",
        "accuracy",
        6,
        "E3.2",
    ),
    "halves-by-values": Flag(
        "keeps one half after comparing quarter points",
        "the derivative jumps by up to 0.39 L0 and Algorithm 2 loses its privacy",
        "privacy",
        6,
        "E3.3",
    ),
    "wrong-interval": Flag(
        "searches another interval than [m ± L0/β] (printed: [m ± 2L0/β])",
        "misses the minimiser or wastes steps",
        "accuracy",
        2,
        "E3.4",
    ),
    "wrong-step-count": Flag(
        "rounds the number of steps wrongly, or takes another logarithm", "accuracy worse than α", "accuracy", 3
    ),
    "last-tested-point": Flag(
        "returns the last tested point instead of the final middle", "errs up to 2α", "accuracy", 10, "E3.4"
    ),
    "wrong-sign": Flag("returns β(ū − m)", "descent becomes ascent", "privacy", 11),
    "forgets-features": Flag("returns the derivative without x", "not a gradient", "output", 11),
    "tie-moves-a": Flag("keeps the right half at a subgradient of 0", "differs by one cell at ties", "output", 6),
    "kink-subgradient": Flag(
        "takes a one-sided derivative at a kink instead of the subgradient nearest 0", "differs at kinks", "output", 6
    ),
    "ignores-L0": Flag("assumes L0 = 1", "wrong interval and step count for other losses", "accuracy", 2),
    "ignores-R": Flag("assumes R = 1", "wrong step count", "accuracy", 3),
    "ignores-M": Flag("searches outside M", "the loss is evaluated where it is not defined", "accuracy", 2, "E3.8"),
    "no-step": Flag("fails when no step is needed", "crash at coarse α", "output", 3, "E3.5"),
    "relative-rounding": Flag(
        "computes β(m − ū) from rounded positions far from 0", "loses digits: keep offsets from m", "accuracy", 11
    ),
    "accepts-coarse-alpha": Flag("accepts α ≥ 4L0R", "an empty set of midpoints", "input", 3, "E3.5"),
    "accepts-bad-parameters": Flag(
        "accepts parameters that are not positive", "division by zero, endless loop", "input", 2
    ),
    "accepts-steep-loss": Flag(
        "accepts a loss that is steeper than L0", "the sensitivity is not bounded by L0R", "input", 1
    ),
    "accepts-other-dimension": Flag("accepts w and x of different dimensions", "reads past the end", "input", 1),
}

BASE: dict[str, Any] = {
    "loss": {"family": "absolute"},
    "y": "0.375",
    "w": ["0.75", "-0.5"],
    "x": ["0.5", "0.25"],
    "beta": "4",
    "alpha": "0.046875",
    "L0": "1",
    "R": "1",
    "M": None,
}
QUANTILE = {"family": "quantile", "tau": "0.25"}


def match(slug: str, comment: str, flags: tuple[str, ...], variants: tuple[str, ...] = BOTH, **changes: Any) -> Case:
    """A case with a result."""
    return Case(slug, comment, {**BASE, **changes}, variants, flags)


def reject(slug: str, comment: str, flag: str, reason: str, **changes: Any) -> Case:
    """An input that must be refused."""
    return Case(slug, comment, {**BASE, **changes}, BOTH, (flag,), "reject", reason)


CASES = (
    match("absolute", "The minimiser rests on the kink inside the interval.", ("wrong-half", "wrong-interval")),
    match(
        "quantile",
        "A slope strictly inside (−L0, L0) shows a missing β/2.",
        ("missing-half-beta", "halves-by-values"),
        loss=QUANTILE,
        y="0.1875",
    ),
    match(
        "quantile-strong-pull",
        "A large β: a narrow interval.",
        ("missing-half-beta", "wrong-interval"),
        loss=QUANTILE,
        beta="16",
    ),
    match(
        "quantile-weak-pull",
        "A small β: a wide interval.",
        ("missing-half-beta", "wrong-interval"),
        loss=QUANTILE,
        beta="0.25",
    ),
    match("hinge-active", "The hinge's sloped side.", ("wrong-half", "wrong-sign"), loss={"family": "hinge"}, y="1"),
    match(
        "hinge-inactive",
        "On the flat side the subgradient at m is 0: a tie, and b moves.",
        ("tie-moves-a",),
        loss={"family": "hinge"},
        y="1",
        w=["2", "2"],
    ),
    match("hinge-negative-label", "The hinge with label −1.", ("wrong-sign",), loss={"family": "hinge"}, y="-1"),
    match(
        "huber",
        "A loss with a curved middle.",
        ("missing-half-beta", "halves-by-values"),
        loss={"family": "huber", "width": "1"},
        y="-0.625",
    ),
    match(
        "logistic", "A transcendental loss.", ("missing-half-beta",), loss={"family": "logistic"}, y="1", alpha="0.25"
    ),
    match(
        "flat-zone",
        "Inside the ε-insensitive zone the first midpoint is a tie; all numbers are dyadic.",
        ("tie-moves-a", "kink-subgradient"),
        CORRECTED,
        loss={"family": "epsilon-insensitive", "width": "0.5"},
        y="0.25",
    ),
    Case(
        "flat-zone-rounded",
        "The same with L0/β = 1/3: one ulp decides the tie, so every answer is accepted.",
        {**BASE, "loss": {"family": "epsilon-insensitive", "width": "0.5"}, "y": "0.25", "beta": "3"},
        CORRECTED,
        ("tie-moves-a",),
        "either",
    ),
    match(
        "label-on-m",
        "m is the kink: the subgradient nearest 0 is 0, and b moves.",
        ("kink-subgradient", "tie-moves-a"),
        y="0.25",
    ),
    match(
        "kink-at-second-midpoint",
        "The second midpoint is the kink.",
        ("kink-subgradient",),
        CORRECTED,
        loss=QUANTILE,
        y="0.125",
        L0="1",
    ),
    match(
        "alpha-power-of-two",
        "L0R/α = 8 exactly: three steps, not four.",
        ("wrong-step-count", "last-tested-point"),
        loss=QUANTILE,
        y="0.1875",
        alpha="0.125",
    ),
    match(
        "alpha-just-above",
        "α slightly above 1/8: still three steps.",
        ("wrong-step-count",),
        loss=QUANTILE,
        y="0.1875",
        alpha="0.1328125",
    ),
    match(
        "alpha-just-below",
        "α slightly below 1/8: four steps.",
        ("wrong-step-count",),
        loss=QUANTILE,
        y="0.1875",
        alpha="0.1171875",
    ),
    match("no-step", "α > L0R: the corrected oracle takes no step and returns 0.", ("no-step",), alpha="2"),
    match(
        "one-step",
        "α just below 4L0R: the printed oracle takes one step.",
        ("no-step", "wrong-step-count"),
        alpha="3.9375",
    ),
    match("one-dimension", "d = 1.", ("forgets-features",), w=["-0.625"], x=["-0.75"], loss=QUANTILE),
    match(
        "five-dimensions",
        "d = 5.",
        ("forgets-features",),
        w=["0.5", "-0.25", "1", "0", "0.125"],
        x=["0.25", "0.5", "-0.125", "0.75", "0.5"],
        loss=QUANTILE,
        y="0",
    ),
    match(
        "far-from-zero",
        "m = 100: positions are large, the derivative is not.",
        ("relative-rounding",),
        w=["200", "0"],
        y="100.0625",
        loss=QUANTILE,
    ),
    match(
        "other-constants",
        "L0 = 2.5, R = 0.5, with a loss of slope 2.5.",
        ("ignores-L0", "ignores-R"),
        L0="2.5",
        R="0.5",
        loss={"family": "huber", "width": "2.5"},
        y="-1.5",
    ),
    match("zero-features", "x = 0: m = 0 and the gradient is 0.", ("forgets-features",), x=["0", "0"]),
    match("inside-M", "M = [0, 1] cuts the interval.", ("ignores-M",), M=["0.125", "1"], loss=QUANTILE, y="-1"),
    match("at-the-end-of-M", "m is the left end of M.", ("ignores-M",), M=["0.25", "1"], loss=QUANTILE, y="0.5"),
    reject("alpha-too-coarse", "α = 4L0R asks for no midpoint.", "accepts-coarse-alpha", "alpha", alpha="4"),
    reject("alpha-zero", "α = 0 asks for infinitely many steps.", "accepts-bad-parameters", "alpha", alpha="0"),
    reject("alpha-negative", "α < 0.", "accepts-bad-parameters", "alpha", alpha="-0.5"),
    reject("beta-zero", "β = 0.", "accepts-bad-parameters", "beta", beta="0"),
    reject("R-zero", "R = 0.", "accepts-bad-parameters", "R", R="0"),
    reject("L0-zero", "L0 = 0.", "accepts-bad-parameters", "L0", L0="0"),
    reject(
        "loss-too-steep",
        "The hinge with label 2 has slope 2 > L0.",
        "accepts-steep-loss",
        "Lipschitz",
        loss={"family": "hinge"},
        y="2",
    ),
    reject("M-misses-the-interval", "M = [3, 4] does not meet [m ± 2L0/β].", "ignores-M", "M", M=["3", "4"]),
    reject(
        "dimensions", "w has two entries, x three.", "accepts-other-dimension", "dimension", x=["0.5", "0.25", "0.125"]
    ),
)

FAMILY = Family(
    "Alg:gll_oracle",
    FLAGS,
    CASES,
    (
        "β, α, L0, R > 0",
        "α < 4·L0·R",
        "ℓ is convex and L0-Lipschitz",
        "dim w = dim x",
        "M meets the interval of line 2",
    ),
)
