"""What charts of answers are made of: keys, figures, and a drawing with its notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from onesided.charts.style import Spec, Theme, one_each
from onesided.visible import visible

NOISE = "hollow: an interval that holds 0, so noise alone may explain it"


@dataclass(frozen=True)
class DrawnKey:
    """A key: how each of its values is written, and where the ordered ones stand on an axis.

    - `places`: numbers, or ISO texts of dates and times; None for values that have no place.
    """

    name: str
    texts: Sequence[str]
    places: Sequence[Any]
    ordered: bool
    is_time: bool = False

    @classmethod
    def of(
        cls, name: str, values: Sequence[Any], texts: Sequence[str], *, ordered: bool
    ) -> DrawnKey:
        """A key with these values; those that only look ordered get no axis."""
        known = [each for each in values if each is not None]
        numbers = all(isinstance(each, int | float) and each == each for each in known)
        times = all(isinstance(each, date | datetime) for each in known)
        if not ordered or not known or not (numbers or times):
            return cls(name, list(texts), [None] * len(values), ordered=False)
        places = [_place(each) for each in values]
        return cls(name, list(texts), places, ordered=True, is_time=times)

    @classmethod
    def of_all(cls, rows: int) -> DrawnKey:
        """No key: all units are one group."""
        return cls("", ["all"] * rows, [None] * rows, ordered=False)

    def labels(self, rows: Sequence[int]) -> list[str]:
        """What an axis shows for these rows."""
        return one_each(visible(self.texts[row]) or "(empty)" for row in rows)


@dataclass(frozen=True)
class DrawnFigure:
    """A figure: numbers to draw, None for what was not counted, and texts to read.

    - `covers`: what the intervals say, in words; empty without any.
    - `from_zero`: lengths mean something, as those of counts do and those of means do not.
    """

    name: str
    values: Sequence[float | None]
    low: Sequence[float | None]
    high: Sequence[float | None]
    texts: Sequence[str]
    covers: str = ""
    from_zero: bool = True

    def row(self, number: int) -> dict[str, Any]:
        """What is drawn of a row."""
        value, low, high = self.values[number], self.low[number], self.high[number]
        upper, text = high if high is not None else value, visible(self.texts[number])
        noise = low is not None and upper is not None and low <= 0 <= upper
        return {
            "value": value,
            "low": low if value is not None else None,
            "high": upper if low is not None and value is not None else None,
            "text": text,
            "noise": noise and bool(self.covers),
            "words": text,
        }


@dataclass(frozen=True)
class Drawing:
    """A drawing without a title, what is to be said of it, and what kind of chart it is."""

    draw: Callable[[Theme], Spec]
    notes: Sequence[str]
    kind: str


def largest(figure: DrawnFigure, most: int) -> list[int]:
    """The rows with the largest values, in their order; all of them where there are few."""
    rows = range(len(figure.values))
    if len(rows) <= most:
        return list(rows)
    ranked = sorted(rows, key=lambda row: (_size(figure.values[row]), row))
    return sorted(ranked[:most], key=lambda row: (_size(figure.values[row]), row))


def folded(figure: DrawnFigure, rows: Sequence[int], what: str) -> list[str]:
    """What is said of the rows that are not drawn."""
    total = len(figure.values)
    if len(rows) == total:
        return []
    return [
        f"The {len(rows)} {what} of {total:,} with the largest {figure.name}; all are in the table."
    ]


def _size(value: float | None) -> float:
    return float("inf") if value is None else -value


def _place(value: Any) -> Any:
    if value is None:
        return None
    return value.isoformat() if isinstance(value, date | datetime) else value
