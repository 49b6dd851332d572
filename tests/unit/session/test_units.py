"""What one record is: rows, columns, or what is computed from columns."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import onesided as osd
from onesided.cli import run
from onesided.data.units import Unit
from onesided.errors import InputError, RequestError
from onesided.language import Schema, Type
from support.visits import POLICY, UNIT, all_units, rows, sensitive_units, visits, write_visits

SCHEMA = Schema.of(
    {"device": Type.INTEGER, "ts": Type.TIMESTAMP, "rows": Type.TEXT, "f(x)": Type.TEXT}
)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("rows", ()),
        ('"rows"', ("rows",)),
        ("DEVICE, ts", ("device", "ts")),
        ("device,DATE( TS )", ("device", "date(ts)")),
        ("bucket(device, 10),hour(ts)", ("bucket(device, 10)", "hour(ts)")),
        ("f(x)", ("f(x)",)),
    ],
)
def test_a_unit_is_read(text: str, columns: tuple[str, ...]) -> None:
    assert Unit.of(text).bind(SCHEMA).columns == columns


def test_a_list_holds_names_as_they_are() -> None:
    assert Unit.of(["rows"]).bind(SCHEMA).columns == ("rows",)


@pytest.mark.parametrize("text", ["", "device,device", ",", "devise", "date(device)", "sin(ts)"])
def test_a_unit_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        Unit.of(text).bind(SCHEMA)


@pytest.fixture(scope="module")
def table() -> object:
    return visits(devices=50)


def test_the_policy_holds_for_whole_computed_units(table: object) -> None:
    with osd.open(table, unit="device,date(ts)", policy=POLICY, rng=osd.seeded(1)) as data:
        kept = data.sample(50, yes=True).table
    assert data.unit.columns == ("device", "date(ts)")
    assert all_units(kept) == all_units(table) - sensitive_units(table)  # type: ignore[arg-type]


def test_parts_by_what_is_computed_cost_their_maximum(table: object) -> None:
    with osd.open(
        table, unit="device,date(ts)", policy=POLICY, budget=1, partition_by="date(ts)"
    ) as data:
        for day in ("2024-01-01", "2024-01-02"):
            asked = {"max_groups": 1, "part": {"date(ts)": day}, "mechanism": "one-sided"}
            data.count("room", epsilon="0.5", **asked)
        assert data.budget.spent == Fraction(1, 2)
        with pytest.raises(RequestError, match="partition_by"):
            data.count(epsilon="0.5", part={"hour(ts)": 3})


def test_a_unit_is_in_one_group_of_its_own_key(table: object) -> None:
    with osd.open(
        table, unit="device,date(ts)", policy=POLICY, budget=200, rng=osd.seeded(1)
    ) as data:
        release = data.count("date(ts)", epsilon=100, mechanism="one-sided", yes=True)
        counted = {row["date(ts)"]: row["count"] for row in release.table.to_pylist()}
        asked = "SELECT COUNT(DISTINCT (device, date(ts))) AS n FROM data"
        (answer,) = data.sql(asked, epsilon=100, mechanism="one-sided", yes=True).table.to_pylist()
    assert release.receipt["request"]["max_groups"] is None
    kept = all_units(table) - sensitive_units(table)  # type: ignore[arg-type]
    assert counted == {day: sum(each == day for _, each in kept) for day in {d for _, d in kept}}
    assert answer == {"n": len(kept)}


def test_an_account_knows_its_computed_unit_again(tmp_path: Path) -> None:
    write_visits(tmp_path, devices=20)
    account = {"policy": POLICY, "ledger": tmp_path / "v.ledger", "budget": 3}
    source = tmp_path / "visits.parquet"
    with osd.open(source, unit="device,date(ts)", **account) as data:
        first = data.sample(1).table
    with osd.open(source, unit=["DEVICE", "date( ts )"], **account) as data:
        assert data.sample(1).table == first
        assert data.budget.spent == 1
    with (
        osd.open(source, unit=UNIT, **account) as data,
        pytest.raises(InputError, match="unit"),
    ):
        data.sample(1)


def test_the_command_takes_a_computed_unit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(write_visits(tmp_path, devices=20))
    ask = ["--policy", POLICY, "--epsilon", "1", "--unit", "device,date(ts)"]
    assert run(["sample", source, *ask, "--out", str(tmp_path / "s.csv")]) == 0
    assert "device, date(ts)" in capsys.readouterr().out
    assert run(["check", source, *ask[:2], *ask[4:]]) in (0, 1)
    assert f"{len(list(rows(visits(devices=20)))):,}" in capsys.readouterr().out
