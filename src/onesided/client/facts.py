"""What everybody may know of a data set that is elsewhere, and where its account stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from onesided.client.problems import ServerUnreachable
from onesided.data.planned.price import exact_of
from onesided.data.units import Unit
from onesided.language import Type
from onesided.loss import show
from onesided.visible import visible


@dataclass(frozen=True)
class StatedPolicy:
    """A policy by its text, as the steward says it."""

    sql: str


@dataclass(frozen=True, kw_only=True)
class RemoteFacts:
    """The public side of a data set.

    - `types`: the columns with their types; `public` has those of each public table.
    - `deadlines`: by kind of question, after how many seconds an answer is there.
    - `snapshot`: the state of the data that questions are about.
    """

    name: str
    unit: Unit
    units: int
    policy: StatedPolicy
    types: Mapping[str, Type]
    public: Mapping[str, Mapping[str, Type]]
    partition_by: tuple[str, ...]
    deadlines: Mapping[str, float | None]
    snapshot: int

    @classmethod
    def from_json(cls, said: Any) -> RemoteFacts:
        """As a server says them."""
        try:
            return cls(
                name=str(said["name"]),
                unit=Unit(tuple(map(str, said["unit"]))),
                units=int(said["units"]),
                policy=StatedPolicy(str(said["policy"])),
                types=_types(said["columns"]),
                public={str(each["name"]): _types(each["columns"]) for each in said["public"]},
                partition_by=tuple(map(str, said.get("partition_by", ()))),
                deadlines=dict(said.get("deadlines", {})),
                snapshot=int(said["snapshot"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ServerUnreachable(
                "The answer says nothing of a data set; is a onesided server there?"
            ) from None


@dataclass(frozen=True, kw_only=True)
class RemoteBalance:
    """Where the account stands that all who ask share.

    - `own_spent`: the ε of the composition of one's own charges.
    - `own_most`: the most that may be; None without a limit.
    - `content`: the whole statement of the account, with all charges and what is promised.
    """

    name: str
    budget: Fraction
    spent: Fraction
    left: Fraction
    own_spent: Fraction | None
    own_most: Fraction | None
    content: Mapping[str, Any]

    @classmethod
    def from_json(cls, name: str, said: Mapping[str, Any]) -> RemoteBalance:
        """As a server says it."""
        own = said.get("own") or {}
        return cls(
            name=name,
            budget=Fraction(said["budget"]),
            spent=Fraction(said["spent"]),
            left=Fraction(said["left"]),
            own_spent=exact_of(own.get("spent")),
            own_most=exact_of(own.get("most_in_all")),
            content=said,
        )

    @property
    def charges(self) -> tuple[Mapping[str, Any], ...]:
        """What was charged, as the server lists it."""
        return tuple(self.content.get("charges", ()))

    @property
    def own(self) -> str:
        """What was charged to oneself, in words."""
        if self.own_spent is None:
            return ""
        most = "" if self.own_most is None else f" of {show(self.own_most)}"
        return f"ε = {show(self.own_spent)}{most}"

    def __repr__(self) -> str:
        own = f", {self.own} by you" if self.own else ""
        return (
            f"<Budget of {visible(self.name)}: {show(self.spent)} of {show(self.budget)} spent"
            f"{own}, {show(self.left)} left>"
        )

    def _repr_html_(self) -> str:
        from onesided import html

        facts = {"spent": f"{show(self.spent)} of {show(self.budget)}", "left": show(self.left)}
        if self.own:
            facts["by you"] = self.own
        return html.card(f"Budget of {self.name}", html.facts(facts))


def _types(columns: Any) -> dict[str, Type]:
    return {str(each["name"]): Type(each["type"]) for each in columns}
