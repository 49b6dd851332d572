"""Which engine a source needs; those of the extras are loaded only when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onesided.data.units import Unit
from onesided.engine.base import Engine
from onesided.engine.duckdb import DuckDBEngine
from onesided.engine.sources import is_postgres
from onesided.errors import RequestError


def open_engine(
    source: Any,
    unit: Unit,
    *,
    table: str | None = None,
    connection: Any = None,
    memory_limit: str | None = None,
    statement_timeout: float | None = None,
    format: Mapping[str, Any] | None = None,
) -> Engine:
    """The engine for files and frames here, or for the database or Spark at `connection`.

    `format` is how the source is read where that is agreed already; otherwise it is found now.
    """
    in_database = is_postgres(connection)
    if (source is None) == (table is None):
        raise RequestError("Name either a source or a table, and one of them only.")
    if memory_limit is not None and connection is not None:
        raise RequestError("A memory limit is for files and frames here; a server has its own.")
    if statement_timeout is not None and not in_database:
        raise RequestError("A statement timeout is for tables in PostgreSQL; leave it out.")
    if in_database:
        if table is None:
            raise RequestError("Name the table in PostgreSQL with table=….")
        from onesided.engine.postgres import PostgresEngine

        return PostgresEngine(
            connection, table, unit, statement_timeout=statement_timeout, format=format
        )
    if connection is not None:
        from onesided.engine.spark import SparkEngine

        return SparkEngine(source, unit, connection, table=table, format=format)
    if table is not None:
        raise RequestError("A table needs a connection, such as postgresql://… or a SparkSession.")
    return DuckDBEngine(source, unit, memory_limit=memory_limit, format=format)
