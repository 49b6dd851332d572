"""The questions of a description: which columns are described, and what is asked of each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from onesided.data.described import CELLS, DISTINCT, MISSING, VALUES
from onesided.data.release import ReleaseKind
from onesided.errors import RequestError
from onesided.language import BoundKey, Key, Predicate, Type
from onesided.language.tree import Case, Column, Expression, IsNull, Literal, Not
from onesided.language.types import NUMERIC, TEMPORAL
from onesided.session.cells import column_key
from onesided.session.domains import Domain, both
from onesided.session.facts import DatasetFacts
from onesided.session.grouping import Grouping
from onesided.session.questions.choosing import counting
from onesided.session.questions.described import (
    DESCRIBED_CELLS,
    DISTINCT_SHARE,
    MISSING_SHARE,
    ColumnQuestions,
    DescribedColumns,
    PartQuestion,
)
from onesided.session.questions.distinct import VALUE_KEY, DistinctCounts, ValueKey, valued
from onesided.session.questions.found_cells import GroupsBeside, ranked
from onesided.session.scope import Scope

_ORDERED = NUMERIC | TEMPORAL
_LISTED = frozenset({Type.TEXT, Type.BOOLEAN})
_EXACT, _SEEN = "laplace", "residual"
"""What counts units without a value, and what lists values and counts all units that have them."""


@dataclass(frozen=True)
class Describer:
    """Describes columns of rows that satisfy `where`, each at `share` of ε."""

    facts: DatasetFacts
    scope: Scope
    where: str | None
    max_values: int | None
    share: Fraction

    def column(self, name: str) -> ColumnQuestions:
        """What is asked about a column; of a type without values only what is missing."""
        self.facts.withheld.refuse([name], "described")
        kind = self.facts.schema[name].type
        parts: dict[str, PartQuestion] = {}
        if kind not in _ORDERED | _LISTED:
            return ColumnQuestions(name, kind, {MISSING: self._missing(name, self.share)})
        key = column_key(self.facts.schema, name)
        parts[MISSING] = self._missing(name, self.share * MISSING_SHARE)
        left, groups, single = self.share * (1 - MISSING_SHARE), *self._beside(key)
        if single or kind not in (Type.FLOAT, Type.DECIMAL):
            parts[DISTINCT] = self._distinct(key, groups)
            left -= self.share * DISTINCT_SHARE
        if kind in _LISTED:
            parts[VALUES] = self._values(key, groups, left, single=single)
        else:
            beside = GroupsBeside(self.facts, self.scope, key, groups, single=single)
            found = ranked(ReleaseKind.QUANTILE, left, beside, None, DESCRIBED_CELLS)
            parts[CELLS] = found  # type: ignore[assignment]
        return ColumnQuestions(name, kind, parts)

    def _beside(self, key: BoundKey) -> tuple[Grouping, bool]:
        return self.facts.groups_beside(key, self.scope, (), self.where, self.max_values, None)

    def _missing(self, name: str, epsilon: Fraction) -> PartQuestion:
        """A unit without a value in one of its rows counts once."""
        groups = self.facts.grouping(self.scope, (), self.where, None, None)
        missing = Predicate(IsNull(Column(name)))
        return self._counting(_EXACT, self._restricted(groups, missing), epsilon)

    def _distinct(self, key: BoundKey, groups: Grouping) -> DistinctCounts:
        plain = replace(groups, max_groups=None, k=1)
        return DistinctCounts(
            facts=self.facts,
            scope=self.scope,
            epsilon=self.share * DISTINCT_SHARE,
            groups=plain,
            pairs=valued(self.facts, self.facts.schema, plain, key, self.max_values),
            value=key,
        )

    def _values(
        self, key: BoundKey, groups: Grouping, epsilon: Fraction, *, single: bool
    ) -> PartQuestion:
        there = Predicate(Not(IsNull(key.expression)))
        value, domain = key, None  # type: BoundKey, Domain | None
        if key.type is Type.BOOLEAN:
            value, domain = self._as_number(key), Domain((0, 1))
        listed = replace(
            self._restricted(groups, there),
            keys=(ValueKey(value.expression, value.typed),),
            domains={VALUE_KEY: domain},
            max_groups=None if single else groups.max_groups,
            k=1 if single else groups.k,
        )
        return self._counting(_SEEN, listed, epsilon)

    def _restricted(self, groups: Grouping, to: Predicate) -> Grouping:
        """The same without rows that do not satisfy this; n no longer stands for the total."""
        where = both(groups.where, to.bind(self.facts.schema))
        return replace(groups, where=where, every_unit_once=False)

    def _as_number(self, key: BoundKey) -> BoundKey:
        false, true = Literal(Type.INTEGER, 0), Literal(Type.INTEGER, 1)
        whole: Expression = Case(None, ((key.expression, true),), false)
        return Key(whole).bind(self.facts.schema)

    def _counting(self, mechanism: str, groups: Grouping, epsilon: Fraction) -> PartQuestion:
        return counting(mechanism, groups, facts=self.facts, scope=self.scope, epsilon=epsilon)


def description(
    facts: DatasetFacts,
    scope: Scope,
    epsilon: Fraction,
    columns: Sequence[str] | None,
    where: str | None,
    max_values: int | None,
) -> DescribedColumns:
    """A description of these columns, or of all that may be shown."""
    named = chosen(facts, columns)
    asked = Describer(facts, scope, where, max_values, epsilon / len(named))
    return DescribedColumns(
        facts=facts,
        scope=scope,
        epsilon=epsilon,
        columns=tuple(map(asked.column, named)),
        where=where,
        max_values=max_values,
    )


def chosen(facts: DatasetFacts, columns: Sequence[str] | None) -> list[str]:
    """The columns to describe, each once."""
    if columns is None:
        return list(facts.shown)
    if isinstance(columns, str) or not columns:
        raise RequestError('columns is a list of columns, such as ["age", "paid"].')
    found = [facts.schema.resolve(each) for each in columns]
    _check_once(found)
    return found


def _check_once(columns: Collection[str]) -> None:
    if len(set(columns)) < len(columns):
        raise RequestError("Each column is described once.")
