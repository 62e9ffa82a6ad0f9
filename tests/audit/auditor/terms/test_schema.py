"""Every kind of result is as `test.schema.json` says, and what is not a result is refused."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from audit import audit_dp, audit_one_run, audit_outputs
from audit.auditor.terms.result import AuditResult
from audit.auditor.terms.verdict import VERDICTS
from audit.cli.main import main

SCHEMA: dict[str, Any] = json.loads(files("audit.auditor.terms").joinpath("test.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def noisy(dataset: Any, rng: np.random.Generator, seed: int | None = None) -> Any:
    return dataset[0] + (rng if seed is None else np.random.default_rng(seed)).laplace()


def fails(dataset: Any, rng: np.random.Generator) -> Any:
    raise OSError("no such file")


def asked(mechanism: Any, **options: Any) -> AuditResult:
    return audit_dp(mechanism, [0], [1], **({"epsilon": 0.5, "samples": 200, "seed": 1} | options))


def of_one_run() -> AuditResult:
    rng = np.random.default_rng(1)
    included = rng.integers(0, 2, 50) == 1
    return audit_one_run(included + rng.normal(size=50), included, mu=1.0)


def of_outputs() -> AuditResult:
    rng = np.random.default_rng(1)
    return audit_outputs(rng.normal(size=200), 1 + rng.normal(size=200), rho=0.1)


RESULTS = {
    "fixed": lambda: asked(noisy),
    "anytime": lambda: asked(noisy, anytime=True),
    "nothing could be tested": lambda: asked(fails),
    "fresh seeds": lambda: asked(noisy, seed_arg="seed"),
    "too few": lambda: asked(noisy, samples=10, lints=False),
    "one run": of_one_run,
    "outputs": of_outputs,
}


def test_the_schema_is_one_and_knows_every_verdict() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["verdict"]["enum"] == list(VERDICTS)
    assert all("description" in told for told in SCHEMA["properties"].values())


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_as_the_schema_says(name: str) -> None:
    data = json.loads(RESULTS[name]().to_json())
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []


def test_the_command_prints_such_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    data = '{"dataset": [0], "neighbour": [1]}'
    main(["test", "bench.zoo.additive:noisy_sum", "--epsilon", "1", "--data", data, "--samples", "500", "--json"])
    assert VALIDATOR.is_valid(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(
    "change",
    [{"verdict": "fine"}, {"p_value": 2}, {"selected": -1}, {"unknown": 1}, {"findings": [{"kind": "x"}]}],
    ids=str,
)
def test_what_is_no_result_is_refused(change: dict[str, Any]) -> None:
    data = json.loads(of_outputs().to_json())
    assert VALIDATOR.is_valid(data)
    assert not VALIDATOR.is_valid(data | change)
    del data["verdict"]
    assert not VALIDATOR.is_valid(data)
