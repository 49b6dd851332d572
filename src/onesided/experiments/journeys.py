"""Daily trajectories as arrays: what the measurements on traces work on."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data.histogram import Floats
from onesided.datasets.policies import LeastBusy
from onesided.experiments.incidence import Incidence

HOURS = 24
MINUTES_AN_HOUR = 60


@dataclass(frozen=True, kw_only=True)
class Journeys:
    """Device-days (units), one after the other.

    - `starts`: where each unit's slots begin, and the number of slots at the end.
    - `slot`, `ap`: for each slot of a unit its number in the day, and the access point; access
      points are numbered from the least to the most busy.
    - `shares`: shares[k] of the units pass none of the k least busy access points.
    - `device`, `day`: of each unit.
    - `label`: what a classifier is to tell, for each unit.
    """

    starts: NDArray[np.int64]
    slot: NDArray[np.int64]
    ap: NDArray[np.int64]
    shares: Floats
    device: NDArray[np.int64]
    day: NDArray[np.int64]
    label: NDArray[np.bool_]
    slot_minutes: int

    @classmethod
    def of(cls, table: pa.Table, label: NDArray[np.bool_], *, slot_minutes: int) -> Journeys:
        """From trajectories sorted by device, day and slot, with a `label` for every row."""
        ranked = LeastBusy.of(table)
        rank = {name: number for number, name in enumerate(ranked.access_points)}
        encoded = table["ap"].combine_chunks().dictionary_encode()
        code = np.array([rank[name] for name in encoded.dictionary.to_pylist()], dtype=np.int64)
        device = table["device"].to_numpy().astype(np.int64)
        day = table["day"].to_numpy().astype("datetime64[D]").astype(np.int64)
        new = (np.diff(device, prepend=-1) != 0) | (np.diff(day, prepend=-1) != 0)
        first = np.flatnonzero(new)
        return cls(
            starts=np.append(first, device.size),
            slot=table["slot"].to_numpy().astype(np.int64),
            ap=code[encoded.indices.to_numpy()],
            shares=ranked.shares,
            device=device[first],
            day=day[first],
            label=label[first],
            slot_minutes=slot_minutes,
        )

    @classmethod
    def load(cls, path: Path) -> Journeys:
        with np.load(path) as stored:
            arrays = {each.name: stored[each.name] for each in fields(cls)}
        return cls(**{**arrays, "slot_minutes": int(arrays["slot_minutes"])})

    def save(self, path: Path) -> None:
        draft = path.with_suffix(".draft.npz")
        np.savez(draft, **{each.name: getattr(self, each.name) for each in fields(self)})
        os.replace(draft, path)

    @property
    def units(self) -> int:
        return self.device.size

    @property
    def access_points(self) -> int:
        return self.shares.size - 1

    @cached_property
    def unit(self) -> NDArray[np.int64]:
        """The number of the unit that each slot belongs to."""
        return np.repeat(np.arange(self.units), np.diff(self.starts))

    def sensitive_points(self, share: float) -> int:
        """P_ρ: how many of the least busy access points leave nearest to `share` = ρ/100."""
        return int(np.argmin(np.abs(self.shares - share)))

    def nonsensitive(self, share: float) -> NDArray[np.bool_]:
        """Which units are not sensitive under P_ρ, ρ/100 = `share`."""
        least = np.minimum.reduceat(self.ap, self.starts[:-1])
        return np.asarray(least >= self.sensitive_points(share))

    def only(self, chosen: NDArray[np.int64]) -> Journeys:
        """The units with these numbers, in this order."""
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        slots = np.repeat(self.starts[chosen] - starts[:-1], lengths) + np.arange(starts[-1])
        return Journeys(
            starts=starts,
            slot=self.slot[slots],
            ap=self.ap[slots],
            shares=self.shares,
            device=self.device[chosen],
            day=self.day[chosen],
            label=self.label[chosen],
            slot_minutes=self.slot_minutes,
        )

    def windows(self, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every run of `n` consecutive slots: its unit, and the code of its access points.

        The code of (a₁, …, aₙ) is the number with these digits to the base of `access_points`.
        """
        last = np.arange(n - 1, self.slot.size)
        first = last - (n - 1)
        whole = (self.unit[first] == self.unit[last]) & (
            self.slot[last] - self.slot[first] == n - 1
        )
        begin = first[whole]
        code = np.zeros(begin.size, dtype=np.int64)
        for step in range(n):
            code = code * self.access_points + self.ap[begin + step]
        return self.unit[begin], code

    def grams(self, n: int) -> Incidence:
        """Which unit has which n-grams; the cells are the n-grams that occur."""
        unit, code = self.windows(n)
        occurring, cell = np.unique(code, return_inverse=True)
        return Incidence.of(unit, cell, units=self.units, cells=occurring.size)

    def busiest_day(self) -> Journeys:
        """The units of the day that has most of them."""
        days, count = np.unique(self.day, return_counts=True)
        return self.only(np.flatnonzero(self.day == days[np.argmax(count)]))

    def occupancy(self) -> Incidence:
        """Which unit was at which access point in which hour; cells are in row-major order."""
        hour = self.slot * self.slot_minutes // MINUTES_AN_HOUR
        cells = self.access_points * HOURS
        return Incidence.of(self.unit, self.ap * HOURS + hour, units=self.units, cells=cells)
