"""Counts and sums that share a pass: what each of them gives alone, on every engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from onesided.engine.base import CountQuery, Engine, GroupCounts, Total
from onesided.language import Key
from onesided.language.tree import Column
from onesided.session.together import CountsTogether
from support.engines import Opener, count_query

POLICY = "person < 2"
FILTERS = ("paid IS NOT NULL", "NOT (age IS NULL)", "age > 0", "age > 0 AND NOT (paid IS NULL)")


@pytest.fixture(scope="module", params=["whole", "holes"])
def table(request: pytest.FixtureRequest) -> pa.Table:
    """With holes, a room has nobody whose age is known."""
    holes = request.param == "holes"
    return pa.table(
        {
            "id": pa.array(range(60)),
            "person": pa.array([row % 7 for row in range(60)]),
            "room": pa.array([("lab", None, "é", "E")[row % 4] for row in range(60)]),
            "age": pa.array([None if holes and row % 4 == 2 else row % 9 - 4 for row in range(60)]),
            "paid": pa.array(
                [None if holes and row % 11 == 0 else row % 5 / 2 for row in range(60)]
            ),
        }
    )


@pytest.fixture(scope="module", params=[("id",), ("person",)], ids=str)
def engine(
    request: pytest.FixtureRequest, opened: Opener, table: pa.Table
) -> Iterator[tuple[Engine, int | None]]:
    unit: Sequence[str] = request.param
    with closing(opened(table, unit)) as engine:
        yield engine, None if unit == ("id",) else 2


@pytest.mark.parametrize("by", [["room"], []], ids=str)
def test_each_of_them_is_what_it_is_alone(engine: tuple[Engine, int | None], by: list[str]) -> None:
    asked, most = engine
    queries = _queries(asked, by, most if by else None)
    together = CountsTogether(asked, lambda: queries)
    for query in queries:
        alone = asked.count(query)
        assert _plain(together.found(query) or alone) == _plain(alone), query
    assert together.found(replace(queries[0], max_groups=9)) is None


def test_what_counts_the_same_rows_is_asked_once(
    engine: tuple[Engine, int | None], table: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, most = engine
    queries = _queries(asked, ["room"], most)[:3]
    plain, put = asked.count, list[CountQuery]()
    monkeypatch.setattr(asked, "count", lambda query: put.append(query) or plain(query))
    together = CountsTogether(asked, lambda: queries)
    found = [together.found(query) is not None for query in queries]
    if table["age"].null_count == 0:
        assert all(found)
        assert len(put) == (1 if most is None else 2)  # the latter finds out that nothing is NULL
    else:
        assert found == [most is None] * 3
        assert len(put) == (2 if most is None else 1)


def _queries(engine: Engine, by: list[str], most: int | None) -> list[CountQuery]:
    """Counts and sums of the same groups with different filters."""
    paid, age = (Key(Column(name)).bind(engine.schema) for name in ("paid", "age"))
    sums = (Total(paid, Fraction(1, 2), 4), Total(None, Fraction(1), 3), Total(age, Fraction(1), 5))
    plain = count_query(engine, POLICY, by, max_groups=most)
    there = [count_query(engine, POLICY, by, where=each, max_groups=most) for each in FILTERS]
    return [
        plain,
        replace(there[1], totals=sums[2:]),
        replace(there[0], totals=sums[:2]),
        replace(plain, totals=sums[:1]),
        *there,
        replace(there[2], totals=sums),
    ]


def _plain(counts: GroupCounts) -> list[tuple[object, ...]]:
    columns = [column.to_pylist() for column in counts.keys.columns]
    numbers = [side.tolist() for each in counts.figures for side in (each.all, each.nonsensitive)]
    return list(zip(*columns, *numbers, strict=True))
