"""Mechanisms that read and publish pandas data frames (only where pandas is installed)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit import audit_dp, estimator
from audit.auditor.terms.leaves import flatten
from audit.auditor.terms.relation import describe, same

pd: Any = pytest.importorskip("pandas")

FRAME = pd.DataFrame({"x": [1.0, 1.0, 1.0, 1.0], "y": [1.0, 1.0, 1.0, 1.0]})
OTHER = FRAME.assign(y=[-1.0, 1.0, 1.0, 1.0])


def kinds(result: Any) -> set[str]:
    return {f.kind for f in result.findings} - {"global-state"}


def audit(mechanism: Any, dataset: Any = FRAME, neighbour: Any = OTHER, **options: Any) -> Any:
    return audit_dp(mechanism, dataset, neighbour, epsilon=1.0, samples=500, **options)


def test_frames_are_compared_with_their_labels_and_cut_into_rows() -> None:
    assert same(FRAME, FRAME.copy())
    assert not same(FRAME, OTHER)
    assert not same(FRAME, FRAME.rename(columns={"y": "z"}))
    assert not same(FRAME, FRAME.assign(z=1.0))
    mixed = pd.DataFrame({"a": ["u", None, pd.NA], "b": [1.0, np.nan, 3.0]})
    assert same(mixed, mixed.copy())
    assert describe(FRAME, OTHER)[0] == "replace-one"
    assert describe(FRAME, FRAME.iloc[1:])[0] == "add-remove"
    assert describe((FRAME[["x"]], FRAME.y), (OTHER[["x"]], OTHER.y))[0] == "replace-one"
    assert describe(FRAME, -OTHER)[0] == "other"


def test_the_names_of_columns_and_rows_are_a_part_of_the_output() -> None:
    plain, named = FRAME, FRAME.rename(columns={"y": "z"})
    assert flatten(plain)[0][1:] == flatten(named)[0][1:]
    assert flatten(plain)[0][0] != flatten(named)[0][0]
    assert flatten(FRAME.groupby("y").x.sum())[0] != flatten(OTHER.iloc[:1].groupby("y").x.sum())[0]


def test_dates_and_missing_values_are_outputs() -> None:
    leaves, _ = flatten(pd.DataFrame({"t": pd.to_datetime(["2020-01-01"]), "n": [pd.NA], "c": ["u"]}))
    assert leaves[1] == 1_577_836_800e6  # microseconds since 1970
    assert leaves[3] == "str:'u'"
    assert flatten(pd.Series([1, None], dtype="Int64"))[0][0] == 1.0
    assert flatten(pd.Series(["a"], dtype="category"))[0][0] == "str:'a'"


def test_frames_in_and_out_are_audited() -> None:
    def release(scale: float) -> Any:
        return lambda data: pd.DataFrame({"total": [(data.x * data.y).sum() + np.random.laplace(0, scale)]})

    good, bad = audit(release(2.0)), audit(release(0.4))
    assert (good.verdict, bad.verdict) == ("consistent", "violated")
    assert kinds(good) == set()
    assert "sensitivity" in kinds(bad)
    shorter = audit(release(1.0), neighbour=FRAME.iloc[1:], neighbours="add-remove")
    assert (shorter.verdict, kinds(shorter)) == ("consistent", set())


def test_a_name_that_depends_on_the_data_is_a_leak() -> None:
    def leaks(data: Any) -> Any:
        return pd.DataFrame({"high" if data.y.sum() > 3 else "low": [np.random.laplace()]})

    result = audit(leaks)
    assert result.violated
    assert "unnoised-output" in kinds(result)


def test_a_changed_frame_is_noticed() -> None:
    def adds_a_column(data: Any) -> Any:
        data["z"] = data.x * data.y
        return data.z.sum() + np.random.laplace(0, 2)

    result = audit(adds_a_column)
    assert (result.verdict, kinds(result)) == ("consistent", {"mutates-input"})


class Slope:
    """A private slope that keeps its coefficients as a Series."""

    def __init__(self, scale: float = 2.0):
        self.scale = scale

    def fit(self, X: Any, y: Any) -> Slope:
        self.coef_ = X.mul(y, axis=0).sum() + np.random.laplace(0, self.scale, X.shape[1])
        return self


def test_the_five_line_recipe_on_frames(tmp_path: Path) -> None:
    pair = (FRAME[["x"]], FRAME.y), (OTHER[["x"]], OTHER.y)
    good = audit(estimator(Slope), *pair, store=tmp_path / "draws")
    bad = audit(estimator(Slope, scale=0.4), *pair)
    assert (good.verdict, bad.verdict) == ("consistent", "violated")
    assert kinds(good) == set()
