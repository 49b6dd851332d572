"""A share is what a naive composition of all charges of a person says, in any order of events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onesided.errors import CapError
from onesided.ledger import Account, Charge, Order, Snapshot, Spending
from onesided.ledger.desk import Allowance, Desk, Slot
from onesided.loss import Loss
from support.composition import Charged, charges, composed
from support.desks import Office, posed
from support.ledgers import in_file, order, terms

PEOPLE = ("ann", "bob", "")
EXAMPLES, EXAMPLES_IN_SOAK = 10, 500


@dataclass(frozen=True)
class Event:
    """What somebody does: asks at the desk or by command, at once or in steps, or settles.

    - `number`: names an order, or chooses the reservation that is settled.
    - `most`: the share that is allowed, for an order at the desk.
    """

    what: str
    who: str
    number: int
    spending: Spending
    most: Fraction


@st.composite
def happenings(draw: st.DrawFn) -> Event:
    spending, _ = draw(charges())
    return Event(
        what=draw(st.sampled_from(["desk", "desk", "command", "reserve", "settle", "change"])),
        who=draw(st.sampled_from(PEOPLE)),
        number=draw(st.integers(0, 5)),
        spending=spending,
        most=draw(st.fractions(min_value=0, max_value=12, max_denominator=4)),
    )


@dataclass
class Story:
    """An account, and all that was charged to it in the words of the rules alone."""

    desk: Desk
    account: Account
    snapshot: Snapshot
    booked: list[tuple[str, Charged]]
    held: list[tuple[str, Charge]]

    def share(self, who: str, *more: Charged, held: Fraction = Fraction(0)) -> Fraction:
        """What a person has spent, and would have with `more`."""
        own = [charged for name, charged in self.booked if name == who]
        reserved = sum(
            (paid.spending.loss.epsilon for name, paid in self.held if name == who), held
        )
        return composed([*own, *more]).epsilon + reserved

    def tell(self, event: Event) -> None:
        """Do what happens, and hold it against the rules."""
        steps: dict[str, Callable[[Event], None]] = {
            "desk": self._ask,
            "command": self._pay,
            "reserve": self._reserve,
            "settle": self._settle,
            "change": self._change,
        }
        steps[event.what](event)
        for who in PEOPLE:
            assert self.desk.spent(self.account.terms.dataset, who) == self.share(who)

    def _ask(self, event: Event) -> None:
        wanted = _order(event, event.spending)
        charged = (event.spending, self.snapshot.number)
        before, after = self.share(event.who), self.share(event.who, charged)
        allowance = Allowance(who=event.who, most_in_all=event.most)
        question = posed(event.who, dataset=self.account.terms.dataset)
        spent = self.account.balance().spent
        try:
            self.desk.accept([wanted], self.snapshot, question, Slot(length=None), allowance)
        except CapError:
            assert after > max(event.most, before)
            assert self.account.balance().spent == spent
            assert self.desk.job(question.id) is None
        else:
            assert after <= max(event.most, before)
            self.booked.append((event.who, charged))

    def _pay(self, event: Event) -> None:
        self.account.charge([_order(event, event.spending)], self.snapshot)
        self.booked.append((event.who, (event.spending, self.snapshot.number)))

    def _reserve(self, event: Event) -> None:
        half = event.spending.loss.nonsensitive / 2
        loss = Loss(half, half, fixed_n=event.spending.loss.fixed_n)
        spending = replace(event.spending, loss=loss, shared_coins=False)
        wanted = replace(_order(event, spending), reserves=True)
        (paid,) = self.account.charge([wanted], self.snapshot)
        self.held.append((event.who, paid))

    def _settle(self, event: Event) -> None:
        due = [each for each in self.held if each[1].snapshot == self.snapshot.number]
        if not due:
            return
        who, paid = due[event.number % len(due)]
        self.held.remove((who, paid))
        quarter = paid.spending.loss.sensitive / 2
        chosen = Loss(quarter, 3 * quarter, fixed_n=paid.spending.loss.fixed_n)
        self.account.settle(paid, chosen, {})
        self.booked.append((who, (replace(paid.spending, loss=chosen), paid.snapshot)))

    def _change(self, event: Event) -> None:
        self.snapshot = self.account.snapshot(f"data-{event.number}")


def _order(event: Event, spending: Spending) -> Order:
    """One that is always charged anew."""
    return order(f"request {event.number}", spending, who=event.who, paid_once=False)


def _law(office: Office, examples: int) -> None:
    names = count()

    @settings(max_examples=examples)
    @given(st.lists(happenings(), max_size=12))
    def law(events: list[Event]) -> None:
        changes: dict[str, Any] = {
            "dataset": f"visits {next(names)}",
            "unit": ("device", "day", "hall"),
            "partition_columns": ("day", "hall"),
        }
        account = office.ledger.account(terms(10**6, **changes))
        story = Story(office.desk, account, account.snapshot("data-0"), [], [])
        for event in events:
            story.tell(event)

    law()


def test_a_share_is_the_composition_of_ones_own_charges(tmp_path: Path) -> None:
    office = Office.at(in_file(tmp_path / "visits.ledger"))
    _law(office, EXAMPLES)
    assert office.ledger.verify().ok
    office.close()


@pytest.mark.soak
def test_a_share_is_the_composition_in_many_stories(office: Office) -> None:
    _law(office, EXAMPLES_IN_SOAK)
