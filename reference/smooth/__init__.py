"""Section 4: smooth non-convex losses. Regular spaces, sensitivities, noise scales, Algorithms 4 and 5, bounds.

What may not enter: formulas of another section, anything that draws.
"""

from reference.smooth.noisy_sfw import (
    failure_threshold,
    noisy_sfw,
    noisy_sfw_printed,
    noisy_sfw_tight,
    transcript_delta,
)
from reference.smooth.poly_sfw import poly_sfw, poly_sfw_printed, poly_sfw_tight

__all__ = [
    "failure_threshold",
    "noisy_sfw",
    "noisy_sfw_printed",
    "noisy_sfw_tight",
    "poly_sfw",
    "poly_sfw_printed",
    "poly_sfw_tight",
    "transcript_delta",
]
