"""Released values that Python has no value for: every way to look at them is total."""

from __future__ import annotations

import io
import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.cli import run
from onesided.data.files import write_table
from onesided.data.release import Receipt, TableRelease, payload_of
from onesided.data.values import (
    FarMoment,
    comparable_values,
    far_as_text,
    moment_text,
    python_values,
)
from onesided.randomness import seeded

EXACT = 1_000_000
NAN = float("nan")
LEAST, MOST = -(2**63), 2**63 - 1
LIMITS: dict[str, Any] = {"mechanism": "one-sided", "max_groups": 1, "bounds": {"paid": 10}}


def of_ticks(kind: pa.DataType, ticks: list[int | None]) -> pa.Array:
    width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    return pa.array(ticks, width).view(kind)


def not_utf8() -> pa.Array:
    raw = pa.array([b"\xff\xfe", b"plain", None], pa.binary())
    return pa.Array.from_buffers(pa.string(), 3, raw.buffers())


#: Columns of every type that a released table may have, with the worst values of it.
COLUMNS = {
    "date": of_ticks(pa.date32(), [2**31 - 1, -(2**31), 19_000, None]),
    "date64": of_ticks(pa.date64(), [MOST - 1, -(2**60), 0, None]),
    **{
        f"timestamp {unit}": of_ticks(pa.timestamp(unit), [MOST, LEAST + 1, LEAST, 0, None])
        for unit in ("s", "ms", "us", "ns")
    },
    "zoned": of_ticks(pa.timestamp("us", "UTC"), [MOST, LEAST, 0, None]),
    "text": not_utf8(),
    "coded": pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), not_utf8().slice(0, 2)),
    "float": pa.array([NAN, float("inf"), -0.0, None]),
    "list": pa.ListArray.from_arrays([0, 2, 4], of_ticks(pa.date32(), [0, 2**31 - 1, 0, None])),
    "struct": pa.StructArray.from_arrays([of_ticks(pa.date32(), [2**31 - 1])], ["when"]),
    "extension": pa.ExtensionArray.from_storage(pa.json_(), not_utf8()),
    "map": pa.MapArray.from_arrays([0, 2], not_utf8().slice(0, 2), pa.array([1, 2])),
    "time": of_ticks(pa.time64("us"), [MOST, -1, None]),
    "duration": of_ticks(pa.duration("s"), [MOST, None]),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_every_value_has_a_form_in_python_and_in_files(case: str, tmp_path: Path) -> None:
    table = pa.table({"x": COLUMNS[case]})
    values = python_values(table.column("x"))
    assert [value is None for value in values] == table.column("x").is_null().to_pylist()
    assert json.dumps(values, default=str)
    receipt = Receipt({"kind": "count", "request": {"by": []}})
    release = TableRelease(receipt, payload_of(table))
    assert len(release.to_pandas()) == len(table)
    comparable_values(table.column("x"))
    if case not in ("list", "struct", "map", "extension"):
        write_table(table, tmp_path / "x.csv")
        assert len((tmp_path / "x.csv").read_bytes().splitlines()) == len(table) + 1
        assert b"out of range" not in (tmp_path / "x.csv").read_bytes() or case == "time"


def day(year: int) -> int:
    """29 February of a leap year beyond Python's range, in days after 1970."""
    cycles, within = divmod(year, 400)
    return (date(within + 400, 2, 29) - date(1970, 1, 1)).days + (cycles - 1) * 146_097


@pytest.mark.parametrize(
    ("year", "text"),
    [
        (12_024, "+12024-02-29"),
        (294_240, "+294240-02-29"),
        (-44, "-0044-02-29"),
        (0, "0000-02-29"),
        (2024, "2024-02-29"),
        (-5_000_000, "-5000000-02-29"),
    ],
)
def test_iso_texts_of_far_years(year: int, text: str) -> None:
    assert moment_text(day(year), pa.date32()) == text
    micros = day(year) * 86_400_000_000 + 3_661_000_007
    assert moment_text(micros, pa.timestamp("us", "UTC")) == f"{text} 01:01:01.000007Z"
    if 0 < year <= 9999:
        return
    column = of_ticks(pa.date32(), [day(year), 0])
    assert far_as_text(column).to_pylist() == [text, "1970-01-01"]
    assert python_values(column) == [text, date(1970, 1, 1)] or year == 0


def test_all_of_pythons_own_dates_stay_what_they_are(tmp_path: Path) -> None:
    days = [date.min, date.max, date(1970, 1, 1), None]
    moments = [datetime.min, datetime.max, datetime(2024, 2, 29, 1), None]
    table = pa.table({"d": days, "t": pa.array(moments, pa.timestamp("us")), "n": [1, 2, 3, 4]})
    for name in ("d", "t"):
        column = table.column(name)
        assert far_as_text(column) is column
        assert comparable_values(column) == column.to_pylist()
    usual = io.BytesIO()
    pyarrow.csv.write_csv(table, usual)
    write_table(table, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes() == usual.getvalue()


def test_far_moments_stand_beyond_all_others_and_have_parts() -> None:
    hour = 3_600_000_000
    late, later = (FarMoment.at(day(year) * 24 * hour + 5 * hour) for year in (12_024, 12_028))
    early = FarMoment.at(day(-44) * 24 * hour)
    near: list[Any] = [datetime.min, datetime.max]
    assert sorted([later, datetime.max, late, datetime.min, early]) == [early, *near, late, later]
    for each in (date.min, date.max):
        assert early < each < late
        assert late > each > early
        assert each != late
    assert late == FarMoment.at(day(12_024) * 24 * hour + 5 * hour)
    assert (late.hour, early.hour) == (5, 0)
    expected = np.datetime64(day(12_024), "D").astype("datetime64[W]")  # weeks begin on Thursday
    thursday = int(expected.astype("datetime64[D]").astype(int))
    assert late.isoweekday() == (day(12_024) - thursday + 3) % 7 + 1
    assert late.date() == FarMoment.at(day(12_024) * 24 * hour)
    assert late.date() < late


FAR = 4_000_000
"""Days after 1970: the year 12921."""


def table() -> pa.Table:
    ticks = [FAR, FAR, FAR, 19_000, 19_000, -FAR, None]
    return pa.table(
        {
            "d": of_ticks(pa.date32(), ticks),
            "t": of_ticks(
                pa.timestamp("us"), [t if t is None else t * 86_400_000_000 for t in ticks]
            ),
            "f": [NAN, NAN, 1.0, 1.0, 2.0, None, NAN],
            "paid": [1, 2, 3, 4, 5, 6, 7],
            "age": [40] * 7,
        }
    )


def opened(data: pa.Table) -> osd.Dataset:
    return osd.open(
        data, policy="age < 18", budget=EXACT * 100, rng=seeded(1), name="x", unit="rows"
    )


def answer(query: str, data: pa.Table | None = None) -> pa.Table:
    with opened(table() if data is None else data) as dataset:
        return dataset.sql(query, epsilon=EXACT, **LIMITS, yes=True).table


def test_a_nan_key_is_one_group_in_a_statement_with_two_figures() -> None:
    found = answer("SELECT f, COUNT(*) AS n, SUM(paid) AS s FROM data GROUP BY f")
    rows = list(zip(*(python_values(column) for column in found.columns), strict=True))
    assert [(str(f), n, s) for f, n, s in rows] == [
        ("None", 1, 6),
        ("1.0", 2, 7),
        ("2.0", 1, 5),
        ("nan", 3, 10),
    ]


@pytest.mark.parametrize(
    ("having", "keys"),
    [
        ("d > DATE '9999-12-31'", [FAR]),
        ("d < DATE '0001-01-01'", [-FAR]),
        ("d >= TIMESTAMP '2020-01-01 00:00:00'", [19_000, FAR]),
        ("d IN (DATE '2022-01-08')", [19_000]),
        ("d BETWEEN DATE '2000-01-01' AND DATE '9999-12-31'", [19_000]),
        ("weekday(d) = 6", [19_000]),
        ("d IS NULL OR n > 2", [None, FAR]),
    ],
)
def test_conditions_and_orders_know_far_dates(having: str, keys: list[int | None]) -> None:
    figures = "SELECT d, COUNT(*) AS n, SUM(paid) AS s FROM data GROUP BY d"
    found = answer(f"{figures} HAVING {having}")
    assert found.column("d").cast(pa.int32()).to_pylist() == keys
    assert found.schema.field("d").type == pa.date32()
    turned = answer(f"{figures} HAVING {having} ORDER BY d DESC NULLS LAST LIMIT 9")
    expected = sorted((key for key in keys if key is not None), reverse=True)
    expected_last: list[int | None] = [*expected, *(key for key in keys if key is None)]
    assert turned.column("d").cast(pa.int32()).to_pylist() == expected_last


@pytest.mark.parametrize("key", ["d", "t", "date(t)"])
def test_rows_charts_frames_and_files_of_far_keys(key: str, tmp_path: Path) -> None:
    with opened(table()) as dataset:
        query = f"SELECT {key} AS k, COUNT(*) AS n, AVG(paid) AS m FROM data GROUP BY {key}"
        limits = {**LIMITS, "max_rows": 1}
        with dataset.cursor(epsilon=EXACT, **limits, yes=True) as cursor:
            rows = cursor.execute(query).fetchall()
        release = dataset.sql(query, epsilon=EXACT, **limits, yes=True)
    named = {str(row[0]).split(" ")[0]: row[1] for row in rows}
    assert named == {"None": 1, "-8982-05-17": 1, "2022-01-08": 2, "+12921-08-18": 3}
    assert len(release.to_pandas()) == 4
    assert release.plot() is not None
    for ending in ("csv", "parquet", "arrow"):
        release.write(tmp_path / f"x.{ending}")
    assert "+12921-08-18" in (tmp_path / "x.csv").read_text()


@pytest.mark.parametrize("key", ["d", "t", "f"])
@pytest.mark.parametrize("shown", [[], ["--json"], ["--out", "x.csv"]])
@pytest.mark.parametrize("command", ["count", "sum", "sql"])
def test_commands_show_far_keys(
    command: str,
    shown: list[str],
    key: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(table(), "x.parquet")
    sql = f"SELECT {key}, COUNT(*) AS n FROM data GROUP BY {key}"
    asked = {
        "count": ["x.parquet", "--by", key, "--mechanism", "one-sided"],
        "sum": ["x.parquet", "--by", key, "--column", "paid", "--bound", "10"],
        "sql": [sql, "x.parquet", "--mechanism", "one-sided"],
    }
    account = [
        "--unit",
        "rows",
        "--policy",
        "age < 18",
        "--epsilon",
        str(EXACT),
        "--yes",
        "--max-groups",
        "1",
    ]
    assert run([command, *asked[command], *account, *shown]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    text = Path("x.csv").read_text() if "--out" in shown else said.out
    assert ("nan" if key == "f" else "+12921-08-18") in text
