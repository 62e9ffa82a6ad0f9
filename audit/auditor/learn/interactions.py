"""Columns that a sum of functions of single leaves cannot replace: products of leaves, leaves within a category, bits.

A score that adds up functions of one leaf each is blind to a leak that shows only when leaves are read together: two
coordinates with equal marginals whose product leaks, a correlation, a category that decides what a number means. And
one bit of a long integer is no smooth function of it. Noise of another size moves every coordinate a little to both
sides; how far all of them lie from the middle tells it with far fewer draws. There are many such combinations, and
almost all tell nothing; so each is first held against what the regression on single leaves does not explain, and those
that stand out by more than the largest of so many would by chance become columns of their own. The test's validity does
not rest on this module.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.auditor.learn.normal import NormalScores, ScoreTables
from audit.auditor.terms.outputs import Table

Array = np.ndarray

DOUBT = 0.05
"""The chance that a screening of combinations that tell nothing keeps any: chosen, so that few are kept in vain."""
MOST = 12
"""Combinations that are kept: chosen for speed; trees do the rest."""
SCREEN_ROWS = 60_000
"""Rows that a screening looks at: chosen for speed."""
PAIR_LEAVES, TRIPLE_LEAVES = 160, 24
"""Leaves (and bits) whose pairs and triples are screened: chosen for speed; the first ones where there are more."""
LEVELS = 24
"""Levels of a category within which numbers are looked at: the most frequent ones."""
LEAST_IN_LEVEL = 60
"""Draws that a level needs for that."""
FEW_VALUES = 24
"""A numeric leaf with at most this many values is a category, too."""
LONG_INTEGER = 256
"""An integer leaf with a range beyond this is read as bits, too."""
MOST_BITS = 512
"""Bits of an output that are screened one by one, at most: chosen for speed."""
BITS = 53


@dataclass(frozen=True)
class Source:
    """A column that may take part in a product: a leaf, or one bit of an integer leaf."""

    leaf: int
    bit: int | None = None

    def read(self, numbers: Array) -> Array:
        """The numbers; NaN where there is none."""
        x = numbers[:, self.leaf]
        if self.bit is None:
            return x
        return _bit(x, self.bit)


def _bit(x: Array, bit: int) -> Array:
    known = np.isfinite(x) & (np.abs(x) < 2.0**62)
    whole = np.where(known, x, 0.0).astype(np.int64)
    return np.where(known, ((whole >> bit) & 1).astype(float), np.nan)


@dataclass(frozen=True)
class Product:
    """The product of two or three columns: of their signs about the median, or of their normal scores."""

    factors: tuple[Source, ...]
    maps: tuple[NormalScores, ...]
    signs: bool

    def column(self, table: Table) -> Array:
        """The product of each row."""
        found = np.ones(len(table))
        for factor, scores in zip(self.factors, self.maps, strict=True):
            z = scores(factor.read(table.numbers))
            found *= np.sign(z) if self.signs else z
        return found


@dataclass(frozen=True)
class Within:
    """A leaf where another one has a given value (a token or a number); NaN elsewhere."""

    leaf: int
    category: int
    level: float
    token: bool

    def column(self, table: Table) -> Array:
        """The leaf's numbers in the category."""
        if self.token:
            inside = table.token_matrix()[:, self.category] == int(self.level)
        else:
            inside = table.numbers[:, self.category] == self.level
        return np.where(inside, table.numbers[:, self.leaf], np.nan)


@dataclass(frozen=True)
class Bit:
    """One bit of an integer leaf."""

    source: Source

    def column(self, table: Table) -> Array:
        """0 or 1."""
        return self.source.read(table.numbers)


@dataclass(frozen=True)
class Length:
    """How far the numbers of an output lie from the middle, all leaves together: the sum of |normal score|^power."""

    leaves: tuple[int, ...]
    maps: tuple[NormalScores, ...]
    power: int

    def column(self, table: Table) -> Array:
        """The length of each row."""
        scores = [m(table.numbers[:, leaf]) for leaf, m in zip(self.leaves, self.maps, strict=True)]
        return np.asarray(sum(np.abs(z) ** self.power for z in scores), dtype=float)


Combination = Product | Within | Bit | Length


@dataclass(frozen=True)
class Residuals:
    """What a regression leaves of the labels: label minus its chance, and the variance of that."""

    values: Array
    variances: Array

    @staticmethod
    def of(labels: Array, chances: Array) -> Residuals:
        """From the labels and the chance of label 1 that each had."""
        return Residuals(labels - chances, chances * (1 - chances))

    def take(self, rows: slice) -> Residuals:
        """Of some rows."""
        return Residuals(self.values[rows], self.variances[rows])

    def scores(self, columns: Array) -> Array:
        """How many standard deviations the columns' products with the residuals are away from 0."""
        spread = np.sqrt(np.maximum(self.variances @ (columns * columns), 1e-9))
        return np.asarray((self.values @ columns) / spread)


@dataclass(frozen=True)
class Combinations:
    """The combinations that were kept, in the order of their columns."""

    kept: tuple[Combination, ...] = ()

    @staticmethod
    def find(table: Table, residuals: Residuals) -> Combinations:
        """Screen products, lengths, numbers within categories, and bits, each kind on its own."""
        rows = slice(0, SCREEN_ROWS)
        table, residuals = table.take(rows), residuals.take(rows)
        bits = _bit_sources(table)
        scored = _telling_bits(table, residuals, bits) + _products(table, residuals, bits) + _within(table, residuals)
        scored += _telling_lengths(table, residuals)
        scored.sort(key=lambda item: -abs(item[0]))
        return Combinations(tuple(one for _, one in scored[:MOST]))

    def table(self, full: Table) -> Table:
        """A table with one column a combination."""
        columns = [one.column(full) for one in self.kept]
        return Table(np.stack(columns, axis=1) if columns else np.empty((len(full), 0)), None, full.keys)


# ------------------------------------------------------------------------------------------------ screening

Scored = list[tuple[float, Combination]]


def _threshold(candidates: int) -> float:
    """The standard score that the largest of so many candidates which tell nothing exceeds with chance DOUBT."""
    return float(-special.ndtri(DOUBT / (2 * max(candidates, 1))))


def _best(scores: Array, candidates: int) -> Array:
    """The positions of the largest scores beyond the threshold, at most MOST."""
    order = np.argsort(-np.abs(scores), kind="stable")[:MOST]
    return np.asarray(order[np.abs(scores[order]) > _threshold(candidates)])


def _bit_sources(table: Table) -> list[Source]:
    """Bits of the leaves that are long integers."""
    found = []
    for leaf in range(table.width):
        x = table.numbers[:, leaf]
        x = x[np.isfinite(x)]
        if len(x) < 8 or not np.all(x == np.round(x)) or np.ptp(x) <= LONG_INTEGER or np.abs(x).max() >= 2.0**BITS:
            continue
        top = int(np.abs(x).max()).bit_length()
        found += [Source(leaf, bit) for bit in range(top)]
    return found[:MOST_BITS]


def _telling_bits(table: Table, residuals: Residuals, bits: list[Source]) -> Scored:
    if not bits:
        return []
    columns = _centred(np.stack([bit.read(table.numbers) for bit in bits], axis=1))
    scores = residuals.scores(columns)
    return [(float(scores[k]), Bit(bits[k])) for k in _best(scores, len(bits))]


def _centred(columns: Array) -> Array:
    """Columns of mean 0; what is no number counts as the mean."""
    known = np.isfinite(columns)
    means = np.where(known, columns, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.asarray(np.where(known, columns - means, 0.0))


def _products(table: Table, residuals: Residuals, bits: list[Source]) -> Scored:
    """Pairs, then triples, of leaves and bits."""
    leaves = [Source(leaf) for leaf in range(table.width) if np.isfinite(table.numbers[:, leaf]).sum() > LEAST_IN_LEVEL]
    sources = [*leaves, *bits][:PAIR_LEAVES]
    if len(sources) < 2:
        return []
    columns = np.stack([source.read(table.numbers) for source in sources], axis=1)
    maps = [NormalScores.fit(column) for column in columns.T]
    scores = ScoreTables.of(maps, columns)(columns)
    found: dict[tuple[Source, ...], tuple[float, Combination]] = {}
    for signs in (False, True):
        z = np.sign(scores) if signs else scores
        for score, factors in _telling_products(z, residuals):
            chosen = tuple(sources[k] for k in factors)
            if chosen not in found or abs(found[chosen][0]) < abs(score):
                found[chosen] = score, Product(chosen, tuple(maps[k] for k in factors), signs)
    return list(found.values())


def _telling_products(z: Array, residuals: Residuals) -> Iterator[tuple[float, tuple[int, ...]]]:
    values, variances = residuals.values.astype(np.float32), residuals.variances.astype(np.float32)
    width = z.shape[1]
    first, second = np.triu_indices(width, 1)
    squares = z * z
    spread = np.sqrt(np.maximum((variances[:, None] * squares).T @ squares, 1e-6))
    scores = ((values[:, None] * z).T @ z / spread)[first, second]
    for k in _best(scores, len(scores)):
        yield float(scores[k]), (int(first[k]), int(second[k]))
    if 3 <= width <= TRIPLE_LEAVES:
        pairs = z[:, first] * z[:, second]
        spread = np.sqrt(np.maximum((variances[:, None] * pairs * pairs).T @ squares, 1e-6))
        later = second[:, None] < np.arange(width)
        triples = np.where(later, (values[:, None] * pairs).T @ z / spread, 0.0).ravel()
        for k in _best(triples, int(later.sum())):
            pair, third = divmod(int(k), width)
            yield float(triples[k]), (int(first[pair]), int(second[pair]), third)


def _telling_lengths(table: Table, residuals: Residuals) -> Scored:
    """The one of two lengths that says more, of the leaves that are numbers in most rows."""
    known = np.isfinite(table.numbers).sum(axis=0)
    leaves = tuple(int(leaf) for leaf in np.flatnonzero(known > max(LEAST_IN_LEVEL, len(table) / 2)))[:PAIR_LEAVES]
    if len(leaves) < 2:
        return []
    maps = tuple(NormalScores.fit(table.numbers[:, leaf]) for leaf in leaves)
    lengths = [Length(leaves, maps, power) for power in (1, 2)]
    scores = residuals.scores(_centred(np.stack([one.column(table) for one in lengths], axis=1)))
    return [(float(scores[k]), lengths[k]) for k in _best(scores, len(lengths))[:1]]


def _within(table: Table, residuals: Residuals) -> Scored:
    """Numbers whose order, or spread, is not explained within a level of a category."""
    levels = list(itertools.islice(_levels(table), 4 * LEVELS))
    if not levels:
        return []
    scored: Scored = []
    candidates = 0
    inside = np.stack([where for *_, where in levels], axis=1)
    for leaf in range(min(table.width, PAIR_LEAVES)):
        x = table.numbers[:, leaf]
        known = np.isfinite(x)
        if len(np.unique(x[known][:2000])) <= 2:
            continue
        z = NormalScores.fit(x)(x)
        for power in (z, np.where(known, z * z - 1, 0.0)):
            scores = residuals.scores(inside * power[:, None])
            enough = (inside & known[:, None]).sum(axis=0) >= LEAST_IN_LEVEL
            for score, ok, (category, level, token, _) in zip(scores, enough, levels, strict=True):
                if ok and category != leaf:
                    candidates += 1
                    scored.append((float(score), Within(leaf, category, level, token)))
    telling = sorted((s for s in scored if abs(s[0]) > _threshold(candidates)), key=lambda s: -abs(s[0]))
    once = {one: score for score, one in reversed(telling)}
    return [(score, one) for one, score in once.items()]


def _levels(table: Table) -> Iterator[tuple[int, float, bool, Array]]:
    """(leaf, level, whether a token, where) of categories: tokens, and leaves of few numbers."""
    for leaf in range(table.width):
        if table.tokens is not None:
            values, counts = np.unique(table.tokens[:, leaf], return_counts=True)
            if len(values) > 1:
                for value in values[np.argsort(-counts, kind="stable")][:LEVELS]:
                    if value != 0:
                        yield leaf, float(value), True, table.tokens[:, leaf] == value
        x = table.numbers[:, leaf]
        known = x[np.isfinite(x)]
        if 1 < len(np.unique(known[:2000])) <= FEW_VALUES:
            distinct, counts = np.unique(known, return_counts=True)
            for value in distinct[np.argsort(-counts, kind="stable")][:LEVELS]:
                yield leaf, float(value), False, x == value
