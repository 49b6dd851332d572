"""Schemas, types and what the SQL for each engine looks like where it matters."""

from __future__ import annotations

import duckdb
import pytest

from onesided.engine.duckdb.writer import DuckDBWriter
from onesided.engine.postgres.writer import PostgresWriter
from onesided.engine.spark.writer import SparkWriter
from onesided.errors import PolicyError
from onesided.language import Field, Key, Predicate, Schema, Type, Writer

SCHEMA = Schema.of(
    {
        "age": Type.INTEGER,
        "total": Type.WIDE_INTEGER,
        "price": Field.decimal(10, 2),
        "exact": Field.decimal(38, 30),
        "height": Type.FLOAT,
        "room": Type.TEXT,
        "consent": Type.BOOLEAN,
        "day": Type.DATE,
        "ts": Type.TIMESTAMP,
        "photo": Type.OTHER,
        "Twin": Type.INTEGER,
        "TWIN": Type.INTEGER,
    }
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ages = 1", "no column ages"),
        ("rowid = 1", "no column rowid"),
        ("twin = 1", "Twin or TWIN"),
        ("age = 'a'", "integer with text"),
        ("room = 1", "integer with text"),
        ("day = '2024-1-1'", "date with text"),
        ("consent = 1", "boolean with integer"),
        ("age", "age is integer"),
        ("room OR consent", "room is text"),
        ("NOT age", "age is integer"),
        ("exact + 1 = 2", "at most 15 digits"),
        ("room * 2 = 2", "text"),
        ("total - 1 = 2", "wide integer"),
        ("height * height * height * height * height * height * height * height = 2", "too many"),
        ("bucket(room, 10) = 2", "computes with text"),
        ("ts - ts = 1", "date_diff"),
        ("day + 30000 = day", "at most"),
        ("concat(height, '') = 'x'", "height is float"),
        ("CAST(room AS INTEGER) = 1", "computes with text"),
        ("hour(day) = 2", "day is date"),
        ("hour(age) = 2", "age is integer"),
        ("age LIKE 'a'", "age is integer"),
        ("lower(age) = 'a'", "age is integer"),
        ("height = exact", "round"),
        ("height = total", "round"),
        ("total > 0.5", "digits"),
        ("exact > 123456789", "digits"),
        ("exact = age", "digits"),
        ("coalesce(exact, 123456789) > 1", "digits"),
        ("photo = 'x'", "photo has a type"),
        ("coalesce(age, room) = 1", "integer with text"),
        ("CASE age WHEN 'a' THEN TRUE END", "integer with text"),
    ],
)
def test_what_does_not_fit_the_schema_is_refused(text: str, named: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        Predicate.parse(text).bind(SCHEMA)
    assert named in str(refusal.value)


def test_columns_are_found_by_spelling_first() -> None:
    bound = Predicate.parse('Twin = 1 AND "TWIN" = 2 AND AGE = 3 AND "Age" = 4').bind(SCHEMA)
    assert bound.columns == ("Twin", "TWIN", "age")


def test_a_schema_has_each_name_once() -> None:
    field = Field(Type.INTEGER)
    with pytest.raises(PolicyError):
        Schema((("a", field), ("a", field)))
    with pytest.raises(KeyError):
        SCHEMA["nope"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("age", Type.INTEGER),
        ("room", Type.TEXT),
        ("hour(ts)", Type.INTEGER),
        ("weekday(day)", Type.INTEGER),
        ("date(ts)", Type.DATE),
        ("bucket(age, 10)", Type.INTEGER),
    ],
)
def test_the_type_of_a_key(text: str, kind: Type) -> None:
    assert Key.parse(text).bind(SCHEMA).type is kind


def test_a_key_is_named_as_in_the_schema() -> None:
    assert Key.parse("HOUR(TS)").bind(SCHEMA).name == "hour(ts)"
    assert Key.parse("ROOM").bind(SCHEMA).name == "room"


QUOTING = Schema.of({'a"b': Type.TEXT, "a`b": Type.TEXT, "${a}": Type.TEXT, "n": Type.TEXT})


@pytest.mark.parametrize(
    ("writer", "value", "sql"),
    [
        (DuckDBWriter(), "it's", "'it''s'"),
        (DuckDBWriter(), "a\\'b", "'a\\''b'"),
        (PostgresWriter(), "it's", "'it''s'"),
        (PostgresWriter(), "a\\'b", "E'a\\\\''b'"),
        (SparkWriter(), "plain", "'plain'"),
        (SparkWriter(), "it's", "CAST(X'69742773' AS STRING)"),
        (SparkWriter(), "\\", "CAST(X'5c' AS STRING)"),
        (SparkWriter(), "${x}", "CAST(X'247b787d' AS STRING)"),
        (SparkWriter(), "é", "CAST(X'c3a9' AS STRING)"),
    ],
)
def test_strings_are_quoted_for_each_engine(writer: Writer, value: str, sql: str) -> None:
    text = "n = '" + value.replace("'", "''") + "'"
    assert sql in Predicate.parse(text).bind(QUOTING).render(writer)


def test_names_are_quoted_for_each_engine() -> None:
    assert '"a""b"' in Predicate.parse('"a""b" IS NULL').bind(QUOTING).render(DuckDBWriter())
    assert "`a``b`" in Predicate.parse('"a`b" IS NULL').bind(QUOTING).render(SparkWriter())
    with pytest.raises(PolicyError):
        Predicate.parse('"${a}" IS NULL').bind(QUOTING).render(SparkWriter())


def test_text_compares_by_code_point_whatever_the_collation() -> None:
    bound = Predicate.parse("n < 'a'").bind(QUOTING)
    assert bound.render(PostgresWriter()).count('COLLATE "C"') == 2
    assert bound.render(SparkWriter()).count("COLLATE UTF8_BINARY") == 2


@pytest.mark.parametrize(
    ("kind", "column", "value", "text", "expected"),
    [
        (Type.WIDE_INTEGER, "HUGEINT", "170141183460469231731687303715884105727", "x > 1", True),
        (Type.WIDE_INTEGER, "UBIGINT", "18446744073709551615", "x > -1", True),
        (Type.WIDE_INTEGER, "UBIGINT", "18446744073709551615", "x = 18446744073709551615", True),
        (Type.INTEGER, "TINYINT", "100", "x * 100 = 10000", True),
        (Type.INTEGER, "TINYINT", "100", "x < 300", True),
        (Type.INTEGER, "UINTEGER", "1", "x - 2 = -1", True),
        (Type.INTEGER, "TINYINT", "-128", "bucket(x, 100) = -200", True),
        (Type.INTEGER, "BIGINT", "-9223372036854775808", "bucket(x, 10) IS NULL", True),
        (Type.INTEGER, "BIGINT", "-9223372036854775808", "-x IS NULL", True),
        (Type.INTEGER, "BIGINT", "9223372036854775807", "x > 9223372036854775806.5", True),
        (Type.INTEGER, "BIGINT", "9223372036854775807", "x * 2 - x > 0", None),
        (Type.FLOAT, "REAL", "0.1", "x = 0.1", False),
        (Type.FLOAT, "REAL", "0.5", "x = 0.5", True),
        (Type.FLOAT, "DOUBLE", "nan", "x > 1 AND x = x", True),
        (Type.TEXT, "ENUM ('b', 'a')", "a", "x < 'b' AND lower(x) LIKE 'a'", True),
        (Type.TEXT, "ENUM ('b', 'a')", "a", "x = 'zzz'", False),
        (Type.TIMESTAMP, "TIMESTAMP_NS", "2024-02-29 08:30:00", "hour(x) = 8", True),
        (Type.TIMESTAMP, "TIMESTAMP_NS", "2024-02-29", "x < DATE '9999-01-01'", True),
        (Type.TIMESTAMP, "TIMESTAMP_S", "2024-02-29", "x = DATE '2024-02-29'", True),
        (Type.TIMESTAMP, "TIMESTAMPTZ", "2024-02-29 23:30:00-02", "hour(x) = 1", True),
        (Type.TIMESTAMP, "TIMESTAMPTZ", "2024-02-29 23:30:00-02", "weekday(x) = 5", True),
        (Type.TIMESTAMP, "TIMESTAMP", "infinity", "x > DATE '9999-12-31'", True),
        (Type.TIMESTAMP, "TIMESTAMP", "infinity", "hour(x) > 1", None),
        (Type.DECIMAL, "DECIMAL(38, 0)", "9" * 38, "x > 1", True),
    ],
)
def test_relatives_of_our_types_in_duckdb(
    kind: Type, column: str, value: str, text: str, expected: bool | None
) -> None:
    field = Field.decimal(38, 0) if kind is Type.DECIMAL else Field(kind)
    condition = Predicate.parse(text).bind(Schema.of({"x": field})).render(DuckDBWriter())
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    source = f"(SELECT CAST(unnest(['{value}']) AS {column}) AS x)"
    assert connection.execute(f"SELECT {condition} FROM {source}").fetchall() == [(expected,)]


def test_nul_in_a_cell_is_a_character_like_any_other() -> None:
    connection = duckdb.connect()
    source = "(SELECT 'a' || chr(unnest([0])) || 'b' AS x)"
    for text in ("x > 'a' AND x < 'ab'", "x LIKE 'a_b'", "lower(x) = x"):
        bound = Predicate.parse(text).bind(Schema.of({"x": Type.TEXT}))
        answer = connection.execute(f"SELECT {bound.render(DuckDBWriter())} FROM {source}")
        assert answer.fetchall() == [(True,)]
        assert bound.evaluate({"x": "a\0b"}) is True


def test_a_row_without_a_column_is_an_error_not_null() -> None:
    with pytest.raises(PolicyError):
        Predicate.parse("age = 1").bind(SCHEMA).evaluate({})
