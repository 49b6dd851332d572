"""What a closed policy means, straight from the definition and as slow as that is.

The engines answer the same by one join, on tables that `closing.py` prepares. Audits and tests hold
them to this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import inf

from onesided.maps.closing import MOST_SEARCHED_WHOLE, ClosedMap, Rule
from onesided.maps.edges import Place

Record = tuple[Place | None, int | None]
"""Where and when: microseconds, or None where the moment is missing."""


class Meaning:
    """One map, understood by trying out all ways."""

    def __init__(self, closed: ClosedMap) -> None:
        if len(closed.edges.places) > MOST_SEARCHED_WHOLE:
            raise ValueError("The definition is for small maps.")
        self._map = closed
        ways = closed.edges.listed()
        avoiding = [way for way in ways if not {way[0], way[1]} & closed.sensitive]
        self.least = _walks(closed.edges.places, ways)
        self.around = _walks(closed.edges.places, avoiding)
        outside = closed.outside
        self.shut = {
            place
            for place in closed.edges.places
            if place in closed.sensitive
            or (outside is not None and (outside, place) not in self.around)
        }

    def is_sensitive(self, records: Iterable[Record]) -> bool:
        """Whether a unit with these records is sensitive, beside what a policy says."""
        listed = list(records)
        return any(map(self._stands_out, listed)) or self._gives_away(listed)

    def move_is_sensitive(self, start: Place, end: Place, time: int) -> bool:
        """Whether it is, of somebody who is at `end` so many microseconds after `start`."""
        closed = self._map
        if closed.gap is not None and time > closed.gap:
            return False
        around = self.around.get((start, end), inf)
        if not self.least.get((start, end), inf) < around:
            return False
        if closed.rule is Rule.QUICKEST or around == inf:
            return True
        return time < closed.slack * Fraction(around)

    def _stands_out(self, record: Record) -> bool:
        place, time = record
        return time is None or place not in self._map.edges.numbers or place in self.shut

    def _gives_away(self, records: Sequence[Record]) -> bool:
        """Each combination of records at two moments that follow one another."""
        at: dict[int, set[Place]] = {}
        for place, time in records:
            if place is not None and time is not None:
                at.setdefault(time, set()).add(place)
        return any(
            self.move_is_sensitive(start, end, late - early)
            for early, late in pairwise(sorted(at))
            for start, end in product(at[early], at[late])
        )


def _walks(
    places: Iterable[Place], ways: Iterable[tuple[Place, Place, int]]
) -> Mapping[tuple[Place, Place], int]:
    """The least times between all places that a walk joins: over one more place at a time."""
    times: dict[tuple[Place, Place], int] = {(place, place): 0 for place in places}
    for start, end, time in ways:
        times[start, end] = min(time, times.get((start, end), time))
    names = list(places)
    for middle, start, end in product(names, repeat=3):
        if (start, middle) in times and (middle, end) in times:
            through = times[start, middle] + times[middle, end]
            times[start, end] = min(through, times.get((start, end), through))
    return times
