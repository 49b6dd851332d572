"""The rest of a SELECT, on released values: joining figures, arithmetic, HAVING, ORDER BY, LIMIT.

Keys and figures stay in Arrow. Rows are compared by a form of their values that every value has. In
this form NaN equals itself and stands above all numbers, a date may lie beyond Python's years, and
a text may hold any bytes. A column that is a key as it stands is handed out as it was released.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from onesided.data.values import comparable_values
from onesided.engine.base import key_type
from onesided.engine.duckdb.released import ROW, Computation
from onesided.language import Schema
from onesided.language.query import (
    Aggregate,
    Ordering,
    Select,
    SelectFigure,
    counted,
    figure_column,
    key_column,
    quantile_column,
    window_column,
)
from onesided.session.questions.counts import COUNT

Place = tuple[Any, ...]
_OF_SOMETHING = (Aggregate.MEAN, Aggregate.QUANTILES)
"""Figures that are none where there is nothing."""


@dataclass(frozen=True)
class AskedFigure:
    """A figure of a statement for one of its groupings.

    - `by`: the keys of the grouping, as places in those of the statement.
    - `name`: what it is called among the releases behind the answer.
    """

    figure: SelectFigure
    by: tuple[int, ...]
    name: str

    @classmethod
    def of(cls, select: Select) -> tuple[AskedFigure, ...]:
        """All that a statement needs."""
        several = len(select.sets) > 1
        return tuple(
            cls(figure, by, f"{figure.name}{_named(select, by)}" if several else figure.name)
            for by in select.sets
            for figure in select.figures
        )


def _named(select: Select, by: tuple[int, ...]) -> str:
    return f" by {', '.join(select.keys[place].name for place in by)}" if by else " in all"


def check_result(select: Select, schema: Schema) -> pa.Table:
    """Refuse, before anything is paid, what cannot be computed from the figures.

    The answer that a single made row would give is an example of its types.

    - `schema`: of the data with the columns of joined tables.
    """
    example: dict[str, pa.Array] = {
        key_column(place): pa.nulls(1, key_type(key.bind(schema)))
        for place, key in enumerate(select.keys)
    }
    for place in range(len(select.figures)):
        for name in (figure_column(place), counted(figure_column(place))):
            example[name] = pa.array([1.0])
        for each in range(len(select.quantiles.get(select.figures[place], ()))):
            example[quantile_column(figure_column(place), each)] = pa.array([1.0])
    _computation(select).check(pa.table(example))
    return _computed(select, pa.table(example))


def result(select: Select, tables: Mapping[AskedFigure, pa.Table]) -> pa.Table:
    """The columns that the statement lists, of the groups that HAVING and LIMIT leave.

    - `tables`: the released table of each figure, the keys in the first columns; of quantiles one
      column each.
    """
    parts = []
    for by in select.sets:
        own = {each.figure: table for each, table in tables.items() if each.by == by}
        parts.append(_joined(by, own))
    return _computed(select, pa.concat_tables(parts, promote_options="permissive"))


def _computed(select: Select, released: pa.Table) -> pa.Table:
    answer = _computation(select).run(computable(released))
    rows = answer.column(ROW)
    columns = [
        answer.column(place + 1)
        if output.key is None
        else released.column(key_column(select.keys.index(output.key))).take(rows)
        for place, output in enumerate(select.outputs)
    ]
    return pa.table(columns, names=[output.name for output in select.outputs])


def _computation(select: Select) -> Computation:
    conditions = [] if select.having is None else [select.having]
    for place, figure in enumerate(select.figures):
        if figure.aggregate is Aggregate.GROUPS:
            conditions.append(f"{figure_column(place)} > 0")
    return Computation(
        columns=[output.text for output in select.outputs],
        having=" AND ".join(f"({each})" for each in conditions) or None,
        windows={window_column(place): text for place, text in enumerate(select.windows)},
        qualify=select.qualify,
        order=[_term(each) for each in select.order],
        limit=select.limit,
        offset=select.offset,
    )


def _term(term: Ordering) -> tuple[str, str]:
    direction = "DESC" if term.descending else "ASC"
    return term.text, f"{direction} NULLS {'FIRST' if term.nulls_first else 'LAST'}"


def computable(released: pa.Table) -> pa.Table:
    """The same table with what DuckDB takes: texts whose bytes are none are texts nearby."""
    columns = []
    for column in released.columns:
        kind = column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            values = column.cast(pa.large_binary()).to_pylist()
            texts = [None if each is None else each.decode(errors="replace") for each in values]
            column = pa.chunked_array([pa.array(texts, pa.string())])
        columns.append(column)
    return pa.table(columns, names=released.column_names)


def _joined(by: tuple[int, ...], tables: Mapping[SelectFigure, pa.Table]) -> pa.Table:
    """One row per group that any figure lists: its keys, then each figure.

    A figure that does not list a group found nothing in it: a count or sum of 0, and no mean or
    quantile.
    """
    width = len(by)
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
    columns = {
        key_column(place): _plain(column) for place, column in zip(by, keys.columns, strict=True)
    }
    for number, ((figure, table), known) in enumerate(zip(tables.items(), listed, strict=True)):
        name = figure_column(number)
        if figure.aggregate is Aggregate.QUANTILES:
            for each, column in enumerate(table.columns[width:]):
                columns[quantile_column(name, each)] = _aligned(figure, column, known, groups)
            continue
        columns[name] = _aligned(figure, table.column(width), known, groups)
        if figure.aggregate is Aggregate.MEAN:
            columns[counted(name)] = _aligned(figure, table.column(COUNT), known, groups)
    return pa.table(columns)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


def _aligned(
    figure: SelectFigure, values: pa.ChunkedArray, known: Sequence[Place], groups: Sequence[Place]
) -> pa.ChunkedArray:
    """The figure of each group."""
    if known == groups:
        return values
    where = {group: row for row, group in enumerate(known)}
    # One row more says what a figure is of groups that it does not list.
    nothing = None if figure.aggregate in _OF_SOMETHING else 0
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
    column = _plain(column)
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = column.cast(pa.large_binary())
    return [
        (False,) if value is None else (True, value != value, 0 if value != value else value)
        for value in comparable_values(column)
    ]
