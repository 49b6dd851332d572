"""The building of the simulator: rooms, their kinds, and the 64 access points that serve them.

The plan is fixed, so two simulations differ in people and never in walls. Six floors lie on top of
each other; positions are metres, and a storey counts as `STOREY_METRES` of walking.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data.histogram import Floats

STOREY_METRES = 25.0


class RoomKind(Enum):
    """What a room is for; the value is the text in the column `kind`."""

    LOBBY = "lobby"
    CORRIDOR = "corridor"
    LECTURE_HALL = "lecture hall"
    LAB = "lab"
    OFFICE = "office"
    MEETING_ROOM = "meeting room"
    STUDY = "study"
    CAFE = "cafe"
    LOUNGE = "lounge"
    RESTROOM = "restroom"
    SMOKERS_YARD = "smokers yard"
    CLINIC = "clinic"


KINDS = tuple(RoomKind)
KIND_INDEX = {kind: index for index, kind in enumerate(KINDS)}


@dataclass(frozen=True, kw_only=True)
class Room:
    """A room, or an office wing, with as many access points as it needs.

    `popularity` is the relative share of visits among rooms of the same kind.
    """

    name: str
    kind: RoomKind
    floor: int
    x: float
    y: float
    access_points: int = 1
    popularity: float = 1.0


def _rooms(
    kind: RoomKind, stem: str, *places: tuple[int, float, float, int, float]
) -> tuple[Room, ...]:
    """Rooms of one kind, numbered; each place is (floor, x, y, access points, popularity)."""
    return tuple(
        Room(
            name=stem if len(places) == 1 else f"{stem} {number}",
            kind=kind,
            floor=floor,
            x=x,
            y=y,
            access_points=access_points,
            popularity=popularity,
        )
        for number, (floor, x, y, access_points, popularity) in enumerate(places, start=1)
    )


ROOMS: tuple[Room, ...] = (
    *_rooms(RoomKind.LOBBY, "lobby", (1, 40, 10, 2, 1.0)),
    *_rooms(
        RoomKind.CORRIDOR,
        "corridor",
        *((floor, x, 15, 1, 1.0) for floor in range(1, 7) for x in (20.0, 60.0)),
    ),
    *_rooms(
        RoomKind.LECTURE_HALL,
        "hall",
        (1, 10, 25, 3, 1.0),
        (1, 70, 25, 3, 0.7),
        (2, 15, 25, 2, 0.25),
        (2, 65, 25, 2, 0.12),
    ),
    *_rooms(
        RoomKind.LAB,
        "lab",
        (2, 30, 5, 2, 1.0),
        (2, 50, 5, 2, 0.6),
        (3, 30, 5, 1, 0.35),
        (3, 50, 5, 1, 0.25),
        (3, 70, 25, 1, 0.12),
        (4, 30, 5, 1, 0.2),
        (4, 50, 5, 1, 0.08),
        (5, 30, 5, 1, 0.15),
        (5, 50, 5, 1, 0.05),
        (6, 40, 5, 1, 0.02),
    ),
    *_rooms(
        RoomKind.OFFICE,
        "wing",
        (2, 40, 30, 1, 0.4),
        (3, 10, 10, 1, 0.9),
        (3, 35, 30, 1, 0.7),
        (4, 10, 10, 1, 1.0),
        (4, 35, 30, 1, 0.8),
        (4, 70, 10, 1, 0.5),
        (5, 10, 10, 1, 0.8),
        (5, 70, 10, 1, 0.4),
        (6, 10, 10, 1, 0.3),
        (6, 70, 10, 1, 0.1),
    ),
    *_rooms(
        RoomKind.MEETING_ROOM,
        "meeting",
        (2, 75, 5, 1, 0.6),
        (3, 5, 30, 1, 0.5),
        (4, 75, 30, 1, 0.4),
        (5, 5, 30, 1, 0.15),
        (6, 75, 30, 1, 0.05),
    ),
    *_rooms(RoomKind.STUDY, "study", (1, 25, 5, 1, 1.0), (2, 5, 5, 2, 0.5), (3, 75, 5, 1, 0.15)),
    *_rooms(RoomKind.CAFE, "cafe", (1, 55, 5, 2, 1.0)),
    *_rooms(RoomKind.LOUNGE, "lounge", (4, 50, 30, 1, 1.0), (6, 45, 30, 1, 0.25)),
    *_rooms(
        RoomKind.RESTROOM, "restroom", (1, 30, 20, 1, 1.0), (3, 50, 20, 1, 0.8), (5, 50, 20, 1, 0.5)
    ),
    *_rooms(RoomKind.SMOKERS_YARD, "smokers yard", (1, 80, 5, 1, 1.0)),
    *_rooms(RoomKind.CLINIC, "clinic", (2, 80, 30, 1, 1.0)),
)


@dataclass(frozen=True)
class FloorPlan:
    """Rooms and access points as arrays, and the distances that make a walk plausible."""

    rooms: tuple[Room, ...] = ROOMS

    @cached_property
    def room_kind(self) -> NDArray[np.int64]:
        """Index into `KINDS` of each room."""
        return np.array([KIND_INDEX[room.kind] for room in self.rooms])

    @cached_property
    def room_positions(self) -> Floats:
        """Metres along the building, across it, and up."""
        return np.array([(room.x, room.y, room.floor * STOREY_METRES) for room in self.rooms])

    @cached_property
    def room_popularity(self) -> Floats:
        return np.array([room.popularity for room in self.rooms])

    @cached_property
    def ap_room(self) -> NDArray[np.int64]:
        """Index of the room that each access point serves."""
        return np.repeat(np.arange(len(self.rooms)), self.aps_in_room)

    @cached_property
    def aps_in_room(self) -> NDArray[np.int64]:
        return np.array([room.access_points for room in self.rooms])

    @cached_property
    def first_ap(self) -> NDArray[np.int64]:
        """Index of each room's first access point; the others follow it."""
        return np.cumsum(self.aps_in_room) - self.aps_in_room

    @cached_property
    def ap_names(self) -> tuple[str, ...]:
        floors = [self.rooms[room].floor for room in self.ap_room]
        return tuple(f"ap-{floor}-{index:03d}" for index, floor in enumerate(floors, start=1))

    @cached_property
    def ap_positions(self) -> Floats:
        """The room's position; further access points of a large room hang 8 m apart."""
        positions = self.room_positions[self.ap_room].copy()
        positions[:, 1] += 8.0 * (np.arange(self.ap_room.size) - self.first_ap[self.ap_room])
        return positions

    @cached_property
    def ap_neighbours(self) -> NDArray[np.int64]:
        """The three nearest other access points, to which a device strays now and then."""
        distance = _distances(self.ap_positions, self.ap_positions)
        np.fill_diagonal(distance, np.inf)
        return np.argsort(distance, axis=1, kind="stable")[:, :3]

    @cached_property
    def way_to_room(self) -> NDArray[np.int64]:
        """The corridor access point that is passed on the way into each room."""
        corridors = np.flatnonzero(self.room_kind == KIND_INDEX[RoomKind.CORRIDOR])
        distance = _distances(self.room_positions, self.room_positions[corridors])
        return np.asarray(self.first_ap[corridors[np.argmin(distance, axis=1)]])

    def next_room(self, reach_metres: float) -> Floats:
        """Cumulative probabilities [kind, current room, next room].

        Within a kind a room is chosen with weight popularity · exp(−distance / `reach_metres`),
        so that consecutive access points lie near each other and few of all n-grams occur.
        """
        distance = _distances(self.room_positions, self.room_positions)
        nearness = self.room_popularity * np.exp(-distance / reach_metres)
        of_kind = self.room_kind[None, :] == np.arange(len(KINDS))[:, None]
        weight = nearness[None, :, :] * of_kind[:, None, :]
        return np.asarray(np.cumsum(weight, axis=2) / weight.sum(axis=2, keepdims=True))

    def popular_room(self) -> Floats:
        """Cumulative probabilities [kind, room] by popularity alone: somebody's usual room."""
        of_kind = self.room_kind[None, :] == np.arange(len(KINDS))[:, None]
        weight = self.room_popularity[None, :] * of_kind
        return np.asarray(np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True))

    def table(self) -> pa.Table:
        """One row an access point: ap, room, kind, floor, x, y."""
        rooms = [self.rooms[index] for index in self.ap_room]
        return pa.table(
            {
                "ap": pa.array(self.ap_names, pa.string()),
                "room": pa.array([room.name for room in rooms], pa.string()),
                "kind": pa.array([room.kind.value for room in rooms], pa.string()),
                "floor": pa.array([room.floor for room in rooms], pa.int32()),
                "x": pa.array(self.ap_positions[:, 0], pa.float64()),
                "y": pa.array(self.ap_positions[:, 1], pa.float64()),
            }
        )


def _distances(here: Floats, there: Floats) -> Floats:
    """Euclidean distance of every position in `here` to every one in `there`."""
    difference = here[:, None, :] - there[None, :, :]
    return np.asarray(np.sqrt((difference**2).sum(axis=2)))
