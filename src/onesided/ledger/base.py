"""The words of the ledger: terms, snapshots, spendings, orders, charges, releases.

What can be done with them say the two protocols in protocols.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

from onesided.errors import LedgerError
from onesided.loss import Loss, show
from onesided.visible import visible

Json: TypeAlias = Mapping[str, Any]
"""A JSON object: texts, finite numbers, booleans, None, lists and objects."""

LONGEST_PURPOSE = 200
"""Characters of the purpose of an order."""

LONGEST_WHO = 100
"""Characters of the short id of who asks."""

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


class LedgerMissing(LedgerError):
    """There is no ledger at the place that was named."""


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
    """What an account is opened on; `budget` alone may be raised later.

    `unit` names the key columns, none where each row is a unit. `partition_columns` are those by
    whose values charges compose in parallel; they must be part of the key. A `budget` of None
    continues an existing account, which may have another budget by now.
    """

    dataset: str
    unit: tuple[str, ...]
    policy_id: str
    policy_sql: str
    budget: Fraction | None = None
    partition_columns: tuple[str, ...] = ()
    format: Json | None = None
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """One state of the data; `number` counts the account's from 1.

    `fingerprint` is how the chain names the state: keyed with a secret of the account, since a
    plain hash of few rows confirms a guess of their content. In accounts of format 1 the last name
    may still be the plain one, which no export shows.

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
class Order:
    """What is asked to be charged.

    - `request`: its fingerprint, by which an equal request is recognised.
    - `description`, `terms`: the question, and all that is known of its answer beforehand; public.
    - `paid_once`: an equal request on the same snapshot is not charged again.
    - `once`: nor is it on a later one. What was answered on an earlier state of the data is
      returned; what was charged there without an answer is answered on the current one.
    - `reserves`: `spending.loss` is held and not booked, until `settle` names the pair that was
      chosen. It is a pair (h, h); see totals.py for why it suffices.
    - `who`, `purpose`: who asks, as a short id, and to what end; public and permanent.
    """

    request: str
    spending: Spending
    description: Json
    terms: Json
    paid_once: bool = True
    once: bool = False
    reserves: bool = False
    who: str = ""
    purpose: str = ""


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

    While it is `reserved`, `spending.loss` is the pair that is held. Once settled, loss, terms,
    cost, total, plain sum and budget are those of the settlement.
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
    """The account's pair after this charge, with what was reserved then."""
    plain_sum: Fraction
    """What adding up the ε of all charges would have come to, for comparison."""
    budget: Fraction
    """The budget at the time of this charge."""
    entry_hash: str
    terms: Json | None = None
    """What was written with the charge; None in entries of format 1."""
    who: str = ""
    purpose: str = ""
    reserved: bool = False
    """Whether this is an open reservation."""
    reused: bool = False
    once: bool = False
    """Whether it may be answered on a later state of the data than it was made on."""
    release: StoredRelease | None = None

    @property
    def left(self) -> Fraction:
        """What was left of the budget after this charge."""
        return self.budget - self.total.epsilon


class ChargeState(Enum):
    """What became of a charge. All of them count.

    Open: charged, nothing stored yet. Reserved: held, the pair is not chosen yet. Settled: the pair
    was chosen, nothing stored yet.
    """

    OPEN = "open"
    RESERVED = "reserved"
    SETTLED = "settled"
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


@dataclass(frozen=True)
class Moment:
    """What an account had spent of which budget from some time on."""

    time: str
    spent: Fraction
    plain_sum: Fraction
    budget: Fraction


@dataclass(frozen=True, kw_only=True)
class Balance:
    """Where the account stands: `total` is the pair of everything charged and reserved."""

    terms: Terms
    """As agreed, with the budget of today."""
    budget: Fraction
    total: Loss
    plain_sum: Fraction
    charges: tuple[ChargeRecord, ...]
    raises: tuple[BudgetRaise, ...]
    history: tuple[Moment, ...]
    """The account after every charge, settlement and raised budget, in the order of the chain."""

    @property
    def spent(self) -> Fraction:
        """s + max(s, t) of `total`.

        It is also the ε of all that is booked plus the ε of all that is reserved: a reserved pair
        has equal halves.
        """
        return self.total.epsilon

    @property
    def left(self) -> Fraction:
        """What the account can still pay."""
        return self.budget - self.spent

    def __repr__(self) -> str:
        return (
            f"<Budget of {visible(self.terms.dataset)}: {show(self.spent)} of {show(self.budget)} "
            f"spent, {show(self.left)} left>"
        )

    def _repr_html_(self) -> str:
        from onesided import html

        facts = {
            "spent": f"{show(self.spent)} of {show(self.budget)}",
            "left": show(self.left),
            "plain sum of ε": show(self.plain_sum),
            "charges": f"{len(self.charges):,}",
            "policy": f"{self.terms.policy_sql}, or NULL",
        }
        share = html.Cell("", bar=float(self.spent / self.budget) if self.budget else 0.0)
        words = html.Cell(f"{show(self.left)} left", muted=True)
        title = f"Budget of {self.terms.dataset}"
        return html.card(title, html.table(("spent", ""), [(share, words)]), html.facts(facts))

    def plot(self) -> Any:
        """A chart of what was spent over time (needs the extra `charts`)."""
        from onesided.charts.accounts import AccountSteps, account_picture

        return account_picture([AccountSteps.of(self.terms.dataset, self.history)])


@dataclass(frozen=True, kw_only=True)
class Quote:
    """What a spending would cost now: `cost` is the growth of the account's ε, `total` the pair.

    Both `total` and `left` take open reservations into account.
    """

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
class StewardLook:
    """That a steward looked at the data themselves, at which policy, and whether at its secrets.

    What was seen is not kept. An auditor learns from it which policies were tried.
    """

    dataset: str
    unit: tuple[str, ...]
    policy_id: str
    policy_sql: str
    secret: bool
    who: str = ""


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
