"""A condition on one entry of an output, which a reader can check himself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit.auditor.terms.outputs import ABSENT, MINUS_INFINITY, PLUS_INFINITY, Table

Array = np.ndarray


@dataclass(frozen=True)
class EntryCondition:
    """What one entry of the flattened output must be.

    `relation`: "≤", "≥" or "=" a number; "is" a word (`value` is its code); "number", "absent" or "present".
    """

    entry: int
    relation: str
    value: float = 0.0
    word: str = ""

    def holds(self, table: Table) -> Array:
        """For each output. What is infinite lies beyond every number."""
        if self.entry >= table.width:
            return np.full(len(table), self.relation == "absent")
        x = table.numbers[:, self.entry]
        tokens = np.zeros(len(x), dtype=np.int32) if table.tokens is None else table.tokens[:, self.entry]
        match self.relation:
            case "≤":
                return np.asarray((x <= self.value) | (tokens == MINUS_INFINITY))
            case "≥":
                return np.asarray((x >= self.value) | (tokens == PLUS_INFINITY))
            case "=":
                return np.asarray((x == self.value) & (tokens == 0))
            case "number":
                return np.asarray(tokens == 0)
            case "present":
                return np.asarray(tokens != ABSENT)
            case _:
                return np.asarray(tokens == (ABSENT if self.relation == "absent" else int(self.value)))

    def excludes(self, other: EntryCondition) -> bool:
        """Whether no output fulfils both."""
        if self.entry != other.entry:
            return False
        one, two = sorted((self, other), key=lambda c: "≤≥=".find(c.relation))
        match one.relation, two.relation:
            case ("≤", "≥"):
                return one.value < two.value
            case ("≤", "="):
                return one.value < two.value
            case ("≥", "="):
                return one.value > two.value
            case ("=", "=") | ("is", "is"):
                return one.value != two.value
            case _:
                return {one.relation, two.relation} in _APART

    def sharpens(self, other: EntryCondition) -> bool:
        """Whether this, said of some of the outputs for which the other holds, makes the other needless."""
        return self.entry == other.entry and self.relation == other.relation and self.relation in "≤≥"

    def told(self, width: int) -> str:
        """In words, after "output"."""
        if self.relation == "absent":
            return f"with at most {self.entry} entries"
        if self.relation == "present":
            return f"with more than {self.entry} entries"
        place = "" if width == 1 else f"with entry {self.entry} (of 0–{width - 1}) "
        if self.relation == "number":
            return f"{place}a number"
        if self.relation == "is":
            return place + (self.word if width == 1 else f"= {self.word}")
        return f"{place}{self.relation} {digits_of(self.value)}"


_APART = ({"absent", "present"}, {"absent", "number"}, {"absent", "is"}, {"absent", "="}, {"number", "is"}, {"=", "is"})
"""Relations to one entry that exclude each other whatever the values."""


def digits_of(value: float) -> str:
    """A text that gives the number back, as short as it can be."""
    text = f"{value:.6g}"
    return text if float(text) == value else repr(int(value) if value == round(value) else value)
