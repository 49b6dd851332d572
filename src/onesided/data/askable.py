"""What an analyst may do with a data set, in this process or at somebody else's.

`onesided.open` gives a data set with more methods, which are for the steward. Whoever takes an
`Askable` works with both: the cursor of PEP 249, the SQLAlchemy dialect, the commands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

from onesided.data.answers import Answers
from onesided.data.cells import USUAL_QUANTILES, HistogramRelease, QuantileRelease
from onesided.data.described import DescriptionRelease
from onesided.data.listed import ReleaseEntry
from onesided.data.plannable import Domain, OtherPolicy, Part, Plans
from onesided.data.release import QueryRelease, Release, TableRelease
from onesided.data.units import Unit
from onesided.language import Type
from onesided.language.tree import Value
from onesided.loss import Number

StandsFor: TypeAlias = Sequence[str | Sequence[str]] | None
USUAL_CELLS = 1024
"""So many cells a quantile is read from, at the most."""
FOUND = "auto"
"""In place of bounds: such as are found."""


class AccountStanding(Protocol):
    """Where the account stands."""

    @property
    def budget(self) -> Fraction: ...
    @property
    def spent(self) -> Fraction: ...
    @property
    def left(self) -> Fraction: ...


class PolicyInWords(Protocol):
    """A policy that can be read."""

    @property
    def sql(self) -> str: ...


class Askable(Protocol):
    """A data set that may be asked; see `onesided.Dataset`, which explains all arguments."""

    @property
    def name(self) -> str: ...
    @property
    def units(self) -> int: ...
    @property
    def unit(self) -> Unit: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def types(self) -> Mapping[str, Type]: ...
    @property
    def public(self) -> Mapping[str, Mapping[str, Type]]: ...
    @property
    def policy(self) -> PolicyInWords: ...
    @property
    def budget(self) -> AccountStanding: ...
    @property
    def account_opened(self) -> bool: ...
    @property
    def releases(self) -> tuple[ReleaseEntry, ...]: ...
    @property
    def plan(self) -> Plans: ...

    def released(self, number: int) -> Release: ...

    def sample(
        self,
        epsilon: Number,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        *,
        policy: OtherPolicy = None,
        part: Part = None,
        stands_for: StandsFor = None,
        domain: Domain = None,
        noisy: bool = False,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> Release: ...

    def count(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        mechanism: str = "auto",
        max_groups: int | str | None = None,
        domain: Domain = None,
        policy: OtherPolicy = None,
        part: Part = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
        **parameters: Any,
    ) -> Release: ...

    def ngrams(
        self,
        n: int,
        *,
        by: str,
        order: str,
        epsilon: Number,
        max_groups: int | str | None = None,
        mechanism: str = "auto",
        domain: Sequence[Any] | None = None,
        policy: OtherPolicy = None,
        part: Part = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
        **parameters: Any,
    ) -> Release: ...

    def touches(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        sampled: bool = False,
        domain: Domain = None,
        policy: OtherPolicy = None,
        part: Part = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> Release: ...

    def sum(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        bound: Number,
        epsilon: Number,
        grid: Number | None = None,
        nonnegative: bool = False,
        max_groups: int | None = None,
        domain: Domain = None,
        policy: OtherPolicy = None,
        part: Part = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> Release: ...

    def mean(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        bound: Number,
        epsilon: Number,
        grid: Number | None = None,
        max_rows: int | None = None,
        max_groups: int | None = None,
        domain: Domain = None,
        policy: OtherPolicy = None,
        part: Part = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> Release: ...

    def quantile(
        self,
        column: str,
        at: float | Sequence[float] = USUAL_QUANTILES,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        bounds: Sequence[Any] | str = FOUND,
        epsilon: Number,
        cells: int = USUAL_CELLS,
        max_groups: int | None = None,
        domain: Domain = None,
        policy: OtherPolicy = None,
        part: Part = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> QuantileRelease: ...

    def histogram(
        self,
        column: str,
        edges: Sequence[Any] | None = None,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        max_groups: int | None = None,
        domain: Domain = None,
        policy: OtherPolicy = None,
        part: Part = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> HistogramRelease: ...

    def distinct(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        max_values: int | None = None,
        max_groups: int | None = None,
        domain: Domain = None,
        policy: OtherPolicy = None,
        part: Part = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> Release: ...

    def describe(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        *,
        epsilon: Number,
        max_values: int = 1,
        policy: OtherPolicy = None,
        part: Part = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> DescriptionRelease: ...

    def sql(
        self,
        query: str,
        parameters: Sequence[Value] = (),
        *,
        epsilon: Number,
        mechanism: str = "auto",
        max_groups: int | None = None,
        max_rows: int | None = None,
        max_values: int | None = None,
        bounds: Mapping[str, Number | tuple[Number, Number]] | None = None,
        grid: Mapping[str, Number] | None = None,
        nonnegative: Collection[str] = (),
        domain: Domain = None,
        policy: OtherPolicy = None,
        part: Part = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> QueryRelease: ...

    def run(
        self,
        questions: Sequence[Mapping[str, Any]],
        *,
        epsilon: Number | None = None,
        purpose: str = "",
        yes: bool = False,
        part: Part = None,
    ) -> Answers: ...

    def counted(
        self,
        columns: Sequence[str] | None = None,
        *,
        policy: OtherPolicy = None,
        part: Part = None,
    ) -> list[TableRelease]: ...

    def check_writable(self, columns: Sequence[str] | None, path: str | Path) -> None: ...

    def progress(self) -> float | None: ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
