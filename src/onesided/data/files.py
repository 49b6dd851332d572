"""Tables as files, built anew: nothing of the source's own layout reaches them.

Row groups have a fixed number of rows, so that their bounds say nothing about rows that were left
out; the last one is shorter. Metadata comes from the schema alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from onesided.errors import OutputError

ROW_GROUP_ROWS = 122_880


class FileFormat(Enum):
    """What a table is written as; told by the ending of the file's name."""

    PARQUET = ".parquet"
    CSV = ".csv"
    ARROW = ".arrow"

    @classmethod
    def of(cls, path: Path) -> FileFormat:
        """The format that the name of `path` asks for."""
        ending = path.suffix.lower()
        for each in cls:
            if each.value == ending:
                return each
        known = ", ".join(each.value for each in cls)
        raise OutputError(f"{path.name} does not tell its format; let it end in one of {known}.")


def write_batches(batches: Iterable[pa.RecordBatch], schema: pa.Schema, path: Path) -> int:
    """Write `batches` of `schema` to `path` in the format of its ending; the number of rows."""
    plain = schema.remove_metadata()
    rows = 0
    with _WRITERS[FileFormat.of(path)](path, plain) as writer:
        for table in _row_groups(batches, plain):
            writer.write_table(table)
            rows += len(table)
    return rows


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table in memory; see `write_batches`."""
    write_batches(table.to_batches(), table.schema, path)


def read_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file that `write_batches` wrote."""
    with pa.parquet.ParquetFile(path) as file:
        yield from file.iter_batches(batch_size=ROW_GROUP_ROWS)


def _row_groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """The same rows, cut into tables of exactly `ROW_GROUP_ROWS` rows, the last one shorter."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        while rows >= ROW_GROUP_ROWS:
            table = pa.Table.from_batches(waiting).cast(schema)
            yield table.slice(0, ROW_GROUP_ROWS)
            waiting = table.slice(ROW_GROUP_ROWS).to_batches()
            rows -= ROW_GROUP_ROWS
    if rows:
        yield pa.Table.from_batches(waiting).cast(schema)


def _parquet(path: Path, schema: pa.Schema) -> Any:
    # Dictionaries pay for texts alone, and trying them on numbers costs as much as writing them.
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    return pa.parquet.ParquetWriter(path, schema, compression="snappy", use_dictionary=texts)


def _csv(path: Path, schema: pa.Schema) -> Any:
    return pa.csv.CSVWriter(path, schema)


def _arrow(path: Path, schema: pa.Schema) -> Any:
    return pa.ipc.new_file(path, schema)


_WRITERS: dict[FileFormat, Callable[[Path, pa.Schema], Any]] = {
    FileFormat.PARQUET: _parquet,
    FileFormat.CSV: _csv,
    FileFormat.ARROW: _arrow,
}
