"""Subqueries over public tables, tables that are joined twice, and what can be below 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import onesided as osd
from onesided.errors import InputError
from onesided.randomness import seeded

EXACT = 10**6
STOPS = pa.table(
    {
        "code": ["A", "B", "C"],
        "district": ["old", "new", "new"],
        "lift": [True, False, None],
        "height": [-3, 12, 40],
    }
)
ROWS = range(400)
TRIPS = pa.table(
    {
        "card": list(ROWS),
        "start": [("A", "B", "C", "D", None)[each % 5] for each in ROWS],
        "stop": [("C", "A", "B")[each % 3] for each in ROWS],
        "delay": [each % 21 - 10 for each in ROWS],
    }
)
ANSWERED = (
    "SELECT district, COUNT(*) FROM stops s JOIN trips t ON s.code = t.stop GROUP BY 1 ORDER BY 1",
    "SELECT district, COUNT(*) FROM stops RIGHT JOIN trips ON code = stop GROUP BY 1 ORDER BY 1",
    "SELECT height, COUNT(*), COUNT(*) + 1, COUNT(*) FROM trips JOIN stops ON stop = code "
    "GROUP BY 1 ORDER BY 1",
    "SELECT 1 + 1, upper('x')",
    "SELECT COUNT(*) FROM trips WHERE start IN (SELECT code FROM stops WHERE district = 'new')",
    "SELECT COUNT(*) FROM trips WHERE start NOT IN (SELECT code FROM stops WHERE lift)",
    "SELECT COUNT(*) FROM trips WHERE start IN (SELECT code FROM stops WHERE height > 1000)",
    "SELECT COUNT(*) FROM trips t WHERE EXISTS "
    "(SELECT 1 FROM stops s WHERE s.code = t.start AND s.height > 0)",
    "SELECT COUNT(*) FROM trips t WHERE NOT EXISTS (SELECT 1 FROM stops s WHERE s.code = t.start)",
    "SELECT o.district AS a, d.district AS b, COUNT(*) FROM trips t "
    "JOIN stops o ON o.code = t.start JOIN stops d ON d.code = t.stop GROUP BY ALL ORDER BY ALL",
    "SELECT h.height, COUNT(*) FROM trips t JOIN (SELECT code, max(height) AS height FROM stops "
    "GROUP BY code) h ON h.code = t.stop GROUP BY ALL ORDER BY 1",
    "WITH high AS (SELECT code AS at FROM stops WHERE height > 0) "
    "SELECT COUNT(*) FROM trips t JOIN high ON high.at = t.stop",
    "WITH late AS (SELECT start AS code, delay FROM trips WHERE delay > 0) "
    "SELECT district, COUNT(*) FROM late JOIN stops USING (code) GROUP BY 1 ORDER BY 1",
    "SELECT stop, SUM(delay), AVG(delay) FROM trips GROUP BY stop ORDER BY ALL",
    "SELECT SUM(s.height), AVG(delay * s.height) FROM trips t JOIN stops s ON s.code = t.stop",
    "SELECT AVG(CASE WHEN delay > 3 THEN -delay END) FROM trips",
)


@pytest.fixture(scope="module")
def trips() -> Iterator[osd.Dataset]:
    with osd.open(
        TRIPS,
        unit="rows",
        policy="FALSE",
        budget=10**9,
        name="trips",
        public={"stops": STOPS},
        rng=seeded(3),
    ) as dataset:
        yield dataset


def asked(dataset: osd.Dataset, statement: str) -> list[tuple[Any, ...]]:
    found = dataset.sql(
        statement, epsilon=EXACT, mechanism="one-sided", bounds={"delay": (-10, 10)}, yes=True
    )
    return [tuple(row.values()) for row in found.table.to_pylist()]


@pytest.mark.parametrize("statement", ANSWERED)
def test_each_is_answered_as_plain_duckdb_does(trips: osd.Dataset, statement: str) -> None:
    with duckdb.connect() as plain:
        plain.register("trips", TRIPS)
        plain.register("stops", STOPS)
        expected = plain.sql(statement).fetchall()
    found = asked(trips, statement)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        for cell, plainly in zip(one, other, strict=True):
            text = isinstance(plainly, str) or plainly is None
            assert cell == (plainly if text else pytest.approx(plainly, rel=1e-2, abs=1e-2))


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("SELECT COUNT(*) FROM trips WHERE start IN (SELECT stop FROM trips)", "subquery"),
        ("SELECT COUNT(*) FROM trips WHERE start IN (SELECT * FROM stops)", "one column"),
        ("SELECT COUNT(*) FROM trips WHERE start IN (SELECT missing FROM stops)", "missing"),
        (
            "WITH stops AS (SELECT start AS code FROM trips) "
            "SELECT COUNT(*) FROM trips WHERE start IN (SELECT code FROM stops)",
            "subquery",
        ),
        (
            "SELECT COUNT(*) FROM trips t JOIN (SELECT district FROM stops) d "
            "ON d.district = t.stop",
            "tell its rows apart",
        ),
        ("SELECT COUNT(*) FROM trips a JOIN trips b ON a.card = b.card", "joined with itself"),
        ("SELECT MODE(stop) FROM trips", "GROUP BY it"),
        ("SELECT COUNT(*) FROM stops LEFT JOIN trips ON code = stop", "write the data set first"),
        ("SELECT COUNT(*) FROM trips JOIN (SELECT code FROM stops) ON code = stop", "name"),
    ],
)
def test_what_is_no_lookup_of_public_facts_is_refused(
    trips: osd.Dataset, statement: str, named: str
) -> None:
    spent = trips.budget.spent
    with pytest.raises(InputError, match=named):
        asked(trips, statement)
    assert trips.budget.spent == spent


def test_constants_are_free(trips: osd.Dataset) -> None:
    spent = trips.budget.spent
    released = trips.sql("SELECT 1 AS one", epsilon=1)
    assert released.table.to_pylist() == [{"one": 1}]
    assert "nothing" in released.receipt.price
    assert "nothing" in str(released)
    assert trips.budget.spent == spent
    with pytest.raises(InputError, match="costs nothing"):
        trips.plan.sql("SELECT 1", epsilon=1)


def test_columns_without_a_name_are_told_apart(trips: osd.Dataset) -> None:
    released = trips.sql("SELECT COUNT(*), COUNT(*), COUNT(*) AS n FROM trips", epsilon=1)
    assert released.table.column_names == ["count(*)", "count(*)_1", "n"]
    with pytest.raises(InputError, match="one name"):
        trips.sql("SELECT COUNT(*) AS n, COUNT(start) AS n FROM trips", epsilon=1)
