"""Checking a whole ledger: the chain, and that the story it tells adds up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from onesided.errors import OnesidedError
from onesided.ledger.base import CoinKey, Head, Spending, Verification
from onesided.ledger.chain import FORMAT, GENESIS, Entry, EntryKind, format_of
from onesided.ledger.records import (
    NOTHING_HELD,
    books_to_json,
    coin_key_digest,
    fingerprint_key_digest,
    spending_from_json,
)
from onesided.ledger.rows import LedgerRows, names_of
from onesided.ledger.snapshots import FINGERPRINT_KEY
from onesided.ledger.totals import Booking, Standing, addresses
from onesided.loss import Loss


def verified(rows: LedgerRows, anchor: Head | None) -> Verification:
    """Read the chain from its first entry and retell it; stop at the first entry that is wrong."""
    story = _Story(rows)
    previous, time, number, form = GENESIS, "", 0, 1
    for number, entry in enumerate(rows.entries(), start=1):
        try:
            _need(entry.number == number, "an entry is missing or out of order")
            body = entry.body()
            _need(body["previous"] == previous, "it does not follow from the entry before it")
            _need(body["time"] >= time, "its time lies before the entry before it")
            _need(form <= format_of(body) <= FORMAT, "it is not of the format of its time")
            form = format_of(body)
            story.tell(entry, body)
            if anchor is not None and anchor.entries == number:
                _need(anchor.hash == entry.hash, "it is not the one that was noted elsewhere")
        except (OnesidedError, LookupError, TypeError, ValueError) as error:
            reason = str(error) if isinstance(error, _Wrong) else "it was changed or is unreadable"
            return _found(rows, number, reason)
        previous, time = entry.hash, body["time"]
    if rows.head != Head(entries=number, hash=previous):
        return _found(rows, number + 1, "entries at the end are missing or were changed")
    if rows.version != form:
        return _found(rows, number, "the ledger claims another format than its last entry")
    if anchor is not None and anchor.entries > number:
        return _found(rows, number + 1, "the ledger is older than the entry noted elsewhere")
    if (bad := story.misplaced()) is not None:
        return _found(rows, bad, "the index of the ledger does not lead to it")
    return Verification(head=rows.head)


class _Wrong(ValueError):
    """The reason why an entry cannot be right, in words."""


def _need(condition: bool, reason: str) -> None:
    if not condition:
        raise _Wrong(reason)


def _found(rows: LedgerRows, number: int, reason: str) -> Verification:
    return Verification(
        head=rows.head, problem=f"Entry {number} cannot be right: {reason}.", first_bad=number
    )


@dataclass
class _Account:
    """What is known of an account at some point of the chain."""

    budget: Fraction
    policy_id: str
    partition_columns: tuple[str, ...]
    snapshot: int = 0
    has_format: bool = False
    extra: dict[str, Any] | None = None
    """Further terms; None in accounts of format 1, which take them with the format."""
    standing: Standing = field(default_factory=Standing)
    charges: dict[int, Entry] = field(default_factory=dict)
    reserved: dict[int, Spending] = field(default_factory=dict)
    """The open reservations."""
    steps: set[tuple[int, str]] = field(default_factory=set)
    released: set[int] = field(default_factory=set)


class _Story:
    """Every account, rebuilt from the entries alone."""

    def __init__(self, rows: LedgerRows) -> None:
        self._rows = rows
        self._accounts: dict[int, _Account] = {}
        self._index: dict[tuple[int, str], int] = {}
        self._tellers: dict[str, Callable[[Entry, dict[str, Any]], None]] = {
            EntryKind.LEDGER: self._ledger,
            EntryKind.ACCOUNT: self._account,
            EntryKind.FORMAT: self._format,
            EntryKind.SNAPSHOT: self._snapshot,
            EntryKind.CHARGE: self._charge,
            EntryKind.STEP: self._step,
            EntryKind.SETTLEMENT: self._settlement,
            EntryKind.RELEASE: self._release,
            EntryKind.FAILURE: self._failure,
            EntryKind.BUDGET: self._budget,
            EntryKind.LOOK: self._look,
        }

    def tell(self, entry: Entry, body: dict[str, Any]) -> None:
        """Take in the next entry."""
        self._tellers[entry.kind](entry, body)
        self._index.update({(entry.account, name): entry.number for name in names_of(entry)})

    def misplaced(self) -> int | None:
        """An entry that the index should lead to but does not, or the other way round."""
        kept = self._rows.index()
        wrong = {
            self._index.get(key, kept.get(key, 0))
            for key in kept.keys() | self._index.keys()
            if kept.get(key) != self._index.get(key)
        }
        return min(wrong, default=None)

    def _ledger(self, entry: Entry, body: dict[str, Any]) -> None:
        _need(entry.number == 1, "a ledger begins once")

    def _account(self, entry: Entry, body: dict[str, Any]) -> None:
        content = body["content"]
        self._accounts[entry.number] = _Account(
            budget=Fraction(content["budget"]),
            policy_id=content["policy_id"],
            partition_columns=tuple(content["partition_columns"]),
            has_format=content.get("format") is not None,
            extra=content.get("extra"),
        )

    def _format(self, entry: Entry, body: dict[str, Any]) -> None:
        account = self._accounts[entry.account]
        content = body["content"]
        _need(not account.has_format, "the format of the data was frozen before")
        _need(account.extra in (None, content["extra"]), "it changes further terms")
        account.has_format = content["format"] is not None

    def _snapshot(self, entry: Entry, body: dict[str, Any]) -> None:
        account = self._accounts[entry.account]
        _need(body["snapshot"] == account.snapshot + 1, "a snapshot is missing")
        account.snapshot += 1
        secret = self._rows.coin_key(entry.account, account.snapshot)
        known = secret is not None and coin_key_digest(CoinKey(secret))
        _need(known == body["content"]["coin_key_sha256"], "its coin key is missing or changed")
        if format_of(body) > 1:
            secret = self._rows.coin_key(entry.account, FINGERPRINT_KEY)
            known = secret is not None and fingerprint_key_digest(secret)
            sealed = body["content"]["fingerprint_key_sha256"]
            _need(known == sealed, "the key of its fingerprint is missing or changed")

    def _charge(self, entry: Entry, body: dict[str, Any]) -> None:
        account, content = self._accounts[entry.account], body["content"]
        spending = spending_from_json(content["spending"])
        own = spending.policy_id == account.policy_id
        _need(body["snapshot"] == account.snapshot, "it is not on the snapshot of its time")
        _need(spending.relaxed != own, "its policy is not booked as it must be")
        declared = spending.part is None or spending.part[0] in account.partition_columns
        _need(declared, "it is booked on an undeclared partition")
        before = account.standing.spent
        if content.get("reserves", False):
            booking = account.standing.hold(spending)
            account.reserved[entry.number] = spending
        else:
            booking = account.standing.add(spending, account.snapshot)
        account.charges[entry.number] = entry
        self._books(entry, content, booking, account.standing.spent - before)
        self._moved(entry, spending, account.snapshot, booking)

    def _settlement(self, entry: Entry, body: dict[str, Any]) -> None:
        account, content = self._belongs(entry), body["content"]
        spending = account.reserved.pop(entry.charge or 0, None)
        _need(spending is not None, "its charge is no open reservation")
        assert spending is not None
        charge = account.charges[entry.charge or 0]
        # A question of one part may be answered on a later state of the data.
        later = spending.part is not None and not spending.shared_coins
        on_time = body["snapshot"] == (charge.snapshot if later else account.snapshot)
        _need(on_time, "it is not on the snapshot of its time")
        before = account.standing.total.epsilon
        chosen = Loss.from_json(content["loss"])
        booking = account.standing.settle(spending, chosen, account.snapshot)
        self._books(entry, content, booking, account.standing.total.epsilon - before)
        self._moved(entry, spending, account.snapshot, booking)

    def _books(
        self, entry: Entry, content: dict[str, Any], booking: Booking, cost: Fraction
    ) -> None:
        """Hold what a charge or settlement wrote of the account against what it must be."""
        account = self._accounts[entry.account]
        written = {"held": NOTHING_HELD, **content}
        for name, value in books_to_json(booking, account.standing, cost, account.budget).items():
            _need(written[name] == value, f"its {name.replace('_', ' ')} is not what it must be")
        _need(account.standing.spent <= account.budget, "the account exceeds its budget")

    def _moved(self, entry: Entry, spending: Spending, snapshot: int, booking: Booking) -> None:
        where = addresses(spending, snapshot)
        self._index.update({(entry.account, where[level]): entry.number for level in booking.sums})

    def _step(self, entry: Entry, body: dict[str, Any]) -> None:
        account, name = self._belongs(entry), body["content"]["name"]
        assert entry.charge is not None
        _need((entry.charge, name) not in account.steps, "its charge has this step already")
        self._payload(entry, body)
        account.steps.add((entry.charge, name))

    def _release(self, entry: Entry, body: dict[str, Any]) -> None:
        account = self._belongs(entry)
        _need(entry.charge not in account.released, "its charge has a release already")
        _need(entry.charge not in account.reserved, "its charge was not settled")
        self._payload(entry, body)
        assert entry.charge is not None
        account.released.add(entry.charge)

    def _payload(self, entry: Entry, body: dict[str, Any]) -> None:
        payload = self._rows.payload(entry.number)
        known = payload is not None and hashlib.sha256(payload).hexdigest()
        _need(known == body["content"]["payload_sha256"], "what it stored is missing or changed")

    def _failure(self, entry: Entry, body: dict[str, Any]) -> None:
        self._belongs(entry)

    def _look(self, entry: Entry, body: dict[str, Any]) -> None:
        _need(entry.account == entry.number, "it is booked on an account")

    def _belongs(self, entry: Entry) -> _Account:
        account = self._accounts[entry.account]
        charge = account.charges.get(entry.charge or 0)
        _need(charge is not None, "it has no charge")
        assert charge is not None
        same = (charge.label, charge.snapshot) == (entry.label, entry.snapshot)
        _need(same, "its charge was for another request")
        return account

    def _budget(self, entry: Entry, body: dict[str, Any]) -> None:
        account = self._accounts[entry.account]
        budget = Fraction(body["content"]["budget"])
        _need(budget > account.budget, "a budget can only be raised")
        account.budget = budget
