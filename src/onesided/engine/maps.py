"""Closed policies in SQL: one more pass over the rows of each unit, and a join with public tables.

The map is two tables: the places at which a row is not sensitive by itself, with their numbers, and
the moves between them that are sensitive below some time. Each row gets the rank of its moment
within its unit. Rows of ranks that follow one another are the unit's moves, in all combinations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, runtime_checkable

import pyarrow as pa

from onesided.engine.flavour import Flavour
from onesided.language import BoundPredicate, Predicate, Schema, Type
from onesided.language.tree import Between, Column, Literal, Value
from onesided.maps import ClosedMap
from onesided.maps.edges import MICROSECONDS

PLACE_TYPES = (Type.TEXT, Type.INTEGER)
TIME_TYPES = (Type.TIMESTAMP, Type.INTEGER)
_LAST = datetime(9998, 12, 31, 23, 59, 59, 999999)
_MOST_SECONDS = 250_000_000_000
"""Moments beyond it, either way, are none: so no difference of two needs more than 64 bits."""


@dataclass(frozen=True)
class HeldMap:
    """The tables of a closed map as an engine knows them, each a FROM item.

    - `places`: osd_place and osd_number of each open place.
    - `moves`: osd_from, osd_to and osd_below, the microseconds below which the move is sensitive;
      None where no move is.
    """

    places: str
    moves: str | None


@runtime_checkable
class HoldsMaps(Protocol):
    """An engine on which policies can be closed over a map."""

    def hold_map(self, places: pa.Table, moves: pa.Table | None) -> HeldMap:
        """The tables of a map as this engine knows them from now on."""
        ...


def held_map(engine: HoldsMaps, closed: ClosedMap) -> HeldMap:
    """Hand a map to an engine."""
    moves = closed.moves
    kinds = (pa.int32(), pa.int32(), pa.int64())
    columns = [
        pa.array(each, kind)
        for each, kind in zip((moves.start, moves.end, moves.below), kinds, strict=True)
    ]
    table = pa.table(columns, names=["osd_from", "osd_to", "osd_below"]) if len(moves) else None
    return engine.hold_map(closed.open_places.rename_columns(["osd_place", "osd_number"]), table)


@dataclass(frozen=True)
class ClosedPredicate(BoundPredicate):
    """A policy closed over a map: for units, not for rows.

    - `held`: what an engine joins with; `closed` is the map itself, for who goes by definitions.
    - `place`, `time`: the columns that say where and when.
    - `in_time`: whether the moment of a row is one that differences are taken of.
    """

    held: HeldMap
    closed: ClosedMap = field(compare=False, repr=False)
    place: str
    time: str
    time_type: Type
    in_time: BoundPredicate

    @classmethod
    def over(
        cls,
        policy: BoundPredicate,
        closed: ClosedMap,
        held: HeldMap,
        schema: Schema,
        place: str,
        time: str,
    ) -> ClosedPredicate:
        """A bound policy over a map that the engine holds."""
        kind = schema[time].type
        bounds: dict[Type, tuple[Value, Value]] = {
            Type.TIMESTAMP: (datetime(1, 1, 1), _LAST),
            Type.INTEGER: (-_MOST_SECONDS, _MOST_SECONDS),
        }
        low, high = (Literal(kind, bound) for bound in bounds[kind])
        within = Predicate(Between(Column(time), low, high)).bind(schema)
        return cls(policy.expression, policy.typed, held, closed, place, time, kind, within)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*super().columns, self.place, self.time]))

    def moment(self, flavour: Flavour) -> str:
        """Microseconds, or NULL where the moment is missing or out of bounds."""
        name = flavour.name(self.time)
        if self.time_type is Type.TIMESTAMP:
            number = f"CAST({flavour.microseconds(name)} AS BIGINT)"
        else:
            clipped = f"least(greatest(CAST({name} AS BIGINT), -{_MOST_SECONDS}), {_MOST_SECONDS})"
            number = f"{clipped} * {MICROSECONDS}"
        return f"CASE WHEN {self.in_time.render(flavour.writer)} THEN {number} END"


def closed_rows(
    source: str,
    policy: ClosedPredicate,
    keys: Sequence[str],
    listed: Sequence[str],
    names: Sequence[str],
    flavour: Flavour,
) -> str:
    """A FROM item with the columns `names` and osd_row, one of which is true for each closed unit.

    - `keys`: the columns of the unit's key; rows without one belong to no unit.
    - `listed`: the columns `names` as they are made from the source.
    """
    present = " AND ".join(f"{key} IS NOT NULL" for key in keys)
    sensitive = f"(({policy.render(flavour.writer)}) IS NOT FALSE)"
    moment = policy.moment(flavour)
    columns = ", ".join(names)
    placed = (
        f"SELECT {', '.join(listed)}, {sensitive} AS osd_alone, osd_number, {moment} AS osd_moment "
        f"FROM {source} osd_s LEFT JOIN {policy.held.places} osd_h "
        f"ON osd_s.{flavour.name(policy.place)} = osd_h.osd_place WHERE {present}"
    )
    alone = "(osd_alone OR osd_number IS NULL OR osd_moment IS NULL) AS osd_row"
    if policy.held.moves is None:
        return f"(SELECT {columns}, {alone} FROM ({placed}) osd_w)"
    # Only rows whose neighbours in time are near enough for any move are joined: most are not.
    window = f"(PARTITION BY {', '.join(keys)} ORDER BY osd_moment)"
    longest = int(policy.closed.moves.below.max())
    ranked = (
        f"SELECT *, dense_rank() OVER {window} AS osd_turn, "
        f"osd_moment - lag(osd_moment) OVER {window} < {longest} AS osd_soon_after, "
        f"lead(osd_moment) OVER {window} - osd_moment < {longest} AS osd_soon_before "
        f"FROM ({placed}) osd_w"
    )
    same = " AND ".join(f"osd_x.{key} = osd_y.{key}" for key in keys)
    moved = (
        f"SELECT {', '.join(f'osd_x.{name}' for name in names)}, TRUE AS osd_row "
        "FROM (SELECT * FROM osd_v WHERE osd_soon_before) osd_x "
        "JOIN (SELECT * FROM osd_v WHERE osd_soon_after) osd_y "
        f"ON {same} AND osd_x.osd_turn + 1 = osd_y.osd_turn "
        f"JOIN {policy.held.moves} osd_z "
        "ON osd_x.osd_number = osd_z.osd_from AND osd_y.osd_number = osd_z.osd_to "
        "WHERE osd_y.osd_moment - osd_x.osd_moment < osd_z.osd_below"
    )
    return f"(WITH osd_v AS ({ranked}) SELECT {columns}, {alone} FROM osd_v UNION ALL {moved})"
