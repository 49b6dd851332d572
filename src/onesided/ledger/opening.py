"""Where a ledger lives: memory, a file, or a database."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from pathlib import Path

from onesided.errors import LedgerError
from onesided.ledger.base import LedgerMissing, Terms
from onesided.ledger.postgres import open_database
from onesided.ledger.protocols import Ledger
from onesided.ledger.sqlite import SqliteStore, open_file
from onesided.ledger.store import Store
from onesided.ledger.stored import StoredLedger

_CONNECTION = re.compile(
    r"""(^|[\s;?&])                          # key=value as libpq, ODBC and others write it
        (host|hostaddr|server|port|dbname|database|user|uid|username|password|passwd|pwd
        |passfile|service|sslmode|sslrootcert|options|application_name|connect_timeout)\s*=
      | ://                                   # an address of something else
      | ^[a-z][a-z0-9+]+:/                    # the same, after a path has folded its slashes
      | ^postgres(ql)?:
      | (^|/)[^/\s]*:[^/\s]*@                 # user:password@host
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""How a connection to a server looks, which must not become a file with a password in its name."""


_UNWRITABLE = {"Cc", "Cs"}
"""Control characters, and what stands for bytes that are not UTF-8."""


def open_ledger(where: str | Path | None, *, create: bool = True) -> Ledger:
    """Open the ledger at `where`: None is memory, "postgresql://…" a database, else a SQLite file.

    A ledger that does not exist is created; without `create` it is a LedgerMissing.
    """
    ledger = StoredLedger(open_store(where, create=create))
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


def open_store(where: str | Path | None, *, create: bool) -> Store:
    """What keeps the ledger at `where`."""
    if where is None:
        return SqliteStore(None)
    text = str(where)
    if any(unicodedata.category(sign) in _UNWRITABLE for sign in text):
        raise LedgerError("The name of a ledger must be UTF-8 without control characters.")
    if isinstance(where, str) and text.startswith(("postgresql://", "postgres://")):
        return open_database(text, create=create)
    if _CONNECTION.search(text) or _CONNECTION.search(Path(where).name):
        raise LedgerError(
            "What is named as the ledger looks like a connection to a server; write a database as "
            "postgresql://user@host/database, and give a file another name."
        )
    return open_file(Path(where), create=create)
