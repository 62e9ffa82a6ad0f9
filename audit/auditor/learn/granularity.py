"""How fine the floats of an output are: the table on which the low-bit attack works."""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.auditor.learn.features import lowest_bit
from audit.auditor.terms.outputs import EXACT_BITS, Table, tabulate


def granularity_table(raw: Any) -> Table | None:
    """For each output the exponent of its lowest set bit (the least over its coordinates); None if there are no such
    floats.
    """
    if isinstance(raw, np.ndarray):
        if raw.dtype.kind != "f":
            return None
        exact = raw.reshape(len(raw), -1)
    else:
        table = tabulate(raw, EXACT_BITS)
        exact = table.numbers
    known = np.isfinite(exact)
    if not known.any():
        return None
    level = np.where(known, lowest_bit(np.where(known, exact, 0.0)), 1100.0).min(axis=1)
    if (level > -30).all():
        return None
    return tabulate(level)
