"""How CSV files that were never opened before are to be read; the steward's alone to see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from onesided.engine.csv_options import TYPE_WORDS, CsvOptions
from onesided.engine.duckdb.connection import literal_path, quoted
from onesided.engine.duckdb.csv_doubts import (
    refuse_cut,
    refuse_doubts,
    refuse_skipped,
    spreadsheet_mark,
)
from onesided.engine.duckdb.csv_format import (
    CsvColumn,
    CsvFiles,
    CsvFormat,
    Dialect,
    header_names,
    readable_files,
)
from onesided.engine.names import check_names
from onesided.engine.packed import check_letters
from onesided.errors import SourceError

_NONE = "(empty)"
_TEXT = "VARCHAR"
#: What a column is tried as, from narrow to wide.
_TYPES = (
    "BOOLEAN",
    "TIME",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP WITH TIME ZONE",
    "BIGINT",
    "DOUBLE",
    _TEXT,
)
_WIDER = {"HUGEINT": "DOUBLE"}
_SNIFFED = (
    "Delimiter, Quote, Escape, Comment, SkipRows, HasHeader, Columns, DateFormat, TimestampFormat"
)


def found_format(
    connection: duckdb.DuckDBPyConnection,
    source: Mapping[Path, tuple[str, Path]],
    said: CsvOptions | None,
) -> tuple[CsvFormat, CsvFiles]:
    """The format of files that were never opened before.

    - `said`: what is certain; without it nothing is refused that can be read somehow.
    """
    options = said or CsvOptions()
    encoding = options.encoding or "utf-8"
    files = readable_files(source, encoding, one_end=False)
    mixed = [check_letters(path, called) for path, called in files.called.items()]
    if any(mixed):
        for path in files.called:
            path.unlink()
        files = readable_files(source, encoding, one_end=True)
    sniffed = {
        path: _sniffed(connection, path, called, options) for path, called in files.called.items()
    }
    first = next(iter(sniffed))
    dialect = replace(
        _common([each for each, _ in sniffed.values()]),
        encoding=encoding,
        decimal=options.decimal or ".",
        thousands=options.thousands or "",
        one_end=any(mixed),
    )
    count = len(sniffed[first][1])
    if said is not None:
        for path, called in files.called.items():
            refuse_skipped(path, called, dialect.delimiter, dialect.skip)
        if options.delimiter is None:
            refuse_cut(files.called, count)
    names = header_names(connection, first, dialect, count)
    check_names(names, files.called[first])
    unknown = [name for name in options.types if name not in names]
    if unknown:
        raise SourceError(f"There is no column {unknown[0]}; there are {', '.join(names)}.")
    candidates = [
        _candidates([each[1] for each in sniffed.values()], place, name, options)
        for place, name in enumerate(names)
    ]
    form = CsvFormat(dialect, tuple(CsvColumn(name, _TEXT) for name in names))
    written = []
    for path, called in files.called.items():
        form.check(connection, path, called)
        target = files.texts[path]
        connection.execute(
            f"COPY (SELECT * FROM {dialect.reader(path, count)}) "
            f"TO {quoted(str(target))} (FORMAT parquet)"
        )
        written.append(literal_path(target))
    texts = f"read_parquet([{', '.join(written)}])"
    columns = _fitting(connection, texts, candidates, dialect)
    named = tuple(replace(column, name=name) for column, name in zip(columns, names, strict=True))
    found = CsvFormat(dialect, named)
    if said is not None:
        patterns = [(each.name, each.type, each.format) for each in named]
        refuse_doubts(connection, texts, patterns, options, header=dialect.header)
    return found, files


def _sniffed(
    connection: duckdb.DuckDBPyConnection, path: Path, called: str, options: CsvOptions
) -> tuple[Dialect, list[CsvColumn]]:
    """What DuckDB takes one file for; it renames columns, so that names are read by `_header`."""
    mark = spreadsheet_mark(path)
    delimiter = options.delimiter or mark
    certain = ["sample_size = -1"]
    certain += [f"delim = {quoted(delimiter)}"] if delimiter else []
    certain += [f"header = {str(options.header).lower()}"] if options.header is not None else []
    certain += ["skip = 1"] if mark else []
    rows = connection.sql(
        f"SELECT {_SNIFFED} FROM sniff_csv({literal_path(path)}, {', '.join(certain)})"
    ).fetchall()
    if not rows:
        raise SourceError(f"{called} holds no row below its header; there is nothing to read.")
    row = rows[0]
    delimiter, quote, escape, comment = ("" if part == _NONE else part for part in row[:4])
    skip = max(int(row[4] or 0), int(bool(mark)))
    dialect = Dialect(delimiter, quote, escape, comment, skip, bool(row[5]))
    formats = {"DATE": row[7], "TIMESTAMP": row[8]}
    columns = []
    for column in row[6]:
        kind = _WIDER.get(column["type"], column["type"])
        kind = kind if kind in _TYPES else _TEXT
        columns.append(CsvColumn(column["name"], kind, formats.get(kind)))
    return dialect, columns


def _common(dialects: Sequence[Dialect]) -> Dialect:
    """The one dialect of all files; those without a quoted cell follow the others."""
    quotes = {each.quote for each in dialects} - {""}
    escapes = {each.escape for each in dialects} - {""}
    bare = {replace(each, quote="", escape="") for each in dialects}
    if len(bare) > 1 or len(quotes) > 1 or len(escapes) > 1:
        raise SourceError(
            "The files are not written alike: give all of them one delimiter, quote and header."
        )
    quote = next(iter(quotes), '"')
    return replace(bare.pop(), quote=quote, escape=next(iter(escapes), quote))


def _candidates(
    sniffed: Sequence[Sequence[CsvColumn]], place: int, name: str, options: CsvOptions
) -> list[CsvColumn]:
    """What the column at this place may be, from narrow to wide."""
    formats = {"DATE": options.date_format, "TIMESTAMP": options.timestamp_format}
    found = {replace(columns[place], name="") for columns in sniffed if place < len(columns)}
    declared = options.types.get(name)
    if declared is not None:
        kind = TYPE_WORDS[declared]
        known = sorted(each.format for each in found if each.type == kind and each.format)
        return [CsvColumn("", kind, formats.get(kind) or next(iter(known), None))]
    for kind, pattern in formats.items():
        if pattern is not None:
            found = {each for each in found if each.type != kind} | {CsvColumn("", kind, pattern)}
    if options.decimal or options.thousands:
        found |= {CsvColumn("", "BIGINT"), CsvColumn("", "DOUBLE")}
    found |= {CsvColumn("", _TEXT)}
    return sorted(found, key=lambda each: (_TYPES.index(each.type), each.format or ""))


def _fitting(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    candidates: Sequence[Sequence[CsvColumn]],
    dialect: Dialect,
) -> list[CsvColumn]:
    """The first candidate of each column that all of its cells fit; a text always does."""
    tests = [
        f"countif(c{place} IS NOT NULL AND ({each.converted(f'c{place}', dialect)}) IS NULL)"
        for place, column in enumerate(candidates)
        for each in column
    ]
    values = [f"count(c{place})" for place in range(len(candidates))]
    row = connection.sql(f"SELECT {', '.join(values + tests)} FROM {source}").fetchall()[0]
    filled, misfits = row[: len(values)], iter(row[len(values) :])
    chosen: list[CsvColumn] = []
    for cells, column in zip(filled, candidates, strict=True):
        missed = [next(misfits) for _ in column]
        if len(column) == 1:  # it was declared
            if cells and missed[0] == cells:
                raise SourceError(
                    f"No cell of column {len(chosen) + 1} is of the type that was said; the likely "
                    "cause is its format, or the decimal mark."
                )
            chosen.append(column[0])
            continue
        fits = [
            each
            for each, wrong in zip(column, missed, strict=True)
            if wrong == 0 and (cells or each.type == _TEXT)
        ]
        chosen.append(fits[0])
    return chosen
