"""How PostgreSQL gets to a result may depend on its size; the result may not."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from typing import Any

import psycopg
import pytest

from onesided.audit.session.reference import Reference
from onesided.data.units import Unit
from onesided.engine.base import CountQuery
from onesided.engine.postgres.engine import PostgresEngine
from support.engines import column_total, comparable, count_query, counted, load
from support.visits import POLICY, UNIT, visits

TABLE = visits(devices=40)
NUMBERS = column_total("device", Fraction(7), 9)
QUERIES: dict[str, dict[str, Any]] = {
    "pairs": {"by": ["room", "hour(ts)"]},
    "some rows": {"by": ["room"], "where": "hour(ts) < 12"},
    "rows that NULL leaves out": {"by": ["room"], "where": "consent"},
    "cut": {"by": ["hour(ts)", "room"], "max_groups": 2},
    "some rows, cut": {"by": ["hour(ts)"], "where": "room <> 'lab'", "max_groups": 1},
    "sums": {"by": ["room"], "where": "hour(ts) < 12", "totals": (NUMBERS,)},
    "no groups": {"by": [], "where": "room = 'cafe'"},
    "a sample": {"by": ["room"], "where": "hour(ts) < 12", "epsilon": "1"},
}


@pytest.fixture
def url(postgres_url: str) -> str:
    load(postgres_url, "visits", TABLE)
    return postgres_url


@pytest.mark.parametrize("few", [True, False], ids=["left to the server", "sorted"])
@pytest.mark.parametrize("name", QUERIES)
def test_few_and_many_units_are_counted_alike(url: str, name: str, few: bool) -> None:
    with closing(PostgresEngine(url, "visits", Unit(UNIT))) as engine:
        if few:
            engine.inspect()
        query = count_query(engine, POLICY, **QUERIES[name])
        expected = Reference.of(TABLE, UNIT).count(query)
        assert comparable(counted(engine.count(query))) == comparable(expected)
        assert expected


def test_a_histogram_of_many_units_is_one_scan_and_one_sort(url: str) -> None:
    """The server would hash the pairs of so small a table: the statement asks for their order."""
    with closing(PostgresEngine(url, "visits", Unit(UNIT))) as engine:
        query = count_query(engine, POLICY, ["room", "hour(ts)"], max_groups=2)
        sorting = _nodes(url, engine, query)
        engine.inspect()
        leaving = _nodes(url, engine, query)
    assert sorting.count("Seq Scan") == leaving.count("Seq Scan") == 1
    assert sorting[sorting.index("Incremental Sort") :].count("Sort") == 1
    assert sorting[-3:] == ["Aggregate Sorted", "Sort", "Seq Scan"]
    assert leaving[-2:] == ["Aggregate Hashed", "Seq Scan"]


def _nodes(url: str, engine: Any, query: CountQuery) -> list[str]:
    """The steps of the server's plan, from the last one down."""
    with psycopg.connect(url) as connection:
        connection.execute("ANALYZE visits")
        answer = connection.execute(f"EXPLAIN (FORMAT JSON) {engine.statements.count(query)}")
        found = answer.fetchone()
    assert found is not None
    steps, plan = [], found[0][0]["Plan"]
    while plan is not None:
        strategy = f" {plan['Strategy']}" if plan["Node Type"] == "Aggregate" else ""
        steps.append(plan["Node Type"] + strategy)
        plan = next(iter(plan.get("Plans", [])), None)
    return steps


@pytest.mark.parametrize(("usual", "allowed"), [("4MB", "64MB"), ("128MB", "128MB")])
def test_a_release_asks_for_memory_for_its_own_time(url: str, usual: str, allowed: str) -> None:
    setting = f"&options=-cwork_mem%3D{usual}"
    with closing(PostgresEngine(url + setting, "visits", Unit(UNIT))) as engine:
        with engine.reading(None) as transaction:
            transaction.allow_more_memory()
            assert transaction.rows("SELECT current_setting('work_mem')") == [(allowed,)]
        with engine.reading(None) as transaction:
            assert transaction.rows("SELECT current_setting('work_mem')") == [(usual,)]
