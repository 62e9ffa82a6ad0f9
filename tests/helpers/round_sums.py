"""Sums over one round of Algorithms 4 and 5, by a recursion: what Facts 4 and 5 bound."""

from __future__ import annotations

from reference.numerics.numbers import Numbers, Real
from reference.smooth.sensitivity import step_size


def variance_sums(K: Numbers, steps: int) -> tuple[Real, ...]:
    """S_t = Σ_{k=1..t} P_{k,t}² for t = 0, …, T−1 (Fact 4: at most √((t+1)/2))."""
    value = K(0)
    values = [value]
    for t in range(1, steps):
        keep = 1 - step_size(K, t)
        value = 1 + keep * keep * value
        values.append(value)
    return tuple(values)
