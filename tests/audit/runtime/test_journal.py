"""The journal: what was written is there after any end of the process, and nothing else is believed."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit.runtime import journal
from audit.runtime.journal import Journal, JournalError

ROOT = Path(journal.__file__).parents[2]
RUN = {"seed": 0, "mechanism": "m:f"}
PLAN = {"draws": 100}
RECORDS = [[[0, {"counts": [[1, 2], [3, 4]]}]], [[1, {"text": "é\n\x1b"}], [2, {}]], [[3, {"n": 10**30}]]]


def written(folder: Path, records: list[object] = RECORDS) -> bytes:
    with Journal(folder, RUN, resume=False) as one:
        one.begin(PLAN)
        for record in records:
            one.append(record)
    return (folder / journal.NAME).read_bytes()


def reopened(folder: Path) -> list[object]:
    with Journal(folder, RUN, resume=True) as one:
        one.begin(PLAN)
        return list(one.records())


def test_what_was_appended_is_there_and_can_be_continued(tmp_path: Path) -> None:
    written(tmp_path)
    with Journal(tmp_path, RUN, resume=True) as one:
        one.begin(PLAN)
        assert list(one.records()) == RECORDS
        one.append("more")
    assert reopened(tmp_path) == [*RECORDS, "more"]


def test_no_journal_is_a_fresh_start_and_no_journal_before_the_plan(tmp_path: Path) -> None:
    with Journal(tmp_path, RUN, resume=True) as one:
        assert list(one.records()) == []
        assert not one.path.exists()
        one.begin(PLAN)
        assert one.path.exists()


def test_cut_at_any_byte_it_gives_the_whole_records_before_the_cut(tmp_path: Path) -> None:
    whole = written(tmp_path)
    path = tmp_path / journal.NAME
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for cut in range(ends[0], len(whole) + 1):
        path.write_bytes(whole[:cut])
        kept = sum(end <= cut for end in ends[1:])
        assert reopened(tmp_path) == RECORDS[:kept], cut
        assert path.stat().st_size == max(e for e in ends if e <= cut)
    for cut in range(ends[0]):
        path.write_bytes(whole[:cut])
        with pytest.raises(JournalError, match="not a journal of this program"):
            reopened(tmp_path)


def test_a_torn_tail_of_zeros_is_dropped_and_writing_goes_on(tmp_path: Path) -> None:
    whole = written(tmp_path)
    path = tmp_path / journal.NAME
    path.write_bytes(whole[:-20] + b"\0" * 19 + b"\n")
    with Journal(tmp_path, RUN, resume=True) as one:
        one.begin(PLAN)
        assert list(one.records()) == RECORDS[:-1]
        one.append(RECORDS[-1])
    assert path.read_bytes() == whole


def test_any_changed_byte_before_the_last_record_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path)
    path = tmp_path / journal.NAME
    last = whole[:-1].rindex(b"\n") + 1
    for at in range(last - 1):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(JournalError, match="another --out"):
            reopened(tmp_path)


def test_a_changed_last_record_or_line_end_before_it_is_dropped_not_believed(tmp_path: Path) -> None:
    whole = written(tmp_path)
    path = tmp_path / journal.NAME
    for at in range(whole[:-1].rindex(b"\n"), len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert reopened(tmp_path) in (RECORDS[:1], RECORDS[:2])


@pytest.mark.parametrize("order", [[0, 2, 1, 3], [0, 1, 1, 2, 3], [0, 2, 3], [1, 2, 3]])
def test_records_that_are_moved_repeated_or_missing_are_refused(order: list[int], tmp_path: Path) -> None:
    lines = written(tmp_path).splitlines(keepends=True)
    (tmp_path / journal.NAME).write_bytes(b"".join(lines[i] for i in order))
    with pytest.raises(JournalError, match=r"damaged|not a journal"):
        reopened(tmp_path)


@pytest.mark.parametrize(
    ("run", "plan", "message"),
    [
        ({"seed": 1, "mechanism": "m:f"}, PLAN, "of another run: seed was 0, now 1; name another --out"),
        ({"seed": 0, "mechanism": "x\n:f"}, PLAN, "of another run: mechanism was 'm:f', now"),
        (RUN, {"draws": 101}, "of another plan: draws was 100, now 101"),
    ],
)
def test_a_journal_of_another_run_is_refused_with_what_differs(
    run: dict[str, object], plan: dict[str, object], message: str, tmp_path: Path
) -> None:
    written(tmp_path)
    with pytest.raises(JournalError) as refused, Journal(tmp_path, run, resume=True) as one:
        one.begin(plan)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_earlier_run_is_not_overwritten(tmp_path: Path) -> None:
    whole = written(tmp_path)
    with pytest.raises(JournalError, match="add --resume"):
        Journal(tmp_path, RUN, resume=False)
    assert (tmp_path / journal.NAME).read_bytes() == whole


def test_the_mark_of_the_code_follows_sources_and_what_they_read_not_recorded_results(tmp_path: Path) -> None:
    written_files = ("audit/a.py", "audit/deep/b.toml", "reference/c.json", "audit/deep/results.json", "audit/a.pyc")
    for name in written_files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")

    def mark() -> str:
        journal.code_mark.cache_clear()
        return journal.code_mark(tmp_path)

    before = mark()
    assert before == mark()
    counted = []
    for name in written_files:
        (tmp_path / name).write_text("2")
        counted += [name] if mark() != before else []
        (tmp_path / name).write_text("1")
    assert counted == list(written_files[:3])
    (tmp_path / "audit/a.py").rename(tmp_path / "audit/moved.py")
    assert mark() != before


HOLDER = """
import sys, time
from pathlib import Path
from audit.runtime.journal import Journal
one = Journal(Path(sys.argv[1]), {}, resume=True)
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_driver_is_refused_until_the_first_is_gone_however_it_went(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    first = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert first.stdout is not None
    assert first.stdout.readline() == "held\n"
    with pytest.raises(JournalError, match="another run is at work in this folder"):
        Journal(tmp_path, {}, resume=True)
    first.kill()
    first.communicate()
    Journal(tmp_path, {}, resume=True).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_keep_the_folder_locked(tmp_path: Path) -> None:
    one = Journal(tmp_path, RUN, resume=False)
    ready, started = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(started, b"x")
        time.sleep(60)
        os._exit(0)
    try:
        os.read(ready, 1)
        with pytest.raises(JournalError, match="another run"):
            Journal(tmp_path, RUN, resume=True)
        one.close()
        Journal(tmp_path, RUN, resume=True).close()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_in_one_process_too(tmp_path: Path) -> None:
    with Journal(tmp_path, RUN, resume=False), pytest.raises(JournalError, match="another run"):
        Journal(tmp_path, RUN, resume=True)


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk; the benchmark fills a real one."""
    with Journal(tmp_path, RUN, resume=False) as one:
        one.begin(PLAN)
        one.append("before")
        size = one.path.stat().st_size
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))
        try:
            with pytest.raises(JournalError, match="what is in it is safe: make room and continue with --resume"):
                one.append("x" * 100)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert one.path.stat().st_size == size
        one.append("after")
    assert reopened(tmp_path) == ["before", "after"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", [journal.NAME, journal.LOCK])
def test_a_pipe_is_no_journal(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(JournalError, match=f"{name}: cannot be opened .it is no regular file.; name another --out"):
        Journal(tmp_path, RUN, resume=True)


@pytest.mark.parametrize("name", [journal.NAME, journal.LOCK, f"{journal.NAME}.new"])
def test_a_link_in_the_folder_leads_nowhere(name: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / name).symlink_to(outside)
    if name.endswith(".new"):
        written(folder)
    else:
        with pytest.raises(JournalError, match="cannot be opened"):
            Journal(folder, RUN, resume=True)
    assert outside.read_text() == "precious"


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"[" * 100_000 + b"\n", b"{}\n", b"\0" * 1000, json.dumps(RUN).encode() + b"\n", b"a" * 32 + b" {}\n"],
)
def test_what_is_not_a_journal_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / journal.NAME).write_bytes(content)
    with pytest.raises(JournalError, match="not a journal of this program"):
        reopened(tmp_path)
    assert (tmp_path / journal.NAME).read_bytes() == content


def test_a_right_checksum_over_nonsense_is_refused_too(tmp_path: Path) -> None:
    deep = b"[" * 100_000
    (tmp_path / journal.NAME).write_bytes(journal._checksum(b"", deep) + b" " + deep + b"\n")
    with pytest.raises(JournalError, match="not a journal of this program"):
        reopened(tmp_path)


def test_a_huge_file_is_refused_quickly(tmp_path: Path) -> None:
    with (tmp_path / journal.NAME).open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(JournalError, match="not a journal of this program"):
        reopened(tmp_path)
