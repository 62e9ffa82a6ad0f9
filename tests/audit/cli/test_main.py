"""The command line: one-line errors with the nearest spelling, exit codes, never a traceback."""

import argparse
import os
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

from audit.cli import main as cli
from audit.cli.main import ORDER, build_parser, command_modules, main
from audit.runtime.errors import InputError, one_line

ROOT = Path(cli.__file__).parent.parent


def command(error: BaseException | None = None, code: int = 0) -> types.ModuleType:
    """A subcommand `probe` that raises, or leaves with a code."""
    module = types.ModuleType("probe")

    def run(args: argparse.Namespace) -> int:
        if error is not None:
            raise error
        return code

    module.HELP, module.EXAMPLE = "a probe", "dpso probe --samples 3"  # type: ignore[attr-defined]
    module.configure = lambda parser: parser.add_argument("--samples", type=int)  # type: ignore[attr-defined]
    module.run = run  # type: ignore[attr-defined]
    return module


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> object:
    def put(error: BaseException | None = None, code: int = 0) -> None:
        monkeypatch.setattr(cli, "command_modules", lambda names: {"probe": command(error, code), "audit": command()})

    return put


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["prob"], "unknown command 'prob', did you mean probe? (see: dpso --help)"),
        (["zzzz"], "unknown command 'zzzz' (see: dpso --help)"),
        (["probe", "--sampels", "3"], "unknown argument '--sampels', did you mean --samples? (see: dpso probe --help)"),
        (["probe", "--sampels=3"], "unknown argument '--sampels=3', did you mean --samples? (see: dpso probe --help)"),
        (["probe", "extra"], "unknown argument 'extra' (see: dpso probe --help)"),
        (["probe", "--samples", "many"], "argument --samples: invalid int value: 'many' (see: dpso probe --help)"),
        (["probe", "--samples"], "argument --samples: expected one argument (see: dpso probe --help)"),
        (["--frobnicate"], "unknown argument '--frobnicate' (see: dpso --help)"),
        (["a\x1b[31m\nb"], "unknown command 'a\\x1b[31m\\nb' (see: dpso --help)"),
    ],
)
def test_bad_usage(argv: list[str], message: str, probe, capsys: pytest.CaptureFixture[str]) -> None:
    probe()
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.err == f"dpso: {message}\n"
    assert captured.out == ""


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_exit_code_is_the_commands(code: int, probe) -> None:
    probe(code=code)
    assert main(["probe"]) == code


def test_bad_input_is_one_line_even_with_line_breaks(probe, capsys: pytest.CaptureFixture[str]) -> None:
    probe(InputError("--data a\nb\x1b[2J.json: not found\r\n; name another"))
    assert main(["probe"]) == 2
    assert capsys.readouterr().err == "dpso: --data a b [2J.json: not found  ; name another\n"


def test_a_failure_of_ours_is_one_line_too(
    probe, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DPSO_DEBUG", raising=False)
    probe(RuntimeError("lost\nit"))
    assert main(["probe"]) == 2
    error = capsys.readouterr().err
    assert error == "dpso: internal error, RuntimeError: lost it (DPSO_DEBUG=1 shows where)\n"
    monkeypatch.setenv("DPSO_DEBUG", "1")
    with pytest.raises(RuntimeError, match="lost"):
        main(["probe"])


def test_interrupted(probe, capsys: pytest.CaptureFixture[str]) -> None:
    probe(KeyboardInterrupt())
    assert main(["probe"]) == 130
    assert capsys.readouterr().err == "dpso: interrupted\n"


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    output = capsys.readouterr().out
    assert "dpso audit --level quick" in output
    assert max(map(len, output.splitlines())) <= 100


def test_every_command_has_help_an_example_that_parses_and_json() -> None:
    modules = command_modules()
    assert list(modules) == list(ORDER)
    parser, subparsers = build_parser(modules)
    for name, module in modules.items():
        program, *words = shlex.split(module.EXAMPLE)
        assert (program, words[0]) == ("dpso", name)
        assert parser.parse_args(words).run is module.run
        assert module.HELP
        assert f"Example:  {module.EXAMPLE}" in subparsers[name].format_help().replace(" \\\n    ", " ")
        assert "--json" in subparsers[name].format_help()


LOADED = """
import sys
from audit.cli.main import main
code = main(sys.argv[1:])
print(*sorted(name for name in sys.modules if name.startswith(("audit.cli.", "audit.checks.section"))), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize("words", [["vectors", "list"], ["errata", "E3.1"]])
def test_a_command_loads_no_other(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, *words], capture_output=True, text=True, check=False)
    loaded = {name.rpartition(".")[2] for name in done.stderr.splitlines()[-1].split()}
    assert done.returncode == 0
    assert loaded & {*ORDER, "section2", "section3", "section4", "section5"} == {words[0]}


def test_the_help_of_a_command_names_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["audit", "--help"])
    assert left.value.code == 0
    output = capsys.readouterr().out
    for option in ("--level", "--only", "--out", "--seed", "--workers", "--resume", "--record", "--json"):
        assert option in output


def test_one_line() -> None:
    assert one_line("a\nb\tc\x1b[0m\x00\u202e δ") == "a b c [0m   δ"


@pytest.mark.parametrize("arguments", [[], ["errata", "--json"]], ids=["little", "much"])
def test_a_reader_that_leaves_early_is_no_error(arguments: list[str]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    run = subprocess.run(
        [sys.executable, "-m", "dpso", *arguments],
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""},
        check=False,
    )
    os.close(theirs)
    assert (run.returncode, run.stderr) == (0, "")
