"""Numbers of distinct values under audit: units with pairs of a group and a value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from onesided.audit.world import Database, SmallWorld
from onesided.data import Measurement
from onesided.data.histogram import Counts
from onesided.mechanisms.distinct import distinct_terms, release_distinct
from onesided.randomness import Randomness

Pairs: TypeAlias = tuple[tuple[int, int], ...]
"""Groups that a unit is in, each with a value."""


@dataclass(frozen=True)
class ValueTable:
    """Units of a small world: their pairs, and whether they are sensitive.

    - `bins`: how many groups there are; None where those are found that some unit is in.
    - `most`: how many pairs of a unit count.
    """

    units: tuple[tuple[Pairs, bool], ...]
    bins: int | None
    most: int

    @property
    def keys(self) -> Counts:
        """The groups that there are; which ones are found is secret."""
        if self.bins is not None:
            return np.arange(self.bins)
        return np.unique([group for unit, _ in self.units for group, _ in unit]).astype(np.int64)


@dataclass(frozen=True)
class DistinctValues:
    """`release_distinct` at ε = `epsilon`, as a session runs it."""

    epsilon: Fraction

    def release(self, data: ValueTable, rng: Randomness) -> tuple[str, Measurement]:
        said = distinct_terms(self.epsilon, most=data.most)
        found = release_distinct(
            self.numbers(data), self.epsilon, rng, most=data.most, open_domain=data.bins is None
        )
        named = found if found.keys is None else replace(found, keys=data.keys[found.keys])
        return repr(said), named

    def numbers(self, data: ValueTable) -> Counts:
        """How many values the units that are not sensitive have in each group."""
        held = {
            pair
            for unit, is_sensitive in data.units
            if not is_sensitive
            for pair in self.counted(unit, data.most)
        }
        groups = [group for group, _ in held]
        return np.array([groups.count(key) for key in data.keys.tolist()], dtype=np.int64)

    def counted(self, unit: Pairs, most: int) -> Pairs:
        """Those pairs of a unit that count."""
        return unit[:most]


def value_worlds() -> Iterable[tuple[SmallWorld, int]]:
    """Worlds of values, and how many units are listed in each."""
    one = [((0, 1),), ((0, 2),), ((0, 1), (0, 2), (0, 3))]
    moved = [((0, 1),), ((1, 1),), ((0, 1), (1, 2))]
    yield value_world(one, 1, 2, "values of one group"), 2
    yield value_world(moved, 2, 2, "values of two groups"), 2
    yield value_world(moved[:2], None, 1, "groups that are found"), 2


def value_world(units: Sequence[Pairs], bins: int | None, most: int, label: str) -> SmallWorld:
    """Units with these pairs, sensitive or not, of which `most` count."""
    values = tuple(product(units, (True, False)))

    def build(database: Database) -> Any:
        return ValueTable(database, bins, most)

    return SmallWorld(values, frozenset(each for each in values if each[1]), build, label)
