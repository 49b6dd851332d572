"""Sums and means under audit: units with amounts, from the single amount to the receipt.

A session clips each unit's amounts in its query, and this is done here too: a sum over amounts that
nobody has clipped does not keep its promise. Amounts are whole steps of the public grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from onesided.audit.world import Database, SmallWorld
from onesided.data import Histogram, Measurement
from onesided.data.histogram import Counts
from onesided.mechanisms.spread import release_spread
from onesided.mechanisms.sums import (
    GridTotals,
    mean_terms,
    release_mean,
    release_sum,
    sum_terms,
)
from onesided.randomness import Randomness

BOUND = 2
"""The most steps that a unit counts for in a bin."""

UnitAmounts: TypeAlias = tuple[tuple[int, int], ...]
"""The bins that a unit is in, and its amount in each."""


@dataclass(frozen=True)
class AmountTable:
    """Units of a small world: their amounts, and whether they are sensitive.

    - `bins`: how many there are; None where those are found that some unit is in.
    - `k`: the most bins that a unit may be in.
    """

    units: tuple[tuple[UnitAmounts, bool], ...]
    bins: int | None
    k: int

    @property
    def keys(self) -> Counts:
        """The bins that there are; which ones are found is secret."""
        if self.bins is not None:
            return np.arange(self.bins)
        return np.unique([place for unit, _ in self.units for place, _ in unit]).astype(np.int64)


@dataclass(frozen=True)
class SumOfAmounts:
    """`release_sum` at ε = `epsilon`, as a session runs it."""

    epsilon: Fraction

    def release(self, data: AmountTable, rng: Randomness) -> tuple[str, Measurement]:
        said = sum_terms(self.epsilon, ceiling=BOUND, k=data.k, nonnegative=True)
        return repr(said), _named(data, release_sum(self.totals(data), self.epsilon, rng))

    def totals(self, data: AmountTable) -> GridTotals:
        """The clipped amounts of the units that are not sensitive, added up."""
        return GridTotals(
            _added(data, self.clipped),
            ceiling=BOUND,
            k=data.k,
            nonnegative=True,
            open_domain=data.bins is None,
        )

    def clipped(self, amount: int) -> int:
        """What an amount counts for."""
        return min(max(amount, 0), BOUND)


@dataclass(frozen=True)
class MeanOfAmounts(SumOfAmounts):
    """`release_mean` at ε = `epsilon`, over the units of each bin."""

    def release(self, data: AmountTable, rng: Randomness) -> tuple[str, Measurement]:
        said = mean_terms(self.epsilon, ceiling=BOUND, k=data.k)
        units = _added(data, lambda _: 1)
        counted = Histogram(
            units, units, k=data.k, total_public=False, open_domain=data.bins is None
        )
        found = release_mean(self.totals(data), counted, self.epsilon, rng)
        return repr(said), _named(data, found)


@dataclass(frozen=True)
class SpreadOfAmounts(SumOfAmounts):
    """`release_spread` at ε = `epsilon`: the look by which bounds are found, on rungs 1, 2, …"""

    def release(self, data: AmountTable, rng: Randomness) -> tuple[str, Measurement]:
        rungs = range(1, BOUND + 1)
        reached = [_added(data, partial(self.reaches, rung)) for rung in rungs]
        first = int(np.count_nonzero(reached[0]))
        sums = [int(each.sum()) for each in reached]
        found = release_spread(sums, first, self.epsilon, rng, k=data.k)
        return "", Measurement(value=np.array([*found.counts, found.groups]))

    def reaches(self, rung: int, amount: int) -> int:
        """1 where an amount is at least at the rung."""
        return int(self.clipped(amount) >= rung)


def amount_worlds() -> Iterable[tuple[SmallWorld, int]]:
    """Worlds of amounts below and above the bound, and how many units are listed in each."""
    alone = [((0, 1),), ((0, 3 * BOUND),)]
    moved = [((place, amount),) for place in (0, 1) for amount in (1, 3 * BOUND)]
    several = [((0, 1),), ((0, 3 * BOUND), (1, 3 * BOUND)), ((0, -1), (1, 1))]
    yield amount_world(alone, 1, 1, "one bin"), 3
    yield amount_world(moved, None, 1, "bins that are found"), 2
    yield amount_world(several, 2, 2, "units in two bins"), 2


def amount_world(units: Sequence[UnitAmounts], bins: int | None, k: int, label: str) -> SmallWorld:
    """Units with these amounts, sensitive or not, in so many bins, at most `k` of them."""
    values = tuple(product(units, (True, False)))

    def build(database: Database) -> Any:
        return AmountTable(database, bins, k)

    return SmallWorld(values, frozenset(each for each in values if each[1]), build, label)


def _added(data: AmountTable, worth: Callable[[int], int]) -> Counts:
    """What the units that are not sensitive come to in each bin that there is."""
    keys = data.keys.tolist()
    added = dict.fromkeys(keys, 0)
    for unit, is_sensitive in data.units:
        for place, amount in unit if not is_sensitive else ():
            added[place] += worth(amount)
    return np.array([added[key] for key in keys], dtype=np.int64)


def _named(data: AmountTable, found: Measurement) -> Measurement:
    """With the keys themselves: the place of a key among all that there are is never shown."""
    return found if found.keys is None else replace(found, keys=data.keys[found.keys])
