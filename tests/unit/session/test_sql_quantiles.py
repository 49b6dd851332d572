"""Medians and quantiles in SQL: as DuckDB takes them of values that occur, and paid for once."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import onesided as osd
from onesided.errors import OnesidedError

EXACT = 1_000_000
ROOMS = pa.table({"room": ["a", "b", "c"], "wing": ["east", "east", "west"]})


def visits(many: int = 600) -> pa.Table:
    dice = np.random.default_rng(11)
    paid = dice.integers(0, 100, many).tolist()
    return pa.table(
        {
            "room": dice.choice(["a", "b", "c"], many).tolist(),
            "paid": pa.array([None if each > 95 else each for each in paid], pa.int64()),
            "late": (dice.random(many) < 0.3).tolist(),
        }
    )


VISITS = visits()


def opened(policy: str = "FALSE", **options: Any) -> osd.Dataset:
    return osd.open(
        VISITS,
        unit="rows",
        policy=policy,
        budget=10 * EXACT,
        name="visits",
        public={"rooms": ROOMS},
        rng=osd.seeded(2),
        **options,
    )


def plain(statement: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.register("visits", VISITS)
        connection.register("rooms", ROOMS)
        return connection.sql(statement).fetchall()


def asked(statement: str, **options: Any) -> osd.QueryRelease:
    with opened() as data:
        given = {"epsilon": EXACT, "bounds": {"paid": (0, 99)}, "yes": True, **options}
        return data.sql(statement, **given)


def rows(release: osd.QueryRelease) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in release.table.to_pylist()]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT quantile_disc(paid, 0.5) AS m FROM visits",
        "SELECT room, quantile_disc(paid, 0.25) AS q, COUNT(*) AS n FROM visits GROUP BY room "
        "ORDER BY room",
        "SELECT quantile_disc(paid, [0.1, 0.9]) AS q FROM visits WHERE NOT late",
        "SELECT percentile_disc(0.75) WITHIN GROUP (ORDER BY paid) AS q FROM visits",
        "SELECT wing, quantile_disc(paid, 0.9) - quantile_disc(paid, 0.1) AS spread FROM visits "
        "JOIN rooms USING (room) GROUP BY wing HAVING quantile_disc(paid, 0.5) > 0 ORDER BY wing",
        "SELECT quantile_disc(paid + 1, 0.5) FILTER (WHERE late) AS m FROM visits",
    ],
)
def test_quantiles_are_those_of_plain_sql(statement: str) -> None:
    assert rows(asked(statement)) == plain(statement)


@pytest.mark.parametrize(
    "figure",
    [
        "MEDIAN(paid)",
        "quantile_cont(paid, 0.5)",
        "quantile(paid, 0.5)",
        "approx_quantile(paid, 0.5)",
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY paid DESC)",
    ],
)
def test_every_spelling_means_the_same(figure: str) -> None:
    (found,) = rows(asked(f"SELECT {figure} AS m FROM visits"))
    assert found == plain("SELECT quantile_disc(paid, 0.5) FROM visits")[0]


def test_quantiles_of_one_value_are_paid_for_once() -> None:
    statement = (
        "SELECT MEDIAN(paid) AS m, quantile_cont(paid, 0.9) AS p90, "
        "quantile_cont(paid, 0.1) AS p10 FROM visits"
    )
    with opened("late") as data:
        release = data.sql(statement, epsilon=1, bounds={"paid": (0, 99)})
        assert list(release.figures) == ["quantiles(paid)"]
        assert release.loss.epsilon == 1
        (table,) = (each.table for each in release.figures.values())
        assert table["quantile"].to_pylist() == [0.5, 0.9, 0.1]
        assert "at_least" in table.column_names
        left = data.budget.left
        data.sql("SELECT quantile_disc(paid, 0.3) FROM visits", epsilon=1, bounds={"paid": (0, 99)})
        data.quantile("paid", 0.2, bounds=(0, 99), epsilon=1)
        assert data.budget.left == left


def test_a_plan_says_the_error_of_ranks() -> None:
    with opened("late") as data:
        plan = data.plan.sql(
            "SELECT room, MEDIAN(paid), COUNT(*) FROM visits GROUP BY room",
            epsilon=2,
            bounds={"paid": (0, 99)},
            groups=3,
        )
        assert [row.figure for row in plan.rows] == ["quantiles(paid)", "count(*)"]
        assert plan.rows[0].mechanism == "ranks"
        assert plan.rows[0].error is not None
        assert plan.cost == 2


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        ("quantile_cont(paid, 1.5)", "from 0 to 1"),
        ("quantile_cont(paid, room)", "from 0 to 1"),
        ("quantile_cont(paid, [])", "from 1 to 100"),
        ("MEDIAN(room)", "only numbers"),
        ("MEDIAN(paid) OVER ()", "GROUP BY"),
        ("MAX(paid)", "ask for a quantile"),
        ("percentile_cont(0.5) WITHIN GROUP (ORDER BY paid, room)", "the one value"),
    ],
)
def test_what_is_no_quantile_is_refused_for_free(figure: str, said: str) -> None:
    with opened() as data:
        with pytest.raises(OnesidedError, match=said):
            data.sql(f"SELECT {figure} FROM visits", epsilon=1, bounds={"paid": (0, 99)})
        assert not data.account_opened


def test_without_bounds_cells_are_found() -> None:
    asked = "SELECT room, MEDIAN(paid) AS m FROM visits GROUP BY room"
    with opened(policy="late") as data:
        found = data.sql(asked, epsilon=4)
        spent = data.budget.spent
        same = data.quantile("paid", [0.5], by="room", epsilon=4)
        assert data.budget.spent == spent == 4
        assert found.table["m"].to_pylist() == same.table["value"].to_pylist()
        for median in found.table["m"].to_pylist():
            assert 30 < median < 65
        joined = "SELECT wing, MEDIAN(paid) FROM visits JOIN rooms USING (room) GROUP BY wing"
        with pytest.raises(OnesidedError, match="bounds"):
            data.sql(joined, epsilon=1)
        assert data.budget.spent == 4
