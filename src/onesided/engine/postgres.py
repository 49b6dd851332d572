"""Tables in PostgreSQL: the statements run where the data lies, the rows leave it as Arrow.

Every statement runs in a read-only transaction on one snapshot (repeatable read). Where the state of
the data is told by `fingerprint`, the next release reads in the very transaction that told it. The
coin key is bound to a setting of the transaction, so that no statement's text holds it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa

from onesided.data.units import Unit
from onesided.engine.base import Coins, CountQuery, GroupCounts, Inspection, SampleQuery
from onesided.engine.flavours import PostgresFlavour
from onesided.engine.postgres_catalog import Table, find_table
from onesided.engine.sql import Relation, Statements
from onesided.errors import (
    OutputError,
    ReleaseFailed,
    RequestError,
    SourceError,
)
from onesided.language import BoundKey, BoundPredicate, Schema, Type

OLDEST_SERVER = 140_000
_KEY_SETTING = "onesided.coin_key"
_COIN_KEY = f"(SELECT current_setting('{_KEY_SETTING}'))"
_BEGIN_READING = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_BEGIN_WRITING = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE"
# Whoever asks for the budget and goes away must not hold up the server's housekeeping.
_SETTINGS = """SELECT set_config('TimeZone', 'UTC', true),
    set_config('idle_in_transaction_session_timeout', '5min', true),
    set_config('statement_timeout', $1, true)"""
_AFTER_THE_CHARGE = {
    "08": "The connection to PostgreSQL was lost",
    "57": "PostgreSQL ended the statement",
    "53": "PostgreSQL ran out of disk or memory",
    "42": "The table in PostgreSQL changed, or the right to use it was withdrawn",
    "3F": "The table in PostgreSQL changed, or the right to use it was withdrawn",
    "3D": "The connection to PostgreSQL was lost",
    "28": "PostgreSQL no longer lets this user in",
    "0A": "The table in PostgreSQL changed, or the right to use it was withdrawn",
}
_FLAVOUR = PostgresFlavour()


class PostgresEngine:
    """One table or view in PostgreSQL, and its units.

    - `url`: where the server is; it may hold a password and is kept out of every text.
    - `unit`: the key of the units. Rows have no lasting names here, so that a key is required; one
      that the table declares unique makes every row a unit, and no rows are brought together.
    - `statement_timeout`: seconds after which the server gives up on a statement.
    """

    def __init__(
        self, url: str, table: str, unit: Unit, *, statement_timeout: float | None = None
    ) -> None:
        if unit.is_row:
            raise SourceError(
                "Rows in PostgreSQL have no lasting names; name a unique key of the table as unit."
            )
        milliseconds = 0 if statement_timeout is None else round(statement_timeout * 1000)
        if statement_timeout is not None and milliseconds < 1:
            raise RequestError("A statement timeout is a number of seconds above 0.")
        self._url = url
        self._timeout = str(milliseconds)
        self._connection: Any = None
        self._told: _Transaction | None = None
        with _opening(), self._transaction() as transaction:
            _check_server(transaction)
            self._table = find_table(transaction.rows, table)
            self._unit = Unit(tuple(map(self._table.schema.resolve, unit.columns)))
            self._arrow = self._described(transaction)

    def __repr__(self) -> str:
        return f"PostgresEngine({self._table.name})"

    @property
    def schema(self) -> Schema:
        return self._table.schema

    @property
    def unit(self) -> Unit:
        return self._unit

    @property
    def in_memory(self) -> bool:
        return False

    @property
    def rows_are_units(self) -> bool:
        """Whether the table itself guarantees that every unit is one row."""
        return self._table.is_unique(self._unit.columns)

    def inspect(self) -> Inspection:
        with _opening(), self._transaction() as transaction:
            units, orphans = transaction.rows(self._statements.inspection())[0]
        return Inspection(units=int(units), rows_without_key=int(orphans))

    def fingerprint(self) -> str:
        """Names the rows by the transactions that wrote them: any change writes with a new one.

        The transaction stays open, and the next statement reads the same state in it.
        """
        if not self._table.has_transactions:
            raise SourceError(
                "A view does not tell when its data change; name their state with a version."
            )
        with _opening():
            self._forget_told()
            transaction = self._begun(_BEGIN_READING)
            row = transaction.rows(self._table.state_statement())[0]
            self._told = transaction
        described = repr((self._table.identity, row))
        return hashlib.sha256(described.encode()).hexdigest()

    def output_schema(self, columns: tuple[str, ...]) -> pa.Schema:
        """As for every engine; columns of types that engines do not share are refused."""
        for column in columns:
            if self.schema[column].type is Type.OTHER:
                raise RequestError(
                    f"The column {column} has a type that PostgreSQL alone knows; "
                    "leave it out of the columns."
                )
        return pa.schema([self._arrow.field(column) for column in columns])

    def sample(self, query: SampleQuery) -> Iterator[pa.RecordBatch]:
        """The rows of the kept units, sorted by key and content."""
        schema = self.output_schema(query.columns)
        listed = ", ".join(self._outgoing(column) for column in query.columns)
        statement = f"SELECT {listed} FROM ({self._ordered_sample(query)}) osd_o"
        with _releasing(), self._release(query.coins) as transaction:
            for batch in transaction.batches(statement):
                yield _cast(batch, schema)

    def count(self, query: CountQuery) -> GroupCounts:
        with _releasing(), self._release(query.coins) as transaction:
            table = transaction.table(self._statements.count(query))
            return GroupCounts.of(self._with_decimals(table, query.by), query.by)

    def check_place(self, place: str) -> None:
        """Refuse a table that exists already, or that this user may not make."""
        schema, name = _target(place)
        with _opening(), self._transaction() as transaction:
            found = transaction.rows(
                "SELECT to_regclass($1) IS NOT NULL, to_regnamespace($2) IS NOT NULL AND "
                "has_schema_privilege(to_regnamespace($2), 'CREATE')",
                (_qualified(schema, name), _FLAVOUR.name(schema)),
            )
        exists, allowed = found[0]
        if exists:
            raise OutputError(f"The table {place} exists already; name another.")
        if not allowed:
            raise OutputError(f"This user may not make a table in {schema}; grant CREATE on it.")

    def place(self, query: SampleQuery, place: str) -> int:
        """The sample as a new table, in a transaction that writes nothing else; its rows."""
        self.output_schema(query.columns)
        target = _qualified(*_target(place))
        with _releasing(), self._release(query.coins, _BEGIN_WRITING) as transaction:
            transaction.execute(f"CREATE TABLE {target} AS {self._ordered_sample(query)}")
            rows = transaction.rows(f"SELECT count(*) FROM {target}")[0][0]
            transaction.commit()
        return int(rows)

    def evaluate_policy(self, function: Callable[[Mapping[str, Any]], bool]) -> BoundPredicate:
        raise RequestError("A policy in Python needs a table in memory; write it as SQL.")

    def close(self) -> None:
        """Leave the server; what is under way there ends."""
        connection, self._connection, self._told = self._connection, None, None
        if connection is not None:
            with suppress(*_driver_errors()):
                connection.close()

    @property
    def _statements(self) -> Statements:
        relation = Relation(
            source=self._table.source,
            schema=self.schema,
            unit=self._unit,
            coin_key=_COIN_KEY,
            unique=self.rows_are_units,
        )
        return Statements(relation, _FLAVOUR)

    def _ordered_sample(self, query: SampleQuery) -> str:
        return self._statements.sample(query) + self._statements.order(query.columns)

    def _described(self, transaction: _Transaction) -> pa.Schema:
        """The types in which the columns leave."""
        listed = ", ".join(self._outgoing(column) for column in self.schema)
        empty = transaction.table(f"SELECT {listed} FROM {self._table.source} osd_t LIMIT 0")
        fields = []
        for field in empty.schema:
            digits = self.schema[field.name].digits
            kind = pa.decimal128(digits.total, digits.fraction) if digits else field.type
            fields.append(pa.field(field.name, kind))
        return pa.schema(fields)

    def _outgoing(self, column: str) -> str:
        """Decimals leave as text, since the driver has no type for them."""
        name = _FLAVOUR.name(column)
        if self.schema[column].type is Type.DECIMAL:
            return f"CAST({name} AS TEXT) AS {name}"
        return name

    def _with_decimals(self, table: pa.Table, by: tuple[BoundKey, ...]) -> pa.Table:
        for index, key in enumerate(by):
            digits = self.schema[key.column].digits
            if key.type is Type.DECIMAL and digits is not None:
                column = table.column(index)
                texts = pa.array(
                    [None if each is None else str(each) for each in column.to_pylist()],
                    pa.string(),
                )
                kind = pa.decimal128(digits.total, digits.fraction)
                table = table.set_column(index, table.schema.field(index).name, texts.cast(kind))
        return table

    @contextmanager
    def _release(self, coins: Coins | None, begin: str = _BEGIN_READING) -> Iterator[_Transaction]:
        """A transaction in which the table still is what it was and the coin key is set."""
        with self._transaction(begin) as transaction:
            if self._table.columns_now(transaction.rows) != self._table.identity:
                raise ReleaseFailed(
                    "The columns of the table changed since it was opened, and the charge stands; "
                    "open it again and repeat the request, which is paid once."
                )
            if coins is not None:
                transaction.rows(f"SELECT set_config('{_KEY_SETTING}', $1, true)", (coins.key,))
            yield transaction

    @contextmanager
    def _transaction(self, begin: str = _BEGIN_READING) -> Iterator[_Transaction]:
        """The transaction that `fingerprint` left open for reading, or a new one."""
        told, self._told = self._told, None
        if told is not None and begin != _BEGIN_READING:
            told.end()
            told = None
        transaction = told or self._begun(begin)
        try:
            yield transaction
        except GeneratorExit:
            # Rows that nobody wants any more are still on their way: leave instead of draining.
            self.close()
            raise
        except _driver_errors():
            # A connection in an unknown state is not used again.
            self.close()
            raise
        finally:
            if self._connection is not None:
                transaction.end()

    def _begun(self, begin: str) -> _Transaction:
        """A broken idle connection is replaced once."""
        fresh = self._connection is None
        if fresh:
            self._connection = _connect(self._url)
        try:
            transaction = _Transaction(self._connection)
            transaction.execute(begin)
            transaction.rows(_SETTINGS, (self._timeout,))
        except _driver_errors():
            self.close()
            if fresh:
                raise
            return self._begun(begin)
        return transaction

    def _forget_told(self) -> None:
        told, self._told = self._told, None
        if told is not None:
            with suppress(*_driver_errors()):
                told.end()


class _Transaction:
    """Statements on one connection until `end`, which undoes, or `commit`."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def execute(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    def rows(self, statement: str, parameters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, parameters or None)
            return list(cursor.fetchall())

    def table(self, statement: str) -> pa.Table:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetch_arrow_table()

    def batches(self, statement: str) -> Iterator[pa.RecordBatch]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            yield from cursor.fetch_record_batch()

    def commit(self) -> None:
        self._connection.commit()

    def end(self) -> None:
        self._connection.rollback()


def _connect(url: str) -> Any:
    import adbc_driver_postgresql.dbapi

    return adbc_driver_postgresql.dbapi.connect(url)


def _driver_errors() -> tuple[type[BaseException], ...]:
    import adbc_driver_manager

    # Reading a stream of batches raises Arrow's own errors, of which OSError is one.
    return (adbc_driver_manager.Error, pa.ArrowException, OSError)


@contextmanager
def _opening() -> Iterator[None]:
    """What goes wrong while a data set is opened; the server's words may quote cells and names."""
    try:
        import adbc_driver_postgresql  # noqa: F401
    except ImportError:
        raise SourceError(
            "PostgreSQL needs the extra postgres: pip install 'onesided[postgres]'."
        ) from None
    try:
        yield
    except _driver_errors() as error:
        state = str(getattr(error, "sqlstate", None) or "")
        if state == "42501":
            raise SourceError(
                "This user may not read the table in PostgreSQL; grant SELECT on it."
            ) from None
        if state == "57014":
            raise SourceError(
                "The statement timeout is too short for looking at the table; allow more seconds."
            ) from None
        raise SourceError(
            "PostgreSQL cannot be reached or used; check the address, the user and the table."
        ) from None


@contextmanager
def _releasing() -> Iterator[None]:
    """What goes wrong after the charge, told by the server's code alone."""
    try:
        yield
    except _driver_errors() as error:
        state = str(getattr(error, "sqlstate", None) or "08000")
        reason = _AFTER_THE_CHARGE.get(state[:2], "PostgreSQL failed")
        raise ReleaseFailed(
            f"{reason} after the charge, which stands; repeat the request, which is paid once."
        ) from None


def _check_server(transaction: _Transaction) -> None:
    version, encoding = transaction.rows(
        "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')"
    )[0]
    if int(version) < OLDEST_SERVER:
        raise SourceError("PostgreSQL must be of version 14 or newer; upgrade the server.")
    if encoding != "UTF8":
        raise SourceError("The database must have the encoding UTF8; copy the table into one.")


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _target(place: str) -> tuple[str, str]:
    """The schema and the name of a table to make."""
    schema, _, name = place.rpartition(".")
    if not name:
        raise OutputError("Name the table to make, such as releases.visits_sample.")
    return schema or "public", name


def _qualified(schema: str, name: str) -> str:
    return f"{_FLAVOUR.name(schema)}.{_FLAVOUR.name(name)}"
