"""What an audit reports."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Finding:
    """Something noticed besides the bound; it does not change the verdict.

    Attributes:
        kind: which finding it is, a word that stays the same, e.g. "sensitivity" (docs/foreign.md lists them).
        message: what was seen, for people.
        details: what was seen, for programs: the line of the code, the numbers.

    >>> print(Finding("deterministic", "the output on one dataset never varied"))
    deterministic: the output on one dataset never varied
    """

    kind: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class Continuation(Protocol):
    """What an anytime audit goes on from."""

    def more(self, samples: int, seconds: float | None) -> AuditResult:
        """The result after so many more draws a side."""


@dataclass
class AuditResult:
    """The verdict of an audit and everything needed to judge it. Prints as one paragraph.

    Attributes:
        verdict: "violated" (the claim is refuted at the confidence), "consistent" (no violation was found) or "error"
            (nothing could be tested: see `reason`).
        epsilon_lower: the mechanism is not (ε, δ)-DP on this pair for any ε below this, at the confidence.
        delta: the δ of the claim, which the bound is for.
        confidence: of the whole audit: the verdict and the bound are wrong with probability 1 − confidence at most.
        samples: draws a side that were made, on average (labels are fair coins).
        event: the tested event, in words: which outputs are likelier on which dataset.
        claimed_epsilon: the ε of the claim.
        would_detect: the smallest true loss, on an event as frequent as the tested one, that would have been reported
            with probability 0.95; infinite where no loss could have been.
        seed: the seed of all draws; the same seed gives the same result.
        seconds: how long it took.
        findings: what was noticed besides.
        pair: the number of the pair that was tested.
        draws: how many draws, of both sides, the burn-in and the test had.
        selected: how many of the test draws were selected, without looking at their labels.
        right: of how many of these the label was guessed right.
        p_value: of the claim: it is refuted where this is at most the error level of the test.
        mode: "fixed" or "anytime".
        reason: why nothing could be tested.
        witness: the input that shows it, where a search found one.
        state: what `resume` goes on from, of an anytime audit.
        with_fresh_seeds: with `seed_arg=`, the same audit with a fresh seed in every call; this result is the mechanism
            as shipped.

    >>> from dpso import audit_dp
    >>> def answer(dataset, size, rng):
    ...     return dataset[0] + rng.laplace(scale=0.5, size=size)
    >>> result = audit_dp(answer, [0.0], [1.0], epsilon=1.0, samples=5000, confidence=0.999)
    >>> result.violated, result.claimed_epsilon < result.epsilon_lower <= 2
    (True, True)
    >>> result.right <= result.selected <= result.draws["test"], result.p_value <= 0.001
    (True, True)
    """

    verdict: str
    epsilon_lower: float
    delta: float
    confidence: float
    samples: int
    event: str
    claimed_epsilon: float
    would_detect: float
    seed: int
    seconds: float
    findings: list[Finding] = field(default_factory=list)
    pair: int = 0
    draws: dict[str, int] = field(default_factory=dict)
    selected: int = 0
    right: int = 0
    p_value: float = 1.0
    mode: str = "fixed"
    reason: str = ""
    witness: Any = field(default=None, repr=False)
    state: Continuation | None = field(default=None, repr=False)
    with_fresh_seeds: AuditResult | None = field(default=None, repr=False)

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted at the stated confidence."""
        return self.verdict == "violated"

    def resume(self, samples: int, seconds: float | None = None) -> AuditResult:
        """Continue an anytime audit with so many more draws a side; the bound stays valid however often it is done."""
        if self.state is None:
            raise ValueError("only a result of audit_dp(..., anytime=True) can be continued")
        return self.state.more(samples, seconds)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; infinite numbers become null."""
        hidden = ("state", "witness", "with_fresh_seeds")
        data = {k: v for k, v in self.__dict__.items() if k not in hidden}
        data["findings"] = [asdict(f) for f in self.findings]
        if self.witness is not None:
            data["witness"] = self.witness
        if self.with_fresh_seeds is not None:
            data["with_fresh_seeds"] = self.with_fresh_seeds.to_dict()
        return {k: _finite(v) for k, v in data.items()}

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict(), default=str)

    def __str__(self) -> str:
        lines = [self._headline(), *(f"  noticed: {finding}" for finding in self.findings)]
        traceback = next((f.details["traceback"] for f in self.findings if "traceback" in f.details), "")
        lines += [f"    {line}" for line in traceback.strip().splitlines()]
        if self.with_fresh_seeds is None:
            return "\n".join(lines)
        return "\n".join(["As shipped:", *lines, "With a fresh seed in every call:", str(self.with_fresh_seeds)])

    def _shown_bound(self) -> str:
        """The bound with so many digits, four at least, that it is seen to exceed the claim, if it does."""
        texts = [f"{self.epsilon_lower:.{digits}g}" for digits in range(4, 17)]
        return next((text for text in texts if float(text) > self.claimed_epsilon), texts[0])

    def _headline(self) -> str:
        claim = f"({self.claimed_epsilon:g}, {self.delta:g})-DP"
        if self.verdict == "error":
            return f"ERROR: {claim} could not be tested: {self.reason}"
        sure = f"{100 * self.confidence:g} % confidence"
        used = f"{self.samples} draws a side, seed {self.seed}, {self.seconds:.2g} s"
        if self.violated:
            return (
                f"VIOLATED: not {claim}: the privacy loss on this pair is at least ε = {self._shown_bound()}"
                f" at {sure} ({used}). Event: {self.event}."
            )
        reach = (
            f"a loss of ε ≥ {self.would_detect:.4g} on an event as frequent as the tested one would have been"
            " reported with probability 0.95"
            if math.isfinite(self.would_detect)
            else "too few draws to report any loss above the claim"
        )
        return (
            f"CONSISTENT with {claim}: no violation found; the loss on this pair is at least"
            f" ε = {self.epsilon_lower:.4g} at {sure}; {reach} ({used}). Event: {self.event}."
        )


def _finite(value: Any) -> Any:
    """None for infinities and NaN, which JSON has no word for."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list | tuple) else value
