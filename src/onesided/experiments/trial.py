"""A trial is a measurement named by its parameters; its result is a list of labelled rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onesided.errors import RequestError
from onesided.experiments.setting import ReproductionSetting
from onesided.report.claims import Spread

Scalar = str | int | float | bool
KEY_DIGITS = 24
SEED_DIGITS = 15


@dataclass(frozen=True)
class Measure:
    """What is measured, and how.

    - `name`: names the results on disk.
    - `take`: carries out one trial.
    - `effort`: what a trial takes, compared with those of other measures; the longest start first.
    """

    name: str
    take: Callable[[Trial, ReproductionSetting], list[Row]]
    effort: int


@dataclass(frozen=True)
class Trial:
    """One measurement. Equal parameters mean equal results, so the key names the result."""

    measure: Measure
    parameters: tuple[tuple[str, Scalar], ...]

    @classmethod
    def of(cls, measure: Measure, **parameters: Scalar) -> Trial:
        return cls(measure, tuple(sorted(parameters.items())))

    def __getitem__(self, name: str) -> Any:
        return dict(self.parameters)[name]

    @property
    def key(self) -> str:
        """A digest of what is measured and its parameters."""
        text = json.dumps([self.measure.name, self.parameters])
        return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]

    @property
    def seed(self) -> int:
        """Randomness of its own for every trial, in any order of trials."""
        return int(self.key[:SEED_DIGITS], 16)

    def rows(self, setting: ReproductionSetting) -> list[Row]:
        """Carry it out."""
        return self.measure.take(self, setting)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One number for every run, under labels such as method, epsilon and metric."""

    labels: dict[str, Scalar]
    values: list[float]

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def low(self) -> float:
        return float(np.min(self.values))

    @property
    def high(self) -> float:
        return float(np.max(self.values))

    @property
    def spread(self) -> Spread:
        return Spread(self.mean, self.low, self.high)

    def __str__(self) -> str:
        """The mean with the least and the greatest run."""
        return str(self.spread)


@dataclass(frozen=True)
class Results:
    """Rows that can be picked by their labels."""

    rows: list[Row] = field(default_factory=list)

    @classmethod
    def joined(cls, parts: Iterable[Iterable[Row]]) -> Results:
        return cls([row for part in parts for row in part])

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def where(self, **labels: Scalar) -> Results:
        """The rows that carry all these labels."""
        wanted = labels.items()
        return Results([row for row in self.rows if wanted <= row.labels.items()])

    def one(self, **labels: Scalar) -> Row:
        """The only row with these labels."""
        found = self.where(**labels).rows
        if len(found) != 1:
            described = ", ".join(f"{name}={value}" for name, value in labels.items())
            raise RequestError(f"{len(found)} results instead of one for {described}.")
        return found[0]

    def labels(self, name: str) -> list[Scalar]:
        """The different values of a label, in the order in which they come."""
        return list(dict.fromkeys(row.labels[name] for row in self.rows if name in row.labels))
