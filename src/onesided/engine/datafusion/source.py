"""Rows as DataFusion reads them: batches of Arrow, from files or a frame.

DataFusion's own readers stop at a cell that is no value of its type. So Parquet files are read by
Arrow, which looks at no cell, into one file of Arrow's format in the private folder. It is mapped
into memory, not loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from onesided.engine.datafusion.columns import fields_of, readable
from onesided.engine.hive import FolderColumn, agreed_columns
from onesided.engine.names import check_names
from onesided.engine.sources import Files, Format, file_tag
from onesided.errors import SourceError
from onesided.language import Schema, Type

NAME = "osd_name"
ORDER = "osd_order"
BATCH_ROWS = 122_880
_FOLDER_TYPES = {Type.INTEGER: pa.int64(), Type.DATE: pa.date32(), Type.TEXT: pa.string()}


@dataclass(frozen=True)
class ArrowSource:
    """Rows in the form of our types; where rows are units also their names and places.

    - `format`: the columns as they were found, in plain JSON.
    """

    rows: pa.Table
    schema: Schema
    format: Mapping[str, Any]


def from_frame(frame: pa.Table, *, rows_named: bool) -> ArrowSource:
    """A table in memory."""
    check_names(frame.column_names, "The table")
    part = (file_tag(""), frame.to_batches(BATCH_ROWS))
    batches = list(_batches([part], frame.schema, rows_named))
    return _source(pa.Table.from_batches(batches), frame.schema)


def from_files(
    files: Files, folder: Path, agreed: Sequence[str] | None, *, rows_named: bool
) -> ArrowSource:
    """Parquet files, copied into the private folder.

    - `agreed`: the columns of the account, where there is one.
    """
    if files.format is not Format.PARQUET:
        raise SourceError(
            "DataFusion is not given CSV files, whose types would be guessed differently; open "
            "them without a connection, or write them as Parquet."
        )
    schema = _one_schema(files)
    named = agreed_columns(files, schema.names, agreed)
    for column in named:
        schema = schema.append(pa.field(column.name, _FOLDER_TYPES[column.type]))
    check_names(schema.names, "The data")
    path = folder / "rows.arrow"
    batches = _batches(_read(files, named), schema, rows_named)
    first = next(batches)
    with pa.ipc.new_file(path, first.schema) as writer:
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(batch)
    return _source(pa.ipc.open_file(pa.memory_map(str(path))).read_all(), schema)


def _source(rows: pa.Table, schema: pa.Schema) -> ArrowSource:
    columns = [{"name": field.name, "type": str(field.type)} for field in schema]
    return ArrowSource(
        rows, Schema.of(fields_of(schema)), {"reader": "datafusion", "columns": columns}
    )


def _one_schema(files: Files) -> pa.Schema:
    """The columns of all files, which are the same."""
    first, *rest = files.paths
    schema = _file(first).schema_arrow.remove_metadata()
    check_names(schema.names, "The data")
    for path in rest:
        if _file(path).schema_arrow.remove_metadata() != schema:
            raise SourceError(
                f"The files {files.relative(first)} and {files.relative(path)} do not have the "
                "same columns in the same order and of the same types; write them alike."
            )
    return schema


def _file(path: Path) -> pq.ParquetFile:
    return pq.ParquetFile(path, coerce_int96_timestamp_unit="us")


def _read(
    files: Files, named: Sequence[FolderColumn]
) -> Iterator[tuple[str, Iterator[pa.RecordBatch]]]:
    """What each file is called, and its rows with what its folders say."""
    for path, tag in files.tags().items():
        yield tag, (_placed(batch, path, named) for batch in _file(path).iter_batches(BATCH_ROWS))


def _placed(batch: pa.RecordBatch, path: Path, named: Sequence[FolderColumn]) -> pa.RecordBatch:
    batch = batch.replace_schema_metadata(None)
    for column in named:
        value = pa.scalar(column.values[path], _FOLDER_TYPES[column.type])
        batch = batch.append_column(column.name, pa.repeat(value, len(batch)))
    return batch


def _batches(
    parts: Iterable[tuple[str, Iterable[pa.RecordBatch]]], schema: pa.Schema, rows_named: bool
) -> Iterator[pa.RecordBatch]:
    """The rows of all parts in the form of our types; the first batch is empty."""
    order = 0
    empty = ("", [pa.RecordBatch.from_pylist([], schema)])
    for tag, batches in chain([empty], parts):
        first = order
        for batch in batches:
            read = readable(batch)
            yield _named(read, tag, order - first, order) if rows_named else read
            order += len(batch)


def _named(batch: pa.RecordBatch, tag: str, place: int, order: int) -> pa.RecordBatch:
    """With two columns more: what each row is called, and where it stands in the whole."""
    steps = np.arange(len(batch))
    numbers = pa.array(place + steps, pa.int64()).cast(pa.string())
    names = pc.binary_join_element_wise(tag, numbers, ":")
    places = pa.array(order + steps, pa.int64())
    return batch.append_column(NAME, names).append_column(ORDER, places)
