"""A text that is not UTF-8 is NULL, hence sensitive, wherever it stands; no other text is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.data.units import Unit
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.duckdb.public import read_public
from onesided.errors import SourceError
from support.engines import count_query, counted, sample_query, sampled

BROKEN = (b"hi\xffv", b"\xed\xa0\x80", b"\xc0\x80hiv", b"hiv\xf4\x90\x80\x80", b"z" * 120 + b"\x80")
GOOD = (b"hiv", "é?�".encode(), b"", b"nul\x00l")
Form = Callable[[pa.Array], pa.Array]


def plain(cells: pa.Array) -> pa.Array:
    return cells.view(pa.string())


def dictionary(cells: pa.Array) -> pa.Array:
    places = pa.array(range(len(cells)), pa.int32())
    return pa.DictionaryArray.from_arrays(places, cells.view(pa.string()))


def frame(table: pa.Table, folder: Path) -> Any:
    return table


def parquet(table: pa.Table, folder: Path) -> Any:
    pq.write_table(table, folder / "x.parquet", row_group_size=3)
    return folder / "x.parquet"


def two_files(table: pa.Table, folder: Path) -> Any:
    pq.write_table(table.slice(0, 4), folder / "a.parquet")
    pq.write_table(table.slice(4), folder / "b.parquet")
    return folder


@pytest.fixture
def broken_json(tmp_path: Path) -> Path:
    """A file whose JSON has bytes that are no letters, which the errors of DuckDB quote."""
    cells = pa.array([b"{}", b'"\xff"', b"[]"], pa.binary()).view(pa.string())
    table = pa.table({"id": [1, 2, 3], "x": pa.ExtensionArray.from_storage(pa.json_(), cells)})
    pq.write_table(table, tmp_path / "broken.parquet")
    return tmp_path / "broken.parquet"


def test_broken_json_fails_no_release_after_its_charge(broken_json: Path) -> None:
    options: dict[str, Any] = {"policy": "x = 'q'", "budget": 100, "name": "visits", "unit": "id"}
    with osd.open(broken_json, **options) as dataset:
        assert dataset.count(by=["id"], where="x <> 'q'", epsilon=1).table.num_rows <= 3
        assert dataset.sample(epsilon=20, yes=True).table.num_rows <= 2


def test_broken_json_beside_the_data_fails_in_a_sentence_or_not_at_all(broken_json: Path) -> None:
    with pytest.raises(SourceError, match="The public table rooms cannot be read"):
        read_public("rooms", broken_json)
    with osd.open(
        pa.table({"id": [1, 2, 3, 4]}),
        policy="rooms.x = 'q'",
        name="visits",
        unit="id",
        budget=100,
        lookups={"rooms": broken_json},
    ) as dataset:
        # What cannot be read is NULL, as is what is not found: both are sensitive.
        kept = dataset.sample(epsilon=50, yes=True).table
    assert kept.column("id").to_pylist() == [1, 3]


@pytest.mark.parametrize("form", [plain, dictionary])
@pytest.mark.parametrize("write", [frame, parquet, two_files])
@pytest.mark.parametrize("unit", [Unit(), Unit(("id",))], ids=str)
def test_a_broken_text_is_null(write: Any, form: Form, unit: Unit, tmp_path: Path) -> None:
    cells = form(pa.array([*BROKEN, *GOOD], pa.binary()))
    table = pa.table({"id": range(len(cells)), "x": cells})
    engine = DuckDBEngine(write(table, tmp_path), unit)
    kept = sampled(engine, sample_query(engine, "x = 'hiv'", epsilon="40"))
    assert [row[1].encode() for row in kept] == list(GOOD[1:])
    texts = counted(engine.count(count_query(engine, "FALSE", ["x"])))
    assert texts[0][:2] == (None, len(BROKEN))
    assert sorted(row[0].encode() for row in texts[1:]) == sorted(GOOD)
    engine.close()


@pytest.mark.parametrize("asks", [["id", "x"], ["id", "x", "people.age"]], ids=["own", "both"])
def test_a_broken_text_beside_a_lookup_fails_nothing(asks: list[str], tmp_path: Path) -> None:
    cells = plain(pa.array([*BROKEN, *GOOD], pa.binary()))
    ids = list(range(len(cells)))
    with osd.open(
        parquet(pa.table({"id": ids, "x": cells}), tmp_path),
        policy="people.age < 2",
        unit="id",
        budget=200,
        lookups={"people": pa.table({"id": ids, "age": ids})},
    ) as dataset:
        kept = dataset.sample(columns=asks, epsilon=50, yes=True).table
        counts = dataset.count(by=["people.age"], where="x <> 'q'", epsilon=50, yes=True).table
    texts = [None] * (len(BROKEN) - 2) + [each.decode() for each in GOOD]
    assert kept.column("x").to_pylist() == texts
    assert counts.column("people.age").to_pylist() == ids[len(BROKEN) :]
