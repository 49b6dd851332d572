"""No value that PostgreSQL can hold makes a release fail, and none means two things."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from onesided.data.units import Unit
from onesided.engine.postgres.engine import PostgresEngine
from onesided.engine.postgres.writer import PostgresWriter
from onesided.errors import RequestError, SourceError
from onesided.language import Predicate, Type
from support.engines import column_total, count_query, counted, load, sample_query, sampled
from support.hostile import ARROW, hostile_corpus, hostile_rows
from support.predicates import SCHEMA

PREDICATES, IN_ONE_STATEMENT, ROWS = 100, 25, 30
FAR = (
    ("infinity", "infinity", "NaN", "NaN"),
    ("-infinity", "-infinity", "NaN", "-Infinity"),
    ("5874897-12-31", "294276-12-31 23:59:59.999999", "NaN", "-0"),
    ("4713-01-01 BC", "4713-01-01 BC", "1", "5e-324"),
    ("294247-01-11", "294247-01-10 04:00:54.775808", "0", "0"),
    ("294247-01-10", "294247-01-10 04:00:54.775807", "0", "0"),
)


def execute(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[arg-type]


@contextmanager
def opened(url: str, table: str, *unit: str) -> Iterator[Any]:
    with closing(PostgresEngine(url, table, Unit(unit or ("id",)))) as engine:
        yield engine


def answers(engine: Any, predicates: list[Predicate]) -> list[tuple[Any, ...]]:
    """The values of conditions on the rows as the engine reads them, in the order of their ids."""
    listed = ", ".join(f"({each.bind(SCHEMA).render(PostgresWriter())})" for each in predicates)
    with engine.transaction() as transaction:
        found = transaction.rows(f"SELECT {listed} FROM {engine.table.source} osd_t ORDER BY id")
    return list(found)


def test_hostile_predicates_on_hostile_rows(postgres_url: str) -> None:
    """They mean what they mean everywhere, and fail on no value."""
    cells, predicates = hostile_rows(ROWS), hostile_corpus(PREDICATES)
    load(postgres_url, "cells", pa.Table.from_pylist(cells, pa.schema(list(ARROW.items()))))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for number, (day, moment, price, amount) in enumerate(FAR):
            connection.execute(
                "INSERT INTO cells VALUES (%s, 9223372036854775807, -2147483648, %s, %s, 'NaN', "
                "'x', '', TRUE, NULL, %s, %s)",
                (1000 + number, price, amount, day, moment),
            )
    with opened(postgres_url, "cells") as engine:
        for start in range(0, PREDICATES, IN_ONE_STATEMENT):
            part = predicates[start : start + IN_ONE_STATEMENT]
            found = answers(engine, part)
            assert len(found) == ROWS + len(FAR)
            for row, values in zip(cells, found, strict=False):
                for predicate, value in zip(part, values, strict=True):
                    assert value == predicate.bind(SCHEMA).evaluate(row), (predicate.sql, row)


def test_far_values_are_null_and_those_that_fit_are_not(postgres_url: str) -> None:
    execute(
        postgres_url,
        "CREATE TABLE far (id int, d date, t timestamp, z timestamptz, n numeric(6, 2), f float8)",
        *(
            f"INSERT INTO far VALUES ({number}, '{day}', '{moment}', '{moment}', "
            f"'{price}', '{amount}')"
            for number, (day, moment, price, amount) in enumerate(FAR)
        ),
        "INSERT INTO far VALUES (6, '2024-02-29', '2024-02-29', '2024-02-29', 1, 1)",
    )
    with opened(postgres_url, "far") as engine:
        query = sample_query(engine, "FALSE", epsilon="40")
        table = pa.Table.from_batches(engine.sample(query))
        lasting = {
            name: [row.as_py() for row in table.column(name).is_valid()] for name in ("d", "t", "z")
        }
        assert lasting["d"] == [False, False, False, True, False, True, True]
        assert lasting["t"] == [False, False, False, True, False, True, True]
        assert lasting["z"] == lasting["t"]
        assert table.column("t").cast(pa.int64())[5].as_py() == 2**63 - 1
        for policy in ("coalesce(d, t) > TIMESTAMP '2020-01-01'", "hour(t) = 3", "n > 0.5"):
            for by in (["d"], ["t"], ["n"], ["f"], ["date(z)"], ["weekday(d)"], ["hour(z)"]):
                engine.count(count_query(engine, policy, by, where=f"NOT ({policy})"))
        for column in ("d", "t", "n", "f"):
            sampled_ids = sample_query(engine, f"{column} IS NULL", epsilon="40", columns=["id"])
            assert sampled(engine, sampled_ids)
    for unit in ("d", "t", "z"):
        with opened(postgres_url, "far", unit) as engine:
            assert engine.inspect().units == 3
            engine.count(count_query(engine, "id = 3", ["id"], max_groups=2))


def test_every_type_of_column_is_read_or_only_asked_for_null(postgres_url: str) -> None:
    execute(
        postgres_url,
        "CREATE TYPE mood AS ENUM ('b', 'a')",
        "CREATE TYPE pair AS (x int, y text)",
        "CREATE DOMAIN small AS int CHECK (VALUE < 10)",
        "CREATE DOMAIN smaller AS small CHECK (VALUE < 5)",
        "CREATE DOMAIN money_like AS numeric(6, 2)",
        "CREATE DOMAIN worded AS text COLLATE \"C\" CHECK (VALUE <> 'no')",
        """CREATE TABLE odd (id int, e mood, s small, m smaller, p money_like, w worded,
            u uuid, c char(5), v varchar(3), nm name, r real, f double precision,
            b bytea, j json, jb jsonb, a text[], cash money, i interval, t time, tz timetz,
            bits bit(3), ip inet, g int4range, co pair, pt point, o oid, l pg_lsn,
            n numeric, nn numeric(40, 2), neg numeric(3, -2), q "char", ts tsvector)""",
        """INSERT INTO odd VALUES (1, 'b', 3, 4, 1.5, 'ä', gen_random_uuid(), 'ab', 'x', 'n',
            'NaN', '-0', '\\x00ff', '{}', '{}', '{x}', 1::money, 'infinity',
            '24:00', '24:00+15', '101', '::1', 'empty',
            ROW(1, 'a'), '(NaN,1)', 1, '0/1', 'Infinity', 1, 100, 'c', 'a')""",
        "INSERT INTO odd (id) VALUES (2)",
    )
    with opened(postgres_url, "odd") as engine:
        schema = engine.schema
        read = [name for name in schema if schema[name].type is not Type.OTHER]
        assert read == ["id", "e", "s", "m", "p", "w", "u", "c", "v", "nm", "r", "f"]
        assert len(sampled(engine, sample_query(engine, "FALSE", epsilon="40", columns=read))) == 2
        for name in schema:
            query = sample_query(engine, f"{name} IS NULL", epsilon="40", columns=["id"])
            assert sampled(engine, query) == ([(1,), (2,)] if name == "id" else [(1,)]), name
            if name in read:
                engine.count(count_query(engine, f"{name} IS NOT NULL", [name]))
            else:
                with pytest.raises(RequestError, match=name):
                    engine.output_schema((name,))


def test_the_bits_of_a_nan_tell_nothing(postgres_url: str) -> None:
    """All NaN are one key and leave alike, and both zeros are one key."""
    execute(postgres_url, "CREATE TABLE nans (id int, f float8, r real)")
    doubles = (0x7FF8_0000_DEAD_BEEF, 0xFFF8_0000_0000_0001, 0x8000_0000_0000_0000, 0)
    singles = (0x7FC0_BEEF, 0xFFC0_0001, 0x8000_0000, 0)
    with (
        psycopg.connect(postgres_url) as connection,
        connection.cursor().copy("COPY nans FROM STDIN (FORMAT binary)") as copy,
    ):
        copy.write(b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0))
        for number, (double, single) in enumerate(zip(doubles, singles, strict=True)):
            copy.write(struct.pack("!hiiiQiI", 3, 4, number, 8, double, 4, single))
        copy.write(struct.pack("!h", -1))
    with opened(postgres_url, "nans") as engine:
        table = pa.Table.from_batches(engine.sample(sample_query(engine, "FALSE", epsilon="40")))
        assert bits(table.column("f"))[:2] == [0x7FF8_0000_0000_0000] * 2
        assert bits(table.column("r"))[:2] == [0x7FC0_0000] * 2
        for by in ("f", "r"):
            counts = engine.count(count_query(engine, "id = 0", [by]))
            assert bits(counts.keys.column(0)) == [0, 0x7FF8_0000_0000_0000]
            assert counts.all.tolist() == [2, 2]


def bits(column: pa.ChunkedArray) -> list[int]:
    kind = pa.uint64() if column.type == pa.float64() else pa.uint32()
    return [cell for chunk in column.chunks for cell in chunk.view(kind).to_pylist()]


def test_decimals_as_keys(postgres_url: str) -> None:
    execute(
        postgres_url,
        "CREATE TABLE prices (id int, p numeric(38, 2), q numeric(3, 3))",
        "INSERT INTO prices VALUES (1, 'NaN', 'NaN'), (2, 1e35, 0.999), (3, -1e35, -0.001), "
        "(4, NULL, NULL)",
    )
    with opened(postgres_url, "prices") as engine:
        rows = counted(engine.count(count_query(engine, "id = 1", ["p"])))
        assert [row[1:] for row in rows] == [(2, 1), (1, 1), (1, 1)]
        assert [str(row[0]) for row in rows[1:]] == [f"-1{'0' * 35}.00", f"1{'0' * 35}.00"]
        keys = engine.count(count_query(engine, "id = 1", ["q"])).keys
        assert keys.column(0).type == pa.decimal128(3, 3)


def test_sums_of_far_numbers(postgres_url: str) -> None:
    execute(
        postgres_url,
        "CREATE TABLE sums (id int, f float8, n numeric(38, 0), i bigint)",
        "INSERT INTO sums VALUES (1, 'NaN', 'NaN', 9223372036854775807), "
        "(1, 'Infinity', 1e37, 9223372036854775807), (2, 1.7e308, -1e37, -9223372036854775808), "
        "(2, 5e-324, 0, NULL)",
    )
    with opened(postgres_url, "sums") as engine:
        for column in ("f", "n", "i"):
            for grid in (Fraction(1), Fraction(1, 2**60), Fraction(10**20)):
                total = column_total(column, grid, 100)
                query = count_query(engine, "id = 2", ["id"], max_groups=1, totals=(total,))
                assert len(engine.count(query).all) == 2


def test_what_a_view_computes_fails_at_the_opening(postgres_url: str) -> None:
    execute(
        postgres_url,
        "CREATE TABLE parts (id int PRIMARY KEY, x int, secret boolean)",
        "INSERT INTO parts VALUES (1, 1, FALSE), (2, 0, TRUE), (3, 5, FALSE)",
        "CREATE VIEW shares AS SELECT id, 10 / x AS share, secret FROM parts",
        "CREATE VIEW guarded AS SELECT id, 10 / x AS share, secret FROM parts WHERE x <> 0",
        "CREATE TABLE virtual (id int, x int, share int GENERATED ALWAYS AS (10 / x) VIRTUAL)",
        "INSERT INTO virtual VALUES (1, 0)",
    )
    for view in ("shares", "virtual"):
        with opened(postgres_url, view) as engine, pytest.raises(SourceError, match="fails on one"):
            engine.inspect()
    with opened(postgres_url, "guarded") as engine:
        assert engine.inspect().units == 2
        # Our conditions do not come before those of the view, however cheap they look.
        query = sample_query(engine, "secret", epsilon="40", where="share > 1")
        assert sampled(engine, query) == [(1, 10, False), (3, 2, False)]


def test_decimals_of_a_view_that_do_not_keep_to_their_digits(postgres_url: str) -> None:
    execute(
        postgres_url,
        "CREATE TABLE wide (id int, n numeric(4, 2))",
        "INSERT INTO wide VALUES (1, 1), (2, 2)",
        "CREATE VIEW seen AS SELECT * FROM wide",
        # What nobody should do, and a server does not notice.
        "UPDATE pg_attribute SET atttypmod = ((3 << 16) | 2) + 4 "
        "WHERE attrelid = 'seen'::regclass AND attname = 'n'",
        "INSERT INTO wide VALUES (3, 99)",
    )
    with opened(postgres_url, "seen") as engine:
        rows = sampled(engine, sample_query(engine, "FALSE", epsilon="40"))
        assert [str(row[1]) for row in rows] == ["1.00", "2.00", "None"]
        groups = counted(engine.count(count_query(engine, "n > 1", ["n"])))
        assert [(str(key), *figures) for key, *figures in groups] == [
            ("None", 1, 0),
            ("1.00", 1, 1),
            ("2.00", 1, 0),
        ]


def test_a_constraint_that_does_not_hold_for_all_rows_keeps_no_null_out(postgres_url: str) -> None:
    execute(
        postgres_url,
        "CREATE TABLE late (id int NOT NULL, room text)",
        "INSERT INTO late VALUES (1, NULL)",
        "ALTER TABLE late ADD CONSTRAINT there NOT NULL room NOT VALID",
        "CREATE TABLE parent (id int NOT NULL)",
        "CREATE TABLE child () INHERITS (parent)",
    )
    with opened(postgres_url, "late") as engine:
        assert not engine.schema["id"].nullable
        assert engine.schema["room"].nullable
    with opened(postgres_url, "parent") as engine:
        assert engine.schema["id"].nullable
