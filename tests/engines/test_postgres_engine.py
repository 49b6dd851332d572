"""What is particular to PostgreSQL: its types, its transactions, its rights, and its failures."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

import onesided as osd
from onesided.data.units import Unit
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.postgres.connection import Transaction
from onesided.engine.postgres.engine import PostgresEngine
from onesided.errors import OutputError, ReleaseFailed, RequestError, SourceError
from support.engines import KEY, comparable, load, sample_query, sampled
from support.trouble import Proxy, full_disk
from support.visits import POLICY, UNIT, visits

SETTINGS: dict[str, Any] = {"table": "visits", "unit": UNIT, "policy": POLICY, "budget": 1}
PASSWORD = "do-not-tell"
SECRET = "cell-that-nobody-may-see"


@pytest.fixture
def url(postgres_url: str) -> str:
    load(postgres_url, "visits", visits(devices=40))
    return postgres_url


def execute(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


@contextmanager
def locked(url: str, table: str = "visits") -> Iterator[None]:
    """While somebody else changes the table, every statement on it waits."""
    with psycopg.connect(url) as connection:
        connection.execute(f"LOCK TABLE {table}")
        yield
        connection.rollback()


def wait_for_lock(url: str, then: str = "pid") -> None:
    """Wait until a process of the server waits for the lock, and do something with it."""
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(1000):
            waiting = connection.execute(
                f"SELECT {then} FROM pg_stat_activity "
                "WHERE wait_event_type = 'Lock' AND datname = current_database()"
            ).fetchall()
            if waiting:
                return
            time.sleep(0.01)


def end_waiting_backend(url: str) -> None:
    """Kill the server's process that waits for the lock, as soon as there is one."""
    wait_for_lock(url, "pg_terminate_backend(pid)")


def test_the_same_as_on_the_embedded_engine(url: str, tmp_path: Path) -> None:
    ledger = tmp_path / "visits.ledger"
    with osd.open(connection=url, ledger=ledger, version="1", **SETTINGS) as there:
        sample = there.sample(1)
    table = visits(devices=40)
    more = {**SETTINGS, "table": None, "name": "visits"}
    with osd.open(table, ledger=ledger, version="1", **more) as here:
        assert here.sample(1).table.equals(sample.table)
        assert here.budget.spent == 1


def test_rows_have_no_lasting_names(url: str) -> None:
    with pytest.raises(SourceError, match="name a unique key"):
        PostgresEngine(url, "visits", Unit())


def test_types_that_only_postgres_has(url: str) -> None:
    execute(
        url,
        "CREATE TYPE mood AS ENUM ('z', 'a')",
        "CREATE DOMAIN age AS integer",
        """CREATE TABLE odd (id int, m mood, c char(4), u uuid, t timestamptz, d date,
           n numeric(6, 2), free numeric, a age, tags text[], "Quote""d" text)""",
        """INSERT INTO odd VALUES
           (1, 'z', 'ab', '00000000-0000-0000-0000-00000000000a', '2024-01-01 00:00+02',
            'infinity', 'NaN', 1, 7, '{x}', 'v'),
           (2, 'a', NULL, NULL, '-infinity', '2024-01-01', 1.5, 2, NULL, NULL, NULL)""",
    )
    engine = PostgresEngine(url, "odd", Unit(("id",)))
    columns = ("id", "m", "c", "u", "t", "d", "n", "a", 'Quote"d')
    query = sample_query(engine, "FALSE", epsilon="40", columns=columns)
    shown = comparable(sampled(engine, query))
    assert shown == [
        (
            *("1", "'z'", "'ab'", "'00000000-0000-0000-0000-00000000000a'"),
            *("datetime.datetime(2023, 12, 31, 22, 0)", "None", "None", "7", "'v'"),
        ),
        (
            *("2", "'a'", "None", "None", "None"),
            *("datetime.date(2024, 1, 1)", "1.50", "None", "None"),
        ),
    ]
    for column in ("tags", "free"):
        with pytest.raises(RequestError, match=column):
            engine.output_schema((column,))
    engine.close()


def test_collations_do_not_matter(url: str) -> None:
    """Under any collation of a column keys are distinguished and sorted by their code points."""
    execute(url, 'CREATE TABLE names (name varchar COLLATE "ucs_basic", n int)')
    engine: Any = PostgresEngine(url, "names", Unit(("name",)))
    assert '(CAST("name" AS TEXT) COLLATE "C") AS "name"' in engine.table.source
    engine.close()


@pytest.mark.parametrize(
    ("constraint", "unique"),
    [
        ("CREATE UNIQUE INDEX ON keyed (id)", True),
        ("CREATE UNIQUE INDEX ON keyed (id, other)", False),
        ("CREATE UNIQUE INDEX ON keyed (id) WHERE other > 0", False),
        ("CREATE UNIQUE INDEX ON keyed (abs(id))", False),
        ("CREATE UNIQUE INDEX ON keyed (id) INCLUDE (other)", True),
        ("ALTER TABLE keyed ADD UNIQUE (id) DEFERRABLE", False),
        ("CREATE UNIQUE INDEX ON keyed (id); CREATE TABLE child () INHERITS (keyed)", False),
    ],
)
def test_only_a_key_that_is_certainly_unique_counts(
    url: str, constraint: str, unique: bool
) -> None:
    execute(url, "CREATE TABLE keyed (id int, other int)", *constraint.split("; "))
    engine = PostgresEngine(url, "keyed", Unit(("id",)))
    assert engine.rows_are_units is unique
    engine.close()


def test_a_change_of_the_data_is_noticed(url: str) -> None:
    engine = PostgresEngine(url, "visits", Unit(UNIT))
    first = engine.fingerprint()
    assert engine.fingerprint() == first
    execute(url, "VACUUM FULL visits")
    assert engine.fingerprint() == first
    seen = {first}
    for change in (
        "UPDATE visits SET room = 'lab' WHERE ctid = (SELECT min(ctid) FROM visits)",
        "DELETE FROM visits WHERE ctid = (SELECT min(ctid) FROM visits)",
        "INSERT INTO visits SELECT * FROM visits LIMIT 1",
        "ALTER TABLE visits ALTER room TYPE varchar",
    ):
        execute(url, change)
        seen.add(engine.fingerprint())
    assert len(seen) == 5
    engine.close()


def test_a_release_makes_sure_of_the_state_that_was_named(url: str) -> None:
    engine = PostgresEngine(url, "visits", Unit(UNIT))
    engine.fingerprint()
    query = sample_query(engine, POLICY)
    assert sampled(engine, query)
    execute(url, "DELETE FROM visits WHERE ctid = (SELECT min(ctid) FROM visits)")
    with pytest.raises(ReleaseFailed, match="data changed"):
        sampled(engine, query)
    engine.close()


def test_a_unique_key_makes_every_row_a_unit(url: str) -> None:
    execute(
        url,
        "CREATE TABLE people (id int PRIMARY KEY, club text, paid int, minor boolean)",
        "INSERT INTO people SELECT i, 'club ' || i % 3, i % 7, i % 10 = 0 "
        "FROM generate_series(1, 600) i",
    )
    settings = {"table": "people", "unit": "id", "policy": "minor", "budget": 40}
    query = "SELECT club, COUNT(*) AS n, AVG(paid) AS mean FROM people GROUP BY club"
    with osd.open(connection=url, **settings) as data:
        answer = data.sql(
            query, epsilon=20, bounds={"paid": 6}, mechanism="one-sided", yes=True
        ).table
        assert answer.column("n").to_pylist() == [180, 180, 180]
        # Half of ε went to COUNT(*), which is the count of units: asking for it again is free.
        counts = data.count("club", epsilon=10, mechanism="one-sided").table
        assert counts.column("count").equals(answer.column("n"))
        assert data.budget.spent == 20
    with (
        osd.open(connection=url, **{**settings, "unit": "club"}) as data,
        pytest.raises(RequestError, match="max_rows"),
    ):
        data.sql(query, epsilon=20, bounds={"paid": 6}, yes=True)


def test_a_view_needs_a_version(url: str) -> None:
    execute(url, "CREATE VIEW lately AS SELECT * FROM visits")
    with pytest.raises(SourceError, match="version"):
        osd.open(connection=url, **{**SETTINGS, "table": "lately"})
    with osd.open(connection=url, version="1", **{**SETTINGS, "table": "lately"}) as data:
        assert len(data.sample(1).table) > 0


def test_reading_is_read_only_and_no_text_holds_the_key(url: str) -> None:
    engine: Any = PostgresEngine(url, "visits", Unit(UNIT))
    query = sample_query(engine, POLICY)
    assert KEY not in engine.ordered_sample(query)
    with engine.reading(query.coins) as transaction:
        settings = (
            "current_setting('transaction_read_only'), current_setting('transaction_isolation')"
        )
        assert transaction.rows(f"SELECT {settings}") == [("on", "repeatable read")]
        told = transaction.rows("SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid()")
        assert KEY not in told[0][0]
    with engine.reading(None) as transaction:
        left = transaction.rows("SELECT current_setting('onesided.coin_key', true)")
        assert not left[0][0]
    engine.close()


def test_a_sample_into_a_new_table(url: str) -> None:
    execute(url, "CREATE SCHEMA releases")
    with osd.open(connection=url, **SETTINGS) as data:
        placed: Any = data.sample(1, into="releases.sample")
        rows = [tuple(row.values()) for row in data.sample(1).table.to_pylist()]
        assert data.budget.spent == 1
        with pytest.raises(OutputError, match="exists already"):
            data.sample(1, into="releases.sample")
        with pytest.raises(OutputError, match="may not make"):
            data.sample(1, into="nowhere.sample")
    with psycopg.connect(url) as connection:
        stored = connection.execute("SELECT * FROM releases.sample ORDER BY ctid").fetchall()
    assert stored == rows
    assert placed.place == "releases.sample"
    with pytest.raises(RequestError, match="read them there"):
        placed.write("sample.parquet")


def test_a_password_is_told_to_nobody(url: str, tmp_path: Path) -> None:
    opened = url.replace("postgres:@", f"postgres:{PASSWORD}@")
    assert PASSWORD in opened
    ledger = tmp_path / "visits.ledger"
    with osd.open(connection=opened, ledger=ledger, **SETTINGS) as data:
        release = data.sample(1)
        engine: Any = data._table.engine
        texts = [repr(data), repr(engine), release.receipt.to_json(), repr(data.budget)]
    texts.append(ledger.read_bytes().decode("latin-1"))
    with pytest.raises(SourceError) as refusal:
        osd.open(connection=f"postgresql://u:{PASSWORD}@127.0.0.1:1/none", **SETTINGS)
    texts += [str(refusal.value), repr(refusal.value), repr(refusal.value.__cause__)]
    assert refusal.value.__suppress_context__
    assert not [text for text in texts if PASSWORD in text]


@contextmanager
def failing(url: str, sentence: str, **settings: Any) -> Iterator[Any]:
    """A release fails within: one sentence, the charge stands, nothing is left, retry is free."""
    with osd.open(connection=url, version="1", **{**SETTINGS, **settings}) as data:
        with pytest.raises(ReleaseFailed) as failure:
            yield data
        assert sentence in str(failure.value)
        assert "charge" in str(failure.value)
        assert "stands" in str(failure.value)
        assert SECRET not in str(failure.value)
        assert data.budget.spent == 1


def test_a_killed_backend(url: str) -> None:
    with failing(url, "stopped answering") as data, locked(url):
        killer = threading.Thread(target=end_waiting_backend, args=(url,))
        killer.start()
        try:
            data.sample(1)
        finally:
            killer.join()


def test_a_retry_after_a_lost_connection_is_free(url: str) -> None:
    with osd.open(connection=url, version="1", **SETTINGS) as data:
        with locked(url):
            killer = threading.Thread(target=end_waiting_backend, args=(url,))
            killer.start()
            with pytest.raises(ReleaseFailed):
                data.sample(1)
            killer.join()
        assert len(data.sample(1).table) > 0
        assert data.budget.spent == 1


def test_a_backend_killed_between_two_batches(url: str) -> None:
    execute(
        url, "CREATE TABLE wide AS SELECT i, repeat('x', 9000) AS t FROM generate_series(1, 9000) i"
    )
    engine: Any = PostgresEngine(url, "wide", Unit(("i",)))
    batches = engine.sample(sample_query(engine, "FALSE", epsilon="40"))
    next(batches)
    execute(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
        "AND datname = current_database()",
    )
    with pytest.raises(ReleaseFailed, match="which stands"):
        list(batches)
    assert len(sampled(engine, sample_query(engine, "FALSE", epsilon="40", columns=["i"]))) == 9000
    engine.close()


def test_rows_that_nobody_wants_any_more(url: str) -> None:
    execute(
        url, "CREATE TABLE wide AS SELECT i, repeat('x', 9000) AS t FROM generate_series(1, 9000) i"
    )
    engine = PostgresEngine(url, "wide", Unit(("i",)))
    batches = engine.sample(sample_query(engine, "FALSE", epsilon="40"))
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert engine.inspect().units == 9000
    engine.close()


def test_an_idle_connection_that_broke_is_replaced(url: str) -> None:
    with osd.open(connection=url, **SETTINGS) as data:
        execute(
            url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND datname = current_database()",
        )
        assert len(data.sample(1).table) > 0


def test_a_statement_that_takes_too_long(url: str) -> None:
    with failing(url, "ended the statement", statement_timeout=0.3) as data, locked(url):
        data.sample(1)


def test_a_connection_that_is_cut(url: str) -> None:
    with (
        closing(Proxy(url)) as proxy,
        osd.open(connection=proxy.url, version="1", **SETTINGS) as data,
    ):
        with locked(url):
            cutter = threading.Thread(target=lambda: (wait_for_lock(url), proxy.cut()))
            cutter.start()
            with pytest.raises(ReleaseFailed, match=r"stopped answering .* which stands"):
                data.sample(1)
            cutter.join()
        assert len(data.sample(1).table) > 0
        assert data.budget.spent == 1


def test_a_full_disk(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # With the memory that a release asks for, so few rows would not need the disk.
    monkeypatch.setattr(Transaction, "allow_more_memory", lambda self: None)
    execute(url, "INSERT INTO visits SELECT v.* FROM visits v, generate_series(1, 60)")
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute("SELECT quote_ident(current_database())").fetchone()
        assert found is not None
        for setting in ("work_mem = '64kB'", "max_parallel_workers_per_gather = 0"):
            connection.execute(f"ALTER DATABASE {found[0]} SET {setting}")
    with failing(url, "server's disk") as data, full_disk(backend(url), 128 * 1024):
        data.sample(1)


def backend(url: str) -> int:
    """The server's process for the one other connection to this database.

    A connection that was closed before may be seen for a moment longer, and the server's own
    housekeeping works in the same database.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(1000):
            found = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                "AND datname = current_database() AND backend_type = 'client backend'"
            ).fetchall()
            if len(found) == 1:
                return int(found[0][0])
            time.sleep(0.01)
    pytest.fail(f"{len(found)} connections where one was expected")


def test_a_right_that_is_withdrawn(url: str) -> None:
    execute(
        url,
        "DROP ROLE IF EXISTS reader",
        "CREATE ROLE reader LOGIN",
        "GRANT SELECT ON visits TO reader",
    )
    reader = url.replace("postgres:@", "reader:@")
    with failing(reader, "right to use it was withdrawn") as data:
        execute(url, "REVOKE SELECT ON visits FROM reader")
        data.sample(1)
    with pytest.raises(SourceError, match="grant SELECT"):
        osd.open(connection=reader, **SETTINGS)
    execute(url, "DROP OWNED BY reader", "DROP ROLE reader")


def test_a_column_that_changes_its_type(url: str) -> None:
    with failing(url, "columns of the table changed") as data:
        execute(url, "ALTER TABLE visits ALTER room TYPE varchar(20)")
        data.sample(1)
    with osd.open(connection=url, **SETTINGS) as data:
        execute(url, "ALTER TABLE visits DROP room")
        with pytest.raises(SourceError, match="changed since it was opened"):
            data.sample(1)
        assert data.columns == ("device", "day", "ts", "room", "consent")


def test_a_failure_while_writing_leaves_no_table(url: str) -> None:
    with failing(url, "stopped answering") as data, locked(url):
        killer = threading.Thread(target=end_waiting_backend, args=(url,))
        killer.start()
        try:
            data.sample(1, into="public.half")
        finally:
            killer.join()
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT to_regclass('public.half')").fetchone()
    assert found == (None,)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"table": "none"}, "There is no table"),
        ({"connection": None}, "needs a connection"),
        ({"table": None}, "either a source or a table"),
        ({"memory_limit": "1GB"}, "memory limit"),
        ({"statement_timeout": 0}, "above 0"),
    ],
)
def test_what_is_refused(url: str, arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises((SourceError, RequestError), match=sentence):
        osd.open(**{**SETTINGS, "connection": url, **arguments})


def test_receipts_are_plain_json(url: str) -> None:
    with osd.open(connection=url, **SETTINGS) as data:
        receipt = json.loads(data.sample(1).receipt.to_json())
    assert receipt["dataset"] == "visits"
    assert receipt["unit"] == "device, day"


def test_the_embedded_engine_places_nothing(url: str) -> None:
    engine = DuckDBEngine(visits(devices=2), Unit(UNIT))
    assert not hasattr(engine, "place")
    engine.close()
