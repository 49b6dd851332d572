"""A data set that is open: what everybody may know of it, its account, and its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self

from onesided.data.listed import ReleaseEntry
from onesided.data.release import Release
from onesided.data.units import Unit
from onesided.engine.duckdb.growth import Growth
from onesided.errors import Interrupted, OnesidedError, RequestError
from onesided.language import Type
from onesided.ledger import Balance
from onesided.loss import show
from onesided.notebook import going_on, in_notebook
from onesided.session.books import Books
from onesided.session.checking import SourceCheck, checked
from onesided.session.facts import DatasetFacts
from onesided.session.maps import MapFacts, MapOfData, map_facts
from onesided.session.released import listed, release_numbered
from onesided.session.scope import AnyPolicy
from onesided.session.states import DataState, grown, states_of
from onesided.spelling import arguments_named
from onesided.visible import visible


class OpenedData:
    """A table, its unit, its policy and its account, without any question to it."""

    def __init__(self, facts: DatasetFacts, books: Books) -> None:
        self._facts = facts
        self._books = books
        self._table = books.table
        self._turn = threading.RLock()

    def __repr__(self) -> str:
        return (
            f"<Dataset {visible(self.name)}: {self.units:,} units ({visible(str(self.unit))}), "
            f"{len(self.columns)} columns>"
        )

    def _repr_html_(self) -> str:
        from onesided import html

        facts = {
            "units": f"{self.units:,} ({self.unit})",
            "sensitive where": f"{self.policy.sql}, or NULL",
            **_closed(self._facts.map),
            "columns": ", ".join(self.columns),
        }
        with suppress(OnesidedError):  # nothing is asked here, and nothing refused
            if self.account_opened:
                balance = self.budget
                facts["budget"] = f"ε = {show(balance.left)} of {show(balance.budget)} left"
        return html.card(f"Dataset {self.name}", html.facts(facts))

    @property
    def map(self) -> MapFacts | None:
        """What follows from the map that units are closed over; public."""
        return None if self._facts.map is None else map_facts(self._facts.map.closed)

    @property
    def name(self) -> str:
        """The name that the account is kept under."""
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
        return tuple(self._facts.schema)

    @property
    def types(self) -> Mapping[str, Type]:
        """What the values of each column are; public."""
        return {name: field.type for name, field in self._facts.schema.fields}

    @property
    def public(self) -> Mapping[str, Mapping[str, Type]]:
        """The public tables that a SELECT may join, with the types of their columns."""
        return {
            name: {column: field.type for column, field in table.schema.fields}
            for name, table in self._facts.public.items()
        }

    @property
    def format(self) -> Mapping[str, Any]:
        """How the source is read, as it was found at the opening and is kept with the account."""
        return self._table.engine.format

    @property
    def policy(self) -> AnyPolicy:
        """The policy that the account was opened under."""
        return self._facts.policy

    @property
    def budget(self) -> Balance:
        """Everything charged so far, and what is left."""
        with self._turn:
            return self._books.kernel(None).account.balance()

    @property
    def releases(self) -> tuple[ReleaseEntry, ...]:
        """All that was released so far; `released` opens one of them by its number, for free."""
        with self._turn:
            if not self._books.agreed:
                return ()
            return listed(self._books.kernel(None).account.balance())

    def _release_numbered(self, number: int) -> Release:
        """A release of the list as it was stored."""
        with self._turn:
            if not self._books.agreed:
                raise RequestError("Nothing was released yet.")
            account = self._books.kernel(None).account
            return release_numbered(account, number, self._facts.unit)

    @property
    def account_opened(self) -> bool:
        """Whether a request got as far as the account; before that nothing can be charged."""
        return self._books.opened

    @property
    def snapshots(self) -> tuple[DataState, ...]:
        """The states of the data that the account knows, this one last; opens the account."""
        with self._turn:
            kernel = self._books.kernel(None)
            return states_of(kernel.account.balance(), kernel.snapshot)

    def grown_since(self, before: OpenedData) -> Growth:
        """Which units came, went and changed since another state; for the steward, and secret.

        - `before`: that state, opened beside the account, with the same unit.
        """
        with self._turn:
            self._books.note_look(secret=True)
            parts = self._facts.partition_by
            return grown(before._table.engine, self._table.engine, parts)

    def progress(self) -> float | None:
        """How far the engine is with its statement, from 0 to 1; None where nobody knows.

        To be asked from another thread, and for the steward alone: times depend on the data.
        """
        return self._table.progress()

    @arguments_named
    def check(
        self, *, domain: Mapping[str, Sequence[Any]] | None = None, secret: bool = False
    ) -> SourceCheck:
        """What the steward should look at before publishing; free, and nothing of it may leave.

        - `domain`: values of keys to hold against the data, besides those of the data set.
        - `secret`: say also how many units the policy protects. The ledger keeps that you looked.
        """
        with self._turn:
            self._books.note_look(secret=secret)
            return checked(self._facts, self._table, domain or {}, secret=secret)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """One question at a time; a notebook gets a mark, and a sentence if it is interrupted."""
        with self._turn, going_on("onesided is at work"):
            try:
                yield
            except KeyboardInterrupt:
                if not in_notebook():
                    raise  # whoever handles Ctrl-C says what is to be said
                raise Interrupted(self._left_behind()) from None

    def _left_behind(self) -> str:
        """What an interrupted question leaves in the account."""
        with suppress(OnesidedError):
            if not self.account_opened or not self.budget.spent:
                return "Interrupted before anything was charged."
            balance = self.budget
            return (
                f"Interrupted; the account has spent ε = {show(balance.spent)} of "
                f"{show(balance.budget)}, and what was charged is free to ask for again."
            )
        return "Interrupted; what was charged stays charged, and is free to ask for again."

    def close(self) -> None:
        """Let go of the source and the ledger."""
        self._table.engine.close()
        self._books.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _closed(found: MapOfData | None) -> dict[str, str]:
    if found is None:
        return {}
    return {"closed over": f"{found.closed.id[:16]} by the rule {found.closed.rule.value}"}
