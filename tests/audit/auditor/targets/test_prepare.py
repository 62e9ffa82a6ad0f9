"""What other people's code returns, logs and seeds: objects that must be read, streams that must be caught."""

from __future__ import annotations

import datetime
import io
import logging
import math
from typing import Any

import numpy as np
import pytest
from night import by_day

from audit import audit_dp, estimator
from audit.auditor.lints.rules import _chance_of_repeats
from audit.auditor.targets.containment import Noticed, contained
from audit.auditor.targets.prepare import with_fresh_seeds
from audit.auditor.terms.leaves import flatten
from audit.auditor.terms.relation import same
from bench.foreign import inspect_alone, look
from bench.specimens import specimens

Rng = np.random.Generator


def kinds(mechanism: Any, dataset: Any = (0.0,), neighbour: Any = (1.0,), **options: Any) -> set[str]:
    seen = inspect_alone(mechanism, list(dataset), list(neighbour), epsilon=1.0, **options)
    return {f.kind for f in seen.findings} - {"global-state"}


# ----------------------------------------------------------------------------------------------------- objects


class Model:
    """A fitted object, as a nested output: public attributes are read, private ones and functions are not."""

    def __init__(self, value: float):
        self.value_, self._hidden, self.helper = value, object(), len


class Slotted:
    """An object that cannot be read."""

    __slots__ = ("value",)

    def __init__(self, value: float):
        self.value = value


def test_objects_are_read_by_their_public_attributes() -> None:
    assert flatten([Model(0.5)])[0] == ["keys 'value_'", 0.5]
    assert flatten(datetime.date(2020, 1, 2))[0] != flatten(datetime.date(2020, 1, 3))[0]
    assert flatten(Slotted(0.5))[0] == ["<unread Slotted>"]


def test_an_object_that_holds_itself_is_read_once() -> None:
    model: Any = Model(0.5)
    model.parent = model
    assert flatten(model)[0] == ["keys 'parent', 'value_'", "<unread Model>", 0.5]
    other: Any = Model(0.5)
    other.parent = other
    other._hidden = model._hidden
    assert same(model, other)
    other.value_ = 0.75
    assert not same(model, other)


def test_nested_models_are_audited() -> None:
    def fit(data: Any, rng: Rng) -> Any:
        return {"models": [Model(data[0] + rng.laplace(0, 0.2))]}

    assert audit_dp(fit, [0.0], [1.0], epsilon=1.0, samples=150).violated


def test_what_cannot_be_read_is_said() -> None:
    def fit(data: Any, rng: Rng) -> Any:
        return Slotted(data[0]), rng.laplace()

    result = audit_dp(fit, [0.0], [1.0], epsilon=1.0, samples=100)
    (finding,) = [f for f in result.findings if f.kind == "unread-output"]
    assert "Slotted" in finding.message
    assert "release=" in finding.message


@pytest.mark.parametrize("bad", [True, False])
def test_the_keys_of_a_dict_are_a_part_of_the_output(bad: bool) -> None:
    """The same number of noisy values, under names that depend on the data."""

    def count(data: Any, rng: Rng) -> Any:
        return {int(data[0]) if bad else 0: rng.laplace()}

    result = audit_dp(count, [1.0], [2.0], epsilon=1.0, samples=150, lints=False)
    assert result.violated == bad


# ------------------------------------------------------------------------------------------------------ logging


def test_logs_to_the_terminal_are_caught_and_handlers_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, file = io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.stderr", terminal)
    logger = logging.getLogger("somebody.else")
    logger.propagate = False
    shown, kept = logging.StreamHandler(), logging.StreamHandler(file)
    logger.addHandler(shown)
    logger.addHandler(kept)
    noticed = Noticed()
    with contained(noticed, 0):
        logger.warning("epoch 1")
        late = logging.StreamHandler()
    logger.removeHandler(kept)
    logger.warning("afterwards")
    logger.removeHandler(shown)
    assert terminal.getvalue() == "afterwards\n"
    assert file.getvalue() == "epoch 1\n"
    assert (noticed.printed, noticed.first_print) == (len("epoch 1\n"), "epoch 1\n")
    assert late.stream is terminal


# -------------------------------------------------------------------------------------------------- fresh seeds


def test_our_own_seeds_do_not_hide_the_noise_from_the_replay() -> None:
    def shipped(data: Any, seed: int = 0) -> float:
        return float(data[0] + np.random.default_rng(seed).laplace(0, 0.2))

    class Seeded:
        def __init__(self, seed: int = 0):
            self.seed = seed

        def fit(self, data: Any) -> None:
            self.coef_ = shipped(data, self.seed)

    assert kinds(with_fresh_seeds(shipped, "seed")) == {"sensitivity"}
    assert kinds(estimator(Seeded, seed_arg="seed")) == {"sensitivity"}


# ---------------------------------------------------------------------------------------------- repeated floats


def few_states(data: Any, rng: Rng) -> float:
    """Sixty-four possible draws, made by hand."""
    u = (int.from_bytes(rng.bytes(1), "big") % 64 + 0.5) / 64
    return float(data[0] + math.log(u / (1 - u)))


def test_a_generator_with_few_states_is_noticed() -> None:
    assert all("repeated-floats" in kinds(few_states, seed=seed) for seed in range(10))


def candidates(data: Any, rng: Rng) -> float:
    """An exponential mechanism by inversion: its values are the same on both datasets."""
    weights = np.exp(-np.abs(np.linspace(0, 1, 40) - data[0]) / 2)
    return float(np.linspace(0, 1, 40)[np.searchsorted(np.cumsum(weights / weights.sum()), rng.random() * (1 - 1e-12))])


SILENT = {
    "clipped": lambda d, rng: float(np.clip(d[0] + rng.laplace(), -0.3, 1.3)),
    "three decimals": lambda d, rng: round(float(d[0] + rng.laplace()), 3),
    "coarse grid": lambda d, rng: np.round((d[0] + rng.laplace()) * 64) / 64,
    "single precision": lambda d, rng: np.float32(d[0] + rng.laplace()),
    "noisy maximum": lambda d, rng: float(np.linspace(0.1, 0.9, 300)[np.argmax(rng.gumbel(size=300) * 2)]),
    "candidates": candidates,
}


@pytest.mark.parametrize("name", SILENT)
def test_repeats_that_noise_explains_are_not_noticed(name: str) -> None:
    assert not any("repeated-floats" in kinds(SILENT[name], seed=seed) for seed in range(by_day(5, 20)))


def test_the_specimen_with_one_byte_of_state_and_its_twin() -> None:
    specimen = next(s for s in specimens() if s.name == "byte-state")
    for make, often in ((specimen.make, True), (specimen.repaired, False)):
        seen = [{f.kind for f in look(specimen, make, seed).findings} for seed in range(12)]
        assert any("repeated-floats" in found for found in seen) == often


def test_the_chance_of_repeats_is_about_what_is_measured() -> None:
    """Laplace noise on a grid of 2⁻⁸: the bound is above the measured share, by less than 10 times."""
    rng, hits, bound = np.random.default_rng(0), 0, 0.0
    for _ in range(400):
        sides = [[float(x) for x in np.round(rng.laplace(size=8) * 256 + 0.5) / 256 + 2**-9] for _ in range(2)]
        hits += any(len(set(side)) < len(side) for side in sides)
        bound += _chance_of_repeats(sides, 1) / 400
    assert hits / 400 <= bound + 5 * math.sqrt(bound / 400)
    assert bound <= 10 * hits / 400
