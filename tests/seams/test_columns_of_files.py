"""What a format cannot hold is refused before the charge, by its type alone."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.cli import run
from onesided.data.files import FileFormat, check_format, write_table
from onesided.errors import OutputError
from onesided.ledger import open_ledger

ROWS = 6
COLUMNS = {
    "list": pa.array([[1, 2]] * ROWS),
    "struct": pa.array([{"a": 1}] * ROWS),
    "map": pa.array([[("a", 1)]] * ROWS, pa.map_(pa.string(), pa.int32())),
    "array": pa.array([[1, 2]] * ROWS, pa.list_(pa.int32(), 2)),
    "binary": pa.array([b"\xff"] * ROWS),
    "coded": pa.array(["a"] * ROWS).dictionary_encode(),
    "decimal": pa.array([Decimal("1.5")] * ROWS, pa.decimal128(20, 2)),
    "time": pa.array([1] * ROWS, pa.time64("us")),
    "duration": pa.array([1] * ROWS, pa.duration("us")),
}
NEVER_IN_CSV = ("list", "struct", "map", "array", "binary")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"age": [40] * ROWS, **COLUMNS}), tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


ASK = [
    "--unit",
    "rows",
    "--policy",
    "age < 18",
    "--epsilon",
    "9",
    "--budget",
    "9",
    "--ledger",
    "a.ledger",
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("column", [*COLUMNS, "all"])
@pytest.mark.parametrize("ending", [each.value for each in FileFormat])
def test_a_sample_is_written_or_refused_before_its_charge(
    column: str, ending: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = [] if column == "all" else ["--columns", f"{column},age"]
    code = run(["sample", str(source), *ASK, *columns, "--out", f"out{ending}"])
    said = capsys.readouterr()
    assert code in (0, 2), said.err
    assert Path(f"out{ending}").exists() is (code == 0)
    if column in (*NEVER_IN_CSV, "all") and ending == ".csv":
        assert code == 2
    if column in ("coded", "decimal", "time", "list", "struct", "binary") and ending != ".csv":
        assert code == 0
    if code == 2:
        assert "cannot hold the column" in said.err
        assert said.err.count("\n") == 1
        assert not Path("a.ledger").exists()
    else:
        book = open_ledger("a.ledger", create=False)
        assert len(book.accounts()[0].balance().charges) == 1
        book.close()


def test_the_sentence_says_what_works(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sample", str(source), *ASK, "--columns", "list", "--out", "x.csv"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("onesided: A .csv file cannot hold the column list")
    assert said.endswith("write .parquet or .arrow, or choose other columns.\n")


def test_the_library_refuses_what_it_cannot_write(source: Path) -> None:
    with osd.open(source, policy="age < 18", budget=9, unit="rows") as dataset:
        dataset.check_writable(["list"], "x.parquet")
        for columns in (["list"], None):
            with pytest.raises(OutputError, match="cannot hold"):
                dataset.check_writable(columns, "x.csv")
        release = dataset.sample(epsilon=9, columns=["list"])
        with pytest.raises(OutputError, match="cannot hold"):
            release.write("x.csv")
        release.write("x.parquet")
    assert not Path("x.csv").exists()


SMALL = pa.int8()
KINDS = [
    *(pa.null(), pa.bool_(), SMALL, pa.uint64(), pa.float16(), pa.float64(), pa.bool8()),
    *(pa.string(), pa.large_string(), pa.string_view(), pa.uuid(), pa.json_()),
    *(pa.binary(), pa.large_binary(), pa.binary(3), pa.binary_view()),
    *(pa.decimal128(38, 2), pa.decimal256(60, 2), pa.decimal128(5, -3)),
    *(pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.duration("ns")),
    *(pa.timestamp("s"), pa.timestamp("us", "UTC"), pa.month_day_nano_interval()),
    *(pa.list_(SMALL), pa.list_view(SMALL), pa.map_(SMALL, SMALL), pa.struct({"a": SMALL})),
    *(pa.dictionary(SMALL, pa.string()), pa.dictionary(SMALL, pa.binary())),
    *(pa.dense_union([pa.field("a", SMALL)]), pa.run_end_encoded(pa.int32(), SMALL)),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("ending", [each.value for each in FileFormat])
def test_what_is_accepted_can_be_written(kind: pa.DataType, ending: str, tmp_path: Path) -> None:
    table = pa.table({"x": pa.nulls(3, kind)})
    path = tmp_path / f"x{ending}"
    try:
        check_format(table.schema, path)
    except OutputError:
        return
    write_table(table, path)
    assert path.stat().st_size > 0
