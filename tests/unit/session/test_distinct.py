"""Numbers of different values: what counts, what it costs, what is refused."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import onesided as osd
from onesided.errors import OnesidedError
from onesided.loss import Loss

EXACT = 1_000_000
VISITS = pa.table(
    {
        "person": [1, 1, 1, 1, 2, 2, 3, 4],
        "room": ["a", "a", "b", "b", "a", "b", "hiv", "a"],
        "device": ["x", "y", "x", None, "x", "z", "w", "w"],
        "secret": [False, False, False, False, False, False, True, True],
    }
)


def opened(unit: str | list[str] = "person", **options: Any) -> osd.Dataset:
    return osd.open(
        VISITS, unit=unit, policy="secret", budget=10 * EXACT, rng=osd.seeded(1), **options
    )


def counted(release: osd.Release) -> dict[Any, int]:
    rows = release.table.to_pylist()
    return {row.get("room"): row["count"] for row in rows}


def test_a_value_counts_once_however_many_units_have_it() -> None:
    with opened() as data:
        release = data.distinct("device", max_values=4, epsilon=EXACT, yes=True)
        assert release.table["count"].to_pylist() == [3]
        by_room = data.distinct("device", "room", max_values=4, epsilon=EXACT, yes=True)
        # A value of a sensitive unit alone, NULL, and a room of hers are not there.
        assert counted(by_room) == {"a": 2, "b": 2}
        declared = data.distinct(
            "device",
            "room",
            max_values=4,
            epsilon=EXACT,
            domain={"room": ["a", "b", "hiv", "none"]},
            yes=True,
        )
        assert counted(declared) == {"a": 2, "b": 2, "hiv": 0, "none": 0}
        derived = data.distinct("upper(device)", max_values=4, epsilon=EXACT, yes=True)
        assert derived.table["count"].to_pylist() == [3]


def test_of_each_unit_so_many_pairs_count() -> None:
    with opened() as data:
        found = data.distinct("device", "room", max_values=1, epsilon=EXACT, yes=True)
        assert sum(counted(found).values()) <= 2
        assert "at most 1 in all groups" in found.receipt["figure"]
        assert found.receipt["noise"] == (
            "one-sided geometric of rate 1000000 on each number of values"
        )


def test_values_that_follow_from_the_key_need_no_bound() -> None:
    with opened(["person", "room"]) as data:
        found = data.distinct("person", epsilon=EXACT, yes=True)
        assert found.table["count"].to_pylist() == [2]
    with opened("rows") as data:
        assert counted(data.distinct("device", epsilon=EXACT, yes=True)) == {None: 3}


def test_it_costs_its_epsilon_and_says_what_it_counts() -> None:
    with opened() as data:
        release = data.distinct("device", max_values=2, epsilon=3)
        assert release.loss == Loss(0, 3)
        assert data.budget.spent == 3
        assert release.receipt["kind"] == "distinct"
        assert release.receipt["mechanism"] == "one-sided-distinct"
        named = [column["name"] for column in release.receipt["columns"]]
        assert named == release.table.column_names
        value, low, high = (
            release.table[name][0].as_py() for name in ("count", "at_least", "nonsensitive_at_most")
        )
        assert low <= 3 <= high
        assert low <= value
        assert data.distinct("device", max_values=2, epsilon=3).table == release.table
        assert data.budget.spent == 3


def test_sql_counts_values_and_units_alike() -> None:
    with opened(name="visits") as data:
        release = data.sql(
            "SELECT room, COUNT(DISTINCT device) AS devices, COUNT(DISTINCT person) AS people, "
            "APPROX_COUNT_DISTINCT(device) AS about FROM visits WHERE room <> 'c' GROUP BY room",
            epsilon=EXACT,
            max_groups=2,
            max_values=4,
            mechanism="one-sided",
            yes=True,
        )
        rows = [tuple(row.values()) for row in release.table.to_pylist()]
        assert rows == [("a", 2, 2, 2), ("b", 2, 2, 2)]
        assert list(release.figures) == ["count(DISTINCT device)", "count(DISTINCT person)"]
        plan = data.plan.sql(
            "SELECT COUNT(DISTINCT device) FROM visits WHERE room = 'a'", epsilon=1, max_values=4
        )
        assert plan.rows[0].error is not None
        answers = data.run(
            [{"ask": "distinct", "name": "n", "column": "device", "max_values": 4}],
            epsilon=EXACT,
            yes=True,
        )
        assert answers["n"].table["count"].to_pylist() == [3]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "max_values"),
        ({"max_values": 0}, "max_groups, the most groups"),
        ({"max_values": 2, "column": "nothing"}, "nothing"),
    ],
)
def test_what_cannot_be_counted_is_refused_for_free(asked: dict[str, Any], said: str) -> None:
    with opened() as data:
        with pytest.raises(OnesidedError, match=said):
            data.distinct(**{"column": "device", "epsilon": 1, **asked})
        with pytest.raises(OnesidedError, match="max_values"):
            data.sql("SELECT COUNT(DISTINCT device) FROM data", epsilon=1)
        assert not data.account_opened


def test_withheld_columns_are_not_counted() -> None:
    with (
        opened(withhold=["device"]) as data,
        pytest.raises(OnesidedError, match="device"),
    ):
        data.distinct("device", max_values=2, epsilon=1)
