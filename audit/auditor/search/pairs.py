"""Neighbours that bugs show on: a generator for each kind of change, for datasets of 1, 2, 4 or 20 records.

Records are rows of X with norm at most `radius` and, for (X, y), labels of ±1. A `NamedPair` says which kind it is
and under which relation it is a pair of neighbours. The kinds, and the bugs they bring out:

=============  =================================================================================================
sign-flip      one record replaced by its negative: the replace-one factor 2
label-flip     one label changed: labels that are used without clipping or noise
zero           one record replaced by zero: curvature and normalisation taken from the data
extreme        one record far outside the radius: clipping that is computed and not used
single-class   one side has one class only: errors, empty means, one-sided exceptions
odd-one-out    all records alike but one: mini-batches, whose random choice hides a change among varied records
tie            the change makes two scores equal: selections, `argmax`
add, remove    one record more or less: division by the number of records, lengths
=============  =================================================================================================

>>> from dpso import pairs
>>> sorted(pairs.KINDS)[:3]
['add', 'extreme', 'label-flip']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray
Data = tuple[Array, Array | None]

SIZES = (1, 2, 4, 20)
"""Numbers of records, unless said: chosen; most bugs show on few records, those of mini-batches on more."""
EXTREME = 100.0
"""How far outside the radius an extreme record lies: chosen; anything much larger than 1 shows a missing clip."""


@dataclass(frozen=True)
class NamedPair:
    """Two neighbours and what distinguishes them.

    Attributes:
        name: what the pair is called, e.g. in the columns of a grid.
        dataset: one dataset.
        neighbour: the same with one record changed.
        relation: under which they are neighbours, "replace-one" or "add-remove".

    >>> NamedPair("one more", [0.0], [0.0, 1.0], "add-remove").relation
    'add-remove'
    """

    name: str
    dataset: Any
    neighbour: Any
    relation: str = "replace-one"


def _base(n: int, dim: int, radius: float, labels: bool, rng: np.random.Generator) -> Data:
    """Records of norm `radius` and alternating labels."""
    rows = rng.normal(size=(n, dim))
    rows *= radius / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return rows, (np.where(np.arange(n) % 2 == 0, 1.0, -1.0) if labels else None)


def _with_row(data: Data, row: Array) -> Data:
    rows = data[0].copy()
    rows[0] = row
    return rows, data[1]


def _sign_flip(data: Data, radius: float) -> tuple[Data, Data] | None:
    first = np.zeros(data[0].shape[1])
    first[0] = radius
    return _with_row(data, first), _with_row(data, -first)


def _label_flip(data: Data, radius: float) -> tuple[Data, Data] | None:
    if data[1] is None:
        return None
    labels = data[1].copy()
    labels[0] = -labels[0]
    return data, (data[0], labels)


def _zero(data: Data, radius: float) -> tuple[Data, Data] | None:
    return data, _with_row(data, np.zeros(data[0].shape[1]))


def _extreme(data: Data, radius: float) -> tuple[Data, Data] | None:
    return data, _with_row(data, EXTREME * data[0][0])


def _single_class(data: Data, radius: float) -> tuple[Data, Data] | None:
    if data[1] is None:
        return None
    labels = np.ones(len(data[1]))
    other = labels.copy()
    other[0] = -1.0
    return (data[0], labels), (data[0], other)


def _odd_one_out(data: Data, radius: float) -> tuple[Data, Data] | None:
    rows = np.zeros_like(data[0])
    rows[:, 0] = radius
    other = rows.copy()
    if data[1] is None:
        other[0] = -other[0]
        return (rows, None), (other, None)
    labels = np.ones(len(rows))
    flipped = labels.copy()
    flipped[0] = -1.0
    return (rows, labels), (rows, flipped)


def _tie(data: Data, radius: float) -> tuple[Data, Data] | None:
    if data[0].shape[1] < 2:
        return None
    rows = np.zeros_like(data[0])
    rows[:, 0] = np.where(np.arange(len(rows)) % 2 == 0, radius, 0.0)
    rows[:, 1] = np.where(np.arange(len(rows)) % 2 == 0, 0.0, radius)
    other = rows.copy()
    other[0] = other[0][::-1] if data[0].shape[1] == 2 else np.concatenate([other[0][1::-1], other[0][2:]])
    return (rows, data[1]), (other, data[1])


def _remove(data: Data, radius: float) -> tuple[Data, Data] | None:
    if len(data[0]) < 2:
        return None
    return data, (data[0][1:], None if data[1] is None else data[1][1:])


def _add(data: Data, radius: float) -> tuple[Data, Data] | None:
    rows = np.concatenate([data[0], data[0][:1]])
    return data, (rows, None if data[1] is None else np.concatenate([data[1], -data[1][:1]]))


KINDS: dict[str, tuple[str, Callable[[Data, float], tuple[Data, Data] | None]]] = {
    "sign-flip": ("replace-one", _sign_flip),
    "label-flip": ("replace-one", _label_flip),
    "zero": ("replace-one", _zero),
    "extreme": ("replace-one", _extreme),
    "single-class": ("replace-one", _single_class),
    "odd-one-out": ("replace-one", _odd_one_out),
    "tie": ("replace-one", _tie),
    "add": ("add-remove", _add),
    "remove": ("add-remove", _remove),
}


def neighbour_pairs(
    kinds: Iterable[str] | None = None,
    sizes: Sequence[int] = SIZES,
    *,
    dim: int = 2,
    radius: float = 1.0,
    labels: bool = True,
    neighbours: str = "replace-one",
    seed: int = 0,
) -> list[NamedPair]:
    """Pairs of neighbours of each kind and size; kinds that make no sense for a size are left out.

    Args:
        kinds: names of kinds (see the table of `dpso.pairs`); without them, all kinds of the relation.
        sizes: numbers of records.
        dim: coordinates of a record.
        radius: the largest norm of a record (but for the kind "extreme").
        labels: whether a dataset is (X, y) with labels of ±1, or X alone.
        neighbours: the relation, "replace-one" or "add-remove".
        seed: makes the records repeatable.

    Returns:
        A list of `NamedPair`.

    Raises:
        ValueError: a kind is unknown (the message lists them), or a size is none.

    >>> [pair.name for pair in neighbour_pairs(["sign-flip", "zero"], sizes=[1, 4])]
    ['sign-flip, n=1', 'zero, n=1', 'sign-flip, n=4', 'zero, n=4']
    """
    wanted = [k for k, (relation, _) in KINDS.items() if relation == neighbours] if kinds is None else list(kinds)
    unknown = [k for k in wanted if k not in KINDS]
    if unknown:
        raise ValueError(f"kinds = {unknown[0]!r} is unknown: choose from {', '.join(KINDS)}")
    if not sizes or min(sizes) < 1 or dim < 1:
        raise ValueError(f"sizes = {tuple(sizes)} and dim = {dim} must be at least 1")
    out = []
    for n in sizes:
        data = _base(n, dim, radius, labels, np.random.default_rng([seed, n]))
        for kind in wanted:
            relation, change = KINDS[kind]
            made = change(data, radius)
            if made is not None:
                out.append(NamedPair(f"{kind}, n={n}", _plain(made[0]), _plain(made[1]), relation))
    return out


def _plain(data: Data) -> Any:
    return data[0] if data[1] is None else data
