"""What others may do in the same database changes no release: their objects are never found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow.parquet as pq
import pytest

from onesided.data.units import Unit
from onesided.engine.postgres.engine import PostgresEngine
from onesided.engine.postgres.table import copy_table, table_schema
from onesided.errors import ReleaseFailed, SourceError
from support.engines import count_query, counted, sample_query, sampled

POLICY = "age < 18.5"
# The attacker may make objects in the schema `public`, where readers look for names.
OPERATORS = (
    """CREATE FUNCTION public.always(numeric, numeric) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.caught VALUES (current_user); RETURN FALSE;
        EXCEPTION WHEN read_only_sql_transaction THEN RETURN FALSE; END $$""",
    """CREATE FUNCTION public.always(integer, numeric) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.caught VALUES (current_user); RETURN FALSE;
        EXCEPTION WHEN read_only_sql_transaction THEN RETURN FALSE; END $$""",
    "CREATE OPERATOR public.< (LEFTARG = integer, RIGHTARG = numeric, FUNCTION = public.always)",
)
# The driver itself compares a regproc with a number as soon as it is connected.
AT_THE_DOOR = (
    """CREATE FUNCTION public.door(regproc, integer) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.caught VALUES (current_user); RETURN $1::oid <> $2::oid; END $$""",
    "CREATE OPERATOR public.<> (LEFTARG = regproc, RIGHTARG = integer, FUNCTION = public.door)",
)


@pytest.fixture
def url(postgres_url: str) -> Iterator[str]:
    """As a reader who owns nothing; `public` is open to everybody, as it was for long."""
    execute(
        postgres_url,
        "DROP ROLE IF EXISTS analyst",
        "CREATE ROLE analyst LOGIN",
        "GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC",
        "CREATE TABLE people (id int PRIMARY KEY, age int NOT NULL, room text)",
        "INSERT INTO people SELECT i, CASE WHEN i % 5 = 0 THEN 40 ELSE 10 END, 'r' || i % 3 "
        "FROM generate_series(1, 20) i",
        "CREATE TABLE caught (who text)",
        "GRANT ALL ON people, caught TO PUBLIC",
    )
    yield postgres_url.replace("postgres:@", "analyst:@")
    execute(postgres_url, "DROP OWNED BY analyst CASCADE", "DROP ROLE analyst")


def execute(url: str, *statements: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            last = connection.execute(statement)  # type: ignore[arg-type]
        return last.fetchall() if last.description else []


def seen(url: str, **settings: Any) -> tuple[list[Any], list[Any]]:
    """A sample of nearly everybody who may be shown, and the counts."""
    engine = PostgresEngine(url, "people", Unit(("id",)), **settings)
    try:
        rows = sampled(engine, sample_query(engine, POLICY, epsilon="40"))
        return rows, counted(engine.count(count_query(engine, POLICY, ["room"])))
    finally:
        engine.close()


@pytest.mark.parametrize("made", [OPERATORS, AT_THE_DOOR], ids=["operator", "driver"])
def test_an_operator_of_somebody_else_is_not_found(url: str, made: tuple[str, ...]) -> None:
    before = seen(url)
    assert len(before[0]) == 4
    execute(url, *made)
    assert seen(url) == before
    table_schema(url, "people")
    assert execute(url, "SELECT * FROM caught") == []


def test_a_path_that_puts_the_attacker_first(url: str) -> None:
    """Even where the user's own settings look in public before the server's own schema."""
    before = seen(url)
    execute(
        url,
        """CREATE FUNCTION public.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS
            $$ BEGIN INSERT INTO public.caught VALUES ('set_config'); RETURN $2; END $$""",
        "CREATE FUNCTION public.sha256(bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT ''::bytea $$",
        *OPERATORS,
    )
    options = "&options=-csearch_path%3Dpublic%2Cpg_catalog"
    assert seen(url + options) == before
    assert execute(url, "SELECT * FROM caught") == []


def test_a_sample_that_is_written(url: str) -> None:
    execute(url, *OPERATORS)
    engine = PostgresEngine(url, "people", Unit(("id",)))
    engine.place(sample_query(engine, POLICY, epsilon="40"), "public.released")
    engine.close()
    assert execute(url, "SELECT count(*) FROM released") == [(4,)]
    assert execute(url, "SELECT * FROM caught") == []


def test_a_name_without_a_schema_is_found_by_the_path_of_the_user(url: str, tmp_path: Path) -> None:
    execute(
        url.replace("analyst:@", "postgres:@"),
        "CREATE SCHEMA other",
        "CREATE TABLE other.people (only_here int PRIMARY KEY)",
        "INSERT INTO other.people VALUES (7)",
        "GRANT USAGE ON SCHEMA other TO PUBLIC",
        "GRANT SELECT ON other.people TO PUBLIC",
    )
    assert list(table_schema(url, "people")) == ["id", "age", "room"]
    there = url + "&options=-csearch_path%3Dother%2Cpublic"
    assert list(table_schema(there, "people")) == ["only_here"]
    assert list(table_schema(there, "public.people")) == ["id", "age", "room"]
    copy_table(there, "people", ["only_here"], tmp_path / "copy.parquet")
    assert pq.read_table(tmp_path / "copy.parquet").to_pylist() == [{"only_here": 7}]
    with pytest.raises(SourceError, match="There is no table nowhere"):
        table_schema(there, "nowhere")


def test_another_table_that_took_the_name(url: str) -> None:
    engine = PostgresEngine(url, "people", Unit(("id",)))
    query = sample_query(engine, POLICY)
    execute(
        url.replace("analyst:@", "postgres:@"),
        "ALTER TABLE people RENAME TO before",
        "CREATE TABLE people (LIKE before INCLUDING ALL)",
        "GRANT SELECT ON people TO PUBLIC",
    )
    with pytest.raises(ReleaseFailed, match="columns of the table changed"):
        sampled(engine, query)
    engine.close()


def test_the_cast_of_an_enumeration_is_not_used(url: str) -> None:
    """Who owns a type may say what becomes of it as a text; its own labels are read instead."""
    execute(
        url,
        "CREATE TYPE mood AS ENUM ('good', 'bad')",
        """CREATE FUNCTION lie(mood) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
            $$ BEGIN RETURN 'good'; END $$""",
        "CREATE CAST (mood AS text) WITH FUNCTION lie(mood)",
        "CREATE DOMAIN deep AS mood",
        "CREATE TABLE moods (id int PRIMARY KEY, m mood, d deep)",
        "INSERT INTO moods VALUES (1, 'good', 'good'), (2, 'bad', 'bad')",
    )
    engine = PostgresEngine(url, "moods", Unit(("id",)))
    rows = sampled(engine, sample_query(engine, "m <> 'good' OR d = 'bad'", epsilon="40"))
    assert rows == [(1, "good", "good")]
    engine.close()


def test_a_type_with_the_name_of_a_known_one(url: str) -> None:
    """What is called int8 in another schema is no integer: nothing is asked of it but NULL."""
    execute(
        url,
        "CREATE TYPE public.int8 AS (a int, b int)",
        "CREATE TABLE named (id int PRIMARY KEY, n public.int8)",
        "INSERT INTO named VALUES (1, NULL), (2, ROW(NULL, NULL)), (3, ROW(1, 2))",
    )
    engine = PostgresEngine(url, "named", Unit(("id",)))
    assert engine.schema["n"].type.value == "other"
    rows = sampled(engine, sample_query(engine, "n IS NULL", epsilon="40", columns=["id"]))
    # A row of NULLs is no NULL.
    assert rows == [(2,), (3,)]
    engine.close()


SETTINGS = {
    "transform_null_equals": "on",
    "client_encoding": "LATIN1",
    "DateStyle": "SQL,DMY",
    "IntervalStyle": "sql_standard",
    "extra_float_digits": "-15",
    "bytea_output": "escape",
    "standard_conforming_strings": "off",
    "TimeZone": "Pacific/Apia",
    "gin_fuzzy_search_limit": "1",
    "default_transaction_read_only": "on",
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_settings_of_who_reads_change_nothing(url: str, setting: str) -> None:
    """Nor do they fail on a value: LATIN1 has no word for 中."""
    execute(
        url,
        """CREATE TABLE odd (id int PRIMARY KEY, t text, z timestamptz, f float8, d date, n int)""",
        """INSERT INTO odd VALUES (1, '中\\', '2024-05-06 23:30+00', 0.1, '2024-05-06', NULL),
            (2, 'é', NULL, 1e-300, NULL, 2)""",
    )

    def shown(address: str, place: str) -> list[Any]:
        engine = PostgresEngine(address, "odd", Unit(("id",)))
        policy = r"t = 'a\' OR n = 2 AND d = DATE '2024-06-05' OR coalesce(n = NULL, FALSE)"
        query = sample_query(engine, policy, epsilon="40")
        by = ["hour(z)", "f", "d", "t"]
        groups = counted(engine.count(count_query(engine, "FALSE", by)))
        digest = engine.place(query, place).digest
        found = [sampled(engine, query), groups, digest]
        engine.close()
        return found

    odd = f"&options=-c{setting}%3D{SETTINGS[setting]}"
    assert shown(url + odd, "odd_one") == shown(url, "even_one")


def test_rows_that_are_hidden_from_who_reads(url: str) -> None:
    """A unit of which only the harmless rows can be seen would be taken for harmless."""
    execute(
        url.replace("analyst:@", "postgres:@"),
        "ALTER TABLE people ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY adults ON people USING (age > 18)",
    )
    with pytest.raises(SourceError, match="row-level security"):
        PostgresEngine(url, "people", Unit(("id",)))
