"""The entries of an output by name: `output['mean'][0]` says more to its author than entry 3.

`names(output)` goes through an output as `audit.auditor.terms.outputs.flatten` does, and gives one name a leaf.
"""

from __future__ import annotations

import dataclasses
import numbers as abstract
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from audit.auditor.terms.outputs import Raised, _contents, _labels, as_array, flatten

MOST = 4096
"""Longer outputs are not named."""


def names(output: Any) -> list[str]:
    """One name a leaf of the output, in the order of the leaves; "entry 3" where names cannot be found."""
    leaves = flatten(output)[0]
    numbered = [f"entry {i}" for i in range(len(leaves))]
    if len(leaves) > MOST:
        return numbered
    found = _names(output, "output")
    return found if len(found) == len(leaves) else numbered


def _names(value: Any, path: str) -> list[str]:
    if value is None or isinstance(value, abstract.Real | np.bool_ | str | bytes | Raised):
        return [path]
    if isinstance(value, tuple | list):
        return _each((f"{path}[{i}]", item) for i, item in enumerate(value))
    if isinstance(value, abstract.Complex):
        return [f"{path}.real", f"{path}.imag"]
    array = as_array(value)
    if array is not None:
        return [f"the labels of {path}"] * bool(_labels(value)) + _entries(array, path)
    if isinstance(value, Mapping):
        inside = _each((f"{path}[{key!r}]", value[key]) for key in sorted(value, key=repr))
        return [f"the keys of {path}", *inside]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _each((f"{path}.{f.name}", getattr(value, f.name)) for f in dataclasses.fields(value))
    if isinstance(value, Iterable):
        items = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return _each((f"{path}[{i}]", item) for i, item in enumerate(items))
    parts = _contents(value)
    inside = _each((f"{path}.{name}", parts[name]) for name in sorted(parts, key=repr))
    return [f"the attributes of {path}", *inside] if parts else [path]


def _each(parts: Iterable[tuple[str, Any]]) -> list[str]:
    return [name for path, value in parts for name in _names(value, path)]


def _entries(array: np.ndarray, path: str) -> list[str]:
    if array.ndim == 0:
        return [path]
    places = (f"{path}[{', '.join(map(str, index))}]" for index in np.ndindex(array.shape))
    if array.dtype.kind in "fiu":
        return list(places)
    return _each(zip(places, array.ravel().tolist(), strict=True))


def listed(chosen: list[str], most: int = 4) -> str:
    """The first of these names, and a sign that there are more."""
    return ", ".join(chosen[:most]) + (f" and {len(chosen) - most} more" if len(chosen) > most else "")
