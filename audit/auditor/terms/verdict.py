"""The words of an audit, and when each is said.

- *violated*: the draws refute the claim at the confidence.
- *suspect*: they do not, but a finding contradicts the claim: data that reach the output without noise, noise that was
  recorded on too small a scale, Gaussian noise where δ = 0 is claimed.
- *inconclusive*: nothing speaks against the claim, but not much would have: a number twice the claim, on an event as
  frequent as the tested one, would have been missed.
- *consistent*: nothing speaks against it, and it would have.
- *error*: nothing could be tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from audit.auditor.terms.claim import Claim
    from audit.auditor.terms.result import Finding

Verdict = Literal["violated", "suspect", "consistent", "inconclusive", "error"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

EXIT_CODES = {"violated": 1, "suspect": 1, "consistent": 0, "inconclusive": 3, "error": 2}
"""What a command ends with."""

CONTRADICTIONS = frozenset(
    {
        "sensitivity",
        "composition",
        "transcript",
        "output-law",
        "selection",
        "shared-noise",
        "unnoised-output",
        "unnoised-path",
        "shape-depends-on-data",
        "one-sided-exceptions",
    }
)
"""Findings that cannot be if the claim holds, each at its own level of 1e-6 (`audit.auditor.lints.rules`)."""


def contradicts(finding: Finding) -> bool:
    """Whether the claim cannot hold if this finding is right."""
    return finding.kind in CONTRADICTIONS or finding.details.get("contradicts", False)


def verdict_of(claim: Claim, refuted: bool, findings: Sequence[Finding], would_detect: float) -> Verdict:
    """The word for what was seen."""
    if refuted:
        return "violated"
    if any(contradicts(f) for f in findings):
        return "suspect"
    return "consistent" if would_detect <= claim.far else "inconclusive"
