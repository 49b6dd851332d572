"""A released table as people read it: its keys, its figures, and how far each of them may be off.

Tables, charts and terminals show this and nothing else. It follows from the released values and the
receipt alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import pyarrow as pa

from onesided.data.expectation import SIDES, accuracy
from onesided.data.values import python_values
from onesided.digits import ALL_OTHERS, NO_VALUE, ColumnDigits
from onesided.html import Cell
from onesided.visible import visible

_PREFIXES = ("", "nonsensitive_")
_BUCKET, _MEAN = "bucket", "mean"


@dataclass(frozen=True)
class ShownKey:
    """A key and its value in each row; `ordered` keys are numbers, dates and times.

    - `others`: what a value that is missing stands for.
    """

    name: str
    values: tuple[Any, ...]
    ordered: bool
    others: str

    def text(self, row: int) -> str:
        """The key of a row."""
        value = self.values[row]
        return self.others if value is None else visible(str(value))


@dataclass(frozen=True)
class ShownFigure:
    """A figure, its interval where one was released, and its digits.

    - `covers`: what the interval says, in words.
    - `error`: by how much it is off on average, as far as is known.
    - `is_mean`: its size says nothing of how many there are.
    """

    name: str
    values: tuple[Any, ...]
    low: tuple[Any, ...] | None
    high: tuple[Any, ...] | None
    covers: str
    error: float | None
    digits: ColumnDigits
    is_mean: bool = False

    @property
    def heading(self) -> str:
        """Its name, and what its numbers are in."""
        return f"{self.name}, in {self.digits.unit}" if self.digits.unit else self.name

    def number(self, row: int) -> float | None:
        """The value of a row where it is a number."""
        return as_number(self.values[row])

    def ends(self, row: int) -> tuple[Any, Any]:
        """The interval of a row; None for an end that there is not."""
        low = None if self.low is None else self.low[row]
        return low, None if self.high is None else self.high[row]

    def interval(self, row: int) -> str:
        """The interval of a row in words."""
        return self.digits.interval(*self.ends(row))


@dataclass(frozen=True)
class ShownAnswer:
    """All keys and figures of an answer, in the order of its columns."""

    keys: tuple[ShownKey, ...]
    figures: tuple[ShownFigure, ...]
    rows: int

    @classmethod
    def of(
        cls,
        table: pa.Table,
        receipt: Mapping[str, Any],
        figures: Mapping[str, ShownFigure] | None = None,
        *,
        first: int | None = None,
    ) -> ShownAnswer:
        """The answer in `table`.

        - `figures`: those columns whose intervals stand elsewhere.
        - `first`: so many rows are enough.
        """
        by = [name for name in receipt["request"].get("by", ()) if name in table.column_names]
        hidden = {*_bounds_in(receipt["error"]), _BUCKET, *by}
        known = figures or {}
        error = accuracy(receipt["error"], table)
        noise = error.expected if error.expected is not None else _half(error.reach)
        if first is not None:
            table = table.slice(0, first)
        shown: list[ShownFigure] = []
        for name in table.column_names:
            if name in hidden:
                continue
            # The intervals of a table are those of its first figure; others stand beside it.
            own = not shown and figures is None
            shown.append(
                known.get(name)
                or _figure(name, table, noise if own else None, receipt["error"] if own else {})
            )
        if shown and receipt["kind"] == _MEAN:
            shown[0] = replace(shown[0], is_mean=True)
        keys = tuple(_key(name, table.column(name), receipt) for name in by)
        return cls(keys, tuple(shown), len(table))

    def group(self, row: int) -> str:
        """The keys of a row together."""
        return " · ".join(key.text(row) for key in self.keys) or "all"

    @property
    def headings(self) -> tuple[str, ...]:
        """The heading of each column."""
        found = [key.name for key in self.keys]
        for figure in self.figures:
            found += [figure.heading, *([figure.covers] if figure.covers else [])]
        return tuple(map(visible, found))

    def cells(self, rows: int) -> Iterator[list[Cell]]:
        """The first rows: keys, figures with their intervals, and a bar for the first of them."""
        shares = bar_shares(self.figures[0], rows) if self.figures else None
        for row in range(min(rows, self.rows)):
            cells = [Cell(key.text(row), muted=key.values[row] is None) for key in self.keys]
            for place, figure in enumerate(self.figures):
                value = figure.values[row]
                cells.append(Cell(figure.digits.text(value), number=True, muted=value is None))
                if figure.covers:
                    cells.append(Cell(figure.interval(row), number=True, muted=True))
                if place == 0 and shares is not None:
                    cells.append(Cell("", bar=shares[row]))
            yield cells

    def texts(self, table: pa.Table) -> Iterator[tuple[str, ...]]:
        """The rows of `table`, which this shows, with all their columns: bounds have their own."""
        known = {key.name: key for key in self.keys}
        figures = {figure.name: figure for figure in self.figures}
        digits = self.figures[0].digits if self.figures else ColumnDigits(0)
        columns: list[list[str]] = []
        for name in table.column_names:
            if name in known:
                columns.append([known[name].text(row) for row in range(self.rows)])
                continue
            if name in figures:
                write, values = figures[name].digits.text, figures[name].values
            else:
                write = digits.lower if name.endswith("at_least") else digits.upper
                write = digits.text if name == _BUCKET else write
                values = tuple(python_values(table.column(name)))
            columns.append([write(value) for value in values])
        return zip(*columns, strict=True)

    @property
    def has_bars(self) -> bool:
        """Whether the first figure gets bars: of several values, of which one is above zero."""
        return bool(self.figures) and bar_shares(self.figures[0], self.rows) is not None


def bar_shares(figure: ShownFigure, rows: int) -> list[float] | None:
    """How long the bar of each row is; None where bars say nothing."""
    numbers = [figure.number(row) or 0.0 for row in range(min(rows, len(figure.values)))]
    most = max(numbers, default=0.0)
    if len(numbers) < 2 or most <= 0:
        return None
    return [max(each, 0.0) / most for each in numbers]


def as_number(value: Any) -> float | None:
    """A number that can be drawn."""
    if value is None or isinstance(value, bool | str):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def shown_figure(
    name: str, table: pa.Table, receipt: Mapping[str, Any], column: str
) -> ShownFigure:
    """The figure in `column` of a released table, under another name."""
    error = accuracy(receipt["error"], table)
    noise = error.expected if error.expected is not None else _half(error.reach)
    figure = _figure(name, table, noise, receipt["error"], column)
    return replace(figure, is_mean=receipt["kind"] == _MEAN)


def _figure(
    name: str,
    table: pa.Table,
    noise: float | None,
    error: Mapping[str, Any],
    column: str | None = None,
) -> ShownFigure:
    values = tuple(python_values(table.column(column or name)))
    names = _ends(table.column_names) if error else (None, None)
    low, high = (
        None if each is None else tuple(python_values(table.column(each))) for each in names
    )
    whole = pa.types.is_integer(table.schema.field(column or name).type)
    digits = ColumnDigits.of(values, error=noise, whole=whole)
    return ShownFigure(name, values, low, high, _covers(error, names), noise, digits)


def _key(name: str, column: pa.ChunkedArray, receipt: Mapping[str, Any]) -> ShownKey:
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    ordered = (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_temporal(kind)
    )
    listed = _domains(receipt).get(name)
    others = ALL_OTHERS if isinstance(listed, Sequence) and None in listed else NO_VALUE
    return ShownKey(name, tuple(python_values(column)), ordered, others)


def _domains(receipt: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of keys that were declared, in the request or in that of the first figure."""
    request = receipt["request"]
    if "domain" not in request and receipt.get("figures"):
        request = next(iter(receipt["figures"].values()))["request"]
    found = request.get("domain")
    return found if isinstance(found, Mapping) else {}


def _ends(names: Sequence[str]) -> tuple[str | None, str | None]:
    """The columns of the interval that says most: both ends before one, all units before some."""
    for prefix in _PREFIXES:
        for low, high in SIDES:
            if {prefix + low, prefix + high} <= set(names):
                return prefix + low, prefix + high
    for prefix in _PREFIXES:
        if f"{prefix}at_least" in names:
            return f"{prefix}at_least", None
    return None, None


def _covers(error: Mapping[str, Any], names: tuple[str | None, ...]) -> str:
    for each in error.get("intervals", ()):
        if names[0] is not None and names[0] in each["columns"]:
            sure = each["confidence"]
            share = sure if sure == "certain" else f"{float(sure):.0%}"
            if "non-sensitive" in each["bound"]:
                return f"{share}, of non-sensitive units"
            return f"{share} interval" if share != "certain" else "certain bound"
    return ""


def _bounds_in(error: Mapping[str, Any]) -> set[str]:
    return {name for each in error.get("intervals", ()) for name in each["columns"]}


def _half(reach: float | None) -> float | None:
    return None if reach is None else reach / 2
