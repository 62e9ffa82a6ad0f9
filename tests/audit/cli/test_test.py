"""`dpso test` and `dpso sensitivity`: exit codes, JSON, one clear line for bad input."""

from __future__ import annotations

import json
import sys

import pytest

from audit.cli.main import main

MODULE = """
def fine(d, size, rng): return sum(d) + rng.laplace(size=size)
def half(d, rng): return {"value": sum(d) + rng.laplace() / 2, "secret": d}
def boom(d, rng): raise ValueError("no")
def mean(d): return sum(d) / len(d)
def nothing(d): pass
number = 3
"""

WORKER = """
import json, random, sys
for line in sys.stdin:
    r = json.loads(line)
    random.seed(r["seed"])
    draws = [sum(r["dataset"]) + random.expovariate(2) - random.expovariate(2) for _ in range(r["size"])]
    print(json.dumps({"outputs": draws}), flush=True)
"""


@pytest.fixture
def room(tmp_path, monkeypatch):
    (tmp_path / "some_mechanisms.py").write_text(MODULE)
    (tmp_path / "worker.py").write_text(WORKER)
    (tmp_path / "pair.json").write_text('{"dataset": [0, 0], "neighbour": [0, 1]}')
    (tmp_path / "pairs.json").write_text(
        '{"pairs": [{"dataset": [0, 0], "neighbour": [0, 1]}, {"dataset": [0, 0], "neighbour": [0, 3]}]}'
    )
    (tmp_path / "space.json").write_text('{"space": {"records": 2, "low": 0, "high": 2}}')
    (tmp_path / "equal.json").write_text('{"dataset": [0], "neighbour": [0]}')
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "half.json").write_text('{"dataset": [0]}')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("some_mechanisms", None)


def test(arguments, capsys):
    code = main(["test", *arguments.split(), *([] if "--samples" in arguments else ["--samples", "3000"])])
    out = capsys.readouterr()
    return code, out.out, out.err


run_test = test
del test


def test_consistent_is_zero(room, capsys):
    code, out, _ = run_test("some_mechanisms:fine --data pair.json --epsilon 1", capsys)
    assert code == 0
    assert out.startswith("CONSISTENT")


def test_violated_is_one_and_json_is_alone_on_stdout(room, capsys):
    code, out, err = run_test("some_mechanisms:half --data pair.json --epsilon 1 --release value --json", capsys)
    data = json.loads(out)
    assert code == 1
    assert data["verdict"] == "violated"
    assert data["epsilon_lower"] > 1.5
    assert "test:" in err


def test_several_pairs_and_search(room, capsys):
    code, out, _ = run_test("some_mechanisms:fine --data pairs.json --epsilon 1 --json", capsys)
    assert code == 1
    assert json.loads(out)["pair"] == 1
    assert run_test("some_mechanisms:fine --data space.json --epsilon 1 --samples 8000", capsys)[0] == 1


def test_a_command_in_another_language(room, capsys):
    assert (
        main(
            [
                "test",
                "--exec",
                f"{sys.executable} worker.py",
                "--data",
                "pair.json",
                "--epsilon",
                "1",
                "--samples",
                "3000",
            ]
        )
        == 1
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("some_mechanisms:boom --data pair.json --epsilon 1", "raised on every call, on both datasets: ValueError: no"),
        ("some_mechanisms:gone --data pair.json --epsilon 1", "has no 'gone'"),
        ("some_mechanisms:number --data pair.json --epsilon 1", "is no callable (its type is int)"),
        ("nowhere:f --data pair.json --epsilon 1", "'nowhere'; start dpso in the folder of nowhere.py"),
        ("some_mechanisms.py:fine --data pair.json --epsilon 1", "; write some_mechanisms:fine"),
        ("./a/some_mechanisms.py:fine --data pair.json --epsilon 1", "; write some_mechanisms:fine in ./a"),
        ("nocolon --data pair.json --epsilon 1", "MODULE:CALLABLE"),
        ("--data pair.json --epsilon 1", "either MODULE:CALLABLE or --exec"),
        ("some_mechanisms:fine --data gone.json --epsilon 1", "gone.json"),
        ("some_mechanisms:fine --data broken.json --epsilon 1", "not JSON"),
        ("some_mechanisms:fine --data half.json --epsilon 1", 'lacks "neighbour"'),
        ("some_mechanisms:fine --data equal.json --epsilon 1", "tested: the dataset and its neighbour are equal"),
        ("some_mechanisms:fine --data pair.json --epsilon -1", "epsilon = -1.0"),
        ("some_mechanisms:fine --data pair.json --epsilon 1 --delta 2", "delta = 2.0"),
        ("some_mechanisms:fine --data pair.json --epsilon 1 --samples 2", "samples = 2"),
        ("some_mechanisms:fine --data pair.json --epsilon 1 --samples 1.5", "1.5 must be a whole number"),
        ("some_mechanisms:fine --data pair.json --epsilon 1 --samples 1e999", "1e999 must be a whole number"),
        ("some_mechanisms:fine --data pair.json --epsilon 1 --seed -1", "--seed: -1 must be a whole number"),
        ("some_mechanisms:half --data pair.json --epsilon 1 --release x", "release = 'x' is no attribute"),
        ("some_mechanisms:fine --data some_mechanisms:fine --epsilon 1", "or a function of no arguments that returns"),
    ],
)
def test_bad_input_is_two_with_one_line(room, capsys, arguments, message):
    code, out, err = run_test(arguments, capsys)
    assert code == 2
    assert out == ""
    last = err.strip().splitlines()[-1]
    assert message in last
    assert "Traceback" not in err


def test_sensitivity_command(room, capsys):
    assert (
        main(["sensitivity", "some_mechanisms:mean", "--data", "pair.json", "--claimed", "0.5", "--budget", "50"]) == 0
    )
    assert main(["sensitivity", "some_mechanisms:mean", "--data", "pairs.json", "--claimed", "1", "--json"]) == 1
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["largest"] == 1.5
    assert main(["sensitivity", "some_mechanisms:boom", "--data", "pair.json", "--claimed", "1"]) == 2
    assert main(["sensitivity", "some_mechanisms:mean", "--data", "pair.json", "--claimed", "1", "--norm", "x"]) == 2
    capsys.readouterr()
    assert main(["sensitivity", "some_mechanisms:nothing", "--data", "pair.json", "--claimed", "1"]) == 2
    assert "query(dataset) gave None" in capsys.readouterr().err


def test_a_count_may_be_written_as_a_power_of_ten(room, capsys):
    code, out, _ = run_test("some_mechanisms:fine --data pair.json --epsilon 2 --samples 1e3 --json", capsys)
    assert code == 0
    assert json.loads(out)["samples"] == 1000


@pytest.mark.parametrize("words", ["mine:run", "mine:run --epsilon 1", "--epsilon 1 mine:run"])
def test_who_audits_a_mechanism_with_the_wrong_command_is_told_the_right_one(capsys, words):
    assert main(["audit", *words.split()]) == 2
    assert "to audit a mechanism: dpso test mine:run" in capsys.readouterr().err
    assert main(["audit", "--only", "lem:oracle", "--levle", "quick"]) == 2
    assert "'--levle', did you mean --level?" in capsys.readouterr().err
