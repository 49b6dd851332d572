"""Ledgers of format 1 verify, return what they stored, are continued, and export no plain hash."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from fractions import Fraction

import pytest

import onesided as osd
from onesided.data.release import payload_of
from onesided.errors import BudgetError, LedgerError
from onesided.ledger import (
    Account,
    ChargeState,
    Ledger,
    Order,
    Snapshot,
    Terms,
    agreed_terms,
)
from onesided.ledger.desk import Allowance, PersonRole, Slot, open_desk
from onesided.ledger.records import spending_from_json
from onesided.loss import Loss
from support.desks import LENGTH, posed
from support.ledgers import Place, order, pay, reservation, spending
from support.old_ledgers import (
    DATASET,
    FAILED_CHARGE,
    OPEN_CHARGE,
    SNAPSHOTS,
    STORED,
    bodies,
    payloads,
    put_back,
    table,
    written,
)

FORMAT = {"columns": [["device", "VARCHAR"], ["room", "VARCHAR"]]}


@pytest.fixture
def old(shared_place: Place) -> Place:
    return put_back(shared_place)


def _continued(place: Place) -> tuple[Ledger, Account, Snapshot]:
    ledger = place.open(create=False)
    (account,) = ledger.accounts()
    return ledger, account, account.snapshot(written()["fingerprint"])


def _version(place: Place) -> int:
    (((version,),),) = place.raw("SELECT version FROM head")
    return int(version)


def _again(number: int) -> Order:
    """The order that the charge of entry `number` was made for."""
    body = bodies()[number - 1]
    content = body["content"]
    return Order(
        request=body["label"],
        spending=spending_from_json(content["spending"]),
        description=content["description"],
        terms={"noise": "as it is by now"},
    )


def test_it_verifies_and_nothing_was_written_to_it(old: Place) -> None:
    ledger = old.open(create=False)
    verification = ledger.verify()
    assert verification.ok, verification.problem
    head = ledger.head()
    assert {"entries": head.entries, "hash": head.hash} == written()["head"]
    assert _version(old) == 1
    old.tamper("UPDATE entries SET label = 'other' WHERE number = 13")
    assert ledger.verify().first_bad == 13


def test_its_balance_is_what_it_was(old: Place) -> None:
    ledger, account, _ = _continued(old)
    balance = account.balance()
    assert balance.total == Loss("1/4", "37/16")
    assert (balance.spent, balance.left) == (Fraction(41, 16), Fraction(39, 16))
    assert (balance.history[-1].spent, balance.history[-1].budget) == (balance.spent, 5)
    states = {each.charge.number: each.state for each in balance.charges}
    assert states.pop(OPEN_CHARGE) is ChargeState.OPEN
    assert states.pop(FAILED_CHARGE) is ChargeState.FAILED
    assert set(states.values()) == {ChargeState.STORED}
    assert [(each.charge.terms, each.charge.who) for each in balance.charges] == [(None, "")] * 10
    assert (balance.terms.format, balance.terms.extra) == (None, {})
    ledger.close()


def test_a_desk_writes_nothing_into_its_chain_and_counts_what_is_there(old: Place) -> None:
    assert old.where is not None
    ledger, account, snapshot = _continued(old)
    head = ledger.head()
    desk = open_desk(old.where, create=False)
    desk.add_token("ann", PersonRole.ANALYST)
    assert desk.spent(DATASET, "") == account.balance().spent
    assert desk.spent(DATASET, "ann") == 0
    assert ledger.head() == head
    assert _version(old) == 1
    what = _again(13).spending
    allowance = Allowance(who="ann", most_in_all=what.loss.epsilon)
    wanted = [order("new", what, who="ann")]
    question = posed("ann", dataset=DATASET)
    accepted = desk.accept(wanted, snapshot, question, Slot(length=LENGTH), allowance)
    assert accepted.job is not None
    assert desk.spent(DATASET, "ann") == what.loss.epsilon > 0
    assert ledger.verify(head).ok
    for each in (desk, ledger):
        each.close()


def test_the_same_data_are_the_same_snapshot_with_the_same_coins(old: Place) -> None:
    ledger, account, snapshot = _continued(old)
    keys = {number: secret for _, number, secret in written()["tables"]["coin_keys"]}
    assert (snapshot.number, snapshot.fresh) == (2, False)
    assert snapshot.coin_key.reveal() == keys[2]
    assert _version(old) == 1, "nothing had to be written"
    pay(account, snapshot, "another", _again(13).spending)
    again = account.snapshot(written()["fingerprint"])
    assert again == snapshot
    changed = account.snapshot("other data")
    assert (changed.number, changed.fresh) == (3, True)
    assert account.snapshot("other data") == changed
    assert account.snapshot(written()["fingerprint"]).number == 4, "now under its keyed name"
    assert ledger.verify().ok
    ledger.close()


def test_what_it_stored_is_returned_free(old: Place) -> None:
    ledger, account, snapshot = _continued(old)
    spent = account.balance().spent
    assert len(payloads()) == STORED
    for body in bodies():
        if body["kind"] != "release" or body["snapshot"] != 2:
            continue
        (charge,) = account.charge([_again(body["charge"])], snapshot)
        assert charge.reused
        assert charge.release is not None
        assert charge.release.payload == payloads()[body["number"]]
        assert charge.release.receipt == body["content"]["receipt"]
        assert account.stored(body["label"], snapshot) == charge.release
    assert account.balance().spent == spent
    assert _version(old) == 1
    ledger.close()


@pytest.mark.parametrize("number", [OPEN_CHARGE, FAILED_CHARGE])
def test_what_it_left_open_is_finished_free(old: Place, number: int) -> None:
    ledger, account, snapshot = _continued(old)
    spent = account.balance().spent
    (charge,) = account.charge([_again(number)], snapshot)
    assert (charge.number, charge.reused, charge.release) == (number, True, None)
    assert account.store(charge, b"at last", {}).payload == b"at last"
    assert account.balance().spent == spent
    assert ledger.verify().ok
    ledger.close()


def test_it_is_continued_in_the_format_of_today(old: Place) -> None:
    ledger, account, snapshot = _continued(old)
    before = account.balance()
    terms = account.terms
    own = replace(spending(0, 1), policy_id=terms.policy_id, policy_sql=terms.policy_sql)
    charge = pay(account, snapshot, "new", own, who="ada", purpose="yearbook")
    assert charge.total == before.total + Loss(0, 1)
    assert charge.plain_sum == before.plain_sum + 1
    assert _version(old) == 2, "an older program refuses it from now on"
    held = replace(reservation("held", "1/4"), spending=replace(own, loss=Loss("1/8", "1/8")))
    (reserved,) = account.charge([held], snapshot)
    account.settle(reserved, Loss("1/16", "3/16"), {})
    assert account.balance().total == before.total + Loss("1/16", "19/16")
    with pytest.raises(BudgetError):
        pay(account, snapshot, "too much", replace(own, loss=Loss(0, 3)))
    verification = ledger.verify()
    assert verification.ok, verification.problem
    ledger.close()
    old.forge(_claim_format_1)
    assert not old.open().verify().ok


def _claim_format_1(body: dict[str, object]) -> None:
    if body["number"] == 26:
        del body["format"]


def test_the_first_opening_with_a_format_freezes_it(old: Place) -> None:
    known = agreed_terms(old.where, DATASET)
    assert known is not None
    assert known.format is None
    ledger = old.open()
    assert ledger.account(known).terms == known
    assert _version(old) == 1
    asked = replace(known, format=FORMAT, extra={"time zones": "2026b"})
    assert ledger.account(asked).terms == asked
    assert agreed_terms(old.where, DATASET) == asked
    assert ledger.account(replace(asked, format=None)).terms == asked
    for other in (
        replace(asked, format={"columns": []}),
        replace(asked, extra={}),
        replace(asked, extra={"time zones": "2027a"}),
    ):
        with pytest.raises(LedgerError, match="was opened with"):
            ledger.account(other)
    assert ledger.verify().ok
    (shown,) = ledger.export()["accounts"]
    assert (shown["format"], shown["extra"]) == (FORMAT, {"time zones": "2026b"})
    assert ledger.head().entries == len(bodies()) + 1, "frozen once"
    ledger.close()


def test_an_export_shows_no_plain_hash_and_the_chain_can_still_be_followed(old: Place) -> None:
    ledger, account, _ = _continued(old)
    pay(account, account.snapshot("other data"), "new", _again(13).spending)
    exported = ledger.export()
    shown = json.dumps(exported)
    for number in SNAPSHOTS:
        plain = bodies()[number - 1]
        assert plain["label"] not in shown
        assert plain["content"]["coin_key_sha256"] not in shown, (
            "it keeps the entry's own hash safe"
        )
    previous = "0" * 64
    for entry in exported["entries"]:
        assert entry["previous"] == previous
        if "withheld" not in entry:
            assert json.loads(entry["text"])["previous"] == previous
            assert hashlib.sha256(entry["text"].encode()).hexdigest() == entry["hash"]
        previous = entry["hash"]
    assert exported["head"]["hash"] == previous
    assert [entry["number"] for entry in exported["entries"] if "withheld" in entry] == [3, 8]
    ledger.close()


def test_terms_of_an_account_that_is_not_there(old: Place) -> None:
    assert agreed_terms(old.where, "other") is None
    known = agreed_terms(old.where, DATASET)
    assert isinstance(known, Terms)
    assert known.budget == 5


def test_a_session_goes_on_with_it(old: Place) -> None:
    """The same questions are answered from what was stored, and what was left open is finished."""
    with osd.open(
        table(),
        unit=["device", "day"],
        policy="room = 'clinic' OR NOT consent",
        ledger=old.where,
        name=DATASET,
        partition_by="day",
        domains={"room": ["cafe", "clinic", "hall", "lab"]},
    ) as dataset:
        before = dataset.budget
        by = {"by": "room", "max_groups": 1}
        dataset.sample("1/2")
        chosen = dataset.count(epsilon="1/2", **by)
        assert chosen.receipt["account"]["charges"] == [13, 15]
        assert payload_of(chosen.table) == payloads()[16]
        dataset.count(epsilon="1/4", mechanism="one-sided", part={"day": "mon"}, **by)
        dataset.count(epsilon="1/16", mechanism="one-sided", **by)
        after = dataset.budget
        assert after.total == before.total
        assert len(after.charges) == len(before.charges)
        states = {each.charge.number: each.state for each in after.charges}
        assert states[OPEN_CHARGE] is ChargeState.STORED
        dataset.count(epsilon="1/8", **by)
        assert dataset.budget.spent == before.spent + Fraction(1, 8)
        assert dataset.budget.terms.format is not None
    ledger = old.open(create=False)
    verification = ledger.verify()
    assert verification.ok, verification.problem
    ledger.close()
