"""Lookup tables for DuckDB: copied at the opening into the private folder, and read from there.

So no cell of their files is read after a charge, and none can be one that DuckDB does not read.
Each copy is a database of its own, which has all types of DuckDB and needs no memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from onesided.data.private import PrivateDirectory
from onesided.engine.beside import FoundTable, readable
from onesided.engine.duckdb.connection import (
    STATEMENT_ERRORS,
    Connection,
    connect,
    opening,
    quoted,
)
from onesided.engine.duckdb.flavour import DuckDBFlavour
from onesided.engine.duckdb.mending import mended, reads_all
from onesided.engine.duckdb.source import Source, opened_source
from onesided.engine.duckdb.types import field_of
from onesided.engine.sources import Files
from onesided.engine.streams import HeldTable
from onesided.errors import SourceError
from onesided.language import Schema, Type

_COPY = "osd_beside"
_FLAVOUR = DuckDBFlavour()


@dataclass
class CopiedTables:
    """The lookup tables of one engine, attached to its connection.

    - `folder`: private, and removed by the engine.
    - `arrow`: the columns of each table as they leave.
    """

    connection: Connection
    folder: Path
    _given: dict[str, Files | HeldTable] = field(default_factory=dict, init=False)
    arrow: dict[str, pa.Schema] = field(default_factory=dict, init=False)

    def open(self, name: str, source: Any, format: Mapping[str, Any] | None) -> FoundTable:
        """Copy a table at a path or glob, or in memory, whose columns we can read."""
        database = f"{_COPY}{len(self._given)}"
        path = self.folder / f"{database}.db"
        named = isinstance(source, str | Path)
        given: Files | HeldTable
        try:
            given = Files.find(str(source)) if named else self._held(source, database)
            found = _copied(given, path, database, format)
        except (*STATEMENT_ERRORS, OSError, pa.ArrowException):
            raise SourceError(
                f"The lookup table {name} cannot be read: check that it is whole and has columns."
            ) from None
        schema = readable(Schema.of({name: field_of(kind) for name, kind in found.kinds.items()}))
        with opening():
            self.connection.execute(f"ATTACH {quoted(str(path))} AS {database} (READ_ONLY)")
            relation = f"{database}.main.{_COPY}"
            empty = self.connection.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table()
        self._given[name], self.arrow[name] = given, empty.schema
        return FoundTable(name, schema, dict(found.format), relation, held=True)

    def states(self) -> list[str]:
        """Names the state of each table in its source."""
        return [given.fingerprint() for given in self._given.values()]

    def _held(self, source: Any, name: str) -> HeldTable:
        """A table in memory; a stream is written into a folder of its own."""
        folder = self.folder / name
        folder.mkdir()
        return HeldTable.of(source, folder)


def _copied(
    given: Files | HeldTable, path: Path, database: str, format: Mapping[str, Any] | None
) -> Source:
    """The readable columns in our form as a table of a new database at `path`."""
    folder = PrivateDirectory()
    try:
        with connect(folder.path, None) as connection:
            rows = given if isinstance(given, Files) else given.rows
            found = opened_source(connection, rows, folder.path, format, rows_named=False)
            kinds = found.kinds
            listed = [name for name, kind in kinds.items() if field_of(kind).type != Type.OTHER]
            readable = _total(connection, found, folder.path)
            columns = ", ".join(map(_FLAVOUR.name, listed))
            connection.execute(f"ATTACH {quoted(str(path))} AS {database}")
            connection.execute(
                f"CREATE TABLE {database}.{_COPY} AS SELECT {columns} FROM {readable}"
            )
            connection.execute(f"DETACH {database}")
            return found
    finally:
        folder.remove()


def _total(connection: Connection, found: Source, folder: Path) -> str:
    """A FROM item with the columns in our form; NULL stands for cells that cannot be read."""
    plain = found.selected(found.kinds)
    checks = list(found.rows.checks.values())
    if not checks or reads_all(connection, found.rows, checks):
        return plain
    schema = connection.sql(f"SELECT * FROM {plain} LIMIT 0").to_arrow_table().schema
    return mended(connection, found, schema, folder)
