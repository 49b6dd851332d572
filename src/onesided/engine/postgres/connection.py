"""Transactions on a PostgreSQL server, and what its errors may say.

A server's own words quote cells, names and addresses: errors are told by its codes alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import pyarrow as pa

from onesided.engine.base import Coins
from onesided.engine.stopping import stoppable
from onesided.errors import ReleaseFailed, SourceError

Result = TypeVar("Result")
OLDEST_SERVER = 140_000
NO_RIGHT = "42501"
_SECONDS_TO_CANCEL = 2
_KEY_SETTING = "onesided.coin_key"
COIN_KEY = f"(SELECT current_setting('{_KEY_SETTING}'))"
# Whoever may create objects could put an operator or a function in front of the server's own: only
# those are found. The driver itself asks something as soon as it is connected.
_PATH = "pg_catalog, pg_temp"
_PINNED_PATH = f"SET LOCAL search_path = {_PATH}"
_READING = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_WRITING = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE"
#: What a value means, how it is written, and which rows there are, does not depend on who reads.
_PINNED = {
    "TimeZone": "UTC",
    "client_encoding": "UTF8",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "row_security": "off",
    "gin_fuzzy_search_limit": "0",
}
_SETTINGS = "SELECT set_config('statement_timeout', $1, true), " + ", ".join(
    f"set_config('{name}', '{value}', true)" for name, value in _PINNED.items()
)
_WORK_MEMORY = "64MB"
_MORE_MEMORY = f"""SELECT set_config('work_mem', '{_WORK_MEMORY}', true)
    WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes('{_WORK_MEMORY}')"""
_UNKNOWN = "PostgreSQL stopped answering (check the connection and the server's disk)"
_AFTER_THE_CHARGE = {
    "57": "PostgreSQL ended the statement",
    "53": "PostgreSQL ran out of disk or memory",
    "42": "The table in PostgreSQL changed, or the right to use it was withdrawn",
    "3F": "The table in PostgreSQL changed, or the right to use it was withdrawn",
    "28": "PostgreSQL no longer lets this user in",
    "0A": "The table in PostgreSQL changed, or the right to use it was withdrawn",
}


class Transaction:
    """Statements on one connection until `end`, which undoes, or `commit`."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @classmethod
    def reading(cls, connection: Any, timeout: str) -> Transaction:
        """A read-only one; `timeout` is in milliseconds, 0 for none."""
        return cls(connection)._begun((_READING,), timeout)

    @classmethod
    def writing(cls, connection: Any, timeout: str, snapshot: str) -> Transaction:
        """One that may write, on a snapshot that another one exported."""
        same = f"SET TRANSACTION SNAPSHOT '{snapshot}'"
        return cls(connection)._begun((_WRITING, same), timeout)

    def _begun(self, modes: Sequence[str], timeout: str) -> Transaction:
        for statement in (_PINNED_PATH, *modes):
            self.execute(statement)
        self.rows(_SETTINGS, (timeout,))
        return self

    def snapshot(self) -> str:
        """The name under which another transaction can read the same state."""
        return str(self.rows("SELECT pg_export_snapshot()")[0][0])

    def execute(self, statement: str) -> None:
        with self._cursor(statement):
            pass

    def rows(self, statement: str, parameters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        with self._cursor(statement, parameters) as cursor:
            return list(_answered(cursor.fetchall, cursor))

    def bind(self, coins: Coins) -> None:
        """Set the coin key for the time of this transaction."""
        self.rows(f"SELECT set_config('{_KEY_SETTING}', $1, true)", (coins.key,))

    def allow_more_memory(self) -> None:
        """For sorts and the keys of units, which the usual 4 MB send to disk again and again."""
        self.rows(_MORE_MEMORY)

    def table(self, statement: str) -> pa.Table:
        with self._cursor(statement) as cursor:
            return _answered(cursor.fetch_arrow_table, cursor)

    def batches(self, statement: str) -> Iterator[pa.RecordBatch]:
        with self._cursor(statement) as cursor:
            reader = iter(cursor.fetch_record_batch())
            while (batch := _answered(lambda: next(reader, None), cursor)) is not None:
                yield batch

    @contextmanager
    def _cursor(self, statement: str, parameters: Sequence[str] = ()) -> Iterator[Any]:
        """A cursor on which the statement runs."""
        with self._connection.cursor() as cursor:
            _answered(lambda: cursor.execute(statement, parameters or None), cursor)
            yield cursor

    def commit(self) -> None:
        self._connection.commit()

    def end(self) -> None:
        self._connection.rollback()


def _answered(work: Callable[[], Result], cursor: Any) -> Result:
    """What the server answers; Ctrl-C ends the statement there."""

    def cancel() -> None:
        with suppress(*driver_errors()):
            cursor.adbc_cancel()

    return stoppable(work, cancel)


def connect(url: str) -> Any:
    import adbc_driver_postgresql.dbapi
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    asked = conninfo_to_dict(url).get("options") or os.environ.get("PGOPTIONS", "")
    options = f"{asked} -c search_path={_PATH.replace(' ', '')}".strip()
    return adbc_driver_postgresql.dbapi.connect(make_conninfo(url, options=options))


def cancel(url: str, process: int) -> None:
    """Have the server end what this process of it runs; where it cannot be reached, nothing."""
    import psycopg

    with (
        suppress(*driver_errors()),
        psycopg.connect(url, client_encoding="UTF8", connect_timeout=_SECONDS_TO_CANCEL) as own,
    ):
        own.execute("SELECT pg_catalog.pg_cancel_backend(%s)", (process,))


def schemas_of_user(url: str) -> list[str]:
    """Where this user looks for a table that is named without its schema."""
    import psycopg

    with psycopg.connect(url, client_encoding="UTF8") as connection:
        found = connection.execute("SELECT pg_catalog.current_schemas(true)").fetchone()
    return [] if found is None else [str(each) for each in found[0]]


def driver_errors() -> tuple[type[BaseException], ...]:
    import adbc_driver_manager
    import psycopg

    # Reading a stream of batches raises Arrow's own errors, of which OSError is one.
    return (adbc_driver_manager.Error, psycopg.Error, pa.ArrowException, OSError)


@contextmanager
def opening() -> Iterator[None]:
    """What goes wrong while a data set is opened; the server's words may quote cells and names."""
    try:
        import adbc_driver_postgresql  # noqa: F401
        import psycopg  # noqa: F401
    except ImportError:
        raise SourceError(
            "PostgreSQL needs the extra postgres: pip install 'onesided[postgres]'."
        ) from None
    try:
        yield
    except driver_errors() as error:
        state = str(getattr(error, "sqlstate", None) or "")
        if state == NO_RIGHT:
            raise SourceError(
                "This user may not read all of the table in PostgreSQL; grant SELECT on it, and "
                "let no row-level security hide rows."
            ) from None
        if state == "57014":
            raise SourceError(
                "The statement timeout is too short for looking at the table; allow more seconds."
            ) from None
        raise SourceError(
            "PostgreSQL cannot be reached or used; check the address, the user and the table."
        ) from None


@contextmanager
def releasing() -> Iterator[None]:
    """What goes wrong after the charge, told by the server's code alone."""
    try:
        yield
    except driver_errors() as error:
        # A stream of rows that breaks off carries no code.
        state = str(getattr(error, "sqlstate", None) or "")
        reason = _AFTER_THE_CHARGE.get(state[:2], _UNKNOWN)
        raise ReleaseFailed(
            f"{reason} after the charge, which stands; repeat the request, which is paid once."
        ) from None


def check_server(transaction: Transaction) -> None:
    version, encoding = transaction.rows(
        "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')"
    )[0]
    if int(version) < OLDEST_SERVER:
        raise SourceError("PostgreSQL must be of version 14 or newer; upgrade the server.")
    if encoding != "UTF8":
        raise SourceError("The database must have the encoding UTF8; copy the table into one.")
