"""Several counts in one statement: what each of them gives alone, on every engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date

import pyarrow as pa
import pytest

from onesided.engine.base import CountQuery, Engine, GroupCounts
from onesided.engine.together import one_by_one
from support.engines import Opener, count_query

POLICY = "person < 2"
KEYS = ("room", "age", "CASE WHEN paid < 1.5 THEN 0 WHEN paid >= 1.5 THEN 1 END")


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rooms = ["clinic", "lab", None, "é", "E", "a"]
    return pa.table(
        {
            "id": pa.array(range(60)),
            "person": pa.array([row % 7 for row in range(60)]),
            "room": pa.array([rooms[row % 6] for row in range(60)]),
            "age": pa.array([None if row % 5 == 0 else row % 9 - 4 for row in range(60)]),
            "paid": pa.array([None if row % 11 == 0 else row % 4 / 2 for row in range(60)]),
            "day": pa.array([date(2024, 1, 1 + row % 3) for row in range(60)]),
        }
    )


@pytest.fixture(scope="module", params=[("id",), ("person",), ("person", "day")], ids=str)
def engine(
    request: pytest.FixtureRequest, opened: Opener, table: pa.Table
) -> Iterator[tuple[Engine, int | None]]:
    unit: Sequence[str] = request.param
    with closing(opened(table, unit)) as engine:
        yield engine, None if unit == ("id",) else 2


def test_each_count_is_what_it_is_alone(engine: tuple[Engine, int | None]) -> None:
    asked, most = engine
    queries: list[CountQuery] = []
    for key in KEYS:
        query = count_query(asked, POLICY, [key], max_groups=most)
        queries += [query, replace(query, kinds=True)]
        queries.append(count_query(asked, POLICY, [key], where="age > 0", max_groups=most))
    queries.append(count_query(asked, POLICY, [], where="age > 0"))
    found = asked.count_each(queries)
    assert list(map(_plain, found)) == list(map(_plain, one_by_one(asked.count, queries)))
    assert any(found[0].nonsensitive > 0)
    (number,) = _plain(asked.count_each(queries[1:2])[0])
    assert number == (len(found[0].all), sum(found[0].nonsensitive > 0))


def test_unique_rows_need_no_bound(opened: Opener, table: pa.Table) -> None:
    with closing(opened(table.append_column("e", table["paid"]), ["id"])) as engine:
        queries = [count_query(engine, POLICY, ["age"]), count_query(engine, POLICY, ["room"])]
        assert [sum(each.all) for each in engine.count_each(queries)] == [60, 60]


def _plain(counts: GroupCounts) -> list[tuple[object, ...]]:
    columns = [column.to_pylist() for column in counts.keys.columns]
    return list(zip(*columns, counts.all.tolist(), counts.nonsensitive.tolist(), strict=True))
