"""How CSV files are read: found once over all of them, and frozen from then on.

Every cell is read as text and then converted by its column's frozen type and format, so that one
that does not fit is NULL. A row with too few or too many cells is refused at the opening, where
all of the files are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from onesided.engine.duckdb.connection import literal_path, quoted
from onesided.engine.duckdb.types import total_expression
from onesided.engine.names import check_names
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


@dataclass(frozen=True)
class Dialect:
    """How a file is cut into cells."""

    delimiter: str
    quote: str
    escape: str
    comment: str
    skip: int
    header: bool
    encoding: str = "utf-8"

    def reader(self, path: Path, columns: int, *, with_header: bool = False) -> str:
        """A FROM item: the cells as texts c0, c1, …; the header as a row where that is asked."""
        names = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(columns))
        header = self.header and not with_header
        options = {
            "columns": f"{{{names}}}",
            "auto_detect": "false",
            "delim": quoted(self.delimiter),
            "quote": quoted(self.quote),
            "escape": quoted(self.escape),
            "comment": quoted(self.comment),
            "skip": str(self.skip),
            "header": str(header).lower(),
            "encoding": quoted(self.encoding),
        }
        listed = ", ".join(f"{name} = {value}" for name, value in options.items())
        return f"read_csv({literal_path(path)}, {listed})"


@dataclass(frozen=True)
class CsvColumn:
    """A column's name, DuckDB type and, for dates and moments, the format of its texts."""

    name: str
    type: str
    format: str | None = None

    def converted(self, cell: str) -> str:
        """The text `cell` as a value; NULL where it does not fit, and never an error."""
        match self.type:
            case "VARCHAR":
                return cell
            case "BIGINT":
                # A cast alone would round 1.5.
                whole = f"regexp_full_match({cell}, '\\s*[+-]?[0-9]+\\s*')"
                return f"CASE WHEN {whole} THEN TRY_CAST({cell} AS BIGINT) END"
            case "DATE":
                return (
                    f"TRY_CAST(try_strptime({cell}, {quoted(self.format or '%Y-%m-%d')}) AS DATE)"
                )
            case "TIMESTAMP" if self.format is not None:
                return f"try_strptime({cell}, {quoted(self.format)})"
            case "TIMESTAMP":
                # A cast alone would leave out an offset.
                zoned = f"regexp_matches({cell}, ':[0-9.]+\\s*([zZ]|[+-][0-9:]+)\\s*$')"
                return f"CASE WHEN NOT {zoned} THEN TRY_CAST({cell} AS TIMESTAMP) END"
            case _:
                return total_expression(f"TRY_CAST({cell} AS {self.type})", self.type)


@dataclass(frozen=True)
class CsvFormat:
    """A dialect and the columns, in order."""

    dialect: Dialect
    columns: tuple[CsvColumn, ...]

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> CsvFormat:
        """The format that `content` gave."""
        columns = tuple(CsvColumn(**column) for column in content["columns"])
        return cls(Dialect(**content["dialect"]), columns)

    @property
    def content(self) -> dict[str, Any]:
        """Plain JSON."""
        columns = [
            {name: value for name, value in asdict(column).items() if value is not None}
            for column in self.columns
        ]
        return {"reader": "csv", "dialect": asdict(self.dialect), "columns": columns}

    @property
    def typed(self) -> str:
        """What selects the values from a FROM item of texts."""
        return ", ".join(
            f"{column.converted(f'c{place}')} AS {_name(column.name)}"
            for place, column in enumerate(self.columns)
        )

    def check(self, connection: duckdb.DuckDBPyConnection, path: Path, called: str) -> None:
        """Refuse a file whose header is another."""
        names = [column.name for column in self.columns]
        if _header(connection, path, self.dialect, len(names)) != names:
            raise SourceError(
                f"The columns of {called} are not those that were agreed: {', '.join(names)}; "
                "give it the same header."
            )


def found_format(
    connection: duckdb.DuckDBPyConnection, paths: Mapping[Path, str], texts: Mapping[Path, Path]
) -> CsvFormat:
    """The format of files that were never opened before; the steward's alone to see.

    - `paths`: the files, with what they are called.
    - `texts`: the Parquet files that get the cells of each as texts.
    """
    sniffed = {path: _sniffed(connection, path) for path in paths}
    first = next(iter(sniffed))
    dialect = _common([each for each, _ in sniffed.values()])
    count = len(sniffed[first][1])
    names = _header(connection, first, dialect, count)
    check_names(names, paths[first])
    candidates = [
        _candidates([each[1] for each in sniffed.values()], place) for place in range(count)
    ]
    found = CsvFormat(dialect, tuple(CsvColumn(name, _TEXT) for name in names))
    written = []
    for path, called in paths.items():
        found.check(connection, path, called)
        target = texts[path]
        connection.execute(
            f"COPY (SELECT * FROM {dialect.reader(path, count)}) "
            f"TO {quoted(str(target))} (FORMAT parquet)"
        )
        written.append(literal_path(target))
    columns = _fitting(connection, f"read_parquet([{', '.join(written)}])", candidates)
    named = tuple(replace(column, name=name) for column, name in zip(columns, names, strict=True))
    return CsvFormat(dialect, named)


def _sniffed(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[Dialect, list[CsvColumn]]:
    """What DuckDB takes one file for; it renames columns, so that names are read by `_header`."""
    row = connection.sql(
        f"SELECT {_SNIFFED} FROM sniff_csv({literal_path(path)}, sample_size = -1)"
    ).fetchall()[0]
    delimiter, quote, escape, comment = ("" if part == _NONE else part for part in row[:4])
    dialect = Dialect(delimiter, quote, escape, comment, int(row[4]), bool(row[5]))
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


def _header(
    connection: duckdb.DuckDBPyConnection, path: Path, dialect: Dialect, columns: int
) -> list[str]:
    """The names as they stand in the file, but for blanks around them."""
    if not dialect.header:
        return [f"column{place}" for place in range(columns)]
    reader = dialect.reader(path, columns, with_header=True)
    rows = connection.sql(f"SELECT * FROM {reader} LIMIT 1").fetchall()
    cells = rows[0] if rows else (None,) * columns
    return [(cell or "").strip() or f"column{place}" for place, cell in enumerate(cells)]


def _candidates(sniffed: Sequence[Sequence[CsvColumn]], place: int) -> list[CsvColumn]:
    """What the files' columns at this place were taken for, from narrow to wide."""
    found = {replace(columns[place], name="") for columns in sniffed if place < len(columns)}
    found |= {CsvColumn("", _TEXT)}
    return sorted(found, key=lambda each: (_TYPES.index(each.type), each.format or ""))


def _fitting(
    connection: duckdb.DuckDBPyConnection, source: str, candidates: Sequence[Sequence[CsvColumn]]
) -> list[CsvColumn]:
    """The first candidate of each column that all of its cells fit; a text always does."""
    tests = [
        f"countif(c{place} IS NOT NULL AND ({each.converted(f'c{place}')}) IS NULL)"
        for place, column in enumerate(candidates)
        for each in column
    ]
    misfits = iter(connection.sql(f"SELECT {', '.join(tests)} FROM {source}").fetchall()[0])
    chosen = []
    for column in candidates:
        fits = [each for each in column if next(misfits) == 0]
        chosen.append(fits[0])
    return chosen


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
