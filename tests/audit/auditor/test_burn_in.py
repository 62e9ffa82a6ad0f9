"""What `_learn` notes and shows of the burn-in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from audit import audit_dp
from audit.auditor import api

SMALL: dict[str, Any] = {"epsilon": 1.0, "samples": 500, "lints": False}


def test_a_side_that_never_varies_is_noted_and_one_that_does_is_not() -> None:
    def half(data: Any, rng: np.random.Generator) -> float:
        return rng.laplace() if data[0] else 7.0

    kinds = [[f.kind for f in audit_dp(half, pair, [1.0], **SMALL).findings] for pair in ([0.0], [2.0])]
    assert [found.count("deterministic") for found in kinds] == [1, 0]


def test_the_picture_shows_what_parts_said_that_had_not_seen_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A burn-in that is kept as a whole is selected by scores from the other parts of it, which have not seen it."""
    held_out, shown = [], []
    make_plan, outputs_drawing = api.make_plan, api.outputs_drawing

    def planned(*arguments: Any) -> Any:
        made = make_plan(*arguments)
        held_out.append(made[1])
        return made

    def drawn(cutoff: Any, selected: Any, *rest: Any) -> Any:
        shown.append(selected)
        return outputs_drawing(cutoff, selected, *rest)

    monkeypatch.setattr(api, "make_plan", planned)
    monkeypatch.setattr(api, "outputs_drawing", drawn)
    audit_dp(lambda data, rng: data[0] + rng.laplace(), [0.0], [1.0], **SMALL)
    assert shown
    assert all(any(selected is one for one in held_out) for selected in shown)
