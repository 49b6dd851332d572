"""One contract for every ledger: in memory, in a SQLite file, in PostgreSQL."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from onesided.errors import BudgetError, LedgerError, RequestError
from onesided.ledger import ChargeState
from onesided.loss import Loss
from support.ledgers import STRICTER, Place, pay, sample, spending, terms


def test_a_new_account_has_spent_nothing(place: Place) -> None:
    _, account, _ = place.opened(budget=2)
    balance = account.balance()
    assert (balance.spent, balance.left, balance.charges) == (0, 2, ())
    assert balance.terms == terms(2)


def test_pairs_add_up_and_the_plain_sum_is_shown_beside(place: Place) -> None:
    _, account, snapshot = place.opened()
    pay(account, snapshot, "sample", spending(0, 1))
    charge = pay(account, snapshot, "residual", spending("1/4", "3/4"))
    assert charge.total == Loss("1/4", "7/4")
    assert charge.total.epsilon == 2
    assert charge.plain_sum == 2
    last = pay(account, snapshot, "sensitive only", spending("1/2", 0))
    assert (last.total.epsilon, last.plain_sum) == (Fraction(5, 2), 3)
    assert last.cost == Fraction(1, 2)
    assert account.balance().total == last.total


def test_a_charge_that_fits_exactly_is_taken_and_the_next_refused(place: Place) -> None:
    _, account, snapshot = place.opened(budget="0.3")
    for request in "abc":
        pay(account, snapshot, request, spending(0, "0.1"))
    with pytest.raises(BudgetError, match=r"would cost ε = 0.1 but 0 of the budget 0.3 is left"):
        pay(account, snapshot, "d", spending(0, "0.1"))
    assert account.balance().spent == Fraction(3, 10)
    assert len(account.balance().charges) == 3


def test_a_charge_hidden_behind_the_larger_side_is_free(place: Place) -> None:
    _, account, snapshot = place.opened(budget=2)
    pay(account, snapshot, "all", spending(1, 0))
    free = pay(account, snapshot, "one-sided", spending(0, 1))
    assert (free.cost, free.left) == (0, 0)


def test_the_quote_is_what_is_then_paid(place: Place) -> None:
    _, account, snapshot = place.opened(budget=1)
    for number, what in enumerate([sample("1/4"), sample("1/2"), spending("1/8", "1/4")]):
        quote = account.quote(what, snapshot)
        charge = pay(account, snapshot, f"request {number}", what)
        assert (quote.cost, quote.total) == (charge.cost, charge.total)
        assert quote.fits
    too_much = account.quote(spending(0, 1), snapshot)
    assert not too_much.fits
    assert account.balance().left == too_much.left


def test_samples_pay_by_maximum(place: Place) -> None:
    _, account, snapshot = place.opened()
    costs = [
        pay(account, snapshot, f"sample {number}", sample(epsilon)).cost
        for number, epsilon in enumerate(("1/2", 1, "1/2", 1, 2))
    ]
    assert costs == [Fraction(1, 2), Fraction(1, 2), 0, 0, 1]
    assert len(account.balance().charges) == 5


def test_a_new_snapshot_has_a_new_key_and_no_free_samples(place: Place) -> None:
    _, account, first = place.opened()
    paid = pay(account, first, "sample", sample(1))
    account.store(paid, b"first", {})
    second = account.snapshot("data-2")
    assert second.fresh
    assert second.coin_key.reveal() != first.coin_key.reveal()
    again = pay(account, second, "sample", sample(1))
    assert (again.cost, again.release) == (1, None)
    assert account.balance().spent == 2
    assert account.stored("sample", second) is None


def test_going_back_to_old_data_is_a_new_snapshot(place: Place) -> None:
    _, account, first = place.opened()
    account.snapshot("data-2")
    third = account.snapshot("data-1")
    assert third.number == 3
    assert third.coin_key.reveal() != first.coin_key.reveal()


def test_an_outdated_snapshot_can_neither_charge_nor_store_nor_fetch(place: Place) -> None:
    _, account, first = place.opened()
    charge = pay(account, first)
    account.snapshot("data-2")
    with pytest.raises(LedgerError, match="has changed since"):
        pay(account, first, "other")
    with pytest.raises(LedgerError, match="has changed since"):
        account.store(charge, b"late", {})
    with pytest.raises(LedgerError, match="has changed since"):
        account.stored("request", first)


def test_the_same_data_keeps_its_key(place: Place) -> None:
    ledger, account, first = place.opened()
    again = ledger.account(terms()).snapshot("data-1")
    assert again == first
    assert again.coin_key.reveal() == first.coin_key.reveal()
    assert not again.fresh
    assert len(first.coin_key.reveal()) == 32
    assert account.snapshot("data-1").number == 1


def test_stricter_policies_are_booked_as_the_relaxation_sees_them(place: Place) -> None:
    _, account, snapshot = place.opened()
    stricter = {"policy_id": STRICTER, "policy_sql": "TRUE", "relaxed": True}
    first = pay(account, snapshot, "a", spending(1, 0, **stricter))
    assert first.total == Loss(1, 1)
    second = pay(account, snapshot, "b", spending(0, 1, **stricter))
    assert second.total == Loss(1, 1), "within one policy pairs are added first"
    third = pay(account, snapshot, "c", spending(0, 1))
    assert third.total == Loss(1, 2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"policy_id": STRICTER},
        {"relaxed": True},
        {"part": ("room", "kitchen")},
        {"part": ("day", "monday"), "fixed_n": True},
        {"sensitive": 1, "shared_coins": True},
    ],
    ids=["unproven policy", "own policy as another", "undeclared column", "fixed n", "coins"],
)
def test_what_cannot_be_booked_is_refused(place: Place, wrong: dict[str, object]) -> None:
    _, account, snapshot = place.opened()
    with pytest.raises(RequestError):
        pay(account, snapshot, "request", spending(**wrong))
    assert account.balance().charges == ()


def test_parts_of_a_partition_compose_in_parallel(place: Place) -> None:
    _, account, snapshot = place.opened()
    for day, loss in (("mon", (1, 2)), ("tue", (2, 1)), ("mon", (0, 1))):
        last = pay(account, snapshot, f"{day} {loss}", spending(*loss, part=("day", day)))
    assert last.total == Loss(2, 3)
    whole = pay(account, snapshot, "whole", spending(1, 1))
    assert whole.total == Loss(3, 4)


def test_an_equal_request_is_paid_once(place: Place) -> None:
    _, account, snapshot = place.opened()
    first = pay(account, snapshot)
    retry = pay(account, snapshot)
    assert (retry.number, retry.reused, retry.release) == (first.number, True, None)
    stored = account.store(first, b"noisy", {"mechanism": "one-sided"})
    after = pay(account, snapshot)
    assert after.release == stored
    assert account.stored("request", snapshot) == stored
    assert account.balance().spent == 1


def test_a_standing_charge_pays_only_for_what_it_was(place: Place) -> None:
    _, account, snapshot = place.opened()
    pay(account, snapshot, "request", spending(0, 1))
    other = pay(account, snapshot, "request", spending(0, 2))
    assert not other.reused
    assert account.balance().spent == 3


def test_a_fresh_request_pays_again_and_replaces_what_is_returned(place: Place) -> None:
    _, account, snapshot = place.opened()
    account.store(pay(account, snapshot), b"first", {})
    fresh = pay(account, snapshot, paid_once=False)
    assert not fresh.reused
    account.store(fresh, b"second", {})
    stored = account.stored("request", snapshot)
    assert stored is not None
    assert stored.payload == b"second"
    assert account.balance().spent == 2


def test_the_first_writer_wins(place: Place) -> None:
    _, account, snapshot = place.opened()
    charge, retry = pay(account, snapshot), pay(account, snapshot)
    first = account.store(charge, b"first", {"n": 1})
    second = account.store(retry, b"second", {"n": 2})
    assert first == second
    assert (second.payload, second.receipt) == (b"first", {"n": 1})


def test_a_release_needs_its_charge_in_this_ledger(place: Place) -> None:
    ledger, account, snapshot = place.opened()
    charge = pay(account, snapshot)
    other = ledger.account(terms(dataset="other"))
    other.snapshot("data-1")
    with pytest.raises(LedgerError, match="not in the ledger"):
        other.store(charge, b"stolen", {})


def test_a_failure_is_noted_and_the_charge_stands(place: Place) -> None:
    _, account, snapshot = place.opened()
    charge = pay(account, snapshot)
    account.failed(charge, MemoryError)
    (record,) = account.balance().charges
    assert record.state is ChargeState.FAILED
    assert account.balance().spent == 1
    account.store(pay(account, snapshot), b"second attempt", {})
    account.failed(charge, MemoryError)
    (record,) = account.balance().charges
    assert record.state is ChargeState.STORED


def test_budgets_are_raised_on_the_record_and_never_lowered(place: Place) -> None:
    ledger, account, snapshot = place.opened(budget=1)
    pay(account, snapshot)
    with pytest.raises(BudgetError):
        pay(account, snapshot, "second")
    with pytest.raises(RequestError, match="only be raised"):
        account.raise_budget(Fraction(1), who="Ada", why="none")
    with pytest.raises(RequestError, match="who"):
        account.raise_budget(Fraction(2), who=" ", why="second wave")
    raised = account.raise_budget(Fraction(2), who="Ada", why="second wave")
    assert (raised.budget, raised.who, raised.why) == (2, "Ada", "second wave")
    pay(account, snapshot, "second")
    assert account.balance().raises == (raised,)
    assert ledger.account(terms(2)).terms.budget == 2
    with pytest.raises(LedgerError, match="budget of 'visits' in this ledger is 2"):
        ledger.account(terms(1))


@pytest.mark.parametrize(
    "other",
    [
        {"unit": ("person", "day")},
        {"policy_id": STRICTER},
        {"partition_columns": ()},
        {"budget": 5},
    ],
    ids=str,
)
def test_an_account_continues_under_its_own_terms_only(
    place: Place, other: dict[str, object]
) -> None:
    ledger, account, _ = place.opened()
    assert ledger.account(terms(None)).terms == account.terms
    with pytest.raises(LedgerError, match="visits"):
        ledger.account(terms(**other))


def test_a_partition_column_must_be_part_of_the_unit_key(place: Place) -> None:
    ledger = place.open()
    with pytest.raises(RequestError, match="part of the unit key"):
        ledger.account(terms(partition_columns=("room",)))
    rows_as_units = ledger.account(terms(unit=(), partition_columns=("room",)))
    snapshot = rows_as_units.snapshot("data-1")
    assert pay(rows_as_units, snapshot, "a", spending(part=("room", "lab"))).cost == 1


def test_a_snapshot_belongs_to_its_account(place: Place) -> None:
    ledger, account, _ = place.opened()
    other = ledger.account(terms(dataset="other")).snapshot("other data")
    with pytest.raises(LedgerError, match="has changed since"):
        pay(account, other)


def test_a_new_account_needs_a_budget(place: Place) -> None:
    with pytest.raises(LedgerError, match="give it a budget"):
        place.open().account(terms(None))


def test_accounts_do_not_touch_each_other(place: Place) -> None:
    ledger, account, snapshot = place.opened(budget=1)
    other = ledger.account(terms(1, dataset="other"))
    there = other.snapshot("data-1")
    pay(account, snapshot)
    assert other.balance().spent == 0
    assert pay(other, there).reused is False
    assert there.coin_key.reveal() != snapshot.coin_key.reveal()
    assert [each.terms.dataset for each in ledger.accounts()] == ["visits", "other"]
    assert ledger.verify().ok


def test_descriptions_and_receipts_come_back_as_given(place: Place) -> None:
    _, account, snapshot = place.opened()
    description = {
        "by": ["room", "hour(ts)"],
        "note": "ε ≤ ½ — 😀\x00",
        "n": 2**70,
        "x": [0.1, None],
    }
    charge = pay(account, snapshot, "r", description=description, terms=description)
    (record,) = account.balance().charges
    assert record.charge.description == record.charge.terms == description
    assert account.store(charge, bytes(range(256)), description).receipt == description
    for unfit in (float("nan"), Fraction(1, 2), b"bytes"):
        with pytest.raises(RequestError, match="plain JSON"):
            pay(account, snapshot, "q", description={"epsilon": unfit})
        with pytest.raises(RequestError, match="plain JSON"):
            pay(account, snapshot, "q", terms={"epsilon": unfit})
    with pytest.raises(RequestError, match="printable"):
        pay(account, snapshot, "a\x00b")


def test_nothing_secret_is_shown(place: Place) -> None:
    ledger, account, snapshot = place.opened()
    release = account.store(pay(account, snapshot), b"released bytes", {"promise": "OSDP"})
    shown = json.dumps(ledger.export()) + repr((ledger, account, snapshot, release))
    assert snapshot.coin_key.reveal() not in shown
    assert "released bytes" not in shown
    assert "OSDP" in shown


def test_threads_and_async_callers_never_exceed_the_budget(place: Place) -> None:
    _, account, snapshot = place.opened(budget=10)

    def attempt(number: int) -> bool:
        try:
            pay(account, snapshot, f"request {number}")
        except BudgetError:
            return False
        return True

    async def all_at_once() -> list[bool]:
        return await asyncio.gather(*(asyncio.to_thread(attempt, n) for n in range(8)))

    assert all(asyncio.run(all_at_once()))
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(attempt, range(100, 108)))
    assert sum(taken) == 2
    assert account.balance().spent == 10


def test_racing_equal_requests_are_charged_once_and_show_one_release(place: Place) -> None:
    ledger, account, snapshot = place.opened(budget=10)

    def attempt(number: int) -> bytes:
        charge = pay(account, snapshot)
        release = charge.release or account.store(charge, b"%d" % number, {})
        return release.payload

    with ThreadPoolExecutor(8) as threads:
        shown = set(threads.map(attempt, range(16)))
    assert len(shown) == 1
    assert account.balance().spent == 1
    assert ledger.verify().ok


def test_a_closed_ledger_says_so(place: Place) -> None:
    ledger, account, snapshot = place.opened()
    ledger.close()
    with pytest.raises(LedgerError, match="closed"):
        pay(account, snapshot)


def test_a_ledger_that_must_exist_is_not_created(shared_place: Place) -> None:
    with pytest.raises(LedgerError, match="There is no ledger"):
        shared_place.open(create=False)


def test_everything_is_there_after_opening_again(shared_place: Place) -> None:
    ledger, account, snapshot = shared_place.opened()
    stored = account.store(pay(account, snapshot), b"kept", {"kept": True})
    ledger.close()
    ledger, account, again = shared_place.opened()
    assert again.coin_key.reveal() == snapshot.coin_key.reveal()
    assert account.stored("request", again) == stored
    assert account.balance().spent == 1
    assert ledger.verify().ok
