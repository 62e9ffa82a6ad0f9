"""The specimens' ground truth, the benchmark that is made from them, and the recipe of the documentation."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from audit.auditor.api import audit_dp
from bench import foreign as bench
from bench.specimens import Specimen, specimens

SPECIMENS = specimens()
SURE = 1 - 1e-7


def audit(specimen: Specimen, make: Any, **options: Any) -> Any:
    return audit_dp(
        make(specimen.epsilon),
        specimen.dataset,
        specimen.neighbour,
        epsilon=options.pop("epsilon", specimen.epsilon),
        delta=specimen.delta,
        neighbours=specimen.relation,
        **options,
    )


def test_names_are_unique_and_claims_are_as_told() -> None:
    assert len({s.name for s in SPECIMENS}) == len(SPECIMENS) >= 20
    assert {s.name for s in SPECIMENS if not s.broken} == {"ignores-data", "mutates-input", "prints"}
    assert all(s.test == s.broken for s in SPECIMENS)
    assert all(s.twin_epsilon <= s.epsilon * (1 + 1e-9) for s in SPECIMENS)
    assert all(s.kinds or s.test for s in SPECIMENS)


@pytest.mark.parametrize("specimen", SPECIMENS, ids=lambda s: s.name)
def test_no_bound_exceeds_the_ground_truth(specimen: Specimen) -> None:
    """At a false-alarm level of 1e-7 a specimen's bound stays below its true ε, a twin's below its own."""
    broken = audit(specimen, specimen.make, samples=1000, confidence=SURE)
    twin = audit(specimen, specimen.repaired, samples=1000, confidence=SURE)
    assert broken.epsilon_lower <= specimen.true_epsilon + 1e-9
    assert twin.epsilon_lower <= specimen.twin_epsilon + 1e-9
    assert twin.verdict in ("consistent", "inconclusive")


REFUTED = [s for s in SPECIMENS if s.test and s.true_epsilon >= 2 * s.epsilon and s.name != "data-dependent-scale"]


@pytest.mark.parametrize("specimen", REFUTED, ids=lambda s: s.name)
def test_the_test_refutes_what_is_broken(specimen: Specimen) -> None:
    """Ground truth from the other side: a claim a quarter of the way to the truth is refuted too."""
    if math.isfinite(specimen.true_epsilon):
        further = min(1.5, specimen.epsilon + (specimen.true_epsilon - specimen.epsilon) / 4)
        assert audit(specimen, specimen.make, samples=6000, epsilon=further).violated
    else:
        assert audit(specimen, specimen.make, samples=3000).violated


def test_the_benchmark_measures_and_renders() -> None:
    found = {
        name: bench.find(next(s for s in SPECIMENS if s.name == name), 0)
        for name in ("fixed-scale", "shared-noise", "realised-batch")
    }
    assert {name: tool for name, (tool, _) in found.items()} == {
        "fixed-scale": "lint", "shared-noise": "replay", "realised-batch": "test",
    }  # fmt: skip
    assert all(calls <= bench.MOST_CALLS for _, calls in found.values())
    parts = [part for part in bench.PARTS if part != "search"]
    result = bench.run(lambda _: None, parts, seeds=1, names=["prints"], overhead={"calls": 20, "repeats": 1})
    assert [row["found"] for row in result["bugs"]] == [1]
    assert set(result["verdicts"][0]["verdicts"]) <= {"consistent", "inconclusive"}
    table = bench.render(result)
    assert "| writes to stdout in every call | 1 | 1 | 1/1 | lint |" in table
    assert "1 seeds each: 0." in table


def test_false_findings_would_show_in_the_table() -> None:
    false = [{"name": "x", "findings": {"reseeded": 2}}]
    verdicts = [{"name": "y", "verdicts": {"violated": 1, "consistent": 19}}, {"name": "z", "verdicts": {"suspect": 0}}]
    result = {"seeds": 20, "bugs": [], "false": false, "overhead": {"typical": 0.064}, "target": 0.2}
    assert "error: 2 mechanisms (y: {'violated': 1" in bench.render(result | {"verdicts": verdicts})
    assert "20 seeds each: 2 (x: {'reseeded': 2})" in bench.render(result)
    assert "typical 6.4 % (target ≤ 20 %)" in bench.render(result)


def test_the_recipe_of_the_documentation_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "foreign.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    recipe = [line for line in blocks[1].splitlines() if line.strip()]
    assert len(recipe) <= 5
    monkeypatch.chdir(tmp_path)
    exec(compile("\n\n".join(blocks), "recipe.py", "exec"), {})
    told = capsys.readouterr().out
    assert told.startswith("VIOLATED")
    assert "sensitivity: on the same draws" in told
    assert "recipe.py:" in told
    assert (tmp_path / "grid.html").exists()
    assert re.search(r"[✗?] \d", told.split("cells refute", 1)[1])


def test_every_finding_is_explained() -> None:
    """The table of the documentation has each kind that the code can report, and no other."""
    root = Path(__file__).parents[2]
    files = list((root / "audit" / "auditor").rglob("*.py"))
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    reported = set(re.findall(r'Finding\(\s*"([a-z-]+)"', source)) | {"not-neighbours", "equal-pair"}
    page = (root / "docs" / "foreign.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    explained = {kind for row in rows for kind in re.findall(r"`([\w-]+)`", row)}
    assert explained == reported
