"""The runner over test vectors: agreement, the first line that differs, bad clients, exit codes."""

from __future__ import annotations

import ast
import json
import math
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spec_client

from audit.cli import main as cli
from audit.cli.algorithms import label_of
from audit.crosscheck.clients import ExecClient, PythonClient, WorkerClient
from audit.crosscheck.compare import CaseVerdict, CrosscheckReport, compare, crosscheck, differs
from audit.crosscheck.replies import ClientError
from audit.engine import client as fast
from audit.runtime.errors import InputError
from reference import vectors
from reference.paper.algorithms import ALGORITHMS
from reference.vectors.execute import float64

FILES = [(a.label, v) for a in ALGORITHMS for v in a.editions]
ORACLE = vectors.load("Alg:gll_oracle", "corrected")
COUNT = len(ORACLE["cases"])
REPLIES: dict[str, Any] = {case["id"]: float64(case) for case in ORACLE["cases"]}


def check(
    answer: Callable[[dict[str, Any]], Any], label: str = "Alg:gll_oracle", variant: str = "corrected"
) -> CrosscheckReport:
    client = PythonClient(answer, "test", timeout=5)
    return CrosscheckReport(label, variant, "test", tuple(crosscheck(client, label, variant)))


# ------------------------------------------------------------------------------------------ who agrees


@pytest.mark.parametrize("answer", [float64, fast.run], ids=["reference", "fast"])
@pytest.mark.parametrize(("label", "variant"), FILES)
def test_reference_and_fast_engine_pass_all_vectors(label: str, variant: str, answer: Any) -> None:
    report = check(answer, label, variant)
    assert report.agrees
    assert report.failed == ()
    assert report.skipped == 0
    compared = [v.compared for v in report.verdicts if v.expected == "match"]
    assert min(compared) >= (5 if answer is float64 else 1)


@pytest.mark.parametrize(("label", "variant"), [(label, v) for label, v in FILES if v == "corrected"])
def test_the_printed_text_does_not_pass_for_the_corrected_one(label: str, variant: str) -> None:
    report = check(lambda case: float64({**case, "variant": "printed"}), label, variant)
    assert not report.agrees
    assert any(v.divergence is not None for v in report.failed)


@pytest.mark.parametrize(("label", "variant"), FILES)
def test_the_specification_alone_is_enough(label: str, variant: str) -> None:
    """A client written from SPEC.md, without a line of the project, passes with all events of every trace."""
    report = check(spec_client.run, label, variant)
    assert report.failed == ()
    assert report.skipped == (2 if (label, variant) == ("Alg:PGPSMD", "corrected") else 0)
    lengths = {case["id"]: len(case["trace"]) for case in vectors.load(label, variant)["cases"] if "trace" in case}
    for verdict in report.verdicts:
        if verdict.expected == "match" and verdict.status == "pass":
            assert verdict.compared >= lengths[verdict.id] + 1, verdict.id


def test_the_client_of_the_specification_imports_nothing_of_the_project() -> None:
    tree = ast.parse(Path(str(spec_client.__file__)).read_text(encoding="utf-8"))
    names = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    names += [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    assert {str(name).partition(".")[0] for name in names} <= set(sys.stdlib_module_names)


# -------------------------------------------------------------------------------------- what is reported


def test_the_first_divergence_names_line_quantity_numbers_and_flag() -> None:
    def narrow(case: dict[str, Any]) -> Any:
        reply = float64(case)
        for event in reply["trace"]:
            if event["name"] == "a":
                event["value"] += 1e-3
        return reply

    first = check(narrow).failed[0]
    assert first.divergence is not None
    assert (first.divergence.line, first.divergence.quantity) == (2, "a")
    assert first.divergence.difference == pytest.approx(1e-3)
    assert first.divergence.ulps == pytest.approx(
        1e-3 / math.ulp(float(ORACLE["cases"][0]["trace"][1]["value"]) or 1), rel=0.5
    )
    assert "wrong-interval" in first.flags
    assert "line 2, accuracy" in str(first.flags["wrong-interval"])


def test_without_a_trace_the_output_is_compared_and_a_trace_is_asked_for() -> None:
    def output_only(case: dict[str, Any]) -> Any:
        reply = float64(case)
        return {"output": {"gradient": [2 * x for x in reply["output"]["gradient"]]}} if "output" in reply else reply

    first = check(output_only).failed[0]
    assert first.divergence is not None
    assert first.divergence.line == 11
    assert "send a trace" in first.note


def test_a_bug_that_leaves_the_output_unchanged_is_seen_in_the_trace() -> None:
    def other_scale(case: dict[str, Any]) -> Any:
        reply = float64(case)
        for event in reply["trace"]:
            if event["name"] == "s":
                event["value"] *= 2
        return reply

    report = check(other_scale, "Alg:nfw")
    assert {v.divergence.line for v in report.failed if v.divergence} == {3}


def test_the_tolerance_is_the_limit() -> None:
    want = {"value": ["1", "2"], "radius": "1e-40", "tolerance": "1e-13"}
    assert differs(5, "w[1]", want, [1 + 0.9e-13, 2]) is None
    found = differs(5, "w[1]", want, [1 + 1.2e-13, 2])
    assert found is not None
    assert found.quantity == "w[1], entry 1"
    assert found.ulps == pytest.approx(1.2e-13 / math.ulp(1.0), rel=0.01)


def test_numbers_may_be_decimal_strings_and_integers_may_be_floats() -> None:
    assert differs(1, "x", {"value": "0.1", "radius": "1e-40", "tolerance": "1e-30"}, "0.1") is None
    assert differs(1, "x", {"value": "0.1", "radius": "1e-40", "tolerance": "1e-30"}, 0.1) is not None
    assert differs(1, "T", {"value": 3}, 3.0) is None
    assert differs(1, "batch", {"value": [0, 1]}, [0.0, 1.0]) is None
    assert differs(1, "batch", {"value": [0, 1]}, [0]) is not None


def test_part_of_a_trace_in_any_order_is_enough() -> None:
    def partial(case: dict[str, Any]) -> Any:
        reply = float64(case)
        return {**reply, "trace": [e for e in reply["trace"] if e["name"] in ("T", "m")][::-1]}

    assert check(partial).agrees


def test_a_refusal_passes_where_it_is_due_and_fails_where_it_is_not() -> None:
    report = check(lambda case: {"reject": "I refuse everything"})
    expected = {v.id: v.status for v in report.verdicts}
    assert all(expected[c["id"]] == ("fail" if c["result"] == "match" else "pass") for c in ORACLE["cases"])
    assert "rejected a valid input: I refuse everything" in report.failed[0].note
    accepted = check(lambda case: {"output": {"gradient": [0.0] * len(case["input"]["x"])}})
    notes = [v.note for v in accepted.failed if v.expected == "reject"]
    assert notes
    assert all("must be refused" in note for note in notes)


def test_either_accepts_any_finite_answer_of_the_right_shape() -> None:
    (case,) = [c for c in ORACLE["cases"] if c["result"] == "either"]
    assert compare(case, {"output": {"gradient": [7, 7]}}, "gradient", {}).status == "pass"
    assert compare(case, {"reject": "no"}, "gradient", {}).status == "pass"
    for bad in ([7], [7, math.nan]):
        with pytest.raises(ClientError):
            compare(case, {"output": {"gradient": bad}}, "gradient", {})


def test_what_is_not_offered_is_skipped_and_nothing_compared_is_no_agreement() -> None:
    def only_absolute(case: dict[str, Any]) -> Any:
        if case["input"]["loss"]["family"] != "absolute":
            raise NotImplementedError("other losses")
        return float64(case)

    some = check(only_absolute)
    assert some.agrees
    assert some.skipped > 5
    nothing = check(lambda case: {"unsupported": "anything"})
    assert nothing.failed == ()
    assert not nothing.agrees


@pytest.mark.parametrize("options", [(), ("--outputs-only",)])
def test_where_nothing_is_offered_nothing_was_compared(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "idle.py").write_text('def run(case):\n    return {"unsupported": "nothing is"}\n')
    monkeypatch.chdir(tmp_path)
    assert dpso("crosscheck", "gll-oracle", "--python", "idle:run", *options) == 3


# -------------------------------------------------------------------------------------- bad Python clients


def hang(case: dict[str, Any]) -> Any:
    while True:
        time.sleep(0.01)


def fail(case: dict[str, Any]) -> Any:
    raise TypeError("no such thing")


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def event(name: Any, index: Any, value: Any = 1) -> dict[str, Any]:
    return {"name": name, "index": index, "value": value}


BAD: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "crash": (fail, "raised TypeError: no such thing"),
    "none": (lambda case: None, "returned NoneType"),
    "no-output": (lambda case: {"w": [1]}, 'sent no "output" with "gradient"'),
    "nan": (lambda case: {"output": {"gradient": [math.nan] * 2}}, "no finite number"),
    "infinite": (lambda case: {"output": {"gradient": ["inf", 1]}}, "no finite number"),
    "boolean": (lambda case: {"output": {"gradient": [True, False]}}, "which is no number"),
    "short": (lambda case: {"output": {"gradient": [1.0]}}, "2 entries are due"),
    "scalar": (lambda case: {"output": {"gradient": 1.0}}, "2 entries are due"),
    "trace-word": (lambda case: {**float64(case), "trace": "x"}, "a trace that is no list"),
    "trace-event": (lambda case: {**float64(case), "trace": [{"line": 1}]}, "without name or value"),
    "trace-unknown": (lambda case: {**float64(case), "trace": [{"name": "q", "value": 1}]}, "no event is known"),
    "exit": (lambda case: sys.exit(0), "called sys.exit(0)"),
    "huge-exponent": (lambda case: {"output": {"gradient": ["1e999999999", "1"]}}, "of reasonable size"),
    "huge-float": (lambda case: {"output": {"gradient": [1e308 * 10, 1]}}, "no finite number"),
    "ratio": (lambda case: {"output": {"gradient": ["1/3", "1"]}}, "no finite number in decimals"),
    "null": (lambda case: {"output": {"gradient": [None, 1]}}, "which is no number"),
    "null-output": (lambda case: {"output": None}, 'sent no "output"'),
    "deep": (lambda case: {"output": {"gradient": nested(10**5)}}, "nested too deeply"),
    "object": (lambda case: {"output": {"gradient": object()}}, "which is no JSON value"),
    "both": (lambda case: {**float64(case), "reject": "x"}, "sent reject and output in one reply"),
    "index-number": (lambda case: {**float64(case), "trace": [event("m", 1)]}, "no list of integers: 1"),
    "index-word": (lambda case: {**float64(case), "trace": [event("m", "12")]}, "no list of integers: 12"),
    "index-truth": (lambda case: {**float64(case), "trace": [event("m", [True])]}, "no list of integers"),
    "name-number": (lambda case: {**float64(case), "trace": [event(7, [])]}, "whose name is no string: 7"),
    "twice": (
        lambda case: {**float64(case), "trace": [event("m", [], 1), event("m", [], 2)]},
        "sent m twice: 1, then 2",
    ),
    "trace-shape": (lambda case: {**float64(case), "trace": [{"name": "m", "value": [1, 2]}]}, "one value is due"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_answer_is_quoted_and_the_other_cases_still_run(name: str) -> None:
    answer, message = BAD[name]
    target = ORACLE["cases"][1]["id"]
    report = check(lambda case: answer(case) if case["id"] == target else REPLIES[case["id"]])
    (failed,) = report.failed
    assert (failed.id, failed.status) == (target, "error")
    assert message in failed.note
    assert len(report.verdicts) == len(ORACLE["cases"])


@pytest.mark.parametrize("shape", ["numpy", "float32", "fractions", "decimals", "nulls", "tuples"])
def test_values_of_python_libraries_are_read(shape: str) -> None:
    import decimal
    from fractions import Fraction

    import numpy as np

    def answer(case: dict[str, Any]) -> Any:
        reply = float64(case)
        if "output" not in reply:
            return {**reply, "output": None, "unsupported": None} if shape == "nulls" else reply
        gradient: list[float] = reply["output"]["gradient"]
        made: Any = {
            "numpy": lambda: np.array(gradient),
            "float32": lambda: [np.float64(x) for x in gradient],
            "fractions": lambda: [Fraction(x) for x in gradient],
            "decimals": lambda: [decimal.Decimal(x) for x in gradient],
            "nulls": lambda: gradient,
            "tuples": lambda: tuple(gradient),
        }[shape]()
        extra = {"reject": None, "unsupported": None} if shape == "nulls" else {}
        trace = [{**e, "index": tuple(np.array(e["index"], dtype=int))} for e in reply["trace"]]
        return {"output": {"gradient": made}, "trace": trace, **extra}

    report = check(answer)
    assert report.failed == ()
    assert report.agrees


RUDE = """
import json, os, signal, sys, time
from reference.vectors.execute import float64

def run(case):
    if case["id"] == {target!r}:
        {deed}
    print("noise")
    os.write(1, b"more noise")
    return float64(case)
"""
DEEDS = {
    "sys.exit(0)": "called sys.exit(0)",
    "os._exit(0)": "ended without an answer (exit code 0",
    "os.kill(os.getpid(), signal.SIGKILL)": "ended without an answer (exit code -9",
    "os.close(0); os.closerange(3, 20); time.sleep(60)": "",
    "time.sleep(60)": "did not answer within",
    "raise KeyboardInterrupt": "ended without an answer",
    "return {'output': {'gradient': [10 ** 5000, 1]}}": "no JSON",
    "return {'output': {'gradient': ['1e999999999', 1]}}": "of reasonable size",
}


@pytest.mark.parametrize("deed", DEEDS)
def test_a_python_client_costs_one_case_whatever_it_does(
    deed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = ORACLE["cases"][2]["id"]
    (tmp_path / "rude_client.py").write_text(RUDE.format(target=target, deed=deed))
    monkeypatch.syspath_prepend(tmp_path)
    client = WorkerClient("rude_client:run", timeout=3)
    try:
        verdicts = list(crosscheck(client, "Alg:gll_oracle", "corrected"))
    finally:
        client.close()
    (failed,) = [v for v in verdicts if v.status != "pass"]
    assert (failed.id, failed.status) == (target, "error")
    assert DEEDS[deed] in failed.note
    assert len(verdicts) == len(ORACLE["cases"])


def test_a_python_client_that_cannot_be_imported_again_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(self: ExecClient, case: Any) -> Any:
        raise InputError("its module is gone")

    monkeypatch.setattr(ExecClient, "answer", gone)
    with pytest.raises(ClientError, match=r"could not be started again: its module is gone") as caught:
        WorkerClient.answer(WorkerClient.__new__(WorkerClient), ORACLE["cases"][0])
    assert caught.value.ended


@pytest.mark.parametrize(
    "code", ["import os; os._exit(0)", "raise SystemExit(0)", "def run(case): import os; os._exit(0)"]
)
def test_no_client_ends_the_run_with_exit_code_0(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "quitting.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    assert dpso("crosscheck", "gll-oracle", "--python", "quitting:run") == (1 if "def" in code else 2)
    monkeypatch.delitem(sys.modules, "quitting", raising=False)


# ------------------------------------------------------------------------------------ what is not checked


def silent(case: dict[str, Any]) -> Any:
    reply = float64(case)
    return {name: value for name, value in reply.items() if name != "trace"}


def test_what_no_trace_covered_is_listed() -> None:
    report = check(silent, "Alg:nfw")
    assert report.agrees
    assert {(3, "s"), (5, "gradient"), (6, "b"), (0, "beta")} <= set(report.unchecked)
    assert (9, "output") not in report.unchecked
    assert check(float64, "Alg:nfw").unchecked == ()
    some = check(lambda case: {**(r := float64(case)), "trace": [e for e in r["trace"] if e["name"] != "s"]}, "Alg:nfw")
    assert some.unchecked == ((3, "s"),)


def other_noise(factor: float, key: str = "") -> Callable[[dict[str, Any]], Any]:
    """The client of SPEC.md with another noise (of the draws whose key begins so), outputs only."""

    def answer(case: dict[str, Any]) -> Any:
        draws = {
            name: draw | {"values": [factor * float(x) for x in draw["values"]]}
            if draw["kind"] in ("normal", "laplace", "gumbel") and name.startswith(key)
            else draw
            for name, draw in case["draws"].items()
        }
        return {"output": spec_client.run({**case, "draws": draws})["output"]}

    return answer


def differing(report: CrosscheckReport) -> set[str]:
    """The slugs of the cases whose outputs differ; nothing else went wrong."""
    failed = [v for v in report.failed if v.expected == "match"]
    assert all(v.divergence is not None and v.divergence.quantity.startswith("w") for v in failed), failed
    return {v.id.partition(f"-{report.variant}-")[2] for v in failed}


@pytest.mark.parametrize("factor", [0.8, 1.2])
@pytest.mark.parametrize(("label", "variant"), [(x, v) for x, v in FILES if x != "Alg:gll_oracle"])
def test_noise_that_is_off_by_a_fifth_shows_in_outputs(label: str, variant: str, factor: float) -> None:
    assert differing(check(other_noise(factor), label, variant))
    assert differing(check(other_noise(1.0), label, variant)) == set(), "the control: the noise as it is"


PAIRS = [(x, v) for x, v in FILES if x in ("Alg:nfw", "alg:polySFW")]


@pytest.mark.parametrize(("factor", "ending"), [(0.8, "-less"), (1.2, "-more")])
@pytest.mark.parametrize(("label", "variant"), PAIRS)
def test_every_pair_of_scales_holds_a_choice_that_flips(label: str, variant: str, factor: float, ending: str) -> None:
    """Where noise only decides choices: a case for too little, one for too much; each does what its comment says."""
    named = {c["id"].partition(f"-{variant}-")[2] for c in vectors.load(label, variant)["cases"]}
    pairs = {slug for slug in named if slug.startswith(("scale-", "tight-scale-")) and slug.endswith(ending)}
    assert pairs
    assert pairs <= differing(check(other_noise(factor), label, variant))


@pytest.mark.parametrize("variant", ["printed", "corrected"])
@pytest.mark.parametrize(("round", "name"), [(0, "first"), (1, "second"), (2, "third")])
@pytest.mark.parametrize(("factor", "ending"), [(0.8, "less"), (1.2, "more")])
def test_the_scale_of_each_round_of_algorithm_4_decides_an_output(
    variant: str, round: int, name: str, factor: float, ending: str
) -> None:
    found = differing(check(other_noise(factor, f"u[{round},"), "alg:polySFW", variant))
    assert f"scale-{name}-{ending}" in found


# ------------------------------------------------------------------------------------- JUnit, other vectors


def test_junit_has_every_case_and_what_is_open(wrong_sign: str, tmp_path: Path) -> None:
    from xml.etree import ElementTree

    place = tmp_path / "report.xml"
    assert dpso("crosscheck", "1", "--python", wrong_sign, "--junit", str(place)) == 1
    suite = ElementTree.parse(place).getroot()
    assert suite.attrib["tests"] == str(len(ORACLE["cases"])) == str(len(suite.findall("testcase")))
    assert suite.attrib["failures"] == str(len(suite.findall("testcase/failure"))) != "0"
    assert dpso("crosscheck", "1", "--python", wrong_sign, "--junit", str(tmp_path / "no" / "where")) == 2


def test_vectors_of_somebody_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = {**ORACLE, "algorithm": "Their:search", "name": "their-search", "cases": ORACLE["cases"][:5]}
    (tmp_path / "their-search-corrected.json").write_text(json.dumps(document))
    command = ["crosscheck", "their-search", "--python", "their_client:run", "--vectors", str(tmp_path)]
    (tmp_path / "their_client.py").write_text(
        "from reference.vectors.execute import float64\n"
        "run = lambda case: float64({**case, 'algorithm': 'Alg:gll_oracle'})\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        assert dpso(*command) == 0
        assert "Their:search, corrected: 5 of 5 cases agree" in capsys.readouterr().out
        (tmp_path / "their-search-corrected.json").write_text(json.dumps({**document, "format": 1}))
        assert dpso(*command) == 2
        assert "has format 1: this reader knows format 2" in capsys.readouterr().err
    finally:
        sys.path.remove(str(tmp_path))


def test_a_python_client_that_hangs_is_interrupted() -> None:
    client = PythonClient(hang, timeout=0.2)
    with pytest.raises(ClientError, match=r"within 0\.2 s"):
        client.answer(ORACLE["cases"][0])


def test_a_client_cannot_change_the_case_or_print_into_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    def rude(case: dict[str, Any]) -> Any:
        print("noise")
        reply = REPLIES[case["id"]]
        case["input"].clear()
        return reply

    assert check(rude).agrees
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------------------------------- bad commands

SCRIPT = """
import json, os, subprocess, sys, time
mode, target, place = sys.argv[1:4]
replies = json.load(open(place))
for line in sys.stdin:
    case = json.loads(line)["case"]
    reply = replies[case["id"]]
    if case["id"] == target:
        if mode == "crash":
            print("boom", file=sys.stderr); sys.exit(3)
        if mode == "hang":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            open(place + ".child", "w").write(str(child.pid))
            time.sleep(60)
        if mode == "words":
            print("here is my answer"); sys.stdout.flush(); continue
        if mode == "list":
            print("[1, 2]"); sys.stdout.flush(); continue
        if mode == "nan":
            reply = {"output": {"gradient": [float("nan")] * 2}}
        if mode == "order":
            reply = {"id": "another-case", **reply}
        if mode == "twice":
            print(json.dumps(reply))
        if mode == "huge":
            reply = {"output": {"gradient": [0.1] * 10**6}}
        if mode == "error":
            reply = {"error": "I cannot"}
    print(json.dumps(reply)); sys.stdout.flush()
"""

MODES = {
    "crash": "exit code 3, stderr ends: boom",
    "hang": "did not answer within 1.5 s",
    "words": "'here is my answer'",
    "list": "must be a JSON object",
    "nan": "no finite number",
    "order": "answered out of order",
    "twice": "more than one line",
    "huge": "more than 100000 bytes",
    "error": "I cannot",
}


@pytest.fixture
def command(tmp_path: Path) -> Callable[[str], str]:
    script, replies = tmp_path / "client.py", tmp_path / "replies.json"
    script.write_text(SCRIPT)
    replies.write_text(json.dumps(REPLIES))
    target = ORACLE["cases"][2]["id"]
    return lambda mode: shlex.join([sys.executable, str(script), mode, target, str(replies)])


@pytest.mark.parametrize("mode", MODES)
def test_a_bad_command_is_reported_and_started_anew(mode: str, command: Callable[[str], str], tmp_path: Path) -> None:
    client = ExecClient(command(mode), timeout=1.5 if mode == "hang" else 60, longest=100_000)
    try:
        verdicts = list(crosscheck(client, "Alg:gll_oracle", "corrected"))
    finally:
        client.close()
    assert len(verdicts) == len(ORACLE["cases"])
    failures = [v for v in verdicts if v.status != "pass"]
    if mode == "hang":  # a slow machine may need longer to start the client than the client is given to answer
        assert any(v.status == "pass" for v in verdicts[3:])
        failures = [v for v in failures if v.id == ORACLE["cases"][2]["id"]]
    (failed,) = failures
    noticed = [ORACLE["cases"][i]["id"] for i in ((2, 3) if mode == "twice" else (2,))]
    assert failed.id in noticed
    assert MODES[mode] in failed.note
    if mode == "hang":
        assert gone(int((tmp_path / "replies.json.child").read_text())), "the child of the client must end with it"


def gone(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return True
        time.sleep(0.02)
    return False


def test_a_good_command_agrees(command: Callable[[str], str]) -> None:
    client = ExecClient(command("none"))
    verdicts = list(crosscheck(client, "Alg:gll_oracle", "corrected"))
    client.close()
    assert {v.status for v in verdicts} == {"pass"}


# --------------------------------------------------------------------------------------- the command line


def dpso(*arguments: str) -> int:
    return cli.main(list(arguments))


def test_exit_0_and_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert dpso("crosscheck", "oracle", "--python", "reference.vectors.execute:float64") == 0
    out = capsys.readouterr().out
    assert f"Alg:gll_oracle, corrected: {COUNT} of {COUNT} cases agree" in out
    assert "hinge-negative-label" in out


@pytest.fixture
def wrong_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "wrong_sign.py").write_text(WRONG_SIGN)
    monkeypatch.syspath_prepend(tmp_path)
    return "wrong_sign:run"


def test_exit_1_with_the_first_difference(wrong_sign: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dpso("crosscheck", "1", "--python", wrong_sign) == 1
    out = capsys.readouterr().out
    assert "first difference: gll-oracle-corrected-absolute" in out
    assert "line 11 of the paper's algorithm, quantity output" in out
    assert "ulps (allowed" in out
    assert "likely     no catalogued bug gives these numbers" in out, "the trace's output and the output differ"


WRONG_SIGN = """
from reference.vectors.execute import float64

def run(case):
    reply = float64(case)
    for event in reply["trace"]:
        if event["name"] == "output":
            event["value"] = [-x for x in event["value"]]
    return reply
"""


def test_a_client_that_never_answers_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dead.py").write_text("raise SystemExit(3)", encoding="utf-8")
    assert dpso("crosscheck", "gll-oracle", "--exec", f"{sys.executable} {tmp_path / 'dead.py'}") == 1
    output = capsys.readouterr().out
    assert "first failure: gll-oracle-corrected-absolute" in output
    assert f"the client ended in all {COUNT} cases: none was answered" in output
    assert output.count("exit code 3") == 1
    assert "wrong-half" not in output, "nothing was compared, so no bug is likely"


def test_json_has_everything(wrong_sign: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dpso("crosscheck", "Alg:gll_oracle", "--python", wrong_sign, "--json") == 1
    data = json.loads(capsys.readouterr().out)
    assert {"algorithm", "variant", "client", "agrees", "passed", "failed", "skipped", "first", "cases"} <= set(data)
    assert data["first"]["divergence"]["line"] == 11
    assert data["passed"] + data["failed"] == len(data["cases"])


def test_one_case_of_another_variant(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--variant", "tight", "--case", "poly-sfw-tight-tight-pure", "--json")
    assert dpso("crosscheck", "poly-sfw", "--python", "audit.engine.client:run", *options, "--outputs-only") == 0
    assert [c["id"] for c in json.loads(capsys.readouterr().out)["cases"]] == ["poly-sfw-tight-tight-pure"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nonsense", "--python", "a:b"), "algorithm = 'nonsense' is unknown"),
        (("oracle", "--python", "a:b", "--variant", "tight"), "has printed and corrected only"),
        (("oracle",), "--python --exec is required"),
        (("oracle", "--python", "no_colon"), "must read MODULE:CALLABLE"),
        (("oracle", "--python", "no_such_module_here:f"), "cannot import 'no_such_module_here'"),
        (("oracle", "--python", "reference.vectors.execute:nothing"), "has no 'nothing'"),
        (("oracle", "--python", "reference.vectors.execute:MODULES"), "is no callable"),
        (("oracle", "--exec", "/no/such/command"), "cannot start"),
        (("oracle", "--exec", ""), "--exec is empty"),
        (("oracle", "--python", "a:b", "--case", "x"), "--case x is unknown"),
        (("oracle", "--python", "a:b", "--timeout", "0"), "must be positive"),
    ],
)
def test_exit_2_and_one_line(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dpso("crosscheck", *arguments) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_vectors_list_and_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dpso("vectors") == 0
    tight = len(vectors.load("Alg:phased", "tight")["cases"])
    assert f"phased-sgd-tight: {tight} cases" in capsys.readouterr().out
    assert dpso("vectors", "list", "oracle") == 0
    assert "gll-oracle-corrected-no-step  match" in capsys.readouterr().out
    assert dpso("vectors", "list", "oracle", "--json") == 0
    assert json.loads(capsys.readouterr().out)[1]["count"] == COUNT
    assert dpso("vectors", "export", str(tmp_path / "out")) == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"SPEC.md", "schema.json", "manifest.sha256", "ids.txt", "noisy-sfw-printed.json"} <= names
    assert {"reply.schema.json", "check_vectors.py"} <= names
    archives = [tmp_path / "one.tar.gz", tmp_path / "two.tar.gz"]
    for place in archives:
        assert dpso("vectors", "export", str(place)) == 0
    assert f"root hash {vectors.root()}" in capsys.readouterr().out
    assert archives[0].read_bytes() == archives[1].read_bytes()
    (tmp_path / "file").write_text("")
    assert dpso("vectors", "export", str(tmp_path / "file")) == 2
    assert dpso("vectors", "export") == 2
    assert dpso("vectors", "check", "oracle") == 2


def test_vectors_check_sees_a_changed_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from reference.vectors import generate

    read = vectors.read
    one = read("gll-oracle-corrected.json")
    small = [("gll-oracle-corrected.json", one.decode())]
    monkeypatch.setattr(generate, "files", lambda: iter(small))
    monkeypatch.setattr(
        vectors, "read", lambda name: one.replace(b'"0.375"', b'"0.25"') if "oracle-c" in name else read(name)
    )
    assert dpso("vectors", "check") == 1
    out = capsys.readouterr().out
    assert "gll-oracle-corrected.json differs from manifest.sha256" in out
    assert "gll-oracle-corrected.json is not what the reference gives" in out


def test_an_unknown_algorithm_is_bad_input() -> None:
    assert label_of("Algorithm 2") == "Alg:phased"
    with pytest.raises(InputError, match="phased-sgd"):
        label_of("7")


def test_a_verdict_is_plain_data() -> None:
    assert json.loads(json.dumps(CaseVerdict("a", "match", "pass").to_json()))["divergence"] is None
