"""What DuckDB reads: files or a frame as a FROM item, found at the opening and then frozen.

DuckDB sees files under plain names of its own, links in the private folder, since it would take
the brackets, stars and question marks of a name for a pattern.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from onesided.engine.arrow_total import total_table
from onesided.engine.csv_options import CsvOptions
from onesided.engine.duckdb.connection import literal_path, quoted
from onesided.engine.duckdb.csv_doubts import csv_causes
from onesided.engine.duckdb.csv_finding import found_format
from onesided.engine.duckdb.csv_format import CsvFormat, readable_files
from onesided.engine.duckdb.parquet_format import Check, parquet_columns, parquet_names
from onesided.engine.duckdb.types import column_of, is_refused
from onesided.engine.hive import FolderColumn, agreed_columns, link_folder
from onesided.engine.names import check_names, folded_name
from onesided.engine.remote import check_format
from onesided.engine.sources import Files, Format, file_tag
from onesided.errors import SourceError
from onesided.language import Type

ORDER = "osd_order"
NAME = "osd_name"
FRAME = "osd_frame"
POLICY = "osd_policy"
_VIRTUAL = ("filename", "file_row_number")
_FILE_SHIFT = 2**44
_CSV = "csv"
_TYPED = ("parquet", "frame")
_FOLDER_TYPES = {Type.INTEGER: "BIGINT", Type.DATE: "DATE", Type.TEXT: "VARCHAR"}
_OTHER_FORM = (
    "The account was opened on data of the form {}, and these are {}; give the data the same form."
)


@dataclass(frozen=True)
class Rows:
    """A FROM item and, where rows are units, the expressions that name and order its rows.

    - `added`: columns that the FROM item has and the source does not.
    - `links`: the Parquet files that it reads, in order.
    - `checks`: columns that DuckDB cannot read where a cell does not fit, and how to find that.
    - `lenient`: the FROM item up to what becomes of bytes in texts that are no letters.
    """

    relation: str
    name: str = ""
    order: str = ""
    added: tuple[str, ...] = ()
    links: tuple[Path, ...] = ()
    checks: Mapping[str, Check] = field(default_factory=dict)
    lenient: str = ""

    @property
    def silent(self) -> set[str]:
        """Columns in which DuckDB reads a wrong cell as some value."""
        return {name for name, check in self.checks.items() if not check.raises}

    def kinds(self, connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
        """The names and DuckDB types of the source's own columns, as they are now."""
        bound = connection.sql(f"SELECT * FROM {self.relation}")  # it is not run
        found = zip(bound.columns, map(str, bound.types), strict=True)
        return {name: kind for name, kind in found if name not in self.added}

    def select(self, columns: list[str]) -> str:
        """A statement with these columns, and the names of the rows where units are rows."""
        listed = list(columns)
        if self.name:
            listed += [f"{self.name} AS {NAME}", f"{self.order} AS {ORDER}"]
        return f"SELECT {', '.join(listed)} FROM {self.relation}"


@dataclass(frozen=True)
class Source:
    """Rows, the types of their columns, and the format in which they were found.

    - `frame`: what was registered under `FRAME`, for a table in memory.
    """

    rows: Rows
    kinds: Mapping[str, str]
    format: Mapping[str, Any]
    frame: pa.Table | None = None

    def selected(self, names: Container[str]) -> str:
        """A FROM item with these columns in the form of our types, in the source's order."""
        listed = [column_of(name, kind) for name, kind in self.kinds.items() if name in names]
        listed += [name for name in self.rows.added if name == POLICY and name in names]
        return f"({self.rows.select(listed)})"


def opened_source(
    connection: duckdb.DuckDBPyConnection,
    source: Files | pa.Table,
    folder: Path,
    agreed: Mapping[str, Any] | None = None,
    *,
    rows_named: bool,
    csv: CsvOptions | None = None,
) -> Source:
    """The source as DuckDB reads it.

    - `folder`: private; links and typed copies of CSV files go there.
    - `rows_named`: every row gets a name, which needs a column or two more.
    - `agreed`: the format of an earlier opening. Nothing is found out then, and what has another
      form is refused.
    - `csv`: what is said about CSV files; with it, what is likely to be read wrongly is refused.
    """
    read = None
    if isinstance(source, pa.Table):
        reader, names = "frame", source.column_names
        read, rows = _frame(source, rows_named)
        connection.register(FRAME, read)
    elif source.format is Format.CSV:
        if agreed is not None and agreed["reader"] != _CSV:
            raise SourceError(_OTHER_FORM.format(agreed["reader"], _CSV))
        with csv_causes():
            form, rows = _csv(connection, source, rows_named, folder, agreed, csv)
        return Source(rows, rows.kinds(connection), form.content)
    else:
        reader = "parquet"
        names, rows = _parquet(connection, source, rows_named, folder, agreed)
    kinds = rows.kinds(connection)
    if list(kinds) != list(names):
        raise SourceError("The engine reads the columns under other names; rename them.")
    for name, kind in kinds.items():
        if is_refused(kind, files=reader == "parquet"):
            raise SourceError(
                f"The column {name} is of the type {kind}, which cannot be read; "
                "leave it out or write it as text."
            )
    columns = [{"name": name, "type": kind} for name, kind in kinds.items()]
    found = {"reader": reader, "columns": columns}
    if agreed is not None:
        _check_typed(found, agreed)
    return Source(rows, kinds, found, read)


def _check_typed(found: Mapping[str, Any], agreed: Mapping[str, Any]) -> None:
    """Files and frames that name their types are read by these, which are as public as the names.

    Other engines have other words for the same types: only the names can be held against them.
    """
    if agreed["reader"] == _CSV:
        raise SourceError(_OTHER_FORM.format(agreed["reader"], found["reader"]))
    if agreed["reader"] not in _TYPED:
        check_format(found, agreed)
    elif agreed["columns"] != found["columns"]:
        raise SourceError(_differing(agreed["columns"], found["columns"]))


def _differing(agreed: list[dict[str, Any]], found: list[dict[str, Any]]) -> str:
    """One sentence about the first column in which two formats differ."""
    for number, (one, other) in enumerate(zip(agreed, found, strict=False), start=1):
        if one != other:
            return (
                f"Column {number} was agreed to be {one['name']} of the type {one['type']}, and is "
                f"{other['name']} of the type {other['type']}; give the data the same columns."
            )
    return (
        f"There were {len(agreed)} columns when the account was opened, and now there are "
        f"{len(found)}; give the data the same columns."
    )


def _frame(frame: pa.Table, rows_named: bool) -> tuple[pa.Table, Rows]:
    check_names(frame.column_names, "The table")
    read = total_table(frame)
    if not rows_named:
        return read, Rows(FRAME, added=(POLICY,))
    read = read.append_column(ORDER, pa.array(np.arange(len(read)), pa.int64()))
    return read, Rows(FRAME, f"'{file_tag('')}:' || {ORDER}", ORDER, added=(ORDER, POLICY))


def _parquet(
    connection: duckdb.DuckDBPyConnection,
    files: Files,
    rows_named: bool,
    folder: Path,
    agreed: Mapping[str, Any] | None,
) -> tuple[list[str], Rows]:
    first = files.paths[0]
    before = None if agreed is None else [each["name"] for each in agreed["columns"]]
    named = agreed_columns(files, parquet_names(first), before)
    links = {
        _link(path, link_folder(files, path, folder, named) / f"{tag}.parquet"): tag
        for path, tag in files.tags().items()
    }
    called = dict(zip(links, map(files.relative, files.tags()), strict=True))
    columns = parquet_columns(connection, called)
    names = [*columns, *(each.name for each in named)]
    check_names(names, "The data")
    if rows_named and {folded_name(name) for name in names} & set(_VIRTUAL):
        raise SourceError(
            "Where rows are units no column may be called filename or file_row_number; "
            "rename it, or name the key of the units."
        )
    checks = {name: check for name, check in columns.items() if check is not None}
    return names, _files(links, rows_named, checks, named)


def _csv(
    connection: duckdb.DuckDBPyConnection,
    files: Files,
    rows_named: bool,
    folder: Path,
    agreed: Mapping[str, Any] | None,
    said: CsvOptions | None,
) -> tuple[CsvFormat, Rows]:
    """CSV files as Parquet in the private folder: their rows in order, their types fixed."""
    source = {
        path: (files.relative(path), folder / f"{tag}.csv") for path, tag in files.tags().items()
    }
    if agreed is None:
        form, found = found_format(connection, source, said)
        cells = {path: f"read_parquet({literal_path(text)})" for path, text in found.texts.items()}
    else:
        form = CsvFormat.of(agreed)
        form.check_said(said or CsvOptions())
        dialect = form.dialect
        found = readable_files(source, dialect.encoding, one_end=dialect.one_end)
        for path, called in found.called.items():
            form.check(connection, path, called)
        cells = {path: dialect.reader(path, len(form.columns)) for path in found.called}
    typed = {}
    for path, tag in zip(found.called, files.tags().values(), strict=True):
        target = folder / f"{tag}.parquet"
        connection.execute(
            f"COPY (SELECT {form.typed} FROM {cells[path]}) "
            f"TO {quoted(str(target))} (FORMAT parquet)"
        )
        found.texts[path].unlink(missing_ok=True)
        path.unlink()
        typed[target] = tag
    return form, _files(typed, rows_named, {})


def _files(
    links: Mapping[Path, str],
    rows_named: bool,
    checks: Mapping[str, Check],
    named: Sequence[FolderColumn] = (),
) -> Rows:
    """- `named`: columns that the names of the folders give."""
    paths = ", ".join(map(literal_path, links))
    options = "hive_partitioning = false, can_have_nan = true"
    if named:
        kinds = (f"{quoted(each.name)}: {_FOLDER_TYPES[each.type]}" for each in named)
        options = (
            "hive_partitioning = true, hive_types_autocast = false, "
            f"hive_types = {{{', '.join(kinds)}}}, can_have_nan = true"
        )
    name = order = ""
    if rows_named:
        options += ", filename = true, file_row_number = true"
        name, order = _naming(links)
    return Rows(
        f"read_parquet([{paths}], {options})",
        name,
        order,
        added=_VIRTUAL if rows_named else (),
        links=tuple(links),
        checks=checks,
        lenient=f"read_parquet([{paths}], {options}, utf8_validation = ",
    )


def _naming(links: Mapping[Path, str]) -> tuple[str, str]:
    """The expressions that name and order the rows of the files, each given with its tag."""
    if len(links) == 1:
        return f"'{next(iter(links.values()))}:' || file_row_number", "file_row_number"
    plain = ", ".join(quoted(str(link)) for link in links)
    position = f"list_position([{plain}], filename)"
    tags = ", ".join(f"'{tag}:'" for tag in links.values())
    tag = f"list_extract([{tags}], {position})"
    return f"{tag} || file_row_number", f"{position} * {_FILE_SHIFT} + file_row_number"


def _link(path: Path, link: Path) -> Path:
    link.symlink_to(path)
    return link
