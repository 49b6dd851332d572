"""A private DuckDB, and what may be said of its errors, whose own words can quote cells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from onesided.errors import ReleaseFailed, RequestError, SourceError
from onesided.notebook import in_notebook

Connection = duckdb.DuckDBPyConnection
EngineError = duckdb.Error
#: What a statement raises. DuckDB's words may quote a cell whose bytes are no letters: then Python
#: cannot make its error, and raises this other one in its place.
STATEMENT_ERRORS = (duckdb.Error, UnicodeDecodeError)
OutOfMemory = duckdb.OutOfMemoryException
_INTERRUPTED = "Query interrupted"
#: A condition is evaluated on every row, against what a file's statistics say of its values, and a
#: TRY_CAST gives NULL: pushed into a reader of CSV files, it raises.
_DISABLED = ("statistics_propagation", "type_pushdown", "scalar_fn_pushdown")
#: Without the bar nothing is counted; it is never printed. In a notebook DuckDB wants widgets for
#: it, and nobody is shown a share there.
_COUNTING = ("enable_progress_bar = true", "enable_progress_bar_print = false")
_MAGIC = frozenset("*?[")


@contextmanager
def opening() -> Iterator[None]:
    """What goes wrong while a data set is opened; an engine's own words may quote cells."""
    try:
        with _interruptible():
            yield
    except (*STATEMENT_ERRORS, OSError, pa.ArrowException):
        raise SourceError(
            "The data cannot be read: check that the files are whole, readable and of one schema."
        ) from None


@contextmanager
def releasing() -> Iterator[None]:
    """What goes wrong after the charge: one sentence for all reasons."""
    try:
        with _interruptible():
            yield
    except (*STATEMENT_ERRORS, OSError, pa.ArrowException):
        raise ReleaseFailed(
            "The engine failed after the charge, which stands; check disk, memory and the source, "
            "and ask again."
        ) from None


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C within a statement, which DuckDB reports as an error of its own."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from None
        raise


def connect(
    spill: Path, memory_limit: str | None, threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """A database in memory that spills into the private folder and loads nothing on its own."""
    connection = duckdb.connect()
    for setting in (
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "TimeZone = 'UTC'",
        *(() if in_notebook() else _COUNTING),
        "preserve_insertion_order = true",
        f"disabled_optimizers = '{','.join(_DISABLED)}'",
        f"temp_directory = {quoted(str(spill))}",
    ):
        connection.execute(f"SET {setting}")
    try:
        if memory_limit is not None:
            connection.execute("SET memory_limit = $limit", {"limit": memory_limit})
        if threads is not None:
            connection.execute("SET threads = $threads", {"threads": threads})
    except duckdb.Error:
        raise RequestError("A memory limit looks like 2GB, and threads are at least 1.") from None
    return connection


def quoted(text: str) -> str:
    """A text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def literal_path(path: Path) -> str:
    """A path as a literal that DuckDB reads as the name of this one file, never as a pattern."""
    return quoted("".join(f"[{each}]" if each in _MAGIC else each for each in str(path)))
