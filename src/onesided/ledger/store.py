"""What both stores have in common: one connection a process, transactions, and their tables.

A process holds one connection and its threads take turns; writers wait for each other anyway,
because the chain has one end. The connection is let go before a fork and opened anew on both
sides: neither SQLite nor PostgreSQL survives a connection in two processes.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from onesided.errors import LedgerError
from onesided.ledger.base import Head, LedgerDamaged
from onesided.ledger.rows import LedgerRows

WAIT_SECONDS = 30
"""How long a writer waits for the others."""

LARGEST_PAYLOAD = 256 * 1024 * 1024
"""Bytes of one release; well below what either store can hold in one value."""


def tables(integer: str, binary: str) -> tuple[str, ...]:
    """The tables and indexes, in the words of a store for `integer` and `binary` columns.

    `entries` is the truth. `head` is its end and `latest` an index to it, by names (see
    `LedgerRows`), so that a charge takes the same time however long the chain is. `coin_keys` and
    `payloads` hold what the chain knows by hash alone.
    """
    return (
        f"CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL,"
        f" entries {integer} NOT NULL, hash TEXT NOT NULL, time TEXT NOT NULL)",
        f"CREATE TABLE entries (number {integer} PRIMARY KEY, kind TEXT NOT NULL,"
        f" account {integer} NOT NULL, label TEXT NOT NULL, snapshot {integer}, charge {integer},"
        f" text TEXT NOT NULL, hash TEXT NOT NULL)",
        "CREATE UNIQUE INDEX one_account ON entries (label) WHERE kind = 'account'",
        "CREATE UNIQUE INDEX one_release ON entries (charge) WHERE kind = 'release'",
        f"CREATE TABLE latest (account {integer} NOT NULL, name TEXT NOT NULL,"
        f" number {integer} NOT NULL, seal TEXT NOT NULL, PRIMARY KEY (account, name))",
        f"CREATE TABLE coin_keys (account {integer} NOT NULL, snapshot {integer} NOT NULL,"
        f" secret TEXT NOT NULL, PRIMARY KEY (account, snapshot))",
        f"CREATE TABLE payloads (number {integer} PRIMARY KEY, content {binary} NOT NULL)",
    )


APPEND_ONLY = ("entries", "coin_keys", "payloads")
"""The tables in which a store refuses UPDATE and DELETE."""


class Store(ABC):
    """A place that keeps a ledger, and this process's connection to it."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._closed = False
        self._seen: Head | None = None
        _let_go_before_forks(self)

    @contextmanager
    def writing(self) -> Iterator[LedgerRows]:
        """One transaction that excludes all other writers; durable once this is left."""
        with self._transaction(write=True) as rows:
            yield rows

    @contextmanager
    def reading(self) -> Iterator[LedgerRows]:
        """One consistent view of the ledger."""
        with self._transaction(write=False) as rows:
            yield rows

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[LedgerRows]:
        with self._turn:
            if self._closed:
                raise LedgerError("This ledger was closed; open it again.")
            with self.explained():
                try:
                    rows = self.begin(write=write)
                    self._continues(rows)
                    yield rows
                    self.commit()
                except BaseException:
                    self.rollback()
                    raise
                self._seen = rows.head

    def _continues(self, rows: LedgerRows) -> None:
        """Refuse a ledger that has lost what this process has seen of it, as an old copy has."""
        if self._seen is None or rows.head == self._seen:
            return
        entry = rows.entry(self._seen.entries)
        if entry is None or entry.hash != self._seen.hash or rows.head.entries < entry.number:
            raise LedgerDamaged("The ledger was replaced by an older copy or by another ledger")

    def close(self) -> None:
        """Let go of the connection."""
        with self._turn:
            self._closed = True
            self.disconnect()

    def __del__(self) -> None:
        """A ledger that is merely forgotten lets go of its connection, too."""
        self._closed = True
        self.disconnect()

    def time(self, rows: LedgerRows) -> datetime:
        """The time within a transaction, by the one clock of all who share the ledger."""
        return datetime.now(UTC)

    @abstractmethod
    def has_table(self, rows: LedgerRows, name: str) -> bool:
        """Whether there is a table of that name beside those of the ledger."""

    @abstractmethod
    def begin(self, *, write: bool) -> LedgerRows:
        """Begin a transaction; connect first where needed."""

    @abstractmethod
    def commit(self) -> None:
        """Make the transaction durable."""

    @abstractmethod
    def rollback(self) -> None:
        """Undo the transaction if there is one; never raises."""

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
