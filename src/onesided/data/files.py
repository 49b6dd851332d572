"""Tables as files, built anew: nothing of the source's own layout reaches them.

Row groups have a fixed number of rows, so that their bounds say nothing about rows that were left
out; the last one is shorter. Metadata comes from the schema alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from onesided.data.values import far_as_text
from onesided.errors import OutputError

ROW_GROUP_ROWS = 122_880


class FileFormat(Enum):
    """What a table is written as; it follows from the ending of the file's name."""

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


def check_format(schema: pa.Schema, path: Path) -> None:
    """Refuse a column that the format of `path` cannot hold; its values do not matter."""
    kind = FileFormat.of(path)
    for field in schema:
        if not _holds(kind, field):
            holding = [each.value for each in FileFormat if _holds(each, field)]
            instead = f"write {' or '.join(holding)}, or " if holding else ""
            raise OutputError(
                f"A {kind.value} file cannot hold the column {field.name}, which is of type "
                f"{field.type}; {instead}choose other columns."
            )


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


def _holds(kind: FileFormat, field: pa.Field) -> bool:
    """Tried with a NULL, since some writers look at types only when rows come."""
    if kind is FileFormat.CSV and _is_binary(field.type):
        return False  # it would hold them as far as they happen to be text
    schema = pa.schema([field.with_nullable(True)])
    try:
        table = pa.Table.from_arrays([pa.nulls(1, field.type)], schema=schema)
        with _WRITERS[kind](pa.BufferOutputStream(), schema) as writer:
            writer.write_table(table)
    except (OSError, pa.ArrowException):
        return False
    return True


def _is_binary(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_binary(kind.value_type)
    kinds = pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary
    return any(each(kind) for each in kinds)


Sink: TypeAlias = Path | pa.NativeFile


def _parquet(sink: Sink, schema: pa.Schema) -> Any:
    # Dictionaries pay for texts alone, and trying them on numbers costs as much as writing them.
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    return pa.parquet.ParquetWriter(sink, schema, compression="snappy", use_dictionary=texts)


@contextmanager
def _csv(sink: Sink, schema: pa.Schema) -> Iterator[Any]:
    with pa.OSFile(str(sink), "wb") if isinstance(sink, Path) else sink as file:
        pa.csv.write_csv(schema.empty_table(), file)
        yield _CsvWriter(file)


@dataclass(frozen=True)
class _CsvWriter:
    """Rows without a header; Arrow's own writer has no words for dates beyond Python's years."""

    file: pa.NativeFile

    def write_table(self, table: pa.Table) -> None:
        columns = [far_as_text(column) for column in table.columns]
        plain = pa.Table.from_arrays(columns, names=table.column_names)
        pa.csv.write_csv(plain, self.file, pa.csv.WriteOptions(include_header=False))


def _arrow(sink: Sink, schema: pa.Schema) -> Any:
    return pa.ipc.new_file(sink, schema)


_WRITERS: dict[FileFormat, Callable[[Sink, pa.Schema], Any]] = {
    FileFormat.PARQUET: _parquet,
    FileFormat.CSV: _csv,
    FileFormat.ARROW: _arrow,
}
