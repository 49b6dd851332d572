"""Where a ledger lives: memory, a file, or a database."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from onesided.ledger.base import LedgerMissing, Terms
from onesided.ledger.postgres import open_database
from onesided.ledger.protocols import Ledger
from onesided.ledger.sqlite import SqliteStore, open_file
from onesided.ledger.store import Store
from onesided.ledger.stored import StoredLedger


def open_ledger(where: str | Path | None, *, create: bool = True) -> Ledger:
    """Open the ledger at `where`: None is memory, "postgresql://…" a database, else a SQLite file.

    A ledger that does not exist is created, or refused without `create`.
    """
    ledger = StoredLedger(_store(where, create=create))
    ledger.head()  # an unusable ledger says so now and not at the first charge
    return ledger


def check_ledger(where: str | Path | None) -> None:
    """Refuse a ledger that exists and cannot be used; one that is yet to be made is not made."""
    if where is not None:
        with suppress(LedgerMissing):
            open_ledger(where, create=False).close()


def agreed_terms(where: str | Path | None, dataset: str) -> Terms | None:
    """What the account of `dataset` was opened on, with the budget of today; creates nothing.

    None for a ledger in memory or one that is yet to be made, and for an unknown account.
    """
    if where is None:
        return None
    try:
        ledger = open_ledger(where, create=False)
    except LedgerMissing:
        return None
    try:
        known = (account.terms for account in ledger.accounts())
        return next((terms for terms in known if terms.dataset == dataset), None)
    finally:
        ledger.close()


def _is_address(where: str | Path) -> bool:
    return isinstance(where, str) and where.startswith(("postgresql://", "postgres://"))


def _store(where: str | Path | None, *, create: bool) -> Store:
    if where is None:
        return SqliteStore(None)
    if _is_address(where):
        return open_database(str(where), create=create)
    return open_file(Path(where), create=create)
