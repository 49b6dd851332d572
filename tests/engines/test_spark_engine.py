"""What is particular to Spark: names of files, folders of samples, and what its plans move."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onesided as osd
from onesided.data.units import Unit
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.spark.engine import SparkEngine
from onesided.engine.spark.scans import (
    LEAST_SCANNED,
    MOST_SCANNED,
    MOST_SCANS,
    File,
    plan_scans,
)
from onesided.engine.spark.session import Session, settings
from onesided.errors import OutputError, RequestError, SourceError
from support.engines import KEY, comparable, count_query, counted, sample_query, sampled
from support.visits import POLICY, UNIT, visits, write_visits


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


@pytest.mark.soak
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


@pytest.mark.soak
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


def _make_memory_scarce(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No task can hold the keys of more than half of the units that are likely to be kept."""
    half = math.ceil(engine.inspect().units * -math.expm1(-1) / 2)
    monkeypatch.setattr(
        "onesided.engine.spark.engine.MEMORY_A_KEY", engine.session.memory() // half
    )


@pytest.mark.soak
@pytest.mark.parametrize("scarce", [True, False], ids=["many units", "few units"])
@pytest.mark.parametrize("columns", [None, ["room", "ts"]], ids=["key", "no key"])
def test_how_many_units_there_are_changes_nothing(
    spark: Any,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scarce: bool,
    columns: list[str] | None,
) -> None:
    monkeypatch.setattr("onesided.engine.spark.engine.UNITS_A_PARTITION", 90)
    here, there = DuckDBEngine(folder, Unit(UNIT)), SparkEngine(folder, Unit(UNIT), spark)
    there.inspect()
    if scarce:
        _make_memory_scarce(there, monkeypatch)
    query = sample_query(here, POLICY, columns=columns, where="room <> 'hall'")
    there.place(query, str(tmp_path / "sample"))
    files = sorted((tmp_path / "sample").iterdir())
    stored = [tuple(row.values()) for file in files for row in pq.read_table(file).to_pylist()]
    assert comparable(stored) == comparable(sampled(here, query))
    assert len(files) == 2
    for most in (None, 2):
        counts = count_query(there, POLICY, ["room", "hour(ts)"], max_groups=most)
        assert counted(there.count(counts)) == counted(here.count(counts))
    for engine in (here, there):
        engine.close()


@pytest.mark.parametrize("scarce", [True, False], ids=["many units", "few units"])
def test_what_a_sample_of_units_moves(
    spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, scarce: bool
) -> None:
    """Kept rows once; all rows, where units are many, once more; and none to be sorted twice."""
    engine: Any = SparkEngine(folder, Unit(UNIT), spark)
    engine.inspect()
    if scarce:
        _make_memory_scarce(engine, monkeypatch)
    with engine.prepared(sample_query(engine, POLICY)) as frame:
        plan = frame._jdf.queryExecution().executedPlan().toString()
    engine.close()
    above, below = plan.split("ShuffledHashJoin" if scarce else "BroadcastHashJoin")
    rows, units = below.split("FileScan", 1)
    assert above.count("Exchange") == 1
    assert rows.count("Exchange") == (1 if scarce else 0)
    assert units.count("rangepartitioning") == (1 if scarce else 0)
    assert plan.count("Sort [") == (1 if scarce else 2)  # the rows; few keys are numbered by one


@pytest.mark.parametrize("scarce", [True, False], ids=["many units", "few units"])
@pytest.mark.parametrize("most", [None, 2], ids=["all groups", "some groups"])
def test_what_a_histogram_moves(
    spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, scarce: bool, most: int | None
) -> None:
    """Pairs once to become distinct; where units are many, once more to meet them."""
    engine: Any = SparkEngine(folder, Unit(UNIT), spark)
    engine.inspect()
    if scarce:
        _make_memory_scarce(engine, monkeypatch)
    query = count_query(engine, POLICY, ["room", "hour(ts)"], max_groups=most)
    statement = engine.statement(query)
    # Left to itself Spark would send so small a table to all executors without being told to.
    with settings(spark, {"spark.sql.autoBroadcastJoinThreshold": "-1"}):
        plan = spark.sql(statement)._jdf.queryExecution().executedPlan().toString()
    engine.close()
    _, below = plan.split("SortMergeJoin" if scarce else "BroadcastHashJoin")
    pairs = below.split("FileScan", 1)[0]
    ranked = most is not None
    assert pairs.count("Exchange hashpartitioning") == (2 if scarce or ranked else 1)


def test_how_much_of_a_file_a_task_reads(
    spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of 40 units for each task; never more than the session allows, nor for rows."""
    monkeypatch.setattr("onesided.engine.spark.engine.UNITS_A_SCAN", 40)
    size = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
    engine: Any = SparkEngine(folder, Unit(UNIT), spark)
    assert engine.scanning() == {}
    expected = size * 40 // engine.inspect().units
    setting = "spark.sql.files.maxPartitionBytes"
    assert engine.scanning() == {setting: f"{expected}b"}
    with settings(spark, {setting: "1k"}):
        assert engine.scanning() == {setting: "1024b"}
    rows: Any = SparkEngine(folder, Unit(), spark)
    rows.inspect()
    assert rows.scanning() == {}
    for each in (engine, rows):
        each.close()


@pytest.mark.parametrize(
    ("wanted", "size"),
    [
        ({"spark.driver.memory": "4g"}, 4 * 2**30),
        ({"spark.driver.memory": "512"}, 512 * 2**20),
        ({"spark.driver.memory": "2GB", "spark.executor.memory": "1g"}, 2 * 2**30),
        ({"spark.master": "spark://here", "spark.driver.memory": "4g"}, 2**30),
    ],
    ids=str,
)
def test_the_memory_that_settings_give(wanted: dict[str, str], size: int) -> None:
    conf = {"spark.master": "local[2]", **wanted}
    assert Session(cast(Any, SimpleNamespace(conf=conf)), owned=False).memory() == size


@pytest.mark.soak
@pytest.mark.parametrize(
    ("together", "most", "readings", "parts"),
    [
        (1, 1, 3, [1, 1, 1, 1, 1]),
        (2, 2, 3, [2, 2, 1]),
        (5, 5, 3, [5]),
        (1, 0.5, 3, [0.5] * 10),
        (1, 0.5, 1, [1, 1, 1, 1, 1]),
        (2, 0.5, 1, [2, 2, 1]),
    ],
    ids=["a file", "some together", "all together", "a half", "moved", "moved from two files"],
)
def test_what_a_task_reads_changes_nothing(
    spark: Any,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    together: int,
    most: float,
    readings: int,
    parts: list[float],
) -> None:
    """Single rows: every plan writes the same rows, cut at public places; counted in files."""
    sizes = {pq.read_metadata(file).num_rows for file in folder.rglob("*.parquet")}
    (rows,) = sizes
    scans = "onesided.engine.spark.scans"
    monkeypatch.setattr(f"{scans}.LEAST_SCANNED", together * rows)
    monkeypatch.setattr(f"{scans}.ENOUGH_SCANNED", int(most * rows))
    monkeypatch.setattr(f"{scans}.MOST_SCANNED", int(most * rows))
    monkeypatch.setattr(f"{scans}.MOST_READINGS", readings)
    monkeypatch.setattr(f"{scans}.BLOCK_ROWS", together * rows)
    monkeypatch.setattr(Session, "tasks", lambda _: None)
    here, there = DuckDBEngine(folder, Unit()), SparkEngine(folder, Unit(), spark)
    everybody = sample_query(there, "FALSE", epsilon="40")
    query = sample_query(there, POLICY)
    with settings(spark, {"spark.sql.files.maxPartitionBytes": "2048"}):
        there.place(everybody, str(tmp_path / "all"))
        there.place(query, str(tmp_path / "sample"))
    written = [pq.read_metadata(file).num_rows for file in sorted((tmp_path / "all").iterdir())]
    assert written == [part * rows for part in parts]
    files = sorted((tmp_path / "sample").iterdir())
    stored = [tuple(row.values()) for file in files for row in pq.read_table(file).to_pylist()]
    assert comparable(stored) == comparable(sampled(here, query))
    for engine in (here, there):
        engine.close()


@pytest.mark.parametrize("together", [False, True])
def test_whole_scans_move_no_rows(
    spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    """They are only sorted where one task reads several files, which it does by their bytes."""
    if not together:
        monkeypatch.setattr("onesided.engine.spark.scans.LEAST_SCANNED", 1)
    engine: Any = SparkEngine(folder, Unit(), spark)
    with engine.prepared(sample_query(engine, POLICY)) as frame:
        executed = frame._jdf.queryExecution().executedPlan()
        plan, codes = executed.toString(), _generated_code(spark, executed)
        tasks = executed.execute().getNumPartitions()
    engine.close()
    assert len(codes) == 1, "one compilation serves all scans"
    assert plan.count("Exchange") == plan.count("BroadcastExchange") == together
    assert ("Sort" in plan) == together
    assert tasks == (1 if together else len(list(folder.rglob("*.parquet"))))


def _generated_code(spark: Any, plan: Any) -> set[str]:
    """The different pieces of code that a plan is compiled to, without their comments."""
    debug = getattr(spark.sparkContext._jvm.org.apache.spark.sql.execution.debug, "package$")
    stages = getattr(debug, "MODULE$").codegenStringSeq(plan)
    codes = (str(stages.apply(index)._2()) for index in range(stages.size()))
    return {re.sub("//.*", "", code) for code in codes}


@given(st.lists(st.integers(1, 10**9), max_size=300), st.none() | st.integers(1, 1000))
def test_what_is_read_by_one_task(sizes: list[int], tasks: int | None) -> None:
    """Neighbouring files or a part of one; all rows once, few scans, none much larger than others.

    Small ones only if they are next to a large one.
    """
    files = [File(str(number), "", 0, rows) for number, rows in enumerate(sizes)]
    scans = plan_scans(files, tasks)
    if not scans:
        return
    read = [
        (file.address, *(scan.places or (0, file.rows))) for scan in scans for file in scan.files
    ]
    assert len(scans) <= MOST_SCANS
    ends = {address: 0 for address, *_ in read}
    assert list(ends) == [file.address for file in files]
    for address, first, end in read:
        assert first == ends[address] < end
        ends[address] = end
    assert list(ends.values()) == sizes
    total = sum(sizes)
    rows = [scan.rows for scan in scans]
    assert max(rows) <= max(MOST_SCANNED, total / (tasks or total) + 1)
    if all(scan.places is None for scan in scans):
        assert all(sum(pair) > LEAST_SCANNED for pair in itertools.pairwise(rows))


@pytest.mark.parametrize(
    ("sizes", "tasks", "rows"),
    [
        ([2**20], 8, [2**20]),
        ([2**21], 8, [2**20] * 2),
        ([2**23], 1, [2**23]),
        ([2**26], 2, [2**25] * 2),
        ([3 * 2**22], 8, [2**22] * 3),
        ([3 * 2**22 + 1], 8, None),
        ([2**22] * 16, 20, [2**21] * 32),
        ([2**22] * 60, None, [2**22] * 60),
        ([2**22] * 65, 100, None),
        ([10**8] * 20, 16, [10**8] * 20),
        ([10**8] * 20, 64, None),
        ([1000] * 100, 8, [10**5]),
    ],
)
def test_when_rows_are_better_moved(
    sizes: list[int], tasks: int | None, rows: list[int] | None
) -> None:
    files = [File(str(number), "", 0, rows) for number, rows in enumerate(sizes)]
    scans = plan_scans(files, tasks)
    assert ([scan.rows for scan in scans] or None) == rows


@pytest.mark.parametrize("unit", [Unit(), Unit(UNIT)], ids=["rows", "keys"])
def test_no_python_runs_on_the_executors(spark: Any, folder: Path, unit: Unit) -> None:
    engine: Any = SparkEngine(folder, unit, spark)
    with engine.prepared(sample_query(engine, POLICY)) as frame:
        plan = frame._jdf.queryExecution().toString()
    engine.close()
    assert "LocalTableScan" in plan
    assert "ExistingRDD" not in plan


def test_the_executors_write_a_folder(spark: Any, folder: Path, tmp_path: Path) -> None:
    engine = SparkEngine(folder, Unit(UNIT), spark)
    query = sample_query(engine, POLICY)
    target = tmp_path / "sample"
    placed = engine.place(query, str(target))
    files = sorted(target.iterdir())
    assert all(file.suffix == ".parquet" for file in files)
    stored = [tuple(row.values()) for file in files for row in pq.read_table(file).to_pylist()]
    assert comparable(stored) == comparable(sampled(engine, query))
    assert placed.rows == len(stored)
    with pytest.raises(OutputError, match="exists already"):
        engine.check_place(str(target))
    with pytest.raises(OutputError, match="writable"):
        engine.check_place(str(tmp_path / "missing" / "sample"))
    engine.close()


def test_no_plan_shows_the_coin_key(spark: Any, folder: Path) -> None:
    engine: Any = SparkEngine(folder, Unit(UNIT), spark)
    query = sample_query(engine, POLICY)
    with engine.prepared(query) as frame:
        plan = frame._jdf.queryExecution().toString()
    assert query.coins.threshold in plan
    assert KEY not in plan
    assert not any(view.name.startswith("osd_") for view in _views(spark, engine))
    engine.close()
    assert not [view for view in spark.catalog.listTables() if view.name.startswith("osd_")]


def test_a_filter_reaches_the_files(spark: Any, folder: Path) -> None:
    engine: Any = SparkEngine(folder, Unit(), spark)
    with engine.prepared(sample_query(engine, POLICY, where="device < 3")) as frame:
        plan = frame._jdf.queryExecution().toString()
    assert "LessThan(device,3)" in plan
    engine.close()


def _views(spark: Any, engine: Any) -> list[Any]:
    """The views beside the engine's own source."""
    return [view for view in spark.catalog.listTables() if view.name != engine.view]


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
