"""`dpso prove`: what it prints, what it exports, and its exit codes."""

import json
from pathlib import Path

import pytest

from audit.checks.proofs import ledger, solvers
from audit.checks.proofs.steps import Smt, StepReplay, step
from audit.checks.proofs.terms import real
from audit.cli import replay
from audit.cli.main import main


def test_a_statement_is_replayed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "lem:adv_comp"]) == 0
    text = capsys.readouterr().out
    assert "composition.bernoulli" in text
    assert "proved" in text


def test_json_has_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "lem:moreau", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    steps = {row["id"]: row for row in data["steps"]}
    assert steps["moreau.gap"]["status"] == "proved" == steps["moreau.gap"]["recorded"]
    assert steps["moreau.gap"]["mutant"].startswith("with 99/100 of the bound: false at")
    assert steps["moreau.exists"]["status"] == "paper"
    assert data["second solver"].startswith("cvc5 ")
    assert all(said.startswith("cvc5 ") for row in steps.values() for said in row["opinions"])
    assert data["counts"]["proved"] == sum(row["status"] == "proved" for row in data["steps"])


def test_everything_can_be_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(replay, "_replays", lambda chosen, _: {one.id: StepReplay("paper") for one in chosen})
    assert main(["prove", "--export", str(tmp_path)]) == 0
    assert len(list(tmp_path.iterdir())) == sum(1 for one in ledger.steps() for _ in one.files())


def test_an_export_is_what_a_solver_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "moreau.gap", "--export", str(tmp_path / "smt")]) == 0
    files = sorted(p.name for p in (tmp_path / "smt").iterdir())
    assert files == ["moreau.gap.mutant.smt2", "moreau.gap.smt2"]
    text = (tmp_path / "smt" / "moreau.gap.smt2").read_text()
    assert text.startswith("; moreau.gap: ")
    assert solvers.ask(text).verdict == "unsat"
    (tmp_path / "file").write_text("")
    assert main(["prove", "moreau.gap", "--export", str(tmp_path / "file" / "x")]) == 2
    assert "name a folder that can be written" in capsys.readouterr().err


def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "lem:moroau"]) == 2
    assert "did you mean lem:moreau?" in capsys.readouterr().err
    assert main(["prove", "lem:moreau", "--record"]) == 2
    assert "drop the ID" in capsys.readouterr().err


@pytest.mark.parametrize(("bound", "answer", "code"), [(0, None, 1), (1, "unknown", 3)])
def test_a_false_step_exits_1_and_an_open_one_3(
    bound: int, answer: str | None, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    x = real("x")
    one = step("a.b", "lem:moreau", "x is at most a multiple of itself", Smt("x ≥ 0", (x >= 0,), x <= bound * x))
    monkeypatch.setattr(ledger, "steps", lambda: (one,))
    if answer:
        monkeypatch.setattr(solvers, "ask", lambda script: solvers.Answer("unknown", "z3", "timeout"))
    assert main(["prove"]) == code
    assert ("not decided" if answer else "the negation has a model") in " ".join(capsys.readouterr().out.split())


def test_what_the_second_solver_said_is_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", "moreau.gap"]) == 0
    assert f"second opinion, {solvers.version('cvc5')}: agrees on 1 of 1 questions" in capsys.readouterr().out
    there = solvers.installed
    monkeypatch.setattr(solvers, "installed", lambda solver: solver != "cvc5" and there(solver))
    assert main(["prove", "moreau.gap"]) == 0
    assert "no second opinion: it needs cvc5: pip install 'dpso[paper]'" in capsys.readouterr().out


def test_without_a_solver_the_record_shows(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(solvers, "installed", lambda solver: False)
    assert main(["prove", "moreau.gap"]) == 3
    text = " ".join(capsys.readouterr().out.split())
    assert "proved (recorded)" in text
    assert "pip install 'dpso[paper]' (recorded: with z3 " in text
