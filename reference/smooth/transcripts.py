"""The exact law of what Algorithm 4 reveals: all sequences of chosen vertices, for sizes at which they can be listed.

Given the vertices chosen so far all points w are known, so a transcript's probability is a product of
report-noisy-min laws (`privacy.noisy_min_law`). ŵ is a function of the transcript and an independent index, so a
bound for the transcript holds for the output. The batches are fixed, as they are in every proof: the bound holds for
each assignment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from reference.numerics.numbers import Exact, Numbers, Real, Vector
from reference.numerics.preconditions import require
from reference.privacy import MinNoise, noisy_min_law
from reference.smooth.poly_sfw import recursive_estimate
from reference.smooth.rounds import Gradients
from reference.smooth.sensitivity import step_size

CAP = 1 << 14
"""The largest number of transcripts that is listed."""

Transcript = tuple[int, ...]


def slices(dataset: Sequence[Any], rounds: Sequence[Sequence[int]]) -> list[list[Sequence[Any]]]:
    """Consecutive batches of the given sizes, one list a round."""
    found, used = [], 0
    for sizes in rounds:
        batches = []
        for size in sizes:
            batches.append(dataset[used : used + size])
            used += size
        found.append(batches)
    require(used <= len(dataset), "n", len(dataset), f"be at least {used}", "the batches are disjoint")
    return found


def transcript_law(
    K: Numbers,
    loss: Any,
    W: Any,
    rounds: Sequence[Sequence[Sequence[Any]]],
    scales: Sequence[Exact],
    noise: MinNoise = "laplace",
    start: Vector | None = None,
) -> dict[Transcript, Real]:
    """Probability of every sequence of vertices, for rounds of batches and one noise scale a round."""
    steps = sum(len(batches) for batches in rounds)
    require(W.J**steps <= CAP, "J^steps", W.J**steps, f"be at most {CAP}", "use fewer vertices or steps")
    vertices, w = W.vertices(K), W.centre(K) if start is None else start
    plan = [(t, batch, scale) for batches, scale in zip(rounds, scales, strict=True) for t, batch in enumerate(batches)]
    gradients = Gradients(K, loss)

    def extend(i: int, w: Vector, previous: Vector, estimate: Vector) -> Iterator[tuple[Transcript, Real]]:
        if i == len(plan):
            yield (), K(1)
            return
        t, batch, scale = plan[i]
        estimate = recursive_estimate(K, gradients, batch, w, previous, estimate, t)
        law = noisy_min_law(K, [K.to_float(v @ estimate) for v in vertices], scale, noise)
        eta = step_size(K, t)
        for j, vertex in enumerate(vertices):
            for rest, probability in extend(i + 1, w * (1 - eta) + vertex * eta, w, estimate):
                yield (j, *rest), law[j] * probability

    return dict(extend(0, w, w, w * 0))
