"""The rest of a SELECT, on released values: joining figures, HAVING, ORDER BY, LIMIT."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from onesided.language import evaluate
from onesided.language.query import Aggregate, Figure, Ordering, Select
from onesided.language.tree import Expression

Row = dict[str, Any]


def result(
    select: Select, having: Expression | None, tables: Mapping[Figure, pa.Table]
) -> pa.Table:
    """The columns that the statement lists, of the groups that HAVING and LIMIT leave.

    - `tables`: for each figure its released table, the keys in the first columns.
    - `having`: the condition, bound to the names of keys and figures.
    """
    rows = _joined(select, tables)
    if having is not None:
        rows = [row for row in rows if evaluate(having, row) is True]
    for term in reversed(select.order):
        rows.sort(key=partial(_place, term), reverse=term.descending)
    rows = rows[: select.limit]
    kinds = _kinds(select, tables)
    names = [output.name for output in select.outputs]
    columns = [
        pa.array([row[output.source.name] for row in rows], kinds[output.source.name])
        for output in select.outputs
    ]
    return pa.table(columns, names=names)


def _joined(select: Select, tables: Mapping[Figure, pa.Table]) -> list[Row]:
    """One row a group that any figure lists.

    A figure that does not list a group found nothing in it: a count or sum of 0, and no mean.
    """
    width = len(select.keys)
    by_group = {
        figure: dict(zip(_groups(table, width), table.column(width).to_pylist(), strict=True))
        for figure, table in tables.items()
    }
    listed = [list(values) for values in by_group.values()]
    groups = listed[0]
    if any(other != groups for other in listed[1:]):
        groups = sorted({group for each in listed for group in each}, key=_sorted_like_keys)
    return [
        {
            **dict(zip((key.name for key in select.keys), group, strict=True)),
            **{figure.name: by_group[figure].get(group, _nothing(figure)) for figure in tables},
        }
        for group in groups
    ]


def _groups(table: pa.Table, width: int) -> list[tuple[Any, ...]]:
    if width == 0:
        return [()] * len(table)
    return list(zip(*(table.column(place).to_pylist() for place in range(width)), strict=True))


def _kinds(select: Select, tables: Mapping[Figure, pa.Table]) -> dict[str, pa.DataType]:
    schema = next(iter(tables.values())).schema
    keys = {key.name: schema.field(place).type for place, key in enumerate(select.keys)}
    width = len(select.keys)
    return keys | {figure.name: table.schema.field(width).type for figure, table in tables.items()}


def _nothing(figure: Figure) -> int | None:
    return None if figure.aggregate is Aggregate.MEAN else 0


def _sorted_like_keys(group: tuple[Any, ...]) -> tuple[tuple[bool, Any], ...]:
    return tuple((value is not None, 0 if value is None else value) for value in group)


def _place(term: Ordering, row: Row) -> tuple[bool, Any]:
    """Where a row stands by one term; the whole order is turned around where it descends."""
    value = row[term.source.name]
    if value is None:
        return (not term.nulls_first) != term.descending, 0
    return term.nulls_first != term.descending, value
