"""Columns as they were understood, and those that had better not leave in a sample."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from onesided.language import Field, Key, Schema, Type
from onesided.language.tree import Column, Like
from onesided.session.checking.counted import Counted
from onesided.session.checking.report import ColumnSeen, Concern

#: Words in a column's name that say whom a row is about.
_PERSONAL = re.compile(
    r"(^|_|\b)(e?_?mail|(first|last|full|sur|user|given|family)_?name|name|phone|telephone|mobile"
    r"|street|address|iban|passport|ssn|social_security|licen[cs]e|plate|mac|imei|ip)(_|\b|$)",
    re.IGNORECASE,
)
_MAIL = "%_@_%._%"
_NEARLY_ALL = 0.9
#: Below so many units nearly every column has a value for each of them.
_FEW = 20


def seen(schema: Schema, unit: tuple[str, ...]) -> tuple[ColumnSeen, ...]:
    """Every column with its type."""
    return tuple(
        ColumnSeen(name, field.type.value, field.nullable, _note(name, field, unit))
        for name, field in schema.fields
    )


def _note(name: str, field: Field, unit: tuple[str, ...]) -> str:
    notes = ["part of the unit key"] if name in unit else []
    kind = field.type
    if field.zone is not None:
        notes.append(f"hours and days are those in {field.zone}")
    elif field.zoned:
        notes.append("a time with a zone; hours and days are those in UTC unless time_zone is said")
    elif kind is Type.TIMESTAMP:
        notes.append("a time without a zone, as it is written")
    if kind is Type.OTHER:
        notes.append("of a type of which a policy can only ask whether it is NULL")
    return "; ".join(notes)


def identifiers(table: Counted, units: int, shown: Iterable[str]) -> Iterator[Concern]:
    """Columns that look as if they named somebody, among those that a sample of all publishes."""
    schema = table.engine.schema
    for name in shown:
        if name in table.engine.unit.columns:
            continue
        why = _why_personal(name, schema[name].type, table, units)
        if why is not None:
            yield Concern(
                name,
                f"It {why}, and a sample publishes it; withhold it, or name the "
                "columns of a sample.",
                withhold=True,
            )


def _why_personal(name: str, kind: Type, table: Counted, units: int) -> str | None:
    if _PERSONAL.search(name):
        return "is called like something that names a person"
    if kind is not Type.TEXT:
        return None
    if table.units(Like(Column(name), _MAIL)):
        return "holds e-mail addresses"
    distinct = len(table.values(Key(Column(name)).bind(table.engine.schema)))
    if units >= _FEW and distinct >= _NEARLY_ALL * units:
        return "has another value for nearly every unit"
    return None
