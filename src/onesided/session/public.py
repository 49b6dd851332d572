"""Public tables: declared when a data set is opened, joined by a key when a question asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onesided.engine.base import Engine, HoldsPublicTables, Lookup, PublicTable
from onesided.errors import RequestError, SourceError
from onesided.language import Schema, Type
from onesided.language.query import Join, public_column

#: What the data set may always be called in FROM, whatever its name.
ANY_NAME = "data"
_JOINABLE = (Type.INTEGER, Type.TEXT, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP)


def public_tables(
    engine: Engine, declared: Mapping[str, Any], dataset: str
) -> dict[str, PublicTable]:
    """Read the declared tables, for good: what changes in a file later is not seen."""
    if not declared:
        return {}
    if not isinstance(engine, HoldsPublicTables):
        raise RequestError("This engine joins no public tables; leave them out, or use files.")
    names = [name.lower() for name in (*declared, dataset, ANY_NAME)]
    if len(set(names)) < len(declared) + len({dataset.lower(), ANY_NAME}) or "" in names:
        raise SourceError("Each public table needs a name of its own, other than the data's.")
    tables = {name: engine.add_public(name, source) for name, source in declared.items()}
    for name, table in tables.items():
        taken = [each for each in table.schema if public_column(name, each) in engine.schema]
        if taken:
            raise SourceError(f"The data have a column {name}.{taken[0]} themselves; rename it.")
    return tables


def lookups(
    engine: Engine, tables: Mapping[str, PublicTable], joins: Sequence[Join]
) -> tuple[Lookup, ...]:
    """The joins of a statement, each checked to be a function of the row."""
    return tuple(_lookup(engine, tables[join.table], join) for join in joins)


def determined(found: Sequence[Lookup], unit: Sequence[str]) -> frozenset[str]:
    """The public columns that a unit's key determines: they are constant within each unit."""
    return frozenset(
        public_column(lookup.table.name, column)
        for lookup in found
        if {own for own, _ in lookup.on} <= set(unit)
        for column in lookup.table.schema
    )


def _lookup(engine: Engine, table: PublicTable, join: Join) -> Lookup:
    assert isinstance(engine, HoldsPublicTables)
    for own, other in join.on:
        _check_types(engine.schema, own, table, other)
    key = tuple(other for _, other in join.on)
    if not engine.is_key(table, key):
        raise RequestError(
            f"Several rows of the public table {table.name} have the same {', '.join(key)}; "
            "join it by columns that tell its rows apart."
        )
    return Lookup(table, join.on)


def _check_types(schema: Schema, own: str, table: PublicTable, other: str) -> None:
    kinds = schema[own].type, table.schema[other].type
    if kinds[0] is not kinds[1] or kinds[0] not in _JOINABLE:
        raise RequestError(
            f"{own} is {kinds[0].value} and {table.name}.{other} is {kinds[1].value}; a join "
            "compares integers, texts, booleans, dates or timestamps of one type."
        )
