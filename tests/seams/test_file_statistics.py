"""What a file says of its values decides nothing: NaN, long texts, and keys by their bits."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.data.units import Unit
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.duckdb.public import read_public
from support.engines import count_query, counted, sample_query, sampled

NAN = float("nan")
Writer = Callable[[pa.Table, Path], Any]


def frame(table: pa.Table, path: Path) -> Any:
    return table


def by_pyarrow(table: pa.Table, path: Path) -> Path:
    pq.write_table(table, path)
    return path


def without_statistics(table: pa.Table, path: Path) -> Path:
    pq.write_table(table, path, write_statistics=False)
    return path


def in_small_groups(table: pa.Table, path: Path) -> Path:
    pq.write_table(table, path, row_group_size=2, write_page_index=True, use_dictionary=False)
    return path


def by_polars(table: pa.Table, path: Path) -> Path:
    pl.from_arrow(table).write_parquet(path, statistics="full")  # type: ignore[union-attr]
    return path


def by_duckdb(table: pa.Table, path: Path) -> Path:
    with duckdb.connect() as connection:
        connection.register("source", table)
        connection.execute(f"COPY source TO '{path}' (FORMAT parquet)")
    return path


def as_csv(table: pa.Table, path: Path) -> Path:
    named = path.with_suffix(".csv")
    named.write_text(
        "\n".join(["k,id", *(f"{row['k']!r},{row['id']}" for row in table.to_pylist())])
    )
    return named


PARQUET = (by_pyarrow, without_statistics, in_small_groups, by_polars, by_duckdb)
WRITERS = (frame, *PARQUET, as_csv)


def numbers(*values: float, kind: pa.DataType | None = None) -> pa.Table:
    ids = pa.array(range(len(values)))
    return pa.table({"k": pa.array(values, kind or pa.float64()), "id": ids})


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
@pytest.mark.parametrize("write", WRITERS)
def test_a_policy_sees_nan(write: Writer, kind: pa.DataType, tmp_path: Path) -> None:
    engine = DuckDBEngine(write(numbers(1, 2, NAN, kind=kind), tmp_path / "x.parquet"), Unit())
    kept = sampled(engine, sample_query(engine, "k > 5.0", epsilon="40"))
    assert [row[1] for row in kept] == [0, 1]
    assert counted(engine.count(count_query(engine, "k > 5.0", []))) == [(3, 2)]
    assert counted(engine.count(count_query(engine, "NOT k <= 5.0", []))) == [(3, 2)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("condition", ["k > 5.0", "NOT k < 5.0", "k <> 1.0", "k >= 2.5", "k > 0.5"])
@pytest.mark.parametrize("write", WRITERS)
def test_a_filter_on_one_row_looks_at_that_row(
    write: Writer, condition: str, tmp_path: Path
) -> None:
    """Whether the rows with NaN are counted does not follow from the value of another one."""
    found = []
    for secret in (1.0, 7.0, NAN, -0.0):
        engine = DuckDBEngine(
            write(numbers(secret, NAN, 1, NAN), tmp_path / f"{secret}.parquet"), Unit()
        )
        query = count_query(engine, "id = 0", [], where=condition)
        found.append(counted(engine.count(query))[0][-1])
        sample = sample_query(engine, "id = 0", where=condition, epsilon="40")
        found.append(len(sampled(engine, sample)))
        engine.close()
    assert set(found) == {3 if condition == "k > 0.5" else 2}


@pytest.mark.parametrize("condition", ["k > 5.0", "k = 1.5", "k IS NULL", "k IN (1.0, 7.0)"])
@pytest.mark.parametrize("write", PARQUET)
def test_no_filter_on_a_float_reaches_the_file(
    write: Writer, condition: str, tmp_path: Path
) -> None:
    path = write(numbers(1, 2, NAN), tmp_path / "x.parquet")
    engine = DuckDBEngine(path, Unit())
    query = sample_query(engine, condition, where=condition)
    words = "".join(engine.plan(query).split()).replace("│", "")
    assert "nextafter(k,k)" in words
    assert "Filters:k" not in words


def test_a_key_has_the_same_bits_whoever_comes_first(tmp_path: Path) -> None:
    """The payload of a sensitive NaN and the sign of a sensitive zero stay where they are."""
    for number, write in enumerate((frame, *PARQUET)):
        keys = []
        for secret in (0x7FF8DEADBEEF0001, 0xFFF8000000000000, 0x7FF8000000000000):
            bits = [secret, 0x7FF8000000000000, 0x8000000000000000, 0]
            cells = pa.array(struct.unpack("<4d", struct.pack("<4Q", *bits)))
            table = pa.table({"k": cells, "id": range(4)})
            path = tmp_path / f"{number}-{secret}.parquet"
            engine = DuckDBEngine(write(table, path), Unit())
            counts = engine.count(count_query(engine, "id = 0", ["k"]))
            keys.append(counts.keys.column(0).combine_chunks().view(pa.uint64()).to_pylist())
            engine.close()
        assert keys[0] == keys[1] == keys[2] == [0, 0x7FF8000000000000]


@pytest.mark.parametrize("write", WRITERS)
def test_conditions_agree_with_arrow_on_long_texts(write: Writer, tmp_path: Path) -> None:
    """Writers cut the ends of long texts in their statistics."""
    texts = ["a" * 100, "a" * 100 + "b", "a" * 64, "\U0010ffff" * 40, "é" * 80, None]
    if write is as_csv:
        pytest.skip("a CSV file has no statistics")
    table = pa.table({"k": texts, "id": range(6)})
    engine = DuckDBEngine(write(table, tmp_path / "x.parquet"), Unit())
    for text in texts[:-1]:
        for sign, holds in ((">", str.__gt__), ("<=", str.__le__), ("=", str.__eq__)):
            expected = sum(holds(each, str(text)) for each in texts[:-1] if each is not None)
            where = f"k {sign} '{text}'"
            assert counted(engine.count(count_query(engine, "FALSE", [], where=where))) == [
                (expected, expected)
            ]
            open_rows = 5 - expected
            assert counted(engine.count(count_query(engine, where, []))) == [(6, open_rows)]


def test_a_public_table_keeps_its_nan(tmp_path: Path) -> None:
    table = read_public("p", by_pyarrow(numbers(1, NAN), tmp_path / "p.parquet"))
    assert table.content.column("k").to_pylist()[0] == 1
    assert table.content.column("k").is_null(nan_is_null=True).to_pylist() == [False, True]
