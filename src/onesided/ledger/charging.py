"""Charging inside one transaction: what is asked for is charged, or found to be paid for."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from onesided.errors import BudgetError, LedgerError, RequestError
from onesided.ledger.base import (
    LONGEST_PURPOSE,
    LONGEST_WHO,
    Charge,
    LedgerDamaged,
    Order,
    Snapshot,
    Spending,
    StoredRelease,
    Terms,
)
from onesided.ledger.books import AccountBooks
from onesided.ledger.chain import Entry, EntryKind
from onesided.ledger.records import charge_from_entry, reserves, spending_from_json
from onesided.ledger.rows import LedgerRows
from onesided.loss import show

LONGEST_LABEL = 500
"""Characters of a name by which entries are looked up."""


def check_order(order: Order, terms: Terms) -> None:
    """Refuse what an account of these terms cannot charge."""
    check_label(order.request, "fingerprint of the request")
    check_text(order.who, "id of who asks", LONGEST_WHO)
    check_text(order.purpose, "purpose", LONGEST_PURPOSE)
    check_spending(order.spending, terms)


def check_spending(spending: Spending, terms: Terms) -> None:
    """Refuse a policy or a partition that an account of these terms does not have."""
    if spending.relaxed == (spending.policy_id == terms.policy_id):
        raise RequestError(
            "A charge is made under the account's own policy or under one that is proven "
            "stricter; name one of these."
        )
    if spending.part and spending.part[0] not in terms.partition_columns:
        raise RequestError(
            "The account was not opened with this column as a partition; only columns declared "
            "then may be charged part by part."
        )


def charge_all(
    books: AccountBooks, orders: Sequence[Order], snapshot: Snapshot
) -> tuple[Charge, ...]:
    """Charge all orders in the transaction of `books`; BudgetError must end it."""
    rows = books.rows
    books.fetch(orders, snapshot.number)
    check_current(books, snapshot.number, snapshot.fingerprint)
    before = books.standing().spent
    charges = tuple(_charged(books, order, snapshot.number) for order in orders)
    spent, budget = books.standing().spent, rows.budget(books.account)
    if spent > budget:  # what was written goes with the transaction
        raise BudgetError(_over_budget(spent - before, budget - before, budget))
    return charges


def check_current(books: AccountBooks, number: int | None, fingerprint: str | None = None) -> None:
    """Refuse a snapshot that is not the account's last, by number and name where known."""
    latest = books.rows.latest(books.account, EntryKind.SNAPSHOT)
    known = None if latest is None else (latest.body()["snapshot"], latest.label)
    if known is None or known != (number, fingerprint or known[1]):
        raise LedgerError(
            "The data set has changed since it was opened here; open it again for its new snapshot."
        )


def charge_as_it_stands(books: AccountBooks, paid: Entry) -> Charge:
    """A charge that was made before, with its settlement and its release where there are any."""
    stored = books.rows.release_of(paid.number)
    charge = charge_from_entry(paid, books.settlement(paid))
    release = None if stored is None else stored_release(books.rows, stored)
    return replace(charge, reused=True, release=release)


def _charged(books: AccountBooks, order: Order, snapshot: int) -> Charge:
    standing = _standing(books, order, snapshot) if order.paid_once else None
    charge = standing or charge_from_entry(books.charge(order, snapshot))
    return replace(charge, once=order.once and not order.spending.shared_coins)


def _standing(books: AccountBooks, order: Order, snapshot: int) -> Charge | None:
    """What the request has already paid for: its stored release, or a charge without one.

    A charge without a stored release has shown nothing, because what is shown is stored first;
    so it pays for another attempt. Two attempts at once store one release between them.
    """
    rows, account = books.rows, books.account
    states = range(snapshot, 0, -1) if order.once else (snapshot,)
    stored = rows.first_of(account, EntryKind.RELEASE, order.request, states)
    if stored is not None:
        paid = rows.entry(stored.body()["charge"])
        if paid is None:
            raise LedgerDamaged(f"The charge of entry {stored.number} is missing")
        charge = charge_from_entry(paid, books.settlement(paid))
        return replace(charge, reused=True, release=stored_release(rows, stored))
    if order.spending.shared_coins:
        states = (snapshot,)  # the coins are those of its own state
    latest = rows.first_of(account, EntryKind.CHARGE, order.request, states)
    if latest is None or not _asked_for(latest, order):
        return None
    return replace(charge_from_entry(latest, books.settlement(latest)), reused=True)


def _asked_for(paid: Entry, order: Order) -> bool:
    """Whether a charge was made for the same spending; how one was settled plays no part."""
    content = paid.body()["content"]
    same = spending_from_json(content["spending"]) == order.spending
    return same and reserves(paid) == order.reserves


def stored_payload(rows: LedgerRows, entry: Entry) -> bytes:
    """The bytes of a release or step, as they were stored."""
    payload = rows.payload(entry.number)
    sealed = entry.body()["content"]["payload_sha256"]
    if payload is None or hashlib.sha256(payload).hexdigest() != sealed:
        raise LedgerDamaged(f"What was stored as entry {entry.number} is missing or was changed")
    return payload


def stored_release(rows: LedgerRows, entry: Entry) -> StoredRelease:
    """The release that an entry records."""
    body = entry.body()
    return StoredRelease(
        number=entry.number,
        charge=body["charge"],
        request=entry.label,
        snapshot=body["snapshot"],
        time=body["time"],
        payload=stored_payload(rows, entry),
        receipt=body["content"]["receipt"],
        entry_hash=entry.hash,
    )


def check_label(label: str, name: str) -> None:
    """Refuse what a store cannot look up."""
    if not label or len(label) > LONGEST_LABEL or not label.isprintable():
        raise RequestError(
            f"The {name} must be a printable text of 1 to {LONGEST_LABEL} characters."
        )


def check_text(text: str, name: str, longest: int) -> None:
    """Refuse what is not for everybody to read for all time."""
    if len(text) > longest or not text.isprintable():
        raise RequestError(f"The {name} must be a printable text of at most {longest} characters.")


def _over_budget(cost: Fraction, left: Fraction, budget: Fraction) -> str:
    return (
        f"This release would cost ε = {show(cost)} but {show(left)} of the budget {show(budget)} "
        f"is left; nothing was spent; ask for a smaller epsilon or have the budget raised."
    )
