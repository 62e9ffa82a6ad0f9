"""Are two datasets neighbours, and in which sense?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

RELATIONS = ("replace-one", "add-remove")


def same(a: Any, b: Any) -> bool:
    """Equality that also works for arrays, NaN and nested containers."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _same_arrays(a, b)
    if type(a) is not type(b) and not (isinstance(a, int | float) and isinstance(b, int | float)):
        return False
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and a != a:
        return bool(b != b)
    return bool(np.all(a == b))


def _same_arrays(a: Any, b: Any) -> bool:
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)) or a.shape != b.shape:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc"))


def records(dataset: Any) -> list[Any] | None:
    """The dataset as a list of records; None if it has no visible records.

    A list, tuple or array is its items; a tuple or dict of equally long columns, such as (X, y), is its rows.
    """
    if isinstance(dataset, Mapping):
        return _rows(list(dataset.values()))
    if isinstance(dataset, tuple) and dataset and all(isinstance(c, np.ndarray | list) for c in dataset):
        return _rows(list(dataset))
    if isinstance(dataset, list | tuple):
        return list(dataset)
    if isinstance(dataset, np.ndarray) and dataset.ndim > 0:
        return list(dataset)
    return None


def _rows(columns: list[Any]) -> list[Any] | None:
    lengths = {len(c) for c in columns if hasattr(c, "__len__")}
    without_order = any(isinstance(c, Mapping | set | frozenset) for c in columns)
    if without_order or len(lengths) != 1 or not all(hasattr(c, "__len__") for c in columns):
        return None
    return [tuple(c[i] for c in columns) for i in range(lengths.pop())]


def describe(dataset: Any, neighbour: Any) -> tuple[str, str]:
    """The relation ("equal", "replace-one", "add-remove", "other", "unknown") and a phrase that says it."""
    if same(dataset, neighbour):
        return "equal", "the two datasets are equal"
    a, b = records(dataset), records(neighbour)
    if a is None or b is None:
        return "unknown", "the datasets have no visible records"
    if len(a) == len(b):
        differing = sum(not same(x, y) for x, y in zip(a, b, strict=True))
        if differing == 1:
            return "replace-one", "one record is replaced"
        return "other", f"{differing} of {len(a)} records differ"
    if abs(len(a) - len(b)) == 1:
        short, long = sorted((a, b), key=len)
        cut = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if not same(x, y)), len(short))
        if all(map(same, short[cut:], long[cut + 1 :])):
            return "add-remove", "one record is added or removed"
    return "other", f"they have {len(a)} and {len(b)} records and differ in more than one"


def objection(dataset: Any, neighbour: Any, wanted: str) -> str | None:
    """What a reader should know about this pair before trusting a verdict on it; None if it is as wanted."""
    relation, phrase = describe(dataset, neighbour)
    if relation == "equal":
        return f"{phrase}: nothing can differ"
    if wanted == "any" or relation in ("unknown", wanted):
        return None
    under = f": they are neighbours under {relation}" if relation in RELATIONS else ""
    return f"{phrase}{under}, not under {wanted}; the bound is for this pair all the same"
