"""Datasets and outputs from files: npy, npz, csv, JSON lines, parquet; and a pair that stands in a Python module."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from audit.runtime.errors import InputError, one_line
from audit.runtime.files import read_text
from audit.runtime.loading import load

TABLES = (".npy", ".npz", ".csv")
"""Files that hold a dataset as arrays."""


def read_outputs(path: str) -> Any:
    """The outputs in a file, one a row or a line."""
    kind = Path(path).suffix
    if kind in TABLES:
        found = read_arrays(path)
        if isinstance(found, tuple):
            raise InputError(f"{path} holds {len(found)} arrays: one array of outputs is needed")
        return found
    if kind in (".jsonl", ".json"):
        return _lines(path)
    if kind == ".parquet":
        return _parquet(path)
    raise InputError(f"{path}: outputs are read from .npy, .npz, .csv, .jsonl or .parquet")


def read_arrays(path: str) -> Any:
    """An array; of several in an npz file a tuple, (X, y) first where they have these names."""
    import numpy as np

    try:
        if path.endswith(".csv"):
            return _csv(path)
        loaded = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as an array: {str(error).splitlines()[0]}") from None
    if not hasattr(loaded, "files"):
        return loaded
    names = sorted(loaded.files, key=lambda name: (name not in ("X", "y"), name))
    arrays = tuple(loaded[name] for name in names)
    if not arrays:
        raise InputError(f"{path} holds no array")
    return arrays[0] if len(arrays) == 1 else arrays


def arrays_of_lists(dataset: Any) -> Any:
    """Lists as arrays: those of {"X": …, "y": …}, of [X, y] with rows X and as many labels y, or one list X."""
    import numpy as np

    if isinstance(dataset, dict) and set(dataset) == {"X", "y"}:
        dataset = [dataset["X"], dataset["y"]]
    if not isinstance(dataset, list):
        return dataset
    try:
        if len(dataset) == 2 and all(isinstance(part, list) for part in dataset):
            X, y = (np.asarray(part, dtype=float) for part in dataset)
            if X.ndim == 2 and y.ndim == 1 and len(X) == len(y):
                return X, y
        return np.asarray(dataset, dtype=float)
    except (TypeError, ValueError):
        return dataset


def _csv(path: str) -> Any:
    """The numbers of a csv file, without a heading; one column is a plain list of numbers."""
    import numpy as np

    lines = [line for line in read_text(path, path).splitlines() if line.strip()]
    rows = [line.split(",") for line in lines]
    try:
        [float(x) for x in rows[0]] if rows else None
    except ValueError:
        rows = rows[1:]
    try:
        table = np.array([[float(x) for x in row] for row in rows])
    except ValueError as error:
        raise InputError(f"{path} must hold numbers, as many in each row ({str(error).splitlines()[0]})") from None
    return table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table


def _lines(path: str) -> list[Any]:
    """One JSON value a line, or one list of them."""
    text = read_text(path, path)
    try:
        if text.lstrip().startswith("[") and len(text.strip().splitlines()) == 1:
            found = json.loads(text)
        else:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise InputError(f"{path} must hold one JSON value a line ({error})") from None
    return [_frozen(value) for value in found]


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _parquet(path: str) -> Any:
    try:
        import pandas
    except ImportError:
        raise InputError(f"{path}: parquet needs pandas; or save the outputs as .npy") from None
    try:
        table = pandas.read_parquet(path).to_numpy()
    except (OSError, ValueError, ImportError) as error:
        raise InputError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    return table[:, 0] if table.shape[1] == 1 else table


def pair_of_files(text: str) -> tuple[Any, Any] | None:
    """The pair in two files "A,B" of arrays; None if the text is something else."""
    names = text.split(",")
    if len(names) != 2 or not all(name.endswith(TABLES) for name in names):
        if len(names) == 1 and text.endswith(TABLES):
            raise InputError(f"--data {text} is one dataset: give two files, --data {text},NEIGHBOUR")
        return None
    return read_arrays(names[0]), read_arrays(names[1])


def pair_of_python(text: str) -> tuple[Any, Any] | None:
    """The pair that module:name is, or that it returns; None if the text is something else."""
    module, colon, name = text.partition(":")
    if not colon or not all(part.isidentifier() for part in module.split(".")) or not name.isidentifier():
        return None
    found = load(text, "--data ")
    try:
        value = found() if callable(found) else found
    except Exception as error:  # noqa: BLE001 - whatever foreign code may raise
        reason = one_line(f"{type(error).__name__}: {error}")
        raise InputError(
            f"--data {text} must be a pair or a function of no arguments that returns one: {reason}"
        ) from None
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InputError(f"--data {text} is a {type(value).__name__}: a pair (dataset, neighbour) is needed")
    return value[0], value[1]
