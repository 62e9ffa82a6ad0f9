"""One audit under way: what every step of it needs to know, and what it has noticed so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from audit.auditor.targets.sampling import BlockName, DrawnBlock, Pair, Target, draw_block
from audit.auditor.terms.claim import Claim
from audit.auditor.terms.options import Code
from audit.auditor.terms.outputs import EXACT_BITS, VALUE_BITS
from audit.auditor.terms.result import Finding

BIT_SHARE = 0.02
"""The part of the error level that the test of the floats' lowest bits has, the rest being the main test's: chosen for
power; low bits that leak leak much, and need little.
"""


def _silent(_text: str) -> None:
    """No progress is shown."""


@dataclass
class Run:
    """One audit: the mechanism as a target, the claim, what is left of the budget, and the findings."""

    target: Target
    claim: Claim
    code: Code = field(default_factory=Code)
    seed: int = 0
    draws: int = 0
    """Draws that are left, of both sides."""
    deadline: float | None = None
    """When the time is up, on the monotonic clock."""
    say: Callable[[str], None] = _silent
    pairs: Sequence[Pair] = ()
    findings: list[Finding] = field(default_factory=list)
    anytime: bool = False
    """Whether bets are made on all draws, rather than a test after a burn-in."""
    started: float = field(default_factory=time.monotonic)
    width: int = 1
    """The largest number of leaves of an output seen so far."""

    @property
    def bits(self) -> int:
        """Significant bits to which floats are read."""
        return VALUE_BITS if self.code.floats == "values" else EXACT_BITS

    @property
    def alpha(self) -> float:
        """The error level of the main test; where the lowest bits are tested apart, their part is taken off."""
        apart = self.bits < EXACT_BITS and not self.anytime
        return self.claim.alpha * ((1 - BIT_SHARE) if apart else 1.0)

    @property
    def seconds_left(self) -> float | None:
        """Until the deadline; None without one."""
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 0.0)

    @property
    def block_size(self) -> int:
        """Draws a block: large where a batch is one call, small where a block is many calls."""
        return max(64, min(16384, 4_000_000 // self.width)) if self.target.batched else 1024

    def has(self, kind: str) -> bool:
        """Whether a finding of this kind is known."""
        return any(f.kind == kind for f in self.findings)

    def note(self, findings: Iterable[Finding]) -> None:
        """Keep the findings whose kind was not known before."""
        self.findings += [f for f in findings if not self.has(f.kind)]

    def blocks(self, pair: Pair, stream: int, draws: int) -> list[DrawnBlock]:
        """So many draws of a pair, block by block."""
        out: list[DrawnBlock] = []
        done = 0
        while done < draws:
            size = min(self.block_size, draws - done)
            out.append(
                draw_block(self.target, pair, BlockName(self.seed, stream, pair.index, len(out)), size, self.bits)
            )
            done += size
        return out
