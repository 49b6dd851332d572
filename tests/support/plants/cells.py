"""Cells that do not fit: how one of them used to make a whole release fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from onesided.engine.duckdb import engine as duckdb_engine
from onesided.engine.duckdb import source as duckdb_source
from onesided.engine.duckdb import types as duckdb_types
from support.plants.planting import replaced

_EXPRESSION, _COLUMNS = duckdb_types.total_expression, duckdb_source.parquet_columns


@contextmanager
def casts_of_coarse_moments_raise() -> Iterator[None]:
    """Moments in seconds and milliseconds were cast, and texts of a frame taken as they are."""

    def expression(column: str, kind: str) -> str:
        if kind.startswith("TIMESTAMP_"):
            return f"CAST({column} AS TIMESTAMP)"
        return _EXPRESSION(column, kind)

    with replaced(
        (duckdb_types, "total_expression", expression),
        (duckdb_source, "total_table", lambda table: table),
    ):
        yield


@contextmanager
def a_policy_in_python_reads_every_cell() -> Iterator[None]:
    """All columns became objects of Python, whether the policy read them or not."""

    def sensitive(
        frame: pa.Table, is_sensitive: Callable[[Mapping[str, Any]], bool], batch_rows: int
    ) -> pa.Array:
        flags = [
            is_sensitive(row)
            for batch in frame.to_batches(max_chunksize=batch_rows)
            for row in batch.to_pylist()
        ]
        return pa.array(flags, pa.bool_())

    with replaced((duckdb_engine, "sensitive_rows", sensitive)):
        yield


@contextmanager
def files_are_read_with_errors() -> Iterator[None]:
    """Zoned moments went through a function that has an end, and no file was ever mended."""

    def expression(column: str, kind: str) -> str:
        if kind == "TIMESTAMP WITH TIME ZONE":
            return f"timezone('UTC', {column})"
        return _EXPRESSION(column, kind)

    def columns(connection: duckdb.DuckDBPyConnection, files: Mapping[Path, str]) -> dict[str, Any]:
        return dict.fromkeys(_COLUMNS(connection, files))

    with replaced(
        (duckdb_types, "total_expression", expression), (duckdb_source, "parquet_columns", columns)
    ):
        yield
