"""`dpso errata`: the list, one in full, the replay, and what it says when a replay fails."""

import json
from pathlib import Path

import pytest

from audit.cli import errata as command
from audit.cli.main import main
from audit.trace.links import CodeLink
from reference.paper import inventory
from reference.paper.registry import Counterexample, Hypothesis

ERRATA = """
[[erratum]]
id = "E3.10"
title = "The step has the wrong sign"
where = ["Alg:phased"]
lines = [7, 8]
tex = [423, 424]
severity = "misprint"
printed = "w + ηg"
corrected = "w − ηg"
cost = "none"
cost_kind = "free"
affects = "Who copies the display climbs instead of descending."

[[erratum]]
id = "E3.2"
title = "The search keeps the wrong half [red]and more[/red]"
where = ["Alg:gll_oracle", "lem:oracle"]
lines = []
tex = [315, 315]
severity = "accuracy"
regime = "every loss"
falsifies = ["lem:oracle"]
printed = "keeps the larger"
corrected = "keeps the smaller"
cost = "one subgradient a step"
cost_kind = "paid"
affects = "Everyone who runs it.\\u001b[31m Turn the comparison round."
"""


@pytest.fixture(autouse=True)
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "errata.toml"
    path.write_text(ERRATA)
    found = inventory.read(inventory.PAPER, path)
    monkeypatch.setattr(command, "inventory", lambda: found)
    monkeypatch.setenv("COLUMNS", "80")


def put(monkeypatch: pytest.MonkeyPatch, **functions) -> None:
    links = {
        id.replace("_", "."): [CodeLink(id, "counterexample", "printed", "module", "function", target)]
        for id, target in functions.items()
    }
    monkeypatch.setattr(command, "counterexamples", lambda: links)


def shown() -> Counterexample:
    return Counterexample(
        True, "output 0, truth 0.4", {"output": 0.0, "truth": 0.4, "ratio": float("inf"), "steps": 20}
    )


def with_hypotheses() -> Counterexample:
    met, broken = Hypothesis("n ≥ 1", True, "line 7"), Hypothesis("b ≥ 2", False, "")
    return Counterexample(True, "output 0", {}, (met, met, broken), "exact", "algorithm")


def not_shown() -> Counterexample:
    return Counterexample(False, "output 0.4, truth 0.4", {})


def raises() -> Counterexample:
    raise ZeroDivisionError("no\nroot")


def test_the_list_is_in_order_and_fits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["errata"]) == 0
    output = capsys.readouterr().out
    assert output.index("E3.2 ") < output.index("E3.10")
    for text in ("accuracy", "misprint", "Alg:phased L7,8", "The step has the wrong sign", "2 errata"):
        assert text in output
    assert max(map(len, output.splitlines())) <= 80


def test_one_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["errata", "e3.2"]) == 0
    output = capsys.readouterr().out
    for text in (
        "E3.2 false: accuracy",
        "[red]and more[/red]",
        "Alg:gll_oracle, lem:oracle (TeX line 315)",
        "keeps the larger",
        "keeps the smaller",
        "one subgradient a step",
        "Turn the comparison round.",
    ):
        assert text in output
    assert "\x1b" not in output
    assert main(["errata", "E3.10"]) == 0
    assert "Alg:phased L7,8 (TeX lines 423 to 424)" in capsys.readouterr().out


def test_a_replay_says_which_hypotheses_are_met(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch, E3_2=with_hypotheses)
    assert main(["errata", "E3.2", "--run"]) == 0
    output = capsys.readouterr().out
    assert output.count("meets: n ≥ 1 (line 7)") == 1
    assert "DOES NOT MEET: b ≥ 2\n" in output
    assert main(["errata", "E3.2", "--run", "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)[0]["replay"]["runs"]
    assert [h["holds"] for h in run["hypotheses"]] == [True, False]
    assert (run["bound"], run["against"]) == ("exact", "algorithm")


def test_a_replay_shows_the_numbers(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, E3_2=shown)
    assert main(["errata", "E3.2", "--run"]) == 0
    output = capsys.readouterr().out
    for text in ("E3.2 shown in", "module:function: output 0, truth 0.4", "truth = 0.4", "ratio = inf", "steps = 20"):
        assert text in output


@pytest.mark.parametrize(
    ("functions", "reason"),
    [
        ({"E3_2": not_shown}, "output 0.4, truth 0.4"),
        ({"E3_2": raises}, "module:function failed: ZeroDivisionError: no root"),
        ({}, "E3.2 has no counterexample that runs"),
    ],
)
def test_what_does_not_reproduce_is_exit_1(
    functions, reason: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch, **functions)
    assert main(["errata", "E3.2", "--run"]) == 1
    captured = capsys.readouterr()
    assert "E3.2 NOT REPRODUCED" in captured.out
    assert reason in captured.out
    assert captured.err == "not reproduced: E3.2\n"


def test_all_of_them(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, E3_2=shown, E3_10=shown)
    assert main(["errata", "--run"]) == 0
    assert capsys.readouterr().out.count(" shown in ") == 2
    put(monkeypatch, E3_2=shown, E3_10=not_shown)
    assert main(["errata", "--run"]) == 1
    assert capsys.readouterr().err == "not reproduced: E3.10\n"


def test_all_must_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    links = [CodeLink("E3.2", "counterexample", "printed", "m", "f", target) for target in (shown, not_shown)]
    assert not command.replay("E3.2", links).shown
    assert command.replay("E3.2", links[:1]).shown


def test_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, E3_2=shown)
    assert main(["errata", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [e["id"] for e in listed] == ["E3.2", "E3.10"]
    assert "replay" not in listed[0]
    assert main(["errata", "--json", "--run"]) == 1
    replayed = json.loads(capsys.readouterr().out)
    assert replayed[0]["replay"]["shown"] is True
    assert replayed[0]["replay"]["runs"][0]["numbers"]["ratio"] == "inf"
    assert replayed[1]["replay"] == {
        "shown": False,
        "error": "E3.10 has no counterexample that runs",
        "seconds": 0.0,
        "runs": [],
    }


@pytest.mark.parametrize(
    ("id", "message"),
    [
        ("E3.20", "unknown erratum 'E3.20', did you mean E3.2?"),
        ("zzz", "unknown erratum 'zzz' (dpso errata lists them)"),
    ],
)
def test_an_unknown_id(id: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["errata", id]) == 2
    assert capsys.readouterr().err == f"dpso: {message}\n"
