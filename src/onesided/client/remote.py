"""A data set that is elsewhere: what everybody may know of it, its account, and its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from onesided.client.address import DatasetAddress
from onesided.client.answering import Answering
from onesided.client.facts import RemoteBalance, RemoteFacts, StatedPolicy
from onesided.client.fields import fields, scope
from onesided.client.jobs import understood
from onesided.client.listing import counted_in, entries_of
from onesided.client.planning import RemotePlans
from onesided.client.wire import Wire
from onesided.client.writable import check_columns
from onesided.data.cells import USUAL_QUANTILES
from onesided.data.listed import ReleaseEntry
from onesided.data.release import Release, TableRelease
from onesided.data.units import Unit
from onesided.language import Type
from onesided.loss import Number, meant_loss, show
from onesided.policy import Policy
from onesided.spelling import arguments_named
from onesided.visible import visible

Shown = TypeVar("Shown")


class RemoteData:
    """A data set at a server, without any question to it."""

    def __init__(self, address: DatasetAddress, wire: Wire) -> None:
        self._address = address
        self._wire = wire
        self._facts = RemoteFacts.from_json(wire.get(address.api))
        self._answers = Answering(wire, address.api, urlsplit(address.base).path, self._facts.unit)

    def __repr__(self) -> str:
        return (
            f"<Dataset {visible(str(self._address))}: {self.units:,} units "
            f"({visible(str(self.unit))}), {len(self.columns)} columns>"
        )

    def _repr_html_(self) -> str:
        from onesided import html

        facts = {
            "units": f"{self.units:,} ({self.unit})",
            "sensitive where": f"{self.policy.sql}, or NULL",
            "columns": ", ".join(self.columns),
        }
        return html.card(f"Dataset {self._address}", html.facts(facts))

    @property
    def address(self) -> str:
        """Where it is."""
        return str(self._address)

    @property
    def name(self) -> str:
        """What it is called there."""
        return self._facts.name

    @property
    def units(self) -> int:
        """n, the number of units; public."""
        return self._facts.units

    @property
    def unit(self) -> Unit:
        """What one record is."""
        return self._facts.unit

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table; public."""
        return tuple(self._facts.types)

    @property
    def types(self) -> Mapping[str, Type]:
        """What the values of each column are; public."""
        return self._facts.types

    @property
    def public(self) -> Mapping[str, Mapping[str, Type]]:
        """The public tables that a SELECT may join, with the types of their columns."""
        return self._facts.public

    @property
    def policy(self) -> StatedPolicy:
        """The policy that the account was opened under, in words."""
        return self._facts.policy

    @property
    def deadlines(self) -> Mapping[str, float | None]:
        """After how many seconds an answer is there, by kind of question."""
        return self._facts.deadlines

    @property
    def budget(self) -> RemoteBalance:
        """Where the account stands that all who ask share."""
        said = self._wire.get(f"{self._address.api}/account")
        with understood():
            return RemoteBalance.from_json(self.name, said)

    @property
    def account_opened(self) -> bool:
        """An account is always kept there."""
        return True

    @property
    def releases(self) -> tuple[ReleaseEntry, ...]:
        """All that was released so far and may be read, whoever asked."""
        return entries_of(self._listed())

    def released(self, number: int) -> Release:
        """A release of the list as it was stored; of a SELECT there is one for each figure."""
        return self._answers.stored(self._stored(int(number)), USUAL_QUANTILES)

    @cached_property
    def plan(self) -> RemotePlans:
        """What questions would cost, and how exact they would be; free, nothing is run."""
        path = f"{self._address.api}/plan"
        return RemotePlans(
            lambda said: self._wire.post(path, said).content,
            lambda: self.budget.left,
        )

    @arguments_named
    def counted(
        self,
        columns: Sequence[str] | None = None,
        *,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> list[TableRelease]:
        """Counts of all units by one of `columns`, released before: `sample.plot` takes them."""
        names = self.columns if columns is None else tuple(columns)
        said = scope(policy, part)
        found = []
        for entry in counted_in(self.releases, names, self._facts.snapshot, part=part is not None):
            release = self._answers.table(self._stored(entry.number))
            if release.receipt["policy"]["sql"] == said.get("policy", self.policy.sql):
                found.append(release)
        return found

    def check_writable(self, columns: Sequence[str] | None, path: str | Path) -> None:
        """Refuse a sample of `columns` that a file of this name could not hold; free."""
        check_columns(self._facts.types, columns, Path(path))

    def progress(self) -> None:
        """Nobody elsewhere is shown how far a question is."""
        return

    def close(self) -> None:
        """Let go of the connections."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(
        self,
        kind: str,
        asked: Mapping[str, Any],
        epsilon: Number,
        fresh: bool,
        purpose: str,
        yes: bool,
        shown: Callable[[Mapping[str, Any]], Shown],
    ) -> Shown:
        """What is `shown` of a release; what is wrong with ε is said without sending it."""
        exact = show(meant_loss(epsilon, yes=yes))
        each = fields(epsilon=exact, fresh=fresh, yes=yes, purpose=purpose or None)
        return self._answers.ask(kind, {**asked, **each}, shown)

    def _listed(self) -> Any:
        return self._wire.get(f"{self._address.api}/releases")

    def _stored(self, number: int) -> Mapping[str, str]:
        url = f"{self._address.api}/releases/{number}"
        return {"url": url, "data_url": f"{url}/data"}
