"""The content of entries: how terms, spendings and charges are written as JSON and read back."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from onesided.ledger.base import BudgetRaise, Charge, CoinKey, Spending, Terms
from onesided.ledger.chain import Entry, digest
from onesided.loss import Loss


def coin_key_digest(key: CoinKey) -> str:
    """What the chain keeps of a coin key; the prefix sets it apart from all coins drawn with it."""
    return digest(f"onesided coin key {key.reveal()}")


def loss_to_json(loss: Loss) -> dict[str, Any]:
    """A loss as JSON; fractions as text."""
    return {
        "sensitive": str(loss.sensitive),
        "nonsensitive": str(loss.nonsensitive),
        "fixed_n": loss.fixed_n,
    }


def loss_from_json(value: dict[str, Any]) -> Loss:
    """The inverse of `loss_to_json`."""
    return Loss(value["sensitive"], value["nonsensitive"], fixed_n=value["fixed_n"])


def spending_to_json(spending: Spending) -> dict[str, Any]:
    """A spending as JSON."""
    return {
        "loss": loss_to_json(spending.loss),
        "policy_id": spending.policy_id,
        "policy_sql": spending.policy_sql,
        "part": list(spending.part) if spending.part else None,
        "relaxed": spending.relaxed,
        "shared_coins": spending.shared_coins,
    }


def spending_from_json(value: dict[str, Any]) -> Spending:
    """The inverse of `spending_to_json`."""
    return Spending(
        loss=loss_from_json(value["loss"]),
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
    }


def terms_from_json(value: dict[str, Any], budget: Fraction) -> Terms:
    """The inverse of `terms_to_json`, with the budget as it is by now."""
    return Terms(
        dataset=value["dataset"],
        unit=tuple(value["unit"]),
        policy_id=value["policy_id"],
        policy_sql=value["policy_sql"],
        partition_columns=tuple(value["partition_columns"]),
        budget=budget,
    )


def charge_from_entry(entry: Entry) -> Charge:
    """The charge that an entry records."""
    body = entry.body()
    content = body["content"]
    return Charge(
        number=entry.number,
        request=entry.label,
        snapshot=body["snapshot"],
        time=body["time"],
        spending=spending_from_json(content["spending"]),
        description=content["description"],
        cost=Fraction(content["cost"]),
        total=loss_from_json(content["total"]),
        plain_sum=Fraction(content["plain_sum"]),
        budget=Fraction(content["budget"]),
        entry_hash=entry.hash,
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
