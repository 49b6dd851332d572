"""The columns of all files, found once and frozen; addresses that stand for themselves."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.data.units import Unit
from onesided.engine.base import Placed
from onesided.engine.spark.engine import SparkEngine
from onesided.errors import SourceError
from support.engines import sample_query, sampled

UNIT = Unit(("id",))


def write(path: Path, columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path)
    return path


def format_of(spark: Any, source: Any, frozen: Any = None) -> dict[str, Any]:
    with closing(SparkEngine(source, UNIT, spark, format=frozen)) as engine:
        return engine.format


def ids(spark: Any, source: Any, unit: Unit = UNIT) -> list[int]:
    with closing(SparkEngine(source, unit, spark)) as engine:
        query = sample_query(engine, "FALSE", epsilon="40", columns=["id"])
        return [row[0] for row in sampled(engine, query)]


def named(*names: str) -> pa.Table:
    return pa.Table.from_arrays([pa.array([number]) for number in range(len(names))], names=names)


ALIKE = [
    *[("age", "Age"), ("age", "age "), ("age", "age"), ("ｅ", "E")],
    *[("age", "a ge"), ("age", "a\u200bge"), ("age", "ag\u00ade")],
]


@pytest.mark.soak
@pytest.mark.parametrize("alike", ALIKE, ids=ascii)
@pytest.mark.parametrize("second", [False, True], ids=["one file", "second file"])
def test_names_that_could_be_taken_for_one_another(
    spark: Any, tmp_path: Path, alike: tuple[str, str], second: bool
) -> None:
    write(tmp_path / "1.parquet", named("id", alike[0], *([] if second else alike[1:])))
    if second:
        write(tmp_path / "2.parquet", named("id", *alike))
    with pytest.raises(SourceError):
        format_of(spark, tmp_path)


@pytest.mark.parametrize(
    "other",
    [
        {"id": [2], "age": [12.5]},
        {"id": [2], "age": ["twelve"]},
        {"id": [2]},
        {"id": [2], "Age": [12]},
        {"id": [2], "age": [12], "more": [1]},
        {"id": [2], "age": [pa.scalar(12, pa.int32())]},
    ],
    ids=["float", "text", "fewer", "capitals", "more", "narrower"],
)
def test_a_second_file_with_other_columns_is_refused(
    spark: Any, tmp_path: Path, other: Any
) -> None:
    write(tmp_path / "1.parquet", {"id": [1], "age": [40]})
    write(tmp_path / "2.parquet", other)
    with pytest.raises(SourceError):
        format_of(spark, tmp_path)


def test_a_second_file_with_another_unit_of_time_is_refused(spark: Any, tmp_path: Path) -> None:
    for number, unit in enumerate(("ms", "us")):
        times = pa.array([datetime(2024, 1, 1)], pa.timestamp(unit))
        write(tmp_path / f"{number}.parquet", {"id": [number], "at": times})
    with pytest.raises(SourceError, match="milliseconds"):
        format_of(spark, tmp_path)


@pytest.mark.soak
def test_columns_that_are_only_asked_for_null(spark: Any, tmp_path: Path) -> None:
    """Lists, structures with odd names and columns of nothing do not keep a file from opening."""
    columns = {"id": [1, 2], "s": [{"a b": 1, "c:d": [1]}, None], "n": pa.nulls(2)}
    path = write(tmp_path / "1.parquet", {**columns, "b": [None, b"x"]})
    for policy, shown in (("s IS NULL", [1]), ("n IS NOT NULL", [1, 2]), ("b IS NULL", [2])):
        with closing(SparkEngine(path, UNIT, spark)) as engine:
            query = sample_query(engine, policy, epsilon="40", columns=["id"])
            assert [row[0] for row in sampled(engine, query)] == shown


def test_columns_in_another_order_are_the_same_columns(spark: Any, tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", {"id": [1], "age": [40]})
    write(tmp_path / "2.parquet", {"age": [12], "id": [2]})
    with closing(SparkEngine(tmp_path, UNIT, spark)) as engine:
        query = sample_query(engine, "age < 18", epsilon="40")
        assert sampled(engine, query) == [(1, 40)]


@pytest.mark.parametrize("name", ["_hidden.parquet", ".hidden.parquet"])
def test_a_file_that_spark_leaves_out_is_refused(spark: Any, tmp_path: Path, name: str) -> None:
    write(tmp_path / "1.parquet", {"id": [1]})
    write(tmp_path / name, {"id": [2]})
    with pytest.raises(SourceError, match="begin with a dot"):
        format_of(spark, tmp_path)


def test_a_frozen_format(spark: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", {"id": [1], "age": [40]})
    found = format_of(spark, path)
    assert found == {
        "reader": "spark parquet",
        "columns": [{"name": "id", "type": "bigint"}, {"name": "age", "type": "bigint"}],
    }
    assert format_of(spark, path, json.loads(json.dumps(found))) == found
    for changed, told in (
        ({"id": [1]}, "age missing"),
        ({"id": [1], "age": [1], "room": [1]}, "room new"),
        ({"id": [1], "AGE": [40]}, "age missing"),
        ({"id": [1], "age": [4.5]}, "age of another type"),
    ):
        write(path, changed)
        with pytest.raises(SourceError, match=told):
            format_of(spark, path, found)
    write(path, {"age": [40], "id": [1]})
    assert format_of(spark, path, found) == found != format_of(spark, path)
    frame = spark.createDataFrame(pa.table({"id": [1], "years": [40]}))
    with pytest.raises(SourceError, match="age missing"):
        format_of(spark, frame, found)


@pytest.mark.soak
@pytest.mark.parametrize("unit", [Unit(), UNIT], ids=["row", "key"])
def test_brackets_and_stars_in_names_stand_for_themselves(
    spark: Any, tmp_path: Path, unit: Unit
) -> None:
    asked = ("x[1].parquet", "a*.parquet", "f[1]/x.parquet", "{a,b}.parquet", "q?.parquet")
    others = ("x1.parquet", "ab.parquet", "f1/x.parquet", "a.parquet", "qq.parquet")
    for number, name in enumerate(asked):
        write(tmp_path / name, {"id": [number]})
    for name in others:
        write(tmp_path / name, {"id": [99]})
    for number, name in enumerate(asked):
        assert ids(spark, tmp_path / name, unit) == [number], name


@pytest.mark.soak
def test_what_was_placed_has_a_digest_in_any_order(spark: Any, tmp_path: Path) -> None:
    rows = {"id": [1, 2, 3], "a": ["", None, "x"], "b": [None, "", "1:y"], "f": [0.0, -0.0, 1.5]}

    def placed(place: str, **changes: Any) -> Placed:
        path = write(tmp_path / "odd.parquet", {**rows, **changes})
        with closing(SparkEngine(path, UNIT, spark)) as engine:
            query = sample_query(engine, "FALSE", epsilon="40")
            return engine.place(query, str(tmp_path / place))

    first = placed("one [1]")
    assert first.rows == 3
    assert placed("two", **{name: column[::-1] for name, column in rows.items()}) == first
    changes: list[dict[str, Any]] = [
        {"a": [None, None, "x"], "b": ["", "", "1:y"]},
        {"a": ["", None, "x3:1:"], "b": [None, "", "y"]},
        {"f": [0.0, -0.0, 1.5000000000000002]},
        {"id": [1, 2, 4]},
    ]
    digests = {placed(f"changed {number}", **each).digest for number, each in enumerate(changes)}
    assert len(digests | {first.digest}) == 1 + len(changes)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses of this machine are taken for those of another file system."""
    monkeypatch.setattr("onesided.engine.spark.source.is_local", lambda text: False)


@pytest.mark.soak
@pytest.mark.usefixtures("elsewhere")
def test_files_elsewhere_are_looked_at_as_well(spark: Any, tmp_path: Path) -> None:
    write(tmp_path / "f[1]" / "1.parquet", {"id": [1], "age": [40]})
    write(tmp_path / "f1" / "1.parquet", {"id": [99], "age": [40]})
    for unit in (Unit(), UNIT):
        assert ids(spark, f"file://{tmp_path}/f[1]", unit) == [1]
        assert ids(spark, f"file://{tmp_path}/f?", unit) == [99]
    write(tmp_path / "f[1]" / "2.parquet", {"id": [2], "Age": [12]})
    with pytest.raises(SourceError, match="cannot distinguish"):
        format_of(spark, f"file://{tmp_path}/f[1]")
    write(tmp_path / "f[1]" / "2.parquet", {"id": [2], "age": ["12"]})
    with pytest.raises(SourceError, match="one schema"):
        format_of(spark, f"file://{tmp_path}/f[1]")


@pytest.mark.usefixtures("elsewhere")
def test_times_elsewhere_that_cannot_be_read_are_found_at_the_opening(
    spark: Any, tmp_path: Path
) -> None:
    times = pa.array([0, 2**62], pa.timestamp("ms"))
    path = write(tmp_path / "1.parquet", {"id": [1, 2], "at": times})
    with (
        closing(SparkEngine(f"file://{path}", UNIT, spark)) as engine,
        pytest.raises(SourceError, match="cannot read"),
    ):
        engine.inspect()
