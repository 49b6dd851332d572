"""Public tables: read once, by DuckDB, whichever engine they are going to be joined on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from onesided.engine.base import PublicTable
from onesided.engine.duckdb_types import column_of, field_of, quoted
from onesided.engine.sources import Files, Format, arrow_table
from onesided.errors import SourceError
from onesided.language import Schema, Type

_RAW = "osd_raw"


def read_public(name: str, source: Any) -> PublicTable:
    """The table at a path or glob, or in memory; columns of types that we cannot read are left out.

    It is public, so that all of it is held in memory and may be named by its content.
    """
    with duckdb.connect() as connection:
        try:
            connection.execute("SET TimeZone = 'UTC'")
            connection.register(_RAW, _loaded(connection, source))
            described = connection.sql(f"DESCRIBE SELECT * FROM {_RAW}").fetchall()
            kinds = {str(row[0]): str(row[1]) for row in described}
            fields = {column: field_of(kind) for column, kind in kinds.items()}
            readable = {
                column: field for column, field in fields.items() if field.type is not Type.OTHER
            }
            listed = ", ".join(column_of(column, kinds[column]) for column in readable)
            content = connection.sql(f"SELECT {listed} FROM {_RAW}").to_arrow_table()
        except (duckdb.Error, OSError, pa.ArrowException):
            raise SourceError(
                f"The public table {name} cannot be read: check that it is whole and has columns."
            ) from None
    return PublicTable(name, Schema.of(readable), content)


def _loaded(connection: duckdb.DuckDBPyConnection, source: Any) -> pa.Table:
    if not isinstance(source, str | Path):
        return arrow_table(source)
    files = Files.find(str(source))
    paths = ", ".join(quoted(str(path)) for path in files.paths)
    reader = f"read_parquet([{paths}], hive_partitioning = false)"
    if files.format is Format.CSV:
        reader = f"read_csv([{paths}], sample_size = -1)"
    return connection.sql(f"SELECT * FROM {reader}").to_arrow_table()
