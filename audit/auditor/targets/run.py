"""One audit under way: what every step of it needs to know, and what it has noticed so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.auditor.targets.sampling import (
    BlockName,
    CallableTarget,
    DrawnBlock,
    Pair,
    Target,
    draw_block,
    sides_of_block,
    sides_together,
)
from audit.auditor.terms.claim import Claim, Epsilon
from audit.auditor.terms.options import CONFIDENCE, Code
from audit.auditor.terms.outputs import EXACT_BITS, VALUE_BITS, tabulate
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
    confidence: float = CONFIDENCE
    seed: int = 0
    draws: int = 0
    """Draws that are left, of both sides."""
    deadline: float | None = None
    """When the time is up, on the monotonic clock."""
    say: Callable[[str], None] = _silent
    pairs: Sequence[Pair] = ()
    findings: list[Finding] = field(default_factory=list)
    relation: str = "replace-one"
    """How the datasets of a pair are said to differ."""
    anytime: bool = False
    """Whether bets are made on all draws, rather than a test after a burn-in."""
    started: float = field(default_factory=time.monotonic)
    transcript: Any = None
    """What the recorded noise is worth (`audit.auditor.lints.transcript`), where all of it was followed."""
    width: int = 1
    """The largest number of leaves of an output seen so far."""

    @property
    def bits(self) -> int:
        """Significant bits to which floats are read."""
        return VALUE_BITS if self.code.floats == "values" else EXACT_BITS

    implied: Epsilon | None = None
    """What a claim that is no ε implies as one, for the lints."""

    @property
    def as_epsilon(self) -> Epsilon:
        """The claim as an ε and a δ, for the lints: itself, or something that it implies."""
        if isinstance(self.claim, Epsilon):
            return self.claim
        assert self.implied is not None
        return self.implied

    @property
    def level(self) -> float:
        """The error level of the whole audit."""
        return 1 - self.confidence

    @property
    def alpha(self) -> float:
        """The error level of the main test; where the lowest bits are tested apart, their part is taken off."""
        apart = self.bits < EXACT_BITS and not self.anytime
        return self.level * ((1 - BIT_SHARE) if apart else 1.0)

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

    def blocks(self, pair: Pair, stream: int, draws: int, start: int = 0) -> Iterator[DrawnBlock]:
        """So many draws of a pair, block by block, from the block with this number on."""
        for index, done in enumerate(range(0, draws, self.block_size), start):
            size = min(self.block_size, draws - done)
            yield draw_block(self.target, pair, BlockName(self.seed, stream, pair.index, index), size, self.bits)

    def unordered_blocks(self, pair: Pair, stream: int, draws: int, start: int, size: int) -> Iterator[DrawnBlock]:
        """The same in blocks of another size, of scalars whose order means nothing: the dataset's draws come first."""
        for index, done in enumerate(range(0, draws, size), start):
            name, count = BlockName(self.seed, stream, pair.index, index), min(size, draws - done)
            target = self.target if isinstance(self.target, CallableTarget) and self.target.plain_batches else None
            sides = None if target is None else sides_of_block(target, pair, name, count)
            if sides is None:
                yield draw_block(self.target, pair, name, count, self.bits)
                continue
            raw, labels = sides_together(sides)
            yield DrawnBlock(labels, tabulate(raw, self.bits))
