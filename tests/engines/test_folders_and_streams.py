"""Columns in the names of folders on every engine that reads files, and tables given as streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.data.units import Unit
from onesided.engine.base import Engine
from onesided.engine.datafusion.engine import DataFusionEngine
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import SourceError
from support.engines import EngineName, sample_query, sampled

Reads = Callable[..., Engine]
ROOMS = {"lab": "lab", "Café%2F1": "Café/1", "__HIVE_DEFAULT_PARTITION__": None}
ENGINES = [
    EngineName.DUCKDB,
    EngineName.DATAFUSION,
    pytest.param(EngineName.SPARK, marks=pytest.mark.soak),
]


@pytest.fixture(params=ENGINES, ids=lambda name: name.value)
def reads(request: pytest.FixtureRequest) -> Reads:
    """Opens a path on each engine that reads files."""
    if request.param is EngineName.SPARK:
        from onesided.engine.spark.engine import SparkEngine

        spark = request.getfixturevalue("spark")
        return lambda path, unit, format=None: SparkEngine(path, unit, spark, format=format)
    made = {EngineName.DUCKDB: DuckDBEngine, EngineName.DATAFUSION: DataFusionEngine}
    return lambda path, unit, format=None: made[request.param](path, unit, format=format)


def folders(base: Path, days: tuple[str, ...] = ("2026-01-01", "2026-01-02")) -> Path:
    for place, day in enumerate(days):
        for number, room in enumerate(ROOMS):
            folder = base / f"day={day}" / f"month=0{number + 1}" / f"room={room}"
            folder.mkdir(parents=True, exist_ok=True)
            ids = [100 * place + 10 * number, 100 * place + 10 * number + 1]
            pq.write_table(pa.table({"id": pa.array(ids, pa.int64())}), folder / "part.parquet")
    return base


def test_names_of_folders_are_columns(reads: Reads, tmp_path: Path) -> None:
    engine = reads(str(folders(tmp_path)), Unit())
    found = sampled(engine, sample_query(engine, "room IS NULL", epsilon="40"))
    expected = {
        (100 * place + 10 * number + step, date(2026, 1, 1 + place), f"0{number + 1}", room)
        for place in range(2)
        for number, room in enumerate(ROOMS.values())
        for step in range(2)
        if room is not None
    }
    assert set(found) == expected
    assert len(found) == len(expected)
    assert list(engine.schema) == ["id", "day", "month", "room"]


def test_a_unit_may_be_named_by_a_folder(reads: Reads, tmp_path: Path) -> None:
    engine = reads(str(folders(tmp_path)), Unit(("id", "day")))
    found = sampled(engine, sample_query(engine, "room IS NULL OR day > DATE '2026-01-01'"))
    duck = DuckDBEngine(str(tmp_path), Unit(("id", "day")))
    assert found == sampled(duck, sample_query(duck, "room IS NULL OR day > DATE '2026-01-01'"))


def test_values_of_another_type_are_refused_by_the_account(tmp_path: Path) -> None:
    agreed = DuckDBEngine(str(folders(tmp_path)), Unit()).format
    DuckDBEngine(str(folders(tmp_path, ("2026-01-03",))), Unit(), format=agreed)
    with pytest.raises(SourceError, match="day of the type DATE"):
        DuckDBEngine(str(folders(tmp_path, ("soon",))), Unit(), format=agreed)


def test_an_account_that_was_opened_without_such_columns_goes_on(
    reads: Reads, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    pq.write_table(pa.table({"id": pa.array([1], pa.int64())}), plain / "a.parquet")
    agreed = reads(str(plain), Unit()).format
    engine = reads(str(folders(tmp_path / "parts")), Unit(), agreed)
    assert list(engine.schema) == ["id"]


def test_a_column_within_the_files_comes_first(reads: Reads, tmp_path: Path) -> None:
    folder = tmp_path / "day=2026-01-01"
    folder.mkdir()
    pq.write_table(pa.table({"day": ["Monday"]}), folder / "a.parquet")
    engine = reads(str(tmp_path), Unit())
    assert sampled(engine, sample_query(engine, "FALSE", epsilon="40")) == [("Monday",)]


@pytest.mark.parametrize("name", ["room=Caf%C3%A9", "room=50%"])
def test_signs_that_engines_read_differently_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    pq.write_table(pa.table({"id": [1]}), tmp_path / name / "a.parquet")
    with pytest.raises(SourceError, match="percent sign"):
        DuckDBEngine(str(tmp_path), Unit())


def test_folders_of_other_names_are_refused(reads: Reads, tmp_path: Path) -> None:
    folders(tmp_path)
    odd = tmp_path / "week=1"
    odd.mkdir()
    pq.write_table(pa.table({"id": pa.array([1], pa.int64())}), odd / "a.parquet")
    with pytest.raises(SourceError, match="folders of the same names"):
        reads(str(tmp_path), Unit())


def visits(rows: int) -> pl.LazyFrame:
    return pl.LazyFrame({"id": range(rows)}).with_columns(
        room=pl.when(pl.col("id") % 3 == 0).then(pl.lit("clinic")).otherwise(pl.lit("café"))
    )


@pytest.mark.parametrize("connection", [None, "datafusion"])
def test_a_lazy_frame_is_its_rows(connection: str | None) -> None:
    def sample(source: Any) -> list[dict[str, Any]]:
        about = {"unit": "id", "policy": "room = 'clinic'", "connection": connection}
        with osd.open(source, **about, rng=osd.seeded(1), budget=40) as dataset:
            return dataset.sample(40, yes=True).to_arrow().to_pylist()

    lazy = visits(300)
    expected = [{"id": each, "room": "café"} for each in range(300) if each % 3]
    assert sample(lazy) == sample(lazy.collect()) == expected


@pytest.mark.parametrize("connection", [None, "datafusion"])
def test_a_lookup_table_may_be_lazy_or_a_stream(connection: str | None) -> None:
    beside = pl.DataFrame({"id": range(300), "wing": ["north", "south", "east"] * 100})

    def wings(source: Any) -> list[dict[str, Any]]:
        about = {"unit": "id", "policy": "room = 'clinic'", "connection": connection}
        lookups = {"people": {"source": source, "on": "id"}}
        with osd.open(visits(300), **about, lookups=lookups, budget=80) as dataset:
            counts = dataset.count("people.wing", epsilon=40, mechanism="one-sided", yes=True)
            return counts.to_arrow().select([0, 1]).to_pylist()

    stream = Batched(beside.to_arrow())
    assert wings(beside) == wings(beside.lazy()) == wings(stream) != []


class Batched:
    """A table that shows nothing but its batches."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.to_reader(1).__arrow_c_stream__(requested_schema)


class Batches:
    """Batches that are made when they are asked for, and never held together."""

    def __init__(self, count: int, rows: int = 20_000, cut: int = 1) -> None:
        self.schema = pa.schema(
            [("id", pa.int64()), ("room", pa.dictionary(pa.int32(), pa.string()))]
        )
        self._made = (count, rows, cut)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        count, rows, cut = self._made
        for number in range(count):
            ids = pa.array(range(number * rows, (number + 1) * rows), pa.int64())
            rooms = pa.array([f"room {number}"] * rows).dictionary_encode()
            batch = pa.record_batch([ids, rooms], schema=self.schema)
            for part in range(cut):
                yield batch.slice(part * rows // cut, rows // cut)


def test_a_stream_is_read_once_and_not_held() -> None:
    pa.default_memory_pool().release_unused()
    before = pa.total_allocated_bytes()
    engine = DuckDBEngine(Batches(60), Unit(("id",)))
    assert engine.inspect().units == 1_200_000
    assert pa.total_allocated_bytes() - before < 8_000_000  # of 30 MB
    engine.close()


def test_how_a_stream_is_cut_does_not_name_it() -> None:
    states = {DuckDBEngine(Batches(5, cut=cut), Unit()).fingerprint() for cut in (1, 4)}
    assert len(states) == 1
    assert DuckDBEngine(Batches(6), Unit()).fingerprint() not in states


def test_a_lazy_frame_that_fails_is_refused_without_its_words() -> None:
    lazy = pl.LazyFrame({"id": ["secret"]}).with_columns(pl.col("id").cast(pl.Int64))
    with pytest.raises(SourceError) as refused:
        DuckDBEngine(lazy, Unit())
    assert "secret" not in str(refused.value)
