"""The plan of the house: ARCHITECTURE.md is what the source gives, and every kind of breach is seen."""

import pytest

from audit.trace import imports
from audit.trace.imports import PAGE, cycles, drawn, faults, mermaid, modules, reduced, room_of, rooms


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    return modules()


def test_the_source_follows_the_plan(sources: dict[str, str]) -> None:
    assert faults(sources) == []


def test_the_page_is_what_the_source_gives(sources: dict[str, str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == drawn(page, mermaid(rooms(imports.imports(sources)))), "python -m audit.trace.imports --write"


def test_every_room_of_the_plan_is_on_the_page_and_has_modules(sources: dict[str, str]) -> None:
    table = [line.split("|")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    listed = {name.strip(" *`/") for cell in table for name in cell.split(",")}
    for storey in imports.STOREYS:
        for name, prefixes in storey.items():
            assert name in listed
            assert all(prefix in sources for prefix in prefixes), prefixes


@pytest.mark.parametrize(
    ("module", "line", "message"),
    [
        ("reference.numbers", "from audit.errors import InputError", "reference/ knows nothing of audit/"),
        ("reference.setting.data", "def f():\n    from audit import audit_dp", "reference/ knows nothing of audit/"),
        ("reference.numbers", "import reference.convex.oracle", "which stands above it"),
        ("audit.statements.section2", "from audit.report import render", "(statements) imports audit.report (report)"),
        ("audit.fast.arrays", "def f():\n    from audit import cli", "(fast) imports audit.cli (commands)"),
        ("audit.commands.test", "import audit.bench", "(commands) imports audit.bench (bench)"),
        ("audit.blackbox.result", "import audit.foreign.hook", "(blackbox) imports audit.foreign.hook (foreign)"),
        ("audit.foreign.lints", "import audit.longrun", "(foreign) imports audit.longrun (auditor)"),
        ("audit.errors", "from audit import markup", "import cycle"),
        ("audit.novelty", "", "say in audit/trace/imports.py to which room it belongs"),
    ],
)
def test_a_breach_is_seen(sources: dict[str, str], module: str, line: str, message: str) -> None:
    changed = dict(sources)
    changed[module] = f"{sources.get(module, '')}\n{line}\n"
    if message == "import cycle":
        changed["audit.markup"] = f"{sources['audit.markup']}\nimport audit.errors\n"
    assert any(message in fault for fault in faults(changed)), faults(changed)


def test_imports_for_type_checkers_are_no_arrows_and_lazy_ones_do_not_load() -> None:
    sources = {
        "a": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import b\ndef f():\n    import c",
        "b": "",
        "c": "import a.thing, numpy",
    }
    assert imports.imports(sources) == {"a": {"c"}, "b": set(), "c": {"a"}}
    assert imports.imports(sources, loading=True) == {"a": set(), "b": set(), "c": {"a"}}
    assert cycles(imports.imports(sources)) != []
    assert cycles(imports.imports(sources, loading=True)) == []


def test_arrows_that_follow_are_left_out() -> None:
    assert reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}


def test_rooms_go_by_the_longest_name() -> None:
    assert room_of("audit.zoo_foreign") == "zoo"
    assert (room_of("audit.foreign.lints"), room_of("audit.foreign.grid")) == ("foreign", "auditor")
    assert (room_of("audit.commands.test"), room_of("audit.commands.bench")) == ("commands", "bench")
    assert room_of("audit.novelty") == ""


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks the markers"):
        drawn("# Architecture", "graph")
