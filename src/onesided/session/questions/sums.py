"""Sums and means by group: one-sided noise on totals that are clipped within each unit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import pyarrow as pa

from onesided.data import Measured
from onesided.data.planned.option import Missing
from onesided.data.release import ReleaseKind, payload_of
from onesided.errors import RequestError
from onesided.language import Schema
from onesided.loss import show
from onesided.mechanisms.sums import (
    expected_mean_error,
    expected_sum_error,
    mean_terms,
    release_mean,
    release_sum,
    sum_terms,
)
from onesided.randomness import MINIMUM_RATE
from onesided.session.amounts import ONE_EACH, Amount
from onesided.session.answers import Layout
from onesided.session.domains import both
from onesided.session.grouping import CountsOfGroups, Grouping
from onesided.session.questions.base import Question, ReleaseTerms, Runnable
from onesided.session.questions.counts import COUNT
from onesided.session.questions.expected import expected_json
from onesided.session.requests import Request
from onesided.session.supposed import NOTHING_KNOWN, Supposed
from onesided.session.table import Reading

SUM = "sum"
MEAN = "mean"


def present_groups(groups: Grouping, amount: Amount, schema: Schema) -> Grouping:
    """The groups without rows in which the column is NULL; n no longer stands for the total."""
    where = both(groups.where, amount.present(schema))
    return replace(groups, where=where, every_unit_once=False)


@dataclass(frozen=True, kw_only=True)
class TotalsQuestion(Question, Runnable):
    """What sums and means have in common."""

    #: What the receipt calls it.
    mechanism: ClassVar[str]

    groups: Grouping
    amount: Amount

    @property
    def by(self) -> str:
        """The name of its mechanism."""
        return self.mechanism

    @property
    def missing(self) -> Missing | None:
        return Missing.MAX_GROUPS if self.groups.k is None else None

    def check(self) -> None:
        """Refuse noise that is too wide to be drawn in steps of the grid; all of it is public."""
        if self.missing is not None:
            raise RequestError(
                "A unit can be in several groups here; say with max_groups how many may count."
            )
        if self.least_rate < MINIMUM_RATE:
            raise RequestError(
                "The grid is too fine for so small an epsilon; choose a coarser grid or a smaller "
                "bound."
            )

    def request_of(self, kind: ReleaseKind, details: Mapping[str, object]) -> Request:
        """The question of this kind, as it is charged and stored."""
        whole = {**self.groups.details, **self.scope.details(), **details}
        return Request(kind, self.scope.policy.id, self.epsilon, whole)

    @property
    def terms(self) -> ReleaseTerms:
        layout = self.layout
        return ReleaseTerms(
            mechanism=self.mechanism,
            figure=self.figure,
            loss=layout.said.loss,
            noise=layout.said.noise,
            randomness=self.facts.randomness,
            columns=layout.schema,
            error={**layout.covered, **expected_json(self)},
        )

    expected_of: ClassVar[str] = "non-sensitive units"

    @property
    @abstractmethod
    def figure(self) -> str:
        """What is released, in words."""

    @property
    def clipped(self) -> str:
        """What one unit adds, in words."""
        within = f"each unit clipped to [0, {show(self.amount.bound)}] in a group"
        return f"{within}{self.groups.counted}"

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The columns of the answer."""

    @property
    @abstractmethod
    def least_rate(self) -> Fraction:
        """The least rate of the noise, in steps of the grid."""


@dataclass(frozen=True, kw_only=True)
class Sums(TotalsQuestion):
    """A sum of amounts for each group; with rows as amounts, a count of rows."""

    mechanism: ClassVar[str] = "one-sided-sum"

    @property
    def request(self) -> Request:
        kind = ReleaseKind.COUNT if self.amount.value is None else ReleaseKind.SUM
        return self.request_of(kind, self.amount.details)

    @property
    def least_rate(self) -> Fraction:
        return self.epsilon / (self.groups.bound * self.amount.steps)

    @property
    def figure(self) -> str:
        return f"{self._what} of units, {self.clipped}"

    @property
    def _what(self) -> str:
        value = self.amount.value
        return "number of rows" if value is None else f"sum of {value}"

    @property
    def layout(self) -> Layout:
        rows = self.amount.value is None
        what = "number of rows" if rows else "sum"
        words = {
            Measured.NONSENSITIVE: f"{what} of non-sensitive units, {self.clipped}",
            Measured.ALL: f"{what} of all units",
        }
        said = sum_terms(
            self.epsilon,
            ceiling=self.amount.steps,
            step=self.amount.grid,
            k=self.groups.bound,
            nonnegative=self.amount.nonnegative,
        )
        return Layout(self.groups.keys, COUNT if rows else SUM, said, words=words)

    def expected_error(self, supposed: Supposed = NOTHING_KNOWN) -> float | None:
        """Of the sums of non-sensitive units, which groups and their number play no part in."""
        if self.missing is not None:
            return None
        amount, k = self.amount, self.groups.bound
        return expected_sum_error(self.epsilon, ceiling=amount.steps, step=amount.grid, k=k)

    @property
    def counts(self) -> tuple[CountsOfGroups, ...]:
        return (CountsOfGroups(self.groups, (self.amount.total,)),)

    def run(self, reading: Reading) -> bytes:
        keys, (data,) = reading.totals(self.groups, (self.amount.total,))
        measurement = release_sum(self.amount.totals(data), self.epsilon, reading.rng)
        return payload_of(self.layout.table(keys, data, measurement))


@dataclass(frozen=True, kw_only=True)
class Means(TotalsQuestion):
    """A mean for each group: of the units' totals, or where `rows` is given of the rows."""

    mechanism: ClassVar[str] = "one-sided-mean"

    rows: Amount | None = None

    @property
    def request(self) -> Request:
        details = {**self.amount.details, **({} if self.rows is None else self.rows.details)}
        return self.request_of(ReleaseKind.MEAN, details)

    @property
    def least_rate(self) -> Fraction:
        """Half of ε is for the sum, half for the count."""
        steps = max(self.amount.steps, self._counted.steps)
        return self.epsilon / 2 / (self.groups.bound * steps)

    @property
    def _counted(self) -> Amount:
        """What a unit adds to the count: its rows, or itself."""
        return ONE_EACH if self.rows is None else self.rows

    @property
    def figure(self) -> str:
        what = "units' totals" if self.rows is None else "rows"
        return f"mean of {what} of {self.amount.value}, {self.clipped}"

    @property
    def layout(self) -> Layout:
        what = "totals of non-sensitive units" if self.rows is None else "non-sensitive rows"
        words = {Measured.NONSENSITIVE: f"mean of {what}, {self.clipped}"}
        said = mean_terms(
            self.epsilon,
            ceiling=self.amount.steps,
            step=self.amount.grid,
            k=self.groups.bound,
            counted=self._counted.steps,
        )
        beside = ((SUM, pa.float64()), (COUNT, pa.int64()))
        return Layout(self.groups.keys, MEAN, said, beside, words)

    def expected_error(self, supposed: Supposed = NOTHING_KNOWN) -> float | None:
        """Of the means of non-sensitive units, which follow from how many there are in a group.

        A group without any has no mean.
        """
        public = self.groups.public(self.facts.units, supposed=supposed)
        if self.missing is not None or public.density is None:
            return None
        units = public.density * supposed.nonsensitive_share
        filled = [(share, size) for share, size in supposed.sizes if size]
        return sum(
            share
            / sum(share for share, _ in filled)
            * expected_mean_error(
                self.epsilon,
                ceiling=self.amount.steps,
                step=self.amount.grid,
                k=public.k,
                counted=self._counted.steps,
                count=units * size,
            )
            for share, size in filled
        )

    @property
    def assumes(self) -> str:
        rows = "" if self.rows is None else " with a row each"
        return f"units are spread evenly over the groups{rows}, and means are half of the bound"

    @property
    def counts(self) -> tuple[CountsOfGroups, ...]:
        return (CountsOfGroups(self.groups, (self.amount.total, self._counted.total)),)

    def run(self, reading: Reading) -> bytes:
        """Sum and count are found in one pass, so that both are about the same groups."""
        amounts = (self.amount, self._counted)
        keys, found = reading.totals(self.groups, tuple(each.total for each in amounts))
        sums, counts = (each.totals(data) for each, data in zip(amounts, found, strict=True))
        measurement = release_mean(sums, counts, self.epsilon, reading.rng)
        beside = (measurement.parts["sum"], measurement.parts["count"])
        return payload_of(self.layout.table(keys, found[0], measurement, beside))
