"""Are two datasets neighbours, and in which sense?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from audit.auditor.terms.leaves import as_array, has_own

RELATIONS = ("replace-one", "add-remove")


@dataclass(frozen=True)
class Objection:
    """What speaks against a pair: its kind, which decisions read, and the sentence for people."""

    kind: Literal["equal", "not-neighbours"]
    text: str


def same(a: Any, b: Any, met: frozenset[tuple[int, int]] = frozenset()) -> bool:
    """Equality that also works for arrays, tensors, data frames, NaN, nested containers and objects without an
    equality of their own. `met` are the pairs that are being compared already, further out.
    """
    if a is b or (id(a), id(b)) in met:
        return True
    if type(a) is not type(b) and not (isinstance(a, int | float) and isinstance(b, int | float)):
        return False
    arrays = [array for array in (as_array(a), as_array(b)) if array is not None]
    if len(arrays) == 2:
        return _same_arrays(*arrays) and all(_same_axis(a, b, n) for n in ("columns", "index"))
    inside = met | {(id(a), id(b))}
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(same(a[k], b[k], inside) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y, inside) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and a != a:
        return bool(b != b)
    if hasattr(a, "__dict__") and not has_own(a, "__eq__"):
        return same(vars(a), vars(b), inside)
    return bool(np.all(a == b))


def _same_arrays(a: Any, b: Any) -> bool:
    if a.shape != b.shape:
        return False
    if a.dtype == object or b.dtype == object:
        return all(map(same, a.ravel().tolist(), b.ravel().tolist()))
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc"))


def _same_axis(a: Any, b: Any, name: str) -> bool:
    """Whether two data frames have the same labels along an axis; other arrays have none."""
    x, y = getattr(a, name, None), getattr(b, name, None)
    return not (isinstance(x, Iterable) and isinstance(y, Iterable)) or list(x) == list(y)


def records(dataset: Any) -> list[Any] | None:
    """The dataset as a list of records; None if it has no visible records.

    A list, tuple, array, tensor or data frame is its items or rows; a tuple or dict of equally long columns, such as
    (X, y), is its rows.
    """
    if isinstance(dataset, Mapping):
        return _rows(list(dataset.values()))
    columns = isinstance(dataset, tuple) and dataset and all(isinstance(c, list) or _is_array(c) for c in dataset)
    if isinstance(dataset, list | tuple):
        return _rows(list(dataset)) if columns else list(dataset)
    array = as_array(dataset)
    return list(array) if array is not None and array.ndim > 0 else None


def _is_array(value: Any) -> bool:
    return as_array(value) is not None


def _rows(columns: list[Any]) -> list[Any] | None:
    lengths = {len(c) for c in columns if hasattr(c, "__len__")}
    without_order = any(isinstance(c, Mapping | set | frozenset) for c in columns)
    if without_order or len(lengths) != 1 or not all(hasattr(c, "__len__") for c in columns):
        return None
    known = [c if array is None else array for c, array in ((c, as_array(c)) for c in columns)]
    return [tuple(c[i] for c in known) for i in range(lengths.pop())]


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


def objection(dataset: Any, neighbour: Any, wanted: str) -> Objection | None:
    """What a reader should know about this pair before trusting a verdict on it; None if it is as wanted.

    A missing dataset is refused: a mechanism that fails on None would else look as if it leaked.
    """
    for name, given in (("dataset", dataset), ("neighbour", neighbour)):
        if given is None:
            raise ValueError(f"{name} = None: give two datasets, or pairs=[(dataset, neighbour), …]")
    relation, phrase = describe(dataset, neighbour)
    if relation == "equal":
        return Objection("equal", f"{phrase}: nothing can differ")
    if wanted == "any" or relation in ("unknown", wanted):
        return None
    under = f": they are neighbours under {relation}" if relation in RELATIONS else ""
    text = f"{phrase}{under}, not under {wanted}; the bound is for this pair all the same"
    return Objection("not-neighbours", text)
