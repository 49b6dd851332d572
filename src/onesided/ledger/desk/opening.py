"""Where a desk lives: in the ledger that it belongs to."""

from __future__ import annotations

from pathlib import Path

from onesided.errors import LedgerError
from onesided.ledger.desk.protocols import Desk
from onesided.ledger.desk.stored import StoredDesk
from onesided.ledger.desk.tables import prepare
from onesided.ledger.desk.view import Clock
from onesided.ledger.opening import open_store


def open_desk(where: str | Path | None, *, create: bool = True, clock: Clock | None = None) -> Desk:
    """Open the desk of the ledger at `where`; its tables are made where they are missing.

    - `create`: whether a ledger that does not exist is created, as in `open_ledger`.
    - `clock`: a clock of its own, for tests.
    """
    if where is None:
        raise LedgerError(
            "A ledger in memory belongs to one process; give a ledger that is asked by several "
            "people a file or a database."
        )
    store = open_store(where, create=create)
    prepare(store)
    return StoredDesk(store, clock)
