"""DataFusion: what only it refuses, and an account that it shares with DuckDB."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.data.units import Unit
from onesided.engine.base import PublicTable
from onesided.engine.datafusion.engine import DataFusionEngine
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import RequestError, SourceError
from onesided.language import Schema, Type
from support.engines import count_query, sample_query, sampled, write

TABLE = pa.table(
    {"id": range(300), "n": [each % 7 for each in range(300)], "t": ["a", "b", None] * 100}
)


def opened(source: Any, **options: Any) -> osd.Dataset:
    given = {"unit": "rows", "policy": "n = 3", "budget": 100, **options}
    return osd.open(source, connection="datafusion", **given)


def test_csv_is_refused(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("id,n\n1,2\n")
    with pytest.raises(SourceError, match="CSV"):
        opened(tmp_path / "visits.csv")


def test_a_table_is_refused() -> None:
    with pytest.raises(RequestError, match="no tables of its own"):
        osd.open(table="visits", policy="n = 3", connection="datafusion", unit="rows")


@pytest.mark.parametrize("limit", ["much", "2", "2PB", "-1GB"])
def test_a_limit_that_says_nothing_is_refused(limit: str) -> None:
    with pytest.raises(RequestError, match="looks like 2GB"):
        opened(TABLE, memory_limit=limit)


def test_files_must_be_alike(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "one.parquet")
    pq.write_table(TABLE.select(["n", "id", "t"]), tmp_path / "two.parquet")
    with pytest.raises(SourceError, match=r"one\.parquet and two\.parquet"):
        opened(tmp_path)


def test_a_file_that_is_none_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "visits.parquet").write_bytes(b"PAR1 but no more")
    with pytest.raises(SourceError, match="cannot be read"):
        opened(tmp_path / "visits.parquet")


def test_it_goes_on_with_the_account_of_duckdb(tmp_path: Path) -> None:
    path = write(TABLE, tmp_path)
    terms: dict[str, Any] = {"unit": "id", "policy": "n = 3", "ledger": tmp_path / "visits.ledger"}
    with osd.open(path, budget=10, **terms) as here:
        first = here.sample(1).table
    with osd.open(path, connection="datafusion", **terms) as there:
        assert there.budget.spent == 1
        assert there.sample(1).table == first
        assert there.budget.spent == 1
        assert there.sample(2).table.num_rows > len(first)


def test_changed_columns_are_refused(tmp_path: Path) -> None:
    path = write(TABLE, tmp_path)
    ledger = tmp_path / "visits.ledger"
    with opened(path, ledger=ledger) as data:
        data.sample(1)
    write(TABLE.set_column(1, "n", TABLE["n"].cast(pa.float64())), tmp_path)
    with pytest.raises(SourceError, match="n of another type"):
        opened(path, ledger=ledger)


def test_a_policy_in_python_runs_on_a_frame() -> None:
    kept = {}
    for name, policy in (("python", lambda row: row["n"] == 3), ("sql", "n = 3")):
        with osd.open(
            TABLE,
            policy=policy,
            connection="datafusion",
            budget=50,
            rng=osd.seeded(1),
            unit="rows",
        ) as data:
            kept[name] = data.sample(40, yes=True).table
    assert kept["python"] == kept["sql"]
    assert kept["sql"]["n"].to_pylist().count(3) == 0


def test_a_limit_changes_no_row(tmp_path: Path) -> None:
    path = write(TABLE, tmp_path)
    answers = []
    for limit in (None, "64MB", "0.1GiB"):
        with closing(DataFusionEngine(path, Unit(("id",)), memory_limit=limit)) as engine:
            answers.append(sampled(engine, sample_query(engine, "n = 3", epsilon="2")))
    assert answers[0] == answers[1] == answers[2]


def test_an_empty_public_table_is_held() -> None:
    schema = Schema.of({"n": Type.INTEGER})
    with closing(DataFusionEngine(TABLE, Unit(("id",)))) as engine:
        held = engine.hold(PublicTable("No rows", schema, TABLE.select(["n"]).slice(0, 0)))
        assert held.relation == '"osd_public_No rows"'


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setenv("TMPDIR", str(private))
    monkeypatch.setattr("tempfile.tempdir", None)
    with opened(write(TABLE, tmp_path)) as data:
        assert data.sample(Fraction(1)).table.num_rows > 0
        assert list(private.iterdir()) != []
    assert list(private.iterdir()) == []


def at_the_ends(kind: pa.DataType) -> pa.Array:
    """Days or moments before and after all others, beside their neighbours and plain ones."""
    width = pa.int32() if kind.bit_width == 32 else pa.int64()
    last = 2 ** (kind.bit_width - 1) - 1
    return pa.array([last, -last, last - 1, 1 - last, 7, 0], width).view(kind)


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us")], ids=str)
def test_the_same_groups_of_a_unit_count_at_the_ends_of_the_calendar(kind: pa.DataType) -> None:
    """Days and moments that stand for no end have no number, and so no text of their own."""
    ends = at_the_ends(kind)
    pairs = [(one, two) for one in range(len(ends)) for two in range(one)] * 4
    rows = pa.table(
        {
            "unit": [number for number, pair in enumerate(pairs) for _ in pair],
            "x": pa.concat_arrays([ends.slice(place, 1) for pair in pairs for place in pair]),
        }
    )
    answers = []
    for kind_of in (DuckDBEngine, DataFusionEngine):
        with closing(kind_of(rows, Unit(("unit",)))) as engine:
            query = count_query(engine, "unit < 0", ["unit", "x"], max_groups=1)
            answers.append(engine.count(query).keys)
    assert answers[0].equals(answers[1])


def test_a_description_is_the_same_release() -> None:
    columns = {"id": range(40), "person": [row % 9 for row in range(40)]}
    table = pa.table({**columns, "room": ["ab"[row % 2] for row in range(40)]})
    found = []
    for connection in (None, "datafusion"):
        settings: dict[str, Any] = {"unit": "person", "policy": "id = 3", "budget": 9}
        rng = osd.seeded(1)
        with osd.open(table, connection=connection, rng=rng, **settings) as data:
            found.append(data.describe(epsilon=5).cells)
    assert found[0] == found[1]
