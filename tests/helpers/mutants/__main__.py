"""`python -m mutants`: the table of seeded bugs, where the vectors see each, and what those of privacy reveal.

`python -m mutants --figures`: how many of the catalogue, and of the slips by hand, are found, and where.
"""

from __future__ import annotations

import sys

from audit.crosscheck.bugs.catalogue import MUTANTS
from mutants import first_caught, mutated_code
from mutants.figures import by_hand, catalogued, table
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


def figures() -> int:
    """Print what is not found or not placed, then the counts; 1 if a slip is found neither by trace nor named."""
    missed = 0
    for name, sort in (("by hand", by_hand()), ("catalogue", catalogued())):
        found = list(sort)
        for f in found:
            if not (f.traced and f.line and (f.output or f.said)):
                told = {"trace": f.traced, "line": f.line, "output": f.output, "unchecked": f.said}
                print(f"  {f.name}: " + ", ".join(f"{what} {'yes' if yes else 'no'}" for what, yes in told.items()))
        missed += sum(not f.traced for f in found)
        print(table(name, found), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(figures() if "--figures" in sys.argv[1:] else main())
