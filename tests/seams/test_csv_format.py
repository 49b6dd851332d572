"""How CSV files are read is found once, over all of them, and decided by no later row."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from onesided.data.units import Unit
from onesided.engine.csv_options import CsvOptions
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import SourceError
from support.engines import count_query, counted, sample_query, sampled


def write(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def opened(path: Path | str, format: Any = None) -> DuckDBEngine:
    return DuckDBEngine(path, Unit(), format=format)


def rows(engine: DuckDBEngine, policy: str = "id = 1", where: str | None = None) -> list[Any]:
    return sampled(engine, sample_query(engine, policy, where=where, epsilon="40"))


def types(engine: DuckDBEngine) -> list[str]:
    return [column["type"] for column in engine.format["columns"]]


SECRETS = ("02/12/2020", "02/13/2020", "13/02/2020", "no date", "", "2020-02-13", "99/99/9999")


@pytest.mark.parametrize("agreed", ["%d/%m/%Y", "%m/%d/%Y"])
def test_one_row_decides_nothing_about_the_dates_of_others(agreed: str, tmp_path: Path) -> None:
    example = date(2021, 5, 20).strftime(agreed)
    first = opened(write(tmp_path, "first.csv", "id,day", f"1,{example}", f"2,{example}"))
    format = json.loads(json.dumps(first.format))
    assert format["columns"][1] == {"name": "day", "type": "DATE", "format": agreed}
    found = []
    for secret in SECRETS:
        path = write(tmp_path, "next.csv", "id,day", f"1,{secret}", "2,03/04/2020", "3,01/02/2020")
        engine = opened(path, format)
        assert engine.format == format
        found.append((rows(engine), engine.output_schema(("id", "day"))))
        counts = counted(engine.count(count_query(engine, "id = 1", ["day"])))
        found[-1] += ([group for group in counts if group[-1]],)
        engine.close()
    assert all(each == found[0] for each in found)
    expected = datetime.strptime("03/04/2020", agreed).date()
    assert found[0][0][0] == (2, expected)


TYPED = (
    ("BIGINT", ["7", "-3"], ["1.5", "x", "", "1e3", "99999999999999999999", "7 7", "٣"]),
    ("DOUBLE", ["1.5", "2"], ["x", "1,5", "", "1.5.5"]),
    ("BOOLEAN", ["true", "false"], ["perhaps", "", "7x"]),
    ("DATE", ["2020-01-01", "2020-01-02"], ["2020-13-01", "soon", "", "2020-01-01 10:00:00"]),
    ("TIMESTAMP", ["2020-01-01 10:00:00", "2020-01-01 11:00:00"], ["2020-01-01 25:00:00", ""]),
    ("TIMESTAMP", ["2020-01-01 10:00:00", "2020-01-01 11:00:00"], ["2020-01-01 10:00:00+05:00"]),
    ("TIMESTAMP WITH TIME ZONE", ["2020-01-01T10:00:00Z", "2020-01-01T10:00:00+01:00"], ["x", ""]),
    ("TIME", ["10:00:00", "11:30:00"], ["25:00:00", "noon", ""]),
)


@pytest.mark.parametrize(("kind", "fitting", "misfits"), TYPED)
def test_what_does_not_fit_is_null_and_sensitive(
    kind: str, fitting: list[str], misfits: list[str], tmp_path: Path
) -> None:
    lines = [f"{place},{cell}" for place, cell in enumerate(fitting, start=2)]
    first = opened(write(tmp_path, "first.csv", "id,x", *lines))
    assert types(first) == ["BIGINT", kind]
    expected = rows(first)
    for misfit in misfits:
        path = write(tmp_path, "next.csv", "id,x", f'1,"{misfit}"', *lines)
        engine = opened(path, first.format)
        assert rows(engine, "x IS NULL") == expected
        assert rows(engine, "FALSE", "x IS NULL") == [(1, None)]
        engine.close()


def test_a_wider_value_at_the_first_opening_makes_a_wider_type(tmp_path: Path) -> None:
    """Nothing is lost silently: the steward's first files are read as what holds all of them."""
    write(tmp_path, "a.csv", "id,x,d,t,e", "1,7,02/12/2020,2020-01-01,", "2,8,03/12/2020,x,")
    write(tmp_path, "b.csv", "id,x,d,t,e", "3,1.5,02/13/2020,2020-01-01,5")
    engine = opened(f"{tmp_path}/*.csv")
    assert types(engine) == ["BIGINT", "DOUBLE", "DATE", "VARCHAR", "BIGINT"]
    assert [row[2] for row in rows(engine, "FALSE")] == [
        date(2020, 2, 12),
        date(2020, 3, 12),
        date(2020, 2, 13),
    ]


def test_orders_of_dates_that_contradict_are_texts_once_that_is_said(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", "id,d", "1,13/02/2020")
    write(tmp_path, "b.csv", "id,d", "3,02/13/2020")
    with pytest.raises(SourceError, match="holds dates; the likely cause is their format"):
        opened(f"{tmp_path}/*.csv")
    said = CsvOptions.of({"types": {"d": "text"}})
    engine = DuckDBEngine(f"{tmp_path}/*.csv", Unit(), csv=said)
    assert types(engine) == ["BIGINT", "VARCHAR"]


def test_a_quote_in_the_second_file_belongs_to_all(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", "id,x", "1,a")
    write(tmp_path, "b.csv", "id,x", '2,"b,c"')
    assert rows(opened(f"{tmp_path}/*.csv"), "FALSE") == [(1, "a"), (2, "b,c")]


def test_files_that_are_written_in_two_ways_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", "id,x", "1,a")
    write(tmp_path, "b.csv", "id;x", "2;b")
    with pytest.raises(SourceError, match="written alike"):
        opened(f"{tmp_path}/*.csv")


BAD_ROWS = ("1", "1,2,3", '1,"2', "1,\udcff")


@pytest.mark.parametrize("bad", BAD_ROWS, ids=ascii)
def test_rows_that_cannot_be_cut_are_refused_at_the_opening(bad: str, tmp_path: Path) -> None:
    first = opened(write(tmp_path, "first.csv", "id,x", "2,3", "4,5"))
    path = tmp_path / "next.csv"
    path.write_bytes(f"id,x\n2,3\n{bad}\n4,5\n".encode("utf-8", "surrogateescape"))
    with pytest.raises(SourceError):
        opened(path, first.format)


@pytest.mark.parametrize("header", ["id,y", "x,id", "id", "id,x,y", "ID,x", "id,X"])
def test_another_header_is_refused(header: str, tmp_path: Path) -> None:
    first = opened(write(tmp_path, "first.csv", "id,x", "2,3"))
    cells = ",".join("2" for _ in header.split(","))
    with pytest.raises(SourceError):
        opened(write(tmp_path, "next.csv", header, cells), first.format)


def test_another_form_is_refused(tmp_path: Path) -> None:
    import pyarrow as pa

    first = opened(write(tmp_path, "first.csv", "id,x", "2,3"))
    with pytest.raises(SourceError, match="form"):
        DuckDBEngine(pa.table({"id": [2], "x": [3]}), Unit(), format=first.format)


def test_odd_files_are_read_as_before(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes(b'\xef\xbb\xbfid;x y;"q""t"\r\n1;"a;b";\r\n2;c""d;"e\r\nf"\r\n')
    engine = opened(path)
    assert list(engine.schema) == ["id", "x y", 'q"t']
    assert rows(engine, "FALSE")[0] == (1, "a;b", None)
    assert opened(path, engine.format).format == engine.format


def test_a_file_without_a_header(tmp_path: Path) -> None:
    first = opened(write(tmp_path, "first.csv", "1,2020-01-01", "2,2020-01-02"))
    assert list(first.schema) == ["column0", "column1"]
    again = opened(write(tmp_path, "next.csv", "3,2020-01-01", "4,never"), first.format)
    assert sampled(again, sample_query(again, "column1 IS NULL", epsilon="40")) == [
        (3, date(2020, 1, 1))
    ]
