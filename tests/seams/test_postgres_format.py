"""The columns that an account was opened with, and the digest of what was placed."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import psycopg
import pytest

from onesided.data.units import Unit
from onesided.engine.base import Placed
from onesided.engine.postgres.engine import PostgresEngine
from onesided.errors import SourceError
from support.engines import sample_query

UNIT = Unit(("id",))


@pytest.fixture
def url(postgres_url: str) -> str:
    execute(
        postgres_url,
        "CREATE DOMAIN price AS numeric(6, 2)",
        "CREATE TABLE visits (id int PRIMARY KEY, room varchar(20), paid price, at timestamptz)",
        "INSERT INTO visits SELECT i, 'r' || i, i, now() FROM generate_series(1, 50) i",
    )
    return postgres_url


def execute(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[arg-type]


def format_of(url: str, frozen: Any = None) -> dict[str, Any]:
    with closing(PostgresEngine(url, "visits", UNIT, format=frozen)) as engine:
        return engine.format


def test_a_format_says_what_the_catalogue_has(url: str) -> None:
    found = format_of(url)
    assert found == {
        "reader": "postgresql",
        "columns": [
            {"name": "id", "type": "integer", "nullable": False},
            {"name": "room", "type": "character varying(20)", "nullable": True},
            {"name": "paid", "type": "numeric(6,2)", "nullable": True},
            {"name": "at", "type": "timestamp with time zone", "nullable": True},
        ],
    }
    assert format_of(url, json.loads(json.dumps(found))) == found


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("ALTER TABLE visits DROP room", "room missing"),
        ("ALTER TABLE visits ADD age int", "age new"),
        ("ALTER TABLE visits RENAME room TO place", "room missing"),
        ("ALTER TABLE visits ALTER room TYPE varchar(30)", "room of another type"),
        ("ALTER TABLE visits ALTER at TYPE timestamp", "at of another type"),
        ("ALTER TABLE visits ALTER paid TYPE numeric(8, 2)", "paid of another type"),
        ("ALTER TABLE visits DROP CONSTRAINT visits_pkey, ALTER id DROP NOT NULL", "id of another"),
    ],
)
def test_other_columns_are_refused_at_the_opening(url: str, change: str, told: str) -> None:
    before = format_of(url)
    execute(url, change)
    with pytest.raises(SourceError, match=told):
        format_of(url, before)
    assert format_of(url) != before


def test_the_names_are_held_against_another_reader(url: str) -> None:
    """Other engines have other words for the same types."""
    names = ("id", "room", "paid", "at")
    elsewhere: Any = {
        "reader": "elsewhere",
        "columns": [{"name": name, "type": "?"} for name in names],
    }
    assert format_of(url, elsewhere) == format_of(url)
    elsewhere["columns"] = elsewhere["columns"][1:]
    with pytest.raises(SourceError, match="id new"):
        format_of(url, elsewhere)


@pytest.mark.parametrize("name", ["ROOM", " room", "room ", "ｒoom", "ro om", "ro\u200bom"])
def test_names_that_could_be_taken_for_one_another(url: str, name: str) -> None:
    execute(url, f'ALTER TABLE visits ADD "{name}" text')
    with pytest.raises(SourceError, match="cannot distinguish"):
        format_of(url)


def test_what_was_placed_has_a_digest_in_any_order(url: str) -> None:
    """The same rows the same, and any other cell another one."""
    execute(
        url,
        "CREATE TABLE odd (id int PRIMARY KEY, a text, b text, f float8)",
        "INSERT INTO odd VALUES (1, '', NULL, 0), (2, NULL, '', '-0'), (3, 'x', '1:y', 'NaN')",
    )
    with closing(PostgresEngine(url, "odd", UNIT)) as engine:

        def placed(place: str) -> Placed:
            return engine.place(sample_query(engine, "FALSE", epsilon="40"), place)

        first = placed("one")
        assert first.rows == 3
        assert len(first.digest) == 64
        execute(url, "CREATE TABLE kept AS TABLE odd", "DELETE FROM odd")
        execute(url, "INSERT INTO odd SELECT * FROM kept ORDER BY id DESC")
        assert placed("two") == first
        changes = (
            "a = NULL, b = '' WHERE id = 1",
            "f = '-0' WHERE id = 1",
            "f = 5e-324 WHERE id = 1",
            "a = 'x3:1:', b = 'y' WHERE id = 3",
            "id = 4 WHERE id = 3",
        )
        digests = {first.digest}
        for number, change in enumerate(changes):
            execute(url, "DELETE FROM odd", "INSERT INTO odd TABLE kept")
            execute(url, f"UPDATE odd SET {change}")
            digests.add(placed(f"changed_{number}").digest)
        assert len(digests) == 1 + len(changes)
