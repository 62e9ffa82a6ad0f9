"""The store: what was flushed is there after any end of the process, and nothing else is believed."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from audit.runtime import store as module
from audit.runtime.store import NAME, Existing, Store, StoreError

ROOT = Path(module.__file__).parents[2]
RUN = {"seed": 0, "mechanism": "m:f"}
PLAN = {"draws": 100}
RECORDS: list[tuple[str, Any]] = [("0", {"counts": [[1, 2], [3, 4]]}), ("é\n", {"text": "é\n\x1b"}), ("2", 10**30)]


def opened(folder: Path, existing: Existing = "continue", run: dict[str, Any] = RUN) -> Store:
    return Store.in_folder(folder, run, existing)


def written(folder: Path, records: list[tuple[str, Any]] = RECORDS) -> bytes:
    with opened(folder, "refuse") as one:
        one.begin(PLAN)
        for key, value in records:
            one.put(key, value)
            one.flush()
    return (folder / NAME).read_bytes()


def reopened(folder: Path) -> list[tuple[str, Any]]:
    with opened(folder) as one:
        one.begin(PLAN)
        return list(one.records())


def test_what_was_put_is_there_and_can_be_continued(tmp_path: Path) -> None:
    written(tmp_path)
    with opened(tmp_path) as one:
        one.begin(PLAN)
        assert list(one.records()) == RECORDS
        assert one.find("more") is None
        one.put("more", [1])
        assert one.find("more") == [1]
        assert one.find("2") == 10**30
    assert reopened(tmp_path) == [*RECORDS, ("more", [1])]
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME]


def test_a_flush_is_a_transaction_on_the_disk(tmp_path: Path) -> None:
    """Settings that decide what survives; SQLite's numbers: 2 is FULL."""
    with opened(tmp_path, "refuse") as one:
        for name, value in (("synchronous", 2), ("journal_mode", "delete"), ("locking_mode", "exclusive")):
            assert one._database.execute(f"PRAGMA {name}").fetchone() == (value,)


def test_several_puts_are_one_flush_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    flush = Store.flush
    monkeypatch.setattr(Store, "flush", lambda self: flushed.append(len(self._pending)) or flush(self))
    with opened(tmp_path, "refuse") as one:
        one.begin(PLAN)
        for i in range(5):
            one.put(str(i), i)
        assert flushed == [1]
        monkeypatch.setattr(module, "FLUSH", 0.0)
        one.put("5", 5)
        assert flushed == [1, 5]
    assert [key for key, _ in reopened(tmp_path)] == list("012345")


def test_what_is_put_after_a_second_is_written_with_all_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The README promises that the end of the process costs a second or so."""
    now = [100.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with opened(tmp_path, "refuse") as one:
        one.begin(PLAN)
        one.put("0", 0)
        waiting = []
        for moment in (100.5, 100.9, 101.1):
            now[0] = moment
            one.put(str(moment), 0)
            waiting.append(len(one._pending))
        assert waiting == [1, 2, 0]


def test_nothing_is_written_before_the_plan(tmp_path: Path) -> None:
    for existing in ("continue", "refuse", "replace"):
        with opened(tmp_path, existing) as one:
            assert one.path.stat().st_size == 0
    written(tmp_path)


def reads_or_refuses(folder: Path) -> str:
    """What becomes of a damaged store: the very records, or one line."""
    try:
        found = reopened(folder)
    except StoreError as error:
        return "refused" if re.fullmatch(r".* another --out", str(error)) else f"unclear: {error}"
    assert found == RECORDS
    return "read"


def test_a_changed_byte_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    """Every byte of what matters and many of the rest: never another result. Most of a page is empty space."""
    whole = written(tmp_path)
    rng = random.Random(0)
    used = [i for i, byte in enumerate(whole) if byte]
    outcomes = []
    for at in rng.sample(used, min(len(used), 600)) + rng.sample(range(len(whole)), 100):
        for changed in (whole[at] ^ (1 << rng.randrange(8)), 0xFF):
            (tmp_path / NAME).write_bytes(whole[:at] + bytes([changed]) + whole[at + 1 :])
            outcomes.append(reads_or_refuses(tmp_path))
    assert set(outcomes) == {"read", "refused"}
    assert outcomes.count("refused") > len(outcomes) / 3


def test_cut_short_it_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path)
    for cut in sorted({*range(1, len(whole), 509), *range(4096, len(whole), 4096), len(whole) - 1}):
        (tmp_path / NAME).write_bytes(whole[:cut])
        assert reads_or_refuses(tmp_path) == "refused", cut


@pytest.mark.parametrize("fill", [b"\0", b"\xff"])
def test_a_lost_page_is_refused(fill: bytes, tmp_path: Path) -> None:
    whole = written(tmp_path)
    for at in range(0, len(whole), 4096):
        (tmp_path / NAME).write_bytes(whole[:at] + fill * 4096 + whole[at + 4096 :])
        assert reads_or_refuses(tmp_path) == "refused"


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM records WHERE number = 3",
        "DELETE FROM records WHERE number = 2",
        "DELETE FROM records",
        "UPDATE records SET number = -number",
        "UPDATE records SET value = '1' WHERE number = 1",
        "UPDATE records SET key = 'x' WHERE number = 1",
        "INSERT INTO records SELECT number + 3, key || 'x', value, checksum FROM records",
        "UPDATE about SET value = '{}' WHERE name = 'plan'",
        "UPDATE about SET value = 3 WHERE name = 'last'",
        "DELETE FROM about",
        "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END",
        "CREATE VIEW v AS SELECT 1",
        "PRAGMA user_version = 2",
        "PRAGMA application_id = 0",
    ],
)
def test_a_valid_database_that_we_did_not_write_is_refused(change: str, tmp_path: Path) -> None:
    written(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / NAME)) as database:
        database.execute(change)
        database.commit()
    assert reads_or_refuses(tmp_path) == "refused"


@pytest.mark.parametrize(
    ("run", "plan", "message"),
    [
        ({"seed": 1, "mechanism": "m:f"}, PLAN, "of another run: seed was 0, now 1; name another --out"),
        ({"seed": 0, "mechanism": "x\n:f"}, PLAN, "of another run: mechanism was 'm:f', now"),
        (RUN, {"draws": 101}, "of another plan: draws was 100, now 101"),
    ],
)
def test_a_store_of_another_run_is_refused_with_what_differs(
    run: dict[str, Any], plan: dict[str, Any], message: str, tmp_path: Path
) -> None:
    written(tmp_path)
    with pytest.raises(StoreError) as refused, opened(tmp_path, run=run) as one:
        one.begin(plan)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_earlier_run_is_not_overwritten_unless_told_to(tmp_path: Path) -> None:
    whole = written(tmp_path)
    with pytest.raises(StoreError, match="add --resume"):
        opened(tmp_path, "refuse")
    assert (tmp_path / NAME).read_bytes() == whole
    with opened(tmp_path, "replace", {"seed": 7}) as one:
        one.begin({})
        assert list(one.records()) == []
        one.put("0", "new")
    with opened(tmp_path, run={"seed": 7}) as one:
        one.begin({})
        assert list(one.records()) == [("0", "new")]


HOLDER = """
import sys, time
from pathlib import Path
from audit.runtime.store import Store
one = Store.in_folder(Path(sys.argv[1]), {}, "continue")
print("held", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("existing", ["refuse", "continue", "replace"])
def test_a_second_driver_is_refused_until_the_first_is_gone_however_it_went(existing: Existing, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    first = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert first.stdout is not None
    assert first.stdout.readline() == "held\n"
    with pytest.raises(StoreError, match="another run is at work"):
        opened(tmp_path, existing, {})
    first.kill()
    first.communicate()
    opened(tmp_path, existing, {}).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_keep_the_folder_locked(tmp_path: Path) -> None:
    one = opened(tmp_path, "refuse")
    ready, started = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(started, b"x")
        time.sleep(60)
        os._exit(0)
    try:
        os.read(ready, 1)
        with pytest.raises(StoreError, match="another run"):
            opened(tmp_path)
        one.close()
        opened(tmp_path).close()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_in_one_process_too(tmp_path: Path) -> None:
    with opened(tmp_path, "refuse"), pytest.raises(StoreError, match="another run"):
        opened(tmp_path)


WRITER = """
import sys
from pathlib import Path
from audit.runtime import store
store.FLUSH = 0.0
with store.Store.in_folder(Path(sys.argv[1]), {}, "continue") as one:
    one.begin({})
    for i in range(one.count, 100_000):
        one.put(str(i), [i] * (i % 700))
        print(i, flush=True)
"""


def test_kill_9_while_it_is_written_loses_nothing_that_was_flushed(tmp_path: Path) -> None:
    """Twelve kills in the middle of a hundred thousand transactions; a copy of the folder as it is goes on as well."""
    rng, before = random.Random(1), 0
    for _ in range(12):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "out")],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        assert writer.stdout is not None
        for _ in range(rng.randrange(1, 60)):
            writer.stdout.readline()
        writer.kill()
        told = [int(line) for line in writer.communicate()[0].split()]
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        shutil.copytree(tmp_path / "out", tmp_path / "copy")
        for folder in (tmp_path / "out", tmp_path / "copy"):
            with opened(folder, run={}) as one:
                one.begin({})
                found = list(one.records())
            assert found == [(str(i), [i] * (i % 700)) for i in range(len(found))]
            assert len(found) > max(told, default=before - 1)
        before = len(found)


def test_a_full_disk_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk; the benchmark fills a real one."""
    with opened(tmp_path, "refuse") as one:
        one.begin(PLAN)
        one.put("0", "before")
        size = one.path.stat().st_size
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))
        try:
            one.put("1", "x" * 10_000)
            with pytest.raises(StoreError, match="what is in it is safe: make room and continue with --resume"):
                one.flush()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        one.put("2", "after")
    assert reopened(tmp_path) == [("0", "before"), ("2", "after")]


SIDES = [NAME, f"{NAME}-journal", f"{NAME}-wal", f"{NAME}-shm"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", SIDES)
def test_a_pipe_is_no_store(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(StoreError, match=f"{name}: cannot be opened .it is no regular file.; name another --out"):
        opened(tmp_path)


@pytest.mark.parametrize("name", SIDES)
@pytest.mark.parametrize("there", [True, False])
def test_a_link_in_the_folder_leads_nowhere(name: str, there: bool, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    if there:
        outside.write_text("precious")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / name).symlink_to(outside)
    with pytest.raises(StoreError, match="cannot be opened"):
        opened(folder)
    assert outside.exists() == there
    assert not there or outside.read_text() == "precious"


@pytest.mark.parametrize(
    "content",
    [b"\n", b"[" * 100_000, b"{}\n", b"\0" * 10_000, json.dumps(RUN).encode(), b"SQLite format 3\0" + b"x" * 99],
)
@pytest.mark.parametrize("existing", ["refuse", "continue", "replace"])
def test_what_is_not_a_store_is_refused_untouched(content: bytes, existing: Existing, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(StoreError, match="not a store of this program"):
        opened(tmp_path, existing)
    assert (tmp_path / NAME).read_bytes() == content


def test_somebody_elses_database_is_refused_untouched(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / NAME)) as database:
        database.execute("CREATE TABLE precious (x)")
        database.commit()
    whole = (tmp_path / NAME).read_bytes()
    for existing in ("refuse", "continue", "replace"):
        with pytest.raises(StoreError, match="not a store of this program"):
            opened(tmp_path, existing)
    assert (tmp_path / NAME).read_bytes() == whole


class Trap:
    """Unpickling this runs code."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path("sprung"),))


def test_right_checksums_over_nonsense_run_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text in ("[" * 100_000, pickle.dumps(Trap()).hex(), "x"):
        with monkeypatch.context() as changed:
            changed.setattr(module, "_encode", lambda value, text=text: value if value == text else json.dumps(value))
            with opened(tmp_path, "replace") as one:
                one.begin(PLAN)
                one.put("0", text)
        with pytest.raises(StoreError, match="damaged"), opened(tmp_path) as one:
            list(one.records())
    assert not (tmp_path / "sprung").exists()


def test_a_huge_file_is_refused_quickly(tmp_path: Path) -> None:
    with (tmp_path / NAME).open("wb") as file:
        file.truncate(2**30)
    began = time.monotonic()
    with pytest.raises(StoreError, match="not a store of this program"):
        reopened(tmp_path)
    assert time.monotonic() - began < 5


def test_memory_does_not_grow_with_the_store(tmp_path: Path) -> None:
    """Forty megabytes are verified and read in a process that may have thirty more than it started with."""
    with opened(tmp_path, "refuse") as one:
        one.begin(PLAN)
        for i in range(400):
            one.put(str(i), "x" * 100_000)
    code = (
        "import resource, sys; from pathlib import Path; from audit.runtime.store import Store\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 30 * 2**20, resource.RLIM_INFINITY))\n"
        f"with Store.in_folder(Path(sys.argv[1]), {RUN!r}, 'continue') as one:\n"
        f"    one.begin({PLAN!r}); print(sum(len(value) for _, value in one.records()))"
    )
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc")
    found = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert found.stdout == "40000000\n", found.stderr


@pytest.mark.parametrize("place", ["a file", "below a file", "/proc/nowhere"])
def test_a_place_that_cannot_be_a_folder(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = {"a file": tmp_path / "file", "below a file": tmp_path / "file" / "x"}.get(place, Path("/proc/nowhere"))
    with pytest.raises(StoreError, match=r"cannot be made a folder .*; name another --out"):
        opened(folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match=r"cannot be opened .Permission denied.; name another --out"):
        opened(tmp_path)


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    with Store.in_folder(tmp_path / "a" / "b", {"seed": 1}, "refuse") as store:
        store.begin({})
    assert (tmp_path / "a" / "b" / NAME).exists()


def test_a_record_that_is_too_long_is_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as store:
        store.begin(PLAN)
        monkeypatch.setattr(module, "LONGEST", 400)
        with pytest.raises(StoreError, match=r"a record of \d+ bytes is longer than 400;"):
            store.put("long", "x" * 500)
        store.put("short", 1)
    assert [key for key, _ in reopened(tmp_path)] == ["short"]
