"""Hostile input for every command, and what counts as a failure.

A case is a command line and the files that it meets. It fails if the command shows a traceback or an internal error,
more than one line about bad input, a control character, markup in the report that came from data, an exit code that
does not exist, or if anything is written outside `--out`: an audit hook of the interpreter sees every file that is
opened, made, renamed or removed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import sqlite3
import sys
import tempfile
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.cli.main import main
from audit.runtime.store import NAME, Store

MARKUP = "<img src=x onerror=alert(1)>"
STRINGS = (
    "", " ", "\x1b[31mred\x1b[2J", "\x1b]0;title\x07", MARKUP, "</script><script>alert(1)</script>",
    "\u202egnirts", "a\nb\r\nc",
    "\x00", "é\u0301\U0001f600", "'; DROP TABLE x; --", "{{7*7}}", "%s%n", "../" * 8 + "etc/passwd",
    "x" * 3000, "\ud800",
    "[bold]rich[/bold]", "nan", "-inf", "1e999", "__import__('os')", "\u2028",
    "CON", "~root", "$HOME", "-", "--", "0x10",
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 0.0, -0.0, 0.5, 1e-300, 5e-324, 1e308, -1e308, 2**31, 2**53 + 1, 2**64, -(2**63), 10**40, 10**400,
    float("nan"), float("inf"), float("-inf"), True, False, None, 3, 7,
)  # fmt: skip
TEXT_NUMBERS = (
    "0",
    "-1",
    "1",
    "0.5",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "1e-999",
    "x",
    "",
    "１",
    "1_0",
    "0x1",
    "1e3",
    "--",
    "\x1b[0m",
)
COUNTS = ("0", "-1", "1", "10", "12", "40", "x", "1e3", "", "5.5", "nan", "１２", "0b1")
SEEDS = ("0", "1", "-1", "99999999999999999999999", "x", "1.5", "")

MECHANISMS = """
import sys
def noise(dataset, size, rng):
    return rng.laplace(size=size)
def words(dataset, rng):
    return ["\\x1b[31mred", "<img src=x onerror=alert(1)>", None, float("nan"), (1, "a\\nb")][int(rng.integers(5))]
def echo(dataset, rng):
    return dataset if rng.random() < 0.5 else str(dataset)
def raises(dataset, rng):
    raise RuntimeError("\\x1b[2J" + str(dataset)[:50] + "\\nTraceback (most recent call last):")
def leaves(dataset, rng):
    sys.exit("\\x1b[2J")
def prints(dataset, rng):
    print("\\x1b[31mred"); print("\\x1b[31mred", file=sys.stderr)
    return rng.random()
def length(dataset):
    return float(len(dataset))
def first(dataset):
    return dataset[0]
def deep(dataset):
    out = []
    for _ in range(5000):
        out = [out]
    return out
number = 3
class Thing:
    pass
"""
"""The module `hostile_mechanisms`, which the cases name."""
TARGETS = [
    "hostile_mechanisms:noise", "hostile_mechanisms:words", "hostile_mechanisms:echo", "hostile_mechanisms:raises",
    "hostile_mechanisms:leaves", "hostile_mechanisms:prints", "hostile_mechanisms:length", "hostile_mechanisms:first",
    "hostile_mechanisms:deep", "hostile_mechanisms:number", "hostile_mechanisms:Thing", "hostile_mechanisms:none",
    "hostile_mechanisms", ":", "", "a:b:c", "..:x", "os:system.x", "hostile_mechanisms:noise.real", "\x1b[31m:x",
    "json:loads", "broken_module:x", "a b:c", "é:é", "\x00:x",
]  # fmt: skip
COMMANDS = ["false", "true", "/nonexistent/x", "", "'", "cat", "echo {}", "printf '\\033[31m{}\\n'", "sh -c 'exit 3'"]


@dataclass(frozen=True)
class Case:
    """A command line, the files beside it, and the folder it may write to."""

    argv: tuple[str, ...]
    files: tuple[tuple[str, Any], ...] = ()
    """Name (relative to the working folder) and content: bytes, an int (a hole of so many bytes) or a str (a link)."""

    @property
    def out(self) -> str:
        """The folder that the command line lets it write to."""
        return self._named("--out", "out")

    @property
    def store(self) -> str:
        """The file that it lets it write to."""
        return self._named("--store", "out/draws")

    def _named(self, option: str, default: str) -> str:
        found = default
        for word, after in zip(self.argv, (*self.argv[1:], ""), strict=True):
            if word.startswith(option):
                found = word.partition("=")[2] if "=" in word else after
        return found.replace("\x00", "?")

    def __str__(self) -> str:
        return ascii(list(self.argv))[:300]


# ------------------------------------------------------------------------------------------------ what is tried


def value(rng: random.Random, depth: int = 0) -> Any:
    """Any JSON value, with a taste for trouble."""
    kind = rng.random()
    if kind < 0.35 or depth > 4:
        return rng.choice(NUMBERS)
    if kind < 0.55:
        return rng.choice(STRINGS)
    if kind < 0.8:
        return [value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {str(rng.choice(STRINGS))[:40]: value(rng, depth + 1) for _ in range(rng.randrange(4))}


def changed(rng: random.Random, data: Any) -> Any:
    """The data with one place changed, removed or doubled."""
    if isinstance(data, dict) and data and rng.random() < 0.85:
        key = rng.choice(sorted(data))
        if rng.random() < 0.15:
            return {k: v for k, v in data.items() if k != key}
        return data | {key: changed(rng, data[key])}
    if isinstance(data, list) and data and rng.random() < 0.85:
        at = rng.randrange(len(data))
        if rng.random() < 0.2:
            return data[:at] + data[at + 1 :]
        return [*data[:at], changed(rng, data[at]), *data[at + rng.randrange(2) :]]
    return value(rng, 2)


def encoded(rng: random.Random, data: Any) -> bytes:
    """The data as the bytes of a file, now and then damaged."""
    text = json.dumps(data, ensure_ascii=rng.random() < 0.8)
    how = rng.random()
    raw = text.encode("utf-8", "surrogatepass")
    if how < 0.7 or not raw:
        return raw
    at = rng.randrange(len(raw))
    if how < 0.78:
        return raw[:at]
    if how < 0.86:
        return raw[:at] + bytes([rng.randrange(256)]) + raw[at + 1 :]
    if how < 0.9:
        return text.encode("utf-16", "surrogatepass")
    if how < 0.93:
        return b"\xef\xbb\xbf" + raw
    if how < 0.96:
        levels = rng.choice((90, 101, 500, 5000, 100_000))
        return b'{"dataset":' + b"[" * levels + b"]" * levels + b',"neighbour":[]}'
    return rng.choice((b"", b"\x00" * 50, b"9" * 6000, b"[1,]", b"nul", b'"', b"\xff\xfe", raw + raw))


def pairs(rng: random.Random) -> Any:
    """A data file of `dpso test` and `dpso sensitivity`, right or nearly."""
    good = {"dataset": [0.0, 1.0], "neighbour": [0.0, 2.0]}
    shape = rng.random()
    if shape < 0.3:
        return {"dataset": value(rng, 2), "neighbour": value(rng, 2)}
    if shape < 0.4:
        return good
    if shape < 0.5:
        return {"pairs": [changed(rng, good) for _ in range(rng.randrange(3))]}
    if shape < 0.6:
        return {"space": changed(rng, {"size": 3, "low": 0, "high": 1, "type": "float"})}
    return changed(rng, good) if shape < 0.9 else value(rng)


def options(rng: random.Random, **choices: Any) -> list[str]:
    """Some of the options, each with one of its values."""
    words: list[str] = []
    share = rng.choice((0.0, 0.1, 0.3))
    for name, values in choices.items():
        if rng.random() < share:
            option = "--" + name.replace("_", "-")
            words += [option] if values is None else [f"{option}={rng.choice(values)}"]
    return words


def _target(rng: random.Random) -> str:
    return rng.choice(TARGETS if rng.random() < 0.4 else TARGETS[:9])


def _test(rng: random.Random) -> Case:
    epsilon = rng.choice(TEXT_NUMBERS) if rng.random() < 0.2 else "1"
    fixed = [_target(rng), "--data", "data.json", f"--epsilon={epsilon}", "--samples=12"]
    extra = options(
        rng, delta=TEXT_NUMBERS, samples=COUNTS, confidence=TEXT_NUMBERS, seed=SEEDS, release=STRINGS, anytime=None,
        neighbours=("replace-one", "add-remove", "any", "x"), floats=("values", "bits", "x"), json=None,
        workers=("0", "x", "-1", "1"), patience=("0", "x", "nan"),
        store=("out/draws", ".", "data.json", "\x00"), seconds=("0", "-1", "nan", "0.01", "x"),
        timeout=("0", "-1", "nan", "inf", "5", "x"), scheduler=("x", "host:1", "\x1b[0m", ""),
    )  # fmt: skip
    kept = [
        ("--out=out",),
        ("--out=out", "--resume"),
        (),
        (),
        ("--resume",),
        ("--out=", "--resume"),
        ("--out=data.json",),
    ]
    files: list[tuple[str, Any]] = [("data.json", encoded(rng, pairs(rng)))]
    if rng.random() < 0.2:
        files.append((f"out/{NAME}", encoded(rng, value(rng))))
    return Case(("test", *fixed, *extra, *rng.choice(kept)), tuple(files))


def _sensitivity(rng: random.Random) -> Case:
    fixed = [_target(rng), "--data", "data.json", f"--claimed={rng.choice((*TEXT_NUMBERS, '1'))}", "--budget=20"]
    extra = options(rng, norm=TEXT_NUMBERS, budget=COUNTS, seed=SEEDS, json=None)
    bounds = ["--bounds", rng.choice(TEXT_NUMBERS), rng.choice(TEXT_NUMBERS)] if rng.random() < 0.3 else []
    return Case(("sensitivity", *fixed, *extra, *bounds), (("data.json", encoded(rng, pairs(rng))),))


def _trace(rng: random.Random) -> Case:
    if rng.random() < 0.7:
        return Case(
            (
                "trace",
                rng.choice((*STRINGS, "lem:oracle", "Lemma 99", "E3.1", "E99", "x.py:1", "1:1")),
                *options(rng, json=None),
            )
        )
    tex = "\\begin{document}" + "".join(map(str, rng.choices((*STRINGS, "\\label{x}", "{", "}", "%", "\\"), k=20)))
    raw = tex.encode("utf-8", "surrogatepass") if rng.random() < 0.8 else rng.randbytes(300)
    return Case(
        ("trace", "--paper", rng.choice(("paper.tex", "paper.tex", ".", "none.tex", "\x00")), *options(rng, json=None)),
        (("paper.tex", raw),),
    )


def _errata(rng: random.Random) -> Case:
    return Case(("errata", rng.choice((*STRINGS, "E3.1", "e3.1", "E99.9", "Ｅ3.1")), *options(rng, json=None)))


def _calibrate(rng: random.Random) -> Case:
    name = rng.choice((*STRINGS, "phased-sgd", "noisy-frank-wolfe", "noisy-sfw", "proximal", "Alg:gll_oracle"))
    sizes = ("0", "-1", "1", "2", "16", "1000", "x", "1e3", "9" * 30, "")
    fixed = [
        f"--epsilon={rng.choice((*TEXT_NUMBERS, '1', '0.1'))}",
        f"--delta={rng.choice((*TEXT_NUMBERS, '1e-6', '1e-400'))}",
    ]
    extra = options(
        rng,
        n=sizes,
        d=sizes,
        J=sizes,
        b=sizes,
        L0=TEXT_NUMBERS,
        L1=TEXT_NUMBERS,
        D=TEXT_NUMBERS,
        p=TEXT_NUMBERS,
        reach=TEXT_NUMBERS,
        numbers=("float64", "mp15", "mp40", "exact", "mp2", "x"),
        json=None,
    )
    return Case(("calibrate", name, *fixed, *extra, *options(rng, variant=("all", "tight", "x"), noise=("best", "x"))))


def _vectors(rng: random.Random) -> Case:
    action = rng.choice(("list", "list", "list", "x", *STRINGS[:8]))
    return Case(
        ("vectors", action, *rng.choices((*STRINGS, "phased-sgd", "7"), k=rng.randrange(3)), *options(rng, json=None))
    )


def _crosscheck(rng: random.Random) -> Case:
    name = rng.choice((*STRINGS, "phased-sgd", "1", "7"))
    client = rng.choice((("--python", rng.choice(TARGETS[10:])), ("--exec", rng.choice(COMMANDS[2:5])), ()))
    extra = options(rng, variant=("printed", "x"), case=STRINGS, timeout=("0", "-1", "nan", "x"), json=None)
    return Case(("crosscheck", name, *client, *extra))


def _audit(rng: random.Random) -> Case:
    only = rng.choice([text for text in (*STRINGS, "lem:orcale", "E99") if text != "--"])  # argparse: none at all
    extra = [f"--only={only}"]
    extra += options(
        rng, level=("quick", "x"), seed=SEEDS, workers=COUNTS[:3], scheduler=("x", "host:1"), json=None, resume=None
    )
    out = rng.choice(("out", "data", "\x00", "out/../out", "x" * 300))
    return Case(("audit", "--out", out, *extra), (("data", b""),))


def _bench(rng: random.Random) -> Case:
    return Case(("bench", rng.choice(STRINGS) + "?", *options(rng, json=None)))


def _command(rng: random.Random) -> Case:
    words = [
        rng.choice((*STRINGS, "tset", "--json", "--version", "audit", "test", "trace")) + "?"
        for _ in range(rng.randrange(1, 4))
    ]
    return Case(tuple(words))


MAKERS: dict[str, tuple[Callable[[random.Random], Case], float]] = {
    "test": (_test, 5.0), "sensitivity": (_sensitivity, 3.0), "trace": (_trace, 0.15), "errata": (_errata, 1.0),
    "calibrate": (_calibrate, 1.0), "vectors": (_vectors, 0.7), "crosscheck": (_crosscheck, 0.7),
    "audit": (_audit, 1.0), "bench": (_bench, 0.5), "dpso": (_command, 0.7),
}  # fmt: skip


def cases(seed: int, count: int) -> Iterator[Case]:
    """So many cases over all commands."""
    rng = random.Random(seed)
    names, weights = list(MAKERS), [weight for _, weight in MAKERS.values()]
    for _ in range(count):
        yield MAKERS[rng.choices(names, weights)[0]][0](rng)


def store_cases(seed: int, count: int, good: Path, only: str) -> Iterator[Case]:
    """`dpso audit --resume` on stores that are nearly right: one value is changed, or some bytes."""
    rng = random.Random(seed)
    for _ in range(count):
        raw = _with_one_value_changed(rng, good) if rng.random() < 0.7 else _damaged(rng, good.read_bytes())
        yield Case(("audit", "--only", only, "--out", "out", "--resume", "--workers=1"), ((f"out/{NAME}", raw),))


def _with_one_value_changed(rng: random.Random, good: Path) -> bytes:
    """The store with right checksums, as somebody might write it who means harm."""
    about, records = ({}, {})
    with contextlib.closing(sqlite3.connect(good)) as database:
        about = {name: json.loads(text) for name, text in database.execute("SELECT * FROM about WHERE name != 'last'")}
        records = {key: json.loads(text) for key, text in database.execute("SELECT key, value FROM records")}
    spoilt = changed(rng, records)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / NAME, about["run"]) as store:
        store.begin(about["plan"])
        for key, found in (spoilt if isinstance(spoilt, dict) else records).items():
            with contextlib.suppress(ValueError):  # what is no JSON, and names that are no text
                store.put(key.encode().decode(), found)
        store.flush()
        return store.path.read_bytes()


def _damaged(rng: random.Random, whole: bytes) -> bytes:
    at = rng.randrange(len(whole))
    return whole[:at] if rng.random() < 0.3 else whole[:at] + rng.randbytes(rng.choice((1, 40))) + whole[at + 1 :]


def special_cases() -> list[Case]:
    """Holes of a gigabyte, links that lead outside, folders and devices in the place of files."""
    huge = 2**30
    test = ("test", "hostile_mechanisms:noise", "--epsilon=1", "--samples=12")
    pair = ("data.json", b'{"dataset": [0], "neighbour": [1]}')
    outside = "../outside/precious"
    kept = ("--data=data.json", "--out=out", "--resume")
    audit = ("audit", "--only=E3.1", "--out=out", "--workers=1")
    written = (NAME, f"{NAME}-journal", "report.json", "report.json.tmp", "report.html")
    return [
        Case((*test, "--data=data.json"), (("data.json", huge),)),
        Case(("sensitivity", "hostile_mechanisms:length", "--data=data.json", "--claimed=1"), (("data.json", huge),)),
        Case(("trace", "--paper=paper.tex"), (("paper.tex", huge),)),
        Case((*test, *kept), (pair, (f"out/{NAME}", huge))),
        Case((*audit, "--resume"), ((f"out/{NAME}", huge),)),
        Case((*test, *kept), (pair, (f"out/{NAME}", outside))),
        Case((*test, *kept), (pair, (f"out/{NAME}-journal", outside))),
        Case((*test, *kept), (pair, (f"out/{NAME}-wal", outside))),
        Case((*test, *kept), (pair, ("out/result.json", outside))),
        *(Case(audit, ((f"out/{name}", outside),)) for name in written),
        Case((*test, "--data=.")),
        Case((*test, "--data=/dev/null")),
        Case((*test, "--data=/proc/self/mem")),
        Case((*test, "--data=data.json", "--out=data.json"), (pair,)),
        Case((*test, "--data=data.json", "--out=/proc/nowhere"), (pair,)),
        Case(("trace", "--paper=/dev/null")),
    ]


# ------------------------------------------------------------------------------------------------ what is seen


@dataclass
class Watcher:
    """Sees what the process writes, and where."""

    allowed: tuple[str, ...] = ()
    seen: list[str] = field(default_factory=list)
    active: bool = False

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        """The interpreter's audit hook."""
        if not self.active:
            return
        if event == "open":
            path, _, flags = args
            if isinstance(path, int) or not (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
                return
            self._note(path)
        elif event in ("os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.chmod"):
            self._note(args[0])
        elif event in ("os.rename", "os.link", "os.symlink"):
            self._note(args[1])
        elif event == "sqlite3.connect":
            self._note(urllib.parse.unquote(os.fsdecode(args[0])).removeprefix("file:").partition("?")[0])

    def _note(self, path: Any) -> None:
        if isinstance(path, int):
            return
        name = os.fsdecode(path)
        if name == os.devnull or "__pycache__" in name or "\x00" in name:
            return
        folder, last = os.path.split(os.path.abspath(name))
        where = os.path.join(os.path.realpath(folder), last)
        if not any(where == root or where.startswith(root + os.sep) for root in self.allowed):
            self.seen.append(where)


_watchers: list[Watcher] = []


def watcher() -> Watcher:
    """The one hook of this process: hooks cannot be taken away."""
    if not _watchers:
        _watchers.append(Watcher())
        sys.addaudithook(_watchers[0])
    return _watchers[0]


class Sandbox:
    """A working folder with `out` in it and a precious file beside it; cases run inside, one after another."""

    def __init__(self, base: Path):
        self.base, self.work = base, base / "work"
        for folder in (self.work, base / "outside", base / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        self.precious = base / "outside" / "precious"
        self.precious.write_text("precious")

    @contextlib.contextmanager
    def entered(self) -> Iterator[Sandbox]:
        """Within: the working folder is the current one, and temporary files have their own place."""
        before, path, temporary = os.getcwd(), list(sys.path), tempfile.tempdir
        os.chdir(self.work)
        tempfile.tempdir = str(self.base / "tmp")
        (self.work / "hostile_mechanisms.py").write_text(MECHANISMS)
        (self.work / "broken_module.py").write_text("def (")
        sys.path.insert(0, str(self.work))
        try:
            yield self
        finally:
            os.chdir(before)
            sys.path[:] = path
            tempfile.tempdir = temporary
            for name in ("hostile_mechanisms", "broken_module"):
                sys.modules.pop(name, None)

    def attempt(self, case: Case) -> str | None:
        """Run one case; say what is wrong, or None."""
        for name, content in case.files:
            _place(self.work / name, content)
        watch = watcher()
        watch.allowed = (
            os.path.realpath(self.work / case.out),
            os.path.realpath(self.work / case.store),
            os.path.realpath(self.base / "tmp"),
            *_written_anyway(),
        )
        watch.seen.clear()
        out, err = io.StringIO(), io.StringIO()
        code: Any = None
        watch.active = True
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(list(case.argv))
        except SystemExit as error:
            code = f"SystemExit({error.code!r})"
        except BaseException as error:  # noqa: BLE001 - this is what is being looked for
            code = f"{type(error).__name__}: {error}"
        finally:
            watch.active = False
        complaint = self._complaint(code, out.getvalue(), err.getvalue(), case)
        self._tidy()
        return complaint

    def _complaint(self, code: Any, out: str, err: str, case: Case) -> str | None:
        if code not in (0, 1, 2, 3):
            return f"ended with {code}"
        if any(line.startswith("Traceback (most recent") or "internal error" in line for line in err.splitlines()):
            return f"shows {err[-300:]!r}"
        if code == 2 and not err.splitlines()[-1].startswith("dpso: "):
            return f"no line of explanation: {err[-200:]!r}"
        if code == 2 and sum(line.startswith("dpso: ") for line in err.splitlines()) != 1:
            return f"more than one line: {err[-300:]!r}"
        strange = [c for c in out + err if not c.isprintable() and c != "\n"]
        if strange:
            return f"control character {strange[0]!r} in the output"
        if watcher().seen:
            return f"wrote {watcher().seen[0]}"
        if self.precious.read_text() != "precious":
            return "changed a file outside"
        page = os.path.join(self.work, case.out, "report.html")
        if os.path.isfile(page) and MARKUP in Path(page).read_text(encoding="utf-8"):
            return "markup from data in report.html"
        return None

    def _tidy(self) -> None:
        self.precious.write_text("precious")
        for folder, names, files in os.walk(self.work / "out", topdown=False):
            for name in files + [n for n in names if (Path(folder) / n).is_symlink()]:
                (Path(folder) / name).unlink()
            for name in names:
                with contextlib.suppress(OSError):
                    (Path(folder) / name).rmdir()


def _place(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() or path.is_file():
        path.unlink()
    if isinstance(content, str):
        path.symlink_to(Path("..") / content if path.parent.name == "out" else content)
    elif isinstance(content, int):
        with path.open("wb") as file:
            file.truncate(content)
    else:
        path.write_bytes(content)


def _written_anyway() -> tuple[str, ...]:
    """Caches of libraries, which are not ours to judge."""
    homes = (
        os.environ.get("MPLCONFIGDIR"),
        os.path.expanduser("~/.cache"),
        os.path.expanduser("~/.config"),
        "/dev/shm",
        "/proc",
    )
    return tuple(os.path.realpath(home) for home in homes if home)
