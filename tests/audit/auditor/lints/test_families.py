"""Arguments of random functions in one form: each signature by position and by name."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from audit.auditor.lints.families import PYTHON, SIGNATURES, in_normal_form, parameters, unit


@pytest.mark.parametrize(
    ("method", "args", "kwargs", "expected"),
    [
        ("normal", (2.0, 3.0), {}, ("normal", 2.0, 3.0, True)),
        ("normal", (2.0,), {}, ("normal", 2.0, 1.0, False)),
        ("normal", (), {"scale": 3.0, "size": 4}, ("normal", 0.0, 3.0, True)),
        ("normal", (), {"loc": 3.0}, ("normal", 3.0, 1.0, False)),
        ("normal", (), {}, ("normal", 0.0, 1.0, True)),
        ("standard_normal", (5,), {}, ("normal", 0.0, 1.0, True)),
        ("exponential", (2.0,), {}, ("exponential", 0.0, 2.0, True)),
        ("uniform", (), {}, ("uniform", 0.0, 1.0, True)),
        ("uniform", (2.0, 5.0), {}, ("uniform", 2.0, 3.0, True)),
        ("uniform", (), {"low": -1.0}, ("uniform", -1.0, 2.0, True)),
        ("gamma", (2.0, 4.0), {}, ("gamma", 0.0, 4.0, True)),
    ],
)
def test_numpy(method: str, args: Any, kwargs: dict[str, Any], expected: tuple[Any, ...]) -> None:
    found = parameters(method, args, kwargs)
    assert (found.distribution, found.loc, found.scale, found.named_scale) == expected


@pytest.mark.parametrize(
    ("method", "args", "kwargs", "expected"),
    [
        ("gauss", (2.0, 3.0), {}, ("normal", 2.0, 3.0, True)),
        ("gauss", (), {"mu": 1.0, "sigma": 3.0}, ("normal", 1.0, 3.0, True)),
        ("expovariate", (4.0,), {}, ("exponential", 0.0, 0.25, True)),
        ("expovariate", (), {"lambd": 0.5}, ("exponential", 0.0, 2.0, True)),
        ("uniform", (), {"a": 2.0, "b": 5.0}, ("uniform", 2.0, 3.0, True)),
    ],
)
def test_python(method: str, args: Any, kwargs: dict[str, Any], expected: tuple[Any, ...]) -> None:
    found = parameters(method, args, kwargs, python=True)
    assert (found.distribution, found.loc, found.scale, found.named_scale) == expected


def test_a_covariance_gives_a_scale_an_entry() -> None:
    found = in_normal_form("multivariate_normal", {"mean": [1.0, 2.0], "cov": [[4.0, 1.0], [1.0, 9.0]]})
    assert (found.loc, found.scale.tolist(), found.named_scale) == ([1.0, 2.0], [2.0, 3.0], True)


def test_every_signature_is_one_of_the_library() -> None:
    assert all(hasattr(np.random.RandomState, name) or hasattr(np.random.Generator, name) for name in SIGNATURES)
    assert all(hasattr(random, name) for name in PYTHON)


def test_a_draw_without_location_and_scale() -> None:
    assert unit(7.0, 1.0, 3.0) == 2.0
    assert unit([7.0, 4.0], [1.0, 2.0], 2.0).tolist() == [3.0, 1.0]
    assert unit(7.0, 1.0, [1.0, 0.0]) is None
    assert unit(7.0, 1.0, -1.0) is None
    assert unit(7.0, 1.0, np.inf) is None
    assert unit(7.0, 1.0, np.nan) is None
