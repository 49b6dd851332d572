"""No value that a file can hold makes a release on Spark fail, and none means two things."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.data.units import Unit
from onesided.engine.spark.engine import SparkEngine
from onesided.engine.spark.session import settings
from onesided.errors import ReleaseFailed, SourceError
from support.engines import count_query, counted, sample_query, sampled

BEYOND = 2**63


@contextmanager
def opened(spark: Any, source: Any, *unit: str) -> Iterator[Any]:
    with closing(SparkEngine(source, Unit(unit), spark)) as engine:
        yield engine


def written(folder: Path, columns: Any, **options: Any) -> Path:
    path = folder / "data.parquet"
    pq.write_table(pa.table(columns), path, **options)
    return path


def released(engine: Any, policy: str, where: str | None = None) -> list[int]:
    """The ids of nearly all rows that may be shown."""
    query = sample_query(engine, policy, epsilon="40", columns=["id"], where=where)
    return sorted(row[0] for row in sampled(engine, query))


# Each answer takes Spark a second: in a short run one kind of integer is enough.
_RARE_INTEGERS = [pytest.param(each, marks=pytest.mark.soak) for each in (pa.int8(), pa.int32())]


@pytest.mark.parametrize("kind", [*_RARE_INTEGERS, pa.int64()], ids=str)
def test_a_missing_number_is_sensitive_with_every_literal(
    spark: Any, tmp_path: Path, kind: pa.DataType
) -> None:
    """Spark knows that no integer is above 2^63, and forgets that one may be missing."""
    path = written(tmp_path, {"id": [1, 2], "n": pa.array([5, None], kind)})
    with opened(spark, path) as rows, opened(spark, path, "id") as keyed:
        for policy in (
            f"n > {BEYOND}",
            f"n >= {BEYOND}",
            f"n < -{BEYOND + 1}",
            f"n <= -{BEYOND + 1}",
            f"n BETWEEN {BEYOND} AND {2 * BEYOND}",
            f"NOT n < {BEYOND}",
        ):
            assert counted(keyed.count(count_query(keyed, policy, []))) == [(2, 1)], policy
        for engine in (rows, keyed):
            assert released(engine, f"n > {BEYOND}") == [1]


def doubles(*bits: int) -> pa.Array:
    return pa.array(np.array(bits, np.uint64).view(np.float64), pa.float64())


@pytest.mark.soak
@pytest.mark.parametrize("unit", [(), ("id",)], ids=["row", "key"])
def test_statistics_do_not_know_of_nan(spark: Any, tmp_path: Path, unit: tuple[str, ...]) -> None:
    """NaN is the largest number, and is left out of the statistics of a file."""
    ones = {"id": [1, 2, 3], "k": [1.0, 2.0, float("nan")]}
    path = written(tmp_path, {**ones, "s": pa.array(ones["k"], pa.float32())})
    with opened(spark, path, *unit) as engine:
        for column in ("k", "s"):
            assert released(engine, f"{column} > 5.0") == [1, 2]
            assert released(engine, f"{column} <= 5.0") == [3]
            assert released(engine, "FALSE", where=f"{column} > 5.0") == [3]
            assert released(engine, "FALSE", where=f"NOT {column} <= 5.0") == [3]
            by_where = count_query(engine, "FALSE", [], where=f"{column} > 5.0")
            assert counted(engine.count(by_where)) == [(1, 1)]


def test_a_negative_zero_is_zero_in_every_file(spark: Any, tmp_path: Path) -> None:
    minus = {"id": [1, 2], "k": [-0.0, -0.0]}
    path = written(tmp_path, minus, use_dictionary=True)
    with opened(spark, path) as engine:
        for where in ("k = 0.0", "k >= 0.0", "k IN (0.0, 3.0)", "k BETWEEN 0.0 AND 1.0"):
            assert released(engine, "FALSE", where=where) == [1, 2], where
        assert released(engine, "k <> 0.0") == [1, 2]


def test_the_bits_of_a_nan_tell_nothing(spark: Any, tmp_path: Path) -> None:
    nans = doubles(0x7FF8_0000_DEAD_BEEF, 0xFFF8_0000_0000_0001, 0x8000_0000_0000_0000, 0)
    path = written(tmp_path, {"id": [1, 2, 3, 4], "k": nans})
    with opened(spark, path, "id") as engine:
        counts = engine.count(count_query(engine, "id = 1", ["k"]))
        assert bits(counts.keys.column(0)) == [0, 0x7FF8_0000_0000_0000]
        assert counts.all.tolist() == [2, 2]
        table = pa.Table.from_batches(engine.sample(sample_query(engine, "FALSE", epsilon="40")))
        assert bits(table.column("k")) == [
            *[0x7FF8_0000_0000_0000] * 2,
            0x8000_0000_0000_0000,
            0,
        ]


def bits(column: pa.ChunkedArray) -> list[int]:
    return [cell for chunk in column.chunks for cell in chunk.view(pa.uint64()).to_pylist()]


def broken_texts(*cells: bytes | None) -> pa.Array:
    raw = pa.array(cells, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(cells), raw.buffers())


def test_a_text_that_is_none_is_null(spark: Any, tmp_path: Path) -> None:
    path = written(tmp_path, {"id": [1, 2, 3], "t": broken_texts(b"ab", b"\xff\xfe", None)})
    with opened(spark, path, "id") as engine:
        assert released(engine, "t IS NULL") == [1]
        assert released(engine, "lower(t) LIKE 'x%'") == [1]
        assert counted(engine.count(count_query(engine, "FALSE", ["t"]))) == [
            (None, 2, 2),
            ("ab", 1, 1),
        ]
        assert sampled(engine, sample_query(engine, "FALSE", epsilon="40")) == [
            (1, "ab"),
            (2, None),
            (3, None),
        ]
    with opened(spark, path, "t") as engine:
        assert engine.inspect().units == 1


FAR = {
    "us": pa.array([0, 2**63 - 1, -(2**63), None], pa.timestamp("us")),
    "us_zoned": pa.array([0, 2**63 - 1, -(2**63), None], pa.timestamp("us", "UTC")),
    "ms": pa.array([0, 2**63 - 1, -(2**63), None], pa.timestamp("ms")),
    "ms_zoned": pa.array([0, 2**53, -(2**53), None], pa.timestamp("ms", "Europe/Berlin")),
    "day": pa.array([0, 2**31 - 1, -(2**31), None], pa.date32()),
}
KEPT = {"us": [1, 2], "us_zoned": [1, 2], "ms": [1], "ms_zoned": [1, 2, 3], "day": [1]}


@pytest.mark.soak
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_far_times_are_null_and_those_that_fit_are_not(
    spark: Any, tmp_path: Path, ansi: str
) -> None:
    path = written(tmp_path, {"id": [1, 2, 3, 4], "other": [datetime(2024, 2, 29)] * 4, **FAR})
    with settings(spark, {"spark.sql.ansi.enabled": ansi}), opened(spark, path, "id") as engine:
        rows = pa.Table.from_batches(engine.sample(sample_query(engine, "FALSE", epsilon="40")))
        for column, kept in KEPT.items():
            assert released(engine, f"{column} IS NULL") == kept
            moment = f"coalesce({column}, other) > TIMESTAMP '2020-01-01 00:00:00'"
            policy = f"{moment} AND weekday({column}) = 3 OR date({column}) < date(other)"
            engine.count(count_query(engine, policy, [f"date({column})"], where=policy))
        assert rows.column("us").cast(pa.int64())[1].as_py() == 2**63 - 1
        assert rows.column("ms_zoned").cast(pa.int64())[1].as_py() == 2**53 * 1000
    for column, kept in KEPT.items():
        with (
            settings(spark, {"spark.sql.ansi.enabled": ansi}),
            opened(spark, path, column) as keyed,
        ):
            assert keyed.inspect().units == len(kept)
            keyed.count(count_query(keyed, "id = 1", ["id"], max_groups=1))


def test_milliseconds_are_what_they_were(spark: Any, tmp_path: Path) -> None:
    moments = [datetime(1969, 12, 31, 23, 59, 59, 999000), datetime(2024, 3, 10, 2, 30)]
    columns = {"id": [1, 2], "t": pa.array(moments, pa.timestamp("ms"))}
    path = written(tmp_path, {**columns, "z": pa.array(moments, pa.timestamp("ms", "UTC"))})
    with opened(spark, path) as engine:
        query = sample_query(engine, "hour(t) = 5", epsilon="40", where="t <= z")
        assert sampled(engine, query) == [(1, *moments[:1] * 2), (2, *moments[1:] * 2)]
        assert [each["type"] for each in engine.format["columns"]] == [
            "bigint",
            *["timestamp(milliseconds)"] * 2,
        ]


def test_ancient_dates_are_read_and_written(spark: Any, tmp_path: Path) -> None:
    """Where a session is asked to be careful with the old calendar, Spark refuses them."""
    columns = {"id": [1, 2], "d": [date(1, 1, 1), date(1500, 2, 28)], "t": [datetime(1, 1, 1)] * 2}
    path = written(tmp_path, columns)
    careful = {
        "spark.sql.parquet.datetimeRebaseModeInRead": "EXCEPTION",
        "spark.sql.parquet.datetimeRebaseModeInWrite": "EXCEPTION",
    }
    with settings(spark, careful), opened(spark, path) as engine:
        rows = sampled(engine, sample_query(engine, "FALSE", epsilon="40"))
        assert [row[1] for row in rows] == columns["d"]
        assert [row[2] for row in rows] == columns["t"]
        assert spark.conf.get("spark.sql.parquet.datetimeRebaseModeInRead") == "EXCEPTION"


def decimals(kind: pa.DataType, *cells: int) -> pa.Array:
    content = b"".join(cell.to_bytes(16, "little", signed=True) for cell in cells)
    return pa.Array.from_buffers(kind, len(cells), [None, pa.py_buffer(content)])


def test_decimals_that_do_not_keep_to_their_digits(spark: Any, tmp_path: Path) -> None:
    few = decimals(pa.decimal128(5, 2), 9_999_999, 5)
    path = written(tmp_path, {"id": [1, 2], "n": few}, store_decimal_as_integer=True)
    with opened(spark, path, "id") as engine:
        assert released(engine, "n > 1000.5") == [2]
        groups = counted(engine.count(count_query(engine, "FALSE", ["n"])))
        assert [(str(key), *figures) for key, *figures in groups] == [
            ("None", 1, 1),
            ("0.05", 1, 1),
        ]
    many = decimals(pa.decimal128(20, 0), 2 * 10**21, 5)
    path = written(tmp_path, {"id": [1, 2], "n": many})
    with opened(spark, path, "id") as engine, pytest.raises(SourceError, match="cannot read"):
        engine.inspect()


@pytest.mark.soak
@pytest.mark.parametrize("scale", [0, 3, 37])
def test_decimals_of_all_digits_are_read(spark: Any, tmp_path: Path, scale: int) -> None:
    """The minus of Spark rounds to 34 digits, and none of these columns could be opened."""
    most = 10**38 - 1
    cells = decimals(pa.decimal128(38, scale), most, -most, 0)
    path = written(tmp_path, {"id": [1, 2, 3], "n": cells})
    with opened(spark, path, "id") as engine:
        assert engine.inspect().units == 3
        assert released(engine, "n > 0") == [2, 3]
        assert [Fraction(row[1]) * 10**scale for row in everything(engine)] == [most, -most, 0]


def everything(engine: Any) -> list[tuple[Any, ...]]:
    return sampled(engine, sample_query(engine, "FALSE", epsilon="40"))


def test_what_a_frame_computes_fails_at_the_opening(spark: Any) -> None:
    frame = spark.sql("SELECT id, 10 / (id - 2) AS share FROM range(4)")
    with opened(spark, frame, "id") as engine, pytest.raises(SourceError, match="cannot read"):
        engine.inspect()


JOINED = """SELECT a.id, {} AS share FROM range(1, 6) a
    JOIN (SELECT id, id - 7 AS x, if(id = 7, 'none', '1') AS t FROM range(10)) b ON a.id = b.id"""


@pytest.mark.soak
@pytest.mark.parametrize("computed", ["10 / b.x", "CAST(b.t AS INT)"])
@pytest.mark.parametrize("kind", ["frame", "view"])
def test_what_a_frame_leaves_out_is_not_computed(spark: Any, computed: str, kind: str) -> None:
    """Spark moved conditions of a release below the join, to a row that has no value for them."""
    frame = spark.sql(JOINED.format(computed))
    frame.createOrReplaceTempView("computed")
    source = (frame,) if kind == "frame" else (None,)
    table = None if kind == "frame" else "computed"
    with closing(SparkEngine(*source, Unit(("id",)), spark, table=table)) as engine:
        assert engine.inspect().units == 5
        assert released(engine, "share > 5", where="share < 5") == [1, 2, 3, 4, 5]
        by_where = count_query(engine, "share > 5", [], where="share < 5")
        assert counted(engine.count(by_where)) == [(5, 5)]
    spark.catalog.dropTempView("computed")


@pytest.mark.parametrize("lost", ["missing", "broken"])
def test_a_file_that_cannot_be_read_is_not_left_out(spark: Any, tmp_path: Path, lost: str) -> None:
    for number in (1, 2):
        pq.write_table(
            pa.table({"id": [7], "minor": [number == 1]}), tmp_path / f"{number}.parquet"
        )
    lenient = {
        "spark.sql.files.ignoreCorruptFiles": "true",
        "spark.sql.files.ignoreMissingFiles": "true",
    }
    with settings(spark, lenient), opened(spark, tmp_path, "id") as engine:
        assert released(engine, "minor") == []
        if lost == "missing":
            (tmp_path / "1.parquet").unlink()
        else:
            (tmp_path / "1.parquet").write_bytes(b"PAR1 nothing at all PAR1")
        with pytest.raises(ReleaseFailed):
            list(engine.sample(sample_query(engine, "minor", epsilon="40")))


def test_a_name_is_no_pattern(spark: Any, tmp_path: Path) -> None:
    path = written(tmp_path, {"id": [1, 2], "a": [1, 2], "b": [3, 4], "a|b": [5, 6]})
    with (
        settings(spark, {"spark.sql.parser.quotedRegexColumnNames": "true"}),
        opened(spark, path, "id") as engine,
    ):
        query = sample_query(engine, '"a|b" = 5', epsilon="40", columns=["a|b", "id"])
        assert sampled(engine, query) == [(6, 2)]
