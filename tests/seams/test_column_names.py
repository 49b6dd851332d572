"""Columns whose names an engine could take for one another are refused at the opening."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.datasets.trajectories import TraceColumns, write_trajectories
from onesided.engine.duckdb.public import read_public
from onesided.errors import SourceError

ALIKE = (
    ("age", "age"),
    ("age", "Age"),
    ("age", "age "),
    ("age", " age"),
    ("a ge", "age"),
    ("straße", "STRASSE"),
    ("é", "e\u0301"),
    ("k", "\u212a"),
    ("age", "\uff41ge"),
    ("age", "a\u200bge"),
    ("age", "ag\u00ade"),
)


def table(names: Sequence[str]) -> pa.Table:
    return pa.table([pa.array([30 + place, 12]) for place, _ in enumerate(names)], list(names))


def frame(names: Sequence[str], folder: Path) -> Any:
    return table(names)


def parquet(names: Sequence[str], folder: Path) -> Path:
    pq.write_table(table(names), folder / "x.parquet")
    return folder / "x.parquet"


def second_parquet(names: Sequence[str], folder: Path) -> Path:
    pq.write_table(table(["age", "other"]), folder / "a.parquet")
    pq.write_table(table(names), folder / "b.parquet")
    return folder


def csv(names: Sequence[str], folder: Path, name: str = "x.csv") -> Path:
    path = folder / name
    rows = [",".join(names), *(",".join([cell] * len(names)) for cell in ("30", "12"))]
    path.write_text("\n".join(rows) + "\n")
    return path


def second_csv(names: Sequence[str], folder: Path) -> str:
    csv(["age", "other"], folder, "a.csv")
    csv(names, folder, "b.csv")
    return f"{folder}/*.csv"


WRITERS = (frame, parquet, second_parquet, csv, second_csv)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("names", ALIKE, ids=ascii)
@pytest.mark.parametrize("write", WRITERS)
def test_names_that_are_alike_are_refused(
    write: Any, names: tuple[str, str], tmp_path: Path
) -> None:
    source = write(names, tmp_path)
    with pytest.raises(SourceError, match=r"rename|write|give"):
        osd.open(source, policy="age < 18", budget=1, unit="rows")
    with pytest.raises(SourceError):
        read_public("p", source)


OTHERS = (("age", "more"), ("other", "age"), ("age",), ("age", "other", "more"))


@pytest.mark.parametrize("names", OTHERS, ids="-".join)
@pytest.mark.parametrize("write", [second_parquet, second_csv])
def test_files_with_other_columns_are_refused(
    write: Any, names: tuple[str, ...], tmp_path: Path
) -> None:
    with pytest.raises(SourceError):
        osd.open(write(names, tmp_path), policy="age < 18", budget=1, unit="rows")


def test_files_with_other_types_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": pa.array([1], pa.int64())}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"age": pa.array(["old"])}), tmp_path / "b.parquet")
    with pytest.raises(SourceError, match="same columns"):
        osd.open(tmp_path, policy="age < 18", budget=1, unit="rows")


@pytest.mark.parametrize("write", [frame, parquet, csv])
@pytest.mark.parametrize("name", ["osd_x", "OSD_x", "\uff4fsd_x", "osd _x"], ids=ascii)
def test_reserved_names_are_refused(write: Any, name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="reserved"):
        osd.open(write(["age", name], tmp_path), policy="age < 18", budget=1, unit="rows")


@pytest.mark.parametrize("write", [frame, parquet, csv])
def test_odd_names_are_kept(write: Any, tmp_path: Path) -> None:
    names = ["a b.c", 'say ""x""' if write is csv else 'say "x"']
    source = write([f'"{name}"' for name in names] if write is csv else names, tmp_path)
    with osd.open(source, policy='"a b.c" < 18', budget=40, unit="rows") as data:
        rows = data.sample(40, yes=True).table
    assert rows.column_names == ["a b.c", 'say "x"']
    assert rows.column(0).to_pylist() == [30]


@pytest.mark.parametrize("write", [parquet, csv])
def test_traces_with_names_that_are_alike_are_refused(write: Any, tmp_path: Path) -> None:
    names = ["device", "ap", "ts", "consent", "Consent"]
    with pytest.raises(SourceError, match="rename"):
        write_trajectories(write(names, tmp_path), tmp_path / "out.parquet", columns=TraceColumns())
