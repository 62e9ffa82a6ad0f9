"""One walk through a nested output: leaves, their names and the nesting, which belong together leaf by leaf."""

from __future__ import annotations

import dataclasses
import datetime
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from audit.auditor.terms.leaves import MOST_NAMED, Flattened, Raised, flatten, listed, names


@dataclasses.dataclass
class Fitted:
    """A dataclass in an output."""

    coef: Any
    rest: Any


class Model:
    """An object in an output: its public attributes are read."""

    def __init__(self, coef_: Any, rest_: Any):
        self.coef_, self.rest_, self._hidden = coef_, rest_, object()


SCALARS = st.one_of(
    st.floats(),
    st.integers(),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.complex_numbers(),
    st.fractions(),
    st.dates(),
    st.builds(Raised, st.sampled_from(["ValueError", "KeyError"])),
    st.builds(np.float32, st.floats(width=32)),
)
ARRAYS = st.one_of(
    hnp.arrays(st.sampled_from([np.float64, np.int64, np.bool_]), hnp.array_shapes(min_dims=0, max_dims=3, max_side=3)),
    hnp.arrays(object, hnp.array_shapes(max_dims=2, max_side=2), elements=st.one_of(st.none(), st.floats(), st.text())),
)


def nested(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inside, max_size=4),
        st.tuples(inside, inside),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers()), inside, max_size=3),
        st.builds(Fitted, inside, inside),
        st.builds(Model, inside, inside),
    )


OUTPUTS = st.recursive(st.one_of(SCALARS, ARRAYS), nested, max_leaves=12)


@given(OUTPUTS)
@example(2**53 + 1)
@example([-(2**100)])
def test_every_leaf_has_a_name_and_the_name_leads_to_it(output: Any) -> None:
    leaves, _ = flatten(output)
    found = names(output)
    assert len(found) == len(leaves)
    assert len(set(found)) == len(found), "two leaves with one name"
    for name, leaf in zip(found, leaves, strict=True):
        bits = re.fullmatch(r"bits (\d+) to (\d+) of (.*)", name, re.DOTALL)
        if name.startswith("the "):
            assert str(leaf).startswith(("keys ", "labels ", "int of ", "negative int of "))
        elif bits:
            low, high, whole = int(bits[1]), int(bits[2]), abs(int(eval(bits[3], {"output": output})))
            assert (whole >> low) % 2 ** (high + 1 - low) == leaf
        else:
            assert flatten(eval(name, {"output": output}))[0] == [leaf]


@given(OUTPUTS)
def test_an_output_that_has_travelled_flattened_is_read_alike(output: Any) -> None:
    leaves, nesting = flatten(output)
    travelled = Flattened(tuple(leaves), nesting)
    assert flatten(travelled) == (leaves, nesting)
    assert names(travelled) == [f"entry {i}" for i in range(len(leaves))]


@given(st.sets(st.one_of(st.text(max_size=3), st.integers(-(2**53), 2**53)), max_size=5))
def test_sets_are_read_in_one_order(output: set[Any]) -> None:
    assert names(output) == [f"output[{i}]" for i in range(len(output))]
    assert flatten(output)[0] == [leaf for item in sorted(output, key=repr) for leaf in flatten(item)[0]]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (0.5, [("output", 0.5)]),
        ([1, (2.0, "a")], [("output[0]", 1.0), ("output[1][0]", 2.0), ("output[1][1]", "str:'a'")]),
        (1 + 2j, [("output.real", 1.0), ("output.imag", 2.0)]),
        (
            {"b": 1, "a": math.nan},
            [("the keys of output", "keys 'a', 'b'"), ("output['a']", "nan"), ("output['b']", 1)],
        ),
        (np.array([[1.0, math.inf]]), [("output[0, 0]", 1.0), ("output[0, 1]", "inf")]),
        (np.array(3.0), [("output", 3.0)]),
        (
            Model(1.0, None),
            [("the attributes of output", "keys 'coef_', 'rest_'"), ("output.coef_", 1.0), ("output.rest_", "None")],
        ),
        (datetime.timedelta(seconds=1), [("output", 1e6)]),
        ((x for x in (1.0, 2.0)), [("output[0]", 1.0), ("output[1]", 2.0)]),
    ],
)
def test_names_and_leaves(output: Any, expected: list[tuple[str, Any]]) -> None:
    read = names(output)
    assert read == [name for name, _ in expected]
    if not hasattr(output, "__next__"):
        assert flatten(output)[0] == [leaf for _, leaf in expected]


def test_long_outputs_are_numbered() -> None:
    for long in ([0.0] * (MOST_NAMED + 2), np.zeros(MOST_NAMED + 2), np.full(MOST_NAMED + 2, None)):
        assert names(long) == [f"entry {i}" for i in range(MOST_NAMED + 2)]
    assert names(np.zeros(MOST_NAMED))[-1] == f"output[{MOST_NAMED - 1}]"


def test_a_list_of_names_ends() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([*"abcdef"]) == "a, b, c, d and 2 more"


def test_long_integers_are_read_in_pieces() -> None:
    value = -((5 << 96) + (7 << 48) + 9)
    assert flatten((value,))[0] == ["negative int of 3 pieces", 9.0, 7.0, 5.0]
    assert names(value)[:2] == ["the length of output", "bits 0 to 47 of output"]
    assert flatten((2**53,))[0] == [2.0**53]
    assert len(flatten((1 << 10_000,))[0]) == 1
