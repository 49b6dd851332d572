"""The rest of a SELECT, on released values: joining figures, HAVING, ORDER BY, LIMIT.

Keys and figures stay in Arrow. Rows are compared by a form of their values that every value has. In
this form NaN equals itself and stands above all numbers, a date may lie beyond Python's years, and
a text may hold any bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from onesided.data.values import comparable_values
from onesided.language import evaluate
from onesided.language.query import Aggregate, Ordering, Select, SelectFigure
from onesided.language.tree import Expression

Place = tuple[Any, ...]


def result(
    select: Select, having: Expression | None, tables: Mapping[SelectFigure, pa.Table]
) -> pa.Table:
    """The columns that the statement lists, of the groups that HAVING and LIMIT leave.

    - `tables`: for each figure its released table, the keys in the first columns.
    - `having`: the condition, bound to the names of keys and figures.
    """
    joined = _joined(select, tables)
    rows = list(range(len(joined)))
    if having is not None:
        rows = [
            row for row, values in enumerate(_values(joined)) if evaluate(having, values) is True
        ]
    for term in reversed(select.order):
        places = [_place(term, each) for each in _places(joined.column(term.source.name))]
        rows.sort(key=places.__getitem__, reverse=term.descending)
    chosen = joined.take(pa.array(rows[: select.limit], pa.int64()))
    columns = [chosen.column(output.source.name) for output in select.outputs]
    return pa.table(columns, names=[output.name for output in select.outputs])


def _joined(select: Select, tables: Mapping[SelectFigure, pa.Table]) -> pa.Table:
    """One row per group that any figure lists: its keys, then each figure by its name.

    A figure that does not list a group found nothing in it: a count or sum of 0, and no mean.
    """
    width = len(select.keys)
    listed = [_groups(table, width) for table in tables.values()]
    groups = listed[0]
    keys = next(iter(tables.values())).select(range(width))
    if any(other != groups for other in listed[1:]):
        keys = pa.concat_tables(
            [table.select(range(width)) for table in tables.values()],
            promote_options="permissive",
        )
        everywhere = [group for each in listed for group in each]
        first = {group: row for row, group in reversed(list(enumerate(everywhere)))}
        groups = sorted(first)
        keys = keys.take(pa.array([first[group] for group in groups], pa.int64()))
    columns = dict(zip((key.name for key in select.keys), keys.columns, strict=True))
    for (figure, table), known in zip(tables.items(), listed, strict=True):
        columns[figure.name] = _aligned(figure, table.column(width), known, groups)
    return pa.table(columns)


def _aligned(
    figure: SelectFigure, values: pa.ChunkedArray, known: Sequence[Place], groups: Sequence[Place]
) -> pa.ChunkedArray:
    """The figure of each group."""
    if known == groups:
        return values
    where = {group: row for row, group in enumerate(known)}
    # One row more says what a figure is of groups that it does not list.
    nothing = None if figure.aggregate is Aggregate.MEAN else 0
    longer = pa.chunked_array([*values.chunks, pa.array([nothing], values.type)])
    rows = [where.get(group, len(values)) for group in groups]
    return longer.take(pa.array(rows, pa.int64()))


def _groups(table: pa.Table, width: int) -> list[Place]:
    """The keys of each row."""
    if width == 0:
        return [()] * len(table)
    return list(zip(*(_places(table.column(place)) for place in range(width)), strict=True))


def _places(column: pa.ChunkedArray) -> list[Place]:
    """What equals and orders the values of a column, with NULL before everything."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _places(column.cast(kind.value_type))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = column.cast(pa.large_binary())
    return [
        (False,) if value is None else (True, value != value, 0 if value != value else value)
        for value in comparable_values(column)
    ]


def _values(table: pa.Table) -> list[dict[str, Any]]:
    """The rows for a condition on them."""
    columns = [comparable_values(column) for column in table.columns]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def _place(term: Ordering, place: Place) -> tuple[bool, Place]:
    """Where a row stands by one term; the whole order is turned around where it descends."""
    if place == (False,):
        return (not term.nulls_first) != term.descending, ()
    return term.nulls_first != term.descending, place
