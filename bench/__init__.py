"""`dpso bench`: what the README's tables are made from. One module a benchmark: HELP, run(progress, **options), render.

Figures are ratios measured in one run where that is possible, because machines differ and are noisy.

What may not enter: a number that is not measured.
"""

NAMES = (
    "accounting",
    "auditor",
    "claims",
    "constants",
    "fast",
    "foreign",
    "guarantees",
    "numbers",
    "power",
    "resilience",
)
"""The benchmarks; the other modules are what they share."""
