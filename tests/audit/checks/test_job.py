"""The main job: the same results whatever runs them, valid reports whatever ends it, exit codes that say so."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import sample_checks
from jsonschema import Draft202012Validator
from sample_checks import BAD, EVIDENCE, GOOD

from audit.checks import job, results
from audit.checks.framework import Check, collect
from audit.cli.main import main
from audit.runtime.store import NAME
from reference.paper.inventory import load as load_inventory

SAMPLES = Path(sample_checks.__file__).parent
ROOT = Path(job.__file__).parents[2]
SCHEMA = Draft202012Validator(json.loads(files("audit.report").joinpath("report.schema.json").read_text()))

DRIVER = """
import sys
sys.path[:0] = [{samples!r}, {root!r}]
import audit.checks.job, audit.checks.results, audit.cli.main, sample_checks
names = {names!r}
checks = list(sample_checks.GOOD) + [sample_checks.BAD[name] for name in names]
audit.checks.job.collect = lambda: checks
# The project's verdicts are about other checks.
audit.checks.results.RECORD = audit.checks.results.RECORD.with_name("no-record.json")
if __name__ == "__main__":
    sys.argv[1:1] = ["audit"]
    sys.exit(audit.cli.main.main())
"""


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Put sample checks in the place of the project's, and no record."""

    def put(*bad: str) -> None:
        monkeypatch.setattr(job, "collect", lambda: [*GOOD, *(BAD[name] for name in bad)])
        monkeypatch.setattr(results, "RECORD", tmp_path / "verdicts.json")

    put()
    return put


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def without_times(data: dict[str, Any]) -> dict[str, Any]:
    return data | {"results": [r | {"seconds": 0} for r in data["results"]]}


def audit_json(out: Path, *options: str) -> tuple[int, dict[str, Any]]:
    code = main(["audit", "--out", str(out), *options])
    return code, json.loads((out / "report.json").read_text())


# ------------------------------------------------------------------------------------------- the report


def test_the_report_follows_its_schema(use: Callable[..., None], tmp_path: Path) -> None:
    use("raises")
    code, data = audit_json(tmp_path, "--level", "deep", "--workers", "1")
    assert code == 1
    assert list(SCHEMA.iter_errors(data)) == []
    assert data["schema"] == results.SCHEMA
    for spoil in (
        {"schema": 2},
        {"verdicts": {"x": {"grade": "fine"}}},
        {"surprise": 1},
        {"results": [data["results"][0] | {"ratio": "big"}]},
        {"results": [{k: v for k, v in data["results"][0].items() if k != "seed"}]},
    ):
        assert list(SCHEMA.iter_errors(data | spoil)), spoil


# -------------------------------------------------------------------------------------------- results


def test_the_same_results_whatever_the_workers_and_the_order(tmp_path: Path, use: Callable[..., None]) -> None:
    found = []
    for workers, checks in ((1, GOOD), (3, GOOD), (2, list(reversed(GOOD)))):
        report = job.new_report("deep", 7, GOOD)
        job.run(checks, report, job.pool(workers), lambda result: None)
        found.append(without_times(report.to_json()))
    assert found[0] == found[1] == found[2]
    messy, clean = (r for r in found[0]["results"] if r["name"].split(".")[1].startswith("draws"))
    assert messy["numbers"]["prec"] == clean["numbers"]["prec"] == 53
    other = job.new_report("deep", 8, GOOD)
    job.run(GOOD, other, job.pool(1), lambda result: None)
    assert without_times(other.to_json())["results"] != found[0]["results"]


def test_a_check_that_kills_its_process_is_a_result(use: Callable[..., None], tmp_path: Path) -> None:
    use("dies", "raises")
    code, data = audit_json(tmp_path, "--workers", "2")
    assert code == 1
    assert data["complete"]
    assert sorted(data["unexpected"]) == ["sample.dies", "sample.raises"]
    errors = {r["name"]: r["error"] for r in data["results"]}
    assert errors["sample.dies"] == "the worker process died (exit code 7)"
    assert data["verdicts"]["lem:adv_comp"]["grade"] == "unexpected"
    assert data["verdicts"]["lem:moreau"]["grade"] == "holds"


def test_a_function_that_another_made_runs_if_its_module_has_it(use: Callable[..., None], tmp_path: Path) -> None:
    use("made_here", "made")
    _, data = audit_json(tmp_path, "--only", "lem:adv_comp")
    found = {r["name"]: r for r in data["results"]}
    assert found["sample.made_here"]["ratio"] == 0.25
    assert "module 'sample_checks' has no attribute 'made'" in found["sample.made"]["error"]


def test_what_is_found_at_a_line_counts_for_the_algorithm(use: Callable[..., None], tmp_path: Path) -> None:
    code, data = audit_json(tmp_path)
    assert code == 0
    found = data["verdicts"]["Alg:gll_oracle"]
    assert (found["grade"], found["kinds"], found["errata"]) == ("false", ["accuracy"], ["E3.1"])
    assert found["corrected"] == "holds"


def test_a_part_of_the_checks_says_so(use: Callable[..., None], tmp_path: Path) -> None:
    _, data = audit_json(tmp_path, "--only", "E3.1")
    assert data["only"] == ["E3.1"]
    verdict = data["verdicts"]["Alg:gll_oracle"]
    assert (verdict["ran"], verdict["of"]) == (1, 2)
    assert verdict["verdict"].endswith("(E3.1) → correction not checked (1 of 2 checks)")
    _, data = audit_json(tmp_path, "--only", "Alg:gll_oracle")
    assert data["verdicts"]["Alg:gll_oracle"]["verdict"].endswith("(E3.1) → corrected: holds")


# ------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "lem:orcale"], "--only 'lem:orcale': no check is about it, did you mean lem:oracle?"),
        (["--only", "ALG:PHASED"], "--only 'ALG:PHASED': no check is about it, did you mean Alg:phased?"),
        (["--only", "Alg:phased"], "--only Alg:phased: its checks start at level standard; add --level standard"),
        (["--workers", "0"], "--workers 0: must be at least 1"),
        (["--record", "--only", "lem:oracle"], "--record: only a run of all statements is recorded; drop --only"),
        (["--level", "quik"], "argument --level: invalid choice: 'quik'"),
        (["--seed", "x"], "argument --seed: invalid int value: 'x'"),
        (["--only", "\x1b[31m\nlem"], "--only '\\x1b[31m\\nlem': no check is about it"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    options: list[str], message: str, use: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "--out", str(tmp_path / "out"), *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"dpso: {message}")
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_no_check_at_all(
    use: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(job, "collect", list)
    assert main(["audit"]) == 2
    assert "no check to run" in capsys.readouterr().err


def _file(path: Path) -> Path:
    path.write_text("")
    return path


def _folder_where_the_report_goes(path: Path) -> Path:
    (path / "report.json").mkdir(parents=True)
    return path


@pytest.mark.parametrize(
    "make",
    [_file, lambda path: _file(path) / "below", lambda path: Path("/proc/nowhere"), _folder_where_the_report_goes],
    ids=["a file", "below a file", "a folder that cannot be made", "report.json is a folder"],
)
def test_an_out_that_cannot_be_written(
    make: Callable[[Path], Path], use: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "--out", str(make(tmp_path / "out"))]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "name another" in error


# ------------------------------------------------------------------------------------ resume and record


def some_done(out: Path, count: int) -> list[Check]:
    """A run of the sample checks of which so many are done; all of them."""
    checks = job.plan("quick")
    report = job.new_report("quick", 0, checks)
    with job.kept_in(out, report, resume=False) as store:
        job.run(checks[:count], report, job.pool(1), lambda result: store.put(result.name, result.to_json()))
    assert not report.complete
    return checks


def test_resume_runs_what_is_missing_and_gives_the_same_report(use: Callable[..., None], tmp_path: Path) -> None:
    _, whole = audit_json(tmp_path / "whole")
    checks = some_done(tmp_path / "part", 2)
    ran: list[str] = []
    resumed = job.new_report("quick", 0, checks)
    with job.kept_in(tmp_path / "part", resumed, resume=True):
        job.run(checks, resumed, job.pool(2), lambda result: ran.append(result.name))
    assert sorted(ran) == sorted(c.name for c in checks[2:])
    assert without_times(resumed.to_json()) == without_times(whole)
    code, again = audit_json(tmp_path / "whole", "--resume")
    assert (code, again) == (0, whole)


def test_without_resume_a_run_starts_afresh(use: Callable[..., None], tmp_path: Path) -> None:
    some_done(tmp_path, 2)
    code, data = audit_json(tmp_path, "--seed", "5")
    assert (code, data["seed"], data["complete"]) == (0, 5, True)


def test_resume_without_a_store_is_a_fresh_start(use: Callable[..., None], tmp_path: Path) -> None:
    code, data = audit_json(tmp_path, "--resume", "--only", "lem:moreau")
    assert (code, data["complete"]) == (0, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seed", "1"], "is of another run: seed was 0, now 1; name another --out"),
        (["--level", "deep"], "is of another run: "),
        (["--only", "lem:moreau"], "is of another run: --only was [], now ['lem:moreau']; name another --out"),
    ],
)
def test_the_store_of_another_run_cannot_be_resumed(
    options: list[str],
    message: str,
    use: Callable[..., None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    some_done(tmp_path, 1)
    assert main(["audit", "--resume", "--out", str(tmp_path), *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d | {"name": "sample.other"}, "ValueError: 'sample_checks.draws' was not planned"),
        (lambda d: d | {"statement": "lem:other"}, "was not planned"),
        (lambda d: {}, "KeyError: "),
        (lambda d: [d], "TypeError: "),
        (lambda d: None, "TypeError: "),
    ],
)
def test_results_that_no_check_can_have_given_are_not_believed(
    spoil: Callable[[Any], Any],
    message: str,
    use: Callable[..., None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    checks = job.plan("quick")
    report = job.new_report("quick", 0, checks)
    with job.kept_in(tmp_path, report, resume=False) as store:
        job.run(checks[:1], report, job.pool(1), lambda result: store.put(result.name, spoil(result.to_json())))
    assert main(["audit", "--resume", "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "holds what this run cannot have written" in error
    assert message in error
    assert error.count("\n") == 1


def test_a_changed_check_is_noticed_on_resume(tmp_path: Path) -> None:
    """On a copy of the program: one more comment in the module of a check, and the report counts as other code's."""
    for package in ("reference", "audit", "dpso"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "dpso", "audit", "--only", "E3.1", "--out", "out", "--resume", "--workers=1"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}

    def resumed() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert [resumed().returncode for _ in range(2)] == [0, 0]
    changed = tmp_path / "audit" / "checks" / "section3.py"
    changed.write_text(changed.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    refused = resumed()
    assert refused.returncode == 2
    assert f"--out out/{NAME} is of another run: code was " in refused.stderr


def test_a_second_audit_in_the_same_folder_is_refused(
    use: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = job.new_report("quick", 0, job.plan("quick"))
    with job.kept_in(tmp_path, report, resume=False):
        assert main(["audit", "--out", str(tmp_path)]) == 2
    assert "another run is at work in this place; wait for it" in capsys.readouterr().err
    assert not (tmp_path / "report.json").exists()
    assert audit_json(tmp_path)[0] == 0


def test_the_record_holds_verdicts_and_nothing_volatile(use: Callable[..., None], tmp_path: Path) -> None:
    assert audit_json(tmp_path / "a", "--record", "--workers", "1")[0] == 0
    first = (tmp_path / "verdicts.json").read_text()
    assert audit_json(tmp_path / "b", "--record", "--workers", "2")[0] == 0
    assert (tmp_path / "verdicts.json").read_text() == first
    record = json.loads(first)
    assert record["level"] == "quick"
    assert record["seed"] == 0
    assert list(record["verdicts"]) == sorted(record["verdicts"])
    assert record["grades"]["lem:moreau"] == "holds"
    assert record["verdicts"]["lem:moreau"].startswith("holds")
    assert set(record["grades"]) == set(record["verdicts"])


def test_a_verdict_that_is_not_the_recorded_one_is_exit_1(
    use: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit_json(tmp_path / "a", "--record")
    record = _read(tmp_path / "verdicts.json")
    assert audit_json(tmp_path / "b", "--seed", "3")[0] == 0
    record["grades"]["lem:moreau"] = "searched"
    record["verdicts"]["lem:moreau"] = "no violation found"
    (tmp_path / "verdicts.json").write_text(json.dumps(record))
    capsys.readouterr()
    assert audit_json(tmp_path / "b")[0] == 1
    found = _read(tmp_path / "a" / "report.json")["verdicts"]["lem:moreau"]["verdict"]
    expected = f"not the recorded verdict: lem:moreau: {found}; recorded: no violation found"
    assert expected in " ".join(capsys.readouterr().out.split())
    assert main(["audit", "--json", "--out", str(tmp_path / "b")]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["differences"] == [{"statement": "lem:moreau", "recorded": "no violation found", "found": found}]
    assert list(SCHEMA.iter_errors(data)) == []
    assert audit_json(tmp_path / "b", "--only", "lem:oracle")[0] == 0, "what did not run does not differ"
    assert audit_json(tmp_path / "b", "--level", "standard")[0] == 0, "another level is not compared"


def test_errata_are_compared_too(use: Callable[..., None]) -> None:
    report = job.new_report("quick", 0, job.plan("quick"))
    job.run(job.plan("quick"), report, job.pool(1), lambda result: None)
    record = results.record_of(report)
    assert report.differences(record) == []
    record["errata"]["Alg:gll_oracle"] = ["E3.2"]
    assert [d.statement for d in report.differences(record)] == ["Alg:gll_oracle"]


def test_a_run_that_went_wrong_is_not_recorded(use: Callable[..., None], tmp_path: Path) -> None:
    use("raises")
    assert audit_json(tmp_path / "a", "--record")[0] == 1
    assert not (tmp_path / "verdicts.json").exists()


def test_the_committed_record_knows_only_what_exists() -> None:
    record = results.read_record()
    assert record, "no verdicts are recorded: dpso audit --record"
    inventory = load_inventory()
    names = {c.name for c in collect()}
    assert [id for id in record["verdicts"] if inventory.find(id) is None] == []
    assert [r["name"] for r in record["results"] if r["name"] not in names] == []
    assert [id for errata in record["errata"].values() for id in errata if inventory.erratum(id) is None] == []


# -------------------------------------------------------------------------- interruption and terminals


def driver(tmp_path: Path, *names: str) -> Path:
    path = tmp_path / "driver.py"
    path.write_text(DRIVER.format(samples=str(SAMPLES), root=str(ROOT), names=names))
    return path


def wait_for(condition: Callable[[], bool], what: str) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come about")


def started(out: Path, count: int) -> Callable[[], bool]:
    def enough() -> bool:
        path = out / "report.json"
        return path.exists() and len(json.loads(path.read_text())["results"]) >= count

    return enough


def test_a_killed_run_is_continued_and_ends_with_the_same_report(use: Callable[..., None], tmp_path: Path) -> None:
    _, whole = audit_json(tmp_path / "whole")
    out = tmp_path / "out"
    command = [sys.executable, str(driver(tmp_path)), "--out", str(out), "--workers", "1"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(started(out, 0), "the report")
    run.kill()
    run.communicate()
    assert run.returncode == -signal.SIGKILL
    subprocess.run([*command, "--resume"], capture_output=True, check=True)
    assert without_times(_read(out / "report.json")) == without_times(whole)


@pytest.mark.parametrize(
    ("sent", "times"),
    [(signal.SIGINT, 1), (signal.SIGINT, 6), (signal.SIGTERM, 1)],
    ids=["Ctrl-C", "Ctrl-C again and again", "terminate"],
)
def test_an_interrupted_run_leaves_a_partial_report_and_no_process(
    sent: signal.Signals, times: int, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    script = driver(tmp_path, "sleeps")
    code = "import audit.cli.audit as a; a.SAVE_EVERY = -1.0"
    script.write_text(script.read_text().replace("names =", f"{code}\nnames =", 1))
    run = subprocess.Popen(
        [sys.executable, str(script), "--out", str(out), "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(started(out, len(GOOD) - 1), "the first results")
    for _ in range(times):
        if sent == signal.SIGINT:
            os.killpg(run.pid, sent)  # as a terminal does: to everybody
        else:
            run.send_signal(sent)
        time.sleep(0.03)
    output, errors = run.communicate(timeout=60)
    assert run.returncode == 130, errors
    assert "Traceback" not in errors + output
    assert "interrupted: 5 of 6 checks are in" in errors
    assert "--resume" in errors
    wait_for(lambda: not _group_lives(run.pid), "the end of all its processes")
    data = json.loads((out / "report.json").read_text())
    assert list(SCHEMA.iter_errors(data)) == []
    assert not data["complete"]
    assert data["unexpected"] == []
    page = (out / "report.html").read_text()
    assert "Partial report." in page
    assert "5 of 6 checks ran" in page


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def read_terminal(descriptor: int) -> bytes:
    """What is written to a terminal until nobody holds it any more."""
    seen = b""
    try:
        while part := os.read(descriptor, 65536):
            seen += part
    except OSError:  # how Linux says that the other side is closed
        return seen
    finally:
        os.close(descriptor)
    return seen


def test_on_a_terminal_there_is_progress_and_elsewhere_none(tmp_path: Path) -> None:
    script = driver(tmp_path)
    ours, theirs = pty.openpty()
    command = [sys.executable, str(script), "--out", str(tmp_path / "a"), "--json", "--workers", "1"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    with (tmp_path / "stdout").open("wb") as stdout:
        run = subprocess.Popen(command, stdout=stdout, stderr=theirs, env=environment)
    os.close(theirs)
    seen = read_terminal(ours)
    assert run.wait(60) == 0
    assert b"/5 checks" in seen
    assert json.loads((tmp_path / "stdout").read_text())["complete"]
    quiet = subprocess.run(
        [sys.executable, str(script), "--out", str(tmp_path / "a"), "--json", "--resume"],
        capture_output=True,
        check=True,
    )
    assert quiet.stderr == b""


def test_the_summary_fits_80_columns(
    use: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long = Check(
        "sample." + "n" * 100,
        "lem:" + "x" * 90,
        EVIDENCE["exact"],
        "corrected",
        "quick",
        None,
        "c" * 200,
        sample_checks.draws,
    )
    monkeypatch.setattr(job, "collect", lambda: [*GOOD, long, BAD["raises"]])
    assert main(["audit", "--out", str(tmp_path), "--level", "deep"]) == 1
    output = capsys.readouterr().out
    assert max(len(line) for line in output.splitlines() if not line.startswith("written: ")) <= 80
    for expected in ("lem:oracle", "false – accuracy: ", "(E3.1) → corrected: holds", "ArithmeticError: no such root"):
        assert expected in " ".join(output.split())
    assert "8 checks in" in output
    assert "1 not as recorded" in output
