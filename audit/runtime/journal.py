"""A journal of finished work, from which a run continues after anything, even the end of its process at any moment.

One file, only ever appended to. A line is a record: a checksum, a space, a JSON value. The first record says which run
it is of; each checksum covers the line and the checksum before it, so that no record can be changed, lost, repeated or
moved unnoticed. A record is written in one piece and is on the disk (fsync) before `append` returns; so at most the
last one can be torn, and what is torn is dropped when the file is opened again. Anything else that does not fit is
refused: a journal is believed wholly or not at all.

A lock file keeps a second driver out. The lock is the system's (it ends with its process, however that ends), not the
file's existence. Values are JSON and are checked by whoever reads them; nothing is unpickled.

What was computed by other code must not be mixed with what is computed now: `code_mark` names the code.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import stat
import weakref
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any

from audit.runtime.errors import one_line

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no fcntl; there only the lock is missing
    fcntl = None  # type: ignore[assignment]

NAME = "journal.jsonl"
LOCK = "lock"
FORMAT = "dpso journal 1"
LONGEST = 64 * 2**20
"""No record is longer."""
CHECK = 32
"""Characters of a checksum."""
ROOT = Path(__file__).parents[2]
"""Where the packages are."""
CODE = ("reference/**/*.py", "reference/**/*.toml", "reference/**/*.json", "audit/**/*.py", "audit/**/*.toml")
"""What decides results: sources and what they read. Not the JSON of `audit`, which holds results of earlier runs."""
LIBRARIES = ("numpy", "scipy", "mpmath", "python-flint")
"""What else computes."""


class JournalError(ValueError):
    """The journal cannot be used: one line that says why and what to do."""


_open_ones: weakref.WeakSet[Journal] = weakref.WeakSet()


def _close_in_child() -> None:
    """A forked child must not hold the lock when its parent is gone; closing its copy leaves the parent's alone."""
    for one in list(_open_ones):
        one.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)


class Journal:
    """The journal of the run in a folder.

    Life: `Journal(folder, run, resume)`; `begin(plan)`, once the plan is known; `records` of what was done before;
    `append` as work is finished; `close`.
    """

    def __init__(self, folder: Path, run: Mapping[str, Any], resume: bool):
        self.path = folder / NAME
        self.count = 0
        """Records that were found when it was opened."""
        self._run = _plain(run)
        self._plan: Any = None
        self._file: IO[bytes] | None = None
        self._lock: IO[bytes] | None = _locked(folder)
        _open_ones.add(self)
        try:
            if os.path.lexists(self.path):
                self._read(resume)
        except BaseException:
            self.close()
            raise

    # ------------------------------------------------------------------------------------------- reading

    def _read(self, resume: bool) -> None:
        if not resume:
            raise JournalError(f"{self.path} is of an earlier run: add --resume to continue it, or name another --out")
        self._file = _open(self.path, os.O_RDWR)
        with open(os.dup(self._file.fileno()), "rb") as reader:
            at = self._read_records(reader)
            self._find_torn(reader, at)
        if self._file.seek(0, os.SEEK_END) > at:
            self._file.truncate(at)
            os.fsync(self._file.fileno())
        self._file.seek(at)

    def _read_records(self, reader: IO[bytes]) -> int:
        """Read the records; return where the last whole one ends."""
        header = _next(reader, b"", 0)
        if header is None or not isinstance(header[1], dict) or header[1].get("format") != FORMAT:
            raise JournalError(f"{self.path} is not a journal of this program: name another --out")
        self._check, values, at = header
        self._same("run", values.get("run"), self._run)
        self._plan = values.get("plan")
        self._first = self._check, at
        while (record := _next(reader, self._check, at)) is not None:
            self._check, _, at = record
            self.count += 1
        return at

    def records(self) -> Iterator[Any]:
        """What was found when it was opened, one record at a time: memory does not grow with the journal."""
        if not self.count:
            return
        check, at = self._first
        with self.path.open("rb") as reader:
            for _ in range(self.count):
                record = _next(reader, check, at)
                if record is None:
                    raise JournalError(f"{self.path} changed while it was read: another program writes to it")
                check, value, at = record
                yield value

    def _find_torn(self, reader: IO[bytes], at: int) -> None:
        """One torn record may stand at the end; more than that is damage."""
        reader.seek(at)
        reader.readline(LONGEST)
        if reader.read(1):
            raise JournalError(
                f"{self.path} is damaged in record {self.count + 1} (byte {at}): start again with another --out"
            )

    def _same(self, what: str, found: Any, wanted: Any) -> None:
        if found == wanted:
            return
        names = sorted({*found, *wanted}) if isinstance(found, dict) and isinstance(wanted, dict) else []
        name = next((n for n in names if found.get(n) != wanted.get(n)), what)
        shown = [one_line(f"{v.get(name)!r}")[:60] if names else "?" for v in (found, wanted)]
        raise JournalError(
            f"{self.path} is of another {what}: {name} was {shown[0]}, now {shown[1]}; name another --out"
        )

    # ------------------------------------------------------------------------------------------- writing

    def begin(self, plan: Mapping[str, Any]) -> None:
        """Start the journal, or make sure that the one found follows the same plan."""
        wanted = _plain(plan)
        if self._file is not None:
            self._same("plan", self._plan, wanted)
            return
        body = _encode({"format": FORMAT, "run": self._run, "plan": wanted})
        self._check = _checksum(b"", body)
        fresh = self.path.with_name(f"{NAME}.new")
        with contextlib.suppress(FileNotFoundError):
            fresh.unlink()
        try:
            self._file = _open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            self._put(body)
            fresh.rename(self.path)
            _sync_folder(self.path.parent)
        except OSError as error:
            raise JournalError(f"{self.path}: cannot be written ({error.strerror})") from None

    def append(self, value: Any) -> None:
        """Write one record and see it safe on the disk. If that fails the journal is as it was before."""
        assert self._file is not None
        body = _encode(value)
        if len(body) > LONGEST - CHECK - 2:
            raise JournalError(f"{self.path}: a record of {len(body)} bytes is longer than {LONGEST}")
        before, at = self._check, self._file.tell()
        self._check = _checksum(before, body)
        try:
            self._put(body)
        except OSError as error:
            self._check = before
            with contextlib.suppress(OSError):
                self._file.truncate(at)
            self._file.seek(at)
            raise JournalError(
                f"{self.path}: cannot be written ({error.strerror}); what is in it is safe: make room and continue"
                " with --resume"
            ) from None

    def _put(self, body: bytes) -> None:
        assert self._file is not None
        line = self._check + b" " + body + b"\n"
        while line:
            line = line[os.write(self._file.fileno(), line) :]
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let go of file and lock."""
        for file in (self._file, self._lock):
            if file is not None:
                file.close()
        self._file = self._lock = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _next(reader: IO[bytes], before: bytes, at: int) -> tuple[bytes, Any, int] | None:
    """The record at this place: its checksum, its value and where it ends; None if there is no whole record."""
    reader.seek(at)
    line = reader.readline(LONGEST)
    if not line.endswith(b"\n") or line[CHECK : CHECK + 1] != b" ":
        return None
    body = line[CHECK + 1 : -1]
    if line[:CHECK] != _checksum(before, body):
        return None
    try:
        return line[:CHECK], json.loads(body), at + len(line)
    except (ValueError, RecursionError):
        return None


def _plain(value: Any) -> Any:
    """The value as JSON gives it back."""
    return json.loads(_encode(value))


def _encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()


def _checksum(before: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(before + b" " + body, digest_size=CHECK // 2).hexdigest().encode()


def _open(path: Path, flags: int) -> IO[bytes]:
    """The file itself, never what a link at its place points to, nor a pipe or a device."""
    try:
        descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        raise JournalError(f"{path}: cannot be opened ({error.strerror}); name another --out") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise JournalError(f"{path}: cannot be opened (it is no regular file); name another --out")
    return os.fdopen(descriptor, "r+b", buffering=0)


def _locked(folder: Path) -> IO[bytes]:
    lock = _open(folder / LOCK, os.O_RDWR | os.O_CREAT)
    if fcntl is not None:
        try:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise JournalError(
                f"{folder}: another run is at work in this folder; wait for it, or name another --out"
            ) from None
    return lock


@contextlib.contextmanager
def sole_driver(folder: Path) -> Iterator[None]:
    """Within: no other driver works in the folder."""
    with _locked(folder):
        yield


@functools.cache
def code_mark(root: Path = ROOT) -> str:
    """A hash of the code: the files of the packages, and the versions of Python and of the libraries that compute."""
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted({file for pattern in CODE for file in root.glob(pattern)}):
        digest.update(_encode([file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")]))
    digest.update(_encode([platform.python_version(), *map(_version, LIBRARIES)]))
    return digest.hexdigest()


def _version(library: str) -> str:
    """The version of a library; of one that is not installed (an extra), that it is not."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
