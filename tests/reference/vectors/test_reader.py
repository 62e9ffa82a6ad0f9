"""The reader that is one file: it needs nothing but the standard library, and says what the cross-check says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from reference import vectors
from reference.vectors.execute import float64

READER = Path(str(vectors.__file__)).parent / "check_vectors.py"
CLIENT = """
import json, sys
replies = json.load(open(sys.argv[1]))
for line in sys.stdin:
    print(json.dumps(replies[json.loads(line)["case"]["id"]]), flush=True)
"""


def told(tmp_path: Path, change: object = None, trace: bool = True) -> tuple[int, str]:
    """Exit code and output of the copied reader, in Python without site-packages."""
    shutil.copy(READER, tmp_path / "check_vectors.py")
    replies = {case["id"]: float64(case) for case in vectors.load("Alg:nfw", "corrected")["cases"]}
    for reply in replies.values():
        if "output" in reply and change:
            reply["output"]["w"][0] += change
        if not trace:
            reply.pop("trace")
    (tmp_path / "replies.json").write_text(json.dumps(replies))
    (tmp_path / "client.py").write_text(CLIENT)
    command = [sys.executable, str(tmp_path / "client.py"), str(tmp_path / "replies.json")]
    reader = [sys.executable, "-I", "-S", str(tmp_path / "check_vectors.py"), str(READER.parent)]
    run = subprocess.run([*reader, "noisy-frank-wolfe-corrected", *command], capture_output=True, text=True, timeout=60)
    assert run.stderr == ""
    return run.returncode, run.stdout


def test_it_agrees_with_the_reference(tmp_path: Path) -> None:
    code, out = told(tmp_path)
    assert (code, out.count("\n")) == (0, 1), out
    assert "0 fail, 0 error, 0 skip" in out


def test_it_sees_a_difference_and_what_is_unchecked(tmp_path: Path) -> None:
    code, out = told(tmp_path, change=1e-3)
    assert code == 1
    assert "noisy-frank-wolfe-corrected-basic: fail: output w" in out
    code, out = told(tmp_path, trace=False)
    assert code == 3
    assert "line 3: s" in out


def test_it_verifies_the_manifest_and_prints_the_root(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    shutil.copytree(READER.parent, folder, ignore=shutil.ignore_patterns("cases", "__pycache__"))
    run = [sys.executable, "-I", "-S", str(READER), str(folder)]
    assert subprocess.run(run, capture_output=True, text=True).stdout == f"sound: {vectors.root()}\n"
    (folder / "SPEC.md").write_text("other words")
    found = subprocess.run(run, capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (1, "SPEC.md is damaged\n")


REPLY = Draft202012Validator(json.loads(vectors.read("reply.schema.json")))


def test_the_schema_of_replies_knows_a_reply() -> None:
    for case in vectors.load("Alg:nfw", "corrected")["cases"]:
        assert REPLY.is_valid(float64(case)), case["id"]


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"output": None},
        {"output": {"w": [1]}, "reject": "x"},
        {"output": {"w": [True]}},
        {"output": {"w": ["1/3"]}},
        {"output": {"w": [1]}, "trace": [{"name": "m", "index": 1, "value": 1}]},
        {"output": {"w": [1]}, "trace": [{"name": "m"}]},
    ],
)
def test_and_refuses_what_is_none(reply: object) -> None:
    assert not REPLY.is_valid(reply)


@pytest.mark.parametrize("words", [["--help"], [], ["nowhere"], [str(READER.parent), "no-such-file", "true"]])
def test_bad_input_is_two_and_no_traceback(words: list[str]) -> None:
    run = subprocess.run([sys.executable, "-I", "-S", str(READER), *words], capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    assert run.stderr.startswith(("Check an implementation", "check_vectors: FileNotFoundError"))


def test_a_command_that_does_not_start_is_bad_input() -> None:
    words = [str(READER), str(READER.parent), "gll-oracle-corrected", "/no/such/command"]
    run = subprocess.run([sys.executable, "-I", "-S", *words], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1), run.stderr
