"""What the footers of Parquet files say of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from onesided.engine.duckdb.connection import literal_path
from onesided.engine.duckdb.flavour import DuckDBFlavour
from onesided.engine.duckdb.types import digits_of
from onesided.engine.names import check_names
from onesided.errors import SourceError

_FLAVOUR = DuckDBFlavour()
#: What a file says of a column, but for whether it may hold NULL.
_MEANING = (
    "name, type, type_length, num_children, converted_type, scale, precision, logical_type, "
    "duckdb_type, repetition_type = 'REPEATED'"
)
#: Types of which every cell is read, with any bits.
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
    - `texts_alone`: only texts can be wrong, which DuckDB can read all the same.
    """

    expression: str
    raises: bool
    texts_alone: bool = False


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


def parquet_columns(
    connection: duckdb.DuckDBPyConnection, files: Mapping[Path, str]
) -> dict[str, Check | None]:
    """The names of the columns, which are the same in all files, in order and of one type.

    A column that DuckDB reads wrongly, or not at all, where a cell is no value of its type, comes
    with its check.

    - `files`: paths, with what the files are called.
    """
    if len(files) > 1:
        _check_alike(connection, files)
    columns = list(_tops(_nodes(connection, next(iter(files)))))
    check_names([nodes[0].name for nodes in columns], "The data")
    return {nodes[0].name: _check(nodes) for nodes in columns}


def parquet_names(path: Path) -> list[str]:
    """The columns within one file."""
    with path.open("rb") as file:  # a name that is no text is one all the same
        return list(pq.read_schema(file).names)


def _check_alike(connection: duckdb.DuckDBPyConnection, files: Mapping[Path, str]) -> None:
    listed = ", ".join(map(literal_path, files))
    told = connection.sql(
        f"SELECT file_name, md5(list(({_MEANING}) ORDER BY column_id)::VARCHAR) "
        f"FROM parquet_schema([{listed}]) WHERE column_id > 0 GROUP BY file_name"
    ).fetchall()
    known = {Path(name): meaning for name, meaning in told}
    first = next(iter(files))
    for path, called in files.items():
        if known.get(path) != known.get(first):
            raise SourceError(
                f"The files {files[first]} and {called} do not have the same columns in the same "
                "order and of the same types; write them alike."
            )


def _check(nodes: list[_Node]) -> Check | None:
    column = _FLAVOUR.name(nodes[0].name)
    digits = digits_of(nodes[0].kind)
    if digits is not None:
        precision, scale = digits
        most = f"CAST('{10**precision - 1}e-{scale}' AS {nodes[0].kind})"
        wrong = f"coalesce(bool_or({column} NOT BETWEEN -{most} AND {most}), FALSE)"
        return Check(wrong, raises=False)
    fragile = {node.kind for node in nodes if not node.is_sound}
    if not fragile:
        return None
    # The hash needs the cells: a count can be had without them, and so can a length.
    read = f"bit_xor(hash({column})) IS NULL AND count(*) > 0"
    return Check(read, raises=True, texts_alone=fragile == {"VARCHAR"})


def _nodes(connection: duckdb.DuckDBPyConnection, path: Path) -> list[_Node]:
    rows = connection.sql(
        "SELECT name, coalesce(num_children, 0), coalesce(duckdb_type, ''), "
        "concat_ws(' ', logical_type, converted_type) "
        f"FROM parquet_schema({literal_path(path)}) WHERE column_id > 0 ORDER BY column_id"
    ).fetchall()
    return [_Node(str(row[0]), int(row[1]), str(row[2]), str(row[3])) for row in rows]


def _tops(nodes: list[_Node]) -> Iterator[list[_Node]]:
    """Each column of the table with all nodes below it, itself first."""
    place = 0
    while place < len(nodes):
        start, open_nodes = place, 1
        while open_nodes:
            open_nodes += nodes[place].children - 1
            place += 1
        yield nodes[start:place]
