"""The content of entries: how terms, spendings and charges are written as JSON and read back."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace
from fractions import Fraction
from typing import Any

from onesided.ledger.base import BudgetRaise, Charge, CoinKey, Order, Spending, Terms
from onesided.ledger.chain import Entry, digest
from onesided.ledger.totals import Booking, Held, Standing
from onesided.loss import Loss

NOTHING_HELD = {"epsilon": "0", "fixed_n": 0}
"""The open reservations in entries of format 1, which had none and do not say so."""


def coin_key_digest(key: CoinKey) -> str:
    """What the chain keeps of a coin key; the prefix sets it apart from all coins drawn with it."""
    return digest(f"onesided coin key {key.reveal()}")


def fingerprint_key_digest(secret: str) -> str:
    """What the chain keeps of the secret under which an account names the states of its data."""
    return digest(f"onesided fingerprint key {secret}")


def keyed_fingerprint(fingerprint: str, secret: str) -> str:
    """The name of a state of the data in the chain: HMAC-SHA256, so that it confirms no guess."""
    return hmac.new(secret.encode(), fingerprint.encode(), hashlib.sha256).hexdigest()


def spending_to_json(spending: Spending) -> dict[str, Any]:
    """A spending as JSON."""
    return {
        "loss": spending.loss.to_json(),
        "policy_id": spending.policy_id,
        "policy_sql": spending.policy_sql,
        "part": list(spending.part) if spending.part else None,
        "relaxed": spending.relaxed,
        "shared_coins": spending.shared_coins,
    }


def spending_from_json(value: dict[str, Any]) -> Spending:
    """The inverse of `spending_to_json`."""
    return Spending(
        loss=Loss.from_json(value["loss"]),
        policy_id=value["policy_id"],
        policy_sql=value["policy_sql"],
        part=(value["part"][0], value["part"][1]) if value["part"] else None,
        relaxed=value["relaxed"],
        shared_coins=value["shared_coins"],
    )


def terms_to_json(terms: Terms) -> dict[str, Any]:
    """An account's terms as JSON; the budget is the one at the opening."""
    return {
        "dataset": terms.dataset,
        "unit": list(terms.unit),
        "policy_id": terms.policy_id,
        "policy_sql": terms.policy_sql,
        "partition_columns": list(terms.partition_columns),
        "budget": str(terms.budget),
        **format_to_json(terms),
    }


def format_to_json(terms: Terms) -> dict[str, Any]:
    """The part of the terms that accounts of format 1 do not have."""
    return {"format": terms.format, "extra": terms.extra}


def terms_from_json(value: dict[str, Any], budget: Fraction) -> Terms:
    """The inverse of `terms_to_json`, with the budget as it is by now."""
    return Terms(
        dataset=value["dataset"],
        unit=tuple(value["unit"]),
        policy_id=value["policy_id"],
        policy_sql=value["policy_sql"],
        partition_columns=tuple(value["partition_columns"]),
        budget=budget,
        format=value.get("format"),
        extra=value.get("extra", {}),
    )


def order_to_json(order: Order) -> dict[str, Any]:
    """What a charge keeps of its order."""
    return {
        "spending": spending_to_json(order.spending),
        "reserves": order.reserves,
        "description": dict(order.description),
        "terms": dict(order.terms),
        "who": order.who,
        "purpose": order.purpose,
    }


def books_to_json(
    booking: Booking, after: Standing, cost: Fraction, budget: Fraction
) -> dict[str, Any]:
    """What a charge or settlement keeps of the account, so that the next one need not look back."""
    return {
        "cost": str(cost),
        "sums": {level: loss.to_json() for level, loss in booking.sums.items()},
        **standing_to_json(after),
        "budget": str(budget),
    }


def standing_to_json(standing: Standing) -> dict[str, Any]:
    """An account without its sums."""
    return {
        "total": standing.total.to_json(),
        "held": {"epsilon": str(standing.held.epsilon), "fixed_n": standing.held.fixed_n},
        "plain_sum": str(standing.plain_sum),
    }


def standing_from_json(content: dict[str, Any]) -> Standing:
    """The account after a charge or settlement; the inverse of `standing_to_json`."""
    held = content.get("held", NOTHING_HELD)
    return Standing(
        total=Loss.from_json(content["total"]),
        held=Held(Fraction(held["epsilon"]), held["fixed_n"]),
        plain_sum=Fraction(content["plain_sum"]),
    )


def reserves(entry: Entry) -> bool:
    """Whether the charge that an entry records was a reservation."""
    return bool(entry.body()["content"].get("reserves", False))


def charge_from_entry(entry: Entry, settlement: Entry | None = None) -> Charge:
    """The charge that an entry records, with the settlement of a reservation where there is one."""
    body = entry.body()
    content = body["content"]
    spending = spending_from_json(content["spending"])
    books, terms = content, content.get("terms")
    if settlement is not None:
        books = settlement.body()["content"]
        spending = replace(spending, loss=Loss.from_json(books["loss"]))
        terms = books["terms"]
    after = standing_from_json(books)
    return Charge(
        number=entry.number,
        request=entry.label,
        snapshot=body["snapshot"],
        time=body["time"],
        spending=spending,
        description=content["description"],
        cost=Fraction(books["cost"]),
        total=after.pair,
        plain_sum=after.plain_sum,
        budget=Fraction(books["budget"]),
        entry_hash=entry.hash,
        terms=terms,
        who=content.get("who", ""),
        purpose=content.get("purpose", ""),
        reserved=settlement is None and reserves(entry),
    )


def raise_from_entry(entry: Entry) -> BudgetRaise:
    """The raised budget that an entry records."""
    body = entry.body()
    content = body["content"]
    return BudgetRaise(
        number=entry.number,
        time=body["time"],
        budget=Fraction(content["budget"]),
        who=content["who"],
        why=content["why"],
    )
