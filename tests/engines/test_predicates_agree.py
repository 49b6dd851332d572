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
from onesided.engine.datafusion.connection import connect
from onesided.engine.datafusion.source import from_files
from onesided.engine.duckdb.connection import connect as duckdb_connected
from onesided.engine.duckdb.source import opened_source
from onesided.engine.duckdb.types import field_of
from onesided.engine.postgres.engine import PostgresEngine
from onesided.engine.sources import Files
from onesided.engine.spark.engine import SparkEngine
from onesided.engine.spark.session import EXACT_NAMES, PINNED, settings
from onesided.language import BoundPredicate, Key, Predicate, Schema
from onesided.language.floats import NAMELESS, named
from support.engines import WRITERS, EngineName, load, write
from support.mixed import keys, mixed_corpus, table
from support.postgres import TestServer

IN_ONE_STATEMENT = 50
FILTERS_IN_ONE_STATEMENT = 20
ROWS = 300
QUICK = {
    EngineName.DUCKDB: 300,
    EngineName.POSTGRES: 250,
    EngineName.DATAFUSION: 150,
    EngineName.SPARK: 100,
}
LONG = 5_000
Answers = list[tuple[Any, ...]]


class Asked(NamedTuple):
    """An engine that has the cells of `table`.

    - `source`: the table as the engine reads it, for FROM.
    - `run`: the rows of a statement.
    """

    engine: EngineName
    schema: Schema
    source: str
    run: Callable[[str], Answers]

    def select(self, listed: list[str]) -> Answers:
        """The values of expressions on every row, in the order of the ids."""
        named = (f"{each} AS osd_{place}" for place, each in enumerate(listed))
        return self.run(f"SELECT {', '.join(named)} FROM {self.source} osd_t ORDER BY id")

    def chosen(self, conditions: list[str]) -> list[set[int]]:
        """The ids for which each of the conditions lets a row through."""
        scans = (
            f"SELECT {place} AS osd_p, id FROM {self.source} osd_t WHERE {each}"
            for place, each in enumerate(conditions)
        )
        ids: list[set[int]] = [set() for _ in conditions]
        for place, number in self.run(" UNION ALL ".join(scans)):
            ids[place].add(number)
        return ids


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
            yield from _on_duckdb(write(cells, folder), tmp_path_factory.mktemp("links"))
        case EngineName.POSTGRES:
            server: TestServer = request.getfixturevalue("postgres_server")
            url = server.new_database()
            load(url, "cells", cells)
            yield from _on_postgres(url)
        case EngineName.DATAFUSION:
            yield _on_datafusion(write(cells, folder), tmp_path_factory.mktemp("copy"))
        case EngineName.SPARK:
            yield from _on_spark(write(cells, folder), request.getfixturevalue("spark"))


def _on_duckdb(path: Path, folder: Path) -> Iterator[Asked]:
    with duckdb_connected(folder, None) as connection:
        source = opened_source(connection, Files.find(str(path)), folder, rows_named=False)
        schema = Schema.of({name: field_of(kind) for name, kind in source.kinds.items()})

        def run(statement: str) -> Answers:
            return connection.sql(statement).fetchall()

        yield Asked(EngineName.DUCKDB, schema, source.selected(set(schema)), run)


def _on_postgres(url: str) -> Iterator[Asked]:
    with closing(PostgresEngine(url, "cells", Unit(("id",)))) as engine:

        def run(statement: str) -> Answers:
            with engine.transaction() as transaction:
                return list(transaction.rows(statement))

        yield Asked(EngineName.POSTGRES, engine.schema, engine.table.source, run)


def _on_datafusion(path: Path, folder: Path) -> Asked:
    source = from_files(Files.find(str(path)), folder, None, rows_named=False)
    context = connect(folder, None)
    context.register_record_batches("cells", [source.rows.to_batches()])

    def run(statement: str) -> Answers:
        found = context.sql(statement).to_arrow_table()
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    return Asked(EngineName.DATAFUSION, source.schema, "cells", run)


def _on_spark(path: Path, spark: Any) -> Iterator[Asked]:
    with closing(SparkEngine(path, Unit(("id",)), spark)) as engine:

        def run(statement: str) -> Answers:
            with settings(spark, {**PINNED, **EXACT_NAMES}):
                found = spark.sql(statement).toArrow()
            return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

        yield Asked(EngineName.SPARK, engine.schema, engine.view, run)


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


def check_filters(asked: Asked, cells: pa.Table, count: int, seed: int) -> None:
    """As WHERE, where an engine skips what by its statistics cannot match."""
    corpus = mixed_corpus(asked.schema, seed)
    rows = cells.to_pylist()
    for _ in range(0, count, FILTERS_IN_ONE_STATEMENT):
        part = list(islice(corpus, FILTERS_IN_ONE_STATEMENT))
        texts = [f"({each.render(WRITERS[asked.engine])})" for each in part]
        found = asked.chosen([*texts, *(f"NOT ({text} IS NOT FALSE)" for text in texts)])
        for place, each in enumerate(part):
            truths = [(row["id"], each.evaluate(row)) for row in rows]
            for truth, ids in ((True, found[place]), (False, found[place + len(part)])):
                assert ids == {number for number, value in truths if value is truth}, each.sql


def test_the_corpus(asked: Asked, cells: pa.Table) -> None:
    check(asked, cells, QUICK[asked.engine], seed=2)


def test_the_corpus_as_filters(asked: Asked, cells: pa.Table) -> None:
    check_filters(asked, cells, QUICK[asked.engine] // 5, seed=8)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3, 8))
def test_a_long_corpus(asked: Asked, cells: pa.Table, seed: int) -> None:
    check(asked, cells, LONG // 5, seed)
    check_filters(asked, cells, LONG // 50, seed + 10)


def test_derived_keys(asked: Asked, cells: pa.Table) -> None:
    derived = keys(asked.schema)
    found = asked.select([each.render(WRITERS[asked.engine]) for each in derived])
    for row, values in zip(cells.to_pylist(), found, strict=True):
        for key, value in zip(derived, values, strict=True):
            assert _same(value, key.evaluate(row)), (key.name, row)


def test_floats_have_one_name(asked: Asked, cells: pa.Table) -> None:
    columns = [Key.parse(name).bind(asked.schema) for name in ("f", "single", "f / 3")]
    writer = WRITERS[asked.engine]
    texts = [
        f"coalesce({writer.float_name(each.render(writer))}, '{NAMELESS}')" for each in columns
    ]
    for row, found in zip(cells.to_pylist(), asked.select(texts), strict=True):
        values = [each.evaluate(row) for each in columns]
        expected = [named(each) if isinstance(each, float) else NAMELESS for each in values]
        assert list(found) == expected


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
