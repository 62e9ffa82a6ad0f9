"""The conditions on ε and δ under which the paper claims anything: what a counterexample to a claim has to meet.

| paper | here |
|---|---|
| ε ≤ √log(1/δ), the input of Algorithm 2 (line 379) | the last of `privacy_range`; it is held to apply everywhere |
"""

from __future__ import annotations

from fractions import Fraction

from reference.numerics.numbers import Exact, certify
from reference.paper.registry import Hypothesis
from reference.privacy.composition import log_inverse


def privacy_range(epsilon: Exact, delta: Exact) -> tuple[Hypothesis, ...]:
    """ε > 0, 0 < δ < 1 and ε ≤ √log(1/δ), evaluated; decided on balls."""
    e, d = Fraction(epsilon), Fraction(delta)
    inside = 0 < d < 1
    small = inside and certify(lambda K: K.le(K(e * e), log_inverse(K, d))).value
    return (
        Hypothesis("ε > 0 and 0 < δ < 1", e > 0 and inside, "Section 2"),
        Hypothesis("ε ≤ √log(1/δ)", small, "line 379, the input of Algorithm 2"),
    )
