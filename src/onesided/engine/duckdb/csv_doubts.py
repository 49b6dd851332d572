"""What is likely to be read wrongly in CSV files, said in one sentence with its cause.

Only the first opening asks, over all files, and only the steward hears it. What is declared is not
doubted.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from onesided.engine.csv_options import CsvOptions
from onesided.engine.duckdb.connection import quoted
from onesided.errors import SourceError

_DELIMITERS = ";,\t|"
_SHOWN = {"\t": "tab"}
_SPREADSHEET = re.compile(rb"(?:\xef\xbb\xbf)?\"?sep=(.)\"?\r?\n")
_LINE = re.compile(r"CSV Error on Line: (\d+)")
_TEXT = "VARCHAR"
_SAMPLE = 1000
_NUMBER = "[+-]?[0-9]+([.][0-9]+)?"
_MISSING = "(?i:na|n/a|nan|null|none|nil|missing|unknown|-+|[?]|[.])"
_GROUPED = "[+-]?[0-9]{1,3}([.,'’ \u00a0\u202f][0-9]{3})+([.,][0-9]+)?"
_DATE = "[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}"


@dataclass(frozen=True)
class _Doubt:
    """A shape that every cell of a column of texts has, and shapes that some have."""

    every: str
    some: tuple[str, ...]
    words: str


_DOUBTS = (
    _Doubt(
        "[+-]?[0-9]+(,[0-9]+)?",
        ("[+-]?[0-9]+,[0-9]+",),
        'holds numbers with a comma; the likely cause is the decimal mark: say decimal=","',
    ),
    _Doubt(
        f"{_GROUPED}|[+-]?[0-9]+([.,][0-9]+)?",
        (_GROUPED,),
        "holds numbers with marks between thousands; the likely cause is that mark: say thousands, "
        "and decimal where it is a comma",
    ),
    _Doubt(
        f"{_NUMBER}|{_MISSING}",
        (_NUMBER, _MISSING),
        'holds numbers, and words where one is missing; say its type "number", and these are NULL',
    ),
    _Doubt(
        _DATE,
        (_DATE,),
        'holds dates; the likely cause is their format: say date_format, such as "%d.%m.%Y"',
    ),
    _Doubt(
        f"{_DATE}[ T]+[0-9]{{1,2}}:[0-9]{{2}}.*",
        (_DATE + ".*",),
        "holds moments; the likely cause is their format: say timestamp_format, such as "
        '"%d.%m.%Y %H:%M"',
    ),
    _Doubt(
        " .*",
        (" .*",),
        "holds texts that begin with a blank; the likely cause is a blank behind each delimiter: "
        "take it out",
    ),
)


@contextmanager
def csv_causes() -> Iterator[None]:
    """What DuckDB cannot cut into cells, with the likely cause in place of its own words."""
    try:
        yield
    except duckdb.Error as error:
        words = str(error)
        line = _LINE.search(words)
        where = f"Line {line[1]} of a CSV file" if line else "A CSV file"
        if "unterminated quote" in words:
            cause = "has a quotation mark that is never closed; the likely cause is that mark"
        elif "Expected Number of Columns" in words:
            cause = "has more or fewer cells than the header; the likely cause is the delimiter, or"
            cause += " one inside a cell without quotes"
        elif "unicode" in words:
            cause = "is not written in UTF-8; the likely cause is the encoding"
        elif "sniffing" in words or line:
            cause = "cannot be cut into cells; the likely cause is the delimiter, or a quotation "
            cause += "mark within a cell"
        else:
            raise
        raise SourceError(f"{where} {cause}.") from None


def spreadsheet_mark(path: Path) -> str | None:
    """The delimiter that a first line sep=; names, which spreadsheets write and read."""
    with path.open("rb") as file:
        found = _SPREADSHEET.match(file.readline(20))
    return found[1].decode("ascii", "ignore") or None if found else None


def refuse_skipped(path: Path, called: str, delimiter: str, skipped: int) -> None:
    """Refuse to take the first lines for a title where they look like rows."""
    with path.open("rb") as file:
        for number in range(1, skipped + 1):
            line = file.readline().decode(errors="replace")
            if delimiter in line and not line.startswith(("#", "sep=")):
                raise SourceError(
                    f"Line {number} of {called} has another number of cells than those below it; "
                    "the likely cause is a row that has more or fewer cells than the header."
                )


def refuse_cut(files: Mapping[Path, str], columns: int) -> None:
    """Refuse one column where the lines look like several."""
    if columns > 1:
        return
    for path, called in files.items():
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            head = file.readline()
            mark = max(_DELIMITERS, key=head.count)
            if not head.count(mark):
                continue
            file.seek(0)
            reader = csv.reader(file, delimiter=mark)
            width = len(next(reader))
            odd = next((reader.line_num for row in reader if row and len(row) != width), None)
        shown = _SHOWN.get(mark, mark)
        if odd is None:
            raise SourceError(
                f"{called} has one column only; the likely cause is the delimiter: say "
                f'delimiter="{shown}".'
            )
        raise SourceError(
            f"Line {odd} of {called} has more or fewer cells than the header, which has {width} "
            f'with the delimiter "{shown}"; the likely cause is a delimiter inside a cell without '
            "quotes, or a line that was cut off."
        )


def refuse_doubts(
    connection: duckdb.DuckDBPyConnection,
    texts: str,
    columns: Sequence[tuple[str, str, str | None]],
    options: CsvOptions,
    *,
    header: bool,
) -> None:
    """Refuse what is read as something that it is likely not.

    - `texts`: a FROM item of the cells c0, c1, … as they stand.
    - `columns`: names, types and formats as they were found.
    """
    plain = [
        place
        for place, (name, kind, _) in enumerate(columns)
        if kind == _TEXT and name not in options.types
    ]
    if not header and options.header is None and len(plain) == len(columns):
        _refuse_headless(connection, texts, len(columns))
    for place, (name, kind, pattern) in enumerate(columns):
        if name in options.types:
            continue
        if pattern is not None and pattern not in (options.date_format, options.timestamp_format):
            _refuse_order(connection, texts, place, name, pattern)
        if kind == "DOUBLE" and not options.decimal:
            _refuse_long(connection, texts, place, name)
    _refuse_shapes(connection, texts, {place: columns[place][0] for place in plain})


def _refuse_headless(connection: duckdb.DuckDBPyConnection, texts: str, count: int) -> None:
    cells = connection.sql(f"SELECT * FROM {texts} LIMIT 1").fetchall()[0]
    named = [cell for cell in cells if cell]
    if count and named and len(set(named)) == len(named):
        raise SourceError(
            "It is not clear whether the first line of the CSV file is its header; say header=true "
            "or header=false."
        )


def _refuse_order(
    connection: duckdb.DuckDBPyConnection, texts: str, place: int, name: str, pattern: str
) -> None:
    """Dates of which nobody can tell the order of day, month and year."""
    say = (
        "say date_format" if "%H" not in pattern and "%I" not in pattern else "say timestamp_format"
    )
    if "%y" in pattern:
        raise SourceError(
            f"The column {name} holds dates with years of two digits, which can be read in several "
            f'ways; {say}, such as "%d.%m.%y".'
        )
    other = pattern.replace("%d", "\0").replace("%m", "%d").replace("\0", "%m")
    if other == pattern or pattern.startswith("%Y"):
        return
    missed = f"countif(c{place} IS NOT NULL AND try_strptime(c{place}, {quoted(other)}) IS NULL)"
    if not connection.sql(f"SELECT {missed} FROM {texts}").fetchall()[0][0]:
        raise SourceError(
            f"The column {name} holds dates in which either part may be the month; {say}, such "
            f"as {pattern} or {other}."
        )


def _refuse_long(connection: duckdb.DuckDBPyConnection, texts: str, place: int, name: str) -> None:
    """Whole numbers beyond 64 bits would be rounded, and two of them become one."""
    shape = quoted("[+-]?[0-9]{19,}")
    found = connection.sql(
        f"SELECT count(*) FROM {texts} WHERE regexp_full_match(c{place}, {shape})"
    )
    if found.fetchall()[0][0]:
        raise SourceError(
            f"The column {name} holds whole numbers that are too long for a number; say its type "
            "text."
        )


def _refuse_shapes(
    connection: duckdb.DuckDBPyConnection, texts: str, names: Mapping[int, str]
) -> None:
    """Texts that look like something else; few rows are looked at before all of them are."""
    tests = [(place, number) for place in names for number in range(len(_DOUBTS))]
    for part, whole in ((f"(SELECT * FROM {texts} LIMIT {_SAMPLE})", False), (texts, True)):
        if not tests:
            return
        listed = [_holds(place, _DOUBTS[number], whole=whole) for place, number in tests]
        row = connection.sql(f"SELECT {', '.join(listed)} FROM {part}").fetchall()[0]
        tests = [test for test, holds in zip(tests, row, strict=True) if holds]
    for place, number in tests:
        raise SourceError(
            f'The column {names[place]} {_DOUBTS[number].words}; or say its type "text", if it is '
            "one."
        )


def _holds(place: int, doubt: _Doubt, *, whole: bool) -> str:
    """Whether all cells have the shape, and in the whole column some of them each of the others."""
    matches = f"regexp_full_match(c{place}, {{}})"
    other = f"countif(c{place} IS NOT NULL AND NOT {matches.format(quoted(doubt.every))}) = 0"
    some = [f"countif({matches.format(quoted(shape))}) > 0" for shape in doubt.some]
    return " AND ".join([other, *(some if whole else [])])
