"""Trajectories, made once and kept beside the results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from onesided.datasets.building import VISITS, Building
from onesided.datasets.residents import residents
from onesided.datasets.wifi import republica_archive, republica_trajectories, trajectories
from onesided.experiments.journeys import Journeys
from onesided.experiments.setting import ReproductionSetting, Trace
from onesided.experiments.trial import Trial

BUILDING_SLOT = 10
REPUBLICA_SLOT = 15
REGULAR_DAYS = 3
"""Who came to the conference on so many of its days is to be told from who did not."""

Say = Callable[[str], None]


def available_traces() -> tuple[Trace, ...]:
    """The simulated building always, and the real trace where the data folder has it."""
    return tuple(Trace) if republica_archive() is not None else (Trace.BUILDING,)


def prepare(setting: ReproductionSetting, say: Say) -> None:
    """Make the trajectories that are not there yet, from published data first.

    A damaged file is so found before the long work of a simulation.
    """
    setting.cache.mkdir(parents=True, exist_ok=True)
    for trace in sorted(setting.traces, key=lambda trace: trace is Trace.BUILDING):
        path = journeys_path(setting, trace)
        if not path.is_file():
            say(f"Preparing the {trace.title}")
            made = _building(setting) if trace is Trace.BUILDING else _republica(setting)
            made.save(path)


def journeys_path(setting: ReproductionSetting, trace: Trace) -> Path:
    """Named by everything that the content depends on beside the code."""
    size = f"-{setting.size.scale:g}-{setting.seed}" if trace is Trace.BUILDING else ""
    return setting.cache / f"{trace.value}{size}.npz"


def journeys_of(trial: Trial, setting: ReproductionSetting) -> Journeys:
    """The prepared trajectories that a trial is about."""
    return Journeys.load(journeys_path(setting, Trace(trial["trace"])))


def _building(setting: ReproductionSetting) -> Journeys:
    with TemporaryDirectory(dir=setting.cache, prefix=".building-") as private:
        folder = Path(private)
        Building.simulate(setting.size.scale, setting.seed).write(folder)
        trajectories(folder / VISITS, folder / "days.parquet", slot_minutes=BUILDING_SLOT)
        table = pq.read_table(folder / "days.parquet")
    who = residents(table, slot_minutes=BUILDING_SLOT)
    label = pc.is_in(table["device"], value_set=who).to_numpy()
    return Journeys.of(table, label, slot_minutes=BUILDING_SLOT)


def _republica(setting: ReproductionSetting) -> Journeys:
    with TemporaryDirectory(dir=setting.cache, prefix=".republica-") as private:
        path = Path(private) / "days.parquet"
        republica_trajectories(path, slot_minutes=REPUBLICA_SLOT)
        table = pq.read_table(path)
    return Journeys.of(table, _came_often(table), slot_minutes=REPUBLICA_SLOT)


def _came_often(table: pa.Table) -> NDArray[np.bool_]:
    """Whether the device of each row was seen on at least `REGULAR_DAYS` days."""
    days = table.group_by("device").aggregate([("day", "count_distinct")])
    often = days.filter(pc.greater_equal(days["day_count_distinct"], REGULAR_DAYS))
    return np.asarray(pc.is_in(table["device"], value_set=often["device"]).to_numpy())
