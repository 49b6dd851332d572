"""From released counts of cells to their chart: what is handed over is what was released."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from onesided.charts.cells import DrawnCells, DrawnValues, cells_picture
from onesided.charts.parts import DrawnFigure, DrawnKey
from onesided.data.values import python_rows

if TYPE_CHECKING:
    from onesided.charts.picture import Picture
    from onesided.data.cells import HistogramRelease
    from onesided.data.described import DescriptionRelease

_BARS, _VALUES = 40, 8
_ENDS = (0.005, 0.995)
"""A description draws the cells between these quantiles: beyond them they are few and wide."""


def histogram_picture(release: HistogramRelease) -> Picture:
    """A panel of bars for each group."""
    table = release.table
    names = table.column_names
    keys = names[: names.index("from")]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    panels = [
        DrawnCells(
            name=", ".join(map(str, group)) or "all",
            low=[row["from"] for row in rows],
            high=[row["to"] for row in rows],
            values=[row["count"] for row in rows],
            ends=[(row["at_least"], row["at_most"]) for row in rows],
        )
        for group, rows in groups.items()
    ]
    return cells_picture(release.receipt.figure, panels, _table(table))


def description_picture(release: DescriptionRelease, columns: Sequence[str]) -> Picture:
    """A panel for each column that has anything to be drawn."""
    rows = {row["column"]: row for row in release.table.to_pylist()}
    notes = {name: _notes(rows[name]) for name in columns}
    panels: list[DrawnCells | DrawnValues] = []
    for name in columns:
        cells, values = release.histogram(name), release.values(name)
        if len(cells):
            panels.append(_drawn(name, cells, release.quantiles(name, _ENDS), notes[name]))
        elif len(values):
            panels.append(_listed(name, values.slice(0, _VALUES), notes[name]))
    return cells_picture(release.receipt.figure, panels, _table(release.table))


def _notes(row: dict[str, Any]) -> list[str]:
    found = [f"missing: {row['missing']:,.0f}"]
    if row["distinct"] is not None:
        found.append(f"different values: {row['distinct']:,.0f}")
    return [", ".join(found)]


def _drawn(name: str, cells: pa.Table, ends: pa.Table, notes: Sequence[str]) -> DrawnCells:
    """Bars of one width: each cell is spread evenly over those that it reaches."""
    first, last = ends["value"].to_pylist()
    low, high = (list(map(_number, cells[each].to_pylist())) for each in ("from", "to"))
    counts = cells["count"].to_numpy()
    start, end = (low[0], high[-1]) if first is None else (_number(first), _number(last))
    if end <= start:
        start, end = start - 0.5, start + 0.5
    edges = np.linspace(start, end, _BARS + 1)
    whole = np.concatenate([[0.0], np.cumsum(counts)])
    places = np.concatenate([[low[0]], high])
    values = np.diff(np.interp(edges, places, whole))
    is_time = isinstance(cells["from"][0].as_py(), date | datetime)
    shown = [_moment(each) for each in edges] if is_time else edges.tolist()
    return DrawnCells(
        name, shown[:-1], shown[1:], values.tolist(), None, is_time=is_time, notes=notes
    )


def _listed(name: str, values: pa.Table, notes: Sequence[str]) -> DrawnValues:
    rows = values.to_pylist()
    texts = [str(row["value"]) for row in rows]
    figure = DrawnFigure(
        name="units",
        values=[row["count"] for row in rows],
        low=[row["at_least"] for row in rows],
        high=[row["at_most"] for row in rows],
        texts=[f"{row['count']:,.0f}" for row in rows],
        covers="95 % interval",
    )
    return DrawnValues(name, DrawnKey("", texts, [None] * len(rows), ordered=False), figure, notes)


def _table(table: pa.Table) -> tuple[list[str], list[list[str]]]:
    return list(table.column_names), [list(_texts(row)) for row in python_rows(table)]


def _texts(row: Sequence[Any]) -> Iterator[str]:
    for value in row:
        yield "" if value is None else f"{value:,.6g}" if isinstance(value, float) else str(value)


def _number(value: Any) -> float:
    if isinstance(value, datetime):
        return (value - _EPOCH).total_seconds()
    if isinstance(value, date):
        return (datetime(value.year, value.month, value.day) - _EPOCH).total_seconds()
    return float(value)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat()


_EPOCH = datetime(1970, 1, 1)
