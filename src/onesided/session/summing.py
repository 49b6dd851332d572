"""Sums and means by group: one-sided noise on totals that are clipped within each unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from onesided.data import Histogram, Measured, Measurement
from onesided.data.release import ReleaseKind, payload_of
from onesided.engine.base import GroupCounts
from onesided.errors import ReleaseFailed, RequestError
from onesided.language import Schema
from onesided.ledger import Charge, StoredRelease
from onesided.loss import Loss, show
from onesided.mechanisms.sums import GridTotals, release_mean, release_sum
from onesided.randomness import MINIMUM_RATE
from onesided.session.amounts import Amount
from onesided.session.answers import answer_table, error_statement
from onesided.session.domains import both
from onesided.session.grouping import Grouping
from onesided.session.kernel import Produced
from onesided.session.receipts import Outcome
from onesided.session.requests import Request
from onesided.session.scope import Scope
from onesided.session.workbench import Workbench

SUM = "sum"
MEAN = "mean"
COUNT = "count"


def present_groups(groups: Grouping, amount: Amount, schema: Schema) -> Grouping:
    """The groups without rows in which the column is NULL; n no longer stands for the total."""
    where = both(groups.where, amount.present(schema))
    return replace(groups, where=where, every_unit_once=False)


@dataclass(frozen=True)
class Summing:
    """A sum of amounts for each group; with rows as amounts, a count of rows."""

    groups: Grouping
    amount: Amount

    def check(self, epsilon: Fraction) -> None:
        """Refuse, before anything is paid, what cannot be answered."""
        _check_rate(self.groups, self.amount, epsilon)

    def planned_loss(self, epsilon: Fraction) -> Loss:
        """The pair that the release costs."""
        return Loss(0, epsilon)

    def request(self, scope: Scope, epsilon: Fraction) -> Request:
        """The question as it is charged and stored."""
        kind = ReleaseKind.COUNT if self.amount.column is None else ReleaseKind.SUM
        return _request(kind, self.groups, self.amount.details, scope, epsilon)

    def release(self, bench: Workbench, epsilon: Fraction, *, fresh: bool) -> StoredRelease:
        """Charge, add up, add noise and store; or what was stored for an equal request."""
        request = self.request(bench.scope, epsilon)

        def produce(charge: Charge) -> Produced:
            counts, data = bench.counted(self.groups, total=self.amount.total)
            measured = release_sum(self.amount.totals(data), epsilon, bench.rng)
            measurement = self.amount.in_its_type(measured)
            figure = COUNT if self.amount.column is None else SUM
            table = answer_table(counts, data, measurement, figure)
            outcome = _outcome("one-sided-sum", bench, measurement, self._words())
            return payload_of(table), bench.receipt(request, outcome, [charge])

        spending = bench.scope.spending(self.planned_loss(epsilon))
        return bench.kernel.paid(request, spending, produce, fresh=fresh)

    def _words(self) -> dict[Measured, str]:
        what = "number of rows" if self.amount.column is None else "sum"
        return {
            Measured.NONSENSITIVE: f"{what} of non-sensitive units, {_clipped(self.amount)}",
            Measured.ALL: f"{what} of all units",
        }


@dataclass(frozen=True)
class Averaging:
    """A mean for each group: of the units' totals, or where `rows` is given of the rows."""

    groups: Grouping
    amount: Amount
    rows: Amount | None = None

    def check(self, epsilon: Fraction) -> None:
        """Refuse, before anything is paid, what cannot be answered."""
        for amount in (self.amount, self.rows):
            if amount is not None:
                _check_rate(self.groups, amount, epsilon / 2)

    def planned_loss(self, epsilon: Fraction) -> Loss:
        """The pair that the release costs: half of it for the sum, half for the count."""
        return Loss(0, epsilon)

    def request(self, scope: Scope, epsilon: Fraction) -> Request:
        """The question as it is charged and stored."""
        details = {**self.amount.details, **({} if self.rows is None else self.rows.details)}
        return _request(ReleaseKind.MEAN, self.groups, details, scope, epsilon)

    def release(self, bench: Workbench, epsilon: Fraction, *, fresh: bool) -> StoredRelease:
        """Charge, add up and count, add noise and store; or what was stored already."""
        request = self.request(bench.scope, epsilon)

        def produce(charge: Charge) -> Produced:
            groups, sums = bench.counted(self.groups, total=self.amount.total)
            counts = self._counted(bench, groups)
            measurement = release_mean(self.amount.totals(sums), counts, epsilon, bench.rng)
            table = self._table(answer_table(groups, sums, measurement, MEAN), measurement)
            outcome = _outcome("one-sided-mean", bench, measurement, self._words())
            return payload_of(table), bench.receipt(request, outcome, [charge])

        spending = bench.scope.spending(self.planned_loss(epsilon))
        return bench.kernel.paid(request, spending, produce, fresh=fresh)

    def _counted(self, bench: Workbench, summed: GroupCounts) -> Histogram | GridTotals:
        """The units, or rows, of the very groups that were summed."""
        total = None if self.rows is None else self.rows.total
        groups, counts = bench.counted(self.groups, total=total)
        if not groups.keys.equals(summed.keys):
            raise ReleaseFailed(
                "The data changed between two statements, and the charge stands; open them again."
            )
        return counts if self.rows is None else self.rows.totals(counts)

    def _table(self, table: pa.Table, measurement: Measurement) -> pa.Table:
        """The mean with the sum and the count that it is made from beside it."""
        place = len(self.groups.keys) + 1
        count = np.rint(measurement.parts["count"]).astype(np.int64).reshape(-1)
        table = table.add_column(place, COUNT, pa.array(count))
        return table.add_column(place, SUM, pa.array(measurement.parts["sum"].reshape(-1)))

    def _words(self) -> dict[Measured, str]:
        what = "totals of non-sensitive units" if self.rows is None else "non-sensitive rows"
        return {Measured.NONSENSITIVE: f"mean of {what}, {_clipped(self.amount)}"}


def _outcome(
    mechanism: str, bench: Workbench, measurement: Measurement, words: Mapping[Measured, str]
) -> Outcome:
    return Outcome(
        mechanism=mechanism,
        loss=measurement.loss,
        noise=measurement.noise,
        randomness=bench.rng.description,
        error=error_statement(measurement, None, words=words),
    )


def _check_rate(groups: Grouping, amount: Amount, epsilon: Fraction) -> None:
    """Refuse noise that is too wide to be drawn in steps of the grid; all of it is public."""
    if epsilon / (_bound(groups) * amount.steps) < MINIMUM_RATE:
        raise RequestError(
            "The grid is too fine for so small an epsilon; choose a coarser grid or a smaller "
            "bound."
        )


def _bound(groups: Grouping) -> int:
    """k, refused where a unit could be in any number of groups."""
    if groups.k is None:
        raise RequestError(
            "A unit can be in several groups here; say with max_groups how many may count."
        )
    return groups.k if groups.bins is None else min(groups.k, groups.bins)


def _request(
    kind: ReleaseKind,
    groups: Grouping,
    details: Mapping[str, object],
    scope: Scope,
    epsilon: Fraction,
) -> Request:
    whole = {**groups.details, **scope.details(), **details}
    return Request(kind, scope.policy.id, epsilon, whole)


def _clipped(amount: Amount) -> str:
    return f"each unit clipped to [0, {show(amount.bound)}] in a group"
