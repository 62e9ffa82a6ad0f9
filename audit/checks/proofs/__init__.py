"""Steps of proofs that a machine replays for all parameters, and the ledger of what each statement rests on.

| module | what it has |
|---|---|
| `terms` | real terms and formulas: exact evaluation, SMT-LIB text, polynomial identities, a symbolic number system |
| `solvers`, `solver_process` | z3, and cvc5 as a second opinion, on the same text, each in a process of its own |
| `cover` | boxes of balls that cover a domain, by branch and bound |
| `steps` | a step of a proof, its methods, its mutant, and what replaying it gives |
| `ledger` | the steps of each statement, the recorded outcome, and the words for a verdict |
| `privacy`, `convex`, `smooth`, `weakly_convex` | the steps, in the order of the paper |
| `rounding` | the steps about computed numbers: of our tighter variants, so verdicts on the text do not count them |

Steps are declared without a solver: the record shows where none is installed.
"""
