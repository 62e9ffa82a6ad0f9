"""The documentation site: every public name, command and schema is on it, and its links are put right."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

import dpso
from audit.cli.main import command_modules
from docs import fences, readme, site
from docs.site import BROUGHT, SCHEMAS, relinked

ROOT = Path(__file__).parents[2]


class _Loader(yaml.SafeLoader):
    """mkdocs' own tags are left alone."""


NAV = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), _Loader)["nav"]


def pages_in(nav: object) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in pages_in(part)]  # type: ignore[attr-defined]


def test_every_page_is_in_the_navigation_and_every_entry_is_a_page() -> None:
    own = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")} - {
        readme.TEMPLATE.name
    }
    made = {"reference/commands.md", "reference/schemas.md", *BROUGHT.values()}
    assert set(pages_in(NAV)) == own | made


def test_every_public_name_is_on_the_reference_page() -> None:
    text = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^::: [\w.]+\.(\w+)$", text, re.MULTILINE))
    assert set(dpso.__all__) <= listed


def test_the_commands_page_has_every_option_of_every_command() -> None:
    text = site.commands_page()
    for name in command_modules():
        assert f"\n## dpso {name}\n" in text
    for option in ("--epsilon", "--outputs", "--paper", "--export", "--resolution", "--json"):
        assert option in text


def test_the_schemas_page_has_every_field() -> None:
    text = site.schemas_page()
    for path in SCHEMAS:
        assert all(
            f"| `{name}` |" in text for name in json.loads((ROOT / path).read_text(encoding="utf-8"))["properties"]
        )


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("[map](../proofs_map.md)", "[map](proofs-map.md)"),
        ("[how](foreign.md#which-neighbours)", "[how](foreign.md#which-neighbours)"),
        ("![f](figures/power.svg)", "![f](figures/power.svg)"),
        ("[step](../.github/actions/dp-audit/action.yml)", "step (`.github/actions/dp-audit/action.yml`)"),
        ("[here](#below)", "[here](#below)"),
        ("```\n[not](a/link.py)\n```", "```\n[not](a/link.py)\n```"),
    ],
)
def test_links_are_put_right(text: str, becomes: str) -> None:
    assert relinked(text, "docs/tour.md", "tour.md") == becomes


def test_links_of_a_page_in_a_folder() -> None:
    assert relinked("[c](CONTRIBUTING.md)", "ARCHITECTURE.md", "project/architecture.md") == "[c](contributing.md)"


def test_doctests_become_blocks() -> None:
    assert fences.fenced("Text.\n\n>>> f(1)\n2\n\nMore.") == "Text.\n\n```pycon\n>>> f(1)\n2\n```\n\nMore."


def test_the_readme_is_what_its_template_gives(tmp_path: Path) -> None:
    assert readme.problem(ROOT) == ""
    (tmp_path / "docs").mkdir()
    (tmp_path / readme.TEMPLATE).write_text("<!-- number: statements -->29<!-- /number --> statements\n")
    assert "dpso trace --write" in readme.problem(tmp_path)
    (tmp_path / "README.md").write_text("29 statements\n")
    assert readme.problem(tmp_path) == ""


def test_counts_of_nothing_are_left_out_and_the_paragraph_is_folded_anew() -> None:
    mark = "<!-- number: x -->{}<!-- /number -->"
    nine, four, none, five = map(mark.format, (9, 4, 0, 5))
    told = f"Of {nine} things {four}\nhold, {none} are false at an edge, {five} is\ncited.\n"
    assert readme.plain(f"# T\n\n{told}") == "# T\n\nOf 9 things 4 hold, 5 is cited.\n"
    assert readme.plain("as it\nstands, 0 here, and\n") == "as it\nstands, 0 here, and\n"


def test_the_readme_is_short_and_has_no_marks() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    assert "<!--" not in text
