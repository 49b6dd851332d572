"""What the footers of Parquet files say of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from onesided.engine.duckdb_connection import literal_path
from onesided.engine.duckdb_types import digits_of
from onesided.engine.flavours import DuckDBFlavour
from onesided.engine.names import check_names
from onesided.errors import SourceError

_FLAVOUR = DuckDBFlavour()
#: What a file says of a column, but for whether it may hold NULL.
_MEANING = (
    "name, type, type_length, num_children, converted_type, scale, precision, logical_type, "
    "duckdb_type, repetition_type = 'REPEATED'"
)
#: Types of which every cell is read, whatever its bits are.
_SOUND = frozenset(
    [
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "BOOLEAN", "FLOAT", "DOUBLE"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
        *("DATE", "TIMESTAMP_NS", "TIMESTAMPTZ_NS", "BLOB", "UUID"),
    ]
)
_MOMENTS = frozenset(["TIMESTAMP", "TIMESTAMP WITH TIME ZONE"])


@dataclass(frozen=True)
class Check:
    """An aggregate that reads every cell of a column.

    - `raises`: a cell that is no value of its type is an error; otherwise the check is true then.
    """

    expression: str
    raises: bool


@dataclass(frozen=True)
class _Node:
    """An entry of a file's schema, which is a tree in depth-first order."""

    name: str
    children: int
    kind: str
    unit: str

    @property
    def is_sound(self) -> bool:
        if self.children:
            return True
        in_milliseconds = "MILLIS=Milli" in self.unit or "TIMESTAMP_MILLIS" in self.unit
        return self.kind in _SOUND or (self.kind in _MOMENTS and not in_milliseconds)


def parquet_names(connection: duckdb.DuckDBPyConnection, files: Mapping[Path, str]) -> list[str]:
    """The names of the columns, the same in all files; their order and types are the same too.

    - `files`: paths, with what the files are called.
    """
    listed = ", ".join(map(literal_path, files))
    told = connection.sql(
        f"SELECT file_name, list(({_MEANING}) ORDER BY column_id) "
        f"FILTER (WHERE column_id > 0) AS columns FROM parquet_schema([{listed}]) "
        "GROUP BY file_name"
    ).fetchall()
    known = {Path(name): columns for name, columns in told}
    first = next(iter(files))
    for path, called in files.items():
        if known[path] != known[first]:
            raise SourceError(
                f"The files {files[first]} and {called} do not have the same columns in the same "
                "order and of the same types; write them alike."
            )
    names = [name for name, _ in _tops(_nodes(connection, first))]
    check_names(names, "The data")
    return names


def fragile_columns(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Check]:
    """Columns that DuckDB reads wrongly, or not at all, where a cell is no value of their type."""
    found = {}
    for name, nodes in _tops(_nodes(connection, path)):
        column = _FLAVOUR.name(name)
        digits = digits_of(nodes[0].kind)
        if digits is not None:
            precision, scale = digits
            most = f"CAST('{10**precision - 1}e-{scale}' AS {nodes[0].kind})"
            wrong = f"coalesce(bool_or({column} NOT BETWEEN -{most} AND {most}), FALSE)"
            found[name] = Check(wrong, raises=False)
        elif not all(node.is_sound for node in nodes):
            # The hash needs the cells: a count can be had without them, and so can a length.
            read = f"bit_xor(hash({column})) IS NULL AND count(*) > 0"
            found[name] = Check(read, raises=True)
    return found


def _nodes(connection: duckdb.DuckDBPyConnection, path: Path) -> list[_Node]:
    rows = connection.sql(
        "SELECT name, coalesce(num_children, 0), coalesce(duckdb_type, ''), "
        "concat_ws(' ', logical_type, converted_type) "
        f"FROM parquet_schema({literal_path(path)}) WHERE column_id > 0 ORDER BY column_id"
    ).fetchall()
    return [_Node(str(row[0]), int(row[1]), str(row[2]), str(row[3])) for row in rows]


def _tops(nodes: list[_Node]) -> Iterator[tuple[str, list[_Node]]]:
    """Each column of the table with all nodes below it, itself first."""
    place = 0
    while place < len(nodes):
        start, open_nodes = place, 1
        while open_nodes:
            open_nodes += nodes[place].children - 1
            place += 1
        yield nodes[start].name, nodes[start:place]
