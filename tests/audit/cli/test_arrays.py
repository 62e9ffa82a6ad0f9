"""Tests of data, outputs and claims on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit.cli.arrays import arrays_of_lists, pair_of_files, pair_of_python, read_outputs
from audit.cli.main import main
from audit.runtime.errors import InputError


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    np.save("a.npy", rng.laplace(size=3000))
    np.save("b.npy", 1 + rng.laplace(size=3000))
    return tmp_path


def run(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(list(words))
    told = capsys.readouterr()
    return code, told.out, told.err


def test_outputs_are_audited_and_the_exit_code_is_the_verdict(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("test", "--outputs", "a.npy", "b.npy", "--epsilon", "0.4", "--json", capsys=capsys)
    told = json.loads(out)
    assert (code, told["verdict"]) == (1, "violated")
    assert told["claim"] == "(0.4, 0)-DP"
    assert run("test", "--outputs", "a.npy", "b.npy", "--epsilon", "1", capsys=capsys)[0] == 0
    np.save("few.npy", np.load("a.npy")[:80])
    assert run("test", "--outputs", "few.npy", "b.npy", "--epsilon", "1", capsys=capsys)[0] == 3


@pytest.mark.parametrize(
    ("words", "claim"),
    [
        (["--mu", "0.3"], "0.3-GDP"),
        (["--rho", "0.02"], "0.02-zCDP"),
        (["--rdp", "2:0.05", "8:0.3"], "(2, 0.05), (8, 0.3)-RDP"),
        (["--profile", "p.json"], "the profile ε(1e-05) = 0.5, ε(0.01) = 0.2"),
        (["--profile", "p.csv"], "the profile ε(1e-05) = 0.5, ε(0.01) = 0.2"),
    ],
)
def test_each_claim_has_its_option(
    room: Path, words: list[str], claim: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (room / "p.json").write_text('{"1e-5": 0.5, "1e-2": 0.2}')
    (room / "p.csv").write_text("delta,epsilon\n1e-5,0.5\n1e-2,0.2\n")
    code, out, _ = run("test", "--outputs", "a.npy", "b.npy", *words, "--json", capsys=capsys)
    told = json.loads(out)
    assert (code, told["verdict"], told["claim"]) == (1, "violated", claim)
    assert told["lower"] > told["claimed"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "nothing is claimed: give one of --epsilon, --rho, --mu, --rdp, --profile"),
        (["--mu", "1", "--rho", "1"], "--rho and --mu are claimed"),
        (["--rdp", "8=2"], "write each order with its ε"),
        (["--rdp", "1:2"], "must be a finite order > 1"),
        (["--mu", "1", "--delta", "0.1"], "goes with epsilon="),
        (["--profile", "rising.json"], "the profile is not decreasing"),
        (["--profile", "dented.json"], "the profile is not convex"),
        (["--profile", "none.json"], "none.json"),
        (["--mu", "1", "--samples", "500"], "--samples is for a mechanism that is called"),
        (["--mu", "1", "--anytime"], "--anytime is for a mechanism that is called"),
        (["--mu", "1", "--seed-arg", "seed"], "--seed-arg is for a mechanism that is called"),
    ],
)
def test_a_claim_that_makes_no_sense_is_one_line(
    room: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (room / "rising.json").write_text("[[1e-5, 0.5], [1e-2, 0.7]]")
    (room / "dented.json").write_text("[[1e-3, 2.0], [0.3, 1.9], [0.31, 0.0]]")
    code, out, err = run("test", "--outputs", "a.npy", "b.npy", *words, capsys=capsys)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.strip().splitlines()) == 1


def test_the_kinds_of_files_that_hold_outputs(room: Path) -> None:
    (room / "x.csv").write_text("score\n1.5\n2.5\n")
    (room / "xy.csv").write_text("1,2\n3,4\n")
    (room / "x.jsonl").write_text('"a"\n[1, 2]\n')
    assert read_outputs("x.csv").tolist() == [1.5, 2.5]
    assert read_outputs("xy.csv").tolist() == [[1, 2], [3, 4]]
    assert read_outputs("x.jsonl") == ["a", (1, 2)]
    assert len(read_outputs("a.npy")) == 3000
    np.savez("two.npz", a=np.zeros(2), b=np.ones(2))
    for path, says in (
        ("two.npz", "2 arrays"),
        ("x.txt", "outputs are read from"),
        ("gone.npy", "does not exist"),
    ):
        with pytest.raises(InputError, match=says):
            read_outputs(path)
    (room / "words.csv").write_text("a\nb\nc\n")
    with pytest.raises(InputError, match="must hold numbers"):
        read_outputs("words.csv")


def test_a_pair_in_files_and_in_python(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = np.zeros((4, 2)), np.zeros(4)
    np.savez("one.npz", X=X, y=y)
    np.savez("other.npz", y=np.array([1.0, 0, 0, 0]), X=X)
    pair = pair_of_files("one.npz,other.npz")
    assert pair is not None
    assert [array.shape for array in pair[1]] == [(4, 2), (4,)]
    assert pair_of_files('{"dataset": [1], "neighbour": [2]}') is None
    with pytest.raises(InputError, match="is one dataset: give two files"):
        pair_of_files("one.npz")
    (room / "claims_theirs.py").write_text(
        "import numpy as np\n"
        "pair = (np.zeros(3), np.ones(3))\n"
        "def made():\n    return [0.0], [1.0]\n"
        "three = (1, 2, 3)\n"
        "class Model:\n"
        "    def fit(self, X, y):\n"
        "        self.mean_ = float(y.mean() + np.random.laplace(scale=0.25))\n"
    )
    found = pair_of_python("claims_theirs:pair")
    assert found is not None
    assert found[1].tolist() == [1, 1, 1]
    assert pair_of_python("claims_theirs:made") == ([0.0], [1.0])
    assert pair_of_python("pair.json") is None
    with pytest.raises(InputError, match="a pair"):
        pair_of_python("claims_theirs:three")
    words = ["test", "claims_theirs:Model", "--data", "one.npz,other.npz", "--epsilon", "1", "--samples", "3000"]
    code, out, _ = run(*words, "--json", capsys=capsys)
    assert json.loads(out)["verdict"] == "consistent"
    assert code == 0


@pytest.mark.parametrize("form", [lambda X, y: {"X": X, "y": y}, lambda X, y: [X, y]])
def test_json_reaches_a_class_as_arrays(
    form: Callable[[Any, Any], Any], room: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`[X, y]` used to end in "fit() missing 1 required positional argument"."""
    (room / "claims_json.py").write_text(
        "import numpy as np\n"
        "class Model:\n"
        "    def fit(self, X, y):\n"
        "        self.coef_ = X[:, 0] @ y + np.random.laplace(0, 2)\n"
    )
    rows = [[1.0], [1.0], [1.0]]
    data = json.dumps({"dataset": form(rows, [0, 1, 1]), "neighbour": form(rows, [1, 1, 1])})
    words = ["test", "claims_json:Model", "--data", data, "--epsilon", "1", "--samples", "300", "--json"]
    code, out, _ = run(*words, capsys=capsys)
    assert (code, json.loads(out)["verdict"]) in [(0, "consistent"), (3, "inconclusive")]


def test_other_lists_are_one_array_or_stay_what_they_are() -> None:
    assert arrays_of_lists([[1, 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert arrays_of_lists(["a", "b"]) == ["a", "b"]
    assert arrays_of_lists({"age": [1]}) == {"age": [1]}
