"""Draws kept on disk: plain data that come back as they were, and files that are never executed or overwritten."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit.auditor.targets import stored
from audit.auditor.targets.sampling import TEST, BlockName, CallableTarget, Pair
from audit.auditor.targets.stored import StoredTarget, from_plain, to_plain
from audit.auditor.terms.leaves import Raised
from audit.runtime.store import StoreError

PAIR = Pair([0.0], [1.0])
LABELS = np.array([0, 1, 1, 0])


def mechanism(dataset: list[float], rng: np.random.Generator) -> Any:
    return (float(rng.normal()) + dataset[0], "x", None)


def draws(path: Path, index: int = 0) -> Any:
    with contextlib.closing(StoredTarget(CallableTarget(mechanism), path)) as target:
        return target.outputs(PAIR, LABELS, BlockName(0, TEST, 0, index))


def test_plain_data_come_back_with_their_types() -> None:
    values: list[Any] = [
        None, True, 3, 10**40, 0.1, -0.0, float("inf"), "é\n", b"\x00\xff", 1 + 2j, (1, [2.0, ("a",)]),
        {"k": (1,), 2: None}, Raised("KeyError"), complex("-inf+1j"),
        np.float64(0.1), np.int32(7), np.bool_(True), np.arange(6.0).reshape(2, 3),
        np.array(["a", "bc"]),
    ]  # fmt: skip
    for value in values:
        back = from_plain(json.loads(json.dumps(to_plain(value), allow_nan=False)))
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


class Own:
    """No plain data."""


def owned(dataset: list[float], rng: np.random.Generator) -> Any:
    return Own() if rng.random() < 0.5 else 10**5000


def test_what_is_no_plain_data_is_drawn_again(tmp_path: Path) -> None:
    drawn = []
    for _ in range(2):
        with contextlib.closing(StoredTarget(CallableTarget(owned), tmp_path / "draws")) as target:
            target.outputs(PAIR, LABELS, BlockName(0, TEST, 0, 0))
            drawn.append((target.drawn, target.read))
    assert drawn == [(4, 0), (4, 0)]


def test_draws_of_another_mechanism_or_other_code_are_not_mixed_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws(tmp_path / "draws")
    with pytest.raises(StoreError, match=r"of another run: mechanism was .*; name another store"):
        StoredTarget(CallableTarget(owned), tmp_path / "draws")
    monkeypatch.setattr(stored, "code_mark", lambda: "0" * 16)
    with pytest.raises(StoreError, match="of another run: code of dpso was"):
        draws(tmp_path / "draws")


def test_a_file_of_anything_else_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "draws"
    path.write_bytes(b"precious")
    with pytest.raises(StoreError, match="is not a store of this program; name another store"):
        draws(path)
    assert path.read_bytes() == b"precious"


def test_a_place_that_cannot_be_a_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "draws"):
        with pytest.raises(StoreError, match=r"cannot be opened .*; name another store"):
            draws(path)
