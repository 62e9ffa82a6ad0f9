"""From statements to code, checks and verdicts, and back.

Nothing is kept by hand: `links` collects what the code, the tests and the checks say about themselves,
`coverage` holds it against the inventory (`reference/paper/paper.toml`), `show` prints one entry, `proofs_map` writes
the map, `paper_copy` holds the inventory against a reader's copy of the paper.

What may not enter: a link or a number that is kept by hand.
"""

from audit.trace.coverage import Traceability, trace
from audit.trace.links import CodeLink, PytestLink

__all__ = ["CodeLink", "PytestLink", "Traceability", "trace"]
