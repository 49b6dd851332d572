"""Answers beside those of plain DuckDB: the same but for rounding, rows that tie in any order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

Rows = Sequence[Sequence[Any]]

#: Steps of a grid, and totals of units that noise still moves a little.
CLOSE = 5e-3


def comparable(value: Any) -> Any:
    """A cell as one of few types."""
    match value:
        case bool():
            return value
        case Decimal() | int() | float():
            return None if math.isnan(value) else float(value)
        case datetime():
            return value.isoformat()
        case date():
            return datetime(value.year, value.month, value.day).isoformat()
        case _:
            return value


def same(one: Any, other: Any, close: float = CLOSE, apart: float = CLOSE) -> bool:
    """Whether two cells are alike: a share of them apart at most, or so much."""
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(map(comparable, one), map(comparable, other), strict=True)
        return all(same(*pair, close, apart) for pair in pairs)
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=close, abs_tol=apart)
    return bool(one == other)


def difference(found: Rows, plain: Rows, close: float = CLOSE, apart: float = CLOSE) -> str:
    """The first rows that are not alike; nothing where all are."""
    ours, theirs = (
        sorted([tuple(map(comparable, row)) for row in rows], key=_of_keys)
        for rows in (found, plain)
    )
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, and plainly {len(theirs)}"
    for one, other in zip(ours, theirs, strict=True):
        if not all(same(*pair, close, apart) for pair in zip(one, other, strict=True)):
            return f"{one}, and plainly {other}"
    return ""


def _of_keys(row: tuple[Any, ...]) -> list[str]:
    """Sorts by what is no number first, since numbers differ a little."""
    return [str(cell) for cell in row if not isinstance(cell, float)] + [
        f"{cell:020.1f}" for cell in row if isinstance(cell, float)
    ]
