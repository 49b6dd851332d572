"""Orders, reservations, steps and settlements: one contract for every ledger."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from onesided.errors import BudgetError, LedgerError, RequestError
from onesided.ledger import Account, Charge, ChargeState, LedgerMissing, Snapshot, agreed_terms
from onesided.loss import Loss
from support.ledgers import Place, order, pay, reservation, sample, spending, terms

FORMAT = {"columns": [["device", "VARCHAR"]], "delimiter": ";"}


def _reserve(
    account: Account, snapshot: Snapshot, request: str = "auto", epsilon: object = 1
) -> Charge:
    (charge,) = account.charge([reservation(request, epsilon)], snapshot)  # type: ignore[arg-type]
    return charge


def test_what_is_reserved_counts_until_the_choice_is_booked(place: Place) -> None:
    ledger, account, snapshot = place.opened(budget=2)
    charge = _reserve(account, snapshot)
    assert charge.reserved
    assert (charge.cost, charge.left, charge.plain_sum) == (1, 1, 1)
    balance = account.balance()
    assert (balance.spent, balance.left, balance.plain_sum) == (1, 1, 1)
    assert balance.total == Loss("1/2", "1/2")
    assert balance.charges[0].state is ChargeState.RESERVED

    settled = account.settle(charge, Loss("1/4", "3/4"), {"noise": "chosen"})
    assert not settled.reserved
    assert (settled.number, settled.entry_hash) == (charge.number, charge.entry_hash)
    assert settled.spending.loss == settled.total == Loss("1/4", "3/4")
    assert (settled.terms, settled.cost, settled.left) == ({"noise": "chosen"}, 1, 1)
    balance = account.balance()
    assert (balance.spent, balance.total) == (1, Loss("1/4", "3/4"))
    assert balance.charges[0].charge == settled
    assert balance.charges[0].state is ChargeState.SETTLED
    assert [moment.spent for moment in balance.history] == [1, 1]

    account.store(settled, b"released", {})
    assert account.balance().charges[0].state is ChargeState.STORED
    assert ledger.verify().ok


def test_a_choice_that_costs_less_gives_the_rest_back(place: Place) -> None:
    ledger, account, snapshot = place.opened(budget=2)
    pay(account, snapshot, "all", spending("1/2", 0))
    charge = _reserve(account, snapshot)
    assert charge.total.epsilon == 2
    settled = account.settle(charge, Loss(0, "3/4"), {})
    assert (settled.cost, settled.left) == (Fraction(1, 4), Fraction(3, 4))
    assert settled.plain_sum == Fraction(7, 4)
    assert account.balance().spent == Fraction(5, 4)
    assert ledger.verify().ok


def test_a_reservation_in_a_part_is_paid_in_full_until_it_is_settled(place: Place) -> None:
    ledger, account, snapshot = place.opened(budget=3)
    pay(account, snapshot, "mon", spending(1, 1, part=("day", "mon")))
    (charge,) = account.charge([reservation("tue", part=("day", "tue"))], snapshot)
    assert account.quote(reservation().spending, snapshot).left == 0
    with pytest.raises(BudgetError):
        pay(account, snapshot, "too much", spending(0, "1/8"))
    assert account.settle(charge, Loss("1/2", "1/2"), {}).cost == 0, "beside a part that cost more"
    assert account.balance().left == 1
    assert ledger.verify().ok


def test_a_settlement_is_made_once(place: Place) -> None:
    ledger, account, snapshot = place.opened()
    charge = _reserve(account, snapshot)
    first = account.settle(charge, Loss("1/4", "3/4"), {"n": 1})
    assert account.settle(charge, Loss("1/2", "1/2"), {"n": 2}) == first
    assert account.settle(first, Loss(0, 1), {"n": 3}) == first
    assert ledger.verify().ok


@pytest.mark.parametrize(
    "chosen",
    [Loss("3/4", 0), Loss("1/2", "3/4"), Loss(0, "9/8"), Loss("1/4", "1/4", fixed_n=True)],
    ids=str,
)
def test_a_choice_beyond_the_reservation_is_a_mistake(place: Place, chosen: Loss) -> None:
    _, account, snapshot = place.opened()
    charge = _reserve(account, snapshot)
    with pytest.raises(ValueError, match="does not cover"):
        account.settle(charge, chosen, {})
    assert account.balance().charges[0].state is ChargeState.RESERVED


def test_only_reservations_are_settled_and_none_is_stored_before(place: Place) -> None:
    _, account, snapshot = place.opened()
    with pytest.raises(ValueError, match="only a reservation"):
        account.settle(pay(account, snapshot), Loss(0, 1), {})
    with pytest.raises(ValueError, match="is settled before"):
        account.store(_reserve(account, snapshot), b"too early", {})


@pytest.mark.parametrize(
    "wrong", [spending(0, 1), sample(1), spending(1, 1, part=("day", "mon"), fixed_n=True)]
)
def test_what_cannot_be_reserved_is_refused(place: Place, wrong: object) -> None:
    _, account, snapshot = place.opened()
    with pytest.raises(RequestError):
        account.charge([order("a", wrong, reserves=True)], snapshot)  # type: ignore[arg-type]
    assert account.balance().charges == ()


def test_an_open_reservation_with_n_makes_the_account_one_with_n(place: Place) -> None:
    _, account, snapshot = place.opened()
    first = account.charge([reservation("a", fixed_n=True)], snapshot)[0]
    second = account.charge([reservation("b", fixed_n=True)], snapshot)[0]
    assert account.balance().total.fixed_n
    account.settle(first, Loss(0, 1), {})
    assert account.balance().total.fixed_n
    account.settle(second, Loss(0, 1), {})
    assert not account.balance().total.fixed_n


def test_the_quote_knows_of_reservations(place: Place) -> None:
    _, account, snapshot = place.opened(budget=2)
    _reserve(account, snapshot)
    quote = account.quote(spending("1/4", "3/4"), snapshot)
    assert (quote.cost, quote.left, quote.fits) == (1, 1, True)
    assert quote.total == Loss("3/4", "5/4")
    assert not account.quote(spending(0, "9/8"), snapshot).fits
    held = account.quote(spending("1/2", "1/2"), snapshot, reserves=True)
    assert (held.cost, held.total, held.fits) == (1, Loss(1, 1), True)


def test_all_orders_are_charged_or_none(place: Place) -> None:
    ledger, account, snapshot = place.opened(budget=2)
    orders = [order("a", spending(0, 1)), reservation("b"), order("c", spending(0, "1/2"))]
    with pytest.raises(BudgetError, match=r"would cost ε = 2.5 but 2 of the budget 2 is left"):
        account.charge(orders, snapshot)
    assert account.balance().charges == ()
    assert ledger.head().entries == 3
    charges = account.charge(orders[:2], snapshot)
    assert [each.request for each in charges] == ["a", "b"]
    assert [each.reserved for each in charges] == [False, True]
    assert [each.cost for each in charges] == [1, 1]
    assert account.balance().left == 0
    assert ledger.verify().ok


def test_orders_that_were_paid_for_are_free_among_others(place: Place) -> None:
    _, account, snapshot = place.opened(budget=2)
    stored = account.store(pay(account, snapshot, "a"), b"first", {})
    charges = account.charge([order("a"), order("b"), order("b")], snapshot)
    assert charges[0].release == stored
    assert (charges[1].reused, charges[2].reused) == (False, True)
    assert charges[1].number == charges[2].number
    assert account.balance().left == 0
    assert len(account.charge([order("a"), order("b")], snapshot)) == 2


def test_orders_see_each_other(place: Place) -> None:
    ledger, account, snapshot = place.opened()
    small, large = account.charge([order("s", sample(1)), order("l", sample(2))], snapshot)
    assert (small.cost, large.cost, large.total) == (1, 1, Loss(0, 2))
    assert ledger.verify().ok


def test_the_same_request_continues_its_reservation(place: Place) -> None:
    ledger, account, snapshot = place.opened(budget=1)
    charge = _reserve(account, snapshot)
    assert account.keep_step(charge, "probe", b"seen") == b"seen"
    again = _reserve(account, snapshot)
    assert (again.number, again.reused, again.reserved) == (charge.number, True, True)
    assert account.step(again, "probe") == b"seen"
    settled = account.settle(again, Loss("1/4", "3/4"), {"n": 1})
    once_more = _reserve(account, snapshot)
    assert (once_more.number, once_more.reused, once_more.reserved) == (charge.number, True, False)
    assert (once_more.spending, once_more.terms) == (settled.spending, {"n": 1})
    release = account.store(once_more, b"released", {})
    last = _reserve(account, snapshot)
    assert (last.release, last.spending) == (release, settled.spending)
    assert account.balance().spent == 1
    assert ledger.verify().ok


def test_a_reservation_is_no_answer_to_a_plain_order(place: Place) -> None:
    _, account, snapshot = place.opened()
    _reserve(account, snapshot)
    plain = pay(account, snapshot, "auto", spending("1/2", "1/2"))
    assert not plain.reused
    assert not plain.reserved


def test_steps_are_kept_by_name_and_the_first_writer_wins(place: Place) -> None:
    ledger, account, snapshot = place.opened()
    charge, other = _reserve(account, snapshot), _reserve(account, snapshot, "other")
    assert account.step(charge, "probe") is None
    assert account.keep_step(charge, "probe", b"first") == b"first"
    assert account.keep_step(charge, "probe", b"second") == b"first"
    assert account.keep_step(charge, "second look", b"\x00") == b"\x00"
    assert account.step(charge, "probe") == b"first"
    assert account.step(other, "probe") is None
    account.snapshot("data-2")
    with pytest.raises(LedgerError, match="has changed since"):
        account.keep_step(other, "probe", b"late")
    with pytest.raises(LedgerError, match="has changed since"):
        account.settle(other, Loss(0, 1), {})
    assert account.balance().spent == 2
    assert ledger.verify().ok


def test_steps_and_settlements_need_their_charge_in_this_ledger(place: Place) -> None:
    ledger, account, snapshot = place.opened()
    charge = _reserve(account, snapshot)
    other = ledger.account(terms(dataset="other"))
    other.snapshot("data-1")
    for attempt in (
        lambda: other.keep_step(charge, "probe", b""),
        lambda: other.step(charge, "probe"),
        lambda: other.settle(charge, Loss(0, 1), {}),
    ):
        with pytest.raises(LedgerError, match="not in the ledger"):
            attempt()


def test_who_asked_and_to_what_end_is_kept(place: Place) -> None:
    ledger, account, snapshot = place.opened()
    charge = pay(account, snapshot, who="a17", purpose="Yearbook 2026 — Zürich")
    assert (charge.who, charge.purpose) == ("a17", "Yearbook 2026 — Zürich")
    (record,) = account.balance().charges
    assert record.charge == charge
    written = ledger.export()["entries"][charge.number - 1]["content"]
    assert (written["who"], written["purpose"]) == ("a17", "Yearbook 2026 — Zürich")
    assert written["terms"] == {"noise": "rate 1"}
    again = pay(account, snapshot, who="b2", purpose="something else")
    assert (again.reused, again.who) == (True, "a17")
    for wrong in (
        {"purpose": "x" * 201},
        {"purpose": "line\nbreak"},
        {"purpose": "\x1b[31m"},
        {"who": "x" * 101},
        {"who": "\ud800"},
    ):
        with pytest.raises(RequestError, match="printable text of at most"):
            pay(account, snapshot, "other", **wrong)
    assert pay(account, snapshot, "longest", purpose="x" * 200, who="y" * 100)


def test_formats_and_further_terms_are_terms(place: Place) -> None:
    ledger = place.open()
    agreed = terms(format=FORMAT, extra={"withheld": ["name"]})
    account = ledger.account(agreed)
    assert account.terms == agreed == account.balance().terms
    assert ledger.account(agreed).terms == agreed
    assert ledger.account(terms(extra={"withheld": ["name"]})).terms == agreed
    for other in (
        terms(format={**FORMAT, "delimiter": ","}, extra={"withheld": ["name"]}),
        terms(format=FORMAT, extra={"withheld": []}),
        terms(format=FORMAT),
    ):
        with pytest.raises(LedgerError, match="'visits' in this ledger was opened with"):
            ledger.account(other)
    with pytest.raises(RequestError, match="plain JSON"):
        ledger.account(terms(dataset="other", format={"x": float("inf")}))
    (shown,) = ledger.export()["accounts"]
    assert (shown["format"], shown["extra"]) == (FORMAT, {"withheld": ["name"]})
    assert ledger.head().entries == 2
    assert ledger.verify().ok


def test_a_format_is_frozen_by_the_first_that_has_one(place: Place) -> None:
    ledger = place.open()
    ledger.account(terms())
    assert ledger.account(terms(format=FORMAT)).terms == terms(format=FORMAT)
    assert ledger.account(terms()).terms == terms(format=FORMAT)
    assert [account.terms for account in ledger.accounts()] == [terms(format=FORMAT)]
    with pytest.raises(LedgerError, match="was opened with"):
        ledger.account(terms(format={}))
    with pytest.raises(LedgerError, match="was opened with"):
        ledger.account(terms(dataset="visits", format=FORMAT, extra={"a": 1}))
    assert ledger.verify().ok


def test_agreed_terms_create_nothing(shared_place: Place) -> None:
    assert agreed_terms(None, "visits") is None
    assert agreed_terms(shared_place.where, "visits") is None
    with pytest.raises(LedgerMissing):
        shared_place.open(create=False)
    shared_place.open().account(terms(format=FORMAT))
    assert agreed_terms(shared_place.where, "visits") == terms(format=FORMAT)
    assert agreed_terms(shared_place.where, "other") is None


def test_a_charge_looks_at_the_same_rows_at_any_length(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in rows: among many open reservations a charge reads what an early one did."""
    from onesided.ledger import rows

    _, account, snapshot = place.opened(budget=1000)
    read: list[int] = []
    plain = rows._entry
    monkeypatch.setattr(rows, "_entry", lambda row: read.append(1) or plain(row))

    def cost(request: str) -> int:
        read.clear()
        pay(account, snapshot, request)
        _reserve(account, snapshot, f"{request} held")
        return len(read)

    pay(account, snapshot)
    early = cost("early")
    for number in range(40):
        _reserve(account, snapshot, f"crashed {number}")
    assert cost("late") == early


def test_nothing_secret_of_steps_is_exported(place: Place) -> None:
    ledger, account, snapshot = place.opened()
    account.keep_step(_reserve(account, snapshot), "probe", b"what was seen")
    assert "what was seen" not in json.dumps(ledger.export())
