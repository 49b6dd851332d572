"""The name of a file is the name of that one file, with any letters in it."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.data.units import Unit
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.duckdb.public import read_public
from onesided.engine.sources import Files
from onesided.errors import SourceError
from support.engines import sample_query, sampled

NAMES = (
    "x[1]",
    "a*",
    "q?",
    "{a,b}",
    "it's",
    'say "x"',
    "new\nline",
    "%20",
    "-dash",
    "back\\slash",
    "naïve 中文",
    "**",
    "[",
    "]",
    "[!x]",
    "hive=1",
    "$HOME",
    "x.parquet",
    "~",
)
DECOYS = ("x1", "ab", "qx", "a", "b", "newline", " ", "hive")


def write(path: Path, rows: int) -> Path:
    """A table that says which file it is by the number of its rows, as Parquet or CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        path.write_text("\n".join(["n", *map(str, range(rows))]) + "\n")
    else:
        pq.write_table(pa.table({"n": range(rows)}), path)
    return path


def rows_of(source: Path | str) -> int:
    engine = DuckDBEngine(source, Unit())
    found = len(sampled(engine, sample_query(engine, "FALSE", epsilon="40")))
    engine.close()
    return found


@pytest.mark.one_in(4)
@pytest.mark.parametrize("ending", [".parquet", ".csv"])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_the_one_of_that_name(name: str, ending: str, tmp_path: Path) -> None:
    for decoy in DECOYS:
        write(tmp_path / f"{decoy}{ending}", 5)
    path = write(tmp_path / f"{name}{ending}", 2)
    assert rows_of(path) == 2
    assert len(read_public("p", path).content) == 2


@pytest.mark.one_in(4)
@pytest.mark.parametrize("ending", [".parquet", ".csv"])
@pytest.mark.parametrize("name", NAMES)
def test_a_folder_is_the_one_of_that_name(name: str, ending: str, tmp_path: Path) -> None:
    for decoy in DECOYS:
        write(tmp_path / decoy / f"x{ending}", 5)
    path = write(tmp_path / name / f"x{ending}", 2)
    assert rows_of(path) == 2
    assert rows_of(f"{tmp_path}/{name}/*{ending}") == 2
    if ending == ".parquet":
        assert rows_of(path.parent) == 2


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.parquet"))
    write(tmp_path / "x.parquet", 2).rename(path)
    assert rows_of(path) == 2
    assert rows_of(tmp_path) == 2


NO_FILES = ("a\0b.parquet", "*\0*", "~\0/x", "x" * 5000, "x" * 5000 + "*", "\ud800*", "", "[a-\0]")


@pytest.mark.parametrize("text", NO_FILES, ids=lambda text: ascii(text[:9]))
def test_a_name_that_no_file_can_have(text: str, tmp_path: Path) -> None:
    for source in (text, f"{tmp_path}/{text}/x.parquet"):
        with pytest.raises(SourceError, match="There is no file") as refused:
            osd.open(source, policy="n = 0", budget=1, unit="rows")
        assert len(str(refused.value)) < 300


def test_the_private_folder_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "it's [1] *?"
    private.mkdir()
    (tmp_path / "it's 1 ab").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(private))
    assert rows_of(write(tmp_path / "x[1].parquet", 2)) == 2
    for number in (1, 2):
        write(tmp_path / "many" / f"{number}.csv", number)
    assert rows_of(f"{tmp_path}/many/*.csv") == 3


def test_every_row_has_a_coin_of_its_own(tmp_path: Path) -> None:
    """Files with odd names in one folder: no row is read twice, and none shares a coin."""
    for number, name in enumerate(NAMES):
        if name != "x.parquet":
            write(tmp_path / "all" / name / f"{name}.parquet", number + 1)
    engine = DuckDBEngine(tmp_path / "all", Unit())
    expected = sum(number + 1 for number, name in enumerate(NAMES) if name != "x.parquet")
    assert engine.inspect().units == expected
    kept = sampled(engine, sample_query(engine, "FALSE", epsilon="0.7"))
    assert 0 < len(kept) < expected


def test_a_change_of_the_file_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "a*.parquet", 3)
    write(tmp_path / "ab.parquet", 4)
    with osd.open(path, policy="n = 0", budget=80, unit="rows") as data:
        write(tmp_path / "ab.parquet", 5)
        assert data.sample(40, yes=True).table.column("n").to_pylist() == [1, 2]
        write(path, 6)
        with pytest.raises(SourceError, match="changed"):
            data.sample(40, where="n > 0", yes=True)


def test_a_link_and_its_file_are_one(tmp_path: Path) -> None:
    path = write(tmp_path / "x.parquet", 2)
    (tmp_path / "y.parquet").symlink_to(path)
    assert len(Files.find(f"{tmp_path}/*.parquet").paths) == 1
    assert rows_of(f"{tmp_path}/*.parquet") == 2
