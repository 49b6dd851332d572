"""Questions from what a user says: checked, free, and the same for a release and for a plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from onesided.data.askable import FOUND, USUAL_CELLS
from onesided.data.release import ReleaseKind
from onesided.language import Key
from onesided.language.tree import Column, Value
from onesided.loss import Number
from onesided.mechanisms.rr import RandomizedResponse
from onesided.policy import Policy
from onesided.session.amounts import Amount, rows_amount
from onesided.session.best_bound import without_bound
from onesided.session.cells import column_key, equal_cells, given_cells, numeric
from onesided.session.describing import description
from onesided.session.facts import DatasetFacts
from onesided.session.grouping import Grouping
from onesided.session.questions.base import Question
from onesided.session.questions.bounded import AUTO, BoundedCount
from onesided.session.questions.choosing import counting, released_mechanism
from onesided.session.questions.composed import AskedStatement, statement
from onesided.session.questions.counts import CountingQuestion
from onesided.session.questions.described import DescribedColumns
from onesided.session.questions.distinct import DistinctCounts, valued
from onesided.session.questions.figures import Bound, Limits
from onesided.session.questions.found_bounds import BoundedTotals, present
from onesided.session.questions.found_cells import FoundCells, GroupsBeside, ranked
from onesided.session.questions.ngrams import ngram_groups
from onesided.session.questions.ranked import RankedCounts
from onesided.session.questions.samples import Samples, chosen_columns
from onesided.session.questions.sums import Means, Sums, present_groups
from onesided.session.questions.touches import SampledTouches, Touches
from onesided.session.scope import Scope
from onesided.session.supposed import Basis
from onesided.session.table import SecretTable
from onesided.spelling import arguments_named

MaxGroups: TypeAlias = int | str | None
"""The most groups that count for a unit, or "auto"."""


@dataclass(frozen=True)
class Asker:
    """Makes questions at a checked ε of the arguments of `Dataset`, which explains them."""

    facts: DatasetFacts
    table: SecretTable

    @arguments_named
    def sample(
        self,
        epsilon: Fraction,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        *,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        into: str | None = None,
        fresh: bool = False,
    ) -> Samples:
        """True rows."""
        within = self.facts.scope(policy, part)
        chosen, leaving = chosen_columns(self.facts, self.table.engine, columns)
        filtered = self.facts.filter(where)
        self.facts.check_sampled(filtered, within)
        return Samples(
            facts=self.facts,
            scope=within,
            epsilon=epsilon,
            columns=chosen,
            where=filtered,
            leaving=leaving,
            shared=not fresh,
            place=None if into is None else self.table.placing(into),
        )

    def groups(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        max_groups: MaxGroups = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> tuple[Grouping, Scope]:
        """The groups of a count, which any mechanism can be asked for."""
        within = self.facts.scope(policy, part)
        return _bounded(
            max_groups, lambda most: self.facts.grouping(within, by, where, most, domain)
        ), within

    def ngram_groups(
        self,
        n: int,
        *,
        by: str,
        order: str,
        max_groups: MaxGroups = None,
        domain: Sequence[Any] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> tuple[Grouping, Scope]:
        """The groups of a count of n-grams."""
        within = self.facts.scope(policy, part)
        return _bounded(
            max_groups,
            lambda most: ngram_groups(self.facts, within, n, by, order, most, domain),
        ), within

    def counting(
        self,
        epsilon: Fraction,
        groups: Grouping,
        within: Scope,
        mechanism: str = "auto",
        parameters: Mapping[str, Any] | None = None,
    ) -> CountingQuestion:
        """How many units are in each of these groups."""
        return counting(
            mechanism,
            groups,
            facts=self.facts,
            scope=within,
            epsilon=epsilon,
            parameters=parameters,
        )

    def bounded(
        self,
        epsilon: Fraction,
        groups: Grouping,
        within: Scope,
        basis: Basis,
        mechanism: str = "auto",
        parameters: Mapping[str, Any] | None = None,
    ) -> Question:
        """The same with the bound that promises the least error; `basis` is what is known."""
        sampled = isinstance(released_mechanism(mechanism, parameters or {}), RandomizedResponse)
        if groups.single or sampled:
            return self.counting(epsilon, groups, within, mechanism, parameters)
        return BoundedCount(
            facts=self.facts,
            scope=within,
            epsilon=epsilon,
            mechanism=mechanism,
            groups=groups,
            parameters=dict(parameters or {}),
            supposed=basis.supposed,
            known_from="; ".join(basis.sources) if basis.supposed.touched is not None else "",
        )

    def touches(
        self, epsilon: Fraction, groups: Grouping, within: Scope, *, sampled: bool = False
    ) -> Touches:
        """In how many of these groups units are; with `sampled` those of a sample at ε."""
        kind = SampledTouches if sampled else Touches
        return kind(facts=self.facts, scope=within, epsilon=epsilon, groups=groups)

    @arguments_named
    def sum(
        self,
        epsilon: Fraction,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        bound: Number,
        grid: Number | None = None,
        nonnegative: bool = False,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> Sums | BoundedTotals:
        """The sum of a column in each group."""
        within = self.facts.scope(policy, part)
        groups = self.facts.grouping(within, by, where, max_groups, domain)
        if bound == AUTO:
            return self._unbounded(
                ReleaseKind.SUM, epsilon, column, within, groups, grid, nonnegative=nonnegative
            )
        amount = self.facts.amount(column, bound, grid, nonnegative=nonnegative)
        return Sums(
            facts=self.facts,
            scope=within,
            epsilon=epsilon,
            groups=present_groups(groups, amount, self.facts.schema),
            amount=amount,
        )

    @arguments_named
    def mean(
        self,
        epsilon: Fraction,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        bound: Number,
        grid: Number | None = None,
        max_rows: int | None = None,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> Means | BoundedTotals:
        """The mean of a column in each group."""
        within = self.facts.scope(policy, part)
        groups = self.facts.grouping(within, by, where, max_groups, domain)
        rows = None if max_rows is None else rows_amount(max_rows, self.facts.units)
        if bound == AUTO:
            return self._unbounded(
                ReleaseKind.MEAN, epsilon, column, within, groups, grid, rows=rows
            )
        amount = self.facts.amount(column, bound, grid, nonnegative=False)
        return Means(
            facts=self.facts,
            scope=within,
            epsilon=epsilon,
            groups=present_groups(groups, amount, self.facts.schema),
            amount=amount,
            rows=rows,
        )

    def _unbounded(
        self,
        kind: ReleaseKind,
        epsilon: Fraction,
        column: str,
        within: Scope,
        groups: Grouping,
        grid: Number | None,
        *,
        nonnegative: bool = False,
        rows: Amount | None = None,
    ) -> BoundedTotals:
        """A sum or mean that finds its own bound."""
        schema = self.facts.schema
        value = Key(Column(schema.resolve(column))).bind(schema)
        self.facts.withheld.refuse(value.columns, "added up")
        return BoundedTotals(
            facts=self.facts,
            scope=within,
            epsilon=epsilon,
            kind=kind,
            groups=present(groups, value, schema),
            value=value,
            schema=schema,
            grid=grid,
            nonnegative=nonnegative,
            rows=rows,
        )

    @arguments_named
    def distinct(
        self,
        epsilon: Fraction,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        max_values: int | None = None,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> DistinctCounts:
        """How many different values of a column there are in each group."""
        within = self.facts.scope(policy, part)
        groups = self.facts.grouping(within, by, where, max_groups, domain)
        schema = self.facts.schema
        value = Key.parse(column).bind(schema)
        pairs = valued(self.facts, schema, groups, value, max_values)
        return DistinctCounts(
            facts=self.facts,
            scope=within,
            epsilon=epsilon,
            groups=groups,
            pairs=pairs,
            value=value,
        )

    @arguments_named
    def quantile(
        self,
        epsilon: Fraction,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        bounds: Sequence[Any] | str = FOUND,
        cells: int = USUAL_CELLS,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> RankedCounts | FoundCells:
        """The cells that quantiles of a column in each group are read from."""
        within = self.facts.scope(policy, part)
        found = None if bounds == FOUND else equal_cells(self.facts.schema, column, bounds, cells)
        beside = self._beside(column, within, by, where, max_groups, domain)
        return ranked(ReleaseKind.QUANTILE, epsilon, beside, found, cells)

    @arguments_named
    def histogram(
        self,
        epsilon: Fraction,
        column: str,
        edges: Sequence[Any] | None = None,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> RankedCounts | FoundCells:
        """The units of each group in the cells between these edges, or in cells that are found."""
        within = self.facts.scope(policy, part)
        found = None if edges is None else given_cells(self.facts.schema, column, edges)
        beside = self._beside(column, within, by, where, max_groups, domain)
        return ranked(ReleaseKind.HISTOGRAM, epsilon, beside, found)

    @arguments_named
    def describe(
        self,
        epsilon: Fraction,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        *,
        max_values: int = 1,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> DescribedColumns:
        """What the columns hold."""
        within = self.facts.scope(policy, part)
        return description(self.facts, within, epsilon, columns, where, max_values)

    def _beside(
        self,
        column: str,
        within: Scope,
        by: Sequence[str] | str,
        where: str | None,
        max_groups: int | None,
        domain: Mapping[str, Sequence[Any]] | None,
    ) -> GroupsBeside:
        key = numeric(column_key(self.facts.schema, column))
        groups, single = self.facts.groups_beside(key, within, by, where, max_groups, domain)
        return GroupsBeside(self.facts, within, key, groups, single=single)

    @arguments_named
    def sql(
        self,
        epsilon: Fraction,
        query: str,
        parameters: Sequence[Value] = (),
        *,
        mechanism: str = "auto",
        max_groups: int | None = None,
        max_rows: int | None = None,
        max_values: int | None = None,
        bounds: Mapping[str, Bound] | None = None,
        grid: Mapping[str, Number] | None = None,
        nonnegative: Collection[str] = (),
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> AskedStatement:
        """One SELECT, a question for each of its figures."""
        limits = Limits(
            max_groups=max_groups,
            max_rows=max_rows,
            max_values=max_values,
            bounds=bounds or {},
            grid=grid or {},
            nonnegative=nonnegative,
            domain=domain or {},
            mechanism=mechanism,
        )
        within = self.facts.scope(policy, part)
        return statement(query, parameters, self.facts, limits, within, epsilon)


def _bounded(max_groups: MaxGroups, asked: Callable[[int | None], Grouping]) -> Grouping:
    """Groups with a bound, or, where it is to be found, such as allow for one."""
    if max_groups != AUTO:
        return asked(max_groups)  # type: ignore[arg-type]
    return without_bound(asked(1))
