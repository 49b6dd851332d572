"""Ordered pairs of neighbouring histograms: given, patterned, random, or improved step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product
from typing import Any

import numpy as np

from onesided.data import Histogram
from onesided.data.histogram import Counts
from onesided.randomness import Randomness

LARGEST_COUNT = 64
"""Backgrounds of random pairs stay below this."""


STAIRS = (0, 2, 1, 1)
"""Heights of four blocks of bins; the first two are uneven, and their sum is that of the others."""


GAPS = range(2, 14)
"""Differences between two bins."""


class Relation(Enum):
    """Which pairs count as neighbours."""

    ONE_SIDED = "one sensitive unit replaced by any other unit"
    ADD_REMOVE = "one unit added or removed"


class Shape(Enum):
    """What kind of histogram the mechanism takes."""

    LINE = "one dimension"
    SQUARE = "two dimensions"


@dataclass(frozen=True)
class Setting:
    """The neighbours that an audit may choose from.

    - `relation`: what a neighbour is;
    - `shape`: lines of up to `most_bins` bins, or squares of about as many;
    - `by_bin`: the policy is a function of the bin: the first half of the bins holds sensitive
      units only, the other half non-sensitive units only, and the mechanism is told so.
    """

    relation: Relation = Relation.ONE_SIDED
    shape: Shape = Shape.LINE
    most_bins: int = 32
    by_bin: bool = False

    def sizes(self) -> list[int]:
        """Numbers of bins that are tried; two come first, as units can move there."""
        if self.shape is Shape.SQUARE:
            return [size for size in (4, 16) if size <= self.most_bins]
        return [size for size in (2, 1, 4, 8, 16, 32) if size <= self.most_bins]


@dataclass(frozen=True)
class Candidate:
    """A background of sensitive and non-sensitive counts, and one unit more on either side.

    D has a unit in bin `old`, D′ one in bin `new`, or none where that is None. In the one-sided
    relation the unit of D is sensitive, and that of D′ is as `new_is_sensitive` says.
    """

    setting: Setting
    sensitive: tuple[int, ...]
    nonsensitive: tuple[int, ...]
    old: int | None
    new: int | None
    new_is_sensitive: bool

    @property
    def bins(self) -> int:
        return len(self.sensitive)

    def pair(self) -> tuple[Histogram, Histogram]:
        """(D, D′)"""
        return (
            self._histogram(self.old, True),
            self._histogram(self.new, self.new_is_sensitive),
        )

    def __str__(self) -> str:
        return in_words(*self.pair())

    def _counts(self, unit: int | None, is_sensitive: bool) -> tuple[list[int], list[int]]:
        sensitive, nonsensitive = list(self.sensitive), list(self.nonsensitive)
        if unit is not None:
            (sensitive if self._holds(unit, is_sensitive) else nonsensitive)[unit] += 1
        return sensitive, nonsensitive

    def _holds(self, unit: int, is_sensitive: bool) -> bool:
        return unit < (self.bins + 1) // 2 if self.setting.by_bin else is_sensitive

    def _histogram(self, unit: int | None, is_sensitive: bool) -> Histogram:
        sensitive, nonsensitive = (np.array(each) for each in self._counts(unit, is_sensitive))
        side = round(self.bins**0.5)
        shape = (side, side) if self.setting.shape is Shape.SQUARE else (self.bins,)
        only = np.arange(self.bins) < (self.bins + 1) // 2
        return Histogram(
            (sensitive + nonsensitive).reshape(shape),
            nonsensitive.reshape(shape),
            # Adding a unit changes n, so no mechanism may be told n where units are added.
            total_public=self.setting.relation is Relation.ONE_SIDED,
            only_sensitive=only.reshape(shape) if self.setting.by_bin else None,
        )


def patterns(setting: Setting) -> Iterator[Candidate]:
    """Pairs that are known to be hard: lonely units, flat, spiky and stepped backgrounds, all kinds
    of replacement.

    The first one has something for every mechanism: a lonely unit moves, and its kind changes.
    """
    for bins in setting.sizes():
        places = sorted({0, bins // 2, bins - 1})
        backgrounds = {(0,) * bins, (1,) * bins, tuple(8 * (i % 2) for i in range(bins))}
        for background, is_sensitive in product(sorted(backgrounds), (True, False)):
            if is_sensitive and not any(background):
                continue  # the empty background is in the other half of the product
            for old, new, kind in _moves(setting, places):
                empty = (0,) * bins
                counts = (background, empty) if is_sensitive else (empty, background)
                yield _tidied(Candidate(setting, *counts, old, new, kind))
        if bins == 2:
            yield from _gaps(setting)
        if bins >= len(STAIRS):
            yield from _stairs(setting, bins)


def _gaps(setting: Setting) -> Iterator[Candidate]:
    """Two bins so far apart that a unit which moves between them may decide whether they merge."""
    place = None if setting.relation is Relation.ADD_REMOVE else 1
    for gap, (old, new) in product(GAPS, ((0, place), (place, 0))):
        yield _tidied(Candidate(setting, (gap, 0), (0, 0), old, new, True))


def _stairs(setting: Setting, bins: int) -> Iterator[Candidate]:
    """A unit leaves the upper of two neighbouring stairs for the lower one, or comes up from there.

    The stairs become uneven while what lies around them is levelled, or the reverse: a choice of
    buckets by how level they are is pushed both ways by the same unit.
    """
    stair = bins // len(STAIRS)
    heights = np.repeat(STAIRS, stair)
    upper = 2 * stair - 1
    heights[upper] -= 1
    counts, empty = tuple(heights.tolist()), (0,) * bins
    moves = [None] if setting.relation is Relation.ADD_REMOVE else [0]
    for other, is_sensitive in product(moves, (True, False)):
        for old, new in ((upper, other), (other, upper)):
            yield _tidied(Candidate(setting, counts, empty, old, new, is_sensitive))
            yield _tidied(Candidate(setting, empty, counts, old, new, is_sensitive))


def _moves(setting: Setting, places: list[int]) -> Iterable[tuple[int | None, int | None, bool]]:
    first, middle, last = places[0], places[len(places) // 2], places[-1]
    if setting.relation is Relation.ADD_REMOVE:
        return [
            (None, middle, True),
            (middle, None, True),
            (None, first, True),
            (first, None, True),
        ]
    same = [] if setting.by_bin else [(first, first, False), (middle, middle, False)]
    apart = [(first, last, False), (first, last, True), (last, first, True)]
    return (apart if first != last else []) + same


def _tidied(candidate: Candidate) -> Candidate:
    """The same with a background that the policy allows and a D that has a sensitive unit."""
    if not candidate.setting.by_bin:
        return candidate
    half = (candidate.bins + 1) // 2
    both = [s + n for s, n in zip(candidate.sensitive, candidate.nonsensitive, strict=True)]
    empty = [0] * candidate.bins
    return replace(
        candidate,
        sensitive=tuple(both[:half] + empty[half:]),
        nonsensitive=tuple(empty[:half] + both[half:]),
        old=None if candidate.old is None else min(candidate.old, half - 1),
    )


def varied(candidate: Candidate, rng: Randomness) -> Candidate:
    """A random pair near to `candidate`: one thing about it changed."""
    what, where, amount, side = (int(rng.below(bound, 1)[0]) for bound in (4, 10**6, 4, 2))
    place = where % candidate.bins
    if what == 0 and candidate.old is not None:
        return _tidied(replace(candidate, old=place))
    if what == 1 and candidate.new is not None:
        return _tidied(replace(candidate, new=place))
    counts = list(candidate.sensitive if side else candidate.nonsensitive)
    counts[place] = [0, 1, counts[place] + 1, min(2 * counts[place] + 2, LARGEST_COUNT)][amount]
    if side:
        return _tidied(replace(candidate, sensitive=tuple(counts)))
    return _tidied(replace(candidate, nonsensitive=tuple(counts)))


def random_pairs(setting: Setting, count: int, rng: Randomness) -> Iterator[Candidate]:
    """Patterns with several random changes each."""
    basis = list(patterns(setting))
    for _ in range(count):
        candidate = basis[int(rng.below(len(basis), 1)[0])]
        for _ in range(1 + int(rng.below(4, 1)[0])):
            candidate = varied(candidate, rng)
        yield candidate


def are_neighbours(data: Histogram, neighbour: Histogram, relation: Relation) -> bool:
    """Whether D′ comes from D by one step of the `relation`, for a unit in at most k bins.

    Where the total is public each unit is in exactly one bin; elsewhere it may be in none.
    """
    if data.all.shape != neighbour.all.shape or data.k != neighbour.k:
        return False
    if relation is Relation.ADD_REMOVE:
        change = neighbour.all - data.all
        return _is_unit(change, 1, data.k) or _is_unit(-change, 1, data.k)
    removed = data.sensitive - neighbour.sensitive
    added = neighbour.nonsensitive - data.nonsensitive
    if added.any():
        return _is_unit(removed, int(data.total_public), data.k) and _is_unit(added, 1, data.k)
    # A sensitive unit becomes another one; where both are nothing changes.
    both_are_units = _is_unit(removed.clip(min=0), 0, data.k) and _is_unit(
        (-removed).clip(min=0), 0, data.k
    )
    return both_are_units and not (data.total_public and removed.sum())


def _is_unit(counts: Counts, fewest: int, most: int) -> bool:
    """Whether these can be the counts of a single unit that is in `fewest` to `most` bins."""
    return bool(np.isin(counts, (0, 1)).all() and fewest <= counts.sum() <= most)


def in_words(data: Histogram, neighbour: Histogram) -> str:
    """D → D′, by their counts."""
    return f"{_counts_in_words(data)} → {_counts_in_words(neighbour)}"


def _counts_in_words(data: Histogram) -> str:
    sensitive = f"sensitive {data.sensitive.reshape(-1).tolist()}"
    if not data.nonsensitive.any():
        return sensitive
    return f"{sensitive}, non-sensitive {data.nonsensitive.reshape(-1).tolist()}"


def as_pair(given: Any) -> tuple[Any, Any]:
    """(D, D′) of a candidate, or of a pair that a user supplied."""
    if isinstance(given, Candidate):
        return given.pair()
    data, neighbour = given
    return data, neighbour
