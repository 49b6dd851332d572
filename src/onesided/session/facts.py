"""What everybody may know of an opened data set, and what follows from it for a question."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from onesided.data.units import Unit
from onesided.engine.base import PublicTable
from onesided.engine.beside import SecretLookup
from onesided.language import BoundKey, BoundPredicate, Schema
from onesided.language.query import Catalogue
from onesided.language.ranges import Range
from onesided.loss import Number
from onesided.policy import Policy
from onesided.session.amounts import Amount, column_amount
from onesided.session.grouping import Grouping, bound_where, check_bound, check_choice, grouping
from onesided.session.literals import check_literals
from onesided.session.maps import MapOfData
from onesided.session.public import ANY_NAME, public_ranges
from onesided.session.scope import AnyPolicy, Scope, scope
from onesided.session.withheld import Withheld


@dataclass(frozen=True, kw_only=True)
class DatasetFacts:
    """The public side of a data set: all that the terms of a release may depend on.

    - `units`: n.
    - `rows_are_units`: the source itself guarantees that every unit is one row.
    - `durable`: the account is kept in a ledger that outlives this process.
    - `randomness`: where noise comes from, in words.
    - `lookups`: the secret tables whose columns the schema has as well.
    - `withheld`: the columns that never leave.
    - `map`: that over which the policy is closed, and every stricter one.
    - `extra`: what the account keeps of these.
    """

    name: str
    schema: Schema
    unit: Unit
    rows_are_units: bool
    units: int
    policy: AnyPolicy
    partition_by: tuple[str, ...]
    domains: Mapping[str, Sequence[Any]]
    public: Mapping[str, PublicTable]
    durable: bool
    randomness: str
    lookups: tuple[SecretLookup, ...] = ()
    withheld: Withheld = field(default_factory=Withheld)
    map: MapOfData | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns of a sample that names none: neither looked up nor withheld."""
        beside = {name for each in self.lookups for name in each.columns}
        return tuple(each for each in self.schema if each not in beside | self.withheld.columns)

    @property
    def promised(self) -> dict[str, int | None]:
        """How many units a row of each lookup table decides over; None for one."""
        return {each.name: None if each.choice is None else each.units for each in self.lookups}

    @property
    def chosen_share(self) -> float:
        """Of the units that are declared to be possible, those that no lookup leaves out."""
        choices = [each.choice for each in self.lookups if each.choice is not None]
        return min((min(1.0, each.most / each.combinations) for each in choices), default=1.0)

    @cached_property
    def public_ranges(self) -> dict[str, Range]:
        """Between which numbers the columns of the public tables lie."""
        return public_ranges(self.public)

    @property
    def catalogue(self) -> Catalogue:
        """The tables that a SELECT may name."""
        schemas = {name: table.schema for name, table in self.public.items()}
        beside = {each.name: each.on for each in self.lookups}
        return Catalogue((self.name, ANY_NAME), self.schema, schemas, beside)

    def scope(self, policy: str | Policy | None, part: Mapping[str, Any] | None) -> Scope:
        """The policy and part of a request, checked."""
        return scope(self.policy, self.schema, self.partition_by, policy=policy, part=part)

    def filter(self, text: str | None) -> BoundPredicate | None:
        """A filter, checked."""
        where = bound_where(self.schema, text)
        if where is not None:
            check_literals(where, self.domains)
        return where

    def check_sampled(self, where: BoundPredicate | None, within: Scope) -> None:
        """Refuse what would tell withheld values by which units of one sample are shown.

        Coins are shared, so that one sample could be filtered again and again for one price.
        """
        if where is not None:
            self.withheld.refuse(where.columns, "what a sample is filtered by")
        if within.stricter and isinstance(within.policy, Policy):
            self.withheld.refuse(within.policy.columns, "in a stricter policy of a sample")

    def amount(
        self, column: str, bound: Number, grid: Number | None, *, nonnegative: bool
    ) -> Amount:
        """What a unit adds to a sum of `column`, checked."""
        name = self.schema.resolve(column)
        self.withheld.refuse([name], "added up")
        return column_amount(
            self.schema,
            name,
            bound=bound,
            grid=grid,
            nonnegative=nonnegative,
            units=self.units,
        )

    def grouping(
        self,
        within: Scope,
        by: Sequence[str] | str,
        where: str | None,
        max_groups: int | None,
        domain: Mapping[str, Sequence[Any]] | None,
    ) -> Grouping:
        """The groups of a request, checked."""
        return self.groups_of(
            self.schema,
            by=by,
            where=self.filter(where),
            max_groups=max_groups,
            domain=domain or {},
            inside=within.inside,
        )

    def groups_beside(
        self,
        column: BoundKey,
        within: Scope,
        by: Sequence[str] | str,
        where: str | None,
        max_groups: int | None,
        domain: Mapping[str, Sequence[Any]] | None,
    ) -> tuple[Grouping, bool]:
        """The groups of a request beside the values of `column`, of which a bound is about both.

        Also whether a unit has one value of it at most, by construction.
        """
        groups = self.grouping(within, by, where, max_groups, domain)
        return self.beside(column, groups, max_groups)

    def beside(
        self,
        column: BoundKey,
        groups: Grouping,
        max_groups: int | None,
        determined: Collection[str] = (),
    ) -> tuple[Grouping, bool]:
        """The same of groups that are checked.

        - `determined`: joined columns that are constant within each unit.
        """
        self.withheld.refuse(column.columns, "counted in cells")
        one = self.unit.is_row or self.rows_are_units
        single = one or self.constant(determined).issuperset(column.columns)
        if not single and groups.single:
            check_bound(max_groups)
            check_choice(groups.keys)
            groups = replace(groups, max_groups=max_groups, k=max_groups)
            groups = replace(groups, details={**groups.details, "max_groups": max_groups})
        return groups, single

    def groups_of(
        self,
        schema: Schema,
        *,
        by: Sequence[str] | str,
        where: BoundPredicate | None,
        max_groups: int | None,
        domain: Mapping[str, Sequence[Any]],
        inside: BoundPredicate | None,
        determined: Collection[str] = (),
    ) -> Grouping:
        """Groups of a table with this `schema`: the data's, perhaps with joined columns.

        `determined`: joined columns that are constant within each unit.
        """
        groups = grouping(
            schema,
            self.unit,
            by=by,
            where=where,
            max_groups=max_groups,
            domain=domain,
            usual=self.domains,
            part=inside,
            determined=schema if self.rows_are_units else {*determined, *self._determined},
        )
        self.withheld.refuse((name for key in groups.keys for name in key.columns), "grouped by")
        if any(each.choice is not None for each in self.lookups):
            # Units are left out, so that their number does not stand for the total.
            return replace(groups, every_unit_once=False)
        return groups

    def constant(self, determined: Collection[str] = ()) -> frozenset[str]:
        """The columns that are constant within each unit, some `determined` ones among them."""
        return frozenset({*self.unit.columns, *self._determined, *determined})

    @property
    def _determined(self) -> frozenset[str]:
        """The looked-up columns that are constant within each unit."""
        found = (each.determined(self.unit.columns) for each in self.lookups)
        return frozenset().union(*found)
