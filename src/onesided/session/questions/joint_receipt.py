"""The receipt of an answer that several questions were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from onesided.data.release import Receipt, ReleaseKind
from onesided.loss import Loss, show
from onesided.session.facts import DatasetFacts
from onesided.session.lookups import lookup_statement
from onesided.session.receipts import guarantee, loss_statement
from onesided.session.scope import Scope, policy_text


@dataclass(frozen=True)
class JointReceipt:
    """Of a statement that is asked of a data set within a scope at `epsilon`."""

    text: str
    facts: DatasetFacts
    scope: Scope
    epsilon: Fraction

    def receipt(self, by: Sequence[str], figures: Mapping[str, Receipt]) -> dict[str, Any]:
        """One receipt for the whole: the sums of what the figures' receipts say, and these."""
        receipts = list(figures.values())
        loss = Loss.sequential(receipt.loss for receipt in receipts)
        last = receipts[-1]
        accounts = [receipt["account"] for receipt in receipts]
        costs = [Fraction(account["cost"]) for account in accounts]
        return {
            **last.content,
            "kind": ReleaseKind.SQL.value,
            "request": {
                "kind": ReleaseKind.SQL.value,
                "sql": self.text,
                "by": list(by),
                "epsilon": show(self.epsilon),
            },
            "figure": "; ".join(f"{name}: {each.figure}" for name, each in figures.items()),
            "mechanism": ", ".join(dict.fromkeys(str(each["mechanism"]) for each in receipts)),
            **loss_statement(loss),
            **lookup_statement(self.facts.lookups, loss),
            "guarantee": guarantee(
                loss, policy_text(self.scope.policy), self.facts.unit, self.facts.promised
            ),
            "noise": "; ".join(dict.fromkeys(str(each["noise"]) for each in receipts)),
            "error": {name: each["error"] for name, each in figures.items()},
            "account": {
                **last["account"],
                "charges": [number for account in accounts for number in account["charges"]],
                "cost": show(sum(costs, start=Fraction(0))),
            },
            "figures": {name: dict(each.content) for name, each in figures.items()},
        }
