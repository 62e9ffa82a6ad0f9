"""Draws kept on disk: plain data that come back as they were, and files that are never executed or overwritten."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit.auditor.targets.sampling import TEST, BlockName, CallableTarget, Pair
from audit.auditor.targets.stored import FIRST_LINE, StoredTarget, from_plain, to_plain
from audit.auditor.terms.leaves import Raised

PAIR = Pair([0.0], [1.0])
LABELS = np.array([0, 1, 1, 0])


def mechanism(dataset: list[float], rng: np.random.Generator) -> Any:
    return (float(rng.normal()) + dataset[0], "x", None)


def draws(path: Path, index: int = 0) -> Any:
    return StoredTarget(CallableTarget(mechanism), path).outputs(PAIR, LABELS, BlockName(0, TEST, 0, index))


def test_plain_data_come_back_with_their_types() -> None:
    values: list[Any] = [
        None, True, 3, 10**40, 0.1, -0.0, float("inf"), "é\n", b"\x00\xff", 1 + 2j, (1, [2.0, ("a",)]),
        {"k": (1,), 2: None}, Raised("KeyError"),
        np.float64(0.1), np.int32(7), np.bool_(True), np.arange(6.0).reshape(2, 3),
        np.array(["a", "bc"]),
    ]  # fmt: skip
    for value in values:
        back = from_plain(to_plain(value))
        assert type(back) is type(value)
        assert np.array_equal(back, value) if isinstance(value, np.ndarray) else repr(back) == repr(value)
    nan = from_plain(to_plain(float("nan")))
    assert nan != nan
    with pytest.raises(TypeError, match="no plain data"):
        to_plain([object()])


def test_what_is_read_is_what_was_drawn(tmp_path: Path) -> None:
    first = draws(tmp_path / "draws")
    assert draws(tmp_path / "draws") == first
    assert draws(tmp_path / "draws", 1) != first


class Trap:
    """Unpickling this runs code."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path("sprung"),))


@pytest.mark.parametrize(
    "content", [pickle.dumps((1, Trap())), b"precious", b"", b"dpso draws 1", FIRST_LINE[:-1] + b"0\n"]
)
def test_a_file_of_anything_else_is_refused_untouched(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "draws"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a file of draws"):
        draws(path)
    assert path.read_bytes() == content
    assert not (tmp_path / "sprung").exists()


def test_an_incomplete_last_piece_is_cut_off_and_damage_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "draws"
    draws(path)
    end = path.stat().st_size
    first = draws(path, 1)
    whole = path.read_bytes()
    for cut in range(end, len(whole)):
        path.write_bytes(whole[:cut])
        StoredTarget(CallableTarget(mechanism), path)
        assert path.stat().st_size == end
    assert draws(path, 1) == first
    path.write_bytes(whole[: end - 5] + b"?" + whole[end - 4 :])
    with pytest.raises(ValueError, match="is damaged at byte"):
        draws(path)


def test_a_place_that_cannot_be_a_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "draws"):
        with pytest.raises(ValueError, match="cannot be used"):
            draws(path)
