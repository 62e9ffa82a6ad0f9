"""Draws that were made elsewhere: outputs of both worlds, or scores of members and of non-members.

The test of `audit_dp` needs labels that are independent fair coins. They are drawn here, and each takes the next unused
output of its side: given that the outputs of a side are independent draws of one law, so are the labelled draws. How
many there are is fixed by the smaller side beforehand, with room so that no side runs out (chance SHORT at most, which
is far below every level).

What cannot be seen from the outputs, and must be true: **every output comes from a run of its own**, with fresh
randomness, on the same two datasets; none was left out or chosen by its value. Outputs of one long run, scores of many
examples under one model, or repeated rows are not independent: for one model see `audit_one_run`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from audit.auditor.api import audit_dp
from audit.auditor.targets.containment import Noticed
from audit.auditor.targets.sampling import CHECK, BlockName, Pair, TargetError
from audit.auditor.terms.claim import Claim
from audit.auditor.terms.options import CONFIDENCE, Execution
from audit.auditor.terms.result import AuditResult, Finding

Array = np.ndarray

SHORT = 1e-12
"""The chance that the labels ask for more outputs of a side than there are."""
LOOKED_AT = 16
"""Outputs of each side that the checks look at and that are not tested."""
LEAST = 62
"""Outputs of a side that are needed at least: fewer cannot be divided into a look, a burn-in and a test. So many give
ten labelled draws a side, the fewest that `audit_dp` tests.
"""

INDEPENDENCE = Finding(
    "given-outputs",
    "outputs were made elsewhere: the result holds if each comes from a run of its own, on these two datasets, and none"
    " was chosen by its value",
)


class GivenOutputs:
    """A target that deals out what it was given, each output once."""

    batched = True

    def __init__(self, outputs: Any, neighbour_outputs: Any, seed: int):
        self.noticed = Noticed()
        rng = np.random.default_rng([seed, 71])
        self._sides = [_shuffled(side, rng) for side in (outputs, neighbour_outputs)]
        self._next = [LOOKED_AT, LOOKED_AT]

    @property
    def draws(self) -> int:
        """Labelled draws that the smaller side allows."""
        least = min(map(len, self._sides)) - LOOKED_AT
        return int(2 * least - 2 * math.sqrt(least * math.log(1 / SHORT))) if least > 0 else 0

    def outputs(self, pair: Pair, labels: Array, name: BlockName) -> Any:
        """The next unused output of each label's side; checks look at the first few again and again."""
        places = [np.flatnonzero(labels == side) for side in (0, 1)]
        taken = []
        for side, where in enumerate(places):
            if name.stream == CHECK:
                taken.append(np.arange(len(where)) % LOOKED_AT)
                continue
            start = self._next[side]
            if start + len(where) > len(self._sides[side]):
                raise TargetError(f"side {side} has {len(self._sides[side])} outputs: too few for these labels")
            taken.append(start + np.arange(len(where)))
            self._next[side] += len(where)
        if all(isinstance(side, np.ndarray) for side in self._sides):
            a, b = self._sides
            dealt = np.empty((len(labels), *a.shape[1:]), dtype=np.result_type(a, b))
            for side, where, at in zip(self._sides, places, taken, strict=True):
                dealt[where] = side[at]
            return dealt
        found: list[Any] = [None] * len(labels)
        for side, where, at in zip(self._sides, places, taken, strict=True):
            for place, index in zip(where, at, strict=True):
                found[place] = side[index]
        return found


def _shuffled(side: Any, rng: np.random.Generator) -> Any:
    """The outputs of a side in another order, so that a burn-in is like the rest."""
    order = rng.permutation(len(side))
    return side[order] if isinstance(side, np.ndarray) else [side[i] for i in order]


def audit_outputs(
    outputs: Any,
    neighbour_outputs: Any,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    mu: float | None = None,
    claim: Claim | None = None,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    floats: str = "values",
) -> AuditResult:
    """`audit_dp` on outputs that were made elsewhere: the same plan, the same exact test.

    Args:
        outputs: outputs on the dataset, one a run: numbers, rows of an array, or any objects.
        neighbour_outputs: outputs on its neighbour.
        epsilon: the ε that is claimed.
        delta: the δ that is claimed with it.
        rho: the ρ of zCDP that is claimed instead.
        mu: the μ of Gaussian DP that is claimed instead.
        claim: any claim instead.
        confidence: of the whole audit.
        seed: of the labels and of the division into burn-in and test.
        floats: "values" or "bits", as for `audit_dp`.

    Returns:
        An `AuditResult`. It holds if every output comes from a run of its own with fresh randomness, on the same two
        datasets, and none was left out or chosen by its value; that cannot be seen from the outputs.

    Raises:
        ValueError: there are too few outputs, nothing is claimed, or an argument is not what it should be.

    >>> rng = np.random.default_rng(1)
    >>> a, b = rng.laplace(size=4000), 1 + rng.laplace(size=4000)
    >>> audit_outputs(a, b, epsilon=0.3).verdict
    'violated'
    """
    check_seed(seed)
    sides = _as_given("outputs", outputs), _as_given("neighbour_outputs", neighbour_outputs)
    arrays = all(isinstance(side, np.ndarray) for side in sides)
    if arrays and sides[0].shape[1:] != sides[1].shape[1:]:
        raise ValueError(
            f"outputs have shape {sides[0].shape[1:]}, neighbour_outputs {sides[1].shape[1:]}: rows must be alike"
        )
    a, b = sides if arrays else (list(sides[0]), list(sides[1]))
    target = GivenOutputs(a, b, seed)
    result = audit_dp(
        target,
        "outputs",
        "neighbour_outputs",
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        mu=mu,
        claim=claim,
        neighbours="any",
        samples=target.draws // 2,
        confidence=confidence,
        seed=seed,
        floats=floats,
        lints=False,
    )
    result.findings.append(INDEPENDENCE)
    return result


def check_seed(seed: Any) -> None:
    """Refuse what no generator is made of."""
    if Execution(seed=seed).seed is None:
        raise ValueError("seed = None must be a whole number ≥ 0: outputs are divided the same way every time")


def _as_given(name: str, outputs: Any) -> Any:
    """Outputs that can be counted and taken one by one; refused in one line where there are too few."""
    if not hasattr(outputs, "__len__") or isinstance(outputs, str | bytes | dict) or getattr(outputs, "shape", 1) == ():
        raise ValueError(f"{name} = {outputs!r:.40} must be a list or an array of outputs, one a run")
    if len(outputs) < LEAST:
        raise ValueError(f"{name} has {len(outputs)} outputs: at least {LEAST} a side are needed")
    return outputs if isinstance(outputs, list) else np.asarray(outputs) if hasattr(outputs, "dtype") else list(outputs)


def audit_scores(
    scores: Any,
    member: Any,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    mu: float | None = None,
    claim: Claim | None = None,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> AuditResult:
    """Audit from membership scores: one score a training run, and whether the example was a member in that run.

    Args:
        scores: one number a run.
        member: for each run, whether the example was in the training data.
        epsilon: the ε that is claimed.
        delta: the δ that is claimed with it.
        rho: the ρ of zCDP that is claimed instead.
        mu: the μ of Gaussian DP that is claimed instead.
        claim: any claim instead.
        confidence: of the whole audit.
        seed: of the labels and of the division into burn-in and test.

    Returns:
        An `AuditResult`, under the condition of `audit_outputs`: each score comes from a run of its own. Scores of
        many examples under one model are not independent: use `audit_one_run`.

    Raises:
        ValueError: a score is NaN, lengths differ, `member` has one kind only, or an argument is not what it should be.

    >>> rng = np.random.default_rng(1)
    >>> member = rng.integers(0, 2, 8000) == 1
    >>> audit_scores(member + rng.normal(size=8000), member, mu=0.5).verdict
    'violated'
    """
    values, inside = scores_and_labels(scores, member, "member")
    return audit_outputs(
        values[~inside],
        values[inside],
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        mu=mu,
        claim=claim,
        confidence=confidence,
        seed=seed,
    )


def scores_and_labels(scores: Any, labels: Any, name: str) -> tuple[Array, Array]:
    """Scores as numbers and labels as booleans; anything else is refused in one line."""
    try:
        values = np.asarray(scores, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"scores = {scores!r:.40} must be numbers") from None
    flags = np.asarray(labels)
    if values.ndim != 1 or flags.ndim != 1:
        raise ValueError(
            f"scores and {name} must be plain lists, one entry each (shapes {values.shape}, {flags.shape})"
        )
    if len(values) != len(flags):
        raise ValueError(f"there are {len(values)} scores and {len(flags)} entries of {name}: one of each is needed")
    if np.isnan(values).any():
        raise ValueError(f"score {int(np.flatnonzero(np.isnan(values))[0])} is NaN: leave such runs out of both lists")
    if not np.isin(flags, (0, 1)).all():
        raise ValueError(f"{name} must hold True and False, or 0 and 1")
    flags = flags.astype(bool)
    if flags.all() or not flags.any():
        raise ValueError(f"{name} is {bool(flags.all())} everywhere: both kinds are needed to tell them apart")
    return values, flags
