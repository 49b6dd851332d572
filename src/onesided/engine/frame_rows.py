"""The rows of a frame as a policy in Python sees them: only the cells that it reads are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa

_UNREADABLE = object()


class UnreadableCell(Exception):
    """A cell that Python cannot hold, such as a date of the year 300000."""


class _Cells:
    """The columns of a batch in Python, each made when it is first read."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.names: list[str] = batch.schema.names
        self._columns = dict(zip(self.names, batch.columns, strict=True))
        self._made: dict[str, list[Any]] = {}

    def column(self, name: str) -> list[Any]:
        if name not in self._made:
            self._made[name] = _values(self._columns[name])
        return self._made[name]


class FrameRow(Mapping[str, Any]):
    """One row; `is_readable` turns False where a cell was read that Python cannot hold."""

    def __init__(self, cells: _Cells, place: int) -> None:
        self._cells, self._place = cells, place
        self.is_readable = True

    def __getitem__(self, name: str) -> Any:
        value = self._cells.column(name)[self._place]
        if value is _UNREADABLE:
            self.is_readable = False
            raise UnreadableCell(f"Python cannot hold what {name} has here.")
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells.names)

    def __len__(self) -> int:
        return len(self._cells.names)


def sensitive_rows(
    frame: pa.Table, is_sensitive: Callable[[Mapping[str, Any]], bool], batch_rows: int
) -> pa.Array:
    """What the function says of every row; one with an unreadable cell is sensitive."""
    flags = []
    for batch in frame.to_batches(max_chunksize=batch_rows):
        cells = _Cells(batch)
        for place in range(batch.num_rows):
            row = FrameRow(cells, place)
            said = is_sensitive(row)
            flags.append(said or not row.is_readable)
    return pa.array(flags, pa.bool_())


def _values(column: pa.Array) -> list[Any]:
    try:
        return list(column.to_pylist())
    except Exception:  # which cell it is shows one by one
        return [_value(column, place) for place in range(len(column))]


def _value(column: pa.Array, place: int) -> Any:
    try:
        return column[place].as_py()
    except Exception:
        return _UNREADABLE
