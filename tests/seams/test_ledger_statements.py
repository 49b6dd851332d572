"""The statement of an account counts what is reserved, and shows what was said with each charge."""

from __future__ import annotations

from fractions import Fraction

from onesided.loss import Loss
from onesided.session.statement import statements
from support.ledgers import STRICTER, Place, order, pay, reservation, spending, terms

UNDER_STRICTER = {"policy_id": STRICTER, "policy_sql": "TRUE", "relaxed": True}


def test_an_open_reservation_is_part_of_the_promise(place: Place) -> None:
    ledger, account, snapshot = place.opened(budget=4)
    pay(account, snapshot, "count")
    account.charge([reservation("auto")], snapshot)
    (statement,) = statements(ledger)
    assert statement.promise.startswith("(P, 2)-OSDP for P: sensitive where (NOT consent)")
    said = statement.to_json()
    assert (said["spent"], said["left"], said["spent_as_plain_sum"]) == ("2", "2", "2")
    assert [charge["state"] for charge in said["charges"]] == ["open", "reserved"]
    assert [moment.spent for moment in statement.history()] == [1, 2]


def test_the_promise_under_a_stricter_policy_covers_any_choice(place: Place) -> None:
    ledger, account, snapshot = place.opened(budget=8)
    part = {**UNDER_STRICTER, "part": ("day", "mon")}
    other = {**UNDER_STRICTER, "part": ("day", "tue")}
    pay(account, snapshot, "tuesday", spending("1/2", "1/2", **other))
    (charge,) = account.charge([reservation("auto", **part)], snapshot)
    (held,) = statements(ledger)
    assert held.promise.startswith("(P, 2)-OSDP for P: sensitive where (TRUE)")
    account.settle(charge, Loss(0, 1), {})
    (settled,) = statements(ledger)
    assert settled.promise.startswith("(P, 1.5)-OSDP")


def test_history_follows_the_chain_and_not_the_charges(place: Place) -> None:
    ledger, account, snapshot = place.opened(budget=4)
    (held,) = account.charge([reservation("auto")], snapshot)
    pay(account, snapshot, "count")
    account.settle(held, Loss("1/4", "1/4"), {})
    account.raise_budget(Fraction(5), who="Ada", why="second wave")
    (statement,) = statements(ledger)
    moments = [(each.spent, each.plain_sum, each.budget) for each in statement.history()]
    less = Fraction(3, 2)
    assert moments == [(1, 1, 4), (2, 2, 4), (less, less, 4), (less, less, 5)]


def test_who_asked_to_what_end_and_under_which_terms_is_shown(place: Place) -> None:
    ledger = place.open()
    account = ledger.account(terms(format={"columns": []}, extra={"withheld": ["name"]}))
    asked = order(terms={"noise": "rate 2"}, who="a17", purpose="yearbook")
    account.charge([asked], account.snapshot("data-1"))
    (statement,) = statements(ledger)
    said = statement.to_json()
    (charge,) = said["charges"]
    assert (charge["asked_by"], charge["purpose"]) == ("a17", "yearbook")
    assert charge["terms"] == {"noise": "rate 2"}
    assert (said["format"], said["extra"]) == ({"columns": []}, {"withheld": ["name"]})
