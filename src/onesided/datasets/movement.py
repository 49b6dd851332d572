"""One day in the simulated building: who is where, and what the access points see of it.

A day has three layers. A *stay* is a device-day: arrival and departure. A *stop* is the time
that a stay spends in one room. A *sighting* is one association of a device with an access point:
devices are polled every few minutes, fall asleep, stray to a neighbouring access point and show up
at two of them at once, as real traces do. Times are seconds since midnight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Floats
from onesided.datasets.floorplan import KIND_INDEX, KINDS, FloorPlan, RoomKind
from onesided.datasets.people import ROLES, Role

if TYPE_CHECKING:
    from numpy.random import Generator

HOUR = 3600.0
CLOSING_TIME = 23.75 * HOUR
POLL_SECONDS = 300.0
WALK_SECONDS = 75.0
REACH_METRES = 30.0

SHARE_ENTERING_BY_LOBBY = 0.45
SHARE_OF_POLLS_LOST = 0.12
SHARE_OF_STOPS_ASLEEP = 0.10
SHARE_OF_POLLS_LOST_ASLEEP = 0.65
SHARE_STRAYING = 0.05
SHARE_SEEN_TWICE = 0.15
SHARE_SECOND_ELSEWHERE = 0.35


@dataclass(frozen=True, kw_only=True)
class Visit:
    """A way of spending a day: arrival and length as (mean, deviation) in hours.

    `share` is the share of the role's days that look like this.
    """

    share: float
    arrival: tuple[float, float]
    hours: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Habit:
    """What a role does: its kinds of visit and the relative number of stops by kind of room."""

    visits: tuple[Visit, ...]
    stops: dict[RoomKind, float]


HABITS: dict[Role, Habit] = {
    Role.RESIDENT: Habit(
        visits=(
            Visit(share=0.52, arrival=(9.8, 1.0), hours=(8.3, 1.1)),
            Visit(share=0.18, arrival=(10.5, 1.5), hours=(4.0, 1.5)),
            Visit(share=0.30, arrival=(12.5, 2.5), hours=(1.3, 0.7)),
        ),
        stops={
            RoomKind.OFFICE: 0.28,
            RoomKind.LAB: 0.30,
            RoomKind.MEETING_ROOM: 0.07,
            RoomKind.LECTURE_HALL: 0.14,
            RoomKind.STUDY: 0.04,
            RoomKind.CAFE: 0.07,
            RoomKind.LOUNGE: 0.04,
            RoomKind.RESTROOM: 0.04,
            RoomKind.SMOKERS_YARD: 0.015,
            RoomKind.CLINIC: 0.002,
            RoomKind.LOBBY: 0.02,
        },
    ),
    Role.STAFF: Habit(
        visits=(
            Visit(share=0.5, arrival=(7.3, 0.4), hours=(4.6, 0.4)),
            Visit(share=0.5, arrival=(12.8, 0.4), hours=(4.4, 0.4)),
        ),
        stops={
            RoomKind.OFFICE: 0.25,
            RoomKind.LAB: 0.10,
            RoomKind.CAFE: 0.30,
            RoomKind.LOBBY: 0.12,
            RoomKind.MEETING_ROOM: 0.06,
            RoomKind.LECTURE_HALL: 0.05,
            RoomKind.LOUNGE: 0.03,
            RoomKind.RESTROOM: 0.05,
            RoomKind.SMOKERS_YARD: 0.05,
            RoomKind.CLINIC: 0.003,
        },
    ),
    Role.STUDENT: Habit(
        visits=(
            Visit(share=0.50, arrival=(11.8, 2.4), hours=(1.1, 0.3)),
            Visit(share=0.20, arrival=(11.5, 2.4), hours=(0.35, 0.2)),
            Visit(share=0.20, arrival=(11.0, 1.8), hours=(3.4, 0.9)),
            Visit(share=0.10, arrival=(10.8, 1.4), hours=(7.0, 1.3)),
        ),
        stops={
            RoomKind.LECTURE_HALL: 0.42,
            RoomKind.LAB: 0.20,
            RoomKind.STUDY: 0.13,
            RoomKind.CAFE: 0.09,
            RoomKind.LOBBY: 0.06,
            RoomKind.OFFICE: 0.06,
            RoomKind.LOUNGE: 0.015,
            RoomKind.MEETING_ROOM: 0.015,
            RoomKind.RESTROOM: 0.03,
            RoomKind.SMOKERS_YARD: 0.012,
            RoomKind.CLINIC: 0.002,
        },
    ),
    Role.VISITOR: Habit(
        visits=(
            Visit(share=0.60, arrival=(13.0, 2.6), hours=(0.3, 0.25)),
            Visit(share=0.30, arrival=(12.0, 2.2), hours=(1.6, 0.7)),
            Visit(share=0.10, arrival=(9.8, 1.2), hours=(5.5, 1.8)),
        ),
        stops={
            RoomKind.LOBBY: 0.22,
            RoomKind.CAFE: 0.20,
            RoomKind.LECTURE_HALL: 0.15,
            RoomKind.MEETING_ROOM: 0.13,
            RoomKind.OFFICE: 0.18,
            RoomKind.LAB: 0.04,
            RoomKind.LOUNGE: 0.02,
            RoomKind.STUDY: 0.01,
            RoomKind.RESTROOM: 0.03,
            RoomKind.SMOKERS_YARD: 0.015,
            RoomKind.CLINIC: 0.005,
        },
    ),
}

MEDIAN_MINUTES: dict[RoomKind, float] = {
    RoomKind.LOBBY: 8.0,
    RoomKind.CORRIDOR: 2.0,
    RoomKind.LECTURE_HALL: 70.0,
    RoomKind.LAB: 80.0,
    RoomKind.OFFICE: 85.0,
    RoomKind.MEETING_ROOM: 55.0,
    RoomKind.STUDY: 60.0,
    RoomKind.CAFE: 25.0,
    RoomKind.LOUNGE: 20.0,
    RoomKind.RESTROOM: 5.0,
    RoomKind.SMOKERS_YARD: 8.0,
    RoomKind.CLINIC: 20.0,
}
SPREAD_OF_STOPS = 0.45

# How often a stop is made in one's usual room of that kind; elsewhere the nearest rooms are likely.
LOYALTY: dict[RoomKind, float] = {
    RoomKind.OFFICE: 0.92,
    RoomKind.LAB: 0.85,
    RoomKind.LECTURE_HALL: 0.6,
    RoomKind.STUDY: 0.6,
    RoomKind.MEETING_ROOM: 0.5,
}


@dataclass(frozen=True, kw_only=True)
class Stays:
    """The device-days of one day: element i of each array is one stay."""

    role: NDArray[np.int64]
    usual_room: NDArray[np.int64]
    arrival: Floats
    departure: Floats


@dataclass(frozen=True, kw_only=True)
class Stops:
    """Stops in the order of (stay, start): which stay, from when, at which access point."""

    stay: NDArray[np.int64]
    start: Floats
    ap: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Sightings:
    """Associations in the order of time: which stay, when, at which access point."""

    stay: NDArray[np.int64]
    seconds: NDArray[np.int64]
    ap: NDArray[np.int64]


@dataclass(frozen=True)
class Movement:
    """Draws the stays, stops and sightings of a day on one floor plan."""

    plan: FloorPlan

    def day(
        self, role: NDArray[np.int64], usual_room: NDArray[np.int64], generator: Generator
    ) -> Sightings:
        """What the access points see of people with these roles and usual rooms."""
        if not role.size:
            nothing = np.zeros(0, dtype=np.int64)
            return Sightings(stay=nothing, seconds=nothing, ap=nothing)
        stays = _stays(role, usual_room, generator)
        return self._sightings(stays, self._stops(stays, generator), generator)

    @cached_property
    def _stop_kinds(self) -> Floats:
        """Cumulative probabilities [role, kind] of the next stop."""
        weight = np.array([[HABITS[role].stops.get(kind, 0.0) for kind in KINDS] for role in ROLES])
        return np.asarray(np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True))

    @cached_property
    def _next_room(self) -> Floats:
        return self.plan.next_room(REACH_METRES)

    def _stops(self, stays: Stays, generator: Generator) -> Stops:
        """Stop after stop for everybody still in the building, until all have left."""
        median = 60.0 * np.array([MEDIAN_MINUTES[kind] for kind in KINDS])
        clock = stays.arrival.copy()
        room = np.full(clock.size, self._lobby)
        present = np.arange(clock.size)
        rounds: list[tuple[NDArray[np.int64], Floats, NDArray[np.int64]]] = []
        while present.size:
            kind = _pick(self._stop_kinds[stays.role[present]], generator)
            room[present] = self._rooms(kind, room[present], stays.usual_room[present], generator)
            rounds.append((present, clock[present], self._ap_in(room[present], generator)))
            spread = generator.standard_normal(present.size) * SPREAD_OF_STOPS
            clock[present] += median[kind] * np.exp(spread)
            present = present[clock[present] < stays.departure[present]]
        stay, start, ap = (np.concatenate(column) for column in zip(*rounds, strict=True))
        order = np.lexsort((start, stay))
        return Stops(stay=stay[order], start=start[order], ap=ap[order])

    def _rooms(
        self,
        kind: NDArray[np.int64],
        here: NDArray[np.int64],
        usual_room: NDArray[np.int64],
        generator: Generator,
    ) -> NDArray[np.int64]:
        """The usual room of the kind, or one nearby."""
        loyalty = np.array([LOYALTY.get(of_kind, 0.0) for of_kind in KINDS])
        loyal = generator.random(kind.size) < loyalty[kind]
        nearby = _pick(self._next_room[kind, here], generator)
        return np.where(loyal, usual_room[np.arange(kind.size), kind], nearby)

    def _ap_in(self, room: NDArray[np.int64], generator: Generator) -> NDArray[np.int64]:
        """One of the room's access points, by where somebody sits; the first is the busiest."""
        seat = generator.random(room.size) ** 1.5
        return self.plan.first_ap[room] + (seat * self.plan.aps_in_room[room]).astype(np.int64)

    @cached_property
    def _lobby(self) -> int:
        return int(np.flatnonzero(self.plan.room_kind == KIND_INDEX[RoomKind.LOBBY])[0])

    def _sightings(self, stays: Stays, stops: Stops, generator: Generator) -> Sightings:
        """Poll every stay, lose some polls, let some stray, and see some twice."""
        polls = np.ceil((stays.departure - stays.arrival) / POLL_SECONDS).astype(np.int64)
        stay = np.repeat(np.arange(polls.size), polls)
        first = np.cumsum(polls) - polls
        number = np.arange(stay.size) - first[stay]
        moment = stays.arrival[stay] + POLL_SECONDS * (number + 0.8 * generator.random(stay.size))
        stop = np.searchsorted(_key(stops.stay, stops.start), _key(stay, moment), "right") - 1
        ap = self._seen_at(stops, stop, moment, generator)

        asleep = generator.random(stops.stay.size) < SHARE_OF_STOPS_ASLEEP
        lost = np.where(asleep[stop], SHARE_OF_POLLS_LOST_ASLEEP, SHARE_OF_POLLS_LOST)
        # The first poll is never lost: whoever comes is seen.
        seen = (generator.random(stay.size) >= lost) | (number == 0)
        return self._seen_twice(stay[seen], moment[seen], ap[seen], generator)

    def _seen_at(
        self,
        stops: Stops,
        stop: NDArray[np.int64],
        moment: Floats,
        generator: Generator,
    ) -> NDArray[np.int64]:
        """The stop's access point, or the corridor on the way there, or a neighbour of it."""
        new_stay = np.diff(stops.stay, prepend=-1) > 0
        corridor = self.plan.way_to_room[self.plan.ap_room[stops.ap]]
        by_lobby = generator.random(new_stay.size) < SHARE_ENTERING_BY_LOBBY
        entrance = np.where(by_lobby, self.plan.first_ap[self._lobby], stops.ap)
        way_in = np.where(new_stay, entrance, corridor)
        walking = moment - stops.start[stop] < WALK_SECONDS * np.where(new_stay, 4.0, 1.0)[stop]
        ap = np.where(walking, way_in[stop], stops.ap[stop])
        stray = generator.random(ap.size) < SHARE_STRAYING
        return np.where(stray, self._neighbour(ap, generator), ap)

    def _neighbour(self, ap: NDArray[np.int64], generator: Generator) -> NDArray[np.int64]:
        choice = generator.integers(0, self.plan.ap_neighbours.shape[1], ap.size)
        return self.plan.ap_neighbours[ap, choice]

    def _seen_twice(
        self,
        stay: NDArray[np.int64],
        moment: Floats,
        ap: NDArray[np.int64],
        generator: Generator,
    ) -> Sightings:
        """Repeat some sightings within two minutes, at the same or a neighbouring place."""
        again = np.flatnonzero(generator.random(stay.size) < SHARE_SEEN_TWICE)
        elsewhere = generator.random(again.size) < SHARE_SECOND_ELSEWHERE
        second = np.where(elsewhere, self._neighbour(ap[again], generator), ap[again])
        later = moment[again] + generator.uniform(0.0, 120.0, again.size)
        seconds = np.concatenate([moment, later]).astype(np.int64)
        stays = np.concatenate([stay, stay[again]])
        order = np.lexsort((stays, seconds))
        return Sightings(
            stay=stays[order], seconds=seconds[order], ap=np.concatenate([ap, second])[order]
        )


def _stays(role: NDArray[np.int64], usual_room: NDArray[np.int64], generator: Generator) -> Stays:
    """Arrival and departure of people with these roles."""
    most = max(len(HABITS[who].visits) for who in ROLES)
    share, arrival, hours = np.zeros((3, len(ROLES), most, 2))
    for index, who in enumerate(ROLES):
        for number, visit in enumerate(HABITS[who].visits):
            share[index, number] = visit.share
            arrival[index, number] = visit.arrival
            hours[index, number] = visit.hours
    visit_kind = _pick(np.cumsum(share[..., 0], axis=1)[role], generator)
    mean, deviation = arrival[role, visit_kind].T
    start = np.clip(generator.normal(mean, deviation), 6.0, 21.0) * HOUR
    mean, deviation = hours[role, visit_kind].T
    length = np.maximum(generator.normal(mean, deviation), 0.1) * HOUR
    return Stays(
        role=role,
        usual_room=usual_room,
        arrival=start,
        departure=np.minimum(start + length, CLOSING_TIME),
    )


def _pick(cumulative: Floats, generator: Generator) -> NDArray[np.int64]:
    """One index for each row of cumulative probabilities."""
    draws = generator.random(len(cumulative))
    return np.asarray((draws[:, None] >= cumulative[:, :-1]).sum(axis=1))


def _key(stay: NDArray[np.int64], seconds: Floats) -> Floats:
    """Orders by stay, then by time."""
    return stay * (48.0 * HOUR) + seconds
