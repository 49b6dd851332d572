"""What is particular to Spark: names of files, folders of samples, retries, and its failures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.data.units import Unit
from onesided.engine.duckdb import DuckDBEngine
from onesided.engine.spark import SparkEngine
from onesided.engine.spark_session import settings
from onesided.errors import OutputError, ReleaseFailed, RequestError, SourceError
from support.engines import KEY, comparable, count_query, counted, sample_query, sampled
from support.trouble import full_disk
from support.visits import POLICY, UNIT, visits, write_visits

SECONDS = 420


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files in folders, with names that need quoting, sort oddly or look like partitions."""
    top = tmp_path_factory.mktemp("lake house")
    table = visits(devices=40)
    names = ("b%20.parquet", "b .parquet", "day=1/é.parquet", "a/[x]{y}*.parquet", "a/🙂.parquet")
    size = -(-len(table) // len(names))
    for number, name in enumerate(names):
        path = top / name
        path.parent.mkdir(exist_ok=True)
        pq.write_table(table.slice(number * size, size), path, row_group_size=50)
    return top


@pytest.mark.parametrize("unit", [(), UNIT], ids=["row", "key"])
def test_a_folder_gives_the_same_as_on_the_embedded_engine(
    spark: Any, folder: Path, unit: tuple[str, ...]
) -> None:
    here, there = DuckDBEngine(folder, Unit(unit)), SparkEngine(folder, Unit(unit), spark)
    query = sample_query(there, POLICY)
    assert comparable(sampled(there, query)) == comparable(sampled(here, query))
    counts = count_query(there, POLICY, ["room", "hour(ts)"], max_groups=2)
    assert counted(there.count(counts)) == counted(here.count(counts))
    assert there.inspect() == here.inspect()
    assert there.fingerprint() == here.fingerprint()
    for engine in (here, there):
        engine.close()


def test_times_with_a_zone_are_read_in_utc(spark: Any, tmp_path: Path) -> None:
    naive = visits(devices=3)
    place = naive.schema.get_field_index("ts")
    zoned = naive.set_column(place, "ts", naive.column("ts").cast(pa.timestamp("us", "UTC")))
    pq.write_table(zoned, tmp_path / "zoned.parquet")
    here = DuckDBEngine(tmp_path / "zoned.parquet", Unit(("device", "ts")))
    there = SparkEngine(tmp_path / "zoned.parquet", Unit(("device", "ts")), spark)
    query = sample_query(there, "room = 'clinic'", where="hour(ts) < 12")
    assert comparable(sampled(there, query)) == comparable(sampled(here, query))
    for engine in (here, there):
        engine.close()


def test_how_the_work_is_cut_changes_nothing(spark: Any, folder: Path) -> None:
    engine = SparkEngine(folder, Unit(UNIT), spark)
    rows = SparkEngine(folder, Unit(), spark)
    first = [sampled(each, sample_query(each, POLICY)) for each in (engine, rows)]
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "5")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4096")
    try:
        again = [sampled(each, sample_query(each, POLICY)) for each in (engine, rows)]
        assert spark.conf.get("spark.sql.shuffle.partitions") == "5"
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert again == first
    for each in (engine, rows):
        each.close()


@pytest.mark.parametrize("few", [0, 1000], ids=["many units", "few units"])
@pytest.mark.parametrize("columns", [None, ["room", "ts"]], ids=["key", "no key"])
def test_how_many_units_there_are_changes_nothing(
    spark: Any,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    few: int,
    columns: list[str] | None,
) -> None:
    monkeypatch.setattr("onesided.engine.spark.FEW_UNITS", few)
    monkeypatch.setattr("onesided.engine.spark.UNITS_A_PARTITION", 90)
    here, there = DuckDBEngine(folder, Unit(UNIT)), SparkEngine(folder, Unit(UNIT), spark)
    there.inspect()
    query = sample_query(here, POLICY, columns=columns, where="room <> 'hall'")
    there.place(query, str(tmp_path / "sample"))
    files = sorted((tmp_path / "sample").iterdir())
    stored = [tuple(row.values()) for file in files for row in pq.read_table(file).to_pylist()]
    assert comparable(stored) == comparable(sampled(here, query))
    assert len(files) == 2
    for engine in (here, there):
        engine.close()


def test_few_units_need_no_shuffle_of_all_rows(spark: Any, folder: Path) -> None:
    engine: Any = SparkEngine(folder, Unit(UNIT), spark)
    engine.inspect()
    with engine._prepared(sample_query(engine, POLICY)) as frame:
        plan = frame._jdf.queryExecution().executedPlan().toString()
    engine.close()
    assert "BroadcastHashJoin" in plan
    above, below = plan.split("BroadcastHashJoin")
    assert above.count("Exchange") == 1  # of the kept rows
    assert "SortMergeJoin" not in below


@pytest.mark.parametrize("rows_a_scan", [0, 2**40], ids=["a scan a file", "one scan"])
@pytest.mark.parametrize("block", [2**20, 64], ids=["whole files", "blocks"])
def test_how_files_are_scanned_changes_nothing(
    spark: Any,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows_a_scan: int,
    block: int,
) -> None:
    """Single rows: every plan writes the same rows, cut at the same places of the source."""
    monkeypatch.setattr("onesided.engine.spark_source.ROWS_A_SCAN", rows_a_scan)
    monkeypatch.setattr("onesided.engine.spark_source.BLOCK_ROWS", block)
    here, there = DuckDBEngine(folder, Unit()), SparkEngine(folder, Unit(), spark)
    query = sample_query(there, POLICY)
    with settings(spark, {"spark.sql.files.maxPartitionBytes": "2048"}):
        there.place(query, str(tmp_path / "sample"))
    files = sorted((tmp_path / "sample").iterdir())
    stored = [tuple(row.values()) for file in files for row in pq.read_table(file).to_pylist()]
    assert comparable(stored) == comparable(sampled(here, query))
    sources = [pq.read_metadata(file).num_rows for file in sorted(folder.rglob("*.parquet"))]
    assert len(files) == sum(-(-rows // block) for rows in sources)
    for engine in (here, there):
        engine.close()


def test_whole_files_move_no_rows(
    spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onesided.engine.spark_source.ROWS_A_SCAN", 0)
    engine: Any = SparkEngine(folder, Unit(), spark)
    with engine._prepared(sample_query(engine, POLICY)) as frame:
        plan = frame._jdf.queryExecution().executedPlan().toString()
        tasks = frame._jdf.queryExecution().executedPlan().execute().getNumPartitions()
    engine.close()
    assert "Exchange" not in plan
    assert "Sort" not in plan
    assert tasks == len(list(folder.rglob("*.parquet")))


@pytest.mark.parametrize("unit", [Unit(), Unit(UNIT)], ids=["rows", "keys"])
def test_no_python_runs_on_the_executors(spark: Any, folder: Path, unit: Unit) -> None:
    engine: Any = SparkEngine(folder, unit, spark)
    with engine._prepared(sample_query(engine, POLICY)) as frame:
        plan = frame._jdf.queryExecution().toString()
    engine.close()
    assert "LocalTableScan" in plan
    assert "ExistingRDD" not in plan


def test_the_executors_write_a_folder(spark: Any, folder: Path, tmp_path: Path) -> None:
    engine = SparkEngine(folder, Unit(UNIT), spark)
    query = sample_query(engine, POLICY)
    target = tmp_path / "sample"
    rows = engine.place(query, str(target))
    files = sorted(target.iterdir())
    assert all(file.suffix == ".parquet" for file in files)
    stored = [tuple(row.values()) for file in files for row in pq.read_table(file).to_pylist()]
    assert comparable(stored) == comparable(sampled(engine, query))
    assert rows == len(stored)
    with pytest.raises(OutputError, match="exists already"):
        engine.check_place(str(target))
    with pytest.raises(OutputError, match="writable"):
        engine.check_place(str(tmp_path / "missing" / "sample"))
    engine.close()


def test_no_plan_shows_the_coin_key(spark: Any, folder: Path) -> None:
    engine: Any = SparkEngine(folder, Unit(UNIT), spark)
    query = sample_query(engine, POLICY)
    with engine._prepared(query) as frame:
        plan = frame._jdf.queryExecution().toString()
    assert query.coins.threshold in plan
    assert KEY not in plan
    assert not any(view.name.startswith("osd_") for view in _views(spark, engine))
    engine.close()
    assert not [view for view in spark.catalog.listTables() if view.name.startswith("osd_")]


def test_a_filter_reaches_the_files(spark: Any, folder: Path) -> None:
    engine: Any = SparkEngine(folder, Unit(), spark)
    with engine._prepared(sample_query(engine, POLICY, where="device < 3")) as frame:
        plan = frame._jdf.queryExecution().toString()
    assert "LessThan(device,3)" in plan
    engine.close()


def _views(spark: Any, engine: Any) -> list[Any]:
    """The views beside the engine's own source."""
    return [view for view in spark.catalog.listTables() if view.name != engine._view]


def test_tables_and_frames_need_a_key_and_a_version(spark: Any, folder: Path) -> None:
    frame = spark.read.option("recursiveFileLookup", "true").parquet(str(folder))
    with pytest.raises(SourceError, match="name the key"):
        SparkEngine(frame, Unit(), spark)
    engine = SparkEngine(frame, Unit(UNIT), spark)
    with pytest.raises(SourceError, match="version"):
        engine.fingerprint()
    here = DuckDBEngine(folder, Unit(UNIT))
    query = sample_query(engine, POLICY)
    assert comparable(sampled(engine, query)) == comparable(sampled(here, query))
    frame.createOrReplaceTempView("visits")
    table = SparkEngine(None, Unit(UNIT), spark, table="visits")
    assert table.inspect() == here.inspect()
    for each in (engine, here, table):
        each.close()


def test_what_is_refused(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("device,day\n1,2\n")
    with pytest.raises(SourceError, match="Parquet"):
        SparkEngine(tmp_path / "visits.csv", Unit(("device",)), spark)
    with pytest.raises(SourceError, match="There is no file"):
        SparkEngine(tmp_path / "none.parquet", Unit(("device",)), spark)
    with pytest.raises(SourceError, match="check the connection"):
        SparkEngine(None, Unit(("device",)), spark, table="no_such_table")
    with pytest.raises(SourceError, match="must be a SparkSession"):
        SparkEngine(tmp_path, Unit(("device",)), 7)
    with pytest.raises(SourceError, match="runs in this process already"):
        SparkEngine(tmp_path, Unit(("device",)), "local[2]")
    pq.write_table(pa.table({"id": [1], "tags": [["a"]]}), tmp_path / "lists.parquet")
    engine = SparkEngine(tmp_path / "lists.parquet", Unit(("id",)), spark)
    with pytest.raises(RequestError, match="tags"):
        engine.output_schema(("id", "tags"))
    engine.close()
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 secret cell PAR1")
    with pytest.raises(SourceError) as refusal:
        SparkEngine(tmp_path / "broken.parquet", Unit(("id",)), spark)
    assert "secret" not in str(refusal.value)


def test_a_session_on_spark(spark: Any, tmp_path: Path) -> None:
    path = write_visits(tmp_path, devices=60)
    settings: dict[str, Any] = {"unit": UNIT, "policy": POLICY, "budget": 3}
    ledger = tmp_path / "visits.ledger"
    with osd.open(path, connection=spark, ledger=ledger, **settings) as there:
        placed = there.sample(1, into=str(tmp_path / "sample"))
        sample = there.sample(1)
        counts = there.count("room", epsilon=1, max_groups=1, mechanism="rr")
        spent = there.budget.spent
    with osd.open(path, ledger=ledger, **settings) as here:
        assert here.sample(1).table.equals(sample.table)
        assert here.count("room", epsilon=1, max_groups=1, mechanism="rr").table.equals(
            counts.table
        )
        assert here.budget.spent == spent
    assert pq.read_table(tmp_path / "sample").num_rows == len(sample.table)
    with pytest.raises(RequestError, match="read them there"):
        placed.to_arrow()


def test_a_file_that_vanishes_after_the_charge(spark: Any, tmp_path: Path) -> None:
    path = write_visits(tmp_path, devices=20)
    content = path.read_bytes()
    with osd.open(path, connection=spark, unit=UNIT, policy=POLICY, budget=1, version="1") as data:
        path.write_bytes(b"")
        with pytest.raises(ReleaseFailed, match="charge, which stands") as failure:
            data.sample(1, into=str(tmp_path / "sample"))
        assert "parquet" not in str(failure.value)
        assert not [each for each in tmp_path.iterdir() if "sample" in each.name or each.is_dir()]
        assert data.budget.spent == 1
        path.write_bytes(content)
        data.sample(1, into=str(tmp_path / "sample"))
        assert data.budget.spent == 1


@pytest.fixture
def charged(spark: Any, tmp_path: Path) -> Iterator[Any]:
    """A data set on Spark; whatever fails there, the charge stands once and a retry is free."""
    path = write_visits(tmp_path, devices=400)
    with osd.open(path, connection=spark, unit=UNIT, policy=POLICY, budget=1, version="1") as data:
        yield data
        assert data.budget.spent == 1
        data.sample(1, into=str(tmp_path / "again"))
        assert data.budget.spent == 1
    assert {each.name for each in tmp_path.iterdir()} == {path.name, "again"}


FAILED = "Spark failed after the charge, which stands"


def test_a_full_disk(charged: Any, spark: Any, tmp_path: Path) -> None:
    machine = spark.sparkContext._gateway.proc.pid
    with full_disk(machine, 8 * 1024), pytest.raises(ReleaseFailed, match=FAILED):
        charged.sample(1, into=str(tmp_path / "sample"))


def test_a_column_that_changes_its_type(charged: Any, tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    content, table = path.read_bytes(), pq.read_table(path)
    place = table.schema.get_field_index("device")
    texts = pa.array([f"secret {each}" for each in table.column("device").to_pylist()])
    pq.write_table(table.set_column(place, "device", texts), path)
    with pytest.raises(ReleaseFailed, match=FAILED) as failure:
        charged.sample(1, into=str(tmp_path / "sample"))
    assert "secret" not in str(failure.value)
    path.write_bytes(content)


def test_a_place_that_the_system_refuses(charged: Any) -> None:
    if os.geteuid() == 0:  # who is stopped by no mode, and so only finds out on the way
        with pytest.raises(ReleaseFailed, match=FAILED):
            charged.sample(1, into="/proc/sample")
    else:
        with pytest.raises(OutputError, match="writable"):
            charged.sample(1, into="/proc/sample")
        charged.sample(1)


def test_a_cluster_that_loses_an_executor(tmp_path: Path) -> None:
    """Two workers in processes of their own; one is killed while the sample is being written."""
    path = write_visits(tmp_path, devices=800)
    script = Path(__file__).parents[1] / "support" / "spark_cluster.py"
    finished = subprocess.run(
        [sys.executable, str(script), str(path), str(tmp_path / "sample"), KEY],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    told = json.loads(finished.stdout.splitlines()[-1])
    assert told["killed_while_running"]
    here = DuckDBEngine(path, Unit(UNIT))
    query = sample_query(here, POLICY)
    files = sorted((tmp_path / "sample").iterdir())
    stored = [tuple(row.values()) for file in files for row in pq.read_table(file).to_pylist()]
    assert stored == sampled(here, query)
    assert told["counts"] == [
        list(row) for row in counted(here.count(count_query(here, POLICY, ["room"], max_groups=2)))
    ]
    here.close()
    assert told["after_the_driver_was_killed"].startswith(FAILED)
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
