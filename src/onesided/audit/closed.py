"""Closed policies among all traces of a small building, for the exact audit.

Hall and lab lie on two sides of the yard, at one minute through it and at three around it. A unit
is a place and, some minutes later, another one. Which of them are sensitive follows from the
definition; what a release takes for sensitive comes from the tables that engines join with.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from onesided.audit.world import Database, SmallWorld
from onesided.maps import ClosedMap, Edges
from onesided.maps.edges import MICROSECONDS
from onesided.maps.judging import MapJudge
from onesided.maps.meaning import Meaning

_MINUTE = 60 * MICROSECONDS
YARD = "yard"
BUILDING = ClosedMap(
    edges=Edges.between(
        [
            ("hall", YARD, _MINUTE // 2),
            (YARD, "lab", _MINUTE // 2),
            ("hall", "lobby", _MINUTE),
            ("lobby", "lab", 2 * _MINUTE),
        ]
    ),
    sensitive=frozenset({YARD}),
)


def closed_world(*, knows_map: bool = True) -> SmallWorld:
    """All units of two rows; what is sensitive follows from the closed policy.

    - `knows_map`: the release goes by it. Otherwise by the policy alone, which is not enough.
    """
    places = ("hall", "lab", YARD, None)
    units = tuple(
        ((before, 0), (after, minutes * _MINUTE))
        for before, after, minutes in product(places, places, (1, 3))
    )
    meaning, judge = Meaning(BUILDING), MapJudge(BUILDING)

    def withheld(unit: Any) -> bool:
        return judge.is_sensitive(unit) if knows_map else judge.stands_out(unit)

    def build(database: Database) -> Any:
        return tuple((repr(unit), withheld(unit)) for unit in database)

    label = "traces over a map" if knows_map else "traces, without the map"
    return SmallWorld(units, frozenset(filter(meaning.is_sensitive, units)), build, label)
