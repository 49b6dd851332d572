"""A description of the columns of a table, read from one release of counts; all of it is free.

The released counts stand in one table: of each column how many units lack a value, how many
different values there are, and either the units in cells of its values or its frequent values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from onesided.data.cells import COUNT_COLUMN, FROM, TO, Line, checked_quantiles
from onesided.data.receipt import Receipt
from onesided.data.release import TableRelease, table_of
from onesided.data.shown import ShownAnswer
from onesided.digits import ColumnDigits
from onesided.errors import RequestError
from onesided.spelling import meant

if TYPE_CHECKING:
    from onesided.charts.picture import Picture

COLUMN, PART, VALUE = "column", "part", "value"
MISSING, DISTINCT, CELLS, VALUES = "missing", "distinct", "cells", "values"
"""The parts that a column may have."""
AT_LEAST, AT_MOST = "at_least", "at_most"
MOST_VALUES = 100
"""So many of the most frequent values of a column are kept."""
SHOWN_VALUES = 3
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_QUANTILE_NAMES = tuple(f"{share:.0%}" for share in QUANTILES)
_DATE, _TIMESTAMP = "date", "timestamp"
_EPOCH = datetime(1970, 1, 1)

SUMMARY = pa.schema(
    [
        (COLUMN, pa.string()),
        ("type", pa.string()),
        *((f"{MISSING}{end}", pa.float64()) for end in ("", "_at_least", "_at_most")),
        *((f"{DISTINCT}{end}", pa.float64()) for end in ("", "_at_least", "_at_most")),
        *((name, pa.float64()) for name in ("mean", "std", *_QUANTILE_NAMES)),
        (VALUES, pa.string()),
    ]
)
"""One row for each column of the data."""


class DescriptionRelease(TableRelease):
    """The columns of the data, one row each; `cells` are the released counts behind it.

    - `missing`: the units without a value, with a 95 % interval.
    - `distinct`: the values of non-sensitive units, with an interval of 95 % for these.
    - `mean`, `std` and the quantiles: those of numbers, read from counts of all units in cells.
    - `values`: the most frequent values of texts, and the quantiles of dates.
    """

    def __init__(self, receipt: Receipt, payload: bytes) -> None:
        super().__init__(receipt, payload)
        self.cells = table_of(payload)
        self._asked: Mapping[str, Mapping[str, Any]] = {
            each["name"]: each for each in receipt["request"]["columns"]
        }
        rows = [self._row(name) for name in self._asked]
        self._table = pa.Table.from_pylist(rows, schema=SUMMARY)

    @property
    def columns(self) -> tuple[str, ...]:
        """The described columns."""
        return tuple(self._asked)

    def quantiles(self, column: str, at: Any = QUANTILES) -> pa.Table:
        """Any quantiles of a column of numbers or dates, with intervals; free."""
        line = self._line(self._known(column))
        if line is None:
            raise RequestError(f"{column} has values without an order here; see `values`.")
        wanted = checked_quantiles(at)
        found = [(each, *line.quantile(each, self._step(column))) for each in wanted]
        placed = [(each, *(self._placed(column, value) for value in row)) for each, *row in found]
        names = ("quantile", VALUE, AT_LEAST, AT_MOST)
        return pa.table(dict(zip(names, map(list, zip(*placed, strict=True)), strict=True)))

    def values(self, column: str) -> pa.Table:
        """The most frequent values of a column of texts, with the units that have them; free."""
        rows = self._part(self._known(column), VALUES)
        order = np.argsort(-rows[COUNT_COLUMN].to_numpy(), kind="stable")
        return rows.select([VALUE, COUNT_COLUMN, AT_LEAST, AT_MOST]).take(pa.array(order))

    def histogram(self, column: str) -> pa.Table:
        """The released cells of a column of numbers or dates: `from`, `to` and the units; free."""
        rows = self._part(self._known(column), CELLS)
        ends = {
            name: [self._placed(column, each) for each in rows[name].to_pylist()]
            for name in (FROM, TO)
        }
        return pa.table({**ends, COUNT_COLUMN: rows[COUNT_COLUMN]})

    def shown(self, first: int | None = None) -> ShownAnswer:
        """All of it as texts: the numbers of different columns have nothing in common."""
        rows = self._table.slice(0, first).to_pylist()
        said = {name: [_said(name, row) for row in rows] for name in _SHOWN}
        listed = {name: texts for name, texts in said.items() if any(texts)}
        return ShownAnswer.of(pa.table(listed), self.receipt.content)

    def plot(self, column: str | None = None) -> Picture:
        """A chart of each column, or of one of them."""
        from onesided.data.drawn_cells import description_picture

        return description_picture(self, self.columns if column is None else [column])

    def _known(self, column: str) -> str:
        if column not in self._asked:
            raise RequestError(f"{column} was not described{meant(column, self._asked)}.")
        return column

    @cached_property
    def _parts(self) -> dict[tuple[str, str], list[int]]:
        found: dict[tuple[str, str], list[int]] = {}
        named = zip(self.cells[COLUMN].to_pylist(), self.cells[PART].to_pylist(), strict=True)
        for row, each in enumerate(named):
            found.setdefault(each, []).append(row)
        return found

    def _part(self, column: str, part: str) -> pa.Table:
        return self.cells.take(pa.array(self._parts.get((column, part), []), pa.int64()))

    def _line(self, column: str) -> Line | None:
        rows = self._part(column, CELLS)
        if not len(rows):
            return None
        numbers = [rows[name].to_numpy().astype(np.float64) for name in _LINE]
        low, high, count, *bounds = numbers
        return Line(low, high, count, (bounds[0], bounds[1]), (bounds[2], bounds[3]))

    def _step(self, column: str) -> float | None:
        step = self._asked[column].get("step")
        return None if step is None else float(Fraction(step))

    def _row(self, column: str) -> dict[str, Any]:
        row: dict[str, Any] = {COLUMN: column, "type": self._asked[column]["type"]}
        for part in (MISSING, DISTINCT):
            for figure in self._part(column, part).to_pylist():
                ends = {f"{part}_{end}": figure[end] for end in (AT_LEAST, AT_MOST)}
                row |= {part: max(figure[COUNT_COLUMN], 0.0), **ends}
        line = self._line(column)
        if line is None:
            listed = self.values(column)
            if DISTINCT in row:
                # Each value with a count is one that some non-sensitive unit has.
                least = float(np.count_nonzero(listed[COUNT_COLUMN].to_numpy()))
                row |= {name: max(row[name], least) for name in (DISTINCT, f"{DISTINCT}_at_least")}
            return {**row, VALUES: _listed(listed)}
        found = [line.quantile(each, self._step(column))[0] for each in QUANTILES]
        if row["type"] in (_DATE, _TIMESTAMP):
            if found[0] is None:
                return row
            placed = [self._placed(column, each) for each in found]
            said = [f"{name} {each}" for name, each in zip(_QUANTILE_NAMES, placed, strict=True)]
            return {**row, VALUES: ", ".join(said)}
        row |= dict(zip(_QUANTILE_NAMES, found, strict=True))
        return row | _moments(line, self._step(column) or 0.0)

    def _placed(self, column: str, value: float | None) -> Any:
        """A place on the line of a column as a value of it."""
        kind = self._asked[column]["type"]
        if value is None or kind not in (_DATE, _TIMESTAMP):
            return value
        if kind == _DATE:
            return (_EPOCH + timedelta(days=int(value))).date()
        return (_EPOCH + timedelta(microseconds=int(value))).replace(microsecond=0)


_SHOWN = (COLUMN, "type", MISSING, DISTINCT, "mean", "std", *_QUANTILE_NAMES, VALUES)
_LINE = (
    *(FROM, TO, COUNT_COLUMN),
    *("up_to_at_least", "up_to_at_most", "beyond_at_least", "beyond_at_most"),
)


def _moments(line: Line, step: float) -> dict[str, float | None]:
    """Mean and standard deviation of the middles of the cells, each as often as its units."""
    total = float(line.count.sum())
    if total <= 0:
        return {"mean": None, "std": None}
    middle = (line.low + line.high - step) / 2
    mean = float((line.count * middle).sum() / total)
    square = float((line.count * (middle - mean) ** 2).sum() / total)
    return {"mean": mean, "std": square**0.5}


def _listed(values: pa.Table) -> str | None:
    """The first of the values with their units."""
    rows: Sequence[Mapping[str, Any]] = values.slice(0, SHOWN_VALUES).to_pylist()
    digits = ColumnDigits.of([each[COUNT_COLUMN] for each in rows], whole=True)
    said = [f"{each[VALUE]} ({digits.text(each[COUNT_COLUMN])})" for each in rows]
    return ", ".join(said) or None


def _said(name: str, row: Mapping[str, Any]) -> str:
    """A figure as people read it; of a number of units or values the interval as well."""
    value = row[name]
    if not isinstance(value, float):
        return value or ""
    if name not in (MISSING, DISTINCT):
        return ColumnDigits.of([value]).text(value)
    whole, ends = (
        ColumnDigits.of([value], whole=True),
        (row[f"{name}_{AT_LEAST}"], row[f"{name}_{AT_MOST}"]),
    )
    return f"{whole.text(value)} ({whole.interval(*ends)})"
