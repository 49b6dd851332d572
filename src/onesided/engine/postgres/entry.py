"""What is known of PostgreSQL before it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onesided.engine.entry import EngineEntry
from onesided.errors import RequestError

if TYPE_CHECKING:
    from onesided.data.units import Unit
    from onesided.engine.base import Engine
    from onesided.language import Schema

_ADDRESSES = ("postgresql://", "postgres://")


def is_postgres(connection: object) -> bool:
    """Whether this is the address of a PostgreSQL server."""
    return isinstance(connection, str) and connection.startswith(_ADDRESSES)


class PostgresEntry(EngineEntry):
    title = "tables in PostgreSQL"
    addresses = "postgresql://…"
    places = "a new table of PostgreSQL"
    options = frozenset({"statement_timeout"})

    def takes(self, connection: Any) -> bool:
        return is_postgres(connection)

    def open(
        self,
        source: Any,
        unit: Unit,
        *,
        table: str | None,
        connection: Any,
        format: Mapping[str, Any] | None,
        **options: Any,
    ) -> Engine:
        if table is None:
            raise RequestError("Name the table in PostgreSQL with table=….")
        from onesided.engine.postgres.engine import PostgresEngine

        return PostgresEngine(connection, table, unit, format=format, **options)

    def schema(self, source: Any, table: str | None, connection: Any) -> Schema | None:
        if table is None:
            return None
        from onesided.engine.postgres.table import table_schema

        return table_schema(connection, table)
