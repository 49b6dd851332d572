"""A description of columns: right without noise, one charge, two passes, and free afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.engine.base import CountQuery, GroupCounts
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import ReleaseFailed, RequestError
from onesided.session.questions.described import _All

EXACT, ROWS = 10**6, 400
FIRST = date(2024, 1, 1)


def table() -> pa.Table:
    rows = range(ROWS)
    return pa.table(
        {
            "id": pa.array(rows),
            "person": pa.array([row % 90 for row in rows]),
            "room": pa.array([None if row % 8 == 0 else "abc"[row % 3] for row in rows]),
            "age": pa.array([None if row % 5 == 0 else row % 60 for row in rows]),
            "paid": pa.array([row / 7 for row in rows]),
            "price": pa.array([Decimal(row) / 100 for row in rows], pa.decimal128(9, 2)),
            "ok": pa.array([row % 4 == 0 for row in rows]),
            "day": pa.array([FIRST + timedelta(days=row % 30) for row in rows]),
            "ts": pa.array(
                [datetime(2024, 1, 1) + timedelta(hours=row) for row in rows], pa.timestamp("us")
            ),
            "blob": pa.array([None if row % 2 else b"x" for row in rows], pa.binary()),
            "secret": pa.array([row % 10 == 9 for row in rows]),
        }
    )


def opened(data: Any, unit: str = "rows", **options: Any) -> osd.Dataset:
    settings = {"policy": "secret", "budget": 100 * EXACT, "rng": osd.seeded(5), **options}
    return osd.open(data, unit=unit, **settings)


@pytest.fixture(scope="module")
def exact() -> Iterator[Any]:
    with opened(table()) as data:
        yield data.describe(epsilon=EXACT, yes=True)


def test_without_noise_all_of_it_is_right(exact: Any) -> None:
    truth = table()
    rows = {row["column"]: row for row in exact.table.to_pylist()}
    assert list(rows) == truth.column_names
    seen = truth.filter(pa.array([row % 10 != 9 for row in range(ROWS)]))
    for name, row in rows.items():
        column = truth[name]
        assert row["missing"] == column.null_count
        if name == "blob":
            assert row["distinct"] is None
            continue
        assert row["distinct"] == len(set(seen[name].drop_null().to_pylist()))
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            known = np.sort(np.array(column.drop_null().to_pylist(), dtype=float))
            wide = (known[-1] - known[0]) / 100
            for share in (5, 25, 50, 75, 95):
                assert abs(row[f"{share}%"] - np.quantile(known, share / 100)) <= wide + 1
            assert abs(row["mean"] - known.mean()) < wide
            assert abs(row["std"] - known.std()) < wide


def test_values_and_dates_without_noise(exact: Any) -> None:
    counted = exact.values("room").to_pylist()
    true = table()["room"].drop_null().value_counts().to_pylist()
    assert {(each["value"], round(each["count"])) for each in counted} == {
        (each["values"], each["counts"]) for each in true
    }
    assert [round(each["count"]) for each in counted] == sorted(
        (each["counts"] for each in true), reverse=True
    )
    (middle,) = exact.quantiles("day", 0.5).to_pylist()
    assert abs((middle["value"] - (FIRST + timedelta(days=14))).days) <= 1
    assert middle["at_least"] <= middle["value"] <= middle["at_most"]
    assert sum(exact.histogram("ts")["count"].to_pylist()) == ROWS
    assert {each["value"] for each in exact.values("ok").to_pylist()} == {"false", "true"}
    with pytest.raises(RequestError, match="values without an order"):
        exact.quantiles("room")
    with pytest.raises(RequestError, match="was not described"):
        exact.values("rom")


def test_units_of_several_rows_count_once_in_each_column() -> None:
    with opened(table(), "person") as data:
        found = data.describe(["age", "room", "paid"], epsilon=EXACT, yes=True)
        rows = {row["column"]: row for row in found.table.to_pylist()}
        assert sum(found.cells.filter(_part(found, "age", "cells"))["count"].to_pylist()) <= 90
        assert rows["room"]["missing"] == 45  # every other person has a row without a room
        assert rows["paid"]["distinct"] is None


def _part(found: Any, column: str, part: str) -> pa.Array:
    named = zip(found.cells["column"].to_pylist(), found.cells["part"].to_pylist(), strict=True)
    return pa.array([each == (column, part) for each in named])


def test_it_is_one_charge_that_costs_what_was_said_and_is_free_afterwards() -> None:
    with opened(table(), budget=3) as data:
        plan = data.plan.describe(["age", "room", "day"], epsilon=2)
        assert plan.together is not None
        assert plan.together.cost == 2
        assert sum(row.epsilon for row in plan.rows) == 2
        first = data.describe(["age", "room", "day"], epsilon=2)
        assert len(first.receipt["account"]["charges"]) == 1
        assert first.loss.epsilon == data.budget.spent == 2
        assert first.loss.sensitive <= first.loss.nonsensitive
        again = data.describe(["age", "room", "day"], epsilon=2)
        assert again.cells == first.cells
        assert data.budget.spent == 2
        (number,) = first.receipt["account"]["charges"]
        assert data.released(number).table == first.table
        assert "mean" in str(first)
        assert first.plot().svg().count("missing: ") >= 3


def test_a_table_of_twenty_columns_takes_two_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = pa.table({f"c{place}": pa.array(range(place, place + 50)) for place in range(20)})
    pq.write_table(wide, tmp_path / "wide.parquet")
    asked: list[int] = []
    plain = DuckDBEngine.count_each

    def noted(self: Any, queries: Sequence[CountQuery]) -> list[GroupCounts]:
        asked.append(len(queries))
        return plain(self, queries)

    monkeypatch.setattr(DuckDBEngine, "count_each", noted)
    monkeypatch.setattr(DuckDBEngine, "count", None)
    with opened(tmp_path / "wide.parquet", policy="c0 = 3") as data:
        assert len(data.describe(epsilon=20, yes=True).table) == 20
    assert asked == [60, 20]


def test_values_of_sensitive_units_alone_are_never_listed() -> None:
    data = pa.table({"id": range(50), "room": ["clinic"] * 20 + ["lab"] * 30})
    with opened(data, policy="room = 'clinic'") as table_of_rooms:
        found = table_of_rooms.describe(["room"], epsilon=EXACT, yes=True)
        assert [each["value"] for each in found.values("room").to_pylist()] == ["lab"]


@pytest.mark.parametrize(
    ("policy", "unit", "epsilon"),
    [("TRUE", "rows", 1), ("FALSE", "rows", 10), ("id < 3", "person", "0.1")],
)
def test_no_value_makes_it_fail(policy: str, unit: str, epsilon: Any) -> None:
    wide = 2**63 - 1
    data = pa.table(
        {
            "id": [1, 2, 3, 4],
            "person": [1, 1, 2, None],
            "whole": [wide, -wide - 1, None, 0],
            "real": [float("nan"), float("inf"), -float("inf"), -0.0],
            "price": pa.array([Decimal("9" * 38), Decimal("-" + "9" * 38), None, Decimal(0)]),
            "day": pa.array([date.min, date.max, None, FIRST]),
            "ts": pa.array([datetime.min, datetime.max, None, None], pa.timestamp("us")),
            "text": ["", "\0", None, "a" * 3000],
            "none": pa.array([None] * 4, pa.float64()),
        }
    )
    data = data if unit == "rows" else data.slice(0, 3)
    with opened(data, unit, policy=policy) as hostile:
        release = hostile.describe(epsilon=epsilon)
        assert len(release.table) == 9
        assert len(release.quantiles("day")) == 5
        assert release.plot().to_dict()
        assert str(release)
        for column in ("whole", "real", "price"):
            assert len(hostile.histogram(column, epsilon=epsilon, max_groups=1).table)


def test_what_failed_goes_on_from_its_stored_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"ledger": tmp_path / "l.db", "name": "d", "budget": 2, "rng": None}

    def broken(self: Any, reading: Any) -> bytes:
        raise ValueError

    with opened(table(), **settings) as data:
        with monkeypatch.context() as patched:
            patched.setattr(_All, "run", broken)
            with pytest.raises(ReleaseFailed):
                data.describe(["age", "room"], epsilon=1)
        assert data.budget.spent == 1
        release = data.describe(["age", "room"], epsilon=1)
        assert data.budget.spent == release.loss.epsilon == Fraction(1)


def test_what_cannot_be_described_is_refused_before_the_charge() -> None:
    with opened(table(), withhold=["paid"]) as data:
        for columns, said in (
            (["paid"], "withheld"),
            ([], "is a list of columns"),
            (["age", "AGE"], "described once"),
        ):
            with pytest.raises(RequestError, match=said):
                data.describe(columns, epsilon=1)
        assert "paid" not in data.describe(epsilon=1).columns
