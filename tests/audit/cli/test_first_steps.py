"""The command line as somebody sees it who has never seen it: help, examples, mistakes, widths, colours."""

import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from audit.cli import main as cli
from audit.cli.main import ORDER, build_parser, command_modules, main
from audit.runtime.errors import wrapped

ROOT = Path(cli.__file__).parent.parent
EXAMPLES = {name: module.EXAMPLE for name, module in command_modules().items()}
COLOUR = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


def helped(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as left:
        main([*([name] if name else []), "--help"])
    assert left.value.code == 0
    return capsys.readouterr().out


def too_wide(text: str) -> list[str]:
    """Lines over 80 columns that could have been folded: a path or a formula without blanks may stick out."""
    return [line for line in text.splitlines() if cell_len(line) > 80 and " " in line.strip()[:60]]


# ----------------------------------------------------------------------------------------------- help


def test_dpso_alone_says_what_to_do_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    output = capsys.readouterr().out
    assert "first steps:" in output
    assert "dpso errata E3.1 --run" in output
    assert all(re.search(rf"^ +{name}\b", output, re.MULTILINE) for name in ORDER)


def test_the_first_steps_are_commands(capsys: pytest.CaptureFixture[str]) -> None:
    parser, _ = build_parser(command_modules())
    for line in cli.FIRST_STEPS.splitlines()[1:]:
        _, *words = re.split(r"  +", line.strip())[0].split()
        if words[-1] == "--help":
            assert words[0] in (*ORDER, "COMMAND")
        else:
            assert parser.parse_args(words).command == words[0]
    assert main(["errata", "E3.1", "--run"]) == 0
    assert "printed_oracle_is_zero" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["", *ORDER])
def test_help_fits_and_explains_every_option(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert max(map(len, helped(name, capsys).splitlines())) <= 80
    if name:
        parser = build_parser(command_modules())[1][name]
        assert [a.dest for a in parser._actions if not a.help] == []


def test_help_is_a_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    for words, program in ((["help"], "usage: dpso "), (["help", "test"], "usage: dpso test ")):
        with pytest.raises(SystemExit) as left:
            main(words)
        assert left.value.code == 0
        assert capsys.readouterr().out.startswith(program)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("dpso ")


# ------------------------------------------------------------------------------------------- examples


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_works_as_written(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *words = shlex.split(EXAMPLES[name])
    assert program == "dpso"
    assert main(words) == 0
    output = capsys.readouterr().out
    assert output.strip()
    assert too_wide(output) == []
    assert COLOUR.findall(output) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_folded_example_is_the_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = helped(name, capsys).partition("Example:  ")[2]
    assert shlex.split(shown.replace("\\\n", " ")) == shlex.split(EXAMPLES[name])


def test_a_wrong_mechanism_is_found_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(EXAMPLES["test"].replace("--epsilon 1 ", "--epsilon 0.5 "))[1:]
    assert main(words) == 1
    assert capsys.readouterr().out.startswith("VIOLATED: not (0.5, 0)-DP")


# ------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tset", "unknown command 'tset', did you mean test?"),
        ("test m:f --data p.json --epslon 1", "unknown argument '--epslon', did you mean --epsilon?"),
        ("test m:f --dat p.json --epsilon=1 --sampels=9", "unknown argument '--sampels=9', did you mean --samples?"),
        ("errata --rnu", "unknown argument '--rnu', did you mean --run?"),
        ("errata E3.99", "unknown erratum 'E3.99', did you mean E3.9?"),
        ("calibrate phased-sgd --epsilon 1 --detla 1e-6", "unknown argument '--detla', did you mean --delta?"),
        ("audit --only lem:orcale", "did you mean lem:oracle?"),
        ("trace lem:orcale", "did you mean lem:oracle?"),
        ("test", "the following arguments are required: --data"),
        ("test m:f --epsilon 1 --data p.json", "--data p.json: No such file or directory"),
        ("test m:f --epsilon 1 --data {", "--data is not JSON: Expecting property name"),
        ("test m:f --epsilon 1 --data {}", '--data {} lacks "dataset": write {"dataset": …, "neighbour": …}'),
        ('test statistics:fmaen --epsilon 1 --data {"dataset":0,"neighbour":1}', "did you mean fmean?"),
        ("calibrate fased-sgd --epsilon 1 --delta 1e-6", "is unknown, did you mean phased-sgd?"),
        ("vectors export", "needs a folder"),
        ("bench nothing", "unknown benchmark 'nothing': choose from"),
    ],
)
def test_a_mistake_is_one_line_with_a_remedy(line: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split(" ")) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert message in captured.err


def test_what_follows_two_dashes_or_holds_blanks_is_no_option() -> None:
    parser = build_parser(command_modules())[1]["test"]
    assert list(cli._misspelt(["--exec", "run --fast", "--epsilon", "1", "--", "--data2"], parser)) == []
    assert list(cli._misspelt(["--fast", "--eps", "1"], parser)) == ["--fast"]


# --------------------------------------------------------------------------------- widths and colours


def test_lines_are_folded_and_words_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    path = "/".join(["reference"] * 8)
    text = wrapped(f"  first {'word ' * 20}\n{path} end")
    assert max(len(line) for line in text.splitlines() if path not in line) <= 44
    assert text.splitlines()[1].startswith("    word")
    assert path in text


@pytest.mark.parametrize(
    "line",
    [
        "errata", "errata E3.3", "errata E4.1 --run", "trace", "trace lem:oracle", "trace E3.1", "vectors",
        "vectors list 2", "calibrate poly-sfw --epsilon 1 --delta 1e-6", "calibrate proximal --epsilon 1 --delta 1e-6",
        "crosscheck 3 --python audit.engine.client:run --variant printed --outputs-only",
    ],
)  # fmt: skip
def test_output_fits_eighty_columns(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 0
    assert too_wide(capsys.readouterr().out) == []


def in_terminal(words: str, **environment: str) -> str:
    """What a command writes to a terminal."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM")}
    run = subprocess.Popen(
        [sys.executable, "-m", "dpso", *words.split()],
        stdout=theirs, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        env=clean | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "80"} | environment,
    )  # fmt: skip
    os.close(theirs)
    out = io.BytesIO()
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:  # Linux says so when the other end has closed
            data = b""
        if not data:
            break
        out.write(data)
    os.close(ours)
    assert run.wait() == 0
    return out.getvalue().decode()


def test_colours_in_a_terminal_only_and_not_if_no_color_is_set() -> None:
    hues = re.compile(r"\x1b\[[\d;]*?(?:3[0-7]|9[0-7]|38;[\d;]+)m")
    coloured, plain = in_terminal("errata E3.1"), in_terminal("errata E3.1", NO_COLOR="1")
    assert hues.findall(coloured), "the positive control: a terminal gets colours"
    assert hues.findall(plain) == []
    assert COLOUR.sub("", plain) == COLOUR.sub("", coloured)


def test_a_reader_that_leaves_early_is_no_error_with_tables_either() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    run = subprocess.run(
        [sys.executable, "-m", "dpso", "errata"],
        stdout=theirs, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    os.close(theirs)
    assert (run.returncode, run.stderr) == (0, "")
