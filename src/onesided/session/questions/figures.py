"""The figures of a SELECT: each is a question of its own, at an equal share of ε."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from onesided.data.units import Unit
from onesided.engine.lookups import found
from onesided.errors import RequestError
from onesided.language import BoundPredicate, Key, Schema
from onesided.language.query import Aggregate, Select, SelectFigure, key_text
from onesided.loss import Number
from onesided.session.amounts import Amount, column_amount, rows_amount
from onesided.session.domains import both
from onesided.session.facts import DatasetFacts
from onesided.session.grouping import Grouping
from onesided.session.public import determined, lookups
from onesided.session.questions.choosing import counting
from onesided.session.questions.counts import CountingQuestion
from onesided.session.questions.sums import Means, Sums, TotalsQuestion, present_groups
from onesided.session.scope import Scope

GroupQuestion: TypeAlias = CountingQuestion | TotalsQuestion
"""A question about groups."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a SELECT does not say and a promise needs.

    - `max_groups`: the most groups that count for one unit.
    - `max_rows`: the most rows that count for one unit in a group, for COUNT(*) and AVG.
    - `bounds`, `grid`: for each column that is summed, B and the width of a step.
    - `nonnegative`: the columns in which no value is below 0.
    - `domain`: the values of a key, by its name or alias.
    - `mechanism`: what counts units.
    """

    max_groups: int | None = None
    max_rows: int | None = None
    bounds: Mapping[str, Number]
    grid: Mapping[str, Number]
    nonnegative: Collection[str]
    domain: Mapping[str, Sequence[Any]]
    mechanism: str = "auto"


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The questions behind the figures of one statement.

    - `schema`: of the data with the columns of joined tables.
    - `share`: the ε of each figure.
    """

    facts: DatasetFacts
    scope: Scope
    limits: Limits
    share: Fraction
    select: Select
    schema: Schema

    def questions(self) -> dict[SelectFigure, GroupQuestion]:
        """One question a figure, checked."""
        groups = self._groups()
        asked = {figure: self._question(figure, groups) for figure in self.select.figures}
        for question in asked.values():
            question.check()
        return asked

    def _groups(self) -> Grouping:
        select = self.select
        joined = lookups(self.facts.schema, self.facts.public, select.joins)
        inside: BoundPredicate | None = self.scope.inside
        for lookup in joined:
            self.facts.withheld.refuse((own for own, _ in lookup.on), "what a table is joined by")
            inside = both(inside, found(lookup, self.schema))
        groups = self.facts.groups_of(
            self.schema,
            by=[key_text(key) for key in select.keys],
            where=None if select.where is None else select.where.bind(self.schema),
            max_groups=self.limits.max_groups,
            domain=_domains(select, self.limits.domain),
            inside=inside,
            determined=determined(joined, self.facts.unit.columns),
        )
        if not joined:
            return groups
        described = [
            {
                "table": each.table.name,
                "on": [list(pair) for pair in each.on],
                "is": each.table.digest,
            }
            for each in joined
        ]
        return replace(groups, lookups=joined, details={**groups.details, "join": described})

    def _question(self, figure: SelectFigure, groups: Grouping) -> GroupQuestion:
        around: dict[str, Any] = {
            "facts": self.facts,
            "scope": self.scope,
            "epsilon": self.share,
        }
        single = self.facts.rows_are_units
        if figure.aggregate is Aggregate.UNITS:
            _check_unit(figure, self.facts.unit)
        if figure.aggregate is Aggregate.UNITS or (figure.aggregate is Aggregate.ROWS and single):
            return counting(self.limits.mechanism, groups, **around)
        if figure.aggregate is Aggregate.ROWS:
            return Sums(groups=groups, amount=self._rows(figure), **around)
        amount = self._amount(figure)
        present = present_groups(groups, amount, self.schema)
        if figure.aggregate is Aggregate.SUM:
            return Sums(groups=present, amount=amount, **around)
        rows = None if single else self._rows(figure)
        return Means(groups=present, amount=amount, rows=rows, **around)

    def _rows(self, figure: SelectFigure) -> Amount:
        if self.limits.max_rows is None:
            raise RequestError(
                f"A unit ({self.facts.unit}) may have any number of rows in a group; say with "
                f"max_rows how many count for {figure.name}, or count units by COUNT(DISTINCT …)."
            )
        return rows_amount(self.limits.max_rows, self.facts.units)

    def _amount(self, figure: SelectFigure) -> Amount:
        (column,) = figure.columns
        schema, limits = self.schema, self.limits
        self.facts.withheld.refuse([column], "added up")
        bounds, grids = (_by_column(schema, each) for each in (limits.bounds, limits.grid))
        if column not in bounds:
            raise RequestError(
                f"{figure.name} needs a bound on what one unit may add; say it with bounds, such "
                f"as {{'{column}': 100}}."
            )
        return column_amount(
            schema,
            column,
            bound=bounds[column],
            grid=grids.get(column),
            nonnegative=column in {schema.resolve(each) for each in limits.nonnegative},
            units=self.facts.units,
        )


def _domains(select: Select, declared: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """Domains by key; an alias, or a public column without its table, names a key too."""
    keys = {each.name: each.source for each in select.outputs if isinstance(each.source, Key)}
    return {
        key_text(keys[name]) if name in keys else name: values for name, values in declared.items()
    }


def _check_unit(figure: SelectFigure, unit: Unit) -> None:
    if unit.is_row:
        raise RequestError("Every row is a unit here: count them by COUNT(*).")
    if sorted(figure.columns) != sorted(unit.columns):
        raise RequestError(
            f"{figure.name} is not allowed: only units can be counted so, and their key is {unit}."
        )


def _by_column(schema: Schema, values: Mapping[str, Number]) -> dict[str, Number]:
    return {schema.resolve(name): value for name, value in values.items()}
