"""A table of PostgreSQL as the steward sees it: its columns, and its rows as they are.

Nothing here is a release. Rows are copied to a private file for what the steward prepares of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from onesided.data.files import write_batches
from onesided.engine.postgres.catalog import Table, find_table
from onesided.engine.postgres.connection import (
    Transaction,
    check_server,
    connect,
    opening,
    schemas_of_user,
)
from onesided.errors import SourceError
from onesided.language import Schema, Type

_NO_TIMEOUT = "0"


def table_schema(url: str, name: str) -> Schema:
    """The columns of the table called `name`."""
    with _reading(url, name) as (_, table):
        return table.schema


def copy_table(url: str, name: str, columns: Sequence[str], path: Path) -> None:
    """Write these columns of all rows to a Parquet file; times keep their zone."""
    with _reading(url, name) as (transaction, table):
        listed = ", ".join(_outgoing(table, column) for column in dict.fromkeys(columns))
        statement = f"SELECT {listed} FROM {table.qualified}"
        schema = transaction.table(f"{statement} LIMIT 0").schema
        write_batches(transaction.batches(statement), schema, path)


@contextmanager
def _reading(url: str, name: str) -> Iterator[tuple[Transaction, Table]]:
    with opening(), closing(connect(url)) as connection:
        transaction = Transaction.reading(connection, _NO_TIMEOUT)
        check_server(transaction)
        yield transaction, find_table(transaction.rows, name, lambda: schemas_of_user(url))
        transaction.end()


def _outgoing(table: Table, column: str) -> str:
    chosen = table.schema.resolve(column)
    found = next(each for each in table.columns if each.name == chosen)
    if found.field.type in (Type.OTHER, Type.DECIMAL):
        raise SourceError(f"The column {chosen} is of a type that is not copied; leave it out.")
    return found.with_zone if found.field.type is Type.TIMESTAMP else found.normalised
