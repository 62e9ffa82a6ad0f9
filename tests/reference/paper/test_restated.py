"""Every entry of the inventory is restated in formulas, ours and not the paper's sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reference.paper import inventory, restated
from reference.paper.inventory import InventoryError, Section


def test_every_entry_is_restated_and_formulas_carry_it() -> None:
    known = inventory.load()
    found = restated.load()
    assert list(found) == [id for id, entry in known.entries.items() if not isinstance(entry, Section)]
    for one in found.values():
        assert any("$" in line for line in one.given + one.printed), one.id


def test_what_is_marked_is_marked_on_both_sides() -> None:
    """A corrected form that differs by a formula says where; one without a mark would be a second printing."""
    for one in restated.load().values():
        if one.corrected:
            assert any(r"\boxed" in line or "batches" in line for line in one.corrected), one.id


def test_a_false_statement_has_a_corrected_form() -> None:
    known, found = inventory.load(), restated.load()
    for erratum in known.errata:
        for place in erratum.falsifies:
            id = known.places_of(place)[-1]
            if id in found:
                assert found[id].corrected, f"{erratum.id} falsifies {id}, whose restatement has no corrected form"


def test_words_between_formulas_are_few() -> None:
    """Restatements are formulas with words between them: no sentence of the text could hide in one."""
    for one in restated.load().values():
        for line in one.given + one.printed:
            words = re.findall(r"[A-Za-z]{2,}", re.sub(r"\$[^$]*\$", " ", line))
            assert len(words) <= 14, (one.id, line)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[[restated]]\nid = "lem:moreau"\ngiven = ["$x$"]\nprinted = ["$y$"]', "one restatement for each entry"),
        ('[[restated]]\nid = "lem:moreau"\ngiven = ["$x"]\nprinted = ["$y$"]', "dollar sign"),
        ('[[restated]]\nid = "lem:moreau"\nprinted = ["$y$"]', "must say what is given"),
        ('[[restated]]\nid = "lem:moreau"\nclaim = ["$y$"]', "unknown fields claim"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "restated.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InventoryError, match=problem):
        restated.read(file, inventory.load())
