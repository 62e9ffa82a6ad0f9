"""The figures of `reference/` at generic parameters are those of the record, `figures.json` beside this file.

Weak witnesses, and many: `tests/helpers/figures.py` says what they are, and how the record is written when a change is
meant.
"""

from __future__ import annotations

import pytest
from figures import differences, figures, modules, recorded

DRIVES = ("reference/",)
"""What these tests run through (`bench/nearest.py`); a test has the name of the module."""


@pytest.mark.parametrize("module", modules())
def test_figures_are_those_of_the_record(module: str) -> None:
    changed = list(differences(recorded().get(module, {}), figures(module)))
    shown = "\n".join(f"{name} at {at!r}: {old} became {new}" for name, at, old, new in changed[:12])
    assert not changed, f"{len(changed)} figures of {module} changed, the first of them:\n{shown}"


def test_every_counterexample_of_the_record_shows_its_defect_and_says_so_in_a_line() -> None:
    found = {name: figures for of in recorded().values() for name, figures in of.items() if "shown" in figures}
    assert len(found) > 100
    assert {figures["shown"] for figures in found.values()} == {"True"}
    assert all(figures["summary"] and "\n" not in figures["summary"] for figures in found.values())


def test_the_record_sees_a_constant_that_is_a_little_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """In what is reserved for rounding too, which is no visible share of a figure of balls or of many digits."""
    import reference.convex.rounding as module

    monkeypatch.setattr(module, "SLOPE", module.SLOPE + 1)
    changed = {name for name, *_ in differences(recorded()[module.__name__], figures(module.__name__))}
    assert "oracle_reserve" in changed
