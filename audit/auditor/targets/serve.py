"""A mechanism served as JSON lines, for an interpreter that need not have this package: standard library only.

    python serve.py MODULE:CALLABLE [--folder DIR] [--parameters JSON]

The callable is `mechanism(dataset)` or `mechanism(dataset, rng)` (`rng` is numpy's generator if numpy is there, else a
`random.Random`), or a class with `fit(X, y)`. What it prints goes to stderr.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import random
import sys
from collections.abc import Callable
from typing import Any


def _numpy() -> Any:
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None


def load(target: str, folder: str, parameters: dict[str, Any]) -> Callable[[Any, Any], Any]:
    """The mechanism as a function of (dataset, rng)."""
    sys.path.insert(0, os.path.abspath(folder))
    module, _, name = target.partition(":")
    found = getattr(importlib.import_module(module), name)
    if inspect.isclass(found):
        return lambda dataset, _rng: _fitted(found(**parameters), dataset)
    positional = [
        p
        for p in inspect.signature(found).parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if len(positional) >= 2:
        return lambda dataset, rng: found(dataset, rng, **parameters)
    return lambda dataset, _rng: found(dataset, **parameters)


def _fitted(model: Any, dataset: Any) -> dict[str, Any]:
    arguments = [dataset["X"], dataset["y"]] if isinstance(dataset, dict) else dataset
    numpy = _numpy()
    if numpy is not None:
        arguments = [numpy.asarray(a) for a in arguments]
    returned = model.fit(*arguments)
    seen = vars(model if returned is None else returned)
    return {k: v for k, v in seen.items() if k.endswith("_") and not k.startswith("_")}


def plain(value: Any) -> Any:
    """Arrays, numpy numbers and tuples as JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value if isinstance(value, (int, float, str, bool, type(None))) else repr(value)


def sample(mechanism: Callable[[Any, Any], Any], request: dict[str, Any]) -> dict[str, Any]:
    """Answer one request: seed everything that can be seeded, call, collect."""
    numpy = _numpy()
    random.seed(request["seed"])
    rng: Any = random.Random(request["seed"])
    if numpy is not None:
        numpy.random.seed(request["seed"] % 2**32)
        rng = numpy.random.default_rng(request["seed"])
    outputs = []
    for _ in range(request["size"]):
        dataset = json.loads(json.dumps(request["dataset"]))
        try:
            outputs.append(plain(mechanism(dataset, rng)))
        except Exception as error:  # noqa: BLE001 - an exception is an outcome
            outputs.append({"raises": type(error).__name__})
    return {"outputs": outputs}


def main(argv: list[str]) -> None:
    """Serve until stdin closes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--folder", default=".")
    parser.add_argument("--parameters", default="{}")
    args = parser.parse_args(argv)
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        mechanism = load(args.target, args.folder, json.loads(args.parameters))
    except Exception as error:  # noqa: BLE001 - whatever the module does on import
        failed = {"error": f"{args.target} cannot be loaded: {type(error).__name__}: {error}"}
        for _ in sys.stdin:
            print(json.dumps(failed), file=replies, flush=True)
        return
    for line in sys.stdin:
        print(json.dumps(sample(mechanism, json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
