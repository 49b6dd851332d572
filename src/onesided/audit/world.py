"""Universes so small that every database can be listed, and the steps between databases.

A database is a multiset of values; a value is what a unit could be. One step replaces, adds or
removes one unit. OSDP speaks of ordered pairs, so (D, D′) and (D′, D) are different things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data import Histogram
from onesided.data.histogram import Counts

Value = tuple[Any, ...]
"""What a unit could be."""

Database = tuple[Value, ...]
Pair = tuple[Database, Database]


class Step(Enum):
    """How D′ comes from D."""

    REPLACE_SENSITIVE = "one sensitive unit replaced by any other"
    SENSITIVE = "one sensitive unit added or removed"
    ADD_NONSENSITIVE = "one non-sensitive unit added"
    EXTENDED = "any unit added, or a sensitive one removed"


@dataclass(frozen=True)
class SmallWorld:
    """All that can be: the `values` of a unit, which of them are sensitive, and what a mechanism
    gets to see of a database (`build`); `label` says so in words."""

    values: tuple[Value, ...]
    sensitive: frozenset[Value]
    build: Callable[[Database], Any]
    label: str = ""

    def databases(self, units: int) -> list[Database]:
        """Every database of exactly so many units."""
        return list(combinations_with_replacement(self.values, units))

    def pairs(self, step: Step, most_units: int) -> Iterator[Pair]:
        """Every ordered pair of the kind `step` among databases of at most `most_units` units."""
        for units in range(most_units + 1):
            for database in self.databases(units):
                if step is Step.REPLACE_SENSITIVE:
                    yield from self._replacements(database)
                elif units < most_units:
                    yield from self._additions(database, step)

    def _replacements(self, database: Database) -> Iterator[Pair]:
        for old in sorted(set(database) & self.sensitive, key=self.values.index):
            rest = list(database)
            rest.remove(old)
            for new in self.values:
                if new != old:
                    yield database, self._sorted([*rest, new])

    def _additions(self, database: Database, step: Step) -> Iterator[Pair]:
        for new in self.values:
            larger = self._sorted([*database, new])
            is_sensitive = new in self.sensitive
            if is_sensitive and step is not Step.ADD_NONSENSITIVE:
                yield database, larger
                yield larger, database
            elif not is_sensitive and step is not Step.SENSITIVE:
                yield database, larger

    def _sorted(self, units: list[Value]) -> Database:
        return tuple(sorted(units, key=self.values.index))


def histogram_world(
    shape: tuple[int, ...] = (2,),
    k: int = 1,
    *,
    total_public: bool = False,
    background: tuple[tuple[int, ...], tuple[int, ...]] | None = None,
) -> SmallWorld:
    """Units in up to `k` bins of a histogram of this shape, each of them sensitive or not.

    - `background`: counts of sensitive and of other units that are there in every database.
    """
    bins = range(int(np.prod(shape)))
    places = [place for size in range(1, k + 1) for place in combinations(bins, size)]
    values = tuple(product(places, (True, False)))

    def build(database: Database) -> Histogram:
        found = _histogram(shape, database, k, total_public)
        if background is None:
            return found
        sensitive, others = (np.reshape(each, shape) for each in background)
        nonsensitive = found.nonsensitive + others
        everyone = found.sensitive + sensitive + nonsensitive
        return Histogram(everyone, nonsensitive, k=k, total_public=total_public)

    label = _label(total_public) if background is None else f"{_label(total_public)}, among others"
    return SmallWorld(values, frozenset(each for each in values if each[1]), build, label)


def policy_by_bin_world(shape: tuple[int, ...] = (2,), *, total_public: bool = False) -> SmallWorld:
    """Units in one bin each, where the first half of the bins is what makes them sensitive."""
    bins = int(np.prod(shape))
    mask = np.arange(bins) < (bins + 1) // 2
    values = tuple(((place,), bool(mask[place])) for place in range(bins))

    def build(database: Database) -> Histogram:
        return _histogram(shape, database, 1, total_public, mask.reshape(shape))

    return SmallWorld(
        values, frozenset(each for each in values if each[1]), build, _label(total_public)
    )


def repeated_world(world: SmallWorld, times: int) -> SmallWorld:
    """The same database shown to several mechanisms, for `composition.Together`."""
    return SmallWorld(
        world.values, world.sensitive, lambda database: (world.build(database),) * times
    )


def two_policy_world(bins: int = 1) -> SmallWorld:
    """Units that each of two policies calls sensitive or not; sensitive here where both do.

    That is the minimum relaxation. The mechanisms see a histogram under the first policy and one
    under the second.
    """
    values = tuple(product(range(bins), (True, False), (True, False)))

    def build(database: Database) -> tuple[Histogram, ...]:
        views = ([((unit[0],), unit[policy]) for unit in database] for policy in (1, 2))
        return tuple(_histogram((bins,), view, 1, False) for view in views)

    return SmallWorld(values, frozenset(each for each in values if each[1] and each[2]), build)


def partitioned_world(parts: int = 2, bins: int = 1) -> SmallWorld:
    """Units that belong to one of several parts, by a column of their key; a histogram for each."""
    values = tuple(product(range(parts), range(bins), (True, False)))

    def build(database: Database) -> tuple[Histogram, ...]:
        views = (
            [((unit[1],), unit[2]) for unit in database if unit[0] == part] for part in range(parts)
        )
        return tuple(_histogram((bins,), view, 1, False) for view in views)

    return SmallWorld(values, frozenset(each for each in values if each[2]), build)


def _label(total_public: bool) -> str:
    return "n is public" if total_public else "n is secret"


def _histogram(
    shape: tuple[int, ...],
    units: Iterable[Any],
    k: int,
    total_public: bool,
    only_sensitive: NDArray[np.bool_] | None = None,
) -> Histogram:
    listed = list(units)
    return Histogram(
        _counts(shape, [bins for bins, _ in listed]),
        _counts(shape, [bins for bins, is_sensitive in listed if not is_sensitive]),
        k=k,
        total_public=total_public,
        only_sensitive=only_sensitive,
    )


def _counts(shape: tuple[int, ...], places: list[tuple[int, ...]]) -> Counts:
    counts = np.zeros(int(np.prod(shape)), dtype=np.int64)
    for place in places:
        counts[list(place)] += 1
    return counts.reshape(shape)
