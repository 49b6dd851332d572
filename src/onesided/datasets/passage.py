"""People in a building whose smokers' yard is a passage: a variant of the floor plan.

Two wings are joined by the yard, and by the lobby on a longer way. Everybody's walks are followed
from room to room. Most places see nearly everybody who passes, and the yard sees half of them. So
some walked through the yard unseen, and their traces on both sides of it give them away.

A dead end is the same building with the yard at the end of one wing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from onesided.datasets.floorplan import Room, RoomKind
from onesided.maps import ClosedMap, Edges, Rule
from onesided.maps.edges import MICROSECONDS
from onesided.randomness import Randomness

if TYPE_CHECKING:
    from numpy.random import Generator

STREET = "street"
YARD = "smokers yard"
_ROOMS = (
    ("lobby", RoomKind.LOBBY, 40, 2),
    ("west", RoomKind.CORRIDOR, 20, 15),
    ("east", RoomKind.CORRIDOR, 60, 15),
    ("hall", RoomKind.LECTURE_HALL, 8, 26),
    ("study", RoomKind.STUDY, 6, 6),
    ("lab", RoomKind.LAB, 24, 28),
    ("west stairs", RoomKind.CORRIDOR, 14, 36),
    ("wing", RoomKind.OFFICE, 30, 42),
    ("cafe", RoomKind.CAFE, 70, 5),
    ("seminar", RoomKind.MEETING_ROOM, 74, 26),
    ("clinic", RoomKind.CLINIC, 56, 28),
    ("east stairs", RoomKind.CORRIDOR, 66, 36),
    ("lounge", RoomKind.LOUNGE, 50, 42),
)
_WAYS = (
    (STREET, "lobby", 10),
    ("lobby", "west", 60),
    ("lobby", "east", 60),
    ("west", "hall", 15),
    ("west", "study", 20),
    ("west", "lab", 15),
    ("west", "west stairs", 30),
    ("west stairs", "wing", 20),
    ("east", "cafe", 15),
    ("east", "seminar", 20),
    ("east", "clinic", 15),
    ("east", "east stairs", 30),
    ("east stairs", "lounge", 20),
)
_STOPS = ("hall", "study", "lab", "wing", "cafe", "seminar", "clinic", "lounge")
_WEIGHTS = (0.24, 0.1, 0.16, 0.14, 0.18, 0.08, 0.02, 0.08)
_POLL, _SMOKE, _DWELL = 120.0, 240.0, 1500.0
_SPREAD = 0.6
_SLOWEST = 1.3


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How people walk, and how well they are seen.

    - `takers`: the share of people who use the yard at all, and `through` how often they do.
    - `smoking`: how often a stop of theirs is the yard itself.
    - `seen`, `seen_in_yard`: how likely a place, or the yard, sees somebody who passes.
    - `stray`: how often a sighting is one of a neighbouring place.
    """

    takers: float = 0.62
    through: float = 0.7
    smoking: float = 0.03
    seen: float = 0.9
    seen_in_yard: float = 0.5
    stray: float = 0.0


@dataclass(frozen=True)
class Walked:
    """One day of somebody: the sightings, in seconds since midnight, and whether the yard was used.

    What was walked is the truth that no trace tells.
    """

    sightings: tuple[tuple[str, int], ...]
    was_in_yard: bool

    @property
    def rows(self) -> list[tuple[str, int]]:
        """The sightings with microseconds."""
        return [(place, second * MICROSECONDS) for place, second in self.sightings]


@dataclass(frozen=True)
class PassageBuilding:
    """The building; in a `dead_end` the yard leads nowhere."""

    dead_end: bool = False

    @property
    def rooms(self) -> tuple[Room, ...]:
        """The rooms with their positions in metres, the yard and the street among them."""
        x, y = (85.0, 15.0) if self.dead_end else (40.0, 20.0)
        rooms = [Room(name=name, kind=kind, floor=1, x=x, y=y) for name, kind, x, y in _ROOMS]
        yard = Room(name=YARD, kind=RoomKind.SMOKERS_YARD, floor=1, x=x, y=y)
        street = Room(name=STREET, kind=RoomKind.LOBBY, floor=1, x=40, y=-8)
        return (*rooms, yard, street)

    @property
    def ways(self) -> tuple[tuple[str, str, int], ...]:
        """The ways between rooms with their least seconds."""
        if self.dead_end:
            return (*_WAYS, ("east", YARD, 20))
        return (*_WAYS, ("west", YARD, 20), ("east", YARD, 20))

    @cached_property
    def edges(self) -> Edges:
        """The map that everybody may see."""
        return Edges.between([(a, b, time * MICROSECONDS) for a, b, time in self.ways])

    def closed(self, rule: Rule) -> ClosedMap:
        """The map with the yard as its sensitive place."""
        return ClosedMap(edges=self.edges, sensitive=frozenset({YARD}), rule=rule, outside=STREET)

    def walked(self, people: int, habits: Habits, rng: Randomness) -> list[Walked]:
        """A day of so many people."""
        generator = rng.generator()
        return [self._day(habits, generator) for _ in range(people)]

    def _day(self, habits: Habits, draw: Generator) -> Walked:
        takes = draw.random() < habits.takers
        clock, here, used = 8 * 3600 + 6 * 3600 * draw.random(), STREET, False
        seen: list[tuple[str, int]] = []
        stops = [str(each) for each in draw.choice(_STOPS, 1 + draw.poisson(2.0), p=_WEIGHTS)]
        for stop in (*stops, STREET):
            if takes and stop != STREET and draw.random() < habits.smoking:
                stop = YARD
            short = takes and draw.random() < habits.through
            for there in self._route(here, stop, around=not short and YARD not in (here, stop)):
                clock += self._times[here, there] * (1 + (_SLOWEST - 1) * draw.random())
                here = there
                used |= here == YARD
                self._see(here, clock, habits, draw, seen)
            if here != STREET:
                end = clock + self._stay(here, draw)
                while clock + _POLL < end and here != YARD:
                    clock += _POLL
                    self._see(here, clock, habits, draw, seen)
                clock = end
        return Walked(tuple(seen), used)

    def _stay(self, place: str, draw: Generator) -> float:
        middle = _SMOKE if place == YARD else _DWELL
        return float(middle * draw.lognormal(0.0, _SPREAD))

    def _see(
        self, place: str, clock: float, habits: Habits, draw: Generator, seen: list[tuple[str, int]]
    ) -> None:
        if place == STREET:
            return
        if draw.random() >= (habits.seen_in_yard if place == YARD else habits.seen):
            return
        if draw.random() < habits.stray:
            near = [each for each in self._near[place] if each != STREET]
            place = near[int(draw.integers(len(near)))]
        seen.append((place, int(clock)))

    def _route(self, start: str, end: str, *, around: bool) -> tuple[str, ...]:
        """The places on the quickest way, without the yard or with it."""
        return self._routes[around][start, end]

    @cached_property
    def _times(self) -> Mapping[tuple[str, str], int]:
        both = [*self.ways, *((b, a, time) for a, b, time in self.ways)]
        return {(a, b): time for a, b, time in both}

    @cached_property
    def _near(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for a, b in self._times:
            found.setdefault(a, []).append(b)
        return found

    @cached_property
    def _routes(self) -> tuple[Mapping[tuple[str, str], tuple[str, ...]], ...]:
        return tuple(
            {
                (start, end): route
                for start in self._near
                for end, route in self._quickest(start, around=around).items()
            }
            for around in (False, True)
        )

    def _quickest(self, start: str, *, around: bool) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        waiting: list[tuple[int, tuple[str, ...], str]] = [(0, (), start)]
        while waiting:
            time, route, here = heappop(waiting)
            if here in found:
                continue
            found[here] = route
            for there in self._near[here]:
                if there not in found and not (around and there == YARD):
                    heappush(waiting, (time + self._times[here, there], (*route, there), there))
        return found
