"""What Section 4 asks for, wherever it says so, evaluated on an instance: what a counterexample has to meet.

| paper | here |
|---|---|
| bR² ≤ n, b ≥ 2^R (the remark on R and b, line 723) | `rounds_and_batches` |
| W of diameter D, f(·, z) L0-Lipschitz and L1-smooth (lines 247 to 250) | `setting_of_a_cylinder` |
| step sizes of Algorithm 5: convex combinations, chosen before the data are seen | `step_sizes` |
| R, b of Theorems 11 and 14, n so large that R ≥ 1 (line 724) | `choices_of_theorem_11`, `choices_of_theorem_14` |
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from reference.numerics.numbers import Ball, Exact
from reference.numerics.preconditions import PreconditionError
from reference.paper.registry import Hypothesis
from reference.privacy.hypotheses import privacy_range
from reference.smooth.leaks import Clock, Cylinder
from reference.smooth.parameters import Rounds, noisy_parameters, poly_parameters
from reference.smooth.poly_sfw import StepSizes
from reference.smooth.rounds import samples_bound_printed

REMARK = "line 723, the remark on R and b"


def rounds_and_batches(n: int, R: int, b: int) -> tuple[Hypothesis, ...]:
    """R ≥ 1, b ≥ 2^R, bR² ≤ n."""
    return (
        Hypothesis(f"R = {R} ≥ 1", R >= 1, "line 724"),
        Hypothesis("b ≥ 2^R", R >= 1 and b >= 2**R, REMARK),
        Hypothesis("bR² ≤ n", samples_bound_printed(max(R, 1), b) <= n, REMARK),
    )


def step_sizes(eta: StepSizes, R: int) -> tuple[Hypothesis, ...]:
    """0 ≤ η_{r,t} ≤ 1 for all t < 2^{R−1}. That they depend on (r, t) alone is what the type says."""
    K = Ball(64)
    values = [eta(K, t) for t in range(2 ** (R - 1))]
    inside = all(K.le(K(0), value) and K.le(value, K(1)) for value in values)
    return (Hypothesis("0 ≤ η_{r,t} ≤ 1, whatever the data", inside, ""),)


def setting_of_a_cylinder(W: Cylinder, loss: Clock, D: Exact) -> tuple[Hypothesis, ...]:
    """W has diameter at most D, every loss is L0-Lipschitz and L1-smooth on it (by the bounds of `Clock.within`)."""
    square = 4 * (W.rho**2 + W.height**2)
    return (
        Hypothesis(f"W has diameter at most {D}", square <= Fraction(D) ** 2, "line 250"),
        Hypothesis("f(·, z) is L0-Lipschitz and L1-smooth on W", loss.within(W), "lines 250 and 674"),
    )


def choices_of_theorem_11(n: int, J: int, epsilon: Exact, delta: Exact) -> tuple[Hypothesis, ...]:
    """What Theorem 11 and the remark ask for, but for a bound on ε: J ≥ 2, R ≥ 1, b ≥ 2^R, bR² ≤ n; and that
    `poly_parameters` accepts it.
    """
    return (
        Hypothesis("J ≥ 2", J >= 2, "Theorem 11, whose R divides by log J"),
        *_accepted("n, J and ε", n, lambda: poly_parameters(n, J, epsilon, delta)),
    )


def choices_of_theorem_14(n: int, d: int, p: Exact, epsilon: Exact, delta: Exact) -> tuple[Hypothesis, ...]:
    """Everything that Theorem 14 and the remark ask for: 1 < p ≤ 2, κ ≥ 1 (so d ≥ 2), R ≥ 1, b ≥ 2^R, bR² ≤ n; and
    that `noisy_parameters` accepts it.
    """
    return (
        *privacy_range(epsilon, delta),
        Hypothesis("1 < p ≤ 2", 1 < Fraction(p) <= 2, "Theorem 14"),
        Hypothesis("κ ≥ 1", d >= 2, "line 674"),
        *_accepted("n, d and p", n, lambda: noisy_parameters(n, d, p, epsilon, delta)),
    )


def _accepted(what: str, n: int, choose: Callable[[], Rounds]) -> tuple[Hypothesis, ...]:
    """Whether our own checks accept a choice, and what the remark asks of its R and b."""
    try:
        plan, refusal = choose(), ""
    except PreconditionError as error:
        plan, refusal = Rounds(0, 0), f": {error}"
    return (
        Hypothesis(f"our own checks accept {what}{refusal}", not refusal, ""),
        *rounds_and_batches(n, plan.R, plan.b),
    )
