"""What is accepted has one meaning: DuckDB and the evaluator agree on it, for every row alone.

The table is held twice, the second time in another order, and both are asked in one statement:
a predicate that looked beyond its row, or drew a coin, would not give the same answers.
"""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from onesided.engine.duckdb.writer import DuckDBWriter
from onesided.errors import PolicyError
from onesided.language import BoundPredicate, Key, Predicate
from onesided.language.canonical import canonical_text
from onesided.language.tree import Expression
from support.engines import EngineName
from support.predicates import (
    SCHEMA,
    Generator,
    bindable,
    column_types,
    conditions,
    corpus,
    rows,
)

ROWS = rows(150)
# Fuzzing the text is cheap where it is refused, which is most of the time.
TREES, TEXTS = 150, 300
_QUICK = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}

_WORDS = (
    *("i", "small", "price", "f", "t", '"Some Text"', "b", "c", "d", "ts", "T", "rowid", "nope"),
    *("AND", "OR", "NOT", "IS", "NULL", "TRUE", "FALSE", "IN", "BETWEEN", "LIKE", "DISTINCT"),
    *("FROM", "CASE", "WHEN", "THEN", "ELSE", "END", "ESCAPE", "ILIKE", "SELECT", "AS", "ANY"),
    *("=", "<>", "<", "<=", ">", ">=", "!", "==", "+", "-", "*", "/", "%", "||", "::", "~", "^"),
    *("(", ")", ",", ".", ";", "?", "$1", "[", "]", "--", "/*", "*/", ":", "->", "@", "|", "&"),
    *("1", "17", "0.5", "-1", "1e3", "0x1F", "'a'", "'a%'", "'\\'", "''", "$$a$$", "E'a'"),
    *("DATE '2024-02-29'", "TIMESTAMP '2024-02-29 08:30:00'", "INTERVAL '1' DAY", "date", "int"),
    *("lower(", "upper(", "coalesce(", "hour(", "weekday(", "date(", "bucket(", "random()"),
    *("now()", "count(", "CAST(", "abs(", "OVER ()", "COLLATE", "current_date", "SYMMETRIC"),
)


@pytest.fixture(scope="module")
def duck() -> duckdb.DuckDBPyConnection:
    """The rows twice: table `one` as they are, table `two` the other way round."""
    connection = duckdb.connect()
    columns = ", ".join(
        f'"{name}" {kind}' for name, kind in column_types(EngineName.DUCKDB).items()
    )
    marks = ", ".join("?" * (len(SCHEMA) + 1))
    for table, ordered in (("one", ROWS), ("two", ROWS[::-1])):
        connection.execute(f"CREATE TABLE {table} (id BIGINT, {columns})")
        values = [list(row.values()) for row in ordered]
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
    return connection


def answers(duck: duckdb.DuckDBPyConnection, sql: str) -> list[list[Any]]:
    """What DuckDB says for each row by id, from both tables."""
    return [
        [
            value
            for _, value in duck.execute(f"SELECT id, {sql} FROM {table} ORDER BY id").fetchall()
        ]
        for table in ("one", "two")
    ]


def agrees(duck: duckdb.DuckDBPyConnection, predicate: BoundPredicate) -> None:
    expected = [predicate.evaluate(row) for row in ROWS]
    for answer in answers(duck, predicate.render(DuckDBWriter())):
        assert answer == expected


@settings(max_examples=TREES, **_QUICK)
@given(tree=conditions())
def test_the_engine_and_the_evaluator_agree(
    duck: duckdb.DuckDBPyConnection, tree: Expression
) -> None:
    predicate = bindable(tree) or reject()
    agrees(duck, predicate.bind(SCHEMA))


def test_the_corpus_that_engines_share_agrees(duck: duckdb.DuckDBPyConnection) -> None:
    outcomes = set()
    for predicate in corpus(200):
        bound = predicate.bind(SCHEMA)
        agrees(duck, bound)
        outcomes |= {bound.evaluate(row) for row in ROWS}
    assert outcomes == {True, False, None}


@settings(max_examples=2 * TREES, **_QUICK)
@given(tree=conditions())
def test_canonical_text_is_read_back_as_the_same_tree(tree: Expression) -> None:
    assume(bindable(tree) is not None)
    text = canonical_text(tree)
    predicate = Predicate.parse(text)
    assert predicate.expression == tree
    assert predicate.sql == text


@st.composite
def mutated_texts(draw: st.DrawFn) -> str:
    """An accepted text with a few words replaced, dropped or added."""
    pick = _picker(draw)
    words = canonical_text(Generator(pick).condition(2)).split(" ")
    for _ in range(1 + pick(3)):
        place = pick(len(words))
        words[place : place + pick(2)] = [_WORDS[pick(len(_WORDS))]] if pick(4) else []
        assume(words)
    return " ".join(words)


def _picker(draw: st.DrawFn) -> Any:
    return lambda count: draw(st.integers(0, count - 1))


_SOUP = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=9).map(" ".join)


@settings(max_examples=TEXTS, **_QUICK)
@given(text=mutated_texts() | _SOUP | st.text(max_size=30))
def test_a_text_is_refused_or_has_one_meaning(duck: duckdb.DuckDBPyConnection, text: str) -> None:
    try:
        predicate = Predicate.parse(text)
        bound = predicate.bind(SCHEMA)
    except PolicyError:
        return
    assert Predicate.parse(predicate.sql) == predicate
    agrees(duck, bound)


@pytest.mark.soak
@settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=mutated_texts())
def test_a_text_is_refused_or_has_one_meaning_for_long(
    duck: duckdb.DuckDBPyConnection, text: str
) -> None:
    try:
        bound = Predicate.parse(text).bind(SCHEMA)
    except PolicyError:
        return
    agrees(duck, bound)


@pytest.mark.parametrize(
    "text",
    [
        *("i", "small", "t", '"Some Text"', "b", "d", "ts", "price", "hour(ts)", "weekday(ts)"),
        *("weekday(d)", "date(ts)", "date(d)", "bucket(i, 10)", "bucket(small, 7)", "bucket(i, 1)"),
    ],
)
def test_keys_agree(duck: duckdb.DuckDBPyConnection, text: str) -> None:
    key = Key.parse(text).bind(SCHEMA)
    expected = [key.evaluate(row) for row in ROWS]
    for answer in answers(duck, key.render(DuckDBWriter())):
        assert answer == expected


@pytest.mark.parametrize(
    ("text", "mistaken"),
    [
        ("lower(t) = 'é'", "lower(t) = 'é'"),
        ("f > 1", "f > 1 AND NOT isnan(f)"),
        ("NOT b", "NOT coalesce(b, FALSE)"),
        ("bucket(i, 10) = -10", "i - i % 10 = -10"),
        ("single = 0.1", "single = 0.1::REAL"),
        ("t < 'a'", "t COLLATE NOCASE < 'a'"),
        ("i + i > 0", "i::DOUBLE + i > 0"),
        ("ts <= DATE '2024-02-29'", "ts::DATE <= DATE '2024-02-29'"),
    ],
)
def test_the_rows_tell_mistaken_renderings_apart(
    duck: duckdb.DuckDBPyConnection, text: str, mistaken: str
) -> None:
    """The negative control: plausible renderings that mean something else are noticed."""
    predicate = Predicate.parse(text).bind(SCHEMA)
    agrees(duck, predicate)
    expected = [predicate.evaluate(row) for row in ROWS]
    assert answers(duck, mistaken)[0] != expected
