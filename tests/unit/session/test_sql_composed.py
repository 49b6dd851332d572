"""Statements made of several SELECTs: each is asked once, and the rest is as plain SQL has it."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import onesided as osd
from onesided.errors import OnesidedError, ReleaseFailed
from onesided.loss import Loss

EXACT = 1_000_000


def visits(many: int = 500) -> pa.Table:
    dice = np.random.default_rng(4)
    return pa.table(
        {
            "person": dice.integers(0, 90, many).tolist(),
            "room": dice.choice(["a", "b", "c", "d"], many).tolist(),
            "day": dice.integers(1, 8, many).tolist(),
            "late": (dice.random(many) < 0.3).tolist(),
        }
    )


VISITS = visits()


def opened(unit: str = "rows", policy: str = "FALSE", **options: Any) -> osd.Dataset:
    return osd.open(
        VISITS,
        unit=unit,
        policy=policy,
        budget=50 * EXACT,
        name="visits",
        rng=osd.seeded(2),
        **options,
    )


def plain(statement: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.register("visits", VISITS)
        return connection.sql(statement).fetchall()


def rows(release: osd.QueryRelease) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in release.table.to_pylist()]


DAILY = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"
STATEMENTS = {
    "SELECT COUNT(*) AS rooms FROM (SELECT DISTINCT room FROM visits) r": 1,
    f"SELECT AVG(n) AS m, MAX(n) AS most, COUNT(*) AS days FROM ({DAILY}) d": 1,
    f"WITH daily AS ({DAILY}) SELECT day, n, SUM(n) OVER (ORDER BY day) AS so_far FROM daily "
    "WHERE day > 2 ORDER BY day DESC LIMIT 3": 1,
    f"WITH daily AS ({DAILY}) SELECT a.day, b.n - a.n AS more FROM daily a JOIN daily b "
    "ON b.day = a.day + 1": 1,
    f"WITH daily AS ({DAILY}), whole AS (SELECT SUM(n) AS s FROM daily) "
    "SELECT day, n / s AS share FROM daily, whole": 1,
    f"SELECT day FROM ({DAILY}) WHERE n > (SELECT AVG(n) FROM ({DAILY}))": 1,
    "SELECT 'late' AS what, COUNT(*) AS n FROM visits WHERE late UNION ALL "
    "SELECT 'all', COUNT(*) FROM visits": 2,
    "SELECT room FROM visits UNION SELECT room || '!' FROM (SELECT room, COUNT(*) AS n FROM visits "
    "GROUP BY room) r WHERE n > 125": 1,
    "SELECT room FROM visits WHERE day = 1 EXCEPT "
    "SELECT room FROM visits WHERE day = 2 AND late": 2,
    "SELECT room, n FROM (SELECT room, day, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY room "
    "ORDER BY COUNT(*) DESC, day) AS place FROM visits GROUP BY room, day) r WHERE place = 1": 1,
    "SELECT CASE WHEN n > 60 THEN 'busy' ELSE 'calm' END AS kind, COUNT(*) AS days, "
    f"quantile_disc(n, 0.5) AS middle FROM ({DAILY}) GROUP BY kind HAVING COUNT(*) > 0": 1,
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_is_made_of_answers_is_as_in_plain_sql(statement: str) -> None:
    with opened() as data:
        release = data.sql(statement, epsilon=EXACT, mechanism="one-sided", yes=True)
        found, expected = rows(release), plain(statement)
        assert len(release.figures) == STATEMENTS[statement]
        assert data.budget.spent == EXACT
    assert len(found) == len(expected)
    for one, other in zip(sorted(found, key=repr), sorted(expected, key=repr), strict=True):
        assert one == pytest.approx(other) if not isinstance(one[0], str) else one == other


def test_a_figure_in_two_selects_is_asked_for_once() -> None:
    statement = (
        "SELECT room, COUNT(*) AS n FROM visits GROUP BY room UNION ALL "
        "SELECT 'once more ' || room, n "
        "FROM (SELECT room, COUNT(*) AS n FROM visits GROUP BY room) r"
    )
    with opened(policy="late") as data:
        release = data.sql(statement, epsilon=2, mechanism="one-sided")
        assert list(release.figures) == ["count(*) of SELECT 1"]
        assert release.loss == Loss(0, 2)
        assert data.budget.spent == 2
        assert release.receipt["request"]["sql"] == statement
        first = data.sql(
            "SELECT room, COUNT(*) AS n FROM visits GROUP BY room",
            epsilon=2,
            mechanism="one-sided",
        )
        assert data.budget.spent == 2
        values = first.table["n"].to_pylist()
        assert sorted(release.table["n"].to_pylist()) == sorted(values + values)
        assert data.sql(statement, epsilon=2, mechanism="one-sided").table == release.table


def test_different_figures_share_epsilon_and_a_plan_names_them() -> None:
    statement = (
        "SELECT 'late' AS what, COUNT(*) AS n FROM visits WHERE late UNION ALL "
        "SELECT 'all', COUNT(*) FROM visits"
    )
    with opened(policy="late") as data:
        plan = data.plan.sql(statement, epsilon=1)
        figures = [row.figure for row in plan.rows]
        assert figures == ["count(*) of SELECT 1", "count(*) of SELECT 2"]
        assert [row.epsilon for row in plan.rows] == [plan.cost / 2] * 2
        answers = data.run([{"ask": "sql", "name": "both", "query": statement}], epsilon=1)
        assert answers["both"].loss.epsilon == 1


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (f"SELECT * FROM ({DAILY}) d JOIN visits v ON v.day = d.day", "not counted or grouped"),
        (f"SELECT * FROM ({DAILY}) d, read_csv('/etc/passwd')", "not counted or grouped"),
        (f"SELECT now() FROM ({DAILY}) d", "not allowed"),
        (f"SELECT random() FROM ({DAILY}) d", "not allowed"),
        (f"SELECT getenv('HOME') FROM ({DAILY}) d", "not allowed"),
        (f"SELECT nothing FROM ({DAILY}) d", "cannot be computed"),
        (f"SELECT day + 'x' FROM ({DAILY}) d WHERE room = 'a'", "cannot be computed"),
        ("SELECT room FROM visits UNION ALL SELECT room FROM visits", "single records"),
        ("SELECT COUNT(*) FROM visits UNION ALL SELECT * FROM visits", "single records"),
        ("SELECT AVG(g) FROM (SELECT LAG(day) OVER (ORDER BY day) AS g FROM visits) v", "a window"),
        ("SELECT COUNT(*) FROM visits WHERE day > (SELECT AVG(day) FROM visits)", "subquery"),
    ],
)
def test_what_cannot_be_made_of_answers_is_refused_for_free(statement: str, said: str) -> None:
    with opened() as data:
        with pytest.raises(OnesidedError, match=said):
            data.sql(statement, epsilon=1, bounds={"day": (0, 9)})
        assert not data.account_opened


def test_groups_that_are_single_units_are_refused() -> None:
    statement = "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) p"
    with opened("person") as data:
        with pytest.raises(OnesidedError, match="each group is a single unit"):
            data.sql(statement, epsilon=1, max_rows=3)
        assert not data.account_opened


def test_what_fails_for_released_values_says_what_is_paid_for() -> None:
    statement = f"SELECT (SELECT day FROM ({DAILY}) e) AS d FROM ({DAILY}) f"
    with opened() as data:
        with pytest.raises(ReleaseFailed, match="for free"):
            data.sql(statement, epsilon=EXACT, mechanism="one-sided", yes=True)
        spent = data.budget.spent
        assert spent == EXACT
        data.sql(DAILY, epsilon=EXACT, mechanism="one-sided", yes=True)
        assert data.budget.spent == spent
