"""The account on any store: every decision is made inside the transaction that records it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from onesided.errors import BudgetError, LedgerError, RequestError
from onesided.ledger.base import (
    Balance,
    BudgetRaise,
    Charge,
    ChargeRecord,
    ChargeState,
    CoinKey,
    Json,
    LedgerDamaged,
    Quote,
    Snapshot,
    Spending,
    StoredRelease,
    Terms,
)
from onesided.ledger.chain import Entry, Kind
from onesided.ledger.records import (
    charge_from_entry,
    coin_key_digest,
    loss_from_json,
    loss_to_json,
    raise_from_entry,
    spending_to_json,
    terms_from_json,
)
from onesided.ledger.rows import Rows, kind_name, request_name
from onesided.ledger.store import LARGEST_PAYLOAD, Store
from onesided.ledger.totals import Booking, addresses, book
from onesided.loss import Loss, show
from onesided.randomness import fresh_coin_key

LONGEST_LABEL = 500
"""Characters of a name by which entries are looked up."""


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
        check_label(fingerprint, "fingerprint of the data")
        with self._store.reading() as rows:
            latest = rows.latest(self._number, Kind.SNAPSHOT)
            if latest is not None and latest.label == fingerprint:
                return self._snapshot(rows, latest)
        with self._store.writing() as rows:
            latest = rows.latest(self._number, Kind.SNAPSHOT)
            if latest is not None and latest.label == fingerprint:
                return self._snapshot(rows, latest)
            number = 1 if latest is None else latest.body()["snapshot"] + 1
            key = CoinKey(fresh_coin_key())
            entry = rows.append(
                Kind.SNAPSHOT,
                account=self._number,
                label=fingerprint,
                snapshot=number,
                content={"coin_key_sha256": coin_key_digest(key)},
            )
            rows.add_coin_key(self._number, number, key.reveal())
            return replace(self._snapshot(rows, entry), fresh=True)

    def _snapshot(self, rows: Rows, entry: Entry) -> Snapshot:
        body = entry.body()
        secret = rows.coin_key(self._number, body["snapshot"])
        if secret is None or coin_key_digest(CoinKey(secret)) != body["content"]["coin_key_sha256"]:
            raise LedgerDamaged("The coin key of the current snapshot is missing or was changed")
        return Snapshot(
            number=body["snapshot"],
            fingerprint=entry.label,
            time=body["time"],
            coin_key=CoinKey(secret),
        )

    def quote(self, spending: Spending, snapshot: Snapshot) -> Quote:
        """What `spending` would cost, without paying."""
        self._check(spending)
        with self._store.reading() as rows:
            return self._price(rows, spending, snapshot.number)[0]

    def charge(
        self,
        request: str,
        spending: Spending,
        snapshot: Snapshot,
        *,
        description: Json,
        paid_once: bool = True,
    ) -> Charge:
        """Check and reserve in one transaction, durable on return."""
        check_label(request, "fingerprint of the request")
        self._check(spending)
        with self._store.writing() as rows:
            self._fetch(rows, request, spending, snapshot.number)
            self._current(rows, snapshot.number, snapshot.fingerprint)
            if paid_once:
                standing = self._standing(rows, request, spending, snapshot.number)
                if standing is not None:
                    return standing
            quote, booking, plain_sum = self._price(rows, spending, snapshot.number)
            if not quote.fits:
                raise BudgetError(_over_budget(quote))
            entry = rows.append(
                Kind.CHARGE,
                account=self._number,
                label=request,
                snapshot=snapshot.number,
                content={
                    "spending": spending_to_json(spending),
                    "description": dict(description),
                    "cost": str(quote.cost),
                    "sums": {level: loss_to_json(loss) for level, loss in booking.sums.items()},
                    "total": loss_to_json(booking.total),
                    "plain_sum": str(plain_sum + spending.loss.epsilon),
                    "budget": str(quote.budget),
                },
                sums=tuple(addresses(spending, snapshot.number).values()),
            )
            return charge_from_entry(entry)

    def _fetch(self, rows: Rows, request: str, spending: Spending, snapshot: int) -> None:
        """Everything a charge looks at, in one statement."""
        rows.look_up(
            self._number,
            [
                *(kind_name(kind) for kind in (Kind.SNAPSHOT, Kind.CHARGE, Kind.BUDGET)),
                *(request_name(kind, request, snapshot) for kind in (Kind.CHARGE, Kind.RELEASE)),
                *addresses(spending, snapshot).values(),
            ],
        )

    def _standing(
        self, rows: Rows, request: str, spending: Spending, snapshot: int
    ) -> Charge | None:
        """What the request has already paid for: its stored release, or a charge without one.

        A charge without a stored release has shown nothing, because what is shown is stored first;
        so it pays for another attempt. Two attempts at once store one release between them.
        """
        stored = rows.latest_of(self._number, Kind.RELEASE, request, snapshot)
        if stored is not None:
            entry = rows.entry(stored.body()["charge"])
            if entry is None:
                raise LedgerDamaged(f"The charge of entry {stored.number} is missing")
            return replace(charge_from_entry(entry), reused=True, release=_release(rows, stored))
        latest = rows.latest_of(self._number, Kind.CHARGE, request, snapshot)
        if latest is None:
            return None
        charge = charge_from_entry(latest)
        return replace(charge, reused=True) if charge.spending == spending else None

    def _price(
        self, rows: Rows, spending: Spending, snapshot: int
    ) -> tuple[Quote, Booking, Fraction]:
        """The price now, the sums afterwards, and the plain sum of ε so far."""
        before, plain_sum = Loss.zero(), Fraction(0)
        if (latest := rows.latest(self._number, Kind.CHARGE)) is not None:
            content = latest.body()["content"]
            before, plain_sum = loss_from_json(content["total"]), Fraction(content["plain_sum"])
        names = addresses(spending, snapshot)
        movers = zip(names, rows.look_up(self._number, tuple(names.values())), strict=True)
        sums = {
            level: loss_from_json(mover.body()["content"]["sums"][level])
            for level, mover in movers
            if mover is not None
        }
        booking = book(spending, sums, before)
        budget = rows.budget(self._number)
        quote = Quote(
            cost=booking.total.epsilon - before.epsilon,
            total=booking.total,
            budget=budget,
            left=budget - before.epsilon,
        )
        return quote, booking, plain_sum

    def _current(self, rows: Rows, number: int | None, fingerprint: str | None = None) -> None:
        """Refuse a snapshot that is not the account's last, by number and name where known."""
        latest = rows.latest(self._number, Kind.SNAPSHOT)
        known = None if latest is None else (latest.body()["snapshot"], latest.label)
        if known is None or known != (number, fingerprint or known[1]):
            raise LedgerError(
                "The data set has changed since it was opened here; open it again for its new "
                "snapshot."
            )

    def _check(self, spending: Spending) -> None:
        if spending.relaxed == (spending.policy_id == self._terms.policy_id):
            raise RequestError(
                "A charge is made under the account's own policy or under one that is proven "
                "stricter; name one of these."
            )
        if spending.part and spending.part[0] not in self._terms.partition_columns:
            raise RequestError(
                "The account was not opened with this column as a partition; only columns declared "
                "then may be charged part by part."
            )

    def store(self, charge: Charge, payload: bytes, receipt: Json) -> StoredRelease:
        """Store a release, durable on return. The first writer wins; show only what is returned."""
        if len(payload) > LARGEST_PAYLOAD:
            raise LedgerError(
                f"A release of more than {LARGEST_PAYLOAD // 2**20} MiB does not fit the ledger; "
                f"ask for fewer columns or groups."
            )
        with self._store.writing() as rows:
            paid = self._own(rows, charge)
            stored = rows.release_of(paid.number)
            if stored is None:
                self._current(rows, paid.snapshot)
                stored = rows.append(
                    Kind.RELEASE,
                    account=self._number,
                    label=paid.label,
                    snapshot=paid.snapshot,
                    charge=paid.number,
                    content={
                        "payload_sha256": hashlib.sha256(payload).hexdigest(),
                        "payload_bytes": len(payload),
                        "receipt": dict(receipt),
                    },
                )
                rows.add_payload(stored.number, payload)
            return _release(rows, stored)

    def _own(self, rows: Rows, charge: Charge) -> Entry:
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
            self._current(rows, snapshot.number, snapshot.fingerprint)
            entry = rows.latest_of(self._number, Kind.RELEASE, request, snapshot.number)
            return None if entry is None else _release(rows, entry)

    def failed(self, charge: Charge, error: type[BaseException]) -> None:
        """Note that the release failed: the class of the error alone. The charge stands."""
        with self._store.writing() as rows:
            paid = self._own(rows, charge)
            if rows.release_of(paid.number) is not None:
                return  # another attempt has stored it
            rows.append(
                Kind.FAILURE,
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
                Kind.BUDGET,
                account=self._number,
                label=self._terms.dataset,
                content={"budget": str(budget), "who": who, "why": why},
            )
            return raise_from_entry(entry)

    def balance(self) -> Balance:
        """Everything charged so far and what is left."""
        with self._store.reading() as rows:
            entries = list(rows.entries(self._number))
            budget = rows.budget(self._number)
        records = _records(entries)
        last = records[-1].charge if records else None
        opened = entries[0].body()["content"]
        return Balance(
            terms=terms_from_json(opened, budget),
            budget=budget,
            total=last.total if last else Loss.zero(),
            plain_sum=last.plain_sum if last else Fraction(0),
            charges=tuple(records),
            raises=tuple(raise_from_entry(e) for e in entries if e.kind == Kind.BUDGET),
        )


def _records(entries: Iterable[Entry]) -> list[ChargeRecord]:
    records: dict[int, ChargeRecord] = {}
    ends = {Kind.RELEASE: ChargeState.STORED, Kind.FAILURE: ChargeState.FAILED}
    for entry in entries:
        if entry.kind == Kind.CHARGE:
            charge = charge_from_entry(entry)
            records[entry.number] = ChargeRecord(charge=charge, state=ChargeState.OPEN)
        elif entry.kind in ends and entry.charge is not None:
            records[entry.charge] = replace(records[entry.charge], state=ends[entry.kind])
    return list(records.values())


def _release(rows: Rows, entry: Entry) -> StoredRelease:
    body: dict[str, Any] = entry.body()
    payload = rows.payload(entry.number)
    if payload is None or hashlib.sha256(payload).hexdigest() != body["content"]["payload_sha256"]:
        raise LedgerDamaged(f"The release stored as entry {entry.number} is missing or was changed")
    return StoredRelease(
        number=entry.number,
        charge=body["charge"],
        request=entry.label,
        snapshot=body["snapshot"],
        time=body["time"],
        payload=payload,
        receipt=body["content"]["receipt"],
        entry_hash=entry.hash,
    )


def check_label(label: str, name: str) -> None:
    """Refuse what a store cannot look up."""
    if not label or len(label) > LONGEST_LABEL or not label.isprintable():
        raise RequestError(
            f"The {name} must be a printable text of 1 to {LONGEST_LABEL} characters."
        )


def _over_budget(quote: Quote) -> str:
    return (
        f"This release would cost ε = {show(quote.cost)} but {show(quote.left)} of the budget "
        f"{show(quote.budget)} is left; nothing was spent; ask for a smaller epsilon or have the "
        f"budget raised."
    )
