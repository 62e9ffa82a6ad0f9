"""Every client of this repository agrees with the vectors, as docs/conformance.md says; in which languages, it says."""

from __future__ import annotations

import re

import pytest

from docs.make_conformance import CLIENTS, EVERY, PAGE, Implementation, page, rows, written, written_slips
from reference import vectors


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.path)
def test_the_client_agrees_and_its_rows_are_on_the_page(client: Implementation) -> None:
    if client.missing:
        pytest.skip(f"no {client.missing} here: {client.path} is not run")
    found = list(rows(client))
    for row in found:
        entries = re.findall(r"(\d+) of (\d+)", row)
        assert entries
        assert all(agree == offered for agree, offered in entries), row
    assert found == written(client), "python -m docs.make_conformance"


def test_the_page_is_made_of_these_rows_and_names_the_version() -> None:
    assert page({client.path: written(client) for client in CLIENTS}, written_slips()) == PAGE.read_text(
        encoding="utf-8"
    )
    assert f"version {vectors.VERSION}" in PAGE.read_text(encoding="utf-8")


def test_complete_clients_are_written_in_three_languages() -> None:
    complete = {client.language.partition(",")[0] for client in CLIENTS if client.algorithms == EVERY}
    assert {"Python", "JavaScript", "Rust"} <= complete
    assert len({client.language.partition(",")[0] for client in CLIENTS}) >= 3
