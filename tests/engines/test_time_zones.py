"""Hours, weekdays and days in a declared zone: the same on every engine, by the pinned database."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tzdata

import onesided as osd
from onesided.cli import run
from onesided.data.units import Unit
from onesided.engine.base import Engine
from onesided.engine.datafusion.engine import DataFusionEngine
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.postgres.engine import PostgresEngine
from onesided.errors import LedgerError, PolicyError
from onesided.language.zones import END, FIRST, Zones, edition, offsets, on_the_wall
from support.engines import EngineName, count_query, counted, load, write

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe")
KEYS = ("hour(ts)", "weekday(ts)", "date(ts)")
ENGINES = [
    EngineName.DUCKDB,
    EngineName.DATAFUSION,
    EngineName.POSTGRES,
    pytest.param(EngineName.SPARK, marks=pytest.mark.soak),
]


def from_package(zone: str) -> ZoneInfo:
    with resources.files("tzdata").joinpath("zoneinfo", *zone.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file)


def moments(zone: str) -> list[datetime]:
    """Around some changes of the clocks, at the ends of the list, and outside of it."""
    changes = [start for start, _ in offsets(edition(zone))]
    near = [changes[place] for place in range(1, len(changes), max(1, len(changes) // 7))]
    steps = (timedelta(seconds=each) for each in (-3601, -1, 0, 1, 3599, 86_399))
    around = [change + step for step in steps for change in near]
    return [*around, FIRST, END - timedelta(microseconds=1), datetime(2026, 7, 1, 22, 30)]


def test_the_list_is_what_the_package_says() -> None:
    for zone in ZONES:
        known = from_package(zone)
        for days in range(0, 73_000, 3):
            moment = FIRST + timedelta(days=days, seconds=days * 7919 % 86_400)
            expected = moment.replace(tzinfo=UTC).astimezone(known).replace(tzinfo=None)
            assert on_the_wall(moment, edition(zone)) == expected
    assert on_the_wall(END, edition("UTC")) is None
    assert on_the_wall(FIRST - timedelta(microseconds=1), edition("UTC")) is None


@pytest.fixture(params=ENGINES, ids=lambda name: name.value)
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    def opened(table: pa.Table, zones: Zones) -> Engine:
        unit = Unit(("id",), zones=zones)
        match request.param:
            case EngineName.DUCKDB:
                return DuckDBEngine(write(table, tmp_path), unit)
            case EngineName.DATAFUSION:
                return DataFusionEngine(write(table, tmp_path), unit)
            case EngineName.POSTGRES:
                url = request.getfixturevalue("postgres_url")
                load(url, "visits", table)
                return PostgresEngine(url, "visits", unit)
            case _:
                from onesided.engine.spark.engine import SparkEngine

                spark = request.getfixturevalue("spark")
                return SparkEngine(write(table, tmp_path), unit, spark)

    return opened


@pytest.mark.one_in(3)
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("zoned", [True, False], ids=["zoned", "naive"])
def test_all_engines_show_the_same_clocks(opens: Any, zone: str, zoned: bool) -> None:
    known = from_package(zone)
    times = moments(zone)
    outside = [datetime(1899, 12, 31, 23), datetime(2100, 1, 1), None]
    kind = pa.timestamp("us", "UTC" if zoned else None)
    table = pa.table(
        {
            "id": pa.array(range(len(times) + len(outside)), pa.int64()),
            "ts": pa.array([*times, *outside], pa.timestamp("us")).cast(kind),
        }
    )
    engine = opens(table, Zones.of(zone if zoned else {"ts": zone}))
    expected = set()
    for place, moment in enumerate(times):
        local = moment.replace(tzinfo=UTC).astimezone(known)
        expected.add((place, local.hour, local.isoweekday(), local.date()))
    for place in range(len(outside)):
        expected.add((len(times) + place, None, None, None))
    found = counted(engine.count(count_query(engine, "FALSE", ["id", *KEYS])))
    assert {row[:4] for row in found} == expected
    engine.close()


def visits() -> pa.Table:
    times = [
        datetime(2026, 1, 1, 22, 30),
        datetime(2026, 1, 1, 23, 30),
        datetime(2026, 7, 1, 22, 30),
    ]
    return pa.table(
        {
            "device": pa.array([1, 1, 2], pa.int64()),
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "naive": pa.array(times, pa.timestamp("us")),
        }
    )


ABOUT: dict[str, Any] = {"policy": "hour(ts) = 5", "budget": 5, "name": "visits"}


def test_units_policies_and_requests_follow_the_zone(tmp_path: Path) -> None:
    zone = {"time_zone": "Europe/Berlin"}
    with osd.open(visits(), unit="device,date(ts)", **ABOUT) as utc:
        assert utc.units == 2
    with osd.open(visits(), unit="device,date(ts)", **ABOUT, **zone) as local:
        assert local.units == 3
        assert local.policy.sql == "hour(ts) = 5"
        release = local.count(by="hour(ts)", max_groups=1, epsilon=1)
        assert release.receipt["time_zones"] == {"ts": f"Europe/Berlin {tzdata.IANA_VERSION}"}
    with osd.open(visits(), unit="rows", policy="hour(ts) = 23", budget=40, **zone) as dataset:
        rows = dataset.sample(40, yes=True).to_arrow()
        assert rows["naive"].to_pylist() == [
            visits()["naive"][1].as_py(),
            visits()["naive"][2].as_py(),
        ]


def test_an_account_keeps_its_zone_and_the_edition_of_the_database(tmp_path: Path) -> None:
    ledger = {"ledger": tmp_path / "visits.ledger", "unit": "rows", **ABOUT}
    with osd.open(visits(), **ledger, time_zone="Europe/Berlin") as dataset:
        dataset.count(epsilon=1)
    with osd.open(visits(), **ledger, time_zone="Europe/Berlin") as dataset:
        assert dataset.budget.spent == 1
    for other in ({"time_zone": "Europe/Paris"}, {"time_zone": {"naive": "Europe/Berlin"}}, {}):
        with (
            pytest.raises(LedgerError, match="time zones"),
            osd.open(visits(), **ledger, **other) as dataset,
        ):
            dataset.count(epsilon=1)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Europe/Berln", "did you mean Europe/Berlin"),
        ("../secret", "no time zone"),
        (7, "A time zone is a name"),
        ({"device": "Europe/Berlin"}, "only timestamps have a zone"),
    ],
    ids=str,
)
def test_zones_that_mean_nothing_are_refused(said: Any, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        osd.open(visits(), unit="rows", time_zone=said, **ABOUT)


def test_a_zone_without_a_column_for_it_is_refused() -> None:
    table = visits().drop_columns("ts").rename_columns(["device", "ts"])
    with pytest.raises(PolicyError, match="No column has a type with a time zone"):
        osd.open(table, unit="rows", time_zone="Europe/Berlin", **ABOUT)


def test_policies_in_the_reference_agree() -> None:
    from onesided.language import Predicate

    schema = Zones.of({"ts": "Europe/Berlin"}).applied(DuckDBEngine(visits(), Unit()).schema)
    bound = Predicate.parse("date(ts) = DATE '2026-07-02' AND weekday(ts) = 4").bind(schema)
    assert bound.evaluate({"ts": datetime(2026, 7, 1, 22, 30)}) is True
    assert bound.evaluate({"ts": datetime(2026, 7, 1, 21, 30)}) is False
    assert bound.evaluate({"ts": datetime(2126, 7, 1, 21, 30)}) is None
    assert date(2026, 7, 2).isoweekday() == 4


def test_a_check_says_which_clocks_are_read() -> None:
    with osd.open(visits(), unit="rows", time_zone="Europe/Berlin", **ABOUT) as dataset:
        notes = {each.name: each.note for each in dataset.check().columns}
    assert notes["ts"] == f"hours and days are those in Europe/Berlin {tzdata.IANA_VERSION}"
    assert notes["naive"] == "a time without a zone, as it is written"
    with osd.open(visits(), unit="rows", **ABOUT) as dataset:
        assert "in UTC unless time_zone is said" in dataset.check().columns[1].note


def test_plans_name_the_zone_as_receipts_do(tmp_path: Path) -> None:
    said = f"hours and days of ts are those in Europe/Berlin {tzdata.IANA_VERSION}"
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table({"id": [1], "ts": pa.array([0], pa.timestamp("us", "UTC"))}), path)
    options: dict[str, Any] = {"unit": "id", "policy": "hour(ts) < 6"}
    with osd.open(path, time_zone="Europe/Berlin", **options) as data:
        for plan in (data.plan("hour(ts)", epsilon=1), data.plan.sample(1)):
            assert plan.to_json()["time_zones"] == [said]
            assert said in str(plan)
            assert said in plan._repr_html_()
    with osd.open(path, **options) as data:
        assert data.plan.sample(1).time_zones == ()


def test_the_command_shows_the_zone_of_a_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table({"id": [1], "ts": pa.array([0], pa.timestamp("us", "UTC"))}), path)
    asked = [str(path), "--unit", "id", "--policy", "hour(ts) < 6", "--epsilon", "1"]
    assert run(["plan", *asked, "--time-zone", "Europe/Berlin"]) == 0
    assert "hours and days of ts are those in Europe/Berlin" in capsys.readouterr().out
