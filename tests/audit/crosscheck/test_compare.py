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
from audit.crosscheck.clients import ClientError, ExecClient, PythonClient
from audit.crosscheck.compare import CaseVerdict, CrosscheckReport, compare, crosscheck, differs
from audit.engine import client as fast
from audit.runtime.errors import InputError
from reference import vectors
from reference.paper.algorithms import ALGORITHMS
from reference.vectors.execute import float64

FILES = [(a.label, v) for a in ALGORITHMS for v in a.editions]
ORACLE = vectors.load("Alg:gll_oracle", "corrected")
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


# -------------------------------------------------------------------------------------- bad Python clients


def hang(case: dict[str, Any]) -> Any:
    while True:
        time.sleep(0.01)


def fail(case: dict[str, Any]) -> Any:
    raise TypeError("no such thing")


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
    assert "Alg:gll_oracle, corrected: 34 of 34 cases agree" in out
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
    assert "or         wrong-half: keeps the half with the larger value" in out


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
    assert "the client ended in all 34 cases: none was answered" in output
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
    assert dpso("crosscheck", "poly-sfw", "--python", "audit.engine.client:run", *options) == 0
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
    assert "phased-sgd-tight: 36 cases" in capsys.readouterr().out
    assert dpso("vectors", "list", "oracle") == 0
    assert "gll-oracle-corrected-no-step  match" in capsys.readouterr().out
    assert dpso("vectors", "list", "oracle", "--json") == 0
    assert json.loads(capsys.readouterr().out)[1]["count"] == 34
    assert dpso("vectors", "export", str(tmp_path / "out")) == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"SPEC.md", "schema.json", "manifest.sha256", "ids.txt", "noisy-sfw-printed.json"} <= names
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
