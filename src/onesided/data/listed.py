"""The list of what was released of a data set: who asked what, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from onesided.loss import Loss, show
from onesided.visible import visible


@dataclass(frozen=True, kw_only=True)
class ReleaseEntry:
    """A line of the list.

    - `number`: what names it in the account; receipts list it under `charges`.
    - `question`: what was asked, as it stands in the receipt.
    - `loss`, `cost`: the pair of the release, and what it added to the account's ε.
    - `who`, `purpose`: who asked, and to what end.
    - `snapshot`: the state of the data that it was found on.
    """

    number: int
    question: Mapping[str, Any]
    loss: Loss
    cost: Fraction
    who: str
    purpose: str
    time: str
    snapshot: int

    @property
    def kind(self) -> str:
        """What was released, such as count."""
        return str(self.question.get("kind", "release"))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; exact numbers are texts."""
        return {
            "number": self.number,
            "kind": self.kind,
            "question": dict(self.question),
            "loss": self.loss.to_json(),
            "cost": show(self.cost),
            "who": self.who,
            "purpose": self.purpose,
            "time": self.time,
            "snapshot": self.snapshot,
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> ReleaseEntry:
        """The inverse of `to_json`."""
        return cls(
            number=int(said["number"]),
            question=dict(said["question"]),
            loss=Loss.from_json(said["loss"]),
            cost=Fraction(said["cost"]),
            who=str(said["who"]),
            purpose=str(said["purpose"]),
            time=str(said["time"]),
            snapshot=int(said["snapshot"]),
        )

    def __repr__(self) -> str:
        by = ", ".join(map(str, self.question.get("by") or ()))
        what = visible(f"{self.kind} by {by}" if by else self.kind)
        return f"<Release {self.number}: {what}; ε = {show(self.loss.epsilon)}>"
