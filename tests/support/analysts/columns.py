"""Columns of made tables: whole numbers, choices and moments from a seed, some of them missing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TypeVar

import pyarrow as pa

from onesided.randomness import seeded

Value = TypeVar("Value")
MONEY = pa.decimal128(10, 2)
MOMENT = pa.timestamp("us")


class MadeColumns:
    """A maker of columns of `rows` cells: the same seed makes the same cells."""

    def __init__(self, seed: int, rows: int) -> None:
        self._draws = seeded(seed)
        self.rows = rows

    def whole(self, low: int, high: int) -> list[int]:
        """Whole numbers from `low` to `high`, both of them possible."""
        return [low + int(each) for each in self._draws.below(high - low + 1, self.rows)]

    def skewed(self, low: int, high: int) -> list[int]:
        """Whole numbers of the same range, of which small ones are frequent."""
        return [
            min(pair) for pair in zip(self.whole(low, high), self.whole(low, high), strict=True)
        ]

    def real(self, low: int, high: int, steps: int = 100) -> list[float]:
        """Numbers with a fraction, `steps` of them to one."""
        return [each / steps for each in self.whole(low * steps, high * steps)]

    def money(self, low: int, high: int) -> list[Decimal]:
        """Amounts with two digits after the point, of which small ones are frequent."""
        return [Decimal(each).scaleb(-2) for each in self.skewed(low * 100, high * 100)]

    def choice(self, *values: Value) -> list[Value]:
        """One of the values; a value that is named twice is twice as frequent."""
        return [values[each] for each in self.whole(0, len(values) - 1)]

    def chance(self, percent: int) -> list[bool]:
        """True in so many of a hundred rows."""
        return [each < percent for each in self.whole(0, 99)]

    def missing(self, values: Sequence[Value], percent: int) -> list[Value | None]:
        """The same values, so many of a hundred of them replaced by NULL."""
        return [
            None if gone else value
            for value, gone in zip(values, self.chance(percent), strict=True)
        ]

    def moments(self, first: date, days: int) -> list[datetime]:
        """Moments of so many days, to the second."""
        start = datetime.combine(first, datetime.min.time())
        return [
            start + timedelta(days=day, seconds=second)
            for day, second in zip(
                self.whole(0, days - 1), self.whole(0, 24 * 3600 - 1), strict=True
            )
        ]


def days_of(moments: Sequence[datetime]) -> list[date]:
    """The day of each moment."""
    return [moment.date() for moment in moments]


def spread(of_units: Sequence[Value], unit: Sequence[int]) -> list[Value]:
    """What is true of a unit, in each of its rows; units are numbered from 1."""
    return [of_units[each - 1] for each in unit]


def later(moments: Sequence[datetime], **steps: Sequence[int]) -> list[datetime]:
    """Each moment and so many days, seconds, … after it."""
    return [
        moment + timedelta(**{name: counts[row] for name, counts in steps.items()})
        for row, moment in enumerate(moments)
    ]
