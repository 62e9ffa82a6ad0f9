"""Records and neighbours."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as hs

from reference.numerics.numbers import MP, Ball, Float64
from reference.setting.data import Example, are_neighbours, replace_one

DATASETS = hs.lists(hs.integers(0, 2), max_size=5).map(tuple)


def test_example_keeps_numbers_and_reads_strings():
    z = Example([1, 0.5, "0.1"], "2/3")
    assert z.x == (1, Fraction(1, 2), Fraction(1, 10))
    assert z.y == Fraction(2, 3)
    assert isinstance(z.x[1], float)  # as it came: fast in binary64
    assert z == Example((1, Fraction(1, 2), Fraction(1, 10)), Fraction(2, 3))
    assert hash(z) == hash(Example((1, Fraction(1, 2), Fraction(1, 10)), Fraction(2, 3)))
    for K in (Float64(), MP(30), Ball(64)):
        assert len(K.vector(z.x)) == 3


def test_edits():
    S = ("a", "b", "c")
    assert replace_one(S, 1, "x") == ("a", "x", "c")
    with pytest.raises(ValueError, match="i = 3 must be an index of a dataset of 3 records"):
        replace_one(S, 3, "x")
    assert S == ("a", "b", "c")


@given(DATASETS, DATASETS)
def test_replace_one_is_a_hamming_distance_of_one(S, T):
    reachable = any(replace_one(S, i, z) == T != S for i in range(len(S)) for z in range(3))
    assert are_neighbours(S, T) is reachable


@given(DATASETS.filter(bool), hs.data())
def test_edits_make_neighbours(S, data):
    i = data.draw(hs.integers(0, len(S) - 1))
    z = data.draw(hs.integers(3, 4))
    assert are_neighbours(S, replace_one(S, i, z))
    assert not are_neighbours(S, replace_one(S, i, S[i]))
    assert not are_neighbours(S, (*S, z))


def test_two_changes_are_too_many():
    assert not are_neighbours((1, 2, 3), (0, 2, 0))
    assert not are_neighbours((), ())
