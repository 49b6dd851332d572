"""Intervals of what is computed from two released figures: a ratio or a difference of them.

Each figure lies between its bounds with its own confidence. Both do so at once with what is left
when the chances of a miss are added, and what is computed then lies between the least and the most
that the bounds allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data.values import comparable_values

RATIO, DIFFERENCE = "/", "-"
NONE = "none"
_Floats: TypeAlias = NDArray[np.float64]
_Said: TypeAlias = Mapping[str, Any]


class _Figure(Protocol):
    """A released figure."""

    @property
    def table(self) -> pa.Table: ...

    @property
    def receipt(self) -> Any: ...


@dataclass(frozen=True)
class ComputedFrom:
    """`times` · left / right, or `times` · left - right, by the names of the figures."""

    left: str
    right: str
    operation: str
    times: float = 1.0

    def to_json(self, errors: Mapping[str, _Said]) -> dict[str, Any]:
        """What a receipt says of it; `errors` are what those of the figures say."""
        of = {
            "left": self.left,
            "right": self.right,
            "by": self.operation,
            "times": str(self.times),
        }
        return {"of": of, "interval": self._covered(errors[self.left], errors[self.right])}

    def _covered(self, left: _Said, right: _Said) -> dict[str, Any] | str:
        """The interval that both figures have under the same names, and so has this."""
        for one in left.get("intervals", ()):
            for other in right.get("intervals", ()):
                if len(one["columns"]) == 2 and one["columns"] == other["columns"]:
                    level = 1 - _miss(one["confidence"]) - _miss(other["confidence"])
                    parts = f"{self.left} ({one['bound']})", f"{self.right} ({other['bound']})"
                    return {
                        "columns": list(one["columns"]),
                        "bound": f" {self.operation} ".join(parts),
                        "confidence": f"{float(level):g}",
                    }
        return NONE


def _miss(confidence: str) -> Fraction:
    return Fraction(0) if confidence == "certain" else 1 - Fraction(confidence)


def interval_of(
    column: str, computed: Mapping[str, Any], figures: Mapping[str, _Figure]
) -> pa.Table | None:
    """That of a column of an answer, where its receipt says that it has one."""
    said = computed.get(column)
    if said is None or said["interval"] == NONE:
        return None
    tables = {
        name: (each.table, len(each.receipt["request"]["by"])) for name, each in figures.items()
    }
    return _interval_table(column, said, tables)


def _interval_table(
    name: str, said: Mapping[str, Any], figures: Mapping[str, tuple[pa.Table, int]]
) -> pa.Table:
    """The groups that both figures list, what is computed of each, and its bounds.

    A ratio has none where its divisor may be 0.

    - `said`: what the receipt says of it.
    - `figures`: their tables, with the number of their keys.
    """
    of, columns = said["of"], said["interval"]["columns"]
    (left, width), (right, _) = figures[of["left"]], figures[of["right"]]
    rows = {group: row for row, group in enumerate(_groups(right, width))}
    both = [(row, rows[each]) for row, each in enumerate(_groups(left, width)) if each in rows]
    left, right = (
        table.take(pa.array(places, pa.int64()))
        for table, places in zip(
            (left, right), zip(*both, strict=True) if both else ((), ()), strict=True
        )
    )
    names = [left.column_names[width], *columns], [right.column_names[width], *columns]
    one, other = (
        [table[each].cast(pa.float64(), safe=False).to_numpy() for each in listed]
        for table, listed in zip((left, right), names, strict=True)
    )
    one = [float(of["times"]) * each for each in one]
    value, low, high = _computed(one, other, of["by"])
    bounds = {name: value, columns[0]: low, columns[1]: high}
    keys = left.select(range(width))
    arrays = [pa.array(each, from_pandas=True) for each in bounds.values()]
    return pa.table([*keys.columns, *arrays], names=[*keys.column_names, *bounds])


def _computed(one: list[_Floats], other: list[_Floats], by: str) -> tuple[_Floats, ...]:
    (left, left_low, left_high), (right, right_low, right_high) = one, other
    if by == DIFFERENCE:
        return left - right, left_low - right_high, left_high - right_low
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [a / b for a in (left_low, left_high) for b in (right_low, right_high)]
        value = np.where(right == 0, np.nan, left / right)
    known = (right_low > 0) | (right_high < 0)
    least, most = np.min(ends, axis=0), np.max(ends, axis=0)
    return value, np.where(known, least, np.nan), np.where(known, most, np.nan)


def _groups(table: pa.Table, width: int) -> list[tuple[Any, ...]]:
    if width == 0:
        return [()] * len(table)
    columns = [comparable_values(table.column(place)) for place in range(width)]
    return list(zip(*columns, strict=True))
