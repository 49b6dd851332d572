"""The words of the ledger: terms, snapshots, spendings, charges, releases, and the two protocols.

A `Ledger` is one file or database and holds one chain of entries. An `Account` belongs to one data
set in it and is the only way to spend its budget:

    ledger = open_ledger("visits.ledger")
    account = ledger.account(terms)               # opens, or continues under the same terms
    snapshot = account.snapshot(fingerprint)      # a change of the data draws a new coin key
    charge = account.charge(request, spending, snapshot, description=…)    # durable on return
    if charge.release is None:                    # nothing stored yet: compute, then
        release = account.store(charge, payload, receipt)                  # stored before shown
    else:
        release = charge.release                  # paid before: the same bytes, free

Show `release.payload` and nothing else: of two writers of one charge the first wins, and the
second is handed the bytes of the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from onesided.errors import LedgerError
from onesided.loss import Loss

Json: TypeAlias = Mapping[str, Any]
"""A JSON object: texts, finite numbers, booleans, None, lists and objects."""

Part: TypeAlias = tuple[str, str]
"""One part of a declared partition, (column, value as text).

Two texts must never name units in common: that they differ is what parallel composition rests on.
"""


class LedgerDamaged(LedgerError):
    """What the ledger holds contradicts itself; `finding` says what was changed or is missing."""

    def __init__(self, finding: str) -> None:
        super().__init__(
            f"{finding}; nothing was released; restore the ledger from a backup that is not older "
            f"than its last charge."
        )


class CoinKey:
    """The secret behind a snapshot's coins; only `reveal()` shows it, and no text ever does."""

    __slots__ = ("_digits",)

    def __init__(self, digits: str) -> None:
        self._digits = digits

    def reveal(self) -> str:
        """The 32 hex digits, for the engine alone."""
        return self._digits

    def __repr__(self) -> str:
        return "CoinKey(hidden)"


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What an account is opened on, for good; `budget` alone may be raised later.

    `unit` names the key columns, none where each row is a unit. `partition_columns` are those by
    whose values charges compose in parallel; they must be part of the key. A `budget` of None
    continues an existing account whatever its budget is by now.
    """

    dataset: str
    unit: tuple[str, ...]
    policy_id: str
    policy_sql: str
    budget: Fraction | None = None
    partition_columns: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """One state of the data, named by `fingerprint`; `number` counts the account's from 1.

    `fresh` says that this call found the data changed (or new) and drew `coin_key` anew.
    """

    number: int
    fingerprint: str
    time: str
    coin_key: CoinKey = field(compare=False)
    fresh: bool = field(default=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What is to be charged: a `loss` under a policy, on the whole table or on one `part`.

    `relaxed`: the policy is not the account's own but a stricter one, which the account's policy
    is proven to relax. `shared_coins`: the release is a sample drawn with the snapshot's coins; its
    loss is (0, ε) and counts by maximum with the other samples of that snapshot, policy and part.
    """

    loss: Loss
    policy_id: str
    policy_sql: str
    part: Part | None = None
    relaxed: bool = False
    shared_coins: bool = False


@dataclass(frozen=True, kw_only=True)
class StoredRelease:
    """A release as it was stored, which is the only form in which it may be shown."""

    number: int
    """The release's entry in the chain."""
    charge: int
    """The charge's entry in the chain."""
    request: str
    snapshot: int
    time: str
    payload: bytes = field(repr=False)
    receipt: Json = field(repr=False)
    entry_hash: str


@dataclass(frozen=True, kw_only=True)
class Charge:
    """A durable charge. `cost` is what it added to the account's ε, `spending.loss` what it ran.

    `release` is set when the request was paid for and stored before; `reused` when an earlier
    charge of the same request stands, of which nothing was ever shown. Both cost nothing now:
    `cost` is what was paid then.
    """

    number: int
    """The charge's entry in the chain."""
    request: str
    snapshot: int
    time: str
    spending: Spending
    description: Json
    cost: Fraction
    total: Loss
    """The account's pair after this charge."""
    plain_sum: Fraction
    """What adding up the ε of all charges would have come to, for comparison."""
    budget: Fraction
    """The budget at the time of this charge."""
    entry_hash: str
    reused: bool = False
    release: StoredRelease | None = None

    @property
    def left(self) -> Fraction:
        """What was left of the budget after this charge."""
        return self.budget - self.total.epsilon


class ChargeState(Enum):
    """What became of a charge. All of them count."""

    OPEN = "open"
    STORED = "stored"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class ChargeRecord:
    """A line of the account: the charge, what became of it, and the state of the account then."""

    charge: Charge
    state: ChargeState


@dataclass(frozen=True, kw_only=True)
class BudgetRaise:
    """Who raised the budget to what, when and why."""

    number: int
    time: str
    budget: Fraction
    who: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Balance:
    """Where the account stands: `total` is the pair of everything charged."""

    terms: Terms
    """As agreed, with the budget of today."""
    budget: Fraction
    total: Loss
    plain_sum: Fraction
    charges: tuple[ChargeRecord, ...]
    raises: tuple[BudgetRaise, ...]

    @property
    def spent(self) -> Fraction:
        """s + max(s, t) of `total`."""
        return self.total.epsilon

    @property
    def left(self) -> Fraction:
        """What the account can still pay."""
        return self.budget - self.spent


@dataclass(frozen=True, kw_only=True)
class Quote:
    """What a spending would cost now: `cost` is the growth of the account's ε, `total` the pair."""

    cost: Fraction
    total: Loss
    budget: Fraction
    left: Fraction
    """Before paying."""

    @property
    def fits(self) -> bool:
        """Whether the account can pay it."""
        return self.cost <= self.left


@dataclass(frozen=True, kw_only=True)
class Head:
    """The end of the chain. Noted elsewhere it proves later that nothing before it was undone."""

    entries: int
    hash: str


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What checking the whole ledger found; `first_bad` is the first entry that cannot be right."""

    head: Head
    problem: str | None = None
    first_bad: int | None = None

    @property
    def ok(self) -> bool:
        """Whether everything fits."""
        return self.problem is None


class Account(Protocol):
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

    def quote(self, spending: Spending, snapshot: Snapshot) -> Quote:
        """What `spending` would cost, without paying."""
        ...

    def charge(
        self,
        request: str,
        spending: Spending,
        snapshot: Snapshot,
        *,
        description: Json,
        paid_once: bool = True,
    ) -> Charge:
        """Check and reserve in one transaction, durable on return.

        With `paid_once` an equal request on this snapshot is not charged again: see `Charge`.
        BudgetError when the account's ε would exceed the budget; nothing is spent then.
        """
        ...

    def store(self, charge: Charge, payload: bytes, receipt: Json) -> StoredRelease:
        """Store a release, durable on return. The first writer wins; show only what is returned."""
        ...

    def stored(self, request: str, snapshot: Snapshot) -> StoredRelease | None:
        """The latest stored release of this request on this snapshot."""
        ...

    def failed(self, charge: Charge, error: type[BaseException]) -> None:
        """Note that the release failed: the class of the error alone. The charge stands."""
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
