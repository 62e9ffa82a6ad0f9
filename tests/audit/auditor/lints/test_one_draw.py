"""The law of an output that follows from one draw, whatever becomes of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bench.foreign import inspect_alone, look
from bench.specimens import specimens


def _by_hand(scale: float, hidden: bool = False, turns: bool = False) -> Any:
    """Laplace noise from a uniform number, by hand; with a second draw; or with outputs that do not rise with it."""

    def mechanism(data: list[float], rng: np.random.Generator) -> float:
        u = rng.random() - 0.5
        noise = -scale * math.copysign(math.log1p(-2 * abs(u)), u)
        more = rng.integers(2) if hidden else 0
        return abs(data[0] + noise) if turns else data[0] + noise + more

    return mechanism


def _kinds(mechanism: Any, epsilon: float, seed: int = 0) -> set[str]:
    return {f.kind for f in inspect_alone(mechanism, [0.0], [1.0], epsilon=epsilon, seed=seed).findings}


@pytest.mark.parametrize("seed", range(3))
def test_noise_made_by_hand_is_judged_by_its_law(seed: int) -> None:
    assert "output-law" in _kinds(_by_hand(0.5), 1.0, seed)
    assert "output-law" not in _kinds(_by_hand(1.0), 1.0, seed)


@pytest.mark.parametrize("odd", [{"hidden": True}, {"turns": True}])
def test_nothing_is_concluded_where_chance_is_not_one_draw_or_outputs_turn(odd: dict[str, bool]) -> None:
    assert "output-law" not in _kinds(_by_hand(0.5, **odd), 1.0)


@pytest.mark.parametrize("name", ["missing-term", "no-regulariser"])
def test_a_perturbed_objective_is_judged_through_its_optimiser(name: str) -> None:
    (specimen,) = [s for s in specimens() if s.name == name]
    (found,) = [f for f in look(specimen, specimen.make, 5).findings if f.kind == "output-law"]
    assert specimen.epsilon < found.details["epsilon"] <= specimen.true_epsilon
    assert look(specimen, specimen.repaired, 5).findings == []
