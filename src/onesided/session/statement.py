"""The statement of an account: what was promised in all, and what is left, in plain words.

Everything here follows from the ledger alone, so that an auditor needs neither the data nor the
policy's author. A statement holds nothing secret: charges, receipts and prices are public.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from onesided.data.release import Receipt, ReleaseKind
from onesided.data.units import Unit
from onesided.digits import plus_minus
from onesided.ledger import Account, Balance, Charge, ChargeRecord, Json, Ledger, Moment
from onesided.ledger.totals import total_of
from onesided.loss import Loss, show
from onesided.mechanisms.rr import RandomizedResponse
from onesided.session.lookups import TERM as LOOKUPS
from onesided.session.receipts import guarantee

ReceiptOf: TypeAlias = Callable[[int], Json]
"""The receipt that is stored for a charge; empty where none is."""

MOST_MORE = 1_000_000
"""Where more of the same fit, nobody counts them."""


@dataclass(frozen=True)
class Statement:
    """One account as it stands.

    - `promise`: the guarantee for everything charged so far, in one sentence.
    - `outlook`: what is left, in terms of the latest question.
    """

    balance: Balance
    promise: str
    outlook: str

    def history(self) -> list[Moment]:
        """The account at every charge, settlement and raised budget, in the order of the chain."""
        return list(self.balance.history)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; exact numbers are texts."""
        balance = self.balance
        return {
            "dataset": balance.terms.dataset,
            "unit": list(balance.terms.unit),
            "policy": {"sql": balance.terms.policy_sql, "id": balance.terms.policy_id},
            "partition_columns": list(balance.terms.partition_columns),
            "format": balance.terms.format,
            "extra": balance.terms.extra,
            "budget": show(balance.budget),
            "spent": show(balance.spent),
            "left": show(balance.left),
            "spent_as_plain_sum": show(balance.plain_sum),
            "pair": balance.total.to_json(),
            "guarantee": self.promise,
            "outlook": self.outlook,
            "charges": [_charge(record) for record in balance.charges],
            "raised_budgets": [
                {"time": each.time, "budget": show(each.budget), "who": each.who, "why": each.why}
                for each in balance.raises
            ],
        }


def statements(ledger: Ledger) -> list[Statement]:
    """The statement of every account in the ledger, oldest first."""
    return [statement_of(account) for account in ledger.accounts()]


def statement_of(account: Account) -> Statement:
    """The statement of one account."""
    balance = account.balance()

    def receipt_of(charge: int) -> Json:
        stored = account.release_of(charge)
        return {} if stored is None else stored.receipt

    return Statement(balance, promise(balance), outlook(balance, receipt_of))


def promise(balance: Balance) -> str:
    """The guarantee of all charges together, under the minimum relaxation of their policies.

    The account's policy relaxes every policy that was used, so the account's pair holds under it,
    and it is the minimum relaxation itself where it was used. Where it was not: of a single
    stricter policy the pair need not be relaxed at all, and of several the account's pair
    (Σ Sⱼ, Σ max(Sⱼ, Tⱼ)) holds where all of them say sensitive.

    Over several snapshots the same holds for units that were sensitive in all of them: of any other
    unit one version was not protected.
    """
    snapshots = len({each.snapshot for each in _charges(balance)})
    if snapshots < 2:
        return _promise_of_all(balance)
    return (
        f"{_promise_of_all(balance)} Of the {snapshots} snapshots of the data, a unit must have "
        "been sensitive in each for this to hold."
    )


def _promise_of_all(balance: Balance) -> str:
    unit = Unit(balance.terms.unit)
    extra = balance.terms.extra
    known = extra.get(LOOKUPS, {})
    lookups = {name: each["max_units"] for name, each in known.items()}
    used = {each.spending.policy_id: each.spending for each in _charges(balance)}
    if not used or balance.terms.policy_id in used:
        return guarantee(balance.total, balance.terms.policy_sql, unit, lookups, extra)
    if len(used) == 1:
        charges = list(_charges(balance))
        own = [
            (replace(each.spending, relaxed=False), each.snapshot)
            for each in charges
            if not each.reserved
        ]
        held = [each.spending.loss for each in charges if each.reserved]
        policy = next(iter(used.values())).policy_sql
        return guarantee(total_of(own, held), policy, unit, lookups, extra)
    # A unit of several rows is sensitive where each policy holds for some row of it; one row for
    # all of them would promise less, so the policies are named side by side.
    together = ") and (".join(sorted(each.policy_sql for each in used.values()))
    return guarantee(balance.total, together, unit, lookups, extra)


def outlook(balance: Balance, receipt_of: ReceiptOf) -> str:
    """How often the latest count could be asked anew with what is left."""
    left = f"ε = {show(balance.left)} is left"
    latest = next(_counts(balance, receipt_of), None)
    if latest is None:
        return f"{left}."
    more = how_often(latest.loss, balance)
    by = " × ".join(latest["request"]["by"]) or "total"
    error = latest.content["error"].get("expected_absolute_error_per_group")
    size = "" if error is None else f" at {plus_minus(float(error))}"
    each = f"{by} {'count' if by == 'total' else 'histogram'}{'' if more == 1 else 's'}"
    number = "no" if more == 0 else f"about {more:,}" if more < MOST_MORE else "any number of"
    return f"{left}: {number} more {each}{size} (ε = {show(latest.loss.epsilon)} each)."


def how_often(loss: Loss, balance: Balance) -> int:
    """The most m for which the account's pair (S + m·s, T + m·t) stays within the budget."""

    def fits(times: int) -> bool:
        added = Loss(times * loss.sensitive, times * loss.nonsensitive)
        return (balance.total + added).fits(balance.budget)

    low, high = 0, 1
    while high <= MOST_MORE and fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return min(low, MOST_MORE)


def _counts(balance: Balance, receipt_of: ReceiptOf) -> Iterator[Receipt]:
    """The receipts of counts that cost something, the latest first."""
    for charge in reversed(list(_charges(balance))):
        if charge.description.get("kind") != ReleaseKind.COUNT.value:
            continue
        receipt = Receipt(receipt_of(charge.number))
        if (
            receipt.content
            and "step" not in receipt["request"]
            and receipt["mechanism"] != RandomizedResponse.name
        ):
            yield receipt


def _charges(balance: Balance) -> Iterator[Charge]:
    return (record.charge for record in balance.charges)


def _charge(record: ChargeRecord) -> dict[str, Any]:
    charge = record.charge
    return {
        "entry": charge.number,
        "time": charge.time,
        "state": record.state.value,
        "request": dict(charge.description),
        "terms": charge.terms,
        "asked_by": charge.who,
        "purpose": charge.purpose,
        "policy": charge.spending.policy_sql,
        "part": charge.spending.part,
        "snapshot": charge.snapshot,
        "pair": charge.spending.loss.to_json(),
        "cost": show(charge.cost),
        "spent": show(charge.total.epsilon),
        "spent_as_plain_sum": show(charge.plain_sum),
        "budget": show(charge.budget),
    }
