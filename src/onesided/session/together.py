"""Counts and sums of the same groups, found in one pass: each is a total of one counting query.

Rows that only some of them count add to those alone. Where a unit is cut to some of its groups, the
cut follows from the rows: then only counts of the same rows go together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.engine.base import CountQuery, Engine, Figure, GroupCounts, Total
from onesided.language import BoundKey, BoundPredicate, Type
from onesided.language.tree import And, Case, Expression, IsNull, Literal, Not

_Condition: TypeAlias = tuple[Expression, Expression]
"""A part of a filter as it was said, and with its types."""

_ONE = Literal(Type.INTEGER, 1)
_A_UNIT = Total(None, Fraction(1), 1)
"""What counts each unit once."""
_ALL_ROWS = Total(None, Fraction(1), 2**31)
"""What counts the rows of each unit."""


@dataclass
class CountsTogether:
    """What several runs are going to count, each found when the first of its kind is asked for."""

    engine: Engine
    wanted: Callable[[], Sequence[CountQuery]]
    _found: list[tuple[CountQuery, GroupCounts]] = field(default_factory=list, init=False)
    _same: dict[tuple[_Condition, ...], bool] = field(default_factory=dict, init=False)

    @cached_property
    def _wanted(self) -> Sequence[CountQuery]:
        """Only a run, which is paid for, finds out who is sensitive."""
        return self.wanted()

    def found(self, query: CountQuery) -> GroupCounts | None:
        """The counts that were found together with others; None where there are no others."""
        known = next((counts for each, counts in self._found if each == query), None)
        wanted = self._wanted
        if known is not None or query not in wanted:
            return known
        alike = [each for each in dict.fromkeys([query, *wanted]) if _bare(each) == _bare(query)]
        if query.max_groups is not None:
            alike = self._cut_alike(query, alike)
        if len(alike) == 1:
            return None
        self._found += zip(alike, _counted(self.engine, alike), strict=True)
        return self._found[-len(alike)][1]

    def _cut_alike(self, query: CountQuery, others: Sequence[CountQuery]) -> list[CountQuery]:
        """Those that cut units to the same groups: they count the same rows.

        Whether a column is NULL anywhere is looked up once for all that ask for it.
        """
        rows = _but_for_null(query)
        alike = [each for each in others if _but_for_null(each) == rows]
        if rows not in self._same:
            self._same[rows] = _count_the_same_rows(self.engine, alike)
        return alike if self._same[rows] else [each for each in alike if each.where == query.where]


def _bare(query: CountQuery) -> CountQuery:
    return replace(query, where=None, totals=())


def _but_for_null(query: CountQuery) -> tuple[_Condition, ...]:
    """What it asks of rows, but that columns are there."""
    return tuple(each for each in _conditions(query.where) if not _asks_for_value(each[0]))


def _asks_for_value(condition: Expression) -> bool:
    return isinstance(condition, Not) and isinstance(condition.operand, IsNull)


def _rows(queries: Sequence[CountQuery]) -> tuple[CountQuery, list[list[_Condition]]]:
    """What all of them ask of rows, as a query, and what each asks beside it."""
    filters = [_conditions(each.where) for each in queries]
    shared = [part for part in filters[0] if all(part in each for each in filters)]
    own = [[part for part in each if part not in shared] for each in filters]
    return replace(queries[0], where=_all(shared), totals=()), own


def _count_the_same_rows(engine: Engine, queries: Sequence[CountQuery]) -> bool:
    """Whether all rows that may count do so for all of them, as where nothing is NULL."""
    whole, own = _rows(queries)
    if not any(own):
        return True
    totals = (_ALL_ROWS, _within([part for rows in own for part in rows], _ALL_ROWS))
    every, met = engine.count(replace(whole, by=(), max_groups=None, totals=totals)).figures
    return bool((every.all == met.all).all())


def _counted(engine: Engine, queries: Sequence[CountQuery]) -> list[GroupCounts]:
    """The answers to all of them, by one query for their totals.

    In most tables each group has a unit that all of them count, and then all of them have the same
    groups; else who is in which is found in a second pass. Where units are cut, all count the same
    rows.
    """
    whole, own = _rows(queries)
    if whole.max_groups is not None:
        own = [[] for _ in queries]
    wanted = [
        [_within(rows, each) for each in query.totals or (_A_UNIT,)]
        for rows, query in zip(own, queries, strict=True)
    ]
    by_all = _within([part for rows in own for part in rows], _A_UNIT)
    keys, (there, *figures) = _totals(engine, whole, [[by_all], *wanted])
    present = [there[0].all] * len(queries)
    if not there[0].all.all():
        by_each = [[_within(rows, _A_UNIT)] for rows in own]
        present = [units.all for (units,) in _totals(engine, whole, by_each)[1]]
    return [
        _of_those(keys, each, units) if whole.by else GroupCounts(keys, each)
        for each, units in zip(figures, present, strict=True)
    ]


def _totals(
    engine: Engine, whole: CountQuery, wanted: Sequence[Sequence[Total]]
) -> tuple[pa.Table, list[tuple[Figure, ...]]]:
    """The groups, and the figures of each list of totals; equal ones are added up once."""
    different = tuple(dict.fromkeys(each for totals in wanted for each in totals))
    found = engine.count(replace(whole, totals=different))
    by_total = dict(zip(different, found.figures, strict=True))
    return found.keys, [tuple(by_total[each] for each in totals) for totals in wanted]


def _of_those(keys: pa.Table, figures: tuple[Figure, ...], units: NDArray[np.int64]) -> GroupCounts:
    """The groups that have units."""
    there = np.flatnonzero(units)
    kept = tuple(Figure(each.all[there], each.nonsensitive[there]) for each in figures)
    return GroupCounts(keys.take(pa.array(there)), kept)


def _conditions(where: BoundPredicate | None) -> list[_Condition]:
    """What a filter asks, each part for itself."""
    return [] if where is None else _parts(where.expression, where.typed)


def _parts(said: Expression, typed: Expression) -> list[_Condition]:
    if not (isinstance(said, And) and isinstance(typed, And)):
        return [(said, typed)]
    if len(said.operands) != len(typed.operands):
        return [(said, typed)]
    pairs = zip(said.operands, typed.operands, strict=True)
    return [part for pair in pairs for part in _parts(*pair)]


def _all(conditions: Sequence[_Condition]) -> BoundPredicate | None:
    if not conditions:
        return None
    if len(conditions) == 1:
        return BoundPredicate(*conditions[0])
    said, typed = zip(*conditions, strict=True)
    return BoundPredicate(And(said), And(typed))


def _within(own: Sequence[_Condition], total: Total) -> Total:
    """The same total of the rows for which these conditions hold; others add nothing."""
    value = total.value
    if value is not None:
        # NULL adds nothing anyhow.
        own = [each for each in own if each[0] != Not(IsNull(value.expression))]
    condition = _all(list(dict.fromkeys(own)))
    if condition is None:
        return total
    value = value or BoundKey(_ONE, _ONE)
    said = Case(None, ((condition.expression, value.expression),), None)
    typed = Case(None, ((condition.typed, value.typed),), None)
    return replace(total, value=BoundKey(said, typed))
