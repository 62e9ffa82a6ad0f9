"""Checks for the tests of the main job: worker processes import them by name."""

import os
import random
import time
from fractions import Fraction

import flint
import mpmath
import numpy as np

from audit.checks.evidence import Cited, Enclosed, Evidence, ExactAt, Measured, Proved, Refutation, Searched
from audit.checks.framework import MARK, Check, Figure, Outcome, check, distinct
from audit.checks.mutants import scaled

EVIDENCE: dict[str, Evidence] = {
    "proved": Proved("all x", "smt"),
    "enclosed": Enclosed("a point"),
    "exact": ExactAt("a point"),
    "searched": Searched("a grid"),
    "measured": Measured("1e-6", "half of it"),
    "counterexample": Refutation("exact"),
    "cited": Cited("a book"),
}
"""One of each kind."""

BROKEN = (scaled("reference.convex.moreau.envelope_gap", 2),)
"""Something that a check could notice; these look at nothing."""


@check("lem:oracle", kind=ExactAt("one draw"), mutants=BROKEN)
def draws(seed: int) -> Outcome:
    """Depends on the seed, and on everything global that another check could leave behind."""
    rng = random.Random(seed)
    left = {
        "prec": flint.ctx.prec,
        "digits": mpmath.mp.prec,
        "global": random.random(),
        "numpy": float(np.random.rand()),
    }
    order = " ".join({"alpha", "beta", "gamma", "delta", "epsilon"})
    return Outcome(holds=True, ratio=Fraction(rng.random()), numbers={"n": np.int64(3), **left}, witness=order)


@check("lem:oracle", kind=Searched("nothing"), mutants=BROKEN)
def leaves_a_mess(seed: int) -> Outcome:
    flint.ctx.prec = 999
    mpmath.mp.prec = 999
    random.seed(1)
    np.random.seed(1)
    return Outcome(holds=True, ratio=0.5)


@check("lem:moreau", kind=ExactAt("one draw"), mutants=BROKEN)
def draws_again(seed: int) -> Outcome:
    return draws(seed)


@check("Alg:gll_oracle:6", kind=Refutation("computed"), edition="printed", erratum="E3.1", mutants=BROKEN)
def printed_fails(seed: int) -> Outcome:
    figure = Figure(
        "errors", "T", "error", {"measured": [(1.0, 0.5), (2.0, float("inf"))]}, y_log=True, topic="accuracy"
    )
    return Outcome(holds=False, ratio=float("inf"), witness="returns 0", figures=(figure,))


@check("Alg:gll_oracle", kind=Enclosed("a point"))
@check("Alg:phased", kind=Enclosed("a point"), level="standard", mutants=BROKEN)
def corrected_holds(seed: int) -> Outcome:
    return Outcome(holds=True, ratio=1)


def _make(value: float):
    def made(seed: int) -> Outcome:
        return Outcome(holds=True, ratio=value)

    return made


made_here = _make(0.25)
made_here.__name__ = "made_here"
unnamed = _make(0.5)


def raises(seed: int) -> Outcome:
    raise ArithmeticError("no such root")


def dies(seed: int) -> Outcome:
    os._exit(7)


def sleeps(seed: int) -> Outcome:
    time.sleep(600)
    return Outcome(holds=True)


def answers_nonsense(seed: int) -> Outcome:
    return Outcome(holds=True, numbers={"x": (i for i in range(3))}, ratio=object())  # type: ignore[arg-type]


def _marked(*functions: object) -> list[Check]:
    return distinct([c for f in functions for c in getattr(f, MARK)])


GOOD = _marked(draws, leaves_a_mess, draws_again, printed_fails, corrected_holds)
BAD = {
    f.__name__: Check(f"sample.{f.__name__}", "lem:adv_comp", Searched("nothing"), "corrected", "quick", None, None, f)
    for f in (raises, dies, sleeps, answers_nonsense, made_here, unnamed)
}
