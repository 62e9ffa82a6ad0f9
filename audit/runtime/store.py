"""Finished work in one file, from which a run continues after anything, even the end of its process at any moment.

The file is an SQLite database; a flush is a transaction, and is on the disk when it returns (synchronous = FULL). The
journal of a transaction is a file beside it (rollback mode: no shared memory; a folder that is copied during a flush
holds a whole database, or one that the checksums below refuse). SQLite's own lock, held from opening to closing, keeps
a second driver out; it ends with its process, however that ends, and a forked child does not inherit it.

SQLite does not checksum its pages. So each record carries a checksum of itself and of the checksum before it, and the
last of them stands apart: no record can be changed, lost, repeated or moved unnoticed. A store is believed wholly or
not at all. Values are JSON and are checked by whoever reads them; nothing is unpickled, and a database with anything
but our two tables (a trigger, say) is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import stat
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from audit.runtime.errors import one_line

NAME = "finished.sqlite"
"""The file of a run in its folder."""
APPLICATION = int.from_bytes(b"dpso")
"""SQLite's header has a place for the program that a file belongs to ..."""
FORMAT = 1
"""... and one for the version of its format."""
LONGEST = 64 * 2**20
"""Bytes of the longest record: far more than the counts of a piece of work or the draws of a block."""
FLUSH = 1.0
"""Seconds between two flushes: what the end of the process can cost."""
SCHEMA = [
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE records"
    " (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL, checksum TEXT NOT NULL)",
]
SETTINGS = {
    "locking_mode": "EXCLUSIVE",
    "journal_mode": "DELETE",
    "synchronous": "FULL",
    "temp_store": "MEMORY",
    "trusted_schema": "OFF",
    "cell_size_check": "ON",
}

Existing = Literal["refuse", "continue", "replace"]


class StoreError(ValueError):
    """The store cannot be used: one line that says why and what to do."""


class Store:
    """The store of a run.

    Life: `Store(path, run)`; `begin(plan)`, once the plan is known; `records` of what was done before, or `find` one;
    `put` as work is finished; `close`. `existing` says what becomes of the store of an earlier run. `option` is how
    users name the place, for messages.
    """

    def __init__(self, path: Path, run: Mapping[str, Any], existing: Existing = "refuse", option: str = "--out"):
        self.path = path
        self.count = 0
        """Records that were found when it was opened."""
        self._run = _encode(run)
        self._option = option
        self._pending: dict[str, str] = {}
        self._flushed = -FLUSH
        self._found: dict[str, str] = {}
        """What the file says of itself; nothing if there is nothing in it yet."""
        self._afresh = True
        """Whether `begin` starts afresh."""
        self._database = self._open()
        try:
            with self._faults("cannot be read"):
                self._look(existing)
        except BaseException:
            self._database.close()
            raise

    @staticmethod
    def in_folder(folder: Path, run: Mapping[str, Any], existing: Existing) -> Store:
        """The store in a folder, which is made if need be."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise StoreError(f"{folder}: cannot be made a folder ({reason}); name another --out") from None
        return Store(folder / NAME, run, existing)

    # ------------------------------------------------------------------------------------------- opening

    def _open(self) -> sqlite3.Connection:
        """The database, locked. The file itself, never what a link at its place points to, nor a pipe or a device."""
        try:
            for suffix in ("", "-journal", "-wal", "-shm"):
                beside = self.path.with_name(f"{self.path.name}{suffix}")
                if os.path.lexists(beside) and not stat.S_ISREG(beside.lstat().st_mode):
                    raise self._error(f"{beside}: cannot be opened (it is no regular file)")
            if not self.path.exists():
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
        except (OSError, ValueError) as error:
            if isinstance(error, StoreError):
                raise
            reason = getattr(error, "strerror", None) or error
            raise self._error(f"{self.path}: cannot be opened ({reason})") from None
        with self._faults("cannot be opened"):
            database = sqlite3.connect(
                f"file:{urllib.parse.quote(os.fsencode(self.path.absolute()))}?mode=rw",
                uri=True,
                isolation_level=None,
                timeout=0.0,
            )
            try:
                database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
                for name, value in SETTINGS.items():
                    database.execute(f"PRAGMA {name} = {value}")
                database.execute("BEGIN EXCLUSIVE")  # what a killed driver left half done is rolled back here
                database.execute("ROLLBACK")  # the lock stays
            except BaseException:
                database.close()
                raise
        return database

    def _look(self, existing: Existing) -> None:
        """What was found, and whether it may be used."""
        tables = [sql for (sql,) in self._database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")]
        if not tables and self.path.stat().st_size == 0:
            return
        marks = [self._database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        if marks != [APPLICATION, FORMAT] or sorted(tables) != SCHEMA:
            raise self._error(f"{self.path} is not a store of this program's version")
        if existing == "refuse":
            raise StoreError(
                f"{self.path} is of an earlier run: add --resume to continue it, or name another {self._option}"
            )
        self._found = dict(self._database.execute("SELECT name, value FROM about"))
        if existing == "continue":
            self._verify()
            self._same("run", self._run)
            self._afresh = False

    def _verify(self) -> None:
        """Believe the store wholly, or not at all."""
        fault = self._database.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if fault != "ok":
            raise self._damaged(fault)
        if self._found.keys() != {"run", "plan", "last"}:
            raise self._damaged("it does not say of which run it is")
        checksum = _checksum("", self._found["run"], self._found["plan"])
        for number, key, value, written in self._database.execute("SELECT * FROM records ORDER BY number"):
            checksum = _checksum(checksum, key, value)
            self.count += 1
            if (number, written) != (self.count, checksum):
                raise self._damaged(f"record {self.count}")
        if self._found["last"] != checksum:
            raise self._damaged(f"a record after {self.count} is missing")

    def _same(self, what: str, wanted: str) -> None:
        """The file must say the same of its run, or of its plan."""
        found, now = self._decoded(self._found[what]), json.loads(wanted)
        if found == now:
            return
        if not isinstance(found, dict):
            raise self._damaged(f"it does not say of which {what} it is")
        name = next(n for n in sorted({*found, *now}) if found.get(n) != now.get(n))
        shown = [one_line(f"{values.get(name)!r}")[:60] for values in (found, now)]
        raise self._error(f"{self.path} is of another {what}: {name} was {shown[0]}, now {shown[1]}")

    # ------------------------------------------------------------------------------------------- reading

    def records(self) -> Iterator[tuple[str, Any]]:
        """What was found when it was opened, one (key, value) at a time: memory does not grow with the store."""
        rows = self._database.execute("SELECT key, value FROM records WHERE number <= ? ORDER BY number", [self.count])
        for key, value in rows:
            yield key, self._decoded(value)

    def find(self, key: str) -> Any:
        """The value of a key; None if there is none."""
        if key in self._pending:
            return json.loads(self._pending[key])
        row = self._database.execute("SELECT value FROM records WHERE key = ?", [key]).fetchone()
        return None if row is None else self._decoded(row[0])

    def _decoded(self, value: str) -> Any:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise self._damaged("a record is no JSON") from None

    # ------------------------------------------------------------------------------------------- writing

    def begin(self, plan: Mapping[str, Any]) -> None:
        """Start the store, or make sure that the one found follows the same plan."""
        wanted = _encode(plan)
        if not self._afresh:
            self._same("plan", wanted)
            self._last = self._found["last"]
            return
        self._last = _checksum("", self._run, wanted)
        with self._transaction():
            if self._found:
                self._database.execute("DELETE FROM records")
                self._database.execute("DELETE FROM about")
            else:
                self._database.execute(f"PRAGMA application_id = {APPLICATION}")
                self._database.execute(f"PRAGMA user_version = {FORMAT}")
                for table in SCHEMA:
                    self._database.execute(table)
            about = {"run": self._run, "plan": wanted, "last": self._last}
            self._database.executemany("INSERT INTO about VALUES (?, ?)", about.items())

    def put(self, key: str, value: Any) -> None:
        """Keep a value; once in a while all that is new is flushed."""
        text = _encode(value)
        if len(text) > LONGEST:
            raise self._error(f"{self.path}: a record of {len(text)} bytes is longer than {LONGEST}")
        self._pending[key] = text
        if time.monotonic() - self._flushed >= FLUSH:
            self.flush()

    def flush(self) -> None:
        """Write what is new and see it safe on the disk. If that fails the store is as it was before."""
        pending, self._pending = self._pending, {}
        if not pending:
            return
        last, rows = self._last, []
        for key, value in pending.items():
            last = _checksum(last, key, value)
            rows.append((key, value, last))
        with self._transaction():
            self._database.executemany("INSERT INTO records (key, value, checksum) VALUES (?, ?, ?)", rows)
            self._database.execute("UPDATE about SET value = ? WHERE name = 'last'", [last])
        self._last, self._flushed = last, time.monotonic()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of it, or nothing."""
        with self._faults("cannot be written"):
            try:
                self._database.execute("BEGIN")
                yield
                self._database.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._database.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Flush, and let go of the file."""
        try:
            self.flush()
        finally:
            self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -------------------------------------------------------------------------------------------- faults

    @contextlib.contextmanager
    def _faults(self, what: str) -> Iterator[None]:
        """Within: what SQLite says is put into one line that a user can act on."""
        try:
            yield
        except UnicodeDecodeError:
            raise self._damaged("text that is not UTF-8") from None
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest are finer distinctions
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise StoreError(
                    f"{self.path}: another run is at work in this place; wait for it, or name another {self._option}"
                ) from None
            if code == sqlite3.SQLITE_NOTADB:
                raise self._error(f"{self.path} is not a store of this program") from None
            if code == sqlite3.SQLITE_CORRUPT or (what == "cannot be read" and code != sqlite3.SQLITE_IOERR):
                raise self._damaged(str(error)) from None
            if what == "cannot be written":
                raise StoreError(
                    f"{self.path}: cannot be written ({error}); what is in it is safe: make room and continue with"
                    " --resume"
                ) from None
            raise self._error(f"{self.path}: {what} ({error})") from None

    def strange(self, error: Exception) -> StoreError:
        """What to raise where a record that is whole cannot be understood."""
        reason = one_line(f"{type(error).__name__}: {error}")
        return self._error(f"{self.path} holds what this run cannot have written ({reason})")

    def _damaged(self, where: str) -> StoreError:
        return StoreError(f"{self.path} is damaged ({one_line(where)[:80]}): start again with another {self._option}")

    def _error(self, text: str) -> StoreError:
        return StoreError(f"{text}; name another {self._option}")


def _encode(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False)


def _checksum(before: str, key: str, value: str) -> str:
    return hashlib.blake2b(f"{before} {len(str(key))} {key} {value}".encode(), digest_size=16).hexdigest()
