"""What the cases of Algorithms 4 and 5 share."""

from __future__ import annotations

from typing import Any

from reference.vectors.cases import records

LABELS = ("-1", "-0.5", "0.25", "1")
TANH = {"family": "squared-tanh"}
COMMON: dict[str, Any] = {"loss": TANH, "L0": "2.5", "L1": "2.5", "start": None, "delta": "0.0009765625", "D": None}


def data(key: str, n: int, d: int = 2, labels: tuple[str, ...] = LABELS) -> list[dict[str, Any]]:
    """n records of dimension d."""
    return records(f"{key}|{n}|{d}", n, d, labels, 40)
