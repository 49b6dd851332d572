"""Secret tables beside the main one: each adds its columns to every row, and no row.

A lookup is by a key that names one row of the table, so that its columns are a function of the row
of the data. Rows that find nothing keep NULL there, which a policy takes for sensitive. No content
of such a table is ever part of a statement's text.

Where one row of it would decide over many units, a public rule leaves some of these out of
everything (`UnitChoice`). It looks at a unit's key alone, and at none of the tables.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from onesided.engine.flavour import Flavour
from onesided.errors import SourceError
from onesided.language import Schema, Type
from onesided.language.query import public_column
from onesided.language.tree import Literal, Value

_GOLDEN = 0.6180339887498949
_SALT = "'lookup|'"


@dataclass(frozen=True)
class FoundTable:
    """A table beside the data as an engine found it.

    - `format`: its columns with their types, and what else was found; public, and frozen.
    - `relation`: the FROM item under which the engine knows it, its columns in our types.
    - `held`: what was looked at stays as it is while the engine is open.
    """

    name: str
    schema: Schema
    format: Mapping[str, Any]
    relation: str
    held: bool


def readable(schema: Schema) -> Schema:
    """The columns of types that are ours: all others are left out of a lookup table."""
    return Schema.of({name: each for name, each in schema.fields if each.type is not Type.OTHER})


@dataclass(frozen=True)
class UnitChoice:
    """Which `most` units of those that share the columns `within` are in the data.

    - `within`: columns of the unit's key with their types, which a row of the lookup decides over.
    - `among`: the others, with the values that they can have by declaration.

    Each combination of these values has a place, by multiplication with a number that has no
    factor in common with how many there are. A public hash of `within` moves all places round, and
    the first `most` of them are chosen.
    """

    most: int
    within: tuple[tuple[str, Type], ...]
    among: tuple[tuple[str, Type, tuple[Value, ...]], ...]

    @property
    def combinations(self) -> int:
        """How many units there can be for one row of the lookup."""
        return prod(len(values) for _, _, values in self.among)

    @property
    def places(self) -> list[list[int]]:
        """For each column of `among` what its values add to the place of a combination."""
        number = self.combinations
        spread = max(1, round(number * _GOLDEN))
        while gcd(spread, number) != 1:
            spread += 1
        weights = [
            prod(len(values) for _, _, values in self.among[place + 1 :])
            for place in range(len(self.among))
        ]
        return [
            [spread * weight * each % number for each in range(len(values))]
            for weight, (_, _, values) in zip(weights, self.among, strict=True)
        ]


@dataclass(frozen=True)
class SecretLookup:
    """A table beside the data, found by pairs of a column of the data and one of its key's.

    - `choice`: the rule that bounds how many units one of its rows decides over; None where its key
      has all of the unit's, so that it is one.
    """

    table: FoundTable
    on: tuple[tuple[str, str], ...]
    choice: UnitChoice | None = None

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def columns(self) -> dict[str, str]:
        """Its columns by the names that the data know them under."""
        return {public_column(self.name, column): column for column in self.table.schema}

    @property
    def units(self) -> int:
        """The most units that one of its rows decides over."""
        return 1 if self.choice is None else self.choice.most

    def determined(self, unit: Collection[str]) -> frozenset[str]:
        """Its columns, where a unit's key determines them: they are constant within each unit."""
        return frozenset(self.columns if {own for own, _ in self.on} <= set(unit) else ())

    def needs(self, read: Collection[str]) -> frozenset[str]:
        """The columns of the data that it takes to give those of its columns that are read."""
        found = {own for own, _ in self.on} if self.is_read(read) else set()
        if self.choice is not None:
            found |= {name for name, _ in self.choice.within}
            found |= {name for name, _, _ in self.choice.among}
        return frozenset(found)

    def is_read(self, read: Collection[str]) -> bool:
        return not self.columns.keys().isdisjoint(read)


@runtime_checkable
class HoldsLookups(Protocol):
    """An engine that can look rows up in tables beside the data."""

    def lookup_table(
        self, name: str, source: Any, table: str | None, format: Mapping[str, Any] | None
    ) -> FoundTable:
        """Open such a table; `format` is the one that an account was opened with."""
        ...

    def look_up(self, lookups: tuple[SecretLookup, ...]) -> None:
        """From now on every row has their columns; refused where a key names several rows."""
        ...


@dataclass(frozen=True)
class Beside:
    """The lookups of an engine."""

    lookups: tuple[SecretLookup, ...] = ()

    def schema(self, own: Schema) -> Schema:
        """The columns of the data, and those of every lookup."""
        if not self.lookups:
            return own
        fields = dict(own.fields)
        for lookup in self.lookups:
            for name, column in lookup.columns.items():
                fields[name] = lookup.table.schema[column]
        return Schema.of(fields)

    def needs(self, read: Collection[str]) -> frozenset[str]:
        """The columns of the data that the lookups need beside those that are read."""
        return frozenset().union(*(each.needs(read) for each in self.lookups))

    def leaving(self, own: pa.Schema, tables: Mapping[str, pa.Schema]) -> pa.Schema:
        """The columns as they leave, from those of the data and of each table."""
        beside = (
            tables[lookup.name].field(column).with_name(name)
            for lookup in self.lookups
            for name, column in lookup.columns.items()
        )
        return pa.schema([*own, *beside])

    def fingerprint(self, own: str, states: Sequence[str]) -> str:
        """Names the state of the data together with those of the tables beside them."""
        if not states:
            return own
        return hashlib.sha256("\0".join(("onesided lookups", own, *states)).encode()).hexdigest()


def looked_up_beside(
    source: str,
    lookups: Sequence[SecretLookup],
    read: Collection[str] | None,
    flavour: Flavour,
    *,
    choosing: bool = True,
) -> str:
    """A FROM item: `source` with the columns of the lookups, without units that are left out.

    - `read`: only lookups with one of these columns are joined; None joins all of them.
    - `choosing`: without it whoever reads the rows brings them together with the units that stay.
    """
    columns, joins, conditions = ["osd_s.*"], [], []
    for number, lookup in enumerate(lookups):
        if lookup.choice is not None and choosing:
            tables, condition = _chosen(lookup.choice, number, flavour)
            joins += tables
            conditions.append(condition)
        if read is not None and not lookup.is_read(read):
            continue
        alias = f"osd_b{number}"
        columns += [
            f"{alias}.{flavour.name(column)} AS {flavour.name(name)}"
            for name, column in lookup.columns.items()
        ]
        same = " AND ".join(
            f"osd_s.{flavour.name(own)} = {alias}.{flavour.name(other)}" for own, other in lookup.on
        )
        joins.append(f"LEFT JOIN {_distinct(lookup, flavour)} {alias} ON {same}")
    if not joins:
        return source
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"(SELECT {', '.join(columns)} FROM {source} osd_s {' '.join(joins)}{where})"


def chosen_units(units: str, lookups: Sequence[SecretLookup], flavour: Flavour) -> str:
    """The same statement with one row per unit, without units that are left out.

    So a hash is taken once for a unit, and not for each of its rows.
    """
    if all(lookup.choice is None for lookup in lookups):
        return units
    return f"SELECT osd_h.* FROM {looked_up_beside(f'({units})', lookups, (), flavour)} osd_h"


def repeated_keys(lookup: SecretLookup, flavour: Flavour) -> str:
    """One row: how many keys name several rows of the table; for the steward, at the opening."""
    keys = [flavour.name(other) for _, other in lookup.on]
    present = " AND ".join(f"{key} IS NOT NULL" for key in keys)
    listed = ", ".join(keys)
    several = (
        f"SELECT {listed} FROM {lookup.table.relation} osd_b WHERE {present} "
        f"GROUP BY {listed} HAVING count(*) > 1"
    )
    return f"SELECT count(*) AS osd_several FROM ({several}) osd_k"


def check_unique(lookup: SecretLookup, several: int) -> None:
    """Refuse a key by which a row of the data could find two rows."""
    if several:
        key = ", ".join(other for _, other in lookup.on)
        raise SourceError(
            f"In the lookup table {lookup.name} {several:,} values of {key} stand in several rows; "
            "say with on=… which of its columns name one row."
        )


def _distinct(lookup: SecretLookup, flavour: Flavour) -> str:
    """The table; where it may have changed since it was checked, without keys that came twice."""
    relation = lookup.table.relation
    if lookup.table.held:
        return relation
    keys = ", ".join(flavour.name(other) for _, other in lookup.on)
    listed = ", ".join(flavour.name(column) for column in lookup.table.schema)
    counted = f"SELECT {listed}, count(*) OVER (PARTITION BY {keys}) AS osd_same FROM {relation}"
    return f"(SELECT {listed} FROM ({counted} osd_b) osd_d WHERE osd_same = 1)"


def _chosen(choice: UnitChoice, number: int, flavour: Flavour) -> tuple[list[str], str]:
    """The declared values as joined tables, which drop all others; and the condition.

    The place, moved by the hash of the columns that are shared, has to be one of the first.
    """
    joins, places = [], []
    for place, ((column, kind, values), added) in enumerate(
        zip(choice.among, choice.places, strict=True)
    ):
        alias = f"osd_w{number}_{place}"
        listed = ", ".join(
            f"({flavour.writer.write(Literal(kind, value))}, {step})"
            for value, step in zip(values, added, strict=True)
        )
        table = f"(SELECT * FROM (VALUES {listed}) osd_v(osd_value, osd_step))"
        joins.append(f"JOIN {table} {alias} ON osd_s.{flavour.name(column)} = {alias}.osd_value")
        places.append(f"{alias}.osd_step")
    text = flavour.key_text([(f"osd_s.{flavour.name(name)}", kind) for name, kind in choice.within])
    moved = " + ".join([*places, flavour.digest(f"{_SALT} || {text}")])
    return joins, f"({moved}) % {choice.combinations} < {choice.most}"
