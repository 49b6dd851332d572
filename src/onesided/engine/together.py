"""Several counts in one statement, so that the data are read once for all of them.

The rows are read once into a table of the statement's own, as far as the engine keeps one, and
each count reads that. Their groups stand below each other with the number of the count: a key is
a whole number or a text there, in a column of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onesided.engine.base import CountQuery, Figure, GroupCounts
from onesided.engine.columns_read import ColumnsRead
from onesided.engine.sql import Statements
from onesided.language import Type

_ROWS, _COUNT, _NUMBER, _TEXT = "osd_once", "osd_part", "osd_number", "osd_text"
_ALL, _OPEN = "osd_all", "osd_ns"


def columns_of(queries: Sequence[CountQuery]) -> ColumnsRead:
    """What all of them read."""
    read = [ColumnsRead.by_count(each) for each in queries]
    return ColumnsRead(
        frozenset().union(*(each.deciding for each in read)),
        frozenset().union(*(each.shown for each in read)),
    )


def joint(statements: Statements, queries: Sequence[CountQuery]) -> str:
    """The statement that answers all of them."""
    assert not any(each.coins or each.totals or each.grams or each.tally for each in queries)
    flavour, relation = statements.flavour, statements.relation
    rows = ""
    if not relation.beside:
        names = sorted({*columns_of(queries).all, *relation.unit.columns})
        listed = ", ".join(map(flavour.name, names)) or "1 AS osd_one"
        kept = flavour.once_read
        rows = f"WITH {_ROWS} AS {kept}(SELECT {listed} FROM {relation.source} osd_s) "
        statements = replace(statements, relation=replace(relation, source=_ROWS))
    parts = [_part(statements, place, each) for place, each in enumerate(queries)]
    return rows + " UNION ALL ".join(parts)


def _part(statements: Statements, place: int, query: CountQuery) -> str:
    kinds = [key.type for key in query.by]
    plain = statements.count(replace(query, kinds=False))
    number, text = "CAST(NULL AS BIGINT)", statements.flavour.text("NULL")
    figures = f"{_ALL}, {_OPEN}"
    if query.kinds:
        figures = f"count(*) AS {_ALL}, count(*) FILTER (WHERE {_OPEN} > 0) AS {_OPEN}"
    elif kinds == [Type.INTEGER]:
        number = "CAST(osd_g0 AS BIGINT)"
    elif kinds == [Type.TEXT]:
        text = "osd_g0"
    else:
        assert not kinds, "a key of these counts is a whole number or a text"
    return (
        f"SELECT {place} AS {_COUNT}, {number} AS {_NUMBER}, {text} AS {_TEXT}, {figures} "
        f"FROM ({plain}) osd_c{place}"
    )


def apart(table: pa.Table, queries: Sequence[CountQuery]) -> list[GroupCounts]:
    """The groups of each count, sorted by key."""
    table = pa.table(
        [
            column.cast(pa.string() if name == _TEXT else pa.int64())
            for name, column in zip(table.column_names, table.columns, strict=True)
        ],
        names=[_COUNT, _NUMBER, _TEXT, _ALL, _OPEN],
    )
    table = table.take(_sorted(table))
    ends = np.searchsorted(table[_COUNT].to_numpy(), np.arange(len(queries) + 1))
    return [
        _one(table.slice(start, end - start), query)
        for start, end, query in zip(ends[:-1], ends[1:], queries, strict=True)
    ]


def _sorted(table: pa.Table) -> pa.Array:
    """Places of the rows by count, then by key, NULL first: whether there is one comes before."""
    columns = [table[_COUNT]]
    for name in (_NUMBER, _TEXT):
        columns += [table[name].is_valid(), table[name]]
    named = pa.table(columns, names=list(map(str, range(len(columns)))))
    return pc.sort_indices(named, sort_keys=[(name, "ascending") for name in named.column_names])


def _one(rows: pa.Table, query: CountQuery) -> GroupCounts:
    figure = Figure(*(rows[name].to_numpy().astype(np.int64) for name in (_ALL, _OPEN)))
    if query.kinds or not query.by:
        return GroupCounts(pa.table({}), (figure,))
    (key,) = query.by
    column = rows[_NUMBER if key.type is Type.INTEGER else _TEXT]
    return GroupCounts(pa.table([column], names=[key.name]), (figure,))


def one_by_one(
    count: Callable[[CountQuery], GroupCounts], queries: Sequence[CountQuery]
) -> list[GroupCounts]:
    """The same by an engine that counts one at a time."""
    found = []
    for query in queries:
        counts = count(replace(query, kinds=False))
        if query.kinds:
            numbers = (len(counts.all), int(np.count_nonzero(counts.nonsensitive)))
            figure = Figure(*(np.array([each], dtype=np.int64) for each in numbers))
            counts = GroupCounts(pa.table({}), (figure,))
        found.append(counts)
    return found
