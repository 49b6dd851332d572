"""A data set that is elsewhere, as an analyst may ask it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from onesided.client import fields as said
from onesided.client.fields import cell, fields, number, scope
from onesided.client.remote import RemoteData
from onesided.data.answers import Answers
from onesided.data.askable import FOUND, USUAL_CELLS, Askable
from onesided.data.cells import (
    USUAL_QUANTILES,
    HistogramRelease,
    QuantileRelease,
    checked_quantiles,
)
from onesided.data.described import DescriptionRelease
from onesided.data.release import QueryRelease, SampleRelease, TableRelease
from onesided.dbapi import Cursor, connect
from onesided.language.tree import Value
from onesided.loss import Number
from onesided.policy import Policy
from onesided.spelling import arguments_named


class RemoteDataset(RemoteData):
    """A data set at a server; made by `onesided.connect`.

    Its methods are those of `onesided.Dataset`, which explains their arguments. A question is
    answered at its deadline, which the steward has set. Asking again is free.
    """

    @arguments_named
    def sample(
        self,
        epsilon: Number,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        *,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        stands_for: Sequence[str | Sequence[str]] | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        noisy: bool = False,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> SampleRelease:
        """True rows of the non-sensitive units, each unit kept whole with probability 1 − e^−ε."""
        asked = said.sample_fields(
            where,
            columns,
            policy=policy,
            part=part,
            stands_for=stands_for,
            domain=domain,
            noisy=noisy,
        )
        return self._ask("sample", asked, epsilon, fresh, purpose, yes, self._answers.sample)

    @arguments_named
    def count(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        mechanism: str = "auto",
        max_groups: int | str | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
        **parameters: Any,
    ) -> TableRelease:
        """How many units are in each group."""
        asked = {
            **said.groups(by, where, max_groups, domain, policy, part),
            **said.mechanism_fields(mechanism, parameters),
        }
        return self._ask("count", asked, epsilon, fresh, purpose, yes, self._answers.table)

    @arguments_named
    def ngrams(
        self,
        n: int,
        *,
        by: str,
        order: str,
        epsilon: Number,
        max_groups: int | str | None = None,
        mechanism: str = "auto",
        domain: Sequence[Any] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
        **parameters: Any,
    ) -> TableRelease:
        """How many units have each n-gram: n values of `by` in rows that follow one another."""
        values = None if domain is None else said.cells(domain)
        asked = {
            **fields(n=n, by=by, order=order, max_groups=max_groups, domain=values),
            **said.mechanism_fields(mechanism, parameters),
            **scope(policy, part),
        }
        return self._ask("ngrams", asked, epsilon, fresh, purpose, yes, self._answers.table)

    @arguments_named
    def touches(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        sampled: bool = False,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> TableRelease:
        """How many non-sensitive units are in so many groups."""
        asked = {**said.groups(by, where, None, domain, policy, part), **fields(sampled=sampled)}
        return self._ask("touches", asked, epsilon, fresh, purpose, yes, self._answers.table)

    @arguments_named
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
        purpose: str = "",
        yes: bool = False,
    ) -> TableRelease:
        """The sum of `column` in each group, with one-sided noise of scale k·B/ε."""
        own = fields(column=column, bound=number(bound), grid=number(grid), nonnegative=nonnegative)
        asked = {**own, **said.groups(by, where, max_groups, domain, policy, part)}
        return self._ask("sum", asked, epsilon, fresh, purpose, yes, self._answers.table)

    @arguments_named
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
        purpose: str = "",
        yes: bool = False,
    ) -> TableRelease:
        """The mean of the units' totals of `column` in each group, or that of rows."""
        own = fields(column=column, bound=number(bound), grid=number(grid), max_rows=max_rows)
        asked = {**own, **said.groups(by, where, max_groups, domain, policy, part)}
        return self._ask("mean", asked, epsilon, fresh, purpose, yes, self._answers.table)

    @arguments_named
    def quantile(
        self,
        column: str,
        at: float | Sequence[float] = USUAL_QUANTILES,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        bounds: Sequence[Any] | str = FOUND,
        epsilon: Number,
        cells: int = USUAL_CELLS,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> QuantileRelease:
        """Quantiles of `column` in each group, read from one release of counts of its cells."""
        wanted = checked_quantiles(at)
        said_bounds = None if bounds == FOUND else said.cells(bounds)
        own = fields(column=column, bounds=said_bounds, cells=cells)
        asked = {**own, **said.groups(by, where, max_groups, domain, policy, part)}
        shown = partial(self._answers.quantiles, at=wanted)
        return self._ask("quantile", asked, epsilon, fresh, purpose, yes, shown)

    @arguments_named
    def histogram(
        self,
        column: str,
        edges: Sequence[Any] | None = None,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> HistogramRelease:
        """How many units of each group have a value of `column` in each cell."""
        own = fields(column=column, edges=None if edges is None else said.cells(edges))
        asked = {**own, **said.groups(by, where, max_groups, domain, policy, part)}
        shown = self._answers.histogram
        return self._ask("histogram", asked, epsilon, fresh, purpose, yes, shown)

    @arguments_named
    def distinct(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        max_values: int | None = None,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> TableRelease:
        """How many different values of `column` non-sensitive units have in each group."""
        own = fields(column=column, max_values=max_values)
        asked = {**own, **said.groups(by, where, max_groups, domain, policy, part)}
        return self._ask("distinct", asked, epsilon, fresh, purpose, yes, self._answers.table)

    @arguments_named
    def describe(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        *,
        epsilon: Number,
        max_values: int = 1,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> DescriptionRelease:
        """What each column holds: missing and different values, and how the values are spread."""
        own = fields(columns=said.listed(columns), where=where, max_values=max_values)
        asked = {**own, **scope(policy, part)}
        shown = self._answers.description
        return self._ask("describe", asked, epsilon, fresh, purpose, yes, shown)

    @arguments_named
    def sql(
        self,
        query: str,
        parameters: Sequence[Value] = (),
        *,
        epsilon: Number,
        mechanism: str = "auto",
        max_groups: int | None = None,
        max_rows: int | None = None,
        max_values: int | None = None,
        bounds: Mapping[str, Number | tuple[Number, Number]] | None = None,
        grid: Mapping[str, Number] | None = None,
        nonnegative: Collection[str] = (),
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> QueryRelease:
        """Answer one SELECT: COUNT(*), COUNT(DISTINCT unit), SUM and AVG by group."""
        asked = said.select_fields(
            query,
            parameters,
            mechanism=mechanism,
            max_groups=max_groups,
            max_rows=max_rows,
            max_values=max_values,
            bounds=bounds,
            grid=grid,
            nonnegative=nonnegative,
            domain=domain,
            policy=policy,
            part=part,
        )
        return self._ask("sql", asked, epsilon, fresh, purpose, yes, self._answers.select)

    @arguments_named
    def run(
        self,
        questions: Sequence[Mapping[str, Any]],
        *,
        epsilon: Number | None = None,
        purpose: str = "",
        yes: bool = False,
        part: Mapping[str, Any] | None = None,
    ) -> Answers:
        """The answers to several questions, charged all or none."""
        from onesided.client.several import SeveralQuestions

        several = SeveralQuestions.of(self, questions)
        about = None if part is None else {name: cell(value) for name, value in part.items()}
        asked = fields(epsilon=number(epsilon), part=about, yes=yes, purpose=purpose or None)
        asked["questions"] = list(several.sent)
        return self._answers.ask("run", asked, several.answers)

    @arguments_named
    def cursor(self, *, epsilon: Number, **options: Any) -> Cursor:
        """A cursor whose `execute` asks `sql` at `epsilon` each time, with the same options."""
        return connect(self, epsilon=epsilon, **options).cursor()


if TYPE_CHECKING:

    def _may_be_asked(dataset: RemoteDataset) -> Askable:
        """It is asked like a data set in the process."""
        return dataset
