"""What every engine must answer, in plain Python: slow, and written from the definitions alone.

`Reference` answers queries on rows. `ReferenceEngine` stands for a whole engine, so that a session
over it releases, with the same noise, the very bytes that a session over the engine must release.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from onesided.audit.session.cells import SQL_TYPE
from onesided.audit.session.reference_policy import is_sensitive
from onesided.audit.session.reference_values import (
    DAY,
    FarDay,
    NotCovered,
    arrow_column,
    csv_values,
    is_endless,
    micros_of,
    server_values,
    typed_values,
)
from onesided.data.units import Unit
from onesided.engine.base import (
    CountQuery,
    Engine,
    Figure,
    GroupCounts,
    Inspection,
    Lookup,
    SampleQuery,
    Total,
    key_type,
)
from onesided.engine.sources import Files, file_tag
from onesided.engine.together import one_by_one
from onesided.language import BoundKey, BoundPredicate, Field, Predicate, Schema, Type
from onesided.language.floats import named
from onesided.language.query import public_column
from onesided.language.tree import Column

Row = dict[str, Any]
Names = Sequence[tuple[str, int]]
"""The files of a table in order, relative to its folder, each with its number of rows."""
_POLICY = "osd_policy"


@dataclass(frozen=True)
class Reference:
    """A table and the key of its units; without a key every row is one, named by its place."""

    rows: list[Row]
    unit: tuple[str, ...]
    texts: frozenset[str]
    names: list[str]

    @classmethod
    def of(cls, table: pa.Table, unit: tuple[str, ...], file: str = "") -> Reference:
        """The rows of one file, all of whose cells Python holds."""
        texts = frozenset(field.name for field in table.schema if field.type == pa.string())
        return cls(table.to_pylist(), unit, texts, row_names([(file, len(table))]))

    def sample(self, query: SampleQuery) -> list[tuple[Any, ...]]:
        """The rows of the kept units: sorted by key and content, or as they were."""
        chosen = [
            row
            for key, rows in self.units().items()
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
        for key, rows in self.units().items():
            sensitive = is_sensitive(query.policy, rows)
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

    def units(self) -> dict[tuple[Any, ...], list[Row]]:
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
        if is_sensitive(query.policy, rows):
            return False
        coin = hashlib.sha256((query.coins.key + self._text(key)).encode()).hexdigest()
        return coin < query.coins.threshold

    def _text(self, key: tuple[Any, ...]) -> str:
        if not self.unit:
            return self.names[int(key[0])]
        *first, last = key
        return "".join(map(_delimited, first)) + _piece(last)

    def _cut(
        self, key: tuple[Any, ...], groups: list[tuple[Any, ...]], most: int | None
    ) -> list[tuple[Any, ...]]:
        if most is None or not self.unit:
            return groups
        own = _digest(self._text(key))
        texts: Callable[[tuple[Any, ...]], str] = lambda group: "|".join(  # noqa: E731
            "~" if each is None or is_endless(each) else _piece(each) for each in group
        )
        return sorted(
            groups,
            key=lambda group: (own ^ _digest(texts(group)), [sortable(each) for each in group]),
        )[:most]


def row_names(files: Names) -> list[str]:
    """What every row is called where rows are units: its file's tag, and its place there."""
    return [f"{file_tag(file)}:{place}" for file, rows in files for place in range(rows)]


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
        case float():
            return named(value)
        case bool():
            return "t" if value else "f"
        case FarDay():
            return str(value.micros // DAY)
        case datetime():
            return str(micros_of(value))
        case date():
            return str(micros_of(value) // DAY)
        case _:
            return str(value)


def _delimited(value: Any) -> str:
    if isinstance(value, str):
        return f"{len(value.encode())}:{value}"
    return f"{_piece(value)}|"


def _digest(text: str) -> int:
    return int(hashlib.md5(text.encode()).hexdigest()[:7], 16)


def _amount(rows: list[Row], total: Total) -> int:
    if total.value is None:
        return min(len(rows), total.steps)
    steps = (_steps(_summed(total.value, row), total.grid) for row in rows)
    return min(max(sum(steps), 0), total.steps)


def _summed(value: BoundKey, row: Row) -> Any:
    """A column as it is, of any number type; else what the expression gives."""
    if isinstance(value.expression, Column):
        return row[value.expression.name]
    return value.evaluate(row)


def _steps(value: float | Decimal | None, grid: Fraction) -> int:
    if value is None:
        return 0
    scaled = float(value) * float(grid.denominator) / float(grid.numerator)
    if not math.isfinite(scaled) or not -(2.0**63) <= math.floor(scaled) < 2.0**63:
        return 0
    return math.floor(scaled)


class ReferenceEngine:
    """Answers as the engine that was opened must answer, from values that were read without it.

    What everybody may know, columns and their types, is what was found at the opening. A query that
    reads a column of another kind than the reference covers is `NotCovered`.
    """

    in_memory = True

    def __init__(
        self, opened: Engine, columns: Mapping[str, list[Any] | None], files: Names
    ) -> None:
        """`columns` are the values of each column; None where these are not covered."""
        self._opened = opened
        self._known = {name: values for name, values in columns.items() if values is not None}
        count = sum(rows for _, rows in files)
        self._rows = [
            {name: values[place] for name, values in self._known.items()} for place in range(count)
        ]
        kinds = opened.schema
        texts = frozenset(name for name in kinds if kinds[name].type is Type.TEXT)
        self._reference = Reference(self._rows, opened.unit.columns, texts, row_names(files))

    @property
    def schema(self) -> Schema:
        return self._opened.schema

    @property
    def format(self) -> Mapping[str, Any]:
        return self._opened.format

    @property
    def unit(self) -> Unit:
        return self._opened.unit

    @property
    def rows_are_units(self) -> bool:
        return self._opened.rows_are_units

    def inspect(self) -> Inspection:
        keys = [tuple(row[column] for column in self.unit.columns) for row in self._rows]
        return Inspection(len(self._reference.units()), sum(None in key for key in keys))

    def fingerprint(self) -> str:
        return self._opened.fingerprint()

    def output_schema(self, columns: tuple[str, ...]) -> pa.Schema:
        return self._opened.output_schema(columns)

    def sample(self, query: SampleQuery) -> Iterator[pa.RecordBatch]:
        self._need(query.columns, query.policy, query.where)
        schema = self.output_schema(query.columns)
        rows = self._reference.sample(query)
        columns = [
            arrow_column([row[place] for row in rows], kind)
            for place, kind in enumerate(schema.types)
        ]
        yield pa.record_batch(columns, schema=schema)

    def count(self, query: CountQuery) -> GroupCounts:
        if query.tally:
            raise NotCovered("numbers of groups")
        if query.grams is not None:
            raise NotCovered("n-grams")
        names = {name for key in query.by for name in key.columns}
        names |= {name for each in query.totals if each.value for name in each.value.columns}
        joined = {
            public_column(each.table.name, name)
            for each in query.lookups
            for name in each.table.schema
        }
        on = {own for each in query.lookups for own, _ in each.on}
        self._need([*(names - joined), *on], query.policy, query.where, beside=joined)
        rows = [self._looked_up(row, query.lookups) for row in self._rows]
        reference = Reference(rows, self.unit.columns, frozenset(), self._reference.names)
        groups = reference.count(query)
        width = len(query.by)
        keys = [
            arrow_column([group[place] for group in groups], key_type(key))
            for place, key in enumerate(query.by)
        ]
        numbers = np.array([group[width:] for group in groups], dtype=np.int64)
        sides = numbers.reshape(len(groups), 2 * max(1, len(query.totals))).T
        return GroupCounts(
            pa.table(keys, names=[key.name for key in query.by]),
            tuple(Figure(*pair) for pair in zip(sides[::2], sides[1::2], strict=True)),
        )

    def count_each(self, queries: Sequence[CountQuery]) -> list[GroupCounts]:
        return one_by_one(self.count, queries)

    def evaluate_policy(self, function: Callable[[Mapping[str, Any]], bool]) -> BoundPredicate:
        for row in self._rows:
            row[_POLICY] = function(row)
        hidden = Schema.of({**dict(self.schema.fields), _POLICY: Field(Type.BOOLEAN)})
        return Predicate.parse(_POLICY).bind(hidden)

    def close(self) -> None:
        """There is nothing to let go of."""

    def _looked_up(self, row: Row, lookups: Sequence[Lookup]) -> Row:
        """The row with the columns of public tables; NULL where there is no such key."""
        whole = dict(row)
        for lookup in lookups:
            table = lookup.table
            sought = [row[own] for own, _ in lookup.on]
            found = next(
                (
                    each
                    for each in table.content.to_pylist()
                    if None not in sought and [each[other] for _, other in lookup.on] == sought
                ),
                dict.fromkeys(table.schema),
            )
            whole |= {public_column(table.name, name): found[name] for name in table.schema}
        return whole

    def _need(
        self,
        columns: Sequence[str],
        *predicates: BoundPredicate | None,
        beside: frozenset[str] | set[str] = frozenset(),
    ) -> None:
        """Refuse what reads columns that are not covered."""
        read = {*columns, *self.unit.columns}
        read |= {name for each in predicates if each is not None for name in each.columns}
        missing = sorted(read - set(self._known) - set(beside) - {_POLICY})
        if missing:
            raise NotCovered(missing[0])


def reference_engine(
    table: pa.Table, handed: Mapping[str, Any], opened: Engine
) -> ReferenceEngine | None:
    """The reference for a table that was handed over with these arguments of `open_dataset`.

    None where its columns are others than those of the table, or the key of units is not covered.
    """
    if list(opened.schema) != table.column_names:
        return None
    columns = {name: _covered(table, name, opened) for name in table.column_names}
    if any(columns[name] is None for name in opened.unit.columns):
        return None
    return ReferenceEngine(opened, columns, _files(handed.get("source"), len(table)))


def _covered(table: pa.Table, name: str, opened: Engine) -> list[Any] | None:
    """The values of a column, by how the source is read; None where that is not covered."""
    if opened.schema[name].type is Type.OTHER:
        return None
    column, agreed = table.column(name), opened.format
    try:
        if agreed["reader"] == "csv":
            form = next(each for each in agreed["columns"] if each["name"] == name)
            return list(csv_values(column, form))
        if agreed["reader"] == "postgresql":
            kind = table.schema.field(name).metadata[SQL_TYPE].decode()
            return list(server_values(column, opened.schema[name], kind))
        return list(typed_values(column))
    except NotCovered:
        return None


def _files(source: Any, rows: int) -> Names:
    """The files that hold the rows, an equal number each; a frame is one without a name."""
    if not isinstance(source, str):
        return [("", rows)]
    found = Files.find(source)
    count = len(found.paths)
    return [
        (found.relative(path), (place + 1) * rows // count - place * rows // count)
        for place, path in enumerate(found.paths)
    ]
