"""What an audit reports."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from audit.auditor.terms.claim import Claim, Epsilon, currency
from audit.auditor.terms.picture import Drawing, colour, draw, page
from audit.auditor.terms.verdict import Verdict
from audit.runtime.markup import escape


@dataclass(frozen=True)
class Finding:
    """Something noticed besides the bound; some kinds contradict the claim (`audit.auditor.terms.verdict`).

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


@dataclass(frozen=True)
class ShortRule:
    """An event of at most three conditions, fixed by the burn-in and counted on the test draws.

    Attributes:
        text: the event in words; the numbers in it are those that were compared (outputs are read to 30 bits).
        selected: how many of the test draws are in it.
        right: how many of these are from the side on which it is said to be likelier.
        lower: the lower bound that it gives, in the currency of the claim. It describes the event: by itself it holds
            at the confidence of the audit, but it has no part in the verdict, and none of its error level.
    """

    text: str
    selected: int
    right: int
    lower: float


class Continuation(Protocol):
    """What an anytime audit goes on from."""

    def more(self, samples: int, seconds: float | None) -> AuditResult:
        """The result after so many more draws a side."""


class Bounds(Protocol):
    """What was counted: enough for a lower bound in every currency."""

    def lower(self, claim: Claim) -> float:
        """The lower bound in this claim's currency."""

    def figures(self, claim: Claim, lower: float) -> list[Drawing]:
        """The trade-off curve and the profile: the claim's, and those of the lower bound."""


BORDERLINE = 1.1
"""A bound up to so many times the claim refutes it by little."""
DOUBTFUL = 0.05
"""A p-value up to this is near to a refutation."""


@dataclass
class AuditResult:
    """The verdict of an audit and everything needed to judge it. Prints as one paragraph.

    Attributes:
        verdict: "violated" (the claim is refuted at the confidence), "suspect" (a finding contradicts it), "consistent"
            (neither, and a number twice the claim would have been seen), "inconclusive" (neither, and it would not) or
            "error" (nothing could be tested: see `reason`).
        epsilon_lower: the mechanism is not (ε, δ)-DP on this pair for any ε below this, at the confidence.
        delta: the δ that this bound is for: the claim's; 0 where it has none.
        confidence: of the whole audit: the verdict and the bounds are wrong with probability 1 − confidence at most.
        samples: draws a side that were made, on average (labels are fair coins).
        event: in words, which outputs are likelier on which dataset: the short rule, if it reaches 90 % of the bound;
            else which entries decide the learned score that was tested.
        claimed_epsilon: the ε of the claim; infinite where the claim is of another kind.
        would_detect: the smallest true number, in the currency of the claim, on an event as frequent as the tested one,
            that would have been reported with probability 0.95; infinite where none could have been.
        seed: the seed of all draws; the same seed gives the same result.
        seconds: how long it took.
        claim: what is claimed, e.g. `GDP(0.5)`.
        lower: the lower bound in the claim's own currency; `lower_in` has the others.
        findings: what was noticed besides.
        pair: the number of the pair that was tested.
        draws: how many draws, of both sides, the burn-in and the test had.
        selected: how many of the test draws were selected, without looking at their labels.
        right: of how many of these the label was guessed right.
        p_value: of the claim: it is refuted where this is at most the error level of the test.
        mode: "fixed" or "anytime".
        relation: how the datasets of a pair were said to differ.
        reason: why nothing could be tested.
        witness: the input that shows it, where a search found one.
        state: what `resume` goes on from, of an anytime audit.
        bounds: what `lower_in` reads.
        transcript: what the recorded noise of a run is worth, where all of it was followed: `transcript.epsilon(δ)`,
            `.epsilon_lower(δ)`, `.mu`, `.rho`, and `.spending`, line by line (`audit.auditor.lints.transcript`).
        rule: the best event of at most three conditions that the burn-in knew, with its counts and its own bound.
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

    verdict: Verdict
    epsilon_lower: float
    delta: float
    confidence: float
    samples: int
    event: str
    claimed_epsilon: float
    would_detect: float
    seed: int
    seconds: float
    claim: Claim = field(default_factory=lambda: Epsilon(0.0))
    lower: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    pair: int = 0
    draws: dict[str, int] = field(default_factory=dict)
    selected: int = 0
    right: int = 0
    p_value: float = 1.0
    mode: str = "fixed"
    relation: str = "replace-one"
    reason: str = ""
    witness: Any = field(default=None, repr=False)
    state: Continuation | None = field(default=None, repr=False)
    bounds: Bounds | None = field(default=None, repr=False)
    transcript: Any = field(default=None, repr=False)
    rule: ShortRule | None = None
    with_fresh_seeds: AuditResult | None = field(default=None, repr=False)

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted at the stated confidence."""
        return self.verdict == "violated"

    def passes(self, strict: bool = True) -> bool:
        """Whether `assert_dp` lets it pass: "consistent", and unless `strict` "suspect" and "inconclusive", too."""
        return self.verdict in (("consistent",) if strict else ("consistent", "inconclusive", "suspect"))

    def lower_in(self, name: str, **parameters: float) -> float:
        """The lower bound in another currency: `lower_in("mu")`, `("rho")`, `("epsilon", delta=1e-5)`, `("rdp",
        alpha=8)`. All of them hold together at the confidence; the tested event was chosen for the claim's own.
        """
        asked = currency(name, **parameters)
        if self.bounds is None:
            raise ValueError("no bound in another currency: nothing was tested, or bets were made on the claim's own")
        return self.bounds.lower(asked)

    def _repr_html_(self) -> str:
        """In a notebook: the paragraph, the findings as a list, and the pictures to unfold."""
        edge = colour({"violated": "red", "suspect": "red", "consistent": "green"}.get(self.verdict, "amber"))
        items = "".join(f"<li><b>{escape(f.kind)}</b>: {escape(f.message)}</li>" for f in self.findings)
        drawn = "" if self.bounds is None else "".join(str(figure.svg()) for figure in self._figures())
        shown = f'<details><summary>Pictures</summary><div style="background:#fff">{drawn}</div></details>'
        return (
            f'<div style="border-left:4px solid {edge};padding-left:.8em;max-width:60em">'
            f"<p>{escape(self._headline())}</p>{f'<ul>{items}</ul>' if items else ''}{shown if drawn else ''}</div>"
        )

    def _figures(self) -> list[Drawing]:
        if self.bounds is None:
            raise ValueError("there is nothing to draw: nothing was counted, or bets were made draw by draw")
        return self.bounds.figures(self.claim, self.lower)

    def plot(self) -> Any:
        """The trade-off curve and the profile, of the claim and of the lower bound, as a figure of matplotlib."""
        return draw(self._figures())

    def to_html(self) -> str:
        """One self-contained page: the paragraph, the findings, the pictures."""
        figures = [] if self.bounds is None else self._figures()
        title = f"{self.verdict.upper()}: {self.claim}"
        return page(title, self._headline(), [str(f) for f in self.findings], figures)

    def write_html(self, path: str | Path) -> None:
        """Write that page."""
        Path(path).write_text(self.to_html(), encoding="utf-8")

    def resume(self, samples: int, seconds: float | None = None) -> AuditResult:
        """Continue an anytime audit with so many more draws a side; the bound stays valid however often it is done."""
        if self.state is None:
            raise ValueError("only a result of audit_dp(..., anytime=True) can be continued")
        return self.state.more(samples, seconds)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; infinite numbers become null."""
        hidden = ("state", "witness", "with_fresh_seeds", "bounds")
        data = {k: v for k, v in self.__dict__.items() if k not in hidden}
        data |= {"claim": str(self.claim), "currency": self.claim.symbol, "claimed": self.claim.number}
        data["findings"] = [asdict(f) for f in self.findings]
        data["rule"] = None if self.rule is None else asdict(self.rule)
        if self.witness is not None:
            data["witness"] = self.witness
        data["transcript"] = None if self.transcript is None else self.transcript.to_dict()
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

    def _headline(self) -> str:
        if self.verdict == "error":
            return f"ERROR: {self.claim} could not be tested: {self.reason}"
        sure = f"{100 * self.confidence:g} % confidence"
        made = f"{self.samples} {'canaries' if self.mode == 'one-run' else 'draws a side'}"
        used = f"p = {self.p_value:.2g}, {made}, seed {self.seed}, {self.seconds:.2g} s"
        what = "run" if self.mode == "one-run" else "pair"
        bound = f"the privacy loss on this {what} is at least {self.claim.bound_as_text(self.lower)} at {sure}"
        if self.violated:
            return f"VIOLATED: not {self.claim}: {bound} ({used}).{self._caveat()} {self._event()}"
        said = {
            "consistent": f"CONSISTENT with {self.claim}: no violation found",
            "inconclusive": f"INCONCLUSIVE about {self.claim}: no violation found, but a large one might be missed",
            "suspect": f"SUSPECT: a finding below contradicts {self.claim}; the draws alone do not refute it",
        }[self.verdict]
        return f"{said}; {bound}; {self._reach()} ({used}).{self._caveat()} {self._event()}"

    def _event(self) -> str:
        """The event, and what a short rule gives by itself."""
        if self.rule is None:
            return f"Event: {self.event}."
        gives = f"{self.claim.bound_as_text(self.rule.lower)} by itself" if self.rule.lower > self.claim.least else ""
        counted = f"right for {self.rule.right} of {self.rule.selected} test draws" + (f", {gives}" if gives else "")
        if self.event == self.rule.text:
            return f"Event: {self.event} ({counted})."
        return f"Event: {self.event}; the best short rule: {self.rule.text} ({counted})."

    def _reach(self) -> str:
        """What would have been reported, and on which kind of event."""
        if not math.isfinite(self.would_detect) and self.mode == "one-run":
            return "right guesses alone would not refute it: that takes a smaller δ, less confidence or more canaries"
        if not math.isfinite(self.would_detect):
            return "too few draws to report anything above the claim"
        share = self.selected / max(self.draws.get("test", 0), 1)
        if self.mode == "one-run":
            return (
                f"{self.claim.bound_as_text(self.would_detect)}, if as many guesses as these are right as often as it"
                " allows, would have been reported with probability 0.95"
            )
        return (
            f"{self.claim.bound_as_text(self.would_detect)} on an event like the tested one (with {share:.2g} of all"
            " outputs) would have been reported with probability 0.95; on rarer events only more"
        )

    def _caveat(self) -> str:
        """How sure to be of a bound that is near the claim, and what another kind of neighbours would mean."""
        number, factor = self.claim.number, self.claim.two_steps
        near = self.lower <= BORDERLINE * number if self.violated else self.p_value <= DOUBTFUL
        text = " Borderline: repeat with another seed and more draws." if near else ""
        if self.violated and factor is not None and self.relation == "replace-one" and self.lower <= factor * number:
            text += (
                " If the claim is meant for add-remove neighbours, a replaced record is two steps away, which may cost"
                f" {self.claim.symbol} = {factor * number:g}: audit a pair that differs by one record more"
                " (neighbours=add-remove)."
            )
        return text


def _finite(value: Any) -> Any:
    """None for infinities and NaN, which JSON has no word for."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list | tuple) else value
