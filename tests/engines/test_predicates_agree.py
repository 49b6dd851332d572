"""Every engine gives the answer of the reference evaluator for a fuzzed corpus of predicates.

Many predicates are columns of one statement on the table as the engine reads it. Beside each of
them stands what makes a row sensitive, since an engine may simplify that in a way of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from onesided.data.units import Unit
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.postgres.engine import PostgresEngine
from onesided.engine.spark.engine import SparkEngine
from onesided.language import BoundPredicate, Predicate, Schema
from support.engines import WRITERS, EngineName, load, write
from support.mixed import keys, mixed_corpus, table
from support.postgres import TestServer

IN_ONE_STATEMENT = 50
ROWS = 300
QUICK = {EngineName.DUCKDB: 300, EngineName.POSTGRES: 250, EngineName.SPARK: 100}
LONG = 5_000
Answers = list[tuple[Any, ...]]


class Asked(NamedTuple):
    """An engine that has the cells of `table`.

    - `select`: the values of expressions on every row, in the order of the ids.
    """

    engine: EngineName
    schema: Schema
    select: Callable[[list[str]], Answers]


@pytest.fixture(scope="module")
def cells() -> pa.Table:
    return table(ROWS)


@pytest.fixture(scope="module", params=list(QUICK), ids=lambda engine: engine.value)
def asked(
    request: pytest.FixtureRequest, cells: pa.Table, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Asked]:
    engine: EngineName = request.param
    folder = tmp_path_factory.mktemp("cells")
    match engine:
        case EngineName.DUCKDB:
            yield from _on_duckdb(write(cells, folder))
        case EngineName.POSTGRES:
            server: TestServer = request.getfixturevalue("postgres_server")
            url = server.new_database()
            load(url, "cells", cells)
            yield from _on_postgres(url)
        case EngineName.SPARK:
            yield from _on_spark(write(cells, folder), request.getfixturevalue("spark"))


def _on_duckdb(path: Path) -> Iterator[Asked]:
    with closing(DuckDBEngine(path, Unit(("id",)))) as engine:
        source = engine._source.selected(set(engine.schema))
        yield Asked(
            EngineName.DUCKDB,
            engine.schema,
            lambda listed: engine._connection.sql(_statement(listed, source)).fetchall(),
        )


def _on_postgres(url: str) -> Iterator[Asked]:
    with closing(PostgresEngine(url, "cells", Unit(("id",)))) as engine:

        def select(listed: list[str]) -> Answers:
            with engine._transaction() as transaction:
                return list(transaction.rows(_statement(listed, engine._table.source)))

        yield Asked(EngineName.POSTGRES, engine.schema, select)


def _on_spark(path: Path, spark: Any) -> Iterator[Asked]:
    with closing(SparkEngine(path, Unit(("id",)), spark)) as engine:

        def select(listed: list[str]) -> Answers:
            with engine._pinned():
                found = spark.sql(_statement(listed, engine._view)).toArrow()
            return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

        yield Asked(EngineName.SPARK, engine.schema, select)


def _statement(listed: list[str], source: str) -> str:
    named = (f"{each} AS osd_{place}" for place, each in enumerate(listed))
    return f"SELECT {', '.join(named)} FROM {source} osd_t ORDER BY id"


def disagreements(
    asked: Asked, predicates: list[BoundPredicate], cells: pa.Table
) -> list[tuple[str, dict[str, Any]]]:
    """Predicates with the first row for which the engine has another answer than the evaluator."""
    texts = [f"({each.render(WRITERS[asked.engine])})" for each in predicates]
    found = asked.select([*texts, *(f"{text} IS NOT FALSE" for text in texts)])
    wrong: dict[str, dict[str, Any]] = {}
    for row, values in zip(cells.to_pylist(), found, strict=True):
        expected = [each.evaluate(row) for each in predicates]
        pairs = [*expected, *(value is not False for value in expected)]
        if list(values) != pairs:
            for place, each in enumerate((*predicates, *predicates)):
                if values[place] != pairs[place]:
                    read = {name: row[name] for name in each.columns}
                    wrong.setdefault(each.sql, {**read, "found": values[place]})
    return list(wrong.items())


def check(asked: Asked, cells: pa.Table, count: int, seed: int) -> None:
    corpus = mixed_corpus(asked.schema, seed)
    for _ in range(0, count, IN_ONE_STATEMENT):
        assert disagreements(asked, list(islice(corpus, IN_ONE_STATEMENT)), cells) == []


def test_the_corpus(asked: Asked, cells: pa.Table) -> None:
    check(asked, cells, QUICK[asked.engine], seed=2)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3, 8))
def test_a_long_corpus(asked: Asked, cells: pa.Table, seed: int) -> None:
    check(asked, cells, LONG // 5, seed)


def test_derived_keys(asked: Asked, cells: pa.Table) -> None:
    derived = keys(asked.schema)
    found = asked.select([each.render(WRITERS[asked.engine]) for each in derived])
    for row, values in zip(cells.to_pylist(), found, strict=True):
        for key, value in zip(derived, values, strict=True):
            assert _same(value, key.evaluate(row)), (key.name, row)


def _same(value: Any, expected: Any) -> bool:
    """Equal, where NaN is NaN and the keys of a group have one zero."""
    if isinstance(expected, float):
        return repr(value) == repr(expected + 0.0)
    if isinstance(value, Decimal | str) and isinstance(expected, Decimal | int):
        return Decimal(value) == expected  # an exact number may come as a decimal, or as its text
    return type(value) is type(expected) and bool(value == expected)


def test_a_wrong_rendering_would_be_noticed(asked: Asked, cells: pa.Table) -> None:
    lenient = Predicate.parse("i > 0 AND b").bind(asked.schema)
    answers = asked.select(["(i >= 0 AND b)"])
    pairs = zip(cells.to_pylist(), answers, strict=True)
    assert any(answer[0] != lenient.evaluate(row) for row, answer in pairs)
