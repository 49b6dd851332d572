"""CSV files as people have them: opened as they were meant, or refused with the likely cause."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from onesided.data.units import Unit
from onesided.engine.csv_options import CsvOptions
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import RequestError, SourceError
from support.engines import sample_query, sampled


def opened(path: Path, said: Mapping[str, Any] | None = None, format: Any = None) -> DuckDBEngine:
    return DuckDBEngine(str(path), Unit(), csv=CsvOptions.of(said), format=format)


def rows(engine: DuckDBEngine) -> list[Any]:
    return sampled(engine, sample_query(engine, "FALSE", epsilon="40"))


AB = [("a", "lab"), ("b", "cafe")]
MEANT: tuple[tuple[str, bytes, dict[str, Any], list[Any]], ...] = (
    ("a byte order mark", b"\xef\xbb\xbfid,x\na,lab\nb,cafe\n", {}, AB),
    ("semicolons", b"id;x\na;lab\nb;cafe\n", {}, AB),
    ("tabs", b"id\tx\na\tlab\nb\tcafe\n", {}, AB),
    ("a decimal comma", b"id;x\na;1,5\nb;12\n", {"decimal": ","}, [("a", 1.5), ("b", 12.0)]),
    (
        "German thousands",
        b"id;x\na;1.234,5\nb;1.000.000,25\nc;7\n",
        {"decimal": ",", "thousands": "."},
        [("a", 1234.5), ("b", 1000000.25), ("c", 7.0)],
    ),
    (
        "American thousands",
        b'id,x\na,"1,234"\nb,"12,345"\n',
        {"thousands": ","},
        [("a", 1234), ("b", 12345)],
    ),
    (
        "Swiss thousands",
        b"id;x\na;1'234.5\nb;12.0\n",
        {"thousands": "'"},
        [("a", 1234.5), ("b", 12)],
    ),
    ("quotes", b'id,x\na,"lab, ""left"""\nb,cafe\n', {}, [("a", 'lab, "left"'), ("b", "cafe")]),
    ("a line break in a cell", b'id,x\na,"l\nab"\nb,cafe\n', {}, [("a", "l\nab"), ("b", "cafe")]),
    ("mixed ends of lines", b"id,x\r\na,lab\nb,cafe\r\n", {}, AB),
    ("old ends of lines", b"id,x\ra,lab\rb,cafe\r", {}, AB),
    (
        "cp1252",
        "id,x\na,Café\nb,12 €\n".encode("cp1252"),
        {"encoding": "cp1252"},
        [("a", "Café"), ("b", "12 €")],
    ),
    (
        "latin-1",
        b"id,x\na,Caf\xe9\nb,\x80\n",
        {"encoding": "latin-1"},
        [("a", "Café"), ("b", "\x80")],
    ),
    ("utf-16", "id,x\na,lab\nb,cafe\n".encode("utf-16"), {"encoding": "utf-16"}, AB),
    (
        "empty columns at the end",
        b"id,x,,\na,lab,,\nb,cafe,,\n",
        {"header": True},
        [("a", "lab", None, None), ("b", "cafe", None, None)],
    ),
    ("a delimiter too many in each row", b"id,x\na,lab,\nb,cafe,\n", {}, AB),
    ("headers with blanks around", b" id , x \na,lab\nb,cafe\n", {}, AB),
    ("blank lines", b"id,x\n\na,lab\n\nb,cafe\n\n", {}, AB),
    ("no last end of a line", b"id,x\na,lab\nb,cafe", {}, AB),
    ("a line for spreadsheets", b"sep=;\r\nid;x\r\na;lab\r\nb;cafe\r\n", {}, AB),
    (
        "a title above",
        b"Visits 2024\n\nid,x,y\na,lab,1\nb,cafe,2\n",
        {},
        [("a", "lab", 1), ("b", "cafe", 2)],
    ),
    (
        "German dates",
        b"id,x\na,05.01.2024\nb,17.2.2024\n",
        {},
        [("a", date(2024, 1, 5)), ("b", date(2024, 2, 17))],
    ),
    (
        "American dates",
        b"id,x\na,01/05/2024\nb,02/17/2024\n",
        {},
        [("a", date(2024, 1, 5)), ("b", date(2024, 2, 17))],
    ),
    (
        "dates that only the steward can read",
        b"id,x\na,01/05/2024\nb,02/07/2024\n",
        {"date_format": "%m/%d/%Y"},
        [("a", date(2024, 1, 5)), ("b", date(2024, 2, 7))],
    ),
    (
        "years of two digits",
        b"id,x\na,05.01.24\nb,17.02.99\n",
        {"date_format": "%d.%m.%y"},
        [("a", date(2024, 1, 5)), ("b", date(1999, 2, 17))],
    ),
    (
        "German moments",
        b"id,x\na,05.01.2024 10:30\nb,17.01.2024 11:45\n",
        {"timestamp_format": "%d.%m.%Y %H:%M"},
        [("a", datetime(2024, 1, 5, 10, 30)), ("b", datetime(2024, 1, 17, 11, 45))],
    ),
    (
        "hours of a clock with twelve",
        b"id,x\na,1/5/2024 10:30 AM\nb,1/17/2024 11:45 PM\n",
        {"timestamp_format": "%m/%d/%Y %I:%M %p"},
        [("a", datetime(2024, 1, 5, 10, 30)), ("b", datetime(2024, 1, 17, 23, 45))],
    ),
    (
        "words for missing numbers",
        b"id,x\na,NA\nb,2.5\nc,n/a\n",
        {"types": {"x": "number"}},
        [("a", None), ("b", 2.5), ("c", None)],
    ),
    ("leading zeros", b"id,x\na,01234\nb,00123\n", {}, [("a", "01234"), ("b", "00123")]),
    (
        "long numbers",
        b"id,x\na,12345678901234567890\nb,12345678901234567891\n",
        {"types": {"x": "text"}},
        [("a", "12345678901234567890"), ("b", "12345678901234567891")],
    ),
    ("no header", b"a,lab\nb,cafe\n", {"header": False}, AB),
)
REFUSED = (
    ("a decimal comma", b"id;x\na;1,5\nb;12\n", "decimal"),
    ("thousands", b'id,x\na,"1,234"\nb,"12,345.50"\n', "thousands"),
    ("cp1252", b"id,x\na,Caf\xe9\nb,x\n", "encoding"),
    ("utf-16", "id,x\na,lab\n".encode("utf-16"), "encoding"),
    ("NUL bytes", b"id,x\na,l\0b\nb,cafe\n", "NUL"),
    ("a short row", b"id,x,y\na,lab,1\nb,cafe\nc,hall,3\n", "Line 3 .* cells"),
    ("a long row", b"id,x,y\na,lab,1\nb,cafe,2\nc,hall,3,4\n", "Line . .* cells"),
    ("a quote that is open", b'id,x\na,"lab\nb,cafe\n', "quotation mark"),
    ("years of two digits", b"id,x\na,05.01.24\nb,17.02.24\n", "date_format"),
    ("day or month", b"id,x\na,01/05/2024\nb,02/07/2024\n", "date_format"),
    ("German moments", b"id,x\na,05.01.2024 10:30\nb,17.01.2024 11:45\n", "timestamp_format"),
    ("words for missing numbers", b"id,x\na,NA\nb,2.5\n", "missing"),
    ("long numbers", b"id,x\na,12345678901234567890\nb,1\n", "too long"),
    ("blanks behind delimiters", b"id, x\na, lab\nb, cafe\n", "blank"),
    ("a header or none", b"id,x,,\na,lab,,\nb,cafe,,\n", "header"),
    ("two columns of one name", b"id,x,x\na,lab,1\nb,cafe,2\n", "rename"),
    ("nothing", b"", "empty"),
    ("a sign for the end", b"id,x\na,lab\nb,cafe\n\x1a", "Line 4 .* cells"),
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("what", "content", "said", "expected"), MEANT, ids=lambda each: str(each))
def test_it_is_opened_as_it_was_meant(
    what: str, content: bytes, said: dict[str, Any], expected: list[Any], tmp_path: Path
) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(content)
    first = opened(path, said)
    assert rows(first) == expected
    again = opened(path, said, first.format)
    assert rows(again) == expected
    assert again.format == first.format
    first.close()
    again.close()


@pytest.mark.parametrize(("what", "content", "cause"), REFUSED, ids=lambda each: str(each))
def test_it_is_refused_with_the_likely_cause(
    what: str, content: bytes, cause: str, tmp_path: Path
) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=cause) as refused:
        opened(path)
    assert str(refused.value).count("\n") == 0


CONTENT = "id;x\na;Café\nb;1,5\n"


def packed(folder: Path, name: str, *members: tuple[str, bytes]) -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return path


def test_packed_files_are_read_like_others(tmp_path: Path) -> None:
    content = CONTENT.encode("cp1252")
    plain = tmp_path / "visits.csv"
    plain.write_bytes(content)
    squeezed = tmp_path / "squeezed.csv.gz"
    squeezed.write_bytes(gzip.compress(content))
    archive = packed(
        tmp_path, "visits.csv.zip", ("a/", b""), ("a/visits.csv", content), ("__MACOSX/._x", b"?")
    )
    expected = [("a", "Café"), ("b", "1,5")]
    for path in (plain, squeezed, archive):
        engine = opened(path, {"encoding": "cp1252"})
        assert rows(engine) == expected
        engine.close()


@pytest.mark.parametrize(
    "members",
    [[("a.csv", b"id\n1\n"), ("b.csv", b"id\n2\n")], [("a.xlsx", b"id\n1\n")], []],
    ids=["two", "another", "none"],
)
def test_archives_of_anything_else_are_refused(
    members: list[tuple[str, bytes]], tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match="one CSV file and nothing else"):
        opened(packed(tmp_path, "visits.zip", *members))


@pytest.mark.parametrize("name", ["visits.csv.gz", "visits.csv.zip"])
def test_what_is_not_whole_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"id,x\n" + b"1,2\n" * 1000)[:-20])
    with pytest.raises(SourceError, match="pack it again"):
        opened(path)


def test_what_is_not_of_the_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(b"id,x\na,\x81\n")
    with pytest.raises(SourceError, match="not written in cp1252"):
        opened(path, {"encoding": "cp1252"})


def test_options_that_contradict_the_account_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(b"id;x;d\na;1,5;05.01.2024\nb;2,5;17.01.2024\n")
    agreed = opened(path, {"decimal": ",", "delimiter": ";"}).format
    opened(path, {"decimal": ",", "types": {"x": "number"}, "date_format": "%d.%m.%Y"}, agreed)
    for said in (
        {"decimal": "."},
        {"delimiter": ","},
        {"encoding": "latin-1"},
        {"thousands": "."},
        {"header": False},
        {"types": {"x": "text"}},
        {"date_format": "%m.%d.%Y"},
    ):
        with pytest.raises(SourceError, match="another way to read CSV"):
            opened(path, said, agreed)


@pytest.mark.parametrize(
    "said",
    [
        {"delimeter": ";"},
        {"delimiter": ";;"},
        {"encoding": "ebcdic"},
        {"decimal": "x"},
        {"types": {"x": "money"}},
        {"date_format": "dd.mm.yyyy"},
        {"header": "perhaps"},
        ["delimiter"],
    ],
    ids=str,
)
def test_options_that_mean_nothing_are_refused(said: Any) -> None:
    with pytest.raises(RequestError):
        CsvOptions.of(said)


def test_a_mark_in_one_row_decides_nothing_about_the_cells_of_others(tmp_path: Path) -> None:
    """Ends of lines are made alike for all files of an account, or for none."""
    path = tmp_path / "visits.csv"
    path.write_bytes(b'id,x\r\n1,"a\r\nb"\r\n2,c\r\n')
    first = opened(path)
    path.write_bytes(b'id,x\r\n1,"a\r\nb"\r\n2,"c\nd"\r\n')
    again = opened(path, format=first.format)
    assert rows(again)[0] == rows(first)[0] == (1, "a\r\nb")
