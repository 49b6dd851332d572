"""Every engine gives the answer of the reference evaluator for a fuzzed corpus of predicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.language import Predicate
from support.engines import WRITERS, EngineName, load
from support.hostile import ARROW
from support.postgres import TestServer
from support.predicates import SCHEMA, corpus, rows

PREDICATES = 144
IN_ONE_STATEMENT = 24
Answers = list[tuple[Any, ...]]
Run = Callable[[list[str]], Answers]


@pytest.fixture(scope="module")
def cells() -> list[dict[str, Any]]:
    return rows(150)


@pytest.fixture(scope="module")
def table(cells: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(cells, pa.schema(list(ARROW.items())))


@pytest.fixture(scope="module", params=list(EngineName), ids=lambda name: name.value)
def engine(request: pytest.FixtureRequest) -> EngineName:
    return EngineName(request.param)


@pytest.fixture(scope="module")
def run(
    engine: EngineName,
    table: pa.Table,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Run]:
    """Evaluates expressions on every row of the table, in the order of its ids."""
    match engine:
        case EngineName.DUCKDB:
            with duckdb.connect() as connection:
                connection.register("cells", table)
                yield lambda listed: connection.sql(_statement(listed)).fetchall()
        case EngineName.POSTGRES:
            server: TestServer = request.getfixturevalue("postgres_server")
            url = server.new_database()
            load(url, "cells", table)
            with psycopg.connect(url) as session:
                yield lambda listed: session.execute(_statement(listed)).fetchall()
        case EngineName.SPARK:
            spark = request.getfixturevalue("spark")
            path: Path = tmp_path_factory.mktemp("cells") / "cells.parquet"
            pq.write_table(table, path)
            spark.read.parquet(str(path)).createOrReplaceTempView("cells")
            yield lambda listed: [tuple(row) for row in spark.sql(_statement(listed)).collect()]
            spark.catalog.dropTempView("cells")


def _statement(listed: list[str]) -> str:
    return f"SELECT {', '.join(listed)} FROM cells ORDER BY id"


def test_the_corpus(engine: EngineName, run: Run, cells: list[dict[str, Any]]) -> None:
    predicates = corpus(PREDICATES)
    for start in range(0, PREDICATES, IN_ONE_STATEMENT):
        part = [
            predicate.bind(SCHEMA) for predicate in predicates[start : start + IN_ONE_STATEMENT]
        ]
        answers = run([f"({predicate.render(WRITERS[engine])})" for predicate in part])
        for row, answer in zip(cells, answers, strict=True):
            for predicate, value in zip(part, answer, strict=True):
                assert value == predicate.evaluate(row), (predicate.sql, row)


def test_a_wrong_rendering_would_be_noticed(run: Run, cells: list[dict[str, Any]]) -> None:
    lenient = Predicate.parse("i > 0 AND b").bind(SCHEMA)
    answers = run(["(i >= 0 AND b)"])
    pairs = zip(cells, answers, strict=True)
    assert any(answer[0] != lenient.evaluate(row) for row, answer in pairs)
