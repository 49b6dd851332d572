"""Who owns the devices of the simulated building, and on which days they come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data.histogram import Floats
from onesided.datasets.floorplan import KINDS, FloorPlan
from onesided.randomness import Randomness

if TYPE_CHECKING:
    from numpy.random import Generator


class Role(Enum):
    """Why somebody is in the building; the value is the text in the column `role`."""

    RESIDENT = "resident"
    STAFF = "staff"
    STUDENT = "student"
    VISITOR = "visitor"


class DayKind(Enum):
    """What kind of day it is on campus."""

    TERM = "term"
    BREAK = "break"
    SUMMER = "summer"
    WEEKEND = "weekend"
    HOLIDAY = "holiday"


ROLES = tuple(Role)
DAY_KINDS = tuple(DayKind)

FIRST_DAY = date(2016, 1, 1)
LAST_DAY = date(2016, 9, 30)
TERMS = (
    (date(2016, 1, 4), date(2016, 3, 18)),
    (date(2016, 3, 28), date(2016, 6, 10)),
    (date(2016, 9, 22), date(2016, 12, 9)),
)
SUMMER = (date(2016, 6, 20), date(2016, 9, 9))
HOLIDAYS = frozenset(
    {
        date(2016, 1, 1),
        date(2016, 1, 18),
        date(2016, 2, 15),
        date(2016, 5, 30),
        date(2016, 7, 4),
        date(2016, 9, 5),
    }
)

OPTED_OUT_SHARE = 0.06
# A resident comes on at least 10 days a month by definition; one more leaves room for a lost day.
RESIDENT_DAYS_A_MONTH = 11
RESIDENT_MONTHS = 5


@dataclass(frozen=True, kw_only=True)
class Presence:
    """How often a role comes.

    A device turns up on a day before `start_before` (None: it is there from the beginning) and is
    active for an exponential time of mean `active_days` (None: to the end). While active it comes
    with its own rate, drawn from Beta(`rate`), times the role's factor for that kind of day.
    """

    devices: int
    rate: tuple[float, float]
    factor: dict[DayKind, float]
    active_days: float | None = None
    start_before: int | None = None


PRESENCE: dict[Role, Presence] = {
    Role.RESIDENT: Presence(
        devices=381,
        rate=(14.0, 7.6),
        factor={
            DayKind.TERM: 1.0,
            DayKind.BREAK: 0.85,
            DayKind.SUMMER: 0.95,
            DayKind.WEEKEND: 0.12,
            DayKind.HOLIDAY: 0.1,
        },
        start_before=60,
    ),
    Role.STAFF: Presence(
        devices=259,
        rate=(9.0, 6.0),
        factor={
            DayKind.TERM: 1.0,
            DayKind.BREAK: 0.9,
            DayKind.SUMMER: 0.8,
            DayKind.WEEKEND: 0.15,
            DayKind.HOLIDAY: 0.1,
        },
    ),
    Role.STUDENT: Presence(
        devices=7_870,
        rate=(2.2, 2.7),
        factor={
            DayKind.TERM: 1.0,
            DayKind.BREAK: 0.12,
            DayKind.SUMMER: 0.14,
            DayKind.WEEKEND: 0.06,
            DayKind.HOLIDAY: 0.04,
        },
    ),
    Role.VISITOR: Presence(
        devices=7_490,
        rate=(1.5, 2.0),
        factor={
            DayKind.TERM: 1.0,
            DayKind.BREAK: 0.8,
            DayKind.SUMMER: 0.7,
            DayKind.WEEKEND: 0.3,
            DayKind.HOLIDAY: 0.1,
        },
        active_days=28.0,
        start_before=270,
    ),
}

# Courses meet on Monday, Wednesday and Friday or on Tuesday and Thursday.
COURSE_DAYS = np.array(
    [
        [1.35, 0.5, 1.35, 0.5, 1.35, 1.0, 1.0],
        [0.65, 1.55, 0.65, 1.55, 0.65, 1.0, 1.0],
    ]
)


@dataclass(frozen=True)
class Calendar:
    """The nine months of the trace, day by day."""

    days: tuple[date, ...] = tuple(
        FIRST_DAY + timedelta(days=offset) for offset in range((LAST_DAY - FIRST_DAY).days + 1)
    )

    def kinds(self) -> NDArray[np.int64]:
        """Index into `DAY_KINDS` of each day."""
        return np.array([DAY_KINDS.index(_kind_of_day(day)) for day in self.days])

    def weekdays(self) -> NDArray[np.int64]:
        """0 for Monday to 6 for Sunday."""
        return np.array([day.weekday() for day in self.days])

    def months(self) -> NDArray[np.int64]:
        return np.array([day.month for day in self.days])


def _kind_of_day(day: date) -> DayKind:
    if day in HOLIDAYS:
        return DayKind.HOLIDAY
    if day.weekday() >= 5:
        return DayKind.WEEKEND
    if any(first <= day <= last for first, last in TERMS):
        return DayKind.TERM
    if SUMMER[0] <= day <= SUMMER[1]:
        return DayKind.SUMMER
    return DayKind.BREAK


@dataclass(frozen=True, kw_only=True)
class People:
    """The devices: element i of each array belongs to device number i.

    `role` indexes `ROLES`; `usual_room[i, kind]` is the room of each kind that i prefers;
    `comes[i, day]` says whether i is in the building on that day.
    """

    role: NDArray[np.int64]
    opted_out: NDArray[np.bool_]
    usual_room: NDArray[np.int64]
    comes: NDArray[np.bool_]

    def table(self) -> pa.Table:
        """One row a device: device, role, resident, opted_out, days."""
        names = pa.array([role.value for role in ROLES], pa.string())
        return pa.table(
            {
                "device": pa.array(np.arange(self.role.size), pa.int64()),
                "role": names.take(pa.array(self.role)),
                "resident": pa.array(self.role == ROLES.index(Role.RESIDENT)),
                "opted_out": pa.array(self.opted_out),
                "days": pa.array(self.comes.sum(axis=1), pa.int64()),
            }
        )


def populate(scale: float, plan: FloorPlan, calendar: Calendar, rng: Randomness) -> People:
    """Draw `scale` times as many people as the full trace has, with their habits and days."""
    generator = rng.generator()
    counts = [max(1, round(PRESENCE[role].devices * scale)) for role in ROLES]
    # Shuffled, so that the running number says nothing about the owner.
    role = generator.permutation(np.repeat(np.arange(len(ROLES)), counts))
    devices = role.size
    draws = generator.random((devices, len(KINDS)))
    usual = np.stack(
        [
            np.searchsorted(cumulative, draws[:, kind], side="right")
            for kind, cumulative in enumerate(plan.popular_room())
        ],
        axis=1,
    )
    chance = np.zeros((devices, len(calendar.days)))
    for index, who in enumerate(ROLES):
        members = np.flatnonzero(role == index)
        chance[members] = _chances(PRESENCE[who], members.size, calendar, generator)
    course = generator.integers(0, len(COURSE_DAYS), devices)
    students = role == ROLES.index(Role.STUDENT)
    chance[students] *= COURSE_DAYS[course[students]][:, calendar.weekdays()]
    # A person comes on the days whose score is below one; the lowest scores are the likeliest days.
    with np.errstate(divide="ignore"):
        score = generator.random(chance.shape) / chance
    return People(
        role=role,
        opted_out=generator.random(devices) < OPTED_OUT_SHARE,
        usual_room=usual,
        comes=_attendance(score, role == ROLES.index(Role.RESIDENT), calendar),
    )


def _chances(presence: Presence, devices: int, calendar: Calendar, generator: Generator) -> Floats:
    """Probability [device, day] that each of a role's devices comes on each day."""
    rate = generator.beta(*presence.rate, devices)
    factor = np.array([presence.factor[kind] for kind in DAY_KINDS])
    day = np.arange(len(calendar.days))
    active = np.ones((devices, day.size), dtype=np.bool_)
    if presence.start_before is not None:
        start = generator.integers(0, presence.start_before, devices)
        active &= day >= start[:, None]
        if presence.active_days is not None:
            length = 1 + generator.exponential(presence.active_days, devices)
            active &= day < (start + length)[:, None]
    return np.asarray(rate[:, None] * factor[calendar.kinds()] * active)


def _attendance(
    score: Floats, residents: NDArray[np.bool_], calendar: Calendar
) -> NDArray[np.bool_]:
    """Days with score below one, at least one day each, and enough days a month for residents."""
    comes = score < 1
    comes[np.arange(len(score)), np.argmin(score, axis=1)] = True
    months = calendar.months()
    for month in range(months[-1] - RESIDENT_MONTHS + 1, months[-1] + 1):
        cells = np.ix_(residents, months == month)
        enough = np.partition(score[cells], RESIDENT_DAYS_A_MONTH - 1, axis=1)
        comes[cells] |= score[cells] <= enough[:, RESIDENT_DAYS_A_MONTH - 1 : RESIDENT_DAYS_A_MONTH]
    return comes
