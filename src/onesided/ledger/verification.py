"""Checking a whole ledger: the chain, and that the story it tells adds up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from onesided.errors import OnesidedError
from onesided.ledger.base import CoinKey, Head, Verification
from onesided.ledger.chain import GENESIS, Entry, Kind
from onesided.ledger.records import charge_from_entry, coin_key_digest, loss_to_json
from onesided.ledger.rows import Rows, names_of
from onesided.ledger.totals import Standing, addresses


def verified(rows: Rows, anchor: Head | None) -> Verification:
    """Read the chain from its first entry and retell it; stop at the first entry that is wrong."""
    story = _Story(rows)
    previous, time, number = GENESIS, "", 0
    for number, entry in enumerate(rows.entries(), start=1):
        try:
            _need(entry.number == number, "an entry is missing or out of order")
            body = entry.body()
            _need(body["previous"] == previous, "it does not follow from the entry before it")
            _need(body["time"] >= time, "its time lies before the entry before it")
            story.tell(entry, body)
            if anchor is not None and anchor.entries == number:
                _need(anchor.hash == entry.hash, "it is not the one that was noted elsewhere")
        except (OnesidedError, LookupError, TypeError, ValueError) as error:
            reason = str(error) if isinstance(error, _Wrong) else "it was changed or is unreadable"
            return _found(rows, number, reason)
        previous, time = entry.hash, body["time"]
    if rows.head != Head(entries=number, hash=previous):
        return _found(rows, number + 1, "entries at the end are missing or were changed")
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


def _found(rows: Rows, number: int, reason: str) -> Verification:
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
    standing: Standing = field(default_factory=Standing)
    charges: dict[int, Entry] = field(default_factory=dict)
    released: set[int] = field(default_factory=set)


class _Story:
    """Every account, rebuilt from the entries alone."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._accounts: dict[int, _Account] = {}
        self._index: dict[tuple[int, str], int] = {}
        self._tellers: dict[str, Callable[[Entry, dict[str, Any]], None]] = {
            Kind.LEDGER: self._ledger,
            Kind.ACCOUNT: self._account,
            Kind.SNAPSHOT: self._snapshot,
            Kind.CHARGE: self._charge,
            Kind.RELEASE: self._release,
            Kind.FAILURE: self._failure,
            Kind.BUDGET: self._budget,
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
        )

    def _snapshot(self, entry: Entry, body: dict[str, Any]) -> None:
        account = self._accounts[entry.account]
        _need(body["snapshot"] == account.snapshot + 1, "a snapshot is missing")
        account.snapshot += 1
        secret = self._rows.coin_key(entry.account, account.snapshot)
        known = secret is not None and coin_key_digest(CoinKey(secret))
        _need(known == body["content"]["coin_key_sha256"], "its coin key is missing or changed")

    def _charge(self, entry: Entry, body: dict[str, Any]) -> None:
        account = self._accounts[entry.account]
        charge = charge_from_entry(entry)
        spending = charge.spending
        own = spending.policy_id == account.policy_id
        _need(charge.snapshot == account.snapshot, "it is not on the snapshot of its time")
        _need(spending.relaxed != own, "its policy is not booked as it must be")
        declared = spending.part is None or spending.part[0] in account.partition_columns
        _need(declared, "it is booked on an undeclared partition")
        before = account.standing.total.epsilon
        booking = account.standing.add(spending, charge.snapshot)
        sums = {level.value: loss_to_json(loss) for level, loss in booking.sums.items()}
        _need(sums == body["content"]["sums"], "its sums do not add up")
        _need(charge.total == booking.total, "its total does not add up")
        _need(charge.cost == booking.total.epsilon - before, "its cost is not what it added")
        _need(charge.plain_sum == account.standing.plain_sum, "its plain sum does not add up")
        _need(charge.budget == account.budget, "it names another budget")
        _need(booking.total.fits(account.budget), "the account exceeds its budget")
        account.charges[entry.number] = entry
        for name in addresses(spending, charge.snapshot).values():
            self._index[entry.account, name] = entry.number

    def _release(self, entry: Entry, body: dict[str, Any]) -> None:
        account = self._belongs(entry)
        _need(entry.charge not in account.released, "its charge has a release already")
        payload = self._rows.payload(entry.number)
        known = payload is not None and hashlib.sha256(payload).hexdigest()
        _need(known == body["content"]["payload_sha256"], "what it stored is missing or changed")
        assert entry.charge is not None
        account.released.add(entry.charge)

    def _failure(self, entry: Entry, body: dict[str, Any]) -> None:
        self._belongs(entry)

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
