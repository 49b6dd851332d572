"""Values that somebody wrote down and that the table does not have, or the other way round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onesided.data.values import python_values
from onesided.errors import PolicyError
from onesided.language import BoundKey, BoundPredicate, Key, Type
from onesided.language.canonical import canonical_text
from onesided.language.tree import (
    Bucket,
    Column,
    Compare,
    Comparison,
    Expression,
    Like,
    Literal,
    PartOf,
)
from onesided.language.walking import walk
from onesided.session.checking.counted import Counted
from onesided.session.checking.report import Concern
from onesided.session.domains import domain_of
from onesided.session.literals import equated
from onesided.session.maps import MapOfData
from onesided.spelling import closest

#: Values among which the nearest one is looked for; more would take minutes.
_MOST_COMPARED = 100_000
_SHOWN = 5


def unknown_literals(policy: BoundPredicate, table: Counted) -> Iterator[Concern]:
    """Values and patterns in the policy that no row has: most likely misspelt."""
    compared: dict[Expression, list[Literal]] = defaultdict(list)
    for part in walk(policy.expression):
        for expression, literal in equated(part):
            if literal.value is not None and literal not in compared[expression]:
                compared[expression].append(literal)
        if isinstance(part, Like) and table.units(part) == 0:
            text = canonical_text(part)
            yield Concern("policy", f"Nothing in the data is {text}, so it makes no difference.")
    for expression, literals in compared.items():
        yield from _missing(expression, literals, table)


def off_the_map(found: MapOfData, table: Counted) -> Iterator[Concern]:
    """Places of the data that the map does not have: everybody who was there is sensitive."""
    key = Key(Column(found.place)).bind(table.engine.schema)
    known = found.closed.edges.numbers
    values = python_values(table.values(key))
    lost = [each for each in values if each is not None and each not in known]
    if lost:
        names = ", ".join(map(str, sorted(lost, key=str)[:_SHOWN]))
        yield Concern(
            "map",
            f"{len(lost):,} places of the data are not on it, so that all who were there are "
            f"sensitive: {names}{', …' if len(lost) > _SHOWN else ''}.",
        )


def _missing(
    expression: Expression, literals: Sequence[Literal], table: Counted
) -> Iterator[Concern]:
    where = canonical_text(expression)
    missing = [
        each for each in literals if table.units(Compare(Comparison.EQUAL, expression, each)) == 0
    ]
    for literal, nearest in zip(missing, _nearest(expression, missing, table), strict=True):
        hint = "" if nearest is None else f"; did you mean {canonical_text(nearest)}?"
        sentence = f"{canonical_text(literal)} does not occur in {where}"
        yield Concern("policy", sentence + (hint or ", so it makes no difference."))


def _nearest(
    expression: Expression, missing: Sequence[Literal], table: Counted
) -> list[Literal | None]:
    """For each text that is missing the one in the table that looks most like it."""
    texts = [each for each in missing if isinstance(each.value, str)]
    key = _key(expression, table) if texts else None
    if key is None or key.type is not Type.TEXT:
        return [None] * len(missing)
    known = [each for each in python_values(table.values(key)[:_MOST_COMPARED]) if each is not None]
    return [_like(each, known) for each in missing]


def _like(literal: Literal, known: Sequence[str]) -> Literal | None:
    found = closest(str(literal.value), known)
    return None if found is None else Literal(literal.type, found)


def _key(expression: Expression, table: Counted) -> BoundKey | None:
    match expression:
        case Column() | PartOf(_, Column()) | Bucket(Column()):
            return Key(expression).bind(table.engine.schema)
        case _:
            return None


def unlike_domains(domains: Mapping[str, Sequence[Any]], table: Counted) -> Iterator[Concern]:
    """Declared values that do not occur, and values that occur and are not declared."""
    for name, declared in domains.items():
        try:
            key = Key.parse(name).bind(table.engine.schema)
        except PolicyError as error:
            yield Concern(name, f"The domain fits no column: {error}")
            continue
        domain = domain_of(key, declared)
        assert domain is not None
        occurring = dict.fromkeys(python_values(table.values(key)))
        absent = [each for each in domain.values if each not in occurring]
        if absent:
            yield Concern(name, f"In its domain, but in no row: {_listed(absent)}.")
        listed = set(domain.values)
        beyond = [each for each in occurring if each is not None and each not in listed]
        if beyond and not domain.catch_all:
            yield Concern(
                name, f"In the data, but not in its domain, so never counted: {_listed(beyond)}."
            )


def _listed(values: Sequence[Any]) -> str:
    shown = ", ".join(repr(str(each)) for each in values[:_SHOWN])
    more = len(values) - _SHOWN
    return shown + (f" and {more:,} more" if more > 0 else "")
