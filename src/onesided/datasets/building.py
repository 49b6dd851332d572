"""A made-up trace of Wi-Fi associations in a building, in the shape of the trace of the paper.

At scale 1 there are 64 access points, 16,000 devices and about 585,000 device-days over nine
months; 381 residents own about 43,000 of them. A smaller scale has fewer people in the same
building over the same months. The same scale and seed give the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from onesided.data.output import new_files
from onesided.datasets.floorplan import FloorPlan
from onesided.datasets.movement import Movement, Sightings
from onesided.datasets.people import Calendar, People, populate
from onesided.errors import OutputError, RequestError
from onesided.randomness import Randomness, seeded

LARGEST_SCALE = 10.0
ROW_GROUP_ROWS = 1 << 19

VISITS = "visits.parquet"
ACCESS_POINTS = "access_points.parquet"
DEVICES = "devices.parquet"

VISITS_SCHEMA = pa.schema(
    [
        pa.field("device", pa.int64(), nullable=False),
        pa.field("day", pa.date32(), nullable=False),
        pa.field("ts", pa.timestamp("us"), nullable=False),
        pa.field("ap", pa.string(), nullable=False),
        pa.field("room", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("opted_out", pa.bool_(), nullable=False),
    ]
)


@dataclass(frozen=True)
class Building:
    """A simulated building; make one with `Building.simulate`."""

    scale: float
    seed: int

    @classmethod
    def simulate(cls, scale: float = 1.0, seed: int = 0) -> Building:
        """A building with `scale` times the people of the full trace; rows are drawn when read."""
        if not (math.isfinite(scale) and 0 < scale <= LARGEST_SCALE):
            raise RequestError(
                f"The scale of a simulation must be above 0 and at most {LARGEST_SCALE:g}."
            )
        return cls(scale, seed)

    @cached_property
    def people(self) -> People:
        """Everybody who owns a device: the truth that a real trace does not tell."""
        rng, *_ = self._sources()
        return populate(self.scale, self.plan, self.calendar, rng)

    @cached_property
    def plan(self) -> FloorPlan:
        return FloorPlan()

    @cached_property
    def calendar(self) -> Calendar:
        return Calendar()

    def access_points(self) -> pa.Table:
        """One row an access point: ap, room, kind, floor, x, y."""
        return self.plan.table()

    def devices(self) -> pa.Table:
        """One row a device: device, role, resident, opted_out, days."""
        return self.people.table()

    def visits(self) -> Iterator[pa.RecordBatch]:
        """The associations in the order of time, a batch a day; columns as `VISITS_SCHEMA`."""
        movement = Movement(self.plan)
        _, *sources = self._sources()
        for number, (day, rng) in enumerate(zip(self.calendar.days, sources, strict=True)):
            here = np.flatnonzero(self.people.comes[:, number])
            sightings = movement.day(
                self.people.role[here], self.people.usual_room[here], rng.generator()
            )
            yield self._batch(day, here[sightings.stay], sightings)

    def write(
        self,
        directory: Path,
        *,
        overwrite: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Write visits.parquet, access_points.parquet and devices.parquet, all or none.

        `progress` is told after each day how many days of how many are done.
        """
        targets = [directory / name for name in (VISITS, ACCESS_POINTS, DEVICES)]
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with new_files(targets, overwrite=overwrite) as workspace:
                pq.write_table(self.access_points(), workspace / ACCESS_POINTS)
                pq.write_table(self.devices(), workspace / DEVICES)
                self._write_visits(workspace / VISITS, progress)
        except OSError:
            raise OutputError(
                f"The building cannot be written into {directory}: name a folder that is writable "
                "and has room."
            ) from None

    def _write_visits(self, path: Path, progress: Callable[[int, int], None] | None) -> None:
        """Gather days into row groups of a size that scans well; no more is held in memory."""
        last = len(self.calendar.days)
        waiting: list[pa.RecordBatch] = []
        with pq.ParquetWriter(path, VISITS_SCHEMA) as writer:
            for number, batch in enumerate(self.visits(), start=1):
                waiting.append(batch)
                rows = sum(each.num_rows for each in waiting)
                if rows >= ROW_GROUP_ROWS or number == last:
                    writer.write_table(pa.Table.from_batches(waiting), row_group_size=max(1, rows))
                    waiting = []
                if progress is not None:
                    progress(number, last)

    def _sources(self) -> list[Randomness]:
        """Independent randomness for the people and for each day, the same at every call."""
        return seeded(self.seed).spawn(1 + len(self.calendar.days))

    def _batch(self, day: date, device: NDArray[np.int64], sightings: Sightings) -> pa.RecordBatch:
        midnight = np.datetime64(day, "us")
        aps = self.access_points()
        ap = pa.array(sightings.ap)
        return pa.record_batch(
            [
                pa.array(device, pa.int64()),
                pa.repeat(pa.scalar(day, pa.date32()), device.size),
                pa.array(midnight + sightings.seconds.astype("timedelta64[s]")),
                *(aps[name].combine_chunks().take(ap) for name in ("ap", "room", "kind")),
                pa.array(self.people.opted_out[device]),
            ],
            schema=VISITS_SCHEMA,
        )
