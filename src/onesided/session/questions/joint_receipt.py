"""The receipt of an answer that several questions were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from onesided.data.release import Receipt, ReleaseKind
from onesided.loss import show
from onesided.session.facts import DatasetFacts
from onesided.session.receipts import together
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
        return {
            **(receipts[-1].content if receipts else self._of_nothing()),
            **together(receipts, self.facts, policy_text(self.scope.policy)),
            "kind": ReleaseKind.SQL.value,
            "request": {
                "kind": ReleaseKind.SQL.value,
                "sql": self.text,
                "by": list(by),
                "epsilon": show(self.epsilon),
            },
            "figure": "; ".join(f"{name}: {each.figure}" for name, each in figures.items()),
            "error": {name: each["error"] for name, each in figures.items()},
            "figures": {name: dict(each.content) for name, each in figures.items()},
        }

    def _of_nothing(self) -> dict[str, Any]:
        """What the receipt of constants says beside the loss, which is none."""
        return {
            "dataset": self.facts.name,
            "unit": str(self.facts.unit),
            "policy": {"sql": policy_text(self.scope.policy)},
            "snapshot": None,
            "purpose": "",
            "asked_by": "",
        }
