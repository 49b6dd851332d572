"""Published series: a CSV file that gets the rows of one part at a time, each part once.

A file is replaced by one with more rows, so that whoever reads it sees whole parts. Of two writers
one waits for the other.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from onesided.data.output import new_files
from onesided.data.private import unwritable
from onesided.errors import OutputError

_PART = "part"


def add_part(file: Path, column: str, value: str, rows: pa.Table) -> bool:
    """Append the rows of one part below its value; False where the file has that part.

    A part without rows is one row of empty cells: it was asked, and nothing was found.
    """
    name = _PART if column in rows.column_names else column
    if not len(rows):
        rows = pa.table({each: [None] for each in rows.column_names})
    texts = pa.array([value] * len(rows), pa.string())
    added = rows.add_column(0, name, texts)
    with _alone(file):
        header = _text(added.slice(0, 0), header=True)
        before = file.read_text(encoding="utf-8") if file.exists() else header
        if not before.startswith(header):
            raise OutputError(
                f"{file} has other columns than this answer; name another folder for the series."
            )
        if value in parts_of(before):
            return False
        with new_files([file], overwrite=True) as workspace:
            fresh = workspace / file.name
            with fresh.open("w", encoding="utf-8", newline="") as target:
                target.write(before + _text(added, header=False))
                target.flush()
                os.fsync(target.fileno())
    return True


def parts_of(content: str) -> set[str]:
    """The parts in the text of a series."""
    rows = csv.reader(content.splitlines(keepends=True))
    next(rows, None)
    return {row[0] for row in rows if row}


def _text(rows: pa.Table, *, header: bool) -> str:
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(rows, sink, pa.csv.WriteOptions(include_header=header))
    return str(sink.getvalue().to_pybytes(), "utf-8")


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """No other writer of this file until the block ends."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        yield
        return
    try:
        lock = (file.parent / f".{file.name}.lock").open("w")
    except OSError:
        raise unwritable(file.parent) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
