"""The ledger in a PostgreSQL database, shared by several machines.

A writer locks the one row of `head`, so that of two writers one waits before it reads what it will
decide on. Each transaction asks for a synchronous commit, against the server's default if need be,
and a server that runs without fsync is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from onesided.errors import LedgerError
from onesided.ledger.base import LedgerDamaged, LedgerMissing
from onesided.ledger.rows import LedgerRows, StatementResult
from onesided.ledger.store import APPEND_ONLY, WAIT_SECONDS, Store, tables

if TYPE_CHECKING:
    import psycopg

SCHEMA = "onesided_ledger"
_CREATION_LOCK = 7_305_528_164_919_061
"""An arbitrary number that all creators of a ledger agree on."""

_PATH = f"search_path = {SCHEMA}, pg_temp"
"""Said in full, for others may create tables and operators in schemas of their own: temporary
tables would come first, and `public` would come as well."""

_SETTINGS = f"SET LOCAL {_PATH}; SET LOCAL lock_timeout = '{WAIT_SECONDS}s'"
_WRITE = f"""
    BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {_SETTINGS};
    SELECT set_config('synchronous_commit', 'on', true)
    WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
"""
_READ = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_SETTINGS}"

_SENTENCES = {
    "08": "cannot be reached; check the server and repeat the request, which is paid once.",
    "57": "was shut down or restarted; repeat the request, which is paid once.",
    "55": "is locked by another process; try again when that has finished.",
    "53": "has no room left; nothing was released; make room and repeat.",
    "25": "is read-only; nothing was released; name the primary server.",
    "42": "is not a ledger of onesided, or this user may not use it; check the schema "
    f"{SCHEMA} and its rights.",
    "54": "cannot hold a release of this size; ask for a smaller one.",
}
_DAMAGED = {"XX001", "XX002"}


class PostgresStore(Store):
    """A ledger in the database at `url`, which is kept out of every text."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.Connection | None = None
        super().__init__()

    def __repr__(self) -> str:
        return "PostgreSQL"

    def time(self, rows: LedgerRows) -> datetime:
        """The server's clock: the machines that share the ledger may differ."""
        now: datetime = rows.run("SELECT clock_timestamp()").fetchone()[0]
        return now.astimezone(UTC)

    def has_table(self, rows: LedgerRows, name: str) -> bool:
        """In the schema of the ledger."""
        found = rows.run("SELECT to_regclass(?) IS NOT NULL", (f"{SCHEMA}.{name}",))
        return bool(found.fetchone()[0])

    def begin(self, *, write: bool) -> LedgerRows:
        """Lock the head for a writer; an idle connection that broke is replaced once."""
        import psycopg

        idle = self._connection
        try:
            return self._begun(write=write)
        except psycopg.OperationalError:
            if idle is None or not idle.broken:
                raise
            self.disconnect()
            return self._begun(write=write)

    def _begun(self, *, write: bool) -> LedgerRows:
        connection = self._connection or self._connect()
        connection.execute(_WRITE if write else _READ, prepare=False)
        return LedgerRows(self._run, lock=" FOR UPDATE" if write else "")

    def _run(self, statement: str, parameters: Sequence[object] = ()) -> StatementResult:
        assert self._connection is not None
        return self._connection.execute(statement.replace("?", "%s"), parameters)

    def commit(self) -> None:
        """Wait until the server has written the transaction to its disk."""
        assert self._connection is not None
        if self._connection.execute("COMMIT").statusmessage != "COMMIT":
            raise LedgerError("PostgreSQL undid the transaction; nothing was released; repeat it.")

    def rollback(self) -> None:
        """Undo; a broken connection has done so by itself."""
        import psycopg

        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.execute("ROLLBACK")

    def disconnect(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def explained(self) -> Iterator[None]:
        """By the server's code alone; its text may quote values, addresses and users."""
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            state = error.sqlstate or "08000"
            self.disconnect()
            if state in _DAMAGED:
                raise LedgerDamaged("The ledger in PostgreSQL is damaged") from None
            sentence = _SENTENCES.get(state[:2], "refused the transaction; ask its administrator.")
            raise LedgerError(f"The ledger in PostgreSQL {sentence}") from None

    def damage(self) -> str | None:
        """Pages are PostgreSQL's own care; the chain above them is checked by `verify`."""
        return None

    def _connect(self) -> psycopg.Connection:
        import psycopg

        connection = psycopg.connect(self._url, autocommit=True, connect_timeout=WAIT_SECONDS)
        connection.execute("SET search_path = pg_catalog, pg_temp")
        durable = connection.execute("SELECT current_setting('fsync')").fetchone()
        if durable != ("on",):
            connection.close()
            raise LedgerError(
                "The PostgreSQL server runs with fsync off and may forget charges; turn it on."
            )
        self._connection = connection
        return connection

    def prepare(self, *, create: bool) -> None:
        """Create the ledger where there is none; of several that try, one does."""
        with self._turn, self.explained():
            connection = self._connect()
            connection.execute("BEGIN")
            try:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_CREATION_LOCK,))
                found = connection.execute(
                    "SELECT to_regclass(%s) IS NOT NULL", (f"{SCHEMA}.head",)
                ).fetchone()
                if found != (True,):
                    if not create:
                        raise LedgerMissing("There is no ledger in this database; check its name.")
                    self._create()
            except BaseException:
                self.rollback()
                raise
            self.commit()

    def _create(self) -> None:
        self._run(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        self._run(f"SET LOCAL {_PATH}")
        for statement in (*tables("BIGINT", "BYTEA"), *_append_only()):
            self._run(statement)
        LedgerRows.create(self._run)


def _append_only() -> Iterator[str]:
    yield (
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$"
    )
    for table in APPEND_ONLY:
        yield (
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION refuse()"
        )


def open_database(url: str, *, create: bool) -> PostgresStore:
    """The ledger in the database at `url`."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise LedgerError(
            "A ledger in PostgreSQL needs the extra 'postgres': pip install 'onesided[postgres]'."
        ) from None
    store = PostgresStore(url)
    store.prepare(create=create)
    return store
