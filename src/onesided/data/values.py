"""Values of released columns in Python: every value of every type has a form.

Where Python has no value for one it is a text:

- a date or timestamp beyond the years 1 to 9999 is its ISO text, such as `+12024-02-29`;
- bytes in a text that are not UTF-8 become lone surrogates, as in names of files.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_CYCLE = 146_097
"""Days in 400 years, after which the calendar repeats itself, weekdays included."""
_EPOCH = date(1970, 1, 1).toordinal()
_SECONDS = 86_400
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_NO_PYTHON = (OverflowError, ValueError, pa.ArrowException)


def python_values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """As `to_pylist`, for every value that a column may hold."""
    try:
        return list(column.to_pylist())
    except _NO_PYTHON:
        return [_python_value(each) for each in column]


def python_rows(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a table; see `python_values`."""
    return list(zip(*map(python_values, table.columns), strict=True))


def far_as_text(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """The column as ISO texts if it has a date or timestamp that Python cannot hold."""
    if not _has_days(column.type) or getattr(column.type, "unit", "") == "ns":
        return column  # nanoseconds do not reach beyond the year 2262
    per_day = _ticks_a_day(column.type)
    ticks = _ticks(column)
    first, last = ((day.toordinal() - _EPOCH) * per_day for day in (date.min, date.max))
    far = pc.or_(pc.less(ticks, first), pc.greater_equal(ticks, last + per_day))
    if not pc.any(far).as_py():
        return column
    texts = [
        moment_text(tick, column.type) if beyond else None
        for tick, beyond in zip(ticks.to_pylist(), far.to_pylist(), strict=True)
    ]
    usual = pc.if_else(far, pa.scalar(None, column.type), column).cast(pa.string())
    return pc.coalesce(usual, pa.array(texts, pa.string()))


def moment_text(ticks: int, kind: pa.DataType) -> str:
    """The ISO text of a date or timestamp that is `ticks` units of its type after 1970."""
    days, rest = divmod(ticks, _ticks_a_day(kind))
    cycle, day = divmod(days + _EPOCH - 1, _CYCLE)
    within = date.fromordinal(day + 1)
    year = within.year + 400 * cycle
    sign = "" if 0 <= year <= 9999 else "+" if year > 0 else "-"
    text = f"{sign}{abs(year):04}-{within:%m-%d}"
    if not pa.types.is_timestamp(kind):
        return text
    seconds, fraction = divmod(rest, _TICKS[kind.unit])
    digits = len(str(_TICKS[kind.unit])) - 1
    text += f" {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return text + (f".{fraction:0{digits}}" if digits else "") + ("" if kind.tz is None else "Z")


class FarMoment(datetime):
    """A date or timestamp beyond Python's years, to be compared and taken apart.

    It is the same moment of another cycle of 400 years, so that its hour and weekday are right;
    it stands before or after every other date, as its own year does.
    """

    _microseconds: int

    @classmethod
    def at(cls, microseconds: int) -> FarMoment:
        """The moment that is `microseconds` after the start of 1970."""
        days, rest = divmod(microseconds, _SECONDS * 10**6)
        near = datetime(1, 1, 1) + timedelta((days + _EPOCH - 1) % _CYCLE, microseconds=rest)
        moment = cls.combine(near.date(), near.time())
        moment._microseconds = microseconds
        return moment

    def date(self) -> FarMoment:
        return FarMoment.at(self._microseconds // (_SECONDS * 10**6) * (_SECONDS * 10**6))

    def __lt__(self, other: object) -> bool:
        return self._microseconds < self._beside(other)

    def __gt__(self, other: object) -> bool:
        return self._microseconds > self._beside(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FarMoment) and self._microseconds == other._microseconds

    def __hash__(self) -> int:
        return hash(self._microseconds)

    def _beside(self, other: object) -> int:
        """Where the other one stands; all that Python can hold are on one side of this."""
        return other._microseconds if isinstance(other, FarMoment) else 0


def comparable_values(column: pa.ChunkedArray) -> list[Any]:
    """As `python_values`, but far dates and timestamps are moments that can be compared."""
    if not _has_days(column.type):
        return python_values(column)
    per_day = _ticks_a_day(column.type)
    return [
        None if tick is None else _moment(tick * _SECONDS * 10**6 // per_day, column.type)
        for tick in _ticks(column).to_pylist()
    ]


def _moment(microseconds: int, kind: pa.DataType) -> date:
    try:
        moment = datetime(1970, 1, 1) + timedelta(microseconds=microseconds)
    except OverflowError:
        return FarMoment.at(microseconds)
    return moment if pa.types.is_timestamp(kind) else moment.date()


def _python_value(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except _NO_PYTHON:
        pass
    kind = value.type
    if isinstance(value, (pa.DictionaryScalar, pa.ExtensionScalar)):
        return _python_value(value.value)
    if pa.types.is_map(kind):
        items = value.values
        return list(zip(*map(python_values, items.flatten()), strict=True))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [_python_value(each) for each in value.values]
    if pa.types.is_struct(kind):
        return {name: _python_value(each) for name, each in value.items()}
    if _has_days(kind):
        return moment_text(value.value, kind)
    if hasattr(value, "as_buffer"):
        return value.as_buffer().to_pybytes().decode("utf-8", "surrogateescape")
    return str(value.value)


def _has_days(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _ticks(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    narrow = column.cast(pa.int32()) if pa.types.is_date32(column.type) else column
    return narrow.cast(pa.int64())


def _ticks_a_day(kind: pa.DataType) -> int:
    if pa.types.is_date32(kind):
        return 1
    return _SECONDS * (10**3 if pa.types.is_date64(kind) else _TICKS[kind.unit])
