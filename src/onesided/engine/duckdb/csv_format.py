"""How CSV files are read: a format that is found once over all of them, and then frozen.

Every cell is read as text and then converted by its column's frozen type and format, so that one
that does not fit is NULL. A row with too few or too many cells is refused at the opening, where
all of the files are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb

from onesided.engine.csv_options import TYPE_WORDS, CsvOptions
from onesided.engine.duckdb.connection import literal_path, quoted
from onesided.engine.duckdb.types import total_expression
from onesided.engine.packed import made_readable
from onesided.errors import SourceError


@dataclass(frozen=True)
class Dialect:
    """How a file is cut into cells, and how its numbers are written.

    - `one_end`: ends of lines of both kinds are in the files, and read as one.
    """

    delimiter: str
    quote: str
    escape: str
    comment: str
    skip: int
    header: bool
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str = ""
    one_end: bool = False

    @property
    def content(self) -> dict[str, Any]:
        """Plain JSON; what was never asked is left out."""
        usual = {"decimal": ".", "thousands": "", "one_end": False}
        return {name: value for name, value in asdict(self).items() if usual.get(name) != value}

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
            "encoding": "'utf-8'",  # what is written otherwise was put into it
        }
        listed = ", ".join(f"{name} = {value}" for name, value in options.items())
        return f"read_csv({literal_path(path)}, {listed})"


@dataclass(frozen=True)
class CsvColumn:
    """A column's name, DuckDB type and, for dates and moments, the format of its texts."""

    name: str
    type: str
    format: str | None = None

    def converted(self, cell: str, dialect: Dialect) -> str:
        """The text `cell` as a value; NULL where it does not fit, and never an error."""
        match self.type:
            case "VARCHAR":
                return cell
            case "BIGINT" | "DOUBLE" if dialect.thousands:
                # Groups of three digits alone: 1.5 is no 15.
                mark, fraction = f"[{dialect.thousands}]", f"([{dialect.decimal}][0-9]+)?"
                grouped = f"[+-]?([0-9]{{1,3}}({mark}[0-9]{{3}})+|[0-9]+)"
                shape = grouped if self.type == "BIGINT" else grouped + fraction
                bare = f"replace({cell}, {quoted(dialect.thousands)}, '')"
                plain = f"replace({bare}, {quoted(dialect.decimal)}, '.')"
                fits = f"regexp_full_match(trim({cell}), {quoted(shape)})"
                return f"CASE WHEN {fits} THEN TRY_CAST({plain} AS {self.type}) END"
            case "DOUBLE" if dialect.decimal != ".":
                plain = f"replace({cell}, {quoted(dialect.decimal)}, '.')"
                return total_expression(
                    f"CASE WHEN NOT contains({cell}, '.') THEN TRY_CAST({plain} AS DOUBLE) END",
                    self.type,
                )
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
        return {"reader": "csv", "dialect": self.dialect.content, "columns": columns}

    @property
    def typed(self) -> str:
        """What selects the values from a FROM item of texts."""
        return ", ".join(
            f"{column.converted(f'c{place}', self.dialect)} AS {_name(column.name)}"
            for place, column in enumerate(self.columns)
        )

    def check(self, connection: duckdb.DuckDBPyConnection, path: Path, called: str) -> None:
        """Refuse a file whose header is another."""
        names = [column.name for column in self.columns]
        if header_names(connection, path, self.dialect, len(names)) != names:
            raise SourceError(
                f"The columns of {called} are not those that were agreed: {', '.join(names)}; "
                "give it the same header."
            )

    def check_said(self, said: CsvOptions) -> None:
        """Refuse options that contradict what was agreed."""
        found = self.dialect
        options = (
            ("delimiter", said.delimiter, found.delimiter),
            ("encoding", said.encoding, found.encoding),
            ("decimal", said.decimal, found.decimal),
            ("thousands", said.thousands, found.thousands),
            ("header", said.header, found.header),
        )
        wrong = [name for name, one, other in options if one is not None and one != other]
        kinds = {column.name: column.type for column in self.columns}
        wrong += [
            f"the type of {each}"
            for each, kind in said.types.items()
            if kinds.get(each) != TYPE_WORDS[kind]
        ]
        formats = (
            ("DATE", "date_format", said.date_format),
            ("TIMESTAMP", "timestamp_format", said.timestamp_format),
        )
        wrong += [
            name
            for kind, name, pattern in formats
            if pattern is not None
            and any(each.type == kind and each.format != pattern for each in self.columns)
        ]
        if wrong:
            raise SourceError(
                f"The account was opened with another way to read CSV files ({', '.join(wrong)}); "
                "leave that option out, or begin a new account."
            )


@dataclass(frozen=True)
class CsvFiles:
    """Files below their own names, and where each is read from.

    - `called`: the readable text of each file, with what the file is called.
    - `texts`: the Parquet files that get the cells of each as texts.
    """

    called: Mapping[Path, str]
    texts: Mapping[Path, Path]


def readable_files(
    files: Mapping[Path, tuple[str, Path]], encoding: str, *, one_end: bool
) -> CsvFiles:
    """The files, unpacked and in UTF-8.

    - `files`: what each is called, and the name in the private folder that it gets.
    """
    called, texts = {}, {}
    for path, (name, target) in files.items():
        made_readable(path, target, name, encoding, one_end=one_end)
        called[target] = name
        texts[target] = target.with_suffix(".text.parquet")
    return CsvFiles(called, texts)


def header_names(
    connection: duckdb.DuckDBPyConnection, path: Path, dialect: Dialect, columns: int
) -> list[str]:
    """The names as they stand in the file, but for blanks around them."""
    if not dialect.header:
        return [f"column{place}" for place in range(columns)]
    reader = dialect.reader(path, columns, with_header=True)
    rows = connection.sql(f"SELECT * FROM {reader} LIMIT 1").fetchall()
    cells = rows[0] if rows else (None,) * columns
    return [(cell or "").strip() or f"column{place}" for place, cell in enumerate(cells)]


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
