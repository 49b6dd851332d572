"""Sums, means and SQL: the questions of a data set that are not about counts of units alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from onesided.data.release import QueryRelease, Receipt, Release, TableRelease
from onesided.language.tree import Value
from onesided.loss import Number, privacy_loss
from onesided.policy import Policy
from onesided.session.amounts import column_amount, rows_amount
from onesided.session.cursor import Cursor
from onesided.session.grouping import Grouping
from onesided.session.scope import Scope
from onesided.session.sql import Limits, Surroundings, asked
from onesided.session.summing import Averaging, Summing, present_groups
from onesided.session.workbench import Workbench

Result = TypeVar("Result")


class Figures(ABC):
    """What `Dataset` answers by one-sided sums, and by several releases at once."""

    def sum(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        bound: Number,
        epsilon: Number,
        grid: Number | None = None,
        nonnegative: bool = False,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
    ) -> Release:
        """The sum of `column` in each group, with one-sided noise of scale k·B/ε.

        - `bound`: B; a unit's total in a group is clipped to [0, B].
        - `grid`: values are rounded down to whole steps of it; 1 for integers, the last digit of
          decimals, a millionth of the bound otherwise.
        - `nonnegative`: the steward says that no value is below 0; the sum of all units then has a
          certain lower bound.
        - `by`, `where`, `max_groups`, `domain`, `policy`, `part`, `fresh`: as in `count`.
        """
        exact = privacy_loss(epsilon)
        within = self._scope(policy, part)
        around = self._surroundings()
        amount = column_amount(
            around.engine.schema,
            column,
            bound=bound,
            grid=grid,
            nonnegative=nonnegative,
            units=around.units,
        )
        groups = self._grouping(by, where, max_groups, domain, within)
        question = Summing(present_groups(groups, amount, around.engine.schema), amount)
        return self._released(question, exact, within, fresh=fresh)

    def mean(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        bound: Number,
        epsilon: Number,
        grid: Number | None = None,
        max_rows: int | None = None,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
    ) -> Release:
        """The mean of the units' totals of `column` in each group: a sum and a count at ε/2 each.

        - `max_rows`: take the mean over rows instead, of which so many count for one unit in a
          group.
        - all others: as in `sum`. Units and rows without a value are left out.
        """
        exact = privacy_loss(epsilon)
        within = self._scope(policy, part)
        around = self._surroundings()
        amount = column_amount(
            around.engine.schema,
            column,
            bound=bound,
            grid=grid,
            nonnegative=False,
            units=around.units,
        )
        rows = None if max_rows is None else rows_amount(max_rows, around.units)
        groups = self._grouping(by, where, max_groups, domain, within)
        present = present_groups(groups, amount, around.engine.schema)
        return self._released(Averaging(present, amount, rows), exact, within, fresh=fresh)

    def sql(
        self,
        query: str,
        parameters: Sequence[Value] = (),
        *,
        epsilon: Number,
        mechanism: str = "auto",
        max_groups: int | None = None,
        max_rows: int | None = None,
        bounds: Mapping[str, Number] | None = None,
        grid: Mapping[str, Number] | None = None,
        nonnegative: Collection[str] = (),
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
    ) -> QueryRelease:
        """Answer one SELECT: COUNT(*), COUNT(DISTINCT unit), SUM and AVG by group.

        - `query`: FROM names the data set or `data`; public tables of the data set can be joined.
        - `parameters`: the values of `?` in it.
        - `epsilon`: what all figures cost together, each an equal share.
        - `mechanism`: what counts units; as in `count`.
        - `max_rows`: the most rows that count for one unit in a group.
        - `bounds`, `grid`, `nonnegative`: as in `sum`, by column.
        - all others: as in `count`; `domain` also by alias.
        """
        exact = privacy_loss(epsilon)
        within = self._scope(policy, part)
        limits = Limits(
            max_groups=max_groups,
            max_rows=max_rows,
            bounds=bounds or {},
            grid=grid or {},
            nonnegative=nonnegative,
            domain=domain or {},
            mechanism=mechanism,
        )
        statement = asked(query, parameters, self._surroundings(), limits, within, exact)
        return self._paid(lambda bench: statement.release(bench, exact, fresh=fresh), exact, within)

    def cursor(self, *, epsilon: Number, **options: Any) -> Cursor:
        """A cursor whose `execute` asks `sql` at `epsilon` each time, with the same options."""
        privacy_loss(epsilon)
        return Cursor(
            lambda query, parameters: self.sql(query, parameters, epsilon=epsilon, **options)
        )

    def _released(
        self, question: Summing | Averaging, epsilon: Fraction, within: Scope, *, fresh: bool
    ) -> Release:
        question.check(epsilon)
        stored = self._paid(
            lambda bench: question.release(bench, epsilon, fresh=fresh), epsilon, within
        )
        return TableRelease(Receipt(stored.receipt), stored.payload)

    @abstractmethod
    def _scope(self, policy: str | Policy | None, part: Mapping[str, Any] | None) -> Scope:
        """The policy and part of a request, checked."""

    @abstractmethod
    def _grouping(
        self,
        by: Sequence[str] | str,
        where: str | None,
        max_groups: int | None,
        domain: Mapping[str, Sequence[Any]] | None,
        within: Scope,
    ) -> Grouping:
        """The groups of a request, checked."""

    @abstractmethod
    def _surroundings(self) -> Surroundings:
        """The data set as a statement sees it."""

    @abstractmethod
    def _paid(self, run: Callable[[Workbench], Result], epsilon: Fraction, within: Scope) -> Result:
        """Do `run` on a workbench, one request at a time."""
