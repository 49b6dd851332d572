"""The books of an account inside one transaction: what a charge would do to them, and does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onesided.ledger.base import Order, Quote, Spending
from onesided.ledger.chain import Entry, EntryKind
from onesided.ledger.records import (
    books_to_json,
    order_to_json,
    reserves,
    spending_from_json,
    standing_from_json,
)
from onesided.ledger.rows import LedgerRows, kind_name, request_name
from onesided.ledger.totals import Booking, Standing, addresses
from onesided.loss import Loss


@dataclass(frozen=True)
class AccountBooks:
    """The account whose first entry is `account`."""

    rows: LedgerRows
    account: int

    def fetch(self, orders: Sequence[Order], snapshot: int) -> None:
        """Everything that charges look at, in one statement."""
        names = [
            kind_name(kind) for kind in (EntryKind.SNAPSHOT, EntryKind.CHARGE, EntryKind.BUDGET)
        ]
        for order in orders:
            names += [
                request_name(kind, order.request, snapshot)
                for kind in (EntryKind.CHARGE, EntryKind.RELEASE)
            ]
            names += addresses(order.spending, snapshot).values()
        self.rows.look_up(self.account, list(dict.fromkeys(names)))

    def standing(self) -> Standing:
        """What the account has spent; its sums are not looked up."""
        latest = self.rows.latest(self.account, EntryKind.CHARGE)
        return Standing() if latest is None else standing_from_json(latest.body()["content"])

    def quote(self, spending: Spending, snapshot: int, *, reserved: bool) -> Quote:
        """The price now."""
        before = self._touched(spending, snapshot)
        spent = before.spent
        _book(before, spending, snapshot, reserved=reserved)
        budget = self.rows.budget(self.account)
        return Quote(
            cost=before.spent - spent, total=before.pair, budget=budget, left=budget - spent
        )

    def charge(self, order: Order, snapshot: int) -> Entry:
        """Write a charge; whether it fits the budget is for the caller to see."""
        standing = self._touched(order.spending, snapshot)
        spent = standing.spent
        booking = _book(standing, order.spending, snapshot, reserved=order.reserves)
        cost, budget = standing.spent - spent, self.rows.budget(self.account)
        return self.rows.append(
            EntryKind.CHARGE,
            account=self.account,
            label=order.request,
            snapshot=snapshot,
            content={**order_to_json(order), **books_to_json(booking, standing, cost, budget)},
            names=self._moved(booking, order.spending, snapshot),
        )

    def settle(self, paid: Entry, chosen: Loss, terms: dict[str, Any]) -> Entry:
        """Write the settlement of the reservation `paid`."""
        assert paid.snapshot is not None
        spending = spending_from_json(paid.body()["content"]["spending"])
        standing = self._touched(spending, paid.snapshot)
        booked = standing.total.epsilon
        booking = standing.settle(spending, chosen, paid.snapshot)
        cost, budget = standing.total.epsilon - booked, self.rows.budget(self.account)
        return self.rows.append(
            EntryKind.SETTLEMENT,
            account=self.account,
            label=paid.label,
            snapshot=paid.snapshot,
            charge=paid.number,
            content={
                "loss": chosen.to_json(),
                "terms": terms,
                **books_to_json(booking, standing, cost, budget),
            },
            names=self._moved(booking, spending, paid.snapshot),
        )

    def settlement(self, paid: Entry) -> Entry | None:
        """The settlement of a charge, which only a reservation has."""
        if not reserves(paid):
            return None
        return self.rows.settlement_of(self.account, paid.number)

    def _touched(self, spending: Spending, snapshot: int) -> Standing:
        """What the account has spent, with the sums that `spending` touches."""
        standing = self.standing()
        where = addresses(spending, snapshot)
        movers = self.rows.look_up(self.account, tuple(where.values()))
        for (level, name), mover in zip(where.items(), movers, strict=True):
            if mover is not None:
                standing.sums[name] = Loss.from_json(mover.body()["content"]["sums"][level])
        return standing

    def _moved(self, booking: Booking, spending: Spending, snapshot: int) -> list[str]:
        """The names of the sums that `booking` moved."""
        where = addresses(spending, snapshot)
        return [where[level] for level in booking.sums]


def _book(standing: Standing, spending: Spending, snapshot: int, *, reserved: bool) -> Booking:
    return standing.hold(spending) if reserved else standing.add(spending, snapshot)
