"""Parquet files with cells that DuckDB cannot read: a copy that has NULL there.

DuckDB stops at text that is not UTF-8, at moments in milliseconds beyond 64 bits of microseconds,
and at times beyond a day. Where it meets one, the table is copied once into the private folder.
What DuckDB reads well comes from DuckDB, and the other columns are read by Arrow, which looks at
no cell on its own. Every other cell has the same value in the copy.

Of bytes that are no letters DuckDB makes nothing, or signs, as it is told: a text that is the same
in both readings is one, and any other is NULL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from onesided.engine.arrow_total import fitted
from onesided.engine.duckdb.connection import STATEMENT_ERRORS
from onesided.engine.duckdb.flavour import DuckDBFlavour
from onesided.engine.duckdb.parquet_format import Check
from onesided.engine.duckdb.source import NAME, ORDER, Rows, Source
from onesided.engine.duckdb.types import column_of

_FLAVOUR = DuckDBFlavour()
_MENDED = "osd_mended"
_BATCH_ROWS = 122_880
_ABOUT_CELLS = (
    duckdb.InvalidInputException,
    duckdb.ConversionException,
    duckdb.OutOfRangeException,
    UnicodeDecodeError,
)
_ABOUT_CELLS_IN_STREAMS = ("Invalid Input Error", "Conversion Error", "Out of Range Error")


def reads_all(connection: duckdb.DuckDBPyConnection, rows: Rows, checks: Sequence[Check]) -> bool:
    """Whether DuckDB reads every cell of the columns that `checks` are for."""
    statement = f"SELECT {', '.join(check.expression for check in checks)} FROM {rows.relation}"
    try:
        return not any(connection.sql(statement).fetchall()[0])
    except STATEMENT_ERRORS as error:
        if is_unreadable(error):
            return False
        raise


def is_unreadable(error: Exception) -> bool:
    """Whether an error is about a cell; a stream of batches gives it as an error of the system."""
    if isinstance(error, STATEMENT_ERRORS):
        return isinstance(error, _ABOUT_CELLS)
    return isinstance(error, OSError) and str(error).startswith(_ABOUT_CELLS_IN_STREAMS)


def mended(
    connection: duckdb.DuckDBPyConnection, source: Source, schema: pa.Schema, folder: Path
) -> str:
    """A FROM item that stands for the source; `schema` is that of its columns in our form."""
    path = folder / "mended.arrow"
    named = [pa.field(NAME, pa.string()), pa.field(ORDER, pa.int64())] if source.rows.name else []
    target = pa.schema([*schema, *named])
    with pa.ipc.new_file(path, target) as writer:
        for pieces in _side_by_side(_native(connection, source), _others(source)):
            known = {name: piece.column(name) for piece in pieces for name in piece.schema.names}
            columns = [fitted(known[field.name], field.type) for field in target]
            writer.write_batch(pa.record_batch(columns, schema=target))
    connection.register(_MENDED, pa.ipc.open_file(pa.memory_map(str(path))).read_all())
    return _MENDED


def _native(connection: duckdb.DuckDBPyConnection, source: Source) -> pa.RecordBatchReader:
    """The columns that DuckDB reads, and what names and orders the rows."""
    arrow = _read_by_arrow(source)
    columns = [column_of(name, kind) for name, kind in source.kinds.items() if name not in arrow]
    texts = [_FLAVOUR.name(name) for name in source.rows.checks if name not in arrow]
    if not columns and not source.rows.name:
        columns = [f"1 AS {ORDER}"]  # one column, so that there are rows
    without, marked = (
        replace(source.rows, relation=f"{source.rows.lenient}{option})").select(columns)
        for option in ("'ignore'", "'replace'")
    )
    if not texts:
        return connection.sql(without).to_arrow_reader(_BATCH_ROWS)
    same = ", ".join(f"CASE WHEN o.{text} = m.{text} THEN o.{text} END AS {text}" for text in texts)
    both = f"SELECT o.* REPLACE ({same}) FROM ({without}) o POSITIONAL JOIN ({marked}) m"
    return connection.sql(both).to_arrow_reader(_BATCH_ROWS)


def _others(source: Source) -> Iterator[pa.RecordBatch] | None:
    """The columns that Arrow reads, file by file, in the order of their rows; None without any."""
    names = _read_by_arrow(source)
    if not names:
        return None
    return (
        batch
        for link in source.rows.links
        for batch in pq.ParquetFile(link).iter_batches(_BATCH_ROWS, columns=names)
    )


def _read_by_arrow(source: Source) -> list[str]:
    return [name for name, check in source.rows.checks.items() if not check.texts_alone]


def _side_by_side(
    first: Iterator[pa.RecordBatch], second: Iterator[pa.RecordBatch] | None
) -> Iterator[tuple[pa.RecordBatch, ...]]:
    """The same rows of both, in pieces."""
    if second is None:
        yield from ((batch,) for batch in first)
        return
    one = other = None
    while True:
        if one is None or not len(one):
            one = next((batch for batch in first if len(batch)), None)
        if other is None or not len(other):
            other = next((batch for batch in second if len(batch)), None)
        if one is None and other is None:
            return
        if one is None or other is None:
            raise OSError("The file changed while it was read.")
        length = min(len(one), len(other))
        yield one.slice(0, length), other.slice(0, length)
        one, other = one.slice(length), other.slice(length)
