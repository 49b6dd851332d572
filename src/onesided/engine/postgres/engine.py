"""Tables in PostgreSQL: the statements run where the data lies, the rows leave it as Arrow.

Every release runs in a read-only transaction on one snapshot (repeatable read), which is checked to
be the state that the account is kept on. The coin key is bound to a setting of the transaction, so
that no statement's text holds it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

import pyarrow as pa

from onesided.data.units import Unit
from onesided.engine.base import (
    COLUMNS_CHANGED,
    Coins,
    CountQuery,
    GroupCounts,
    Inspection,
    Placed,
    SampleQuery,
)
from onesided.engine.beside import Beside, FoundTable, SecretLookup, check_unique, repeated_keys
from onesided.engine.columns_read import ColumnsRead
from onesided.engine.maps import HeldMap
from onesided.engine.postgres.beside import ServerTables
from onesided.engine.postgres.catalog import Table, find_table, row_sums
from onesided.engine.postgres.connection import (
    COIN_KEY,
    NO_RIGHT,
    Transaction,
    cancel,
    check_server,
    connect,
    driver_errors,
    opening,
    releasing,
    schemas_of_user,
)
from onesided.engine.postgres.flavour import PostgresFlavour
from onesided.engine.postgres.maps import written_table
from onesided.engine.postgres.statements import PostgresStatements
from onesided.engine.remote import RemoteEngine, cast_batch, check_format
from onesided.engine.sql import Relation
from onesided.engine.together import apart, columns_of, joint
from onesided.errors import (
    OutputError,
    ReleaseFailed,
    RequestError,
    SourceError,
)
from onesided.language import BoundKey, Schema, Type

_FLAVOUR = PostgresFlavour()
#: In the 128 MB of a hash table with `work_mem` at 64 MB, each of so many units has room for some
#: twenty groups.
_FEW_UNITS = 65_536
#: The classes of the server's codes for a value, a name, a function or another server that do not
#: work; one of them is about rights instead.
_FAILS_ON_A_ROW = ("22", "23", "42", "P0", "HV")


class PostgresEngine(RemoteEngine):
    """One table or view in PostgreSQL, and its units.

    - `url`: where the server is; it may hold a password and is kept out of every text.
    - `unit`: the key of the units. Rows have no lasting names here, so that a key is required; one
      that the table declares unique makes every row a unit, and no rows are brought together.
    - `statement_timeout`: seconds after which the server gives up on a statement.
    - `format`: the columns that an account was opened with; others are refused.
    """

    def __init__(
        self,
        url: str,
        table: str,
        unit: Unit,
        *,
        statement_timeout: float | None = None,
        format: Mapping[str, Any] | None = None,
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
        self._process: int | None = None
        self._state: str | None = None
        self._units: int | None = None
        self._tables, self._beside = ServerTables(), Beside()
        try:
            with opening(), self.transaction() as transaction:
                check_server(transaction)
                self.table = find_table(transaction.rows, table, lambda: schemas_of_user(url))
                check_format(self.format, format)
                self._schema = unit.zones.applied(self.table.schema)
                self._unit = unit.bind(self._schema)
                self._arrow = self._described(transaction)
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"PostgresEngine({self.table.name})"

    @property
    def schema(self) -> Schema:
        return self._beside.schema(self._schema)

    @property
    def format(self) -> dict[str, Any]:
        return self.table.format

    @property
    def _leaving(self) -> pa.Schema:
        return self._arrow

    @property
    def rows_are_units(self) -> bool:
        """Whether the table itself guarantees that every unit is one row."""
        return self.table.is_unique(self._unit.columns)

    def inspect(self) -> Inspection:
        with opening(), self.transaction() as transaction:
            if self.table.computed:
                self._evaluate(transaction, self.table)
            units, orphans = transaction.rows(self.statements.inspection())[0]
        self._units = int(units)
        return Inspection(units=self._units, rows_without_key=int(orphans))

    def fingerprint(self) -> str:
        """Names the rows by the transactions that wrote them: any change writes with a new one.

        From then on every release makes sure, in its own snapshot, that this is still the state.
        """
        if not self.table.has_transactions:
            raise SourceError(
                "A view does not tell when its data change; name their state with a version."
            )
        with opening(), self.transaction() as transaction:
            self._state = self._found_state(transaction)
        return self._state

    def _found_state(self, transaction: Transaction) -> str:
        """Of the table and of those beside it."""
        own = self.table.state(transaction.rows)
        return self._beside.fingerprint(own, self._tables.states(transaction.rows))

    def hold_map(self, places: pa.Table, moves: pa.Table | None) -> HeldMap:
        return HeldMap(written_table(places), None if moves is None else written_table(moves))

    def lookup_table(
        self, name: str, source: Any, table: str | None, format: Mapping[str, Any] | None
    ) -> FoundTable:
        named = table if table is not None else source
        if not isinstance(named, str):
            raise RequestError(f"The lookup table {name} must be a table of the same server.")
        with opening(), self.transaction() as transaction:
            found = find_table(transaction.rows, named, lambda: schemas_of_user(self._url))
            check_format(found.format, format)
            return self._tables.add(name, found)

    def look_up(self, lookups: tuple[SecretLookup, ...]) -> None:
        with opening(), self.transaction() as transaction:
            self._tables.evaluate(lambda table: self._evaluate(transaction, table))
            for lookup in lookups:
                found = transaction.rows(repeated_keys(lookup, _FLAVOUR))
                check_unique(lookup, int(found[0][0]))
            self._beside = Beside(self._tables.checked(lookups))
            self._arrow = self._described(transaction)

    def sample(self, query: SampleQuery) -> Iterator[pa.RecordBatch]:
        """The rows of the kept units, sorted by key and content."""
        schema = self.output_schema(query.columns)
        listed = ", ".join(self._outgoing(column) for column in query.columns)
        statement = f"SELECT {listed} FROM ({self.ordered_sample(query)}) osd_o"
        with releasing(), self.reading(query.coins) as transaction:
            transaction.allow_more_memory()
            for batch in transaction.batches(statement):
                yield cast_batch(batch, schema)

    def count(self, query: CountQuery) -> GroupCounts:
        with releasing(), self.reading(query.coins) as transaction:
            transaction.allow_more_memory()
            statements = self._reading_of(ColumnsRead.by_count(query).all)
            table = transaction.table(statements.count(query))
            return GroupCounts.of(_with_decimals(table, query.listed), query.listed)

    def count_each(self, queries: Sequence[CountQuery]) -> list[GroupCounts]:
        with releasing(), self.reading(None) as transaction:
            transaction.allow_more_memory()
            statements = self._reading_of(columns_of(queries).all)
            return apart(transaction.table(joint(statements, queries)), queries)

    def check_place(self, place: str) -> None:
        """Refuse a table that exists already, or that this user may not make."""
        schema, name = _target(place)
        with opening(), self.transaction() as transaction:
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

    def place(self, query: SampleQuery, place: str) -> Placed:
        """The sample as a new table.

        A transaction of its own writes it and nothing else, on the snapshot of the one that reads.
        """
        self.output_schema(query.columns)
        target = _qualified(*_target(place))
        with (
            releasing(),
            self.reading(None) as reading,
            closing(connect(self._url)) as connection,
        ):
            writing = Transaction.writing(connection, self._timeout, reading.snapshot())
            writing.bind(query.coins)
            writing.allow_more_memory()
            writing.execute(f"CREATE TABLE {target} AS {self.ordered_sample(query)}")
            rows, *sums = writing.rows(row_sums(target, query.columns))[0]
            writing.commit()
        return Placed(int(rows), hashlib.sha256(repr((rows, sums)).encode()).hexdigest())

    def stop(self) -> None:
        """End the running statement, by a connection of its own."""
        process = self._process
        if process is not None:
            cancel(self._url, process)

    def close(self) -> None:
        """Leave the server; what is under way there ends."""
        connection, self._connection, self._process = self._connection, None, None
        if connection is not None:
            with suppress(*driver_errors()):
                connection.close()

    @property
    def statements(self) -> PostgresStatements:
        """Those that may read any column."""
        return self._reading_of(None)

    def _reading_of(self, read: frozenset[str] | None) -> PostgresStatements:
        """The statements that read these columns alone."""
        relation = Relation(
            source=self.table.source,
            schema=self.schema,
            unit=self._unit,
            coin_key=COIN_KEY,
            unique=self.rows_are_units,
            beside=self._beside.lookups,
            read=read,
        )
        many = self._units is None or self._units > _FEW_UNITS
        return PostgresStatements.on(relation, _FLAVOUR, many_units=many)

    def ordered_sample(self, query: SampleQuery) -> str:
        statements = self._reading_of(ColumnsRead.by_sample(query).all)
        return statements.sample(query) + statements.order(query.columns)

    def _described(self, transaction: Transaction) -> pa.Schema:
        """The types in which the columns leave."""
        listed = ", ".join(self._outgoing(column) for column in self.schema)
        source = self.table.source
        if self._beside.lookups:
            source = self.statements.relation.source
        empty = transaction.table(f"SELECT {listed} FROM {source} osd_t LIMIT 0")
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

    def _evaluate(self, transaction: Transaction, table: Table) -> None:
        """What a view computes can fail on a row: it fails now, and not after a charge."""
        try:
            table.evaluate(transaction.rows)
        except driver_errors() as error:
            state = str(getattr(error, "sqlstate", None) or "")
            if state[:2] in _FAILS_ON_A_ROW and state != NO_RIGHT:
                raise SourceError(
                    f"What {table.name} computes fails on one of its rows, or needs a name "
                    "without a schema; mend it, or make a table of it."
                ) from None
            raise

    @contextmanager
    def reading(self, coins: Coins | None) -> Iterator[Transaction]:
        """A transaction in which the table still is what it was and the coin key is set."""
        with self.transaction() as transaction:
            if not (
                self.table.is_as_opened(transaction.rows)
                and self._tables.are_as_opened(transaction.rows)
            ):
                raise ReleaseFailed(COLUMNS_CHANGED)
            if self._state is not None and self._found_state(transaction) != self._state:
                raise ReleaseFailed(
                    "The data changed since they were opened, and the charge stands; open them "
                    "again and repeat the request."
                )
            if coins is not None:
                transaction.bind(coins)
            yield transaction

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction on the one connection; it ends here, and changes nothing."""
        transaction = self._begun()
        try:
            yield transaction
        except (GeneratorExit, KeyboardInterrupt):
            # Rows that nobody wants any more are still on their way: leave instead of draining.
            self.close()
            raise
        except driver_errors():
            # A connection in an unknown state is not used again.
            self.close()
            raise
        finally:
            if self._connection is not None:
                transaction.end()

    def _begun(self) -> Transaction:
        """A broken idle connection is replaced once."""
        fresh = self._connection is None
        if fresh:
            self._connection = connect(self._url)
        try:
            transaction = Transaction.reading(self._connection, self._timeout)
        except driver_errors():
            self.close()
            if fresh:
                raise
            return self._begun()
        if fresh:
            self._process = int(transaction.rows("SELECT pg_catalog.pg_backend_pid()")[0][0])
        return transaction


def _with_decimals(table: pa.Table, by: tuple[BoundKey, ...]) -> pa.Table:
    """Decimals among the keys come as texts that the driver has a type of its own for."""
    for index, key in enumerate(by):
        if key.type is Type.DECIMAL and key.digits is not None:
            chunks = [
                getattr(chunk, "storage", chunk).cast(pa.string())
                for chunk in table.column(index).chunks
            ]
            texts = pa.chunked_array(chunks, pa.string())
            kind = pa.decimal128(key.digits.total, key.digits.fraction)
            table = table.set_column(index, table.schema.field(index).name, texts.cast(kind))
    return table


def _target(place: str) -> tuple[str, str]:
    """The schema and the name of a table to make."""
    schema, _, name = place.rpartition(".")
    if not name:
        raise OutputError("Name the table to make, such as releases.visits_sample.")
    return schema or "public", name


def _qualified(schema: str, name: str) -> str:
    return f"{_FLAVOUR.name(schema)}.{_FLAVOUR.name(name)}"
