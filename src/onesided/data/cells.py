"""Released counts of cells, and the quantiles and range counts that are read from them for free."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from onesided.data.release import Receipt, TableRelease, table_of
from onesided.errors import RequestError

if TYPE_CHECKING:
    from onesided.charts.picture import Picture

COUNT_COLUMN, FROM, TO = "count", "from", "to"
USUAL_QUANTILES = (0.25, 0.5, 0.75)
_RANGE = (FROM, TO, COUNT_COLUMN, "at_least", "at_most")
_LEAST_UNIT = 0.5
"""A quantile is that of some unit: a sum of less than that is of none."""

Floats = NDArray[np.float64]


def checked_quantiles(at: Any) -> tuple[float, ...]:
    """The quantiles that are wanted, each from 0 to 1."""
    listed = list(at) if isinstance(at, Sequence) and not isinstance(at, str) else [at]
    if not listed:
        raise RequestError("Say at least one quantile, such as 0.5.")
    for each in listed:
        number = isinstance(each, int | float | np.number) and not isinstance(each, bool)
        if not number or not 0 <= each <= 1:
            raise RequestError("A quantile is a number from 0 to 1, such as 0.5 for the median.")
    return tuple(float(each) for each in listed)


@dataclass(frozen=True)
class Line:
    """The cells of one group: counts, and bounds on the units up to each cell and after it."""

    low: Floats
    high: Floats
    count: Floats
    up_to: tuple[Floats, Floats]
    beyond: tuple[Floats, Floats]

    def quantile(self, quantile: float, step: float | None) -> tuple[float | None, float, float]:
        """The value, and an interval of cells that holds the true one.

        F counts the units up to a cell, and A those after it. The true quantile is in the first
        cell where F is at least 1 and F − q·n = (1 − q)·F − q·A is not below 0. The interval
        begins with the first cell of which that is possible. It ends behind the last of which it is
        not certain. So it fails only if a bound of one fixed cell does.
        """
        least = (1 - quantile) * self.up_to[0] - quantile * self.beyond[1]
        most = (1 - quantile) * self.up_to[1] - quantile * self.beyond[0]
        last = len(self.count) - 1
        possible = np.flatnonzero((most >= 0) & (self.up_to[1] >= 1))
        first = int(possible[0]) if possible.size else last
        doubtful = np.flatnonzero((least < 0) | (self.up_to[0] < 1))
        end = min(int(doubtful[-1]) + 1, last) if doubtful.size else 0
        ends = self.low[first], self._last_value(max(end, first), step)
        sums = np.cumsum(self.count)
        if sums[-1] < 2 * _LEAST_UNIT:
            return None, *ends
        rank = max(quantile * sums[-1], _LEAST_UNIT)
        cell = min(int(np.searchsorted(sums, rank)), last)
        before = sums[cell - 1] if cell else 0.0
        share = (rank - before) / self.count[cell] if self.count[cell] > 0 else 1.0
        inside = self._last_value(cell, step) - self.low[cell]
        return float(self.low[cell] + min(max(share, 0.0), 1.0) * inside), *ends

    def _last_value(self, cell: int, step: float | None) -> float:
        return float(self.high[cell] - (step or 0.0))

    def between(self, first: int, last: int) -> tuple[float, float, float]:
        """The units in cells from `first` to `last`, with bounds."""
        before = (0.0, 0.0) if first == 0 else (self.up_to[0][first - 1], self.up_to[1][first - 1])
        least = max(self.up_to[0][last] - before[1], 0.0)
        most = max(self.up_to[1][last] - before[0], 0.0)
        return float(self.count[first : last + 1].sum()), float(least), float(most)


class CellRelease(TableRelease):
    """Released counts of cells; all that is computed from them is free.

    - `cells`: the released counts, with bounds on the units up to each cell and after it.
    """

    def __init__(self, receipt: Receipt, payload: bytes) -> None:
        super().__init__(receipt, payload)
        self.cells = table_of(payload)
        self._keys = list(self.cells.column_names[: self.cells.column_names.index("cell")])
        asked = receipt["request"]
        self._each = 1 + max(self.cells.column("cell").to_pylist(), default=0)
        self._step = float(Fraction(asked["step"])) if "step" in asked else None

    def at(self, quantiles: Any) -> pa.Table:
        """Any quantiles of each group, with intervals: free, as all of them come from one release.

        The value is NULL where a group seems to be empty.
        """
        wanted = checked_quantiles(quantiles)
        columns: dict[str, list[Any]] = {
            name: [] for name in ("quantile", "value", "at_least", "at_most")
        }
        for line in self._lines():
            for each in wanted:
                found = (each, *line.quantile(each, self._step))
                for column, value in zip(columns.values(), found, strict=True):
                    column.append(value)
        return self._beside_keys(columns, len(wanted))

    def between(self, low: float, high: float) -> pa.Table:
        """The units of each group with values in [`low`, `high`), in whole cells; free.

        Cells that are in the range in part count as a whole: `from` and `to` say what was counted.
        """
        starts = self.cells.column(FROM).to_numpy()[: self._each]
        ends = self.cells.column(TO).to_numpy()[: self._each]
        inside = np.flatnonzero((starts < high) & (ends > low))
        if not len(self.cells):
            return self._beside_keys({name: [] for name in _RANGE}, 1)
        if not inside.size:
            raise RequestError("No cell is in that range; see the bounds of the release.")
        columns: dict[str, list[Any]] = {name: [] for name in _RANGE}
        for line in self._lines():
            found = line.between(int(inside[0]), int(inside[-1]))
            row = (starts[inside[0]].item(), ends[inside[-1]].item(), *found)
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
        return self._beside_keys(columns, 1)

    def side_by_side(self, quantiles: Sequence[float]) -> pa.Table:
        """The keys of each group, and a column for each quantile in their order."""
        wanted = checked_quantiles(quantiles)
        read = self.at(wanted)
        rows = pa.array(range(0, len(read), len(wanted)), pa.int64())
        columns = read.select(self._keys).take(rows).columns
        values = [read["value"].take(pa.compute.add(rows, each)) for each in range(len(wanted))]
        return pa.table([*columns, *values], names=[*self._keys, *map(str, range(len(wanted)))])

    def _beside_keys(self, columns: dict[str, list[Any]], each: int) -> pa.Table:
        rows = np.repeat(np.arange(0, len(self.cells), self._each), each)
        keys = self.cells.select(self._keys).take(pa.array(rows))
        typed = {name: pa.array(values, self._type(name)) for name, values in columns.items()}
        arrays = [*keys.columns, *typed.values()]
        return pa.table(arrays, names=[*self._keys, *typed])

    def _type(self, name: str) -> pa.DataType:
        whole = pa.types.is_integer(self.cells.schema.field(FROM).type)
        return pa.int64() if whole and name in (FROM, TO) else pa.float64()

    def _lines(self) -> Iterator[Line]:
        names = [name for name in self.cells.column_names if name not in (*self._keys, "cell")]
        columns = [self.cells.column(name).to_numpy().astype(np.float64) for name in names]
        for start in range(0, len(self.cells), self._each):
            low, high, count, *bounds = (each[start : start + self._each] for each in columns)
            yield Line(low, high, count, (bounds[0], bounds[1]), (bounds[2], bounds[3]))


class QuantileRelease(CellRelease):
    """Quantiles by group, and the released cells that they were read from."""

    def __init__(self, receipt: Receipt, payload: bytes, quantiles: Sequence[float]) -> None:
        super().__init__(receipt, payload)
        self._table = self.at(quantiles)

    def plot(self) -> Any:
        raise RequestError("Quantiles have no chart of their own; plot their table.")


class HistogramRelease(CellRelease):
    """The units of each group in each cell; or `up_to` its end, in all cells before it as well."""

    def __init__(self, receipt: Receipt, payload: bytes, *, up_to: bool = False) -> None:
        super().__init__(receipt, payload)
        self._payload = payload
        rows = [
            line.between(0 if up_to else cell, cell)
            for line in self._lines()
            for cell in range(self._each)
        ]
        counted = list(zip(*rows, strict=True)) or [()] * 3
        count, least, most = (pa.array(each, pa.float64()) for each in counted)
        cells = self.cells.select([*self._keys, FROM, TO])
        names = [*cells.column_names, COUNT_COLUMN, "at_least", "at_most"]
        self._table = pa.table([*cells.columns, count, least, most], names=names)

    def plot(self) -> Picture:
        """Bars as wide as the cells, one panel for each group."""
        from onesided.data.drawn_cells import histogram_picture

        return histogram_picture(self)

    def cumulative(self) -> HistogramRelease:
        """The units up to the end of each cell, from the same release: free."""
        return HistogramRelease(self.receipt, self._payload, up_to=True)
