"""Means over groups that are found: which keys occur decides neither noise nor failure."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import onesided as osd
from onesided.cli import run

ASK: dict[str, Any] = {"bound": 1000, "grid": 1, "epsilon": 1, "max_groups": 2}


def wards(last: str) -> pa.Table:
    """Ten units in ward a, and one sensitive unit in the ward `last`."""
    return pa.table(
        {
            "unit": list(range(11)),
            "ward": [*["a"] * 10, last],
            "days": [3] * 11,
            "hidden": [*[False] * 10, True],
        }
    )


def opened(table: pa.Table, **options: Any) -> osd.Dataset:
    return osd.open(table, unit="unit", policy="hidden", budget=100, rng=osd.seeded(1), **options)


def noise_of_mean(last: str) -> str:
    with opened(wards(last)) as data:
        return str(data.mean("days", by="ward", **ASK).receipt["noise"])


def noise_of_sql(last: str) -> str:
    query = "SELECT ward, AVG(days) FROM data GROUP BY ward"
    with opened(wards(last)) as data:
        answer = data.sql(query, epsilon=1, max_groups=2, max_rows=1, bounds={"days": 1000})
        return str(answer.receipt["noise"])


@pytest.mark.parametrize("noise", [noise_of_mean, noise_of_sql])
def test_the_noise_does_not_follow_the_keys_that_occur(noise: Any) -> None:
    assert noise("hiv") == noise("a")
    assert "rate 1/4000" in noise("a")


def test_the_same_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noises = []
    for last in ("a", "hiv"):
        source = tmp_path / f"{last}.parquet"
        pa.parquet.write_table(wards(last), source)
        asked = (
            f"mean {source} --column days --unit unit --policy hidden --epsilon 1 --by ward --json"
        )
        assert run([*asked.split(), "--max-groups", "2", "--bound", "1000", "--grid", "1"]) == 0
        noises.append(json.loads(capsys.readouterr().out)["receipt"]["noise"])
    assert noises[0] == noises[1]


@pytest.mark.parametrize("last", ["a", "hiv"])
def test_whether_any_row_matches_is_not_told(last: str) -> None:
    with opened(wards(last)) as data:
        release = data.mean("days", by="ward", where="ward = 'hiv'", **ASK)
        assert release.table.num_rows == 0
        assert data.budget.spent == 1


@pytest.mark.parametrize("mechanism", ["one-sided", "residual", "auto", "rr"])
@pytest.mark.parametrize("last", ["a", "hiv"])
def test_counts_of_no_row_at_all_are_an_answer(last: str, mechanism: str) -> None:
    with opened(wards(last)) as data:
        release = data.count(
            "ward", "ward = 'nowhere'", epsilon=1, max_groups=2, mechanism=mechanism
        )
        assert release.table.num_rows == 0


FAR = 2**31 - 10


def with_key(values: pa.Array) -> pa.Table:
    count = len(values)
    return pa.table(
        {
            "unit": list(range(count)),
            "key": values,
            "days": [3] * count,
            "hidden": [*[False] * (count - 1), True],
        }
    )


HOSTILE = {
    "nan": pa.array([*[0.5] * 30, float("nan")], pa.float64()),
    "nan that is listed": pa.array([*[float("nan")] * 30, 0.5], pa.float64()),
    "far date": pa.array([*[0] * 30, FAR], pa.int32()).cast(pa.date32()),
    "far date that is listed": pa.array([*[FAR] * 30, 0], pa.int32()).cast(pa.date32()),
    "far moment": pa.array([*[0] * 30, 9_000_000_000_000_000_000], pa.int64()).cast(
        pa.timestamp("us")
    ),
    "infinite": pa.array([*[float("inf")] * 30, float("-inf")], pa.float64()),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("ask", ["auto", "residual", "one-sided", "rr", "sum", "mean"])
def test_no_key_makes_a_release_fail(name: str, ask: str) -> None:
    """Keys that Python cannot hold, or that differ from themselves, are keys like others."""
    with osd.open(
        with_key(HOSTILE[name]), policy="hidden", budget=1000, rng=osd.seeded(1), unit="rows"
    ) as data:
        if ask in ("sum", "mean"):
            getattr(data, ask)("days", by="key", bound=10, epsilon=50, yes=True)
        else:
            data.count("key", epsilon=50, mechanism=ask, yes=True)


def test_a_mean_is_of_the_groups_that_were_summed() -> None:
    """One statement finds sum and count, so that a NaN key is one group in both."""
    keys = pa.array([*[float("nan")] * 20, *[1.0] * 20], pa.float64())
    table = pa.table({"key": keys, "days": [2] * 20 + [6] * 20, "hidden": [False] * 40})
    with osd.open(table, policy="hidden", budget=1000, rng=osd.seeded(1), unit="rows") as data:
        mean = data.mean("days", by="key", bound=10, epsilon=500, yes=True).table
    assert mean.column("mean").to_pylist() == [6, 2]
    assert mean.column("count").to_pylist() == [20, 20]


def test_days_are_keys_of_an_adaptive_count_like_others() -> None:
    days = [date(2024, 1, 1) + timedelta(days=each % 3) for each in range(300)]
    table = pa.table({"day": days, "hidden": [each % 7 == 0 for each in range(300)]})
    with osd.open(table, policy="hidden", budget=1000, rng=osd.seeded(1), unit="rows") as data:
        counted = data.count("day", epsilon=500, mechanism="auto", yes=True).table
    assert counted.column("count").to_pylist() == pytest.approx([100, 100, 100], abs=0.1)
