"""A small table of visits whose truth is known, for tests of sessions, engines and commands."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from onesided.randomness import seeded

POLICY = "room = 'clinic' OR NOT consent"
UNIT = ("device", "day")
ROOMS = ("cafe", "clinic", "hall", "lab", "office")
DAYS = 5


def visits(devices: int = 400, rows_a_unit: int = 4, seed: int = 1) -> pa.Table:
    """`devices` × 5 units of a few rows each; consent is sometimes NULL, rooms differ by unit."""
    units = devices * DAYS
    rng = seeded(seed)
    unit = rng.below(units, units * rows_a_unit)
    room = rng.below(20, len(unit))
    asked = rng.below(60, len(unit))
    minute = rng.below(24 * 60, len(unit))
    start = date(2024, 1, 1)
    days = [start + timedelta(days=int(each) % DAYS) for each in unit]
    return pa.table(
        {
            "device": pa.array((unit // DAYS).tolist(), pa.int32()),
            "day": pa.array(days, pa.date32()),
            "ts": pa.array(
                [
                    datetime.combine(day, datetime.min.time()) + timedelta(minutes=int(each))
                    for day, each in zip(days, minute, strict=True)
                ],
                pa.timestamp("us"),
            ),
            "room": pa.array([_room(int(each)) for each in room]),
            "consent": pa.array(
                [None if each == 0 else each != 1 for each in asked.tolist()], pa.bool_()
            ),
        }
    )


def write_visits(folder: Path, **size: int) -> Path:
    """The table as a Parquet file."""
    path = folder / "visits.parquet"
    pq.write_table(visits(**size), path, row_group_size=1000)
    return path


def sensitive_units(table: pa.Table) -> set[tuple[int, date]]:
    """The units that `POLICY` makes sensitive, by a reading of their rows in Python."""
    return {
        (row["device"], row["day"])
        for row in rows(table)
        if row["room"] == "clinic" or row["consent"] is not True
    }


def all_units(table: pa.Table) -> set[tuple[int, date]]:
    """Every unit that has a row."""
    return {(row["device"], row["day"]) for row in rows(table)}


def rows(table: pa.Table) -> Iterator[dict[str, object]]:
    yield from table.to_pylist()


def _room(number: int) -> str:
    """The clinic is rare, so that most units are not sensitive."""
    return ROOMS[1] if number == 0 else (*ROOMS[:1], *ROOMS[2:])[number % 4]
