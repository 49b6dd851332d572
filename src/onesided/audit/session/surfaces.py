"""The ways in which somebody can ask: each engine in Python, and the command line.

A surface hands a world over and can do two things with it. It asks requests of one of its tables.
And it explains what was seen there: it renders it again over the plain table from nothing but the
requests and what was released. What else was seen depends on the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pyarrow as pa

from onesided.audit.session.cells import Form
from onesided.audit.session.dice import Dice
from onesided.audit.session.requests import Request
from onesided.audit.session.sources import Source, Written
from onesided.audit.session.watching import Outcomes, Seen
from onesided.audit.session.worlds import Side, World
from onesided.engine.base import Engine
from onesided.language import Schema


class NotOpened(Exception):
    """The steward's opening refuses one of the tables; it is free, and for nobody else's eyes."""


@dataclass(frozen=True)
class Run:
    """What was seen of a session.

    - `seen`: of each request.
    - `account`: what is left in the ledger at the end, and shown to auditors.
    - `keys`: what was masked in it.
    """

    seen: tuple[Seen, ...]
    account: Outcomes
    keys: frozenset[str] = frozenset()


class Stage(Protocol):
    """A world that was handed over."""

    @property
    def schema(self) -> Schema:
        """The columns, which are public."""
        ...

    def ask(self, side: Side, requests: Sequence[Request], seed: int) -> Run:
        """The requests, one after the other, over one of the tables, on an account of its own."""
        ...

    def explain(self, run: Run, requests: Sequence[Request]) -> Run:
        """The same over the plain table; what was released in `run` is released again."""
        ...


class Surface(Protocol):
    """A way to ask."""

    @property
    def forms(self) -> Sequence[Form]:
        """The forms of tables that it can be handed."""
        ...

    @property
    def lookups(self) -> bool:
        """Whether it can be handed a lookup table beside the other."""
        ...

    @property
    def declares(self) -> bool:
        """Whether domains can be declared with the data, among which `max_units` chooses."""
        ...

    @property
    def without(self) -> frozenset[str]:
        """The kinds of requests that cannot be asked here."""
        ...

    def sources(self, form: Form) -> Sequence[Source]:
        """What can hand over a table of this form."""
        ...

    def staged(self, world: World, source: Source, dice: Dice) -> AbstractContextManager[Stage]:
        """The world, handed over; NotOpened or Unwritable where that is not possible."""
        ...


SecondEngine = Callable[[pa.Table, Written, Engine], Engine | None]
"""A second engine for a table that was handed over so; None where it has no answer.

The engine that was opened says how the table is read. What both let out must be the same.
"""


@runtime_checkable
class SecondStage(Stage, Protocol):
    """A stage on which another engine can answer the same requests at the same noise."""

    def ask_second(
        self, side: Side, requests: Sequence[Request], seed: int, second: SecondEngine
    ) -> Run | None:
        """As `ask`, answered by the second engine; None where there is none for this table."""
        ...

    def ask_of_more(self, side: Side, requests: Sequence[Request], seed: int) -> Run:
        """As `ask`, with a number of units that is said to be one more than it is."""
        ...
