"""`python -m mutants`: the table of seeded bugs, where the vectors see each, and what those of privacy reveal."""

from __future__ import annotations

import sys

from mutants import first_caught, mutated_code
from mutants.catalogue import MUTANTS
from mutants.leaks import CHECKS


def main() -> int:
    """Print one line a mutant; 1 if one survives."""
    survivors = 0
    for mutant in MUTANTS:
        verdict = first_caught(mutant)
        found = verdict.divergence if verdict else None
        survivors += found is None
        seen = f"L{found.line} {found.quantity}" if found else "survives"
        leak = ""
        if mutant.leak:
            revealed, allowed = CHECKS[mutant.leak](mutated_code(mutant))
            leak = f"{mutant.leak}: {revealed:.3g} > {allowed:.3g}"
        print(f"{mutant.id:32} {mutant.variant:10} L{mutant.line:<3} {seen:26} {mutant.bug}  {leak}".rstrip())
    print(f"{len(MUTANTS)} mutants, {survivors} survive", file=sys.stderr)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
