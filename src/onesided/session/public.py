"""Public tables: declared when a data set is opened, joined by a key when a question asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onesided.engine.base import Engine, HoldsPublicTables, Lookup, PublicTable
from onesided.engine.duckdb.public import read_public
from onesided.engine.lookups import can_be_written_out
from onesided.errors import RequestError, SourceError
from onesided.language import Schema, Type
from onesided.language.query import Join, public_column
from onesided.language.ranges import Range

#: What the data set may always be called in FROM, beside its name.
ANY_NAME = "data"
#: A table that an engine does not hold is part of every statement that joins it.
MOST_WRITTEN_ROWS = 1_000
JOINABLE = (Type.INTEGER, Type.TEXT, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP)


def public_tables(
    engine: Engine, declared: Mapping[str, Any], dataset: str
) -> dict[str, PublicTable]:
    """Read the declared tables once: what changes in a file later is not seen."""
    if not declared:
        return {}
    names = [name.lower() for name in (*declared, dataset, ANY_NAME)]
    if len(set(names)) < len(declared) + len({dataset.lower(), ANY_NAME}) or "" in names:
        raise SourceError("Each public table needs a name of its own, other than the data's.")
    tables = {name: _held(engine, read_public(name, source)) for name, source in declared.items()}
    for name, table in tables.items():
        taken = [each for each in table.schema if public_column(name, each) in engine.schema]
        if taken:
            raise SourceError(f"The data have a column {name}.{taken[0]} themselves; rename it.")
    return tables


def _held(engine: Engine, table: PublicTable) -> PublicTable:
    """The table within the engine, or small enough to be written into each statement."""
    if isinstance(engine, HoldsPublicTables):
        return engine.hold(table)
    if len(table.content) > MOST_WRITTEN_ROWS:
        raise SourceError(
            f"The public table {table.name} has more than {MOST_WRITTEN_ROWS:,} rows, which only "
            "files and frames here can be joined with; put less into it."
        )
    if not can_be_written_out(table):
        raise SourceError(
            f"The public table {table.name} has a text with a NUL or a date outside of the years "
            "1 to 9999, which only files and frames here can be joined with; leave it out."
        )
    return table


def lookups(
    schema: Schema, tables: Mapping[str, PublicTable], joins: Sequence[Join]
) -> tuple[Lookup, ...]:
    """The joins of a statement, each checked to be a function of the row of the data."""
    return tuple(
        _lookup(schema, replace(tables[join.source], name=join.table), join) for join in joins
    )


def determined(found: Sequence[Lookup], unit: Sequence[str]) -> frozenset[str]:
    """The public columns that a unit's key determines: they are constant within each unit."""
    return frozenset(
        public_column(lookup.table.name, column)
        for lookup in found
        if {own for own, _ in lookup.on} <= set(unit)
        for column in lookup.table.schema
    )


def _lookup(schema: Schema, table: PublicTable, join: Join) -> Lookup:
    for own, other in join.on:
        _check_types(schema, own, table, other)
    key = tuple(other for _, other in join.on)
    if not table.tells_apart(key):
        raise RequestError(
            f"Several rows of the public table {table.name} have the same {', '.join(key)}; "
            "join it by columns that tell its rows apart."
        )
    return Lookup(table, join.on)


def _check_types(schema: Schema, own: str, table: PublicTable, other: str) -> None:
    kinds = schema[own].type, table.schema[other].type
    if kinds[0] is not kinds[1] or kinds[0] not in JOINABLE:
        raise RequestError(
            f"{own} is {kinds[0].value} and {table.name}.{other} is {kinds[1].value}; a join "
            "compares integers, texts, booleans, dates or timestamps of one type."
        )


def public_range(column: pa.ChunkedArray) -> Range | None:
    """Between which numbers a column of a public table lies; None where it has none."""
    ends = pc.min_max(column).as_py()
    return None if ends["min"] is None else (Fraction(ends["min"]), Fraction(ends["max"]))


def public_ranges(tables: Mapping[str, PublicTable]) -> dict[str, Range]:
    """Between which numbers the columns of public tables lie, by the names that joins give them."""
    return {
        public_column(name, column): found
        for name, table in tables.items()
        for column, numbers in table.numbers()
        if (found := public_range(numbers)) is not None
    }
