"""Types of columns as PEP 249 compares them, and the constructors of values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time


@dataclass(frozen=True, eq=False)
class ColumnKind:
    """Equals the type of every column of its kind, by how the type begins in Arrow."""

    beginnings: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other.startswith(self.beginnings)
        return self is other

    def __hash__(self) -> int:
        return hash(self.beginnings)


STRING = ColumnKind(("string", "large_string", "dictionary", "bool"))
BINARY = ColumnKind(("binary", "large_binary", "fixed_size_binary"))
NUMBER = ColumnKind(("int", "uint", "float", "double", "halffloat", "decimal"))
DATETIME = ColumnKind(("date", "time"))
ROWID = ColumnKind(())

Date = date
Time = time
Timestamp = datetime
Binary = bytes


def DateFromTicks(ticks: float) -> date:  # the name is that of PEP 249
    """The day of so many seconds after the start of 1970, in UTC."""
    return TimestampFromTicks(ticks).date()


def TimeFromTicks(ticks: float) -> time:
    """The time of day of so many seconds after the start of 1970, in UTC."""
    return TimestampFromTicks(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime:
    """So many seconds after the start of 1970, in UTC and without a zone."""
    return datetime.fromtimestamp(ticks, UTC).replace(tzinfo=None)
