"""The account on any store: every decision is made inside the transaction that records it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from onesided.errors import LedgerError, RequestError
from onesided.ledger.balance import balance_of
from onesided.ledger.base import (
    Balance,
    BudgetRaise,
    Charge,
    Json,
    LedgerDamaged,
    Order,
    Quote,
    Snapshot,
    Spending,
    StoredRelease,
    Terms,
)
from onesided.ledger.books import AccountBooks
from onesided.ledger.chain import Entry, EntryKind
from onesided.ledger.charging import (
    charge_all,
    charge_as_it_stands,
    check_current,
    check_label,
    check_order,
    check_spending,
    stored_payload,
    stored_release,
)
from onesided.ledger.records import (
    charge_from_entry,
    raise_from_entry,
    reserves,
)
from onesided.ledger.rows import LedgerRows
from onesided.ledger.snapshots import current_snapshot, new_snapshot
from onesided.ledger.store import LARGEST_PAYLOAD, Store
from onesided.ledger.terms import agreed
from onesided.loss import Loss, show


class StoredAccount:
    """The account whose first entry is `number`; meets the protocol `Account`."""

    def __init__(self, store: Store, number: int, terms: Terms) -> None:
        self._store = store
        self._number = number
        self._terms = terms

    def __repr__(self) -> str:
        return f"Account({self._terms.dataset!r}, {self._store!r})"

    @property
    def terms(self) -> Terms:
        """The terms, with the budget as it was when the account was opened here."""
        return self._terms

    def snapshot(self, fingerprint: str) -> Snapshot:
        """The current snapshot if `fingerprint` is its name, else a new one with a new coin key."""
        found = self.known_snapshot(fingerprint)
        if found is None:
            with self._store.writing() as rows:
                # Another process may have been faster.
                found = current_snapshot(rows, self._number, fingerprint) or new_snapshot(
                    rows, self._number, fingerprint
                )
        return found

    def known_snapshot(self, fingerprint: str) -> Snapshot | None:
        """The current snapshot if `fingerprint` is its name; makes none."""
        check_label(fingerprint, "fingerprint of the data")
        with self._store.reading() as rows:
            return current_snapshot(rows, self._number, fingerprint)

    def quote(self, spending: Spending, snapshot: Snapshot, *, reserves: bool = False) -> Quote:
        """What `spending` would cost, without paying; `reserves` as in an order."""
        check_spending(spending, self._terms)
        with self._store.reading() as rows:
            books = AccountBooks(rows, self._number)
            return books.quote(spending, snapshot.number, reserved=reserves)

    def charge(self, orders: Sequence[Order], snapshot: Snapshot) -> tuple[Charge, ...]:
        """Check and reserve all orders or none in one transaction, durable on return."""
        for order in orders:
            check_order(order, self._terms)
        with self._store.writing() as rows:
            return charge_all(AccountBooks(rows, self._number), orders, snapshot)

    def charged(self, number: int) -> Charge | None:
        """A charge as it stands, with its release where that is stored."""
        with self._store.reading() as rows:
            entry = rows.entry(number)
            if entry is None or (entry.account, entry.kind) != (self._number, EntryKind.CHARGE):
                return None
            return charge_as_it_stands(AccountBooks(rows, self._number), entry)

    def keep_step(self, charge: Charge, name: str, payload: bytes) -> bytes:
        """Keep an intermediate result, durable on return; the first writer wins."""
        check_label(name, "name of a step")
        _check_size(payload)
        with self._store.writing() as rows:
            paid = self._own(rows, charge)
            kept = _step(rows, paid, name)
            if kept is None:
                self._may_go_on(rows, charge)
                kept = rows.append(
                    EntryKind.STEP,
                    account=self._number,
                    label=paid.label,
                    snapshot=paid.snapshot,
                    charge=paid.number,
                    content={"name": name, **_seal(payload)},
                )
                rows.add_payload(kept.number, payload)
            return stored_payload(rows, kept)

    def step(self, charge: Charge, name: str) -> bytes | None:
        """The intermediate result that was kept under this name."""
        with self._store.reading() as rows:
            kept = _step(rows, self._own(rows, charge), name)
            return None if kept is None else stored_payload(rows, kept)

    def settle(self, charge: Charge, loss: Loss, terms: Json) -> Charge:
        """Replace a reservation by the pair that was chosen, and its terms; durable on return."""
        with self._store.writing() as rows:
            books = AccountBooks(rows, self._number)
            paid = self._own(rows, charge)
            if not reserves(paid):
                raise ValueError("only a reservation can be settled")
            settled = books.settlement(paid)
            if settled is None:
                self._may_go_on(rows, charge)
                settled = books.settle(paid, loss, dict(terms))
            again = charge_from_entry(paid, settled)
            return replace(again, reused=charge.reused, once=charge.once)

    def store(self, charge: Charge, payload: bytes, receipt: Json) -> StoredRelease:
        """Store a release, durable on return. The first writer wins; show only what is returned."""
        _check_size(payload)
        with self._store.writing() as rows:
            paid = self._own(rows, charge)
            stored = rows.release_of(paid.number)
            if stored is None:
                self._may_go_on(rows, charge)
                if reserves(paid) and AccountBooks(rows, self._number).settlement(paid) is None:
                    raise ValueError("a reservation is settled before anything is stored for it")
                stored = rows.append(
                    EntryKind.RELEASE,
                    account=self._number,
                    label=paid.label,
                    snapshot=paid.snapshot,
                    charge=paid.number,
                    content={**_seal(payload), "receipt": dict(receipt)},
                )
                rows.add_payload(stored.number, payload)
            return stored_release(rows, stored)

    def _may_go_on(self, rows: LedgerRows, charge: Charge) -> None:
        """Refuse to answer on another state of the data, but where that was asked for."""
        if not charge.once:
            check_current(AccountBooks(rows, self._number), charge.snapshot)

    def _own(self, rows: LedgerRows, charge: Charge) -> Entry:
        entry = rows.entry(charge.number)
        if entry is None or entry.hash != charge.entry_hash or entry.account != self._number:
            raise LedgerError(
                "This charge is not in the ledger, so its release is not stored; was an older copy "
                "of the ledger put back?"
            )
        return entry

    def stored(self, request: str, snapshot: Snapshot) -> StoredRelease | None:
        """The latest stored release of this request on this snapshot."""
        with self._store.reading() as rows:
            books = AccountBooks(rows, self._number)
            check_current(books, snapshot.number, snapshot.fingerprint)
            entry = rows.latest_of(self._number, EntryKind.RELEASE, request, snapshot.number)
            return None if entry is None else stored_release(rows, entry)

    def release_of(self, charge: int) -> StoredRelease | None:
        """What is stored for the charge of this entry, whichever snapshot it was made on."""
        with self._store.reading() as rows:
            entry = rows.release_of(charge)
            if entry is None or entry.account != self._number:
                return None
            return stored_release(rows, entry)

    def failed(self, charge: Charge, error: type[BaseException]) -> None:
        """Note that the release failed: the class of the error alone. The charge stands."""
        with self._store.writing() as rows:
            paid = self._own(rows, charge)
            if rows.release_of(paid.number) is not None:
                return  # another attempt has stored it
            rows.append(
                EntryKind.FAILURE,
                account=self._number,
                label=paid.label,
                snapshot=paid.snapshot,
                charge=paid.number,
                content={"error": error.__name__},
            )

    def raise_budget(self, budget: Fraction, *, who: str, why: str) -> BudgetRaise:
        """Raise the budget; the ledger keeps who did it, when and why."""
        if not who.strip() or not why.strip():
            raise RequestError("Say who raises the budget and why.")
        with self._store.writing() as rows:
            now = rows.budget(self._number)
            if budget <= now:
                raise RequestError(f"The budget is {show(now)} and can only be raised.")
            entry = rows.append(
                EntryKind.BUDGET,
                account=self._number,
                label=self._terms.dataset,
                content={"budget": str(budget), "who": who, "why": why},
            )
            return raise_from_entry(entry)

    def balance(self) -> Balance:
        """Everything charged so far and what is left."""
        with self._store.reading() as rows:
            entries = list(rows.entries(self._number))
            if not entries or entries[0].kind != EntryKind.ACCOUNT:
                raise LedgerDamaged("The entry that opened the account is missing")
            terms = agreed(rows, entries[0])
        assert terms.budget is not None
        return balance_of(entries, terms, terms.budget)


def _step(rows: LedgerRows, paid: Entry, name: str) -> Entry | None:
    """The step of that name of a charge."""
    steps = rows.of_charge(EntryKind.STEP, paid.number)
    return next((step for step in steps if step.body()["content"]["name"] == name), None)


def _seal(payload: bytes) -> dict[str, Any]:
    """What the chain keeps of the bytes of a release or step."""
    return {"payload_sha256": hashlib.sha256(payload).hexdigest(), "payload_bytes": len(payload)}


def _check_size(payload: bytes) -> None:
    if len(payload) > LARGEST_PAYLOAD:
        raise LedgerError(
            f"A release of more than {LARGEST_PAYLOAD // 2**20} MiB does not fit the ledger; "
            f"ask for fewer columns or groups."
        )
