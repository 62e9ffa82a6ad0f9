"""The catalogued bugs as clients of the test vectors (`audit.crosscheck.bugs` has them), and what they reveal.

What may not enter: a bug of privacy that no exact computation sees.
"""

from __future__ import annotations

from audit.crosscheck.bugs import Slip, answer, clone, mutated_code, mutated_source
from audit.crosscheck.clients import PythonClient
from audit.crosscheck.compare import CaseVerdict, crosscheck


def client(mutant: Slip) -> PythonClient:
    """The mutant in binary64, with its trace."""
    code = mutated_code(mutant)
    return PythonClient(lambda case: answer(code, case), mutant.id)


def first_caught(mutant: Slip) -> CaseVerdict | None:
    """The first case that the mutant fails; None if it survives."""
    verdicts = crosscheck(client(mutant), mutant.algorithm, mutant.variant)
    return next((verdict for verdict in verdicts if verdict.status != "pass"), None)


def at_its_line(mutant: Slip, verdict: CaseVerdict | None) -> bool:
    """Whether the first failing case names the line where the bug is."""
    found = verdict.divergence if verdict is not None else None
    return found is not None and found.line in (mutant.line, *mutant.also)


__all__ = ["Slip", "at_its_line", "client", "clone", "first_caught", "mutated_code", "mutated_source"]
