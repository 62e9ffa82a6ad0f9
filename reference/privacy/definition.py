"""The definition: the smallest δ at an ε, the smallest ε at δ = 0, for two laws on finitely many outcomes."""

from __future__ import annotations

from collections.abc import Sequence

from reference.numerics.numbers import Exact, Numbers, Real


def hockey_stick(K: Numbers, p: Sequence[Real], q: Sequence[Real], epsilon: Exact | Real) -> Real:
    """Σ max(p_i − e^ε q_i, 0): the smallest δ in P(E) ≤ e^ε Q(E) + δ over all events E of a finite outcome space.

    The worst event is {i : p_i > e^ε q_i}: any other event leaves out a positive term or takes in a negative one.
    """
    if len(p) != len(q):
        raise ValueError(f"p has {len(p)} outcomes and q {len(q)}: both laws live on the same outcomes")
    factor = K.exp(K(epsilon))
    return K.sum(K.max(a - factor * b, K(0)) for a, b in zip(p, q, strict=True))


def dp_delta(K: Numbers, p: Sequence[Real], q: Sequence[Real], epsilon: Exact | Real) -> Real:
    """The smallest δ for which a pair of output laws meets the definition at ε, in both directions."""
    return K.max(hockey_stick(K, p, q, epsilon), hockey_stick(K, q, p, epsilon))


def dp_epsilon(K: Numbers, p: Sequence[Real], q: Sequence[Real]) -> Real:
    """The smallest ε at δ = 0: the largest |ln(p_i/q_i)| over outcomes (every probability must be positive)."""
    largest = K(0)
    for a, b in zip(p, q, strict=True):
        largest = K.max(largest, K.abs(K.log(a / b)))
    return largest
