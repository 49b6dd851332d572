"""Time zones: the clocks on the wall, from one edition of the zone database.

Moments are kept in UTC. It is declared in which zone hour(), weekday() and date() are taken. When
clocks change is read from the package `tzdata` alone, never from the system or an engine, and
written into every statement as the same list. It covers the years 1900 to 2099; other moments have
no hour there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from typing import Any
from zoneinfo import ZoneInfo

from onesided.errors import PolicyError
from onesided.language.types import Schema, Type
from onesided.spelling import meant

FIRST = datetime(1900, 1, 1)
END = datetime(2100, 1, 1)
_NAME = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*")
_SECOND = timedelta(seconds=1)
_STEP = timedelta(days=1)


@dataclass(frozen=True)
class Zones:
    """The zones of the columns that hold moments; none of them where nothing is declared.

    - `zoned`: of every column whose type has a time zone.
    - `columns`: of single columns by name, which hold moments in UTC.
    """

    zoned: str | None = None
    columns: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, said: Any) -> Zones:
        """From the name of a zone, or from names of zones by column."""
        if said is None:
            return cls()
        if isinstance(said, str):
            return cls(edition(said))
        if not isinstance(said, Mapping) or not all(isinstance(each, str) for each in said):
            raise PolicyError(
                'A time zone is a name such as "Europe/Berlin", or such names by column.'
            )
        return cls(columns=tuple((name, edition(zone)) for name, zone in said.items()))

    def applied(self, schema: Schema) -> Schema:
        """The schema with a zone beside each column that has one."""
        named = {schema.resolve(name): zone for name, zone in self.columns}
        for name in named:
            if schema[name].type is not Type.TIMESTAMP:
                raise PolicyError(
                    f"The column {name} is {schema[name].type.value}; only timestamps have a zone."
                )
        if self.zoned is not None:
            named = {name: self.zoned for name, field in schema.fields if field.zoned}
            if not named:
                raise PolicyError(
                    "No column has a type with a time zone; name the one whose times are in UTC, "
                    'such as {"ts": "Europe/Berlin"}.'
                )
        if not named:
            return schema
        return Schema(
            tuple((name, replace(field, zone=named.get(name))) for name, field in schema.fields)
        )


def declared_zones(schema: Schema) -> dict[str, str]:
    """The zone of each column that has one, with the edition of the database."""
    return {name: field.zone for name, field in schema.fields if field.zone is not None}


def edition(name: str) -> str:
    """A zone that exists, with the edition in which it is read."""
    import tzdata

    known = _names()
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name not in known:
        raise PolicyError(
            f"There is no time zone {str(name)[:80]!r}{meant(str(name), known)}; zones have names "
            "such as Europe/Berlin."
        )
    return f"{name} {tzdata.IANA_VERSION}"


@cache
def _names() -> frozenset[str]:
    text = resources.files("tzdata").joinpath("zones").read_text(encoding="utf-8")
    return frozenset(text.split())


@cache
def offsets(zone: str) -> tuple[tuple[datetime, int], ...]:
    """The moments in UTC from which on clocks are so many seconds ahead of it, from `FIRST` on."""
    name, _, _ = zone.partition(" ")
    file = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
    with file.open("rb") as content:
        known = ZoneInfo.from_file(content, key=name)

    def ahead(moment: datetime) -> int:
        local = moment.replace(tzinfo=UTC).astimezone(known)
        shift = local.utcoffset()
        assert shift is not None
        return shift.days * 86_400 + shift.seconds

    found = [(FIRST, ahead(FIRST))]
    moment = FIRST
    while moment < END:
        following = moment + _STEP
        if ahead(following) != found[-1][1]:
            start = _change(ahead, moment, following)
            found.append((start, ahead(start)))
        moment = following
    return tuple(found)


def _change(ahead: Any, before: datetime, after: datetime) -> datetime:
    """The second in which the clocks change."""
    old = ahead(before)
    while after - before > _SECOND:
        middle = before + (after - before) // 2
        middle = middle.replace(microsecond=0)
        if ahead(middle) == old:
            before = middle
        else:
            after = middle
    return after


def on_the_wall(moment: datetime, zone: str) -> datetime | None:
    """What the clocks in the zone show at a moment in UTC; None outside of the years."""
    if moment < FIRST or not moment < END:
        return None
    known = offsets(zone)
    place = bisect_right(known, moment, key=lambda each: each[0])
    return moment + timedelta(seconds=known[place - 1][1])
