"""What a cell means once it is read: the value that its column's frozen type makes of it, or NULL.

Written from what docs/limits.md says of types, without the code of any engine. Days and moments
beyond Python's calendar are `Far`, which is in order with the others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Self

import pyarrow as pa

from onesided.errors import ReleaseFailed
from onesided.language import Field, Type
from onesided.language.tree import Value
from onesided.language.types import INT64_MAX, INT64_MIN

DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_ERA = 146_097 * DAY
"""After 400 years the calendar repeats, weekdays included."""
_MODERN = 10_957 * DAY
_ENDLESS = 10**30
_LAST_DAY = 2**31 - 1
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")
_NUMBER = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity|nan)", re.I
)
_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]([0-9]{2}:[0-9]{2}(?::[0-9.]{2,9})?))?")
_TRUTHS = {"true": True, "t": True, "1": True, "yes": True, "y": True}
_TRUTHS |= {"false": False, "f": False, "0": False, "no": False, "n": False}


class NotCovered(ReleaseFailed):
    """The reference says nothing about columns of this kind."""


def _beyond(*given: object) -> Any:
    raise NotCovered("the calendar beyond the years 1 to 9999")


class Far(datetime):
    """A moment, or the midnight of a day, that Python's calendar has no place for.

    Its hour and weekday are those of the same moment some eras later or earlier.
    """

    micros: int
    year = month = day = property(_beyond)
    timetuple = isocalendar = __sub__ = _beyond
    replace: Any = _beyond

    def __add__(self, other: timedelta) -> Any:
        raise OverflowError  # as of the calendar's last moment

    @classmethod
    def at(cls, micros: int) -> Self:
        """The moment so many microseconds after 1970."""
        near = _EPOCH + ((micros - _MODERN) % _ERA + _MODERN) * _MICROSECOND
        moment = cls(*near.timetuple()[:6], near.microsecond)
        moment.micros = micros
        return moment

    @property
    def hour(self) -> int:  # an endless moment has none
        return None if abs(self.micros) == _ENDLESS else super().hour  # type: ignore[return-value]

    def isoweekday(self) -> int:
        return None if abs(self.micros) == _ENDLESS else super().isoweekday()  # type: ignore[return-value]

    def date(self) -> date:
        endless = abs(self.micros) == _ENDLESS
        return FarDay.at(self.micros) if endless else day(self.micros // DAY)

    def __lt__(self, other: object) -> bool:
        return self.micros < micros_of(other)

    def __gt__(self, other: object) -> bool:
        return self.micros > micros_of(other)

    def __le__(self, other: object) -> bool:
        return self.micros <= micros_of(other)

    def __ge__(self, other: object) -> bool:
        return self.micros >= micros_of(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, date) and self.micros == micros_of(other)

    def __hash__(self) -> int:
        return hash(self.micros)


class FarDay(Far):
    """A day of that kind; taken for a moment it is the nearest end of the calendar."""

    @property
    def _end(self) -> datetime:
        return datetime.max if self.micros > 0 else datetime.min

    @property
    def hour(self) -> int:
        return self._end.hour

    def isoweekday(self) -> int:
        return self._end.isoweekday()

    def date(self) -> date:
        return self._end.date()


def micros_of(value: Any) -> int:
    """Microseconds since 1970, of a day those of its midnight."""
    if isinstance(value, Far):
        return value.micros
    since = value - (_EPOCH if isinstance(value, datetime) else _EPOCH.date())
    return int(since // _MICROSECOND)


def is_endless(value: Any) -> bool:
    """Whether it is the day or the moment before or after all others."""
    return isinstance(value, Far) and abs(value.micros) == _ENDLESS


def moment(micros: int) -> datetime:
    """The moment so many microseconds after 1970; the last ones stand for no end at all."""
    if abs(micros) == INT64_MAX:
        return Far.at(_ENDLESS if micros > 0 else -_ENDLESS)
    try:
        return _EPOCH + micros * _MICROSECOND
    except OverflowError:
        return Far.at(micros)


def day(days: int) -> date:
    """The day so many days after 1970."""
    if abs(days) == _LAST_DAY:
        return FarDay.at(_ENDLESS if days > 0 else -_ENDLESS)
    try:
        return _EPOCH.date() + timedelta(days=days)
    except OverflowError:
        return FarDay.at(days * DAY)


def arrow_column(values: Sequence[Value], kind: pa.DataType) -> pa.Array:
    """The values as a column of this type."""
    if pa.types.is_timestamp(kind):
        return pa.array([_bits(each, 1, INT64_MAX) for each in values], pa.int64()).cast(kind)
    if pa.types.is_date32(kind):
        return pa.array([_bits(each, DAY, _LAST_DAY) for each in values], pa.int32()).cast(kind)
    return pa.array(values, kind)


def _bits(value: Any, step: int, last: int) -> int | None:
    if value is None:
        return None
    micros = micros_of(value)
    if abs(micros) == _ENDLESS:
        return last if micros > 0 else -last
    return micros // step


def typed_values(column: pa.ChunkedArray) -> list[Value]:
    """The cells of a column of a frame or a Parquet file, which names its type."""
    whole = pa.concat_arrays(column.chunks) if column.chunks else pa.array([], column.type)
    read = _reader(whole.type)
    return [
        read(whole.slice(place, 1)) if whole[place].is_valid else None
        for place in range(len(whole))
    ]


def _reader(kind: pa.DataType) -> Callable[[pa.Array], Value]:
    """What reads a cell of this type that is not NULL."""
    types = pa.types
    if types.is_boolean(kind) or types.is_integer(kind):
        return lambda cell: cell[0].as_py()
    if types.is_floating(kind):
        return lambda cell: _one_nan(cell[0].as_py())
    if types.is_string(kind):
        return lambda cell: _text(cell.view(pa.binary())[0].as_py())
    if types.is_large_string(kind):
        return lambda cell: _text(cell.view(pa.large_binary())[0].as_py())
    if types.is_date32(kind):
        return lambda cell: day(cell.view(pa.int32())[0].as_py())
    if types.is_timestamp(kind) and kind.unit != "ns":
        return lambda cell: _moment_of(cell.view(pa.int64())[0].as_py(), kind)
    if types.is_decimal128(kind) and 0 <= kind.scale <= kind.precision:
        return lambda cell: _decimal(cell[0].as_py(), kind.precision - kind.scale)
    raise NotCovered(str(kind))


def _moment_of(count: int, kind: Any) -> datetime | None:
    factor = 10**6 // _PER_SECOND[kind.unit]
    if abs(count) == INT64_MAX:
        return None if kind.tz is not None else moment(count)
    return moment(count * factor) if factor == 1 or abs(count) <= INT64_MAX // factor else None


def _one_nan(number: float) -> float:
    """All NaN are the same one."""
    return math.nan if math.isnan(number) else number


def _text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _decimal(number: Decimal, whole: int) -> Decimal | None:
    return number if abs(number) < 10**whole else None


def csv_values(column: pa.ChunkedArray, agreed: Mapping[str, Any]) -> list[Value]:
    """The cells of a CSV column, which are bytes, by the type and format that were agreed."""
    kind, form = str(agreed["type"]), agreed.get("format")
    read = _CSV.get(kind)
    if kind in ("DATE", "TIMESTAMP") and form is not None:
        read = lambda text: _by_format(text, kind, str(form))  # noqa: E731
    if read is None:
        raise NotCovered(kind)
    texts = (cell.decode() if cell else None for cell in column.to_pylist())
    return [None if text is None else read(text) for text in texts]


def _whole(text: str) -> int | None:
    number = int(text) if _WHOLE.fullmatch(text) and text.isascii() else None
    return number if number is not None and INT64_MIN <= number <= INT64_MAX else None


def _float(text: str) -> float | None:
    bare = text.strip()
    if not _NUMBER.fullmatch(bare):
        return None
    return float(bare)


def _plain_moment(text: str) -> datetime | None:
    parts = _MOMENT.fullmatch(text.strip())
    if parts is None:
        return None
    time, later = parts[2] or "00:00:00", timedelta(0)
    if time == "24:00:00":
        time, later = "00:00:00", timedelta(days=1)
    try:
        return datetime.fromisoformat(f"{parts[1]} {time}") + later
    except ValueError:
        return None


def _by_format(text: str, kind: str, form: str) -> Value:
    try:
        found = datetime.strptime(text.strip(), form)
    except ValueError:
        return None
    return found.date() if kind == "DATE" else found


_CSV: Mapping[str, Callable[[str], Value]] = {
    "VARCHAR": lambda text: text,
    "BOOLEAN": lambda text: _TRUTHS.get(text.lower()),
    "BIGINT": _whole,
    "DOUBLE": _float,
    "TIMESTAMP": _plain_moment,
}


def server_values(column: pa.ChunkedArray, field: Field, kind: str) -> list[Value]:
    """The cells of a table on a server, which are texts, by the type of their column.

    - `kind`: what the server calls it.
    """
    # Blanks at the end of a text of fixed length are no part of it.
    read = _unpadded if kind.startswith("char(") else _SERVER.get(field.type)
    if read is None:
        raise NotCovered(field.type.value)
    return [None if text is None else read(text) for text in column.to_pylist()]


def _server_moment(text: str) -> datetime | None:
    if text in ("infinity", "-infinity"):
        return None  # no other engine has them
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise NotCovered("a moment beyond the calendar") from None
    return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found


def _server_day(text: str) -> date | None:
    found = _server_moment(text)
    return None if found is None else found.date()


def _unpadded(text: str) -> str:
    return text.rstrip(" ")


def _server_number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise NotCovered("a number in words") from None
    return number if number.is_finite() else None


_SERVER: Mapping[Type, Callable[[str], Value]] = {
    Type.BOOLEAN: lambda text: text == "true",
    Type.INTEGER: int,
    Type.FLOAT: float,
    Type.DECIMAL: _server_number,
    Type.WIDE_INTEGER: int,
    Type.TEXT: lambda text: text,
    Type.TIMESTAMP: _server_moment,
    Type.DATE: _server_day,
}
