"""Public tables: read once, by DuckDB, whichever engine they are going to be joined on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from onesided.data.private import PrivateDirectory
from onesided.engine.base import PublicTable
from onesided.engine.duckdb.connection import STATEMENT_ERRORS, connect
from onesided.engine.duckdb.source import opened_source
from onesided.engine.duckdb.types import column_of, field_of
from onesided.engine.sources import Files, arrow_table
from onesided.errors import SourceError
from onesided.language import Schema, Type


def read_public(name: str, source: Any) -> PublicTable:
    """The table at a path or glob, or in memory; columns of types that we cannot read are left out.

    It is public, so that all of it is held in memory and may be named by its content.
    """
    named = isinstance(source, str | Path)
    given = Files.find(str(source)) if named else arrow_table(source)
    folder = PrivateDirectory()
    try:
        with connect(folder.path, None) as connection:
            opened = opened_source(connection, given, folder.path, rows_named=False)
            fields = {column: field_of(kind) for column, kind in opened.kinds.items()}
            readable = {
                column: field for column, field in fields.items() if field.type is not Type.OTHER
            }
            listed = [column_of(column, opened.kinds[column]) for column in readable]
            content = connection.sql(opened.rows.select(listed)).to_arrow_table()
    except (*STATEMENT_ERRORS, OSError, pa.ArrowException):
        raise SourceError(
            f"The public table {name} cannot be read: check that it is whole and has columns."
        ) from None
    finally:
        folder.remove()
    return PublicTable(name, Schema.of(readable), content)
