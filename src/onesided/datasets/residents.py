"""Who is a resident of the building: the label that the paper's classifier learns.

A device belongs to a resident when two things held over the last `MONTHS` calendar months of the
trace. It was there on at least `DAYS_A_MONTH` days of every month. And once a week it was there
after 19:00, or once a week for more than six hours at a stretch. "Once a week" is read as a rate:
as many such days as the period has whole weeks, so that a holiday does not turn a resident into a
visitor. A stretch survives gaps of up to `GAP_MINUTES` between slots, because phones sleep.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

MONTHS = 5
DAYS_A_MONTH = 10
LATE_HOUR = 19
LONG_MINUTES = 6 * 60
GAP_MINUTES = 30
MINUTES_A_DAY = 24 * 60
DAYS_A_WEEK = 7


@dataclass(frozen=True, kw_only=True)
class _DeviceDays:
    """One element a device-day: which device, which day, whether it was late or long."""

    device: NDArray[np.int64]
    day: NDArray[np.int64]
    late: NDArray[np.bool_]
    long: NDArray[np.bool_]


def residents(trajectories: pa.Table, *, slot_minutes: int = 10) -> pa.Array:
    """The resident devices in a table with the columns device and ts (the start of a slot)."""
    encoded = trajectories["device"].combine_chunks().dictionary_encode()
    device = encoded.indices.to_numpy().astype(np.int64)
    minute = trajectories["ts"].combine_chunks().to_numpy().astype("datetime64[m]").astype(np.int64)
    if not device.size:
        return encoded.dictionary
    first_month = np.datetime64(int(minute.max()), "m").astype("datetime64[M]") - (MONTHS - 1)
    first_day = first_month.astype("datetime64[D]").astype(np.int64)
    recent = minute >= first_day * MINUTES_A_DAY
    days = _device_days(device[recent], minute[recent], slot_minutes)
    last_day = (first_month + MONTHS).astype("datetime64[D]").astype(np.int64)
    weeks = (last_day - first_day) // DAYS_A_WEEK

    count = len(encoded.dictionary)
    regular = _days_by_month(days, count, first_month).min(axis=1) >= DAYS_A_MONTH
    late = np.bincount(days.device[days.late], minlength=count) >= weeks
    long = np.bincount(days.device[days.long], minlength=count) >= weeks
    return encoded.dictionary.filter(pa.array(regular & (late | long)))


def _device_days(
    device: NDArray[np.int64], minute: NDArray[np.int64], slot_minutes: int
) -> _DeviceDays:
    """Fold slots into device-days."""
    order = np.lexsort((minute, device))
    device, minute = device[order], minute[order]
    day = minute // MINUTES_A_DAY
    new_day = (np.diff(device, prepend=-1) != 0) | (np.diff(day, prepend=-1) != 0)
    gap = np.diff(minute, prepend=0) - slot_minutes
    starts = np.flatnonzero(new_day | (gap > GAP_MINUTES))
    ends = np.append(starts[1:], device.size) - 1
    stretch = minute[ends] + slot_minutes - minute[starts]
    number = np.cumsum(new_day) - 1
    days = int(number[-1]) + 1
    longest = np.zeros(days, dtype=np.int64)
    np.maximum.at(longest, number[starts], stretch)
    last = np.append(np.flatnonzero(new_day)[1:], device.size) - 1
    return _DeviceDays(
        device=device[last],
        day=day[last],
        late=minute[last] % MINUTES_A_DAY >= LATE_HOUR * 60,
        long=longest > LONG_MINUTES,
    )


def _days_by_month(
    days: _DeviceDays, devices: int, first_month: np.datetime64
) -> NDArray[np.int64]:
    """Number of days [device, month of the period]."""
    month = days.day.astype("datetime64[D]").astype("datetime64[M]") - first_month
    cell = days.device * MONTHS + month.astype(np.int64)
    return np.bincount(cell, minlength=devices * MONTHS).reshape(devices, MONTHS)
