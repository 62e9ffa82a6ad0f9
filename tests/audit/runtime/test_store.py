"""The store: what was flushed is there after any end of the process, and nothing else is believed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
import random
import re
import resource
import shutil
import signal
import sqlite3
import stat
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
        for moment in (100.5, 100.9, 101.0, 101.5):
            now[0] = moment
            one.put(str(moment), 0)
            waiting.append(len(one._pending))
        assert waiting == [1, 2, 0, 1]


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
    with pytest.raises(StoreError) as refused:
        opened(tmp_path)
    assert str(refused.value) == f"{tmp_path / name}: cannot be opened (it is no regular file); name another --out"


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
        with pytest.raises(StoreError, match=r"a record of 401 bytes is longer than 400;"):
            store.put("long", "x" * 399)
        store.put("short", "x" * 398)
    assert [key for key, _ in reopened(tmp_path)] == ["short"]
    assert module.LONGEST == 400


def test_the_longest_record_is_sixty_four_mebibytes_for_sqlite_too(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        assert store._database.getlimit(sqlite3.SQLITE_LIMIT_LENGTH) == module.LONGEST == 67_108_864


# --------------------------------------------------------------------------------------- what users are told


@pytest.mark.parametrize(
    ("place", "reason"), [("file", "File exists"), ("file/x", "Not a directory"), ("a\0b", "embedded null byte")]
)
def test_why_a_place_cannot_be_a_folder_is_said_in_words(place: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError) as refused:
        opened(tmp_path / place)
    assert str(refused.value) == f"{tmp_path / place}: cannot be made a folder ({reason}); name another --out"


@pytest.mark.parametrize(("name", "reason"), [("x" * 300, "File name too long"), ("a\0b", "embedded null byte")])
def test_why_a_file_cannot_be_opened_is_said_in_words(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError) as refused:
        Store(tmp_path / name, RUN, option="--store")
    assert str(refused.value) == f"{tmp_path / name}: cannot be opened ({reason}); name another --store"


FAULTS = [
    ("cannot be opened", sqlite3.SQLITE_BUSY, ": another run is at work in this place; wait for it, or name another"),
    ("cannot be read", sqlite3.SQLITE_LOCKED | 1 << 8, ": another run is at work in this place; wait for it, or name"),
    ("cannot be read", sqlite3.SQLITE_NOTADB, " is not a store of this program; name another --out"),
    ("cannot be opened", sqlite3.SQLITE_CORRUPT, " is damaged (so it is): start again with another --out"),
    ("cannot be written", sqlite3.SQLITE_CORRUPT | 2 << 8, " is damaged (so it is): start again with another --out"),
    ("cannot be read", sqlite3.SQLITE_ERROR, " is damaged (so it is): start again with another --out"),
    ("cannot be read", None, " is damaged (so it is): start again with another --out"),
    ("cannot be read", sqlite3.SQLITE_IOERR | 3 << 8, ": cannot be read (so it is); name another --out"),
    ("cannot be opened", sqlite3.SQLITE_CANTOPEN, ": cannot be opened (so it is); name another --out"),
    ("cannot be written", sqlite3.SQLITE_FULL, ": cannot be written (so it is); what is in it is safe: make room and"),
]


@pytest.mark.parametrize(("what", "code", "said"), FAULTS)
def test_each_fault_of_sqlite_is_one_line(what: str, code: int | None, said: str, tmp_path: Path) -> None:
    error = sqlite3.DatabaseError("so it is")
    if code is not None:
        error.sqlite_errorcode = code
    with opened(tmp_path) as store, pytest.raises(StoreError) as refused, store._faults(what):
        raise error
    assert str(refused.value).startswith(f"{tmp_path / NAME}{said}")


def test_a_name_in_the_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    """SQLite quotes the name in its message, which then cannot be read either."""
    whole = written(tmp_path)
    (tmp_path / NAME).write_bytes(whole.replace(b"tableabout", b"table\xff\xffout"))
    with pytest.raises(StoreError, match=r"is damaged .text that is not UTF-8.: start again with another --out"):
        opened(tmp_path)


@pytest.mark.parametrize(("run", "plan", "what"), [([1], PLAN, "run"), (RUN, [1], "plan")])
def test_what_says_nothing_of_its_run_or_plan_is_damaged(run: Any, plan: Any, what: str, tmp_path: Path) -> None:
    with opened(tmp_path, "replace", run) as one:
        one.begin(plan)
    with pytest.raises(StoreError, match=f"is damaged .it does not say of which {what} it is.: start again"):
        reopened(tmp_path)


def test_long_values_and_reasons_are_cut(tmp_path: Path) -> None:
    with opened(tmp_path, run={"seed": "y" * 100}) as one:
        one.begin({})
        assert str(one._damaged("z" * 99)).endswith(f" is damaged ({'z' * 80}): start again with another --out")
        strange = str(one.strange(KeyError("k\nl")))
        assert strange == f"{one.path} holds what this run cannot have written (KeyError: 'k\\nl'); name another --out"
    with pytest.raises(StoreError) as refused:
        opened(tmp_path, run={"seed": "y" * 101})
    cut = "'" + "y" * 59
    assert str(refused.value) == f"{tmp_path / NAME} is of another run: seed was {cut}, now {cut}; name another --out"


def test_a_database_without_tables_is_no_store(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / NAME)) as database:
        database.execute("PRAGMA user_version = 7")
    assert (tmp_path / NAME).stat().st_size > 0
    with pytest.raises(StoreError, match="is not a store of this program's version; name another --out"):
        opened(tmp_path)


def test_the_first_record_that_was_changed_is_named(tmp_path: Path) -> None:
    written(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / NAME)) as database:
        database.execute("UPDATE records SET value = '1' WHERE number = 2")
        database.commit()
    with pytest.raises(StoreError, match=r"is damaged .record 2.: start again with another --out"):
        opened(tmp_path)


def test_records_are_those_that_were_found(tmp_path: Path) -> None:
    written(tmp_path)
    with opened(tmp_path) as one:
        one.begin(PLAN)
        one.put("more", 1)
        one.flush()
        assert (one.count, list(one.records())) == (3, RECORDS)


def test_the_format_is_what_its_number_says(tmp_path: Path) -> None:
    """Texts and checksums of format 1: a program that writes others must have another number."""
    assert module._encode({"b": [1, 2], "a": "é"}) == '{"a":"\\u00e9","b":[1,2]}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        module._encode(float("nan"))
    text = b" 1 k v"
    assert module._checksum("", "k", "v") == hashlib.blake2b(text, digest_size=16).hexdigest()
    written(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / NAME)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (1,)
        assert database.execute("PRAGMA application_id").fetchone() == (0x6470736F,)


def test_a_store_is_made_as_other_files_are(tmp_path: Path) -> None:
    """Read and written by whom the process allows, run by nobody."""
    before = os.umask(0o026)
    try:
        opened(tmp_path).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o640


def test_a_refused_database_is_let_go_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for a lock, and nothing stays open until an error is forgotten."""
    connect, events = sqlite3.connect, []

    class Connection(sqlite3.Connection):
        def close(self) -> None:
            events.append("closed")
            super().close()

    def watched(*args: Any, timeout: float, uri: bool, **options: Any) -> Any:
        events.append((timeout, uri))
        return connect(*args, timeout=timeout, uri=uri, factory=Connection, **options)

    written(tmp_path)
    monkeypatch.setattr(sqlite3, "connect", watched)
    with pytest.raises(StoreError, match="earlier run"):
        opened(tmp_path, "refuse")
    assert events == [(0.0, True), "closed"]
    with opened(tmp_path), pytest.raises(StoreError, match="another run is at work"):
        opened(tmp_path)
    assert events[2:] == [(0.0, True), (0.0, True), "closed", "closed"]


# ---------------------------------------------------------------------------------------- what takes seconds


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
