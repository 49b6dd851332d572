"""Lookup tables: declared when a data set is opened, bound to its unit, and kept in its account.

A row of a lookup decides over every unit that finds it. The promise is about units, so a lookup is
taken where each of its rows is found by one unit at most, or where `max_units` bounds how many.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from onesided.data.units import Unit
from onesided.engine.base import Engine
from onesided.engine.beside import FoundTable, HoldsLookups, SecretLookup, UnitChoice
from onesided.engine.names import check_names
from onesided.errors import RequestError, SourceError
from onesided.language import Field, Key, Schema, Type
from onesided.language.canonical import literal_text
from onesided.language.tree import Column
from onesided.lists import split_list
from onesided.loss import Loss, show
from onesided.session.domains import domain_of
from onesided.session.public import ANY_NAME, JOINABLE
from onesided.session.withheld import TERM as WITHHELD
from onesided.session.withheld import Withheld

TERM = "lookups"
"""What the terms of an account call them."""
MOST_COMBINATIONS = 100_000
"""The declared units that one row may decide over: their values are part of every statement."""


@dataclass(frozen=True, kw_only=True)
class LookupTable:
    """A secret table beside the data, whose columns become columns of every row.

    - `source`: where it is: a path or glob, or a table in memory.
    - `table`: instead, a table of the server or catalogue that the data are in.
    - `on`: the columns of its key, as `device` or, where the data call it otherwise, `device=id`;
      by default the columns that both tables have.
    - `max_units`: the most units that one of its rows may decide over. It has to be said where the
      key lacks a column of the unit's key. The possible values of those columns are then declared
      in `domains`, and a public rule leaves all other units out.
    """

    source: Any = None
    table: str | None = None
    on: str | Sequence[str] = ()
    max_units: int | None = None


_KNOWN = tuple(each.name for each in fields(LookupTable))


def declared(lookups: Mapping[str, Any] | None) -> dict[str, LookupTable]:
    """The lookups as they were declared; each a `LookupTable`, a mapping like it, or its source."""
    return {name: _declared(name, given) for name, given in (lookups or {}).items()}


def beside_and_withheld(
    engine: Engine,
    tables: Mapping[str, LookupTable],
    withhold: str | Sequence[str],
    *,
    agreed: Mapping[str, Any] | None,
    domains: Mapping[str, Sequence[Any]],
    taken: Collection[str],
) -> tuple[tuple[SecretLookup, ...], Withheld, dict[str, Any]]:
    """The lookups, the columns that never leave, and what the account keeps of both.

    - `agreed`: what an account that exists keeps.
    """
    before = (agreed or {}).get(TERM, {})
    found = attached(engine, tables, agreed=before, domains=domains, taken=taken)
    withheld = Withheld.of(withhold, engine.schema, found, (agreed or {}).get(WITHHELD, ()))
    extra = {TERM: lookup_terms(found, before)} if found else {}
    return found, withheld, {**extra, **withheld.terms(agreed)}


def attached(
    engine: Engine,
    tables: Mapping[str, LookupTable],
    *,
    agreed: Mapping[str, Any],
    domains: Mapping[str, Sequence[Any]],
    taken: Collection[str],
) -> tuple[SecretLookup, ...]:
    """Open the tables and have the engine look rows up in them.

    - `agreed`: the terms of an account that knows them.
    - `taken`: the names of other tables.
    """
    if not tables:
        return ()
    if not isinstance(engine, HoldsLookups):
        raise SourceError("This engine has no lookup tables.")
    _check_table_names(tables, taken)
    found = [
        _bound(
            engine.lookup_table(name, each.source, each.table, agreed.get(name, {}).get("format")),
            each,
            engine.schema,
            engine.unit,
            domains,
        )
        for name, each in tables.items()
    ]
    check_names([*engine.schema, *(name for each in found for name in each.columns)], "The data")
    engine.look_up(tuple(found))
    return tuple(found)


def lookup_terms(found: Sequence[SecretLookup], agreed: Mapping[str, Any]) -> dict[str, Any]:
    """What an account keeps of them; a format that was agreed stays as it is."""
    return {
        each.name: {
            "on": [list(pair) for pair in each.on],
            "max_units": None if each.choice is None else each.units,
            "among": {} if each.choice is None else _among(each.choice),
            "format": agreed.get(each.name, {}).get("format") or dict(each.table.format),
        }
        for each in found
    }


def lookup_statement(found: Sequence[SecretLookup], loss: Loss) -> dict[str, Any]:
    """What a receipt says of them; nothing where there are none."""
    if not found:
        return {}
    said = {
        each.name: {
            "on": [list(pair) for pair in each.on],
            "units_of_a_row": each.units,
            "epsilon_of_a_row": show(loss.epsilon * each.units),
        }
        for each in found
    }
    return {TERM: said}


def lookup_promise(units: Mapping[str, int | None], loss: Loss) -> str:
    """What is promised for a row of each table, in words; `units` says how many it decides over."""
    return "".join(
        f" Replacing one row of the lookup table {name}, all of whose units are sensitive, "
        f"replaces at most {most or 1} of them: a factor of at most "
        f"e^{show(loss.epsilon * (most or 1))}."
        for name, most in units.items()
    )


def row_costs(found: Sequence[SecretLookup]) -> tuple[str, ...]:
    """What a plan says of lookups whose rows decide over several units."""
    return tuple(
        f"a row of {each.name} decides over up to {each.units:,} units, at {each.units:,} times ε; "
        "other units are left out"
        for each in found
        if each.choice is not None
    )


def _declared(name: str, given: Any) -> LookupTable:
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in _KNOWN]
        if unknown:
            raise RequestError(
                f"The lookup {name} has an unknown key {unknown[0]!r}; known are "
                f"{', '.join(_KNOWN)}."
            )
        given = LookupTable(**given)
    table = given if isinstance(given, LookupTable) else LookupTable(source=given)
    if (table.source is None) == (table.table is None):
        raise RequestError(f"The lookup {name} needs either a source or a table.")
    most = table.max_units
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise RequestError(f"max_units of the lookup {name} must be a whole number of at least 1.")
    return table


def _check_table_names(tables: Mapping[str, LookupTable], taken: Collection[str]) -> None:
    lower = [name.lower() for name in tables]
    others = {each.lower() for each in (*taken, ANY_NAME)}
    if len(set(lower)) < len(lower) or others & set(lower):
        raise SourceError("Each lookup table needs a name of its own, other than the data's.")
    if any(not name.strip() or "." in name for name in tables):
        raise SourceError("A lookup table needs a name without a dot.")


def _bound(
    table: FoundTable,
    given: LookupTable,
    schema: Schema,
    unit: Unit,
    domains: Mapping[str, Sequence[Any]],
) -> SecretLookup:
    """The lookup on this unit; refused where one of its rows decides over too many of them."""
    wide = Schema.of({**dict(schema.fields), **{k.name: Field(k.type) for k in unit.computed}})
    pairs = _pairs(table, given.on, wide)
    for own, other in pairs:
        kinds = wide[own].type, table.schema[other].type
        if kinds[0] is not kinds[1] or kinds[0] not in JOINABLE:
            raise SourceError(
                f"{own} is {kinds[0].value} and {table.name}.{other} is {kinds[1].value}; a lookup "
                "compares integers, texts, booleans, dates or timestamps of one type."
            )
    key = {own for own, _ in pairs}
    lacking = [column for column in unit.columns if column not in key]
    if unit.columns and not lacking:
        return SecretLookup(table, pairs)
    shared = [column for column in unit.columns if column in key]
    if not shared:
        raise SourceError(
            f"One row of the lookup table {table.name} would decide over any number of units, "
            f"since its key has no column of the unit's key ({unit}): name another unit, or open "
            "a table that everybody may see as a public one."
        )
    if given.max_units is None:
        raise SourceError(
            f"One row of the lookup table {table.name} decides over all units with the same "
            f"{', '.join(shared)}, and the promise is for one: make {', '.join(shared)} the unit, "
            f"or say with max_units how many of these units count, at a multiple of ε."
        )
    within = tuple((column, wide[column].type) for column in shared)
    choice = UnitChoice(given.max_units, within, _values(table, lacking, unit, schema, domains))
    if choice.combinations > MOST_COMBINATIONS:
        raise SourceError(
            f"The declared values of {', '.join(lacking)} make {choice.combinations:,} units for a "
            f"row of {table.name}; declare at most {MOST_COMBINATIONS:,}."
        )
    return SecretLookup(table, pairs, choice)


def _pairs(
    table: FoundTable, on: str | Sequence[str], schema: Schema
) -> tuple[tuple[str, str], ...]:
    """The columns of the data beside those of the key."""
    listed = split_list(on) if isinstance(on, str) else list(on)
    if not listed:
        pairs = tuple((name, name) for name in schema if name in table.schema)
        if not pairs:
            raise SourceError(
                f"The data and the lookup table {table.name} have no column in common; say by "
                'which they are matched, as on="device=id".'
            )
        return pairs
    pairs = tuple(_pair(each, table, schema) for each in listed)
    if len({own for own, _ in pairs}) < len(pairs) or len({each for _, each in pairs}) < len(pairs):
        raise SourceError(f"The key of the lookup table {table.name} names a column twice.")
    return pairs


def _pair(text: str, table: FoundTable, schema: Schema) -> tuple[str, str]:
    own, mark, other = (part.strip() for part in text.partition("="))
    return schema.resolve(own), table.schema.resolve(other if mark else own)


def _values(
    table: FoundTable,
    lacking: Sequence[str],
    unit: Unit,
    schema: Schema,
    domains: Mapping[str, Sequence[Any]],
) -> tuple[tuple[str, Type, tuple[Any, ...]], ...]:
    """The declared values of each column of the unit's key that the lookup's key lacks.

    They are sorted by their texts, so that the order of a declaration decides nothing.
    """
    computed = {key.name: key for key in unit.computed}
    known = {Key.parse(text).name: values for text, values in domains.items()}
    found = []
    for column in lacking:
        key = computed.get(column) or Key(Column(column)).bind(schema)
        domain = domain_of(key, known.get(column))
        if domain is None or domain.catch_all:
            raise SourceError(
                f"max_units of {table.name} chooses among declared units: list the possible values "
                f"of {column} in domains, all of them."
            )
        values = tuple(sorted(domain.values, key=literal_text))
        found.append((column, key.type, values))
    return tuple(found)


def _among(choice: UnitChoice) -> dict[str, Any]:
    """The declared values, by a digest: with others, other units would be chosen."""
    return {
        column: hashlib.sha256("\0".join(map(literal_text, values)).encode()).hexdigest()
        for column, _, values in choice.among
    }
