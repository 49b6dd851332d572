"""The tables of a desk, beside those of the ledger.

Their names begin with `desk`. No trigger guards them: tokens are revoked, jobs go on. What they
hold is no part of the chain, of its verification or of its export.
"""

from __future__ import annotations

from onesided.errors import LedgerError
from onesided.ledger.rows import LedgerRows
from onesided.ledger.store import Store

VERSION = 1
"""The version of these tables."""

_FIRST = (
    "CREATE TABLE desk (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL)",
    "INSERT INTO desk VALUES (1, 1)",
    "CREATE TABLE desk_tokens (id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE,"
    " name TEXT NOT NULL, role TEXT NOT NULL, purpose TEXT NOT NULL, parent TEXT,"
    " created TEXT NOT NULL, expires TEXT, revoked TEXT)",
    "CREATE TABLE desk_rights (dataset TEXT NOT NULL, name TEXT NOT NULL, content TEXT NOT NULL,"
    " PRIMARY KEY (dataset, name))",
    "CREATE TABLE desk_jobs (number BIGINT PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " dataset TEXT NOT NULL, who TEXT NOT NULL, kind TEXT NOT NULL, question TEXT NOT NULL,"
    " purpose TEXT NOT NULL, asked TEXT NOT NULL, snapshot BIGINT NOT NULL,"
    " requests TEXT NOT NULL, expires TEXT, greatest_cost TEXT, decision TEXT, outcome TEXT,"
    " starts TEXT, deadline TEXT, cost TEXT, charges TEXT, worker TEXT, lease TEXT)",
    "CREATE INDEX desk_jobs_queue ON desk_jobs (dataset, deadline)",
    "CREATE INDEX desk_jobs_of ON desk_jobs (who)",
    "CREATE TABLE desk_runs (charge BIGINT NOT NULL, job TEXT NOT NULL, PRIMARY KEY (charge, job))",
    "CREATE TABLE desk_folded (account BIGINT PRIMARY KEY, entry BIGINT NOT NULL,"
    " hash TEXT NOT NULL)",
    "CREATE TABLE desk_shares (account BIGINT NOT NULL, who TEXT NOT NULL, standing TEXT NOT NULL,"
    " PRIMARY KEY (account, who))",
    "CREATE TABLE desk_sums (account BIGINT NOT NULL, who TEXT NOT NULL, name TEXT NOT NULL,"
    " loss TEXT NOT NULL, PRIMARY KEY (account, who, name))",
)

STEPS: tuple[tuple[str, ...], ...] = (_FIRST,)
"""What leads from each version to the next; the first step makes the tables."""


def prepare(store: Store) -> None:
    """Make or renew the tables of a ledger's desk; of several that try, one does."""
    with store.reading() as rows:
        if desk_version(store, rows) == VERSION:
            return
    with store.writing() as rows:
        for step in STEPS[desk_version(store, rows) :]:
            for statement in step:
                rows.run(statement)
        rows.run("UPDATE desk SET version = ? WHERE one = 1", (VERSION,))


def desk_version(store: Store, rows: LedgerRows) -> int:
    """The version of the tables of a ledger; 0 where it has none."""
    if not store.has_table(rows, "desk"):
        return 0
    row = rows.run("SELECT version FROM desk WHERE one = 1").fetchone()
    version = None if row is None else row[0]
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise LedgerError(
            f"The desk of this ledger has version {version}, and this onesided reads up to "
            f"{VERSION}; update onesided, or restore the ledger from a backup."
        )
    return version
