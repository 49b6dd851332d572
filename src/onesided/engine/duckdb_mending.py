"""Parquet files with cells that DuckDB cannot read: a copy that has NULL there.

DuckDB stops at text that is not UTF-8, at moments in milliseconds beyond 64 bits of microseconds,
and at times beyond a day. Before a column is used for the first time all of it is read; where that
fails, the table is copied once into the private folder. What DuckDB reads well comes from DuckDB,
and the other columns are read by Arrow, which looks at no cell on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from onesided.engine.arrow_total import fitted
from onesided.engine.duckdb_source import NAME, ORDER, Rows, Source
from onesided.engine.duckdb_types import column_of
from onesided.engine.flavours import DuckDBFlavour

_MENDED = "osd_mended"
_BATCH_ROWS = 122_880
_FLAVOUR = DuckDBFlavour()


def reads_all(connection: duckdb.DuckDBPyConnection, rows: Rows, checks: Mapping[str, str]) -> bool:
    """Whether DuckDB reads every cell of the columns, each given with its check."""
    statement = f"SELECT {', '.join(checks.values())} FROM {rows.relation}"
    try:
        return not any(connection.sql(statement).fetchall()[0])
    except (duckdb.OutOfMemoryException, duckdb.IOException):
        raise
    except duckdb.Error:
        return False


def mended(
    connection: duckdb.DuckDBPyConnection, source: Source, schema: pa.Schema, folder: Path
) -> str:
    """A FROM item that stands for the source; `schema` is that of its columns in our form."""
    path = folder / "mended.arrow"
    whole = _native(connection, source, schema)
    others = _others(source, schema)
    named = [pa.field(NAME, pa.string()), pa.field(ORDER, pa.int64())] if source.rows.name else []
    target = pa.schema([*schema, *named])
    with pa.ipc.new_file(path, target) as writer:
        for one, other in _side_by_side(whole, others):
            columns = [
                (one if name in one.schema.names else other).column(name).cast(field.type)
                for name, field in zip(target.names, target, strict=True)
            ]
            writer.write_batch(pa.record_batch(columns, schema=target))
    connection.register(_MENDED, pa.ipc.open_file(pa.memory_map(str(path))).read_all())
    return _MENDED


def _native(
    connection: duckdb.DuckDBPyConnection, source: Source, schema: pa.Schema
) -> pa.RecordBatchReader:
    """The columns that DuckDB reads, and what names and orders the rows."""
    rows, kinds = source.rows, source.kinds
    columns = [column_of(name, kind) for name, kind in kinds.items() if name not in rows.checks]
    if not columns and not rows.name:
        columns = [f"1 AS {_FLAVOUR.name(ORDER)}"]  # one column, so that there are rows
    return connection.sql(rows.select(columns)).to_arrow_reader(_BATCH_ROWS)


def _others(source: Source, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The other columns, file by file, in the order of their rows."""
    names = [name for name in source.kinds if name in source.rows.checks]
    fields = pa.schema([schema.field(name) for name in names])
    for link in source.rows.links:
        for batch in pq.ParquetFile(link).iter_batches(_BATCH_ROWS, columns=names):
            columns = [fitted(batch.column(field.name), field.type) for field in fields]
            yield pa.record_batch(columns, schema=fields)


def _side_by_side(
    first: Iterator[pa.RecordBatch], second: Iterator[pa.RecordBatch]
) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """The same rows of both, in pieces."""
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
