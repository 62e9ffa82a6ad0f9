"""The worked clients (C, JavaScript, an estimator) agree with the vectors, and their bugs are found."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from audit.cli import main as cli
from audit.crosscheck.clients import ExecClient, python_client
from audit.crosscheck.compare import CrosscheckReport, crosscheck

HERE = Path(__file__).parents[2] / "examples" / "crosscheck"


def run(command: str, label: str, variant: str) -> CrosscheckReport:
    client = ExecClient(command, timeout=30)
    try:
        return CrosscheckReport(label, variant, command, tuple(crosscheck(client, label, variant)))
    finally:
        client.close()


def compiled(source: str, folder: Path) -> str:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    (folder / "oracle.c").write_text(source)
    words = [
        compiler,
        "-std=c99",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-o",
        str(folder / "oracle"),
        str(folder / "oracle.c"),
        "-lm",
    ]
    subprocess.run(words, check=True)
    return str(folder / "oracle")


def scripted(source: str, folder: Path) -> str:
    if shutil.which("node") is None:
        pytest.skip("no node on this machine")
    (folder / "client.js").write_text(source)
    return f"node {folder / 'client.js'}"


@pytest.mark.parametrize("variant", ["printed", "corrected"])
def test_the_c_client_agrees(variant: str, tmp_path: Path) -> None:
    report = run(compiled((HERE / "oracle.c").read_text(), tmp_path), "Alg:gll_oracle", variant)
    assert report.agrees
    assert report.skipped == 0


@pytest.mark.parametrize("variant", ["printed", "corrected"])
def test_the_javascript_client_agrees(variant: str, tmp_path: Path) -> None:
    report = run(scripted((HERE / "frank_wolfe.js").read_text(), tmp_path), "Alg:nfw", variant)
    assert report.agrees
    assert report.skipped == 0


def test_a_bug_in_the_c_client_is_found_at_its_line(tmp_path: Path) -> None:
    source = (HERE / "oracle.c").read_text()
    assert source.count("q->beta * c >= 0") == 1
    report = run(compiled(source.replace("q->beta * c >= 0", "2 * c >= 0"), tmp_path), "Alg:gll_oracle", "corrected")
    first = report.failed[0]
    assert first.divergence is not None
    assert (first.divergence.line, first.divergence.quantity) == (6, "keep[2]")
    assert "missing-half-beta" in {flag for v in report.failed for flag in v.flags}


def test_a_bug_in_the_javascript_client_is_found_at_its_line(tmp_path: Path) -> None:
    source = (HERE / "frank_wolfe.js").read_text()
    assert source.count("(3 * q.L0 * q.R * D") == 1
    report = run(scripted(source.replace("(3 * q.L0 * q.R * D", "(q.L0 * q.R * D"), tmp_path), "Alg:nfw", "corrected")
    first = report.failed[0]
    assert first.divergence is not None
    assert (first.divergence.line, first.divergence.quantity) == (3, "s")
    assert first.flags["scale-without-constant"].severity == "privacy"


def test_the_estimator_agrees_where_it_offers_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE.parents[1])
    client = python_client("examples.crosscheck.estimator:run")
    report = CrosscheckReport(
        "Alg:phased", "corrected", client.name, tuple(crosscheck(client, "Alg:phased", "corrected"))
    )
    assert report.agrees
    assert sum(v.status == "pass" for v in report.verdicts) >= 15
    assert report.skipped >= 5
    assert min(v.compared for v in report.verdicts if v.status == "pass" and v.expected == "match") >= 10


def test_the_estimator_is_an_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE.parents[1])
    from examples.crosscheck.estimator import PrivateQuantileRegressor

    rng = np.random.default_rng(0)
    X = rng.uniform(-0.5, 0.5, size=(64, 2))
    model = PrivateQuantileRegressor(epsilon=1, delta=1e-5, radius=1).fit(X, X @ [0.5, -0.5])
    assert model.predict(X).shape == (64,)
    assert np.linalg.norm(model.coef_) <= 1 + 1e-12
    with pytest.raises(ValueError, match="epsilon"):
        PrivateQuantileRegressor(epsilon=9, delta=1e-5).fit(X, X @ [1, 0])


BROKEN = """
from audit.crosscheck.bugs.catalogue import MUTANTS
from mutants import client

run = client(next(m for m in MUTANTS if m.id == "phased-sigma-without-four")).target
"""


def test_the_example_of_the_readme_is_what_the_runner_prints(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The block under "What a difference looks like" is the output for a σ_k without its 4."""
    (tmp_path / "readme_client.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(tmp_path)
    assert cli.main(["crosscheck", "phased-sgd", "--python", "readme_client:run"]) == 1
    printed = " ".join(capsys.readouterr().out.split())  # however long lines are folded
    text = (HERE / "README.md").read_text(encoding="utf-8")
    block = text.split("What a difference looks like")[1].split("```")[1].strip().splitlines()
    for line in block:
        assert " ".join(line.split()) in printed, line
