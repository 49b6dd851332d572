"""Files and their columns: names, paths, statistics and formats that were taken for others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from onesided.engine.duckdb import connection as duckdb_connection
from onesided.engine.duckdb import csv_finding, csv_format, parquet_format
from onesided.engine.duckdb import engine as duckdb_engine
from onesided.engine.duckdb import source as duckdb_source
from onesided.engine.duckdb import types as duckdb_types
from support.plants.planting import replaced

_EXPRESSION, _FILES, _OPENED, _PARQUET = (
    duckdb_types.total_expression,
    duckdb_source._files,
    duckdb_source.opened_source,
    duckdb_source._parquet,
)


@contextmanager
def names_that_differ_in_capitals_are_renamed() -> Iterator[None]:
    """Nobody looked at the names, and DuckDB calls the second of two `Age_1`."""

    def opened(connection: Any, source: Any, *rest: Any, **options: Any) -> Any:
        if isinstance(source, pa.Table):
            source = source.rename_columns(_renamed(source.column_names))
        return _OPENED(connection, source, *rest, **options)

    def parquet(*arguments: Any) -> Any:
        rows = _PARQUET(*arguments)[1]
        return list(rows.kinds(arguments[0])), rows

    with (
        _unchecked_names(),
        replaced((duckdb_engine, "opened_source", opened), (duckdb_source, "_parquet", parquet)),
    ):
        yield


@contextmanager
def only_the_first_file_names_the_columns() -> Iterator[None]:
    """Blanks in a header were left out, and headers of further files were not looked at."""

    def alike(connection: Any, files: Mapping[Path, str]) -> None: ...

    def check(form: Any, connection: Any, path: Path, called: str) -> None: ...

    def parquet(*arguments: Any) -> Any:
        rows = _PARQUET(*arguments)[1]
        return list(rows.kinds(arguments[0])), rows

    with (
        _unchecked_names(),
        replaced(
            (parquet_format, "_check_alike", alike),
            (csv_format.CsvFormat, "check", check),
            (duckdb_source, "_parquet", parquet),
        ),
    ):
        yield


@contextmanager
def paths_are_patterns() -> Iterator[None]:
    """DuckDB was given the path of a file, in which it looks for brackets and stars."""

    def plain(path: Path) -> str:
        return duckdb_connection.quoted(str(path))

    with replaced(
        (duckdb_source, "_link", lambda path, link: path),
        *(
            (module, "literal_path", plain)
            for module in (duckdb_source, parquet_format, csv_format)
        ),
    ):
        yield


@contextmanager
def statistics_decide_conditions() -> Iterator[None]:
    """What a file says of its numbers leaves out NaN, and DuckDB decided by it."""

    def expression(column: str, kind: str) -> str:
        if kind in ("FLOAT", "DOUBLE"):
            return column
        return _EXPRESSION(column, kind)

    def files(*arguments: Any) -> Any:
        rows = _FILES(*arguments)
        return replace(rows, relation=rows.relation.replace(", can_have_nan = true", ""))

    disabled = [name for name in duckdb_connection._DISABLED if name != "statistics_propagation"]
    with replaced(
        (duckdb_types, "total_expression", expression),
        (duckdb_source, "_files", files),
        (duckdb_connection, "_DISABLED", tuple(disabled)),
    ):
        yield


@contextmanager
def formats_are_found_again() -> Iterator[None]:
    """How a CSV file is read was found out at every opening."""

    def opened(
        connection: Any, source: Any, folder: Path, agreed: Any = None, **options: Any
    ) -> Any:
        again = agreed is not None and agreed["reader"] == "csv"
        return _OPENED(connection, source, folder, None if again else agreed, **options)

    with replaced((duckdb_engine, "opened_source", opened)):
        yield


@contextmanager
def _unchecked_names() -> Iterator[None]:
    def check(names: Any, called: str) -> None: ...

    with replaced(
        *((module, "check_names", check) for module in (duckdb_source, parquet_format, csv_finding))
    ):
        yield


def _renamed(names: list[str]) -> list[str]:
    """As DuckDB does it: a number behind a name that is there already, capitals or not."""
    known: set[str] = set()
    given = []
    for name in names:
        new, number = name, 0
        while new.lower() in known:
            number += 1
            new = f"{name}_{number}"
        known.add(new.lower())
        given.append(new)
    return given
