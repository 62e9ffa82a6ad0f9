"""The six algorithms again, in numpy, vectorised over trials: the engine of the statistical audits.

Every function returns one row a trial and reads its noise from a `BatchTape`: the same draws, under the same names,
that the reference reads. On the same draws it agrees with `reference` (tests hold it to 1e-10). Control flow is written
anew here; closed formulas (a loss's slope, a noise scale) are taken from `reference` and evaluated on arrays.

**Guarantee.** The noise is that of the reference in binary64, reserves for rounding included: those hold for sums in
any order, so for numpy's too. What the reference refuses at the door is refused here by the same functions.

What may not enter: constants and formulas of its own.
"""

from audit.engine.arrays import Arrays
from audit.engine.convex import noisy_frank_wolfe, oracle, phased_sgd
from audit.engine.sets import linear_minimiser
from audit.engine.smooth import noisy_sfw, noisy_sfw_tight, poly_sfw, poly_sfw_tight
from audit.engine.tapes import BatchTape, LiveBatch, StackedTapes
from audit.engine.weakly_convex import proximally_guided

__all__ = [
    "Arrays",
    "BatchTape",
    "LiveBatch",
    "StackedTapes",
    "linear_minimiser",
    "noisy_frank_wolfe",
    "noisy_sfw",
    "noisy_sfw_tight",
    "oracle",
    "phased_sgd",
    "poly_sfw",
    "poly_sfw_tight",
    "proximally_guided",
]
