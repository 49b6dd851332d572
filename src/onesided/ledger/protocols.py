"""What a ledger and an account can do.

A `Ledger` is one file or database and holds one chain of entries. An `Account` belongs to one data
set in it and is the only way to spend its budget:

    ledger = open_ledger("visits.ledger")
    account = ledger.account(terms)               # opens, or continues under the same terms
    snapshot = account.snapshot(fingerprint)      # a change of the data draws a new coin key
    (charge,) = account.charge([order], snapshot)               # durable on return
    if charge.release is None:                    # nothing stored yet: compute, then
        release = account.store(charge, payload, receipt)       # stored before shown
    else:
        release = charge.release                  # paid before: the same bytes, free

What looks at the data, chooses and looks again reserves: its order says so, and between the charge
and the release come

    seen = account.keep_step(charge, "probe", payload)          # the first look, durable on return
    charge = account.settle(charge, loss, terms)                # the choice, before the second look

Show `release.payload`, and use `seen`, and nothing else: of two writers of one charge the first
wins, and the second is handed the bytes of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

from onesided.ledger.base import (
    Balance,
    BudgetRaise,
    Charge,
    Head,
    Json,
    Order,
    Quote,
    Snapshot,
    Spending,
    StewardLook,
    StoredRelease,
    Terms,
    Verification,
)
from onesided.loss import Loss


class RunBooks(Protocol):
    """What a run writes for its charge. Every method may be called from any thread."""

    def keep_step(self, charge: Charge, name: str, payload: bytes) -> bytes:
        """Keep an intermediate result, durable on return; the first writer wins."""
        ...

    def step(self, charge: Charge, name: str) -> bytes | None:
        """The intermediate result that was kept under this name."""
        ...

    def settle(self, charge: Charge, loss: Loss, terms: Json) -> Charge:
        """Replace a reservation by the pair that was chosen, and its terms; durable on return.

        A charge that is settled already comes back as it stands. ValueError for a pair that the
        reservation does not cover.
        """
        ...

    def store(self, charge: Charge, payload: bytes, receipt: Json) -> StoredRelease:
        """Store a release, durable on return. The first writer wins; show only what is returned."""
        ...

    def failed(self, charge: Charge, error: type[BaseException]) -> None:
        """Note that the release failed: the class of the error alone. The charge stands."""
        ...


class Account(RunBooks, Protocol):
    """The account of one data set. Every method may be called from any thread."""

    @property
    def terms(self) -> Terms:
        """The terms, with the budget as it was when the account was opened here."""
        ...

    def snapshot(self, fingerprint: str) -> Snapshot:
        """The current snapshot if `fingerprint` is its name, else a new one with a new coin key.

        Spent budget carries on; nothing of an older snapshot is free or returned any more.
        """
        ...

    def known_snapshot(self, fingerprint: str) -> Snapshot | None:
        """The current snapshot if `fingerprint` is its name; makes none."""
        ...

    def quote(self, spending: Spending, snapshot: Snapshot, *, reserves: bool = False) -> Quote:
        """What `spending` would cost, without paying; `reserves` as in an order."""
        ...

    def charge(self, orders: Sequence[Order], snapshot: Snapshot) -> tuple[Charge, ...]:
        """Check and reserve all orders or none in one transaction, durable on return.

        Each has its charge; of an order that is `paid_once` and was charged on this snapshot it is
        the earlier one: see `Charge`. BudgetError when the account's ε would exceed the budget;
        nothing is spent then.
        """
        ...

    def charged(self, number: int) -> Charge | None:
        """The charge of this entry as it stands, with its release where that is stored."""
        ...

    def stored(self, request: str, snapshot: Snapshot) -> StoredRelease | None:
        """The latest stored release of this request on this snapshot."""
        ...

    def release_of(self, charge: int) -> StoredRelease | None:
        """What is stored for the charge of this entry, whichever snapshot it was made on."""
        ...

    def raise_budget(self, budget: Fraction, *, who: str, why: str) -> BudgetRaise:
        """Raise the budget; the ledger keeps who did it, when and why."""
        ...

    def balance(self) -> Balance:
        """Everything charged so far and what is left."""
        ...


class Ledger(Protocol):
    """A durable, append-only ledger. Every method may be called from any thread."""

    def account(self, terms: Terms) -> Account:
        """Open the account of `terms.dataset`, or continue it; LedgerError under other terms."""
        ...

    def accounts(self) -> tuple[Account, ...]:
        """The accounts there are, oldest first."""
        ...

    def note(self, look: StewardLook) -> None:
        """Keep that somebody looked at the data; it belongs to no account, and opens none."""
        ...

    def verify(self, anchor: Head | None = None) -> Verification:
        """Check the chain, all sums and all releases, and that `anchor` is still part of it."""
        ...

    def export(self) -> dict[str, Any]:
        """All accounts, entries and receipts for an auditor; no coin key, no released data."""
        ...

    def head(self) -> Head:
        """The end of the chain."""
        ...

    def close(self) -> None:
        """Let go of the file or connection."""
        ...
