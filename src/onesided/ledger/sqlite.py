"""The ledger in a SQLite file, or in memory.

The journal is a write-ahead log with `synchronous=FULL`: a commit is one fsync of the log, and a
process killed at any point leaves either the whole charge or none of it. A writer begins with
BEGIN IMMEDIATE, so that of two writers one waits before it reads what it will decide on.
"""

from __future__ import annotations

import errno
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from onesided.errors import LedgerError
from onesided.ledger.base import LedgerDamaged, LedgerMissing
from onesided.ledger.rows import LedgerRows
from onesided.ledger.store import APPEND_ONLY, WAIT_SECONDS, Store, tables

PAGE = 4096
"""Bytes; SQLite writes whole pages, so the file is a multiple of it."""

LONGEST_NAME = 229
"""Bytes; the journal of its draft has a name that is 26 longer, and file systems end at 255."""

PRIVATE = 0o600
"""The ledger holds the coin keys: its owner alone may read it."""

_SENTENCES = {
    "SQLITE_BUSY": "is locked by another process; try again when that has finished.",
    "SQLITE_LOCKED": "is locked by another process; try again when that has finished.",
    "SQLITE_CANTOPEN": "cannot be opened; check that the file and its folder can be read and "
    "written.",
    "SQLITE_FULL": "cannot grow because the disk is full; nothing was released; make room and "
    "repeat the request, which is paid once.",
    "SQLITE_IOERR": "could not be read or written; check the disk and repeat the request, which "
    "is paid once.",
    "SQLITE_READONLY": "is read-only; nothing was released; make the file and its folder writable.",
    "SQLITE_TOOBIG": "cannot hold a release of this size; ask for a smaller one.",
    "SQLITE_ERROR": "is not a ledger of onesided; name another file.",
}
_DAMAGED = {"SQLITE_CORRUPT", "SQLITE_NOTADB"}
_NO_LOG = {"SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY", "SQLITE_READONLY_CANTINIT"}


class SqliteStore(Store):
    """A ledger in the file `path`, which exists already, or in memory without one."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[tuple[int, int], ...] = ()
        self._process = os.getpid()
        super().__init__()

    def __repr__(self) -> str:
        return f"SQLite, {self._name}"

    @property
    def _name(self) -> str:
        return f"file {self._path.name}" if self._path else "memory"

    def has_table(self, rows: LedgerRows, name: str) -> bool:
        """As SQLite lists them."""
        found = rows.run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
        return found.fetchone() is not None

    def begin(self, *, write: bool) -> LedgerRows:
        """BEGIN IMMEDIATE for a writer; a reader sees the state of its first statement."""
        connection = self._connection or self._connect()
        self._same_file()
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        return LedgerRows(connection.execute)

    def commit(self) -> None:
        """One fsync; afterwards the file must still be the one that was opened."""
        assert self._connection is not None
        self._connection.execute("COMMIT")
        self._same_file()

    def rollback(self) -> None:
        """Undo; SQLite has often done so by itself when an error reached us."""
        if self._connection is not None and self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def disconnect(self) -> None:
        """Close the file. A ledger in memory is its connection and stays until the store goes."""
        if self._connection is not None and (self._path is not None or self._closed):
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    @contextmanager
    def explained(self) -> Iterator[None]:
        """By SQLite's code alone; its text may quote what was written."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # Without a code it is text that cannot be decoded: of a column, or of the tables'
            # definitions, which Python only meets in the message about them.
            code = getattr(error, "sqlite_errorname", None) or "SQLITE_CORRUPT"
            family = "_".join(code.split("_")[:2])
            self.disconnect()
            if family in _DAMAGED:
                raise LedgerDamaged(
                    f"The ledger in {self._name} is damaged or is no database"
                ) from None
            sentence = _SENTENCES.get(family, _SENTENCES["SQLITE_IOERR"])
            raise LedgerError(f"The ledger in {self._name} {sentence}") from None

    def damage(self) -> str | None:
        """SQLite's own check of pages and indexes."""
        with self._turn, self.explained():
            connection = self._connection or self._connect()
            found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        return None if found == "ok" else "SQLite finds its pages or indexes damaged."

    def _connect(self) -> sqlite3.Connection:
        if self._path is None:
            self._connection = _connection(":memory:")
            _create(self._connection)
            return self._connection
        try:
            self._connection = _open(self._path, "mode=rw")
        except sqlite3.OperationalError as error:
            # A file with a log cannot be read from a read-only disk, unless SQLite may take it that
            # nobody writes; where no log lies beside it, all of it is in the file.
            if error.sqlite_errorname not in _NO_LOG or _beside(self._path, "-wal").exists():
                raise
            self._connection = _open(self._path, "mode=ro&immutable=1")
        self._identity = self._files()
        return self._connection

    def _files(self) -> tuple[tuple[int, int], ...]:
        """Which files these are; the log is as much a part of the ledger as the file itself."""
        assert self._path is not None
        return _identity(self._path), _identity(_beside(self._path, "-wal"))

    def _same_file(self) -> None:
        if self._path is None:
            if os.getpid() != self._process:
                raise LedgerError(
                    "A ledger in memory belongs to the process that opened it; give the data set "
                    "a ledger file to share its budget between processes."
                )
        elif self._files() != self._identity:
            self.disconnect()
            raise LedgerError(
                f"The ledger in {self._name} was deleted or replaced while it was open; nothing "
                f"was released; put the same file back."
            )


def _open(path: Path, mode: str) -> sqlite3.Connection:
    """A connection that has read from the file, so that its log is there as well."""
    connection = _connection(f"{path.as_uri()}?{mode}")
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # where an fsync alone stops at the drive
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _connection(address: str) -> sqlite3.Connection:
    return sqlite3.connect(
        address, uri=True, isolation_level=None, check_same_thread=False, timeout=WAIT_SECONDS
    )


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statement in (*tables("INTEGER", "BLOB"), *_append_only()):
        connection.execute(statement)
    LedgerRows.create(connection.execute)
    connection.execute("COMMIT")


def _append_only() -> Iterator[str]:
    for table in APPEND_ONLY:
        for action in ("UPDATE", "DELETE"):
            yield (
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
            )


def open_file(path: Path, *, create: bool) -> SqliteStore:
    """The ledger in the file `path`; a missing file is created whole or not at all."""
    if len(path.name.encode()) > LONGEST_NAME:
        raise LedgerError(f"The name of a ledger has at most {LONGEST_NAME} bytes; shorten it.")
    try:
        path = path.absolute()
        missing = not path.exists()
    except OSError:
        raise LedgerError(
            "The ledger cannot be reached; check its name and the rights of its folders."
        ) from None
    if missing:
        if not create:
            raise LedgerMissing(f"There is no ledger {path.name} in that folder; check the name.")
        _create_file(path)
    _check_file(path)
    return SqliteStore(path)


def _create_file(path: Path) -> None:
    if not path.parent.is_dir():
        raise LedgerError(f"The folder of the ledger {path.name} does not exist; create it first.")
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
        connection = _open(draft, "mode=rw")
        connection.execute(f"PRAGMA page_size = {PAGE}")
        connection.execute("PRAGMA journal_mode = WAL")
        _create(connection)
        connection.close()
        # Linking never replaces: of two that create the same ledger, one wins for both.
        with suppress(FileExistsError):
            os.link(draft, path)
        _sync_folder(path.parent)
    except (OSError, sqlite3.Error) as error:
        full = isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}
        reason = "the disk is full" if full else "its folder cannot be written"
        raise LedgerError(f"The ledger {path.name} cannot be created: {reason}.") from None
    finally:
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                _beside(draft, ending).unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the new name durable where folders can be synced."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _check_file(path: Path) -> None:
    try:
        found = path.stat()
    except OSError:
        raise LedgerError(f"The ledger {path.name} cannot be opened.") from None
    if not stat.S_ISREG(found.st_mode):
        raise LedgerError(f"The ledger {path.name} is not a file; name a file.")
    if found.st_size == 0 or found.st_size % PAGE:
        raise LedgerDamaged(f"The ledger {path.name} is empty, cut short or no ledger at all")
    if os.name == "posix" and found.st_mode & 0o077:
        raise LedgerError(
            f"The ledger {path.name} holds secret keys but others may read it; run chmod 600 on it."
        )
