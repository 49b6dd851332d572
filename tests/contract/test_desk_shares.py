"""What one person may spend: the composition of the charges in their name."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from onesided.errors import CapError
from onesided.ledger.desk import (
    Allowance,
)
from onesided.ledger.desk.shares import MOST_BEHIND
from onesided.loss import Loss
from support.desks import Office
from support.ledgers import order, pay, reservation, sample, spending


def ann(most: int | str) -> Allowance:
    return Allowance(who="ann", most_in_all=Fraction(most))


def test_a_share_ends_before_the_budget(office: Office) -> None:
    for number in range(3):
        office.asked("ann", f"ann {number}", allowance=ann(3))
    with pytest.raises(CapError, match="ε = 1 of your share, but 0 of 3 is left to you"):
        office.ask("ann", "ann 3", allowance=ann(3))
    office.asked("bob", "bob", allowance=Allowance(who="bob", most_in_all=Fraction(1)))
    assert office.desk.spent("visits", "ann") == 3
    assert office.desk.spent("visits", "bob") == 1
    assert office.desk.spent("visits", "eve") == 0
    assert office.desk.spent("others", "ann") == 0
    assert office.account.balance().spent == 4
    assert len(office.desk.jobs()) == 4


def test_what_another_paid_is_free_within_a_share(office: Office) -> None:
    first = office.asked("bob")
    assert office.ask("ann", allowance=ann(0)).job == first
    assert office.desk.spent("visits", "ann") == 0


def test_a_lowered_share_refuses_what_costs_and_nothing_else(office: Office) -> None:
    job = office.asked("ann", "1", allowance=ann(2))
    with pytest.raises(CapError, match=r"but 0 of 0\.5 is left"):
        office.ask("ann", "2", allowance=ann("1/2"))
    assert office.ask("ann", "1", allowance=ann("1/2")).job == job


def test_charges_of_the_command_line_count_in_the_name_that_they_have(office: Office) -> None:
    pay(office.account, office.snapshot, "by command", who="ann")
    with pytest.raises(CapError):
        office.ask("ann", "by server", allowance=ann("3/2"))
    office.ask("ann", "by server", allowance=ann(2))
    pay(office.account, office.snapshot, "by command again", who="ann")
    with pytest.raises(CapError):
        office.ask("ann", "more", allowance=ann(3))


def test_samples_of_one_person_share_their_coins(office: Office) -> None:
    for epsilon in ("1/2", 2, 1):
        request = [order(f"sample {epsilon}", sample(epsilon), who="ann")]
        office.ask("ann", orders=request, allowance=ann(2))
    assert office.desk.spent("visits", "ann") == 2


def test_a_reservation_counts_in_full_until_it_is_settled(office: Office) -> None:
    office.ask("ann", orders=[replace(reservation("auto", 2), who="ann")], allowance=ann(2))
    with pytest.raises(CapError):
        office.ask("ann", "more", allowance=ann(2))
    charge = office.account.balance().charges[0].charge
    office.account.settle(charge, Loss("1/4", "3/4"), {})
    assert office.desk.spent("visits", "ann") == 1
    office.ask("ann", orders=[order("more", spending("1/4", "3/4"), who="ann")], allowance=ann(2))
    assert office.desk.spent("visits", "ann") == 2


def test_sums_are_kept_once_there_are_many(office: Office) -> None:
    for number in range(MOST_BEHIND + 1):
        pay(office.account, office.snapshot, f"{number}", spending(0, "1/1000"), who="ann")
        if number == MOST_BEHIND - 1:
            assert office.desk.spent("visits", "ann") == Fraction(MOST_BEHIND, 1000)
            assert office.place.raw("SELECT * FROM desk_folded") == [[]]
    assert office.desk.spent("visits", "ann") == Fraction(MOST_BEHIND + 1, 1000)
    assert len(office.place.raw("SELECT * FROM desk_folded")[0]) == 1
    assert office.desk.spent("visits", "ann") == Fraction(MOST_BEHIND + 1, 1000)


def test_sums_of_another_chain_are_not_believed(office: Office) -> None:
    office.ask("ann", "1", allowance=ann(5))
    office.place.raw("UPDATE desk_folded SET hash = 'of another chain'")
    assert office.desk.spent("visits", "ann") == 1
    office.ask("ann", "2", allowance=ann(5))
    assert office.desk.spent("visits", "ann") == 2
    with pytest.raises(CapError):
        office.ask("ann", "3", allowance=ann(2))
