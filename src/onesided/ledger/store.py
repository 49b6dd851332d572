"""What both stores have in common: one connection a process, transactions, and the SQL they share.

A process holds one connection and its threads take turns; writers wait for each other anyway,
because the chain has one end. The connection is let go before a fork and opened anew on both
sides: neither SQLite nor PostgreSQL survives a connection in two processes.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from onesided.errors import LedgerError
from onesided.ledger.base import Head
from onesided.ledger.chain import GENESIS, Entry, Kind, now_after

FORMAT = 1
"""The version of the tables below."""

WAIT_SECONDS = 30
"""How long a writer waits for the others."""

LARGEST_PAYLOAD = 512 * 1024 * 1024
"""Bytes of one release; well below what either store can hold in one value."""


def tables(integer: str, binary: str) -> tuple[str, ...]:
    """The tables and indexes, in the words of a store for `integer` and `binary` columns.

    `entries` is the truth. `head` is its end, `sums` tells which charge last moved a sum, and
    `coin_keys` and `payloads` hold what the chain knows by hash alone.
    """
    return (
        f"CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL,"
        f" entries {integer} NOT NULL, hash TEXT NOT NULL, time TEXT NOT NULL)",
        f"CREATE TABLE entries (number {integer} PRIMARY KEY, kind TEXT NOT NULL,"
        f" account {integer} NOT NULL, label TEXT NOT NULL, snapshot {integer}, charge {integer},"
        f" text TEXT NOT NULL, hash TEXT NOT NULL)",
        "CREATE INDEX entries_by_kind ON entries (account, kind, number)",
        "CREATE INDEX entries_by_label ON entries (account, label, number)",
        "CREATE UNIQUE INDEX one_account ON entries (label) WHERE kind = 'account'",
        "CREATE UNIQUE INDEX one_release ON entries (charge) WHERE kind = 'release'",
        f"CREATE TABLE sums (account {integer} NOT NULL, name TEXT NOT NULL,"
        f" number {integer} NOT NULL, PRIMARY KEY (account, name))",
        f"CREATE TABLE coin_keys (account {integer} NOT NULL, snapshot {integer} NOT NULL,"
        f" secret TEXT NOT NULL, PRIMARY KEY (account, snapshot))",
        f"CREATE TABLE payloads (number {integer} PRIMARY KEY, content {binary} NOT NULL)",
    )


APPEND_ONLY = ("entries", "coin_keys", "payloads")
"""The tables in which a store refuses UPDATE and DELETE."""


class Cursor(Protocol):
    """What a statement returns."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def fetchmany(self, size: int, /) -> list[Any]: ...


class Runner(Protocol):
    """Runs one statement with `?` for its parameters."""

    def __call__(self, statement: str, parameters: Sequence[object] = (), /) -> Cursor: ...


class Rows:
    """The rows of a ledger inside one transaction."""

    def __init__(self, run: Runner, *, lock: str = "") -> None:
        self._run = run
        row = run(f"SELECT version, entries, hash, time FROM head WHERE one = 1{lock}").fetchone()
        if row is None:
            raise LedgerError("This is not a ledger of onesided; name another file or database.")
        version, self._entries, self._hash, self._time = row
        if version != FORMAT:
            raise LedgerError(_other_format(version))

    @staticmethod
    def create(run: Runner) -> None:
        """The head and the first entry of a new ledger."""
        run("INSERT INTO head VALUES (1, ?, 0, ?, ?)", (FORMAT, GENESIS, ""))
        Rows(run).append(Kind.LEDGER, account=None, label="onesided", content={"format": FORMAT})

    @property
    def head(self) -> Head:
        """The end of the chain according to the head."""
        return Head(entries=self._entries, hash=self._hash)

    def append(
        self,
        kind: Kind,
        *,
        account: int | None,
        label: str,
        content: dict[str, Any],
        snapshot: int | None = None,
        charge: int | None = None,
    ) -> Entry:
        """Write the next entry; without an `account` it is the first of a new one."""
        number = self._entries + 1
        time = now_after(self._time)
        entry = Entry.write(
            number=number,
            previous=self._hash,
            time=time,
            kind=kind,
            account=number if account is None else account,
            label=label,
            content=content,
            snapshot=snapshot,
            charge=charge,
        )
        self._run(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (number, kind.value, entry.account, label, snapshot, charge, entry.text, entry.hash),
        )
        self._run(
            "UPDATE head SET entries = ?, hash = ?, time = ? WHERE one = 1",
            (number, entry.hash, time),
        )
        self._entries, self._hash, self._time = number, entry.hash, time
        return entry

    def account_named(self, dataset: str) -> Entry | None:
        """The entry that opened the account of `dataset`."""
        return self._one("kind = 'account' AND label = ?", dataset)

    def opened_accounts(self) -> list[Entry]:
        """The entries that opened accounts, oldest first."""
        rows = self._run(f"SELECT {_COLUMNS} FROM entries WHERE kind = 'account' ORDER BY number")
        return [_entry(row) for row in rows.fetchall()]

    def latest(self, account: int, kind: Kind) -> Entry | None:
        """The last entry of this kind."""
        return self._one("account = ? AND kind = ?", account, kind.value)

    def latest_of(self, account: int, kind: Kind, label: str, snapshot: int) -> Entry | None:
        """The last entry of this kind for one request on one snapshot."""
        return self._one(
            "account = ? AND label = ? AND snapshot = ? AND kind = ?",
            account,
            label,
            snapshot,
            kind.value,
        )

    def release_of(self, charge: int) -> Entry | None:
        """The release that was stored for a charge."""
        return self._one("charge = ? AND kind = 'release'", charge)

    def entry(self, number: int) -> Entry | None:
        """One entry by its number."""
        return self._one("number = ?", number)

    def entries(self, account: int | None = None) -> Iterator[Entry]:
        """All entries in order, or those of one account."""
        condition, values = ("", ()) if account is None else ("WHERE account = ?", (account,))
        cursor = self._run(f"SELECT {_COLUMNS} FROM entries {condition} ORDER BY number", values)
        while rows := cursor.fetchmany(500):
            yield from (_entry(row) for row in rows)

    def _one(self, condition: str, *values: object) -> Entry | None:
        row = self._run(
            f"SELECT {_COLUMNS} FROM entries WHERE {condition} ORDER BY number DESC LIMIT 1", values
        ).fetchone()
        return _entry(row) if row else None

    def last_moved(self, account: int, names: Sequence[str]) -> dict[str, Entry]:
        """For each named sum the charge that moved it last."""
        marks = ", ".join("?" * len(names))
        rows = self._run(
            f"SELECT name, {_qualified()} FROM sums JOIN entries ON entries.number = sums.number"
            f" WHERE sums.account = ? AND name IN ({marks})",
            (account, *names),
        ).fetchall()
        return {row[0]: _entry(row[1:]) for row in rows}

    def moved(self, account: int, names: Sequence[str], number: int) -> None:
        """Note that charge `number` moved these sums."""
        marks = ", ".join(["(?, ?, ?)"] * len(names))
        self._run(
            f"INSERT INTO sums VALUES {marks}"
            " ON CONFLICT (account, name) DO UPDATE SET number = excluded.number",
            [value for name in names for value in (account, name, number)],
        )

    def all_moved(self) -> dict[tuple[int, str], int]:
        """Every sum of every account, with the charge that moved it last."""
        rows = self._run("SELECT account, name, number FROM sums").fetchall()
        return {(account, name): number for account, name, number in rows}

    def coin_key(self, account: int, snapshot: int) -> str | None:
        """The coin key of a snapshot."""
        row = self._run(
            "SELECT secret FROM coin_keys WHERE account = ? AND snapshot = ?", (account, snapshot)
        ).fetchone()
        return str(row[0]) if row else None

    def add_coin_key(self, account: int, snapshot: int, secret: str) -> None:
        """Keep the coin key of a new snapshot."""
        self._run("INSERT INTO coin_keys VALUES (?, ?, ?)", (account, snapshot, secret))

    def payload(self, number: int) -> bytes | None:
        """The bytes of a stored release."""
        row = self._run("SELECT content FROM payloads WHERE number = ?", (number,)).fetchone()
        return bytes(row[0]) if row else None

    def add_payload(self, number: int, content: bytes) -> None:
        """Keep the bytes of a release."""
        self._run("INSERT INTO payloads VALUES (?, ?)", (number, content))


_NAMES = ("number", "kind", "account", "label", "snapshot", "charge", "text", "hash")
_COLUMNS = ", ".join(_NAMES)


def _qualified() -> str:
    return ", ".join(f"entries.{name}" for name in _NAMES)


def _entry(row: Sequence[Any]) -> Entry:
    number, kind, account, label, snapshot, charge, text, hash_ = row
    return Entry(number, kind, account, label, snapshot, charge, text, hash_)


def _other_format(version: object) -> str:
    if isinstance(version, int) and version > FORMAT:
        return (
            f"This ledger was written by a newer onesided (format {version}, this one reads "
            f"{FORMAT}); update onesided."
        )
    return "This ledger has an unknown format; restore it from a backup or update onesided."


class Store(ABC):
    """A place that keeps a ledger, and this process's connection to it."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._closed = False
        _let_go_before_forks(self)

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        """One transaction that excludes all other writers; durable once this is left."""
        with self._transaction(write=True) as rows:
            yield rows

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        """One consistent view of the ledger."""
        with self._transaction(write=False) as rows:
            yield rows

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[Rows]:
        with self._turn:
            if self._closed:
                raise LedgerError("This ledger was closed; open it again.")
            with self.explained():
                rows = self.begin(write=write)
                try:
                    yield rows
                except BaseException:
                    self.rollback()
                    raise
                self.commit()

    def close(self) -> None:
        """Let go of the connection for good."""
        with self._turn:
            self._closed = True
            self.disconnect()

    def __del__(self) -> None:
        """A ledger that is merely forgotten lets go of its connection, too."""
        self._closed = True
        self.disconnect()

    @abstractmethod
    def begin(self, *, write: bool) -> Rows:
        """Begin a transaction; connect first where needed."""

    @abstractmethod
    def commit(self) -> None:
        """Make the transaction durable."""

    @abstractmethod
    def rollback(self) -> None:
        """Undo the transaction; never raises."""

    @abstractmethod
    def disconnect(self) -> None:
        """Close the connection; the next transaction opens another. Never raises."""

    @abstractmethod
    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn the driver's errors into a LedgerError of one sentence, without its text."""
        yield

    @abstractmethod
    def damage(self) -> str | None:
        """What the store itself finds wrong with its files, in one sentence."""


def _let_go_before_forks(store: Store) -> None:
    if not hasattr(os, "register_at_fork"):
        return
    reference = weakref.ref(store)
    held: list[Store] = []

    def before() -> None:
        if (alive := reference()) is not None:
            alive._turn.acquire()
            held.append(alive)
            alive.disconnect()

    def after() -> None:
        while held:
            held.pop()._turn.release()

    os.register_at_fork(before=before, after_in_parent=after, after_in_child=after)
