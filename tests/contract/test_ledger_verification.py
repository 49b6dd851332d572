"""What verification finds: every way to change a ledger behind its back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from onesided.errors import LedgerError
from onesided.ledger import Account, Head
from onesided.ledger.rows import settlement_name
from onesided.loss import Loss
from support.ledgers import Place, pay, reservation, sample, spending, terms

COUNT = 5  # the entry of the release of the first count, after ledger, account, snapshot, charge


def _busy_ledger(place: Place) -> Account:
    """Entries: 1 ledger, 2 account, 3 snapshot, 4 charge, 5 release, 6 charge, 7 charge."""
    ledger, account, snapshot = place.opened(budget=4)
    account.store(pay(account, snapshot, "count"), b"released", {"n": 1})
    pay(account, snapshot, "day", spending(0, 1, part=("day", "mon")))
    pay(account, snapshot, "sample", sample(1))
    assert ledger.verify().ok
    ledger.close()
    return account


CHANGES: dict[str, tuple[list[str], int]] = {
    "a text": (["UPDATE entries SET text = replace(text, 'count', 'count2') WHERE number = 4"], 4),
    "a hash": (["UPDATE entries SET hash = replace(hash, 'a', 'b') WHERE number = 4"], 4),
    "a column": (["UPDATE entries SET label = 'other' WHERE number = 4"], 4),
    "a missing entry": (["DELETE FROM entries WHERE number = 6"], 6),
    "a missing tail": (["DELETE FROM entries WHERE number = 7"], 7),
    "reordered entries": (
        [
            "UPDATE entries SET number = 99 WHERE number = 6",
            "UPDATE entries SET number = 6 WHERE number = 7",
            "UPDATE entries SET number = 7 WHERE number = 99",
        ],
        6,
    ),
    "a head that lags": (["UPDATE head SET entries = 6"], 8),
    "a changed release": (["UPDATE payloads SET content = '\\x00'"], 5),
    "a missing release": (["DELETE FROM payloads"], 5),
    "a changed key": (["UPDATE coin_keys SET secret = '00'"], 3),
    "a missing key": (["DELETE FROM coin_keys"], 3),
    "a lost index": (["DELETE FROM latest WHERE number = 6"], 6),
    "an index set back": (["UPDATE latest SET number = 4 WHERE number = 7"], 7),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_found(shared_place: Place, change: str) -> None:
    _busy_ledger(shared_place)
    statements, entry = CHANGES[change]
    shared_place.tamper(*statements)
    verification = shared_place.open().verify()
    assert not verification.ok
    assert verification.first_bad == entry


def _overspend(body: dict[str, Any]) -> None:
    if body["kind"] == "account":
        body["content"]["budget"] = "1"
    if body["kind"] == "charge":
        body["content"]["budget"] = "1"


def _underbook(body: dict[str, Any]) -> None:
    if body["number"] == 6:
        body["content"]["total"]["nonsensitive"] = "1"


def _undercharge(body: dict[str, Any]) -> None:
    if body["number"] == 6:
        body["content"]["cost"] = "0"


def _forget_a_level(body: dict[str, Any]) -> None:
    if body["number"] == 6:
        del body["content"]["sums"]["column"]


def _turn_back_time(body: dict[str, Any]) -> None:
    if body["number"] == 6:
        body["time"] = "2001-01-01T00:00:00.000000+00:00"


def _claim_relaxation(body: dict[str, Any]) -> None:
    if body["number"] == 6:
        body["content"]["spending"]["relaxed"] = True


def _release_unpaid(body: dict[str, Any]) -> None:
    if body["number"] == COUNT:
        body["content"]["payload_sha256"] = hashlib.sha256(b"other").hexdigest()


@pytest.mark.parametrize(
    "lie",
    [
        _overspend,
        _underbook,
        _undercharge,
        _forget_a_level,
        _turn_back_time,
        _claim_relaxation,
        _release_unpaid,
    ],
)
def test_a_forged_chain_must_still_add_up(
    shared_place: Place, lie: Callable[[dict[str, Any]], None]
) -> None:
    _busy_ledger(shared_place)
    shared_place.forge(lie)
    verification = shared_place.open().verify()
    assert not verification.ok
    assert verification.first_bad in (COUNT, 6)


@pytest.mark.parametrize("extra", [{}, {"withheld": []}])
def test_terms_are_not_changed_by_a_format(shared_place: Place, extra: dict[str, Any]) -> None:
    ledger = shared_place.open()
    ledger.account(terms(extra={"withheld": ["name"]}))
    ledger.account(terms(format={"columns": []}, extra={"withheld": ["name"]}))
    assert ledger.verify().ok
    ledger.close()

    def change(body: dict[str, Any]) -> None:
        if body["kind"] == "format":
            body["content"]["extra"] = extra

    shared_place.forge(change)
    assert shared_place.open().verify().first_bad == 3


def test_a_perfect_forgery_is_found_by_a_head_noted_elsewhere(shared_place: Place) -> None:
    _busy_ledger(shared_place)
    noted = shared_place.open().head()

    def forget_the_description(body: dict[str, Any]) -> None:
        if body["number"] == 4:
            body["content"]["description"] = {}

    shared_place.forge(forget_the_description)
    ledger = shared_place.open()
    assert ledger.verify().ok, "nothing inside the ledger can tell"
    assert ledger.verify(noted).first_bad == noted.entries


def test_an_older_copy_is_found_by_a_head_noted_elsewhere(shared_place: Place) -> None:
    _busy_ledger(shared_place)
    ledger = shared_place.open()
    noted = ledger.head()
    assert ledger.verify(noted).ok
    later = Head(entries=noted.entries + 1, hash="0" * 64)
    assert "older than" in str(ledger.verify(later).problem)


def test_a_ledger_that_does_not_add_up_takes_no_charge(shared_place: Place) -> None:
    _busy_ledger(shared_place)
    shared_place.tamper("UPDATE entries SET text = replace(text, '1', '0') WHERE number = 7")
    _, account, snapshot = shared_place.opened(budget=4)
    with pytest.raises(LedgerError, match="Entry 7 of the ledger was changed"):
        pay(account, snapshot, "another")


def _in_steps(place: Place) -> None:
    """Entries: 4 a reservation, 5 one that is left open, then 4's step, settlement and release."""
    ledger, account, snapshot = place.opened(budget=4)
    (charge, _) = account.charge([reservation("in steps"), reservation("left open")], snapshot)
    account.keep_step(charge, "probe", b"seen")
    account.store(account.settle(charge, Loss("1/4", "3/4"), {}), b"released", {})
    assert ledger.verify().ok
    ledger.close()


@pytest.mark.parametrize(
    ("statement", "entry"),
    [
        ("UPDATE payloads SET content = '\\x00' WHERE number = 6", 6),
        ("DELETE FROM payloads WHERE number = 6", 6),
        ("UPDATE entries SET text = replace(text, 'probe', 'other') WHERE number = 6", 6),
        ("DELETE FROM latest WHERE number = 7", 7),
    ],
)
def test_a_change_to_what_was_done_in_steps_is_found(
    shared_place: Place, statement: str, entry: int
) -> None:
    _in_steps(shared_place)
    shared_place.tamper(statement)
    assert shared_place.open().verify().first_bad == entry


def _settle_for_less(body: dict[str, Any]) -> None:
    if body["kind"] == "settlement":
        body["content"]["loss"]["nonsensitive"] = "1/4"


def _settle_for_more(body: dict[str, Any]) -> None:
    if body["kind"] == "settlement":
        body["content"]["loss"]["sensitive"] = "3/4"


def _release_a_hold(body: dict[str, Any]) -> None:
    if body["kind"] == "settlement":
        body["content"]["held"]["epsilon"] = "0"


def _hold_less(body: dict[str, Any]) -> None:
    if body["number"] == 5:
        body["content"]["held"]["epsilon"] = "1"


def _claim_no_reservation(body: dict[str, Any]) -> None:
    if body["number"] == 4:
        body["content"]["reserves"] = False


@pytest.mark.parametrize(
    "lie",
    [
        _settle_for_less,
        _settle_for_more,
        _release_a_hold,
        _hold_less,
        _claim_no_reservation,
    ],
)
def test_forged_reservations_must_still_add_up(
    shared_place: Place, lie: Callable[[dict[str, Any]], None]
) -> None:
    _in_steps(shared_place)
    shared_place.forge(lie)
    assert not shared_place.open().verify().ok


def test_a_settlement_that_the_index_lost_is_not_made_twice(shared_place: Place) -> None:
    _in_steps(shared_place)
    shared_place.tamper(
        ("DELETE FROM latest WHERE name = ?", (settlement_name(4),)),
    )
    _, account, snapshot = shared_place.opened(budget=4)
    (charge,) = account.charge([reservation("in steps")], snapshot)
    assert account.settle(charge, Loss("1/2", "1/2"), {}).spending.loss == Loss("1/4", "3/4")
    assert account.balance().spent == 2


@pytest.mark.parametrize(
    "damage", ["UPDATE latest SET number = 4 WHERE number = 7", "DELETE FROM latest"]
)
def test_a_damaged_index_takes_no_charge(shared_place: Place, damage: str) -> None:
    _busy_ledger(shared_place)
    _, account, snapshot = shared_place.opened(budget=4)
    shared_place.raw(damage)
    with pytest.raises(LedgerError, match="The index of the ledger"):
        pay(account, snapshot, "another")


@pytest.mark.parametrize("table", ["entries", "coin_keys", "payloads"])
@pytest.mark.parametrize("action", ["DELETE FROM {0}", "UPDATE {0} SET {1} = {1}"])
def test_the_store_refuses_changes(shared_place: Place, table: str, action: str) -> None:
    _busy_ledger(shared_place)
    column = {"entries": "text", "coin_keys": "secret", "payloads": "content"}[table]
    with pytest.raises(Exception, match="append-only"):
        shared_place.raw(action.format(table, column))
    assert shared_place.open().verify().ok


def test_the_export_can_be_checked_without_the_program(shared_place: Place) -> None:
    _busy_ledger(shared_place)
    exported = json.loads(json.dumps(shared_place.open().export()))
    previous = "0" * 64
    for entry in exported["entries"]:
        assert hashlib.sha256(entry["text"].encode()).hexdigest() == entry["hash"]
        assert json.loads(entry["text"])["previous"] == previous
        previous = entry["hash"]
    assert exported["head"] == {"entries": 7, "hash": previous}
    assert [each["dataset"] for each in exported["accounts"]] == ["visits"]
    assert [each["receipt"] for each in exported["receipts"]] == [{"n": 1}]


def test_another_version_is_named(shared_place: Place) -> None:
    _busy_ledger(shared_place)
    shared_place.raw("UPDATE head SET version = 3")
    with pytest.raises(LedgerError, match=r"newer onesided \(format 3"):
        shared_place.open()
    shared_place.raw("UPDATE head SET version = 0")
    with pytest.raises(LedgerError, match="unknown format"):
        shared_place.open()


def test_a_clock_moved_back_repeats_the_last_time(
    shared_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import datetime

    from onesided.ledger import chain

    ledger, account, snapshot = shared_place.opened()
    first = pay(account, snapshot, "first")

    class Earlier:
        @staticmethod
        def now(zone: Any) -> datetime:
            return datetime(2001, 1, 1, tzinfo=zone)

    monkeypatch.setattr(chain, "datetime", Earlier)
    second = pay(account, snapshot, "second")
    monkeypatch.undo()
    third = pay(account, snapshot, "third")
    assert first.time == second.time < third.time
    assert ledger.verify().ok
