"""What every engine must answer, in plain Python: slow, and written from the definitions alone."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from onesided.engine.base import CountQuery, SampleQuery, Total
from onesided.engine.sources import file_tag

Row = dict[str, Any]
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Reference:
    """A table and the key of its units; without a key every row is one, named by its place."""

    rows: list[Row]
    unit: tuple[str, ...]
    texts: frozenset[str]
    file: str

    @classmethod
    def of(cls, table: pa.Table, unit: tuple[str, ...], file: str = "") -> Reference:
        texts = frozenset(field.name for field in table.schema if field.type == pa.string())
        return cls(table.to_pylist(), unit, texts, file)

    def sample(self, query: SampleQuery) -> list[tuple[Any, ...]]:
        """The rows of the kept units: sorted by key and content, or as they were."""
        chosen = [
            row
            for key, rows in self._units().items()
            if self._is_kept(key, rows, query)
            for row in rows
            if query.where is None or query.where.evaluate(row) is True
        ]
        if self.unit:
            first = [column for column in self.unit if column in query.columns]
            rest = [column for column in query.columns if column not in first]
            texts = [column for column in rest if column in self.texts]
            order = [*first, *(column for column in rest if column not in texts), *texts]
            chosen.sort(key=lambda row: [sortable(row[column]) for column in order])
        return [tuple(row[column] for column in query.columns) for row in chosen]

    def count(self, query: CountQuery) -> list[tuple[Any, ...]]:
        """One tuple a group: its keys, then each figure of all units and of non-sensitive ones."""
        width = max(1, len(query.totals))
        figures: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0] * width)
        for key, rows in self._units().items():
            sensitive = any(query.policy.evaluate(row) is not False for row in rows)
            if query.coins is not None and not self._is_kept(key, rows, query):
                continue
            groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
            for row in rows:
                if query.where is None or query.where.evaluate(row) is True:
                    groups[tuple(_plain(each.evaluate(row)) for each in query.by)].append(row)
            for group in self._cut(key, list(groups), query.max_groups):
                amounts = [_amount(groups[group], total) for total in query.totals] or [1]
                for place, amount in enumerate(amounts):
                    figures[group][2 * place] += amount
                    figures[group][2 * place + 1] += 0 if sensitive else amount
        if not query.by and not figures:
            return [(0, 0) * width]
        order = sorted(figures, key=lambda group: [sortable(each) for each in group])
        return [(*group, *figures[group]) for group in order]

    def _units(self) -> dict[tuple[Any, ...], list[Row]]:
        units: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for place, row in enumerate(self.rows):
            key = tuple(row[column] for column in self.unit) if self.unit else (place,)
            if None not in key:
                units[key].append(row)
        return units

    def _is_kept(
        self, key: tuple[Any, ...], rows: list[Row], query: SampleQuery | CountQuery
    ) -> bool:
        assert query.coins is not None
        if any(query.policy.evaluate(row) is not False for row in rows):
            return False
        coin = hashlib.sha256((query.coins.key + self._text(key)).encode()).hexdigest()
        return coin < query.coins.threshold

    def _text(self, key: tuple[Any, ...]) -> str:
        if not self.unit:
            return f"{file_tag(self.file)}:{key[0]}"
        *first, last = key
        return "".join(map(_delimited, first)) + _piece(last)

    def _cut(
        self, key: tuple[Any, ...], groups: list[tuple[Any, ...]], most: int | None
    ) -> list[tuple[Any, ...]]:
        if most is None or not self.unit:
            return groups
        own = _digest(self._text(key))
        texts: Callable[[tuple[Any, ...]], str] = lambda group: "|".join(  # noqa: E731
            "~" if each is None else _piece(each) for each in group
        )
        return sorted(
            groups,
            key=lambda group: (own ^ _digest(texts(group)), [sortable(each) for each in group]),
        )[:most]


def sortable(value: Any) -> tuple[Any, ...]:
    """NULL first, NaN last, texts by code point."""
    if value is None:
        return (0,)
    if isinstance(value, float) and math.isnan(value):
        return (2,)
    return (1, value)


def _plain(value: Any) -> Any:
    """As a key of a group: one zero, and one NaN, which is then equal to itself."""
    if not isinstance(value, float):
        return value
    return math.nan if math.isnan(value) else value + 0.0


def _piece(value: Any) -> str:
    match value:
        case bool():
            return "t" if value else "f"
        case datetime():
            return str((value - _EPOCH) // timedelta(microseconds=1))
        case date():
            return str((value - _EPOCH.date()).days)
        case _:
            return str(value)


def _delimited(value: Any) -> str:
    if isinstance(value, str):
        return f"{len(value.encode())}:{value}"
    return f"{_piece(value)}|"


def _digest(text: str) -> int:
    return int(hashlib.md5(text.encode()).hexdigest()[:7], 16)


def _amount(rows: list[Row], total: Total) -> int:
    if total.column is None:
        return min(len(rows), total.steps)
    steps = (_steps(row[total.column], total.grid) for row in rows)
    return min(max(sum(steps), 0), total.steps)


def _steps(value: float | Decimal | None, grid: Fraction) -> int:
    if value is None:
        return 0
    scaled = float(value) * float(grid.denominator) / float(grid.numerator)
    if not math.isfinite(scaled) or not -(2.0**63) <= math.floor(scaled) < 2.0**63:
        return 0
    return math.floor(scaled)
