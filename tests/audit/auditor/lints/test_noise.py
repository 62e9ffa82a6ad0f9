"""Numbers that remember their draw: what keeps the memory, what ends it, and what is told about it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from audit.auditor.lints import noise as module
from audit.auditor.lints.noise import NoiseArray, NoiseFloat, Origin, plain, wrap
from audit.auditor.lints.recorder import NoiseCall


class Told:
    """A listener that keeps what it hears, and hands back sums as they are."""

    def __init__(self) -> None:
        self.sums: list[tuple[Any, Any, Any, Any]] = []
        self.others = 0

    def added(self, origin: Origin, quantity: Any, result: Any, shape: Any = None) -> Any:
        self.sums.append((_told(origin.factor), _told(quantity), _told(result), shape))
        return result

    def used_otherwise(self, origin: Origin) -> None:
        self.others += 1


def _told(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def made(value: Any = 2.0) -> tuple[Any, Told]:
    """A draw, and who hears of it."""
    told = Told()
    call = NoiseCall(0, "s", "m", "laplace", 0.0, 1.0, True, "here", np.shape(value))
    return wrap(np.array(value) if isinstance(value, list) else value, Origin(call, told)), told


@pytest.mark.parametrize(
    ("use", "factor", "quantity", "result", "value"),
    [
        (lambda z: z + 5.0, 1.0, 5.0, 7.0, 7.0),
        (lambda z: 5.0 + z, 1.0, 5.0, 7.0, 7.0),
        (lambda z: 5.0 - z, -1.0, 5.0, 3.0, 3.0),
        (lambda z: z - 5.0, -1.0, 5.0, 3.0, -3.0),  # in the direction of the quantity
        (lambda z: 3 * z + 5.0, 3, 5.0, 11.0, 11.0),
        (lambda z: 5.0 + z * 3 * 2, 6, 5.0, 17.0, 17.0),
        (lambda z: 5.0 + z / 4, 0.25, 5.0, 5.5, 5.5),
        (lambda z: 5.0 + -z, -1.0, 5.0, 3.0, 3.0),
        (lambda z: 5.0 + +z, 1.0, 5.0, 7.0, 7.0),
        (lambda z: np.add(5.0, z), 1.0, 5.0, 7.0, 7.0),
        (lambda z: np.positive(z) + 5.0, 1.0, 5.0, 7.0, 7.0),
        (lambda z: np.true_divide(z, 2.0) + 5.0, 0.5, 5.0, 6.0, 6.0),
    ],
)
def test_a_sum_is_told_with_its_factor(
    use: Callable[[Any], Any], factor: float, quantity: float, result: float, value: float
) -> None:
    z, told = made()
    found = use(z)
    assert told.sums == [(factor, quantity, result, ())]
    assert told.others == 0
    assert found == value
    assert not isinstance(found, NoiseFloat | NoiseArray)


@pytest.mark.parametrize(
    "use",
    [
        lambda z: z > 1,
        lambda z: 1 / z,
        lambda z: 2**z,
        lambda z: z**2,
        lambda z: z // 1,
        lambda z: z % 1,
        lambda z: abs(z),
        lambda z: float(z),
        lambda z: round(z),
        lambda z: bool(z),
        lambda z: hash(z),
        lambda z: np.exp(z),
        lambda z: np.hypot(z, 1.0),
        lambda z: np.divide(1.0, z),
        lambda z: np.multiply.reduce([z, 1.0]),
    ],
)
def test_any_other_use_ends_the_memory(use: Callable[[Any], Any]) -> None:
    z, told = made()
    bare = use(2.0)
    assert use(z) == bare
    assert told.sums == []
    assert told.others >= 1


def test_two_draws_that_meet_are_both_lost() -> None:
    (a, first), (b, second) = made(), made(3.0)
    assert a + b == 5.0
    assert a * b == 6.0
    assert (first.others, second.others) == (2, 2)


def test_what_is_no_number_is_left_to_the_other_side() -> None:
    z, told = made()
    for use in (lambda: z + "a", lambda: "a" + z, lambda: z - "a", lambda: z * None, lambda: z / "a", lambda: [] - z):
        with pytest.raises(TypeError):
            use()
    assert told.sums == []


def test_copies_and_pickles() -> None:
    z, _ = made()
    assert copy.deepcopy(z) is z
    assert type(pickle.loads(pickle.dumps(z))) is float
    array, _ = made([1.0, 2.0])
    assert isinstance(copy.deepcopy(array), NoiseArray)
    assert type(pickle.loads(pickle.dumps(array))) is np.ndarray
    assert type(plain(z)) is float
    assert type(plain(array)) is np.ndarray
    assert plain("a") == "a"


def test_arrays_are_followed_through_shapes_and_entries() -> None:
    array, told = made([[1.0, 2.0], [3.0, 4.0]])
    for view in (array[0], array.T, array.reshape(4), np.ravel(array), np.squeeze(array[:1])):
        assert isinstance(view, NoiseArray)
        assert view.origin is array.origin
    entry = array[1, 0]
    assert isinstance(entry, NoiseFloat)
    assert entry + 1.0 == 4.0
    assert [row.tolist() for row in [plain(r) for r in array]] == [[1.0, 2.0], [3.0, 4.0]]
    assert told.sums == [(1.0, 1.0, 4.0, ())]
    assert told.others == 0


def test_an_entry_takes_its_part_of_the_factor() -> None:
    array, told = made([1.0, 2.0])
    scaled = array * np.array([10.0, 20.0])
    assert scaled[1] + 1.0 == 41.0
    assert told.sums == [(20.0, 1.0, 41.0, ())]
    both = 3.0 * array
    assert both[0] + 1.0 == 4.0
    assert told.sums[1] == (3.0, 1.0, 4.0, ())
    assert (scaled + np.ones(2)).tolist() == [11.0, 41.0]
    assert told.sums[2] == ([10.0, 20.0], [1.0, 1.0], [11.0, 41.0], (2,))


def test_one_draw_beside_many_numbers_tells_its_own_shape() -> None:
    z, told = made()
    assert (z + np.zeros(3)).tolist() == [2.0] * 3
    assert told.sums == [(1.0, [0.0] * 3, [2.0] * 3, ())]


def test_sums_in_place() -> None:
    array, told = made([1.0, 2.0])
    quantity = np.array([5.0, 6.0])
    quantity += array
    assert quantity.tolist() == [6.0, 8.0]
    assert type(quantity) is np.ndarray
    array += 1.0
    assert array.origin is None
    assert plain(array).tolist() == [2.0, 3.0]
    assert [s[1] for s in told.sums] == [[5.0, 6.0], 1.0]
    other, heard = made([1.0, 2.0])
    other *= 2.0
    assert other.origin is not None
    assert other.origin.factor == 2.0
    target = np.zeros(2)
    np.multiply(other, 3.0, out=target)
    assert target.tolist() == [6.0, 12.0]
    assert heard.others == 1  # its numbers stand where nothing is followed


def test_writing_into_noise_ends_its_memory() -> None:
    array, told = made([1.0, 2.0])
    array[0] = 9.0
    assert (told.others, array.origin) == (1, None)
    assert plain(array).tolist() == [9.0, 2.0]
    assert type(array[1]) is not NoiseFloat


@pytest.mark.parametrize("name", ["sum", "mean", "max", "argmax", "cumsum", "tolist", "round", "dot"])
def test_methods_of_a_whole_array_end_the_memory(name: str) -> None:
    array, told = made([1.5, 2.0])
    given = (np.ones(2),) if name == "dot" else ()
    expected = getattr(np.array([1.5, 2.0]), name)(*given)
    assert np.array_equal(getattr(array, name)(*given), expected)
    assert told.others == 1


def test_functions_of_numpy_see_plain_arrays() -> None:
    array, told = made([2.0, 1.0])
    assert np.sort(array).tolist() == [1.0, 2.0]
    assert np.concatenate([array, np.zeros(1)]).tolist() == [2.0, 1.0, 0.0]
    assert told.others == 2
    assert module._deep({"a": (array, 1)})["a"][0].tolist() == [2.0, 1.0]
    assert told.others == 3
