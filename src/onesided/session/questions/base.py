"""What every question has in common: it is a value, and its terms come before the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import pyarrow as pa

from onesided.data.planned.option import Missing
from onesided.ledger import Spending
from onesided.loss import Loss
from onesided.session.facts import DatasetFacts
from onesided.session.grouping import CountsOfGroups, WantedCounts
from onesided.session.requests import Request
from onesided.session.scope import Scope
from onesided.session.supposed import NOTHING_KNOWN, Supposed
from onesided.session.table import Reading

COINS = "keyed coins (SHA-256); the promise is computational"
"""The randomness of samples, in words."""

LOOK, BOUND_LOOK, KEYS_LOOK = "probe", "max_groups", "keys"
LOOKS = (BOUND_LOOK, KEYS_LOOK, LOOK)
"""What the stored looks of a question in steps are called, in the order in which they are taken."""


@dataclass(frozen=True, kw_only=True)
class ReleaseTerms:
    """All that a receipt says of a release but its cost: computed from the request alone.

    - `figure`: what the released numbers are, in words.
    - `noise`: the noise and its rates, in words.
    - `columns`: the columns of the answer and their types.
    - `error`: what the bounds in the answer cover, and the expected error.
    """

    mechanism: str
    figure: str
    loss: Loss
    noise: str
    randomness: str
    columns: pa.Schema
    error: Mapping[str, Any]


class Runnable(ABC):
    """Something that is paid for under terms and gives values alone.

    It is handed what it may read, and neither the receipt nor the account.
    """

    @property
    @abstractmethod
    def terms(self) -> ReleaseTerms:
        """What the charge says; nothing here may depend on the data."""

    @property
    def wants(self) -> tuple[WantedCounts, ...]:
        """The counts that it is going to ask for, where they may be read with those of others."""
        return ()

    @property
    def counts(self) -> tuple[CountsOfGroups, ...]:
        """What it is going to count or add up, which other questions may share a pass with."""
        return ()

    @abstractmethod
    def run(self, reading: Reading) -> bytes:
        """The released values, as they are stored. Total: no value in a column may raise."""


@dataclass(frozen=True, kw_only=True)
class Question(ABC):
    """A question to a data set at ε, within a scope; either `Runnable` itself or `TwoStep`.

    - `shares_coins`: it looks at nothing but the sample that the snapshot's coins draw.
    - `expected_of`: whose figure an expected error is beside.
    """

    shares_coins: ClassVar[bool] = False
    expected_of: ClassVar[str] = "all units"

    facts: DatasetFacts
    scope: Scope
    epsilon: Fraction

    @property
    @abstractmethod
    def terms(self) -> ReleaseTerms:
        """What the charge says; nothing here may depend on the data."""

    @property
    @abstractmethod
    def request(self) -> Request:
        """The question as it is charged and stored."""

    @property
    def missing(self) -> Missing | None:
        """What it does not say although it has to."""
        return None

    def check(self) -> None:  # noqa: B027
        """Refuse, before anything is paid, what cannot be answered; most have nothing to refuse."""

    @property
    def loss(self) -> Loss:
        """The pair that it is charged at."""
        return self.terms.loss

    @property
    def spending(self) -> Spending:
        """What the ledger is to charge."""
        return self.scope.spending(self.loss, shared_coins=self.shares_coins)

    def expected_error(self, supposed: Supposed = NOTHING_KNOWN) -> float | None:
        """The expected mean error of a group; None where nobody can say.

        It follows from public facts and from what is `supposed` of the data.
        """
        return None

    @property
    def assumes(self) -> str:
        """What that takes for granted beside what is supposed, to be read after "if"."""
        return ""


class TwoStep(ABC):
    """A question that looks first. The whole ε is held until the look has chosen its pair.

    - `seen`: what the stored look is called; another one for each look of a question.
    """

    seen: ClassVar[str] = LOOK

    @property
    def wants(self) -> tuple[WantedCounts, ...]:
        """The counts that its look is going to ask for, as those of what is run."""
        return ()

    @abstractmethod
    def look(self, reading: Reading) -> bytes:
        """The first look: a release of its own, stored before anything follows from it."""

    @abstractmethod
    def decided(self, look: bytes) -> Runnable | TwoStep:
        """What to run after the stored `look`, or what to look at next.

        The look and public facts are all that may decide. The terms of what is run in the end are
        those of the whole release, all looks included.
        """
