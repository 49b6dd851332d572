"""The figures of a SELECT: each is a question of its own, at an equal share of ε."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from onesided.data.release import ReleaseKind
from onesided.data.units import Unit
from onesided.engine.base import Lookup
from onesided.engine.lookups import found
from onesided.errors import RequestError
from onesided.language import BoundPredicate, Key, Predicate, Schema
from onesided.language.query import Aggregate, Select, SelectFigure, key_text
from onesided.language.ranges import Range, proven_range
from onesided.language.tree import Column
from onesided.language.types import NUMERIC
from onesided.loss import Number, rational
from onesided.mechanisms.one_sided import OneSided
from onesided.session.amounts import Amount, rows_amount, value_amount
from onesided.session.cells import cells_of, numeric
from onesided.session.domains import both
from onesided.session.facts import DatasetFacts
from onesided.session.grouping import Grouping
from onesided.session.public import determined, lookups, public_ranges
from onesided.session.questions.bounded import AUTO
from onesided.session.questions.choosing import counting
from onesided.session.questions.counts import CountingQuestion
from onesided.session.questions.distinct import DistinctCounts, valued
from onesided.session.questions.found_bounds import BoundedTotals, present
from onesided.session.questions.found_cells import FoundCells, GroupsBeside, ranked
from onesided.session.questions.ranked import RankedCounts, celled
from onesided.session.questions.sums import Means, Sums, TotalsQuestion, present_groups
from onesided.session.results import AskedFigure
from onesided.session.scope import Scope

Bound: TypeAlias = Number | str | tuple[Number, Number]

GroupQuestion: TypeAlias = (
    CountingQuestion | TotalsQuestion | BoundedTotals | RankedCounts | FoundCells | DistinctCounts
)
"""A question about groups."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a SELECT does not say and a promise needs.

    - `max_groups`: the most groups that count for one unit.
    - `max_rows`: the most rows that count for one unit in a group, for COUNT(*) and AVG.
    - `max_values`: the most pairs of a group and a value that count for one unit, for
      COUNT(DISTINCT …) of anything but the units' key.
    - `bounds`: for each column or expression that is summed, B; or a pair, between which the value
      of each row is known to lie. B is then the most that `max_rows` rows add.
    - `grid`: the width of a step of it.
    - `nonnegative`: the columns in which no value is below 0.
    - `domain`: the values of a key, by its name or alias.
    - `mechanism`: what counts units.
    """

    max_groups: int | None = None
    max_rows: int | None = None
    max_values: int | None = None
    bounds: Mapping[str, Bound]
    grid: Mapping[str, Number]
    nonnegative: Collection[str]
    domain: Mapping[str, Sequence[Any]]
    mechanism: str = "auto"

    def ranges(self, schema: Schema) -> dict[str, Range]:
        """Between which numbers columns of this schema are declared to lie."""
        return {
            schema.resolve(name): _range(name, pair)
            for name, pair in self.bounds.items()
            if _is_pair(pair) and any(name.lower() == known.lower() for known in schema)
        }


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

    def questions(self) -> dict[AskedFigure, GroupQuestion]:
        """One question a figure and grouping, checked."""
        asked = {each: self._question(each) for each in AskedFigure.of(self.select)}
        for question in asked.values():
            question.check()
        return asked

    def _groups(self, asked: AskedFigure) -> Grouping:
        select, joined = self.select, self._joined
        inside: BoundPredicate | None = self.scope.inside
        for lookup, join in zip(joined, select.joins, strict=True):
            self.facts.withheld.refuse((own for own, _ in lookup.on), "what a table is joined by")
            if not join.outer:
                inside = both(inside, found(lookup, self.schema))
        keys = [select.keys[place] for place in asked.by]
        groups = self.facts.groups_of(
            self.schema,
            by=[key_text(key) for key in keys],
            where=_filter(select.where, asked.figure.where, self.schema),
            max_groups=self.limits.max_groups,
            domain=_domains(select, keys, self.limits.domain),
            inside=inside,
            determined=determined(joined, self.facts.unit.columns),
        )
        if not joined:
            return groups
        return replace(groups, lookups=joined, details={**groups.details, "join": self._described})

    @cached_property
    def _joined(self) -> tuple[Lookup, ...]:
        """The public tables of the statement; that a key names one row is looked at once."""
        return lookups(self.facts.schema, self.facts.public, self.select.joins)

    @cached_property
    def _described(self) -> list[dict[str, Any]]:
        """The joins as they stand in a request, each table by its content."""
        return [
            {
                "table": each.table.name,
                "on": [list(pair) for pair in each.on],
                "is": each.table.digest,
                **({"outer": True} if join.outer else {}),
            }
            for each, join in zip(self._joined, self.select.joins, strict=True)
        ]

    def _question(self, asked: AskedFigure) -> GroupQuestion:
        figure, groups = asked.figure, self._groups(asked)
        around: dict[str, Any] = {
            "facts": self.facts,
            "scope": self.scope,
            "epsilon": self.share,
        }
        single = self.facts.rows_are_units
        if figure.aggregate is Aggregate.UNITS:
            if figure.value is not None and figure.columns != self.facts.unit.columns:
                return self._distinct(figure.value, groups, around)
            _check_unit(figure, self.facts.unit)
        if figure.aggregate is Aggregate.GROUPS:
            return counting(OneSided.name, groups, **around)
        if figure.aggregate is Aggregate.UNITS or (figure.aggregate is Aggregate.ROWS and single):
            return counting(self.limits.mechanism, groups, **around)
        if figure.aggregate is Aggregate.ROWS:
            return Sums(groups=groups, amount=self._rows(figure), **around)
        if figure.aggregate is Aggregate.QUANTILES:
            return self._ranked(figure, groups, around)
        rows = None if single or figure.aggregate is Aggregate.SUM else self._rows(figure)
        amount = self._amount(figure)
        if amount is None:
            return self._unbounded(figure, groups, rows, around)
        there = present_groups(groups, amount, self.schema)
        if figure.aggregate is Aggregate.SUM:
            return Sums(groups=there, amount=amount, **around)
        return Means(groups=there, amount=amount, rows=rows, **around)

    def _ranked(
        self, figure: SelectFigure, groups: Grouping, around: Mapping[str, Any]
    ) -> RankedCounts | FoundCells:
        """The cells that quantiles are read from, or such as are found."""
        assert figure.value is not None
        value = figure.value.bind(self.schema)
        ranges = self._ranges
        within = ranges.get(value.name) or proven_range(value.typed, ranges)
        constant = determined(self._joined, self.facts.unit.columns)
        beside, single = self.facts.beside(value, groups, self.limits.max_groups, constant)
        if within is None and not self._joined:
            asked = GroupsBeside(self.facts, self.scope, numeric(value), beside, single=single)
            return ranked(ReleaseKind.QUANTILE, self.share, asked, None)
        if within is None or within[0] == within[1]:
            raise RequestError(
                f"{figure.name} needs to know between which numbers {value.name} lies; say it "
                f"with bounds, such as {{'{value.name}': (0, 100)}}."
            )
        cells = cells_of(value, *within)
        return RankedCounts(
            kind=ReleaseKind.QUANTILE,
            groups=celled(beside, cells, self.schema, single=single),
            cells=cells,
            **around,
        )

    def _distinct(self, named: Key, groups: Grouping, around: Mapping[str, Any]) -> DistinctCounts:
        """The number of values that are not the units' key."""
        value = named.bind(self.schema)
        constant = determined(self._joined, self.facts.unit.columns)
        pairs = valued(self.facts, self.schema, groups, value, self.limits.max_values, constant)
        return DistinctCounts(groups=groups, pairs=pairs, value=value, **around)

    def _rows(self, figure: SelectFigure) -> Amount:
        if self.limits.max_rows is None:
            raise RequestError(
                f"A unit ({self.facts.unit}) may have any number of rows in a group; say with "
                f"max_rows how many count for {figure.name}, or count units by COUNT(DISTINCT …)."
            )
        return rows_amount(self.limits.max_rows, self.facts.units)

    def _unbounded(
        self,
        figure: SelectFigure,
        groups: Grouping,
        rows: Amount | None,
        around: Mapping[str, Any],
    ) -> BoundedTotals:
        """A sum or mean that finds its own bound."""
        assert figure.value is not None
        value = figure.value.bind(self.schema)
        if value.type not in NUMERIC:
            raise RequestError(f"{value.name} is {value.type.value}; only numbers can be added up.")
        kind = ReleaseKind.SUM if figure.aggregate is Aggregate.SUM else ReleaseKind.MEAN
        said = value.name in self._by_value(dict.fromkeys(self.limits.nonnegative, 1))
        return BoundedTotals(
            kind=kind,
            groups=present(groups, value, self.schema),
            value=value,
            schema=self.schema,
            grid=self._by_value(self.limits.grid).get(value.name),
            nonnegative=said and kind is ReleaseKind.SUM,
            rows=rows,
            **around,
        )

    def _amount(self, figure: SelectFigure) -> Amount | None:
        """What a unit adds; None where nobody says how much that may be."""
        assert figure.value is not None
        value, limits = figure.value.bind(self.schema), self.limits
        self.facts.withheld.refuse(value.columns, "added up")
        bounds, grids = self._by_value(limits.bounds), self._by_value(limits.grid)
        ranges = self._ranges
        proven = ranges.get(value.name) or proven_range(value.typed, ranges)
        bound = None if value.name in ranges else bounds.get(value.name)
        if bound is None and proven is not None and proven[1] > 0:
            # What each row adds at most, as often as rows of one unit count.
            single = self.facts.rows_are_units
            bound = proven[1] * (1 if single else self._rows(figure).steps)
        if bound is None or bound == AUTO:
            return None
        said = value.name in self._by_value(dict.fromkeys(limits.nonnegative, 1))
        return value_amount(
            value,
            bound=bound,
            grid=grids.get(value.name),
            nonnegative=said or (proven is not None and proven[0] >= 0),
            units=self.facts.units,
        )

    @cached_property
    def _ranges(self) -> dict[str, Range]:
        """Between which numbers values lie, as it is declared or public."""
        bounds = self._by_value(self.limits.bounds)
        declared = {name: _range(name, pair) for name, pair in bounds.items() if _is_pair(pair)}
        return {**self._public_ranges, **declared}

    @cached_property
    def _public_ranges(self) -> dict[str, Range]:
        """Between which numbers the columns of the joined public tables lie."""
        tables = {join.table: self.facts.public[join.source] for join in self.select.joins}
        return public_ranges(tables)

    def _by_value(self, declared: Mapping[str, Any]) -> dict[str, Any]:
        """What is declared of columns, or of expressions of them, by canonical names."""
        return {_value_named(name, self.schema).name: value for name, value in declared.items()}


def _is_pair(bound: Bound) -> bool:
    return isinstance(bound, tuple | list)


def _range(name: str, pair: Any) -> Range:
    """The ends of a declared range."""
    if len(pair) != 2:
        raise RequestError(f"The bounds of {name} are a number, or a pair of the least and most.")
    low, high = (rational(end, f"a bound of {name}") for end in pair)
    if low > high:
        raise RequestError(f"The least that is declared of {name} is above the most.")
    return low, high


def _value_named(text: str, schema: Schema) -> Key:
    """A column's name as it is, else an expression."""
    if any(text.lower() == name.lower() for name in schema):
        return Key(Column(schema.resolve(text)))
    return Key.parse(text).bind(schema)


def _filter(
    where: Predicate | None, own: Predicate | None, schema: Schema
) -> BoundPredicate | None:
    """The rows of a figure: those of the statement for which its own condition holds, too."""
    filters = [None if each is None else each.bind(schema) for each in (where, own)]
    return both(*filters)


def _domains(
    select: Select, keys: Sequence[Key], declared: Mapping[str, Sequence[Any]]
) -> dict[str, Sequence[Any]]:
    """Domains by key; an alias, or a public column without its table, names a key too.

    With subtotals a grouping has some of the statement's keys, and is declared those alone.
    """
    named = {each.name: each.key for each in select.outputs if each.key is not None}
    texts = {
        key_text(named[name]) if name in named else name: values
        for name, values in declared.items()
    }
    absent = {key_text(key) for key in select.keys if key not in keys}
    return {text: values for text, values in texts.items() if text not in absent}


def _check_unit(figure: SelectFigure, unit: Unit) -> None:
    if unit.is_row:
        raise RequestError("Every row is a unit here: count them by COUNT(*).")
    if sorted(figure.columns) != sorted(unit.columns):
        raise RequestError(
            f"{figure.name} is not allowed: only units can be counted so, and their key is {unit}."
        )
