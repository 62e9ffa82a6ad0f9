"""Mutation testing of the whole product: of small changes drawn at random, which would the tests notice?

`make mutation` copies the tree, runs all tests once to learn which test runs which line (`bench.traced`), draws slips
of the pen from every room (`bench.slips`), a fresh seed at each recording, and runs for each of them the tests that run
its line, nearest and quickest first, until one fails. A slip that no test reaches has survived; so has one whose tests
pass within `BUDGET` seconds, although slower tests might have noticed it. A test that fails in the untouched copy is
not used; at the end the tests that noticed something run in the untouched copy once more, and what only a test noticed
that fails there too is tried again without it.

What is done is kept in `dpso-out/mutation`; the same seed continues there, and of the trace only what may have changed
is made again (`outdated`): a trace decides which tests are tried, never what they say. A survivor that cannot be
noticed, because nothing changes, is listed with the reason in `equivalent.toml`, and not counted.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import contextlib
import hashlib
import json
import math
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import coverage

from audit.runtime.store import Store
from bench import traced
from bench.nearest import near
from bench.record import record
from bench.slips import Slip, slips

HELP = "mutation testing: which slips of the pen, drawn at random from each room, do the tests notice?"

ROOT = Path(__file__).parents[1]
WORK = ROOT / "dpso-out" / "mutation"
PRODUCT = ("reference", "audit", "dpso")
LEFT_OUT = (
    ".git",
    ".venv",
    "dpso-out",
    "dist",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".pytest_cache",
    "__pycache__",
)
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
COUNT = 320
"""Slips of a sample."""
LEAST = 8
"""Slips of a room, however small it is."""
BUDGET = 40.0
"""Seconds of tests for a slip, as traced: most have fewer, and quicker tests come first."""
NEAR_WALL = 8.0
"""With `--near`: seconds by the clock for each second of the processor that tests may take (`bench.nearest`)."""
FIRST = 4.0
"""Seconds of tests that run first, in a process of their own: most slips die there, and few files are collected."""
CORE = {
    "audit/auditor/test/confidence.py": "exact test",
    "audit/auditor/test/plan.py": "plan",
    "audit/runtime/store.py": "store",
    "audit/auditor/terms/relation.py": "relation",
}
"""What an error level, a resumed run or a pair of neighbours hangs on: a room of its own in the sample."""
CORE_ROOM = "exact test, plan, store, relation"
CORE_COUNT = 60
TARGETS = {"reference": 0.9, CORE_ROOM: 0.9, "all": 0.8}
"""What the tests should notice: chosen before it was measured."""
Z = 1.96
"""Of a confidence interval of 95 %."""

Progress = Callable[[str], None]
Fate: TypeAlias = Literal["killed", "hung", "survived", "unreached", "equivalent"]


# ------------------------------------------------------------------------------------------------ the sample


@dataclass(frozen=True)
class Mutant:
    """A slip in a file of the product."""

    path: str
    slip: Slip

    @property
    def id(self) -> str:
        """A name that fits on a line."""
        return f"{self.path}:{self.slip.line}@{self.slip.start} {self.slip.kind} {self.slip.after[:40]!r}"

    @cached_property
    def room(self) -> str:
        """The room that it is in."""
        return room_of(self.path)

    def line_before(self, source: bytes) -> str:
        """The line of the source that it changes."""
        return source.decode().splitlines()[self.slip.line - 1].strip()


def room_of(path: str) -> str:
    """The folder of a file as ARCHITECTURE.md lists them; the core apart."""
    parts = Path(path).parts
    deep = 3 if parts[:2] == ("audit", "auditor") and len(parts) > 3 else 2
    return CORE_ROOM if path in CORE else "/".join(parts[: min(deep, len(parts) - 1)])


def mutants_of(tree: Path) -> dict[str, list[Mutant]]:
    """Every slip of the product, by room."""
    found: dict[str, list[Mutant]] = {}
    for path in sorted(p for package in PRODUCT for p in (tree / package).rglob("*.py")):
        name = path.relative_to(tree).as_posix()
        for slip in slips(path.read_bytes()):
            found.setdefault(room_of(name), []).append(Mutant(name, slip))
    return found


def shares(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    """How many slips each room gives: the core its own number, of the rest a few each and in proportion."""
    core = {CORE_ROOM: min(sizes.get(CORE_ROOM, 0), CORE_COUNT, count)} if CORE_ROOM in sizes else {}
    rest = {room: size for room, size in sizes.items() if room not in core}
    spare = max(0, count - sum(core.values()) - LEAST * len(rest))
    total = sum(rest.values())
    return core | {room: min(size, LEAST + round(spare * size / total)) for room, size in rest.items()}


def draw(by_room: Mapping[str, Sequence[Mutant]], count: int, seed: int) -> list[Mutant]:
    """The sample, in random order: a part of it is a sample too."""
    generator = random.Random(seed)
    parts = shares({room: len(all) for room, all in by_room.items()}, count)
    sample = [mutant for room, k in sorted(parts.items()) for mutant in generator.sample(by_room[room], k)]
    generator.shuffle(sample)
    return sample


# ----------------------------------------------------------------------------------------- copies of the tree


def snapshot(to: Path) -> None:
    """Copy the checkout."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns(*LEFT_OUT))


def hashes(tree: Path) -> dict[str, str]:
    """A hash of each Python file, and of the data that they read; the list of slips that change nothing may grow."""
    files = sorted(p for p in tree.rglob("*") if p.suffix in (".py", ".toml", ".json", ".md") and p.is_file())
    names = {path.relative_to(tree): path for path in files}
    return {
        name.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for name, path in names.items()
        if not set(name.parts) & set(LEFT_OUT) and name.name != EQUIVALENT.name
    }


def fingerprint(tree: Path) -> str:
    """One hash of all of them."""
    return hashlib.sha256(json.dumps(hashes(tree)).encode()).hexdigest()[:16]


def environment(tree: Path, **more: str) -> dict[str, str]:
    """What a process needs to run the copy and not the checkout."""
    return {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **more}


# --------------------------------------------------------------------------------------------- running tests


@dataclass(frozen=True)
class Trial:
    """Tests that run together until one fails."""

    arguments: tuple[str, ...]
    """What pytest is given: files, and what it takes of them."""
    ids: tuple[str, ...] = ()
    """These tests in this order, and those that nobody knew; all of the files, if there are none."""
    known: tuple[str, ...] = ()
    seconds: float = 1800.0
    """They are given up after so many."""
    processor: int = 0
    """And after so many of the processor; 0 for no limit."""

    def run(self, tree: Path, *options: str) -> subprocess.CompletedProcess[str]:
        """How it goes in the copy as it is; one that was given up was ended by a signal."""
        variables = {traced.PROCESSOR: str(self.processor), "PYTHONDONTWRITEBYTECODE": "1"}
        if self.ids:
            chosen = tree.with_name(f"{tree.name}-chosen.json")
            chosen.write_text(json.dumps([self.ids, self.known]), encoding="utf-8")
            variables[traced.CHOSEN] = str(chosen)
        command = [sys.executable, "-m", "pytest", "-p", "bench.traced", "-n", "0", "--tb=no", "-rfE"]
        with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
            process = subprocess.Popen(
                [*command, *options, *self.arguments],
                cwd=tree,
                env=environment(tree, **variables),
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.seconds)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with what its tests started and left
            code = process.wait()
            said.seek(0)
            return subprocess.CompletedProcess(command, code, said.read())


# ------------------------------------------------------------------------------------ which test runs which line


@dataclass(frozen=True)
class Traced:
    """What the tests of a tree take, and which of them run which line."""

    seconds: Mapping[str, float]
    """Of the tests that pass."""
    lines: Mapping[str, Mapping[int, Sequence[str]]]
    """By file and line; lines that only an import runs have no test."""

    def tests_of(self, mutant: Mutant, source: bytes) -> list[str]:
        """The tests that might notice, nearest and quickest first, for `BUDGET` seconds."""
        reached = self.lines.get(mutant.path, {})
        found = {test for line in statement_lines(source, mutant.slip.line) for test in reached.get(line, ())}
        if not found and any(line in reached for line in statement_lines(source, mutant.slip.line)):
            found = {test for tests in reached.values() for test in tests}  # an import runs it: who uses the module?
        own = {test for test in self.seconds if Path(test.partition("::")[0]).name == f"test_{Path(mutant.path).name}"}
        chosen: list[str] = []
        total = 0.0
        order = sorted((found | (own if found else set())) & self.seconds.keys(), key=self.order(own, found))
        for test in order:
            total += self.seconds[test]
            if chosen and total > BUDGET:
                break
            chosen.append(test)
        return chosen

    def trials(self, mutant: Mutant, source: bytes) -> list[Trial]:
        """`FIRST` seconds of tests (one at least), and the others: a process that collects few files starts sooner."""
        tests = self.tests_of(mutant, source)
        total, cut = 0.0, 0
        for test in tests:
            total += self.seconds[test]
            if cut and total > FIRST:
                break
            cut += 1
        return [self.again(part) for part in (tests[:cut], tests[cut:]) if part]

    def again(self, tests: Sequence[str]) -> Trial:
        """These tests: one is given up after some multiple of what it took."""
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        longest = 60 + 10 * max(self.seconds[test] for test in tests)
        seconds = 120 + 10 * sum(self.seconds[test] for test in tests)
        return Trial((*files, f"--timeout={longest:.0f}"), tuple(tests), tuple(self.seconds), seconds)

    def without(self, tests: Set[str]) -> Traced:
        """The same, but for some tests."""
        return Traced({test: s for test, s in self.seconds.items() if test not in tests}, self.lines)

    def order(self, own: set[str], found: set[str]) -> Callable[[str], tuple[Any, ...]]:
        """Tests that run the line and stand in the module's own file first, then by what they take, file by file."""
        files: dict[str, float] = {}
        for test in found | own:
            file = test.partition("::")[0]
            files[file] = files.get(file, 0.0) + self.seconds.get(test, 0.0)
        return lambda test: (
            test not in found,
            test not in own,
            files[test.partition("::")[0]],
            test.partition("::")[0],
            self.seconds[test],
        )


def statement_lines(source: bytes, line: int) -> range:
    """The lines of the innermost simple statement (or head of a compound one) that a line belongs to."""
    best = range(line, line + 1)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
            if line <= end and (len(best) == 1 or end - node.lineno < len(best)):
                best = range(node.lineno, max(end, node.lineno) + 1)
    return best


def trace(tree: Path, work: Path, workers: int, progress: Progress, tests: Sequence[str] = ()) -> Traced:
    """Run all tests of the tree (or these) once under coverage; what that gave before is kept where nothing changed."""
    kept, now = work / "traced.json", hashes(tree)
    data: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    stale = outdated(data, now, tests) if data.get("of") == list(tests) else None
    if stale != []:
        what = "all tests" if stale is None else f"the tests of {len(stale)} files"
        progress(f"running {what} once, on {workers} workers, to see which test runs which line")
        if stale is None:
            data = {"seconds": {}, "lines": {}}
        _merge(data, _measured(tree, work, workers, stale or tests), stale or [], now)
        data |= {"of": list(tests), "files": now}
        kept.write_text(json.dumps(data), encoding="utf-8")
    lines = {file: {int(n): ids for n, ids in by.items()} for file, by in data["lines"].items()}
    return Traced(data["seconds"], lines)


def outdated(data: Mapping[str, Any], now: Mapping[str, str], tests: Sequence[str] = ()) -> list[str] | None:
    """Files of tests whose trace no longer fits the tree; None if that may be any of them.

    Those that changed, and those with a test that runs a file that changed. What tests share may concern all.
    """
    before = data["files"]
    changed = {path for path in now.keys() | before.keys() if now.get(path) != before.get(path)}
    if any(path.startswith("tests/") and path.endswith(".py") and not _is_test(path) for path in changed):
        return None
    lines = data["lines"]
    stale = {path for path in changed if _is_test(path) and (not tests or path in tests)}
    stale |= {test.partition("::")[0] for path in changed for ids in lines.get(path, {}).values() for test in ids}
    return sorted(path for path in stale if path in now)


def _is_test(path: str) -> bool:
    return path.startswith("tests/") and Path(path).name.startswith("test_")


def _merge(data: dict[str, Any], new: Mapping[str, Any], stale: Sequence[str], now: Mapping[str, str]) -> None:
    """Put a new trace of some files of tests in the place of the old one; forget files that are gone."""

    def kept(test: str) -> bool:
        file = test.partition("::")[0]
        return file in now and file not in stale

    data["seconds"] = {test: s for test, s in data["seconds"].items() if kept(test)} | new["seconds"]
    lines = {f: {str(n): [t for t in ids if kept(t)] for n, ids in by.items()} for f, by in data["lines"].items()}
    for file, by in new["lines"].items():
        old = lines.setdefault(file, {})
        for n, ids in by.items():
            old[str(n)] = sorted({*old.get(str(n), ()), *ids})
    data["lines"] = lines


def _measured(tree: Path, work: Path, workers: int, tests: Sequence[str]) -> dict[str, Any]:
    """Run all tests, or those of some files, under coverage: seconds of each, and who runs which line."""
    times, settings = work / "durations", work / "coverage.ini"
    shutil.rmtree(times, ignore_errors=True)
    times.mkdir(parents=True)
    for old in tree.glob(".coverage*"):
        old.unlink()
    settings.write_text(
        f"[run]\nsource = {','.join(PRODUCT)}\nconcurrency = multiprocessing,thread\nparallel = true\n"
        f"patch = subprocess\nsigterm = true\nrelative_files = true\ndata_file = {tree}/.coverage\n"
        f"context = ${{{traced.CONTEXT}-}}\n"
        "disable_warnings = no-data-collected,module-not-imported\n",
        encoding="utf-8",
    )
    more = {traced.SETTINGS: str(settings), traced.DURATIONS: str(times)}
    run = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-p", "bench.traced"]
    with (work / "traced.log").open("w", encoding="utf-8") as log:
        subprocess.run(
            [*run, "-n", str(workers), "--timeout=3000", *tests],
            cwd=tree,
            env=environment(tree, **more),
            stdout=log,
            stderr=log,
            check=False,
        )
        subprocess.run(
            [sys.executable, "-m", "coverage", "combine", f"--rcfile={settings}", "--quiet"],
            cwd=tree,
            env=environment(tree),
            stdout=log,
            stderr=log,
            check=True,
        )
    seconds = _durations(times)
    if not seconds:
        raise RuntimeError(f"no test of {tree} passed under coverage: {work / 'traced.log'} says why")
    return {"seconds": seconds, "lines": _contexts(tree / ".coverage")}


def _durations(folder: Path) -> dict[str, float]:
    """Seconds of each test that passed."""
    seconds: dict[str, float] = {}
    failed = set()
    for file in folder.glob("*.jsonl"):
        for test, when, outcome, duration in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            seconds[test] = seconds.get(test, 0.0) + duration
            if outcome == "failed" or (when == "setup" and outcome != "passed"):
                failed.add(test)
    return {test: round(s, 3) for test, s in seconds.items() if test not in failed}


def _contexts(path: Path) -> dict[str, dict[int, list[str]]]:
    """Which tests run which lines, by file. A child's context is "test|", a test's own "|test" or "test"."""
    data = coverage.CoverageData(str(path))
    data.read()
    found: dict[str, dict[int, list[str]]] = {}
    for file in data.measured_files():
        by_line = data.contexts_by_lineno(file)
        found[file] = {
            line: sorted({part for c in contexts for part in c.split("|", 1) if "::" in part})
            for line, contexts in by_line.items()
        }
    return found


# ------------------------------------------------------------------------------------------------- the trials


@dataclass(frozen=True)
class Nearest:
    """Which tests are near, read off their texts (`bench.near`)."""

    tree: Path
    left_out: Set[str] = frozenset()

    def trials(self, mutant: Mutant, source: bytes) -> list[Trial]:
        """The nearest file of tests, and then the others."""
        left_out = [f"--deselect={test}" for test in sorted(self.left_out)]
        found = []
        for stage in near(self.tree, mutant.path, mutant.slip.owner):
            arguments = (*stage.files, *(("-k", stage.keyword) if stage.keyword else ()), *left_out)
            found.append(Trial(arguments, seconds=NEAR_WALL * stage.seconds, processor=stage.seconds))
        return found

    def again(self, tests: Sequence[str]) -> Trial:
        """These tests."""
        return Trial(tuple(tests))

    def without(self, tests: Set[str]) -> Nearest:
        """The same, but for some tests."""
        return replace(self, left_out=self.left_out | tests)


def attempt(tree: Path, mutant: Mutant, guide: Traced | Nearest) -> tuple[Fate, str]:
    """Change the copy, run the tests until one fails, and change it back: what became of it, and who noticed."""
    file = tree / mutant.path
    source = file.read_bytes()
    trials = guide.trials(mutant, source)
    for trial in trials:
        try:
            _write(file, mutant.slip.applied(source))
            done = trial.run(tree, "-x")
        finally:
            _write(file, source)
        if done.returncode in GIVEN_UP:
            if _is_kept_by_it(tree, trial, done.returncode):
                return "hung", ""
        elif done.returncode == PYTEST_MISUSED and (own := trial.run(tree)).returncode == PYTEST_MISUSED:
            raise RuntimeError(f"pytest cannot run {' '.join(trial.arguments)}: {own.stdout[-2000:]}")
        elif done.returncode not in PYTEST_NOTICED_NOTHING:
            return "killed", next(_failures(done.stdout), f"exit {done.returncode}")
    return ("survived" if trials else "unreached"), ""


def _is_kept_by_it(tree: Path, trial: Trial, code: int) -> bool:
    """Whether tests that did not end end without the slip: known of traced ones; of others half the time must do."""
    if trial.ids:
        return True
    return code == -signal.SIGXCPU and replace(trial, processor=trial.processor // 2).run(tree).returncode == 0


GIVEN_UP = (-signal.SIGKILL, -signal.SIGXCPU)
"""How tests end that are given up: by the clock, and by the time of the processor."""
PYTEST_NOTICED_NOTHING, PYTEST_MISUSED = (0, 5), 4
"""Its exit codes if all tests passed or there was none, and after a wrong call (or where a plugin is broken)."""


def _write(file: Path, source: bytes) -> None:
    """Change a module, and forget what was compiled of it."""
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()
    file.write_bytes(source)


def _failures(text: str) -> Iterator[str]:
    """The tests that failed, or what could not even be imported."""
    for line in text.splitlines():
        if line.startswith(("FAILED ", "ERROR ")):
            yield line.split(" ", 1)[1].split(" - ")[0].strip()


def false_alarms(tree: Path, fates: Mapping[str, tuple[Fate, str]], guide: Traced | Nearest) -> set[str]:
    """Of the tests that noticed a slip, and the files that could not be read, those that fail in the untouched copy."""
    noticed = sorted({by for fate, by in fates.values() if fate == "killed"})
    tests, files = [by for by in noticed if "::" in by], [by for by in noticed if by.endswith(".py")]
    done = [guide.again(tests).run(tree)] if tests else []
    done += [Trial(tuple(files)).run(tree, "--collect-only")] if files else []
    return {failed for one in done for failed in _failures(one.stdout)}


def equivalents() -> dict[tuple[str, str, str, str], str]:
    """Slips that change nothing, each with the reason: file, owner, line and what it becomes."""
    entries = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["slip"]
    return {(e["path"], e["owner"], e["line"], e["after"]): e["reason"] for e in entries}


def run(progress: Progress, **options: Any) -> dict[str, Any]:
    """Measure. Options: count, seed, workers, rooms (only these), tests (only these), near (no trace)."""
    count, workers = options.get("count", COUNT), options.get("workers", os.cpu_count() or 1)
    seed: int = secrets.randbelow(10**6) if options.get("seed") is None else options["seed"]
    WORK.mkdir(parents=True, exist_ok=True)
    trees = [WORK / f"tree-{i}" for i in range(workers)]
    if not (trees[0].exists() and fingerprint(trees[0]) == fingerprint(ROOT)):
        snapshot(trees[0])
    guide: Traced | Nearest = Nearest(trees[0])
    if not options.get("near"):
        guide = trace(trees[0], WORK, workers, progress, options.get("tests", ()))
    for tree in trees[1:]:
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(trees[0], tree)
    for tree in trees:
        compileall.compile_dir(tree, quiet=2, workers=1)
    by_room = mutants_of(trees[0])
    sample = [m for m in draw(by_room, count, seed) if not options.get("rooms") or m.room in options["rooms"]]
    progress(f"{len(sample)} slips, seed {seed}")
    deadline = time.monotonic() + 60 * options.get("minutes", math.inf)
    fates = _all(sample, guide, trees, seed, progress, deadline)
    sample = [mutant for mutant in sample if mutant.id in fates]
    while alarms := false_alarms(trees[0], fates, guide):
        progress(f"fail in the untouched copy too, and are not used: {', '.join(sorted(alarms))}")
        guide = guide.without(alarms)
        fates = _all(sample, guide, trees, seed, progress, math.inf, alarms)
    result = summary(trees[0], {room: len(all) for room, all in by_room.items()}, sample, fates, seed)
    return result | {"tests": "near" if options.get("near") else "all"}


def _all(
    sample: Sequence[Mutant],
    guide: Traced | Nearest,
    trees: Sequence[Path],
    seed: int,
    progress: Progress,
    deadline: float,
    alarms: Set[str] = frozenset(),
) -> dict[str, tuple[Fate, str]]:
    """Try every slip that has not been tried, or only by false alarms; each copy of the tree has one at a time.

    None is begun after the deadline: what has been tried is then the beginning of the sample, whose order is random.
    """
    lock, free = threading.Lock(), list(trees)
    with Store.in_folder(WORK / f"seed-{seed}", {"tree": fingerprint(trees[0])}, "continue") as store:
        store.begin({})
        known = (value for _, value in store.records())
        fates: dict[str, tuple[Fate, str]] = {id: (fate, by) for id, fate, by in known if by not in alarms}

        def one(mutant: Mutant) -> tuple[Mutant, Fate, str, float] | None:
            begin = time.monotonic()
            if begin > deadline:
                return None
            with lock:
                tree = free.pop()
            fate, by = attempt(tree, mutant, guide)
            with lock:
                free.append(tree)
            return mutant, fate, by, time.monotonic() - begin

        todo = [m for m in sample if m.id not in fates]
        with ThreadPoolExecutor(len(trees)) as pool:
            for i, done in enumerate(pool.map(one, todo)):
                if done is None:
                    break
                mutant, fate, by, seconds = done
                fates[mutant.id] = (fate, by)
                store.put(f"{store.count} {mutant.id}", [mutant.id, fate, by])
                progress(f"{i + 1}/{len(todo)} {fate:9} {seconds:5.1f} s  {mutant.id}  {by}")
    return fates


# ------------------------------------------------------------------------------------------------ the result


def summary(
    tree: Path, sizes: Mapping[str, int], sample: Sequence[Mutant], fates: Mapping[str, tuple[Fate, str]], seed: int
) -> dict[str, Any]:
    """Counts by room, and the survivors one by one."""
    known = equivalents()
    rooms: dict[str, dict[str, Any]] = {}
    survivors = []
    for mutant in sample:
        source = (tree / mutant.path).read_bytes()
        fate = fates[mutant.id][0]
        line = mutant.line_before(source)
        reason = known.get((mutant.path, mutant.slip.owner, line, mutant.slip.after))
        if reason and fate in ("survived", "unreached"):
            fate = "equivalent"
        row = rooms.setdefault(mutant.room, {"slips": sizes[mutant.room], "sampled": 0})
        row["sampled"] += 1
        row[fate] = row.get(fate, 0) + 1
        if fate not in ("killed", "hung"):
            about = {k: v for k, v in asdict(mutant.slip).items() if k in ("owner", "kind", "before", "after")}
            survivors.append({"path": mutant.path, "line": line, "fate": fate, "reason": reason or "", **about})
    return {
        "seed": seed,
        "sampled": len(sample),
        "rooms": dict(sorted(rooms.items())),
        "survivors": sorted(survivors, key=lambda s: (s["path"], s["owner"], s["line"])),
    }


def score(rows: Iterable[Mapping[str, Any]]) -> tuple[float, float, float]:
    """The share that is noticed and its 95 % interval, each room weighed by its size.

    With one room this is the interval of Agresti and Coull; with several, its variance is summed.
    """
    rows = [r for r in rows if _counted(r)]
    total = sum(r["slips"] for r in rows)
    share = variance = centre = 0.0
    for r in rows:
        weight, n, k = r["slips"] / total, _counted(r), _noticed(r)
        p = (k + Z * Z / 2) / (n + Z * Z) if len(rows) == 1 else (k + 1) / (n + 2)
        share += weight * k / n
        centre += weight * p
        variance += weight**2 * p * (1 - p) / (n + (Z * Z if len(rows) == 1 else 3))
    half = Z * math.sqrt(variance)
    return share, max(0.0, centre - half), min(1.0, centre + half)


def _counted(row: Mapping[str, Any]) -> int:
    return int(row["sampled"] - row.get("equivalent", 0))


def _noticed(row: Mapping[str, Any]) -> int:
    return int(row.get("killed", 0) + row.get("hung", 0))


def groups(rooms: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The rooms that have a target together."""
    return {
        "reference": [row for room, row in rooms.items() if room.startswith("reference")],
        CORE_ROOM: [row for room, row in rooms.items() if room == CORE_ROOM],
        "all": list(rooms.values()),
    }


TRIED = {
    "all": f"Tried: the tests that run the changed line, {BUDGET:.0f} seconds of them.",
    "near": "Tried: the tests near to the changed line by name (`--near`), not all that run it: a lower score.",
}


def render(result: dict[str, Any]) -> str:
    """Markdown: the targets, then one row a room."""
    rooms = result["rooms"]
    lines = [
        f"{result['sampled']} slips of {sum(r['slips'] for r in rooms.values()):,}, seed {result['seed']}; those that"
        f" change nothing are not counted. {TRIED[result['tests']]}",
        "",
        "| room | slips | drawn | change nothing | no test reaches | noticed | 95 % interval | target |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, rows in groups(rooms).items():
        if rows:
            lines.append(_row(f"**{name}**", rows, f"≥ {100 * TARGETS[name]:.0f} %"))
    lines += [_row(f"`{room}/`" if room != CORE_ROOM else room, [row], "") for room, row in rooms.items()]
    return "\n".join(lines)


def _row(name: str, rows: Sequence[Mapping[str, Any]], target: str) -> str:
    total = {key: sum(r.get(key, 0) for r in rows) for key in ("slips", "sampled", "equivalent", "unreached")}
    share, low, high = score(rows)
    cells = [f"{total['slips']:,}", *(str(total[key]) for key in ("sampled", "equivalent", "unreached"))]
    cells += [f"{100 * share:.0f} %", f"{100 * low:.0f} … {100 * high:.0f} %", target]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """`python -m bench.mutation`: the same with options."""
    parser = argparse.ArgumentParser(prog="python -m bench.mutation", description=HELP)
    parser.add_argument("--count", type=int, default=COUNT, help=f"slips to draw (default {COUNT})")
    parser.add_argument("--seed", type=int, help="continue or repeat the sample of this seed (default a fresh one)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="copies that are tried at a time")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no slip after so many (default none)")
    parser.add_argument("--rooms", nargs="+", default=[], help="only the slips of these rooms (never recorded)")
    parser.add_argument("--tests", nargs="+", default=[], help="use these tests only (never recorded)")
    parser.add_argument("--near", action="store_true", help="no trace: the tests near to a slip by name; a lower score")
    parser.add_argument("--record", action="store_true", help="keep the result and renew the table")
    args = parser.parse_args()
    result = run(
        lambda text: print(f"  {text}", file=sys.stderr, flush=True),
        count=args.count,
        seed=args.seed,
        workers=args.workers,
        rooms=args.rooms,
        tests=args.tests,
        near=args.near,
        minutes=args.minutes,
    )
    if args.record and not args.rooms and not args.tests:
        record("mutation", result, ROOT / "README.md")
    print(render(result))
    for survivor in result["survivors"]:
        print(f"{survivor['fate']}: {survivor['path']} {survivor['owner']}: {survivor['line']}")
        print(f"    {survivor['before'][:100]!r} → {survivor['after'][:100]!r}")


if __name__ == "__main__":
    main()
