"""The simulated building: shape, truth, determinism, files."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from onesided.datasets.building import VISITS_SCHEMA, Building
from onesided.datasets.floorplan import FloorPlan, RoomKind
from onesided.datasets.policies import LeastBusy
from onesided.datasets.residents import residents
from onesided.datasets.wifi import trajectories
from onesided.errors import OutputError, RequestError

SCALE = 0.01
FULL_DEVICES = 16_000
FULL_DEVICE_DAYS = 585_000
FULL_RESIDENTS = 381
FULL_RESIDENT_DAYS = 43_000
FULL_SHARES = (0.99, 0.9, 0.75, 0.5, 0.25, 0.1, 0.01)


@pytest.fixture(scope="module")
def building() -> Building:
    return Building.simulate(SCALE, seed=5)


@pytest.fixture(scope="module")
def visits(building: Building) -> pa.Table:
    return pa.Table.from_batches(building.visits())


def test_there_are_64_access_points_and_every_kind_of_room() -> None:
    table = FloorPlan().table()
    assert table.num_rows == len(set(table["ap"].to_pylist())) == 64
    assert set(table["kind"].to_pylist()) == {kind.value for kind in RoomKind}


def test_a_device_strays_to_others_but_never_to_itself() -> None:
    neighbours = FloorPlan().ap_neighbours
    assert not (neighbours == np.arange(64)[:, None]).any()


def test_visits_keep_their_schema_and_lie_within_the_nine_months(visits: pa.Table) -> None:
    assert visits.schema == VISITS_SCHEMA
    assert all(column.null_count == 0 for column in visits.columns)
    assert visits["ts"].cast(pa.date32()) == visits["day"]
    assert pc.min(visits["day"]).as_py() >= date(2016, 1, 1)
    assert pc.max(visits["day"]).as_py() <= date(2016, 9, 30)


def test_visits_come_in_the_order_of_time(visits: pa.Table) -> None:
    moments = visits["ts"].to_numpy()
    assert (moments[1:] >= moments[:-1]).all()


def test_the_device_table_tells_the_truth_about_the_visits(
    building: Building, visits: pa.Table
) -> None:
    days = visits.group_by(["device", "day"]).aggregate([]).group_by("device")
    seen = dict(zip(*days.aggregate([([], "count_all")]).to_pydict().values(), strict=True))
    devices = building.devices()
    assert seen == dict(
        zip(devices["device"].to_pylist(), devices["days"].to_pylist(), strict=True)
    )
    opted_out = set(pc.filter(devices["device"], devices["opted_out"]).to_pylist())
    assert set(pc.filter(visits["device"], visits["opted_out"]).to_pylist()) == opted_out


def test_a_small_scale_has_the_shape_of_the_full_one(building: Building) -> None:
    devices = building.devices()
    assert devices.num_rows == pytest.approx(FULL_DEVICES * SCALE, rel=0.05)
    assert pc.sum(devices["days"]).as_py() == pytest.approx(FULL_DEVICE_DAYS * SCALE, rel=0.15)
    assert pc.sum(devices["resident"]).as_py() == round(FULL_RESIDENTS * SCALE)


def test_rooms_follow_from_access_points(building: Building, visits: pa.Table) -> None:
    pairs = visits.group_by(["ap", "room", "kind"]).aggregate([]).to_pylist()
    plan = building.access_points().select(["ap", "room", "kind"]).to_pylist()
    assert all(pair in plan for pair in pairs)


def test_several_access_points_can_see_a_device_within_one_slot(visits: pa.Table) -> None:
    slot = pc.floor_temporal(visits["ts"], 10, "minute")
    slots = visits.append_column("slot", slot).group_by(["device", "slot"])
    seen = slots.aggregate([("ap", "count_distinct")])["ap_count_distinct"].to_numpy()
    assert 0.02 < (seen > 1).mean() < 0.5


def test_the_same_seed_gives_the_same_rows_and_another_does_not(visits: pa.Table) -> None:
    again = Building.simulate(SCALE, seed=5)
    assert pa.Table.from_batches(again.visits()) == visits
    assert pa.Table.from_batches(again.visits()) == visits
    assert next(Building.simulate(SCALE, seed=6).visits()) != visits.to_batches()[0]


def test_a_day_with_nobody_has_an_empty_batch() -> None:
    batches = list(Building.simulate(1e-6, seed=1).visits())
    assert len(batches) == 274
    assert min(batch.num_rows for batch in batches) == 0


@pytest.mark.parametrize("scale", [0.0, -1.0, 11.0, float("nan"), float("inf")])
def test_an_impossible_scale_is_refused(scale: float) -> None:
    with pytest.raises(RequestError, match="scale"):
        Building.simulate(scale)


def test_files_are_written_whole_and_not_replaced_unasked(
    building: Building, visits: pa.Table, tmp_path: Path
) -> None:
    told: list[tuple[int, int]] = []
    building.write(tmp_path / "made", progress=lambda done, last: told.append((done, last)))
    assert told == [(day, 274) for day in range(1, 275)]
    names = {"visits.parquet", "access_points.parquet", "devices.parquet"}
    assert {path.name for path in (tmp_path / "made").iterdir()} == names
    assert pq.read_table(tmp_path / "made" / "visits.parquet") == visits
    with pytest.raises(OutputError, match="exists already"):
        building.write(tmp_path / "made")


def test_a_place_that_is_no_folder_is_refused(building: Building, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="folder that is writable"):
        building.write(tmp_path / "file" / "made")


def test_residents_by_role_are_residents_by_definition(building: Building, tmp_path: Path) -> None:
    building.write(tmp_path)
    trajectories(tmp_path / "visits.parquet", tmp_path / "out.parquet")
    devices = building.devices()
    truth = set(pc.filter(devices["device"], devices["resident"]).to_pylist())
    assert set(residents(pq.read_table(tmp_path / "out.parquet")).to_pylist()) == truth


@pytest.mark.soak
def test_the_full_size_has_the_figures_of_the_paper(tmp_path: Path) -> None:
    building = Building.simulate(1.0, seed=7)
    building.write(tmp_path)
    trajectories(tmp_path / "visits.parquet", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet", columns=["device", "day", "ts", "ap"])
    devices = building.devices()
    resident = pc.is_in(devices["device"], residents(table))
    assert devices.num_rows == FULL_DEVICES
    assert pc.sum(devices["days"]).as_py() == pytest.approx(FULL_DEVICE_DAYS, rel=0.02)
    assert pc.sum(resident).as_py() == pytest.approx(FULL_RESIDENTS, abs=15)
    days = pc.sum(pc.filter(devices["days"], resident)).as_py()
    assert days == pytest.approx(FULL_RESIDENT_DAYS, rel=0.05)
    policies = LeastBusy.of(table)
    for share in FULL_SHARES:
        assert policies.nearest(share).share == pytest.approx(share, abs=0.025)
