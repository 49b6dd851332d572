"""Writers: one table as files of many makes, and as frames in memory.

A source says how a table is handed to `onesided.open`. What a writer cannot hold is no matter here:
then another one is chosen.
"""

from __future__ import annotations

import gzip
import importlib.util
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from onesided.audit.session.cells import DAY, Form
from onesided.engine.duckdb.connection import connect, literal_path

_PER_SECOND = {"s": 1, "ms": 1000}
#: Polars counts milliseconds, in 64 bits.
_POLARS_MOST = (2**63 - 1) // 1000
#: A moment of 96 bits counts days from noon in 4713 BC, in 32 bits.
_INT96_MOST = (2**31 - 2_440_589) * 86_400

Written = Mapping[str, Any]
"""Arguments of `onesided.open` that name the data."""


@dataclass(frozen=True)
class Source:
    """One way to hand over a table.

    - `write`: puts the table into an empty folder.
    - `files`: the data are files, which commands can be given.
    - `needs`: columns without which it is like another one.
    """

    name: str
    form: Form
    write: Callable[[pa.Table, Path], Written]
    files: bool = True
    needs: frozenset[str] = frozenset()


class Unwritable(Exception):
    """The source cannot hold this table."""


def written(source: Source, table: pa.Table, folder: Path) -> Written:
    """The table, handed over."""
    try:
        return source.write(table, folder)
    except Exception as error:  # writers of four makes raise as they like
        raise Unwritable(source.name) from error


def _pyarrow(
    table: pa.Table, folder: Path, name: str = "visits.parquet", **options: Any
) -> Written:
    pq.write_table(table, folder / name, **options)
    return {"source": str(folder / name)}


def _several(table: pa.Table, folder: Path) -> Written:
    cut = len(table) // 2
    pq.write_table(table.slice(0, cut), folder / "first.parquet")
    pq.write_table(table.slice(cut), folder / "second.parquet")
    return {"source": str(folder)}


def _folders(table: pa.Table, folder: Path) -> Written:
    """A folder for each day of the units' keys; a table without days is one file.

    The names of folders and files are the steward's: which of them there are may follow from a
    sensitive unit, as any of its cells may, and must not be seen.
    """
    if DAY not in table.schema.names:
        return _pyarrow(table, folder)
    days = table.column(DAY).to_pylist()
    for day in sorted(set(days)):
        rows = [place for place, each in enumerate(days) if each == day]
        place = folder / f"{DAY}={day}"
        place.mkdir()
        pq.write_table(_taken(table, rows).drop_columns([DAY]), place / "part.parquet")
    return {"source": str(folder)}


def _taken(table: pa.Table, rows: Sequence[int]) -> pa.Table:
    """Some rows; not every type of Arrow can be taken from, but all can be cut."""
    return pa.concat_tables([table.slice(place, 1) for place in rows])


def _beside_others(table: pa.Table, folder: Path, name: str, other: str) -> Written:
    """A name that a pattern would match with another file, whose rows stand the other way round."""
    turned = table.take(pa.array(range(len(table) - 1, -1, -1)))
    pq.write_table(turned, folder / other)
    return _pyarrow(table, folder, name)


def _duckdb(table: pa.Table, folder: Path, options: str = "") -> Written:
    connection = _writing_duckdb()
    connection.register("handed_over", table)
    path = folder / "visits.parquet"
    connection.execute(
        f"COPY (SELECT * FROM handed_over) TO {literal_path(path)} (FORMAT parquet{options})"
    )
    if pq.read_schema(path).names != table.column_names:
        raise Unwritable("DuckDB renames columns that differ in capitals alone")
    return {"source": str(path)}


@cache
def _writing_duckdb() -> Any:
    return connect(Path.cwd(), None, 1)


def _check_moments(table: pa.Table, most: int) -> None:
    """Moments of whole or thousandth seconds beyond `most` seconds become others when written."""
    for column in table.columns:
        if not pa.types.is_timestamp(column.type) or column.type.unit not in _PER_SECOND:
            continue
        a_second = _PER_SECOND[column.type.unit]
        for each in column.cast(pa.int64()).to_pylist():
            if each is not None and abs(each) > most * a_second:
                raise Unwritable("The moment would be another one")


def _old_moments(table: pa.Table, folder: Path) -> Written:
    _check_moments(table, _INT96_MOST)
    return _pyarrow(table, folder, use_deprecated_int96_timestamps=True)


def _polars(table: pa.Table, folder: Path, **options: Any) -> Written:
    path = folder / "visits.parquet"
    _in_polars(table).write_parquet(path, **options)
    return {"source": str(path)}


def _in_polars(table: pa.Table) -> Any:
    """The table as a frame of Polars, whose panic at a type is no `Exception`."""
    import polars

    _check_moments(table, _POLARS_MOST)
    try:
        for column in table.columns:
            if pa.types.is_timestamp(column.type) and column.type.unit == "s":
                # Polars counts in milliseconds, and lets moments beyond their reach run over.
                column.cast(pa.timestamp("ms", column.type.tz))
    except pa.ArrowInvalid as error:
        raise Unwritable("Polars has no such moment") from error
    try:
        return polars.from_arrow(table)
    except polars.exceptions.PanicException as error:
        raise Unwritable("Polars has no such type") from error


def _csv(
    table: pa.Table,
    folder: Path,
    mark: bytes = b",",
    end: bytes = b"\n",
    files: int = 1,
    turned: bool = False,
) -> Written:
    """`turned`: the columns of every second file stand the other way round."""
    for number in range(files):
        start, stop = (place * len(table) // files for place in (number, number + 1))
        part = table.slice(start, stop - start)
        if turned and number % 2:
            part = part.select(part.column_names[::-1])
        cells = [[name.encode() for name in part.column_names]]
        cells += [list(row) for row in zip(*(each.to_pylist() for each in part), strict=True)]
        lines = [mark.join(_quoted(cell, mark) for cell in row) + end for row in cells]
        (folder / f"visits{number}.csv").write_bytes(b"".join(lines))
    return {"source": str(folder / ("visits0.csv" if files == 1 else "visits*.csv"))}


def _quoted(cell: bytes | None, mark: bytes) -> bytes:
    if cell is None:
        return b""
    if any(sign in cell for sign in (mark, b'"', b"\n", b"\r")):
        return b'"' + cell.replace(b'"', b'""') + b'"'
    return cell


def _gzip(table: pa.Table, folder: Path) -> Written:
    plain = Path(_csv(table, folder)["source"])
    path = folder / "visits0.csv.gz"
    path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()
    return {"source": str(path)}


def _zip(table: pa.Table, folder: Path) -> Written:
    plain = Path(_csv(table, folder)["source"])
    path = folder / "visits0.csv.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("visits0.csv"), plain.read_bytes())
    plain.unlink()
    return {"source": str(path)}


def _encoded(table: pa.Table, folder: Path, encoding: str) -> Written:
    """Texts that the encoding lacks, and bytes that are none, are no matter of this writer."""
    written = _csv(table, folder)
    path = Path(written["source"])
    path.write_bytes(path.read_bytes().decode().encode(encoding))
    return {**written, "csv": {"encoding": encoding}}


def _stream(table: pa.Table, folder: Path) -> Written:
    return {"source": _Stream(table), "name": "visits"}


class _Stream:
    """A table that shows nothing but its batches."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.to_reader(2).__arrow_c_stream__(requested_schema)


def _lazy(table: pa.Table, folder: Path) -> Written:
    return {"source": _in_polars(table).lazy(), "name": "visits"}


def _arrow(table: pa.Table, folder: Path) -> Written:
    return {"source": table, "name": "visits"}


def _arrow_in_batches(table: pa.Table, folder: Path) -> Written:
    cut = len(table) // 2
    parts = (table.slice(0, cut), table.slice(cut))
    return {"source": pa.concat_tables(parts), "name": "visits"}


def _pandas(table: pa.Table, folder: Path) -> Written:
    import pandas

    return {"source": table.to_pandas(types_mapper=pandas.ArrowDtype), "name": "visits"}


def _polars_frame(table: pa.Table, folder: Path) -> Written:
    return {"source": _in_polars(table), "name": "visits"}


def _parquet(by: str, write: Callable[..., Written], **options: Any) -> Source:
    return Source(f"Parquet by {by}", Form.TYPED, partial(write, **options))


PARQUET = (
    _parquet("pyarrow", _pyarrow),
    _parquet("pyarrow, row groups of two", _pyarrow, row_group_size=2),
    _parquet("pyarrow, no statistics", _pyarrow, write_statistics=False),
    _parquet("pyarrow, no dictionary", _pyarrow, use_dictionary=False, data_page_version="2.0"),
    _parquet("pyarrow, old moments", _old_moments),
    _parquet("pyarrow, two files", _several),
)
FOLDERS = (Source("Parquet in folders by day", Form.TYPED, _folders, needs=frozenset({DAY})),)
PATTERNS = tuple(
    _parquet(f"pyarrow, named {name} beside {other}", _beside_others, name=name, other=other)
    for name, other in (("x[1].parquet", "x1.parquet"), ("a*.parquet", "ab.parquet"))
)
DUCKDB = (
    _parquet("DuckDB", _duckdb),
    _parquet("DuckDB, row groups of two", _duckdb, options=", ROW_GROUP_SIZE 2"),
)
POLARS = (
    _parquet("Polars", _polars),
    _parquet("Polars, no statistics", _polars, statistics=False),
)
CSV = (
    Source("CSV", Form.CSV, _csv),
    Source("CSV, semicolons and CRLF", Form.CSV, partial(_csv, mark=b";", end=b"\r\n")),
    Source("CSV, tabs", Form.CSV, partial(_csv, mark=b"\t")),
    Source("CSV, two files", Form.CSV, partial(_csv, files=2)),
    Source("CSV, two files, one turned", Form.CSV, partial(_csv, files=2, turned=True)),
    Source("CSV, gzip", Form.CSV, _gzip),
    Source("CSV, zip", Form.CSV, _zip),
    Source("CSV, cp1252", Form.CSV, partial(_encoded, encoding="cp1252"), files=False),
)
ARROW = (
    Source("Arrow", Form.TYPED, _arrow, files=False),
    Source("Arrow, two batches", Form.TYPED, _arrow_in_batches, files=False),
    Source("Arrow, a stream", Form.TYPED, _stream, files=False),
)
PANDAS = (Source("pandas", Form.TYPED, _pandas, files=False),)
POLARS_FRAMES = (
    Source("Polars frame", Form.TYPED, _polars_frame, files=False),
    Source("Polars lazy frame", Form.TYPED, _lazy, files=False),
)


def sources() -> tuple[Source, ...]:
    """All that can be written here: Polars and pandas are extras."""
    found = (*PARQUET, *FOLDERS, *PATTERNS, *DUCKDB, *CSV, *ARROW)
    if importlib.util.find_spec("polars") is not None:
        found += (*POLARS, *POLARS_FRAMES)
    if importlib.util.find_spec("pandas") is not None:
        found += PANDAS
    return found
