"""Public tables beside the data: each joined one adds columns to all rows, and no row.

The columns by which it is joined are unique in the public table, so that a lookup is a function of
the row. Rows that find nothing keep NULL there and stay: whether a unit is sensitive is still taken
over all of its rows, and dropping them is left to the filter (`found`).
"""

from __future__ import annotations

from typing import Any

from onesided.engine.base import Lookup, PublicTable
from onesided.engine.flavour import Flavour
from onesided.language import BoundPredicate, Predicate, Schema
from onesided.language.query import public_column
from onesided.language.tree import Column, IsNull, Literal, Not


def looked_up(source: str, lookups: tuple[Lookup, ...], flavour: Flavour) -> str:
    """A FROM item: `source` with the columns of every joined table, named `table.column`."""
    columns, joins = ["osd_s.*"], []
    for number, lookup in enumerate(lookups):
        table, alias = lookup.table, f"osd_l{number}"
        columns += [
            f"{alias}.{flavour.name(name)} AS {flavour.name(public_column(table.name, name))}"
            for name in table.schema
        ]
        same = " AND ".join(
            f"osd_s.{flavour.name(own)} = {alias}.{flavour.name(other)}" for own, other in lookup.on
        )
        relation = table.relation or written_out(table, flavour)
        joins.append(f"LEFT JOIN {relation} {alias} ON {same}")
    return f"(SELECT {', '.join(columns)} FROM {source} osd_s {' '.join(joins)})"


def written_out(table: PublicTable, flavour: Flavour) -> str:
    """A FROM item with the rows of a public table as literals, for engines that hold none."""
    columns = ", ".join(map(flavour.name, table.schema))
    # A row of typed NULLs, which no key can match, says the types even where there is no other row.
    rows: list[tuple[Any, ...]] = [tuple(None for _ in table.schema)]
    rows += zip(*(column.to_pylist() for column in table.content.columns), strict=True)
    listed = ", ".join(f"({_literals(table, row, flavour)})" for row in rows)
    return f"(SELECT * FROM (VALUES {listed}) osd_v({columns}))"


def can_be_written_out(table: PublicTable) -> bool:
    """Whether every cell has a literal on every engine.

    Dates beyond Python's years have none, nor has a text with a NUL in PostgreSQL.
    """
    try:
        cells = [cell for column in table.content.columns for cell in column.to_pylist()]
    except (OverflowError, ValueError):
        return False
    return not any(isinstance(cell, str) and "\0" in cell for cell in cells)


def _literals(table: PublicTable, row: tuple[Any, ...], flavour: Flavour) -> str:
    kinds = [field.type for _, field in table.schema.fields]
    return ", ".join(
        flavour.writer.write(Literal(kind, cell)) for kind, cell in zip(kinds, row, strict=True)
    )


def found(lookup: Lookup, schema: Schema) -> BoundPredicate:
    """The filter that an inner join is: the row's key is in the public table.

    `schema` is that of the data with the columns of the joined tables.
    """
    key = public_column(lookup.table.name, lookup.on[0][1])
    return Predicate(Not(IsNull(Column(key)))).bind(schema)
